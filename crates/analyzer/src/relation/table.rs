//! Tables and views by name, and SQL text.

use super::{leaf, parser_options, substituted};
use crate::analyzer::{Analyzer, Cte};
use crate::environment::TableLookup;
use crate::expression::{self, NamedExpr};
use crate::resolved::{Resolved, project};
use firesteel_config::CtePrecedence;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Expr, Statement, TableName, TableReference};
use firesteel_sql::ParameterValues;

/// Views may use views, this deep (`spark.sql.view.maxNestedViewDepth`).
const MAX_VIEW_DEPTH: usize = 100;

/// A table, view or CTE by name.
pub(crate) fn table(a: &mut Analyzer<'_>, table: &TableReference) -> Result<Resolved> {
    let name = match &table.name {
        TableName::Parts(parts, _) => parts.clone(),
        TableName::Identifier(expr) => expression::identifier(a, expr)?,
    };
    if let [one] = name.as_slice() {
        if let Some(found) = cte(a, one)? {
            if table.time_travel.is_some() {
                return Err(
                    SparkError::new("UNSUPPORTED_FEATURE.TIME_TRAVEL").with("relationId", crate::attribute::quote(one))
                );
            }
            return Ok(found);
        }
        let reference = a.references.iter().rev().find(|(n, _)| n.eq_ignore_ascii_case(one)).cloned();
        if let Some((alias, relation)) = reference {
            let resolved = a.relation(&relation)?;
            return Ok(qualified(resolved, &[alias]));
        }
    }
    let found = match table.is_streaming {
        true => a.env.streaming_table(&name, &table.options)?,
        false => a.env.table(&name, &table.options, table.time_travel.as_ref())?,
    };
    match found {
        TableLookup::Scan { scan, qualifier } => expression::read_padded(a, leaf::files(a, &scan, &qualifier)?),
        TableLookup::Analysed { resolved, qualifier } => Ok(qualified(resolved.renewed()?, &qualifier)),
        TableLookup::Text { view, qualifier } => {
            if a.views >= MAX_VIEW_DEPTH {
                return Err(SparkError::new("VIEW_EXCEED_MAX_NESTED_DEPTH")
                    .with("viewName", crate::attribute::quote_parts(&name))
                    .with("maxNestedDepth", MAX_VIEW_DEPTH.to_string()));
            }
            // A view sees no CTEs, outer queries or aliases of where it is used.
            let mut inner = Analyzer::new(a.env);
            inner.views = a.views + 1;
            let resolved = inner.relation(&view.relation)?;
            let resolved = view_columns(a, resolved, &view.schema, &name)?;
            Ok(qualified(resolved, &qualifier))
        }
    }
}

/// A view's query, its columns named and cast as the view declares them.
fn view_columns(
    a: &mut Analyzer<'_>,
    resolved: Resolved,
    schema: &firesteel_types::StructType,
    name: &[String],
) -> Result<Resolved> {
    if schema.fields.is_empty() {
        return resolved.renewed();
    }
    if resolved.output.len() < schema.fields.len() {
        return Err(SparkError::new("INCOMPATIBLE_VIEW_SCHEMA_CHANGE")
            .with("viewName", crate::attribute::quote_parts(name))
            .with("colName", crate::attribute::quote(&schema.fields[resolved.output.len()].name))
            .with("expectedNum", "1")
            .with("actualCols", "[]")
            .with("suggestion", "CREATE OR REPLACE the view"));
    }
    let mut outputs = Vec::new();
    for (attribute, field) in resolved.output.iter().zip(&schema.fields) {
        let typed = expression::implicit_cast(a, attribute.typed(), &field.data_type)?;
        let mut named = NamedExpr::computed(typed, &field.name);
        named.attribute.metadata = field.metadata.clone();
        outputs.push(named);
    }
    let plan = project(resolved.plan.clone(), outputs.iter().map(NamedExpr::expr).collect())?;
    Ok(Resolved::leaf(plan, outputs.into_iter().map(|o| o.attribute).collect()))
}

/// The relation under a name.
pub(crate) fn qualified(mut resolved: Resolved, qualifier: &[String]) -> Resolved {
    resolved.output = resolved.output.into_iter().map(|c| c.with_qualifier(qualifier)).collect();
    resolved.hidden = Vec::new();
    resolved.below = None;
    resolved
}

fn cte(a: &mut Analyzer<'_>, name: &str) -> Result<Option<Resolved>> {
    let legacy = a.env.conf().cte_precedence == CtePrecedence::Legacy;
    let case_sensitive = a.case_sensitive();
    let is_same = |other: &str| if case_sensitive { other == name } else { other.eq_ignore_ascii_case(name) };
    for level in 0..a.ctes.len() {
        // The innermost definition counts; by the legacy rule the outermost.
        let level = if legacy { level } else { a.ctes.len() - 1 - level };
        let found = a.ctes[level].iter().find(|(n, _)| is_same(n)).map(|(n, c)| (n.clone(), c.clone()));
        let Some((name, cte)) = found else { continue };
        return match cte {
            Cte::Anchor => Err(SparkError::new("INVALID_RECURSIVE_CTE")),
            Cte::Recursive { definition, depth } => {
                let resolved = super::with::recursive_at(a, &definition, depth)?;
                Ok(Some(qualified(resolved, &[name])))
            }
            Cte::Working(resolved) => {
                a.self_references += 1;
                // Each reference has columns of its own.
                Ok(Some(qualified(resolved.as_ref().clone().renewed()?, &[name])))
            }
            Cte::Defined { query, columns, depth } => {
                // The definition sees the CTEs before it.
                let later = a.ctes.split_off(depth);
                a.begins_query = true;
                let resolved = a.relation(&query);
                a.ctes.extend(later);
                let resolved = super::unary::rename_columns(resolved?, &columns, &name)?;
                Ok(Some(qualified(resolved, &[name])))
            }
        };
    }
    Ok(None)
}

/// SQL text as a relation.
pub(crate) fn sql(a: &mut Analyzer<'_>, text: &str, named: &[(String, Expr)], positions: &[Expr]) -> Result<Resolved> {
    let values = ParameterValues { named: named.iter().cloned().collect(), positions: positions.to_vec() };
    let options = parser_options(a).with_parameters(values);
    match firesteel_sql::parse_script_or_statement(&substituted(a, text)?, &options)? {
        Statement::Query(query) => a.relation(&query),
        other => a.env.statement(&other).and_then(|rows| leaf::rows(&rows)),
    }
}
