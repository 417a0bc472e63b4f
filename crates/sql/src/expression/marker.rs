//! Parameter markers: `?` and `:name`.

use crate::parser::Parser;
use crate::token::{Token, TokenKind};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Expr, ExprKind, Parameter};
use firesteel_types::Literal;

impl Parser<'_> {
    /// The marker that begins `count` tokens ahead, and how many tokens it has.
    fn marker_ahead(&self, count: usize) -> Option<(Parameter, usize)> {
        match self.ahead(count).kind {
            TokenKind::Mark("?") => {
                let before = (0..count).filter(|i| self.ahead(*i).kind == TokenKind::Mark("?")).count();
                Some((Parameter::Position(self.parameters + before), 1))
            }
            TokenKind::Mark(":") if self.ahead_is_name(count + 1) => {
                Some((Parameter::Named(self.name_of(self.ahead(count + 1))), 2))
            }
            _ => None,
        }
    }

    fn name_of(&self, token: Token) -> String {
        self.text_of(token).trim_matches('`').to_string()
    }

    /// The literal that a marker stands for, and how many tokens the marker has.
    fn bound_ahead(&self, count: usize) -> Option<(&Literal, usize)> {
        let values = self.options.parameters.as_ref()?;
        let (parameter, width) = self.marker_ahead(count)?;
        match &values.get(&parameter).ok()?.kind {
            ExprKind::Literal(literal) => Some((literal, width)),
            _ => None,
        }
    }

    /// How many tokens a marker has that stands for a string.
    pub(crate) fn text_marker(&self, count: usize) -> Option<usize> {
        match self.bound_ahead(count) {
            Some((Literal::String(_), width)) => Some(width),
            _ => None,
        }
    }

    /// The string that a marker stands for.
    pub(crate) fn take_text_marker(&mut self) -> Option<String> {
        let (literal, _) = self.bound_ahead(0)?;
        let Literal::String(value) = literal else { return None };
        let value = value.clone();
        self.skip_marker();
        Some(value)
    }

    /// The digits of a whole number, written or bound to a marker.
    pub(crate) fn take_integer(&mut self) -> Option<String> {
        if let Some(token) = self.integer_token() {
            self.advance();
            return Some(self.text_of(token));
        }
        let value = match self.bound_ahead(0)?.0 {
            Literal::Integer(value) => i64::from(*value),
            Literal::Long(value) => *value,
            _ => return None,
        };
        self.skip_marker();
        Some(value.to_string())
    }

    /// Whether a whole number is ahead, written or bound to a marker.
    pub(crate) fn ahead_is_integer(&self, count: usize) -> bool {
        matches!(self.ahead(count).kind, TokenKind::Number(_))
            || matches!(self.bound_ahead(count), Some((Literal::Integer(_) | Literal::Long(_), _)))
    }

    fn skip_marker(&mut self) -> Option<Parameter> {
        let (parameter, width) = self.marker_ahead(0)?;
        let value = self.bound_ahead(0).map(|(literal, _)| literal.sql(self.options.time_zone));
        let start = self.mark();
        for _ in 0..width {
            self.advance();
        }
        if let Some(value) = value {
            self.bind(start, value);
        }
        if let Parameter::Position(_) = parameter {
            self.parameters += 1;
        }
        Some(parameter)
    }

    /// A marker as an expression: its value where it is known.
    pub(super) fn marker(&mut self) -> Result<Expr> {
        let start = self.mark();
        let Some(parameter) = self.skip_marker() else { return Err(self.unexpected()) };
        let origin = self.origin(start);
        match &self.options.parameters {
            Some(values) => match values.get(&parameter) {
                Ok(value) => Ok(value.clone().at(origin)),
                Err(error) if error.is("UNBOUND_SQL_PARAMETER") => {
                    let name = match (&parameter, &origin) {
                        (Parameter::Position(_), firesteel_plan::Origin::Sql { start, .. }) => format!("_{start}"),
                        (Parameter::Position(position), _) => format!("_{position}"),
                        (Parameter::Named(name), _) => name.clone(),
                    };
                    Err(SparkError::new("UNBOUND_SQL_PARAMETER").with("name", name).or_context(|| origin.context()))
                }
                Err(error) => Err(error.or_context(|| origin.context())),
            },
            None => Ok(Expr::new(ExprKind::Parameter(parameter)).at(origin)),
        }
    }
}
