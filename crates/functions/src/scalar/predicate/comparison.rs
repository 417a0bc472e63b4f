//! Comparisons.

use super::equality;
use crate::coercion::{self, mismatch};
use crate::function::{Body, Documentation, Function, Group};
use crate::scalar::operator::literal_beside_decimal;
use crate::{ArgType, BuildContext, Param, Signature, TypedExpr};
use datafusion::logical_expr::{Expr, Operator, binary_expr, lit};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

/// A comparison of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    EqualNullSafe,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    const ALL: [(Comparison, &'static str, Operator); 6] = [
        (Comparison::Equal, "=", Operator::Eq),
        (Comparison::EqualNullSafe, "<=>", Operator::IsNotDistinctFrom),
        (Comparison::Less, "<", Operator::Lt),
        (Comparison::LessOrEqual, "<=", Operator::LtEq),
        (Comparison::Greater, ">", Operator::Gt),
        (Comparison::GreaterOrEqual, ">=", Operator::GtEq),
    ];

    /// The operator's sign.
    pub fn sign(self) -> &'static str {
        Self::ALL.iter().find(|(c, ..)| *c == self).map_or("", |(_, sign, _)| sign)
    }

    pub(super) fn parse(sign: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, s, _)| *s == sign).map(|(c, ..)| *c)
    }

    fn operator(self) -> Operator {
        Self::ALL.iter().find(|(c, ..)| *c == self).map_or(Operator::Eq, |(.., operator)| *operator)
    }
}

const PARAMS: &[Param] =
    &[Param { name: "left", arg_type: ArgType::Any }, Param { name: "right", arg_type: ArgType::Any }];

const fn declare(
    name: &'static str,
    text: Option<fn(&[String]) -> String>,
    body: Body,
    documentation: Documentation,
) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Predicate,
        signature: Signature::of(PARAMS),
        body,
        deterministic: true,
        text,
        documentation,
    }
}

const fn doc(
    usage: &'static str,
    since: &'static str,
    examples: &'static [(&'static str, &'static str)],
) -> Documentation {
    Documentation { usage, arguments: &[], examples, note: "", since }
}

macro_rules! infix {
    ($sign:literal) => {
        Some(|arguments: &[String]| format!("({})", arguments.join(concat!(" ", $sign, " "))))
    };
}

macro_rules! comparison {
    ($id:ident, $name:literal, $sign:literal, $comparison:ident, $usage:literal, $since:literal, $examples:expr) => {
        pub(super) static $id: Function = declare(
            $name,
            infix!($sign),
            Body::Named(|context, arguments| two(Comparison::$comparison, context, arguments)),
            doc($usage, $since, $examples),
        );
    };
}

comparison!(EQUAL, "=", "=", Equal, "True if both values are equal.", "1.0.0", &[("SELECT 2 = 2", "true")]);
comparison!(EQUAL_EQUAL, "==", "=", Equal, "True if both values are equal.", "1.0.0", &[("SELECT 2 == 2", "true")]);
comparison!(
    EQUAL_NULL_SAFE,
    "<=>",
    "<=>",
    EqualNullSafe,
    "Like =, but NULL equals NULL and nothing else.",
    "1.1.0",
    &[("SELECT NULL <=> NULL", "true")]
);
comparison!(
    LESS,
    "<",
    "<",
    Less,
    "True if the left value is less than the right one.",
    "1.0.0",
    &[("SELECT 1 < 2", "true")]
);
comparison!(
    LESS_OR_EQUAL,
    "<=",
    "<=",
    LessOrEqual,
    "True if the left value is not greater than the right one.",
    "1.0.0",
    &[("SELECT 2 <= 2", "true")]
);
comparison!(
    GREATER,
    ">",
    ">",
    Greater,
    "True if the left value is greater than the right one.",
    "1.0.0",
    &[("SELECT 2 > 1", "true")]
);
comparison!(
    GREATER_OR_EQUAL,
    ">=",
    ">=",
    GreaterOrEqual,
    "True if the left value is not less than the right one.",
    "1.0.0",
    &[("SELECT 2 >= 1", "true")]
);

fn not_equal_text(arguments: &[String]) -> String {
    format!("(NOT ({}))", arguments.join(" = "))
}

fn not_equal(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let equal = two(Comparison::Equal, context, arguments)?;
    let expr = match equal.expr {
        Expr::BinaryExpr(binary) if binary.op == Operator::Eq => {
            binary_expr(*binary.left, Operator::NotEq, *binary.right)
        }
        other => Expr::Not(Box::new(other)),
    };
    Ok(TypedExpr::new(expr, DataType::Boolean, equal.nullable, ""))
}

pub(super) static NOT_EQUAL: Function = declare(
    "!=",
    Some(not_equal_text),
    Body::Build(not_equal),
    doc("True if the values differ.", "1.0.0", &[("SELECT 1 != 2", "true")]),
);

pub(super) static NOT_EQUAL_SIGNS: Function = declare(
    "<>",
    Some(not_equal_text),
    Body::Build(not_equal),
    doc("True if the values differ.", "1.0.0", &[("SELECT 1 <> 2", "true")]),
);

pub(super) static EQUAL_NULL: Function = declare(
    "equal_null",
    None,
    Body::Build(|context, arguments| two(Comparison::EqualNullSafe, context, arguments)),
    doc("Like =, but NULL equals NULL and nothing else.", "3.4.0", &[("SELECT equal_null(1, 1)", "true")]),
);

fn two(comparison: Comparison, context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let [left, right] = <[TypedExpr; 2]>::try_from(arguments)
        .map_err(|_| SparkError::internal(format!("{} takes two operands", comparison.sign())))?;
    compare(comparison, left, right, context)
}

/// Integers are compared with the whole neighbour of a decimal literal.
fn with_whole_neighbour(comparison: Comparison, left: TypedExpr, right: TypedExpr) -> (TypedExpr, TypedExpr) {
    let neighbour = |decimal: &TypedExpr, up: bool| {
        // A cast is no literal, also where its value is known.
        let is_literal = decimal.name.parse::<f64>().is_ok();
        let Some(ScalarValue::Decimal128(Some(value), _, scale)) = decimal.literal().filter(|_| is_literal) else {
            return None;
        };
        let unit = 10_i128.checked_pow(u32::try_from(*scale).ok()?)?;
        let floor = value.div_euclid(unit);
        let whole = if up && value.rem_euclid(unit) != 0 { floor + 1 } else { floor };
        let whole = i64::try_from(whole).ok()?;
        Some(TypedExpr::new(lit(whole), DataType::Long, false, whole.to_string()))
    };
    // Whether the literal on the right goes up; on the left it is the other way round.
    let up = match comparison {
        Comparison::Greater | Comparison::LessOrEqual => false,
        Comparison::GreaterOrEqual | Comparison::Less => true,
        Comparison::Equal | Comparison::EqualNullSafe => return (left, right),
    };
    if left.data_type.is_integral()
        && let Some(whole) = neighbour(&right, up)
    {
        return (left, whole);
    }
    if right.data_type.is_integral()
        && let Some(whole) = neighbour(&left, !up)
    {
        return (whole, right);
    }
    (left, right)
}

/// Compares two values, cast as Spark casts the sides of a comparison.
pub fn compare(
    comparison: Comparison,
    left: TypedExpr,
    right: TypedExpr,
    context: &mut BuildContext<'_>,
) -> Result<TypedExpr> {
    let sign = comparison.sign();
    let (left, right) = with_whole_neighbour(comparison, left, right);
    let call = format!("({} {sign} {})", left.name, right.name);
    let different = mismatch::binary_different(&call, &left.data_type, &right.data_type);
    let numbers = matches!((&left.data_type, &right.data_type), (DataType::Boolean, t) | (t, DataType::Boolean) if t.is_numeric());
    if numbers && !matches!(comparison, Comparison::Equal | Comparison::EqualNullSafe) {
        return Err(different);
    }
    let (left, right) = literal_beside_decimal(left, right, context)?;
    let sides = if left.data_type.same_structure(&right.data_type) {
        // Names of fields do not count.
        let common = left.data_type.clone();
        Some((left, coercion::implicitly(right, &common, context)?))
    } else {
        coercion::to_comparable(left, right, context)?
    };
    let Some((left, right)) = sides else {
        return Err(different);
    };
    if !left.data_type.is_orderable() {
        return Err(mismatch::no_ordering(&call, sign, &left.data_type));
    }
    let nullable = comparison != Comparison::EqualNullSafe && (left.nullable || right.nullable);
    if left.data_type.is_null() && comparison == Comparison::EqualNullSafe {
        return Ok(TypedExpr::new(datafusion::logical_expr::lit(true), DataType::Boolean, false, call));
    }
    if left.data_type.is_null() {
        let null = datafusion::scalar::ScalarValue::Boolean(None);
        return Ok(TypedExpr::new(Expr::Literal(null, None), DataType::Boolean, true, call));
    }
    let expr = match equality::native_sides(comparison, &left.expr, &right.expr) {
        Some((l, r)) => binary_expr(l, comparison.operator(), r),
        None if equality::needs_kernel(&left.data_type) => {
            equality::call(comparison, &left, &right, nullable, context)?
        }
        None => {
            let (l, r) = (equality::normalized(&left, context)?, equality::normalized(&right, context)?);
            binary_expr(l, comparison.operator(), r)
        }
    };
    Ok(TypedExpr::new(expr, DataType::Boolean, nullable, call))
}
