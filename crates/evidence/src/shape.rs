//! What must hold of evidence before its meaning can be asked for: it fits the number of threads, its indices are in
//! range, and no stack contains the symbol that means "no symbol".
//!
//! The checkers and the writer test this first and rely on it afterwards: past it they index without fear.

use crate::{Invariant, Trace, Window};
use allways_model::pushdown::{EMPTY, State};
use hashbrown::HashSet;

/// What is wrong with the shape of a run of a system with so many threads.
pub(crate) fn check_trace(threads: usize, trace: &Trace) -> Result<(), String> {
    let check_state = |step: usize, state: &State| {
        if state.stacks.len() != threads {
            let found = state.stacks.len();
            return Err(format!(
                "step {step}: expected one stack for each of the {threads} threads, found {found}"
            ));
        }
        let hollow = state.stacks.iter().position(|stack| stack.symbols().any(|symbol| symbol == EMPTY));
        hollow.map_or(Ok(()), |thread| Err(format!("step {step}: the stack of thread {thread} has a hole")))
    };
    check_state(0, &trace.initial)?;
    for (index, step) in trace.steps.iter().enumerate() {
        if step.thread >= threads {
            return Err(format!("step {}: there is no thread {} among {threads}", index + 1, step.thread));
        }
        check_state(index + 1, &step.state)?;
    }
    Ok(())
}

/// What is wrong with the shape of an invariant of a system with so many threads.
pub(crate) fn check_invariant(threads: usize, invariant: &Invariant) -> Result<(), String> {
    if invariant.window == 0 {
        return Err("a window of 0 symbols: expected at least 1".to_string());
    }
    let kinds = &invariant.kinds;
    if kinds.threads() != threads {
        return Err(format!("kinds for {} threads: expected {threads}", kinds.threads()));
    }
    if invariant.windows.len() != kinds.count() || invariant.below.len() != kinds.count() {
        let (windows, below, expected) = (invariant.windows.len(), invariant.below.len(), kinds.count());
        return Err(format!(
            "windows for {windows} kinds of threads and `below` for {below}: expected {expected} each"
        ));
    }
    let width = 1 + threads;
    if !invariant.rows.len().is_multiple_of(width) {
        return Err(format!("the last row is cut short: {} numbers, {width} per row", invariant.rows.len()));
    }
    if u32::try_from(invariant.rows.len() / width).is_err() {
        return Err("more than 2^32 states".to_string());
    }
    for (kind, windows) in invariant.windows.iter().enumerate() {
        let leader = kinds.members(kind)[0];
        let mut seen = HashSet::with_capacity(windows.len());
        for (index, window) in windows.iter().enumerate() {
            let fault = window_fault(invariant.window, window)
                .or_else(|| (!seen.insert(window)).then(|| "it is listed before".to_string()));
            if let Some(what) = fault {
                return Err(format!("window {index} of thread {leader}: {what}"));
            }
        }
        if invariant.below[kind].contains_key(&EMPTY) {
            return Err(format!("thread {leader}: `below` speaks of what lies under the end of the stack"));
        }
    }
    for (row, (_, windows)) in invariant.states().enumerate() {
        let listed = |thread: usize| (windows[thread] as usize) < invariant.windows[kinds.kind(thread)].len();
        if let Some(thread) = (0..threads).find(|&thread| !listed(thread)) {
            return Err(format!("state {}: thread {thread} has no window {}", row + 1, windows[thread]));
        }
    }
    Ok(())
}

/// What is wrong with one window, where at most `size` symbols are kept.
pub(crate) fn window_fault(size: usize, window: &Window) -> Option<String> {
    let length = window.symbols.len();
    if length > size {
        Some(format!("expected at most {size} symbols, found {length}"))
    } else if window.symbols.contains(&EMPTY) {
        Some("it has a hole".to_string())
    } else if window.more && length < size {
        Some(format!("more can lie below a full window of {size} symbols only, this one has {length}"))
    } else {
        None
    }
}
