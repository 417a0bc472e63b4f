use super::{Codec, physical_from_bytes, physical_to_bytes};
use crate::slices::Slicing;
use crate::{Engine, EngineOptions, Session, execution};
use arrow::util::pretty::pretty_format_batches;
use datafusion::common::Result as DfResult;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::WindowFunctionDefinition;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion_proto::bytes::{
    logical_plan_from_bytes_with_extension_codec, logical_plan_to_bytes_with_extension_codec,
};
use datafusion_proto::physical_plan::PhysicalExtensionCodec;
use firesteel_analyzer::resolved::engine_error;
use firesteel_functions::registry;
use firesteel_plan::{Relation, RelationKind};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

fn session(folder: &Path) -> Arc<Session> {
    let options = EngineOptions {
        cores: Some(2),
        memory_limit: Some(1 << 28),
        spill_directory: Some(folder.to_path_buf()),
        configuration: vec![(
            "spark.sql.warehouse.dir".into(),
            folder.join("warehouse").to_string_lossy().into_owned(),
        )],
        ..EngineOptions::default()
    };
    Engine::new(options).unwrap().create_session("user", "session").unwrap()
}

fn sql(text: &str) -> Relation {
    Relation::new(RelationKind::Sql {
        text: text.to_string(),
        named_arguments: Vec::new(),
        position_arguments: Vec::new(),
    })
}

/// Sends a function there and back. Its text is there where it cannot be sent.
fn sent(expr: &Expr) -> Option<DfResult<bool>> {
    let mut bytes = Vec::new();
    match expr {
        Expr::ScalarFunction(call) => Some(
            Codec
                .try_encode_udf(&call.func, &mut bytes)
                .and_then(|()| {
                    if bytes.is_empty() { Ok(None) } else { Codec.try_decode_udf(call.func.name(), &bytes).map(Some) }
                })
                .map(|back| back.is_none_or(|back| back == call.func)),
        ),
        Expr::AggregateFunction(call) => Some(
            Codec
                .try_encode_udaf(&call.func, &mut bytes)
                .and_then(|()| {
                    if bytes.is_empty() { Ok(None) } else { Codec.try_decode_udaf(call.func.name(), &bytes).map(Some) }
                })
                .map(|back| back.is_none_or(|back| back == call.func)),
        ),
        Expr::WindowFunction(call) => match &call.fun {
            WindowFunctionDefinition::WindowUDF(function) => Some(
                Codec
                    .try_encode_udwf(function, &mut bytes)
                    .and_then(|()| {
                        if bytes.is_empty() {
                            Ok(None)
                        } else {
                            Codec.try_decode_udwf(function.name(), &bytes).map(Some)
                        }
                    })
                    .map(|back| back.is_none_or(|back| back.name() == function.name())),
            ),
            WindowFunctionDefinition::AggregateUDF(function) => Some(
                Codec
                    .try_encode_udaf(function, &mut bytes)
                    .and_then(|()| {
                        if bytes.is_empty() {
                            Ok(None)
                        } else {
                            Codec.try_decode_udaf(function.name(), &bytes).map(Some)
                        }
                    })
                    .map(|back| back.is_none_or(|back| back == *function)),
            ),
        },
        Expr::HigherOrderFunction(call) => Some(
            Codec
                .try_encode_higher_order_function(&call.func, &mut bytes)
                .and_then(|()| Codec.try_decode_higher_order_function(call.func.name(), &bytes))
                .map(|back| back == call.func),
        ),
        _ => None,
    }
}

/// The functions of a plan that cannot be sent, with the errors.
fn unsent(plan: &LogicalPlan) -> Vec<String> {
    let mut errors = Vec::new();
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                match sent(expr) {
                    Some(Err(error)) => errors.push(engine_error(error).to_string()),
                    Some(Ok(false)) => errors.push(format!("{expr} comes back as another function")),
                    _ => {}
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })
    .unwrap();
    errors
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_every_function_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    let examples = registry::all().into_iter().flat_map(|(_, function)| function.documentation.examples);
    let mut statements: BTreeSet<String> =
        examples.map(|(statement, _)| statement.trim_end_matches(';').to_string()).collect();
    // The examples of Spark's own descriptions.
    let usage = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/usage.jsonl");
    for line in std::fs::read_to_string(usage).unwrap().lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        statements.insert(case["statement"].as_str().unwrap().to_string());
    }
    let mut failures = Vec::new();
    for statement in statements {
        let Ok(analysed) = session.analyse(sql(&statement)).await else { continue };
        failures.extend(unsent(&analysed.resolved.plan).into_iter().map(|error| format!("{statement}: {error}")));
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

const QUERIES: &[&str] = &[
    "select flag, status, sum(quantity), avg(price * (1 - discount)), count(*), count(distinct part) from items \
     where shipped <= date '1998-09-02' group by flag, status order by flag, status",
    "select o.key, sum(i.price * (1 - i.discount)) as revenue, o.placed from orders o join items i on o.key = i.order_key \
     where o.placed < date '1995-03-15' group by o.key, o.placed order by revenue desc, o.key limit 10",
    "select priority, count(*) from orders o where exists (select 1 from items i where i.order_key = o.key and i.flag = 'R') \
     group by priority order by priority",
    "select key, rank() over (partition by priority order by total desc, key) r, lag(total, 1) over (partition by priority order by key) l \
     from orders order by key limit 20",
    "select upper(concat(flag, '-', status)) s, cast(quantity as string) q, date_add(shipped, 3) d, quantity div 7 \
     from items where comment like '%1%' and part not in (select key % 5 from orders) order by 1, 2, 3, 4 limit 50",
    "select o.priority, collect_list(i.part) from (select * from items order by part limit 30) i \
     left join orders o on o.key = i.order_key group by o.priority order by 1",
    "select count(*), max(id) from range(1000)",
    "select transform(sequence(1, 3), x -> x + cast(part as int)) t, named_struct('a', part, 'b', flag).b s, \
     element_at(map(part, price), part) m, size(array(part, key)) from items order by key limit 5",
];

async fn tables(session: &Arc<Session>) {
    let statements = [
        "create table items using parquet as select id as key, id % 150 as order_key, id % 40 as part, \
         cast(id % 50 as decimal(12, 2)) as quantity, cast(id * 1.5 as decimal(12, 2)) as price, \
         cast((id % 10) / 100 as decimal(12, 2)) as discount, substr('ANR', cast(id % 3 + 1 as int), 1) as flag, \
         substr('OF', cast(id % 2 + 1 as int), 1) as status, date_add(date '1994-01-01', cast(id % 2000 as int)) as shipped, \
         concat('comment ', id) as comment from range(2000)",
        "create table orders using parquet as select id as key, concat(id % 5, '-LEVEL') as priority, \
         cast(id * 3.25 as decimal(12, 2)) as total, date_add(date '1994-01-01', cast(id * 7 as int)) as placed from range(200)",
    ];
    for statement in statements {
        session
            .analyse(Relation::new(RelationKind::Statement(Box::new(
                firesteel_sql::parse_script_or_statement(
                    statement,
                    &firesteel_sql::ParserOptions::from(session.conf().as_ref()),
                )
                .unwrap(),
            ))))
            .await
            .unwrap();
    }
}

async fn rows(session: &Arc<Session>, plan: Arc<dyn datafusion::physical_plan::ExecutionPlan>) -> String {
    let batches = datafusion::physical_plan::collect(plan, session.state().task_ctx()).await.unwrap();
    pretty_format_batches(&batches).unwrap().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_give_the_same_rows_when_they_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    tables(&session).await;
    for query in QUERIES {
        let logical = session.analyse(sql(query)).await.unwrap().resolved.exact().unwrap();
        let physical = execution::unfinished(session.state(), &logical, Slicing::Seen).await.unwrap();
        let bytes = physical_to_bytes(physical.clone()).unwrap_or_else(|e| panic!("{query}: {e}"));
        let expected = rows(&session, execution::finished(physical).unwrap()).await;
        let back = physical_from_bytes(&bytes, &session.state().task_ctx()).unwrap();
        let back = execution::finished(back).unwrap();
        assert_eq!(rows(&session, back).await, expected, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn logical_plans_give_the_same_rows_when_they_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    let queries = [
        "select a + 1, upper(b), count(*) from values (1, 'x'), (2, 'y'), (2, 'y') t(a, b) group by a, b order by a",
        "select sum(id), max(cast(id as string)) from range(5, 500, 3)",
        "select lead(id) over (order by id desc) from range(5) order by 1",
    ];
    for query in queries {
        let logical = session.analyse(sql(query)).await.unwrap().resolved.exact().unwrap();
        let expected = rows(&session, execution::plan(session.state(), &logical).await.unwrap()).await;
        let bytes = logical_plan_to_bytes_with_extension_codec(&logical, &Codec).unwrap();
        let back = logical_plan_from_bytes_with_extension_codec(&bytes, &session.state().task_ctx(), &Codec).unwrap();
        assert_eq!(rows(&session, execution::plan(session.state(), &back).await.unwrap()).await, expected, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_lives_here_only_fails_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    let checkpoint =
        firesteel_plan::Checkpoint { input: sql("select 1 as a"), is_local: true, is_eager: true, storage_level: None };
    let id = crate::kept::checkpoint(&session, checkpoint).await.unwrap();
    let kept = Relation::new(RelationKind::CachedRemote { relation_id: id });
    let logical = session.analyse(kept).await.unwrap().resolved.exact().unwrap();
    let physical = execution::plan(session.state(), &logical).await.unwrap();
    let error = physical_to_bytes(physical).unwrap_err();
    assert!(error.is("UNSUPPORTED_FEATURE.NOT_IN_THIS_SERVER"), "{error}");
    assert!(error.to_string().contains("Scan ExistingRDD"), "{error}");
}
