//! What a worker is to run, in the words of its version.

use crate::wire::{Encode, internal, special};
use crate::{Environment, EvalType, WorkerVersion};
use bytes::Bytes;
use firesteel_error::Result;
use serde_json::json;
use std::time::Duration;

/// An argument of a function: a column of the input, by position, perhaps with the parameter's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Argument {
    pub column: i32,
    pub name: Option<String>,
}

impl Argument {
    /// An argument without a name.
    pub fn at(column: i32) -> Self {
        Self { column, name: None }
    }
}

/// A function, or several of which each takes the result of the one before.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Function {
    pub arguments: Vec<Argument>,
    /// Pickled functions, the innermost first.
    pub commands: Vec<Bytes>,
    /// The id under which a profile is reported.
    pub result_id: i64,
}

/// A table function's own part.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableFunction {
    pub arguments: Vec<Argument>,
    /// Columns of the table argument by which it is partitioned.
    pub partition_columns: Vec<i32>,
    /// The pickled answer of `analyze`.
    pub analysis: Option<Bytes>,
    pub handler: Bytes,
    /// The schema of the rows as JSON.
    pub schema: String,
    pub name: String,
}

/// What the worker calls.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Payload {
    Functions(Vec<Function>),
    Table(TableFunction),
}

/// Where a task stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskContext {
    pub stage: i32,
    pub partition: i32,
    pub attempt: i64,
    pub is_barrier: bool,
}

/// All that a worker must know before the rows come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub eval_type: EvalType,
    pub context: TaskContext,
    /// The client's Python, `3.11`.
    pub python_version: String,
    pub runner: Vec<(String, String)>,
    /// Facts that belong to the evaluation type, by the names of 4.2.
    pub evaluation: Vec<(String, String)>,
    pub payload: Payload,
    /// How the functions are profiled: `perf`, `memory`.
    pub profiler: Option<String>,
    /// How long the worker may be silent, though it has input, before it is ended.
    pub patience: Option<Duration>,
}

impl Task {
    /// The message that starts the task.
    pub fn encode(&self, environment: &Environment) -> Result<Vec<u8>> {
        let version = environment.interpreter.version;
        let mut out = Vec::with_capacity(1024);
        if version >= WorkerVersion::V4_3 {
            let mut inner = Vec::with_capacity(1024);
            self.body(&mut inner, environment, version)?;
            out.put_int(special::START_OF_INIT_MESSAGE);
            out.put_bytes(&inner);
        } else {
            self.body(&mut out, environment, version)?;
        }
        Ok(out)
    }

    fn body(&self, out: &mut Vec<u8>, environment: &Environment, version: WorkerVersion) -> Result<()> {
        out.put_int(self.context.partition);
        out.put_text(&self.python_version);
        self.context(out, version)?;
        files(out, environment);
        out.put_int(self.eval_type.0);
        self.settings(out, version);
        match &self.payload {
            Payload::Functions(functions) => self.functions(out, functions, version),
            Payload::Table(table) => table_function(out, table, version),
        }
        Ok(())
    }

    fn context(&self, out: &mut Vec<u8>, version: WorkerVersion) -> Result<()> {
        let context = &self.context;
        if version >= WorkerVersion::V4_2 {
            let mut facts = json!({
                "isBarrier": context.is_barrier,
                "connInfo": -1,
                "secret": "",
                "stageId": context.stage,
                "partitionId": context.partition,
                "attemptNumber": 0,
                "taskAttemptId": context.attempt,
                "cpus": 1,
                "resources": {},
                "localProperties": {},
            });
            if version >= WorkerVersion::V4_3 {
                facts["cpuAmount"] = json!("1");
            }
            out.put_text(&serde_json::to_string(&facts).map_err(internal)?);
            return Ok(());
        }
        out.put_bool(context.is_barrier);
        if version < WorkerVersion::V4_1 || context.is_barrier {
            out.put_int(0);
            out.put_text("");
        }
        out.put_int(context.stage);
        out.put_int(context.partition);
        out.put_int(0);
        out.put_long(context.attempt);
        out.put_int(1);
        out.put_int(0);
        out.put_int(0);
        Ok(())
    }

    fn settings(&self, out: &mut Vec<u8>, version: WorkerVersion) {
        if version >= WorkerVersion::V4_2 {
            out.put_pairs(&self.runner);
            out.put_pairs(&self.evaluation);
            return;
        }
        if !self.eval_type.is_pickled() {
            out.put_pairs(&self.runner);
        }
        if version == WorkerVersion::V4_1 {
            let fact = |key: &str| self.evaluation.iter().find(|(k, _)| k == key).map(|(_, value)| value);
            if let Some(input_type) = fact("input_type") {
                out.put_text(input_type);
            }
            if let Some(offsets) = fact("table_arg_offsets") {
                let offsets: Vec<i32> = offsets.split(',').filter_map(|o| o.parse().ok()).collect();
                out.put_count(offsets.len());
                offsets.iter().for_each(|offset| out.put_int(*offset));
            }
        }
    }

    fn functions(&self, out: &mut Vec<u8>, functions: &[Function], version: WorkerVersion) {
        let is_middle = matches!(version, WorkerVersion::V4_0 | WorkerVersion::V4_1);
        if is_middle {
            out.put_bool(self.profiler.is_some());
            if let Some(profiler) = &self.profiler {
                out.put_text(profiler);
            }
        }
        let is_named = names_arguments(self.eval_type, version);
        out.put_count(functions.len());
        for function in functions {
            out.put_count(function.arguments.len());
            for argument in &function.arguments {
                self::argument(out, argument, is_named);
            }
            out.put_count(function.commands.len());
            for command in &function.commands {
                out.put_bytes(command);
            }
            if version >= WorkerVersion::V4_2 || (is_middle && self.profiler.is_some()) {
                out.put_long(function.result_id);
            }
        }
    }
}

fn argument(out: &mut Vec<u8>, argument: &Argument, is_named: bool) {
    out.put_int(argument.column);
    if !is_named {
        return;
    }
    out.put_bool(argument.name.is_some());
    if let Some(name) = &argument.name {
        out.put_text(name);
    }
}

fn names_arguments(eval_type: EvalType, version: WorkerVersion) -> bool {
    match version {
        WorkerVersion::V3_5 => false,
        WorkerVersion::V4_0 => matches!(eval_type.0, 100 | 101 | 200 | 202 | 203 | 204),
        WorkerVersion::V4_1 => matches!(eval_type.0, 100 | 101 | 200 | 202 | 203 | 204 | 250..=253),
        _ => true,
    }
}

/// The session's files, and that there are no broadcasts.
pub(crate) fn files(out: &mut Vec<u8>, environment: &Environment) {
    out.put_text(&environment.folder.to_string_lossy());
    out.put_count(environment.includes.len());
    environment.includes.iter().for_each(|name| out.put_text(name));
    out.put_bool(false);
    out.put_int(0);
}

fn table_function(out: &mut Vec<u8>, table: &TableFunction, version: WorkerVersion) {
    let is_new = version >= WorkerVersion::V4_0;
    out.put_count(table.arguments.len());
    for argument in &table.arguments {
        self::argument(out, argument, is_new);
    }
    if is_new {
        out.put_count(table.partition_columns.len());
        table.partition_columns.iter().for_each(|column| out.put_int(*column));
        out.put_bool(table.analysis.is_some());
        if let Some(analysis) = &table.analysis {
            out.put_bytes(analysis);
        }
    }
    out.put_bytes(&table.handler);
    out.put_text(&table.schema);
    if is_new {
        out.put_text(&table.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interpreter;
    use std::path::PathBuf;
    use std::sync::Arc;

    fn environment(version: WorkerVersion) -> Environment {
        let interpreter =
            Arc::new(Interpreter { executable: PathBuf::from("python3"), python_version: "3.11".into(), version });
        Environment::of(interpreter, PathBuf::from("/tmp/x"))
    }

    fn task(eval_type: EvalType) -> Task {
        Task {
            eval_type,
            context: TaskContext::default(),
            python_version: "3.11".into(),
            runner: vec![("k".into(), "v".into())],
            evaluation: vec![("input_type".into(), "{}".into())],
            payload: Payload::Functions(vec![Function {
                arguments: vec![Argument { column: 0, name: Some("x".into()) }],
                commands: vec![Bytes::from_static(b"f")],
                result_id: 7,
            }]),
            profiler: None,
            patience: None,
        }
    }

    #[test]
    fn each_version_has_its_layout() {
        let length = |version, eval_type| task(eval_type).encode(&environment(version)).unwrap().len();
        let of = |eval_type| {
            use WorkerVersion::*;
            [V3_5, V4_0, V4_1].map(|version| length(version, eval_type))
        };
        // 3.5 has no names of arguments; 4.1 no port and secret, but the type of the input as a text.
        let [old, named, short] = of(EvalType::BATCHED);
        assert_eq!(named, old + 1 + 5 + 1);
        assert_eq!(short, named - 8 + 4 + 2);
        // Settings go to functions over Arrow.
        let [arrow, ..] = of(EvalType::ARROW_BATCHED);
        assert_eq!(arrow, old + 4 + 10);
    }

    #[test]
    fn the_newest_version_frames_the_message() {
        let message = task(EvalType::BATCHED).encode(&environment(WorkerVersion::V4_3)).unwrap();
        assert_eq!(message[..4], special::START_OF_INIT_MESSAGE.to_be_bytes());
        let length = i32::from_be_bytes([message[4], message[5], message[6], message[7]]);
        assert_eq!(usize::try_from(length).unwrap(), message.len() - 8);
    }
}
