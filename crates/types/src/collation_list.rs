//! The list of all collations, as `collations()` shows it.

use crate::collation::locales;

/// Names of languages by the first part of a locale.
const LANGUAGES: &[(&str, &str)] = &[
    ("af", "Afrikaans"),
    ("am", "Amharic"),
    ("ar", "Arabic"),
    ("as", "Assamese"),
    ("az", "Azerbaijani"),
    ("be", "Belarusian"),
    ("bg", "Bulgarian"),
    ("blo", "Anii"),
    ("bn", "Bangla"),
    ("bo", "Tibetan"),
    ("br", "Breton"),
    ("bs", "Bosnian"),
    ("ca", "Catalan"),
    ("ceb", "Cebuano"),
    ("chr", "Cherokee"),
    ("cs", "Czech"),
    ("cy", "Welsh"),
    ("da", "Danish"),
    ("de", "German"),
    ("dsb", "Lower Sorbian"),
    ("dz", "Dzongkha"),
    ("ee", "Ewe"),
    ("el", "Greek"),
    ("en", "English"),
    ("eo", "Esperanto"),
    ("es", "Spanish"),
    ("et", "Estonian"),
    ("fa", "Persian"),
    ("ff", "Fula"),
    ("fi", "Finnish"),
    ("fil", "Filipino"),
    ("fo", "Faroese"),
    ("fr", "French"),
    ("fy", "Western Frisian"),
    ("ga", "Irish"),
    ("gl", "Galician"),
    ("gu", "Gujarati"),
    ("ha", "Hausa"),
    ("haw", "Hawaiian"),
    ("he", "Hebrew"),
    ("hi", "Hindi"),
    ("hr", "Croatian"),
    ("hsb", "Upper Sorbian"),
    ("hu", "Hungarian"),
    ("hy", "Armenian"),
    ("id", "Indonesian"),
    ("ig", "Igbo"),
    ("is", "Icelandic"),
    ("it", "Italian"),
    ("ja", "Japanese"),
    ("ka", "Georgian"),
    ("kk", "Kazakh"),
    ("kl", "Kalaallisut"),
    ("km", "Khmer"),
    ("kn", "Kannada"),
    ("ko", "Korean"),
    ("kok", "Konkani"),
    ("ku", "Kurdish"),
    ("ky", "Kyrgyz"),
    ("lb", "Luxembourgish"),
    ("lij", "Ligurian"),
    ("lkt", "Lakota"),
    ("ln", "Lingala"),
    ("lo", "Lao"),
    ("lt", "Lithuanian"),
    ("lv", "Latvian"),
    ("mk", "Macedonian"),
    ("ml", "Malayalam"),
    ("mn", "Mongolian"),
    ("mr", "Marathi"),
    ("ms", "Malay"),
    ("mt", "Maltese"),
    ("my", "Burmese"),
    ("nb", "Norwegian Bokmål"),
    ("ne", "Nepali"),
    ("nl", "Dutch"),
    ("nn", "Norwegian Nynorsk"),
    ("no", "Norwegian"),
    ("nso", "Northern Sotho"),
    ("om", "Oromo"),
    ("or", "Odia"),
    ("pa", "Punjabi"),
    ("pl", "Polish"),
    ("ps", "Pashto"),
    ("pt", "Portuguese"),
    ("ro", "Romanian"),
    ("ru", "Russian"),
    ("sa", "Sanskrit"),
    ("se", "Northern Sami"),
    ("si", "Sinhala"),
    ("sk", "Slovak"),
    ("sl", "Slovenian"),
    ("smn", "Inari Sami"),
    ("sq", "Albanian"),
    ("sr", "Serbian"),
    ("st", "Southern Sotho"),
    ("sv", "Swedish"),
    ("sw", "Swahili"),
    ("ta", "Tamil"),
    ("te", "Telugu"),
    ("th", "Thai"),
    ("tk", "Turkmen"),
    ("tn", "Tswana"),
    ("to", "Tongan"),
    ("tr", "Turkish"),
    ("ug", "Uyghur"),
    ("uk", "Ukrainian"),
    ("ur", "Urdu"),
    ("uz", "Uzbek"),
    ("vi", "Vietnamese"),
    ("wae", "Walser"),
    ("wo", "Wolof"),
    ("xh", "Xhosa"),
    ("yi", "Yiddish"),
    ("yo", "Yoruba"),
    ("zh", "Chinese"),
    ("zu", "Zulu"),
];

/// Names of countries by the last part of a locale.
const COUNTRIES: &[(&str, &str)] = &[
    ("AFG", "Afghanistan"),
    ("AUT", "Austria"),
    ("BIH", "Bosnia & Herzegovina"),
    ("CAN", "Canada"),
    ("CHN", "China"),
    ("HKG", "Hong Kong SAR China"),
    ("IDN", "Indonesia"),
    ("IND", "India"),
    ("ISR", "Israel"),
    ("MAC", "Macao SAR China"),
    ("MNE", "Montenegro"),
    ("NOR", "Norway"),
    ("SAU", "Saudi Arabia"),
    ("SGP", "Singapore"),
    ("SRB", "Serbia"),
    ("TWN", "Taiwan"),
    ("USA", "United States"),
];

/// The version of ICU whose collations these are.
pub const ICU_VERSION: &str = "78.3.0.0";

/// A collation with what its name says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollationEntry {
    pub name: String,
    pub language: Option<&'static str>,
    pub country: Option<&'static str>,
    pub is_accent_sensitive: bool,
    pub is_case_sensitive: bool,
    pub ignores_trailing_blanks: bool,
    pub is_icu: bool,
}

fn find(table: &'static [(&str, &str)], key: &str) -> Option<&'static str> {
    table.iter().find(|(k, _)| *k == key).map(|(_, name)| *name)
}

/// All collations: Spark's own, then ICU's in the order of their names.
///
/// ```
/// let all = firesteel_types::collation_list::all();
/// assert_eq!(all.len(), 1164);
/// assert_eq!(all[1].name, "UTF8_LCASE");
/// ```
pub fn all() -> Vec<CollationEntry> {
    let own = ["UTF8_BINARY", "UTF8_LCASE", "UTF8_BINARY_RTRIM", "UTF8_LCASE_RTRIM"].map(|name| CollationEntry {
        name: name.to_string(),
        language: None,
        country: None,
        is_accent_sensitive: true,
        is_case_sensitive: !name.contains("LCASE"),
        ignores_trailing_blanks: name.ends_with("_RTRIM"),
        is_icu: false,
    });
    let mut icu = Vec::new();
    for base in ["UNICODE"].into_iter().chain(locales()) {
        let language = find(LANGUAGES, base.split('_').next().unwrap_or(base));
        let country = base.rsplit_once('_').and_then(|(_, last)| find(COUNTRIES, last));
        for case in [true, false] {
            for accent in [true, false] {
                for blanks in [false, true] {
                    let suffix = |is: bool, text: &'static str| if is { text } else { "" };
                    icu.push(CollationEntry {
                        name: [base, suffix(!case, "_CI"), suffix(!accent, "_AI"), suffix(blanks, "_RTRIM")].concat(),
                        language,
                        country,
                        is_accent_sensitive: accent,
                        is_case_sensitive: case,
                        ignores_trailing_blanks: blanks,
                        is_icu: true,
                    });
                }
            }
        }
    }
    icu.sort_by(|a, b| a.name.cmp(&b.name));
    own.into_iter().chain(icu).collect()
}
