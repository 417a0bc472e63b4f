//! Merging rows into a table.

use crate::DataFrame;
use crate::column::{Column, IntoColumn};
use crate::error::Result;
use crate::functions::expr;
use firesteel_proto::connect as proto;
use proto::command::CommandType;
use proto::expression::ExprType;
use proto::merge_action::{ActionType, Assignment};

/// Merges the rows of a frame into a table.
///
/// ```no_run
/// # use firesteel_client::{DataFrame, functions::{col, expr}};
/// # async fn f(updates: DataFrame) -> firesteel_client::Result<()> {
/// updates
///     .merge_into("stock", expr("stock.id = updates.id"))
///     .when_matched_if(col("updates.amount").eq(0)).delete()
///     .when_matched().update_all()
///     .when_not_matched().insert_all()
///     .merge()
///     .await?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct MergeIntoWriter {
    frame: DataFrame,
    command: proto::MergeIntoTableCommand,
}

/// Which list of actions a clause belongs to.
#[derive(Debug, Clone, Copy)]
enum Clause {
    Matched,
    NotMatched,
    NotMatchedBySource,
}

/// Rows of both sides that match, or rows of the table without a partner.
#[derive(Debug, Clone)]
pub struct WhenMatched(Pending);

/// Rows of the frame without a partner in the table.
#[derive(Debug, Clone)]
pub struct WhenNotMatched(Pending);

/// A clause that waits for its action.
#[derive(Debug, Clone)]
struct Pending {
    writer: MergeIntoWriter,
    clause: Clause,
    condition: Option<Column>,
}

impl MergeIntoWriter {
    pub(crate) fn new(frame: DataFrame, target_table_name: String, condition: Column) -> Self {
        let merge_condition = Some(condition.expression);
        let command = proto::MergeIntoTableCommand { target_table_name, merge_condition, ..Default::default() };
        MergeIntoWriter { frame, command }
    }

    fn when(self, clause: Clause, condition: Option<Column>) -> Pending {
        Pending { writer: self, clause, condition }
    }

    /// For rows that match.
    pub fn when_matched(self) -> WhenMatched {
        WhenMatched(self.when(Clause::Matched, None))
    }

    /// For rows that match and for which a condition is true.
    pub fn when_matched_if(self, condition: Column) -> WhenMatched {
        WhenMatched(self.when(Clause::Matched, Some(condition)))
    }

    /// For rows of the frame that match none of the table.
    pub fn when_not_matched(self) -> WhenNotMatched {
        WhenNotMatched(self.when(Clause::NotMatched, None))
    }

    /// As [`when_not_matched`](Self::when_not_matched), if a condition is true.
    pub fn when_not_matched_if(self, condition: Column) -> WhenNotMatched {
        WhenNotMatched(self.when(Clause::NotMatched, Some(condition)))
    }

    /// For rows of the table that match none of the frame.
    pub fn when_not_matched_by_source(self) -> WhenMatched {
        WhenMatched(self.when(Clause::NotMatchedBySource, None))
    }

    /// As [`when_not_matched_by_source`](Self::when_not_matched_by_source), if a condition is true.
    pub fn when_not_matched_by_source_if(self, condition: Column) -> WhenMatched {
        WhenMatched(self.when(Clause::NotMatchedBySource, Some(condition)))
    }

    /// Lets the table take columns that it has not yet.
    #[must_use]
    pub fn with_schema_evolution(mut self) -> Self {
        self.command.with_schema_evolution = true;
        self
    }

    /// Merges.
    pub async fn merge(mut self) -> Result<()> {
        self.command.source_table_plan = Some(self.frame.to_proto());
        self.frame.session.run(CommandType::MergeIntoTableCommand(self.command)).await.map(drop)
    }
}

impl Pending {
    fn act(mut self, action: ActionType, assignments: Vec<Assignment>) -> MergeIntoWriter {
        let condition = self.condition.map(|condition| Box::new(condition.expression));
        let action = proto::MergeAction { action_type: action.into(), condition, assignments };
        let action = Column::of(ExprType::MergeAction(Box::new(action))).expression;
        let command = &mut self.writer.command;
        let actions = match self.clause {
            Clause::Matched => &mut command.match_actions,
            Clause::NotMatched => &mut command.not_matched_actions,
            Clause::NotMatchedBySource => &mut command.not_matched_by_source_actions,
        };
        actions.push(action);
        self.writer
    }
}

fn assignments<C: IntoColumn>(pairs: impl IntoIterator<Item = (impl Into<String>, C)>) -> Vec<Assignment> {
    let assignment = |(key, value): (_, C)| Assignment {
        key: Some(expr(key).expression),
        value: Some(value.into_column().expression),
    };
    pairs.into_iter().map(assignment).collect()
}

impl WhenMatched {
    /// Sets columns of the table, all at once.
    pub fn update<C: IntoColumn>(self, values: impl IntoIterator<Item = (impl Into<String>, C)>) -> MergeIntoWriter {
        self.0.act(ActionType::Update, assignments(values))
    }

    /// Sets all columns of the table to those of the frame.
    pub fn update_all(self) -> MergeIntoWriter {
        self.0.act(ActionType::UpdateStar, Vec::new())
    }

    /// Deletes the rows of the table.
    pub fn delete(self) -> MergeIntoWriter {
        self.0.act(ActionType::Delete, Vec::new())
    }
}

impl WhenNotMatched {
    /// Inserts rows with these columns.
    pub fn insert<C: IntoColumn>(self, values: impl IntoIterator<Item = (impl Into<String>, C)>) -> MergeIntoWriter {
        self.0.act(ActionType::Insert, assignments(values))
    }

    /// Inserts the rows of the frame.
    pub fn insert_all(self) -> MergeIntoWriter {
        self.0.act(ActionType::InsertStar, Vec::new())
    }
}
