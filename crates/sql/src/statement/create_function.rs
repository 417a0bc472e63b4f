//! CREATE FUNCTION.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use firesteel_error::Result;
use firesteel_plan::{ColumnDefinition, CreateFunction, FunctionBody, Statement, TableName};
use firesteel_types::DataType;

/// What CREATE FUNCTION says of a function besides its body.
#[derive(Default)]
struct Characteristics {
    language: Option<String>,
    deterministic: Option<bool>,
    comment: Option<String>,
    contains_sql: Option<bool>,
}

impl Parser<'_> {
    /// What follows `CREATE … FUNCTION`.
    pub(super) fn create_function(&mut self, start: Mark, is_temporary: bool, replace: bool) -> Result<Statement> {
        let if_not_exists = self.take_if_not_exists();
        let name = self.table_name()?;
        let body = if self.is_mark("(") { self.sql_function()? } else { self.class_function()? };
        if replace && if_not_exists {
            return Err(self.error(start, "INVALID_SQL_SYNTAX.CREATE_ROUTINE_WITH_IF_NOT_EXISTS_AND_REPLACE"));
        }
        if is_temporary && if_not_exists {
            return Err(self.error(start, "INVALID_SQL_SYNTAX.CREATE_TEMP_FUNC_WITH_IF_NOT_EXISTS"));
        }
        if let (true, TableName::Parts(parts, _)) = (is_temporary, &name) {
            match parts.as_slice() {
                [] | [_] => {}
                [database, function] => {
                    return Err(self.invalid_qualifier(start, "FUNCTION", database, function));
                }
                _ => {
                    let quoted: Vec<String> = parts.iter().map(|part| format!("`{part}`")).collect();
                    return Err(self
                        .error(start, "INVALID_SQL_SYNTAX.UNSUPPORTED_FUNC_NAME")
                        .with("funcName", quoted.join(".")));
                }
            }
        }
        Ok(Statement::CreateFunction(Box::new(CreateFunction { name, is_temporary, if_not_exists, replace, body })))
    }

    /// `AS 'class' [USING JAR 'path', …]`.
    fn class_function(&mut self) -> Result<FunctionBody> {
        self.expect(K::AS)?;
        let class = self.string()?;
        let mut resources = Vec::new();
        if self.take(K::USING) {
            resources = self.comma_separated(|parser| {
                let start = parser.mark();
                let kind = parser.identifier()?.to_lowercase();
                let path = parser.string()?;
                if !matches!(kind.as_str(), "jar" | "file" | "archive") {
                    let operation = format!("CREATE FUNCTION with resource type '{kind}'");
                    return Err(parser.invalid_statement(start, operation));
                }
                Ok((kind, path))
            })?;
        }
        Ok(FunctionBody::Class { class, resources })
    }

    /// `(parameters) [RETURNS type | TABLE …] characteristics RETURN query | expression`.
    fn sql_function(&mut self) -> Result<FunctionBody> {
        let parameters = self.function_parameters()?;
        let (mut returns, mut returns_table): (Option<DataType>, Option<Vec<ColumnDefinition>>) = (None, None);
        if self.take(K::RETURNS) {
            let is_table = self.is(K::TABLE)
                && (self.ahead_is_mark(1, "(") || self.ahead_is(1, K::RETURN) || self.ahead_is_characteristic(1));
            if is_table {
                self.advance();
                returns_table = Some(if self.is_mark("(") { self.result_columns()? } else { Vec::new() });
            } else {
                returns = Some(self.data_type()?);
            }
        }
        let characteristics = self.characteristics()?;
        self.expect(K::RETURN)?;
        let start = self.mark();
        let is_query = self.ahead_begins_query(0) || (returns_table.is_some() && self.is_mark("("));
        let (mut expression, mut query) = (None, None);
        if is_query {
            query = Some(self.query()?);
        } else {
            expression = Some(self.expression()?);
        }
        let Characteristics { language, deterministic, comment, contains_sql } = characteristics;
        Ok(FunctionBody::Sql {
            parameters,
            returns,
            returns_table,
            text: self.text_from(start),
            expression,
            query,
            language,
            deterministic,
            comment,
            contains_sql,
        })
    }

    fn result_columns(&mut self) -> Result<Vec<ColumnDefinition>> {
        self.expect_mark("(")?;
        let start = self.mark();
        let columns = self.comma_separated(Self::result_column)?;
        self.refuse_not_null(start, &columns)?;
        self.expect_mark(")")?;
        Ok(columns)
    }

    /// Parameters and results of functions take NULL.
    fn refuse_not_null(&self, start: Mark, columns: &[ColumnDefinition]) -> Result<()> {
        if columns.iter().all(|column| column.field.nullable) {
            return Ok(());
        }
        Err(self
            .error(start, "USER_DEFINED_FUNCTIONS.NOT_NULL_ON_FUNCTION_PARAMETERS")
            .with("input", self.text_from(start)))
    }

    /// `name type [NOT NULL] [COMMENT 'text']` of a table that a function returns.
    fn result_column(&mut self) -> Result<ColumnDefinition> {
        let start = self.mark();
        let name = self.object_identifier()?;
        let data_type = self.data_type()?;
        if self.is_any(&[K::DEFAULT, K::GENERATED]) {
            return Err(self.unexpected());
        }
        self.column_options(start, name, data_type)
    }

    fn function_parameters(&mut self) -> Result<Vec<ColumnDefinition>> {
        self.expect_mark("(")?;
        if self.take_mark(")") {
            return Ok(Vec::new());
        }
        let start = self.mark();
        let parameters = self.comma_separated(Self::column_definition)?;
        self.refuse_not_null(start, &parameters)?;
        self.expect_mark(")")?;
        if parameters.iter().any(|parameter| parameter.generated.is_some() || parameter.identity.is_some()) {
            return Err(self.error(start, "INVALID_SQL_SYNTAX.CREATE_FUNC_WITH_GENERATED_COLUMNS_AS_PARAMETERS"));
        }
        if parameters.iter().any(|parameter| !parameter.constraints.is_empty()) {
            return Err(self.error(start, "INVALID_SQL_SYNTAX.CREATE_FUNC_WITH_COLUMN_CONSTRAINTS"));
        }
        Ok(parameters)
    }

    fn ahead_is_characteristic(&self, count: usize) -> bool {
        [K::LANGUAGE, K::SPECIFIC, K::NOT, K::DETERMINISTIC, K::CONTAINS, K::READS, K::SQL, K::COMMENT]
            .iter()
            .any(|word| self.ahead_is(count, *word))
    }

    fn characteristics(&mut self) -> Result<Characteristics> {
        let mut found = Characteristics::default();
        let start = self.mark();
        loop {
            let clause = if self.take(K::LANGUAGE) {
                found.language.replace(self.word()?.to_uppercase()).map(|_| "LANGUAGE")
            } else if self.take(K::SPECIFIC) {
                self.identifier()?;
                None
            } else if self.take(K::DETERMINISTIC) {
                found.deterministic.replace(true).map(|_| "DETERMINISTIC")
            } else if self.take_all(&[K::NOT, K::DETERMINISTIC]) {
                found.deterministic.replace(false).map(|_| "DETERMINISTIC")
            } else if self.take(K::COMMENT) {
                found.comment.replace(self.string()?).map(|_| "COMMENT")
            } else if self.take_all(&[K::CONTAINS, K::SQL]) {
                found.contains_sql.replace(true).map(|_| "SQL DATA ACCESS")
            } else if self.take_all(&[K::READS, K::SQL, K::DATA]) {
                found.contains_sql.replace(false).map(|_| "SQL DATA ACCESS")
            } else if self.take_all(&[K::SQL, K::SECURITY]) {
                if self.take_any(&[K::DEFINER, K::INVOKER]).is_none() {
                    return Err(self.unexpected());
                }
                None
            } else {
                return Ok(found);
            };
            if let Some(clause) = clause {
                return Err(self.duplicate_clause(start, clause));
            }
        }
    }
}
