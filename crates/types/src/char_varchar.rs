//! Declared `CHAR` and `VARCHAR` columns, which queries see as strings.
//!
//! The declared type stands in the column's metadata, so that reading can pad
//! and writing can check the length.

use crate::ddl::parse_data_type;
use crate::{DataType, Metadata, StructField, StructType};

/// The metadata key that holds the declared type as DDL text.
pub const CHAR_VARCHAR_KEY: &str = "__CHAR_VARCHAR_TYPE_STRING";

impl DataType {
    /// True if the type is or contains `CHAR` or `VARCHAR`.
    pub fn has_char_varchar(&self) -> bool {
        self.exists(&|t| matches!(t, DataType::Char(_) | DataType::Varchar(_)))
    }

    /// The type with strings in the place of `CHAR` and `VARCHAR`.
    #[must_use]
    pub fn char_varchar_as_string(&self) -> DataType {
        match self {
            DataType::Char(_) | DataType::Varchar(_) => DataType::STRING,
            DataType::Array { element, contains_null } => {
                DataType::array(element.char_varchar_as_string(), *contains_null)
            }
            DataType::Map { key, value, value_contains_null } => {
                DataType::map(key.char_varchar_as_string(), value.char_varchar_as_string(), *value_contains_null)
            }
            DataType::Struct(fields) => {
                let field =
                    |f: &StructField| StructField { data_type: f.data_type.char_varchar_as_string(), ..f.clone() };
                DataType::struct_of(fields.fields.iter().map(field).collect())
            }
            other => other.clone(),
        }
    }
}

impl StructField {
    /// The declared type where the metadata holds one, otherwise the type.
    pub fn raw_type(&self) -> DataType {
        let declared = self.metadata.get(CHAR_VARCHAR_KEY).and_then(|text| text.as_str());
        declared.and_then(|text| parse_data_type(text).ok()).unwrap_or_else(|| self.data_type.clone())
    }
}

impl StructType {
    /// The schema that queries see: strings, and the declared types in the metadata.
    ///
    /// ```
    /// use firesteel_types::ddl::parse_table_schema;
    /// let seen = parse_table_schema("c CHAR(3)")?.char_varchar_as_string();
    /// assert_eq!(seen.sql(), "STRUCT<c: STRING>");
    /// assert_eq!(seen.with_raw_types().sql(), "STRUCT<c: CHAR(3)>");
    /// # Ok::<(), firesteel_error::SparkError>(())
    /// ```
    #[must_use]
    pub fn char_varchar_as_string(&self) -> StructType {
        let field = |f: &StructField| {
            if !f.data_type.has_char_varchar() {
                return f.clone();
            }
            let mut metadata = f.metadata.to_map();
            // Only SQL quotes the names of fields.
            let text = f.data_type.catalog_string();
            let text = if parse_data_type(&text).is_ok() { text } else { f.data_type.sql() };
            metadata.insert(CHAR_VARCHAR_KEY.to_string(), text.into());
            StructField::new(&f.name, f.data_type.char_varchar_as_string(), f.nullable)
                .with_metadata(Metadata::new(metadata))
        };
        StructType::new(self.fields.iter().map(field).collect())
    }

    /// The schema with the declared types, the metadata unchanged.
    #[must_use]
    pub fn with_raw_types(&self) -> StructType {
        let field = |f: &StructField| StructField { data_type: f.raw_type(), ..f.clone() };
        StructType::new(self.fields.iter().map(field).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::ddl::parse_table_schema;

    #[test]
    fn declared_types_move_to_metadata() {
        let declared =
            parse_table_schema("c char(3) comment 'x', a array<varchar(4)>, s struct<x:char(2)>, i int").unwrap();
        let seen = declared.char_varchar_as_string();
        assert_eq!(
            seen.json(),
            r#"{"type":"struct","fields":[{"name":"c","type":"string","nullable":true,"metadata":{"comment":"x","__CHAR_VARCHAR_TYPE_STRING":"char(3)"}},{"name":"a","type":{"type":"array","elementType":"string","containsNull":true},"nullable":true,"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"array<varchar(4)>"}},{"name":"s","type":{"type":"struct","fields":[{"name":"x","type":"string","nullable":true,"metadata":{}}]},"nullable":true,"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"struct<x:char(2)>"}},{"name":"i","type":"integer","nullable":true,"metadata":{}}]}"#
        );
        let quoted = parse_table_schema("s struct<`x y`: char(2)>").unwrap();
        assert_eq!(quoted.char_varchar_as_string().with_raw_types().sql(), quoted.sql());
        for (raw, field) in seen.with_raw_types().fields.iter().zip(&declared.fields) {
            assert_eq!(raw.data_type, field.data_type);
        }
    }
}
