//! The first value that will do.

use crate::coercion;
use crate::function::{Body, Documentation, Function, Group};
use crate::scalar::predicate::lazy;
use crate::{ArgType, BuildContext, Param, Signature, TypedExpr};
use datafusion::logical_expr::Expr;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

type Build = fn(&mut BuildContext<'_>, Vec<TypedExpr>) -> Result<TypedExpr>;

const fn declare(name: &'static str, signature: Signature, build: Build, documentation: Documentation) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Conditional,
        signature,
        body: Body::Build(build),
        deterministic: true,
        text: None,
        documentation,
    }
}

const fn doc(
    usage: &'static str,
    since: &'static str,
    examples: &'static [(&'static str, &'static str)],
) -> Documentation {
    Documentation { usage, arguments: &[], examples, note: "", since }
}

const TWO: &[Param] =
    &[Param { name: "expr1", arg_type: ArgType::Any }, Param { name: "expr2", arg_type: ArgType::Any }];

pub(super) static COALESCE: Function = declare(
    "coalesce",
    Signature::variadic(&[Param { name: "expr", arg_type: ArgType::Any }], ArgType::Any).common_type(0),
    |_, arguments| Ok(first_not_null(arguments)),
    doc("The first value that is not NULL.", "1.0.0", &[("SELECT coalesce(NULL, 1, NULL)", "1")]),
);

// Errors of these two speak of `coalesce`, which they stand for.
pub(super) static NVL: Function = declare(
    "nvl",
    Signature::of(TWO),
    coalesced,
    doc("The second value if the first is NULL, else the first.", "2.0.0", &[("SELECT nvl(NULL, 1)", "1")]),
);

pub(super) static IFNULL: Function = declare(
    "ifnull",
    Signature::of(TWO),
    coalesced,
    doc("The second value if the first is NULL, else the first.", "2.0.0", &[("SELECT ifnull(NULL, 1)", "1")]),
);

fn coalesced(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    COALESCE.build(context, arguments)
}

/// The first value that is not null, of values of one type.
pub(super) fn first_not_null(arguments: Vec<TypedExpr>) -> TypedExpr {
    let data_type = arguments.first().map_or(DataType::Null, |a| a.data_type.clone());
    let nullable = arguments.iter().all(|a| a.nullable);
    let mut values: Vec<Expr> = arguments.into_iter().map(|a| a.expr).collect();
    let expr = match values.pop() {
        Some(only) if values.is_empty() => only,
        Some(last) => {
            let branches = values
                .into_iter()
                .map(|value| (Box::new(Expr::IsNotNull(Box::new(value.clone()))), Box::new(value)))
                .collect();
            lazy::case(branches, Some(Box::new(last)), &data_type)
        }
        None => Expr::Literal(datafusion::scalar::ScalarValue::Null, None),
    };
    TypedExpr::new(expr, data_type, nullable, "")
}

pub(super) static NVL2: Function = declare(
    "nvl2",
    Signature::of(&[
        Param { name: "expr1", arg_type: ArgType::Any },
        Param { name: "expr2", arg_type: ArgType::Any },
        Param { name: "expr3", arg_type: ArgType::Any },
    ]),
    |context, arguments| {
        let [tested, yes, no] =
            <[TypedExpr; 3]>::try_from(arguments).map_err(|_| SparkError::internal("nvl2 takes three arguments"))?;
        let name = format!("({} IS NOT NULL)", tested.name);
        let condition = TypedExpr::new(Expr::IsNotNull(Box::new(tested.expr)), DataType::Boolean, false, &name);
        let call = format!("(IF({name}, {}, {}))", yes.name, no.name);
        super::branch::case(vec![(condition, yes)], Some(no), "if", &call, context)
    },
    doc("The second value if the first is not NULL, else the third.", "2.0.0", &[("SELECT nvl2(NULL, 2, 1)", "1")]),
);

const REAL: ArgType = ArgType::OneOf(&[ArgType::Double, ArgType::Float]);

pub(super) static NANVL: Function = declare(
    "nanvl",
    Signature::of(&[Param { name: "expr1", arg_type: REAL }, Param { name: "expr2", arg_type: REAL }]),
    nan_or,
    doc(
        "The first value if it is not NaN, else the second.",
        "1.5.0",
        &[("SELECT nanvl(cast('NaN' as double), 123)", "123.0")],
    ),
);

fn nan_or(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let [mut value, mut other] =
        <[TypedExpr; 2]>::try_from(arguments).map_err(|_| SparkError::internal("nanvl takes two arguments"))?;
    if value.data_type != other.data_type {
        value = coercion::implicitly(value, &DataType::Double, context)?;
        other = coercion::implicitly(other, &DataType::Double, context)?;
    }
    let (data_type, nullable) = (value.data_type.clone(), value.nullable || other.nullable);
    // NULL is no NaN: the CASE then takes the value itself.
    let is_nan = datafusion::functions::math::expr_fn::isnan(value.expr.clone());
    let branches = vec![(Box::new(is_nan), Box::new(other.expr))];
    let expr = lazy::case(branches, Some(Box::new(value.expr)), &data_type);
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}
