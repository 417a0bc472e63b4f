//! Types of columns from the values of blocks, in parts of files side by side.
//!
//! What a column's type becomes depends on the order of its values. Each part is read as if it
//! were the first one; where that may give another type than the values before it ask for, it is
//! read again after them.

use super::CsvOptions;
use super::block::Records;
use super::fill::skip_record;
use super::infer::{combined, guess};
use crate::blocks::Blocks;
use crate::lines::text;
use crate::records::FilePart;
use firesteel_error::Result;
use firesteel_functions::cast::digits;
use firesteel_types::DataType;

/// Records that are looked at together.
const ROWS: usize = 4096;

/// The type of a column so far.
#[derive(Debug, Clone)]
pub(super) struct Fold {
    so_far: DataType,
    /// The type of the first value.
    first: DataType,
    /// True where each value was taken for a whole number of up to 64 bits or a double.
    is_chain: bool,
    /// True where a value was nothing but text.
    is_text: bool,
}

impl Fold {
    pub(super) fn new(so_far: DataType) -> Self {
        Self { so_far, first: DataType::Null, is_chain: true, is_text: false }
    }

    /// Looks at one more value.
    #[cold]
    fn add(&mut self, value: &[u8], options: &CsvOptions) {
        let one = guess(&self.so_far, &text(value), options);
        self.is_chain &= chain(&one).is_some();
        self.is_text |= one.is_string();
        self.so_far = combined(&self.so_far, &one);
        if self.first.is_null() {
            self.first = self.so_far.clone();
        }
    }

    /// The type after values of a type, and then those seen here from their start on; None where it is not known.
    fn after(&self, before: &DataType) -> Option<DataType> {
        match before {
            _ if self.first.is_null() => Some(before.clone()),
            DataType::Null => Some(self.so_far.clone()),
            DataType::String(_) => Some(before.clone()),
            _ if self.is_text => Some(DataType::STRING),
            _ if *before == self.first => Some(self.so_far.clone()),
            _ if self.is_chain && chain(before).is_some() => Some(combined(before, &self.so_far)),
            _ => None,
        }
    }

    /// Looks at the values of a column.
    fn add_column(&mut self, block: &[u8], records: &Records, column: usize, options: &CsvOptions) {
        let mut row = 0;
        while row < records.len() && !self.so_far.is_string() {
            let values = Values { block, records, column, options };
            // Values that change nothing are told by their bytes alone.
            row = match self.so_far {
                DataType::Integer => values.skip(row, |bytes| digits::is_digits(unsigned(bytes), 9)),
                DataType::Long => values.skip(row, |bytes| digits::is_digits(unsigned(bytes), 18)),
                DataType::Double => values.skip(row, digits::is_pointed),
                _ => values.skip(row, |_| false),
            };
            if row < records.len() {
                if let Some(value) = records.value(block, row, column, options) {
                    self.add(value, options);
                }
                row += 1;
            }
        }
    }
}

/// The values of a column.
struct Values<'a> {
    block: &'a [u8],
    records: &'a Records,
    column: usize,
    options: &'a CsvOptions,
}

impl Values<'_> {
    /// The first row from `row` on of which the value does not fit.
    #[inline]
    fn skip(&self, mut row: usize, fits: impl Fn(&[u8]) -> bool) -> usize {
        while row < self.records.len() {
            match self.records.value(self.block, row, self.column, self.options) {
                Some(value) if !value.is_empty() && !fits(value) => break,
                _ => row += 1,
            }
        }
        row
    }
}

fn unsigned(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"-").unwrap_or(bytes)
}

fn chain(data_type: &DataType) -> Option<usize> {
    [DataType::Integer, DataType::Long, DataType::Double].iter().position(|t| t == data_type)
}

/// Looks at the values of a part of a file.
fn fold(part: &FilePart, columns: &mut [Fold], options: &CsvOptions) -> Result<()> {
    let mut blocks = Blocks::open(part, &options.lines)?;
    let ends = blocks.line_ends();
    let slots = (0..columns.len()).map(|i| u32::try_from(i).ok()).collect();
    let mut records = Records::new(slots, columns.len());
    if options.header && part.start == 0 {
        skip_record(&mut blocks, &mut Records::new(Vec::new(), 0), options)?;
    }
    while let Some(block) = blocks.block()? {
        let (mut rest, all) = (block, block.len());
        while !rest.is_empty() {
            let used = records.scan(rest, ends, ROWS, options);
            for (i, column) in columns.iter_mut().enumerate() {
                column.add_column(rest, &records, i, options);
            }
            rest = &rest[used..];
        }
        blocks.take(all, 0);
    }
    Ok(())
}

/// The types of columns of the parts of files, one after the other.
pub(super) fn types(parts: &[FilePart], columns: usize, options: &CsvOptions) -> Result<Vec<DataType>> {
    let folds = crate::parallel::map(parts, |part| {
        let mut folds = vec![Fold::new(DataType::Null); columns];
        fold(part, &mut folds, options)?;
        Ok(folds)
    })?;
    let mut types = vec![DataType::Null; columns];
    for (part, folds) in parts.iter().zip(folds) {
        let after: Option<Vec<DataType>> = folds.iter().zip(&types).map(|(fold, before)| fold.after(before)).collect();
        types = match after {
            Some(after) => after,
            None => {
                let mut again: Vec<Fold> = types.into_iter().map(Fold::new).collect();
                fold(part, &mut again, options)?;
                again.into_iter().map(|fold| fold.so_far).collect()
            }
        };
    }
    Ok(types)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::options::SourceOptions;
    use firesteel_config::SqlConf;
    use std::io::Write;

    #[test]
    fn parts_make_the_types_of_the_whole() {
        let mut seed = 11_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % below
        };
        let values = [
            "1",
            "-5",
            "123456789",
            "2147483648",
            "-99999999999",
            "9223372036854775808",
            "99999999999999999999",
            "1.5",
            "-.5",
            "1e3",
            "NaN",
            "2020-01-01",
            "2020",
            "2020-01-01 10:00:00",
            "true",
            "FALSE",
            "x",
            "",
            "-",
            "+7",
        ];
        let options = SourceOptions::new(&[("inferSchema".into(), "true".into())]);
        let options = CsvOptions::new(&options, &SqlConf::default()).unwrap();
        for _ in 0..3000 {
            let first = random(values.len());
            let kinds = 1 + random(4);
            let column: Vec<&str> =
                (0..1 + random(30)).map(|_| values[(first + random(kinds)) % values.len()]).collect();
            let mut want = DataType::Null;
            for value in column.iter().filter(|v| !v.is_empty()) {
                if !want.is_string() {
                    want = combined(&want, &guess(&want, value, &options));
                }
            }
            let content: String = column.iter().map(|value| format!("{value},\n")).collect();
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(content.as_bytes()).unwrap();
            let size = content.len() as u64;
            let mut cuts = vec![0, size];
            cuts.extend((0..random(3)).map(|_| random(content.len()) as u64));
            cuts.sort_unstable();
            let part = |start, end| FilePart::local(file.path(), size, start..end);
            let parts: Vec<FilePart> = cuts.windows(2).filter(|w| w[0] < w[1]).map(|w| part(w[0], w[1])).collect();
            assert_eq!(types(&parts, 1, &options).unwrap(), [want], "{column:?} {cuts:?}");
        }
    }
}
