//! The well-known binary form of geometries.

use firesteel_error::{Result, SparkError};

/// The order of bytes in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endianness {
    /// The lowest byte first.
    Ndr,
    /// The highest byte first.
    Xdr,
}

/// What a shape may be made of.
const POINT: u32 = 1;
const LINE_STRING: u32 = 2;
const POLYGON: u32 = 3;
const MULTI_POINT: u32 = 4;
const COLLECTION: u32 = 7;
/// Shapes nested deeper are not read.
const MOST_DEPTH: usize = 100;

fn parse_error(message: &str, position: usize) -> SparkError {
    SparkError::new("WKB_PARSE_ERROR").with("parseError", message).with("pos", position.to_string())
}

/// Reads shapes and writes them in another order of bytes.
struct Rewriter<'a> {
    bytes: &'a [u8],
    at: usize,
    order: Endianness,
    target: Endianness,
    /// Coordinates must be longitudes and latitudes.
    is_geographic: bool,
    out: Vec<u8>,
}

/// A shape in the wanted order of bytes; fails for what is no shape.
pub fn rewrite(bytes: &[u8], target: Endianness, is_geographic: bool) -> Result<Vec<u8>> {
    if bytes.is_empty() {
        return Err(parse_error("WKB data is empty or null", 0));
    }
    let out = Vec::with_capacity(bytes.len());
    let mut rewriter = Rewriter { bytes, at: 0, order: Endianness::Ndr, target, is_geographic, out };
    rewriter.shape(None, 0)?;
    Ok(rewriter.out)
}

impl Rewriter<'_> {
    fn take<const N: usize>(&mut self, start: usize) -> Result<[u8; N]> {
        let bytes = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>());
        let bytes = *bytes.ok_or_else(|| parse_error("Unexpected end of WKB buffer", start))?;
        self.at += N;
        Ok(bytes)
    }

    fn count(&mut self) -> Result<u32> {
        let bytes = self.take::<4>(self.at)?;
        let count = if self.order == Endianness::Ndr { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) };
        self.write_count(count);
        Ok(count)
    }

    fn write_count(&mut self, count: u32) {
        self.out.extend(match self.target {
            Endianness::Ndr => count.to_le_bytes(),
            Endianness::Xdr => count.to_be_bytes(),
        });
    }

    fn shape(&mut self, wanted: Option<u32>, depth: usize) -> Result<()> {
        let start = self.at;
        if depth > MOST_DEPTH {
            return Err(parse_error("Too deeply nested", start));
        }
        if self.bytes.len() < start + 5 && self.bytes.get(start).is_none_or(|order| *order <= 1) {
            return Err(parse_error("Unexpected end of WKB buffer", start));
        }
        let [order] = self.take::<1>(start)?;
        self.order = match order {
            0 => Endianness::Xdr,
            1 => Endianness::Ndr,
            other => return Err(parse_error(&format!("Invalid byte order {other}"), start)),
        };
        self.out.push(u8::from(self.target == Endianness::Ndr));
        let place = self.at;
        let kind = self.count()?;
        let (dimensions, shape) = match kind / 1000 {
            0 => (2, kind),
            1 | 2 => (3, kind % 1000),
            3 => (4, kind % 1000),
            _ => (2, kind),
        };
        if !(POINT..=COLLECTION).contains(&shape) || wanted.is_some_and(|wanted| wanted != shape) {
            return Err(parse_error(&format!("Invalid or unsupported type {kind}"), place));
        }
        match shape {
            POINT => self.coordinates(1, dimensions, true),
            LINE_STRING => {
                let place = self.at;
                let count = self.count()?;
                if count == 1 {
                    return Err(parse_error("Too few points in linestring", place));
                }
                self.coordinates(count, dimensions, false)
            }
            POLYGON => {
                for _ in 0..self.count()? {
                    self.ring(dimensions)?;
                }
                Ok(())
            }
            _ => {
                let member = (shape < COLLECTION).then(|| shape - MULTI_POINT + POINT);
                for _ in 0..self.count()? {
                    self.shape(member, depth + 1)?;
                }
                Ok(())
            }
        }
    }

    fn ring(&mut self, dimensions: usize) -> Result<()> {
        let place = self.at;
        let count = self.count()?;
        if count < 4 {
            return Err(parse_error("Too few points in ring", place));
        }
        let start = self.at;
        self.coordinates(count, dimensions, false)?;
        let size = 8 * dimensions;
        if self.bytes.get(start..start + size) != self.bytes.get(self.at - size..self.at) {
            return Err(parse_error("Found non-closed ring", place));
        }
        Ok(())
    }

    fn coordinates(&mut self, count: u32, dimensions: usize, may_be_empty: bool) -> Result<()> {
        for _ in 0..count {
            let start = self.at;
            let mut point = Vec::with_capacity(dimensions);
            for _ in 0..dimensions {
                let bytes = self.take::<8>(self.at)?;
                let ordered = self.order == Endianness::Ndr;
                let value = if ordered { f64::from_le_bytes(bytes) } else { f64::from_be_bytes(bytes) };
                self.out.extend(match self.target {
                    Endianness::Ndr => value.to_le_bytes(),
                    Endianness::Xdr => value.to_be_bytes(),
                });
                point.push(value);
            }
            let is_empty = may_be_empty && point.iter().all(|value| value.is_nan());
            let is_place = |value: f64, most: f64| value.is_finite() && value.abs() <= most;
            let is_valid = point.iter().all(|value| value.is_finite())
                && (!self.is_geographic || (is_place(point[0], 180.0) && is_place(point[1], 90.0)));
            if !is_empty && !is_valid {
                return Err(parse_error("Invalid coordinate value found", start));
            }
        }
        Ok(())
    }
}
