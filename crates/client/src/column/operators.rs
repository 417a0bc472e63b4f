//! Operators between columns and values.

use super::{Column, IntoValue};
use crate::DataFrame;
use firesteel_proto::connect as proto;
use proto::expression::ExprType;
use std::ops;

macro_rules! arithmetic {
    ($($trait:ident $method:ident $sign:literal),* $(,)?) => {
        $(impl<R: IntoValue> ops::$trait<R> for Column {
            type Output = Column;
            fn $method(self, right: R) -> Column {
                Column::call($sign, vec![self, right.into_value()])
            }
        }
        impl<R: IntoValue> ops::$trait<R> for &Column {
            type Output = Column;
            fn $method(self, right: R) -> Column {
                Column::call($sign, vec![self.clone(), right.into_value()])
            }
        }
        arithmetic!(@values $trait $method $sign: i8, i16, i32, i64, f32, f64);)*
    };
    (@values $trait:ident $method:ident $sign:literal: $($type:ty),*) => {
        $(impl ops::$trait<Column> for $type {
            type Output = Column;
            fn $method(self, right: Column) -> Column {
                Column::call($sign, vec![self.into_value(), right])
            }
        }
        impl ops::$trait<&Column> for $type {
            type Output = Column;
            fn $method(self, right: &Column) -> Column {
                Column::call($sign, vec![self.into_value(), right.clone()])
            }
        })*
    };
}

arithmetic! {
    Add add "+",
    Sub sub "-",
    Mul mul "*",
    Div div "/",
    Rem rem "%",
}

macro_rules! boolean {
    ($($(#[$doc:meta])* $trait:ident $operator:ident $method:ident;)*) => {
        $($(#[$doc])*
        impl<R: IntoValue> ops::$trait<R> for Column {
            type Output = Column;
            fn $operator(self, right: R) -> Column {
                self.$method(right)
            }
        }
        $(#[$doc])*
        impl<R: IntoValue> ops::$trait<R> for &Column {
            type Output = Column;
            fn $operator(self, right: R) -> Column {
                self.clone().$method(right)
            }
        })*
    };
}

boolean! {
    /// Boolean AND, as in PySpark; bits are joined by [`Column::bitwise_and`].
    BitAnd bitand and;
    /// Boolean OR, as in PySpark; bits are joined by [`Column::bitwise_or`].
    BitOr bitor or;
}

macro_rules! prefix {
    ($($trait:ident $operator:ident $name:literal;)*) => {
        $(impl ops::$trait for Column {
            type Output = Column;
            fn $operator(self) -> Column {
                Column::call($name, vec![self])
            }
        }
        impl ops::$trait for &Column {
            type Output = Column;
            fn $operator(self) -> Column {
                Column::call($name, vec![self.clone()])
            }
        })*
    };
}

prefix! {
    Not not "not";
    Neg neg "negative";
}

macro_rules! binary {
    ($($(#[$doc:meta])* $method:ident $name:literal;)*) => {
        impl Column {
            $($(#[$doc])*
            pub fn $method(self, other: impl IntoValue) -> Column {
                Column::call($name, vec![self, other.into_value()])
            })*
        }
    };
}

binary! {
    /// Both are true.
    and "and";
    /// Either is true.
    or "or";
    /// Equal; NULL if either is.
    eq "==";
    /// Equal, where NULL equals NULL.
    eq_null_safe "<=>";
    /// Less than.
    lt "<";
    /// Less than or equal to.
    le "<=";
    /// Greater than.
    gt ">";
    /// Greater than or equal to.
    ge ">=";
    /// To the power of.
    pow "power";
    /// The bits that either has.
    bitwise_or "|";
    /// The bits that both have.
    bitwise_and "&";
    /// The bits that one of them has.
    bitwise_xor "^";
    /// Contains a text.
    contains "contains";
    /// Begins with a text.
    starts_with "startsWith";
    /// Ends with a text.
    ends_with "endsWith";
    /// Matches a SQL pattern with `%` and `_`.
    like "like";
    /// Matches a SQL pattern in any letter case.
    ilike "ilike";
    /// A regular expression finds something in it.
    rlike "rlike";
}

impl Column {
    /// Not equal; NULL if either is.
    pub fn not_eq(self, other: impl IntoValue) -> Column {
        !self.eq(other)
    }

    /// Is NULL.
    pub fn is_null(self) -> Column {
        Column::call("isNull", vec![self])
    }

    /// Is not NULL.
    pub fn is_not_null(self) -> Column {
        Column::call("isNotNull", vec![self])
    }

    /// Is not a number.
    pub fn is_nan(self) -> Column {
        Column::call("isNaN", vec![self])
    }

    /// The characters from a position, counted from 1.
    pub fn substr(self, start: impl IntoValue, length: impl IntoValue) -> Column {
        Column::call("substr", vec![self, start.into_value(), length.into_value()])
    }

    /// From a value to another, both included.
    pub fn between(self, lower: impl IntoValue, upper: impl IntoValue) -> Column {
        self.clone().ge(lower).and(self.le(upper))
    }

    /// Equals one of the values.
    ///
    /// ```
    /// use firesteel_client::functions::col;
    /// let primary = col("color").isin(["red", "green", "blue"]);
    /// ```
    pub fn isin(self, values: impl IntoIterator<Item = impl IntoValue>) -> Column {
        let values = values.into_iter().map(IntoValue::into_value);
        Column::call("in", std::iter::once(self).chain(values).collect())
    }

    /// Equals a row of a frame; for several columns, call it on a `struct_` of them.
    pub fn isin_frame(self, frame: &DataFrame) -> Column {
        let values = match self.expression.expr_type {
            Some(ExprType::UnresolvedFunction(call)) if call.function_name == "struct" => call.arguments,
            expr_type => vec![proto::Expression { common: None, expr_type }],
        };
        frame.subquery(proto::subquery_expression::SubqueryType::In, values).with_references(self.references)
    }
}
