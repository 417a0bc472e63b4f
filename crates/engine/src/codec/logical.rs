//! Logical operators and tables of ours as bytes.

use super::{Codec, bound, function, malformed};
use arrow::datatypes::SchemaRef;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use datafusion::catalog::TableProvider;
use datafusion::common::{Result as DfResult, TableReference};
use datafusion::datasource::MemTable;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, Extension, HigherOrderUDF, LogicalPlan, ScalarUDF, WindowUDF};
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::logical_plan::from_proto::parse_exprs;
use datafusion_proto::logical_plan::to_proto::serialize_exprs;
use datafusion_proto::protobuf::LogicalExprNode;
use firesteel_analyzer::observe::Observe;
use firesteel_analyzer::range::RangeTable;
use prost::Message;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::sync::Arc;

/// An observation; its input travels beside it. Metrics are expressions of DataFusion's protobuf.
#[derive(Serialize, Deserialize)]
struct PlainObserve {
    name: String,
    metrics: Vec<Vec<u8>>,
}

/// A table of ours.
#[derive(Serialize, Deserialize)]
enum Table {
    Range {
        start: i64,
        step: i64,
        count: u64,
        partitions: Option<usize>,
    },
    /// Partitions, each an Arrow stream.
    Rows(Vec<Vec<u8>>),
}

fn failed(error: impl std::fmt::Display) -> datafusion::common::DataFusionError {
    super::external(firesteel_error::SparkError::internal(error.to_string()))
}

impl LogicalExtensionCodec for Codec {
    fn try_decode(&self, bytes: &[u8], inputs: &[LogicalPlan], context: &TaskContext) -> DfResult<Extension> {
        let plain: PlainObserve = serde_json::from_slice(bytes).map_err(|_| malformed("an operator"))?;
        let [input] = inputs else { return Err(malformed("an operator")) };
        let nodes = plain
            .metrics
            .iter()
            .map(|bytes| LogicalExprNode::decode(bytes.as_slice()).map_err(|_| malformed("an expression")))
            .collect::<DfResult<Vec<_>>>()?;
        let metrics = parse_exprs(&nodes, context, self).map_err(failed)?;
        Ok(Extension { node: Arc::new(Observe { name: plain.name, input: input.clone(), metrics }) })
    }

    fn try_encode(&self, node: &Extension, bytes: &mut Vec<u8>) -> DfResult<()> {
        let Some(observe) = node.node.as_any().downcast_ref::<Observe>() else {
            return Err(bound(format!("the operator {}", node.node.name())));
        };
        let metrics = serialize_exprs(&observe.metrics, self).map_err(failed)?;
        let plain =
            PlainObserve { name: observe.name.clone(), metrics: metrics.iter().map(Message::encode_to_vec).collect() };
        serde_json::to_writer(bytes, &plain).map_err(failed)
    }

    fn try_decode_table_provider(
        &self,
        bytes: &[u8],
        _table: &TableReference,
        schema: SchemaRef,
        _context: &TaskContext,
    ) -> DfResult<Arc<dyn TableProvider>> {
        match serde_json::from_slice(bytes).map_err(|_| malformed("a table"))? {
            Table::Range { start, step, count, partitions } => {
                Ok(Arc::new(RangeTable::of_count(start, step, count, partitions)))
            }
            Table::Rows(partitions) => {
                let partitions = partitions
                    .iter()
                    .map(|bytes| Ok(StreamReader::try_new(bytes.as_slice(), None)?.collect::<Result<Vec<_>, _>>()?))
                    .collect::<DfResult<Vec<_>>>()?;
                Ok(Arc::new(MemTable::try_new(schema, partitions)?))
            }
        }
    }

    fn try_encode_table_provider(
        &self,
        table: &TableReference,
        provider: Arc<dyn TableProvider>,
        bytes: &mut Vec<u8>,
    ) -> DfResult<()> {
        let any: &dyn Any = provider.as_ref();
        let plain = if let Some(range) = any.downcast_ref::<RangeTable>() {
            let RangeTable { start, step, count, partitions, .. } = *range;
            Table::Range { start, step, count, partitions }
        } else if let Some(rows) = any.downcast_ref::<MemTable>() {
            let schema = provider.schema();
            let mut partitions = Vec::with_capacity(rows.batches.len());
            for partition in &rows.batches {
                let batches = partition.try_read().map_err(failed)?;
                let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
                for batch in batches.iter() {
                    writer.write(batch)?;
                }
                partitions.push(writer.into_inner()?);
            }
            Table::Rows(partitions)
        } else {
            return Err(bound(format!("the table {table}")));
        };
        serde_json::to_writer(bytes, &plain).map_err(failed)
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
