//! The limits of recursive queries (`spark.sql.cteRecursionLevelLimit`, `spark.sql.cteRecursionRowLimit`).

use crate::one_input::over_one_input;
use crate::partitioned::{PartitionedExec, with_shifted_seeds};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result as DfResult, internal_datafusion_err};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::work_table::WorkTableExec;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use firesteel_analyzer::recursion::{RecursionLimits, WorkExec, WorkRows};
use firesteel_error::SparkError;
use futures::{StreamExt, TryStreamExt, stream};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The name of the operator.
pub(crate) const NAME: &str = "RecursionLimitExec";

/// Counts the steps and the rows of a plan's recursive queries.
pub(crate) fn limited(plan: Arc<dyn ExecutionPlan>) -> DfResult<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        let any: &dyn std::any::Any = node.as_ref();
        let Some(query) = any.downcast_ref::<RecursiveQueryExec>() else { return Ok(Transformed::no(node)) };
        let limits = RecursionLimits::of_name(query.name());
        let counts = Arc::new(Counts::default());
        let counted = |input: &Arc<dyn ExecutionPlan>, is_anchor| {
            let (input, counts) = (input.clone(), counts.clone());
            Arc::new(RecursionLimitExec { input, is_anchor, limits, counts }) as Arc<dyn ExecutionPlan>
        };
        let step = working(query)?;
        let children = vec![counted(query.static_term(), true), counted(&step, false)];
        Ok(Transformed::yes(crate::partitioned::replaced(&node, children)?))
    })
    .map(|t| t.data)
}

/// The step of a recursive query with its readers of the step before's rows.
fn working(query: &RecursiveQueryExec) -> DfResult<Arc<dyn ExecutionPlan>> {
    let rows = WorkRows::default();
    let step = query.recursive_term().clone().transform_up(|node| {
        let any: &dyn std::any::Any = node.as_ref();
        match any.downcast_ref::<WorkExec>() {
            Some(work) if work.query() == query.name() => {
                Ok(Transformed::yes(Arc::new(work.reading(rows.clone())) as _))
            }
            _ => Ok(Transformed::no(node)),
        }
    })?;
    let work = Arc::new(WorkTableExec::new(query.name().to_string(), query.schema(), None)?);
    Ok(Arc::new(StepExec { work, step: step.data, rows }))
}

/// The step of a recursive query: takes over the rows of the step before, for all that read them.
#[derive(Debug)]
struct StepExec {
    work: Arc<dyn ExecutionPlan>,
    step: Arc<dyn ExecutionPlan>,
    rows: WorkRows,
}

impl DisplayAs for StepExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StepExec")
    }
}

impl ExecutionPlan for StepExec {
    fn name(&self) -> &'static str {
        "StepExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.step.properties()
    }

    fn schema(&self) -> SchemaRef {
        self.step.schema()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.work, &self.step]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let (Some(step), Some(work)) = (children.pop(), children.pop()) else {
            return Err(internal_datafusion_err!("a step has two inputs"));
        };
        Ok(Arc::new(Self { work, step, rows: self.rows.clone() }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let before = self.work.execute(0, context.clone())?;
        let (step, rows) = (self.step.clone(), self.rows.clone());
        let batches = stream::once(async move {
            let batches: Vec<RecordBatch> = before.try_collect().await?;
            *rows.lock() = batches;
            step.execute(partition, context)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches.try_flatten())))
    }
}

/// What a recursive query has done so far.
#[derive(Debug, Default)]
struct Counts {
    steps: AtomicU64,
    rows: AtomicU64,
}

/// The anchor or the step of a recursive query. The step is executed again for each level.
#[derive(Debug)]
struct RecursionLimitExec {
    input: Arc<dyn ExecutionPlan>,
    is_anchor: bool,
    limits: RecursionLimits,
    counts: Arc<Counts>,
}

impl DisplayAs for RecursionLimitExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAME)
    }
}

impl ExecutionPlan for RecursionLimitExec {
    fn name(&self) -> &str {
        NAME
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }

    over_one_input!(input, |this, input| {
        let (is_anchor, limits, counts) = (this.is_anchor, this.limits, this.counts.clone());
        Self { input, is_anchor, limits, counts }
    });

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let mut input = self.input.clone();
        if self.is_anchor {
            self.counts.steps.store(0, Ordering::Relaxed);
            self.counts.rows.store(0, Ordering::Relaxed);
        } else {
            let step = self.counts.steps.fetch_add(1, Ordering::Relaxed) + 1;
            if let Some(limit) = self.limits.levels.filter(|limit| step > *limit) {
                return Err(exceeded("RECURSION_LEVEL_LIMIT_EXCEEDED", "levelLimit", limit));
            }
            if step > 1 && has_seeds(&input) {
                input = with_shifted_seeds(input, usize::try_from(step - 1).unwrap_or(usize::MAX))?;
            }
        }
        let input = input.execute(partition, context)?;
        let (limit, counts) = (self.limits.rows, self.counts.clone());
        // The error comes after the rows: who wanted no more of them does not see it.
        let rows = stream::unfold(Some(input), move |input| {
            let counts = counts.clone();
            async move {
                let mut input = input?;
                if let Some(limit) = limit.filter(|limit| counts.rows.load(Ordering::Relaxed) >= *limit) {
                    return Some((Err(exceeded("RECURSION_ROW_LIMIT_EXCEEDED", "rowLimit", limit)), None));
                }
                let batch = input.next().await?;
                if let Ok(batch) = &batch {
                    counts.rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
                }
                Some((batch, Some(input)))
            }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}

/// Whether a plan has functions of the partition, random ones perhaps.
fn has_seeds(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.exists(|node| {
        let any: &dyn std::any::Any = node.as_ref();
        Ok(any.is::<PartitionedExec>())
    })
    .unwrap_or(false)
}

fn exceeded(condition: &'static str, parameter: &'static str, limit: u64) -> DataFusionError {
    DataFusionError::External(Box::new(SparkError::new(condition).with(parameter, limit.to_string())))
}
