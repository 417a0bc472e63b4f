//! Functions of XML text.

pub mod from_xml;
pub mod schema_of_xml;
pub mod to_xml;
pub mod tree;
pub mod xpath;
pub mod xpath_parser;
pub mod xpath_value;

use crate::{ArgType, Body, Documentation, Function, Group, KernelFn, Nullability, Returns, Signature};
use firesteel_types::DataType;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &from_xml::FROM_XML,
    &schema_of_xml::SCHEMA_OF_XML,
    &to_xml::TO_XML,
    &xpath::XPATH,
    &xpath::XPATH_BOOLEAN,
    &xpath::XPATH_DOUBLE,
    &xpath::XPATH_FLOAT,
    &xpath::XPATH_INT,
    &xpath::XPATH_LONG,
    &xpath::XPATH_NUMBER,
    &xpath::XPATH_SHORT,
    &xpath::XPATH_STRING,
];

/// The kernels, by their functions' names: their calls carry what they need besides the arguments.
pub static KERNELS: &[&Function] = &[
    &kernel("from_xml", from_xml::from_xml),
    &kernel("to_xml", to_xml::to_xml),
    &kernel("xpath", xpath::lists),
    &kernel("xpath_boolean", xpath::flags),
    &kernel("xpath_double", xpath::doubles),
    &kernel("xpath_float", xpath::floats),
    &kernel("xpath_int", xpath::integers),
    &kernel("xpath_long", xpath::longs),
    &kernel("xpath_number", xpath::doubles),
    &kernel("xpath_short", xpath::shorts),
    &kernel("xpath_string", xpath::strings),
];

const fn kernel(name: &'static str, kernel: KernelFn) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Internal,
        signature: Signature::variadic(&[], ArgType::Any),
        body: Body::Scalar { returns: Returns::Type(DataType::Null), nullable: Nullability::Always, kernel },
        deterministic: true,
        text: None,
        documentation: Documentation::EMPTY,
    }
}
