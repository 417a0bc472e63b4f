//! Functions of one or two real numbers.

use super::exponential::{acosh, cbrt, cosh, exp, sinh, tanh};
use super::logarithm::{asinh, ln};
use super::strict;
use crate::scalar::string::declare::{function, lenient, param, strict};
use crate::scalar::string::rows::{Doubles, Rows, array_or_constant, downcast, finish, primitives};
use crate::{ArgType, Body, KernelArgs, Signature, TypedExpr};
use arrow::array::Float64Array;
use arrow::datatypes::Float64Type;
use datafusion::logical_expr::{ColumnarValue, lit};
use firesteel_error::Result;
use firesteel_types::DataType;
use std::sync::Arc;

const ONE: Signature = Signature::of(&[param("expr", ArgType::Double)]);
const TWO: Signature = Signature::of(&[param("expr1", ArgType::Double), param("expr2", ArgType::Double)]);

/// Applies a function to each number.
fn each(args: &KernelArgs<'_>, function: impl Fn(f64) -> f64) -> Result<ColumnarValue> {
    let (array, _) = array_or_constant(args, 0)?;
    let result: Float64Array = downcast::<Float64Array>(&array)?.unary(function);
    finish(args, Arc::new(result))
}

/// Applies a logarithm: numbers up to `bound` give null.
fn logarithm(args: &KernelArgs<'_>, bound: f64, function: impl Fn(f64) -> f64) -> Result<ColumnarValue> {
    let (array, _) = array_or_constant(args, 0)?;
    let numbers = downcast::<Float64Array>(&array)?;
    let result: Float64Array = numbers.unary_opt(|x| if x <= bound { None } else { Some(function(x)) });
    finish(args, Arc::new(result))
}

/// Applies a function to pairs of numbers.
fn pairs(args: &KernelArgs<'_>, function: impl Fn(f64, f64) -> f64) -> Result<ColumnarValue> {
    let (left, right): (Doubles, Doubles) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    primitives::<Float64Type>(args, |row| Ok(left.get(row).zip(right.get(row)).map(|(a, b)| function(a, b))))
}

fn atanh(x: f64) -> f64 {
    0.5 * (x.ln_1p() - (-x).ln_1p())
}

function! {
    /// `acos(expr)`
    ACOS = "acos" in Math, ONE => lenient(DataType::Double, |args| each(args, libm::acos));
    text |a| format!("ACOS({})", a.join(", "));
    usage "The angle whose cosine is `expr`, in radians; NaN outside -1 to 1.";
    since "1.4.0";
    example "SELECT acos(1)" => "0.0";
    example "SELECT acos(2)" => "NaN";
}
function! {
    /// `acosh(expr)`
    ACOSH = "acosh" in Math, ONE => lenient(DataType::Double, |args| each(args, acosh));
    text |a| format!("ACOSH({})", a.join(", "));
    usage "The number whose hyperbolic cosine is `expr`.";
    since "3.0.0";
    example "SELECT acosh(1)" => "0.0";
    example "SELECT acosh(0)" => "NaN";
}
function! {
    /// `asin(expr)`
    ASIN = "asin" in Math, ONE => lenient(DataType::Double, |args| each(args, libm::asin));
    text |a| format!("ASIN({})", a.join(", "));
    usage "The angle whose sine is `expr`, in radians; NaN outside -1 to 1.";
    since "1.4.0";
    example "SELECT asin(0)" => "0.0";
    example "SELECT asin(2)" => "NaN";
}
function! {
    /// `asinh(expr)`
    ASINH = "asinh" in Math, ONE => lenient(DataType::Double, |args| each(args, asinh));
    text |a| format!("ASINH({})", a.join(", "));
    usage "The number whose hyperbolic sine is `expr`.";
    since "3.0.0";
    example "SELECT asinh(0)" => "0.0";
}
function! {
    /// `atan(expr)`
    ATAN = "atan" in Math, ONE => lenient(DataType::Double, |args| each(args, libm::atan));
    text |a| format!("ATAN({})", a.join(", "));
    usage "The angle whose tangent is `expr`, in radians.";
    since "1.4.0";
    example "SELECT atan(0)" => "0.0";
}
function! {
    /// `atanh(expr)`
    ATANH = "atanh" in Math, ONE => lenient(DataType::Double, |args| each(args, atanh));
    text |a| format!("ATANH({})", a.join(", "));
    usage "The number whose hyperbolic tangent is `expr`.";
    since "3.0.0";
    example "SELECT atanh(0)" => "0.0";
    example "SELECT atanh(2)" => "NaN";
}
function! {
    /// `cbrt(expr)`
    CBRT = "cbrt" in Math, ONE => lenient(DataType::Double, |args| each(args, cbrt));
    text |a| format!("CBRT({})", a.join(", "));
    usage "The cube root of `expr`.";
    since "1.4.0";
    example "SELECT cbrt(27.0)" => "3.0";
}
function! {
    /// `cos(expr)`
    COS = "cos" in Math, ONE => lenient(DataType::Double, |args| each(args, f64::cos));
    text |a| format!("COS({})", a.join(", "));
    usage "The cosine of an angle in radians.";
    since "1.4.0";
    example "SELECT cos(0)" => "1.0";
}
function! {
    /// `cosh(expr)`
    COSH = "cosh" in Math, ONE => lenient(DataType::Double, |args| each(args, cosh));
    text |a| format!("COSH({})", a.join(", "));
    usage "The hyperbolic cosine of `expr`.";
    since "1.4.0";
    example "SELECT cosh(0)" => "1.0";
}
function! {
    /// `cot(expr)`
    COT = "cot" in Math, ONE => lenient(DataType::Double, |args| each(args, |x| 1.0 / x.tan()));
    text |a| format!("COT({})", a.join(", "));
    usage "The cotangent of an angle in radians.";
    since "2.3.0";
    example "SELECT cot(1)" => "0.6420926159343306";
}
function! {
    /// `csc(expr)`
    CSC = "csc" in Math, ONE => lenient(DataType::Double, |args| each(args, |x| 1.0 / x.sin()));
    text |a| format!("CSC({})", a.join(", "));
    usage "The cosecant of an angle in radians.";
    since "3.3.0";
    example "SELECT csc(1)" => "1.1883951057781212";
}
function! {
    /// `degrees(expr)`
    DEGREES = "degrees" in Math, ONE => lenient(DataType::Double, |args| each(args, |x| x * (180.0 / std::f64::consts::PI)));
    text |a| format!("DEGREES({})", a.join(", "));
    usage "An angle in radians as degrees.";
    since "1.4.0";
    example "SELECT degrees(3.141592653589793)" => "180.0";
}
function! {
    /// `exp(expr)`
    EXP = "exp" in Math, ONE => lenient(DataType::Double, |args| each(args, exp));
    text |a| format!("EXP({})", a.join(", "));
    usage "Euler's number to the power of `expr`.";
    since "1.4.0";
    example "SELECT exp(0)" => "1.0";
}
function! {
    /// `expm1(expr)`
    EXPM1 = "expm1" in Math, ONE => lenient(DataType::Double, |args| each(args, f64::exp_m1));
    text |a| format!("EXPM1({})", a.join(", "));
    usage "Euler's number to the power of `expr`, less one.";
    since "1.4.0";
    example "SELECT expm1(0)" => "0.0";
}
function! {
    /// `ln(expr)`
    LN = "ln" in Math, ONE => lenient(DataType::Double, |args| logarithm(args, 0.0, ln));
    usage "The natural logarithm; null where `expr` is not positive.";
    since "1.4.0";
    example "SELECT ln(1)" => "0.0";
}
function! {
    /// `log10(expr)`
    LOG10 = "log10" in Math, ONE => lenient(DataType::Double, |args| logarithm(args, 0.0, strict::log10));
    text |a| format!("LOG10({})", a.join(", "));
    usage "The logarithm to base 10; null where `expr` is not positive.";
    since "1.4.0";
    example "SELECT log10(10)" => "1.0";
}
function! {
    /// `log1p(expr)`
    LOG1P = "log1p" in Math, ONE => lenient(DataType::Double, |args| logarithm(args, -1.0, f64::ln_1p));
    text |a| format!("LOG1P({})", a.join(", "));
    usage "The natural logarithm of one more than `expr`.";
    since "1.4.0";
    example "SELECT log1p(0)" => "0.0";
}
function! {
    /// `log2(expr)`
    LOG2 = "log2" in Math, ONE => lenient(DataType::Double, |args| logarithm(args, 0.0, |x| ln(x) / ln(2.0)));
    text |a| format!("LOG2({})", a.join(", "));
    usage "The logarithm to base 2; null where `expr` is not positive.";
    since "1.4.0";
    example "SELECT log2(2)" => "1.0";
}
function! {
    /// `radians(expr)`
    RADIANS = "radians" in Math, ONE => lenient(DataType::Double, |args| each(args, |x| x * (std::f64::consts::PI / 180.0)));
    text |a| format!("RADIANS({})", a.join(", "));
    usage "An angle in degrees as radians.";
    since "1.4.0";
    example "SELECT radians(180)" => "3.141592653589793";
}
function! {
    /// `rint(expr)`
    RINT = "rint" in Math, ONE => lenient(DataType::Double, |args| each(args, f64::round_ties_even));
    usage "The whole number nearest to `expr`; the even one of two.";
    since "1.4.0";
    example "SELECT rint(12.3456)" => "12.0";
}
function! {
    /// `sec(expr)`
    SEC = "sec" in Math, ONE => lenient(DataType::Double, |args| each(args, |x| 1.0 / x.cos()));
    text |a| format!("SEC({})", a.join(", "));
    usage "The secant of an angle in radians.";
    since "3.3.0";
    example "SELECT sec(0)" => "1.0";
}
function! {
    /// `sin(expr)`
    SIN = "sin" in Math, ONE => lenient(DataType::Double, |args| each(args, f64::sin));
    text |a| format!("SIN({})", a.join(", "));
    usage "The sine of an angle in radians.";
    since "1.4.0";
    example "SELECT sin(0)" => "0.0";
}
function! {
    /// `sinh(expr)`
    SINH = "sinh" in Math, ONE => lenient(DataType::Double, |args| each(args, sinh));
    text |a| format!("SINH({})", a.join(", "));
    usage "The hyperbolic sine of `expr`.";
    since "1.4.0";
    example "SELECT sinh(0)" => "0.0";
}
function! {
    /// `sqrt(expr)`
    SQRT = "sqrt" in Math, ONE => lenient(DataType::Double, |args| each(args, f64::sqrt));
    text |a| format!("SQRT({})", a.join(", "));
    usage "The square root of `expr`; NaN below zero.";
    since "1.1.1";
    example "SELECT sqrt(4)" => "2.0";
}
function! {
    /// `tan(expr)`
    TAN = "tan" in Math, ONE => lenient(DataType::Double, |args| each(args, f64::tan));
    text |a| format!("TAN({})", a.join(", "));
    usage "The tangent of an angle in radians.";
    since "1.4.0";
    example "SELECT tan(0)" => "0.0";
}
function! {
    /// `tanh(expr)`
    TANH = "tanh" in Math, ONE => lenient(DataType::Double, |args| each(args, tanh));
    text |a| format!("TANH({})", a.join(", "));
    usage "The hyperbolic tangent of `expr`.";
    since "1.4.0";
    example "SELECT tanh(0)" => "0.0";
}
function! {
    /// `atan2(exprY, exprX)`
    ATAN2 = "atan2" in Math, TWO => strict(DataType::Double, |args| pairs(args, |y, x| libm::atan2(y + 0.0, x + 0.0)));
    text |a| format!("ATAN2({})", a.join(", "));
    usage "The angle between the positive x-axis and the point (`exprX`, `exprY`), in radians.";
    since "1.4.0";
    example "SELECT atan2(0, 0)" => "0.0";
}
function! {
    /// `hypot(expr1, expr2)`
    HYPOT = "hypot" in Math, TWO => strict(DataType::Double, |args| pairs(args, strict::hypot));
    text |a| format!("HYPOT({})", a.join(", "));
    usage "The length of the hypotenuse of a right triangle with these legs.";
    since "1.4.0";
    example "SELECT hypot(3, 4)" => "5.0";
}
function! {
    /// `power(expr1, expr2)`
    POWER = "power" in Math, TWO => strict(DataType::Double, |args| pairs(args, power));
    text |a| format!("POWER({})", a.join(", "));
    usage "`expr1` to the power of `expr2`.";
    since "1.4.0";
    example "SELECT power(2, 3)" => "8.0";
}
function! {
    /// `pow(expr1, expr2)`
    POW = "pow" in Math, TWO => strict(DataType::Double, |args| pairs(args, power));
    usage "`expr1` to the power of `expr2`.";
    since "1.4.0";
    example "SELECT pow(2, 3)" => "8.0";
}
function! {
    /// `log([base,] expr)`
    LOG = "log" in Math,
        Signature::with_optional(&[param("base", ArgType::Double), param("expr", ArgType::Double)], 1)
        => lenient(DataType::Double, log);
    text |a| if a.len() == 1 { format!("LOG(E(), {})", a[0]) } else { format!("LOG({})", a.join(", ")) };
    usage "The logarithm of `expr` to `base`, or the natural one; null where one of them is not positive.";
    since "1.5.0";
    example "SELECT log(10, 100)" => "2.0";
}
function! {
    /// `e()`
    E = "e" in Math, Signature::NONE => Body::Build(|_, _| Ok(constant(std::f64::consts::E)));
    text |_| "E()".to_string();
    usage "Euler's number.";
    since "1.5.0";
    example "SELECT e()" => "2.718281828459045";
}
function! {
    /// `pi()`
    PI = "pi" in Math, Signature::NONE => Body::Build(|_, _| Ok(constant(std::f64::consts::PI)));
    text |_| "PI()".to_string();
    usage "The ratio of a circle's circumference to its diameter.";
    since "1.5.0";
    example "SELECT pi()" => "3.141592653589793";
}

fn constant(value: f64) -> TypedExpr {
    TypedExpr::new(lit(value), DataType::Double, false, String::new())
}

/// Java's `pow`: unlike C's, one to the power of NaN or minus one to an infinite power is NaN.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent.is_nan() || (base.abs() == 1.0 && exponent.is_infinite()) {
        f64::NAN
    } else {
        libm::pow(base, exponent)
    }
}

fn log(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    if args.values.len() == 1 {
        return logarithm(args, 0.0, ln);
    }
    let (base, number): (Doubles, Doubles) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    primitives::<Float64Type>(args, |row| {
        let (Some(base), Some(number)) = (base.get(row), number.get(row)) else { return Ok(None) };
        Ok(if base <= 0.0 || number <= 0.0 { None } else { Some(ln(number) / ln(base)) })
    })
}
