//! Filters as data sources in Python get them.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, Like, Operator};
use datafusion::scalar::ScalarValue;
use firesteel_error::Result;
use firesteel_types::variant::VariantBuilder;
use firesteel_types::{DataType, Literal, StructType};
use serde_json::{Value, json};

/// A condition on one column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SourceFilter {
    name: &'static str,
    /// The column's name, and those of fields within.
    column: Vec<String>,
    value: Option<FilterValue>,
    is_negated: bool,
}

/// What a column is compared with.
#[derive(Debug, Clone, PartialEq)]
enum FilterValue {
    One(Literal),
    Many(Vec<Literal>),
}

impl SourceFilter {
    /// The filter that an expression is; none where data sources know no such filter.
    pub fn of(expr: &Expr, schema: &StructType) -> Option<Self> {
        match expr {
            Expr::Column(_) => {
                let (column, _) = place(expr, schema)?;
                Self::compared("EqualTo", column, Literal::Boolean(true))
            }
            Expr::Not(inner) => Self::of(inner, schema).and_then(Self::negated),
            Expr::IsNull(inner) => Some(Self::about("IsNull", place(inner, schema)?.0)),
            Expr::IsNotNull(inner) => Some(Self::about("IsNotNull", place(inner, schema)?.0)),
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
                Self::of(left, schema)?.or(Self::of(right, schema)?)
            }
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                let ((column, data_type), op, value) = match (place(left, schema), place(right, schema)) {
                    (Some(place), None) => (place, *op, right),
                    (None, Some(place)) => (place, op.swap()?, left),
                    _ => return None,
                };
                let value = literal(value, &data_type)?;
                if op == Operator::NotEq {
                    return Self::compared("EqualTo", column, value)?.negated();
                }
                Self::compared(comparison(op)?, column, value)
            }
            Expr::InList(InList { expr, list, negated }) => {
                let (column, data_type) = place(expr, schema)?;
                let values = list.iter().map(|e| literal(e, &data_type)).collect::<Option<Vec<_>>>()?;
                let filter = Self { value: Some(FilterValue::Many(values)), ..Self::about("In", column) };
                if *negated { filter.negated() } else { Some(filter) }
            }
            Expr::Like(Like { negated, expr, pattern, escape_char: None, case_insensitive: false }) => {
                let (column, data_type) = place(expr, schema)?;
                let Literal::String(pattern) = literal(pattern, &data_type)? else { return None };
                let (name, text) = of_pattern(&pattern)?;
                let filter = Self::compared(name, column, Literal::String(text.to_string()))?;
                if *negated { filter.negated() } else { Some(filter) }
            }
            Expr::ScalarFunction(function) => {
                let name = match function.func.name() {
                    "startswith" => "StringStartsWith",
                    "endswith" => "StringEndsWith",
                    "contains" => "StringContains",
                    _ => return None,
                };
                let [text, part] = function.args.as_slice() else { return None };
                let (column, data_type) = place(text, schema)?;
                let value @ Literal::String(_) = literal(part, &data_type)? else { return None };
                Self::compared(name, column, value)
            }
            _ => None,
        }
    }

    fn about(name: &'static str, column: Vec<String>) -> Self {
        Self { name, column, value: None, is_negated: false }
    }

    fn compared(name: &'static str, column: Vec<String>, value: Literal) -> Option<Self> {
        Some(Self { value: Some(FilterValue::One(value)), ..Self::about(name, column) })
    }

    /// The opposite.
    fn negated(self) -> Option<Self> {
        let name = match self.name {
            "GreaterThan" => "LessThanOrEqual",
            "GreaterThanOrEqual" => "LessThan",
            "LessThan" => "GreaterThanOrEqual",
            "LessThanOrEqual" => "GreaterThan",
            "IsNull" => "IsNotNull",
            "IsNotNull" => "IsNull",
            name => return Some(Self { name, is_negated: !self.is_negated, ..self }),
        };
        Some(Self { name, ..self })
    }

    /// One of several values of a column, of which each is tested for by a filter of its own.
    fn or(self, other: Self) -> Option<Self> {
        let values = |filter: Self| match (filter.name, filter.value, filter.is_negated) {
            ("EqualTo", Some(FilterValue::One(value)), false) => Some(vec![value]),
            ("In", Some(FilterValue::Many(values)), false) => Some(values),
            _ => None,
        };
        if self.column != other.column {
            return None;
        }
        let column = self.column.clone();
        let mut all = values(self)?;
        all.extend(values(other)?);
        Some(Self { value: Some(FilterValue::Many(all)), ..Self::about("In", column) })
    }

    /// Whether rows with a null in the column are refused, so that they may be left out beforehand.
    fn refuses_null(&self) -> bool {
        !matches!(self.name, "IsNull" | "IsNotNull" | "EqualNullSafe" | "In")
    }

    fn json(&self) -> Result<Value> {
        let mut object = json!({ "name": self.name, "columnPath": self.column, "isNegated": self.is_negated });
        if let Some(value) = &self.value {
            let mut builder = VariantBuilder::new(false);
            value.append(&mut builder);
            let (value, metadata) = builder.take()?;
            object["value"] =
                json!({ "value": BASE64_STANDARD.encode(value), "metadata": BASE64_STANDARD.encode(metadata) });
        }
        Ok(object)
    }
}

impl FilterValue {
    fn append(&self, builder: &mut VariantBuilder) {
        match self {
            Self::One(value) => append(builder, value),
            Self::Many(values) => {
                let start = builder.position();
                let mut offsets = Vec::with_capacity(values.len());
                for value in values {
                    offsets.push(builder.position() - start);
                    append(builder, value);
                }
                builder.finish_array(start, &offsets);
            }
        }
    }
}

/// The filters as JSON, behind those that only leave nulls out, whose columns come along.
pub(super) fn json(filters: &[SourceFilter]) -> Result<(String, Vec<Vec<String>>)> {
    let mut not_null: Vec<SourceFilter> = Vec::new();
    for filter in filters.iter().filter(|filter| filter.refuses_null()) {
        let added = SourceFilter::about("IsNotNull", filter.column.clone());
        if !not_null.contains(&added) && !filters.contains(&added) {
            not_null.push(added);
        }
    }
    let all = not_null.iter().chain(filters).map(SourceFilter::json).collect::<Result<Vec<_>>>()?;
    Ok((Value::Array(all).to_string(), not_null.into_iter().map(|filter| filter.column).collect()))
}

fn comparison(operator: Operator) -> Option<&'static str> {
    Some(match operator {
        Operator::Eq => "EqualTo",
        Operator::IsNotDistinctFrom => "EqualNullSafe",
        Operator::Gt => "GreaterThan",
        Operator::GtEq => "GreaterThanOrEqual",
        Operator::Lt => "LessThan",
        Operator::LtEq => "LessThanOrEqual",
        _ => return None,
    })
}

/// The column, or the field within one, that an expression is, and its type.
fn place(expr: &Expr, schema: &StructType) -> Option<(Vec<String>, DataType)> {
    match expr {
        Expr::Column(column) => {
            let field = schema.fields.iter().find(|field| field.name == column.name)?;
            Some((vec![field.name.clone()], field.data_type.clone()))
        }
        Expr::ScalarFunction(function) if function.func.name() == "get_struct_field" => {
            let [parent, Expr::Literal(ScalarValue::Int32(Some(position)), _)] = function.args.as_slice() else {
                return None;
            };
            let (mut path, DataType::Struct(parent)) = place(parent, schema)? else { return None };
            let field = parent.fields.get(usize::try_from(*position).ok()?)?;
            path.push(field.name.clone());
            Some((path, field.data_type.clone()))
        }
        _ => None,
    }
}

/// A constant of a type.
fn literal(expr: &Expr, data_type: &DataType) -> Option<Literal> {
    let Expr::Literal(value, _) = expr else { return None };
    if matches!(data_type, DataType::Array { .. } | DataType::Map { .. } | DataType::Struct(_)) {
        return None;
    }
    let literal = Literal::from_array(&value.to_array().ok()?, 0, data_type).ok()?;
    is_known(&literal).then_some(literal)
}

/// Values that a variant can hold.
fn is_known(literal: &Literal) -> bool {
    use Literal as L;
    matches!(
        literal,
        L::Null(_)
            | L::Boolean(_)
            | L::Byte(_)
            | L::Short(_)
            | L::Integer(_)
            | L::Long(_)
            | L::Float(_)
            | L::Double(_)
            | L::Decimal(..)
            | L::String(_)
            | L::Binary(_)
            | L::Date(_)
            | L::Timestamp(_)
            | L::TimestampNtz(_)
    )
}

fn append(builder: &mut VariantBuilder, literal: &Literal) {
    match literal {
        Literal::Boolean(value) => builder.append_boolean(*value),
        Literal::Byte(value) => builder.append_integer(i64::from(*value)),
        Literal::Short(value) => builder.append_integer(i64::from(*value)),
        Literal::Integer(value) => builder.append_integer(i64::from(*value)),
        Literal::Long(value) => builder.append_integer(*value),
        Literal::Float(value) => builder.append_float(*value),
        Literal::Double(value) => builder.append_double(*value),
        Literal::Decimal(value, _, scale) => builder.append_decimal(*value, *scale),
        Literal::String(value) => builder.append_text(value),
        Literal::Binary(value) => builder.append_binary(value),
        Literal::Date(value) => builder.append_date(*value),
        Literal::Timestamp(value) => builder.append_timestamp(*value),
        Literal::TimestampNtz(value) => builder.append_timestamp_ntz(*value),
        _ => builder.append_null(),
    }
}

/// The test for a part of a text that a pattern is.
fn of_pattern(pattern: &str) -> Option<(&'static str, &str)> {
    let (name, text) = match (pattern.strip_prefix('%'), pattern.strip_suffix('%')) {
        (Some(_), Some(_)) if pattern.len() > 1 => ("StringContains", &pattern[1..pattern.len() - 1]),
        (None, Some(text)) => ("StringStartsWith", text),
        (Some(text), None) => ("StringEndsWith", text),
        _ => return None,
    };
    (!text.is_empty() && !text.contains(['%', '_', '\\'])).then_some((name, text))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use datafusion::logical_expr::{col, lit};
    use firesteel_types::StructField;

    fn names(expr: &Expr) -> Option<String> {
        let fields =
            vec![StructField::new("x", DataType::Integer, true), StructField::new("y", DataType::STRING, true)];
        let filter = SourceFilter::of(expr, &StructType::new(fields))?;
        let sign = if filter.is_negated { "!" } else { "" };
        Some(format!("{sign}{}({})", filter.name, filter.column.join(".")))
    }

    #[test]
    fn conditions_on_one_column_are_filters() {
        let named = |expr: Expr| names(&expr).unwrap_or_default();
        assert_eq!(named(col("x").eq(lit(1))), "EqualTo(x)");
        assert_eq!(named(lit(1).lt(col("x"))), "GreaterThan(x)");
        assert_eq!(named(col("x").not_eq(lit(1))), "!EqualTo(x)");
        assert_eq!(named(col("x").eq(lit(1)).or(col("x").eq(lit(2)))), "In(x)");
        assert_eq!(named(col("y").like(lit("a%"))), "StringStartsWith(y)");
        assert_eq!(named(col("x").eq(col("y"))), "");
        assert_eq!(named((col("x") + lit(1)).eq(lit(1))), "");
    }

    #[test]
    fn nulls_are_left_out_beforehand() {
        let fields = vec![StructField::new("x", DataType::Integer, true)];
        let filter = SourceFilter::of(&col("x").eq(lit(1)), &StructType::new(fields)).unwrap();
        let (text, added) = json(&[filter]).unwrap();
        assert_eq!(added, [["x"]]);
        // The variant of 1, and metadata without names.
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap(),
            json!([
                { "name": "IsNotNull", "columnPath": ["x"], "isNegated": false },
                { "name": "EqualTo", "columnPath": ["x"], "isNegated": false,
                  "value": { "value": "DAE=", "metadata": "AQAA" } },
            ])
        );
    }
}
