//! Artifacts: uploads, their checks, and their use in plans.

use crate::harness::{Harness, Session, assert_fails, info, relation, rows};
use arrow::array::{ArrayRef, Int64Array};
use arrow::ipc::writer::StreamWriter;
use arrow::record_batch::RecordBatch;
use firesteel_proto::connect as proto;
use proto::add_artifacts_request::{ArtifactChunk, Batch, BeginChunkedArtifact, Payload, SingleChunkArtifact};
use proto::plan::OpType;
use proto::relation::RelType;
use std::sync::Arc;
use tonic::Status;

fn chunk(data: &[u8]) -> ArtifactChunk {
    ArtifactChunk { data: data.to_vec().into(), crc: i64::from(crc32fast::hash(data)) }
}

fn single(name: &str, data: &[u8]) -> SingleChunkArtifact {
    SingleChunkArtifact { name: name.to_string(), data: Some(chunk(data)) }
}

fn batch(artifacts: Vec<SingleChunkArtifact>) -> Payload {
    Payload::Batch(Batch { artifacts })
}

fn begin(name: &str, total_bytes: i64, num_chunks: i64, data: &[u8]) -> Payload {
    let initial_chunk = Some(chunk(data));
    Payload::BeginChunk(BeginChunkedArtifact { name: name.to_string(), total_bytes, num_chunks, initial_chunk })
}

async fn upload(session: &mut Session, payloads: Vec<Payload>) -> Result<Vec<(String, bool)>, Status> {
    let request = |payload| proto::AddArtifactsRequest {
        session_id: session.id.clone(),
        user_context: session.context(),
        payload: Some(payload),
        ..Default::default()
    };
    let requests: Vec<_> = payloads.into_iter().map(request).collect();
    let response = session.client.add_artifacts(futures::stream::iter(requests)).await?.into_inner();
    Ok(response.artifacts.into_iter().map(|summary| (summary.name, summary.is_crc_successful)).collect())
}

async fn exists(session: &mut Session, name: &str) -> bool {
    let request = proto::ArtifactStatusesRequest {
        session_id: session.id.clone(),
        user_context: session.context(),
        names: vec![name.to_string()],
        ..Default::default()
    };
    session.client.artifact_status(request).await.unwrap().into_inner().statuses[name].exists
}

#[tokio::test(flavor = "multi_thread")]
async fn artifacts_arrive_whole_or_in_pieces() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let summaries = upload(
        &mut session,
        vec![
            batch(vec![single("cache/a", b"one"), single("files/b.txt", b"two")]),
            begin("cache/c", 6, 2, b"abc"),
            Payload::Chunk(chunk(b"def")),
        ],
    );
    let names = ["cache/a", "files/b.txt", "cache/c"];
    assert_eq!(summaries.await.unwrap(), names.map(|name| (name.to_string(), true)));
    assert!(exists(&mut session, "cache/a").await);
    assert!(exists(&mut session, "cache/c").await);
    // Only blocks of the cache are looked up.
    assert!(!exists(&mut session, "files/b.txt").await);
    assert!(!exists(&mut session, "cache/x").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_checksums_are_told_and_nothing_is_stored() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let mut broken = single("cache/broken", b"data");
    broken.data.as_mut().unwrap().crc += 1;
    let summaries = upload(&mut session, vec![batch(vec![broken, single("cache/good", b"data")])]).await.unwrap();
    assert_eq!(summaries, [("cache/broken".to_string(), false), ("cache/good".to_string(), true)]);
    assert!(!exists(&mut session, "cache/broken").await);
    assert!(exists(&mut session, "cache/good").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_cannot_leave_the_folder() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    for name in ["../evil", "/etc/evil", "files/../../evil", "forward_to_fs/../evil"] {
        assert_fails(upload(&mut session, vec![batch(vec![single(name, b"x")])]).await, "INVALID_ARTIFACT_PATH");
        assert_fails(upload(&mut session, vec![begin(name, 2, 2, b"x")]).await, "INVALID_ARTIFACT_PATH");
    }
    let status = upload(&mut session, vec![batch(vec![single("forward_to_fs/tmp/evil", b"x")])]).await.unwrap_err();
    assert_eq!(info(&status).reason, "org.apache.spark.SparkUnsupportedOperationException");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_not_changed() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    for data in [b"one", b"one"] {
        upload(&mut session, vec![batch(vec![single("pyfiles/a.py", data), single("cache/a", data)])]).await.unwrap();
    }
    upload(&mut session, vec![batch(vec![single("cache/a", b"two")])]).await.unwrap();
    let again = upload(&mut session, vec![batch(vec![single("pyfiles/a.py", b"two")])]).await;
    assert_fails(again, "ARTIFACT_ALREADY_EXISTS");
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_of_pieces_are_checked() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let piece = || Payload::Chunk(chunk(b"x"));
    let wrong: [(&str, Vec<Payload>); 5] = [
        ("too few", vec![begin("cache/a", 3, 3, b"x"), piece()]),
        ("too many", vec![begin("cache/a", 2, 2, b"x"), piece(), piece()]),
        ("a batch between", vec![begin("cache/a", 2, 2, b"x"), batch(vec![single("cache/b", b"x")])]),
        ("no begin", vec![piece()]),
        ("wrong total", vec![begin("cache/a", 7, 2, b"x"), piece()]),
    ];
    for (what, payloads) in wrong {
        assert!(upload(&mut session, payloads).await.is_err(), "{what}");
    }
    assert!(!exists(&mut session, "cache/a").await);
    assert_eq!(upload(&mut session, Vec::new()).await.unwrap_err().code(), tonic::Code::Unknown);
}

fn arrow_stream(values: std::ops::Range<i64>) -> Vec<u8> {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
    let batch = RecordBatch::try_from_iter([("a", column)]).unwrap();
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn uploaded_rows_are_relations() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let chunks = |hashes: &[&str]| {
        let data_hashes = hashes.iter().map(|hash| hash.to_string()).collect();
        OpType::Root(relation(RelType::ChunkedCachedLocalRelation(proto::ChunkedCachedLocalRelation {
            data_hashes,
            schema_hash: None,
        })))
    };
    upload(
        &mut session,
        vec![batch(vec![single("cache/h1", &arrow_stream(0..3)), single("cache/h2", &arrow_stream(3..5))])],
    )
    .await
    .unwrap();
    let responses = session.run(session.request(chunks(&["h1", "h2"]))).await.unwrap();
    assert_eq!(rows(&responses), 5);
    let missing = session.run(session.request(chunks(&["h1", "h3"]))).await;
    assert_fails(missing, "CONNECT_INVALID_PLAN.NOT_FOUND_CHUNKED_CACHED_LOCAL_RELATION");
    let empty = session.run(session.request(chunks(&[]))).await;
    assert_fails(empty, "CONNECT_INVALID_PLAN.CHUNKED_CACHED_LOCAL_RELATION_WITHOUT_DATA");
}
