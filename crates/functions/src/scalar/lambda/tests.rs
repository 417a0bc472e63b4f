//! Lambdas over arrays and maps, with Spark's answers.

use super::higher_order::with_body;
use crate::cast::testing::{conf, read, text_of, with_context};
use crate::function::{Body, LambdaArg, LambdaQuestion};
use crate::{BuildContext, TypedExpr, registry};
use arrow::datatypes::Field;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::LambdaVariable;
use firesteel_error::Result;
use firesteel_types::arrow_mapping;
use std::sync::Arc;

type Lambda = fn(&mut BuildContext<'_>, Vec<TypedExpr>) -> Result<TypedExpr>;

enum Arg {
    Value(&'static str),
    Lambda(usize, Lambda),
}

use Arg::{Lambda as L, Value as V};

/// `v.call("+", 0, 1)`: an operator on parameters.
fn on(context: &mut BuildContext<'_>, name: &str, operands: &[&TypedExpr]) -> Result<TypedExpr> {
    context.call(name, operands.iter().map(|o| (*o).clone()).collect())
}

fn call(name: &str, arguments: &[Arg], context: &mut BuildContext<'_>) -> Result<TypedExpr> {
    let Some(Body::HigherOrder(function)) = registry::lookup(name).map(|f| &f.body) else {
        panic!("{name} takes no lambdas");
    };
    let mut values = Vec::new();
    for argument in arguments {
        values.push(match argument {
            V(text) => Some(read(text, context)?),
            L(..) => None,
        });
    }
    let mut made = Vec::new();
    for (position, argument) in arguments.iter().enumerate() {
        made.push(match argument {
            V(_) => LambdaArg::Value(values[position].clone().unwrap()),
            L(count, body) => {
                let lambdas = vec![None; arguments.len()];
                let types = (function.lambda_parameters)(&LambdaQuestion {
                    position,
                    parameter_count: *count,
                    values: &values,
                    lambdas: &lambdas,
                    conf: context.conf,
                })?;
                let names: Vec<String> = (0..*count).map(|i| format!("p{position}_{i}")).collect();
                let variables = names
                    .iter()
                    .zip(types)
                    .map(|(name, (data_type, nullable))| {
                        let field = Field::new(name, arrow_mapping::to_arrow(&data_type), nullable);
                        let variable = LambdaVariable::new(name.clone(), Some(Arc::new(field)));
                        TypedExpr::new(Expr::LambdaVariable(variable), data_type, nullable, name.clone())
                    })
                    .collect();
                let body = body(context, variables)?;
                with_body(names, body)
            }
        });
    }
    (function.build)(context, made)
}

fn check(name: &str, arguments: &[Arg], data_type: &str, nullable: bool, value: &str) {
    let conf = conf(true);
    with_context(&conf, |context| {
        let made = call(name, arguments, context).unwrap();
        assert_eq!((made.data_type.simple_string().as_str(), made.nullable), (data_type, nullable), "{name}");
        assert_eq!(text_of(&made, context).unwrap().as_deref().unwrap_or("NULL"), value, "{name}");
    });
}

fn one(context: &mut BuildContext<'_>) -> TypedExpr {
    read("1", context).unwrap()
}

#[test]
fn lambdas_over_arrays() {
    let plus_one: Lambda = |c, p| {
        let one = one(c);
        on(c, "+", &[&p[0], &one])
    };
    let sum: Lambda = |c, p| on(c, "+", &[&p[0], &p[1]]);
    let above_one: Lambda = |c, p| {
        let one = one(c);
        on(c, ">", &[&p[0], &one])
    };
    check("transform", &[V("array(1,2)"), L(1, plus_one)], "array<int>", false, "[2, 3]");
    check("transform", &[V("array(1,2)"), L(2, sum)], "array<int>", false, "[1, 3]");
    check("transform", &[V("array(1,null)"), L(1, |_, p| Ok(p[0].clone()))], "array<int>", false, "[1, null]");
    check("transform", &[V("array(1,2)"), V("1")], "array<int>", false, "[1, 1]");
    check("filter", &[V("array(1,2,3)"), L(1, above_one)], "array<int>", false, "[2, 3]");
    check("filter", &[V("array(1,2,null)"), L(1, above_one)], "array<int>", false, "[2]");
    check("exists", &[V("array(1,2)"), L(1, above_one)], "boolean", false, "true");
    check("exists", &[V("array(1,null)"), L(1, above_one)], "boolean", true, "NULL");
    check("exists", &[V("array(2,null)"), L(1, above_one)], "boolean", true, "true");
    check("forall", &[V("array(1,2)"), L(1, above_one)], "boolean", false, "false");
    check("forall", &[V("array(2,null)"), L(1, above_one)], "boolean", true, "NULL");
    check("zip_with", &[V("array(1,2)"), V("array(3)"), L(2, sum)], "array<int>", false, "[4, null]");
    check("zip_with", &[V("array(1,2)"), V("cast(null as array<int>)"), L(2, sum)], "array<int>", true, "NULL");
}

#[test]
fn folds() {
    let sum: Lambda = |c, p| on(c, "+", &[&p[0], &p[1]]);
    let ten_times: Lambda = |c, p| {
        let ten = read("10", c)?;
        on(c, "*", &[&p[0], &ten])
    };
    check("aggregate", &[V("array(1,2,3)"), V("0"), L(2, sum)], "int", true, "6");
    check("aggregate", &[V("array(1,2,3)"), V("0"), L(2, sum), L(1, ten_times)], "int", true, "60");
    check("aggregate", &[V("array(1,null,3)"), V("0"), L(2, sum)], "int", true, "NULL");
    check("aggregate", &[V("cast(null as array<int>)"), V("0"), L(2, sum)], "int", true, "NULL");
    check("reduce", &[V("array(1,2,3)"), V("0L"), L(2, sum)], "bigint", true, "6");
}

#[test]
fn lambdas_over_maps() {
    let sum: Lambda = |c, p| on(c, "+", &[&p[0], &p[1]]);
    let second_plus_one: Lambda = |c, p| {
        let one = one(c);
        on(c, "+", &[&p[1], &one])
    };
    let greater: Lambda = |c, p| on(c, ">", &[&p[0], &p[1]]);
    check("map_filter", &[V("map(1,0,2,2)"), L(2, greater)], "map<int,int>", false, "{1 -> 0}");
    check("transform_keys", &[V("map(1,1,2,2)"), L(2, second_plus_one)], "map<int,int>", false, "{2 -> 1, 3 -> 2}");
    check("transform_values", &[V("map(1,1,2,2)"), L(2, sum)], "map<int,int>", false, "{1 -> 2, 2 -> 4}");
    let values: Lambda = |c, p| on(c, "+", &[&p[1], &p[2]]);
    check(
        "map_zip_with",
        &[V("map(1,10,2,20)"), V("map(1,1,3,3)"), L(3, values)],
        "map<int,int>",
        false,
        "{1 -> 11, 2 -> null, 3 -> null}",
    );
}

#[test]
fn sorts() {
    let descending: Lambda = |c, p| on(c, "-", &[&p[1], &p[0]]);
    check("array_sort", &[V("array(3,null,1)")], "array<int>", false, "[1, 3, null]");
    check("array_sort", &[V("array(3,1,2)"), L(2, descending)], "array<int>", false, "[3, 2, 1]");
}

#[test]
fn numbers_of_parameters_are_checked() {
    let conf = conf(true);
    with_context(&conf, |context| {
        let wrong = call("transform", &[V("array(1,2)"), L(3, |_, p| Ok(p[0].clone()))], context).unwrap_err();
        assert!(wrong.is("INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH"));
        let wrong = call(
            "aggregate",
            &[
                V("array(1)"),
                V("0"),
                L(2, |c, p| {
                    let long = read("1L", c)?;
                    on(c, "+", &[&p[0], &long])
                }),
            ],
            context,
        );
        assert!(wrong.unwrap_err().is("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"));
    });
}
