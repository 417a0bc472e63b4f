//! Messages to plans.

use bytes::Bytes;
use firesteel_error::SparkError;
use firesteel_plan::{Command, Expr, ExprKind, Origin, Relation, RelationKind, SubqueryKind};
use firesteel_proto::connect as proto;
use firesteel_server::decode::{ArtifactLookup, DecodedCommand, Decoder};
use firesteel_types::{DataType, Literal};
use proto::expression::{self as message, ExprType};
use proto::relation::RelType;
use proto::subquery_expression::SubqueryType;

struct NoArtifacts;

impl ArtifactLookup for NoArtifacts {
    fn cached(&self, _: &str) -> Option<Bytes> {
        None
    }

    fn session_id(&self) -> &str {
        "session"
    }

    fn local_relation_size_limit(&self) -> u64 {
        u64::MAX
    }
}

fn expression(kind: ExprType) -> Result<Expr, SparkError> {
    Decoder::new(&NoArtifacts).expression(&proto::Expression { common: None, expr_type: Some(kind) })
}

fn decode(relation: &proto::Relation) -> Result<Relation, SparkError> {
    Decoder::new(&NoArtifacts).relation(relation)
}

fn attribute(name: &str) -> proto::Expression {
    let attribute = message::UnresolvedAttribute { unparsed_identifier: name.into(), ..Default::default() };
    proto::Expression { common: None, expr_type: Some(ExprType::UnresolvedAttribute(attribute)) }
}

fn relation(kind: RelType) -> proto::Relation {
    proto::Relation { common: None, rel_type: Some(kind) }
}

fn with_id(relation: proto::Relation, plan_id: i64) -> proto::Relation {
    let common = proto::RelationCommon { plan_id: Some(plan_id), ..Default::default() };
    proto::Relation { common: Some(common), ..relation }
}

fn range(end: i64) -> proto::Relation {
    relation(RelType::Range(proto::Range { end, step: 1, ..Default::default() }))
}

fn parts(name: &[&str]) -> Vec<String> {
    name.iter().map(|part| part.to_string()).collect()
}

#[test]
fn names_are_parsed() {
    let name = |text: &str| match expression(attribute(text).expr_type.unwrap()).unwrap().kind {
        ExprKind::Attribute { name, .. } => name,
        other => panic!("{other:?}"),
    };
    assert_eq!(name("a.b"), ["a", "b"]);
    assert_eq!(name("`a.b`.c"), ["a.b", "c"]);
    assert!(expression(attribute("`a").expr_type.unwrap()).is_err());
}

#[test]
fn stars_have_targets() {
    let star = |target: &str, plan_id| {
        expression(ExprType::UnresolvedStar(message::UnresolvedStar {
            unparsed_target: Some(target.to_string()),
            plan_id,
        }))
    };
    let ExprKind::Star { target, .. } = star("a.`b.c`.*", None).unwrap().kind else { panic!() };
    assert_eq!(target, Some(parts(&["a", "b.c"])));
    assert!(star("a", None).unwrap_err().is("CONNECT_INVALID_PLAN.UNRESOLVED_STAR_TARGET_INVALID"));
    let both = "CONNECT_INVALID_PLAN.UNRESOLVED_STAR_WITH_BOTH_TARGET_AND_PLAN_ID";
    assert!(star("a.*", Some(1)).unwrap_err().is(both));
}

#[test]
fn patterns_of_columns_are_in_back_quotes() {
    let regex = |text: &str| {
        let regex = message::UnresolvedRegex { col_name: text.into(), plan_id: Some(3) };
        expression(ExprType::UnresolvedRegex(regex)).unwrap().kind
    };
    assert_eq!(regex("`(a|b).*`"), ExprKind::Regex { pattern: "(a|b).*".into(), plan_id: Some(3) });
    assert!(matches!(regex("a"), ExprKind::Attribute { plan_id: Some(3), .. }));
}

#[test]
fn names_of_user_functions_are_split() {
    let function = |is_user_defined_function| {
        let function =
            message::UnresolvedFunction { function_name: "a.b".into(), is_user_defined_function, ..Default::default() };
        match expression(ExprType::UnresolvedFunction(function)).unwrap().kind {
            ExprKind::Function(call) => call.name,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(function(true), ["a", "b"]);
    assert_eq!(function(false), ["a.b"]);
}

#[test]
fn call_sites_are_kept() {
    let python = proto::PythonOrigin { fragment: "col".into(), call_site: "x.py:1".into() };
    let origin = proto::Origin { function: Some(proto::origin::Function::PythonOrigin(python)) };
    let common = proto::ExpressionCommon { origin: Some(origin) };
    let message = proto::Expression { common: Some(common), ..attribute("a") };
    let expression = Decoder::new(&NoArtifacts).expression(&message).unwrap();
    let Origin::Call(call) = &expression.origin else { panic!() };
    assert_eq!((call.fragment.as_str(), call.call_site.as_str()), ("col", "x.py:1"));
}

fn filter_by_subquery(plan_id: i64) -> proto::Relation {
    let subquery =
        proto::SubqueryExpression { plan_id, subquery_type: SubqueryType::Exists.into(), ..Default::default() };
    let condition = proto::Expression { common: None, expr_type: Some(ExprType::SubqueryExpression(subquery)) };
    relation(RelType::Filter(Box::new(proto::Filter { input: Some(Box::new(range(1))), condition: Some(condition) })))
}

#[test]
fn subqueries_are_found_by_plan_id() {
    let with = |plan_id| {
        relation(RelType::WithRelations(Box::new(proto::WithRelations {
            root: Some(Box::new(with_id(filter_by_subquery(plan_id), 9))),
            references: vec![with_id(range(2), 7), with_id(range(3), 8)],
        })))
    };
    let plan = decode(&with_id(with(8), 10)).unwrap();
    assert_eq!(plan.plan_id(), Some(10));
    let RelationKind::WithRelations { input, references } = plan.kind() else { panic!() };
    assert!(references.is_empty());
    let RelationKind::Filter { condition, .. } = input.kind() else { panic!() };
    let ExprKind::Subquery { kind: SubqueryKind::Exists, query } = &condition.kind else { panic!() };
    assert!(matches!(query.kind(), RelationKind::Range { end: 3, .. }));
    let unknown = "CONNECT_INVALID_PLAN.INVALID_WITH_RELATION_REFERENCE";
    assert!(decode(&with(1)).unwrap_err().is(unknown));
    assert!(decode(&filter_by_subquery(8)).unwrap_err().is(unknown));
}

#[test]
fn sql_text_keeps_relations_that_it_names() {
    let sql = relation(RelType::Sql(proto::Sql { query: "select * from t".into(), ..Default::default() }));
    let alias = proto::SubqueryAlias { input: Some(Box::new(range(2))), alias: "t".into(), qualifier: Vec::new() };
    let with = relation(RelType::WithRelations(Box::new(proto::WithRelations {
        root: Some(Box::new(sql)),
        references: vec![relation(RelType::SubqueryAlias(Box::new(alias)))],
    })));
    let plan = decode(&with).unwrap();
    let RelationKind::WithRelations { references, .. } = plan.kind() else { panic!() };
    assert_eq!(references.len(), 1);
}

#[test]
fn sql_commands_of_old_clients_are_read() {
    let three = message::Literal { literal_type: Some(message::literal::LiteralType::Integer(3)), data_type: None };
    let command = proto::SqlCommand { sql: "select ?".into(), pos_args: vec![three], ..Default::default() };
    let command = proto::Command { command_type: Some(proto::command::CommandType::SqlCommand(command)) };
    let DecodedCommand::Sql { relation, .. } = Decoder::new(&NoArtifacts).command(&command).unwrap() else { panic!() };
    let RelationKind::Sql { text, position_arguments, .. } = relation.kind() else { panic!() };
    assert_eq!((text.as_str(), position_arguments.as_slice()), ("select ?", &[Expr::literal(Literal::Integer(3))][..]));
}

#[test]
fn local_relations_need_rows_or_a_schema() {
    let local = |data: Option<&[u8]>, schema: Option<&str>| {
        let local = proto::LocalRelation { data: data.map(Bytes::copy_from_slice), schema: schema.map(str::to_string) };
        decode(&relation(RelType::LocalRelation(local)))
    };
    assert!(local(None, None).unwrap_err().is("CONNECT_INVALID_PLAN.SCHEMA_REQUIRED_FOR_LOCAL_RELATION"));
    assert!(local(None, Some("a int")).is_ok());
    assert!(local(Some(b"arrow"), None).is_ok());
    let cached = relation(RelType::CachedLocalRelation(proto::CachedLocalRelation { hash: "h".into() }));
    assert!(decode(&cached).unwrap_err().is("CONNECT_INVALID_PLAN.CANNOT_FIND_CACHED_LOCAL_RELATION"));
}

#[test]
fn unspecified_enums_are_refused() {
    let join = proto::Join { left: Some(Box::new(range(1))), right: Some(Box::new(range(2))), ..Default::default() };
    let error = decode(&relation(RelType::Join(Box::new(join)))).unwrap_err();
    assert!(error.is("CONNECT_INVALID_PLAN.INVALID_ENUM"));
    assert!(error.parameters().contains(&("name".into(), "JOIN_TYPE_UNSPECIFIED".into())));
    let aggregate = proto::Aggregate { input: Some(Box::new(range(1))), ..Default::default() };
    let error = decode(&relation(RelType::Aggregate(Box::new(aggregate)))).unwrap_err();
    assert!(error.is("CONNECT_INVALID_PLAN.INVALID_ENUM"));
}

#[test]
fn types_may_be_text() {
    let cast = |text: &str| {
        let to = message::cast::CastToType::TypeStr(text.to_string());
        let cast = message::Cast { expr: Some(Box::new(attribute("a"))), cast_to_type: Some(to), ..Default::default() };
        expression(ExprType::Cast(Box::new(cast)))
    };
    let ExprKind::Cast { to, .. } = cast("decimal(10, 2)").unwrap().kind else { panic!() };
    assert_eq!(to, DataType::Decimal(10, 2));
    assert!(cast("nonsense type").is_err());
}

#[test]
fn what_cannot_run_is_named() {
    let zip = proto::Zip { left: Some(Box::new(range(1))), right: Some(Box::new(range(2))) };
    let plan = decode(&relation(RelType::Zip(Box::new(zip)))).unwrap();
    assert!(matches!(plan.kind(), RelationKind::Unsupported(name) if name.contains("zip")));
    let command = proto::command::CommandType::CreateResourceProfileCommand(Default::default());
    let command = proto::Command { command_type: Some(command) };
    let DecodedCommand::Engine(Command::Unsupported(name)) = Decoder::new(&NoArtifacts).command(&command).unwrap()
    else {
        panic!()
    };
    assert_eq!(name, "resource profiles");
}

#[test]
fn chains_and_expressions_may_be_long() {
    let mut chain = range(5);
    let mut condition = attribute("id");
    for _ in 0..3000 {
        chain = relation(RelType::Limit(Box::new(proto::Limit { input: Some(Box::new(chain)), limit: 3 })));
        let function = message::UnresolvedFunction {
            function_name: "not".into(),
            arguments: vec![condition],
            ..Default::default()
        };
        condition = proto::Expression { common: None, expr_type: Some(ExprType::UnresolvedFunction(function)) };
    }
    let filter = proto::Filter { input: Some(Box::new(chain)), condition: Some(condition) };
    let run = move || decode(&relation(RelType::Filter(Box::new(filter)))).unwrap();
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(run).unwrap();
    let plan = thread.join().unwrap();
    std::thread::Builder::new().stack_size(64 << 20).spawn(move || drop(plan)).unwrap().join().unwrap();
}
