//! The list of all functions.

use crate::{Function, Group};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Families of functions, each a list.
fn families() -> Vec<&'static [&'static Function]> {
    let mut families = Vec::new();
    families.extend(crate::scalar::families());
    families.extend(crate::aggregate::families());
    families.extend(crate::window::families());
    families
}

fn by_name() -> &'static HashMap<&'static str, &'static Function> {
    static BY_NAME: OnceLock<HashMap<&'static str, &'static Function>> = OnceLock::new();
    BY_NAME.get_or_init(|| {
        let mut map = HashMap::new();
        for function in families().into_iter().flatten() {
            map.insert(function.name, *function);
            for alias in function.aliases {
                map.insert(*alias, *function);
            }
        }
        map
    })
}

/// Finds a function by its name or an alias, in any letter case.
pub fn lookup(name: &str) -> Option<&'static Function> {
    let map = by_name();
    map.get(name).copied().or_else(|| map.get(name.to_ascii_lowercase().as_str()).copied())
}

/// Every name and alias with its function, sorted by name.
pub fn all() -> Vec<(&'static str, &'static Function)> {
    let listed = by_name().iter().filter(|(_, function)| function.group != Group::Internal);
    let mut all: Vec<_> = listed.map(|(name, function)| (*name, *function)).collect();
    all.sort_unstable_by_key(|(name, _)| *name);
    all
}

/// Kernels of functions that check and complete their calls themselves, under the functions' names.
pub fn checked_kernels() -> Vec<&'static [&'static Function]> {
    crate::aggregate::SCALAR_KERNELS.iter().chain(crate::scalar::CHECKED_KERNELS).copied().collect()
}
