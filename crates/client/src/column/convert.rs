//! What stands for a column: names, values, columns.

use super::Column;
use crate::functions::col;
use crate::types::literal;
use bytes::Bytes;
use firesteel_proto::connect as proto;
use firesteel_types::{DataType, Literal};
use proto::expression::ExprType;
use proto::expression::literal::LiteralType;

/// What a function takes where it works on a column: a text is a column's name.
pub trait IntoColumn {
    /// The column.
    fn into_column(self) -> Column;
}

/// What a function takes where it works with a value: a text is a value.
pub trait IntoValue {
    /// The value, or the column, as a column.
    fn into_value(self) -> Column;
}

/// A value that is known here and now: where the protocol takes no expressions.
pub trait IntoLiteral {
    /// The message of the value.
    #[doc(hidden)]
    fn into_literal(self) -> proto::expression::Literal;
}

/// One column or several: a name, a column, an array, slice, vector or tuple of them.
///
/// ```
/// # use firesteel_client::{DataFrame, functions::{col, lit}};
/// # fn f(df: DataFrame) {
/// df.select("a");
/// df.select(["a", "b"]);
/// df.select(("a", col("b") + 1, lit("x").alias("c")));
/// # }
/// ```
pub trait IntoColumns {
    /// The columns.
    fn into_columns(self) -> Vec<Column>;
}

impl IntoColumn for Column {
    fn into_column(self) -> Column {
        self
    }
}

impl IntoColumn for &Column {
    fn into_column(self) -> Column {
        self.clone()
    }
}

impl IntoColumn for &str {
    fn into_column(self) -> Column {
        col(self)
    }
}

impl IntoColumn for &String {
    fn into_column(self) -> Column {
        col(self)
    }
}

impl IntoColumn for String {
    fn into_column(self) -> Column {
        col(&self)
    }
}

impl IntoValue for Column {
    fn into_value(self) -> Column {
        self
    }
}

impl IntoValue for &Column {
    fn into_value(self) -> Column {
        self.clone()
    }
}

macro_rules! values {
    ($($type:ty => |$value:ident| $literal:expr;)*) => {
        $(impl IntoLiteral for $type {
            fn into_literal(self) -> proto::expression::Literal {
                let $value = self;
                proto::expression::Literal { data_type: None, literal_type: Some($literal) }
            }
        }
        impl IntoValue for $type {
            fn into_value(self) -> Column {
                Column::of(ExprType::Literal(self.into_literal()))
            }
        })*
    };
}

values! {
    &str => |text| LiteralType::String(text.to_string());
    &String => |text| LiteralType::String(text.clone());
    String => |text| LiteralType::String(text);
    &[u8] => |bytes| LiteralType::Binary(Bytes::copy_from_slice(bytes));
    Vec<u8> => |bytes| LiteralType::Binary(Bytes::from(bytes));
    Bytes => |bytes| LiteralType::Binary(bytes);
}

macro_rules! numbers {
    ($($type:ty => |$value:ident| $literal:expr;)*) => {
        values! { $($type => |$value| $literal;)* }
        // A number is never the name of a column.
        $(impl IntoColumn for $type {
            fn into_column(self) -> Column {
                self.into_value()
            }
        })*
    };
}

numbers! {
    bool => |flag| LiteralType::Boolean(flag);
    i8 => |number| LiteralType::Byte(number.into());
    i16 => |number| LiteralType::Short(number.into());
    i32 => |number| LiteralType::Integer(number);
    i64 => |number| LiteralType::Long(number);
    u16 => |number| LiteralType::Integer(number.into());
    u32 => |number| LiteralType::Long(number.into());
    f32 => |number| LiteralType::Float(number);
    f64 => |number| LiteralType::Double(number);
}

/// Values of every type: dates, decimals, intervals and the like.
impl IntoLiteral for Literal {
    fn into_literal(self) -> proto::expression::Literal {
        literal(&self)
    }
}

/// Values of every type: dates, decimals, intervals and the like.
impl IntoValue for Literal {
    fn into_value(self) -> Column {
        Column::of(ExprType::Literal(self.into_literal()))
    }
}

/// NULL, for None.
impl<T: IntoLiteral> IntoLiteral for Option<T> {
    fn into_literal(self) -> proto::expression::Literal {
        self.map_or_else(|| Literal::Null(DataType::Null).into_literal(), IntoLiteral::into_literal)
    }
}

/// NULL, for None.
impl<T: IntoValue> IntoValue for Option<T> {
    fn into_value(self) -> Column {
        match self {
            Some(value) => value.into_value(),
            None => Literal::Null(DataType::Null).into_value(),
        }
    }
}

/// An array of values.
impl<T: IntoValue> IntoValue for Vec<T> {
    fn into_value(self) -> Column {
        Column::call("array", self.into_iter().map(IntoValue::into_value).collect())
    }
}

/// An array of values.
impl<T: IntoValue, const N: usize> IntoValue for [T; N] {
    fn into_value(self) -> Column {
        Column::call("array", self.into_iter().map(IntoValue::into_value).collect())
    }
}

macro_rules! maps {
    ($($map:ident),*) => {
        $(/// A map of keys and values.
        impl<K: IntoValue, V: IntoValue> IntoValue for std::collections::$map<K, V> {
            fn into_value(self) -> Column {
                let entries = self.into_iter().flat_map(|(key, value)| [key.into_value(), value.into_value()]);
                Column::call("map", entries.collect())
            }
        })*
    };
}

maps! { BTreeMap, HashMap }

impl<T: IntoColumn> IntoColumns for T {
    fn into_columns(self) -> Vec<Column> {
        vec![self.into_column()]
    }
}

impl<T: IntoColumn> IntoColumns for Vec<T> {
    fn into_columns(self) -> Vec<Column> {
        self.into_iter().map(IntoColumn::into_column).collect()
    }
}

impl<T: IntoColumn, const N: usize> IntoColumns for [T; N] {
    fn into_columns(self) -> Vec<Column> {
        self.into_iter().map(IntoColumn::into_column).collect()
    }
}

impl<T> IntoColumns for &[T]
where
    for<'a> &'a T: IntoColumn,
{
    fn into_columns(self) -> Vec<Column> {
        self.iter().map(IntoColumn::into_column).collect()
    }
}

impl<T> IntoColumns for &Vec<T>
where
    for<'a> &'a T: IntoColumn,
{
    fn into_columns(self) -> Vec<Column> {
        self.iter().map(IntoColumn::into_column).collect()
    }
}

/// No column.
impl IntoColumns for () {
    fn into_columns(self) -> Vec<Column> {
        Vec::new()
    }
}

macro_rules! tuples {
    ($(($($name:ident)+))*) => {
        $(impl<$($name: IntoColumn),+> IntoColumns for ($($name,)+) {
            fn into_columns(self) -> Vec<Column> {
                #[allow(non_snake_case)]
                let ($($name,)+) = self;
                vec![$($name.into_column()),+]
            }
        })*
    };
}

tuples! {
    (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H)
    (A B C D E F G H I) (A B C D E F G H I J) (A B C D E F G H I J K) (A B C D E F G H I J K L)
}
