//! Operators of pipe syntax.

use crate::analyzer::Analyzer;
use crate::resolved::Resolved;
use crate::scope::Scope;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{ExprKind, PipeClause, Relation, RelationKind};

/// The result of SELECT, EXTEND, SET or AGGREGATE: what it leaves out is not seen any more.
pub(crate) fn pipe(a: &mut Analyzer<'_>, input: &Relation, clause: PipeClause) -> Result<Resolved> {
    if let (PipeClause::Extend, RelationKind::Project { expressions, .. }) = (clause, input.kind())
        && expressions.iter().skip(1).any(|e| matches!(e.kind, ExprKind::Star { .. }))
    {
        return Err(SparkError::new("INVALID_USAGE_OF_STAR_OR_REGEX")
            .with("elem", "'*'")
            .with("prettyName", "expression `pipeexpression`"));
    }
    a.pipe = Some(clause);
    let resolved = a.relation(input);
    a.pipe = None;
    let mut resolved = resolved?;
    if clause == PipeClause::Select {
        resolved.below = None;
    }
    if clause == PipeClause::Set
        && let RelationKind::WithColumns { aliases, .. } = input.kind()
        && let Some(before) = resolved.frame.children.first()
        && before.output.len() < resolved.output.len()
    {
        // SET gives columns other values, and adds none.
        let scope = Scope::of(before.output.clone(), a.case_sensitive());
        for alias in aliases {
            if let ExprKind::Alias { names, .. } = &alias.kind
                && scope.find(names)?.is_none()
            {
                return Err(scope.unresolved(names));
            }
        }
    }
    Ok(resolved)
}
