//! The gRPC codec of the generated stubs.

use std::marker::PhantomData;

use bytes::Buf;
use prost::{Message, Name};
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder};
use tonic_prost::ProstEncoder;

use crate::decode::decode_guarded;

/// Encodes `T` as tonic's own codec does and decodes `U` with
/// [`decode_guarded`]. The stubs of [`crate::connect`] use it already.
#[derive(Clone, Debug)]
pub struct GuardedCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for GuardedCodec<T, U> {
    fn default() -> Self {
        GuardedCodec(PhantomData)
    }
}

impl<T, U> Codec for GuardedCodec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Name + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = GuardedDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        ProstEncoder::new(BufferSettings::default())
    }

    fn decoder(&mut self) -> Self::Decoder {
        GuardedDecoder(PhantomData)
    }
}

/// The decoding half of [`GuardedCodec`].
///
/// Bytes that are not the message end the call with status `INTERNAL`, as gRPC
/// prescribes for messages that cannot be parsed.
#[derive(Clone, Debug)]
pub struct GuardedDecoder<U>(PhantomData<U>);

impl<U: Message + Name + Default> Decoder for GuardedDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        // No copy: the bytes fields of the message share this buffer.
        let bytes = buf.copy_to_bytes(buf.remaining());
        match decode_guarded(bytes) {
            Ok(message) => Ok(Some(message)),
            Err(error) => Err(Status::internal(format!("cannot decode {}: {error}", U::full_name()))),
        }
    }
}
