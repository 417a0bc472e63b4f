//! Window functions that pandas-on-Spark calls: `ewm` and `null_index`.

use super::{declare_internal, over_nothing};
use crate::aggregate::constant;
use crate::{ArgType, BuildContext, Function, Param, Signature, TypedExpr, WindowCall, coercion};
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int32Array};
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef, Float64Type};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{
    LimitEffect, PartitionEvaluator, Signature as DfSignature, Volatility, WindowUDF, WindowUDFImpl,
};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

const fn any(name: &'static str) -> Param {
    Param { name, arg_type: ArgType::Any }
}

pub static FUNCTIONS: &[&Function] = &[
    &declare_internal(
        "ewm",
        Signature::of(&[any("input"), any("alpha"), any("ignoreNA")]),
        build_mean,
        "ewm(input, alpha, ignoreNA) - The mean of the rows up to a row, of which older ones weigh less.",
    ),
    &declare_internal(
        "null_index",
        Signature::of(&[any("input")]),
        build_index,
        "null_index(input) - The number of nulls in a row up to a row.",
    ),
];

fn build_mean(context: &mut BuildContext<'_>, call: WindowCall) -> Result<TypedExpr> {
    let [input, alpha, ignores] = call.arguments.as_slice() else {
        return Err(SparkError::internal("ewm takes three arguments"));
    };
    let text = format!("ewm({}, {}, {})", input.name, alpha.name, ignores.name);
    let constant = |argument: &TypedExpr, name: &str, wanted: &str| constant::required(&text, name, wanted, argument);
    let weight = match constant(alpha, "alpha", "\"DOUBLE\"")?.cast_to(&ArrowType::Float64) {
        Ok(ScalarValue::Float64(Some(weight))) => weight,
        _ => return Err(coercion::mismatch::unexpected_input(&text, 1, ArgType::Double, alpha)),
    };
    let ignores = constant(ignores, "ignoreNA", "\"BOOLEAN\"")? == ScalarValue::Boolean(Some(true));
    let input = coercion::coerce_argument(input.clone(), ArgType::Double, 0, &text, context)?;
    let function = Running::Mean { decay: 1.0 - weight, ignores_nulls: ignores };
    let expr = over_nothing(Arc::new(WindowUDF::new_from_impl(RunningUdf::new(function))), vec![input.expr], false);
    Ok(TypedExpr::new(expr, DataType::Double, true, text))
}

fn build_index(_: &mut BuildContext<'_>, call: WindowCall) -> Result<TypedExpr> {
    let [input] = call.arguments.as_slice() else {
        return Err(SparkError::internal("null_index takes one argument"));
    };
    let text = format!("null_index({})", input.name);
    let function = Arc::new(WindowUDF::new_from_impl(RunningUdf::new(Running::NullIndex)));
    let expr = over_nothing(function, vec![input.expr.clone()], false);
    Ok(TypedExpr::new(expr, DataType::Integer, true, text))
}

/// The function that a plan shows under this name, to rebuild a call from it; None for other names.
pub fn of_name(name: &str) -> Option<WindowUDF> {
    let function = match name.strip_prefix("ewm[").and_then(|rest| rest.strip_suffix(']')) {
        Some(settings) => {
            let (decay, ignores_nulls) = settings.split_once(' ')?;
            Running::Mean { decay: decay.parse().ok()?, ignores_nulls: ignores_nulls.parse().ok()? }
        }
        None if name == "null_index" => Running::NullIndex,
        None => return None,
    };
    Some(WindowUDF::new_from_impl(RunningUdf::new(function)))
}

/// What runs over the rows of a partition.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Running {
    Mean { decay: f64, ignores_nulls: bool },
    NullIndex,
}

/// A function of the rows from the first of a partition up to the current one.
#[derive(Debug, Clone)]
struct RunningUdf {
    function: Running,
    /// The name with what makes calls differ: plans tell calls apart by it.
    plan_name: String,
    signature: DfSignature,
}

impl RunningUdf {
    fn new(function: Running) -> Self {
        let plan_name = match function {
            Running::Mean { decay, ignores_nulls } => format!("ewm[{decay} {ignores_nulls}]"),
            Running::NullIndex => "null_index".to_string(),
        };
        Self { function, plan_name, signature: DfSignature::any(1, Volatility::Immutable) }
    }
}

impl PartialEq for RunningUdf {
    fn eq(&self, other: &Self) -> bool {
        self.function == other.function
    }
}

impl Eq for RunningUdf {}

impl Hash for RunningUdf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.plan_name.hash(state);
    }
}

impl WindowUDFImpl for RunningUdf {
    fn name(&self) -> &str {
        &self.plan_name
    }

    fn signature(&self) -> &DfSignature {
        &self.signature
    }

    fn partition_evaluator(&self, _: PartitionEvaluatorArgs<'_>) -> DfResult<Box<dyn PartitionEvaluator>> {
        Ok(Box::new(RunningEvaluator { function: self.function }))
    }

    fn field(&self, args: WindowUDFFieldArgs<'_>) -> DfResult<FieldRef> {
        Ok(Arc::new(match self.function {
            Running::Mean { .. } => Field::new(args.name(), ArrowType::Float64, true),
            Running::NullIndex => Field::new(args.name(), ArrowType::Int32, true),
        }))
    }

    fn limit_effect(&self, _: &[Arc<dyn PhysicalExpr>]) -> LimitEffect {
        LimitEffect::None
    }
}

#[derive(Debug)]
struct RunningEvaluator {
    function: Running,
}

impl PartitionEvaluator for RunningEvaluator {
    fn evaluate_all(&mut self, values: &[ArrayRef], number_rows: usize) -> DfResult<ArrayRef> {
        let input = values.first().ok_or_else(|| DataFusionError::Internal("no input".into()))?;
        Ok(match self.function {
            Running::Mean { decay, ignores_nulls } => Arc::new(running_mean(input, decay, ignores_nulls)),
            Running::NullIndex => {
                let nulls = input.logical_nulls();
                let mut index = 0;
                Arc::new(Int32Array::from_iter_values((0..number_rows).map(|row| {
                    index = if nulls.as_ref().is_some_and(|n| n.is_null(row)) { index + 1 } else { 0 };
                    index
                })))
            }
        })
    }
}

fn running_mean(input: &ArrayRef, decay: f64, ignores_nulls: bool) -> Float64Array {
    let (mut numerator, mut denominator) = (0.0, 0.0);
    input
        .as_primitive::<Float64Type>()
        .iter()
        .map(|value| {
            match value {
                Some(value) => {
                    numerator = numerator * decay + value;
                    denominator = denominator * decay + 1.0;
                }
                None if !ignores_nulls => {
                    numerator *= decay;
                    denominator *= decay;
                }
                None => {}
            }
            (denominator != 0.0).then(|| numerator / denominator)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Running, RunningUdf, of_name};
    use datafusion::logical_expr::WindowUDF;

    #[test]
    fn functions_are_found_by_the_names_that_plans_show() {
        for function in [Running::Mean { decay: 0.3, ignores_nulls: true }, Running::NullIndex] {
            let udf = WindowUDF::new_from_impl(RunningUdf::new(function));
            assert_eq!(of_name(udf.name()), Some(udf));
        }
        assert_eq!(of_name("row_number"), None);
    }
}
