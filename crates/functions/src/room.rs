//! How much memory one call of a function may take.
//!
//! Kernels make whole arrays, of which no account of the engine knows beforehand. A call that asks for more
//! than the process can give fails alone, before anything is made.

use firesteel_error::{Result, SparkError};
use std::sync::atomic::{AtomicU64, Ordering};

static MOST: AtomicU64 = AtomicU64::new(u64::MAX);

/// Sets the most bytes that one call may take, for the process.
pub fn set_most(bytes: u64) {
    MOST.store(bytes, Ordering::Relaxed);
}

/// Fails where a call would take more bytes than it may.
#[inline]
pub fn check(bytes: u64) -> Result<()> {
    let most = MOST.load(Ordering::Relaxed);
    if bytes <= most { Ok(()) } else { Err(too_little(bytes, most)) }
}

/// Fails where so many things of a size would take more bytes than a call may.
pub fn check_many(count: usize, size: usize) -> Result<()> {
    check((count as u64).saturating_mul(size as u64))
}

#[cold]
fn too_little(wanted: u64, most: u64) -> SparkError {
    SparkError::new("UNABLE_TO_ACQUIRE_MEMORY")
        .with("requestedBytes", wanted.to_string())
        .with("receivedBytes", most.to_string())
}
