//! Columns: expressions over the rows of a frame.

mod access;
mod convert;
mod moments;
mod operators;
mod when;

pub use convert::{IntoColumn, IntoColumns, IntoLiteral, IntoValue};
pub use when::When;

use crate::plan::{References, UNKNOWN_LEVELS};
use firesteel_proto::connect as proto;
use firesteel_types::DataType;
use proto::expression::ExprType;

/// An expression: a column of a frame, a value, or a function of others.
///
/// Columns are made by [`col`](crate::functions::col), [`lit`](crate::functions::lit) and
/// [`DataFrame::col`](crate::DataFrame::col), and joined by operators, methods and
/// [`functions`](crate::functions).
///
/// ```
/// use firesteel_client::functions::{col, lit, upper};
/// let total = (col("price") * (lit(1) + col("tax"))).alias("total");
/// let named = col("age").ge(18) & upper("name").starts_with("A");
/// ```
#[derive(Debug, Clone)]
pub struct Column {
    pub(crate) expression: proto::Expression,
    pub(crate) references: References,
}

impl Column {
    pub(crate) fn of(of: ExprType) -> Self {
        Column {
            expression: proto::Expression { common: None, expr_type: Some(of) },
            references: References::of_levels(1),
        }
    }

    /// This column with others inside, whose references these are.
    pub(crate) fn with_references(mut self, references: References) -> Self {
        self.references.extend(references.around());
        self
    }

    /// A function of columns.
    pub(crate) fn call(name: &str, arguments: Vec<Column>) -> Self {
        let (arguments, references) = split(arguments);
        let call =
            proto::expression::UnresolvedFunction { function_name: name.to_string(), arguments, ..Default::default() };
        Column::of(ExprType::UnresolvedFunction(call)).with_references(references)
    }

    /// A node around this column.
    pub(crate) fn wrap(self, build: impl FnOnce(Option<Box<proto::Expression>>) -> ExprType) -> Self {
        Column::of(build(Some(Box::new(self.expression)))).with_references(self.references)
    }

    /// The message of the expression, for requests made by hand.
    pub fn to_proto(&self) -> proto::Expression {
        self.expression.clone()
    }

    /// A column from a message, for what this crate has no method for.
    pub fn from_proto(expression: proto::Expression) -> Self {
        Column { expression, references: References::of_levels(UNKNOWN_LEVELS) }
    }

    /// The column under another name.
    pub fn alias(self, name: impl Into<String>) -> Self {
        self.named(vec![name.into()], None)
    }

    /// The columns of a generator, such as `explode` of a map, under names.
    pub fn alias_all(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.named(names.into_iter().map(Into::into).collect(), None)
    }

    /// The column under another name and with metadata, a JSON object.
    pub fn alias_with_metadata(self, name: impl Into<String>, metadata: &serde_json::Value) -> Self {
        self.named(vec![name.into()], Some(metadata.to_string()))
    }

    fn named(self, name: Vec<String>, metadata: Option<String>) -> Self {
        self.wrap(|expr| ExprType::Alias(Box::new(proto::expression::Alias { expr, name, metadata })))
    }

    /// The column as another type, which is a [`DataType`] or its text, such as `"decimal(10,2)"`.
    pub fn cast(self, to: impl IntoDataType) -> Self {
        self.cast_by(to, proto::expression::cast::EvalMode::Unspecified)
    }

    /// As [`cast`](Column::cast), with NULL where a value does not fit.
    pub fn try_cast(self, to: impl IntoDataType) -> Self {
        self.cast_by(to, proto::expression::cast::EvalMode::Try)
    }

    fn cast_by(self, to: impl IntoDataType, mode: proto::expression::cast::EvalMode) -> Self {
        let to = to.into_cast_target();
        self.wrap(|expr| {
            ExprType::Cast(Box::new(proto::expression::Cast { expr, eval_mode: mode.into(), cast_to_type: Some(to) }))
        })
    }

    /// The function over a window of rows.
    ///
    /// ```
    /// use firesteel_client::{Window, functions::{col, row_number}};
    /// let rank = row_number().over(Window::partition_by("city").order_by(col("age").desc()));
    /// ```
    pub fn over(self, window: impl Into<crate::Window>) -> Self {
        window.into().over(self)
    }

    /// What a function of columns makes of this one; for chains.
    pub fn transform(self, function: impl FnOnce(Column) -> Column) -> Self {
        function(self)
    }

    /// Marks a column of the query around a subquery.
    pub fn outer(self) -> Self {
        self
    }

    /// Asks for an order: the column ascending, NULL first.
    pub fn asc(self) -> Self {
        self.asc_nulls_first()
    }

    /// Ascending, NULL first.
    pub fn asc_nulls_first(self) -> Self {
        self.ordered(true, true)
    }

    /// Ascending, NULL last.
    pub fn asc_nulls_last(self) -> Self {
        self.ordered(true, false)
    }

    /// Asks for an order: the column descending, NULL last.
    pub fn desc(self) -> Self {
        self.desc_nulls_last()
    }

    /// Descending, NULL first.
    pub fn desc_nulls_first(self) -> Self {
        self.ordered(false, true)
    }

    /// Descending, NULL last.
    pub fn desc_nulls_last(self) -> Self {
        self.ordered(false, false)
    }

    fn ordered(self, ascending: bool, nulls_first: bool) -> Self {
        use proto::expression::sort_order::{NullOrdering, SortDirection};
        let direction = if ascending { SortDirection::Ascending } else { SortDirection::Descending };
        let nulls = if nulls_first { NullOrdering::SortNullsFirst } else { NullOrdering::SortNullsLast };
        self.wrap(|child| {
            let (direction, null_ordering) = (direction.into(), nulls.into());
            ExprType::SortOrder(Box::new(proto::expression::SortOrder { child, direction, null_ordering }))
        })
    }

    /// The column as a sort order; ascending unless it says otherwise.
    pub(crate) fn into_sort_order(self) -> proto::expression::SortOrder {
        let sorted = if matches!(self.expression.expr_type, Some(ExprType::SortOrder(_))) { self } else { self.asc() };
        match sorted.expression.expr_type {
            Some(ExprType::SortOrder(order)) => *order,
            _ => proto::expression::SortOrder::default(),
        }
    }

    /// A function's argument by name, for table functions and named arguments.
    pub fn named_argument(self, key: impl Into<String>) -> Self {
        let key = key.into();
        self.wrap(|value| ExprType::NamedArgumentExpression(Box::new(proto::NamedArgumentExpression { key, value })))
    }
}

/// The messages of columns, and the subqueries in them.
pub(crate) fn split(columns: Vec<Column>) -> (Vec<proto::Expression>, References) {
    let mut references = References::default();
    let mut expressions = Vec::with_capacity(columns.len());
    for column in columns {
        references.extend(column.references);
        expressions.push(column.expression);
    }
    (expressions, references)
}

/// A type: a [`DataType`], or its text as SQL has it.
pub trait IntoDataType {
    #[doc(hidden)]
    fn into_cast_target(self) -> proto::expression::cast::CastToType;
}

impl IntoDataType for DataType {
    fn into_cast_target(self) -> proto::expression::cast::CastToType {
        proto::expression::cast::CastToType::Type(crate::types::to_proto(&self))
    }
}

impl IntoDataType for &DataType {
    fn into_cast_target(self) -> proto::expression::cast::CastToType {
        proto::expression::cast::CastToType::Type(crate::types::to_proto(self))
    }
}

impl IntoDataType for &str {
    fn into_cast_target(self) -> proto::expression::cast::CastToType {
        proto::expression::cast::CastToType::TypeStr(self.to_string())
    }
}

impl IntoDataType for String {
    fn into_cast_target(self) -> proto::expression::cast::CastToType {
        proto::expression::cast::CastToType::TypeStr(self)
    }
}
