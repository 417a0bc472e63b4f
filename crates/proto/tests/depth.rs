//! No bytes can overflow the stack, whatever they nest.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::thread;

use bytes::Bytes;
use firesteel_proto::connect::{Plan, relation::RelType};
use firesteel_proto::decode::{DecodeError, MAX_DEPTH, decode_guarded};
use firesteel_proto::depth::{DepthError, check_depth};
use firesteel_proto::{FILE_DESCRIPTOR_SET, connect};
use prost::Message;
use prost::encoding::{WireType, encode_key};
use prost_types::field_descriptor_proto::Type;
use prost_types::{DescriptorProto, FileDescriptorSet};
use wire::nest;

mod wire;

const PLAN: &str = "spark.connect.Plan";
const ROOT: u32 = 1;
const FILTER: u32 = 4;
const INPUT: u32 = 1;

/// The stack that the server gives its threads; frames of debug builds are
/// larger.
const SERVER_STACK: usize = if cfg!(debug_assertions) { 2 << 30 } else { 64 << 20 };
const SMALL_STACK: usize = 256 << 10;

#[test]
fn counts_levels_of_messages_map_entries_and_groups() {
    assert_eq!(check_depth(PLAN, &[], 1), Ok(1));
    // Scalars and bytes are no levels.
    let literal = connect::expression::Literal {
        literal_type: Some(connect::expression::literal::LiteralType::Binary(nest(&[1; 50]).into())),
        ..Default::default()
    };
    let bytes = literal.encode_to_vec();
    assert_eq!(check_depth("spark.connect.Expression.Literal", &bytes, 9), Ok(1));
    // SQL.named_arguments: message, map entry, value, and a message in it.
    let value = connect::Expression { common: Some(connect::ExpressionCommon::default()), ..Default::default() };
    let sql = connect::Sql { named_arguments: [("a".to_owned(), value)].into(), ..Default::default() };
    assert_eq!(check_depth("spark.connect.SQL", &sql.encode_to_vec(), 9), Ok(4));
    // Field 1000 is unknown; two groups of it.
    assert_eq!(check_depth(PLAN, &groups(2), 9), Ok(3));
}

#[test]
fn plan_of_9000_levels_is_decoded_on_a_small_stack() {
    let bytes = filters(9_000);
    let plan = on_stack(SMALL_STACK, move || {
        assert_eq!(check_depth(PLAN, &bytes, MAX_DEPTH), Ok(9_000));
        decode_guarded::<Plan>(bytes).unwrap()
    });
    on_stack(SERVER_STACK, move || {
        let mut filters = 0;
        let Some(connect::plan::OpType::Root(mut relation)) = plan.op_type else {
            panic!("no root");
        };
        while let Some(RelType::Filter(filter)) = relation.rel_type {
            filters += 1;
            match filter.input {
                Some(input) => relation = *input,
                None => break,
            }
        }
        // Below the plan every relation holds a filter.
        assert_eq!(filters, 4_499);
    });
}

#[test]
fn plan_of_100000_levels_is_refused() {
    let bytes = filters(100_000);
    let refused = on_stack(SMALL_STACK, move || decode_guarded::<Plan>(bytes));
    assert_eq!(refused, Err(DecodeError::Depth(DepthError::TooDeep { max: MAX_DEPTH })));
}

#[test]
fn limit_is_exact() {
    assert_eq!(check_depth(PLAN, &filters(500), 500), Ok(500));
    assert_eq!(check_depth(PLAN, &filters(501), 500), Err(DepthError::TooDeep { max: 500 }));
}

#[test]
fn unknown_groups_are_limited_too() {
    let bytes = groups(MAX_DEPTH - 1);
    on_stack(SMALL_STACK, move || {
        assert_eq!(decode_guarded::<Plan>(bytes).unwrap(), Plan::default());
        assert_eq!(
            decode_guarded::<Plan>(groups(100_000)),
            Err(DecodeError::Depth(DepthError::TooDeep { max: MAX_DEPTH }))
        );
    });
}

#[test]
fn unknown_message_is_refused() {
    assert_eq!(
        check_depth("spark.connect.Plane", &[], 1),
        Err(DepthError::UnknownMessage("spark.connect.Plane".to_owned()))
    );
}

#[test]
fn truncated_plan_is_an_error() {
    let bytes = filters(200);
    for length in 1..bytes.len() {
        let error = check_depth(PLAN, &bytes[..length], MAX_DEPTH).unwrap_err();
        assert!(matches!(error, DepthError::Malformed { .. }), "{error}");
        assert!(decode_guarded::<Plan>(bytes.slice(..length)).is_err());
    }
}

#[test]
fn malformed_bytes_are_errors() {
    for (bytes, expected) in [
        (&[0x0a][..], "truncated number"),
        (&[0x0a, 0x05, 0x00], "length beyond the end of the message"),
        (&[0x02, 0x00], "field number 0"),
        (&[0x0e], "unknown wire type"),
        (&[0x7b], "group without end"),
        (&[0x7b, 0x84, 0x01], "end of a group that is not open"),
        (&[0x0c], "end of a group that is not open"),
        (&[0x79, 0x00], "length beyond the end of the message"),
        (&[0x78; 11], "number of more than 64 bits"),
    ] {
        let bytes = if expected.starts_with("number") { [&[0x78][..], &[0xff; 11]].concat() } else { bytes.to_vec() };
        match check_depth(PLAN, &bytes, MAX_DEPTH) {
            Err(DepthError::Malformed { what, .. }) => assert_eq!(what, expected, "{bytes:x?}"),
            other => panic!("{bytes:x?}: {other:?}"),
        }
    }
}

/// Random bytes, and a real plan with random bytes changed: never a panic, and
/// nothing that prost can decode is refused.
#[test]
fn random_bytes_are_refused_only_if_prost_refuses_them() {
    let mut random = Random(0x5eed);
    let valid = filters(40);
    let mut decoded = 0;
    for round in 0..200_000 {
        let mut bytes: Vec<u8>;
        if round % 2 == 0 {
            bytes = (0..random.below(40)).map(|_| random.byte()).collect();
        } else {
            bytes = valid.to_vec();
            for _ in 0..=random.below(2) {
                let at = random.below(bytes.len());
                bytes[at] = random.byte();
            }
        }
        let checked = check_depth(PLAN, &bytes, MAX_DEPTH);
        if Plan::decode(&bytes[..]).is_ok() {
            decoded += 1;
            assert!(checked.is_ok(), "{bytes:x?}: {checked:?}");
        }
    }
    assert!(decoded > 1_000, "{decoded}");
}

/// Each way in which messages can contain themselves, at the greatest depth:
/// decoded with little stack, then cloned and dropped on a server thread.
#[test]
fn every_recursion_is_safe_at_the_limit() {
    let graph = message_graph();
    let mut seen = BTreeSet::new();
    for (message, field, child) in edges(&graph) {
        let Some(back) = path(&graph, &child, &message) else {
            continue;
        };
        let cycle: Vec<u32> = [field].into_iter().chain(back).collect();
        let before = path(&graph, PLAN, &message).expect("part of a plan");
        let mut fields = before.clone();
        fields.extend(cycle.iter().cycle().take(MAX_DEPTH - 1 - before.len()));
        if !seen.insert(fields.clone()) {
            continue;
        }
        let bytes = Bytes::from(nest(&fields));
        let plan = on_stack(SMALL_STACK, move || decode_guarded::<Plan>(bytes).unwrap());
        on_stack(SERVER_STACK, move || {
            let copy = plan.clone();
            assert!(copy == plan);
        });
    }
    assert!(seen.len() > 50, "{}", seen.len());
}

#[test]
fn deepest_plan_can_be_printed_and_encoded() {
    let bytes = filters(MAX_DEPTH);
    on_stack(SERVER_STACK, move || {
        let plan: Plan = decode_guarded(bytes.clone()).unwrap();
        assert!(format!("{plan:?}").len() > MAX_DEPTH);
        assert_eq!(plan.encode_to_vec(), bytes);
    });
}

/// A plan of filters over filters, with this number of levels.
fn filters(levels: usize) -> Bytes {
    let fields: Vec<u32> = [ROOT].into_iter().chain([FILTER, INPUT].into_iter().cycle()).take(levels - 1).collect();
    nest(&fields).into()
}

/// Groups in groups, of a field that no message has.
fn groups(levels: usize) -> Bytes {
    let mut bytes = Vec::new();
    for _ in 0..levels {
        encode_key(1000, WireType::StartGroup, &mut bytes);
    }
    for _ in 0..levels {
        encode_key(1000, WireType::EndGroup, &mut bytes);
    }
    bytes.into()
}

fn on_stack<T: Send + 'static>(size: usize, run: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = thread::Builder::new().stack_size(size).spawn(run).unwrap();
    thread.join().unwrap()
}

/// Message fields of every message: number and type.
type Graph = BTreeMap<String, Vec<(u32, String)>>;

fn message_graph() -> Graph {
    fn collect(scope: &str, message: &DescriptorProto, graph: &mut Graph) {
        let name = format!("{scope}.{}", message.name());
        let fields = message
            .field
            .iter()
            .filter(|field| field.r#type() == Type::Message)
            .map(|field| {
                let child = field.type_name().trim_start_matches('.').to_owned();
                (field.number() as u32, child)
            })
            .collect();
        for nested in &message.nested_type {
            collect(&name, nested, graph);
        }
        graph.insert(name, fields);
    }
    let mut graph = Graph::new();
    for file in &FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap().file {
        for message in &file.message_type {
            collect(file.package(), message, &mut graph);
        }
    }
    graph
}

fn edges(graph: &Graph) -> Vec<(String, u32, String)> {
    let mut edges = Vec::new();
    for (message, fields) in graph {
        for (number, child) in fields {
            edges.push((message.clone(), *number, child.clone()));
        }
    }
    edges
}

/// The fewest fields that lead from one message to another.
fn path(graph: &Graph, from: &str, to: &str) -> Option<Vec<u32>> {
    let mut paths = BTreeMap::from([(from.to_owned(), Vec::new())]);
    let mut queue = VecDeque::from([from.to_owned()]);
    while let Some(message) = queue.pop_front() {
        let so_far = paths[&message].clone();
        if message == to {
            return Some(so_far);
        }
        for (number, child) in graph.get(&message).into_iter().flatten() {
            if !paths.contains_key(child) {
                let longer = [&so_far[..], &[*number]].concat();
                paths.insert(child.clone(), longer);
                queue.push_back(child.clone());
            }
        }
    }
    None
}

/// Xorshift: random enough, and the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn byte(&mut self) -> u8 {
        (self.next() >> 32) as u8
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 16) as usize % end
    }
}
