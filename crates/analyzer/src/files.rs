//! Which file a relation's rows are read from.

use crate::attribute::{Attribute, AttributeId};
use crate::exchange::{Exchange, Scheme};
use crate::observe::Observe;
use crate::resolved::Resolved;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::LogicalPlan;
use firesteel_types::arrow_mapping::from_arrow;

/// The hidden column that tells of a row's file.
pub(crate) const METADATA_COLUMN: &str = "_metadata";

/// What is known of the file of a relation's rows.
#[derive(Debug, Clone, Default)]
pub enum Files {
    /// The rows are not read here: they come from no file, or through an exchange.
    #[default]
    Unknown,
    /// A column of a scan below; only projections and filters are between.
    Column(Attribute),
    /// A join of rows of one file and others.
    Joined,
    /// A join of rows of several files.
    Several,
}

impl Files {
    /// What is known of the rows of a plan.
    pub(crate) fn of(plan: &LogicalPlan) -> Self {
        let mut plan = plan;
        loop {
            plan = match plan {
                LogicalPlan::Projection(projection) => {
                    if matches!(projection.input.as_ref(), LogicalPlan::TableScan(_)) {
                        return column(plan).map_or(Self::Unknown, Self::Column);
                    }
                    &projection.input
                }
                LogicalPlan::Filter(filter) => &filter.input,
                LogicalPlan::SubqueryAlias(alias) => &alias.input,
                LogicalPlan::Extension(extension) => {
                    let node = extension.node.as_any();
                    match (node.downcast_ref::<Exchange>(), node.downcast_ref::<Observe>()) {
                        (Some(exchange), _) if matches!(exchange.scheme, Scheme::Stay | Scheme::Spread) => {
                            &exchange.input
                        }
                        (_, Some(observe)) => &observe.input,
                        _ => return Self::Unknown,
                    }
                }
                LogicalPlan::Join(_) => {
                    return match scans(plan) {
                        0 => Self::Unknown,
                        1 => Self::Joined,
                        _ => Self::Several,
                    };
                }
                _ => return Self::Unknown,
            };
        }
    }

    /// What is known of the rows of a relation with these inputs.
    pub(crate) fn of_inputs(inputs: &[&Resolved]) -> Self {
        match inputs {
            [input] => Self::of(&input.plan),
            _ => match inputs.iter().map(|input| scans(&input.plan)).sum::<usize>() {
                0 => Self::Unknown,
                1 => Self::Joined,
                _ => Self::Several,
            },
        }
    }
}

/// The column of file facts among those of a scan.
fn column(plan: &LogicalPlan) -> Option<Attribute> {
    plan.schema().fields().iter().find_map(|field| {
        let id = field.name().strip_prefix(METADATA_COLUMN)?.strip_prefix('#')?.parse().ok()?;
        let data_type = from_arrow(field.data_type(), field.metadata()).ok()?;
        let mut attribute = Attribute::new(METADATA_COLUMN, data_type, false);
        attribute.id = AttributeId(id);
        is_files(plan.inputs().first()?).then_some(attribute)
    })
}

/// How many scans of files a plan has; two stand for more.
fn scans(plan: &LogicalPlan) -> usize {
    let mut count = 0;
    let visited = plan.apply(|node| {
        count += usize::from(is_files(node));
        Ok(if count > 1 { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    visited.map_or(0, |_| count)
}

fn is_files(plan: &LogicalPlan) -> bool {
    let LogicalPlan::TableScan(scan) = plan else { return false };
    let Ok(provider) = source_as_provider(&scan.source) else { return false };
    provider.schema().field_with_name(METADATA_COLUMN).is_ok_and(|f| {
        matches!(f.data_type(), arrow::datatypes::DataType::Struct(fields) if fields.iter().any(|f| f.name() == "file_path"))
    })
}
