//! Decoding that no bytes can crash.

use bytes::Bytes;
use prost::{Message, Name};

use crate::depth::{DepthError, check_depth};

/// The deepest message accepted, in levels of nested messages. A step of a
/// DataFrame chain costs two, a nested function call two, a nested cast two.
///
/// Everything that walks a decoded message on the program stack (drop, clone,
/// compare, `Debug`, encode) is safe to this depth on a thread of 64 MiB. The
/// hungriest, `clone` of nested as-of joins, takes 1.8 KiB a level in a release
/// build; drop and encode take less than 100 bytes.
pub const MAX_DEPTH: usize = 10_000;

/// Stack that decoding gets for one level; three times what the hungriest
/// recursion was seen to use in release and `dist` builds.
const STACK_PER_LEVEL: usize = if cfg!(debug_assertions) { 64 * 1024 } else { 4 * 1024 };

/// Stack that decoding gets beside its levels.
const STACK_BASE: usize = 64 * 1024;

/// Why bytes are not a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Nests too deep, or breaks the wire format.
    #[error(transparent)]
    Depth(#[from] DepthError),
    /// Well formed, but not this message.
    #[error(transparent)]
    Message(#[from] prost::DecodeError),
}

/// Decodes a message whose bytes come from outside.
///
/// Refuses what nests deeper than [`MAX_DEPTH`], and else decodes on as much
/// stack as the depth needs, so the calling thread may have a small one. All
/// messages that clients send pass here: the codec decodes with it, and the
/// server uses it for bytes it finds inside of messages (compressed plans,
/// extensions, artifacts).
///
/// ```
/// use bytes::Bytes;
/// use firesteel_proto::{connect, decode::decode_guarded};
/// let plan: connect::Plan = decode_guarded(Bytes::from_static(&[0x0a, 0x02, 0x0a, 0x00]))?;
/// assert!(matches!(plan.op_type, Some(connect::plan::OpType::Root(_))));
/// # Ok::<(), firesteel_proto::decode::DecodeError>(())
/// ```
pub fn decode_guarded<M: Message + Name + Default>(bytes: Bytes) -> Result<M, DecodeError> {
    let depth = check_depth(&M::full_name(), &bytes, MAX_DEPTH)?;
    let stack = STACK_BASE + depth * STACK_PER_LEVEL;
    Ok(stacker::maybe_grow(stack, stack, || M::decode(bytes))?)
}
