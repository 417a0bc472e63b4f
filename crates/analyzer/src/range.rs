//! The table of `spark.range`: consecutive integers, made as they are read.

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{Result as DfResult, Statistics};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::memory::{LazyBatchGenerator, LazyMemoryExec};
use parking_lot::RwLock;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// `start`, `start + step`, … before `end`, in partitions of near equal size.
#[derive(Debug, Clone)]
pub struct RangeTable {
    pub start: i64,
    pub step: i64,
    pub count: u64,
    pub partitions: Option<usize>,
    schema: SchemaRef,
}

impl RangeTable {
    /// `step` is not 0.
    pub fn new(start: i64, end: i64, step: i64, partitions: Option<i32>) -> Self {
        let (start128, end128, step128) = (i128::from(start), i128::from(end), i128::from(step));
        let span = end128 - start128;
        let count = if step == 0 || (span > 0) != (step > 0) || span == 0 {
            0
        } else {
            (span.unsigned_abs()).div_ceil(step128.unsigned_abs())
        };
        let partitions = partitions.and_then(|p| usize::try_from(p).ok()).filter(|p| *p > 0);
        Self::of_count(start, step, u64::try_from(count).unwrap_or(u64::MAX), partitions)
    }

    /// So many numbers.
    pub fn of_count(start: i64, step: i64, count: u64, partitions: Option<usize>) -> Self {
        let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, false)]));
        Self { start, step, count, partitions, schema }
    }
}

#[async_trait]
impl TableProvider for RangeTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let count = limit.map_or(self.count, |l| self.count.min(l as u64));
        let partitions = match self.partitions {
            Some(p) => p.min(4096),
            // Small ranges are not worth splitting.
            None if count <= 65_536 => 1,
            None => state.config().target_partitions().max(1),
        } as u64;
        let is_empty_projection = projection.is_some_and(Vec::is_empty);
        let schema = if is_empty_projection { Arc::new(Schema::empty()) } else { self.schema.clone() };
        let parts = (0..partitions)
            .map(|p| {
                let from = (u128::from(count) * u128::from(p) / u128::from(partitions)) as u64;
                let to = (u128::from(count) * u128::from(p + 1) / u128::from(partitions)) as u64;
                let batch_size = state.config().batch_size().max(1) as u64;
                RangePart { start: self.start, step: self.step, from, to, batch_size }
            })
            .collect();
        Ok(Arc::new(scan(parts, schema)?))
    }

    fn statistics(&self) -> Option<Statistics> {
        let mut statistics = Statistics::new_unknown(&self.schema);
        statistics.num_rows = Precision::Exact(usize::try_from(self.count).unwrap_or(usize::MAX));
        Some(statistics)
    }
}

/// The numbers of one partition, by their positions in the range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangePart {
    pub start: i64,
    pub step: i64,
    pub from: u64,
    /// Exclusive.
    pub to: u64,
    pub batch_size: u64,
}

/// The operator that makes the numbers of some partitions: with the schema's one column, or none.
pub fn scan(parts: Vec<RangePart>, schema: SchemaRef) -> DfResult<LazyMemoryExec> {
    let generators = parts
        .into_iter()
        .map(|part| {
            let generator = RangeGenerator { part, next: part.from, schema: schema.clone() };
            Arc::new(RwLock::new(generator)) as Arc<RwLock<dyn LazyBatchGenerator>>
        })
        .collect();
    LazyMemoryExec::try_new(schema, generators)
}

/// The partitions of an operator that [`scan`] made.
pub fn parts_of(operator: &LazyMemoryExec) -> Option<Vec<RangePart>> {
    let part = |generator: &Arc<RwLock<dyn LazyBatchGenerator>>| {
        generator.read().as_any().downcast_ref::<RangeGenerator>().map(|range| range.part)
    };
    operator.generators().iter().map(part).collect()
}

#[derive(Debug, Clone)]
struct RangeGenerator {
    part: RangePart,
    next: u64,
    schema: SchemaRef,
}

impl fmt::Display for RangeGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Range ({} rows, step={})", self.part.to - self.part.from, self.part.step)
    }
}

impl LazyBatchGenerator for RangeGenerator {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn generate_next_batch(&mut self) -> DfResult<Option<RecordBatch>> {
        let RangePart { start, step, to, batch_size, .. } = self.part;
        if self.next >= to {
            return Ok(None);
        }
        let until = to.min(self.next.saturating_add(batch_size));
        let rows = (until - self.next) as usize;
        let batch = if self.schema.fields().is_empty() {
            RecordBatch::try_new_with_options(
                self.schema.clone(),
                vec![],
                &RecordBatchOptions::new().with_row_count(Some(rows)),
            )?
        } else {
            let first = start.wrapping_add(step.wrapping_mul(self.next as i64));
            let values: Int64Array =
                (0..rows as i64).map(|i| first.wrapping_add(step.wrapping_mul(i))).collect::<Vec<_>>().into();
            RecordBatch::try_new(self.schema.clone(), vec![Arc::new(values) as ArrayRef])?
        };
        self.next = until;
        Ok(Some(batch))
    }

    fn reset_state(&self) -> Arc<RwLock<dyn LazyBatchGenerator>> {
        Arc::new(RwLock::new(Self { next: self.part.from, ..self.clone() }))
    }
}
