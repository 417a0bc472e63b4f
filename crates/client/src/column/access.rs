//! Parts of structs, arrays and maps.

use super::{Column, IntoValue};
use firesteel_proto::connect as proto;
use proto::expression::ExprType;

impl Column {
    /// The element of an array at a position from 0, or of a map at a key.
    ///
    /// ```
    /// use firesteel_client::functions::col;
    /// let (first, home) = (col("tags").get_item(0), col("phones").get_item("home"));
    /// ```
    pub fn get_item(self, key: impl IntoValue) -> Column {
        let Column { expression, references } = key.into_value();
        let extraction = Some(Box::new(expression));
        self.wrap(|child| {
            ExprType::UnresolvedExtractValue(Box::new(proto::expression::UnresolvedExtractValue { child, extraction }))
        })
        .with_references(references)
    }

    /// A field of a struct.
    pub fn get_field(self, name: impl Into<String>) -> Column {
        self.get_item(name.into())
    }

    /// The struct with a field added or replaced; a name with dots goes into inner structs.
    pub fn with_field(self, name: impl Into<String>, value: impl IntoValue) -> Column {
        let Column { expression, references } = value.into_value();
        self.updated(name.into(), Some(Box::new(expression))).with_references(references)
    }

    /// The struct without some fields.
    pub fn drop_fields(self, names: impl IntoIterator<Item = impl Into<String>>) -> Column {
        names.into_iter().fold(self, |column, name| column.updated(name.into(), None))
    }

    fn updated(self, field_name: String, value_expression: Option<Box<proto::Expression>>) -> Column {
        self.wrap(|struct_expression| {
            ExprType::UpdateFields(Box::new(proto::expression::UpdateFields {
                struct_expression,
                field_name,
                value_expression,
            }))
        })
    }
}
