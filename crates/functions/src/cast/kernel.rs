//! The kernel behind every cast that DataFusion does not do itself.

use super::array::{CastOptions, cast_array};
use super::{Mode, legality};
use crate::function::{Body, Documentation, Function, Group, Nullability, Returns};
use crate::{ArgType, BuildContext, KernelArgs, Param, Signature, TypedExpr};
use datafusion::logical_expr::{ColumnarValue, Expr};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, arrow_mapping};

/// The function that casts call: the target is its return type, the mode its payload.
pub static CAST: Function = Function {
    name: "cast",
    aliases: &[],
    group: Group::Conversion,
    signature: Signature::of(&[Param { name: "expr", arg_type: ArgType::Any }]),
    body: Body::Scalar { returns: Returns::SameAs(0), nullable: Nullability::Always, kernel: cast_kernel },
    deterministic: true,
    text: None,
    documentation: Documentation::EMPTY,
};

/// Casts the only argument to the return type.
pub(super) fn cast_kernel(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let mode = args
        .settings
        .payload
        .as_deref()
        .and_then(|payload| Mode::parse(payload.split(' ').next().unwrap_or_default()))
        .ok_or_else(|| SparkError::internal("a cast without its mode"))?;
    let options = args.prepared(|| CastOptions::new(mode, &args.settings.time_zone))?;
    let from = args.types.first().ok_or_else(|| SparkError::internal("a cast without a value"))?;
    match args.values.first() {
        Some(ColumnarValue::Scalar(value)) => {
            Ok(ColumnarValue::Scalar(cast_scalar(value, from, args.return_type, options)?))
        }
        _ => Ok(ColumnarValue::Array(cast_array(&args.array(0)?, from, args.return_type, options)?)),
    }
}

fn cast_scalar(value: &ScalarValue, from: &DataType, to: &DataType, options: &CastOptions) -> Result<ScalarValue> {
    let internal = |e: datafusion::common::DataFusionError| SparkError::internal(e.to_string());
    let array = value.to_array().map_err(internal)?;
    let plain = arrow_mapping::to_arrow(from);
    let array = if *array.data_type() == plain || from.is_nested() {
        array
    } else {
        arrow::compute::cast(&array, &plain).map_err(|e| SparkError::internal(e.to_string()))?
    };
    let result = cast_array(&array, from, to, options)?;
    crate::kernel::value_at(&result, 0).map_err(internal)
}

/// The literal that a cast of a literal is, if the cast succeeds.
pub fn fold(expr: &TypedExpr, to: &DataType, mode: Mode, context: &BuildContext<'_>) -> Option<Expr> {
    let value = expr.literal()?;
    if !legality::can_cast(&expr.data_type, to, mode) {
        return None;
    }
    let options = CastOptions::new(mode, &context.conf.time_zone).ok()?;
    let result = cast_scalar(value, &expr.data_type, to, &options).ok()?;
    Some(Expr::Literal(result, None))
}
