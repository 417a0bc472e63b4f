//! Stores that speak the protocol of S3, under the settings of Hadoop's `s3a`.

use super::network;
use super::settings::{StoreSettings, connector, endpoint, flag};
use crate::error::illegal;
use firesteel_error::{Result, SparkError};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey, AwsCredential, resolve_bucket_region};
use object_store::{ClientOptions, StaticCredentialProvider};
use std::net::IpAddr;
use std::sync::Arc;

/// The endpoint of all regions, which is the same as none.
const CENTRAL: &str = "s3.amazonaws.com";

/// Where credentials come from.
#[derive(Debug, PartialEq, Eq)]
enum Provider {
    Anonymous,
    /// The settings.
    Simple,
    /// What the server's environment and machine offer.
    Environment,
}

/// The store of a bucket.
pub(crate) fn open(settings: &StoreSettings<'_>) -> Result<AmazonS3> {
    let bucket = &settings.address.authority;
    let is_encrypted = flag("fs.s3a.connection.ssl.enabled", settings.of_bucket("connection.ssl.enabled"), true)?;
    let given = settings.of_bucket("endpoint").map(|text| endpoint(text, is_encrypted)).or_else(of_environment);
    let given = given.filter(|text| host(text) != CENTRAL);
    let by_path = flag("fs.s3a.path.style.access", settings.of_bucket("path.style.access"), false)?;
    let mut client = settings.client()?;
    if let Some(endpoint) = &given {
        client = client.with_allow_http(endpoint.starts_with("http://"));
    }
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        .with_client_options(client.clone())
        .with_retry(settings.retry()?)
        .with_http_connector(connector()?);
    // Buckets with dots have no certificate of their own, and addresses have no names below them.
    let by_path = by_path || bucket.contains('.') || given.as_ref().is_some_and(|text| is_address(host(text)));
    builder = builder.with_virtual_hosted_style_request(!by_path);
    if let Some(endpoint) = &given {
        let endpoint = if by_path { endpoint.clone() } else { with_bucket(endpoint, bucket) };
        // The key of S3 alone: the environment may have one, which would win.
        builder = builder.with_config(AmazonS3ConfigKey::S3Endpoint, endpoint);
    }
    if let Some(region) = region(settings, given.as_deref(), &client) {
        builder = builder.with_region(region);
    }
    builder = with_encryption(builder, settings)?;
    let built = with_credentials(builder, settings)?.build();
    built.map_err(|e| illegal(format!("the store s3a://{bucket} cannot be used: {}", super::fault::describe(&e))))
}

fn of_environment() -> Option<String> {
    let variable = |name| std::env::var(name).ok().filter(|text: &String| !text.is_empty());
    variable("AWS_ENDPOINT_URL_S3").or_else(|| variable("AWS_ENDPOINT_URL")).or_else(|| variable("AWS_ENDPOINT"))
}

/// The host of an address, without its port.
fn host(address: &str) -> &str {
    let host = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or_default();
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

fn is_address(host: &str) -> bool {
    host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
}

/// The address of a bucket below an endpoint.
fn with_bucket(endpoint: &str, bucket: &str) -> String {
    match endpoint.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{bucket}.{rest}"),
        None => format!("{bucket}.{endpoint}"),
    }
}

/// The region: what is given, what the endpoint tells, or what the service says of the bucket.
fn region(settings: &StoreSettings<'_>, endpoint: Option<&str>, client: &ClientOptions) -> Option<String> {
    if let Some(region) = settings.of_bucket("endpoint.region") {
        return Some(region.to_string());
    }
    let known = ["AWS_REGION", "AWS_DEFAULT_REGION"].iter().any(|name| std::env::var_os(name).is_some());
    match endpoint {
        Some(endpoint) => {
            let inner = host(endpoint).strip_suffix(".amazonaws.com")?;
            inner.strip_prefix("s3.").or_else(|| inner.strip_prefix("s3-")).map(str::to_string)
        }
        None if known => None,
        None => {
            let (bucket, client) = (settings.address.authority.clone(), client.clone());
            network::wait(async move { resolve_bucket_region(&bucket, &client).await }).ok()
        }
    }
}

fn with_encryption(builder: AmazonS3Builder, settings: &StoreSettings<'_>) -> Result<AmazonS3Builder> {
    let algorithm =
        settings.of_bucket("encryption.algorithm").or_else(|| settings.of_bucket("server-side-encryption-algorithm"));
    let key = settings.of_bucket("encryption.key").or_else(|| settings.of_bucket("server-side-encryption.key"));
    match (algorithm, key) {
        (None, _) => Ok(builder),
        (Some("AES256" | "SSE-S3"), _) => {
            let name = "aws_server_side_encryption".parse::<AmazonS3ConfigKey>();
            let name = name.map_err(|e| SparkError::internal(e.to_string()))?;
            Ok(builder.with_config(name, "AES256"))
        }
        (Some("SSE-KMS"), Some(key)) => Ok(builder.with_sse_kms_encryption(key)),
        (Some("DSSE-KMS"), Some(key)) => Ok(builder.with_dsse_kms_encryption(key)),
        (Some("SSE-C"), Some(key)) => Ok(builder.with_ssec_encryption(key)),
        (Some(other), _) => {
            Err(SparkError::unsupported(format!("the encryption {other} of S3 without a key of its own")))
        }
    }
}

fn with_credentials(builder: AmazonS3Builder, settings: &StoreSettings<'_>) -> Result<AmazonS3Builder> {
    let id = settings.of_bucket("access.key");
    let secret = settings.of_bucket("secret.key");
    let token = settings.of_bucket("session.token");
    let providers = match settings.of_bucket("aws.credentials.provider") {
        Some(list) => providers(list)?,
        None => vec![Provider::Simple, Provider::Environment],
    };
    for provider in providers {
        match (provider, id, secret) {
            (Provider::Anonymous, ..) => return Ok(builder.with_skip_signature(true)),
            (Provider::Environment, ..) => return Ok(builder),
            (Provider::Simple, Some(id), Some(secret)) => {
                let (key_id, secret_key, token) = (id.to_string(), secret.to_string(), token.map(str::to_string));
                let credential = AwsCredential { key_id, secret_key, token };
                return Ok(builder.with_credentials(Arc::new(StaticCredentialProvider::new(credential))));
            }
            (Provider::Simple, Some(_), None) => {
                return Err(illegal("fs.s3a.access.key is given without fs.s3a.secret.key"));
            }
            (Provider::Simple, None, Some(_)) => {
                return Err(illegal("fs.s3a.secret.key is given without fs.s3a.access.key"));
            }
            (Provider::Simple, None, None) => {}
        }
    }
    Err(illegal("none of fs.s3a.aws.credentials.provider has credentials: fs.s3a.access.key is not given"))
}

/// The providers that classes of Hadoop and of Amazon's libraries stand for.
fn providers(list: &str) -> Result<Vec<Provider>> {
    let classes = list.split(',').map(str::trim).filter(|class| !class.is_empty());
    classes
        .map(|class| match class.rsplit(['.', '$']).next().unwrap_or(class) {
            "AnonymousAWSCredentialsProvider" | "AnonymousCredentialsProvider" => Ok(Provider::Anonymous),
            "SimpleAWSCredentialsProvider" | "TemporaryAWSCredentialsProvider" => Ok(Provider::Simple),
            "EnvironmentVariableCredentialsProvider"
            | "IAMInstanceCredentialsProvider"
            | "InstanceProfileCredentialsProvider"
            | "ContainerCredentialsProvider"
            | "EC2ContainerCredentialsProviderWrapper"
            | "WebIdentityTokenFileCredentialsProvider"
            | "WebIdentityTokenCredentialsProvider"
            | "DefaultCredentialsProvider"
            | "DefaultAWSCredentialsProviderChain" => Ok(Provider::Environment),
            _ => Err(SparkError::unsupported(format!("the credentials provider {class}"))),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::address::Address;
    use super::*;
    use firesteel_config::HadoopSettings;

    #[test]
    fn hosts_are_told_from_addresses() {
        assert_eq!(host("http://127.0.0.1:9000/x"), "127.0.0.1");
        assert!(is_address(host("http://[::1]:9000")));
        assert!(!is_address(host("https://minio.local")));
        assert_eq!(with_bucket("https://minio.local:9", "b"), "https://b.minio.local:9");
    }

    #[test]
    fn regions_stand_in_endpoints() {
        let all = HadoopSettings::default();
        let address = Address::parse("s3a://b/x").unwrap().unwrap();
        let settings = StoreSettings { address: &address, all: &all };
        let of = |endpoint| region(&settings, Some(endpoint), &ClientOptions::new());
        assert_eq!(of("https://s3.eu-west-1.amazonaws.com").as_deref(), Some("eu-west-1"));
        assert_eq!(of("http://localhost:9000"), None);
    }

    #[test]
    fn providers_are_known_by_class() {
        let list = "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider,\n org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider";
        assert_eq!(providers(list).unwrap(), [Provider::Simple, Provider::Anonymous]);
        assert!(providers("com.example.Own").unwrap_err().is("UNSUPPORTED_FEATURE.NOT_IN_THIS_SERVER"));
    }

    #[test]
    fn stores_open_with_settings() {
        let open_with = |pairs: &[(&str, &str)]| {
            let all = HadoopSettings::new(pairs.iter().copied());
            let address = Address::parse("s3a://b/x").unwrap().unwrap();
            open(&StoreSettings { address: &address, all: &all })
        };
        let endpoint = ("fs.s3a.endpoint", "http://127.0.0.1:1");
        assert!(open_with(&[endpoint, ("fs.s3a.access.key", "a"), ("fs.s3a.secret.key", "b")]).is_ok());
        let error = open_with(&[endpoint, ("fs.s3a.access.key", "a")]).unwrap_err();
        assert!(error.to_string().contains("without fs.s3a.secret.key"));
        assert!(open_with(&[endpoint, ("fs.s3a.path.style.access", "maybe")]).is_err());
    }
}
