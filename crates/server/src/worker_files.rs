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

/// Bytes of what a symbolic link leads to.
const LONGEST_LINK: u64 = 4096;

/// Files that one archive may have.
const MAX_FILES: usize = 1_000_000;

/// The folder of one session's workers.
#[derive(Debug)]
pub(crate) struct WorkerFiles {
    /// Goes with the session, and the folder within it.
    parent: TempDir,
    folder: PathBuf,
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

/// A new folder that nobody but the server and its workers reads.
pub(crate) fn private_folder(prefix: &str) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o700));
    }
    builder.tempdir()
}

impl WorkerFiles {
    /// An empty folder.
    pub fn new() -> Result<Self> {
        let parent = private_folder("firesteel-session-").map_err(failed)?;
        let folder = parent.path().join("files");
        fs::create_dir(&folder).map_err(failed)?;
        Ok(Self { parent, folder, includes: Vec::new(), id: uuid::Uuid::new_v4().to_string() })
    }

    /// A folder beside the workers' own, for what is not complete yet.
    fn staging(&self) -> Result<TempDir> {
        tempfile::Builder::new().prefix("firesteel-session-").tempdir_in(self.parent.path()).map_err(failed)
    }

    /// What the engine gives to workers.
    pub fn files(&self) -> PythonFiles {
        PythonFiles { folder: Some(self.folder.clone()), includes: self.includes.clone(), id: self.id.clone() }
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
        let target = self.folder.join(target_name);
        match kind {
            Kind::Archive => {
                // Nothing is seen of an archive that breaks off, and one with the name of another takes its place.
                let staging = self.staging()?;
                let unpacked = staging.path().join("unpacked");
                unpack(path, own, &unpacked)?;
                put(&unpacked, &target)
            }
            Kind::Module | Kind::File => {
                // Functions may write to their files, so each session has its own.
                let staging = self.staging()?;
                let copied = staging.path().join("copied");
                fs::copy(path, &copied).map_err(failed)?;
                put(&copied, &target)?;
                let is_package = [".zip", ".egg", ".jar", ".whl"].iter().any(|end| own.ends_with(end));
                if matches!(kind, Kind::Module) && is_package && !self.includes.iter().any(|known| known == own) {
                    self.includes.push(own.to_string());
                }
                Ok(())
            }
        }
    }
}

/// Moves a file or folder to its place, in which nothing stays of what was there.
fn put(from: &Path, target: &Path) -> Result<()> {
    match fs::symlink_metadata(target) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(target).map_err(failed)?,
        Ok(_) => fs::remove_file(target).map_err(failed)?,
        Err(_) => {}
    }
    fs::rename(from, target).map_err(failed)
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
    let mut links = Vec::new();
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
        if entry.is_symlink() {
            let mut to = String::new();
            entry.by_ref().take(LONGEST_LINK).read_to_string(&mut to).map_err(|e| refused(name, e))?;
            links.push((path, to));
            check_size(name, index, bytes)?;
            continue;
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
    // Links come last: so no file is written to where one leads.
    links.into_iter().try_for_each(|(path, to)| link(name, &path, &to))
}

/// Makes a link of an archive.
#[cfg(unix)]
fn link(name: &str, path: &Path, to: &str) -> Result<()> {
    std::os::unix::fs::symlink(to, path).map_err(|e| refused(name, e))
}

/// Makes a link of an archive.
#[cfg(not(unix))]
fn link(name: &str, _: &Path, _: &str) -> Result<()> {
    Err(refused(name, "it has symbolic links"))
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
    fn files_are_copies_that_take_the_place_of_others() {
        let source = tempfile::tempdir().unwrap();
        let (first, second) = (source.path().join("x"), source.path().join("y"));
        fs::write(&first, "one").unwrap();
        fs::write(&second, "two").unwrap();
        let mut files = WorkerFiles::new().unwrap();
        files.add("files/a.txt", &first).unwrap();
        let laid = files.files().folder.unwrap().join("a.txt");
        fs::write(&laid, "changed").unwrap();
        assert_eq!(fs::read_to_string(&first).unwrap(), "one");
        files.add("files/below/a.txt", &second).unwrap();
        assert_eq!(fs::read_to_string(&laid).unwrap(), "two");
    }

    #[cfg(unix)]
    #[test]
    fn links_of_zip_archives_are_links_and_lead_no_file_astray() {
        let source = tempfile::tempdir().unwrap();
        let file = source.path().join("x");
        let mut archive = zip::ZipWriter::new(File::create(&file).unwrap());
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file("bin/python3", options).unwrap();
        archive.write_all(b"1").unwrap();
        archive.add_symlink("bin/python", "python3", options).unwrap();
        archive.finish().unwrap();
        let mut files = WorkerFiles::new().unwrap();
        files.add("archives/e.zip#env", &file).unwrap();
        let folder = files.files().folder.unwrap();
        assert_eq!(fs::read_link(folder.join("env/bin/python")).unwrap(), Path::new("python3"));
        fs::write(&file, "no archive").unwrap();
        assert!(files.add("archives/f.zip#broken", &file).is_err());
        assert!(!folder.join("broken").exists());
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
