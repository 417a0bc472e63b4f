//! Work on parts of files on all cores.

use crate::listing::DataFile;
use crate::records::FilePart;
use firesteel_error::{Result, SparkError};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a part of a file.
const PART: u64 = 8 << 20;

/// Files as parts, in order.
pub(crate) fn parts(files: &[DataFile], is_splittable: bool) -> Vec<FilePart> {
    let mut parts = Vec::with_capacity(files.len());
    for file in files {
        let whole = FilePart::whole(file);
        if !is_splittable || whole.size <= PART + PART / 2 {
            parts.push(whole);
            continue;
        }
        let mut start = 0;
        while start < whole.size {
            let end = if whole.size - start <= PART + PART / 2 { whole.size } else { start + PART };
            parts.push(FilePart { start, end, ..whole.clone() });
            start = end;
        }
    }
    parts
}

/// The results of parts in order, or the error of the first part that has one.
pub(crate) fn map<T: Send>(parts: &[FilePart], work: impl Fn(&FilePart) -> Result<T> + Sync) -> Result<Vec<T>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(parts.len());
    let bytes: u64 = parts.iter().map(|p| p.end - p.start).sum();
    if cores < 2 || bytes < PART / 16 {
        return parts.iter().map(work).collect();
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let results: Mutex<Vec<(usize, Result<T>)>> = Mutex::new(Vec::with_capacity(parts.len()));
    let run = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(i) else { break };
            // Parts before the one that failed may fail too, and come first then.
            if failed.load(Ordering::Relaxed) < i {
                break;
            }
            let result = work(part);
            if result.is_err() {
                failed.fetch_min(i, Ordering::Relaxed);
            }
            results.lock().push((i, result));
        }
    };
    let panicked = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(run)).collect();
        threads.into_iter().filter_map(|thread| thread.join().err()).next()
    });
    if let Some(panic) = panicked {
        std::panic::resume_unwind(panic);
    }
    let mut results = results.into_inner();
    results.sort_by_key(|(i, _)| *i);
    let results = results.into_iter().map(|(_, result)| result).collect::<Result<Vec<T>>>()?;
    if results.len() == parts.len() { Ok(results) } else { Err(SparkError::internal("a part of a file was not read")) }
}
