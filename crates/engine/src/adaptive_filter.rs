//! Filters that joins and sorts find out while they run, applied to the rows of scans.
//!
//! A join knows the keys of its build side before it takes the first row of its other
//! side. DataFusion hands them to the scan, where they prune row groups. The rows that
//! are read all the same would be hashed, exchanged and probed in vain: they are dropped
//! here, as long as the filter drops enough of them to be worth its time.

use arrow::array::{AsArray, BooleanArray};
use arrow::compute::{BatchCoalescer, and, filter_record_batch};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result as DfResult, ScalarValue, internal_datafusion_err};
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::expressions::{Column, DynamicFilterPhysicalExpr};
use datafusion::physical_expr::{PhysicalExpr, split_conjunction};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet, RecordOutput};
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use futures::{StreamExt, stream};
use std::fmt;
use std::sync::Arc;

/// Rows after which a filter is judged.
const TRIAL_ROWS: usize = 32 * 1024;
/// Of a hundred rows, how many a filter may keep and still be worth its time.
const KEPT_PERCENT: usize = 60;
/// Of a hundred rows, how many a filter may keep for the next one to be asked about those only.
const DENSE_PERCENT: usize = 50;
/// Batches that pass a filter that was not worth it before it is tried again; twice as many the next time.
const FIRST_PAUSE: usize = 32;

type Filters = Vec<Arc<dyn PhysicalExpr>>;

/// The plan with the filters of its scans applied as near to the operators that made
/// them as projections and static filters let them be moved.
pub(crate) fn placed(plan: Arc<dyn ExecutionPlan>) -> DfResult<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        let any: &dyn std::any::Any = node.as_ref();
        if let Some(scan) = any.downcast_ref::<DataSourceExec>() {
            let filters = of_scan(scan)?;
            return wrapped(node, filters);
        }
        let outputs = if let Some(filter) = any.downcast_ref::<FilterExec>() {
            outputs_of_filter(filter)
        } else if let Some(projection) = any.downcast_ref::<ProjectionExec>() {
            outputs_of(projection.expr())
        } else {
            return Ok(Transformed::no(node));
        };
        let child = node.children().first().map(|child| (*child).clone());
        let child: Option<&dyn std::any::Any> = child.as_deref().map(|child| child as _);
        let Some(below) = child.and_then(|child| child.downcast_ref::<AdaptiveFilterExec>()) else {
            return Ok(Transformed::no(node));
        };
        let moved =
            below.filters.iter().map(|filter| remapped(filter, &outputs)).collect::<DfResult<Option<Filters>>>()?;
        let Some(moved) = moved else { return Ok(Transformed::no(node)) };
        let node = crate::partitioned::replaced(&node, vec![below.input.clone()])?;
        wrapped(node, moved)
    })
    .map(|t| t.data)
}

fn wrapped(node: Arc<dyn ExecutionPlan>, filters: Filters) -> DfResult<Transformed<Arc<dyn ExecutionPlan>>> {
    if filters.is_empty() {
        return Ok(Transformed::no(node));
    }
    Ok(Transformed::yes(Arc::new(AdaptiveFilterExec { input: node, filters, metrics: ExecutionPlanMetricsSet::new() })))
}

/// A column of an operator's input, and where it stands in its output.
type Output = (usize, Column);

/// The scan's filters that are found out while the plan runs, over the scan's output.
fn of_scan(scan: &DataSourceExec) -> DfResult<Filters> {
    let Some(config) = scan.data_source().downcast_ref::<FileScanConfig>() else { return Ok(Vec::new()) };
    let Some(predicate) = config.file_source().filter() else { return Ok(Vec::new()) };
    let schema = scan.schema();
    let outputs = match config.file_source().projection() {
        Some(projection) => outputs_of(projection.as_ref()),
        None => schema.fields().iter().enumerate().map(|(i, field)| (i, Column::new(field.name(), i))).collect(),
    };
    let mut filters = Vec::new();
    for conjunct in split_conjunction(&predicate) {
        let any: &dyn std::any::Any = conjunct.as_ref();
        if any.is::<DynamicFilterPhysicalExpr>()
            && let Some(filter) = remapped(conjunct, &outputs)?
        {
            filters.push(filter);
        }
    }
    Ok(filters)
}

fn outputs_of(projection: &[ProjectionExpr]) -> Vec<Output> {
    let output = |(position, projected): (usize, &ProjectionExpr)| {
        let any: &dyn std::any::Any = projected.expr.as_ref();
        let column = any.downcast_ref::<Column>()?;
        Some((column.index(), Column::new(&projected.alias, position)))
    };
    projection.iter().enumerate().filter_map(output).collect()
}

fn outputs_of_filter(filter: &FilterExec) -> Vec<Output> {
    let schema = filter.schema();
    let fields = schema.fields().iter().enumerate();
    match filter.projection() {
        Some(positions) => {
            fields.zip(positions.iter()).map(|((i, field), from)| (*from, Column::new(field.name(), i))).collect()
        }
        None => fields.map(|(i, field)| (i, Column::new(field.name(), i))).collect(),
    }
}

/// The filter over an operator's output, if all of its columns are there.
fn remapped(filter: &Arc<dyn PhysicalExpr>, outputs: &[Output]) -> DfResult<Option<Arc<dyn PhysicalExpr>>> {
    let mut is_complete = true;
    let children = filter.children().into_iter().cloned().collect::<Vec<_>>();
    let mut moved = Vec::with_capacity(children.len());
    for child in children {
        let child = child.transform(|expr| {
            let any: &dyn std::any::Any = expr.as_ref();
            let Some(column) = any.downcast_ref::<Column>() else { return Ok(Transformed::no(expr)) };
            match outputs.iter().find(|(from, _)| *from == column.index()) {
                Some((_, column)) => Ok(Transformed::yes(Arc::new(column.clone()) as _)),
                None => {
                    is_complete = false;
                    Ok(Transformed::no(expr))
                }
            }
        })?;
        moved.push(child.data);
    }
    Ok(if is_complete { Some(filter.clone().with_new_children(moved)?) } else { None })
}

/// Drops rows by filters that other operators find out, while that is worth its time.
#[derive(Debug)]
struct AdaptiveFilterExec {
    input: Arc<dyn ExecutionPlan>,
    filters: Filters,
    metrics: ExecutionPlanMetricsSet,
}

impl DisplayAs for AdaptiveFilterExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdaptiveFilterExec:")?;
        for (i, filter) in self.filters.iter().enumerate() {
            write!(f, "{} {filter}", if i == 0 { "" } else { " AND" })?;
        }
        Ok(())
    }
}

impl ExecutionPlan for AdaptiveFilterExec {
    fn name(&self) -> &'static str {
        "AdaptiveFilterExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        for filter in &self.filters {
            if f(filter)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let input = children.pop().ok_or_else(|| internal_datafusion_err!("one input is expected"))?;
        Ok(Arc::new(Self { input, filters: self.filters.clone(), metrics: ExecutionPlanMetricsSet::new() }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let batch_size = context.session_config().batch_size();
        let filtering = Filtering {
            input: self.input.execute(partition, context)?,
            trials: self.filters.iter().cloned().map(Trial::new).collect(),
            kept: BatchCoalescer::new(self.schema(), batch_size).with_biggest_coalesce_batch_size(Some(batch_size / 2)),
            batch_size,
            metrics: BaselineMetrics::new(&self.metrics, partition),
            is_ended: false,
        };
        let batches = stream::try_unfold(filtering, |mut filtering| async move {
            let batch = filtering.next().await?;
            Ok(batch.map(|batch| (batch.record_output(&filtering.metrics), filtering)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// The rows of a partition on their way through the filters.
struct Filtering {
    input: SendableRecordBatchStream,
    trials: Vec<Trial>,
    kept: BatchCoalescer,
    batch_size: usize,
    metrics: BaselineMetrics,
    is_ended: bool,
}

impl Filtering {
    /// Takes a batch; gives one back that can go on as it is.
    fn filtered(&mut self, mut batch: RecordBatch) -> DfResult<Option<RecordBatch>> {
        let mut mask: Option<BooleanArray> = None;
        let mut is_judged = false;
        for trial in &mut self.trials {
            let Some(own) = trial.mask(&batch)? else { continue };
            is_judged |= trial.judge();
            let kept = match mask.take() {
                Some(mask) => and(&mask, &own)?,
                None => own,
            };
            // What the next filter is worth shows in the rows that this one keeps.
            if kept.true_count() * 100 <= batch.num_rows() * DENSE_PERCENT {
                batch = filter_record_batch(&batch, &kept)?;
            } else {
                mask = Some(kept);
            }
            if batch.num_rows() == 0 {
                break;
            }
        }
        if is_judged {
            self.trials.sort_by_key(|trial| trial.percent);
        }
        match mask {
            Some(mask) => self.kept.push_batch_with_filter(batch, &mask)?,
            None if self.kept.is_empty() && batch.num_rows() >= self.batch_size / 2 => return Ok(Some(batch)),
            None => self.kept.push_batch(batch)?,
        }
        Ok(None)
    }

    async fn next(&mut self) -> DfResult<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.kept.next_completed_batch() {
                return Ok(Some(batch));
            }
            if self.is_ended {
                return Ok(None);
            }
            match self.input.next().await {
                None => {
                    self.is_ended = true;
                    self.kept.finish_buffered_batch()?;
                }
                Some(batch) => {
                    let batch = batch?;
                    let time = self.metrics.elapsed_compute().clone();
                    let _timer = time.timer();
                    if let Some(batch) = self.filtered(batch)? {
                        return Ok(Some(batch));
                    }
                }
            }
        }
    }
}

/// A filter that is used while it is worth its time.
struct Trial {
    filter: Arc<dyn PhysicalExpr>,
    rows: usize,
    kept: usize,
    /// Of the rows of its last trial, the percentage that it kept.
    percent: usize,
    /// Batches that pass until it is tried again.
    pause: usize,
    /// The pause after its next trial that fails.
    next_pause: usize,
}

impl Trial {
    fn new(filter: Arc<dyn PhysicalExpr>) -> Self {
        Self { filter, rows: 0, kept: 0, percent: 100, pause: 0, next_pause: FIRST_PAUSE }
    }

    /// The rows that it keeps; `None` where it is not asked, or nothing is known yet.
    fn mask(&mut self, batch: &RecordBatch) -> DfResult<Option<BooleanArray>> {
        if self.pause > 0 {
            self.pause -= 1;
            return Ok(None);
        }
        let mask = match self.filter.evaluate(batch)? {
            ColumnarValue::Scalar(ScalarValue::Boolean(Some(true))) => return Ok(None),
            value => value.into_array(batch.num_rows())?,
        };
        let mask = mask.as_boolean_opt().ok_or_else(|| internal_datafusion_err!("a filter gives truth values"))?;
        self.rows += batch.num_rows();
        self.kept += mask.true_count();
        Ok(Some(mask.clone()))
    }

    /// Judges the filter if it has seen enough rows; true where that changes anything.
    fn judge(&mut self) -> bool {
        if self.rows < TRIAL_ROWS {
            return false;
        }
        self.percent = self.kept * 100 / self.rows;
        if self.percent > KEPT_PERCENT {
            self.pause = self.next_pause;
            self.next_pause *= 2;
        }
        (self.rows, self.kept) = (0, 0);
        true
    }
}
