//! Texts of operators where their functions have others.

use firesteel_error::{Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_plan::{Expr, ExprKind, FunctionCall, Name, Origin};
use firesteel_types::DataType;

/// The function of an operator: signs are operators with one operand.
pub(super) fn function_of(name: String, arguments: &[Expr]) -> String {
    match (name.as_str(), arguments.len()) {
        ("-", 1) => "negative".to_string(),
        ("+", 1) => "positive".to_string(),
        _ => name,
    }
}

/// Operators of SQL take no star, while functions take the columns that it means.
pub(super) fn refuse_stars(call: &FunctionCall, origin: &Origin) -> Result<()> {
    let [operator] = call.name.as_slice() else { return Ok(()) };
    let name = match operator.as_str() {
        "+" => "add",
        "-" => "subtract",
        "*" => "multiply",
        "/" => "divide",
        "%" => "remainder",
        "div" => "integraldivide",
        "=" | "==" => "equalto",
        "<=>" => "equalnullsafe",
        "<" => "lessthan",
        "<=" => "lessthanorequal",
        ">" => "greaterthan",
        ">=" => "greaterthanorequal",
        "and" | "or" | "not" => operator.as_str(),
        "&" => "bitwiseand",
        "|" => "bitwiseor",
        "^" => "bitwisexor",
        "~" => "bitwisenot",
        _ => return Ok(()),
    };
    let is_sql = matches!(origin, Origin::Sql { .. });
    if !is_sql || !call.arguments.iter().any(|argument| matches!(argument.kind, ExprKind::Star { .. })) {
        return Ok(());
    }
    Err(SparkError::new("INVALID_USAGE_OF_STAR_OR_REGEX")
        .with("elem", "'*'")
        .with("prettyName", format!("expression `{name}`"))
        .without_context())
}

/// The text of an operator's result, where it is not the function's own.
pub(super) fn text(name: &Name, arguments: &[TypedExpr]) -> Option<String> {
    let [operator] = name.as_slice() else { return None };
    match (operator.as_str(), arguments) {
        ("-", [value]) => Some(format!("(- {})", value.name)),
        ("+", [left, right]) => plus(left, right),
        ("-", [left, right]) => minus(left, right),
        ("*", [left, right]) if is_interval(&right.data_type) && !is_interval(&left.data_type) => {
            Some(format!("({} * {})", right.name, left.name))
        }
        _ => None,
    }
}

fn is_interval(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::CalendarInterval | DataType::DayTimeInterval { .. } | DataType::YearMonthInterval { .. }
    )
}

fn is_moment(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Date | DataType::Timestamp | DataType::TimestampNtz)
}

fn is_days(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Byte | DataType::Short | DataType::Integer)
}

/// What an interval can be added to without being one.
fn takes_interval(data_type: &DataType) -> bool {
    is_moment(data_type) || matches!(data_type, DataType::String(_))
}

/// The text of a date and an interval of days: Spark takes the days out of the interval, and shows it.
fn date_by_days(moment: &TypedExpr, interval: &TypedExpr, is_back: bool) -> Option<String> {
    use firesteel_types::DayTimeField::Day;
    if moment.data_type != DataType::Date || interval.data_type != DataType::DayTimeInterval(Day, Day) {
        return None;
    }
    let days = format!("extractansiintervaldays({})", interval.name);
    let days = if is_back { format!("(- {days})") } else { days };
    Some(format!("date_add({}, {days})", moment.name))
}

fn plus(left: &TypedExpr, right: &TypedExpr) -> Option<String> {
    if let Some(text) = date_by_days(left, right, false).or_else(|| date_by_days(right, left, false)) {
        return Some(text);
    }
    let (moment, other) = match (is_moment(&left.data_type), is_moment(&right.data_type)) {
        (true, false) => (left, right),
        (false, true) => (right, left),
        _ if takes_interval(&left.data_type) && is_interval(&right.data_type) => (left, right),
        _ if is_interval(&left.data_type) && takes_interval(&right.data_type) => (right, left),
        _ => return None,
    };
    if is_days(&other.data_type) && moment.data_type == DataType::Date {
        return Some(format!("date_add({}, {})", moment.name, other.name));
    }
    (is_interval(&other.data_type) || other.data_type == DataType::Null)
        .then(|| format!("{} + {}", moment.name, other.name))
}

fn minus(left: &TypedExpr, right: &TypedExpr) -> Option<String> {
    if let Some(text) = date_by_days(left, right, true) {
        return Some(text);
    }
    if left.data_type == DataType::Date && is_days(&right.data_type) {
        return Some(format!("date_sub({}, {})", left.name, right.name));
    }
    (takes_interval(&left.data_type) && is_interval(&right.data_type))
        .then(|| format!("{} - {}", left.name, right.name))
}
