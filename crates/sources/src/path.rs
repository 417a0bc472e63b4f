//! Paths as users write them: URIs, relative paths, globs.

use firesteel_error::{Result, SparkError};
use globset::GlobBuilder;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::path::{Path, PathBuf};

/// The local path that a user's path or `file:` URI names.
pub fn local_path(text: &str) -> Result<PathBuf> {
    let text = text.trim();
    if text.is_empty() {
        return Err(crate::error::illegal("Can not create a Path from an empty string"));
    }
    let path = match scheme(text) {
        None => text.to_string(),
        Some("file") => {
            let rest = &text["file:".len()..];
            match rest.strip_prefix("//") {
                // The authority of a `file:` URI is empty.
                Some(rest) => rest[rest.find('/').unwrap_or(rest.len())..].to_string(),
                None => rest.to_string(),
            }
        }
        Some(scheme) => return Err(SparkError::unsupported(format!("the file system {scheme}"))),
    };
    let path = PathBuf::from(path);
    let path = if path.is_absolute() {
        path
    } else {
        std::env::current_dir().map_err(|e| SparkError::internal(e.to_string()))?.join(path)
    };
    Ok(normal(&path))
}

fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let mut chars = scheme.chars();
    let valid = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    valid.then_some(scheme)
}

/// The path without `.`, `..` and doubled slashes.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// What is escaped in the path of a URI: all but letters, digits and what a path may hold.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b':')
    .remove(b'@')
    .remove(b'&')
    .remove(b'=')
    .remove(b'+')
    .remove(b'$')
    .remove(b',')
    .remove(b';')
    .remove(b'/');

/// A path as an absolute URI: `file:///a/b%20c`; letters beyond ASCII stay as they are.
pub fn uri(path: &Path) -> String {
    let mut out = String::from("file://");
    let text = path.to_string_lossy();
    for part in text.split_inclusive(|c: char| c.is_ascii() || c.is_whitespace() || c.is_control()) {
        let kept = part.trim_end_matches(|c: char| c.is_ascii() || c.is_whitespace() || c.is_control());
        out.push_str(kept);
        out.extend(utf8_percent_encode(&part[kept.len()..], ESCAPED));
    }
    out
}

/// A path as Hadoop shows it: `file:/a/b c`.
pub fn short_uri(path: &Path) -> String {
    format!("file:{}", path.display())
}

/// True where a path has wildcards.
pub fn is_glob(text: &str) -> bool {
    text.contains(['{', '}', '[', ']', '*', '?', '\\'])
}

/// The existing paths that a glob names, sorted.
pub fn expand(pattern: &Path) -> Result<Vec<PathBuf>> {
    let text = pattern.to_string_lossy();
    let mut found = Vec::new();
    for pattern in braces(&text) {
        let mut bases = vec![PathBuf::from("/")];
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            bases = if is_glob(part) { children(&bases, part)? } else { named(&bases, part) };
        }
        found.extend(bases);
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn named(bases: &[PathBuf], name: &str) -> Vec<PathBuf> {
    bases.iter().map(|base| base.join(name)).filter(|path| path.exists()).collect()
}

fn children(bases: &[PathBuf], pattern: &str) -> Result<Vec<PathBuf>> {
    let matcher = matcher(pattern)?;
    let mut found = Vec::new();
    for base in bases {
        let Ok(entries) = std::fs::read_dir(base) else { continue };
        found.extend(
            entries.flatten().filter(|entry| matcher.is_match(Path::new(&entry.file_name()))).map(|entry| entry.path()),
        );
    }
    Ok(found)
}

/// The matcher of one part of a path.
pub fn matcher(pattern: &str) -> Result<globset::GlobMatcher> {
    let mut pattern = pattern.replace("[^", "[!");
    // A brace that closes nothing stands for itself.
    let (mut depth, mut alone) = (0, Vec::new());
    for (i, c) in unescaped(&pattern) {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => alone.push(i),
            '}' => depth -= 1,
            _ => {}
        }
    }
    for i in alone.into_iter().rev() {
        pattern.insert(i, '\\');
    }
    GlobBuilder::new(&pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|e| crate::error::illegal(format!("Illegal file pattern: {e}")))
}

/// The characters of a pattern that no backslash stands before, with their positions.
fn unescaped(pattern: &str) -> impl Iterator<Item = (usize, char)> {
    let mut escapes = false;
    pattern.char_indices().filter(move |(_, c)| {
        let is_escaped = std::mem::take(&mut escapes);
        escapes = !is_escaped && *c == '\\';
        !is_escaped
    })
}

/// The alternatives of a pattern whose braces span folders; others are left as they are.
fn braces(pattern: &str) -> Vec<String> {
    let Some((open, _)) = unescaped(pattern).find(|(_, c)| *c == '{') else { return vec![pattern.to_string()] };
    let (mut depth, mut close, mut commas) = (0, None, vec![open]);
    for (i, c) in unescaped(pattern).skip_while(|(i, _)| *i < open) {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    close = Some(i);
                    break;
                }
            }
            ',' if depth == 1 => commas.push(i),
            _ => {}
        }
    }
    let Some(close) = close else { return vec![pattern.to_string()] };
    commas.push(close);
    let (head, tail) = (&pattern[..open], &pattern[close + 1..]);
    commas.windows(2).flat_map(|pair| braces(&format!("{head}{}{tail}", &pattern[pair[0] + 1..pair[1]]))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_and_plain_paths_are_read() {
        for text in ["/a/b", "file:/a/b", "file:///a/b", "/a//c/../b/", "file://localhost/a/b"] {
            assert_eq!(local_path(text).unwrap(), PathBuf::from("/a/b"), "{text}");
        }
        assert!(local_path("s3://bucket/a").unwrap_err().is("UNSUPPORTED_FEATURE.NOT_IN_THIS_SERVER"));
    }

    #[test]
    fn braces_are_alternatives() {
        assert_eq!(braces("/a/{b,c{d,e}}/f"), ["/a/b/f", "/a/cd/f", "/a/ce/f"]);
        assert_eq!(braces("/a/{b"), ["/a/{b"]);
        assert_eq!(braces(r"/a/\{b,c}/{d,e}"), [r"/a/\{b,c}/d", r"/a/\{b,c}/e"]);
        assert!(matcher(r"br\{ace}").unwrap().is_match("br{ace}"));
    }

    #[test]
    fn uris_escape_what_a_path_may_not_hold() {
        assert_eq!(uri(Path::new("/a b/k=%|é\u{a0}?")), "file:///a%20b/k=%25%7Cé%C2%A0%3F");
    }
}
