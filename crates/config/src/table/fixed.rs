//! Settings of the server that a session can read, sorted by key.

use super::row;
use crate::entry::ByteUnit::*;
use crate::entry::Check::*;
use crate::entry::Default::*;
use crate::entry::Fold::*;
use crate::entry::Kind::*;
use crate::entry::TimeUnit::*;
use crate::entry::{Check, ConfigEntry, Default, Kind, Scope};

const fn e(
    key: &'static str,
    kind: Kind,
    default: Default,
    check: Check,
    since: &'static str,
    doc: &'static str,
) -> ConfigEntry {
    row(key, kind, default, check, since, doc, Scope::Static)
}

#[rustfmt::skip]
pub(super) static TABLE: &[ConfigEntry] = &[
    e("spark.connect.authenticate.token", Text, Unset, Any, "", ""),
    e("spark.connect.copyFromLocalToFs.allowDestLocal", Boolean, Is("false"), Any, "", ""),
    e("spark.connect.execute.manager.abandonedTombstonesSize", Int, Is("10000"), Any, "", ""),
    e("spark.connect.execute.manager.detachedTimeout", Time(Millisecond), Is("300000ms"), Any, "", ""),
    e("spark.connect.execute.manager.maintenanceInterval", Time(Millisecond), Is("30000ms"), Any, "", ""),
    e("spark.connect.execute.reattachable.enabled", Boolean, Is("true"), Any, "", ""),
    e("spark.connect.execute.reattachable.observerRetryBufferSize", Bytes(Byte), Is("10485760b"), Any, "", ""),
    e("spark.connect.execute.reattachable.senderMaxStreamDuration", Time(Millisecond), Is("120000ms"), Any, "", ""),
    e("spark.connect.execute.reattachable.senderMaxStreamSize", Bytes(Byte), Is("1073741824b"), Any, "", ""),
    e("spark.connect.extensions.command.classes", List, Is(""), Any, "3.4.0", ""),
    e("spark.connect.extensions.expression.classes", List, Is(""), Any, "3.4.0", ""),
    e("spark.connect.extensions.getStatus.classes", List, Is(""), Any, "4.1.0", ""),
    e("spark.connect.extensions.relation.classes", List, Is(""), Any, "3.4.0", ""),
    e("spark.connect.grpc.arrow.maxBatchSize", Bytes(Byte), Is("134217728b"), Any, "3.4.0", ""),
    e("spark.connect.grpc.binding.address", Text, Unset, Any, "4.0.0", ""),
    e("spark.connect.grpc.binding.port", Int, Is("15002"), Any, "3.4.0", ""),
    e("spark.connect.grpc.interceptor.classes", Text, Unset, Any, "3.4.0", ""),
    e("spark.connect.grpc.marshallerRecursionLimit", Int, Is("1024"), Any, "", ""),
    e("spark.connect.grpc.maxInboundMessageSize", Bytes(Byte), Is("134217728b"), Any, "3.4.0", ""),
    e("spark.connect.grpc.maxMetadataSize", Bytes(Byte), Is("1024b"), Any, "4.0.0", ""),
    e("spark.connect.grpc.port.maxRetries", Int, Is("0"), Any, "4.0.0", ""),
    e("spark.connect.jvmStacktrace.maxSize", Int, Is("1024"), Any, "3.5.0", ""),
    e("spark.connect.maxPlanSize", Bytes(Byte), Is("536870912b"), Any, "", ""),
    e("spark.connect.session.inactiveOperations.cacheExpiration", Time(Minute), Is("1800000ms"), Any, "", ""),
    e("spark.connect.session.manager.closedSessionsTombstonesSize", Int, Is("1000"), Any, "", ""),
    e("spark.connect.session.manager.defaultSessionTimeout", Time(Millisecond), Is("3600000ms"), Any, "", ""),
    e("spark.connect.session.manager.maintenanceInterval", Time(Millisecond), Is("30000ms"), Any, "", ""),
    e("spark.connect.session.planCache.maxSize", Int, Is("32"), Any, "", ""),
    e("spark.python.sql.dataFrameDebugging.enabled", Boolean, Is("true"), Any, "", ""),
    e("spark.sql.broadcastExchange.maxThreadThreshold", Int, Is("128"), Between(1, 128), "", ""),
    e("spark.sql.cache.serializer", Text, Is("org.apache.spark.sql.execution.columnar.DefaultCachedBatchSerializer"), Any, "3.1.0", ""),
    e("spark.sql.catalog.spark_catalog.defaultDatabase", Text, Is("default"), Any, "3.4.0", ""),
    e("spark.sql.catalogImplementation", Enum(&["hive", "in-memory"], Exact), Is("in-memory"), Any, "", ""),
    e("spark.sql.codegen.cache.maxEntries", Int, Is("100"), AtLeast(0), "", ""),
    e("spark.sql.codegen.comments", Boolean, Is("false"), Any, "", ""),
    e("spark.sql.connect.ui.retainedSessions", Int, Is("200"), Any, "3.5.0", ""),
    e("spark.sql.connect.ui.retainedStatements", Int, Is("200"), Any, "3.5.0", ""),
    e("spark.sql.debug", Boolean, Is("false"), Any, "", ""),
    e("spark.sql.defaultUrlStreamHandlerFactory.enabled", Boolean, Is("true"), Any, "", ""),
    e("spark.sql.event.truncate.length", Int, Is("2147483647"), AtLeast(0), "3.0.0", ""),
    e("spark.sql.extensions", List, Unset, Any, "2.2.0", ""),
    e("spark.sql.extensions.test.loadFromCp", Boolean, Is("true"), Any, "", ""),
    e("spark.sql.filesourceTableRelationCacheSize", Int, Is("1000"), AtLeast(0), "", ""),
    e("spark.sql.globalTempDatabase", LowerText, Is("global_temp"), Any, "", ""),
    e("spark.sql.hive.metastore.barrierPrefixes", List, Is(""), Any, "1.4.0", ""),
    e("spark.sql.hive.metastore.jars", Text, Is("builtin"), Any, "1.4.0", ""),
    e("spark.sql.hive.metastore.jars.path", List, Is(""), Any, "3.1.0", ""),
    e("spark.sql.hive.metastore.sharedPrefixes", List, Is("com.mysql.jdbc,com.mysql.cj,org.postgresql,com.microsoft.sqlserver,oracle.jdbc"), Any, "1.4.0", ""),
    e("spark.sql.hive.metastore.version", Text, Is("2.3.10"), Any, "1.4.0", ""),
    e("spark.sql.hive.thriftServer.singleSession", Boolean, Is("false"), Any, "1.6.0", ""),
    e("spark.sql.hive.version", Text, Is("2.3.10"), Any, "1.1.1", ""),
    e("spark.sql.legacy.sessionInitWithConfigDefaults", Boolean, Is("false"), Any, "", ""),
    e("spark.sql.metadataCacheTTLSeconds", Time(Second), Is("-1000ms"), Any, "3.1.0", ""),
    e("spark.sql.queryExecutionListeners", List, Unset, Any, "2.3.0", ""),
    e("spark.sql.resultQueryStage.maxThreadThreshold", Int, Is("1024"), Between(1, 1024), "", ""),
    e("spark.sql.shuffleExchange.maxThreadThreshold", Int, Is("1024"), Between(1, 1024), "", ""),
    e("spark.sql.sources.disabledJdbcConnProviderList", Text, Is(""), Any, "3.1.0", ""),
    e("spark.sql.sources.schemaStringLengthThreshold", Int, Is("4000"), Any, "", ""),
    e("spark.sql.streaming.streamingQueryListeners", List, Unset, Any, "2.4.0", ""),
    e("spark.sql.streaming.ui.enabled", Boolean, Is("true"), Any, "3.0.0", ""),
    e("spark.sql.streaming.ui.enabledCustomMetricList", List, Is(""), Any, "", ""),
    e("spark.sql.streaming.ui.retainedProgressUpdates", Int, Is("100"), Any, "3.0.0", ""),
    e("spark.sql.streaming.ui.retainedQueries", Int, Is("100"), Any, "3.0.0", ""),
    e("spark.sql.subquery.maxThreadThreshold", Int, Is("16"), Between(1, 128), "", ""),
    e("spark.sql.ui.retainedExecutions", Int, Is("1000"), Any, "1.5.0", ""),
    e("spark.sql.warehouse.dir", Text, Is("spark-warehouse"), Any, "2.0.0", ""),
];
