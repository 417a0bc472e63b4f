//! Unresolved relations.

use crate::{
    CatalogRequest, Expr, Name, Origin, PythonFunction, SortOrder, Statement, TableArgumentOptions, WindowSpecification,
};
use bytes::Bytes;
use firesteel_types::Literal;
use foldhash::quality::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock, OnceLock};

/// A relational operator over its inputs.
///
/// The fingerprint is a hash of all that the relation means, made once when it
/// is first asked for, so that what is kept of a relation can be found by
/// content. Clones share what they are made of.
#[derive(Debug, Clone)]
pub struct Relation {
    kind: Arc<RelationKind>,
    plan_id: Option<i64>,
    pub origin: Origin,
    fingerprint: OnceLock<u128>,
}

impl Relation {
    pub fn new(kind: RelationKind) -> Self {
        Self::with_plan_id(kind, None)
    }

    /// A relation with the id that the client gave it.
    pub fn with_plan_id(kind: RelationKind, plan_id: Option<i64>) -> Self {
        Self { kind: Arc::new(kind), plan_id, origin: Origin::Unknown, fingerprint: OnceLock::new() }
    }

    #[must_use]
    pub fn at(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    pub fn kind(&self) -> &RelationKind {
        &self.kind
    }

    pub fn into_kind(mut self) -> RelationKind {
        Arc::unwrap_or_clone(self.take())
    }

    fn take(&mut self) -> Arc<RelationKind> {
        static NOTHING: LazyLock<Arc<RelationKind>> = LazyLock::new(|| Arc::new(RelationKind::OneRow));
        std::mem::replace(&mut self.kind, NOTHING.clone())
    }

    pub fn plan_id(&self) -> Option<i64> {
        self.plan_id
    }

    pub fn fingerprint(&self) -> u128 {
        let make = || {
            // Fingerprints are compared within one process only.
            static HALVES: LazyLock<[RandomState; 2]> =
                LazyLock::new(|| [RandomState::default(), RandomState::default()]);
            let [low, high] = HALVES.each_ref().map(|half| {
                let mut half = half.build_hasher();
                self.kind.hash(&mut half);
                self.plan_id.hash(&mut half);
                half.finish()
            });
            (u128::from(high) << 64) | u128::from(low)
        };
        // Chains of thousands of relations must not exhaust the stack.
        *self.fingerprint.get_or_init(|| stacker::maybe_grow(64 * 1024, 1024 * 1024, make))
    }

    /// The relation under a name.
    #[must_use]
    pub fn aliased(self, name: impl Into<String>) -> Self {
        Self::new(RelationKind::SubqueryAlias {
            input: self,
            alias: name.into(),
            qualifier: Vec::new(),
            columns: Vec::new(),
        })
    }
}

impl Drop for Relation {
    // Chains of thousands of relations must not exhaust the stack.
    fn drop(&mut self) {
        if Arc::strong_count(&self.kind) == 1 && !matches!(*self.kind, RelationKind::OneRow) {
            let kind = self.take();
            stacker::maybe_grow(64 * 1024, 1024 * 1024, || drop(kind));
        }
    }
}

impl PartialEq for Relation {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint() == other.fingerprint()
    }
}

impl Hash for Relation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.fingerprint().hash(state);
    }
}

pub type Options = Vec<(String, String)>;

/// The operators of pipe syntax that compute columns, and take no aggregate functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PipeClause {
    Select,
    Extend,
    Set,
    Aggregate,
}

impl PipeClause {
    /// The clause's keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Select => "SELECT",
            Self::Extend => "EXTEND",
            Self::Set => "SET",
            Self::Aggregate => "AGGREGATE",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum RelationKind {
    // ---- leaves ----
    /// One row without columns: `SELECT 1`.
    OneRow,
    Range {
        start: i64,
        end: i64,
        step: i64,
        num_partitions: Option<i32>,
    },
    Local(LocalRelation),
    /// `VALUES (…), (…)`.
    Values {
        rows: Vec<Vec<Expr>>,
    },
    /// A frame that the server keeps, by id.
    CachedRemote {
        relation_id: String,
    },
    /// A table, view, temporary view, CTE or path table (`parquet.`/path``) by name.
    Table(TableReference),
    DataSource(DataSource),
    /// A call of a table function: `range(10)`, `explode(…)`.
    TableFunction(TableFunctionCall),
    /// SQL text with arguments. Arguments are literals or foldable expressions.
    Sql {
        text: String,
        named_arguments: Vec<(String, Expr)>,
        position_arguments: Vec<Expr>,
    },
    /// Rows of catalog metadata.
    Catalog(CatalogRequest),
    /// The rows of a statement that is not a query (`SHOW TABLES` and so on).
    Statement(Box<Statement>),

    // ---- unary ----
    Project {
        input: Relation,
        expressions: Vec<Expr>,
    },
    Filter {
        input: Relation,
        condition: Expr,
    },
    /// `HAVING`: may use aggregates and grouping columns of the input.
    Having {
        input: Relation,
        condition: Expr,
    },
    /// `QUALIFY`: filters by window functions, after them.
    Qualify {
        input: Relation,
        condition: Expr,
    },
    Sort {
        input: Relation,
        order: SortKeys,
        is_global: bool,
    },
    Limit {
        input: Relation,
        limit: Expr,
    },
    /// `LIMIT ALL`: no limit, of recursive queries either.
    LimitAll {
        input: Relation,
    },
    Offset {
        input: Relation,
        offset: Expr,
    },
    Tail {
        input: Relation,
        limit: i32,
    },
    Aggregate(Aggregate),
    Deduplicate {
        input: Relation,
        columns: Option<Vec<Expr>>,
        within_watermark: bool,
    },
    SubqueryAlias {
        input: Relation,
        alias: String,
        qualifier: Name,
        columns: Vec<String>,
    },
    /// `repartition(n)` (shuffle), `coalesce(n)` (no shuffle).
    Repartition {
        input: Relation,
        num_partitions: i32,
        shuffle: bool,
    },
    /// By hash of expressions, or by range where they are sort orders.
    RepartitionByExpression {
        input: Relation,
        expressions: Vec<Expr>,
        num_partitions: Option<i32>,
    },
    ToDataFrame {
        input: Relation,
        columns: Vec<String>,
    },
    WithColumns {
        input: Relation,
        aliases: Vec<Expr>,
    },
    WithColumnsRenamed {
        input: Relation,
        renames: Vec<(String, String)>,
    },
    Drop {
        input: Relation,
        columns: Vec<Expr>,
        column_names: Vec<String>,
    },
    Sample {
        input: Relation,
        lower: f64Bits,
        upper: f64Bits,
        with_replacement: bool,
        seed: Option<i64>,
        deterministic_order: bool,
    },
    /// `TABLESAMPLE (n ROWS)` and `(x PERCENT)`, `(BUCKET x OUT OF y)` come as Limit and Sample.
    Hint {
        input: Relation,
        name: String,
        parameters: Vec<Expr>,
    },
    Unpivot(Unpivot),
    /// `df.to(schema)`; schema as JSON or DDL is parsed by the decoder.
    ToSchema {
        input: Relation,
        schema: firesteel_types::DataType,
    },
    Pivot(Pivot),
    LateralView(LateralView),
    /// The result of a pipe operator, whose clause may have no aggregate functions.
    Pipe {
        input: Relation,
        clause: PipeClause,
    },
    /// Named windows of a WINDOW clause.
    WithWindows {
        input: Relation,
        windows: Vec<(String, WindowSpecification)>,
    },
    CollectMetrics {
        input: Relation,
        name: String,
        metrics: Vec<Expr>,
    },
    /// `format` is csv, json or xml; the input has one string column.
    Parse {
        input: Relation,
        format: String,
        schema: Option<firesteel_types::DataType>,
        options: Options,
    },
    WithWatermark {
        input: Relation,
        event_time: String,
        delay: String,
    },
    ShowString {
        input: Relation,
        num_rows: i32,
        truncate: i32,
        vertical: bool,
    },
    HtmlString {
        input: Relation,
        num_rows: i32,
        truncate: i32,
    },
    Transpose {
        input: Relation,
        index_columns: Vec<Expr>,
    },
    FillNa {
        input: Relation,
        columns: Vec<String>,
        values: Vec<Literal>,
    },
    DropNa {
        input: Relation,
        columns: Vec<String>,
        min_non_nulls: Option<i32>,
    },
    Replace {
        input: Relation,
        columns: Vec<String>,
        replacements: Vec<(Literal, Literal)>,
    },
    Statistic {
        input: Relation,
        statistic: Statistic,
    },

    // ---- several inputs ----
    Join(Join),
    JoinWith(JoinWith),
    AsOfJoin(AsOfJoin),
    NearestByJoin(NearestByJoin),
    SetOperation(SetOperation),
    /// CTE definitions in scope of `input`.
    With {
        input: Relation,
        ctes: Vec<Cte>,
        is_recursive: bool,
    },
    /// `references` are relations that SQL text in `input` names by their alias.
    WithRelations {
        input: Relation,
        references: Vec<Relation>,
    },

    // ---- Python ----
    MapPartitions {
        input: Relation,
        function: PythonFunction,
        is_barrier: bool,
    },
    GroupMap {
        input: Relation,
        grouping: Vec<Expr>,
        function: PythonFunction,
        sorting: Vec<Expr>,
    },
    CoGroupMap {
        left: Relation,
        left_grouping: Vec<Expr>,
        right: Relation,
        right_grouping: Vec<Expr>,
        function: PythonFunction,
    },
    PythonTableFunction {
        name: String,
        arguments: Vec<Expr>,
        function: PythonFunction,
    },

    /// Something that is decoded, and refused by this name when analysed.
    Unsupported(String),
}

/// A float that can be hashed, by its bits.
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct f64Bits(u64);

impl From<f64> for f64Bits {
    fn from(value: f64) -> Self {
        Self(value.to_bits())
    }
}

impl f64Bits {
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct LocalRelation {
    /// JSON or DDL text.
    pub schema: Option<String>,
    /// Arrow IPC streams, in order.
    pub data: Vec<Bytes>,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct TableReference {
    pub name: TableName,
    pub options: Options,
    pub is_streaming: bool,
    pub time_travel: Option<TimeTravel>,
}

/// A table's name, or an expression that gives it: `IDENTIFIER(…)`.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum TableName {
    /// The parts, and where they stand.
    Parts(Name, Origin),
    Identifier(Box<Expr>),
}

impl TableName {
    /// A name that stands in no text.
    pub fn of(parts: Name) -> Self {
        TableName::Parts(parts, Origin::Unknown)
    }

    /// Where the name stands.
    pub fn origin(&self) -> &Origin {
        match self {
            TableName::Parts(_, origin) => origin,
            TableName::Identifier(expr) => &expr.origin,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum TimeTravel {
    Version(String),
    Timestamp(Box<Expr>),
}

/// Options are shown by their names only, as some hold passwords.
#[derive(Clone, PartialEq, Hash)]
pub struct DataSource {
    /// None: `spark.sql.sources.default`.
    pub format: Option<String>,
    /// JSON or DDL text.
    pub schema: Option<String>,
    pub options: Options,
    pub paths: Vec<String>,
    pub predicates: Vec<String>,
    pub is_streaming: bool,
}

impl fmt::Debug for DataSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.options.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("DataSource")
            .field("format", &self.format)
            .field("schema", &self.schema)
            .field("options", &names)
            .field("paths", &self.paths)
            .field("predicates", &self.predicates)
            .field("is_streaming", &self.is_streaming)
            .finish()
    }
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct TableFunctionCall {
    pub name: Name,
    pub arguments: Vec<Expr>,
    /// Rows without output of the generator are kept, with nulls (`LATERAL VIEW OUTER`, `explode_outer`).
    pub table_argument: Option<TableArgumentOptions>,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum SortKeys {
    By(Vec<SortOrder>),
    /// `ORDER BY ALL`.
    All {
        ascending: bool,
        nulls_first: Option<bool>,
    },
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Aggregate {
    pub input: Relation,
    pub grouping: Grouping,
    /// The output, in order. In the DataFrame API grouping columns are not among them
    /// and come first; in SQL (`is_sql`) the list is the SELECT list.
    pub aggregates: Vec<Expr>,
    pub is_sql: bool,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum Grouping {
    /// Plain columns; SQL without GROUP BY has none.
    By(Vec<Expr>),
    Rollup(Vec<Expr>),
    Cube(Vec<Expr>),
    /// Sets, and (DataFrame API) the grouping columns in output order.
    Sets {
        sets: Vec<Vec<Expr>>,
        columns: Vec<Expr>,
    },
    /// SQL: `GROUP BY a, ROLLUP(b, c), GROUPING SETS (…)`; the product of the elements.
    Elements(Vec<GroupingElement>),
    /// `GROUP BY ALL`.
    All,
    /// Group by, pivoted.
    Pivot {
        grouping: Vec<Expr>,
        column: Expr,
        values: Vec<Expr>,
    },
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum GroupingElement {
    Expr(Expr),
    /// Each item is one or more expressions in parentheses.
    Rollup(Vec<Vec<Expr>>),
    Cube(Vec<Vec<Expr>>),
    Sets(Vec<GroupingElement>),
    /// `(a, b)` within GROUPING SETS.
    Set(Vec<Expr>),
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Unpivot {
    pub input: Relation,
    /// None in SQL: all columns that are not values.
    pub ids: Option<Vec<Expr>>,
    /// None: all columns that are not ids. Each value is one or more columns and an optional alias.
    pub values: Option<Vec<(Vec<Expr>, Option<String>)>>,
    pub variable_column: String,
    pub value_columns: Vec<String>,
    pub include_nulls: bool,
}

/// SQL's PIVOT clause: grouping is by all columns not used in it.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Pivot {
    pub input: Relation,
    pub aggregates: Vec<Expr>,
    /// One or more columns.
    pub columns: Vec<Expr>,
    /// One per output column group; a struct of literals where there are several columns.
    pub values: Vec<Expr>,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct LateralView {
    pub input: Relation,
    pub generator: Expr,
    pub is_outer: bool,
    pub table_alias: Option<String>,
    pub column_aliases: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinType {
    Inner,
    LeftOuter,
    RightOuter,
    FullOuter,
    LeftSemi,
    LeftAnti,
    Cross,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Join {
    pub left: Relation,
    pub right: Relation,
    pub join_type: JoinType,
    pub condition: JoinCondition,
    /// The right side may use columns of the left side.
    pub is_lateral: bool,
}

/// A join whose rows are pairs: a column `_1` of the left rows and a column `_2` of the right ones.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct JoinWith {
    pub join: Join,
    /// The left column is a struct of all columns; else the left side has one column, and that is it.
    pub left_is_struct: bool,
    pub right_is_struct: bool,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum JoinCondition {
    None,
    On(Expr),
    Using(Vec<String>),
    Natural,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct AsOfJoin {
    pub left: Relation,
    pub right: Relation,
    pub left_as_of: Expr,
    pub right_as_of: Expr,
    pub condition: JoinCondition,
    pub join_type: String,
    pub tolerance: Option<Expr>,
    pub allow_exact_matches: bool,
    pub direction: String,
}

/// `df.nearestByJoin(…)`.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct NearestByJoin {
    pub left: Relation,
    pub right: Relation,
    pub ranking: Expr,
    pub num_results: i32,
    pub join_type: String,
    pub mode: String,
    pub direction: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SetOperator {
    Union,
    Intersect,
    Except,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct SetOperation {
    pub left: Relation,
    pub right: Relation,
    pub operator: SetOperator,
    /// Duplicates are kept.
    pub is_all: bool,
    pub by_name: bool,
    pub allow_missing_columns: bool,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Cte {
    pub name: String,
    pub columns: Vec<String>,
    pub query: Relation,
    /// `MAX RECURSION LEVEL n`.
    pub max_recursion: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum Statistic {
    /// Columns; all that can be described where empty.
    Describe {
        columns: Vec<String>,
    },
    /// `count mean stddev min 25% …`.
    Summary {
        statistics: Vec<String>,
    },
    Crosstab {
        column1: String,
        column2: String,
    },
    Covariance {
        column1: String,
        column2: String,
    },
    Correlation {
        column1: String,
        column2: String,
        method: Option<String>,
    },
    ApproximateQuantile {
        columns: Vec<String>,
        probabilities: Vec<f64Bits>,
        relative_error: f64Bits,
    },
    FrequentItems {
        columns: Vec<String>,
        support: Option<f64Bits>,
    },
    SampleBy {
        column: Box<Expr>,
        fractions: Vec<(Literal, f64Bits)>,
        seed: Option<i64>,
    },
}
