//! Which parts of which files a partition reads: as Spark packs them.

use datafusion::datasource::listing::{FileRange, PartitionedFile};
use datafusion::datasource::physical_plan::FileGroup;
use firesteel_config::SqlConf;

/// Partitions per core above which neighbours are read as one: each needs buffers of its own.
const PER_CORE: usize = 2;

/// How files are cut and packed into partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packing {
    /// Bytes that a partition has at most.
    pub max_bytes: u64,
    /// What opening a file costs, in bytes.
    pub open_cost: u64,
    /// Partitions that are asked for at least; None: one per core.
    pub min_partitions: Option<u64>,
    /// Partitions that are asked for at most.
    pub max_partitions: Option<u64>,
}

/// A part of a file.
struct Slice {
    file: usize,
    start: u64,
    length: u64,
}

impl Packing {
    /// The packing that a session asks for.
    pub fn new(conf: &SqlConf) -> Self {
        let bytes = |n: i64| u64::try_from(n).unwrap_or(0);
        Self {
            max_bytes: bytes(conf.max_partition_bytes).max(1),
            open_cost: bytes(conf.open_cost_in_bytes),
            min_partitions: conf.min_partition_num.or(conf.leaf_node_parallelism).map(bytes),
            max_partitions: conf.max_partition_num.map(bytes),
        }
    }

    /// The partitions, each with its files in the order they are read. `with_range` makes the part of a file
    /// between two of its bytes; files that cannot be split are whole.
    pub fn pack(
        &self,
        files: &[PartitionedFile],
        is_splittable: bool,
        cores: usize,
        with_range: impl Fn(&PartitionedFile, u64, u64) -> PartitionedFile,
    ) -> Vec<FileGroup> {
        let cores = cores.max(1);
        let cost: u64 = files.iter().map(|f| f.object_meta.size + self.open_cost).sum();
        let share = cost / self.min_partitions.unwrap_or(cores as u64).max(1);
        let slice_bytes = self.max_bytes.min(share.max(self.open_cost)).max(1);
        let mut slices = Vec::new();
        for (file, part) in files.iter().enumerate() {
            let size = part.object_meta.size;
            let step = if is_splittable { slice_bytes } else { size.max(1) };
            let mut start = 0;
            loop {
                let length = step.min(size - start);
                slices.push(Slice { file, start, length });
                start += length;
                if start >= size {
                    break;
                }
            }
        }
        slices.sort_by_key(|s| std::cmp::Reverse(s.length));
        let mut partitions = self.fill(&slices, slice_bytes);
        if let Some(most) = self.max_partitions.filter(|most| partitions.len() as u64 > *most) {
            let cost: u64 = slices.iter().map(|s| s.length + self.open_cost).sum();
            partitions = self.fill(&slices, cost.div_ceil(most.max(1)));
        }
        if partitions.len() > cores * PER_CORE {
            partitions = self.joined(&slices, &partitions, cores);
        }
        partitions
            .into_iter()
            .map(|range| {
                let parts = slices[range].iter().filter_map(|slice| {
                    let file = files.get(slice.file)?;
                    let is_whole = slice.start == 0 && slice.length == file.object_meta.size;
                    Some(if is_whole {
                        file.clone()
                    } else {
                        with_range(file, slice.start, slice.start + slice.length)
                    })
                });
                FileGroup::new(parts.collect())
            })
            .collect()
    }

    /// Ranges of slices that are partitions: the next one starts where the current one would be too large.
    fn fill(&self, slices: &[Slice], most: u64) -> Vec<std::ops::Range<usize>> {
        let mut partitions = Vec::new();
        let (mut first, mut bytes) = (0, 0);
        for (i, slice) in slices.iter().enumerate() {
            if i > first && bytes + slice.length > most {
                partitions.push(first..i);
                (first, bytes) = (i, 0);
            }
            bytes += slice.length + self.open_cost;
        }
        if first < slices.len() {
            partitions.push(first..slices.len());
        }
        partitions
    }

    /// Neighbours together, so that about `count` partitions of the same size are left.
    fn joined(
        &self,
        slices: &[Slice],
        partitions: &[std::ops::Range<usize>],
        count: usize,
    ) -> Vec<std::ops::Range<usize>> {
        let cost = |range: &std::ops::Range<usize>| -> u64 {
            slices[range.clone()].iter().map(|s| s.length + self.open_cost).sum()
        };
        let total = partitions.iter().map(cost).sum::<u64>().max(1);
        let mut joined: Vec<std::ops::Range<usize>> = Vec::new();
        let (mut before, mut last) = (0, u64::MAX);
        for range in partitions {
            let own = cost(range);
            // Where the middle of the partition falls, of `count` equal shares.
            let share = (before + own / 2).saturating_mul(count as u64) / total;
            before += own;
            match joined.last_mut() {
                Some(open) if share == last => open.end = range.end,
                _ => joined.push(range.clone()),
            }
            last = share;
        }
        joined
    }
}

/// A file cut to some of its bytes.
pub(crate) fn ranged(file: &PartitionedFile, start: u64, end: u64) -> PartitionedFile {
    let at = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let mut part = file.clone();
    part.range = Some(FileRange { start: at(start), end: at(end) });
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;
    const PACKING: Packing =
        Packing { max_bytes: 128 * MB, open_cost: 4 * MB, min_partitions: None, max_partitions: None };

    /// Each partition's parts: file, start, end, in megabytes.
    fn packed(packing: Packing, sizes: &[u64], is_splittable: bool, cores: usize) -> Vec<Vec<(String, i64, i64)>> {
        let files: Vec<_> =
            sizes.iter().enumerate().map(|(i, size)| PartitionedFile::new(i.to_string(), size * MB)).collect();
        let part = |f: &PartitionedFile| {
            let (start, end) =
                f.range.as_ref().map_or((0, f.object_meta.size as i64), |range| (range.start, range.end));
            (f.object_meta.location.to_string(), start / MB as i64, end / MB as i64)
        };
        let groups = packing.pack(&files, is_splittable, cores, ranged);
        groups.iter().map(|group| group.iter().map(part).collect()).collect()
    }

    fn whole(file: usize, size: i64) -> (String, i64, i64) {
        (file.to_string(), 0, size)
    }

    #[test]
    fn large_files_come_first_and_equal_ones_keep_their_order() {
        let parts = packed(PACKING, &[1, 3, 2, 3], false, 1);
        assert_eq!(parts, [vec![whole(1, 3), whole(3, 3), whole(2, 2), whole(0, 1)]]);
    }

    #[test]
    fn a_partition_ends_before_the_file_that_does_not_fit() {
        assert_eq!(packed(PACKING, &[10, 10, 10], true, 2), [[whole(0, 10)], [whole(1, 10)], [whole(2, 10)]]);
        assert_eq!(packed(PACKING, &[0, 0, 0], true, 2), [vec![whole(0, 0), whole(1, 0)], vec![whole(2, 0)]]);
    }

    #[test]
    fn a_large_file_is_cut_where_its_format_can_be() {
        let part = |start, end| ("0".to_string(), start, end);
        assert_eq!(packed(PACKING, &[300], true, 2), [[part(0, 128)], [part(128, 256)], [part(256, 300)]]);
        assert_eq!(packed(PACKING, &[300], false, 2), [[part(0, 300)]]);
    }

    #[test]
    fn settings_bound_the_number_of_partitions() {
        let most = Packing { max_partitions: Some(1), ..PACKING };
        assert_eq!(packed(most, &[100, 100], false, 2), [[whole(0, 100), whole(1, 100)]]);
        let least = Packing { min_partitions: Some(4), ..PACKING };
        assert_eq!(packed(least, &[60], true, 4).len(), 4);
    }

    #[test]
    fn many_partitions_become_a_few_neighbours_per_core() {
        let parts = packed(PACKING, &[128; 10], true, 2);
        assert_eq!(parts.len(), 2);
        assert_eq!(parts.concat(), (0..10).map(|i| whole(i, 128)).collect::<Vec<_>>());
        assert_eq!(parts[0].len(), 5);
    }
}
