//! Expressions.

use super::{Decoder, assertion, identifier, invalid_enum, not_set, origin, with_stack};
use super::{literal, types};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{
    CastMode, Expr, ExprKind, FrameBound, FrameUnit, FunctionCall, SortOrder, SubqueryKind, TableArgumentOptions,
    WindowFrame, WindowReference, WindowSpecification,
};
use firesteel_proto::connect as proto;
use firesteel_types::ddl;
use proto::expression as message;
use proto::expression::ExprType;
use proto::expression::window::window_frame::{FrameType, frame_boundary::Boundary};
use proto::subquery_expression::SubqueryType;

impl Decoder<'_> {
    /// The expressions of a repeated field.
    pub fn expressions(&self, messages: &[proto::Expression]) -> Result<Vec<Expr>> {
        messages.iter().map(|message| self.expression(message)).collect()
    }

    /// The expression of a field that must be there.
    pub(super) fn required(&self, message: Option<&proto::Expression>) -> Result<Expr> {
        self.expression(message.ok_or_else(|| not_set("Expression", "expr_type"))?)
    }

    fn boxed(&self, message: Option<&proto::Expression>) -> Result<Box<Expr>> {
        self.required(message).map(Box::new)
    }

    /// The expression of a message.
    pub fn expression(&self, message: &proto::Expression) -> Result<Expr> {
        let origin = origin(message.common.as_ref().and_then(|common| common.origin.as_ref()));
        let kind = message.expr_type.as_ref().ok_or_else(|| not_set("Expression", "expr_type"))?;
        let kind = with_stack(|| self.kind(kind)).map_err(|error| error.or_context(|| origin.context()))?;
        Ok(Expr::new(kind).at(origin))
    }

    fn kind(&self, message: &ExprType) -> Result<ExprKind> {
        Ok(match message {
            ExprType::Literal(value) => ExprKind::Literal(literal::literal(value)?),
            ExprType::UnresolvedAttribute(attribute) => ExprKind::Attribute {
                name: firesteel_sql::parse_attribute_name(&attribute.unparsed_identifier)?,
                plan_id: attribute.plan_id,
                is_metadata_column: attribute.is_metadata_column.unwrap_or(false),
            },
            ExprType::UnresolvedFunction(function) => self.function(function)?,
            ExprType::ExpressionString(text) => ExprKind::SqlText(text.expression.clone()),
            ExprType::UnresolvedStar(star) => self.star(star)?,
            ExprType::Alias(alias) => return self.alias_kind(alias),
            ExprType::Cast(cast) => self.cast(cast)?,
            ExprType::UnresolvedRegex(regex) => column_regex(regex)?,
            ExprType::SortOrder(order) => ExprKind::Sort(Box::new(self.sort_order(order)?)),
            ExprType::LambdaFunction(lambda) => self.lambda(lambda)?,
            ExprType::Window(window) => self.window(window)?,
            ExprType::UnresolvedExtractValue(extract) => ExprKind::ExtractValue {
                child: self.boxed(extract.child.as_deref())?,
                extraction: self.boxed(extract.extraction.as_deref())?,
            },
            ExprType::UpdateFields(update) => ExprKind::UpdateField {
                child: self.boxed(update.struct_expression.as_deref())?,
                field: update.field_name.clone(),
                value: match update.value_expression.as_deref() {
                    Some(value) => Some(self.boxed(Some(value))?),
                    None => None,
                },
            },
            ExprType::UnresolvedNamedLambdaVariable(variable) => ExprKind::LambdaVariable(lambda_variable(variable)?),
            ExprType::CommonInlineUserDefinedFunction(function) => self.inline_function(function)?,
            ExprType::CallFunction(call) => ExprKind::Function(FunctionCall {
                is_user_defined: true,
                ..FunctionCall::new(identifier(&call.function_name)?, self.expressions(&call.arguments)?)
            }),
            ExprType::NamedArgumentExpression(argument) => {
                ExprKind::NamedArgument { name: argument.key.clone(), value: self.boxed(argument.value.as_deref())? }
            }
            ExprType::MergeAction(_) => ExprKind::Unsupported("merge actions outside MERGE".into()),
            ExprType::TypedAggregateExpression(_) => {
                ExprKind::Unsupported("aggregators of Scala or Java, which need a JVM".into())
            }
            ExprType::SubqueryExpression(subquery) => self.subquery(subquery)?,
            ExprType::DirectShufflePartitionId(id) => ExprKind::PartitionId(self.boxed(id.child.as_deref())?),
            ExprType::Extension(extension) => return Err(no_handler(&extension.type_url)),
        })
    }

    fn function(&self, message: &message::UnresolvedFunction) -> Result<ExprKind> {
        let name = if message.is_user_defined_function {
            identifier(&message.function_name)?
        } else {
            vec![message.function_name.clone()]
        };
        let arguments = self.expressions(&message.arguments)?;
        // Aggregates of typed frames are calls whose only argument is a closure.
        if let Some(unsupported) = arguments.iter().find(|a| matches!(a.kind, ExprKind::Unsupported(_))) {
            return Ok(unsupported.kind.clone());
        }
        Ok(ExprKind::Function(FunctionCall {
            is_distinct: message.is_distinct,
            is_internal: message.is_internal.unwrap_or(false),
            is_user_defined: message.is_user_defined_function,
            ..FunctionCall::new(name, arguments)
        }))
    }

    fn star(&self, message: &message::UnresolvedStar) -> Result<ExprKind> {
        let target = match message.unparsed_target.as_deref() {
            None => None,
            Some(_) if message.plan_id.is_some() => {
                return Err(SparkError::new("CONNECT_INVALID_PLAN.UNRESOLVED_STAR_WITH_BOTH_TARGET_AND_PLAN_ID"));
            }
            Some(text) => {
                let target = text.strip_suffix(".*").ok_or_else(|| {
                    SparkError::new("CONNECT_INVALID_PLAN.UNRESOLVED_STAR_TARGET_INVALID").with("target", text)
                })?;
                Some(firesteel_sql::parse_attribute_name(target)?)
            }
        };
        Ok(ExprKind::Star { target, except: Vec::new(), plan_id: message.plan_id })
    }

    /// An alias message on its own, as `WithColumns` holds it.
    pub(super) fn alias(&self, message: &message::Alias) -> Result<Expr> {
        Ok(Expr::new(self.alias_kind(message)?))
    }

    fn alias_kind(&self, message: &message::Alias) -> Result<ExprKind> {
        if message.name.is_empty() {
            return Err(empty_name());
        }
        if message.name.len() > 1 && message.metadata.is_some() {
            return Err(SparkError::new("CONNECT_INVALID_PLAN.ALIAS_WITH_MULTIPLE_IDENTIFIERS_AND_METADATA"));
        }
        Ok(ExprKind::Alias {
            child: self.boxed(message.expr.as_deref())?,
            names: message.name.clone(),
            metadata: message.metadata.clone().filter(|text| !text.is_empty()),
        })
    }

    fn cast(&self, cast: &message::Cast) -> Result<ExprKind> {
        use message::cast::{CastToType, EvalMode};
        let to = match cast.cast_to_type.as_ref() {
            Some(CastToType::Type(to)) => types::data_type(to)?,
            Some(CastToType::TypeStr(text)) => ddl::parse_data_type(text)?,
            None => return Err(SparkError::new("PARSE_EMPTY_STATEMENT")),
        };
        let mode = match EvalMode::try_from(cast.eval_mode) {
            Ok(EvalMode::Unspecified) => CastMode::Session,
            Ok(EvalMode::Legacy) => CastMode::Legacy,
            Ok(EvalMode::Ansi) => CastMode::Ansi,
            Ok(EvalMode::Try) => CastMode::Try,
            Err(_) => return Err(invalid_enum("Expression.Cast.EvalMode", "", cast.eval_mode)),
        };
        Ok(ExprKind::Cast { child: self.boxed(cast.expr.as_deref())?, to, mode })
    }

    /// The sort orders of a repeated field.
    pub(super) fn sort_orders(&self, messages: &[message::SortOrder]) -> Result<Vec<SortOrder>> {
        messages.iter().map(|order| self.sort_order(order)).collect()
    }

    fn sort_order(&self, order: &message::SortOrder) -> Result<SortOrder> {
        use message::sort_order::{NullOrdering, SortDirection};
        let ascending = match SortDirection::try_from(order.direction) {
            Ok(SortDirection::Descending) => false,
            Ok(SortDirection::Ascending | SortDirection::Unspecified) => true,
            Err(_) => return Err(invalid_enum("Expression.SortOrder.SortDirection", "", order.direction)),
        };
        let nulls_first = match NullOrdering::try_from(order.null_ordering) {
            Ok(NullOrdering::SortNullsUnspecified) => None,
            Ok(NullOrdering::SortNullsFirst) => Some(true),
            Ok(NullOrdering::SortNullsLast) => Some(false),
            Err(_) => return Err(invalid_enum("Expression.SortOrder.NullOrdering", "", order.null_ordering)),
        };
        Ok(SortOrder { child: self.required(order.child.as_deref())?, ascending, nulls_first })
    }

    fn lambda(&self, lambda: &message::LambdaFunction) -> Result<ExprKind> {
        if lambda.arguments.is_empty() || lambda.arguments.len() > 3 {
            return Err(SparkError::new("CONNECT_INVALID_PLAN.LAMBDA_FUNCTION_ARGUMENT_COUNT_INVALID")
                .with("got", lambda.arguments.len().to_string()));
        }
        let parameters = lambda.arguments.iter().map(|variable| Ok(lambda_variable(variable)?.join(".")));
        Ok(ExprKind::Lambda {
            parameters: parameters.collect::<Result<_>>()?,
            body: self.boxed(lambda.function.as_deref())?,
        })
    }

    fn window(&self, window: &message::Window) -> Result<ExprKind> {
        let Some(function) = window.window_function.as_deref() else {
            return Err(SparkError::new("CONNECT_INVALID_PLAN.WINDOW_FUNCTION_REQUIRED"));
        };
        let specification = WindowSpecification {
            partition_by: self.expressions(&window.partition_spec)?,
            order_by: self.sort_orders(&window.order_spec)?,
            frame: window.frame_spec.as_deref().map(|frame| self.frame(frame)).transpose()?,
        };
        Ok(ExprKind::Window {
            function: self.boxed(Some(function))?,
            window: WindowReference::Specification(specification),
        })
    }

    fn frame(&self, frame: &message::window::WindowFrame) -> Result<WindowFrame> {
        let unit = match FrameType::try_from(frame.frame_type) {
            Ok(FrameType::Row) => FrameUnit::Rows,
            Ok(FrameType::Range) => FrameUnit::Range,
            Ok(other) => {
                return Err(invalid_enum(
                    "Expression.Window.WindowFrame.FrameType",
                    other.as_str_name(),
                    frame.frame_type,
                ));
            }
            Err(_) => return Err(invalid_enum("Expression.Window.WindowFrame.FrameType", "", frame.frame_type)),
        };
        let lower = frame.lower.as_deref().and_then(|bound| bound.boundary.as_ref());
        let upper = frame.upper.as_deref().and_then(|bound| bound.boundary.as_ref());
        let lower =
            lower.ok_or_else(|| SparkError::new("CONNECT_INVALID_PLAN.LOWER_BOUND_REQUIRED_IN_WINDOW_FRAME"))?;
        let upper =
            upper.ok_or_else(|| SparkError::new("CONNECT_INVALID_PLAN.UPPER_BOUND_REQUIRED_IN_WINDOW_FRAME"))?;
        Ok(WindowFrame {
            unit,
            lower: self.frame_bound(lower, FrameBound::UnboundedPreceding)?,
            upper: self.frame_bound(upper, FrameBound::UnboundedFollowing)?,
        })
    }

    fn frame_bound(&self, bound: &Boundary, unbounded: FrameBound) -> Result<FrameBound> {
        Ok(match bound {
            Boundary::CurrentRow(_) => FrameBound::CurrentRow,
            Boundary::Unbounded(_) => unbounded,
            Boundary::Value(value) => FrameBound::Value(self.boxed(Some(value))?),
        })
    }

    fn subquery(&self, subquery: &proto::SubqueryExpression) -> Result<ExprKind> {
        let query = self
            .references
            .iter()
            .rev()
            .find(|(plan_id, _)| *plan_id == subquery.plan_id)
            .map(|(_, relation)| relation.clone())
            .ok_or_else(|| SparkError::new("CONNECT_INVALID_PLAN.INVALID_WITH_RELATION_REFERENCE"))?;
        let kind = match SubqueryType::try_from(subquery.subquery_type) {
            Ok(SubqueryType::Scalar) => SubqueryKind::Scalar,
            Ok(SubqueryType::Exists) => SubqueryKind::Exists,
            Ok(SubqueryType::In) => {
                if subquery.in_subquery_values.is_empty() {
                    return Err(assertion("an IN subquery needs values"));
                }
                SubqueryKind::In(self.expressions(&subquery.in_subquery_values)?)
            }
            Ok(SubqueryType::TableArg) => {
                let options = match &subquery.table_arg_options {
                    None => TableArgumentOptions::default(),
                    Some(options) => TableArgumentOptions {
                        partition_by: self.expressions(&options.partition_spec)?,
                        order_by: self.sort_orders(&options.order_spec)?,
                        with_single_partition: options.with_single_partition.unwrap_or(false),
                    },
                };
                SubqueryKind::Table(options)
            }
            Ok(other @ SubqueryType::Unknown) => {
                return Err(invalid_enum(
                    "SubqueryExpression.SubqueryType",
                    other.as_str_name(),
                    subquery.subquery_type,
                ));
            }
            Err(_) => return Err(invalid_enum("SubqueryExpression.SubqueryType", "", subquery.subquery_type)),
        };
        Ok(ExprKind::Subquery { kind, query: Box::new(query) })
    }
}

/// The error of a plugin's message, for which there is no plugin.
pub(super) fn no_handler(type_url: &str) -> SparkError {
    SparkError::new("CONNECT_INVALID_PLAN.NO_HANDLER_FOR_EXTENSION").with("extensionTypeUrl", type_url)
}

fn empty_name() -> SparkError {
    super::empty_field("Expression.Alias", "name")
}

fn lambda_variable(variable: &message::UnresolvedNamedLambdaVariable) -> Result<Vec<String>> {
    if variable.name_parts.is_empty() {
        return Err(SparkError::new("CONNECT_INVALID_PLAN.UNRESOLVED_NAMED_LAMBDA_VARIABLE_REQUIRES_NAME_PART"));
    }
    Ok(variable.name_parts.clone())
}

/// `df.colRegex`: a pattern in backquotes, or else a plain column name.
fn column_regex(regex: &message::UnresolvedRegex) -> Result<ExprKind> {
    let text = regex.col_name.as_str();
    let quoted = |text: &str| text.len() > 2 && text.starts_with('`') && text.ends_with('`');
    if !quoted(text) {
        return Ok(ExprKind::Attribute {
            name: firesteel_sql::parse_attribute_name(text)?,
            plan_id: regex.plan_id,
            is_metadata_column: false,
        });
    }
    let pattern = &text[1..text.len() - 1];
    if pattern.contains("`.`") {
        return Ok(ExprKind::Unsupported("colRegex with a qualifier".into()));
    }
    Ok(ExprKind::Regex { pattern: pattern.to_string(), plan_id: regex.plan_id })
}
