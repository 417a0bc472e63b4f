//! Which relations are analysed in no time.

use crate::{Relation, RelationKind};

/// Relations that a light one consists of at most.
const MOST: usize = 256;
/// Relations that a self-contained one consists of at most.
const MOST_CONTAINED: usize = 16 * MOST;
/// Bytes of rows, or of text, that a light relation brings along at most.
const MOST_BYTES: usize = 64 * 1024;

impl Relation {
    /// True where analysis only computes, and not for long: no names to look up in catalogs, no files to open,
    /// nothing to run.
    pub fn is_light(&self) -> bool {
        self.is_self_contained_within(MOST)
    }

    /// True where all that an analysis needs stands in the relation itself, and that is not much.
    pub fn is_self_contained(&self) -> bool {
        self.is_self_contained_within(MOST_CONTAINED)
    }

    fn is_self_contained_within(&self, most: usize) -> bool {
        let mut left = vec![self];
        let mut seen = 0;
        while let Some(relation) = left.pop() {
            seen += 1;
            if seen > most {
                return false;
            }
            match relation.kind() {
                RelationKind::OneRow | RelationKind::Range { .. } => {}
                RelationKind::Local(local) => {
                    if local.data.iter().map(bytes::Bytes::len).sum::<usize>() > MOST_BYTES {
                        return false;
                    }
                }
                RelationKind::Sql { text, .. } => {
                    if names_tables(text) {
                        return false;
                    }
                }
                RelationKind::Project { input, .. }
                | RelationKind::Filter { input, .. }
                | RelationKind::Sort { input, .. }
                | RelationKind::Limit { input, .. }
                | RelationKind::Offset { input, .. }
                | RelationKind::Deduplicate { input, .. }
                | RelationKind::SubqueryAlias { input, .. }
                | RelationKind::ToDataFrame { input, .. }
                | RelationKind::WithColumns { input, .. }
                | RelationKind::WithColumnsRenamed { input, .. }
                | RelationKind::Drop { input, .. } => left.push(input),
                RelationKind::Aggregate(aggregate) => left.push(&aggregate.input),
                RelationKind::Join(join) => left.extend([&join.left, &join.right]),
                RelationKind::SetOperation(operation) => left.extend([&operation.left, &operation.right]),
                _ => return false,
            }
        }
        true
    }
}

/// Whether a text may name tables, or is too long to be parsed in no time.
fn names_tables(text: &str) -> bool {
    let has = |word: &str| text.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()));
    text.len() > MOST_BYTES / 16 || has("from") || has("table")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sql(text: &str) -> Relation {
        let (named_arguments, position_arguments) = (Vec::new(), Vec::new());
        Relation::new(RelationKind::Sql { text: text.into(), named_arguments, position_arguments })
    }

    #[test]
    fn what_reads_tables_is_not_light() {
        assert!(sql("SELECT 1").is_light());
        assert!(!sql("select * From t").is_light());
        assert!(!sql("TABLE t").aliased("a").is_light());
        let mut deep = Relation::new(RelationKind::OneRow);
        for _ in 0..MOST {
            assert!(deep.is_light());
            deep = deep.aliased("a");
        }
        assert!(!deep.is_light());
    }
}
