//! Questions about plans: the members of AnalyzePlan.

use crate::kept::{PlanOnly, persist};
use crate::session::{self, SPARK_VERSION, Session};
use crate::{execution, fingerprint};
use firesteel_analyzer::{attribute, streaming};
use firesteel_error::Result;
use firesteel_plan::{ExplainMode, Relation, RelationKind, StorageLevel};
use firesteel_types::{DataType, StructType};
use std::sync::Arc;

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

/// Answers a question.
pub(crate) async fn answer(session: &Arc<Session>, request: AnalysisRequest) -> Result<AnalysisReply> {
    match request {
        AnalysisRequest::Schema(relation) => Ok(AnalysisReply::Schema(schema(session, relation).await?)),
        AnalysisRequest::TreeString(relation, level) => {
            Ok(AnalysisReply::Text(schema(session, relation).await?.tree_string(level)))
        }
        AnalysisRequest::Explain(relation, mode) => explain(session, relation, mode).await,
        AnalysisRequest::IsLocal(relation) => {
            let is_local = matches!(relation.kind(), RelationKind::Local(_));
            session.analyse(relation).await?;
            Ok(AnalysisReply::Flag(is_local))
        }
        AnalysisRequest::IsStreaming(relation) => {
            let analysed = session.analyse(relation).await?;
            Ok(AnalysisReply::Flag(streaming::is_streaming(&analysed.resolved.plan)))
        }
        AnalysisRequest::InputFiles(relation) => {
            let analysed = session.analyse(relation).await?;
            if streaming::is_streaming(&analysed.resolved.plan) {
                return Err(streaming::not_started());
            }
            Ok(AnalysisReply::Files(fingerprint::files(&analysed.resolved.plan)?))
        }
        AnalysisRequest::SparkVersion => Ok(AnalysisReply::Text(SPARK_VERSION.to_string())),
        AnalysisRequest::ParseDdl(text) => Ok(AnalysisReply::Type(firesteel_types::ddl::parse_ddl(&text)?)),
        AnalysisRequest::JsonToDdl(text) => match DataType::from_json(&text)? {
            DataType::Struct(schema) => Ok(AnalysisReply::Text(schema.to_ddl())),
            other => Ok(AnalysisReply::Text(other.sql())),
        },
        AnalysisRequest::SameSemantics(left, right) => {
            let left_hash = semantic_text(session, left).await?;
            let right_hash = semantic_text(session, right).await?;
            Ok(AnalysisReply::Flag(left_hash == right_hash))
        }
        AnalysisRequest::SemanticHash(relation) => {
            use std::hash::{DefaultHasher, Hash, Hasher};
            let text = semantic_text(session, relation).await?;
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            let bytes = hasher.finish().to_le_bytes();
            Ok(AnalysisReply::Hash(i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])))
        }
        AnalysisRequest::Persist(relation, level) => {
            persist::persist(session, relation, level).await?;
            Ok(AnalysisReply::Done)
        }
        // What is freed is free at once, whether the client waits for it or not.
        AnalysisRequest::Unpersist { relation, blocking: _ } => {
            persist::unpersist(session, relation).await?;
            Ok(AnalysisReply::Done)
        }
        AnalysisRequest::GetStorageLevel(relation) => {
            Ok(AnalysisReply::StorageLevel(persist::storage_level(session, relation).await?))
        }
    }
}

async fn schema(session: &Arc<Session>, relation: Relation) -> Result<StructType> {
    match relation.kind() {
        RelationKind::ShowString { .. } => {
            return Ok(StructType::new(vec![firesteel_types::StructField::new(
                "show_string",
                DataType::STRING,
                false,
            )]));
        }
        RelationKind::HtmlString { .. } => {
            return Ok(StructType::new(vec![firesteel_types::StructField::new(
                "html_string",
                DataType::STRING,
                false,
            )]));
        }
        _ => {}
    }
    let analysed = session.analyse_and_remember(relation).await?;
    Ok(attribute::schema_of(&analysed.resolved.output))
}

/// The analysed plan as text, its ids renumbered by first appearance: equal for equal plans.
async fn semantic_text(session: &Arc<Session>, relation: Relation) -> Result<String> {
    let analysed = session.analyse(relation).await?;
    let plan = analysed.resolved.exact()?;
    let sources = session::blocking({
        let plan = plan.clone();
        move || fingerprint::sources(&plan)
    })
    .await?;
    Ok(format!("{}\n{sources:?}", renumber(&format!("{plan:?}"))))
}

/// Replaces the plan's column names, `name#id`, by `#n`, n counting ids by first appearance.
fn renumber(text: &str) -> String {
    const BEFORE: &str = "name: \"";
    let mut ids: Vec<&str> = Vec::new();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(BEFORE) {
        let (before, after) = rest.split_at(at + BEFORE.len());
        out.push_str(before);
        rest = after;
        let Some(end) = closing_quote(after) else { break };
        let name = &after[..end];
        rest = &after[end..];
        match name.rsplit_once('#') {
            Some((_, id)) if !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit()) => {
                let n = ids.iter().position(|i| *i == id).unwrap_or_else(|| {
                    ids.push(id);
                    ids.len() - 1
                });
                out.push('#');
                out.push_str(&n.to_string());
            }
            _ => out.push_str(name),
        }
    }
    out.push_str(rest);
    out
}

/// The position of the quote that ends a quoted text.
fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|b| {
        let closes = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        closes
    })
}

async fn explain(session: &Arc<Session>, relation: Relation, mode: ExplainMode) -> Result<AnalysisReply> {
    let parsed = format!("{:?}", relation.kind());
    let analysed = session.analyse(relation).await?;
    let mut logical = analysed.resolved.exact()?;
    if streaming::is_streaming(&logical) {
        logical = crate::streaming::shown(&logical)?;
    }
    // An explanation runs nothing: kept relations without rows stay as they are.
    let state = &PlanOnly::of(session.state());
    let unnested = firesteel_analyzer::unnest(logical.clone()).and_then(firesteel_analyzer::python::extract)?;
    let optimised = state.optimize(&unnested).map_err(firesteel_analyzer::resolved::engine_error)?;
    let physical = execution::plan(state, &logical).await?;
    let physical_text = crate::explain::physical(physical.as_ref());
    let text = match mode {
        ExplainMode::Simple => format!("== Physical Plan ==\n{physical_text}\n"),
        ExplainMode::Formatted => {
            format!("== Physical Plan ==\n{}\n", crate::explain::formatted(physical.as_ref()))
        }
        // Operators are not compiled for a query.
        ExplainMode::Codegen => "Found 0 WholeStageCodegen subtrees.\n".to_string(),
        ExplainMode::Cost => format!(
            "== Optimized Logical Plan ==\n{}, {}\n\n== Physical Plan ==\n{physical_text}\n",
            optimised.display_indent(),
            crate::explain::statistics(physical.as_ref()),
        ),
        ExplainMode::Extended => {
            let parsed: String = parsed.chars().take(2_000).collect();
            format!(
                "== Parsed Logical Plan ==\n{parsed}\n\n== Analyzed Logical Plan ==\n{}\n\n== Optimized Logical Plan ==\n{}\n\n== Physical Plan ==\n{physical_text}\n",
                logical.display_indent(),
                optimised.display_indent(),
            )
        }
    };
    Ok(AnalysisReply::Text(text))
}
