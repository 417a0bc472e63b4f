//! Functions that no table can hold.

use super::{IntoColumn, IntoColumns, IntoValue};
use crate::{Column, DataFrame, When};
use firesteel_proto::connect as proto;
use proto::expression::ExprType;

/// A column by its name; `*` is all of them, `s.*` all fields or columns of `s`.
pub fn col(name: impl AsRef<str>) -> Column {
    let name = name.as_ref();
    if name == "*" || name.ends_with(".*") {
        let unparsed_target = (name != "*").then(|| name.to_string());
        return Column::of(ExprType::UnresolvedStar(proto::expression::UnresolvedStar {
            unparsed_target,
            plan_id: None,
        }));
    }
    let unparsed_identifier = name.to_string();
    Column::of(ExprType::UnresolvedAttribute(proto::expression::UnresolvedAttribute {
        unparsed_identifier,
        ..Default::default()
    }))
}

/// A column by its name.
pub fn column(name: impl AsRef<str>) -> Column {
    col(name)
}

/// A value.
pub fn lit(value: impl IntoValue) -> Column {
    value.into_value()
}

/// SQL text of an expression.
pub fn expr(text: impl Into<String>) -> Column {
    Column::of(ExprType::ExpressionString(proto::expression::ExpressionString { expression: text.into() }))
}

/// The first branch of a CASE expression.
pub fn when(condition: Column, value: impl IntoValue) -> When {
    When::new(condition, value)
}

/// A function of the server by its name, built-in or registered.
pub fn call_function(name: impl Into<String>, arguments: impl IntoColumns) -> Column {
    let (arguments, references) = crate::column::split(arguments.into_columns());
    let call = proto::CallFunction { function_name: name.into(), arguments };
    Column::of(ExprType::CallFunction(call)).with_references(references)
}

/// A registered function by its name.
pub fn call_udf(name: impl Into<String>, arguments: impl IntoColumns) -> Column {
    call_function(name, arguments)
}

/// A call of a function that is sent along, such as a pickled Python function.
pub fn call_inline(mut function: crate::InlineFunction, arguments: impl IntoColumns) -> Column {
    let (arguments, references) = crate::column::split(arguments.into_columns());
    function.arguments = arguments;
    Column::of(ExprType::CommonInlineUserDefinedFunction(function)).with_references(references)
}

/// Marks a frame as small enough to be sent to every worker of a join.
pub fn broadcast(frame: &DataFrame) -> DataFrame {
    frame.hint("broadcast", ())
}

/// The column in ascending order, NULL first.
pub fn asc(column: impl IntoColumn) -> Column {
    column.into_column().asc()
}

/// Ascending, NULL first.
pub fn asc_nulls_first(column: impl IntoColumn) -> Column {
    column.into_column().asc_nulls_first()
}

/// Ascending, NULL last.
pub fn asc_nulls_last(column: impl IntoColumn) -> Column {
    column.into_column().asc_nulls_last()
}

/// The column in descending order, NULL last.
pub fn desc(column: impl IntoColumn) -> Column {
    column.into_column().desc()
}

/// Descending, NULL first.
pub fn desc_nulls_first(column: impl IntoColumn) -> Column {
    column.into_column().desc_nulls_first()
}

/// Descending, NULL last.
pub fn desc_nulls_last(column: impl IntoColumn) -> Column {
    column.into_column().desc_nulls_last()
}

fn distinct(name: &str, arguments: Vec<Column>) -> Column {
    let mut call = Column::call(name, arguments);
    if let Some(ExprType::UnresolvedFunction(function)) = &mut call.expression.expr_type {
        function.is_distinct = true;
    }
    call
}

/// How many different rows of values a group has; rows with a NULL do not count.
pub fn count_distinct(columns: impl IntoColumns) -> Column {
    distinct("count", columns.into_columns())
}

/// The sum of the different values of a group.
pub fn sum_distinct(column: impl IntoColumn) -> Column {
    distinct("sum", vec![column.into_column()])
}

/// The different values of a group, joined by a delimiter.
pub fn listagg_distinct(column: impl IntoColumn, delimiter: impl IntoValue) -> Column {
    distinct("listagg", vec![column.into_column(), delimiter.into_value()])
}

/// The different values of a group, joined by a delimiter.
pub fn string_agg_distinct(column: impl IntoColumn, delimiter: impl IntoValue) -> Column {
    distinct("string_agg", vec![column.into_column(), delimiter.into_value()])
}

/// A wall-clock time in one zone as it is in another; None is the session's zone.
pub fn convert_timezone(source: Option<Column>, target: impl IntoValue, timestamp: impl IntoColumn) -> Column {
    let mut arguments: Vec<Column> = source.into_iter().collect();
    arguments.extend([target.into_value(), timestamp.into_column()]);
    Column::call("convert_timezone", arguments)
}

/// Windows of time of a duration, such as `"10 minutes"`, one after the other; a struct of `start` and `end`.
///
/// ```
/// # use firesteel_client::functions::{col, count, lit, window};
/// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
/// let clicks = spark.sql("SELECT timestamp'2024-01-01 10:07:00' AS at").await?;
/// let counts = clicks.group_by(window("at", "5 minutes")).agg(count(lit(1)).alias("n"));
/// assert_eq!(counts.select("n").first::<(i64,)>().await?, Some((1,)));
/// # Ok(()) }
/// # firesteel_client::doc_test(run);
/// ```
pub fn window(time: impl IntoColumn, duration: impl IntoValue) -> Column {
    Column::call("window", vec![time.into_column(), duration.into_value()])
}

/// As [`window`], with a new window each `slide`, which may be shorter than a window.
pub fn window_sliding(time: impl IntoColumn, duration: impl IntoValue, slide: impl IntoValue) -> Column {
    Column::call("window", vec![time.into_column(), duration.into_value(), slide.into_value()])
}

/// As [`window_sliding`], where the first window starts so long after 1970.
pub fn window_from(
    time: impl IntoColumn,
    duration: impl IntoValue,
    slide: impl IntoValue,
    start: impl IntoValue,
) -> Column {
    Column::call("window", vec![time.into_column(), duration.into_value(), slide.into_value(), start.into_value()])
}

/// The logarithm to a base.
pub fn log_base(base: impl IntoValue, column: impl IntoColumn) -> Column {
    Column::call("log", vec![base.into_value(), column.into_column()])
}

/// The value under a user-defined type.
pub fn unwrap_udt(column: impl IntoColumn) -> Column {
    internal("unwrap_udt", vec![column.into_column()])
}

/// A function that is not for SQL.
pub(crate) fn internal(name: &str, arguments: Vec<Column>) -> Column {
    let mut call = Column::call(name, arguments);
    if let Some(ExprType::UnresolvedFunction(function)) = &mut call.expression.expr_type {
        function.is_internal = Some(true);
    }
    call
}
