//! Expressions from SQL-like text and their values, for tests.

use crate::cast::{Mode, cast};
use crate::function::{QueryTime, SessionFacts};
use crate::{BuildContext, TypedExpr};
use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use datafusion::common::DFSchema;
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{Expr, lit};
use datafusion::physical_expr::create_physical_expr;
use datafusion::scalar::ScalarValue;
use firesteel_config::{SessionConfig, SqlConf, keys};
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, arrow_mapping, ddl, number_text};
use serde_json::Value;
use std::sync::Arc;

/// The settings of a session in Los Angeles.
pub(crate) fn conf(ansi: bool) -> SqlConf {
    let mut config = SessionConfig::default();
    config.set(keys::ANSI_ENABLED, if ansi { "true" } else { "false" }).unwrap();
    config.set(keys::SESSION_TIME_ZONE, "America/Los_Angeles").unwrap();
    SqlConf::new(&config)
}

/// Runs something with a context.
pub(crate) fn with_context<T>(conf: &SqlConf, run: impl FnOnce(&mut BuildContext<'_>) -> T) -> T {
    let session = SessionFacts::default();
    run(&mut BuildContext { conf, query_time: &QueryTime::at(1_764_000_000_000_000), context: None, session: &session })
}

/// The value of an expression without columns.
pub(crate) fn evaluate(expr: &Expr) -> Result<ScalarValue> {
    let schema = DFSchema::empty();
    let failed = |e: datafusion::common::DataFusionError| match e.find_root() {
        datafusion::common::DataFusionError::External(inner) => match inner.downcast_ref::<SparkError>() {
            Some(error) => error.clone(),
            None => SparkError::internal(inner.to_string()),
        },
        other => SparkError::internal(other.to_string()),
    };
    let physical = create_physical_expr(expr, &schema, &ExecutionProps::new(), &PhysicalPlanningContext::default())
        .map_err(failed)?;
    let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(1));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).unwrap();
    let array = physical.evaluate(&batch).map_err(failed)?.into_array(1).map_err(failed)?;
    ScalarValue::try_from_array(&array, 0).map_err(failed)
}

/// The value of an expression as its cast to a string; None for NULL.
pub(crate) fn text_of(expr: &TypedExpr, context: &mut BuildContext<'_>) -> Result<Option<String>> {
    evaluate(&expr.expr)?;
    let text = cast(expr.clone(), &DataType::STRING, Mode::of_session(context.conf), context)?;
    let value = evaluate(&text.expr)?;
    Ok(value.try_as_str().flatten().map(str::to_string))
}

/// Reads an expression.
pub(crate) fn read(text: &str, context: &mut BuildContext<'_>) -> Result<TypedExpr> {
    let mut reader = Reader { rest: text, context };
    let expr = reader.expression(0)?;
    assert!(reader.rest.trim().is_empty(), "left over: {} of {text}", reader.rest);
    Ok(expr)
}

struct Reader<'a, 'b, 'c> {
    rest: &'a str,
    context: &'b mut BuildContext<'c>,
}

const INFIX: [(&str, u8); 20] = [
    ("or", 1),
    ("and", 2),
    ("<=>", 4),
    ("<=", 4),
    (">=", 4),
    ("<>", 4),
    ("!=", 4),
    ("==", 4),
    ("=", 4),
    ("<", 4),
    (">", 4),
    ("rlike", 4),
    ("regexp", 4),
    ("ilike", 4),
    ("like", 4),
    ("+", 5),
    ("-", 5),
    ("*", 6),
    ("/", 6),
    ("%", 6),
];

impl Reader<'_, '_, '_> {
    fn take(&mut self, word: &str) -> bool {
        self.rest = self.rest.trim_start();
        let Some(head) = self.rest.get(..word.len()) else { return false };
        let is_word = word.chars().all(|c| c.is_ascii_alphabetic());
        let ends = !self.rest[word.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if head.eq_ignore_ascii_case(word) && (!is_word || ends) {
            self.rest = &self.rest[word.len()..];
            return true;
        }
        false
    }

    fn expect(&mut self, word: &str) {
        assert!(self.take(word), "{word} expected at {}", self.rest);
    }

    fn call(&mut self, name: &str, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
        self.context.call(name, arguments)
    }

    fn expression(&mut self, least: u8) -> Result<TypedExpr> {
        let mut left = if least <= 3 && (self.take("not") || self.take("!")) {
            let operand = self.expression(3)?;
            self.call("not", vec![operand])?
        } else {
            self.primary()?
        };
        'more: loop {
            if least <= 4 {
                let negated = self.rest.trim_start().starts_with("not ") && {
                    self.take("not");
                    true
                };
                let made = if self.take("in") {
                    self.expect("(");
                    let mut arguments = vec![left.clone()];
                    arguments.extend(self.list()?);
                    Some(self.call("in", arguments)?)
                } else if self.take("between") {
                    let low = self.expression(5)?;
                    self.expect("and");
                    let high = self.expression(5)?;
                    Some(self.call("between", vec![left.clone(), low, high])?)
                } else if self.take("is") {
                    let not = self.take("not");
                    self.expect("null");
                    Some(self.call(if not { "isnotnull" } else { "isnull" }, vec![left.clone()])?)
                } else if negated {
                    self.expect("like");
                    let pattern = self.expression(5)?;
                    Some(self.call("like", vec![left.clone(), pattern])?)
                } else {
                    None
                };
                if let Some(made) = made {
                    left = if negated { self.call("not", vec![made])? } else { made };
                    continue;
                }
            }
            if least <= 6 && self.take("div") {
                let right = self.expression(7)?;
                left = self.call("div", vec![left, right])?;
                continue;
            }
            for (sign, level) in INFIX {
                if level >= least && self.take(sign) {
                    let right = self.expression(level + 1)?;
                    let mut arguments = vec![left, right];
                    if sign.ends_with("like") && self.take("escape") {
                        arguments.push(self.primary()?);
                    }
                    left = self.call(if sign == "regexp" { "rlike" } else { sign }, arguments)?;
                    continue 'more;
                }
            }
            return Ok(left);
        }
    }

    fn list(&mut self) -> Result<Vec<TypedExpr>> {
        let mut out = Vec::new();
        if self.take(")") {
            return Ok(out);
        }
        loop {
            out.push(self.expression(0)?);
            if self.take(")") {
                return Ok(out);
            }
            self.expect(",");
        }
    }

    fn quoted(&mut self) -> String {
        self.rest = self.rest.trim_start();
        let mut out = String::new();
        let mut characters = self.rest.char_indices().skip(1).peekable();
        while let Some((at, c)) = characters.next() {
            match c {
                '\\' => match characters.next().map(|(_, c)| c) {
                    Some('t') => out.push('\t'),
                    Some('n') => out.push('\n'),
                    Some(c) if c == '%' || c == '_' => out.extend(['\\', c]),
                    Some(c) => out.push(c),
                    None => {}
                },
                '\'' if matches!(characters.peek(), Some((_, '\''))) => {
                    characters.next();
                    out.push('\'');
                }
                '\'' => {
                    self.rest = &self.rest[at + 1..];
                    return out;
                }
                c => out.push(c),
            }
        }
        panic!("an open quote in {}", self.rest)
    }

    fn string(&mut self) -> TypedExpr {
        let text = self.quoted();
        TypedExpr::new(lit(text.clone()), DataType::STRING, false, text)
    }

    fn typed(&mut self, to: &str, name: &str) -> Result<TypedExpr> {
        let text = self.string();
        let to = ddl::parse_data_type(to)?;
        let value = cast(text, &to, Mode::Ansi, self.context)?;
        let shown = text_of(&value, self.context)?.unwrap_or_default();
        let value = TypedExpr { nullable: false, ..value };
        Ok(if name.is_empty() { value.named(shown) } else { value.named(format!("{name} '{shown}'")) })
    }

    fn primary(&mut self) -> Result<TypedExpr> {
        if self.take("(") {
            let inner = self.expression(0)?;
            self.expect(")");
            return Ok(inner);
        }
        self.rest = self.rest.trim_start();
        let first = self.rest.chars().next().unwrap();
        let negative_number = first == '-' && self.rest[1..].starts_with(|c: char| c.is_ascii_digit() || c == '.');
        if first.is_ascii_digit() || negative_number {
            return self.number();
        }
        if self.take("-") {
            let operand = self.expression(7)?;
            return self.call("-", vec![operand]);
        }
        if self.take("+") {
            let operand = self.expression(7)?;
            return self.call("+", vec![operand]);
        }
        if first == '\'' {
            return Ok(self.string());
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let word = self.rest[..end].to_ascii_lowercase();
        self.rest = &self.rest[end..];
        match word.as_str() {
            "null" => Ok(TypedExpr::new(lit(ScalarValue::Null), DataType::Null, true, "NULL")),
            "true" | "false" => Ok(TypedExpr::new(lit(word == "true"), DataType::Boolean, false, word)),
            "date" => self.typed("date", "DATE"),
            "timestamp" => self.typed("timestamp", "TIMESTAMP"),
            "timestamp_ntz" => self.typed("timestamp_ntz", "TIMESTAMP_NTZ"),
            "x" => {
                let digits = self.quoted();
                let bytes = hex::decode(&digits).unwrap();
                Ok(TypedExpr::new(lit(bytes), DataType::Binary, false, format!("X'{digits}'")))
            }
            "interval" => {
                let text = self.quoted();
                let mut fields = String::new();
                for name in ["year", "month", "day", "hour", "minute", "second"] {
                    if self.take(name) {
                        fields = name.to_string();
                        if self.take("to") {
                            for end in ["month", "hour", "minute", "second"] {
                                if self.take(end) {
                                    fields = format!("{fields} to {end}");
                                    break;
                                }
                            }
                        }
                        break;
                    }
                }
                let to = ddl::parse_data_type(&format!("interval {fields}"))?;
                let text = TypedExpr::new(lit(text.clone()), DataType::STRING, false, text);
                let value = cast(text, &to, Mode::Ansi, self.context)?;
                let shown = text_of(&value, self.context)?.unwrap_or_default();
                Ok(TypedExpr { nullable: false, ..value }.named(shown))
            }
            "cast" | "try_cast" => {
                self.expect("(");
                let value = self.expression(0)?;
                self.expect("as");
                let (mut depth, mut end) = (0, 0);
                for (at, c) in self.rest.char_indices() {
                    match c {
                        '(' => depth += 1,
                        ')' if depth == 0 => {
                            end = at;
                            break;
                        }
                        ')' => depth -= 1,
                        _ => {}
                    }
                }
                let to = ddl::parse_data_type(self.rest[..end].trim())?;
                self.rest = &self.rest[end + 1..];
                let mode = if word == "cast" { Mode::of_session(self.context.conf) } else { Mode::Try };
                cast(value, &to, mode, self.context)
            }
            "case" => {
                let operand = if self.take("when") { None } else { Some(self.expression(0)?) };
                let mut arguments = Vec::new();
                let mut first = operand.is_none();
                while first || self.take("when") {
                    first = false;
                    let condition = self.expression(0)?;
                    arguments.push(match &operand {
                        Some(operand) => self.call("=", vec![operand.clone(), condition])?,
                        None => condition,
                    });
                    self.expect("then");
                    arguments.push(self.expression(0)?);
                }
                if self.take("else") {
                    arguments.push(self.expression(0)?);
                }
                self.expect("end");
                self.call("when", arguments)
            }
            "double" | "float" => {
                self.expect("(");
                let text = self.string();
                self.expect(")");
                let to = ddl::parse_data_type(&word)?;
                let name = text.name.clone();
                Ok(cast(text, &to, Mode::Ansi, self.context)?.named(name))
            }
            "make_interval" => {
                self.expect("(");
                let parts = self.list()?;
                let name = |i: usize| parts.get(i).map_or(if i == 6 { "0.000000" } else { "0" }, |p| p.name.as_str());
                let number = |i: usize| name(i).parse::<f64>().unwrap();
                let months = number(0) * 12.0 + number(1);
                let days = number(2) * 7.0 + number(3);
                let micros = (number(4) * 3600.0 + number(5) * 60.0 + number(6)) * 1e6;
                let value =
                    arrow::datatypes::IntervalMonthDayNano::new(months as i32, days as i32, micros as i64 * 1000);
                let names: Vec<&str> = (0..7).map(name).collect();
                let nullable = !self.context.conf.ansi_enabled;
                let text = format!("make_interval({})", names.join(", "));
                let value = lit(ScalarValue::IntervalMonthDayNano(Some(value)));
                Ok(TypedExpr::new(value, DataType::CalendarInterval, nullable, text))
            }
            "array" | "map" | "named_struct" | "struct" => {
                self.expect("(");
                let items = self.list()?;
                self.collection(&word, items)
            }
            name => {
                self.expect("(");
                let arguments = self.list()?;
                self.call(name, arguments)
            }
        }
    }

    fn number(&mut self) -> Result<TypedExpr> {
        let body = self.rest.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-')).unwrap_or(self.rest.len());
        let mut end = self.rest[1..].find('-').map_or(body, |at| body.min(at + 1));
        let tail = &self.rest[end..];
        if tail.starts_with(['e', 'E']) && tail[1..].starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            end += 2;
            end += self.rest[end..].find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len() - end);
        }
        let digits = self.rest[..end].to_string();
        self.rest = &self.rest[end..];
        let suffix_end = self.rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.rest.len());
        let suffix = self.rest[..suffix_end].to_ascii_uppercase();
        let make = |value: ScalarValue, t: DataType, name: String| Ok(TypedExpr::new(lit(value), t, false, name));
        let known = ["BD", "D", "F", "L", "S", "Y"].contains(&suffix.as_str());
        if known {
            self.rest = &self.rest[suffix_end..];
        }
        match suffix.as_str() {
            "L" => make(ScalarValue::Int64(digits.parse().ok()), DataType::Long, digits),
            "S" => make(ScalarValue::Int16(digits.parse().ok()), DataType::Short, digits),
            "Y" => make(ScalarValue::Int8(digits.parse().ok()), DataType::Byte, digits),
            "F" => {
                let value: f32 = digits.parse().unwrap();
                make(
                    ScalarValue::Float32(Some(value)),
                    DataType::Float,
                    text(|out| number_text::write_float(out, value)),
                )
            }
            "D" => {
                let value: f64 = digits.parse().unwrap();
                make(
                    ScalarValue::Float64(Some(value)),
                    DataType::Double,
                    text(|out| number_text::write_double(out, value)),
                )
            }
            _ if suffix == "BD" || digits.contains('.') => {
                let scale = digits.split_once('.').map_or(0, |(_, f)| f.len());
                let unscaled: i128 = digits.replace('.', "").parse().unwrap();
                let precision = unscaled.unsigned_abs().to_string().len().max(scale).max(1);
                let (p, s) = (precision as u8, scale as i8);
                make(ScalarValue::Decimal128(Some(unscaled), p, s), DataType::Decimal(p, s), digits)
            }
            _ => match digits.parse::<i32>() {
                Ok(value) => make(ScalarValue::Int32(Some(value)), DataType::Integer, digits),
                Err(_) if digits.len() < 19 || digits.parse::<i64>().is_ok() => {
                    make(ScalarValue::Int64(digits.parse().ok()), DataType::Long, digits)
                }
                Err(_) => {
                    let precision = digits.trim_start_matches('-').len() as u8;
                    let value = ScalarValue::Decimal128(digits.parse().ok(), precision, 0);
                    make(value, DataType::Decimal(precision, 0), digits)
                }
            },
        }
    }

    /// A constant collection.
    fn collection(&mut self, kind: &str, items: Vec<TypedExpr>) -> Result<TypedExpr> {
        use arrow::array::{ArrayRef, ListArray, MapArray, StructArray};
        use arrow::buffer::OffsetBuffer;
        use arrow::datatypes::DataType as ArrowType;
        let names: Vec<String> = items.iter().map(|i| i.name.clone()).collect();
        let name = format!("{kind}({})", names.join(", "));
        let column = |items: &[TypedExpr], t: &DataType| -> ArrayRef {
            let values: Vec<ScalarValue> = items.iter().map(|i| evaluate(&i.expr).unwrap()).collect();
            if values.is_empty() {
                return arrow::array::new_empty_array(&arrow_mapping::to_arrow(t));
            }
            ScalarValue::iter_to_array(values).unwrap()
        };
        let parts: (Vec<TypedExpr>, Vec<TypedExpr>) = match kind {
            "array" => (items, Vec::new()),
            _ => {
                let mut pairs = (Vec::new(), Vec::new());
                for (index, item) in items.into_iter().enumerate() {
                    let first = kind == "map" || kind == "named_struct";
                    if first && index % 2 == 0 { pairs.0.push(item) } else { pairs.1.push(item) }
                }
                pairs
            }
        };
        let common = |items: Vec<TypedExpr>, context: &mut BuildContext<'_>| {
            if items.is_empty() { Ok(items) } else { crate::coercion::to_common_type(items, kind, &name, context) }
        };
        let of = |items: &[TypedExpr]| items.first().map_or(DataType::Null, |i| i.data_type.clone());
        let (array, data_type): (ArrayRef, DataType) = match kind {
            "array" => {
                let items = common(parts.0, self.context)?;
                let element = of(&items);
                let data_type = DataType::array(element.clone(), items.iter().any(|i| i.nullable));
                let ArrowType::List(field) = arrow_mapping::to_arrow(&data_type) else { unreachable!() };
                let values = column(&items, &element);
                (Arc::new(ListArray::new(field, OffsetBuffer::from_lengths([values.len()]), values, None)), data_type)
            }
            "map" => {
                let keys = common(parts.0, self.context)?;
                let values = common(parts.1, self.context)?;
                let (k, v) = (of(&keys), of(&values));
                let data_type = DataType::map(k.clone(), v.clone(), values.iter().any(|i| i.nullable));
                let ArrowType::Map(field, sorted) = arrow_mapping::to_arrow(&data_type) else { unreachable!() };
                let ArrowType::Struct(fields) = field.data_type().clone() else { unreachable!() };
                let entries = StructArray::new(fields, vec![column(&keys, &k), column(&values, &v)], None);
                let offsets = OffsetBuffer::from_lengths([keys.len()]);
                (Arc::new(MapArray::new(field, offsets, entries, None, sorted)), data_type)
            }
            _ => {
                let fields = parts
                    .1
                    .iter()
                    .enumerate()
                    .map(|(index, item)| {
                        let name = parts.0.get(index).map_or(format!("col{}", index + 1), |n| n.name.clone());
                        firesteel_types::StructField::new(name, item.data_type.clone(), item.nullable)
                    })
                    .collect();
                let data_type = DataType::struct_of(fields);
                let ArrowType::Struct(fields) = arrow_mapping::to_arrow(&data_type) else { unreachable!() };
                let columns = parts.1.iter().map(|i| column(std::slice::from_ref(i), &i.data_type)).collect();
                (Arc::new(StructArray::new(fields, columns, None)), data_type)
            }
        };
        let value = ScalarValue::try_from_array(&array, 0).unwrap();
        Ok(TypedExpr::new(lit(value), data_type, false, name))
    }
}

/// Compares expressions with what Spark answered: a JSON object a line, with the expression `q` and the
/// answers in ANSI mode `a` and outside of it `l`, each with type `t`, nullability `n`, value `v`
/// or condition `e` and parameters `p`; `s` where only the schema is known.
pub(crate) fn check(cases: &str) {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let query = case["q"].as_str().unwrap();
        for (ansi, key) in [(true, "a"), (false, "l")] {
            let expected = match case.get(key) {
                Some(expected) => expected,
                None if query.starts_with("try_cast") => continue,
                None => &case["a"],
            };
            count += 1;
            let conf = conf(ansi);
            let actual = with_context(&conf, |context| answer(query, context));
            if let Some(difference) = difference(expected, &actual) {
                wrong.push(format!("{} {query}: {difference}", if ansi { "ANSI" } else { "legacy" }));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}

fn text(write: impl FnOnce(&mut String)) -> String {
    let mut out = String::new();
    write(&mut out);
    out
}

struct Answer {
    typed: Option<(String, bool, String)>,
    value: Result<Option<String>>,
}

fn answer(query: &str, context: &mut BuildContext<'_>) -> Answer {
    match read(query, context) {
        Ok(expr) => {
            let typed = Some((expr.data_type.simple_string(), expr.nullable, expr.name.clone()));
            Answer { typed, value: text_of(&expr, context) }
        }
        Err(error) => Answer { typed: None, value: Err(error) },
    }
}

fn difference(expected: &Value, actual: &Answer) -> Option<String> {
    if let Some((data_type, nullable, name)) = &actual.typed {
        if let Some(wanted) = expected["t"].as_str().filter(|t| *t != data_type) {
            return Some(format!("type {data_type}, not {wanted}"));
        }
        if let Some(wanted) = expected["n"].as_bool().filter(|n| n != nullable) {
            return Some(format!("nullable {nullable}, not {wanted}"));
        }
        if let Some(wanted) = expected["c"].as_str().filter(|c| *c != name) {
            return Some(format!("name {name}, not {wanted}"));
        }
    }
    if expected["s"].as_bool() == Some(true) && actual.typed.is_some() {
        return None;
    }
    match (&actual.value, expected.get("e")) {
        (Ok(value), None) => {
            let wanted = expected["v"].as_str();
            (value.as_deref() != wanted).then(|| format!("{value:?}, not {wanted:?}"))
        }
        (Ok(value), Some(condition)) => Some(format!("{value:?}, not {condition}")),
        (Err(error), None) => Some(format!("{error} {:?}", error.parameters())),
        (Err(error), Some(condition)) => {
            if error.condition() != condition.as_str() {
                return Some(format!("{error} {:?}, not {condition}", error.parameters()));
            }
            let wanted = expected["p"].as_object()?;
            for (name, value) in wanted {
                let given = error.parameters().iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
                if given != value.as_str() {
                    return Some(format!("{name} is {given:?}, not {value}"));
                }
            }
            None
        }
    }
}
