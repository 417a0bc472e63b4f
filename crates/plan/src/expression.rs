//! Unresolved expressions.

use crate::{Origin, Relation};
use bytes::Bytes;
use firesteel_types::{DataType, Literal};

/// An expression and where it comes from.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Expr {
    pub kind: ExprKind,
    pub origin: Origin,
}

/// A name of one or more parts, such as `catalog.database.table` or `t.a.b`.
pub type Name = Vec<String>;

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum ExprKind {
    Literal(Literal),
    /// A column, field or lambda variable to be looked up.
    Attribute {
        name: Name,
        /// The relation that the column was taken from (`df["x"]`).
        plan_id: Option<i64>,
        is_metadata_column: bool,
    },
    /// `*`, `t.*`, `struct.*`.
    Star {
        target: Option<Name>,
        except: Vec<Name>,
        plan_id: Option<i64>,
    },
    /// Columns whose names match a Java regular expression (`colRegex`, quoted regex names).
    Regex {
        pattern: String,
        plan_id: Option<i64>,
    },
    /// A call of a function or operator by name. Operators use the names of
    /// Spark's functions: `+ - * / % div == <=> < > and or not ! in like ilike rlike
    /// between when isnull isnotnull | & ^ ~ <<` and so on. `CASE` is `when(c1, v1, …, [else])`.
    Function(FunctionCall),
    /// `name => value` among a function's arguments.
    NamedArgument {
        name: String,
        value: Box<Expr>,
    },
    Cast {
        child: Box<Expr>,
        to: DataType,
        mode: CastMode,
    },
    /// One name, or several for a generator.
    Alias {
        child: Box<Expr>,
        names: Vec<String>,
        /// JSON text of the column's metadata.
        metadata: Option<String>,
    },
    Sort(Box<SortOrder>),
    /// The partition of `repartitionById`.
    PartitionId(Box<Expr>),
    /// `function OVER window`.
    Window {
        function: Box<Expr>,
        window: WindowReference,
    },
    Lambda {
        parameters: Vec<String>,
        body: Box<Expr>,
    },
    /// A variable bound by an enclosing lambda.
    LambdaVariable(Name),
    /// `child.field`, `child[index]`, `child[key]`.
    ExtractValue {
        child: Box<Expr>,
        extraction: Box<Expr>,
    },
    /// `Column.withField` (with a value) and `Column.dropFields` (without).
    UpdateField {
        child: Box<Expr>,
        field: String,
        value: Option<Box<Expr>>,
    },
    Subquery {
        kind: SubqueryKind,
        query: Box<Relation>,
    },
    /// `Column.outer()`: names in it belong to the outer query.
    Outer(Box<Expr>),
    PythonFunction(PythonFunction),
    /// `:name` or `?` (by position, counted from 0).
    Parameter(Parameter),
    /// `DEFAULT` in VALUES, INSERT, UPDATE, MERGE.
    Default,
    /// `IDENTIFIER(expr)` as a column or function name; `arguments` are there for a function.
    Identifier {
        name: Box<Expr>,
        arguments: Option<Vec<Expr>>,
    },
    /// SQL text parsed as an expression (`expr("…")`), parsed when analysed.
    SqlText(String),
    /// Something that is decoded, and refused by this name when analysed.
    Unsupported(String),
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct FunctionCall {
    pub name: Name,
    pub arguments: Vec<Expr>,
    pub is_distinct: bool,
    /// `FILTER (WHERE …)`
    pub filter: Option<Box<Expr>>,
    /// `IGNORE NULLS` (true), `RESPECT NULLS` (false).
    pub ignore_nulls: Option<bool>,
    /// `WITHIN GROUP (ORDER BY …)`
    pub within_group: Vec<SortOrder>,
    /// A function known to clients only, not to SQL.
    pub is_internal: bool,
    pub is_user_defined: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CastMode {
    /// By `spark.sql.ansi.enabled`.
    Session,
    Legacy,
    Ansi,
    Try,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct SortOrder {
    pub child: Expr,
    pub ascending: bool,
    /// None: nulls first when ascending, last when descending.
    pub nulls_first: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum WindowReference {
    Specification(WindowSpecification),
    /// `OVER w`, `OVER (w)`: a window of the WINDOW clause.
    Named(String),
}

#[derive(Debug, Clone, PartialEq, Hash, Default)]
pub struct WindowSpecification {
    pub partition_by: Vec<Expr>,
    pub order_by: Vec<SortOrder>,
    pub frame: Option<WindowFrame>,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct WindowFrame {
    pub unit: FrameUnit,
    pub lower: FrameBound,
    pub upper: FrameBound,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameUnit {
    Rows,
    Range,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum FrameBound {
    UnboundedPreceding,
    UnboundedFollowing,
    CurrentRow,
    /// An offset from the current row: negative values precede.
    Value(Box<Expr>),
    /// SQL's `n PRECEDING`: an offset back from the current row.
    Preceding(Box<Expr>),
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum SubqueryKind {
    Scalar,
    Exists,
    /// `(values) IN (query)`
    In(Vec<Expr>),
    /// `TABLE(query)` as an argument of a table function.
    Table(TableArgumentOptions),
}

#[derive(Debug, Clone, PartialEq, Hash, Default)]
pub struct TableArgumentOptions {
    pub partition_by: Vec<Expr>,
    pub order_by: Vec<SortOrder>,
    pub with_single_partition: bool,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum Parameter {
    Named(String),
    Position(usize),
}

/// A Python function sent with the plan.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct PythonFunction {
    pub name: String,
    pub arguments: Vec<Expr>,
    pub deterministic: bool,
    pub is_distinct: bool,
    pub output_type: Option<DataType>,
    pub eval_type: i32,
    /// The pickled function.
    pub command: Bytes,
    pub python_version: String,
}

impl Expr {
    pub fn new(kind: ExprKind) -> Self {
        Self { kind, origin: Origin::Unknown }
    }

    #[must_use]
    pub fn at(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// A column by its name parts.
    pub fn attribute(name: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::new(ExprKind::Attribute {
            name: name.into_iter().map(Into::into).collect(),
            plan_id: None,
            is_metadata_column: false,
        })
    }

    /// A column by one name, taken as it is (dots included).
    pub fn column(name: impl Into<String>) -> Self {
        Self::attribute([name.into()])
    }

    pub fn literal(value: Literal) -> Self {
        Self::new(ExprKind::Literal(value))
    }

    /// A call of a built-in function.
    pub fn call(name: &str, arguments: Vec<Expr>) -> Self {
        Self::new(ExprKind::Function(FunctionCall::new(vec![name.to_string()], arguments)))
    }

    #[must_use]
    pub fn alias(self, name: impl Into<String>) -> Self {
        let origin = self.origin.clone();
        Self::new(ExprKind::Alias { child: Box::new(self), names: vec![name.into()], metadata: None }).at(origin)
    }

    #[must_use]
    pub fn cast(self, to: DataType) -> Self {
        let origin = self.origin.clone();
        Self::new(ExprKind::Cast { child: Box::new(self), to, mode: CastMode::Session }).at(origin)
    }

    /// Whether this or an expression below it is of some kind; the queries of subqueries are not looked into.
    pub fn any(&self, test: impl Fn(&Expr) -> bool) -> bool {
        let mut left = vec![self];
        while let Some(expr) = left.pop() {
            if test(expr) {
                return true;
            }
            match &expr.kind {
                ExprKind::Function(call) => {
                    left.extend(&call.arguments);
                    left.extend(call.filter.as_deref());
                    left.extend(call.within_group.iter().map(|order| &order.child));
                }
                ExprKind::NamedArgument { value: child, .. }
                | ExprKind::Cast { child, .. }
                | ExprKind::Alias { child, .. }
                | ExprKind::PartitionId(child)
                | ExprKind::Window { function: child, .. }
                | ExprKind::Lambda { body: child, .. }
                | ExprKind::Outer(child) => left.push(child),
                ExprKind::Sort(order) => left.push(&order.child),
                ExprKind::ExtractValue { child, extraction } => left.extend([child.as_ref(), extraction.as_ref()]),
                ExprKind::UpdateField { child, value, .. } => {
                    left.push(child);
                    left.extend(value.as_deref());
                }
                ExprKind::Identifier { name, arguments } => {
                    left.push(name);
                    left.extend(arguments.iter().flatten());
                }
                ExprKind::PythonFunction(function) => left.extend(&function.arguments),
                _ => {}
            }
        }
        false
    }

    pub fn star() -> Self {
        Self::new(ExprKind::Star { target: None, except: Vec::new(), plan_id: None })
    }
}

impl FunctionCall {
    pub fn new(name: Name, arguments: Vec<Expr>) -> Self {
        Self {
            name,
            arguments,
            is_distinct: false,
            filter: None,
            ignore_nulls: None,
            within_group: Vec::new(),
            is_internal: false,
            is_user_defined: false,
        }
    }
}

impl SortOrder {
    pub fn ascending(child: Expr) -> Self {
        Self { child, ascending: true, nulls_first: None }
    }

    /// Whether nulls come first, by the rule when it is not said.
    pub fn nulls_come_first(&self) -> bool {
        self.nulls_first.unwrap_or(self.ascending)
    }
}
