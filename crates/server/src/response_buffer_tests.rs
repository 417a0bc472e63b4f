use super::*;
use firesteel_proto::connect::execute_plan_response::{ArrowBatch, ResponseType};

fn response(bytes: usize) -> ExecutePlanResponse {
    let batch = ArrowBatch { data: vec![0; bytes].into(), ..Default::default() };
    ExecutePlanResponse { response_type: Some(ResponseType::ArrowBatch(batch)), ..Default::default() }
}

fn limits(retry_buffer: usize, ahead_buffer: usize) -> Limits {
    Limits { retry_buffer, ahead_buffer, ..Limits::default() }
}

async fn ids(consumer: &mut Consumer, count: usize) -> Vec<String> {
    let mut ids = Vec::new();
    for _ in 0..count {
        match consumer.next().await {
            Next::Response(response, _) => ids.push(response.response_id),
            other => panic!("{other:?}"),
        }
    }
    ids
}

#[tokio::test]
async fn a_client_can_come_back_after_every_response() {
    let buffer = ResponseBuffer::new(true, &limits(1 << 20, 1 << 20));
    for _ in 0..5 {
        buffer.push(response(10)).await.unwrap();
    }
    buffer.complete();
    let all = ids(&mut buffer.attach(None).unwrap(), 5).await;
    for (index, id) in all.iter().enumerate() {
        let mut consumer = buffer.attach(Some(id)).unwrap();
        assert_eq!(ids(&mut consumer, 4 - index).await, all[index + 1..]);
        assert!(matches!(consumer.next().await, Next::Complete));
    }
}

#[tokio::test]
async fn unknown_and_freed_positions_are_told_apart() {
    let buffer = ResponseBuffer::new(true, &limits(1 << 20, 1 << 20));
    for _ in 0..3 {
        buffer.push(response(10)).await.unwrap();
    }
    let all = ids(&mut buffer.attach(None).unwrap(), 3).await;
    assert!(buffer.release_until(&Uuid::new_v4().to_string()).unwrap_err().is("INVALID_CURSOR.POSITION_NOT_FOUND"));
    assert!(buffer.attach(Some("x")).unwrap_err().is("INVALID_CURSOR.POSITION_NOT_FOUND"));
    buffer.release_until(&all[1]).unwrap();
    buffer.release_until(&all[0]).unwrap();
    assert!(buffer.attach(Some(&all[0])).unwrap_err().is("INVALID_CURSOR.POSITION_NOT_AVAILABLE"));
    assert!(buffer.attach(None).unwrap_err().is("INVALID_CURSOR.POSITION_NOT_AVAILABLE"));
    assert_eq!(ids(&mut buffer.attach(Some(&all[1])).unwrap(), 1).await, all[2..]);
}

#[tokio::test]
async fn only_so_much_is_kept_behind_the_client() {
    let buffer = ResponseBuffer::new(true, &limits(2500, 1 << 20));
    for _ in 0..5 {
        buffer.push(response(1000)).await.unwrap();
    }
    let all = ids(&mut buffer.attach(None).unwrap(), 5).await;
    assert!(buffer.attach(Some(&all[1])).is_err());
    assert_eq!(ids(&mut buffer.attach(Some(&all[2])).unwrap(), 2).await, all[3..]);
}

#[tokio::test]
async fn a_slow_client_makes_the_producer_wait() {
    let buffer = ResponseBuffer::new(true, &limits(0, 2500));
    buffer.push(response(1000)).await.unwrap();
    buffer.push(response(1000)).await.unwrap();
    let waiting = tokio::time::timeout(Duration::from_millis(50), buffer.push(response(1000))).await;
    assert!(waiting.is_err());
    let mut consumer = buffer.attach(None).unwrap();
    ids(&mut consumer, 1).await;
    buffer.push(response(1000)).await.unwrap();
    // A response larger than the bound still passes, alone.
    ids(&mut consumer, 2).await;
    buffer.push(response(5000)).await.unwrap();
}

#[tokio::test]
async fn a_second_consumer_disconnects_the_first() {
    let buffer = ResponseBuffer::new(true, &Limits::default());
    let mut first = buffer.attach(None).unwrap();
    let waiting = tokio::spawn(async move { first.next().await });
    tokio::task::yield_now().await;
    let second = buffer.attach(None).unwrap();
    assert!(matches!(waiting.await.unwrap(), Next::Disconnected));
    assert!(buffer.detached_for().is_none());
    drop(second);
    assert!(buffer.detached_for().is_some());
}

#[tokio::test]
async fn an_error_comes_after_the_responses_and_stays() {
    let buffer = ResponseBuffer::new(true, &Limits::default());
    buffer.push(response(1)).await.unwrap();
    buffer.fail(SparkError::new("OPERATION_CANCELED"));
    buffer.complete();
    assert_eq!(buffer.push(response(1)).await, Err(Closed));
    for _ in 0..2 {
        let mut consumer = buffer.attach(None).unwrap();
        ids(&mut consumer, 1).await;
        assert!(matches!(consumer.next().await, Next::Failed(error) if error.is("OPERATION_CANCELED")));
    }
}

#[tokio::test]
async fn without_reattach_nothing_is_kept() {
    let buffer = ResponseBuffer::new(false, &Limits::default());
    buffer.push(response(1)).await.unwrap();
    ids(&mut buffer.attach(None).unwrap(), 1).await;
    assert!(buffer.state.lock().responses.is_empty());
}
