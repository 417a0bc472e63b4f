//! One store of another machine, as one session may use it.

use super::address::{Address, Protocol};
use super::fault::{fault, plain};
use super::http::Web;
use super::settings::StoreSettings;
use super::{azure, gcs, http, network, s3};
use bytes::Bytes;
use firesteel_config::HadoopSettings;
use firesteel_error::{Result, SparkError};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};
use parking_lot::Mutex;
use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

/// How many stores are kept open; those that were not used for longest are closed first.
const MOST: usize = 256;

static OPEN: LazyLock<Mutex<VecDeque<Arc<Remote>>>> = LazyLock::new(|| Mutex::new(VecDeque::new()));
static NEXT: AtomicU64 = AtomicU64::new(1);

enum Client {
    Objects(Arc<dyn ObjectStore>),
    Web(Web),
}

/// A store with the credentials of a session: equal settings share one, others never do.
pub struct Remote {
    /// Tells the store from others of the process.
    id: u64,
    /// Without a key.
    root: Address,
    settings: HadoopSettings,
    client: Client,
}

/// Clients may show credentials.
impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.root.path().display(), self.id)
    }
}

/// What is at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Nothing,
    File(ObjectMeta),
    Folder,
}

/// What is directly in a folder.
#[derive(Debug, Clone, Default)]
pub struct Level {
    pub folders: Vec<String>,
    pub files: Vec<ObjectMeta>,
}

/// The store that an address names, for a session with these settings.
pub(crate) fn open(address: &Address, settings: &HadoopSettings) -> Result<Arc<Remote>> {
    let settings = settings.below(address.protocol.prefixes());
    let root = Address { key: String::new(), ..address.clone() };
    if let Some(known) = recall(|remote| remote.root == root && remote.settings == settings) {
        return Ok(known);
    }
    let given = StoreSettings { address, all: &settings };
    let client = match address.protocol {
        Protocol::S3 => Client::Objects(Arc::new(s3::open(&given)?)),
        Protocol::Gcs => Client::Objects(Arc::new(gcs::open(&given)?)),
        Protocol::Azure => Client::Objects(Arc::new(azure::open(&given)?)),
        Protocol::Http => Client::Web(http::open(&given)?),
    };
    let remote = Arc::new(Remote { id: NEXT.fetch_add(1, Ordering::Relaxed), root, settings, client });
    let mut open = OPEN.lock();
    open.push_back(remote.clone());
    while open.len() > MOST {
        open.pop_front();
    }
    Ok(remote)
}

/// The open store that is such a one, which is the last to be closed then.
fn recall(is_it: impl Fn(&Remote) -> bool) -> Option<Arc<Remote>> {
    let mut open = OPEN.lock();
    let place = open.iter().position(|remote| is_it(remote))?;
    let remote = open.remove(place)?;
    open.push_back(remote.clone());
    Some(remote)
}

/// The store and the key of a file that a scan has located; None for files of this machine.
pub(crate) fn located(location: &Path) -> Option<(Arc<Remote>, Path)> {
    let (first, key) = location.as_ref().split_once('/')?;
    let mut parts = first.splitn(3, ':');
    let (scheme, id, authority) = (parts.next()?, parts.next()?.parse::<u64>().ok()?, parts.next()?);
    let remote = recall(|remote| remote.id == id)?;
    (remote.root.scheme == scheme && remote.root.authority == authority)
        .then(|| Some((remote, Path::parse(key).ok()?)))
        .flatten()
}

/// The path of a file that a scan has located.
pub(crate) fn path_of(location: &Path) -> PathBuf {
    match located(location) {
        Some((remote, key)) => remote.path(&key),
        None => std::path::Path::new("/").join(location.as_ref()),
    }
}

/// The key of an address.
pub(crate) fn key_of(address: &Address) -> Result<Path> {
    Path::parse(&address.key).map_err(|_| {
        SparkError::unsupported(format!("the path {}, which has control characters", address.path().display()))
    })
}

impl Remote {
    /// True where files cannot be written.
    pub fn is_read_only(&self) -> bool {
        matches!(self.client, Client::Web(_))
    }

    /// The path of a key.
    pub fn path(&self, key: &Path) -> PathBuf {
        Address { key: key.to_string(), ..self.root.clone() }.path()
    }

    /// The name of a file for scans: unlike that of a file of any other store, session or of this machine.
    pub(crate) fn location(&self, key: &Path) -> Path {
        let root = format!("{}:{}:{}", self.root.scheme, self.id, self.root.authority);
        Path::parse(format!("{root}/{key}")).unwrap_or_else(|_| Path::from(root).join(key.as_ref()))
    }

    /// The store, which can be written.
    pub(crate) fn objects(&self) -> std::result::Result<Arc<dyn ObjectStore>, Error> {
        match &self.client {
            Client::Objects(store) => Ok(store.clone()),
            Client::Web(_) => Err(Error::NotSupported { source: "folders and writes on web servers".into() }),
        }
    }

    /// Reads a file.
    pub(crate) async fn get(&self, key: &Path, options: GetOptions) -> std::result::Result<GetResult, Error> {
        let result = match &self.client {
            Client::Objects(store) => store.get_opts(key, options).await,
            Client::Web(web) => web.get(key, options).await,
        };
        result.map_err(|e| plain(&e))
    }

    /// Bytes of a file.
    pub(crate) async fn range(&self, key: &Path, range: Range<u64>) -> std::result::Result<Bytes, Error> {
        let options = GetOptions { range: Some(GetRange::Bounded(range)), ..GetOptions::default() };
        self.get(key, options).await?.bytes().await.map_err(|e| plain(&e))
    }

    /// Parts of a file.
    pub(crate) async fn ranges(&self, key: &Path, ranges: &[Range<u64>]) -> std::result::Result<Vec<Bytes>, Error> {
        match &self.client {
            Client::Objects(store) => store.get_ranges(key, ranges).await.map_err(|e| plain(&e)),
            Client::Web(_) => {
                let fetch = |range| self.range(key, range);
                object_store::coalesce_ranges(ranges, fetch, object_store::OBJECT_STORE_COALESCE_DEFAULT).await
            }
        }
    }

    /// The facts of a file.
    pub(crate) async fn head(&self, key: &Path) -> std::result::Result<ObjectMeta, Error> {
        let options = GetOptions { head: true, ..GetOptions::default() };
        Ok(self.get(key, options).await?.meta)
    }

    /// What is at a place. A folder is there where something is in it; a store itself is one.
    pub(crate) async fn found(&self, key: &Path) -> std::result::Result<Found, Error> {
        if key.as_ref().is_empty() {
            let mut all = self.objects()?.list(None);
            return match all.next().await {
                Some(Err(Error::NotFound { .. })) => Ok(Found::Nothing),
                Some(Err(e)) => Err(plain(&e)),
                _ => Ok(Found::Folder),
            };
        }
        match self.head(key).await {
            Ok(meta) => return Ok(Found::File(meta)),
            Err(Error::NotFound { .. }) if self.is_read_only() => return Ok(Found::Nothing),
            Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
        match self.objects()?.list(Some(key)).next().await {
            None | Some(Err(Error::NotFound { .. })) => Ok(Found::Nothing),
            Some(Ok(_)) => Ok(Found::Folder),
            Some(Err(e)) => Err(plain(&e)),
        }
    }

    /// All files below a folder.
    pub(crate) async fn below(&self, folder: &Path) -> std::result::Result<Vec<ObjectMeta>, Error> {
        let prefix = (!folder.as_ref().is_empty()).then_some(folder);
        let mut files: Vec<ObjectMeta> =
            self.objects()?.list(prefix).try_collect().await.map_err(|e: Error| plain(&e))?;
        // What some tools put where a folder shall be.
        files.retain(|file| file.location != *folder);
        files.sort_by(|a, b| a.location.cmp(&b.location));
        Ok(without_markers(files))
    }

    /// What is directly in a folder.
    pub(crate) async fn level(&self, folder: &Path) -> std::result::Result<Level, Error> {
        let prefix = (!folder.as_ref().is_empty()).then_some(folder);
        let found = self.objects()?.list_with_delimiter(prefix).await.map_err(|e| plain(&e))?;
        let folders: Vec<String> =
            found.common_prefixes.iter().filter_map(|path| path.filename().map(str::to_string)).collect();
        let files = found.objects.into_iter().filter(|file| file.location != *folder).collect();
        Ok(Level { folders, files })
    }

    /// Removes files.
    pub(crate) async fn remove(&self, keys: Vec<Path>) -> std::result::Result<(), Error> {
        let keys = futures::stream::iter(keys.into_iter().map(Ok)).boxed();
        let mut removed = self.objects()?.delete_stream(keys);
        while let Some(result) = removed.next().await {
            match result {
                Ok(_) | Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(plain(&error)),
            }
        }
        Ok(())
    }
}

/// Leaves out empty files below whose names there are others: they stand for folders.
fn without_markers(files: Vec<ObjectMeta>) -> Vec<ObjectMeta> {
    let mut folders: HashSet<String> = HashSet::new();
    for file in &files {
        let mut parent = file.location.parent();
        while let Some(folder) = parent {
            if !folders.insert(folder.to_string()) {
                break;
            }
            parent = folder.parent();
        }
    }
    files.into_iter().filter(|file| file.size > 0 || !folders.contains(file.location.as_ref())).collect()
}

/// A place in a store that is open.
#[derive(Debug, Clone)]
pub struct Place {
    pub(crate) remote: Arc<Remote>,
    pub(crate) key: Path,
}

impl Place {
    /// The place as a path.
    pub fn path(&self) -> PathBuf {
        self.remote.path(&self.key)
    }

    fn wait<T: Send + 'static, F>(&self, request: impl FnOnce(Place) -> F) -> Result<T>
    where
        F: Future<Output = std::result::Result<T, Error>> + Send + 'static,
    {
        network::wait(request(self.clone())).map_err(|e| fault(&self.path(), &e))
    }

    /// What is there; waits for the answer.
    pub fn found(&self) -> Result<Found> {
        self.wait(|place| async move { place.remote.found(&place.key).await })
    }

    /// What is directly in the folder; waits for the answer.
    pub fn level(&self) -> Result<Level> {
        self.wait(|place| async move { place.remote.level(&place.key).await })
    }

    /// All files below the folder; waits for the answer.
    pub fn below(&self) -> Result<Vec<ObjectMeta>> {
        self.wait(|place| async move { place.remote.below(&place.key).await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(settings: &[(&str, &str)]) -> Arc<Remote> {
        let keys = [("fs.s3a.endpoint", "http://127.0.0.1:1"), ("fs.s3a.secret.key", "s")];
        let all = HadoopSettings::new(keys.into_iter().chain(settings.iter().copied()).collect::<Vec<_>>().into_iter());
        open(&Address::parse("s3a://bucket/x").unwrap().unwrap(), &all).unwrap()
    }

    #[test]
    fn sessions_with_other_keys_have_other_stores() {
        let (one, other) = (remote(&[("fs.s3a.access.key", "one")]), remote(&[("fs.s3a.access.key", "other")]));
        assert_ne!(one.id, other.id);
        assert_eq!(remote(&[("fs.s3a.access.key", "one"), ("fs.gs.project.id", "p")]).id, one.id);
        let key = Path::parse("a b/k=%25+é").unwrap();
        assert_ne!(one.location(&key), other.location(&key));
        let (found, same) = located(&other.location(&key)).unwrap();
        assert_eq!((found.id, same), (other.id, key.clone()));
        assert_eq!(path_of(&one.location(&key)), PathBuf::from("s3a://bucket/a b/k=%25+é"));
        assert_eq!(path_of(&Path::parse("tmp/x").unwrap()), PathBuf::from("/tmp/x"));
    }

    #[test]
    fn markers_of_folders_are_no_files() {
        let file = |name: &str, size| ObjectMeta {
            location: Path::parse(name).unwrap(),
            last_modified: Default::default(),
            size,
            e_tag: None,
            version: None,
        };
        let kept = without_markers(vec![file("a", 0), file("a/b", 1), file("c", 0), file("d", 0), file("d/e/f", 1)]);
        let kept: Vec<_> = kept.iter().map(|f| f.location.to_string()).collect();
        assert_eq!(kept, ["a/b", "c", "d/e/f"]);
    }
}
