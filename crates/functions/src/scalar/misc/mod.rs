//! Functions of the session and of no other family.

pub mod aes;
pub mod bitmap;
pub mod internal;
pub mod poisson;
pub mod raise;
pub mod session;
pub mod special;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &bitmap::BITMAP_BIT_POSITION,
    &bitmap::BITMAP_BUCKET_NUMBER,
    &bitmap::BITMAP_COUNT,
    &internal::ARRAY_BINARY_SEARCH,
    &internal::DISTRIBUTED_ID,
    &internal::DISTRIBUTED_SEQUENCE_ID,
    &internal::POISSON_SAMPLE,
    &internal::TIMESTAMP_NTZ_TO_LONG,
    &internal::UNWRAP_UDT,
    &aes::AES_DECRYPT,
    &aes::AES_ENCRYPT,
    &raise::ASSERT_TRUE,
    &raise::JAVA_METHOD,
    &raise::RAISE_ERROR,
    &raise::REFLECT,
    &aes::TRY_AES_DECRYPT,
    &raise::TRY_REFLECT,
    &session::CURRENT_CATALOG,
    &session::CURRENT_PATH,
    &session::CURRENT_SCHEMA,
    &session::CURRENT_USER,
    &session::INPUT_FILE_BLOCK_LENGTH,
    &session::INPUT_FILE_BLOCK_START,
    &session::INPUT_FILE_NAME,
    &session::MONOTONICALLY_INCREASING_ID,
    &session::SESSION_USER,
    &session::SPARK_PARTITION_ID,
    &session::TYPEOF,
    &special::CAST,
    &special::GROUPING,
    &special::GROUPING_ID,
    &special::MEASURE,
    &special::PYTHON_WORKER_LOGS,
    &special::RANGE,
    &special::STRUCT,
    &session::USER,
    &session::VERSION,
];
