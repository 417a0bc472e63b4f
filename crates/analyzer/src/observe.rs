//! The logical operator behind `df.observe`: passes rows on, and computes
//! aggregates over them on the way.

use datafusion::common::{DFSchemaRef, Result as DfResult};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};
use firesteel_error::Result;
use firesteel_functions::TypedExpr;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Rows pass; the metrics are aggregates over them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observe {
    pub name: String,
    pub input: LogicalPlan,
    /// Aggregate expressions, each under an alias.
    pub metrics: Vec<Expr>,
}

impl Hash for Observe {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.metrics.hash(state);
    }
}

impl PartialOrd for Observe {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.name.partial_cmp(&other.name)
    }
}

impl UserDefinedLogicalNodeCore for Observe {
    fn name(&self) -> &str {
        "Observe"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        self.metrics.clone()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CollectMetrics {}", self.name)
    }

    fn with_exprs_and_inputs(&self, metrics: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> DfResult<Self> {
        let input = inputs.pop().unwrap_or_else(|| self.input.clone());
        Ok(Self { name: self.name.clone(), input, metrics })
    }

    fn necessary_children_exprs(&self, _output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        // The metrics need their own columns whatever the parents use.
        None
    }
}

/// Puts an observation over a plan.
pub fn observe(input: LogicalPlan, name: &str, metrics: Vec<(String, TypedExpr)>) -> Result<LogicalPlan> {
    let metrics = metrics.into_iter().map(|(column, typed)| typed.expr.alias(column)).collect();
    let node = Observe { name: name.to_string(), input, metrics };
    Ok(LogicalPlan::Extension(Extension { node: Arc::new(node) }))
}
