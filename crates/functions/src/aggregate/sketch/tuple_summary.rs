//! The numbers that tuple sketches keep beside their keys.

use datasketches::codec::{SketchBytes, SketchSlice};
use datasketches::error::{Error, ErrorKind};
use datasketches::tuple::{
    CompactTupleSketch, SummaryCombinePolicy, SummaryPolicy, SummaryUpdatePolicy, TupleSummaryValue,
};
use std::fmt::Debug;

/// How numbers of one key become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Sum,
    Min,
    Max,
    AlwaysOne,
}

impl Mode {
    pub const NAMES: &'static str = "sum, min, max, alwaysone";

    /// The mode of a name, in any letter case.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "sum" => Self::Sum,
            "min" => Self::Min,
            "max" => Self::Max,
            "alwaysone" => Self::AlwaysOne,
            _ => return None,
        })
    }

    fn of_code(code: u8) -> Option<Self> {
        [Self::Sum, Self::Min, Self::Max, Self::AlwaysOne].get(usize::from(code)).copied()
    }
}

/// A number with a mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary<N> {
    pub value: N,
    pub mode: Mode,
}

/// A type of numbers.
pub trait Number: Debug + Copy + Send + Sync + 'static {
    /// The last part of the functions' names.
    const SUFFIX: &'static str;
    /// Bytes of a value.
    const SIZE: usize;
    fn identity(mode: Mode) -> Self;
    fn combine(self, other: Self, mode: Mode) -> Self;
    fn write(self, bytes: &mut Vec<u8>);
    fn read(cursor: &mut SketchSlice<'_>) -> std::io::Result<Self>;
}

impl Number for f64 {
    const SUFFIX: &'static str = "double";
    const SIZE: usize = 8;

    fn identity(mode: Mode) -> Self {
        match mode {
            Mode::Sum => 0.0,
            Mode::Min => f64::INFINITY,
            Mode::Max => f64::NEG_INFINITY,
            Mode::AlwaysOne => 1.0,
        }
    }

    fn combine(self, other: Self, mode: Mode) -> Self {
        match mode {
            Mode::Sum => self + other,
            Mode::Min => {
                if other < self {
                    other
                } else {
                    self
                }
            }
            Mode::Max => {
                if other > self {
                    other
                } else {
                    self
                }
            }
            Mode::AlwaysOne => 1.0,
        }
    }

    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }

    fn read(cursor: &mut SketchSlice<'_>) -> std::io::Result<Self> {
        cursor.read_f64_le()
    }
}

impl Number for i32 {
    const SUFFIX: &'static str = "integer";
    const SIZE: usize = 4;

    fn identity(mode: Mode) -> Self {
        match mode {
            Mode::Sum => 0,
            Mode::Min => i32::MAX,
            Mode::Max => i32::MIN,
            Mode::AlwaysOne => 1,
        }
    }

    fn combine(self, other: Self, mode: Mode) -> Self {
        match mode {
            Mode::Sum => self.wrapping_add(other),
            Mode::Min => self.min(other),
            Mode::Max => self.max(other),
            Mode::AlwaysOne => 1,
        }
    }

    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }

    fn read(cursor: &mut SketchSlice<'_>) -> std::io::Result<Self> {
        cursor.read_i32_le()
    }
}

impl<N: Number> TupleSummaryValue for Summary<N> {
    fn serialize_size(&self) -> usize {
        N::SIZE + 1
    }

    fn serialize_value(&self, bytes: &mut SketchBytes) {
        let mut buffer = Vec::with_capacity(N::SIZE + 1);
        self.value.write(&mut buffer);
        buffer.push(self.mode as u8);
        bytes.write(&buffer);
    }

    fn deserialize_value(cursor: &mut SketchSlice<'_>) -> Result<Self, Error> {
        let short = |_| Error::new(ErrorKind::InvalidData, "a summary ends early");
        let value = N::read(cursor).map_err(short)?;
        let code = cursor.read_u8().map_err(short)?;
        let mode = Mode::of_code(code).ok_or_else(|| Error::new(ErrorKind::InvalidData, "unknown mode"))?;
        Ok(Self { value, mode })
    }
}

/// Makes and combines summaries of one mode.
#[derive(Debug, Clone, Copy)]
pub struct Policy<N> {
    pub mode: Mode,
    number: std::marker::PhantomData<N>,
}

impl<N> Policy<N> {
    pub fn new(mode: Mode) -> Self {
        Self { mode, number: std::marker::PhantomData }
    }
}

impl<N: Number> SummaryPolicy for Policy<N> {
    type Summary = Summary<N>;

    fn create(&self) -> Summary<N> {
        Summary { value: N::identity(self.mode), mode: self.mode }
    }
}

impl<N: Number> SummaryUpdatePolicy<N> for Policy<N> {
    fn update(&self, summary: &mut Summary<N>, value: N) {
        summary.value = summary.value.combine(value, self.mode);
    }
}

impl<N: Number> SummaryCombinePolicy for Policy<N> {
    fn combine(&self, summary: &mut Summary<N>, other: &Summary<N>) {
        *summary = Summary { value: summary.value.combine(other.value, self.mode), mode: self.mode };
    }
}

/// A tuple sketch as it is stored.
pub type Compact<N> = CompactTupleSketch<Summary<N>>;

/// The bytes of a sketch; those of an empty one name the seed as others do.
pub fn write<N: Number>(sketch: &Compact<N>) -> Vec<u8> {
    if sketch.is_empty() {
        let [low, high] = sketch.seed_hash().to_le_bytes();
        return vec![1, 3, 9, 1, 0, 0x0e, low, high];
    }
    const ORDERED: u8 = 0x10;
    let mut bytes = sketch.serialize();
    // A sketch of one key counts as ordered here, but not in the reference.
    if let Some(flags) = bytes.get_mut(5) {
        *flags &= !ORDERED;
    }
    bytes
}

/// A tuple sketch with the keys of a theta sketch, each with the same number.
pub fn of_keys<N: Number>(theta: &datasketches::theta::CompactThetaSketch, mode: Mode) -> Result<Compact<N>, Error> {
    if theta.is_empty() {
        return Compact::<N>::deserialize(&[1, 3, 9, 1, 0, 0x1e, 0, 0]);
    }
    let flags = 0x0a | if theta.is_ordered() { 0x10 } else { 0 };
    let [low, high] = theta.seed_hash().to_le_bytes();
    let mut bytes = vec![3, 3, 9, 1, 0, flags, low, high];
    bytes.extend_from_slice(&(theta.num_retained() as u32).to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&theta.theta64().to_le_bytes());
    for entry in theta.iter() {
        bytes.extend_from_slice(&entry.hash().to_le_bytes());
        N::identity(mode).write(&mut bytes);
        bytes.push(mode as u8);
    }
    Compact::<N>::deserialize(&bytes)
}
