//! Casts: which are legal, and their kernels.
//!
//! [`cast`] makes a cast of an expression; [`array::cast_array`] casts a column
//! of values, and is what everything that turns values of one Spark type into
//! another's goes through.

pub mod array;
mod boolean;
mod datetime;
pub mod decimal;
pub mod digits;
mod interval;
mod kernel;
pub mod legality;
mod nested;
mod number;
pub mod parse_datetime;
pub mod parse_interval;
pub mod parse_number;
pub mod store;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod text;
pub mod variant;

pub use kernel::{CAST, fold};
pub use legality::{can_ansi_store_assign, can_cast, can_up_cast, force_nullable};
pub use store::{StorePolicy, fit_length, store_assign};

/// The kernels behind casts, by names that SQL does not know.
pub const KERNELS: &[&crate::Function] = &[&CAST, &store::CHECKED, &store::FIT_LENGTH, &store::PAD_LENGTH];

use crate::coercion::mismatch::{quoted, quoted_type};
use crate::{BuildContext, TypedExpr};
use datafusion::logical_expr::Expr;
use firesteel_error::{Result, SparkError};
use firesteel_types::calendar::MICROS_PER_DAY;
use firesteel_types::{DataType, TimeZone, arrow_mapping};
use std::sync::Arc;

/// What happens to a value that cannot be cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// It becomes null, or wraps around.
    Legacy,
    /// The query fails.
    Ansi,
    /// It becomes null, and the cast's legality is that of ANSI mode.
    Try,
}

impl Mode {
    /// The mode by its name in a kernel's payload.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Legacy, Self::Ansi, Self::Try].into_iter().find(|m| m.name() == name)
    }

    /// The name in a kernel's payload.
    pub fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Ansi => "ansi",
            Self::Try => "try",
        }
    }

    /// The mode of casts that Spark inserts, and of `CAST` without more.
    pub fn of_session(conf: &firesteel_config::SqlConf) -> Self {
        if conf.ansi_enabled { Self::Ansi } else { Self::Legacy }
    }
}

/// Spark's text of a cast, such as `CAST(a AS INT)`; casts to arrays, maps and structs leave none.
///
/// ```
/// use firesteel_functions::cast::cast_text;
/// use firesteel_types::DataType;
/// assert_eq!(cast_text("a", &DataType::Integer, true), "TRY_CAST(a AS INT)");
/// ```
pub fn cast_text(name: &str, to: &DataType, is_try: bool) -> String {
    if to.is_nested() {
        return name.to_string();
    }
    format!("{}({name} AS {})", if is_try { "TRY_CAST" } else { "CAST" }, to.sql())
}

/// The position of a number type in the order of widening.
fn rank(data_type: &DataType) -> usize {
    [DataType::Byte, DataType::Short, DataType::Integer, DataType::Long, DataType::Float, DataType::Double]
        .iter()
        .position(|t| t == data_type)
        .unwrap_or(0)
}

/// Casts an expression.
///
/// The name is `CAST(x AS T)`, but the expression's own where nothing had to be
/// done. Casts of constants are done at once, if they succeed. An illegal cast
/// is one of the `DATATYPE_MISMATCH.CAST_…` errors.
pub fn cast(expr: TypedExpr, to: &DataType, mode: Mode, context: &mut BuildContext<'_>) -> Result<TypedExpr> {
    let to = stored_type(to);
    let name = cast_text(&expr.name, &to, mode == Mode::Try);
    if expr.data_type == to {
        return Ok(expr.named(name));
    }
    if matches!(to, DataType::Time(_)) && !expr.data_type.is_null() {
        crate::scalar::datetime::time::check_enabled(context)?;
    }
    if !can_cast(&expr.data_type, &to, mode) {
        return Err(illegal(&expr.data_type, &to, mode, &name));
    }
    let nullable = legality::result_is_nullable(&expr.data_type, expr.nullable, &to, mode);
    let from_arrow = arrow_mapping::to_arrow(&expr.data_type);
    let to_arrow = arrow_mapping::to_arrow(&to);
    if expr.data_type.is_null() && !expr.is_null_literal() {
        // Nothing but null, but it must run: it may be `raise_error`.
        return Ok(TypedExpr::new(datafusion::logical_expr::cast(expr.expr, to_arrow), to, true, name));
    }
    if expr.data_type.is_null() {
        let null =
            datafusion::scalar::ScalarValue::try_from(&to_arrow).map_err(|e| SparkError::internal(e.to_string()))?;
        return Ok(TypedExpr::new(Expr::Literal(null, None), to, true, name));
    }
    if from_arrow == to_arrow && is_relabelling(&expr.data_type, &to) {
        return Ok(TypedExpr::new(expr.expr, to, nullable, name));
    }
    if let Some(word) = special_word(&expr, &to, context) {
        return Ok(TypedExpr::new(word, to, nullable, name));
    }
    if let Some(folded) = kernel::fold(&expr, &to, mode, context) {
        return Ok(TypedExpr::new(folded, to, nullable, name));
    }
    let made = if is_native(&expr.data_type, &to) {
        datafusion::logical_expr::cast(expr.expr, to_arrow)
    } else {
        crate::kernel::call_with_payload(
            &CAST,
            kernel::cast_kernel,
            std::slice::from_ref(&expr),
            &to,
            nullable,
            context,
            Some(Arc::from(mode.name())),
        )?
    };
    Ok(TypedExpr::new(made, to, nullable, name))
}

/// The literals that the words `now`, `today`, `tomorrow`, `yesterday` and `epoch` are as constant
/// dates and timestamps.
fn special_word(expr: &TypedExpr, to: &DataType, context: &BuildContext<'_>) -> Option<Expr> {
    use datafusion::scalar::ScalarValue;
    if !expr.data_type.is_string() || !to.is_datetime() {
        return None;
    }
    let word = expr.literal()?.try_as_str()??;
    let zone = TimeZone::parse(&context.conf.time_zone).ok()?;
    let now = zone.to_local(context.query_time.micros());
    let is_epoch = parse_number::trim(word).eq_ignore_ascii_case("epoch");
    let is_now = parse_number::trim(word).eq_ignore_ascii_case("now");
    let days = if is_epoch { 0 } else { now.div_euclid(MICROS_PER_DAY) + parse_datetime::special_day(word)? };
    let local = days * MICROS_PER_DAY;
    let value = match to {
        DataType::Date => ScalarValue::Date32(i32::try_from(days).ok()),
        DataType::Timestamp => {
            let moment = match (is_epoch, is_now) {
                (true, _) => 0,
                (_, true) => context.query_time.micros(),
                _ => zone.to_utc(local)?,
            };
            ScalarValue::TimestampMicrosecond(Some(moment), Some(arrow_mapping::ENGINE_TIME_ZONE.into()))
        }
        _ => ScalarValue::TimestampMicrosecond(Some(if is_now { now } else { local }), None),
    };
    Some(Expr::Literal(value, None))
}

/// Values of `CHAR` and `VARCHAR` are strings wherever they are not stored.
fn stored_type(to: &DataType) -> DataType {
    match to {
        DataType::Char(_) | DataType::Varchar(_) => DataType::STRING,
        other => other.clone(),
    }
}

/// Types of one Arrow type between which values stay as they are.
fn is_relabelling(from: &DataType, to: &DataType) -> bool {
    match (from, to) {
        (f, t) if f.is_string() && t.is_string() => true,
        // A shorter interval type cuts the finer fields.
        (DataType::DayTimeInterval(_, from), DataType::DayTimeInterval(_, to)) => from <= to,
        (DataType::YearMonthInterval(_, from), DataType::YearMonthInterval(_, to)) => from <= to,
        (DataType::Time(from), DataType::Time(to)) => from <= to,
        (f, t) => f.same_structure(t),
    }
}

/// Casts that DataFusion's own cast does in the same way and that never fail.
fn is_native(from: &DataType, to: &DataType) -> bool {
    use DataType as T;
    match (from, to) {
        (f, T::Float | T::Double | T::String(_)) if f.is_integral() => true,
        (T::Boolean, T::String(_)) => true,
        (T::Float, T::Double) => true,
        (f, t) if f.is_integral() && t.is_integral() => rank(f) < rank(t),
        (T::Decimal(p, s), T::Decimal(q, t)) => {
            t >= s && i32::from(*q) - i32::from(*t) >= i32::from(*p) - i32::from(*s)
        }
        (f, T::Decimal(p, s)) if f.is_integral() => crate::coercion::decimal::holds((*p, *s), f),
        _ => false,
    }
}

/// The error of a cast that is not legal, with Spark's advice.
fn illegal(from: &DataType, to: &DataType, mode: Mode, text: &str) -> SparkError {
    let error = |condition| {
        SparkError::new(condition)
            .with("sqlExpr", quoted(text))
            .with("srcType", quoted_type(from))
            .with("targetType", quoted_type(to))
    };
    let advice = match (from, to) {
        (f, DataType::Date) if f.is_numeric() => Some("`DATE_FROM_UNIX_DATE`"),
        (DataType::Date, t) if t.is_numeric() => Some("`UNIX_DATE`"),
        _ => None,
    };
    if let Some(functions) = advice.filter(|_| mode != Mode::Legacy) {
        return error("DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION").with("functionNames", functions);
    }
    if mode == Mode::Ansi && can_cast(from, to, Mode::Legacy) {
        return error("DATATYPE_MISMATCH.CAST_WITH_CONF_SUGGESTION")
            .with("config", "\"spark.sql.ansi.enabled\"")
            .with("configVal", "'false'");
    }
    error("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION")
}
