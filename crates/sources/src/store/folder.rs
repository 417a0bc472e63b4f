//! Folders of tables and partitions, wherever they lie.
//!
//! Stores have no folders: one is there as long as something is in it.

use super::Stores;
use super::address::{Address, Protocol};
use super::network;
use super::remote::{Found, Place};
use crate::listing::is_hidden;
use crate::path::short_uri;
use firesteel_error::{Result, SparkError};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path as Key;
use object_store::{Error, ObjectStoreExt};
use std::path::{Path, PathBuf};

/// How many files are moved at once.
const AT_ONCE: usize = 16;

fn local(what: &str, path: &Path, error: &std::io::Error) -> SparkError {
    SparkError::internal(format!("cannot {what} the folder {}: {error}", path.display()))
}

impl Stores {
    /// True where a file or folder is at a path.
    pub fn exists(&self, path: &Path) -> Result<bool> {
        match self.place(path)? {
            None => Ok(path.exists()),
            Some(place) => Ok(place.found()? != Found::Nothing),
        }
    }

    /// True where a folder is at a path.
    pub fn is_folder(&self, path: &Path) -> Result<bool> {
        match self.place(path)? {
            None => Ok(path.is_dir()),
            Some(place) => Ok(place.found()? == Found::Folder),
        }
    }

    /// Names of the folders within a folder; none where it is not there.
    pub fn folders(&self, path: &Path) -> Result<Vec<String>> {
        match self.place(path)? {
            None => {
                let Ok(entries) = std::fs::read_dir(path) else { return Ok(Vec::new()) };
                let folders = entries.flatten().filter(|entry| entry.path().is_dir());
                Ok(folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
            }
            Some(place) => match place.level() {
                Ok(level) => Ok(level.folders),
                Err(error) if error.is("PATH_NOT_FOUND") => Ok(Vec::new()),
                Err(error) => Err(error),
            },
        }
    }

    /// True where nothing is in a folder, or the folder is not there.
    pub fn is_empty(&self, path: &Path) -> Result<bool> {
        match self.place(path)? {
            None => Ok(std::fs::read_dir(path).map_or(true, |mut entries| entries.next().is_none())),
            Some(place) => Ok(place.found()? == Found::Nothing),
        }
    }

    /// Makes a folder and those above it.
    pub fn make_folder(&self, path: &Path) -> Result<()> {
        if super::is_remote(path) {
            return self.check_table(path);
        }
        std::fs::create_dir_all(path).map_err(|e| local("make", path, &e))
    }

    /// Removes a folder with all that is in it; it need not be there.
    pub fn remove_folder(&self, path: &Path) -> Result<()> {
        let Some(place) = self.place(path)? else {
            return match std::fs::remove_dir_all(path) {
                Ok(()) => Ok(()),
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
                Err(e) => Err(local("remove", path, &e)),
            };
        };
        let removed = network::wait(async move {
            let files = place.remote.below(&place.key).await?;
            let mut keys: Vec<Key> = files.into_iter().map(|file| file.location).collect();
            keys.push(place.key.clone());
            keys.retain(|key| !key.as_ref().is_empty());
            place.remote.remove(keys).await
        });
        match removed {
            Err(Error::NotFound { .. }) => Ok(()),
            other => other.map_err(|e| super::fault::write_fault(path, &e)),
        }
    }

    /// Moves a folder. In a store its files are copied, then removed where they were.
    pub fn rename_folder(&self, from: &Path, to: &Path) -> Result<()> {
        match (self.place(from)?, self.place(to)?) {
            (None, None) => {
                if let Some(parent) = to.parent() {
                    self.make_folder(parent)?;
                }
                std::fs::rename(from, to).map_err(|e| local("rename", from, &e))
            }
            (Some(old), Some(new)) if std::sync::Arc::ptr_eq(&old.remote, &new.remote) => {
                network::wait(moved(old, new)).map_err(|e| super::fault::write_fault(from, &e))
            }
            _ => Err(SparkError::unsupported("moves of folders from one store to another")),
        }
    }

    /// Bytes of the data files below a folder.
    pub fn folder_size(&self, path: &Path) -> Result<u64> {
        let Some(place) = self.place(path)? else { return Ok(local_size(path)) };
        let files = match place.below() {
            Ok(files) => files,
            Err(error) if error.is("PATH_NOT_FOUND") => return Ok(0),
            Err(error) => return Err(error),
        };
        let is_data = |key: &Key| {
            let rest = key.as_ref().strip_prefix(place.key.as_ref()).unwrap_or(key.as_ref());
            !rest.split('/').any(|name| !name.is_empty() && is_hidden(name))
        };
        Ok(files.iter().filter(|file| is_data(&file.location)).map(|file| file.size).sum())
    }

    /// Fails where a path cannot be that of a table: what is read only has no folders.
    pub fn check_table(&self, path: &Path) -> Result<()> {
        match Address::of(path) {
            Some(address) if address.protocol == Protocol::Http => {
                Err(SparkError::unsupported(format!("tables at {}", short_uri(path))))
            }
            _ => Ok(()),
        }
    }
}

async fn moved(old: Place, new: Place) -> std::result::Result<(), Error> {
    let files = old.remote.below(&old.key).await?;
    let keys: Vec<Key> = files.into_iter().map(|file| file.location).collect();
    let store = old.remote.objects()?;
    let copies = keys.iter().map(|key| {
        let rest = key.as_ref().strip_prefix(old.key.as_ref()).unwrap_or(key.as_ref());
        let to = Key::parse(format!("{}{rest}", new.key)).unwrap_or_default();
        let (store, key) = (store.clone(), key.clone());
        async move { store.copy(&key, &to).await.map_err(|e| super::fault::plain(&e)) }
    });
    let copies: Vec<_> = copies.collect();
    let copied: std::result::Result<(), Error> =
        futures::stream::iter(copies).buffer_unordered(AT_ONCE).try_collect().await;
    copied?;
    old.remote.remove(keys).await
}

fn local_size(folder: &Path) -> u64 {
    let mut total = 0;
    let mut stack: Vec<PathBuf> = vec![folder.to_path_buf()];
    while let Some(folder) = stack.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            if is_hidden(&entry.file_name().to_string_lossy()) {
                continue;
            }
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => stack.push(entry.path()),
                Ok(meta) => total += meta.len(),
                Err(_) => {}
            }
        }
    }
    total
}
