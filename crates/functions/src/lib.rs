//! Every built-in function of Spark: names, signature, coercion, nullability,
//! ANSI behaviour, kernel and documentation, in one place each.
//!
//! A [`Function`] is a declaration; the [`registry`] is the list of them. The
//! analyzer hands typed arguments to a declaration and gets a [`TypedExpr`]
//! back, with every cast that Spark would insert already in it. Casts and type
//! coercion live here too, as functions and the analyzer both need them.
//!
//! Invariant: a function is complete in its file; the registry is a list.

pub mod aggregate;
pub mod cast;
pub mod class;
pub mod coercion;
pub mod function;
pub mod kernel;
pub mod registry;
pub mod room;
pub mod scalar;
pub mod signature;
pub mod typed;
pub mod window;

pub use function::{
    AggregateCall, Body, BuildContext, Documentation, Function, Generator, Group, Nullability, Returns, WindowCall,
};
pub use kernel::{KernelArgs, KernelFn, KernelSettings, SparkScalarUdf};
pub use signature::{ArgType, Param, Signature};
pub use typed::TypedExpr;
