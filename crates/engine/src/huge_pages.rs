//! Huge pages of memory, from the first query on that has use for them.
//!
//! The allocator asks for them from its first byte. That suits the tables of large
//! joins, but an idle server would hold several MiB which it never touched.

use std::sync::atomic::{AtomicBool, Ordering};

/// True while the process does without huge pages.
static AVOIDED: AtomicBool = AtomicBool::new(false);

/// Gives the process small pages only, until a large query runs. Best called first of all.
pub fn avoid() {
    AVOIDED.store(switch_off(true), Ordering::Relaxed);
}

/// Gives the process huge pages again, if it did without.
pub(crate) fn allow() {
    if AVOIDED.load(Ordering::Relaxed) && AVOIDED.swap(false, Ordering::Relaxed) {
        switch_off(false);
    }
}

/// True where the system follows the wish.
#[cfg(target_os = "linux")]
fn switch_off(is_off: bool) -> bool {
    nix::sys::prctl::set_thp_disable(is_off).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn switch_off(_: bool) -> bool {
    false
}
