//! Grouped rows.

use crate::DataFrame;
use crate::column::{Column, IntoColumn, IntoColumns, IntoLiteral, split};
use crate::functions;
use crate::plan::References;
use firesteel_proto::connect as proto;
use proto::aggregate::{GroupType, GroupingSets, Pivot};
use proto::relation::RelType;

/// What makes rows a group.
#[derive(Debug, Clone)]
pub(crate) enum GroupKind {
    GroupBy,
    Rollup,
    Cube,
    GroupingSets(Vec<Vec<Column>>),
}

/// Groups of the rows of a frame, to be aggregated.
#[derive(Debug, Clone)]
pub struct GroupedData {
    frame: DataFrame,
    kind: GroupKind,
    columns: Vec<Column>,
    pivot: Option<(Column, Vec<proto::expression::Literal>)>,
}

impl GroupedData {
    pub(crate) fn new(frame: &DataFrame, kind: GroupKind, columns: impl IntoColumns) -> Self {
        GroupedData { frame: frame.clone(), kind, columns: columns.into_columns(), pivot: None }
    }

    pub(crate) fn frame(&self) -> &DataFrame {
        &self.frame
    }

    pub(crate) fn grouping(&self) -> (Vec<proto::Expression>, References) {
        split(self.columns.clone())
    }

    /// A column for each of these values of a column; for all of its values, if none are given.
    ///
    /// ```
    /// # use firesteel_client::functions::{col, sum};
    /// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
    /// let numbers = spark.range(0, 10).with_column("rest", col("id") % 2);
    /// let sums = numbers.group_by(()).pivot("rest", [0i64, 1]).agg(sum("id"));
    /// assert_eq!(sums.first::<(i64, i64)>().await?, Some((20, 25)));
    /// # Ok(()) }
    /// # firesteel_client::doc_test(run);
    /// ```
    #[must_use]
    pub fn pivot<V: IntoLiteral>(mut self, column: impl IntoColumn, values: impl IntoIterator<Item = V>) -> Self {
        let values = values.into_iter().map(IntoLiteral::into_literal).collect();
        self.pivot = Some((column.into_column(), values));
        self
    }

    /// As [`pivot`](Self::pivot), by all values that the column has; the server looks them up first.
    #[must_use]
    pub fn pivot_all(self, column: impl IntoColumn) -> Self {
        self.pivot(column, [] as [i32; 0])
    }

    /// Aggregates, one row for each group.
    pub fn agg(&self, aggregates: impl IntoColumns) -> DataFrame {
        let (grouping_expressions, mut references) = self.grouping();
        let (aggregate_expressions, more) = split(aggregates.into_columns());
        references.extend(more);
        let group_type = match (&self.kind, &self.pivot) {
            (_, Some(_)) => GroupType::Pivot,
            (GroupKind::GroupBy, _) => GroupType::Groupby,
            (GroupKind::Rollup, _) => GroupType::Rollup,
            (GroupKind::Cube, _) => GroupType::Cube,
            (GroupKind::GroupingSets(_), _) => GroupType::GroupingSets,
        };
        let grouping_sets: Vec<_> = match &self.kind {
            GroupKind::GroupingSets(sets) => {
                sets.iter().map(|set| GroupingSets { grouping_set: split(set.clone()).0 }).collect()
            }
            _ => Vec::new(),
        };
        let pivot = self
            .pivot
            .as_ref()
            .map(|(column, values)| Pivot { col: Some(column.expression.clone()), values: values.clone() });
        self.frame.derive_with(&[], references, move |inputs| {
            RelType::Aggregate(Box::new(proto::Aggregate {
                input: inputs.take(),
                group_type: group_type.into(),
                grouping_expressions: grouping_expressions.clone(),
                aggregate_expressions: aggregate_expressions.clone(),
                pivot: pivot.clone(),
                grouping_sets: grouping_sets.clone(),
            }))
        })
    }

    /// The number of rows of each group.
    pub fn count(&self) -> DataFrame {
        self.agg(functions::count(functions::lit(1)).alias("count"))
    }

    fn each(&self, function: &str, columns: impl IntoIterator<Item = impl Into<String>>) -> DataFrame {
        let call = |name: String| Column::call(function, vec![functions::col(name)]);
        self.agg(columns.into_iter().map(|name| call(name.into())).collect::<Vec<_>>())
    }

    /// The sum of each column.
    pub fn sum(&self, columns: impl IntoIterator<Item = impl Into<String>>) -> DataFrame {
        self.each("sum", columns)
    }

    /// The mean of each column.
    pub fn avg(&self, columns: impl IntoIterator<Item = impl Into<String>>) -> DataFrame {
        self.each("avg", columns)
    }

    /// As [`avg`](Self::avg).
    pub fn mean(&self, columns: impl IntoIterator<Item = impl Into<String>>) -> DataFrame {
        self.avg(columns)
    }

    /// The least value of each column.
    pub fn min(&self, columns: impl IntoIterator<Item = impl Into<String>>) -> DataFrame {
        self.each("min", columns)
    }

    /// The greatest value of each column.
    pub fn max(&self, columns: impl IntoIterator<Item = impl Into<String>>) -> DataFrame {
        self.each("max", columns)
    }
}
