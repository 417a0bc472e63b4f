//! Spark SQL text to the unresolved plan.
//!
//! A [`Statement`] is what a whole text says; there are entries for parts of
//! the language too: queries, expressions, names, types and schemas. Every
//! expression and relation knows the characters of the text that it is from.
//!
//! Invariants: no catalog, no I/O; no text makes it panic or exhaust the stack.

mod data_type;
mod datetime;
mod expression;
mod interval;
mod keyword;
mod lexer;
mod name;
mod options;
mod parser;
mod property;
mod query;
mod script;
mod split;
mod statement;
mod substitution;
mod text;
mod token;

pub use options::{ParameterValues, ParserOptions};
pub use substitution::substitute;

use firesteel_error::{Result, SparkError};
use firesteel_plan::{ColumnDefinition, Expr, Name, Relation, Statement};
use firesteel_types::{DataType, StructType};
use parser::Parser;

/// All keywords of the language, sorted, and whether the standard reserves each.
pub fn keywords() -> impl Iterator<Item = (&'static str, bool)> {
    keyword::Keyword::every().iter().map(|k| (k.text(), k.is_reserved()))
}

/// Parses one statement, such as a query or a command; semicolons may follow it.
///
/// ```
/// use firesteel_plan::Statement;
/// use firesteel_sql::{ParserOptions, parse_statement};
/// let statement = parse_statement("SELECT 1", &ParserOptions::default())?;
/// assert!(matches!(statement, Statement::Query(_)));
/// assert!(parse_statement("SELECT 1 +", &ParserOptions::default()).is_err());
/// # Ok::<(), firesteel_error::SparkError>(())
/// ```
pub fn parse_statement(text: &str, options: &ParserOptions) -> Result<Statement> {
    refuse_empty(text)?;
    let mut parser = Parser::new(text, options)?;
    let statement = parser.statement()?;
    parser.end()?;
    Ok(statement)
}

/// Parses a script (`BEGIN … END`) or one statement.
///
/// ```
/// use firesteel_plan::Statement;
/// use firesteel_sql::{ParserOptions, parse_script_or_statement};
/// let script = parse_script_or_statement("BEGIN SELECT 1; END", &ParserOptions::default())?;
/// assert!(matches!(script, Statement::Script(_)));
/// # Ok::<(), firesteel_error::SparkError>(())
/// ```
pub fn parse_script_or_statement(text: &str, options: &ParserOptions) -> Result<Statement> {
    refuse_empty(text)?;
    let mut parser = Parser::new(text, options)?;
    let statement = if options.scripting && parser.at_script() { parser.script()? } else { parser.statement()? };
    parser.end()?;
    Ok(statement)
}

fn refuse_empty(text: &str) -> Result<()> {
    if text.trim().is_empty() { Err(SparkError::new("PARSE_EMPTY_STATEMENT")) } else { Ok(()) }
}

/// Parses statements with semicolons between them, as in a file; a script counts as one.
///
/// ```
/// use firesteel_sql::{ParserOptions, parse_statements};
/// assert_eq!(parse_statements("SELECT 1; -- none\n SELECT ';';", &ParserOptions::default())?.len(), 2);
/// # Ok::<(), firesteel_error::SparkError>(())
/// ```
pub fn parse_statements(text: &str, options: &ParserOptions) -> Result<Vec<Statement>> {
    split_statements(text).iter().map(|statement| parse_script_or_statement(statement, options)).collect()
}

/// Splits a text into its statements, without semicolons; those without any token are left out.
pub fn split_statements(text: &str) -> Vec<String> {
    split::split_statements(text)
}

/// Parses a query, such as a view's text; nothing may follow it.
pub fn parse_query(text: &str, options: &ParserOptions) -> Result<Relation> {
    let mut parser = Parser::new(text, options)?;
    let query = parser.query()?;
    parser.end_of_text()?;
    Ok(query)
}

/// Parses an expression that may have an alias, such as `a + 1 AS b`, `t.*` or `explode(x) AS (a, b)`.
///
/// ```
/// use firesteel_plan::ExprKind;
/// use firesteel_sql::{ParserOptions, parse_expression};
/// let expression = parse_expression("a + 1 AS b", &ParserOptions::default())?;
/// assert!(matches!(expression.kind, ExprKind::Alias { .. }));
/// # Ok::<(), firesteel_error::SparkError>(())
/// ```
pub fn parse_expression(text: &str, options: &ParserOptions) -> Result<Expr> {
    let mut parser = Parser::new(text, options)?;
    let expression = parser.named_expression()?;
    parser.end_of_text()?;
    Ok(expression)
}

/// Splits a column's name of the DataFrame API at its dots; back quotes keep a part together.
///
/// ```
/// assert_eq!(firesteel_sql::parse_attribute_name("a.`b.c`")?, ["a", "b.c"]);
/// assert!(firesteel_sql::parse_attribute_name("`a").is_err());
/// # Ok::<(), firesteel_error::SparkError>(())
/// ```
pub fn parse_attribute_name(text: &str) -> Result<Name> {
    name::attribute_name(text)
}

/// Parses the name of something stored, such as `catalog.database.table`.
///
/// ```
/// assert_eq!(firesteel_sql::parse_identifier_parts("a.`b.c`", &Default::default())?, ["a", "b.c"]);
/// # Ok::<(), firesteel_error::SparkError>(())
/// ```
pub fn parse_identifier_parts(text: &str, options: &ParserOptions) -> Result<Name> {
    let mut parser = Parser::new(text, options)?;
    let name = parser.qualified_name()?;
    parser.end_of_text()?;
    Ok(name)
}

/// Parses a type, such as `DECIMAL(10, 2)`.
pub fn parse_data_type(text: &str, options: &ParserOptions) -> Result<DataType> {
    let mut parser = Parser::new(text, options)?;
    let data_type = parser.data_type()?;
    parser.end_of_text()?;
    Ok(data_type)
}

/// Parses a list of columns, such as `a INT, b: STRING NOT NULL COMMENT 'x'`.
pub fn parse_table_schema(text: &str, options: &ParserOptions) -> Result<StructType> {
    let mut parser = Parser::new(text, options)?;
    let fields = parser.struct_fields()?;
    parser.end_of_text()?;
    Ok(StructType::new(fields))
}

/// Parses column definitions as CREATE TABLE has them: with defaults, comments and constraints.
pub fn parse_column_definitions(text: &str, options: &ParserOptions) -> Result<Vec<ColumnDefinition>> {
    let mut parser = Parser::new(text, options)?;
    let columns = parser.column_definitions()?;
    parser.end_of_text()?;
    Ok(columns)
}
