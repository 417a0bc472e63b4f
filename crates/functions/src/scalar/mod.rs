//! Scalar functions and generators, a folder a family.

pub mod array;
pub mod bitwise;
pub mod conditional;
pub mod conversion;
pub mod datetime;
pub mod generator;
pub mod hash;
pub mod interval;
pub mod json;
pub mod lambda;
pub mod map;
pub mod math;
pub mod misc;
pub mod operator;
pub mod predicate;
pub mod regexp;
pub mod spatial;
pub mod string;
pub mod struct_;
pub mod url;
pub mod variant;
pub mod xml;

use crate::Function;

/// Kernels of functions that check their calls themselves, by the functions' names.
pub static CHECKED_KERNELS: &[&[&Function]] =
    &[array::vector::KERNELS, datetime::KERNELS, misc::aes::KERNELS, spatial::KERNELS, variant::KERNELS, xml::KERNELS];

/// The families' lists.
pub fn families() -> Vec<&'static [&'static Function]> {
    vec![
        operator::FUNCTIONS,
        predicate::FUNCTIONS,
        conditional::FUNCTIONS,
        bitwise::FUNCTIONS,
        math::FUNCTIONS,
        string::FUNCTIONS,
        regexp::FUNCTIONS,
        url::FUNCTIONS,
        variant::FUNCTIONS,
        json::FUNCTIONS,
        hash::FUNCTIONS,
        misc::FUNCTIONS,
        conversion::FUNCTIONS,
        datetime::FUNCTIONS,
        interval::FUNCTIONS,
        array::FUNCTIONS,
        map::FUNCTIONS,
        struct_::FUNCTIONS,
        lambda::FUNCTIONS,
        generator::FUNCTIONS,
        xml::FUNCTIONS,
        spatial::FUNCTIONS,
    ]
}
