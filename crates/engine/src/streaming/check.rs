//! Which plans can run as streams, and in which output modes.

use arrow::datatypes::DataType;
use datafusion::common::JoinType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Aggregate, Expr, FetchType, LogicalPlan, SkipType};
use firesteel_analyzer::resolved::engine_error;
use firesteel_analyzer::streaming::{StreamingKind, is_streaming, operator_of, refused};
use firesteel_error::{Result, SparkError};

/// What of its result a query writes after each batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputMode {
    /// Rows that will not change.
    Append,
    /// Rows that are new or have changed.
    Update,
    /// All rows.
    Complete,
}

impl OutputMode {
    /// The mode of a name; append where there is none.
    pub fn parse(name: Option<&str>) -> Result<Self> {
        let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok(Self::Append) };
        match name.to_ascii_lowercase().as_str() {
            "append" => Ok(Self::Append),
            "update" => Ok(Self::Update),
            "complete" => Ok(Self::Complete),
            _ => Err(SparkError::new("STREAMING_OUTPUT_MODE.INVALID").with("outputMode", name)),
        }
    }

    /// The name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Update => "update",
            Self::Complete => "complete",
        }
    }
}

const CORRECTNESS: &str = "Detected pattern of possible 'correctness' issue due to global watermark. The query contains \
    stateful operation which can emit rows older than the current watermark plus allowed late record delay, which are \
    \"late rows\" in downstream stateful operations and these rows can be discarded. Please refer the programming guide \
    doc for more details. If you understand the possible risk of correctness issue and still need to run the query, \
    you can disable this check by setting the config `spark.sql.streaming.statefulOperator.checkCorrectness.enabled` \
    to false.";

/// Fails where a plan cannot run as a stream.
pub(super) fn check(plan: &LogicalPlan, mode: OutputMode) -> Result<()> {
    let mut aggregates = 0usize;
    let mut watermarks = 0usize;
    let mut error = None;
    let visited = plan.apply(|node| {
        if !is_streaming(node) {
            return Ok(TreeNodeRecursion::Jump);
        }
        aggregates += usize::from(matches!(node, LogicalPlan::Aggregate(_)));
        watermarks += usize::from(matches!(
            operator_of(node).map(|operator| &operator.kind),
            Some(StreamingKind::Watermark { .. })
        ));
        error = check_node(node, mode).and_then(|()| check_expressions(node)).err();
        Ok(if error.is_some() { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    visited.map_err(engine_error)?;
    let unsupported = |operation: &str| {
        SparkError::new("STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION")
            .with("outputMode", mode.name())
            .with("operation", operation)
    };
    match (mode, aggregates) {
        (OutputMode::Complete, 0) => return Err(unsupported("no streaming aggregations")),
        (OutputMode::Append, 1..) if watermarks == 0 => {
            return Err(unsupported("streaming aggregations without watermark"));
        }
        (OutputMode::Complete | OutputMode::Update, 2..) => return Err(refused(CORRECTNESS)),
        (OutputMode::Append, 2..) => return Err(SparkError::unsupported("several aggregations over a stream")),
        _ => {}
    }
    if watermarks > 1 {
        return Err(SparkError::unsupported("several watermarks in one streaming query"));
    }
    error.map_or(Ok(()), Err)
}

fn has_aggregate(plan: &LogicalPlan) -> bool {
    plan.exists(|node| Ok(matches!(node, LogicalPlan::Aggregate(_)) && is_streaming(node))).unwrap_or(false)
}

fn check_node(node: &LogicalPlan, mode: OutputMode) -> Result<()> {
    match node {
        LogicalPlan::Sort(sort) if mode != OutputMode::Complete || !has_aggregate(&sort.input) => Err(refused(
            "Sorting is not supported on streaming DataFrames/Datasets, unless it is on aggregated DataFrame/Dataset \
             in Complete output mode",
        )),
        LogicalPlan::Limit(limit) => {
            if !matches!(limit.get_skip_type().map_err(engine_error)?, SkipType::Literal(0)) {
                return Err(refused("Offset is not supported on streaming DataFrames/Datasets"));
            }
            if matches!(limit.get_fetch_type().map_err(engine_error)?, FetchType::Literal(None)) {
                return Ok(());
            }
            match mode {
                OutputMode::Update => {
                    Err(refused("Limits are not supported on streaming DataFrames/Datasets in Update output mode"))
                }
                OutputMode::Append => Err(SparkError::unsupported("limit of a stream in the output mode append")),
                OutputMode::Complete => Ok(()),
            }
        }
        LogicalPlan::Aggregate(aggregate) => {
            if aggregate.group_expr.iter().any(|key| matches!(key, Expr::GroupingSet(_))) {
                return Err(SparkError::unsupported("grouping sets over a stream"));
            }
            let is_distinct = |expr: &Expr| {
                let found =
                    expr.exists(|part| Ok(matches!(part, Expr::AggregateFunction(call) if call.params.distinct)));
                found.unwrap_or(false)
            };
            if aggregate.aggr_expr.iter().any(is_distinct) {
                return Err(refused(
                    "Distinct aggregations are not supported on streaming DataFrames/Datasets. Consider using \
                     approx_count_distinct() instead.",
                ));
            }
            Ok(())
        }
        LogicalPlan::Distinct(_) => Err(SparkError::unsupported("SELECT DISTINCT over a stream")),
        LogicalPlan::Union(union) if union.inputs.iter().any(|input| !is_streaming(input)) => {
            Err(refused("Union between streaming and batch DataFrames/Datasets is not supported"))
        }
        LogicalPlan::Join(join) => check_join(join.join_type, is_streaming(&join.left), is_streaming(&join.right)),
        LogicalPlan::Window(window) => {
            let name = window.window_expr.first().map(ToString::to_string).unwrap_or_default();
            let function = name.split(" OVER").next().unwrap_or_default();
            Err(SparkError::new("NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING")
                .with("windowFunc", function.to_uppercase())
                .with("columnName", format!("`{name}`"))
                .with("windowSpec", name.split_once("OVER ").map_or("", |(_, window)| window)))
        }
        LogicalPlan::RecursiveQuery(_) => Err(SparkError::unsupported("recursive queries over a stream")),
        _ => match operator_of(node).map(|operator| &operator.kind) {
            Some(StreamingKind::Refused(message)) => Err(refused(message.clone())),
            Some(StreamingKind::Missing(what)) => Err(SparkError::unsupported(what.clone())),
            Some(StreamingKind::Deduplicate { within_watermark: true, time: None, .. }) => Err(refused(
                "dropDuplicatesWithinWatermark is not supported on streaming DataFrames/DataSets without watermark",
            )),
            _ => Ok(()),
        },
    }
}

/// Joins of a stream with rows at hand keep no state: the stream must be the side whose rows all come.
fn check_join(join: JoinType, left: bool, right: bool) -> Result<()> {
    if left && right {
        return Err(SparkError::unsupported("joins of two streams"));
    }
    let message = match (join, left) {
        (JoinType::Right, true) => {
            "RightOuter join with a streaming DataFrame/Dataset on the left and a static DataFrame/DataSet on the \
             right not supported"
        }
        (JoinType::Full, true) => {
            "FullOuter joins with streaming DataFrames/Datasets on the left and a static DataFrame/Dataset on the \
             right is not supported"
        }
        (JoinType::Full, false) => {
            "FullOuter joins with streaming DataFrames/Datasets on the right and a static DataFrame/Dataset on the \
             left is not supported"
        }
        (JoinType::Left, false) => {
            "LeftOuter join with a streaming DataFrame/Dataset on the right and a static DataFrame/Dataset on the \
             left is not supported"
        }
        (JoinType::LeftSemi | JoinType::LeftMark, false) => {
            "LeftSemi join with a streaming DataFrame/Dataset on the right and a static DataFrame/Dataset on the left \
             is not supported"
        }
        (JoinType::LeftAnti, false) => {
            "LeftAnti joins with a streaming DataFrame/Dataset on the right are not supported"
        }
        (JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark, true) => {
            return Err(SparkError::unsupported("this kind of join of a stream"));
        }
        _ => return Ok(()),
    };
    Err(refused(message))
}

fn check_expressions(node: &LogicalPlan) -> Result<()> {
    let counts = node.expressions().iter().any(|expr| {
        let found = expr.exists(|part| {
            Ok(matches!(part, Expr::ScalarFunction(call) if call.func.name() == "monotonically_increasing_id"))
        });
        found.unwrap_or(false)
    });
    match counts {
        true => Err(refused(
            "Expression(s): monotonically_increasing_id() is not supported with streaming DataFrames/Datasets",
        )),
        false => Ok(()),
    }
}

/// The column of a plan that holds times of events, and how late they may be, in milliseconds.
pub(super) fn watermark(plan: &LogicalPlan) -> Option<(String, i64)> {
    let mut found = None;
    let visited = plan.apply(|node| {
        if let Some(StreamingKind::Watermark { column, delay_millis }) = operator_of(node).map(|o| &o.kind) {
            found = Some((column.clone(), *delay_millis));
        }
        Ok(TreeNodeRecursion::Continue)
    });
    visited.ok().and(found)
}

/// The position of a key that tells when its group is finished: a time with a watermark, or a window of such times.
pub(super) fn event_key(aggregate: &Aggregate) -> Option<usize> {
    aggregate.group_expr.iter().enumerate().position(|(i, key)| {
        let is_timed = match aggregate.schema.field(i).data_type() {
            DataType::Struct(fields) => {
                let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
                names == ["start", "end"] && fields.iter().all(|field| is_time(field.data_type()))
            }
            other => is_time(other),
        };
        is_timed && key.column_refs().iter().any(|column| has_watermark(&aggregate.input, &column.name))
    })
}

/// True where a column of a plan is made of the one with a watermark.
fn has_watermark(plan: &LogicalPlan, name: &str) -> bool {
    if let Some(StreamingKind::Watermark { column, .. }) = operator_of(plan).map(|operator| &operator.kind)
        && column == name
    {
        return true;
    }
    let has_name = |plan: &LogicalPlan| plan.schema().fields().iter().any(|field| field.name() == name);
    if let LogicalPlan::Projection(projection) = plan {
        let made = projection.expr.iter().zip(projection.schema.fields());
        let made = made.filter(|(_, field)| field.name() == name).flat_map(|(expr, _)| expr.column_refs());
        return made.into_iter().any(|column| has_watermark(&projection.input, &column.name));
    }
    let inputs = plan.inputs();
    if inputs.iter().any(|input| has_name(input)) {
        return inputs.iter().any(|input| has_name(input) && has_watermark(input, name));
    }
    // What an operator makes itself, it may make of any column.
    inputs.iter().any(|input| {
        let columns = input.schema().columns();
        columns.iter().any(|column| has_watermark(input, &column.name))
    })
}

/// True for the types that hold moments.
pub(super) fn is_time(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Timestamp(_, _))
}
