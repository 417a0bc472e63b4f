//! Frames within expressions.

use super::DataFrame;
use crate::TableArgument;
use crate::column::Column;
use crate::plan::References;
use firesteel_proto::connect as proto;
use proto::expression::ExprType;
use proto::subquery_expression::SubqueryType;
use std::sync::Arc;

impl DataFrame {
    pub(crate) fn subquery(&self, kind: SubqueryType, in_subquery_values: Vec<proto::Expression>) -> Column {
        let subquery = proto::SubqueryExpression {
            plan_id: self.plan.id(),
            subquery_type: kind.into(),
            table_arg_options: None,
            in_subquery_values,
        };
        let references = References::of_plans(vec![Arc::clone(&self.plan)]);
        Column::of(ExprType::SubqueryExpression(subquery)).with_references(references)
    }

    /// The value of a frame of one row and one column.
    ///
    /// ```
    /// # use firesteel_client::functions::{col, max};
    /// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
    /// let numbers = spark.range(0, 10);
    /// let greatest = numbers.agg(max("id")).scalar();
    /// assert_eq!(numbers.filter(col("id").eq(greatest)).count().await?, 1);
    /// # Ok(()) }
    /// # firesteel_client::doc_test(run);
    /// ```
    pub fn scalar(&self) -> Column {
        self.subquery(SubqueryType::Scalar, Vec::new())
    }

    /// Whether the frame has a row.
    pub fn exists(&self) -> Column {
        self.subquery(SubqueryType::Exists, Vec::new())
    }

    /// The frame as the argument of a table function.
    pub fn as_table(&self) -> TableArgument {
        TableArgument::new(self.subquery(SubqueryType::TableArg, Vec::new()))
    }
}
