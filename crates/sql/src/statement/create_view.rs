//! CREATE VIEW.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{CreateView, Relation, RelationKind, Statement, TableName, ViewKind, ViewUsing};

impl Parser<'_> {
    /// What follows `CREATE … VIEW`.
    pub(super) fn create_view(&mut self, start: Mark, kind: ViewKind, replace: bool) -> Result<Statement> {
        let if_not_exists = self.take_if_not_exists();
        let name = self.table_name()?;
        let mut view = CreateView {
            name,
            kind,
            columns: Vec::new(),
            comment: None,
            collation: None,
            properties: Vec::new(),
            schema_mode: None,
            if_not_exists,
            replace,
            query: Relation::new(RelationKind::OneRow),
            query_text: String::new(),
            using: None,
        };
        if let Some(using) = self.view_using(kind)? {
            view.using = Some(using);
            return Ok(Statement::CreateView(Box::new(view)));
        }
        if self.is_mark("(") {
            view.columns = self.in_parentheses(|parser| {
                let column = parser.object_identifier()?;
                let comment = if parser.take(K::COMMENT) { Some(parser.string()?) } else { None };
                Ok((column, comment))
            })?;
        }
        self.view_clauses(start, &mut view)?;
        if self.are(&[K::WITH, K::METRICS]) {
            return self.unsupported_statement();
        }
        self.expect(K::AS)?;
        let (query, text) = self.query_with_text()?;
        view.query = query;
        view.query_text = text;
        self.check_view(start, &view)?;
        Ok(Statement::CreateView(Box::new(view)))
    }

    /// A query and how it was written.
    pub(super) fn query_with_text(&mut self) -> Result<(Relation, String)> {
        let start = self.mark();
        let query = self.query()?;
        Ok((query, self.text_from(start)))
    }

    /// `[(columns)] USING provider [OPTIONS …]` of a temporary view.
    fn view_using(&mut self, kind: ViewKind) -> Result<Option<ViewUsing>> {
        if kind == ViewKind::Persistent {
            return Ok(None);
        }
        // A list of columns with types can only be a source's schema.
        let has_schema = self.is_mark("(")
            && self.ahead_is_name(1)
            && self.ahead_is_name(2)
            && !(self.ahead_is(2, K::COMMENT) && self.ahead_is_text(3));
        if !has_schema && !self.is(K::USING) {
            return Ok(None);
        }
        let schema = if has_schema { self.in_parentheses(Self::column_definition)? } else { Vec::new() };
        self.expect(K::USING)?;
        let provider = self.qualified_name()?.join(".");
        let options = if self.take(K::OPTIONS) { self.properties()? } else { Vec::new() };
        Ok(Some(ViewUsing { provider, options, schema }))
    }

    fn view_clauses(&mut self, start: Mark, view: &mut CreateView) -> Result<()> {
        let mut seen: Vec<&str> = Vec::new();
        loop {
            let clause = if self.take(K::COMMENT) {
                view.comment = Some(self.string()?);
                "COMMENT"
            } else if self.are(&[K::WITH, K::SCHEMA]) {
                view.schema_mode = Some(self.schema_mode()?);
                "WITH SCHEMA"
            } else if self.are(&[K::DEFAULT, K::COLLATION]) {
                view.collation = Some(self.default_collation()?);
                "DEFAULT COLLATION"
            } else if self.take_all(&[K::PARTITIONED, K::ON]) {
                self.identifier_list()?;
                return Err(self.invalid_statement(start, "CREATE VIEW ... PARTITIONED ON"));
            } else if self.take(K::TBLPROPERTIES) {
                view.properties = self.table_properties()?;
                if view.kind != ViewKind::Persistent {
                    let message = "TBLPROPERTIES can't coexist with CREATE TEMPORARY VIEW";
                    self.defer_whole(SparkError::new("_LEGACY_ERROR_TEMP_0035").with("message", message));
                }
                "TBLPROPERTIES"
            } else {
                return Ok(());
            };
            if seen.contains(&clause) {
                return Err(self.duplicate_clause(start, clause));
            }
            seen.push(clause);
        }
    }

    /// `WITH SCHEMA BINDING | COMPENSATION | [TYPE] EVOLUTION`.
    pub(super) fn schema_mode(&mut self) -> Result<String> {
        self.expect_all(&[K::WITH, K::SCHEMA])?;
        if self.take_all(&[K::TYPE, K::EVOLUTION]) {
            return Ok("TYPE EVOLUTION".to_string());
        }
        match self.take_any(&[K::BINDING, K::COMPENSATION, K::EVOLUTION]) {
            Some(word) => Ok(word.text().to_string()),
            None => Err(self.unexpected()),
        }
    }

    fn check_view(&self, start: Mark, view: &CreateView) -> Result<()> {
        let parts: &[String] = match &view.name {
            TableName::Parts(parts, _) => parts,
            TableName::Identifier(_) => &[],
        };
        if view.if_not_exists && view.replace {
            return Err(self
                .error(start, "CREATE_VIEW_WITH_IF_NOT_EXISTS_AND_REPLACE")
                .with("viewName", parts.join(".")));
        }
        if view.kind == ViewKind::Persistent {
            return Ok(());
        }
        if view.if_not_exists {
            return Err(self.error(start, "_LEGACY_ERROR_TEMP_0053"));
        }
        if view.schema_mode.is_some() {
            return Err(self.error(start, "UNSUPPORTED_FEATURE.TEMPORARY_VIEW_WITH_SCHEMA_BINDING_MODE"));
        }
        match parts {
            [qualifier, name] => Err(self.invalid_qualifier(start, "VIEW", qualifier, name)),
            [_, _, _, ..] => {
                let quoted: Vec<String> = parts.iter().map(|part| format!("`{part}`")).collect();
                Err(self.error(start, "TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS").with("actualName", quoted.join(".")))
            }
            _ => Ok(()),
        }
    }

    /// The error that something temporary got a database's name.
    pub(super) fn invalid_qualifier(&self, start: Mark, kind: &str, qualifier: &str, name: &str) -> SparkError {
        self.error(start, "INVALID_TEMP_OBJ_QUALIFIER")
            .with("objectType", kind)
            .with("objectName", format!("`{name}`"))
            .with("qualifier", format!("`{qualifier}`"))
    }
}
