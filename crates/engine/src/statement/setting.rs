//! USE, SET, RESET.

use super::Runner;
use super::rows::{commented_rows, nothing, optional, rows, text, text_column};
use firesteel_analyzer::LocalRows;
use firesteel_catalog::SESSION_CATALOG;
use firesteel_catalog::catalog::schema_not_found;
use firesteel_config::session::is_secret;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Expr, SetStatement, TableName};
use firesteel_types::{DataType, Literal};

/// What statements show in place of secrets.
pub(crate) const REDACTED: &str = "*********(redacted)";

/// The value, unless it is a secret.
pub(crate) fn shown<'a>(key: &str, value: &'a str) -> &'a str {
    if is_secret(key) { REDACTED } else { value }
}

/// The value of a table's option, unless it is a secret or may hold one.
pub(crate) fn shown_option<'a>(key: &str, value: &'a str) -> &'a str {
    if key.to_ascii_lowercase().contains("url") { REDACTED } else { shown(key, value) }
}

impl Runner {
    pub(super) fn use_namespace(&self, name: &TableName, is_namespace: bool) -> Result<LocalRows> {
        let parts = self.parts(name)?;
        match parts.as_slice() {
            [catalog] if !is_namespace && catalog.eq_ignore_ascii_case(SESSION_CATALOG) => {
                self.session.current().write().1 = firesteel_catalog::DEFAULT_DATABASE.to_string();
            }
            _ => self.set_database(&self.database_name(&parts)?)?,
        }
        Ok(nothing())
    }

    /// Makes a database the current one.
    pub(crate) fn set_database(&self, database: &str) -> Result<()> {
        let database = database.to_lowercase();
        if !self.catalog().has_database(&database) {
            return Err(schema_not_found(&database));
        }
        self.session.current().write().1 = database;
        Ok(())
    }

    pub(super) fn set_catalog(&self, name: &Expr) -> Result<LocalRows> {
        let name = self.text_of(name)?;
        self.use_catalog(&name)?;
        Ok(nothing())
    }

    /// Makes a catalog the current one: there is one only.
    pub(crate) fn use_catalog(&self, name: &str) -> Result<()> {
        if name.eq_ignore_ascii_case(SESSION_CATALOG) {
            return Ok(());
        }
        Err(SparkError::new("CATALOG_NOT_FOUND")
            .with("catalogName", firesteel_analyzer::attribute::quote(name))
            .with("config", format!("\"spark.sql.catalog.{name}\"")))
    }

    pub(super) fn set(&self, set: &SetStatement) -> Result<LocalRows> {
        let columns = [text_column("key"), text_column("value")];
        let row = |key: &str, value: &str| vec![vec![text(key), text(shown(key, value))]];
        match set {
            SetStatement::ShowAll { verbose: false } => {
                let all = self.session.config().read().get_all(None);
                let all = all.iter().map(|(key, value)| vec![text(key), text(shown(key, value))]).collect();
                rows(&columns, all)
            }
            SetStatement::ShowAll { verbose: true } => {
                let config = self.session.config().read();
                let mut all = Vec::new();
                for entry in firesteel_config::visible() {
                    let value = config.get_option(entry.key).unwrap_or_else(|| "<undefined>".to_string());
                    all.push(vec![text(entry.key), text(shown(entry.key, &value)), text(entry.doc), text(entry.since)]);
                }
                rows(
                    &[text_column("key"), text_column("value"), text_column("meaning"), text_column("Since version")],
                    all,
                )
            }
            SetStatement::Show { key } => {
                let value = self.session.config().read().get_option(key);
                rows(&columns, row(key, value.as_deref().unwrap_or("<undefined>")))
            }
            SetStatement::Assign { key, value } => {
                if self.session.catalog_state().variables.read().contains_key(&key.to_lowercase()) && !key.contains('.')
                {
                    return Err(SparkError::new("UNSUPPORTED_FEATURE.SET_VARIABLE_USING_SET")
                        .with("variableName", firesteel_analyzer::attribute::quote(key)));
                }
                self.session.config().write().set(key, value)?;
                rows(&columns, row(key, value))
            }
            SetStatement::TimeZone { zone } => {
                let key = firesteel_config::keys::SESSION_TIME_ZONE;
                let value = match zone {
                    Some(zone) => self.zone_text(zone)?,
                    None => {
                        self.session.config().write().reset(key)?;
                        self.session.config().read().get_option(key).unwrap_or_else(|| "UTC".to_string())
                    }
                };
                self.session.config().write().set(key, &value)?;
                rows(&columns, row(key, &value))
            }
        }
    }

    /// A zone's name; intervals are offsets.
    fn zone_text(&self, zone: &Expr) -> Result<String> {
        match self.evaluate(zone)?.0 {
            Literal::String(text) => Ok(text),
            Literal::DayTimeInterval(micros, _) | Literal::CalendarInterval(0, 0, micros) => {
                let seconds = micros / 1_000_000;
                let sign = if seconds < 0 { '-' } else { '+' };
                let (hours, minutes, rest) = (seconds.abs() / 3600, seconds.abs() / 60 % 60, seconds.abs() % 60);
                Ok(match rest {
                    0 => format!("{sign}{hours:02}:{minutes:02}"),
                    rest => format!("{sign}{hours:02}:{minutes:02}:{rest:02}"),
                })
            }
            other => Err(SparkError::unsupported(format!("SET TIME ZONE to a {}", other.data_type().sql()))),
        }
    }

    pub(super) fn reset(&self, key: Option<&str>) -> Result<LocalRows> {
        match key {
            Some(key) => self.session.config().write().reset(key)?,
            None => self.session.config().write().reset_all(),
        }
        Ok(nothing())
    }

    pub(super) fn show_current_namespace(&self) -> Result<LocalRows> {
        let (catalog, database) = self.session.current().read().clone();
        rows(&[text_column("catalog"), text_column("namespace")], vec![vec![text(catalog), text(database)]])
    }

    pub(super) fn show_catalogs(&self, pattern: Option<&str>) -> Result<LocalRows> {
        let matches = pattern.is_none_or(|p| firesteel_catalog::matches_pattern(SESSION_CATALOG, p));
        rows(&[text_column("catalog")], if matches { vec![vec![text(SESSION_CATALOG)]] } else { Vec::new() })
    }

    pub(super) fn show_table_properties(&self, table: &TableName, key: Option<&str>) -> Result<LocalRows> {
        let columns = [text_column("key"), text_column("value")];
        let crate::catalog_state::Found::Stored(table) = self.found_named(table)? else {
            return rows(&columns, Vec::new());
        };
        let all = match key {
            Some(key) => {
                let value = match table.properties.get(key) {
                    Some(value) => shown(key, value).to_string(),
                    None => format!("Table {} does not have property: {key}", table.name),
                };
                vec![vec![text(key), text(value)]]
            }
            None => table.properties.iter().map(|(k, v)| vec![text(k), text(shown(k, v))]).collect(),
        };
        rows(&columns, all)
    }

    pub(super) fn show_columns(
        &self,
        table: &TableName,
        namespace: Option<&firesteel_plan::Name>,
    ) -> Result<LocalRows> {
        let mut parts = self.parts(table)?;
        if let Some(namespace) = namespace {
            if let [.., database, _] = parts.as_slice()
                && namespace.last().is_some_and(|n| !n.eq_ignore_ascii_case(database))
            {
                return Err(SparkError::new("SHOW_COLUMNS_WITH_CONFLICT_NAMESPACE")
                    .with("namespaceA", firesteel_analyzer::attribute::quote_parts(namespace))
                    .with("namespaceB", firesteel_analyzer::attribute::quote(database)));
            }
            if parts.len() == 1 {
                parts = namespace.iter().cloned().chain(parts).collect();
            }
        }
        let found = self.found(&parts).map_err(|error| error.or_context(|| table.origin().context()))?;
        let schema = self.schema_of(&found);
        rows(&[text_column("col_name")], schema.fields.iter().map(|f| vec![text(&f.name)]).collect())
    }

    pub(super) fn show_namespaces(&self, parent: Option<&TableName>, pattern: Option<&str>) -> Result<LocalRows> {
        if let Some(parent) = parent {
            let parts = self.parts(parent)?;
            if !matches!(parts.as_slice(), [one] if one.eq_ignore_ascii_case(SESSION_CATALOG)) {
                return Err(schema_not_found(&parts.join(".")));
            }
        }
        let names = self.catalog().database_names();
        let names = names.iter().filter(|n| pattern.is_none_or(|p| firesteel_catalog::matches_pattern(n, p)));
        rows(&[text_column("namespace")], names.map(|n| vec![text(n)]).collect())
    }

    pub(super) fn describe_namespace(&self, name: &TableName, is_extended: bool) -> Result<LocalRows> {
        let database = self.catalog().database(&self.namespace(Some(name))?)?;
        let location = firesteel_sources::path::short_uri(std::path::Path::new(&database.location));
        let mut all = vec![
            ("Catalog Name", SESSION_CATALOG.to_string()),
            ("Namespace Name", database.name.clone()),
            ("Comment", database.comment.clone().unwrap_or_default()),
            ("Location", location),
            ("Owner", database.owner.clone()),
        ];
        if let Some(collation) = &database.collation {
            all.push(("Collation", collation.clone()));
        }
        if is_extended {
            let properties: Vec<String> =
                database.properties.iter().map(|(k, v)| format!("({k},{})", shown(k, v))).collect();
            let properties = if properties.is_empty() { String::new() } else { format!("({})", properties.join(", ")) };
            all.push(("Properties", properties));
        }
        let all = all.into_iter().map(|(k, v)| vec![text(k), optional(Some(v))]).collect();
        let columns = [
            (text_column("info_name"), "name of the namespace info"),
            (("info_value", DataType::STRING, true), "value of the namespace info"),
        ];
        commented_rows(&columns, all)
    }
}
