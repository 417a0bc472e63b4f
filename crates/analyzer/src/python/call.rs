//! Calls of Python functions as expressions.

use arrow::datatypes::{DataType as ArrowType, Field, FieldRef};
use bytes::Bytes;
use datafusion::common::{Result as DfResult, internal_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature,
    TypeSignature, Volatility,
};
use firesteel_python::EvalType;
use firesteel_types::{DataType, arrow_mapping};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A parameter as one call fills it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PythonParameter {
    pub data_type: DataType,
    /// The name, where the call gives it.
    pub name: Option<String>,
}

/// A call of a Python function, without its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PythonCall {
    pub name: String,
    /// The pickled function.
    pub command: Bytes,
    /// The Python that pickled it, `3.11`.
    pub python_version: String,
    pub eval_type: EvalType,
    pub deterministic: bool,
    pub parameters: Vec<PythonParameter>,
    pub returns: DataType,
    /// Tells calls apart that may give different values.
    pub instance: u64,
}

impl PythonCall {
    /// A number that no other call of this process has.
    pub fn fresh_instance() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    fn volatility(&self) -> Volatility {
        if self.deterministic { Volatility::Immutable } else { Volatility::Volatile }
    }

    fn signature(&self) -> Signature {
        Signature::one_of(vec![TypeSignature::VariadicAny, TypeSignature::Nullary], self.volatility())
    }

    /// The name by which plans tell columns apart.
    fn column_name(&self, arguments: &[Expr]) -> String {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        format!("{}[{:x}]({})", self.name, hasher.finish(), arguments.join(", "))
    }

    /// The Arrow type of the engine.
    pub fn arrow_type(&self) -> ArrowType {
        arrow_mapping::to_arrow(&self.returns)
    }
}

/// A function that gives a value for each row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PythonUdf {
    pub call: Arc<PythonCall>,
    signature: Signature,
}

impl PythonUdf {
    pub fn new(call: Arc<PythonCall>) -> Self {
        let signature = call.signature();
        Self { call, signature }
    }

    /// The call that an expression is, with its arguments.
    pub fn of(expr: &Expr) -> Option<(&Arc<PythonCall>, &[Expr])> {
        let Expr::ScalarFunction(function) = expr else { return None };
        let inner: &dyn std::any::Any = function.func.inner().as_ref();
        inner.downcast_ref::<Self>().map(|udf| (&udf.call, function.args.as_slice()))
    }
}

impl ScalarUDFImpl for PythonUdf {
    fn name(&self) -> &str {
        &self.call.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn schema_name(&self, args: &[Expr]) -> DfResult<String> {
        Ok(self.call.column_name(args))
    }

    fn return_type(&self, _: &[ArrowType]) -> DfResult<ArrowType> {
        Ok(self.call.arrow_type())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> DfResult<FieldRef> {
        Ok(Arc::new(Field::new(&self.call.name, self.call.arrow_type(), true)))
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        internal_err!("the Python function {} stands where no worker runs it", self.call.name)
    }
}

/// A function that gives a value for each group.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PythonUdaf {
    pub call: Arc<PythonCall>,
    signature: Signature,
}

impl PythonUdaf {
    pub fn new(call: Arc<PythonCall>) -> Self {
        let signature = call.signature();
        Self { call, signature }
    }

    /// The call that an aggregate function is.
    pub fn of(function: &datafusion::logical_expr::AggregateUDF) -> Option<&Arc<PythonCall>> {
        let inner: &dyn std::any::Any = function.inner().as_ref();
        inner.downcast_ref::<Self>().map(|udaf| &udaf.call)
    }
}

impl AggregateUDFImpl for PythonUdaf {
    fn name(&self) -> &str {
        &self.call.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> DfResult<ArrowType> {
        Ok(self.call.arrow_type())
    }

    fn is_nullable(&self) -> bool {
        true
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> DfResult<Box<dyn Accumulator>> {
        internal_err!("the Python function {} stands where no worker runs it", self.call.name)
    }

    fn state_fields(&self, _: StateFieldsArgs<'_>) -> DfResult<Vec<FieldRef>> {
        Ok(Vec::new())
    }
}
