//! The reader of C: no input makes it panic, what it reads is a well-formed program, and the first steps of that can be taken.

#![no_main]

use allways_c::property::Property;
use allways_c::source::LineMap;
use allways_c::typed::DataModel;
use allways_model::program::Program;
use allways_model::program::semantics::{Outcome, State, steps};
use libfuzzer_sys::fuzz_target;

/// A program with more than this is read, and not run.
const MOST_SLOTS: usize = 2_000;

fn run(program: &Program) {
    if program.shared_slots() > MOST_SLOTS || program.templates.len() > 8 {
        return;
    }
    let Some(mut state) = State::initial(program, &State::counts(program)).and_then(|mut all| all.pop()) else {
        return;
    };
    for step in 0..60 {
        let thread = step % state.threads.len().max(1);
        let found = if state.threads.is_empty() { Vec::new() } else { steps(program, &state, thread) };
        let next = found.into_iter().find_map(|step| match step.outcome {
            Outcome::To(next) => Some(next),
            Outcome::Wrong(_) | Outcome::Beyond(_) => None,
        });
        state = next.unwrap_or(state);
    }
}

fuzz_target!(|text: &[u8]| {
    let map = LineMap::identity(text);
    let races = Property::named("no-data-race").expect("a property");
    for (model, property) in [(DataModel::Lp64, Property::default()), (DataModel::Ilp32, races)] {
        if let Ok(lowered) = allways_c::read(text, &map, model, property) {
            lowered.program.validate().expect("what is read is well formed");
            run(&lowered.program);
        }
    }
});
