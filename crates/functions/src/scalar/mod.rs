//! Scalar functions and generators, a folder a family.

pub mod array;
pub mod avro;
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
pub mod protobuf;
pub mod regexp;
pub mod spatial;
pub mod string;
pub mod struct_;
pub mod url;
pub mod variant;
pub mod xml;

use crate::Function;

/// Kernels of functions whose calls cannot be built again from the types of their arguments, by the functions' names.
pub static CHECKED_KERNELS: &[&[&Function]] = &[
    array::combine::KERNELS,
    array::edit::KERNELS,
    array::element::KERNELS,
    array::order::KERNELS,
    array::size::KERNELS,
    array::vector::KERNELS,
    avro::KERNELS,
    datetime::KERNELS,
    datetime::part::KERNELS,
    datetime::unit::KERNELS,
    datetime::window::KERNELS,
    generator::explode::KERNELS,
    json::csv::KERNELS,
    json::from_json::KERNELS,
    json::path::KERNELS,
    json::to_json::KERNELS,
    map::create::KERNELS,
    map::entry::KERNELS,
    map::text::KERNELS,
    math::ceil::KERNELS,
    math::random::KERNELS,
    misc::aes::KERNELS,
    misc::internal::KERNELS,
    misc::session::KERNELS,
    protobuf::KERNELS,
    spatial::KERNELS,
    string::character::KERNELS,
    string::charset::KERNELS,
    string::encoding::KERNELS,
    string::number_text::KERNELS,
    string::random::KERNELS,
    struct_::get_struct_field::KERNELS,
    struct_::named_struct::KERNELS,
    variant::KERNELS,
    variant::parse::KERNELS,
    xml::KERNELS,
];

/// The families' lists.
pub fn families() -> Vec<&'static [&'static Function]> {
    vec![
        operator::FUNCTIONS,
        predicate::FUNCTIONS,
        protobuf::FUNCTIONS,
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
        avro::FUNCTIONS,
        map::FUNCTIONS,
        struct_::FUNCTIONS,
        lambda::FUNCTIONS,
        generator::FUNCTIONS,
        xml::FUNCTIONS,
        spatial::FUNCTIONS,
    ]
}
