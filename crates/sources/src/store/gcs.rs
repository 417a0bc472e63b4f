//! Google's store, under the settings of its connector for Hadoop.

use super::settings::{StoreSettings, connector};
use crate::error::illegal;
use firesteel_error::{Result, SparkError};
use object_store::StaticCredentialProvider;
use object_store::gcp::{GcpCredential, GoogleCloudStorage, GoogleCloudStorageBuilder};
use std::sync::Arc;

/// The store of a bucket.
pub(crate) fn open(settings: &StoreSettings<'_>) -> Result<GoogleCloudStorage> {
    let bucket = &settings.address.authority;
    let mut client = settings.client()?;
    let root = settings.any(&["fs.gs.storage.root.url"]);
    if root.is_some_and(|root| root.starts_with("http://")) {
        client = client.with_allow_http(true);
    }
    let mut builder = GoogleCloudStorageBuilder::from_env()
        .with_bucket_name(bucket)
        .with_client_options(client)
        .with_retry(settings.retry()?)
        .with_http_connector(connector()?);
    if let Some(root) = root {
        builder = builder.with_base_url(root.trim_end_matches('/'));
    }
    let built = with_credentials(builder, settings)?.build();
    built.map_err(|e| illegal(format!("the store gs://{bucket} cannot be used: {}", super::fault::describe(&e))))
}

fn with_credentials(
    builder: GoogleCloudStorageBuilder,
    settings: &StoreSettings<'_>,
) -> Result<GoogleCloudStorageBuilder> {
    let key_file =
        settings.any(&["google.cloud.auth.service.account.json.keyfile", "fs.gs.auth.service.account.json.keyfile"]);
    let kind = settings.any(&["fs.gs.auth.type", "google.cloud.auth.type"]).map(str::to_ascii_uppercase);
    let anonymous = settings.any(&["fs.gs.auth.null.enable", "google.cloud.auth.null.enable"]) == Some("true");
    match (kind.as_deref(), key_file) {
        (Some("UNAUTHENTICATED"), _) | (None, _) if anonymous || kind.is_some() => {
            let none = StaticCredentialProvider::new(GcpCredential { bearer: String::new() });
            Ok(builder.with_credentials(Arc::new(none)).with_skip_signature(true))
        }
        (None | Some("SERVICE_ACCOUNT_JSON_KEYFILE"), Some(file)) => Ok(builder.with_service_account_path(file)),
        (Some("SERVICE_ACCOUNT_JSON_KEYFILE"), None) => {
            Err(illegal("google.cloud.auth.service.account.json.keyfile is not given"))
        }
        (None | Some("APPLICATION_DEFAULT" | "COMPUTE_ENGINE"), _) => Ok(builder),
        (Some(other), _) => Err(SparkError::unsupported(format!("credentials of the kind {other} for gs"))),
    }
}
