//! All files of a write into a store at once, or none.

use super::fault::{plain, write_fault};
use super::network;
use super::output::{Finished, Ledger, Output, Upload};
use super::remote::{Found, Place};
use crate::error::unwritable;
use crate::listing::is_hidden;
use crate::write::commit::Replace;
use firesteel_error::{ExceptionClass, Result, SparkError};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path as Key;
use object_store::{Error, ObjectStoreExt, PutPayload};
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

/// How many files are placed at once.
const AT_ONCE: usize = 16;

/// The name of what tells that a write is complete.
const SUCCESS: &str = "_SUCCESS";

/// Files on their way into a folder of a store. Dropped without a commit, they leave nothing behind.
pub struct RemoteStaging {
    target: Place,
    ledger: Arc<Ledger>,
}

/// Where a task begins files of the folder.
#[derive(Clone)]
pub struct RemoteDesk {
    target: Place,
    ledger: Arc<Ledger>,
}

impl RemoteDesk {
    /// Begins a file, named from the folder on.
    pub fn create(&self, name: &str) -> Result<(PathBuf, Output)> {
        let key = below(&self.target.key, name);
        let path = self.target.remote.path(&key);
        let key = key_of(key, &path)?;
        Ok((path, Output::Remote(Upload::new(self.target.remote.clone(), key, self.ledger.clone()))))
    }
}

/// The name of a file in a folder, as it is: other ways of joining escape what stores can hold.
fn below(folder: &Key, name: &str) -> Key {
    let slash = if folder.as_ref().is_empty() { "" } else { "/" };
    Key::parse(format!("{folder}{slash}{name}")).unwrap_or_default()
}

fn key_of(key: Key, path: &std::path::Path) -> Result<Key> {
    if key.as_ref().is_empty() {
        return Err(unwritable(path, "the name of a file has control characters"));
    }
    Ok(key)
}

impl RemoteStaging {
    /// Prepares a write. Fails where a file is in the folder's place and stays.
    pub async fn new(target: Place, replaces: bool) -> Result<Self> {
        if target.remote.is_read_only() {
            return Err(SparkError::unsupported(format!("writes to {}", target.path().display())));
        }
        if !replaces && matches!(found(&target).await?, Found::File(_)) {
            let message = format!("{}: a file is in the place of the folder", target.path().display());
            return Err(SparkError::plain(ExceptionClass::FileAlreadyExists, message));
        }
        Ok(Self { target, ledger: Arc::default() })
    }

    /// What tasks begin files with.
    pub fn desk(&self) -> RemoteDesk {
        RemoteDesk { target: self.target.clone(), ledger: self.ledger.clone() }
    }

    /// Puts all files into their places, then removes what they replace, and gives all bytes. Goes on to its end
    /// once it has begun. Where a file cannot be placed the others are taken back.
    pub async fn commit(self, replace: Replace) -> Result<u64> {
        let (target, files) = (self.target.clone(), std::mem::take(&mut *self.ledger.files.lock()));
        let done = network::run(place_all(target, files, replace)).await;
        done.map_err(|e| write_fault(&self.target.path(), &e))
    }
}

/// What is at the place of a write.
pub(crate) async fn found(target: &Place) -> Result<Found> {
    let place = target.clone();
    let found = network::run(async move { place.remote.found(&place.key).await }).await;
    found.map_err(|e| write_fault(&target.path(), &e))
}

async fn place_all(target: Place, files: Vec<Finished>, replace: Replace) -> std::result::Result<u64, Error> {
    let keys: Vec<Key> = files.iter().map(|file| file.key.clone()).collect();
    let bytes = files.iter().map(|file| file.size).sum();
    let old = replaced(&target, &keys, replace).await?;
    let store = target.remote.objects()?;
    let placing = futures::stream::iter(files).map(|file| {
        let store = store.clone();
        async move { file.place(&store).await }
    });
    let placed: std::result::Result<(), Error> = placing.buffer_unordered(AT_ONCE).try_collect().await;
    if let Err(error) = placed {
        let _ = target.remote.remove(keys).await;
        return Err(error);
    }
    target.remote.remove(old).await?;
    let success = below(&target.key, SUCCESS);
    store.put(&success, PutPayload::default()).await.map_err(|e| plain(&e))?;
    Ok(bytes)
}

/// The files that go.
async fn replaced(target: &Place, files: &[Key], replace: Replace) -> std::result::Result<Vec<Key>, Error> {
    let new: HashSet<&Key> = files.iter().collect();
    let mut old: Vec<Key> = Vec::new();
    match replace {
        Replace::Nothing => {}
        Replace::All => {
            old.extend(target.remote.below(&target.key).await?.into_iter().map(|file| file.location));
            if !target.key.as_ref().is_empty() && matches!(target.remote.found(&target.key).await?, Found::File(_)) {
                old.push(target.key.clone());
            }
            old.retain(|key| !first_below(key, &target.key).starts_with("_temporary"));
        }
        Replace::Partitions => {
            let folders: BTreeSet<Key> = files.iter().filter_map(Key::parent).collect();
            for folder in folders {
                let found = target.remote.below(&folder).await?.into_iter().map(|file| file.location);
                old.extend(found.filter(|key| !is_hidden(first_below(key, &folder))));
            }
        }
    }
    old.retain(|key| !new.contains(key));
    Ok(old)
}

/// The first name of a key below a folder.
fn first_below<'a>(key: &'a Key, folder: &Key) -> &'a str {
    let rest = key.as_ref().strip_prefix(folder.as_ref()).unwrap_or(key.as_ref());
    rest.trim_start_matches('/').split('/').next().unwrap_or_default()
}
