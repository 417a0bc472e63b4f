//! Random strings.

use super::constant::{integer_of, not_foldable, value_of};
use super::declare::{call_without_arguments, function, param};
use crate::kernel::kernel;
use crate::scalar::math::random::{generator, seed_of};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::builder::StringBuilder;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use parking_lot::Mutex;
use std::fmt::Write;
use std::sync::Arc;

function! {
    /// `randstr(length[, seed])`
    RANDSTR = "randstr" in String,
        Signature::with_optional(&[param("length", ArgType::Integer), param("seed", ArgType::Any)], 1)
        => Body::Build(build_randstr);
    volatile true;
    usage "Texts of a length, of random letters and digits.";
    since "4.0.0";
    example "SELECT randstr(3, 0) AS result" => "ceV";
}
function! {
    /// `uuid([seed])`
    UUID = "uuid" in Misc, Signature::with_optional(&[param("seed", ArgType::Any)], 1) => Body::Build(build_uuid);
    text |_| "uuid()".to_string();
    volatile true;
    usage "A random UUID in each row.";
    since "2.3.0";
    example "SELECT length(uuid())" => "36";
}

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] = &[&kernel("randstr", randstr), &kernel("uuid", uuid)];

fn build_randstr(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let text = RANDSTR.call_text(&names);
    let Some(length) = arguments.first() else { return Err(SparkError::internal("randstr without arguments")) };
    let Some(value) = value_of(length)? else {
        return Err(not_foldable(length, &text, "length", "INT or SMALLINT"));
    };
    let length = integer_of(&value).unwrap_or(0);
    if length < 0 {
        return Err(SparkError::new("INVALID_PARAMETER_VALUE.LENGTH")
            .with("parameter", "`length`")
            .with("functionName", "`randstr`")
            .with("length", length.to_string()));
    }
    let seed = seed_of(arguments.get(1), &text, &text, "second")?;
    // The generator reads the seed only; the length comes with it.
    let payload = Some(Arc::from(seed.to_string()));
    let count = TypedExpr::new(datafusion::logical_expr::lit(length), DataType::Long, false, "length");
    let expr =
        crate::kernel::call_with_payload(&RANDSTR, randstr, &[count], &DataType::STRING, false, context, payload)?;
    Ok(TypedExpr::new(expr, DataType::STRING, false, text))
}

fn randstr(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    const CHARACTERS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let lengths: super::rows::Longs = super::rows::Rows::of(args, 0)?;
    let mut random = generator(args)?.lock();
    let mut builder = StringBuilder::new();
    for row in 0..args.number_rows {
        let length = lengths.get(row).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        super::rows::check_bytes(builder.values_slice().len() + length)?;
        for _ in 0..length {
            let index = (random.next_int() % 62).unsigned_abs() as usize;
            let _ = builder.write_char(char::from(CHARACTERS[index]));
        }
        builder.append_value("");
    }
    Ok(ColumnarValue::Array(Arc::new(builder.finish())))
}

fn build_uuid(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let payload = match arguments.first() {
        Some(argument) => Some(Arc::from(seed_of(Some(argument), "uuid()", "uuid()", "first")?.to_string())),
        None => None,
    };
    call_without_arguments(&UUID, uuid, DataType::STRING, payload, context)
}

fn uuid(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let mut builder = StringBuilder::with_capacity(args.number_rows, args.number_rows * 36);
    match args.settings.payload.as_deref().and_then(|seed| seed.parse::<i64>().ok()) {
        Some(seed) => {
            let twister = args.prepared(|| Ok(Mutex::new(Twister::new(seed))))?;
            let mut twister = twister.lock();
            for _ in 0..args.number_rows {
                let high = (twister.next_long() & 0xffff_ffff_ffff_0fff) | 0x4000;
                let low = (twister.next_long() | 0x8000_0000_0000_0000) & 0xbfff_ffff_ffff_ffff;
                builder.append_value(uuid::Uuid::from_u64_pair(high, low).to_string());
            }
        }
        None => {
            for _ in 0..args.number_rows {
                let _ = write!(builder, "{}", uuid::Uuid::new_v4());
                builder.append_value("");
            }
        }
    }
    Ok(ColumnarValue::Array(Arc::new(builder.finish())))
}

/// The Mersenne Twister MT19937, seeded with the two halves of a number.
pub struct Twister {
    state: Vec<u32>,
    at: usize,
}

impl Twister {
    const SIZE: usize = 624;
    const OFFSET: usize = 397;

    pub fn new(seed: i64) -> Self {
        let key = [(seed as u64 >> 32) as u32, seed as u64 as u32];
        let mut state = vec![0u32; Self::SIZE];
        state[0] = 19_650_218;
        for i in 1..Self::SIZE {
            let previous = state[i - 1];
            state[i] = 1_812_433_253u32.wrapping_mul(previous ^ (previous >> 30)).wrapping_add(i as u32);
        }
        let (mut i, mut j) = (1, 0);
        for _ in 0..Self::SIZE {
            let previous = state[i - 1];
            state[i] = (state[i] ^ (previous ^ (previous >> 30)).wrapping_mul(1_664_525))
                .wrapping_add(key[j])
                .wrapping_add(j as u32);
            i += 1;
            j = (j + 1) % key.len();
            if i >= Self::SIZE {
                state[0] = state[Self::SIZE - 1];
                i = 1;
            }
        }
        for _ in 0..Self::SIZE - 1 {
            let previous = state[i - 1];
            state[i] = (state[i] ^ (previous ^ (previous >> 30)).wrapping_mul(1_566_083_941)).wrapping_sub(i as u32);
            i += 1;
            if i >= Self::SIZE {
                state[0] = state[Self::SIZE - 1];
                i = 1;
            }
        }
        state[0] = 0x8000_0000;
        Self { state, at: Self::SIZE }
    }

    fn next(&mut self) -> u32 {
        if self.at >= Self::SIZE {
            for k in 0..Self::SIZE {
                let y = (self.state[k] & 0x8000_0000) | (self.state[(k + 1) % Self::SIZE] & 0x7fff_ffff);
                let twist = if y & 1 == 1 { 0x9908_b0df } else { 0 };
                self.state[k] = self.state[(k + Self::OFFSET) % Self::SIZE] ^ (y >> 1) ^ twist;
            }
            self.at = 0;
        }
        let mut y = self.state[self.at];
        self.at += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    /// A number below a bound, as Java's libraries draw it.
    pub fn below(&mut self, bound: u32) -> u32 {
        if bound.is_power_of_two() {
            return ((u64::from(bound) * u64::from(self.next() >> 1)) >> 31) as u32;
        }
        loop {
            let bits = self.next() >> 1;
            let value = bits % bound;
            if bits - value <= (1 << 31) - bound {
                return value;
            }
        }
    }

    /// Two numbers, the first one in the higher half.
    fn next_long(&mut self) -> u64 {
        let high = u64::from(self.next()) << 32;
        high | u64::from(self.next())
    }
}
