//! The unresolved plan: what a client or an SQL text asks for, in Spark's words.
//!
//! A [`Relation`] is a tree of relational operators over [`Expr`]essions whose
//! names and types are not resolved yet. A [`Command`] changes something.
//! Protobuf messages and SQL text both become these types; the analyzer
//! consumes them.
//!
//! Invariant: pure data. No protobuf, no DataFusion, no I/O.

pub mod command;
pub mod expression;
pub mod origin;
pub mod relation;
pub mod statement;
pub mod streaming;
mod weight;

pub use command::*;
pub use expression::*;
pub use origin::{Origin, SqlSource};
pub use relation::*;
pub use statement::*;
pub use streaming::*;
