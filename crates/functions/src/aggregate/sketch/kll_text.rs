//! The summary of a KLL sketch as text.

use super::kll::Item;
use datasketches::kll::KllSketch;

/// Bytes before the levels' offsets.
const PREAMBLE: usize = 20;

/// What `kll_sketch_to_string` shows.
pub fn summary<T: Item>(sketch: &KllSketch<T>) -> String {
    let bytes = sketch.serialize();
    let retained = sketch.num_retained();
    let (levels, capacity) = match (sketch.n(), bytes.get(18), bytes.get(20..24)) {
        (2.., Some(levels), Some([a, b, c, d])) => {
            (usize::from(*levels), u32::from_le_bytes([*a, *b, *c, *d]) as usize + retained)
        }
        _ => (1, usize::from(sketch.k())),
    };
    let updatable = PREAMBLE + 4 * (levels + 1) + (capacity + 2) * T::SIZE;
    let shown = |item: Option<&T>| item.map_or_else(|| "NaN".to_string(), T::text);
    let lines = [
        ("K", sketch.k().to_string()),
        ("Dynamic min K", sketch.min_k().to_string()),
        ("M", "8".to_string()),
        ("N", sketch.n().to_string()),
        ("Epsilon", format!("{:.3}%", 100.0 * sketch.normalized_rank_error())),
        ("Epsilon PMF", format!("{:.3}%", 100.0 * sketch.normalized_pmf_error())),
        ("Empty", sketch.is_empty().to_string()),
        ("Estimation Mode", sketch.is_estimation_mode().to_string()),
        ("Levels", levels.to_string()),
        ("Level 0 Sorted", bytes.get(3).is_some_and(|flags| flags & 2 != 0).to_string()),
        ("Capacity Items", capacity.to_string()),
        ("Retained Items", retained.to_string()),
        ("Free Space", capacity.saturating_sub(retained).to_string()),
        ("ReadOnly", "false".to_string()),
        ("Updatable Storage Bytes", updatable.to_string()),
        ("Compact Storage Bytes", bytes.len().to_string()),
        ("Min Item", shown(sketch.min_item())),
        ("Max Item", shown(sketch.max_item())),
    ];
    let mut text = format!("\n### KllKll{}Sketch Summary:\n", T::PLURAL);
    for (name, value) in lines {
        text.push_str(&format!("   {name:<23}: {value}\n"));
    }
    text.push_str("### End sketch summary\n");
    text
}
