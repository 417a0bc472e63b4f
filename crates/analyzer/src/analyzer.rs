//! The analyzer's state, and its entry points.

use crate::attribute::Attribute;
use crate::environment::Environment;
use crate::resolved::Resolved;
use crate::scope::Scope;
use datafusion::logical_expr::Expr as DfExpr;
use firesteel_error::{Result, SparkError};
use firesteel_functions::{BuildContext, TypedExpr};
use firesteel_plan::{Expr, Origin, PipeClause, Relation, WindowSpecification};
use firesteel_types::time_zone::TimeZone;
use std::collections::HashMap;
use std::sync::Arc;

/// Turns unresolved plans into DataFusion's, for one request of one session.
pub struct Analyzer<'a> {
    pub(crate) env: &'a dyn Environment,
    /// Enclosing queries, outermost first.
    pub(crate) outer: Vec<OuterQuery>,
    /// Parameters of the enclosing lambdas.
    pub(crate) lambdas: Vec<Vec<(String, TypedExpr)>>,
    /// The SQL function whose body is analysed.
    pub(crate) function: Option<FunctionBody>,
    /// Output columns of the select list analysed so far, by name.
    pub(crate) aliases: Vec<AliasScope>,
    /// CTE definitions in scope, innermost last.
    pub(crate) ctes: Vec<HashMap<String, Cte>>,
    /// Relations that SQL text may name, given with the plan.
    pub(crate) references: Vec<(String, Relation)>,
    pub(crate) windows: Vec<HashMap<String, WindowSpecification>>,
    /// The pipe operator whose select list is analysed next: it may have no aggregates.
    pub(crate) pipe: Option<PipeClause>,
    /// Columns used from below the input, since the last look.
    pub(crate) below_used: Vec<Attribute>,
    /// The column with the file of a row, where it is used from below the input, since the last look.
    pub(crate) file_used: Option<Attribute>,
    /// Observations met, in order.
    pub observations: Vec<Observation>,
    /// Views being expanded, against endless recursion.
    pub(crate) views: usize,
}

/// A query around the one analysed.
pub(crate) struct OuterQuery {
    pub scope: Scope,
    /// Its columns that the inner query uses.
    pub used: Vec<DfExpr>,
    /// Names are looked up here too (false for `Column.outer()` only scopes).
    pub is_open: bool,
}

/// A SQL function whose body is analysed: its parameters are known there, its caller's names are not.
pub(crate) struct FunctionBody {
    pub name: String,
    pub parameters: Vec<(String, TypedExpr)>,
    /// How many queries are around the call.
    pub depth: usize,
}

/// Aliases of a select list.
pub(crate) struct AliasScope {
    pub names: Vec<(String, TypedExpr)>,
    /// ORDER BY looks at the output's names before the input's.
    pub come_first: bool,
}

/// A CTE's definition.
#[derive(Clone)]
pub(crate) enum Cte {
    /// Analysed where it is used, in the scopes where it was defined.
    Defined { query: Relation, columns: Vec<String>, depth: usize },
    /// Analysed already (the working table of a recursive one).
    Working(Arc<Resolved>),
}

/// An observation of a plan (`df.observe`): its node in the plan is found by name.
#[derive(Debug, Clone)]
pub struct Observation {
    pub name: String,
    pub plan_id: i64,
    pub attributes: Vec<Attribute>,
}

impl<'a> Analyzer<'a> {
    pub fn new(env: &'a dyn Environment) -> Self {
        Self {
            env,
            outer: Vec::new(),
            lambdas: Vec::new(),
            function: None,
            aliases: Vec::new(),
            ctes: Vec::new(),
            references: Vec::new(),
            windows: Vec::new(),
            pipe: None,
            below_used: Vec::new(),
            file_used: None,
            observations: Vec::new(),
            views: 0,
        }
    }

    /// Analyses a relation.
    pub fn relation(&mut self, relation: &Relation) -> Result<Resolved> {
        stacker::maybe_grow(512 * 1024, 8 * 1024 * 1024, || {
            if let Some(persisted) = self.env.cached(relation) {
                return crate::relation::persisted(&persisted);
            }
            let resolved = crate::relation::analyse(self, relation).map_err(|e| at(e, &relation.origin))?;
            Ok(resolved.with_plan_id(relation.plan_id()))
        })
    }

    /// Analyses an expression over a scope.
    pub fn expression(&mut self, expr: &Expr, scope: &Scope) -> Result<TypedExpr> {
        stacker::maybe_grow(512 * 1024, 8 * 1024 * 1024, || {
            crate::expression::analyse(self, expr, scope).map_err(|e| at(e, &expr.origin))
        })
    }

    /// Analyses an expression that may use no columns (limits, options, arguments).
    pub fn constant(&mut self, expr: &Expr) -> Result<TypedExpr> {
        self.expression(expr, &Scope::default())
    }

    pub(crate) fn case_sensitive(&self) -> bool {
        self.env.conf().case_sensitive
    }

    /// The session's time zone.
    pub(crate) fn zone(&self) -> TimeZone {
        TimeZone::parse(&self.env.conf().time_zone).unwrap_or(TimeZone::UTC)
    }

    pub(crate) fn scope(&self, inputs: &[&Resolved]) -> Scope {
        Scope::new(inputs, self.case_sensitive())
    }

    /// What functions may know, for a call at `origin`.
    pub(crate) fn build_context(&self, origin: &Origin) -> BuildContext<'a> {
        BuildContext {
            conf: self.env.conf(),
            query_time: self.env.query_time(),
            context: origin.context().map(Arc::new),
            session: self.env.facts(),
        }
    }
}

/// Adds the place to an error without one.
pub(crate) fn at(error: SparkError, origin: &Origin) -> SparkError {
    error.or_context(|| origin.context())
}
