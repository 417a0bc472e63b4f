//! `mode`.

use super::gather::Gathered;
use super::hash_order;
use super::ordering::{converter, normalized};
use super::states::{Rows, States, column};
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, any, constant, declare};
use crate::coercion::mismatch;
use crate::scalar::predicate::equality::canonical;
use crate::{AggregateCall, BuildContext, Function, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{HashMap, Result as DfResult};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

pub static FUNCTIONS: &[&Function] = &[&declare(
    "mode",
    &[],
    Signature::with_optional(&[any("col"), any("deterministic")], 2),
    build,
    "mode(col[, deterministic]) - Returns the most frequent value of a group, the least of several if it must be \
     deterministic; mode() WITHIN GROUP (ORDER BY col) - the first of several in that order.",
)];

pub static KERNEL: Kernel = Kernel { name: "mode", states: new_states, over_nothing: OverNothing::Null };

fn build(context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new("mode", call);
    let mut tie = "any";
    if call.call.is_distinct {
        return Err(SparkError::new("INVALID_WITHIN_GROUP_EXPRESSION.DISTINCT_UNSUPPORTED").with("funcName", "`mode`"));
    }
    if !call.call.order_by.is_empty() && !call.call.arguments.is_empty() {
        return Err(SparkError::new("INVALID_WITHIN_GROUP_EXPRESSION.WRONG_NUM_ORDERINGS")
            .with("funcName", "`mode`")
            .with("expectedNum", "0")
            .with("actualNum", call.call.order_by.len().to_string()));
    }
    if let Some((sort, key)) = call.call.order_by.first().cloned() {
        tie = if sort.asc { "least" } else { "greatest" };
        call.call.arguments = vec![key];
        call.call.order_by.clear();
    } else if let Some(flag) = call.call.arguments.get(1) {
        match constant::value(flag)? {
            Some(ScalarValue::Boolean(Some(true))) => tie = "least",
            Some(value) if value.is_null() => {
                return Err(SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_NULL")
                    .with("sqlExpr", mismatch::quoted(&flag.name))
                    .with("exprName", "`deterministic`"));
            }
            Some(ScalarValue::Boolean(_)) => {}
            Some(_) => {
                return Err(SparkError::new("UNEXPECTED_INPUT_TYPE")
                    .with("paramIndex", mismatch::ordinal(1))
                    .with("functionName", "`mode`")
                    .with("requiredType", "\"BOOLEAN\"")
                    .with("inputSql", mismatch::quoted(&flag.name))
                    .with("inputType", mismatch::quoted_type(&flag.data_type)));
            }
            None => {
                return Err(SparkError::new("NON_FOLDABLE_ARGUMENT")
                    .with("funcName", "`mode`")
                    .with("paramName", "`deterministic`")
                    .with("paramType", "\"BOOLEAN\""));
            }
        }
        call.call.arguments.truncate(1);
    }
    if call.call.arguments.is_empty() {
        return Err(SparkError::new("INVALID_WITHIN_GROUP_EXPRESSION.WITHIN_GROUP_MISSING").with("funcName", "`mode`"));
    }
    let (name, returns) = (call.argument(0)?.name.clone(), call.argument_type(0)?);
    call.check_collation(&returns)?;
    if matches!(returns, DataType::Float | DataType::Double) {
        let value = call.argument(0)?.clone();
        call.call.arguments = vec![canonical(value, context)?];
    }
    // Spark shows the order by which it breaks ties, from the greatest down.
    call.text = match tie {
        "least" => format!("mode() WITHIN GROUP (ORDER BY {name} DESC)"),
        "greatest" => format!("mode() WITHIN GROUP (ORDER BY {name})"),
        _ => format!("mode({name})"),
    };
    call.aggregate(&KERNEL, context, returns, true, Some(tie))
}

/// Which of equally frequent values is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tie {
    First,
    Least,
    Greatest,
}

fn new_states(call: &Call, types: &[ArrowType]) -> DfResult<Box<dyn States>> {
    let tie = match call.payload() {
        "least" => Tie::Least,
        "greatest" => Tie::Greatest,
        _ => Tie::First,
    };
    Ok(Box::new(ModeStates { tie, values: Gathered::new(types.to_vec()), types: types.to_vec() }))
}

#[derive(Debug)]
struct ModeStates {
    tie: Tie,
    types: Vec<ArrowType>,
    values: Gathered,
}

impl States for ModeStates {
    fn state_types(&self) -> Vec<ArrowType> {
        self.values.state_types()
    }

    fn resize(&mut self, groups: usize) {
        self.values.resize(groups);
    }

    fn update(&mut self, arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let nulls = column(arguments, 0)?.logical_nulls();
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
        let values = column(&columns, 0)?;
        let encoded = converter(values.data_type())?.convert_columns(&[normalized(values)?])?;
        let mut modes: Vec<Option<u32>> = Vec::with_capacity(self.values.groups());
        for range in offsets.windows(2) {
            // The first row and the number of rows of each value.
            let mut counts: HashMap<&[u8], (u32, u32)> = HashMap::new();
            for row in range[0]..range[1] {
                counts.entry(encoded.row(row as usize).data()).or_insert((row as u32, 0)).1 += 1;
            }
            let most = counts.values().map(|(_, count)| *count).max().unwrap_or(0);
            let tied = counts.iter().filter(|(_, (_, count))| *count == most);
            modes.push(match self.tie {
                Tie::First => first(values, counts.values().copied().collect(), most),
                Tie::Least => tied.min_by_key(|(value, _)| *value).map(|(_, (row, _))| *row),
                Tie::Greatest => tied.max_by_key(|(value, _)| *value).map(|(_, (row, _))| *row),
            });
        }
        Ok(take(values, &UInt32Array::from(modes), None)?)
    }

    fn take_first(&mut self, groups: usize) -> DfResult<Box<dyn States>> {
        Ok(Box::new(Self { tie: self.tie, types: self.types.clone(), values: self.values.take_first(groups)? }))
    }

    fn size(&self) -> usize {
        self.values.size()
    }
}

/// The row of the value that Spark meets first among those that are there so often.
fn first(values: &ArrayRef, mut counts: Vec<(u32, u32)>, most: u32) -> Option<u32> {
    counts.sort_unstable();
    let mut tied = counts.iter().filter(|(_, count)| *count == most).map(|(row, _)| *row);
    let earliest = tied.next()?;
    if tied.next().is_none() {
        return Some(earliest);
    }
    let rows: Vec<u32> = counts.iter().map(|(row, _)| *row).collect();
    let Some(codes) = hash_order::codes(values, &rows) else { return Some(earliest) };
    let ordered = hash_order::ordered(rows.into_iter().zip(codes).collect());
    ordered.into_iter().find(|row| counts.binary_search(&(*row, most)).is_ok())
}
