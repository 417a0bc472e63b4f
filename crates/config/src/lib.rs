//! Every configuration key of Spark and Firesteel, and a session's snapshot of them.
//!
//! A key is declared once, in [`table`], with its kind, default, scope and
//! meaning. A [`ServerConfig`] holds what the server was started with, a
//! [`SessionConfig`] what a session has changed, and [`SqlConf`] is the typed
//! snapshot that analysis and kernels read.
//!
//! Invariant: this is the only place that spells a key.
//!
//! ```
//! use firesteel_config::{Reader, SessionConfig, SqlConf, keys};
//! let mut config = SessionConfig::default();
//! assert!(SqlConf::new(&config).ansi_enabled);
//! config.set(keys::ANSI_ENABLED, "false").unwrap();
//! assert!(!config.boolean(keys::ANSI_ENABLED));
//! assert_eq!(config.get("spark.sql.files.maxPartitionBytes").unwrap().as_deref(), Some("134217728b"));
//! assert!(config.set("spark.sql.warehouse.dir", "/tmp").unwrap_err().is("CANNOT_MODIFY_STATIC_CONFIG"));
//! ```

pub mod captured;
pub mod entry;
pub mod hadoop;
pub mod keys;
pub mod reader;
pub mod server;
pub mod session;
pub mod snapshot;
pub mod table;
pub mod time_zone;
pub mod value;

pub use captured::Recalled;
pub use entry::{ConfigEntry, Kind, Scope};
pub use hadoop::HadoopSettings;
pub use reader::Reader;
pub use server::ServerConfig;
pub use session::{SessionConfig, Warning};
pub use snapshot::{
    CtePrecedence, MapKeyDedupPolicy, PartitionOverwriteMode, SqlConf, StoreAssignmentPolicy, TimeParserPolicy,
    TimestampType,
};
pub use table::{lookup, visible};
