//! User code in Python runs in PySpark's own workers.
//!
//! A [`WorkerPool`] starts one daemon for each interpreter and environment;
//! the daemon forks workers. A [`Task`] says what a worker is to run, and
//! [`run`] streams its input and output at the same time. The layout of the
//! protocol is that of the PySpark installed beside the worker's interpreter.
//!
//! Invariant: user code never runs inside the server process, and a worker
//! that is dropped in the middle of a task is killed. No DataFusion, no protobuf.

pub mod daemon;
pub mod environment;
pub mod eval_type;
pub mod frame;
pub mod interpreter;
pub mod pickle;
pub mod planner;
pub mod pool;
pub mod rows;
pub mod run;
pub mod task;
pub mod wire;

pub use environment::{Environment, WorkerSettings};
pub use eval_type::EvalType;
pub use interpreter::{Interpreter, WorkerVersion};
pub use pool::{Worker, WorkerPool};
pub use run::{Input, InputFormat, Output, OutputFormat, Report, run};
pub use task::{Argument, Function, Task, TaskContext};
