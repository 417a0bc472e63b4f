//! The process-wide part of the engine.

use crate::Session;
use crate::catalog_state::ViewQuery;
use crate::kept::KeptStore;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::execution::session_state::SessionState;
use datafusion::prelude::SessionConfig as DfConfig;
use firesteel_analyzer::Resolved;
use firesteel_catalog::{Catalog, Metastore};
use firesteel_config::{Reader, ServerConfig, keys};
use firesteel_error::{Result, SparkError};
use firesteel_python::WorkerPool;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// How an engine is set up.
#[derive(Debug, Clone, Default)]
pub struct EngineOptions {
    /// Parallelism of queries; None: the machine's cores.
    pub cores: Option<usize>,
    /// Bytes that queries may use before they spill; None: 60 % of the machine's memory.
    pub memory_limit: Option<usize>,
    /// Bytes that kept relations may use before they spill; None: a quarter of the memory limit.
    pub cache_memory_limit: Option<usize>,
    /// Folder for spilled data; None: a folder of the system's temporary folder.
    pub spill_directory: Option<PathBuf>,
    /// Server-wide settings, as `(key, value)`: `spark.sql.warehouse.dir`, `spark.checkpoint.dir` and so on.
    pub configuration: Vec<(String, String)>,
}

/// The engine of a process.
pub struct Engine {
    options: EngineOptions,
    server_config: Arc<ServerConfig>,
    state: SessionState,
    kept: Arc<KeptStore>,
    /// Views of `global_temp`, by lower-case name.
    global_views: RwLock<HashMap<String, Arc<Resolved>>>,
    /// Queries of those of `global_temp` that SQL made: they are analysed anew at each use.
    global_view_queries: RwLock<HashMap<String, Arc<ViewQuery>>>,
    catalog: Catalog,
    spill_directory: PathBuf,
    python: Arc<WorkerPool>,
    /// Where workers reach the server, if they may.
    client_address: OnceLock<SocketAddr>,
}

impl Engine {
    pub fn new(options: EngineOptions) -> Result<Arc<Self>> {
        let server_config = Arc::new(ServerConfig::new(options.configuration.clone())?);
        let memory = options.memory_limit.unwrap_or_else(|| machine_memory() / 5 * 3);
        // Arrays grow by doubling, and several calls run at a time.
        firesteel_functions::room::set_most((memory / 4).max(64 << 20) as u64);
        let cores = options.cores.unwrap_or_else(|| std::thread::available_parallelism().map_or(2, usize::from));
        let spill_directory = match &options.spill_directory {
            Some(path) => path.clone(),
            None => std::env::temp_dir().join("firesteel"),
        };
        let runtime = runtime(memory, &spill_directory)?;
        let state = SessionStateBuilder::new()
            .with_config(df_config(cores, memory))
            .with_runtime_env(runtime)
            .with_default_features()
            .with_optimizer_rules(crate::unique_windows::optimizer_rules())
            .with_optimizer_rule(Arc::new(firesteel_analyzer::python::RemoveUnusedPython))
            .with_physical_optimizer_rules(crate::projection::replaced(crate::broadcast::optimizer_rules()))
            .with_query_planner(Arc::new(crate::planner::Planner))
            .build();
        let state = crate::scale::prepared(state);
        let cache_memory = options.cache_memory_limit.unwrap_or(memory / 4);
        let kept = Arc::new(KeptStore::new(cache_memory, &spill_directory)?);
        let catalog = catalog(&server_config)?;
        Ok(Arc::new(Self {
            options,
            server_config,
            state,
            kept,
            global_views: RwLock::new(HashMap::new()),
            global_view_queries: RwLock::new(HashMap::new()),
            catalog,
            python: WorkerPool::new(cores.max(1), &std::env::temp_dir())?,
            spill_directory,
            client_address: OnceLock::new(),
        }))
    }

    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    pub fn server_config(&self) -> &Arc<ServerConfig> {
        &self.server_config
    }

    pub fn spill_directory(&self) -> &Path {
        &self.spill_directory
    }

    /// DataFusion's state that sessions start from.
    pub(crate) fn state(&self) -> &SessionState {
        &self.state
    }

    pub(crate) fn kept(&self) -> &Arc<KeptStore> {
        &self.kept
    }

    pub(crate) fn global_views(&self) -> &RwLock<HashMap<String, Arc<Resolved>>> {
        &self.global_views
    }

    pub(crate) fn global_view_queries(&self) -> &RwLock<HashMap<String, Arc<ViewQuery>>> {
        &self.global_view_queries
    }

    /// The workers that run Python functions.
    pub(crate) fn python(&self) -> &Arc<WorkerPool> {
        &self.python
    }

    /// Says where functions in Python reach the server as clients of their session. The first call counts.
    pub fn set_client_address(&self, address: SocketAddr) {
        let _ = self.client_address.set(address);
    }

    /// The address for clients of a user that functions in Python are.
    pub(crate) fn client_url(&self, user_id: &str) -> Result<String> {
        let Some(address) = self.client_address.get() else {
            return Err(SparkError::unsupported("foreachBatch on a server that wants encryption or a token"));
        };
        let host = if address.ip().is_unspecified() { IpAddr::from([127, 0, 0, 1]) } else { address.ip() };
        let host = if host.is_ipv6() { format!("[{host}]") } else { host.to_string() };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let user = if !user_id.is_empty() && user_id.chars().all(is_plain) {
            format!(";user_id={user_id}")
        } else {
            String::new()
        };
        Ok(format!("sc://{host}:{}/{user}", address.port()))
    }

    /// The catalog that all sessions share.
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// A fresh session. The engine does not keep it: the caller does, and closes it.
    pub fn create_session(self: &Arc<Self>, user_id: &str, session_id: &str) -> Result<Arc<Session>> {
        Ok(Session::new(self.clone(), user_id, session_id))
    }
}

/// The catalog: the metastore's, or an empty one that ends with the process.
fn catalog(config: &ServerConfig) -> Result<Catalog> {
    let warehouse = firesteel_sources::path::local_path(&config.text(keys::WAREHOUSE_DIR))?;
    let warehouse = warehouse.to_string_lossy();
    match config.optional_text(keys::FIRESTEEL_METASTORE_PATH) {
        Some(path) => {
            let path = firesteel_sources::path::local_path(&path)?;
            Catalog::open(warehouse, Box::new(Metastore::open(path)?))
        }
        None => Ok(Catalog::new(warehouse)),
    }
}

/// The largest build side of a join that is shared, times the number of cores.
const SHARED_BUILD_BYTES: usize = 32 << 20;
const SHARED_BUILD_ROWS: usize = 2 << 20;

fn df_config(cores: usize, memory: usize) -> DfConfig {
    let mut config = DfConfig::new().with_target_partitions(cores.max(1)).with_batch_size(8192);
    let options = config.options_mut();
    // What a sort keeps back for merging what it spilled must leave room for the sorts of all cores.
    let reserve = memory / (16 * cores.max(1));
    let reserved = &mut options.execution.sort_spill_reservation_bytes;
    *reserved = (*reserved).min(reserve);
    // Row filters inside the Parquet reader cost more than they save; filters stand above the scan.
    options.execution.parquet.pushdown_filters = false;
    // A build side that all cores share spares both sides an exchange, but is built by one of them.
    let optimizer = &mut options.optimizer;
    let shared = |least: usize, all: usize| least.max(all / cores.max(1));
    let bytes = shared(optimizer.hash_join_single_partition_threshold, SHARED_BUILD_BYTES);
    let rows = shared(optimizer.hash_join_single_partition_threshold_rows, SHARED_BUILD_ROWS);
    optimizer.hash_join_single_partition_threshold = bytes;
    optimizer.hash_join_single_partition_threshold_rows = rows;
    options.execution.collect_statistics = true;
    options.optimizer.prefer_existing_sort = false;
    // Rows stay in the partitions that sources and users gave them: their order and number can be seen.
    options.optimizer.enable_round_robin_repartition = false;
    options.optimizer.repartition_file_scans = false;
    options.execution.enable_file_stream_work_stealing = false;
    options.sql_parser.enable_ident_normalization = false;
    config
}

fn runtime(memory: usize, spill_directory: &Path) -> Result<Arc<RuntimeEnv>> {
    std::fs::create_dir_all(spill_directory)
        .map_err(|e| SparkError::internal(format!("cannot make the folder {}: {e}", spill_directory.display())))?;
    let top = NonZeroUsize::new(5).unwrap_or(NonZeroUsize::MIN);
    let pool = TrackConsumersPool::new(FairSpillPool::new(memory), top);
    RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(pool))
        .with_temp_file_path(spill_directory)
        .build_arc()
        .map_err(firesteel_analyzer::resolved::engine_error)
}

/// The machine's memory in bytes; 4 GiB where it cannot be told.
fn machine_memory() -> usize {
    const FALLBACK: usize = 4 << 30;
    let Ok(text) = std::fs::read_to_string("/proc/meminfo") else { return FALLBACK };
    let total = text
        .lines()
        .find_map(|l| l.strip_prefix("MemTotal:"))
        .and_then(|l| l.trim().trim_end_matches("kB").trim().parse::<usize>().ok());
    let machine = total.map_or(FALLBACK, |kb| kb << 10);
    // A container may have less.
    let limit = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|t| t.trim().parse::<usize>().ok());
    limit.map_or(machine, |l| l.min(machine))
}
