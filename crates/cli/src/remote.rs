//! SQL on a server.

use crate::Failure;
use crate::connection::Connection;
use crate::embedded::table;
use crate::query::{Backend, Display};
use arrow::ipc::reader::StreamReader;
use async_trait::async_trait;
use firesteel_proto::connect as proto;
use proto::execute_plan_response::ResponseType;
use proto::relation::RelType;
use proto::spark_connect_service_client::SparkConnectServiceClient;
use std::path::Path;
use tonic::metadata::{Ascii, MetadataKey, MetadataValue};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Request, Status};
use uuid::Uuid;

/// A session on a server.
pub struct Remote {
    client: SparkConnectServiceClient<Channel>,
    session_id: String,
    user_id: String,
    headers: Vec<(MetadataKey<Ascii>, MetadataValue<Ascii>)>,
}

impl Remote {
    /// Connects to the server of a connection string.
    pub async fn connect(url: &str, certificate: Option<&Path>) -> Result<Self, Failure> {
        let connection = Connection::parse(url)?;
        let use_ssl = connection.use_ssl || certificate.is_some();
        let scheme = if use_ssl { "https" } else { "http" };
        let mut endpoint = Endpoint::from_shared(format!("{scheme}://{}", connection.authority))?.tcp_nodelay(true);
        if use_ssl {
            let mut tls = ClientTlsConfig::new();
            if let Some(path) = certificate {
                tls = tls.ca_certificate(Certificate::from_pem(std::fs::read(path)?));
            }
            endpoint = endpoint.tls_config(tls)?;
        }
        let mut headers = Vec::new();
        for (key, value) in &connection.headers {
            headers.push((key.parse()?, value.parse()?));
        }
        if let Some(token) = &connection.token {
            headers.push(("authorization".parse()?, format!("Bearer {token}").parse()?));
        }
        let channel = endpoint.connect().await.map_err(|error| format!("cannot reach {url}: {}", cause(&error)))?;
        let client = SparkConnectServiceClient::new(channel).max_decoding_message_size(usize::MAX);
        Ok(Self { client, session_id: Uuid::new_v4().to_string(), user_id: connection.user_id, headers })
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        for (key, value) in &self.headers {
            request.metadata_mut().insert(key.clone(), value.clone());
        }
        request
    }

    fn user(&self) -> Option<proto::UserContext> {
        let (user_id, user_name) = (self.user_id.clone(), self.user_id.clone());
        Some(proto::UserContext { user_id, user_name, extensions: Vec::new() })
    }

    async fn execute(&self, plan: proto::plan::OpType) -> Result<Vec<ResponseType>, Failure> {
        let request = proto::ExecutePlanRequest {
            session_id: self.session_id.clone(),
            user_context: self.user(),
            plan: Some(proto::Plan { op_type: Some(plan) }),
            client_type: Some(format!("firesteel/{}", env!("CARGO_PKG_VERSION"))),
            ..Default::default()
        };
        let mut client = self.client.clone();
        let mut stream = client.execute_plan(self.request(request)).await.map_err(message)?.into_inner();
        let mut responses = Vec::new();
        while let Some(response) = stream.message().await.map_err(message)? {
            responses.extend(response.response_type);
        }
        Ok(responses)
    }
}

/// The innermost reason of an error.
fn cause(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

fn message(status: Status) -> Failure {
    status.message().to_string().into()
}

#[async_trait]
impl Backend for Remote {
    async fn run(&self, text: String, display: Display) -> Result<String, Failure> {
        let sql = proto::Sql { query: text, ..Default::default() };
        let input = proto::Relation { common: None, rel_type: Some(RelType::Sql(sql)) };
        let command = proto::SqlCommand { input: Some(input), ..Default::default() };
        let command = proto::Command { command_type: Some(proto::command::CommandType::SqlCommand(command)) };
        let responses = self.execute(proto::plan::OpType::Command(command)).await?;
        let result = responses.into_iter().find_map(|response| match response {
            ResponseType::SqlCommandResult(result) => result.relation,
            _ => None,
        });
        let Some(result) = result else {
            return Ok(String::new());
        };
        if let Some(RelType::LocalRelation(local)) = &result.rel_type
            && let Some(data) = &local.data
            && StreamReader::try_new(data.as_ref(), None)?.schema().fields().is_empty()
        {
            return Ok(String::new());
        }
        let show = proto::ShowString {
            input: Some(Box::new(result)),
            num_rows: display.rows,
            truncate: display.truncate,
            vertical: false,
        };
        let show = proto::Relation { common: None, rel_type: Some(RelType::ShowString(Box::new(show))) };
        let mut shown = String::new();
        for response in self.execute(proto::plan::OpType::Root(show)).await? {
            if let ResponseType::ArrowBatch(batch) = response {
                for batch in StreamReader::try_new(batch.data.as_ref(), None)? {
                    shown.push_str(&table(&batch?));
                }
            }
        }
        Ok(shown)
    }

    async fn close(&self) {
        let request = proto::ReleaseSessionRequest {
            session_id: self.session_id.clone(),
            user_context: self.user(),
            ..Default::default()
        };
        // The server forgets idle sessions anyway.
        let _ = self.client.clone().release_session(self.request(request)).await;
    }
}
