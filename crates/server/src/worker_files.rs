//! A session's artifacts as its Python workers see them: one folder, in which
//! files and modules lie under their names and archives are unpacked.

use firesteel_engine::PythonFiles;
use firesteel_error::{ExceptionClass, Result, SparkError};
use flate2::read::GzDecoder;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Bytes that the files of one archive may have together.
const MAX_UNPACKED: u64 = 16 << 30;

/// Files that one archive may have.
const MAX_FILES: usize = 1_000_000;

/// The folder of one session's workers.
#[derive(Debug)]
pub(crate) struct WorkerFiles {
    folder: TempDir,
    includes: Vec<String>,
    id: String,
}

/// What a kind of artifact becomes.
enum Kind {
    /// Python code; packages in one file go on the path themselves.
    Module,
    File,
    Archive,
}

/// The kind of an artifact that workers see, and the rest of its name.
fn kind_of(name: &str) -> Option<(Kind, &str)> {
    let (kind, rest) = name.split_once('/')?;
    match kind {
        "pyfiles" => Some((Kind::Module, rest)),
        "files" => Some((Kind::File, rest)),
        "archives" => Some((Kind::Archive, rest)),
        _ => None,
    }
}

/// Whether workers see an artifact of this name.
pub(crate) fn is_for_workers(name: &str) -> bool {
    kind_of(name).is_some()
}

fn failed(error: io::Error) -> SparkError {
    SparkError::internal(format!("artifacts cannot be laid out for Python workers: {error}"))
}

fn refused(name: &str, why: impl std::fmt::Display) -> SparkError {
    SparkError::plain(ExceptionClass::IllegalArgument, format!("The archive {name} cannot be unpacked: {why}"))
}

impl WorkerFiles {
    /// An empty folder.
    pub fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("firesteel-session-").tempdir().map_err(failed)?;
        Ok(Self { folder, includes: Vec::new(), id: uuid::Uuid::new_v4().to_string() })
    }

    /// What the engine gives to workers.
    pub fn files(&self) -> PythonFiles {
        PythonFiles {
            folder: Some(self.folder.path().to_path_buf()),
            includes: self.includes.clone(),
            id: self.id.clone(),
        }
    }

    /// Lays out an artifact.
    pub fn add(&mut self, name: &str, path: &Path) -> Result<()> {
        let Some((kind, rest)) = kind_of(name) else { return Ok(()) };
        let (file, alias) = match kind {
            Kind::Archive => rest.split_once('#').map_or((rest, None), |(file, alias)| (file, Some(alias))),
            _ => (rest, None),
        };
        let own = file.rsplit('/').next().unwrap_or(file);
        let target_name = alias.filter(|alias| !alias.is_empty()).unwrap_or(own);
        if target_name.contains(['/', '\\', '\0']) || target_name == "." || target_name == ".." {
            return Err(SparkError::new("INVALID_ARTIFACT_PATH").with("name", name));
        }
        let target = self.folder.path().join(target_name);
        match kind {
            Kind::Archive => unpack(path, own, &target),
            Kind::Module | Kind::File => {
                // Files are never changed in place, so they can be shared.
                if fs::hard_link(path, &target).is_err() {
                    fs::copy(path, &target).map_err(failed)?;
                }
                let is_package = [".zip", ".egg", ".jar", ".whl"].iter().any(|end| own.ends_with(end));
                if matches!(kind, Kind::Module) && is_package && !self.includes.iter().any(|known| known == own) {
                    self.includes.push(own.to_string());
                }
                Ok(())
            }
        }
    }
}

/// Unpacks an archive into a folder; nothing of it comes to lie outside.
fn unpack(path: &Path, name: &str, target: &Path) -> Result<()> {
    fs::create_dir_all(target).map_err(failed)?;
    let file = File::open(path).map_err(failed)?;
    let lower = name.to_lowercase();
    if lower.ends_with(".zip") || lower.ends_with(".jar") {
        unzip(file, name, target)
    } else if lower.ends_with(".tar.gz") || lower.ends_with(".tgz") {
        untar(GzDecoder::new(io::BufReader::new(file)), name, target)
    } else if lower.ends_with(".tar") {
        untar(io::BufReader::new(file), name, target)
    } else {
        fs::copy(path, target.join(name)).map(|_| ()).map_err(failed)
    }
}

fn untar(reader: impl Read, name: &str, target: &Path) -> Result<()> {
    let mut archive = tar::Archive::new(reader.take(MAX_UNPACKED));
    archive.set_preserve_permissions(true);
    let mut bytes = 0u64;
    for (count, entry) in archive.entries().map_err(|e| refused(name, e))?.enumerate() {
        let mut entry = entry.map_err(|e| refused(name, e))?;
        bytes = bytes.saturating_add(entry.size());
        check_size(name, count, bytes)?;
        if !entry.unpack_in(target).map_err(|e| refused(name, e))? {
            return Err(refused(name, "a file of it would lie outside"));
        }
    }
    Ok(())
}

fn unzip(file: File, name: &str, target: &Path) -> Result<()> {
    let mut archive = zip::ZipArchive::new(io::BufReader::new(file)).map_err(|e| refused(name, e))?;
    let mut bytes = 0u64;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|e| refused(name, e))?;
        let Some(inside): Option<PathBuf> = entry.enclosed_name() else {
            return Err(refused(name, "a file of it would lie outside"));
        };
        let path = target.join(inside);
        if entry.is_dir() {
            fs::create_dir_all(&path).map_err(failed)?;
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        let mut out = File::create(&path).map_err(failed)?;
        bytes = bytes.saturating_add(copy_within(&mut entry, &mut out, MAX_UNPACKED - bytes.min(MAX_UNPACKED))?);
        check_size(name, index, bytes)?;
        #[cfg(unix)]
        if let Some(mode) = entry.unix_mode() {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&path, fs::Permissions::from_mode(mode & 0o777)).map_err(failed)?;
        }
    }
    Ok(())
}

fn copy_within(from: &mut impl Read, to: &mut impl Write, limit: u64) -> Result<u64> {
    io::copy(&mut from.take(limit.saturating_add(1)), to).map_err(failed)
}

fn check_size(name: &str, files: usize, bytes: u64) -> Result<()> {
    if bytes > MAX_UNPACKED || files >= MAX_FILES {
        return Err(refused(name, "it is too large"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_modules_and_archives_find_their_places() {
        let source = tempfile::tempdir().unwrap();
        let file = source.path().join("x");
        fs::write(&file, "a = 1").unwrap();
        let mut files = WorkerFiles::new().unwrap();
        files.add("pyfiles/m.py", &file).unwrap();
        files.add("pyfiles/p.zip", &file).unwrap();
        files.add("files/data.txt", &file).unwrap();
        let folder = files.files().folder.unwrap();
        assert!(folder.join("m.py").is_file() && folder.join("p.zip").is_file() && folder.join("data.txt").is_file());
        assert_eq!(files.files().includes, ["p.zip"]);
        let mut archive = tar::Builder::new(Vec::new());
        archive.append_path_with_name(&file, "inner/y").unwrap();
        fs::write(&file, archive.into_inner().unwrap()).unwrap();
        files.add("archives/e.tar#env", &file).unwrap();
        assert!(folder.join("env/inner/y").is_file());
        assert!(files.add("archives/e.tar#..", &file).is_err());
    }

    #[test]
    fn archives_stay_inside_their_folder() {
        let source = tempfile::tempdir().unwrap();
        let file = source.path().join("x");
        let mut header = tar::Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..5].copy_from_slice(b"../up");
        header.set_size(1);
        header.set_cksum();
        let mut archive = tar::Builder::new(Vec::new());
        archive.append(&header, &b"1"[..]).unwrap();
        fs::write(&file, archive.into_inner().unwrap()).unwrap();
        let mut files = WorkerFiles::new().unwrap();
        assert!(files.add("archives/bad.tar", &file).is_err());
    }
}
