//! The WINDOW clause.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::{WindowReference, WindowSpecification};

pub(super) type Windows = Vec<(String, WindowSpecification)>;

impl Parser<'_> {
    /// `WINDOW name AS (…), other AS name`: names of windows are replaced by what they stand for.
    pub(super) fn window_clause(&mut self) -> Result<Option<Windows>> {
        let start = self.mark();
        if !(self.is(K::WINDOW) && self.ahead_is_name(1) && self.ahead_is(2, K::AS)) {
            return Ok(None);
        }
        self.advance();
        let definitions = self.comma_separated(|parser| {
            let name = parser.object_identifier()?;
            parser.expect(K::AS)?;
            Ok((name, parser.window_reference()?))
        })?;
        let condition = |name: &str, condition| self.error(start, condition).with("windowName", format!("`{name}`"));
        for (index, (name, _)) in definitions.iter().enumerate() {
            if definitions.iter().take(index).any(|(other, _)| other == name) {
                return Err(condition(name, "INVALID_SQL_SYNTAX.REPETITIVE_WINDOW_DEFINITION"));
            }
        }
        let mut windows = Windows::with_capacity(definitions.len());
        for (name, reference) in &definitions {
            let window = match reference {
                WindowReference::Specification(window) => window,
                WindowReference::Named(other) => match definitions.iter().find(|(name, _)| name == other) {
                    Some((_, WindowReference::Specification(window))) => window,
                    Some(_) => return Err(condition(other, "INVALID_SQL_SYNTAX.INVALID_WINDOW_REFERENCE")),
                    None => return Err(condition(other, "INVALID_SQL_SYNTAX.UNRESOLVED_WINDOW_REFERENCE")),
                },
            };
            windows.push((name.clone(), window.clone()));
        }
        Ok(Some(windows))
    }
}
