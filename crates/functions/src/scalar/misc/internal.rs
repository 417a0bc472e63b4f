//! Functions that clients and the analyzer call, and that are not listed.

use super::poisson::Poisson;
use crate::scalar::string::constant::{integer_of, value_of};
use crate::scalar::string::declare::{call_without_arguments, function, param};
use crate::{ArgType, Body, BuildContext, KernelArgs, Signature, TypedExpr};
use arrow::array::Int32Array;
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::{WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::{ColumnarValue, Expr, WindowFrame, WindowFunctionDefinition, cast, lit};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use parking_lot::Mutex;
use std::sync::Arc;

function! {
    /// `distributed_sequence_id()`; clients may send a column along
    DISTRIBUTED_SEQUENCE_ID = "distributed_sequence_id" in Internal,
        Signature::with_optional(&[param("expr", ArgType::Any)], 1) => Body::Build(|_, _| Ok(row_index()));
    volatile true;
    usage "The number of the row, from 0, in the order of the partitions.";
    since "4.0.0";
}
function! {
    /// `poisson_sample(fraction, seed)`
    POISSON_SAMPLE = "poisson_sample" in Internal,
        Signature::of(&[param("fraction", ArgType::Double), param("seed", ArgType::Long)])
        => Body::Build(build_poisson);
    volatile true;
    usage "How often a sample with replacement takes the row.";
    since "4.0.0";
}

fn row_index() -> TypedExpr {
    let window = WindowFunction {
        fun: WindowFunctionDefinition::WindowUDF(row_number_udwf()),
        params: WindowFunctionParams {
            args: Vec::new(),
            partition_by: Vec::new(),
            order_by: Vec::new(),
            window_frame: WindowFrame::new(None),
            filter: None,
            null_treatment: None,
            distinct: false,
        },
    };
    let number = cast(Expr::WindowFunction(Box::new(window)), arrow::datatypes::DataType::Int64);
    TypedExpr::new(number - lit(1i64), DataType::Long, false, "distributed_sequence_id()")
}

fn build_poisson(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let [fraction, seed] = arguments.as_slice() else {
        return Err(SparkError::internal("poisson_sample takes two arguments"));
    };
    let (Some(ScalarValue::Float64(Some(fraction))), Some(seed)) = (value_of(fraction)?, value_of(seed)?) else {
        return Err(SparkError::internal("poisson_sample takes constants"));
    };
    let payload = format!("{fraction} {}", integer_of(&seed).unwrap_or(0));
    call_without_arguments(&POISSON_SAMPLE, poisson_sample, DataType::Integer, Some(Arc::from(payload)), context)
}

fn poisson_sample(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let generator = args.prepared(|| {
        let payload = args.settings.payload.as_deref().unwrap_or_default();
        let (fraction, seed) = payload.split_once(' ').unwrap_or_default();
        let seed = partition_seed(seed.parse().unwrap_or(0), args.partition);
        Ok(Mutex::new(Poisson::new(fraction.parse().unwrap_or(0.0), seed)))
    })?;
    let mut generator = generator.lock();
    let counts: Int32Array = (0..args.number_rows).map(|_| Some(generator.next_count())).collect();
    Ok(ColumnarValue::Array(Arc::new(counts)))
}

/// The seed of a partition: as many draws of `java.util.Random` as there are partitions up to it.
pub(super) fn partition_seed(seed: i64, partition: i32) -> i64 {
    const MULTIPLIER: i64 = 0x5_DEEC_E66D;
    const MASK: i64 = (1 << 48) - 1;
    let mut state = (seed ^ MULTIPLIER) & MASK;
    let mut next = || {
        state = state.wrapping_mul(MULTIPLIER).wrapping_add(0xB) & MASK;
        (state >> 16) as i32
    };
    let mut value = 0;
    for _ in 0..=partition.max(0) {
        let high = i64::from(next());
        value = (high << 32).wrapping_add(i64::from(next()));
    }
    value
}
