//! SHOW TABLES, VIEWS, CREATE TABLE.

use super::Runner;
use super::rows::{one_text, rows, text, text_column};
use super::setting::{shown, shown_option};
use super::table_text::{information, location_text};
use crate::catalog_state::Found;
use firesteel_analyzer::{LocalRows, attribute};
use firesteel_catalog::{CatalogTable, TableKind, matches_pattern};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{PartitionSpec, TableName};
use firesteel_types::text::{quote_if_needed, quote_string};
use firesteel_types::{DataType, Literal};

impl Runner {
    /// Temporary views whose names match, sorted, with a text about each.
    fn temporary_views(&self, global: bool, pattern: Option<&str>) -> Vec<(String, String)> {
        let about = |view: &firesteel_analyzer::Resolved| {
            let schema = attribute::schema_of(&view.output);
            format!("Schema: {}\n", schema.tree_string(None))
        };
        let mut found: Vec<(String, String)> = if global {
            self.session.engine().global_views().read().iter().map(|(name, view)| (name.clone(), about(view))).collect()
        } else {
            self.session.temp_views().read().iter().map(|(name, (_, view))| (name.clone(), about(view))).collect()
        };
        found.retain(|(name, _)| pattern.is_none_or(|p| matches_pattern(name, p)));
        found.sort();
        found
    }

    pub(super) fn show_tables(&self, namespace: Option<&TableName>, pattern: Option<&str>) -> Result<LocalRows> {
        let database = self.namespace(namespace)?;
        let columns = [text_column("namespace"), text_column("tableName"), ("isTemporary", DataType::Boolean, false)];
        rows(&columns, self.listed(&database, pattern, |_| true)?)
    }

    pub(super) fn show_views(&self, namespace: Option<&TableName>, pattern: Option<&str>) -> Result<LocalRows> {
        let database = self.namespace(namespace)?;
        let columns = [text_column("namespace"), text_column("viewName"), ("isTemporary", DataType::Boolean, false)];
        rows(&columns, self.listed(&database, pattern, CatalogTable::is_view)?)
    }

    /// Tables and views of a database, then temporary views.
    fn listed(
        &self,
        database: &str,
        pattern: Option<&str>,
        takes: impl Fn(&CatalogTable) -> bool,
    ) -> Result<Vec<Vec<Literal>>> {
        let global = self.conf().global_temp_database.clone();
        let mut all = Vec::new();
        if database == global {
            for (name, _) in self.temporary_views(true, pattern) {
                all.push(vec![text(&global), text(name), Literal::Boolean(true)]);
            }
        } else {
            for table in self.catalog().tables(database)? {
                if takes(&table) && pattern.is_none_or(|p| matches_pattern(&table.name.name, p)) {
                    all.push(vec![text(database), text(&table.name.name), Literal::Boolean(false)]);
                }
            }
        }
        for (name, _) in self.temporary_views(false, pattern) {
            all.push(vec![text(""), text(name), Literal::Boolean(true)]);
        }
        Ok(all)
    }

    pub(super) fn show_table_extended(
        &self,
        namespace: Option<&TableName>,
        pattern: &str,
        partition: Option<&PartitionSpec>,
    ) -> Result<LocalRows> {
        let database = self.namespace(namespace)?;
        let columns = [
            text_column("namespace"),
            text_column("tableName"),
            ("isTemporary", DataType::Boolean, false),
            text_column("information"),
        ];
        let mut all = Vec::new();
        if let Some(spec) = partition {
            if self.session.temp_views().read().contains_key(&pattern.to_lowercase()) {
                let view = [pattern.to_string()];
                return Err(super::not_a_table(&view, "SHOW TABLE EXTENDED ... PARTITION ..."));
            }
            let parts = [database.clone(), pattern.to_string()];
            let Found::Stored(table) = self.found(&parts).map_err(|_| {
                SparkError::new("TABLE_OR_VIEW_NOT_FOUND").with("relationName", attribute::quote(pattern))
            })?
            else {
                return Err(super::not_a_table(&parts, "SHOW TABLE EXTENDED"));
            };
            if table.is_view() {
                return Err(super::not_a_table(&table.name.parts(), "SHOW TABLE EXTENDED ... PARTITION ..."));
            }
            if table.partition_columns.is_empty() {
                return Err(super::alter_table::not_partitioned(&table, "SHOW TABLE EXTENDED"));
            }
            let partition = self.one_partition(&table, spec)?;
            let values: Vec<String> = partition.values.iter().map(|(c, v)| format!("{c}={v}")).collect();
            let about = format!(
                "Partition Values: [{}]\nLocation: {}\nCreated Time: {}\nLast Access: UNKNOWN\n",
                values.join(", "),
                location_text(&partition.folder.to_string_lossy()),
                super::table_text::time_text(table.created),
            );
            all.push(vec![text(&database), text(&table.name.name), Literal::Boolean(false), text(about)]);
            return rows(&columns, all);
        }
        if self.catalog().has_database(&database) {
            for table in self.catalog().tables(&database)? {
                if matches_pattern(&table.name.name, pattern) {
                    let name = text(&table.name.name);
                    all.push(vec![text(&database), name, Literal::Boolean(false), text(information(&table))]);
                }
            }
        }
        let about = |name: &str, about: &str| format!("Table: {name}\nType: VIEW\nView Schema Mode: BINDING\n{about}");
        if database == self.conf().global_temp_database {
            for (name, facts) in self.temporary_views(true, Some(pattern)) {
                let about = format!("Database: {database}\n{}", about(&name, &facts));
                all.push(vec![text(&database), text(name), Literal::Boolean(true), text(about)]);
            }
        }
        for (name, facts) in self.temporary_views(false, Some(pattern)) {
            let about = about(&name, &facts);
            all.push(vec![text(""), text(name), Literal::Boolean(true), text(about)]);
        }
        rows(&columns, all)
    }

    pub(super) fn show_create_table(&self, name: &TableName, as_serde: bool) -> Result<LocalRows> {
        let parts = self.parts(name)?;
        let Found::Stored(table) = self.found_named(name)? else {
            return Err(SparkError::new("EXPECT_PERMANENT_VIEW_NOT_TEMP")
                .with("operation", "SHOW CREATE TABLE")
                .with("viewName", attribute::quote_parts(&parts))
                .or_context(|| name.origin().context()));
        };
        if as_serde && !table.is_view() {
            return Err(SparkError::new("UNSUPPORTED_SHOW_CREATE_TABLE.ON_DATA_SOURCE_TABLE_WITH_AS_SERDE")
                .with("tableName", table.name.quoted()));
        }
        one_text("createtab_stmt", create_text(&table))
    }
}

/// The statement that makes a table or view anew.
fn create_text(table: &CatalogTable) -> String {
    let mut out = if table.is_view() {
        format!("CREATE VIEW {}.{} (\n", quote_if_needed(&table.name.database), quote_if_needed(&table.name.name))
    } else {
        let parts: Vec<String> = table.name.parts().iter().map(|p| quote_if_needed(p)).collect();
        format!("CREATE TABLE {} (\n", parts.join("."))
    };
    let columns: Vec<String> = table
        .schema
        .fields
        .iter()
        .map(|field| {
            if !table.is_view() {
                return format!("  {}", field.to_ddl());
            }
            let comment = field.comment().map(|c| format!(" COMMENT {}", quote_string(c))).unwrap_or_default();
            format!("  {}{comment}", quote_if_needed(&field.name))
        })
        .collect();
    out.push_str(&columns.join(",\n"));
    out.push_str(")\n");
    if let Some(provider) = &table.provider {
        out.push_str(&format!("USING {provider}\n"));
    }
    let pairs = |map: &std::collections::BTreeMap<String, String>, shown: for<'a> fn(&str, &'a str) -> &'a str| {
        map.iter()
            .map(|(k, v)| format!("  {} = {}", quote_string(k), quote_string(shown(k, v))))
            .collect::<Vec<_>>()
            .join(",\n")
    };
    if !table.options.is_empty() {
        out.push_str(&format!("OPTIONS (\n{})\n", pairs(&table.options, shown_option)));
    }
    let names = |list: &[String]| list.iter().map(|n| quote_if_needed(n)).collect::<Vec<_>>().join(", ");
    if !table.partition_columns.is_empty() {
        out.push_str(&format!("PARTITIONED BY ({})\n", names(&table.partition_columns)));
    }
    if let Some(bucketing) = &table.bucketing {
        out.push_str(&format!("CLUSTERED BY ({})\n", names(&bucketing.columns)));
        if !bucketing.sort_columns.is_empty() {
            out.push_str(&format!("SORTED BY ({})\n", names(&bucketing.sort_columns)));
        }
        out.push_str(&format!("INTO {} BUCKETS\n", bucketing.count));
    }
    if let Some(comment) = &table.comment {
        out.push_str(&format!("COMMENT {}\n", quote_string(comment)));
    }
    if let Some(collation) = &table.collation {
        out.push_str(&format!("DEFAULT COLLATION {collation}\n"));
    }
    if let (TableKind::External, Some(location)) = (table.kind, &table.location) {
        out.push_str(&format!("LOCATION {}\n", quote_string(&location_text(location))));
    }
    if !table.properties.is_empty() {
        out.push_str(&format!("TBLPROPERTIES (\n{})\n", pairs(&table.properties, shown)));
    }
    if let Some(view) = &table.view {
        if !view.schema_mode.is_empty() {
            out.push_str(&format!("WITH SCHEMA {}\n", view.schema_mode));
        }
        out.push_str(&format!("AS {}\n", view.text));
    }
    out
}
