//! Databases (namespaces, schemas).

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{CommentTarget, NamespaceAction, Statement};

/// The words for a database.
pub(super) const NAMESPACE: [K; 3] = [K::NAMESPACE, K::DATABASE, K::SCHEMA];

impl Parser<'_> {
    pub(super) fn at_namespace_word(&self) -> bool {
        self.is_any(&NAMESPACE)
    }

    /// `[IF NOT EXISTS]`.
    pub(super) fn take_if_not_exists(&mut self) -> bool {
        self.take_all(&[K::IF, K::NOT, K::EXISTS])
    }

    /// `[IF EXISTS]`.
    pub(super) fn take_if_exists(&mut self) -> bool {
        self.take_all(&[K::IF, K::EXISTS])
    }

    /// The error that a clause was given twice.
    pub(super) fn duplicate_clause(&self, start: usize, clause: &str) -> SparkError {
        self.error(start, "DUPLICATE_CLAUSES").with("clauseName", clause)
    }

    /// `DATABASE …` after CREATE.
    pub(super) fn create_namespace(&mut self, start: usize) -> Result<Statement> {
        self.advance();
        let if_not_exists = self.take_if_not_exists();
        let name = self.table_name()?;
        let (mut comment, mut location, mut properties) = (None, None, None);
        loop {
            if self.take(K::COMMENT) {
                if comment.replace(self.string()?).is_some() {
                    return Err(self.duplicate_clause(start, "COMMENT"));
                }
            } else if self.take(K::LOCATION) {
                if location.replace(self.string()?).is_some() {
                    return Err(self.duplicate_clause(start, "LOCATION"));
                }
            } else if self.take(K::WITH) {
                if self.take_any(&[K::DBPROPERTIES, K::PROPERTIES]).is_none() {
                    return Err(self.unexpected());
                }
                let given = self.namespace_properties()?;
                if properties.replace(given).is_some() {
                    return Err(self.duplicate_clause(start, "WITH DBPROPERTIES"));
                }
            } else if self.are(&[K::DEFAULT, K::COLLATION]) {
                let name = self.default_collation()?;
                properties.get_or_insert_with(Vec::new).push(("collation".to_string(), name));
            } else {
                break;
            }
        }
        let properties = properties.unwrap_or_default();
        Ok(Statement::CreateNamespace { name, if_not_exists, comment, location, properties })
    }

    /// `DEFAULT COLLATION name`.
    pub(super) fn default_collation(&mut self) -> Result<String> {
        self.expect_all(&[K::DEFAULT, K::COLLATION])?;
        Ok(self.qualified_name()?.join("."))
    }

    /// `DATABASE …` after ALTER.
    pub(super) fn alter_namespace(&mut self) -> Result<Statement> {
        self.advance();
        let name = self.table_name()?;
        if self.are(&[K::DEFAULT, K::COLLATION]) {
            let action = NamespaceAction::SetCollation(self.default_collation()?);
            return Ok(Statement::AlterNamespace { name, action });
        }
        let is_set = match self.take_any(&[K::SET, K::UNSET]) {
            Some(word) => word == K::SET,
            None => return Err(self.unexpected()),
        };
        let action = if is_set && self.take(K::LOCATION) {
            NamespaceAction::SetLocation(self.string()?)
        } else if self.take_any(&[K::DBPROPERTIES, K::PROPERTIES]).is_none() {
            return Err(self.unexpected());
        } else if is_set {
            NamespaceAction::SetProperties(self.namespace_properties()?)
        } else {
            NamespaceAction::UnsetProperties(self.property_keys()?)
        };
        Ok(Statement::AlterNamespace { name, action })
    }

    /// `COMMENT ON … IS 'text' | NULL`.
    pub(super) fn comment(&mut self) -> Result<Statement> {
        self.expect_all(&[K::COMMENT, K::ON])?;
        let on = if self.at_namespace_word() {
            self.advance();
            CommentTarget::Namespace(self.table_name()?)
        } else if self.take(K::TABLE) {
            CommentTarget::Table(self.table_name()?)
        } else {
            return Err(self.unexpected());
        };
        self.expect(K::IS)?;
        let comment = if self.take(K::NULL) { None } else { Some(self.string()?) };
        Ok(Statement::Comment { on, comment })
    }
}
