//! The client against a server: that of `FIRESTEEL_TEST_URL`, else a new one of `FIRESTEEL_BIN`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod checkpoints;
mod coverage;
mod cuts;
mod failures;
mod frames;
mod secure;
mod sessions;
mod streams;
mod support;
