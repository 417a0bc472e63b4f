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
mod text;
mod token;

pub use options::ParserOptions;

use firesteel_error::Result;
use firesteel_plan::{Expr, Name, Relation, Statement};
use firesteel_types::DataType;
use parser::Parser;

/// Parses one statement, such as a query or a command; semicolons may follow it.
///
/// ```
/// use firesteel_plan::Statement;
/// use firesteel_sql::{ParserOptions, parse_statement};
/// let statement = parse_statement("SELECT 1", &ParserOptions::default())?;
/// assert!(matches!(statement, Statement::Query(_)));
/// assert!(parse_statement("SELECT FROM WHERE 1", &ParserOptions::default()).is_err());
/// # Ok::<(), firesteel_error::SparkError>(())
/// ```
pub fn parse_statement(text: &str, options: &ParserOptions) -> Result<Statement> {
    parse_query(text, options).map(Statement::Query)
}

/// Parses a query, such as a view's text.
pub fn parse_query(text: &str, options: &ParserOptions) -> Result<Relation> {
    let mut parser = Parser::new(text, options)?;
    let query = parser.query()?;
    parser.end()?;
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
    if parser.at_end() { Ok(expression) } else { Err(parser.unexpected()) }
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
    if parser.at_end() { Ok(name) } else { Err(parser.unexpected()) }
}

/// Parses a type, such as `DECIMAL(10, 2)`.
pub fn parse_data_type(text: &str, options: &ParserOptions) -> Result<DataType> {
    let mut parser = Parser::new(text, options)?;
    let data_type = parser.data_type()?;
    if parser.at_end() { Ok(data_type) } else { Err(parser.unexpected()) }
}
