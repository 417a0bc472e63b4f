//! `collations()`.

use super::declare::function;
use crate::function::Generator;
use crate::scalar::generator::table::constant_rows;
use crate::{Body, BuildContext, Signature, TypedExpr};
use arrow::array::{ArrayRef, StringArray};
use firesteel_error::Result;
use firesteel_types::DataType;
use firesteel_types::collation_list::{CollationEntry, ICU_VERSION, all};
use std::sync::Arc;

function! {
    /// `collations()`
    COLLATIONS = "collations" in TableValued, Signature::NONE => Body::Generator(build);
    usage "All collations of strings.";
    since "4.0.0";
    example "SELECT NAME FROM collations() WHERE NAME = 'UTF8_BINARY'" => "UTF8_BINARY";
}

fn build(_: &mut BuildContext<'_>, _: Vec<TypedExpr>) -> Result<Generator> {
    let entries = all();
    let column = |name: &'static str, nullable: bool, f: &dyn Fn(&CollationEntry) -> Option<String>| {
        let array: ArrayRef = Arc::new(entries.iter().map(f).collect::<StringArray>());
        (name, DataType::STRING, nullable, array)
    };
    let sensitive = |is: bool, what: &str| Some(format!("{what}_{}", if is { "SENSITIVE" } else { "INSENSITIVE" }));
    let pad = |ignored: bool| Some(if ignored { "RTRIM" } else { "NO_PAD" }.to_string());
    constant_rows(vec![
        column("CATALOG", false, &|_| Some("SYSTEM".to_string())),
        column("SCHEMA", false, &|_| Some("BUILTIN".to_string())),
        column("NAME", false, &|e| Some(e.name.clone())),
        column("LANGUAGE", true, &|e| e.language.map(str::to_string)),
        column("COUNTRY", true, &|e| e.country.map(str::to_string)),
        column("ACCENT_SENSITIVITY", false, &|e| sensitive(e.is_accent_sensitive, "ACCENT")),
        column("CASE_SENSITIVITY", false, &|e| sensitive(e.is_case_sensitive, "CASE")),
        column("PAD_ATTRIBUTE", false, &|e| pad(e.ignores_trailing_blanks)),
        column("ICU_VERSION", true, &|e| e.is_icu.then(|| ICU_VERSION.to_string())),
    ])
}
