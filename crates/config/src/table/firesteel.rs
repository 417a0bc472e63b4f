//! Settings that only this server has, sorted by key.

use super::row;
use crate::entry::ByteUnit::Byte;
use crate::entry::Check::{AtLeast, Between, Inside};
use crate::entry::Default::{Is, Unset};
use crate::entry::Kind::{Boolean, Bytes, Double, Int, Text};
use crate::entry::{Check, ConfigEntry, Default, Kind, Scope};

const fn e(key: &'static str, kind: Kind, default: Default, check: Check, doc: &'static str) -> ConfigEntry {
    row(key, kind, default, check, "0.1.0", doc, Scope::Static)
}

#[rustfmt::skip]
pub(super) static TABLE: &[ConfigEntry] = &[
    e("spark.firesteel.cache.memoryLimit", Bytes(Byte), Unset, AtLeast(0), "How much memory cached and checkpointed relations may take before they spill; a third of the memory limit if unset."),
    e("spark.firesteel.execution.threads", Int, Is("0"), Between(0, 4096), "How many threads run queries; 0 for one per core."),
    e("spark.firesteel.io.footerCache.memoryLimit", Bytes(Byte), Is("134217728b"), AtLeast(0), "How much memory the cache of file footers and statistics may take."),
    e("spark.firesteel.memory.fraction", Double, Is("0.7"), Inside(0.0, 1.0), "The share of the machine's memory that queries may take together, if no limit in bytes is set."),
    e("spark.firesteel.memory.limit", Bytes(Byte), Unset, AtLeast(1), "How much memory queries may take together."),
    e("spark.firesteel.memory.sessionFraction", Double, Is("0.9"), Check::Within(0.0, 1.0), "The share of the memory limit that the queries of one session may take."),
    e("spark.firesteel.metastore.path", Text, Unset, Check::Any, "The file that keeps databases, tables, views and functions between runs of the server; they end with it if unset."),
    e("spark.firesteel.python.executable", Text, Unset, Check::Any, "The Python that runs user functions; the first one on the path if unset."),
    e("spark.firesteel.python.workers", Int, Is("0"), Between(0, 4096), "How many Python workers may live at a time; 0 for one per core."),
    e("spark.firesteel.result.bufferSize", Bytes(Byte), Is("67108864b"), AtLeast(1), "How many bytes of results an operation holds for a slow client before it waits."),
    e("spark.firesteel.spill.compression", Boolean, Is("true"), Check::Any, "Whether spilled data are compressed."),
    e("spark.firesteel.spill.dir", Text, Unset, Check::Any, "Where operators and caches spill; the system's directory for temporary files if unset."),
    e("spark.firesteel.spill.limit", Bytes(Byte), Unset, AtLeast(0), "How many bytes may be spilled at a time; no limit if unset."),
];
