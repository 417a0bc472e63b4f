use super::*;
use arrow::array::{Int8Array, Int16Array};

#[test]
fn count_counts_rows_without_nulls() {
    let star = Call { is_star: true, ..call("count", vec![]) };
    let calls = [
        star,
        call("count", vec![c("l")]),
        call("count", vec![c("l"), c("d")]),
        call("count", vec![c("l")]).distinct(),
        call("count", vec![c("l"), c("s")]).distinct(),
        call("count_if", vec![c("b")]),
    ];
    assert_eq!(all(&calls), ["7", "5", "5", "4", "4", "3"]);
    assert_eq!(
        names(&calls),
        ["count(1)", "count(l)", "count(l, d)", "count(DISTINCT l)", "count(DISTINCT l, s)", "count_if(b)"]
    );
}

#[test]
fn sums() {
    let calls = [
        call("sum", vec![c("g")]),
        call("sum", vec![c("l")]),
        call("sum", vec![c("d")]),
        call("sum", vec![c("dec")]),
        call("sum", vec![c("l")]).distinct(),
        call("sum", vec![c("dec")]).distinct(),
        call("try_sum", vec![c("l")]),
        call("try_sum", vec![c("dec")]),
    ];
    assert_eq!(all(&calls), ["12", "20", "NaN", "20.44", "15", "10.43", "20", "20.44"]);
    assert_eq!(names(&calls[4..]), ["sum(DISTINCT l)", "sum(DISTINCT dec)", "try_sum(l)", "try_sum(dec)"]);
}

#[test]
fn groups_without_values_are_null() {
    let calls = [
        call("sum", vec![c("l")]),
        call("sum", vec![c("d")]),
        call("sum", vec![c("dec")]),
        call("avg", vec![c("l")]),
        call("avg", vec![c("d")]),
        call("avg", vec![c("dec")]),
        call("avg", vec![c("f")]),
        call("mean", vec![c("l")]),
    ];
    assert_eq!(
        rows(Some("g"), &calls),
        [
            vec!["1", "3", "4.0", "3.75", "1.5", "2.0", "1.875000", "2.0", "1.5"],
            vec!["2", "17", "NaN", "16.69", "5.666666666666667", "NaN", "5.563333", "NaN", "5.666666666666667"],
            vec!["3", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"],
        ]
    );
}

#[test]
fn several_partitions_give_the_same() {
    let calls = [
        call("sum", vec![c("l")]),
        call("avg", vec![c("dec")]),
        call("stddev_pop", vec![c("l")]),
        call("max", vec![c("d")]),
        call("bit_or", vec![c("l")]),
        call("percentile", vec![c("l"), number(0.5)]),
        call("count", vec![c("s")]).distinct(),
        call("sum", vec![c("l")]).distinct(),
        call("min_by", vec![c("s"), c("l")]),
        call("mode", vec![c("l"), boolean(true)]),
        call("first", vec![c("g")]),
    ];
    let expected = [
        vec!["1", "3", "1.875000", "0.5", "2.5", "3", "1.5", "2", "3", "a", "1", "1"],
        vec!["2", "17", "5.563333", "0.9428090415820634", "NaN", "7", "5.0", "2", "12", "a", "5", "2"],
        vec!["3", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "0", "NULL", "NULL", "NULL", "3"],
    ];
    assert_eq!(over(&table(), Some("g"), &calls, 7, 3).unwrap(), expected);
    assert_eq!(over(&table(), Some("g"), &calls, 7, 1).unwrap(), expected);
}

#[test]
fn statistics() {
    let calls: Vec<Call> = ["stddev", "stddev_pop", "variance", "var_pop", "skewness", "kurtosis"]
        .iter()
        .map(|name| call(name, vec![c("l")]))
        .collect();
    assert_eq!(
        all(&calls),
        ["2.449489742783178", "2.1908902300206643", "6.0", "4.8", "-0.11410886614690981", "-1.4374999999999991"]
    );
    assert_eq!(
        rows(Some("g"), &calls),
        [
            vec!["1", "0.7071067811865476", "0.5", "0.5", "0.25", "0.0", "-2.0"],
            vec![
                "2",
                "1.1547005383792517",
                "0.9428090415820634",
                "1.3333333333333335",
                "0.888888888888889",
                "0.7071067811865475",
                "-1.5000000000000004"
            ],
            vec!["3", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"],
        ]
    );
}

#[test]
fn pairs() {
    let names = [
        "corr",
        "covar_pop",
        "covar_samp",
        "regr_count",
        "regr_avgx",
        "regr_avgy",
        "regr_sxx",
        "regr_syy",
        "regr_sxy",
        "regr_slope",
        "regr_intercept",
        "regr_r2",
    ];
    let calls: Vec<Call> = names.iter().map(|name| call(name, vec![c("l"), c("dec")])).collect();
    assert_eq!(
        all(&calls),
        [
            "0.022425690246590187",
            "0.25600000000000095",
            "0.3200000000000012",
            "5",
            "4.088000",
            "4.0",
            "135.74287999999999",
            "24.0",
            "1.2800000000000047",
            "0.009429592181925106",
            "3.9614518271602903",
            "0.0005029115830360103"
        ]
    );
}

#[test]
fn correlation_of_a_constant_divides_by_zero() {
    let columns = [
        ("y", DataType::Double, Arc::new(Float64Array::from(vec![2.0, 2.0])) as ArrayRef),
        ("x", DataType::Double, Arc::new(Float64Array::from(vec![1.0, 2.0])) as ArrayRef),
    ];
    let pair = |name| call(name, vec![column(&columns, "y"), column(&columns, "x")]);
    let error = over(&columns, None, &[pair("corr")], 1, 1).unwrap_err();
    assert!(error.contains("DIVIDE_BY_ZERO"), "{error}");
    let rows = over(&columns, None, &[pair("corr").legacy(), pair("regr_r2")], 1, 1).unwrap();
    assert_eq!(rows, [["NULL", "1.0"]]);
}

#[test]
fn extremes() {
    let calls = [
        call("min", vec![c("d")]),
        call("max", vec![c("d")]),
        call("min", vec![c("s")]),
        call("max", vec![c("s")]),
        call("min", vec![c("b")]),
        call("max", vec![c("b")]),
        call("min", vec![c("dt")]),
        call("max", vec![c("f")]),
        call("min", vec![c("dec")]),
        call("min_by", vec![c("s"), c("l")]),
        call("max_by", vec![c("s"), c("l")]),
        call("max_by", vec![c("s"), c("l"), int(2)]),
        call("min_by", vec![c("l"), c("d")]),
        call("max_by", vec![c("l"), c("d")]),
    ];
    assert_eq!(
        all(&calls),
        ["0.1", "NaN", "a", "z", "false", "true", "2019-01-01", "NaN", "-3.33", "a", "z", "[z, a]", "5", "7"]
    );
}

#[test]
fn bits_and_booleans() {
    let calls = [
        call("bool_and", vec![c("b")]),
        call("some", vec![c("b")]),
        call("bit_and", vec![c("l")]),
        call("bit_or", vec![c("l")]),
        call("bit_xor", vec![c("l")]),
        call("bit_and", vec![c("g")]),
        call("bit_xor", vec![c("l")]).distinct(),
    ];
    assert_eq!(all(&calls), ["false", "true", "0", "7", "4", "0", "1"]);
}

#[test]
fn nothing_in_nothing_out() {
    let columns: Vec<_> = table().into_iter().map(|(n, t, a)| (n, t, a.slice(0, 0))).collect();
    let columns: Vec<(&str, DataType, ArrayRef)> = columns;
    let calls = [
        call("count_if", vec![c("b")]),
        call("count", vec![c("l")]),
        call("sum", vec![c("l")]),
        call("min", vec![c("d")]),
        call("collect_list", vec![c("l")]),
        call("collect_set", vec![c("l")]),
        call("approx_count_distinct", vec![c("l")]),
        call("regr_count", vec![c("l"), c("l")]),
        call("percentile", vec![c("l"), number(0.5)]),
        call("listagg", vec![c("s")]),
        call("mode", vec![c("l")]),
        call("first", vec![c("l")]),
        call("bit_and", vec![c("l")]),
        call("histogram_numeric", vec![c("l"), int(2)]),
        call("corr", vec![c("l"), c("l")]),
        call("stddev_pop", vec![c("l")]),
        call("avg", vec![c("dec")]),
        call("max_by", vec![c("l"), c("l")]),
        call("percentile_approx", vec![c("l"), number(0.5)]),
        call("skewness", vec![c("l")]),
    ];
    let expected = [
        "0", "0", "NULL", "NULL", "[]", "[]", "0", "0", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL",
        "NULL", "NULL", "NULL", "NULL",
    ];
    assert_eq!(over(&columns, None, &calls, 1, 1).unwrap(), [expected]);
}

#[test]
fn sums_out_of_range() {
    let longs = [("x", DataType::Long, Arc::new(Int64Array::from(vec![i64::MAX, 1])) as ArrayRef)];
    let x = || vec![column(&longs, "x")];
    let error = over(&longs, None, &[call("sum", x())], 1, 1).unwrap_err();
    assert!(error.contains("ARITHMETIC_OVERFLOW") && error.contains("try_add"), "{error}");
    assert_eq!(
        over(&longs, None, &[call("try_sum", x()), call("sum", x()).legacy()], 1, 1).unwrap(),
        [["NULL", "-9223372036854775808"]]
    );
    let big = 10i128.pow(38) - 1;
    let array = Decimal128Array::from(vec![big, big]).with_precision_and_scale(38, 0).unwrap();
    let decimals = [("x", DataType::Decimal(38, 0), Arc::new(array) as ArrayRef)];
    let x = || vec![column(&decimals, "x")];
    for (name, alternative) in [("sum", "try_sum"), ("avg", "try_avg")] {
        let error = over(&decimals, None, &[call(name, x())], 1, 1).unwrap_err();
        assert!(error.contains("ARITHMETIC_OVERFLOW") && error.contains(alternative), "{error}");
    }
    let calls = [call("try_sum", x()), call("try_avg", x()), call("sum", x()).legacy(), call("avg", x()).legacy()];
    assert_eq!(over(&decimals, None, &calls, 1, 1).unwrap(), [["NULL", "NULL", "NULL", "NULL"]]);
    assert_eq!(over(&decimals, None, &calls[..2], 2, 2).unwrap(), [["NULL", "NULL"]]);
}

#[test]
fn narrow_numbers() {
    let columns = [
        ("x", DataType::Byte, Arc::new(Int8Array::from(vec![5, 3, 3])) as ArrayRef),
        ("y", DataType::Short, Arc::new(Int16Array::from(vec![5, 3, 3])) as ArrayRef),
    ];
    let (x, y) = (column(&columns, "x"), column(&columns, "y"));
    let calls = [
        call("sum", vec![x.clone()]),
        call("sum", vec![y.clone()]),
        call("avg", vec![x.clone()]),
        call("bit_and", vec![x]),
        call("bit_or", vec![y]),
    ];
    assert_eq!(over(&columns, None, &calls, 1, 1).unwrap(), [["11", "11", "3.6666666666666665", "1", "7"]]);
}

#[test]
fn averages_of_decimals_round_half_up() {
    let array = Decimal128Array::from(vec![1005, 1000, 1000]).with_precision_and_scale(10, 3).unwrap();
    let columns = [("x", DataType::Decimal(10, 3), Arc::new(array) as ArrayRef)];
    let calls = [call("avg", vec![column(&columns, "x")])];
    assert_eq!(over(&columns, None, &calls, 1, 1).unwrap(), [["1.0016667"]]);
}

#[test]
fn zeros_and_nans_are_one_value() {
    let array = Float64Array::from(vec![0.0, -0.0, f64::NAN, f64::NAN]);
    let columns = [("x", DataType::Double, Arc::new(array) as ArrayRef)];
    let x = || vec![column(&columns, "x")];
    let calls = [
        call("count", x()).distinct(),
        call("sum", x()).distinct(),
        call("collect_set", x()),
        call("collect_list", x()),
        call("min", x()),
    ];
    assert_eq!(
        over(&columns, None, &calls, 1, 1).unwrap(),
        [["2", "NaN", "[0.0, NaN]", "[0.0, -0.0, NaN, NaN]", "0.0"]]
    );
}

#[test]
fn wrong_types_fail() {
    let map = TypedExpr::new(lit(1), DataType::map(DataType::Integer, DataType::Integer, false), false, "map(1, 2)");
    for (call, condition) in [
        (call("sum", vec![c("b")]), "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"),
        (call("avg", vec![c("dt")]), "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"),
        (call("min", vec![map.clone()]), "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE"),
        (call("max_by", vec![c("l"), map.clone()]), "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE"),
        (call("collect_set", vec![map]), "DATATYPE_MISMATCH.UNSUPPORTED_INPUT_TYPE"),
        (call("percentile", vec![c("l"), number(1.5)]), "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE"),
        (call("percentile", vec![c("l"), c("d")]), "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT"),
        (call("percentile_approx", vec![c("l"), number(0.5), int(-1)]), "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE"),
        (call("sum", vec![c("l"), c("l")]), "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"),
        (call("max_by", vec![c("l"), c("l"), int(0)]), "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE"),
        (call("histogram_numeric", vec![c("l"), int(1)]), "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE"),
        (call("sum", vec![c("l")]).nulls(true), "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX"),
        (call("sum", vec![c("l")]).ordered(c("l"), true), "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX"),
        (call("rank", vec![]).nulls(true), "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX"),
        (call("percentile_cont", vec![number(0.5)]), "INVALID_WITHIN_GROUP_EXPRESSION.WITHIN_GROUP_MISSING"),
        (
            call("percentile_cont", vec![number(0.5)]).ordered(c("l"), true).distinct(),
            "INVALID_WITHIN_GROUP_EXPRESSION.DISTINCT_UNSUPPORTED",
        ),
        (call("count", vec![]), "WRONG_NUM_ARGS.WITH_SUGGESTION"),
    ] {
        let error = call.build().unwrap_err();
        assert!(error.is(condition), "{}: {error}", call.name);
    }
}

#[test]
fn filters_choose_rows() {
    let large = || ident("l").gt(lit(2i64));
    let star = Call { is_star: true, ..call("count", vec![]) };
    let calls = [
        star.filtered(large()),
        call("sum", vec![c("l")]).filtered(large()),
        call("avg", vec![c("dec")]).filtered(large()),
        call("max", vec![c("d")]).filtered(large()),
        call("collect_list", vec![c("s")]).filtered(large()),
        call("first", vec![c("l")]).filtered(large()),
        call("sum", vec![c("l")]).distinct().filtered(large()),
    ];
    assert_eq!(all(&calls), ["3", "17", "5.563333", "NaN", "[z, a, a]", "7", "12"]);
    assert_eq!(
        rows(Some("g"), &calls),
        [
            ["1", "0", "NULL", "NULL", "NULL", "[]", "NULL", "NULL"],
            ["2", "3", "17", "5.563333", "NaN", "[z, a, a]", "7", "12"],
            ["3", "0", "NULL", "NULL", "NULL", "[]", "NULL", "NULL"],
        ]
    );
}

#[test]
fn bitmaps_and_products() {
    let calls = [
        call("product", vec![c("g")]),
        call("product", vec![c("dec")]),
        call("bitmap_construct_agg", vec![c("l")]),
        call("bitmap_or_agg", vec![TypedExpr::new(lit(vec![0x10u8]), DataType::Binary, true, "x")]),
    ];
    let values = all(&calls);
    assert_eq!(values[0], "24.0");
    assert!(values[2].starts_with("a600") && values[2].len() == 8192);
    assert!(values[3].starts_with("1000"));
    let columns = [("x", DataType::Long, Arc::new(Int64Array::from(vec![32768])) as ArrayRef)];
    let error = over(&columns, None, &[call("bitmap_construct_agg", vec![column(&columns, "x")])], 1, 1).unwrap_err();
    assert!(error.contains("INVALID_BITMAP_POSITION"), "{error}");
}
