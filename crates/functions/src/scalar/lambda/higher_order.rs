//! The DataFusion function behind every function of ours that takes lambdas.

use crate::TypedExpr;
use crate::function::{BuildContext, Function, LambdaArg};
use crate::kernel::KernelSettings;
use crate::scalar::array::list::conform;
use crate::scalar::string::constant::spark_error;
use crate::scalar::string::rows::internal;
use arrow::array::{ArrayRef, UInt64Array, new_empty_array};
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::logical_expr::expr::{HigherOrderFunction, Lambda};
use datafusion::logical_expr::{
    ColumnarValue, Expr, HigherOrderFunctionArgs, HigherOrderReturnFieldArgs, HigherOrderSignature, HigherOrderUDF,
    HigherOrderUDFImpl, LambdaArgument, LambdaParametersProgress, ValueOrLambda, Volatility,
};
use firesteel_error::{QueryContext, Result, SparkError};
use firesteel_types::{DataType, arrow_mapping};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What a function does with the values of its arguments and with its lambdas.
pub type Evaluate = fn(&Call<'_>) -> Result<ArrayRef>;

/// One evaluation of a call for a batch of rows.
pub struct Call<'a> {
    pub function: &'a SparkHigherOrderUdf,
    args: &'a HigherOrderFunctionArgs,
}

impl Call<'_> {
    /// How many rows the batch has.
    pub fn rows(&self) -> usize {
        self.args.number_rows
    }

    /// The result's type.
    pub fn return_type(&self) -> &DataType {
        &self.function.call.return_type
    }

    /// The type of a value, or of what a lambda gives.
    pub fn type_of(&self, index: usize) -> DataType {
        self.function.call.types.get(index).cloned().unwrap_or(DataType::Null)
    }

    /// True where the call has an argument at this position.
    pub fn has(&self, index: usize) -> bool {
        index < self.args.args.len()
    }

    /// A value argument, a row each.
    pub fn value(&self, index: usize) -> Result<ArrayRef> {
        match self.args.args.get(index) {
            Some(ValueOrLambda::Value(value)) => {
                let array = value.to_array(self.args.number_rows).map_err(internal)?;
                conform(&array, &arrow_mapping::to_arrow(&self.type_of(index)))
            }
            _ => Err(SparkError::internal(format!("argument {index} is no value"))),
        }
    }

    /// What a lambda gives for values of its parameters; `rows` tells the row that each belongs to.
    pub fn lambda(&self, index: usize, parameters: &[ArrayRef], rows: &UInt64Array) -> Result<ArrayRef> {
        let Some(ValueOrLambda::Lambda(lambda)) = self.args.args.get(index) else {
            return Err(SparkError::internal(format!("argument {index} is no lambda")));
        };
        let wanted = arrow_mapping::to_arrow(&self.type_of(index));
        if rows.is_empty() {
            return Ok(new_empty_array(&wanted));
        }
        let result = evaluate(lambda, parameters, rows).map_err(spark_error)?;
        let array = result.into_array(rows.len()).map_err(internal)?;
        conform(&array, &wanted)
    }
}

fn evaluate(lambda: &LambdaArgument, parameters: &[ArrayRef], rows: &UInt64Array) -> DfResult<ColumnarValue> {
    let getters: Vec<Box<dyn Fn() -> DfResult<ArrayRef>>> = parameters
        .iter()
        .map(|p| {
            let array = Arc::clone(p);
            Box::new(move || Ok(Arc::clone(&array))) as Box<dyn Fn() -> DfResult<ArrayRef>>
        })
        .collect();
    let getters: Vec<&dyn Fn() -> DfResult<ArrayRef>> = getters.iter().map(|g| g.as_ref()).collect();
    lambda.evaluate(&getters, |captures| Ok(arrow::compute::take_arrays(captures, rows, None)?))
}

/// One call of a function with lambdas, as plain data: a call can be rebuilt from it elsewhere.
#[derive(Debug, Clone)]
pub struct PlainCall {
    /// The types of the values, and of what the lambdas give.
    pub types: Vec<DataType>,
    /// The types of the lambdas' parameters, with their nullability.
    pub parameters: Vec<Vec<(DataType, bool)>>,
    pub return_type: DataType,
    pub nullable: bool,
    pub settings: KernelSettings,
    /// The place of the call, for errors.
    pub context: Option<Arc<QueryContext>>,
}

/// A function of ours with lambdas.
#[derive(Debug)]
pub struct SparkHigherOrderUdf {
    name: &'static str,
    evaluate: Evaluate,
    pub call: PlainCall,
    signature: HigherOrderSignature,
}

impl SparkHigherOrderUdf {
    pub fn new(name: &'static str, evaluate: Evaluate, call: PlainCall) -> Self {
        Self { name, evaluate, call, signature: HigherOrderSignature::variadic_any(Volatility::Immutable) }
    }
}

impl PartialEq for SparkHigherOrderUdf {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.call.types == other.call.types
            && self.call.parameters == other.call.parameters
            && self.call.return_type == other.call.return_type
            && self.call.settings == other.call.settings
    }
}

impl Eq for SparkHigherOrderUdf {}

impl Hash for SparkHigherOrderUdf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.call.types.hash(state);
        self.call.return_type.hash(state);
        self.call.settings.hash(state);
    }
}

impl HigherOrderUDFImpl for SparkHigherOrderUdf {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &HigherOrderSignature {
        &self.signature
    }

    fn lambda_parameters(
        &self,
        _: usize,
        _: &[ValueOrLambda<FieldRef, Option<FieldRef>>],
    ) -> DfResult<LambdaParametersProgress> {
        let field = |(t, nullable): &(DataType, bool)| -> FieldRef {
            Arc::new(Field::new("", arrow_mapping::to_arrow(t), *nullable))
        };
        let parameters = self.call.parameters.iter().map(|list| list.iter().map(field).collect()).collect();
        Ok(LambdaParametersProgress::Complete(parameters))
    }

    fn return_field_from_args(&self, _: HigherOrderReturnFieldArgs) -> DfResult<FieldRef> {
        Ok(Arc::new(Field::new(self.name, arrow_mapping::to_arrow(&self.call.return_type), self.call.nullable)))
    }

    fn invoke_with_args(&self, args: HigherOrderFunctionArgs) -> DfResult<ColumnarValue> {
        let call = Call { function: self, args: &args };
        let result = (self.evaluate)(&call)
            .and_then(|array| conform(&array, &arrow_mapping::to_arrow(&self.call.return_type)))
            .map_err(|e| DataFusionError::External(Box::new(e.or_context(|| self.call.context.as_deref().cloned()))))?;
        Ok(ColumnarValue::Array(result))
    }
}

/// Makes the call of a function with lambdas.
pub fn make(
    function: &Function,
    evaluate: Evaluate,
    arguments: &[LambdaArg],
    parameters: Vec<Vec<(DataType, bool)>>,
    (return_type, nullable): (DataType, bool),
    context: &BuildContext<'_>,
    payload: Option<Arc<str>>,
) -> TypedExpr {
    let types = arguments
        .iter()
        .map(|a| match a {
            LambdaArg::Value(value) => value.data_type.clone(),
            LambdaArg::Lambda { body, .. } => body.data_type.clone(),
        })
        .collect();
    let settings =
        KernelSettings { ansi: context.conf.ansi_enabled, time_zone: context.conf.time_zone.as_str().into(), payload };
    let call = PlainCall {
        types,
        parameters,
        return_type: return_type.clone(),
        nullable,
        settings,
        context: context.context.clone(),
    };
    let udf = SparkHigherOrderUdf::new(function.name, evaluate, call);
    let arguments = arguments
        .iter()
        .map(|a| match a {
            LambdaArg::Value(value) => value.expr.clone(),
            LambdaArg::Lambda { lambda, .. } => lambda.clone(),
        })
        .collect();
    let udf = Arc::new(HigherOrderUDF::new_from_impl(udf));
    let expr = Expr::HigherOrderFunction(HigherOrderFunction::new(udf, arguments));
    TypedExpr::new(expr, return_type, nullable, "")
}

/// A lambda with another body.
pub fn with_body(parameters: Vec<String>, body: TypedExpr) -> LambdaArg {
    LambdaArg::Lambda { lambda: Expr::Lambda(Lambda::new(parameters.clone(), body.expr.clone())), parameters, body }
}

/// The value arguments and the lambdas of a call; a value where a lambda belongs is a lambda that ignores its
/// parameters.
pub fn lambda_at(arguments: &[LambdaArg], index: usize) -> Result<(Vec<String>, TypedExpr)> {
    match arguments.get(index) {
        Some(LambdaArg::Lambda { parameters, body, .. }) => Ok((parameters.clone(), body.clone())),
        Some(LambdaArg::Value(value)) => Ok((vec!["ignored".to_string()], value.clone())),
        None => Err(SparkError::internal(format!("lambda {index} is missing"))),
    }
}

/// A value argument.
pub fn value_at(arguments: &[LambdaArg], index: usize) -> Result<TypedExpr> {
    match arguments.get(index) {
        Some(LambdaArg::Value(value)) => Ok(value.clone()),
        _ => Err(SparkError::internal(format!("argument {index} is no value"))),
    }
}

/// The text of a call from its arguments, for messages.
pub fn call_text(function: &Function, arguments: &[LambdaArg]) -> String {
    let texts: Vec<String> = (0..arguments.len()).map(|i| argument_text(arguments, i)).collect();
    function.call_text(&texts)
}

/// The text of an argument, for messages.
pub fn argument_text(arguments: &[LambdaArg], index: usize) -> String {
    match arguments.get(index) {
        Some(LambdaArg::Value(value)) => value.name.clone(),
        Some(LambdaArg::Lambda { parameters, body, .. }) => lambda_text(body, parameters.len()),
        None => String::new(),
    }
}

/// Spark's text of a lambda.
pub fn lambda_text(body: &TypedExpr, parameters: usize) -> String {
    let names = vec!["namedlambdavariable()"; parameters].join(", ");
    format!("lambdafunction({}, {names})", body.name)
}

/// The Arrow type of the elements of arrays, or of the entries of maps.
pub fn inner(list_type: &ArrowType) -> Result<FieldRef> {
    match list_type {
        ArrowType::List(field) | ArrowType::Map(field, _) => Ok(Arc::clone(field)),
        other => Err(SparkError::internal(format!("{other} has no elements"))),
    }
}
