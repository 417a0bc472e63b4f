//! SELECT … FROM … WHERE … GROUP BY … HAVING … WINDOW.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use firesteel_error::Result;
use firesteel_plan::{Aggregate, Relation, RelationKind};

impl Parser<'_> {
    /// A SELECT with its clauses; `from` is there where FROM came first.
    pub(super) fn select(&mut self, from: Option<Relation>) -> Result<Relation> {
        let start = self.mark();
        if self.at_transform() {
            return self.transform(from);
        }
        self.expect(K::SELECT)?;
        let hints = self.hints()?;
        let has_quantifier = self.is_any(&[K::DISTINCT, K::ALL])
            && self.ahead_begins_expression(1)
            && !self.ahead_is(1, K::FROM)
            && !self.ahead_is(1, K::AS);
        let is_distinct = has_quantifier && self.is(K::DISTINCT);
        if has_quantifier {
            self.advance();
        }
        let expressions = self.named_expressions()?;
        let input = match from {
            Some(from) => from,
            None if self.is(K::FROM) => self.take_from_clause()?,
            None => Relation::new(RelationKind::OneRow).at(self.origin(start)),
        };
        let input = self.filtered(start, input)?;
        let group = self.mark();
        let mut selected = match self.group_by()? {
            Some(grouping) => {
                let aggregate = Aggregate { input, grouping, aggregates: expressions, is_sql: true };
                self.relation_from(group, RelationKind::Aggregate(aggregate))
            }
            None => self.relation_from(start, RelationKind::Project { input, expressions }),
        };
        self.deepen()?;
        if self.is(K::HAVING) && self.ahead_begins_expression(1) {
            self.advance();
            let condition = self.expression()?;
            selected = self.relation_from(start, RelationKind::Having { input: selected, condition });
        }
        if self.is(K::QUALIFY) && self.ahead_begins_expression(1) {
            self.advance();
            let condition = self.expression()?;
            selected = self.relation_from(start, RelationKind::Qualify { input: selected, condition });
        }
        if is_distinct {
            let kind = RelationKind::Deduplicate { input: selected, columns: None, within_watermark: false };
            selected = self.relation_from(start, kind);
        }
        if let Some(windows) = self.window_clause()? {
            selected = self.relation_from(start, RelationKind::WithWindows { input: selected, windows });
        }
        for (name, parameters) in hints.into_iter().rev() {
            self.deepen()?;
            selected = self.relation_from(start, RelationKind::Hint { input: selected, name, parameters });
        }
        Ok(selected)
    }

    /// LATERAL VIEW and WHERE over an input.
    pub(super) fn filtered(&mut self, start: Mark, input: Relation) -> Result<Relation> {
        let mut input = self.lateral_views(input)?;
        if self.is(K::WHERE) && self.ahead_begins_expression(1) {
            self.advance();
            let condition = self.expression()?;
            self.deepen()?;
            input = self.relation_from(start, RelationKind::Filter { input, condition });
        }
        Ok(input)
    }
}
