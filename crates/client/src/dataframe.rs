//! Frames: plans of relations, run when their rows are asked for.

mod actions;
mod analysis;
mod checkpoint;
mod joins;
mod missing;
mod partitions;
mod rename;
mod statistics;
mod storage;
mod subqueries;
mod transforms;
mod user_functions;

pub use actions::ShowOptions;
pub use analysis::ExplainMode;
pub use joins::{AsOfJoin, JoinType, On};
pub use missing::MissingRule;
pub use storage::StorageLevel;
pub use transforms::IntoCondition;
pub use user_functions::InlineFunction;

use crate::column::{Column, IntoColumns, split};
use crate::plan::{Inputs, Plan, References};
use crate::{DataStreamWriter, MergeIntoWriter, SparkSession, Writer, WriterV2};
use firesteel_proto::connect as proto;
use proto::expression::ExprType;
use proto::relation::RelType;
use std::sync::Arc;

/// Rows with named columns: a plan, which runs when an action asks for rows.
///
/// Clones and derived frames share their plan. Methods that only describe
/// return at once; methods that ask the server are async.
///
/// ```
/// # use firesteel_client::functions::{col, sum};
/// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
/// let evens = spark.range(0, 100).filter((col("id") % 2).eq(0));
/// let total = evens.agg(sum("id").alias("total"));
/// assert_eq!(total.first::<(i64,)>().await?, Some((2450,)));
/// # Ok(()) }
/// # firesteel_client::doc_test(run);
/// ```
#[derive(Clone)]
pub struct DataFrame {
    pub(crate) session: SparkSession,
    pub(crate) plan: Arc<Plan>,
}

impl std::fmt::Debug for DataFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DataFrame").field("plan_id", &self.plan.id()).finish_non_exhaustive()
    }
}

impl DataFrame {
    pub(crate) fn new(session: SparkSession, plan: Arc<Plan>) -> Self {
        DataFrame { session, plan }
    }

    /// The session of the frame.
    pub fn session(&self) -> &SparkSession {
        &self.session
    }

    /// A frame with this one as its input.
    pub(crate) fn derive(&self, build: impl Fn(&mut Inputs) -> RelType + Send + Sync + 'static) -> DataFrame {
        self.derive_with(&[], References::default(), build)
    }

    /// A frame with this one and others as its inputs, and the subqueries of its expressions.
    pub(crate) fn derive_with(
        &self,
        others: &[&DataFrame],
        references: References,
        build: impl Fn(&mut Inputs) -> RelType + Send + Sync + 'static,
    ) -> DataFrame {
        let inputs = std::iter::once(self).chain(others.iter().copied()).map(|frame| Arc::clone(&frame.plan)).collect();
        self.session.frame(Plan::new(inputs, references, build))
    }

    /// The message of the plan, for requests made by hand.
    pub fn to_proto(&self) -> proto::Relation {
        self.plan.relation()
    }

    pub(crate) fn root(&self) -> proto::plan::OpType {
        proto::plan::OpType::Root(self.plan.relation())
    }

    pub(crate) fn proto_plan(&self) -> Option<proto::Plan> {
        Some(proto::Plan { op_type: Some(self.root()) })
    }

    /// A column of this very frame, where a name alone may mean another's. `*` is all of them.
    ///
    /// ```
    /// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
    /// let (left, right) = (spark.range(0, 3), spark.range(1, 5));
    /// let both = left.join(&right, left.col("id").eq(right.col("id")), Default::default());
    /// assert_eq!(both.select(left.col("id")).count().await?, 2);
    /// # Ok(()) }
    /// # firesteel_client::doc_test(run);
    /// ```
    pub fn col(&self, name: impl AsRef<str>) -> Column {
        let plan_id = Some(self.plan.id());
        Column::of(match name.as_ref() {
            "*" => ExprType::UnresolvedStar(proto::expression::UnresolvedStar { unparsed_target: None, plan_id }),
            name => ExprType::UnresolvedAttribute(proto::expression::UnresolvedAttribute {
                unparsed_identifier: name.to_string(),
                plan_id,
                is_metadata_column: None,
            }),
        })
    }

    /// The columns whose names match a regular expression in backticks.
    pub fn col_regex(&self, pattern: impl Into<String>) -> Column {
        let (col_name, plan_id) = (pattern.into(), Some(self.plan.id()));
        Column::of(ExprType::UnresolvedRegex(proto::expression::UnresolvedRegex { col_name, plan_id }))
    }

    /// A hidden column that the source gives about its rows.
    pub fn metadata_column(&self, name: impl Into<String>) -> Column {
        Column::of(ExprType::UnresolvedAttribute(proto::expression::UnresolvedAttribute {
            unparsed_identifier: name.into(),
            plan_id: Some(self.plan.id()),
            is_metadata_column: Some(true),
        }))
    }

    /// Writes the rows to files, tables and other sinks.
    pub fn write(&self) -> Writer {
        Writer::new(self.clone())
    }

    /// Writes the rows to a table of a catalog.
    pub fn write_to(&self, table: impl Into<String>) -> WriterV2 {
        WriterV2::new(self.clone(), table.into())
    }

    /// Writes a stream of rows.
    pub fn write_stream(&self) -> DataStreamWriter {
        DataStreamWriter::new(self.clone())
    }

    /// Merges the rows into a table.
    pub fn merge_into(&self, table: impl Into<String>, condition: Column) -> MergeIntoWriter {
        MergeIntoWriter::new(self.clone(), table.into(), condition)
    }

    /// What a function of frames makes of this one; for chains.
    pub fn transform(&self, function: impl FnOnce(&DataFrame) -> DataFrame) -> DataFrame {
        function(self)
    }
}

/// The messages of columns, with their subqueries.
pub(crate) fn expressions(columns: impl IntoColumns) -> (Vec<proto::Expression>, References) {
    split(columns.into_columns())
}

/// Texts from whatever has them.
pub(crate) fn names(names: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    names.into_iter().map(Into::into).collect()
}
