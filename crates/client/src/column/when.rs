//! CASE expressions.

use super::{Column, IntoColumn, IntoValue};

/// A CASE expression to which branches may be added; a column of its own, NULL where no branch holds.
///
/// ```
/// use firesteel_client::functions::{col, when};
/// let size = when(col("n").lt(10), "small").when(col("n").lt(100), "medium").otherwise("large");
/// ```
#[derive(Debug, Clone)]
pub struct When(Vec<Column>);

impl When {
    pub(crate) fn new(condition: Column, value: impl IntoValue) -> Self {
        When(vec![condition, value.into_value()])
    }

    /// Adds a branch, for rows that no branch before took.
    pub fn when(mut self, condition: Column, value: impl IntoValue) -> Self {
        self.0.extend([condition, value.into_value()]);
        self
    }

    /// The value where no branch holds.
    pub fn otherwise(mut self, value: impl IntoValue) -> Column {
        self.0.push(value.into_value());
        Column::call("when", self.0)
    }

    /// The name of the column.
    pub fn alias(self, name: impl Into<String>) -> Column {
        Column::from(self).alias(name)
    }
}

impl From<When> for Column {
    fn from(when: When) -> Column {
        Column::call("when", when.0)
    }
}

impl IntoColumn for When {
    fn into_column(self) -> Column {
        self.into()
    }
}

impl IntoValue for When {
    fn into_value(self) -> Column {
        self.into()
    }
}
