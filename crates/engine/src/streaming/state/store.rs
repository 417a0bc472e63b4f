//! The rows that an operator remembers: a file for each batch.

use crate::streaming::log::cannot;
use arrow::datatypes::SchemaRef;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use arrow::record_batch::RecordBatch;
use firesteel_error::{ExceptionClass, Result, SparkError};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write};
use std::path::PathBuf;

/// Batches whose state stays: a query goes back one batch at most.
const RETAINED: i64 = 2;

/// A folder with what an operator remembered after each batch.
#[derive(Debug, Clone)]
pub(super) struct Store {
    folder: PathBuf,
}

impl Store {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn path(&self, batch: i64) -> PathBuf {
        self.folder.join(format!("{batch}.arrow"))
    }

    /// What was remembered after a batch; nothing before the first one.
    pub fn read(&self, batch: i64) -> Result<Vec<RecordBatch>> {
        if batch < 0 {
            return Ok(Vec::new());
        }
        let path = self.path(batch);
        let file = File::open(&path).map_err(|error| cannot("read", &path, &error))?;
        let broken = |error: arrow::error::ArrowError| {
            SparkError::plain(
                ExceptionClass::IllegalState,
                format!("The state in {} cannot be read: {error}", path.display()),
            )
        };
        StreamReader::try_new(BufReader::new(file), None).map_err(broken)?.map(|batch| batch.map_err(broken)).collect()
    }

    /// Notes what is remembered after a batch.
    pub fn write(&self, batch: i64, schema: &SchemaRef, rows: &[RecordBatch]) -> Result<()> {
        fs::create_dir_all(&self.folder).map_err(|error| cannot("make the folder", &self.folder, &error))?;
        let path = self.path(batch);
        let temporary = self.folder.join(format!(".{batch}.{}.tmp", uuid::Uuid::new_v4()));
        let written = self
            .write_to(&temporary, schema, rows)
            .and_then(|()| fs::rename(&temporary, &path).map_err(|error| cannot("write", &path, &error)));
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        // A file that stays does no harm.
        let _ = fs::remove_file(self.path(batch - RETAINED));
        written
    }

    fn write_to(&self, path: &std::path::Path, schema: &SchemaRef, rows: &[RecordBatch]) -> Result<()> {
        let file = File::create(path).map_err(|error| cannot("write", path, &error))?;
        let fails = |error: arrow::error::ArrowError| {
            SparkError::plain(ExceptionClass::Spark, format!("Cannot write {}: {error}", path.display()))
        };
        let mut writer = StreamWriter::try_new(BufWriter::new(file), schema).map_err(fails)?;
        for batch in rows {
            writer.write(batch).map_err(fails)?;
        }
        writer.finish().map_err(fails)?;
        writer.get_mut().flush().map_err(|error| cannot("write", path, &error))
    }
}

/// Bytes of rows in memory.
pub(super) fn bytes(rows: &[RecordBatch]) -> usize {
    rows.iter().map(crate::ordered::bytes).sum()
}

/// The number of rows.
pub(super) fn count(rows: &[RecordBatch]) -> usize {
    rows.iter().map(RecordBatch::num_rows).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Int64Array;
    use arrow::datatypes::{DataType, Field, Schema};
    use std::sync::Arc;

    #[test]
    fn what_was_remembered_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("0"));
        let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, true)]));
        assert!(store.read(-1).unwrap().is_empty());
        for batch in 0..4 {
            let rows = RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from(vec![batch]))]).unwrap();
            store.write(batch, &schema, &[rows]).unwrap();
        }
        assert_eq!(store.read(3).unwrap()[0].num_rows(), 1);
        assert!(store.read(2).is_ok());
        assert!(store.read(0).is_err());
    }
}
