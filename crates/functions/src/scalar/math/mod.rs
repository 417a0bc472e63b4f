//! Mathematical functions.

pub mod abs;
pub mod ceil;
pub mod decimal;
pub mod exponential;
pub mod integer;
pub mod logarithm;
pub mod random;
pub mod real;
pub mod round;
pub mod strict;
pub mod width_bucket;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &abs::ABS,
    &abs::SIGN_OF,
    &abs::SIGNUM,
    &ceil::CEIL,
    &ceil::CEILING,
    &ceil::FLOOR,
    &integer::BIN,
    &integer::CONV,
    &integer::FACTORIAL,
    &random::RAND,
    &random::RANDN,
    &random::UNIFORM,
    &real::ACOS,
    &real::ACOSH,
    &real::ASIN,
    &real::ASINH,
    &real::ATAN,
    &real::ATAN2,
    &real::ATANH,
    &real::CBRT,
    &real::COS,
    &real::COSH,
    &real::COT,
    &real::CSC,
    &real::DEGREES,
    &real::E,
    &real::EXP,
    &real::EXPM1,
    &real::HYPOT,
    &real::LN,
    &real::LOG,
    &real::LOG10,
    &real::LOG1P,
    &real::LOG2,
    &real::PI,
    &real::POW,
    &real::POWER,
    &real::RADIANS,
    &real::RINT,
    &real::SEC,
    &real::SIN,
    &real::SINH,
    &real::SQRT,
    &real::TAN,
    &real::TANH,
    &round::BROUND,
    &round::ROUND,
    &width_bucket::WIDTH_BUCKET,
];
