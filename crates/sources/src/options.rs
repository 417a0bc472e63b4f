//! Options of readers and writers.

use crate::error::illegal;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_functions::scalar::math::random::XorShift;

/// Reader options that are not done, by format, with the values that say what is done anyway
/// (in lower case). Others fail by name, rather than mean nothing.
const UNDONE: &[(&str, &str, &[&str])] = &[
    ("csv", "locale", ENGLISH),
    ("json", "locale", ENGLISH),
    ("xml", "locale", ENGLISH),
    ("csv", "enableDateTimeParsingFallback", &["false"]),
    ("json", "enableDateTimeParsingFallback", &["false"]),
    ("json", "maxNestingDepth", &["1000"]),
    ("json", "maxNumLen", &["1000"]),
    ("json", "maxStringLen", &["20000000"]),
    ("csv", "unescapedQuoteHandling", &["stop_at_delimiter", "stop_at_closing_quote", "skip_value"]),
    ("csv", "maxCharsPerColumn", &["-1"]),
    ("csv", "singleVariantColumn", &[]),
    // Without it each line is a document.
    ("xml", "multiLine", &["true"]),
    ("xml", "singleVariantColumn", &[]),
    ("xml", "rowValidationXSDPath", &[]),
    ("json", "timeFormat", &[]),
    ("csv", "timeFormat", &[]),
    ("parquet", "datetimeRebaseMode", &["corrected", "exception"]),
    ("parquet", "int96RebaseMode", &["corrected", "exception"]),
];

/// Writer options that are not done, as [`UNDONE`] has them of readers.
const UNDONE_WRITES: &[(&str, &str, &[&str])] = &[
    ("csv", "locale", ENGLISH),
    ("json", "locale", ENGLISH),
    ("xml", "locale", ENGLISH),
    ("csv", "timeFormat", &[]),
    ("json", "timeFormat", &[]),
];

/// The locales in which names of months and days are written and read. Others that are
/// spelled much like these (`en_US`) are none of Java's, and have names of their own.
const ENGLISH: &[&str] = &["en", "en-us"];

/// Options by name, in any letter case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceOptions(Vec<(String, String)>);

impl SourceOptions {
    /// The options as a client gave them.
    pub fn new(options: &[(String, String)]) -> Self {
        Self(options.iter().map(|(k, v)| (k.to_ascii_lowercase(), v.clone())).collect())
    }

    /// Fails for an option of a reader that would be ignored.
    pub fn check_reader(&self, format: &str) -> Result<()> {
        self.check(format, UNDONE)
    }

    /// Fails for an option of a writer that would be ignored.
    pub fn check_writer(&self, format: &str) -> Result<()> {
        self.check(format, UNDONE_WRITES)
    }

    fn check(&self, format: &str, undone: &[(&str, &str, &[&str])]) -> Result<()> {
        for (_, name, done) in undone.iter().filter(|(of, ..)| *of == format) {
            if let Some(value) = self.get(name)
                && !done.contains(&value.to_ascii_lowercase().as_str())
            {
                return Err(SparkError::unsupported(format!("the {format} option {name} with the value {value}")));
            }
        }
        Ok(())
    }

    /// The value of an option; the last one wins.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().rev().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, v)| v.as_str())
    }

    /// The value of the first of several names that is given.
    pub fn any(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// An option that is `true` or `false`.
    pub fn flag(&self, key: &str, default: bool) -> Result<bool> {
        match self.get(key) {
            None => Ok(default),
            Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(_) => Err(SparkError::new("_LEGACY_ERROR_TEMP_2147").with("paramName", key)),
        }
    }

    /// An option that is `true` or `false`, where the readers of Spark take what Scala takes for one.
    pub fn boolean(&self, key: &str, default: bool) -> Result<bool> {
        match self.get(key) {
            None => Ok(default),
            Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(text) => Err(illegal(format!("For input string: \"{text}\""))),
        }
    }

    /// A number.
    pub fn integer(&self, key: &str, default: i64) -> Result<i64> {
        match self.get(key) {
            None => Ok(default),
            Some(text) => {
                let error = SparkError::new("_LEGACY_ERROR_TEMP_2146").with("paramName", key).with("value", text);
                text.trim().parse().map_err(|_| error)
            }
        }
    }

    /// A fraction.
    pub fn number(&self, key: &str, default: f64) -> Result<f64> {
        match self.get(key) {
            None => Ok(default),
            Some(text) => {
                let error = || SparkError::plain(ExceptionClass::NumberFormat, format!("For input string: \"{text}\""));
                text.trim().parse().map_err(|_| error())
            }
        }
    }

    /// One character; the empty text is none.
    pub fn character(&self, key: &str, default: Option<char>) -> Result<Option<char>> {
        match self.get(key) {
            None => Ok(default),
            Some(text) => {
                let mut chars = text.chars();
                match (chars.next(), chars.next()) {
                    (one, None) => Ok(one),
                    _ => Err(SparkError::new("OPTION_VALUE_EXCEEDS_ONE_CHARACTER")
                        .with("paramName", key)
                        .with("actualValue", text)),
                }
            }
        }
    }
}

/// Which records a schema is inferred from.
#[derive(Debug, Clone, Copy)]
pub struct Sampling {
    ratio: f64,
}

impl Sampling {
    /// The sampling of the option `samplingRatio`.
    pub fn new(options: &SourceOptions) -> Result<Self> {
        let ratio = options.number("samplingRatio", 1.0)?;
        if ratio <= 0.0 {
            return Err(illegal(format!("requirement failed: samplingRatio ({ratio:?}) should be greater than 0")));
        }
        Ok(Self { ratio })
    }

    /// True where all records are taken.
    pub fn is_all(self) -> bool {
        self.ratio > 0.99
    }

    /// Says of one record after the other whether it is taken, as for one partition of
    /// Spark's. Nearly all is all.
    pub fn start(self) -> impl FnMut() -> bool {
        let mut random = XorShift::new(1);
        move || self.is_all() || random.next_double() < self.ratio
    }
}
