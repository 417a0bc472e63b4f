//! UPDATE, DELETE and MERGE: tables of files refuse them once their names and expressions are right.

use super::{Runner, table_operation};
use crate::catalog_state::Found;
use firesteel_analyzer::LocalRows;
use firesteel_catalog::CatalogTable;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{
    Expr, ExprKind, Join, JoinCondition, JoinType, Merge, MergeActionKind, Relation, RelationKind, TableName,
    TableReference,
};
use std::sync::Arc;

impl Runner {
    /// The table whose rows are to be changed; None for views.
    fn updated(&self, name: &TableName) -> Result<Option<Arc<CatalogTable>>> {
        Ok(match self.found_relation(name)? {
            Found::Stored(table) if !table.is_view() => Some(table),
            _ => None,
        })
    }

    pub(super) fn refuse_update(
        &self,
        table: &TableName,
        alias: Option<&str>,
        assignments: &[(Expr, Expr)],
        condition: Option<&Expr>,
    ) -> Result<LocalRows> {
        let Some(target) = self.updated(table)? else { return Err(table_of_view("UPDATE TABLE")) };
        let rows = filtered(relation(table, alias), condition);
        let values = assignments.iter().flat_map(|(key, value)| [key.clone(), value.clone()]);
        self.analyse(&projected(rows, values))?;
        Err(table_operation(&target.name, "UPDATE TABLE"))
    }

    pub(super) fn refuse_delete(
        &self,
        table: &TableName,
        alias: Option<&str>,
        condition: Option<&Expr>,
    ) -> Result<LocalRows> {
        let target = self.target_table(table, "DELETE TABLE")?;
        self.analyse(&filtered(relation(table, alias), condition))?;
        Err(table_operation(&target.name, "DELETE"))
    }

    pub(super) fn refuse_merge(&self, merge: &Merge) -> Result<LocalRows> {
        let Some(target) = self.updated(&merge.target)? else { return Err(table_of_view("MERGE INTO TABLE")) };
        let rows = relation(&merge.target, merge.target_alias.as_deref());
        let joined = |condition: &Expr| {
            Relation::new(RelationKind::Join(Join {
                left: rows.clone(),
                right: merge.source.clone(),
                join_type: JoinType::Inner,
                condition: JoinCondition::On(condition.clone()),
                is_lateral: false,
            }))
        };
        self.analyse(&joined(&merge.condition))?;
        let keys = [&merge.matched, &merge.not_matched, &merge.not_matched_by_source]
            .into_iter()
            .flatten()
            .filter_map(|action| match &action.kind {
                MergeActionKind::Update(pairs) | MergeActionKind::Insert(pairs) => Some(pairs),
                _ => None,
            })
            .flatten()
            .map(|(key, _)| key.clone());
        self.analyse(&projected(rows.clone(), keys))?;
        for actions in [&merge.matched, &merge.not_matched, &merge.not_matched_by_source] {
            for action in actions {
                let values: Vec<Expr> = match &action.kind {
                    MergeActionKind::Update(pairs) => pairs.iter().map(|(_, value)| value.clone()).collect(),
                    MergeActionKind::Insert(pairs) => pairs.iter().map(|(_, value)| value.clone()).collect(),
                    MergeActionKind::Delete | MergeActionKind::UpdateAll | MergeActionKind::InsertAll => Vec::new(),
                };
                let all = values.into_iter().chain(action.condition.clone());
                self.analyse(&projected(joined(&merge.condition), all))?;
            }
        }
        Err(table_operation(&target.name, "MERGE INTO TABLE"))
    }
}

/// Views have no rows that could be changed.
fn table_of_view(operation: &str) -> SparkError {
    SparkError::new("UNSUPPORTED_FEATURE.TABLE_OPERATION").with("tableName", "`unknown`").with("operation", operation)
}

fn relation(table: &TableName, alias: Option<&str>) -> Relation {
    let rows = Relation::new(RelationKind::Table(TableReference {
        name: table.clone(),
        options: Vec::new(),
        is_streaming: false,
        time_travel: None,
    }));
    match alias {
        Some(alias) => Relation::new(RelationKind::SubqueryAlias {
            input: rows,
            alias: alias.to_string(),
            qualifier: Vec::new(),
            columns: Vec::new(),
        }),
        None => rows,
    }
}

fn filtered(rows: Relation, condition: Option<&Expr>) -> Relation {
    match condition {
        Some(condition) => Relation::new(RelationKind::Filter { input: rows, condition: condition.clone() }),
        None => rows,
    }
}

fn projected(rows: Relation, expressions: impl Iterator<Item = Expr>) -> Relation {
    let expressions: Vec<Expr> = expressions.filter(|value| !matches!(value.kind, ExprKind::Default)).collect();
    if expressions.is_empty() {
        return rows;
    }
    Relation::new(RelationKind::Project { input: rows, expressions })
}
