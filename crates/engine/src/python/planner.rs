//! Physical planning of Python operators.

use super::exec::PythonExec;
use super::table::TableWork;
use super::work::{SentChain, SentColumn, SentFrame, Work};
use crate::one_input::over_one_input;
use arrow::array::{ArrayRef, UInt64Array};
use arrow::datatypes::{DataType as ArrowType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::{DFSchema, Result as DfResult, internal_datafusion_err};
use datafusion::datasource::memory::{DataSourceExec, MemorySourceConfig};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, PhysicalExpr, create_physical_sort_exprs};
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties, SendableRecordBatchStream,
};
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use firesteel_analyzer::python::{GroupFrame, PythonChain, PythonColumn, PythonKind, PythonOperator};
use firesteel_python::Argument;
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;

/// The name of the column of row numbers.
pub(crate) const ROW_NUMBER: &str = "row number";

/// Plans [`PythonOperator`].
pub(crate) struct PythonPlanner;

/// Makes physical expressions over one input.
struct Planning<'a> {
    planner: &'a dyn PhysicalPlanner,
    session: &'a dyn Session,
    context: &'a PhysicalPlanningContext,
    schema: &'a DFSchema,
}

/// Columns that are sent, each once.
#[derive(Default)]
struct Columns {
    exprs: Vec<Expr>,
    columns: Vec<SentColumn>,
}

#[async_trait]
impl ExtensionPlanner for PythonPlanner {
    async fn plan_extension(
        &self,
        planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        logical_inputs: &[&LogicalPlan],
        physical_inputs: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        context: &PhysicalPlanningContext,
    ) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
        let Some(operator) = node.as_any().downcast_ref::<PythonOperator>() else { return Ok(None) };
        let planning = logical_inputs
            .iter()
            .map(|input| Planning { planner, session, context, schema: input.schema().as_ref() })
            .collect::<Vec<_>>();
        let input =
            |i: usize| planning.get(i).ok_or_else(|| internal_datafusion_err!("a Python operator without its input"));
        let work = match &operator.kind {
            PythonKind::Eval { chains } => {
                let (chains, columns) = input(0)?.chains(chains)?;
                Work::Eval { chains, columns }
            }
            PythonKind::Map { runs_empty: false, .. } if physical_inputs.iter().all(is_empty) => {
                return Ok(Some(Arc::new(EmptyExec::new(operator.schema.inner().clone()))));
            }
            PythonKind::Map { call, columns, is_barrier, .. } => {
                let columns = input(0)?.columns(columns)?;
                Work::Map { call: call.clone(), columns, is_barrier: *is_barrier }
            }
            PythonKind::GroupMap { call, frame } => {
                Work::GroupMap { call: call.clone(), frame: input(0)?.frame(frame)? }
            }
            PythonKind::CoGroupMap { call, frames } => {
                let frames = Box::new([input(0)?.frame(&frames[0])?, input(1)?.frame(&frames[1])?]);
                Work::CoGroupMap { call: call.clone(), frames }
            }
            PythonKind::Aggregate { keys, chains } => {
                let (chains, columns) = input(0)?.chains(chains)?;
                Work::Aggregate { keys: input(0)?.exprs(keys)?, chains, columns }
            }
            PythonKind::Table(table) => {
                let chain = PythonChain {
                    functions: vec![table.call.clone()],
                    arguments: table.arguments.clone(),
                    output: String::new(),
                };
                let (chains, columns) = input(0)?.chains(&[chain])?;
                Work::Table(TableWork {
                    call: table.call.clone(),
                    columns,
                    arguments: chains.into_iter().flat_map(|chain| chain.arguments).collect(),
                    partition: table.partition.clone(),
                    analysis: table.analysis.clone(),
                    passes_input: table.passes_input,
                })
            }
            PythonKind::Window { partition, order, windows } => {
                let all: Vec<PythonChain> = windows.iter().map(|w| w.chain.clone()).collect();
                let (chains, columns) = input(0)?.chains(&all)?;
                let schema = input(0)?.schema;
                let order = create_physical_sort_exprs(order, schema, session.execution_props(), context)?;
                let windows = chains.into_iter().zip(windows).map(|(c, w)| (c, w.frame.clone())).collect();
                let (partition, order) = (input(0)?.exprs(partition)?, LexOrdering::new(order));
                Work::Window { partition, order, windows, columns }
            }
        };
        let is_grouped = !matches!(work, Work::Eval { .. } | Work::Map { .. } | Work::Table(_));
        let inputs = physical_inputs
            .iter()
            .map(|input| {
                if is_grouped {
                    Arc::new(NumberedExec::new(input.clone())) as Arc<dyn ExecutionPlan>
                } else {
                    input.clone()
                }
            })
            .collect();
        Ok(Some(Arc::new(PythonExec::new(work, inputs, operator.schema.inner().clone()))))
    }
}

/// Whether a plan is known to have no rows, as those over relations of the client's without rows are.
fn is_empty(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let any: &dyn std::any::Any = plan.as_ref();
    if any.is::<EmptyExec>() {
        return true;
    }
    if let Some(source) = any.downcast_ref::<DataSourceExec>() {
        let source: &dyn std::any::Any = source.data_source().as_ref();
        let rows = source.downcast_ref::<MemorySourceConfig>();
        return rows.is_some_and(|rows| rows.partitions().iter().flatten().all(|batch| batch.num_rows() == 0));
    }
    let of_groups = |aggregate: &AggregateExec| !aggregate.group_expr().is_empty();
    let keeps_empty = any.downcast_ref::<AggregateExec>().is_none_or(of_groups);
    let children = plan.children();
    keeps_empty && !children.is_empty() && children.into_iter().all(is_empty)
}

impl Planning<'_> {
    fn expr(&self, expr: &Expr) -> DfResult<Arc<dyn PhysicalExpr>> {
        self.planner.create_physical_expr(expr, self.schema, self.session, self.context)
    }

    fn exprs(&self, list: &[Expr]) -> DfResult<Vec<Arc<dyn PhysicalExpr>>> {
        list.iter().map(|expr| self.expr(expr)).collect()
    }

    fn sent(&self, column: &PythonColumn) -> DfResult<SentColumn> {
        Ok(SentColumn {
            expr: self.expr(&column.expr)?,
            name: column.name.clone(),
            data_type: column.data_type.clone(),
            nullable: column.nullable,
        })
    }

    fn columns(&self, columns: &[PythonColumn]) -> DfResult<Vec<SentColumn>> {
        columns.iter().map(|column| self.sent(column)).collect()
    }

    /// Functions with the columns of their arguments, each column once.
    fn chains(&self, chains: &[PythonChain]) -> DfResult<(Vec<SentChain>, Vec<SentColumn>)> {
        let mut columns = Columns::default();
        let chains = chains
            .iter()
            .map(|chain| {
                let first =
                    chain.functions.first().ok_or_else(|| internal_datafusion_err!("a chain without functions"))?;
                let arguments = chain
                    .arguments
                    .iter()
                    .zip(&first.parameters)
                    .map(|(expr, parameter)| {
                        let column = PythonColumn {
                            expr: expr.clone(),
                            name: String::new(),
                            data_type: parameter.data_type.clone(),
                            nullable: true,
                        };
                        let column = columns.add(self, &column)?;
                        Ok(Argument { column, name: parameter.name.clone() })
                    })
                    .collect::<DfResult<Vec<_>>>()?;
                Ok(SentChain { functions: chain.functions.clone(), arguments, result_id: super::work::fresh_id() })
            })
            .collect::<DfResult<Vec<_>>>()?;
        Ok((chains, columns.columns))
    }

    fn frame(&self, frame: &GroupFrame) -> DfResult<SentFrame> {
        let mut columns = Columns::default();
        let keys = frame.keys.iter().map(|key| columns.add(self, key)).collect::<DfResult<Vec<i32>>>()?;
        let values = frame.values.iter().map(|value| columns.add(self, value)).collect::<DfResult<Vec<i32>>>()?;
        let count = |n: usize| i32::try_from(n).map_err(|_| internal_datafusion_err!("too many columns"));
        let mut offsets = vec![count(1 + keys.len() + values.len())?, count(keys.len())?];
        offsets.extend(keys);
        offsets.extend(values);
        Ok(SentFrame { grouping: self.exprs(&frame.grouping)?, columns: columns.columns, offsets })
    }
}

impl Columns {
    /// The position of a column.
    fn add(&mut self, planning: &Planning<'_>, column: &PythonColumn) -> DfResult<i32> {
        let known = self.exprs.iter().position(|e| *e == column.expr).filter(|i| {
            let same = &self.columns[*i];
            same.name == column.name && same.data_type == column.data_type && !column.expr.is_volatile()
        });
        let position = match known {
            Some(position) => position,
            None => {
                self.exprs.push(column.expr.clone());
                self.columns.push(planning.sent(column)?);
                self.columns.len() - 1
            }
        };
        i32::try_from(position).map_err(|_| internal_datafusion_err!("too many columns"))
    }
}

/// Rows with their numbers, so that their order can be found again after they were moved.
#[derive(Debug)]
pub(crate) struct NumberedExec {
    input: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

/// Bits of a row's number within its partition.
const ROW_BITS: u32 = 40;

impl NumberedExec {
    pub fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        let mut fields: Vec<Arc<Field>> = input.schema().fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new(ROW_NUMBER, ArrowType::UInt64, false)));
        let schema = Arc::new(Schema::new(fields));
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema.clone()),
            input.output_partitioning().clone(),
            input.pipeline_behavior(),
            input.boundedness(),
        );
        Self { input, schema, properties: Arc::new(properties) }
    }
}

impl DisplayAs for NumberedExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NumberedExec")
    }
}

impl ExecutionPlan for NumberedExec {
    fn name(&self) -> &str {
        "NumberedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    over_one_input!(input, |_this, input| Self::new(input));

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let schema = self.schema.clone();
        let mut next = (partition as u64) << ROW_BITS;
        let rows = input.map(move |batch| -> DfResult<RecordBatch> {
            let batch = batch?;
            let count = batch.num_rows() as u64;
            let numbers: ArrayRef = Arc::new(UInt64Array::from_iter_values(next..next + count));
            next += count;
            let mut columns = batch.columns().to_vec();
            columns.push(numbers);
            Ok(RecordBatch::try_new(schema.clone(), columns)?)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), rows)))
    }
}
