//! SQL functions as DESCRIBE FUNCTION shows them.

use super::table_text::time_text;
use firesteel_catalog::CatalogFunction;
use firesteel_plan::{ColumnDefinition, FunctionBody};

/// Lines of labels and values, the values under each other; none for functions that have no SQL.
pub(super) fn lines(function: &CatalogFunction, full_name: &str, is_extended: bool) -> Vec<String> {
    let FunctionBody::Sql { parameters, returns, returns_table, text, deterministic, comment, contains_sql, .. } =
        &function.body
    else {
        return Vec::new();
    };
    let kind = if returns_table.is_some() { "TABLE" } else { "SCALAR" };
    let mut facts: Vec<(&str, Vec<String>)> =
        vec![("Function", vec![full_name.to_string()]), ("Type", vec![kind.to_string()])];
    let input = if parameters.is_empty() { vec!["()".to_string()] } else { columns(parameters, is_extended) };
    facts.push(("Input", input));
    match (returns, returns_table) {
        (_, Some(table)) => facts.push(("Returns", columns(table, is_extended))),
        (Some(data_type), None) => facts.push(("Returns", vec![data_type.sql()])),
        (None, None) => {}
    }
    if is_extended {
        facts.extend(comment.iter().map(|comment| ("Comment", vec![comment.clone()])));
        facts.extend(deterministic.iter().map(|value| ("Deterministic", vec![value.to_string()])));
        let access = |contains: &bool| if *contains { "CONTAINS SQL" } else { "READS SQL DATA" };
        facts.extend(contains_sql.iter().map(|contains| ("Data Access", vec![access(contains).to_string()])));
        let settings = function.settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        facts.push(("Configs", settings));
        facts.push(("Create Time", vec![time_text(function.created)]));
        facts.push(("Body", vec![text.clone()]));
    }
    let width = facts.iter().map(|(label, _)| label.len() + 2).max().unwrap_or_default();
    let mut out = Vec::new();
    for (label, values) in facts {
        for (i, value) in values.into_iter().enumerate() {
            let label = if i == 0 { format!("{label}:") } else { String::new() };
            out.push(format!("{label:<width$}{value}"));
        }
    }
    out
}

/// Names and types under each other, with defaults and comments where more is asked for.
fn columns(columns: &[ColumnDefinition], is_extended: bool) -> Vec<String> {
    let widest = |text: fn(&ColumnDefinition) -> String| columns.iter().map(|c| text(c).chars().count()).max();
    let names = widest(|c| c.field.name.clone()).unwrap_or_default();
    let types = widest(|c| c.field.data_type.sql()).unwrap_or_default();
    let line = |column: &ColumnDefinition| {
        let mut line = format!("{:<names$} {:<types$}", column.field.name, column.field.data_type.sql());
        if is_extended {
            if let Some((text, _)) = &column.default {
                line.push_str(&format!(" DEFAULT {text}"));
            }
            if let Some(comment) = &column.comment {
                line.push_str(&format!(" '{comment}'"));
            }
        }
        line
    };
    columns.iter().map(line).collect()
}
