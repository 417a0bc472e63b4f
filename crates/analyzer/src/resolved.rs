//! Analysed relations.

use crate::attribute::{Attribute, AttributeId};
use crate::exchange;
pub use crate::failure::engine_error;
use datafusion::common::Result as DfResult;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Projection};
use firesteel_error::Result;
use std::collections::HashSet;
use std::sync::Arc;

/// An analysed relation: DataFusion's plan and the columns that users see.
///
/// The plan's columns are named `name#id`. It may have more columns than
/// `output`: see `hidden`.
#[derive(Debug, Clone)]
pub struct Resolved {
    pub plan: LogicalPlan,
    pub output: Vec<Attribute>,
    /// Columns of the plan that a qualified name reaches and `*` does not: the
    /// sides' own key columns of a USING join, metadata columns of files.
    pub hidden: Vec<Attribute>,
    /// The relation and those below it, for references by plan id.
    pub frame: Arc<Frame>,
    /// Columns of relations below that are not in the output any more. ORDER BY and filters may still
    /// use them, see [`Resolved::expose`].
    pub below: Option<Arc<Below>>,
}

/// Columns of a relation below the top one.
#[derive(Debug)]
pub struct Below {
    pub attributes: Vec<Attribute>,
    pub below: Option<Arc<Below>>,
}

/// A relation with the id that its client gave it, and its output.
#[derive(Debug)]
pub struct Frame {
    pub plan_id: Option<i64>,
    pub output: Vec<Attribute>,
    pub children: Vec<Arc<Frame>>,
}

impl Drop for Frame {
    // Chains of thousands of frames must not be dropped recursively.
    fn drop(&mut self) {
        let mut stack = std::mem::take(&mut self.children);
        while let Some(frame) = stack.pop() {
            if let Ok(mut frame) = Arc::try_unwrap(frame) {
                stack.append(&mut frame.children);
            }
        }
    }
}

impl Resolved {
    /// A leaf.
    pub fn leaf(plan: LogicalPlan, output: Vec<Attribute>) -> Self {
        let frame = Arc::new(Frame { plan_id: None, output: output.clone(), children: Vec::new() });
        Self { plan, output, hidden: Vec::new(), frame, below: None }
    }

    /// A relation over others: the columns of `inputs` are not visible any more.
    pub fn over(plan: LogicalPlan, output: Vec<Attribute>, inputs: &[&Resolved]) -> Self {
        let children = inputs.iter().map(|i| i.frame.clone()).collect();
        let frame = Arc::new(Frame { plan_id: None, output: output.clone(), children });
        let below = match inputs {
            [input] => Some(Arc::new(Below {
                attributes: input.output.iter().chain(&input.hidden).cloned().collect(),
                below: input.below.clone(),
            })),
            _ => None,
        };
        Self { plan, output, hidden: Vec::new(), frame, below }
    }

    /// The same columns over a changed plan (filter, sort, limit).
    #[must_use]
    pub fn with_plan(self, plan: LogicalPlan) -> Self {
        Self { plan, ..self }
    }

    /// Notes the client's id of the relation.
    #[must_use]
    pub fn with_plan_id(mut self, plan_id: Option<i64>) -> Self {
        if plan_id.is_some() {
            self.frame = Arc::new(Frame { plan_id, output: self.output.clone(), children: vec![self.frame.clone()] });
        }
        self
    }

    /// A projection to exactly the output columns, in order, each once.
    pub fn exact(&self) -> Result<LogicalPlan> {
        let fields = self.plan.schema().fields();
        let is_exact = fields.len() == self.output.len()
            && fields.iter().zip(&self.output).all(|(f, a)| *f.name() == a.column_name());
        if is_exact {
            return Ok(self.plan.clone());
        }
        let mut seen = HashSet::new();
        let expressions = self.output.iter().filter(|a| seen.insert(a.id)).map(Attribute::expr).collect();
        project(self.plan.clone(), expressions)
    }

    /// The same rows with every column once and under a fresh id, and the
    /// columns no longer reachable from outside by plan id.
    pub fn renewed(&self) -> Result<Resolved> {
        let output: Vec<_> = self.output.iter().map(Attribute::renewed).collect();
        let expressions =
            self.output.iter().zip(&output).map(|(old, new)| old.expr().alias(new.column_name())).collect();
        Ok(Self::leaf(project(self.plan.clone(), expressions)?, output))
    }

    /// Makes columns of relations below visible in the plan again, where the
    /// operators between let them through.
    pub fn expose(&self, ids: &[Attribute]) -> Option<LogicalPlan> {
        let mut seen = HashSet::new();
        let missing: Vec<String> = ids
            .iter()
            .filter(|attribute| seen.insert(attribute.id))
            .map(Attribute::column_name)
            .filter(|name| !self.plan.schema().fields().iter().any(|f| f.name() == name))
            .collect();
        expose(&self.plan, &missing)
    }

    /// Its first rows.
    pub fn limited(self, rows: usize) -> Result<Resolved> {
        let rows = rows.min(i32::MAX as usize);
        let plan = built(LogicalPlanBuilder::from(self.plan.clone()).limit(0, Some(rows)))?;
        let plan = built(plan.build())?;
        Ok(self.with_plan(plan))
    }

    pub fn ids(&self) -> HashSet<AttributeId> {
        self.output.iter().map(|a| a.id).collect()
    }
}

fn expose(plan: &LogicalPlan, missing: &[String]) -> Option<LogicalPlan> {
    if missing.is_empty() {
        return Some(plan.clone());
    }
    let has = |plan: &LogicalPlan, name: &String| plan.schema().fields().iter().any(|f| f.name() == name);
    if missing.iter().all(|name| has(plan, name)) {
        return Some(plan.clone());
    }
    match plan {
        LogicalPlan::Projection(projection) => {
            let still: Vec<String> = missing.iter().filter(|m| !has(&projection.input, m)).cloned().collect();
            let input = expose(&projection.input, &still)?;
            let mut expressions = projection.expr.clone();
            for name in missing {
                if !has(plan, name) {
                    expressions.push(Expr::Column(datafusion::common::Column::new_unqualified(name)));
                }
            }
            Projection::try_new(expressions, Arc::new(input)).ok().map(LogicalPlan::Projection)
        }
        LogicalPlan::Filter(_) | LogicalPlan::Sort(_) | LogicalPlan::Limit(_) | LogicalPlan::Extension(_) => {
            let inputs = plan.inputs();
            let input = expose(inputs.first()?, missing)?;
            plan.with_new_exprs(plan.expressions(), vec![input]).ok()
        }
        _ => None,
    }
}

/// A projection, with DataFusion's errors as faults of ours.
pub fn project(plan: LogicalPlan, expressions: Vec<Expr>) -> Result<LogicalPlan> {
    let is_volatile = expressions.iter().any(Expr::is_volatile);
    let plan = built(Projection::try_new(expressions, Arc::new(plan)).map(LogicalPlan::Projection))?;
    // Limits must not move below: `rand(1)` and `spark_partition_id()` would see other partitions.
    Ok(if is_volatile { exchange::exchange(plan, exchange::Scheme::Stay, 1) } else { plan })
}

/// A failure to build a plan that was analysed rightly is a fault of ours,
/// unless a Spark error caused it.
pub fn built<T>(result: DfResult<T>) -> Result<T> {
    result.map_err(engine_error)
}
