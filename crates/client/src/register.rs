//! Functions and sources of a session, made elsewhere.

use crate::SparkSession;
use crate::error::{Error, Result};
use firesteel_proto::connect as proto;
use firesteel_types::DataType;
use proto::command::CommandType;
use proto::common_inline_user_defined_function::Function;
use proto::execute_plan_response::ResponseType;
use std::collections::BTreeMap;

impl SparkSession {
    /// Registers a function of the class path of a JVM server under a name.
    pub async fn register_java_function(
        &self,
        name: impl Into<String>,
        class: impl Into<String>,
        returns: Option<&DataType>,
    ) -> Result<()> {
        self.register_java(name.into(), class.into(), returns, false).await
    }

    /// Registers an aggregate of the class path of a JVM server under a name.
    pub async fn register_java_aggregate(&self, name: impl Into<String>, class: impl Into<String>) -> Result<()> {
        self.register_java(name.into(), class.into(), None, true).await
    }

    async fn register_java(
        &self,
        name: String,
        class_name: String,
        returns: Option<&DataType>,
        aggregate: bool,
    ) -> Result<()> {
        let output_type = returns.map(crate::types::to_proto);
        let java = proto::JavaUdf { class_name, output_type, aggregate };
        self.register_function(proto::CommonInlineUserDefinedFunction {
            function_name: name,
            deterministic: true,
            function: Some(Function::JavaUdf(java)),
            ..Default::default()
        })
        .await
    }

    /// Registers a function that is sent along, such as a pickled Python function.
    pub async fn register_function(&self, function: proto::CommonInlineUserDefinedFunction) -> Result<()> {
        self.run(CommandType::RegisterFunction(function)).await.map(drop)
    }

    /// Registers a table function that is sent along.
    pub async fn register_table_function(&self, function: proto::CommonInlineUserDefinedTableFunction) -> Result<()> {
        self.run(CommandType::RegisterTableFunction(function)).await.map(drop)
    }

    /// Registers a data source that is sent along.
    pub async fn register_data_source(&self, source: proto::CommonInlineUserDefinedDataSource) -> Result<()> {
        self.run(CommandType::RegisterDataSource(source)).await.map(drop)
    }

    /// Runs a command in the engine that a provider of the server knows.
    pub async fn execute_command(
        &self,
        runner: impl Into<String>,
        command: impl Into<String>,
        options: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Result<Vec<ResponseType>> {
        let options = options.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        let command = proto::ExecuteExternalCommand { runner: runner.into(), command: command.into(), options };
        self.run(CommandType::ExecuteExternalCommand(command)).await
    }

    /// Makes a profile of what tasks and executors need; its id, for [`map_partitions_with`](crate::DataFrame::map_partitions_with).
    pub async fn create_resource_profile(&self, profile: proto::ResourceProfile) -> Result<i32> {
        let command = proto::CreateResourceProfileCommand { profile: Some(profile) };
        for response in self.run(CommandType::CreateResourceProfileCommand(command)).await? {
            if let ResponseType::CreateResourceProfileCommandResult(result) = response {
                return Ok(result.profile_id);
            }
        }
        Err(Error::protocol("no profile in the answer"))
    }

    /// The resources of the server, by name, each with its addresses.
    pub async fn resources(&self) -> Result<BTreeMap<String, Vec<String>>> {
        for response in self.run(CommandType::GetResourcesCommand(proto::GetResourcesCommand {})).await? {
            if let ResponseType::GetResourcesCommandResult(result) = response {
                return Ok(result.resources.into_iter().map(|(name, of)| (name, of.addresses)).collect());
            }
        }
        Err(Error::protocol("no resources in the answer"))
    }
}
