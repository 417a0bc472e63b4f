//! Sessions: creation, identity, release, expiry, cloning.

use crate::harness::{Harness, Session, assert_fails, condition, endless, error_of, info};
use firesteel_proto::connect as proto;
use firesteel_server::limits::Limits;
use std::time::Duration;
use uuid::Uuid;

#[tokio::test(flavor = "multi_thread")]
async fn a_session_keeps_its_server_side_id_and_users_are_apart() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let id = session.touch(None).await.unwrap();
    assert_eq!(session.touch(Some(&id)).await.unwrap(), id);
    let mut other = Session { user: "somebody else".to_string(), ..session.clone() };
    assert_ne!(other.touch(None).await.unwrap(), id);
}

#[tokio::test(flavor = "multi_thread")]
async fn session_ids_are_uuids_in_any_case() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    for id in ["", "x", "{2f1c0c5e-3b57-4c5e-9e5c-0d7f0a4c9b1a}"] {
        session.id = id.to_string();
        let status = session.touch(None).await.unwrap_err();
        assert_eq!(condition(&status), "INVALID_HANDLE.FORMAT");
        assert_eq!(info(&status).metadata["sqlState"], "HY000");
        assert!(!info(&status).metadata.contains_key("errorId"));
    }
    session.id = Uuid::new_v4().to_string().to_uppercase();
    let response = session.config(proto::config_request::operation::OpType::GetAll(Default::default())).await;
    assert_eq!(response.unwrap().session_id, session.id);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_an_earlier_session_is_told_and_the_new_one_exists() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let stale = Uuid::new_v4().to_string();
    let status = session.touch(Some(&stale)).await.unwrap_err();
    assert_eq!(condition(&status), "INVALID_HANDLE.SESSION_CHANGED");
    assert!(info(&status).metadata.contains_key("errorId"));
    assert_fails(session.reattach(&Uuid::new_v4().to_string(), None).await, "INVALID_HANDLE.OPERATION_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_released_session_is_closed_for_good() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    assert_eq!(session.release_session(false).await.unwrap(), "");
    let id = session.touch(None).await.unwrap();
    assert_eq!(session.release_session(false).await.unwrap(), id);
    assert_fails(session.touch(None).await, "INVALID_HANDLE.SESSION_CLOSED");
    assert_fails(session.reattach(&Uuid::new_v4().to_string(), None).await, "INVALID_HANDLE.SESSION_CLOSED");
    assert_eq!(session.release_session(false).await.unwrap(), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_released_for_reconnecting_comes_back_anew() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let id = session.touch(None).await.unwrap();
    session.set("spark.sql.shuffle.partitions", "7").await.unwrap();
    session.release_session(true).await.unwrap();
    assert_ne!(session.touch(None).await.unwrap(), id);
    assert_eq!(session.get("spark.sql.shuffle.partitions").await.unwrap().as_deref(), Some("200"));
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_of_a_released_session_are_disconnected() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let mut stream = session.start(session.reattachable(endless())).await.unwrap();
    stream.message().await.unwrap();
    session.release_session(false).await.unwrap();
    assert_eq!(condition(&error_of(stream).await.unwrap()), "INVALID_CURSOR.DISCONNECTED");
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_sessions_expire_and_busy_ones_do_not() {
    let limits = Limits {
        session_timeout: Some(Duration::from_millis(300)),
        session_check: Duration::from_millis(50),
        ..Limits::default()
    };
    let server = Harness::with(limits, None).await;
    let (mut idle, mut busy) = (server.session().await, server.session().await);
    idle.touch(None).await.unwrap();
    let mut stream = busy.start(busy.reattachable(endless())).await.unwrap();
    stream.message().await.unwrap();
    tokio::time::sleep(Duration::from_millis(800)).await;
    assert_fails(idle.touch(None).await, "INVALID_HANDLE.SESSION_CLOSED");
    busy.touch(None).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn tombstones_are_bounded() {
    let server = Harness::with(Limits { session_tombstones: 2, ..Limits::default() }, None).await;
    let mut sessions = Vec::new();
    for _ in 0..3 {
        let mut session = server.session().await;
        session.touch(None).await.unwrap();
        session.release_session(false).await.unwrap();
        sessions.push(session);
    }
    sessions[0].touch(None).await.unwrap();
    assert_fails(sessions[1].touch(None).await, "INVALID_HANDLE.SESSION_CLOSED");
}

async fn clone(session: &mut Session, new_id: Option<&str>) -> Result<proto::CloneSessionResponse, tonic::Status> {
    let request = proto::CloneSessionRequest {
        session_id: session.id.clone(),
        user_context: session.context(),
        new_session_id: new_id.map(str::to_string),
        ..Default::default()
    };
    Ok(session.client.clone_session(request).await?.into_inner())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clone_has_the_settings_of_its_source() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    assert_fails(clone(&mut session, None).await, "INVALID_HANDLE.SESSION_NOT_FOUND");
    session.set("spark.sql.shuffle.partitions", "7").await.unwrap();
    let response = clone(&mut session, None).await.unwrap();
    let mut copy = Session { id: response.new_session_id, ..session.clone() };
    assert_eq!(copy.get("spark.sql.shuffle.partitions").await.unwrap().as_deref(), Some("7"));
    copy.set("spark.sql.shuffle.partitions", "8").await.unwrap();
    assert_eq!(session.get("spark.sql.shuffle.partitions").await.unwrap().as_deref(), Some("7"));
    let own = session.id.clone();
    let exists = "INVALID_CLONE_SESSION_REQUEST.TARGET_SESSION_ID_ALREADY_EXISTS";
    assert_fails(clone(&mut session, Some(&own)).await, exists);
    assert_fails(clone(&mut session, Some(&copy.id)).await, exists);
    assert_fails(clone(&mut session, Some("x")).await, "INVALID_CLONE_SESSION_REQUEST.TARGET_SESSION_ID_FORMAT");
}
