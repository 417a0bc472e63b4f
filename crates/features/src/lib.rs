//! One set of third-party features for every selection of crates: see `Cargo.toml`.
