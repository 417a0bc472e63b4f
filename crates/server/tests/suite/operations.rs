//! Operations: responses, reattaching, releasing, interrupting.

use crate::harness::{Harness, Session, assert_fails, collect, condition, endless, error_of, kinds, range, rows, sql};
use firesteel_proto::connect as proto;
use firesteel_server::limits::Limits;
use proto::get_status_response::operation_status::OperationState;
use proto::interrupt_request::{Interrupt, InterruptType};
use std::time::Duration;
use uuid::Uuid;

#[tokio::test(flavor = "multi_thread")]
async fn responses_come_in_order() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let id = session.touch(None).await.unwrap();
    let responses = session.run(session.request(range(5))).await.unwrap();
    assert_eq!(kinds(&responses), ["schema", "batch", "metrics"]);
    assert_eq!(rows(&responses), 5);
    let responses = session.run(session.reattachable(range(0))).await.unwrap();
    assert_eq!(kinds(&responses), ["schema", "batch", "metrics", "complete"]);
    assert_eq!(rows(&responses), 0);
    for response in &responses {
        assert_eq!((&response.session_id, &response.server_side_session_id), (&session.id, &id));
        assert!(Uuid::parse_str(&response.response_id).is_ok());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_of_sql_is_echoed() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let responses = session.run(session.reattachable(sql("select 1 as a"))).await.unwrap();
    assert_eq!(kinds(&responses), ["sql", "complete"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_can_come_back_after_every_response() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    session.set("spark.sql.execution.arrow.maxRecordsPerBatch", "10").await.unwrap();
    let request = session.reattachable(range(95));
    let id = request.operation_id.clone().unwrap();
    let all = session.run(request).await.unwrap();
    assert_eq!(rows(&all), 95);
    assert!(all.len() >= 11, "{:?}", kinds(&all));
    for (index, response) in all.iter().enumerate() {
        let rest = collect(session.reattach(&id, Some(&response.response_id)).await.unwrap()).await.unwrap();
        assert_eq!(rest, all[index + 1..]);
    }
    assert_eq!(collect(session.reattach(&id, None).await.unwrap()).await.unwrap(), all);
    assert_fails(session.reattach(&id, Some("x")).await, "INVALID_CURSOR.POSITION_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_released_is_gone() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let request = session.reattachable(range(5));
    let id = request.operation_id.clone().unwrap();
    let all = session.run(request.clone()).await.unwrap();
    assert_eq!(session.release(&id, Some(&all[1].response_id)).await.unwrap().as_deref(), Some(id.as_str()));
    assert_fails(session.reattach(&id, Some(&all[0].response_id)).await, "INVALID_CURSOR.POSITION_NOT_AVAILABLE");
    assert_fails(session.reattach(&id, None).await, "INVALID_CURSOR.POSITION_NOT_AVAILABLE");
    let unknown = Uuid::new_v4().to_string();
    assert_fails(session.release(&id, Some(&unknown)).await, "INVALID_CURSOR.POSITION_NOT_FOUND");
    assert_eq!(session.release(&id, None).await.unwrap().as_deref(), Some(id.as_str()));
    assert_eq!(session.release(&id, None).await.unwrap(), None);
    assert_eq!(session.release(&unknown, None).await.unwrap(), None);
    assert_fails(session.reattach(&id, None).await, "INVALID_HANDLE.OPERATION_NOT_FOUND");
    assert_fails(session.run(request).await, "INVALID_HANDLE.OPERATION_ABANDONED");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_request_attaches_and_another_plan_is_refused() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let request = session.reattachable(range(5));
    let all = session.run(request.clone()).await.unwrap();
    assert_eq!(session.run(request.clone()).await.unwrap(), all);
    let other = proto::ExecutePlanRequest { plan: session.request(range(6)).plan, ..request };
    assert_fails(session.run(other).await, "INVALID_HANDLE.OPERATION_ALREADY_EXISTS");
    let malformed = proto::ExecutePlanRequest { operation_id: Some("x".into()), ..session.request(range(1)) };
    assert_fails(session.run(malformed).await, "INVALID_HANDLE.FORMAT");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_consumer_disconnects_the_first() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let request = session.reattachable(endless());
    let id = request.operation_id.clone().unwrap();
    let mut first = session.start(request).await.unwrap();
    let last = first.message().await.unwrap().unwrap().response_id;
    let mut second = session.reattach(&id, Some(&last)).await.unwrap();
    assert!(second.message().await.unwrap().is_some());
    assert_eq!(condition(&error_of(first).await.unwrap()), "INVALID_CURSOR.DISCONNECTED");
    session.release(&id, None).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_without_the_option_cannot_be_reattached() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let request = session.request(endless());
    let id = request.operation_id.clone().unwrap();
    let mut stream = session.start(request).await.unwrap();
    stream.message().await.unwrap();
    assert_fails(session.reattach(&id, None).await, "INVALID_CURSOR.NOT_REATTACHABLE");
    drop(stream);
    // The client is gone, and with it the operation.
    for _ in 0..100 {
        let status = session.reattach(&id, None).await.unwrap_err();
        if condition(&status) == "INVALID_HANDLE.OPERATION_NOT_FOUND" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the operation goes on without a client");
}

#[tokio::test(flavor = "multi_thread")]
async fn long_streams_are_cut_and_resumed() {
    let server = Harness::with(Limits { stream_size: Some(2000), ..Limits::default() }, None).await;
    let mut session = server.session().await;
    session.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100").await.unwrap();
    let request = session.reattachable(range(1000));
    let id = request.operation_id.clone().unwrap();
    let mut all = session.run(request).await.unwrap();
    let mut cuts = 0;
    while kinds(&all).last() != Some(&"complete") {
        cuts += 1;
        let last = all.last().unwrap().response_id.clone();
        all.extend(collect(session.reattach(&id, Some(&last)).await.unwrap()).await.unwrap());
    }
    assert_eq!(rows(&all), 1000);
    assert!(cuts > 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn old_streams_are_cut() {
    let limits = Limits { stream_duration: Some(Duration::from_millis(100)), ahead_buffer: 100, ..Limits::default() };
    let server = Harness::with(limits, None).await;
    let mut session = server.session().await;
    // Far more than can be sent in that time.
    let responses = session.run(session.reattachable(endless())).await.unwrap();
    assert_ne!(kinds(&responses).last(), Some(&"complete"));
}

#[tokio::test(flavor = "multi_thread")]
async fn abandoned_operations_are_dropped() {
    let limits = Limits {
        detached_timeout: Duration::from_millis(100),
        operation_check: Duration::from_millis(20),
        ..Limits::default()
    };
    let server = Harness::with(limits, None).await;
    let mut session = server.session().await;
    let request = session.reattachable(endless());
    let id = request.operation_id.clone().unwrap();
    let mut stream = session.start(request.clone()).await.unwrap();
    stream.message().await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    drop(stream);
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_fails(session.reattach(&id, None).await, "INVALID_HANDLE.OPERATION_ABANDONED");
    assert_fails(session.run(request).await, "INVALID_HANDLE.OPERATION_ABANDONED");
}

async fn interrupt(
    session: &mut Session,
    kind: InterruptType,
    what: Option<Interrupt>,
) -> Result<Vec<String>, tonic::Status> {
    let request = proto::InterruptRequest {
        session_id: session.id.clone(),
        user_context: session.context(),
        interrupt_type: kind.into(),
        interrupt: what,
        ..Default::default()
    };
    Ok(session.client.interrupt(request).await?.into_inner().interrupted_ids)
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupts_pick_by_tag_id_or_all() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let mut streams = Vec::new();
    let mut ids = Vec::new();
    for tag in ["a", "b", "c"] {
        let request = proto::ExecutePlanRequest { tags: vec![tag.to_string()], ..session.reattachable(endless()) };
        ids.push(request.operation_id.clone().unwrap());
        let mut stream = session.start(request).await.unwrap();
        stream.message().await.unwrap();
        streams.push(stream);
    }
    let tag = |tag: &str| Some(Interrupt::OperationTag(tag.to_string()));
    let id = |id: &str| Some(Interrupt::OperationId(id.to_string()));
    assert!(interrupt(&mut session, InterruptType::Tag, tag("x")).await.unwrap().is_empty());
    assert!(interrupt(&mut session, InterruptType::OperationId, id("x")).await.unwrap().is_empty());
    assert_eq!(interrupt(&mut session, InterruptType::Tag, tag("a")).await.unwrap(), [ids[0].clone()]);
    assert!(interrupt(&mut session, InterruptType::Tag, tag("a")).await.unwrap().is_empty());
    assert_eq!(interrupt(&mut session, InterruptType::OperationId, id(&ids[1])).await.unwrap(), [ids[1].clone()]);
    assert_eq!(interrupt(&mut session, InterruptType::All, None).await.unwrap(), [ids[2].clone()]);
    assert_fails(interrupt(&mut session, InterruptType::Unspecified, None).await, "UNSUPPORTED_FEATURE.INTERRUPT_TYPE");
    for stream in streams {
        assert_eq!(condition(&error_of(stream).await.unwrap()), "OPERATION_CANCELED");
    }
    // The error stays for a client that missed it.
    let stream = session.reattach(&ids[0], None).await;
    let status = match stream {
        Ok(stream) => error_of(stream).await.unwrap(),
        Err(status) => status,
    };
    assert!(["OPERATION_CANCELED", "INVALID_CURSOR.POSITION_NOT_AVAILABLE"].contains(&condition(&status).as_str()));
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_must_be_words() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    for tag in ["", "a,b"] {
        let request = proto::ExecutePlanRequest { tags: vec![tag.to_string()], ..session.request(range(1)) };
        let status = session.run(request).await.unwrap_err();
        assert_eq!(crate::harness::info(&status).reason, "java.lang.IllegalArgumentException");
        assert_eq!(condition(&status), "");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn states_of_operations_are_told() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let (good, bad) = (session.reattachable(range(1)), session.reattachable(sql("select nonsense(")));
    session.run(good.clone()).await.unwrap();
    session.run(bad.clone()).await.unwrap_err();
    let running = session.reattachable(endless());
    let mut stream = session.start(running.clone()).await.unwrap();
    stream.message().await.unwrap();
    let unknown = Uuid::new_v4().to_string();
    let ids: Vec<_> = [good, bad, running].iter().filter_map(|request| request.operation_id.clone()).collect();
    let mut asked = ids.clone();
    asked.push(unknown);
    let request = |ids: Option<Vec<String>>| proto::GetStatusRequest {
        session_id: session.id.clone(),
        user_context: session.context(),
        operation_status: ids.map(|operation_ids| proto::get_status_request::OperationStatusRequest {
            operation_ids,
            ..Default::default()
        }),
        ..Default::default()
    };
    let (none, all, some) = (request(None), request(Some(Vec::new())), request(Some(asked)));
    assert!(session.client.get_status(none).await.unwrap().into_inner().operation_statuses.is_empty());
    assert_eq!(session.client.get_status(all).await.unwrap().into_inner().operation_statuses.len(), 3);
    let states: Vec<_> = session.client.get_status(some).await.unwrap().into_inner().operation_statuses;
    let states: Vec<_> = states.iter().map(|status| status.state()).collect();
    let expected =
        [OperationState::Succeeded, OperationState::Failed, OperationState::Running, OperationState::Unknown];
    assert_eq!(states, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn shutting_down_ends_streams_with_an_error() {
    let mut server = Harness::start().await;
    let mut session = server.session().await;
    let mut stream = session.start(session.reattachable(endless())).await.unwrap();
    stream.message().await.unwrap();
    server.stop.take().unwrap().send(()).unwrap();
    assert_eq!(condition(&error_of(stream).await.unwrap()), "OPERATION_CANCELED");
    tokio::time::timeout(Duration::from_secs(8), server.done).await.unwrap().unwrap();
}
