//! Azure's stores, under the settings of Hadoop's `abfs` and `wasb`.

use super::settings::{StoreSettings, connector, endpoint, flag};
use crate::error::illegal;
use firesteel_error::{Result, SparkError};
use object_store::azure::{MicrosoftAzure, MicrosoftAzureBuilder};

/// The store of a container of an account: `container@account.dfs.core.windows.net`.
pub(crate) fn open(settings: &StoreSettings<'_>) -> Result<MicrosoftAzure> {
    let authority = &settings.address.authority;
    let Some((container, host)) = authority.split_once('@') else {
        return Err(illegal(format!("the path {authority} names no container: container@account.host is expected")));
    };
    let account = host.split('.').next().unwrap_or_default();
    let is_encrypted = flag("fs.azure.always.use.https", settings.any(&["fs.azure.always.use.https"]), true)?;
    let mut client = settings.client()?;
    let mut builder = MicrosoftAzureBuilder::from_env()
        .with_account(account)
        .with_container_name(container)
        .with_retry(settings.retry()?)
        .with_http_connector(connector()?);
    if let Some(place) = settings.of_host("fs.azure.abfs.endpoint", host) {
        let place = endpoint(place, is_encrypted);
        client = client.with_allow_http(place.starts_with("http://"));
        // Where an account has no host of its own, addresses begin with its name.
        builder = builder.with_endpoint(format!("{place}/{account}"));
    } else if let Some((_, suffix)) = host.split_once('.')
        && suffix != "dfs.core.windows.net"
        && suffix != "blob.core.windows.net"
    {
        builder = builder.with_endpoint(format!("https://{account}.{}", suffix.replacen("dfs.", "blob.", 1)));
    }
    let builder = with_credentials(builder.with_client_options(client), settings, container, host)?;
    let built = builder.build();
    built.map_err(|e| illegal(format!("the store {authority} cannot be used: {}", super::fault::describe(&e))))
}

fn with_credentials(
    builder: MicrosoftAzureBuilder,
    settings: &StoreSettings<'_>,
    container: &str,
    host: &str,
) -> Result<MicrosoftAzureBuilder> {
    let key = settings.of_host("fs.azure.account.key", host);
    let sas = settings
        .of_host("fs.azure.sas.fixed.token", host)
        .or_else(|| settings.all.get(&format!("fs.azure.sas.{container}.{host}").to_ascii_lowercase()));
    let kind = settings.of_host("fs.azure.account.auth.type", host).map(str::to_ascii_lowercase);
    match (kind.as_deref(), key, sas) {
        (None | Some("sharedkey"), Some(key), _) => Ok(builder.with_access_key(key)),
        (Some("sharedkey"), None, _) => Err(illegal(format!("fs.azure.account.key.{host} is not given"))),
        (None | Some("sas"), _, Some(sas)) => Ok(builder.with_sas_authorization(pairs(sas)?)),
        (Some("sas"), _, None) => Err(illegal(format!("fs.azure.sas.fixed.token.{host} is not given"))),
        (Some("oauth"), ..) => with_oauth(builder, settings, host),
        // What the server's environment and machine offer.
        (None, None, None) => Ok(builder),
        (Some(other), ..) => Err(SparkError::unsupported(format!("credentials of the kind {other} for abfs"))),
    }
}

/// The parts of a signature that grants access.
fn pairs(sas: &str) -> Result<Vec<(String, String)>> {
    let parts = sas.trim_start_matches('?').split('&').filter(|part| !part.trim().is_empty());
    parts
        .map(|part| {
            let (key, value) = part.split_once('=').ok_or_else(|| illegal("the SAS token is not a list of pairs"))?;
            Ok((key.trim().to_string(), crate::partition::unescape(value.trim())))
        })
        .collect()
}

fn with_oauth(
    builder: MicrosoftAzureBuilder,
    settings: &StoreSettings<'_>,
    host: &str,
) -> Result<MicrosoftAzureBuilder> {
    let value = |name: &str| settings.of_host(&format!("fs.azure.account.oauth2.{name}"), host);
    let required =
        |name: &str| value(name).ok_or_else(|| illegal(format!("fs.azure.account.oauth2.{name} is not given")));
    let class = settings.of_host("fs.azure.account.oauth.provider.type", host).unwrap_or("ClientCredsTokenProvider");
    match class.rsplit('.').next().unwrap_or(class) {
        "ClientCredsTokenProvider" => {
            let place = required("client.endpoint")?;
            let (authority, tenant) =
                tenant(place).ok_or_else(|| illegal("fs.azure.account.oauth2.client.endpoint names no tenant"))?;
            let id = required("client.id")?;
            let secret = required("client.secret")?;
            Ok(builder.with_client_secret_authorization(id, secret, tenant).with_authority_host(authority))
        }
        "MsiTokenProvider" => {
            let builder = match value("msi.endpoint") {
                Some(place) => builder.with_msi_endpoint(place),
                None => builder,
            };
            Ok(match value("client.id") {
                Some(id) => builder.with_client_id(id),
                None => builder,
            })
        }
        "WorkloadIdentityTokenProvider" => Ok(builder
            .with_federated_token_file(required("token.file")?)
            .with_client_id(required("client.id")?)
            .with_tenant_id(required("msi.tenant")?)),
        other => Err(SparkError::unsupported(format!("the token provider {other}"))),
    }
}

/// The authority and the tenant of `https://authority/tenant/oauth2/token`.
fn tenant(place: &str) -> Option<(String, String)> {
    let (scheme, rest) = place.split_once("://")?;
    let mut parts = rest.split('/');
    let (host, tenant) = (parts.next()?, parts.next()?);
    (!tenant.is_empty()).then(|| (format!("{scheme}://{host}"), tenant.to_string()))
}

#[cfg(test)]
mod tests {
    use super::super::address::Address;
    use super::*;
    use firesteel_config::HadoopSettings;

    fn opened(path: &str, given: &[(&str, &str)]) -> Result<MicrosoftAzure> {
        let all = HadoopSettings::new(given.iter().copied());
        let address = Address::parse(path).unwrap().unwrap();
        open(&StoreSettings { address: &address, all: &all })
    }

    #[test]
    fn accounts_have_keys_of_their_own() {
        let path = "abfss://box@acc.dfs.core.windows.net/t";
        assert!(opened(path, &[("fs.azure.account.key.acc.dfs.core.windows.net", "a2V5")]).is_ok());
        let error = opened(path, &[("fs.azure.account.auth.type", "SharedKey")]).unwrap_err();
        assert!(error.to_string().contains("fs.azure.account.key.acc.dfs.core.windows.net"));
        assert!(opened("abfss://acc.dfs.core.windows.net/t", &[]).unwrap_err().to_string().contains("container"));
    }

    #[test]
    fn tokens_and_tenants_are_taken_apart() {
        let expected = vec![("sv".to_string(), "1".to_string()), ("sig".into(), "a+b=".into())];
        assert_eq!(pairs("?sv=1&sig=a%2Bb%3D").unwrap(), expected);
        let expected = Some(("https://login.microsoftonline.com".to_string(), "t".to_string()));
        assert_eq!(tenant("https://login.microsoftonline.com/t/oauth2/token"), expected);
    }
}
