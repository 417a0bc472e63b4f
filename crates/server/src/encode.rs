//! Types, literals and facts of a run as protobuf messages.

use firesteel_engine::{MetricKind, ObservedMetrics, OperatorMetrics, Progress};
use firesteel_plan::StorageLevel;
use firesteel_proto::connect as proto;
use firesteel_types::{Collation, DataType, DayTimeField, Literal, StructField, StructType, YearMonthField};
use proto::data_type::{self as message, Kind};
use proto::execute_plan_response as response;
use proto::expression::literal::{self, LiteralType};

fn kind(kind: Kind) -> proto::DataType {
    proto::DataType { kind: Some(kind) }
}

/// The message of a schema.
pub fn schema(schema: &StructType) -> proto::DataType {
    kind(Kind::Struct(message::Struct { fields: schema.fields.iter().map(field).collect(), ..Default::default() }))
}

fn field(field: &StructField) -> message::StructField {
    let metadata = (!field.metadata.is_empty()).then(|| serde_json::Value::Object(field.metadata.to_map()).to_string());
    message::StructField {
        name: field.name.clone(),
        data_type: Some(data_type(&field.data_type)),
        nullable: field.nullable,
        metadata,
    }
}

fn boxed(of: &DataType) -> Option<Box<proto::DataType>> {
    Some(Box::new(data_type(of)))
}

/// The message of a type.
pub fn data_type(of: &DataType) -> proto::DataType {
    kind(match of {
        DataType::Null => Kind::Null(Default::default()),
        DataType::Boolean => Kind::Boolean(Default::default()),
        DataType::Byte => Kind::Byte(Default::default()),
        DataType::Short => Kind::Short(Default::default()),
        DataType::Integer => Kind::Integer(Default::default()),
        DataType::Long => Kind::Long(Default::default()),
        DataType::Float => Kind::Float(Default::default()),
        DataType::Double => Kind::Double(Default::default()),
        DataType::Decimal(precision, scale) => Kind::Decimal(message::Decimal {
            scale: Some(i32::from(*scale)),
            precision: Some(i32::from(*precision)),
            ..Default::default()
        }),
        DataType::String(collation) => Kind::String(message::String {
            collation: match collation {
                Collation::Utf8Binary => String::new(),
                Collation::Named(name) => name.to_string(),
            },
            ..Default::default()
        }),
        DataType::Char(length) => Kind::Char(message::Char { length: signed(*length), ..Default::default() }),
        DataType::Varchar(length) => Kind::VarChar(message::VarChar { length: signed(*length), ..Default::default() }),
        DataType::Binary => Kind::Binary(Default::default()),
        DataType::Date => Kind::Date(Default::default()),
        DataType::Timestamp => Kind::Timestamp(Default::default()),
        DataType::TimestampNtz => Kind::TimestampNtz(Default::default()),
        DataType::Time(precision) => {
            Kind::Time(message::Time { precision: Some(i32::from(*precision)), ..Default::default() })
        }
        DataType::CalendarInterval => Kind::CalendarInterval(Default::default()),
        DataType::YearMonthInterval(start, end) => Kind::YearMonthInterval(message::YearMonthInterval {
            start_field: Some(year_month_number(*start)),
            end_field: Some(year_month_number(*end)),
            ..Default::default()
        }),
        DataType::DayTimeInterval(start, end) => Kind::DayTimeInterval(message::DayTimeInterval {
            start_field: Some(day_time_number(*start)),
            end_field: Some(day_time_number(*end)),
            ..Default::default()
        }),
        DataType::Array { element, contains_null } => Kind::Array(Box::new(message::Array {
            element_type: boxed(element),
            contains_null: *contains_null,
            ..Default::default()
        })),
        DataType::Map { key, value, value_contains_null } => Kind::Map(Box::new(message::Map {
            key_type: boxed(key),
            value_type: boxed(value),
            value_contains_null: *value_contains_null,
            ..Default::default()
        })),
        DataType::Struct(fields) => return schema(fields),
        DataType::Variant => Kind::Variant(Default::default()),
        DataType::Geometry(srid) => Kind::Geometry(message::Geometry { srid: *srid, ..Default::default() }),
        DataType::Geography(srid) => Kind::Geography(message::Geography { srid: *srid, ..Default::default() }),
        DataType::Udt { jvm_class, python_class, serialized_python_class, sql_type } => {
            Kind::Udt(Box::new(message::Udt {
                r#type: "udt".to_string(),
                jvm_class: jvm_class.as_deref().map(str::to_string),
                python_class: python_class.as_deref().map(str::to_string),
                serialized_python_class: serialized_python_class.as_deref().map(str::to_string),
                sql_type: boxed(sql_type),
            }))
        }
        DataType::Unparsed(text) => Kind::Unparsed(message::Unparsed { data_type_string: text.to_string() }),
    })
}

fn signed(length: u32) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

fn year_month_number(field: YearMonthField) -> i32 {
    match field {
        YearMonthField::Year => 0,
        YearMonthField::Month => 1,
    }
}

fn day_time_number(field: DayTimeField) -> i32 {
    match field {
        DayTimeField::Day => 0,
        DayTimeField::Hour => 1,
        DayTimeField::Minute => 2,
        DayTimeField::Second => 3,
    }
}

/// The message of a value. Element types go where Python clients read them.
pub fn literal(value: &Literal) -> proto::expression::Literal {
    let literals = |values: &[Literal]| values.iter().map(literal).collect();
    let of = match value {
        Literal::Null(of) => LiteralType::Null(data_type(of)),
        Literal::Boolean(value) => LiteralType::Boolean(*value),
        Literal::Byte(value) => LiteralType::Byte(i32::from(*value)),
        Literal::Short(value) => LiteralType::Short(i32::from(*value)),
        Literal::Integer(value) => LiteralType::Integer(*value),
        Literal::Long(value) => LiteralType::Long(*value),
        Literal::Float(value) => LiteralType::Float(*value),
        Literal::Double(value) => LiteralType::Double(*value),
        Literal::Decimal(unscaled, precision, scale) => LiteralType::Decimal(literal::Decimal {
            value: decimal_text(*unscaled, *scale),
            precision: Some(i32::from(*precision)),
            scale: Some(i32::from(*scale)),
        }),
        Literal::String(value) => LiteralType::String(value.clone()),
        Literal::Binary(value) => LiteralType::Binary(value.clone().into()),
        Literal::Date(days) => LiteralType::Date(*days),
        Literal::Timestamp(micros) => LiteralType::Timestamp(*micros),
        Literal::TimestampNtz(micros) => LiteralType::TimestampNtz(*micros),
        Literal::Time(nano, precision) => {
            LiteralType::Time(literal::Time { nano: *nano, precision: Some(i32::from(*precision)) })
        }
        Literal::CalendarInterval(months, days, microseconds) => {
            LiteralType::CalendarInterval(literal::CalendarInterval {
                months: *months,
                days: *days,
                microseconds: *microseconds,
            })
        }
        Literal::YearMonthInterval(months, _) => LiteralType::YearMonthInterval(*months),
        Literal::DayTimeInterval(micros, _) => LiteralType::DayTimeInterval(*micros),
        Literal::Array(values, of) => {
            LiteralType::Array(literal::Array { element_type: Some(data_type(of)), elements: literals(values) })
        }
        Literal::Map(entries, key, value) => LiteralType::Map(literal::Map {
            key_type: Some(data_type(key)),
            value_type: Some(data_type(value)),
            keys: entries.iter().map(|(key, _)| literal(key)).collect(),
            values: entries.iter().map(|(_, value)| literal(value)).collect(),
        }),
        Literal::Struct(values, of) => {
            LiteralType::Struct(literal::Struct { struct_type: Some(schema(of)), elements: literals(values) })
        }
    };
    proto::expression::Literal { literal_type: Some(of), data_type: None }
}

fn decimal_text(unscaled: i128, scale: i8) -> String {
    let Ok(places @ 1..) = usize::try_from(scale) else {
        return format!("{unscaled}{}", "0".repeat(usize::from(scale.unsigned_abs())));
    };
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    format!("{sign}{whole}.{fraction}")
}

/// The message of a storage level.
pub fn storage_level(level: StorageLevel) -> proto::StorageLevel {
    proto::StorageLevel {
        use_disk: level.use_disk,
        use_memory: level.use_memory,
        use_off_heap: level.use_off_heap,
        deserialized: level.deserialized,
        replication: level.replication,
    }
}

/// The message of how far a query is.
pub fn progress(progress: &Progress) -> response::ExecutionProgress {
    let stages = progress.stages.iter().map(|stage| response::execution_progress::StageInfo {
        stage_id: stage.id,
        num_tasks: stage.tasks,
        num_completed_tasks: stage.completed_tasks,
        input_bytes_read: stage.input_bytes,
        done: stage.is_done,
    });
    response::ExecutionProgress { stages: stages.collect(), num_inflight_tasks: progress.tasks_in_flight }
}

/// The message of a query's metrics.
pub fn metrics(operators: &[OperatorMetrics]) -> response::Metrics {
    let value = |metric: &firesteel_engine::Metric| response::metrics::MetricValue {
        name: metric.name.clone(),
        value: metric.value,
        metric_type: match metric.kind {
            MetricKind::Sum => "sum",
            MetricKind::Timing => "timing",
            MetricKind::Size => "size",
        }
        .to_string(),
    };
    let object = |operator: &OperatorMetrics| response::metrics::MetricObject {
        name: operator.name.clone(),
        plan_id: operator.plan_id,
        parent: operator.parent,
        execution_metrics: operator.metrics.iter().map(|metric| (metric.name.clone(), value(metric))).collect(),
    };
    response::Metrics { metrics: operators.iter().map(object).collect() }
}

/// The messages of a query's observations.
pub fn observed(observations: &[ObservedMetrics]) -> Vec<response::ObservedMetrics> {
    let message = |observation: &ObservedMetrics| response::ObservedMetrics {
        name: observation.name.clone(),
        values: observation.values.iter().map(literal).collect(),
        keys: observation.keys.clone(),
        plan_id: observation.plan_id,
        ..Default::default()
    };
    observations.iter().map(message).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_written_plainly() {
        assert_eq!(decimal_text(-150, 2), "-1.50");
        assert_eq!(decimal_text(1, 3), "0.001");
        assert_eq!(decimal_text(7, 0), "7");
    }
}
