//! How arithmetic treats what has no result.

use super::Operation;
use crate::function::{Body, Function};
use crate::{BuildContext, KernelArgs, TypedExpr};
use arrow::array::{Array, ArrayRef, Datum, Scalar};
use datafusion::logical_expr::{ColumnarValue, Expr};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;

pub(super) use crate::kernel::kernel;

/// What an overflow or a division by zero gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evaluation {
    /// Integers wrap around, the rest is null.
    Legacy,
    /// An error.
    Ansi,
    /// Null.
    Try,
}

impl Evaluation {
    /// The evaluation of the session's operators.
    pub fn of_session(context: &BuildContext<'_>) -> Self {
        if context.conf.ansi_enabled { Self::Ansi } else { Self::Legacy }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Ansi => "ansi",
            Self::Try => "try",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [Self::Legacy, Self::Ansi, Self::Try].into_iter().find(|e| e.name() == name)
    }
}

/// Calls a kernel; its payload tells the operation and the evaluation.
pub(super) fn call(
    function: &Function,
    operation: Operation,
    evaluation: Evaluation,
    arguments: &[TypedExpr],
    return_type: &DataType,
    nullable: bool,
    context: &BuildContext<'_>,
) -> Result<Expr> {
    let Body::Scalar { kernel, .. } = &function.body else {
        return Err(SparkError::internal(format!("{} is no kernel", function.name)));
    };
    let payload = format!("{} {}", operation.sign(), evaluation.name());
    crate::kernel::call_with_payload(
        function,
        *kernel,
        arguments,
        return_type,
        nullable,
        context,
        Some(Arc::from(payload)),
    )
}

/// The operation and the evaluation that a kernel was called with.
pub(super) fn payload(args: &KernelArgs<'_>) -> Result<(Operation, Evaluation)> {
    args.settings
        .payload
        .as_deref()
        .and_then(|text| text.split_once(' '))
        .and_then(|(sign, evaluation)| Some((Operation::parse(sign)?, Evaluation::parse(evaluation)?)))
        .ok_or_else(|| SparkError::internal("an arithmetic kernel without its payload"))
}

/// An operand: a column, or one value for all rows.
pub(super) struct Operand {
    pub(super) array: ArrayRef,
    pub(super) is_scalar: bool,
}

impl Operand {
    /// The operand of a kernel; constants stay arrays of one row.
    pub(super) fn new(args: &KernelArgs<'_>, index: usize) -> Result<Self> {
        match args.values.get(index) {
            Some(ColumnarValue::Scalar(value)) => {
                let array = value.to_array().map_err(|e| SparkError::internal(e.to_string()))?;
                Ok(Self { array, is_scalar: true })
            }
            _ => Ok(Self { array: args.array(index)?, is_scalar: false }),
        }
    }

    /// The operand as Arrow's kernels take it.
    pub(super) fn datum(&self) -> Box<dyn Datum> {
        if self.is_scalar { Box::new(Scalar::new(self.array.clone())) } else { Box::new(self.array.clone()) }
    }

    /// The position of a row's value.
    pub(super) fn at(&self, row: usize) -> usize {
        if self.is_scalar { 0 } else { row }
    }

    pub(super) fn is_null(&self, row: usize) -> bool {
        self.array.is_null(self.at(row))
    }
}

/// Rows of a result: one where all operands are constants.
pub(super) fn rows(operands: &[&Operand], args: &KernelArgs<'_>) -> usize {
    if operands.iter().all(|o| o.is_scalar) { 1 } else { args.number_rows }
}

/// A result of as many rows as [`rows`] told.
pub(super) fn finish(array: ArrayRef, operands: &[&Operand]) -> Result<ColumnarValue> {
    if operands.iter().all(|o| o.is_scalar) {
        let value = ScalarValue::try_from_array(&array, 0).map_err(|e| SparkError::internal(e.to_string()))?;
        return Ok(ColumnarValue::Scalar(value));
    }
    Ok(ColumnarValue::Array(array))
}

/// A division by zero.
pub(super) fn divide_by_zero() -> SparkError {
    SparkError::new("DIVIDE_BY_ZERO").with("config", "\"spark.sql.ansi.enabled\"")
}

/// The error of a zero on the right side of an operation.
pub(super) fn zero_error(operation: Operation) -> SparkError {
    match operation {
        Operation::Remainder | Operation::Pmod => {
            SparkError::new("REMAINDER_BY_ZERO").with("config", "\"spark.sql.ansi.enabled\"")
        }
        _ => divide_by_zero(),
    }
}

/// An overflow, with the function that gives null instead.
pub(super) fn overflow(message: &str, alternative: Option<&str>) -> SparkError {
    let alternative = match alternative {
        Some(function) => format!(" Use '{function}' to tolerate overflow and return NULL instead."),
        None => String::new(),
    };
    SparkError::new("ARITHMETIC_OVERFLOW")
        .with("message", message)
        .with("alternative", alternative)
        .with("config", "\"spark.sql.ansi.enabled\"")
}
