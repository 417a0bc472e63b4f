//! The patterns of `to_number` and `to_char`, such as `$99,999.00S`.

use firesteel_error::{Result, SparkError};

/// A run of digits in a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    pub size: usize,
    /// Zeros stand for digits that must be there.
    pub is_exact: bool,
}

/// Where the sign is, and how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    None,
    /// `S`: plus or minus.
    Always,
    /// `MI`: minus or a blank.
    Minus,
}

/// A pattern of numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberPattern {
    source: String,
    leading: Sign,
    trailing: Sign,
    in_brackets: bool,
    has_currency: bool,
    /// The groups before the point, parted by commas; a comma parts neighbours of which the second starts one.
    whole: Vec<Vec<Group>>,
    has_point: bool,
    fraction: Vec<Group>,
}

fn invalid(condition: &'static str, source: &str) -> SparkError {
    SparkError::new(condition).with("format", format!("'{source}'"))
}

fn unexpected(source: &str, token: impl Into<String>) -> SparkError {
    invalid("INVALID_FORMAT.UNEXPECTED_TOKEN", source).with("token", token)
}

fn groups(digits: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    // A run goes on while it has nines, or zeros after a zero.
    for digit in digits.chars() {
        match groups.last_mut() {
            Some(last) if digit == '9' || last.is_exact => last.size += 1,
            _ => groups.push(Group { size: 1, is_exact: digit == '0' }),
        }
    }
    groups
}

impl NumberPattern {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self> {
        let source = text.to_ascii_uppercase();
        if source.is_empty() {
            return Err(invalid("INVALID_FORMAT.EMPTY", &source));
        }
        if !source.contains(['0', '9']) {
            return Err(invalid("INVALID_FORMAT.WRONG_NUM_DIGIT", &source));
        }
        let counted = [
            (source.matches(['.', 'D']).count(), ". or D"),
            (source.matches('$').count(), "$"),
            (source.matches('S').count(), "S"),
            (source.matches("MI").count(), "MI"),
            (source.matches("PR").count(), "PR"),
        ];
        if let Some((_, token)) = counted.iter().find(|(count, _)| *count > 1) {
            return Err(invalid("INVALID_FORMAT.WRONG_NUM_TOKEN", &source).with("token", *token));
        }
        let first_digit = source.find(['0', '9']).unwrap_or(0);
        let point = source.find(['.', 'D']);
        if let Some(at) = source.find('$') {
            if at > first_digit {
                return Err(invalid("INVALID_FORMAT.CUR_MUST_BEFORE_DIGIT", &source));
            }
            if point.is_some_and(|point| at > point) {
                return Err(invalid("INVALID_FORMAT.CUR_MUST_BEFORE_DEC", &source));
            }
        }
        let bytes = source.as_bytes();
        for (at, _) in source.match_indices([',', 'G']) {
            if point.is_some_and(|point| at > point) {
                return Err(invalid("INVALID_FORMAT.THOUSANDS_SEPS_MUST_BEFORE_DEC", &source));
            }
            let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
            if !digit(at.checked_sub(1)) || !digit(Some(at + 1)) {
                return Err(invalid("INVALID_FORMAT.CONT_THOUSANDS_SEPS", &source));
            }
        }
        Self::in_order(source)
    }

    fn in_order(source: String) -> Result<Self> {
        let mut rest = source.as_str();
        let leading = if let Some(after) = rest.strip_prefix('S') {
            rest = after;
            Sign::Always
        } else if let Some(after) = rest.strip_prefix("MI") {
            rest = after;
            Sign::Minus
        } else {
            Sign::None
        };
        let has_currency = rest.starts_with('$');
        rest = rest.strip_prefix('$').unwrap_or(rest);
        let end = rest.find(|c: char| !matches!(c, '0' | '9' | ',' | 'G')).unwrap_or(rest.len());
        let whole: Vec<Vec<Group>> = rest[..end].split([',', 'G']).filter(|run| !run.is_empty()).map(groups).collect();
        rest = &rest[end..];
        let has_point = rest.starts_with(['.', 'D']);
        let mut fraction = Vec::new();
        if has_point {
            rest = &rest[1..];
            let end = rest.find(|c: char| !matches!(c, '0' | '9')).unwrap_or(rest.len());
            fraction = groups(&rest[..end]);
            rest = &rest[end..];
        }
        let mut trailing = Sign::None;
        let mut in_brackets = false;
        if let Some(after) = rest.strip_prefix("MI") {
            trailing = Sign::Minus;
            rest = after;
        } else if let Some(after) = rest.strip_prefix('S') {
            trailing = Sign::Always;
            rest = after;
        } else if let Some(after) = rest.strip_prefix("PR") {
            in_brackets = true;
            rest = after;
        }
        if let Some(character) = rest.chars().next() {
            let token = match character {
                '0' | '9' => "digit sequence".to_string(),
                '.' | 'D' => ". or D".to_string(),
                '$' => "$".to_string(),
                'S' => "S".to_string(),
                'M' if rest.starts_with("MI") => "MI".to_string(),
                'P' if rest.starts_with("PR") => "PR".to_string(),
                other => format!("character '{other}'"),
            };
            // What comes after the end, or a token that is none.
            let token = if rest.starts_with("PR") && rest[2..].starts_with(['0', '9']) {
                "digit sequence".into()
            } else {
                token
            };
            return Err(unexpected(&source, token));
        }
        Ok(Self { leading, trailing, in_brackets, has_currency, whole, has_point, fraction, source })
    }

    /// The pattern in capital letters.
    pub fn source(&self) -> &str {
        &self.source
    }

    fn whole_digits(&self) -> usize {
        self.whole.iter().flatten().map(|group| group.size).sum()
    }

    fn fraction_digits(&self) -> usize {
        self.fraction.iter().map(|group| group.size).sum()
    }

    /// Precision and scale of the numbers that the pattern reads.
    pub fn decimal_type(&self) -> Result<(u8, i8)> {
        let precision = self.whole_digits() + self.fraction_digits();
        if precision > 38 {
            return Err(SparkError::new("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION")
                .with("precision", precision.to_string())
                .with("maxPrecision", "38"));
        }
        Ok((precision as u8, self.fraction_digits() as i8))
    }

    /// The unscaled number that a text stands for; None where it does not match.
    pub fn read(&self, text: &str) -> Option<i128> {
        let mut rest = text.trim_matches(' ');
        let mut negative = false;
        let mut sign = |rest: &mut &str, kind: Sign| {
            if let (Sign::Always | Sign::Minus, Some(after)) = (kind, rest.strip_prefix('-')) {
                negative = true;
                *rest = after;
            } else if let (Sign::Always, Some(after)) = (kind, rest.strip_prefix('+')) {
                *rest = after;
            }
        };
        let opened = self.in_brackets && rest.starts_with('<');
        if opened {
            rest = &rest[1..];
        }
        sign(&mut rest, self.leading);
        if self.has_currency {
            rest = rest.strip_prefix('$')?;
        }
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(rest.len());
        let (whole, after) = rest.split_at(end);
        rest = after;
        let mut fraction = "";
        if self.has_point
            && let Some(after) = rest.strip_prefix('.')
        {
            let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
            (fraction, rest) = after.split_at(end);
        }
        sign(&mut rest, self.trailing);
        if opened {
            rest = rest.strip_prefix('>')?;
            negative = true;
        }
        if !rest.is_empty() || !self.whole_matches(whole) {
            return None;
        }
        if fraction.len() > self.fraction_digits() {
            return None;
        }
        let digits: String = whole.chars().filter(|c| *c != ',').chain(fraction.chars()).collect();
        if digits.is_empty() {
            return None;
        }
        let missing = self.fraction_digits() - fraction.len();
        let value: i128 = format!("{digits}{}", "0".repeat(missing)).parse().ok()?;
        Some(if negative { -value } else { value })
    }

    fn whole_matches(&self, whole: &str) -> bool {
        let parts: Vec<&str> = if whole.is_empty() { Vec::new() } else { whole.split(',').collect() };
        if parts.len() > self.whole.len() || parts.iter().any(|part| part.is_empty()) {
            return false;
        }
        // From the last group on; groups may be missing at the front.
        let mut given = parts.iter().rev();
        self.whole.iter().rev().all(|groups| {
            let size: usize = groups.iter().map(|group| group.size).sum();
            let least: usize = groups.iter().filter(|group| group.is_exact).map(|group| group.size).sum();
            match given.next() {
                Some(part) => part.len() <= size && part.len() >= least,
                None => least == 0,
            }
        })
    }

    /// Writes an unscaled number of a scale.
    pub fn write(&self, out: &mut String, value: i128, scale: u32) {
        let digits = value.unsigned_abs().to_string();
        let padded = format!("{digits:0>width$}", width = scale as usize + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale as usize);
        let whole = whole.trim_start_matches('0');
        let fraction = fraction.trim_end_matches('0');
        let fits = whole.len() <= self.whole_digits() && fraction.len() <= self.fraction_digits();
        let mut number = String::new();
        let mut position = self.whole_digits();
        for (index, groups) in self.whole.iter().enumerate() {
            if index > 0 {
                let has_digits = number.chars().any(|c| c.is_ascii_digit());
                number.push(if fits && has_digits { ',' } else { ' ' });
            }
            for group in groups {
                for _ in 0..group.size {
                    number.push(if !fits {
                        '#'
                    } else if position <= whole.len() {
                        whole.as_bytes()[whole.len() - position].into()
                    } else if group.is_exact {
                        '0'
                    } else {
                        ' '
                    });
                    position -= 1;
                }
            }
        }
        if self.has_point {
            if number.ends_with(' ') {
                number.pop();
                number.push('0');
            }
            number.push('.');
            for index in 0..self.fraction_digits() {
                number.push(if fits { fraction.as_bytes().get(index).map_or('0', |b| char::from(*b)) } else { '#' });
            }
        }
        let negative = value < 0;
        let lead = match self.leading {
            Sign::Always => Some(if negative { '-' } else { '+' }),
            Sign::Minus => Some(if negative { '-' } else { ' ' }),
            Sign::None if self.in_brackets && negative => Some('<'),
            Sign::None => None,
        };
        match (lead, self.has_currency) {
            (lead, true) => {
                out.extend(lead);
                out.push('$');
                out.push_str(&number);
            }
            // The sign stands right before the number.
            (Some(lead), false) => {
                let blanks = number.len() - number.trim_start_matches(' ').len();
                out.push_str(&number[..blanks]);
                out.push(lead);
                out.push_str(&number[blanks..]);
            }
            (None, false) => out.push_str(&number),
        }
        match self.trailing {
            Sign::Always => out.push(if negative { '-' } else { '+' }),
            Sign::Minus => out.push(if negative { '-' } else { ' ' }),
            Sign::None if self.in_brackets => out.push_str(if negative { ">" } else { "  " }),
            Sign::None => {}
        }
    }
}
