//! `bit_and`, `bit_or`, `bit_xor`, `bool_and` and `bool_or`.

use super::fold::{Fold, Folded};
use super::number::array_of;
use super::states::{Rows, States, column};
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, declare};
use crate::{AggregateCall, ArgType, BuildContext, Function, Param, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType as ArrowType, Int8Type, Int16Type, Int32Type, Int64Type};
use datafusion::common::{DataFusionError, Result as DfResult};
use firesteel_error::Result;
use firesteel_types::DataType;
use std::sync::Arc;

const INTEGRAL: Signature = Signature::of(&[Param { name: "expr", arg_type: ArgType::Integral }]);
const BOOLEAN: Signature = Signature::of(&[Param { name: "expr", arg_type: ArgType::Boolean }]);

macro_rules! boolean {
    ($name:literal, $operation:literal, $usage:literal) => {
        &declare($name, &[], BOOLEAN, |c, a| build($name, $operation, c, a), $usage)
    };
}

pub static FUNCTIONS: &[&Function] = &[
    &declare(
        "bit_and",
        &[],
        INTEGRAL,
        |c, a| build("bit_and", "and", c, a),
        "bit_and(expr) - Returns the bitwise AND of the values of a group.",
    ),
    &declare(
        "bit_or",
        &[],
        INTEGRAL,
        |c, a| build("bit_or", "or", c, a),
        "bit_or(expr) - Returns the bitwise OR of the values of a group.",
    ),
    &declare(
        "bit_xor",
        &[],
        INTEGRAL,
        |c, a| build("bit_xor", "xor", c, a),
        "bit_xor(expr) - Returns the bitwise XOR of the values of a group.",
    ),
    boolean!("bool_and", "and", "bool_and(expr) - Returns true if all values of a group are true."),
    boolean!("every", "and", "every(expr) - Returns true if all values of a group are true."),
    boolean!("bool_or", "or", "bool_or(expr) - Returns true if some value of a group is true."),
    boolean!("any", "or", "any(expr) - Returns true if some value of a group is true."),
    boolean!("some", "or", "some(expr) - Returns true if some value of a group is true."),
];

pub static KERNEL: Kernel = Kernel { name: "bits", states: new_states, over_nothing: OverNothing::Null };

fn build(
    name: &'static str,
    operation: &'static str,
    context: &mut BuildContext<'_>,
    call: AggregateCall,
) -> Result<TypedExpr> {
    let call = AggregateContext::new(name, call);
    let returns = match call.argument_type(0)? {
        // An untyped NULL.
        DataType::Null => DataType::Boolean,
        data_type => data_type,
    };
    call.aggregate(&KERNEL, context, returns, true, Some(operation))
}

fn new_states(call: &Call, _: &[ArrowType]) -> DfResult<Box<dyn States>> {
    let operation: fn(i64, i64) -> i64 = match call.payload() {
        "and" => |a, b| a & b,
        "or" => |a, b| a | b,
        _ => |a, b| a ^ b,
    };
    Ok(Folded::boxed(BitFold { operation, data_type: call.arrow_return() }))
}

/// Booleans are the bits 0 and 1.
#[derive(Debug, Clone)]
struct BitFold {
    operation: fn(i64, i64) -> i64,
    data_type: ArrowType,
}

impl Fold for BitFold {
    type State = Option<i64>;

    fn state_types(&self) -> Vec<ArrowType> {
        vec![self.data_type.clone()]
    }

    fn update(&self, states: &mut [Option<i64>], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let array = column(arguments, 0)?;
        let mut take = |group: usize, value: i64| {
            let state = &mut states[group];
            *state = Some(state.map_or(value, |old| (self.operation)(old, value)));
        };
        macro_rules! each {
            ($type:ty) => {{
                let array = array.as_primitive::<$type>();
                rows.for_each(array.nulls(), |row, group| take(group, i64::from(array.value(row))));
            }};
        }
        match array.data_type() {
            ArrowType::Boolean => {
                let array = array.as_boolean();
                rows.for_each(array.nulls(), |row, group| take(group, i64::from(array.value(row))));
            }
            ArrowType::Int8 => each!(Int8Type),
            ArrowType::Int16 => each!(Int16Type),
            ArrowType::Int32 => each!(Int32Type),
            ArrowType::Int64 => each!(Int64Type),
            ArrowType::Null => {}
            other => return Err(DataFusionError::Internal(format!("bits of {other}"))),
        }
        Ok(())
    }

    fn merge(&self, states: &mut [Option<i64>], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        self.update(states, columns, rows)
    }

    fn state(&self, states: &[Option<i64>]) -> DfResult<Vec<ArrayRef>> {
        Ok(vec![self.evaluate(states)?])
    }

    fn evaluate(&self, states: &[Option<i64>]) -> DfResult<ArrayRef> {
        let nulls = Some(NullBuffer::from_iter(states.iter().map(Option::is_some)));
        let values = states.iter().map(|s| s.unwrap_or(0));
        Ok(match self.data_type {
            ArrowType::Boolean => Arc::new(states.iter().map(|s| s.map(|v| v != 0)).collect::<BooleanArray>()),
            ArrowType::Int8 => array_of::<Int8Type>(values.map(|v| v as i8).collect(), nulls, &self.data_type),
            ArrowType::Int16 => array_of::<Int16Type>(values.map(|v| v as i16).collect(), nulls, &self.data_type),
            ArrowType::Int32 => array_of::<Int32Type>(values.map(|v| v as i32).collect(), nulls, &self.data_type),
            _ => array_of::<Int64Type>(values.collect(), nulls, &ArrowType::Int64),
        })
    }
}
