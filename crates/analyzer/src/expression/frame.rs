//! Frames of windows: the rows that a function sees, and Spark's text of them.

use super::window::{Analysed, FixedFrame};
use crate::analyzer::Analyzer;
use arrow::datatypes::IntervalMonthDayNano;
use datafusion::logical_expr::{Expr as DfExpr, WindowFrame as DfFrame, WindowFrameBound, WindowFrameUnits};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_functions::cast::Mode;
use firesteel_functions::cast::legality::can_cast;
use firesteel_plan::{FrameBound, FrameUnit, WindowFrame};
use firesteel_types::{DataType, Literal};

/// A frame, and its text.
pub(super) struct Frame {
    pub(super) frame: DfFrame,
    pub(super) text: String,
}

/// The frame of all rows.
pub(super) const WHOLE: &str = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING";

const RUNNING: &str = "unboundedpreceding$(), currentrow$()";

/// The frame that a function has of its own.
pub(super) struct Fixed<'a> {
    pub(super) kind: FixedFrame,
    pub(super) function: &'a str,
    /// The distance of `lag` and `lead`.
    pub(super) offset: Option<&'a str>,
}

/// The frame of a specification, or a function's own.
pub(super) fn frame(
    a: &mut Analyzer<'_>,
    frame: Option<&WindowFrame>,
    analysed: &Analysed,
    fixed: Option<Fixed<'_>>,
) -> Result<Frame> {
    let rows = || ScalarValue::UInt64(None);
    if let Some(fixed) = fixed {
        if let Some(frame) = frame {
            check_fixed(a, frame, &fixed)?;
        }
        let (lower, upper) = (WindowFrameBound::Preceding(rows()), WindowFrameBound::CurrentRow);
        let is_range = fixed.kind == FixedFrame::RunningRange;
        let units = if is_range { WindowFrameUnits::Range } else { WindowFrameUnits::Rows };
        return Ok(Frame {
            frame: if is_range { of_peers(analysed, lower, upper) } else { DfFrame::new_bounds(units, lower, upper) },
            text: format!("{units} BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
        });
    }
    let Some(frame) = frame else {
        let all = WindowFrameBound::Following(rows());
        return Ok(if analysed.order.is_empty() {
            Frame {
                frame: DfFrame::new_bounds(WindowFrameUnits::Rows, WindowFrameBound::Preceding(rows()), all),
                text: WHOLE.to_string(),
            }
        } else {
            let lower = WindowFrameBound::Preceding(ScalarValue::Null);
            Frame {
                frame: of_peers(analysed, lower, WindowFrameBound::CurrentRow),
                text: "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW".to_string(),
            }
        });
    };
    let lower = Bound::new(a, frame.unit, &frame.lower, analysed)?;
    let upper = Bound::new(a, frame.unit, &frame.upper, analysed)?;
    let text = format!("{} BETWEEN {} AND {}", unit_text(frame.unit), lower.text, upper.text);
    lower.check_type(frame.unit, "lower", &text)?;
    upper.check_type(frame.unit, "upper", &text)?;
    if frame.lower == FrameBound::UnboundedFollowing || frame.upper == FrameBound::UnboundedPreceding {
        return Err(SparkError::new("DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_INVALID_BOUND")
            .with("sqlExpr", format!("\"{text}\""))
            .with("upper", format!("\"{}\"", upper.text))
            .with("lower", format!("\"{}\"", lower.text)));
    }
    if frame.unit == FrameUnit::Range {
        check_range(analysed, [&lower, &upper], &text)?;
        if analysed.order.is_empty() {
            let (from, to) = (WindowFrameBound::Preceding(rows()), WindowFrameBound::Following(rows()));
            return Ok(Frame { frame: DfFrame::new_bounds(WindowFrameUnits::Rows, from, to), text });
        }
    }
    let (from, to) = (lower.evaluate(a, frame.unit, analysed)?, upper.evaluate(a, frame.unit, analysed)?);
    if frame.unit == FrameUnit::Range && lower.offset.is_none() && upper.offset.is_none() {
        return Ok(Frame { frame: of_peers(analysed, from, to), text });
    }
    if frame.unit == FrameUnit::Range && !has_ranges(analysed) {
        return Err(SparkError::unsupported("a RANGE frame with distances between values of this type"));
    }
    if lower.offset.is_some() && upper.offset.is_some() && is_reversed(&from, &to) {
        return Err(SparkError::new("DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_WRONG_COMPARISON")
            .with("sqlExpr", format!("\"{text}\""))
            .with("comparison", "less than or equal"));
    }
    let units = match frame.unit {
        FrameUnit::Rows => WindowFrameUnits::Rows,
        FrameUnit::Range => WindowFrameUnits::Range,
    };
    Ok(Frame { frame: DfFrame::new_bounds(units, from, to), text })
}

/// Whether the engine knows ranges of the first key's values.
fn has_ranges(analysed: &Analysed) -> bool {
    let Some((_, key)) = analysed.order.first() else { return true };
    let data_type = &key.data_type;
    data_type.is_numeric()
        || data_type.is_null()
        || is_moment(data_type)
        || matches!(data_type, DataType::Boolean)
        || (data_type.is_string() && !super::is_collated(data_type))
}

/// A frame of values without distances: the same rows are those of groups of peers.
fn of_peers(analysed: &Analysed, lower: WindowFrameBound, upper: WindowFrameBound) -> DfFrame {
    if has_ranges(analysed) {
        return DfFrame::new_bounds(WindowFrameUnits::Range, lower, upper);
    }
    let groups = |bound| match bound {
        WindowFrameBound::Preceding(_) => WindowFrameBound::Preceding(ScalarValue::UInt64(None)),
        WindowFrameBound::Following(_) => WindowFrameBound::Following(ScalarValue::UInt64(None)),
        WindowFrameBound::CurrentRow => WindowFrameBound::CurrentRow,
    };
    DfFrame::new_bounds(WindowFrameUnits::Groups, groups(lower), groups(upper))
}

fn unit_text(unit: FrameUnit) -> &'static str {
    match unit {
        FrameUnit::Rows => "ROWS",
        FrameUnit::Range => "RANGE",
    }
}

/// Functions that have a frame of their own take no other; they may repeat theirs.
fn check_fixed(a: &mut Analyzer<'_>, frame: &WindowFrame, fixed: &Fixed<'_>) -> Result<()> {
    let (kind, unit) = match fixed.kind {
        FixedFrame::Offset => {
            let is_value = |bound: &FrameBound| matches!(bound, FrameBound::Value(_));
            let is_own = frame.unit == FrameUnit::Rows
                && is_value(&frame.lower)
                && is_value(&frame.upper)
                && Some(bound_word(a, &frame.lower)?.as_str()) == fixed.offset
                && Some(bound_word(a, &frame.upper)?.as_str()) == fixed.offset;
            if is_own {
                return Ok(());
            }
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_1035").with("prettyName", fixed.function));
        }
        FixedFrame::Running => ("RowFrame", FrameUnit::Rows),
        FixedFrame::RunningRange => ("RangeFrame", FrameUnit::Range),
    };
    let is_running = frame.lower == FrameBound::UnboundedPreceding && frame.upper == FrameBound::CurrentRow;
    if frame.unit == unit && is_running {
        return Ok(());
    }
    let given = if frame.unit == FrameUnit::Rows { "RowFrame" } else { "RangeFrame" };
    let (lower, upper) = (bound_word(a, &frame.lower)?, bound_word(a, &frame.upper)?);
    Err(SparkError::new("_LEGACY_ERROR_TEMP_1036")
        .with("wf", format!("specifiedwindowframe({given}, {lower}, {upper})"))
        .with("required", format!("specifiedwindowframe({kind}, {RUNNING})")))
}

fn bound_word(a: &mut Analyzer<'_>, bound: &FrameBound) -> Result<String> {
    Ok(match bound {
        FrameBound::UnboundedPreceding => "unboundedpreceding$()".to_string(),
        FrameBound::UnboundedFollowing => "unboundedfollowing$()".to_string(),
        FrameBound::CurrentRow => "currentrow$()".to_string(),
        FrameBound::Value(expr) => a.constant(expr)?.name,
        FrameBound::Preceding(expr) => format!("-{}", a.constant(expr)?.name),
    })
}

/// One end of a frame.
struct Bound {
    kind: FrameBound,
    offset: Option<TypedExpr>,
    /// The offset's type, once it is cast to that of the order's key.
    data_type: DataType,
    text: String,
}

impl Bound {
    fn new(a: &mut Analyzer<'_>, unit: FrameUnit, kind: &FrameBound, analysed: &Analysed) -> Result<Self> {
        let (expr, precedes) = match kind {
            FrameBound::UnboundedPreceding => return Ok(Self::special(kind, "UNBOUNDED PRECEDING")),
            FrameBound::UnboundedFollowing => return Ok(Self::special(kind, "UNBOUNDED FOLLOWING")),
            FrameBound::CurrentRow => return Ok(Self::special(kind, "CURRENT ROW")),
            FrameBound::Value(expr) => (expr, false),
            FrameBound::Preceding(expr) => (expr, true),
        };
        let typed = a.constant(expr)?;
        let mut data_type = typed.data_type.clone();
        if precedes && data_type.is_string() {
            data_type = DataType::Double;
        }
        let mut is_cast = false;
        if let (FrameUnit::Range, [(_, key)]) = (unit, analysed.order.as_slice())
            && !is_moment(&key.data_type)
            && key.data_type != data_type
            && can_cast(&data_type, &key.data_type, Mode::of_session(a.env.conf()))
        {
            data_type = key.data_type.clone();
            is_cast = true;
        }
        let text = match (precedes, is_cast) {
            (false, _) => format!("{} FOLLOWING", typed.name),
            (true, false) => format!("{} PRECEDING", typed.name),
            // The sign is within the cast.
            (true, true) => format!("(- {}) FOLLOWING", typed.name),
        };
        Ok(Self { kind: kind.clone(), offset: Some(typed), data_type, text })
    }

    fn special(kind: &FrameBound, text: &str) -> Self {
        Self { kind: kind.clone(), offset: None, data_type: DataType::Null, text: text.to_string() }
    }

    /// Offsets of rows are integers, those of ranges numbers and intervals.
    fn check_type(&self, unit: FrameUnit, location: &str, frame: &str) -> Result<()> {
        let is_interval = matches!(
            self.data_type,
            DataType::DayTimeInterval(..) | DataType::YearMonthInterval(..) | DataType::CalendarInterval
        );
        let (is_accepted, expected) = match unit {
            FrameUnit::Rows => (self.data_type == DataType::Integer, "\"INT\""),
            FrameUnit::Range => (
                self.data_type.is_numeric() || is_interval,
                "(\"NUMERIC\" or \"INTERVAL DAY TO SECOND\" or \"INTERVAL YEAR TO MONTH\" or \"INTERVAL\")",
            ),
        };
        if self.offset.is_none() || is_accepted {
            return Ok(());
        }
        Err(SparkError::new("DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_UNACCEPTED_TYPE")
            .with("sqlExpr", format!("\"{frame}\""))
            .with("location", location)
            .with("exprType", format!("\"{}\"", self.data_type.sql()))
            .with("expectedType", expected))
    }

    fn evaluate(&self, a: &mut Analyzer<'_>, unit: FrameUnit, analysed: &Analysed) -> Result<WindowFrameBound> {
        let unbounded = || if unit == FrameUnit::Rows { ScalarValue::UInt64(None) } else { ScalarValue::Null };
        let Some(offset) = &self.offset else {
            return Ok(match self.kind {
                FrameBound::UnboundedPreceding => WindowFrameBound::Preceding(unbounded()),
                FrameBound::UnboundedFollowing => WindowFrameBound::Following(unbounded()),
                _ => WindowFrameBound::CurrentRow,
            });
        };
        let value = if offset.data_type.is_string() {
            super::fold(a, &super::implicit_cast(a, offset.clone(), &self.data_type)?)?
        } else {
            super::fold(a, offset)?
        };
        let (is_negative, magnitude) = magnitude(value)?;
        let precedes = is_negative != matches!(self.kind, FrameBound::Preceding(_));
        let scalar = match (unit, magnitude) {
            (FrameUnit::Rows, Literal::Long(0)) => return Ok(WindowFrameBound::CurrentRow),
            (FrameUnit::Rows, Literal::Long(rows)) => ScalarValue::UInt64(Some(rows.unsigned_abs())),
            (_, magnitude) => {
                let key = analysed.order.first().map_or(DataType::Null, |(_, key)| key.data_type.clone());
                distance(a, magnitude, &key)?
            }
        };
        Ok(if precedes { WindowFrameBound::Preceding(scalar) } else { WindowFrameBound::Following(scalar) })
    }
}

fn is_moment(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Date | DataType::Timestamp | DataType::TimestampNtz)
}

/// Offsets of a RANGE frame need one key, of a type that they can be added to.
fn check_range(analysed: &Analysed, bounds: [&Bound; 2], frame: &str) -> Result<()> {
    let Some(value) = bounds.iter().find(|bound| bound.offset.is_some()) else { return Ok(()) };
    let specification = || format!("\"({})\"", analysed.text(frame));
    match analysed.order.as_slice() {
        [] => Err(SparkError::new("DATATYPE_MISMATCH.RANGE_FRAME_WITHOUT_ORDER").with("sqlExpr", specification())),
        [(_, key)] => {
            let fits = match (&key.data_type, &value.data_type) {
                (DataType::Date, DataType::Integer) => true,
                (moment, interval) if is_moment(moment) => matches!(
                    interval,
                    DataType::DayTimeInterval(..) | DataType::YearMonthInterval(..) | DataType::CalendarInterval
                ),
                (key, offset) => key == offset,
            };
            if fits {
                return Ok(());
            }
            Err(SparkError::new("DATATYPE_MISMATCH.RANGE_FRAME_INVALID_TYPE")
                .with("sqlExpr", specification())
                .with("orderSpecType", format!("\"{}\"", key.data_type.sql()))
                .with("valueBoundaryType", format!("\"{}\"", value.data_type.sql())))
        }
        several => {
            let keys: Vec<String> = several
                .iter()
                .map(|(sort, key)| {
                    let name = match &sort.expr {
                        DfExpr::Column(column) => &column.name,
                        _ => &key.name,
                    };
                    super::window::order_text(name, sort.asc, sort.nulls_first)
                })
                .collect();
            Err(SparkError::new("DATATYPE_MISMATCH.RANGE_FRAME_MULTI_ORDER")
                .with("sqlExpr", specification())
                .with("orderSpec", keys.join(",")))
        }
    }
}

/// True where the lower bound of a frame comes after the upper one.
fn is_reversed(lower: &WindowFrameBound, upper: &WindowFrameBound) -> bool {
    match (lower, upper) {
        (WindowFrameBound::Following(_), WindowFrameBound::Preceding(_) | WindowFrameBound::CurrentRow)
        | (WindowFrameBound::CurrentRow, WindowFrameBound::Preceding(_)) => true,
        (WindowFrameBound::Preceding(x), WindowFrameBound::Preceding(y)) => x < y,
        (WindowFrameBound::Following(x), WindowFrameBound::Following(y)) => x > y,
        _ => false,
    }
}

/// Whether an offset is negative, and how far it reaches.
fn magnitude(value: Literal) -> Result<(bool, Literal)> {
    let long = |v: i64| (v < 0, Literal::Long(v.saturating_abs()));
    Ok(match value {
        Literal::Byte(v) => long(v.into()),
        Literal::Short(v) => long(v.into()),
        Literal::Integer(v) => long(v.into()),
        Literal::Long(v) => long(v),
        Literal::Float(v) => (v < 0.0, Literal::Float(v.abs())),
        Literal::Double(v) => (v < 0.0, Literal::Double(v.abs())),
        Literal::Decimal(v, p, s) => (v < 0, Literal::Decimal(v.abs(), p, s)),
        Literal::DayTimeInterval(v, t) => (v < 0, Literal::DayTimeInterval(v.saturating_abs(), t)),
        Literal::YearMonthInterval(v, t) => (v < 0, Literal::YearMonthInterval(v.saturating_abs(), t)),
        Literal::CalendarInterval(m, d, us) => {
            let is_negative = m < 0 || d < 0 || us < 0;
            (is_negative, Literal::CalendarInterval(m.saturating_abs(), d.saturating_abs(), us.saturating_abs()))
        }
        other => {
            return Err(SparkError::unsupported(format!("a frame's bound of type {}", other.data_type().sql())));
        }
    })
}

/// An offset as what is added to the order's key.
fn distance(a: &mut Analyzer<'_>, magnitude: Literal, key: &DataType) -> Result<ScalarValue> {
    let interval = |months: i32, days: i32, microseconds: i64| {
        let nanoseconds = microseconds.saturating_mul(1000);
        ScalarValue::IntervalMonthDayNano(Some(IntervalMonthDayNano::new(months, days, nanoseconds)))
    };
    Ok(match magnitude {
        Literal::DayTimeInterval(microseconds, _) if is_moment(key) => interval(0, 0, microseconds),
        Literal::YearMonthInterval(months, _) if is_moment(key) => interval(months, 0, 0),
        Literal::CalendarInterval(months, days, microseconds) if is_moment(key) => interval(months, days, microseconds),
        Literal::Long(days) if *key == DataType::Date => interval(0, i32::try_from(days).unwrap_or(i32::MAX), 0),
        magnitude => {
            let typed = super::literal(&magnitude)?;
            let cast = super::implicit_cast(a, typed, key)?;
            let folded = super::fold(a, &cast)?;
            match super::literal(&folded)?.literal() {
                Some(scalar) => scalar.clone(),
                None => return Err(SparkError::internal("a literal is not one")),
            }
        }
    })
}
