//! FROM and its joins.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use firesteel_error::Result;
use firesteel_plan::{Join, JoinCondition, JoinType, Relation, RelationKind};

impl Parser<'_> {
    /// `FROM relation, … [LATERAL VIEW …] [PIVOT … | UNPIVOT …]`.
    pub(crate) fn take_from_clause(&mut self) -> Result<Relation> {
        let start = self.mark();
        self.expect(K::FROM)?;
        let mut from: Option<Relation> = None;
        loop {
            let is_lateral = self.take_lateral();
            let primary = self.beside(|parser| parser.relation_primary(is_lateral))?;
            let left = match from {
                Some(left) => {
                    self.deepen()?;
                    self.join_of(start, left, primary, (JoinType::Inner, JoinCondition::None), is_lateral)
                }
                // With nothing before it, LATERAL has nothing to refer to.
                None => primary,
            };
            let joined = self.extended(start, left)?;
            from = Some(joined);
            if !self.take_mark(",") {
                break;
            }
        }
        let from = from.ok_or_else(|| self.unexpected())?;
        let mark = self.mark();
        let has_view = self.at_lateral_view();
        let from = self.lateral_views(from)?;
        if has_view && self.at_pivot() {
            return Err(self.error(mark, "NOT_ALLOWED_IN_FROM.LATERAL_WITH_PIVOT"));
        }
        if has_view && self.at_unpivot() {
            return Err(self.error(mark, "NOT_ALLOWED_IN_FROM.LATERAL_WITH_UNPIVOT"));
        }
        Ok(from)
    }

    fn take_lateral(&mut self) -> bool {
        let is_lateral =
            self.is(K::LATERAL) && !self.ahead_is(1, K::VIEW) && (self.ahead_is_name(1) || self.ahead_is_mark(1, "("));
        if is_lateral {
            self.advance();
        }
        is_lateral
    }

    /// A relation with joins and pivots after it.
    pub(super) fn relation(&mut self) -> Result<Relation> {
        let start = self.mark();
        let is_lateral = self.take_lateral();
        let left = self.relation_primary(is_lateral)?;
        self.extended(start, left)
    }

    /// Joins and pivots after a relation.
    pub(super) fn extended(&mut self, start: Mark, mut left: Relation) -> Result<Relation> {
        loop {
            if self.at_join() {
                left = self.join(left)?;
            } else if self.at_pivot() {
                left = self.pivot(left)?;
                if self.at_unpivot() {
                    return Err(self.error(start, "NOT_ALLOWED_IN_FROM.UNPIVOT_WITH_PIVOT"));
                }
            } else if self.at_unpivot() {
                left = self.unpivot(left)?;
                if self.at_pivot() {
                    return Err(self.error(start, "NOT_ALLOWED_IN_FROM.UNPIVOT_WITH_PIVOT"));
                }
            } else {
                return Ok(left);
            }
            self.deepen()?;
        }
    }

    pub(super) fn join_of(
        &self,
        start: Mark,
        left: Relation,
        right: Relation,
        (join_type, condition): (JoinType, JoinCondition),
        is_lateral: bool,
    ) -> Relation {
        self.relation_from(start, RelationKind::Join(Join { left, right, join_type, condition, is_lateral }))
    }

    /// Whether a join's words are next.
    pub(super) fn at_join(&self) -> bool {
        let after = usize::from(self.is(K::NATURAL));
        [K::JOIN, K::INNER, K::CROSS, K::LEFT, K::RIGHT, K::FULL, K::SEMI, K::ANTI]
            .iter()
            .any(|word| self.ahead_is(after, *word))
            && self.join_words(after).is_some()
    }

    /// The join's type and the number of its words, if these end with JOIN.
    fn join_words(&self, from: usize) -> Option<(JoinType, usize)> {
        let outer = |count: usize| count + usize::from(self.ahead_is(count, K::OUTER));
        let next = from + 1;
        let (join_type, end) = match self.keyword_ahead(from)? {
            K::JOIN => (JoinType::Inner, from),
            K::INNER => (JoinType::Inner, next),
            K::CROSS => (JoinType::Cross, next),
            K::SEMI => (JoinType::LeftSemi, next),
            K::ANTI => (JoinType::LeftAnti, next),
            K::LEFT if self.ahead_is(next, K::SEMI) => (JoinType::LeftSemi, next + 1),
            K::LEFT if self.ahead_is(next, K::ANTI) => (JoinType::LeftAnti, next + 1),
            K::LEFT => (JoinType::LeftOuter, outer(next)),
            K::RIGHT => (JoinType::RightOuter, outer(next)),
            K::FULL => (JoinType::FullOuter, outer(next)),
            _ => return None,
        };
        self.ahead_is(end, K::JOIN).then_some((join_type, end + 1))
    }

    pub(super) fn join(&mut self, left: Relation) -> Result<Relation> {
        let words = self.mark();
        let is_natural = self.take(K::NATURAL);
        let Some((join_type, count)) = self.join_words(0) else { return Err(self.unexpected()) };
        for _ in 0..count {
            self.advance();
        }
        let is_lateral = self.take_lateral();
        let right = self.beside(|parser| parser.relation_primary(is_lateral))?;
        let condition = if is_natural {
            JoinCondition::Natural
        } else if self.take(K::ON) {
            JoinCondition::On(self.expression()?)
        } else if self.is(K::USING) && self.ahead_is_mark(1, "(") {
            self.advance();
            JoinCondition::Using(self.identifier_list()?)
        } else {
            JoinCondition::None
        };
        if is_natural && join_type == JoinType::Cross {
            return Err(self
                .error(words, "INCOMPATIBLE_JOIN_TYPES")
                .with("joinType1", "NATURAL")
                .with("joinType2", "CROSS"));
        }
        if is_lateral {
            if is_natural {
                return Err(self
                    .error(words, "INCOMPATIBLE_JOIN_TYPES")
                    .with("joinType1", "LATERAL")
                    .with("joinType2", "NATURAL"));
            }
            if !matches!(join_type, JoinType::Inner | JoinType::Cross | JoinType::LeftOuter) {
                return Err(self.error(words, "INVALID_LATERAL_JOIN_TYPE").with("joinType", lateral_name(join_type)));
            }
            if matches!(condition, JoinCondition::Using(_)) {
                return Err(self.error(words, "UNSUPPORTED_FEATURE.LATERAL_JOIN_USING"));
            }
        }
        if condition == JoinCondition::None && self.at_nearest() {
            return self.nearest(words);
        }
        Ok(self.join_of(words, left, right, (join_type, condition), is_lateral))
    }

    fn at_nearest(&self) -> bool {
        self.is_any(&[K::APPROX, K::EXACT]) && self.ahead_is(1, K::NEAREST)
    }

    /// `APPROX | EXACT NEAREST n BY DISTANCE | SIMILARITY expression`.
    fn nearest(&mut self, start: Mark) -> Result<Relation> {
        self.advance();
        self.advance();
        if self.integer_token().is_some() {
            self.advance();
        }
        self.expect(K::BY)?;
        if self.take_any(&[K::DISTANCE, K::SIMILARITY]).is_none() {
            return Err(self.unexpected());
        }
        self.expression()?;
        Ok(self.relation_from(start, RelationKind::Unsupported("NEAREST BY".to_string())))
    }
}

fn lateral_name(join_type: JoinType) -> &'static str {
    match join_type {
        JoinType::Inner => "INNER",
        JoinType::LeftOuter => "LEFT OUTER",
        JoinType::RightOuter => "RIGHT OUTER",
        JoinType::FullOuter => "FULL OUTER",
        JoinType::LeftSemi => "LEFT SEMI",
        JoinType::LeftAnti => "LEFT ANTI",
        JoinType::Cross => "CROSS",
    }
}
