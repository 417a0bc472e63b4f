//! `first`, `first_value`, `last`, `last_value` and `any_value`.

use super::picked::{Picked, Picks};
use super::states::{Rows, States, column, typed};
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, any, declare};
use crate::{AggregateCall, BuildContext, Function, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::Result as DfResult;
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use std::sync::Arc;

const SIGNATURE: Signature = Signature::with_optional(&[any("expr"), any("isIgnoreNull")], 1);
const FIRST_USAGE: &str =
    "first(expr[, isIgnoreNull]) - Returns the first value of a group, nulls left out if asked to.";
const LAST_USAGE: &str = "last(expr[, isIgnoreNull]) - Returns the last value of a group, nulls left out if asked to.";

pub static FUNCTIONS: &[&Function] = &[
    &declare("first", &[], SIGNATURE, |c, a| build("first", &FIRST, c, a), FIRST_USAGE),
    &declare("first_value", &[], SIGNATURE, |c, a| build("first_value", &FIRST, c, a), FIRST_USAGE),
    &declare("last", &[], SIGNATURE, |c, a| build("last", &LAST, c, a), LAST_USAGE),
    &declare("last_value", &[], SIGNATURE, |c, a| build("last_value", &LAST, c, a), LAST_USAGE),
    &declare(
        "any_value",
        &[],
        SIGNATURE,
        |c, a| build("any_value", &FIRST, c, a),
        "any_value(expr[, isIgnoreNull]) - Returns some value of a group, nulls left out if asked to.",
    ),
];

pub static FIRST: Kernel =
    Kernel { name: "first", states: |c, t| new_states(c, t, false), over_nothing: OverNothing::Null };
pub static LAST: Kernel =
    Kernel { name: "last", states: |c, t| new_states(c, t, true), over_nothing: OverNothing::Null };

fn build(
    name: &'static str,
    kernel: &'static Kernel,
    context: &mut BuildContext<'_>,
    mut call: AggregateCall,
) -> Result<TypedExpr> {
    let mut ignore_nulls = call.ignore_nulls.unwrap_or(false);
    if call.arguments.len() > 1 {
        let flag = call.arguments.pop();
        match flag.as_ref().and_then(TypedExpr::literal) {
            Some(ScalarValue::Boolean(Some(ignore))) => ignore_nulls |= *ignore,
            _ => {
                return Err(SparkError::new("_LEGACY_ERROR_TEMP_1210").with("funcName", name));
            }
        }
    }
    // The clause, unlike the argument, makes Spark forget under which name it was called.
    let name = match (name, call.ignore_nulls) {
        ("first_value", Some(true)) => "first",
        ("last_value", Some(true)) => "last",
        _ => name,
    };
    call.ignore_nulls = None;
    let call = AggregateContext::new(name, call);
    let returns = call.argument_type(0)?;
    call.aggregate(kernel, context, returns, true, ignore_nulls.then_some("ignore nulls"))
}

fn new_states(call: &Call, types: &[ArrowType], is_last: bool) -> DfResult<Box<dyn States>> {
    let data_type = types.first().cloned().unwrap_or(ArrowType::Null);
    let ignore_nulls = call.payload() == "ignore nulls";
    Ok(Box::new(FirstStates { is_last, ignore_nulls, picked: Picked::new(data_type.clone()), data_type, groups: 0 }))
}

#[derive(Debug)]
struct FirstStates {
    is_last: bool,
    ignore_nulls: bool,
    data_type: ArrowType,
    picked: Picked,
    groups: usize,
}

impl FirstStates {
    /// Takes in the rows of an array for which `counts` holds.
    fn add(&mut self, array: &ArrayRef, rows: &Rows<'_>, nulls: Option<&arrow::buffer::NullBuffer>) -> DfResult<()> {
        let mut picks = Picks::new(self.groups);
        if self.is_last {
            rows.for_each(nulls, |row, group| picks.pick(row, group));
        } else {
            let picked = &self.picked;
            rows.for_each(nulls, |row, group| {
                if !picks.has(group) && !picked.is_set(group) {
                    picks.pick(row, group);
                }
            });
        }
        self.picked.set(array, picks.rows())
    }
}

impl States for FirstStates {
    fn state_types(&self) -> Vec<ArrowType> {
        vec![self.data_type.clone(), ArrowType::Boolean]
    }

    fn resize(&mut self, groups: usize) {
        self.groups = self.groups.max(groups);
        self.picked.resize(groups);
    }

    fn update(&mut self, arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let array = column(arguments, 0)?;
        let nulls = if self.ignore_nulls { array.logical_nulls() } else { None };
        self.add(array, rows, nulls.as_ref())
    }

    fn merge(&mut self, states: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let is_set: &BooleanArray = typed(states, 1)?;
        let set = arrow::buffer::NullBuffer::new(is_set.values().clone());
        self.add(column(states, 0)?, rows, Some(&set))
    }

    fn state(&self) -> DfResult<Vec<ArrayRef>> {
        let set = BooleanArray::from_iter((0..self.groups).map(|g| Some(self.picked.is_set(g))));
        Ok(vec![self.picked.values()?, Arc::new(set)])
    }

    fn evaluate(&self) -> DfResult<ArrayRef> {
        self.picked.values()
    }

    fn take_first(&mut self, groups: usize) -> DfResult<Box<dyn States>> {
        let picked = self.picked.take_first(groups)?;
        let taken = groups.min(self.groups);
        self.groups -= taken;
        Ok(Box::new(Self {
            is_last: self.is_last,
            ignore_nulls: self.ignore_nulls,
            data_type: self.data_type.clone(),
            picked,
            groups: taken,
        }))
    }

    fn size(&self) -> usize {
        self.picked.size()
    }
}
