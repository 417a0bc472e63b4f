//! What a session's earlier requests made of relations: clients send the whole plan with every request.

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::LogicalPlan;
use firesteel_analyzer::Resolved;
use firesteel_config::SqlConf;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Relations that are remembered of a session.
const MOST: usize = 32;

/// Analysed relations by the fingerprint of what they were made of, which has their plan ids too.
///
/// Only self-contained relations are here, those that no catalog, file or clock has a say in. They hold until the
/// session's settings change, or a command or statement runs.
#[derive(Default)]
pub(crate) struct AnalysisCache {
    /// The latest first.
    entries: Mutex<VecDeque<Entry>>,
}

struct Entry {
    fingerprint: u128,
    conf: Arc<SqlConf>,
    resolved: Arc<Resolved>,
}

impl AnalysisCache {
    /// The analysis of a relation under these settings.
    fn get(&self, fingerprint: u128, conf: &Arc<SqlConf>) -> Option<Arc<Resolved>> {
        let entries = self.entries.lock();
        let found = entries.iter().find(|e| e.fingerprint == fingerprint && Arc::ptr_eq(&e.conf, conf))?;
        Some(found.resolved.clone())
    }

    /// Remembers an analysis, unless its rows may differ from run to run.
    pub fn put(&self, fingerprint: u128, conf: &Arc<SqlConf>, resolved: &Resolved) {
        if !is_stable(&resolved.plan) {
            return;
        }
        let entry = Entry { fingerprint, conf: conf.clone(), resolved: Arc::new(resolved.clone()) };
        let mut entries = self.entries.lock();
        entries.retain(|e| e.fingerprint != fingerprint && Arc::ptr_eq(&e.conf, conf));
        entries.truncate(MOST - 1);
        entries.push_front(entry);
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.entries.lock().clear();
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.entries.lock().is_empty()
    }
}

/// One analysis' use of the cache: an entry's columns have identities, so only one entry can be part of a plan, once.
pub(crate) struct Lookup {
    is_open: AtomicBool,
}

impl Lookup {
    /// Nothing is looked up.
    pub fn closed() -> Self {
        Self { is_open: AtomicBool::new(false) }
    }

    /// The cache is asked until it knows something.
    pub fn open(cache: &AnalysisCache) -> Self {
        Self { is_open: AtomicBool::new(!cache.is_empty()) }
    }

    /// The analysis of a relation, the first that is known.
    pub fn find(
        &self,
        cache: &AnalysisCache,
        fingerprint: impl FnOnce() -> u128,
        conf: &Arc<SqlConf>,
    ) -> Option<Resolved> {
        if !self.is_open.load(Ordering::Relaxed) {
            return None;
        }
        let found = cache.get(fingerprint(), conf)?;
        self.is_open.store(false, Ordering::Relaxed);
        Some(Resolved::clone(&found))
    }
}

/// Whether a plan gives the same rows in every run: seeds are drawn when a plan is analysed.
fn is_stable(plan: &LogicalPlan) -> bool {
    let mut is_stable = true;
    let visited = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expression| {
            is_stable &= !expression.is_volatile();
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(if is_stable { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    });
    visited.is_ok() && is_stable
}
