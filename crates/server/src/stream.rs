//! The stream of responses that a client reads.

use crate::operations::Operation;
use crate::response_buffer::{Consumer, Next};
use crate::sessions::ServerSession;
use firesteel_error::SparkError;
use firesteel_proto::connect::ExecutePlanResponse;
use futures::stream::{self, BoxStream, StreamExt};
use std::sync::Arc;
use tokio::time::Instant;
use tonic::Status;

/// One attachment of a client to an operation.
struct Attachment {
    session: Arc<ServerSession>,
    operation: Arc<Operation>,
    consumer: Consumer,
    sent: usize,
    started: Instant,
}

/// The stream of a consumer. Streams of reattachable operations are cut after
/// some time and size; clients then come back for the rest.
pub fn responses(
    session: Arc<ServerSession>,
    operation: Arc<Operation>,
    consumer: Consumer,
) -> BoxStream<'static, Result<ExecutePlanResponse, Status>> {
    let attachment = Attachment { session, operation, consumer, sent: 0, started: Instant::now() };
    stream::unfold(Some(attachment), |attachment| async {
        let mut attachment = attachment?;
        match attachment.next().await? {
            Ok(response) => Some((Ok(response), Some(attachment))),
            Err(status) => Some((Err(status), None)),
        }
    })
    .boxed()
}

impl Attachment {
    async fn next(&mut self) -> Option<Result<ExecutePlanResponse, Status>> {
        let next = if self.operation.delivery.is_reattachable {
            if self.session.limits.stream_size.is_some_and(|most| self.sent >= most) {
                return None;
            }
            match self.session.limits.stream_duration {
                Some(span) => tokio::time::timeout_at(self.started + span, self.consumer.next()).await.ok()?,
                None => self.consumer.next().await,
            }
        } else {
            self.consumer.next().await
        };
        match next {
            Next::Response(response, bytes) => {
                self.sent += bytes;
                Some(Ok(*response))
            }
            Next::Complete => None,
            Next::Failed(error) => Some(Err(self.session.status(&error))),
            Next::Disconnected => Some(Err(self.session.status(&SparkError::new("INVALID_CURSOR.DISCONNECTED")))),
        }
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        // Nobody can come back for what is not reattachable.
        if !self.operation.delivery.is_reattachable && self.consumer.is_current() {
            self.session.operations.release(&self.operation.id);
        }
    }
}
