//! Files that clients upload to their session.

use crate::decode::ArtifactLookup;
use crate::sessions::ServerSession;
use crate::worker_files::{WorkerFiles, is_for_workers, private_folder};
use bytes::Bytes;
use firesteel_config::{Reader, keys};
use firesteel_engine::PythonFiles;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_proto::connect as proto;
use parking_lot::Mutex;
use proto::add_artifacts_request::{ArtifactChunk, BeginChunkedArtifact, Payload};
use proto::add_artifacts_response::ArtifactSummary;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The prefix of blocks that plans refer to by their hash.
const CACHE: &str = "cache/";

/// The prefix of files that go to a place of the server's file system.
const FORWARD: &str = "forward_to_fs/";

/// A file's hash; None for blocks of the cache, whose names are their hashes.
type Hash = Option<[u8; 32]>;

/// The artifacts of one session: files in a folder of its own, that goes with it.
#[derive(Debug, Default)]
pub struct ArtifactStore {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    folder: Option<TempDir>,
    hashes: HashMap<String, Hash>,
    /// The files as Python workers see them.
    workers: Option<WorkerFiles>,
    is_closed: bool,
}

impl Inner {
    /// Puts a file where Python workers find it.
    fn lay_out(&mut self, name: &str, path: &Path) -> Result<()> {
        let workers = match &mut self.workers {
            Some(workers) => workers,
            none => none.insert(WorkerFiles::new()?),
        };
        workers.add(name, path)
    }

    fn folder(&mut self) -> Result<&Path> {
        if self.is_closed {
            return Err(SparkError::new("OPERATION_CANCELED"));
        }
        if self.folder.is_none() {
            self.folder = Some(private_folder("firesteel-artifacts-").map_err(failed)?);
        }
        match &self.folder {
            Some(folder) => Ok(folder.path()),
            None => Err(SparkError::internal("no folder of artifacts")),
        }
    }
}

fn failed(error: std::io::Error) -> SparkError {
    SparkError::internal(format!("artifacts cannot be stored: {error}"))
}

impl ArtifactStore {
    /// The folder of the files, below which each has its name as its path.
    pub fn folder(&self) -> Result<PathBuf> {
        self.inner.lock().folder().map(Path::to_path_buf)
    }

    /// Whether a name of the cache is there.
    pub fn is_cached(&self, name: &str) -> bool {
        name.starts_with(CACHE) && self.inner.lock().hashes.contains_key(name)
    }

    /// The bytes of a block of the cache.
    pub fn cached(&self, hash: &str) -> Option<Bytes> {
        let path = {
            let inner = self.inner.lock();
            let name = format!("{CACHE}{hash}");
            inner.hashes.contains_key(&name).then_some(())?;
            inner.folder.as_ref()?.path().join(name)
        };
        fs::read(path).ok().map(Bytes::from)
    }

    /// Removes all files.
    pub fn clear(&self) {
        let mut inner = self.inner.lock();
        inner.is_closed = true;
        inner.hashes.clear();
        inner.folder = None;
        inner.workers = None;
    }

    /// Takes over the artifacts of another session.
    pub fn copy_from(&self, source: &ArtifactStore) -> Result<()> {
        let (folder, hashes) = {
            let inner = source.inner.lock();
            let Some(folder) = &inner.folder else {
                return Ok(());
            };
            (folder.path().to_path_buf(), inner.hashes.clone())
        };
        let mut inner = self.inner.lock();
        let target = inner.folder()?.to_path_buf();
        for name in hashes.keys() {
            let path = target.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(failed)?;
            }
            // Files are never changed in place, so they can be shared.
            if fs::hard_link(folder.join(name), &path).is_err() {
                fs::copy(folder.join(name), &path).map_err(failed)?;
            }
        }
        for name in hashes.keys().filter(|name| is_for_workers(name)) {
            inner.lay_out(name, &target.join(name))?;
        }
        inner.hashes = hashes;
        Ok(())
    }

    /// The files that Python workers see, if there are any.
    pub fn python_files(&self) -> Option<PythonFiles> {
        self.inner.lock().workers.as_ref().map(WorkerFiles::files)
    }

    /// Moves a complete file to its place. The same bytes may come again.
    fn store(&self, name: &str, file: &Path, hash: Hash) -> Result<()> {
        let mut inner = self.inner.lock();
        let path = inner.folder()?.join(name);
        match inner.hashes.get(name) {
            Some(known) if *known == hash || name.starts_with(CACHE) => return Ok(()),
            Some(_) => {
                return Err(SparkError::new("ARTIFACT_ALREADY_EXISTS").with("normalizedRemoteRelativePath", name));
            }
            // A name cannot be both a file and a folder.
            None if inner.hashes.keys().any(|known| is_below(name, known) || is_below(known, name)) => {
                return Err(invalid(name));
            }
            None => {}
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::rename(file, &path).map_err(failed)?;
        if is_for_workers(name) {
            inner.lay_out(name, &path)?;
        }
        inner.hashes.insert(name.to_string(), hash);
        Ok(())
    }
}

impl ServerSession {
    /// Tells the engine which files Python workers see.
    pub(crate) fn show_python_files(&self) {
        if let Some(files) = self.artifacts.python_files() {
            self.engine.set_python_files(files);
        }
    }
}

/// The session's artifacts, as plans refer to them.
impl ArtifactLookup for ServerSession {
    fn cached(&self, hash: &str) -> Option<Bytes> {
        self.artifacts.cached(hash)
    }

    fn session_id(&self) -> &str {
        &self.key.session_id
    }

    fn local_relation_size_limit(&self) -> u64 {
        let limit = self.engine.config().read().integer(keys::LOCAL_RELATION_SIZE_LIMIT);
        u64::try_from(limit).unwrap_or(u64::MAX)
    }
}

/// Bytes of a part of a name that file systems take.
const LONGEST_PART: usize = 255;

/// Bytes of a name: with the folder's they must be a path.
const LONGEST_NAME: usize = 3 * 1024;

/// Refuses names that leave the folder, and those that no file can have.
fn check_name(name: &str) -> Result<()> {
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != ".." && part.len() <= LONGEST_PART;
    let is_inside = !name.contains(['\0', '\\']) && name.split('/').all(is_plain);
    if is_inside && name.len() <= LONGEST_NAME { Ok(()) } else { Err(invalid(name)) }
}

fn invalid(name: &str) -> SparkError {
    // An error travels in headers, which must stay small.
    let short: String = name.chars().take(256).collect();
    let name = if short.len() < name.len() { format!("{short}…") } else { short };
    SparkError::new("INVALID_ARTIFACT_PATH").with("name", name)
}

/// Whether a name lies in the folder that has the other one's name.
fn is_below(name: &str, other: &str) -> bool {
    name.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'))
}

fn requirement_failed() -> SparkError {
    SparkError::plain(ExceptionClass::IllegalArgument, "requirement failed")
}

/// An artifact that is being received.
struct Partial {
    name: String,
    file: File,
    path: PathBuf,
    hasher: Option<Sha256>,
    is_intact: bool,
    bytes: i64,
    total_bytes: i64,
    chunks: i64,
    total_chunks: i64,
}

impl Partial {
    fn add(&mut self, chunk: &ArtifactChunk) -> Result<()> {
        self.chunks += 1;
        if self.chunks > self.total_chunks {
            return Err(requirement_failed());
        }
        self.bytes = self.bytes.saturating_add(i64::try_from(chunk.data.len()).unwrap_or(i64::MAX));
        self.is_intact &= i64::from(crc32fast::hash(&chunk.data)) == chunk.crc;
        if self.is_intact {
            if let Some(hasher) = &mut self.hasher {
                hasher.update(&chunk.data);
            }
            self.file.write_all(&chunk.data).map_err(failed)?;
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.chunks == self.total_chunks
    }
}

/// One AddArtifacts stream.
pub struct Upload<'a> {
    session: &'a ServerSession,
    /// Where files wait until they are complete.
    staging: TempDir,
    count: usize,
    partial: Option<Partial>,
    complete: Vec<Complete>,
    summaries: Vec<ArtifactSummary>,
}

/// An artifact that has arrived; it is kept when the whole stream has.
struct Complete {
    name: String,
    path: PathBuf,
    hash: Hash,
}

impl<'a> Upload<'a> {
    /// An upload to a session.
    pub fn new(session: &'a ServerSession) -> Result<Self> {
        let folder = session.artifacts.folder()?;
        let staging = tempfile::Builder::new().prefix(".upload-").tempdir_in(folder).map_err(failed)?;
        Ok(Self { session, staging, count: 0, partial: None, complete: Vec::new(), summaries: Vec::new() })
    }

    /// Takes one message of the stream.
    pub fn receive(&mut self, payload: Option<Payload>) -> Result<()> {
        match payload {
            None => Err(SparkError::plain(
                ExceptionClass::UnsupportedOperation,
                "Unsupported data transfer request received: PAYLOAD_NOT_SET",
            )),
            Some(Payload::Batch(batch)) => {
                if self.partial.is_some() {
                    return Err(requirement_failed());
                }
                for artifact in &batch.artifacts {
                    let chunk = artifact.data.clone().unwrap_or_default();
                    let bytes = i64::try_from(chunk.data.len()).unwrap_or(i64::MAX);
                    let mut partial = self.begin(&artifact.name, bytes, 1)?;
                    partial.add(&chunk)?;
                    self.finish(partial)?;
                }
                Ok(())
            }
            Some(Payload::BeginChunk(begin)) => self.begin_chunked(&begin),
            Some(Payload::Chunk(chunk)) => {
                let mut partial = self.partial.take().ok_or_else(requirement_failed)?;
                partial.add(&chunk)?;
                self.keep_or_finish(partial)
            }
        }
    }

    fn begin_chunked(&mut self, begin: &BeginChunkedArtifact) -> Result<()> {
        if self.partial.is_some() || begin.num_chunks < 1 {
            return Err(requirement_failed());
        }
        let mut partial = self.begin(&begin.name, begin.total_bytes, begin.num_chunks)?;
        partial.add(begin.initial_chunk.as_ref().unwrap_or(&ArtifactChunk::default()))?;
        self.keep_or_finish(partial)
    }

    fn keep_or_finish(&mut self, partial: Partial) -> Result<()> {
        if partial.is_complete() {
            return self.finish(partial);
        }
        self.partial = Some(partial);
        Ok(())
    }

    fn begin(&mut self, name: &str, total_bytes: i64, total_chunks: i64) -> Result<Partial> {
        match name.strip_prefix(FORWARD) {
            Some(path) => check_name(path.trim_start_matches('/'))?,
            None => check_name(name)?,
        }
        self.count += 1;
        let path = self.staging.path().join(self.count.to_string());
        Ok(Partial {
            name: name.to_string(),
            file: File::create(&path).map_err(failed)?,
            path,
            hasher: (!name.starts_with(CACHE)).then(Sha256::new),
            is_intact: true,
            bytes: 0,
            total_bytes,
            chunks: 0,
            total_chunks,
        })
    }

    fn finish(&mut self, partial: Partial) -> Result<()> {
        if partial.bytes != partial.total_bytes {
            return Err(SparkError::plain(
                ExceptionClass::Runtime,
                format!(
                    "Missing data chunks for artifact: {}. Expected {} bytes, received {}.",
                    partial.name, partial.total_bytes, partial.bytes
                ),
            ));
        }
        self.summaries.push(ArtifactSummary { name: partial.name.clone(), is_crc_successful: partial.is_intact });
        if partial.is_intact {
            let hash = partial.hasher.map(|hasher| hasher.finalize().into());
            self.complete.push(Complete { name: partial.name, path: partial.path, hash });
        }
        Ok(())
    }

    /// Puts a file to a place of the server's own file system, where that is allowed.
    fn forward(&self, file: &Path, target: &str) -> Result<()> {
        if !self.session.engine.config().read().boolean(keys::COPY_FROM_LOCAL_ALLOW_DEST_LOCAL) {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_3161").with_class(ExceptionClass::UnsupportedOperation));
        }
        let target = Path::new("/").join(target.trim_start_matches('/'));
        fs::copy(file, target).map_err(failed)?;
        Ok(())
    }

    /// Ends the stream: what has arrived becomes the session's.
    pub fn complete(self) -> Result<Vec<ArtifactSummary>> {
        if self.partial.is_some() {
            return Err(requirement_failed());
        }
        for artifact in &self.complete {
            match artifact.name.strip_prefix(FORWARD) {
                Some(target) => self.forward(&artifact.path, target)?,
                None => self.session.artifacts.store(&artifact.name, &artifact.path, artifact.hash)?,
            }
        }
        self.session.show_python_files();
        Ok(self.summaries)
    }
}

/// Which of the names the session holds.
pub fn statuses(
    session: &ServerSession,
    names: &[String],
) -> HashMap<String, proto::artifact_statuses_response::ArtifactStatus> {
    let status = |name: &String| {
        let exists = session.artifacts.is_cached(name);
        (name.clone(), proto::artifact_statuses_response::ArtifactStatus { exists })
    };
    names.iter().map(status).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside_the_folder() {
        for name in ["files/a.txt", "cache/00ff", "archives/x.zip#y", "odd prefix/b"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in [
            "",
            "/etc/passwd",
            "..",
            "files/../../x",
            "files/..",
            "a\\..\\b",
            "files/",
            "./x",
            "files/./x",
            "a//b",
            "a\0b",
            &"x".repeat(256),
            &["x"; 2000].join("/"),
        ] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
