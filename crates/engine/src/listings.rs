//! Which files frames read: those that were there when a frame was first looked at.

use firesteel_analyzer::environment::Scan;
use firesteel_config::SqlConf;
use firesteel_plan::DataSource;
use firesteel_sources::table::FilesTable;
use parking_lot::Mutex;
use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;

/// Frames whose files are remembered of a session.
const MOST: usize = 64;

/// Scans of files by the client's ids of their frames: a client sends the whole frame with every request, but its
/// files are listed once, as in Spark.
#[derive(Default)]
pub(crate) struct Listings {
    /// The latest first.
    entries: Mutex<VecDeque<Entry>>,
}

struct Entry {
    plan_id: i64,
    source: DataSource,
    conf: Arc<SqlConf>,
    scan: Scan,
}

impl Entry {
    fn is_of(&self, plan_id: i64, source: &DataSource) -> bool {
        self.plan_id == plan_id && self.source == *source
    }
}

impl Listings {
    /// The scan of a frame, where its files were listed under these settings.
    pub fn get(&self, plan_id: i64, source: &DataSource, conf: &Arc<SqlConf>) -> Option<Scan> {
        let mut entries = self.entries.lock();
        let position = entries.iter().position(|e| e.is_of(plan_id, source) && Arc::ptr_eq(&e.conf, conf))?;
        let entry = entries.remove(position)?;
        let scan = entry.scan.clone();
        entries.push_front(entry);
        Some(scan)
    }

    /// Remembers the scan of a frame, if it is one of files.
    pub fn put(&self, plan_id: i64, source: &DataSource, conf: &Arc<SqlConf>, scan: &Scan) {
        let provider: &dyn Any = scan.provider.as_ref();
        if !provider.is::<FilesTable>() {
            return;
        }
        let entry = Entry { plan_id, source: source.clone(), conf: conf.clone(), scan: scan.clone() };
        let mut entries = self.entries.lock();
        entries.retain(|e| !e.is_of(plan_id, source));
        entries.truncate(MOST - 1);
        entries.push_front(entry);
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.entries.lock().clear();
    }
}
