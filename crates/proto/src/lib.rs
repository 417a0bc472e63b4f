//! Wire types and service stubs of `spark.connect`.
//!
//! The messages and stubs are generated at build time from `proto/`, whose
//! spark.connect files are written by `tools/descriptors.py` from the
//! descriptors inside the newest PySpark client.
//!
//! - [`connect`]: package `spark.connect`, with
//!   [`connect::spark_connect_service_server`] and
//!   [`connect::spark_connect_service_client`].
//! - [`google::rpc`]: `Status`, `ErrorInfo` and `RetryInfo`, for the trailer
//!   `grpc-status-details-bin`.
//! - [`FILE_DESCRIPTOR_SET`]: all descriptors, for gRPC reflection.
//! - [`decode`], [`depth`] and [`codec`]: decoding of untrusted bytes. Clients
//!   send plans nested thousands deep, so prost is built without its recursion
//!   limit, and nothing else stands between such bytes and the end of the
//!   stack: decode with [`decode::decode_guarded`], never with
//!   [`prost::Message::decode`].
//!
//! Invariant: messages and stubs are generated, and additive. One set of
//! messages reads what clients 3.5 to 4.3 send, because no field number was
//! ever reused; `tests/descriptors.rs` holds it to the descriptors of each.

pub mod codec;
pub mod decode;
pub mod depth;

pub use spark::connect;

/// The serialised `google.protobuf.FileDescriptorSet` of all packages here,
/// imports included.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

pub mod spark {
    #[allow(clippy::all, rustdoc::all)]
    pub mod connect {
        //! Package `spark.connect`, generated.
        tonic::include_proto!("spark.connect");
    }
}

pub mod google {
    #[allow(clippy::all, rustdoc::all)]
    pub mod rpc {
        //! Package `google.rpc`, as far as errors on the wire need it.
        tonic::include_proto!("google.rpc");
    }
}
