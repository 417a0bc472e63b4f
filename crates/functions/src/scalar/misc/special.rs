//! Functions that the analyzer makes itself: their names and what they do.

use crate::scalar::string::declare::{function, param};
use crate::{ArgType, Body, Signature};
use firesteel_error::{ExceptionClass, SparkError};

fn elsewhere(name: &str) -> SparkError {
    SparkError::internal(format!("{name} is made by the analyzer"))
}

function! {
    /// `CAST(expr AS type)`
    CAST = "cast" in Conversion, Signature::of(&[param("expr", ArgType::Any)])
        => Body::Build(|_, _| Err(elsewhere("cast")));
    usage "The value as another type.";
    since "1.0.0";
    example "SELECT cast('10' as int)" => "10";
}
function! {
    /// `struct(value, …)`
    STRUCT = "struct" in Struct, Signature::variadic(&[], ArgType::Any) => Body::Build(|_, _| Err(elsewhere("struct")));
    usage "A struct of the values, its fields called after them.";
    since "1.4.0";
    example "SELECT struct(1, 2, 3)" => "{\"col1\":1,\"col2\":2,\"col3\":3}";
}
function! {
    /// `grouping(column)`
    GROUPING = "grouping" in Aggregate, Signature::of(&[param("col", ArgType::Any)])
        => Body::Aggregate(|_, _| Err(elsewhere("grouping")));
    usage "1 where a row sums up over a column of grouping sets, else 0.";
    since "2.0.0";
}
function! {
    /// `grouping_id(column, …)`
    GROUPING_ID = "grouping_id" in Aggregate, Signature::variadic(&[], ArgType::Any)
        => Body::Aggregate(|_, _| Err(elsewhere("grouping_id")));
    usage "A number whose bits tell over which columns of grouping sets a row sums up.";
    since "2.0.0";
}
function! {
    /// `measure(column)`
    MEASURE = "measure" in Aggregate, Signature::of(&[param("expr", ArgType::Any)])
        => Body::Aggregate(|_, _| Err(SparkError::unsupported("measure: metric views")));
    usage "The value of a measure of a metric view.";
    since "4.2.0";
}
function! {
    /// `range([start, ]end[, step[, partitions]])`
    RANGE = "range" in TableValued, Signature::variadic(&[param("end", ArgType::Any)], ArgType::Any)
        => Body::Generator(|_, _| Err(elsewhere("range")));
    usage "The whole numbers from a start up to an end, which is left out.";
    since "2.0.0";
    example "SELECT * FROM range(3)" => "0\n1\n2";
}
function! {
    /// `python_worker_logs()`
    PYTHON_WORKER_LOGS = "python_worker_logs" in TableValued, Signature::NONE
        => Body::Generator(|_, _| {
            Err(SparkError::new("FEATURE_NOT_ENABLED")
                .with("featureName", "Python Worker Logging")
                .with("configKey", "spark.sql.pyspark.worker.logging.enabled")
                .with("configValue", "true")
                .with_class(ExceptionClass::Analysis))
        });
    usage "What Python workers logged.";
    since "4.1.0";
}
