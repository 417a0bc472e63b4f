//! The functions that queries call most, over a million rows in the engine's batches,
//! beside the nearest function of DataFusion over the same batches.
//!
//! A case that one of the two cannot do is named on standard error and has no time.
//! `bench/kernels.py` prints the two sides of the last run beside each other.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cases;
mod rows;

use cases::{Arg, CASES, Case};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use datafusion::arrow::array::RecordBatch;
use datafusion::common::config::ConfigOptions;
use datafusion::common::{DFSchema, DataFusionError};
use datafusion::execution::context::{ExecutionProps, SessionContext};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::utils::find_aggregate_exprs;
use datafusion::logical_expr::{Expr, ident, lit};
use datafusion::optimizer::simplify_expressions::{ExprSimplifier, SimplifyContext};
use datafusion::physical_expr::aggregate::{AggregateExprBuilder, AggregateFunctionExpr};
use datafusion::physical_expr::{PhysicalExpr, create_physical_expr};
use firesteel_config::{SessionConfig, SqlConf, keys};
use firesteel_error::SparkError;
use firesteel_functions::function::{QueryTime, SessionFacts};
use firesteel_functions::{AggregateCall, Body, BuildContext, TypedExpr, registry};
use firesteel_types::DataType;
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

const ROWS: u64 = 1_000_000;
const BATCH: u64 = 8192;

/// What is evaluated batch by batch.
enum Work {
    Scalar(Arc<dyn PhysicalExpr>),
    Aggregate(Box<AggregateFunctionExpr>),
}

impl Work {
    fn run(&self, batches: &[RecordBatch]) -> Result<(), DataFusionError> {
        match self {
            Self::Scalar(expr) => {
                for batch in batches {
                    black_box(expr.evaluate(batch)?);
                }
            }
            Self::Aggregate(aggregate) => {
                let arguments = aggregate.expressions();
                let mut accumulator = aggregate.create_accumulator()?;
                for batch in batches {
                    let mut values = Vec::with_capacity(arguments.len());
                    for argument in &arguments {
                        values.push(argument.evaluate(batch)?.into_array(batch.num_rows())?);
                    }
                    accumulator.update_batch(&values)?;
                }
                black_box(accumulator.evaluate()?);
            }
        }
        Ok(())
    }
}

/// The rows, and what turns calls into work over them.
struct Table {
    batches: Vec<RecordBatch>,
    types: Vec<(&'static str, DataType)>,
    schema: Arc<DFSchema>,
    simplifier: ExprSimplifier,
    peer: SessionContext,
    conf: SqlConf,
}

impl Table {
    fn new() -> Self {
        let starts = (0..ROWS).step_by(BATCH as usize);
        let batches: Vec<RecordBatch> = starts.map(|start| rows::batch(start..(start + BATCH).min(ROWS))).collect();
        let schema = Arc::new(DFSchema::try_from(batches[0].schema().as_ref().clone()).unwrap());
        let simplify = SimplifyContext::builder()
            .with_schema(Arc::clone(&schema))
            .with_config_options(Arc::new(ConfigOptions::new()))
            .build();
        let peer = SessionContext::new();
        for function in datafusion_spark::all_default_scalar_functions() {
            if ["json_tuple", "xxhash64"].contains(&function.name()) {
                peer.register_udf(function.as_ref().clone());
            }
        }
        let mut config = SessionConfig::default();
        config.set(keys::SESSION_TIME_ZONE, "UTC").unwrap();
        let conf = SqlConf::new(&config);
        Self { batches, types: rows::types(), schema, simplifier: ExprSimplifier::new(simplify), peer, conf }
    }

    fn argument(&self, argument: &Arg) -> TypedExpr {
        match *argument {
            Arg::Column(name) => {
                let (_, data_type) = self.types.iter().find(|(column, _)| *column == name).unwrap();
                TypedExpr::new(ident(name), data_type.clone(), true, name)
            }
            Arg::Text(text) => TypedExpr::new(lit(text), DataType::STRING, false, text),
            Arg::Number(number) => TypedExpr::new(lit(number), DataType::Integer, false, number.to_string()),
        }
    }

    fn call(&self, case: &Case) -> Result<TypedExpr, SparkError> {
        let (query_time, session) = (QueryTime::at(0), SessionFacts::default());
        let mut context = BuildContext { conf: &self.conf, query_time: &query_time, context: None, session: &session };
        let arguments = case.arguments.iter().map(|argument| self.argument(argument)).collect();
        let function = registry::lookup(case.function).unwrap();
        let Body::Aggregate(build) = &function.body else { return context.call(case.function, arguments) };
        let arguments = function.signature.apply(case.function, case.function, arguments, &mut context)?;
        let call = AggregateCall {
            arguments,
            is_distinct: false,
            filter: None,
            order_by: Vec::new(),
            ignore_nulls: None,
            is_star: false,
        };
        build(&mut context, call)
    }

    fn physical(&self, expr: &Expr) -> Result<Arc<dyn PhysicalExpr>, DataFusionError> {
        create_physical_expr(expr, &self.schema, &ExecutionProps::new(), &PhysicalPlanningContext::default())
    }

    fn work(&self, expr: Expr) -> Result<Work, Box<dyn Error>> {
        let expr = self.simplifier.simplify(expr)?;
        let work = match find_aggregate_exprs([&expr]).into_iter().next() {
            Some(Expr::AggregateFunction(aggregate)) => {
                let arguments =
                    aggregate.params.args.iter().map(|argument| self.physical(argument)).collect::<Result<Vec<_>, _>>();
                let built = AggregateExprBuilder::new(aggregate.func, arguments?)
                    .schema(self.batches[0].schema())
                    .alias("value")
                    .build()?;
                Work::Aggregate(Box::new(built))
            }
            _ => Work::Scalar(self.physical(&expr)?),
        };
        // An error shows here, before anything is measured.
        work.run(&self.batches)?;
        Ok(work)
    }

    fn ours(&self, case: &Case) -> Result<Work, Box<dyn Error>> {
        self.work(self.call(case)?.expr)
    }

    fn peer(&self, text: &str) -> Result<Work, Box<dyn Error>> {
        let expr = self.peer.parse_sql_expr(text, &self.schema)?;
        self.work(self.simplifier.coerce(expr, &self.schema)?)
    }
}

/// Measures what can be built, and names what cannot.
fn measure(group: &mut BenchmarkGroup<WallTime>, side: &str, work: Result<Work, Box<dyn Error>>, table: &Table) {
    match work {
        Ok(work) => {
            group.bench_function(side, |bencher| bencher.iter(|| work.run(&table.batches).unwrap()));
        }
        Err(error) => eprintln!("{side}: {error}"),
    }
}

fn kernels(criterion: &mut Criterion) {
    let table = Table::new();
    for case in CASES {
        let mut group = criterion.benchmark_group(case.name);
        group.throughput(Throughput::Elements(ROWS));
        measure(&mut group, "firesteel", table.ours(case), &table);
        if let Some(text) = case.peer {
            measure(&mut group, "datafusion", table.peer(text), &table);
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .without_plots()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600));
    targets = kernels
}
criterion_main!(benches);
