//! Paths into variants: `$.name[1]['other name']`.

use firesteel_error::{Result, SparkError};
use firesteel_types::variant::{Variant, malformed};

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Field(String),
    Element(usize),
}

/// A path into a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path(Vec<Step>);

impl Path {
    /// Reads a path; the function's name is for the error.
    pub fn parse(text: &str, function: &str) -> Result<Self> {
        steps(text).map(Self).ok_or_else(|| {
            SparkError::new("INVALID_VARIANT_GET_PATH").with("path", text).with("functionName", format!("`{function}`"))
        })
    }

    /// The value that the path leads to; None where there is none.
    pub fn walk<'a>(&self, variant: Variant<'a>) -> Result<Option<Variant<'a>>> {
        let mut at = variant;
        for step in &self.0 {
            let next = match step {
                Step::Field(name) => at.field(name),
                Step::Element(index) => at.element(*index),
            };
            match next.ok_or_else(malformed)? {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }
}

fn steps(text: &str) -> Option<Vec<Step>> {
    let mut rest = text.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            if end == 0 {
                return None;
            }
            steps.push(Step::Field(name[..end].to_string()));
            rest = &name[end..];
            continue;
        }
        let inner = rest.strip_prefix('[')?;
        let quote = inner.chars().next().filter(|c| matches!(c, '\'' | '"'));
        if let Some(quote) = quote {
            let name = &inner[1..];
            let end = name.find(quote).filter(|end| *end > 0)?;
            let name_text = &name[..end];
            if name_text.contains('?') {
                return None;
            }
            steps.push(Step::Field(name_text.to_string()));
            rest = name[end + 1..].strip_prefix(']')?;
        } else {
            let end = inner.find(']')?;
            let digits = &inner[..end];
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            let index = digits.parse::<i32>().ok()?;
            steps.push(Step::Element(usize::try_from(index).ok()?));
            rest = &inner[end + 1..];
        }
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_names_and_numbers() {
        let field = |name: &str| Step::Field(name.into());
        assert_eq!(steps("$"), Some(vec![]));
        assert_eq!(
            steps("$.a b[1]['c.d'][\"e\"]"),
            Some(vec![field("a b"), Step::Element(1), field("c.d"), field("e")])
        );
        for text in ["", "a", "$.", "$.a.", "$[-1]", "$[a]", "$[ 1 ]", "$[1", "$['a]", "$a"] {
            assert_eq!(steps(text), None, "{text}");
        }
    }
}
