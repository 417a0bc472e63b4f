//! Spark's data types: their text forms, literals and Arrow mapping.
//!
//! Invariant: the only place that maps Spark types to Arrow types and back.

pub mod arrow_mapping;
pub mod calendar;
pub mod char_varchar;
pub mod client;
pub mod collation;
pub mod collation_list;
pub mod comparison;
pub mod data_type;
pub mod ddl;
pub mod interval_text;
pub mod json;
pub mod literal;
pub mod moment_text;
pub mod number_text;
pub mod srid;
pub mod text;
pub mod time_zone;
pub mod tree;
pub mod value_text;
pub mod variant;
pub mod variant_text;

pub use data_type::{Collation, DataType, DayTimeField, Metadata, StructField, StructType, YearMonthField};
pub use literal::Literal;
pub use time_zone::TimeZone;
