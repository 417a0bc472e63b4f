//! Protobuf: `from_protobuf` and `to_protobuf`.

mod descriptor;
mod read;
mod shape;
mod wire;
mod write;

use crate::kernel::kernel;
use crate::scalar::json::options::Options;
use crate::scalar::string::constant::{text_of, value_of};
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Binaries, Rows, array_or_constant, binaries, finish, row_count};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use datafusion::logical_expr::ColumnarValue;
use datafusion::scalar::ScalarValue;
use descriptor::Descriptors;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::{DataType, Literal};
use shape::{Settings, Shape};
use std::sync::Arc;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[&FROM_PROTOBUF, &TO_PROTOBUF];

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] = &[&kernel("from_protobuf", from_protobuf), &kernel("to_protobuf", to_protobuf)];

const SIGNATURE: Signature = Signature::with_optional(
    &[
        param("data", ArgType::Any),
        param("messageName", ArgType::Any),
        param("descFilePath", ArgType::Any),
        param("options", ArgType::Any),
    ],
    2,
);

function! {
    /// `from_protobuf(data, messageName[, descFilePath[, options]])`
    FROM_PROTOBUF = "from_protobuf" in Misc, SIGNATURE => Body::Named(build_from);
    usage "The value of a Protobuf message, which a file or the bytes of a FileDescriptorSet describe.";
    since "4.0.0";
}
function! {
    /// `to_protobuf(data, messageName[, descFilePath[, options]])`
    TO_PROTOBUF = "to_protobuf" in Misc, SIGNATURE => Body::Named(build_to);
    usage "A struct as a Protobuf message, which a file or the bytes of a FileDescriptorSet describe.";
    since "4.0.0";
}

/// A message of a call: what goes along to the kernel.
struct Described {
    /// The bytes of the descriptions, in hexadecimal digits, beside the options.
    options: Options,
}

impl Described {
    fn shape(&self) -> Result<Shape> {
        let bytes = hex::decode(self.options.get(DESCRIPTORS).unwrap_or_default()).unwrap_or_default();
        let descriptors =
            Descriptors::parse(&bytes).ok_or_else(|| SparkError::new("CANNOT_PARSE_PROTOBUF_DESCRIPTOR"))?;
        let name = self.options.get(MESSAGE).unwrap_or_default();
        let found = descriptors
            .find(name)
            .ok_or_else(|| SparkError::new("PROTOBUF_MESSAGE_NOT_FOUND").with("messageName", name))?;
        Shape::of(&descriptors, found, Settings::of(&self.options)?)
    }

    fn is_permissive(&self) -> bool {
        self.options.get("mode").is_some_and(|mode| mode.eq_ignore_ascii_case("PERMISSIVE"))
    }
}

const DESCRIPTORS: &str = "descriptors";
const MESSAGE: &str = "message";

/// The text of a call, with what is left out.
fn call_text(function: &Function, arguments: &[TypedExpr]) -> String {
    let mut names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    names.resize(4, "NULL".to_string());
    function.call_text(&names)
}

fn described(function: &Function, call: &str, arguments: &[TypedExpr]) -> Result<Described> {
    let wrong = |message: String| {
        SparkError::new("DATATYPE_MISMATCH.TYPE_CHECK_FAILURE_WITH_HINT")
            .with("sqlExpr", format!("\"{call}\""))
            .with("msg", message)
            .with("hint", "")
    };
    let upper = function.name.to_uppercase();
    let [_, name, rest @ ..] = arguments else {
        return Err(SparkError::internal("a message needs its name"));
    };
    let not_a_name = || {
        wrong(format!("The second argument of the {upper} SQL function must be a constant text: the name of a message"))
    };
    let name = value_of(name)?.as_ref().and_then(text_of).map(str::to_string).ok_or_else(not_a_name)?;
    let is_map = |a: &TypedExpr| matches!(a.data_type, DataType::Map { .. });
    // The descriptions may be left out before the options.
    let (file, options) = match rest {
        [only] if is_map(only) => (None, Some(only)),
        [file, more @ ..] => (Some(file), more.first()),
        [] => (None, None),
    };
    let is_left_out =
        |a: &&TypedExpr| a.data_type.is_null() || matches!(&a.data_type, DataType::Map { key, .. } if key.is_null());
    let mut options = Options::of(options.filter(|a| !is_left_out(a)))?;
    let bytes = match file.filter(|a| !is_left_out(a)) {
        None => {
            return Err(SparkError::new("CANNOT_LOAD_PROTOBUF_CLASS")
                .with("protobufClassName", name)
                .with("explanation", "this server loads no Java classes; give descriptions of the messages"));
        }
        Some(file) => match value_of(file)? {
            Some(ScalarValue::Binary(Some(bytes))) => bytes,
            Some(value) if text_of(&value).is_some() => {
                let path = text_of(&value).unwrap_or_default();
                std::fs::read(path)
                    .map_err(|_| SparkError::new("PROTOBUF_DESCRIPTOR_FILE_NOT_FOUND").with("filePath", path))?
            }
            _ => {
                return Err(wrong(format!(
                    "The third argument of the {upper} SQL function must be a constant: a file or bytes of descriptions"
                )));
            }
        },
    };
    match options.get("mode").unwrap_or("FAILFAST").to_ascii_uppercase().as_str() {
        "FAILFAST" | "PERMISSIVE" => {}
        other => {
            let message = format!("{} knows the modes PERMISSIVE and FAILFAST, not {other}", function.name);
            return Err(SparkError::plain(ExceptionClass::Analysis, message));
        }
    }
    options.set(DESCRIPTORS, hex::encode(bytes));
    options.set(MESSAGE, name);
    Ok(Described { options })
}

fn build_from(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let call = call_text(&FROM_PROTOBUF, &arguments);
    let described = described(&FROM_PROTOBUF, &call, &arguments)?;
    let mut data_type = DataType::Struct(described.shape()?.data_type);
    if described.is_permissive() {
        data_type = data_type.as_nullable();
    }
    let Some(data) = arguments.into_iter().next() else { return Err(SparkError::internal("no message")) };
    let data = crate::coercion::coerce_argument(data, ArgType::Binary, 0, &call, context)?;
    let payload = Some(Arc::from(described.options.to_payload()));
    let expr =
        crate::kernel::call_with_payload(&FROM_PROTOBUF, from_protobuf, &[data], &data_type, true, context, payload)?;
    Ok(TypedExpr::new(expr, data_type, true, call))
}

/// What a call's payload says, with the shape of the message.
struct Prepared {
    shape: Shape,
    settings: Settings,
    is_permissive: bool,
}

fn prepared<'a>(args: &'a KernelArgs<'_>) -> Result<&'a Prepared> {
    args.prepared(|| {
        let described = Described { options: Options::from_payload(args.settings.payload.as_deref()) };
        Ok(Prepared {
            shape: described.shape()?,
            settings: Settings::of(&described.options)?,
            is_permissive: described.is_permissive(),
        })
    })
}

fn from_protobuf(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let message = prepared(args)?;
    let values: Binaries = Rows::of(args, 0)?;
    let null = || Literal::Null(args.return_type.clone());
    let mut rows = Vec::with_capacity(row_count(args));
    for row in 0..row_count(args) {
        rows.push(match values.get(row) {
            None => null(),
            Some(bytes) => match read::message(bytes, &message.shape, message.settings) {
                Some(value) => value,
                None if message.is_permissive => null(),
                None => return Err(SparkError::new("MALFORMED_PROTOBUF_MESSAGE").with("failFastMode", "FAILFAST")),
            },
        });
    }
    finish(args, Literal::array_of(&rows.iter().collect::<Vec<_>>(), args.return_type)?)
}

fn build_to(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let call = call_text(&TO_PROTOBUF, &arguments);
    let Some(data) = arguments.first() else { return Err(SparkError::internal("no struct")) };
    let DataType::Struct(types) = &data.data_type else {
        return Err(SparkError::new("DATATYPE_MISMATCH.NON_STRUCT_TYPE")
            .with("sqlExpr", format!("\"{call}\""))
            .with("inputType", format!("\"{}\"", data.data_type.sql())));
    };
    let described = described(&TO_PROTOBUF, &call, &arguments)?;
    write::check(types, &described.shape()?)?;
    let payload = Some(Arc::from(described.options.to_payload()));
    let (data, nullable) = (std::slice::from_ref(data), data.nullable);
    let expr = crate::kernel::call_with_payload(
        &TO_PROTOBUF,
        to_protobuf,
        data,
        &DataType::Binary,
        nullable,
        context,
        payload,
    )?;
    Ok(TypedExpr::new(expr, DataType::Binary, nullable, call))
}

fn to_protobuf(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let message = prepared(args)?;
    let Some(data_type @ DataType::Struct(types)) = args.types.first() else {
        return Err(SparkError::internal("to_protobuf takes a struct"));
    };
    let (array, is_constant) = array_or_constant(args, 0)?;
    binaries(args, |row| {
        let value = Literal::from_array(array.as_ref(), if is_constant { 0 } else { row }, data_type)?;
        let Literal::Struct(values, _) = value else { return Ok(None) };
        let mut bytes = Vec::new();
        write::message(&values, types, &message.shape, &mut bytes)?;
        Ok(Some(bytes))
    })
}

#[cfg(test)]
mod tests {
    use super::descriptor::Descriptors;
    use super::shape::{Settings, Shape};
    use super::{read, write};
    use firesteel_types::Literal;

    /// `message SimpleMessage { int32 age = 1; string name = 2; int64 score = 3; }` of proto3.
    const SIMPLE: &str = "0ACE010A41636F6E6E6563746F722F70726F746F6275662F7372632F746573742F726\
        5736F75726365732F70726F746F6275662F7079737061726B5F746573742E70726F746F121D6F72672E61\
        70616368652E737061726B2E73716C2E70726F746F627566224B0A0D53696D706C654D657373616765121\
        00A03616765180120012805520361676512120A046E616D6518022001280952046E616D6512140A057363\
        6F7265180320012803520573636F72654215421353696D706C654D65737361676550726F746F736206707\
        26F746F33";

    fn simple(settings: Settings) -> Shape {
        let descriptors = Descriptors::parse(&hex::decode(SIMPLE).unwrap()).unwrap();
        let name = descriptors.find("SimpleMessage").unwrap().to_string();
        assert_eq!(descriptors.find("org.apache.spark.sql.protobuf.SimpleMessage"), Some(name.as_str()));
        assert_eq!(descriptors.find("Other"), None);
        Shape::of(&descriptors, &name, settings).unwrap()
    }

    #[test]
    fn messages_are_those_of_the_documentation() {
        let shape = simple(Settings::default());
        assert_eq!(
            firesteel_types::DataType::Struct(shape.data_type.clone()).sql(),
            "STRUCT<age: INT, name: STRING, score: BIGINT>"
        );
        let values = vec![Literal::Integer(2), Literal::String("Alice".into()), Literal::Long(109_200)];
        let mut bytes = Vec::new();
        write::message(&values, &shape.data_type, &shape, &mut bytes).unwrap();
        assert_eq!(hex::encode_upper(&bytes), "08021205416C6963651890D506");
        let back = read::message(&bytes, &shape, Settings::default()).unwrap();
        assert_eq!(back, Literal::Struct(values, shape.data_type.clone()));
        assert_eq!(read::message(&bytes[..3], &shape, Settings::default()), None);
    }

    #[test]
    fn what_is_left_out_is_null_or_zero() {
        let shape = simple(Settings::default());
        let Some(Literal::Struct(values, _)) = read::message(&[8, 0], &shape, Settings::default()) else { panic!() };
        assert!(values.iter().all(Literal::is_null));
        let settings = Settings { defaults: true, ..Settings::default() };
        let Some(Literal::Struct(values, _)) = read::message(&[], &simple(settings), settings) else { panic!() };
        assert_eq!(values, [Literal::Integer(0), Literal::String(String::new()), Literal::Long(0)]);
    }

    #[test]
    fn other_bytes_describe_nothing() {
        for bytes in [&b"\x0a"[..], b"\xff\xff\xff", b"\x0a\x02\x22\x05"] {
            assert!(Descriptors::parse(bytes).is_none());
        }
    }
}
