//! The built-in functions, and what columns begin with.
//!
//! Where a function works on a column, a text is the column's name; where it
//! works with a value, such as a format, a text is the value. Columns fit in
//! both places.
//!
//! ```
//! use firesteel_client::functions::{col, concat_ws, date_format, lit, transform, upper};
//! let label = concat_ws(" ", (upper("name"), date_format("born", "yyyy")));
//! let squares = transform("numbers", |x| x.clone() * x);
//! ```

macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident = $spark:literal($($rest:tt)*);)*) => {
        $(functions!(@one [$(#[$doc])*] $name $spark ($($rest)*));)*
    };
    (@one [$(#[$doc:meta])*] $name:ident $spark:literal ($($param:ident: $kind:ident),*)) => {
        $(#[$doc])*
        pub fn $name($($param: impl $kind),*) -> Column {
            Column::call($spark, vec![$(functions!(@take $param $kind)),*])
        }
    };
    (@one [$(#[$doc:meta])*] $name:ident $spark:literal ($($param:ident: $kind:ident,)* ..$many:ident)) => {
        $(#[$doc])*
        pub fn $name($($param: impl $kind,)* $many: impl IntoColumns) -> Column {
            let mut arguments = vec![$(functions!(@take $param $kind)),*];
            arguments.extend($many.into_columns());
            Column::call($spark, arguments)
        }
    };
    (@take $param:ident IntoColumn) => {
        $param.into_column()
    };
    (@take $param:ident IntoValue) => {
        $param.into_value()
    };
}

mod custom;
mod lambda;
mod options;
pub mod partitioning;
mod table;

pub use custom::*;
pub use lambda::*;
pub use options::*;
pub use table::*;

pub(crate) use crate::column::{IntoColumn, IntoColumns, IntoValue};
