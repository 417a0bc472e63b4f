//! Kernels: vectorised functions over arrays, behind one DataFusion UDF type.

use crate::{Body, BuildContext, Documentation, Function, Group, Nullability, Returns, TypedExpr};
use arrow::array::{Array, ArrayRef, ListArray};
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    TypeSignature, Volatility,
};
use datafusion::scalar::ScalarValue;
use firesteel_error::{QueryContext, Result, SparkError};
use firesteel_types::{DataType, arrow_mapping};
use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// A kernel: arrays (or scalars) in, an array or a scalar out.
///
/// Arguments have the canonical Arrow types of their Spark types, but strings
/// and binaries may be views: call [`KernelArgs::arrays`] for plain arrays.
/// Errors that a user can cause are [`SparkError`]s, given back by `?`.
pub type KernelFn = fn(&KernelArgs<'_>) -> Result<ColumnarValue>;

/// Settings of the session that a kernel's result depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KernelSettings {
    pub ansi: bool,
    pub time_zone: Arc<str>,
    /// Further settings of one function (a format, a seed), as it likes.
    pub payload: Option<Arc<str>>,
}

/// The arguments of one kernel call.
pub struct KernelArgs<'a> {
    pub values: &'a [ColumnarValue],
    /// The arguments' Spark types.
    pub types: &'a [DataType],
    pub return_type: &'a DataType,
    pub number_rows: usize,
    pub settings: &'a KernelSettings,
    /// The place of the call, for errors.
    pub context: Option<&'a QueryContext>,
    /// The partition that the rows belong to.
    pub partition: i32,
    prepared: &'a OnceLock<Box<dyn Any + Send + Sync>>,
}

impl KernelArgs<'_> {
    /// All arguments as arrays of `number_rows` rows, views turned into plain arrays.
    pub fn arrays(&self) -> Result<Vec<arrow::array::ArrayRef>> {
        (0..self.values.len()).map(|i| self.array(i)).collect()
    }

    /// An argument as an array of `number_rows` rows, views turned into plain arrays.
    pub fn array(&self, index: usize) -> Result<arrow::array::ArrayRef> {
        let value = self
            .values
            .get(index)
            .ok_or_else(|| SparkError::internal(format!("kernel argument {index} is missing")))?;
        let array = value.to_array(self.number_rows).map_err(|e| SparkError::internal(e.to_string()))?;
        let plain = match array.data_type() {
            ArrowType::Utf8View | ArrowType::LargeUtf8 => ArrowType::Utf8,
            ArrowType::BinaryView | ArrowType::LargeBinary => ArrowType::Binary,
            ArrowType::Dictionary(_, value) => value.as_ref().clone(),
            _ => return Ok(array),
        };
        arrow::compute::cast(&array, &plain).map_err(|e| SparkError::internal(e.to_string()))
    }

    /// Something made once per call site and kept (a compiled pattern, a parsed format).
    /// Only for things that depend on constant arguments and settings.
    pub fn prepared<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        if let Some(value) = self.prepared.get() {
            return value.downcast_ref::<T>().ok_or_else(|| SparkError::internal("two preparations in one kernel"));
        }
        let made = make()?;
        let value = self.prepared.get_or_init(|| Box::new(made));
        value.downcast_ref::<T>().ok_or_else(|| SparkError::internal("two preparations in one kernel"))
    }

    /// Adds the place of the call to an error.
    pub fn error(&self, error: SparkError) -> SparkError {
        error.or_context(|| self.context.cloned())
    }
}

/// The DataFusion function behind every kernel of ours.
pub struct SparkScalarUdf {
    name: &'static str,
    kernel: KernelFn,
    argument_types: Vec<DataType>,
    return_type: DataType,
    nullable: bool,
    settings: KernelSettings,
    context: Option<Arc<QueryContext>>,
    signature: Signature,
    partition: i32,
    /// Tells the call, as it was built, from others; None where its arguments are not known.
    digest: Option<Digest>,
    prepared: OnceLock<Box<dyn Any + Send + Sync>>,
}

// What is not printed follows from the rest, or tells calls apart that mean the same: plans are compared by this text.
impl fmt::Debug for SparkScalarUdf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparkScalarUdf")
            .field("name", &self.name)
            .field("argument_types", &self.argument_types)
            .field("return_type", &self.return_type)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// Functions whose values depend on the partition, or on the rows of it seen before.
const OF_PARTITION: [&str; 8] = [
    "spark_partition_id",
    "monotonically_increasing_id",
    "rand",
    "randn",
    "uuid",
    "randstr",
    "poisson_sample",
    "shuffle",
];

/// A digest of 128 bits.
type Digest = [u64; 2];

fn digest_of(write: impl Fn(&mut std::hash::DefaultHasher)) -> Digest {
    [0u8, 1].map(|seed| {
        let mut hasher = std::hash::DefaultHasher::new();
        seed.hash(&mut hasher);
        write(&mut hasher);
        hasher.finish()
    })
}

/// The digest of an argument. Calls have theirs at hand, so that deep arguments cost no more than flat ones.
fn argument_digest(argument: &Expr) -> Digest {
    match argument {
        Expr::Alias(alias) => argument_digest(&alias.expr),
        Expr::ScalarFunction(call) => {
            let inner: &dyn Any = call.func.inner().as_ref();
            match inner.downcast_ref::<SparkScalarUdf>().and_then(|udf| udf.digest) {
                Some(digest) => digest,
                None => digest_of(|hasher| argument.hash(hasher)),
            }
        }
        _ => digest_of(|hasher| argument.hash(hasher)),
    }
}

/// A text for arguments that differs where they do. It is asked for at every level of
/// nested calls, again and again.
fn arguments_text(udf: &SparkScalarUdf, args: &[Expr]) -> DfResult<String> {
    if args.iter().all(|a| matches!(a, Expr::Column(_) | Expr::Literal(..))) {
        return Ok(datafusion::logical_expr::expr::schema_name_from_exprs(args)?);
    }
    let [high, low] = udf.digest.unwrap_or_else(|| digest_of(|hasher| args.hash(hasher)));
    Ok(format!("{high:016x}{low:016x}"))
}

impl SparkScalarUdf {
    pub fn new(
        function: &Function,
        kernel: KernelFn,
        argument_types: Vec<DataType>,
        return_type: DataType,
        nullable: bool,
        settings: KernelSettings,
        context: Option<Arc<QueryContext>>,
    ) -> Self {
        let volatility = if function.deterministic { Volatility::Immutable } else { Volatility::Volatile };
        Self {
            name: function.name,
            kernel,
            argument_types,
            return_type,
            nullable,
            settings,
            context,
            signature: Signature::one_of(vec![TypeSignature::VariadicAny, TypeSignature::Nullary], volatility),
            partition: 0,
            digest: None,
            prepared: OnceLock::new(),
        }
    }

    /// True where every partition needs an instance of its own.
    pub fn depends_on_partition(&self) -> bool {
        OF_PARTITION.contains(&self.name)
    }

    /// The position of the field that the call reads of a struct, if that is what it does.
    pub fn field_position(&self) -> Option<usize> {
        let payload = self.settings.payload.as_deref().filter(|_| self.name == "get_struct_field")?;
        payload.parse().ok()
    }

    /// A fresh instance for the rows of one partition.
    pub fn for_partition(&self, partition: i32) -> Self {
        Self {
            name: self.name,
            kernel: self.kernel,
            argument_types: self.argument_types.clone(),
            return_type: self.return_type.clone(),
            nullable: self.nullable,
            settings: self.settings.clone(),
            context: self.context.clone(),
            signature: self.signature.clone(),
            partition,
            digest: self.digest,
            prepared: OnceLock::new(),
        }
    }

    /// The same call with values that may be null.
    pub fn with_nulls(&self) -> Self {
        Self { nullable: true, ..self.for_partition(self.partition) }
    }

    /// The name with the settings of this call.
    fn full_name(&self) -> String {
        match &self.settings.payload {
            Some(payload) => format!("{}[{payload}]", self.name),
            None => self.name.to_string(),
        }
    }

    pub fn argument_types(&self) -> &[DataType] {
        &self.argument_types
    }

    pub fn spark_return_type(&self) -> &DataType {
        &self.return_type
    }

    pub fn is_nullable(&self) -> bool {
        self.nullable
    }

    pub fn settings(&self) -> &KernelSettings {
        &self.settings
    }

    /// The place of the call, for errors.
    pub fn context(&self) -> Option<&Arc<QueryContext>> {
        self.context.as_ref()
    }
}

impl PartialEq for SparkScalarUdf {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.return_type == other.return_type
            && self.argument_types == other.argument_types
            && self.settings == other.settings
    }
}

impl Eq for SparkScalarUdf {}

impl Hash for SparkScalarUdf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.return_type.hash(state);
        self.settings.hash(state);
    }
}

impl ScalarUDFImpl for SparkScalarUdf {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    // Plans tell columns apart by these texts, so what makes two calls different must be in them.
    fn schema_name(&self, args: &[Expr]) -> DfResult<String> {
        Ok(format!("{}({})", self.full_name(), arguments_text(self, args)?))
    }

    fn return_type(&self, _: &[ArrowType]) -> DfResult<ArrowType> {
        Ok(arrow_mapping::to_arrow(&self.return_type))
    }

    /// A field of a struct that is made right there is what the struct was made of.
    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> DfResult<ExprSimplifyResult> {
        let made = self.field_position().and_then(|position| {
            let [Expr::ScalarFunction(call)] = args.as_slice() else { return None };
            let inner: &dyn Any = call.func.inner().as_ref();
            let is_struct = inner.downcast_ref::<Self>().is_some_and(|udf| udf.name == "named_struct");
            let value = call.args.get(position).filter(|_| is_struct)?;
            // Strings may be stored as views: those of the struct are not.
            let is_same = value.get_type(info.schema()).is_ok_and(|t| t == arrow_mapping::to_arrow(&self.return_type));
            is_same.then(|| value.clone())
        });
        Ok(match made {
            Some(value) => ExprSimplifyResult::Simplified(value),
            None => ExprSimplifyResult::Original(args),
        })
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> DfResult<FieldRef> {
        Ok(Arc::new(Field::new(self.name, arrow_mapping::to_arrow(&self.return_type), self.nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let kernel_args = KernelArgs {
            values: &args.args,
            types: &self.argument_types,
            return_type: &self.return_type,
            number_rows: args.number_rows,
            settings: &self.settings,
            context: self.context.as_deref(),
            partition: self.partition,
            prepared: &self.prepared,
        };
        (self.kernel)(&kernel_args).map_err(|e| DataFusionError::External(Box::new(kernel_args.error(e))))
    }
}

/// A value of an array. Lists keep the metadata of their elements, which tell Spark's type.
pub fn value_at(array: &ArrayRef, row: usize) -> DfResult<ScalarValue> {
    match array.as_any().downcast_ref::<ListArray>() {
        Some(list) if row < list.len() => Ok(ScalarValue::List(Arc::new(list.slice(row, 1)))),
        _ => ScalarValue::try_from_array(array, row),
    }
}

/// Declares a kernel by a name by which a call that has travelled finds it again.
pub const fn kernel(name: &'static str, kernel: KernelFn) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Internal,
        signature: crate::Signature::NONE,
        body: Body::Scalar { returns: Returns::SameAs(0), nullable: Nullability::Always, kernel },
        deterministic: true,
        text: None,
        documentation: Documentation::EMPTY,
    }
}

/// Makes the call of a kernel.
pub fn call(
    function: &Function,
    kernel: KernelFn,
    arguments: &[TypedExpr],
    return_type: &DataType,
    nullable: bool,
    context: &BuildContext<'_>,
) -> Result<Expr> {
    call_with_payload(function, kernel, arguments, return_type, nullable, context, None)
}

/// Makes the call of a kernel with settings of its own.
pub fn call_with_payload(
    function: &Function,
    kernel: KernelFn,
    arguments: &[TypedExpr],
    return_type: &DataType,
    nullable: bool,
    context: &BuildContext<'_>,
    payload: Option<Arc<str>>,
) -> Result<Expr> {
    let settings =
        KernelSettings { ansi: context.conf.ansi_enabled, time_zone: context.conf.time_zone.as_str().into(), payload };
    let mut udf = SparkScalarUdf::new(
        function,
        kernel,
        arguments.iter().map(|a| a.data_type.clone()).collect(),
        return_type.clone(),
        nullable,
        settings,
        context.context.clone(),
    );
    // Rewriting may change the arguments, but not what the call means.
    udf.digest = Some(digest_of(|hasher| {
        udf.hash(hasher);
        arguments.iter().for_each(|a| argument_digest(&a.expr).hash(hasher));
    }));
    let udf = Arc::new(ScalarUDF::new_from_impl(udf));
    Ok(Expr::ScalarFunction(datafusion::logical_expr::expr::ScalarFunction::new_udf(
        udf,
        arguments.iter().map(|a| a.expr.clone()).collect(),
    )))
}
