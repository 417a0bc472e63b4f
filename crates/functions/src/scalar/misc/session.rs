//! Facts of the session, of the server and of the input.

use crate::kernel::kernel;
use crate::scalar::string::declare::{call_without_arguments, function, param};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::Int64Array;
use datafusion::logical_expr::{ColumnarValue, lit};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

function! {
    /// `current_user()`
    CURRENT_USER = "current_user" in Misc, Signature::NONE => Body::Build(|context, _| text(&context.session.user));
    usage "The name of the user who runs the query.";
    since "3.2.0";
}
function! {
    /// `user()`
    USER = "user" in Misc, Signature::NONE => Body::Build(|context, _| text(&context.session.user));
    usage "The name of the user who runs the query.";
    since "3.4.0";
}
function! {
    /// `session_user()`
    SESSION_USER = "session_user" in Misc, Signature::NONE => Body::Build(|context, _| text(&context.session.user));
    usage "The name of the user who runs the query.";
    since "4.0.0";
}
function! {
    /// `current_catalog()`
    CURRENT_CATALOG = "current_catalog" in Misc, Signature::NONE
        => Body::Build(|context, _| text(&context.session.current_catalog));
    usage "The name of the current catalog.";
    since "3.1.0";
    example "SELECT current_catalog()" => "spark_catalog";
}
function! {
    /// `current_schema()`
    CURRENT_SCHEMA = "current_schema" or "current_database" in Misc, Signature::NONE
        => Body::Build(|context, _| text(&context.session.current_database));
    usage "The name of the current schema.";
    since "3.4.0";
    example "SELECT current_schema()" => "default";
}
function! {
    /// `current_path()`
    CURRENT_PATH = "current_path" in Misc, Signature::NONE => Body::Build(current_path);
    usage "The schemas in which functions are looked for, in their order.";
    since "4.2.0";
    example "SELECT current_path()" => "system.builtin,system.session,spark_catalog.default";
}
function! {
    /// `version()`
    VERSION = "version" in Misc, Signature::NONE => Body::Build(|context, _| text(&context.session.version));
    usage "The version of the server: a release and a revision.";
    since "3.0.0";
}
/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] =
    &[&kernel("monotonically_increasing_id", increasing), &kernel("spark_partition_id", partition_id)];

fn current_path(context: &mut BuildContext<'_>, _: Vec<TypedExpr>) -> Result<TypedExpr> {
    let quote = firesteel_types::text::quote_if_needed;
    let session = context.session;
    let current = format!("{}.{}", quote(&session.current_catalog), quote(&session.current_database));
    text(&format!("system.builtin,system.session,{current}"))
}

function! {
    /// `typeof(expr)`
    TYPEOF = "typeof" in Misc, Signature::of(&[param("expr", ArgType::Any)]) => Body::Build(type_of);
    usage "The type of an expression as text.";
    since "3.0.0";
    example "SELECT typeof(1)" => "int";
    example "SELECT typeof(array(1))" => "array<int>";
}
function! {
    /// `input_file_name()`
    INPUT_FILE_NAME = "input_file_name" in Misc, Signature::NONE
        => Body::Build(|_, _| Err(SparkError::unsupported("input_file_name")));
    volatile true;
    usage "The file that the row comes from; empty where it comes from none.";
    since "1.5.0";
    example "SELECT input_file_name()" => "";
}
function! {
    /// `input_file_block_start()`
    INPUT_FILE_BLOCK_START = "input_file_block_start" in Misc, Signature::NONE
        => Body::Build(|_, _| Err(SparkError::unsupported("input_file_block_start")));
    volatile true;
    usage "Where in its file the block starts that the row comes from; -1 where it comes from none.";
    since "2.2.0";
    example "SELECT input_file_block_start()" => "-1";
}
function! {
    /// `input_file_block_length()`
    INPUT_FILE_BLOCK_LENGTH = "input_file_block_length" in Misc, Signature::NONE
        => Body::Build(|_, _| Err(SparkError::unsupported("input_file_block_length")));
    volatile true;
    usage "The length of the block that the row comes from; -1 where it comes from none.";
    since "2.2.0";
    example "SELECT input_file_block_length()" => "-1";
}
function! {
    /// `monotonically_increasing_id()`
    MONOTONICALLY_INCREASING_ID = "monotonically_increasing_id" in Misc, Signature::NONE
        => Body::Build(|context, _| call_without_arguments(&MONOTONICALLY_INCREASING_ID, increasing, DataType::Long, None, context));
    volatile true;
    usage "Numbers that grow from row to row and are never the same.";
    since "1.4.0";
    example "SELECT monotonically_increasing_id()" => "0";
}
function! {
    /// `spark_partition_id()`
    SPARK_PARTITION_ID = "spark_partition_id" in Misc, Signature::NONE
        => Body::Build(|context, _| call_without_arguments(&SPARK_PARTITION_ID, partition_id, DataType::Integer, None, context));
    text |_| "SPARK_PARTITION_ID()".to_string();
    volatile true;
    usage "The number of the row's partition.";
    since "1.4.0";
    example "SELECT spark_partition_id()" => "0";
}

fn text(value: &str) -> Result<TypedExpr> {
    Ok(TypedExpr::new(lit(value), DataType::STRING, false, String::new()))
}

fn type_of(_: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    match arguments.first() {
        Some(argument) => text(&argument.data_type.catalog_string()),
        None => Err(SparkError::internal("typeof takes an argument")),
    }
}

fn partition_id(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    Ok(ColumnarValue::Scalar(ScalarValue::Int32(Some(args.partition))))
}

fn increasing(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let next = args.prepared(|| Ok(AtomicI64::new(0)))?;
    let count = args.number_rows as i64;
    // The partition's number stands in the upper 31 bits.
    let first = (i64::from(args.partition) << 33) + next.fetch_add(count, Ordering::Relaxed);
    Ok(ColumnarValue::Array(Arc::new(Int64Array::from_iter_values(first..first + count))))
}
