//! Catalogs, databases, tables, views and functions: names in, metadata out
