//! Calls of functions as bytes.

use super::{bound, malformed, rebuild};
use datafusion::common::Result as DfResult;
use datafusion::logical_expr::{AggregateUDF, HigherOrderUDF, ScalarUDF, WindowUDF};
use firesteel_error::{Excerpt, QueryContext, QueryContextKind};
use firesteel_functions::aggregate::udaf::{Call, SparkAggregateUdf};
use firesteel_functions::scalar::lambda::{self, higher_order::PlainCall, higher_order::SparkHigherOrderUdf};
use firesteel_functions::window::{offset::Offset, pandas};
use firesteel_functions::{KernelSettings, SparkScalarUdf};
use firesteel_types::DataType;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::sync::Arc;

/// The place of a call, for its errors.
#[derive(Serialize, Deserialize)]
struct Place {
    is_sql: bool,
    object_type: String,
    object_name: String,
    start_index: usize,
    stop_index: usize,
    fragment: String,
    call_site: String,
    line: usize,
    column: usize,
    marked: String,
}

impl Place {
    fn of(context: &QueryContext) -> Self {
        let excerpt = context.excerpt();
        Self {
            is_sql: context.kind == QueryContextKind::Sql,
            object_type: context.object_type.clone(),
            object_name: context.object_name.clone(),
            start_index: context.start_index,
            stop_index: context.stop_index,
            call_site: context.call_site.clone(),
            fragment: excerpt.fragment,
            line: excerpt.line,
            column: excerpt.column,
            marked: excerpt.marked,
        }
    }

    fn context(self) -> Arc<QueryContext> {
        let mut place = if self.is_sql {
            QueryContext::sql("", self.start_index, self.stop_index)
        } else {
            QueryContext::data_frame(&self.fragment, self.call_site)
        };
        let excerpt = Excerpt { fragment: self.fragment, line: self.line, column: self.column, marked: self.marked };
        place.object_type = self.object_type;
        place.object_name = self.object_name;
        Arc::new(place.with_excerpt(excerpt))
    }
}

/// A call of a scalar or aggregate function. Types are JSON.
#[derive(Serialize, Deserialize)]
struct Plain {
    name: String,
    arguments: Vec<String>,
    returns: String,
    nullable: bool,
    ansi: bool,
    time_zone: String,
    payload: Option<String>,
    place: Option<Place>,
}

impl Plain {
    fn types(&self) -> DfResult<(Vec<DataType>, DataType)> {
        let read = |text: &String| DataType::from_json(text).map_err(super::external);
        Ok((self.arguments.iter().map(read).collect::<DfResult<_>>()?, read(&self.returns)?))
    }

    fn settings(&self) -> KernelSettings {
        KernelSettings {
            ansi: self.ansi,
            time_zone: self.time_zone.as_str().into(),
            payload: self.payload.as_deref().map(Arc::from),
        }
    }
}

/// A call of a function with lambdas.
#[derive(Serialize, Deserialize)]
struct PlainHigherOrder {
    /// The arguments are the values and what the lambdas give.
    call: Plain,
    /// Type and nullability of each parameter of each lambda.
    parameters: Vec<Vec<(String, bool)>>,
}

/// A call of `lag` or `lead`.
#[derive(Serialize, Deserialize)]
struct PlainOffset {
    name: String,
    rows: i64,
    ignores_nulls: bool,
    data_type: String,
    nullable: bool,
}

fn write(value: &impl Serialize, bytes: &mut Vec<u8>) -> DfResult<()> {
    serde_json::to_writer(bytes, value)
        .map_err(|e| super::external(firesteel_error::SparkError::internal(e.to_string())))
}

pub(super) fn encode_scalar(function: &ScalarUDF, bytes: &mut Vec<u8>) -> DfResult<()> {
    let inner: &dyn Any = function.inner().as_ref();
    // DataFusion's own are found by their names.
    let Some(udf) = inner.downcast_ref::<SparkScalarUdf>() else { return Ok(()) };
    if rebuild::scalar(udf).is_none() {
        // Logical plans are written in spite of the error: the call must not come back as another function.
        write(&(), bytes)?;
        return Err(bound(format!("this call of the function {}", function.name())));
    }
    let settings = udf.settings();
    let plain = Plain {
        name: function.name().to_string(),
        arguments: udf.argument_types().iter().map(DataType::json).collect(),
        returns: udf.spark_return_type().json(),
        nullable: udf.is_nullable(),
        ansi: settings.ansi,
        time_zone: settings.time_zone.to_string(),
        payload: settings.payload.as_deref().map(str::to_string),
        place: udf.context().map(|context| Place::of(context)),
    };
    write(&plain, bytes)
}

pub(super) fn decode_scalar(name: &str, bytes: &[u8]) -> DfResult<Arc<ScalarUDF>> {
    if bytes.is_empty() && name == "sha1" {
        return Ok(datafusion_spark::function::hash::sha1());
    }
    if bytes.is_empty() && name == firesteel_analyzer::AT_MOST_ONE {
        return Ok(firesteel_analyzer::at_most_one());
    }
    let plain: Plain = serde_json::from_slice(bytes).map_err(|_| malformed(&format!("the function {name}")))?;
    let (arguments, returns) = plain.types()?;
    let settings = plain.settings();
    let call = rebuild::ScalarCall {
        name: &plain.name,
        arguments: &arguments,
        returns: &returns,
        nullable: plain.nullable,
        settings: &settings,
        context: plain.place.map(Place::context),
    };
    call.build().ok_or_else(|| bound(format!("this call of the function {name}")))
}

pub(super) fn encode_aggregate(function: &AggregateUDF, bytes: &mut Vec<u8>) -> DfResult<()> {
    let inner: &dyn Any = function.inner().as_ref();
    let Some(udf) = inner.downcast_ref::<SparkAggregateUdf>() else { return Ok(()) };
    let call = udf.call();
    let plain = Plain {
        name: udf.kernel().name.to_string(),
        arguments: call.arguments.iter().map(DataType::json).collect(),
        returns: call.returns.json(),
        nullable: true,
        ansi: call.ansi,
        time_zone: String::new(),
        payload: call.payload.as_deref().map(str::to_string),
        place: call.context.as_deref().map(Place::of),
    };
    write(&plain, bytes)
}

pub(super) fn decode_aggregate(name: &str, bytes: &[u8]) -> DfResult<Arc<AggregateUDF>> {
    let plain: Plain = serde_json::from_slice(bytes).map_err(|_| malformed(&format!("the function {name}")))?;
    let kernel = firesteel_functions::aggregate::kernel(&plain.name)
        .ok_or_else(|| malformed(&format!("the function {}", plain.name)))?;
    let (arguments, returns) = plain.types()?;
    let call = Call {
        arguments,
        returns,
        ansi: plain.ansi,
        payload: plain.payload.as_deref().map(Arc::from),
        context: plain.place.map(Place::context),
    };
    Ok(Arc::new(AggregateUDF::new_from_impl(SparkAggregateUdf::new(kernel, call))))
}

pub(super) fn encode_window(function: &WindowUDF, bytes: &mut Vec<u8>) -> DfResult<()> {
    let inner: &dyn Any = function.inner().as_ref();
    let Some(offset) = inner.downcast_ref::<Offset>() else { return Ok(()) };
    let plain = PlainOffset {
        name: offset.function().to_string(),
        rows: offset.rows(),
        ignores_nulls: offset.ignores_nulls(),
        data_type: offset.data_type().json(),
        nullable: offset.is_nullable(),
    };
    write(&plain, bytes)
}

pub(super) fn decode_window(name: &str, bytes: &[u8]) -> DfResult<Arc<WindowUDF>> {
    let broken = || malformed(&format!("the window function {name}"));
    if bytes.is_empty()
        && let Some(function) = pandas::of_name(name)
    {
        return Ok(Arc::new(function));
    }
    let plain: PlainOffset = serde_json::from_slice(bytes).map_err(|_| broken())?;
    let data_type = DataType::from_json(&plain.data_type).map_err(super::external)?;
    let offset =
        Offset::new(&plain.name, plain.rows, plain.ignores_nulls, data_type, plain.nullable).ok_or_else(broken)?;
    Ok(Arc::new(WindowUDF::new_from_impl(offset)))
}

pub(super) fn encode_higher_order(function: &HigherOrderUDF, bytes: &mut Vec<u8>) -> DfResult<()> {
    let inner: &dyn Any = function.inner().as_ref();
    let Some(udf) = inner.downcast_ref::<SparkHigherOrderUdf>() else { return Ok(()) };
    let call = &udf.call;
    let parameter = |(data_type, nullable): &(DataType, bool)| (data_type.json(), *nullable);
    let plain = PlainHigherOrder {
        call: Plain {
            name: function.name().to_string(),
            arguments: call.types.iter().map(DataType::json).collect(),
            returns: call.return_type.json(),
            nullable: call.nullable,
            ansi: call.settings.ansi,
            time_zone: call.settings.time_zone.to_string(),
            payload: call.settings.payload.as_deref().map(str::to_string),
            place: call.context.as_deref().map(Place::of),
        },
        parameters: call.parameters.iter().map(|list| list.iter().map(parameter).collect()).collect(),
    };
    write(&plain, bytes)
}

pub(super) fn decode_higher_order(name: &str, bytes: &[u8]) -> DfResult<Arc<HigherOrderUDF>> {
    let broken = || malformed(&format!("the function {name}"));
    let plain: PlainHigherOrder = serde_json::from_slice(bytes).map_err(|_| broken())?;
    let (own_name, evaluate) = lambda::evaluation(&plain.call.name).ok_or_else(broken)?;
    let (types, return_type) = plain.call.types()?;
    let parameter = |(text, nullable): &(String, bool)| -> DfResult<(DataType, bool)> {
        Ok((DataType::from_json(text).map_err(super::external)?, *nullable))
    };
    let parameters = plain
        .parameters
        .iter()
        .map(|list| list.iter().map(parameter).collect::<DfResult<Vec<_>>>())
        .collect::<DfResult<Vec<_>>>()?;
    let call = PlainCall {
        types,
        parameters,
        return_type,
        nullable: plain.call.nullable,
        settings: plain.call.settings(),
        context: plain.call.place.map(Place::context),
    };
    Ok(Arc::new(HigherOrderUDF::new_from_impl(SparkHigherOrderUdf::new(own_name, evaluate, call))))
}
