//! Patterns of `SHOW … LIKE`.

/// Whether a name matches a pattern: `*` is any text, `|` separates alternatives, case does not matter.
///
/// ```
/// use firesteel_catalog::matches_pattern;
/// assert!(matches_pattern("show_t1", "show_t1*|show_t2*"));
/// assert!(matches_pattern("Abc", "a*C"));
/// assert!(!matches_pattern("abc", "b*"));
/// ```
pub fn matches_pattern(name: &str, pattern: &str) -> bool {
    let name: Vec<char> = name.to_lowercase().chars().collect();
    pattern.trim().split('|').any(|one| {
        let one: Vec<char> = one.to_lowercase().chars().collect();
        matches(&name, &one)
    })
}

/// Matching by the last star that can still take more.
fn matches(name: &[char], pattern: &[char]) -> bool {
    let (mut n, mut p) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p, n));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == name[n] || pattern[p] == '.') {
            // Patterns are regular expressions but for the star.
            p += 1;
            n += 1;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            p = at + 1;
            n = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn stars_take_any_text() {
        assert!(matches_pattern("abc", "*"));
        assert!(matches_pattern("abc", "a*b*c*"));
        assert!(matches_pattern("aXbXc", "a*c"));
        assert!(!matches_pattern("abc", "ab"));
        assert!(!matches_pattern("abc", ""));
    }
}
