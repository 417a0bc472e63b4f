//! `collect_list`, `array_agg` and `collect_set`.

use super::accumulator::DistinctStates;
use super::gather::Gathered;
use super::states::{Rows, States, column};
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, declare};
use crate::scalar::predicate::equality::canonical;
use crate::{AggregateCall, BuildContext, Function, TypedExpr};
use arrow::array::{Array, ArrayRef, ListArray};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{DataFusionError, Result as DfResult};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;

pub static FUNCTIONS: &[&Function] = &[
    &declare(
        "collect_list",
        &["array_agg"],
        super::ONE,
        collect_list,
        "collect_list(expr) - Returns an array of the values of a group, without nulls.",
    ),
    &declare(
        "collect_set",
        &[],
        super::ONE,
        collect_set,
        "collect_set(expr) - Returns an array of the different values of a group, without nulls.",
    ),
];

pub static LIST: Kernel =
    Kernel { name: "collect_list", states: new_list_states, over_nothing: OverNothing::EmptyList };
pub static SET: Kernel = Kernel { name: "collect_set", states: new_set_states, over_nothing: OverNothing::EmptyList };

const KEEP_NULLS: &str = "respect nulls";

fn collect_list(context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    build("collect_list", &LIST, context, call)
}

fn collect_set(context: &mut BuildContext<'_>, mut call: AggregateCall) -> Result<TypedExpr> {
    call.is_distinct = false;
    let data_type = call.arguments.first().map_or(DataType::Null, |a| a.data_type.clone());
    let has_map = data_type.exists(&|t| matches!(t, DataType::Map { .. }));
    let has_collation = data_type.exists(&|t| matches!(t, DataType::String(c) if !c.is_binary()));
    if has_map || has_collation {
        let call = AggregateContext::new("collect_set", call);
        return Err(SparkError::new("DATATYPE_MISMATCH.UNSUPPORTED_INPUT_TYPE")
            .with("sqlExpr", format!("\"{}\"", call.text))
            .with("functionName", "`collect_set`")
            .with("dataType", "\"MAP\" or \"COLLATED STRING\""));
    }
    call.arguments = call.arguments.into_iter().map(|value| canonical(value, context)).collect::<Result<Vec<_>>>()?;
    build("collect_set", &SET, context, call)
}

fn build(
    name: &'static str,
    kernel: &'static Kernel,
    context: &mut BuildContext<'_>,
    mut call: AggregateCall,
) -> Result<TypedExpr> {
    let keep_nulls = call.ignore_nulls == Some(false);
    call.ignore_nulls = None;
    let mut call = AggregateContext::new(name, call);
    if keep_nulls {
        call.text.push_str(" RESPECT NULLS");
    }
    let element = call.argument(0)?;
    let returns = DataType::array(element.data_type.clone(), keep_nulls && element.nullable);
    call.aggregate(kernel, context, returns, false, keep_nulls.then_some(KEEP_NULLS))
}

fn new_list_states(call: &Call, types: &[ArrowType]) -> DfResult<Box<dyn States>> {
    Ok(Box::new(ListStates {
        list_type: call.arrow_return(),
        keep_nulls: call.payload() == KEEP_NULLS,
        values: Gathered::new(types.to_vec()),
    }))
}

fn new_set_states(call: &Call, types: &[ArrowType]) -> DfResult<Box<dyn States>> {
    let (call, inner_types) = (call.clone(), types.to_vec());
    let make = Arc::new(move || new_list_states(&call, &inner_types));
    Ok(Box::new(DistinctStates::new(make, types.to_vec())?))
}

#[derive(Debug)]
struct ListStates {
    list_type: ArrowType,
    keep_nulls: bool,
    values: Gathered,
}

impl States for ListStates {
    fn state_types(&self) -> Vec<ArrowType> {
        self.values.state_types()
    }

    fn resize(&mut self, groups: usize) {
        self.values.resize(groups);
    }

    fn update(&mut self, arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let nulls = if self.keep_nulls { None } else { column(arguments, 0)?.logical_nulls() };
        self.values.push(arguments, rows, nulls.as_ref())
    }

    fn merge(&mut self, states: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        self.values.merge(states, rows)
    }

    fn state(&self) -> DfResult<Vec<ArrayRef>> {
        self.values.state()
    }

    fn evaluate(&self) -> DfResult<ArrayRef> {
        let (offsets, columns) = self.values.sorted()?;
        let ArrowType::List(field) = &self.list_type else {
            return Err(DataFusionError::Internal(format!("a list of type {}", self.list_type)));
        };
        let values = Arc::clone(column(&columns, 0)?);
        Ok(Arc::new(ListArray::try_new(Arc::clone(field), offsets, values, None)?))
    }

    fn take_first(&mut self, groups: usize) -> DfResult<Box<dyn States>> {
        Ok(Box::new(Self {
            list_type: self.list_type.clone(),
            keep_nulls: self.keep_nulls,
            values: self.values.take_first(groups)?,
        }))
    }

    fn size(&self) -> usize {
        self.values.size()
    }
}
