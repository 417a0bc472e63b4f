//! Finds the kernel of a scalar call again.
//!
//! Kernels of functions that declare one, and those behind operators and
//! casts, are found by name. Other functions make their kernel calls
//! themselves: they are asked to build a call over columns of the same types,
//! and the wanted call is looked for in what they build.

use datafusion::common::Column;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, ScalarUDF};
use firesteel_config::{SessionConfig, SqlConf, keys};
use firesteel_error::QueryContext;
use firesteel_functions::function::{Body, QueryTime, SessionFacts};
use firesteel_functions::{BuildContext, Function, KernelSettings, SparkScalarUdf, TypedExpr, registry};
use firesteel_types::DataType;
use std::any::Any;
use std::sync::Arc;

/// The plain data of a call.
pub(super) struct ScalarCall<'a> {
    pub name: &'a str,
    pub arguments: &'a [DataType],
    pub returns: &'a DataType,
    pub nullable: bool,
    pub settings: &'a KernelSettings,
    pub context: Option<Arc<QueryContext>>,
}

/// The call anew; None where it cannot be made from its plain data.
pub(super) fn scalar(udf: &SparkScalarUdf) -> Option<Arc<ScalarUDF>> {
    use datafusion::logical_expr::ScalarUDFImpl;
    let call = ScalarCall {
        name: udf.name(),
        arguments: udf.argument_types(),
        returns: udf.spark_return_type(),
        nullable: udf.is_nullable(),
        settings: udf.settings(),
        context: None,
    };
    call.build()
}

impl ScalarCall<'_> {
    pub(super) fn build(&self) -> Option<Arc<ScalarUDF>> {
        let hidden = hidden(self.name);
        // The declaration knows whether the function is deterministic; the kernel may stand elsewhere.
        let declared = registry::lookup(self.name).filter(|function| function.name == self.name);
        let function = declared.or(hidden)?;
        if let Body::Scalar { kernel, .. } = &hidden.unwrap_or(function).body {
            let udf = SparkScalarUdf::new(
                function,
                *kernel,
                self.arguments.to_vec(),
                self.returns.clone(),
                self.nullable,
                self.settings.clone(),
                self.context.clone(),
            );
            return Some(Arc::new(ScalarUDF::new_from_impl(udf)));
        }
        [true, false].into_iter().find_map(|nullable| self.probe(function, nullable))
    }

    /// Builds the function over columns, and looks for the call in it.
    fn probe(&self, function: &Function, nullable: bool) -> Option<Arc<ScalarUDF>> {
        let (Body::Build(_) | Body::Named(_)) = &function.body else { return None };
        let mut config = SessionConfig::default();
        config.set(keys::ANSI_ENABLED, if self.settings.ansi { "true" } else { "false" }).ok()?;
        config.set(keys::SESSION_TIME_ZONE, &self.settings.time_zone).ok()?;
        let conf = SqlConf::new(&config);
        let facts = SessionFacts::default();
        let mut context =
            BuildContext { conf: &conf, query_time: &QueryTime::at(0), context: self.context.clone(), session: &facts };
        let columns = self
            .arguments
            .iter()
            .enumerate()
            .map(|(i, data_type)| {
                let name = format!("c{i}");
                TypedExpr::new(Expr::Column(Column::new_unqualified(&name)), data_type.clone(), nullable, name)
            })
            .collect();
        let built = function.build(&mut context, columns).ok()?;
        let mut found = None;
        let visited = built.expr.apply(|expr| {
            if let Expr::ScalarFunction(call) = expr {
                let inner: &dyn Any = call.func.inner().as_ref();
                if inner.downcast_ref::<SparkScalarUdf>().is_some_and(|udf| self.is(udf)) {
                    found = Some(call.func.clone());
                    return Ok(TreeNodeRecursion::Stop);
                }
            }
            Ok(TreeNodeRecursion::Continue)
        });
        visited.ok()?;
        found
    }

    fn is(&self, udf: &SparkScalarUdf) -> bool {
        use datafusion::logical_expr::ScalarUDFImpl;
        udf.name() == self.name
            && udf.argument_types() == self.arguments
            && udf.spark_return_type() == self.returns
            && udf.settings() == self.settings
    }
}

/// A kernel under a name that SQL does not know.
fn hidden(name: &str) -> Option<&'static Function> {
    use firesteel_functions::scalar::{conditional, operator, predicate};
    let checked = firesteel_functions::registry::checked_kernels();
    [firesteel_functions::cast::KERNELS, operator::KERNELS, predicate::KERNELS, conditional::KERNELS]
        .into_iter()
        .chain(checked)
        .flatten()
        .find(|function| function.name == name)
        .copied()
}
