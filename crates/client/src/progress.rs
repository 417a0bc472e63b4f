//! How far a query is.

use firesteel_proto::connect as proto;
use std::sync::{Arc, Mutex, PoisonError};

/// How far a running operation is.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Progress {
    /// The operation, as [`interrupt_operation`](crate::SparkSession::interrupt_operation) names it.
    pub operation_id: String,
    pub stages: Vec<StageProgress>,
    /// Tasks that run now.
    pub inflight_tasks: i64,
    /// The operation ended, well or not.
    pub done: bool,
}

impl Progress {
    /// Completed tasks and all tasks known so far.
    pub fn tasks(&self) -> (i64, i64) {
        self.stages.iter().fold((0, 0), |(done, all), stage| (done + stage.completed_tasks, all + stage.tasks))
    }
}

/// How far a stage of an operation is.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct StageProgress {
    pub stage_id: i64,
    pub tasks: i64,
    pub completed_tasks: i64,
    pub input_bytes: i64,
    pub done: bool,
}

/// Names a handler, to remove it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgressHandlerId(u64);

type Handler = Arc<dyn Fn(&Progress) + Send + Sync>;

/// Who is told about progress.
#[derive(Default)]
pub(crate) struct ProgressHandlers(Mutex<(u64, Vec<(u64, Handler)>)>);

impl ProgressHandlers {
    pub(crate) fn add(&self, handler: Handler) -> ProgressHandlerId {
        let mut handlers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        handlers.0 += 1;
        let id = handlers.0;
        handlers.1.push((id, handler));
        ProgressHandlerId(id)
    }

    pub(crate) fn remove(&self, id: ProgressHandlerId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1.retain(|(other, _)| *other != id.0);
    }

    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1.clear();
    }

    pub(crate) fn tell(&self, progress: &Progress) {
        // Handlers run outside of the lock: they may add or remove others.
        let handlers: Vec<Handler> =
            self.0.lock().unwrap_or_else(PoisonError::into_inner).1.iter().map(|(_, of)| Arc::clone(of)).collect();
        for handler in handlers {
            handler(progress);
        }
    }
}

pub(crate) fn progress(operation_id: &str, message: &proto::execute_plan_response::ExecutionProgress) -> Progress {
    let stages = message.stages.iter().map(|stage| StageProgress {
        stage_id: stage.stage_id,
        tasks: stage.num_tasks,
        completed_tasks: stage.num_completed_tasks,
        input_bytes: stage.input_bytes_read,
        done: stage.done,
    });
    Progress {
        operation_id: operation_id.to_string(),
        stages: stages.collect(),
        inflight_tasks: message.num_inflight_tasks,
        done: false,
    }
}

/// Shows a bar on standard error while operations run, if that is a terminal.
#[cfg(feature = "progress")]
pub(crate) fn bar() -> Option<Handler> {
    use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
    use std::io::IsTerminal;
    if !std::io::stderr().is_terminal() {
        return None;
    }
    let style = ProgressStyle::with_template("{elapsed_precise} [{bar:40}] {pos}/{len} tasks").ok()?;
    let bars: Mutex<Vec<(String, ProgressBar)>> = Mutex::default();
    Some(Arc::new(move |progress| {
        let mut bars = bars.lock().unwrap_or_else(PoisonError::into_inner);
        let place = bars.iter().position(|(id, _)| *id == progress.operation_id);
        let (done, all) = progress.tasks();
        if progress.done {
            if let Some(place) = place {
                bars.swap_remove(place).1.finish_and_clear();
            }
        } else if all > 0 {
            let bar = match place {
                Some(place) => bars[place].1.clone(),
                None => {
                    let bar =
                        ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style.clone());
                    bars.push((progress.operation_id.clone(), bar.clone()));
                    bar
                }
            };
            bar.set_length(u64::try_from(all).unwrap_or_default());
            bar.set_position(u64::try_from(done).unwrap_or_default());
        }
    }))
}

/// Without the feature there is no bar.
#[cfg(not(feature = "progress"))]
pub(crate) fn bar() -> Option<Handler> {
    None
}
