//! Numbers as sums need them.

use arrow::array::{ArrayRef, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{ArrowNativeType, ArrowPrimitiveType, DataType as ArrowType};
use std::sync::Arc;

/// A number that sums are kept in.
pub trait Addend: ArrowNativeType + Default {
    /// The wrapped sum, and whether it overflowed.
    fn add_flagged(self, other: Self) -> (Self, bool);

    /// The number as a whole one, where it is of an integral type.
    fn to_i128_lossless(self) -> Option<i128>;
}

macro_rules! integral_addend {
    ($($t:ty),*) => {$(
        impl Addend for $t {
            #[inline]
            fn add_flagged(self, other: Self) -> (Self, bool) {
                self.overflowing_add(other)
            }

            #[inline]
            fn to_i128_lossless(self) -> Option<i128> {
                Some(self as i128)
            }
        }
    )*};
}

integral_addend!(i32, i64, i128);

impl Addend for f64 {
    #[inline]
    fn add_flagged(self, other: Self) -> (Self, bool) {
        (self + other, false)
    }

    #[inline]
    fn to_i128_lossless(self) -> Option<i128> {
        None
    }
}

/// A number that can be taken for another without an error.
pub trait Widen<T> {
    fn widen(self) -> T;
}

macro_rules! widen {
    ($($from:ty => $to:ty),*) => {$(
        impl Widen<$to> for $from {
            #[inline]
            fn widen(self) -> $to {
                self as $to
            }
        }
    )*};
}

widen!(
    i8 => i64, i16 => i64, i32 => i64, i64 => i64, i32 => i32, i128 => i128,
    i8 => f64, i16 => f64, i32 => f64, i64 => f64, f32 => f64, f64 => f64
);

/// An array of values of a type that may carry parameters, such as decimals.
pub fn array_of<T: ArrowPrimitiveType>(
    values: Vec<T::Native>,
    nulls: Option<NullBuffer>,
    data_type: &ArrowType,
) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(values.into(), nulls).with_data_type(data_type.clone()))
}

/// 10 to the power of a decimal's precision: its values are smaller.
pub fn decimal_bound(precision: u8) -> i128 {
    10i128.checked_pow(u32::from(precision)).unwrap_or(i128::MAX)
}
