//! Subqueries whose references are pulled out, and the domains of references.

use super::fresh;
use crate::resolved::{built, project};
use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::BinaryExpr;
use datafusion::logical_expr::{Expr, JoinType, LogicalPlan, LogicalPlanBuilder, Operator, lit, when};
use firesteel_error::Result;
use std::collections::{HashMap, HashSet};

/// The plan that a subquery is joined to.
pub(super) struct Outer<'p> {
    pub plan: &'p LogicalPlan,
    names: HashSet<String>,
}

/// A subquery's plan without references to the outer one.
pub(super) struct Pulled {
    pub plan: LogicalPlan,
    /// What holds between its rows and a row of the outer plan, where it is a row of the subquery.
    pub conditions: Vec<Expr>,
    /// Set where the subquery has one row for a row of the outer plan that no row here fits
    /// (an aggregate without groups): the values of the columns in it.
    pub empty: Option<HashMap<String, Expr>>,
}

impl<'p> Outer<'p> {
    pub fn new(plan: &'p LogicalPlan) -> Self {
        Self { plan, names: plan.schema().fields().iter().map(|f| f.name().clone()).collect() }
    }

    /// The references of an expression to the outer plan, each once.
    pub fn references(&self, expr: &Expr) -> Vec<Expr> {
        let mut found = Vec::new();
        // The closure never fails.
        let _ = expr.apply(|e| {
            if self.is_reference(e) && !found.contains(e) {
                found.push(e.clone());
            }
            Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
        });
        found
    }

    pub fn is_reference(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::OuterReferenceColumn(_, column) if self.names.contains(&column.name))
    }

    pub fn has_references(&self, expr: &Expr) -> bool {
        expr.exists(|e| Ok(self.is_reference(e))).unwrap_or(true)
    }

    pub fn is_referred_to(&self, plan: &LogicalPlan) -> bool {
        use datafusion::common::tree_node::TreeNodeRecursion;
        let mut found = false;
        let visited = plan.apply_with_subqueries(|node| {
            found = node.expressions().iter().any(|e| self.has_references(e));
            Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        });
        found || visited.is_err()
    }

    /// The expression with references replaced.
    pub fn replaced(&self, expr: Expr, by: &dyn Fn(&Expr) -> Option<Expr>) -> Result<Expr> {
        let transformed = expr.transform_up(|e| {
            Ok(match self.is_reference(&e).then(|| by(&e)).flatten() {
                Some(value) => Transformed::yes(value),
                None => Transformed::no(e),
            })
        });
        built(transformed).map(|t| t.data)
    }

    /// The expression over the outer plan's columns.
    pub fn bound(&self, expr: Expr) -> Result<Expr> {
        self.replaced(expr, &|e| match e {
            Expr::OuterReferenceColumn(_, column) => Some(Expr::Column(column.clone())),
            _ => None,
        })
    }
}

/// Whether an expression has columns of its own plan.
fn has_columns(expr: &Expr) -> bool {
    expr.exists(|e| Ok(matches!(e, Expr::Column(_)))).unwrap_or(true)
}

/// A condition as an equality: the subquery's side, and the outer one.
fn equality(condition: &Expr, outer: &Outer<'_>) -> Option<(Expr, Operator, Expr)> {
    let Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::Eq | Operator::IsNotDistinctFrom), right }) = condition
    else {
        return None;
    };
    let is_inner = |e: &Expr| has_columns(e) && !outer.has_references(e);
    let is_outer = |e: &Expr| !has_columns(e) && outer.has_references(e);
    if is_inner(left) && is_outer(right) {
        return Some((left.as_ref().clone(), *op, right.as_ref().clone()));
    }
    (is_inner(right) && is_outer(left)).then(|| (right.as_ref().clone(), *op, left.as_ref().clone()))
}

impl Pulled {
    /// A plan without references.
    pub fn plain(plan: LogicalPlan) -> Self {
        Self { plan, conditions: Vec::new(), empty: None }
    }

    /// The subquery for every combination of the columns that it refers to: `references`
    /// and those of its conditions, which hold then. What is left are equalities.
    pub fn materialized(self, outer: &Outer<'_>, references: &[Expr]) -> Result<Self> {
        let this = self.with_rows(outer)?;
        let (domain, columns) = this.domain(outer, references)?;
        let by = |e: &Expr| columns.iter().find(|(o, _)| o == e).map(|(_, c)| c.clone());
        let conditions = this.conditions.iter().map(|c| outer.replaced(c.clone(), &by)).collect::<Result<Vec<_>>>()?;
        let builder = LogicalPlanBuilder::from(domain);
        let joined = if conditions.is_empty() {
            builder.cross_join(this.plan)
        } else {
            builder.join_on(this.plan, JoinType::Inner, conditions)
        };
        Ok(Self { plan: built(joined.and_then(LogicalPlanBuilder::build))?, conditions: keys(columns), empty: None })
    }

    /// The same with rows in place of `empty`.
    pub fn with_rows(mut self, outer: &Outer<'_>) -> Result<Self> {
        let Some(defaults) = self.empty.take() else { return Ok(self) };
        let references: Vec<Expr> = defaults.values().flat_map(|e| outer.references(e)).collect();
        let (domain, columns) = self.domain(outer, &references)?;
        let by = |e: &Expr| columns.iter().find(|(o, _)| o == e).map(|(_, c)| c.clone());
        let conditions = self.conditions.iter().map(|c| outer.replaced(c.clone(), &by)).collect::<Result<Vec<_>>>()?;
        let (marked, marker) = self.marked()?;
        let schema = self.plan.schema().clone();
        let builder = LogicalPlanBuilder::from(domain).join_on(marked, JoinType::Left, conditions);
        let joined = built(builder.and_then(LogicalPlanBuilder::build))?;
        let mut expressions: Vec<Expr> = columns.iter().map(|(_, c)| c.clone()).collect();
        for column in schema.columns() {
            expressions.push(match defaults.get(&column.name) {
                Some(default) => {
                    let default = outer.replaced(default.clone(), &by)?;
                    or_default(&marker, Expr::Column(column.clone()), default)?.alias(column.name)
                }
                None => Expr::Column(column),
            });
        }
        Ok(Self { plan: project(joined, expressions)?, conditions: keys(columns), empty: None })
    }

    /// The distinct values of the columns that the subquery refers to, and what they are called.
    fn domain(&self, outer: &Outer<'_>, references: &[Expr]) -> Result<(LogicalPlan, Vec<(Expr, Expr)>)> {
        let mut all: Vec<Expr> = Vec::new();
        let of_conditions: Vec<Expr> = self.conditions.iter().flat_map(|c| outer.references(c)).collect();
        for reference in of_conditions.iter().chain(references) {
            if !all.contains(reference) {
                all.push(reference.clone());
            }
        }
        let mut columns = Vec::new();
        let mut expressions = Vec::new();
        for reference in all {
            let name = fresh("domain");
            expressions.push(outer.bound(reference.clone())?.alias(&name));
            columns.push((reference, Expr::Column(Column::from_name(name))));
        }
        let plan = project(outer.plan.clone(), expressions)?;
        let plan = built(LogicalPlanBuilder::from(plan).distinct().and_then(LogicalPlanBuilder::build))?;
        Ok((plan, columns))
    }

    /// The plan with a column that is never null.
    pub fn marked(&self) -> Result<(LogicalPlan, Expr)> {
        let name = fresh("found");
        let mut expressions: Vec<Expr> = self.plan.schema().columns().into_iter().map(Expr::Column).collect();
        expressions.push(lit(true).alias(&name));
        Ok((project(self.plan.clone(), expressions)?, Expr::Column(Column::from_name(name))))
    }

    /// All conditions as equalities of columns of the plan, and those columns.
    pub fn keyed(self, outer: &Outer<'_>) -> Result<(Self, Vec<Expr>)> {
        let this = self.with_rows(outer)?;
        let equalities: Option<Vec<_>> = this.conditions.iter().map(|c| equality(c, outer)).collect();
        let Some(equalities) = equalities else { return this.materialized(outer, &[])?.keyed(outer) };
        let mut expressions: Vec<Expr> = this.plan.schema().columns().into_iter().map(Expr::Column).collect();
        let count = expressions.len();
        let mut conditions = Vec::new();
        let mut columns: Vec<Expr> = Vec::new();
        for (inner, op, outside) in equalities {
            let column = match inner {
                Expr::Column(_) => inner,
                computed => {
                    let name = fresh("key");
                    expressions.push(computed.alias(&name));
                    Expr::Column(Column::from_name(name))
                }
            };
            if !columns.contains(&column) {
                columns.push(column.clone());
            }
            conditions.push(datafusion::logical_expr::binary_expr(column, op, outside));
        }
        let plan = if expressions.len() > count { project(this.plan, expressions)? } else { this.plan };
        Ok((Self { plan, conditions, empty: None }, columns))
    }

    /// Expressions over the plan without references: by columns that equal them, or by the domain.
    pub fn without_references(self, outer: &Outer<'_>, expressions: Vec<Expr>) -> Result<(Self, Vec<Expr>)> {
        let references: Vec<Expr> = expressions.iter().flat_map(|e| outer.references(e)).collect();
        if references.is_empty() {
            return Ok((self, expressions));
        }
        let known = self.known(outer);
        let missing = references.iter().any(|r| !known.iter().any(|(o, _)| o == r));
        let this = if missing { self.materialized(outer, &references)? } else { self };
        let known = if missing { this.known(outer) } else { known };
        let by = |e: &Expr| known.iter().find(|(o, _)| o == e).map(|(_, c)| c.clone());
        let expressions = expressions.into_iter().map(|e| outer.replaced(e, &by)).collect::<Result<Vec<_>>>()?;
        Ok((this, expressions))
    }

    /// References that equal a column of the plan.
    pub fn known(&self, outer: &Outer<'_>) -> Vec<(Expr, Expr)> {
        if self.empty.is_some() {
            return Vec::new();
        }
        let equal = self.conditions.iter().filter_map(|c| equality(c, outer));
        equal
            .filter(|(inner, _, outside)| matches!(inner, Expr::Column(_)) && outer.is_reference(outside))
            .map(|(inner, _, outside)| (outside, inner))
            .collect()
    }

    /// The columns that conditions use.
    pub fn condition_columns(&self) -> Vec<Column> {
        let mut columns: Vec<Column> = Vec::new();
        for column in self.conditions.iter().flat_map(|c| c.column_refs().into_iter().cloned().collect::<Vec<_>>()) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns.sort_by(|a, b| a.name.cmp(&b.name));
        columns
    }

    /// The same with fresh names for all columns but those in `kept`, for a join with a plan that may have them too.
    pub fn renamed(self, outer: &Outer<'_>) -> Result<(Self, HashMap<String, Expr>)> {
        let mut names = HashMap::new();
        let mut expressions = Vec::new();
        for column in self.plan.schema().columns() {
            let base = column.name.split('#').next().unwrap_or("column");
            let name = fresh(base);
            expressions.push(Expr::Column(column.clone()).alias(&name));
            names.insert(column.name, Expr::Column(Column::from_name(name)));
        }
        let _ = outer;
        let rename = |expr: Expr| -> Result<Expr> {
            let transformed = expr.transform_up(|e| {
                Ok(match &e {
                    Expr::Column(c) => match names.get(&c.name) {
                        Some(new) => Transformed::yes(new.clone()),
                        None => Transformed::no(e),
                    },
                    _ => Transformed::no(e),
                })
            });
            built(transformed).map(|t| t.data)
        };
        let conditions = self.conditions.into_iter().map(rename).collect::<Result<Vec<_>>>()?;
        Ok((Self { plan: project(self.plan, expressions)?, conditions, empty: self.empty }, names))
    }
}

fn keys(columns: Vec<(Expr, Expr)>) -> Vec<Expr> {
    columns
        .into_iter()
        .map(|(reference, column)| {
            datafusion::logical_expr::binary_expr(column, Operator::IsNotDistinctFrom, reference)
        })
        .collect()
}

/// The value, or the default where the marker says that there is no row.
pub(super) fn or_default(marker: &Expr, value: Expr, default: Expr) -> Result<Expr> {
    if matches!(&default, Expr::Literal(scalar, _) if scalar.is_null()) {
        return Ok(value);
    }
    built(when(marker.clone().is_null(), default).otherwise(value))
}
