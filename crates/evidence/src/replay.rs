//! The checker of traces: walks a run by the reference semantics, [`State::step`], and believes nothing else.
//!
//! Invariant: before step `i` is looked at, its starting state is known to be reachable. So if every step passes, the
//! last state is reachable, and if it violates the property, so does the system.
//!
//! The steps are there whatever other rules a system may have. A deadlock is one only if there are no others, so it is not
//! accepted from a system that could not make all its rules.

use crate::rejection::{Rejection, shorten};
use crate::{Step, StopReason, Trace, shape};
use allways_model::notation::show_state;
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, State};

/// Accepts a run that starts in an initial state, makes only steps that its threads can make, each by a rule of the line
/// it names, and ends in a state that violates the property.
///
/// Its shared states and symbols must be ones that the system has names for, as is the case for all that
/// [`read_evidence`](crate::read_evidence) gives.
pub fn replay(system: &dyn Pushdown, property: &Property, trace: &Trace) -> Result<(), Rejection> {
    shape::check_trace(system.threads(), trace).map_err(Rejection::Malformed)?;
    if !system.initial().contains(&trace.initial) {
        return Err(Rejection::NotInitial(shown(system, &trace.initial)));
    }
    let mut from = &trace.initial;
    for (index, step) in trace.steps.iter().enumerate() {
        let rules = from.enabled(system, step.thread);
        // The line first: it is cheap, and a state may be large.
        if !rules.iter().any(|rule| rule.line == step.line && from.step(step.thread, rule) == step.state) {
            return Err(Rejection::BadStep { step: index + 1, what: explain(system, from, step) });
        }
        from = &step.state;
    }
    let end = from.visible();
    if !property.violated_by(system, &end) {
        return Err(Rejection::NotBad { step: trace.steps.len(), state: shown(system, from) });
    }
    let matches = property.bad.iter().any(|bad| bad.matches(end.shared, end.tops.iter().copied()));
    match system.missing_steps() {
        Some(why) if !matches => Err(Rejection::Stopped(StopReason::GaveUp(why))),
        _ => Ok(()),
    }
}

/// Why a step is impossible, and what would have been possible instead.
fn explain(system: &dyn Pushdown, from: &State, step: &Step) -> String {
    let &Step { thread, line, ref state } = step;
    let rules = from.enabled(system, thread);
    let reason = if rules.is_empty() {
        "it cannot move there".to_string()
    } else if let Some(rule) = rules.iter().find(|rule| from.step(thread, rule) == *state) {
        format!("it is line {} that leads there", rule.line)
    } else if let Some(rule) = rules.iter().find(|rule| rule.line == line) {
        format!("that line leads to {}", shown(system, &from.step(thread, rule)))
    } else {
        let rule = &rules[0];
        format!("it can go to {} by line {}", shown(system, &from.step(thread, rule)), rule.line)
    };
    let (from, to) = (shown(system, from), shown(system, state));
    format!("thread {thread} cannot go from {from} to {to} by line {line}: {reason}")
}

fn shown(system: &dyn Pushdown, state: &State) -> String {
    shorten(&show_state(system, state))
}
