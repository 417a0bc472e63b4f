//! `saveAsTable`, `insertInto` and `writeTo` of DataFrames.

use super::create_table::NewTable;
use super::{Runner, table_operation};
use crate::catalog_state::Locals;
use crate::session::Session;
use firesteel_analyzer::attribute;
use firesteel_catalog::TableKind;
use firesteel_catalog::catalog::table_not_found;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{
    ExprKind, Insert, Name, Options, SaveMode, TableName, WriteModeV2, WriteOperation, WriteOperationV2,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Writes a DataFrame to a table that is made where it is not there.
pub(crate) fn save_as_table(session: &Arc<Session>, write: &WriteOperation, name: &Name) -> Result<()> {
    let runner = Runner::new(session.clone(), Locals::default());
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
        bucketing: write.bucket.as_ref().map(|(count, columns)| firesteel_catalog::Bucketing {
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
            if old.is_some() {
                return Err(firesteel_catalog::catalog::already_exists(&qualified));
            }
            let mut partition_columns = Vec::new();
            for partition in &write.partitioning {
                match &partition.kind {
                    ExprKind::Attribute { name, .. } => partition_columns.extend(name.last().cloned()),
                    _ => return Err(table_operation(&qualified, "PARTITIONED BY transforms")),
                }
            }
            let resolved = runner.analyse(&write.input)?;
            let (location, options) = split_path(&write.options);
            runner.create_with_rows(
                NewTable {
                    name: qualified,
                    provider: write.provider.clone().unwrap_or_else(|| runner.conf().default_source.clone()),
                    schema: attribute::schema_of(&resolved.output).as_nullable(),
                    partition_columns,
                    bucketing: None,
                    location,
                    comment: None,
                    properties: write.table_properties.iter().cloned().collect(),
                    options,
                    collation: None,
                },
                &resolved,
            )
        }
        WriteModeV2::Replace | WriteModeV2::CreateOrReplace => Err(table_operation(&qualified, "REPLACE TABLE")),
        WriteModeV2::Append => {
            old.ok_or_else(|| table_not_found(&attribute::quote_parts(&write.table)))?;
            let insert = Insert {
                table: TableName::Parts(write.table.clone()),
                columns: Vec::new(),
                partition: Vec::new(),
                if_partition_not_exists: false,
                query: write.input.clone(),
                overwrite: false,
                by_name: true,
                replace_where: None,
                directory: None,
                with_schema_evolution: false,
                options: write.options.clone(),
            };
            runner.run(&firesteel_plan::Statement::Insert(insert)).map(|_| ())
        }
        WriteModeV2::Overwrite(_) | WriteModeV2::OverwritePartitions => {
            old.ok_or_else(|| table_not_found(&attribute::quote_parts(&write.table)))?;
            Err(table_operation(&qualified, "OVERWRITE"))
        }
    }
}

fn insert(name: &Name, write: &WriteOperation, overwrite: bool, by_name: bool) -> Insert {
    Insert {
        table: TableName::Parts(name.clone()),
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
