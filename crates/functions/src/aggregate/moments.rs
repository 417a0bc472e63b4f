//! Variance, standard deviation, skewness and kurtosis.

use super::fold::{Fold, Folded};
use super::states::{Rows, States, typed};
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, ONE_DOUBLE, declare};
use crate::{AggregateCall, BuildContext, Function, TypedExpr};
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
];

pub static KERNEL: Kernel = Kernel { name: "moments", states: new_states, over_nothing: OverNothing::Null };

fn build(
    name: &'static str,
    statistic: &'static str,
    context: &mut BuildContext<'_>,
    call: AggregateCall,
) -> Result<TypedExpr> {
    AggregateContext::new(name, call).aggregate(&KERNEL, context, DataType::Double, true, Some(statistic))
}

fn new_states(call: &Call, _: &[ArrowType]) -> DfResult<Box<dyn States>> {
    let (order, result): (usize, fn(&Moments) -> Option<f64>) = match call.payload() {
        "stddev_samp" => (2, |m| m.sample_variance().map(f64::sqrt)),
        "stddev_pop" => (2, |m| m.population_variance().map(f64::sqrt)),
        "var_samp" => (2, Moments::sample_variance),
        "var_pop" => (2, Moments::population_variance),
        "sum_of_squares" => (2, |m| (m.count > 0.0).then_some(m.second)),
        "skewness" => (3, Moments::skewness),
        _ => (4, Moments::kurtosis),
    };
    Ok(Folded::boxed(MomentFold { order, result }))
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
    result: fn(&Moments) -> Option<f64>,
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
        Ok(Arc::new(states.iter().map(self.result).collect::<Float64Array>()))
    }
}
