//! GROUP BY: its keys, by expression, position and name.

use super::aggregate::{self, Groups};
use crate::analyzer::{AliasScope, Analyzer, at};
use crate::expression::{self, NamedExpr};
use crate::scope::Scope;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::Expr as DfExpr;
use firesteel_error::{Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_plan::{Expr, ExprKind, Grouping};
use firesteel_types::{DataType, Literal};

/// The select list that is grouped.
pub(super) struct GroupedBlock<'b> {
    /// Its items as written.
    pub items: &'b [Expr],
    /// SQL's list is the output; the DataFrame API's follows the keys.
    pub is_sql: bool,
    /// Positions are those of the input's columns (`|> AGGREGATE`).
    pub by_input: bool,
}

/// Group keys; in the DataFrame API they come first among the outputs.
pub(super) fn analyse(
    a: &mut Analyzer<'_>,
    grouping: &Grouping,
    outputs: &mut Vec<NamedExpr>,
    block: &GroupedBlock<'_>,
    scope: &Scope,
) -> Result<Groups> {
    let mut keys = KeyList {
        keys: Vec::new(),
        listed: Vec::new(),
        by_input: block.by_input,
        has_star: block.items.iter().any(|e| matches!(e.kind, ExprKind::Star { .. })),
    };
    let select: Vec<NamedExpr> = if block.is_sql { outputs.clone() } else { Vec::new() };
    let sets = {
        let mut key = KeyAdder { keys: &mut keys, analyzer: a, select: &select, scope };
        match grouping {
            Grouping::By(list) => {
                for expr in list {
                    if block.is_sql {
                        super::unary::refuse_star(expr, "Aggregate")?;
                    }
                    if let Some(columns) = expression::expand(key.analyzer, expr, scope)? {
                        for (name, typed) in columns {
                            key.push(typed, Expr::column(name));
                        }
                        continue;
                    }
                    key.call(expr)?;
                }
                None
            }
            Grouping::Rollup(list) => {
                let items = list.iter().map(|e| Ok(vec![key.call(e)?])).collect::<Result<Vec<_>>>()?;
                Some(aggregate::rollup(&items))
            }
            Grouping::Cube(list) => {
                let items = list.iter().map(|e| Ok(vec![key.call(e)?])).collect::<Result<Vec<_>>>()?;
                Some(aggregate::cube(&items)?)
            }
            Grouping::Sets { sets, columns } => {
                for column in columns {
                    key.call(column)?;
                }
                let listed = key.keys.listed.len();
                let sets = sets
                    .iter()
                    .map(|set| set.iter().map(|e| key.call(e)).collect::<Result<Vec<_>>>())
                    .collect::<Result<Vec<_>>>()?;
                // The sets choose among the columns; they are no output of their own.
                key.keys.listed.truncate(listed);
                Some(sets)
            }
            Grouping::Elements(elements) => Some(aggregate::sets_of(elements, &mut |e| key.call(e))?),
            Grouping::All if matches!(scope.find(&["all".to_string()]), Ok(Some(_))) => {
                key.call(&Expr::column("all"))?;
                None
            }
            Grouping::All => {
                for output in &select {
                    let has_aggregate =
                        output.typed.expr.exists(|e| Ok(matches!(e, DfExpr::AggregateFunction(_)))).unwrap_or(false);
                    if !has_aggregate && !output.typed.is_foldable() {
                        key.push(output.typed.clone(), Expr::column(output.attribute.name.clone()));
                    }
                }
                None
            }
            Grouping::Pivot { .. } => return Err(SparkError::internal("pivot is analysed before")),
        }
    };
    let is_body = a.function.is_some();
    for (index, typed) in keys.keys.iter().enumerate() {
        let is_aggregate = typed.expr.exists(|e| Ok(matches!(e, DfExpr::AggregateFunction(_)))).unwrap_or(false);
        if is_aggregate {
            let error = SparkError::new("GROUP_BY_AGGREGATE").with("sqlExpr", typed.name.clone());
            let source = keys.listed.iter().find(|(position, _)| *position == index).map(|(_, source)| &source.origin);
            return Err(source.map_or(error.clone(), |origin| at(error, origin)));
        }
        if expression::contains_window(&typed.expr) {
            return Err(expression::not_in_operator(typed));
        }
        if !is_body {
            no_outer_columns(typed)?;
        }
        check_groupable(typed)?;
    }
    if !block.is_sql {
        let mut first = Vec::new();
        for (position, source) in &keys.listed {
            first.push(expression::named(source, keys.keys[*position].clone(), &scope.attributes)?);
        }
        first.append(outputs);
        *outputs = first;
    }
    Ok(Groups { keys: keys.keys, sets })
}

fn check_groupable(typed: &TypedExpr) -> Result<()> {
    fn groupable(t: &DataType) -> bool {
        match t {
            DataType::Variant => false,
            DataType::Array { element, .. } => groupable(element),
            DataType::Struct(s) => s.fields.iter().all(|f| groupable(&f.data_type)),
            _ => true,
        }
    }
    if groupable(&typed.data_type) {
        return Ok(());
    }
    Err(SparkError::new("GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE")
        .with("sqlExpr", format!("\"{}\"", typed.name))
        .with("dataType", format!("\"{}\"", typed.data_type.sql())))
}

/// Adds group keys to a list.
struct KeyAdder<'k, 'a> {
    keys: &'k mut KeyList,
    analyzer: &'k mut Analyzer<'a>,
    select: &'k [NamedExpr],
    scope: &'k Scope,
}

impl KeyAdder<'_, '_> {
    fn call(&mut self, expr: &Expr) -> Result<usize> {
        self.keys.add(self.analyzer, expr, self.select, self.scope).map_err(|error| at(error, &expr.origin))
    }

    fn push(&mut self, typed: TypedExpr, source: Expr) {
        self.keys.push(typed, source);
    }
}

/// Group keys so far, each once.
struct KeyList {
    keys: Vec<TypedExpr>,
    /// The keys as the query lists them, be it several times, and what they were written as.
    listed: Vec<(usize, Expr)>,
    /// Positions are those of the input's columns (`|> AGGREGATE`).
    by_input: bool,
    /// Positions mean nothing where the select list has a star.
    has_star: bool,
}

impl KeyList {
    fn add(&mut self, a: &mut Analyzer<'_>, expr: &Expr, select: &[NamedExpr], scope: &Scope) -> Result<usize> {
        let conf = a.env.conf();
        let (by_ordinal, by_alias) = (conf.group_by_ordinal, conf.group_by_aliases);
        if self.by_input
            && by_ordinal
            && let Some(i) = position(expr, scope.attributes.len(), "GROUP_BY_POS_OUT_OF_RANGE")?
        {
            let column = &scope.attributes[i];
            return Ok(self.push(column.typed(), Expr::column(column.name.clone())));
        }
        if by_ordinal && self.has_star && matches!(expr.kind, ExprKind::Literal(Literal::Integer(_))) {
            return Err(SparkError::new("STAR_GROUP_BY_POS"));
        }
        if by_ordinal
            && !select.is_empty()
            && let Some(i) = position(expr, select.len(), "GROUP_BY_POS_OUT_OF_RANGE")?
        {
            let output = &select[i];
            let is_aggregate =
                output.typed.expr.exists(|e| Ok(matches!(e, DfExpr::AggregateFunction(_)))).unwrap_or(false);
            if is_aggregate {
                return Err(SparkError::new("GROUP_BY_POS_AGGREGATE")
                    .with("index", (i + 1).to_string())
                    .with("aggExpr", output.typed.name.clone()));
            }
            return Ok(self.push(output.typed.clone(), expr.clone()));
        }
        // The input's columns first, then outputs of the select list: the first of a name.
        let mut names: Vec<(String, TypedExpr)> = Vec::new();
        if by_alias {
            for output in select {
                if !names.iter().any(|(n, _)| scope.same_name(n, &output.attribute.name)) {
                    names.push((output.attribute.name.clone(), output.typed.clone()));
                }
            }
        }
        let aliases = std::mem::replace(&mut a.aliases, vec![AliasScope::Lateral(names)]);
        let analysed = a.expression(expr, scope);
        a.aliases = aliases;
        let typed = analysed?;
        Ok(self.push(typed, expr.clone()))
    }

    fn push(&mut self, typed: TypedExpr, source: Expr) -> usize {
        let position = match self.keys.iter().position(|k| aggregate::same_value(&k.expr, &typed.expr)) {
            Some(position) => position,
            None => {
                self.keys.push(typed);
                self.keys.len() - 1
            }
        };
        self.listed.push((position, source));
        position
    }
}

/// An integer literal as a position among so many.
pub(super) fn position(expr: &Expr, width: usize, condition: &'static str) -> Result<Option<usize>> {
    let ExprKind::Literal(Literal::Integer(n)) = expr.kind else { return Ok(None) };
    match usize::try_from(n) {
        Ok(i) if i >= 1 && i <= width => Ok(Some(i - 1)),
        _ => Err(SparkError::new(condition).with("index", n.to_string()).with("size", width.to_string())),
    }
}

/// Aggregations do not see the columns of the query around theirs.
pub(super) fn no_outer_columns(typed: &TypedExpr) -> Result<()> {
    if typed.expr.exists(|e| Ok(matches!(e, DfExpr::OuterReferenceColumn(..)))).unwrap_or(false) {
        return Err(SparkError::new("UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.CORRELATED_REFERENCE")
            .with("sqlExprs", format!("\"{}\"", typed.name)));
    }
    Ok(())
}
