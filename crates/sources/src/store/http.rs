//! Files of web servers, which are only read.

use super::settings::{StoreSettings, connector};
use crate::error::illegal;
use bytes::Bytes;
use firesteel_error::Result;
use futures::StreamExt;
use object_store::http::{HttpBuilder, HttpStore};
use object_store::path::Path;
use object_store::{Error, GetOptions, GetResult, GetResultPayload, ObjectMeta, ObjectStore, ObjectStoreExt};
use parking_lot::Mutex;

/// No file of a server that cannot send parts of it has more bytes.
const LARGEST: u64 = 512 << 20;

/// The files of a host.
#[derive(Debug)]
pub(crate) struct Web {
    store: HttpStore,
    /// The last file that came whole, from a server that does not send parts.
    whole: Mutex<Option<(ObjectMeta, Bytes)>>,
}

/// The store of a host.
pub(crate) fn open(settings: &StoreSettings<'_>) -> Result<Web> {
    let address = settings.address;
    let url = format!("{}://{}", address.scheme, address.authority);
    let built = HttpBuilder::new()
        .with_url(&url)
        .with_client_options(settings.client()?.with_allow_http(true))
        .with_retry(settings.retry()?)
        .with_http_connector(connector()?)
        .build();
    let store = built.map_err(|e| illegal(format!("{url} cannot be used: {}", super::fault::describe(&e))))?;
    Ok(Web { store, whole: Mutex::new(None) })
}

impl Web {
    /// A file, or a part of it.
    pub async fn get(&self, key: &Path, options: GetOptions) -> std::result::Result<GetResult, Error> {
        let Some(range) = options.range.clone() else { return self.store.get_opts(key, options).await };
        match self.store.get_opts(key, options).await {
            Err(Error::NotSupported { .. }) => {}
            other => return other,
        }
        let (meta, bytes) = self.all(key).await?;
        let fault = |e: String| Error::Generic { store: "HTTP", source: e.into() };
        let range = range.as_range(meta.size).map_err(|e| fault(e.to_string()))?;
        let index = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).min(bytes.len());
        let part = bytes.slice(index(range.start)..index(range.end));
        let payload = GetResultPayload::Stream(futures::stream::once(async move { Ok(part) }).boxed());
        Ok(GetResult { payload, meta, range, attributes: Default::default() })
    }

    /// All of a file of a server that does not send parts.
    async fn all(&self, key: &Path) -> std::result::Result<(ObjectMeta, Bytes), Error> {
        let meta = self.store.head(key).await?;
        let known = self.whole.lock().clone();
        if let Some((known, bytes)) = known
            && known == meta
        {
            return Ok((meta, bytes));
        }
        if meta.size > LARGEST {
            let source = "files of more than 512 MiB on a web server that sends no parts of files".into();
            return Err(Error::NotSupported { source });
        }
        let bytes = self.store.get(key).await?.bytes().await?;
        *self.whole.lock() = Some((meta.clone(), bytes.clone()));
        Ok((meta, bytes))
    }
}
