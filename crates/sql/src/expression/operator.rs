//! Arithmetic, bits, concatenation and comparison.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use crate::token::TokenKind;
use firesteel_error::Result;
use firesteel_plan::Expr;

/// A binary operator: its precedence (the higher, the tighter) and the function that it calls.
struct Operator {
    precedence: u8,
    function: &'static str,
    /// Whether the result is negated, as in `<>`.
    is_negated: bool,
}

const fn operator(precedence: u8, function: &'static str) -> Option<Operator> {
    Some(Operator { precedence, function, is_negated: false })
}

const LOOSEST: u8 = 1;

impl Parser<'_> {
    /// An expression without logical operators and predicates.
    pub fn value(&mut self) -> Result<Expr> {
        self.binary(LOOSEST)
    }

    fn binary(&mut self, precedence: u8) -> Result<Expr> {
        let start = self.start();
        let mut left = self.unary()?;
        while let Some(operator) = self.operator().filter(|found| found.precedence >= precedence) {
            self.advance();
            let right = self.beside(|parser| parser.binary(operator.precedence + 1))?;
            self.deepen()?;
            left = self.call(start, operator.function, vec![left, right]);
            if operator.is_negated {
                self.deepen()?;
                left = self.call(start, "not", vec![left]);
            }
        }
        Ok(left)
    }

    fn operator(&self) -> Option<Operator> {
        let mark = match self.peek().kind {
            TokenKind::Mark(mark) => mark,
            TokenKind::Word(Some(K::DIV)) if self.ahead_begins_expression(1) => return operator(7, "div"),
            _ => return None,
        };
        match mark {
            "*" => operator(7, "*"),
            "/" => operator(7, "/"),
            "%" => operator(7, "%"),
            "+" => operator(6, "+"),
            "-" => operator(6, "-"),
            "||" => operator(6, "concat"),
            "<<" => operator(5, "<<"),
            ">>" => operator(5, ">>"),
            ">>>" => operator(5, ">>>"),
            "&" => operator(4, "&"),
            "^" => operator(3, "^"),
            "|" => operator(2, "|"),
            "=" | "==" => operator(LOOSEST, "="),
            "<=>" => operator(LOOSEST, "<=>"),
            "<>" | "!=" => Some(Operator { precedence: LOOSEST, function: "=", is_negated: true }),
            "<" => operator(LOOSEST, "<"),
            "<=" | "!>" => operator(LOOSEST, "<="),
            ">" => operator(LOOSEST, ">"),
            ">=" | "!<" => operator(LOOSEST, ">="),
            _ => None,
        }
    }

    fn unary(&mut self) -> Result<Expr> {
        if self.has_pending() {
            return self.postfixed();
        }
        let start = self.mark();
        let function = match self.peek().kind {
            // The sign belongs to the number.
            TokenKind::Mark("-") if !matches!(self.ahead(1).kind, TokenKind::Number(_)) => "unary_minus",
            TokenKind::Mark("+") => "positive",
            TokenKind::Mark("~") => "~",
            _ => return self.postfixed(),
        };
        self.advance();
        let operand = self.nested(Self::unary)?;
        Ok(self.call(start, function, vec![operand]))
    }
}
