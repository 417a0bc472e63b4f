//! Interrupt: cancels operations of a session.

use crate::sessions::ServerSession;
use firesteel_error::{Result, SparkError};
use firesteel_proto::connect::InterruptRequest;
use firesteel_proto::connect::interrupt_request::{Interrupt, InterruptType};

/// Cancels what the request picks; the ids of those that were running.
pub fn interrupt(session: &ServerSession, request: &InterruptRequest) -> Result<Vec<String>> {
    let kind = InterruptType::try_from(request.interrupt_type);
    match (kind, &request.interrupt) {
        (Ok(InterruptType::All), _) => Ok(session.operations.cancel(|_| true)),
        (Ok(InterruptType::Tag), Some(Interrupt::OperationTag(tag))) => {
            Ok(session.operations.cancel(|operation| operation.tags.contains(tag)))
        }
        (Ok(InterruptType::OperationId), Some(Interrupt::OperationId(id))) => {
            Ok(session.operations.cancel(|operation| operation.id == *id))
        }
        (Ok(InterruptType::Tag | InterruptType::OperationId), _) => Ok(Vec::new()),
        _ => Err(SparkError::new("UNSUPPORTED_FEATURE.INTERRUPT_TYPE")
            .with("interruptType", kind.map_or("UNRECOGNIZED", |kind| kind.as_str_name()))),
    }
}
