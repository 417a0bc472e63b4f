//! Batches of blocks of records, column by column.

use super::block::Records;
use super::column::Column;
use super::{CsvOptions, ParseMode, malformed};
use crate::blocks::Blocks;
use crate::lines::text;
use crate::records::Batches;
use crate::text::rows_only;
use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, Decimal128Array, NullBufferBuilder, PrimitiveArray, RecordBatch,
    StringArray, StringBuilder,
};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, SchemaRef};
use firesteel_error::{Result, SparkError};
use firesteel_functions::cast::digits;
use firesteel_types::DataType;
use std::sync::Arc;

/// What a batch is made of.
pub(super) struct Shape {
    pub options: Arc<CsvOptions>,
    pub schema: SchemaRef,
    pub types: Vec<DataType>,
    /// Where each column's value stands in a record; None for the column of corrupt records.
    pub sources: Vec<Option<usize>>,
    /// How many values a good record has; None where it is not asked.
    pub width: Option<usize>,
    pub batch_size: usize,
}

/// Reads all records of blocks.
pub(super) fn batches(mut blocks: Blocks, skips_first: bool, shape: Shape) -> Result<Batches> {
    let ends = blocks.line_ends();
    if skips_first {
        let mut first = Records::new(Vec::new(), 0);
        skip_record(&mut blocks, &mut first, &shape.options)?;
    }
    let mut records = shape.records();
    let mut next = move || -> Result<Option<RecordBatch>> {
        loop {
            let Some(block) = blocks.block()? else { return Ok(None) };
            let used = records.scan(block, ends, shape.batch_size, &shape.options);
            let batch = if records.len() == 0 { None } else { shape.batch(block, &records)? };
            blocks.take(used, used / records.len().max(1) * shape.batch_size / 8 * 9);
            if batch.is_some() {
                return Ok(batch);
            }
        }
    };
    Ok(Box::new(std::iter::from_fn(move || next().transpose())))
}

/// Skips the first record, such as a header.
pub(super) fn skip_record(blocks: &mut Blocks, records: &mut Records, options: &CsvOptions) -> Result<()> {
    let ends = blocks.line_ends();
    while let Some(block) = blocks.block()? {
        let used = records.scan(block, ends, 1, options);
        blocks.take(used, 0);
        if records.len() > 0 {
            break;
        }
    }
    Ok(())
}

impl Shape {
    fn records(&self) -> Records {
        let length = self.sources.iter().flatten().max().map_or(0, |last| last + 1);
        let mut slots = vec![None; length];
        for (column, source) in self.sources.iter().enumerate() {
            if let Some(slot) = source.and_then(|s| slots.get_mut(s)) {
                *slot = u32::try_from(column).ok();
            }
        }
        Records::new(slots, self.sources.len())
    }

    /// The records as a batch; None where none of them is left.
    fn batch(&self, block: &[u8], records: &Records) -> Result<Option<RecordBatch>> {
        let rows = records.len();
        let options = &*self.options;
        if self.sources.is_empty() {
            return rows_only(rows).map(Some);
        }
        let mut bad = vec![false; rows];
        for (row, bad) in bad.iter_mut().enumerate() {
            let values = records.values(row);
            if values > options.max_columns {
                let record = text(records.raw(block, row)).into_owned();
                return Err(SparkError::new("MALFORMED_CSV_RECORD").with("badRecord", record));
            }
            *bad = self.width.is_some_and(|width| width != values);
        }
        let mut arrays: Vec<Option<ArrayRef>> = Vec::with_capacity(self.sources.len());
        for (column, (source, data_type)) in self.sources.iter().zip(&self.types).enumerate() {
            let values = Values { block, records, column, options };
            arrays.push(if source.is_some() { Some(values.array(data_type, &mut bad)?) } else { None });
        }
        if options.mode == ParseMode::FailFast
            && let Some(row) = bad.iter().position(|bad| *bad)
        {
            return Err(malformed(&text(records.raw(block, row))));
        }
        let arrays = arrays.into_iter().map(|array| array.unwrap_or_else(|| corrupt(block, records, &bad))).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), arrays).map_err(crate::error::from_arrow)?;
        if options.mode != ParseMode::DropMalformed || !bad.contains(&true) {
            return Ok(Some(batch));
        }
        let good: BooleanArray = bad.iter().map(|bad| Some(!bad)).collect();
        filter_record_batch(&batch, &good).map(Some).map_err(crate::error::from_arrow)
    }
}

/// The texts of bad records.
fn corrupt(block: &[u8], records: &Records, bad: &[bool]) -> ArrayRef {
    let mut builder = StringBuilder::new();
    for (row, bad) in bad.iter().enumerate() {
        builder.append_option(bad.then(|| text(records.raw(block, row))));
    }
    Arc::new(builder.finish())
}

/// The values of a column.
struct Values<'a> {
    block: &'a [u8],
    records: &'a Records,
    column: usize,
    options: &'a CsvOptions,
}

impl<'a> Values<'a> {
    #[inline]
    fn get(&self, row: usize) -> Option<&'a [u8]> {
        self.records.value(self.block, row, self.column, self.options)
    }

    fn array(&self, data_type: &DataType, bad: &mut [bool]) -> Result<ArrayRef> {
        macro_rules! whole {
            ($type:ty) => {
                Arc::new(self.primitive::<$type>(bad, |bytes| digits::whole(bytes)?.try_into().ok()))
            };
        }
        Ok(match data_type {
            DataType::String(_) | DataType::Char(_) | DataType::Varchar(_) => self.texts(),
            DataType::Byte => whole!(Int8Type),
            DataType::Short => whole!(Int16Type),
            DataType::Integer => whole!(Int32Type),
            DataType::Long => whole!(Int64Type),
            DataType::Double => Arc::new(self.doubles(bad)),
            DataType::Decimal(precision, scale) => Arc::new(self.decimals(*precision, *scale, bad)?),
            other => {
                let mut column = Column::new(other, bad.len());
                self.each(&mut column, bad);
                column.finish(self.options)?
            }
        })
    }

    /// Adds all values one by one.
    fn each(&self, column: &mut Column, bad: &mut [bool]) {
        for (row, bad) in bad.iter_mut().enumerate() {
            let value = self.get(row).map(text);
            *bad |= !column.append(value.as_deref(), self.options);
        }
    }

    fn primitive<T: ArrowPrimitiveType>(
        &self,
        bad: &mut [bool],
        parse: impl Fn(&[u8]) -> Option<T::Native>,
    ) -> PrimitiveArray<T> {
        let mut values: Vec<T::Native> = Vec::with_capacity(bad.len());
        let mut nulls = NullBufferBuilder::new(bad.len());
        for (row, bad) in bad.iter_mut().enumerate() {
            let value = self.get(row).and_then(|bytes| {
                let value = parse(bytes);
                *bad |= value.is_none();
                value
            });
            nulls.append(value.is_some());
            values.push(value.unwrap_or_default());
        }
        PrimitiveArray::new(ScalarBuffer::from(values), nulls.finish())
    }

    fn doubles(&self, bad: &mut [bool]) -> PrimitiveArray<Float64Type> {
        let options = self.options;
        let is_word = |text: &str| digits::double(text.as_bytes()).is_none();
        let are_words =
            [&options.nan, &options.positive_infinity, &options.negative_infinity].iter().all(|t| is_word(t));
        self.primitive(bad, |bytes| {
            let plain = if are_words { digits::double(bytes) } else { None };
            plain.or_else(|| options.double(&text(bytes)))
        })
    }

    fn decimals(&self, precision: u8, scale: i8, bad: &mut [bool]) -> Result<Decimal128Array> {
        let array = self.primitive(bad, |bytes| {
            digits::decimal(bytes, precision, scale).or_else(|| super::column::decimal(&text(bytes), precision, scale))
        });
        array.with_precision_and_scale(precision, scale).map_err(crate::error::from_arrow)
    }

    fn texts(&self) -> ArrayRef {
        let rows = self.records.len();
        let mut offsets: Vec<i32> = Vec::with_capacity(rows + 1);
        let mut bytes: Vec<u8> = Vec::with_capacity(rows * 16);
        let mut nulls = NullBufferBuilder::new(rows);
        offsets.push(0);
        for row in 0..rows {
            let value = self.get(row);
            nulls.append(value.is_some());
            bytes.extend_from_slice(value.unwrap_or_default());
            // A block has less than 2 GiB.
            offsets.push(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
        }
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        if let Ok(array) = StringArray::try_new(offsets, Buffer::from_vec(bytes), nulls.finish()) {
            return Arc::new(array);
        }
        let mut builder = StringBuilder::with_capacity(rows, rows * 16);
        (0..rows).for_each(|row| builder.append_option(self.get(row).map(text)));
        Arc::new(builder.finish())
    }
}
