//! Relations: one module a kind.

mod aggregate;
mod arrow_stream;
mod clause;
mod collated;
mod frequent;
mod generate;
mod grouping;
mod hint;
mod join;
mod join_with;
mod leaf;
mod na;
mod nearest;
mod pipe;
mod pivot;
mod python;
mod python_table;
mod select;
mod set_operation;
mod statistic;
mod table;
mod table_argument;
mod time_window;
mod transpose;
mod unary;
mod unpivot;
mod with;

pub(crate) use aggregate::grouping_marker;
pub use join::may_not_be_cartesian;
pub(crate) use leaf::one_row_plan;
pub(crate) use leaf::persisted;

use crate::analyzer::Analyzer;
use crate::resolved::Resolved;
use crate::streaming::{self, StreamingKind};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Relation, RelationKind as K, SetOperator, TableName};
use firesteel_sql::ParserOptions;
use std::borrow::Cow;

/// Analyses one relation.
pub(crate) fn analyse(a: &mut Analyzer<'_>, relation: &Relation) -> Result<Resolved> {
    match relation.kind() {
        K::OneRow => leaf::one_row(),
        K::Range { start, end, step, num_partitions } => leaf::range(*start, *end, *step, *num_partitions),
        K::Local(local) => leaf::local(a, local),
        K::Values { rows } => leaf::values(a, rows, &[]),
        K::CachedRemote { relation_id } => {
            let scan = a.env.kept(relation_id)?;
            leaf::scan(&scan, &[])
        }
        K::Table(table) => {
            // What is not found is the name, without what else the query says of it.
            let resolved = table::table(a, table).map_err(|error| match error.is("TABLE_OR_VIEW_NOT_FOUND") {
                true => error.or_context(|| table.name.origin().context()),
                false => error,
            })?;
            Ok(match &table.name {
                TableName::Parts(parts, _) => hint::named(a, resolved, parts.last().map_or("", String::as_str)),
                TableName::Identifier(_) => resolved,
            })
        }
        K::DataSource(source) => {
            let scan = a.env.data_source(source, relation.plan_id())?;
            leaf::files(a, &scan, &[])
        }
        K::TableFunction(call) => generate::table_function(a, call),
        K::Sql { text, named_arguments, position_arguments } => {
            table::sql(a, text, named_arguments, position_arguments)
        }
        K::Catalog(request) => {
            let rows = a.env.catalog(request, relation.plan_id())?;
            leaf::rows(&rows)
        }
        K::Statement(statement) => {
            let rows = a.env.statement(statement)?;
            leaf::rows(&rows)
        }
        K::Project { .. } | K::Aggregate(_) | K::Having { .. } | K::Qualify { .. } | K::WithWindows { .. } => {
            select::block(a, relation)
        }
        K::Sort { input, order, is_global } => select::sort(a, input, order, *is_global),
        K::Filter { input, condition } => unary::filter(a, input, condition),
        K::Limit { input, limit } => unary::limit(a, input, Some(limit), None),
        K::LimitAll { input } => {
            let around = a.row_limit.replace(-1);
            let resolved = a.relation(input);
            a.row_limit = around;
            resolved
        }
        K::Offset { input, offset } => unary::limit(a, input, None, Some(offset)),
        K::Tail { input, limit } => unary::tail(a, input, *limit),
        K::Deduplicate { input, columns, within_watermark } => {
            unary::deduplicate(a, input, columns.as_deref(), *within_watermark)
        }
        K::SubqueryAlias { input, alias, qualifier, columns } => {
            unary::subquery_alias(a, input, alias, qualifier, columns)
        }
        K::Repartition { input, num_partitions, shuffle } => unary::repartition(a, input, *num_partitions, *shuffle),
        K::RepartitionByExpression { input, expressions, num_partitions } => {
            unary::repartition_by(a, input, expressions, *num_partitions)
        }
        K::ToDataFrame { input, columns } => unary::to_data_frame(a, input, columns),
        K::Pipe { input, clause } => pipe::pipe(a, input, *clause),
        K::WithColumns { input, aliases } => select::with_columns(a, input, aliases),
        K::WithColumnsRenamed { input, renames } => unary::with_columns_renamed(a, input, renames),
        K::Drop { input, columns, column_names } => unary::drop(a, input, columns, column_names),
        K::Sample { input, lower, upper, with_replacement, seed, deterministic_order } => {
            unary::sample(a, input, lower.get(), upper.get(), *with_replacement, *seed, *deterministic_order)
        }
        K::Hint { input, name, parameters } => hint::hint(a, input, name, parameters),
        K::Unpivot(unpivot) => unpivot::unpivot(a, unpivot),
        K::ToSchema { input, schema } => unary::to_schema(a, input, schema),
        K::Pivot(pivot) => pivot::sql_pivot(a, pivot),
        K::LateralView(view) => generate::lateral_view(a, view),
        K::CollectMetrics { input, name, metrics } => {
            unary::collect_metrics(a, input, name, metrics, relation.plan_id())
        }
        K::Parse { input, format, schema, options } => unary::parse(a, input, format, schema.as_ref(), options),
        K::WithWatermark { input, event_time, delay } => unary::with_watermark(a, input, event_time, delay),
        K::ShowString { .. } | K::HtmlString { .. } => {
            Err(SparkError::unsupported("show() of a frame as the input of another operation"))
        }
        K::Transpose { input, index_columns } => transpose::transpose(a, input, index_columns),
        K::FillNa { input, columns, values } => na::fill(a, input, columns, values),
        K::DropNa { input, columns, min_non_nulls } => na::drop(a, input, columns, *min_non_nulls),
        K::Replace { input, columns, replacements } => na::replace(a, input, columns, replacements),
        K::Statistic { input, statistic } => statistic::statistic(a, input, statistic),
        K::Join(join) => join::join(a, join),
        K::JoinWith(join) => join_with::join_with(a, join),
        K::AsOfJoin(join) => nearest::as_of(a, join),
        K::NearestByJoin(join) => nearest::nearest_by(a, join),
        K::SetOperation(operation) => {
            let resolved = set_operation::set_operation(a, operation)?;
            let kind = match operation.operator {
                SetOperator::Intersect => {
                    StreamingKind::Refused("Intersect of streaming DataFrames/Datasets is not supported".into())
                }
                SetOperator::Except => StreamingKind::Missing("except of streaming DataFrames".into()),
                SetOperator::Union => return Ok(resolved),
            };
            Ok(marked(resolved, kind))
        }
        K::With { input, ctes, is_recursive } => with::with(a, input, ctes, *is_recursive),
        K::WithRelations { input, references } => with::with_relations(a, input, references),
        K::MapPartitions { input, function, is_barrier } => python::map(a, input, function, *is_barrier),
        K::GroupMap { input, grouping, function, .. } => python::group_map(a, input, grouping, function),
        K::CoGroupMap { left, left_grouping, right, right_grouping, function } => {
            python::cogroup_map(a, (left, left_grouping), (right, right_grouping), function)
        }
        K::PythonTableFunction { function, .. } => python_table::table(a, function, None),
        K::Unsupported(what) => Err(SparkError::unsupported(what)),
    }
}

/// The relation under a streaming operator, where it is a stream.
pub(crate) fn marked(resolved: Resolved, kind: StreamingKind) -> Resolved {
    if !streaming::is_streaming(&resolved.plan) {
        return resolved;
    }
    let plan = streaming::operator(resolved.plan.clone(), kind);
    resolved.with_plan(plan)
}

/// How SQL text is read in this session.
pub(crate) fn parser_options(a: &Analyzer<'_>) -> ParserOptions {
    ParserOptions::from(a.env.conf())
}

/// SQL text with the settings that it names.
pub(crate) fn substituted<'t>(a: &Analyzer<'_>, text: &'t str) -> Result<Cow<'t, str>> {
    if !a.env.conf().variable_substitute || !text.contains("${") {
        return Ok(Cow::Borrowed(text));
    }
    firesteel_sql::substitute(text, &|key| a.env.setting(key)).map(Cow::Owned)
}
