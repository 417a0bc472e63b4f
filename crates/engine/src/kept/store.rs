//! The table of kept relations, by session.

use super::spill::{Budget, Place, SpillFolder};
use super::{KeptRelation, PersistKey, Persisted, stored_plan};
use datafusion::execution::session_state::SessionState;
use firesteel_analyzer::Resolved;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_plan::StorageLevel;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::OnceCell;
use uuid::Uuid;

use super::Pending;

/// Where a relation is to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Level {
    /// As a storage level of Spark says. Memory alone spills too.
    Storage(StorageLevel),
    /// As files below a folder, which stay.
    Reliable(PathBuf),
}

/// All kept relations of the process.
pub struct KeptStore {
    budget: Arc<Budget>,
    folder: Arc<SpillFolder>,
    /// The folder of this process below the checkpoint folder.
    reliable_name: String,
    reliable_count: AtomicUsize,
    sessions: Mutex<HashMap<String, Kept>>,
    /// How many frames and tables are persisted in all sessions, to be asked without a lock.
    persisted_count: AtomicUsize,
}

/// What a session keeps.
#[derive(Default)]
struct Kept {
    relations: HashMap<String, Arc<KeptRelation>>,
    persisted: HashMap<PersistKey, Arc<Persisted>>,
}

impl KeptStore {
    /// A store that takes at most `memory_limit` bytes of memory and spills
    /// below `spill_directory`, where it removes what dead processes left.
    pub fn new(memory_limit: usize, spill_directory: &Path) -> Result<Self> {
        Ok(Self {
            budget: Arc::new(Budget::new(memory_limit)),
            folder: Arc::new(SpillFolder::new(spill_directory)),
            reliable_name: Uuid::new_v4().to_string(),
            reliable_count: AtomicUsize::new(0),
            sessions: Mutex::new(HashMap::new()),
            persisted_count: AtomicUsize::new(0),
        })
    }

    /// Bytes of memory that kept rows take.
    pub fn memory_used(&self) -> usize {
        self.budget.used()
    }

    /// A relation that has not run yet, and that no table holds yet.
    pub fn relation(
        &self,
        state: &SessionState,
        resolved: &Resolved,
        level: Level,
        label: &'static str,
    ) -> Result<Arc<KeptRelation>> {
        let place = match level {
            Level::Storage(level) => {
                check(level)?;
                if level.use_disk && !level.use_memory { Place::Disk } else { Place::Memory }
            }
            Level::Reliable(folder) => {
                let number = self.reliable_count.fetch_add(1, Ordering::Relaxed);
                Place::Folder(folder.join(&self.reliable_name).join(format!("rdd-{number}")))
            }
        };
        let (plan, schema, arrow_schema) = stored_plan(resolved)?;
        Ok(Arc::new(KeptRelation {
            schema,
            arrow_schema,
            label,
            place,
            budget: self.budget.clone(),
            folder: self.folder.clone(),
            pending: Mutex::new(Some(Pending { state: state.clone(), plan })),
            rows: OnceCell::new(),
        }))
    }

    /// Keeps a relation under a fresh id.
    pub fn put(&self, session: &str, relation: Arc<KeptRelation>) -> String {
        let id = Uuid::new_v4().to_string();
        self.sessions.lock().entry(session.to_string()).or_default().relations.insert(id.clone(), relation);
        id
    }

    /// A relation of a session.
    pub fn get(&self, session: &str, id: &str) -> Option<Arc<KeptRelation>> {
        self.sessions.lock().get(session)?.relations.get(id).cloned()
    }

    /// Forgets a relation, if there is one. Queries that run keep its rows until they end.
    pub fn remove(&self, session: &str, id: &str) {
        let removed = self.sessions.lock().get_mut(session).and_then(|kept| kept.relations.remove(id));
        // Files are removed outside the lock.
        drop(removed);
    }

    /// Drops all that a session keeps.
    pub fn remove_session(&self, session: &str) {
        let removed = self.sessions.lock().remove(session);
        if let Some(kept) = &removed {
            self.persisted_count.fetch_sub(kept.persisted.len(), Ordering::Release);
        }
        drop(removed);
    }

    /// True where no session persists anything: then there is nothing to look up.
    pub fn has_no_persisted(&self) -> bool {
        self.persisted_count.load(Ordering::Acquire) == 0
    }

    /// What a session persists under a key.
    pub fn persisted(&self, session: &str, key: &PersistKey) -> Option<Arc<Persisted>> {
        if self.has_no_persisted() {
            return None;
        }
        self.sessions.lock().get(session)?.persisted.get(key).cloned()
    }

    /// Persists; false where something is persisted under the key already, which stays.
    pub fn persist(&self, session: &str, key: PersistKey, persisted: Persisted) -> bool {
        let mut sessions = self.sessions.lock();
        let kept = sessions.entry(session.to_string()).or_default();
        if kept.persisted.contains_key(&key) {
            return false;
        }
        kept.persisted.insert(key, Arc::new(persisted));
        self.persisted_count.fetch_add(1, Ordering::Release);
        true
    }

    /// Ends a persistence; false where there was none.
    pub fn unpersist(&self, session: &str, key: &PersistKey) -> bool {
        let removed = self.sessions.lock().get_mut(session).and_then(|kept| kept.persisted.remove(key));
        if removed.is_some() {
            self.persisted_count.fetch_sub(1, Ordering::Release);
        }
        removed.is_some()
    }

    /// Ends all persistence of a session (`clearCache`).
    pub fn clear_persisted(&self, session: &str) {
        let removed = self.sessions.lock().get_mut(session).map(|kept| std::mem::take(&mut kept.persisted));
        if let Some(persisted) = &removed {
            self.persisted_count.fetch_sub(persisted.len(), Ordering::Release);
        }
    }

    /// Notes that the files at a path have changed: rows made of them are made anew at their next use.
    pub fn invalidate(&self, path: &str) {
        if self.has_no_persisted() {
            return;
        }
        let path = path.trim_end_matches('/');
        for kept in self.sessions.lock().values() {
            kept.persisted.values().for_each(|persisted| persisted.invalidate(path));
        }
    }
}

fn check(level: StorageLevel) -> Result<()> {
    if level.replication < 1 {
        return Err(SparkError::plain(
            ExceptionClass::IllegalArgument,
            format!("The storage level is not valid: its replication is {}, and must be at least 1", level.replication),
        ));
    }
    Ok(())
}
