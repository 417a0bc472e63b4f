//! Names that a user may have meant.

use std::collections::HashSet;

use crate::quote;

/// The `count` candidates that are most like `name`, quoted, the nearest first.
///
/// `name` and the candidates are given in parts, qualifiers first. Qualifiers
/// that all candidates share are left out, unless `name` has some itself.
/// Among equally near candidates the order of `candidates` holds.
///
/// ```
/// use firesteel_error::suggest::nearest;
/// let fields = [vec!["second"], vec!["first"]];
/// assert_eq!(nearest(&["frst"], &fields, 1), ["`first`"]);
/// ```
pub fn nearest<N: AsRef<str>, C: AsRef<str>>(name: &[N], candidates: &[Vec<C>], count: usize) -> Vec<String> {
    let written = written(name);
    let kept = kept_parts(name.len(), candidates);
    let mut ranked: Vec<(usize, String)> = candidates
        .iter()
        .map(|parts| {
            let skipped = parts.len().saturating_sub(kept);
            let quoted = quote::names(parts.iter().skip(skipped));
            (distance(&quoted, &written), quoted)
        })
        .collect();
    ranked.sort_by_key(|(distance, _)| *distance);
    ranked.into_iter().take(count).map(|(_, quoted)| quoted).collect()
}

/// As [`nearest`], for the columns of an operator's input: equally near ones are sorted by name.
pub fn nearest_columns<N: AsRef<str>, C: AsRef<str> + Clone>(
    name: &[N],
    columns: &[Vec<C>],
    count: usize,
) -> Vec<String> {
    let mut sorted = columns.to_vec();
    sorted.sort_by(|left, right| {
        let own = |parts: &[C]| parts.last().map(|part| part.as_ref().to_string());
        own(left).cmp(&own(right))
    });
    nearest(name, &sorted, count)
}

/// The value of the parameter `proposal`.
pub fn proposal(names: &[String]) -> String {
    names.join(", ")
}

/// A qualified name as users write it: parts with a dot in them are quoted.
fn written<N: AsRef<str>>(name: &[N]) -> String {
    let parts: Vec<String> = name
        .iter()
        .map(|part| {
            let part = part.as_ref();
            if part.contains('.') { format!("`{part}`") } else { part.to_string() }
        })
        .collect();
    parts.join(".")
}

/// How many parts of each candidate are shown.
fn kept_parts<C: AsRef<str>>(name_parts: usize, candidates: &[Vec<C>]) -> usize {
    let same_without_last = |dropped: usize| {
        let prefixes: HashSet<Vec<&str>> = candidates
            .iter()
            .map(|parts| parts.iter().take(parts.len().saturating_sub(dropped)).map(AsRef::as_ref).collect())
            .collect();
        prefixes.len() == 1
    };
    if name_parts == 1 && same_without_last(1) {
        1
    } else if name_parts <= 2 && same_without_last(2) {
        2
    } else {
        usize::MAX
    }
}

/// How many characters must be added, removed or replaced to make one text the other.
pub fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, letter) in left.chars().enumerate() {
        let mut diagonal = line;
        let mut last = line + 1;
        let mut next = Vec::with_capacity(row.len());
        next.push(last);
        for (other, above) in right.iter().zip(row.iter().skip(1)) {
            let replaced = diagonal + usize::from(*other != letter);
            last = replaced.min(last + 1).min(above + 1);
            diagonal = *above;
            next.push(last);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(names: &[&str]) -> Vec<Vec<String>> {
        names.iter().map(|name| name.split('/').map(str::to_string).collect()).collect()
    }

    /// What Spark 4.2.1 proposed for `name` among `columns`.
    #[track_caller]
    fn assert_proposed(name: &[&str], among: &[&str], proposed: &str) {
        assert_eq!(proposal(&nearest_columns(name, &columns(among), 5)), proposed);
    }

    const T: &[&str] = &["t/alpha", "t/beta", "t/ga.mma", "t/ALPHABET", "t/alp", "t/bet", "t/back`tick"];
    const T_AND_U: &[&str] =
        &["t/alpha", "t/beta", "t/ga.mma", "t/ALPHABET", "t/alp", "t/bet", "t/back`tick", "u/alpha", "u/other"];

    #[test]
    fn shared_qualifiers_are_left_out() {
        assert_proposed(&["alpah"], T, "`alp`, `alpha`, `bet`, `beta`, `ga.mma`");
        assert_proposed(&["Alpha1"], T, "`alpha`, `alp`, `beta`, `bet`, `ga.mma`");
        assert_proposed(&["ga.m"], T, "`ga.mma`, `alp`, `bet`, `beta`, `alpha`");
        assert_proposed(&["gama"], T, "`alp`, `ga.mma`, `alpha`, `bet`, `beta`");
        assert_proposed(&["backtick"], T, "`back``tick`, `alp`, `alpha`, `bet`, `beta`");
        assert_proposed(&["bet1"], T, "`bet`, `beta`, `alp`, `alpha`, `ga.mma`");
        assert_proposed(&["zzzz"], &["spark_catalog/default/t/a"], "`a`");
        assert_proposed(&["ida"], &["id"], "`id`");
    }

    #[test]
    fn qualified_names_get_qualified_proposals() {
        assert_proposed(&["t", "alpah"], T, "`t`.`alp`, `t`.`alpha`, `t`.`bet`, `t`.`beta`, `t`.`ga.mma`");
        assert_proposed(&["x", "alpah"], T, "`t`.`alp`, `t`.`alpha`, `t`.`bet`, `t`.`beta`, `t`.`ga.mma`");
        assert_proposed(&["a", "b", "c"], T, "`t`.`bet`, `t`.`alp`, `t`.`beta`, `t`.`alpha`, `t`.`ga.mma`");
        assert_proposed(&["default", "t", "zz"], &["spark_catalog/default/t/a"], "`spark_catalog`.`default`.`t`.`a`");
    }

    #[test]
    fn qualifiers_that_differ_are_shown() {
        assert_proposed(&["alpah"], T_AND_U, "`t`.`alp`, `t`.`alpha`, `u`.`alpha`, `t`.`bet`, `t`.`beta`");
        assert_proposed(&["u", "othr"], T_AND_U, "`u`.`other`, `t`.`alp`, `u`.`alpha`, `t`.`bet`, `t`.`beta`");
        assert_proposed(&["zz"], &["spark_catalog/default/t/a", "t2/a"], "`t2`.`a`, `spark_catalog`.`default`.`t`.`a`");
    }

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "ab"), 2);
        assert_eq!(distance("same", "same"), 0);
    }
}
