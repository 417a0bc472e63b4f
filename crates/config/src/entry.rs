//! What is declared about a key.

/// The unit in which a number of bytes without a suffix counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteUnit {
    /// 1 byte.
    Byte,
    /// 1024 bytes.
    Kibibyte,
    /// 1024 KiB.
    Mebibyte,
}

impl ByteUnit {
    /// The unit's size in bytes.
    pub const fn bytes(self) -> i64 {
        match self {
            Self::Byte => 1,
            Self::Kibibyte => 1024,
            Self::Mebibyte => 1024 * 1024,
        }
    }

    /// The unit's name in error parameters.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Byte => "BYTE",
            Self::Kibibyte => "KiB",
            Self::Mebibyte => "MiB",
        }
    }
}

/// The unit in which a span of time without a suffix counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// 1 ns.
    Nanosecond,
    /// 1 ms.
    Millisecond,
    /// 1 s.
    Second,
    /// 60 s.
    Minute,
}

impl TimeUnit {
    /// The unit's length in nanoseconds.
    pub const fn nanoseconds(self) -> i64 {
        match self {
            Self::Nanosecond => 1,
            Self::Millisecond => 1_000_000,
            Self::Second => 1_000_000_000,
            Self::Minute => 60_000_000_000,
        }
    }

    /// The unit's name in error parameters.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nanosecond => "NANOSECONDS",
            Self::Millisecond => "MILLISECONDS",
            Self::Second => "SECONDS",
            Self::Minute => "MINUTES",
        }
    }
}

/// How a value is folded before it is compared with the options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// As it stands.
    Exact,
    /// In upper case.
    Upper,
    /// In lower case.
    Lower,
}

/// What values a key takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// `true` or `false`, in any case.
    Boolean,
    /// A 32-bit integer.
    Int,
    /// A 64-bit integer.
    Long,
    /// A floating-point number as Java writes it.
    Double,
    /// Any text.
    Text,
    /// Any text, read in lower case.
    LowerText,
    /// Texts between commas.
    List,
    /// A number of bytes with an optional suffix (`k`, `mb`, `gib`, …).
    Bytes(ByteUnit),
    /// A span of time with an optional suffix (`us`, `ms`, `s`, `min`, `h`, `d`).
    Time(TimeUnit),
    /// One of the options.
    Enum(&'static [&'static str], Fold),
    /// One of the options; another value is reported as an unmet requirement.
    Choice(&'static [&'static str], Fold),
    /// A time zone: see [`crate::time_zone`].
    TimeZone,
}

impl Kind {
    /// The kind's name in error parameters; only kinds that parse have one.
    pub fn name(self) -> String {
        match self {
            Self::Boolean => "boolean".to_string(),
            Self::Int => "int".to_string(),
            Self::Long => "long".to_string(),
            Self::Double => "double".to_string(),
            Self::Bytes(unit) => format!("bytes in {}", unit.name()),
            Self::Time(unit) => format!("time in {}", unit.name()),
            Self::Text | Self::LowerText | Self::List | Self::Enum(..) | Self::Choice(..) | Self::TimeZone => {
                "string".to_string()
            }
        }
    }
}

/// The bounds of a number, counted in the key's own unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Check {
    /// No bounds.
    Any,
    /// This or more.
    AtLeast(i64),
    /// This or more, or -1.
    AtLeastOrOff(i64),
    /// Both bounds included.
    Between(i64, i64),
    /// One of these.
    Among(&'static [i64]),
    /// More than this.
    Above(f64),
    /// Both bounds included.
    Within(f64, f64),
    /// Neither bound included.
    Inside(f64, f64),
}

/// The value of a key that nobody has set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Default {
    /// This text, as it is read back.
    Is(&'static str),
    /// The value of another key.
    Of(&'static str),
    /// None.
    Unset,
}

/// Who can set a key, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A session, at any time.
    Runtime,
    /// The start of the server; a session can read it.
    Static,
    /// The start of the server; a session sees it only where it was set there.
    Core,
}

/// The declaration of a key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfigEntry {
    /// The key.
    pub key: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// Its value if nobody sets it.
    pub default: Default,
    /// The bounds of its value.
    pub check: Check,
    /// Who can set it.
    pub scope: Scope,
    /// The Spark release it came with; empty for internal keys, which `SET -v` leaves out.
    pub since: &'static str,
    /// What it does, in one sentence; may be empty.
    pub doc: &'static str,
}

impl ConfigEntry {
    /// Whether `SET -v` lists the key.
    pub fn is_public(&self) -> bool {
        !self.since.is_empty() && self.scope != Scope::Core
    }
}

/// A key that is on its way out, or gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retired {
    /// The key.
    pub key: &'static str,
    /// The Spark release that retired it.
    pub release: &'static str,
    /// For a key that is gone: the only value that it may still be set to.
    pub only: Option<&'static str>,
    /// The key to use instead; may be empty.
    pub instead: &'static str,
}

impl Retired {
    /// What to do about it, in a sentence; empty if there is nothing to do.
    pub fn advice(&self) -> String {
        if self.instead.is_empty() { String::new() } else { format!("Set '{}' in its place.", self.instead) }
    }
}
