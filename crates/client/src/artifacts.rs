//! Files and blocks for a session.

use crate::SparkSession;
use crate::error::{Error, Failure, Result};
use crate::retry::Retries;
use crate::transport::Answer;
use bytes::Bytes;
use firesteel_proto::connect as proto;
use proto::add_artifacts_request::{ArtifactChunk, Batch, BeginChunkedArtifact, Payload, SingleChunkArtifact};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Bytes in one message, as clients agree on.
const CHUNK: usize = 32 * 1024;

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactKind {
    /// To be read by functions.
    File,
    /// A module, or an archive of modules, of Python.
    PyFile,
    /// To be unpacked; `path#name` says where.
    Archive,
    /// Classes of a JVM.
    Jar,
}

impl ArtifactKind {
    fn prefix(self) -> &'static str {
        match self {
            ArtifactKind::File => "files",
            ArtifactKind::PyFile => "pyfiles",
            ArtifactKind::Archive => "archives",
            ArtifactKind::Jar => "jars",
        }
    }
}

impl SparkSession {
    /// Gives the session files of this machine.
    pub async fn add_artifacts(
        &self,
        paths: impl IntoIterator<Item = impl AsRef<str>>,
        kind: ArtifactKind,
    ) -> Result<()> {
        let mut artifacts = Vec::new();
        for path in paths {
            let path = path.as_ref();
            let (file, alias) = match kind {
                ArtifactKind::Archive => path.split_once('#').map_or((path, None), |(file, alias)| (file, Some(alias))),
                _ => (path, None),
            };
            let name = Path::new(file).file_name().and_then(|name| name.to_str());
            let name = name.ok_or_else(|| Error::invalid(format!("not the path of a file: {file}")))?;
            let alias = alias.map(|alias| format!("#{alias}")).unwrap_or_default();
            let bytes = tokio::task::spawn_blocking({
                let file = file.to_string();
                move || std::fs::read(file)
            });
            let bytes = bytes.await.map_err(std::io::Error::other)??;
            artifacts.push((format!("{}/{name}{alias}", kind.prefix()), Bytes::from(bytes)));
        }
        self.upload(artifacts).await
    }

    /// Copies a file of this machine to a path of the server's file system.
    pub async fn copy_from_local_to_fs(&self, local: impl AsRef<Path>, target: impl AsRef<str>) -> Result<()> {
        let local = local.as_ref().to_path_buf();
        let bytes =
            tokio::task::spawn_blocking(move || std::fs::read(local)).await.map_err(std::io::Error::other)??;
        self.upload(vec![(format!("forward_to_fs{}", target.as_ref()), Bytes::from(bytes))]).await
    }

    /// Gives the session blocks, unless it has them; their hashes.
    pub(crate) async fn cache_blocks(&self, blocks: Vec<Bytes>) -> Result<Vec<String>> {
        let hash = |block: &Bytes| Sha256::digest(block).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let hashes: Vec<String> = blocks.iter().map(hash).collect();
        let names: Vec<String> = hashes.iter().map(|hash| format!("cache/{hash}")).collect();
        let request = proto::ArtifactStatusesRequest {
            session_id: self.transport.session_id.clone(),
            client_observed_server_side_session_id: self.transport.observed_session(),
            user_context: self.transport.user(),
            client_type: self.transport.client_type(),
            names: names.clone(),
        };
        let answer = self.call(request, |mut stub, request| async move { stub.artifact_status(request).await }).await?;
        let is_there = |name: &String| answer.statuses.get(name).is_some_and(|status| status.exists);
        let missing: Vec<_> = names.into_iter().zip(blocks).filter(|(name, _)| !is_there(name)).collect();
        if !missing.is_empty() {
            self.upload(missing).await?;
        }
        Ok(hashes)
    }

    async fn upload(&self, artifacts: Vec<(String, Bytes)>) -> Result<()> {
        self.within(self.upload_all(artifacts)).await
    }

    async fn upload_all(&self, artifacts: Vec<(String, Bytes)>) -> Result<()> {
        if self.is_stopped() {
            return Err(Error::SessionStopped);
        }
        let transport = &self.transport;
        let request = |payload| proto::AddArtifactsRequest {
            session_id: transport.session_id.clone(),
            user_context: transport.user(),
            client_observed_server_side_session_id: transport.observed_session(),
            client_type: transport.client_type(),
            payload: Some(payload),
        };
        // Bytes are shared, so that a second try costs no copy.
        let requests: Vec<_> = payloads(artifacts).into_iter().map(request).collect();
        let mut retries = Retries::new(&transport.options.retries);
        loop {
            let stream = futures::stream::iter(requests.clone());
            match transport.stub().add_artifacts(transport.request(stream)).await {
                Ok(answer) => return self.check_upload(answer.into_inner()),
                Err(status) => {
                    let failure = Failure::new(status);
                    if !retries.pause(&failure).await {
                        return Err(transport.explain(failure).await);
                    }
                }
            }
        }
    }

    fn check_upload(&self, answer: proto::AddArtifactsResponse) -> Result<()> {
        self.transport.verify(answer.session_id(), answer.server_session_id())?;
        match answer.artifacts.iter().find(|artifact| !artifact.is_crc_successful) {
            Some(damaged) => Err(Error::protocol(format!("{} arrived damaged", damaged.name))),
            None => Ok(()),
        }
    }
}

fn chunk(data: Bytes) -> ArtifactChunk {
    ArtifactChunk { crc: i64::from(crc32fast::hash(&data)), data }
}

/// Small artifacts together in messages, large ones over several.
fn payloads(artifacts: Vec<(String, Bytes)>) -> Vec<Payload> {
    let mut payloads = Vec::new();
    let (mut batch, mut size) = (Vec::new(), 0);
    for (name, bytes) in artifacts {
        if bytes.len() <= CHUNK {
            if size + bytes.len() > CHUNK {
                payloads.push(Payload::Batch(Batch { artifacts: std::mem::take(&mut batch) }));
                size = 0;
            }
            size += bytes.len();
            batch.push(SingleChunkArtifact { name, data: Some(chunk(bytes)) });
            continue;
        }
        if !batch.is_empty() {
            payloads.push(Payload::Batch(Batch { artifacts: std::mem::take(&mut batch) }));
            size = 0;
        }
        let chunks = bytes.len().div_ceil(CHUNK);
        payloads.push(Payload::BeginChunk(BeginChunkedArtifact {
            name,
            total_bytes: i64::try_from(bytes.len()).unwrap_or(i64::MAX),
            num_chunks: i64::try_from(chunks).unwrap_or(i64::MAX),
            initial_chunk: Some(chunk(bytes.slice(..CHUNK))),
        }));
        payloads.extend((1..chunks).map(|index| {
            let end = bytes.len().min((index + 1) * CHUNK);
            Payload::Chunk(chunk(bytes.slice(index * CHUNK..end)))
        }));
    }
    if !batch.is_empty() {
        payloads.push(Payload::Batch(Batch { artifacts: batch }));
    }
    payloads
}
