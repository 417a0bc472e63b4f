//! The unresolved plan to DataFusion's logical plan, with Spark's semantics
