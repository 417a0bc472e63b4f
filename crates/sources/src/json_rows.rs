//! Batches of JSON records: plain ones go straight to columns, others by way of their values.

use crate::blocks::texts;
use crate::csv::{ParseMode, malformed};
use crate::error::from_arrow;
use crate::json::JsonOptions;
use crate::json_columns::Objects;
use crate::lines::text;
use crate::text::rows_only;
use arrow::array::{ArrayRef, BooleanArray, RecordBatch, StringArray, StringBuilder};
use arrow::compute::{filter_record_batch, interleave_record_batch};
use arrow::datatypes::{Schema, SchemaRef};
use firesteel_error::{Result, SparkError};
use firesteel_functions::scalar::json::convert::{Converter, Outcome};
use firesteel_functions::scalar::json::reader::{Json, Malformed, Reader, Token, read_as, read_value};
use firesteel_types::arrow_mapping::to_arrow_schema;
use firesteel_types::{StructField, StructType};
use std::borrow::Cow;
use std::sync::Arc;

/// Rows of objects, by column.
struct Rows<'a, 'f> {
    fields: Vec<&'f StructField>,
    columns: Vec<Vec<Option<Json<'a>>>>,
    /// Names as they came in the object before, with their columns.
    order: Vec<(Cow<'a, str>, Option<usize>)>,
    /// Which record each row comes from.
    sources: Vec<usize>,
    bad: Vec<bool>,
    /// The column that whole records become.
    single: Option<usize>,
}

impl<'a, 'f> Rows<'a, 'f> {
    fn new(fields: Vec<&'f StructField>, rows: usize, single: Option<&str>) -> Self {
        Self {
            single: single.and_then(|name| fields.iter().position(|f| f.name == name)),
            columns: fields.iter().map(|_| Vec::with_capacity(rows)).collect(),
            fields,
            order: Vec::new(),
            sources: Vec::with_capacity(rows),
            bad: Vec::with_capacity(rows),
        }
    }

    fn add_row(&mut self, source: usize, is_bad: bool) {
        self.columns.iter_mut().for_each(|column| column.push(None));
        self.sources.push(source);
        self.bad.push(is_bad);
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|f| f.name == name)
    }

    /// The column of the name at a place of an object.
    #[inline]
    fn column_at(&mut self, name: Cow<'a, str>, place: usize) -> Option<usize> {
        if let Some((known, column)) = self.order.get(place)
            && *known == name
        {
            return *column;
        }
        let column = self.column(&name);
        self.order.truncate(place);
        self.order.push((name, column));
        column
    }

    /// The last of several values of a name counts.
    fn set(&mut self, column: usize, value: Json<'a>) {
        if let Some(place) = self.columns[column].last_mut() {
            *place = Some(value);
        }
    }

    /// Reads the record that is the text.
    fn read(&mut self, reader: &mut Reader<'a>, source: usize) {
        let before = self.bad.len();
        let read = match reader.token() {
            Ok(Token::End) => Ok(()),
            Ok(token) if self.single.is_some() => self.whole(reader, token, source),
            Ok(Token::StartObject) => {
                self.add_row(source, false);
                self.object(reader)
            }
            Ok(Token::StartArray) => self.items(reader, source),
            Ok(_) => Err(Malformed),
            Err(malformed) => Err(malformed),
        };
        if read.is_err() {
            self.columns.iter_mut().for_each(|column| column.truncate(before));
            self.sources.truncate(before);
            self.bad.truncate(before);
            self.add_row(source, true);
        }
    }

    /// Reads a record as one value.
    fn whole(
        &mut self,
        reader: &mut Reader<'a>,
        token: Token<'a>,
        source: usize,
    ) -> std::result::Result<(), Malformed> {
        let value = read_value(reader, token)?;
        self.add_row(source, false);
        if let Some(column) = self.single {
            self.set(column, value);
        }
        Ok(())
    }

    /// Reads the rest of an array of objects, each a row.
    fn items(&mut self, reader: &mut Reader<'a>, source: usize) -> std::result::Result<(), Malformed> {
        loop {
            match reader.token()? {
                Token::EndArray => return Ok(()),
                Token::StartObject => {
                    self.add_row(source, false);
                    self.object(reader)?;
                }
                _ => return Err(Malformed),
            }
        }
    }

    fn object(&mut self, reader: &mut Reader<'a>) -> std::result::Result<(), Malformed> {
        let mut place = 0;
        loop {
            let name = match reader.token()? {
                Token::Name(name) => name,
                Token::EndObject => return Ok(()),
                _ => return Err(Malformed),
            };
            let column = self.column_at(name, place);
            place += 1;
            let token = reader.token()?;
            match column {
                None => reader.skip(&token)?,
                Some(column) => {
                    let value = read_as(reader, token, &self.fields[column].data_type)?;
                    self.set(column, value);
                }
            }
        }
    }

    /// The columns; rows with a value that is not of its column's type become bad.
    fn arrays(&mut self, options: &JsonOptions) -> Result<Vec<ArrayRef>> {
        let converter = Converter { formats: &options.formats, zone: options.zone };
        let mut arrays = Vec::with_capacity(self.columns.len());
        for (field, column) in self.fields.iter().zip(&self.columns) {
            let values: Vec<Option<&Json<'_>>> = column.iter().map(Option::as_ref).collect();
            let (array, outcomes) = converter.column(&values, &field.data_type)?;
            for (bad, outcome) in self.bad.iter_mut().zip(outcomes) {
                *bad |= outcome != Outcome::Fine;
            }
            arrays.push(array);
        }
        // A bad row makes all rows of its record bad.
        for row in 1..self.bad.len() {
            self.bad[row] |= self.bad[row - 1] && self.sources[row] == self.sources[row - 1];
        }
        for row in (1..self.bad.len()).rev() {
            self.bad[row - 1] |= self.bad[row] && self.sources[row] == self.sources[row - 1];
        }
        Ok(arrays)
    }
}

/// Makes batches of records.
pub(crate) struct Records {
    options: Arc<JsonOptions>,
    wanted: Vec<StructField>,
    /// The column of the texts of corrupt records.
    corrupt: Option<usize>,
    schema: SchemaRef,
    /// Plain records; None where types need the reader of all records.
    plain: Option<Objects>,
}

/// Records that are not plain, each with the number of plain ones before it.
type Others<'a> = Vec<(usize, Cow<'a, str>)>;

impl Records {
    /// Batches of these columns.
    pub(crate) fn new(wanted: Vec<StructField>, options: Arc<JsonOptions>) -> Self {
        let corrupt = wanted.iter().position(|f| f.name == options.corrupt_column && f.data_type.is_string());
        let fields = wanted.iter().enumerate().filter(|(i, _)| Some(*i) != corrupt).map(|(_, f)| f);
        let plain = if options.single_column().is_some() { None } else { Objects::new(fields) };
        Self { schema: batch_schema(&wanted), options, wanted, corrupt, plain }
    }

    /// Records as a batch.
    pub(crate) fn batch<T: AsRef<str>>(&mut self, records: &[T]) -> Result<RecordBatch> {
        let options = self.options.clone();
        let converter = Converter { formats: &options.formats, zone: options.zone };
        let (mut rows, mut others) = (0, Others::new());
        for record in records {
            let record = record.as_ref();
            match self.plain.as_mut().and_then(|plain| plain.append_record(record.as_bytes(), &converter)) {
                Some(_) => rows += 1,
                None => others.push((rows, Cow::Borrowed(record))),
            }
        }
        match self.finish(rows, &others)? {
            Some(batch) => Ok(batch),
            None => Err(SparkError::internal("text is not UTF-8")),
        }
    }

    /// Up to `most` records from the start of whole lines, as a batch, and how many bytes they take.
    pub(crate) fn lines(&mut self, block: &[u8], ends: [u8; 2], most: usize) -> Result<(Option<RecordBatch>, usize)> {
        let (rows, others, used) = self.gather(block, ends, most);
        if rows == 0 && others.is_empty() {
            return Ok((None, used));
        }
        if let Some(batch) = self.finish(rows, &others)? {
            return Ok((Some(batch), used));
        }
        let (texts, _) = texts(block.get(..used).unwrap_or_default(), ends, usize::MAX);
        let others: Others<'_> = texts.into_iter().map(|text| (0, text)).collect();
        Ok((self.finish(0, &others)?, used))
    }

    fn gather<'b>(&mut self, block: &'b [u8], ends: [u8; 2], most: usize) -> (usize, Others<'b>, usize) {
        let options = self.options.clone();
        let converter = Converter { formats: &options.formats, zone: options.zone };
        let mut plain = |text: &[u8]| self.plain.as_mut().and_then(|plain| plain.append_record(text, &converter));
        let end = |from: usize| {
            let rest = block.get(from..).unwrap_or_default();
            memchr::memchr2(ends[0], ends[1], rest).map_or(block.len(), |i| from + i)
        };
        // A plain record holds no end of a line, unless the user says what ends lines.
        let are_usual = ends.iter().all(|end| matches!(end, b'\n' | b'\r'));
        let (mut at, mut rows, mut others) = (0, 0, Others::new());
        while let Some(first) = block.get(at)
            && rows + others.len() < most
        {
            if ends.contains(first) {
                at += 1;
                continue;
            }
            if are_usual && let Some(length) = plain(&block[at..]) {
                rows += 1;
                at = end(at + length) + 1;
                continue;
            }
            let line = &block[at..end(at)];
            at += line.len() + 1;
            if !are_usual && plain(line).is_some() {
                rows += 1;
            } else if line.iter().any(|b| *b > b' ') {
                others.push((rows, text(line)));
            }
        }
        (rows, others, at.min(block.len()))
    }

    /// The batch of the plain records at hand and others; None where a plain one is not UTF-8.
    fn finish(&mut self, rows: usize, others: &Others<'_>) -> Result<Option<RecordBatch>> {
        let columns = match self.plain.as_mut().map(Objects::finish) {
            Some(Ok(columns)) => columns,
            Some(Err(_)) if rows > 0 => return Ok(None),
            _ => Vec::new(),
        };
        if others.is_empty() {
            let corrupt = || -> ArrayRef { Arc::new(StringArray::new_null(rows)) };
            return self.assemble(rows, columns, corrupt).map(Some);
        }
        let (batch, sources, keeps) = self.others(others)?;
        if self.wanted.is_empty() {
            return rows_only(rows + keeps.iter().filter(|keeps| **keeps).count()).map(Some);
        }
        if rows == 0 {
            return filter_record_batch(&batch, &BooleanArray::from(keeps)).map(Some).map_err(from_arrow);
        }
        let corrupt = || -> ArrayRef { Arc::new(StringArray::new_null(rows)) };
        let plain = self.assemble(rows, columns, corrupt)?;
        let mut places = Vec::with_capacity(rows + batch.num_rows());
        let mut taken = 0;
        for (row, source) in sources.iter().enumerate() {
            let before = others.get(*source).map_or(taken, |(before, _)| *before);
            places.extend((taken..before).map(|i| (0, i)));
            taken = before;
            if keeps.get(row) == Some(&true) {
                places.push((1, row));
            }
        }
        places.extend((taken..rows).map(|i| (0, i)));
        interleave_record_batch(&[&plain, &batch], &places).map(Some).map_err(from_arrow)
    }

    /// Records of any kind as a batch; which record each row comes from, and which rows are to be kept.
    fn others(&self, others: &Others<'_>) -> Result<(RecordBatch, Vec<usize>, Vec<bool>)> {
        let options = &*self.options;
        let fields = self.wanted.iter().enumerate().filter(|(i, _)| Some(*i) != self.corrupt).map(|(_, f)| f).collect();
        let single = options.single_column();
        let mut rows = Rows::new(fields, others.len(), single.as_ref().map(|f| f.name.as_str()));
        let mut reader = Reader::new("", options.leniency);
        for (source, (_, record)) in others.iter().enumerate() {
            reader.restart(record);
            rows.read(&mut reader, source);
        }
        let columns = rows.arrays(options)?;
        let record = |row: usize| rows.sources.get(row).and_then(|i| others.get(*i)).map(|(_, text)| text.as_ref());
        if options.mode == ParseMode::FailFast
            && let Some(bad) = rows.bad.iter().position(|bad| *bad)
        {
            return Err(malformed(record(bad).unwrap_or_default()));
        }
        let corrupt = || -> ArrayRef {
            let mut builder = StringBuilder::new();
            for (row, bad) in rows.bad.iter().enumerate() {
                builder.append_option(record(row).filter(|_| *bad));
            }
            Arc::new(builder.finish())
        };
        let batch = self.assemble(rows.bad.len(), columns, corrupt)?;
        let drops = options.mode == ParseMode::DropMalformed;
        let keeps = rows.bad.iter().map(|bad| !(*bad && drops)).collect();
        Ok((batch, rows.sources, keeps))
    }

    /// Columns as a batch, with the one of corrupt records where it is wanted.
    fn assemble(&self, rows: usize, columns: Vec<ArrayRef>, corrupt: impl FnOnce() -> ArrayRef) -> Result<RecordBatch> {
        if self.wanted.is_empty() {
            return rows_only(rows);
        }
        let mut columns = columns;
        if let Some(at) = self.corrupt {
            columns.insert(at.min(columns.len()), corrupt());
        }
        RecordBatch::try_new(self.schema.clone(), columns).map_err(from_arrow)
    }
}

fn batch_schema(wanted: &[StructField]) -> SchemaRef {
    let fields = to_arrow_schema(&StructType::new(wanted.to_vec()));
    Arc::new(Schema::new(fields.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect::<Vec<_>>()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::options::SourceOptions;
    use firesteel_config::SqlConf;
    use firesteel_types::DataType;

    fn records(mode: &str, wanted: &[StructField]) -> Records {
        let given = vec![("mode".to_string(), mode.to_string())];
        let options = JsonOptions::new(&SourceOptions::new(&given), &given, &SqlConf::default()).unwrap();
        Records::new(wanted.to_vec(), Arc::new(options))
    }

    fn columns() -> Vec<StructField> {
        let inner = StructType::new(vec![
            StructField::new("x", DataType::Double, true),
            StructField::new("y", DataType::array(DataType::STRING, true), true),
        ]);
        vec![
            StructField::new("a", DataType::Long, true),
            StructField::new("b", DataType::STRING, true),
            StructField::new("c", DataType::Struct(Arc::new(inner)), true),
            StructField::new("_corrupt_record", DataType::STRING, true),
            StructField::new("d", DataType::map(DataType::STRING, DataType::Integer, true), true),
            StructField::new("e", DataType::Decimal(6, 2), true),
            StructField::new("f", DataType::Date, true),
        ]
    }

    /// A record with values that mostly fit.
    fn record(random: &mut impl FnMut(usize) -> usize) -> String {
        let all = [
            ("a", ["1", "-20", "null", "1.5", "9223372036854775808"]),
            ("b", [r#""x""#, r#""a\"\u00e4""#, "[1, {\"z\":2.50}]", "1e3", "'q'"]),
            ("c", [r#"{"x": 1.5, "y":["p", null, 7]}"#, "{}", r#"{"y":[]}"#, r#"{"x":"NaN"}"#, r#"{"y":[{}]}"#]),
            ("d", [r#"{"k":1, "l" : null}"#, "{}", "null", r#"{"k":"v"}"#, "[]"]),
            ("e", ["1.25", "-3", r#""4.5""#, "12345678", "1.005"]),
            ("f", [r#""2020-02-29""#, r#""1-1-1""#, r#""x""#, "null", "5"]),
            ("other", ["[[1]]", "\"\"", "{\"a\":{}}", "tru", "NaN"]),
        ];
        let mut fields = Vec::new();
        for (name, values) in &all {
            if random(4) > 0 {
                let value = values[if random(6) == 0 { random(values.len()) } else { random(3) }];
                let blank = if random(8) == 0 { " " } else { "" };
                fields.push(format!("\"{name}\"{blank}:{blank}{value}"));
            }
        }
        if random(10) == 0 {
            fields.push("\"a\":7".into());
        }
        match random(20) {
            0 => format!("[{{{}}}, 1, {{}}]", fields.join(",")),
            1 => format!("{{{}", fields.join(",")),
            2 => "\"text\"".into(),
            3 => format!("  {{{}}} rest", fields.join(", ")),
            _ => format!("{{{}}}", fields.join(",")),
        }
    }

    #[test]
    fn plain_records_are_read_like_others() {
        let mut seed = 17_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % below
        };
        let wanted = columns();
        for mode in ["PERMISSIVE", "DROPMALFORMED", "FAILFAST"] {
            let (mut fast, mut slow) = (records(mode, &wanted), records(mode, &wanted));
            assert!(fast.plain.is_some());
            slow.plain = None;
            for _ in 0..300 {
                let lines: Vec<String> = (0..random(12)).map(|_| record(&mut random)).collect();
                let block = lines.join(if random(2) == 0 { "\n" } else { "\r\n" });
                let found = fast.lines(block.as_bytes(), [b'\n', b'\r'], 8).map_err(|e| e.to_string());
                let want = slow.lines(block.as_bytes(), [b'\n', b'\r'], 8).map_err(|e| e.to_string());
                assert_eq!(found, want, "{mode} {block}");
                if mode != "FAILFAST" {
                    assert_eq!(fast.batch(&lines).unwrap(), slow.batch(&lines).unwrap(), "{mode} {block}");
                }
            }
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let wanted = columns();
        let block = b"{\"a\":1,\"b\":\"\xff\"}\n{\"a\":2}";
        let (batch, used) = records("PERMISSIVE", &wanted).lines(block, [b'\n', b'\r'], 10).unwrap();
        assert_eq!(used, block.len());
        let batch = batch.unwrap();
        let texts = batch.column(1).as_any().downcast_ref::<StringArray>().unwrap();
        assert_eq!(texts, &StringArray::from(vec![Some("\u{fffd}"), None]));
    }

    #[test]
    fn lines_may_end_with_other_bytes() {
        let wanted = &columns()[..2];
        let block = b"{\"a\":1;{\"a\":2};{\"a\":3,\"b\":\"x;y\"}";
        let (batch, _) = records("DROPMALFORMED", wanted).lines(block, [b';', b';'], 10).unwrap();
        assert_eq!(batch.unwrap().num_rows(), 1);
    }
}
