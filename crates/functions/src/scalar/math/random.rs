//! Random numbers: Spark's generator, so that a seed gives the same numbers.
//!
//! The generator of a call lives as long as the call: the rows that it meets
//! get the sequence of partition 0, batch after batch.

use crate::coercion::mismatch::unexpected_input;
use crate::coercion::{implicitly, wider_common_type};
use crate::kernel::kernel;
use crate::scalar::string::constant::{integer_of, not_foldable, value_of};
use crate::scalar::string::declare::{call_without_arguments, function, param};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, KernelFn, Signature, TypedExpr};
use arrow::array::Float64Array;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use parking_lot::Mutex;
use std::sync::Arc;

const SEED: Signature = Signature::with_optional(&[param("seed", ArgType::Any)], 1);

function! {
    /// `rand([seed])`
    RAND = "rand" or "random" in Math, SEED => Body::Build(|context, arguments| build(&RAND, context, arguments, uniform));
    volatile true;
    usage "Random numbers from 0 up to 1, all as likely.";
    since "1.5.0";
    example "SELECT rand(0)" => "0.7604953758285915";
}
function! {
    /// `randn([seed])`
    RANDN = "randn" in Math, SEED => Body::Build(|context, arguments| build(&RANDN, context, arguments, normal));
    volatile true;
    usage "Random numbers of the standard normal distribution.";
    since "1.5.0";
    example "SELECT randn(0)" => "1.6034991609278433";
}

function! {
    /// `uniform(min, max[, seed])`
    UNIFORM = "uniform" in Math, Signature::with_optional(
            &[param("min", ArgType::Any), param("max", ArgType::Any), param("seed", ArgType::Any)],
            1,
        )
        => Body::Build(build_uniform);
    volatile true;
    usage "Random numbers from `min` up to `max`, all as likely.";
    since "4.0.0";
    example "SELECT uniform(10, 20, 0) > 0 AS result" => "true";
}

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] = &[&kernel("rand", uniform), &kernel("randn", normal)];

/// `min + (max - min) * rand(seed)`, as the wider type of the bounds.
fn build_uniform(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let text = UNIFORM.call_text(&names);
    let [least, most, rest @ ..] = arguments.as_slice() else {
        return Err(SparkError::internal("uniform takes two arguments"));
    };
    for (index, bound) in [least, most].into_iter().enumerate() {
        if !(bound.data_type.is_numeric() || bound.data_type.is_null()) {
            return Err(unexpected_input(&text, index, ArgType::Numeric, bound));
        }
        if value_of(bound)?.is_none() {
            let parameter = if index == 0 { "min" } else { "max" };
            return Err(not_foldable(bound, &text, parameter, "integer or floating-point"));
        }
    }
    let seed = seed_of(rest.first(), &text, &text, "third")?;
    let data_type = match (&least.data_type, &most.data_type) {
        (DataType::Null, _) | (_, DataType::Null) => DataType::Double,
        (DataType::Decimal(p, s), other) | (other, DataType::Decimal(p, s)) if other.is_integral() => {
            DataType::Decimal(*p, *s)
        }
        (DataType::Float, other) | (other, DataType::Float) if *other != DataType::Double => DataType::Float,
        _ => wider_common_type(&[least.data_type.clone(), most.data_type.clone()], context.conf.ansi_enabled)
            .unwrap_or(DataType::Double),
    };
    let random = call_without_arguments(&RAND, uniform, DataType::Double, Some(Arc::from(seed.to_string())), context)?;
    let as_double =
        |bound: &TypedExpr, context: &mut BuildContext<'_>| implicitly(bound.clone(), &DataType::Double, context);
    let (low, high) = (as_double(least, context)?, as_double(most, context)?);
    let span = high.expr - low.expr.clone();
    let sum = low.expr + span * random.expr;
    let value = TypedExpr::new(sum, DataType::Double, false, text.clone());
    let uniform = implicitly(value, &data_type, context)?;
    // Spark takes the result for never null, even where a bound is.
    Ok(TypedExpr { nullable: false, ..uniform }.named(text))
}

/// Spark's pseudo-random generator.
#[derive(Debug)]
pub struct XorShift {
    state: u64,
    /// The second number of a pair of normal ones.
    kept: Option<f64>,
}

impl XorShift {
    /// The generator of a seed.
    pub fn new(seed: i64) -> Self {
        let bytes = seed.to_be_bytes();
        let low = murmur3(&bytes, 0x3c07_4a61);
        let high = murmur3(&bytes, low);
        Self { state: (u64::from(high) << 32) | u64::from(low), kept: None }
    }

    fn next(&mut self, bits: u32) -> u64 {
        let mut state = self.state;
        state ^= state << 21;
        state ^= state >> 35;
        state ^= state << 4;
        self.state = state;
        state & ((1u64 << bits) - 1)
    }

    /// A number of 32 bits.
    pub fn next_int(&mut self) -> i32 {
        self.next(32) as u32 as i32
    }

    /// A number from 0 up to `bound`, which is positive.
    pub fn next_below(&mut self, bound: i32) -> i32 {
        if bound & bound.wrapping_sub(1) == 0 {
            return ((i64::from(bound) * self.next(31) as i64) >> 31) as i32;
        }
        loop {
            let bits = self.next(31) as i32;
            let value = bits % bound;
            if bits.wrapping_sub(value).wrapping_add(bound - 1) >= 0 {
                return value;
            }
        }
    }

    /// A number from 0 up to 1.
    pub fn next_double(&mut self) -> f64 {
        let high = self.next(26);
        let low = self.next(27);
        ((high << 27) + low) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A number of the standard normal distribution.
    pub fn next_gaussian(&mut self) -> f64 {
        if let Some(kept) = self.kept.take() {
            return kept;
        }
        loop {
            let a = 2.0 * self.next_double() - 1.0;
            let b = 2.0 * self.next_double() - 1.0;
            let square = a * a + b * b;
            if square < 1.0 && square != 0.0 {
                let factor = (-2.0 * super::logarithm::ln(square) / square).sqrt();
                self.kept = Some(b * factor);
                return a * factor;
            }
        }
    }
}

/// Murmur3 of bytes as Scala's library has it.
fn murmur3(bytes: &[u8], seed: u32) -> u32 {
    let mut hash = seed;
    let mix = |k: u32| k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let mut chunks = bytes.chunks_exact(4);
    for chunk in chunks.by_ref() {
        let k = chunk.iter().rev().fold(0u32, |k, byte| (k << 8) | u32::from(*byte));
        hash = (hash ^ mix(k)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    let rest = chunks.remainder();
    if !rest.is_empty() {
        hash ^= mix(rest.iter().rev().fold(0u32, |k, byte| (k << 8) | u32::from(*byte)));
    }
    hash ^= bytes.len() as u32;
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85eb_ca6b);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

/// A seed nobody chose.
pub fn fresh_seed() -> i64 {
    uuid::Uuid::new_v4().as_u64_pair().0 as i64
}

/// The seed that a call names, or a fresh one.
pub fn seed_of(argument: Option<&TypedExpr>, function: &str, call: &str, position: &str) -> Result<i64> {
    let Some(argument) = argument else { return Ok(fresh_seed()) };
    if !matches!(argument.data_type, DataType::Integer | DataType::Long | DataType::Null) {
        return Err(SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
            .with("paramIndex", position)
            .with("requiredType", "(\"INT\" or \"BIGINT\")")
            .with("inputSql", format!("\"{}\"", argument.name))
            .with("inputType", format!("\"{}\"", argument.data_type.sql()))
            .with("sqlExpr", format!("\"{call}\"")));
    }
    match value_of(argument)? {
        Some(value) => Ok(integer_of(&value).unwrap_or(0)),
        // A seed beside other arguments is one of them.
        None if position != "first" => Err(SparkError::new("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT")
            .with("sqlExpr", format!("\"{call}\""))
            .with("inputName", "`seed`")
            .with("inputType", "integer")
            .with("inputExpr", format!("\"{}\"", argument.name))),
        None => Err(SparkError::new("SEED_EXPRESSION_IS_UNFOLDABLE")
            .with("seedExpr", format!("\"{}\"", argument.name))
            .with("exprWithSeed", format!("\"{function}\""))),
    }
}

fn build(
    function: &'static Function,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
    kernel: KernelFn,
) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let text = function.call_text(&names);
    let seed = seed_of(arguments.first(), &text, &text, "first")?;
    let payload = Some(Arc::from(seed.to_string()));
    Ok(call_without_arguments(function, kernel, DataType::Double, payload, context)?.named(text))
}

/// The generator of a call.
pub fn generator<'a>(args: &'a KernelArgs<'_>) -> Result<&'a Mutex<XorShift>> {
    args.prepared(|| {
        let seed: i64 = args.settings.payload.as_deref().and_then(|p| p.parse().ok()).unwrap_or(0);
        let seed = seed.wrapping_add(i64::from(args.partition));
        Ok(Mutex::new(XorShift::new(seed)))
    })
}

fn uniform(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let mut random = generator(args)?.lock();
    let numbers: Float64Array = (0..args.number_rows).map(|_| Some(random.next_double())).collect();
    Ok(ColumnarValue::Array(Arc::new(numbers)))
}

fn normal(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let mut random = generator(args)?.lock();
    let numbers: Float64Array = (0..args.number_rows).map(|_| Some(random.next_gaussian())).collect();
    Ok(ColumnarValue::Array(Arc::new(numbers)))
}

#[cfg(test)]
mod tests {
    use super::XorShift;

    #[test]
    fn seeds_give_sparks_numbers() {
        assert_eq!(XorShift::new(0).next_double(), 0.7604953758285915);
        assert_eq!(XorShift::new(42).next_double(), 0.619189370225301);
        assert_eq!(XorShift::new(-1).next_double(), 0.3030262136082562);
        assert_eq!(XorShift::new(0).next_gaussian(), 1.6034991609278433);
        assert_eq!(XorShift::new(42).next_gaussian(), 2.384479054241165);
    }
}
