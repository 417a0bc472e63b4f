//! The `firesteel` command: flags to calls.

mod arguments;
mod connection;
mod embedded;
mod query;
mod remote;
mod repl;
mod serve;

use arguments::{Arguments, Task};
use clap::Parser;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What goes wrong in the command itself, as a text for people.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    firesteel_engine::huge_pages::avoid();
    let arguments = Arguments::parse();
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let result = match arguments.task {
        Task::Server(server) => serve::serve(&server),
        Task::Sql(sql) => query::run(&sql),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("firesteel: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A runtime whose threads can hold deep plans.
fn runtime(cores: Option<usize>) -> std::io::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if let Some(cores) = cores {
        builder.worker_threads(cores.max(1));
    }
    builder.thread_stack_size(firesteel_server::server::STACK).thread_name("firesteel").enable_all().build()
}
