use super::*;
use arrow::array::{ArrayRef, Int64Array, StringArray};
use arrow::ipc::reader::StreamReader;
use std::sync::Arc;

fn numbers(rows: i64) -> RecordBatch {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
    RecordBatch::try_from_iter([("id", column)]).unwrap()
}

fn slicing(config: &SessionConfig) -> Slicing {
    Slicing::new(config, 128 << 20, Delivery::default())
}

fn encode(slicing: Slicing, batches: Vec<RecordBatch>) -> Vec<ArrowBatch> {
    let schema = batches[0].schema();
    let mut encoder = BatchEncoder::new(schema, slicing).unwrap();
    let mut messages = Vec::new();
    for batch in batches {
        messages.extend(encoder.add(batch).unwrap());
    }
    messages.extend(encoder.finish().unwrap());
    messages
}

fn rows(data: &[u8]) -> RecordBatch {
    let mut reader = StreamReader::try_new(data, None).unwrap();
    let batch = reader.next().unwrap().unwrap();
    assert!(reader.next().is_none());
    batch
}

#[test]
fn a_result_without_rows_is_one_empty_batch() {
    let messages = encode(slicing(&SessionConfig::default()), vec![numbers(0)]);
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0].row_count, 0);
    assert_eq!(rows(&messages[0].data).num_rows(), 0);
}

#[test]
fn small_batches_are_joined() {
    let messages = encode(slicing(&SessionConfig::default()), vec![numbers(10), numbers(0), numbers(5)]);
    assert_eq!(messages.len(), 1);
    assert_eq!((messages[0].row_count, messages[0].start_offset), (15, Some(0)));
    assert_eq!(rows(&messages[0].data).num_rows(), 15);
}

#[test]
fn large_batches_are_cut_by_bytes() {
    let messages = encode(slicing(&SessionConfig::default()), vec![numbers(3_000_000)]);
    let mut offset = 0;
    for message in &messages {
        assert!(message.data.len() <= TARGET + 4096);
        assert_eq!(message.start_offset, Some(offset));
        offset += message.row_count;
    }
    assert_eq!((offset, messages.len()), (3_000_000, 6));
}

#[test]
fn a_number_of_rows_set_by_the_user_holds_across_batches() {
    let mut config = SessionConfig::default();
    config.set(keys::ARROW_MAX_RECORDS, "10").unwrap();
    let messages = encode(slicing(&config), vec![numbers(15), numbers(3), numbers(7), numbers(1)]);
    let counts: Vec<_> = messages.iter().map(|message| message.row_count).collect();
    assert_eq!(counts, [10, 10, 6]);
}

#[test]
fn uneven_rows_stay_within_the_bound() {
    let mut texts = vec![String::new(); 1000];
    texts[999] = "x".repeat(20 << 20);
    let column: ArrayRef = Arc::new(StringArray::from(texts));
    let messages =
        encode(slicing(&SessionConfig::default()), vec![RecordBatch::try_from_iter([("s", column)]).unwrap()]);
    let counts: i64 = messages.iter().map(|message| message.row_count).sum();
    assert_eq!(counts, 1000);
    assert_eq!(messages.last().map(|message| message.row_count), Some(1));
}

#[test]
fn pieces_make_up_the_stream() {
    let delivery = Delivery { chunking: Some(Some(1024)), ..Delivery::default() };
    let messages = encode(Slicing::new(&SessionConfig::default(), 128 << 20, delivery), vec![numbers(1000)]);
    let count = messages.len();
    assert!(count > 7);
    let mut data = Vec::new();
    for (index, piece) in messages.iter().enumerate() {
        assert_eq!(piece.chunk_index, Some(index as i64));
        assert_eq!(piece.num_chunks_in_batch, Some(count as i64));
        assert_eq!((piece.row_count, piece.start_offset), (1000, Some(0)));
        data.extend_from_slice(&piece.data);
    }
    assert_eq!(rows(&data), numbers(1000));
    let whole = Delivery { chunking: Some(None), ..Delivery::default() };
    let one = encode(Slicing::new(&SessionConfig::default(), 128 << 20, whole), vec![numbers(10)]);
    assert_eq!((one[0].chunk_index, one[0].num_chunks_in_batch), (Some(0), Some(1)));
}
