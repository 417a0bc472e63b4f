//! Commands.

use super::expression::no_handler;
use super::{Decoder, catalog, identifier, invalid_enum, not_set, options, streaming};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{
    Checkpoint, Command, Expr, ExprKind, Merge, MergeAction, MergeActionKind, Relation, SaveMode, TableName,
    WriteModeV2, WriteOperation, WriteOperationV2, WriteTarget,
};
use firesteel_proto::connect as proto;
use proto::command::CommandType;

/// What a command message asks for.
pub enum DecodedCommand {
    /// The engine runs it.
    Engine(Command),
    /// `spark.sql(…)`, with the client's own relation, which is the answer where the text is a query.
    Sql {
        /// The relation of the text.
        relation: Relation,
        /// The client's message.
        request: Box<proto::Relation>,
    },
    /// The server's resources, of which it has none.
    GetResources,
    /// Events of streaming queries, from now on until they are not wanted any more.
    Listen,
    /// The end of such events.
    Unlisten,
    /// The end of objects of machine learning, of which the server holds none.
    ForgetModels,
}

impl Decoder<'_> {
    /// The command of a message.
    pub fn command(&mut self, message: &proto::Command) -> Result<DecodedCommand> {
        let command = message.command_type.as_ref().ok_or_else(|| not_set("Command", "command_type"))?;
        let command = match command {
            CommandType::RegisterFunction(function) => match self.inline_function(function)? {
                ExprKind::PythonFunction(function) => Command::RegisterFunction(function),
                ExprKind::Unsupported(name) => Command::Unsupported(name),
                _ => Command::Unsupported("this kind of function".into()),
            },
            CommandType::WriteOperation(write) => self.write(write)?,
            CommandType::CreateDataframeView(view) => Command::CreateView {
                name: view.name.clone(),
                input: self.input(view.input.as_ref())?,
                is_global: view.is_global,
                replace: view.replace,
            },
            CommandType::WriteOperationV2(write) => self.write_v2(write)?,
            CommandType::SqlCommand(sql) => return self.sql_command(sql),
            CommandType::WriteStreamOperationStart(write) => Command::WriteStream(Box::new(self.write_stream(write)?)),
            CommandType::StreamingQueryCommand(command) => streaming::query(command)?,
            CommandType::GetResourcesCommand(_) => return Ok(DecodedCommand::GetResources),
            CommandType::StreamingQueryManagerCommand(command) => streaming::manager(command)?,
            CommandType::RegisterTableFunction(function) => Command::RegisterTableFunction {
                name: function.function_name.clone(),
                function: self.python_table_function(function)?,
            },
            CommandType::StreamingQueryListenerBusCommand(command) => return streaming::listener_bus(command),
            CommandType::RegisterDataSource(source) => {
                let proto::common_inline_user_defined_data_source::DataSource::PythonDataSource(python) = source
                    .data_source
                    .as_ref()
                    .ok_or_else(|| not_set("CommonInlineUserDefinedDataSource", "data_source"))?;
                Command::RegisterDataSource {
                    name: source.name.clone(),
                    class: python.command.clone(),
                    python_version: python.python_ver.clone(),
                }
            }
            CommandType::CreateResourceProfileCommand(_) => unsupported("resource profiles"),
            CommandType::CheckpointCommand(checkpoint) => Command::Checkpoint(Checkpoint {
                input: self.input(checkpoint.relation.as_ref())?,
                is_local: checkpoint.local,
                is_eager: checkpoint.eager,
                storage_level: checkpoint.storage_level.as_ref().map(catalog::storage_level),
            }),
            CommandType::RemoveCachedRemoteRelationCommand(remove) => Command::RemoveCachedRemoteRelation {
                relation_id: remove.relation.as_ref().map(|relation| relation.relation_id.clone()).unwrap_or_default(),
            },
            CommandType::MergeIntoTableCommand(merge) => Command::MergeInto(self.merge(merge)?),
            CommandType::MlCommand(command) => match command.command.as_ref() {
                Some(proto::ml_command::Command::CleanCache(_) | proto::ml_command::Command::Delete(_)) => {
                    return Ok(DecodedCommand::ForgetModels);
                }
                _ => unsupported("machine learning"),
            },
            CommandType::ExecuteExternalCommand(_) => unsupported("commands of external engines"),
            CommandType::PipelineCommand(_) => unsupported("declarative pipelines"),
            CommandType::Extension(extension) => return Err(no_handler(&extension.type_url)),
        };
        Ok(DecodedCommand::Engine(command))
    }

    /// The relation of the command, as clients before 4.0 or from 4.0 on give it.
    fn sql_command(&mut self, command: &proto::SqlCommand) -> Result<DecodedCommand> {
        use proto::relation::RelType;
        let request = match &command.input {
            Some(input) => {
                let is_sql = match &input.rel_type {
                    Some(RelType::Sql(_)) => true,
                    Some(RelType::WithRelations(with)) => {
                        matches!(with.root.as_deref().and_then(|root| root.rel_type.as_ref()), Some(RelType::Sql(_)))
                    }
                    _ => false,
                };
                if !is_sql {
                    return Err(SparkError::new("CONNECT_INVALID_PLAN.SQL_COMMAND_EXPECTS_SQL_OR_WITH_RELATIONS")
                        .with("other", case_name(input.rel_type.as_ref())));
                }
                input.clone()
            }
            None => proto::Relation {
                common: None,
                rel_type: Some(RelType::Sql(proto::Sql {
                    query: command.sql.clone(),
                    args: command.args.clone(),
                    pos_args: command.pos_args.clone(),
                    named_arguments: command.named_arguments.clone(),
                    pos_arguments: command.pos_arguments.clone(),
                })),
            },
        };
        Ok(DecodedCommand::Sql { relation: self.relation(&request)?, request: Box::new(request) })
    }

    fn write(&mut self, write: &proto::WriteOperation) -> Result<Command> {
        use proto::write_operation::save_table::TableSaveMethod;
        use proto::write_operation::{SaveMode as Mode, SaveType};
        if write.with_schema_evolution {
            return Ok(unsupported("schema evolution of writes"));
        }
        let target = match &write.save_type {
            None => WriteTarget::None,
            Some(SaveType::Path(path)) => WriteTarget::Path(path.clone()),
            Some(SaveType::Table(table)) => {
                let name = identifier(&table.table_name)?;
                match TableSaveMethod::try_from(table.save_method) {
                    Ok(TableSaveMethod::SaveAsTable) => WriteTarget::SaveAsTable(name),
                    Ok(TableSaveMethod::InsertInto) => WriteTarget::InsertInto(name),
                    Ok(other @ TableSaveMethod::Unspecified) => {
                        return Err(invalid_enum(
                            "WriteOperation.SaveTable.TableSaveMethod",
                            other.as_str_name(),
                            table.save_method,
                        ));
                    }
                    Err(_) => {
                        return Err(invalid_enum("WriteOperation.SaveTable.TableSaveMethod", "", table.save_method));
                    }
                }
            }
        };
        let mode = match Mode::try_from(write.mode) {
            Ok(Mode::Unspecified) => None,
            Ok(Mode::Append) => Some(SaveMode::Append),
            Ok(Mode::Overwrite) => Some(SaveMode::Overwrite),
            Ok(Mode::ErrorIfExists) => Some(SaveMode::ErrorIfExists),
            Ok(Mode::Ignore) => Some(SaveMode::Ignore),
            Err(_) => return Err(invalid_enum("WriteOperation.SaveMode", "", write.mode)),
        };
        Ok(Command::Write(WriteOperation {
            input: self.input(write.input.as_ref())?,
            format: write.source.clone().filter(|format| !format.is_empty()),
            target,
            mode,
            sort_columns: write.sort_column_names.clone(),
            partition_columns: write.partitioning_columns.clone(),
            bucket: write.bucket_by.as_ref().map(|by| (by.num_buckets, by.bucket_column_names.clone())),
            clustering_columns: write.clustering_columns.clone(),
            options: options(&write.options),
        }))
    }

    fn write_v2(&mut self, write: &proto::WriteOperationV2) -> Result<Command> {
        use proto::write_operation_v2::Mode;
        if write.with_schema_evolution {
            return Ok(unsupported("schema evolution of writes"));
        }
        let mode = match Mode::try_from(write.mode) {
            Ok(Mode::Create) => WriteModeV2::Create,
            Ok(Mode::Overwrite) => WriteModeV2::Overwrite(self.required(write.overwrite_condition.as_ref())?),
            Ok(Mode::OverwritePartitions) => WriteModeV2::OverwritePartitions,
            Ok(Mode::Append) => WriteModeV2::Append,
            Ok(Mode::Replace) => WriteModeV2::Replace,
            Ok(Mode::CreateOrReplace) => WriteModeV2::CreateOrReplace,
            Ok(other @ Mode::Unspecified) => {
                return Err(invalid_enum("WriteOperationV2.Mode", other.as_str_name(), write.mode));
            }
            Err(_) => return Err(invalid_enum("WriteOperationV2.Mode", "", write.mode)),
        };
        Ok(Command::WriteV2(WriteOperationV2 {
            input: self.input(write.input.as_ref())?,
            table: identifier(&write.table_name)?,
            provider: write.provider.clone().filter(|provider| !provider.is_empty()),
            partitioning: self.expressions(&write.partitioning_columns)?,
            clustering_columns: write.clustering_columns.clone(),
            options: options(&write.options),
            table_properties: options(&write.table_properties),
            mode,
        }))
    }

    fn merge(&mut self, merge: &proto::MergeIntoTableCommand) -> Result<Merge> {
        Ok(Merge {
            target: TableName::of(identifier(&merge.target_table_name)?),
            target_alias: None,
            source: self.input(merge.source_table_plan.as_ref())?,
            condition: self.required(merge.merge_condition.as_ref())?,
            matched: self.merge_actions(&merge.match_actions)?,
            not_matched: self.merge_actions(&merge.not_matched_actions)?,
            not_matched_by_source: self.merge_actions(&merge.not_matched_by_source_actions)?,
            with_schema_evolution: merge.with_schema_evolution,
        })
    }

    fn merge_actions(&self, messages: &[proto::Expression]) -> Result<Vec<MergeAction>> {
        let actions = messages.iter().map(|message| match &message.expr_type {
            Some(proto::expression::ExprType::MergeAction(action)) => self.merge_action(action),
            Some(_) => Err(super::assertion("an action of a merge must be a merge action")),
            None => Err(not_set("Expression", "expr_type")),
        });
        actions.collect()
    }

    fn merge_action(&self, action: &proto::MergeAction) -> Result<MergeAction> {
        use proto::merge_action::ActionType;
        let kind = match ActionType::try_from(action.action_type) {
            Ok(ActionType::Delete) => MergeActionKind::Delete,
            Ok(ActionType::Insert) => MergeActionKind::Insert(self.assignments(action)?),
            Ok(ActionType::InsertStar) => MergeActionKind::InsertAll,
            Ok(ActionType::Update) => MergeActionKind::Update(self.assignments(action)?),
            Ok(ActionType::UpdateStar) => MergeActionKind::UpdateAll,
            Ok(other @ ActionType::Invalid) => {
                return Err(invalid_enum("MergeAction.ActionType", other.as_str_name(), action.action_type));
            }
            Err(_) => return Err(invalid_enum("MergeAction.ActionType", "", action.action_type)),
        };
        let condition = action.condition.as_deref().map(|condition| self.expression(condition)).transpose()?;
        Ok(MergeAction { condition, kind })
    }

    fn assignments(&self, action: &proto::MergeAction) -> Result<Vec<(Expr, Expr)>> {
        let assignments = action
            .assignments
            .iter()
            .map(|assignment| Ok((self.required(assignment.key.as_ref())?, self.required(assignment.value.as_ref())?)));
        assignments.collect()
    }
}

fn unsupported(name: &str) -> Command {
    Command::Unsupported(name.to_string())
}

/// The name of a member of the oneof of relations, such as `SET_OP`.
fn case_name(member: Option<&proto::relation::RelType>) -> String {
    /// Takes text up to the first bracket.
    struct Head(String);

    impl std::fmt::Write for Head {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            let head = text.split('(').next().unwrap_or_default();
            self.0.push_str(head);
            if head.len() < text.len() { Err(std::fmt::Error) } else { Ok(()) }
        }
    }

    let Some(member) = member else {
        return "RELTYPE_NOT_SET".to_string();
    };
    let mut head = Head(String::new());
    // It fails on purpose where the name ends.
    let _ = std::fmt::write(&mut head, format_args!("{member:?}"));
    let mut name = String::new();
    for (index, character) in head.0.char_indices() {
        if index > 0 && character.is_uppercase() {
            name.push('_');
        }
        name.push(character.to_ascii_uppercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::relation::RelType;

    #[test]
    fn members_have_their_names_of_the_protocol() {
        assert_eq!(case_name(Some(&RelType::Range(Default::default()))), "RANGE");
        assert_eq!(case_name(Some(&RelType::SetOp(Default::default()))), "SET_OP");
        assert_eq!(case_name(None), "RELTYPE_NOT_SET");
    }
}
