//! Elements of arrays by their position, values of maps by their key.

use super::list::{Column, Lists, element_of, pick_one};
use crate::coercion::{self, mismatch};
use crate::kernel::kernel;
use crate::scalar::map::entry::{self, OnMissing};
use crate::scalar::string::constant;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{downcast, finish, internal, row_count};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, Int64Array, StructArray};
use datafusion::logical_expr::{ColumnarValue, Expr};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, StructType};
use std::sync::Arc;

function! {
    /// `array[index]`, counted from 0
    GET_ARRAY_ITEM = "get_array_item" in Internal,
        Signature::of(&[param("array", ArgType::Array), param("index", ArgType::Integral)]) => Body::Build(get_array_item);
    text |a| format!("{}[{}]", a[0], a[1]);
    usage "The element at a position, counted from 0.";
    since "1.0.0";
}
function! {
    /// `get(array, index)`
    GET = "get" in Array,
        Signature::of(&[param("array", ArgType::Any), param("index", ArgType::Integer)]) => Body::Build(get);
    usage "The element at a position, counted from 0; NULL where there is none.";
    since "3.4.0";
    example "SELECT get(array(1, 2, 3), 0)" => "1";
    example "SELECT get(array(1, 2, 3), 3)" => "NULL";
}
function! {
    /// `element_at(array, index)`, `element_at(map, key)`
    ELEMENT_AT = "element_at" in Array,
        Signature::of(&[param("collection", ArgType::Any), param("key", ArgType::Any)])
        => Body::Build(|context, arguments| element_at(context, arguments, false));
    usage "The element at a position, counted from 1 or, if negative, from the end; the value of a map's key.";
    since "2.4.0";
    example "SELECT element_at(array(1, 2, 3), 2)" => "2";
    example "SELECT element_at(map(1, 'a', 2, 'b'), 2)" => "b";
}
function! {
    /// `try_element_at(array, index)`, `try_element_at(map, key)`
    TRY_ELEMENT_AT = "try_element_at" in Array,
        Signature::of(&[param("collection", ArgType::Any), param("key", ArgType::Any)])
        => Body::Build(|context, arguments| element_at(context, arguments, true));
    usage "As `element_at`, but NULL where there is no such element.";
    since "3.5.0";
    example "SELECT try_element_at(array(1, 2, 3), 5)" => "NULL";
}
function! {
    /// `array.field` of an array of structs
    GET_ARRAY_STRUCT_FIELDS = "get_array_struct_fields" in Internal,
        Signature::of(&[param("array", ArgType::Array), param("field", ArgType::String)]) => Body::Build(struct_fields);
    text |a| format!("{}.{}", a[0], a[1]);
    usage "The array of one field of each struct.";
    since "1.4.0";
}

const ZERO_BASED: &str = "item";
const ZERO_BASED_LENIENT: &str = "get";
const ONE_BASED: &str = "element_at";
const ONE_BASED_LENIENT: &str = "try_element_at";

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] = &[
    &kernel("get_array_item", by_position),
    &kernel("get", by_position),
    &kernel("element_at", by_position_or_key),
    &kernel("try_element_at", by_position_or_key),
    &kernel("get_array_struct_fields", fields_kernel),
];

/// Two arguments as they must be after the arity was checked.
pub fn pair(arguments: Vec<TypedExpr>) -> Result<(TypedExpr, TypedExpr)> {
    let [first, second] =
        <[TypedExpr; 2]>::try_from(arguments).map_err(|_| SparkError::internal("two arguments were expected"))?;
    Ok((first, second))
}

fn get_array_item(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let (array, index) = pair(arguments)?;
    let (element, contains_null) = element_of(&array.data_type);
    let ansi = context.conf.ansi_enabled;
    let is_fixed = index.literal().is_some_and(|v| !v.is_null());
    let elements_only = is_array_call(&array.expr);
    let nullable =
        array.nullable || index.nullable || if ansi && (elements_only || !is_fixed) { contains_null } else { true };
    item(&GET_ARRAY_ITEM, if ansi { ZERO_BASED } else { ZERO_BASED_LENIENT }, array, index, element, nullable, context)
}

/// True for `array(…)` written out, whose elements are known.
fn is_array_call(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(ScalarValue::List(_), _) => true,
        Expr::ScalarFunction(f) => f.func.name() == "array",
        _ => false,
    }
}

/// How many elements an array that is written out has.
fn known_length(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(ScalarValue::List(list), _) if list.len() == 1 => Some(i64::from(list.value_length(0))),
        Expr::ScalarFunction(f) if f.func.name() == "array" => Some(f.args.len() as i64),
        _ => None,
    }
}

/// True where an index is constant and within an array that is written out.
fn is_within(array: &TypedExpr, index: &TypedExpr, from_one: bool) -> bool {
    let (Some(length), Some(index)) = (known_length(&array.expr), index.literal().and_then(constant::integer_of))
    else {
        return false;
    };
    if from_one { index.abs() <= length } else { (0..length).contains(&index) }
}

fn get(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    super::typing::require_array(&arguments, 0, "get")?;
    let (array, index) = pair(arguments)?;
    let (element, contains_null) = element_of(&array.data_type);
    let nullable = contains_null || array.nullable || index.nullable || !is_within(&array, &index, false);
    item(&GET, ZERO_BASED_LENIENT, array, index, element, nullable, context)
}

fn item(
    function: &Function,
    rule: &str,
    array: TypedExpr,
    index: TypedExpr,
    element: DataType,
    nullable: bool,
    context: &mut BuildContext<'_>,
) -> Result<TypedExpr> {
    let index = coercion::implicitly(index, &DataType::Long, context)?;
    let arguments = [array, index];
    let payload = Some(Arc::from(rule));
    let expr =
        crate::kernel::call_with_payload(function, by_position, &arguments, &element, nullable, context, payload)?;
    Ok(TypedExpr::new(expr, element, nullable, ""))
}

fn element_at(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>, is_try: bool) -> Result<TypedExpr> {
    let function = if is_try { &TRY_ELEMENT_AT } else { &ELEMENT_AT };
    let (collection, key) = pair(arguments)?;
    let call = function.call_text(&[collection.name.clone(), key.name.clone()]);
    let ansi = context.conf.ansi_enabled;
    match collection.data_type.clone() {
        DataType::Array { element, contains_null } => {
            if !matches!(key.data_type, DataType::Byte | DataType::Short | DataType::Integer) {
                return Err(mismatch::unexpected_input(&call, 1, ArgType::Integer, &key));
            }
            let key = coercion::implicitly(key, &DataType::Integer, context)?;
            let is_fixed = key.literal().is_some_and(|v| !v.is_null());
            let is_lenient = is_try || !ansi;
            let known = is_array_call(&collection.expr);
            let nullable = (is_lenient && !is_within(&collection, &key, true))
                || collection.nullable
                || key.nullable
                || if known || !is_fixed { contains_null } else { true };
            let rule = if is_lenient { ONE_BASED_LENIENT } else { ONE_BASED };
            item(function, rule, collection, key, element.as_ref().clone(), nullable, context)
        }
        DataType::Map { .. } => {
            let (map, key) = entry::with_common_key(collection, key, function.name, &call, context)?;
            entry::lookup(function, map, key, OnMissing::Null, context)
        }
        _ => {
            let wanted = ArgType::OneOf(&[ArgType::Array, ArgType::Map]);
            Err(mismatch::unexpected_input(&call, 0, wanted, &collection))
        }
    }
}

/// A call that has travelled tells by its first argument which of the two it is.
fn by_position_or_key(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    match args.types.first() {
        Some(DataType::Map { .. }) => entry::find(args),
        _ => by_position(args),
    }
}

fn by_position(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let lists = Lists::of(args, 0)?;
    let index = Column::of(args, 1)?;
    let indices = downcast::<Int64Array>(&index.array)?;
    let rule = args.settings.payload.as_deref().unwrap_or(ZERO_BASED);
    let (from_one, fails) = match rule {
        ONE_BASED => (true, true),
        ONE_BASED_LENIENT => (true, false),
        ZERO_BASED => (false, true),
        _ => (false, false),
    };
    let rows = row_count(args);
    let mut picks = Vec::with_capacity(rows);
    for row in 0..rows {
        let (Some(span), false) = (lists.span(row), index.is_null(row)) else {
            picks.push(None);
            continue;
        };
        let wanted = indices.value(index.at(row));
        let length = span.len() as i64;
        let offset = match wanted {
            0 if from_one => return Err(SparkError::new("INVALID_INDEX_OF_ZERO")),
            n if from_one && n > 0 => n - 1,
            n if from_one => length + n,
            n => n,
        };
        if (0..length).contains(&offset) {
            picks.push(Some(span.start + offset as usize));
        } else if fails {
            let condition = if from_one { "INVALID_ARRAY_INDEX_IN_ELEMENT_AT" } else { "INVALID_ARRAY_INDEX" };
            return Err(SparkError::new(condition)
                .with("indexValue", wanted.to_string())
                .with("arraySize", length.to_string()));
        } else {
            picks.push(None);
        }
    }
    finish(args, pick_one(lists.values(), &picks, args.return_type)?)
}

fn struct_fields(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let (array, field) = pair(arguments)?;
    let (element, contains_null) = element_of(&array.data_type);
    let (DataType::Struct(schema), Some(name)) = (element, field.literal().and_then(|v| v.try_as_str().flatten()))
    else {
        return Err(SparkError::internal("fields are read of an array of structs, by name"));
    };
    let Some((position, found)) = field_of(&schema, name) else {
        return Err(SparkError::internal(format!("no field {name} in an array's structs")));
    };
    let data_type = DataType::array(found.data_type.clone(), contains_null || found.nullable);
    let nullable = array.nullable;
    let payload = Some(Arc::from(position.to_string().as_str()));
    let expr = crate::kernel::call_with_payload(
        &GET_ARRAY_STRUCT_FIELDS,
        fields_kernel,
        std::slice::from_ref(&array),
        &data_type,
        nullable,
        context,
        payload,
    )?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn field_of<'a>(schema: &'a StructType, name: &str) -> Option<(usize, &'a firesteel_types::StructField)> {
    schema.fields.iter().enumerate().find(|(_, f)| f.name == name)
}

fn fields_kernel(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let lists = Lists::of(args, 0)?;
    let position: usize = args.settings.payload.as_deref().and_then(|p| p.parse().ok()).unwrap_or(0);
    let structs = downcast::<StructArray>(lists.values())?;
    let column = column_of(structs, position)?;
    let list = lists.list();
    let arrow::datatypes::DataType::List(field) = firesteel_types::arrow_mapping::to_arrow(args.return_type) else {
        return Err(SparkError::internal("fields make an array"));
    };
    let column = super::list::conform(&column, field.data_type())?;
    let made = arrow::array::ListArray::try_new(field, list.offsets().clone(), column, list.nulls().cloned());
    let made: ArrayRef = Arc::new(made.map_err(internal)?);
    let made = if lists.is_constant() {
        arrow::compute::take(&made, &arrow::array::UInt64Array::from(vec![0; row_count(args)]), None)
            .map_err(internal)?
    } else {
        made
    };
    finish(args, made)
}

/// A struct's column, null where the struct is.
pub fn column_of(structs: &StructArray, position: usize) -> Result<ArrayRef> {
    let column = structs
        .columns()
        .get(position)
        .ok_or_else(|| SparkError::internal(format!("a struct without field {position}")))?;
    if structs.null_count() == 0 {
        return Ok(Arc::clone(column));
    }
    let hidden = arrow::compute::is_null(structs).map_err(internal)?;
    arrow::compute::nullif(column.as_ref(), &hidden).map_err(internal)
}
