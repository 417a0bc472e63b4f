//! What a table function's own `analyze` says of a call.

use super::PlannerError;
use super::conversation::{Conversation, Question};
use crate::wire::Encode;
use crate::{Environment, WorkerPool};
use bytes::Bytes;
use std::sync::Arc;

/// A call that is to be analysed.
#[derive(Debug, Clone)]
pub struct AnalyzeRequest {
    /// The function's name, for messages.
    pub name: String,
    /// The pickled class.
    pub handler: Bytes,
    /// The Python that pickled it, `3.11`.
    pub python_version: String,
    pub arguments: Vec<AnalyzeArgument>,
}

/// An argument as `analyze` sees it.
#[derive(Debug, Clone)]
pub struct AnalyzeArgument {
    /// The type as JSON; that of a table's rows is a struct.
    pub data_type: String,
    /// The pickled value, where it is constant.
    pub value: Option<Vec<u8>>,
    pub is_table: bool,
    pub name: Option<String>,
}

/// What `analyze` gave.
#[derive(Debug, Clone)]
pub struct TableAnalysis {
    /// The rows' schema as JSON.
    pub schema: String,
    /// The pickled result itself, for the function's instances.
    pub result: Bytes,
    pub with_single_partition: bool,
    /// SQL texts of expressions over the table argument.
    pub partition_by: Vec<String>,
    pub order_by: Vec<AnalyzedOrder>,
    /// SQL texts, and the names that they get; none for all columns.
    pub select: Vec<(String, String)>,
}

/// A key by which the rows of a table argument are ordered.
#[derive(Debug, Clone)]
pub struct AnalyzedOrder {
    /// SQL text.
    pub expression: String,
    pub ascending: bool,
    /// None for the direction's own rule.
    pub nulls_first: Option<bool>,
}

/// Calls `analyze`.
pub async fn analyze(
    pool: &Arc<WorkerPool>,
    environment: &Environment,
    request: &AnalyzeRequest,
) -> Result<TableAnalysis, PlannerError> {
    let mut body = Vec::with_capacity(request.handler.len() + 256);
    body.put_text(&request.name);
    body.put_bytes(&request.handler);
    body.put_count(request.arguments.len());
    for argument in &request.arguments {
        body.put_text(&argument.data_type);
        body.put_bool(argument.value.is_some());
        if let Some(value) = &argument.value {
            body.put_bytes(value);
        }
        body.put_bool(argument.is_table);
        body.put_bool(argument.name.is_some());
        if let Some(name) = &argument.name {
            body.put_text(name);
        }
    }
    let question = Question {
        module: "pyspark.sql.worker.analyze_udtf",
        python_version: &request.python_version,
        settings: &[],
        body,
    };
    let mut answer = Conversation::ask(pool, environment, question).await?;
    let schema = answer.text().await?;
    let result = answer.bytes().await?;
    let with_single_partition = answer.flag().await?;
    let mut partition_by = Vec::new();
    for _ in 0..answer.count().await? {
        partition_by.push(answer.text().await?);
    }
    let mut order_by = Vec::new();
    for _ in 0..answer.count().await? {
        let expression = answer.text().await?;
        let ascending = answer.flag().await?;
        let nulls_first = match answer.count().await? {
            0 => None,
            1 => Some(true),
            _ => Some(false),
        };
        order_by.push(AnalyzedOrder { expression, ascending, nulls_first });
    }
    let mut select = Vec::new();
    for _ in 0..answer.count().await? {
        select.push((answer.text().await?, answer.text().await?));
    }
    answer.finish().await?;
    Ok(TableAnalysis { schema, result, with_single_partition, partition_by, order_by, select })
}
