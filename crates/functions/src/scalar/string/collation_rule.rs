//! What the collation of the arguments means for functions that compare texts.

use crate::KernelArgs;
use firesteel_error::{Result, SparkError};
use firesteel_types::{Collation, DataType};
use std::borrow::Cow;

/// How texts are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Binary,
    /// By their small letters (`UTF8_LCASE`).
    LowerCase,
}

/// The comparison that the arguments' collation asks for; collations of other kinds are not supported.
pub fn comparison(args: &KernelArgs<'_>, function: &str) -> Result<Comparison> {
    for data_type in args.types {
        if let DataType::String(Collation::Named(name)) = data_type {
            return match name.as_ref() {
                "UTF8_LCASE" => Ok(Comparison::LowerCase),
                other => Err(SparkError::unsupported(format!("{function} with the collation {other}"))),
            };
        }
    }
    Ok(Comparison::Binary)
}

/// Fails for every collation but the binary one.
pub fn require_binary(args: &KernelArgs<'_>, function: &str) -> Result<()> {
    match comparison(args, function)? {
        Comparison::Binary => Ok(()),
        Comparison::LowerCase => Err(SparkError::unsupported(format!("{function} with the collation UTF8_LCASE"))),
    }
}

impl Comparison {
    /// The text as it is compared, with as many characters as before.
    pub fn key<'a>(self, text: &'a str) -> Cow<'a, str> {
        match self {
            Self::Binary => Cow::Borrowed(text),
            Self::LowerCase if text.is_ascii() => Cow::Owned(text.to_ascii_lowercase()),
            Self::LowerCase => Cow::Owned(text.chars().map(|c| c.to_lowercase().next().unwrap_or(c)).collect()),
        }
    }
}
