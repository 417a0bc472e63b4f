//! VALUES.

use super::aggregation::row_items;
use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::{Expr, ExprKind, Relation, RelationKind};

impl Parser<'_> {
    /// `VALUES row, …`: a row is `(a, b)` or a single value.
    pub(super) fn values(&mut self) -> Result<Relation> {
        let start = self.mark();
        self.expect(K::VALUES)?;
        let rows = self.comma_separated(|parser| {
            let row = parser.expression()?;
            let items = match row.kind {
                ExprKind::Function(call) if matches!(call.name.as_slice(), [name] if name == "struct") => {
                    call.arguments
                }
                kind => row_items(Expr { kind, origin: row.origin }),
            };
            Ok(items.into_iter().map(or_default).collect())
        })?;
        Ok(self.relation_from(start, RelationKind::Values { rows }))
    }
}

/// A column called DEFAULT stands for a column's default.
pub(crate) fn or_default(value: Expr) -> Expr {
    match &value.kind {
        ExprKind::Attribute { name, .. } if matches!(name.as_slice(), [word] if word.eq_ignore_ascii_case("default")) => {
            Expr::new(ExprKind::Default).at(value.origin)
        }
        _ => value,
    }
}
