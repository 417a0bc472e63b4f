//! Physical operators of ours as bytes.

use super::{Codec, bound, function, malformed};
use crate::kept::KeptSource;
use crate::observe::ObserveExec;
use crate::partitioned::PartitionedExec;
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::Result as DfResult;
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, HigherOrderUDF, ScalarUDF, WindowUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::memory::LazyMemoryExec;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use firesteel_analyzer::range::{self, RangePart};
use firesteel_sources::records::RecordSource;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::sync::Arc;

/// An operator of ours. Its inputs travel beside it.
#[derive(Serialize, Deserialize)]
enum Operator {
    /// See [`PartitionedExec`].
    Partitioned,
    /// The partitions of a range.
    Range { partitions: Vec<Part>, column: Option<String> },
}

/// A [`RangePart`].
#[derive(Serialize, Deserialize)]
struct Part(i64, i64, u64, u64, u64);

/// Fails for an operator that cannot be sent.
pub(super) fn check(node: &Arc<dyn ExecutionPlan>) -> DfResult<TreeNodeRecursion> {
    let any: &dyn Any = node.as_ref();
    if any.is::<ObserveExec>() {
        return Err(bound("an observation"));
    }
    let Some(scan) = any.downcast_ref::<DataSourceExec>() else { return Ok(TreeNodeRecursion::Continue) };
    let source: &dyn Any = scan.data_source().as_ref();
    let files = source.downcast_ref::<FileScanConfig>().map(|files| files.file_source());
    let is_records = files.is_some_and(|source| (source.as_ref() as &dyn Any).is::<RecordSource>());
    if is_records || source.is::<KeptSource>() {
        let text = datafusion::physical_plan::displayable(node.as_ref()).one_line().to_string();
        return Err(bound(format!("the operator {}", text.trim())));
    }
    Ok(TreeNodeRecursion::Continue)
}

/// An operator that came from another process, with what does not travel.
pub(super) fn fitted(node: Arc<dyn ExecutionPlan>) -> DfResult<Transformed<Arc<dyn ExecutionPlan>>> {
    let any: &dyn Any = node.as_ref();
    let scan = any.downcast_ref::<DataSourceExec>().map(|scan| scan.data_source().as_ref() as &dyn Any);
    let fitted = scan.and_then(|source| source.downcast_ref()).and_then(firesteel_sources::parquet::fitted);
    Ok(match fitted {
        Some(scan) => Transformed::yes(DataSourceExec::from_data_source(scan)),
        None => Transformed::no(node),
    })
}

impl PhysicalExtensionCodec for Codec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        _context: &TaskContext,
        _converter: &dyn PhysicalProtoConverterExtension,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        match (serde_json::from_slice(bytes).map_err(|_| malformed("an operator"))?, inputs) {
            (Operator::Partitioned, [input]) => Ok(Arc::new(PartitionedExec::new(input.clone()))),
            (Operator::Range { partitions, column }, []) => {
                let fields: Vec<Field> =
                    column.map(|name| Field::new(name, DataType::Int64, false)).into_iter().collect();
                let parts = partitions
                    .into_iter()
                    .map(|Part(start, step, from, to, batch_size)| RangePart { start, step, from, to, batch_size })
                    .collect();
                Ok(Arc::new(range::scan(parts, Arc::new(Schema::new(fields)))?))
            }
            _ => Err(malformed("an operator")),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        _converter: &dyn PhysicalProtoConverterExtension,
    ) -> DfResult<()> {
        let any: &dyn Any = node.as_ref();
        let operator = if any.is::<PartitionedExec>() {
            Operator::Partitioned
        } else if let Some(parts) = any.downcast_ref::<LazyMemoryExec>().and_then(range::parts_of) {
            let partitions = parts.into_iter().map(|p| Part(p.start, p.step, p.from, p.to, p.batch_size)).collect();
            Operator::Range { partitions, column: node.schema().fields().first().map(|field| field.name().clone()) }
        } else {
            return Err(bound(format!("the operator {}", node.name())));
        };
        serde_json::to_writer(bytes, &operator).map_err(|_| malformed("an operator"))
    }

    fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> DfResult<Arc<ScalarUDF>> {
        function::decode_scalar(name, bytes)
    }

    fn try_encode_udf(&self, function: &ScalarUDF, bytes: &mut Vec<u8>) -> DfResult<()> {
        function::encode_scalar(function, bytes)
    }

    fn try_decode_higher_order_function(&self, name: &str, bytes: &[u8]) -> DfResult<Arc<HigherOrderUDF>> {
        function::decode_higher_order(name, bytes)
    }

    fn try_encode_higher_order_function(&self, function: &HigherOrderUDF, bytes: &mut Vec<u8>) -> DfResult<()> {
        function::encode_higher_order(function, bytes)
    }

    fn try_decode_udaf(&self, name: &str, bytes: &[u8]) -> DfResult<Arc<AggregateUDF>> {
        function::decode_aggregate(name, bytes)
    }

    fn try_encode_udaf(&self, function: &AggregateUDF, bytes: &mut Vec<u8>) -> DfResult<()> {
        function::encode_aggregate(function, bytes)
    }

    fn try_decode_udwf(&self, name: &str, bytes: &[u8]) -> DfResult<Arc<WindowUDF>> {
        function::decode_window(name, bytes)
    }

    fn try_encode_udwf(&self, function: &WindowUDF, bytes: &mut Vec<u8>) -> DfResult<()> {
        function::encode_window(function, bytes)
    }
}
