//! Just enough of HTTP/2 to see where responses end.

use firesteel_client::proto::ExecutePlanResponse;
use prost::Message;
use std::collections::HashMap;

const FRAME_HEADER: usize = 9;
const MESSAGE_HEADER: usize = 5;
const DATA: u8 = 0;

/// Bytes of a server, cut into frames.
#[derive(Default)]
pub struct Frames {
    unread: Vec<u8>,
    /// The beginning of the next message, by stream.
    messages: HashMap<u32, Vec<u8>>,
}

/// A whole frame.
pub struct Frame {
    pub bytes: Vec<u8>,
    /// How many responses of operations end within it.
    pub responses: usize,
}

impl Frames {
    /// The frames that end within these bytes.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Frame> {
        self.unread.extend_from_slice(bytes);
        let mut frames = Vec::new();
        while self.unread.len() >= FRAME_HEADER {
            let length = u32::from_be_bytes([0, self.unread[0], self.unread[1], self.unread[2]]) as usize;
            if self.unread.len() < FRAME_HEADER + length {
                break;
            }
            let bytes: Vec<u8> = self.unread.drain(..FRAME_HEADER + length).collect();
            let responses = if bytes[3] == DATA { self.responses(&bytes) } else { 0 };
            frames.push(Frame { bytes, responses });
        }
        frames
    }

    fn responses(&mut self, frame: &[u8]) -> usize {
        let stream = u32::from_be_bytes([frame[5], frame[6], frame[7], frame[8]]);
        let message = self.messages.entry(stream).or_default();
        message.extend_from_slice(&frame[FRAME_HEADER..]);
        let mut responses = 0;
        while message.len() >= MESSAGE_HEADER {
            let length = u32::from_be_bytes([message[1], message[2], message[3], message[4]]) as usize;
            if message.len() < MESSAGE_HEADER + length {
                break;
            }
            let whole: Vec<u8> = message.drain(..MESSAGE_HEADER + length).collect();
            // Answers of other calls have no such id.
            let response = ExecutePlanResponse::decode(&whole[MESSAGE_HEADER..]);
            responses += usize::from(response.is_ok_and(|response| !response.response_id.is_empty()));
        }
        responses
    }
}
