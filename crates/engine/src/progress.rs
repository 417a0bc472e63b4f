//! How far a running plan is, told as Spark tells it: by stages and their tasks.

use crate::execution::{Progress, Stage};
use datafusion::physical_plan::metrics::MetricValue;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a stage has been found to be.
#[derive(Default)]
struct Found {
    tasks: usize,
    /// Partitions that one of its operators has begun and ended.
    begun: BTreeSet<usize>,
    ended: BTreeSet<usize>,
    input_bytes: usize,
}

/// The stages of a plan, the ones that read the data first. A stage reaches from
/// one exchange of rows between partitions to the next.
pub(crate) fn progress(plan: &Arc<dyn ExecutionPlan>) -> Progress {
    let mut found: Vec<Found> = Vec::new();
    let mut heads = vec![plan.clone()];
    while let Some(head) = heads.pop() {
        let mut stage = Found { tasks: head.output_partitioning().partition_count(), ..Found::default() };
        let mut stack = vec![head];
        while let Some(node) = stack.pop() {
            look(&node, &mut stage);
            for child in node.children() {
                let is_exchange = child.output_partitioning().partition_count()
                    != node.output_partitioning().partition_count()
                    || node.name() == "RepartitionExec";
                if is_exchange {
                    heads.push(child.clone());
                } else {
                    stack.push(child.clone());
                }
            }
        }
        found.push(stage);
    }
    let mut tasks_in_flight = 0;
    let mut stages = Vec::with_capacity(found.len());
    for (id, stage) in found.iter().rev().enumerate() {
        let completed = stage.ended.len().min(stage.tasks);
        tasks_in_flight += stage.begun.len().saturating_sub(stage.ended.len());
        stages.push(Stage {
            id: to_i64(id),
            tasks: to_i64(stage.tasks),
            completed_tasks: to_i64(completed),
            input_bytes: to_i64(stage.input_bytes),
            is_done: completed == stage.tasks,
        });
    }
    Progress { stages, tasks_in_flight: to_i64(tasks_in_flight) }
}

fn look(node: &Arc<dyn ExecutionPlan>, stage: &mut Found) {
    let Some(metrics) = node.metrics() else { return };
    for metric in metrics.iter() {
        match (metric.value(), metric.partition()) {
            (MetricValue::StartTimestamp(time), Some(partition)) if time.value().is_some() => {
                stage.begun.insert(partition);
            }
            (MetricValue::EndTimestamp(time), Some(partition)) if time.value().is_some() => {
                stage.ended.insert(partition);
            }
            (MetricValue::Count { name, count }, _) if name == "bytes_scanned" => stage.input_bytes += count.value(),
            _ => {}
        }
    }
}

fn to_i64(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
