//! What joins stand between: tables, subqueries, values, table functions.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use crate::token::TokenKind;
use firesteel_error::Result;
use firesteel_plan::{Relation, RelationKind};

/// The alias of a subquery that was given none.
pub(super) const UNNAMED_SUBQUERY: &str = "__auto_generated_subquery_name";

/// What an opening parenthesis in FROM turned out to hold.
enum Content {
    Query(Relation),
    Relation(Relation),
}

impl Parser<'_> {
    /// A relation without joins.
    pub(crate) fn relation_primary(&mut self, is_lateral: bool) -> Result<Relation> {
        let start = self.mark();
        if self.is_mark("(") {
            return self.nested(|parser| parser.parenthesized_relation(start, is_lateral));
        }
        let is_call = self.at_table_function();
        if is_lateral && !is_call {
            return Err(self.lateral_error(start));
        }
        if is_call {
            let function = self.table_function()?;
            return self.aliased_relation(start, function);
        }
        if self.is(K::VALUES) && self.ahead_begins_expression(1) && !self.at_named_values() {
            let values = self.values()?;
            return self.aliased_relation(start, values);
        }
        let kind =
            if self.is(K::STREAM) && (self.ahead_is_alias(1) || self.ahead_is_mark(1, "(")) && !self.at_stream_name() {
                self.stream()?
            } else {
                self.table_reference()?
            };
        let table = self.relation_from(start, kind);
        self.sampled_table(start, table)
    }

    fn lateral_error(&mut self, start: Mark) -> firesteel_error::SparkError {
        match self.table_name() {
            Ok(_) => self.error(start, "INVALID_SQL_SYNTAX.LATERAL_WITHOUT_SUBQUERY_OR_TABLE_VALUED_FUNC"),
            Err(error) => error,
        }
    }

    /// Whether VALUES is a table's name with an alias.
    fn at_named_values(&self) -> bool {
        self.ahead_is(1, K::AS) || self.ahead_is_mark(1, ".")
    }

    /// Whether STREAM is a table's name before another clause.
    fn at_stream_name(&self) -> bool {
        self.ahead_is(1, K::AS)
            || self.ahead_is(1, K::WHERE)
            || self.ahead_is(1, K::GROUP)
            || self.ahead_is(1, K::ORDER)
    }

    /// Whether a name and a parenthesis are next, save `IDENTIFIER(…)`.
    fn at_table_function(&self) -> bool {
        if (self.is(K::IDENTIFIER) || self.is(K::STREAM)) && self.ahead_is_mark(1, "(") {
            return false;
        }
        if self.is(K::VALUES) && self.ahead_is_mark(1, "(") {
            return false;
        }
        let mut count = 0;
        while self.ahead_is_name(count) {
            if self.ahead_is_mark(count + 1, "(") {
                return true;
            }
            if !self.ahead_is_mark(count + 1, ".") {
                return false;
            }
            count += 2;
        }
        false
    }

    /// `(query) [alias]`, `(relation) [alias]`.
    fn parenthesized_relation(&mut self, start: Mark, is_lateral: bool) -> Result<Relation> {
        let content = self.relation_content()?;
        if is_lateral && matches!(content, Content::Relation(_)) {
            return Err(self.error(start, "INVALID_SQL_SYNTAX.LATERAL_WITHOUT_SUBQUERY_OR_TABLE_VALUED_FUNC"));
        }
        self.sampled_content(start, content)
    }

    /// Reads what stands in parentheses, and these.
    ///
    /// Like [`Parser::parenthesized_content`], it reads inner parentheses first.
    fn relation_content(&mut self) -> Result<Content> {
        self.nested(|parser| {
            parser.expect_mark("(")?;
            let start = parser.mark();
            let content = if parser.is_mark("(") {
                match parser.relation_content()? {
                    Content::Query(query) if parser.at_query_continuation() => {
                        Content::Query(parser.query_after(query, start)?)
                    }
                    Content::Query(query) if parser.is_mark(")") => Content::Query(query),
                    content => {
                        let relation = parser.sampled_content(start, content)?;
                        Content::Relation(parser.extended(start, relation)?)
                    }
                }
            } else if parser.ahead_begins_query(0) && !parser.is(K::VALUES) {
                Content::Query(parser.query()?)
            } else if parser.is(K::VALUES) && parser.ahead_begins_expression(1) {
                let values = parser.query()?;
                if parser.at_join() {
                    Content::Relation(parser.extended(start, values)?)
                } else {
                    Content::Query(values)
                }
            } else {
                Content::Relation(parser.relation()?)
            };
            parser.expect_mark(")")?;
            Ok(content)
        })
    }

    /// The sample and alias after a table, where the alias goes below the sample.
    fn sampled_table(&mut self, start: Mark, table: Relation) -> Result<Relation> {
        if !self.at_sample() {
            return self.aliased_relation(start, table);
        }
        let sampled = self.sample(start, table)?;
        let Some((alias, columns)) = self.table_alias()? else { return Ok(sampled) };
        let origin = self.origin(start);
        let below = |input: Relation| {
            let kind = RelationKind::SubqueryAlias { input, alias, qualifier: Vec::new(), columns };
            Relation::new(kind).at(origin)
        };
        let kind = match sampled.into_kind() {
            RelationKind::Limit { input, limit } => RelationKind::Limit { input: below(input), limit },
            RelationKind::Sample { input, lower, upper, with_replacement, seed, deterministic_order } => {
                RelationKind::Sample { input: below(input), lower, upper, with_replacement, seed, deterministic_order }
            }
            other => other,
        };
        Ok(self.relation_from(start, kind))
    }

    /// The sample and alias after what stood in parentheses; a query gets an alias in any case.
    fn sampled_content(&mut self, start: Mark, content: Content) -> Result<Relation> {
        let (relation, is_query) = match content {
            Content::Query(query) => (query, true),
            Content::Relation(relation) => (relation, false),
        };
        let relation = if self.at_sample() { self.sample(start, relation)? } else { relation };
        if is_query && !self.at_table_alias() {
            return Ok(relation.aliased(UNNAMED_SUBQUERY).at(self.origin(start)));
        }
        self.aliased_relation(start, relation)
    }

    /// Whether an alias is next.
    pub(super) fn at_table_alias(&self) -> bool {
        if self.is(K::AS) {
            // AS itself may be the alias.
            return self.ahead_is_alias(1) || matches!(self.ahead(1).kind, TokenKind::End | TokenKind::Mark("(" | ")"));
        }
        let is_clause = match self.peek().kind {
            TokenKind::Word(Some(word)) => self.begins_clause(word) || self.begins_statement_part(word),
            _ => false,
        };
        self.ahead_is_alias(0) && !is_clause
    }

    /// Words after a table that begin a part of a statement other than a query.
    fn begins_statement_part(&self, word: K) -> bool {
        match word {
            K::SET => self.ahead_is_name(1) && !self.ahead_is_mark(1, ")"),
            K::WHEN => self.ahead_is(1, K::MATCHED) || self.ahead_is(1, K::NOT),
            K::VERSION | K::TIMESTAMP | K::SYSTEM_TIME | K::SYSTEM_VERSION => {
                self.ahead_is(1, K::AS) && self.ahead_is(2, K::OF)
            }
            K::APPROX | K::EXACT => self.ahead_is(1, K::NEAREST),
            _ => false,
        }
    }

    /// `[AS] name [(column, …)]`, if it is there.
    pub(crate) fn table_alias(&mut self) -> Result<Option<(String, Vec<String>)>> {
        if !self.at_table_alias() {
            return Ok(None);
        }
        if self.ahead_is_alias(1) {
            self.take(K::AS);
        }
        let alias = self.object_identifier()?;
        let columns = if self.is_mark("(") { self.identifier_list()? } else { Vec::new() };
        Ok(Some((alias, columns)))
    }

    /// The relation under the alias that follows, if there is one.
    pub(super) fn aliased_relation(&mut self, start: Mark, relation: Relation) -> Result<Relation> {
        match self.table_alias()? {
            Some((alias, columns)) => {
                self.deepen()?;
                let kind = RelationKind::SubqueryAlias { input: relation, alias, qualifier: Vec::new(), columns };
                Ok(self.relation_from(start, kind))
            }
            None => Ok(relation),
        }
    }
}
