//! Logical operators on partitions: the one that moves rows between them (`repartition`,
//! `repartitionByRange`, `repartitionById`, `coalesce`, `DISTRIBUTE BY`) and the one
//! that sorts within them (`sortWithinPartitions`, `SORT BY`).

use datafusion::common::{DFSchemaRef, Result as DfResult};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, SortExpr, UserDefinedLogicalNodeCore};
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// Which partition a row goes to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Each in turn.
    RoundRobin,
    /// The one whose number the expression (of type INT, not null) gives.
    ById(Expr),
    /// Ranges of near equal size in the order of the keys.
    Range(Vec<SortExpr>),
    /// Neighbouring partitions become one; rows are not spread.
    Coalesce,
    /// Rows stay where they are, and no operator moves past this one: its input's values depend on the partition.
    Stay,
    /// Rows stay where they are, and rows at hand are where Spark spreads them to: what the operators above make of
    /// them is not worked out beforehand.
    Spread,
    /// All rows in one partition and in this order, which operators above show.
    Sorted(Vec<SortExpr>),
    /// The first rows of the input, which a limit takes: no sort moves below this operator.
    First,
}

/// Rows in a number of partitions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Exchange {
    pub input: LogicalPlan,
    pub scheme: Scheme,
    /// 0: as many as the engine works on at once for a plan of this size.
    pub partitions: usize,
}

impl PartialOrd for Exchange {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.partitions.partial_cmp(&other.partitions)
    }
}

impl UserDefinedLogicalNodeCore for Exchange {
    fn name(&self) -> &str {
        "Exchange"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        match &self.scheme {
            Scheme::RoundRobin | Scheme::Coalesce | Scheme::Stay | Scheme::Spread | Scheme::First => Vec::new(),
            Scheme::ById(id) => vec![id.clone()],
            Scheme::Range(keys) | Scheme::Sorted(keys) => keys.iter().map(|k| k.expr.clone()).collect(),
        }
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.scheme {
            Scheme::RoundRobin => write!(f, "Repartition {}", self.partitions),
            Scheme::ById(id) => write!(f, "RepartitionByExpression [{id}], {}", self.partitions),
            Scheme::Range(keys) => {
                let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
                write!(f, "RepartitionByRange [{}], {}", keys.join(", "), self.partitions)
            }
            Scheme::Coalesce => write!(f, "Coalesce {}", self.partitions),
            Scheme::Stay => write!(f, "Nondeterministic"),
            Scheme::Spread => write!(f, "Partitions"),
            Scheme::First => write!(f, "First"),
            Scheme::Sorted(keys) => {
                let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
                write!(f, "Sort [{}], true", keys.join(", "))
            }
        }
    }

    fn with_exprs_and_inputs(&self, expressions: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> DfResult<Self> {
        let mut expressions = expressions.into_iter();
        let scheme = match &self.scheme {
            Scheme::RoundRobin => Scheme::RoundRobin,
            Scheme::Coalesce => Scheme::Coalesce,
            Scheme::Stay => Scheme::Stay,
            Scheme::Spread => Scheme::Spread,
            Scheme::First => Scheme::First,
            Scheme::ById(id) => Scheme::ById(expressions.next().unwrap_or_else(|| id.clone())),
            Scheme::Range(keys) => Scheme::Range(renewed(keys, expressions)),
            Scheme::Sorted(keys) => Scheme::Sorted(renewed(keys, expressions)),
        };
        let input = inputs.pop().unwrap_or_else(|| self.input.clone());
        Ok(Self { input, scheme, partitions: self.partitions })
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        needed(&self.input, &self.expressions(), output_columns)
    }
}

/// Sort keys with other expressions.
fn renewed(keys: &[SortExpr], expressions: impl Iterator<Item = Expr>) -> Vec<SortExpr> {
    keys.iter().zip(expressions).map(|(key, expr)| SortExpr { expr, ..key.clone() }).collect()
}

/// Puts an exchange over a plan.
pub fn exchange(input: LogicalPlan, scheme: Scheme, partitions: usize) -> LogicalPlan {
    LogicalPlan::Extension(Extension { node: Arc::new(Exchange { input, scheme, partitions }) })
}

/// Rows sorted within their partitions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LocalSort {
    pub input: LogicalPlan,
    pub keys: Vec<SortExpr>,
}

impl PartialOrd for LocalSort {
    fn partial_cmp(&self, _: &Self) -> Option<Ordering> {
        None
    }
}

impl UserDefinedLogicalNodeCore for LocalSort {
    fn name(&self) -> &str {
        "LocalSort"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        self.keys.iter().map(|k| k.expr.clone()).collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<String> = self.keys.iter().map(ToString::to_string).collect();
        write!(f, "Sort [{}], false", keys.join(", "))
    }

    fn with_exprs_and_inputs(&self, expressions: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> DfResult<Self> {
        let input = inputs.pop().unwrap_or_else(|| self.input.clone());
        let keys = self.keys.iter().zip(expressions).map(|(k, expr)| SortExpr { expr, ..k.clone() }).collect();
        Ok(Self { input, keys })
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        needed(&self.input, &self.expressions(), output_columns)
    }
}

/// Puts a sort within partitions over a plan.
pub fn local_sort(input: LogicalPlan, keys: Vec<SortExpr>) -> LogicalPlan {
    LogicalPlan::Extension(Extension { node: Arc::new(LocalSort { input, keys }) })
}

/// The input's columns that an operator's parents and its own expressions use.
fn needed(input: &LogicalPlan, expressions: &[Expr], output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
    let mut needed = output_columns.to_vec();
    for expression in expressions {
        for column in expression.column_refs() {
            needed.push(input.schema().maybe_index_of_column(column)?);
        }
    }
    needed.sort_unstable();
    needed.dedup();
    Some(vec![needed])
}
