//! Casts written as functions.

use crate::cast::{Mode, cast};
use crate::scalar::string::declare::{function, param};
use crate::{ArgType, Body, BuildContext, Signature, TypedExpr};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

const VALUE: Signature = Signature::of(&[param("expr", ArgType::Any)]);

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>, to: &DataType) -> Result<TypedExpr> {
    let Some(argument) = arguments.into_iter().next() else {
        return Err(SparkError::internal("a cast takes an argument"));
    };
    let mode = Mode::of_session(context.conf);
    cast(argument, to, mode, context)
}

/// A cast has the name of what it casts.
fn own_name(arguments: &[String]) -> String {
    arguments.join(", ")
}

macro_rules! casts {
    ($($id:ident $name:literal $type:expr, $usage:literal, $sql:literal => $answer:literal;)+) => {
        $(function! {
            #[doc = $usage]
            $id = $name in Conversion, VALUE
                => Body::Build(|context, arguments| build(context, arguments, &$type));
            text own_name;
            usage $usage;
            since "2.0.1";
            example $sql => $answer;
        })+

        /// All of them.
        pub const CASTS: &[&crate::Function] = &[$(&$id),+];
    };
}

casts! {
    BIGINT "bigint" DataType::Long, "`expr` as a `bigint`.", "SELECT bigint('1')" => "1";
    BINARY "binary" DataType::Binary, "`expr` as a `binary`.", "SELECT binary('a')" => "a";
    BOOLEAN "boolean" DataType::Boolean, "`expr` as a `boolean`.", "SELECT boolean('true')" => "true";
    DATE "date" DataType::Date, "`expr` as a `date`.", "SELECT date('2020-01-01')" => "2020-01-01";
    DECIMAL "decimal" DataType::DECIMAL, "`expr` as a `decimal(10,0)`.", "SELECT decimal('1.5')" => "2";
    DOUBLE "double" DataType::Double, "`expr` as a `double`.", "SELECT double(1)" => "1.0";
    FLOAT "float" DataType::Float, "`expr` as a `float`.", "SELECT float(1)" => "1.0";
    INT "int" DataType::Integer, "`expr` as an `int`.", "SELECT int('1')" => "1";
    SMALLINT "smallint" DataType::Short, "`expr` as a `smallint`.", "SELECT smallint(1)" => "1";
    STRING "string" DataType::STRING, "`expr` as a `string`.", "SELECT string(1)" => "1";
    TIME "time" DataType::Time(6), "`expr` as a `time(6)`.", "SELECT time('12:00:00')" => "12:00:00";
    TIMESTAMP "timestamp" DataType::Timestamp, "`expr` as a `timestamp`.", "SELECT timestamp('2020-01-01')" => "2020-01-01 00:00:00";
    TINYINT "tinyint" DataType::Byte, "`expr` as a `tinyint`.", "SELECT tinyint(1)" => "1";
}
