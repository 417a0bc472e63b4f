//! CREATE, DROP and ALTER of databases; COMMENT ON.

use super::Runner;
use super::rows::nothing;
use firesteel_analyzer::LocalRows;
use firesteel_catalog::{Database, TableKind};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_plan::{CommentTarget, NamespaceAction, Options, TableName};
use firesteel_sources::path::place;
use std::path::{Path, PathBuf};

/// The property that holds the collation of CREATE SCHEMA.
const COLLATION: &str = "collation";

impl Runner {
    pub(super) fn create_namespace(
        &self,
        name: &TableName,
        if_not_exists: bool,
        comment: Option<&str>,
        location: Option<&str>,
        properties: &Options,
    ) -> Result<LocalRows> {
        let name = self.database_name(&self.parts(name)?)?;
        super::create_table::check_name(&name)?;
        let location = match location {
            Some("") => {
                return Err(SparkError::new("INVALID_EMPTY_LOCATION")
                    .with_class(ExceptionClass::IllegalArgument)
                    .with("location", ""));
            }
            Some(location) => place(location).map_err(|cause| {
                SparkError::new("_LEGACY_ERROR_TEMP_2033")
                    .with("name", &name)
                    .with("locationUri", location)
                    .with_cause(cause)
            })?,
            None => Path::new(self.catalog().warehouse()).join(format!("{name}.db")),
        };
        let database = Database {
            name,
            comment: comment.map(str::to_string),
            location: location.to_string_lossy().into_owned(),
            properties: properties.iter().filter(|(key, _)| key != COLLATION).cloned().collect(),
            owner: self.session.facts().user,
            collation: properties.iter().find(|(key, _)| key == COLLATION).map(|(_, value)| value.clone()),
        };
        let stores = self.stores();
        stores.check_table(&location)?;
        if self.catalog().create_database(database, if_not_exists)? {
            stores.make_folder(&location)?;
        }
        Ok(nothing())
    }

    pub(super) fn drop_namespace(&self, name: &TableName, if_exists: bool, cascade: bool) -> Result<LocalRows> {
        let name = self.database_name(&self.parts(name)?)?;
        if let Some((database, tables)) = self.catalog().drop_database(&name, if_exists, cascade)? {
            for table in tables {
                if let (TableKind::Managed, Some(location)) = (table.kind, &table.location) {
                    self.stores_of(&table).remove_folder(Path::new(location))?;
                }
            }
            self.stores().remove_folder(Path::new(&database.location))?;
        }
        Ok(nothing())
    }

    pub(super) fn alter_namespace(&self, name: &TableName, action: &NamespaceAction) -> Result<LocalRows> {
        let name = self.database_name(&self.parts(name)?)?;
        match action {
            NamespaceAction::SetProperties(properties) => self.catalog().alter_database(&name, |database| {
                database.properties.extend(properties.iter().cloned());
            })?,
            NamespaceAction::UnsetProperties(keys) => self.catalog().alter_database(&name, |database| {
                database.properties.retain(|key, _| !keys.contains(key));
            })?,
            NamespaceAction::SetLocation(location) => {
                let location = place(location)?.to_string_lossy().into_owned();
                self.catalog().alter_database(&name, |database| database.location = location)?;
            }
            NamespaceAction::SetCollation(collation) => {
                self.catalog().alter_database(&name, |database| database.collation = Some(collation.clone()))?;
            }
        }
        Ok(nothing())
    }

    pub(super) fn comment_on(&self, target: &CommentTarget, comment: Option<&str>) -> Result<LocalRows> {
        match target {
            CommentTarget::Namespace(name) => {
                let name = self.namespace(Some(name))?;
                self.catalog().alter_database(&name, |database| database.comment = comment.map(str::to_string))?;
            }
            CommentTarget::Table(name) => {
                let table = self.stored_table(name, "COMMENT ON TABLE")?;
                self.catalog().alter_table(&table.name, |table| {
                    table.comment = comment.map(str::to_string);
                    Ok(())
                })?;
            }
            CommentTarget::Column(_) => return Err(SparkError::unsupported("COMMENT ON COLUMN")),
        }
        Ok(nothing())
    }

    /// The folder of a managed table.
    pub(super) fn managed_location(&self, name: &firesteel_catalog::QualifiedName) -> Result<PathBuf> {
        let database = self.catalog().database(&name.database)?;
        Ok(Path::new(&database.location).join(&name.name))
    }
}
