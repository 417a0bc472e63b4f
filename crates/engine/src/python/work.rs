//! What an operator does, in physical terms.

use super::session::WorkerContext;
use arrow::array::{ArrayRef, StructArray, new_empty_array};
use arrow::datatypes::{DataType as ArrowType, Field, Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::logical_expr::WindowFrame;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr};
use firesteel_analyzer::AttributeId;
use firesteel_analyzer::python::PythonCall;
use firesteel_error::{Result, SparkError};
use firesteel_python::task::Payload;
use firesteel_python::{Argument, EvalType, Function, Input, InputFormat, Output, OutputFormat, Task, TaskContext};
use firesteel_types::client::{client_batch, client_schema};
use firesteel_types::{DataType, StructField, StructType, arrow_mapping};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use std::sync::Arc;

/// A column that goes to workers.
#[derive(Debug, Clone)]
pub(crate) struct SentColumn {
    pub expr: Arc<dyn PhysicalExpr>,
    pub name: String,
    pub data_type: DataType,
    pub nullable: bool,
}

/// Functions with the positions of their arguments among the sent columns.
#[derive(Debug, Clone)]
pub(crate) struct SentChain {
    pub functions: Vec<Arc<PythonCall>>,
    pub arguments: Vec<Argument>,
    /// The id under which a profile is reported.
    pub result_id: i64,
}

/// What an operator does.
#[derive(Debug, Clone)]
pub(crate) enum Work {
    Eval {
        chains: Vec<SentChain>,
        columns: Vec<SentColumn>,
    },
    Map {
        call: Arc<PythonCall>,
        columns: Vec<SentColumn>,
        is_barrier: bool,
    },
    Table(super::table::TableWork),
    GroupMap {
        call: Arc<PythonCall>,
        frame: SentFrame,
    },
    CoGroupMap {
        call: Arc<PythonCall>,
        frames: Box<[SentFrame; 2]>,
    },
    Aggregate {
        keys: Vec<Arc<dyn PhysicalExpr>>,
        chains: Vec<SentChain>,
        columns: Vec<SentColumn>,
    },
    Window {
        partition: Vec<Arc<dyn PhysicalExpr>>,
        order: Option<LexOrdering>,
        windows: Vec<(SentChain, WindowFrame)>,
        columns: Vec<SentColumn>,
    },
}

/// One frame of groups.
#[derive(Debug, Clone)]
pub(crate) struct SentFrame {
    pub grouping: Vec<Arc<dyn PhysicalExpr>>,
    /// Keys and values, each column once.
    pub columns: Vec<SentColumn>,
    /// How workers find keys and values: the length, the number of keys, then positions.
    pub offsets: Vec<i32>,
}

impl SentChain {
    /// The function as the task names it.
    pub fn function(&self, shift: i32) -> Function {
        let arguments = self
            .arguments
            .iter()
            .map(|argument| Argument { column: argument.column + shift, name: argument.name.clone() })
            .collect();
        let commands = self.functions.iter().map(|call| call.command.clone()).collect();
        Function { arguments, commands, result_id: self.result_id }
    }

    /// The type of its result.
    pub fn returns(&self) -> DataType {
        self.functions.last().map_or(DataType::Null, |call| call.returns.clone())
    }
}

/// An id that no other call of this process has.
pub(crate) fn fresh_id() -> i64 {
    i64::try_from(AttributeId::fresh().0).unwrap_or(i64::MAX)
}

/// The schema of sent columns.
pub(crate) fn sent_schema(columns: &[SentColumn], context: &WorkerContext) -> SchemaRef {
    let fields = columns.iter().map(|c| StructField::new(&c.name, c.data_type.clone(), c.nullable)).collect();
    let settings = &context.settings;
    Arc::new(client_schema(&StructType::new(fields), &settings.time_zone, settings.large_types))
}

/// The same columns under the names `_0`, `_1` and so on, as functions of columns get them.
pub(crate) fn numbered(mut columns: Vec<SentColumn>) -> Vec<SentColumn> {
    for (i, column) in columns.iter_mut().enumerate() {
        column.name = format!("_{i}");
        column.nullable = true;
    }
    columns
}

/// The columns of a batch that workers get, in the types of the engine.
pub(crate) fn evaluated(columns: &[SentColumn], batch: &RecordBatch) -> DfResult<Vec<ArrayRef>> {
    columns.iter().map(|column| column.expr.evaluate(batch)?.into_array(batch.num_rows())).collect()
}

/// A batch in the types that clients and workers get.
pub(crate) fn sent_batch(arrays: Vec<ArrayRef>, rows: usize, schema: &SchemaRef) -> Result<RecordBatch> {
    let fields: Vec<Field> = arrays
        .iter()
        .enumerate()
        .map(|(i, array)| Field::new(format!("_{i}"), array.data_type().clone(), true))
        .collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let plain = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
        .map_err(|e| SparkError::internal(e.to_string()))?;
    let batch = client_batch(&plain, schema)?;
    if batch.schema() == *schema {
        return Ok(batch);
    }
    // The stream has one schema: nulls where none were promised make the column nullable there.
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let fields = schema.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect::<Vec<_>>();
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), batch.columns().to_vec(), &options)
        .map_err(|e| SparkError::internal(e.to_string()))
}

/// A batch of one struct column, which holds the columns of another.
pub(crate) fn as_struct(batch: &RecordBatch) -> Result<RecordBatch> {
    let fields = batch.schema().fields().clone();
    let column = if fields.is_empty() {
        StructArray::new_empty_fields(batch.num_rows(), None)
    } else {
        StructArray::try_new(fields.clone(), batch.columns().to_vec(), None)
            .map_err(|e| SparkError::internal(e.to_string()))?
    };
    let schema = Schema::new(vec![Field::new("struct", ArrowType::Struct(fields), false)]);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(column)]).map_err(|e| SparkError::internal(e.to_string()))
}

/// The schema of a batch that [`as_struct`] makes.
pub(crate) fn struct_schema(schema: &SchemaRef) -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("struct", ArrowType::Struct(schema.fields().clone()), false)]))
}

/// Starts a task; what it reports at its end is noted.
pub(crate) fn start(
    context: Arc<WorkerContext>,
    task: Task,
    format: InputFormat,
    output: OutputFormat,
    pieces: BoxStream<'static, Result<Input>>,
) -> BoxStream<'static, Result<Output>> {
    let outputs =
        firesteel_python::run(context.pool.clone(), context.environment.clone(), task, format, output, pieces);
    outputs
        .inspect_ok(move |output| {
            if let Output::Report(report) = output {
                context.note(report.accumulators.iter().cloned());
            }
        })
        .boxed()
}

/// A task of functions.
pub(crate) fn task(
    call: &PythonCall,
    functions: Vec<Function>,
    columns: &[SentColumn],
    partition: usize,
    context: &WorkerContext,
) -> Task {
    let partition = i32::try_from(partition).unwrap_or(i32::MAX);
    let evaluation = if matches!(call.eval_type, EvalType::ARROW_BATCHED | EvalType::ARROW_TABLE) {
        let fields = columns.iter().map(|c| StructField::new(&c.name, c.data_type.clone(), true)).collect();
        vec![("input_type".to_string(), StructType::new(fields).json())]
    } else {
        Vec::new()
    };
    let settings = &context.settings;
    Task {
        eval_type: call.eval_type,
        context: TaskContext { stage: 0, partition, attempt: i64::from(partition), is_barrier: false },
        python_version: call.python_version.clone(),
        runner: settings.runner.clone(),
        evaluation,
        payload: Payload::Functions(functions),
        profiler: settings.profiler.clone(),
        patience: settings.patience,
    }
}

/// Columns that workers made, in the engine's types.
pub(crate) fn received(columns: &[ArrayRef], types: &[DataType], call: &PythonCall) -> Result<Vec<ArrayRef>> {
    if columns.len() != types.len() {
        return Err(SparkError::internal(format!("{} columns from Python instead of {}", columns.len(), types.len())));
    }
    if columns.first().is_some_and(|column| column.is_empty()) {
        // Without values no type is wrong.
        return Ok(types.iter().map(|data_type| new_empty_array(&arrow_mapping::to_arrow(data_type))).collect());
    }
    let mut fields = Vec::with_capacity(types.len());
    for (column, data_type) in columns.iter().zip(types) {
        let got = arrow_mapping::from_arrow(column.data_type(), &Default::default())?;
        let plain = arrow_mapping::from_arrow(&arrow_mapping::to_arrow(data_type), &Default::default())?;
        if !is_alike(&got, &plain) {
            return Err(SparkError::new("ARROW_TYPE_MISMATCH")
                .with("operation", format!("the Python function {}", call.name))
                .with("outputTypes", data_type.sql())
                .with("actualDataTypes", got.sql()));
        }
        fields.push(Field::new("", arrow_mapping::to_arrow(data_type), true));
    }
    let rows = columns.first().map_or(0, |column| column.len());
    let own: Vec<Field> = columns.iter().map(|c| Field::new("", c.data_type().clone(), true)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(own)), columns.to_vec(), &options)
        .map_err(|e| SparkError::internal(e.to_string()))?;
    let batch = arrow_mapping::to_canonical_batch(&batch, &Arc::new(Schema::new(fields)))?;
    Ok(batch.columns().to_vec())
}

/// Whether values of one type are values of another, names and nullability of parts aside.
fn is_alike(got: &DataType, wanted: &DataType) -> bool {
    match (got, wanted) {
        (DataType::Array { element: a, .. }, DataType::Array { element: b, .. }) => is_alike(a, b),
        (DataType::Map { key: a, value: b, .. }, DataType::Map { key: c, value: d, .. }) => {
            is_alike(a, c) && is_alike(b, d)
        }
        (DataType::Struct(a), DataType::Struct(b)) => {
            a.fields.len() == b.fields.len()
                && a.fields.iter().zip(&b.fields).all(|(a, b)| is_alike(&a.data_type, &b.data_type))
        }
        (DataType::Null, _) => true,
        (got, wanted) => got == wanted,
    }
}

/// An error of ours as DataFusion carries it.
pub(crate) fn external(error: SparkError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
