//! Calls of functions in a small part of SQL: literals, casts and calls.

use datafusion::logical_expr::lit;
use datafusion::scalar::ScalarValue;
use firesteel_error::SparkError;
use firesteel_functions::cast::{Mode, cast};
use firesteel_functions::{BuildContext, TypedExpr, registry};
use firesteel_types::{DataType, ddl};

/// Why there is no expression.
pub enum Fault {
    /// The text needs something that is not there.
    Skipped(String),
    Spark(SparkError),
}

impl From<SparkError> for Fault {
    fn from(error: SparkError) -> Self {
        Self::Spark(error)
    }
}

/// An expression, and the literals that became columns of it.
pub struct Call {
    pub expr: TypedExpr,
    pub columns: Vec<ScalarValue>,
}

/// The expression of a call. With `as_columns`, literals become the columns `c0`, `c1` and so on.
pub fn build(text: &str, as_columns: bool, context: &mut BuildContext<'_>) -> Result<Call, Fault> {
    let mut reader = Reader { text: text.chars().collect(), at: 0, columns: as_columns.then(Vec::new) };
    let expr = reader.expression(context)?;
    reader.blanks();
    if reader.at < reader.text.len() {
        return Err(Fault::Skipped(format!("text after the call: {text}")));
    }
    Ok(Call { expr, columns: reader.columns.unwrap_or_default() })
}

struct Reader {
    text: Vec<char>,
    at: usize,
    /// The values of columns, where literals become columns.
    columns: Option<Vec<ScalarValue>>,
}

fn literal(value: ScalarValue, data_type: DataType, name: impl Into<String>) -> TypedExpr {
    let nullable = value.is_null();
    TypedExpr::new(lit(value), data_type, nullable, name)
}

impl Reader {
    fn blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, mark: char) -> bool {
        self.blanks();
        let found = self.peek() == Some(mark);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.at += 1;
        }
        self.text[start..self.at].iter().collect()
    }

    fn string(&mut self, raw: bool) -> Result<String, Fault> {
        let quote = self.text[self.at];
        self.at += 1;
        let mut out = String::new();
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                c if c == quote => {
                    if !raw && self.peek() == Some(quote) {
                        out.push(quote);
                        self.at += 1;
                    } else {
                        return Ok(out);
                    }
                }
                '\\' if !raw => {
                    let kind = self.text[self.at];
                    self.at += 1;
                    match kind {
                        'n' => out.push('\n'),
                        't' => out.push('\t'),
                        'r' => out.push('\r'),
                        '0' => out.push('\0'),
                        'u' => {
                            let hex: String = self.text[self.at..self.at + 4].iter().collect();
                            self.at += 4;
                            out.push(char::from_u32(u32::from_str_radix(&hex, 16).unwrap()).unwrap());
                        }
                        other => out.push(other),
                    }
                }
                c => out.push(c),
            }
        }
        Err(Fault::Skipped("an open string".into()))
    }

    fn expression(&mut self, context: &mut BuildContext<'_>) -> Result<TypedExpr, Fault> {
        let left = self.primary(context)?;
        self.blanks();
        for sign in ["||", ">>>", ">>", "<<", "&", "|", "^"] {
            let ahead: String = self.text[self.at..].iter().take(sign.len()).collect();
            if ahead == sign {
                self.at += sign.len();
                let right = self.primary(context)?;
                return Ok(context.call(sign, vec![left, right])?);
            }
        }
        Ok(left)
    }

    /// The literal, or the column that takes its place.
    fn given(&mut self, literal: TypedExpr) -> TypedExpr {
        match (&mut self.columns, literal.literal().cloned()) {
            (Some(columns), Some(value)) if !literal.data_type.is_null() => {
                columns.push(value);
                let column = datafusion::logical_expr::ident(format!("c{}", columns.len() - 1));
                TypedExpr { expr: column, ..literal }
            }
            _ => literal,
        }
    }

    fn primary(&mut self, context: &mut BuildContext<'_>) -> Result<TypedExpr, Fault> {
        let start = self.at;
        let made = self.primary_value(context)?;
        let is_literal = made.literal().is_some() && !self.text[start..self.at].contains(&'(');
        Ok(if is_literal { self.given(made) } else { made })
    }

    fn primary_value(&mut self, context: &mut BuildContext<'_>) -> Result<TypedExpr, Fault> {
        self.blanks();
        match self.peek() {
            Some('\'' | '"') => {
                let text = self.string(false)?;
                Ok(literal(ScalarValue::Utf8(Some(text.clone())), DataType::STRING, text))
            }
            Some('~') => {
                self.at += 1;
                let inner = self.primary(context)?;
                Ok(context.call("~", vec![inner])?)
            }
            Some(c) if c.is_ascii_digit() || c == '-' || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.named(context),
            other => Err(Fault::Skipped(format!("{other:?}"))),
        }
    }

    fn number(&mut self) -> Result<TypedExpr, Fault> {
        let start = self.at;
        if self.peek() == Some('-') {
            self.at += 1;
        }
        let mut exponent = false;
        while let Some(c) = self.peek() {
            let after_exponent = exponent && matches!(self.text[self.at - 1], 'e' | 'E');
            match c {
                '0'..='9' | '.' => {}
                'e' | 'E' => exponent = true,
                '+' | '-' if after_exponent => {}
                _ => break,
            }
            self.at += 1;
        }
        let text: String = self.text[start..self.at].iter().collect();
        let suffix = self.word();
        let name = |value: f64| {
            let mut out = String::new();
            firesteel_types::number_text::write_double(&mut out, value);
            out
        };
        let skipped = || Fault::Skipped(text.clone());
        Ok(match suffix.to_ascii_uppercase().as_str() {
            "L" => literal(ScalarValue::Int64(Some(text.parse().map_err(|_| skipped())?)), DataType::Long, text),
            "D" => {
                let value: f64 = text.parse().map_err(|_| skipped())?;
                literal(ScalarValue::Float64(Some(value)), DataType::Double, name(value))
            }
            "F" => {
                let value: f32 = text.parse().map_err(|_| skipped())?;
                literal(ScalarValue::Float32(Some(value)), DataType::Float, {
                    let mut out = String::new();
                    firesteel_types::number_text::write_float(&mut out, value);
                    out
                })
            }
            "" if exponent => {
                let value: f64 = text.parse().map_err(|_| skipped())?;
                literal(ScalarValue::Float64(Some(value)), DataType::Double, name(value))
            }
            "" if text.contains('.') => {
                let (whole, fraction) = text.split_once('.').unwrap();
                let unscaled: i128 = format!("{whole}{fraction}").parse().map_err(|_| skipped())?;
                let digits = unscaled.unsigned_abs().to_string().len();
                let scale = fraction.len() as i8;
                let precision = digits.max(fraction.len()) as u8;
                literal(
                    ScalarValue::Decimal128(Some(unscaled), precision, scale),
                    DataType::Decimal(precision, scale),
                    text,
                )
            }
            "" => match text.parse::<i32>() {
                Ok(value) => literal(ScalarValue::Int32(Some(value)), DataType::Integer, text),
                Err(_) => match text.parse::<i64>() {
                    Ok(value) => literal(ScalarValue::Int64(Some(value)), DataType::Long, text),
                    Err(_) => {
                        let value: i128 = text.parse().map_err(|_| skipped())?;
                        let precision = value.unsigned_abs().to_string().len() as u8;
                        literal(
                            ScalarValue::Decimal128(Some(value), precision, 0),
                            DataType::Decimal(precision, 0),
                            text,
                        )
                    }
                },
            },
            _ => return Err(skipped()),
        })
    }

    fn named(&mut self, context: &mut BuildContext<'_>) -> Result<TypedExpr, Fault> {
        let word = self.word();
        let lower = word.to_ascii_lowercase();
        self.blanks();
        match (lower.as_str(), self.peek()) {
            ("r", Some('\'' | '"')) => {
                let text = self.string(true)?;
                return Ok(literal(ScalarValue::Utf8(Some(text.clone())), DataType::STRING, text));
            }
            ("x", Some('\'')) => {
                let text = self.string(false)?;
                let text = if text.len() % 2 == 1 { format!("0{text}") } else { text };
                let bytes = hex::decode(&text).map_err(|_| Fault::Skipped(text.clone()))?;
                let name = format!("X'{}'", text.to_ascii_uppercase());
                return Ok(literal(ScalarValue::Binary(Some(bytes)), DataType::Binary, name));
            }
            ("date" | "timestamp" | "timestamp_ntz", Some('\'')) => {
                let text = self.string(false)?;
                let to = ddl::parse_data_type(&lower)?;
                let from = literal(ScalarValue::Utf8(Some(text.clone())), DataType::STRING, "");
                let value = cast(from, &to, Mode::Ansi, context)?;
                let name = format!("{} '{text}'", lower.to_ascii_uppercase());
                return Ok(TypedExpr { nullable: false, ..value }.named(name));
            }
            ("null", _) => return Ok(literal(ScalarValue::Null, DataType::Null, "NULL")),
            ("true" | "false", _) => {
                return Ok(literal(ScalarValue::Boolean(Some(lower == "true")), DataType::Boolean, lower));
            }
            ("cast", Some('(')) => {
                self.at += 1;
                let inner = self.expression(context)?;
                self.blanks();
                if !self.word().eq_ignore_ascii_case("as") {
                    return Err(Fault::Skipped("a cast without a type".into()));
                }
                self.blanks();
                let (start, mut depth) = (self.at, 0);
                while let Some(c) = self.peek() {
                    match c {
                        '(' | '<' => depth += 1,
                        ')' if depth == 0 => break,
                        ')' | '>' => depth -= 1,
                        _ => {}
                    }
                    self.at += 1;
                }
                let to: String = self.text[start..self.at].iter().collect();
                self.at += 1;
                return Ok(cast(inner, &ddl::parse_data_type(&to)?, Mode::Ansi, context)?);
            }
            // The analyzer makes them, as their fields' names come from the arguments.
            ("struct", _) => return Err(Fault::Skipped(word)),
            (_, Some('(')) => self.at += 1,
            _ => return Err(Fault::Skipped(word)),
        }
        let mut arguments = Vec::new();
        if !self.take(')') {
            loop {
                arguments.push(self.expression(context)?);
                if self.take(')') {
                    break;
                }
                if !self.take(',') {
                    return Err(Fault::Skipped(format!("syntax inside {word}")));
                }
            }
        }
        match registry::lookup(&lower) {
            Some(function) if !function.is_generator() => Ok(context.call(&lower, arguments)?),
            _ => Err(Fault::Skipped(word)),
        }
    }
}
