//! A short way to write declarations of functions.

use crate::{ArgType, Body, BuildContext, Function, KernelFn, Nullability, Param, Returns, TypedExpr};
use firesteel_error::Result;
use firesteel_types::DataType;
use std::sync::Arc;

/// A parameter.
pub const fn param(name: &'static str, arg_type: ArgType) -> Param {
    Param { name, arg_type }
}

/// A kernel whose result is null when an argument is.
pub const fn strict(returns: DataType, kernel: KernelFn) -> Body {
    Body::Scalar { returns: Returns::Type(returns), nullable: Nullability::IfAnyArgument, kernel }
}

/// A kernel with a fixed type whose result counts as nullable whatever the arguments.
pub const fn lenient(returns: DataType, kernel: KernelFn) -> Body {
    Body::Scalar { returns: Returns::Type(returns), nullable: Nullability::Always, kernel }
}

/// A kernel whose result has the type of the first argument and is null when an argument is.
pub const fn same_type(kernel: KernelFn) -> Body {
    Body::Scalar { returns: Returns::SameAs(0), nullable: Nullability::IfAnyArgument, kernel }
}

/// Calls a kernel that needs no argument and gives no null.
///
/// The engine takes calls of nothing but constants for constants, and drops sorts by them: none goes along.
pub fn call_without_arguments(
    function: &'static Function,
    kernel: KernelFn,
    data_type: DataType,
    payload: Option<Arc<str>>,
    context: &BuildContext<'_>,
) -> Result<TypedExpr> {
    let expr = crate::kernel::call_with_payload(function, kernel, &[], &data_type, false, context, payload)?;
    Ok(TypedExpr::new(expr, data_type, false, function.call_text(&[])))
}

/// Declares a function as a static.
macro_rules! function {
    (
        $(#[$attribute:meta])*
        $id:ident = $name:literal $(or $alias:literal)* in $group:ident, $signature:expr => $body:expr;
        $(text $text:expr;)?
        $(volatile $volatile:literal;)?
        usage $usage:literal;
        since $since:literal;
        $(example $sql:literal => $answer:literal;)*
    ) => {
        $(#[$attribute])*
        pub static $id: $crate::Function = $crate::Function {
            name: $name,
            aliases: &[$($alias),*],
            group: $crate::Group::$group,
            signature: $signature,
            body: $body,
            deterministic: $crate::scalar::string::declare::function!(@deterministic $($volatile)?),
            text: $crate::scalar::string::declare::function!(@text $($text)?),
            documentation: $crate::Documentation {
                usage: $usage,
                arguments: &[],
                examples: &[$(($sql, $answer)),*],
                note: "",
                since: $since,
            },
        };
    };
    (@deterministic) => { true };
    (@deterministic $volatile:literal) => { !$volatile };
    (@text) => { None };
    (@text $text:expr) => { Some($text) };
}
pub(crate) use function;
