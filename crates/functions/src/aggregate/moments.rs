//! Variance, standard deviation, skewness and kurtosis.

use super::fold::{Fold, Folded};
use super::states::{Rows, States, typed};
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, ONE_DOUBLE, any, constant, declare, declare_internal, double};
use crate::scalar::string::constant::integer_of;
use crate::{AggregateCall, BuildContext, Function, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, Float64Array};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::Result as DfResult;
use firesteel_error::Result;
use firesteel_types::DataType;
use std::sync::Arc;

macro_rules! moment {
    ($name:literal, $statistic:literal, $usage:literal) => {
        &declare($name, &[], ONE_DOUBLE, |c, a| build($name, $statistic, c, a), $usage)
    };
}

/// What pandas-on-Spark calls.
macro_rules! pandas {
    ($name:literal, $signature:expr, $usage:literal) => {
        &declare_internal($name, $signature, |c, a| build_pandas($name, c, a), $usage)
    };
}

pub static FUNCTIONS: &[&Function] = &[
    moment!("stddev", "stddev_samp", "stddev(expr) - Returns the sample standard deviation of a group."),
    moment!("std", "stddev_samp", "std(expr) - Returns the sample standard deviation of a group."),
    moment!("stddev_samp", "stddev_samp", "stddev_samp(expr) - Returns the sample standard deviation of a group."),
    moment!("stddev_pop", "stddev_pop", "stddev_pop(expr) - Returns the population standard deviation of a group."),
    moment!("variance", "var_samp", "variance(expr) - Returns the sample variance of a group."),
    moment!("var_samp", "var_samp", "var_samp(expr) - Returns the sample variance of a group."),
    moment!("var_pop", "var_pop", "var_pop(expr) - Returns the population variance of a group."),
    moment!("skewness", "skewness", "skewness(expr) - Returns the skewness of the values of a group."),
    moment!("kurtosis", "kurtosis", "kurtosis(expr) - Returns the excess kurtosis of the values of a group."),
    pandas!("pandas_stddev", ONE_AND_FREEDOM, "pandas_stddev(expr, ddof) - Returns the standard deviation of a group."),
    pandas!("pandas_var", ONE_AND_FREEDOM, "pandas_var(expr, ddof) - Returns the variance of a group."),
    pandas!("pandas_skew", ONE_DOUBLE, "pandas_skew(expr) - Returns the unbiased skewness of a group."),
    pandas!("pandas_kurt", ONE_DOUBLE, "pandas_kurt(expr) - Returns the unbiased kurtosis of a group."),
];

const ONE_AND_FREEDOM: Signature = Signature::of(&[double("expr"), any("ddof")]);

pub static KERNEL: Kernel = Kernel { name: "moments", states: new_states, over_nothing: OverNothing::Null };

fn build(
    name: &'static str,
    statistic: &'static str,
    context: &mut BuildContext<'_>,
    call: AggregateCall,
) -> Result<TypedExpr> {
    AggregateContext::new(name, call).aggregate(&KERNEL, context, DataType::Double, true, Some(statistic))
}

fn build_pandas(name: &'static str, context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new(name, call);
    let freedom = degrees_of_freedom(&call, 1)?;
    call.call.arguments.truncate(1);
    let shown = match name {
        "pandas_var" => "pandas_variance",
        "pandas_skew" => "pandas_skewness",
        "pandas_kurt" => "pandas_kurtosis",
        other => other,
    };
    call.text = format!("{shown}({})", call.argument(0)?.name);
    call.aggregate(&KERNEL, context, DataType::Double, true, Some(&format!("{name} {freedom}")))
}

/// The constant degrees of freedom of a call; 0 where it has none.
pub(super) fn degrees_of_freedom(call: &AggregateContext, index: usize) -> Result<i64> {
    match call.call.arguments.get(index) {
        Some(argument) => {
            let value = constant::required(&call.text, "ddof", "\"INT\"", argument)?;
            Ok(integer_of(&value).unwrap_or(0))
        }
        None => Ok(0),
    }
}

fn new_states(call: &Call, _: &[ArrowType]) -> DfResult<Box<dyn States>> {
    let (statistic, freedom) = call.payload().split_once(' ').unwrap_or((call.payload(), "0"));
    let freedom: i64 = freedom.parse().unwrap_or(0);
    let (order, result): (usize, fn(&Moments, f64) -> Option<f64>) = match statistic {
        "pandas_stddev" => (2, |m, freedom| m.variance(freedom).map(f64::sqrt)),
        "pandas_var" => (2, Moments::variance),
        "pandas_skew" => (3, |m, _| m.unbiased_skewness()),
        "pandas_kurt" => (4, |m, _| m.unbiased_kurtosis()),
        "stddev_samp" => (2, |m, _| m.sample_variance().map(f64::sqrt)),
        "stddev_pop" => (2, |m, _| m.population_variance().map(f64::sqrt)),
        "var_samp" => (2, |m, _| m.sample_variance()),
        "var_pop" => (2, |m, _| m.population_variance()),
        "sum_of_squares" => (2, |m, _| (m.count > 0.0).then_some(m.second)),
        "skewness" => (3, |m, _| m.skewness()),
        _ => (4, |m, _| m.kurtosis()),
    };
    Ok(Folded::boxed(MomentFold { order, result, freedom: freedom as f64 }))
}

/// A moment, 0 where it is that only by rounding.
fn without_noise(moment: f64) -> f64 {
    if moment.abs() < 1e-14 { 0.0 } else { moment }
}

/// Count, mean and central moments, updated one value at a time.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    count: f64,
    mean: f64,
    second: f64,
    third: f64,
    fourth: f64,
}

impl Moments {
    #[inline]
    fn add(&mut self, value: f64, order: usize) {
        self.count += 1.0;
        let delta = value - self.mean;
        let delta_n = delta / self.count;
        self.mean += delta_n;
        self.second += delta * (delta - delta_n);
        if order > 2 {
            let (delta2, delta_n2) = (delta * delta, delta_n * delta_n);
            self.third = self.third - 3.0 * delta_n * self.second + delta * (delta2 - delta_n2);
            if order > 3 {
                self.fourth = self.fourth - 4.0 * delta_n * self.third - 6.0 * delta_n2 * self.second
                    + delta * (delta * delta2 - delta_n * delta_n2);
            }
        }
    }

    fn merge(&mut self, other: &Self, order: usize) {
        let (a, b) = (*self, *other);
        let (n1, n2) = (a.count, b.count);
        let count = n1 + n2;
        let delta = b.mean - a.mean;
        let delta_n = if count == 0.0 { 0.0 } else { delta / count };
        self.count = count;
        self.mean = a.mean + delta_n * n2;
        self.second = a.second + b.second + delta * delta_n * n1 * n2;
        if order > 2 {
            self.third = a.third
                + b.third
                + delta_n * delta_n * delta * n1 * n2 * (n1 - n2)
                + 3.0 * delta_n * (n1 * b.second - n2 * a.second);
        }
        if order > 3 {
            self.fourth = a.fourth
                + b.fourth
                + delta_n * delta_n * delta_n * delta * n1 * n2 * (n1 * n1 - n1 * n2 + n2 * n2)
                + 6.0 * delta_n * delta_n * (n1 * n1 * b.second + n2 * n2 * a.second)
                + 4.0 * delta_n * (n1 * b.third - n2 * a.third);
        }
    }

    fn population_variance(&self) -> Option<f64> {
        (self.count > 0.0).then(|| self.second / self.count)
    }

    fn sample_variance(&self) -> Option<f64> {
        (self.count > 1.0).then(|| self.second / (self.count - 1.0))
    }

    fn variance(&self, freedom: f64) -> Option<f64> {
        (self.count > 0.0 && self.count != freedom).then(|| self.second / (self.count - freedom))
    }

    fn unbiased_skewness(&self) -> Option<f64> {
        let (n, second, third) = (self.count, without_noise(self.second), without_noise(self.third));
        if n < 3.0 {
            return None;
        }
        if second == 0.0 {
            return Some(0.0);
        }
        Some((n - 1.0).sqrt() * (n / (n - 2.0)) * third / (second * second * second).sqrt())
    }

    fn unbiased_kurtosis(&self) -> Option<f64> {
        let n = self.count;
        if n < 4.0 {
            return None;
        }
        let adjustment = ((n - 1.0) / (n - 2.0)) * ((n - 1.0) / (n - 3.0)) * 3.0;
        let numerator = without_noise(n * (n + 1.0) * (n - 1.0) * self.fourth);
        let denominator = without_noise((n - 2.0) * (n - 3.0) * self.second * self.second);
        Some(if denominator == 0.0 { 0.0 } else { numerator / denominator - adjustment })
    }

    fn skewness(&self) -> Option<f64> {
        (self.count > 0.0 && self.second != 0.0)
            .then(|| self.count.sqrt() * self.third / (self.second * self.second * self.second).sqrt())
    }

    fn kurtosis(&self) -> Option<f64> {
        (self.count > 0.0 && self.second != 0.0).then(|| self.count * self.fourth / (self.second * self.second) - 3.0)
    }
}

#[derive(Debug, Clone)]
struct MomentFold {
    /// The highest moment that is kept.
    order: usize,
    result: fn(&Moments, f64) -> Option<f64>,
    /// What a variance takes from the count.
    freedom: f64,
}

impl Fold for MomentFold {
    type State = Moments;

    fn state_types(&self) -> Vec<ArrowType> {
        vec![ArrowType::Float64; self.order + 1]
    }

    fn update(&self, states: &mut [Moments], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let values: &Float64Array = typed(arguments, 0)?;
        let order = self.order;
        rows.for_each(values.nulls(), |row, group| states[group].add(values.value(row), order));
        Ok(())
    }

    fn merge(&self, states: &mut [Moments], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let columns = (0..=self.order).map(|i| typed::<Float64Array>(columns, i)).collect::<DfResult<Vec<_>>>()?;
        let part = |i: usize, row: usize| columns.get(i).map_or(0.0, |c| c.value(row));
        rows.for_each(None, |row, group| {
            let other = Moments {
                count: part(0, row),
                mean: part(1, row),
                second: part(2, row),
                third: part(3, row),
                fourth: part(4, row),
            };
            states[group].merge(&other, self.order);
        });
        Ok(())
    }

    fn state(&self, states: &[Moments]) -> DfResult<Vec<ArrayRef>> {
        let parts: [fn(&Moments) -> f64; 5] = [|m| m.count, |m| m.mean, |m| m.second, |m| m.third, |m| m.fourth];
        let column = |part: &fn(&Moments) -> f64| Arc::new(Float64Array::from_iter_values(states.iter().map(part)));
        Ok(parts.iter().take(self.order + 1).map(|p| column(p) as ArrayRef).collect())
    }

    fn evaluate(&self, states: &[Moments]) -> DfResult<ArrayRef> {
        Ok(Arc::new(states.iter().map(|m| (self.result)(m, self.freedom)).collect::<Float64Array>()))
    }
}
