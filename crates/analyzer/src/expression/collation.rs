//! Which collation a call's texts have: the strongest of its arguments decides.
//!
//! A collation that is written at a value is stronger than one of a column, and
//! that is stronger than a literal's. Two of a kind contradict each other: written
//! ones are an error at once, those of columns where texts are compared.

use firesteel_error::{Result, SparkError};
use firesteel_functions::coercion::mismatch;
use firesteel_functions::{ArgType, Function, TypedExpr};
use firesteel_plan::{Expr, ExprKind};
use firesteel_types::{Collation, DataType};

/// Functions that compare texts.
const COMPARING: &[&str] = &[
    "=",
    "==",
    "<=>",
    "<",
    "<=",
    ">",
    ">=",
    "!=",
    "<>",
    "in",
    "equal_null",
    "contains",
    "startswith",
    "endswith",
    "instr",
    "locate",
    "position",
    "charindex",
    "find_in_set",
    "replace",
    "translate",
    "substring_index",
    "split_part",
    "trim",
    "ltrim",
    "rtrim",
    "btrim",
    "nullif",
    "array_contains",
    "greatest",
    "least",
    "str_to_map",
];

/// Functions that put texts together, or choose among them.
const COMBINING: &[&str] = &[
    "concat",
    "||",
    "concat_ws",
    "elt",
    "overlay",
    "mask",
    "coalesce",
    "ifnull",
    "nvl",
    "nvl2",
    "if",
    "when",
    "array",
    "lpad",
    "rpad",
];

/// Functions whose texts have their arguments' collation, though they are declared to give plain ones.
const PASSING: &[&str] = &[
    "elt",
    "overlay",
    "concat_ws",
    "replace",
    "translate",
    "substring_index",
    "split_part",
    "trim",
    "ltrim",
    "rtrim",
    "btrim",
    "make_valid_utf8",
    "validate_utf8",
    "try_validate_utf8",
    "lpad",
    "rpad",
    "mask",
    "sentences",
    "split",
    "str_to_map",
];

/// Functions that find a contradiction of collations only when they run.
const LATE: &[&str] = &["split_part", "str_to_map", "greatest", "least", "array_contains"];

/// Functions that search texts by collations, but not by those that ignore accents alone.
const SEARCHING: &[&str] = &[
    "contains",
    "startswith",
    "endswith",
    "instr",
    "locate",
    "position",
    "charindex",
    "replace",
    "translate",
    "substring_index",
    "split_part",
    "trim",
    "ltrim",
    "rtrim",
    "btrim",
    "str_to_map",
];

/// Functions of patterns, which know texts as they are and by their small letters only.
const MATCHING: &[&str] = &[
    "like",
    "ilike",
    "rlike",
    "regexp",
    "regexp_like",
    "regexp_count",
    "regexp_extract",
    "regexp_extract_all",
    "regexp_instr",
    "regexp_replace",
    "regexp_substr",
    "split",
];

/// The collation of texts of which nobody can say which one they have.
const INDETERMINATE: &str = "null";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Default,
    Implicit,
    Explicit,
}

/// The arguments of a call with the collation that all its texts have.
pub(super) fn common(function: &Function, sources: &[Expr], arguments: Vec<TypedExpr>) -> Result<Vec<TypedExpr>> {
    let name = function.name;
    if !arguments.iter().any(|t| collated(t).is_some()) {
        return Ok(arguments);
    }
    let is_comparing = COMPARING.contains(&name);
    if !(is_comparing || COMBINING.contains(&name)) {
        return check(function, arguments);
    }
    let target = target(&arguments, sources)?;
    if is_comparing && target == Collation::Named(INDETERMINATE.into()) {
        if LATE.contains(&name) {
            return Err(SparkError::new("INDETERMINATE_COLLATION"));
        }
        let texts: Vec<String> = arguments.iter().map(|t| t.name.clone()).collect();
        return Err(SparkError::new("INDETERMINATE_COLLATION_IN_EXPRESSION")
            .with("expr", format!("\"{}\"", function.call_text(&texts))));
    }
    check(function, arguments.into_iter().map(|argument| with_collation(argument, &target)).collect())
}

/// Refuses texts of a collation that the function does not know.
fn check(function: &Function, arguments: Vec<TypedExpr>) -> Result<Vec<TypedExpr>> {
    let name = function.name;
    let (is_searching, is_matching) = (SEARCHING.contains(&name), MATCHING.contains(&name));
    let refuses = |collation: &Collation| {
        let ignores_accents_alone = collation.ignores_accents() && !collation.ignores_case();
        (is_searching && ignores_accents_alone)
            || (name == "str_to_map" && collation.ignores_trailing_blanks())
            || (is_matching && collation.name() != "UTF8_LCASE")
    };
    match arguments.iter().position(|argument| collated(argument).is_some_and(&refuses)) {
        Some(index) => {
            let texts: Vec<String> = arguments.iter().map(|t| t.name.clone()).collect();
            let call = function.call_text(&texts);
            Err(mismatch::unexpected_input(&call, index, ArgType::String, &arguments[index]))
        }
        None => Ok(arguments),
    }
}

/// The result of a call whose texts have their arguments' collation.
pub(super) fn passed_on(function: &Function, of_arguments: Option<&Collation>, mut built: TypedExpr) -> TypedExpr {
    if let Some(collation) = of_arguments
        && PASSING.contains(&function.name)
    {
        built.data_type = with_texts_of(built.data_type, collation);
    }
    built
}

/// A type with all its plain texts of a collation.
fn with_texts_of(data_type: DataType, collation: &Collation) -> DataType {
    let inner = |data_type: &DataType| with_texts_of(data_type.clone(), collation);
    match &data_type {
        DataType::String(Collation::Utf8Binary) => DataType::String(collation.clone()),
        DataType::Array { element, contains_null } => DataType::array(inner(element), *contains_null),
        DataType::Map { key, value, value_contains_null } => {
            DataType::map(inner(key), inner(value), *value_contains_null)
        }
        _ => data_type,
    }
}

/// The collation of the texts among arguments, where it is not the default.
pub(super) fn of(arguments: &[TypedExpr]) -> Option<Collation> {
    arguments.iter().find_map(|t| collated(t).cloned())
}

fn collated(typed: &TypedExpr) -> Option<&Collation> {
    match &typed.data_type {
        DataType::String(collation) if *collation != Collation::Utf8Binary => Some(collation),
        _ => None,
    }
}

fn target(arguments: &[TypedExpr], sources: &[Expr]) -> Result<Collation> {
    let mut strongest = Strength::Default;
    let mut found: Vec<&Collation> = Vec::new();
    for (i, argument) in arguments.iter().enumerate() {
        let DataType::String(collation) = &argument.data_type else { continue };
        let strength = match sources.get(i) {
            Some(source) if sources.len() == arguments.len() => strength(source),
            _ => Strength::Implicit,
        };
        if strength > strongest {
            strongest = strength;
            found.clear();
        }
        if strength == strongest && !found.contains(&collation) {
            found.push(collation);
        }
    }
    match (strongest, found.as_slice()) {
        (_, []) => Ok(Collation::Utf8Binary),
        (_, [one]) => Ok((*one).clone()),
        (Strength::Explicit, several) => {
            let texts: Vec<String> =
                several.iter().map(|c| format!("\"{}\"", DataType::String((*c).clone()).sql())).collect();
            Err(SparkError::new("COLLATION_MISMATCH.EXPLICIT").with("explicitTypes", texts.join(", ")))
        }
        _ => Ok(Collation::Named(INDETERMINATE.into())),
    }
}

/// How firmly a value's collation is its own.
fn strength(expr: &Expr) -> Strength {
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Parameter(_) => Strength::Default,
        ExprKind::Alias { child, .. } | ExprKind::NamedArgument { value: child, .. } => strength(child),
        ExprKind::Cast { child, .. } => strength(child).min(Strength::Implicit),
        ExprKind::Function(call) => {
            let is_collate = matches!(call.name.as_slice(), [name] if name.eq_ignore_ascii_case("collate"));
            if is_collate {
                return Strength::Explicit;
            }
            call.arguments.iter().map(strength).max().unwrap_or(Strength::Default)
        }
        _ => Strength::Implicit,
    }
}

/// A text under another collation; a literal shows it.
fn with_collation(mut typed: TypedExpr, target: &Collation) -> TypedExpr {
    let DataType::String(collation) = &typed.data_type else { return typed };
    if collation == target {
        return typed;
    }
    let is_literal = matches!(&typed.expr, datafusion::logical_expr::Expr::Literal(value, _) if !value.is_null());
    if let (true, Collation::Named(name)) = (is_literal, target) {
        typed.name = format!("'{}' collate {name}", typed.name);
    }
    typed.data_type = DataType::String(target.clone());
    typed
}
