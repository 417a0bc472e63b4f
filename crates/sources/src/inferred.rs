//! Schemas that were found by reading files, kept as long as the files stay as they are.

use crate::listing::DataFile;
use firesteel_config::SqlConf;
use firesteel_error::Result;
use firesteel_types::StructType;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

/// How many schemas are kept.
const MOST: usize = 256;

/// Files that changed so many milliseconds ago may change again without a new time.
const FRESH: i64 = 2000;

/// What a schema was found in: two hashes of the same facts.
type Key = [u64; 2];

/// The schemas, the ones used last at the end.
static KNOWN: LazyLock<Mutex<VecDeque<(Key, StructType)>>> = LazyLock::new(|| Mutex::new(VecDeque::new()));

/// The schema of files of a format: the one found before, where files, options and settings are the same,
/// or else what `find` gives.
pub(crate) fn schema(
    format: &str,
    files: &[DataFile],
    options: &[(String, String)],
    conf: &SqlConf,
    find: impl FnOnce() -> Result<StructType>,
) -> Result<StructType> {
    let key = [key(0, format, files, options, conf), key(1, format, files, options, conf)];
    if let Some(known) = recall(key) {
        return Ok(known);
    }
    let found = find()?;
    let newest = files.iter().map(|file| file.meta.last_modified.timestamp_millis()).max().unwrap_or(0);
    if newest < chrono::Utc::now().timestamp_millis() - FRESH {
        remember(key, found.clone());
    }
    Ok(found)
}

fn key(seed: u8, format: &str, files: &[DataFile], options: &[(String, String)], conf: &SqlConf) -> u64 {
    let mut hash = DefaultHasher::new();
    (seed, format, options).hash(&mut hash);
    format!("{conf:?}").hash(&mut hash);
    for file in files {
        (&file.path, &file.meta.location, file.meta.size, file.meta.last_modified).hash(&mut hash);
    }
    hash.finish()
}

fn recall(key: Key) -> Option<StructType> {
    let mut known = KNOWN.lock();
    let place = known.iter().position(|(other, _)| *other == key)?;
    let entry = known.remove(place)?;
    let schema = entry.1.clone();
    known.push_back(entry);
    Some(schema)
}

fn remember(key: Key, schema: StructType) {
    let mut known = KNOWN.lock();
    known.push_back((key, schema));
    while known.len() > MOST {
        known.pop_front();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use chrono::{TimeDelta, Utc};
    use firesteel_types::{DataType, StructField};
    use object_store::ObjectMeta;
    use std::path::PathBuf;

    fn file(name: &str, size: u64, seconds_ago: i64) -> DataFile {
        let last_modified = chrono::DateTime::from_timestamp(1_500_000_000, 0).unwrap_or_else(Utc::now);
        let last_modified = if seconds_ago == 0 { Utc::now() } else { last_modified - TimeDelta::seconds(seconds_ago) };
        let meta = ObjectMeta { location: name.into(), last_modified, size, e_tag: None, version: None };
        DataFile { path: PathBuf::from(name), meta, root: 0 }
    }

    fn one(name: &str) -> StructType {
        StructType::new(vec![StructField::new(name, DataType::Long, true)])
    }

    fn found(files: &[DataFile], options: &[(String, String)], name: &str) -> StructType {
        schema("test", files, options, &SqlConf::default(), || Ok(one(name))).unwrap()
    }

    #[test]
    fn schemas_are_kept_while_files_stay() {
        assert_eq!(found(&[file("kept", 1, 9)], &[], "a"), one("a"));
        assert_eq!(found(&[file("kept", 1, 9)], &[], "b"), one("a"));
        assert_eq!(found(&[file("kept", 2, 9)], &[], "c"), one("c"));
        assert_eq!(found(&[file("kept", 1, 8)], &[], "d"), one("d"));
        assert_eq!(found(&[file("kept", 1, 9), file("more", 1, 9)], &[], "e"), one("e"));
        assert_eq!(found(&[file("kept", 1, 9)], &[("x".into(), "y".into())], "f"), one("f"));
        // No more are kept than fit.
        for i in 0..MOST + 10 {
            found(&[file(&format!("many{i}"), 1, 9)], &[], "a");
        }
        assert!(KNOWN.lock().len() <= MOST);
        assert_eq!(found(&[file("kept", 1, 9)], &[], "g"), one("g"));
    }

    #[test]
    fn files_that_just_changed_are_read_again() {
        let files = [file("fresh", 1, 0)];
        assert_eq!(found(&files, &[], "a"), one("a"));
        assert_eq!(found(&files, &[], "b"), one("b"));
    }
}
