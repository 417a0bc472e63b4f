//! Answers about streaming queries as messages.

use firesteel_engine::StreamingReply;
use firesteel_engine::streaming::{EventKind, QueryException, QueryFacts, StreamingEvent};
use firesteel_proto::connect as proto;
use proto::execute_plan_response::ResponseType;
use proto::streaming_query_command_result::{self as query, ResultType as QueryResult};
use proto::streaming_query_manager_command_result::{self as manager, ResultType as ManagerResult};

/// The message of an answer.
pub fn response(reply: StreamingReply) -> ResponseType {
    match reply {
        StreamingReply::Started { facts, event } => {
            ResponseType::WriteStreamOperationStartResult(proto::WriteStreamOperationStartResult {
                name: facts.name.clone().unwrap_or_default(),
                query_id: Some(id(facts)),
                query_started_event_json: event,
            })
        }
        StreamingReply::Status(status) => of_query(QueryResult::Status(query::StatusResult {
            status_message: status.message,
            is_data_available: status.is_data_available,
            is_trigger_active: status.is_trigger_active,
            is_active: status.is_active,
        })),
        StreamingReply::Progress(recent_progress_json) => {
            of_query(QueryResult::RecentProgress(query::RecentProgressResult { recent_progress_json }))
        }
        StreamingReply::Explained(result) => of_query(QueryResult::Explain(query::ExplainResult { result })),
        StreamingReply::Exception(exception) => of_query(QueryResult::Exception(failure(exception))),
        StreamingReply::Terminated(terminated) => {
            of_query(QueryResult::AwaitTermination(query::AwaitTerminationResult { terminated }))
        }
        StreamingReply::Done => ResponseType::StreamingQueryCommandResult(Default::default()),
        StreamingReply::Queries(queries) => {
            let active_queries = queries.into_iter().map(instance).collect();
            of_manager(Some(ManagerResult::Active(manager::ActiveResult { active_queries })))
        }
        StreamingReply::Query(found) => of_manager(found.map(|facts| ManagerResult::Query(instance(facts)))),
        StreamingReply::AnyTerminated(terminated) => {
            of_manager(Some(ManagerResult::AwaitAnyTermination(manager::AwaitAnyTerminationResult { terminated })))
        }
        StreamingReply::Reset => of_manager(Some(ManagerResult::ResetTerminated(true))),
        StreamingReply::Listeners(listener_ids) => {
            of_manager(Some(ManagerResult::ListListeners(manager::ListStreamingQueryListenerResult { listener_ids })))
        }
    }
}

fn of_query(result: QueryResult) -> ResponseType {
    ResponseType::StreamingQueryCommandResult(proto::StreamingQueryCommandResult {
        query_id: None,
        result_type: Some(result),
    })
}

fn of_manager(result_type: Option<ManagerResult>) -> ResponseType {
    ResponseType::StreamingQueryManagerCommandResult(proto::StreamingQueryManagerCommandResult { result_type })
}

fn id(facts: QueryFacts) -> proto::StreamingQueryInstanceId {
    proto::StreamingQueryInstanceId { id: facts.id, run_id: facts.run_id }
}

fn instance(facts: QueryFacts) -> manager::StreamingQueryInstance {
    manager::StreamingQueryInstance { name: facts.name.clone(), id: Some(id(facts)) }
}

fn failure(exception: Option<QueryException>) -> query::ExceptionResult {
    match exception {
        Some(exception) => query::ExceptionResult {
            exception_message: Some(exception.message),
            error_class: Some(exception.condition),
            stack_trace: None,
        },
        None => query::ExceptionResult::default(),
    }
}

/// What tells a client that it will be told of events.
pub fn listening() -> proto::ExecutePlanResponse {
    events(proto::StreamingQueryListenerEventsResult { listener_bus_listener_added: Some(true), ..Default::default() })
}

/// The message of an event.
pub fn event(event: StreamingEvent) -> proto::ExecutePlanResponse {
    let kind = match event.kind {
        EventKind::Progress => proto::StreamingQueryEventType::QueryProgressEvent,
        EventKind::Terminated => proto::StreamingQueryEventType::QueryTerminatedEvent,
        EventKind::Idle => proto::StreamingQueryEventType::QueryIdleEvent,
    };
    let event = proto::StreamingQueryListenerEvent { event_json: event.json, event_type: i32::from(kind) };
    events(proto::StreamingQueryListenerEventsResult { events: vec![event], ..Default::default() })
}

fn events(result: proto::StreamingQueryListenerEventsResult) -> proto::ExecutePlanResponse {
    let response_type = Some(ResponseType::StreamingQueryListenerEventsResult(result));
    proto::ExecutePlanResponse { response_type, ..Default::default() }
}
