//! Requests that are bytes already: deep ones are walked once, on a stack that suits them.

use bytes::{BufMut, Bytes};
use firesteel_proto::codec::{GuardedCodec, GuardedDecoder};
use firesteel_proto::connect as proto;
use prost::{Message, Name};
use std::marker::PhantomData;
use tonic::client::Grpc;
use tonic::codec::{Codec, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Request, Response, Status, Streaming};

/// Sends bytes that are a message, and reads answers as the generated stubs do.
struct EncodedCodec<U>(PhantomData<U>);

struct BytesEncoder;

impl<U: Message + Name + Default + Send + 'static> Codec for EncodedCodec<U> {
    type Encode = Bytes;
    type Decode = U;
    type Encoder = BytesEncoder;
    type Decoder = GuardedDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        BytesEncoder
    }

    fn decoder(&mut self) -> Self::Decoder {
        GuardedCodec::<U, U>::default().decoder()
    }
}

impl Encoder for BytesEncoder {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(message);
        Ok(())
    }
}

async fn ready(grpc: &mut Grpc<Channel>) -> Result<(), Status> {
    grpc.ready().await.map_err(|error| Status::unavailable(format!("transport error: {error}")))
}

/// ExecutePlan.
pub(crate) async fn execute_plan(
    mut grpc: Grpc<Channel>,
    request: Request<Bytes>,
) -> Result<Response<Streaming<proto::ExecutePlanResponse>>, Status> {
    ready(&mut grpc).await?;
    let path = PathAndQuery::from_static("/spark.connect.SparkConnectService/ExecutePlan");
    grpc.server_streaming(request, path, EncodedCodec(PhantomData)).await
}

/// AnalyzePlan.
pub(crate) async fn analyze_plan(
    mut grpc: Grpc<Channel>,
    request: Request<Bytes>,
) -> Result<Response<proto::AnalyzePlanResponse>, Status> {
    ready(&mut grpc).await?;
    let path = PathAndQuery::from_static("/spark.connect.SparkConnectService/AnalyzePlan");
    grpc.unary(request, path, EncodedCodec(PhantomData)).await
}
