//! Joins.

use super::DataFrame;
use crate::column::Column;
use crate::error::{Error, Result};
use crate::plan::References;
use firesteel_proto::connect as proto;
use proto::join::JoinType as Kind;
use proto::relation::RelType;

/// Which rows a join gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JoinType {
    /// Pairs only.
    #[default]
    Inner,
    /// Rows without a partner of either side too.
    FullOuter,
    LeftOuter,
    RightOuter,
    /// Left rows without a partner.
    LeftAnti,
    /// Left rows with a partner.
    LeftSemi,
    /// Every pair.
    Cross,
}

impl JoinType {
    fn kind(self) -> Kind {
        match self {
            JoinType::Inner => Kind::Inner,
            JoinType::FullOuter => Kind::FullOuter,
            JoinType::LeftOuter => Kind::LeftOuter,
            JoinType::RightOuter => Kind::RightOuter,
            JoinType::LeftAnti => Kind::LeftAnti,
            JoinType::LeftSemi => Kind::LeftSemi,
            JoinType::Cross => Kind::Cross,
        }
    }

    fn text(self) -> &'static str {
        match self {
            JoinType::Inner => "inner",
            JoinType::FullOuter => "full",
            JoinType::LeftOuter => "left",
            JoinType::RightOuter => "right",
            JoinType::LeftAnti => "leftanti",
            JoinType::LeftSemi => "leftsemi",
            JoinType::Cross => "cross",
        }
    }
}

impl std::str::FromStr for JoinType {
    type Err = Error;

    /// Reads the names that PySpark takes, such as `left_outer` or `leftsemi`.
    fn from_str(text: &str) -> Result<Self> {
        Ok(match text.to_ascii_lowercase().replace('_', "").as_str() {
            "inner" => JoinType::Inner,
            "outer" | "full" | "fullouter" => JoinType::FullOuter,
            "left" | "leftouter" => JoinType::LeftOuter,
            "right" | "rightouter" => JoinType::RightOuter,
            "leftanti" | "anti" => JoinType::LeftAnti,
            "leftsemi" | "semi" => JoinType::LeftSemi,
            "cross" => JoinType::Cross,
            _ => return Err(Error::invalid(format!("not a type of join: {text}"))),
        })
    }
}

/// What makes two rows partners: a condition, or columns that both have.
#[derive(Debug, Clone)]
pub enum On {
    Condition(Column),
    Columns(Vec<String>),
}

impl From<Column> for On {
    fn from(condition: Column) -> Self {
        On::Condition(condition)
    }
}

impl From<&str> for On {
    fn from(column: &str) -> Self {
        On::Columns(vec![column.to_string()])
    }
}

impl<const N: usize> From<[&str; N]> for On {
    fn from(columns: [&str; N]) -> Self {
        On::Columns(columns.map(str::to_string).to_vec())
    }
}

impl From<Vec<String>> for On {
    fn from(columns: Vec<String>) -> Self {
        On::Columns(columns)
    }
}

impl On {
    /// Condition, columns, subqueries.
    fn parts(self) -> (Option<proto::Expression>, Vec<String>, References) {
        match self {
            On::Condition(Column { expression, references }) => (Some(expression), Vec::new(), references),
            On::Columns(columns) => (None, columns, References::default()),
        }
    }
}

/// How an as-of join finds the nearest row.
#[derive(Debug, Clone)]
pub struct AsOfJoin {
    pub left_as_of: Column,
    pub right_as_of: Column,
    pub on: Option<On>,
    pub join_type: JoinType,
    /// The greatest distance allowed.
    pub tolerance: Option<Column>,
    pub allow_exact_matches: bool,
    /// `backward`, `forward` or `nearest`.
    pub direction: String,
}

impl AsOfJoin {
    /// Left joins the last right row that is not after it.
    pub fn backward(left_as_of: Column, right_as_of: Column) -> Self {
        AsOfJoin {
            left_as_of,
            right_as_of,
            on: None,
            join_type: JoinType::Inner,
            tolerance: None,
            allow_exact_matches: true,
            direction: "backward".to_string(),
        }
    }
}

impl DataFrame {
    /// Rows of both frames, joined.
    ///
    /// ```
    /// # use firesteel_client::JoinType;
    /// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
    /// let (left, right) = (spark.range(0, 5), spark.range(3, 9));
    /// assert_eq!(left.join(&right, "id", JoinType::LeftAnti).count().await?, 3);
    /// # Ok(()) }
    /// # firesteel_client::doc_test(run);
    /// ```
    pub fn join(&self, other: &DataFrame, on: impl Into<On>, join_type: JoinType) -> DataFrame {
        self.joined(other, Some(on.into()), join_type)
    }

    /// Every row of one with every row of the other.
    pub fn cross_join(&self, other: &DataFrame) -> DataFrame {
        self.joined(other, None, JoinType::Cross)
    }

    fn joined(&self, other: &DataFrame, on: Option<On>, join_type: JoinType) -> DataFrame {
        let (join_condition, using_columns, references) = on.map(On::parts).unwrap_or_default();
        self.derive_with(&[other], references, move |inputs| {
            RelType::Join(Box::new(proto::Join {
                left: inputs.take(),
                right: inputs.take(),
                join_condition: join_condition.clone(),
                join_type: join_type.kind().into(),
                using_columns: using_columns.clone(),
                join_data_type: None,
            }))
        })
    }

    /// Joins a frame whose rows may depend on each left row, by [`Column::outer`].
    pub fn lateral_join(&self, other: &DataFrame, condition: Option<Column>, join_type: JoinType) -> DataFrame {
        let (join_condition, _, references) = condition.map(|of| On::from(of).parts()).unwrap_or_default();
        self.derive_with(&[other], references, move |inputs| {
            RelType::LateralJoin(Box::new(proto::LateralJoin {
                left: inputs.take(),
                right: inputs.take(),
                join_condition: join_condition.clone(),
                join_type: join_type.kind().into(),
            }))
        })
    }

    /// Joins each row with the nearest of the other frame.
    pub fn as_of_join(&self, other: &DataFrame, join: AsOfJoin) -> DataFrame {
        let (join_expr, using_columns, mut references) = join.on.map(On::parts).unwrap_or_default();
        let mut take = |column: Column| {
            references.extend(column.references);
            Some(column.expression)
        };
        let (left_as_of, right_as_of) = (take(join.left_as_of), take(join.right_as_of));
        let tolerance = join.tolerance.and_then(take);
        let (join_type, direction) = (join.join_type.text().to_string(), join.direction);
        let allow_exact_matches = join.allow_exact_matches;
        self.derive_with(&[other], references, move |inputs| {
            RelType::AsOfJoin(Box::new(proto::AsOfJoin {
                left: inputs.take(),
                right: inputs.take(),
                left_as_of: left_as_of.clone(),
                right_as_of: right_as_of.clone(),
                join_expr: join_expr.clone(),
                using_columns: using_columns.clone(),
                join_type: join_type.clone(),
                tolerance: tolerance.clone(),
                allow_exact_matches,
                direction: direction.clone(),
            }))
        })
    }

    /// Joins each row with the rows of the other frame that rank best.
    pub fn nearest_by_join(
        &self,
        other: &DataFrame,
        ranking: Column,
        num_results: i32,
        join_type: JoinType,
        mode: impl Into<String>,
        direction: impl Into<String>,
    ) -> DataFrame {
        let Column { expression, references } = ranking;
        let (mode, direction) = (mode.into(), direction.into());
        self.derive_with(&[other], references, move |inputs| {
            RelType::NearestByJoin(Box::new(proto::NearestByJoin {
                left: inputs.take(),
                right: inputs.take(),
                ranking_expression: Some(expression.clone()),
                num_results,
                join_type: join_type.text().to_string(),
                mode: mode.clone(),
                direction: direction.clone(),
            }))
        })
    }

    /// The columns of two frames that come from the same one, side by side. Needs a server of Spark 4.3.
    pub fn zip(&self, other: &DataFrame) -> DataFrame {
        self.derive_with(&[other], References::default(), |inputs| {
            RelType::Zip(Box::new(proto::Zip { left: inputs.take(), right: inputs.take() }))
        })
    }
}
