//! What stands in parentheses: an expression, a row, or a query.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use firesteel_error::Result;
use firesteel_plan::{Expr, ExprKind, FunctionCall, Relation, SubqueryKind};
use firesteel_types::Literal;

/// What an opening parenthesis turned out to hold.
pub(crate) enum Parenthesized {
    Expression(Expr),
    /// A query; `is_wrapped` where it has parentheses of its own, as in `((SELECT 1))`.
    Query {
        query: Relation,
        is_wrapped: bool,
    },
}

impl Parser<'_> {
    /// Reads what follows an opening parenthesis, up to a comma or the closing one.
    ///
    /// Parentheses may nest before it shows whether a query is in them. So the
    /// inner ones are read first, and then taken for what comes after them.
    pub fn parenthesized_content(&mut self) -> Result<Parenthesized> {
        self.nested(|parser| {
            if parser.is_mark("(") && !parser.at_lambda() {
                let start = parser.mark();
                parser.advance();
                match parser.parenthesized_content()? {
                    Parenthesized::Query { query, .. } => {
                        parser.expect_mark(")")?;
                        if parser.at_query_continuation() {
                            let query = parser.query_after(query, start)?;
                            return Ok(Parenthesized::Query { query, is_wrapped: false });
                        }
                        if parser.is_mark(")") {
                            return Ok(Parenthesized::Query { query, is_wrapped: true });
                        }
                        let subquery = parser.scalar_subquery(start, query);
                        parser.put_back(start, subquery);
                    }
                    Parenthesized::Expression(expression) => {
                        let expression = parser.close_parentheses(start, expression)?;
                        parser.put_back(start, expression);
                    }
                }
            } else if parser.ahead_begins_query(0) {
                let query = parser.query()?;
                return Ok(Parenthesized::Query { query, is_wrapped: false });
            }
            parser.expression().map(Parenthesized::Expression)
        })
    }

    /// An expression that begins with a parenthesis.
    pub(super) fn parenthesized(&mut self) -> Result<Expr> {
        let start = self.mark();
        self.expect_mark("(")?;
        match self.parenthesized_content()? {
            Parenthesized::Query { query, .. } => {
                self.expect_mark(")")?;
                Ok(self.scalar_subquery(start, query))
            }
            Parenthesized::Expression(first) => self.close_parentheses(start, first),
        }
    }

    /// The expression itself, or a row where more items follow.
    fn close_parentheses(&mut self, start: Mark, first: Expr) -> Result<Expr> {
        if self.take_mark(")") {
            return Ok(first);
        }
        let mut items = vec![self.aliased(first)?];
        self.expect_mark(",")?;
        items.extend(self.comma_separated(Self::named_expression)?);
        self.expect_mark(")")?;
        self.deepen()?;
        Ok(self.row(start, items))
    }

    /// `(a, b)`: a struct whose fields are named by the items, or by their positions.
    fn row(&self, start: Mark, items: Vec<Expr>) -> Expr {
        if items.iter().any(|item| matches!(item.kind, ExprKind::Star { .. })) {
            return self.call(start, "struct", items);
        }
        let mut arguments = Vec::with_capacity(items.len() * 2);
        for (index, item) in items.into_iter().enumerate() {
            let name = match &item.kind {
                ExprKind::Attribute { name, .. } => name.last().cloned(),
                ExprKind::Alias { names, .. } => names.first().cloned(),
                _ => None,
            };
            let name = name.unwrap_or_else(|| format!("col{}", index + 1));
            arguments.push(Expr::literal(Literal::String(name)).at(item.origin.clone()));
            arguments.push(item);
        }
        // Under its full name, which tells a row from a call that was written.
        let name = ["builtin", "named_struct"].map(String::from).to_vec();
        Expr::new(ExprKind::Function(FunctionCall::new(name, arguments))).at(self.origin(start))
    }

    pub(super) fn scalar_subquery(&self, start: Mark, query: Relation) -> Expr {
        let kind = ExprKind::Subquery { kind: SubqueryKind::Scalar, query: Box::new(query) };
        Expr::new(kind).at(self.origin(start))
    }

    /// Whether the words ahead, right after a parenthesis, begin a query.
    pub fn ahead_begins_query(&self, count: usize) -> bool {
        let next = count + 1;
        let begins_item = self.ahead_begins_expression(next);
        if self.ahead_is(count, K::SELECT) {
            return begins_item || self.ahead_is_mark(next, "/*+");
        }
        if self.ahead_is(count, K::WITH) {
            return self.ahead_is_name(next)
                && (self.ahead_is(next, K::RECURSIVE)
                    || self.ahead_is(next + 1, K::AS)
                    || self.ahead_is(next + 1, K::MAX)
                    || self.ahead_is_mark(next + 1, "("));
        }
        if self.ahead_is(count, K::FROM) || self.ahead_is(count, K::TABLE) {
            return self.ahead_is_name(next) || (self.ahead_is(count, K::FROM) && self.ahead_is_mark(next, "("));
        }
        if self.ahead_is(count, K::VALUES) {
            return begins_item;
        }
        (self.ahead_is(count, K::MAP) || self.ahead_is(count, K::REDUCE)) && self.ahead_is_name(next)
    }
}
