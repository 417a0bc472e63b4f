//! `percentile_approx` and `approx_percentile`.

use super::fold::{Fold, Folded};
use super::percentile::{Percentages, compare, to_doubles, unexpected};
use super::states::{Rows, States, column, typed};
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, any, constant, declare};
use crate::{AggregateCall, ArgType, BuildContext, Function, Signature, TypedExpr, coercion};
use arrow::array::Float64Builder;
use arrow::array::{
    Array, ArrayRef, AsArray, Float32Array, Float64Array, Int64Array, Int64Builder, ListArray, ListBuilder,
    PrimitiveArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Decimal128Type, Field, Float64Type, Int64Type};
use datafusion::common::Result as DfResult;
use datafusion::scalar::ScalarValue;
use firesteel_error::Result;
use firesteel_types::DataType;
use std::sync::Arc;

const SIGNATURE: Signature = Signature::with_optional(&[any("col"), any("percentage"), any("accuracy")], 1);
const USAGE: &str = "percentile_approx(col, percentage[, accuracy]) - Returns a value of the group whose rank is near \
                     the percentage, by default within a ten-thousandth of the rows.";

pub static FUNCTIONS: &[&Function] = &[
    &declare("percentile_approx", &[], SIGNATURE, |c, a| build("percentile_approx", c, a), USAGE),
    &declare("approx_percentile", &[], SIGNATURE, |c, a| build("approx_percentile", c, a), USAGE),
];

pub static KERNEL: Kernel = Kernel { name: "percentile_approx", states: new_states, over_nothing: OverNothing::Null };

const DEFAULT_ACCURACY: i64 = 10_000;

fn build(name: &'static str, context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new(name, call);
    if call.call.arguments.len() < 3 {
        let names: Vec<&str> = call.call.arguments.iter().map(|a| a.name.as_str()).collect();
        let distinct = if call.call.is_distinct { "DISTINCT " } else { "" };
        call.text = format!("{name}({distinct}{}, {DEFAULT_ACCURACY})", names.join(", "));
    }
    let percentages = Percentages::of(&call.text, call.argument(1)?)?;
    let accuracy = match call.call.arguments.get(2) {
        None => DEFAULT_ACCURACY,
        Some(argument) => {
            let value = constant::required(&call.text, "accuracy", "\"INTEGRAL\"", argument)?;
            match value.cast_to(&ArrowType::Int64) {
                _ if value.is_null() => return Err(constant::unexpected_null(&call.text, "accuracy")),
                Ok(ScalarValue::Int64(Some(accuracy))) if argument.data_type.is_integral() => accuracy,
                _ => return Err(coercion::mismatch::unexpected_input(&call.text, 2, ArgType::Integral, argument)),
            }
        }
    };
    if !(1..=i64::from(i32::MAX)).contains(&accuracy) {
        return Err(constant::out_of_range(&call.text, "accuracy", "(0, 2147483647]", format!("{accuracy}L")));
    }
    call.call.arguments.truncate(1);
    let element = match call.argument_type(0)? {
        t if t.is_datetime() => t,
        _ => call.numeric_or_interval(context)?,
    };
    let returns = if percentages.is_array { DataType::array(element, false) } else { element };
    let payload = format!("{accuracy};{}", percentages.payload());
    call.aggregate(&KERNEL, context, returns, true, Some(&payload))
}

fn new_states(call: &Call, _: &[ArrowType]) -> DfResult<Box<dyn States>> {
    let (accuracy, percentages) = call.payload().split_once(';').unwrap_or(("10000", "0.5"));
    let accuracy: f64 = accuracy.parse().unwrap_or(DEFAULT_ACCURACY as f64);
    Ok(Folded::boxed(DigestFold {
        error: 1.0 / accuracy,
        percentages: Percentages::parse(percentages),
        return_type: call.arrow_return(),
    }))
}

/// Values are sorted into the summary when there are so many.
const HEAD_SIZE: usize = 50_000;
/// The summary is thinned out when it has so many samples.
const COMPRESS_THRESHOLD: usize = 10_000;

/// A sample that stands for `gap` values, up to a rank that is uncertain by `delta`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sample {
    value: f64,
    gap: i64,
    delta: i64,
}

/// The summary of Greenwald and Khanna, with the same buffers and rounding as Spark's.
#[derive(Debug, Clone, Default)]
struct Digest {
    samples: Vec<Sample>,
    head: Vec<f64>,
    count: i64,
    is_compressed: bool,
}

impl Digest {
    fn insert(&mut self, value: f64, error: f64) {
        self.head.push(value);
        self.is_compressed = false;
        if self.head.len() >= HEAD_SIZE {
            self.insert_head(error);
            if self.samples.len() >= COMPRESS_THRESHOLD {
                self.compress(error);
            }
        }
    }

    fn insert_head(&mut self, error: f64) {
        if self.head.is_empty() {
            return;
        }
        let mut head = std::mem::take(&mut self.head);
        head.sort_by(|a, b| compare(*a, *b));
        let old = std::mem::take(&mut self.samples);
        let mut samples = Vec::with_capacity(old.len() + head.len());
        let mut rest = old.iter().copied().peekable();
        for (index, value) in head.iter().enumerate() {
            while let Some(sample) = rest.next_if(|s| compare(s.value, *value).is_le()) {
                samples.push(sample);
            }
            self.count += 1;
            let is_end = samples.is_empty() || (rest.peek().is_none() && index + 1 == head.len());
            let delta = if is_end { 0 } else { (2.0 * error * self.count as f64).floor() as i64 };
            samples.push(Sample { value: *value, gap: 1, delta });
        }
        samples.extend(rest);
        self.samples = samples;
    }

    fn compress(&mut self, error: f64) {
        if self.is_compressed {
            return;
        }
        self.insert_head(error);
        self.samples = thinned(&self.samples, 2.0 * error * self.count as f64);
        self.is_compressed = true;
    }

    fn merge(&mut self, mut other: Self, error: f64) {
        self.compress(error);
        other.compress(error);
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = other;
            return;
        }
        let more_own = (2.0 * error * other.count as f64).floor() as i64;
        let more_other = (2.0 * error * self.count as f64).floor() as i64;
        let mut merged = Vec::with_capacity(self.samples.len() + other.samples.len());
        let (mut own, mut others) = (0, 0);
        while let (Some(a), Some(b)) = (self.samples.get(own), other.samples.get(others)) {
            let (sample, more) = if compare(a.value, b.value).is_lt() {
                own += 1;
                (a, if others > 0 { more_own } else { 0 })
            } else {
                others += 1;
                (b, if own > 0 { more_other } else { 0 })
            };
            merged.push(Sample { delta: sample.delta + more, ..*sample });
        }
        merged.extend_from_slice(&self.samples[own..]);
        merged.extend_from_slice(&other.samples[others..]);
        self.count += other.count;
        self.samples = thinned(&merged, 2.0 * error * self.count as f64);
        self.is_compressed = true;
    }

    /// The values of the percentages, of a compressed summary that is not empty.
    fn query(&self, percentages: &[f64], error: f64) -> Vec<f64> {
        let uncertainty = self.samples.iter().map(|s| s.delta + s.gap).max().unwrap_or(0) as f64 / 2.0;
        let (first, last) = match (self.samples.first(), self.samples.last()) {
            (Some(first), Some(last)) => (first.value, last.value),
            _ => return Vec::new(),
        };
        let find = |percentage: f64| {
            if percentage <= error || self.samples.len() == 1 {
                return first;
            }
            if percentage >= 1.0 - error {
                return last;
            }
            let rank = (percentage * self.count as f64).ceil();
            let mut least = 0;
            for sample in &self.samples[..self.samples.len() - 1] {
                least += sample.gap;
                let most = least + sample.delta;
                if most as f64 - uncertainty <= rank && rank <= least as f64 + uncertainty {
                    return sample.value;
                }
            }
            last
        };
        percentages.iter().map(|p| find(*p)).collect()
    }
}

/// Joins neighbours as long as the ranks stay certain enough.
fn thinned(samples: &[Sample], threshold: f64) -> Vec<Sample> {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else {
        return Vec::new();
    };
    let mut kept = Vec::new();
    let mut head = *last;
    for sample in samples.iter().skip(1).rev().skip(1) {
        if ((sample.gap + head.gap + head.delta) as f64) < threshold {
            head.gap += sample.gap;
        } else {
            kept.push(head);
            head = *sample;
        }
    }
    kept.push(head);
    if compare(first.value, head.value).is_le() && samples.len() > 1 {
        kept.push(*first);
    }
    kept.reverse();
    kept
}

#[derive(Debug, Clone)]
struct DigestFold {
    error: f64,
    percentages: Percentages,
    return_type: ArrowType,
}

/// Doubles as values of the type that they were made from.
pub fn from_doubles(values: Vec<f64>, nulls: Option<NullBuffer>, data_type: &ArrowType) -> DfResult<ArrayRef> {
    Ok(match data_type {
        ArrowType::Float64 => Arc::new(Float64Array::new(values.into(), nulls)),
        ArrowType::Float32 => Arc::new(Float32Array::new(values.into_iter().map(|v| v as f32).collect(), nulls)),
        ArrowType::Decimal128(precision, scale) => {
            let factor = 10f64.powi(i32::from(*scale));
            let values = values.into_iter().map(|v| (v * factor).round() as i128).collect();
            let array = PrimitiveArray::<Decimal128Type>::new(values, nulls);
            Arc::new(array.with_precision_and_scale(*precision, *scale)?)
        }
        ArrowType::Interval(_) => super::number::array_of::<arrow::datatypes::IntervalYearMonthType>(
            values.into_iter().map(|v| v as i32).collect(),
            nulls,
            data_type,
        ),
        ArrowType::Date32 => super::number::array_of::<arrow::datatypes::Date32Type>(
            values.into_iter().map(|v| v as i32).collect(),
            nulls,
            data_type,
        ),
        other => {
            let longs: ArrayRef = Arc::new(Int64Array::new(values.into_iter().map(|v| v as i64).collect(), nulls));
            cast(&longs, other).map_err(|_| unexpected(other))?
        }
    })
}

/// Any value that percentiles are taken of, as a double.
pub fn doubles_of(array: &ArrayRef) -> DfResult<ArrayRef> {
    match array.data_type() {
        ArrowType::Date32 => Ok(cast(&cast(array, &ArrowType::Int32)?, &ArrowType::Float64)?),
        ArrowType::Timestamp(..) => Ok(cast(&cast(array, &ArrowType::Int64)?, &ArrowType::Float64)?),
        _ => to_doubles(array),
    }
}

fn list_type(element: ArrowType) -> ArrowType {
    ArrowType::List(Arc::new(Field::new("item", element, true)))
}

impl Fold for DigestFold {
    type State = Digest;

    fn state_types(&self) -> Vec<ArrowType> {
        vec![list_type(ArrowType::Float64), list_type(ArrowType::Int64), list_type(ArrowType::Int64), ArrowType::Int64]
    }

    fn update(&self, states: &mut [Digest], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let array = doubles_of(column(arguments, 0)?)?;
        let doubles = array.as_primitive::<Float64Type>();
        rows.for_each(doubles.nulls(), |row, group| states[group].insert(doubles.value(row), self.error));
        Ok(())
    }

    fn merge(&self, states: &mut [Digest], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let lists = (0..3).map(|i| typed::<ListArray>(columns, i)).collect::<DfResult<Vec<_>>>()?;
        let counts: &Int64Array = typed(columns, 3)?;
        rows.for_each(None, |row, group| {
            let (values, gaps, deltas) = (lists[0].value(row), lists[1].value(row), lists[2].value(row));
            let values = values.as_primitive::<Float64Type>();
            let (gaps, deltas) = (gaps.as_primitive::<Int64Type>(), deltas.as_primitive::<Int64Type>());
            let samples = (0..values.len())
                .map(|i| Sample { value: values.value(i), gap: gaps.value(i), delta: deltas.value(i) })
                .collect();
            let other = Digest { samples, head: Vec::new(), count: counts.value(row), is_compressed: true };
            states[group].merge(other, self.error);
        });
        Ok(())
    }

    fn state(&self, states: &[Digest]) -> DfResult<Vec<ArrayRef>> {
        let mut values = ListBuilder::new(Float64Builder::new());
        let mut gaps = ListBuilder::new(Int64Builder::new());
        let mut deltas = ListBuilder::new(Int64Builder::new());
        let mut counts = Vec::with_capacity(states.len());
        for state in states {
            let mut state = state.clone();
            state.compress(self.error);
            for sample in &state.samples {
                values.values().append_value(sample.value);
                gaps.values().append_value(sample.gap);
                deltas.values().append_value(sample.delta);
            }
            values.append(true);
            gaps.append(true);
            deltas.append(true);
            counts.push(state.count);
        }
        Ok(vec![
            Arc::new(values.finish()),
            Arc::new(gaps.finish()),
            Arc::new(deltas.finish()),
            Arc::new(Int64Array::from(counts)),
        ])
    }

    fn evaluate(&self, states: &[Digest]) -> DfResult<ArrayRef> {
        let mut results = Vec::new();
        let mut valid = Vec::with_capacity(states.len());
        for state in states {
            let has_values = state.count > 0 || !state.head.is_empty();
            let is_set = has_values && !self.percentages.values.is_empty();
            valid.push(is_set);
            if is_set {
                let mut state = state.clone();
                state.compress(self.error);
                results.extend(state.query(&self.percentages.values, self.error));
            } else if !self.percentages.is_array {
                results.push(0.0);
            }
        }
        let nulls = valid.contains(&false).then(|| NullBuffer::from(valid.clone()));
        let ArrowType::List(field) = &self.return_type else {
            return from_doubles(results, nulls, &self.return_type);
        };
        let lengths = valid.iter().map(|v| if *v { self.percentages.values.len() } else { 0 });
        let elements = from_doubles(results, None, field.data_type())?;
        Ok(Arc::new(ListArray::try_new(Arc::clone(field), OffsetBuffer::from_lengths(lengths), elements, nulls)?))
    }

    fn heap_size(&self, state: &Digest) -> usize {
        state.samples.capacity() * size_of::<Sample>() + state.head.capacity() * size_of::<f64>()
    }
}
