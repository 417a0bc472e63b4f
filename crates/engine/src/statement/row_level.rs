//! UPDATE, DELETE and MERGE: tables of files refuse them once their names and expressions are right.

use super::{Runner, table_operation};
use firesteel_analyzer::LocalRows;
use firesteel_error::Result;
use firesteel_plan::{
    Expr, ExprKind, Join, JoinCondition, JoinType, Merge, MergeActionKind, Relation, RelationKind, TableName,
    TableReference,
};

impl Runner {
    pub(super) fn refuse_update(
        &self,
        table: &TableName,
        alias: Option<&str>,
        assignments: &[(Expr, Expr)],
        condition: Option<&Expr>,
    ) -> Result<LocalRows> {
        let target = self.target_table(table, "UPDATE TABLE")?;
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
        let target = self.target_table(&merge.target, "MERGE INTO TABLE")?;
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
