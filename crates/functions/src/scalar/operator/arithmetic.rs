//! `+ - * / % div` and their functions: coercion and what they become.

use super::evaluation::{self, Evaluation};
use super::{datetime, decimal, floating, integer, interval};
use crate::cast;
use crate::coercion::{self, mismatch, promote_string_ansi, tightest_common_type};
use crate::function::{Body, Documentation, Function, Group};
use crate::{ArgType, BuildContext, Param, Signature, TypedExpr};
use datafusion::logical_expr::{Expr, Operator, binary_expr};
use firesteel_error::Result;
use firesteel_types::DataType;

/// A binary arithmetic operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Pmod,
    IntegralDivide,
}

impl Operation {
    const ALL: [(Operation, &'static str); 7] = [
        (Operation::Add, "+"),
        (Operation::Subtract, "-"),
        (Operation::Multiply, "*"),
        (Operation::Divide, "/"),
        (Operation::Remainder, "%"),
        (Operation::Pmod, "pmod"),
        (Operation::IntegralDivide, "div"),
    ];

    /// The operator's sign.
    pub fn sign(self) -> &'static str {
        Self::ALL.iter().find(|(o, _)| *o == self).map_or("", |(_, sign)| sign)
    }

    pub(super) fn parse(sign: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, s)| *s == sign).map(|(o, _)| *o)
    }

    /// The function that gives null where this one overflows.
    pub(super) fn try_function(self) -> Option<&'static str> {
        match self {
            Operation::Add => Some("try_add"),
            Operation::Subtract => Some("try_subtract"),
            Operation::Multiply => Some("try_multiply"),
            Operation::Divide | Operation::IntegralDivide => Some("try_divide"),
            Operation::Remainder | Operation::Pmod => None,
        }
    }

    /// True where a zero on the right side has no result.
    pub(super) fn divides(self) -> bool {
        !matches!(self, Operation::Add | Operation::Subtract | Operation::Multiply)
    }

    /// What the operands may be, as messages show it.
    fn wanted(self) -> &'static str {
        match self {
            Operation::Add | Operation::Subtract => {
                r#"("NUMERIC" or "INTERVAL DAY TO SECOND" or "INTERVAL YEAR TO MONTH" or "INTERVAL")"#
            }
            Operation::Divide => r#"("DOUBLE" or "DECIMAL")"#,
            Operation::IntegralDivide => {
                r#"("BIGINT" or "DECIMAL" or "INTERVAL YEAR TO MONTH" or "INTERVAL DAY TO SECOND")"#
            }
            _ => r#""NUMERIC""#,
        }
    }

    fn takes(self, data_type: &DataType) -> bool {
        match self {
            Operation::Add | Operation::Subtract => {
                data_type.is_numeric() || data_type.is_ansi_interval() || *data_type == DataType::CalendarInterval
            }
            Operation::Divide => matches!(data_type, DataType::Double | DataType::Decimal(..)),
            Operation::IntegralDivide => {
                matches!(data_type, DataType::Long | DataType::Decimal(..)) || data_type.is_ansi_interval()
            }
            _ => data_type.is_numeric(),
        }
    }
}

const PARAMS: &[Param] =
    &[Param { name: "left", arg_type: ArgType::Any }, Param { name: "right", arg_type: ArgType::Any }];

type Build = fn(&mut BuildContext<'_>, Vec<TypedExpr>) -> Result<TypedExpr>;

const fn operator(
    name: &'static str,
    optional: usize,
    group: Group,
    text: Option<fn(&[String]) -> String>,
    build: Build,
    documentation: Documentation,
) -> Function {
    Function {
        name,
        aliases: &[],
        group,
        signature: Signature::with_optional(PARAMS, optional),
        body: Body::Build(build),
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

/// `(a + b)`; a sign before a single operand.
macro_rules! infix {
    ($sign:literal) => {
        Some(|arguments: &[String]| match arguments {
            [operand] => format!(concat!("(", $sign, " {})"), operand),
            _ => format!("({})", arguments.join(concat!(" ", $sign, " "))),
        })
    };
}

/// Declares an operator of two operands.
macro_rules! declare {
    ($id:ident, $name:literal, $text:expr, $group:ident, $operation:ident, $evaluation:expr, $since:literal, $usage:literal, $examples:expr) => {
        pub(super) static $id: Function = operator(
            $name,
            0,
            Group::$group,
            $text,
            |context, arguments| {
                let evaluation: fn(&BuildContext<'_>) -> Evaluation = $evaluation;
                let evaluation = evaluation(context);
                run($name, $text, Operation::$operation, evaluation, context, arguments)
            },
            doc($usage, $since, $examples),
        );
    };
}

const PLAIN: Option<fn(&[String]) -> String> = None;

pub(super) static ADD: Function = operator(
    "+",
    1,
    Group::Operator,
    infix!("+"),
    |context, arguments| match <[TypedExpr; 1]>::try_from(arguments) {
        Ok([operand]) => super::sign::positive(operand, context),
        Err(arguments) => {
            let evaluation = Evaluation::of_session(context);
            run("+", infix!("+"), Operation::Add, evaluation, context, arguments)
        }
    },
    doc("Adds two numbers or intervals, or moves a date or timestamp.", "1.0.0", &[("SELECT 1 + 2", "3")]),
);

pub(super) static SUBTRACT: Function = operator(
    "-",
    1,
    Group::Operator,
    infix!("-"),
    |context, arguments| match <[TypedExpr; 1]>::try_from(arguments) {
        Ok([operand]) => super::sign::negative(operand, context),
        Err(arguments) => {
            let evaluation = Evaluation::of_session(context);
            run("-", infix!("-"), Operation::Subtract, evaluation, context, arguments)
        }
    },
    doc("Takes the second operand from the first.", "1.0.0", &[("SELECT 2 - 1", "1")]),
);

declare!(
    MULTIPLY,
    "*",
    infix!("*"),
    Operator,
    Multiply,
    |c| Evaluation::of_session(c),
    "1.0.0",
    "Multiplies two numbers, or an interval by a number.",
    &[("SELECT 2 * 3", "6")]
);
declare!(
    DIVIDE,
    "/",
    infix!("/"),
    Operator,
    Divide,
    |c| Evaluation::of_session(c),
    "1.0.0",
    "Divides; the result of integers is a DOUBLE.",
    &[("SELECT 3 / 2", "1.5")]
);
declare!(
    REMAINDER,
    "%",
    infix!("%"),
    Operator,
    Remainder,
    |c| Evaluation::of_session(c),
    "1.0.0",
    "The rest of a division, with the sign of the dividend.",
    &[("SELECT -7 % 3", "-1")]
);
declare!(
    INTEGRAL_DIVIDE,
    "div",
    infix!("div"),
    Operator,
    IntegralDivide,
    |c| Evaluation::of_session(c),
    "3.0.0",
    "The whole part of a quotient, as a BIGINT.",
    &[("SELECT 7 div 2", "3")]
);
declare!(
    MOD,
    "mod",
    PLAIN,
    Math,
    Remainder,
    |c| Evaluation::of_session(c),
    "2.3.0",
    "The rest of a division, with the sign of the dividend.",
    &[("SELECT mod(7, 3)", "1")]
);
declare!(
    PMOD,
    "pmod",
    PLAIN,
    Math,
    Pmod,
    |c| Evaluation::of_session(c),
    "1.5.0",
    "The rest of a division, not negative for a positive divisor.",
    &[("SELECT pmod(-7, 3)", "2")]
);
declare!(
    TRY_ADD,
    "try_add",
    PLAIN,
    Math,
    Add,
    |_| Evaluation::Try,
    "3.2.0",
    "The sum, or NULL when it overflows.",
    &[("SELECT try_add(2147483647, 1)", "NULL")]
);
declare!(
    TRY_SUBTRACT,
    "try_subtract",
    PLAIN,
    Math,
    Subtract,
    |_| Evaluation::Try,
    "3.3.0",
    "The difference, or NULL when it overflows.",
    &[("SELECT try_subtract(-2147483648, 1)", "NULL")]
);
declare!(
    TRY_MULTIPLY,
    "try_multiply",
    PLAIN,
    Math,
    Multiply,
    |_| Evaluation::Try,
    "3.3.0",
    "The product, or NULL when it overflows.",
    &[("SELECT try_multiply(2147483647, 2)", "NULL")]
);
declare!(
    TRY_DIVIDE,
    "try_divide",
    PLAIN,
    Math,
    Divide,
    |_| Evaluation::Try,
    "3.2.0",
    "The quotient, or NULL for a division by zero.",
    &[("SELECT try_divide(1, 0)", "NULL")]
);
declare!(
    TRY_MOD,
    "try_mod",
    PLAIN,
    Math,
    Remainder,
    |_| Evaluation::Try,
    "4.0.0",
    "The rest of a division, or NULL for a division by zero.",
    &[("SELECT try_mod(1, 0)", "NULL")]
);

fn run(
    name: &str,
    text: Option<fn(&[String]) -> String>,
    operation: Operation,
    evaluation: Evaluation,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let call = match text {
        Some(text) => text(&names),
        // Errors of `try_add` and its like speak of the operator.
        None if evaluation == Evaluation::Try => format!("({})", names.join(&format!(" {} ", operation.sign()))),
        None => format!("{name}({})", names.join(", ")),
    };
    let [left, right] = <[TypedExpr; 2]>::try_from(arguments)
        .map_err(|_| firesteel_error::SparkError::internal(format!("{name} takes two operands")))?;
    arithmetic(operation, evaluation, left, right, &call, context)
}

/// Builds an operation over two operands of any types.
pub fn arithmetic(
    operation: Operation,
    evaluation: Evaluation,
    left: TypedExpr,
    right: TypedExpr,
    call: &str,
    context: &mut BuildContext<'_>,
) -> Result<TypedExpr> {
    if let Some(moved) = datetime::resolve(operation, evaluation, &left, &right, call, context)? {
        return Ok(moved);
    }
    let (left, right) = coerce(operation, evaluation, left, right, call, context)?;
    let made = match (&left.data_type, &right.data_type) {
        (DataType::Decimal(p, s), DataType::Decimal(q, t)) => {
            decimals(operation, evaluation, &left, (*p, *s), &right, (*q, *t), context)?
        }
        (l, r) if !l.same_type(r) => return Err(mismatch::binary_different(call, l, r)),
        (l, _) if !operation.takes(l) => return Err(mismatch::binary_wrong(call, operation.wanted(), l)),
        (l, _) if l.is_integral() => integers(operation, evaluation, &left, &right, context)?,
        (DataType::Float | DataType::Double, _) => floats(operation, evaluation, &left, &right, context)?,
        _ => interval::combine(operation, evaluation, &left, &right, context)?,
    };
    Ok(made.named(call))
}

/// A cast that Spark inserts: in `try_…` functions one that gives null for what it cannot cast.
pub(super) fn implicitly(
    evaluation: Evaluation,
    value: TypedExpr,
    to: &DataType,
    context: &mut BuildContext<'_>,
) -> Result<TypedExpr> {
    if evaluation != Evaluation::Try || value.data_type == *to {
        return coercion::implicitly(value, to, context);
    }
    let name = value.name.clone();
    Ok(cast::cast(value, to, cast::Mode::Try, context)?.named(name))
}

/// Casts the operands as Spark's rules do for arithmetic.
fn coerce(
    operation: Operation,
    evaluation: Evaluation,
    mut left: TypedExpr,
    mut right: TypedExpr,
    call: &str,
    context: &mut BuildContext<'_>,
) -> Result<(TypedExpr, TypedExpr)> {
    let ansi = context.conf.ansi_enabled;
    let is_interval = |t: &DataType| t.is_ansi_interval() || *t == DataType::CalendarInterval;
    // Strings become numbers.
    if ansi {
        if let Some(promoted) = promote_string_ansi(&left.data_type, &right.data_type)
            && !promoted.is_string()
        {
            left = implicitly(evaluation, left, &promoted, context)?;
            right = implicitly(evaluation, right, &promoted, context)?;
        } else if left.data_type.is_null() && right.data_type.is_string() {
            return Err(mismatch::binary_wrong(call, operation.wanted(), &right.data_type));
        } else if left.data_type.is_string() && right.data_type.is_null() {
            return Err(mismatch::binary_wrong(call, operation.wanted(), &left.data_type));
        }
    } else {
        if left.data_type.is_string() && !is_interval(&right.data_type) {
            left = implicitly(evaluation, left, &DataType::Double, context)?;
        }
        if right.data_type.is_string() && !is_interval(&left.data_type) {
            right = implicitly(evaluation, right, &DataType::Double, context)?;
        }
    }
    // Numbers beside decimals.
    let null_quotient = operation == Operation::Divide && left.data_type.is_null();
    if !null_quotient
        && matches!(left.data_type, DataType::Decimal(..)) != matches!(right.data_type, DataType::Decimal(..))
    {
        if matches!(left.data_type, DataType::Decimal(..)) {
            (left, right) = beside_decimal(evaluation, left, right, context)?;
        } else {
            (right, left) = beside_decimal(evaluation, right, left, context)?;
        }
    }
    let double = |t: &DataType| t.is_numeric() || t.is_null();
    match operation {
        Operation::Divide => {
            let decimals =
                matches!(left.data_type, DataType::Decimal(..)) && matches!(right.data_type, DataType::Decimal(..));
            let nothing_but_null = left.data_type.is_null() && right.data_type.is_null();
            if !decimals && (nothing_but_null || (double(&left.data_type) && double(&right.data_type))) {
                left = implicitly(evaluation, left, &DataType::Double, context)?;
                right = implicitly(evaluation, right, &DataType::Double, context)?;
            }
        }
        Operation::IntegralDivide => {
            let long = |t: &DataType| matches!(t, DataType::Byte | DataType::Short | DataType::Integer);
            if long(&left.data_type) {
                left = implicitly(evaluation, left, &DataType::Long, context)?;
            }
            if long(&right.data_type) {
                right = implicitly(evaluation, right, &DataType::Long, context)?;
            }
            if left.data_type.is_null() && right.data_type.is_null() {
                left = implicitly(evaluation, left, &DataType::Long, context)?;
                right = implicitly(evaluation, right, &DataType::Long, context)?;
            }
        }
        _ => {
            if left.data_type.is_null() && right.data_type.is_null() {
                left = implicitly(evaluation, left, &DataType::Double, context)?;
                right = implicitly(evaluation, right, &DataType::Double, context)?;
            }
        }
    }
    let both_decimal =
        matches!(left.data_type, DataType::Decimal(..)) && matches!(right.data_type, DataType::Decimal(..));
    if !both_decimal
        && left.data_type != right.data_type
        && let Some(common) = tightest_common_type(&left.data_type, &right.data_type, ansi)
        && operation.takes(&common)
    {
        left = implicitly(evaluation, left, &common, context)?;
        right = implicitly(evaluation, right, &common, context)?;
    }
    Ok((left, right))
}

/// A decimal with another number: integers become decimals, floating-point numbers make both doubles.
fn beside_decimal(
    evaluation: Evaluation,
    decimal: TypedExpr,
    other: TypedExpr,
    context: &mut BuildContext<'_>,
) -> Result<(TypedExpr, TypedExpr)> {
    match &other.data_type {
        DataType::Float | DataType::Double => Ok((implicitly(evaluation, decimal, &DataType::Double, context)?, other)),
        DataType::Null => {
            let to = decimal.data_type.clone();
            Ok((decimal, implicitly(evaluation, other, &to, context)?))
        }
        integral => {
            let digits = if context.conf.literal_minimum_precision { literal_digits(&other) } else { None };
            let Some((precision, scale)) = digits.or_else(|| integral.decimal_for_integral()) else {
                return Ok((decimal, other));
            };
            let was_literal = digits.is_some();
            let mut cast = implicitly(evaluation, other, &DataType::Decimal(precision, scale), context)?;
            if was_literal {
                cast.nullable = true;
            }
            Ok((decimal, cast))
        }
    }
}

/// The sides of a comparison of a decimal with an integer that stands in the query as such: the integer
/// becomes a decimal of no more digits than it has.
pub(crate) fn literal_beside_decimal(
    left: TypedExpr,
    right: TypedExpr,
    context: &mut BuildContext<'_>,
) -> Result<(TypedExpr, TypedExpr)> {
    let is_decimal = |e: &TypedExpr| matches!(e.data_type, DataType::Decimal(..));
    let is_literal = |e: &TypedExpr| literal_digits(e).is_some();
    let evaluation = Evaluation::of_session(context);
    if is_decimal(&left) && is_literal(&right) {
        return beside_decimal(evaluation, left, right, context);
    }
    if is_literal(&left) && is_decimal(&right) {
        let (right, left) = beside_decimal(evaluation, right, left, context)?;
        return Ok((left, right));
    }
    Ok((left, right))
}

/// The digits of an integer that stands in the query as such.
fn literal_digits(expr: &TypedExpr) -> Option<(u8, i8)> {
    use datafusion::scalar::ScalarValue;
    let value = match expr.literal()? {
        ScalarValue::Int16(Some(v)) => i64::from(*v),
        ScalarValue::Int32(Some(v)) => i64::from(*v),
        ScalarValue::Int64(Some(v)) => *v,
        _ => return None,
    };
    // A cast of a literal is a literal here too, but not by its name.
    if expr.name != value.to_string() {
        return None;
    }
    let digits = value.unsigned_abs().to_string().len();
    u8::try_from(digits).ok().map(|d| (d, 0))
}

fn native(operation: Operation, left: &TypedExpr, right: &TypedExpr) -> Option<Expr> {
    let operator = match operation {
        Operation::Add => Operator::Plus,
        Operation::Subtract => Operator::Minus,
        Operation::Multiply => Operator::Multiply,
        _ => return None,
    };
    Some(binary_expr(left.expr.clone(), operator, right.expr.clone()))
}

fn is_nullable(operation: Operation, evaluation: Evaluation, left: &TypedExpr, right: &TypedExpr) -> bool {
    left.nullable || right.nullable || operation.divides() || evaluation == Evaluation::Try
}

fn integers(
    operation: Operation,
    evaluation: Evaluation,
    left: &TypedExpr,
    right: &TypedExpr,
    context: &BuildContext<'_>,
) -> Result<TypedExpr> {
    let data_type = left.data_type.clone();
    let nullable = is_nullable(operation, evaluation, left, right);
    let wraps = evaluation == Evaluation::Legacy;
    let expr = match native(operation, left, right).filter(|_| wraps) {
        Some(expr) => expr,
        None => {
            let arguments = [left.clone(), right.clone()];
            evaluation::call(&integer::KERNEL, operation, evaluation, &arguments, &data_type, nullable, context)?
        }
    };
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn floats(
    operation: Operation,
    evaluation: Evaluation,
    left: &TypedExpr,
    right: &TypedExpr,
    context: &BuildContext<'_>,
) -> Result<TypedExpr> {
    let data_type = left.data_type.clone();
    let nullable = is_nullable(operation, evaluation, left, right);
    let expr = match native(operation, left, right) {
        Some(expr) => expr,
        None => {
            let arguments = [left.clone(), right.clone()];
            evaluation::call(&floating::KERNEL, operation, evaluation, &arguments, &data_type, nullable, context)?
        }
    };
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn decimals(
    operation: Operation,
    evaluation: Evaluation,
    left: &TypedExpr,
    l: (u8, i8),
    right: &TypedExpr,
    r: (u8, i8),
    context: &BuildContext<'_>,
) -> Result<TypedExpr> {
    let data_type = match operation {
        Operation::IntegralDivide => DataType::Long,
        _ => decimal::result_type(operation, l, r, context.conf.decimal_allow_precision_loss),
    };
    let nullable = is_nullable(operation, evaluation, left, right) || evaluation != Evaluation::Ansi;
    let arguments = [left.clone(), right.clone()];
    let expr = evaluation::call(&decimal::KERNEL, operation, evaluation, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}
