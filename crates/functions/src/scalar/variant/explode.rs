//! `variant_explode`, `variant_explode_outer`.

use crate::cast::variant::{Variants, VariantsBuilder};
use crate::function::Generator;
use crate::kernel::kernel;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{array_or_constant, finish, internal};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::builder::{Int32Builder, StringBuilder};
use arrow::array::{ArrayRef, ListArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::variant::{Node, malformed};
use firesteel_types::{DataType, StructField, arrow_mapping};
use std::sync::Arc;

const SIGNATURE: Signature = Signature::of(&[param("input", ArgType::Variant)]);

function! {
    /// `variant_explode(input)`
    VARIANT_EXPLODE = "variant_explode" in TableValued, SIGNATURE
        => Body::Generator(|c, a| explode(&VARIANT_EXPLODE, c, a, false));
    usage "A row per field of an object or element of an array, with its position, its name and its value.";
    since "4.0.0";
    example "SELECT * FROM variant_explode(parse_json('[\"hello\", \"world\"]'))" => "0\tNULL\t\"hello\"\n1\tNULL\t\"world\"";
}
function! {
    /// `variant_explode_outer(input)`
    VARIANT_EXPLODE_OUTER = "variant_explode_outer" in TableValued, SIGNATURE
        => Body::Generator(|c, a| explode(&VARIANT_EXPLODE_OUTER, c, a, true));
    usage "As `variant_explode`, but one row of NULL where there is nothing inside.";
    since "4.0.0";
    example "SELECT * FROM variant_explode_outer(parse_json('[\"hello\"]'))" => "0\tNULL\t\"hello\"";
}

/// The kernel of `variant_explode`.
pub static EXPLODE_KERNEL: Function = kernel("variant_explode", run);
/// The kernel of `variant_explode_outer`.
pub static EXPLODE_OUTER_KERNEL: Function = kernel("variant_explode_outer", run);

fn explode(
    function: &Function,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
    is_outer: bool,
) -> Result<Generator> {
    let columns = vec![
        StructField::new("pos", DataType::Integer, false),
        StructField::new("key", DataType::STRING, true),
        StructField::new("value", DataType::Variant, false),
    ];
    let data_type = DataType::array(DataType::struct_of(columns.clone()), true);
    let expr = crate::kernel::call(function, run, &arguments, &data_type, true, context)?;
    Ok(Generator { rows: TypedExpr::new(expr, data_type, true, ""), columns, is_outer })
}

fn run(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (array, _) = array_or_constant(args, 0)?;
    let variants = Variants::of(&array)?;
    let (mut positions, mut keys) = (Int32Builder::new(), StringBuilder::new());
    let mut values = VariantsBuilder::default();
    let mut lengths = Vec::with_capacity(variants.len());
    let mut valid = Vec::with_capacity(variants.len());
    for row in 0..variants.len() {
        let (parts, is_object) = match variants.get(row).map(|v| v.node().ok_or_else(malformed)).transpose()? {
            Some(Node::Object(parts)) => (Some(parts), true),
            Some(Node::Array(parts)) => (Some(parts), false),
            _ => (None, false),
        };
        let count = parts.map_or(0, |p| p.count());
        if let Some(parts) = parts {
            for index in 0..count {
                positions.append_value(i32::try_from(index).map_err(internal)?);
                keys.append_option(match is_object {
                    true => Some(parts.name(index).ok_or_else(malformed)?),
                    false => None,
                });
                let value = parts.value(index).ok_or_else(malformed)?;
                values.append_parts(value.bytes_of_value().ok_or_else(malformed)?, value.metadata());
            }
        }
        lengths.push(count);
        valid.push(count > 0);
    }
    let ArrowType::List(field) = arrow_mapping::to_arrow(args.return_type) else {
        return Err(SparkError::internal("a generator makes arrays"));
    };
    let ArrowType::Struct(fields) = field.data_type() else {
        return Err(SparkError::internal("a generator makes arrays of structs"));
    };
    let columns: Vec<ArrayRef> = vec![Arc::new(positions.finish()), Arc::new(keys.finish()), values.finish()?];
    let rows = StructArray::try_new(fields.clone(), columns, None).map_err(internal)?;
    let offsets = OffsetBuffer::from_lengths(lengths);
    let list = ListArray::try_new(field, offsets, Arc::new(rows), Some(NullBuffer::from(valid)));
    finish(args, Arc::new(list.map_err(internal)?))
}
