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
    /// Whether a response of an operation ends with it.
    pub ends_response: bool,
}

impl Frames {
    /// The frames that end within these bytes; one in which responses end is cut up, so that each ends with one.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Frame> {
        self.unread.extend_from_slice(bytes);
        let mut frames = Vec::new();
        while self.unread.len() >= FRAME_HEADER {
            let length = u32::from_be_bytes([0, self.unread[0], self.unread[1], self.unread[2]]) as usize;
            if self.unread.len() < FRAME_HEADER + length {
                break;
            }
            let bytes: Vec<u8> = self.unread.drain(..FRAME_HEADER + length).collect();
            if bytes[3] == DATA {
                self.cut(&bytes, &mut frames);
            } else {
                frames.push(Frame { bytes, ends_response: false });
            }
        }
        frames
    }

    fn cut(&mut self, frame: &[u8], frames: &mut Vec<Frame>) {
        let (header, data) = frame.split_at(FRAME_HEADER);
        let stream = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
        let message = self.messages.entry(stream).or_default();
        let (mut start, mut at) = (0, 0);
        while at < data.len() {
            let wanted = length(message).unwrap_or(MESSAGE_HEADER);
            let taken = (wanted - message.len()).min(data.len() - at);
            message.extend_from_slice(&data[at..at + taken]);
            at += taken;
            if length(message) != Some(message.len()) {
                continue;
            }
            // Answers of other calls have no such id.
            let response = ExecutePlanResponse::decode(&message[MESSAGE_HEADER..]);
            message.clear();
            if response.is_ok_and(|response| !response.response_id.is_empty()) {
                frames.push(Frame { bytes: data_frame(header, 0, &data[start..at]), ends_response: true });
                start = at;
            }
        }
        if start < data.len() || header[4] != 0 || data.is_empty() {
            frames.push(Frame { bytes: data_frame(header, header[4], &data[start..]), ends_response: false });
        }
    }
}

/// The bytes of a message with its header, once that is whole.
fn length(message: &[u8]) -> Option<usize> {
    let length = message.get(1..MESSAGE_HEADER)?;
    Some(MESSAGE_HEADER + u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize)
}

/// A part of a frame as a frame of its own.
fn data_frame(header: &[u8], flags: u8, data: &[u8]) -> Vec<u8> {
    let mut frame = (data.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([DATA, flags]);
    frame.extend_from_slice(&header[5..]);
    frame.extend_from_slice(data);
    frame
}
