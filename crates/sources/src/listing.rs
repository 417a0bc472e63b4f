//! The files that paths stand for.

use crate::error::{illegal, unreadable};
use crate::options::SourceOptions;
use crate::path;
use crate::store::{Found, Place, Stores, is_remote};
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

/// A file or folder that a path names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    pub path: PathBuf,
    pub is_folder: bool,
}

/// The files below some roots.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    pub roots: Vec<Root>,
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
pub fn list(paths: &[String], options: &SourceOptions, conf: &SqlConf, stores: &Stores) -> Result<Listing> {
    let filter = Filter::new(options, conf)?;
    let mut found = Vec::new();
    for text in paths {
        let path = path::place(text)?;
        let not_found = || SparkError::new("PATH_NOT_FOUND").with("path", path::short_uri(&path));
        if path::is_glob(text) && options.boolean("__globPaths__", true)? {
            let named = path::expand(&path, stores)?;
            if named.is_empty() {
                return Err(not_found());
            }
            found.extend(named);
        } else if is_remote(&path) || path.exists() {
            found.push(path);
        } else if !filter.ignore_missing {
            return Err(not_found());
        }
    }
    let mut listing = Listing::default();
    let is_recursive = options.boolean("recursiveFileLookup", false)?;
    for path in found {
        let root = listing.roots.len();
        let is_folder = match stores.place(&path)? {
            Some(place) => match remote(&place, root, &filter, &mut listing.files)? {
                Some(is_folder) => is_folder,
                None if filter.ignore_missing => continue,
                None => return Err(SparkError::new("PATH_NOT_FOUND").with("path", path::short_uri(&path))),
            },
            None if path.is_dir() => {
                folder(&path, root, &filter, &mut listing.files)?;
                true
            }
            None => {
                file(&path, root, &filter, &mut listing.files)?;
                false
            }
        };
        listing.roots.push(Root { path, is_folder });
    }
    if is_recursive {
        // A folder that is named twice, or within another one, counts once there.
        listing.files.sort_by(|a, b| a.path.cmp(&b.path));
        listing.files.dedup_by(|a, b| a.path == b.path);
    }
    listing.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(listing)
}

/// Adds the files at a place in a store: all below a folder at once. True for a folder; None where nothing is.
fn remote(place: &Place, root: usize, filter: &Filter, files: &mut Vec<DataFile>) -> Result<Option<bool>> {
    let found = match place.found()? {
        Found::Nothing => return Ok(None),
        Found::File(meta) => {
            files.extend(data_file(place, meta, root, filter));
            return Ok(Some(false));
        }
        Found::Folder => place.below()?,
    };
    for meta in found {
        let below = meta.location.as_ref().strip_prefix(place.key.as_ref()).unwrap_or(meta.location.as_ref());
        if !below.split('/').any(|name| !name.is_empty() && is_hidden(name)) {
            files.extend(data_file(place, meta, root, filter));
        }
    }
    Ok(Some(true))
}

fn data_file(place: &Place, mut meta: ObjectMeta, root: usize, filter: &Filter) -> Option<DataFile> {
    let path = place.remote.path(&meta.location);
    meta.location = place.remote.location(&meta.location);
    filter.takes(&path, meta.last_modified).then_some(DataFile { path, meta, root })
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
    if is_remote(&crate::store::path_of(&location)) {
        return Err(illegal(format!("the path {} cannot be read: it looks like one of a store", path.display())));
    }
    let meta = ObjectMeta { location, last_modified: modified, size: facts.len(), e_tag: None, version: None };
    files.push(DataFile { path: path.to_path_buf(), meta, root });
    Ok(())
}
