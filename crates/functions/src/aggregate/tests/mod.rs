//! Aggregates and window functions over a small table; expected values are Spark's.

mod approximate;
mod grouped;
mod order;
mod windows;

use crate::function::QueryTime;
use crate::{AggregateCall, Body, BuildContext, Function, TypedExpr, WindowCall, registry};
use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringArray,
};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::datasource::MemTable;
use datafusion::execution::context::{SessionConfig, SessionContext};
use datafusion::logical_expr::expr::{Sort, WindowFunction};
use datafusion::logical_expr::{Expr, WindowFrame, WindowFunctionDefinition, ident, lit};
use firesteel_config::SqlConf;
use firesteel_error::Result;
use firesteel_types::{DataType, StructField, arrow_mapping};
use std::sync::Arc;

/// Columns `g, l, d, dec, s, b, dt, f` of rows with nulls and NaN.
pub fn table() -> Vec<(&'static str, DataType, ArrayRef)> {
    let day = |days: i32| Some(18262 + days);
    vec![
        ("g", DataType::Integer, Arc::new(Int32Array::from(vec![1, 1, 1, 2, 2, 2, 3]))),
        (
            "l",
            DataType::Long,
            Arc::new(Int64Array::from(vec![Some(1), Some(2), None, Some(7), Some(5), Some(5), None])),
        ),
        (
            "d",
            DataType::Double,
            Arc::new(Float64Array::from(vec![Some(1.5), Some(2.5), None, Some(f64::NAN), Some(0.1), Some(0.2), None])),
        ),
        (
            "dec",
            DataType::Decimal(15, 2),
            Arc::new(
                Decimal128Array::from(vec![Some(125), Some(250), None, Some(-333), Some(1001), Some(1001), None])
                    .with_precision_and_scale(15, 2)
                    .unwrap(),
            ),
        ),
        (
            "s",
            DataType::STRING,
            Arc::new(StringArray::from(vec![Some("a"), Some("b"), None, Some("z"), Some("a"), Some("a"), None])),
        ),
        (
            "b",
            DataType::Boolean,
            Arc::new(BooleanArray::from(vec![Some(true), Some(false), None, Some(true), Some(true), None, None])),
        ),
        (
            "dt",
            DataType::Date,
            Arc::new(Date32Array::from(vec![day(0), day(1), None, day(366), day(-365), None, None])),
        ),
        (
            "f",
            DataType::Float,
            Arc::new(Float32Array::from(vec![Some(1.5), Some(2.5), None, Some(f32::NAN), Some(0.1), Some(0.25), None])),
        ),
    ]
}

/// A column of a table by its position in the SQL text.
pub fn column(columns: &[(&str, DataType, ArrayRef)], name: &str) -> TypedExpr {
    let (name, data_type, _) = columns.iter().find(|(n, ..)| *n == name).unwrap();
    TypedExpr::new(ident(*name), data_type.clone(), true, *name)
}

/// A column of [`table`].
pub fn c(name: &str) -> TypedExpr {
    column(&table(), name)
}

pub fn int(value: i32) -> TypedExpr {
    TypedExpr::new(lit(value), DataType::Integer, false, value.to_string())
}

pub fn number(value: f64) -> TypedExpr {
    TypedExpr::new(lit(value), DataType::Double, false, format!("{value:?}"))
}

pub fn text(value: &str) -> TypedExpr {
    TypedExpr::new(lit(value), DataType::STRING, false, value)
}

pub fn boolean(value: bool) -> TypedExpr {
    TypedExpr::new(lit(value), DataType::Boolean, false, value.to_string())
}

pub fn numbers(values: &[f64]) -> TypedExpr {
    let scalars: Vec<_> = values.iter().map(|v| datafusion::scalar::ScalarValue::from(*v)).collect();
    let list = datafusion::scalar::ScalarValue::new_list_nullable(&scalars, &arrow::datatypes::DataType::Float64);
    let names: Vec<String> = values.iter().map(|v| format!("{v:?}")).collect();
    TypedExpr::new(
        lit(datafusion::scalar::ScalarValue::List(list)),
        DataType::array(DataType::Double, false),
        false,
        format!("array({})", names.join(", ")),
    )
}

fn conf(ansi: bool) -> SqlConf {
    let pairs = [("spark.sql.ansi.enabled", ansi.to_string()), ("spark.sql.session.timeZone", "UTC".into())];
    SqlConf::new(&firesteel_config::ServerConfig::new(pairs).unwrap())
}

pub fn with_context<T>(ansi: bool, use_it: impl FnOnce(&mut BuildContext<'_>) -> T) -> T {
    let conf = conf(ansi);
    let session = crate::function::SessionFacts::default();
    let mut context = BuildContext { conf: &conf, query_time: &QueryTime::at(0), context: None, session: &session };
    use_it(&mut context)
}

/// A call as the analyzer makes it.
#[derive(Clone)]
pub struct Call {
    pub name: &'static str,
    pub arguments: Vec<TypedExpr>,
    pub is_distinct: bool,
    pub is_star: bool,
    pub ignore_nulls: Option<bool>,
    pub order_by: Vec<(Sort, TypedExpr)>,
    pub filter: Option<Expr>,
    pub ansi: bool,
}

pub fn call(name: &'static str, arguments: Vec<TypedExpr>) -> Call {
    Call {
        name,
        arguments,
        is_distinct: false,
        is_star: false,
        ignore_nulls: None,
        order_by: Vec::new(),
        filter: None,
        ansi: true,
    }
}

impl Call {
    pub fn distinct(mut self) -> Self {
        self.is_distinct = true;
        self
    }

    pub fn legacy(mut self) -> Self {
        self.ansi = false;
        self
    }

    pub fn nulls(mut self, ignore: bool) -> Self {
        self.ignore_nulls = Some(ignore);
        self
    }

    pub fn filtered(mut self, condition: Expr) -> Self {
        self.filter = Some(condition);
        self
    }

    pub fn ordered(mut self, key: TypedExpr, ascending: bool) -> Self {
        self.order_by.push((key.expr.clone().sort(ascending, ascending), key));
        self
    }

    pub fn build(&self) -> Result<TypedExpr> {
        let function: &Function = registry::lookup(self.name).unwrap();
        with_context(self.ansi, |context| {
            let arguments = function.signature.apply(self.name, self.name, self.arguments.clone(), context)?;
            match &function.body {
                Body::Aggregate(build) => build(
                    context,
                    AggregateCall {
                        arguments,
                        is_distinct: self.is_distinct,
                        filter: self.filter.clone(),
                        order_by: self.order_by.clone(),
                        ignore_nulls: self.ignore_nulls,
                        is_star: self.is_star,
                    },
                ),
                Body::Window(build) => build(context, WindowCall { arguments, ignore_nulls: self.ignore_nulls }),
                _ => unreachable!(),
            }
        })
    }
}

fn context(
    columns: &[(&str, DataType, ArrayRef)],
    batches: usize,
    partitions: usize,
    sorted_by: Option<&str>,
) -> SessionContext {
    let fields = columns.iter().map(|(n, t, _)| arrow_mapping::to_arrow_field(&StructField::new(*n, t.clone(), true)));
    let schema = Arc::new(arrow::datatypes::Schema::new(fields.collect::<Vec<_>>()));
    let batch =
        RecordBatch::try_new(Arc::clone(&schema), columns.iter().map(|(.., a)| Arc::clone(a)).collect()).unwrap();
    let step = batch.num_rows().div_ceil(batches).max(1);
    let pieces: Vec<RecordBatch> = (0..batch.num_rows())
        .step_by(step)
        .map(|start| batch.slice(start, step.min(batch.num_rows() - start)))
        .collect();
    let mut parts: Vec<Vec<RecordBatch>> = vec![Vec::new(); partitions];
    for (i, piece) in pieces.into_iter().enumerate() {
        parts[i % partitions].push(piece);
    }
    let config = SessionConfig::new().with_target_partitions(partitions);
    let context = SessionContext::new_with_config(config);
    let order = sorted_by.map(|name| vec![ident(name).sort(true, true)]).into_iter().collect();
    let table = MemTable::try_new(schema, parts).unwrap().with_sort_order(order);
    context.register_table("t", Arc::new(table)).unwrap();
    context
}

fn show(batches: &[RecordBatch]) -> Vec<Vec<String>> {
    let options = FormatOptions::default().with_null("NULL");
    let mut rows = Vec::new();
    for batch in batches {
        let formatters: Vec<_> =
            batch.columns().iter().map(|c| ArrayFormatter::try_new(c.as_ref(), &options).unwrap()).collect();
        for row in 0..batch.num_rows() {
            rows.push(formatters.iter().map(|f| f.value(row).to_string()).collect());
        }
    }
    rows
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn aliased(calls: &[Call]) -> (Vec<TypedExpr>, Vec<Expr>) {
    let typed: Vec<TypedExpr> = calls.iter().map(|c| c.build().unwrap()).collect();
    let exprs = typed.iter().enumerate().map(|(i, t)| t.expr.clone().alias(format!("r{i}"))).collect();
    (typed, exprs)
}

/// The rows of a query over other columns; an error's text in place of them.
pub fn over(
    columns: &[(&str, DataType, ArrayRef)],
    group: Option<&str>,
    calls: &[Call],
    batches: usize,
    partitions: usize,
) -> std::result::Result<Vec<Vec<String>>, String> {
    run(group, calls, context(columns, batches, partitions, None))
}

fn run(group: Option<&str>, calls: &[Call], context: SessionContext) -> std::result::Result<Vec<Vec<String>>, String> {
    let (typed, exprs) = aliased(calls);
    let groups: Vec<Expr> = group.iter().map(|g| ident(*g)).collect();
    let sorts: Vec<Sort> = group.iter().map(|g| ident(*g).sort(true, true)).collect();
    block_on(async move {
        let frame = context.table("t").await.unwrap().aggregate(groups, exprs).map_err(|e| e.to_string())?;
        for (i, typed) in typed.iter().enumerate() {
            let field = frame.schema().field_with_unqualified_name(&format!("r{i}")).unwrap();
            assert_eq!(field.data_type(), &arrow_mapping::to_arrow(&typed.data_type), "{}", typed.name);
            assert_eq!(field.is_nullable(), typed.nullable, "{}", typed.name);
        }
        let frame = if sorts.is_empty() { frame } else { frame.sort(sorts).map_err(|e| e.to_string())? };
        Ok(show(&frame.collect().await.map_err(|e| e.find_root().to_string())?))
    })
}

/// The rows of a query over [`table`], the same however rows are split up.
pub fn rows(group: Option<&str>, calls: &[Call]) -> Vec<Vec<String>> {
    let columns = table();
    let once = over(&columns, group, calls, 1, 1).unwrap();
    assert_eq!(once, over(&columns, group, calls, 7, 1).unwrap(), "batches of one row");
    if group.is_some() {
        // Groups are given out as soon as the next one begins.
        assert_eq!(once, run(group, calls, context(&columns, 7, 1, group)).unwrap(), "sorted");
    }
    once
}

/// The single row of a query over all of [`table`].
pub fn all(calls: &[Call]) -> Vec<String> {
    rows(None, calls).remove(0)
}

/// The names of calls.
pub fn names(calls: &[Call]) -> Vec<String> {
    calls.iter().map(|c| c.build().unwrap().name).collect()
}

/// A window expression with its specification filled in, as the analyzer does it.
fn windowed(expr: Expr, partition: &[Expr], order: &[Sort], frame: &WindowFrame) -> Expr {
    expr.transform_down(|e| {
        let mut call = match e {
            Expr::AggregateFunction(call) => {
                let mut window =
                    WindowFunction::new(WindowFunctionDefinition::AggregateUDF(call.func), call.params.args);
                window.params.distinct = call.params.distinct;
                window
            }
            Expr::WindowFunction(call) => *call,
            other => return Ok(Transformed::no(other)),
        };
        call.params.partition_by = partition.to_vec();
        call.params.order_by = order.to_vec();
        call.params.window_frame = frame.clone();
        Ok(Transformed::new(
            Expr::WindowFunction(Box::new(call)),
            true,
            datafusion::common::tree_node::TreeNodeRecursion::Jump,
        ))
    })
    .unwrap()
    .data
}

/// The rows of window calls over [`table`], in its order by `(g, l, d)`.
pub fn over_window(partition: &[&str], order: &[&str], frame: WindowFrame, calls: &[Call]) -> Vec<Vec<String>> {
    let (typed, _) = aliased(calls);
    let partition: Vec<Expr> = partition.iter().map(|g| ident(*g)).collect();
    let order: Vec<Sort> = order.iter().map(|o| ident(*o).sort(true, true)).collect();
    let exprs: Vec<Expr> = typed
        .iter()
        .enumerate()
        .map(|(i, t)| windowed(t.expr.clone(), &partition, &order, &frame).alias(format!("r{i}")))
        .collect();
    let context = context(&table(), 3, 1, None);
    block_on(async move {
        let plan = context.table("t").await.unwrap().into_unoptimized_plan();
        // Window functions in casts are pulled out by `select`.
        let frame = datafusion::dataframe::DataFrame::new(context.state(), plan).select(exprs).unwrap();
        for (i, typed) in typed.iter().enumerate() {
            let field = frame.schema().field_with_unqualified_name(&format!("r{i}")).unwrap();
            assert_eq!(field.data_type(), &arrow_mapping::to_arrow(&typed.data_type), "{}", typed.name);
        }
        show(&frame.collect().await.unwrap())
    })
}
