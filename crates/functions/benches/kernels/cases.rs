//! The calls that are measured.

use Arg::{Column as C, Number as N, Text as T};

/// An argument of a call.
pub enum Arg {
    Column(&'static str),
    Text(&'static str),
    Number(i32),
}

/// A call of one of our functions, with DataFusion's nearest in its SQL.
pub struct Case {
    pub name: &'static str,
    pub function: &'static str,
    pub arguments: &'static [Arg],
    pub peer: Option<&'static str>,
}

const fn case(
    name: &'static str,
    function: &'static str,
    arguments: &'static [Arg],
    peer: Option<&'static str>,
) -> Case {
    Case { name, function, arguments, peer }
}

/// Every call, operators first and aggregates last.
pub const CASES: &[Case] = &[
    case("add", "+", &[C("i"), C("j")], Some("i + j")),
    case("multiply", "*", &[C("i"), C("j")], Some("i * j")),
    case("divide", "/", &[C("x"), C("y")], Some("x / y")),
    case("equal", "=", &[C("i"), C("j")], Some("i = j")),
    case("less", "<", &[C("i"), C("j")], Some("i < j")),
    case("and", "and", &[C("p"), C("q")], Some("p and q")),
    case("cast_int_to_string", "string", &[C("i")], Some("arrow_cast(i, 'Utf8')")),
    case("cast_string_to_int", "int", &[C("n")], Some("arrow_cast(n, 'Int32')")),
    case("cast_string_to_date", "date", &[C("iso")], Some("arrow_cast(iso, 'Date32')")),
    case("upper", "upper", &[C("s")], Some("upper(s)")),
    case("lower", "lower", &[C("s")], Some("lower(s)")),
    case("trim", "trim", &[C("s")], Some("btrim(s)")),
    case("concat", "concat", &[C("s"), T("-"), C("n")], Some("concat(s, '-', n)")),
    case("substring", "substring", &[C("s"), N(3), N(5)], Some("substr(s, 3, 5)")),
    case("length", "length", &[C("s")], Some("character_length(s)")),
    case("like", "like", &[C("s"), T("%garden%")], Some("s like '%garden%'")),
    case("rlike", "rlike", &[C("s"), T("gr(e|a)y +[A-Z]")], Some("regexp_like(s, 'gr(e|a)y +[A-Z]')")),
    case(
        "regexp_replace",
        "regexp_replace",
        &[C("s"), T("[aeiou]+"), T("_")],
        Some("regexp_replace(s, '[aeiou]+', '_', 'g')"),
    ),
    case("split", "split", &[C("s"), T(" ")], Some("string_to_array(s, ' ')")),
    case("replace", "replace", &[C("s"), T("river"), T("sea")], Some("replace(s, 'river', 'sea')")),
    case("coalesce", "coalesce", &[C("i"), C("j")], Some("coalesce(i, j)")),
    case("if", "if", &[C("p"), C("s"), C("n")], Some("case when p then s else n end")),
    case("round", "round", &[C("x"), N(2)], Some("round(x, 2)")),
    case("abs", "abs", &[C("x")], Some("abs(x)")),
    case("date_add", "date_add", &[C("d1"), N(7)], Some("d1 + interval '7 days'")),
    case("year", "year", &[C("d1")], Some("date_part('year', d1)")),
    case("date_trunc", "date_trunc", &[T("MONTH"), C("t")], Some("date_trunc('month', t)")),
    case("to_date", "to_date", &[C("dmy"), T("dd/MM/yyyy")], Some("to_date(dmy, '%d/%m/%Y')")),
    case("datediff", "datediff", &[C("d1"), C("d2")], Some("d1 - d2")),
    case("get_json_object", "get_json_object", &[C("js"), T("$.name")], Some("json_tuple(js, 'name')")),
    case("array_contains", "array_contains", &[C("a"), N(5)], Some("array_has(a, arrow_cast(5, 'Int32'))")),
    case("size", "size", &[C("a")], Some("array_length(a)")),
    case("hash", "hash", &[C("i"), C("s")], None),
    case("xxhash64", "xxhash64", &[C("i"), C("s")], Some("xxhash64(i, s)")),
    case("sum", "sum", &[C("i")], Some("sum(i)")),
    case("avg", "avg", &[C("x")], Some("avg(x)")),
    case("count", "count", &[C("s")], Some("count(s)")),
];
