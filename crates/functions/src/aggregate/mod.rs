//! Aggregate functions.
//!
//! An aggregate declares how calls are typed and named, and a [`Kernel`] whose
//! [`States`](states::States) hold all groups in columns. From those come the
//! grouped accumulator, the single one, sliding windows and `DISTINCT`.
//! `count`, and `min` and `max` of types that DataFusion orders as Spark does,
//! are DataFusion's own.

mod accumulator;
mod approx_count_distinct;
mod avg;
mod bitmap;
mod bits;
mod collect;
pub(crate) mod constant;
mod count;
mod covariance;
mod extreme;
mod extreme_by;
mod extreme_list;
mod first;
mod fold;
mod gather;
mod hash_order;
mod histogram_numeric;
mod listagg;
mod mode;
mod moments;
mod number;
pub(crate) mod ordering;
mod pandas;
mod percentile;
mod percentile_approx;
mod picked;
mod product;
mod regression;
mod schema_of_variant_agg;
mod sketch;
mod states;
mod sum;
pub mod udaf;
mod vector;

#[cfg(test)]
mod tests;

use crate::typed::TypedExpr;
use crate::{AggregateCall, ArgType, Body, BuildContext, Documentation, Function, Group, Param, Signature};
use datafusion::logical_expr::Expr;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use udaf::{Call, Kernel};

/// The families' lists.
pub fn families() -> Vec<&'static [&'static Function]> {
    let mut families = sketch::families();
    families.extend([
        approx_count_distinct::FUNCTIONS,
        avg::FUNCTIONS,
        bitmap::FUNCTIONS,
        bits::FUNCTIONS,
        collect::FUNCTIONS,
        count::FUNCTIONS,
        covariance::FUNCTIONS,
        extreme::FUNCTIONS,
        extreme_by::FUNCTIONS,
        first::FUNCTIONS,
        histogram_numeric::FUNCTIONS,
        listagg::FUNCTIONS,
        mode::FUNCTIONS,
        moments::FUNCTIONS,
        pandas::FUNCTIONS,
        percentile::FUNCTIONS,
        percentile_approx::FUNCTIONS,
        product::FUNCTIONS,
        regression::FUNCTIONS,
        schema_of_variant_agg::FUNCTIONS,
        sum::FUNCTIONS,
        vector::FUNCTIONS,
    ]);
    families
}

static KERNELS: &[&Kernel] = &[
    &approx_count_distinct::KERNEL,
    &avg::KERNEL,
    &bitmap::AND,
    &bitmap::CONSTRUCT,
    &bitmap::OR,
    &bits::KERNEL,
    &collect::LIST,
    &collect::SET,
    &covariance::KERNEL,
    &extreme::MIN,
    &extreme::MAX,
    &extreme_by::MIN_BY,
    &extreme_by::MAX_BY,
    &extreme_list::KERNEL,
    &first::FIRST,
    &first::LAST,
    &histogram_numeric::KERNEL,
    &listagg::KERNEL,
    &mode::KERNEL,
    &moments::KERNEL,
    &pandas::MODES,
    &pandas::PRODUCT,
    &pandas::TOP,
    &percentile::KERNEL,
    &percentile_approx::KERNEL,
    &product::KERNEL,
    &schema_of_variant_agg::KERNEL,
    &sum::KERNEL,
    &sum::TRY_KERNEL,
    &vector::AVG,
    &vector::SUM,
];

/// The kernel of a name, to rebuild a call from its plain data.
pub fn kernel(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().chain(sketch::AGGREGATES.iter().copied().flatten()).find(|k| k.name == name).copied()
}

/// Kernels of functions that check their calls themselves, by the functions' names.
pub static SCALAR_KERNELS: &[&[&Function]] = sketch::KERNELS;

type Build = fn(&mut BuildContext<'_>, AggregateCall) -> Result<TypedExpr>;

/// Declares an aggregate.
const fn declare(
    name: &'static str,
    aliases: &'static [&'static str],
    signature: Signature,
    build: Build,
    usage: &'static str,
) -> Function {
    Function {
        name,
        aliases,
        group: Group::Aggregate,
        signature,
        body: Body::Aggregate(build),
        deterministic: true,
        text: None,
        documentation: Documentation { usage, ..Documentation::EMPTY },
    }
}

/// Declares an aggregate that only clients call.
const fn declare_internal(name: &'static str, signature: Signature, build: Build, usage: &'static str) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Internal,
        signature,
        body: Body::Aggregate(build),
        deterministic: true,
        text: None,
        documentation: Documentation { usage, ..Documentation::EMPTY },
    }
}

const fn any(name: &'static str) -> Param {
    Param { name, arg_type: ArgType::Any }
}

const fn double(name: &'static str) -> Param {
    Param { name, arg_type: ArgType::Double }
}

/// One argument of any type.
const ONE: Signature = Signature::of(&[any("expr")]);
/// One number, as a double.
const ONE_DOUBLE: Signature = Signature::of(&[double("expr")]);
/// Two numbers, as doubles.
const TWO_DOUBLES: Signature = Signature::of(&[double("y"), double("x")]);

/// A call on its way to an expression.
struct AggregateContext {
    name: &'static str,
    call: AggregateCall,
    /// The text of the call: the name of its column.
    text: String,
}

impl AggregateContext {
    fn new(name: &'static str, call: AggregateCall) -> Self {
        let arguments: Vec<&str> = call.arguments.iter().map(|a| a.name.as_str()).collect();
        let distinct = if call.is_distinct { "DISTINCT " } else { "" };
        let text = format!("{name}({distinct}{})", arguments.join(", "));
        Self { name, call, text }
    }

    fn argument(&self, index: usize) -> Result<&TypedExpr> {
        self.call
            .arguments
            .get(index)
            .ok_or_else(|| SparkError::internal(format!("{}: no argument {index}", self.name)))
    }

    fn argument_type(&self, index: usize) -> Result<DataType> {
        Ok(self.argument(index)?.data_type.clone())
    }

    /// Makes the first argument a number or an ANSI interval, and gives its type.
    fn numeric_or_interval(&mut self, context: &mut BuildContext<'_>) -> Result<DataType> {
        let argument = self.argument(0)?.clone();
        let coerced = match &argument.data_type {
            t if t.is_numeric() || t.is_ansi_interval() => return Ok(argument.data_type),
            DataType::Null => TypedExpr {
                expr: datafusion::logical_expr::cast(argument.expr, arrow::datatypes::DataType::Float64),
                data_type: DataType::Double,
                ..argument
            },
            t if t.is_string() => crate::coercion::coerce_argument(argument, ArgType::Double, 0, &self.text, context)?,
            _ => return Err(self.unexpected_type(0, "\"NUMERIC\" or \"ANSI INTERVAL\"")),
        };
        let data_type = coerced.data_type.clone();
        self.call.arguments = vec![coerced];
        Ok(data_type)
    }

    fn unexpected_type(&self, index: usize, required: &str) -> SparkError {
        let (input, data_type) = match self.call.arguments.get(index) {
            Some(argument) => (argument.name.clone(), argument.data_type.sql()),
            None => (String::new(), String::new()),
        };
        const ORDINALS: [&str; 4] = ["first", "second", "third", "fourth"];
        SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
            .with("sqlExpr", format!("\"{}\"", self.text))
            .with("paramIndex", ORDINALS.get(index).copied().unwrap_or("next"))
            .with("requiredType", required)
            .with("inputSql", format!("\"{input}\""))
            .with("inputType", format!("\"{data_type}\""))
    }

    /// Fails unless values of an argument have an order.
    fn check_orderable(&self, index: usize) -> Result<()> {
        let data_type = self.argument_type(index)?;
        if !data_type.is_orderable() {
            return Err(SparkError::new("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE")
                .with("sqlExpr", format!("\"{}\"", self.text))
                .with("functionName", format!("`{}`", self.name))
                .with("dataType", format!("\"{}\"", data_type.sql())));
        }
        self.check_collation(&data_type)
    }

    /// Fails for strings that do not compare as bytes.
    fn check_collation(&self, data_type: &DataType) -> Result<()> {
        if data_type.exists(&|t| matches!(t, DataType::String(c) if !c.is_binary())) {
            return Err(SparkError::unsupported(format!("{} of collated strings", self.name)));
        }
        Ok(())
    }

    /// Fails for clauses that the function has not taken: those that do remove them from the call.
    fn check_syntax(&self) -> Result<()> {
        let syntax = match (self.call.order_by.is_empty(), self.call.ignore_nulls) {
            (false, _) => "WITHIN GROUP (ORDER BY ...)",
            (true, Some(true)) => "IGNORE NULLS",
            (true, Some(false) | None) => return Ok(()),
        };
        Err(SparkError::new("INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX")
            .with("prettyName", format!("`{}`", self.name))
            .with("syntax", syntax))
    }

    /// The kernel's call as plain data.
    fn plain_call(&self, context: &BuildContext<'_>, returns: &DataType, payload: Option<&str>) -> Call {
        Call {
            arguments: self.call.arguments.iter().map(|a| a.data_type.clone()).collect(),
            returns: returns.clone(),
            ansi: context.conf.ansi_enabled,
            payload: payload.map(Into::into),
            context: context.context.clone(),
        }
    }

    /// The expression of the call.
    fn aggregate(
        self,
        kernel: &'static Kernel,
        context: &BuildContext<'_>,
        returns: DataType,
        nullable: bool,
        payload: Option<&str>,
    ) -> Result<TypedExpr> {
        self.check_syntax()?;
        let call = self.plain_call(context, &returns, payload);
        let arguments = self.call.arguments.into_iter().map(|a| a.expr).collect();
        let expr = udaf::aggregate(kernel, call, arguments, self.call.is_distinct, self.call.filter);
        Ok(TypedExpr::new(expr, returns, nullable, self.text))
    }

    /// The expression of a call of DataFusion's own aggregate.
    fn native(
        self,
        udaf: std::sync::Arc<datafusion::logical_expr::AggregateUDF>,
        arguments: Vec<Expr>,
        returns: DataType,
        nullable: bool,
    ) -> Result<TypedExpr> {
        self.check_syntax()?;
        let expr = Expr::AggregateFunction(datafusion::logical_expr::expr::AggregateFunction::new_udf(
            udaf,
            arguments,
            self.call.is_distinct,
            self.call.filter.map(Box::new),
            Vec::new(),
            None,
        ));
        Ok(TypedExpr::new(expr, returns, nullable, self.text))
    }
}
