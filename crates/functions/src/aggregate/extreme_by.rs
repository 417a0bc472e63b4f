//! `min_by` and `max_by`, and the least and greatest values of any orderable type.

use super::ordering::{converter, normalized};
use super::picked::{Picked, Picks};
use super::states::{Rows, States, split_first};
use super::udaf::{Kernel, OverNothing};
use super::{AggregateContext, any, constant, declare, extreme_list};
use crate::{AggregateCall, BuildContext, Function, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef};
use arrow::datatypes::DataType as ArrowType;
use arrow::row::RowConverter;
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::scalar::ScalarValue;
use firesteel_error::Result;
use firesteel_types::DataType;

/// The greatest number of values that a call may ask for.
const MAX_NUMBER: i32 = 100_000;
const SIGNATURE: Signature = Signature::with_optional(&[any("x"), any("y"), any("k")], 1);

pub static FUNCTIONS: &[&Function] = &[
    &declare(
        "min_by",
        &[],
        SIGNATURE,
        |c, a| build("min_by", &MIN_BY, c, a),
        "min_by(x, y[, k]) - Returns the value of x in the row with the least y, or an array of those of k rows.",
    ),
    &declare(
        "max_by",
        &[],
        SIGNATURE,
        |c, a| build("max_by", &MAX_BY, c, a),
        "max_by(x, y[, k]) - Returns the value of x in the row with the greatest y, or an array of those of k rows.",
    ),
];

pub static MIN_BY: Kernel =
    Kernel { name: "min_by", states: |_, types| new_states(types, false), over_nothing: OverNothing::Null };
pub static MAX_BY: Kernel =
    Kernel { name: "max_by", states: |_, types| new_states(types, true), over_nothing: OverNothing::Null };

fn build(
    name: &'static str,
    kernel: &'static Kernel,
    context: &mut BuildContext<'_>,
    call: AggregateCall,
) -> Result<TypedExpr> {
    let mut call = AggregateContext::new(name, call);
    call.check_orderable(1)?;
    let returns = call.argument_type(0)?;
    if let Some(number) = call.call.arguments.get(2) {
        let value = constant::required(&call.text, "k", "\"INT\"", number)?;
        let number = match value {
            ScalarValue::Int32(Some(number)) if (1..=MAX_NUMBER).contains(&number) => number,
            ScalarValue::Int32(Some(number)) => {
                return Err(constant::out_of_range(&call.text, "`k`", "[1, 100000]", number.to_string()));
            }
            value if value.is_null() => return Err(constant::unexpected_null(&call.text, "k")),
            _ => return Err(call.unexpected_type(2, "\"INT\"")),
        };
        call.call.arguments.truncate(2);
        let payload = extreme_list::payload(name == "max_by", number);
        let returns = DataType::array(returns, true);
        return call.aggregate(&extreme_list::KERNEL, context, returns, true, Some(&payload));
    }
    call.aggregate(kernel, context, returns, true, None)
}

/// States that keep the row with the least or greatest value of the last column.
pub fn new_states(types: &[ArrowType], is_max: bool) -> DfResult<Box<dyn States>> {
    let key = types.last().ok_or_else(|| DataFusionError::Internal("no value to compare".into()))?;
    Ok(Box::new(ExtremeStates {
        is_max,
        types: types.to_vec(),
        converter: converter(key)?,
        best: Vec::new(),
        best_bytes: 0,
        picked: types.iter().map(|t| Picked::new(t.clone())).collect(),
    }))
}

#[derive(Debug)]
struct ExtremeStates {
    is_max: bool,
    types: Vec<ArrowType>,
    converter: RowConverter,
    /// The best key so far, as bytes in Spark's order.
    best: Vec<Option<Box<[u8]>>>,
    best_bytes: usize,
    /// The row with the best key, a column each.
    picked: Vec<Picked>,
}

impl ExtremeStates {
    fn add(&mut self, columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let Some(key) = columns.last() else {
            return Err(DataFusionError::Internal("no value to compare".into()));
        };
        let encoded = self.converter.convert_columns(&[normalized(key)?])?;
        let nulls = key.logical_nulls();
        let mut picks = Picks::new(self.best.len());
        // The best row of this batch by group, before it is copied.
        let mut current: Vec<Option<usize>> = vec![None; self.best.len()];
        let (best, is_max) = (&self.best, self.is_max);
        rows.for_each(nulls.as_ref(), |row, group| {
            let new = encoded.row(row);
            let new: &[u8] = new.as_ref();
            // Of equal keys the later row wins.
            let is_better = |old: &[u8]| if is_max { new >= old } else { new <= old };
            let wins = match (current[group], &best[group]) {
                (Some(old), _) => is_better(encoded.row(old).as_ref()),
                (None, Some(old)) => is_better(old),
                (None, None) => true,
            };
            if wins {
                current[group] = Some(row);
                picks.pick(row, group);
            }
        });
        for (row, group) in picks.rows() {
            let place = &mut self.best[*group as usize];
            let bytes: Box<[u8]> = encoded.row(*row as usize).as_ref().into();
            self.best_bytes += bytes.len();
            self.best_bytes -= place.as_ref().map_or(0, |b| b.len());
            *place = Some(bytes);
        }
        for (picked, column) in self.picked.iter_mut().zip(columns) {
            picked.set(column, picks.rows())?;
        }
        Ok(())
    }
}

impl States for ExtremeStates {
    fn state_types(&self) -> Vec<ArrowType> {
        self.types.clone()
    }

    fn resize(&mut self, groups: usize) {
        if groups > self.best.len() {
            self.best.resize(groups, None);
        }
        for picked in &mut self.picked {
            picked.resize(groups);
        }
    }

    fn update(&mut self, arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        self.add(arguments, rows)
    }

    fn merge(&mut self, states: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        self.add(states, rows)
    }

    fn state(&self) -> DfResult<Vec<ArrayRef>> {
        self.picked.iter().map(Picked::values).collect()
    }

    fn evaluate(&self) -> DfResult<ArrayRef> {
        match self.picked.first() {
            Some(picked) => picked.values(),
            None => Err(DataFusionError::Internal("no value to compare".into())),
        }
    }

    fn take_first(&mut self, groups: usize) -> DfResult<Box<dyn States>> {
        let best = split_first(&mut self.best, groups);
        let best_bytes = best.iter().flatten().map(|b| b.len()).sum();
        self.best_bytes -= best_bytes;
        let picked = self.picked.iter_mut().map(|p| p.take_first(groups)).collect::<DfResult<_>>()?;
        let key = self.types.last().unwrap_or(&ArrowType::Null);
        Ok(Box::new(Self {
            is_max: self.is_max,
            types: self.types.clone(),
            converter: converter(key)?,
            best,
            best_bytes,
            picked,
        }))
    }

    fn size(&self) -> usize {
        self.best_bytes
            + self.best.capacity() * size_of::<Option<Box<[u8]>>>()
            + self.picked.iter().map(Picked::size).sum::<usize>()
    }
}
