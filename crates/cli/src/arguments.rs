//! Flags.

use crate::Failure;
use clap::{Args, Parser, Subcommand};
use firesteel_config::entry::ByteUnit;
use firesteel_config::keys;
use firesteel_config::value::parse_bytes;
use firesteel_engine::EngineOptions;
use std::path::PathBuf;

/// Firesteel: a server for Spark Connect clients, such as PySpark.
#[derive(Debug, Parser)]
#[command(
    name = "firesteel",
    version,
    after_help = "Start a server and use it from Python:\n\n    \
    firesteel server &\n    \
    python -c 'from pyspark.sql import SparkSession\n    \
    spark = SparkSession.builder.remote(\"sc://localhost\").getOrCreate()\n    \
    spark.range(3).show()'"
)]
pub struct Arguments {
    #[command(subcommand)]
    pub task: Task,
}

#[derive(Debug, Subcommand)]
pub enum Task {
    /// Serve Spark Connect clients until the process is told to stop
    Server(ServerArguments),
    /// Run SQL: the given text, or statements typed at a prompt
    Sql(SqlArguments),
}

#[derive(Debug, Args)]
pub struct ServerArguments {
    /// Address to listen on; other machines can only connect if it is not a loopback address
    #[arg(long, default_value = "127.0.0.1", value_name = "HOST")]
    pub host: String,
    /// Port to listen on; 0 picks a free one
    #[arg(long, short, default_value_t = 15002, value_name = "PORT")]
    pub port: u16,
    /// File with the certificate chain (PEM): connections are encrypted
    #[arg(long, requires = "tls_key", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// File with the private key of the certificate (PEM)
    #[arg(long, requires = "tls_cert", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// File with the token that clients must present
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    #[command(flatten)]
    pub engine: EngineArguments,
}

#[derive(Debug, Args)]
pub struct EngineArguments {
    /// A setting for all sessions, such as spark.sql.ansi.enabled=false; may be repeated
    #[arg(long = "conf", short = 'c', value_name = "KEY=VALUE", value_parser = setting)]
    pub settings: Vec<(String, String)>,
    /// Memory that queries may use before they write to disk, such as 8g [default: 60 % of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory_limit: Option<usize>,
    /// Number of cores that queries use [default: all]
    #[arg(long, value_name = "N")]
    pub cores: Option<usize>,
    /// File that keeps databases, tables, views and functions between runs [default: they end with the process]
    #[arg(long, value_name = "FILE")]
    pub metastore: Option<PathBuf>,
    /// Folder for data that does not fit into memory [default: the system's temporary folder]
    #[arg(long, value_name = "FOLDER")]
    pub spill_directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct SqlArguments {
    /// Statements, separated by semicolons; without them, a prompt
    pub text: Option<String>,
    /// Server to use, such as sc://localhost:15002/;token=…; without it, SQL runs in this process
    #[arg(long, env = "SPARK_REMOTE", hide_env_values = true, value_name = "URL")]
    pub remote: Option<String>,
    /// File with the certificate (PEM) that the server's is checked against
    #[arg(long, value_name = "FILE")]
    pub ca_cert: Option<PathBuf>,
    /// Rows shown of each result
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub rows: i32,
    /// Characters shown of each value; 0 shows all
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub truncate: i32,
    #[command(flatten)]
    pub engine: EngineArguments,
}

impl EngineArguments {
    /// What the engine is set up with.
    pub fn options(&self) -> EngineOptions {
        let cores = self.cores.map_or("*".to_string(), |cores| cores.to_string());
        // What Spark's own server always has; programs read these.
        let mut configuration = vec![
            ("spark.master".to_string(), format!("local[{cores}]")),
            ("spark.app.name".to_string(), "Firesteel".to_string()),
            ("spark.app.id".to_string(), format!("local-{}", std::process::id())),
            ("spark.driver.host".to_string(), "localhost".to_string()),
            ("spark.submit.deployMode".to_string(), "client".to_string()),
        ];
        configuration.extend(self.settings.iter().cloned());
        if let Some(path) = &self.metastore {
            configuration.push((keys::FIRESTEEL_METASTORE_PATH.to_string(), path.to_string_lossy().into_owned()));
        }
        EngineOptions {
            cores: self.cores,
            memory_limit: self.memory_limit,
            cache_memory_limit: None,
            spill_directory: self.spill_directory.clone(),
            configuration,
        }
    }
}

fn setting(text: &str) -> Result<(String, String), Failure> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_string(), value.to_string())),
        _ => Err(format!("expected KEY=VALUE, got {text}").into()),
    }
}

fn size(text: &str) -> Result<usize, Failure> {
    let bytes = parse_bytes(text, ByteUnit::Byte).and_then(|bytes| usize::try_from(bytes).ok());
    bytes.filter(|bytes| *bytes > 0).ok_or_else(|| format!("expected a size such as 512m or 8g, got {text}").into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_flags_fit_together() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn settings_and_sizes_are_read() {
        assert_eq!(setting("spark.a= b=c").unwrap(), ("spark.a".to_string(), " b=c".to_string()));
        assert!(setting("=x").is_err());
        assert_eq!(size("2g").unwrap(), 2 << 30);
        assert!(size("much").is_err());
    }
}
