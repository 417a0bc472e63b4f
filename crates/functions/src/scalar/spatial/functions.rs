//! The `st_` functions.

use super::wkb::{Endianness, rewrite};
use crate::coercion::{implicitly, mismatch};
use crate::scalar::string::constant::{integer_of, value_of};
use crate::scalar::string::rows::{Binaries, Integers, Rows, Texts, array_or_constant, finish, internal, row_count};
use crate::{
    ArgType, Body, BuildContext, Documentation, Function, Group, KernelArgs, KernelFn, Nullability, Param, Returns,
    Signature, TypedExpr, coercion,
};
use arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, Int32Builder, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType as ArrowType, Int32Type};
use datafusion::logical_expr::{ColumnarValue, lit};
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, arrow_mapping, srid};
use std::sync::Arc;

const fn any(name: &'static str) -> Param {
    Param { name, arg_type: ArgType::Any }
}

type Build = fn(&mut BuildContext<'_>, Vec<TypedExpr>) -> Result<TypedExpr>;

const fn declare(
    name: &'static str,
    signature: Signature,
    build: Build,
    usage: &'static str,
    examples: &'static [(&'static str, &'static str)],
) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Misc,
        signature,
        body: Body::Named(build),
        deterministic: true,
        text: None,
        documentation: Documentation { usage, examples, since: "4.1.0", ..Documentation::EMPTY },
    }
}

const fn kernel(name: &'static str, kernel: KernelFn) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Internal,
        signature: Signature::variadic(&[], ArgType::Any),
        body: Body::Scalar { returns: Returns::Type(DataType::Null), nullable: Nullability::Always, kernel },
        deterministic: true,
        text: None,
        documentation: Documentation::EMPTY,
    }
}

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[&ST_ASBINARY, &ST_GEOGFROMWKB, &ST_GEOMFROMWKB, &ST_SETSRID, &ST_SRID];
/// The kernels, by their functions' names.
pub static KERNELS: &[&Function] = &[&AS_BINARY, &GEOGRAPHY, &GEOMETRY, &SET_SRID, &SRID];

static ST_ASBINARY: Function = declare(
    "st_asbinary",
    Signature::with_optional(&[any("geo"), any("endianness")], 1),
    build_binary,
    "A shape as WKB, the lowest byte of numbers first unless the endianness is XDR.",
    &[(
        "SELECT hex(st_asbinary(st_geomfromwkb(X'0101000000000000000000F03F0000000000000040'), 'XDR'))",
        "00000000013FF00000000000004000000000000000",
    )],
);
static ST_GEOGFROMWKB: Function = declare(
    "st_geogfromwkb",
    Signature::of(&[any("wkb")]),
    build_geography,
    "The geography of WKB.",
    &[(
        "SELECT hex(st_asbinary(st_geogfromwkb(X'0101000000000000000000F03F0000000000000040')))",
        "0101000000000000000000F03F0000000000000040",
    )],
);
static ST_GEOMFROMWKB: Function = declare(
    "st_geomfromwkb",
    Signature::with_optional(&[any("wkb"), any("srid")], 1),
    build_geometry,
    "The geometry of WKB, in a reference system.",
    &[("SELECT st_srid(st_geomfromwkb(X'0101000000000000000000F03F0000000000000040', 4326))", "4326")],
);
static ST_SETSRID: Function = declare(
    "st_setsrid",
    Signature::of(&[any("geo"), any("srid")]),
    build_set,
    "The same shape in another reference system; its coordinates stay.",
    &[("SELECT st_srid(st_setsrid(ST_GeomFromWKB(X'0101000000000000000000F03F0000000000000040'), 3857))", "3857")],
);
static ST_SRID: Function = declare(
    "st_srid",
    Signature::of(&[any("geo")]),
    build_srid,
    "The number of a shape's reference system.",
    &[("SELECT st_srid(NULL)", "NULL")],
);

static AS_BINARY: Function = kernel("st_asbinary", as_binary);
static GEOGRAPHY: Function = kernel("st_geogfromwkb", |args| from_wkb(args, true));
static GEOMETRY: Function = kernel("st_geomfromwkb", |args| from_wkb(args, false));
static SET_SRID: Function = kernel("st_setsrid", set_srid);
static SRID: Function = kernel("st_srid", srids);

/// The reference system of geographies.
const GEOGRAPHIC: i32 = 4326;

fn call(
    function: &'static Function,
    context: &BuildContext<'_>,
    arguments: &[TypedExpr],
    returns: DataType,
    nullable: bool,
    text: String,
) -> Result<TypedExpr> {
    let Body::Scalar { kernel, .. } = &function.body else {
        return Err(SparkError::internal(format!("{} has no kernel", function.name)));
    };
    let expr = crate::kernel::call(function, *kernel, arguments, &returns, nullable, context)?;
    Ok(TypedExpr::new(expr, returns, nullable, text))
}

fn text_of(name: &str, arguments: &[TypedExpr]) -> String {
    let names: Vec<&str> = arguments.iter().map(|a| a.name.as_str()).collect();
    format!("{name}({})", names.join(", "))
}

/// An argument that must be a shape.
fn shape(argument: &TypedExpr, text: &str, context: &mut BuildContext<'_>) -> Result<TypedExpr> {
    match &argument.data_type {
        DataType::Geometry(_) | DataType::Geography(_) => Ok(argument.clone()),
        DataType::Null => implicitly(argument.clone(), &DataType::Geography(GEOGRAPHIC), context),
        other => Err(SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
            .with("sqlExpr", mismatch::quoted(text))
            .with("paramIndex", "first")
            .with("requiredType", r#"("GEOGRAPHY" or "GEOMETRY")"#)
            .with("inputSql", mismatch::quoted(&argument.name))
            .with("inputType", mismatch::quoted_type(other))),
    }
}

fn build_binary(context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    if arguments.len() < 2 {
        arguments.push(TypedExpr::new(lit("NDR"), DataType::STRING, false, "NDR"));
    }
    let text = text_of("st_asbinary", &arguments);
    let [geo, endianness] = arguments.as_slice() else { return Err(SparkError::internal("no shape")) };
    let endianness = coercion::coerce_argument(endianness.clone(), ArgType::String, 1, &text, context)?;
    let nullable = geo.nullable || endianness.nullable;
    if geo.data_type.is_null() {
        return Ok(implicitly(geo.clone(), &DataType::Binary, context)?.named(text));
    }
    let geo = shape(geo, &text, context)?;
    call(&AS_BINARY, context, &[geo, endianness], DataType::Binary, nullable, text)
}

fn build_geography(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let text = text_of("st_geogfromwkb", &arguments);
    let Some(wkb) = arguments.into_iter().next() else { return Err(SparkError::internal("no WKB")) };
    let wkb = coercion::coerce_argument(wkb, ArgType::Binary, 0, &text, context)?;
    let srid = TypedExpr::new(lit(GEOGRAPHIC), DataType::Integer, false, "4326");
    let nullable = wkb.nullable;
    call(&GEOGRAPHY, context, &[wkb, srid], DataType::Geography(GEOGRAPHIC), nullable, text)
}

fn invalid_srid(srid: i64) -> SparkError {
    SparkError::new("ST_INVALID_SRID_VALUE").with("srid", srid.to_string())
}

fn is_srid(number: i32, is_geography: bool) -> bool {
    number != srid::ANY && if is_geography { srid::is_geography_srid(number) } else { srid::is_geometry_srid(number) }
}

/// The reference system that a constant names, else any.
fn srid_of(argument: &TypedExpr, is_geography: bool) -> Result<i32> {
    let Some(value) = value_of(argument)? else { return Ok(srid::ANY) };
    match integer_of(&value) {
        None => Ok(srid::ANY),
        Some(number) => match i32::try_from(number) {
            Ok(number) if is_srid(number, is_geography) => Ok(number),
            _ => Err(invalid_srid(number)),
        },
    }
}

fn build_geometry(context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    if arguments.len() < 2 {
        arguments.push(TypedExpr::new(lit(0i32), DataType::Integer, false, "0"));
    }
    let text = text_of("st_geomfromwkb", &arguments);
    let [wkb, srid] = arguments.as_slice() else { return Err(SparkError::internal("no WKB")) };
    let wkb = coercion::coerce_argument(wkb.clone(), ArgType::Binary, 0, &text, context)?;
    let srid = coercion::coerce_argument(srid.clone(), ArgType::Integer, 1, &text, context)?;
    let number = srid_of(&srid, false)?;
    let nullable = wkb.nullable || srid.nullable;
    call(&GEOMETRY, context, &[wkb, srid], DataType::Geometry(number), nullable, text)
}

fn build_set(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let text = text_of("st_setsrid", &arguments);
    let [geo, srid] = arguments.as_slice() else { return Err(SparkError::internal("no shape")) };
    let geo = shape(geo, &text, context)?;
    let srid = coercion::coerce_argument(srid.clone(), ArgType::Integer, 1, &text, context)?;
    let is_geography = matches!(geo.data_type, DataType::Geography(_));
    let number = srid_of(&srid, is_geography)?;
    let returns = if is_geography { DataType::Geography(number) } else { DataType::Geometry(number) };
    let nullable = geo.nullable || srid.nullable;
    call(&SET_SRID, context, &[geo, srid], returns, nullable, text)
}

fn build_srid(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let text = text_of("st_srid", &arguments);
    let Some(geo) = arguments.first() else { return Err(SparkError::internal("no shape")) };
    if geo.data_type.is_null() {
        return Ok(implicitly(geo.clone(), &DataType::Integer, context)?.named(text));
    }
    let geo = shape(geo, &text, context)?;
    let nullable = geo.nullable;
    call(&SRID, context, &[geo], DataType::Integer, nullable, text)
}

/// Shapes from their reference systems and bytes.
fn shapes(args: &KernelArgs<'_>, rows: Vec<Option<(i32, Vec<u8>)>>) -> Result<ColumnarValue> {
    let (mut numbers, mut bytes) = (Int32Builder::new(), BinaryBuilder::new());
    for row in &rows {
        numbers.append_value(row.as_ref().map_or(0, |(number, _)| *number));
        bytes.append_value(row.as_ref().map(|(_, bytes)| bytes.as_slice()).unwrap_or_default());
    }
    let ArrowType::Struct(fields) = arrow_mapping::to_arrow(args.return_type) else {
        return Err(internal("shapes are structs"));
    };
    let nulls: NullBuffer = rows.iter().map(Option::is_some).collect();
    let columns: Vec<ArrayRef> = vec![Arc::new(numbers.finish()), Arc::new(bytes.finish())];
    let array = StructArray::try_new(fields, columns, Some(nulls)).map_err(internal)?;
    finish(args, Arc::new(array))
}

fn from_wkb(args: &KernelArgs<'_>, is_geography: bool) -> Result<ColumnarValue> {
    let (values, srids): (Binaries, Integers) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let mut rows = Vec::new();
    for row in 0..row_count(args) {
        let (Some(wkb), Some(srid)) = (values.get(row), srids.get(row)) else {
            rows.push(None);
            continue;
        };
        if !is_srid(srid, is_geography) {
            return Err(invalid_srid(srid.into()));
        }
        rows.push(Some((srid, rewrite(wkb, Endianness::Ndr, is_geography)?)));
    }
    shapes(args, rows)
}

/// A column of shapes.
struct Shapes {
    array: StructArray,
    is_constant: bool,
}

impl Shapes {
    fn of(args: &KernelArgs<'_>) -> Result<Self> {
        let (array, is_constant) = array_or_constant(args, 0)?;
        let array = array.as_struct_opt().ok_or_else(|| internal("shapes are structs"))?.clone();
        Ok(Self { array, is_constant })
    }

    /// The reference system and the bytes of a row.
    fn get(&self, row: usize) -> Option<(i32, &[u8])> {
        let row = if self.is_constant { 0 } else { row };
        if self.array.is_null(row) {
            return None;
        }
        let srid = self.array.column(0).as_primitive::<Int32Type>().value(row);
        Some((srid, self.array.column(1).as_binary::<i32>().value(row)))
    }
}

fn as_binary(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (values, orders): (Shapes, Texts) = (Shapes::of(args)?, Rows::of(args, 1)?);
    crate::scalar::string::rows::binaries(args, |row| {
        let (Some((_, wkb)), Some(order)) = (values.get(row), orders.get(row)) else { return Ok(None) };
        let target = match order.to_ascii_uppercase().as_str() {
            "NDR" => Endianness::Ndr,
            "XDR" => Endianness::Xdr,
            _ => return Err(SparkError::new("ST_INVALID_ENDIANNESS_VALUE").with("endianness", order)),
        };
        rewrite(wkb, target, false).map(Some)
    })
}

fn set_srid(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (values, srids): (Shapes, Integers) = (Shapes::of(args)?, Rows::of(args, 1)?);
    let is_geography = matches!(args.return_type, DataType::Geography(_));
    let mut rows = Vec::new();
    for row in 0..row_count(args) {
        rows.push(match (values.get(row), srids.get(row)) {
            (Some(_), Some(srid)) if !is_srid(srid, is_geography) => return Err(invalid_srid(srid.into())),
            (Some((_, wkb)), Some(srid)) => Some((srid, wkb.to_vec())),
            _ => None,
        });
    }
    shapes(args, rows)
}

fn srids(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values = Shapes::of(args)?;
    crate::scalar::string::rows::primitives::<Int32Type>(args, |row| Ok(values.get(row).map(|(srid, _)| srid)))
}
