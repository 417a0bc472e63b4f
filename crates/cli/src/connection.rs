//! Connection strings: `sc://host:port/;key=value;…`.

use crate::Failure;

/// Where and as whom to connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// Host and port.
    pub authority: String,
    pub use_ssl: bool,
    pub token: Option<String>,
    pub user_id: String,
    /// Unknown parameters travel as headers.
    pub headers: Vec<(String, String)>,
}

impl Connection {
    /// Reads a connection string.
    pub fn parse(url: &str) -> Result<Self, Failure> {
        let rest =
            url.strip_prefix("sc://").ok_or_else(|| format!("a server's URL begins with sc://, unlike {url}"))?;
        let (authority, parameters) = rest.split_once('/').unwrap_or((rest, ""));
        if authority.is_empty() {
            return Err(format!("no host in {url}").into());
        }
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let mut connection = Self {
            authority: if has_port { authority.to_string() } else { format!("{authority}:15002") },
            use_ssl: false,
            token: None,
            user_id: std::env::var("USER").unwrap_or_default(),
            headers: Vec::new(),
        };
        for parameter in parameters.split(';').filter(|parameter| !parameter.is_empty()) {
            let (key, value) =
                parameter.split_once('=').ok_or_else(|| format!("expected key=value, got {parameter}"))?;
            match key {
                "use_ssl" => connection.use_ssl = value.eq_ignore_ascii_case("true"),
                "token" => connection.token = Some(value.to_string()),
                "user_id" => connection.user_id = value.to_string(),
                "session_id" | "user_agent" | "grpc_max_message_size" => {}
                _ => connection.headers.push((key.to_string(), value.to_string())),
            }
        }
        if connection.token.is_none() {
            connection.token = std::env::var("SPARK_CONNECT_AUTHENTICATE_TOKEN").ok().filter(|token| !token.is_empty());
        }
        Ok(connection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read() {
        let connection = Connection::parse("sc://h/;token=t;use_ssl=true;user_id=u;x-route=1").unwrap();
        assert_eq!((connection.authority.as_str(), connection.use_ssl), ("h:15002", true));
        assert_eq!((connection.token.as_deref(), connection.user_id.as_str()), (Some("t"), "u"));
        assert_eq!(connection.headers, [("x-route".to_string(), "1".to_string())]);
        assert_eq!(Connection::parse("sc://[::1]:7").unwrap().authority, "[::1]:7");
        for url in ["http://h", "sc://", "sc://h/;x"] {
            assert!(Connection::parse(url).is_err(), "{url}");
        }
    }
}
