//! DESCRIBE of tables, columns and queries.

use super::Runner;
use super::partition::Partition;
use super::rows::{commented_rows, one_text, optional, rows, text, text_column};
use super::setting::{shown, shown_option};
use super::table_text::{details, location_text};
use crate::catalog_state::Found;
use firesteel_analyzer::{LocalRows, attribute};
use firesteel_catalog::CatalogTable;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Name, PartitionSpec, Relation, TableName};
use firesteel_types::{DataType, Literal, StructField, StructType};

/// Name, type and comment.
fn column_row(field: &StructField) -> Vec<Literal> {
    vec![text(&field.name), text(field.data_type.simple_string()), optional(field.comment())]
}

fn line(a: &str, b: impl Into<String>) -> Vec<Literal> {
    vec![text(a), text(b), text("")]
}

fn described(all: Vec<Vec<Literal>>) -> Result<LocalRows> {
    let columns = [
        (text_column("col_name"), "name of the column"),
        (text_column("data_type"), "data type of the column"),
        (("comment", DataType::STRING, true), "comment of the column"),
    ];
    commented_rows(&columns, all)
}

/// What of columns has a default value, under a heading of its own.
fn defaults(schema: &StructType) -> Vec<Vec<Literal>> {
    let with: Vec<Vec<Literal>> = schema
        .fields
        .iter()
        .filter_map(|field| {
            let default = field.metadata.get("CURRENT_DEFAULT").and_then(|value| value.as_str())?;
            Some(vec![text(&field.name), text(field.data_type.simple_string()), text(default)])
        })
        .collect();
    if with.is_empty() {
        return with;
    }
    [vec![line("", ""), line("# Column Default Values", "")], with].concat()
}

impl Runner {
    pub(super) fn describe_query(&self, query: &Relation) -> Result<LocalRows> {
        let resolved = self.analyse(query)?;
        let schema = attribute::schema_of(&resolved.output);
        described(schema.fields.iter().map(column_row).collect())
    }

    pub(super) fn describe_table(
        &self,
        name: &TableName,
        is_extended: bool,
        partition: Option<&PartitionSpec>,
        as_json: bool,
    ) -> Result<LocalRows> {
        let parts = self.parts(name)?;
        let found = match self.find(&parts)? {
            Some(found) => found,
            // Paths of files can be described too.
            None => return self.describe_path(name),
        };
        if as_json {
            return self.describe_as_json(&found);
        }
        let schema = self.schema_of(&found);
        let mut all: Vec<Vec<Literal>> = schema.fields.iter().map(column_row).collect();
        let kind = match &found {
            Found::Temporary { .. } | Found::Global { .. } => Some("TEMPORARY VIEW"),
            Found::Stored(table) if table.is_view() => Some("VIEW"),
            Found::Stored(_) => None,
        };
        if let (Some(kind), Some(_)) = (kind, partition) {
            return Err(SparkError::new("FORBIDDEN_OPERATION")
                .with("statement", "DESC PARTITION")
                .with("objectType", kind)
                .with("objectName", attribute::quote_parts(&parts)));
        }
        let Found::Stored(table) = found else { return described(all) };
        if !table.partition_columns.is_empty() {
            all.push(line("# Partition Information", ""));
            all.push(vec![text("# col_name"), text("data_type"), text("comment")]);
            all.extend(schema.fields.iter().filter(|f| table.is_partition_column(&f.name)).map(column_row));
        }
        if !is_extended {
            if let Some(spec) = partition {
                self.described_partition(&table, spec)?;
            }
            all.extend(defaults(&schema));
            return described(all);
        }
        all.push(line("", ""));
        match partition {
            None => {
                all.push(line("# Detailed Table Information", ""));
                all.extend(details(&table).into_iter().map(|(k, v)| line(k, v)));
                all.extend(defaults(&schema));
            }
            Some(spec) => {
                let partition = self.described_partition(&table, spec)?;
                let values: Vec<String> = partition.values.iter().map(|(c, v)| format!("{c}={v}")).collect();
                all.push(line("# Detailed Partition Information", ""));
                all.push(line("Database", &*table.name.database));
                all.push(line("Table", &*table.name.name));
                all.push(line("Partition Values", format!("[{}]", values.join(", "))));
                all.push(line("Location", location_text(&partition.folder.to_string_lossy())));
                let kept = |key: &str| matches!(key, "Storage Properties" | "Created Time" | "Last Access");
                let mut about: Vec<_> = details(&table).into_iter().filter(|(k, _)| kept(k)).collect();
                about.sort_by_key(|(k, _)| *k != "Storage Properties");
                all.extend(about.into_iter().map(|(k, v)| line(k, v)));
                all.push(line("", ""));
                all.push(line("# Storage Information", ""));
                let kept = |key: &str| {
                    matches!(key, "Num Buckets" | "Bucket Columns" | "Sort Columns" | "Location" | "Storage Properties")
                };
                all.extend(details(&table).into_iter().filter(|(k, _)| kept(k)).map(|(k, v)| line(k, v)));
            }
        }
        described(all)
    }

    fn described_partition(&self, table: &CatalogTable, spec: &PartitionSpec) -> Result<Partition> {
        if table.partition_columns.is_empty() {
            return Err(super::alter_table::not_partitioned(table, "DESC PARTITION"));
        }
        self.one_partition(table, spec)
    }

    fn describe_path(&self, name: &TableName) -> Result<LocalRows> {
        let reference = firesteel_plan::TableReference {
            name: name.clone(),
            options: Vec::new(),
            is_streaming: false,
            time_travel: None,
        };
        let resolved = self
            .analyse(&Relation::new(firesteel_plan::RelationKind::Table(reference)))
            .map_err(|error| error.or_context(|| name.origin().context()))?;
        let schema = attribute::schema_of(&resolved.output);
        described(schema.fields.iter().map(column_row).collect())
    }

    pub(super) fn describe_column(&self, name: &TableName, column: &Name, is_extended: bool) -> Result<LocalRows> {
        let parts = self.parts(name)?;
        let found = self.found_relation(name)?;
        let schema = self.schema_of(&found);
        let own = match column.as_slice() {
            [one] => one,
            [.., one]
                if parts.iter().rev().zip(column.iter().rev().skip(1)).all(|(a, b)| a.eq_ignore_ascii_case(b)) =>
            {
                one
            }
            _ => {
                return Err(SparkError::new("_LEGACY_ERROR_TEMP_1060")
                    .with("command", "DESC TABLE COLUMN")
                    .with("column", column.join(".")));
            }
        };
        let field = schema.fields.iter().find(|f| f.name.eq_ignore_ascii_case(own)).ok_or_else(|| {
            SparkError::new("COLUMN_NOT_FOUND")
                .with("colName", attribute::quote(own))
                .with("caseSensitiveConfig", "\"spark.sql.caseSensitive\"")
        })?;
        let mut all = vec![
            ("col_name", field.name.clone()),
            ("data_type", field.data_type.catalog_string()),
            ("comment", field.comment().unwrap_or("NULL").to_string()),
        ];
        if is_extended {
            // Columns are not analysed: nothing is known of their values.
            for key in ["min", "max", "num_nulls", "distinct_count", "avg_col_len", "max_col_len", "histogram"] {
                all.push((key, "NULL".to_string()));
            }
        }
        let all = all.into_iter().map(|(k, v)| vec![text(k), text(v)]).collect();
        rows(&[text_column("info_name"), text_column("info_value")], all)
    }

    fn describe_as_json(&self, found: &Found) -> Result<LocalRows> {
        let Found::Stored(table) = found else {
            return Err(SparkError::unsupported("DESCRIBE … AS JSON of temporary views"));
        };
        one_text("json_metadata", serde_json::Value::Object(json(table)).to_string())
    }
}

fn json(table: &CatalogTable) -> serde_json::Map<String, serde_json::Value> {
    use serde_json::{Map, Value, json};
    let strings = |list: &[String]| Value::from(list.to_vec());
    let mut out = Map::new();
    out.insert("table_name".into(), table.name.name.clone().into());
    out.insert("catalog_name".into(), firesteel_catalog::SESSION_CATALOG.into());
    out.insert("namespace".into(), json!([table.name.database]));
    out.insert("schema_name".into(), table.name.database.clone().into());
    out.insert("columns".into(), json_columns(&table.schema));
    if let Some(bucketing) = &table.bucketing {
        out.insert("num_buckets".into(), bucketing.count.into());
        out.insert("bucket_columns".into(), strings(&bucketing.columns));
        out.insert("sort_columns".into(), strings(&bucketing.sort_columns));
    }
    if let Some(view) = &table.view {
        out.insert("view_text".into(), view.text.clone().into());
        out.insert("view_original_text".into(), view.text.clone().into());
        out.insert("view_schema_mode".into(), view.schema_mode.clone().into());
        out.insert("view_catalog_and_namespace".into(), format!("{}.{}", view.catalog, view.database).into());
        out.insert("view_query_output_columns".into(), strings(&view.output));
    }
    if let Some(location) = &table.location {
        out.insert("location".into(), location_text(location).into());
    }
    let pairs = |map: &std::collections::BTreeMap<String, String>, shown: for<'a> fn(&str, &'a str) -> &'a str| {
        Value::Object(map.iter().map(|(k, v)| (k.clone(), shown(k, v).into())).collect())
    };
    if table.location.is_some() {
        out.insert("storage_properties".into(), pairs(&table.options, shown_option));
    }
    out.insert("created_time".into(), iso(table.created).into());
    out.insert("last_access".into(), "UNKNOWN".into());
    out.insert("created_by".into(), format!("Spark {}", crate::session::SPARK_VERSION).into());
    out.insert("type".into(), table.kind_name().into());
    if let Some(provider) = &table.provider {
        out.insert("provider".into(), provider.clone().into());
    }
    if let Some(comment) = &table.comment {
        out.insert("comment".into(), comment.clone().into());
    }
    if !table.properties.is_empty() {
        out.insert("table_properties".into(), pairs(&table.properties, shown));
    }
    if !table.partition_columns.is_empty() {
        out.insert("partition_provider".into(), "Catalog".into());
        out.insert("partition_columns".into(), strings(&table.partition_columns));
    }
    out
}

/// `2026-11-30T13:25:30Z`.
fn iso(micros: i64) -> String {
    let days = firesteel_types::time_zone::TimeZone::UTC.day_of(micros);
    let (year, month, day) = firesteel_types::calendar::civil_from_days(days);
    let seconds = micros.div_euclid(1_000_000).rem_euclid(86_400);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn json_columns(schema: &StructType) -> serde_json::Value {
    schema
        .fields
        .iter()
        .map(|f| {
            let mut column = serde_json::Map::new();
            column.insert("name".into(), f.name.clone().into());
            column.insert("type".into(), json_type(&f.data_type));
            if let Some(comment) = f.comment() {
                column.insert("comment".into(), comment.into());
            }
            column.insert("nullable".into(), f.nullable.into());
            if let Some(default) = f.current_default() {
                column.insert("default".into(), default.into());
            }
            serde_json::Value::Object(column)
        })
        .collect()
}

fn json_type(data_type: &DataType) -> serde_json::Value {
    use serde_json::json;
    match data_type {
        DataType::String(collation) => json!({"name": "string", "collation": collation.name()}),
        DataType::Char(length) => json!({"name": "char", "length": length}),
        DataType::Varchar(length) => json!({"name": "varchar", "length": length}),
        DataType::Decimal(precision, scale) => json!({"name": "decimal", "precision": precision, "scale": scale}),
        DataType::Timestamp => json!({"name": "timestamp_ltz"}),
        DataType::Array { element, contains_null } => {
            json!({"name": "array", "element_type": json_type(element), "element_nullable": contains_null})
        }
        DataType::Map { key, value, value_contains_null } => json!({
            "name": "map", "key_type": json_type(key), "value_type": json_type(value), "value_nullable": value_contains_null
        }),
        DataType::Struct(fields) => json!({"name": "struct", "fields": json_columns(fields)}),
        DataType::YearMonthInterval(start, end) => {
            json!({"name": "interval", "start_unit": start.name(), "end_unit": end.name()})
        }
        DataType::DayTimeInterval(start, end) => {
            json!({"name": "interval", "start_unit": start.name(), "end_unit": end.name()})
        }
        other => json!({"name": other.simple_string()}),
    }
}
