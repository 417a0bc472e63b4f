use super::*;
use datafusion::logical_expr::{WindowFrameBound, WindowFrameUnits};
use datafusion::scalar::ScalarValue;

fn growing() -> WindowFrame {
    WindowFrame::new(Some(false))
}

fn sliding(before: u64, after: u64) -> WindowFrame {
    WindowFrame::new_bounds(
        WindowFrameUnits::Rows,
        WindowFrameBound::Preceding(ScalarValue::UInt64(Some(before))),
        WindowFrameBound::Following(ScalarValue::UInt64(Some(after))),
    )
}

fn columns_of(rows: &[Vec<String>]) -> Vec<Vec<&str>> {
    (0..rows[0].len()).map(|i| rows.iter().map(|r| r[i].as_str()).collect()).collect()
}

#[test]
fn rankings() {
    let calls = [
        call("row_number", vec![]),
        call("rank", vec![]),
        call("dense_rank", vec![]),
        call("percent_rank", vec![]),
        call("cume_dist", vec![]),
        call("ntile", vec![int(2)]),
        call("lag", vec![c("l")]),
        call("lead", vec![c("l"), int(1), int(0)]),
        call("nth_value", vec![c("l"), int(2)]),
    ];
    let rows = over_window(&["g"], &["l"], growing(), &calls);
    let third = "0.3333333333333333";
    let two_thirds = "0.6666666666666666";
    assert_eq!(
        rows,
        [
            ["1", "1", "1", "0.0", third, "1", "NULL", "1", "NULL"],
            ["2", "2", "2", "0.5", two_thirds, "1", "NULL", "2", "1"],
            ["3", "3", "3", "1.0", "1.0", "2", "1", "0", "1"],
            ["1", "1", "1", "0.0", two_thirds, "1", "NULL", "5", "5"],
            ["2", "1", "1", "0.0", two_thirds, "1", "5", "7", "5"],
            ["3", "3", "2", "1.0", "1.0", "2", "5", "0", "5"],
            ["1", "1", "1", "0.0", "1.0", "1", "NULL", "0", "NULL"],
        ]
    );
    assert_eq!(
        names(&calls),
        [
            "row_number()",
            "RANK()",
            "DENSE_RANK()",
            "PERCENT_RANK()",
            "cume_dist()",
            "ntile(2)",
            "lag(l, 1, NULL)",
            "lead(l, 1, 0)",
            "nth_value(l, 2)"
        ]
    );
}

#[test]
fn offsets() {
    let calls = [
        call("lag", vec![c("l"), int(2)]),
        call("lag", vec![c("l"), int(-1)]),
        call("lag", vec![c("l")]).nulls(true),
        call("lead", vec![c("l"), int(0)]),
        call("lag", vec![c("l"), int(1), c("g")]),
        call("lag", vec![c("l"), int(1), int(0)]).nulls(true),
        call("lead", vec![c("l"), int(1), int(0)]).nulls(true),
        call("lead", vec![c("l"), int(2)]).nulls(true),
        call("lag", vec![c("l"), int(1), int(0), boolean(true)]),
        call("lag", vec![c("l"), int(1), int(0), boolean(false)]).nulls(true),
        call("lag", vec![]),
    ];
    let rows = over_window(&[], &["d"], growing(), &calls);
    assert_eq!(
        columns_of(&rows),
        [
            ["NULL", "NULL", "NULL", "NULL", "5", "5", "1"],
            ["NULL", "5", "5", "1", "2", "7", "NULL"],
            ["NULL", "NULL", "NULL", "5", "5", "1", "2"],
            ["NULL", "NULL", "5", "5", "1", "2", "7"],
            ["1", "NULL", "NULL", "5", "5", "1", "2"],
            ["0", "0", "0", "5", "5", "1", "2"],
            ["5", "5", "5", "1", "2", "7", "0"],
            ["5", "5", "1", "2", "7", "NULL", "NULL"],
            ["0", "0", "0", "5", "5", "1", "2"],
            ["0", "0", "0", "5", "5", "1", "2"],
            ["NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"],
        ]
    );
}

#[test]
fn nth_values_without_nulls() {
    let calls = [call("nth_value", vec![c("l"), int(2)]).nulls(true)];
    let rows = over_window(&[], &["d"], growing(), &calls);
    assert_eq!(columns_of(&rows), [["NULL", "NULL", "NULL", "5", "5", "5", "5"]]);
    assert_eq!(names(&calls), ["nth_value(l, 2) ignore nulls"]);
}

#[test]
fn growing_frames() {
    let calls = [
        call("last_value", vec![c("l")]),
        call("first_value", vec![c("l")]).nulls(true),
        call("sum", vec![c("l")]),
        call("collect_list", vec![c("l")]),
        call("max", vec![c("d")]),
        call("count", vec![c("l")]),
    ];
    let rows = over_window(&[], &["d"], growing(), &calls);
    assert_eq!(
        columns_of(&rows),
        [
            ["NULL", "NULL", "5", "5", "1", "2", "7"],
            ["NULL", "NULL", "5", "5", "5", "5", "5"],
            ["NULL", "NULL", "5", "10", "11", "13", "20"],
            ["[]", "[]", "[5]", "[5, 5]", "[5, 5, 1]", "[5, 5, 1, 2]", "[5, 5, 1, 2, 7]"],
            ["NULL", "NULL", "0.1", "0.2", "1.5", "2.5", "NaN"],
            ["0", "0", "1", "2", "3", "4", "5"],
        ]
    );
}

#[test]
fn every_aggregate_slides() {
    let calls = [
        call("sum", vec![c("l")]),
        call("sum", vec![c("d")]),
        call("avg", vec![c("dec")]),
        call("min", vec![c("l")]),
        call("max", vec![c("d")]),
        call("first_value", vec![c("l")]),
        call("collect_list", vec![c("s")]),
        call("stddev_pop", vec![c("l")]),
        call("count", vec![c("l")]),
        call("bool_or", vec![c("b")]),
        call("percentile", vec![c("l"), number(0.5)]),
        call("min_by", vec![c("s"), c("l")]),
    ];
    let rows = over_window(&[], &["d"], sliding(1, 0), &calls);
    assert_eq!(
        columns_of(&rows),
        [
            ["NULL", "NULL", "5", "10", "6", "3", "9"],
            ["NULL", "NULL", "0.1", "0.30000000000000004", "1.7", "4.0", "NaN"],
            ["NULL", "NULL", "10.010000", "10.010000", "5.630000", "1.875000", "-0.415000"],
            ["NULL", "NULL", "5", "5", "1", "1", "2"],
            ["NULL", "NULL", "0.1", "0.2", "1.5", "2.5", "NaN"],
            ["NULL", "NULL", "NULL", "5", "5", "1", "2"],
            ["[]", "[]", "[a]", "[a, a]", "[a, a]", "[a, b]", "[b, z]"],
            ["NULL", "NULL", "0.0", "0.0", "2.0", "0.5", "2.5"],
            ["0", "0", "1", "2", "2", "2", "2"],
            ["NULL", "NULL", "true", "true", "true", "true", "true"],
            ["NULL", "NULL", "5.0", "5.0", "3.0", "1.5", "4.5"],
            ["NULL", "NULL", "a", "a", "a", "a", "b"],
        ]
    );
}

#[test]
fn wrong_windows_fail() {
    for (call, condition) in [
        (call("ntile", vec![int(0)]), "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE"),
        (call("ntile", vec![c("g")]), "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT"),
        (
            call("ntile", vec![TypedExpr::new(lit(2i64), DataType::Long, false, "2")]),
            "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
        ),
        (call("nth_value", vec![c("l"), int(0)]), "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE"),
        (call("nth_value", vec![c("l"), c("g")]), "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT"),
        (call("lag", vec![c("l"), c("g")]), "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT"),
        (call("lag", vec![c("l"), int(1), int(0), int(1)]), "INVALID_PARAMETER_VALUE.BOOLEAN"),
        (call("nth_value", vec![c("l"), int(1), int(1)]), "INVALID_PARAMETER_VALUE.BOOLEAN"),
    ] {
        let error = call.build().unwrap_err();
        assert!(error.is(condition), "{}: {error}", call.name);
    }
}

#[test]
fn ranges_of_dates_take_intervals() {
    let day = ScalarValue::new_interval_mdn(0, 1, 0);
    let frame = WindowFrame::new_bounds(
        WindowFrameUnits::Range,
        WindowFrameBound::Preceding(day),
        WindowFrameBound::CurrentRow,
    );
    let star = Call { is_star: true, ..call("count", vec![]) };
    let rows = over_window(&[], &["dt"], frame, &[call("sum", vec![c("l")]), star]);
    assert_eq!(columns_of(&rows), [["5", "5", "5", "5", "1", "3", "7"], ["3", "3", "3", "1", "1", "2", "1"]]);
}
