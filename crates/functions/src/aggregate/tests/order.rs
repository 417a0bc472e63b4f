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
        [["1", "1", "NULL", "1", "2"], ["2", "7", "5", "7", "5"], ["3", "NULL", "NULL", "NULL", "NULL"],]
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
        [["1", "[1, 2]", "[1, 2]", "[a, b]"], ["2", "[7, 5, 5]", "[7, 5, 5]", "[z, a]"], ["3", "[]", "[]", "[]"],]
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
fn no_percentages_no_percentiles() {
    let calls = [
        call("percentile", vec![c("l"), numbers(&[])]),
        call("percentile_approx", vec![c("l"), numbers(&[])]),
        call("approx_count_distinct", vec![c("dec")]),
        call("approx_count_distinct", vec![c("b")]),
        call("approx_count_distinct", vec![c("d")]),
        call("approx_count_distinct", vec![c("s")]),
    ];
    assert_eq!(all(&calls), ["NULL", "NULL", "4", "2", "5", "3"]);
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

#[test]
fn groups_of_everything_gathered() {
    let calls = [
        call("percentile", vec![c("l"), number(0.5)]),
        call("percentile_approx", vec![c("l"), number(0.5)]),
        call("mode", vec![c("s"), boolean(true)]),
        call("listagg", vec![c("s"), text(",")]).ordered(c("s"), true),
        call("max_by", vec![c("s"), c("l"), int(2)]),
        call("collect_set", vec![c("s")]),
        call("sum", vec![c("dec")]).distinct(),
        call("histogram_numeric", vec![c("l"), int(2)]),
        call("bool_and", vec![c("b")]),
        call("min_by", vec![c("s"), c("d")]),
    ];
    assert_eq!(
        rows(Some("g"), &calls),
        [
            ["1", "1.5", "1", "a", "a,b", "[b, a]", "[a, b]", "3.75", "[{x: 1, y: 1.0}, {x: 2, y: 1.0}]", "false", "a"],
            [
                "2",
                "5.0",
                "5",
                "a",
                "a,a,z",
                "[z, a]",
                "[z, a]",
                "6.68",
                "[{x: 5, y: 2.0}, {x: 7, y: 1.0}]",
                "true",
                "a"
            ],
            ["3", "NULL", "NULL", "NULL", "NULL", "NULL", "[]", "NULL", "NULL", "NULL", "NULL"],
        ]
    );
}

#[test]
fn nested_values_are_ordered() {
    use arrow::array::{ListArray, StringViewArray, StructArray};
    use arrow::datatypes::Int64Type;
    let l: ArrayRef = Arc::new(Int64Array::from(vec![Some(2), None, Some(2)]));
    let s: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("z"), Some("b")]));
    let fields = vec![StructField::new("l", DataType::Long, true), StructField::new("s", DataType::STRING, true)];
    let struct_type = DataType::struct_of(fields);
    let arrow::datatypes::DataType::Struct(parts) = arrow_mapping::to_arrow(&struct_type) else { unreachable!() };
    let structs: ArrayRef = Arc::new(StructArray::new(parts, vec![l, s], None));
    let list_type = DataType::array(DataType::Long, true);
    let lists =
        ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1)]), None, Some(vec![Some(1), None])]);
    let lists = arrow::compute::cast(&lists, &arrow_mapping::to_arrow(&list_type)).unwrap();
    let columns = [("x", struct_type, structs), ("y", list_type, lists)];
    let (x, y) = (column(&columns, "x"), column(&columns, "y"));
    let calls = [
        call("min", vec![x.clone()]),
        call("max", vec![x.clone()]),
        call("min", vec![y.clone()]),
        call("max", vec![y.clone()]),
        call("collect_set", vec![x]),
        call("first", vec![y]),
    ];
    assert_eq!(
        over(&columns, None, &calls, 3, 1).unwrap(),
        [[
            "{l: NULL, s: z}",
            "{l: 2, s: b}",
            "[1]",
            "[1, NULL]",
            "[{l: 2, s: a}, {l: NULL, s: z}, {l: 2, s: b}]",
            "[1]"
        ]]
    );

    // Strings as a scan gives them.
    let views: ArrayRef = Arc::new(StringViewArray::from(vec![Some("b"), None, Some("a string that is not inlined")]));
    let schema =
        arrow::datatypes::Schema::new(vec![arrow::datatypes::Field::new("v", views.data_type().clone(), true)]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![views]).unwrap();
    let context = SessionContext::new();
    context.register_batch("t", batch).unwrap();
    let v = || TypedExpr::new(ident("v"), DataType::STRING, true, "v");
    let (_, exprs) = aliased(&[
        call("collect_list", vec![v()]),
        call("listagg", vec![v(), text(",")]),
        call("first", vec![v()]),
        call("max_by", vec![v(), v()]),
        call("mode", vec![v(), boolean(true)]),
        call("max", vec![v()]),
    ]);
    let rows = block_on(async move {
        show(&context.table("t").await.unwrap().aggregate(vec![], exprs).unwrap().collect().await.unwrap())
    });
    assert_eq!(
        rows,
        [[
            "[b, a string that is not inlined]",
            "b,a string that is not inlined",
            "b",
            "b",
            "a string that is not inlined",
            "b"
        ]]
    );
}

#[test]
fn intervals_and_nulls() {
    use arrow::array::{DurationMicrosecondArray, IntervalYearMonthArray};
    let day = 86_400_000_000;
    let columns = [
        ("d", DataType::DAY_TIME, Arc::new(DurationMicrosecondArray::from(vec![day, 2 * day])) as ArrayRef),
        ("m", DataType::YEAR_MONTH, Arc::new(IntervalYearMonthArray::from(vec![1, 4])) as ArrayRef),
    ];
    let (d, m) = (column(&columns, "d"), column(&columns, "m"));
    let null = || TypedExpr::new(lit(datafusion::scalar::ScalarValue::Null), DataType::Null, true, "NULL");
    let calls = [
        call("sum", vec![d.clone()]),
        call("avg", vec![d.clone()]),
        call("percentile", vec![d.clone(), number(0.3)]),
        call("percentile_disc", vec![number(0.3)]).ordered(d.clone(), true),
        call("percentile_approx", vec![d.clone(), number(0.3)]),
        call("max", vec![d]),
        call("sum", vec![m.clone()]),
        call("avg", vec![m.clone()]),
        call("median", vec![m.clone()]),
        call("min", vec![m]),
        call("sum", vec![null()]),
        call("min", vec![null()]),
        call("count", vec![null()]),
        call("first", vec![null()]),
        call("collect_list", vec![null()]),
        call("stddev", vec![null()]),
    ];
    let rows = over(&columns, None, &calls, 1, 1).unwrap().remove(0);
    assert_eq!(rows[..6], ["PT259200S", "PT129600S", "PT112320S", "PT86400S", "PT86400S", "PT172800S"]);
    assert_eq!(rows[6..10], ["0 years 5 mons", "0 years 3 mons", "0 years 2 mons", "0 years 1 mons"]);
    assert_eq!(rows[10..], ["NULL", "NULL", "0", "NULL", "[]", "NULL"]);
}
