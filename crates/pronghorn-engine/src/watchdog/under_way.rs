//! The requests of a server with a host: those that the loop knows of, and those whose tasks outlive their response.

use std::collections::HashMap;
use std::sync::Arc;

use crate::dialogue::Summary;

/// So many are told of one by one.
pub(crate) const MOST: usize = 50;

/// The task of a request, as a handler with an event loop has it.
pub struct RequestTask {
    /// Which request.
    pub request: Arc<Summary>,
    /// Where it waits, a line or more for each call, for a person to read; empty where that was not asked for.
    pub stack: String,
}

/// All of them, the most interesting first.
pub(super) struct UnderWay {
    pub(super) shown: Vec<RequestTask>,
    /// How many more there are.
    pub(super) others: usize,
}

impl UnderWay {
    /// `open`: those that the loop knows of. `tasks`: those of the application, as far as they are to be had.
    pub(super) fn new(open: Vec<Arc<Summary>>, tasks: Vec<RequestTask>) -> Self {
        let mut all: HashMap<_, _> =
            tasks.into_iter().map(|task| (Arc::as_ptr(&task.request), task)).collect();
        for request in open {
            let stack = String::new();
            all.entry(Arc::as_ptr(&request)).or_insert(RequestTask { request, stack });
        }
        let mut shown: Vec<_> = all.into_values().collect();
        // Of those that came at once, the ones with a stack.
        shown.sort_by_cached_key(|one| (one.request.rank(), one.stack.is_empty()));
        let others = shown.len().saturating_sub(MOST);
        shown.truncate(MOST);
        UnderWay { shown, others }
    }
}
