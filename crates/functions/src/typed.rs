//! Analysed expressions.

use datafusion::logical_expr::Expr;
use datafusion::scalar::ScalarValue;
use firesteel_types::DataType;

/// A DataFusion expression with its Spark type.
///
/// The Arrow type of `expr` is the canonical one of `data_type`
/// (`firesteel_types::arrow_mapping::to_arrow`), but for strings and binaries
/// that come from a scan as views.
#[derive(Debug, Clone)]
pub struct TypedExpr {
    pub expr: Expr,
    pub data_type: DataType,
    pub nullable: bool,
    /// Spark's text of the expression: the name of a column without an alias,
    /// and what error messages show. Implicit casts leave no trace in it.
    pub name: String,
}

impl TypedExpr {
    pub fn new(expr: Expr, data_type: DataType, nullable: bool, name: impl Into<String>) -> Self {
        Self { expr, data_type, nullable, name: name.into() }
    }

    /// The constant value, where the expression is a plain literal.
    pub fn literal(&self) -> Option<&ScalarValue> {
        let mut expr = &self.expr;
        while let Expr::Alias(alias) = expr {
            expr = &alias.expr;
        }
        match expr {
            Expr::Literal(value, _) => Some(value),
            _ => None,
        }
    }

    /// True for the literal NULL, of whatever type.
    pub fn is_null_literal(&self) -> bool {
        self.literal().is_some_and(ScalarValue::is_null)
    }

    /// True where the value does not depend on a row: no columns, subqueries,
    /// aggregates or volatile functions in it.
    pub fn is_foldable(&self) -> bool {
        use datafusion::common::tree_node::TreeNode;
        !self.expr.is_volatile()
            && !self
                .expr
                .exists(|e| {
                    Ok(matches!(
                        e,
                        Expr::Column(_)
                            | Expr::OuterReferenceColumn(..)
                            | Expr::ScalarSubquery(_)
                            | Expr::Exists(_)
                            | Expr::InSubquery(_)
                            | Expr::AggregateFunction(_)
                            | Expr::WindowFunction(_)
                            | Expr::LambdaVariable(_)
                    ))
                })
                .unwrap_or(true)
    }

    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
}
