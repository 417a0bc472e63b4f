//! How many partitions of an operator have workers at once.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How often a partition that waits looks whether the others stand still.
const LOOK: Duration = Duration::from_millis(100);

/// Lets so many partitions run; more where those that run wait for their readers,
/// as these may themselves wait for a partition that does not run yet.
#[derive(Debug)]
pub(crate) struct Gate {
    free: Arc<Semaphore>,
    /// Partitions that somebody polls and that have nothing to give yet.
    busy: Arc<AtomicUsize>,
}

/// A partition that runs.
#[derive(Debug)]
pub(crate) struct Pass {
    _permit: Option<OwnedSemaphorePermit>,
    busy: Arc<AtomicUsize>,
    is_busy: Mutex<bool>,
}

impl Gate {
    pub fn new(limit: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(limit.max(1))), busy: Arc::default() }
    }

    /// Waits until a partition may run.
    pub async fn enter(&self) -> Pass {
        let mut still = 0;
        let permit = loop {
            match tokio::time::timeout(LOOK, self.free.clone().acquire_owned()).await {
                Ok(permit) => break permit.ok(),
                Err(_) if self.busy.load(Ordering::Relaxed) == 0 => still += 1,
                Err(_) => still = 0,
            }
            if still >= 2 {
                break None;
            }
        };
        let pass = Pass { _permit: permit, busy: self.busy.clone(), is_busy: Mutex::new(false) };
        pass.set(true);
        pass
    }
}

impl Pass {
    /// Notes whether somebody waits for the partition.
    pub fn set(&self, is_busy: bool) {
        let mut current = self.is_busy.lock();
        if *current == is_busy {
            return;
        }
        *current = is_busy;
        if is_busy {
            self.busy.fetch_add(1, Ordering::Relaxed);
        } else {
            self.busy.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn those_that_stand_still_do_not_keep_others_out() {
        let gate = Gate::new(1);
        let first = gate.enter().await;
        first.set(false);
        let second = gate.enter().await;
        drop(first);
        drop(second);
        assert_eq!(gate.busy.load(Ordering::Relaxed), 0);
    }
}
