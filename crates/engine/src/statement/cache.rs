//! CACHE TABLE, UNCACHE TABLE, REFRESH.

use super::Runner;
use super::rows::nothing;
use crate::catalog_state::Found;
use crate::kept::{PersistKey, Persisted, persist};
use firesteel_analyzer::LocalRows;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_plan::{CreateView, Options, Relation, RelationKind, StorageLevel, TableName, TableReference, ViewKind};
use std::sync::Arc;

impl Runner {
    /// `CACHE [LAZY] TABLE name [OPTIONS (…)] [AS query]`.
    pub(super) fn cache_table(
        &self,
        name: &TableName,
        query: Option<&Relation>,
        is_lazy: bool,
        options: &Options,
    ) -> Result<LocalRows> {
        let level = level_of(options)?;
        let parts = self.parts(name)?;
        if let Some(query) = query {
            self.create_view(&CreateView {
                name: TableName::of(parts.clone()),
                kind: ViewKind::Temporary,
                columns: Vec::new(),
                comment: None,
                collation: None,
                properties: Vec::new(),
                schema_mode: None,
                if_not_exists: false,
                replace: false,
                query: query.clone(),
                query_text: String::new(),
                using: None,
            })?;
        }
        self.found_relation(name)?;
        let persisted = self.cache(&parts, level)?;
        if let (false, Some(persisted)) = (is_lazy, persisted) {
            self.block(persisted.relation.rows())?;
        }
        Ok(nothing())
    }

    /// Persists a table or view by name; its rows are made at the first use.
    pub(crate) fn cache(&self, parts: &[String], level: StorageLevel) -> Result<Option<Arc<Persisted>>> {
        let key = self.cache_key(parts)?;
        let relation = Relation::new(RelationKind::Table(TableReference {
            name: TableName::of(parts.to_vec()),
            options: Vec::new(),
            is_streaming: false,
            time_travel: None,
        }));
        persist::persist_as(&self.session, key, relation, level)
    }

    /// What a table or view is persisted under; fails with `TABLE_OR_VIEW_NOT_FOUND`.
    fn cache_key(&self, parts: &[String]) -> Result<PersistKey> {
        Ok(self.session.key_of(&self.found_relation(&TableName::of(parts.to_vec()))?))
    }

    /// Whether a table or view is persisted.
    pub(crate) fn is_cached(&self, parts: &[String]) -> Result<bool> {
        let key = self.cache_key(parts)?;
        Ok(self.session.engine().kept().persisted(&self.session.key(), &key).is_some())
    }

    /// Ends the persistence of a table or view.
    pub(crate) fn uncache(&self, parts: &[String]) -> Result<()> {
        let key = self.cache_key(parts)?;
        self.session.engine().kept().unpersist(&self.session.key(), &key);
        Ok(())
    }

    /// Makes what is kept of a table's or view's files be read again.
    pub(crate) fn refresh(&self, parts: &[String]) -> Result<()> {
        let found = self.found(parts)?;
        if let Found::Stored(table) = &found
            && let Some(location) = &table.location
        {
            self.session.engine().kept().invalidate(location);
        }
        if let Found::Temporary { view, .. } | Found::Global { view, .. } = &found {
            crate::files::refresh(&view.plan)?;
        }
        let key = self.session.key_of(&found);
        let kept = self.session.engine().kept();
        if let Some(persisted) = kept.persisted(&self.session.key(), &key) {
            persisted.sources().iter().for_each(|path| kept.invalidate(path));
        }
        Ok(())
    }

    /// Makes temporary views of a table see what was written to it.
    pub(crate) fn refresh_views(&self, path: &str) -> Result<()> {
        let Ok(path) = firesteel_sources::path::local_path(path) else { return Ok(()) };
        let views: Vec<_> = self.session.temp_views().read().values().map(|(_, view)| view.clone()).collect();
        views.iter().try_for_each(|view| crate::files::refresh_path(&view.plan, &path))
    }

    /// Makes what is kept of the files at a path be read again.
    pub(crate) fn refresh_path(&self, path: &str) {
        let path = firesteel_sources::path::place(path)
            .map_or_else(|_| path.to_string(), |local| local.to_string_lossy().into_owned());
        self.session.engine().kept().invalidate(&path);
    }
}

/// The storage level of OPTIONS.
fn level_of(options: &Options) -> Result<StorageLevel> {
    let Some((_, name)) = options.iter().find(|(key, _)| key.eq_ignore_ascii_case("storageLevel")) else {
        return Ok(StorageLevel::MEMORY_AND_DISK_DESER);
    };
    let level = |use_disk, use_memory, use_off_heap, deserialized, replication| StorageLevel {
        use_disk,
        use_memory,
        use_off_heap,
        deserialized,
        replication,
    };
    Ok(match name.to_uppercase().as_str() {
        "NONE" => StorageLevel::NONE,
        "DISK_ONLY" => level(true, false, false, false, 1),
        "DISK_ONLY_2" => level(true, false, false, false, 2),
        "DISK_ONLY_3" => level(true, false, false, false, 3),
        "MEMORY_ONLY" => level(false, true, false, true, 1),
        "MEMORY_ONLY_2" => level(false, true, false, true, 2),
        "MEMORY_ONLY_SER" => level(false, true, false, false, 1),
        "MEMORY_ONLY_SER_2" => level(false, true, false, false, 2),
        "MEMORY_AND_DISK" => level(true, true, false, true, 1),
        "MEMORY_AND_DISK_2" => level(true, true, false, true, 2),
        "MEMORY_AND_DISK_SER" => level(true, true, false, false, 1),
        "MEMORY_AND_DISK_SER_2" => level(true, true, false, false, 2),
        "OFF_HEAP" => level(true, true, true, false, 1),
        _ => {
            return Err(SparkError::plain(ExceptionClass::IllegalArgument, format!("Invalid StorageLevel: {name}")));
        }
    })
}
