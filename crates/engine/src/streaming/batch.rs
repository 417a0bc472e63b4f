//! The loop of a query: what is new, through the plan, to the sink.

use super::check::OutputMode;
use super::event::{EventKind, StreamingEvent};
use super::log::Log;
use super::now_millis;
use super::progress::{self, Progress, SourceProgress};
use super::query::{QueryException, StreamingQuery};
use super::rows::{Count, placed, tables};
use super::sink::Sink;
use super::source::{Amount, Source};
use super::state::{State, Watermarks, marked};
use super::trigger::{POLL, Schedule};
use crate::observe::observed;
use crate::session::{Session, blocking};
use datafusion::catalog::TableProvider;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use firesteel_analyzer::analyzer::Observation;
use firesteel_analyzer::{Attribute, Resolved, attribute};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_plan::Relation;
use firesteel_types::{Literal, StructType};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// After so long without new rows listeners are told that a query waits.
const IDLE: Duration = Duration::from_secs(10);

/// Where a query keeps what it must remember.
pub(super) struct Checkpoint {
    pub offsets: Log,
    pub commits: Log,
    /// A folder that ends with the query.
    pub temporary: Option<TempDir>,
}

/// A query with all that its batches need.
pub(super) struct Batches {
    pub session: Arc<Session>,
    pub query: Arc<StreamingQuery>,
    pub resolved: Resolved,
    /// What is analysed anew for each batch, as it asks for the time.
    pub timed: Option<Relation>,
    pub observations: Vec<Observation>,
    pub tables: Vec<Arc<dyn TableProvider>>,
    pub sources: Vec<Box<dyn Source>>,
    pub sink: Sink,
    pub checkpoint: Checkpoint,
    pub state: State,
    pub mode: OutputMode,
    pub schedule: Schedule,
    /// The next batch, or the one that is being tried.
    pub batch: i64,
    pub committed: Vec<Option<String>>,
    pub available: Vec<Option<String>>,
    /// The offsets of the batch have been noted, its end has not.
    pub is_pending: bool,
    pub watermarks: Watermarks,
    last_start: Option<Instant>,
    last_event: Instant,
}

/// What a query starts with.
pub(super) struct Parts {
    pub session: Arc<Session>,
    pub query: Arc<StreamingQuery>,
    pub resolved: Resolved,
    pub timed: Option<Relation>,
    pub observations: Vec<Observation>,
    pub tables: Vec<Arc<dyn TableProvider>>,
    pub sources: Vec<Box<dyn Source>>,
    pub sink: Sink,
    pub checkpoint: Checkpoint,
    pub state: State,
    pub mode: OutputMode,
    pub schedule: Schedule,
}

/// How long the parts of a batch took.
#[derive(Default)]
struct Durations(Vec<(&'static str, i64)>);

impl Durations {
    fn note(&mut self, name: &'static str, since: Instant) {
        self.0.push((name, millis(since.elapsed())));
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl Batches {
    /// Goes on where the checkpoint ends.
    pub fn new(parts: Parts) -> Result<Self> {
        let count = parts.sources.len();
        let mut batches = Self {
            session: parts.session,
            query: parts.query,
            resolved: parts.resolved,
            timed: parts.timed,
            observations: parts.observations,
            tables: parts.tables,
            sources: parts.sources,
            sink: parts.sink,
            checkpoint: parts.checkpoint,
            state: parts.state,
            mode: parts.mode,
            schedule: parts.schedule,
            batch: 0,
            committed: vec![None; count],
            available: vec![None; count],
            is_pending: false,
            watermarks: Watermarks::default(),
            last_start: None,
            last_event: Instant::now(),
        };
        batches.recover()?;
        Ok(batches)
    }

    fn recover(&mut self) -> Result<()> {
        let Some(last) = self.checkpoint.offsets.latest()? else { return Ok(()) };
        let (watermark, offsets) = self.offsets_of(last)?;
        if last > 0 {
            let (before, earlier) = self.offsets_of(last - 1)?;
            self.watermarks.late = before;
            self.committed = earlier;
        }
        self.watermarks.now = watermark;
        self.available = offsets;
        self.batch = last;
        self.is_pending = self.checkpoint.commits.latest()?.is_none_or(|done| done < last);
        if !self.is_pending {
            self.batch = last + 1;
            self.committed = self.available.clone();
            self.watermarks.late = watermark;
            let lines = self.checkpoint.commits.read(last)?.unwrap_or_default();
            let note: Value = lines.first().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
            self.watermarks.now = note["nextBatchWatermarkMs"].as_i64().unwrap_or(watermark);
        }
        Ok(())
    }

    /// The watermark and the sources' offsets that a batch was begun with.
    fn offsets_of(&self, batch: i64) -> Result<(i64, Vec<Option<String>>)> {
        let illegal = |message: String| SparkError::plain(ExceptionClass::IllegalState, message);
        let lines = self.checkpoint.offsets.read(batch)?;
        let lines = lines.ok_or_else(|| illegal(format!("batch {batch} doesn't exist in the checkpoint")))?;
        let Some((note, offsets)) = lines.split_first() else {
            return Err(illegal(format!("batch {batch} of the checkpoint is empty")));
        };
        if offsets.len() != self.sources.len() {
            return Err(illegal(format!(
                "There are [{}] sources in the checkpoint offsets and now there are [{}] sources requested by the \
                 query. Cannot continue.",
                offsets.len(),
                self.sources.len()
            )));
        }
        let note: Value = serde_json::from_str(note).unwrap_or_default();
        let offsets = offsets.iter().map(|line| (line != "-").then(|| line.clone())).collect();
        Ok((note["batchWatermarkMs"].as_i64().unwrap_or(0), offsets))
    }

    /// Runs until the query is stopped, fails, or has done what it was to do.
    pub async fn run(mut self) {
        let query = self.query.clone();
        let cancel = query.cancellation().clone();
        let result = {
            let work = futures::FutureExt::catch_unwind(std::panic::AssertUnwindSafe(self.repeat()));
            tokio::select! {
                biased;
                () = cancel.cancelled() => Ok(()),
                result = work => result.unwrap_or_else(|panic| {
                    Err(SparkError::internal(crate::session::panic_text(panic.as_ref())))
                }),
            }
        };
        let failure = match result {
            Err(error) if !cancel.is_cancelled() => Some(self.failure(&error)),
            _ => None,
        };
        let (session, temporary) = (self.session.clone(), self.checkpoint.temporary.take());
        // Sources, workers and files go before the query is said to have ended.
        drop(self);
        drop(temporary);
        let facts = query.facts().clone();
        let told = failure.as_ref().map(|(error, _)| {
            let cause = error.cause().unwrap_or(error);
            let class = cause.java_classes().first().copied().unwrap_or_default();
            (format!("{class}: {cause}"), cause.condition())
        });
        let (exception, condition) = told.map_or((None, None), |(text, condition)| (Some(text), condition));
        let json = progress::terminated(&facts, exception.as_deref(), condition);
        query.end(failure);
        // Who has waited for the end finds it told everywhere.
        session.streaming().remove(&query);
        session.streaming().post(StreamingEvent { kind: EventKind::Terminated, json });
        query.tell();
    }

    /// The error of a query that an error has ended.
    fn failure(&self, error: &SparkError) -> (SparkError, QueryException) {
        let facts = self.query.facts();
        let text = error.to_string();
        let failed = SparkError::new("STREAM_FAILED")
            .with("id", &facts.id)
            .with("runId", &facts.run_id)
            .with("message", &text)
            .with_cause(error.clone());
        let offsets = |offsets: &[Option<String>]| {
            let known = self.sources.iter().zip(offsets);
            let known =
                known.filter_map(|(source, offset)| Some(format!("{}: {}", source.description(), offset.as_ref()?)));
            known.collect::<Vec<_>>().join(",")
        };
        let message = format!(
            "org.apache.spark.sql.streaming.StreamingQueryException: {text}\n\n=== Streaming Query ===\nIdentifier: \
             {}[id = {}, runId = {}]\nCurrent Committed Offsets: {{{}}}\nCurrent Available Offsets: {{{}}}\n\nCurrent \
             State: ACTIVE\n",
            facts.name.as_ref().map(|name| format!("{name} ")).unwrap_or_default(),
            facts.id,
            facts.run_id,
            offsets(&self.committed),
            offsets(&self.available),
        );
        (failed, QueryException { message, condition: "STREAM_FAILED".to_string() })
    }

    async fn repeat(&mut self) -> Result<()> {
        match self.schedule {
            Schedule::Once => {
                // A batch that was begun is the one that is run.
                self.trigger(Amount::All).await?;
                Ok(())
            }
            Schedule::AvailableNow => {
                if self.is_pending {
                    self.trigger(Amount::Limited).await?;
                }
                for (source, start) in self.sources.iter_mut().zip(&self.committed) {
                    source.freeze(start.as_deref()).await?;
                }
                while self.trigger(Amount::Limited).await? {}
                Ok(())
            }
            Schedule::Every(interval) => loop {
                let ran = self.trigger(Amount::Limited).await?;
                if interval.is_zero() {
                    if !ran {
                        tokio::time::sleep(POLL).await;
                    }
                    continue;
                }
                self.query.say("Waiting for next trigger", false, ran);
                let period = millis(interval).max(1);
                let left = period - now_millis().rem_euclid(period);
                tokio::time::sleep(Duration::from_millis(u64::try_from(left).unwrap_or(0))).await;
            },
        }
    }

    /// Runs a batch if there is anything new.
    async fn trigger(&mut self, amount: Amount) -> Result<bool> {
        let (started, timestamp) = (Instant::now(), now_millis());
        let mut durations = Durations::default();
        let look = self.query.look();
        if !self.is_pending && !self.begin(amount, timestamp, &mut durations).await? {
            self.query.idle(look);
            if self.last_event.elapsed() >= IDLE {
                self.last_event = Instant::now();
                let json = progress::idle(self.query.facts());
                self.session.streaming().post(StreamingEvent { kind: EventKind::Idle, json });
            }
            return Ok(false);
        }
        self.query.say("Processing new data", true, true);
        let progress = self.process(started, timestamp, durations).await?;
        let json = progress.event();
        self.query.add_progress(progress);
        self.session.streaming().post(StreamingEvent { kind: EventKind::Progress, json });
        self.last_event = Instant::now();
        Ok(true)
    }

    /// Asks the sources, and notes what the batch will read; false where there is nothing to do.
    async fn begin(&mut self, amount: Amount, timestamp: i64, durations: &mut Durations) -> Result<bool> {
        let since = Instant::now();
        for i in 0..self.sources.len() {
            let source = &mut self.sources[i];
            self.query.say(format!("Getting offsets from {}", source.description()), true, false);
            self.available[i] = source.next(self.committed[i].as_deref(), amount).await?;
        }
        durations.note("latestOffset", since);
        let has_new = self.available != self.committed;
        let may_end = self.state.is_there() && self.mode != OutputMode::Complete && self.watermarks.has_moved();
        if !has_new && !may_end {
            return Ok(false);
        }
        let since = Instant::now();
        let note = json!({
            "batchWatermarkMs": self.watermarks.now,
            "batchTimestampMs": timestamp,
            "conf": {},
        });
        let mut lines = vec![note.to_string()];
        lines.extend(self.available.iter().map(|offset| offset.clone().unwrap_or_else(|| "-".to_string())));
        self.checkpoint.offsets.write(self.batch, &lines)?;
        self.checkpoint.offsets.purge(self.batch);
        self.is_pending = true;
        durations.note("walCommit", since);
        Ok(true)
    }

    /// Analyses the query anew, as of the moment at which the batch began.
    async fn renew(&mut self) -> Result<()> {
        let Some(relation) = self.timed.clone() else { return Ok(()) };
        let lines = self.checkpoint.offsets.read(self.batch)?.unwrap_or_default();
        let note: Value = lines.first().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
        let moment = note["batchTimestampMs"].as_i64().unwrap_or_else(now_millis);
        let session = self.session.clone();
        let analysed = blocking(move || session.analyse_at(&relation, moment.saturating_mul(1000))).await?;
        let mut resolved = analysed.resolved;
        resolved.plan = marked(resolved.plan)?;
        let found = tables(&resolved.plan)?;
        if found.len() != self.tables.len() || resolved.output.len() != self.resolved.output.len() {
            return Err(SparkError::unsupported("a streaming query over a view that has changed"));
        }
        self.tables = found;
        self.observations = analysed.observations;
        self.resolved = resolved;
        Ok(())
    }

    /// Reads the batch, writes it, and notes that.
    async fn process(&mut self, started: Instant, timestamp: i64, mut durations: Durations) -> Result<Progress> {
        let since = Instant::now();
        let mut rows = Vec::with_capacity(self.sources.len());
        for (i, source) in self.sources.iter_mut().enumerate() {
            let (start, end) = (self.committed[i].as_deref(), self.available[i].as_deref());
            rows.push(match end {
                Some(end) if start != Some(end) => source.rows(start, end).await?,
                _ => super::source::Rows::Empty,
            });
        }
        durations.note("getBatch", since);
        let since = Instant::now();
        self.renew().await?;
        let counts: Vec<Count> = self.sources.iter().map(|_| Count::default()).collect();
        let plan = placed(&self.resolved.plan, &self.tables, &rows, &counts)?;
        drop(rows);
        durations.note("queryPlanning", since);
        let since = Instant::now();
        let (plan, mut ran) = self.state.run(&self.session, plan, self.batch, self.mode, self.watermarks).await?;
        let rows = self.output(plan);
        let written = self.sink.add(&self.session, self.batch, &rows).await?;
        durations.note("addBatch", since);
        self.explain(&written.physical, &rows.plan);
        ran.push(written.physical);
        let event_times = self.event_times(&ran)?;
        let since = Instant::now();
        let next = self.watermarks.after(&event_times, self.state.delay_millis());
        let note = json!({ "nextBatchWatermarkMs": next.now });
        self.checkpoint.commits.write(self.batch, &[note.to_string()])?;
        self.checkpoint.commits.purge(self.batch);
        durations.note("commitOffsets", since);
        durations.note("triggerExecution", started);
        let rows = counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        let progress =
            self.progress(Ended { started, timestamp, durations, rows, output_rows: written.rows, event_times, ran });
        self.watermarks = next;
        self.committed = self.available.clone();
        self.batch += 1;
        self.is_pending = false;
        self.last_start = Some(started);
        Ok(progress)
    }

    /// The output columns over a batch's plan.
    fn output(&self, plan: LogicalPlan) -> Resolved {
        Resolved::leaf(plan, self.resolved.output.clone())
    }

    fn explain(&self, physical: &Arc<dyn ExecutionPlan>, logical: &LogicalPlan) {
        let text = crate::explain::physical(physical.as_ref());
        let simple = format!("== Physical Plan ==\n{text}\n");
        let logical = logical.display_indent();
        let extended = format!(
            "== Parsed Logical Plan ==\n{logical}\n\n== Analyzed Logical Plan ==\n{logical}\n\n== Optimized Logical \
             Plan ==\n{logical}\n\n{simple}"
        );
        self.query.set_explained(simple, extended);
    }

    /// The times of the batch's events in milliseconds: the latest, the earliest and the mean.
    fn event_times(&self, ran: &[Arc<dyn ExecutionPlan>]) -> Result<Vec<(&'static str, i64)>> {
        let Some(observation) = self.state.observation() else { return Ok(Vec::new()) };
        let found = ran.iter().flat_map(|plan| observed(plan, std::slice::from_ref(observation))).next();
        let Some(metrics) = found else { return Ok(Vec::new()) };
        let millis = |value: &Literal| match value {
            Literal::Long(micros) => Some(micros.div_euclid(1000)),
            Literal::Double(micros) => Some((micros / 1000.0) as i64),
            _ => None,
        };
        let names = ["max", "min", "avg"];
        Ok(names.into_iter().zip(&metrics.values).filter_map(|(name, v)| Some((name, millis(v)?))).collect())
    }

    fn progress(&mut self, ended: Ended) -> Progress {
        let sources = self.sources.iter().zip(ended.rows).enumerate().map(|(i, (source, rows))| SourceProgress {
            description: source.description(),
            start: self.committed[i].clone(),
            end: self.available[i].clone(),
            latest: source.latest(),
            rows,
        });
        let sources = sources.collect();
        let mut event_time = ended.event_times;
        if self.state.observation().is_some() {
            event_time.push(("watermark", self.watermarks.now));
        }
        let mut observed_values = Vec::new();
        for metrics in ended.ran.iter().flat_map(|plan| observed(plan, &self.observations)) {
            let observation = self.observations.iter().find(|o| o.name == metrics.name);
            let attributes: &[Attribute] = observation.map_or(&[], |o| o.attributes.as_slice());
            let schema: StructType = attribute::schema_of(attributes);
            let values = metrics.values.iter().map(value).collect();
            observed_values.push((metrics.name, schema, values));
        }
        Progress {
            facts: self.query.facts().clone(),
            timestamp: ended.timestamp,
            batch: self.batch,
            duration: millis(ended.started.elapsed()),
            durations: ended.durations.0,
            event_time,
            state: self.state.take_progress(),
            sources,
            sink: self.sink.description(),
            output_rows: ended.output_rows,
            observed: observed_values,
            since_last: self.last_start.map(|last| ended.started.duration_since(last).as_secs_f64()),
        }
    }
}

/// A batch that has been written.
struct Ended {
    started: Instant,
    timestamp: i64,
    durations: Durations,
    /// Rows of each source.
    rows: Vec<u64>,
    output_rows: i64,
    event_times: Vec<(&'static str, i64)>,
    /// The plans that ran.
    ran: Vec<Arc<dyn ExecutionPlan>>,
}

/// A metric as JSON.
fn value(literal: &Literal) -> Value {
    match literal {
        Literal::Null(_) => Value::Null,
        Literal::Boolean(value) => json!(value),
        Literal::Byte(value) => json!(value),
        Literal::Short(value) => json!(value),
        Literal::Integer(value) => json!(value),
        Literal::Long(value) => json!(value),
        Literal::Float(value) => json!(value),
        Literal::Double(value) => json!(value),
        Literal::String(value) => json!(value),
        other => json!(format!("{other:?}")),
    }
}
