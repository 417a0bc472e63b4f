//! Daemons by environment, and the workers that wait for tasks.

use crate::daemon::{Connection, Daemon, Reader, Writer};
use crate::{Environment, interpreter};
use firesteel_error::{Result, SparkError};
use futures::FutureExt;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::io::AsyncBufReadExt;

/// How long a worker waits for its next task before it ends.
const IDLE_TIME: Duration = Duration::from_secs(60);

/// How long a daemon without work stays.
const DAEMON_IDLE_TIME: Duration = Duration::from_secs(600);

/// How often idle workers are looked at.
const SWEEP_TIME: Duration = Duration::from_secs(15);

/// The workers of a server.
#[derive(Debug)]
pub struct WorkerPool {
    /// Workers of one environment that may wait at once.
    idle_limit: usize,
    folder: TempDir,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    slots: HashMap<String, Arc<Slot>>,
    is_swept: bool,
}

/// One environment's daemon and its idle workers.
#[derive(Default)]
struct Slot {
    daemon: tokio::sync::Mutex<Option<Arc<Daemon>>>,
    idle: Mutex<Vec<Idle>>,
    last_use: Mutex<Option<Instant>>,
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot").field("idle", &self.idle.lock().len()).finish()
    }
}

struct Idle {
    daemon: Arc<Daemon>,
    connection: Connection,
    since: Instant,
}

/// A worker at a task. It is killed when it is dropped, unless it is given back.
pub struct Worker {
    pub reader: Reader,
    /// Lent to the task that writes.
    pub writer: Option<Writer>,
    pid: i32,
    daemon: Arc<Daemon>,
    slot: Arc<Slot>,
    idle_limit: usize,
    is_reused: bool,
    is_done: bool,
}

impl WorkerPool {
    /// A pool without workers, in a new folder below a given one.
    pub fn new(idle_limit: usize, parent: &Path) -> Result<Arc<Self>> {
        let folder = private_folder(parent)
            .or_else(|_| private_folder(&std::env::temp_dir()))
            .map_err(|error| SparkError::internal(format!("no folder for Python workers: {error}")))?;
        std::fs::create_dir_all(folder.path().join("files"))
            .map_err(|error| SparkError::internal(format!("no folder for Python workers: {error}")))?;
        Ok(Arc::new(Self { idle_limit, folder, inner: Mutex::default() }))
    }

    /// An empty folder, for workers of sessions without files.
    pub fn empty_folder(&self) -> PathBuf {
        self.folder.path().join("files")
    }

    /// A worker that is ready for a task.
    pub async fn worker(self: &Arc<Self>, environment: &Environment) -> Result<Worker> {
        let slot = self.slot(environment);
        *slot.last_use.lock() = Some(Instant::now());
        loop {
            let waiting = slot.idle.lock().pop();
            let Some(Idle { daemon, mut connection, .. }) = waiting else { break };
            // A worker that waits says nothing; one that has died ends the stream.
            if connection.reader.fill_buf().now_or_never().is_none() {
                return Ok(self.task(slot, daemon, connection, true));
            }
        }
        self.fresh(environment, slot).await
    }

    /// A worker that has had no task yet.
    pub async fn fresh_worker(self: &Arc<Self>, environment: &Environment) -> Result<Worker> {
        let slot = self.slot(environment);
        self.fresh(environment, slot).await
    }

    async fn fresh(self: &Arc<Self>, environment: &Environment, slot: Arc<Slot>) -> Result<Worker> {
        let mut failure = None;
        for _ in 0..2 {
            let daemon = self.daemon(environment, &slot).await?;
            match daemon.connect().await {
                Ok(connection) => return Ok(self.task(slot, daemon, connection, false)),
                Err(error) => {
                    failure = Some(error);
                    let mut current = slot.daemon.lock().await;
                    if current.as_ref().is_some_and(|other| Arc::ptr_eq(other, &daemon)) && !daemon.is_alive() {
                        *current = None;
                    }
                }
            }
        }
        let reason = failure.map(|error| error.to_string()).unwrap_or_default();
        Err(interpreter::unusable(format!("the daemon forked no worker ({reason})")))
    }

    fn task(&self, slot: Arc<Slot>, daemon: Arc<Daemon>, connection: Connection, is_reused: bool) -> Worker {
        Worker {
            reader: connection.reader,
            writer: Some(connection.writer),
            pid: connection.pid,
            daemon,
            slot,
            idle_limit: self.idle_limit,
            is_reused,
            is_done: false,
        }
    }

    async fn daemon(self: &Arc<Self>, environment: &Environment, slot: &Slot) -> Result<Arc<Daemon>> {
        let mut current = slot.daemon.lock().await;
        if let Some(daemon) = current.as_ref().filter(|daemon| daemon.is_alive()) {
            return Ok(daemon.clone());
        }
        let (environment, sockets) = (environment.clone(), self.folder.path().to_path_buf());
        let started = tokio::task::spawn_blocking(move || Daemon::start(&environment, &sockets)).await;
        let daemon = Arc::new(started.map_err(|error| SparkError::internal(error.to_string()))??);
        *current = Some(daemon.clone());
        Ok(daemon)
    }

    fn slot(self: &Arc<Self>, environment: &Environment) -> Arc<Slot> {
        let mut inner = self.inner.lock();
        if !inner.is_swept {
            inner.is_swept = true;
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
        inner.slots.entry(environment.key()).or_default().clone()
    }

    /// Ends the daemons whose files lie in a folder, with their workers.
    pub fn forget(&self, folder: &Path) {
        let mark = format!("|{}|", folder.display());
        self.inner.lock().slots.retain(|key, _| !key.contains(&mark));
    }

    /// Ends workers that have waited for long, and daemons that nobody uses.
    fn remove_idle(&self) {
        let mut inner = self.inner.lock();
        inner.slots.retain(|_, slot| {
            slot.idle.lock().retain(|idle| idle.since.elapsed() < IDLE_TIME);
            let is_used = Arc::strong_count(slot) > 1 || !slot.idle.lock().is_empty();
            is_used || slot.last_use.lock().is_none_or(|time| time.elapsed() < DAEMON_IDLE_TIME)
        });
    }
}

/// A new folder that is only the server's own: whoever reaches the sockets in it may run code.
fn private_folder(parent: &Path) -> std::io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("firesteel-python-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o700));
    }
    builder.tempdir_in(parent)
}

async fn sweep(pool: Weak<WorkerPool>) {
    loop {
        tokio::time::sleep(SWEEP_TIME).await;
        match pool.upgrade() {
            Some(pool) => pool.remove_idle(),
            None => return,
        }
    }
}

impl Worker {
    /// Whether it has done a task before.
    pub fn is_reused(&self) -> bool {
        self.is_reused
    }

    /// What it has left of a fault of native code, once it is gone; none where no faults are kept.
    pub fn fault(&self) -> Option<String> {
        self.daemon.take_fault(self.pid)
    }

    /// Gives the worker back after a task that ended well.
    pub fn release(mut self, writer: Writer) {
        self.is_done = true;
        let mut idle = self.slot.idle.lock();
        if idle.len() >= self.idle_limit {
            return;
        }
        // The halves are moved out by replacement, as a worker has a destructor.
        let empty: Box<dyn tokio::io::AsyncRead + Send + Unpin> = Box::new(tokio::io::empty());
        let reader = std::mem::replace(&mut self.reader, tokio::io::BufReader::with_capacity(1, empty));
        let connection = Connection { reader, writer, pid: self.pid };
        idle.push(Idle { daemon: self.daemon.clone(), connection, since: Instant::now() });
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if !self.is_done {
            self.daemon.kill(self.pid);
            self.daemon.take_fault(self.pid);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn folders_of_sockets_are_private() {
        let parent = tempfile::tempdir().unwrap();
        let folder = private_folder(parent.path()).unwrap();
        assert_eq!(std::fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
