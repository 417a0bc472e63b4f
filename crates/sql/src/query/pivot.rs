//! PIVOT and UNPIVOT.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::{Expr, Pivot, Relation, RelationKind, Unpivot};

impl Parser<'_> {
    pub(super) fn at_pivot(&self) -> bool {
        self.is(K::PIVOT) && self.ahead_is_mark(1, "(")
    }

    pub(super) fn at_unpivot(&self) -> bool {
        self.is(K::UNPIVOT) && (self.ahead_is_mark(1, "(") || self.ahead_is(2, K::NULLS))
    }

    /// `PIVOT (aggregates FOR column IN (value, …)) [AS alias]`.
    pub(super) fn pivot(&mut self, input: Relation) -> Result<Relation> {
        let start = self.mark();
        self.expect(K::PIVOT)?;
        self.expect_mark("(")?;
        let aggregates = self.named_expressions()?;
        self.expect(K::FOR)?;
        let columns =
            if self.is_mark("(") { self.in_parentheses(Self::pivot_column)? } else { vec![self.pivot_column()?] };
        self.expect(K::IN)?;
        let values = self.in_parentheses(Self::named_expression)?;
        self.expect_mark(")")?;
        let relation = self.relation_from(start, RelationKind::Pivot(Pivot { input, aggregates, columns, values }));
        self.aliased_relation(start, relation)
    }

    fn pivot_column(&mut self) -> Result<Expr> {
        let start = self.mark();
        let name = self.object_identifier()?;
        Ok(Expr::column(name).at(self.origin(start)))
    }

    /// `UNPIVOT [INCLUDE | EXCLUDE NULLS] (values FOR name IN (columns, …)) [AS alias]`.
    pub(super) fn unpivot(&mut self, input: Relation) -> Result<Relation> {
        let start = self.mark();
        self.expect(K::UNPIVOT)?;
        let mut include_nulls = false;
        if let Some(word) = self.take_any(&[K::INCLUDE, K::EXCLUDE]) {
            include_nulls = word == K::INCLUDE;
            self.expect(K::NULLS)?;
        }
        self.expect_mark("(")?;
        let is_multiple = self.is_mark("(");
        let value_columns = if is_multiple { self.identifier_list()? } else { vec![self.object_identifier()?] };
        self.expect(K::FOR)?;
        let variable_column = self.object_identifier()?;
        self.expect(K::IN)?;
        let values = self.in_parentheses(|parser| {
            let columns =
                if is_multiple { parser.in_parentheses(Self::unpivot_column)? } else { vec![parser.unpivot_column()?] };
            let has_alias = parser.take(K::AS) || parser.ahead_is_name(0);
            let alias = if has_alias { Some(parser.object_identifier()?) } else { None };
            Ok((columns, alias))
        })?;
        self.expect_mark(")")?;
        let values = Some(values);
        let unpivot = Unpivot { input, ids: None, values, variable_column, value_columns, include_nulls };
        let relation = self.relation_from(start, RelationKind::Unpivot(unpivot));
        self.aliased_relation(start, relation)
    }

    fn unpivot_column(&mut self) -> Result<Expr> {
        let start = self.mark();
        let name = self.qualified_name()?;
        Ok(Expr::attribute(name).at(self.origin(start)))
    }
}
