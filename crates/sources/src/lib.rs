//! File formats and other stores: scan, write, partition discovery, commit.
//!
//! [`scan`] turns paths, options and a schema into a table provider whose leaves
//! are file scans.
//!
//! Invariant: knows nothing of SQL or protobuf.

pub mod error;
pub mod listing;
pub mod options;
pub mod parquet;
pub mod partition;
pub mod path;
pub mod pattern;
pub mod request;
mod scan;
pub mod table;

pub use request::{SaveMode, ScanRequest, SourceScan};
pub use scan::scan;
