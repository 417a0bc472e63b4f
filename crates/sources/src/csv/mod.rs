//! CSV files.

pub mod block;
pub mod column;
mod fill;
mod fold;
pub mod infer;
pub mod parser;
pub mod reader;

use crate::charset::Charset;
use crate::error::illegal;
use crate::lines::LineOptions;
use crate::options::{Sampling, SourceOptions};
use crate::pattern::Pattern;
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_types::TimeZone;

/// What happens to records that cannot be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseMode {
    Permissive,
    DropMalformed,
    FailFast,
}

impl ParseMode {
    /// The mode of the option `mode`; unknown names are permissive, as in Spark.
    pub fn new(options: &SourceOptions) -> Self {
        match options.get("mode").map(str::to_uppercase).as_deref() {
            Some("DROPMALFORMED") => Self::DropMalformed,
            Some("FAILFAST") => Self::FailFast,
            _ => Self::Permissive,
        }
    }
}

/// What happens where text follows the quote that ends a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnescapedQuotes {
    /// The value goes on to the next separator, quotes and all.
    StopAtDelimiter,
    /// The quote belongs to the value.
    StopAtClosingQuote,
    /// The value is null.
    SkipValue,
}

impl UnescapedQuotes {
    fn new(options: &SourceOptions) -> Self {
        match options.get("unescapedQuoteHandling").map(str::to_uppercase).as_deref() {
            Some("STOP_AT_CLOSING_QUOTE") => Self::StopAtClosingQuote,
            Some("SKIP_VALUE") => Self::SkipValue,
            _ => Self::StopAtDelimiter,
        }
    }
}

/// The error of a record in the mode FAILFAST.
pub(crate) fn malformed(record: &str) -> SparkError {
    SparkError::new("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION")
        .with("badRecord", record)
        .with("failFastMode", "FAILFAST")
}

/// How CSV is read.
#[derive(Debug, Clone)]
pub struct CsvOptions {
    pub separator: Vec<u8>,
    pub quote: Option<u8>,
    pub escape: Option<u8>,
    pub escape_of_escape: Option<u8>,
    pub comment: Option<u8>,
    pub unescaped_quotes: UnescapedQuotes,
    pub header: bool,
    pub multi_line: bool,
    pub trims_start: bool,
    pub trims_end: bool,
    pub enforce_schema: bool,
    pub infer_schema: bool,
    pub sampling: Sampling,
    pub null: String,
    pub empty: String,
    pub nan: String,
    pub positive_infinity: String,
    pub negative_infinity: String,
    pub max_columns: usize,
    pub mode: ParseMode,
    pub corrupt_column: String,
    pub date: Option<Pattern>,
    pub timestamp: Option<Pattern>,
    pub timestamp_ntz: Option<Pattern>,
    pub infers_dates: bool,
    pub infers_ntz: bool,
    pub case_sensitive: bool,
    pub zone: TimeZone,
    pub lines: LineOptions,
}

/// The separator of columns.
pub(crate) fn separator(options: &SourceOptions) -> Result<String> {
    let text = options.any(&["sep", "delimiter"]).unwrap_or(",");
    match text {
        "" => Err(illegal("Delimiter cannot be empty")),
        "\\t" => Ok("\t".into()),
        "\\\\" => Ok("\\".into()),
        "\\r" => Ok("\r".into()),
        "\\f" => Ok("\u{c}".into()),
        "\\b" => Ok("\u{8}".into()),
        "\\\"" => Ok("\"".into()),
        "\\'" => Ok("'".into()),
        "\\u0000" => Ok("\0".into()),
        "\\" => Err(SparkError::new("INVALID_DELIMITER_VALUE.SINGLE_BACKSLASH").with("delimiter", "\\")),
        other if other.len() == 2 && other.starts_with('\\') => {
            Err(SparkError::new("INVALID_DELIMITER_VALUE.UNSUPPORTED_SPECIAL_CHARACTER").with("str", other))
        }
        other => Ok(other.into()),
    }
}

/// The charset of a reader or a writer.
pub(crate) fn charset(options: &SourceOptions) -> Result<Charset> {
    options.any(&["encoding", "charset"]).map_or(Ok(Charset::Utf8), |name| Charset::parse(name, "CSVOptions"))
}

/// The option `lineSep`.
pub(crate) fn line_separator(options: &SourceOptions) -> Result<Option<&str>> {
    match crate::lines::separator(options)? {
        Some(text) if text.encode_utf16().count() > 2 => {
            Err(illegal("requirement failed: 'lineSep' can contain only 1 character."))
        }
        other => Ok(other),
    }
}

impl CsvOptions {
    /// The options of a reader.
    pub fn new(options: &SourceOptions, conf: &SqlConf) -> Result<Self> {
        let byte = |key: &str, default: Option<char>| -> Result<Option<u8>> {
            match options.character(key, default)? {
                None | Some('\0') => Ok(None),
                Some(c) if c.is_ascii() => Ok(u8::try_from(u32::from(c)).ok()),
                Some(_) => Err(SparkError::unsupported(format!("the option {key} that is not an ASCII character"))),
            }
        };
        let pattern = |key: &str| options.get(key).map(Pattern::new).transpose();
        let text = |key: &str, default: &str| options.get(key).unwrap_or(default).to_string();
        // Where no character is the quote, the one that no text has is.
        let quote = byte("quote", Some('"'))?.or(Some(0));
        let escape = byte("escape", Some('\\'))?;
        let default_escape = escape.filter(|e| Some(*e) != quote).map(char::from);
        let max_columns = options.integer("maxColumns", 20480)?;
        Ok(Self {
            separator: separator(options)?.into_bytes(),
            quote,
            escape,
            escape_of_escape: byte("charToEscapeQuoteEscaping", default_escape)?,
            comment: byte("comment", None)?,
            unescaped_quotes: UnescapedQuotes::new(options),
            header: options.flag("header", false)?,
            multi_line: options.boolean("multiLine", false)?,
            trims_start: options.flag("ignoreLeadingWhiteSpace", false)?,
            trims_end: options.flag("ignoreTrailingWhiteSpace", false)?,
            enforce_schema: options.flag("enforceSchema", true)?,
            infer_schema: options.flag("inferSchema", false)?,
            sampling: Sampling::new(options)?,
            null: text("nullValue", ""),
            empty: text("emptyValue", ""),
            nan: text("nanValue", "NaN"),
            positive_infinity: text("positiveInf", "Inf"),
            negative_infinity: text("negativeInf", "-Inf"),
            max_columns: usize::try_from(max_columns).map_err(|_| illegal("maxColumns should not be negative"))?,
            mode: ParseMode::new(options),
            corrupt_column: text("columnNameOfCorruptRecord", &conf.corrupt_record_column),
            date: pattern("dateFormat")?,
            timestamp: pattern("timestampFormat")?,
            timestamp_ntz: pattern("timestampNTZFormat")?,
            infers_dates: options.flag("preferDate", true)?,
            infers_ntz: conf.timestamp_type == firesteel_config::TimestampType::Ntz,
            case_sensitive: conf.case_sensitive,
            zone: TimeZone::parse(options.get("timeZone").unwrap_or(&conf.time_zone))?,
            lines: {
                line_separator(options)?;
                LineOptions::new(options, charset(options)?)?
            },
        })
    }

    /// True for lines that hold no record.
    pub fn skips(&self, line: &[u8]) -> bool {
        line.iter().all(|b| *b <= b' ') || self.comment.is_some_and(|c| line.first() == Some(&c))
    }
}
