//! Declarations of functions.

use crate::{KernelFn, Signature, TypedExpr};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::SortExpr;
use firesteel_config::SqlConf;
use firesteel_error::{QueryContext, Result, SparkError};
use firesteel_types::{DataType, StructField};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Spark's groups of functions, as `DESCRIBE FUNCTION` and the docs have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    Aggregate,
    Array,
    Bitwise,
    Collection,
    Conditional,
    Conversion,
    Csv,
    DateTime,
    Generator,
    Hash,
    /// Not listed.
    Internal,
    Json,
    Lambda,
    Map,
    Math,
    Misc,
    Operator,
    Predicate,
    Sketch,
    String,
    Struct,
    TableValued,
    Url,
    Variant,
    Window,
    Xml,
}

/// What `DESCRIBE FUNCTION EXTENDED` prints.
#[derive(Debug, Clone, Copy)]
pub struct Documentation {
    pub usage: &'static str,
    /// `(name, text)` per argument.
    pub arguments: &'static [(&'static str, &'static str)],
    /// SQL statements with their answers, as `(statement, answer)`.
    pub examples: &'static [(&'static str, &'static str)],
    pub note: &'static str,
    pub since: &'static str,
}

impl Documentation {
    pub const EMPTY: Self = Self { usage: "", arguments: &[], examples: &[], note: "", since: "1.0.0" };
}

/// A built-in function.
pub struct Function {
    /// Spark's name, lower case; operators by their sign.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub group: Group,
    pub signature: Signature,
    pub body: Body,
    /// The same arguments always give the same value.
    pub deterministic: bool,
    /// The text of a call from its arguments' texts; None: `name(a, b)`.
    pub text: Option<fn(&[String]) -> String>,
    pub documentation: Documentation,
}

/// What a call becomes.
pub enum Body {
    /// A kernel over arrays.
    Scalar { returns: Returns, nullable: Nullability, kernel: KernelFn },
    /// Any other expression made of the coerced arguments (other functions, DataFusion's own).
    Build(fn(&mut BuildContext<'_>, Vec<TypedExpr>) -> Result<TypedExpr>),
    /// As `Build`, for calls whose text depends on the arguments' types: the expression brings its own.
    Named(fn(&mut BuildContext<'_>, Vec<TypedExpr>) -> Result<TypedExpr>),
    /// An aggregate: the result holds an `Expr::AggregateFunction`, possibly within other expressions.
    Aggregate(fn(&mut BuildContext<'_>, AggregateCall) -> Result<TypedExpr>),
    /// A function that only works over a window: an `Expr::WindowFunction` with an empty specification,
    /// which the analyzer fills in.
    Window(fn(&mut BuildContext<'_>, WindowCall) -> Result<TypedExpr>),
    /// Rows per row.
    Generator(fn(&mut BuildContext<'_>, Vec<TypedExpr>) -> Result<Generator>),
    /// Arguments with lambdas: the analyzer asks for the types of the lambdas' parameters first.
    HigherOrder(HigherOrder),
}

/// A function with lambda arguments.
#[derive(Clone, Copy)]
pub struct HigherOrder {
    /// The parameter types (with nullability) of the lambda at an argument position,
    /// from the non-lambda arguments (None where the argument is a lambda) and, for
    /// `aggregate`'s finish lambda, the types of lambdas analysed so far.
    pub lambda_parameters: fn(&LambdaQuestion<'_>) -> Result<Vec<(DataType, bool)>>,
    /// The expression from values and analysed lambdas.
    pub build: fn(&mut BuildContext<'_>, Vec<LambdaArg>) -> Result<TypedExpr>,
}

/// What is known when a lambda's parameters are to be typed.
pub struct LambdaQuestion<'a> {
    /// The argument position of the lambda.
    pub position: usize,
    /// How many parameters the lambda declares.
    pub parameter_count: usize,
    /// Values analysed; lambdas None.
    pub values: &'a [Option<TypedExpr>],
    /// Body types of lambdas analysed so far, by position.
    pub lambdas: &'a [Option<DataType>],
    pub conf: &'a SqlConf,
}

/// An argument of a higher-order function.
#[derive(Clone)]
pub enum LambdaArg {
    Value(TypedExpr),
    Lambda {
        /// `Expr::Lambda`, its parameters named as its `Expr::LambdaVariable`s are.
        lambda: Expr,
        parameters: Vec<String>,
        body: TypedExpr,
    },
}

/// The result type of a kernel.
pub enum Returns {
    Type(DataType),
    /// The type of argument `i`.
    SameAs(usize),
    Of(fn(&[TypedExpr], &SqlConf) -> Result<DataType>),
}

/// When a kernel's result can be null.
#[derive(Clone, Copy)]
pub enum Nullability {
    /// When an argument is.
    IfAnyArgument,
    Always,
    Never,
    Of(fn(&[TypedExpr], &SqlConf) -> bool),
}

/// A call of an aggregate function.
pub struct AggregateCall {
    pub arguments: Vec<TypedExpr>,
    pub is_distinct: bool,
    pub filter: Option<Expr>,
    /// `WITHIN GROUP (ORDER BY …)`, with the keys' types.
    pub order_by: Vec<(SortExpr, TypedExpr)>,
    pub ignore_nulls: Option<bool>,
    /// The call has the argument `*` (`count(*)`); then `arguments` is empty.
    pub is_star: bool,
}

/// A call of a window function.
pub struct WindowCall {
    pub arguments: Vec<TypedExpr>,
    pub ignore_nulls: Option<bool>,
}

/// A generator's rows: an expression of type `ARRAY<STRUCT<columns>>`.
pub struct Generator {
    pub rows: TypedExpr,
    /// Default names, types and nullability of the columns.
    pub columns: Vec<StructField>,
    /// A row without output gives one row of nulls.
    pub is_outer: bool,
}

/// What functions may know of the query that they are built for.
pub struct BuildContext<'a> {
    pub conf: &'a SqlConf,
    pub query_time: &'a QueryTime,
    /// The place of the call, for run-time errors.
    pub context: Option<Arc<QueryContext>>,
    /// Facts of the session for `current_user()`, `current_database()` and the like.
    pub session: &'a SessionFacts,
}

/// When a query began. It notes whether anything was made of it: such an analysis holds for its query only.
#[derive(Debug)]
pub struct QueryTime {
    micros: i64,
    is_used: AtomicBool,
}

impl QueryTime {
    /// The moment, in microseconds since the epoch.
    pub fn at(micros: i64) -> Self {
        Self { micros, is_used: AtomicBool::new(false) }
    }

    /// Microseconds since the epoch.
    pub fn micros(&self) -> i64 {
        self.is_used.store(true, Ordering::Relaxed);
        self.micros
    }

    /// Whether anybody has asked.
    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }
}

/// Facts of a session that functions answer with.
#[derive(Debug, Clone, Default)]
pub struct SessionFacts {
    pub user: String,
    pub current_catalog: String,
    pub current_database: String,
    pub version: String,
}

impl BuildContext<'_> {
    /// Calls another function with arguments analysed already.
    pub fn call(&mut self, name: &str, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
        let function = crate::registry::lookup(name)
            .ok_or_else(|| SparkError::internal(format!("function {name} is not declared")))?;
        function.build(self, arguments)
    }
}

impl Function {
    /// The text of a call.
    pub fn call_text(&self, arguments: &[String]) -> String {
        match self.text {
            Some(text) => text(arguments),
            None => format!("{}({})", self.name, arguments.join(", ")),
        }
    }

    /// What `DESCRIBE FUNCTION` says of the function under one of its names: how it is called, and what it gives.
    pub fn usage(&self, name: &str) -> String {
        let usage = self.documentation.usage;
        if usage.is_empty() {
            return "N/A.".to_string();
        }
        let usage = usage.replace("_FUNC_", name);
        match usage.strip_prefix(self.name).filter(|rest| rest.starts_with('(')) {
            Some(rest) => format!("{name}{rest}"),
            None if self.is_called_by_name(name) => format!("{name}{} - {usage}", self.signature.text()),
            None => usage,
        }
    }

    /// Whether the function's name stands before its arguments in parentheses.
    fn is_called_by_name(&self, name: &str) -> bool {
        const WORDS: [&str; 13] =
            ["and", "between", "case", "div", "ilike", "in", "is", "like", "not", "or", "regexp", "rlike", "when"];
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && !WORDS.contains(&name)
    }

    /// Builds a scalar call: checks arity, coerces the arguments, makes the expression.
    pub fn build(&self, context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
        // Texts of calls count on their arguments.
        self.signature.check_arity(self.name, arguments.len())?;
        let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
        let text = self.call_text(&names);
        let arguments = self.signature.apply(self.name, &text, arguments, context)?;
        match &self.body {
            Body::Scalar { returns, nullable, kernel } => {
                let data_type = match returns {
                    Returns::Type(t) => t.clone(),
                    Returns::SameAs(i) => arguments
                        .get(*i)
                        .map(|a| a.data_type.clone())
                        .ok_or_else(|| SparkError::internal(format!("{}: no argument {i}", self.name)))?,
                    Returns::Of(f) => f(&arguments, context.conf)?,
                };
                let is_nullable = match nullable {
                    Nullability::IfAnyArgument => arguments.iter().any(|a| a.nullable),
                    Nullability::Always => true,
                    Nullability::Never => false,
                    Nullability::Of(f) => f(&arguments, context.conf),
                };
                let expr = crate::kernel::call(self, *kernel, &arguments, &data_type, is_nullable, context)?;
                Ok(TypedExpr::new(expr, data_type, is_nullable, text))
            }
            Body::Build(build) => Ok(build(context, arguments)?.named(text)),
            Body::Named(build) => build(context, arguments),
            Body::Aggregate(_) | Body::Window(_) | Body::Generator(_) | Body::HigherOrder(_) => {
                Err(SparkError::internal(format!("{} is not a scalar function", self.name)))
            }
        }
    }

    pub fn is_aggregate(&self) -> bool {
        matches!(self.body, Body::Aggregate(_))
    }

    pub fn is_generator(&self) -> bool {
        matches!(self.body, Body::Generator(_))
    }
}
