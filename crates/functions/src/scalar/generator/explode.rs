//! A row per element of an array or entry of a map.

use crate::coercion::mismatch;
use crate::function::Generator;
use crate::kernel::kernel;
use crate::scalar::array::list::{conform, element_of, range};
use crate::scalar::map::entry::entry_of;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{array_or_constant, downcast, finish, internal};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, Int32Array, ListArray, MapArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, StructField, arrow_mapping};
use std::sync::Arc;

/// The parameter of `inline` has another name.
const INPUT: Signature = Signature::of(&[param("input", ArgType::Any)]);
const COLLECTION: Signature = Signature::of(&[param("collection", ArgType::Any)]);

function! {
    /// `explode(array or map)`
    EXPLODE = "explode" in Generator, COLLECTION => Body::Generator(|c, a| explode(&EXPLODE, c, a, false, false));
    usage "A row per element of an array, or per entry of a map.";
    since "1.0.0";
    example "SELECT explode(array(10, 20))" => "10\n20";
}
function! {
    /// `explode_outer(array or map)`
    EXPLODE_OUTER = "explode_outer" in Generator, COLLECTION
        => Body::Generator(|c, a| explode(&EXPLODE_OUTER, c, a, false, true));
    usage "As `explode`, but one row of NULL where there is no element.";
    since "1.0.0";
    example "SELECT explode_outer(array(10, 20))" => "10\n20";
}
function! {
    /// `posexplode(array or map)`
    POSEXPLODE = "posexplode" in Generator, COLLECTION
        => Body::Generator(|c, a| explode(&POSEXPLODE, c, a, true, false));
    usage "As `explode`, with the position of the element, counted from 0, before it.";
    since "2.0.0";
    example "SELECT posexplode(array(10, 20))" => "0\t10\n1\t20";
}
function! {
    /// `posexplode_outer(array or map)`
    POSEXPLODE_OUTER = "posexplode_outer" in Generator, COLLECTION
        => Body::Generator(|c, a| explode(&POSEXPLODE_OUTER, c, a, true, true));
    usage "As `posexplode`, but one row of NULL where there is no element.";
    since "2.0.0";
    example "SELECT posexplode_outer(array(10, 20))" => "0\t10\n1\t20";
}
function! {
    /// `inline(array of structs)`
    INLINE = "inline" in Generator, INPUT => Body::Generator(|c, a| inline(&INLINE, c, a, false));
    usage "A row per struct of an array, with its fields as columns.";
    since "2.0.0";
    example "SELECT inline(array(struct(1, 'a'), struct(2, 'b')))" => "1\ta\n2\tb";
}
function! {
    /// `inline_outer(array of structs)`
    INLINE_OUTER = "inline_outer" in Generator, INPUT => Body::Generator(|c, a| inline(&INLINE_OUTER, c, a, true));
    usage "As `inline`, but one row of NULL where there is no struct.";
    since "2.0.0";
    example "SELECT inline_outer(array(struct(1, 'a'), struct(2, 'b')))" => "1\ta\n2\tb";
}

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] = &[
    &kernel("explode", run),
    &kernel("explode_outer", run),
    &kernel("posexplode", run),
    &kernel("posexplode_outer", run),
    &kernel("inline", run),
    &kernel("inline_outer", run),
];

fn only(arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    arguments.into_iter().next().ok_or_else(|| SparkError::internal("one argument was expected"))
}

fn explode(
    function: &Function,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
    with_position: bool,
    is_outer: bool,
) -> Result<Generator> {
    let collection = only(arguments)?;
    let mut columns = Vec::new();
    if with_position {
        columns.push(StructField::new("pos", DataType::Integer, false));
    }
    match &collection.data_type {
        DataType::Array { element, contains_null } => {
            columns.push(StructField::new("col", element.as_ref().clone(), *contains_null));
        }
        DataType::Map { .. } => {
            let (key, value, nulls) = entry_of(&collection.data_type);
            columns.push(StructField::new("key", key, false));
            columns.push(StructField::new("value", value, nulls));
        }
        _ => {
            let call = function.call_text(&[collection.name.clone()]);
            let wanted = ArgType::OneOf(&[ArgType::Array, ArgType::Map]);
            return Err(mismatch::unexpected_input(&call, 0, wanted, &collection));
        }
    }
    rows(function, context, collection, columns, is_outer)
}

fn inline(
    function: &Function,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
    is_outer: bool,
) -> Result<Generator> {
    let array = only(arguments)?;
    let (element, contains_null) = element_of(&array.data_type);
    let DataType::Struct(schema) = element else {
        let call = function.call_text(&[array.name.clone()]);
        return Err(mismatch::unexpected_input(&call, 0, ArgType::ArrayOf(&ArgType::Struct), &array));
    };
    let columns = schema
        .fields
        .iter()
        .map(|f| StructField::new(f.name.clone(), f.data_type.clone(), f.nullable || contains_null))
        .collect();
    rows(function, context, array, columns, is_outer)
}

fn rows(
    function: &Function,
    context: &mut BuildContext<'_>,
    collection: TypedExpr,
    columns: Vec<StructField>,
    is_outer: bool,
) -> Result<Generator> {
    let data_type = DataType::array(DataType::struct_of(columns.clone()), true);
    let payload = is_outer.then(|| Arc::from("outer"));
    let arguments = [collection];
    let expr = crate::kernel::call_with_payload(function, run, &arguments, &data_type, true, context, payload)?;
    Ok(Generator { rows: TypedExpr::new(expr, data_type, true, ""), columns, is_outer })
}

/// Arrays of structs over the same elements; nothing is copied.
fn run(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let is_outer = args.settings.payload.is_some();
    let (array, _) = array_or_constant(args, 0)?;
    let ArrowType::List(field) = arrow_mapping::to_arrow(args.return_type) else {
        return Err(SparkError::internal("a generator makes arrays"));
    };
    let ArrowType::Struct(fields) = field.data_type() else {
        return Err(SparkError::internal("a generator makes arrays of structs"));
    };
    let is_inline = matches!(args.types.first(), Some(DataType::Array { element, .. })
        if matches!(element.as_ref(), DataType::Struct(_)) && args.return_type.same_type(&args.types[0]));
    let (offsets, nulls, columns): (OffsetBuffer<i32>, Option<NullBuffer>, Vec<ArrayRef>) = match array.data_type() {
        ArrowType::Map(..) => {
            let map = downcast::<MapArray>(&array)?;
            (map.offsets().clone(), map.nulls().cloned(), vec![map.keys().clone(), map.values().clone()])
        }
        _ => {
            let list = downcast::<ListArray>(&array)?;
            (list.offsets().clone(), list.nulls().cloned(), vec![list.values().clone()])
        }
    };
    let length = columns.first().map_or(0, |c| c.len());
    let nulls = if is_outer { without_empty(&offsets, nulls) } else { nulls };
    let values = if is_inline {
        conform(&columns[0], field.data_type())?
    } else {
        let mut columns = columns;
        if columns.len() < fields.len() {
            columns.insert(0, positions(&offsets, length));
        }
        let columns = columns.iter().zip(fields).map(|(c, f)| conform(c, f.data_type())).collect::<Result<Vec<_>>>()?;
        Arc::new(StructArray::try_new(fields.clone(), columns, None).map_err(internal)?) as ArrayRef
    };
    finish(args, Arc::new(ListArray::try_new(field, offsets, values, nulls).map_err(internal)?))
}

fn positions(offsets: &OffsetBuffer<i32>, length: usize) -> ArrayRef {
    let mut positions = vec![0_i32; length];
    for row in 0..offsets.len().saturating_sub(1) {
        for (position, slot) in positions[range(offsets, row)].iter_mut().enumerate() {
            *slot = position as i32;
        }
    }
    Arc::new(Int32Array::from(positions))
}

/// The nulls, with every empty array among them.
fn without_empty(offsets: &OffsetBuffer<i32>, nulls: Option<NullBuffer>) -> Option<NullBuffer> {
    let valid: Vec<bool> = offsets.windows(2).map(|w| w[0] < w[1]).collect();
    if valid.iter().all(|v| *v) {
        return nulls;
    }
    NullBuffer::union(nulls.as_ref(), Some(&NullBuffer::from(valid)))
}
