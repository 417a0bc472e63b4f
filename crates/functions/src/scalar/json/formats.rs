//! Patterns of dates and timestamps among the options.

use super::options::Options;
use crate::scalar::datetime::pattern::{Pattern, Use};
use crate::scalar::datetime::print::NamedZone;
use firesteel_config::{SqlConf, TimeParserPolicy};
use firesteel_error::Result;
use firesteel_types::DataType;
use firesteel_types::calendar::{MICROS_PER_DAY, MICROS_PER_SECOND};

/// The name under which a call keeps the policy of patterns beside its options.
const POLICY: &str = "firesteel.timeParserPolicy";

/// Notes the session's policy of patterns beside a call's options.
pub fn note_policy(options: &mut Options, conf: &SqlConf) {
    if conf.time_parser_policy == TimeParserPolicy::Legacy {
        options.set(POLICY, "LEGACY");
    }
}

/// Leaves out the patterns that nothing of a schema is read by: they may be wrong.
pub fn drop_unused(options: &mut Options, schema: &DataType) {
    let has = |wanted: DataType| schema.exists(&|t| *t == wanted || *t == DataType::Variant);
    for (name, data_type) in [
        ("dateFormat", DataType::Date),
        ("timestampFormat", DataType::Timestamp),
        ("timestampNTZFormat", DataType::TimestampNtz),
    ] {
        if !has(data_type) {
            options.remove(name);
        }
    }
}

/// Options with their patterns compiled.
#[derive(Debug)]
pub struct Formats {
    pub options: Options,
    pub date: Option<Pattern>,
    pub timestamp: Option<Pattern>,
    pub timestamp_ntz: Option<Pattern>,
}

impl Formats {
    /// The formats of a kernel's payload.
    pub fn of(payload: Option<&str>, used_for: Use) -> Result<Self> {
        Self::compile(Options::from_payload(payload), used_for)
    }

    /// The formats of options; fails where a pattern is none.
    pub fn compile(options: Options, used_for: Use) -> Result<Self> {
        let policy = match options.get(POLICY) {
            Some(_) => TimeParserPolicy::Legacy,
            None => TimeParserPolicy::Corrected,
        };
        let pattern =
            |name: &str| options.get(name).map(|text| Pattern::compile_by(policy, text, used_for)).transpose();
        Ok(Self {
            date: pattern("dateFormat")?,
            timestamp: pattern("timestampFormat")?,
            timestamp_ntz: pattern("timestampNTZFormat")?,
            options,
        })
    }
}

/// Appends a day by a pattern.
pub fn print_day(pattern: &Pattern, out: &mut String, day: i64) -> Result<()> {
    pattern.print(out, day.saturating_mul(MICROS_PER_DAY), 0, &NamedZone::parse("UTC")?)
}

/// Appends a moment of a zone by a pattern.
pub fn print_moment(pattern: &Pattern, out: &mut String, micros: i64, zone: &NamedZone) -> Result<()> {
    let offset = zone.zone.offset_at(micros.div_euclid(MICROS_PER_SECOND));
    pattern.print(out, micros, offset, zone)
}
