//! What a batch did, as JSON.

use super::query::QueryFacts;
use super::{iso, now_millis};
use firesteel_types::StructType;
use serde_json::{Map, Value, json};

/// A batch's own numbers.
#[derive(Debug, Clone)]
pub(super) struct Progress {
    pub facts: QueryFacts,
    /// Milliseconds since the epoch at its start.
    pub timestamp: i64,
    pub batch: i64,
    pub duration: i64,
    /// Parts of the duration, by name.
    pub durations: Vec<(&'static str, i64)>,
    /// Times of events: `max`, `min`, `avg`, `watermark`.
    pub event_time: Vec<(&'static str, i64)>,
    pub state: Vec<StateProgress>,
    pub sources: Vec<SourceProgress>,
    pub sink: String,
    /// -1 where the sink does not count.
    pub output_rows: i64,
    pub observed: Vec<(String, StructType, Vec<Value>)>,
    /// Seconds since the batch before began.
    pub since_last: Option<f64>,
}

/// A source's part.
#[derive(Debug, Clone)]
pub(super) struct SourceProgress {
    pub description: String,
    pub start: Option<String>,
    pub end: Option<String>,
    pub latest: Option<String>,
    pub rows: u64,
}

/// An operator's that keeps state.
#[derive(Debug, Clone)]
pub(super) struct StateProgress {
    pub operator: &'static str,
    pub total: usize,
    pub updated: usize,
    pub removed: usize,
    pub dropped: usize,
    pub bytes: usize,
}

impl Progress {
    fn input_rows(&self) -> u64 {
        self.sources.iter().map(|source| source.rows).sum()
    }

    fn rates(&self, rows: u64) -> (f64, f64) {
        let rows = rows as f64;
        let input = self.since_last.filter(|seconds| *seconds > 0.0).map_or(0.0, |seconds| rows / seconds);
        let processed = if self.duration > 0 { rows * 1000.0 / self.duration as f64 } else { 0.0 };
        (input, processed)
    }

    /// As the query's own list tells it.
    pub fn json(&self) -> String {
        let mut value = self.value(false);
        value.insert("eventTime".into(), Value::Object(self.event_times()));
        let observed = self
            .observed
            .iter()
            .map(|(name, schema, values)| (name.clone(), json!({ "values": values, "schema": schema.json_value() })));
        value.insert("observedMetrics".into(), Value::Object(observed.collect()));
        Value::Object(value).to_string()
    }

    /// As listeners are told.
    pub fn event(&self) -> String {
        let mut value = self.value(true);
        let (input, processed) = self.rates(self.input_rows());
        value.insert("numInputRows".into(), json!(self.input_rows()));
        value.insert("inputRowsPerSecond".into(), json!(rounded(input)));
        value.insert("processedRowsPerSecond".into(), json!(rounded(processed)));
        if !self.event_time.is_empty() {
            value.insert("eventTime".into(), Value::Object(self.event_times()));
        }
        if !self.observed.is_empty() {
            let observed = self.observed.iter().map(|(name, schema, values)| {
                let fields = schema.fields.iter().map(|field| field.name.clone()).zip(values.iter().cloned());
                (name.clone(), Value::Object(fields.collect()))
            });
            value.insert("observedMetrics".into(), Value::Object(observed.collect()));
        }
        json!({ "progress": value }).to_string()
    }

    fn event_times(&self) -> Map<String, Value> {
        self.event_time.iter().map(|(name, millis)| ((*name).to_string(), Value::String(iso(*millis)))).collect()
    }

    fn value(&self, is_event: bool) -> Map<String, Value> {
        let durations: Map<String, Value> =
            self.durations.iter().map(|(name, millis)| ((*name).to_string(), json!(millis))).collect();
        let mut value = Map::new();
        value.insert("id".into(), json!(self.facts.id));
        value.insert("runId".into(), json!(self.facts.run_id));
        value.insert("name".into(), json!(self.facts.name));
        value.insert("timestamp".into(), json!(iso(self.timestamp)));
        value.insert("batchId".into(), json!(self.batch));
        value.insert("batchDuration".into(), json!(self.duration));
        value.insert("durationMs".into(), Value::Object(durations));
        value.insert("stateOperators".into(), self.state.iter().map(StateProgress::value).collect());
        value.insert("sources".into(), self.sources.iter().map(|source| self.source(source, is_event)).collect());
        let mut sink = Map::new();
        sink.insert("description".into(), json!(self.sink));
        sink.insert("numOutputRows".into(), json!(self.output_rows));
        if !is_event {
            sink.insert("metrics".into(), json!({}));
        }
        value.insert("sink".into(), Value::Object(sink));
        value
    }

    fn source(&self, source: &SourceProgress, is_event: bool) -> Value {
        // Events have offsets as JSON, the query's own list has their text.
        let offset = |offset: &Option<String>| match offset {
            Some(text) if is_event => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
            other => json!(other),
        };
        let (input, processed) = self.rates(source.rows);
        let round = |rate: f64| if is_event { rounded(rate) } else { rate };
        let mut value = Map::new();
        value.insert("description".into(), json!(source.description));
        value.insert("startOffset".into(), offset(&source.start));
        value.insert("endOffset".into(), offset(&source.end));
        value.insert("latestOffset".into(), offset(&source.latest));
        value.insert("numInputRows".into(), json!(source.rows));
        value.insert("inputRowsPerSecond".into(), json!(round(input)));
        value.insert("processedRowsPerSecond".into(), json!(round(processed)));
        if !is_event {
            value.insert("metrics".into(), json!({}));
        }
        Value::Object(value)
    }
}

impl StateProgress {
    fn value(&self) -> Value {
        json!({
            "operatorName": self.operator,
            "numRowsTotal": self.total,
            "numRowsUpdated": self.updated,
            "numRowsRemoved": self.removed,
            "allUpdatesTimeMs": 0,
            "allRemovalsTimeMs": 0,
            "commitTimeMs": 0,
            "memoryUsedBytes": self.bytes,
            "numRowsDroppedByWatermark": self.dropped,
            "numShufflePartitions": 1,
            "numStateStoreInstances": 1,
            "customMetrics": {},
        })
    }
}

fn rounded(rate: f64) -> f64 {
    (rate * 10.0).round() / 10.0
}

/// The event of a query's start.
pub(super) fn started(facts: &QueryFacts, tags: &[String]) -> String {
    json!({
        "id": facts.id,
        "runId": facts.run_id,
        "name": facts.name,
        "timestamp": iso(now_millis()),
        "jobTags": tags,
    })
    .to_string()
}

/// The event of a query that waits.
pub(super) fn idle(facts: &QueryFacts) -> String {
    json!({ "id": facts.id, "runId": facts.run_id, "timestamp": iso(now_millis()) }).to_string()
}

/// The event of a query's end.
pub(super) fn terminated(facts: &QueryFacts, exception: Option<&str>, condition: Option<&str>) -> String {
    json!({ "id": facts.id, "runId": facts.run_id, "exception": exception, "errorClassOnException": condition })
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_offsets_as_text_and_events_as_json() {
        let progress = Progress {
            facts: QueryFacts { id: "i".into(), run_id: "r".into(), name: None },
            timestamp: 1_000,
            batch: 2,
            duration: 500,
            durations: vec![("addBatch", 7)],
            event_time: Vec::new(),
            state: Vec::new(),
            sources: vec![SourceProgress {
                description: "files".into(),
                start: None,
                end: Some("{\"logOffset\":0}".into()),
                latest: None,
                rows: 2,
            }],
            sink: "MemorySink".into(),
            output_rows: 2,
            observed: Vec::new(),
            since_last: None,
        };
        let own: Value = serde_json::from_str(&progress.json()).unwrap();
        assert_eq!(own["timestamp"], "1970-01-01T00:00:01.000Z");
        assert_eq!(own["sources"][0]["endOffset"], "{\"logOffset\":0}");
        assert_eq!(own["sources"][0]["processedRowsPerSecond"], 4.0);
        let event: Value = serde_json::from_str(&progress.event()).unwrap();
        assert_eq!(event["progress"]["sources"][0]["endOffset"]["logOffset"], 0);
        assert_eq!(event["progress"]["numInputRows"], 2);
    }
}
