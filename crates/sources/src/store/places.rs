//! All stores as one, for scans of files of several.

use super::remote::{Remote, located};
use crate::listing::DataFile;
use async_trait::async_trait;
use bytes::Bytes;
use datafusion::common::Result as DfResult;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnv;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The name that the engine knows all stores by.
const URL: &str = "firesteel://places";

/// Where scans of these files read: this machine's files directly, others through [`Places`].
pub(crate) fn url<'a>(runtime: &RuntimeEnv, mut files: impl Iterator<Item = &'a DataFile>) -> DfResult<ObjectStoreUrl> {
    if !files.any(|file| super::is_remote(&file.path)) {
        return Ok(ObjectStoreUrl::local_filesystem());
    }
    let url = ObjectStoreUrl::parse(URL)?;
    if runtime.object_store(&url).is_err() {
        let local = runtime.object_store(ObjectStoreUrl::local_filesystem())?;
        runtime.register_object_store(url.as_ref(), Arc::new(Places { local }));
    }
    Ok(url)
}

/// What reads these files.
pub(crate) fn reader<'a>(
    runtime: &RuntimeEnv,
    files: impl Iterator<Item = &'a DataFile>,
) -> DfResult<Arc<dyn ObjectStore>> {
    runtime.object_store(url(runtime, files)?)
}

/// Files of all stores that scans have located, and of this machine.
#[derive(Debug)]
struct Places {
    local: Arc<dyn ObjectStore>,
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("places")
    }
}

fn undone<T>(operation: &str) -> Result<T> {
    Err(Error::NotImplemented { operation: operation.to_string(), implementer: "places".to_string() })
}

/// The error with the file's URI.
fn named(remote: &Remote, key: &Path, error: Error) -> Error {
    let uri = crate::path::uri(&remote.path(key));
    match error {
        Error::NotFound { source, .. } => Error::NotFound { path: uri, source },
        Error::Generic { store, source } => Error::Generic { store, source: format!("{uri}: {source}").into() },
        other => other,
    }
}

async fn get(remote: &Remote, key: &Path, location: &Path, options: GetOptions) -> Result<GetResult> {
    let mut result = remote.get(key, options).await.map_err(|e| named(remote, key, e))?;
    result.meta.location = location.clone();
    Ok(result)
}

#[async_trait]
impl ObjectStore for Places {
    async fn put_opts(&self, _location: &Path, _payload: PutPayload, _options: PutOptions) -> Result<PutResult> {
        undone("put")
    }

    async fn put_multipart_opts(
        &self,
        _location: &Path,
        _options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        undone("put_multipart")
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        match located(location) {
            Some((remote, key)) => get(&remote, &key, location, options).await,
            None => self.local.get_opts(location, options).await,
        }
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        match located(location) {
            Some((remote, key)) => remote.ranges(&key, ranges).await.map_err(|e| named(&remote, &key, e)),
            None => self.local.get_ranges(location, ranges).await,
        }
    }

    fn delete_stream(&self, _locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        futures::stream::once(async { undone("delete") }).boxed()
    }

    fn list(&self, _prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        futures::stream::once(async { undone("list") }).boxed()
    }

    async fn list_with_delimiter(&self, _prefix: Option<&Path>) -> Result<ListResult> {
        undone("list")
    }

    async fn copy_opts(&self, _from: &Path, _to: &Path, _options: CopyOptions) -> Result<()> {
        undone("copy")
    }
}
