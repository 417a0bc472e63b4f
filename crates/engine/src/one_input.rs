//! What operators over one input have in common.

/// The members of `ExecutionPlan` that are alike for operators over one input that tell DataFusion
/// of no expressions. `field` is the input; the closure makes the operator over another one.
macro_rules! over_one_input {
    ($field:ident, |$this:ident, $input:ident| $operator:expr) => {
        fn children(&self) -> Vec<&::std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>> {
            vec![&self.$field]
        }

        fn apply_expressions(
            &self,
            _: &mut dyn FnMut(
                &::std::sync::Arc<dyn datafusion::physical_expr::PhysicalExpr>,
            ) -> datafusion::common::Result<datafusion::common::tree_node::TreeNodeRecursion>,
        ) -> datafusion::common::Result<datafusion::common::tree_node::TreeNodeRecursion> {
            Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
        }

        fn with_new_children(
            self: ::std::sync::Arc<Self>,
            mut children: Vec<::std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>>,
        ) -> datafusion::common::Result<::std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>> {
            let $this = self;
            let $input = children
                .pop()
                .ok_or_else(|| datafusion::common::internal_datafusion_err!("{} has one input", $this.name()))?;
            Ok(::std::sync::Arc::new($operator))
        }
    };
}

pub(crate) use over_one_input;
