//! Connection strings: `sc://host:port/;key=value;…`.

use crate::{Error, Result};
use uuid::Uuid;

/// Spark Connect's port.
pub const DEFAULT_PORT: u16 = 15002;

/// Where and as whom to connect.
///
/// ```
/// use firesteel_client::Connection;
/// let connection: Connection = "sc://db.example:7077/;token=secret;user_id=ada;x-route=blue".parse()?;
/// assert_eq!(connection.authority, "db.example:7077");
/// assert_eq!(connection.headers, [("x-route".to_string(), "blue".to_string())]);
/// // A token never travels in clear text to another machine.
/// assert!(connection.is_secure());
/// # Ok::<(), firesteel_client::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Connection {
    /// Host and port.
    pub authority: String,
    /// `use_ssl`: speak TLS.
    pub use_ssl: bool,
    /// `token`: sent as `authorization: Bearer …`.
    pub token: Option<String>,
    /// `user_id`: sessions of different users are apart.
    pub user_id: Option<String>,
    /// `session_id`: a UUID; joins or makes that session.
    pub session_id: Option<Uuid>,
    /// `user_agent`: names the program in the server's records.
    pub user_agent: Option<String>,
    /// `grpc_max_message_size`: the largest message to accept, in bytes.
    pub max_message_size: Option<usize>,
    /// Every other parameter travels as a gRPC header.
    pub headers: Vec<(String, String)>,
}

/// Without the token and the values of headers, which may be secrets.
impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("authority", &self.authority)
            .field("use_ssl", &self.use_ssl)
            .field("user_id", &self.user_id)
            .field("session_id", &self.session_id)
            .field("user_agent", &self.user_agent)
            .finish_non_exhaustive()
    }
}

impl Connection {
    /// Whether the connection is encrypted: on request, and always when a token goes to another machine.
    pub fn is_secure(&self) -> bool {
        self.use_ssl || (self.token.is_some() && !self.is_loopback())
    }

    fn is_loopback(&self) -> bool {
        let host = self.authority.rsplit_once(':').map_or(self.authority.as_str(), |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    fn set(&mut self, key: &str, value: String) -> Result<()> {
        match key {
            "use_ssl" => self.use_ssl = value.eq_ignore_ascii_case("true"),
            "token" => self.token = Some(value),
            "user_id" => self.user_id = Some(value),
            "user_agent" => self.user_agent = Some(value),
            "session_id" => {
                let id = Uuid::parse_str(&value);
                self.session_id = Some(id.map_err(|_| Error::invalid(format!("session_id is not a UUID: {value}")))?);
            }
            "grpc_max_message_size" => {
                let size = value.parse();
                let size =
                    size.map_err(|_| Error::invalid(format!("grpc_max_message_size is not a number: {value}")))?;
                self.max_message_size = Some(size);
            }
            _ => self.headers.push((key.to_string(), value)),
        }
        Ok(())
    }
}

impl std::str::FromStr for Connection {
    type Err = Error;

    fn from_str(url: &str) -> Result<Self> {
        let rest = url.strip_prefix("sc://");
        let rest = rest.ok_or_else(|| Error::invalid("a server's URL begins with sc://"))?;
        let (authority, parameters) = rest.split_once('/').unwrap_or((rest, ""));
        if authority.is_empty() || authority.starts_with(':') {
            return Err(Error::invalid("a server's URL without a host"));
        }
        if authority.contains([';', '?', '#', '@']) || !(parameters.is_empty() || parameters.starts_with(';')) {
            return Err(Error::invalid("a server's URL is sc://host:port/;key=value;…, without a path"));
        }
        let mut connection = Connection { authority: with_port(authority)?, ..Connection::default() };
        for parameter in parameters.split(';').filter(|parameter| !parameter.is_empty()) {
            let pair = parameter.split_once('=').filter(|(key, _)| !key.is_empty());
            let (key, value) =
                pair.ok_or_else(|| Error::invalid("a parameter of the server's URL is not key=value"))?;
            connection.set(key, percent_decoded(value)?)?;
        }
        Ok(connection)
    }
}

/// The authority with its port; a colon inside brackets belongs to an IPv6 address.
fn with_port(authority: &str) -> Result<String> {
    let after_host = authority.rfind(']').map_or(authority, |end| &authority[end + 1..]);
    match after_host.rsplit_once(':') {
        Some((_, port)) => match port.parse::<u16>() {
            Ok(_) => Ok(authority.to_string()),
            Err(_) => Err(Error::invalid(format!("not a port: {port}"))),
        },
        None => Ok(format!("{authority}:{DEFAULT_PORT}")),
    }
}

fn percent_decoded(value: &str) -> Result<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == b'%').then(|| after.get(..2)).flatten();
        let code =
            code.and_then(|code| std::str::from_utf8(code).ok()).and_then(|code| u8::from_str_radix(code, 16).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).map_err(|_| Error::invalid(format!("not UTF-8 in the URL: {value}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> Connection {
        url.parse().unwrap()
    }

    #[test]
    fn every_parameter_is_read() {
        let id = "5e8d2f0e-7d5c-4f0e-9d9b-2c9a1f1f6d11";
        let connection = parsed(&format!(
            "sc://h/;token=a%3Db;use_ssl=true;user_id=u;user_agent=app;session_id={id};grpc_max_message_size=7;x-route=1"
        ));
        assert_eq!((connection.authority.as_str(), connection.use_ssl), ("h:15002", true));
        assert_eq!((connection.token.as_deref(), connection.user_id.as_deref()), (Some("a=b"), Some("u")));
        assert_eq!((connection.user_agent.as_deref(), connection.max_message_size), (Some("app"), Some(7)));
        assert_eq!(connection.session_id.map(|id| id.to_string()).as_deref(), Some(id));
        assert_eq!(connection.headers, [("x-route".to_string(), "1".to_string())]);
    }

    #[test]
    fn ports_and_hosts() {
        assert_eq!(parsed("sc://[::1]:7").authority, "[::1]:7");
        assert_eq!(parsed("sc://[::1]").authority, "[::1]:15002");
        for url in [
            "http://h",
            "sc://",
            "sc://:7",
            "sc://h:port",
            "sc://h:70000",
            "sc://h/;x",
            "sc://h/;=1",
            "sc://h/;session_id=1",
            "sc://h/;grpc_max_message_size=much",
            "sc://h/path",
            "sc://h/path;use_ssl=true",
            "sc://h;use_ssl=true",
            "sc://user@h",
        ] {
            assert!(url.parse::<Connection>().is_err(), "{url}");
        }
        assert_eq!(parsed("sc://h/;").headers, []);
    }

    #[test]
    fn a_token_needs_encryption_unless_it_stays_here() {
        assert!(parsed("sc://h/;token=t").is_secure());
        assert!(!parsed("sc://localhost/;token=t").is_secure());
        assert!(!parsed("sc://127.0.0.1/;token=t").is_secure());
        assert!(parsed("sc://localhost/;token=t;use_ssl=true").is_secure());
    }
}
