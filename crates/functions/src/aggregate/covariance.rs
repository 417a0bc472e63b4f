//! Covariance, correlation, and what linear regression makes of them.

use super::fold::{Fold, Folded};
use super::moments::degrees_of_freedom;
use super::states::{Rows, States, typed};
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, TWO_DOUBLES, any, declare, declare_internal, double};
use crate::{AggregateCall, BuildContext, Function, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, Float64Array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::Result as DfResult;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;

macro_rules! bivariate {
    ($name:literal, $usage:literal) => {
        &declare($name, &[], TWO_DOUBLES, |c, a| build($name, c, a), $usage)
    };
}

pub static FUNCTIONS: &[&Function] = &[
    bivariate!("corr", "corr(expr1, expr2) - Returns Pearson's coefficient of correlation of pairs of numbers."),
    bivariate!("covar_pop", "covar_pop(expr1, expr2) - Returns the population covariance of pairs of numbers."),
    bivariate!("covar_samp", "covar_samp(expr1, expr2) - Returns the sample covariance of pairs of numbers."),
    bivariate!("regr_r2", "regr_r2(y, x) - Returns the coefficient of determination of pairs without nulls."),
    bivariate!("regr_sxy", "regr_sxy(y, x) - Returns count times population covariance of pairs without nulls."),
    bivariate!("regr_slope", "regr_slope(y, x) - Returns the slope of the regression line of pairs without nulls."),
    bivariate!(
        "regr_intercept",
        "regr_intercept(y, x) - Returns the intercept of the regression line of pairs without nulls."
    ),
    &declare_internal(
        "pandas_covar",
        Signature::of(&[double("expr1"), double("expr2"), any("ddof")]),
        build_pandas,
        "pandas_covar(expr1, expr2, ddof) - Returns the covariance of pairs of numbers.",
    ),
];

pub static KERNEL: Kernel = Kernel { name: "comoments", states: new_states, over_nothing: OverNothing::Null };

fn build(name: &'static str, context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    AggregateContext::new(name, call).aggregate(&KERNEL, context, DataType::Double, true, Some(name))
}

fn build_pandas(context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new("pandas_covar", call);
    let freedom = degrees_of_freedom(&call, 2)?;
    call.call.arguments.truncate(2);
    call.text = format!("pandas_covar({}, {})", call.argument(0)?.name, call.argument(1)?.name);
    call.aggregate(&KERNEL, context, DataType::Double, true, Some(&format!("covar {freedom}")))
}

/// What is made of the comoments of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Statistic {
    /// The covariance with that many degrees of freedom.
    Covar(i64),
    Corr,
    CovarPop,
    CovarSamp,
    RegrR2,
    RegrSxy,
    RegrSlope,
    RegrIntercept,
}

fn new_states(call: &Call, _: &[ArrowType]) -> DfResult<Box<dyn States>> {
    let freedom = call.payload().strip_prefix("covar ").and_then(|freedom| freedom.parse().ok());
    let statistic = match call.payload() {
        _ if freedom.is_some() => Statistic::Covar(freedom.unwrap_or(0)),
        "corr" => Statistic::Corr,
        "covar_pop" => Statistic::CovarPop,
        "covar_samp" => Statistic::CovarSamp,
        "regr_r2" => Statistic::RegrR2,
        "regr_sxy" => Statistic::RegrSxy,
        "regr_slope" => Statistic::RegrSlope,
        _ => Statistic::RegrIntercept,
    };
    Ok(Folded::boxed(ComomentFold { call: call.clone(), statistic }))
}

/// Count, means and second moments of pairs.
#[derive(Debug, Clone, Copy, Default)]
struct Comoments {
    count: f64,
    mean_x: f64,
    mean_y: f64,
    both: f64,
    second_x: f64,
    second_y: f64,
}

impl Comoments {
    /// Takes in a pair; `is_variance`: the second moment of x in the form that variances use,
    /// which rounds otherwise.
    #[inline]
    fn add(&mut self, x: f64, y: f64, is_variance: bool) {
        self.count += 1.0;
        let (dx, dy) = (x - self.mean_x, y - self.mean_y);
        let (dx_n, dy_n) = (dx / self.count, dy / self.count);
        self.mean_x += dx_n;
        self.mean_y += dy_n;
        self.both += dx * (y - self.mean_y);
        self.second_x += if is_variance { dx * (dx - dx_n) } else { dx * (x - self.mean_x) };
        self.second_y += dy * (y - self.mean_y);
    }

    fn merge(&mut self, other: &Self) {
        let (a, b) = (*self, *other);
        let (n1, n2) = (a.count, b.count);
        let count = n1 + n2;
        let (dx, dy) = (b.mean_x - a.mean_x, b.mean_y - a.mean_y);
        let (dx_n, dy_n) = if count == 0.0 { (0.0, 0.0) } else { (dx / count, dy / count) };
        *self = Self {
            count,
            mean_x: a.mean_x + dx_n * n2,
            mean_y: a.mean_y + dy_n * n2,
            both: a.both + b.both + dx * dy_n * n1 * n2,
            second_x: a.second_x + b.second_x + dx * dx_n * n1 * n2,
            second_y: a.second_y + b.second_y + dy * dy_n * n1 * n2,
        };
    }
}

#[derive(Debug, Clone)]
struct ComomentFold {
    call: Call,
    statistic: Statistic,
}

impl ComomentFold {
    /// A regression line is of the first argument over the second.
    fn is_line(&self) -> bool {
        matches!(self.statistic, Statistic::RegrSlope | Statistic::RegrIntercept)
    }

    fn correlation(&self, m: &Comoments) -> DfResult<Option<f64>> {
        let divisor = (m.second_x * m.second_y).sqrt();
        if divisor == 0.0 {
            if self.call.ansi {
                return Err(self
                    .call
                    .error(SparkError::new("DIVIDE_BY_ZERO").with("config", "\"spark.sql.ansi.enabled\"")));
            }
            return Ok(None);
        }
        Ok(Some(m.both / divisor))
    }

    fn result(&self, m: &Comoments) -> DfResult<Option<f64>> {
        Ok(match self.statistic {
            Statistic::Corr if m.count <= 1.0 => None,
            Statistic::Corr => self.correlation(m)?,
            Statistic::Covar(freedom) => {
                (m.count > 0.0 && m.count != freedom as f64).then(|| m.both / (m.count - freedom as f64))
            }
            Statistic::CovarPop => (m.count > 0.0).then(|| m.both / m.count),
            Statistic::CovarSamp => (m.count > 1.0).then(|| m.both / (m.count - 1.0)),
            Statistic::RegrSxy => (m.count > 0.0).then_some(m.both),
            // The second argument is the independent variable.
            Statistic::RegrR2 if m.second_y == 0.0 => None,
            Statistic::RegrR2 if m.second_x == 0.0 => Some(1.0),
            Statistic::RegrR2 => self.correlation(m)?.map(|c| c * c),
            Statistic::RegrSlope => (m.second_x != 0.0).then(|| m.both / m.second_x),
            Statistic::RegrIntercept => (m.second_x != 0.0).then(|| m.mean_y - m.both / m.second_x * m.mean_x),
        })
    }
}

impl Fold for ComomentFold {
    type State = Comoments;

    fn state_types(&self) -> Vec<ArrowType> {
        vec![ArrowType::Float64; 6]
    }

    fn update(&self, states: &mut [Comoments], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let is_line = self.is_line();
        let (x, y) = if is_line { (1, 0) } else { (0, 1) };
        let (x, y): (&Float64Array, &Float64Array) = (typed(arguments, x)?, typed(arguments, y)?);
        let nulls = NullBuffer::union(x.nulls(), y.nulls());
        rows.for_each(nulls.as_ref(), |row, group| states[group].add(x.value(row), y.value(row), is_line));
        Ok(())
    }

    fn merge(&self, states: &mut [Comoments], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let column = |i| typed::<Float64Array>(columns, i);
        let (count, mean_x, mean_y) = (column(0)?, column(1)?, column(2)?);
        let (both, second_x, second_y) = (column(3)?, column(4)?, column(5)?);
        rows.for_each(None, |row, group| {
            states[group].merge(&Comoments {
                count: count.value(row),
                mean_x: mean_x.value(row),
                mean_y: mean_y.value(row),
                both: both.value(row),
                second_x: second_x.value(row),
                second_y: second_y.value(row),
            });
        });
        Ok(())
    }

    fn state(&self, states: &[Comoments]) -> DfResult<Vec<ArrayRef>> {
        let parts: [fn(&Comoments) -> f64; 6] =
            [|m| m.count, |m| m.mean_x, |m| m.mean_y, |m| m.both, |m| m.second_x, |m| m.second_y];
        let column = |part: &fn(&Comoments) -> f64| Arc::new(Float64Array::from_iter_values(states.iter().map(part)));
        Ok(parts.iter().map(|p| column(p) as ArrayRef).collect())
    }

    fn evaluate(&self, states: &[Comoments]) -> DfResult<ArrayRef> {
        let values = states.iter().map(|m| self.result(m)).collect::<DfResult<Vec<_>>>()?;
        Ok(Arc::new(Float64Array::from(values)))
    }
}
