//! What one handle of a session adds to the calls that it makes.

use super::SparkSession;
use crate::DataFrame;
use crate::error::{Error, Result};
use crate::transport::Answer;
use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tonic::{Request, Response, Status};

/// Deadline and tags of a handle; the session's own come on top.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    pub(crate) deadline: Option<Duration>,
    pub(crate) tags: Arc<BTreeSet<String>>,
}

impl SparkSession {
    /// The same session, whose calls and operations may take so long; then they fail, and are cancelled.
    ///
    /// ```
    /// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
    /// let patient = spark.with_deadline(std::time::Duration::from_secs(60));
    /// assert_eq!(patient.range(0, 5).count().await?, 5);
    /// # Ok(()) }
    /// # firesteel_client::doc_test(run);
    /// ```
    #[must_use]
    pub fn with_deadline(&self, limit: Duration) -> SparkSession {
        let scope = Scope { deadline: Some(limit), ..self.scope.clone() };
        SparkSession { scope, ..self.clone() }
    }

    /// The same session, whose operations have a tag, by which [`interrupt_tag`](Self::interrupt_tag) finds them.
    ///
    /// Unlike [`add_tag`](Self::add_tag), this leaves other tasks of the session alone.
    pub fn with_tag(&self, tag: impl Into<String>) -> Result<SparkSession> {
        let mut tags = BTreeSet::clone(&self.scope.tags);
        tags.insert(checked_tag(tag.into())?);
        let scope = Scope { tags: Arc::new(tags), ..self.scope.clone() };
        Ok(SparkSession { scope, ..self.clone() })
    }

    /// Marks operations of the session that start from now on.
    pub fn add_tag(&self, tag: impl Into<String>) -> Result<()> {
        self.transport.tags().insert(checked_tag(tag.into())?);
        Ok(())
    }

    /// Stops marking operations with a tag.
    pub fn remove_tag(&self, tag: &str) {
        self.transport.tags().remove(tag);
    }

    /// The tags of operations that start now.
    pub fn tags(&self) -> BTreeSet<String> {
        self.transport.tags().union(&self.scope.tags).cloned().collect()
    }

    /// Stops marking operations of the session.
    pub fn clear_tags(&self) {
        self.transport.tags().clear();
    }

    /// How long an operation, or a call, of this handle may take.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.scope.deadline.or(self.transport.options.deadline)
    }

    /// A call with one answer, tried again as the policies say, within the deadline.
    pub(crate) async fn call<Q, R, F>(
        &self,
        message: Q,
        method: impl Fn(crate::transport::Stub, Request<Q>) -> F,
    ) -> Result<R>
    where
        Q: Clone,
        R: Answer,
        F: Future<Output = Result<Response<R>, Status>>,
    {
        self.within(self.transport.call(message, method)).await
    }

    /// What a future gives, unless the deadline passes before.
    pub(crate) async fn within<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        match self.deadline() {
            None => future.await,
            Some(limit) => match tokio::time::timeout(limit, future).await {
                Ok(answer) => answer,
                Err(_) => Err(Error::DeadlineExceeded(limit)),
            },
        }
    }
}

impl DataFrame {
    /// The frame, whose actions may take so long; see [`SparkSession::with_deadline`].
    #[must_use]
    pub fn with_deadline(&self, limit: Duration) -> DataFrame {
        DataFrame { session: self.session.with_deadline(limit), plan: Arc::clone(&self.plan) }
    }

    /// The frame, whose actions have a tag; see [`SparkSession::with_tag`].
    pub fn with_tag(&self, tag: impl Into<String>) -> Result<DataFrame> {
        Ok(DataFrame { session: self.session.with_tag(tag)?, plan: Arc::clone(&self.plan) })
    }
}

/// A tag that servers take.
fn checked_tag(tag: String) -> Result<String> {
    if tag.is_empty() || tag.contains(',') {
        return Err(Error::invalid(format!("not a tag, which has characters but no comma: {tag:?}")));
    }
    Ok(tag)
}
