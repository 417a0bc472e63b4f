//! Persisted frames and tables (`df.persist`, `spark.catalog.cacheTable`).

use super::{KeptRelation, KeptTable, Level};
use crate::session::Session;
use firesteel_analyzer::environment::{PersistedFrame, Scan};
use firesteel_analyzer::{Attribute, Frame, Resolved};
use firesteel_error::Result;
use firesteel_plan::{Relation, StorageLevel};
use std::sync::Arc;

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
}

/// Persists a relation; where it is persisted already, that stays. Its rows are made at the first use.
pub(crate) async fn persist(session: &Arc<Session>, relation: Relation, level: StorageLevel) -> Result<()> {
    let store = session.engine().kept();
    let key = PersistKey::Frame(relation.fingerprint());
    if store.persisted(&session.key(), &key).is_some() {
        return Ok(());
    }
    let analysed = session.analyse(relation).await?;
    // Spark keeps nothing at this level, and says so of the frame.
    if level == StorageLevel::NONE {
        return Ok(());
    }
    let persisted = persisted(session, &analysed.resolved, level)?;
    store.persist(&session.key(), key, persisted);
    session.check_open()
}

/// A relation to be persisted under a key of the caller's choice.
pub(crate) fn persisted(session: &Arc<Session>, resolved: &Resolved, level: StorageLevel) -> Result<Persisted> {
    let relation =
        session.engine().kept().relation(session.state(), resolved, Level::Storage(level), "InMemoryRelation")?;
    Ok(Persisted { relation, level, output: resolved.output.clone(), frame: resolved.frame.clone() })
}

/// Ends the persistence of a relation, if it is persisted.
pub(crate) async fn unpersist(session: &Arc<Session>, relation: Relation) -> Result<()> {
    let key = PersistKey::Frame(relation.fingerprint());
    if !session.engine().kept().unpersist(&session.key(), &key) {
        // A relation that cannot be analysed is an error all the same.
        session.analyse(relation).await?;
    }
    Ok(())
}

/// The storage level of a relation: NONE where it is not persisted.
pub(crate) async fn storage_level(session: &Arc<Session>, relation: Relation) -> Result<StorageLevel> {
    let key = PersistKey::Frame(relation.fingerprint());
    if let Some(persisted) = session.engine().kept().persisted(&session.key(), &key) {
        return Ok(persisted.level);
    }
    session.analyse(relation).await?;
    Ok(StorageLevel::NONE)
}
