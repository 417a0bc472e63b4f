use super::*;

fn ids(values: impl Iterator<Item = i64>) -> [(&'static str, DataType, ArrayRef); 1] {
    [("id", DataType::Long, Arc::new(Int64Array::from_iter_values(values)) as ArrayRef)]
}

fn shuffled(count: i64, modulus: i64) -> impl Iterator<Item = i64> {
    (0..count).map(move |id| (id * 7919) % modulus)
}

#[test]
fn approximate_percentiles_of_few_values_are_exact() {
    let calls = [
        call("percentile_approx", vec![c("l"), number(0.5)]),
        call("percentile_approx", vec![c("l"), number(0.5), int(100)]),
        call("approx_percentile", vec![c("dec"), numbers(&[0.25, 0.5, 0.9])]),
        call("approx_percentile", vec![c("l"), numbers(&[0.25, 0.5]), int(5)]),
        call("percentile_approx", vec![c("dt"), number(0.5)]),
        call("percentile_approx", vec![c("d"), number(0.5)]),
        call("percentile_approx", vec![c("g"), numbers(&[0.5])]),
    ];
    assert_eq!(all(&calls), ["5", "5", "[1.25, 2.50, 10.01]", "[1, 2]", "2020-01-01", "1.5", "[2]"]);
    assert_eq!(
        names(&calls[..4]),
        [
            "percentile_approx(l, 0.5, 10000)",
            "percentile_approx(l, 0.5, 100)",
            "approx_percentile(dec, array(0.25, 0.5, 0.9), 10000)",
            "approx_percentile(l, array(0.25, 0.5), 5)"
        ]
    );
}

#[test]
fn approximate_percentiles_of_many_values_err_as_sparks() {
    let percentages = [0.1, 0.25, 0.5, 0.75, 0.9];
    let ask = |columns: &[(&'static str, DataType, ArrayRef)], accuracy: Option<i32>| {
        let mut arguments = vec![column(columns, "id"), numbers(&percentages)];
        arguments.extend(accuracy.map(int));
        over(columns, None, &[call("percentile_approx", arguments)], 1, 1).unwrap().remove(0).remove(0)
    };
    assert_eq!(ask(&ids(0..20_000), None), "[1998, 4998, 9998, 14997, 17997]");
    assert_eq!(ask(&ids(0..60_000), None), "[5995, 14993, 29993, 44995, 53993]");
    assert_eq!(ask(&ids(shuffled(200_000, 200_003)), None), "[20004, 49982, 99984, 149983, 179988]");
    assert_eq!(ask(&ids(shuffled(200_000, 200_003)), Some(100)), "[18543, 48132, 99770, 148793, 178951]");
}

#[test]
fn approximate_counts_are_sparks() {
    for (count, expected) in [(100, "103"), (1000, "1026"), (2000, "1947"), (100_000, "95546")] {
        let columns = ids(0..count);
        let calls = [call("approx_count_distinct", vec![column(&columns, "id")])];
        assert_eq!(over(&columns, None, &calls, 3, 1).unwrap(), [[expected]], "{count}");
        assert_eq!(over(&columns, None, &calls, 3, 2).unwrap(), [[expected]], "{count}");
    }
}

#[test]
fn histograms() {
    let calls = [call("histogram_numeric", vec![c("l"), int(3)]), call("histogram_numeric", vec![c("d"), int(2)])];
    assert_eq!(
        all(&calls),
        ["[{x: 1, y: 2.0}, {x: 5, y: 2.0}, {x: 7, y: 1.0}]", "[{x: NaN, y: 4.0}, {x: 2.5, y: 1.0}]"]
    );
    let columns = ids(0..100);
    let calls = [call("histogram_numeric", vec![column(&columns, "id"), int(4)])];
    assert_eq!(
        over(&columns, None, &calls, 1, 1).unwrap(),
        [["[{x: 13, y: 28.0}, {x: 35, y: 16.0}, {x: 56, y: 27.0}, {x: 85, y: 29.0}]"]]
    );
}
