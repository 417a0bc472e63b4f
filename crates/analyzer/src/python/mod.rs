//! Python functions in plans.
//!
//! An analysed call is an expression of its own kind ([`PythonUdf`], [`PythonUdaf`]),
//! so that all rules of scalar and aggregate functions hold for it. Before a plan
//! is optimised, [`extract`] takes the calls out of expressions into operators
//! ([`PythonOperator`]), which the engine runs in workers.

mod call;
mod extract;
mod operator;
mod unused;

pub use call::{PythonCall, PythonParameter, PythonUdaf, PythonUdf};
pub use extract::{extract, is_whole};
pub(crate) use extract::{is_aggregated, is_called};
pub use operator::{GroupFrame, PythonChain, PythonColumn, PythonKind, PythonOperator, PythonTable, PythonWindow};
pub use unused::RemoveUnusedPython;
