//! `map_filter`, `transform_keys`, `transform_values` and `map_zip_with`: a lambda for each entry.

use super::flat::Flat;
use super::higher_order::{Call, call_text, inner, lambda_at, make, value_at, with_body};
use super::transform::{check_count, predicate};
use crate::coercion::{self, mismatch};
use crate::function::{BuildContext, Function, HigherOrder, LambdaArg, LambdaQuestion};
use crate::scalar::array::identity::Identities;
use crate::scalar::array::list::gather;
use crate::scalar::map::entry::{MapPicker, check_key_type, entry_of, map_of, policy};
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{downcast, internal};
use crate::{ArgType, Body, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, BooleanArray, UInt64Array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, arrow_mapping};
use std::collections::HashMap;

const MAP_AND_LAMBDA: Signature = Signature::of(&[param("argument", ArgType::Any), param("function", ArgType::Any)]);

function! {
    /// `map_filter(map, (k, v) -> …)`
    MAP_FILTER = "map_filter" in Lambda, MAP_AND_LAMBDA
        => Body::HigherOrder(HigherOrder { lambda_parameters: key_and_value, build: build_filter });
    usage "The entries for which a lambda is true.";
    since "3.0.0";
    example "SELECT map_filter(map(1, 0, 2, 2, 3, -1), (k, v) -> k > v)" => "{1:0,3:-1}";
}
function! {
    /// `transform_keys(map, (k, v) -> …)`
    TRANSFORM_KEYS = "transform_keys" in Lambda, MAP_AND_LAMBDA
        => Body::HigherOrder(HigherOrder { lambda_parameters: key_and_value, build: build_keys });
    usage "The map with the keys that a lambda makes of its entries.";
    since "3.0.0";
    example "SELECT transform_keys(map_from_arrays(array(1, 2, 3), array(1, 2, 3)), (k, v) -> k + 1)" => "{2:1,3:2,4:3}";
}
function! {
    /// `transform_values(map, (k, v) -> …)`
    TRANSFORM_VALUES = "transform_values" in Lambda, MAP_AND_LAMBDA
        => Body::HigherOrder(HigherOrder { lambda_parameters: key_and_value, build: build_values });
    usage "The map with the values that a lambda makes of its entries.";
    since "3.0.0";
    example "SELECT transform_values(map_from_arrays(array(1, 2, 3), array(1, 2, 3)), (k, v) -> v + 1)" => "{1:2,2:3,3:4}";
}
function! {
    /// `map_zip_with(map1, map2, (k, v1, v2) -> …)`
    MAP_ZIP_WITH = "map_zip_with" in Lambda,
        Signature::of(&[param("map1", ArgType::Any), param("map2", ArgType::Any), param("function", ArgType::Any)])
        => Body::HigherOrder(HigherOrder { lambda_parameters: key_and_both, build: build_zip });
    usage "A map of the keys of both maps to what a lambda makes of their values, NULL where a map lacks the key.";
    since "3.0.0";
    example "SELECT map_zip_with(map(1, 'a', 2, 'b'), map(1, 'x', 2, 'y'), (k, v1, v2) -> concat(v1, v2))" => "{1:\"ax\",2:\"by\"}";
}

fn map_in_question(question: &LambdaQuestion<'_>, index: usize) -> Result<(DataType, DataType, bool)> {
    let Some(Some(value)) = question.values.get(index) else {
        return Err(SparkError::internal("a map was expected"));
    };
    if !matches!(value.data_type, DataType::Map { .. }) {
        let call = format!("map_filter({}, lambdafunction())", value.name);
        return Err(mismatch::unexpected_input(&call, index, ArgType::Map, value));
    }
    Ok(entry_of(&value.data_type))
}

fn key_and_value(question: &LambdaQuestion<'_>) -> Result<Vec<(DataType, bool)>> {
    check_count(question, 2)?;
    let (key, value, nulls) = map_in_question(question, 0)?;
    Ok(vec![(key, false), (value, nulls)])
}

fn common_key(left: &DataType, right: &DataType, ansi: bool, call: &str) -> Result<DataType> {
    coercion::wider_common_type(&[left.clone(), right.clone()], ansi).ok_or_else(|| {
        SparkError::new("DATATYPE_MISMATCH.MAP_ZIP_WITH_DIFF_TYPES")
            .with("sqlExpr", mismatch::quoted(call))
            .with("functionName", "`map_zip_with`")
            .with("leftType", mismatch::quoted_type(left))
            .with("rightType", mismatch::quoted_type(right))
    })
}

fn key_and_both(question: &LambdaQuestion<'_>) -> Result<Vec<(DataType, bool)>> {
    check_count(question, 3)?;
    let (left_key, left, _) = map_in_question(question, 0)?;
    let (right_key, right, _) = map_in_question(question, 1)?;
    let key = common_key(&left_key, &right_key, question.conf.ansi_enabled, "map_zip_with")?;
    Ok(vec![(key, false), (left, true), (right, true)])
}

fn map_at(function: &Function, arguments: &[LambdaArg], index: usize) -> Result<TypedExpr> {
    let map = value_at(arguments, index)?;
    if matches!(map.data_type, DataType::Map { .. }) {
        return Ok(map);
    }
    Err(mismatch::unexpected_input(&call_text(function, arguments), index, ArgType::Map, &map))
}

fn parameter_types(map: &TypedExpr) -> Vec<Vec<(DataType, bool)>> {
    let (key, value, nulls) = entry_of(&map.data_type);
    vec![vec![(key, false), (value, nulls)]]
}

fn build_filter(context: &mut BuildContext<'_>, arguments: Vec<LambdaArg>) -> Result<TypedExpr> {
    let map = map_at(&MAP_FILTER, &arguments, 0)?;
    let (names, body) = predicate(&MAP_FILTER, &arguments, 1, context)?;
    let (types, result) = (parameter_types(&map), (map.data_type.clone(), map.nullable));
    let arguments = [LambdaArg::Value(map), with_body(names, body)];
    Ok(make(&MAP_FILTER, filter, &arguments, types, result, context, None))
}

fn build_keys(context: &mut BuildContext<'_>, arguments: Vec<LambdaArg>) -> Result<TypedExpr> {
    let map = map_at(&TRANSFORM_KEYS, &arguments, 0)?;
    let (names, body) = lambda_at(&arguments, 1)?;
    check_key_type(&body.data_type, &call_text(&TRANSFORM_KEYS, &arguments))?;
    let (_, value, nulls) = entry_of(&map.data_type);
    let types = parameter_types(&map);
    let result = (DataType::map(body.data_type.clone(), value, nulls), map.nullable);
    let arguments = [LambdaArg::Value(map), with_body(names, body)];
    Ok(make(&TRANSFORM_KEYS, keys, &arguments, types, result, context, policy(context)))
}

fn build_values(context: &mut BuildContext<'_>, arguments: Vec<LambdaArg>) -> Result<TypedExpr> {
    let map = map_at(&TRANSFORM_VALUES, &arguments, 0)?;
    let (names, body) = lambda_at(&arguments, 1)?;
    let (key, ..) = entry_of(&map.data_type);
    let types = parameter_types(&map);
    let result = (DataType::map(key, body.data_type.clone(), body.nullable), map.nullable);
    let arguments = [LambdaArg::Value(map), with_body(names, body)];
    Ok(make(&TRANSFORM_VALUES, values, &arguments, types, result, context, None))
}

fn build_zip(context: &mut BuildContext<'_>, arguments: Vec<LambdaArg>) -> Result<TypedExpr> {
    let (left, right) = (map_at(&MAP_ZIP_WITH, &arguments, 0)?, map_at(&MAP_ZIP_WITH, &arguments, 1)?);
    let (names, body) = lambda_at(&arguments, 2)?;
    let call = call_text(&MAP_ZIP_WITH, &arguments);
    let (left_entry, right_entry) = (entry_of(&left.data_type), entry_of(&right.data_type));
    let key = common_key(&left_entry.0, &right_entry.0, context.conf.ansi_enabled, &call)?;
    let left_type = DataType::map(key.clone(), left_entry.1.clone(), left_entry.2);
    let right_type = DataType::map(key.clone(), right_entry.1.clone(), right_entry.2);
    let nullable = left.nullable || right.nullable;
    let left = coercion::implicitly(left, &left_type, context)?;
    let right = coercion::implicitly(right, &right_type, context)?;
    let types = vec![vec![(key.clone(), false), (left_entry.1, true), (right_entry.1, true)]];
    let result = (DataType::map(key, body.data_type.clone(), body.nullable), nullable);
    let arguments = [LambdaArg::Value(left), LambdaArg::Value(right), with_body(names, body)];
    Ok(make(&MAP_ZIP_WITH, zip, &arguments, types, result, context, None))
}

fn results(call: &Call<'_>) -> Result<(Flat, ArrayRef)> {
    let flat = Flat::of_maps(&call.value(0)?)?;
    let results = call.lambda(1, &flat.parts, &flat.rows)?;
    Ok((flat, results))
}

pub(super) fn filter(call: &Call<'_>) -> Result<ArrayRef> {
    let (flat, results) = results(call)?;
    let keep = downcast::<BooleanArray>(&results)?;
    let keys = arrow::compute::filter(&flat.parts[0], keep).map_err(internal)?;
    let values = arrow::compute::filter(&flat.parts[1], keep).map_err(internal)?;
    let mut offsets = vec![0_i32];
    let mut count = 0_i32;
    for row in 0..flat.len() {
        count += flat.span(row).filter(|at| keep.is_valid(*at) && keep.value(*at)).count() as i32;
        offsets.push(count);
    }
    let entries = inner(&arrow_mapping::to_arrow(call.return_type()))?;
    map_of(entries, OffsetBuffer::new(offsets.into()), keys, values, flat.nulls.clone())
}

pub(super) fn keys(call: &Call<'_>) -> Result<ArrayRef> {
    let (flat, results) = results(call)?;
    let last_wins = call.function.call.settings.payload.is_some();
    let mut out = MapPicker::new(call.return_type(), vec![results], vec![flat.parts[1].clone()], last_wins)?;
    for row in 0..flat.len() {
        if flat.is_null(row) {
            out.end_null()?;
            continue;
        }
        for at in flat.span(row) {
            out.push((0, at), (0, at))?;
        }
        out.end()?;
    }
    out.finish()
}

pub(super) fn values(call: &Call<'_>) -> Result<ArrayRef> {
    let (flat, results) = results(call)?;
    let entries = inner(&arrow_mapping::to_arrow(call.return_type()))?;
    map_of(entries, flat.offsets.clone(), flat.parts[0].clone(), results, flat.nulls.clone())
}

pub(super) fn zip(call: &Call<'_>) -> Result<ArrayRef> {
    let (left, right) = (Flat::of_maps(&call.value(0)?)?, Flat::of_maps(&call.value(1)?)?);
    let (key_type, ..) = entry_of(call.return_type());
    let sources = [left.parts[0].clone(), right.parts[0].clone()];
    let identities = Identities::new(&sources, &key_type)?;
    let (mut keys, mut lefts, mut rights, mut rows): (Vec<(u32, u32)>, Vec<Option<u64>>, Vec<Option<u64>>, Vec<u64>) =
        Default::default();
    let (mut offsets, mut valid) = (vec![0_i32], Vec::with_capacity(left.len()));
    for row in 0..left.len() {
        let is_valid = !left.is_null(row) && !right.is_null(row);
        valid.push(is_valid);
        if is_valid {
            let mut places: HashMap<&[u8], usize> = HashMap::new();
            for at in left.span(row) {
                places.insert(identities.of(0, at), keys.len());
                keys.push((0, at as u32));
                lefts.push(Some(at as u64));
                rights.push(None);
                rows.push(row as u64);
            }
            for at in right.span(row) {
                if let Some(place) = places.get(identities.of(1, at)) {
                    rights[*place] = Some(at as u64);
                    continue;
                }
                keys.push((1, at as u32));
                lefts.push(None);
                rights.push(Some(at as u64));
                rows.push(row as u64);
            }
        }
        offsets.push(i32::try_from(rows.len()).map_err(internal)?);
    }
    let keys = gather(&sources, &keys, &arrow_mapping::to_arrow(&key_type))?;
    let lefts = arrow::compute::take(&left.parts[1], &UInt64Array::from(lefts), None).map_err(internal)?;
    let rights = arrow::compute::take(&right.parts[1], &UInt64Array::from(rights), None).map_err(internal)?;
    let values = call.lambda(2, &[keys.clone(), lefts, rights], &UInt64Array::from(rows))?;
    let entries = inner(&arrow_mapping::to_arrow(call.return_type()))?;
    map_of(entries, OffsetBuffer::new(offsets.into()), keys, values, Some(NullBuffer::from(valid)))
}
