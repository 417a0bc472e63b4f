//! `bitmap_construct_agg`, `bitmap_or_agg` and `bitmap_and_agg`.

use super::fold::{Fold, Folded};
use super::states::{Rows, States, typed};
use super::udaf::{BITMAP_BYTES, Call, Kernel, OverNothing};
use super::{AggregateContext, declare};
use crate::{AggregateCall, ArgType, BuildContext, Function, Param, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, BinaryArray, Int64Array};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::Result as DfResult;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;

const POSITION: Signature = Signature::of(&[Param { name: "child", arg_type: ArgType::Long }]);
const BITMAP: Signature = Signature::of(&[Param { name: "child", arg_type: ArgType::Binary }]);

pub static FUNCTIONS: &[&Function] = &[
    &declare(
        "bitmap_construct_agg",
        &[],
        POSITION,
        |c, a| build("bitmap_construct_agg", &CONSTRUCT, c, a),
        "bitmap_construct_agg(child) - Returns a bitmap with the bits of the positions of a group set.",
    ),
    &declare(
        "bitmap_or_agg",
        &[],
        BITMAP,
        |c, a| build("bitmap_or_agg", &OR, c, a),
        "bitmap_or_agg(child) - Returns the bitwise OR of the bitmaps of a group.",
    ),
    &declare(
        "bitmap_and_agg",
        &[],
        BITMAP,
        |c, a| build("bitmap_and_agg", &AND, c, a),
        "bitmap_and_agg(child) - Returns the bitwise AND of the bitmaps of a group.",
    ),
];

pub static CONSTRUCT: Kernel = Kernel {
    name: "bitmap_construct_agg",
    states: |c, _| Ok(states(c, Kind::Construct)),
    over_nothing: OverNothing::Bitmap(0),
};
pub static OR: Kernel =
    Kernel { name: "bitmap_or_agg", states: |c, _| Ok(states(c, Kind::Or)), over_nothing: OverNothing::Bitmap(0) };
pub static AND: Kernel =
    Kernel { name: "bitmap_and_agg", states: |c, _| Ok(states(c, Kind::And)), over_nothing: OverNothing::Bitmap(0xff) };

fn build(
    name: &'static str,
    kernel: &'static Kernel,
    context: &mut BuildContext<'_>,
    call: AggregateCall,
) -> Result<TypedExpr> {
    let call = AggregateContext::new(name, call);
    let data_type = call.argument_type(0)?;
    if name != "bitmap_construct_agg" && data_type != DataType::Binary {
        return Err(call.unexpected_type(0, "\"BINARY\""));
    }
    call.aggregate(kernel, context, DataType::Binary, false, None)
}

fn states(call: &Call, kind: Kind) -> Box<dyn States> {
    Folded::boxed(BitmapFold { call: call.clone(), kind })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Construct,
    Or,
    And,
}

#[derive(Debug, Clone)]
struct BitmapFold {
    call: Call,
    kind: Kind,
}

/// No bitmap before the first value.
type Bitmap = Option<Box<[u8]>>;

impl BitmapFold {
    fn empty(&self) -> Box<[u8]> {
        vec![if self.kind == Kind::And { 0xff } else { 0 }; BITMAP_BYTES].into_boxed_slice()
    }

    fn take(&self, state: &mut Bitmap, other: &[u8]) {
        let bitmap = state.get_or_insert_with(|| self.empty());
        for (index, byte) in bitmap.iter_mut().enumerate() {
            // Bytes that are missing at the end are zero.
            let other = other.get(index).copied().unwrap_or(0);
            *byte = if self.kind == Kind::And { *byte & other } else { *byte | other };
        }
    }
}

impl Fold for BitmapFold {
    type State = Bitmap;

    fn state_types(&self) -> Vec<ArrowType> {
        vec![ArrowType::Binary]
    }

    fn update(&self, states: &mut [Bitmap], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        if self.kind != Kind::Construct {
            return self.merge(states, arguments, rows);
        }
        let positions: &Int64Array = typed(arguments, 0)?;
        rows.try_for_each(positions.nulls(), |row, group| {
            let position = positions.value(row);
            let byte = usize::try_from(position / 8).ok().filter(|byte| position >= 0 && *byte < BITMAP_BYTES);
            let Some(byte) = byte else {
                return Err(self.call.error(
                    SparkError::new("INVALID_BITMAP_POSITION")
                        .with("bitPosition", position.to_string())
                        .with("bitmapNumBytes", BITMAP_BYTES.to_string())
                        .with("bitmapNumBits", (8 * BITMAP_BYTES).to_string()),
                ));
            };
            states[group].get_or_insert_with(|| self.empty())[byte] |= 1 << (position % 8);
            Ok(())
        })
    }

    fn merge(&self, states: &mut [Bitmap], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let bitmaps: &BinaryArray = typed(columns, 0)?;
        rows.for_each(bitmaps.nulls(), |row, group| self.take(&mut states[group], bitmaps.value(row)));
        Ok(())
    }

    fn state(&self, states: &[Bitmap]) -> DfResult<Vec<ArrayRef>> {
        Ok(vec![Arc::new(states.iter().map(Option::as_deref).collect::<BinaryArray>())])
    }

    fn evaluate(&self, states: &[Bitmap]) -> DfResult<ArrayRef> {
        let empty = self.empty();
        Ok(Arc::new(BinaryArray::from_iter_values(states.iter().map(|s| s.as_deref().unwrap_or(&empty)))))
    }

    fn heap_size(&self, state: &Bitmap) -> usize {
        state.as_ref().map_or(0, |bitmap| bitmap.len())
    }
}
