//! Encryption by AES.

use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Binaries, Rows, Texts, binaries};
use crate::{
    ArgType, Body, BuildContext, Documentation, Function, Group, KernelArgs, KernelFn, Nullability, Param, Returns,
    Signature, TypedExpr,
};
use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockDecryptMut, BlockEncryptMut, BlockSizeUser, KeyInit, KeyIvInit};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::aead::{Aead, Payload};
use aes_gcm::{AesGcm, Nonce};
use datafusion::logical_expr::{ColumnarValue, lit};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

const ENCRYPT: &[Param] = &[
    param("expr", ArgType::Binary),
    param("key", ArgType::Binary),
    param("mode", ArgType::String),
    param("padding", ArgType::String),
    param("iv", ArgType::Binary),
    param("aad", ArgType::Binary),
];
const DECRYPT: &[Param] = &[
    param("expr", ArgType::Binary),
    param("key", ArgType::Binary),
    param("mode", ArgType::String),
    param("padding", ArgType::String),
    param("aad", ArgType::Binary),
];

function! {
    /// `aes_encrypt(expr, key[, mode[, padding[, iv[, aad]]]])`
    AES_ENCRYPT = "aes_encrypt" in Misc, Signature::with_optional(ENCRYPT, 4)
        => Body::Build(|context, arguments| build(&ENCRYPT_KERNEL, context, arguments, &["GCM", "DEFAULT", "", ""]));
    text |arguments| completed("aes_encrypt", arguments, &["GCM", "DEFAULT", "", ""]);
    usage "`expr` encrypted by AES, after the initialisation vector.";
    since "3.3.0";
    example "SELECT base64(aes_encrypt('Spark SQL', '1234567890abcdef', 'ECB', 'PKCS'))" => "3lmwu+Mw0H3fi5NDvcu9lg==";
}
function! {
    /// `aes_decrypt(expr, key[, mode[, padding[, aad]]])`
    AES_DECRYPT = "aes_decrypt" in Misc, Signature::with_optional(DECRYPT, 3)
        => Body::Build(|context, arguments| build(&DECRYPT_KERNEL, context, arguments, &["GCM", "DEFAULT", ""]));
    text |arguments| completed("aes_decrypt", arguments, &["GCM", "DEFAULT", ""]);
    usage "What `aes_encrypt` made `expr` of.";
    since "3.3.0";
    example "SELECT aes_decrypt(unbase64('3lmwu+Mw0H3fi5NDvcu9lg=='), '1234567890abcdef', 'ECB', 'PKCS')" => "Spark SQL";
}
function! {
    /// `try_aes_decrypt(expr, key[, mode[, padding[, aad]]])`
    TRY_AES_DECRYPT = "try_aes_decrypt" in Misc, Signature::with_optional(DECRYPT, 3)
        => Body::Build(|context, arguments| build(&TRY_DECRYPT_KERNEL, context, arguments, &["GCM", "DEFAULT", ""]));
    text |arguments| completed("try_aes_decrypt", arguments, &["GCM", "DEFAULT", ""]);
    usage "What `aes_encrypt` made `expr` of; NULL where it cannot be decrypted.";
    since "3.5.0";
}

const fn kernel(name: &'static str, kernel: KernelFn, is_deterministic: bool) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Internal,
        signature: Signature::variadic(&[], ArgType::Any),
        body: Body::Scalar { returns: Returns::Type(DataType::Binary), nullable: Nullability::Always, kernel },
        deterministic: is_deterministic,
        text: None,
        documentation: Documentation::EMPTY,
    }
}

static ENCRYPT_KERNEL: Function = kernel("aes_encrypt", encrypted, false);
static DECRYPT_KERNEL: Function = kernel("aes_decrypt", |args| decrypted(args, false), true);
static TRY_DECRYPT_KERNEL: Function = kernel("try_aes_decrypt", |args| decrypted(args, true), true);

/// The kernels, by their functions' names.
pub static KERNELS: &[&Function] = &[&ENCRYPT_KERNEL, &DECRYPT_KERNEL, &TRY_DECRYPT_KERNEL];

/// The text of a call with the values of the arguments that are left out.
fn completed(name: &str, arguments: &[String], defaults: &[&str]) -> String {
    let given = arguments.len().saturating_sub(2);
    let rest = defaults.iter().skip(given).map(|d| (*d).to_string());
    let all: Vec<String> = arguments.iter().cloned().chain(rest).collect();
    format!("{name}({})", all.join(", "))
}

fn build(
    function: &'static Function,
    context: &mut BuildContext<'_>,
    mut arguments: Vec<TypedExpr>,
    defaults: &[&str],
) -> Result<TypedExpr> {
    for (index, default) in defaults.iter().enumerate().skip(arguments.len().saturating_sub(2)) {
        arguments.push(if index < 2 {
            TypedExpr::new(lit(*default), DataType::STRING, false, *default)
        } else {
            TypedExpr::new(lit(default.as_bytes().to_vec()), DataType::Binary, false, *default)
        });
    }
    let Body::Scalar { kernel, .. } = &function.body else {
        return Err(SparkError::internal(format!("{} has no kernel", function.name)));
    };
    let expr = crate::kernel::call(function, *kernel, &arguments, &DataType::Binary, true, context)?;
    Ok(TypedExpr::new(expr, DataType::Binary, true, String::new()))
}

/// The function names that errors show.
const BOTH: &str = "`aes_encrypt`/`aes_decrypt`";
const GCM_VECTOR: usize = 12;
const CBC_VECTOR: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Ecb,
    Cbc,
    Gcm,
}

impl Mode {
    fn of(mode: &str, padding: &str) -> Result<Self> {
        match (mode.to_ascii_uppercase().as_str(), padding.to_ascii_uppercase().as_str()) {
            ("ECB", "PKCS" | "DEFAULT") => Ok(Self::Ecb),
            ("CBC", "PKCS" | "DEFAULT") => Ok(Self::Cbc),
            ("GCM", "NONE" | "DEFAULT") => Ok(Self::Gcm),
            _ => Err(SparkError::new("UNSUPPORTED_FEATURE.AES_MODE")
                .with("mode", mode)
                .with("padding", padding)
                .with("functionName", BOTH)),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Ecb => "ECB",
            Self::Cbc => "CBC",
            Self::Gcm => "GCM",
        }
    }

    fn vector_length(self) -> usize {
        match self {
            Self::Ecb => 0,
            Self::Cbc => CBC_VECTOR,
            Self::Gcm => GCM_VECTOR,
        }
    }

    fn unsupported(self, condition: &'static str, function: &str) -> SparkError {
        SparkError::new(condition).with("functionName", format!("`{function}`")).with("mode", self.name())
    }

    /// Fails where a mode takes no vector or no additional data.
    fn check(self, vector: &[u8], additional: &[u8], function: &str) -> Result<()> {
        if !vector.is_empty() && self == Self::Ecb {
            return Err(self.unsupported("UNSUPPORTED_FEATURE.AES_MODE_IV", function));
        }
        if !vector.is_empty() && vector.len() != self.vector_length() {
            return Err(SparkError::new("INVALID_PARAMETER_VALUE.AES_IV_LENGTH")
                .with("mode", self.name())
                .with("parameter", "`iv`")
                .with("functionName", BOTH)
                .with("actualLength", vector.len().to_string()));
        }
        if !additional.is_empty() && self != Self::Gcm {
            return Err(self.unsupported("UNSUPPORTED_FEATURE.AES_MODE_AAD", function));
        }
        Ok(())
    }
}

fn crypto_error(message: &str) -> SparkError {
    SparkError::new("INVALID_PARAMETER_VALUE.AES_CRYPTO_ERROR")
        .with("parameter", "`expr`, `key`")
        .with("functionName", BOTH)
        .with("detailMessage", message)
}

/// Fails for keys of no length that the cipher knows.
fn check_key(key: &[u8]) -> Result<()> {
    if matches!(key.len(), 16 | 24 | 32) { Ok(()) } else { Err(key_error(key.len())) }
}

fn key_error(length: usize) -> SparkError {
    SparkError::new("INVALID_PARAMETER_VALUE.AES_KEY_LENGTH")
        .with("parameter", "`key`")
        .with("functionName", BOTH)
        .with("actualLength", length.to_string())
}

/// A block cipher of one key length.
trait Cipher: KeyInit + BlockEncryptMut + BlockDecryptMut + Clone + 'static {
    fn seal(key: &[u8], vector: &[u8], payload: Payload<'_, '_>) -> Option<Vec<u8>>;
    fn open(key: &[u8], vector: &[u8], payload: Payload<'_, '_>) -> Option<Vec<u8>>;
}

macro_rules! cipher {
    ($($cipher:ty),*) => {$(
        impl Cipher for $cipher {
            fn seal(key: &[u8], vector: &[u8], payload: Payload<'_, '_>) -> Option<Vec<u8>> {
                let cipher = AesGcm::<$cipher, aes_gcm::aead::consts::U12>::new_from_slice(key).ok()?;
                cipher.encrypt(Nonce::from_slice(vector), payload).ok()
            }

            fn open(key: &[u8], vector: &[u8], payload: Payload<'_, '_>) -> Option<Vec<u8>> {
                let cipher = AesGcm::<$cipher, aes_gcm::aead::consts::U12>::new_from_slice(key).ok()?;
                cipher.decrypt(Nonce::from_slice(vector), payload).ok()
            }
        }
    )*};
}

cipher!(Aes128, Aes192, Aes256);

fn encrypt<C: Cipher + cbc::cipher::BlockCipher + BlockSizeUser>(
    mode: Mode,
    key: &[u8],
    data: &[u8],
    vector: &[u8],
    additional: &[u8],
) -> Option<Vec<u8>> {
    match mode {
        Mode::Gcm => C::seal(key, vector, Payload { msg: data, aad: additional }),
        Mode::Ecb => Some(C::new_from_slice(key).ok()?.encrypt_padded_vec_mut::<Pkcs7>(data)),
        Mode::Cbc => {
            let cipher = cbc::Encryptor::<C>::new_from_slices(key, vector).ok()?;
            Some(cipher.encrypt_padded_vec_mut::<Pkcs7>(data))
        }
    }
}

fn decrypt<C: Cipher + cbc::cipher::BlockCipher + BlockSizeUser>(
    mode: Mode,
    key: &[u8],
    data: &[u8],
    additional: &[u8],
) -> Result<Vec<u8>> {
    let padding =
        "Given final block not properly padded. Such issues can arise if a bad key is used during decryption.";
    let whole = "Input length must be multiple of 16 when decrypting with padded cipher";
    let length = mode.vector_length();
    let Some((vector, data)) = data.split_at_checked(length) else {
        return Err(crypto_error(match mode {
            Mode::Gcm => "Invalid buffer arguments",
            _ => "IV buffer too short for given offset/length combination",
        }));
    };
    let bad_key = || key_error(key.len());
    match mode {
        Mode::Gcm if data.len() < 16 => {
            Err(crypto_error("Input data too short to contain an expected tag length of 16bytes"))
        }
        Mode::Gcm => {
            C::open(key, vector, Payload { msg: data, aad: additional }).ok_or_else(|| crypto_error("Tag mismatch!"))
        }
        _ if data.len() % 16 != 0 => Err(crypto_error(whole)),
        _ if data.is_empty() => Ok(Vec::new()),
        Mode::Ecb => {
            let cipher = C::new_from_slice(key).map_err(|_| bad_key())?;
            cipher.decrypt_padded_vec_mut::<Pkcs7>(data).map_err(|_| crypto_error(padding))
        }
        Mode::Cbc => {
            let cipher = cbc::Decryptor::<C>::new_from_slices(key, vector).map_err(|_| bad_key())?;
            cipher.decrypt_padded_vec_mut::<Pkcs7>(data).map_err(|_| crypto_error(padding))
        }
    }
}

/// Random bytes.
fn random(length: usize) -> Vec<u8> {
    let (first, second) = (uuid::Uuid::new_v4(), uuid::Uuid::new_v4());
    // Six bits of a version 4 UUID are fixed; the bytes with them are left out.
    let bytes = first.as_bytes().iter().chain(second.as_bytes()).enumerate();
    bytes.filter(|(i, _)| !matches!(i % 16, 6 | 8)).map(|(_, byte)| *byte).take(length).collect()
}

fn encrypted(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (data, keys): (Binaries, Binaries) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let (modes, paddings): (Texts, Texts) = (Rows::of(args, 2)?, Rows::of(args, 3)?);
    let (vectors, additional): (Binaries, Binaries) = (Rows::of(args, 4)?, Rows::of(args, 5)?);
    binaries(args, |row| {
        let (Some(data), Some(key), Some(mode), Some(padding)) =
            (data.get(row), keys.get(row), modes.get(row), paddings.get(row))
        else {
            return Ok(None);
        };
        let (Some(vector), Some(additional)) = (vectors.get(row), additional.get(row)) else { return Ok(None) };
        check_key(key)?;
        let mode = Mode::of(mode, padding)?;
        mode.check(vector, additional, "aes_encrypt")?;
        let made = if vector.is_empty() { random(mode.vector_length()) } else { vector.to_vec() };
        let body = match key.len() {
            16 => encrypt::<Aes128>(mode, key, data, &made, additional),
            24 => encrypt::<Aes192>(mode, key, data, &made, additional),
            32 => encrypt::<Aes256>(mode, key, data, &made, additional),
            length => return Err(key_error(length)),
        };
        let body = body.ok_or_else(|| crypto_error("the data cannot be encrypted"))?;
        let mut result = made;
        result.extend_from_slice(&body);
        Ok(Some(result))
    })
}

fn decrypted(args: &KernelArgs<'_>, is_lenient: bool) -> Result<ColumnarValue> {
    let (data, keys): (Binaries, Binaries) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let (modes, paddings): (Texts, Texts) = (Rows::of(args, 2)?, Rows::of(args, 3)?);
    let additional: Binaries = Rows::of(args, 4)?;
    binaries(args, |row| {
        let (Some(data), Some(key), Some(mode), Some(padding), Some(additional)) =
            (data.get(row), keys.get(row), modes.get(row), paddings.get(row), additional.get(row))
        else {
            return Ok(None);
        };
        let run = || {
            check_key(key)?;
            let mode = Mode::of(mode, padding)?;
            mode.check(&[], additional, "aes_decrypt")?;
            match key.len() {
                16 => decrypt::<Aes128>(mode, key, data, additional),
                24 => decrypt::<Aes192>(mode, key, data, additional),
                32 => decrypt::<Aes256>(mode, key, data, additional),
                length => Err(key_error(length)),
            }
        };
        match run() {
            Ok(bytes) => Ok(Some(bytes)),
            Err(_) if is_lenient => Ok(None),
            Err(error) => Err(error),
        }
    })
}
