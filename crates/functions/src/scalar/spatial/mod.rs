//! Geometries and geographies.

mod functions;
mod wkb;

pub use functions::{FUNCTIONS, KERNELS};
