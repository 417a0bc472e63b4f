//! Plans as bytes, for other processes.
//!
//! One codec for logical and physical plans knows what is ours in them. A
//! function travels as the plain data of its call, and is found again by its
//! name. What lives in this process only (kept relations, observations) fails
//! by name when it is to be sent.

mod function;
mod logical;
mod physical;
mod rebuild;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use datafusion::common::DataFusionError;
use datafusion::common::tree_node::TreeNode;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::bytes::{
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use firesteel_analyzer::resolved::engine_error;
use firesteel_error::{Result, SparkError};
use std::sync::Arc;

/// The codec of both kinds of plans.
#[derive(Debug, Clone, Copy, Default)]
pub struct Codec;

/// A physical plan as bytes, to be taken before the plan is finished and runs: what operators
/// learn while they run would travel with it.
pub fn physical_to_bytes(plan: Arc<dyn ExecutionPlan>) -> Result<Bytes> {
    plan.apply(physical::check).map_err(engine_error)?;
    physical_plan_to_bytes_with_extension_codec(plan, &Codec).map_err(engine_error)
}

/// The physical plan of bytes, to be finished here.
pub fn physical_from_bytes(bytes: &[u8], context: &TaskContext) -> Result<Arc<dyn ExecutionPlan>> {
    physical_plan_from_bytes_with_extension_codec(bytes, context, &Codec)
        .and_then(|plan| plan.transform_up(physical::fitted).map(|t| t.data))
        .map_err(engine_error)
}

/// The error of something that cannot be sent.
fn bound(what: impl std::fmt::Display) -> DataFusionError {
    external(SparkError::unsupported(format!("{what} in another process")))
}

fn external(error: SparkError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// The error of bytes that are not what a codec of this version writes.
fn malformed(what: &str) -> DataFusionError {
    external(SparkError::internal(format!("the bytes of {what} cannot be read")))
}
