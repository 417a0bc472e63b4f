//! `product`, which only the DataFrame API has.

use super::fold::{Fold, Folded};
use super::states::{Rows, States, typed};
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, ONE_DOUBLE, declare_internal};
use crate::{AggregateCall, BuildContext, Function, TypedExpr};
use arrow::array::{Array, ArrayRef, Float64Array};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::Result as DfResult;
use firesteel_error::Result;
use firesteel_types::DataType;
use std::sync::Arc;

pub static FUNCTIONS: &[&Function] =
    &[&declare_internal("product", ONE_DOUBLE, build, "product(expr) - Returns the product of the values of a group.")];

pub static KERNEL: Kernel = Kernel { name: "product", states: new_states, over_nothing: OverNothing::Null };

fn build(context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    AggregateContext::new("product", call).aggregate(&KERNEL, context, DataType::Double, true, None)
}

fn new_states(_: &Call, _: &[ArrowType]) -> DfResult<Box<dyn States>> {
    Ok(Folded::boxed(ProductFold))
}

#[derive(Debug, Clone)]
struct ProductFold;

impl Fold for ProductFold {
    type State = Option<f64>;

    fn state_types(&self) -> Vec<ArrowType> {
        vec![ArrowType::Float64]
    }

    fn update(&self, states: &mut [Option<f64>], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let values: &Float64Array = typed(arguments, 0)?;
        rows.for_each(values.nulls(), |row, group| {
            states[group] = Some(states[group].unwrap_or(1.0) * values.value(row));
        });
        Ok(())
    }

    fn merge(&self, states: &mut [Option<f64>], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        self.update(states, columns, rows)
    }

    fn state(&self, states: &[Option<f64>]) -> DfResult<Vec<ArrayRef>> {
        Ok(vec![self.evaluate(states)?])
    }

    fn evaluate(&self, states: &[Option<f64>]) -> DfResult<ArrayRef> {
        Ok(Arc::new(states.iter().copied().collect::<Float64Array>()))
    }
}
