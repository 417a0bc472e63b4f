//! The plan of a frame: a tree of shared nodes, made a message when it is sent.

use crate::chores::{Chore, Chores};
use firesteel_proto::connect as proto;
use proto::relation::RelType;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Stack for walks over messages: chains of steps nest thousands deep.
const STACK_BASE: usize = 64 * 1024;
const STACK_PER_LEVEL: usize = if cfg!(debug_assertions) { 64 * 1024 } else { 16 * 1024 };
/// Levels to be ready for, where nobody has counted them.
pub(crate) const UNKNOWN_LEVELS: usize = 4000;

/// Runs a walk over a message of so many levels on enough stack; few levels need no new one, which costs time.
pub(crate) fn with_stack<R>(levels: usize, walk: impl FnOnce() -> R) -> R {
    let stack = STACK_BASE + levels * STACK_PER_LEVEL;
    stacker::maybe_grow(stack, stack, walk)
}

/// What an expression brings along: the plans that its subqueries stand for, and its depth.
#[derive(Debug, Clone, Default)]
pub(crate) struct References {
    plans: Vec<Arc<Plan>>,
    levels: usize,
}

impl References {
    /// Those of an expression without subqueries, of so many levels.
    pub(crate) fn of_levels(levels: usize) -> Self {
        References { plans: Vec::new(), levels }
    }

    /// Those of an expression over plans.
    pub(crate) fn of_plans(plans: Vec<Arc<Plan>>) -> Self {
        References { plans, levels: 1 }
    }

    /// Those of several expressions side by side.
    pub(crate) fn extend(&mut self, others: References) {
        self.plans.extend(others.plans);
        self.levels = self.levels.max(others.levels);
    }

    /// Those of an expression around this one.
    pub(crate) fn around(mut self) -> Self {
        self.levels += 1;
        self
    }
}

/// A number that no other node of this process has.
fn fresh_id() -> i64 {
    static NEXT: AtomicI64 = AtomicI64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The messages of a node's inputs, in order.
pub(crate) struct Inputs(std::vec::IntoIter<proto::Relation>);

impl Inputs {
    /// The next input.
    pub(crate) fn take(&mut self) -> Option<Box<proto::Relation>> {
        self.0.next().map(Box::new)
    }
}

type Build = Box<dyn Fn(&mut Inputs) -> RelType + Send + Sync>;

/// A node of a plan. Frames share nodes, so that a chain of n steps costs n.
pub(crate) struct Plan {
    id: i64,
    inputs: Vec<Arc<Plan>>,
    /// Plans that subqueries in this node's expressions stand for, and the id of the node around both.
    references: Vec<Arc<Plan>>,
    outer_id: i64,
    build: Build,
    /// How deep the relations nest, and the deepest expression among theirs.
    levels: usize,
    expression_levels: usize,
    /// Keeps a relation of the server alive as long as a plan uses it.
    _held: Option<Arc<RemoteRelation>>,
}

impl Plan {
    pub(crate) fn new(
        inputs: Vec<Arc<Plan>>,
        references: References,
        build: impl Fn(&mut Inputs) -> RelType + Send + Sync + 'static,
    ) -> Arc<Self> {
        let References { plans: references, levels: own } = references;
        let id = fresh_id();
        let outer_id = if references.is_empty() { id } else { fresh_id() };
        let below = || inputs.iter().chain(&references);
        // A node with references is two relations.
        let levels = below().map(|plan| plan.levels).max().unwrap_or_default() + 2;
        let expression_levels = below().map(|plan| plan.expression_levels).max().unwrap_or_default().max(own);
        let build = Box::new(build);
        Arc::new(Plan { id, inputs, references, outer_id, build, levels, expression_levels, _held: None })
    }

    /// How deep the message of the plan nests, at most.
    pub(crate) fn depth(&self) -> usize {
        self.levels + self.expression_levels
    }

    /// A node without inputs.
    pub(crate) fn leaf(rel_type: RelType) -> Arc<Self> {
        Plan::new(Vec::new(), References::default(), move |_| rel_type.clone())
    }

    /// A node whose message was made elsewhere, and may be deep.
    pub(crate) fn opaque(rel_type: RelType) -> Arc<Self> {
        Plan::new(Vec::new(), References::of_levels(UNKNOWN_LEVELS), move |_| rel_type.clone())
    }

    /// A relation that the server holds until the last plan that uses it is dropped.
    pub(crate) fn remote(relation: RemoteRelation) -> Arc<Self> {
        let id = fresh_id();
        let relation_id = relation.relation_id.clone();
        let build = move |_: &mut Inputs| {
            RelType::CachedRemoteRelation(proto::CachedRemoteRelation { relation_id: relation_id.clone() })
        };
        let held = Some(Arc::new(relation));
        Arc::new(Plan {
            id,
            inputs: Vec::new(),
            references: Vec::new(),
            outer_id: id,
            build: Box::new(build),
            levels: 1,
            expression_levels: 0,
            _held: held,
        })
    }

    /// The id by which expressions name the node.
    #[allow(clippy::misnamed_getters)]
    pub(crate) fn id(&self) -> i64 {
        self.outer_id
    }

    /// The message of the whole plan.
    pub(crate) fn relation(&self) -> proto::Relation {
        with_stack(self.depth(), || self.message())
    }

    fn message(&self) -> proto::Relation {
        let inputs: Vec<_> = self.inputs.iter().map(|input| input.message()).collect();
        let root = with_id(self.id, (self.build)(&mut Inputs(inputs.into_iter())));
        if self.references.is_empty() {
            return root;
        }
        let references = self.references.iter().map(|plan| plan.message()).collect();
        let both = proto::WithRelations { root: Some(Box::new(root)), references };
        with_id(self.outer_id, RelType::WithRelations(Box::new(both)))
    }
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plan({})", self.id())
    }
}

impl Drop for Plan {
    /// Takes chains apart one by one: dropping them node in node would end the stack.
    fn drop(&mut self) {
        let mut plans = std::mem::take(&mut self.inputs);
        plans.append(&mut self.references);
        while let Some(plan) = plans.pop() {
            if let Some(mut plan) = Arc::into_inner(plan) {
                plans.append(&mut plan.inputs);
                plans.append(&mut plan.references);
            }
        }
    }
}

fn with_id(id: i64, rel_type: RelType) -> proto::Relation {
    let common = proto::RelationCommon { plan_id: Some(id), ..Default::default() };
    proto::Relation { common: Some(common), rel_type: Some(rel_type) }
}

/// A relation in the server's keeping, such as a checkpoint.
pub(crate) struct RemoteRelation {
    pub(crate) relation_id: String,
    pub(crate) chores: Chores,
}

impl Drop for RemoteRelation {
    /// Hands the removal to the background: it never waits here.
    fn drop(&mut self) {
        self.chores.add(Chore::RemoveRelation { relation_id: std::mem::take(&mut self.relation_id) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_plans_are_built_and_dropped() {
        let mut plan = Plan::leaf(RelType::Range(proto::Range { end: 1, step: 1, ..Default::default() }));
        for _ in 0..5000 {
            plan = Plan::new(vec![plan], References::default(), |inputs| {
                RelType::Limit(Box::new(proto::Limit { input: inputs.take(), limit: 1 }))
            });
        }
        let message = plan.relation();
        let depth = plan.depth();
        drop(plan);
        with_stack(depth, move || drop(message));
    }
}
