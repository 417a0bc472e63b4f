//! The functions' values, types and names compared with Spark's answers.

use crate::cast::testing::check;

#[test]
fn predicate_values_are_sparks() {
    check(include_str!("tests/values.jsonl"));
}

mod laziness {
    use crate::TypedExpr;
    use crate::cast::testing::{conf, with_context};
    use arrow::array::{ArrayRef, AsArray, Int32Array, RecordBatch};
    use datafusion::common::{DFSchema, ToDFSchema};
    use datafusion::execution::context::ExecutionProps;
    use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
    use datafusion::logical_expr::simplify::SimplifyContext;
    use datafusion::logical_expr::{col, lit};
    use datafusion::optimizer::simplify_expressions::ExprSimplifier;
    use datafusion::physical_expr::create_physical_expr;
    use firesteel_types::DataType;
    use std::sync::Arc;

    /// The value of a condition over `a` and `b` for each row, after DataFusion's simplification.
    fn values(make: impl Fn(TypedExpr, TypedExpr, &mut crate::BuildContext<'_>) -> TypedExpr) -> Vec<Option<bool>> {
        let numbers = |values: &[i32]| -> ArrayRef { Arc::new(Int32Array::from(values.to_vec())) };
        let batch = RecordBatch::try_from_iter([("a", numbers(&[4, 4, 4, 4])), ("b", numbers(&[0, 1, 2, 8]))]).unwrap();
        let schema: DFSchema = batch.schema().to_dfschema().unwrap();
        let column = |name: &str| TypedExpr::new(col(name), DataType::Integer, false, name);
        let conf = conf(true);
        let expr = with_context(&conf, |context| make(column("a"), column("b"), context)).expr;
        let simplifier = ExprSimplifier::new(SimplifyContext::builder().with_schema(Arc::new(schema.clone())).build());
        let expr = simplifier.simplify(expr).unwrap();
        let context = PhysicalPlanningContext::default();
        let physical = create_physical_expr(&expr, &schema, &ExecutionProps::new(), &context).unwrap();
        let result = physical.evaluate(&batch).unwrap().into_array(batch.num_rows()).unwrap();
        result.as_boolean().iter().collect()
    }

    fn number(value: i32) -> TypedExpr {
        TypedExpr::new(lit(value), DataType::Integer, false, value.to_string())
    }

    #[test]
    fn conditions_guard_divisions() {
        let guarded = values(|a, b, context| {
            let guard = context.call("<>", vec![b.clone(), number(0)]).unwrap();
            let quotient = context.call("/", vec![a, b]).unwrap();
            let large = context.call(">", vec![quotient, number(1)]).unwrap();
            context.call("and", vec![guard, large]).unwrap()
        });
        assert_eq!(guarded, [Some(false), Some(true), Some(true), Some(false)]);
    }

    #[test]
    fn alternatives_guard_divisions() {
        let guarded = values(|a, b, context| {
            let guard = context.call("=", vec![b.clone(), number(0)]).unwrap();
            let quotient = context.call("%", vec![a, b]).unwrap();
            let rest = context.call("=", vec![quotient, number(0)]).unwrap();
            context.call("or", vec![guard, rest]).unwrap()
        });
        assert_eq!(guarded, [Some(true), Some(true), Some(true), Some(false)]);
    }

    #[test]
    fn boolean_branches_stay_branches() {
        let guarded = values(|a, b, context| {
            let guard = context.call("<>", vec![b.clone(), number(0)]).unwrap();
            let quotient = context.call("/", vec![a, b]).unwrap();
            let large = context.call(">", vec![quotient, number(1)]).unwrap();
            let no = TypedExpr::new(lit(false), DataType::Boolean, false, "false");
            context.call("if", vec![guard, large, no]).unwrap()
        });
        assert_eq!(guarded, [Some(false), Some(true), Some(true), Some(false)]);
    }
}
