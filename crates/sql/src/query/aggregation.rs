//! GROUP BY.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use crate::token::TokenKind;
use firesteel_error::Result;
use firesteel_plan::{Expr, ExprKind, FunctionCall, Grouping, GroupingElement};

impl Parser<'_> {
    /// `GROUP BY …`, if it is there.
    pub(super) fn group_by(&mut self) -> Result<Option<Grouping>> {
        if !self.take_all(&[K::GROUP, K::BY]) {
            return Ok(None);
        }
        if self.is(K::ALL)
            && !matches!(self.ahead(1).kind, TokenKind::Mark("," | "." | "(" | "[" | "+" | "-" | "*" | "/"))
        {
            self.advance();
            return Ok(Some(Grouping::All));
        }
        let elements = self.comma_separated(Self::grouping_element)?;
        let plain: Option<Vec<Expr>> = elements
            .iter()
            .map(|element| match element {
                GroupingElement::Expr(expression) => Some(expression.clone()),
                _ => None,
            })
            .collect();
        let Some(expressions) = plain else { return Ok(Some(Grouping::Elements(elements))) };
        let singly = |expressions: Vec<Expr>| expressions.into_iter().map(|expression| vec![expression]).collect();
        if self.take_all(&[K::WITH, K::ROLLUP]) {
            return Ok(Some(Grouping::Elements(vec![GroupingElement::Rollup(singly(expressions))])));
        }
        if self.take_all(&[K::WITH, K::CUBE]) {
            return Ok(Some(Grouping::Elements(vec![GroupingElement::Cube(singly(expressions))])));
        }
        if self.take_all(&[K::GROUPING, K::SETS]) {
            let sets = self.in_parentheses(Self::grouping_set)?;
            return Ok(Some(Grouping::Sets { sets, columns: expressions }));
        }
        Ok(Some(Grouping::By(expressions)))
    }

    fn grouping_element(&mut self) -> Result<GroupingElement> {
        self.nested(|parser| {
            if parser.is(K::ROLLUP) && parser.ahead_is_mark(1, "(") {
                return parser.grouping_items("ROLLUP").map(GroupingElement::Rollup);
            }
            if parser.is(K::CUBE) && parser.ahead_is_mark(1, "(") {
                return parser.grouping_items("CUBE").map(GroupingElement::Cube);
            }
            if parser.are(&[K::GROUPING, K::SETS]) && parser.ahead_is_mark(2, "(") {
                parser.advance();
                parser.advance();
                return parser.in_parentheses(Self::set_element).map(GroupingElement::Sets);
            }
            parser.expression().map(GroupingElement::Expr)
        })
    }

    /// The items of ROLLUP or CUBE, none of which may be empty.
    fn grouping_items(&mut self, name: &str) -> Result<Vec<Vec<Expr>>> {
        let start = self.mark();
        self.advance();
        let items = self.in_parentheses(Self::grouping_set)?;
        if items.iter().any(Vec::is_empty) {
            return Err(self.error(start, "_LEGACY_ERROR_TEMP_0051").with("element", name));
        }
        Ok(items)
    }

    /// An element of GROUPING SETS, which may be of any kind.
    fn set_element(&mut self) -> Result<GroupingElement> {
        let is_nested = self.is_any(&[K::ROLLUP, K::CUBE]) && self.ahead_is_mark(1, "(")
            || self.are(&[K::GROUPING, K::SETS]) && self.ahead_is_mark(2, "(");
        if is_nested { self.grouping_element() } else { self.grouping_set().map(GroupingElement::Set) }
    }

    /// `(a, b)`, `()` or one expression.
    fn grouping_set(&mut self) -> Result<Vec<Expr>> {
        if self.is_mark("(") && self.ahead_is_mark(1, ")") {
            self.advance();
            self.advance();
            return Ok(Vec::new());
        }
        let has_parenthesis = self.is_mark("(");
        let expression = self.expression()?;
        Ok(if has_parenthesis { row_items(expression) } else { vec![expression] })
    }
}

/// True for the struct that a list in parentheses stands for.
pub(crate) fn is_row(call: &FunctionCall) -> bool {
    matches!(call.name.as_slice(), [schema, name] if schema == "builtin" && name == "named_struct")
}

/// The items of a row that was written in parentheses; anything else is one item.
pub(super) fn row_items(row: Expr) -> Vec<Expr> {
    match row.kind {
        ExprKind::Function(call) if is_row(&call) => call.arguments.into_iter().skip(1).step_by(2).collect(),
        _ => vec![row],
    }
}
