//! All files of a write at once, or none.

use crate::error::unwritable;
use crate::listing::is_hidden;
use crate::store::{Output, RemoteDesk, RemoteStaging, Stores};
use firesteel_error::Result;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What a commit removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    Nothing,
    /// All that is in the folder.
    All,
    /// Partitions that get files.
    Partitions,
}

/// Where a task begins files.
#[derive(Clone)]
pub enum Desk {
    /// Below a temporary folder.
    Local(PathBuf),
    Remote(RemoteDesk),
}

impl Desk {
    /// Begins a file in a folder below the target's, which is the target's own where it has no name.
    pub fn create(&self, folder: &str, name: &str) -> Result<(PathBuf, Output)> {
        let base = match self {
            Self::Local(base) => base,
            Self::Remote(desk) if folder.is_empty() => return desk.create(name),
            Self::Remote(desk) => return desk.create(&format!("{folder}/{name}")),
        };
        let parent = if folder.is_empty() { base.clone() } else { base.join(folder) };
        // A write that was given up has lost its folder, and must not make it again.
        if !base.is_dir() {
            return Err(unwritable(base, "the write was given up"));
        }
        fs::create_dir_all(&parent).map_err(|e| unwritable(&parent, e))?;
        let path = parent.join(name);
        let file = fs::File::create(&path).map_err(|e| unwritable(&path, e))?;
        Ok((path, Output::Local(file)))
    }

    /// True where writing waits for other machines.
    pub fn blocks(&self) -> bool {
        matches!(self, Self::Remote(_))
    }
}

/// Files on their way to the target, of this machine or another.
pub enum Workplace {
    Local(Staging),
    Remote(RemoteStaging),
}

impl Workplace {
    /// Prepares a write. `replaces` says that all that is there goes.
    pub async fn new(target: &Path, stores: &Stores, replaces: bool) -> Result<Self> {
        Ok(match stores.place(target)? {
            None => Self::Local(Staging::new(target)?),
            Some(place) => Self::Remote(RemoteStaging::new(place, replaces).await?),
        })
    }

    /// Where tasks begin files.
    pub fn desk(&self) -> Desk {
        match self {
            Self::Local(staging) => Desk::Local(staging.folder().to_path_buf()),
            Self::Remote(staging) => Desk::Remote(staging.desk()),
        }
    }

    /// Puts all files into their places, and gives their paths there and all bytes.
    pub async fn commit(self, files: Vec<PathBuf>, replace: Replace) -> Result<(Vec<PathBuf>, u64)> {
        match self {
            Self::Local(staging) => staging.commit(&files, replace),
            Self::Remote(staging) => Ok((files, staging.commit(replace).await?)),
        }
    }
}

/// A temporary folder inside of the target. Dropped without a commit, it goes and
/// leaves the target as it was.
#[derive(Debug)]
pub struct Staging {
    target: PathBuf,
    folder: PathBuf,
    /// The outermost folder that did not exist before.
    made: Option<PathBuf>,
    is_committed: bool,
}

impl Staging {
    /// Makes the temporary folder, and the target where it is missing.
    pub fn new(target: &Path) -> Result<Self> {
        let mut made = None;
        let mut missing = target;
        while !missing.exists() {
            made = Some(missing.to_path_buf());
            match missing.parent() {
                Some(parent) => missing = parent,
                None => break,
            }
        }
        let folder = target.join(format!("_temporary-{}", uuid::Uuid::new_v4()));
        let staging = Self { target: target.to_path_buf(), folder, made, is_committed: false };
        fs::create_dir_all(staging.folder()).map_err(|e| unwritable(target, e))?;
        Ok(staging)
    }

    /// Where files are written.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Moves files, given below the temporary folder, to their places, and gives
    /// their new paths and all bytes. If it fails, the old data is moved back.
    pub fn commit(mut self, files: &[PathBuf], replace: Replace) -> Result<(Vec<PathBuf>, u64)> {
        let old = self.replaced(files, replace)?;
        let trash = self.folder.join("_replaced");
        let mut moved: Vec<(PathBuf, PathBuf)> = Vec::new();
        let result = self.move_all(files, &old, &trash, &mut moved);
        match result {
            Ok(done) => {
                self.is_committed = true;
                Ok(done)
            }
            Err(error) => {
                for (from, to) in moved.iter().rev() {
                    let _ = fs::rename(to, from);
                }
                Err(error)
            }
        }
    }

    fn move_all(
        &self,
        files: &[PathBuf],
        old: &[PathBuf],
        trash: &Path,
        moved: &mut Vec<(PathBuf, PathBuf)>,
    ) -> Result<(Vec<PathBuf>, u64)> {
        let fail = |e| unwritable(&self.target, e);
        for (i, path) in old.iter().enumerate() {
            fs::create_dir_all(trash).map_err(fail)?;
            let to = trash.join(i.to_string());
            fs::rename(path, &to).map_err(fail)?;
            moved.push((path.clone(), to));
        }
        let mut placed = Vec::with_capacity(files.len());
        let mut bytes = 0;
        for file in files {
            let relative = file.strip_prefix(&self.folder).unwrap_or(file);
            let to = self.target.join(relative);
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent).map_err(fail)?;
            }
            bytes += fs::metadata(file).map_err(fail)?.len();
            fs::rename(file, &to).map_err(fail)?;
            moved.push((file.clone(), to.clone()));
            placed.push(to);
        }
        fs::write(self.target.join("_SUCCESS"), []).map_err(fail)?;
        Ok((placed, bytes))
    }

    /// The files and folders that go.
    fn replaced(&self, files: &[PathBuf], replace: Replace) -> Result<Vec<PathBuf>> {
        let entries = |folder: &Path| -> Result<Vec<PathBuf>> {
            let read = fs::read_dir(folder).map_err(|e| unwritable(folder, e))?;
            let mut paths = Vec::new();
            for entry in read {
                paths.push(entry.map_err(|e| unwritable(folder, e))?.path());
            }
            Ok(paths)
        };
        if self.target.is_file() {
            return Ok(Vec::new());
        }
        match replace {
            Replace::Nothing => Ok(Vec::new()),
            Replace::All => Ok(entries(&self.target)?
                .into_iter()
                .filter(|path| {
                    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
                    // Others may be writing as well.
                    !name.starts_with("_temporary")
                })
                .collect()),
            Replace::Partitions => {
                let folders: BTreeSet<PathBuf> = files
                    .iter()
                    .filter_map(|file| Some(self.target.join(file.strip_prefix(&self.folder).ok()?.parent()?)))
                    .filter(|folder| folder.is_dir())
                    .collect();
                let mut old = Vec::new();
                for folder in folders {
                    old.extend(
                        entries(&folder)?
                            .into_iter()
                            .filter(|path| path.file_name().is_none_or(|n| !is_hidden(&n.to_string_lossy()))),
                    );
                }
                Ok(old)
            }
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
        if let (Some(made), false) = (&self.made, self.is_committed) {
            let _ = fs::remove_dir_all(made);
        }
    }
}
