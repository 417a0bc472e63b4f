//! Collation names: parsing and their canonical spelling.

use crate::Collation;
use firesteel_error::{Result, SparkError};

/// Locales that ICU orders by rules of their own.
const LOCALES: &str = "af am ar ar_SAU as az be bg blo bn bo br bs bs_Cyrl ca ceb chr cs cy da de de_AUT dsb dz ee el \
    en en_USA eo es et fa fa_AFG ff ff_Adlm fi fil fo fr fr_CAN fy ga gl gu ha haw he he_ISR hi hr hsb hu hy id id_IDN \
    ig is it ja ka kk kk_Arab kl km kn ko kok ku ky lb lij lkt ln lo lt lv mk ml mn mr ms mt my nb nb_NOR ne nl nn no \
    nso om or pa pa_Guru pa_Guru_IND pl ps pt ro ru sa se si sk sl smn sq sr sr_Cyrl sr_Cyrl_BIH sr_Cyrl_MNE \
    sr_Cyrl_SRB sr_Latn sr_Latn_BIH sr_Latn_SRB st sv sw ta te th tk tn to tr ug uk ur uz vi wae wo xh yi yo zh \
    zh_Hans zh_Hans_CHN zh_Hans_SGP zh_Hant zh_Hant_HKG zh_Hant_MAC zh_Hant_TWN zu";

const MAX_SUGGESTIONS: usize = 3;

impl Collation {
    /// A collation by its name in any case, optionally qualified by `SYSTEM.BUILTIN`.
    ///
    /// An unknown name is `COLLATION_INVALID_NAME`.
    pub fn parse(name: &str) -> Result<Collation> {
        let bare = strip_qualifier(name);
        match canonical(bare) {
            Some(name) if name == "UTF8_BINARY" => Ok(Collation::Utf8Binary),
            Some(name) => Ok(Collation::Named(name.into())),
            None => Err(SparkError::new("COLLATION_INVALID_NAME")
                .with("collationName", bare)
                .with("proposals", suggestions(bare).join(", "))),
        }
    }

    /// The library that compares strings of this collation: `spark` or `icu`.
    pub fn provider(&self) -> &'static str {
        if self.name().starts_with("UTF8_") { "spark" } else { "icu" }
    }

    /// True where equal strings have equal bytes.
    pub fn is_binary(&self) -> bool {
        matches!(self, Collation::Utf8Binary)
    }

    /// True where capital and small letters are equal.
    ///
    /// ```
    /// use firesteel_types::Collation;
    /// let ignores = |name| Collation::parse(name).is_ok_and(|c| c.ignores_case());
    /// assert!(ignores("UTF8_LCASE") && ignores("de_CI_AI") && !ignores("UNICODE_AI"));
    /// ```
    pub fn ignores_case(&self) -> bool {
        self.name().starts_with("UTF8_LCASE") || self.has_flag("CI")
    }

    /// True where letters with accents and without are equal.
    pub fn ignores_accents(&self) -> bool {
        self.has_flag("AI")
    }

    fn has_flag(&self, flag: &str) -> bool {
        self.name().split('_').skip(1).any(|part| part == flag)
    }

    /// True where blanks at the end do not count.
    pub fn ignores_trailing_blanks(&self) -> bool {
        self.name().ends_with("_RTRIM")
    }
}

fn strip_qualifier(name: &str) -> &str {
    const QUALIFIER: &str = "system.builtin.";
    match name.get(..QUALIFIER.len()) {
        Some(head) if head.eq_ignore_ascii_case(QUALIFIER) => &name[QUALIFIER.len()..],
        _ => name,
    }
}

/// The locales that have collations.
pub(crate) fn locales() -> impl Iterator<Item = &'static str> {
    LOCALES.split_whitespace()
}

fn bases() -> impl Iterator<Item = &'static str> {
    ["UNICODE"].into_iter().chain(locales())
}

fn canonical(name: &str) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    if let Some(rest) = upper.strip_prefix("UTF8_") {
        let (base, trim) = match rest.strip_suffix("_RTRIM") {
            Some(base) => (base, "_RTRIM"),
            None => (rest, ""),
        };
        return matches!(base, "BINARY" | "LCASE").then(|| format!("UTF8_{base}{trim}"));
    }
    // The longest base wins: `zh_Hant_HKG` is not `zh` with odd flags.
    let base = bases()
        .filter(|base| {
            let head = base.to_ascii_uppercase();
            upper == head || upper.strip_prefix(&head).is_some_and(|rest| rest.starts_with('_'))
        })
        .max_by_key(|base| base.len())?;
    let (mut case, mut accent, mut trim) = (None, None, false);
    for flag in upper[base.len()..].split('_').skip(1) {
        match flag {
            "CI" | "CS" if case.is_none() => case = Some(flag == "CI"),
            "AI" | "AS" if accent.is_none() => accent = Some(flag == "AI"),
            "RTRIM" if !trim => trim = true,
            _ => return None,
        }
    }
    let mut out = base.to_string();
    for (on, flag) in [(case == Some(true), "_CI"), (accent == Some(true), "_AI"), (trim, "_RTRIM")] {
        if on {
            out.push_str(flag);
        }
    }
    Some(out)
}

fn suggestions(name: &str) -> Vec<String> {
    let upper = name.to_ascii_uppercase();
    let mut known: Vec<(usize, &str)> = ["UTF8_BINARY", "UTF8_LCASE"]
        .into_iter()
        .chain(bases())
        .map(|base| (distance(&upper, &base.to_ascii_uppercase()), base))
        .collect();
    known.sort();
    known.into_iter().take(MAX_SUGGESTIONS).map(|(_, base)| base.to_string()).collect()
}

/// Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_canonical() {
        for (name, expected) in [
            ("utf8_binary", "UTF8_BINARY"),
            ("utf8_lcase_rtrim", "UTF8_LCASE_RTRIM"),
            ("system.builtin.unicode", "UNICODE"),
            ("en_USA_ci", "en_USA_CI"),
            ("EN_ai_CI", "en_CI_AI"),
            ("unicode_cs_as", "UNICODE"),
            ("en_RTRIM_CI", "en_CI_RTRIM"),
            ("zh_hant_hkg", "zh_Hant_HKG"),
        ] {
            assert_eq!(Collation::parse(name).unwrap().name(), expected);
        }
    }

    #[test]
    fn unknown_names_fail() {
        for name in ["foo", "en_us", "unicode_ci_ci", "utf8_lcase_ci", ""] {
            assert!(Collation::parse(name).unwrap_err().is("COLLATION_INVALID_NAME"), "{name}");
        }
    }
}
