//! Runtime of the sessions: running plans, memory, kept relations, metrics.
//!
//! An [`Engine`] is one per process: memory pool, runtimes, the store of kept
//! relations. A [`Session`] holds a user's configuration, catalog state and
//! temporary views, and turns unresolved plans into rows.
//!
//! Invariant: owns all long-lived data; everything in it can be dropped per session.

pub mod adaptive_filter;
mod analysis;
mod analysis_cache;
mod broadcast;
mod cartesian;
mod catalog_request;
mod catalog_state;
pub mod codec;
pub mod command;
pub mod engine;
pub mod environment;
pub mod exchange;
mod execution;
mod explain;
mod fair;
mod files;
mod fingerprint;
pub mod huge_pages;
pub mod kept;
#[cfg(test)]
mod memory_tests;
pub mod observe;
pub mod one_input;
mod ordered;
mod partitioned;
pub mod planner;
mod progress;
mod projection;
mod python;
mod recursion;
pub mod scale;
pub mod session;
pub mod show;
mod soft_limit;
mod statement;
mod streamed;
mod unique_windows;
mod view_columns;
pub mod write;

pub use analysis::{AnalysisReply, AnalysisRequest};
pub use command::{CommandOutput, SqlResult};
pub use engine::{Engine, EngineOptions};
pub use execution::{Execution, Metric, MetricKind, ObservedMetrics, OperatorMetrics, Progress, RunContext};
pub use python::PythonFiles;
pub use session::Session;
