//! Keys of collated texts: texts that count as equal have equal keys, and keys have the texts' order.

use crate::KernelArgs;
use crate::function::{Body, Documentation, Function, Group, Nullability, Returns};
use crate::{BuildContext, Signature, TypedExpr};
use arrow::array::{Array, BinaryArray, StringArray};
use datafusion::logical_expr::{ColumnarValue, Expr};
use firesteel_error::{Result, SparkError};
use firesteel_types::{Collation, DataType};
use icu_collator::options::{CaseLevel, CollatorOptions, Strength};
use icu_collator::{CollatorBorrowed, CollatorPreferences};
use icu_locale_core::Locale;
use std::sync::Arc;

/// How a collation makes keys of texts.
pub struct CollationKey {
    pub(super) kind: Kind,
    /// Spaces at the end do not count.
    pub(super) trims: bool,
}

/// How texts are told apart.
pub(super) enum Kind {
    Bytes,
    /// Code points by their small letters.
    Lower,
    Locale(CollatorBorrowed<'static>),
}

impl CollationKey {
    /// The rule of a collation.
    pub fn of(collation: &Collation) -> Result<Self> {
        let Collation::Named(name) = collation else { return Ok(Self { kind: Kind::Bytes, trims: false }) };
        let (name, trims) = match name.strip_suffix("_RTRIM") {
            Some(name) => (name, true),
            None => (name.as_ref(), false),
        };
        let kind = match name {
            "UTF8_BINARY" => Kind::Bytes,
            "UTF8_LCASE" => Kind::Lower,
            _ => Kind::Locale(collator(name)?),
        };
        Ok(Self { kind, trims })
    }

    /// The text without the blanks that do not count.
    pub fn counted<'a>(&self, text: &'a str) -> &'a str {
        if self.trims { text.trim_end_matches(' ') } else { text }
    }

    /// The key of a text.
    pub fn key(&self, text: &str) -> Vec<u8> {
        self.whole_key(self.counted(text))
    }

    /// The key of a text of which every blank counts.
    pub fn whole_key(&self, text: &str) -> Vec<u8> {
        match &self.kind {
            Kind::Bytes => text.as_bytes().to_vec(),
            Kind::Lower if text.is_ascii() => text.to_ascii_lowercase().into_bytes(),
            Kind::Lower => lower(text).into_bytes(),
            Kind::Locale(collator) => {
                let mut key = Vec::with_capacity(text.len() * 2);
                let Ok(()) = collator.write_sort_key_to(text, &mut key);
                key
            }
        }
    }

    /// The keys of texts; of nulls there are none.
    pub fn keys(&self, texts: &StringArray) -> Vec<Option<Vec<u8>>> {
        texts.iter().map(|text| text.map(|text| self.key(text))).collect()
    }
}

/// The small letters of a code point; the final sigma is a sigma.
pub(super) fn small_letters(character: char) -> impl Iterator<Item = char> {
    character.to_lowercase().map(|c| if c == 'ς' { 'σ' } else { c })
}

/// Small letters code point by code point.
fn lower(text: &str) -> String {
    text.chars().flat_map(small_letters).collect()
}

/// The collator of `UNICODE_CI`, `en_AI`, `sr_Cyrl_SRB_CI_AI` and the like.
fn collator(name: &str) -> Result<CollatorBorrowed<'static>> {
    let mut parts: Vec<&str> = name.split('_').collect();
    let mut take = |word: &str| match parts.iter().position(|part| *part == word) {
        Some(at) => {
            parts.remove(at);
            true
        }
        None => false,
    };
    let (ignores_case, ignores_accents) = (take("CI"), take("AI"));
    take("CS");
    take("AS");
    let unsupported = || SparkError::unsupported(format!("the collation {name}"));
    let preferences = match parts.as_slice() {
        ["UNICODE"] => CollatorPreferences::default(),
        // Countries do not change the order.
        [language, rest @ ..] => {
            let script = rest.iter().find(|part| part.len() == 4).map(|script| format!("-{script}"));
            let text = format!("{language}{}", script.unwrap_or_default());
            CollatorPreferences::from(&Locale::try_from_str(&text).map_err(|_| unsupported())?)
        }
        [] => return Err(unsupported()),
    };
    let mut options = CollatorOptions::default();
    options.strength = Some(match (ignores_case, ignores_accents) {
        (_, true) => Strength::Primary,
        (true, false) => Strength::Secondary,
        (false, false) => Strength::Tertiary,
    });
    if ignores_accents && !ignores_case {
        options.case_level = Some(CaseLevel::On);
    }
    CollatorBorrowed::try_new(preferences, options).map_err(|_| unsupported())
}

/// A text in, its collation's key out.
pub static KEY: Function = Function {
    name: "key_of_collated_text",
    aliases: &[],
    group: Group::String,
    signature: Signature::NONE,
    body: Body::Scalar {
        returns: Returns::Type(DataType::Binary),
        nullable: Nullability::IfAnyArgument,
        kernel: keys_of_column,
    },
    deterministic: true,
    text: None,
    documentation: Documentation::EMPTY,
};

fn keys_of_column(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let array = args.array(0)?;
    let texts = array
        .as_any()
        .downcast_ref::<StringArray>()
        .ok_or_else(|| SparkError::internal(format!("{} was not expected", array.data_type())))?;
    let rule = match args.types.first() {
        Some(DataType::String(collation)) => CollationKey::of(collation)?,
        _ => return Err(SparkError::internal("a text was expected")),
    };
    let keys: BinaryArray = rule.keys(texts).iter().map(Option::as_deref).collect();
    Ok(ColumnarValue::Array(Arc::new(keys)))
}

/// The call that makes the keys of a collated text; None for other values.
pub fn key_call(value: &TypedExpr, context: &BuildContext<'_>) -> Option<Result<Expr>> {
    match &value.data_type {
        DataType::String(collation) if *collation != Collation::Utf8Binary => {
            let arguments = std::slice::from_ref(value);
            Some(crate::kernel::call(&KEY, keys_of_column, arguments, &DataType::Binary, value.nullable, context))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> CollationKey {
        CollationKey::of(&Collation::Named(name.into())).unwrap()
    }

    fn are_equal(name: &str, left: &str, right: &str) -> bool {
        named(name).key(left) == named(name).key(right)
    }

    #[test]
    fn collations_tell_texts_apart_by_their_levels() {
        assert!(are_equal("UTF8_LCASE", "aBc", "AbC"));
        assert!(!are_equal("UTF8_LCASE", "a", "å"));
        assert!(are_equal("UTF8_BINARY_RTRIM", "a  ", "a"));
        assert!(!are_equal("UNICODE", "a", "A"));
        assert!(are_equal("UNICODE_CI", "a", "A"));
        assert!(!are_equal("UNICODE_CI", "a", "å"));
        assert!(are_equal("UNICODE_AI", "a", "å"));
        assert!(!are_equal("UNICODE_AI", "a", "A"));
        assert!(are_equal("en_USA_CI_AI", "a", "Å"));
        assert!(are_equal("tr_CI", "I", "ı"));
    }

    #[test]
    fn keys_have_the_order_of_the_language() {
        assert!(named("UNICODE").key("a") < named("UNICODE").key("A"));
        assert!(named("sv").key("Kypper") < named("sv").key("Köpfe"));
        assert!(named("de").key("Kypper") > named("de").key("Köpfe"));
    }
}
