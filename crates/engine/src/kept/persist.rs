//! Persisted frames and tables (`df.persist`, `spark.catalog.cacheTable`).

use super::{KeptRelation, KeptTable, Level};
use crate::session::Session;
use firesteel_analyzer::environment::{PersistedFrame, Scan};
use firesteel_analyzer::{Attribute, Frame};
use firesteel_error::Result;
use firesteel_plan::{Relation, RelationKind, StorageLevel, TableName, TableReference};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What stands for a persisted relation when it is met again.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PersistKey {
    /// A frame by the fingerprint of its relation, plan ids included: the one
    /// that the client sends again alone or below other operators.
    Frame(u128),
    /// A table or view by its name in lower case: a temporary view's, or
    /// catalog, database and table with dots between.
    Table(String),
}

/// A persisted relation.
pub struct Persisted {
    pub relation: Arc<KeptRelation>,
    pub level: StorageLevel,
    /// The relation as it was analysed.
    output: Vec<Attribute>,
    frame: Arc<Frame>,
    /// What was persisted, to be analysed again when its data have changed.
    origin: Relation,
    /// Paths of the files that it reads.
    sources: Vec<String>,
    is_stale: AtomicBool,
}

impl Persisted {
    /// A scan of the rows.
    pub fn scan(&self) -> Scan {
        Scan {
            provider: Arc::new(KeptTable::new(self.relation.clone())),
            schema: self.relation.schema().clone(),
            name: "InMemoryRelation".into(),
            metadata_columns: Vec::new(),
        }
    }

    /// The relation for the analyzer: its rows, and the columns and frames as analysed.
    pub(crate) fn persisted_frame(&self) -> PersistedFrame {
        PersistedFrame { scan: self.scan(), output: self.output.clone(), frame: self.frame.clone() }
    }

    /// Paths of the files that the rows are from.
    pub(crate) fn sources(&self) -> &[String] {
        &self.sources
    }

    /// Notes that the files at a path, or below it, have changed.
    pub(super) fn invalidate(&self, path: &str) {
        let within = |inner: &str, outer: &str| {
            inner
                .strip_prefix(outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || outer.ends_with('/'))
        };
        if self.sources.iter().any(|source| within(source, path) || within(path, source)) {
            self.is_stale.store(true, Ordering::Release);
        }
    }
}

/// What a relation is persisted under: a table that is read as it stands has its name.
fn key_of(session: &Session, relation: &Relation) -> Result<PersistKey> {
    if let RelationKind::Table(TableReference { name: TableName::Parts(parts, _), options, time_travel: None, .. }) =
        relation.kind()
        && options.is_empty()
        && let Some(key) = session.persist_key(parts, &session.current().read().1.clone())?
    {
        return Ok(key);
    }
    Ok(PersistKey::Frame(relation.fingerprint()))
}

/// Persists a relation; where it is persisted already, that stays. Its rows are made at the first use.
pub(crate) async fn persist(session: &Arc<Session>, relation: Relation, level: StorageLevel) -> Result<()> {
    let key = key_of(session, &relation)?;
    let session = session.clone();
    crate::session::blocking(move || {
        persist_as(&session, key, relation, level)?;
        session.check_open()
    })
    .await
}

/// Persists a relation under a key; what is persisted under it already stays.
pub(crate) fn persist_as(
    session: &Arc<Session>,
    key: PersistKey,
    relation: Relation,
    level: StorageLevel,
) -> Result<Option<Arc<Persisted>>> {
    let store = session.engine().kept();
    if let Some(found) = store.persisted(&session.key(), &key) {
        return Ok(Some(found));
    }
    let analysed = session.analyse_now(&relation)?;
    if firesteel_analyzer::streaming::is_streaming(&analysed.resolved.plan) {
        return Err(firesteel_analyzer::streaming::not_started());
    }
    // Spark keeps nothing at this level, and says so of the frame.
    if level == StorageLevel::NONE {
        return Ok(None);
    }
    let resolved = &analysed.resolved;
    let kept = store.relation(session.state(), resolved, Level::Storage(level), "InMemoryRelation")?;
    let persisted = Persisted {
        relation: kept,
        level,
        output: resolved.output.clone(),
        frame: resolved.frame.clone(),
        origin: relation,
        sources: analysed.sources,
        is_stale: AtomicBool::new(false),
    };
    store.persist(&session.key(), key.clone(), persisted);
    Ok(store.persisted(&session.key(), &key))
}

/// What is persisted under a key. Where its data have changed it is persisted anew,
/// and forgotten where it cannot be analysed any more.
pub(crate) fn current(session: &Arc<Session>, key: &PersistKey) -> Option<Arc<Persisted>> {
    let store = session.engine().kept();
    let found = store.persisted(&session.key(), key)?;
    if !found.is_stale.load(Ordering::Acquire) {
        return Some(found);
    }
    store.unpersist(&session.key(), key);
    // What is persisted reads the files that are there now.
    session.listings().clear();
    persist_as(session, key.clone(), found.origin.clone(), found.level).ok().flatten()
}

/// Ends the persistence of a relation, if it is persisted.
pub(crate) async fn unpersist(session: &Arc<Session>, relation: Relation) -> Result<()> {
    let key = key_of(session, &relation)?;
    if !session.engine().kept().unpersist(&session.key(), &key) {
        // A relation that cannot be analysed is an error all the same.
        session.analyse(relation).await?;
    }
    Ok(())
}

/// The storage level of a relation: NONE where it is not persisted.
pub(crate) async fn storage_level(session: &Arc<Session>, relation: Relation) -> Result<StorageLevel> {
    let key = key_of(session, &relation)?;
    if let Some(persisted) = session.engine().kept().persisted(&session.key(), &key) {
        return Ok(persisted.level);
    }
    session.analyse(relation).await?;
    Ok(StorageLevel::NONE)
}
