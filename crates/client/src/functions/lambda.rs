//! Functions that take functions: closures over columns.

use super::IntoColumn;
use crate::Column;
use firesteel_proto::connect as proto;
use proto::expression::{ExprType, LambdaFunction, UnresolvedNamedLambdaVariable};
use std::sync::atomic::{AtomicU64, Ordering};

/// A variable that no other lambda has, so that lambdas nest.
fn variable(name: &str) -> UnresolvedNamedLambdaVariable {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    UnresolvedNamedLambdaVariable { name_parts: vec![format!("{name}_{}", NEXT.fetch_add(1, Ordering::Relaxed))] }
}

fn lambda<const N: usize>(names: [&str; N], body: impl FnOnce([Column; N]) -> Column) -> Column {
    let variables = names.map(variable);
    let columns = variables.clone().map(|of| Column::of(ExprType::UnresolvedNamedLambdaVariable(of)));
    body(columns)
        .wrap(|function| ExprType::LambdaFunction(Box::new(LambdaFunction { function, arguments: variables.to_vec() })))
}

fn lambda1(body: impl FnOnce(Column) -> Column) -> Column {
    lambda(["x"], |[x]| body(x))
}

fn lambda2(body: impl FnOnce(Column, Column) -> Column) -> Column {
    lambda(["x", "y"], |[x, y]| body(x, y))
}

fn lambda3(body: impl FnOnce(Column, Column, Column) -> Column) -> Column {
    lambda(["x", "y", "z"], |[x, y, z]| body(x, y, z))
}

/// The array with each element changed by a function.
///
/// ```
/// use firesteel_client::functions::{lit, transform};
/// let squares = transform("numbers", |x| x.clone() * x);
/// ```
pub fn transform(array: impl IntoColumn, function: impl FnOnce(Column) -> Column) -> Column {
    Column::call("transform", vec![array.into_column(), lambda1(function)])
}

/// The array with each element changed by a function of the element and its position from 0.
pub fn transform_indexed(array: impl IntoColumn, function: impl FnOnce(Column, Column) -> Column) -> Column {
    Column::call("transform", vec![array.into_column(), lambda2(function)])
}

/// The elements for which a condition is true.
pub fn filter(array: impl IntoColumn, condition: impl FnOnce(Column) -> Column) -> Column {
    Column::call("filter", vec![array.into_column(), lambda1(condition)])
}

/// The elements for which a condition of the element and its position from 0 is true.
pub fn filter_indexed(array: impl IntoColumn, condition: impl FnOnce(Column, Column) -> Column) -> Column {
    Column::call("filter", vec![array.into_column(), lambda2(condition)])
}

/// Whether a condition holds for an element.
pub fn exists(array: impl IntoColumn, condition: impl FnOnce(Column) -> Column) -> Column {
    Column::call("exists", vec![array.into_column(), lambda1(condition)])
}

/// Whether a condition holds for all elements.
pub fn forall(array: impl IntoColumn, condition: impl FnOnce(Column) -> Column) -> Column {
    Column::call("forall", vec![array.into_column(), lambda1(condition)])
}

/// Folds an array: from a first state, each element makes the next state.
pub fn aggregate(
    array: impl IntoColumn,
    initial: impl IntoColumn,
    merge: impl FnOnce(Column, Column) -> Column,
) -> Column {
    Column::call("aggregate", vec![array.into_column(), initial.into_column(), lambda2(merge)])
}

/// As [`aggregate`], with a function that makes the result of the last state.
pub fn aggregate_with(
    array: impl IntoColumn,
    initial: impl IntoColumn,
    merge: impl FnOnce(Column, Column) -> Column,
    finish: impl FnOnce(Column) -> Column,
) -> Column {
    let lambdas = [lambda2(merge), lambda1(finish)];
    let arguments = [array.into_column(), initial.into_column()].into_iter().chain(lambdas);
    Column::call("aggregate", arguments.collect())
}

/// Folds an array, as [`aggregate`].
pub fn reduce(
    array: impl IntoColumn,
    initial: impl IntoColumn,
    merge: impl FnOnce(Column, Column) -> Column,
) -> Column {
    Column::call("reduce", vec![array.into_column(), initial.into_column(), lambda2(merge)])
}

/// Two arrays joined element by element.
pub fn zip_with(
    left: impl IntoColumn,
    right: impl IntoColumn,
    function: impl FnOnce(Column, Column) -> Column,
) -> Column {
    Column::call("zip_with", vec![left.into_column(), right.into_column(), lambda2(function)])
}

/// The map with each key changed by a function of key and value.
pub fn transform_keys(map: impl IntoColumn, function: impl FnOnce(Column, Column) -> Column) -> Column {
    Column::call("transform_keys", vec![map.into_column(), lambda2(function)])
}

/// The map with each value changed by a function of key and value.
pub fn transform_values(map: impl IntoColumn, function: impl FnOnce(Column, Column) -> Column) -> Column {
    Column::call("transform_values", vec![map.into_column(), lambda2(function)])
}

/// The entries of a map for which a function of key and value is true.
pub fn map_filter(map: impl IntoColumn, function: impl FnOnce(Column, Column) -> Column) -> Column {
    Column::call("map_filter", vec![map.into_column(), lambda2(function)])
}

/// Two maps joined key by key, by a function of the key and both values.
pub fn map_zip_with(
    left: impl IntoColumn,
    right: impl IntoColumn,
    function: impl FnOnce(Column, Column, Column) -> Column,
) -> Column {
    Column::call("map_zip_with", vec![left.into_column(), right.into_column(), lambda3(function)])
}

/// The array in ascending order, NULL last.
pub fn array_sort(array: impl IntoColumn) -> Column {
    Column::call("array_sort", vec![array.into_column()])
}

/// The array in the order of a function that gives a negative number, zero or a positive one for two elements.
pub fn array_sort_by(array: impl IntoColumn, compare: impl FnOnce(Column, Column) -> Column) -> Column {
    Column::call("array_sort", vec![array.into_column(), lambda2(compare)])
}
