//! AnalyzePlan: answers questions about plans.

use crate::decode::Decoder;
use crate::encode;
use crate::sessions::ServerSession;
use firesteel_engine::AnalysisReply;
use firesteel_error::{Result, SparkError};
use firesteel_proto::connect::analyze_plan_request::Analyze;
use firesteel_proto::connect::analyze_plan_response as response;
use std::sync::Arc;

/// The answer to a question.
pub async fn analyze(session: Arc<ServerSession>, question: Option<Analyze>) -> Result<response::Result> {
    let request = Decoder::new(session.as_ref()).analysis(question.as_ref())?;
    let reply = session.engine.analyze(request).await?;
    let Some(question) = question else {
        return Err(SparkError::new("CONNECT_INVALID_PLAN.UNKNOWN_ANALYZE_METHOD").with("other", "ANALYZE_NOT_SET"));
    };
    answer(&question, reply).ok_or_else(|| SparkError::internal("the answer does not fit the question"))
}

fn answer(question: &Analyze, reply: AnalysisReply) -> Option<response::Result> {
    Some(match (question, reply) {
        (Analyze::Schema(_), AnalysisReply::Schema(schema)) => {
            response::Result::Schema(response::Schema { schema: Some(encode::schema(&schema)) })
        }
        (Analyze::Explain(_), AnalysisReply::Text(explain_string)) => {
            response::Result::Explain(response::Explain { explain_string })
        }
        (Analyze::TreeString(_), AnalysisReply::Text(tree_string)) => {
            response::Result::TreeString(response::TreeString { tree_string })
        }
        (Analyze::IsLocal(_), AnalysisReply::Flag(is_local)) => {
            response::Result::IsLocal(response::IsLocal { is_local })
        }
        (Analyze::IsStreaming(_), AnalysisReply::Flag(is_streaming)) => {
            response::Result::IsStreaming(response::IsStreaming { is_streaming })
        }
        (Analyze::InputFiles(_), AnalysisReply::Files(files)) => {
            response::Result::InputFiles(response::InputFiles { files })
        }
        (Analyze::SparkVersion(_), AnalysisReply::Text(version)) => {
            response::Result::SparkVersion(response::SparkVersion { version })
        }
        (Analyze::DdlParse(_), AnalysisReply::Type(parsed)) => {
            response::Result::DdlParse(response::DdlParse { parsed: Some(encode::data_type(&parsed)) })
        }
        (Analyze::DdlParse(_), AnalysisReply::Schema(parsed)) => {
            response::Result::DdlParse(response::DdlParse { parsed: Some(encode::schema(&parsed)) })
        }
        (Analyze::SameSemantics(_), AnalysisReply::Flag(result)) => {
            response::Result::SameSemantics(response::SameSemantics { result })
        }
        (Analyze::SemanticHash(_), AnalysisReply::Hash(result)) => {
            response::Result::SemanticHash(response::SemanticHash { result })
        }
        (Analyze::Persist(_), AnalysisReply::Done) => response::Result::Persist(response::Persist {}),
        (Analyze::Unpersist(_), AnalysisReply::Done) => response::Result::Unpersist(response::Unpersist {}),
        (Analyze::GetStorageLevel(_), AnalysisReply::StorageLevel(level)) => {
            let storage_level = Some(encode::storage_level(level));
            response::Result::GetStorageLevel(response::GetStorageLevel { storage_level })
        }
        (Analyze::JsonToDdl(_), AnalysisReply::Text(ddl_string)) => {
            response::Result::JsonToDdl(response::JsonToDdl { ddl_string })
        }
        _ => return None,
    })
}
