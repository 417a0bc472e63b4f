//! Functions defined in the plan itself.

use super::{Decoder, not_set, types};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{ExprKind, PythonFunction};
use firesteel_proto::connect as proto;
use proto::common_inline_user_defined_function::Function;
use proto::common_inline_user_defined_table_function::Function as TableFunction;

/// Evaluation types of functions that a Python worker knows.
const EVAL_TYPES: &[i32] = &[
    0, 100, 101, 200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 211, 212, 213, 214, 215, 216, 217, 250, 251,
    252, 253, 254, 300, 301, 302,
];

impl Decoder<'_> {
    /// A call of an inline function.
    pub(super) fn inline_function(&self, message: &proto::CommonInlineUserDefinedFunction) -> Result<ExprKind> {
        Ok(match required(message)? {
            Function::PythonUdf(_) => ExprKind::PythonFunction(self.python_function(message)?),
            Function::ScalarScalaUdf(_) => ExprKind::Unsupported(jvm_closure(&message.function_name)),
            Function::JavaUdf(java) => return Err(no_class(java)),
        })
    }

    /// A function that must be a Python function.
    pub(super) fn python_function(&self, message: &proto::CommonInlineUserDefinedFunction) -> Result<PythonFunction> {
        let python = match required(message)? {
            Function::PythonUdf(python) => python,
            Function::ScalarScalaUdf(_) => return Err(SparkError::unsupported(jvm_closure(&message.function_name))),
            Function::JavaUdf(java) => return Err(no_class(java)),
        };
        check_eval_type(python.eval_type)?;
        Ok(PythonFunction {
            name: message.function_name.clone(),
            arguments: self.expressions(&message.arguments)?,
            deterministic: message.deterministic,
            is_distinct: message.is_distinct,
            output_type: types::optional_type(python.output_type.as_ref())?,
            eval_type: python.eval_type,
            command: python.command.clone(),
            python_version: python.python_ver.clone(),
        })
    }

    /// A table function: its arguments are in the function.
    pub(super) fn python_table_function(
        &self,
        message: &proto::CommonInlineUserDefinedTableFunction,
    ) -> Result<PythonFunction> {
        let TableFunction::PythonUdtf(python) =
            message.function.as_ref().ok_or_else(|| not_set("CommonInlineUserDefinedTableFunction", "function"))?;
        check_eval_type(python.eval_type)?;
        Ok(PythonFunction {
            name: message.function_name.clone(),
            arguments: self.expressions(&message.arguments)?,
            deterministic: message.deterministic,
            is_distinct: false,
            output_type: types::optional_type(python.return_type.as_ref())?,
            eval_type: python.eval_type,
            command: python.command.clone(),
            python_version: python.python_ver.clone(),
        })
    }
}

/// What a function compiled for the JVM is called where it is refused.
fn jvm_closure(name: &str) -> String {
    const KIND: &str = "functions of Scala or Java, which need a JVM";
    if name.is_empty() { KIND.to_string() } else { format!("{KIND} ({name})") }
}

/// There is no JVM here that could load a class.
fn no_class(java: &proto::JavaUdf) -> SparkError {
    SparkError::new("_LEGACY_ERROR_TEMP_1329").with("className", &java.class_name)
}

fn required(message: &proto::CommonInlineUserDefinedFunction) -> Result<&Function> {
    message.function.as_ref().ok_or_else(|| not_set("CommonInlineUserDefinedFunction", "function"))
}

fn check_eval_type(eval_type: i32) -> Result<()> {
    if EVAL_TYPES.contains(&eval_type) {
        return Ok(());
    }
    Err(SparkError::new("CONNECT_INVALID_PLAN.FUNCTION_EVAL_TYPE_NOT_SUPPORTED")
        .with("evalType", eval_type.to_string()))
}
