//! Where data lies: on this machine, or in a store of another one.
//!
//! A path of another store is a `PathBuf` that begins with `scheme://`, which no local path does.
//! [`Stores`] opens such paths with the credentials of a session. Readers get bytes by [`Origin`],
//! writers give them to an [`Output`]; local files stay plain files there. Requests run on threads
//! of their own (`network`), and what they fail with shows no secrets (`fault`).

mod address;
mod azure;
mod fault;
mod folder;
mod gcs;
mod http;
mod input;
mod network;
mod output;
mod places;
mod remote;
mod s3;
mod settings;
mod staging;

pub use address::{Address, is_remote};
pub use input::{Download, Input, Origin, Random};
pub use output::{Output, Upload};
pub use remote::{Found, Level, Place, Remote};
pub use staging::{RemoteDesk, RemoteStaging};

pub(crate) use address::scheme;
pub(crate) use places::{reader, url};
pub(crate) use remote::path_of;
pub(crate) use staging::found;

use firesteel_config::{HadoopSettings, SqlConf};
use firesteel_error::Result;
use std::path::Path;

/// The stores that a session may use.
#[derive(Debug, Clone)]
pub struct Stores {
    settings: HadoopSettings,
}

impl Stores {
    /// The stores of a session, with the options of a reader, writer or table.
    pub fn new(conf: &SqlConf, options: &[(String, String)]) -> Self {
        Self { settings: conf.hadoop.with_options(options) }
    }

    /// A path's place in a store; None for paths of this machine.
    pub fn place(&self, path: &Path) -> Result<Option<Place>> {
        let Some(address) = Address::of(path) else { return Ok(None) };
        let remote = remote::open(&address, &self.settings)?;
        Ok(Some(Place { remote, key: remote::key_of(&address)? }))
    }
}
