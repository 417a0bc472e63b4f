//! The analyzer's state, and its entry points.

use crate::attribute::Attribute;
use crate::environment::Environment;
use crate::resolved::Resolved;
use crate::scope::Scope;
use datafusion::logical_expr::Expr as DfExpr;
use firesteel_error::{Result, SparkError};
use firesteel_functions::{BuildContext, TypedExpr};
use firesteel_plan::{
    Cte as CteDefinition, Expr, Name, Origin, PipeClause, Relation, RelationKind, WindowSpecification,
};
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
    /// References to working tables of recursive CTEs met so far.
    pub(crate) self_references: usize,
    /// How many rows a LIMIT takes of a recursive CTE; below zero: all.
    pub(crate) row_limit: Option<i64>,
    /// HAVING is analysed: subqueries in it may compare with the aggregates of its groups.
    pub(crate) in_having: bool,
    /// The condition of WHERE is analysed.
    pub(crate) in_where: bool,
    /// Aggregates that subqueries of the HAVING analysed need.
    pub(crate) hoisted: Vec<(Attribute, TypedExpr)>,
    /// SQL functions called since the last look.
    pub(crate) sql_functions: Vec<Name>,
    /// SQL functions whose bodies are analysed, by their full names.
    pub(crate) function_path: Vec<String>,
    /// How many aggregate functions are around the expression analysed.
    pub(crate) aggregates: usize,
    /// Columns used from below the input, since the last look.
    pub(crate) below_used: Vec<Attribute>,
    /// The column with the file of a row, where it is used from below the input, since the last look.
    pub(crate) file_used: Option<Attribute>,
    /// Names of relations that joins of the query analysed should hold whole.
    pub(crate) broadcast: Vec<String>,
    /// Observations met, in order.
    pub observations: Vec<Observation>,
    /// Views being expanded, against endless recursion.
    pub(crate) views: usize,
    /// What is analysed next is the whole of a CTE's definition, or of an expression's subquery.
    pub(crate) begins_query: bool,
}

/// A query around the one analysed.
pub(crate) struct OuterQuery {
    pub scope: Scope,
    /// Its columns that the inner query uses.
    pub used: Vec<DfExpr>,
    /// Aggregates over its columns that conditions of the inner query compare with, where the query takes
    /// them: HAVING does.
    pub aggregates: Option<Vec<(Attribute, TypedExpr)>>,
}

/// A SQL function whose body is analysed: its parameters are known there, its caller's names are not.
pub(crate) struct FunctionBody {
    pub name: String,
    pub parameters: Vec<(String, TypedExpr)>,
    /// How many queries are around the call.
    pub depth: usize,
}

/// Names of outputs that expressions of the same block may use.
pub(crate) enum AliasScope {
    /// Aliases of a select list so far: used where the input has no such column.
    Lateral(Vec<(String, TypedExpr)>),
    /// The outputs, for the clauses after the select list.
    Outputs(OutputScope),
}

/// The outputs of a select list as HAVING, QUALIFY and ORDER BY see them.
pub(crate) struct OutputScope {
    pub scope: Scope,
    /// ORDER BY looks at the outputs' names before the input's.
    pub come_first: bool,
    /// Within aggregate functions too; else their arguments see the input alone where it has the name.
    pub within_aggregates: bool,
    /// Names that can mean outputs only.
    pub outputs_only: Vec<Name>,
    /// Names that meant columns of the input, with the plan's names of these.
    pub taken: Vec<(Name, String)>,
}

/// A CTE's definition.
#[derive(Clone)]
pub(crate) enum Cte {
    /// Analysed where it is used, in the scopes where it was defined.
    Defined { query: Relation, columns: Vec<String>, depth: usize },
    /// Refers to itself; analysed where it is used, too.
    Recursive { definition: CteDefinition, depth: usize },
    /// The working table of a recursive one, within its step.
    Working(Arc<Resolved>),
    /// A recursive one within its anchor, which may not refer to it.
    Anchor,
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
            self_references: 0,
            row_limit: None,
            in_having: false,
            in_where: false,
            hoisted: Vec::new(),
            sql_functions: Vec::new(),
            function_path: Vec::new(),
            aggregates: 0,
            below_used: Vec::new(),
            file_used: None,
            broadcast: Vec::new(),
            observations: Vec::new(),
            views: 0,
            begins_query: false,
        }
    }

    /// Analyses something in another environment.
    pub(crate) fn under<T>(
        &mut self,
        env: &dyn Environment,
        analyse: impl FnOnce(&mut Analyzer<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut other = Analyzer::new(env);
        self.swap(&mut other);
        let result = analyse(&mut other);
        self.swap(&mut other);
        result
    }

    /// Swaps all but the environments.
    fn swap(&mut self, other: &mut Analyzer<'_>) {
        use std::mem::swap;
        swap(&mut self.outer, &mut other.outer);
        swap(&mut self.lambdas, &mut other.lambdas);
        swap(&mut self.function, &mut other.function);
        swap(&mut self.aliases, &mut other.aliases);
        swap(&mut self.ctes, &mut other.ctes);
        swap(&mut self.references, &mut other.references);
        swap(&mut self.windows, &mut other.windows);
        swap(&mut self.pipe, &mut other.pipe);
        swap(&mut self.self_references, &mut other.self_references);
        swap(&mut self.row_limit, &mut other.row_limit);
        swap(&mut self.in_having, &mut other.in_having);
        swap(&mut self.in_where, &mut other.in_where);
        swap(&mut self.hoisted, &mut other.hoisted);
        swap(&mut self.sql_functions, &mut other.sql_functions);
        swap(&mut self.function_path, &mut other.function_path);
        swap(&mut self.aggregates, &mut other.aggregates);
        swap(&mut self.below_used, &mut other.below_used);
        swap(&mut self.file_used, &mut other.file_used);
        swap(&mut self.broadcast, &mut other.broadcast);
        swap(&mut self.observations, &mut other.observations);
        swap(&mut self.views, &mut other.views);
        swap(&mut self.begins_query, &mut other.begins_query);
    }

    /// Analyses a relation.
    pub fn relation(&mut self, relation: &Relation) -> Result<Resolved> {
        stacker::maybe_grow(512 * 1024, 8 * 1024 * 1024, || {
            if let Some(persisted) = self.env.cached(relation) {
                return crate::relation::persisted(&persisted);
            }
            if let Some(resolved) = self.env.analysed(relation) {
                return Ok(resolved);
            }
            if !matches!(relation.kind(), RelationKind::With { .. }) {
                self.begins_query = false;
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
