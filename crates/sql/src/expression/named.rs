//! Expressions with an alias, as in a SELECT list.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use crate::token::TokenKind;
use firesteel_error::Result;
use firesteel_plan::{Expr, ExprKind};

impl Parser<'_> {
    /// `expression [[AS] alias | (alias, …)]`.
    pub fn named_expression(&mut self) -> Result<Expr> {
        let outer = std::mem::replace(&mut self.in_select_list, true);
        let expression = self.expression();
        self.in_select_list = outer;
        self.aliased(expression?)
    }

    pub fn named_expressions(&mut self) -> Result<Vec<Expr>> {
        self.comma_separated(Self::named_expression)
    }

    /// Reads the alias that may follow an expression.
    pub(crate) fn aliased(&mut self, child: Expr) -> Result<Expr> {
        let has_name = (self.ahead_is_name(1) && !self.ahead_is_clause(1)) || self.ahead_is_mark(1, "(");
        let names = if self.is(K::AS) && has_name {
            self.advance();
            if self.is_mark("(") { self.identifier_list()? } else { vec![self.object_identifier()?] }
        } else if self.is_mark("(") && self.ahead_is_name(1) {
            self.identifier_list()?
        } else if self.at_bare_alias() {
            vec![self.object_identifier()?]
        } else {
            return Ok(child);
        };
        let origin = child.origin.clone().to(&self.origin(self.mark().saturating_sub(1)));
        Ok(Expr::new(ExprKind::Alias { child: Box::new(child), names, metadata: None }).at(origin))
    }

    /// Whether the next word is an alias without AS, not the beginning of a clause.
    fn at_bare_alias(&self) -> bool {
        if !self.ahead_is_name(0) {
            return false;
        }
        match self.peek().kind {
            TokenKind::Word(Some(word)) => !self.begins_clause(word),
            _ => true,
        }
    }

    /// Whether a keyword begins a clause rather than being a name.
    ///
    /// Nearly every word may be a name, so what follows it decides.
    pub fn begins_clause(&self, word: K) -> bool {
        let has_item = self.ahead_begins_expression(1);
        match word {
            K::FROM => self.ahead_begins_from(0),
            K::WHERE | K::HAVING | K::QUALIFY | K::LIMIT | K::OFFSET => has_item && !self.ahead_is_clause(1),
            K::GROUP | K::ORDER | K::SORT | K::CLUSTER | K::DISTRIBUTE => self.ahead_is(1, K::BY),
            K::LATERAL => has_item,
            K::WINDOW => self.ahead_is_name(1) && self.ahead_is(2, K::AS),
            K::UNION | K::EXCEPT | K::INTERSECT | K::MINUS => {
                [K::ALL, K::DISTINCT, K::SELECT, K::VALUES, K::TABLE].iter().any(|next| self.ahead_is(1, *next))
                    || self.ahead_is_mark(1, "(")
            }
            K::SELECT | K::VALUES | K::FOR | K::DO => has_item,
            K::INSERT => self.ahead_is(1, K::INTO) || self.ahead_is(1, K::OVERWRITE),
            K::PIVOT | K::UNPIVOT | K::TABLESAMPLE => {
                self.ahead_is_mark(1, "(") || (word == K::UNPIVOT && self.ahead_is(2, K::NULLS))
            }
            _ => false,
        }
    }

    fn ahead_begins_from(&self, count: usize) -> bool {
        self.ahead_is(count, K::FROM) && (self.ahead_is_name(count + 1) || self.ahead_is_mark(count + 1, "("))
    }

    /// Whether a later word is surely a clause's, so that the one before it is a name.
    pub(super) fn ahead_is_clause(&self, count: usize) -> bool {
        let words = [K::GROUP, K::ORDER, K::SORT, K::CLUSTER, K::DISTRIBUTE];
        self.ahead_begins_from(count)
            || (self.ahead_is(count + 1, K::BY) && words.iter().any(|word| self.ahead_is(count, *word)))
    }
}
