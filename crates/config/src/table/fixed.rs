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
    e("spark.connect.authenticate.token", Text, Unset, Any, "", "The token that every client must show."),
    e("spark.connect.copyFromLocalToFs.allowDestLocal", Boolean, Is("false"), Any, "", ""),
    e("spark.connect.execute.manager.abandonedTombstonesSize", Int, Is("10000"), Any, "", "How many abandoned operations the server remembers."),
    e("spark.connect.execute.manager.detachedTimeout", Time(Millisecond), Is("300000ms"), Any, "", "How long an operation lives without a client attached to it."),
    e("spark.connect.execute.manager.maintenanceInterval", Time(Millisecond), Is("30000ms"), Any, "", "How often the server looks for operations that nobody is attached to."),
    e("spark.connect.execute.reattachable.enabled", Boolean, Is("true"), Any, "", "Whether clients can attach to a running operation again."),
    e("spark.connect.execute.reattachable.observerRetryBufferSize", Bytes(Byte), Is("10485760b"), Any, "", "How many bytes of responses that were sent are kept to be sent again."),
    e("spark.connect.execute.reattachable.senderMaxStreamDuration", Time(Millisecond), Is("120000ms"), Any, "", "After what time a stream of responses ends, so that the client attaches anew; 0 for never."),
    e("spark.connect.execute.reattachable.senderMaxStreamSize", Bytes(Byte), Is("1073741824b"), Any, "", "After how many bytes a stream of responses ends, so that the client attaches anew; 0 for never."),
    e("spark.connect.extensions.command.classes", List, Is(""), Any, "3.4.0", ""),
    e("spark.connect.extensions.expression.classes", List, Is(""), Any, "3.4.0", ""),
    e("spark.connect.extensions.getStatus.classes", List, Is(""), Any, "4.1.0", ""),
    e("spark.connect.extensions.relation.classes", List, Is(""), Any, "3.4.0", ""),
    e("spark.connect.grpc.arrow.maxBatchSize", Bytes(Byte), Is("134217728b"), Any, "3.4.0", "How large an Arrow batch of a result may be."),
    e("spark.connect.grpc.binding.address", Text, Unset, Any, "4.0.0", "The address on which the server listens."),
    e("spark.connect.grpc.binding.port", Int, Is("15002"), Any, "3.4.0", "The port on which the server listens."),
    e("spark.connect.grpc.interceptor.classes", Text, Unset, Any, "3.4.0", ""),
    e("spark.connect.grpc.marshallerRecursionLimit", Int, Is("1024"), Any, "", "How deeply the messages of a plan may be nested."),
    e("spark.connect.grpc.maxInboundMessageSize", Bytes(Byte), Is("134217728b"), Any, "3.4.0", "How large a request may be."),
    e("spark.connect.grpc.maxMetadataSize", Bytes(Byte), Is("1024b"), Any, "4.0.0", "How much of an error is sent in the metadata of a response."),
    e("spark.connect.grpc.port.maxRetries", Int, Is("0"), Any, "4.0.0", ""),
    e("spark.connect.jvmStacktrace.maxSize", Int, Is("1024"), Any, "3.5.0", ""),
    e("spark.connect.maxPlanSize", Bytes(Byte), Is("536870912b"), Any, "", "How large a plan may be when it is decompressed."),
    e("spark.connect.session.inactiveOperations.cacheExpiration", Time(Minute), Is("1800000ms"), Any, "", "How long a session remembers its finished operations."),
    e("spark.connect.session.manager.closedSessionsTombstonesSize", Int, Is("1000"), Any, "", "How many closed sessions the server remembers."),
    e("spark.connect.session.manager.defaultSessionTimeout", Time(Millisecond), Is("3600000ms"), Any, "", "How long a session lives without requests; for ever if -1."),
    e("spark.connect.session.manager.maintenanceInterval", Time(Millisecond), Is("30000ms"), Any, "", "How often the server looks for sessions that have expired."),
    e("spark.connect.session.planCache.maxSize", Int, Is("32"), Any, "", "How many analysed plans a session keeps."),
    e("spark.python.sql.dataFrameDebugging.enabled", Boolean, Is("true"), Any, "", ""),
    e("spark.sql.broadcastExchange.maxThreadThreshold", Int, Is("128"), Between(1, 128), "", ""),
    e("spark.sql.cache.serializer", Text, Is("org.apache.spark.sql.execution.columnar.DefaultCachedBatchSerializer"), Any, "3.1.0", ""),
    e("spark.sql.catalog.spark_catalog.defaultDatabase", Text, Is("default"), Any, "3.4.0", "The schema in which a session begins."),
    e("spark.sql.catalogImplementation", Enum(&["hive", "in-memory"], Exact), Is("in-memory"), Any, "", "What stands behind the session catalog: memory, or a Hive metastore."),
    e("spark.sql.codegen.cache.maxEntries", Int, Is("100"), AtLeast(0), "", ""),
    e("spark.sql.codegen.comments", Boolean, Is("false"), Any, "", ""),
    e("spark.sql.connect.ui.retainedSessions", Int, Is("200"), Any, "3.5.0", ""),
    e("spark.sql.connect.ui.retainedStatements", Int, Is("200"), Any, "3.5.0", ""),
    e("spark.sql.debug", Boolean, Is("false"), Any, "", ""),
    e("spark.sql.defaultUrlStreamHandlerFactory.enabled", Boolean, Is("true"), Any, "", ""),
    e("spark.sql.event.truncate.length", Int, Is("2147483647"), AtLeast(0), "3.0.0", ""),
    e("spark.sql.extensions", List, Unset, Any, "2.2.0", "Classes that extend the session; this server has none of them."),
    e("spark.sql.extensions.test.loadFromCp", Boolean, Is("true"), Any, "", ""),
    e("spark.sql.filesourceTableRelationCacheSize", Int, Is("1000"), AtLeast(0), "", ""),
    e("spark.sql.globalTempDatabase", LowerText, Is("global_temp"), Any, "", "The schema of global temporary views."),
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
    e("spark.sql.warehouse.dir", Text, Is("spark-warehouse"), Any, "2.0.0", "Where the data of managed tables live."),
];
