use super::*;

#[test]
fn first_and_last() {
    let calls = [
        call("first", vec![c("l")]),
        call("last", vec![c("l")]),
        call("first", vec![c("l"), boolean(true)]),
        call("last", vec![c("l"), boolean(true)]),
        call("first_value", vec![c("l")]),
        call("last_value", vec![c("l")]).nulls(true),
        call("any_value", vec![c("l")]),
        call("any_value", vec![c("s"), boolean(true)]),
        call("first", vec![c("l")]).nulls(true),
    ];
    assert_eq!(all(&calls), ["1", "NULL", "1", "5", "1", "5", "1", "a", "1"]);
    assert_eq!(
        names(&calls),
        [
            "first(l)",
            "last(l)",
            "first(l)",
            "last(l)",
            "first_value(l)",
            "last(l)",
            "any_value(l)",
            "any_value(s)",
            "first(l)"
        ]
    );
    assert_eq!(
        rows(Some("g"), &calls[..4]),
        [
            ["1", "1", "NULL", "1", "2"],
            ["2", "7", "5", "7", "5"],
            ["3", "NULL", "NULL", "NULL", "NULL"],
        ]
    );
}

#[test]
fn lists_and_sets() {
    let calls = [
        call("collect_list", vec![c("l")]),
        call("array_agg", vec![c("l")]),
        call("collect_set", vec![c("s")]),
        call("collect_list", vec![c("l")]).nulls(false),
        call("collect_list", vec![c("l")]).distinct(),
    ];
    assert_eq!(
        all(&calls),
        ["[1, 2, 7, 5, 5]", "[1, 2, 7, 5, 5]", "[a, b, z]", "[1, 2, NULL, 7, 5, 5, NULL]", "[1, 2, 7, 5]"]
    );
    assert_eq!(
        names(&calls),
        [
            "collect_list(l)",
            "collect_list(l)",
            "collect_set(s)",
            "collect_list(l) RESPECT NULLS",
            "collect_list(DISTINCT l)"
        ]
    );
    assert_eq!(
        rows(Some("g"), &calls[..3]),
        [
            ["1", "[1, 2]", "[1, 2]", "[a, b]"],
            ["2", "[7, 5, 5]", "[7, 5, 5]", "[z, a]"],
            ["3", "[]", "[]", "[]"],
        ]
    );
}

#[test]
fn percentiles() {
    let calls = [
        call("percentile", vec![c("l"), number(0.5)]),
        call("percentile", vec![c("l"), numbers(&[0.25, 0.75])]),
        call("percentile", vec![c("l"), number(0.5), c("g")]),
        call("median", vec![c("l")]),
        call("median", vec![c("dec")]),
        call("percentile_cont", vec![number(0.5)]).ordered(c("l"), true),
        call("percentile_cont", vec![number(0.5)]).ordered(c("l"), false),
        call("percentile_disc", vec![number(0.3)]).ordered(c("l"), true),
        call("percentile_disc", vec![numbers(&[0.3, 0.6])]).ordered(c("d"), false),
    ];
    assert_eq!(all(&calls), ["5.0", "[2.0, 5.0]", "5.0", "5.0", "2.5", "5.0", "5.0", "2.0", "[2.5, 1.5]"]);
    assert_eq!(
        names(&calls),
        [
            "percentile(l, 0.5, 1)",
            "percentile(l, array(0.25, 0.75), 1)",
            "percentile(l, 0.5, g)",
            "median(l)",
            "median(dec)",
            "percentile_cont(0.5) WITHIN GROUP (ORDER BY l)",
            "percentile_cont(0.5) WITHIN GROUP (ORDER BY l DESC)",
            "percentile_disc(0.3) WITHIN GROUP (ORDER BY l)",
            "percentile_disc(array(0.3, 0.6)) WITHIN GROUP (ORDER BY d DESC)"
        ]
    );
}

#[test]
fn percentiles_in_both_orders() {
    let columns = [("x", DataType::Integer, Arc::new(Int32Array::from(vec![1, 2, 3, 4])) as ArrayRef)];
    let x = || column(&columns, "x");
    let disc = |p: f64, ascending| call("percentile_disc", vec![number(p)]).ordered(x(), ascending);
    let cont = |ascending| call("percentile_cont", vec![number(0.25)]).ordered(x(), ascending);
    let calls = [disc(0.0, true), disc(1.0, true), disc(0.5, true), disc(0.5, false), cont(true), cont(false)];
    assert_eq!(over(&columns, None, &calls, 2, 1).unwrap(), [["1.0", "4.0", "2.0", "3.0", "1.75", "3.25"]]);
}

#[test]
fn modes() {
    let columns = [("x", DataType::Integer, Arc::new(Int32Array::from(vec![3, 1, 2, 2, 3])) as ArrayRef)];
    let x = || column(&columns, "x");
    let calls = [
        call("mode", vec![x()]),
        call("mode", vec![x(), boolean(true)]),
        call("mode", vec![]).ordered(x(), true),
        call("mode", vec![]).ordered(x(), false),
    ];
    assert_eq!(over(&columns, None, &calls, 1, 1).unwrap(), [["3", "2", "2", "3"]]);
    assert_eq!(
        names(&calls),
        [
            "mode(x)",
            "mode() WITHIN GROUP (ORDER BY x DESC)",
            "mode() WITHIN GROUP (ORDER BY x DESC)",
            "mode() WITHIN GROUP (ORDER BY x)"
        ]
    );
}

#[test]
fn joined_strings() {
    let calls = [
        call("listagg", vec![c("s")]),
        call("string_agg", vec![c("s"), text("-")]),
        call("listagg", vec![c("s"), text(",")]).distinct(),
        call("listagg", vec![c("s"), text(",")]).ordered(c("s"), false),
        call("listagg", vec![c("s")]).ordered(c("l"), true).ordered(c("d"), false),
        call("listagg", vec![c("s"), text(",")]).distinct().ordered(c("s"), true),
    ];
    assert_eq!(all(&calls), ["abzaa", "a-b-z-a-a", "a,b,z", "z,b,a,a,a", "abaaz", "a,b,z"]);
    assert_eq!(
        names(&calls),
        [
            "listagg(s, NULL)",
            "string_agg(s, -)",
            "listagg(DISTINCT s, ,)",
            "listagg(s, ,) WITHIN GROUP (ORDER BY s DESC NULLS LAST)",
            "listagg(s, NULL) WITHIN GROUP (ORDER BY l ASC NULLS FIRST, d DESC NULLS LAST)",
            "listagg(DISTINCT s, ,) WITHIN GROUP (ORDER BY s ASC NULLS FIRST)"
        ]
    );
}
