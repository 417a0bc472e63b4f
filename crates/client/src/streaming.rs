//! Queries over rows that keep coming.

mod manager;
mod query;
mod reader;
mod writer;

pub use manager::{StreamingQueryEvent, StreamingQueryEvents, StreamingQueryManager};
pub use query::{StreamingQuery, StreamingQueryException, StreamingQueryStatus};
pub use reader::DataStreamReader;
pub use writer::{DataStreamWriter, OutputMode, Trigger};
