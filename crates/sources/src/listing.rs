//! The files that paths stand for.

use crate::error::{illegal, unreadable};
use crate::options::SourceOptions;
use crate::path;
use chrono::{DateTime, Utc};
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_functions::cast::parse_datetime::parse_timestamp;
use firesteel_types::TimeZone;
use object_store::ObjectMeta;
use std::path::{Path, PathBuf};

/// A data file.
#[derive(Debug, Clone)]
pub struct DataFile {
    pub path: PathBuf,
    pub meta: ObjectMeta,
    /// Its position among the roots.
    pub root: usize,
}

/// The files below some roots.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Files and folders that the paths name.
    pub roots: Vec<PathBuf>,
    /// Sorted by path.
    pub files: Vec<DataFile>,
}

/// Which files are taken.
struct Filter {
    pattern: Option<globset::GlobMatcher>,
    /// Microseconds since the epoch.
    before: Option<i64>,
    after: Option<i64>,
    ignore_missing: bool,
}

impl Filter {
    fn new(options: &SourceOptions, conf: &SqlConf) -> Result<Self> {
        let pattern = options.get("pathGlobFilter").map(path::matcher).transpose()?;
        let zone = TimeZone::parse(options.any(&["timeZone"]).unwrap_or(&conf.time_zone))?;
        let moment = |key: &str| {
            let text = options.get(key);
            text.map(|text| {
                parse_timestamp(text, zone).ok_or_else(|| {
                    SparkError::new("_LEGACY_ERROR_TEMP_1294")
                        .with("strategy", key.to_lowercase())
                        .with("timeString", text)
                })
            })
            .transpose()
        };
        Ok(Self {
            pattern,
            before: moment("modifiedBefore")?,
            after: moment("modifiedAfter")?,
            ignore_missing: options.boolean("ignoreMissingFiles", conf.ignore_missing_files)?,
        })
    }

    fn takes(&self, path: &Path, modified: DateTime<Utc>) -> bool {
        let micros = modified.timestamp_micros();
        self.pattern.as_ref().is_none_or(|p| path.file_name().is_some_and(|name| p.is_match(Path::new(name))))
            && self.before.is_none_or(|before| micros < before)
            && self.after.is_none_or(|after| micros > after)
    }
}

/// True for names that scans leave out: `_SUCCESS`, `.hidden`, but not `_k=v`.
pub fn is_hidden(name: &str) -> bool {
    (name.starts_with('_') && !name.contains('=')) || name.starts_with('.') || name.ends_with("._COPYING_")
}

/// Lists the files of paths. A path where nothing is fails with `PATH_NOT_FOUND`.
pub fn list(paths: &[String], options: &SourceOptions, conf: &SqlConf) -> Result<Listing> {
    let filter = Filter::new(options, conf)?;
    let mut roots = Vec::new();
    for text in paths {
        let path = path::local_path(text)?;
        let not_found = || SparkError::new("PATH_NOT_FOUND").with("path", path::short_uri(&path));
        if path::is_glob(text) && options.boolean("__globPaths__", true)? {
            let found = path::expand(&path)?;
            if found.is_empty() {
                return Err(not_found());
            }
            roots.extend(found);
        } else if path.exists() {
            roots.push(path);
        } else if !filter.ignore_missing {
            return Err(not_found());
        }
    }
    let mut listing = Listing { roots, files: Vec::new() };
    let is_recursive = options.boolean("recursiveFileLookup", false)?;
    for root in 0..listing.roots.len() {
        let path = listing.roots[root].clone();
        if path.is_dir() {
            folder(&path, root, &filter, &mut listing.files)?;
        } else {
            file(&path, root, &filter, &mut listing.files)?;
        }
    }
    if is_recursive {
        // A folder that is named twice, or within another one, counts once there.
        listing.files.sort_by(|a, b| a.path.cmp(&b.path));
        listing.files.dedup_by(|a, b| a.path == b.path);
    }
    listing.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(listing)
}

fn folder(path: &Path, root: usize, filter: &Filter, files: &mut Vec<DataFile>) -> Result<()> {
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(unreadable(&path::uri(path), e)),
    };
    for entry in entries {
        let entry = entry.map_err(|e| unreadable(&path::uri(path), e))?;
        if is_hidden(&entry.file_name().to_string_lossy()) {
            continue;
        }
        let child = entry.path();
        if child.is_dir() {
            folder(&child, root, filter, files)?;
        } else {
            file(&child, root, filter, files)?;
        }
    }
    Ok(())
}

fn file(path: &Path, root: usize, filter: &Filter, files: &mut Vec<DataFile>) -> Result<()> {
    let facts = match path.metadata() {
        Ok(facts) => facts,
        // It vanished between listing and looking.
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(unreadable(&path::uri(path), e)),
    };
    let modified: DateTime<Utc> = facts.modified().map(DateTime::from).unwrap_or_default();
    if !filter.takes(path, modified) {
        return Ok(());
    }
    let location = object_store::path::Path::from_absolute_path(path)
        .map_err(|e| illegal(format!("the path {} cannot be read: {e}", path.display())))?;
    let meta = ObjectMeta { location, last_modified: modified, size: facts.len(), e_tag: None, version: None };
    files.push(DataFile { path: path.to_path_buf(), meta, root });
    Ok(())
}
