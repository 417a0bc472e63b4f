//! A fault in one operation is an error of that operation; the session and the server go on.

use crate::harness::{Harness, Session, range, relation, rows};
use arrow::array::{Int64Array, RecordBatch};
use arrow::datatypes::{DataType as ArrowType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::catalog::{Session as DfSession, TableProvider};
use datafusion::common::{Result as DfResult, ScalarValue};
use datafusion::datasource::provider_as_source;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{
    Accumulator, ColumnarValue, Expr, LogicalPlan, LogicalPlanBuilder, TableType, Volatility, col, create_udaf,
    create_udf, lit,
};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use firesteel_analyzer::resolved::project;
use firesteel_analyzer::{Attribute, Resolved};
use firesteel_proto::connect as proto;
use firesteel_types::DataType;
use proto::relation::RelType;
use std::sync::Arc;

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("a", ArrowType::Int64, false)]))
}

/// A partition of some batches, and then perhaps a panic.
#[derive(Debug)]
struct Partition {
    schema: SchemaRef,
    fails: bool,
}

impl PartitionStream for Partition {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (schema, fails) = (self.schema.clone(), self.fails);
        let batches = (0..20i64).map(move |i| {
            assert!(!fails || i < 10, "a partition panics");
            Ok(RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from(vec![i; 100]))])?)
        });
        Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), futures::stream::iter(batches)))
    }
}

/// A table that panics when it is planned.
#[derive(Debug)]
struct Unplannable;

#[async_trait]
impl TableProvider for Unplannable {
    fn schema(&self) -> SchemaRef {
        schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn DfSession,
        _: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        panic!("a plan panics")
    }
}

#[derive(Debug)]
struct BadAccumulator;

impl Accumulator for BadAccumulator {
    fn update_batch(&mut self, _: &[arrow::array::ArrayRef]) -> DfResult<()> {
        panic!("an accumulator panics")
    }

    fn evaluate(&mut self) -> DfResult<ScalarValue> {
        Ok(ScalarValue::Int64(None))
    }

    fn size(&self) -> usize {
        0
    }

    fn state(&mut self) -> DfResult<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Int64(None)])
    }

    fn merge_batch(&mut self, _: &[arrow::array::ArrayRef]) -> DfResult<()> {
        Ok(())
    }
}

fn scan(provider: Arc<dyn TableProvider>) -> LogicalPlanBuilder {
    LogicalPlanBuilder::scan("t", provider_as_source(provider), None).unwrap()
}

fn partitions(fails: [bool; 3]) -> LogicalPlanBuilder {
    let partitions = fails.map(|fails| Arc::new(Partition { schema: schema(), fails }) as Arc<dyn PartitionStream>);
    scan(Arc::new(StreamingTable::try_new(schema(), partitions.to_vec()).unwrap()))
}

/// The plan's last column as a relation.
fn resolved(plan: LogicalPlan) -> Resolved {
    let attribute = Attribute::new("a", DataType::Long, true);
    let column = Expr::Column(plan.schema().columns().pop().unwrap());
    Resolved::leaf(project(plan, vec![column.alias(attribute.column_name())]).unwrap(), vec![attribute])
}

fn bad_function(argument: Expr) -> Expr {
    let fails = Arc::new(|_: &[ColumnarValue]| -> DfResult<ColumnarValue> { panic!("a function panics") });
    create_udf("bad", vec![ArrowType::Int64], ArrowType::Int64, Volatility::Immutable, fails).call(vec![argument])
}

fn faults() -> Vec<(&'static str, Resolved)> {
    let udaf = create_udaf(
        "bad_sum",
        vec![ArrowType::Int64],
        Arc::new(ArrowType::Int64),
        Volatility::Immutable,
        Arc::new(|_| Ok(Box::new(BadAccumulator))),
        Arc::new(vec![ArrowType::Int64]),
    );
    let no_groups: [Expr; 0] = [];
    let plans = [
        ("a plan panics", scan(Arc::new(Unplannable))),
        ("a partition panics", partitions([false, true, false])),
        ("a partition panics", partitions([true, true, true]).sort(vec![col("a").sort(true, true)]).unwrap()),
        (
            "an accumulator panics",
            partitions([false; 3]).aggregate(no_groups, vec![udaf.call(vec![col("a")])]).unwrap(),
        ),
        (
            "an accumulator panics",
            partitions([false; 3]).aggregate(vec![col("a")], vec![udaf.call(vec![col("a")])]).unwrap(),
        ),
        // Constants are folded when the plan is optimised.
        ("a function panics", partitions([false; 3]).project(vec![bad_function(lit(1i64))]).unwrap()),
        ("a function panics", partitions([false; 3]).project(vec![bad_function(col("a"))]).unwrap()),
    ];
    plans.into_iter().map(|(text, plan)| (text, resolved(plan.build().unwrap()))).collect()
}

fn table(name: &str) -> proto::Relation {
    let named = proto::read::NamedTable { unparsed_identifier: name.to_string(), ..Default::default() };
    let read = proto::Read { read_type: Some(proto::read::ReadType::NamedTable(named)), is_streaming: false };
    relation(RelType::Read(read))
}

async fn assert_alive(session: &mut Session) {
    let responses = session.run(session.request(range(7))).await.unwrap();
    assert_eq!(rows(&responses), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_is_an_error_of_its_operation() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    session.touch(None).await.unwrap();
    let engine = server.engine_session(&session);
    let mut neighbour = server.session().await;
    let mut endless = neighbour.start(neighbour.reattachable(crate::harness::endless())).await.unwrap();
    for (text, fault) in faults() {
        engine.put_view("fault", fault);
        let plan = || proto::plan::OpType::Root(table("fault"));
        for request in [session.request(plan()), session.reattachable(plan())] {
            let status = session.run(request).await.unwrap_err();
            assert!(status.message().contains(text), "{text}: {status:?}");
            assert_eq!(status.code(), tonic::Code::Internal);
        }
        let checkpoint =
            proto::CheckpointCommand { relation: Some(table("fault")), local: true, eager: true, ..Default::default() };
        let command = proto::command::CommandType::CheckpointCommand(checkpoint);
        let plan = proto::plan::OpType::Command(proto::Command { command_type: Some(command) });
        let status = session.run(session.request(plan)).await.unwrap_err();
        assert!(status.message().contains(text), "{text}: {status:?}");
        assert_alive(&mut session).await;
    }
    assert!(endless.message().await.unwrap().is_some());
    assert_alive(&mut neighbour).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_analysis_or_writing_is_an_error() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    session.touch(None).await.unwrap();
    let engine = server.engine_session(&session);
    let folder = tempfile::tempdir().unwrap();
    for (text, fault) in faults() {
        engine.put_view("fault", fault);
        let explain = proto::analyze_plan_request::Explain {
            plan: Some(proto::Plan { op_type: Some(proto::plan::OpType::Root(table("fault"))) }),
            explain_mode: proto::analyze_plan_request::explain::ExplainMode::Simple.into(),
        };
        let request = proto::AnalyzePlanRequest {
            session_id: session.id.clone(),
            user_context: session.context(),
            analyze: Some(proto::analyze_plan_request::Analyze::Explain(explain)),
            ..Default::default()
        };
        let explained = session.client.analyze_plan(request).await;
        if text == "a plan panics" {
            assert!(explained.unwrap_err().message().contains(text));
        }
        let path = folder.path().join("out");
        let write = proto::WriteOperation {
            input: Some(table("fault")),
            source: Some("parquet".into()),
            mode: proto::write_operation::SaveMode::Append.into(),
            save_type: Some(proto::write_operation::SaveType::Path(path.to_string_lossy().into_owned())),
            ..Default::default()
        };
        let command = proto::command::CommandType::WriteOperation(write);
        let plan = proto::plan::OpType::Command(proto::Command { command_type: Some(command) });
        let status = session.run(session.request(plan)).await.unwrap_err();
        assert!(status.message().contains(text), "{text}: {status:?}");
        assert!(!path.exists());
        assert_alive(&mut session).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn deep_plans_run() {
    let server = Harness::start().await;
    let mut session = server.session().await;
    let mut deep = relation(RelType::Range(proto::Range { start: Some(0), end: 3, step: 1, num_partitions: Some(1) }));
    for level in 0..300 {
        let limit = proto::Limit { input: Some(Box::new(deep)), limit: 10 + level };
        deep = relation(RelType::Limit(Box::new(limit)));
    }
    let responses = session.run(session.request(proto::plan::OpType::Root(deep))).await.unwrap();
    assert_eq!(rows(&responses), 3);
    let nested = format!("{}select 1 as a{}", "select a from (".repeat(300), ")".repeat(300));
    let sum = format!("select 1{}", " + 1".repeat(1500));
    let union = format!("select 1{}", " union all select 1".repeat(200));
    for (query, expected) in [(nested, 1), (sum, 1), (union, 201)] {
        let sql = relation(RelType::Sql(proto::Sql { query, ..Default::default() }));
        let responses = session.run(session.request(proto::plan::OpType::Root(sql))).await.unwrap();
        assert_eq!(rows(&responses), expected);
    }
}
