//! Output columns of a select list.

use crate::attribute::Attribute;
use datafusion::logical_expr::Expr as DfExpr;
use firesteel_error::{Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_plan::{Expr, ExprKind};
use firesteel_types::data_type::Metadata;

/// An analysed expression with the name and identity that its column gets.
#[derive(Debug, Clone)]
pub(crate) struct NamedExpr {
    pub typed: TypedExpr,
    /// The output column. A plain column keeps its id.
    pub attribute: Attribute,
}

impl NamedExpr {
    /// A plain column.
    pub fn column(attribute: &Attribute) -> Self {
        Self { typed: attribute.typed(), attribute: attribute.clone() }
    }

    /// A computed column under a name.
    pub fn computed(typed: TypedExpr, name: impl Into<String>) -> Self {
        let attribute = Attribute::new(name, typed.data_type.clone(), typed.nullable);
        Self { typed, attribute }
    }

    /// The column for DataFusion's projection.
    pub fn expr(&self) -> DfExpr {
        let name = self.attribute.column_name();
        match &self.typed.expr {
            DfExpr::Column(column) if column.name == name => self.typed.expr.clone(),
            expr => expr.clone().alias(name),
        }
    }

    /// True for a column of the input that is passed on.
    pub fn is_column(&self) -> bool {
        matches!(&self.typed.expr, DfExpr::Column(c) if c.name == self.attribute.column_name())
    }
}

/// The named output of an analysed select item.
pub(crate) fn named(expr: &Expr, typed: TypedExpr, inputs: &[Attribute]) -> Result<NamedExpr> {
    if let ExprKind::Alias { names, metadata, .. } = &expr.kind {
        let name = match names.as_slice() {
            [name] => name.clone(),
            _ => {
                return Err(SparkError::new("MULTI_ALIAS_WITHOUT_GENERATOR")
                    .with("expr", format!("\"{}\"", typed.name))
                    .with("names", names.join(", ")));
            }
        };
        let inherited = source(&typed, inputs).map(|a| a.metadata.clone()).unwrap_or_default();
        let mut named = NamedExpr::computed(typed, name);
        named.attribute.metadata = match metadata {
            Some(text) => parse_metadata(text)?,
            None => inherited,
        };
        return Ok(named);
    }
    let name = output_name(expr, &typed);
    // A call that gives a column back is named after the call.
    let is_call = matches!(expr.kind, ExprKind::Function(_));
    if let Some(attribute) = source(&typed, inputs).filter(|a| !is_call || a.name == typed.name) {
        return Ok(respelled(expr, typed, attribute));
    }
    let mut computed = NamedExpr::computed(typed, name);
    if is_named_by_us(expr) {
        computed.attribute.metadata = Metadata::generated_name();
    }
    Ok(computed)
}

/// True where a column has no name but the text of what it computes, which Spark notes in the column's metadata.
fn is_named_by_us(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Function(_)
        | ExprKind::Window { .. }
        | ExprKind::Subquery { .. }
        | ExprKind::PythonFunction(_)
        | ExprKind::UpdateField { .. } => true,
        ExprKind::ExtractValue { .. } => !only_extracts(expr),
        ExprKind::Cast { child, .. } => !matches!(child.kind, ExprKind::Attribute { .. } | ExprKind::Alias { .. }),
        _ => false,
    }
}

/// True for a column, a literal, or a part of one.
fn only_extracts(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Attribute { .. } | ExprKind::Literal(_) => true,
        ExprKind::ExtractValue { child, extraction } => only_extracts(child) && only_extracts(extraction),
        _ => false,
    }
}

/// A plain column, under the name as the query spells it.
fn respelled(expr: &Expr, typed: TypedExpr, attribute: &Attribute) -> NamedExpr {
    match &expr.kind {
        ExprKind::Attribute { name, .. } => match name.last() {
            Some(name) if *name != attribute.name && name.eq_ignore_ascii_case(&attribute.name) => {
                let mut named = NamedExpr::computed(typed, name);
                named.attribute.metadata = attribute.metadata.clone();
                named
            }
            _ => NamedExpr { typed, attribute: attribute.clone() },
        },
        _ => NamedExpr { typed, attribute: attribute.clone() },
    }
}

fn source<'a>(typed: &TypedExpr, inputs: &'a [Attribute]) -> Option<&'a Attribute> {
    match &typed.expr {
        DfExpr::Column(column) => inputs.iter().find(|a| column.name == a.column_name()),
        _ => None,
    }
}

fn parse_metadata(text: &str) -> Result<Metadata> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Object(map)) => Ok(Metadata::new(map)),
        _ => Err(SparkError::new("INVALID_JSON_DATA_TYPE").with("invalidType", text)),
    }
}

/// Whether a name means the call of a function, not a column of that name.
fn is_bare_call(name: &[String], typed: &TypedExpr) -> bool {
    matches!(name, [one] if super::name::bare_function(one).is_some()) && typed.name.ends_with(')')
}

/// The name of a column without an alias: a cast of a column keeps the
/// column's name, a field of a struct has the field's, others their text.
pub(crate) fn output_name(expr: &Expr, typed: &TypedExpr) -> String {
    match &expr.kind {
        ExprKind::Attribute { name, .. } if is_bare_call(name, typed) => typed.name.clone(),
        ExprKind::Attribute { name, .. } | ExprKind::LambdaVariable(name) => {
            name.last().cloned().unwrap_or_else(|| typed.name.clone())
        }
        ExprKind::Cast { child, .. } => match &child.kind {
            ExprKind::Attribute { name, .. } => name.last().cloned().unwrap_or_else(|| typed.name.clone()),
            ExprKind::Alias { names, .. } => names.first().cloned().unwrap_or_else(|| typed.name.clone()),
            _ => typed.name.clone(),
        },
        _ => typed.name.clone(),
    }
}
