//! Paths as users write them: URIs, relative paths, globs.

use crate::store::{self, Address, Stores};
use firesteel_error::{Result, SparkError};
use globset::GlobBuilder;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::path::{Path, PathBuf};

/// The path that a user's path or URI names: a local one, or `scheme://…` in a store of another machine.
pub fn place(text: &str) -> Result<PathBuf> {
    match Address::parse(text)? {
        Some(address) => Ok(address.path()),
        None => local_path(text),
    }
}

/// The local path that a user's path or `file:` URI names; fails for those of other stores.
pub fn local_path(text: &str) -> Result<PathBuf> {
    let text = text.trim();
    if text.is_empty() {
        return Err(crate::error::illegal("Can not create a Path from an empty string"));
    }
    let path = match store::scheme(text) {
        None => text.to_string(),
        Some("file") => {
            let rest = &text["file:".len()..];
            match rest.strip_prefix("//") {
                // The authority of a `file:` URI is empty.
                Some(rest) => rest[rest.find('/').unwrap_or(rest.len())..].to_string(),
                None => rest.to_string(),
            }
        }
        Some(scheme) => {
            Address::parse(text)?;
            return Err(SparkError::unsupported(format!("the file system {scheme} for what is not a table's data")));
        }
    };
    let path = PathBuf::from(path);
    let path = if path.is_absolute() {
        path
    } else {
        std::env::current_dir().map_err(|e| SparkError::internal(e.to_string()))?.join(path)
    };
    Ok(normal(&path))
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
    let text = path.to_string_lossy();
    let key = match text.split_once("://") {
        Some((scheme, rest)) if store::is_remote(path) => rest.find('/').map(|at| scheme.len() + 3 + at),
        _ => None,
    };
    let (mut out, text) = match key {
        Some(at) => (text[..at].to_string(), &text[at..]),
        None if store::is_remote(path) => return text.into_owned(),
        None => (String::from("file://"), &*text),
    };
    for part in text.split_inclusive(|c: char| c.is_ascii() || c.is_whitespace() || c.is_control()) {
        let kept = part.trim_end_matches(|c: char| c.is_ascii() || c.is_whitespace() || c.is_control());
        out.push_str(kept);
        out.extend(utf8_percent_encode(&part[kept.len()..], ESCAPED));
    }
    out
}

/// A path as Hadoop shows it: `file:/a/b c`.
pub fn short_uri(path: &Path) -> String {
    if store::is_remote(path) { path.to_string_lossy().into_owned() } else { format!("file:{}", path.display()) }
}

/// A path as `_metadata` shows it: `file:/a%20b`.
pub fn metadata_uri(path: &Path) -> String {
    let uri = uri(path);
    match uri.strip_prefix("file://") {
        Some(path) => format!("file:{path}"),
        None => uri,
    }
}

/// True where a path has wildcards.
pub fn is_glob(text: &str) -> bool {
    text.contains(['{', '}', '[', ']', '*', '?', '\\'])
}

/// The existing paths that a glob names, sorted.
pub fn expand(pattern: &Path, stores: &Stores) -> Result<Vec<PathBuf>> {
    let address = Address::of(pattern);
    let (root, text) = match &address {
        Some(address) => (Address { key: String::new(), ..address.clone() }.path(), address.key.clone()),
        None => (PathBuf::from("/"), pattern.to_string_lossy().into_owned()),
    };
    if is_glob(&root.to_string_lossy()) {
        return Err(SparkError::unsupported("globs in the names of buckets, containers and hosts"));
    }
    let mut found = Vec::new();
    for pattern in braces(&text) {
        let mut bases = vec![root.clone()];
        let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
        for (i, part) in parts.iter().enumerate() {
            bases = match (is_glob(part), &address) {
                (true, None) => children(&bases, part)?,
                (false, None) => named(&bases, part),
                (true, Some(_)) => members(&bases, part, i + 1 < parts.len(), stores)?,
                // What is not there has no members; whether the last one is there must be asked.
                (false, Some(_)) if i + 1 < parts.len() => bases.iter().map(|base| base.join(part)).collect(),
                (false, Some(_)) => present(&bases, part, stores)?,
            };
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

/// The files and folders of a store in folders whose names fit a pattern.
fn members(bases: &[PathBuf], pattern: &str, folders_only: bool, stores: &Stores) -> Result<Vec<PathBuf>> {
    let matcher = matcher(pattern)?;
    let mut found = Vec::new();
    for base in bases {
        let Some(place) = stores.place(base)? else { continue };
        let level = match place.level() {
            Ok(level) => level,
            Err(error) if error.is("PATH_NOT_FOUND") => continue,
            Err(error) => return Err(error),
        };
        let files = level.files.iter().filter(|_| !folders_only).filter_map(|file| file.location.filename());
        let names = level.folders.iter().map(String::as_str).chain(files);
        found.extend(names.filter(|name| matcher.is_match(Path::new(name))).map(|name| base.join(name)));
    }
    Ok(found)
}

fn present(bases: &[PathBuf], name: &str, stores: &Stores) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for base in bases {
        let path = base.join(name);
        if stores.exists(&path)? {
            found.push(path);
        }
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
        assert_eq!(uri(Path::new("s3a://b/a b/k=%+é")), "s3a://b/a%20b/k=%25+é");
        assert_eq!(uri(Path::new("s3a://b")), "s3a://b");
        assert_eq!(metadata_uri(Path::new("/a b")), "file:/a%20b");
    }
}
