//! Questions about plans: the members of AnalyzePlan.

use firesteel_plan::{ExplainMode, Relation, StorageLevel};
use firesteel_types::{DataType, StructType};

/// A question about a plan.
pub enum AnalysisRequest {
    Schema(Relation),
    Explain(Relation, ExplainMode),
    TreeString(Relation, Option<i32>),
    IsLocal(Relation),
    IsStreaming(Relation),
    InputFiles(Relation),
    SparkVersion,
    ParseDdl(String),
    SameSemantics(Relation, Relation),
    SemanticHash(Relation),
    Persist(Relation, StorageLevel),
    Unpersist { relation: Relation, blocking: bool },
    GetStorageLevel(Relation),
    JsonToDdl(String),
}

/// The answer to an [`AnalysisRequest`].
pub enum AnalysisReply {
    Schema(StructType),
    Text(String),
    Flag(bool),
    Files(Vec<String>),
    Type(DataType),
    Hash(i32),
    StorageLevel(StorageLevel),
    Done,
}
