//! Rows as pickles, and pickled values as columns.
//!
//! Rows go to Python as Spark's pickler writes them: dates as days, timestamps
//! as microseconds, structs through a converter that is named once a batch.
//! Values come back by the rules of Spark's reader, which is lenient: what is
//! not of the declared type is null.

mod from_python;
mod to_python;

pub use from_python::{columns, table_columns, values};
pub use to_python::{RowPickler, pickle_value};
