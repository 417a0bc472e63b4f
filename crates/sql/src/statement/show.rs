//! SHOW.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::{Show, Statement, TableName};

/// What Hive shows and Spark refuses.
const REFUSED: [(&[K], &str); 10] = [
    (&[K::GRANT], "GRANT"),
    (&[K::ROLE, K::GRANT], "ROLE GRANT"),
    (&[K::PRINCIPALS], "PRINCIPALS"),
    (&[K::ROLES], "ROLES"),
    (&[K::CURRENT, K::ROLES], "CURRENT ROLES"),
    (&[K::EXPORT], "EXPORT"),
    (&[K::COMPACTIONS], "COMPACTIONS"),
    (&[K::TRANSACTIONS], "TRANSACTIONS"),
    (&[K::INDEXES], "INDEXES"),
    (&[K::LOCKS], "LOCKS"),
];

impl Parser<'_> {
    pub(super) fn show(&mut self) -> Result<Statement> {
        let start = self.mark();
        self.expect(K::SHOW)?;
        for (words, operation) in REFUSED {
            if self.are(words) {
                self.skip_to_end();
                return Err(self.invalid_statement(start, format!("SHOW {operation}")));
            }
        }
        let show = match self.keyword() {
            Some(K::DATABASES | K::SCHEMAS | K::NAMESPACES) => {
                self.advance();
                Show::Namespaces { parent: self.in_namespace()?, pattern: self.pattern()? }
            }
            Some(K::TABLES) => {
                self.advance();
                Show::Tables { namespace: self.in_namespace()?, pattern: self.pattern()? }
            }
            Some(K::TABLE) => {
                self.expect_all(&[K::TABLE, K::EXTENDED])?;
                let namespace = self.in_namespace()?;
                self.expect(K::LIKE)?;
                let pattern = self.string()?;
                Show::TableExtended { namespace, pattern, partition: self.full_partition()? }
            }
            Some(K::VIEWS) => {
                self.advance();
                Show::Views { namespace: self.in_namespace()?, pattern: self.pattern()? }
            }
            Some(K::COLUMNS) => self.show_columns()?,
            Some(K::PARTITIONS) => {
                self.advance();
                Show::Partitions { table: self.table_name()?, partition: self.full_partition()? }
            }
            Some(K::TBLPROPERTIES) => {
                self.advance();
                let table = self.table_name()?;
                let mut key = None;
                if self.take_mark("(") {
                    key = Some(self.property_key()?);
                    self.expect_mark(")")?;
                }
                Show::TableProperties { table, key }
            }
            Some(K::CREATE) => {
                self.expect_all(&[K::CREATE, K::TABLE])?;
                let table = self.table_name()?;
                Show::CreateTable { table, as_serde: self.take_all(&[K::AS, K::SERDE]) }
            }
            Some(K::CURRENT) => {
                self.advance();
                if !self.at_namespace_word() {
                    return Err(self.unexpected());
                }
                self.advance();
                Show::CurrentNamespace
            }
            Some(K::CATALOGS) => {
                self.advance();
                Show::Catalogs { pattern: self.pattern()? }
            }
            Some(K::COLLATIONS) => {
                self.advance();
                Show::Collations { pattern: self.pattern()? }
            }
            Some(K::PROCEDURES) => {
                self.advance();
                self.in_namespace()?;
                return Ok(Statement::ShowProcedures);
            }
            _ => self.show_functions(start)?,
        };
        Ok(Statement::Show(show))
    }

    /// `[FROM | IN name]`.
    fn in_namespace(&mut self) -> Result<Option<TableName>> {
        if self.take_any(&[K::FROM, K::IN]).is_some() { self.table_name().map(Some) } else { Ok(None) }
    }

    /// `[[LIKE] 'pattern']`.
    fn pattern(&mut self) -> Result<Option<String>> {
        if self.take(K::LIKE) || self.ahead_is_text(0) { self.string().map(Some) } else { Ok(None) }
    }

    fn show_columns(&mut self) -> Result<Show> {
        self.advance();
        if self.take_any(&[K::FROM, K::IN]).is_none() {
            return Err(self.unexpected());
        }
        let table = self.table_name()?;
        let has_namespace = self.take_any(&[K::FROM, K::IN]).is_some();
        let namespace = if has_namespace { Some(self.qualified_name()?) } else { None };
        Ok(Show::Columns { table, namespace })
    }

    /// `[scope] FUNCTIONS [FROM name] [[LIKE] pattern | name]`.
    fn show_functions(&mut self, start: usize) -> Result<Show> {
        let mut scope = String::from("ALL");
        if !self.is(K::FUNCTIONS) {
            if !(self.ahead_is_name(0) && self.ahead_is(1, K::FUNCTIONS)) {
                if self.ahead_is_name(0) {
                    self.advance();
                    return Err(self.missing("FUNCTIONS"));
                }
                return Err(self.unexpected());
            }
            let word = self.identifier()?.to_lowercase();
            scope = word.to_uppercase();
            if !matches!(scope.as_str(), "ALL" | "USER" | "SYSTEM") {
                self.advance();
                let quoted = format!("`{word}`");
                return Err(self.error(start, "INVALID_SQL_SYNTAX.SHOW_FUNCTIONS_INVALID_SCOPE").with("scope", quoted));
            }
        }
        self.expect(K::FUNCTIONS)?;
        let mut namespace = self.in_namespace()?;
        let has_like = self.take(K::LIKE);
        let mut pattern = None;
        if self.ahead_is_text(0) {
            pattern = Some(self.string()?);
        } else if self.ahead_is_name(0) {
            // The old form: a function's name, perhaps with its database.
            let mark = self.mark();
            let mut name = self.qualified_name()?;
            pattern = name.pop();
            if !name.is_empty() {
                if namespace.is_some() {
                    let text = self.text_from(mark);
                    return Err(self
                        .error(start, "INVALID_SQL_SYNTAX.SHOW_FUNCTIONS_INVALID_PATTERN")
                        .with("pattern", text));
                }
                namespace = Some(TableName::of(name));
            }
        } else if has_like {
            return Err(self.unexpected());
        }
        Ok(Show::Functions { scope, namespace, pattern })
    }
}
