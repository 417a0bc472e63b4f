//! What the scans of a plan read: the plan's text has their columns only.

use crate::kept::KeptTable;
use arrow::ipc::writer::StreamWriter;
use datafusion::catalog::TableProvider;
use datafusion::common::Result as DfResult;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::{MemTable, source_as_provider};
use datafusion::logical_expr::LogicalPlan;
use firesteel_analyzer::range::RangeTable;
use firesteel_analyzer::resolved::engine_error;
use firesteel_error::Result;
use firesteel_sources::table::FilesTable;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};
use std::sync::Arc;

/// A number for each scan, in order, those of subqueries included: the same for the same rows at hand, the same
/// files read the same way, the same kept relation.
pub(crate) fn sources(plan: &LogicalPlan) -> Result<Vec<u64>> {
    let mut all = Vec::new();
    let visited = plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            all.push(source(&source_as_provider(&scan.source)?)?);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    visited.map_err(engine_error)?;
    Ok(all)
}

/// The URIs of all files that a plan reads, each once, sorted.
pub(crate) fn files(plan: &LogicalPlan) -> Result<Vec<String>> {
    let mut all = Vec::new();
    let visited = plan.apply(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            let provider = source_as_provider(&scan.source)?;
            let any: &dyn std::any::Any = provider.as_ref();
            if let Some(table) = any.downcast_ref::<FilesTable>() {
                all.extend(table.uris());
            }
        }
        Ok(TreeNodeRecursion::Continue)
    });
    visited.map_err(engine_error)?;
    all.sort();
    all.dedup();
    Ok(all)
}

fn source(provider: &Arc<dyn TableProvider>) -> DfResult<u64> {
    let any: &dyn std::any::Any = provider.as_ref();
    let mut hash = Hash(DefaultHasher::new());
    if let Some(table) = any.downcast_ref::<MemTable>() {
        for partition in &table.batches {
            let Ok(batches) = partition.try_read() else { continue };
            for batch in batches.iter() {
                let mut writer = StreamWriter::try_new(&mut hash, &batch.schema())?;
                writer.write(batch)?;
                writer.finish()?;
            }
        }
    } else if let Some(table) = any.downcast_ref::<KeptTable>() {
        hash.0.write_usize(table.identity());
    } else if let Some(table) = any.downcast_ref::<FilesTable>() {
        hash.0.write(table.identity().as_bytes());
    } else if let Some(table) = any.downcast_ref::<RangeTable>() {
        hash.0.write(format!("{table:?}").as_bytes());
    } else if crate::python::source::is_source(any) || crate::jdbc::is_source(any) {
        // Nobody knows what it reads next time.
        hash.0.write_usize(Arc::as_ptr(provider).cast::<()>().addr());
    }
    Ok(hash.0.finish())
}

/// A hash of what is written.
struct Hash(DefaultHasher);

impl Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
