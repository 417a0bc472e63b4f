//! What a Spark 4.2.1 server answers about a hundred keys, and about changes of settings.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use firesteel_config::{Reader, ServerConfig, SessionConfig};
use firesteel_error::SparkError;

/// Key, value read back, whether a session can set it, condition of setting it to `x y`, type or options told.
#[rustfmt::skip]
const ANSWERS: &[(&str, Option<&str>, bool, &str, &str)] = &[
    ("spark.connect.extensions.expression.classes", Some(""), false, "CANNOT_MODIFY_STATIC_CONFIG", ""),
    ("spark.connect.grpc.interceptor.classes", None, false, "CANNOT_MODIFY_STATIC_CONFIG", ""),
    ("spark.connect.grpc.maxInboundMessageSize", Some("134217728b"), false, "CANNOT_MODIFY_STATIC_CONFIG", ""),
    ("spark.connect.session.planCompression.defaultAlgorithm", Some("ZSTD"), true, "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS", "NONE, ZSTD"),
    ("spark.connect.session.planCompression.threshold", Some("10485760"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.adaptive.advisoryPartitionSizeInBytes", Some("67108864b"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "bytes in BYTE"),
    ("spark.sql.adaptive.fetchShuffleBlocksInBatch", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.adaptive.nonEmptyPartitionRatioForBroadcastJoin", Some("0.2"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "double"),
    ("spark.sql.adaptive.streaming.stateless.enabled", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.analyzer.scalarSubqueryAllowGroupByColumnEqualToConstant", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.ansi.enabled", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.autoBroadcastJoinThreshold", Some("10485760b"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "bytes in BYTE"),
    ("spark.sql.avro.compression.codec", Some("snappy"), true, "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS", "bzip2, deflate, uncompressed, xz, snappy, zstandard"),
    ("spark.sql.avro.deflate.level", Some("-1"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.binaryOutputStyle", None, true, "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS", "UTF-8, BASIC, BASE64, HEX, HEX_DISCRETE"),
    ("spark.sql.broadcastTimeout", Some("300000ms"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "time in SECONDS"),
    ("spark.sql.catalogImplementation", Some("in-memory"), false, "CANNOT_MODIFY_STATIC_CONFIG", ""),
    ("spark.sql.cbo.joinReorder.card.weight", Some("0.7"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "double"),
    ("spark.sql.cbo.joinReorder.dp.star.filter", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.codegen.maxFields", Some("100"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.collation.allowInMapKeys", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.csv.filterPushdown.enabled", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.cteRecursionRowLimit", Some("1000000"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.defaultCacheStorageLevel", Some("MEMORY_AND_DISK"), true, "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS", "NONE, DISK_ONLY, DISK_ONLY_2, DISK_ONLY_3, MEMORY_ONLY, MEMORY_ONLY_2, MEMORY_ONLY_SER, MEMORY_ONLY_SER_2, MEMORY_AND_DISK, MEMORY_AND_DISK_2, MEMORY_AND_DISK_SER, MEMORY_AND_DISK_SER_2, OFF_HEAP"),
    ("spark.sql.defaultCatalog", Some("spark_catalog"), true, "", ""),
    ("spark.sql.defaultColumn.allowedProviders", Some("csv,json,orc,parquet"), true, "", ""),
    ("spark.sql.dropTableOnView.enabled", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.event.truncate.length", Some("2147483647"), false, "CANNOT_MODIFY_STATIC_CONFIG", ""),
    ("spark.sql.execution.arrow.maxBytesPerBatch", Some("67108864b"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "bytes in BYTE"),
    ("spark.sql.execution.arrow.maxRecordsPerBatch", Some("10000"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.execution.arrow.pyspark.enabled", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.execution.arrow.pythonUDF.columnarInput.enabled", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.execution.datasources.hadoopLineRecordReader.enabled", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.execution.pandas.structHandlingMode", Some("legacy"), true, "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS", "legacy, row, dict"),
    ("spark.sql.execution.python.udf.maxRecordsPerBatch", Some("100"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.extendedExplainProviders", None, true, "", ""),
    ("spark.sql.extensions", None, false, "CANNOT_MODIFY_STATIC_CONFIG", ""),
    ("spark.sql.files.maxPartitionBytes", Some("134217728b"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "bytes in BYTE"),
    ("spark.sql.globalTempDatabase", Some("global_temp"), false, "CANNOT_MODIFY_STATIC_CONFIG", ""),
    ("spark.sql.inMemoryColumnarStorage.batchSize", Some("10000"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.insertNestedTypeCoercion.enabled", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.jsonGenerator.writeNullIfWithDefaultValue", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.lazySetOperatorOutput.enabled", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.legacy.allowNullComparisonResultInArraySort", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.legacy.allowUdfParameterToShadowParameterlessFunction", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.legacy.ctePrecedencePolicy", Some("CORRECTED"), true, "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS", "EXCEPTION, LEGACY, CORRECTED"),
    ("spark.sql.legacy.groupingIdWithAppendedUserGroupBy", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.legacy.noCharPaddingInPredicate", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.legacy.notReserveProperties", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.legacy.nullInEmptyListBehavior", None, true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.legacy.nullValueWrittenAsQuotedEmptyStringCsv", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.legacy.parseNullPartitionSpecAsStringLiteral", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.legacy.sizeOfNull", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.legacy.timeParserPolicy", Some("CORRECTED"), true, "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS", "EXCEPTION, LEGACY, CORRECTED"),
    ("spark.sql.legacy.viewSchemaCompensation", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.mapKeyDedupPolicy", Some("EXCEPTION"), true, "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS", "EXCEPTION, LAST_WIN"),
    ("spark.sql.optimizer.decorrelateJoinPredicate.enabled", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.optimizer.decorrelateUnionOrSetOpUnderLimit.enabled", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.optimizer.inSetSwitchThreshold", Some("400"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.parquet.compression.codec", Some("snappy"), true, "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS", "brotli, uncompressed, lzo, snappy, lz4_raw, none, zstd, lz4, gzip"),
    ("spark.sql.parquet.enableNullTypeVectorizedReader", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.parquet.filterPushdown.stringPredicate", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.caseSensitive", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.parquet.recordLevelFilter.enabled", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.parser.escapedStringLiterals", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.pipelines.execution.watchdog.maxRetryTime", Some("3600000ms"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "time in SECONDS"),
    ("spark.sql.preserveCharVarcharTypeInfo", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.pyspark.inferNestedDictAsStruct.enabled", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.pyspark.plotting.max_rows", Some("1000"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.session.localRelationCacheThreshold", Some("1048576"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.session.localRelationChunkSizeRows", Some("10000"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.session.localRelationSizeLimit", Some("3221225472"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "long"),
    ("spark.sql.session.timeZone", Some("UTC"), true, "INVALID_CONF_VALUE.TIME_ZONE", ""),
    ("spark.sql.sessionWindow.buffer.spill.size.threshold", Some("9223372036854775807b"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "bytes in BYTE"),
    ("spark.sql.shuffle.partitions", Some("200"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.shuffledHashJoinFactor", Some("3"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.sources.bucketing.autoBucketedScan.enabled", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.sources.partitionOverwriteMode", Some("STATIC"), true, "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS", "STATIC, DYNAMIC"),
    ("spark.sql.sources.v2.bucketing.pushPartValues.enabled", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.stackTracesInDataFrameContext", Some("1"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.statistics.size.autoUpdate.enabled", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.storeAssignmentPolicy", Some("ANSI"), true, "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS", "ANSI, LEGACY, STRICT"),
    ("spark.sql.streaming.fileSource.log.compactInterval", Some("10"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.streaming.internal.stateStore.partitions", None, true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.streaming.minBatchesToRetain", Some("100"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.streaming.queryEvolution.enableSinkEvolution", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.streaming.realTimeMode.allowlistCheck", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.streaming.stateStore.autoSnapshotRepair.maxChangeFileReplay", Some("500"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "int"),
    ("spark.sql.streaming.stateStore.encodingFormat", Some("unsaferow"), true, "INVALID_CONF_VALUE.REQUIREMENT", ""),
    ("spark.sql.streaming.stateStore.skipNullsForStreamStreamJoins.enabled", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.streaming.stopTimeout", Some("0ms"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "time in MILLISECONDS"),
    ("spark.sql.streaming.unsupportedOperationCheck", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.timeTravelVersionKey", Some("versionAsOf"), true, "", ""),
    ("spark.sql.timestampType", Some("TIMESTAMP_LTZ"), true, "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS", "TIMESTAMP_NTZ, TIMESTAMP_LTZ"),
    ("spark.sql.truncateTable.ignorePermissionAcl.enabled", Some("false"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.ui.explainMode", Some("FORMATTED"), true, "INVALID_CONF_VALUE.REQUIREMENT", ""),
    ("spark.sql.useCommonExprIdForAlias", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.variant.allowReadingShredded", Some("true"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "boolean"),
    ("spark.sql.warehouse.dir", Some("spark-warehouse"), false, "CANNOT_MODIFY_STATIC_CONFIG", ""),
    ("spark.sql.windowExec.buffer.spill.size.threshold", Some("9223372036854775807b"), true, "INVALID_CONF_VALUE.TYPE_MISMATCH", "bytes in BYTE"),
];

fn parameter<'a>(error: &'a SparkError, name: &str) -> Option<&'a str> {
    error.parameters().iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

#[test]
fn keys_read_back_as_in_spark() {
    let config = SessionConfig::default();
    for (key, value, ..) in ANSWERS {
        assert_eq!(config.get(key).unwrap().as_deref(), *value, "{key}");
    }
}

#[test]
fn keys_are_modifiable_as_in_spark() {
    let config = SessionConfig::default();
    for (key, _, modifiable, ..) in ANSWERS {
        assert_eq!(config.is_modifiable(key), *modifiable, "{key}");
    }
}

#[test]
fn bad_values_fail_as_in_spark() {
    for (key, _, _, condition, detail) in ANSWERS {
        match SessionConfig::default().set(key, "x y") {
            Ok(_) => assert_eq!(*condition, "", "{key}"),
            Err(error) => {
                assert_eq!(error.condition(), Some(*condition), "{key}");
                let told = parameter(&error, "confType").or(parameter(&error, "confOptions"));
                assert_eq!(told.unwrap_or_default(), *detail, "{key}");
                assert_eq!(error.sql_state(), Some(if condition.starts_with("CANNOT") { "46110" } else { "22022" }));
            }
        }
    }
}

#[test]
fn numbers_sizes_and_spans_are_read_as_in_spark() {
    let accepts = |key: &str, value: &str| SessionConfig::default().set(key, value).is_ok();
    for (value, accepted) in [
        ("5", true),
        ("5 ", true),
        ("5ns", false),
        ("5us", true),
        ("5 s", false),
        ("5S", true),
        ("5min", true),
        ("5h", true),
        ("5d", true),
        ("5w", false),
        ("1.5s", false),
        ("-5s", true),
        ("s", false),
        ("", false),
        ("5sec", false),
        ("00300", true),
        ("+5", false),
    ] {
        assert_eq!(accepts("spark.sql.broadcastTimeout", value), accepted, "span {value:?}");
    }
    for (value, accepted) in [
        ("5", true),
        ("5 ", true),
        ("5k", true),
        ("5KB", true),
        ("5kib", true),
        ("5 kb", false),
        ("5pb", true),
        ("5e", false),
        ("1.5g", false),
        ("-1", true),
        ("-1k", true),
        ("k", false),
        ("", false),
        ("+5", false),
        ("9999999999999p", false),
        ("9223372036854775808", false),
    ] {
        assert_eq!(accepts("spark.sql.autoBroadcastJoinThreshold", value), accepted, "size {value:?}");
    }
    for (value, accepted) in [
        ("5", true),
        (" 5 ", true),
        ("+5", true),
        ("5.0", false),
        ("1e3", false),
        ("0x5", false),
        ("2147483648", false),
        ("-0", false),
        ("-1", false),
        ("", false),
    ] {
        assert_eq!(accepts("spark.sql.shuffle.partitions", value), accepted, "int {value:?}");
    }
    for (value, accepted) in
        [("true", true), (" True ", true), ("TRUE", true), ("1", false), ("yes", false), ("t", false), ("", false)]
    {
        assert_eq!(accepts("spark.sql.ansi.enabled", value), accepted, "boolean {value:?}");
    }
    for (value, accepted) in [
        ("0.5", true),
        (" .5 ", true),
        ("1", true),
        ("NaN", true),
        ("Infinity", true),
        ("-inf", false),
        ("inf", false),
        ("0.5d", true),
        ("1e-1", true),
        ("1f", true),
        ("", false),
    ] {
        assert_eq!(accepts("spark.sql.statistics.ndv.maxError", value), accepted, "double {value:?}");
    }
}

#[test]
fn values_are_kept_as_they_were_written() {
    let mut config = SessionConfig::default();
    for (key, value) in [
        ("spark.sql.files.maxPartitionBytes", "64MB"),
        ("spark.sql.broadcastTimeout", "10m"),
        ("spark.sql.ansi.enabled", "TRUE"),
        ("spark.sql.shuffle.partitions", " 7 "),
        ("spark.sql.storeAssignmentPolicy", "legacy"),
    ] {
        config.set(key, value).unwrap();
        assert_eq!(config.get(key).unwrap().as_deref(), Some(value));
    }
    assert_eq!(config.integer("spark.sql.files.maxPartitionBytes"), 64 << 20);
    assert_eq!(config.integer("spark.sql.broadcastTimeout"), 600);
    assert_eq!(config.count("spark.sql.shuffle.partitions"), 7);
    assert_eq!(config.text("spark.sql.storeAssignmentPolicy"), "LEGACY");
}

#[test]
fn unknown_keys_can_be_set_but_not_read() {
    let mut config = SessionConfig::default();
    let error = config.get("spark.no.key").unwrap_err();
    assert_eq!(error.condition(), Some("SQL_CONF_NOT_FOUND"));
    assert_eq!(parameter(&error, "sqlConf"), Some("\"spark.no.key\""));
    assert_eq!(error.java_classes()[0], "org.apache.spark.SparkNoSuchElementException");
    assert_eq!(config.get_option("spark.no.key"), None);
    assert!(!config.is_modifiable("spark.no.key"));
    assert_eq!(config.set("spark.no.key", "1").unwrap(), None);
    assert_eq!(config.get("spark.no.key").unwrap().as_deref(), Some("1"));
    config.unset("spark.no.key").unwrap();
    assert!(config.get("spark.no.key").is_err());
}

#[test]
fn callers_default_must_fit_the_key_and_hides_the_declared_one() {
    let config = SessionConfig::default();
    let read = |key, default| config.get_with_default(key, default);
    assert_eq!(read("spark.sql.broadcastTimeout", None).unwrap(), None);
    assert_eq!(read("spark.sql.broadcastTimeout", Some("7")).unwrap().as_deref(), Some("7"));
    assert!(read("spark.sql.broadcastTimeout", Some("x")).unwrap_err().is("INVALID_CONF_VALUE"));
    assert_eq!(read("nokey", Some("d")).unwrap().as_deref(), Some("d"));
    assert_eq!(config.get_option("spark.sql.broadcastTimeout").as_deref(), Some("300000ms"));
}

#[test]
fn core_keys_are_out_of_reach() {
    let mut config = SessionConfig::default();
    let error = config.set("spark.executor.memory", "1g").unwrap_err();
    assert_eq!((error.condition(), error.sql_state()), (Some("CANNOT_MODIFY_CONFIG"), Some("46110")));
    assert_eq!(parameter(&error, "key"), Some("\"spark.executor.memory\""));
    assert!(config.unset("spark.executor.memory").is_err());
    assert!(config.get("spark.executor.memory").unwrap_err().is("SQL_CONF_NOT_FOUND"));
    config.set("spark.sql.legacy.setCommandRejectsSparkCoreConfs", "false").unwrap();
    config.set("spark.executor.memory", "1g").unwrap();
}

#[test]
fn removed_keys_take_only_their_last_value() {
    let mut config = SessionConfig::default();
    let error = config.set("spark.sql.hive.verifyPartitionPath", "true").unwrap_err();
    assert_eq!(error.condition(), Some("_LEGACY_ERROR_TEMP_1226"));
    assert_eq!(error.sql_state(), None);
    assert_eq!(error.java_classes()[0], "org.apache.spark.sql.AnalysisException");
    assert_eq!(parameter(&error, "version"), Some("4.0.0"));
    assert_eq!(config.set("spark.sql.hive.verifyPartitionPath", "false").unwrap(), None);
    assert_eq!(config.get_option("spark.sql.hive.verifyPartitionPath").as_deref(), Some("false"));
}

#[test]
fn deprecated_keys_and_keys_without_effect_warn() {
    let mut config = SessionConfig::default();
    for key in [
        "spark.sql.execution.arrow.enabled",
        "spark.sql.execution.arrow.pyspark.fallback.enabled",
        "spark.sql.execution.arrow.fallback.enabled",
    ] {
        assert!(config.set(key, "true").unwrap().is_some(), "{key}");
        assert!(config.unset(key).unwrap().is_some(), "{key}");
    }
    assert_eq!(config.set("spark.sql.execution.arrow.pyspark.enabled", "true").unwrap(), None);
}

#[test]
fn sessions_begin_with_the_servers_settings() {
    let server = ServerConfig::new([("spark.app.id", "local-1"), ("spark.sql.shuffle.partitions", "8")]).unwrap();
    let mut config = SessionConfig::new(Arc::new(server));
    assert_eq!(config.get("spark.app.id").unwrap().as_deref(), Some("local-1"));
    assert_eq!(config.count("spark.sql.shuffle.partitions"), 8);
    config.set("spark.sql.shuffle.partitions", "9").unwrap();
    let all = config.get_all(Some("spark."));
    assert_eq!(all, [("app.id".into(), "local-1".into()), ("sql.shuffle.partitions".into(), "9".into())]);
    // Taken back is not put back to what the server was started with; RESET does that.
    config.unset("spark.sql.shuffle.partitions").unwrap();
    assert_eq!(config.count("spark.sql.shuffle.partitions"), 200);
    config.unset("spark.app.id").unwrap();
    assert!(config.get("spark.app.id").unwrap_err().is("SQL_CONF_NOT_FOUND"));
    config.reset("spark.sql.shuffle.partitions").unwrap();
    assert_eq!(config.count("spark.sql.shuffle.partitions"), 8);
}

#[test]
fn every_change_makes_a_new_version() {
    let mut config = SessionConfig::default();
    let first = config.version();
    config.set("spark.sql.ansi.enabled", "false").unwrap();
    let second = config.version();
    config.unset("spark.sql.ansi.enabled").unwrap();
    assert!(first < second && second < config.version());
    let third = config.version();
    config.set("spark.sql.ansi.enabled", "x").unwrap_err();
    assert_eq!(config.version(), third);
}

#[test]
fn older_names_are_read_too() {
    let mut config = SessionConfig::default();
    config.set("spark.sql.legacy.parquet.datetimeRebaseModeInRead", "corrected").unwrap();
    assert_eq!(config.text("spark.sql.parquet.datetimeRebaseModeInRead"), "CORRECTED");
    config.set("spark.sql.adaptive.shuffle.targetPostShuffleInputSize", "10MB").unwrap();
    assert_eq!(config.get_option("spark.sql.adaptive.advisoryPartitionSizeInBytes").as_deref(), Some("10485760b"));
}
