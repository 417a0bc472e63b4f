//! SHOW COLLATIONS.

use super::Runner;
use super::rows::{optional, rows, text, text_column};
use firesteel_analyzer::LocalRows;
use firesteel_catalog::matches_pattern;
use firesteel_error::Result;
use firesteel_types::DataType;

/// Version of the ICU whose order the collations have.
const ICU_VERSION: &str = "78.3.0.0";

/// Collations by locale: name, language, country.
const LOCALES: &[(&str, &str, &str)] = &[
    ("af", "Afrikaans", ""),
    ("am", "Amharic", ""),
    ("ar", "Arabic", ""),
    ("ar_SAU", "Arabic", "Saudi Arabia"),
    ("as", "Assamese", ""),
    ("az", "Azerbaijani", ""),
    ("be", "Belarusian", ""),
    ("bg", "Bulgarian", ""),
    ("blo", "Anii", ""),
    ("bn", "Bangla", ""),
    ("bo", "Tibetan", ""),
    ("br", "Breton", ""),
    ("bs", "Bosnian", ""),
    ("bs_Cyrl", "Bosnian", ""),
    ("ca", "Catalan", ""),
    ("ceb", "Cebuano", ""),
    ("chr", "Cherokee", ""),
    ("cs", "Czech", ""),
    ("cy", "Welsh", ""),
    ("da", "Danish", ""),
    ("de", "German", ""),
    ("de_AUT", "German", "Austria"),
    ("dsb", "Lower Sorbian", ""),
    ("dz", "Dzongkha", ""),
    ("ee", "Ewe", ""),
    ("el", "Greek", ""),
    ("en", "English", ""),
    ("en_USA", "English", "United States"),
    ("eo", "Esperanto", ""),
    ("es", "Spanish", ""),
    ("et", "Estonian", ""),
    ("fa", "Persian", ""),
    ("fa_AFG", "Persian", "Afghanistan"),
    ("ff", "Fula", ""),
    ("ff_Adlm", "Fula", ""),
    ("fi", "Finnish", ""),
    ("fil", "Filipino", ""),
    ("fo", "Faroese", ""),
    ("fr", "French", ""),
    ("fr_CAN", "French", "Canada"),
    ("fy", "Western Frisian", ""),
    ("ga", "Irish", ""),
    ("gl", "Galician", ""),
    ("gu", "Gujarati", ""),
    ("ha", "Hausa", ""),
    ("haw", "Hawaiian", ""),
    ("he", "Hebrew", ""),
    ("he_ISR", "Hebrew", "Israel"),
    ("hi", "Hindi", ""),
    ("hr", "Croatian", ""),
    ("hsb", "Upper Sorbian", ""),
    ("hu", "Hungarian", ""),
    ("hy", "Armenian", ""),
    ("id", "Indonesian", ""),
    ("id_IDN", "Indonesian", "Indonesia"),
    ("ig", "Igbo", ""),
    ("is", "Icelandic", ""),
    ("it", "Italian", ""),
    ("ja", "Japanese", ""),
    ("ka", "Georgian", ""),
    ("kk", "Kazakh", ""),
    ("kk_Arab", "Kazakh", ""),
    ("kl", "Kalaallisut", ""),
    ("km", "Khmer", ""),
    ("kn", "Kannada", ""),
    ("ko", "Korean", ""),
    ("kok", "Konkani", ""),
    ("ku", "Kurdish", ""),
    ("ky", "Kyrgyz", ""),
    ("lb", "Luxembourgish", ""),
    ("lij", "Ligurian", ""),
    ("lkt", "Lakota", ""),
    ("ln", "Lingala", ""),
    ("lo", "Lao", ""),
    ("lt", "Lithuanian", ""),
    ("lv", "Latvian", ""),
    ("mk", "Macedonian", ""),
    ("ml", "Malayalam", ""),
    ("mn", "Mongolian", ""),
    ("mr", "Marathi", ""),
    ("ms", "Malay", ""),
    ("mt", "Maltese", ""),
    ("my", "Burmese", ""),
    ("nb", "Norwegian Bokmål", ""),
    ("nb_NOR", "Norwegian Bokmål", "Norway"),
    ("ne", "Nepali", ""),
    ("nl", "Dutch", ""),
    ("nn", "Norwegian Nynorsk", ""),
    ("no", "Norwegian", ""),
    ("nso", "Northern Sotho", ""),
    ("om", "Oromo", ""),
    ("or", "Odia", ""),
    ("pa", "Punjabi", ""),
    ("pa_Guru", "Punjabi", ""),
    ("pa_Guru_IND", "Punjabi", "India"),
    ("pl", "Polish", ""),
    ("ps", "Pashto", ""),
    ("pt", "Portuguese", ""),
    ("ro", "Romanian", ""),
    ("ru", "Russian", ""),
    ("sa", "Sanskrit", ""),
    ("se", "Northern Sami", ""),
    ("si", "Sinhala", ""),
    ("sk", "Slovak", ""),
    ("sl", "Slovenian", ""),
    ("smn", "Inari Sami", ""),
    ("sq", "Albanian", ""),
    ("sr", "Serbian", ""),
    ("sr_Cyrl", "Serbian", ""),
    ("sr_Cyrl_BIH", "Serbian", "Bosnia & Herzegovina"),
    ("sr_Cyrl_MNE", "Serbian", "Montenegro"),
    ("sr_Cyrl_SRB", "Serbian", "Serbia"),
    ("sr_Latn", "Serbian", ""),
    ("sr_Latn_BIH", "Serbian", "Bosnia & Herzegovina"),
    ("sr_Latn_SRB", "Serbian", "Serbia"),
    ("st", "Southern Sotho", ""),
    ("sv", "Swedish", ""),
    ("sw", "Swahili", ""),
    ("ta", "Tamil", ""),
    ("te", "Telugu", ""),
    ("th", "Thai", ""),
    ("tk", "Turkmen", ""),
    ("tn", "Tswana", ""),
    ("to", "Tongan", ""),
    ("tr", "Turkish", ""),
    ("ug", "Uyghur", ""),
    ("uk", "Ukrainian", ""),
    ("ur", "Urdu", ""),
    ("uz", "Uzbek", ""),
    ("vi", "Vietnamese", ""),
    ("wae", "Walser", ""),
    ("wo", "Wolof", ""),
    ("xh", "Xhosa", ""),
    ("yi", "Yiddish", ""),
    ("yo", "Yoruba", ""),
    ("zh", "Chinese", ""),
    ("zh_Hans", "Chinese", ""),
    ("zh_Hans_CHN", "Chinese", "China"),
    ("zh_Hans_SGP", "Chinese", "Singapore"),
    ("zh_Hant", "Chinese", ""),
    ("zh_Hant_HKG", "Chinese", "Hong Kong SAR China"),
    ("zh_Hant_MAC", "Chinese", "Macao SAR China"),
    ("zh_Hant_TWN", "Chinese", "Taiwan"),
    ("zu", "Zulu", ""),
];

/// What can stand behind a locale: suffix, whether accents and case matter, and whether spaces at the end do not.
const VARIANTS: [(&str, bool, bool, bool); 8] = [
    ("", true, true, false),
    ("_AI", false, true, false),
    ("_AI_RTRIM", false, true, true),
    ("_CI", true, false, false),
    ("_CI_AI", false, false, false),
    ("_CI_AI_RTRIM", false, false, true),
    ("_CI_RTRIM", true, false, true),
    ("_RTRIM", true, true, true),
];

/// What SHOW COLLATIONS says of one collation.
struct Shown<'a> {
    name: String,
    language: &'a str,
    country: &'a str,
    accents_matter: bool,
    case_matters: bool,
    is_trimmed: bool,
    is_icu: bool,
}

fn all() -> Vec<Shown<'static>> {
    let plain = [
        ("UTF8_BINARY", true, false),
        ("UTF8_LCASE", false, false),
        ("UTF8_BINARY_RTRIM", true, true),
        ("UTF8_LCASE_RTRIM", false, true),
    ];
    let mut out: Vec<Shown<'static>> = plain
        .into_iter()
        .map(|(name, case_matters, is_trimmed)| Shown {
            name: name.to_string(),
            language: "",
            country: "",
            accents_matter: true,
            case_matters,
            is_trimmed,
            is_icu: false,
        })
        .collect();
    for &(name, language, country) in std::iter::once(&("UNICODE", "", "")).chain(LOCALES) {
        out.extend(VARIANTS.iter().map(|&(suffix, accents_matter, case_matters, is_trimmed)| Shown {
            name: format!("{name}{suffix}"),
            language,
            country,
            accents_matter,
            case_matters,
            is_trimmed,
            is_icu: true,
        }));
    }
    out
}

impl Runner {
    pub(super) fn show_collations(&self, pattern: Option<&str>) -> Result<LocalRows> {
        let columns = [
            text_column("NAME"),
            ("LANGUAGE", DataType::STRING, true),
            ("COUNTRY", DataType::STRING, true),
            text_column("ACCENT_SENSITIVITY"),
            text_column("CASE_SENSITIVITY"),
            text_column("PAD_ATTRIBUTE"),
            ("ICU_VERSION", DataType::STRING, true),
        ];
        let some = |value: &str| optional((!value.is_empty()).then(|| value.to_string()));
        let row = |shown: Shown<'_>| {
            vec![
                text(shown.name),
                some(shown.language),
                some(shown.country),
                text(if shown.accents_matter { "ACCENT_SENSITIVE" } else { "ACCENT_INSENSITIVE" }),
                text(if shown.case_matters { "CASE_SENSITIVE" } else { "CASE_INSENSITIVE" }),
                text(if shown.is_trimmed { "RTRIM" } else { "NO_PAD" }),
                some(if shown.is_icu { ICU_VERSION } else { "" }),
            ]
        };
        let found = all().into_iter().filter(|shown| pattern.is_none_or(|p| matches_pattern(&shown.name, p)));
        rows(&columns, found.map(row).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::all;

    #[test]
    fn every_locale_has_its_variants() {
        let all = all();
        assert_eq!(all.len(), 1164);
        assert!(all.iter().any(|shown| shown.name == "UNICODE_CI_AI_RTRIM"));
    }
}
