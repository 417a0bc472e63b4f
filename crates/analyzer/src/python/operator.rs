//! The logical operator that calls Python functions.

use super::PythonCall;
use arrow::datatypes::{Field, FieldRef};
use bytes::Bytes;
use datafusion::common::{Column, DFSchema, DFSchemaRef, Result as DfResult};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, SortExpr, UserDefinedLogicalNodeCore, WindowFrame};
use firesteel_types::{DataType, StructType, arrow_mapping};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// A column that goes to workers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PythonColumn {
    pub expr: Expr,
    /// The name that user code sees.
    pub name: String,
    pub data_type: DataType,
    pub nullable: bool,
}

/// Functions of which each takes the result of the one before, and the column that the last one makes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PythonChain {
    /// The innermost first.
    pub functions: Vec<Arc<PythonCall>>,
    /// Arguments of the innermost.
    pub arguments: Vec<Expr>,
    /// The name of the column in DataFusion's plan.
    pub output: String,
}

impl PythonChain {
    /// The outermost function.
    pub fn last(&self) -> Option<&Arc<PythonCall>> {
        self.functions.last()
    }

    /// The column that it makes.
    fn field(&self) -> Option<Field> {
        Some(Field::new(&self.output, self.last()?.arrow_type(), true))
    }
}

/// One frame whose rows are brought to workers group by group.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GroupFrame {
    /// Rows of equal values are a group.
    pub grouping: Vec<Expr>,
    /// What user code sees as the group's key.
    pub keys: Vec<PythonColumn>,
    pub values: Vec<PythonColumn>,
}

/// A window function.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PythonWindow {
    pub chain: PythonChain,
    pub frame: WindowFrame,
}

/// A table function.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PythonTable {
    pub call: Arc<PythonCall>,
    pub arguments: Vec<Expr>,
    /// Fields of the table argument by which its rows are partitioned.
    pub partition: Vec<i32>,
    /// What `analyze` of the function gave.
    pub analysis: Option<Bytes>,
    /// Names of the columns that it makes, in DataFusion's plan.
    pub names: Vec<String>,
    pub passes_input: bool,
}

/// What an operator does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PythonKind {
    /// A value for each row and function; the input's columns come first.
    Eval { chains: Vec<PythonChain> },
    /// Rows for all rows of a partition. A relation that is known to be empty has no partitions, unless it is
    /// said to have one.
    Map { call: Arc<PythonCall>, columns: Vec<PythonColumn>, is_barrier: bool, runs_empty: bool },
    /// Rows for each group.
    GroupMap { call: Arc<PythonCall>, frame: GroupFrame },
    /// Rows for each pair of groups of two inputs.
    CoGroupMap { call: Arc<PythonCall>, frames: Box<[GroupFrame; 2]> },
    /// A value for each group and function; the keys come first.
    Aggregate { keys: Vec<Expr>, chains: Vec<PythonChain> },
    /// Rows for each row of the input, whose columns come first where they are passed on.
    Table(PythonTable),
    /// A value for each row and window; the input's columns come first.
    Window { partition: Vec<Expr>, order: Vec<SortExpr>, windows: Vec<PythonWindow> },
}

/// An operator that calls Python functions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PythonOperator {
    pub kind: PythonKind,
    pub inputs: Vec<LogicalPlan>,
    pub schema: DFSchemaRef,
}

impl PythonOperator {
    /// An operator that adds columns to its input, or makes keys and values.
    #[allow(clippy::new_ret_no_self)]
    pub fn new(kind: PythonKind, input: LogicalPlan) -> DfResult<LogicalPlan> {
        let schema = derived_schema(&kind, &input)?;
        Ok(Self { kind, inputs: vec![input], schema }.into_plan())
    }

    /// An operator that makes rows of its own: columns of these names and types.
    pub fn with_rows(
        kind: PythonKind,
        inputs: Vec<LogicalPlan>,
        names: &[String],
        rows: &StructType,
    ) -> DfResult<LogicalPlan> {
        let fields = names
            .iter()
            .zip(&rows.fields)
            .map(|(name, field)| Arc::new(Field::new(name, arrow_mapping::to_arrow(&field.data_type), true)))
            .collect::<Vec<FieldRef>>();
        let schema = schema_of(fields)?;
        Ok(Self { kind, inputs, schema }.into_plan())
    }

    fn into_plan(self) -> LogicalPlan {
        LogicalPlan::Extension(Extension { node: Arc::new(self) })
    }

    /// The functions that it calls.
    pub fn calls(&self) -> Vec<&Arc<PythonCall>> {
        match &self.kind {
            PythonKind::Eval { chains } | PythonKind::Aggregate { chains, .. } => {
                chains.iter().flat_map(|chain| &chain.functions).collect()
            }
            PythonKind::Map { call, .. } | PythonKind::GroupMap { call, .. } | PythonKind::CoGroupMap { call, .. } => {
                vec![call]
            }
            PythonKind::Table(table) => vec![&table.call],
            PythonKind::Window { windows, .. } => windows.iter().flat_map(|w| &w.chain.functions).collect(),
        }
    }

    /// True where the same rows always give the same values, each row for itself.
    fn is_by_row(&self) -> bool {
        let is_deterministic = self.calls().iter().all(|call| call.deterministic);
        matches!(self.kind, PythonKind::Eval { .. }) && is_deterministic
    }
}

fn schema_of(fields: Vec<FieldRef>) -> DfResult<DFSchemaRef> {
    let fields = fields.into_iter().map(|field| (None, field)).collect();
    Ok(Arc::new(DFSchema::new_with_metadata(fields, HashMap::new())?))
}

fn derived_schema(kind: &PythonKind, input: &LogicalPlan) -> DfResult<DFSchemaRef> {
    let chains: Vec<&PythonChain> = match kind {
        PythonKind::Eval { chains } | PythonKind::Aggregate { chains, .. } => chains.iter().collect(),
        PythonKind::Window { windows, .. } => windows.iter().map(|w| &w.chain).collect(),
        _ => Vec::new(),
    };
    let mut fields: Vec<FieldRef> = match kind {
        PythonKind::Aggregate { keys, .. } => keys
            .iter()
            .filter_map(|key| match key {
                Expr::Column(column) => input.schema().maybe_index_of_column(column),
                _ => None,
            })
            .map(|i| input.schema().fields()[i].clone())
            .collect(),
        PythonKind::Table(PythonTable { passes_input: false, .. }) => Vec::new(),
        _ => input.schema().fields().iter().cloned().collect(),
    };
    if let PythonKind::Table(table) = kind
        && let DataType::Struct(rows) = &table.call.returns
    {
        let columns = table.names.iter().zip(&rows.fields);
        fields.extend(columns.map(|(name, f)| Arc::new(Field::new(name, arrow_mapping::to_arrow(&f.data_type), true))));
    }
    fields.extend(chains.iter().filter_map(|chain| chain.field()).map(Arc::new));
    schema_of(fields)
}

impl PartialOrd for PythonOperator {
    fn partial_cmp(&self, _: &Self) -> Option<Ordering> {
        None
    }
}

/// Visits the expressions of an operator in a fixed order.
fn each(kind: &mut PythonKind, visit: &mut dyn FnMut(&mut Expr)) {
    let mut frame_of = |frame: &mut GroupFrame| {
        frame.grouping.iter_mut().for_each(&mut *visit);
        frame.keys.iter_mut().chain(&mut frame.values).for_each(|column| visit(&mut column.expr));
    };
    match kind {
        PythonKind::GroupMap { frame, .. } => frame_of(frame),
        PythonKind::CoGroupMap { frames, .. } => frames.iter_mut().for_each(frame_of),
        PythonKind::Eval { chains } => {
            chains.iter_mut().flat_map(|chain| &mut chain.arguments).for_each(visit);
        }
        PythonKind::Table(table) => table.arguments.iter_mut().for_each(visit),
        PythonKind::Map { columns, .. } => columns.iter_mut().for_each(|column| visit(&mut column.expr)),
        PythonKind::Aggregate { keys, chains } => {
            keys.iter_mut().for_each(&mut *visit);
            chains.iter_mut().flat_map(|chain| &mut chain.arguments).for_each(visit);
        }
        PythonKind::Window { partition, order, windows } => {
            partition.iter_mut().for_each(&mut *visit);
            order.iter_mut().for_each(|key| visit(&mut key.expr));
            windows.iter_mut().flat_map(|w| &mut w.chain.arguments).for_each(visit);
        }
    }
}

impl UserDefinedLogicalNodeCore for PythonOperator {
    fn name(&self) -> &str {
        match self.kind {
            PythonKind::Eval { .. } => "PythonEval",
            PythonKind::Map { .. } => "PythonMap",
            PythonKind::GroupMap { .. } => "PythonGroupMap",
            PythonKind::CoGroupMap { .. } => "PythonCoGroupMap",
            PythonKind::Aggregate { .. } => "PythonAggregate",
            PythonKind::Table(_) => "PythonTable",
            PythonKind::Window { .. } => "PythonWindow",
        }
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        self.inputs.iter().collect()
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        // The grouping of two inputs is no expression over one of them: it stays out of DataFusion's sight.
        if let PythonKind::CoGroupMap { .. } = self.kind {
            return Vec::new();
        }
        let mut kind = self.kind.clone();
        let mut expressions = Vec::new();
        each(&mut kind, &mut |expr| expressions.push(expr.clone()));
        expressions
    }

    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        if !self.is_by_row() {
            return self.schema.fields().iter().map(|field| field.name().clone()).collect();
        }
        match &self.kind {
            PythonKind::Eval { chains } => chains.iter().map(|chain| chain.output.clone()).collect(),
            _ => HashSet::new(),
        }
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.calls().iter().map(|call| call.name.as_str()).collect();
        write!(f, "{} [{}]", self.name(), names.join(", "))
    }

    fn with_exprs_and_inputs(&self, expressions: Vec<Expr>, inputs: Vec<LogicalPlan>) -> DfResult<Self> {
        let mut kind = self.kind.clone();
        if !expressions.is_empty() {
            let mut expressions = expressions.into_iter();
            each(&mut kind, &mut |expr| {
                if let Some(next) = expressions.next() {
                    *expr = next;
                }
            });
        }
        let schema = match (&kind, inputs.first()) {
            (
                PythonKind::Eval { .. }
                | PythonKind::Aggregate { .. }
                | PythonKind::Window { .. }
                | PythonKind::Table(_),
                Some(input),
            ) => derived_schema(&kind, input)?,
            _ => self.schema.clone(),
        };
        Ok(Self { kind, inputs, schema })
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let passes = match &self.kind {
            PythonKind::Eval { .. } | PythonKind::Window { .. } => true,
            PythonKind::Table(table) => table.passes_input,
            _ => false,
        };
        let of_kind = |input: &LogicalPlan, expressions: &[Expr]| {
            let width = input.schema().fields().len();
            let mut needed: Vec<usize> =
                if passes { output_columns.iter().copied().filter(|i| *i < width).collect() } else { Vec::new() };
            let columns = expressions.iter().flat_map(Expr::column_refs);
            needed.extend(columns.filter_map(|column: &Column| input.schema().maybe_index_of_column(column)));
            needed.sort_unstable();
            needed.dedup();
            needed
        };
        let mut kind = self.kind.clone();
        let mut expressions = Vec::new();
        each(&mut kind, &mut |expr| expressions.push(expr.clone()));
        Some(self.inputs.iter().map(|input| of_kind(input, &expressions)).collect())
    }

    fn supports_limit_pushdown(&self) -> bool {
        self.is_by_row()
    }
}
