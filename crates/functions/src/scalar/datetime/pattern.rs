//! Patterns of dates and times, as Java's `DateTimeFormatter` reads them and Spark restricts them.
//!
//! [`Pattern::compile`] reads patterns, [`legacy`](super::legacy) those of the rules before Spark 3; printing is in
//! [`print`](super::print), reading text in [`scan`](super::scan).

use firesteel_config::TimeParserPolicy;
use firesteel_error::{Result, SparkError};

/// What a pattern is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    Printing,
    Parsing,
    /// Parsing wall clocks' times, for which there is no other way than the new one.
    ParsingLocal,
}

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    Literal(String),
    /// A letter and how often it is repeated.
    Field(char, usize),
    /// Items that text may lack.
    Optional(Vec<Item>),
}

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    pub items: Vec<Item>,
    /// Years count within their era.
    pub has_era: bool,
    /// It is read and printed as Java's `SimpleDateFormat` does.
    pub is_legacy: bool,
}

/// Letters that stand for something and how often they may be repeated.
const LETTERS: &[(char, std::ops::RangeInclusive<usize>)] = &[
    ('G', 1..=4),
    ('y', 1..=6),
    ('M', 1..=4),
    ('L', 1..=4),
    ('d', 1..=2),
    ('D', 1..=3),
    ('Q', 1..=4),
    ('q', 1..=4),
    ('E', 1..=4),
    ('F', 1..=1),
    ('a', 1..=1),
    ('H', 1..=2),
    ('k', 1..=2),
    ('K', 1..=2),
    ('h', 1..=2),
    ('m', 1..=2),
    ('s', 1..=2),
    ('S', 1..=9),
    ('V', 2..=2),
    ('z', 1..=4),
    ('X', 1..=5),
    ('x', 1..=5),
    ('Z', 1..=5),
];

/// Why a pattern is none.
enum Fault {
    /// A letter that Java knows and Spark does not take.
    Letter(char),
    /// A repetition that Spark does not take.
    Length,
    /// Weeks and their days.
    WeekBased(char),
    /// Java does not take it either.
    Illegal,
}

impl Pattern {
    /// Reads a pattern as the policy has it.
    pub fn compile_by(policy: TimeParserPolicy, pattern: &str, used_for: Use) -> Result<Self> {
        match policy {
            TimeParserPolicy::Legacy => super::legacy::compile(pattern, used_for),
            TimeParserPolicy::Corrected | TimeParserPolicy::Exception => Self::compile(pattern, used_for),
        }
    }

    /// Reads a pattern, or fails with Spark's error.
    pub fn compile(pattern: &str, used_for: Use) -> Result<Self> {
        if let Some(fault) = refused(pattern, used_for) {
            return Err(error(pattern, &fault, used_for));
        }
        let mut reader = Reader { characters: pattern.chars().collect(), position: 0 };
        match reader.items(false) {
            Ok(items) => Ok(Self { has_era: has_letter(&items, 'G'), items, is_legacy: false }),
            Err(fault) => Err(error(pattern, &fault, used_for)),
        }
    }
}

fn has_letter(items: &[Item], letter: char) -> bool {
    items.iter().any(|item| match item {
        Item::Field(l, _) => *l == letter,
        Item::Optional(inner) => has_letter(inner, letter),
        Item::Literal(_) => false,
    })
}

/// What Spark refuses before Java reads the pattern: between quotes, letters of weeks first, then others, then lengths.
fn refused(pattern: &str, used_for: Use) -> Option<Fault> {
    const LONG: [&str; 7] = ["GGGGG", "MMMMM", "LLLLL", "EEEEE", "QQQQQ", "qqqqq", "yyyyyyy"];
    for part in pattern.split('\'').step_by(2) {
        if let Some(letter) = part.chars().find(|c| "YWwuec".contains(*c)) {
            return Some(Fault::WeekBased(letter));
        }
        let letters = if used_for == Use::Printing { "ABnNp" } else { "ABnNpEFqQ" };
        if let Some(letter) = part.chars().find(|c| letters.contains(*c)) {
            return Some(Fault::Letter(letter));
        }
        if LONG.iter().any(|letters| part.contains(letters)) {
            return Some(Fault::Length);
        }
    }
    None
}

struct Reader {
    characters: Vec<char>,
    position: usize,
}

impl Reader {
    fn items(&mut self, nested: bool) -> std::result::Result<Vec<Item>, Fault> {
        let mut items = Vec::new();
        while let Some(character) = self.characters.get(self.position).copied() {
            match character {
                '\'' => {
                    let text = self.quoted()?;
                    literal(&mut items, &text);
                }
                '[' => {
                    self.position += 1;
                    items.push(Item::Optional(self.items(true)?));
                }
                ']' if nested => {
                    self.position += 1;
                    return Ok(items);
                }
                ']' | '{' | '}' | '#' => return Err(Fault::Illegal),
                c if c.is_ascii_alphabetic() => {
                    let count = self.characters[self.position..].iter().take_while(|n| **n == c).count();
                    self.position += count;
                    items.push(Item::Field(c, Self::checked(c, count)?));
                }
                c => {
                    self.position += 1;
                    literal(&mut items, c.encode_utf8(&mut [0; 4]));
                }
            }
        }
        Ok(items)
    }

    fn quoted(&mut self) -> std::result::Result<String, Fault> {
        let mut text = String::new();
        self.position += 1;
        if self.characters.get(self.position) == Some(&'\'') {
            self.position += 1;
            return Ok("'".to_string());
        }
        loop {
            match (self.characters.get(self.position), self.characters.get(self.position + 1)) {
                (Some('\''), Some('\'')) => {
                    text.push('\'');
                    self.position += 2;
                }
                (Some('\''), _) => {
                    self.position += 1;
                    return Ok(text);
                }
                (Some(c), _) => {
                    text.push(*c);
                    self.position += 1;
                }
                (None, _) => return Err(Fault::Illegal),
            }
        }
    }

    fn checked(letter: char, count: usize) -> std::result::Result<usize, Fault> {
        if letter == 'O' && (count == 1 || count == 4) {
            return Ok(count);
        }
        match LETTERS.iter().find(|(l, _)| *l == letter) {
            Some((_, counts)) if counts.contains(&count) => Ok(count),
            _ => Err(Fault::Illegal),
        }
    }
}

fn literal(items: &mut Vec<Item>, text: &str) {
    match items.last_mut() {
        Some(Item::Literal(before)) => before.push_str(text),
        _ => items.push(Item::Literal(text.to_string())),
    }
}

/// True where Java's old `SimpleDateFormat` takes the pattern.
fn is_legacy(pattern: &str) -> bool {
    let mut quoted = false;
    let mut run = (' ', 0);
    for character in pattern.chars() {
        if character == '\'' {
            quoted = !quoted;
        }
        run = if run.0 == character { (character, run.1 + 1) } else { (character, 1) };
        if !quoted && character.is_ascii_alphabetic() {
            let known = "GyYMLwWDdFEuaHkKhmsSzZX".contains(character);
            if !known || (character == 'X' && run.1 > 3) {
                return false;
            }
        }
    }
    !quoted
}

fn quoted_pattern(pattern: &str) -> String {
    format!("'{}'", pattern.replace('\'', "\\'"))
}

fn error(pattern: &str, fault: &Fault, used_for: Use) -> SparkError {
    let is_local = used_for == Use::ParsingLocal;
    if !is_local && is_legacy(pattern) {
        return SparkError::new("INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION")
            .with("pattern", quoted_pattern(pattern))
            .with("config", "\"spark.sql.legacy.timeParserPolicy\"")
            .with("docroot", "https://spark.apache.org/docs/latest");
    }
    match fault {
        Fault::Letter(letter) => SparkError::new("INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER")
            .with("c", letter.to_string())
            .with("pattern", pattern),
        Fault::Length if !is_local => SparkError::new("INVALID_DATETIME_PATTERN.LENGTH").with("pattern", pattern),
        Fault::WeekBased(letter) => SparkError::new("INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_WEEK_BASED_PATTERN")
            .with("c", letter.to_string()),
        Fault::Illegal | Fault::Length => SparkError::new("INVALID_DATETIME_PATTERN.WITH_SUGGESTION")
            .with("pattern", quoted_pattern(pattern))
            .with("docroot", "https://spark.apache.org/docs/latest"),
    }
}

/// Names of months.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// Names of weekdays, from Monday.
pub const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
/// Names of quarters.
pub const QUARTERS: [&str; 4] = ["1st quarter", "2nd quarter", "3rd quarter", "4th quarter"];
