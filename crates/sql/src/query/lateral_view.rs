//! LATERAL VIEW.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::{Expr, ExprKind, FunctionCall, LateralView, Relation, RelationKind};

impl Parser<'_> {
    pub(super) fn at_lateral_view(&self) -> bool {
        self.are(&[K::LATERAL, K::VIEW])
    }

    /// Any number of `LATERAL VIEW [OUTER] generator(…) [alias] [AS column, …]`.
    pub(super) fn lateral_views(&mut self, mut input: Relation) -> Result<Relation> {
        while self.at_lateral_view() {
            let start = self.mark();
            self.advance();
            self.advance();
            let is_outer = self.take(K::OUTER);
            let mark = self.mark();
            let name = self.qualified_name()?;
            if !self.take_mark("(") {
                return Err(self.unexpected());
            }
            let arguments = self.arguments()?;
            let generator = Expr::new(ExprKind::Function(FunctionCall::new(name, arguments))).at(self.origin(mark));
            let has_alias = self.ahead_is_alias(0)
                && !self.is(K::AS)
                && !self.keyword().is_some_and(|word| self.begins_clause(word));
            let table_alias = if has_alias { Some(self.object_identifier()?) } else { None };
            let mut column_aliases = Vec::new();
            let has_columns = self.is(K::AS) && self.ahead_is_name(1);
            if has_columns {
                self.advance();
            }
            if has_columns || (table_alias.is_some() && self.ahead_is_name(0) && !self.at_clause()) {
                column_aliases = self.comma_separated(Self::object_identifier)?;
            }
            self.deepen()?;
            let view = LateralView { input, generator, is_outer, table_alias, column_aliases };
            input = self.relation_from(start, RelationKind::LateralView(view));
        }
        Ok(input)
    }

    /// Whether the next word cannot be a bare alias here.
    fn at_clause(&self) -> bool {
        self.keyword().is_some_and(|word| word.is_strict() || self.begins_clause(word))
    }
}
