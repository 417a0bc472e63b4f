//! The crate's messages contain those of every client version.
//!
//! tests/clients/VERSION.txt are written by `tools/descriptors.py list` from
//! the descriptors inside that version of PySpark.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};

use firesteel_proto::FILE_DESCRIPTOR_SET;
use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};

const PACKAGE: &str = "spark.connect";

/// Members by heading (`message Plan`), each as one line.
type Members = BTreeMap<String, BTreeSet<String>>;

/// Where a client's line legitimately differs from ours: the field became
/// optional in 4.0, which does not show on the wire.
const ALLOWED: &[(&str, &str, &str)] =
    &[("message DataType.UDT", "sql_type 5 single DataType", "sql_type 5 optional DataType")];

#[test]
fn contains_client_3_5_6() {
    check(include_str!("clients/3.5.6.txt"));
}

#[test]
fn contains_client_4_0_4() {
    check(include_str!("clients/4.0.4.txt"));
}

#[test]
fn contains_client_4_1_3() {
    check(include_str!("clients/4.1.3.txt"));
}

#[test]
fn contains_client_4_2_1() {
    check(include_str!("clients/4.2.1.txt"));
}

#[test]
fn equals_client_4_3_0() {
    let client = read(include_str!("clients/4.3.0.txt"));
    assert_eq!(missing(&client, &ours()), Vec::<String>::new());
    assert_eq!(missing(&ours(), &client), Vec::<String>::new());
}

fn check(list: &str) {
    let client = read(list);
    assert!(client.values().map(BTreeSet::len).sum::<usize>() > 500);
    assert_eq!(missing(&client, &ours()), Vec::<String>::new());
}

/// What `theirs` has and `ours` has not.
fn missing(theirs: &Members, ours: &Members) -> Vec<String> {
    let none = BTreeSet::new();
    let mut missing = Vec::new();
    for (heading, members) in theirs {
        if !ours.contains_key(heading) {
            missing.push(heading.clone());
        }
        let known = ours.get(heading).unwrap_or(&none);
        for member in members.difference(known) {
            let allowed =
                ALLOWED.iter().any(|(place, old, new)| place == heading && old == member && known.contains(*new));
            if !allowed {
                missing.push(format!("{heading}: {member}"));
            }
        }
    }
    missing
}

fn read(list: &str) -> Members {
    let mut members = Members::new();
    let mut heading = "";
    for line in list.lines() {
        match line.strip_prefix("  ") {
            Some(member) => {
                let under: &mut BTreeSet<String> = members.entry(heading.to_owned()).or_default();
                under.insert(member.to_owned());
            }
            None => {
                heading = line;
                members.entry(heading.to_owned()).or_default();
            }
        }
    }
    members
}

fn ours() -> Members {
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    let mut members = Members::new();
    for file in set.file.iter().filter(|file| file.package() == PACKAGE) {
        for message in &file.message_type {
            add_message("", message, &mut members);
        }
        for enumeration in &file.enum_type {
            add_enum("", enumeration, &mut members);
        }
        add_services(file, &mut members);
    }
    members
}

fn add_message(scope: &str, message: &DescriptorProto, members: &mut Members) {
    let name = format!("{scope}{}", message.name());
    let lines = message.field.iter().map(|field| field_line(message, field)).collect();
    members.insert(format!("message {name}"), lines);
    let scope = format!("{name}.");
    for nested in &message.nested_type {
        add_message(&scope, nested, members);
    }
    for enumeration in &message.enum_type {
        add_enum(&scope, enumeration, members);
    }
}

fn field_line(message: &DescriptorProto, field: &FieldDescriptorProto) -> String {
    let label = match field.label() {
        Label::Repeated => "repeated",
        _ if field.proto3_optional() => "optional",
        _ => "single",
    };
    let kind = match field.r#type() {
        Type::Message | Type::Enum => short(field.type_name()).to_owned(),
        scalar => scalar.as_str_name().trim_start_matches("TYPE_").to_lowercase(),
    };
    let mut line = format!("{} {} {label} {kind}", field.name(), field.number());
    if let (Some(oneof), false) = (field.oneof_index, field.proto3_optional()) {
        line.push(' ');
        line.push_str(message.oneof_decl[oneof as usize].name());
    }
    line
}

fn add_enum(scope: &str, enumeration: &EnumDescriptorProto, members: &mut Members) {
    let lines = enumeration.value.iter().map(|value| format!("{} {}", value.name(), value.number())).collect();
    members.insert(format!("enum {scope}{}", enumeration.name()), lines);
}

fn add_services(file: &FileDescriptorProto, members: &mut Members) {
    let stream = |streaming| if streaming { "stream " } else { "" };
    for service in &file.service {
        let lines = service
            .method
            .iter()
            .map(|rpc| {
                format!(
                    "{} {}{} -> {}{}",
                    rpc.name(),
                    stream(rpc.client_streaming()),
                    short(rpc.input_type()),
                    stream(rpc.server_streaming()),
                    short(rpc.output_type())
                )
            })
            .collect();
        members.insert(format!("service {}", service.name()), lines);
    }
}

fn short(name: &str) -> &str {
    let name = name.trim_start_matches('.');
    name.strip_prefix("spark.connect.").unwrap_or(name)
}
