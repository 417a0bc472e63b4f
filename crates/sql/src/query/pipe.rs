//! Pipe syntax: `query |> operator |> operator …`.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use crate::query::relation::UNNAMED_SUBQUERY;
use crate::token::TokenKind;
use firesteel_error::Result;
use firesteel_plan::{
    Aggregate, Expr, ExprKind, Grouping, PipeClause, Relation, RelationKind, SetOperation, SetOperator,
};

impl Parser<'_> {
    /// One `|> operator` over an input.
    pub(super) fn pipe(&mut self, start: Mark, input: Relation) -> Result<Relation> {
        self.expect_mark("|>")?;
        match self.keyword() {
            Some(K::SELECT) => self.pipe_select(start, input),
            Some(K::EXTEND) => {
                self.advance();
                let mut expressions = vec![Expr::star().at(self.origin(self.mark().saturating_sub(1)))];
                expressions.extend(self.named_expressions()?);
                let extended = self.relation_from(start, RelationKind::Project { input, expressions });
                Ok(self.relation_from(start, RelationKind::Pipe { input: extended, clause: PipeClause::Extend }))
            }
            Some(K::SET) => self.pipe_set(start, input),
            Some(K::DROP) => {
                self.advance();
                let mark = self.mark();
                let names = self.comma_separated(Self::object_identifier)?;
                let except = names.into_iter().map(|name| vec![name]).collect();
                let star = Expr::new(ExprKind::Star { target: None, except, plan_id: None }).at(self.origin(mark));
                Ok(self.relation_from(start, RelationKind::Project { input, expressions: vec![star] }))
            }
            Some(K::AS) => {
                self.advance();
                let alias = self.object_identifier()?;
                let kind = RelationKind::SubqueryAlias { input, alias, qualifier: Vec::new(), columns: Vec::new() };
                Ok(self.relation_from(start, kind))
            }
            Some(K::WHERE) => {
                self.advance();
                let condition = self.expression()?;
                if self.window_clause()?.is_some() {
                    return Err(self.error(start, "NOT_ALLOWED_IN_PIPE_OPERATOR_WHERE.WINDOW_CLAUSE"));
                }
                let input = self.opaque(start, input);
                Ok(self.relation_from(start, RelationKind::Filter { input, condition }))
            }
            Some(K::AGGREGATE) => self.pipe_aggregate(start, input),
            Some(K::PIVOT | K::UNPIVOT) => self.pipe_pivot(start, input),
            Some(K::TABLESAMPLE) => self.sample(start, input),
            Some(K::UNION | K::EXCEPT | K::MINUS | K::INTERSECT) => self.pipe_set_operation(start, input),
            _ if self.at_join() => self.join(input),
            _ => self.pipe_organization(input),
        }
    }

    /// The input such that what it has left out is not seen any more.
    fn opaque(&self, start: Mark, input: Relation) -> Relation {
        if matches!(input.kind(), RelationKind::Table(_) | RelationKind::SubqueryAlias { .. }) {
            return input;
        }
        let alias = UNNAMED_SUBQUERY.to_string();
        let kind = RelationKind::SubqueryAlias { input, alias, qualifier: Vec::new(), columns: Vec::new() };
        self.relation_from(start, kind)
    }

    fn pipe_select(&mut self, start: Mark, input: Relation) -> Result<Relation> {
        let mark = self.mark();
        self.expect(K::SELECT)?;
        let hints = self.hints()?;
        let has_quantifier = self.is_any(&[K::DISTINCT, K::ALL]) && self.ahead_begins_expression(1);
        let is_distinct = has_quantifier && self.is(K::DISTINCT);
        if has_quantifier {
            self.advance();
        }
        let expressions = self.named_expressions()?;
        let mut selected = self.relation_from(start, RelationKind::Project { input, expressions });
        selected = self.relation_from(start, RelationKind::Pipe { input: selected, clause: PipeClause::Select });
        if is_distinct {
            let kind = RelationKind::Deduplicate { input: selected, columns: None, within_watermark: false };
            selected = self.relation_from(start, kind);
        }
        if let Some(windows) = self.window_clause()? {
            selected = self.relation_from(start, RelationKind::WithWindows { input: selected, windows });
        }
        for (name, parameters) in hints.into_iter().rev() {
            self.deepen()?;
            selected = self.relation_from(mark, RelationKind::Hint { input: selected, name, parameters });
        }
        Ok(selected)
    }

    /// `SET column = value, …`: each assignment sees those before it.
    fn pipe_set(&mut self, start: Mark, input: Relation) -> Result<Relation> {
        self.advance();
        let mut result = input;
        loop {
            let mark = self.mark();
            let name = self.qualified_name()?;
            if name.len() > 1 {
                let message = "SQL pipe syntax |> SET operator with multi-part assignment key (only single-part keys are allowed)";
                return Err(self.not_allowed(mark, message));
            }
            if !self.take_mark("==") {
                self.expect_mark("=")?;
            }
            let value = self.expression()?;
            let names = name;
            let alias =
                Expr::new(ExprKind::Alias { child: Box::new(value), names, metadata: None }).at(self.origin(mark));
            self.deepen()?;
            result = self.relation_from(start, RelationKind::WithColumns { input: result, aliases: vec![alias] });
            result = self.relation_from(start, RelationKind::Pipe { input: result, clause: PipeClause::Set });
            if !self.take_mark(",") {
                return Ok(result);
            }
        }
    }

    /// `AGGREGATE [aggregates] [GROUP BY expressions]`; grouping expressions come first in the output.
    fn pipe_aggregate(&mut self, start: Mark, input: Relation) -> Result<Relation> {
        self.expect(K::AGGREGATE)?;
        let has_group = |parser: &Self| parser.are(&[K::GROUP, K::BY]);
        let is_end = matches!(self.peek().kind, TokenKind::End | TokenKind::Mark(")" | ";" | "|>"));
        let aggregates = if has_group(self) || is_end { Vec::new() } else { self.named_expressions()? };
        let unsupported = |parser: &Self, case: &str| {
            parser.error(start, "UNSUPPORTED_FEATURE.PIPE_OPERATOR_AGGREGATE_UNSUPPORTED_CASE").with("case", case)
        };
        if let Some(case) = aggregates.iter().find_map(unsupported_function) {
            return Err(unsupported(self, case));
        }
        let mut grouping = Vec::new();
        if has_group(self) {
            self.advance();
            self.advance();
            if self.is(K::ALL) && !self.ahead_is_mark(1, ",") {
                self.advance();
                return Err(unsupported(self, "GROUP BY ALL"));
            }
            for (word, case) in [(K::ROLLUP, "GROUP BY ROLLUP"), (K::CUBE, "GROUP BY CUBE")] {
                if self.is(word) && self.ahead_is_mark(1, "(") {
                    return Err(unsupported(self, case));
                }
            }
            if self.are(&[K::GROUPING, K::SETS]) && self.ahead_is_mark(2, "(") {
                return Err(unsupported(self, "GROUPING SETS"));
            }
            grouping = self.comma_separated(|parser| {
                let expression = parser.expression()?;
                let is_sets = parser.are(&[K::GROUPING, K::SETS]) || parser.is(K::WITH);
                if is_sets { Ok(expression) } else { parser.aliased(expression) }
            })?;
            let case = if self.are(&[K::GROUPING, K::SETS]) {
                Some("GROUPING SETS")
            } else if self.are(&[K::WITH, K::ROLLUP]) {
                Some("GROUP BY ROLLUP")
            } else if self.are(&[K::WITH, K::CUBE]) {
                Some("GROUP BY CUBE")
            } else {
                None
            };
            if let Some(case) = case {
                return Err(unsupported(self, case));
            }
        }
        if aggregates.is_empty() && grouping.is_empty() {
            let message = "The AGGREGATE clause requires a list of aggregate expressions or a list of grouping expressions, or both";
            return Err(self.not_allowed(start, message));
        }
        let aggregate = Aggregate { input, grouping: Grouping::By(grouping), aggregates, is_sql: false };
        let input = self.relation_from(start, RelationKind::Aggregate(aggregate));
        Ok(self.relation_from(start, RelationKind::Pipe { input, clause: PipeClause::Aggregate }))
    }

    fn pipe_pivot(&mut self, start: Mark, input: Relation) -> Result<Relation> {
        let is_pivot = self.is(K::PIVOT);
        let result = if is_pivot { self.pivot(input)? } else { self.unpivot(input)? };
        let mixes = if is_pivot { self.at_unpivot() } else { self.at_pivot() };
        if mixes {
            return Err(self.error(start, "NOT_ALLOWED_IN_FROM.UNPIVOT_WITH_PIVOT"));
        }
        Ok(result)
    }

    fn pipe_set_operation(&mut self, start: Mark, left: Relation) -> Result<Relation> {
        let operator = match self.keyword() {
            Some(K::UNION) => SetOperator::Union,
            Some(K::INTERSECT) => SetOperator::Intersect,
            _ => SetOperator::Except,
        };
        self.advance();
        let is_all = self.take(K::ALL);
        if !is_all {
            self.take(K::DISTINCT);
        }
        let right = self.query_primary()?;
        let kind = SetOperation { left, right, operator, is_all, by_name: false, allow_missing_columns: false };
        Ok(self.relation_from(start, RelationKind::SetOperation(kind)))
    }

    /// ORDER BY and its kin: one of them at a time, save LIMIT with OFFSET.
    fn pipe_organization(&mut self, input: Relation) -> Result<Relation> {
        let mark = self.mark();
        let clauses = self.clauses()?;
        if self.mark() == mark {
            // No operator at all changes nothing.
            let is_end = matches!(self.peek().kind, TokenKind::End | TokenKind::Mark("|>" | ")" | ";"));
            return if is_end { Ok(input) } else { Err(self.unexpected()) };
        }
        if clauses.windows.is_some() {
            return Err(self
                .error(mark, "UNSUPPORTED_FEATURE.CLAUSE_WITH_PIPE_OPERATORS")
                .with("clauses", "the WINDOW clause"));
        }
        let present = [
            ("ORDER BY", clauses.order_by.is_some()),
            ("CLUSTER BY", clauses.cluster_by.is_some()),
            ("DISTRIBUTE BY", clauses.distribute_by.is_some()),
            ("SORT BY", clauses.sort_by.is_some()),
            ("LIMIT", clauses.has_limit),
            ("OFFSET", clauses.offset.is_some()),
        ];
        let names: Vec<&str> = present.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| *name).collect();
        match names.as_slice() {
            [_] | ["LIMIT", "OFFSET"] | ["DISTRIBUTE BY", "SORT BY"] => self.organize(mark, input, clauses),
            [first, second, ..] if matches!(*second, "LIMIT" | "OFFSET") => Err(self
                .error(mark, "MULTIPLE_QUERY_RESULT_CLAUSES_WITH_PIPE_OPERATORS")
                .with("clause1", *first)
                .with("clause2", *second)),
            _ => Err(self.error(mark, "UNSUPPORTED_FEATURE.COMBINATION_QUERY_RESULT_CLAUSES")),
        }
    }
}

/// What of an aggregate expression AGGREGATE does not take.
fn unsupported_function(expression: &Expr) -> Option<&'static str> {
    match &expression.kind {
        ExprKind::Alias { child, .. } | ExprKind::Cast { child, .. } => unsupported_function(child),
        ExprKind::Window { .. } => Some("window functions"),
        ExprKind::Function(call) => match call.name.last().map(|name| name.to_ascii_lowercase()).as_deref() {
            Some("grouping") => Some("GROUPING"),
            Some("grouping_id") => Some("GROUPING_ID"),
            _ => call.arguments.iter().find_map(unsupported_function),
        },
        _ => None,
    }
}
