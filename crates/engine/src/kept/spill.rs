//! Where the batches of kept relations lie: memory on a budget, Arrow IPC files beyond it.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatchOptions};
use arrow::datatypes::{DataType as ArrowType, SchemaRef};
use arrow::ipc::CompressionType;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow::record_batch::RecordBatch;
use firesteel_error::{ExceptionClass, Result, SparkError};
use parking_lot::Mutex;
use std::fs::{File, TryLockError};
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};
use uuid::Uuid;

/// How folders of spilled batches begin.
const FOLDER_PREFIX: &str = "kept-";
/// The file in a folder that its process holds a lock on while it lives.
const LOCK_FILE: &str = "lock";
/// A folder without a lock file may be one that a process is just making.
const YOUNG: Duration = Duration::from_secs(60);
const BUFFER: usize = 1 << 18;

/// Bytes of memory that kept batches may take together.
#[derive(Debug)]
pub struct Budget {
    limit: usize,
    used: AtomicUsize,
}

impl Budget {
    pub fn new(limit: usize) -> Self {
        Self { limit, used: AtomicUsize::new(0) }
    }

    /// Bytes taken.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: usize) -> bool {
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                used.checked_add(bytes).filter(|sum| *sum <= self.limit)
            })
            .is_ok()
    }
}

/// A part of a budget, given back when dropped.
#[derive(Debug)]
struct Claim {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Claim {
    fn grow(&mut self, bytes: usize) -> bool {
        let is_granted = self.budget.take(bytes);
        if is_granted {
            self.bytes += bytes;
        }
        is_granted
    }

    fn clear(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = 0;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The folder of this process for spilled batches. It is made at the first
/// spill, and removed with the last file in it.
#[derive(Debug)]
pub struct SpillFolder {
    base: PathBuf,
    made: Mutex<Option<(PathBuf, File)>>,
}

impl SpillFolder {
    /// A folder below `base`. Removes folders that processes left that live no more.
    pub fn new(base: &Path) -> Self {
        sweep(base);
        Self { base: base.to_path_buf(), made: Mutex::new(None) }
    }

    /// A path for a new file.
    fn fresh(&self) -> Result<PathBuf> {
        let mut made = self.made.lock();
        let folder = match &*made {
            Some((folder, _)) => folder.clone(),
            None => {
                let (folder, lock) = make_folder(&self.base)?;
                *made = Some((folder.clone(), lock));
                folder
            }
        };
        Ok(folder.join(format!("{}.arrows", Uuid::new_v4().simple())))
    }
}

impl Drop for SpillFolder {
    fn drop(&mut self) {
        if let Some((folder, lock)) = self.made.lock().take() {
            drop(lock);
            if let Err(error) = std::fs::remove_dir_all(&folder) {
                tracing::debug!("cannot remove {}: {error}", folder.display());
            }
        }
    }
}

fn make_folder(base: &Path) -> Result<(PathBuf, File)> {
    loop {
        let folder = base.join(format!("{FOLDER_PREFIX}{}-{}", std::process::id(), Uuid::new_v4().simple()));
        std::fs::create_dir_all(&folder).map_err(|e| cannot("make the folder", &folder, &e))?;
        let path = folder.join(LOCK_FILE);
        let lock = File::create(&path).map_err(|e| cannot("make", &path, &e))?;
        match lock.try_lock() {
            // Another process that starts just now took it for an orphan: it removes it.
            Err(TryLockError::WouldBlock) => {}
            // Where there are no locks, nobody sweeps.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok((folder, lock)),
        }
    }
}

/// Removes the folders whose processes hold no lock on them any more.
fn sweep(base: &Path) {
    let Ok(entries) = std::fs::read_dir(base) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|n| n.starts_with(FOLDER_PREFIX));
        if !is_ours || !entry.file_type().is_ok_and(|t| t.is_dir()) {
            continue;
        }
        let folder = entry.path();
        let is_orphan = match File::open(folder.join(LOCK_FILE)) {
            Ok(lock) => lock.try_lock().is_ok(),
            Err(_) => entry
                .metadata()
                .and_then(|m| m.modified())
                .is_ok_and(|made| SystemTime::now().duration_since(made).is_ok_and(|age| age > YOUNG)),
        };
        if is_orphan && let Err(error) = std::fs::remove_dir_all(&folder) {
            tracing::warn!("cannot remove the orphaned folder {}: {error}", folder.display());
        }
    }
}

/// A file of batches. Spilled and unfinished ones go when dropped, reliable ones stay.
#[derive(Debug)]
pub struct BatchFile {
    path: PathBuf,
    stays: bool,
    /// Of spilled files: it lives as long as they do.
    _folder: Option<Arc<SpillFolder>>,
}

impl BatchFile {
    /// Opens the file for reading some columns of it.
    pub fn open(&self, projection: Option<Vec<usize>>) -> Result<StreamReader<BufReader<File>>> {
        let file = File::open(&self.path).map_err(|e| cannot("read", &self.path, &e))?;
        StreamReader::try_new(BufReader::with_capacity(BUFFER, file), projection)
            .map_err(|e| cannot("read", &self.path, &e))
    }

    /// The error of a file that is not what was written.
    pub fn damaged(&self, error: &dyn std::fmt::Display) -> SparkError {
        cannot("read", &self.path, error)
    }
}

impl Drop for BatchFile {
    fn drop(&mut self) {
        if !self.stays
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            tracing::debug!("cannot remove {}: {error}", self.path.display());
        }
    }
}

/// Where the batches of a partition go.
#[derive(Debug, Clone)]
pub enum Place {
    /// To memory while the budget lasts, else to disk.
    Memory,
    /// To disk.
    Disk,
    /// To a folder that outlives the relation.
    Folder(PathBuf),
}

/// A stored partition.
#[derive(Debug)]
pub struct Partition {
    pub rows: usize,
    pub bytes: usize,
    pub batches: Batches,
}

/// The batches of a stored partition.
#[derive(Debug)]
pub enum Batches {
    Memory(Vec<RecordBatch>),
    File(Arc<BatchFile>),
}

/// A partition with what it holds of the budget.
#[derive(Debug)]
pub struct StoredPartition {
    partition: Partition,
    _claim: Claim,
}

impl std::ops::Deref for StoredPartition {
    type Target = Partition;

    fn deref(&self) -> &Partition {
        &self.partition
    }
}

/// Stores the batches of a partition as they come.
pub struct PartitionWriter {
    schema: SchemaRef,
    folder: Arc<SpillFolder>,
    place: Place,
    number: usize,
    rows: usize,
    bytes: usize,
    batches: Vec<RecordBatch>,
    claim: Claim,
    file: Option<OpenFile>,
}

struct OpenFile {
    writer: StreamWriter<BufWriter<File>>,
    file: BatchFile,
    /// Reliable files get their name when they are whole.
    name: Option<PathBuf>,
}

impl PartitionWriter {
    /// A writer of partition `number`.
    pub fn new(schema: SchemaRef, budget: Arc<Budget>, folder: Arc<SpillFolder>, place: Place, number: usize) -> Self {
        let claim = Claim { budget, bytes: 0 };
        Self { schema, folder, place, number, rows: 0, bytes: 0, batches: Vec::new(), claim, file: None }
    }

    /// Stores a batch. May block on the disk.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let batch = compact(batch, &self.schema)?;
        let bytes = batch.get_array_memory_size();
        self.rows += batch.num_rows();
        self.bytes += bytes;
        if self.file.is_none() && matches!(self.place, Place::Memory) {
            if self.claim.grow(bytes) {
                self.batches.push(batch);
                return Ok(());
            }
            for earlier in std::mem::take(&mut self.batches) {
                self.write(&earlier)?;
            }
            self.claim.clear();
        }
        self.write(&batch)
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let file = self.open_file()?;
        let path = file.file.path.clone();
        file.writer.write(batch).map_err(|e| cannot("write", &path, &e))
    }

    fn open_file(&mut self) -> Result<&mut OpenFile> {
        let opened = match self.file.take() {
            Some(file) => file,
            None => self.create()?,
        };
        Ok(self.file.insert(opened))
    }

    fn create(&self) -> Result<OpenFile> {
        let (file, name) = match &self.place {
            Place::Folder(folder) => {
                let name = format!("part-{:05}", self.number);
                let unfinished = folder.join(format!(".{name}.{}", Uuid::new_v4().simple()));
                (BatchFile { path: unfinished, stays: false, _folder: None }, Some(folder.join(name)))
            }
            Place::Memory | Place::Disk => {
                (BatchFile { path: self.folder.fresh()?, stays: false, _folder: Some(self.folder.clone()) }, None)
            }
        };
        let out = File::create(&file.path).map_err(|e| cannot("write", &file.path, &e))?;
        let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME));
        let writer = options
            .and_then(|o| StreamWriter::try_new_with_options(BufWriter::with_capacity(BUFFER, out), &self.schema, o))
            .map_err(|e| cannot("write", &file.path, &e))?;
        Ok(OpenFile { writer, file, name })
    }

    /// Ends the partition.
    pub fn finish(mut self) -> Result<StoredPartition> {
        if matches!(self.place, Place::Folder(_)) {
            // A reliable partition has its file though it has no rows.
            self.open_file()?;
        }
        let batches = match self.file.take() {
            None => Batches::Memory(std::mem::take(&mut self.batches)),
            Some(OpenFile { mut writer, mut file, name }) => {
                writer.finish().map_err(|e| cannot("write", &file.path, &e))?;
                let mut out = writer.into_inner().map_err(|e| cannot("write", &file.path, &e))?;
                out.flush().map_err(|e| cannot("write", &file.path, &e))?;
                if let Some(name) = name {
                    std::fs::rename(&file.path, &name).map_err(|e| cannot("write", &name, &e))?;
                    file.path = name;
                    file.stays = true;
                }
                Batches::File(Arc::new(file))
            }
        };
        let partition = Partition { rows: self.rows, bytes: self.bytes, batches };
        Ok(StoredPartition { partition, _claim: self.claim })
    }
}

/// The batch without data that it refers to and does not show, under the relation's schema.
fn compact(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let columns = batch.columns().iter().map(compact_column).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options)
        .map_err(|e| SparkError::internal(format!("a kept relation's rows do not fit its schema: {e}")))
}

fn compact_column(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        ArrowType::Utf8View => Arc::new(column.as_string_view().gc()),
        ArrowType::BinaryView => Arc::new(column.as_binary_view().gc()),
        _ => column.clone(),
    }
}

pub(super) fn cannot(what: &str, path: &Path, error: &dyn std::fmt::Display) -> SparkError {
    SparkError::plain(ExceptionClass::Spark, format!("Kept rows: cannot {what} {}: {error}", path.display()))
}
