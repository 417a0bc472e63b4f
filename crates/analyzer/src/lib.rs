//! The unresolved plan to DataFusion's logical plan, with Spark's semantics.
//!
//! The [`Analyzer`] resolves names to attributes with ids, gives every
//! expression its Spark type, inserts every cast by Spark's tables, and builds
//! a `LogicalPlan` whose columns are named `name#id`, so that nothing in it
//! needs a lookup by a user's name any more.
//!
//! Invariant: no I/O except through the [`Environment`].

pub mod analyzer;
pub mod attribute;
pub mod broadcast;
pub mod environment;
pub mod exchange;
mod expression;
mod failure;
mod files;
mod function_check;
mod nondeterministic;
pub mod observe;
pub mod python;
pub mod range;
pub mod recursion;
mod relation;
pub mod resolved;
mod scope;
pub mod streaming;
mod unnest;

pub use analyzer::Analyzer;
pub use attribute::{Attribute, AttributeId};
pub use environment::{Environment, LocalRows, PersistedFrame, Scan, TableLookup, UserFunction};
pub use nondeterministic::pull_out;
pub use relation::may_not_be_cartesian;
pub use resolved::{Frame, Resolved};
pub use unnest::{AT_MOST_ONE, at_most_one, unnest};
