//! The keys that the code reads, by name.

macro_rules! keys {
    ($($name:ident = $key:literal;)+) => {
        $(#[doc = concat!("`", $key, "`.")] pub const $name: &str = $key;)+

        /// All of them.
        #[cfg(test)]
        pub(crate) const ALL: &[&str] = &[$($key),+];
    };
}

keys! {
    ANSI_ENABLED = "spark.sql.ansi.enabled";
    DOUBLE_QUOTED_IDENTIFIERS = "spark.sql.ansi.doubleQuotedIdentifiers";
    ENFORCE_RESERVED_KEYWORDS = "spark.sql.ansi.enforceReservedKeywords";
    RELATION_PRECEDENCE = "spark.sql.ansi.relationPrecedence";
    CASE_SENSITIVE = "spark.sql.caseSensitive";
    SESSION_TIME_ZONE = "spark.sql.session.timeZone";
    TIMESTAMP_TYPE = "spark.sql.timestampType";
    TIME_PARSER_POLICY = "spark.sql.legacy.timeParserPolicy";
    STORE_ASSIGNMENT_POLICY = "spark.sql.storeAssignmentPolicy";
    MAP_KEY_DEDUP_POLICY = "spark.sql.mapKeyDedupPolicy";
    GROUP_BY_ORDINAL = "spark.sql.groupByOrdinal";
    COUNT_OF_TABLE_STAR = "spark.sql.legacy.allowStarWithSingleTableIdentifierInCount";
    GROUP_BY_ALIASES = "spark.sql.groupByAliases";
    ORDER_BY_ORDINAL = "spark.sql.orderByOrdinal";
    ORDINALS_FIRST = "spark.sql.prioritizeOrdinalResolutionInSort.enabled";
    CROSS_JOIN_ENABLED = "spark.sql.crossJoin.enabled";
    PIVOT_MAX_VALUES = "spark.sql.pivotMaxValues";
    TRANSPOSE_MAX_VALUES = "spark.sql.transposeMaxValues";
    MAX_TO_STRING_FIELDS = "spark.sql.debug.maxToStringFields";
    VARIABLE_SUBSTITUTE = "spark.sql.variable.substitute";
    ESCAPED_STRING_LITERALS = "spark.sql.parser.escapedStringLiterals";
    QUOTED_REGEX_COLUMN_NAMES = "spark.sql.parser.quotedRegexColumnNames";
    LATERAL_COLUMN_ALIAS = "spark.sql.lateralColumnAlias.enableImplicitResolution";
    NAMED_FUNCTION_ARGUMENTS = "spark.sql.allowNamedFunctionArguments";
    PIPE_SYNTAX_ENABLED = "spark.sql.operatorPipeSyntaxEnabled";
    SCRIPTING_CURSOR_ENABLED = "spark.sql.scripting.cursorEnabled";
    SCRIPTING_ENABLED = "spark.sql.scripting.enabled";
    DECIMAL_ALLOW_PRECISION_LOSS = "spark.sql.decimalOperations.allowPrecisionLoss";
    CHAR_VARCHAR_AS_STRING = "spark.sql.legacy.charVarcharAsString";
    CHAR_AS_VARCHAR = "spark.sql.charAsVarchar";
    PRESERVE_CHAR_VARCHAR = "spark.sql.preserveCharVarcharTypeInfo";
    READ_SIDE_CHAR_PADDING = "spark.sql.readSideCharPadding";
    CONCAT_BINARY_AS_STRING = "spark.sql.function.concatBinaryAsString";
    ELT_OUTPUT_AS_STRING = "spark.sql.function.eltOutputAsString";
    RETAIN_GROUP_COLUMNS = "spark.sql.retainGroupColumns";
    FAIL_AMBIGUOUS_SELF_JOIN = "spark.sql.analyzer.failAmbiguousSelfJoin";
    RUN_SQL_ON_FILES = "spark.sql.runSQLOnFiles";
    MAX_NESTED_VIEW_DEPTH = "spark.sql.view.maxNestedViewDepth";
    CTE_RECURSION_LEVEL_LIMIT = "spark.sql.cteRecursionLevelLimit";
    CTE_RECURSION_ROW_LIMIT = "spark.sql.cteRecursionRowLimit";
    BINARY_OUTPUT_STYLE = "spark.sql.binaryOutputStyle";
    EAGER_EVAL_ENABLED = "spark.sql.repl.eagerEval.enabled";
    EAGER_EVAL_MAX_ROWS = "spark.sql.repl.eagerEval.maxNumRows";
    EAGER_EVAL_TRUNCATE = "spark.sql.repl.eagerEval.truncate";
    SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions";
    BROADCAST_THRESHOLD = "spark.sql.autoBroadcastJoinThreshold";
    ARROW_MAX_RECORDS = "spark.sql.execution.arrow.maxRecordsPerBatch";
    ARROW_MAX_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch";
    ARROW_LARGE_VAR_TYPES = "spark.sql.execution.arrow.useLargeVarTypes";
    ARROW_COMPRESSION = "spark.sql.execution.arrow.compression.codec";
    PYTHON_UDF_ARROW = "spark.sql.execution.pythonUDF.arrow.enabled";
    PYTHON_UDTF_ARROW = "spark.sql.execution.pythonUDTF.arrow.enabled";
    PYTHON_UDF_MAX_RECORDS = "spark.sql.execution.python.udf.maxRecordsPerBatch";
    PANDAS_ARROW_SAFELY = "spark.sql.execution.pandas.convertToArrowArraySafely";
    PANDAS_STRUCT_HANDLING = "spark.sql.execution.pandas.structHandlingMode";
    PYSPARK_BINARY_AS_BYTES = "spark.sql.execution.pyspark.binaryAsBytes";
    PANDAS_ASSIGN_BY_NAME = "spark.sql.legacy.execution.pandas.groupedMap.assignColumnsByName";
    PANDAS_INT_TO_DECIMAL = "spark.sql.execution.pythonUDF.pandas.intToDecimalCoercionEnabled";
    PANDAS_INT_EXTENSION = "spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype";
    PANDAS_UDF_CONVERSION = "spark.sql.legacy.execution.pythonUDF.pandas.conversion.enabled";
    PANDAS_UDTF_CONVERSION = "spark.sql.legacy.execution.pythonUDTF.pandas.conversion.enabled";
    PYTHON_UDF_CONCURRENCY = "spark.sql.execution.pythonUDF.arrow.concurrency.level";
    PYTHON_UDF_PROFILER = "spark.sql.pyspark.udf.profiler";
    DATA_SOURCE_PROFILER = "spark.sql.pyspark.dataSource.profiler";
    PYTHON_FILTER_PUSHDOWN = "spark.sql.python.filterPushdown.enabled";
    MULTIPLE_TABLE_ARGUMENTS = "spark.sql.tvf.allowMultipleTableArguments.enabled";
    HIDE_TRACEBACK = "spark.sql.execution.pyspark.udf.hideTraceback.enabled";
    PYSPARK_MEMORY = "spark.executor.pyspark.memory";
    EXECUTOR_CORES = "spark.executor.cores";
    PLANNER_MEMORY = "spark.sql.planner.pythonExecution.memory";
    PYTHON_FAULT_HANDLER = "spark.sql.execution.pyspark.udf.faulthandler.enabled";
    PYTHON_TRACEBACK_INTERVAL = "spark.sql.execution.pyspark.udf.tracebackDumpIntervalSeconds";
    PYTHON_IDLE_TIMEOUT = "spark.sql.execution.pyspark.udf.idleTimeoutSeconds";
    PYTHON_KILL_ON_IDLE = "spark.sql.execution.pyspark.udf.killOnIdleTimeout";
    SERVER_PYTHON = "spark.pyspark.python";
    PYSPARK_PYTHON = "spark.sql.execution.pyspark.python";
    SIMPLIFIED_TRACEBACK = "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled";
    JVM_STACKTRACE = "spark.sql.pyspark.jvmStacktrace.enabled";
    ENRICH_ERROR = "spark.sql.connect.enrichError.enabled";
    SERVER_STACKTRACE = "spark.sql.connect.serverStacktrace.enabled";
    DEFAULT_CATALOG = "spark.sql.defaultCatalog";
    DEFAULT_SOURCE = "spark.sql.sources.default";
    PARTITION_OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode";
    PARTITION_TYPE_INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled";
    VALIDATE_PARTITION_COLUMNS = "spark.sql.sources.validatePartitionColumns";
    DEFAULT_CACHE_STORAGE_LEVEL = "spark.sql.defaultCacheStorageLevel";
    IGNORE_CORRUPT_FILES = "spark.sql.files.ignoreCorruptFiles";
    IGNORE_MISSING_FILES = "spark.sql.files.ignoreMissingFiles";
    MAX_PARTITION_BYTES = "spark.sql.files.maxPartitionBytes";
    OPEN_COST_IN_BYTES = "spark.sql.files.openCostInBytes";
    MIN_PARTITION_NUM = "spark.sql.files.minPartitionNum";
    MAX_PARTITION_NUM = "spark.sql.files.maxPartitionNum";
    LEAF_NODE_PARALLELISM = "spark.sql.leafNodeDefaultParallelism";
    MAX_RECORDS_PER_FILE = "spark.sql.files.maxRecordsPerFile";
    PARQUET_COMPRESSION = "spark.sql.parquet.compression.codec";
    PARQUET_MERGE_SCHEMA = "spark.sql.parquet.mergeSchema";
    PARQUET_BINARY_AS_STRING = "spark.sql.parquet.binaryAsString";
    PARQUET_INT96_AS_TIMESTAMP = "spark.sql.parquet.int96AsTimestamp";
    PARQUET_INFER_NTZ = "spark.sql.parquet.inferTimestampNTZ.enabled";
    PARQUET_OUTPUT_TIMESTAMP_TYPE = "spark.sql.parquet.outputTimestampType";
    PARQUET_NANOS_AS_LONG = "spark.sql.legacy.parquet.nanosAsLong";
    BINARY_FILE_MAX_LENGTH = "spark.sql.sources.binaryFile.maxLength";
    LEGACY_PATH_OPTION = "spark.sql.legacy.pathOptionBehavior.enabled";
    ORC_MERGE_SCHEMA = "spark.sql.orc.mergeSchema";
    ORC_COMPRESSION = "spark.sql.orc.compression.codec";
    AVRO_COMPRESSION = "spark.sql.avro.compression.codec";
    JSON_IGNORE_NULL_FIELDS = "spark.sql.jsonGenerator.ignoreNullFields";
    CORRUPT_RECORD_COLUMN = "spark.sql.columnNameOfCorruptRecord";
    DEFAULT_COLUMN_ENABLED = "spark.sql.defaultColumn.enabled";
    TIME_TYPE_ENABLED = "spark.sql.timeType.enabled";
    COLLATION_IN_MAP_KEYS = "spark.sql.collation.allowInMapKeys";
    VARIANT_ALLOW_DUPLICATE_KEYS = "spark.sql.variant.allowDuplicateKeys";
    UI_EXPLAIN_MODE = "spark.sql.ui.explainMode";
    SIZE_OF_NULL = "spark.sql.legacy.sizeOfNull";
    ALLOW_HASH_ON_MAP = "spark.sql.legacy.allowHashOnMapType";
    ALLOW_NEGATIVE_SCALE = "spark.sql.legacy.allowNegativeScaleOfDecimal";
    ALLOW_PARAMETERLESS_COUNT = "spark.sql.legacy.allowParameterlessCount";
    ALLOW_ZERO_INDEX_IN_FORMAT = "spark.sql.legacy.allowZeroIndexInFormatString";
    BANG_EQUALS_NOT = "spark.sql.legacy.bangEqualsNot";
    CAST_COMPLEX_LEGACY = "spark.sql.legacy.castComplexTypesToString.enabled";
    CONSECUTIVE_STRING_LITERALS = "spark.sql.legacy.consecutiveStringLiterals.enabled";
    EMPTY_COLLECTION_AS_STRING = "spark.sql.legacy.createEmptyCollectionUsingStringType";
    CREATE_HIVE_TABLE = "spark.sql.legacy.createHiveTableByDefault";
    CTE_PRECEDENCE_POLICY = "spark.sql.legacy.ctePrecedencePolicy";
    DUPLICATE_BETWEEN_INPUT = "spark.sql.legacy.duplicateBetweenInput";
    EXPONENT_LITERAL_AS_DECIMAL = "spark.sql.legacy.exponentLiteralAsDecimal.enabled";
    THREE_VALUED_EXISTS = "spark.sql.legacy.followThreeValuedLogicInArrayExists";
    FROM_DAY_TIME_STRING = "spark.sql.legacy.fromDayTimeString.enabled";
    INTEGER_GROUPING_ID = "spark.sql.legacy.integerGroupingId";
    IN_SUBQUERY_NULLABILITY = "spark.sql.legacy.inSubqueryNullability";
    LEGACY_INTERVAL = "spark.sql.legacy.interval.enabled";
    LEGACY_JAVA_CHARSETS = "spark.sql.legacy.javaCharsets";
    LEGACY_CODING_ERROR_ACTION = "spark.sql.legacy.codingErrorAction";
    KEEP_COMMAND_OUTPUT_SCHEMA = "spark.sql.legacy.keepCommandOutputSchema";
    LITERAL_MINIMUM_PRECISION = "spark.sql.legacy.literal.pickMinimumPrecision";
    LPAD_RPAD_STRING = "spark.sql.legacy.lpadRpadAlwaysReturnString";
    NEGATIVE_INDEX_IN_INSERT = "spark.sql.legacy.negativeIndexInArrayInsert";
    NULL_IN_EMPTY_LIST = "spark.sql.legacy.nullInEmptyListBehavior";
    VIEW_SCHEMA_BINDING_MODE = "spark.sql.legacy.viewSchemaBindingMode";
    VIEW_SCHEMA_COMPENSATION = "spark.sql.legacy.viewSchemaCompensation";
    HAVING_AS_WHERE = "spark.sql.legacy.parser.havingWithoutGroupByAsWhere";
    PERCENTILE_DISC_LEGACY = "spark.sql.legacy.percentileDiscCalculation";
    REJECT_CORE_CONFS = "spark.sql.legacy.setCommandRejectsSparkCoreConfs";
    SETOPS_PRECEDENCE = "spark.sql.legacy.setopsPrecedence.enabled";
    STATISTICAL_AGGREGATE = "spark.sql.legacy.statisticalAggregate";
    TRUNCATE_FOR_EMPTY_REGEX = "spark.sql.legacy.truncateForEmptyRegexSplit";
    DATETIME_TO_STRING = "spark.sql.legacy.typeCoercion.datetimeToString.enabled";
    WAREHOUSE_DIR = "spark.sql.warehouse.dir";
    GLOBAL_TEMP_DATABASE = "spark.sql.globalTempDatabase";
    CATALOG_IMPLEMENTATION = "spark.sql.catalogImplementation";
    DEFAULT_DATABASE = "spark.sql.catalog.spark_catalog.defaultDatabase";
    LOCAL_RELATION_CACHE_THRESHOLD = "spark.sql.session.localRelationCacheThreshold";
    LOCAL_RELATION_SIZE_LIMIT = "spark.sql.session.localRelationSizeLimit";
    LOCAL_RELATION_CHUNK_LIMIT = "spark.sql.session.localRelationChunkSizeLimit";
    PLAN_COMPRESSION_THRESHOLD = "spark.connect.session.planCompression.threshold";
    COPY_FROM_LOCAL_ALLOW_DEST_LOCAL = "spark.sql.artifact.copyFromLocalToFs.allowDestLocal";
    BINDING_ADDRESS = "spark.connect.grpc.binding.address";
    BINDING_PORT = "spark.connect.grpc.binding.port";
    AUTHENTICATE_TOKEN = "spark.connect.authenticate.token";
    MAX_INBOUND_MESSAGE_SIZE = "spark.connect.grpc.maxInboundMessageSize";
    MAX_METADATA_SIZE = "spark.connect.grpc.maxMetadataSize";
    MAX_BATCH_SIZE = "spark.connect.grpc.arrow.maxBatchSize";
    MAX_PLAN_SIZE = "spark.connect.maxPlanSize";
    RECURSION_LIMIT = "spark.connect.grpc.marshallerRecursionLimit";
    PROGRESS_INTERVAL = "spark.connect.progress.reportInterval";
    RESULT_CHUNK_SIZE = "spark.connect.session.resultChunking.maxChunkSize";
    SESSION_TIMEOUT = "spark.connect.session.manager.defaultSessionTimeout";
    SESSION_MAINTENANCE_INTERVAL = "spark.connect.session.manager.maintenanceInterval";
    SESSION_TOMBSTONES = "spark.connect.session.manager.closedSessionsTombstonesSize";
    OPERATION_DETACHED_TIMEOUT = "spark.connect.execute.manager.detachedTimeout";
    OPERATION_MAINTENANCE_INTERVAL = "spark.connect.execute.manager.maintenanceInterval";
    OPERATION_TOMBSTONES = "spark.connect.execute.manager.abandonedTombstonesSize";
    OPERATION_CACHE_EXPIRATION = "spark.connect.session.inactiveOperations.cacheExpiration";
    REATTACHABLE_ENABLED = "spark.connect.execute.reattachable.enabled";
    RETRY_BUFFER_SIZE = "spark.connect.execute.reattachable.observerRetryBufferSize";
    MAX_STREAM_DURATION = "spark.connect.execute.reattachable.senderMaxStreamDuration";
    MAX_STREAM_SIZE = "spark.connect.execute.reattachable.senderMaxStreamSize";
    PLAN_CACHE_SIZE = "spark.connect.session.planCache.maxSize";
    CHECKPOINT_DIR = "spark.checkpoint.dir";
    MASTER = "spark.master";
    APP_NAME = "spark.app.name";
    APP_ID = "spark.app.id";
    FIRESTEEL_CACHE_MEMORY_LIMIT = "spark.firesteel.cache.memoryLimit";
    FIRESTEEL_THREADS = "spark.firesteel.execution.threads";
    FIRESTEEL_FOOTER_CACHE = "spark.firesteel.io.footerCache.memoryLimit";
    FIRESTEEL_MEMORY_FRACTION = "spark.firesteel.memory.fraction";
    FIRESTEEL_MEMORY_LIMIT = "spark.firesteel.memory.limit";
    FIRESTEEL_MEMORY_SESSION_FRACTION = "spark.firesteel.memory.sessionFraction";
    FIRESTEEL_METASTORE_PATH = "spark.firesteel.metastore.path";
    FIRESTEEL_PYTHON = "spark.firesteel.python.executable";
    FIRESTEEL_PYTHON_WORKERS = "spark.firesteel.python.workers";
    FIRESTEEL_RESULT_BUFFER = "spark.firesteel.result.bufferSize";
    FIRESTEEL_SPILL_COMPRESSION = "spark.firesteel.spill.compression";
    FIRESTEEL_SPILL_DIR = "spark.firesteel.spill.dir";
    FIRESTEEL_SPILL_LIMIT = "spark.firesteel.spill.limit";
}

#[cfg(test)]
mod tests {
    #[test]
    fn keys_are_declared() {
        // Spark declares no entries for these: a session may even set them.
        let undeclared = [super::MASTER, super::APP_NAME, super::APP_ID];
        for key in super::ALL.iter().filter(|key| !undeclared.contains(key)) {
            assert!(crate::lookup(key).is_some(), "{key}");
        }
    }
}
