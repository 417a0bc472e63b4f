//! A server in this process, and a client for it.
#![allow(dead_code)]

use firesteel_engine::{Engine, EngineOptions};
use firesteel_proto::connect as proto;
use firesteel_proto::google::rpc;
use firesteel_server::Server;
use firesteel_server::limits::Limits;
use firesteel_server::sessions::{SessionKey, SessionManager};
use prost::Message;
use proto::execute_plan_request::{RequestOption, request_option};
use proto::execute_plan_response::ResponseType;
use proto::plan::OpType;
use proto::relation::RelType;
use proto::spark_connect_service_client::SparkConnectServiceClient;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::oneshot;
use tonic::transport::{Channel, Endpoint};
use tonic::{Status, Streaming};
use uuid::Uuid;

pub struct Harness {
    pub address: SocketAddr,
    pub stop: Option<oneshot::Sender<()>>,
    pub done: tokio::task::JoinHandle<()>,
    pub sessions: Arc<SessionManager>,
}

pub type Client = SparkConnectServiceClient<Channel>;

impl Harness {
    pub async fn start() -> Self {
        Self::with(Limits::default(), None).await
    }

    pub async fn with(limits: Limits, token: Option<&str>) -> Self {
        let engine = Engine::new(EngineOptions {
            cores: Some(2),
            memory_limit: None,
            cache_memory_limit: None,
            spill_directory: None,
            configuration: Vec::new(),
        })
        .unwrap();
        let mut builder = Server::builder(engine).address(SocketAddr::from(([127, 0, 0, 1], 0))).limits(limits);
        if let Some(token) = token {
            builder = builder.token(token);
        }
        let server = builder.bind().await.unwrap();
        let address = server.address();
        let sessions = server.sessions().clone();
        let (stop, stopped) = oneshot::channel();
        let done = tokio::spawn(async move {
            server.serve(async { stopped.await.unwrap_or(()) }).await.unwrap();
        });
        Self { address, stop: Some(stop), done, sessions }
    }

    pub async fn client(&self) -> Client {
        // Streams that nobody reads fill their windows. The connection's window must hold
        // them all, or they leave no room for the answers of other calls.
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address)).unwrap();
        let channel = endpoint.initial_connection_window_size(256 << 20).connect().await.unwrap();
        Client::new(channel).max_decoding_message_size(usize::MAX)
    }

    /// The engine's part of a session.
    pub fn engine_session(&self, session: &Session) -> Arc<firesteel_engine::Session> {
        let key = SessionKey { user_id: session.user.clone(), session_id: session.id.clone() };
        self.sessions.peek(&key).unwrap().unwrap().engine.clone()
    }

    pub async fn session(&self) -> Session {
        Session { client: self.client().await, id: Uuid::new_v4().to_string(), user: "user".to_string() }
    }
}

/// A session as a client knows it.
#[derive(Clone)]
pub struct Session {
    pub client: Client,
    pub id: String,
    pub user: String,
}

impl Session {
    pub fn context(&self) -> Option<proto::UserContext> {
        Some(proto::UserContext { user_id: self.user.clone(), ..Default::default() })
    }

    pub fn request(&self, plan: OpType) -> proto::ExecutePlanRequest {
        proto::ExecutePlanRequest {
            session_id: self.id.clone(),
            user_context: self.context(),
            operation_id: Some(Uuid::new_v4().to_string()),
            plan: Some(proto::Plan { op_type: Some(plan) }),
            ..Default::default()
        }
    }

    pub fn reattachable(&self, plan: OpType) -> proto::ExecutePlanRequest {
        let options = proto::ReattachOptions { reattachable: true };
        let option = RequestOption { request_option: Some(request_option::RequestOption::ReattachOptions(options)) };
        proto::ExecutePlanRequest { request_options: vec![option], ..self.request(plan) }
    }

    pub async fn start(
        &mut self,
        request: proto::ExecutePlanRequest,
    ) -> Result<Streaming<proto::ExecutePlanResponse>, Status> {
        Ok(self.client.execute_plan(request).await?.into_inner())
    }

    pub async fn run(&mut self, request: proto::ExecutePlanRequest) -> Result<Vec<proto::ExecutePlanResponse>, Status> {
        collect(self.start(request).await?).await
    }

    pub async fn reattach(
        &mut self,
        operation_id: &str,
        last: Option<&str>,
    ) -> Result<Streaming<proto::ExecutePlanResponse>, Status> {
        let request = proto::ReattachExecuteRequest {
            session_id: self.id.clone(),
            user_context: self.context(),
            operation_id: operation_id.to_string(),
            last_response_id: last.map(str::to_string),
            ..Default::default()
        };
        Ok(self.client.reattach_execute(request).await?.into_inner())
    }

    pub async fn release(&mut self, operation_id: &str, until: Option<&str>) -> Result<Option<String>, Status> {
        use proto::release_execute_request::{Release, ReleaseAll, ReleaseUntil};
        let release = match until {
            None => Release::ReleaseAll(ReleaseAll {}),
            Some(id) => Release::ReleaseUntil(ReleaseUntil { response_id: id.to_string() }),
        };
        let request = proto::ReleaseExecuteRequest {
            session_id: self.id.clone(),
            user_context: self.context(),
            operation_id: operation_id.to_string(),
            release: Some(release),
            ..Default::default()
        };
        Ok(self.client.release_execute(request).await?.into_inner().operation_id)
    }

    pub async fn config(
        &mut self,
        operation: proto::config_request::operation::OpType,
    ) -> Result<proto::ConfigResponse, Status> {
        let request = proto::ConfigRequest {
            session_id: self.id.clone(),
            user_context: self.context(),
            operation: Some(proto::config_request::Operation { op_type: Some(operation) }),
            ..Default::default()
        };
        Ok(self.client.config(request).await?.into_inner())
    }

    pub async fn set(&mut self, key: &str, value: &str) -> Result<proto::ConfigResponse, Status> {
        let pair = proto::KeyValue { key: key.to_string(), value: Some(value.to_string()) };
        let set = proto::config_request::Set { pairs: vec![pair], silent: None };
        self.config(proto::config_request::operation::OpType::Set(set)).await
    }

    pub async fn get(&mut self, key: &str) -> Result<Option<String>, Status> {
        let get = proto::config_request::Get { keys: vec![key.to_string()] };
        let response = self.config(proto::config_request::operation::OpType::Get(get)).await?;
        Ok(response.pairs.into_iter().next().and_then(|pair| pair.value))
    }

    /// A call that only makes the session; its server side id.
    pub async fn touch(&mut self, observed: Option<&str>) -> Result<String, Status> {
        let request = proto::ConfigRequest {
            session_id: self.id.clone(),
            user_context: self.context(),
            client_observed_server_side_session_id: observed.map(str::to_string),
            operation: Some(proto::config_request::Operation {
                op_type: Some(proto::config_request::operation::OpType::GetAll(Default::default())),
            }),
            ..Default::default()
        };
        Ok(self.client.config(request).await?.into_inner().server_side_session_id)
    }

    pub async fn release_session(&mut self, allow_reconnect: bool) -> Result<String, Status> {
        let request = proto::ReleaseSessionRequest {
            session_id: self.id.clone(),
            user_context: self.context(),
            allow_reconnect,
            ..Default::default()
        };
        Ok(self.client.release_session(request).await?.into_inner().server_side_session_id)
    }
}

pub async fn collect(
    mut stream: Streaming<proto::ExecutePlanResponse>,
) -> Result<Vec<proto::ExecutePlanResponse>, Status> {
    let mut responses = Vec::new();
    while let Some(response) = stream.message().await? {
        responses.push(response);
    }
    Ok(responses)
}

/// Reads a stream to its error.
pub async fn error_of(mut stream: Streaming<proto::ExecutePlanResponse>) -> Option<Status> {
    loop {
        match stream.message().await {
            Ok(Some(_)) => {}
            Ok(None) => return None,
            Err(status) => return Some(status),
        }
    }
}

pub fn relation(rel_type: RelType) -> proto::Relation {
    proto::Relation { common: None, rel_type: Some(rel_type) }
}

pub fn range(end: i64) -> OpType {
    OpType::Root(relation(RelType::Range(proto::Range { start: Some(0), end, step: 1, num_partitions: Some(1) })))
}

/// More rows than the buffers hold: the operation waits for its client.
pub fn endless() -> OpType {
    range(1 << 40)
}

pub fn sql(text: &str) -> OpType {
    let input = relation(RelType::Sql(proto::Sql { query: text.to_string(), ..Default::default() }));
    let command = proto::SqlCommand { input: Some(input), ..Default::default() };
    OpType::Command(proto::Command { command_type: Some(proto::command::CommandType::SqlCommand(command)) })
}

/// What a response holds, in the order in which clients read it.
fn contents(response: &proto::ExecutePlanResponse) -> Vec<&'static str> {
    let schema = response.schema.is_some().then_some("schema");
    let metrics = response.metrics.is_some().then_some("metrics");
    let observed = (!response.observed_metrics.is_empty()).then_some("observed");
    let payload = response.response_type.as_ref().map(|payload| match payload {
        ResponseType::ArrowBatch(_) => "batch",
        ResponseType::ExecutionProgress(_) => "progress",
        ResponseType::ResultComplete(_) => "complete",
        ResponseType::SqlCommandResult(_) => "sql",
        _ => "other",
    });
    [schema, metrics, observed, payload].into_iter().flatten().collect()
}

/// What responses hold, progress left out.
pub fn kinds(responses: &[proto::ExecutePlanResponse]) -> Vec<&'static str> {
    responses.iter().flat_map(contents).filter(|kind| *kind != "progress").collect()
}

pub fn rows(responses: &[proto::ExecutePlanResponse]) -> i64 {
    let count = |response: &proto::ExecutePlanResponse| match &response.response_type {
        Some(ResponseType::ArrowBatch(batch)) => batch.row_count,
        _ => 0,
    };
    responses.iter().map(count).sum()
}

/// What a status says of its error.
pub fn info(status: &Status) -> rpc::ErrorInfo {
    let details = rpc::Status::decode(status.details()).unwrap();
    rpc::ErrorInfo::decode(details.details[0].value.as_slice()).unwrap()
}

pub fn condition(status: &Status) -> String {
    info(status).metadata.get("errorClass").cloned().unwrap_or_default()
}

pub fn assert_fails<T: std::fmt::Debug>(result: Result<T, Status>, expected: &str) {
    let status = result.unwrap_err();
    assert_eq!(condition(&status), expected, "{status:?}");
    assert!(status.message().contains(expected), "{}", status.message());
}
