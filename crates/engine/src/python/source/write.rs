//! Rows into a data source in Python: tasks write, then the writer commits what they say they wrote.

use super::{PythonSource, context, failed};
use crate::Session;
use crate::execution;
use arrow::array::{Array, AsArray};
use bytes::Bytes;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use firesteel_analyzer::python::{PythonCall, PythonColumn, PythonKind, PythonOperator};
use firesteel_analyzer::resolved::engine_error;
use firesteel_error::{Result, SparkError};
use firesteel_plan::Options;
use firesteel_python::EvalType;
use firesteel_python::planner::data_source::{Planner, WriteRequest};
use firesteel_types::{DataType, StructField, StructType};
use futures::StreamExt;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::task::JoinSet;

/// The name of the column in which tasks say what they wrote.
const MESSAGE: &str = "message";

/// How rows are written.
pub(crate) struct Target {
    pub overwrite: bool,
    pub options: Options,
}

/// What tasks say they wrote, by partition; a task that failed says nothing.
struct Written {
    messages: Vec<Option<Bytes>>,
    failure: Option<SparkError>,
}

/// Writes the rows of a plan, whose columns are a schema's in order.
pub(crate) async fn write(
    session: &Arc<Session>,
    source: &PythonSource,
    logical: LogicalPlan,
    schema: StructType,
    target: Target,
) -> Result<()> {
    check_names(&schema)?;
    let context = context(session).await?;
    let planner = source.planner(&context);
    let text = schema.json();
    let request = WriteRequest {
        class: &source.class,
        provider: &source.name,
        schema: &text,
        options: &target.options,
        overwrite: target.overwrite,
    };
    let planned = planner.write(request).await.map_err(failed("initialize", "writer"))?;
    context.note(planned.accumulators);
    let plan = operator(source, planned.function, logical, &schema)?;
    let plan = execution::plan_partitions(session.state(), &plan).await?;
    let written = tasks(plan, session.state().task_ctx()).await;
    let failure = match written.failure {
        Some(failure) => failure,
        None => match planner.commit(&planned.writer, &written.messages, false).await {
            Ok(updates) => {
                context.note(updates);
                return Ok(());
            }
            Err(error) => failed("commit or abort", "write")(error),
        },
    };
    Err(given_up(&planner, &planned.writer, &written.messages, failure).await)
}

/// Tells the writer that nothing comes of it; the error is that of the write, or says that even this failed.
async fn given_up(planner: &Planner<'_>, writer: &[u8], messages: &[Option<Bytes>], failure: SparkError) -> SparkError {
    match planner.commit(writer, messages, true).await {
        Ok(_) => failure,
        Err(_) => SparkError::new("_LEGACY_ERROR_TEMP_2070").with_cause(failure),
    }
}

/// Rows go to workers as structs, whose fields have names of their own.
fn check_names(schema: &StructType) -> Result<()> {
    let mut seen = HashSet::new();
    if schema.names().all(|name| seen.insert(name)) {
        return Ok(());
    }
    let names: Vec<&str> = schema.names().collect();
    Err(SparkError::new("DUPLICATED_FIELD_NAME_IN_ARROW_STRUCT").with("fieldNames", format!("[{}]", names.join(", "))))
}

/// The operator whose tasks write.
fn operator(source: &PythonSource, function: Bytes, input: LogicalPlan, schema: &StructType) -> Result<LogicalPlan> {
    let columns = input.schema().columns();
    let columns = columns
        .into_iter()
        .zip(&schema.fields)
        .map(|(column, field)| PythonColumn {
            expr: Expr::Column(column),
            name: field.name.clone(),
            data_type: field.data_type.clone(),
            nullable: field.nullable,
        })
        .collect();
    let messages = StructType::new(vec![StructField::new(MESSAGE, DataType::Binary, true)]);
    let call = PythonCall {
        name: source.name.clone(),
        command: function,
        python_version: source.python_version.clone(),
        eval_type: EvalType::MAP_ARROW_ITER,
        deterministic: false,
        parameters: Vec::new(),
        returns: DataType::Struct(Arc::new(messages.clone())),
        instance: PythonCall::fresh_instance(),
    };
    let kind = PythonKind::Map { call: Arc::new(call), columns, is_barrier: false, runs_empty: true };
    PythonOperator::with_rows(kind, vec![input], &[MESSAGE.to_string()], &messages).map_err(engine_error)
}

/// Runs all tasks; the first that fails ends the others.
async fn tasks(plan: Arc<dyn ExecutionPlan>, context: Arc<TaskContext>) -> Written {
    let count = plan.output_partitioning().partition_count();
    let mut written = Written { messages: vec![None; count], failure: None };
    let mut tasks = JoinSet::new();
    for partition in 0..count {
        let (plan, context) = (plan.clone(), context.clone());
        tasks.spawn(async move { (partition, task(&plan, partition, context).await) });
    }
    while let Some(ended) = tasks.join_next().await {
        match ended {
            Ok((partition, Ok(message))) => written.messages[partition] = Some(message),
            Ok((_, Err(error))) => {
                written.failure.get_or_insert(error);
                tasks.abort_all();
            }
            Err(error) => {
                if let Ok(panic) = error.try_into_panic() {
                    std::panic::resume_unwind(panic);
                }
            }
        }
    }
    written
}

/// Runs one task for its message.
async fn task(plan: &Arc<dyn ExecutionPlan>, partition: usize, context: Arc<TaskContext>) -> Result<Bytes> {
    let mut rows = plan.execute(partition, context).map_err(engine_error)?;
    let mut message = None;
    while let Some(batch) = rows.next().await {
        let batch = batch.map_err(engine_error)?;
        let column = batch.columns().first().and_then(|column| column.as_binary_opt::<i32>());
        if let Some(column) = column.filter(|column| !column.is_empty()) {
            message = Some(Bytes::copy_from_slice(column.value(0)));
        }
    }
    message.ok_or_else(|| SparkError::internal("a writer of a data source said nothing"))
}
