//! The gRPC service: sessions, operations, artifacts; protobuf to plan.
//!
//! A [`Server`] listens, and hands each call to [`service::SparkConnect`].
//! Executing a plan makes an [`operations::Operation`]: a task that
//! [`run`](run::run)s it and pushes numbered responses into a
//! [`response_buffer::ResponseBuffer`], from which one client at a time reads.
//! [`decode`] turns protobuf messages into the unresolved plan.
//!
//! Invariant: the only crate that sees both protobuf and plans; it holds no
//! query semantics.

pub mod analyze;
pub mod artifacts;
pub mod auth;
pub mod config_rpc;
pub mod decode;
pub mod decompress;
pub mod encode;
pub mod errors;
pub mod interrupt;
pub mod limits;
pub mod operations;
pub mod response_buffer;
pub mod result;
pub mod run;
pub mod server;
pub mod service;
pub mod sessions;
pub mod status;
pub mod stream;
mod streaming;
pub mod tombstones;
mod worker_files;

pub use server::{Server, ServerBuilder, Tls};
