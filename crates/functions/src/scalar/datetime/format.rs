//! Timestamps as text.

use super::moment::{Moments, session_zone};
use super::pattern::{Pattern, Use};
use super::print::NamedZone;
use crate::kernel::call_with_payload;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Longs, Rows, Texts, texts};
use crate::{ArgType, Body, BuildContext, KernelArgs, Signature, TypedExpr};
use datafusion::logical_expr::{ColumnarValue, lit};
use firesteel_config::TimeParserPolicy;
use firesteel_error::Result;
use firesteel_types::DataType;
use firesteel_types::calendar::MICROS_PER_SECOND;
use std::fmt::Write;
use std::sync::Arc;

/// The pattern that is used where none is given.
pub const DEFAULT_PATTERN: &str = "yyyy-MM-dd HH:mm:ss";

function! {
    /// `date_format(timestamp, pattern)`
    DATE_FORMAT = "date_format" in DateTime,
        Signature::of(&[param("timestamp", ArgType::Timestamp), param("fmt", ArgType::String)])
        => Body::Build(build_date_format);
    usage "A timestamp as text, by a pattern.";
    since "1.5.0";
    example "SELECT date_format('2016-04-08', 'y')" => "2016";
}
function! {
    /// `from_unixtime(seconds[, pattern])`
    FROM_UNIXTIME = "from_unixtime" in DateTime,
        Signature::with_optional(&[param("unix_time", ArgType::Long), param("fmt", ArgType::String)], 1)
        => Body::Build(from_unixtime);
    text |a| if a.len() == 1 { format!("from_unixtime({}, {DEFAULT_PATTERN})", a[0]) }
        else { format!("from_unixtime({})", a.join(", ")) };
    usage "The moment so many seconds after 1970-01-01 00:00:00 UTC as text, by a pattern.";
    since "1.5.0";
    example "SELECT from_unixtime(0, 'yyyy-MM-dd HH:mm:ss')" => "1969-12-31 16:00:00";
}

/// The end of a call's payload that names the policy, where it is not the default.
pub fn policy_mark(context: &BuildContext<'_>) -> &'static str {
    match context.conf.time_parser_policy {
        TimeParserPolicy::Corrected => "",
        TimeParserPolicy::Legacy => LEGACY,
        TimeParserPolicy::Exception => EXCEPTION,
    }
}

const LEGACY: &str = "/legacy";
const EXCEPTION: &str = "/exception";

/// The policy that a call's payload names.
pub fn policy_of(args: &KernelArgs<'_>) -> TimeParserPolicy {
    match args.settings.payload.as_deref() {
        Some(payload) if payload.ends_with(LEGACY) => TimeParserPolicy::Legacy,
        Some(payload) if payload.ends_with(EXCEPTION) => TimeParserPolicy::Exception,
        _ => TimeParserPolicy::Corrected,
    }
}

/// The payload of a call that prints.
fn payload(context: &BuildContext<'_>) -> Option<Arc<str>> {
    Some(policy_mark(context)).filter(|mark| !mark.is_empty()).map(Arc::from)
}

/// The pattern in each row; a constant is compiled once.
pub struct Patterns<'a> {
    names: Texts,
    constant: Option<&'a Pattern>,
    policy: TimeParserPolicy,
    used_for: Use,
    last: Option<(String, Pattern)>,
}

impl<'a> Patterns<'a> {
    /// The argument at `index`.
    pub fn of(args: &'a KernelArgs<'_>, index: usize, used_for: Use) -> Result<Self> {
        let names: Texts = Rows::of(args, index)?;
        let policy = policy_of(args);
        let constant = match names.constant() {
            Some(Some(name)) if args.number_rows > 0 => {
                Some(args.prepared(|| Pattern::compile_by(policy, name, used_for))?)
            }
            _ => None,
        };
        Ok(Self { names, constant, policy, used_for, last: None })
    }

    /// The pattern of a row; None for null.
    pub fn get(&mut self, row: usize) -> Result<Option<&Pattern>> {
        if let Some(pattern) = self.constant {
            return Ok(Some(pattern));
        }
        let Some(name) = self.names.get(row) else { return Ok(None) };
        if self.last.as_ref().is_none_or(|(last, _)| last != name) {
            self.last = Some((name.to_string(), Pattern::compile_by(self.policy, name, self.used_for)?));
        }
        Ok(self.last.as_ref().map(|(_, pattern)| pattern))
    }

    /// Whether the way before Spark 3 reads a text by the pattern of a row.
    pub fn would_be_read(&self, row: usize, text: &str) -> bool {
        let pattern =
            self.names.get(row).map(|name| Pattern::compile_by(TimeParserPolicy::Legacy, name, self.used_for));
        pattern.and_then(Result::ok).is_some_and(|pattern| pattern.scan(text).is_ok())
    }
}

fn formatted(args: &KernelArgs<'_>, moment_at: impl Fn(usize) -> Option<i64>) -> Result<ColumnarValue> {
    let mut patterns = Patterns::of(args, 1, Use::Printing)?;
    let zone = NamedZone::parse(&args.settings.time_zone)?;
    let mut cursor = session_zone(args)?.cursor();
    let mut text = String::new();
    texts(args, |row, out| {
        let Some(moment) = moment_at(row) else { return Ok(None) };
        let Some(pattern) = patterns.get(row)? else { return Ok(None) };
        text.clear();
        let offset = cursor.offset_at(moment.div_euclid(MICROS_PER_SECOND));
        pattern.print(&mut text, moment, offset, &zone)?;
        Ok(out.write_str(&text).ok())
    })
}

fn date_format(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let moments: Moments = Rows::of(args, 0)?;
    formatted(args, |row| moments.get(row))
}

fn build_date_format(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let nullable = arguments.iter().any(|a| a.nullable);
    let (payload, to) = (payload(context), DataType::STRING);
    let expr = call_with_payload(&DATE_FORMAT, date_format, &arguments, &to, nullable, context, payload)?;
    Ok(TypedExpr::new(expr, to, nullable, ""))
}

fn from_unixtime(context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    if arguments.len() == 1 {
        arguments.push(default_pattern());
    }
    let (payload, to) = (payload(context), DataType::STRING);
    let expr = call_with_payload(&FROM_UNIXTIME, from_seconds, &arguments, &to, true, context, payload)?;
    Ok(TypedExpr::new(expr, to, true, ""))
}

/// The default pattern as an argument.
pub fn default_pattern() -> TypedExpr {
    TypedExpr::new(lit(DEFAULT_PATTERN), DataType::STRING, false, DEFAULT_PATTERN)
}

fn from_seconds(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let seconds: Longs = Rows::of(args, 0)?;
    formatted(args, |row| seconds.get(row).map(|s| s.wrapping_mul(MICROS_PER_SECOND)))
}
