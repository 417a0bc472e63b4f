//! Frames from a frame: rows chosen, ordered, joined by sets; columns chosen and made.

use super::{DataFrame, expressions, names};
use crate::column::{Column, IntoColumn, IntoColumns, IntoLiteral};
use crate::functions::{self, col, expr, internal};
use crate::group::{GroupKind, GroupedData};
use crate::observation::Observation;
use crate::plan::References;
use firesteel_proto::connect as proto;
use proto::relation::RelType;
use proto::set_operation::SetOpType;

/// A condition: a column, or SQL text.
pub trait IntoCondition {
    #[doc(hidden)]
    fn into_condition(self) -> Column;
}

impl IntoCondition for Column {
    fn into_condition(self) -> Column {
        self
    }
}

impl IntoCondition for &str {
    fn into_condition(self) -> Column {
        expr(self)
    }
}

impl IntoCondition for String {
    fn into_condition(self) -> Column {
        expr(self)
    }
}

impl DataFrame {
    /// The columns given.
    pub fn select(&self, columns: impl IntoColumns) -> DataFrame {
        let (expressions, references) = expressions(columns);
        self.derive_with(&[], references, move |inputs| {
            RelType::Project(Box::new(proto::Project { input: inputs.take(), expressions: expressions.clone() }))
        })
    }

    /// The columns that SQL expressions give.
    pub fn select_expr(&self, texts: impl IntoIterator<Item = impl Into<String>>) -> DataFrame {
        self.select(texts.into_iter().map(|text| expr(text)).collect::<Vec<_>>())
    }

    /// The rows for which a condition, a column or SQL text, is true.
    pub fn filter(&self, condition: impl IntoCondition) -> DataFrame {
        let Column { expression, references } = condition.into_condition();
        self.derive_with(&[], references, move |inputs| {
            RelType::Filter(Box::new(proto::Filter { input: inputs.take(), condition: Some(expression.clone()) }))
        })
    }

    /// As [`filter`](Self::filter).
    pub fn where_(&self, condition: impl IntoCondition) -> DataFrame {
        self.filter(condition)
    }

    /// The first rows.
    pub fn limit(&self, rows: i32) -> DataFrame {
        self.derive(move |inputs| RelType::Limit(Box::new(proto::Limit { input: inputs.take(), limit: rows })))
    }

    /// All but the first rows.
    pub fn offset(&self, rows: i32) -> DataFrame {
        self.derive(move |inputs| RelType::Offset(Box::new(proto::Offset { input: inputs.take(), offset: rows })))
    }

    /// The last rows, as a frame.
    pub fn last_rows(&self, rows: i32) -> DataFrame {
        self.derive(move |inputs| RelType::Tail(Box::new(proto::Tail { input: inputs.take(), limit: rows })))
    }

    /// The rows in the order of columns.
    pub fn sort(&self, columns: impl IntoColumns) -> DataFrame {
        self.sorted(columns, true)
    }

    /// As [`sort`](Self::sort).
    pub fn order_by(&self, columns: impl IntoColumns) -> DataFrame {
        self.sort(columns)
    }

    /// The rows of each partition in the order of columns.
    pub fn sort_within_partitions(&self, columns: impl IntoColumns) -> DataFrame {
        self.sorted(columns, false)
    }

    fn sorted(&self, columns: impl IntoColumns, is_global: bool) -> DataFrame {
        let mut references = References::default();
        let order: Vec<_> = columns
            .into_columns()
            .into_iter()
            .map(|mut column| {
                references.extend(std::mem::take(&mut column.references));
                column.into_sort_order()
            })
            .collect();
        self.derive_with(&[], references, move |inputs| {
            let (input, order, is_global) = (inputs.take(), order.clone(), Some(is_global));
            RelType::Sort(Box::new(proto::Sort { input, order, is_global }))
        })
    }

    /// Each row once.
    pub fn distinct(&self) -> DataFrame {
        self.deduplicated(Vec::new(), true, false)
    }

    /// One row for each combination of values of some columns; of all, if none are named.
    pub fn drop_duplicates(&self, columns: impl IntoIterator<Item = impl Into<String>>) -> DataFrame {
        let columns = names(columns);
        let all = columns.is_empty();
        self.deduplicated(columns, all, false)
    }

    /// As [`drop_duplicates`](Self::drop_duplicates), for streams: among rows within the watermark.
    pub fn drop_duplicates_within_watermark(&self, columns: impl IntoIterator<Item = impl Into<String>>) -> DataFrame {
        let columns = names(columns);
        let all = columns.is_empty();
        self.deduplicated(columns, all, true)
    }

    fn deduplicated(&self, column_names: Vec<String>, all: bool, within_watermark: bool) -> DataFrame {
        self.derive(move |inputs| {
            RelType::Deduplicate(Box::new(proto::Deduplicate {
                input: inputs.take(),
                column_names: column_names.clone(),
                all_columns_as_keys: Some(all),
                within_watermark: Some(within_watermark),
            }))
        })
    }

    fn set_operation(&self, other: &DataFrame, kind: SetOpType, is_all: bool) -> DataFrame {
        self.set_operation_by(other, kind, is_all, false, false)
    }

    fn set_operation_by(
        &self,
        other: &DataFrame,
        kind: SetOpType,
        is_all: bool,
        by_name: bool,
        allow_missing_columns: bool,
    ) -> DataFrame {
        self.derive_with(&[other], References::default(), move |inputs| {
            RelType::SetOp(Box::new(proto::SetOperation {
                left_input: inputs.take(),
                right_input: inputs.take(),
                set_op_type: kind.into(),
                is_all: Some(is_all),
                by_name: Some(by_name),
                allow_missing_columns: Some(allow_missing_columns),
            }))
        })
    }

    /// The rows of both, column by column in order.
    pub fn union(&self, other: &DataFrame) -> DataFrame {
        self.set_operation(other, SetOpType::Union, true)
    }

    /// As [`union`](Self::union).
    pub fn union_all(&self, other: &DataFrame) -> DataFrame {
        self.union(other)
    }

    /// The rows of both, column by column by name; missing columns are NULL, if they may be missing.
    pub fn union_by_name(&self, other: &DataFrame, allow_missing_columns: bool) -> DataFrame {
        self.set_operation_by(other, SetOpType::Union, true, true, allow_missing_columns)
    }

    /// Each row that both have, once.
    pub fn intersect(&self, other: &DataFrame) -> DataFrame {
        self.set_operation(other, SetOpType::Intersect, false)
    }

    /// The rows that both have, as often as both have them.
    pub fn intersect_all(&self, other: &DataFrame) -> DataFrame {
        self.set_operation(other, SetOpType::Intersect, true)
    }

    /// Each row that the other has not, once.
    pub fn subtract(&self, other: &DataFrame) -> DataFrame {
        self.set_operation(other, SetOpType::Except, false)
    }

    /// The rows that the other has not, as often as there are more of them here.
    pub fn except_all(&self, other: &DataFrame) -> DataFrame {
        self.set_operation(other, SetOpType::Except, true)
    }

    /// Groups of rows with equal values in some columns.
    ///
    /// ```
    /// # use firesteel_client::functions::{avg, col, count, lit};
    /// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
    /// let groups = spark.range(0, 10).group_by((col("id") % 3).alias("rest"));
    /// let counts = groups.agg((count(lit(1)).alias("n"), avg("id"))).order_by("rest");
    /// assert_eq!(counts.select("n").rows().await?.len(), 3);
    /// # Ok(()) }
    /// # firesteel_client::doc_test(run);
    /// ```
    pub fn group_by(&self, columns: impl IntoColumns) -> GroupedData {
        GroupedData::new(self, GroupKind::GroupBy, columns)
    }

    /// Groups by all columns, by all but the last, and so on to none.
    pub fn rollup(&self, columns: impl IntoColumns) -> GroupedData {
        GroupedData::new(self, GroupKind::Rollup, columns)
    }

    /// Groups by every subset of the columns.
    pub fn cube(&self, columns: impl IntoColumns) -> GroupedData {
        GroupedData::new(self, GroupKind::Cube, columns)
    }

    /// Groups by each of several sets of columns.
    pub fn grouping_sets(
        &self,
        sets: impl IntoIterator<Item = impl IntoColumns>,
        columns: impl IntoColumns,
    ) -> GroupedData {
        let sets = sets.into_iter().map(IntoColumns::into_columns).collect();
        GroupedData::new(self, GroupKind::GroupingSets(sets), columns)
    }

    /// Aggregates of all rows.
    pub fn agg(&self, aggregates: impl IntoColumns) -> DataFrame {
        self.group_by(()).agg(aggregates)
    }

    /// A hint to the planner, such as `broadcast`.
    pub fn hint(&self, name: impl Into<String>, parameters: impl IntoColumns) -> DataFrame {
        let name = name.into();
        let (parameters, references) = expressions(parameters);
        self.derive_with(&[], references, move |inputs| {
            let (input, name, parameters) = (inputs.take(), name.clone(), parameters.clone());
            RelType::Hint(Box::new(proto::Hint { input, name, parameters }))
        })
    }

    /// About a fraction of the rows, each at random.
    pub fn sample(&self, fraction: f64, seed: Option<i64>) -> DataFrame {
        self.sampled(0.0, fraction, false, seed, false)
    }

    /// As [`sample`](Self::sample), where a row may come several times.
    pub fn sample_with_replacement(&self, fraction: f64, seed: Option<i64>) -> DataFrame {
        self.sampled(0.0, fraction, true, seed, false)
    }

    fn sampled(
        &self,
        lower: f64,
        upper: f64,
        replace: bool,
        seed: Option<i64>,
        deterministic_order: bool,
    ) -> DataFrame {
        // Without a seed of its own a frame would give other rows each time.
        let seed = Some(seed.unwrap_or_else(random_seed));
        self.derive(move |inputs| {
            RelType::Sample(Box::new(proto::Sample {
                input: inputs.take(),
                lower_bound: lower,
                upper_bound: upper,
                with_replacement: Some(replace),
                seed,
                deterministic_order,
            }))
        })
    }

    /// Frames that share out the rows at random, by weights.
    pub fn random_split(&self, weights: &[f64], seed: Option<i64>) -> crate::Result<Vec<DataFrame>> {
        let total: f64 = weights.iter().sum();
        if weights.iter().any(|weight| weight.is_nan() || *weight < 0.0) || total.is_nan() || total <= 0.0 {
            return Err(crate::Error::invalid("weights must not be negative, and some must be positive"));
        }
        let seed = seed.unwrap_or_else(random_seed);
        let mut lower = 0.0;
        let part = |weight: &f64| {
            let upper = lower + weight / total;
            let frame = self.sampled(lower, upper, false, Some(seed), true);
            lower = upper;
            frame
        };
        Ok(weights.iter().map(part).collect())
    }

    /// Computes metrics of the rows that pass here, for an [`Observation`].
    pub fn observe(&self, observation: &Observation, metrics: impl IntoColumns) -> DataFrame {
        self.session.transport.observations.add(observation);
        self.observed(observation.name().to_string(), metrics)
    }

    /// As [`observe`](Self::observe), by name only: for listeners of streaming queries.
    pub fn observe_as(&self, name: impl Into<String>, metrics: impl IntoColumns) -> DataFrame {
        self.observed(name.into(), metrics)
    }

    fn observed(&self, name: String, metrics: impl IntoColumns) -> DataFrame {
        let (metrics, references) = expressions(metrics);
        self.derive_with(&[], references, move |inputs| {
            let (input, name, metrics) = (inputs.take(), name.clone(), metrics.clone());
            RelType::CollectMetrics(Box::new(proto::CollectMetrics { input, name, metrics }))
        })
    }

    /// Columns to rows: for each row and value column, a row with its name and value.
    ///
    /// Without values, all columns that are no ids are values.
    pub fn unpivot(
        &self,
        ids: impl IntoColumns,
        values: Option<Vec<Column>>,
        variable_column: impl Into<String>,
        value_column: impl Into<String>,
    ) -> DataFrame {
        let (ids, mut references) = expressions(ids);
        let values = values.map(|values| {
            let (values, more) = crate::column::split(values);
            references.extend(more);
            proto::unpivot::Values { values }
        });
        let (variable_column_name, value_column_name) = (variable_column.into(), value_column.into());
        self.derive_with(&[], references, move |inputs| {
            RelType::Unpivot(Box::new(proto::Unpivot {
                input: inputs.take(),
                ids: ids.clone(),
                values: values.clone(),
                variable_column_name: variable_column_name.clone(),
                value_column_name: value_column_name.clone(),
            }))
        })
    }

    /// As [`unpivot`](Self::unpivot).
    pub fn melt(
        &self,
        ids: impl IntoColumns,
        values: Option<Vec<Column>>,
        variable_column: impl Into<String>,
        value_column: impl Into<String>,
    ) -> DataFrame {
        self.unpivot(ids, values, variable_column, value_column)
    }

    /// Rows to columns; the values of a column, or else of the first, name them.
    pub fn transpose(&self, index_column: Option<Column>) -> DataFrame {
        let (index_columns, references) = crate::column::split(index_column.into_iter().collect());
        self.derive_with(&[], references, move |inputs| {
            let (input, index_columns) = (inputs.take(), index_columns.clone());
            RelType::Transpose(Box::new(proto::Transpose { input, index_columns }))
        })
    }

    /// Declares how late rows of a stream may come, by a time column.
    pub fn with_watermark(&self, event_time: impl Into<String>, delay: impl Into<String>) -> DataFrame {
        let (event_time, delay_threshold) = (event_time.into(), delay.into());
        self.derive(move |inputs| {
            let (event_time, delay_threshold) = (event_time.clone(), delay_threshold.clone());
            RelType::WithWatermark(Box::new(proto::WithWatermark { input: inputs.take(), event_time, delay_threshold }))
        })
    }

    /// The rows with their numbers, from 0, in a column.
    pub fn zip_with_index(&self, name: impl Into<String>) -> DataFrame {
        self.select((col("*"), internal("distributed_sequence_id", Vec::new()).alias(name)))
    }

    /// The rows as JSON, in the column `value`.
    pub fn to_json(&self) -> DataFrame {
        self.select(functions::to_json(functions::struct_(col("*"))).alias("value"))
    }

    /// Rows of a text column as JSON, CSV or XML rows; see [`Reader::json_frame`](crate::Reader::json_frame).
    pub(crate) fn parsed(
        &self,
        format: proto::parse::ParseFormat,
        schema: Option<proto::DataType>,
        options: std::collections::HashMap<String, String>,
    ) -> DataFrame {
        self.derive(move |inputs| {
            let (schema, options) = (schema.clone(), options.clone());
            RelType::Parse(Box::new(proto::Parse { input: inputs.take(), format: format.into(), schema, options }))
        })
    }

    /// About a fraction of the rows for each value of a column.
    pub fn sample_by<V: IntoLiteral>(
        &self,
        column: impl IntoColumn,
        fractions: impl IntoIterator<Item = (V, f64)>,
        seed: Option<i64>,
    ) -> DataFrame {
        let Column { expression, references } = column.into_column();
        let fraction = |(value, fraction): (V, f64)| proto::stat_sample_by::Fraction {
            stratum: Some(value.into_literal()),
            fraction,
        };
        let fractions: Vec<_> = fractions.into_iter().map(fraction).collect();
        let seed = Some(seed.unwrap_or_else(random_seed));
        self.derive_with(&[], references, move |inputs| {
            let (col, fractions) = (Some(expression.clone()), fractions.clone());
            RelType::SampleBy(Box::new(proto::StatSampleBy { input: inputs.take(), col, fractions, seed }))
        })
    }
}

/// A seed from the randomness of UUIDs.
fn random_seed() -> i64 {
    (uuid::Uuid::new_v4().as_u64_pair().0 >> 1) as i64
}
