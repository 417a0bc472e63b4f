//! Windows: `OVER (…)` and the WINDOW clause's definitions.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::{
    Expr, ExprKind, FrameBound, FrameUnit, SortOrder, WindowFrame, WindowReference, WindowSpecification,
};

impl Parser<'_> {
    /// `w`, `(w)` or `(PARTITION BY … ORDER BY … ROWS …)`.
    pub fn window_reference(&mut self) -> Result<WindowReference> {
        if !self.take_mark("(") {
            return self.object_identifier().map(WindowReference::Named);
        }
        if self.ahead_is_name(0) && self.ahead_is_mark(1, ")") {
            let name = self.object_identifier()?;
            self.expect_mark(")")?;
            return Ok(WindowReference::Named(name));
        }
        let mut window = WindowSpecification::default();
        if self.take_all(&[K::CLUSTER, K::BY]) {
            window.partition_by = self.comma_separated(Self::expression)?;
        } else {
            if self.is_any(&[K::PARTITION, K::DISTRIBUTE]) && self.ahead_is(1, K::BY) {
                self.advance();
                self.advance();
                window.partition_by = self.comma_separated(Self::expression)?;
            }
            if self.is_any(&[K::ORDER, K::SORT]) && self.ahead_is(1, K::BY) {
                self.advance();
                self.advance();
                window.order_by = self.comma_separated(Self::sort_order)?;
            }
        }
        if let Some(unit) = self.take_any(&[K::ROWS, K::RANGE]) {
            window.frame = Some(self.frame(if unit == K::ROWS { FrameUnit::Rows } else { FrameUnit::Range })?);
        }
        self.expect_mark(")")?;
        Ok(WindowReference::Specification(window))
    }

    fn frame(&mut self, unit: FrameUnit) -> Result<WindowFrame> {
        if !self.take(K::BETWEEN) {
            let lower = self.bound()?;
            return Ok(WindowFrame { unit, lower, upper: FrameBound::CurrentRow });
        }
        let lower = self.bound()?;
        self.expect(K::AND)?;
        let upper = self.bound()?;
        Ok(WindowFrame { unit, lower, upper })
    }

    fn bound(&mut self) -> Result<FrameBound> {
        if self.take_all(&[K::UNBOUNDED, K::PRECEDING]) {
            return Ok(FrameBound::UnboundedPreceding);
        }
        if self.take_all(&[K::UNBOUNDED, K::FOLLOWING]) {
            return Ok(FrameBound::UnboundedFollowing);
        }
        if self.take_all(&[K::CURRENT, K::ROW]) {
            return Ok(FrameBound::CurrentRow);
        }
        let start = self.mark();
        let offset = self.expression()?;
        if !is_constant(&offset) {
            let message = "Frame bound value must be a literal.";
            let error = self.error(start, "_LEGACY_ERROR_TEMP_0064").with("msg", message);
            self.defer(Err(error), || ())?;
        }
        if self.take(K::PRECEDING) {
            return Ok(FrameBound::Preceding(Box::new(offset)));
        }
        self.expect(K::FOLLOWING)?;
        Ok(FrameBound::Value(Box::new(offset)))
    }

    /// `expression [ASC | DESC] [NULLS FIRST | LAST]`.
    pub fn sort_order(&mut self) -> Result<SortOrder> {
        let child = self.expression()?;
        let (ascending, nulls_first) = self.sort_direction()?;
        Ok(SortOrder { child, ascending, nulls_first })
    }

    pub fn sort_direction(&mut self) -> Result<(bool, Option<bool>)> {
        let ascending = !matches!(self.take_any(&[K::ASC, K::DESC]), Some(K::DESC));
        let mut nulls_first = None;
        if self.is(K::NULLS) && (self.ahead_is(1, K::FIRST) || self.ahead_is(1, K::LAST)) {
            self.advance();
            nulls_first = Some(self.is(K::FIRST));
            self.advance();
        }
        Ok((ascending, nulls_first))
    }
}

/// Whether a value is made of literals, parameters and operators alone.
fn is_constant(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Literal(_) | ExprKind::Parameter(_) => true,
        ExprKind::Cast { child, .. } => is_constant(child),
        ExprKind::Function(call) => {
            // Operators are calls by names that are no words, save a few.
            let is_operator = call.name.iter().all(|name| {
                !name.starts_with(char::is_alphabetic)
                    || matches!(name.as_str(), "unary_minus" | "negative" | "positive" | "div" | "concat" | "not")
            });
            is_operator && call.arguments.iter().all(is_constant)
        }
        _ => false,
    }
}
