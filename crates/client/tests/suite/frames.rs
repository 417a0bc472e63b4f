//! Frames, columns and functions: the same rows on every server.

use crate::support::session;
use firesteel_client::functions::{self as f, col, expr, lit};
use firesteel_client::{
    AsOfJoin, Bound, Column, DataFrame, DataType, ExplainMode, JoinType, Literal, MissingRule, Observation, On,
    ShowOptions, SparkSession, StorageLevel, Window,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

async fn rows<T: DeserializeOwned>(frame: &DataFrame) -> Vec<T> {
    match frame.collect_as().await {
        Ok(rows) => rows,
        Err(error) => panic!("{error}"),
    }
}

/// The one value of a column over one row.
async fn value<T: DeserializeOwned>(spark: &SparkSession, column: impl Into<Column>) -> T {
    let column: Column = column.into();
    rows::<(T,)>(&spark.range(0, 1).select(column)).await.into_iter().next().unwrap().0
}

async fn people(spark: &SparkSession) -> DataFrame {
    let text = "SELECT * FROM VALUES (1, 'Ann', 'Oslo', 40), (2, 'Bob', 'Rome', NULL), (3, 'Cid', 'Oslo', 30) \
                AS people(id, name, city, age)";
    spark.sql(text).await.unwrap()
}

#[tokio::test]
async fn columns_are_chosen_made_and_renamed() {
    let spark = session().await;
    let people = people(&spark).await;
    assert_eq!(people.columns().await.unwrap(), ["id", "name", "city", "age"]);
    let named = people.select((col("id"), f::upper("name").alias("NAME"), (col("age") + 1).alias("next")));
    assert_eq!(
        rows::<(i32, String, Option<i32>)>(&named.order_by("id")).await,
        [(1, "ANN".to_string(), Some(41)), (2, "BOB".to_string(), None), (3, "CID".to_string(), Some(31))]
    );
    let changed = people
        .with_column("adult", col("age").ge(18))
        .with_columns_renamed([("name", "who"), ("no_such_column", "x")])
        .drop(("city", "no_such_column"))
        .with_columns([("id", col("id") * 10), ("one", lit(1))]);
    assert_eq!(changed.columns().await.unwrap(), ["id", "who", "age", "adult", "one"]);
    assert_eq!(people.to_df(["a", "b", "c", "d"]).columns().await.unwrap(), ["a", "b", "c", "d"]);
    let types = people.to("age DOUBLE, id BIGINT").unwrap().dtypes().await.unwrap();
    assert_eq!(types, [("age".to_string(), "double".to_string()), ("id".to_string(), "bigint".to_string())]);
    let expressions = people.select_expr(["id + 1 AS x", "upper(city) AS y"]).columns().await.unwrap();
    assert_eq!(expressions, ["x", "y"]);
    assert_eq!(people.select(people.col_regex("`.*a.*`")).columns().await.unwrap(), ["name", "age"]);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn rows_are_chosen_and_ordered() {
    let spark = session().await;
    let people = people(&spark).await;
    let ids = |frame: DataFrame| async move {
        rows::<(i32,)>(&frame.select("id")).await.into_iter().map(|(id,)| id).collect::<Vec<_>>()
    };
    assert_eq!(ids(people.filter("age > 30")).await, [1]);
    assert_eq!(ids(people.filter(col("city").eq("Oslo") & col("age").lt(35))).await, [3]);
    assert_eq!(ids(people.where_(col("age").is_null() | !col("city").not_eq("Rome"))).await, [2]);
    assert_eq!(ids(people.order_by((col("city").desc(), col("age").asc_nulls_last()))).await, [2, 3, 1]);
    assert_eq!(ids(people.sort(f::desc("id")).limit(2)).await, [3, 2]);
    assert_eq!(ids(people.sort("id").offset(1)).await, [2, 3]);
    assert_eq!(people.sort("id").tail(1).await.unwrap()[0].get::<i32>("id").unwrap(), 3);
    assert_eq!(people.sort("id").take(2).await.unwrap().len(), 2);
    assert_eq!(people.select("city").distinct().count().await.unwrap(), 2);
    assert_eq!(people.drop_duplicates(["city"]).count().await.unwrap(), 2);
    assert!(!people.is_empty().await.unwrap());
    assert!(people.limit(0).is_empty().await.unwrap());
    assert_eq!(ids(people.filter(col("name").isin(["Ann", "Cid"])).sort("id")).await, [1, 3]);
    assert_eq!(ids(people.filter(col("age").between(30, 35))).await, [3]);
    assert_eq!(ids(people.filter(col("name").like("%b"))).await, [2]);
    assert!(spark.range(0, 1000).sample(0.5, Some(7)).count().await.unwrap() > 300);
    let parts = spark.range(0, 1000).random_split(&[1.0, 3.0], Some(7)).unwrap();
    assert_eq!(parts[0].count().await.unwrap() + parts[1].count().await.unwrap(), 1000);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn groups_are_aggregated() {
    let spark = session().await;
    let people = people(&spark).await;
    let cities = people.group_by("city").agg((f::count(lit(1)).alias("n"), f::max("age").alias("oldest")));
    assert_eq!(
        rows::<(String, i64, Option<i32>)>(&cities.order_by("city")).await,
        [("Oslo".to_string(), 2, Some(40)), ("Rome".to_string(), 1, None)]
    );
    assert_eq!(people.group_by(()).count().columns().await.unwrap(), ["count"]);
    assert_eq!(people.group_by("city").avg(["age"]).columns().await.unwrap(), ["city", "avg(age)"]);
    assert_eq!(people.rollup(("city", "name")).count().count().await.unwrap(), 6);
    assert_eq!(people.cube(("city", "name")).count().count().await.unwrap(), 9);
    let sets = people.grouping_sets([vec![col("city")], vec![]], ("city",)).agg(f::count(lit(1)));
    assert_eq!(sets.count().await.unwrap(), 3);
    let pivoted = people.group_by(()).pivot("city", ["Oslo", "Rome"]).agg(f::count(lit(1)));
    assert_eq!(rows::<(i64, i64)>(&pivoted).await, [(2, 1)]);
    let counted = people.agg((f::count_distinct("city"), f::sum_distinct("id"), f::collect_list("id")));
    assert_eq!(rows::<(i64, i64, Vec<i32>)>(&counted.limit(1)).await[0].0, 2);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn frames_are_joined() {
    let spark = session().await;
    let (left, right) = (spark.range(0, 5), spark.range(3, 8).with_column("n", col("id") * 2));
    for (kind, count) in [
        (JoinType::Inner, 2),
        (JoinType::LeftOuter, 5),
        (JoinType::RightOuter, 5),
        (JoinType::FullOuter, 8),
        (JoinType::LeftSemi, 2),
        (JoinType::LeftAnti, 3),
    ] {
        assert_eq!(left.join(&right, "id", kind).count().await.unwrap(), count, "{kind:?}");
    }
    assert_eq!(left.cross_join(&right).count().await.unwrap(), 25);
    let on = left.col("id").eq(right.col("id"));
    let both = left.join(&right, on, JoinType::Inner).select((left.col("id"), right.col("n"))).order_by(right.col("n"));
    assert_eq!(rows::<(i64, i64)>(&both).await, [(3, 6), (4, 8)]);
    let aliased = left.alias("l").join(&right.alias("r"), expr("l.id = r.id"), JoinType::Inner);
    assert_eq!(aliased.select(("l.id", "r.n")).count().await.unwrap(), 2);
    assert_eq!(left.join(&right, On::from(["id"]), JoinType::Inner).columns().await.unwrap(), ["id", "n"]);
    assert_eq!(left.join(&f::broadcast(&right), "id", JoinType::Inner).count().await.unwrap(), 2);
    let lateral = left.lateral_join(&spark.range(0, 2), None, JoinType::Inner);
    assert_eq!(lateral.count().await.unwrap(), 10);
    let nearest = AsOfJoin::backward(left.col("id"), right.col("id"));
    assert_eq!(left.as_of_join(&right, nearest).count().await.unwrap(), 2);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn sets_are_joined() {
    let spark = session().await;
    let (left, right) = (spark.range(0, 5), spark.range(3, 8));
    assert_eq!(left.union(&right).count().await.unwrap(), 10);
    assert_eq!(left.intersect(&right).count().await.unwrap(), 2);
    assert_eq!(left.subtract(&right).count().await.unwrap(), 3);
    assert_eq!(left.union_all(&left).intersect_all(&left).count().await.unwrap(), 5);
    assert_eq!(left.union_all(&left).except_all(&left).count().await.unwrap(), 5);
    let wide = right.with_column("x", lit("x"));
    assert_eq!(left.union_by_name(&wide, true).columns().await.unwrap(), ["id", "x"]);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn subqueries_stand_in_expressions() {
    let spark = session().await;
    let numbers = spark.range(0, 10);
    let greatest = numbers.agg(f::max("id")).scalar();
    assert_eq!(rows::<(i64,)>(&numbers.filter(col("id").eq(greatest))).await, [(9,)]);
    let few = spark.range(2, 4);
    assert_eq!(numbers.filter(col("id").isin_frame(&few)).count().await.unwrap(), 2);
    assert_eq!(numbers.filter(few.limit(0).exists()).count().await.unwrap(), 0);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn windows_see_their_rows() {
    let spark = session().await;
    let by_rest = Window::partition_by("rest").order_by("id");
    let frame = spark.range(0, 6).with_column("rest", col("id") % 2).select((
        col("id"),
        f::row_number().over(by_rest.clone()).alias("n"),
        f::sum("id").over(by_rest.clone().rows_between(-1, Bound::CurrentRow)).alias("two"),
        f::sum("id")
            .over(by_rest.clone().rows_between(Bound::UnboundedPreceding, Bound::UnboundedFollowing))
            .alias("all"),
        f::sum("id").over(by_rest.range_between(-2i64, 0i64)).alias("near"),
    ));
    assert_eq!(
        rows::<(i64, i32, i64, i64, i64)>(&frame.order_by("id")).await,
        [(0, 1, 0, 6, 0), (1, 1, 1, 9, 1), (2, 2, 2, 6, 2), (3, 2, 4, 9, 4), (4, 3, 6, 6, 6), (5, 3, 8, 9, 8)]
    );
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn closures_are_lambdas() {
    let spark = session().await;
    let numbers = || f::array((lit(1), lit(2), lit(3)));
    assert_eq!(value::<Vec<i32>>(&spark, f::transform(numbers(), |x| x.clone() * x)).await, [1, 4, 9]);
    assert_eq!(value::<Vec<i32>>(&spark, f::transform_indexed(numbers(), |x, i| x + i)).await, [1, 3, 5]);
    assert_eq!(value::<Vec<i32>>(&spark, f::filter(numbers(), |x| x.gt(1))).await, [2, 3]);
    assert!(value::<bool>(&spark, f::exists(numbers(), |x| x.eq(2))).await);
    assert!(!value::<bool>(&spark, f::forall(numbers(), |x| x.eq(2))).await);
    assert_eq!(value::<i32>(&spark, f::aggregate(numbers(), lit(0), |sum, x| sum + x)).await, 6);
    let nested = f::transform(numbers(), |x| f::transform(f::array((lit(10), lit(20))), move |y| x.clone() + y));
    assert_eq!(value::<Vec<Vec<i32>>>(&spark, nested).await, [[11, 21], [12, 22], [13, 23]]);
    assert_eq!(value::<Vec<i32>>(&spark, f::array_sort_by(numbers(), |a, b| b - a)).await, [3, 2, 1]);
    let map = f::map_filter(f::create_map((lit("a"), lit(1), lit("b"), lit(2))), |_, v| v.gt(1));
    assert_eq!(value::<BTreeMap<String, i32>>(&spark, map).await, BTreeMap::from([("b".to_string(), 2)]));
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn structs_arrays_and_maps_are_taken_apart() {
    let spark = session().await;
    let of = f::named_struct((lit("x"), lit(1), lit("y"), lit("two")));
    assert_eq!(value::<i32>(&spark, of.clone().get_field("x")).await, 1);
    assert_eq!(
        value::<(i32, String, bool)>(&spark, of.clone().with_field("z", true)).await,
        (1, "two".to_string(), true)
    );
    assert_eq!(value::<(String,)>(&spark, of.drop_fields(["x"])).await, ("two".to_string(),));
    assert_eq!(value::<String>(&spark, lit(["a", "b"]).get_item(1)).await, "b");
    assert_eq!(value::<i32>(&spark, f::create_map((lit("k"), lit(7))).get_item("k")).await, 7);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn conditions_casts_and_texts() {
    let spark = session().await;
    let size = |n: i32| f::when(lit(n).lt(10), "small").when(lit(n).lt(100), "medium").otherwise("large");
    for (n, text) in [(1, "small"), (50, "medium"), (500, "large")] {
        assert_eq!(value::<String>(&spark, size(n)).await, text);
    }
    assert_eq!(value::<Option<i32>>(&spark, f::when(lit(false), 1)).await, None);
    assert_eq!(value::<i32>(&spark, lit("12").cast("int")).await, 12);
    assert_eq!(value::<Option<i64>>(&spark, lit("x").try_cast(DataType::Long)).await, None);
    assert_eq!(value::<String>(&spark, f::concat_ws("-", (lit("a"), lit("b")))).await, "a-b");
    assert_eq!(value::<String>(&spark, lit("abcdef").substr(2, 3)).await, "bcd");
    assert_eq!(value::<String>(&spark, f::date_format(lit("2024-02-29").cast("date"), "dd/MM/yy")).await, "29/02/24");
    assert_eq!(value::<f64>(&spark, -lit(2.5) * 2 + 1.0).await, -4.0);
    assert_eq!(value::<i32>(&spark, lit(6).bitwise_and(3)).await, 2);
    assert_eq!(
        value::<String>(&spark, f::to_json(f::struct_((lit(1).alias("a"), lit("b").alias("c"))))).await,
        r#"{"a":1,"c":"b"}"#
    );
    let parsed = f::from_json_with(lit(r#"{"a": 1}"#), "a INT", [("mode", "FAILFAST")]);
    assert_eq!(value::<(i32,)>(&spark, parsed).await, (1,));
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn values_of_every_type_come_back() {
    let spark = session().await;
    for literal in [
        Literal::Boolean(true),
        Literal::Byte(-7),
        Literal::Short(300),
        Literal::Integer(1 << 20),
        Literal::Long(1 << 40),
        Literal::Float(1.5),
        Literal::Double(-0.25),
        Literal::Decimal(-12345, 10, 2),
        Literal::String("text".to_string()),
        Literal::Binary(vec![0, 255]),
        Literal::Date(19_000),
        Literal::Timestamp(1_700_000_000_123_456),
        Literal::TimestampNtz(1_700_000_000_123_456),
        Literal::DayTimeInterval(90_000_000, DataType::DAY_TIME),
        Literal::YearMonthInterval(14, DataType::YEAR_MONTH),
        Literal::Array(vec![Literal::Integer(1), Literal::Integer(2)], DataType::Integer),
    ] {
        let row = spark.range(0, 1).select(lit(literal.clone()).alias("v")).first_row().await.unwrap().unwrap();
        let back = row.value("v").unwrap();
        let same_type = back.data_type().simple_string() == literal.data_type().simple_string();
        assert!(back == literal || same_type, "{literal:?} came back as {back:?}");
    }
    assert_eq!(value::<String>(&spark, lit(Literal::Date(19_000))).await, "2022-01-08");
    assert_eq!(value::<i32>(&spark, lit(Literal::Date(19_000))).await, 19_000);
    assert_eq!(value::<String>(&spark, lit(Literal::Decimal(-12345, 10, 2))).await, "-123.45");
    assert_eq!(value::<f64>(&spark, lit(Literal::Decimal(-12345, 10, 2))).await, -123.45);
    assert_eq!(value::<Vec<u8>>(&spark, lit(vec![0u8, 255])).await, [0, 255]);
    spark.stop().await.unwrap();
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Reading {
    sensor: String,
    values: Vec<f64>,
    place: Option<Place>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Place {
    x: i32,
    y: i32,
}

#[tokio::test]
async fn structs_go_and_come_back() {
    let spark = session().await;
    let readings = vec![
        Reading { sensor: "a".to_string(), values: vec![0.5, 1.5], place: Some(Place { x: 1, y: -1 }) },
        Reading { sensor: "b".to_string(), values: vec![], place: None },
    ];
    let frame = spark.create_dataframe_from(&readings).await.unwrap();
    assert_eq!(rows::<Reading>(&frame.order_by("sensor")).await, readings);
    let row = frame.filter("sensor = 'a'").first_row().await.unwrap().unwrap();
    assert_eq!(row.to::<Reading>().unwrap(), readings[0]);
    assert!(row.get::<i32>("sensor").is_err());
    assert!(row.get::<i32>("nothing").is_err());
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn tuples_and_maps_go_and_come_back() {
    let spark = session().await;
    let data =
        vec![(1i64, "a".to_string(), Some(BTreeMap::from([("x".to_string(), 1.5)]))), (2, "b".to_string(), None)];
    let frame = spark.create_dataframe_from(&data).await.unwrap();
    let types = frame.dtypes().await.unwrap().into_iter().map(|(name, of)| format!("{name} {of}")).collect::<Vec<_>>();
    assert_eq!(types, ["_1 bigint", "_2 string", "_3 map<string,double>"]);
    assert_eq!(rows::<(i64, String, Option<BTreeMap<String, f64>>)>(&frame.order_by("_1")).await, data);
    let named = spark.create_dataframe_from_as(&[(7, "2024-02-29")], "n BIGINT, day DATE").await.unwrap();
    assert_eq!(rows::<(i64, i32)>(&named).await, [(7, 19_782)]);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn rows_come_one_by_one() {
    use futures::TryStreamExt;
    let spark = session().await;
    let numbers = spark.range(0, 25_000).stream_as::<(i64,)>().unwrap();
    let numbers: Vec<(i64,)> = numbers.try_collect().await.unwrap();
    assert_eq!(numbers.len(), 25_000);
    assert_eq!(numbers[24_999], (24_999,));
    let mut rows = spark.range(5, 7).stream().unwrap().rows();
    let first = rows.try_next().await.unwrap().unwrap();
    assert_eq!(first.get::<i64>("id").unwrap(), 5);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn batches_go_and_come_back_small_and_large() {
    use firesteel_client::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use std::sync::Arc;
    let spark = session().await;
    for count in [0, 10, 200_000] {
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..count));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..count).map(|id| format!("text {id}"))));
        let batch = RecordBatch::try_from_iter([("id", ids), ("t", texts)]).unwrap();
        let frame = spark.create_dataframe([batch]).await.unwrap();
        assert_eq!(frame.count().await.unwrap(), count);
        let last = frame.filter(col("id").eq(count - 1)).select("t");
        let expected: Vec<(String,)> = (count > 0).then(|| (format!("text {}", count - 1),)).into_iter().collect();
        assert_eq!(rows::<(String,)>(&last).await, expected);
    }
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let batch = RecordBatch::try_from_iter([("x", ids)]).unwrap();
    let cast = spark.create_dataframe_as([batch], "renamed STRING").await.unwrap();
    assert_eq!(rows::<(String,)>(&cast).await, [("1".to_string(),), ("2".to_string(),)]);
    assert!(spark.empty_dataframe("a INT").is_empty().await.unwrap());
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn missing_values_are_filled_dropped_and_replaced() {
    let spark = session().await;
    let people = people(&spark).await;
    assert_eq!(rows::<(i32,)>(&people.fill_na(0, ["age"]).filter("id = 2").select("age")).await, [(0,)]);
    assert_eq!(rows::<(i32,)>(&people.fill_na_by([("age", 9)]).filter("id = 2").select("age")).await, [(9,)]);
    assert_eq!(people.drop_na(MissingRule::Any, ["age"]).count().await.unwrap(), 2);
    assert_eq!(people.drop_na(MissingRule::All, ["age", "id"]).count().await.unwrap(), 3);
    assert_eq!(people.drop_na(MissingRule::FewerThan(4), Vec::<String>::new()).count().await.unwrap(), 2);
    let moved = people.replace([("Oslo", "Bergen")], ["city"]).filter("city = 'Bergen'");
    assert_eq!(moved.count().await.unwrap(), 2);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn statistics_are_computed() {
    let spark = session().await;
    let frame =
        spark.range(0, 101).select((col("id").cast("double").alias("x"), (col("id") * 2).cast("double").alias("y")));
    assert!((frame.corr("x", "y").await.unwrap() - 1.0).abs() < 1e-9);
    assert!((frame.cov("x", "y").await.unwrap() - 1717.0).abs() < 1e-6);
    assert_eq!(frame.approx_quantile(["x"], &[0.0, 0.5, 1.0], 0.0).await.unwrap(), [[0.0, 50.0, 100.0]]);
    assert_eq!(frame.describe(["x"]).count().await.unwrap(), 5);
    assert_eq!(frame.summary(["count", "max"]).count().await.unwrap(), 2);
    let people = people(&spark).await;
    assert_eq!(people.crosstab("city", "name").count().await.unwrap(), 2);
    assert_eq!(people.freq_items(["city"], Some(0.5)).count().await.unwrap(), 1);
    assert!(people.sample_by("city", [("Oslo", 1.0)], Some(1)).count().await.unwrap() <= 2);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn shapes_change() {
    let spark = session().await;
    let frame = spark.sql("SELECT 1 AS id, 10 AS a, 20 AS b").await.unwrap();
    let long = frame.unpivot("id", Some(vec![col("a"), col("b")]), "name", "value").order_by("name");
    assert_eq!(rows::<(i32, String, i32)>(&long).await, [(1, "a".to_string(), 10), (1, "b".to_string(), 20)]);
    assert_eq!(frame.melt("id", None, "name", "value").count().await.unwrap(), 2);
    assert_eq!(frame.transpose(Some(col("id"))).columns().await.unwrap(), ["key", "1"]);
    assert_eq!(rows::<(i64, i64)>(&spark.range(5, 7).zip_with_index("n")).await, [(5, 0), (6, 1)]);
    assert_eq!(rows::<(String,)>(&spark.range(7, 8).to_json()).await, [(r#"{"id":7}"#.to_string(),)]);
    let spread = spark.range(0, 100).repartition(4).with_column("p", f::spark_partition_id());
    assert_eq!(spread.select("p").distinct().count().await.unwrap(), 4);
    assert_eq!(spark.range(0, 100).repartition_by(Some(3), "id").coalesce(1).count().await.unwrap(), 100);
    assert_eq!(spark.range(0, 100).repartition_by_range(Some(3), col("id").desc()).count().await.unwrap(), 100);
    assert_eq!(spark.tvf().posexplode(lit([7, 8])).count().await.unwrap(), 2);
    assert_eq!(spark.tvf().stack(2, (lit(1), lit(2), lit(3))).count().await.unwrap(), 2);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn plans_are_told_about() {
    let spark = session().await;
    let frame = spark.range(0, 3).select((col("id"), lit("x").alias("t")));
    assert!(frame.tree_string(None).await.unwrap().contains("|-- id: long (nullable = false)"));
    assert!(!frame.explain_string(ExplainMode::Extended).await.unwrap().is_empty());
    assert!(!frame.is_streaming().await.unwrap());
    assert!(frame.same_semantics(&frame.clone()).await.unwrap());
    assert_eq!(frame.semantic_hash().await.unwrap(), frame.semantic_hash().await.unwrap());
    assert!(frame.input_files().await.unwrap().is_empty());
    let table = "+---+\n| id|\n+---+\n|  0|\n|  1|\n+---+\n";
    assert_eq!(spark.range(0, 2).show_string(ShowOptions::default()).await.unwrap(), table);
    let cut = ShowOptions { rows: 1, ..ShowOptions::default() };
    assert!(frame.show_string(cut).await.unwrap().contains("only showing top 1 row"));
    let (batches, schema) = frame.collect_with_schema().await.unwrap();
    assert_eq!((batches.iter().map(|batch| batch.num_rows()).sum::<usize>(), schema.fields.len()), (3, 2));
    assert_eq!(spark.parse_ddl("a INT").await.unwrap().simple_string(), "struct<a:int>");
    assert!(spark.version().await.unwrap().starts_with('4'));
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn rows_are_kept_and_observed() {
    let spark = session().await;
    let frame = spark.range(0, 10);
    frame.persist(StorageLevel::MEMORY_ONLY).await.unwrap();
    assert!(frame.is_cached().await.unwrap());
    frame.unpersist(true).await.unwrap();
    assert!(!frame.is_cached().await.unwrap());
    let seen = Observation::named("seen");
    let observed = frame.observe(&seen, (f::count(lit(1)).alias("rows"), f::max("id").alias("greatest")));
    assert_eq!(observed.count().await.unwrap(), 10);
    let values = seen.get().await.unwrap();
    assert_eq!(values, [("rows".to_string(), Literal::Long(10)), ("greatest".to_string(), Literal::Long(9))]);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn sql_takes_arguments_and_frames() {
    let spark = session().await;
    let named = spark.sql_named("SELECT :a + 1 AS x, :b AS y", [("a", lit(1)), ("b", lit("z"))]).await.unwrap();
    assert_eq!(rows::<(i32, String)>(&named).await, [(2, "z".to_string())]);
    let placed = spark.sql_positional("SELECT ? * 2 AS x", [21]).await.unwrap();
    assert_eq!(rows::<(i32,)>(&placed).await, [(42,)]);
    let frame = spark.range(0, 4);
    let over = spark.sql_frames("SELECT sum(id) AS s FROM numbers", [("numbers", &frame)]).await.unwrap();
    assert_eq!(rows::<(i64,)>(&over).await, [(6,)]);
    spark.stop().await.unwrap();
}

#[tokio::test]
async fn long_chains_stay_linear() {
    let spark = session().await;
    let mut frame = spark.range(0, 10);
    // Spark itself gives up beyond 100.
    for _ in 0..80 {
        frame = frame.filter(col("id").ge(0));
    }
    assert_eq!(frame.count().await.unwrap(), 10);
    if !crate::support::server().is_own() {
        return spark.stop().await.unwrap();
    }
    // Whatever the server says to more, this program goes on.
    for _ in 0..4000 {
        frame = frame.filter(col("id").ge(0));
    }
    let counted = tokio::spawn(async move { frame.select("id").collect().await }).await.unwrap();
    assert!(counted.is_ok() || counted.unwrap_err().spark().is_some());
    let sum = (0..3000).fold(col("id"), |sum, _| sum + 1);
    let summed = tokio::spawn({
        let frame = spark.range(0, 1).select(sum);
        async move { frame.collect().await }
    });
    let summed = summed.await.unwrap();
    assert!(summed.is_ok() || summed.unwrap_err().spark().is_some());
    spark.stop().await.unwrap();
}
