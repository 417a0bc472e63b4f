//! Statements and queries in a session.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod clauses;
mod harness;
mod statements;
mod subqueries;
