//! Questions about a frame that do not run it.

use super::DataFrame;
use crate::error::{Error, Result};
use crate::types::schema_from_proto;
use firesteel_proto::connect as proto;
use firesteel_types::StructType;
use proto::analyze_plan_request::{self as request, Analyze};
use proto::analyze_plan_response::Result as Answer;

/// How much `explain` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExplainMode {
    /// The physical plan.
    #[default]
    Simple,
    /// All plans.
    Extended,
    /// Generated code.
    Codegen,
    /// The logical plan with statistics.
    Cost,
    /// The physical plan in two parts.
    Formatted,
}

fn unexpected() -> Error {
    Error::protocol("the answer to another question")
}

impl DataFrame {
    /// The names, types and nullability of the columns.
    pub async fn schema(&self) -> Result<StructType> {
        match self.session.analyze(Analyze::Schema(request::Schema { plan: self.proto_plan() })).await? {
            Answer::Schema(answer) => schema_from_proto(&answer.schema.ok_or_else(unexpected)?),
            _ => Err(unexpected()),
        }
    }

    /// The names of the columns.
    pub async fn columns(&self) -> Result<Vec<String>> {
        Ok(self.schema().await?.fields.into_iter().map(|field| field.name).collect())
    }

    /// The names of the columns, and their types as text.
    pub async fn dtypes(&self) -> Result<Vec<(String, String)>> {
        let fields = self.schema().await?.fields;
        Ok(fields.into_iter().map(|field| (field.name, field.data_type.simple_string())).collect())
    }

    /// The schema as a tree, down to a level or all of it.
    pub async fn tree_string(&self, level: Option<i32>) -> Result<String> {
        match self.session.analyze(Analyze::TreeString(request::TreeString { plan: self.proto_plan(), level })).await? {
            Answer::TreeString(answer) => Ok(answer.tree_string),
            _ => Err(unexpected()),
        }
    }

    /// Prints the schema as a tree.
    pub async fn print_schema(&self) -> Result<()> {
        println!("{}", self.tree_string(None).await?);
        Ok(())
    }

    /// The plan as text.
    pub async fn explain_string(&self, mode: ExplainMode) -> Result<String> {
        use request::explain::ExplainMode as Mode;
        let mode = match mode {
            ExplainMode::Simple => Mode::Simple,
            ExplainMode::Extended => Mode::Extended,
            ExplainMode::Codegen => Mode::Codegen,
            ExplainMode::Cost => Mode::Cost,
            ExplainMode::Formatted => Mode::Formatted,
        };
        let explain = request::Explain { plan: self.proto_plan(), explain_mode: mode.into() };
        match self.session.analyze(Analyze::Explain(explain)).await? {
            Answer::Explain(answer) => Ok(answer.explain_string),
            _ => Err(unexpected()),
        }
    }

    /// Prints the plan.
    pub async fn explain(&self, mode: ExplainMode) -> Result<()> {
        println!("{}", self.explain_string(mode).await?);
        Ok(())
    }

    /// Whether the rows are there without running anything.
    pub async fn is_local(&self) -> Result<bool> {
        match self.session.analyze(Analyze::IsLocal(request::IsLocal { plan: self.proto_plan() })).await? {
            Answer::IsLocal(answer) => Ok(answer.is_local),
            _ => Err(unexpected()),
        }
    }

    /// Whether rows keep coming.
    pub async fn is_streaming(&self) -> Result<bool> {
        match self.session.analyze(Analyze::IsStreaming(request::IsStreaming { plan: self.proto_plan() })).await? {
            Answer::IsStreaming(answer) => Ok(answer.is_streaming),
            _ => Err(unexpected()),
        }
    }

    /// The files that the frame reads.
    pub async fn input_files(&self) -> Result<Vec<String>> {
        match self.session.analyze(Analyze::InputFiles(request::InputFiles { plan: self.proto_plan() })).await? {
            Answer::InputFiles(answer) => Ok(answer.files),
            _ => Err(unexpected()),
        }
    }

    /// Whether both frames give the same rows by plans that are equal but for names.
    pub async fn same_semantics(&self, other: &DataFrame) -> Result<bool> {
        let question = request::SameSemantics { target_plan: self.proto_plan(), other_plan: other.proto_plan() };
        match self.session.analyze(Analyze::SameSemantics(question)).await? {
            Answer::SameSemantics(answer) => Ok(answer.result),
            _ => Err(unexpected()),
        }
    }

    /// A number that frames of the same semantics share.
    pub async fn semantic_hash(&self) -> Result<i32> {
        match self.session.analyze(Analyze::SemanticHash(request::SemanticHash { plan: self.proto_plan() })).await? {
            Answer::SemanticHash(answer) => Ok(answer.result),
            _ => Err(unexpected()),
        }
    }
}

impl crate::SparkSession {
    /// The type that a text of DDL tells, as the server reads it.
    pub async fn parse_ddl(&self, text: impl Into<String>) -> Result<firesteel_types::DataType> {
        match self.analyze(Analyze::DdlParse(request::DdlParse { ddl_string: text.into() })).await? {
            Answer::DdlParse(answer) => crate::types::from_proto(&answer.parsed.ok_or_else(unexpected)?),
            _ => Err(unexpected()),
        }
    }

    /// A schema's JSON as DDL, as the server writes it.
    pub async fn json_to_ddl(&self, json: impl Into<String>) -> Result<String> {
        match self.analyze(Analyze::JsonToDdl(request::JsonToDdl { json_string: json.into() })).await? {
            Answer::JsonToDdl(answer) => Ok(answer.ddl_string),
            _ => Err(unexpected()),
        }
    }
}
