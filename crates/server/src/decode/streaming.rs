//! Commands of streaming queries.

use super::command::DecodedCommand;
use super::{Decoder, identifier, not_set, options};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{
    Command, StreamFunction, StreamFunctionKind, StreamTarget, StreamWrite, StreamingManagerCommand,
    StreamingQueryCommand, StreamingQueryId, Trigger,
};
use firesteel_proto::connect as proto;

impl Decoder<'_> {
    /// `df.writeStream…start()`.
    pub(super) fn write_stream(&mut self, write: &proto::WriteStreamOperationStart) -> Result<StreamWrite> {
        use proto::write_stream_operation_start::{SinkDestination, Trigger as Message};
        let trigger = match &write.trigger {
            None => Trigger::Immediate,
            Some(Message::ProcessingTimeInterval(interval)) => Trigger::ProcessingTime(interval.clone()),
            Some(Message::AvailableNow(_)) => Trigger::AvailableNow,
            Some(Message::Once(_)) => Trigger::Once,
            Some(Message::ContinuousCheckpointInterval(interval)) => Trigger::Continuous(interval.clone()),
            Some(Message::RealTimeBatchDuration(duration)) => Trigger::RealTime(duration.clone()),
        };
        let target = match &write.sink_destination {
            None => StreamTarget::None,
            Some(SinkDestination::Path(path)) => StreamTarget::Path(path.clone()),
            Some(SinkDestination::TableName(name)) => StreamTarget::Table(identifier(name)?),
        };
        let function = match (&write.foreach_writer, &write.foreach_batch) {
            (Some(rows), _) => Some(function(rows, StreamFunctionKind::Rows)?),
            (None, Some(_)) => return Err(SparkError::unsupported("foreachBatch")),
            (None, None) => None,
        };
        Ok(StreamWrite {
            input: self.input(write.input.as_ref())?,
            format: Some(write.format.clone()).filter(|format| !format.is_empty()),
            options: options(&write.options),
            partition_columns: write.partitioning_column_names.clone(),
            clustering_columns: write.clustering_column_names.clone(),
            trigger,
            output_mode: Some(write.output_mode.clone()).filter(|mode| !mode.is_empty()),
            query_name: Some(write.query_name.clone()).filter(|name| !name.is_empty()),
            target,
            function,
        })
    }
}

fn function(message: &proto::StreamingForeachFunction, kind: StreamFunctionKind) -> Result<StreamFunction> {
    use proto::streaming_foreach_function::Function;
    match message.function.as_ref().ok_or_else(|| not_set("StreamingForeachFunction", "function"))? {
        Function::PythonFunction(python) => {
            Ok(StreamFunction { kind, command: python.command.clone(), python_version: python.python_ver.clone() })
        }
        Function::ScalaFunction(_) => Err(SparkError::unsupported("functions of the JVM over streams")),
    }
}

/// A question to one query.
pub(super) fn query(message: &proto::StreamingQueryCommand) -> Result<Command> {
    use proto::streaming_query_command::Command as Message;
    let id = message.query_id.clone().unwrap_or_default();
    let command = message.command.as_ref().ok_or_else(|| not_set("StreamingQueryCommand", "command"))?;
    let command = match command {
        Message::Status(_) => StreamingQueryCommand::Status,
        Message::LastProgress(_) => StreamingQueryCommand::LastProgress,
        Message::RecentProgress(_) => StreamingQueryCommand::RecentProgress,
        Message::Stop(_) => StreamingQueryCommand::Stop,
        Message::ProcessAllAvailable(_) => StreamingQueryCommand::ProcessAllAvailable,
        Message::Explain(explain) => StreamingQueryCommand::Explain { extended: explain.extended },
        Message::Exception(_) => StreamingQueryCommand::Exception,
        Message::AwaitTermination(wait) => StreamingQueryCommand::AwaitTermination { timeout_millis: wait.timeout_ms },
    };
    Ok(Command::StreamingQuery { query: StreamingQueryId { id: id.id, run_id: id.run_id }, command })
}

/// A question to all queries.
pub(super) fn manager(message: &proto::StreamingQueryManagerCommand) -> Result<Command> {
    use proto::streaming_query_manager_command::Command as Message;
    let command = message.command.as_ref().ok_or_else(|| not_set("StreamingQueryManagerCommand", "command"))?;
    let command = match command {
        Message::Active(_) => StreamingManagerCommand::Active,
        Message::GetQuery(id) => StreamingManagerCommand::Get { id: id.clone() },
        Message::AwaitAnyTermination(wait) => {
            StreamingManagerCommand::AwaitAnyTermination { timeout_millis: wait.timeout_ms }
        }
        Message::ResetTerminated(_) => StreamingManagerCommand::ResetTerminated,
        Message::ListListeners(_) => StreamingManagerCommand::ListListeners,
        Message::AddListener(_) | Message::RemoveListener(_) => {
            return Ok(Command::Unsupported("listeners of streaming queries that run in the server".into()));
        }
    };
    Ok(Command::StreamingManager(command))
}

/// The begin or the end of the events of a client.
pub(super) fn listener_bus(message: &proto::StreamingQueryListenerBusCommand) -> Result<DecodedCommand> {
    use proto::streaming_query_listener_bus_command::Command as Message;
    let command = message.command.as_ref().ok_or_else(|| not_set("StreamingQueryListenerBusCommand", "command"))?;
    Ok(match command {
        Message::AddListenerBusListener(_) => DecodedCommand::Listen,
        Message::RemoveListenerBusListener(_) => DecodedCommand::Unlisten,
    })
}
