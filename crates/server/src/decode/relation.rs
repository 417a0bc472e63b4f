//! Relations.

use super::expression::no_handler;
use super::{
    Decoder, assertion, catalog, identifier, invalid_enum, literal, not_set, options, origin, types, with_stack,
};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{
    Aggregate, AsOfJoin, DataSource, Expr, Grouping, Join, JoinCondition, JoinType, NearestByJoin, Relation,
    RelationKind, SetOperation, SetOperator, SortKeys, Statistic, TableFunctionCall, TableName, TableReference,
    Unpivot,
};
use firesteel_proto::connect as proto;
use firesteel_types::{DataType, Literal};
use proto::relation::RelType;

impl Decoder<'_> {
    /// The relation of a message.
    pub fn relation(&mut self, message: &proto::Relation) -> Result<Relation> {
        let common = message.common.as_ref();
        let origin = origin(common.and_then(|common| common.origin.as_ref()));
        let kind = message.rel_type.as_ref().ok_or_else(|| not_set("Relation", "rel_type"))?;
        let kind = with_stack(|| self.relation_kind(kind)).map_err(|error| error.or_context(|| origin.context()))?;
        Ok(Relation::with_plan_id(kind, common.and_then(|common| common.plan_id)).at(origin))
    }

    /// The relation of a field that must be there.
    pub(super) fn input(&mut self, message: Option<&proto::Relation>) -> Result<Relation> {
        self.relation(message.ok_or_else(|| not_set("Relation", "rel_type"))?)
    }

    fn relation_kind(&mut self, message: &RelType) -> Result<RelationKind> {
        Ok(match message {
            RelType::Read(read) => read_kind(read)?,
            RelType::Project(project) => RelationKind::Project {
                input: match project.input.as_deref() {
                    Some(input) => self.relation(input)?,
                    None => Relation::new(RelationKind::OneRow),
                },
                expressions: self.expressions(&project.expressions)?,
            },
            RelType::Filter(filter) => RelationKind::Filter {
                input: self.input(filter.input.as_deref())?,
                condition: self.required(filter.condition.as_ref())?,
            },
            RelType::Join(join) => self.join(join)?,
            RelType::SetOp(operation) => self.set_operation(operation)?,
            RelType::Sort(sort) => RelationKind::Sort {
                input: self.input(sort.input.as_deref())?,
                order: SortKeys::By(self.sort_orders(&sort.order)?),
                is_global: sort.is_global.unwrap_or(false),
            },
            RelType::Limit(limit) => RelationKind::Limit {
                input: self.input(limit.input.as_deref())?,
                limit: Expr::literal(Literal::Integer(limit.limit)),
            },
            RelType::Aggregate(aggregate) => self.aggregate(aggregate)?,
            RelType::Sql(sql) => self.sql(sql)?,
            RelType::LocalRelation(local) => self.local_relation(local)?,
            RelType::Sample(sample) => RelationKind::Sample {
                input: self.input(sample.input.as_deref())?,
                lower: sample.lower_bound.into(),
                upper: sample.upper_bound.into(),
                with_replacement: sample.with_replacement.unwrap_or(false),
                seed: sample.seed,
                deterministic_order: sample.deterministic_order,
            },
            RelType::Offset(offset) => RelationKind::Offset {
                input: self.input(offset.input.as_deref())?,
                offset: Expr::literal(Literal::Integer(offset.offset)),
            },
            RelType::Deduplicate(deduplicate) => self.deduplicate(deduplicate)?,
            RelType::Range(range) => RelationKind::Range {
                start: range.start.unwrap_or(0),
                end: range.end,
                step: range.step,
                num_partitions: range.num_partitions,
            },
            RelType::SubqueryAlias(alias) => RelationKind::SubqueryAlias {
                input: self.input(alias.input.as_deref())?,
                alias: alias.alias.clone(),
                qualifier: alias.qualifier.clone(),
                columns: Vec::new(),
            },
            RelType::Repartition(repartition) => RelationKind::Repartition {
                input: self.input(repartition.input.as_deref())?,
                num_partitions: repartition.num_partitions,
                shuffle: repartition.shuffle.unwrap_or(false),
            },
            RelType::ToDf(to_df) => RelationKind::ToDataFrame {
                input: self.input(to_df.input.as_deref())?,
                columns: to_df.column_names.clone(),
            },
            RelType::WithColumnsRenamed(renamed) => RelationKind::WithColumnsRenamed {
                input: self.input(renamed.input.as_deref())?,
                renames: if renamed.renames.is_empty() {
                    options(&renamed.rename_columns_map)
                } else {
                    renamed.renames.iter().map(|pair| (pair.col_name.clone(), pair.new_col_name.clone())).collect()
                },
            },
            RelType::ShowString(show) => RelationKind::ShowString {
                input: self.input(show.input.as_deref())?,
                num_rows: show.num_rows,
                truncate: show.truncate,
                vertical: show.vertical,
            },
            RelType::HtmlString(html) => RelationKind::HtmlString {
                input: self.input(html.input.as_deref())?,
                num_rows: html.num_rows,
                truncate: html.truncate,
            },
            RelType::Drop(drop) => RelationKind::Drop {
                input: self.input(drop.input.as_deref())?,
                columns: self.expressions(&drop.columns)?,
                column_names: drop.column_names.clone(),
            },
            RelType::Tail(tail) => RelationKind::Tail { input: self.input(tail.input.as_deref())?, limit: tail.limit },
            RelType::WithColumns(columns) => self.with_columns(columns)?,
            RelType::Hint(hint) => RelationKind::Hint {
                input: self.input(hint.input.as_deref())?,
                name: hint.name.clone(),
                parameters: self.expressions(&hint.parameters)?,
            },
            RelType::Unpivot(unpivot) => self.unpivot(unpivot)?,
            RelType::ToSchema(to) => RelationKind::ToSchema {
                input: self.input(to.input.as_deref())?,
                schema: match types::data_type(to.schema.as_ref().unwrap_or(&proto::DataType::default()))? {
                    schema @ DataType::Struct(_) => schema,
                    other => return Err(assertion(format!("a schema must be a struct, but is {}", other.sql()))),
                },
            },
            RelType::RepartitionByExpression(by) => RelationKind::RepartitionByExpression {
                input: self.input(by.input.as_deref())?,
                expressions: self.expressions(&by.partition_exprs)?,
                num_partitions: by.num_partitions,
            },
            RelType::MapPartitions(map) => {
                let function =
                    map.func.as_ref().ok_or_else(|| not_set("CommonInlineUserDefinedFunction", "function"))?;
                RelationKind::MapPartitions {
                    input: self.input(map.input.as_deref())?,
                    function: self.python_function(function)?,
                    is_barrier: map.is_barrier.unwrap_or(false),
                }
            }
            RelType::CollectMetrics(metrics) => RelationKind::CollectMetrics {
                input: self.input(metrics.input.as_deref())?,
                name: metrics.name.clone(),
                metrics: self.expressions(&metrics.metrics)?,
            },
            RelType::Parse(parse) => self.parse(parse)?,
            RelType::GroupMap(group_map) => self.group_map(group_map)?,
            RelType::CoGroupMap(map) => {
                let function =
                    map.func.as_ref().ok_or_else(|| not_set("CommonInlineUserDefinedFunction", "function"))?;
                RelationKind::CoGroupMap {
                    left: self.input(map.input.as_deref())?,
                    left_grouping: self.expressions(&map.input_grouping_expressions)?,
                    right: self.input(map.other.as_deref())?,
                    right_grouping: self.expressions(&map.other_grouping_expressions)?,
                    function: self.python_function(function)?,
                }
            }
            RelType::WithWatermark(watermark) => RelationKind::WithWatermark {
                input: self.input(watermark.input.as_deref())?,
                event_time: watermark.event_time.clone(),
                delay: watermark.delay_threshold.clone(),
            },
            RelType::ApplyInPandasWithState(_) => RelationKind::Unsupported("applyInPandasWithState".into()),
            RelType::CachedLocalRelation(cached) => self.cached_local_relation(cached)?,
            RelType::CachedRemoteRelation(cached) => {
                RelationKind::CachedRemote { relation_id: cached.relation_id.clone() }
            }
            RelType::CommonInlineUserDefinedTableFunction(function) => RelationKind::PythonTableFunction {
                name: function.function_name.clone(),
                arguments: self.expressions(&function.arguments)?,
                function: self.python_table_function(function)?,
            },
            RelType::AsOfJoin(join) => self.as_of_join(join)?,
            RelType::CommonInlineUserDefinedDataSource(_) => RelationKind::Unsupported("Python data sources".into()),
            RelType::WithRelations(with) => self.with_relations(with)?,
            RelType::Transpose(transpose) => RelationKind::Transpose {
                input: self.input(transpose.input.as_deref())?,
                index_columns: self.expressions(&transpose.index_columns)?,
            },
            RelType::UnresolvedTableValuedFunction(call) => RelationKind::TableFunction(TableFunctionCall {
                name: vec![call.function_name.clone()],
                arguments: self.expressions(&call.arguments)?,
                table_argument: None,
            }),
            RelType::LateralJoin(join) => RelationKind::Join(Join {
                left: self.input(join.left.as_deref())?,
                right: self.input(join.right.as_deref())?,
                join_type: join_type(join.join_type)?,
                condition: match join.join_condition.as_ref() {
                    Some(condition) => JoinCondition::On(self.expression(condition)?),
                    None => JoinCondition::None,
                },
                is_lateral: true,
            }),
            RelType::ChunkedCachedLocalRelation(cached) => self.chunked_local_relation(cached)?,
            RelType::RelationChanges(_) => RelationKind::Unsupported("the change feed of a table".into()),
            RelType::NearestByJoin(join) => RelationKind::NearestByJoin(NearestByJoin {
                left: self.input(join.left.as_deref())?,
                right: self.input(join.right.as_deref())?,
                ranking: self.required(join.ranking_expression.as_ref())?,
                num_results: join.num_results,
                join_type: join.join_type.clone(),
                mode: join.mode.clone(),
                direction: join.direction.clone(),
            }),
            RelType::Zip(_) => RelationKind::Unsupported("zip of DataFrames".into()),
            RelType::FillNa(fill) => self.fill_na(fill)?,
            RelType::DropNa(drop) => self.drop_na(drop)?,
            RelType::Replace(replace) => self.replace(replace)?,
            RelType::Summary(summary) => {
                self.statistic(summary.input.as_deref(), Statistic::Summary { statistics: summary.statistics.clone() })?
            }
            RelType::Describe(describe) => {
                self.statistic(describe.input.as_deref(), Statistic::Describe { columns: describe.cols.clone() })?
            }
            RelType::Crosstab(crosstab) => self.statistic(
                crosstab.input.as_deref(),
                Statistic::Crosstab { column1: crosstab.col1.clone(), column2: crosstab.col2.clone() },
            )?,
            RelType::Cov(cov) => self.statistic(
                cov.input.as_deref(),
                Statistic::Covariance { column1: cov.col1.clone(), column2: cov.col2.clone() },
            )?,
            RelType::Corr(corr) => self.statistic(
                corr.input.as_deref(),
                Statistic::Correlation {
                    column1: corr.col1.clone(),
                    column2: corr.col2.clone(),
                    method: corr.method.clone(),
                },
            )?,
            RelType::ApproxQuantile(quantile) => self.approximate_quantile(quantile)?,
            RelType::FreqItems(items) => self.statistic(
                items.input.as_deref(),
                Statistic::FrequentItems { columns: items.cols.clone(), support: items.support.map(Into::into) },
            )?,
            RelType::SampleBy(sample) => self.sample_by(sample)?,
            RelType::Catalog(call) => RelationKind::Catalog(catalog::request(call)?),
            RelType::MlRelation(_) => RelationKind::Unsupported("machine learning".into()),
            RelType::Extension(extension) => return Err(no_handler(&extension.type_url)),
            RelType::Unknown(_) => {
                return Err(SparkError::new("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SUPPORTED")
                    .with("fullName", "spark.connect.Relation")
                    .with("name", "UNKNOWN")
                    .with("number", "999"));
            }
        })
    }

    fn join(&mut self, join: &proto::Join) -> Result<RelationKind> {
        if join.join_condition.is_some() && !join.using_columns.is_empty() {
            return Err(SparkError::new("CONNECT_INVALID_PLAN.USING_COLUMNS_OR_JOIN_CONDITION_SET_IN_JOIN"));
        }
        if join.join_data_type.is_some() {
            return Ok(RelationKind::Unsupported("joinWith".into()));
        }
        Ok(RelationKind::Join(Join {
            left: self.input(join.left.as_deref())?,
            right: self.input(join.right.as_deref())?,
            join_type: join_type(join.join_type)?,
            condition: self.join_condition(join.join_condition.as_ref(), &join.using_columns)?,
            is_lateral: false,
        }))
    }

    fn join_condition(&self, condition: Option<&proto::Expression>, using: &[String]) -> Result<JoinCondition> {
        Ok(match condition {
            Some(condition) => JoinCondition::On(self.expression(condition)?),
            None if using.is_empty() => JoinCondition::None,
            None => JoinCondition::Using(using.to_vec()),
        })
    }

    fn as_of_join(&mut self, join: &proto::AsOfJoin) -> Result<RelationKind> {
        Ok(RelationKind::AsOfJoin(AsOfJoin {
            left: self.input(join.left.as_deref())?,
            right: self.input(join.right.as_deref())?,
            left_as_of: self.required(join.left_as_of.as_ref())?,
            right_as_of: self.required(join.right_as_of.as_ref())?,
            condition: self.join_condition(join.join_expr.as_ref(), &join.using_columns)?,
            join_type: join.join_type.clone(),
            tolerance: join.tolerance.as_ref().map(|tolerance| self.expression(tolerance)).transpose()?,
            allow_exact_matches: join.allow_exact_matches,
            direction: join.direction.clone(),
        }))
    }

    fn set_operation(&mut self, operation: &proto::SetOperation) -> Result<RelationKind> {
        use proto::set_operation::SetOpType;
        let (Some(left), Some(right)) = (operation.left_input.as_deref(), operation.right_input.as_deref()) else {
            return Err(SparkError::new("CONNECT_INVALID_PLAN.SET_OPERATION_MUST_HAVE_TWO_INPUTS"));
        };
        let by_name = operation.by_name.unwrap_or(false);
        let allow_missing_columns = operation.allow_missing_columns.unwrap_or(false);
        let operator = match SetOpType::try_from(operation.set_op_type) {
            Ok(SetOpType::Union) if allow_missing_columns && !by_name => {
                return Err(SparkError::new("CONNECT_INVALID_PLAN.UNION_BY_NAME_ALLOW_MISSING_COL_REQUIRES_BY_NAME"));
            }
            Ok(SetOpType::Union) => SetOperator::Union,
            Ok(SetOpType::Intersect) if by_name => {
                return Err(SparkError::new("CONNECT_INVALID_PLAN.INTERSECT_DOES_NOT_SUPPORT_UNION_BY_NAME"));
            }
            Ok(SetOpType::Intersect) => SetOperator::Intersect,
            Ok(SetOpType::Except) if by_name => {
                return Err(SparkError::new("CONNECT_INVALID_PLAN.EXCEPT_DOES_NOT_SUPPORT_UNION_BY_NAME"));
            }
            Ok(SetOpType::Except) => SetOperator::Except,
            Ok(other @ SetOpType::Unspecified) => {
                return Err(invalid_enum("SetOperation.SetOpType", other.as_str_name(), operation.set_op_type));
            }
            Err(_) => return Err(invalid_enum("SetOperation.SetOpType", "", operation.set_op_type)),
        };
        Ok(RelationKind::SetOperation(SetOperation {
            left: self.relation(left)?,
            right: self.relation(right)?,
            operator,
            is_all: operation.is_all.unwrap_or(false),
            by_name,
            allow_missing_columns,
        }))
    }

    fn aggregate(&mut self, aggregate: &proto::Aggregate) -> Result<RelationKind> {
        use proto::aggregate::GroupType;
        let Some(input) = aggregate.input.as_deref() else {
            return Err(SparkError::new("CONNECT_INVALID_PLAN.AGGREGATE_NEEDS_PLAN_INPUT"));
        };
        let input = self.relation(input)?;
        let columns = self.expressions(&aggregate.grouping_expressions)?;
        let grouping = match GroupType::try_from(aggregate.group_type) {
            Ok(GroupType::Groupby) => Grouping::By(columns),
            Ok(GroupType::Rollup) => Grouping::Rollup(columns),
            Ok(GroupType::Cube) => Grouping::Cube(columns),
            Ok(GroupType::GroupingSets) => Grouping::Sets {
                sets: aggregate
                    .grouping_sets
                    .iter()
                    .map(|set| self.expressions(&set.grouping_set))
                    .collect::<Result<_>>()?,
                columns,
            },
            Ok(GroupType::Pivot) => {
                let Some(pivot) = aggregate.pivot.as_ref() else {
                    return Err(SparkError::new("CONNECT_INVALID_PLAN.AGGREGATE_WITH_PIVOT_REQUIRES_PIVOT"));
                };
                let values = pivot.values.iter().map(|value| Ok(Expr::literal(literal::literal(value)?)));
                Grouping::Pivot {
                    grouping: columns,
                    column: self.required(pivot.col.as_ref())?,
                    values: values.collect::<Result<_>>()?,
                }
            }
            Ok(other @ GroupType::Unspecified) => {
                return Err(invalid_enum("Aggregate.GroupType", other.as_str_name(), aggregate.group_type));
            }
            Err(_) => return Err(invalid_enum("Aggregate.GroupType", "", aggregate.group_type)),
        };
        let aggregates = self.expressions(&aggregate.aggregate_expressions)?;
        Ok(RelationKind::Aggregate(Aggregate { input, grouping, aggregates, is_sql: false }))
    }

    fn deduplicate(&mut self, message: &proto::Deduplicate) -> Result<RelationKind> {
        let Some(input) = message.input.as_deref() else {
            return Err(SparkError::new("CONNECT_INVALID_PLAN.DEDUPLICATE_NEEDS_INPUT"));
        };
        let columns = match (message.all_columns_as_keys.unwrap_or(false), message.column_names.is_empty()) {
            (true, true) => None,
            (false, false) => Some(message.column_names.iter().map(Expr::column).collect()),
            (true, false) => return Err(SparkError::new("CONNECT_INVALID_PLAN.DEDUPLICATE_ALL_COLUMNS_AND_SUBSET")),
            (false, true) => return Err(SparkError::new("CONNECT_INVALID_PLAN.DEDUPLICATE_REQUIRES_COLUMNS_OR_ALL")),
        };
        Ok(RelationKind::Deduplicate {
            input: self.relation(input)?,
            columns,
            within_watermark: message.within_watermark.unwrap_or(false),
        })
    }

    fn with_columns(&mut self, message: &proto::WithColumns) -> Result<RelationKind> {
        let aliases = message.aliases.iter().map(|alias| {
            if alias.name.len() != 1 {
                return Err(SparkError::new("CONNECT_INVALID_PLAN.WITH_COLUMNS_REQUIRE_SINGLE_NAME_PART")
                    .with("got", format!("[{}]", alias.name.join(", "))));
            }
            self.alias(alias)
        });
        let aliases = aliases.collect::<Result<_>>()?;
        Ok(RelationKind::WithColumns { input: self.input(message.input.as_deref())?, aliases })
    }

    fn unpivot(&mut self, message: &proto::Unpivot) -> Result<RelationKind> {
        let values = match message.values.as_ref() {
            None => None,
            Some(values) => {
                let values = self.expressions(&values.values)?;
                Some(values.into_iter().map(|value| (vec![value], None)).collect())
            }
        };
        Ok(RelationKind::Unpivot(Unpivot {
            ids: Some(self.expressions(&message.ids)?),
            values,
            input: self.input(message.input.as_deref())?,
            variable_column: message.variable_column_name.clone(),
            value_columns: vec![message.value_column_name.clone()],
            include_nulls: true,
        }))
    }

    fn parse(&mut self, message: &proto::Parse) -> Result<RelationKind> {
        use proto::parse::ParseFormat;
        let format = match ParseFormat::try_from(message.format) {
            Ok(ParseFormat::Csv) => "csv",
            Ok(ParseFormat::Json) => "json",
            Ok(ParseFormat::Xml) => "xml",
            Ok(other @ ParseFormat::Unspecified) => {
                return Err(invalid_enum("Parse.ParseFormat", other.as_str_name(), message.format));
            }
            Err(_) => return Err(invalid_enum("Parse.ParseFormat", "", message.format)),
        };
        let schema = message.schema.as_ref().filter(|schema| schema.kind.is_some());
        Ok(RelationKind::Parse {
            input: self.input(message.input.as_deref())?,
            format: format.to_string(),
            schema: types::optional_type(schema)?,
            options: options(&message.options),
        })
    }

    fn group_map(&mut self, message: &proto::GroupMap) -> Result<RelationKind> {
        if message.transform_with_state_info.is_some() {
            return Ok(RelationKind::Unsupported("transformWithState".into()));
        }
        if message.is_map_groups_with_state.is_some() || message.state_schema.is_some() {
            return Ok(RelationKind::Unsupported("mapGroupsWithState".into()));
        }
        let function = message.func.as_ref().ok_or_else(|| not_set("CommonInlineUserDefinedFunction", "function"))?;
        Ok(RelationKind::GroupMap {
            input: self.input(message.input.as_deref())?,
            grouping: self.expressions(&message.grouping_expressions)?,
            function: self.python_function(function)?,
            sorting: self.expressions(&message.sorting_expressions)?,
        })
    }

    /// SQL text with its arguments, of which clients before 4.0 send literals.
    pub(super) fn sql(&self, sql: &proto::Sql) -> Result<RelationKind> {
        let literal_of = |value: &proto::expression::Literal| Ok(Expr::literal(literal::literal(value)?));
        let mut named_arguments: Vec<(String, Expr)> = Vec::new();
        for (name, value) in &sql.named_arguments {
            named_arguments.push((name.clone(), self.expression(value)?));
        }
        for (name, value) in &sql.args {
            named_arguments.push((name.clone(), literal_of(value)?));
        }
        named_arguments.sort_by(|left, right| left.0.cmp(&right.0));
        let position_arguments = if sql.pos_arguments.is_empty() {
            sql.pos_args.iter().map(literal_of).collect::<Result<_>>()?
        } else {
            self.expressions(&sql.pos_arguments)?
        };
        Ok(RelationKind::Sql { text: sql.query.clone(), named_arguments, position_arguments })
    }

    /// References are subqueries of expressions by plan id, or names in SQL text by alias.
    fn with_relations(&mut self, message: &proto::WithRelations) -> Result<RelationKind> {
        let root = message.root.as_deref().ok_or_else(|| not_set("Relation", "rel_type"))?;
        let outer = self.references.len();
        let mut references = Vec::with_capacity(message.references.len());
        for reference in &message.references {
            let relation = self.relation(reference)?;
            if let Some(plan_id) = relation.plan_id() {
                self.references.push((plan_id, relation.clone()));
            }
            references.push(relation);
        }
        let input = self.relation(root);
        self.references.truncate(outer);
        let is_sql = matches!(root.rel_type, Some(RelType::Sql(_)));
        references.retain(|reference| is_sql && matches!(reference.kind(), RelationKind::SubqueryAlias { .. }));
        Ok(RelationKind::WithRelations { input: input?, references })
    }
}

fn read_kind(read: &proto::Read) -> Result<RelationKind> {
    use proto::read::ReadType;
    Ok(match read.read_type.as_ref().ok_or_else(|| not_set("Read", "read_type"))? {
        ReadType::NamedTable(table) => RelationKind::Table(TableReference {
            name: TableName::of(identifier(&table.unparsed_identifier)?),
            options: options(&table.options),
            is_streaming: read.is_streaming,
            time_travel: None,
        }),
        ReadType::DataSource(source) => {
            if read.is_streaming && source.paths.len() > 1 {
                return Err(SparkError::new("CONNECT_INVALID_PLAN.MULTIPLE_PATHS_NOT_SUPPORTED_FOR_STREAMING_SOURCE"));
            }
            let format = source.format.clone().filter(|format| !format.is_empty());
            let is_jdbc = format.as_deref().is_some_and(|format| format.eq_ignore_ascii_case("jdbc"));
            if !source.predicates.is_empty() && !is_jdbc {
                return Err(SparkError::new("CONNECT_INVALID_PLAN.PREDICATES_NOT_SUPPORTED_FOR_DATA_SOURCE")
                    .with("format", format.unwrap_or_default()));
            }
            RelationKind::DataSource(DataSource {
                format,
                schema: source.schema.clone().filter(|schema| !schema.is_empty()),
                options: options(&source.options),
                paths: source.paths.clone(),
                predicates: source.predicates.clone(),
                is_streaming: read.is_streaming,
            })
        }
    })
}

fn join_type(number: i32) -> Result<JoinType> {
    use proto::join::JoinType as Message;
    match Message::try_from(number) {
        Ok(Message::Inner) => Ok(JoinType::Inner),
        Ok(Message::FullOuter) => Ok(JoinType::FullOuter),
        Ok(Message::LeftOuter) => Ok(JoinType::LeftOuter),
        Ok(Message::RightOuter) => Ok(JoinType::RightOuter),
        Ok(Message::LeftAnti) => Ok(JoinType::LeftAnti),
        Ok(Message::LeftSemi) => Ok(JoinType::LeftSemi),
        Ok(Message::Cross) => Ok(JoinType::Cross),
        Ok(other @ Message::Unspecified) => Err(invalid_enum("Join.JoinType", other.as_str_name(), number)),
        Err(_) => Err(invalid_enum("Join.JoinType", "", number)),
    }
}
