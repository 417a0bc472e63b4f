//! How types compare when names, nullability or parts do not count, and how big values are.

use crate::{DataType, StructField, StructType};
use std::sync::Arc;

/// Which differences between types do not count.
#[derive(Clone, Copy)]
struct Tolerance {
    /// Names of struct fields.
    names: Names,
    nullability: bool,
}

#[derive(Clone, Copy)]
enum Names {
    Same,
    SameInAnyCase,
    Any,
}

impl DataType {
    /// The type with user-defined types as what they are made of.
    #[must_use]
    pub fn stored(&self) -> DataType {
        match self {
            DataType::Udt { sql_type, .. } => sql_type.stored(),
            DataType::Array { element, contains_null } => DataType::array(element.stored(), *contains_null),
            DataType::Map { key, value, value_contains_null } => {
                DataType::map(key.stored(), value.stored(), *value_contains_null)
            }
            DataType::Struct(schema) => DataType::struct_of(
                schema.fields.iter().map(|f| StructField { data_type: f.data_type.stored(), ..f.clone() }).collect(),
            ),
            other => other.clone(),
        }
    }

    /// Equality but for nullability and metadata (`DataType.equalsIgnoreNullability`).
    pub fn same_type(&self, other: &DataType) -> bool {
        similar(self, other, Tolerance { names: Names::Same, nullability: true })
    }

    /// Equality but for nullability, metadata and the case of field names.
    pub fn same_type_in_any_case(&self, other: &DataType) -> bool {
        similar(self, other, Tolerance { names: Names::SameInAnyCase, nullability: true })
    }

    /// Equality but for nullability, metadata and field names (`equalsStructurally`).
    pub fn same_structure(&self, other: &DataType) -> bool {
        similar(self, other, Tolerance { names: Names::Any, nullability: true })
    }

    /// Equality of all but metadata and field names.
    pub fn same_structure_and_nullability(&self, other: &DataType) -> bool {
        similar(self, other, Tolerance { names: Names::Any, nullability: false })
    }

    /// The type with every nested part nullable.
    #[must_use]
    pub fn as_nullable(&self) -> DataType {
        match self {
            DataType::Array { element, .. } => DataType::array(element.as_nullable(), true),
            DataType::Map { key, value, .. } => DataType::map(key.as_nullable(), value.as_nullable(), true),
            DataType::Struct(fields) => DataType::Struct(Arc::new(fields.as_nullable())),
            other => other.clone(),
        }
    }

    /// The type without the metadata of nested fields.
    #[must_use]
    pub fn without_metadata(&self) -> DataType {
        match self {
            DataType::Array { element, contains_null } => DataType::array(element.without_metadata(), *contains_null),
            DataType::Map { key, value, value_contains_null } => {
                DataType::map(key.without_metadata(), value.without_metadata(), *value_contains_null)
            }
            DataType::Struct(fields) => {
                let field = |f: &StructField| StructField::new(&f.name, f.data_type.without_metadata(), f.nullable);
                DataType::struct_of(fields.fields.iter().map(field).collect())
            }
            other => other.clone(),
        }
    }

    /// True if the type itself or a nested one meets the condition.
    pub fn exists(&self, condition: &dyn Fn(&DataType) -> bool) -> bool {
        condition(self)
            || match self {
                DataType::Array { element, .. } => element.exists(condition),
                DataType::Map { key, value, .. } => key.exists(condition) || value.exists(condition),
                DataType::Struct(fields) => fields.fields.iter().any(|f| f.data_type.exists(condition)),
                DataType::Udt { sql_type, .. } => sql_type.exists(condition),
                _ => false,
            }
    }

    /// True if values can be ordered, as `ORDER BY`, `<` and `min` need.
    pub fn is_orderable(&self) -> bool {
        match self {
            DataType::Array { element, .. } => element.is_orderable(),
            DataType::Struct(fields) => fields.fields.iter().all(|f| f.data_type.is_orderable()),
            DataType::Udt { sql_type, .. } => sql_type.is_orderable(),
            DataType::Map { .. }
            | DataType::CalendarInterval
            | DataType::Variant
            | DataType::Geometry(_)
            | DataType::Geography(_)
            | DataType::Unparsed(_) => false,
            _ => true,
        }
    }

    /// Bytes that a value takes in Spark's estimates.
    pub fn default_size(&self) -> usize {
        match self {
            DataType::Null | DataType::Boolean | DataType::Byte => 1,
            DataType::Short => 2,
            DataType::Integer | DataType::Float | DataType::Date | DataType::YearMonthInterval(..) => 4,
            DataType::Long
            | DataType::Double
            | DataType::Timestamp
            | DataType::TimestampNtz
            | DataType::Time(_)
            | DataType::DayTimeInterval(..) => 8,
            DataType::Decimal(precision, _) => {
                if *precision <= 18 {
                    8
                } else {
                    16
                }
            }
            DataType::String(_) => 20,
            DataType::Char(length) | DataType::Varchar(length) => *length as usize,
            DataType::Binary => 100,
            DataType::CalendarInterval => 16,
            DataType::Variant | DataType::Geometry(_) | DataType::Geography(_) => 2048,
            DataType::Array { element, .. } => element.default_size(),
            DataType::Map { key, value, .. } => key.default_size() + value.default_size(),
            DataType::Struct(fields) => fields.default_size(),
            DataType::Udt { sql_type, .. } => sql_type.default_size(),
            DataType::Unparsed(_) => 4096,
        }
    }
}

impl StructType {
    /// The schema with every column and nested part nullable.
    #[must_use]
    pub fn as_nullable(&self) -> StructType {
        let field = |f: &StructField| {
            StructField::new(&f.name, f.data_type.as_nullable(), true).with_metadata(f.metadata.clone())
        };
        StructType::new(self.fields.iter().map(field).collect())
    }

    /// Bytes that a row takes in Spark's estimates, headers not counted.
    pub fn default_size(&self) -> usize {
        self.fields.iter().map(|f| f.data_type.default_size()).sum()
    }

    /// The names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|f| f.name.as_str())
    }

    /// The first field of that very name, with its position.
    pub fn field(&self, name: &str) -> Option<(usize, &StructField)> {
        self.fields.iter().enumerate().find(|(_, f)| f.name == name)
    }
}

fn similar(left: &DataType, right: &DataType, tolerance: Tolerance) -> bool {
    let nulls = |left: bool, right: bool| tolerance.nullability || left == right;
    match (left, right) {
        (
            DataType::Array { element: a, contains_null: a_null },
            DataType::Array { element: b, contains_null: b_null },
        ) => nulls(*a_null, *b_null) && similar(a, b, tolerance),
        (
            DataType::Map { key: a_key, value: a, value_contains_null: a_null },
            DataType::Map { key: b_key, value: b, value_contains_null: b_null },
        ) => nulls(*a_null, *b_null) && similar(a_key, b_key, tolerance) && similar(a, b, tolerance),
        (DataType::Struct(a), DataType::Struct(b)) => {
            a.fields.len() == b.fields.len()
                && a.fields.iter().zip(&b.fields).all(|(a, b)| {
                    let names = match tolerance.names {
                        Names::Same => a.name == b.name,
                        Names::SameInAnyCase => a.name.to_lowercase() == b.name.to_lowercase(),
                        Names::Any => true,
                    };
                    names && nulls(a.nullable, b.nullable) && similar(&a.data_type, &b.data_type, tolerance)
                })
        }
        (left, right) => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ddl::parse_data_type;

    fn parse(text: &str) -> DataType {
        parse_data_type(text).unwrap()
    }

    #[test]
    fn tolerances_differ() {
        let (a, b, c) = (parse("struct<a: int>"), parse("struct<a: int not null>"), parse("struct<A: int>"));
        assert!(a.same_type(&b) && !a.same_type(&c));
        assert!(b.same_type_in_any_case(&c));
        assert!(a.same_structure(&parse("struct<z: int not null>")));
        assert!(!a.same_structure_and_nullability(&b));
        assert!(!a.same_structure(&parse("struct<a: bigint>")));
        assert_eq!(b.as_nullable(), a);
    }

    #[test]
    fn sizes_are_sparks() {
        for (text, size) in [("map<string,int>", 24), ("decimal(19,0)", 16), ("struct<a: int, b: string>", 24)] {
            assert_eq!(parse(text).default_size(), size);
        }
    }

    #[test]
    fn maps_have_no_order() {
        assert!(parse("array<struct<a: int>>").is_orderable());
        assert!(!parse("array<map<int, int>>").is_orderable());
    }
}
