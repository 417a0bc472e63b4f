//! The threads that talk to other machines.
//!
//! Requests run there alone: a thread that parses files may wait for them, also one of a
//! runtime's, and what a dropped query has begun ends by itself.

use firesteel_error::{Result, SparkError};
use object_store::Error;
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, sync_channel};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::AbortHandle;

/// How many threads there are.
const THREADS: usize = 2;

static NETWORK: LazyLock<std::io::Result<Runtime>> = LazyLock::new(|| {
    Builder::new_multi_thread().worker_threads(THREADS).thread_name("firesteel-store").enable_all().build()
});

/// The runtime of these threads.
pub(crate) fn handle() -> Result<&'static Handle> {
    match &*NETWORK {
        Ok(runtime) => Ok(runtime.handle()),
        Err(error) => Err(SparkError::internal(format!("cannot start threads for the network: {error}"))),
    }
}

fn started() -> std::result::Result<&'static Handle, Error> {
    handle().map_err(|e| Error::Generic { store: "remote", source: e.to_string().into() })
}

fn lost() -> Error {
    Error::Generic { store: "remote", source: "the request was given up".into() }
}

/// Runs a request to its end, and waits for it on this thread.
pub(crate) fn wait<T: Send + 'static>(
    request: impl Future<Output = std::result::Result<T, Error>> + Send + 'static,
) -> std::result::Result<T, Error> {
    begin(request).wait()
}

/// Runs a request to its end, also where nobody waits for it any more.
pub(crate) async fn run<T: Send + 'static>(
    request: impl Future<Output = std::result::Result<T, Error>> + Send + 'static,
) -> std::result::Result<T, Error> {
    match started()?.spawn(request).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(lost()),
        },
    }
}

/// Runs a request for which nobody waits.
pub(crate) fn detach(request: impl Future<Output = ()> + Send + 'static) {
    if let Ok(handle) = handle() {
        handle.spawn(request);
    }
}

/// A request under way. It ends where this is dropped.
pub(crate) struct Request<T> {
    result: Receiver<std::result::Result<T, Error>>,
    task: Option<AbortHandle>,
}

/// Begins a request.
pub(crate) fn begin<T: Send + 'static>(
    request: impl Future<Output = std::result::Result<T, Error>> + Send + 'static,
) -> Request<T> {
    let (sender, result) = sync_channel(1);
    let task = match started() {
        Ok(handle) => {
            let task = handle.spawn(async move {
                let _ = sender.send(request.await);
            });
            Some(task.abort_handle())
        }
        Err(error) => {
            let _ = sender.send(Err(error));
            None
        }
    };
    Request { result, task }
}

impl<T> Request<T> {
    /// Waits for the answer on this thread.
    pub fn wait(self) -> std::result::Result<T, Error> {
        self.result.recv().unwrap_or_else(|_| Err(lost()))
    }
}

impl<T> Drop for Request<T> {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}
