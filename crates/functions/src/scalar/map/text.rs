//! `str_to_map`.

use super::entry::{MapPicker, policy};
use crate::kernel::kernel;
use crate::scalar::regexp::pattern::{Pattern, after, under_collation};
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Rows, Texts, finish, row_count};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{ArrayRef, StringArray};
use datafusion::logical_expr::{ColumnarValue, lit};
use firesteel_error::Result;
use firesteel_types::DataType;
use std::collections::HashMap;
use std::sync::Arc;

function! {
    /// `str_to_map(text[, pairDelim[, keyValueDelim]])`
    STR_TO_MAP = "str_to_map" in Map,
        Signature::with_optional(
            &[
                param("text", ArgType::TEXT),
                param("pairDelim", ArgType::TEXT),
                param("keyValueDelim", ArgType::TEXT),
            ],
            2,
        )
        => Body::Named(build);
    usage "The map that a text says: its pairs are parted by one regular expression, key and value by another.";
    since "2.0.1";
    example "SELECT str_to_map('a:1,b:2,c:3', ',', ':')" => "{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}";
    example "SELECT str_to_map('a')" => "{\"a\":null}";
}

/// The kernel, by which a call that has travelled finds it again.
pub static KERNELS: &[&Function] = &[&kernel("str_to_map", split)];

fn build(context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    for default in [",", ":"].into_iter().skip(arguments.len().saturating_sub(1)) {
        arguments.push(TypedExpr::new(lit(default), DataType::STRING, false, default));
    }
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let data_type = DataType::map(DataType::STRING, DataType::STRING, true);
    let nullable = arguments.iter().any(|a| a.nullable);
    let expr = crate::kernel::call_with_payload(
        &STR_TO_MAP,
        split,
        &arguments,
        &data_type,
        nullable,
        context,
        policy(context),
    )?;
    Ok(TypedExpr::new(expr, data_type, nullable, STR_TO_MAP.call_text(&names)))
}

/// The parts of a text, at most so many where that is not 0.
fn parts<'t>(text: &'t str, delimiter: &str, kept: &mut HashMap<String, Pattern>, most: usize) -> Result<Vec<&'t str>> {
    if !kept.contains_key(delimiter) {
        kept.insert(delimiter.to_string(), Pattern::compile(delimiter, STR_TO_MAP.name)?);
    }
    let mut found = Vec::new();
    let Some(pattern) = kept.get(delimiter) else { return Ok(vec![text]) };
    let (mut start, mut at) = (0, Some(0));
    while let Some(from) = at {
        if most > 0 && found.len() + 1 == most {
            break;
        }
        let Some(span) = pattern.find(text, from)? else { break };
        // An empty match at the start parts nothing, nor does one at the end.
        if span.1 > 0 && !(span.0 == span.1 && span.0 == text.len()) {
            found.push(&text[start..span.0]);
            start = span.1;
        }
        at = after(text, span);
    }
    found.push(&text[start..]);
    Ok(found)
}

fn split(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (texts, pairs, values): (Texts, Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?, Rows::of(args, 2)?);
    let mut kept = HashMap::new();
    let count = row_count(args);
    let (mut keys, mut items, mut lengths) = (Vec::new(), Vec::new(), Vec::with_capacity(count));
    for row in 0..count {
        let (Some(text), Some(pair), Some(value)) = (texts.get(row), pairs.get(row), values.get(row)) else {
            lengths.push(None);
            continue;
        };
        let before = keys.len();
        let (pair, value) = (under_collation(args.types, pair), under_collation(args.types, value));
        for part in parts(text, &pair, &mut kept, 0)? {
            let split = parts(part, &value, &mut kept, 2)?;
            keys.push(split.first().copied().unwrap_or_default());
            items.push(split.get(1).copied());
        }
        lengths.push(Some(keys.len() - before));
    }
    let keys: ArrayRef = Arc::new(StringArray::from(keys));
    let items: ArrayRef = Arc::new(StringArray::from(items));
    let mut out = MapPicker::new(args.return_type, vec![keys], vec![items], args.settings.payload.is_some())?;
    let mut at = 0;
    for length in lengths {
        let Some(length) = length else {
            out.end_null()?;
            continue;
        };
        for index in at..at + length {
            out.push((0, index), (0, index))?;
        }
        at += length;
        out.end()?;
    }
    finish(args, out.finish()?)
}
