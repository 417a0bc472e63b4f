//! `min_by` and `max_by` with a number of values.

use super::gather::Gathered;
use super::ordering::{converter_with, normalized};
use super::states::{Rows, States, column};
use super::udaf::{Call, Kernel, OverNothing};
use arrow::array::{Array, ArrayRef, ListArray, UInt32Array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{SortOptions, take};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{DataFusionError, Result as DfResult};
use std::sync::Arc;

pub static KERNEL: Kernel = Kernel { name: "extremes_by", states: new_states, over_nothing: OverNothing::Null };

/// The payload of a call.
pub fn payload(is_max: bool, number: i32) -> String {
    format!("{}:{number}", if is_max { "max" } else { "min" })
}

fn new_states(call: &Call, types: &[ArrowType]) -> DfResult<Box<dyn States>> {
    let (direction, number) = call.payload().split_once(':').unwrap_or_default();
    Ok(Box::new(ExtremeLists {
        return_type: call.arrow_return(),
        is_max: direction == "max",
        number: number.parse().unwrap_or(1),
        rows: Gathered::new(types.to_vec()),
        limit: 0,
    }))
}

#[derive(Debug)]
struct ExtremeLists {
    return_type: ArrowType,
    is_max: bool,
    /// How many values a group gives at most.
    number: usize,
    rows: Gathered,
    /// Rows are thinned out when there are more than this.
    limit: usize,
}

impl ExtremeLists {
    /// The best rows of each group, in order, with the number of each group's.
    fn best(&self) -> DfResult<(Vec<ArrayRef>, Vec<usize>)> {
        let (offsets, columns) = self.rows.sorted()?;
        let key = column(&columns, 1)?;
        let options = SortOptions { descending: self.is_max, nulls_first: false };
        let encoded = converter_with(key.data_type(), options)?.convert_columns(&[normalized(key)?])?;
        let (mut order, mut lengths) = (Vec::new(), Vec::new());
        for range in offsets.windows(2) {
            let mut rows: Vec<u32> = (range[0] as u32..range[1] as u32).collect();
            rows.sort_by(|a, b| encoded.row(*a as usize).cmp(&encoded.row(*b as usize)));
            rows.truncate(self.number);
            lengths.push(rows.len());
            order.extend(rows);
        }
        let order = UInt32Array::from(order);
        let columns = columns.iter().map(|c| take(c, &order, None)).collect::<Result<Vec<_>, _>>()?;
        Ok((columns, lengths))
    }

    fn thin_out(&mut self) -> DfResult<()> {
        let (columns, lengths) = self.best()?;
        let mut groups = Vec::new();
        for (group, length) in lengths.iter().enumerate() {
            groups.extend(std::iter::repeat_n(group as u32, *length));
        }
        let mut rows = Gathered::new(columns.iter().map(|c| c.data_type().clone()).collect());
        rows.resize(self.rows.groups());
        let all: Vec<u32> = (0..groups.len() as u32).collect();
        rows.push_taken(&columns, &all, groups)?;
        self.rows = rows;
        self.limit = (2 * self.rows.len()).max(8192);
        Ok(())
    }
}

impl States for ExtremeLists {
    fn state_types(&self) -> Vec<ArrowType> {
        self.rows.state_types()
    }

    fn resize(&mut self, groups: usize) {
        self.rows.resize(groups);
    }

    fn update(&mut self, arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let nulls = column(arguments, 1)?.logical_nulls();
        self.rows.push(arguments, rows, nulls.as_ref())?;
        if self.rows.len() > self.limit.max(8192) {
            self.thin_out()?;
        }
        Ok(())
    }

    fn merge(&mut self, states: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        self.rows.merge(states, rows)
    }

    fn state(&self) -> DfResult<Vec<ArrayRef>> {
        self.rows.state()
    }

    fn evaluate(&self) -> DfResult<ArrayRef> {
        let (columns, lengths) = self.best()?;
        let ArrowType::List(field) = &self.return_type else {
            return Err(DataFusionError::Internal(format!("a list of type {}", self.return_type)));
        };
        let values = Arc::clone(column(&columns, 0)?);
        let nulls = lengths.contains(&0).then(|| NullBuffer::from_iter(lengths.iter().map(|l| *l > 0)));
        let offsets = OffsetBuffer::from_lengths(lengths);
        Ok(Arc::new(ListArray::try_new(Arc::clone(field), offsets, values, nulls)?))
    }

    fn take_first(&mut self, groups: usize) -> DfResult<Box<dyn States>> {
        Ok(Box::new(Self {
            return_type: self.return_type.clone(),
            is_max: self.is_max,
            number: self.number,
            rows: self.rows.take_first(groups)?,
            limit: self.limit,
        }))
    }

    fn size(&self) -> usize {
        self.rows.size()
    }
}
