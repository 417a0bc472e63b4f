//! Time zones as Spark reads them.

use std::str::FromStr;

/// The longest offset from UTC, in seconds.
const LONGEST_OFFSET: i32 = 18 * 3600;

/// Three-letter names and the zones that Java takes them for.
const SHORT_NAMES: &[(&str, &str)] = &[
    ("ACT", "Australia/Darwin"),
    ("AET", "Australia/Sydney"),
    ("AGT", "America/Argentina/Buenos_Aires"),
    ("ART", "Africa/Cairo"),
    ("AST", "America/Anchorage"),
    ("BET", "America/Sao_Paulo"),
    ("BST", "Asia/Dhaka"),
    ("CAT", "Africa/Harare"),
    ("CNT", "America/St_Johns"),
    ("CST", "America/Chicago"),
    ("CTT", "Asia/Shanghai"),
    ("EAT", "Africa/Addis_Ababa"),
    ("ECT", "Europe/Paris"),
    ("EST", "-05:00"),
    ("HST", "-10:00"),
    ("IET", "America/Indiana/Indianapolis"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
    ("MIT", "Pacific/Apia"),
    ("MST", "-07:00"),
    ("NET", "Asia/Yerevan"),
    ("NST", "Pacific/Auckland"),
    ("PLT", "Asia/Karachi"),
    ("PNT", "America/Phoenix"),
    ("PRT", "America/Puerto_Rico"),
    ("PST", "America/Los_Angeles"),
    ("SST", "Pacific/Guadalcanal"),
    ("VST", "Asia/Ho_Chi_Minh"),
];

/// Whether the text names a time zone.
pub fn is_valid(text: &str) -> bool {
    normalise(text).is_some()
}

/// The zone as the engine names it: `UTC`, `+hh:mm`, `+hh:mm:ss` or a region of the IANA database.
///
/// ```
/// use firesteel_config::time_zone::normalise;
/// assert_eq!(normalise("+1:0").as_deref(), Some("+01:00"));
/// assert_eq!(normalise("GMT-8").as_deref(), Some("-08:00"));
/// assert_eq!(normalise("PST").as_deref(), Some("America/Los_Angeles"));
/// assert_eq!(normalise("europe/berlin"), None);
/// ```
pub fn normalise(text: &str) -> Option<String> {
    if let Some((_, zone)) = SHORT_NAMES.iter().find(|(name, _)| *name == text) {
        return Some((*zone).to_string());
    }
    if matches!(text, "Z" | "UTC" | "GMT" | "UT") {
        return Some("UTC".to_string());
    }
    if text.starts_with(['+', '-']) {
        return offset(&padded(text));
    }
    for prefix in ["UTC", "GMT", "UT"] {
        if let Some(rest) = text.strip_prefix(prefix)
            && rest.starts_with(['+', '-'])
        {
            return offset(rest);
        }
    }
    let known = text != "ROC" && chrono_tz::Tz::from_str(text).is_ok();
    known.then(|| text.to_string())
}

/// Writes an hour or minute of one digit with two.
fn padded(text: &str) -> String {
    let mut parts: Vec<String> = text.split(':').map(str::to_string).collect();
    let count = parts.len();
    if count < 2 {
        return text.to_string();
    }
    if let Some(hour) = parts.first_mut()
        && hour.len() == 2
    {
        hour.insert(1, '0');
    }
    if count == 2
        && let Some(minute) = parts.get_mut(1)
        && minute.len() == 1
    {
        minute.insert(0, '0');
    }
    parts.join(":")
}

/// Reads `+h`, `+hh`, `+hhmm`, `+hh:mm`, `+hhmmss` or `+hh:mm:ss`.
fn offset(text: &str) -> Option<String> {
    let (sign, digits) = text.split_at_checked(1)?;
    let negative = sign == "-";
    let fields: Vec<&str> = if digits.contains(':') {
        digits.split(':').collect()
    } else {
        match digits.len() {
            1 | 2 => vec![digits],
            4 => vec![digits.get(..2)?, digits.get(2..)?],
            6 => vec![digits.get(..2)?, digits.get(2..4)?, digits.get(4..)?],
            _ => return None,
        }
    };
    let colons = digits.contains(':');
    let mut numbers = [0i32; 3];
    if fields.len() > 3 {
        return None;
    }
    for (number, field) in numbers.iter_mut().zip(&fields) {
        if field.is_empty() || (colons && field.len() != 2) || !field.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = field.parse().ok()?;
    }
    let [hours, minutes, seconds] = numbers;
    let total = hours * 3600 + minutes * 60 + seconds;
    if minutes > 59 || seconds > 59 || total > LONGEST_OFFSET {
        return None;
    }
    if total == 0 {
        return Some("UTC".to_string());
    }
    let sign = if negative { '-' } else { '+' };
    Some(match seconds {
        0 => format!("{sign}{hours:02}:{minutes:02}"),
        _ => format!("{sign}{hours:02}:{minutes:02}:{seconds:02}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_that_spark_accepts() {
        for zone in [
            "UTC",
            "Z",
            "GMT",
            "UT",
            "GMT+1",
            "UTC+01:00",
            "UT+1",
            "+1",
            "+01",
            "+0100",
            "+01:00",
            "+1:00",
            "+01:2",
            "+1:2",
            "+18:00",
            "-08:30:15",
            "+083015",
            "Europe/Berlin",
            "PST",
            "EST",
            "CST",
            "IST",
            "EST5EDT",
            "MET",
            "CET",
            "US/Pacific",
            "AGT",
            "Etc/GMT+8",
            "Asia/Calcutta",
            "America/Nuuk",
            "GMT0",
            "Zulu",
            "GMT-08:00",
            "+8",
            "-8:00",
            "UTC-18",
            "ACT",
        ] {
            assert!(is_valid(zone), "{zone}");
        }
    }

    #[test]
    fn zones_that_spark_refuses() {
        for zone in [
            "utc",
            "z",
            "gmt",
            "+19:00",
            "+18:01",
            "europe/berlin",
            "ROC",
            "PDT",
            "",
            "  UTC",
            "localtime",
            "GMT+",
            "+1:60",
            "+5:3:1",
            "bad",
        ] {
            assert!(!is_valid(zone), "{zone}");
        }
    }
}
