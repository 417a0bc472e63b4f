//! CREATE TABLE and REPLACE TABLE.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use firesteel_error::Result;
use firesteel_plan::{
    ColumnDefinition, ConstraintKind, CreateTable, CreateView, PartitionField, Relation, RelationKind, Statement,
    TableConstraint, TableName, ViewKind, ViewUsing,
};

impl Parser<'_> {
    /// What follows `CREATE TABLE`.
    pub(super) fn create_table(
        &mut self,
        start: Mark,
        replace: bool,
        must_exist: bool,
        is_external: bool,
    ) -> Result<Statement> {
        let if_not_exists = !replace && self.take_if_not_exists();
        let name = self.table_name()?;
        if !replace && self.is(K::LIKE) {
            return self.create_table_like(start, name, if_not_exists);
        }
        let (columns, constraints) = self.table_elements()?;
        let spec = self.table_clauses(start, is_external)?;
        let query = self.optional_query()?;
        let has_new_columns = spec.partitioning.iter().any(|field| matches!(field, PartitionField::Column(_)));
        if query.is_some() && !columns.is_empty() {
            let statement = if replace { "Replace Table As Select (RTAS)" } else { "Create Table As Select (CTAS)" };
            let message = format!("Schema may not be specified in a {statement} statement");
            return Err(self.not_allowed(start, message));
        }
        if query.is_some() && has_new_columns {
            let message = "Partition column types may not be specified in Create Table As Select (CTAS)";
            return Err(self.not_allowed(start, message));
        }
        if query.is_some() && !constraints.is_empty() {
            let message = "Constraints may not be specified in a Create Table As Select (CTAS) statement";
            return Err(self.not_allowed(start, message));
        }
        let is_temporary = false;
        Ok(Statement::CreateTable(Box::new(CreateTable {
            name,
            columns,
            constraints,
            spec,
            query,
            if_not_exists,
            replace,
            must_exist,
            is_temporary,
        })))
    }

    /// `[AS] query`, if it is there.
    pub(super) fn optional_query(&mut self) -> Result<Option<Relation>> {
        let has_as = self.take(K::AS);
        let has_query = self.ahead_begins_query(0) || self.is_mark("(");
        if has_as || has_query { self.query().map(Some) } else { Ok(None) }
    }

    /// `(column, …, constraint, …)`, if it is there.
    fn table_elements(&mut self) -> Result<(Vec<ColumnDefinition>, Vec<TableConstraint>)> {
        let (mut columns, mut constraints) = (Vec::new(), Vec::new());
        if !self.is_mark("(") || self.ahead_begins_query(1) || self.ahead_is_mark(1, "(") {
            return Ok((columns, constraints));
        }
        self.advance();
        let start = self.mark();
        loop {
            if self.at_constraint() {
                constraints.push(self.table_constraint()?);
            } else {
                columns.push(self.column_definition()?);
            }
            if !self.take_mark(",") {
                break;
            }
        }
        let of_columns = columns.iter().flat_map(|column: &ColumnDefinition| &column.constraints);
        let keys: Vec<String> = of_columns
            .chain(&constraints)
            .filter_map(|constraint| match &constraint.kind {
                ConstraintKind::PrimaryKey(columns) => Some(format!("({})", columns.join(", "))),
                _ => None,
            })
            .collect();
        if keys.len() > 1 {
            return Err(self.error(start, "MULTIPLE_PRIMARY_KEYS").with("columns", keys.join(", ")));
        }
        self.expect_mark(")")?;
        Ok((columns, constraints))
    }

    /// `LIKE source …`.
    fn create_table_like(&mut self, start: Mark, name: TableName, if_not_exists: bool) -> Result<Statement> {
        self.expect(K::LIKE)?;
        let source = self.table_name()?;
        let (mut provider, mut location, mut properties) = (None, None, None);
        loop {
            let clause = if self.take(K::USING) {
                let given = self.qualified_name()?.join(".");
                provider.replace(given).map(|_| "PROVIDER")
            } else if self.take(K::LOCATION) {
                location.replace(self.string()?).map(|_| "LOCATION")
            } else if self.take(K::TBLPROPERTIES) {
                let given = self.table_properties()?;
                properties.replace(given).map(|_| "TBLPROPERTIES")
            } else if self.row_format()? {
                None
            } else if self.is(K::STORED) {
                if let Some(format) = self.stored_as()? {
                    provider.get_or_insert(format.to_lowercase());
                }
                None
            } else {
                break;
            };
            if let Some(clause) = clause {
                return Err(self.duplicate_clause(start, clause));
            }
        }
        let properties = properties.unwrap_or_default();
        Ok(Statement::CreateTableLike { name, source, if_not_exists, provider, location, properties })
    }

    /// `CREATE TEMPORARY TABLE … USING …`: a view of a data source by its old name.
    pub(super) fn create_temporary_table(&mut self, start: Mark) -> Result<Statement> {
        let if_not_exists = self.take_if_not_exists();
        let name = self.table_name()?;
        if if_not_exists {
            return Err(self.invalid_statement(start, "CREATE TEMPORARY TABLE ... IF NOT EXISTS"));
        }
        let (schema, _) = self.table_elements()?;
        let spec = self.table_clauses(start, false)?;
        let query = self.optional_query()?;
        if query.is_some() {
            let message = "CREATE TEMPORARY TABLE ... AS ..., use CREATE TEMPORARY VIEW instead";
            return Err(self.not_allowed(start, message));
        }
        let Some(provider) = spec.provider else {
            return Err(self.error(start, "_LEGACY_ERROR_TEMP_0046"));
        };
        let options = spec.options.iter().map(|(key, value)| (key.clone(), option_text(value))).collect();
        Ok(Statement::CreateView(Box::new(CreateView {
            name,
            kind: ViewKind::Temporary,
            columns: Vec::new(),
            comment: None,
            collation: None,
            properties: Vec::new(),
            schema_mode: None,
            if_not_exists: false,
            replace: false,
            query: Relation::new(RelationKind::OneRow),
            query_text: String::new(),
            using: Some(ViewUsing { provider, options, schema }),
        })))
    }
}

/// An option's value as text.
fn option_text(value: &firesteel_plan::Expr) -> String {
    use firesteel_plan::ExprKind;
    use firesteel_types::Literal;
    match &value.kind {
        ExprKind::Literal(Literal::String(text)) => text.clone(),
        ExprKind::Literal(Literal::Boolean(value)) => value.to_string(),
        ExprKind::Literal(Literal::Integer(value)) => value.to_string(),
        ExprKind::Literal(Literal::Long(value)) => value.to_string(),
        ExprKind::Literal(Literal::Double(value)) => value.to_string(),
        ExprKind::Attribute { name, .. } => name.join("."),
        _ => String::new(),
    }
}
