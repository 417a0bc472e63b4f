//! `PARTITION (…)`.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Expr, ExprKind, PartitionSpec};

impl Parser<'_> {
    /// `PARTITION (column [= value], …)`, if it is there.
    pub(super) fn partition(&mut self) -> Result<Option<PartitionSpec>> {
        if !(self.is(K::PARTITION) && self.ahead_is_mark(1, "(")) {
            return Ok(None);
        }
        let start = self.mark();
        self.advance();
        let partition: PartitionSpec = self.in_parentheses(|parser| {
            let column = parser.object_identifier()?;
            if !(parser.take_mark("=") || parser.take_mark("==")) {
                return Ok((column, None));
            }
            let mark = parser.mark();
            let is_typed = parser.ahead_is_text(1);
            let value = parser.value()?;
            if is_default(&value) {
                return Err(parser.error(mark, "REF_DEFAULT_VALUE_IS_NOT_ALLOWED_IN_PARTITION"));
            }
            if parser.starts_operation(mark) {
                return Err(parser.unexpected_at(mark));
            }
            let is_typed_literal = is_typed && parser.mark() == mark + 2;
            if !is_typed_literal && !is_constant(&value.kind) {
                return Err(parser.unexpected_at(mark + 1));
            }
            Ok((column, Some(value)))
        })?;
        for (index, (column, _)) in partition.iter().enumerate() {
            if partition.iter().take(index).any(|(other, _)| other.eq_ignore_ascii_case(column)) {
                return Err(self.error(start, "DUPLICATE_KEY").with("keyColumn", format!("`{column}`")));
            }
        }
        Ok(Some(partition))
    }

    /// Whether a value begins as no constant does.
    fn starts_operation(&self, mark: Mark) -> bool {
        matches!(self.token_text(mark).as_str(), "(" | "+" | "*" | "~" | "!")
    }

    /// The same where every column needs a value.
    pub(super) fn full_partition(&mut self) -> Result<Option<PartitionSpec>> {
        let partition = self.partition()?;
        if let Some((column, _)) = partition.iter().flatten().find(|(_, value)| value.is_none()) {
            let quoted = format!("`{column}`");
            self.defer_whole(SparkError::new("INVALID_SQL_SYNTAX.EMPTY_PARTITION_VALUE").with("partKey", quoted));
        }
        Ok(partition)
    }
}

/// True for what stands for itself: a literal or a parameter.
fn is_constant(kind: &ExprKind) -> bool {
    !matches!(
        kind,
        ExprKind::Attribute { .. }
            | ExprKind::Cast { .. }
            | ExprKind::ExtractValue { .. }
            | ExprKind::Function(_)
            | ExprKind::Star { .. }
            | ExprKind::Subquery { .. }
            | ExprKind::Window { .. }
    )
}

fn is_default(value: &Expr) -> bool {
    matches!(&value.kind, ExprKind::Attribute { name, .. } if matches!(name.as_slice(), [word] if word.eq_ignore_ascii_case("default")))
}
