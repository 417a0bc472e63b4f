//! Java's regular expressions in the words of the crates `regex` and `fancy-regex`.

/// A translated expression.
#[derive(Debug)]
pub struct Translation {
    pub pattern: String,
    /// Look-around, back references or possessive quantifiers: only `fancy-regex` has them.
    pub needs_backtracking: bool,
    /// The expression has `$` or `\Z`, which also match before a line terminator at the end of the text.
    pub has_end_anchor: bool,
}

/// How the end anchors are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndAnchor {
    /// For texts that do not end with a line terminator.
    Plain,
    /// For all texts, by looking ahead.
    LookAhead,
}

/// Why an expression cannot be translated.
#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    /// Java refuses it too.
    Malformed,
    /// Java has it and the crates do not.
    Unsupported(String),
}

#[derive(Clone, Copy, Default)]
struct Flags {
    case_insensitive: bool,
    unicode_case: bool,
    multiline: bool,
    dot_all: bool,
    comments: bool,
    unicode_classes: bool,
    unix_lines: bool,
}

const LINE_ENDS: &str = r"\n\r\x{85}\x{2028}\x{2029}";
const HORIZONTAL: &str = r" \t\x{A0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}";
const VERTICAL: &str = r"\n\x{0B}\x{0C}\r\x{85}\x{2028}\x{2029}";
const SPACE: &str = r"\x{20}\t\n\x{0B}\x{0C}\r";

/// Translates an expression.
pub fn translate(pattern: &str, end: EndAnchor) -> Result<Translation, Fault> {
    let mut translator = Translator {
        input: pattern.chars().collect(),
        at: 0,
        out: String::with_capacity(pattern.len() + 16),
        flags: Flags::default(),
        needs_backtracking: false,
        has_end_anchor: false,
        end,
        groups: 0,
    };
    translator.alternatives(0)?;
    if translator.at < translator.input.len() {
        return Err(Fault::Malformed);
    }
    Ok(Translation {
        pattern: translator.out,
        needs_backtracking: translator.needs_backtracking,
        has_end_anchor: translator.has_end_anchor,
    })
}

struct Translator {
    input: Vec<char>,
    at: usize,
    out: String,
    flags: Flags,
    needs_backtracking: bool,
    has_end_anchor: bool,
    end: EndAnchor,
    groups: usize,
}

/// A character that stands for itself, in a class or outside.
fn literal(character: char) -> String {
    if character.is_ascii_alphanumeric() || (!character.is_ascii() && character.is_alphanumeric()) {
        character.to_string()
    } else {
        format!("\\x{{{:X}}}", u32::from(character))
    }
}

impl Translator {
    fn peek(&self) -> Option<char> {
        self.input.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<char> {
        self.input.get(self.at + ahead).copied()
    }

    fn take(&mut self, text: &str) -> bool {
        let matches = text.chars().enumerate().all(|(i, c)| self.peek_at(i) == Some(c));
        if matches {
            self.at += text.chars().count();
        }
        matches
    }

    fn next(&mut self) -> Result<char, Fault> {
        let character = self.peek().ok_or(Fault::Malformed)?;
        self.at += 1;
        Ok(character)
    }

    fn skip_comments(&mut self) {
        while self.flags.comments {
            match self.peek() {
                Some(c) if c.is_ascii_whitespace() || c == '\u{b}' => self.at += 1,
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => break,
            }
        }
    }

    fn alternatives(&mut self, depth: usize) -> Result<(), Fault> {
        if depth > 200 {
            return Err(Fault::Unsupported("a regular expression of more than 200 groups inside each other".into()));
        }
        loop {
            self.skip_comments();
            match self.peek() {
                None | Some(')') => return Ok(()),
                Some('|') => {
                    self.at += 1;
                    self.out.push('|');
                }
                Some(_) => {
                    if self.atom(depth)? {
                        self.quantifiers()?;
                    }
                }
            }
        }
    }

    /// One thing that can be repeated; false for what cannot.
    fn atom(&mut self, depth: usize) -> Result<bool, Fault> {
        let character = self.next()?;
        match character {
            '(' => return self.group(depth),
            '[' => {
                let class = self.class()?;
                self.push_class(&class);
            }
            '.' => {
                let class = if self.flags.dot_all {
                    "(?s:.)".to_string()
                } else if self.flags.unix_lines {
                    "[^\\n]".to_string()
                } else {
                    format!("[^{LINE_ENDS}]")
                };
                self.out.push_str(&class);
            }
            '^' => self.out.push_str(if self.flags.multiline { "(?m:^)" } else { "\\A" }),
            '$' => self.push_end(),
            '*' | '+' | '?' => return Err(Fault::Malformed),
            '{' => return Err(Fault::Malformed),
            '\\' => return self.escape(),
            other => self.push_literal(other),
        }
        Ok(true)
    }

    fn push_end(&mut self) {
        if self.flags.multiline {
            self.out.push_str("(?m:$)");
            return;
        }
        self.has_end_anchor = true;
        match self.end {
            EndAnchor::Plain => self.out.push_str("\\z"),
            EndAnchor::LookAhead => {
                self.needs_backtracking = true;
                // Not between the two characters of a Windows line end.
                self.out
                    .push_str(&format!("(?:(?=\\z)|(?=\\r\\n\\z)|(?=[\\r{}]\\z)|(?<!\\r)(?=\\n\\z))", &LINE_ENDS[4..]));
            }
        }
    }

    fn push_literal(&mut self, character: char) {
        if self.flags.case_insensitive {
            if self.flags.unicode_case {
                self.out.push_str(&format!("(?i:{})", literal(character)));
                return;
            }
            if character.is_ascii_alphabetic() {
                let (lower, upper) = (character.to_ascii_lowercase(), character.to_ascii_uppercase());
                self.out.push_str(&format!("[{lower}{upper}]"));
                return;
            }
        }
        self.out.push_str(&literal(character));
    }

    fn push_class(&mut self, class: &str) {
        if self.flags.case_insensitive && self.flags.unicode_case {
            self.out.push_str(&format!("(?i:{class})"));
        } else {
            self.out.push_str(class);
        }
    }

    fn group(&mut self, depth: usize) -> Result<bool, Fault> {
        let saved = self.flags;
        if self.peek() != Some('?') {
            self.groups += 1;
            self.out.push('(');
            return self.rest_of_group(depth, saved);
        }
        self.at += 1;
        for (mark, looks) in [("<=", true), ("<!", true), ("=", true), ("!", true), (">", true), (":", false)] {
            if self.take(mark) {
                self.needs_backtracking |= looks;
                self.out.push_str("(?");
                self.out.push_str(mark);
                return self.rest_of_group(depth, saved);
            }
        }
        if self.take("<") {
            let mut name = String::new();
            while let Some(c) = self.peek().filter(char::is_ascii_alphanumeric) {
                name.push(c);
                self.at += 1;
            }
            if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !self.take(">") {
                return Err(Fault::Malformed);
            }
            self.groups += 1;
            self.out.push_str(&format!("(?<{name}>"));
            return self.rest_of_group(depth, saved);
        }
        let mut on = true;
        loop {
            match self.next()? {
                'i' => self.flags.case_insensitive = on,
                'u' => self.flags.unicode_case = on,
                'm' => self.flags.multiline = on,
                's' => self.flags.dot_all = on,
                'x' => self.flags.comments = on,
                'd' => self.flags.unix_lines = on,
                'U' => {
                    self.flags.unicode_classes = on;
                    self.flags.unicode_case = on;
                }
                '-' if on => on = false,
                // The flags hold up to the end of the group around.
                ')' => return Ok(false),
                ':' => {
                    self.out.push_str("(?:");
                    return self.rest_of_group(depth, saved);
                }
                _ => return Err(Fault::Malformed),
            }
        }
    }

    fn rest_of_group(&mut self, depth: usize, saved: Flags) -> Result<bool, Fault> {
        self.alternatives(depth + 1)?;
        if self.next()? != ')' {
            return Err(Fault::Malformed);
        }
        self.out.push(')');
        self.flags = saved;
        Ok(true)
    }

    fn quantifiers(&mut self) -> Result<(), Fault> {
        self.skip_comments();
        match self.peek() {
            Some(mark @ ('*' | '+' | '?')) => {
                self.at += 1;
                self.out.push(mark);
            }
            Some('{') => {
                self.at += 1;
                let mut inside = String::new();
                loop {
                    match self.next()? {
                        '}' => break,
                        c if c.is_ascii_digit() || c == ',' => inside.push(c),
                        _ => return Err(Fault::Malformed),
                    }
                }
                let (least, most) = inside.split_once(',').unwrap_or((&inside, &inside));
                let number = |text: &str| text.parse::<u32>().ok().filter(|n| *n <= 1_000_000);
                let least = number(least).ok_or(Fault::Malformed)?;
                if !most.is_empty() && number(most).is_none_or(|most| most < least) {
                    return Err(Fault::Malformed);
                }
                self.out.push_str(&format!("{{{inside}}}"));
            }
            _ => return Ok(()),
        }
        match self.peek() {
            Some('?') => {
                self.at += 1;
                self.out.push('?');
            }
            Some('+') => {
                self.at += 1;
                self.needs_backtracking = true;
                self.out.push('+');
            }
            _ => {}
        }
        // A second quantifier is an error, as in Java.
        match self.peek() {
            Some('*' | '+' | '?' | '{') => Err(Fault::Malformed),
            _ => Ok(()),
        }
    }

    fn hex(&mut self, digits: usize) -> Result<u32, Fault> {
        let mut value = 0;
        for _ in 0..digits {
            value = value * 16 + self.next()?.to_digit(16).ok_or(Fault::Malformed)?;
        }
        Ok(value)
    }

    /// The character of an escape that stands for one; None for other escapes.
    fn escaped_character(&mut self, kind: char) -> Result<Option<char>, Fault> {
        let code = match kind {
            't' => 9,
            'n' => 10,
            'r' => 13,
            'f' => 12,
            'a' => 7,
            'e' => 27,
            '0' => {
                let mut value = None;
                for _ in 0..3 {
                    let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else { break };
                    let next = value.unwrap_or(0) * 8 + digit;
                    if next > 0o377 {
                        break;
                    }
                    value = Some(next);
                    self.at += 1;
                }
                value.ok_or(Fault::Malformed)?
            }
            'x' if self.take("{") => {
                let mut value = 0u32;
                loop {
                    match self.next()? {
                        '}' => break value,
                        c => {
                            value = value * 16 + c.to_digit(16).filter(|_| value < 0x11_0000).ok_or(Fault::Malformed)?
                        }
                    }
                }
            }
            'x' => self.hex(2)?,
            'u' => {
                let high = self.hex(4)?;
                if (0xd800..0xdc00).contains(&high) && self.take("\\u") {
                    let low = self.hex(4)?;
                    if !(0xdc00..0xe000).contains(&low) {
                        return Err(Fault::Unsupported("half of a surrogate pair in a regular expression".into()));
                    }
                    0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
                } else {
                    high
                }
            }
            'c' => u32::from(self.next()?) ^ 64,
            _ if kind.is_ascii_alphanumeric() => return Ok(None),
            _ => return Ok(Some(kind)),
        };
        match char::from_u32(code) {
            Some(character) => Ok(Some(character)),
            None => Err(Fault::Unsupported("half of a surrogate pair in a regular expression".into())),
        }
    }

    /// The inside of a class for `\d` and its like, and whether it is negated.
    fn shorthand(&mut self, kind: char) -> Result<Option<(String, bool)>, Fault> {
        let unicode = self.flags.unicode_classes;
        let inside = match kind.to_ascii_lowercase() {
            'd' if unicode => "\\d".to_string(),
            'd' => "0-9".to_string(),
            'w' if unicode => "\\w".to_string(),
            'w' => "a-zA-Z0-9_".to_string(),
            's' if unicode => "\\s".to_string(),
            's' => SPACE.to_string(),
            'h' => HORIZONTAL.to_string(),
            'v' => VERTICAL.to_string(),
            'p' => {
                let mut name = String::new();
                if self.take("{") {
                    loop {
                        match self.next()? {
                            '}' => break,
                            c => name.push(c),
                        }
                    }
                } else {
                    name.push(self.next()?);
                }
                property(&name, unicode)?
            }
            _ => return Ok(None),
        };
        Ok(Some((inside, kind.is_ascii_uppercase())))
    }

    fn escape(&mut self) -> Result<bool, Fault> {
        let kind = self.next()?;
        if let Some((inside, negated)) = self.shorthand(kind)? {
            self.out.push_str(&format!("[{}{inside}]", if negated { "^" } else { "" }));
            return Ok(true);
        }
        match kind {
            'Q' => {
                while self.at < self.input.len() && !self.take("\\E") {
                    let character = self.next()?;
                    self.push_literal(character);
                }
                return Ok(true);
            }
            'E' => return Ok(false),
            'b' if self.take("{g}") => return Err(Fault::Unsupported("\\b{g} in a regular expression".into())),
            'A' => self.out.push_str("\\A"),
            'b' => self.out.push_str("\\b"),
            'B' => self.out.push_str("\\B"),
            'z' => self.out.push_str("\\z"),
            'Z' => {
                let multiline = std::mem::replace(&mut self.flags.multiline, false);
                self.push_end();
                self.flags.multiline = multiline;
            }
            'G' => {
                self.needs_backtracking = true;
                self.out.push_str("\\G");
            }
            'R' => self.out.push_str(&format!("(?:\\r\\n|[{VERTICAL}])")),
            'k' => {
                if !self.take("<") {
                    return Err(Fault::Malformed);
                }
                let mut name = String::new();
                loop {
                    match self.next()? {
                        '>' => break,
                        c => name.push(c),
                    }
                }
                self.needs_backtracking = true;
                self.out.push_str(&format!("\\k<{name}>"));
            }
            '1'..='9' => {
                let mut number = kind.to_digit(10).unwrap_or(0) as usize;
                while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
                    if number * 10 + digit as usize > self.groups {
                        break;
                    }
                    number = number * 10 + digit as usize;
                    self.at += 1;
                }
                self.needs_backtracking = true;
                // A reference to a group that is not there never matches.
                self.out.push_str(&if number > self.groups { "(?!)".to_string() } else { format!("(?:\\{number})") });
            }
            'X' | 'N' => return Err(Fault::Unsupported(format!("\\{kind} in a regular expression"))),
            _ => match self.escaped_character(kind)? {
                Some(character) => self.push_literal(character),
                None => return Err(Fault::Malformed),
            },
        }
        Ok(true)
    }

    /// A class after its opening bracket.
    fn class(&mut self) -> Result<String, Fault> {
        let mut out = String::from("[");
        if self.take("^") {
            out.push('^');
        }
        let start = self.at;
        let mut depth_guard = 0;
        loop {
            depth_guard += 1;
            if depth_guard > 100_000 {
                return Err(Fault::Unsupported("a very long class in a regular expression".into()));
            }
            if self.flags.comments {
                self.skip_comments();
            }
            let character = self.next()?;
            match character {
                ']' if self.at - 1 > start => {
                    out.push(']');
                    return Ok(out);
                }
                '[' => out.push_str(&self.class()?),
                '&' if self.peek() == Some('&') => {
                    self.at += 1;
                    out.push_str("&&");
                }
                '\\' => {
                    let kind = self.next()?;
                    if kind == 'Q' {
                        while self.at < self.input.len() && !self.take("\\E") {
                            let character = self.next()?;
                            out.push_str(&self.class_range(character, character));
                        }
                    } else if let Some((inside, negated)) = self.shorthand(kind)? {
                        out.push_str(&format!("[{}{inside}]", if negated { "^" } else { "" }));
                    } else {
                        let low = self.escaped_character(kind)?.ok_or(Fault::Malformed)?;
                        out.push_str(&self.range_from(low)?);
                    }
                }
                low => out.push_str(&self.range_from(low)?),
            }
        }
    }

    fn range_from(&mut self, low: char) -> Result<String, Fault> {
        if self.peek() != Some('-') || matches!(self.peek_at(1), None | Some(']' | '[')) {
            return Ok(self.class_range(low, low));
        }
        self.at += 1;
        let high = match self.next()? {
            '\\' => {
                let kind = self.next()?;
                if self.shorthand(kind)?.is_some() {
                    return Err(Fault::Malformed);
                }
                self.escaped_character(kind)?.ok_or(Fault::Malformed)?
            }
            '&' if self.peek() == Some('&') => {
                // `a-&&…`: the dash stands for itself.
                self.at -= 1;
                return Ok(format!("{}{}", self.class_range(low, low), literal('-')));
            }
            high => high,
        };
        if high < low {
            return Err(Fault::Malformed);
        }
        Ok(self.class_range(low, high))
    }

    fn class_range(&self, low: char, high: char) -> String {
        let range = |low: char, high: char| {
            if low == high { literal(low) } else { format!("{}-{}", literal(low), literal(high)) }
        };
        let mut out = range(low, high);
        if self.flags.case_insensitive && !self.flags.unicode_case {
            for (first, last, shift) in [('a', 'z', -32i32), ('A', 'Z', 32)] {
                let (from, to) = (low.max(first), high.min(last));
                if from <= to {
                    let shifted = |c: char| char::from_u32((u32::from(c) as i32 + shift) as u32).unwrap_or(c);
                    out.push_str(&range(shifted(from), shifted(to)));
                }
            }
        }
        out
    }
}

/// The inside of a class for a property.
fn property(name: &str, unicode: bool) -> Result<String, Fault> {
    let ascii = match name {
        "Lower" => "a-z",
        "Upper" => "A-Z",
        "ASCII" => r"\x{00}-\x{7F}",
        "Alpha" => "a-zA-Z",
        "Digit" => "0-9",
        "Alnum" => "a-zA-Z0-9",
        "Punct" => r"!-/:-@\x{5B}-`\x{7B}-\x{7E}",
        "Graph" => r"!-\x{7E}",
        "Print" => r"\x{20}-\x{7E}",
        "Blank" => r"\x{20}\t",
        "Cntrl" => r"\x{00}-\x{1F}\x{7F}",
        "XDigit" => "0-9a-fA-F",
        "Space" => SPACE,
        _ => "",
    };
    if !ascii.is_empty() && !unicode {
        return Ok(ascii.to_string());
    }
    let known = match name {
        "Lower" | "javaLowerCase" | "IsLowercase" => "Lowercase",
        "Upper" | "javaUpperCase" | "IsUppercase" => "Uppercase",
        "Alpha" | "javaAlphabetic" | "IsAlphabetic" => "Alphabetic",
        "Digit" | "javaDigit" | "IsDigit" => "Nd",
        "Punct" | "IsPunctuation" => "P",
        "Space" | "javaWhitespace" | "IsWhite_Space" => "White_Space",
        "javaLetter" | "IsLetter" => "L",
        "IsIdeographic" => "Ideographic",
        "IsControl" | "Cntrl" => "Cc",
        "IsHex_Digit" | "XDigit" => "Hex_Digit",
        "L1" => return Ok(r"\x{00}-\x{FF}".to_string()),
        "all" => return Ok(r"\x{00}-\x{10FFFF}".to_string()),
        "LC" => return Ok(r"\p{Lu}\p{Ll}\p{Lt}".to_string()),
        "javaLetterOrDigit" => return Ok(r"\p{L}\p{Nd}".to_string()),
        "Alnum" => return Ok(r"\p{Alphabetic}\p{Nd}".to_string()),
        other => other,
    };
    if let Some(script) = known.strip_prefix("script=").or_else(|| known.strip_prefix("sc=")) {
        return Ok(format!("\\p{{Script={script}}}"));
    }
    if let Some(category) = known.strip_prefix("general_category=").or_else(|| known.strip_prefix("gc=")) {
        return Ok(format!("\\p{{{category}}}"));
    }
    if known.starts_with("In") || known.starts_with("block=") || known.starts_with("blk=") || known.starts_with("java")
    {
        return Err(Fault::Unsupported(format!("\\p{{{name}}} in a regular expression")));
    }
    Ok(format!("\\p{{{}}}", known.strip_prefix("Is").unwrap_or(known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(pattern: &str) -> String {
        translate(pattern, EndAnchor::Plain).unwrap().pattern
    }

    #[test]
    fn classes_are_ascii() {
        assert_eq!(plain(r"\d+"), "[0-9]+");
        assert_eq!(plain("(?i)ab"), "[aA][bB]");
        assert_eq!(plain(r"[\w&&[^\d]]"), "[[a-zA-Z0-9_]&&[^[0-9]]]");
        assert_eq!(plain(r"\Qa+\E"), r"a\x{2B}");
    }

    #[test]
    fn what_needs_backtracking_is_told() {
        for pattern in ["(?=a)", r"(a)\1", "a++", "(?<!b)c", "(?>a)"] {
            assert!(translate(pattern, EndAnchor::Plain).unwrap().needs_backtracking, "{pattern}");
        }
        assert!(!translate("a+b$", EndAnchor::Plain).unwrap().needs_backtracking);
        assert!(translate("a+b$", EndAnchor::LookAhead).unwrap().needs_backtracking);
    }

    #[test]
    fn malformed_expressions_fail() {
        for pattern in ["(", "a)", "[a-z", "*", "a{b", r"\y", "a**", "[z-a]", "(?<1>a)"] {
            assert!(translate(pattern, EndAnchor::Plain).is_err(), "{pattern}");
        }
    }
}
