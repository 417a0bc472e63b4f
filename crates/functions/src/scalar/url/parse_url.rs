//! `parse_url` and `try_parse_url`.

use super::uri::parse;
use crate::scalar::regexp::pattern::{Pattern, Span};
use crate::scalar::string::declare::{function, lenient, param};
use crate::scalar::string::rows::{Rows, Texts, texts};
use crate::{ArgType, KernelArgs, Signature};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::collections::HashMap;
use std::fmt::Write;

const ARGUMENTS: Signature = Signature::with_optional(
    &[param("url", ArgType::TEXT), param("partToExtract", ArgType::TEXT), param("key", ArgType::TEXT)],
    1,
);

function! {
    /// `parse_url(url, partToExtract[, key])`
    PARSE_URL = "parse_url" in Url, ARGUMENTS => lenient(DataType::STRING, |args| parse_url(args, args.settings.ansi));
    usage "A part of a URL: HOST, PATH, QUERY (or a parameter in it), REF, PROTOCOL, FILE, AUTHORITY or USERINFO.";
    since "2.0.0";
    example "SELECT parse_url('http://spark.apache.org/path?query=1', 'HOST')" => "spark.apache.org";
    example "SELECT parse_url('http://spark.apache.org/path?query=1', 'QUERY', 'query')" => "1";
}
function! {
    /// `try_parse_url(url, partToExtract[, key])`
    TRY_PARSE_URL = "try_parse_url" in Url, ARGUMENTS => lenient(DataType::STRING, |args| parse_url(args, false));
    usage "As `parse_url`, but null where the URL is malformed.";
    since "4.0.0";
    example "SELECT try_parse_url('http://spark.apache.org/path?query=1', 'HOST')" => "spark.apache.org";
    example "SELECT try_parse_url('inva lid://spark.apache.org/path?query=1', 'QUERY')" => "NULL";
}

fn parse_url(args: &KernelArgs<'_>, fails: bool) -> Result<ColumnarValue> {
    let (urls, parts): (Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let keys: Option<Texts> = if args.values.len() > 2 { Some(Rows::of(args, 2)?) } else { None };
    let mut patterns: HashMap<String, Pattern> = HashMap::new();
    let mut spans: Vec<Span> = Vec::new();
    texts(args, |row, out| {
        let (Some(url), Some(part)) = (urls.get(row), parts.get(row)) else { return Ok(None) };
        let key = match &keys {
            Some(keys) => match keys.get(row) {
                Some(key) if part == "QUERY" => Some(key),
                _ => return Ok(None),
            },
            None => None,
        };
        let Some(uri) = parse(url) else {
            return if fails { Err(SparkError::new("INVALID_URL").with("url", url)) } else { Ok(None) };
        };
        let found = match part {
            "HOST" => uri.host,
            "PATH" => uri.path,
            "QUERY" => uri.query,
            "REF" => uri.fragment,
            "PROTOCOL" => uri.scheme,
            "AUTHORITY" => uri.authority,
            "USERINFO" => uri.user_info,
            "FILE" => match (uri.path, uri.query) {
                (Some(path), Some(query)) => return Ok(write!(out, "{path}?{query}").ok()),
                (path, _) => path,
            },
            _ => None,
        };
        let (Some(key), Some(query)) = (key, found) else {
            return Ok(found.and_then(|text| out.write_str(text).ok()));
        };
        if !patterns.contains_key(key) {
            // The key is part of a regular expression.
            patterns.insert(key.to_string(), Pattern::compile(&format!("(&|^){key}=([^&]*)"), "parse_url")?);
        }
        let Some(pattern) = patterns.get(key) else { return Ok(None) };
        if !pattern.captures(query, 0, &mut spans)? {
            return Ok(None);
        }
        Ok(spans.get(2).copied().flatten().and_then(|(start, end)| out.write_str(&query[start..end]).ok()))
    })
}
