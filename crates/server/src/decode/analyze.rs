//! Questions about plans.

use super::{Decoder, catalog, not_set};
use crate::decompress;
use firesteel_engine::AnalysisRequest;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_plan::{ExplainMode, Relation, StorageLevel};
use firesteel_proto::connect as proto;
use proto::analyze_plan_request::{Analyze, explain};
use proto::plan::OpType;

impl Decoder<'_> {
    /// The question of an AnalyzePlan request.
    pub fn analysis(&mut self, message: Option<&Analyze>) -> Result<AnalysisRequest> {
        let Some(question) = message else {
            return Err(SparkError::new("CONNECT_INVALID_PLAN.UNKNOWN_ANALYZE_METHOD").with("other", "ANALYZE_NOT_SET"));
        };
        Ok(match question {
            Analyze::Schema(schema) => AnalysisRequest::Schema(self.root(schema.plan.as_ref())?),
            Analyze::Explain(explain) => {
                let mode = explain_mode(explain.explain_mode)?;
                AnalysisRequest::Explain(self.root(explain.plan.as_ref())?, mode)
            }
            Analyze::TreeString(tree) => AnalysisRequest::TreeString(self.root(tree.plan.as_ref())?, tree.level),
            Analyze::IsLocal(local) => AnalysisRequest::IsLocal(self.root(local.plan.as_ref())?),
            Analyze::IsStreaming(streaming) => AnalysisRequest::IsStreaming(self.root(streaming.plan.as_ref())?),
            Analyze::InputFiles(files) => AnalysisRequest::InputFiles(self.root(files.plan.as_ref())?),
            Analyze::SparkVersion(_) => AnalysisRequest::SparkVersion,
            Analyze::DdlParse(ddl) => AnalysisRequest::ParseDdl(ddl.ddl_string.clone()),
            Analyze::SameSemantics(same) => AnalysisRequest::SameSemantics(
                self.root(same.target_plan.as_ref())?,
                self.root(same.other_plan.as_ref())?,
            ),
            Analyze::SemanticHash(hash) => AnalysisRequest::SemanticHash(self.root(hash.plan.as_ref())?),
            Analyze::Persist(persist) => {
                let level = persist.storage_level.as_ref().map(catalog::storage_level);
                AnalysisRequest::Persist(
                    self.input(persist.relation.as_ref())?,
                    level.unwrap_or(StorageLevel::MEMORY_AND_DISK_DESER),
                )
            }
            Analyze::Unpersist(unpersist) => AnalysisRequest::Unpersist {
                relation: self.input(unpersist.relation.as_ref())?,
                blocking: unpersist.blocking.unwrap_or(false),
            },
            Analyze::GetStorageLevel(level) => AnalysisRequest::GetStorageLevel(self.input(level.relation.as_ref())?),
            Analyze::JsonToDdl(json) => AnalysisRequest::JsonToDdl(json.json_string.clone()),
        })
    }

    /// The relation of a plan that must be one.
    fn root(&mut self, plan: Option<&proto::Plan>) -> Result<Relation> {
        match plan.and_then(|plan| plan.op_type.as_ref()) {
            Some(OpType::Root(relation)) => self.relation(relation),
            Some(OpType::CompressedOperation(operation)) => match decompress::operation(operation)? {
                OpType::Root(relation) => self.relation(&relation),
                _ => Err(not_set("Relation", "rel_type")),
            },
            Some(OpType::Command(_)) | None => Err(not_set("Relation", "rel_type")),
        }
    }
}

fn explain_mode(number: i32) -> Result<ExplainMode> {
    match explain::ExplainMode::try_from(number) {
        Ok(explain::ExplainMode::Simple) => Ok(ExplainMode::Simple),
        Ok(explain::ExplainMode::Extended) => Ok(ExplainMode::Extended),
        Ok(explain::ExplainMode::Codegen) => Ok(ExplainMode::Codegen),
        Ok(explain::ExplainMode::Cost) => Ok(ExplainMode::Cost),
        Ok(explain::ExplainMode::Formatted) => Ok(ExplainMode::Formatted),
        other => {
            let name = other.map_or("UNRECOGNIZED", |mode| mode.as_str_name());
            Err(SparkError::plain(ExceptionClass::UnsupportedOperation, format!("Unknown Explain Mode {name}!")))
        }
    }
}
