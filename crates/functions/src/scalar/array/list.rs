//! Arrays as kernels read and make them.

use crate::room;
use crate::scalar::string::rows::{array_or_constant, downcast, internal, row_count};
use crate::{KernelArgs, TypedExpr};
use arrow::array::{Array, ArrayRef, ListArray, UInt64Array, new_null_array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType as ArrowType, FieldRef};
use datafusion::logical_expr::Expr;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, arrow_mapping};
use std::ops::Range;
use std::sync::Arc;

/// The most elements that Spark lets an array have.
pub const MOST_ELEMENTS: i64 = 2_147_483_632;

/// An argument of any type, row by row.
pub struct Column {
    pub array: ArrayRef,
    is_constant: bool,
}

impl Column {
    /// The argument at `index`.
    pub fn of(args: &KernelArgs<'_>, index: usize) -> Result<Self> {
        let (array, is_constant) = array_or_constant(args, index)?;
        Ok(Self { array, is_constant })
    }

    /// The position in `array` of a row's value.
    #[inline]
    pub fn at(&self, row: usize) -> usize {
        if self.is_constant { 0 } else { row }
    }

    /// True where the row's value is null.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.array.is_null(self.at(row)) || *self.array.data_type() == ArrowType::Null
    }

    /// True where every row has the same value.
    pub fn is_constant(&self) -> bool {
        self.is_constant
    }
}

/// An argument of arrays, row by row.
pub struct Lists {
    list: ListArray,
    is_constant: bool,
}

impl Lists {
    /// The argument at `index`.
    pub fn of(args: &KernelArgs<'_>, index: usize) -> Result<Self> {
        let (array, is_constant) = array_or_constant(args, index)?;
        Ok(Self { list: downcast::<ListArray>(&array)?.clone(), is_constant })
    }

    /// A column of arrays.
    pub fn new(list: ListArray) -> Self {
        Self { list, is_constant: false }
    }

    /// Where the elements of a row's array are in [`values`](Self::values); None for null.
    #[inline]
    pub fn span(&self, row: usize) -> Option<Range<usize>> {
        let row = if self.is_constant { 0 } else { row };
        if self.list.is_null(row) {
            return None;
        }
        Some(range(self.list.value_offsets(), row))
    }

    /// The elements of all rows.
    pub fn values(&self) -> &ArrayRef {
        self.list.values()
    }

    /// The column itself, one row if it is constant.
    pub fn list(&self) -> &ListArray {
        &self.list
    }

    /// True where every row has the same array.
    pub fn is_constant(&self) -> bool {
        self.is_constant
    }
}

/// The range between two offsets.
#[inline]
pub fn range(offsets: &[i32], row: usize) -> Range<usize> {
    let at = |i: usize| offsets.get(i).map_or(0, |o| *o as usize);
    at(row)..at(row + 1)
}

/// The type of an array's elements, and whether they can be null.
pub fn element_of(data_type: &DataType) -> (DataType, bool) {
    match data_type {
        DataType::Array { element, contains_null } => (element.as_ref().clone(), *contains_null),
        _ => (DataType::Null, true),
    }
}

/// The type of the elements of an argument.
pub fn element_type(args: &KernelArgs<'_>, index: usize) -> DataType {
    args.types.get(index).map_or(DataType::Null, |t| element_of(t).0)
}

/// An array with its canonical Arrow type, where a scan gave another one for the same.
pub fn canonical(array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    let wanted = arrow_mapping::to_arrow(data_type);
    conform(array, &wanted)
}

/// An array with the given Arrow type; only fields' names, nullability and metadata may differ, or views.
pub fn conform(array: &ArrayRef, wanted: &ArrowType) -> Result<ArrayRef> {
    if array.data_type() == wanted {
        return Ok(Arc::clone(array));
    }
    if *array.data_type() == ArrowType::Null {
        return Ok(new_null_array(wanted, array.len()));
    }
    arrow::compute::cast(array, wanted).map_err(internal)
}

/// Makes arrays by picking elements out of others.
pub struct Picker {
    sources: Vec<ArrayRef>,
    /// Source and position; a source beyond the last is null.
    picks: Vec<(u32, u32)>,
    offsets: Vec<i32>,
    valid: Vec<bool>,
    field: FieldRef,
}

const NULL_SOURCE: u32 = u32::MAX;
/// Bytes of an element while it is picked: where it is, twice, and a short value.
const ELEMENT: usize = 24;
/// Elements that are gathered without a look at their sizes.
const FEW: usize = 1 << 16;

impl Picker {
    /// For arrays of the kernel's return type.
    pub fn new(args: &KernelArgs<'_>, sources: Vec<ArrayRef>) -> Result<Self> {
        Self::of(&arrow_mapping::to_arrow(args.return_type), sources, row_count(args))
    }

    /// For arrays of an Arrow type.
    pub fn of(list_type: &ArrowType, sources: Vec<ArrayRef>, rows: usize) -> Result<Self> {
        let ArrowType::List(field) = list_type else {
            return Err(SparkError::internal(format!("{list_type} is no type of arrays")));
        };
        let sources = sources.iter().map(|s| conform(s, field.data_type())).collect::<Result<Vec<_>>>()?;
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Ok(Self { sources, picks: Vec::new(), offsets, valid: Vec::with_capacity(rows), field: Arc::clone(field) })
    }

    /// Fails where there is no room for so many more elements.
    pub fn reserve(&self, count: usize) -> Result<()> {
        room::check_many(self.picks.len().saturating_add(count), ELEMENT)
    }

    /// Adds an element to the row's array.
    #[inline]
    pub fn push(&mut self, source: usize, at: usize) {
        self.picks.push((source as u32, at as u32));
    }

    /// Adds elements of one source.
    #[inline]
    pub fn extend(&mut self, source: usize, span: impl Iterator<Item = usize>) {
        self.picks.extend(span.map(|at| (source as u32, at as u32)));
    }

    /// Adds a null.
    #[inline]
    pub fn push_null(&mut self) {
        self.picks.push((NULL_SOURCE, 0));
    }

    /// Ends the row.
    pub fn end(&mut self) -> Result<()> {
        self.valid.push(true);
        self.close()
    }

    /// Ends the row as a null; what it had is dropped.
    pub fn end_null(&mut self) -> Result<()> {
        let start = self.offsets.last().map_or(0, |o| *o as usize);
        self.picks.truncate(start);
        self.valid.push(false);
        self.close()
    }

    fn close(&mut self) -> Result<()> {
        self.reserve(0)?;
        let end = i32::try_from(self.picks.len()).map_err(|_| {
            SparkError::new("COLLECTION_SIZE_LIMIT_EXCEEDED.INITIALIZE")
                .with("numberOfElements", self.picks.len().to_string())
                .with("maxRoundedArrayLength", MOST_ELEMENTS.to_string())
        })?;
        self.offsets.push(end);
        Ok(())
    }

    /// The arrays.
    pub fn finish(self) -> Result<ArrayRef> {
        let values = gather(&self.sources, &self.picks, self.field.data_type())?;
        list_of(self.field, self.offsets, values, &self.valid)
    }
}

/// A column of arrays from its parts.
pub fn list_of(field: FieldRef, offsets: Vec<i32>, values: ArrayRef, valid: &[bool]) -> Result<ArrayRef> {
    let nulls = if valid.iter().all(|v| *v) { None } else { Some(NullBuffer::from(valid.to_vec())) };
    let made = ListArray::try_new(field, OffsetBuffer::new(offsets.into()), values, nulls);
    Ok(Arc::new(made.map_err(internal)?))
}

/// A constant: the only row of an array. DataFusion calls no function without arguments.
pub fn constant(array: &ArrayRef, data_type: DataType) -> Result<TypedExpr> {
    let value = crate::kernel::value_at(array, 0).map_err(internal)?;
    Ok(TypedExpr::new(Expr::Literal(value, None), data_type, false, ""))
}

/// The array without elements, as a constant.
pub fn empty(data_type: DataType) -> Result<TypedExpr> {
    let mut out = Picker::of(&arrow_mapping::to_arrow(&data_type), Vec::new(), 1)?;
    out.end()?;
    constant(&out.finish()?, data_type)
}

/// Fails where there is no room for picked elements, by the average sizes of their sources' elements.
fn check_room(sources: &[ArrayRef], picks: &[(u32, u32)]) -> Result<()> {
    let mut counts = vec![0_u64; sources.len()];
    for (source, _) in picks {
        if let Some(count) = counts.get_mut(*source as usize) {
            *count += 1;
        }
    }
    let bytes = sources.iter().zip(counts).map(|(source, count)| {
        let size = source.to_data().get_slice_memory_size().unwrap_or(0) as u64 / source.len().max(1) as u64;
        size.saturating_mul(count)
    });
    room::check(bytes.fold(0, u64::saturating_add))
}

/// The values at positions of sources; a source beyond the last gives null.
pub fn gather(sources: &[ArrayRef], picks: &[(u32, u32)], data_type: &ArrowType) -> Result<ArrayRef> {
    let known = |source: u32| (source as usize) < sources.len();
    if picks.len() > FEW {
        check_room(sources, picks)?;
    }
    match sources {
        [] => Ok(new_null_array(data_type, picks.len())),
        _ if *data_type == ArrowType::Null => Ok(new_null_array(data_type, picks.len())),
        [only] => {
            let indices: UInt64Array =
                picks.iter().map(|(source, at)| known(*source).then_some(u64::from(*at))).collect();
            arrow::compute::take(only.as_ref(), &indices, None).map_err(internal)
        }
        _ => {
            let null = new_null_array(data_type, 1);
            let mut arrays: Vec<&dyn Array> = sources.iter().map(|s| s.as_ref()).collect();
            arrays.push(null.as_ref());
            let picks: Vec<(usize, usize)> = picks
                .iter()
                .map(|(source, at)| if known(*source) { (*source as usize, *at as usize) } else { (sources.len(), 0) })
                .collect();
            arrow::compute::interleave(&arrays, &picks).map_err(internal)
        }
    }
}

/// The values at positions of one array; None gives null.
pub fn pick_one(source: &ArrayRef, picks: &[Option<usize>], data_type: &DataType) -> Result<ArrayRef> {
    let source = canonical(source, data_type)?;
    let indices: UInt64Array = picks.iter().map(|p| p.map(|at| at as u64)).collect();
    if *source.data_type() == ArrowType::Null {
        return Ok(new_null_array(source.data_type(), picks.len()));
    }
    arrow::compute::take(source.as_ref(), &indices, None).map_err(internal)
}
