//! Functions that read and write JSON, CSV and XML, with the options of those formats.

use super::{IntoColumn, IntoValue, create_map, lit};
use crate::Column;
use firesteel_types::{DataType, StructType};

/// A schema for a parser: DDL text, JSON text, a [`DataType`], a [`StructType`] or a column.
pub trait IntoSchemaColumn {
    #[doc(hidden)]
    fn into_schema_column(self) -> Column;
}

impl IntoSchemaColumn for Column {
    fn into_schema_column(self) -> Column {
        self
    }
}

impl IntoSchemaColumn for &str {
    fn into_schema_column(self) -> Column {
        self.into_value()
    }
}

impl IntoSchemaColumn for String {
    fn into_schema_column(self) -> Column {
        self.into_value()
    }
}

impl IntoSchemaColumn for &DataType {
    fn into_schema_column(self) -> Column {
        self.json().into_value()
    }
}

impl IntoSchemaColumn for &StructType {
    fn into_schema_column(self) -> Column {
        self.json().into_value()
    }
}

/// The options, unless there are none.
fn options_column<K: Into<String>, V: Into<String>>(options: impl IntoIterator<Item = (K, V)>) -> Option<Column> {
    let pairs = options.into_iter().flat_map(|(key, value)| [lit(key.into()), lit(value.into())]);
    let pairs: Vec<Column> = pairs.collect();
    (!pairs.is_empty()).then(|| create_map(pairs))
}

macro_rules! parsers {
    ($($(#[$doc:meta])* $name:ident $with:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(text: impl IntoColumn, schema: impl IntoSchemaColumn) -> Column {
            Column::call(stringify!($name), vec![text.into_column(), schema.into_schema_column()])
        }
        #[doc = concat!("As [`", stringify!($name), "`], with options of the format.")]
        pub fn $with<K: Into<String>, V: Into<String>>(
            text: impl IntoColumn,
            schema: impl IntoSchemaColumn,
            options: impl IntoIterator<Item = (K, V)>,
        ) -> Column {
            let mut arguments = vec![text.into_column(), schema.into_schema_column()];
            arguments.extend(options_column(options));
            Column::call(stringify!($name), arguments)
        })*
    };
}

parsers! {
    /// The value that a JSON text tells, of a type.
    from_json from_json_with;
    /// The struct that a line of CSV tells.
    from_csv from_csv_with;
    /// The struct that an XML text tells.
    from_xml from_xml_with;
}

macro_rules! writers {
    ($($(#[$doc:meta])* $name:ident $with:ident $kind:ident $convert:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(value: impl $kind) -> Column {
            Column::call(stringify!($name), vec![value.$convert()])
        }
        #[doc = concat!("As [`", stringify!($name), "`], with options of the format.")]
        pub fn $with<K: Into<String>, V: Into<String>>(
            value: impl $kind,
            options: impl IntoIterator<Item = (K, V)>,
        ) -> Column {
            let mut arguments = vec![value.$convert()];
            arguments.extend(options_column(options));
            Column::call(stringify!($name), arguments)
        })*
    };
}

writers! {
    /// A struct, array, map or variant as JSON.
    to_json to_json_with IntoColumn into_column;
    /// A struct as a line of CSV.
    to_csv to_csv_with IntoColumn into_column;
    /// A struct as XML.
    to_xml to_xml_with IntoColumn into_column;
    /// The schema of a JSON text, as DDL.
    schema_of_json schema_of_json_with IntoValue into_value;
    /// The schema of a line of CSV, as DDL.
    schema_of_csv schema_of_csv_with IntoValue into_value;
    /// The schema of an XML text, as DDL.
    schema_of_xml schema_of_xml_with IntoValue into_value;
}
