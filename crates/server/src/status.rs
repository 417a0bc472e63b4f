//! GetStatus: the states of operations.

use crate::sessions::ServerSession;
use firesteel_proto::connect::get_status_request::OperationStatusRequest;
use firesteel_proto::connect::get_status_response::OperationStatus;
use firesteel_proto::connect::get_status_response::operation_status::OperationState;
use std::collections::HashMap;

/// The states of the operations asked for, or of all.
pub fn statuses(session: &ServerSession, request: Option<&OperationStatusRequest>) -> Vec<OperationStatus> {
    let Some(request) = request else {
        return Vec::new();
    };
    let states = session.operations.states();
    let status = |id: String, state: OperationState| OperationStatus {
        operation_id: id,
        state: state.into(),
        extensions: Vec::new(),
    };
    if request.operation_ids.is_empty() {
        return states.into_iter().map(|(id, state)| status(id, state.into())).collect();
    }
    let known: HashMap<_, _> = states.into_iter().collect();
    let state = |id: &String| known.get(id).map_or(OperationState::Unknown, |state| (*state).into());
    request.operation_ids.iter().map(|id| status(id.clone(), state(id))).collect()
}
