//! Addresses of databases: `jdbc:postgresql://host:port/database?user=…`.

use crate::options::SourceOptions;
use firesteel_error::{ExceptionClass, Result, SparkError};
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;

/// The kind of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Database {
    Postgres,
    /// MySQL and MariaDB.
    MySql,
    Sqlite,
}

/// Classes of drivers of other runtimes, which users name, and what they are for.
const DRIVERS: &[(&str, Database)] = &[
    ("org.postgresql.Driver", Database::Postgres),
    ("com.mysql.cj.jdbc.Driver", Database::MySql),
    ("com.mysql.jdbc.Driver", Database::MySql),
    ("org.mariadb.jdbc.Driver", Database::MySql),
    ("org.sqlite.JDBC", Database::Sqlite),
];

/// Parameters of connections that may stand among the options.
const CONNECTION: &[&str] = &["currentSchema", "ssl", "sslmode", "sslMode", "useSSL", "requireSSL"];

/// Where a database is, and who asks it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Address {
    pub database: Database,
    pub host: String,
    pub port: u16,
    /// The database's name; a path for SQLite.
    pub name: String,
    pub user: Option<String>,
    pub password: Option<String>,
    /// Other parameters, names in lower case.
    pub parameters: BTreeMap<String, String>,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.place())
    }
}

impl Address {
    /// The address of a URL, whose user and password the options may give.
    pub fn parse(url: &str, options: &SourceOptions) -> Result<Self> {
        let driver = options.get("driver").map(str::trim).filter(|driver| !driver.is_empty());
        let driver = driver.map(known_driver).transpose()?;
        let rest = url.strip_prefix("jdbc:").ok_or_else(no_driver)?;
        let (scheme, rest) = rest.split_once(':').ok_or_else(no_driver)?;
        let database = match scheme {
            "postgresql" => Database::Postgres,
            "mysql" | "mariadb" => Database::MySql,
            "sqlite" => Database::Sqlite,
            _ => return Err(no_driver()),
        };
        if driver.is_some_and(|driver| driver != database) {
            return Err(sql_error("The driver does not accept the URL."));
        }
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut parameters = BTreeMap::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            parameters.insert(decoded(key).to_lowercase(), decoded(value));
        }
        let (host, port, name) = match database {
            Database::Sqlite => (String::new(), 0, place.trim_start_matches("file:").to_string()),
            Database::Postgres => server(place, 5432)?,
            Database::MySql => server(place, 3306)?,
        };
        for key in CONNECTION {
            if let Some(value) = options.get(key) {
                parameters.insert(key.to_lowercase(), value.to_string());
            }
        }
        let of = |key: &str, parameters: &mut BTreeMap<String, String>| {
            let own = parameters.remove(key);
            options.get(key).map(str::to_string).or(own)
        };
        let user = of("user", &mut parameters);
        let password = of("password", &mut parameters);
        let name = match (name.is_empty(), database) {
            (true, Database::Postgres) => user.clone().unwrap_or_default(),
            _ => name,
        };
        Ok(Self { database, host, port, name, user, password, parameters })
    }

    /// Fails where the parameters ask for what connections do not do.
    pub(super) fn check_plain(&self) -> Result<()> {
        let asks = |key: &str, values: &[&str]| {
            self.parameters.get(key).is_some_and(|value| values.contains(&value.to_lowercase().as_str()))
        };
        let modes = ["require", "required", "trust", "verify-ca", "verify_ca", "verify-full", "verify_identity"];
        if asks("ssl", &["true", ""])
            || asks("usessl", &["true"])
            || asks("requiressl", &["true"])
            || asks("sslmode", &modes)
        {
            return Err(SparkError::unsupported("encrypted connections of JDBC sources"));
        }
        Ok(())
    }

    /// The place without secrets, as messages have it.
    pub fn place(&self) -> String {
        match self.database {
            Database::Sqlite => format!("jdbc:sqlite:{}", self.name),
            Database::Postgres => format!("jdbc:postgresql://{}:{}/{}", self.host, self.port, self.name),
            Database::MySql => format!("jdbc:mysql://{}:{}/{}", self.host, self.port, self.name),
        }
    }
}

/// Host, port and database of `//host:port/database`.
fn server(place: &str, default_port: u16) -> Result<(String, u16, String)> {
    let Some(place) = place.strip_prefix("//") else {
        return Ok(("localhost".to_string(), default_port, decoded(place.trim_start_matches('/'))));
    };
    let (host, name) = place.split_once('/').unwrap_or((place, ""));
    if host.contains(',') {
        return Err(SparkError::unsupported("a JDBC URL with several hosts"));
    }
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            let port =
                port.parse().map_err(|_| sql_error(&format!("The port {port} of the JDBC URL is no number.")))?;
            (host, port)
        }
        _ => (host, default_port),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let host = if host.is_empty() { "localhost" } else { host };
    Ok((host.to_string(), port, decoded(name)))
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn known_driver(class: &str) -> Result<Database> {
    DRIVERS.iter().find(|(name, _)| *name == class).map(|(_, database)| *database).ok_or_else(|| {
        let known: Vec<&str> = DRIVERS.iter().map(|(name, _)| *name).collect();
        SparkError::unsupported(format!("the JDBC driver {class}; known drivers are {}", known.join(", ")))
    })
}

fn no_driver() -> SparkError {
    sql_error("No suitable driver")
}

/// A fault that a database or a driver tells of.
pub(super) fn sql_error(message: &str) -> SparkError {
    SparkError::plain(ExceptionClass::SparkSql, message)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parse(url: &str, options: &[(&str, &str)]) -> Result<Address> {
        let options: Vec<(String, String)> =
            options.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect();
        Address::parse(url, &SourceOptions::new(&options))
    }

    #[test]
    fn urls_name_host_port_and_database() {
        let address = parse("jdbc:postgresql://db:5433/shop?user=a&password=b%26c&ssl=false", &[]).unwrap();
        assert_eq!((address.host.as_str(), address.port, address.name.as_str()), ("db", 5433, "shop"));
        assert_eq!(address.user.as_deref(), Some("a"));
        assert_eq!(address.password.as_deref(), Some("b&c"));
        assert!(!format!("{address:?}").contains("b&c"));
        let address = parse("jdbc:mariadb://[::1]/x", &[("user", "u")]).unwrap();
        assert_eq!((address.host.as_str(), address.port, address.user.as_deref()), ("::1", 3306, Some("u")));
        assert_eq!(parse("jdbc:sqlite:/tmp/a.db", &[]).unwrap().name, "/tmp/a.db");
    }

    #[test]
    fn other_databases_have_no_driver() {
        assert_eq!(parse("jdbc:h2:mem", &[]).unwrap_err().summary(), no_driver().summary());
        assert!(parse("jdbc:sqlite:x", &[("driver", "org.postgresql.Driver")]).is_err());
        assert!(parse("jdbc:sqlite:x", &[("driver", "a.b.C")]).is_err());
    }
}
