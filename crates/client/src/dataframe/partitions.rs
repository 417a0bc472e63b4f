//! How rows are spread over partitions.

use super::DataFrame;
use crate::column::{Column, IntoColumn, IntoColumns, split};
use firesteel_proto::connect as proto;
use proto::expression::ExprType;
use proto::relation::RelType;

impl DataFrame {
    /// The rows in fewer partitions, without moving them all.
    pub fn coalesce(&self, partitions: i32) -> DataFrame {
        self.repartitioned(partitions, false)
    }

    /// The rows spread evenly over a number of partitions.
    pub fn repartition(&self, partitions: i32) -> DataFrame {
        self.repartitioned(partitions, true)
    }

    fn repartitioned(&self, num_partitions: i32, shuffle: bool) -> DataFrame {
        self.derive(move |inputs| {
            let (input, shuffle) = (inputs.take(), Some(shuffle));
            RelType::Repartition(Box::new(proto::Repartition { input, num_partitions, shuffle }))
        })
    }

    /// Rows with equal values in some columns together in a partition.
    pub fn repartition_by(&self, partitions: Option<i32>, columns: impl IntoColumns) -> DataFrame {
        self.partitioned(partitions, columns.into_columns())
    }

    /// Rows spread by ranges of their order.
    pub fn repartition_by_range(&self, partitions: Option<i32>, columns: impl IntoColumns) -> DataFrame {
        let sorted = |column: Column| match &column.expression.expr_type {
            Some(ExprType::SortOrder(_)) => column,
            _ => column.asc(),
        };
        self.partitioned(partitions, columns.into_columns().into_iter().map(sorted).collect())
    }

    /// Rows in the partition whose number a column tells.
    pub fn repartition_by_id(&self, partitions: i32, partition_id: impl IntoColumn) -> DataFrame {
        let id = partition_id.into_column().wrap(|child| {
            ExprType::DirectShufflePartitionId(Box::new(proto::expression::DirectShufflePartitionId { child }))
        });
        self.partitioned(Some(partitions), vec![id])
    }

    fn partitioned(&self, num_partitions: Option<i32>, columns: Vec<Column>) -> DataFrame {
        let (partition_exprs, references) = split(columns);
        self.derive_with(&[], references, move |inputs| {
            let (input, partition_exprs) = (inputs.take(), partition_exprs.clone());
            RelType::RepartitionByExpression(Box::new(proto::RepartitionByExpression {
                input,
                partition_exprs,
                num_partitions,
            }))
        })
    }
}
