//! Config, error details, tokens, and requests that make no sense.

use crate::harness::{Harness, assert_fails, condition, info, range, relation, rows, sql};
use bytes::{Buf, BufMut, Bytes};
use firesteel_proto::connect as proto;
use firesteel_server::limits::Limits;
use prost::Message;
use proto::config_request::operation::OpType as Operation;
use proto::plan::OpType;
use proto::relation::RelType;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::{Code, Request, Status};
use uuid::Uuid;

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_read_and_changed() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    assert_fails(session.get("spark.sql.no.such.key").await, "SQL_CONF_NOT_FOUND");
    assert_fails(session.set("spark.sql.warehouse.dir", "/tmp").await, "CANNOT_MODIFY_STATIC_CONFIG");
    assert_fails(session.set("spark.sql.shuffle.partitions", "x").await, "INVALID_CONF_VALUE.TYPE_MISMATCH");
    session.set("spark.sql.shuffle.partitions", "7").await.unwrap();
    assert_eq!(session.get("spark.sql.shuffle.partitions").await.unwrap().as_deref(), Some("7"));
    session.set("some.key", "v").await.unwrap();
    let unset = proto::config_request::Unset { keys: vec!["some.key".into(), "unknown".into()] };
    session.config(Operation::Unset(unset)).await.unwrap();
    assert_fails(session.get("some.key").await, "SQL_CONF_NOT_FOUND");

    let pair = |key: &str, value: Option<&str>| proto::KeyValue { key: key.into(), value: value.map(str::to_string) };
    let silent = proto::config_request::Set {
        pairs: vec![pair("spark.sql.warehouse.dir", Some("/tmp")), pair("a.b", Some("1"))],
        silent: Some(true),
    };
    assert_eq!(session.config(Operation::Set(silent)).await.unwrap().warnings.len(), 1);
    let all = proto::config_request::GetAll { prefix: Some("a.".into()) };
    assert_eq!(session.config(Operation::GetAll(all)).await.unwrap().pairs, [pair("b", Some("1"))]);
    let default = proto::config_request::GetWithDefault { pairs: vec![pair("unknown", Some("d"))] };
    let answer = session.config(Operation::GetWithDefault(default)).await.unwrap();
    assert_eq!(answer.pairs, [pair("unknown", Some("d"))]);
    let option = proto::config_request::GetOption { keys: vec!["unknown".into()] };
    assert_eq!(session.config(Operation::GetOption(option)).await.unwrap().pairs, [pair("unknown", None)]);
    let keys = ["spark.sql.ansi.enabled", "spark.sql.warehouse.dir", "unknown"].map(String::from).to_vec();
    let answer = session.config(Operation::IsModifiable(proto::config_request::IsModifiable { keys })).await.unwrap();
    let values: Vec<_> = answer.pairs.into_iter().filter_map(|pair| pair.value).collect();
    assert_eq!(values, ["true", "false", "false"]);

    let request = proto::ConfigRequest { session_id: session.id.clone(), ..Default::default() };
    let status = session.client.config(request).await.unwrap_err();
    assert_eq!(info(&status).reason, "java.lang.UnsupportedOperationException");
}

#[tokio::test(flavor = "multi_thread")]
async fn error_details_are_fetched_once() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let status = session.run(session.request(sql("select * from no_such_table"))).await.unwrap_err();
    assert_eq!(condition(&status), "TABLE_OR_VIEW_NOT_FOUND");
    assert_eq!(status.code(), Code::Internal);
    let fetch = |error_id: &str| proto::FetchErrorDetailsRequest {
        session_id: session.id.clone(),
        user_context: session.context(),
        error_id: error_id.to_string(),
        ..Default::default()
    };
    let request = fetch(&info(&status).metadata["errorId"]);
    let unknown = fetch(&Uuid::new_v4().to_string());
    let details = session.client.fetch_error_details(request.clone()).await.unwrap().into_inner();
    assert_eq!(details.root_error_idx, Some(0));
    assert_eq!(details.errors[0].error_type_hierarchy[..2].last().unwrap(), "org.apache.spark.sql.AnalysisException");
    let throwable = details.errors[0].spark_throwable.clone().unwrap();
    assert_eq!(throwable.error_class.as_deref(), Some("TABLE_OR_VIEW_NOT_FOUND"));
    assert_eq!(throwable.sql_state.as_deref(), Some("42P01"));
    for request in [request, unknown] {
        let details = session.client.fetch_error_details(request).await.unwrap().into_inner();
        assert_eq!(details, proto::FetchErrorDetailsResponse::default());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_without_content_are_refused() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let not_set = "CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET";
    let empty = proto::ExecutePlanRequest { plan: None, ..session.request(range(1)) };
    assert_fails(session.run(empty).await, not_set);
    assert_fails(session.run(session.request(OpType::Root(Default::default()))).await, not_set);
    assert_fails(session.run(session.request(OpType::Command(Default::default()))).await, not_set);
    let limit = OpType::Root(relation(RelType::Limit(Default::default())));
    assert_fails(session.run(session.request(limit)).await, not_set);
    let extension = OpType::Root(relation(RelType::Extension(Default::default())));
    assert_fails(session.run(session.request(extension)).await, "CONNECT_INVALID_PLAN.NO_HANDLER_FOR_EXTENSION");
    let request = proto::AnalyzePlanRequest { session_id: session.id.clone(), ..Default::default() };
    let status = session.client.analyze_plan(request).await.unwrap_err();
    assert_eq!(condition(&status), "CONNECT_INVALID_PLAN.UNKNOWN_ANALYZE_METHOD");
}

#[tokio::test(flavor = "multi_thread")]
async fn compressed_plans_are_run() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let OpType::Root(root) = range(5) else { unreachable!() };
    let data = zstd::encode_all(root.encode_to_vec().as_slice(), 1).unwrap();
    let compressed = |data: Vec<u8>, codec| {
        let operation = proto::plan::CompressedOperation { data: data.into(), op_type: 1, compression_codec: codec };
        OpType::CompressedOperation(operation)
    };
    let responses = session.run(session.request(compressed(data.clone(), 1))).await.unwrap();
    assert_eq!(rows(&responses), 5);
    let garbage = session.run(session.request(compressed(b"garbage".to_vec(), 1))).await;
    assert_fails(garbage, "CONNECT_INVALID_PLAN.CANNOT_PARSE");
    let no_codec = session.run(session.request(compressed(data, 0))).await;
    assert_fails(no_codec, "CONNECT_INVALID_PLAN.INVALID_ENUM");
}

#[tokio::test(flavor = "multi_thread")]
async fn long_chains_are_decoded() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let OpType::Root(mut chain) = range(5) else { unreachable!() };
    for _ in 0..1000 {
        chain = relation(RelType::Limit(Box::new(proto::Limit { input: Some(Box::new(chain)), limit: 3 })));
    }
    let responses = session.run(session.request(OpType::Root(chain))).await.unwrap();
    assert_eq!(rows(&responses), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_without_the_token_are_refused() {
    let server = Harness::with(Limits::default(), Some("secret")).await;
    let mut session = server.session().await;
    let request = || proto::ConfigRequest {
        session_id: session.id.clone(),
        operation: Some(proto::config_request::Operation { op_type: Some(Operation::GetAll(Default::default())) }),
        ..Default::default()
    };
    let (plain, mut with_token) = (request(), Request::new(request()));
    let status = session.client.config(plain).await.unwrap_err();
    assert_eq!((status.code(), status.details()), (Code::Unauthenticated, &b""[..]));
    with_token.metadata_mut().insert("authorization", "Bearer secret".parse().unwrap());
    session.client.config(with_token).await.unwrap();
}

/// Sends bytes as they are.
#[derive(Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Raw;
    type Decoder = Raw;

    fn encoder(&mut self) -> Raw {
        Raw
    }

    fn decoder(&mut self) -> Raw {
        Raw
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

/// A small generator of numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn random_bytes_do_no_harm() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let channel =
        tonic::transport::Endpoint::from_shared(format!("http://{}", server.address)).unwrap().connect().await.unwrap();
    let mut raw = tonic::client::Grpc::new(channel);
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let plan = session.request(sql("select a, count(*) from range(10) as t(a) group by a order by 1 limit 3"));
    let template = plan.encode_to_vec();
    let calls = ["ExecutePlan", "AnalyzePlan", "Config", "Interrupt", "ReattachExecute", "ReleaseExecute", "GetStatus"];
    for round in 0..300 {
        let mut bytes = template.clone();
        if round % 3 == 0 {
            bytes = (0..numbers.next() % 200).map(|_| numbers.next() as u8).collect();
        }
        for _ in 0..1 + numbers.next() % 5 {
            if !bytes.is_empty() {
                let at = numbers.next() % bytes.len();
                bytes[at] = numbers.next() as u8;
            }
        }
        let path = format!("/spark.connect.SparkConnectService/{}", calls[round % calls.len()]);
        raw.ready().await.unwrap();
        let call = raw.server_streaming(Request::new(Bytes::from(bytes)), path.parse().unwrap(), Raw);
        if let Ok(response) = call.await {
            let mut stream = response.into_inner();
            while let Ok(Some(_)) = stream.message().await {}
        }
    }
    assert_eq!(rows(&session.run(session.request(range(5))).await.unwrap()), 5);
}
