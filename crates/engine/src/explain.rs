//! Physical plans as text, under the names that users of Spark look for.

use datafusion::common::stats::Precision;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan};
use std::fmt;

/// The operators, one a line, children below their parents.
pub(crate) fn physical(plan: &dyn ExecutionPlan) -> String {
    let mut out = String::new();
    write(plan, "", "", &mut out);
    out
}

/// The operators with numbers, then what each of them does.
pub(crate) fn formatted(plan: &dyn ExecutionPlan) -> String {
    let mut details = Vec::new();
    let (tree, _) = numbered(plan, &mut details);
    let mut out = String::new();
    for (i, line) in tree.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        out.push_str(line);
    }
    out.push_str("\n\n\n");
    for (i, detail) in details.iter().enumerate() {
        out.push_str(&format!("({}) {detail}\n\n", i + 1));
    }
    out
}

/// The lines of a tree of operators, numbered from the leaves on, and the columns that come out of it.
fn numbered(plan: &dyn ExecutionPlan, details: &mut Vec<String>) -> (Vec<String>, String) {
    let children = plan.children();
    if is_silent(plan)
        && let [child] = children.as_slice()
    {
        return numbered(child.as_ref(), details);
    }
    let below: Vec<(Vec<String>, String)> = children.iter().map(|c| numbered(c.as_ref(), details)).collect();
    let text = line(plan);
    let (name, arguments) = text.split_once(' ').unwrap_or((text.as_str(), ""));
    let names: Vec<String> = plan.schema().fields().iter().map(|f| f.name().clone()).collect();
    let output = format!("[{}]: [{}]", names.len(), names.join(", "));
    let mut detail = name.to_string();
    match below.as_slice() {
        [] => detail.push_str(&format!("\nOutput {output}")),
        [(_, input)] => detail.push_str(&format!("\nInput {input}")),
        [(_, left), (_, right)] => detail.push_str(&format!("\nLeft output {left}\nRight output {right}")),
        _ => {}
    }
    if !arguments.is_empty() {
        detail.push_str(&format!("\nArguments: {arguments}"));
    }
    details.push(detail);
    let mut lines = vec![format!("{name} ({})", details.len())];
    let last = below.len().saturating_sub(1);
    for (i, (tree, _)) in below.iter().enumerate() {
        let (branch, rest) = if i == last { ("+- ", "   ") } else { (":- ", ":  ") };
        lines.extend(tree.iter().enumerate().map(|(j, l)| format!("{}{l}", if j == 0 { branch } else { rest })));
    }
    (lines, output)
}

fn write(plan: &dyn ExecutionPlan, first: &str, rest: &str, out: &mut String) {
    if is_silent(plan)
        && let [child] = plan.children().as_slice()
    {
        return write(child.as_ref(), first, rest, out);
    }
    let (mut first, mut rest) = (first.to_string(), rest.to_string());
    if is_projected(plan) {
        let columns: Vec<String> = plan.schema().fields().iter().map(|f| f.name().clone()).collect();
        out.push_str(&format!("{first}Project [{}]\n", columns.join(", ")));
        first = format!("{rest}+- ");
        rest.push_str("   ");
    }
    out.push_str(&first);
    out.push_str(&line(plan));
    out.push('\n');
    let children = plan.children();
    for (i, child) in children.iter().enumerate() {
        let (branch, below) = if i + 1 == children.len() { ("+- ", "   ") } else { (":- ", ":  ") };
        write(child.as_ref(), &format!("{rest}{branch}"), &format!("{rest}{below}"), out);
    }
}

/// True for a join that gives only some of its columns.
fn is_projected(plan: &dyn ExecutionPlan) -> bool {
    let any: &dyn std::any::Any = plan;
    any.downcast_ref::<HashJoinExec>().is_some_and(HashJoinExec::contains_projection)
}

/// Operators that tell a user nothing: those that yield, and those that only rename columns.
fn is_silent(plan: &dyn ExecutionPlan) -> bool {
    let any: &dyn std::any::Any = plan;
    if ["CooperativeExec", "SortedExec", "FirstExec", crate::recursion::NAME, crate::fair::NAME].contains(&plan.name())
    {
        return true;
    }
    any.downcast_ref::<ProjectionExec>().is_some_and(|projection| {
        projection.expr().len() == projection.input().schema().fields().len()
            && projection.expr().iter().enumerate().all(|(i, e)| {
                let any: &dyn std::any::Any = e.expr.as_ref();
                any.downcast_ref::<datafusion::physical_expr::expressions::Column>().is_some_and(|c| c.index() == i)
            })
    })
}

fn line(plan: &dyn ExecutionPlan) -> String {
    struct Line<'a>(&'a dyn ExecutionPlan);
    impl fmt::Display for Line<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt_as(DisplayFormatType::Default, f)
        }
    }
    let text = Line(plan).to_string();
    let (name, details) = text.split_once(':').unwrap_or((text.as_str(), ""));
    let details = match details.split_once(", projection=[") {
        Some((before, _)) if is_projected(plan) => before.trim(),
        _ => details.trim(),
    };
    if let Some(kept) = details.strip_prefix("Scan ") {
        let name = if kept.starts_with("InMemoryRelation") { "InMemoryTableScan" } else { "Scan" };
        return format!("{name} {kept}");
    }
    let name = match name.trim() {
        "HashJoinExec" if details.starts_with("mode=CollectLeft") => "BroadcastHashJoin",
        "HashJoinExec" => "ShuffledHashJoin",
        "SortMergeJoinExec" | "SortMergeJoin" => "SortMergeJoin",
        // Both hold all of one side for every partition of the other.
        "NestedLoopJoinExec" | "CrossJoinExec" => "BroadcastNestedLoopJoin",
        "AggregateExec" => "HashAggregate",
        "FilterExec" | "AdaptiveFilterExec" => "Filter",
        "ProjectionExec" => "Project",
        "SortExec" | "LocalSortExec" => "Sort",
        "SortPreservingMergeExec" => "Exchange SinglePartition, sorted",
        "RepartitionExec" | "ExchangeExec" => "Exchange",
        "OrderedExec" | "CoalescePartitionsExec" => "Exchange SinglePartition",
        "CoalesceExec" => "Coalesce",
        "UnionExec" => "Union",
        "GlobalLimitExec" => "GlobalLimit",
        "LocalLimitExec" => "LocalLimit",
        "WindowAggExec" | "BoundedWindowAggExec" => "Window",
        "UnnestExec" => "Generate",
        "EmptyExec" | "PlaceholderRowExec" => "LocalTableScan",
        "DataSourceExec" if details.contains("file_type=") => "FileScan",
        "DataSourceExec" => "LocalTableScan",
        "LazyMemoryExec" => "Range",
        other => other.strip_suffix("Exec").unwrap_or(other),
    };
    if details.is_empty() { name.to_string() } else { format!("{name} {details}") }
}

/// What is known of the size of a plan's result.
pub(crate) fn statistics(plan: &dyn ExecutionPlan) -> String {
    let known = StatisticsContext::new().compute(plan, &StatisticsArgs::new()).ok();
    let text = |value: Option<Precision<usize>>, unit: &str| match value {
        Some(Precision::Exact(n) | Precision::Inexact(n)) => format!("{n}{unit}"),
        _ => "unknown".to_string(),
    };
    format!(
        "Statistics(sizeInBytes={}, rowCount={})",
        text(known.as_ref().map(|s| s.total_byte_size), " B"),
        text(known.as_ref().map(|s| s.num_rows), ""),
    )
}
