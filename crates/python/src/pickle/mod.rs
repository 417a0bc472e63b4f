//! The part of Python's pickle format that rows need.

mod reader;
mod writer;

pub use reader::{Id, Node, Pickle};
pub use writer::PickleWriter;
