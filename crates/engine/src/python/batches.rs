//! Batches of the sizes that workers are to see.

use arrow::compute::BatchCoalescer;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::physical_plan::SendableRecordBatchStream;
use futures::StreamExt;
use futures::stream::{self, BoxStream};

/// The same rows in batches of a size, but for the last; 0 for the sizes that come.
pub(crate) fn rebatched(input: SendableRecordBatchStream, rows: usize) -> BoxStream<'static, DfResult<RecordBatch>> {
    if rows == 0 {
        return input.boxed();
    }
    struct State {
        input: Option<SendableRecordBatchStream>,
        coalescer: BatchCoalescer,
    }
    let schema: SchemaRef = input.schema();
    if schema.fields().is_empty() {
        return input.boxed();
    }
    let state = State { input: Some(input), coalescer: BatchCoalescer::new(schema, rows) };
    stream::try_unfold(state, |mut state| async move {
        loop {
            if let Some(batch) = state.coalescer.next_completed_batch() {
                return Ok::<_, DataFusionError>(Some((batch, state)));
            }
            let Some(input) = state.input.as_mut() else { return Ok(None) };
            match input.next().await {
                Some(batch) => state.coalescer.push_batch(batch?)?,
                None => {
                    state.input = None;
                    state.coalescer.finish_buffered_batch()?;
                }
            }
        }
    })
    .boxed()
}
