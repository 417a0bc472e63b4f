//! What is told of a table, as keys and texts.

use super::Runner;
use super::setting::{shown, shown_option};
use crate::catalog_state::Found;
use crate::session::SPARK_VERSION;
use firesteel_analyzer::attribute;
use firesteel_catalog::{CatalogTable, SESSION_CATALOG};
use firesteel_sources::path::short_uri;
use firesteel_types::time_zone::TimeZone;
use firesteel_types::{StructType, calendar};
use std::collections::BTreeMap;
use std::path::Path;

/// A moment as Java prints it, in UTC: `Mon Nov 30 13:25:30 UTC 2026`.
pub(crate) fn time_text(micros: i64) -> String {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let days = TimeZone::UTC.day_of(micros);
    let (year, month, day) = calendar::civil_from_days(days);
    // 1970-01-01 was a Thursday.
    let weekday = DAYS[usize::try_from((days + 3).rem_euclid(7)).unwrap_or(0)];
    let month = MONTHS[usize::try_from(month).unwrap_or(1).saturating_sub(1).min(11)];
    let seconds = micros.div_euclid(1_000_000).rem_euclid(86_400);
    format!("{weekday} {month} {day:02} {:02}:{:02}:{:02} UTC {year}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Names in back quotes, in brackets.
fn listed(names: &[String]) -> String {
    format!("[{}]", names.iter().map(|n| attribute::quote(n)).collect::<Vec<_>>().join(", "))
}

/// Keys and values in brackets, without what `shown` hides.
fn pairs(map: &BTreeMap<String, String>, shown: for<'a> fn(&str, &'a str) -> &'a str) -> String {
    format!("[{}]", map.iter().map(|(k, v)| format!("{k}={}", shown(k, v))).collect::<Vec<_>>().join(", "))
}

/// The location as Spark shows it.
pub(crate) fn location_text(location: &str) -> String {
    short_uri(Path::new(location))
}

/// What `DESCRIBE EXTENDED` tells after the columns.
pub(crate) fn details(table: &CatalogTable) -> Vec<(&'static str, String)> {
    let mut out = vec![
        ("Catalog", SESSION_CATALOG.to_string()),
        ("Database", table.name.database.clone()),
        ("Table", table.name.name.clone()),
    ];
    if !table.owner.is_empty() {
        out.push(("Owner", table.owner.clone()));
    }
    out.push(("Created Time", time_text(table.created)));
    out.push(("Last Access", "UNKNOWN".to_string()));
    out.push(("Created By", format!("Spark {SPARK_VERSION}")));
    out.push(("Type", table.kind_name().to_string()));
    if let Some(provider) = &table.provider {
        out.push(("Provider", provider.clone()));
    }
    if let Some(bucketing) = &table.bucketing {
        out.push(("Num Buckets", bucketing.count.to_string()));
        out.push(("Bucket Columns", listed(&bucketing.columns)));
        out.push(("Sort Columns", listed(&bucketing.sort_columns)));
    }
    if let Some(comment) = &table.comment {
        out.push(("Comment", comment.clone()));
    }
    if let Some(collation) = &table.collation {
        out.push(("Collation", collation.clone()));
    }
    if let Some(view) = &table.view {
        out.push(("View Text", view.text.clone()));
        out.push(("View Original Text", view.text.clone()));
        if !view.schema_mode.is_empty() {
            out.push(("View Schema Mode", view.schema_mode.clone()));
        }
        out.push(("View Catalog and Namespace", format!("{}.{}", view.catalog, view.database)));
        out.push(("View Query Output Columns", listed(&view.output)));
    }
    if !table.properties.is_empty() {
        out.push(("Table Properties", pairs(&table.properties, shown)));
    }
    if let Some(statistics) = &table.statistics {
        let rows = statistics.rows.map(|rows| format!(", {rows} rows")).unwrap_or_default();
        out.push(("Statistics", format!("{} bytes{rows}", statistics.bytes)));
    }
    if let Some(location) = &table.location {
        out.push(("Location", location_text(location)));
    }
    if !table.options.is_empty() {
        out.push(("Storage Properties", pairs(&table.options, shown_option)));
    }
    if !table.partition_columns.is_empty() {
        out.push(("Partition Provider", "Catalog".to_string()));
    }
    out
}

/// What `SHOW TABLE EXTENDED` tells.
pub(crate) fn information(table: &CatalogTable) -> String {
    let mut out = String::new();
    for (key, value) in details(table) {
        out.push_str(&format!("{key}: {value}\n"));
    }
    if !table.partition_columns.is_empty() {
        out.push_str(&format!("Partition Columns: {}\n", listed(&table.partition_columns)));
    }
    out.push_str(&format!("Schema: {}\n", table.schema.tree_string(None)));
    out
}

impl Runner {
    /// The columns of what a name stands for, with declared types.
    pub(crate) fn schema_of(&self, found: &Found) -> StructType {
        match found {
            Found::Temporary { view, .. } | Found::Global { view, .. } => attribute::schema_of(&view.output),
            Found::Stored(table) => table.schema.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::time_text;

    #[test]
    fn moments_are_printed_as_java_does() {
        assert_eq!(time_text(0), "Thu Jan 01 00:00:00 UTC 1970");
        assert_eq!(time_text(1_796_045_130_000_000), "Mon Nov 30 13:25:30 UTC 2026");
    }
}
