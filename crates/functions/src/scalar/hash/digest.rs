//! Checksums and digests of bytes.

use crate::scalar::string::declare::{function, lenient, param, strict};
use crate::scalar::string::rows::{Binaries, Integers, Rows, primitives, texts};
use crate::{ArgType, Body, BuildContext, KernelArgs, Signature, TypedExpr};
use arrow::datatypes::{DataType as ArrowType, Int64Type};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use std::fmt::Write;

const BYTES: Signature = Signature::of(&[param("expr", ArgType::Binary)]);

function! {
    /// `crc32(expr)`
    CRC32 = "crc32" in Hash, BYTES => strict(DataType::Long, crc32);
    usage "The cyclic redundancy check of the bytes.";
    since "1.5.0";
    example "SELECT crc32('Spark')" => "1557323817";
}
function! {
    /// `md5(expr)`
    MD5 = "md5" in Hash, BYTES => Body::Build(md5);
    usage "The MD5 digest of the bytes in hexadecimal digits.";
    since "1.5.0";
    example "SELECT md5('Spark')" => "8cde774d6f7333752ed72cacddb05126";
}
function! {
    /// `sha1(expr)`
    SHA1 = "sha1" in Hash, BYTES => Body::Build(sha1);
    usage "The SHA-1 digest of the bytes in hexadecimal digits.";
    since "1.5.0";
    example "SELECT sha1('Spark')" => "85f5955f4b27a9a4c2aab6ffe5d7189fc298b92c";
}
function! {
    /// `sha(expr)`
    SHA = "sha" in Hash, BYTES => Body::Build(sha1);
    usage "The SHA-1 digest of the bytes in hexadecimal digits.";
    since "1.5.0";
    example "SELECT sha('Spark')" => "85f5955f4b27a9a4c2aab6ffe5d7189fc298b92c";
}
function! {
    /// `sha2(expr, bitLength)`
    SHA2 = "sha2" in Hash,
        Signature::of(&[param("expr", ArgType::Binary), param("bitLength", ArgType::Integer)])
        => lenient(DataType::STRING, sha2);
    usage "The SHA-2 digest of 224, 256 (or 0), 384 or 512 bits in hexadecimal digits; null for other lengths.";
    since "1.5.0";
    example "SELECT sha2('Spark', 256)" => "529bc3b07127ecb7e53a4dcf1991d9152c24537d919178022b2c42657f79a26b";
}

fn crc32(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Binaries = Rows::of(args, 0)?;
    primitives::<Int64Type>(args, |row| Ok(values.get(row).map(|bytes| i64::from(crc32fast::hash(bytes)))))
}

fn md5(_: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let Some(argument) = arguments.into_iter().next() else {
        return Err(SparkError::internal("md5 without arguments"));
    };
    let digest = datafusion::functions::crypto::md5().call(vec![argument.expr]);
    let text = datafusion::logical_expr::cast(digest, ArrowType::Utf8);
    Ok(TypedExpr::new(text, DataType::STRING, argument.nullable, String::new()))
}

fn sha1(_: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let Some(argument) = arguments.into_iter().next() else {
        return Err(SparkError::internal("sha1 without arguments"));
    };
    let digest = datafusion_spark::function::hash::sha1().call(vec![argument.expr]);
    Ok(TypedExpr::new(digest, DataType::STRING, argument.nullable, String::new()))
}

fn sha2(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (values, lengths): (Binaries, Integers) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    texts(args, |row, out| {
        let (Some(bytes), Some(length)) = (values.get(row), lengths.get(row)) else { return Ok(None) };
        let digest = match length {
            224 => hex::encode(Sha224::digest(bytes)),
            0 | 256 => hex::encode(Sha256::digest(bytes)),
            384 => hex::encode(Sha384::digest(bytes)),
            512 => hex::encode(Sha512::digest(bytes)),
            _ => return Ok(None),
        };
        Ok(out.write_str(&digest).ok())
    })
}
