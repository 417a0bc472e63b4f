//! The check that a scalar subquery has one row at most.

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use firesteel_error::SparkError;
use std::sync::Arc;

/// The name by which plans call the function.
pub const AT_MOST_ONE: &str = "at_most_one";

/// `at_most_one(value, count)`: the value, or an error where the count of rows is more than one.
#[derive(Debug, PartialEq, Eq, Hash)]
struct AtMostOne {
    signature: Signature,
}

impl ScalarUDFImpl for AtMostOne {
    fn name(&self) -> &str {
        AT_MOST_ONE
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> DfResult<DataType> {
        Ok(types.first().cloned().unwrap_or(DataType::Null))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let [value, count] = args.args.as_slice() else {
            return Err(DataFusionError::Internal("at_most_one takes two arguments".into()));
        };
        let counts = count.to_array(args.number_rows)?;
        let counts = counts.as_primitive::<Int64Type>();
        if (0..counts.len()).any(|i| counts.is_valid(i) && counts.value(i) > 1) {
            return Err(DataFusionError::External(Box::new(SparkError::new("SCALAR_SUBQUERY_TOO_MANY_ROWS"))));
        }
        Ok(value.clone())
    }
}

/// `at_most_one(value, count)`: the value, where there are no more rows than one.
pub fn at_most_one() -> Arc<ScalarUDF> {
    Arc::new(ScalarUDF::new_from_impl(AtMostOne { signature: Signature::any(2, Volatility::Volatile) }))
}
