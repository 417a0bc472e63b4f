//! Statistics of frames: describe, summary, crosstab and so on.

use super::leaf;
use crate::analyzer::Analyzer;
use crate::attribute::Attribute;
use crate::resolved::Resolved;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_plan::{
    Aggregate, Expr, ExprKind, Grouping, Relation, RelationKind, SortKeys, SortOrder, Statistic, f64Bits,
};
use firesteel_types::{DataType, Literal, StructField, StructType, TimeZone, number_text};
use std::sync::Arc;

pub(crate) fn statistic(a: &mut Analyzer<'_>, input: &Relation, statistic: &Statistic) -> Result<Resolved> {
    match statistic {
        Statistic::Describe { columns } => {
            let statistics = ["count", "mean", "stddev", "min", "max"].map(String::from);
            summarise(a, input, columns, &statistics)
        }
        Statistic::Summary { statistics } => {
            let default = ["count", "mean", "stddev", "min", "25%", "50%", "75%", "max"].map(String::from).to_vec();
            let statistics = if statistics.is_empty() { default } else { statistics.clone() };
            summarise(a, input, &[], &statistics)
        }
        Statistic::Crosstab { column1, column2 } => crosstab(a, input, column1, column2),
        Statistic::Covariance { column1, column2 } => {
            two_columns(a, input, column1, column2, "covar_samp", "covariance")
        }
        Statistic::Correlation { column1, column2, method } => {
            if let Some(method) = method
                && method != "pearson"
            {
                return Err(SparkError::plain(
                    ExceptionClass::IllegalArgument,
                    format!(
                        "requirement failed: Currently only the calculation of the Pearson Correlation coefficient is supported, not {method}."
                    ),
                ));
            }
            two_columns(a, input, column1, column2, "corr", "correlation")
        }
        Statistic::ApproximateQuantile { columns, probabilities, relative_error } => {
            let accuracy = if relative_error.get() <= 0.0 { 1e7 } else { (1.0 / relative_error.get()).min(1e7) };
            let probabilities: Vec<f64> = probabilities.iter().map(|p| p.get()).collect();
            quantiles(a, input, columns, &probabilities, accuracy)
        }
        Statistic::FrequentItems { columns, support } => {
            super::frequent::frequent_items(a, input, columns, support.map_or(0.01, |s| s.get()))
        }
        Statistic::SampleBy { column, fractions, seed } => {
            check_fractions(fractions, a.zone())?;
            let seed = seed.unwrap_or_else(|| a.env.query_time().micros());
            let mut branches = Vec::new();
            for (value, fraction) in fractions {
                branches.push(Expr::call("<=>", vec![column.as_ref().clone(), Expr::literal(value.clone())]));
                branches.push(Expr::literal(Literal::Double(fraction.get())));
            }
            branches.push(Expr::literal(Literal::Double(0.0)));
            let random = Expr::call("rand", vec![Expr::literal(Literal::Long(seed))]);
            let condition = Expr::call("<", vec![random, Expr::call("when", branches)]);
            super::unary::filter(a, input, &condition)
        }
    }
}

fn check_fractions(fractions: &[(Literal, f64Bits)], zone: TimeZone) -> Result<()> {
    if fractions.iter().all(|(_, fraction)| (0.0..=1.0).contains(&fraction.get())) {
        return Ok(());
    }
    let shown: Vec<String> = fractions
        .iter()
        .map(|(value, fraction)| format!("{} -> {}", value.display(zone), number_text::double_text(fraction.get())))
        .collect();
    Err(SparkError::plain(
        ExceptionClass::IllegalArgument,
        format!("requirement failed: Fractions must be in [0, 1], but got Map({}).", shown.join(", ")),
    ))
}

/// One row of aggregates over the whole input.
fn aggregate_row(a: &mut Analyzer<'_>, input: &Relation, outputs: Vec<Expr>) -> Result<(Vec<Literal>, Vec<Attribute>)> {
    let relation = Relation::new(RelationKind::Aggregate(Aggregate {
        input: input.clone(),
        grouping: Grouping::By(Vec::new()),
        aggregates: outputs,
        is_sql: false,
    }));
    let resolved = a.relation(&relation)?;
    let batches = a.env.run(&resolved)?;
    let mut row = Vec::new();
    for batch in batches.iter().filter(|b| b.num_rows() > 0) {
        for (column, attribute) in batch.columns().iter().zip(&resolved.output) {
            row.push(Literal::from_array(column, 0, &attribute.data_type)?);
        }
    }
    Ok((row, resolved.output))
}

/// Rows at hand as a relation.
pub(super) fn local(schema: StructType, columns: Vec<Vec<Literal>>) -> Result<Resolved> {
    let mut arrays = Vec::new();
    let arrow = Arc::new(firesteel_types::arrow_mapping::to_arrow_schema(&schema));
    for (values, field) in columns.iter().zip(&schema.fields) {
        let mut parts = Vec::new();
        for value in values {
            let value = if value.is_null() { Literal::Null(field.data_type.clone()) } else { value.clone() };
            parts.push(value.to_array(1)?);
        }
        let references: Vec<&dyn arrow::array::Array> = parts.iter().map(AsRef::as_ref).collect();
        let array = if references.is_empty() {
            arrow::array::new_empty_array(&firesteel_types::arrow_mapping::to_arrow(&field.data_type))
        } else {
            arrow::compute::concat(&references).map_err(|e| SparkError::internal(e.to_string()))?
        };
        arrays.push(array);
    }
    let batch =
        arrow::array::RecordBatch::try_new(arrow.clone(), arrays).map_err(|e| SparkError::internal(e.to_string()))?;
    leaf::scan(&leaf::memory_scan(&schema, arrow, vec![batch])?, &[])
}

/// The number of a percentile such as `25%`.
fn percentile(statistic: &str, lower: &str) -> Result<f64> {
    let Some(percent) = lower.strip_suffix('%').and_then(|p| p.trim().parse::<f64>().ok()) else {
        return Err(SparkError::new("UNRECOGNIZED_STATISTIC").with("stats", format!("'{statistic}'")));
    };
    if (0.0..=100.0).contains(&percent) {
        return Ok(percent);
    }
    Err(SparkError::plain(
        ExceptionClass::IllegalArgument,
        "requirement failed: Percentiles must be in the range [0, 1]",
    ))
}

fn summarise(a: &mut Analyzer<'_>, input: &Relation, columns: &[String], statistics: &[String]) -> Result<Resolved> {
    let resolved = a.relation(input)?;
    let scope = a.scope(&[&resolved]);
    let mut chosen: Vec<(String, Expr, DataType)> = Vec::new();
    if columns.is_empty() {
        for c in resolved.output.iter().filter(|c| c.data_type.is_numeric() || c.data_type.is_string()) {
            chosen.push((c.name.clone(), Expr::column(&c.name), c.data_type.clone()));
        }
    } else {
        for name in columns {
            let parts = firesteel_sql::parse_attribute_name(name)?;
            let expr = Expr::attribute(parts.clone());
            let typed: TypedExpr = a.expression(&expr, &scope)?;
            chosen.push((parts.last().cloned().unwrap_or_default(), expr, typed.data_type));
        }
    }
    if chosen.iter().any(|(name, _, _)| name == "summary") {
        // Spark looks a statistic up in its own column of this name, and finds the user's.
        return Err(SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
            .with("sqlExpr", "\"element_at(summary, summary)\"")
            .with("paramIndex", "first")
            .with("requiredType", "(\"ARRAY\" or \"MAP\")")
            .with("inputSql", "\"summary\"")
            .with("inputType", "\"STRING\""));
    }
    let to_string = |e: Expr| e.cast(DataType::STRING);
    let mut outputs = Vec::new();
    for statistic in statistics {
        for (name, column, data_type) in &chosen {
            let numeric = || match data_type {
                t if t.is_numeric() => column.clone(),
                _ => Expr::new(ExprKind::Cast {
                    child: Box::new(column.clone()),
                    to: DataType::Double,
                    mode: firesteel_plan::CastMode::Try,
                }),
            };
            let value = match statistic.to_ascii_lowercase().as_str() {
                "count" => Expr::call("count", vec![column.clone()]),
                "count_distinct" => {
                    let mut call = firesteel_plan::FunctionCall::new(vec!["count".into()], vec![column.clone()]);
                    call.is_distinct = true;
                    Expr::new(ExprKind::Function(call))
                }
                "approx_count_distinct" => Expr::call("approx_count_distinct", vec![column.clone()]),
                "mean" => Expr::call("avg", vec![numeric()]),
                "stddev" => Expr::call("stddev_samp", vec![numeric()]),
                "min" => Expr::call("min", vec![column.clone()]),
                "max" => Expr::call("max", vec![column.clone()]),
                text => {
                    let share = Expr::literal(Literal::Double(percentile(statistic, text)? / 100.0));
                    Expr::call("percentile_approx", vec![numeric(), share, Expr::literal(Literal::Integer(10_000))])
                }
            };
            let name = format!("{}_{name}", outputs.len());
            outputs.push(to_string(value).alias(name));
        }
    }
    let (values, _) = aggregate_row(a, input, outputs)?;
    let mut schema = vec![StructField::new("summary", DataType::STRING, true)];
    schema.extend(chosen.iter().map(|(name, _, _)| StructField::new(name, DataType::STRING, true)));
    let mut table: Vec<Vec<Literal>> = vec![statistics.iter().map(|s| Literal::String(s.clone())).collect()];
    for i in 0..chosen.len() {
        let column = (0..statistics.len())
            .map(|s| values.get(s * chosen.len() + i).cloned().unwrap_or(Literal::Null(DataType::STRING)))
            .collect();
        table.push(column);
    }
    local(StructType::new(schema), table)
}

fn two_columns(
    a: &mut Analyzer<'_>,
    input: &Relation,
    column1: &str,
    column2: &str,
    function: &str,
    name: &str,
) -> Result<Resolved> {
    let resolved = a.relation(input)?;
    let scope = a.scope(&[&resolved]);
    let mut arguments = Vec::new();
    for column in [column1, column2] {
        let expr = Expr::attribute(firesteel_sql::parse_attribute_name(column)?);
        let typed = a.expression(&expr, &scope)?;
        if !typed.data_type.is_numeric() {
            return Err(SparkError::plain(
                ExceptionClass::IllegalArgument,
                format!(
                    "requirement failed: Currently {name} calculation for columns with dataType {} not supported.",
                    typed.data_type.simple_string()
                ),
            ));
        }
        // A null counts as 0.
        let zero = || Expr::literal(Literal::Double(0.0));
        arguments.push(Expr::call("coalesce", vec![expr.cast(DataType::Double), zero()]));
    }
    let mut value = Expr::call(function, arguments);
    let is_covariance = function == "covar_samp";
    if is_covariance {
        value = Expr::call("coalesce", vec![value, Expr::literal(Literal::Double(0.0))]);
    }
    let relation = Relation::new(RelationKind::Aggregate(Aggregate {
        input: input.clone(),
        grouping: Grouping::By(Vec::new()),
        aggregates: vec![value.alias(if is_covariance { "cov" } else { "corr" })],
        is_sql: false,
    }));
    a.relation(&relation)
}

fn quantiles(
    a: &mut Analyzer<'_>,
    input: &Relation,
    columns: &[String],
    probabilities: &[f64],
    accuracy: f64,
) -> Result<Resolved> {
    let mut outputs = Vec::new();
    let list = Literal::Array(probabilities.iter().map(|p| Literal::Double(*p)).collect(), DataType::Double);
    let resolved = a.relation(input)?;
    let scope = a.scope(&[&resolved]);
    for (i, column) in columns.iter().enumerate() {
        let expr = Expr::attribute(firesteel_sql::parse_attribute_name(column)?);
        let data_type = a.expression(&expr, &scope)?.data_type;
        if !data_type.is_numeric() {
            return Err(SparkError::plain(
                ExceptionClass::IllegalArgument,
                format!(
                    "requirement failed: Quantile calculation for column {column} with data type {} is not supported.",
                    class_name(&data_type)
                ),
            ));
        }
        let expr = expr.cast(DataType::Double);
        // NaN counts for nothing here.
        let not_nan = Expr::call("nanvl", vec![expr, Expr::literal(Literal::Null(DataType::Double))]);
        #[allow(clippy::cast_possible_truncation)]
        let accuracy = Expr::literal(Literal::Integer(accuracy as i32));
        outputs.push(
            Expr::call("percentile_approx", vec![not_nan, Expr::literal(list.clone()), accuracy])
                .alias(format!("q{i}")),
        );
    }
    let (row, _) = aggregate_row(a, input, outputs)?;
    let rows = row
        .into_iter()
        .map(|value| match value {
            Literal::Array(..) => value,
            _ => Literal::Array(Vec::new(), DataType::Double),
        })
        .collect();
    let inner = DataType::array(DataType::Double, false);
    let value = Literal::Array(rows, inner.clone());
    let schema = StructType::new(vec![StructField::new("approx_quantile", DataType::array(inner, false), false)]);
    local(schema, vec![vec![value]])
}

/// A type as Scala prints it.
fn class_name(data_type: &DataType) -> String {
    let name = data_type.simple_string();
    let mut letters = name.chars();
    match letters.next() {
        _ if matches!(data_type, DataType::TimestampNtz) => "TimestampNTZType".to_string(),
        Some(first) => format!("{}{}Type", first.to_uppercase(), letters.as_str()),
        None => name,
    }
}

fn crosstab(a: &mut Analyzer<'_>, input: &Relation, column1: &str, column2: &str) -> Result<Resolved> {
    let first = Expr::attribute(firesteel_sql::parse_attribute_name(column1)?);
    let second = Expr::attribute(firesteel_sql::parse_attribute_name(column2)?);
    let text =
        |e: Expr| Expr::call("coalesce", vec![e.cast(DataType::STRING), Expr::literal(Literal::String("null".into()))]);
    let grouped = Relation::new(RelationKind::Aggregate(Aggregate {
        input: input.clone(),
        grouping: Grouping::By(vec![text(first).alias("a"), text(second).alias("b")]),
        aggregates: vec![Expr::call("count", vec![Expr::literal(Literal::Integer(1))]).alias("n")],
        is_sql: false,
    }));
    let sorted = Relation::new(RelationKind::Sort {
        input: grouped,
        order: SortKeys::By(vec![SortOrder::ascending(Expr::column("a")), SortOrder::ascending(Expr::column("b"))]),
        is_global: true,
    });
    let resolved = a.relation(&sorted)?;
    let max = a.env.conf().pivot_max_values;
    let mut rows: Vec<String> = Vec::new();
    let mut names = std::collections::BTreeSet::new();
    let mut cells: std::collections::HashMap<(String, String), i64> = std::collections::HashMap::new();
    for batch in a.env.run(&resolved)? {
        for row in 0..batch.num_rows() {
            let value = |i: usize| Literal::from_array(batch.column(i), row, &resolved.output[i].data_type);
            let (Literal::String(x), Literal::String(y), Literal::Long(n)) = (value(0)?, value(1)?, value(2)?) else {
                return Err(SparkError::internal("crosstab counts strings"));
            };
            // The rows come in order.
            if rows.last() != Some(&x) {
                rows.push(x.clone());
            }
            names.insert(y.clone());
            if names.len() > max {
                return Err(super::pivot::too_many_values(column2, max));
            }
            cells.insert((x, y), n);
        }
    }
    let mut schema = vec![StructField::new(format!("{column1}_{column2}"), DataType::STRING, true)];
    let mut table = vec![rows.iter().map(|r| Literal::String(r.clone())).collect::<Vec<_>>()];
    for name in names {
        let column =
            rows.iter().map(|r| Literal::Long(cells.get(&(r.clone(), name.clone())).copied().unwrap_or(0))).collect();
        schema.push(StructField::new(name, DataType::Long, false));
        table.push(column);
    }
    local(StructType::new(schema), table)
}
