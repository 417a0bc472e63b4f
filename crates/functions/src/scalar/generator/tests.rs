//! The rows of generators.

use crate::cast::testing::{conf, read, text_of, with_context};
use crate::function::Body;
use crate::registry;

fn rows(name: &str, arguments: &[&str]) -> (Vec<String>, String) {
    let conf = conf(true);
    with_context(&conf, |context| {
        let function = registry::lookup(name).unwrap();
        let Body::Generator(build) = &function.body else { panic!("{name} is no generator") };
        let arguments = arguments.iter().map(|a| read(a, context).unwrap()).collect();
        let made = build(context, arguments).unwrap();
        let columns =
            made.columns.iter().map(|c| format!("{} {} {}", c.name, c.data_type.simple_string(), c.nullable)).collect();
        (columns, text_of(&made.rows, context).unwrap().unwrap_or_default())
    })
}

#[test]
fn rows_are_sparks() {
    for (name, arguments, columns, answer) in [
        ("explode", vec!["array(1,null)"], vec!["col int true"], "[{1}, {null}]"),
        ("posexplode", vec!["array(1,2)"], vec!["pos int false", "col int false"], "[{0, 1}, {1, 2}]"),
        ("explode", vec!["map(1,'a')"], vec!["key int false", "value string false"], "[{1, a}]"),
        ("posexplode", vec!["map(1,'a')"], vec!["pos int false", "key int false", "value string false"], "[{0, 1, a}]"),
        (
            "inline",
            vec!["array(struct(1,'a'),struct(2,'b'))"],
            vec!["col1 int false", "col2 string false"],
            "[{1, a}, {2, b}]",
        ),
        ("stack", vec!["2", "1", "2", "3"], vec!["col0 int true", "col1 int true"], "[{1, 2}, {3, null}]"),
        ("explode_outer", vec!["cast(array() as array<int>)"], vec!["col int true"], ""),
    ] {
        let (made, text) = rows(name, &arguments);
        assert_eq!(made, columns, "{name} {arguments:?}");
        assert_eq!(text, answer, "{name} {arguments:?}");
    }
}
