//! What a peer sends reaches the caller as a message or as a status.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use bytes::{BufMut, Bytes};
use firesteel_proto::codec::GuardedCodec;
use firesteel_proto::connect::{ConfigRequest, ExecutePlanRequest};
use prost::{Message, Name};
use tonic::codec::{Codec, EncodeBody, EncodeBuf, Encoder, Streaming};
use tonic::{Code, Status};
use wire::nest;

mod wire;

/// Sends bytes as they are.
struct Raw;

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buf: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buf.put(item);
        Ok(())
    }
}

async fn receive<M: Message + Name + Default + 'static>(bytes: Bytes) -> Result<Option<M>, Status> {
    let source = tokio_stream::once(Ok(bytes));
    let body = EncodeBody::new_client(Raw, source, None, None);
    let decoder = GuardedCodec::<M, M>::default().decoder();
    Streaming::new_request(decoder, body, None, None).message().await
}

#[tokio::test]
async fn message_arrives() {
    let sent = ConfigRequest { session_id: "s".to_owned(), ..Default::default() };
    let received = receive::<ConfigRequest>(sent.encode_to_vec().into()).await;
    assert_eq!(received.unwrap(), Some(sent));
}

#[tokio::test]
async fn malformed_message_is_an_internal_status() {
    // session_id is no number.
    let status = receive::<ConfigRequest>(Bytes::from_static(&[0x08, 0x01])).await.unwrap_err();
    assert_eq!(status.code(), Code::Internal);
    assert!(status.message().starts_with("cannot decode spark.connect.ConfigRequest: failed to decode"), "{status}");
}

#[tokio::test]
async fn too_deep_message_is_an_internal_status() {
    // ExecutePlanRequest.plan, Plan.root, then Relation.filter, Filter.input, ...
    let fields: Vec<u32> = [3, 1].into_iter().chain([4, 1].into_iter().cycle()).take(20_000).collect();
    let bytes = Bytes::from(nest(&fields));
    let status = receive::<ExecutePlanRequest>(bytes).await.unwrap_err();
    assert_eq!(status.code(), Code::Internal);
    assert_eq!(
        status.message(),
        "cannot decode spark.connect.ExecutePlanRequest: \
         the message nests more than 10000 levels deep"
    );
}
