//! Spark's data types: their text forms, literals and Arrow mapping.
//!
//! Invariant: the only place that maps Spark types to Arrow types and back.

pub mod arrow_mapping;
pub mod client;
pub mod collation;
pub mod comparison;
pub mod data_type;
pub mod ddl;
pub mod json;
pub mod literal;
pub mod srid;
pub mod text;
pub mod tree;

pub use data_type::{Collation, DataType, DayTimeField, Metadata, StructField, StructType, YearMonthField};
pub use literal::Literal;
