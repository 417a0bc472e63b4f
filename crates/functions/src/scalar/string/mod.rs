//! Functions of strings.

pub mod case;
pub mod character;
pub mod charset;
pub mod choose;
pub mod collate;
pub mod collation_key;
pub mod collation_search;
pub mod collations;
pub mod concat;
pub mod constant;
pub mod decimal_format;
pub mod declare;
pub mod distance;
pub mod encoding;
pub mod format_string;
pub mod length;
pub mod number_pattern;
pub mod number_text;
pub mod pad;
pub mod random;
pub mod replace;
pub mod rows;
pub mod search;
pub mod sentences;
pub mod substring;
pub mod trim;
pub mod utf8;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &case::INITCAP,
    &case::LCASE,
    &case::LOWER,
    &case::UCASE,
    &case::UPPER,
    &character::ASCII,
    &character::CHAR,
    &character::CHR,
    &character::LUHN_CHECK,
    &character::MASK,
    &character::QUOTE,
    &charset::DECODE,
    &charset::ENCODE,
    &choose::ELT,
    &collate::COLLATE,
    &collate::COLLATION,
    &collations::COLLATIONS,
    &concat::CONCAT,
    &concat::CONCAT_OPERATOR,
    &concat::CONCAT_WS,
    &decimal_format::FORMAT_NUMBER,
    &distance::LEVENSHTEIN,
    &distance::SOUNDEX,
    &encoding::BASE64,
    &encoding::HEX,
    &encoding::TO_BINARY,
    &encoding::TRY_TO_BINARY,
    &encoding::UNBASE64,
    &encoding::UNHEX,
    &format_string::FORMAT_STRING,
    &format_string::PRINTF,
    &length::BIT_LENGTH,
    &length::CHARACTER_LENGTH,
    &length::CHAR_LENGTH,
    &length::LEN,
    &length::LENGTH,
    &length::OCTET_LENGTH,
    &number_text::TO_CHAR,
    &number_text::TO_NUMBER,
    &number_text::TO_VARCHAR,
    &number_text::TRY_TO_NUMBER,
    &pad::LPAD,
    &pad::REPEAT,
    &pad::RPAD,
    &pad::SPACE,
    &random::RANDSTR,
    &random::UUID,
    &replace::OVERLAY,
    &replace::REPLACE,
    &replace::REVERSE,
    &replace::TRANSLATE,
    &search::CONTAINS,
    &search::ENDS_WITH,
    &search::FIND_IN_SET,
    &search::INSTR,
    &search::LOCATE,
    &search::POSITION,
    &search::STARTS_WITH,
    &sentences::SENTENCES,
    &substring::LEFT,
    &substring::RIGHT,
    &substring::SPLIT_PART,
    &substring::SUBSTR,
    &substring::SUBSTRING,
    &substring::SUBSTRING_INDEX,
    &trim::BTRIM,
    &trim::LTRIM,
    &trim::RTRIM,
    &trim::TRIM,
    &utf8::IS_VALID_UTF8,
    &utf8::MAKE_VALID_UTF8,
    &utf8::TRY_VALIDATE_UTF8,
    &utf8::VALIDATE_UTF8,
];
