//! Aggregates that pandas-on-Spark calls: `pandas_product`, `pandas_mode` and `collect_top_k`.

use super::fold::{Fold, Folded};
use super::gather::Gathered;
use super::ordering::{converter, normalized};
use super::states::{Rows, States, column};
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, any, constant, declare_internal};
use crate::scalar::string::constant::integer_of;
use crate::{AggregateCall, BuildContext, Function, Signature, TypedExpr, coercion};
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, ListArray, UInt32Array};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType as ArrowType, Float64Type, Int64Type};
use datafusion::common::{DataFusionError, HashMap, Result as DfResult};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;

pub static FUNCTIONS: &[&Function] = &[
    &declare_internal(
        "pandas_product",
        Signature::of(&[any("expr"), any("dropna")]),
        build_product,
        "pandas_product(expr, dropna) - Returns the product of the values of a group.",
    ),
    &declare_internal(
        "pandas_mode",
        Signature::of(&[any("expr"), any("dropna")]),
        build_modes,
        "pandas_mode(expr, dropna) - Returns the most frequent values of a group.",
    ),
    &declare_internal(
        "collect_top_k",
        Signature::of(&[any("expr"), any("num"), any("reverse")]),
        build_top,
        "collect_top_k(expr, num, reverse) - Returns the greatest values of a group, or the least.",
    ),
];

pub static PRODUCT: Kernel =
    Kernel { name: "pandas_product", states: |c, _| Ok(new_product(c)), over_nothing: OverNothing::Null };
pub static MODES: Kernel =
    Kernel { name: "pandas_mode", states: |c, t| Ok(new_lists(c, t, true)), over_nothing: OverNothing::EmptyList };
pub static TOP: Kernel =
    Kernel { name: "collect_top_k", states: |c, t| Ok(new_lists(c, t, false)), over_nothing: OverNothing::EmptyList };

/// A constant flag.
fn flag(call: &AggregateContext, index: usize, name: &str) -> Result<bool> {
    let value = constant::required(&call.text, name, "\"BOOLEAN\"", call.argument(index)?)?;
    Ok(value == ScalarValue::Boolean(Some(true)))
}

fn build_product(context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new("pandas_product", call);
    let drops = flag(&call, 1, "dropna")?;
    call.text = format!("pandas_product({})", call.argument(0)?.name);
    call.call.arguments.truncate(1);
    let data_type = call.numeric_or_interval(context)?;
    let returns = if data_type.is_integral() { DataType::Long } else { DataType::Double };
    let input = coercion::implicitly(call.argument(0)?.clone(), &returns, context)?;
    call.call.arguments = vec![input];
    call.aggregate(&PRODUCT, context, returns, !drops, Some(if drops { "drop" } else { "keep" }))
}

fn build_modes(context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new("pandas_mode", call);
    let drops = flag(&call, 1, "dropna")?;
    let element = call.argument(0)?.clone();
    call.check_collation(&element.data_type)?;
    call.text = format!("pandas_mode({})", element.name);
    call.call.arguments.truncate(1);
    let returns = DataType::array(element.data_type, !drops);
    call.aggregate(&MODES, context, returns, false, Some(if drops { "drop" } else { "keep" }))
}

fn build_top(context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new("collect_top_k", call);
    call.check_orderable(0)?;
    let shown = format!("collect_top_k({})", call.argument(0)?.name);
    let number = constant::required(&call.text, "num", "\"INT\"", call.argument(1)?)?;
    let number = integer_of(&number).unwrap_or(0).max(0);
    let is_reverse = flag(&call, 2, "reverse")?;
    let element = call.argument(0)?.data_type.clone();
    call.call.arguments.truncate(1);
    call.text = shown;
    let order = if is_reverse { "least" } else { "greatest" };
    let returns = DataType::array(element, false);
    call.aggregate(&TOP, context, returns, false, Some(&format!("{number} {order}")))
}

#[derive(Debug, Clone)]
struct ProductFold {
    call: Call,
    drops_nulls: bool,
}

/// A product, as the sum of logarithms for doubles.
#[derive(Debug, Clone, Copy)]
pub struct Product {
    whole: i64,
    logarithm: f64,
    is_negative: bool,
    has_zero: bool,
    has_null: bool,
}

impl Default for Product {
    fn default() -> Self {
        Self { whole: 1, logarithm: 0.0, is_negative: false, has_zero: false, has_null: false }
    }
}

fn new_product(call: &Call) -> Box<dyn States> {
    Folded::boxed(ProductFold { call: call.clone(), drops_nulls: call.payload() == "drop" })
}

impl ProductFold {
    fn multiply(&self, left: i64, right: i64) -> DfResult<i64> {
        match left.checked_mul(right) {
            Some(product) => Ok(product),
            None if self.call.ansi => {
                let error = SparkError::new("ARITHMETIC_OVERFLOW")
                    .with("message", "overflow")
                    .with("alternative", " Use 'try_multiply' to tolerate overflow and return NULL instead.")
                    .with("config", "\"spark.sql.ansi.enabled\"");
                Err(self.call.error(error))
            }
            None => Ok(left.wrapping_mul(right)),
        }
    }

    fn is_whole(&self) -> bool {
        self.call.returns == DataType::Long
    }
}

impl Fold for ProductFold {
    type State = Product;

    fn state_types(&self) -> Vec<ArrowType> {
        vec![ArrowType::Int64, ArrowType::Float64, ArrowType::Int64]
    }

    fn update(&self, states: &mut [Product], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let values = column(arguments, 0)?;
        let nulls = values.logical_nulls();
        let numbers = cast(values, &ArrowType::Float64)?;
        let numbers = numbers.as_primitive::<Float64Type>();
        let whole = values.as_primitive_opt::<Int64Type>();
        rows.try_for_each(None, |row, group| {
            let state = &mut states[group];
            if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                state.has_null = true;
                return Ok(());
            }
            if let Some(whole) = whole {
                state.whole = self.multiply(state.whole, whole.value(row))?;
                return Ok(());
            }
            let value = numbers.value(row);
            if value == 0.0 {
                state.has_zero = true;
            } else {
                state.logarithm += value.abs().ln();
                state.is_negative ^= value < 0.0;
            }
            Ok(())
        })
    }

    fn merge(&self, states: &mut [Product], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let whole = column(columns, 0)?.as_primitive::<Int64Type>();
        let logarithms = column(columns, 1)?.as_primitive::<Float64Type>();
        let flags = column(columns, 2)?.as_primitive::<Int64Type>();
        rows.try_for_each(None, |row, group| {
            let (state, flags) = (&mut states[group], flags.value(row));
            state.whole = self.multiply(state.whole, whole.value(row))?;
            state.logarithm += logarithms.value(row);
            state.is_negative ^= flags & 1 != 0;
            state.has_zero |= flags & 2 != 0;
            state.has_null |= flags & 4 != 0;
            Ok(())
        })
    }

    fn state(&self, states: &[Product]) -> DfResult<Vec<ArrayRef>> {
        let flags = states
            .iter()
            .map(|s| i64::from(s.is_negative) | (i64::from(s.has_zero) << 1) | (i64::from(s.has_null) << 2));
        Ok(vec![
            Arc::new(Int64Array::from_iter_values(states.iter().map(|s| s.whole))),
            Arc::new(Float64Array::from_iter_values(states.iter().map(|s| s.logarithm))),
            Arc::new(Int64Array::from_iter_values(flags)),
        ])
    }

    fn evaluate(&self, states: &[Product]) -> DfResult<ArrayRef> {
        let is_null = |state: &Product| state.has_null && !self.drops_nulls;
        if self.is_whole() {
            let values = states.iter().map(|s| (!is_null(s)).then_some(s.whole));
            return Ok(Arc::new(values.collect::<Int64Array>()));
        }
        let values = states.iter().map(|state| {
            let size = if state.has_zero { 0.0 } else { state.logarithm.exp() };
            (!is_null(state)).then_some(if state.is_negative { -size } else { size })
        });
        Ok(Arc::new(values.collect::<Float64Array>()))
    }
}

/// Chooses values of a group once all are there.
#[derive(Debug, Clone, Copy)]
enum Choice {
    Modes,
    Greatest(usize),
    Least(usize),
}

#[derive(Debug)]
struct ListStates {
    list_type: ArrowType,
    choice: Choice,
    keeps_nulls: bool,
    values: Gathered,
}

fn new_lists(call: &Call, types: &[ArrowType], is_mode: bool) -> Box<dyn States> {
    let (number, order) = call.payload().split_once(' ').unwrap_or(("0", ""));
    let number = number.parse().unwrap_or(0);
    let choice = match order {
        _ if is_mode => Choice::Modes,
        "least" => Choice::Least(number),
        _ => Choice::Greatest(number),
    };
    let keeps_nulls = is_mode && call.payload() == "keep";
    Box::new(ListStates { list_type: call.arrow_return(), choice, keeps_nulls, values: Gathered::new(types.to_vec()) })
}

impl ListStates {
    /// The rows of a group that are chosen.
    fn chosen(&self, rows: std::ops::Range<usize>, encoded: &arrow::row::Rows) -> Vec<u32> {
        let mut rows: Vec<usize> = rows.collect();
        match self.choice {
            Choice::Modes => {
                let mut counts: HashMap<&[u8], (usize, usize)> = HashMap::new();
                for row in rows {
                    counts.entry(encoded.row(row).data()).or_insert((row, 0)).1 += 1;
                }
                let most = counts.values().map(|(_, count)| *count).max().unwrap_or(0);
                rows = counts.values().filter(|(_, count)| *count == most).map(|(row, _)| *row).collect();
                rows.sort_unstable();
            }
            Choice::Greatest(number) => {
                rows.sort_by(|a, b| encoded.row(*b).cmp(&encoded.row(*a)));
                rows.truncate(number);
            }
            Choice::Least(number) => {
                rows.sort_by(|a, b| encoded.row(*a).cmp(&encoded.row(*b)));
                rows.truncate(number);
            }
        }
        rows.into_iter().map(|row| row as u32).collect()
    }
}

impl States for ListStates {
    fn state_types(&self) -> Vec<ArrowType> {
        self.values.state_types()
    }

    fn resize(&mut self, groups: usize) {
        self.values.resize(groups);
    }

    fn update(&mut self, arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let nulls = if self.keeps_nulls { None } else { column(arguments, 0)?.logical_nulls() };
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
        let values = column(&columns, 0)?;
        let encoded = converter(values.data_type())?.convert_columns(&[normalized(values)?])?;
        let (mut rows, mut lengths) = (Vec::new(), Vec::new());
        for range in offsets.windows(2) {
            let chosen = self.chosen(range[0] as usize..range[1] as usize, &encoded);
            lengths.push(chosen.len());
            rows.extend(chosen);
        }
        let values = take(values, &UInt32Array::from(rows), None)?;
        Ok(Arc::new(ListArray::try_new(Arc::clone(field), OffsetBuffer::from_lengths(lengths), values, None)?))
    }

    fn take_first(&mut self, groups: usize) -> DfResult<Box<dyn States>> {
        Ok(Box::new(Self {
            list_type: self.list_type.clone(),
            choice: self.choice,
            keeps_nulls: self.keeps_nulls,
            values: self.values.take_first(groups)?,
        }))
    }

    fn size(&self) -> usize {
        self.values.size()
    }
}
