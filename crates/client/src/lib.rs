//! A client of Spark Connect: for Firesteel, Apache Spark 4.x and other servers of the protocol.
//!
//! ```no_run
//! use firesteel_client::functions::{avg, col, count, lit};
//! use firesteel_client::SparkSession;
//!
//! #[tokio::main]
//! async fn main() -> firesteel_client::Result<()> {
//!     let spark = SparkSession::connect("sc://localhost:15002").await?;
//!     let sales = spark.read().parquet("sales/");
//!     sales
//!         .filter(col("amount").gt(0))
//!         .group_by("city")
//!         .agg((count(lit(1)).alias("n"), avg("amount").alias("mean")))
//!         .order_by(col("n").desc())
//!         .show()
//!         .await?;
//!     spark.stop().await
//! }
//! ```
//!
//! - [`SparkSession`] is the way in; [`DataFrame`] describes rows, [`Column`] and
//!   [`functions`] describe values.
//! - Rows come as Arrow batches ([`DataFrame::collect`]), as a stream with
//!   back-pressure ([`DataFrame::stream`]), as [`Row`]s, or as types of your own by
//!   serde ([`DataFrame::collect_as`]).
//! - Lost connections are mended: operations go on at the server, and their
//!   results are read on from where they broke, no row lost or double.
//! - Failures are [`Error`]s with Spark's condition, SQLSTATE, parameters and place.
//! - With the feature `blocking`, everything works without an async runtime.
//!
//! Invariant: knows the wire types and Spark's types, and nothing of servers.

mod artifacts;
mod batches;
#[cfg(feature = "blocking")]
pub mod blocking;
mod catalog;
mod chores;
mod column;
mod conf;
mod connection;
mod dataframe;
mod deserialize;
mod encoded;
mod error;
pub mod functions;
mod group;
mod local;
mod merge;
mod observation;
mod plan;
mod progress;
mod reader;
mod register;
mod responses;
mod retry;
mod rows;
mod serialize;
mod session;
mod streaming;
mod table_functions;
mod transport;
mod types;
mod window;
mod writer;

#[doc(hidden)]
pub mod doc_server;
#[doc(hidden)]
pub use doc_server::{doc_test, doc_test_url};

pub use artifacts::ArtifactKind;
pub use batches::{BatchStream, ExecutionInfo};
pub use catalog::{Catalog, CatalogColumn, CatalogMetadata, Database, Function, NewTable, Table};
pub use column::{Column, IntoColumn, IntoColumns, IntoDataType, IntoLiteral, IntoValue, When};
pub use conf::RuntimeConf;
pub use connection::{Connection, DEFAULT_PORT};
pub use dataframe::{
    AsOfJoin, DataFrame, ExplainMode, InlineFunction, IntoCondition, JoinType, MissingRule, On, ShowOptions,
    StorageLevel,
};
pub use error::{Error, ErrorKind, QueryContext, Result, SparkError};
pub use functions::IntoSchemaColumn;
pub use group::GroupedData;
pub use merge::{MergeIntoWriter, WhenMatched, WhenNotMatched};
pub use observation::{Observation, ObservedValues};
pub use progress::{Progress, ProgressHandlerId, StageProgress};
pub use reader::{IntoPaths, Reader};
pub use retry::{RetryOn, RetryPolicy};
pub use rows::{ColumnIndex, Row, records};
pub use session::{OperationState, OperationStatus, SparkSession, SparkSessionBuilder};
pub use streaming::{
    DataStreamReader, DataStreamWriter, OutputMode, StreamingQuery, StreamingQueryEvent, StreamingQueryEvents,
    StreamingQueryException, StreamingQueryManager, StreamingQueryStatus, Trigger,
};
pub use table_functions::{TableArgument, TableFunctions};
pub use types::IntoSchema;
pub use window::{Bound, Window};
pub use writer::{SaveMode, Writer, WriterV2};

/// Arrow, in the version that batches are of.
pub use arrow;
/// Wire types, for requests that have no method here.
pub use firesteel_proto::connect as proto;
pub use firesteel_types::{DataType, Literal, Metadata, StructField, StructType};
