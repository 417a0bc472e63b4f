//! Questions to workers before anything runs: what rows a table function makes, what a data source reads.
//!
//! A worker gets one message and gives one answer; then it is free for other work.

pub mod batch_function;
mod conversation;
pub mod data_source;
pub mod table_function;

pub use conversation::PlannerError;
