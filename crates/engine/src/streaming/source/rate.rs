//! Sources that count: `rate` by the clock, `rate-micro-batch` by the batch.

use super::{Amount, Rows, Source};
use crate::streaming::log::Log;
use crate::streaming::now_millis;
use crate::streaming::table::RateOptions;
use async_trait::async_trait;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast, col, lit};
use firesteel_analyzer::range::RangeTable;
use firesteel_analyzer::resolved::engine_error;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_plan::Options;
use firesteel_types::{DataType, arrow_mapping};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// So many rows a second. Offsets are seconds since the first start.
pub(super) struct Rate {
    rows_per_second: i64,
    ramp_up_seconds: i64,
    partitions: Option<i32>,
    /// Milliseconds since the epoch at the first start.
    created: i64,
    latest: i64,
    end: Option<i64>,
}

impl Rate {
    pub fn open(options: &Options, folder: PathBuf) -> Result<Self> {
        let options = RateOptions(options);
        let log = Log::open(folder)?;
        let created = match log.read(0)?.and_then(|lines| lines.first()?.parse().ok()) {
            Some(created) => created,
            None => {
                let now = now_millis();
                log.write(0, &[now.to_string()])?;
                now
            }
        };
        Ok(Self {
            rows_per_second: options.number("rowsPerSecond", 1, 1)?,
            ramp_up_seconds: options.seconds("rampUpTime")?,
            partitions: partitions(&options)?,
            created,
            latest: 0,
            end: None,
        })
    }

    /// How many rows there are after so many seconds: while it ramps up, each second has more.
    fn value_at(&self, seconds: i64) -> Result<i64> {
        let overflow =
            || SparkError::plain(ExceptionClass::Arithmetic, "The rate source has counted to the end of BIGINT");
        let ramp = self.ramp_up_seconds.min(seconds);
        let step = (i128::from(self.rows_per_second) / i128::from(self.ramp_up_seconds + 1)).max(1);
        let ramped = match self.ramp_up_seconds {
            0 => 0,
            _ => i128::from(ramp) * (i128::from(ramp) + 1) / 2 * step,
        };
        let full = i128::from(seconds - ramp) * i128::from(self.rows_per_second);
        i64::try_from(ramped + full).map_err(|_| overflow())
    }

    fn now(&mut self) -> i64 {
        let seconds = (now_millis() - self.created).div_euclid(1000).max(0);
        // The clock may be set back; rows are not.
        self.latest = self.latest.max(seconds);
        self.end.map_or(self.latest, |end| end.min(self.latest))
    }
}

#[async_trait]
impl Source for Rate {
    fn description(&self) -> String {
        let partitions = self.partitions.map_or("default".to_string(), |p| p.to_string());
        format!(
            "RateStreamV2[rowsPerSecond={}, rampUpTimeSeconds={}, numPartitions={partitions}",
            self.rows_per_second, self.ramp_up_seconds
        )
    }

    async fn next(&mut self, start: Option<&str>, _: Amount) -> Result<Option<String>> {
        let start = start.map(seconds).transpose()?.unwrap_or(0);
        Ok(Some(self.now().max(start).to_string()))
    }

    async fn freeze(&mut self, _: Option<&str>) -> Result<()> {
        self.end = Some(self.now());
        Ok(())
    }

    fn latest(&self) -> Option<String> {
        Some(self.latest.to_string())
    }

    async fn rows(&mut self, start: Option<&str>, end: &str) -> Result<Rows> {
        let (start, end) = (start.map(seconds).transpose()?.unwrap_or(0), seconds(end)?);
        let (first, last) = (self.value_at(start)?, self.value_at(end)?);
        if last <= first {
            return Ok(Rows::Empty);
        }
        let step = (end - start) as f64 * 1000.0 / (last - first) as f64;
        let since = cast(col("id") - lit(first), arrow::datatypes::DataType::Float64) * lit(step) + lit(0.5);
        let millis = cast(since, arrow::datatypes::DataType::Int64) + lit(self.created + start * 1000);
        counted(first, last, self.partitions, millis)
    }
}

/// So many rows a batch, all of one moment.
pub(super) struct MicroBatchRate {
    rows_per_batch: i64,
    partitions: Option<i32>,
    start: i64,
    advance: i64,
    end: Option<String>,
}

impl MicroBatchRate {
    pub fn new(options: &Options) -> Result<Self> {
        let options = RateOptions(options);
        Ok(Self {
            rows_per_batch: options.number("rowsPerBatch", 0, 1)?,
            partitions: partitions(&options)?,
            start: options.number("startTimestamp", 0, 0)?,
            advance: options.number("advanceMillisPerBatch", 1000, 0)?,
            end: None,
        })
    }

    /// Rows so far, and the moment of the next ones.
    fn position(&self, offset: Option<&str>) -> Result<(i64, i64)> {
        let Some(offset) = offset else { return Ok((0, self.start)) };
        let value: Value = serde_json::from_str(offset).unwrap_or_default();
        match (value["offset"].as_i64(), value["timestamp"].as_i64()) {
            (Some(rows), Some(timestamp)) => Ok((rows, timestamp)),
            _ => Err(malformed(offset)),
        }
    }
}

#[async_trait]
impl Source for MicroBatchRate {
    fn description(&self) -> String {
        format!(
            "RatePerMicroBatchStream[rowsPerBatch={}, numPartitions={}, startTimestamp={}, advanceMsPerBatch={}]",
            self.rows_per_batch,
            self.partitions.unwrap_or(2),
            self.start,
            self.advance
        )
    }

    async fn next(&mut self, start: Option<&str>, _: Amount) -> Result<Option<String>> {
        if let Some(end) = &self.end {
            return Ok(Some(end.clone()));
        }
        let (rows, timestamp) = self.position(start)?;
        let next = json!({ "offset": rows + self.rows_per_batch, "timestamp": timestamp + self.advance });
        Ok(Some(next.to_string()))
    }

    async fn freeze(&mut self, start: Option<&str>) -> Result<()> {
        self.end = self.next(start, Amount::All).await?;
        Ok(())
    }

    async fn rows(&mut self, start: Option<&str>, end: &str) -> Result<Rows> {
        let ((first, timestamp), (last, _)) = (self.position(start)?, self.position(Some(end))?);
        if last <= first {
            return Ok(Rows::Empty);
        }
        counted(first, last, self.partitions, lit(timestamp))
    }
}

fn partitions(options: &RateOptions<'_>) -> Result<Option<i32>> {
    let number = options.number("numPartitions", 0, 0)?;
    Ok(i32::try_from(number).ok().filter(|number| *number > 0))
}

/// Numbers with a time each, in milliseconds, made of the column `id`.
fn counted(first: i64, last: i64, partitions: Option<i32>, millis: Expr) -> Result<Rows> {
    let table = RangeTable::new(first, last, 1, partitions);
    let timestamp = cast(millis * lit(1000i64), arrow_mapping::to_arrow(&DataType::Timestamp));
    let plan: LogicalPlan = LogicalPlanBuilder::scan("numbers", provider_as_source(Arc::new(table)), None)
        .and_then(|scan| scan.project(vec![timestamp.alias("timestamp"), col("id").alias("value")]))
        .and_then(LogicalPlanBuilder::build)
        .map_err(engine_error)?;
    Ok(Rows::Plan(plan, last.abs_diff(first)))
}

fn seconds(offset: &str) -> Result<i64> {
    offset.trim().parse().map_err(|_| malformed(offset))
}

fn malformed(offset: &str) -> SparkError {
    SparkError::plain(
        ExceptionClass::IllegalState,
        format!("The checkpoint has the offset {offset}, which the source does not know"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(options: &[(&str, &str)]) -> Rate {
        let folder = tempfile::tempdir().unwrap();
        let options: Options = options.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Rate::open(&options, folder.path().join("0")).unwrap()
    }

    #[test]
    fn rows_are_as_many_as_the_rate_says() {
        let even = rate(&[("rowsPerSecond", "10")]);
        assert_eq!(even.value_at(0).unwrap(), 0);
        assert_eq!(even.value_at(3).unwrap(), 30);
    }

    #[test]
    fn rows_become_more_while_it_ramps_up() {
        let ramped = rate(&[("rowsPerSecond", "10"), ("rampUpTime", "4s")]);
        let counts: Vec<i64> = (0..7).map(|second| ramped.value_at(second).unwrap()).collect();
        assert_eq!(counts, [0, 2, 6, 12, 20, 30, 40]);
    }
}
