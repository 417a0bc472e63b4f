//! Checkpoints: rows that the server keeps, without the plan that made them.

use super::{DataFrame, StorageLevel};
use crate::error::{Error, Result};
use crate::plan::{Plan, RemoteRelation};
use firesteel_proto::connect as proto;
use proto::command::CommandType;
use proto::execute_plan_response::ResponseType;

impl DataFrame {
    /// Keeps the rows on the server; the new frame reads them there.
    ///
    /// The server frees them after the last frame that uses them is dropped.
    /// Dropping does not wait: the server is told in the background. If lazy,
    /// the rows are computed when they are first used.
    ///
    /// ```
    /// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
    /// use firesteel_client::functions::{col, rand};
    /// let fixed = spark.range(0, 10).with_column("r", rand()).local_checkpoint(true, None).await?;
    /// // The same numbers each time.
    /// assert_eq!(fixed.collect().await?, fixed.collect().await?);
    /// # Ok(()) }
    /// # firesteel_client::doc_test(run);
    /// ```
    pub async fn local_checkpoint(&self, eager: bool, level: Option<StorageLevel>) -> Result<DataFrame> {
        self.checkpointed(true, eager, level).await
    }

    /// As [`local_checkpoint`](Self::local_checkpoint), in files of the server's checkpoint directory,
    /// which outlive the frame.
    pub async fn checkpoint(&self, eager: bool) -> Result<DataFrame> {
        self.checkpointed(false, eager, None).await
    }

    async fn checkpointed(&self, local: bool, eager: bool, level: Option<StorageLevel>) -> Result<DataFrame> {
        let command = proto::CheckpointCommand {
            relation: Some(self.plan.relation()),
            local,
            eager,
            storage_level: level.map(StorageLevel::to_proto),
        };
        for response in self.session.run(CommandType::CheckpointCommand(command)).await? {
            if let ResponseType::CheckpointCommandResult(result) = response
                && let Some(relation) = result.relation
            {
                let chores = self.session.chores.clone();
                let relation = RemoteRelation { relation_id: relation.relation_id, chores };
                return Ok(self.session.frame(Plan::remote(relation)));
            }
        }
        Err(Error::protocol("no relation for the checkpoint"))
    }
}
