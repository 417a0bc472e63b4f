//! Queries: WITH, set operations, ordering and limits around SELECT.

mod aggregation;
mod cte;
mod hint;
mod join;
mod lateral_view;
mod organization;
mod pipe;
mod pivot;
mod relation;
mod sample;
mod select;
mod table;
mod table_function;
mod transform;
mod values;
mod windows;

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use firesteel_error::Result;
use firesteel_plan::{Relation, RelationKind, SetOperation, SetOperator};

pub(crate) use aggregation::is_row;
pub(crate) use cte::With;
pub(crate) use values::or_default;

/// How tightly operators between queries bind.
const PIPE: u8 = 0;
const UNION: u8 = 1;
const INTERSECT: u8 = 2;

impl Parser<'_> {
    /// `[WITH …] term [ORDER BY …] [LIMIT …]`.
    pub fn query(&mut self) -> Result<Relation> {
        self.nested(|parser| {
            let start = parser.mark();
            if let Some(with) = parser.with_clause()? {
                let query = parser.query_body()?;
                return parser.within(start, with, query);
            }
            parser.query_body()
        })
    }

    /// A query without WITH.
    pub fn query_body(&mut self) -> Result<Relation> {
        let start = self.mark();
        let term = self.query_term(start, None, PIPE)?;
        self.organized(term)
    }

    /// What follows a query that stood in parentheses, which began at `start`.
    pub fn query_after(&mut self, query: Relation, start: Mark) -> Result<Relation> {
        let term = self.query_term(start, Some(query), PIPE)?;
        self.organized(term)
    }

    /// Whether what follows a query in parentheses makes it part of a larger one.
    pub fn at_query_continuation(&self) -> bool {
        if self.is_mark("|>") {
            return true;
        }
        match self.keyword() {
            Some(K::UNION | K::EXCEPT | K::MINUS | K::INTERSECT) => true,
            Some(K::ORDER | K::SORT | K::CLUSTER | K::DISTRIBUTE) => self.ahead_is(1, K::BY),
            Some(K::LIMIT | K::OFFSET) => self.ahead_begins_expression(1),
            Some(K::WINDOW) => self.ahead_is_name(1) && self.ahead_is(2, K::AS),
            _ => false,
        }
    }

    fn query_term(&mut self, start: Mark, left: Option<Relation>, precedence: u8) -> Result<Relation> {
        let mut left = match left {
            Some(left) => left,
            None => self.query_primary()?,
        };
        loop {
            if precedence == PIPE && self.is_mark("|>") {
                left = self.pipe(start, left)?;
            } else {
                let Some((operator, tightness)) = self.set_operator().filter(|(_, found)| *found >= precedence) else {
                    return Ok(left);
                };
                self.advance();
                let is_all = self.take(K::ALL);
                if !is_all {
                    self.take(K::DISTINCT);
                }
                let next = self.mark();
                let right = self.beside(|parser| parser.query_term(next, None, tightness + 1))?;
                let kind = SetOperation { left, right, operator, is_all, by_name: false, allow_missing_columns: false };
                left = self.relation_from(start, RelationKind::SetOperation(kind));
            }
            self.deepen()?;
        }
    }

    fn set_operator(&self) -> Option<(SetOperator, u8)> {
        let (operator, precedence) = match self.keyword()? {
            K::UNION => (SetOperator::Union, UNION),
            K::EXCEPT | K::MINUS => (SetOperator::Except, UNION),
            K::INTERSECT => (SetOperator::Intersect, INTERSECT),
            _ => return None,
        };
        Some((operator, if self.options.legacy_set_operation_precedence { UNION } else { precedence }))
    }

    fn query_primary(&mut self) -> Result<Relation> {
        match self.keyword() {
            Some(K::SELECT | K::MAP | K::REDUCE) => self.select(None),
            Some(K::FROM) => self.query_from_first(),
            Some(K::VALUES) => {
                let start = self.mark();
                let values = self.values()?;
                self.aliased_relation(start, values)
            }
            Some(K::TABLE) if self.ahead_is_name(1) => {
                self.advance();
                let start = self.mark();
                let table = self.plain_table()?;
                Ok(self.relation_from(start, table))
            }
            _ if self.take_mark("(") => {
                let query = self.query()?;
                self.expect_mark(")")?;
                Ok(query)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// A relation that stands from a mark to here.
    pub fn relation_from(&self, start: Mark, kind: RelationKind) -> Relation {
        Relation::new(kind).at(self.origin(start))
    }

    /// `FROM … SELECT … [SELECT …]`; the results of several are put together. `FROM t` alone is the table.
    fn query_from_first(&mut self) -> Result<Relation> {
        let start = self.mark();
        let from = self.take_from_clause()?;
        if !self.is_any(&[K::SELECT, K::MAP, K::REDUCE]) {
            return Ok(from);
        }
        self.selects_from(start, from)
    }

    /// `SELECT … [SELECT …]` after FROM.
    fn selects_from(&mut self, start: Mark, from: Relation) -> Result<Relation> {
        let mut result = None;
        while self.is_any(&[K::SELECT, K::MAP, K::REDUCE]) {
            let selected = self.select_from(from.clone())?;
            result = Some(match result {
                Some(left) => {
                    self.deepen()?;
                    let kind = SetOperation {
                        left,
                        right: selected,
                        operator: SetOperator::Union,
                        is_all: true,
                        by_name: false,
                        allow_missing_columns: false,
                    };
                    self.relation_from(start, RelationKind::SetOperation(kind))
                }
                None => selected,
            });
        }
        result.ok_or_else(|| self.unexpected())
    }

    /// One SELECT with its clauses over what FROM gave.
    pub fn select_from(&mut self, from: Relation) -> Result<Relation> {
        let selected = self.select(Some(from))?;
        self.organized(selected)
    }
}
