//! `saveAsTable`, `insertInto` and `writeTo` of DataFrames.

use super::create_table::NewTable;
use super::{Runner, table_operation};
use crate::catalog_state::Locals;
use crate::session::Session;
use firesteel_analyzer::attribute;
use firesteel_catalog::catalog::table_not_found;
use firesteel_catalog::{Bucketing, CatalogTable, TableKind};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{
    Expr, ExprKind, Insert, Name, Options, SaveMode, TableName, WriteModeV2, WriteOperation, WriteOperationV2,
};
use firesteel_types::{Literal, TimeZone};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Writes a DataFrame to a table that is made where it is not there.
pub(crate) fn save_as_table(session: &Arc<Session>, write: &WriteOperation, name: &Name) -> Result<()> {
    let runner = Runner::new(session.clone(), Locals::default());
    check_name(name)?;
    let qualified = runner.qualify(name)?;
    if write.bucket.is_none() && !write.sort_columns.is_empty() {
        return Err(SparkError::new("SORT_BY_WITHOUT_BUCKETING"));
    }
    let mode = write.mode.unwrap_or(SaveMode::ErrorIfExists);
    let old = runner.catalog().table(&qualified);
    if let Some(old) = &old {
        match mode {
            SaveMode::ErrorIfExists => {
                return Err(SparkError::new("TABLE_OR_VIEW_ALREADY_EXISTS").with("relationName", qualified.quoted()));
            }
            SaveMode::Ignore => return Ok(()),
            SaveMode::Append | SaveMode::Overwrite if old.is_view() => {
                return Err(super::not_a_table(&qualified.parts(), "saveAsTable"));
            }
            SaveMode::Append => {
                check_append(&runner, old, write)?;
                let insert = insert(name, write, false, true);
                return runner.run(&firesteel_plan::Statement::Insert(insert)).map(|_| ());
            }
            SaveMode::Overwrite => {}
        }
    }
    let resolved = runner.analyse(&write.input)?;
    check_buckets(&runner, write, &resolved, &qualified.quoted())?;
    if let Some(old) = &old {
        crate::files::check_table_not_read(&resolved.plan, old)?;
    }
    let (location, options) = split_path(&write.options);
    let new = NewTable {
        name: qualified.clone(),
        provider: write.format.clone().unwrap_or_else(|| runner.conf().default_source.clone()),
        schema: attribute::schema_of(&resolved.output).as_nullable(),
        partition_columns: write.partition_columns.clone(),
        bucketing: write.bucket.as_ref().map(|(count, columns)| Bucketing {
            count: i64::from(*count),
            columns: columns.clone(),
            sort_columns: write.sort_columns.clone(),
        }),
        location,
        comment: None,
        properties: BTreeMap::new(),
        options,
        collation: None,
    };
    let Some(old) = old else { return runner.create_with_rows(new, &resolved) };
    runner.catalog().drop_table(&qualified)?;
    let result = runner
        .add_table(new)
        .and_then(|()| runner.catalog().table(&qualified).ok_or_else(|| table_not_found(&qualified.quoted())))
        .and_then(|table| {
            runner.write_rows(&table, &resolved, firesteel_sources::SaveMode::Overwrite)?;
            let moved = old.location != table.location;
            if moved && old.kind == TableKind::Managed { runner.remove_data(&old) } else { Ok(()) }
        });
    if result.is_err() {
        runner.catalog().create_table(old.as_ref().clone(), true)?;
    }
    result
}

/// Names of tables have a database and a catalog before them at most.
fn check_name(name: &Name) -> Result<()> {
    if name.len() > 3 {
        return Err(SparkError::new("_LEGACY_ERROR_TEMP_1310").with("quote", name.join(".")));
    }
    Ok(())
}

/// What `saveAsTable` appends to a table must be laid out as the table is.
fn check_append(runner: &Runner, old: &CatalogTable, write: &WriteOperation) -> Result<()> {
    let table = old.name.parts().join(".");
    let given = crate::write::format_name(write.format.as_deref().unwrap_or(&runner.conf().default_source));
    let existing = old.provider.clone().unwrap_or_default();
    if given != existing {
        return Err(SparkError::new("_LEGACY_ERROR_TEMP_1159")
            .with("tableName", table)
            .with("existingProvider", source_class(&existing))
            .with("specifiedProvider", source_class(&given)));
    }
    let resolved = runner.analyse(&write.input)?;
    let schema = attribute::schema_of(&resolved.output);
    if schema.fields.len() != old.schema.fields.len() {
        return Err(SparkError::new("_LEGACY_ERROR_TEMP_1161")
            .with("tableName", table)
            .with("existingTableSchema", old.schema.catalog_string())
            .with("querySchema", schema.catalog_string()));
    }
    let case_sensitive = runner.conf().case_sensitive;
    let same = |a: &str, b: &str| if case_sensitive { a == b } else { a.eq_ignore_ascii_case(b) };
    for field in &old.schema.fields {
        if !schema.names().any(|name| same(name, &field.name)) {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_1162")
                .with("col", field.name.clone())
                .with("inputColumns", schema.names().collect::<Vec<_>>().join(", ")));
        }
    }
    let partitions = &write.partition_columns;
    let fits = partitions.len() == old.partition_columns.len()
        && partitions.iter().zip(&old.partition_columns).all(|(a, b)| same(a, b));
    if !fits {
        return Err(SparkError::new("_LEGACY_ERROR_TEMP_1163")
            .with("tableName", table)
            .with("specifiedPartCols", partitions.join(", "))
            .with("existingPartCols", old.partition_columns.join(", ")));
    }
    let buckets = write.bucket.as_ref().map(|(count, columns)| (i64::from(*count), columns, &write.sort_columns));
    let existing = old.bucketing.as_ref().map(|b| (b.count, &b.columns, &b.sort_columns));
    if buckets != existing {
        return Err(SparkError::new("_LEGACY_ERROR_TEMP_1164")
            .with("tableName", table)
            .with("specifiedBucketString", bucket_text(buckets))
            .with("existingBucketString", bucket_text(existing)));
    }
    Ok(())
}

fn bucket_text(buckets: Option<(i64, &Vec<String>, &Vec<String>)>) -> String {
    let Some((count, columns, sort_columns)) = buckets else { return "not bucketed".to_string() };
    let mut text = format!("{count} buckets, bucket columns: [{}]", columns.join(", "));
    if !sort_columns.is_empty() {
        text.push_str(&format!(", sort columns: [{}]", sort_columns.join(", ")));
    }
    text
}

/// The class of a data source, which messages name.
fn source_class(provider: &str) -> String {
    match provider {
        "parquet" => "ParquetDataSourceV2".to_string(),
        "csv" => "CSVDataSourceV2".to_string(),
        "json" => "JsonDataSourceV2".to_string(),
        "orc" => "OrcDataSourceV2".to_string(),
        "text" => "TextDataSourceV2".to_string(),
        other => other.to_string(),
    }
}

/// The columns of buckets must be columns of the table.
fn check_buckets(
    runner: &Runner,
    write: &WriteOperation,
    resolved: &firesteel_analyzer::Resolved,
    table: &str,
) -> Result<()> {
    let Some((_, columns)) = &write.bucket else { return Ok(()) };
    let case_sensitive = runner.conf().case_sensitive;
    let same = |a: &str, b: &str| if case_sensitive { a == b } else { a.eq_ignore_ascii_case(b) };
    let known = |name: &String| resolved.output.iter().any(|c| same(&c.name, name));
    let kinds = columns.iter().map(|c| (c, "bucket")).chain(write.sort_columns.iter().map(|c| (c, "sort")));
    for (column, kind) in kinds {
        if !known(column) {
            let names: Vec<String> = resolved.output.iter().map(|c| attribute::quote(&c.name)).collect();
            return Err(SparkError::new("COLUMN_NOT_DEFINED_IN_TABLE")
                .with("colType", kind)
                .with("colName", attribute::quote(column))
                .with("tableName", table)
                .with("tableCols", names.join(", ")));
        }
    }
    Ok(())
}

/// Writes a DataFrame to a table that is there, by position.
pub(crate) fn insert_into(session: &Arc<Session>, write: &WriteOperation, name: &Name) -> Result<()> {
    check_name(name)?;
    let overwrite = matches!(write.mode, Some(SaveMode::Overwrite));
    if !write.partition_columns.is_empty() {
        return Err(SparkError::new("PARTITION_BY_NOT_ALLOWED_WITH_INSERT_INTO").with("tableName", name.join(".")));
    }
    let insert = insert(name, write, overwrite, false);
    let runner = Runner::new(session.clone(), Locals::default());
    runner.run(&firesteel_plan::Statement::Insert(insert)).map(|_| ())
}

/// `df.writeTo(…)`.
pub(crate) fn write_to(session: &Arc<Session>, write: &WriteOperationV2) -> Result<()> {
    let runner = Runner::new(session.clone(), Locals::default());
    let qualified = runner.qualify(&write.table)?;
    let old = runner.catalog().table(&qualified);
    match &write.mode {
        WriteModeV2::Create => {
            let (partition_columns, bucketing) = transforms(&write.partitioning)?;
            if old.is_some() {
                return Err(firesteel_catalog::catalog::already_exists(&qualified));
            }
            let resolved = runner.analyse(&write.input)?;
            let (location, options) = split_path(&write.options);
            runner.create_with_rows(
                NewTable {
                    name: qualified,
                    provider: write.provider.clone().unwrap_or_else(|| runner.conf().default_source.clone()),
                    schema: attribute::schema_of(&resolved.output).as_nullable(),
                    partition_columns,
                    bucketing,
                    location,
                    comment: None,
                    properties: write.table_properties.iter().cloned().collect(),
                    options,
                    collation: None,
                },
                &resolved,
            )
        }
        WriteModeV2::Replace | WriteModeV2::CreateOrReplace => {
            Err(table_operation(&qualified, "REPLACE TABLE AS SELECT"))
        }
        // Tables of files take rows by `insertInto` and `saveAsTable` only.
        WriteModeV2::Append | WriteModeV2::Overwrite(_) | WriteModeV2::OverwritePartitions => {
            old.ok_or_else(|| runner.relation_not_found(&write.table))?;
            Err(SparkError::new("_LEGACY_ERROR_TEMP_1012").with("identifier", qualified.quoted()))
        }
    }
}

/// The partition columns and buckets that `partitionedBy` gives.
fn transforms(partitioning: &[Expr]) -> Result<(Vec<String>, Option<Bucketing>)> {
    let mut columns = Vec::new();
    let mut bucketing = None;
    for transform in partitioning {
        match &transform.kind {
            ExprKind::Attribute { name, .. } => columns.extend(name.last().cloned()),
            ExprKind::Function(call) => {
                let name = call.name.join(".");
                match (name.as_str(), call.arguments.as_slice()) {
                    ("bucket", [Expr { kind: ExprKind::Literal(Literal::Integer(count)), .. }, of @ ..]) => {
                        let of = of.iter().map(transform_argument).collect();
                        bucketing = Some(Bucketing { count: i64::from(*count), columns: of, sort_columns: Vec::new() });
                    }
                    ("years" | "months" | "days" | "hours", [of]) => {
                        return Err(SparkError::new("UNSUPPORTED_PARTITION_TRANSFORM")
                            .with("transform", format!("`{name}({})`", transform_argument(of))));
                    }
                    (_, arguments) => {
                        let arguments: Vec<String> = arguments.iter().map(transform_argument).collect();
                        return Err(SparkError::new("_LEGACY_ERROR_TEMP_1316")
                            .with("expr", format!("{}({})", attribute::quote(&name), arguments.join(", "))));
                    }
                }
            }
            _ => {
                return Err(SparkError::new("_LEGACY_ERROR_TEMP_1316").with("expr", transform_argument(transform)));
            }
        }
    }
    Ok((columns, bucketing))
}

fn transform_argument(argument: &Expr) -> String {
    match &argument.kind {
        ExprKind::Attribute { name, .. } => name.join("."),
        ExprKind::Literal(value) => value.display(TimeZone::UTC),
        _ => String::new(),
    }
}

fn insert(name: &Name, write: &WriteOperation, overwrite: bool, by_name: bool) -> Insert {
    Insert {
        table: TableName::of(name.clone()),
        columns: Vec::new(),
        partition: Vec::new(),
        if_partition_not_exists: false,
        query: write.input.clone(),
        overwrite,
        by_name,
        replace_where: None,
        directory: None,
        with_schema_evolution: false,
        options: write.options.clone(),
    }
}

/// The option `path`, and the others.
fn split_path(options: &Options) -> (Option<String>, BTreeMap<String, String>) {
    let path = options.iter().find(|(key, _)| key.eq_ignore_ascii_case("path")).map(|(_, path)| path.clone());
    let others = options.iter().filter(|(key, _)| !key.eq_ignore_ascii_case("path")).cloned().collect();
    (path, others)
}
