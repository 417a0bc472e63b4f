//! Calls of table functions, and tables as arguments.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::{Expr, ExprKind, Relation, RelationKind, SubqueryKind, TableArgumentOptions, TableFunctionCall};

impl Parser<'_> {
    /// `name(arguments)`, when it is known to be one.
    pub(super) fn table_function(&mut self) -> Result<Relation> {
        let start = self.mark();
        let name = self.qualified_name()?;
        self.expect_mark("(")?;
        let arguments = self.arguments()?;
        let call = TableFunctionCall { name, arguments, table_argument: None };
        Ok(self.relation_from(start, RelationKind::TableFunction(call)))
    }

    /// Whether the words ahead are a table given to a function.
    pub fn at_table_argument(&self) -> bool {
        self.is(K::TABLE) && (self.ahead_is_mark(1, "(") || self.ahead_is_name(1))
    }

    /// `TABLE (name | query)`, with PARTITION BY and ORDER BY.
    pub fn table_argument(&mut self) -> Result<Expr> {
        let start = self.mark();
        self.expect(K::TABLE)?;
        let first = self.mark();
        let query = if self.take_mark("(") {
            let query = if self.ahead_begins_query(0) || self.is_mark("(") {
                self.query()?
            } else {
                let table = self.table_reference()?;
                self.relation_from(first, table)
            };
            self.expect_mark(")")?;
            query
        } else {
            let name = self.qualified_name()?;
            let quoted: Vec<String> = name.iter().map(|part| format!("`{part}`")).collect();
            return Err(self
                .error(start, "INVALID_SQL_SYNTAX.INVALID_TABLE_FUNCTION_IDENTIFIER_ARGUMENT_MISSING_PARENTHESES")
                .with("argumentName", quoted.join(".")));
        };
        let options = self.table_argument_options()?;
        let kind = ExprKind::Subquery { kind: SubqueryKind::Table(options), query: Box::new(query) };
        Ok(Expr::new(kind).at(self.origin(start)))
    }

    fn table_argument_options(&mut self) -> Result<TableArgumentOptions> {
        let mut options = TableArgumentOptions::default();
        let has_wide_parentheses = |parser: &Self| parser.ahead_is_mark(2, "(");
        if self.take_all(&[K::WITH, K::SINGLE, K::PARTITION]) {
            options.with_single_partition = true;
        } else if self.is_any(&[K::PARTITION, K::DISTRIBUTE]) && self.ahead_is(1, K::BY) {
            let is_list = has_wide_parentheses(self);
            self.advance();
            self.advance();
            // Without parentheses there is one expression, since commas part arguments.
            options.partition_by =
                if is_list { self.in_parentheses(Self::expression)? } else { vec![self.expression()?] };
        }
        if self.is_any(&[K::ORDER, K::SORT]) && self.ahead_is(1, K::BY) {
            let is_list = has_wide_parentheses(self);
            self.advance();
            self.advance();
            options.order_by = if is_list { self.in_parentheses(Self::sort_order)? } else { vec![self.sort_order()?] };
        }
        Ok(options)
    }
}
