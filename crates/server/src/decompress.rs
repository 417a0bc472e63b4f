//! Compressed plans, with bounds on what they may unpack to.

use bytes::Bytes;
use firesteel_error::{Result, SparkError};
use firesteel_proto::connect as proto;
use firesteel_proto::decode::decode_guarded;
use proto::CompressionCodec;
use proto::plan::compressed_operation::OpType as Kind;
use proto::plan::{CompressedOperation, OpType};
use std::io::Read;

/// `spark.connect.maxPlanSize`.
const MAX_PLAN_SIZE: u64 = 512 * 1024 * 1024;

/// The relation or command of a compressed operation.
pub fn operation(message: &CompressedOperation) -> Result<OpType> {
    match CompressionCodec::try_from(message.compression_codec) {
        Ok(CompressionCodec::Zstd) => {}
        Ok(other) => return Err(invalid_codec(other.as_str_name(), message.compression_codec)),
        Err(_) => return Err(invalid_codec("UNRECOGNIZED", message.compression_codec)),
    }
    let kind = Kind::try_from(message.op_type);
    match kind {
        Ok(Kind::Relation) => Ok(OpType::Root(decode_guarded(unzip(&message.data)?).map_err(cannot_parse)?)),
        Ok(Kind::Command) => Ok(OpType::Command(decode_guarded(unzip(&message.data)?).map_err(cannot_parse)?)),
        _ => Err(cannot_parse(
            SparkError::new("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET")
                .with("fullName", "spark.connect.Plan.CompressedOperation")
                .with("name", kind.map_or("UNRECOGNIZED", |kind| kind.as_str_name())),
        )),
    }
}

fn unzip(data: &[u8]) -> Result<Bytes> {
    let decoder = zstd::stream::read::Decoder::new(data).map_err(cannot_parse)?;
    let mut bytes = Vec::new();
    decoder.take(MAX_PLAN_SIZE + 1).read_to_end(&mut bytes).map_err(cannot_parse)?;
    if bytes.len() as u64 > MAX_PLAN_SIZE {
        return Err(SparkError::new("CONNECT_INVALID_PLAN.PLAN_SIZE_LARGER_THAN_MAX")
            .with("planSize", "unknown")
            .with("maxPlanSize", MAX_PLAN_SIZE.to_string()));
    }
    Ok(Bytes::from(bytes))
}

fn cannot_parse(error: impl std::fmt::Display) -> SparkError {
    SparkError::new("CONNECT_INVALID_PLAN.CANNOT_PARSE").with("errorMsg", error.to_string())
}

fn invalid_codec(name: &str, number: i32) -> SparkError {
    SparkError::new("CONNECT_INVALID_PLAN.INVALID_ENUM")
        .with("fullName", "spark.connect.CompressionCodec")
        .with("name", name)
        .with("number", number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;

    fn compressed(data: &[u8], op_type: i32, compression_codec: i32) -> CompressedOperation {
        CompressedOperation { data: Bytes::copy_from_slice(data), op_type, compression_codec }
    }

    #[test]
    fn relations_are_unpacked() {
        let range = proto::Range { end: 3, step: 1, ..Default::default() };
        let relation = proto::Relation { common: None, rel_type: Some(proto::relation::RelType::Range(range)) };
        let data = zstd::encode_all(relation.encode_to_vec().as_slice(), 1).unwrap();
        assert_eq!(operation(&compressed(&data, 1, 1)).unwrap(), OpType::Root(relation));
    }

    #[test]
    fn garbage_and_unknown_codecs_are_refused() {
        assert!(operation(&compressed(b"garbage", 1, 1)).unwrap_err().is("CONNECT_INVALID_PLAN.CANNOT_PARSE"));
        assert!(operation(&compressed(b"", 1, 0)).unwrap_err().is("CONNECT_INVALID_PLAN.INVALID_ENUM"));
        assert!(operation(&compressed(b"", 0, 1)).unwrap_err().is("CONNECT_INVALID_PLAN.CANNOT_PARSE"));
    }

    #[test]
    fn bombs_are_refused() {
        let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
        std::io::copy(&mut std::io::repeat(0).take(MAX_PLAN_SIZE + 2), &mut encoder).unwrap();
        let data = encoder.finish().unwrap();
        let error = operation(&compressed(&data, 1, 1)).unwrap_err();
        assert!(error.is("CONNECT_INVALID_PLAN.PLAN_SIZE_LARGER_THAN_MAX"));
    }
}
