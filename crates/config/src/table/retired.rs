//! Keys that are on their way out, and keys that are gone.

use crate::entry::Retired;

/// Keys that still work, with a warning: key, release, key to use instead.
#[rustfmt::skip]
pub(crate) static DEPRECATED: &[Retired] = &[
    d("spark.connect.copyFromLocalToFs.allowDestLocal", "4.0", "spark.sql.artifact.copyFromLocalToFs.allowDestLocal"),
    d("spark.sql.adaptive.coalescePartitions.minPartitionNum", "3.2", "spark.sql.adaptive.coalescePartitions.minPartitionSize"),
    d("spark.sql.adaptive.shuffle.targetPostShuffleInputSize", "3.0", "spark.sql.adaptive.advisoryPartitionSizeInBytes"),
    d("spark.sql.execution.arrow.enabled", "3.0", "spark.sql.execution.arrow.pyspark.enabled"),
    d("spark.sql.execution.arrow.fallback.enabled", "3.0", "spark.sql.execution.arrow.pyspark.fallback.enabled"),
    d("spark.sql.legacy.allowZeroIndexInFormatString", "4.0", ""),
    d("spark.sql.legacy.execution.pandas.groupedMap.assignColumnsByName", "2.4", ""),
    d("spark.sql.legacy.parquet.datetimeRebaseModeInRead", "3.2", "spark.sql.parquet.datetimeRebaseModeInRead"),
    d("spark.sql.legacy.replaceDatabricksSparkAvro.enabled", "3.2", ""),
    d("spark.sql.optimizer.metadataOnly", "3.0", ""),
    d("spark.sql.parser.escapedStringLiterals", "4.0", ""),
    d("spark.sql.shuffleDependency.fileCleanup.enabled", "4.1", "spark.sql.connect.shuffleDependency.fileCleanup.enabled"),
    d("spark.sql.sources.schemaStringLengthThreshold", "3.2", "spark.sql.hive.tablePropertyLengthThreshold"),
];

/// Keys that may only be set to what has become the only behaviour: key, release, that value, key to use instead.
#[rustfmt::skip]
pub(crate) static REMOVED: &[Retired] = &[
    r("spark.sql.ansi.strictIndexOperator", "3.4.0", "true", ""),
    r("spark.sql.execution.pandas.respectSessionTimeZone", "3.0.0", "true", ""),
    r("spark.sql.fromJsonForceNullableSchema", "3.0.0", "true", ""),
    r("spark.sql.hive.verifyPartitionPath", "4.0.0", "false", "spark.sql.files.ignoreMissingFiles"),
    r("spark.sql.legacy.allowCreatingManagedTableUsingNonemptyLocation", "3.0.0", "false", ""),
    r("spark.sql.legacy.avro.datetimeRebaseModeInRead", "4.0.0", "CORRECTED", "spark.sql.avro.datetimeRebaseModeInRead"),
    r("spark.sql.legacy.avro.datetimeRebaseModeInWrite", "4.0.0", "CORRECTED", "spark.sql.avro.datetimeRebaseModeInWrite"),
    r("spark.sql.legacy.compareDateTimestampInTimestamp", "3.0.0", "true", ""),
    r("spark.sql.legacy.parquet.datetimeRebaseModeInWrite", "4.0.0", "CORRECTED", "spark.sql.parquet.datetimeRebaseModeInWrite"),
    r("spark.sql.legacy.parquet.int96RebaseModeInRead", "4.0.0", "CORRECTED", "spark.sql.parquet.int96RebaseModeInRead"),
    r("spark.sql.legacy.parquet.int96RebaseModeInWrite", "4.0.0", "CORRECTED", "spark.sql.parquet.int96RebaseModeInWrite"),
    r("spark.sql.optimizer.planChangeLog.batches", "3.1.0", "", "spark.sql.planChangeLog.batches"),
    r("spark.sql.optimizer.planChangeLog.level", "3.1.0", "trace", "spark.sql.planChangeLog.level"),
    r("spark.sql.optimizer.planChangeLog.rules", "3.1.0", "", "spark.sql.planChangeLog.rules"),
    r("spark.sql.optimizer.runtimeFilter.semiJoinReduction.enabled", "4.0.0", "false", ""),
    r("spark.sql.parquet.int64AsTimestampMillis", "3.0.0", "false", "spark.sql.parquet.outputTimestampType"),
];

/// Keys whose behaviour a client cannot choose: setting them has no effect.
pub(crate) static WITHOUT_EFFECT: &[&str] =
    &["spark.sql.execution.arrow.enabled", "spark.sql.execution.arrow.pyspark.fallback.enabled"];

const fn d(key: &'static str, release: &'static str, instead: &'static str) -> Retired {
    Retired { key, release, only: None, instead }
}

const fn r(key: &'static str, release: &'static str, only: &'static str, instead: &'static str) -> Retired {
    Retired { key, release, only: Some(only), instead }
}
