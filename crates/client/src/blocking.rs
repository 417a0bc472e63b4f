//! Calls that wait, for programs without an async runtime.
//!
//! The API is the same; [`Wait::wait`] waits for what would be awaited, on a
//! runtime that this module keeps.
//!
//! ```
//! use firesteel_client::blocking::{self, Wait};
//! # fn run(url: &str) -> firesteel_client::Result<()> {
//! let spark = blocking::connect(url)?;
//! assert_eq!(spark.range(0, 5).count().wait()?, 5);
//! for batch in blocking::batches(spark.range(0, 5).stream()?) {
//!     println!("{} rows", batch?.num_rows());
//! }
//! spark.stop().wait()?;
//! # Ok(()) }
//! # firesteel_client::doc_test_url(run);
//! ```

use crate::batches::BatchStream;
use crate::error::{Error, Result};
use crate::{SparkSession, SparkSessionBuilder};
use arrow::array::RecordBatch;
use std::future::{Future, IntoFuture};
use std::sync::OnceLock;
use tokio::runtime::{Builder, Handle, Runtime};

/// The runtime of all waiting calls, which also does their background work.
fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<std::io::Result<Runtime>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| {
        Builder::new_multi_thread().worker_threads(2).thread_name("firesteel-client").enable_all().build()
    });
    made.as_ref().map_err(|error| Error::Io(std::io::Error::new(error.kind(), error.to_string())))
}

/// Runs a future to its end; an error on threads that must not wait.
fn block_on<T, F: Future<Output = Result<T>>>(future: F) -> Result<T> {
    if Handle::try_current().is_ok() {
        return Err(Error::WouldBlock);
    }
    runtime()?.block_on(future)
}

/// Waiting for what async code would await.
pub trait Wait<T> {
    /// Waits for the result.
    ///
    /// On a thread of an async runtime this is an error, because waiting there would stop the runtime.
    fn wait(self) -> Result<T>;
}

impl<T, F: IntoFuture<Output = Result<T>>> Wait<T> for F {
    fn wait(self) -> Result<T> {
        block_on(self.into_future())
    }
}

/// A session with the defaults on the server of a connection string.
pub fn connect(url: &str) -> Result<SparkSession> {
    SparkSession::connect(url).wait()
}

impl SparkSessionBuilder {
    /// As [`connect`](Self::connect), waiting.
    pub fn connect_blocking(self) -> Result<SparkSession> {
        self.connect().wait()
    }
}

/// The batches of a stream, each waited for.
pub fn batches(mut stream: BatchStream) -> impl Iterator<Item = Result<RecordBatch>> {
    std::iter::from_fn(move || stream.next_batch().wait().transpose())
}
