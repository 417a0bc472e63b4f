//! Operations of a session: interrupting them, and asking what became of them.

use super::SparkSession;
use crate::error::Result;
use firesteel_proto::connect as proto;
use proto::interrupt_request::{Interrupt, InterruptType};

/// What became of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationStatus {
    pub operation_id: String,
    pub state: OperationState,
}

/// The state of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationState {
    Unknown,
    Running,
    Terminating,
    Succeeded,
    Failed,
    Cancelled,
}

impl SparkSession {
    /// Cancels all operations of the session; their ids.
    pub async fn interrupt_all(&self) -> Result<Vec<String>> {
        self.interrupt(InterruptType::All, None).await
    }

    /// Cancels the operations with a tag; their ids.
    pub async fn interrupt_tag(&self, tag: impl Into<String>) -> Result<Vec<String>> {
        self.interrupt(InterruptType::Tag, Some(Interrupt::OperationTag(tag.into()))).await
    }

    /// Cancels one operation; its id, if it still ran.
    pub async fn interrupt_operation(&self, operation_id: impl Into<String>) -> Result<Vec<String>> {
        self.interrupt(InterruptType::OperationId, Some(Interrupt::OperationId(operation_id.into()))).await
    }

    async fn interrupt(&self, kind: InterruptType, interrupt: Option<Interrupt>) -> Result<Vec<String>> {
        let request = proto::InterruptRequest {
            session_id: self.transport.session_id.clone(),
            client_observed_server_side_session_id: self.transport.observed_session(),
            user_context: self.transport.user(),
            client_type: self.transport.client_type(),
            interrupt_type: kind.into(),
            interrupt,
        };
        let answer = self.call(request, |mut stub, request| async move { stub.interrupt(request).await }).await?;
        Ok(answer.interrupted_ids)
    }

    /// The states of operations; of all that the server remembers, if none are named.
    pub async fn operation_statuses(
        &self,
        operation_ids: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Vec<OperationStatus>> {
        use proto::get_status_request::OperationStatusRequest;
        use proto::get_status_response::operation_status::OperationState as State;
        let operation_ids = operation_ids.into_iter().map(Into::into).collect();
        let request = proto::GetStatusRequest {
            session_id: self.transport.session_id.clone(),
            client_observed_server_side_session_id: self.transport.observed_session(),
            user_context: self.transport.user(),
            client_type: self.transport.client_type(),
            operation_status: Some(OperationStatusRequest { operation_ids, extensions: Vec::new() }),
            extensions: Vec::new(),
        };
        let answer = self.call(request, |mut stub, request| async move { stub.get_status(request).await }).await?;
        let status = |status: proto::get_status_response::OperationStatus| OperationStatus {
            state: match status.state() {
                State::Unspecified | State::Unknown => OperationState::Unknown,
                State::Running => OperationState::Running,
                State::Terminating => OperationState::Terminating,
                State::Succeeded => OperationState::Succeeded,
                State::Failed => OperationState::Failed,
                State::Cancelled => OperationState::Cancelled,
            },
            operation_id: status.operation_id,
        };
        Ok(answer.operation_statuses.into_iter().map(status).collect())
    }
}
