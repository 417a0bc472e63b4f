//! The protocol over a real connection.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod artifacts;
mod decode;
mod faults;
mod harness;
mod operations;
mod requests;
mod sessions;
