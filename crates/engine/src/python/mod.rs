//! Python functions of queries, run in workers.
//!
//! The planner makes one operator ([`PythonExec`]) for each of the analyzer's. It
//! knows no session: [`bind`] gives a plan's operators the session's workers
//! before the plan runs.

mod batches;
mod cogroup;
mod environment;
mod eval;
mod exec;
mod gate;
mod group;
mod joined;
mod map;
mod planner;
pub(crate) mod planning;
mod session;
pub(crate) mod source;
mod table;
mod window;
mod work;

pub use session::PythonFiles;

pub(crate) use exec::bind;
pub(crate) use planner::PythonPlanner;
pub(crate) use session::PythonSession;
