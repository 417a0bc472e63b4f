//! File formats and other stores: scan, write, partition discovery, commit.
//!
//! [`scan`] turns paths, options and a schema into a table provider whose leaves
//! are file scans; [`write`] runs a plan and commits its rows as files.
//!
//! Invariant: knows nothing of SQL or protobuf.

pub mod balance;
mod blocks;
mod charset;
mod codec;
mod csv;
pub mod error;
mod evolution;
mod inferred;
pub mod jdbc;
pub mod json;
mod json_bytes;
mod json_columns;
mod json_rows;
mod json_types;
pub mod lines;
pub mod listing;
pub mod metadata;
pub mod options;
pub mod orc;
pub mod packing;
mod parallel;
pub mod parquet;
pub mod partition;
pub mod path;
pub mod pattern;
mod rebase;
pub mod records;
pub mod request;
mod scan;
pub mod store;
pub mod table;
pub mod text;
pub mod texts;
pub mod write;
mod xml;
mod xml_rows;

pub use request::{SaveMode, ScanRequest, SourceScan, WriteRequest, WriteSummary};
pub use scan::scan;
pub use write::write;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests;
