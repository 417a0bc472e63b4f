//! `percentile`, `percentile_cont`, `percentile_disc` and `median`.

use super::gather::Gathered;
use super::states::{Rows, States, column, typed};
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, any, constant, declare};
use crate::{AggregateCall, ArgType, BuildContext, Function, Signature, TypedExpr, coercion};
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, ListArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType as ArrowType, DurationMicrosecondType, Float64Type, Int64Type, IntervalUnit, IntervalYearMonthType,
};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;

pub static FUNCTIONS: &[&Function] = &[
    &declare(
        "percentile",
        &[],
        Signature::with_optional(&[any("col"), any("percentage"), any("frequency")], 1),
        percentile,
        "percentile(col, percentage[, frequency]) - Returns the exact percentile of numbers or ANSI intervals, between \
         two values the weighted mean of both.",
    ),
    &declare("median", &[], super::ONE, median, "median(col) - Returns the median of numbers or ANSI intervals."),
    &declare(
        "percentile_cont",
        &[],
        Signature::of(&[any("percentage")]),
        |c, a| within_group("percentile_cont", c, a),
        "percentile_cont(percentage) WITHIN GROUP (ORDER BY col) - Returns the percentile in that order, between two \
         values the weighted mean of both.",
    ),
    &declare(
        "percentile_disc",
        &[],
        Signature::of(&[any("percentage")]),
        |c, a| within_group("percentile_disc", c, a),
        "percentile_disc(percentage) WITHIN GROUP (ORDER BY col) - Returns the first value in that order that has the \
         share of rows up to it.",
    ),
];

pub static KERNEL: Kernel = Kernel { name: "percentile", states: new_states, over_nothing: OverNothing::Null };

fn percentile(context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new("percentile", call);
    if call.call.arguments.len() < 3 {
        let names: Vec<&str> = call.call.arguments.iter().map(|a| a.name.as_str()).collect();
        let distinct = if call.call.is_distinct { "DISTINCT " } else { "" };
        call.text = format!("percentile({distinct}{}, 1)", names.join(", "));
    }
    let percentages = Percentages::of(&call.text, call.argument(1)?)?;
    call.call.arguments.remove(1);
    if call.call.arguments.len() > 1 {
        let frequency = call.call.arguments.remove(1);
        let frequency = coercion::coerce_argument(frequency, ArgType::Integral, 2, &call.text, context)?;
        let frequency = coercion::implicitly(frequency, &DataType::Long, context)?;
        finish(call, context, percentages, Options { discrete: false, descending: false }, Some(frequency))
    } else {
        finish(call, context, percentages, Options { discrete: false, descending: false }, None)
    }
}

fn median(context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let call = AggregateContext::new("median", call);
    let percentages = Percentages { values: vec![0.5], is_array: false };
    finish(call, context, percentages, Options { discrete: false, descending: false }, None)
}

fn within_group(name: &'static str, context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new(name, call);
    let [(sort, key)] = call.call.order_by.as_slice() else {
        return Err(match call.call.order_by.len() {
            0 => SparkError::new("INVALID_WITHIN_GROUP_EXPRESSION.WITHIN_GROUP_MISSING")
                .with("funcName", format!("`{name}`")),
            number => SparkError::new("INVALID_WITHIN_GROUP_EXPRESSION.WRONG_NUM_ORDERINGS")
                .with("funcName", format!("`{name}`"))
                .with("expectedNum", "1")
                .with("actualNum", number.to_string()),
        });
    };
    if call.call.is_distinct {
        return Err(SparkError::new("INVALID_WITHIN_GROUP_EXPRESSION.DISTINCT_UNSUPPORTED")
            .with("funcName", format!("`{name}`")));
    }
    let options = Options { discrete: name == "percentile_disc", descending: !sort.asc };
    let key = key.clone();
    let order = if options.descending { " DESC" } else { "" };
    call.text = format!("{} WITHIN GROUP (ORDER BY {}{order})", call.text, key.name);
    let percentages = Percentages::of(&call.text, call.argument(0)?)?;
    call.call.arguments = vec![key];
    call.call.order_by.clear();
    finish(call, context, percentages, options, None)
}

#[derive(Debug, Clone, Copy)]
struct Options {
    /// The result is one of the values.
    discrete: bool,
    descending: bool,
}

fn finish(
    mut call: AggregateContext,
    context: &mut BuildContext<'_>,
    percentages: Percentages,
    options: Options,
    frequency: Option<TypedExpr>,
) -> Result<TypedExpr> {
    let element = match call.numeric_or_interval(context)? {
        DataType::YearMonthInterval(..) => DataType::YEAR_MONTH,
        DataType::DayTimeInterval(..) => DataType::DAY_TIME,
        _ => DataType::Double,
    };
    let returns = if percentages.is_array { DataType::array(element, false) } else { element };
    call.call.arguments.extend(frequency);
    let payload = format!(
        "{};{};{}",
        if options.discrete { "discrete" } else { "continuous" },
        if options.descending { "descending" } else { "ascending" },
        percentages.payload()
    );
    call.aggregate(&KERNEL, context, returns, true, Some(&payload))
}

/// The constant percentages of a call.
#[derive(Debug, Clone)]
pub struct Percentages {
    pub values: Vec<f64>,
    pub is_array: bool,
}

impl Percentages {
    /// Reads and checks the argument.
    pub fn of(call: &str, argument: &TypedExpr) -> Result<Self> {
        let value = constant::required(call, "percentage", "\"DOUBLE\"", argument)?;
        if value.is_null() {
            return Err(constant::unexpected_null(call, "percentage"));
        }
        let fail = || {
            coercion::mismatch::unexpected_input(call, 1, ArgType::OneOf(&[ArgType::Double, ArgType::Array]), argument)
        };
        let (array, is_array): (ArrayRef, bool) = match &value {
            ScalarValue::List(list) => (list.value(0), true),
            other => (other.to_array().map_err(|_| fail())?, false),
        };
        let doubles = cast(&array, &ArrowType::Float64).map_err(|_| fail())?;
        let doubles = doubles.as_primitive::<Float64Type>();
        if doubles.null_count() > 0 {
            return Err(constant::unexpected_null(call, "percentage"));
        }
        let values = doubles.values().to_vec();
        if values.iter().any(|p| !(0.0..=1.0).contains(p)) {
            let shown: Vec<String> = values.iter().map(|p| format!("{p:?}D")).collect();
            return Err(constant::out_of_range(call, "percentage", "[0.0, 1.0]", shown.join(",")));
        }
        Ok(Self { values, is_array })
    }

    /// The percentages as text.
    pub fn payload(&self) -> String {
        let values: Vec<String> = self.values.iter().map(|v| format!("{v:?}")).collect();
        format!("{}{}", if self.is_array { "array:" } else { "" }, values.join(","))
    }

    /// The percentages from their text.
    pub fn parse(payload: &str) -> Self {
        let (values, is_array) = match payload.strip_prefix("array:") {
            Some(values) => (values, true),
            None => (payload, false),
        };
        Self { values: values.split(',').filter_map(|v| v.parse().ok()).collect(), is_array }
    }
}

fn new_states(call: &Call, types: &[ArrowType]) -> DfResult<Box<dyn States>> {
    let mut parts = call.payload().splitn(3, ';');
    let discrete = parts.next() == Some("discrete");
    let descending = parts.next() == Some("descending");
    let percentages = Percentages::parse(parts.next().unwrap_or_default());
    let has_frequency = types.len() > 1;
    let mut gathered = vec![ArrowType::Float64];
    if has_frequency {
        gathered.push(ArrowType::Int64);
    }
    Ok(Box::new(PercentileStates {
        call: call.clone(),
        options: Options { discrete, descending },
        percentages,
        has_frequency,
        values: Gathered::new(gathered),
    }))
}

#[derive(Debug)]
struct PercentileStates {
    call: Call,
    options: Options,
    percentages: Percentages,
    has_frequency: bool,
    values: Gathered,
}

/// Numbers and intervals as doubles.
pub fn to_doubles(array: &ArrayRef) -> DfResult<ArrayRef> {
    Ok(match array.data_type() {
        ArrowType::Float64 => Arc::clone(array),
        ArrowType::Interval(IntervalUnit::YearMonth) => {
            Arc::new(array.as_primitive::<IntervalYearMonthType>().unary::<_, Float64Type>(f64::from))
        }
        ArrowType::Duration(_) => {
            Arc::new(array.as_primitive::<DurationMicrosecondType>().unary::<_, Float64Type>(|v| v as f64))
        }
        _ => cast(array, &ArrowType::Float64)?,
    })
}

impl PercentileStates {
    /// The rank of the first of the sorted `values` with that many rows up to it.
    fn at(values: &[(f64, i64)], rank: f64) -> f64 {
        let index = values.partition_point(|(_, up_to)| (*up_to as f64) < rank);
        values.get(index).or(values.last()).map_or(f64::NAN, |(value, _)| *value)
    }

    fn percentile(&self, values: &[(f64, i64)], percentage: f64) -> f64 {
        let total = values.last().map_or(0, |(_, up_to)| *up_to);
        if self.options.discrete {
            return Self::at(values, (total as f64 * percentage).ceil());
        }
        let position = (total - 1) as f64 * percentage;
        let (below, above) = (position.floor(), position.ceil());
        let lower = Self::at(values, below + 1.0);
        if below == above {
            return lower;
        }
        let higher = Self::at(values, above + 1.0);
        if higher == lower {
            return lower;
        }
        (above - position) * lower + (position - below) * higher
    }

    fn result_array(&self, values: Vec<f64>, nulls: Option<NullBuffer>, data_type: &ArrowType) -> ArrayRef {
        match data_type {
            ArrowType::Interval(IntervalUnit::YearMonth) => super::number::array_of::<IntervalYearMonthType>(
                values.into_iter().map(|v| v as i32).collect(),
                nulls,
                data_type,
            ),
            ArrowType::Duration(_) => super::number::array_of::<DurationMicrosecondType>(
                values.into_iter().map(|v| v as i64).collect(),
                nulls,
                data_type,
            ),
            _ => Arc::new(Float64Array::new(values.into(), nulls)),
        }
    }
}

impl States for PercentileStates {
    fn state_types(&self) -> Vec<ArrowType> {
        self.values.state_types()
    }

    fn resize(&mut self, groups: usize) {
        self.values.resize(groups);
    }

    fn update(&mut self, arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let doubles = to_doubles(column(arguments, 0)?)?;
        if !self.has_frequency {
            let nulls = doubles.nulls().cloned();
            return self.values.push(&[doubles], rows, nulls.as_ref());
        }
        let frequencies: &Int64Array = typed(arguments, 1)?;
        let nulls = NullBuffer::union(doubles.nulls(), frequencies.nulls());
        rows.try_for_each(nulls.as_ref(), |row, _| {
            let frequency = frequencies.value(row);
            if frequency < 0 {
                return Err(self.call.error(
                    SparkError::new("NEGATIVE_VALUES_IN_FREQUENCY_EXPRESSION")
                        .with("frequencyExpression", "\"frequency\"")
                        .with("negativeValue", format!("{frequency}L")),
                ));
            }
            Ok(())
        })?;
        let columns = [doubles, Arc::clone(column(arguments, 1)?)];
        self.values.push(&columns, rows, nulls.as_ref())
    }

    fn merge(&mut self, states: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        self.values.merge(states, rows)
    }

    fn state(&self) -> DfResult<Vec<ArrayRef>> {
        self.values.state()
    }

    fn evaluate(&self) -> DfResult<ArrayRef> {
        let (offsets, columns) = self.values.sorted()?;
        let doubles = column(&columns, 0)?.as_primitive::<Float64Type>();
        let frequencies = columns.get(1).map(|c| c.as_primitive::<Int64Type>());
        let mut results = Vec::with_capacity(self.values.groups() * self.percentages.values.len());
        let mut valid = Vec::with_capacity(self.values.groups());
        for range in offsets.windows(2) {
            let (start, end) = (range[0] as usize, range[1] as usize);
            let mut values: Vec<(f64, i64)> = (start..end)
                .map(|i| (doubles.value(i), frequencies.map_or(1, |f| f.value(i))))
                .filter(|(_, count)| *count > 0)
                .collect();
            values.sort_by(|a, b| compare(a.0, b.0));
            if self.options.descending {
                values.reverse();
            }
            let mut up_to = 0;
            for (_, count) in &mut values {
                up_to += *count;
                *count = up_to;
            }
            let is_set = !values.is_empty() && !self.percentages.values.is_empty();
            valid.push(is_set);
            if is_set {
                results.extend(self.percentages.values.iter().map(|p| self.percentile(&values, *p)));
            } else if !self.percentages.is_array {
                results.push(0.0);
            }
        }
        let nulls = valid.contains(&false).then(|| NullBuffer::from(valid.clone()));
        let return_type = self.call.arrow_return();
        let ArrowType::List(field) = &return_type else {
            return Ok(self.result_array(results, nulls, &return_type));
        };
        let lengths = valid.iter().map(|v| if *v { self.percentages.values.len() } else { 0 });
        let offsets = OffsetBuffer::from_lengths(lengths);
        let elements = self.result_array(results, None, field.data_type());
        Ok(Arc::new(ListArray::try_new(Arc::clone(field), offsets, elements, nulls)?))
    }

    fn take_first(&mut self, groups: usize) -> DfResult<Box<dyn States>> {
        Ok(Box::new(Self {
            call: self.call.clone(),
            options: self.options,
            percentages: self.percentages.clone(),
            has_frequency: self.has_frequency,
            values: self.values.take_first(groups)?,
        }))
    }

    fn size(&self) -> usize {
        self.values.size()
    }
}

/// Spark's order of doubles: NaN is the greatest.
pub fn compare(a: f64, b: f64) -> std::cmp::Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// The error of a result type that a kernel was not made for.
pub fn unexpected(data_type: &ArrowType) -> DataFusionError {
    DataFusionError::Internal(format!("a percentile of type {data_type}"))
}
