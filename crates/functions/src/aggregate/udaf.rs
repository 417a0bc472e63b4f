//! The DataFusion function behind every aggregate of ours.

use super::accumulator::{DistinctStates, GroupedStates, SingleState, SlidingStates};
use super::states::States;
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result as DfResult, ScalarValue};
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Expr, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};
use firesteel_error::{QueryContext, SparkError};
use firesteel_types::{DataType, arrow_mapping};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Makes the states of a call for arguments of these Arrow types.
pub type NewStates = fn(&Call, &[ArrowType]) -> DfResult<Box<dyn States>>;

/// What makes the states of an aggregate.
pub struct Kernel {
    /// The name that plans show, unique among kernels.
    pub name: &'static str,
    pub states: NewStates,
    /// What an aggregate over no rows gives.
    pub over_nothing: OverNothing,
}

/// What an aggregate over no rows gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverNothing {
    Null,
    Zero,
    EmptyList,
    /// A bitmap of this byte.
    Bitmap(u8),
    /// What the states of a group without rows give.
    Evaluated,
}

/// The size of a bitmap.
pub const BITMAP_BYTES: usize = 4096;

/// One call of an aggregate, as plain data: a call can be rebuilt from it elsewhere.
#[derive(Debug, Clone)]
pub struct Call {
    pub arguments: Vec<DataType>,
    pub returns: DataType,
    pub ansi: bool,
    /// Constants of the call (percentages, a delimiter), as the kernel likes them.
    pub payload: Option<Arc<str>>,
    /// The place of the call, for errors.
    pub context: Option<Arc<QueryContext>>,
}

impl Call {
    /// Makes an error of ours one of DataFusion's, with the place of the call.
    pub fn error(&self, error: SparkError) -> DataFusionError {
        let error = error.or_context(|| self.context.as_deref().cloned());
        DataFusionError::External(Box::new(error))
    }

    /// The Arrow type of the result.
    pub fn arrow_return(&self) -> ArrowType {
        arrow_mapping::to_arrow(&self.returns)
    }

    /// The payload, empty where there is none.
    pub fn payload(&self) -> &str {
        self.payload.as_deref().unwrap_or_default()
    }
}

/// A call of a kernel as an aggregate function of DataFusion.
pub struct SparkAggregateUdf {
    kernel: &'static Kernel,
    /// The kernel's name with the payload: plans tell calls apart by it.
    name: String,
    call: Call,
    signature: Signature,
}

impl std::fmt::Debug for SparkAggregateUdf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SparkAggregateUdf").field("name", &self.kernel.name).field("call", &self.call).finish()
    }
}

impl SparkAggregateUdf {
    pub fn new(kernel: &'static Kernel, call: Call) -> Self {
        let name = match &call.payload {
            Some(payload) => format!("{}[{payload}]", kernel.name),
            None => kernel.name.to_string(),
        };
        Self { kernel, name, call, signature: Signature::variadic_any(Volatility::Immutable) }
    }

    /// The kernel, by whose name [`kernel`](super::kernel) finds it again.
    pub fn kernel(&self) -> &'static Kernel {
        self.kernel
    }

    /// The call as plain data.
    pub fn call(&self) -> &Call {
        &self.call
    }

    fn plain_types(fields: &[FieldRef]) -> Vec<ArrowType> {
        fields.iter().map(|f| plain_type(f.data_type())).collect()
    }

    fn new_states(&self, fields: &[FieldRef], is_distinct: bool) -> DfResult<Box<dyn States>> {
        let types = Self::plain_types(fields);
        let states = (self.kernel.states)(&self.call, &types)?;
        if is_distinct {
            let (kernel, call) = (self.kernel, self.call.clone());
            let inner_types = types.clone();
            let make = Arc::new(move || (kernel.states)(&call, &inner_types));
            return Ok(Box::new(DistinctStates::new(make, types)?));
        }
        Ok(states)
    }
}

impl PartialEq for SparkAggregateUdf {
    fn eq(&self, other: &Self) -> bool {
        self.kernel.name == other.kernel.name
            && self.call.arguments == other.call.arguments
            && self.call.returns == other.call.returns
            && self.call.ansi == other.call.ansi
            && self.call.payload == other.call.payload
    }
}

impl Eq for SparkAggregateUdf {}

impl Hash for SparkAggregateUdf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kernel.name.hash(state);
        self.call.returns.hash(state);
        self.call.payload.hash(state);
    }
}

/// Strings and binaries come plain to kernels, whatever layout a scan gives them.
pub fn plain_type(data_type: &ArrowType) -> ArrowType {
    match data_type {
        ArrowType::Utf8View | ArrowType::LargeUtf8 => ArrowType::Utf8,
        ArrowType::BinaryView | ArrowType::LargeBinary => ArrowType::Binary,
        ArrowType::Dictionary(_, value) => plain_type(value),
        other => other.clone(),
    }
}

impl AggregateUDFImpl for SparkAggregateUdf {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> DfResult<ArrowType> {
        Ok(self.call.arrow_return())
    }

    fn is_nullable(&self) -> bool {
        self.kernel.over_nothing == OverNothing::Null
    }

    fn default_value(&self, data_type: &ArrowType) -> DfResult<ScalarValue> {
        match self.kernel.over_nothing {
            OverNothing::Null => ScalarValue::try_from(data_type),
            OverNothing::Zero => ScalarValue::new_zero(data_type),
            OverNothing::EmptyList => empty_list(data_type),
            OverNothing::Bitmap(byte) => Ok(ScalarValue::Binary(Some(vec![byte; BITMAP_BYTES]))),
            OverNothing::Evaluated => {
                let types: Vec<ArrowType> = self.call.arguments.iter().map(arrow_mapping::to_arrow).collect();
                let mut states = (self.kernel.states)(&self.call, &types)?;
                states.resize(1);
                ScalarValue::try_from_array(&states.evaluate()?, 0)
            }
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> DfResult<Box<dyn Accumulator>> {
        let types = Self::plain_types(args.expr_fields);
        Ok(Box::new(SingleState::new(self.new_states(args.expr_fields, args.is_distinct)?, types)))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> DfResult<Vec<FieldRef>> {
        let states = self.new_states(args.input_fields, args.is_distinct)?;
        let field = |(i, data_type): (usize, ArrowType)| {
            Arc::new(Field::new(format_state_name(args.name, &format!("state{i}")), data_type, true))
        };
        Ok(states.state_types().into_iter().enumerate().map(field).collect())
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> DfResult<Box<dyn GroupsAccumulator>> {
        let types = Self::plain_types(args.expr_fields);
        let (kernel, call, is_distinct) = (self.kernel, self.call.clone(), args.is_distinct);
        let fields: Vec<FieldRef> = args.expr_fields.to_vec();
        let make = Box::new(move || SparkAggregateUdf::new(kernel, call.clone()).new_states(&fields, is_distinct));
        Ok(Box::new(GroupedStates::new(make, types)?))
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> DfResult<Box<dyn Accumulator>> {
        let types = Self::plain_types(args.expr_fields);
        let (kernel, call, is_distinct) = (self.kernel, self.call.clone(), args.is_distinct);
        let fields: Vec<FieldRef> = args.expr_fields.to_vec();
        let make = Box::new(move || SparkAggregateUdf::new(kernel, call.clone()).new_states(&fields, is_distinct));
        Ok(Box::new(SlidingStates::new(make, types)?))
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::NotSupported
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn supports_null_handling_clause(&self) -> bool {
        true
    }
}

/// The expression of a kernel's call.
pub fn aggregate(
    kernel: &'static Kernel,
    call: Call,
    arguments: Vec<Expr>,
    is_distinct: bool,
    filter: Option<Expr>,
) -> Expr {
    let udaf = Arc::new(AggregateUDF::new_from_impl(SparkAggregateUdf::new(kernel, call)));
    Expr::AggregateFunction(AggregateFunction::new_udf(
        udaf,
        arguments,
        is_distinct,
        filter.map(Box::new),
        Vec::new(),
        None,
    ))
}

/// A list without elements, of exactly that type.
fn empty_list(data_type: &ArrowType) -> DfResult<ScalarValue> {
    let ArrowType::List(field) = data_type else { return ScalarValue::new_default(data_type) };
    let values = arrow::array::new_empty_array(field.data_type());
    let offsets = arrow::buffer::OffsetBuffer::from_lengths([0]);
    let list = arrow::array::ListArray::try_new(Arc::clone(field), offsets, values, None)?;
    Ok(ScalarValue::List(Arc::new(list)))
}
