//! Finishing touches to physical plans.
//!
//! Projections and filters whose functions depend on the partition get instances of their
//! own per partition (`rand(seed)`, `spark_partition_id()`); operators that
//! multiply rows yield now and then, so that interrupts get in.

use crate::one_input::over_one_input;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result as DfResult;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder, FileSource, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::ScalarUDF;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::execution_plan::ChildrenPropertiesMode;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec};
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions, SendableRecordBatchStream,
};
use firesteel_functions::SparkScalarUdf;
use std::fmt;
use std::sync::Arc;

/// Wraps the operators of a plan that need it.
pub(crate) fn by_partition(plan: Arc<dyn ExecutionPlan>) -> DfResult<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        let node = without_own_values(node)?;
        let any: &dyn std::any::Any = node.as_ref();
        let needs = if let Some(projection) = any.downcast_ref::<ProjectionExec>() {
            projection.expr().iter().any(|e| depends(&e.expr))
        } else if let Some(filter) = any.downcast_ref::<FilterExec>() {
            depends(filter.predicate())
        } else {
            false
        };
        if needs {
            return Ok(Transformed::yes(Arc::new(PartitionedExec::new(node)) as _));
        }
        // These make many batches of one, and must let interrupts in between.
        let multiplies = any.is::<CrossJoinExec>()
            || any.is::<NestedLoopJoinExec>()
            || any.is::<HashJoinExec>()
            || any.is::<UnnestExec>();
        if !multiplies {
            return Ok(Transformed::no(node));
        }
        let node = crate::streamed::in_streamed_order(node)?;
        Ok(Transformed::yes(Arc::new(CooperativeExec::new(node)) as _))
    })
    .map(|t| t.data)
}

/// Takes functions that depend on the partition out of a scan of Parquet files, into a projection above it.
fn without_own_values(node: Arc<dyn ExecutionPlan>) -> DfResult<Arc<dyn ExecutionPlan>> {
    let any: &dyn std::any::Any = node.as_ref();
    let Some(source) = any.downcast_ref::<DataSourceExec>() else { return Ok(node) };
    let data: &dyn std::any::Any = source.data_source().as_ref();
    let Some(scan) = data.downcast_ref::<FileScanConfig>() else { return Ok(node) };
    let files: &dyn std::any::Any = scan.file_source().as_ref();
    let (Some(parquet), Some(projection)) = (files.downcast_ref::<ParquetSource>(), scan.file_source().projection())
    else {
        return Ok(node);
    };
    if !projection.iter().any(|e| depends(&e.expr)) {
        return Ok(node);
    }
    let mut columns: Vec<usize> =
        projection.iter().flat_map(|e| collect_columns(&e.expr)).map(|column| column.index()).collect();
    columns.sort_unstable();
    columns.dedup();
    let expressions = projection
        .iter()
        .map(|e| {
            let expr = e.expr.clone().transform_up(|expr| {
                let any: &dyn std::any::Any = expr.as_ref();
                let Some(column) = any.downcast_ref::<Column>() else { return Ok(Transformed::no(expr)) };
                let index = columns.iter().position(|c| *c == column.index()).unwrap_or_default();
                Ok(Transformed::yes(Arc::new(Column::new(column.name(), index)) as _))
            })?;
            Ok(ProjectionExpr { expr: expr.data, alias: e.alias.clone() })
        })
        .collect::<DfResult<Vec<_>>>()?;
    let mut plain = ParquetSource::new(scan.file_source().table_schema().clone())
        .with_table_parquet_options(parquet.table_parquet_options().clone());
    if let Some(factory) = parquet.parquet_file_reader_factory() {
        plain = plain.with_parquet_file_reader_factory(factory.clone());
    }
    if let Some(predicate) = parquet.filter() {
        plain = plain.with_predicate(predicate);
    }
    let config = FileScanConfigBuilder::from(scan.clone())
        .with_source(Arc::new(plain))
        .with_projection_indices(Some(columns))?
        .build();
    Ok(Arc::new(ProjectionExec::try_new(expressions, DataSourceExec::from_data_source(config))?))
}

fn udf_of(expr: &Arc<dyn PhysicalExpr>) -> Option<(&ScalarFunctionExpr, &SparkScalarUdf)> {
    let any: &dyn std::any::Any = expr.as_ref();
    let function = any.downcast_ref::<ScalarFunctionExpr>()?;
    let inner: &dyn std::any::Any = function.fun().inner().as_ref();
    let udf = inner.downcast_ref::<SparkScalarUdf>()?;
    udf.depends_on_partition().then_some((function, udf))
}

fn depends(expr: &Arc<dyn PhysicalExpr>) -> bool {
    expr.exists(|e| Ok(udf_of(e).is_some())).unwrap_or(false)
}

/// Random functions have their seed and the partition as one number, so that a shift is one of the partition.
fn for_partition(expr: &Arc<dyn PhysicalExpr>, partition: usize, shift: usize) -> DfResult<Arc<dyn PhysicalExpr>> {
    expr.clone()
        .transform_up(|e| {
            let Some((function, udf)) = udf_of(&e) else { return Ok(Transformed::no(e)) };
            let has_seed = !matches!(function.name(), "spark_partition_id" | "monotonically_increasing_id");
            let partition = i32::try_from(if has_seed { partition + shift } else { partition }).unwrap_or(i32::MAX);
            let fresh = Arc::new(ScalarUDF::new_from_impl(udf.for_partition(partition)));
            let call = ScalarFunctionExpr::new(
                function.name(),
                fresh,
                function.args().to_vec(),
                Arc::new(arrow::datatypes::Field::new(
                    function.name(),
                    function.return_type().clone(),
                    function.nullable(),
                )),
                Arc::new(function.config_options().clone()),
            );
            Ok(Transformed::yes(Arc::new(call) as _))
        })
        .map(|t| t.data)
}

/// A projection or filter that is made anew for each partition.
#[derive(Debug)]
pub(crate) struct PartitionedExec {
    inner: Arc<dyn ExecutionPlan>,
    /// How far the seeds of random functions are moved on.
    shift: usize,
}

impl PartitionedExec {
    /// Wraps a projection or filter.
    pub(crate) fn new(inner: Arc<dyn ExecutionPlan>) -> Self {
        Self { inner, shift: 0 }
    }
}

/// The plan with seeds moved on: each step of a recursive query has random values of its own.
pub(crate) fn with_shifted_seeds(plan: Arc<dyn ExecutionPlan>, shift: usize) -> DfResult<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        let any: &dyn std::any::Any = node.as_ref();
        let Some(partitioned) = any.downcast_ref::<PartitionedExec>() else { return Ok(Transformed::no(node)) };
        let inner = partitioned.inner.clone();
        Ok(Transformed::yes(Arc::new(PartitionedExec { inner, shift }) as _))
    })
    .map(|t| t.data)
}

impl DisplayAs for PartitionedExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PartitionedExec")
    }
}

impl ExecutionPlan for PartitionedExec {
    fn name(&self) -> &'static str {
        "PartitionedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.inner.properties()
    }

    fn schema(&self) -> SchemaRef {
        self.inner.schema()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    over_one_input!(inner, |this, inner| Self { inner, shift: this.shift });

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let any: &dyn std::any::Any = self.inner.as_ref();
        if let Some(projection) = any.downcast_ref::<ProjectionExec>() {
            let expressions = projection
                .expr()
                .iter()
                .map(|e| {
                    Ok(ProjectionExpr { expr: for_partition(&e.expr, partition, self.shift)?, alias: e.alias.clone() })
                })
                .collect::<DfResult<Vec<_>>>()?;
            return ProjectionExec::try_new(expressions, projection.input().clone())?.execute(partition, context);
        }
        if let Some(filter) = any.downcast_ref::<FilterExec>() {
            let predicate = for_partition(filter.predicate(), partition, self.shift)?;
            let fresh =
                datafusion::physical_plan::filter::FilterExecBuilder::from(filter).with_predicate(predicate).build()?;
            return fresh.execute(partition, context);
        }
        self.inner.execute(partition, context)
    }
}

/// The operator over other inputs.
pub(crate) fn replaced(
    plan: &Arc<dyn ExecutionPlan>,
    children: Vec<Arc<dyn ExecutionPlan>>,
) -> DfResult<Arc<dyn ExecutionPlan>> {
    plan.clone().replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
}
