//! The declarations of all keys.

mod core;
mod firesteel;
mod fixed;
pub(crate) mod retired;
mod runtime;
pub(crate) mod undone;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::entry::{Check, ConfigEntry, Default, Kind, Scope};

/// Levels of a log.
const LOG_LEVELS: &[&str] = &["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];

/// What to do with values on which Spark 2 and Spark 3 differ.
const REBASE_MODES: &[&str] = &["EXCEPTION", "LEGACY", "CORRECTED"];

/// Where cached data live.
const STORAGE_LEVELS: &[&str] = &[
    "NONE",
    "DISK_ONLY",
    "DISK_ONLY_2",
    "DISK_ONLY_3",
    "MEMORY_ONLY",
    "MEMORY_ONLY_2",
    "MEMORY_ONLY_SER",
    "MEMORY_ONLY_SER_2",
    "MEMORY_AND_DISK",
    "MEMORY_AND_DISK_2",
    "MEMORY_AND_DISK_SER",
    "MEMORY_AND_DISK_SER_2",
    "OFF_HEAP",
];

/// Older names of keys, each with the key that also reads it.
static ALTERNATIVES: &[(&str, &str)] = &[
    (
        "spark.sql.execution.arrow.transformWithStateInPandas.maxRecordsPerBatch",
        "spark.sql.execution.arrow.transformWithStateInPySpark.maxStateRecordsPerBatch",
    ),
    ("spark.sql.legacy.parquet.datetimeRebaseModeInRead", "spark.sql.parquet.datetimeRebaseModeInRead"),
];

/// One row of a table.
const fn row(
    key: &'static str,
    kind: Kind,
    default: Default,
    check: Check,
    since: &'static str,
    doc: &'static str,
    scope: Scope,
) -> ConfigEntry {
    ConfigEntry { key, kind, default, check, scope, since, doc }
}

static TABLES: &[&[ConfigEntry]] = &[runtime::TABLE, fixed::TABLE, firesteel::TABLE, core::TABLE];

/// All declarations by key: each analysis asks for dozens.
static BY_KEY: LazyLock<HashMap<&'static str, &'static ConfigEntry>> =
    LazyLock::new(|| all().map(|entry| (entry.key, entry)).collect());

/// Finds the declaration of a key.
///
/// ```
/// use firesteel_config::{Scope, lookup};
/// assert_eq!(lookup("spark.sql.warehouse.dir").unwrap().scope, Scope::Static);
/// assert!(lookup("spark.no.such.key").is_none());
/// ```
pub fn lookup(key: &str) -> Option<&'static ConfigEntry> {
    BY_KEY.get(key).copied()
}

/// All declarations.
pub fn all() -> impl Iterator<Item = &'static ConfigEntry> {
    TABLES.iter().flat_map(|table| table.iter())
}

/// The keys that `SET -v` lists, sorted.
pub fn visible() -> Vec<&'static ConfigEntry> {
    let mut entries: Vec<_> = all().filter(|entry| entry.is_public()).collect();
    entries.sort_unstable_by_key(|entry| entry.key);
    entries
}

/// The older names that a key also reads.
pub(crate) fn alternatives(key: &str) -> impl Iterator<Item = &'static str> {
    ALTERNATIVES.iter().filter(move |(_, new)| *new == key).map(|(old, _)| *old)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value;

    #[test]
    fn tables_are_sorted_and_unique() {
        for table in TABLES {
            for pair in table.windows(2) {
                assert!(pair[0].key < pair[1].key, "{} before {}", pair[0].key, pair[1].key);
            }
        }
        let mut keys: Vec<_> = all().map(|entry| entry.key).collect();
        keys.sort_unstable();
        let count = keys.len();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn defaults_are_values_of_their_kind() {
        for entry in all() {
            match entry.default {
                Default::Is(text) => {
                    assert!(value::check(entry, text).is_ok(), "{}: {text}", entry.key);
                }
                Default::Of(other) => assert!(lookup(other).is_some(), "{}: {other}", entry.key),
                Default::Unset => {}
            }
        }
    }

    #[test]
    fn retired_keys_name_known_ones() {
        for retired in retired::DEPRECATED.iter().chain(retired::REMOVED) {
            assert!(retired.instead.is_empty() || lookup(retired.instead).is_some(), "{}", retired.key);
        }
        for retired in retired::REMOVED {
            assert!(lookup(retired.key).is_none(), "{}", retired.key);
        }
    }

    #[test]
    fn as_many_public_keys_as_spark_lists() {
        // Spark lists one more, a switch of its own test suites.
        let count = visible().iter().filter(|entry| !entry.key.starts_with("spark.firesteel.")).count();
        assert_eq!(count, 315);
    }
}
