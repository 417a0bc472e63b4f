//! Sessions: who holds which, since when, and until when.

use crate::artifacts::ArtifactStore;
use crate::errors::{self, ErrorScope, ErrorStore};
use crate::limits::Limits;
use crate::operations::{OperationTable, handle, is_uuid};
use crate::tombstones::Tombstones;
use firesteel_engine::{Engine, Session};
use firesteel_error::{Result, SparkError};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use tonic::Status;
use uuid::Uuid;

/// What a session is found by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionKey {
    /// May be empty.
    pub user_id: String,
    /// A UUID, as the client wrote it.
    pub session_id: String,
}

/// A session and what the service keeps for it.
pub struct ServerSession {
    /// Who holds it.
    pub key: SessionKey,
    /// The id that tells this session from an earlier one under the same key.
    pub server_side_id: String,
    /// The engine's part.
    pub engine: Arc<Session>,
    /// Errors whose details may be fetched.
    pub errors: ErrorStore,
    /// Uploaded files.
    pub artifacts: ArtifactStore,
    /// Running operations.
    pub operations: OperationTable,
    /// The service's bounds.
    pub limits: Arc<Limits>,
    last_access: Mutex<Instant>,
}

impl ServerSession {
    fn new(key: SessionKey, engine: Arc<Session>, limits: Arc<Limits>) -> Self {
        Self {
            key,
            server_side_id: Uuid::new_v4().to_string(),
            engine,
            errors: ErrorStore::new(&limits),
            artifacts: ArtifactStore::default(),
            operations: OperationTable::new(limits.clone()),
            limits,
            last_access: Mutex::new(Instant::now()),
        }
    }

    /// The status of an error of this session; its details can be fetched.
    pub fn status(&self, error: &SparkError) -> Status {
        let scope = ErrorScope { store: &self.errors, config: self.engine.config() };
        errors::status(error, Some(scope), &self.limits)
    }

    /// Notes that the session is in use.
    pub fn touch(&self) {
        *self.last_access.lock() = Instant::now();
    }

    fn is_idle(&self) -> bool {
        let Some(timeout) = self.limits.session_timeout else {
            return false;
        };
        if self.operations.is_busy() || self.engine.streaming().is_busy() {
            self.touch();
        }
        self.last_access.lock().elapsed() >= timeout
    }

    /// Fails if the client has seen another session under this key.
    fn check_observed(&self, observed: Option<&str>) -> Result<()> {
        match observed {
            Some(id) if !id.is_empty() && id != self.server_side_id => {
                Err(handle("INVALID_HANDLE.SESSION_CHANGED", &self.key.session_id))
            }
            _ => Ok(()),
        }
    }

    fn close(&self) {
        self.operations.close();
        self.artifacts.clear();
        self.engine.close();
    }
}

/// All sessions of the server.
pub struct SessionManager {
    engine: Arc<Engine>,
    limits: Arc<Limits>,
    inner: Mutex<Inner>,
}

struct Inner {
    live: HashMap<SessionKey, Arc<ServerSession>>,
    closed: Tombstones<SessionKey, ()>,
}

impl SessionManager {
    /// A manager without sessions.
    pub fn new(engine: Arc<Engine>, limits: Arc<Limits>) -> Self {
        let inner = Inner { live: HashMap::new(), closed: Tombstones::new(limits.session_tombstones) };
        Self { engine, limits, inner: Mutex::new(inner) }
    }

    /// The service's bounds.
    pub fn limits(&self) -> &Arc<Limits> {
        &self.limits
    }

    /// The status of an error that belongs to no session.
    pub fn status(&self, error: &SparkError) -> Status {
        errors::status(error, None, &self.limits)
    }

    /// The session of a key, made if there is none.
    pub fn get_or_create(&self, key: SessionKey, observed: Option<&str>) -> Result<Arc<ServerSession>, Status> {
        self.check_format(&key)?;
        let session = match self.peek(&key).map_err(|error| self.status(&error))? {
            Some(session) => session,
            None => self.create(key).map_err(|error| self.status(&error))?,
        };
        self.accept(session, observed)
    }

    /// The session of a key that must exist.
    pub fn get(&self, key: &SessionKey, observed: Option<&str>) -> Result<Arc<ServerSession>, Status> {
        self.check_format(key)?;
        match self.peek(key).map_err(|error| self.status(&error))? {
            Some(session) => self.accept(session, observed),
            None => Err(self.status(&handle("INVALID_HANDLE.SESSION_NOT_FOUND", &key.session_id))),
        }
    }

    fn accept(&self, session: Arc<ServerSession>, observed: Option<&str>) -> Result<Arc<ServerSession>, Status> {
        session.touch();
        match session.check_observed(observed) {
            Ok(()) => Ok(session),
            Err(error) => Err(session.status(&error)),
        }
    }

    fn check_format(&self, key: &SessionKey) -> Result<(), Status> {
        if is_uuid(&key.session_id) {
            return Ok(());
        }
        Err(self.status(&handle("INVALID_HANDLE.FORMAT", &key.session_id)))
    }

    /// The session of a key, if there is one. Fails if it has been closed.
    pub fn peek(&self, key: &SessionKey) -> Result<Option<Arc<ServerSession>>> {
        let inner = self.inner.lock();
        match inner.live.get(key) {
            Some(session) => Ok(Some(session.clone())),
            None if inner.closed.get(key).is_some() => Err(handle("INVALID_HANDLE.SESSION_CLOSED", &key.session_id)),
            None => Ok(None),
        }
    }

    fn create(&self, key: SessionKey) -> Result<Arc<ServerSession>> {
        let engine = self.engine.create_session(&key.user_id, &key.session_id)?;
        let session = Arc::new(ServerSession::new(key.clone(), engine, self.limits.clone()));
        let mut inner = self.inner.lock();
        if let Some(other) = inner.live.get(&key) {
            // Another request was faster.
            session.engine.close();
            return Ok(other.clone());
        }
        tracing::debug!(session = %key.session_id, "session created");
        inner.live.insert(key, session.clone());
        Ok(session)
    }

    /// Ends a session; unknown ones are ended already. With `allow_reconnect`
    /// its key may be used again.
    pub fn release(&self, key: &SessionKey, allow_reconnect: bool) -> Result<Option<Arc<ServerSession>>, Status> {
        self.check_format(key)?;
        let session = {
            let mut inner = self.inner.lock();
            let session = inner.live.remove(key);
            if !allow_reconnect && session.is_some() {
                inner.closed.insert(key.clone(), ());
            }
            session
        };
        if let Some(session) = &session {
            session.close();
            tracing::debug!(session = %key.session_id, "session released");
        }
        Ok(session)
    }

    /// A copy of a session under another id of the same user.
    pub fn clone_session(&self, source: &ServerSession, new_id: Option<String>) -> Result<Arc<ServerSession>> {
        let id = new_id.filter(|id| !id.is_empty()).unwrap_or_else(|| Uuid::new_v4().to_string());
        let target = |condition| SparkError::new(condition).with("targetSessionId", &id);
        if !is_uuid(&id) {
            return Err(target("INVALID_CLONE_SESSION_REQUEST.TARGET_SESSION_ID_FORMAT"));
        }
        let key = SessionKey { user_id: source.key.user_id.clone(), session_id: id.clone() };
        {
            let inner = self.inner.lock();
            if inner.live.contains_key(&key) {
                return Err(target("INVALID_CLONE_SESSION_REQUEST.TARGET_SESSION_ID_ALREADY_EXISTS"));
            }
            if inner.closed.get(&key).is_some() {
                return Err(target("INVALID_CLONE_SESSION_REQUEST.TARGET_SESSION_ID_ALREADY_CLOSED"));
            }
        }
        let engine = source.engine.clone_as(&id)?;
        let session = Arc::new(ServerSession::new(key.clone(), engine, self.limits.clone()));
        session.artifacts.copy_from(&source.artifacts)?;
        session.show_python_files();
        let mut inner = self.inner.lock();
        if inner.live.contains_key(&key) {
            session.close();
            return Err(target("INVALID_CLONE_SESSION_REQUEST.TARGET_SESSION_ID_ALREADY_EXISTS"));
        }
        inner.live.insert(key, session.clone());
        Ok(session)
    }

    /// Closes sessions that nobody has used for long.
    pub fn expire_idle(&self) {
        let idle: Vec<_> = {
            let mut inner = self.inner.lock();
            let keys: Vec<_> =
                inner.live.values().filter(|session| session.is_idle()).map(|session| session.key.clone()).collect();
            keys.into_iter()
                .filter_map(|key| {
                    let session = inner.live.remove(&key)?;
                    inner.closed.insert(key, ());
                    Some(session)
                })
                .collect()
        };
        for session in idle {
            tracing::info!(session = %session.key.session_id, "idle session closed");
            session.close();
        }
    }

    /// Drops operations whose clients have been away for too long.
    pub fn drop_abandoned_operations(&self) {
        for session in self.all() {
            session.operations.drop_abandoned();
        }
    }

    fn all(&self) -> Vec<Arc<ServerSession>> {
        self.inner.lock().live.values().cloned().collect()
    }

    /// Ends the running operations of all sessions, and tells how many there were.
    pub fn cancel_all(&self) -> usize {
        self.all().iter().map(|session| session.operations.cancel(|_| true).len()).sum()
    }

    /// Closes all sessions.
    pub fn close_all(&self) {
        let sessions: Vec<_> = self.inner.lock().live.drain().map(|(_, session)| session).collect();
        for session in sessions {
            session.close();
        }
    }
}
