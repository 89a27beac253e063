//! Where threads are seen: labels on all kinds of statements, against a naive reading of the text.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs.

use allways_lang::aw;
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{LocationId, Program};
use allways_testkit::programs::labels;
use allways_testkit::random;
use std::collections::{BTreeSet, HashSet};

type Seen = (u8, BTreeSet<String>, bool);

/// All that can be seen of the only thread of a program.
fn seen(program: &Program) -> BTreeSet<Seen> {
    let mut todo = State::initial(program, &[1]).expect("one initial state");
    let mut states: HashSet<State> = todo.iter().cloned().collect();
    let mut seen = BTreeSet::new();
    let names = |location: LocationId| {
        let here = program.labels.iter().filter(|label| label.location == location);
        here.map(|label| label.name.clone()).collect()
    };
    while let Some(state) = todo.pop() {
        let thread = &state.threads[0];
        let location = thread.top().expect("a thread has a frame").location;
        seen.insert((state.shared[0] as u8, names(location), thread.ended(program)));
        for step in steps(program, &state, 0) {
            let Outcome::To(next) = step.outcome else { panic!("nothing goes wrong here") };
            if states.insert(next.clone()) {
                todo.push(next);
            }
        }
    }
    seen
}

#[test]
fn threads_are_seen_at_the_labels_where_a_naive_reading_sees_them() {
    let mut most = 0;
    for seed in random::seeds(20_000) {
        let (text, expected) = labels(seed);
        let parsed = aw::parse(text.as_bytes());
        let program = parsed.program.unwrap_or_else(|| panic!("{seed}\n{text}"));
        assert_eq!(seen(&program), expected, "{seed}\n{text}");
        most = most.max(expected.len());
    }
    assert!(most > 20, "at most {most} different sights");
}
