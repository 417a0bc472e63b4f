//! Interval literals.

use crate::expression::literal::invalid_literal;
use crate::interval::{Interval, IntervalError, MICROS_PER_DAY, UnitError, day_time, parse_multi_unit, year_month};
use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use crate::token::{NumberKind, TokenKind};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_plan::Expr;
use firesteel_types::{DataType, DayTimeField, Literal, YearMonthField};

/// A number before its unit.
struct Value {
    text: String,
    is_string: bool,
    mark: Mark,
}

impl Parser<'_> {
    /// `INTERVAL …`, when it is known to be a literal.
    pub(super) fn interval(&mut self) -> Result<Expr> {
        let start = self.mark();
        self.advance();
        if self.ahead_is_text(0) && !self.ahead_is_unit(self.after_texts(0)) {
            return self.interval_string(start);
        }
        let first = self.interval_value()?;
        let unit = self.interval_unit()?;
        if self.is(K::TO) {
            return self.unit_to_unit(start, &first, unit);
        }
        let mut values = vec![(first, unit)];
        while self.at_interval_value() {
            let value = self.interval_value()?;
            let unit = self.interval_unit()?;
            if self.take(K::TO) {
                self.interval_unit()?;
                return self.mixed_units(start);
            }
            values.push((value, unit));
        }
        let mut text = String::new();
        for (value, unit) in &values {
            text.push_str(&self.signed_value(value)?);
            text.push(' ');
            text.push_str(&unit.text().to_ascii_lowercase());
        }
        let (interval, units) = parse_multi_unit(&text).map_err(|error| multi_unit_error(&text, error))?;
        self.interval_of(start, interval, &units)
    }

    /// `INTERVAL '1 day 2 hours'`.
    fn interval_string(&mut self, start: Mark) -> Result<Expr> {
        let token = self.advance();
        let text = self.string_of(token);
        let (interval, units) = parse_multi_unit(&text).map_err(|_| invalid_literal(self, start, "INTERVAL", &text))?;
        self.interval_of(start, interval, &units)
    }

    /// Whether another value with a unit follows.
    fn at_interval_value(&self) -> bool {
        let signs = usize::from(self.is_mark("-") || self.is_mark("+"));
        let is_value = self.ahead_is_text(signs)
            || matches!(self.ahead(signs).kind, TokenKind::Number(NumberKind::Integer | NumberKind::Decimal));
        is_value && self.ahead_is_unit(self.after_texts(signs).max(signs + 1))
    }

    fn interval_value(&mut self) -> Result<Value> {
        let mark = self.mark();
        let is_negative = self.is_mark("-");
        if is_negative || self.is_mark("+") {
            self.advance();
        }
        let is_string = self.ahead_is_text(0);
        let text = if is_string {
            self.string()?
        } else {
            match self.peek().kind {
                TokenKind::Number(NumberKind::Integer | NumberKind::Decimal) => {
                    let token = self.advance();
                    self.text_of(token)
                }
                _ => return Err(self.unexpected()),
            }
        };
        let text = match (is_negative, text.strip_prefix('-')) {
            (false, _) => text,
            (true, Some(positive)) => positive.to_string(),
            (true, None) => format!("-{text}"),
        };
        Ok(Value { text, is_string, mark })
    }

    fn interval_unit(&mut self) -> Result<K> {
        match self.keyword().filter(|word| word.is_interval_unit()) {
            Some(unit) => {
                self.advance();
                Ok(unit)
            }
            None => Err(self.unexpected()),
        }
    }

    /// The value as it goes into the text of all units.
    fn signed_value(&self, value: &Value) -> Result<String> {
        if value.is_string && value.text.contains(char::is_alphabetic) {
            return Err(self.error(value.mark, "_LEGACY_ERROR_TEMP_0026").with("value", value.text.clone()));
        }
        Ok(format!(" {}", value.text))
    }

    /// An interval by the units that were named: they may not be of both kinds.
    fn interval_of(&self, start: Mark, interval: Interval, units: &[&str]) -> Result<Expr> {
        let origin = self.origin(start);
        let literal = |literal: Literal| Ok(Expr::literal(literal).at(origin.clone()));
        let Interval { months, days, micros } = interval;
        if self.options.legacy_interval {
            return literal(Literal::CalendarInterval(months, days, micros));
        }
        let year_month: Vec<YearMonthField> = units.iter().filter_map(|unit| YearMonthField::parse(unit)).collect();
        let day_time: Vec<DayTimeField> = units
            .iter()
            .filter_map(|unit| match *unit {
                "week" => Some(DayTimeField::Day),
                "millisecond" | "microsecond" => Some(DayTimeField::Second),
                unit => DayTimeField::parse(unit),
            })
            .collect();
        match (year_month.iter().min(), year_month.iter().max(), day_time.iter().min(), day_time.iter().max()) {
            (Some(from), Some(to), None, None) => {
                literal(Literal::YearMonthInterval(months, DataType::YearMonthInterval(*from, *to)))
            }
            (None, None, Some(from), Some(to)) => {
                let total = i64::from(days).checked_mul(MICROS_PER_DAY).and_then(|total| total.checked_add(micros));
                let total = total.ok_or_else(|| {
                    SparkError::new("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION")
                        .with_class(ExceptionClass::Arithmetic)
                })?;
                literal(Literal::DayTimeInterval(total, DataType::DayTimeInterval(*from, *to)))
            }
            _ => Err(self.error(start, "_LEGACY_ERROR_TEMP_0029").with("literal", self.text_from(start))),
        }
    }

    /// The error that `unit TO unit` does not stand alone, after all values.
    fn mixed_units(&mut self, start: Mark) -> Result<Expr> {
        while self.at_interval_value() {
            self.interval_value()?;
            self.interval_unit()?;
            if self.take(K::TO) {
                self.interval_unit()?;
            }
        }
        Err(self.error(start, "_LEGACY_ERROR_TEMP_0024"))
    }

    /// `'…' unit TO unit`.
    fn unit_to_unit(&mut self, start: Mark, value: &Value, from: K) -> Result<Expr> {
        self.advance();
        let to = self.interval_unit()?;
        if self.at_interval_value() {
            return self.mixed_units(start);
        }
        if !value.is_string {
            return Err(self.error(value.mark, "_LEGACY_ERROR_TEMP_0027"));
        }
        let (from, to) = (from.text().to_ascii_lowercase(), to.text().to_ascii_lowercase());
        let text = value.text.as_str();
        if let (Some(first @ YearMonthField::Year), Some(last @ YearMonthField::Month)) =
            (YearMonthField::parse(&from), YearMonthField::parse(&to))
        {
            let months = year_month(text).map_err(|error| match error {
                UnitError::Unmatched => self
                    .error(value.mark, "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING")
                    .with("intervalStr", "year-month")
                    .with("supportedFormat", "`[+|-]y-m`, `INTERVAL [+|-]'[+|-]y-m' YEAR TO MONTH`")
                    .with("typeName", "interval year to month")
                    .with("input", text),
                _ => self
                    .error(value.mark, "INVALID_INTERVAL_FORMAT.INTERVAL_PARSING")
                    .with("input", text)
                    .with("interval", "year-month"),
            })?;
            let literal = if self.options.legacy_interval {
                Literal::CalendarInterval(months, 0, 0)
            } else {
                Literal::YearMonthInterval(months, DataType::YearMonthInterval(first, last))
            };
            return Ok(Expr::literal(literal).at(self.origin(start)));
        }
        let (Some(first), Some(last)) = (DayTimeField::parse(&from), DayTimeField::parse(&to)) else {
            return Err(self.unsupported_units(value, &from, &to));
        };
        if first >= last {
            return Err(self.unsupported_units(value, &from, &to));
        }
        let micros = day_time(text, first, last).map_err(|error| self.day_time_error(value, first, last, error))?;
        let literal = if self.options.legacy_interval {
            let days = i32::try_from(micros / MICROS_PER_DAY).unwrap_or_default();
            Literal::CalendarInterval(0, days, micros % MICROS_PER_DAY)
        } else {
            Literal::DayTimeInterval(micros, DataType::DayTimeInterval(first, last))
        };
        Ok(Expr::literal(literal).at(self.origin(start)))
    }

    fn unsupported_units(&self, value: &Value, from: &str, to: &str) -> SparkError {
        self.error(value.mark, "INVALID_INTERVAL_FORMAT.UNSUPPORTED_FROM_TO_EXPRESSION")
            .with("input", value.text.clone())
            .with("from", from)
            .with("to", to)
    }

    fn day_time_error(&self, value: &Value, from: DayTimeField, to: DayTimeField, error: UnitError) -> SparkError {
        if let UnitError::OutOfRange { field, value: number, highest } = error {
            let message = format!("requirement failed: {field} {number} outside range [0, {highest}]");
            return self.error(value.mark, "_LEGACY_ERROR_TEMP_0063").with("msg", message);
        }
        let fields = [
            (DayTimeField::Day, "d "),
            (DayTimeField::Hour, "h:"),
            (DayTimeField::Minute, "m:"),
            (DayTimeField::Second, "s.n"),
        ];
        let form: String =
            fields.iter().filter(|(field, _)| *field >= from && *field <= to).map(|(_, form)| *form).collect();
        let form = form.trim_end_matches([' ', ':']);
        let units = format!("{} TO {}", from.name().to_uppercase(), to.name().to_uppercase());
        self.error(value.mark, "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING_WITH_NOTICE")
            .with("intervalStr", "day-time")
            .with("supportedFormat", format!("`[+|-]{form}`, `INTERVAL [+|-]'[+|-]{form}' {units}`"))
            .with("typeName", format!("interval {} to {}", from.name(), to.name()))
            .with("input", value.text.clone())
    }
}

/// The error of a text made of numbers and units.
fn multi_unit_error(text: &str, error: IntervalError) -> SparkError {
    let error = match error {
        IntervalError::Empty => SparkError::new("INVALID_INTERVAL_FORMAT.INPUT_IS_EMPTY"),
        IntervalError::UnrecognizedNumber(number) => {
            SparkError::new("INVALID_INTERVAL_FORMAT.UNRECOGNIZED_NUMBER").with("number", number)
        }
        IntervalError::MissingNumber(word) => {
            SparkError::new("INVALID_INTERVAL_FORMAT.MISSING_NUMBER").with("word", word)
        }
        IntervalError::MissingUnit(word) => SparkError::new("INVALID_INTERVAL_FORMAT.MISSING_UNIT").with("word", word),
        IntervalError::InvalidValue(value) => {
            SparkError::new("INVALID_INTERVAL_FORMAT.INVALID_VALUE").with("value", value)
        }
        IntervalError::InvalidPrecision(value) => {
            SparkError::new("INVALID_INTERVAL_FORMAT.INVALID_PRECISION").with("value", value)
        }
        IntervalError::InvalidFraction(unit) => {
            SparkError::new("INVALID_INTERVAL_FORMAT.INVALID_FRACTION").with("unit", unit)
        }
        IntervalError::InvalidUnit(unit) => SparkError::new("INVALID_INTERVAL_FORMAT.INVALID_UNIT").with("unit", unit),
        IntervalError::Overflow => SparkError::new("INVALID_INTERVAL_FORMAT.ARITHMETIC_EXCEPTION"),
    };
    error.with("input", text)
}
