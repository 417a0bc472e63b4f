//! Observations: aggregates of the rows that pass, without a second query.

use crate::error::{Error, Result, SparkError};
use firesteel_proto::connect as proto;
use firesteel_types::Literal;
use proto::execute_plan_response::ObservedMetrics;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;
use uuid::Uuid;

/// Metrics of an observation, by their names, in order.
pub type ObservedValues = Vec<(String, Literal)>;

type Outcome = std::result::Result<ObservedValues, SparkError>;

/// Collects metrics of the rows of a frame while an action runs it.
///
/// ```
/// # use firesteel_client::{Observation, functions::{col, count, lit, max}};
/// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
/// let seen = Observation::new();
/// let metrics = (count(lit(1)).alias("rows"), max("id").alias("greatest"));
/// spark.range(0, 10).observe(&seen, metrics).collect().await?;
/// let values = seen.get().await?;
/// assert_eq!(values[0], ("rows".to_string(), firesteel_client::Literal::Long(10)));
/// # Ok(()) }
/// # firesteel_client::doc_test(run);
/// ```
#[derive(Debug, Clone)]
pub struct Observation {
    name: Arc<str>,
    outcome: Arc<watch::Sender<Option<Outcome>>>,
}

impl Default for Observation {
    fn default() -> Self {
        Observation::new()
    }
}

impl Observation {
    /// An observation with a name of its own.
    pub fn new() -> Self {
        Observation::named(Uuid::new_v4().to_string())
    }

    /// An observation with a name, unique among those of a query.
    pub fn named(name: impl Into<String>) -> Self {
        Observation { name: name.into().into(), outcome: Arc::new(watch::Sender::new(None)) }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The metrics, once an action on the observed frame has ended; waits for it.
    pub async fn get(&self) -> Result<ObservedValues> {
        let mut receiver = self.outcome.subscribe();
        let outcome = receiver.wait_for(Option::is_some).await;
        let outcome = outcome.map_err(|_| Error::protocol("the observation is gone"))?.clone();
        match outcome {
            Some(Ok(values)) => Ok(values),
            Some(Err(error)) => Err(Error::Spark(Box::new(error))),
            None => Err(Error::protocol("the observation is gone")),
        }
    }
}

/// The observations of a session that wait for their metrics.
#[derive(Default)]
pub(crate) struct Observations(Mutex<HashMap<Arc<str>, Observation>>);

impl Observations {
    /// Adds an observation; the first action gives its metrics.
    pub(crate) fn add(&self, observation: &Observation) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that nobody can read any more are not kept.
        waiting.retain(|_, of| Arc::strong_count(&of.outcome) > 1);
        waiting.insert(Arc::clone(&observation.name), observation.clone());
    }

    /// Gives metrics to the observation that has their name.
    pub(crate) fn tell(&self, metrics: &ObservedMetrics) -> Result<()> {
        let observation = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(metrics.name.as_str());
        let Some(observation) = observation else {
            return Ok(());
        };
        let failed = metrics.root_error_idx.and_then(|root| crate::error::with_causes(&metrics.errors, root));
        let outcome = match failed {
            Some(error) => Err(error),
            None => {
                let values = metrics.values.iter().map(crate::types::value).collect::<Result<Vec<_>>>()?;
                Ok(metrics.keys.iter().cloned().zip(values).collect())
            }
        };
        observation.outcome.send_replace(Some(outcome));
        Ok(())
    }
}
