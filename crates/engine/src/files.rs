//! Plans that read what they are to replace.

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::LogicalPlan;
use firesteel_catalog::CatalogTable;
use firesteel_error::{Result, SparkError};
use firesteel_sources::path;
use firesteel_sources::table::FilesTable;
use std::path::Path;

/// Fails where a plan reads a path that its rows are to replace.
pub(crate) fn check_not_read(plan: &LogicalPlan, target: &Path) -> Result<()> {
    if reads(plan, |root| root == target)? {
        return Err(SparkError::new("UNSUPPORTED_OVERWRITE.PATH").with("path", path::short_uri(target)));
    }
    Ok(())
}

/// Fails where a plan reads a table whose rows it is to replace.
pub(crate) fn check_table_not_read(plan: &LogicalPlan, table: &CatalogTable) -> Result<()> {
    let Some(location) = &table.location else { return Ok(()) };
    let folder = path::place(location)?;
    // Partitions may be read one by one.
    if reads(plan, |root| root.starts_with(&folder))? {
        return Err(SparkError::new("UNSUPPORTED_OVERWRITE.TABLE").with("table", table.name.quoted()));
    }
    Ok(())
}

/// Lists the files of all tables of files that a plan reads again.
pub(crate) fn refresh(plan: &LogicalPlan) -> Result<()> {
    let mut refreshed = Ok(());
    each_table(plan, &mut |table| {
        if refreshed.is_ok() {
            refreshed = table.refresh();
        }
    })?;
    refreshed
}

/// Lists the files at a path again, where a plan reads them.
pub(crate) fn refresh_path(plan: &LogicalPlan, path: &Path) -> Result<()> {
    let mut refreshed = Ok(());
    each_table(plan, &mut |table| {
        if refreshed.is_ok() && table.roots().iter().any(|root| root == path) {
            refreshed = table.refresh();
        }
    })?;
    refreshed
}

fn reads(plan: &LogicalPlan, is_target: impl Fn(&Path) -> bool) -> Result<bool> {
    let mut is_read = false;
    each_table(plan, &mut |table| is_read |= table.roots().iter().any(|root| is_target(root)))?;
    Ok(is_read)
}

fn each_table(plan: &LogicalPlan, look: &mut dyn FnMut(&FilesTable)) -> Result<()> {
    let visited = plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && let Ok(provider) = source_as_provider(&scan.source)
        {
            let any: &dyn std::any::Any = provider.as_ref();
            if let Some(table) = any.downcast_ref::<FilesTable>() {
                look(table);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    });
    visited.map(|_| ()).map_err(firesteel_analyzer::resolved::engine_error)
}
