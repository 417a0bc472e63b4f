//! MERGE INTO.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use crate::query::{With, or_default};
use firesteel_error::Result;
use firesteel_plan::{Expr, Merge, MergeAction, MergeActionKind, Relation, Statement};

/// Which rows a WHEN clause is about.
#[derive(Clone, Copy, PartialEq)]
enum Rows {
    Matched,
    NotMatched,
    NotMatchedBySource,
}

impl Parser<'_> {
    /// `MERGE [WITH SCHEMA EVOLUTION] INTO target USING source ON condition WHEN …`.
    pub(super) fn merge(&mut self, with: Option<With>) -> Result<Statement> {
        let start = self.mark();
        self.expect(K::MERGE)?;
        let with_schema_evolution = self.take_schema_evolution()?;
        self.expect(K::INTO)?;
        let target = self.table_name()?;
        let target_alias = if self.is(K::USING) { None } else { self.simple_alias("MERGE")? };
        self.expect(K::USING)?;
        let mark = self.mark();
        let source = self.merge_source()?;
        let source = match with {
            Some(with) => self.within(mark, with, source)?,
            None => source,
        };
        self.expect(K::ON)?;
        let condition = self.expression()?;
        let mut merge = Merge {
            target,
            target_alias,
            source,
            condition,
            matched: Vec::new(),
            not_matched: Vec::new(),
            not_matched_by_source: Vec::new(),
            with_schema_evolution,
        };
        while self.take(K::WHEN) {
            self.when_clause(&mut merge)?;
        }
        if merge.matched.is_empty() && merge.not_matched.is_empty() && merge.not_matched_by_source.is_empty() {
            return Err(self.error(start, "MERGE_WITHOUT_WHEN"));
        }
        let checks = [
            (&merge.matched, "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION"),
            (&merge.not_matched, "NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION"),
            (&merge.not_matched_by_source, "NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION"),
        ];
        for (actions, error) in checks {
            if actions.iter().rev().skip(1).any(|action| action.condition.is_none()) {
                return Err(self.error(start, error));
            }
        }
        Ok(Statement::Merge(Box::new(merge)))
    }

    /// A table, or a query in parentheses, with an alias.
    fn merge_source(&mut self) -> Result<Relation> {
        self.relation_primary(false)
    }

    fn when_clause(&mut self, merge: &mut Merge) -> Result<()> {
        let is_not = self.take(K::NOT);
        self.expect(K::MATCHED)?;
        let rows = if !is_not {
            Rows::Matched
        } else if self.take(K::BY) {
            match self.take_any(&[K::SOURCE, K::TARGET]) {
                Some(K::SOURCE) => Rows::NotMatchedBySource,
                Some(_) => Rows::NotMatched,
                None => return Err(self.unexpected()),
            }
        } else {
            Rows::NotMatched
        };
        let condition = if self.take(K::AND) { Some(self.expression()?) } else { None };
        self.expect(K::THEN)?;
        let kind = if rows == Rows::NotMatched { self.merge_insert()? } else { self.merge_change(rows)? };
        let action = MergeAction { condition, kind };
        match rows {
            Rows::Matched => merge.matched.push(action),
            Rows::NotMatched => merge.not_matched.push(action),
            Rows::NotMatchedBySource => merge.not_matched_by_source.push(action),
        }
        Ok(())
    }

    /// `DELETE`, `UPDATE SET *`, `UPDATE SET column = value, …`.
    fn merge_change(&mut self, rows: Rows) -> Result<MergeActionKind> {
        if self.take(K::DELETE) {
            return Ok(MergeActionKind::Delete);
        }
        self.expect_all(&[K::UPDATE, K::SET])?;
        if rows == Rows::Matched && self.take_mark("*") {
            return Ok(MergeActionKind::UpdateAll);
        }
        self.comma_separated(Self::assignment).map(MergeActionKind::Update)
    }

    /// `INSERT *`, `INSERT (column, …) VALUES (value, …)`.
    fn merge_insert(&mut self) -> Result<MergeActionKind> {
        let start = self.mark();
        self.expect(K::INSERT)?;
        if self.take_mark("*") {
            return Ok(MergeActionKind::InsertAll);
        }
        let columns = self.in_parentheses(|parser| {
            let mark = parser.mark();
            Ok(Expr::attribute(parser.qualified_name()?).at(parser.origin(mark)))
        })?;
        self.expect(K::VALUES)?;
        let values = self.in_parentheses(|parser| Ok(or_default(parser.expression()?)))?;
        if columns.len() != values.len() {
            return Err(self
                .error(start, "MERGE_INSERT_VALUE_COUNT_MISMATCH")
                .with("actualCount", values.len().to_string())
                .with("expectedCount", columns.len().to_string()));
        }
        Ok(MergeActionKind::Insert(columns.into_iter().zip(values).collect()))
    }
}
