//! The type lattice of Spark 4.2.

use serde_json::{Map, Value};
use std::sync::Arc;

/// Collation of a string type. `UTF8_BINARY` is the default, byte order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Collation {
    #[default]
    Utf8Binary,
    /// Any other, by its canonical name, such as `UTF8_LCASE` or `UNICODE_CI`.
    Named(Arc<str>),
}

/// Fields of a day-time interval, from coarse to fine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DayTimeField {
    Day,
    Hour,
    Minute,
    Second,
}

/// Fields of a year-month interval, from coarse to fine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum YearMonthField {
    Year,
    Month,
}

/// A Spark SQL data type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DataType {
    /// `void`, the type of `NULL`.
    Null,
    Boolean,
    /// `tinyint`
    Byte,
    /// `smallint`
    Short,
    /// `int`
    Integer,
    /// `bigint`
    Long,
    Float,
    Double,
    /// Precision 1..=38 and scale 0..=precision.
    Decimal(u8, i8),
    String(Collation),
    /// Strings padded to a length; only as a column's declared type.
    Char(u32),
    /// Strings up to a length; only as a column's declared type.
    Varchar(u32),
    Binary,
    Date,
    /// Microseconds since the epoch, UTC (`timestamp`, TIMESTAMP_LTZ).
    Timestamp,
    /// Microseconds on the wall clock, no zone.
    TimestampNtz,
    /// Time of day with a precision of 0..=6 digits.
    Time(u8),
    /// Months, days and microseconds, each on its own (`interval`).
    CalendarInterval,
    YearMonthInterval(YearMonthField, YearMonthField),
    DayTimeInterval(DayTimeField, DayTimeField),
    Array {
        element: Arc<DataType>,
        contains_null: bool,
    },
    Map {
        key: Arc<DataType>,
        value: Arc<DataType>,
        value_contains_null: bool,
    },
    Struct(Arc<StructType>),
    Variant,
    /// SRID.
    Geometry(i32),
    /// SRID.
    Geography(i32),
    /// A user-defined type over `sql_type`.
    Udt {
        /// The JVM class, where there is one.
        jvm_class: Option<Arc<str>>,
        python_class: Option<Arc<str>>,
        serialized_python_class: Option<Arc<str>>,
        sql_type: Arc<DataType>,
    },
    /// A type known by name only, until it is resolved.
    Unparsed(Arc<str>),
}

/// A field of a struct, or a column of a schema.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StructField {
    pub name: String,
    pub data_type: DataType,
    pub nullable: bool,
    pub metadata: Metadata,
}

/// JSON metadata of a column: an object, possibly empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata(Option<Arc<Map<String, Value>>>);

impl std::hash::Hash for Metadata {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        if let Some(map) = &self.0 {
            Value::Object(map.as_ref().clone()).to_string().hash(state);
        }
    }
}

impl Metadata {
    pub fn new(map: Map<String, Value>) -> Self {
        if map.is_empty() { Self(None) } else { Self(Some(Arc::new(map))) }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.as_ref().and_then(|m| m.get(key))
    }

    pub fn to_map(&self) -> Map<String, Value> {
        self.0.as_ref().map(|m| m.as_ref().clone()).unwrap_or_default()
    }
}

/// The fields of a struct, or the schema of a relation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct StructType {
    pub fields: Vec<StructField>,
}

impl StructField {
    pub fn new(name: impl Into<String>, data_type: DataType, nullable: bool) -> Self {
        Self { name: name.into(), data_type, nullable, metadata: Metadata::default() }
    }

    #[must_use]
    pub fn with_metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }
}

impl StructType {
    pub fn new(fields: Vec<StructField>) -> Self {
        Self { fields }
    }
}

impl DataType {
    /// The default string type.
    pub const STRING: DataType = DataType::String(Collation::Utf8Binary);
    /// The decimal type of a cast to bare `DECIMAL`.
    pub const DECIMAL: DataType = DataType::Decimal(10, 0);
    /// What Spark calls the system default decimal.
    pub const DECIMAL_SYSTEM_DEFAULT: DataType = DataType::Decimal(38, 18);
    pub const DAY_TIME: DataType = DataType::DayTimeInterval(DayTimeField::Day, DayTimeField::Second);
    pub const YEAR_MONTH: DataType = DataType::YearMonthInterval(YearMonthField::Year, YearMonthField::Month);

    pub fn array(element: DataType, contains_null: bool) -> Self {
        DataType::Array { element: Arc::new(element), contains_null }
    }

    pub fn map(key: DataType, value: DataType, value_contains_null: bool) -> Self {
        DataType::Map { key: Arc::new(key), value: Arc::new(value), value_contains_null }
    }

    pub fn struct_of(fields: Vec<StructField>) -> Self {
        DataType::Struct(Arc::new(StructType::new(fields)))
    }

    pub fn is_integral(&self) -> bool {
        matches!(self, DataType::Byte | DataType::Short | DataType::Integer | DataType::Long)
    }

    pub fn is_fractional(&self) -> bool {
        matches!(self, DataType::Float | DataType::Double | DataType::Decimal(..))
    }

    pub fn is_numeric(&self) -> bool {
        self.is_integral() || self.is_fractional()
    }

    pub fn is_string(&self) -> bool {
        matches!(self, DataType::String(_) | DataType::Char(_) | DataType::Varchar(_))
    }

    pub fn is_datetime(&self) -> bool {
        matches!(self, DataType::Date | DataType::Timestamp | DataType::TimestampNtz)
    }

    pub fn is_ansi_interval(&self) -> bool {
        matches!(self, DataType::YearMonthInterval(..) | DataType::DayTimeInterval(..))
    }

    pub fn is_null(&self) -> bool {
        matches!(self, DataType::Null)
    }

    pub fn is_nested(&self) -> bool {
        matches!(self, DataType::Array { .. } | DataType::Map { .. } | DataType::Struct(_))
    }

    /// The decimal type that holds every value of an integral type.
    pub fn decimal_for_integral(&self) -> Option<(u8, i8)> {
        match self {
            DataType::Byte => Some((3, 0)),
            DataType::Short => Some((5, 0)),
            DataType::Integer => Some((10, 0)),
            DataType::Long => Some((20, 0)),
            _ => None,
        }
    }
}

impl DayTimeField {
    /// The unit in lower case.
    pub fn name(self) -> &'static str {
        match self {
            DayTimeField::Day => "day",
            DayTimeField::Hour => "hour",
            DayTimeField::Minute => "minute",
            DayTimeField::Second => "second",
        }
    }

    /// The unit of a name in any case.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Day, Self::Hour, Self::Minute, Self::Second].into_iter().find(|f| f.name().eq_ignore_ascii_case(name))
    }
}

impl YearMonthField {
    /// The unit in lower case.
    pub fn name(self) -> &'static str {
        match self {
            YearMonthField::Year => "year",
            YearMonthField::Month => "month",
        }
    }

    /// The unit of a name in any case.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Year, Self::Month].into_iter().find(|f| f.name().eq_ignore_ascii_case(name))
    }
}
