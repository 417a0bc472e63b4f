//! Functions in other languages over partitions and groups. Their bytes are made elsewhere.

use super::{DataFrame, expressions};
use crate::column::IntoColumns;
use crate::group::GroupedData;
use firesteel_proto::connect as proto;
use proto::relation::RelType;

pub use proto::CommonInlineUserDefinedFunction as InlineFunction;

impl DataFrame {
    /// A function over the batches of each partition, such as a pickled `mapInArrow`.
    pub fn map_partitions(&self, function: InlineFunction, barrier: bool) -> DataFrame {
        self.mapped(function, barrier, None)
    }

    /// As [`map_partitions`](Self::map_partitions), by tasks with a
    /// [profile of resources](crate::SparkSession::create_resource_profile).
    pub fn map_partitions_with(&self, function: InlineFunction, barrier: bool, profile_id: i32) -> DataFrame {
        self.mapped(function, barrier, Some(profile_id))
    }

    fn mapped(&self, function: InlineFunction, barrier: bool, profile_id: Option<i32>) -> DataFrame {
        self.derive(move |inputs| {
            RelType::MapPartitions(Box::new(proto::MapPartitions {
                input: inputs.take(),
                func: Some(function.clone()),
                is_barrier: Some(barrier),
                profile_id,
            }))
        })
    }
}

impl GroupedData {
    /// A function over the rows of each group, such as a pickled `applyInArrow`.
    pub fn apply(&self, function: InlineFunction) -> DataFrame {
        let (grouping_expressions, references) = self.grouping();
        self.frame().derive_with(&[], references, move |inputs| {
            RelType::GroupMap(Box::new(proto::GroupMap {
                input: inputs.take(),
                grouping_expressions: grouping_expressions.clone(),
                func: Some(function.clone()),
                ..Default::default()
            }))
        })
    }

    /// A function over the rows of groups of two frames that have the same key.
    pub fn cogroup(&self, other: &GroupedData, function: InlineFunction) -> DataFrame {
        let (input_grouping_expressions, mut references) = self.grouping();
        let (other_grouping_expressions, more) = other.grouping();
        references.extend(more);
        self.frame().derive_with(&[other.frame()], references, move |inputs| {
            RelType::CoGroupMap(Box::new(proto::CoGroupMap {
                input: inputs.take(),
                input_grouping_expressions: input_grouping_expressions.clone(),
                other: inputs.take(),
                other_grouping_expressions: other_grouping_expressions.clone(),
                func: Some(function.clone()),
                ..Default::default()
            }))
        })
    }

    /// A function over groups that keeps a state for each, such as a pickled `applyInPandasWithState`.
    pub fn apply_with_state(
        &self,
        function: InlineFunction,
        output_schema: impl Into<String>,
        state_schema: impl Into<String>,
        output_mode: impl Into<String>,
        timeout: impl Into<String>,
    ) -> DataFrame {
        let (grouping_expressions, references) = self.grouping();
        let (output_schema, state_schema) = (output_schema.into(), state_schema.into());
        let (output_mode, timeout_conf) = (output_mode.into(), timeout.into());
        self.frame().derive_with(&[], references, move |inputs| {
            RelType::ApplyInPandasWithState(Box::new(proto::ApplyInPandasWithState {
                input: inputs.take(),
                grouping_expressions: grouping_expressions.clone(),
                func: Some(function.clone()),
                output_schema: output_schema.clone(),
                state_schema: state_schema.clone(),
                output_mode: output_mode.clone(),
                timeout_conf: timeout_conf.clone(),
            }))
        })
    }
}

impl crate::SparkSession {
    /// A call of a function that is sent along and gives a table.
    pub fn inline_table_function(
        &self,
        mut function: proto::CommonInlineUserDefinedTableFunction,
        arguments: impl IntoColumns,
    ) -> DataFrame {
        let (arguments, references) = expressions(arguments);
        function.arguments = arguments;
        self.frame(crate::plan::Plan::new(Vec::new(), references, move |_| {
            RelType::CommonInlineUserDefinedTableFunction(function.clone())
        }))
    }

    /// The rows of a source that is sent along, such as a pickled Python data source.
    pub fn inline_data_source(&self, source: proto::CommonInlineUserDefinedDataSource) -> DataFrame {
        self.leaf(RelType::CommonInlineUserDefinedDataSource(source))
    }
}
