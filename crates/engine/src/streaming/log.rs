//! Logs in a checkpoint: a file for each batch, written at once or not at all.

use firesteel_error::{ExceptionClass, Result, SparkError};
use std::fs;
use std::path::{Path, PathBuf};

/// The first line of every file.
const VERSION: &str = "v1";

/// Batches after which entries are put together in one file.
const COMPACT_INTERVAL: i64 = 10;

/// Batches that stay readable.
const RETAINED: i64 = 100;

/// A folder with a file for each batch.
#[derive(Debug, Clone)]
pub(super) struct Log {
    folder: PathBuf,
}

impl Log {
    /// A log in a folder, which is made.
    pub fn open(folder: PathBuf) -> Result<Self> {
        fs::create_dir_all(&folder).map_err(|error| cannot("make the folder", &folder, &error))?;
        Ok(Self { folder })
    }

    /// The lines of a batch after the version.
    pub fn read(&self, batch: i64) -> Result<Option<Vec<String>>> {
        read(&self.folder.join(batch.to_string()))
    }

    /// Writes the lines of a batch.
    pub fn write(&self, batch: i64, lines: &[String]) -> Result<()> {
        write(&self.folder.join(batch.to_string()), lines)
    }

    /// The number of the last batch.
    pub fn latest(&self) -> Result<Option<i64>> {
        Ok(numbers(&self.folder)?.into_iter().map(|(number, _)| number).max())
    }

    /// Removes what nobody goes back to.
    pub fn purge(&self, batch: i64) {
        if batch >= RETAINED {
            // A file that stays does no harm.
            let _ = fs::remove_file(self.folder.join((batch - RETAINED).to_string()));
        }
    }
}

/// A log whose entries of all batches make up its content.
#[derive(Debug, Clone)]
pub(super) struct CompactLog {
    log: Log,
}

impl CompactLog {
    /// A log in a folder, which is made.
    pub fn open(folder: PathBuf) -> Result<Self> {
        Ok(Self { log: Log::open(folder)? })
    }

    /// The number of the last batch.
    pub fn latest(&self) -> Result<Option<i64>> {
        self.log.latest()
    }

    /// True where a batch has been written.
    pub fn has(&self, batch: i64) -> Result<bool> {
        Ok(self.latest()?.is_some_and(|latest| batch <= latest))
    }

    /// Writes the entries of a batch, with all those before it where it is their turn.
    pub fn write(&self, batch: i64, entries: &[String]) -> Result<()> {
        if (batch + 1) % COMPACT_INTERVAL != 0 {
            return self.log.write(batch, entries);
        }
        let mut all = self.all()?;
        all.extend_from_slice(entries);
        write(&self.log.folder.join(format!("{batch}.compact")), &all)?;
        for (number, path) in numbers(&self.log.folder)? {
            if number < batch - COMPACT_INTERVAL {
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }

    /// All entries, in order.
    pub fn all(&self) -> Result<Vec<String>> {
        let mut files = numbers(&self.log.folder)?;
        files.sort();
        let is_compact = |path: &Path| path.extension().is_some_and(|extension| extension == "compact");
        let first = files.iter().rposition(|(_, path)| is_compact(path)).unwrap_or(0);
        let mut all = Vec::new();
        for (_, path) in files.iter().skip(first) {
            all.extend(read(path)?.unwrap_or_default());
        }
        Ok(all)
    }
}

/// The files of batches in a folder.
fn numbers(folder: &Path) -> Result<Vec<(i64, PathBuf)>> {
    let entries = fs::read_dir(folder).map_err(|error| cannot("read the folder", folder, &error))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| cannot("read the folder", folder, &error))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let number = name.strip_suffix(".compact").unwrap_or(&name);
        if let Ok(number) = number.parse() {
            found.push((number, path));
        }
    }
    Ok(found)
}

fn read(path: &Path) -> Result<Option<Vec<String>>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot("read", path, &error)),
    };
    let mut lines = text.lines();
    match lines.next() {
        Some(VERSION) => Ok(Some(lines.map(str::to_string).collect())),
        other => Err(SparkError::plain(
            ExceptionClass::IllegalState,
            format!(
                "Log file {} was malformed: it begins with {:?}, not {VERSION}",
                path.display(),
                other.unwrap_or("")
            ),
        )),
    }
}

fn write(path: &Path, lines: &[String]) -> Result<()> {
    let mut text = VERSION.to_string();
    for line in lines {
        text.push('\n');
        text.push_str(line);
    }
    put(path, &text)
}

/// Writes a file as a whole.
pub(super) fn put(path: &Path, text: &str) -> Result<()> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", uuid::Uuid::new_v4()));
    let written = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&temporary);
        cannot("write", path, &error)
    })
}

/// The error of a checkpoint that cannot be read or written.
pub(super) fn cannot(what: &str, path: &Path, error: &std::io::Error) -> SparkError {
    SparkError::plain(ExceptionClass::Spark, format!("Cannot {what} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_all_batches_survive_being_put_together() {
        let folder = tempfile::tempdir().unwrap();
        let log = CompactLog::open(folder.path().join("log")).unwrap();
        for batch in 0..25 {
            log.write(batch, &[format!("entry {batch}")]).unwrap();
        }
        let expected: Vec<String> = (0..25).map(|batch| format!("entry {batch}")).collect();
        assert_eq!(log.all().unwrap(), expected);
        assert_eq!(log.latest().unwrap(), Some(24));
        assert!(log.has(19).unwrap());
        assert!(!log.has(25).unwrap());
        assert!(folder.path().join("log/19.compact").exists());
    }

    #[test]
    fn a_batch_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::open(folder.path().to_path_buf()).unwrap();
        assert_eq!(log.latest().unwrap(), None);
        log.write(3, &["{}".to_string(), "7".to_string()]).unwrap();
        assert_eq!(log.read(3).unwrap(), Some(vec!["{}".to_string(), "7".to_string()]));
        assert_eq!(log.read(4).unwrap(), None);
        assert_eq!(log.latest().unwrap(), Some(3));
    }
}
