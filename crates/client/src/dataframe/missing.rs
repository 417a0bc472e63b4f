//! NULL filled, dropped, replaced.

use super::{DataFrame, names};
use crate::column::IntoLiteral;
use firesteel_proto::connect as proto;
use proto::expression::literal::LiteralType;
use proto::relation::RelType;

/// Which rows are dropped for their NULLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingRule {
    /// Those with a NULL.
    Any,
    /// Those with nothing but NULL.
    All,
    /// Those with fewer values than this.
    FewerThan(i32),
}

/// Spark fills and replaces with BIGINT and DOUBLE only, and casts them to the column's type.
fn widened(mut literal: proto::expression::Literal) -> proto::expression::Literal {
    literal.literal_type = literal.literal_type.map(|of| match of {
        LiteralType::Byte(number) | LiteralType::Short(number) | LiteralType::Integer(number) => {
            LiteralType::Long(number.into())
        }
        LiteralType::Float(number) => LiteralType::Double(number.into()),
        other => other,
    });
    literal
}

impl DataFrame {
    /// NULL replaced by a value, in some columns or in all that have its type, if none are named.
    pub fn fill_na(&self, value: impl IntoLiteral, columns: impl IntoIterator<Item = impl Into<String>>) -> DataFrame {
        self.filled(names(columns), vec![widened(value.into_literal())])
    }

    /// NULL replaced by a value for each column.
    pub fn fill_na_by<V: IntoLiteral>(&self, values: impl IntoIterator<Item = (impl Into<String>, V)>) -> DataFrame {
        let (mut columns, mut literals) = (Vec::new(), Vec::new());
        for (name, value) in values {
            columns.push(name.into());
            literals.push(widened(value.into_literal()));
        }
        self.filled(columns, literals)
    }

    fn filled(&self, cols: Vec<String>, values: Vec<proto::expression::Literal>) -> DataFrame {
        self.derive(move |inputs| {
            let (input, cols, values) = (inputs.take(), cols.clone(), values.clone());
            RelType::FillNa(Box::new(proto::NaFill { input, cols, values }))
        })
    }

    /// The rows without those that a rule drops, by some columns or, if none are named, by all.
    pub fn drop_na(&self, rule: MissingRule, columns: impl IntoIterator<Item = impl Into<String>>) -> DataFrame {
        let cols = names(columns);
        let min_non_nulls = match rule {
            MissingRule::Any => None,
            MissingRule::All => Some(1),
            MissingRule::FewerThan(values) => Some(values),
        };
        self.derive(move |inputs| {
            RelType::DropNa(Box::new(proto::NaDrop { input: inputs.take(), cols: cols.clone(), min_non_nulls }))
        })
    }

    /// Values replaced by others, in some columns or, if none are named, in all of their type.
    pub fn replace<O: IntoLiteral, N: IntoLiteral>(
        &self,
        replacements: impl IntoIterator<Item = (O, N)>,
        columns: impl IntoIterator<Item = impl Into<String>>,
    ) -> DataFrame {
        let cols = names(columns);
        let replacement = |(old, new): (O, N)| proto::na_replace::Replacement {
            old_value: Some(widened(old.into_literal())),
            new_value: Some(widened(new.into_literal())),
        };
        let replacements: Vec<_> = replacements.into_iter().map(replacement).collect();
        self.derive(move |inputs| {
            let (input, cols, replacements) = (inputs.take(), cols.clone(), replacements.clone());
            RelType::Replace(Box::new(proto::NaReplace { input, cols, replacements }))
        })
    }
}
