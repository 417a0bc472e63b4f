//! Parts of Parquet files with about as many rows for each partition.
//!
//! Ranges of bytes take whole row groups, and files have few of them: one partition may
//! have twice the work of another. Rows can be cut anywhere; their order stays.

use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::FileGroup;
use datafusion::datasource::physical_plan::parquet::{ParquetAccessPlan, RowGroupAccess};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use std::ops::Range;
use std::sync::Arc;

/// Fewer rows than these are not worth a cut.
const LEAST_ROWS: usize = 64 * 1024;
/// The largest partition may have so many percent more rows than the mean.
const TOLERANCE: usize = 5;

/// A row group of a file in a partition.
struct Piece<'a> {
    file: &'a PartitionedFile,
    footer: &'a Arc<ParquetMetaData>,
    row_group: usize,
    rows: usize,
}

/// The same rows in the same order in as many partitions, of about the same number of rows. `None`
/// where they are well as they are, or a footer is not known.
pub(crate) fn balanced(
    groups: &[FileGroup],
    footer: impl Fn(&PartitionedFile) -> Option<Arc<ParquetMetaData>>,
) -> Option<Vec<FileGroup>> {
    if groups.len() < 2 {
        return None;
    }
    let footers =
        groups.iter().flat_map(FileGroup::iter).map(|file| Some((file, footer(file)?))).collect::<Option<Vec<_>>>()?;
    let mut footers = footers.iter();
    let mut pieces = Vec::new();
    let (mut total, mut largest) = (0usize, 0usize);
    for group in groups {
        let before = total;
        for (file, footer) in footers.by_ref().take(group.len()) {
            for (row_group, facts) in footer.row_groups().iter().enumerate() {
                let rows = usize::try_from(facts.num_rows()).ok()?;
                if rows > 0 && is_within(facts, file) {
                    pieces.push(Piece { file, footer, row_group, rows });
                    total = total.checked_add(rows)?;
                }
            }
        }
        largest = largest.max(total - before);
    }
    let mean = total / groups.len();
    if total < LEAST_ROWS || largest <= mean + mean * TOLERANCE / 100 {
        return None;
    }
    Some(cut(&pieces, total, groups.len()))
}

/// Whether a row group belongs to the range of a file, as readers decide it.
fn is_within(facts: &RowGroupMetaData, file: &PartitionedFile) -> bool {
    let Some(column) = facts.columns().first() else { return false };
    let offset = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    file.range.as_ref().is_none_or(|range| range.contains(offset))
}

/// Cuts pieces of `total` rows into `count` partitions.
fn cut(pieces: &[Piece<'_>], total: usize, count: usize) -> Vec<FileGroup> {
    let mut pieces = pieces.iter();
    // The piece that the next row is in, and how many of its rows are taken.
    let (mut open, mut taken) = (pieces.next(), 0);
    let mut groups = Vec::with_capacity(count);
    let mut given = 0;
    for partition in 1..=count {
        let until = total / count * partition + total % count * partition / count;
        let mut parts: Vec<Part<'_>> = Vec::new();
        while let Some(piece) = open
            && given < until
        {
            let rows = (piece.rows - taken).min(until - given);
            match parts.last_mut().filter(|part| part.continues_with(piece)) {
                Some(part) => part.add(piece, taken..taken + rows),
                None => parts.push(Part::new(piece, taken..taken + rows)),
            }
            given += rows;
            taken += rows;
            if taken == piece.rows {
                (open, taken) = (pieces.next(), 0);
            }
        }
        groups.push(FileGroup::new(parts.into_iter().map(Part::file).collect()));
    }
    groups
}

/// The rows of one file that a partition reads.
struct Part<'a> {
    file: &'a PartitionedFile,
    last: usize,
    access: Vec<RowGroupAccess>,
}

impl<'a> Part<'a> {
    fn new(piece: &Piece<'a>, rows: Range<usize>) -> Self {
        let access = vec![RowGroupAccess::Skip; piece.footer.num_row_groups()];
        let mut part = Self { file: piece.file, last: piece.row_group, access };
        part.add(piece, rows);
        part
    }

    /// Whether a row group comes after what is there, in the same file.
    fn continues_with(&self, piece: &Piece<'_>) -> bool {
        self.file.object_meta.location == piece.file.object_meta.location && self.last < piece.row_group
    }

    fn add(&mut self, piece: &Piece<'_>, rows: Range<usize>) {
        let access = if rows.len() == piece.rows {
            RowGroupAccess::Scan
        } else {
            let selectors = [
                RowSelector::skip(rows.start),
                RowSelector::select(rows.len()),
                RowSelector::skip(piece.rows - rows.end),
            ];
            let selectors: Vec<RowSelector> = selectors.into_iter().filter(|s| s.row_count > 0).collect();
            RowGroupAccess::Selection(RowSelection::from(selectors))
        };
        if let Some(place) = self.access.get_mut(piece.row_group) {
            *place = access;
        }
        self.last = piece.row_group;
    }

    fn file(self) -> PartitionedFile {
        let mut file = self.file.clone();
        file.range = None;
        file.with_extension(ParquetAccessPlan::new(self.access))
    }
}
