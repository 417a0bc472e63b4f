//! KLL sketches of quantiles: `kll_sketch_agg_bigint` and its family.

use super::super::fold::{Fold, Folded};
use super::super::states::{Rows, States, column, typed};
use super::super::udaf::{Call, Kernel, OverNothing};
use super::super::{AggregateContext, constant, declare};
use super::kll_text::summary;
use super::{any, binaries, exactly, invalid_buffer, kernel, scalar, text_of, type_check};
use crate::coercion::{coerce_argument, implicitly, mismatch};
use crate::scalar::string::constant::integer_of;
use crate::scalar::string::rows::{
    Binaries, Rows as Values, array_or_constant, binaries as binary_results, finish, primitives, row_count, texts,
};
use crate::{AggregateCall, ArgType, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, ListBuilder, PrimitiveArray, PrimitiveBuilder,
};
use arrow::datatypes::{DataType as ArrowType, Field, Float32Type, Float64Type, Int64Type};
use datafusion::common::Result as DfResult;
use datafusion::logical_expr::ColumnarValue;
use datasketches::codec::SketchSlice;
use datasketches::common::SearchCriteria;
use datasketches::kll::{KllFloat, KllSketch, KllValue};
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, number_text};
use std::fmt::{Debug, Write};
use std::marker::PhantomData;
use std::sync::Arc;

/// The size where a call gives none.
const DEFAULT_SIZE: u16 = 200;
const LEAST_SIZE: i64 = 8;
const SIZE: Signature = Signature::with_optional(&[any("expr"), any("k")], 1);
const ONE: Signature = Signature::of(&[any("expr")]);
const TWO: Signature = Signature::of(&[any("left"), any("right")]);

/// A type of values that KLL sketches are made of.
pub trait Item: KllValue + Ord + Debug + Send + Sync + 'static {
    type Arrow: ArrowPrimitiveType;
    /// The last part of the functions' names.
    const SUFFIX: &'static str;
    const PLURAL: &'static str;
    const SIZE: usize;
    const TYPE: DataType;
    /// The types that sketches may be made of, as messages show them.
    const ACCEPTED: &'static str;
    fn accepts(data_type: &DataType) -> bool;
    /// None for values that have no place in an order.
    fn of(value: <Self::Arrow as ArrowPrimitiveType>::Native) -> Option<Self>;
    fn value(&self) -> <Self::Arrow as ArrowPrimitiveType>::Native;
    fn text(&self) -> String;
}

impl Item for i64 {
    type Arrow = Int64Type;
    const SUFFIX: &'static str = "bigint";
    const PLURAL: &'static str = "Longs";
    const SIZE: usize = 8;
    const TYPE: DataType = DataType::Long;
    const ACCEPTED: &'static str = r#"("TINYINT" or "INT" or "BIGINT" or "SMALLINT")"#;

    fn accepts(data_type: &DataType) -> bool {
        data_type.is_integral()
    }

    fn of(value: i64) -> Option<Self> {
        Some(value)
    }

    fn value(&self) -> i64 {
        *self
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl Item for KllFloat<f64> {
    type Arrow = Float64Type;
    const SUFFIX: &'static str = "double";
    const PLURAL: &'static str = "Doubles";
    const SIZE: usize = 8;
    const TYPE: DataType = DataType::Double;
    const ACCEPTED: &'static str = r#"("FLOAT" or "DOUBLE")"#;

    fn accepts(data_type: &DataType) -> bool {
        matches!(data_type, DataType::Float | DataType::Double)
    }

    fn of(value: f64) -> Option<Self> {
        Self::new(value).ok()
    }

    fn value(&self) -> f64 {
        self.into_inner()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        number_text::write_double(&mut text, self.into_inner());
        text
    }
}

impl Item for KllFloat<f32> {
    type Arrow = Float32Type;
    const SUFFIX: &'static str = "float";
    const PLURAL: &'static str = "Floats";
    const SIZE: usize = 4;
    const TYPE: DataType = DataType::Float;
    const ACCEPTED: &'static str = r#""FLOAT""#;

    fn accepts(data_type: &DataType) -> bool {
        *data_type == DataType::Float
    }

    fn of(value: f32) -> Option<Self> {
        Self::new(value).ok()
    }

    fn value(&self) -> f32 {
        self.into_inner()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        number_text::write_float(&mut text, self.into_inner());
        text
    }
}

type Double = KllFloat<f64>;
type Float = KllFloat<f32>;

pub static FUNCTIONS: &[&Function] = &[
    &declare(
        "kll_sketch_agg_bigint",
        &[],
        SIZE,
        |c, a| build_sketch::<i64>(&SKETCH_BIGINT, c, a),
        "kll_sketch_agg_bigint(expr[, k]) - Returns a KLL sketch of the values of a group, compact.",
    ),
    &declare(
        "kll_merge_agg_bigint",
        &[],
        SIZE,
        |c, a| build_merge(&MERGE_BIGINT, c, a),
        "kll_merge_agg_bigint(expr[, k]) - Returns one KLL sketch of those of a group.",
    ),
    &scalar(
        "kll_sketch_get_n_bigint",
        ONE,
        |c, a| super::call_kernel(&COUNT_BIGINT, c, &a, 1, &[], DataType::Long),
        "kll_sketch_get_n_bigint(expr) - Returns how many values a KLL sketch has seen.",
    ),
    &scalar(
        "kll_sketch_to_string_bigint",
        ONE,
        |c, a| super::call_kernel(&TEXT_BIGINT, c, &a, 1, &[], DataType::STRING),
        "kll_sketch_to_string_bigint(expr) - Returns a description of a KLL sketch.",
    ),
    &scalar(
        "kll_sketch_merge_bigint",
        TWO,
        |c, a| super::call_kernel(&BOTH_BIGINT, c, &a, 2, &[], DataType::Binary),
        "kll_sketch_merge_bigint(left, right) - Returns one KLL sketch of two.",
    ),
    &scalar(
        "kll_sketch_get_quantile_bigint",
        TWO,
        |c, a| build_query(&QUANTILE_BIGINT, "rank", DataType::Double, i64::TYPE, c, &a),
        "kll_sketch_get_quantile_bigint(left, right) - Returns the values at ranks between 0 and 1.",
    ),
    &scalar(
        "kll_sketch_get_rank_bigint",
        TWO,
        |c, a| build_query(&RANK_BIGINT, "quantile", i64::TYPE, DataType::Double, c, &a),
        "kll_sketch_get_rank_bigint(left, right) - Returns the ranks of values, between 0 and 1.",
    ),
    &declare(
        "kll_sketch_agg_double",
        &[],
        SIZE,
        |c, a| build_sketch::<Double>(&SKETCH_DOUBLE, c, a),
        "kll_sketch_agg_double(expr[, k]) - Returns a KLL sketch of the values of a group, compact.",
    ),
    &declare(
        "kll_merge_agg_double",
        &[],
        SIZE,
        |c, a| build_merge(&MERGE_DOUBLE, c, a),
        "kll_merge_agg_double(expr[, k]) - Returns one KLL sketch of those of a group.",
    ),
    &scalar(
        "kll_sketch_get_n_double",
        ONE,
        |c, a| super::call_kernel(&COUNT_DOUBLE, c, &a, 1, &[], DataType::Long),
        "kll_sketch_get_n_double(expr) - Returns how many values a KLL sketch has seen.",
    ),
    &scalar(
        "kll_sketch_to_string_double",
        ONE,
        |c, a| super::call_kernel(&TEXT_DOUBLE, c, &a, 1, &[], DataType::STRING),
        "kll_sketch_to_string_double(expr) - Returns a description of a KLL sketch.",
    ),
    &scalar(
        "kll_sketch_merge_double",
        TWO,
        |c, a| super::call_kernel(&BOTH_DOUBLE, c, &a, 2, &[], DataType::Binary),
        "kll_sketch_merge_double(left, right) - Returns one KLL sketch of two.",
    ),
    &scalar(
        "kll_sketch_get_quantile_double",
        TWO,
        |c, a| build_query(&QUANTILE_DOUBLE, "rank", DataType::Double, Double::TYPE, c, &a),
        "kll_sketch_get_quantile_double(left, right) - Returns the values at ranks between 0 and 1.",
    ),
    &scalar(
        "kll_sketch_get_rank_double",
        TWO,
        |c, a| build_query(&RANK_DOUBLE, "quantile", Double::TYPE, DataType::Double, c, &a),
        "kll_sketch_get_rank_double(left, right) - Returns the ranks of values, between 0 and 1.",
    ),
    &declare(
        "kll_sketch_agg_float",
        &[],
        SIZE,
        |c, a| build_sketch::<Float>(&SKETCH_FLOAT, c, a),
        "kll_sketch_agg_float(expr[, k]) - Returns a KLL sketch of the values of a group, compact.",
    ),
    &declare(
        "kll_merge_agg_float",
        &[],
        SIZE,
        |c, a| build_merge(&MERGE_FLOAT, c, a),
        "kll_merge_agg_float(expr[, k]) - Returns one KLL sketch of those of a group.",
    ),
    &scalar(
        "kll_sketch_get_n_float",
        ONE,
        |c, a| super::call_kernel(&COUNT_FLOAT, c, &a, 1, &[], DataType::Long),
        "kll_sketch_get_n_float(expr) - Returns how many values a KLL sketch has seen.",
    ),
    &scalar(
        "kll_sketch_to_string_float",
        ONE,
        |c, a| super::call_kernel(&TEXT_FLOAT, c, &a, 1, &[], DataType::STRING),
        "kll_sketch_to_string_float(expr) - Returns a description of a KLL sketch.",
    ),
    &scalar(
        "kll_sketch_merge_float",
        TWO,
        |c, a| super::call_kernel(&BOTH_FLOAT, c, &a, 2, &[], DataType::Binary),
        "kll_sketch_merge_float(left, right) - Returns one KLL sketch of two.",
    ),
    &scalar(
        "kll_sketch_get_quantile_float",
        TWO,
        |c, a| build_query(&QUANTILE_FLOAT, "rank", DataType::Double, Float::TYPE, c, &a),
        "kll_sketch_get_quantile_float(left, right) - Returns the values at ranks between 0 and 1.",
    ),
    &scalar(
        "kll_sketch_get_rank_float",
        TWO,
        |c, a| build_query(&RANK_FLOAT, "quantile", Float::TYPE, DataType::Double, c, &a),
        "kll_sketch_get_rank_float(left, right) - Returns the ranks of values, between 0 and 1.",
    ),
];

static COUNT_BIGINT: Function = kernel("kll_sketch_get_n_bigint", count::<i64>);
static TEXT_BIGINT: Function = kernel("kll_sketch_to_string_bigint", text::<i64>);
static BOTH_BIGINT: Function = kernel("kll_sketch_merge_bigint", both::<i64>);
static QUANTILE_BIGINT: Function = kernel("kll_sketch_get_quantile_bigint", quantile::<i64>);
static RANK_BIGINT: Function = kernel("kll_sketch_get_rank_bigint", rank::<i64>);
static SKETCH_BIGINT: Kernel = Kernel {
    name: "kll_sketch_agg_bigint",
    states: |c, _| new_states::<i64>(c, false),
    over_nothing: OverNothing::Evaluated,
};
static MERGE_BIGINT: Kernel = Kernel {
    name: "kll_merge_agg_bigint",
    states: |c, _| new_states::<i64>(c, true),
    over_nothing: OverNothing::Evaluated,
};
static COUNT_DOUBLE: Function = kernel("kll_sketch_get_n_double", count::<Double>);
static TEXT_DOUBLE: Function = kernel("kll_sketch_to_string_double", text::<Double>);
static BOTH_DOUBLE: Function = kernel("kll_sketch_merge_double", both::<Double>);
static QUANTILE_DOUBLE: Function = kernel("kll_sketch_get_quantile_double", quantile::<Double>);
static RANK_DOUBLE: Function = kernel("kll_sketch_get_rank_double", rank::<Double>);
static SKETCH_DOUBLE: Kernel = Kernel {
    name: "kll_sketch_agg_double",
    states: |c, _| new_states::<Double>(c, false),
    over_nothing: OverNothing::Evaluated,
};
static MERGE_DOUBLE: Kernel = Kernel {
    name: "kll_merge_agg_double",
    states: |c, _| new_states::<Double>(c, true),
    over_nothing: OverNothing::Evaluated,
};
static COUNT_FLOAT: Function = kernel("kll_sketch_get_n_float", count::<Float>);
static TEXT_FLOAT: Function = kernel("kll_sketch_to_string_float", text::<Float>);
static BOTH_FLOAT: Function = kernel("kll_sketch_merge_float", both::<Float>);
static QUANTILE_FLOAT: Function = kernel("kll_sketch_get_quantile_float", quantile::<Float>);
static RANK_FLOAT: Function = kernel("kll_sketch_get_rank_float", rank::<Float>);
static SKETCH_FLOAT: Kernel = Kernel {
    name: "kll_sketch_agg_float",
    states: |c, _| new_states::<Float>(c, false),
    over_nothing: OverNothing::Evaluated,
};
static MERGE_FLOAT: Kernel = Kernel {
    name: "kll_merge_agg_float",
    states: |c, _| new_states::<Float>(c, true),
    over_nothing: OverNothing::Evaluated,
};

pub static KERNELS: &[&Function] = &[
    &COUNT_BIGINT,
    &TEXT_BIGINT,
    &BOTH_BIGINT,
    &QUANTILE_BIGINT,
    &RANK_BIGINT,
    &COUNT_DOUBLE,
    &TEXT_DOUBLE,
    &BOTH_DOUBLE,
    &QUANTILE_DOUBLE,
    &RANK_DOUBLE,
    &COUNT_FLOAT,
    &TEXT_FLOAT,
    &BOTH_FLOAT,
    &QUANTILE_FLOAT,
    &RANK_FLOAT,
];

pub static AGGREGATES: &[&Kernel] =
    &[&SKETCH_BIGINT, &MERGE_BIGINT, &SKETCH_DOUBLE, &MERGE_DOUBLE, &SKETCH_FLOAT, &MERGE_FLOAT];

/// The constant size of a call; None where it gives none.
fn size_of_call(call: &AggregateContext) -> Result<Option<u16>> {
    let Some(argument) = call.call.arguments.get(1) else { return Ok(None) };
    super::check_constant(&call.text, argument, ArgType::Integer, 1, "k")?;
    let Some(value) = constant::value(argument)? else {
        return Err(SparkError::new("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT")
            .with("sqlExpr", mismatch::quoted(&call.text))
            .with("inputName", "k")
            .with("inputType", "int")
            .with("inputExpr", argument.name.clone()));
    };
    let Some(size) = integer_of(&value) else {
        return Err(constant::unexpected_null(&call.text, "k"));
    };
    match u16::try_from(size) {
        Ok(size) if i64::from(size) >= LEAST_SIZE => Ok(Some(size)),
        _ => {
            let error = SparkError::new("KLL_SKETCH_K_OUT_OF_RANGE")
                .with("functionName", format!("`{}`", call.name))
                .with("k", size.to_string());
            Err(type_check(&call.text, error.to_string()))
        }
    }
}

fn build_sketch<T: Item>(
    kernel: &'static Kernel,
    context: &mut BuildContext<'_>,
    call: AggregateCall,
) -> Result<TypedExpr> {
    let mut call = AggregateContext::new(kernel.name, call);
    let value = call.argument(0)?.clone();
    if !T::accepts(&value.data_type) && !value.data_type.is_null() {
        return Err(call.unexpected_type(0, T::ACCEPTED));
    }
    let value = implicitly(value, &T::TYPE, context)?;
    let size = size_of_call(&call)?.unwrap_or(DEFAULT_SIZE);
    call.call.arguments = vec![value];
    call.aggregate(kernel, context, DataType::Binary, false, Some(&size.to_string()))
}

fn build_merge(kernel: &'static Kernel, context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new(kernel.name, call);
    let value = exactly(call.argument(0)?, ArgType::Binary, 0, &call.text, context)?;
    let size = size_of_call(&call)?.map(|size| size.to_string());
    call.call.arguments = vec![value];
    call.aggregate(kernel, context, DataType::Binary, false, size.as_deref())
}

/// A question to a sketch, for one value or for an array of them.
fn build_query(
    function: &'static Function,
    parameter: &str,
    asked: DataType,
    answered: DataType,
    context: &mut BuildContext<'_>,
    arguments: &[TypedExpr],
) -> Result<TypedExpr> {
    let text = text_of(function.name, arguments);
    let [sketch, question] = arguments else { return Err(SparkError::internal("a sketch is asked one question")) };
    let sketch = exactly(sketch, ArgType::Binary, 0, &text, context)?;
    let wanted = match asked {
        DataType::Long => ArgType::OneOf(&[ArgType::Long, ArgType::ArrayOf(&ArgType::Long)]),
        DataType::Float => ArgType::OneOf(&[ArgType::Float, ArgType::ArrayOf(&ArgType::Float)]),
        _ => ArgType::OneOf(&[ArgType::Double, ArgType::ArrayOf(&ArgType::Double)]),
    };
    if let DataType::Array { contains_null: true, .. } = question.data_type {
        return Err(mismatch::unexpected_input(&text, 1, wanted, question));
    }
    let question = coerce_argument(question.clone(), wanted, 1, &text, context)?;
    if !question.is_foldable() {
        return Err(SparkError::new("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT")
            .with("sqlExpr", mismatch::quoted(&text))
            .with("inputName", format!("`{parameter}`"))
            .with("inputType", mismatch::quoted(&question.data_type.sql()))
            .with("inputExpr", mismatch::quoted(&question.name)));
    }
    let is_array = matches!(question.data_type, DataType::Array { .. });
    let returns = if is_array { DataType::array(answered, false) } else { answered };
    let nullable = sketch.nullable || question.nullable;
    let crate::Body::Scalar { kernel, .. } = &function.body else {
        return Err(SparkError::internal(format!("{} has no kernel", function.name)));
    };
    let expr = crate::kernel::call(function, *kernel, &[sketch, question], &returns, nullable, context)?;
    Ok(TypedExpr::new(expr, returns, nullable, text))
}

fn name<T: Item>(stem: &str) -> String {
    format!("kll_{stem}_{}", T::SUFFIX)
}

fn no_sketch(function: &str) -> SparkError {
    invalid_buffer("KLL_INVALID_INPUT_SKETCH_BUFFER", function)
}

fn read<T: Item>(bytes: &[u8], function: &str) -> Result<KllSketch<T>> {
    KllSketch::deserialize(bytes).map_err(|_| no_sketch(function))
}

fn failed(error: datasketches::error::Error) -> SparkError {
    SparkError::internal(format!("KLL sketch: {error}"))
}

/// Takes in another sketch. Values of the lowest level come in the order that they lie in.
fn merge<T: Item>(sketch: &mut KllSketch<T>, other: &KllSketch<T>) -> Result<()> {
    if other.is_estimation_mode() {
        return sketch.merge(other).map_err(failed);
    }
    let bytes = other.serialize();
    let start = match other.n() {
        0 => return Ok(()),
        1 => 8,
        _ => 24 + 2 * T::SIZE,
    };
    let mut items = SketchSlice::new(bytes.get(start..).unwrap_or_default());
    for _ in 0..other.num_retained() {
        sketch.update(T::deserialize(&mut items).map_err(failed)?);
    }
    Ok(())
}

fn count<T: Item>(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (sketches, name): (Binaries, _) = (Values::of(args, 0)?, name::<T>("sketch_get_n"));
    primitives::<Int64Type>(args, |row| match sketches.get(row) {
        Some(bytes) => Ok(Some(read::<T>(bytes, &name)?.n() as i64)),
        None => Ok(None),
    })
}

fn text<T: Item>(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (sketches, name): (Binaries, _) = (Values::of(args, 0)?, name::<T>("sketch_to_string"));
    texts(args, |row, out| {
        let Some(bytes) = sketches.get(row) else { return Ok(None) };
        let _ = out.write_str(&summary(&read::<T>(bytes, &name)?));
        Ok(Some(()))
    })
}

fn both<T: Item>(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (first, second): (Binaries, Binaries) = (Values::of(args, 0)?, Values::of(args, 1)?);
    let name = name::<T>("sketch_merge");
    binary_results(args, |row| {
        let (Some(first), Some(second)) = (first.get(row), second.get(row)) else { return Ok(None) };
        let mut sketch = read::<T>(first, &name)?;
        merge(&mut sketch, &read(second, &name)?)?;
        Ok(Some(sketch.serialize()))
    })
}

/// Answers the questions of every row with `f`: one value, or an array of them.
fn answer<Q: ArrowPrimitiveType, A: ArrowPrimitiveType, T: Item>(
    args: &KernelArgs<'_>,
    name: &str,
    f: impl Fn(&KllSketch<T>, Q::Native) -> Result<A::Native>,
) -> Result<ColumnarValue> {
    let sketches: Binaries = Values::of(args, 0)?;
    let (questions, is_constant) = array_or_constant(args, 1)?;
    let at = |row: usize| if is_constant { 0 } else { row };
    let sketch = |row: usize| -> Result<Option<KllSketch<T>>> {
        match sketches.get(row) {
            Some(bytes) if questions.is_valid(at(row)) => Ok(Some(read(bytes, name)?)),
            _ => Ok(None),
        }
    };
    let Some(lists) = questions.as_list_opt::<i32>() else {
        let questions = questions.as_primitive::<Q>();
        return primitives::<A>(args, |row| match sketch(row)? {
            Some(sketch) => f(&sketch, questions.value(at(row))).map(Some),
            None => Ok(None),
        });
    };
    let field = Field::new("element", A::DATA_TYPE, false);
    let mut builder = ListBuilder::new(PrimitiveBuilder::<A>::new()).with_field(Arc::new(field));
    for row in 0..row_count(args) {
        let Some(sketch) = sketch(row)? else {
            builder.append(false);
            continue;
        };
        let values = lists.value(at(row));
        let values: &PrimitiveArray<Q> = values.as_primitive();
        for value in values.iter().flatten() {
            builder.values().append_value(f(&sketch, value)?);
        }
        builder.append(true);
    }
    let list: ArrayRef = Arc::new(builder.finish());
    let wanted = firesteel_types::arrow_mapping::to_arrow(args.return_type);
    let list = arrow::compute::cast(&list, &wanted).map_err(|e| SparkError::internal(e.to_string()))?;
    finish(args, list)
}

fn quantile<T: Item>(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let name = name::<T>("sketch_get_quantile");
    answer::<Float64Type, T::Arrow, T>(args, &name, |sketch, rank| {
        if !(0.0..=1.0).contains(&rank) {
            return Err(SparkError::new("KLL_SKETCH_INVALID_QUANTILE_RANGE").with("functionName", format!("`{name}`")));
        }
        let value = sketch.quantile(rank, SearchCriteria::Inclusive).map_err(failed)?;
        value.map(|value| value.value()).ok_or_else(|| no_sketch(&name))
    })
}

fn rank<T: Item>(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let name = name::<T>("sketch_get_rank");
    answer::<T::Arrow, Float64Type, T>(args, &name, |sketch, value| {
        let value = T::of(value).ok_or_else(|| no_sketch(&name))?;
        sketch.rank(&value, SearchCriteria::Inclusive).ok_or_else(|| no_sketch(&name))
    })
}

#[derive(Debug, Clone)]
struct KllFold<T> {
    call: Call,
    is_merge: bool,
    /// None: that of the first sketch.
    size: Option<u16>,
    item: PhantomData<T>,
}

#[derive(Debug)]
struct State<T> {
    sketch: KllSketch<T>,
    /// The values came in sketches.
    is_merged: bool,
}

fn new_states<T: Item>(call: &Call, is_merge: bool) -> DfResult<Box<dyn States>> {
    let size = call.payload().parse().ok();
    Ok(Folded::boxed(KllFold::<T> { call: call.clone(), is_merge, size, item: PhantomData }))
}

impl<T: Item> KllFold<T> {
    fn new_sketch(&self, size: u16) -> Result<KllSketch<T>> {
        KllSketch::new(self.size.unwrap_or(size)).map_err(failed)
    }

    fn state_of<'a>(
        &self,
        state: &'a mut Option<Box<State<T>>>,
        size: u16,
        is_merged: bool,
    ) -> Result<&'a mut State<T>> {
        if state.is_none() {
            *state = Some(Box::new(State { sketch: self.new_sketch(size)?, is_merged }));
        }
        state.as_deref_mut().ok_or_else(|| SparkError::internal("no state"))
    }

    fn take_sketch(&self, state: &mut Option<Box<State<T>>>, bytes: &[u8]) -> Result<()> {
        let kind = if self.is_merge { "merge_agg" } else { "sketch_agg" };
        let other = read::<T>(bytes, &name::<T>(kind))?;
        let state = self.state_of(state, other.k(), true)?;
        merge(&mut state.sketch, &other)
    }

    fn result(&self, state: Option<&State<T>>) -> Result<Vec<u8>> {
        match state {
            None => Ok(self.new_sketch(DEFAULT_SIZE)?.serialize()),
            Some(state) if state.is_merged => Ok(state.sketch.serialize()),
            Some(state) => {
                let mut sketch = self.new_sketch(state.sketch.k())?;
                merge(&mut sketch, &state.sketch)?;
                Ok(sketch.serialize())
            }
        }
    }
}

impl<T: Item> Fold for KllFold<T> {
    type State = Option<Box<State<T>>>;

    fn state_types(&self) -> Vec<ArrowType> {
        vec![ArrowType::Binary]
    }

    fn update(&self, states: &mut [Self::State], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        if self.is_merge {
            return self.merge(states, arguments, rows);
        }
        let values = column(arguments, 0)?.as_primitive::<T::Arrow>();
        rows.try_for_each(values.nulls(), |row, group| {
            let Some(value) = T::of(values.value(row)) else { return Ok(()) };
            let state = self.state_of(&mut states[group], DEFAULT_SIZE, false).map_err(|e| self.call.error(e))?;
            state.sketch.update(value);
            Ok(())
        })
    }

    fn merge(&self, states: &mut [Self::State], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let sketches: &BinaryArray = typed(columns, 0)?;
        rows.try_for_each(sketches.nulls(), |row, group| {
            self.take_sketch(&mut states[group], sketches.value(row)).map_err(|e| self.call.error(e))
        })
    }

    fn state(&self, states: &[Self::State]) -> DfResult<Vec<ArrayRef>> {
        Ok(vec![binaries(states.iter().map(|s| s.as_ref().map(|state| state.sketch.serialize())))])
    }

    fn evaluate(&self, states: &[Self::State]) -> DfResult<ArrayRef> {
        let results = states.iter().map(|s| self.result(s.as_deref())).collect::<Result<Vec<_>>>();
        Ok(binaries(results.map_err(|e| self.call.error(e))?.into_iter().map(Some)))
    }

    fn heap_size(&self, state: &Self::State) -> usize {
        state.as_ref().map_or(0, |state| size_of::<State<T>>() + state.sketch.num_retained() * T::SIZE)
    }
}
