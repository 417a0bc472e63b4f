//! Shifts.

use crate::scalar::string::declare::{function, param, same_type};
use crate::scalar::string::rows::{Integers, Longs, Rows, primitives};
use crate::{ArgType, KernelArgs, Signature};
use arrow::datatypes::{Int32Type, Int64Type};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::Result;
use firesteel_types::DataType;

const ARGUMENTS: Signature = Signature::of(&[
    param("base", ArgType::OneOf(&[ArgType::Integer, ArgType::Long])),
    param("expr", ArgType::Integer),
]);

function! {
    /// `shiftleft(base, expr)`
    SHIFT_LEFT = "shiftleft" in Bitwise, ARGUMENTS => same_type(left);
    usage "The bits of `base` moved to higher places.";
    since "1.5.0";
    example "SELECT shiftleft(2, 1)" => "4";
}
function! {
    /// `base << expr`
    LEFT_OPERATOR = "<<" in Bitwise, ARGUMENTS => same_type(left);
    text |a| format!("({})", a.join(" << "));
    usage "The bits of `base` moved to higher places.";
    since "4.0.0";
    example "SELECT 2 << 1" => "4";
}
function! {
    /// `shiftright(base, expr)`
    SHIFT_RIGHT = "shiftright" in Bitwise, ARGUMENTS => same_type(right);
    usage "The bits of `base` moved to lower places; the sign stays.";
    since "1.5.0";
    example "SELECT shiftright(4, 1)" => "2";
}
function! {
    /// `base >> expr`
    RIGHT_OPERATOR = ">>" in Bitwise, ARGUMENTS => same_type(right);
    text |a| format!("({})", a.join(" >> "));
    usage "The bits of `base` moved to lower places; the sign stays.";
    since "4.0.0";
    example "SELECT 4 >> 1" => "2";
}
function! {
    /// `shiftrightunsigned(base, expr)`
    SHIFT_RIGHT_UNSIGNED = "shiftrightunsigned" in Bitwise, ARGUMENTS => same_type(right_unsigned);
    usage "The bits of `base` moved to lower places; zeros come after them.";
    since "1.5.0";
    example "SELECT shiftrightunsigned(4, 1)" => "2";
}
function! {
    /// `base >>> expr`
    RIGHT_UNSIGNED_OPERATOR = ">>>" in Bitwise, ARGUMENTS => same_type(right_unsigned);
    text |a| format!("({})", a.join(" >>> "));
    usage "The bits of `base` moved to lower places; zeros come after them.";
    since "4.0.0";
    example "SELECT 4 >>> 1" => "2";
}

fn shift(args: &KernelArgs<'_>, integers: fn(i32, u32) -> i32, longs: fn(i64, u32) -> i64) -> Result<ColumnarValue> {
    let counts: Integers = Rows::of(args, 1)?;
    // Only the low bits of the count matter, as on the processor.
    if matches!(args.types.first(), Some(DataType::Long)) {
        let values: Longs = Rows::of(args, 0)?;
        return primitives::<Int64Type>(args, |row| {
            Ok(values.get(row).zip(counts.get(row)).map(|(value, count)| longs(value, count as u32)))
        });
    }
    let values: Integers = Rows::of(args, 0)?;
    primitives::<Int32Type>(args, |row| {
        Ok(values.get(row).zip(counts.get(row)).map(|(value, count)| integers(value, count as u32)))
    })
}

fn left(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    shift(args, i32::wrapping_shl, i64::wrapping_shl)
}

fn right(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    shift(args, i32::wrapping_shr, i64::wrapping_shr)
}

fn right_unsigned(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    shift(args, |v, n| (v as u32).wrapping_shr(n) as i32, |v, n| (v as u64).wrapping_shr(n) as i64)
}
