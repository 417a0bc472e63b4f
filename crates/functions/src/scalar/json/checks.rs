//! What options of functions of JSON, CSV and XML may be.

use super::options::Options;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::{StructType, TimeZone};

/// Switches of JSON.
const JSON_SWITCHES: [&str; 16] = [
    "allowBackslashEscapingAnyCharacter",
    "allowComments",
    "allowNonNumericNumbers",
    "allowNumericLeadingZeros",
    "allowSingleQuotes",
    "allowUnquotedControlChars",
    "allowUnquotedFieldNames",
    "dropFieldIfAllNull",
    "ignoreNullFields",
    "inferTimestamp",
    "multiLine",
    "prefersDecimal",
    "preferDate",
    "pretty",
    "primitivesAsString",
    "writeNonAsciiCharacterAsCodePoint",
];
/// Switches of CSV.
const CSV_SWITCHES: [&str; 8] = [
    "enforceSchema",
    "escapeQuotes",
    "header",
    "ignoreLeadingWhiteSpace",
    "ignoreTrailingWhiteSpace",
    "inferSchema",
    "preferDate",
    "quoteAll",
];
/// Numbers of CSV.
const CSV_NUMBERS: [&str; 3] = ["inputBufferSize", "maxCharsPerColumn", "maxColumns"];
/// Single characters of CSV.
const CSV_CHARACTERS: [&str; 4] = ["charToEscapeQuoteEscaping", "comment", "escape", "quote"];
/// Switches of XML.
const XML_SWITCHES: [&str; 4] = ["excludeAttribute", "ignoreNamespace", "ignoreSurroundingSpaces", "validateName"];
/// Switches of all formats.
const SWITCHES: [&str; 4] = ["enableDateTimeParsingFallback", "ignoreCorruptFiles", "ignoreMissingFiles", "multiLine"];
/// Limits of JSON that are not done, with those that apply without them.
const JSON_LIMITS: [(&str, i64); 3] = [("maxNestingDepth", 1000), ("maxNumLen", 1000), ("maxStringLen", 20_000_000)];
/// How texts may be compressed.
const CODECS: &str = "bzip2, deflate, uncompressed, snappy, none, lz4, gzip";
/// What CSV does with quotes inside of fields.
const QUOTE_HANDLINGS: [&str; 5] =
    ["BACK_TO_DELIMITER", "RAISE_ERROR", "SKIP_VALUE", "STOP_AT_CLOSING_QUOTE", "STOP_AT_DELIMITER"];
/// The encodings that texts may have.
const CHARSETS: &str = "iso-8859-1, us-ascii, utf-16, utf-16be, utf-16le, utf-32, utf-8";

fn is_switch(value: &str) -> bool {
    value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false")
}

fn illegal(message: impl Into<String>) -> SparkError {
    SparkError::plain(ExceptionClass::IllegalArgument, message)
}

/// Fails for an option that would be ignored.
fn undone(format: &str, name: &str, value: &str) -> SparkError {
    SparkError::unsupported(format!("the option {name} of functions of {format} with the value {value}"))
}

/// Fails for options of all formats that mean nothing or are not done.
fn any(format: &str, options: &Options) -> Result<()> {
    for name in SWITCHES {
        if let Some(value) = options.get(name).filter(|value| !is_switch(value)) {
            return Err(illegal(format!("For input string: \"{value}\"")));
        }
    }
    if let Some(value) = options.get("enableDateTimeParsingFallback").filter(|value| value.eq_ignore_ascii_case("true"))
        && format != "XML"
    {
        return Err(undone(format, "enableDateTimeParsingFallback", value));
    }
    if let Some(value) = options.get("samplingRatio").filter(|value| value.trim().parse::<f64>().is_err()) {
        return Err(SparkError::plain(ExceptionClass::NumberFormat, format!("For input string: \"{value}\"")));
    }
    if options.get("lineSep").is_some_and(str::is_empty) {
        return Err(illegal("requirement failed: 'lineSep' cannot be an empty string."));
    }
    if let Some(name) = options.get("compression").or_else(|| options.get("codec"))
        && !CODECS.split(", ").any(|known| known.eq_ignore_ascii_case(name))
    {
        return Err(SparkError::new("CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION")
            .with("codecName", name)
            .with("availableCodecs", CODECS));
    }
    if let Some(zone) = options.get("timeZone") {
        TimeZone::parse(zone)?;
    }
    match options.get("locale") {
        Some(locale) if !locale.eq_ignore_ascii_case("en-US") && !locale.eq_ignore_ascii_case("en") => {
            Err(undone(format, "locale", locale))
        }
        _ => Ok(()),
    }
}

/// Fails for a charset that there is not.
fn charset(options: &Options, reader: &str) -> Result<()> {
    let encoding = options.get("encoding").or_else(|| options.get("charset"));
    match encoding.filter(|name| !CHARSETS.split(", ").any(|known| known.eq_ignore_ascii_case(name))) {
        Some(name) => Err(SparkError::new("INVALID_PARAMETER_VALUE.CHARSET")
            .with("functionName", format!("`{reader}`"))
            .with("parameter", "`charset`")
            .with("charset", name)
            .with("charsets", CHARSETS)),
        None => Ok(()),
    }
}

/// Fails for options of JSON that mean nothing.
pub fn json(options: &Options) -> Result<()> {
    for name in JSON_SWITCHES {
        if let Some(value) = options.get(name).filter(|value| !is_switch(value)) {
            return Err(illegal(format!("The option {name} is true or false, not \"{value}\"")));
        }
    }
    for (name, limit) in JSON_LIMITS {
        if let Some(value) = options.get(name).filter(|value| value.parse::<i64>().is_ok_and(|value| value < limit)) {
            return Err(undone("JSON", name, value));
        }
    }
    any("JSON", options)?;
    charset(options, "JSONOptions")
}

/// Fails for options of CSV that mean nothing.
pub fn csv(options: &Options) -> Result<()> {
    if options.get("sep").or_else(|| options.get("delimiter")).is_some_and(str::is_empty) {
        return Err(illegal("The separator of CSV needs a character"));
    }
    for name in CSV_CHARACTERS {
        if let Some(value) = options.get(name).filter(|value| value.chars().count() > 1) {
            return Err(SparkError::new("OPTION_VALUE_EXCEEDS_ONE_CHARACTER")
                .with("paramName", name)
                .with("actualValue", value));
        }
    }
    for name in CSV_SWITCHES {
        if options.get(name).is_some_and(|value| !is_switch(value)) {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_2147").with("paramName", name));
        }
    }
    for name in CSV_NUMBERS {
        if let Some(value) = options.get(name).filter(|value| value.parse::<i32>().is_err()) {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_2146").with("paramName", name).with("value", value));
        }
    }
    if options.get("lineSep").is_some_and(|value| value.encode_utf16().count() > 2) {
        return Err(illegal("requirement failed: 'lineSep' can contain only 1 character."));
    }
    if let Some(value) = options.get("unescapedQuoteHandling") {
        match value.to_ascii_uppercase().as_str() {
            "BACK_TO_DELIMITER" | "RAISE_ERROR" => return Err(undone("CSV", "unescapedQuoteHandling", value)),
            other if !QUOTE_HANDLINGS.contains(&other) => {
                return Err(illegal(format!("The option unescapedQuoteHandling cannot be \"{value}\"")));
            }
            _ => {}
        }
    }
    if let Some(value) = options.get("maxCharsPerColumn").filter(|value| *value != "-1") {
        return Err(undone("CSV", "maxCharsPerColumn", value));
    }
    if let Some(value) = options.get("singleVariantColumn") {
        return Err(undone("CSV", "singleVariantColumn", value));
    }
    any("CSV", options)?;
    charset(options, "CSVOptions")
}

/// Fails for options of XML that mean nothing.
pub fn xml(options: &Options) -> Result<()> {
    for name in XML_SWITCHES {
        if options.get(name).is_some_and(|value| !is_switch(value)) {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_2147").with("paramName", name));
        }
    }
    if let Some(value) = options.get("singleVariantColumn") {
        return Err(undone("XML", "singleVariantColumn", value));
    }
    any("XML", options)?;
    for name in ["rowTag", "valueTag"] {
        if options.get(name).is_some_and(str::is_empty) {
            return Err(illegal(format!("The option {name} of XML needs a name")));
        }
    }
    let value_tag = options.get("valueTag").unwrap_or("_VALUE");
    if value_tag == options.get("attributePrefix").unwrap_or("_") {
        return Err(illegal("The options valueTag and attributePrefix of XML must differ"));
    }
    for name in ["rowTag", "rootTag", "declaration"] {
        if options.get(name).is_some_and(|value| value.contains(['<', '>'])) {
            return Err(illegal(format!("The option {name} of XML stands without its angle brackets")));
        }
    }
    match options.get("rowValidationXSDPath") {
        Some(_) => Err(SparkError::unsupported("the option rowValidationXSDPath of functions of XML")),
        None => Ok(()),
    }
}

/// Fails unless the column for records that cannot be parsed is a text.
pub fn corrupt_record(fields: &StructType, options: &Options) -> Result<()> {
    let name = options.get("columnNameOfCorruptRecord").unwrap_or("_corrupt_record");
    match fields.fields.iter().find(|field| field.name == name && !field.data_type.is_string()) {
        Some(field) => Err(SparkError::new("INVALID_CORRUPT_RECORD_TYPE")
            .with("columnName", format!("`{name}`"))
            .with("actualType", format!("\"{}\"", field.data_type.sql()))),
        None => Ok(()),
    }
}
