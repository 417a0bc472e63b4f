#!/usr/bin/env python3
"""Reads the descriptors inside PySpark's `*_pb2.py` files.

    descriptors.py proto  OUT NEWEST [OLDER...]   write the .proto files into OUT
    descriptors.py list   CLIENT                  print the flat list of one client

NEWEST, OLDER and CLIENT are named `VERSION=DIRECTORY`, where the directory is
the client's `pyspark/sql/connect/proto`. The .proto files are written from the
newest client; older ones only tell since when a member exists. Comments come
from comments.csv beside this file. The lists are checked in under
tests/clients, where a test compares them with what the crate compiles.

Needs the Python package `protobuf`; nothing of PySpark is imported.
"""

import ast
import csv
import pathlib
import sys

from google.protobuf import descriptor_pb2

Field = descriptor_pb2.FieldDescriptorProto
SCALARS = {
    value: name.removeprefix("TYPE_").lower() for name, value in Field.Type.items()
}
# Spark's own test fixtures, which no client sends.
SKIPPED = {"spark/connect/example_plugins.proto"}


def load(directory):
    """The file descriptors of one client, by file name."""
    files = {}
    for path in sorted(pathlib.Path(directory).glob("*_pb2.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "attr", "") == "AddSerializedFile"
            ):
                file = descriptor_pb2.FileDescriptorProto.FromString(node.args[0].value)
                if file.name not in SKIPPED:
                    files[file.name] = file
    if not files:
        sys.exit(f"no descriptors in {directory}")
    return files


def messages(scope, nested):
    """Every message below `scope`, as (full name, descriptor)."""
    for message in nested:
        name = f"{scope}.{message.name}"
        yield name, message
        yield from messages(name, message.nested_type)


def enums(file):
    for enum in file.enum_type:
        yield f"{file.package}.{enum.name}", enum
    for name, message in messages(file.package, file.message_type):
        for enum in message.enum_type:
            yield f"{name}.{enum.name}", enum


def label(field):
    if field.label == Field.LABEL_REPEATED:
        return "repeated"
    return "optional" if field.proto3_optional else "single"


def short(name):
    return name.removeprefix(".").removeprefix("spark.connect.")


def flat_list(files):
    """A heading per message, enum and service, and below it a line per member:
    field, number, label, type and oneof; value and number; RPC and its types."""
    blocks = {}
    for file in files.values():
        for name, message in messages(file.package, file.message_type):
            lines = blocks[f"message {short(name)}"] = []
            for field in message.field:
                kind = short(field.type_name) or SCALARS[field.type]
                line = f"  {field.name} {field.number} {label(field)} {kind}"
                if field.HasField("oneof_index") and not field.proto3_optional:
                    line += " " + message.oneof_decl[field.oneof_index].name
                lines.append(line)
        for name, enum in enums(file):
            blocks[f"enum {short(name)}"] = [f"  {v.name} {v.number}" for v in enum.value]
        for service in file.service:
            lines = blocks[f"service {service.name}"] = []
            for rpc in service.method:
                request = "stream " * rpc.client_streaming + short(rpc.input_type)
                response = "stream " * rpc.server_streaming + short(rpc.output_type)
                lines.append(f"  {rpc.name} {request} -> {response}")
    return [line for heading in sorted(blocks) for line in [heading, *blocks[heading]]]


class Writer:
    """Prints file descriptors as .proto text."""

    def __init__(self, files, since, comments):
        self.since = since
        self.comments = comments
        self.used = set()
        self.types = {"google.protobuf.Any", "google.protobuf.Timestamp"}
        for file in files.values():
            self.types |= {n for n, _ in messages(file.package, file.message_type)}
            self.types |= {n for n, _ in enums(file)}

    def comment(self, name, indent, existed):
        """The comment of `name`; its version too, if its scope is older."""
        text = self.comments.get(short(name), "")
        self.used.add(short(name))
        since = self.since.get(name)
        if since and since != existed:
            text = f"{text.rstrip('.')} (since {since})." if text else f"Since {since}."
        return f"{indent}// {text}\n" if text else ""

    def type_name(self, full, scope):
        """The shortest name that resolves to `full` from inside `scope`."""
        full = full.lstrip(".")
        parts = full.split(".")
        for start in range(len(parts) - 1, -1, -1):
            candidate = parts[start:]
            where = scope
            while True:
                prefix = f"{where}." if where else ""
                if prefix + candidate[0] in self.types or where == "":
                    break
                where = where.rpartition(".")[0]
            if prefix + ".".join(candidate) == full and full in self.types:
                return ".".join(candidate)
        return "." + full

    def field(self, field, scope, indent, entries):
        if field.type_name.lstrip(".") in entries:
            entry = entries[field.type_name.lstrip(".")]
            key, value = (self.kind(f, scope) for f in entry.field)
            kind = f"map<{key}, {value}>"
        else:
            kind = self.kind(field, scope)
            if label(field) != "single":
                kind = f"{label(field)} {kind}"
        name = f"{scope}.{field.name}"
        comment = self.comment(name, indent, self.since.get(scope))
        if field.options.deprecated:
            # As words, not as an option: both forms stay in use on the wire, and
            # the option would make every reader of the field silence a warning.
            comment = f"{comment.rstrip().rstrip('.')} (deprecated).\n" if comment else f"{indent}// Deprecated.\n"
        return f"{comment}{indent}{kind} {field.name} = {field.number};\n"

    def kind(self, field, scope):
        return self.type_name(field.type_name, scope) if field.type_name else SCALARS[field.type]

    def enum(self, name, enum, indent):
        text = self.comment(name, indent, self.since.get(name.rpartition(".")[0], self.first))
        text += f"{indent}enum {enum.name} {{\n"
        for value in enum.value:
            text += self.comment(f"{name}.{value.name}", indent + "  ", self.since.get(name))
            text += f"{indent}  {value.name} = {value.number};\n"
        return text + f"{indent}}}\n"

    def message(self, name, message, indent):
        inner = indent + "  "
        entries = {
            f"{name}.{m.name}": m for m in message.nested_type if m.options.map_entry
        }
        text = self.comment(name, indent, self.since.get(name.rpartition(".")[0], self.first))
        members, oneofs = [], set()
        for field in message.field:
            if not field.HasField("oneof_index") or field.proto3_optional:
                members.append(self.field(field, name, inner, entries))
            elif field.oneof_index not in oneofs:
                oneofs.add(field.oneof_index)
                oneof = message.oneof_decl[field.oneof_index].name
                block = f"{inner}oneof {oneof} {{\n"
                for member in message.field:
                    if (
                        member.HasField("oneof_index")
                        and member.oneof_index == field.oneof_index
                        and not member.proto3_optional
                    ):
                        block += self.field(member, name, inner + "  ", entries)
                members.append(block + f"{inner}}}\n")
        numbers = [
            str(r.start) if r.end == r.start + 1 else f"{r.start} to {r.end - 1}"
            for r in message.reserved_range
        ]
        if numbers:
            members.append(f"{inner}reserved {', '.join(numbers)};\n")
        if message.reserved_name:
            names = ", ".join(f'"{n}"' for n in message.reserved_name)
            members.append(f"{inner}reserved {names};\n")
        nested = [
            self.message(f"{name}.{m.name}", m, inner)
            for m in message.nested_type
            if not m.options.map_entry
        ]
        nested += [self.enum(f"{name}.{e.name}", e, inner) for e in message.enum_type]
        if not members and not nested:
            return text + f"{indent}message {message.name} {{}}\n"
        body = "".join(members)
        if nested:
            body += ("\n" if members else "") + "\n".join(nested)
        return text + f"{indent}message {message.name} {{\n{body}{indent}}}\n"

    def service(self, name, service):
        text = self.comment(name, "", self.first) + f"service {service.name} {{\n"
        for rpc in service.method:
            text += self.comment(f"{name}.{rpc.name}", "  ", self.first)
            request = "stream " * rpc.client_streaming + self.type_name(rpc.input_type, name)
            response = "stream " * rpc.server_streaming + self.type_name(rpc.output_type, name)
            text += f"  rpc {rpc.name}({request}) returns ({response});\n"
        return text + "}\n"

    def file(self, file):
        parts = ['syntax = "proto3";\n', f"package {file.package};\n"]
        if file.dependency:
            parts.append("".join(f'import "{d}";\n' for d in sorted(file.dependency)))
        package = file.package
        parts += [self.service(f"{package}.{s.name}", s) for s in file.service]
        parts += [self.message(f"{package}.{m.name}", m, "") for m in file.message_type]
        parts += [self.enum(f"{package}.{e.name}", e, "") for e in file.enum_type]
        return "\n".join(parts)


def introduced(clients):
    """The oldest of the given clients that has each member."""
    since = {}
    for version, files in clients:
        minor = ".".join(version.split(".")[:2])
        for file in files.values():
            names = []
            for name, message in messages(file.package, file.message_type):
                names.append(name)
                names += [f"{name}.{f.name}" for f in message.field]
            for name, enum in enums(file):
                names.append(name)
                names += [f"{name}.{v.name}" for v in enum.value]
            for service in file.service:
                names += [f"{file.package}.{service.name}.{m.name}" for m in service.method]
            for name in names:
                since.setdefault(name, minor)
    return since


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "list":
        print("\n".join(flat_list(load(arguments[1].split("=", 1)[-1]))))
    elif len(arguments) >= 3 and arguments[0] == "proto":
        out = pathlib.Path(arguments[1])
        clients = [(a.split("=", 1)[0], load(a.split("=", 1)[1])) for a in arguments[2:]]
        newest = clients[0][1]
        clients.sort(key=lambda c: [int(n) for n in c[0].split(".")])
        with open(pathlib.Path(__file__).parent / "comments.csv", newline="") as table:
            comments = {row["name"]: row["comment"] for row in csv.DictReader(table)}
        writer = Writer(newest, introduced(clients), comments)
        writer.first = ".".join(clients[0][0].split(".")[:2])
        for name, file in newest.items():
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(writer.file(file))
        for name in sorted(set(comments) - writer.used):
            print(f"comments.csv: no such member: {name}", file=sys.stderr)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
