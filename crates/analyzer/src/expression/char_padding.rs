//! `CHAR` columns: padded when read, and compared as if both sides were padded.

use super::{fold, literal};
use crate::analyzer::Analyzer;
use crate::resolved::{Resolved, project};
use crate::scope::Scope;
use datafusion::logical_expr::Expr as DfExpr;
use firesteel_error::Result;
use firesteel_functions::TypedExpr;
use firesteel_functions::cast::store::pad_length;
use firesteel_plan::Origin;
use firesteel_types::char_varchar::CHAR_VARCHAR_KEY;
use firesteel_types::{DataType, Literal};

/// The functions that compare `CHAR` columns with other ones and with constants.
const COMPARISONS: [&str; 10] = ["=", "==", "<=>", "<", "<=", ">", ">=", "!=", "<>", "in"];

/// A side of a comparison.
enum Side {
    Column(u32),
    Text(String),
    Null,
}

/// The arguments of a call, those of a comparison of `CHAR` columns padded to one length.
pub(super) fn padded(
    a: &Analyzer<'_>,
    function: &str,
    arguments: Vec<TypedExpr>,
    scope: &Scope,
) -> Result<Vec<TypedExpr>> {
    if !COMPARISONS.contains(&function) || !arguments.iter().any(|t| char_length(t, scope).is_some()) {
        return Ok(arguments);
    }
    let Some(sides) = arguments.iter().map(|t| side(a, t, scope)).collect::<Option<Vec<_>>>() else {
        return Ok(arguments);
    };
    let length = |side: &Side| match side {
        Side::Column(length) => *length as usize,
        Side::Text(text) => text.chars().count(),
        Side::Null => 0,
    };
    let longest = sides.iter().map(length).max().unwrap_or(0);
    let context = a.build_context(&Origin::Unknown);
    let pad = |(argument, side): (TypedExpr, Side)| match side {
        Side::Column(length) if (length as usize) < longest => {
            let wanted = DataType::Char(u32::try_from(longest).unwrap_or(u32::MAX));
            pad_length(argument, &wanted, &context)
        }
        Side::Text(text) => Ok(literal(&Literal::String(format!("{text:longest$}")))?.named(argument.name)),
        _ => Ok(argument),
    };
    arguments.into_iter().zip(sides).map(pad).collect()
}

fn side(a: &Analyzer<'_>, typed: &TypedExpr, scope: &Scope) -> Option<Side> {
    if let Some(length) = char_length(typed, scope) {
        return Some(Side::Column(length));
    }
    if typed.is_null_literal() {
        return Some(Side::Null);
    }
    if typed.data_type != DataType::STRING || !typed.is_foldable() {
        return None;
    }
    match fold(a, typed) {
        Ok(Literal::String(text)) => Some(Side::Text(text)),
        Ok(Literal::Null(_)) => Some(Side::Null),
        _ => None,
    }
}

/// The declared length of a `CHAR` column.
fn char_length(typed: &TypedExpr, scope: &Scope) -> Option<u32> {
    let DfExpr::Column(column) = &typed.expr else { return None };
    let attributes = scope.attributes.iter().chain(&scope.hidden).chain(&scope.below);
    let found =
        attributes.filter(|x| x.metadata.get(CHAR_VARCHAR_KEY).is_some()).find(|x| x.column_name() == column.name)?;
    match found.to_field().raw_type() {
        DataType::Char(length) => Some(length),
        _ => None,
    }
}

/// The relation with its `CHAR` columns padded to their lengths, unless the session reads them as they are.
pub(crate) fn read(a: &Analyzer<'_>, resolved: Resolved) -> Result<Resolved> {
    let is_char = |t: &DataType| t.exists(&|t| matches!(t, DataType::Char(_)));
    let declared: Vec<DataType> = resolved.output.iter().map(|x| x.to_field().raw_type()).collect();
    if !a.env.conf().read_side_char_padding || !declared.iter().any(is_char) {
        return Ok(resolved);
    }
    let context = a.build_context(&Origin::Unknown);
    let mut expressions = Vec::new();
    for (attribute, declared) in resolved.output.iter().zip(&declared) {
        if is_char(declared) {
            let padded = pad_length(attribute.typed(), declared, &context)?;
            expressions.push(padded.expr.alias(attribute.column_name()));
        } else {
            expressions.push(attribute.expr());
        }
    }
    expressions.extend(resolved.hidden.iter().map(crate::attribute::Attribute::expr));
    let plan = project(resolved.plan.clone(), expressions)?;
    Ok(resolved.with_plan(plan))
}
