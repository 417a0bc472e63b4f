//! USE and EXECUTE IMMEDIATE.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use crate::token::TokenKind;
use firesteel_error::Result;
use firesteel_plan::{Expr, ExprKind, Statement};

impl Parser<'_> {
    /// `USE [NAMESPACE] name`.
    pub(super) fn use_statement(&mut self) -> Result<Statement> {
        self.expect(K::USE)?;
        let is_namespace = self.at_namespace_word() && self.ahead_is_name(1);
        if is_namespace {
            self.advance();
        }
        Ok(Statement::Use { name: self.table_name()?, is_namespace })
    }

    /// `EXECUTE IMMEDIATE query [INTO variable, …] [USING value, …]`.
    pub(crate) fn execute_immediate(&mut self) -> Result<Statement> {
        let start = self.mark();
        self.expect_all(&[K::EXECUTE, K::IMMEDIATE])?;
        let query = self.expression()?;
        let into = if self.take(K::INTO) { self.comma_separated(Self::variable_name)? } else { Vec::new() };
        let mut using = Vec::new();
        if self.take(K::USING) {
            // Parentheses around all of the values say nothing.
            let has_parentheses = self.is_mark("(") && self.list_ends_statement();
            using =
                if has_parentheses { self.in_parentheses(Self::named_expression)? } else { self.named_expressions()? };
        }
        let mut names: Vec<&str> = Vec::new();
        let mut repeated: Vec<String> = Vec::new();
        for value in &using {
            if let Some(name) = alias(value) {
                if names.iter().any(|other| other.eq_ignore_ascii_case(name)) {
                    repeated.push(format!("`{name}`"));
                }
                names.push(name);
            }
        }
        if !repeated.is_empty() {
            return Err(self
                .error(start, "EXEC_IMMEDIATE_DUPLICATE_ARGUMENT_ALIASES")
                .with("aliases", repeated.join(", ")));
        }
        Ok(Statement::ExecuteImmediate { query, into, using })
    }

    /// Whether the parenthesis that is next closes right before the statement's end.
    fn list_ends_statement(&self) -> bool {
        let mut depth = 0usize;
        let mut count = 0;
        loop {
            match self.ahead(count).kind {
                TokenKind::Mark("(") => depth += 1,
                TokenKind::Mark(")") => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return matches!(self.ahead(count + 1).kind, TokenKind::End | TokenKind::Mark(";"));
                    }
                }
                TokenKind::End => return false,
                _ => {}
            }
            count += 1;
        }
    }
}

fn alias(value: &Expr) -> Option<&str> {
    match &value.kind {
        ExprKind::Alias { names, .. } => names.first().map(String::as_str),
        _ => None,
    }
}
