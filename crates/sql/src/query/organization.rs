//! ORDER BY, SORT BY, CLUSTER BY, DISTRIBUTE BY, WINDOW, LIMIT and OFFSET after a query.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use firesteel_error::Result;
use firesteel_plan::{Expr, Relation, RelationKind, SortKeys, SortOrder};

/// The clauses as they were read.
#[derive(Default)]
pub(super) struct Clauses {
    pub order_by: Option<SortKeys>,
    pub cluster_by: Option<Vec<Expr>>,
    pub distribute_by: Option<Vec<Expr>>,
    pub sort_by: Option<SortKeys>,
    pub windows: Option<super::windows::Windows>,
    pub has_limit: bool,
    pub limit: Option<Expr>,
    pub offset: Option<Expr>,
}

impl Parser<'_> {
    /// The query with what its last clauses do to it.
    pub(super) fn organized(&mut self, query: Relation) -> Result<Relation> {
        let first = self.mark();
        let clauses = self.clauses()?;
        if self.mark() == first {
            return Ok(query);
        }
        let sorts = usize::from(clauses.order_by.is_some())
            + usize::from(clauses.cluster_by.is_some())
            + usize::from(clauses.sort_by.is_some() || clauses.distribute_by.is_some());
        if sorts > 1 {
            return Err(self.error(first, "UNSUPPORTED_FEATURE.COMBINATION_QUERY_RESULT_CLAUSES"));
        }
        self.organize(first, query, clauses)
    }

    /// Reads the clauses that are there.
    pub(super) fn clauses(&mut self) -> Result<Clauses> {
        let mut clauses = Clauses::default();
        if self.take_all(&[K::ORDER, K::BY]) {
            clauses.order_by = Some(self.sort_keys()?);
        }
        if self.take_all(&[K::CLUSTER, K::BY]) {
            clauses.cluster_by = Some(self.comma_separated(Self::expression)?);
        }
        if self.take_all(&[K::DISTRIBUTE, K::BY]) {
            clauses.distribute_by = Some(self.comma_separated(Self::expression)?);
        }
        if self.take_all(&[K::SORT, K::BY]) {
            clauses.sort_by = Some(self.sort_keys()?);
        }
        clauses.windows = self.window_clause()?;
        if self.is(K::LIMIT) && self.ahead_begins_expression(1) {
            self.advance();
            clauses.has_limit = true;
            if !self.take(K::ALL) {
                clauses.limit = Some(self.expression()?);
            }
        }
        if self.is(K::OFFSET) && self.ahead_begins_expression(1) {
            self.advance();
            clauses.offset = Some(self.expression()?);
        }
        Ok(clauses)
    }

    /// The query under its clauses, which begin at `start`.
    pub(super) fn organize(&mut self, start: Mark, mut query: Relation, clauses: Clauses) -> Result<Relation> {
        let wrap = |parser: &mut Self, kind: RelationKind| -> Result<Relation> {
            parser.deepen()?;
            Ok(parser.relation_from(start, kind))
        };
        if let Some(order) = clauses.order_by {
            query = wrap(self, RelationKind::Sort { input: query, order, is_global: true })?;
        }
        if let Some(expressions) = clauses.cluster_by {
            let order = SortKeys::By(expressions.iter().cloned().map(SortOrder::ascending).collect());
            let spread = RelationKind::RepartitionByExpression { input: query, expressions, num_partitions: None };
            query = wrap(self, spread)?;
            query = wrap(self, RelationKind::Sort { input: query, order, is_global: false })?;
        }
        if let Some(expressions) = clauses.distribute_by {
            let spread = RelationKind::RepartitionByExpression { input: query, expressions, num_partitions: None };
            query = wrap(self, spread)?;
        }
        if let Some(order) = clauses.sort_by {
            query = wrap(self, RelationKind::Sort { input: query, order, is_global: false })?;
        }
        if let Some(windows) = clauses.windows {
            query = wrap(self, RelationKind::WithWindows { input: query, windows })?;
        }
        if let Some(offset) = clauses.offset {
            query = wrap(self, RelationKind::Offset { input: query, offset })?;
        }
        match clauses.limit {
            Some(limit) => wrap(self, RelationKind::Limit { input: query, limit }),
            None if clauses.has_limit => wrap(self, RelationKind::LimitAll { input: query }),
            None => Ok(query),
        }
    }

    /// `a, b DESC`, or `ALL`.
    fn sort_keys(&mut self) -> Result<SortKeys> {
        let is_all = self.is(K::ALL)
            && match self.ahead(1).kind {
                crate::token::TokenKind::Mark(mark) => matches!(mark, ")" | ";" | "|>"),
                _ => true,
            };
        if is_all {
            self.advance();
            let (ascending, nulls_first) = self.sort_direction()?;
            return Ok(SortKeys::All { ascending, nulls_first });
        }
        self.comma_separated(Self::sort_order).map(SortKeys::By)
    }
}
