//! Good evidence is accepted; the same evidence with one thing wrong is rejected, and the rejection names that thing.

mod common;

use allways_evidence::rejection::Origin;
use allways_evidence::{Invariant, Rejection, StopReason, Trace, Window, induct, replay};
use allways_model::property::Property;
use allways_model::pushdown::{EMPTY, Explicit, Shared, Stack, Symbol};
use allways_model::symmetry::Kinds;
use common::{add_state, check, figure_1, least, never, nothing, recursion, ring, system, trace};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Six steps of Figure 1, until thread 0 has moved with `6` on top of thread 1.
fn long_trace(system: &Explicit) -> Trace {
    trace(
        system,
        "0|1,4",
        &[
            (0, 1, "1|2,4"),
            (1, 5, "2|2,5"),
            (1, 6, "3|2,4.6"),
            (0, 2, "0|1,4.6"),
            (1, 3, "0|1,6"),
            (0, 1, "1|2,6"),
        ],
    )
}

fn replayed(system: &Explicit, bad: &[&str], trace: &Trace) -> String {
    replay(system, &never(system, bad), trace)
        .map_or_else(|rejection| rejection.to_string(), |()| "ok".to_string())
}

#[test]
fn corrupted_traces_are_rejected() {
    let system = figure_1();
    let good = long_trace(&system);
    let bad = ["1|2,6"];
    assert_eq!(replayed(&system, &bad, &good), "ok");
    let reject = |change: &dyn Fn(&mut Trace), expected: &str| {
        let mut corrupt = good.clone();
        change(&mut corrupt);
        assert_eq!(replayed(&system, &bad, &corrupt), expected);
    };

    reject(&|t| t.initial.shared = Shared(1), "step 0: 1|1,4 is not an initial state");
    reject(
        &|t| t.initial.stacks[1] = Stack::from_top([5, 5].map(Symbol)),
        "step 0: 0|1,4.4 is not an initial state",
    );
    reject(
        &|t| t.steps[0].line = 2,
        "step 1: thread 0 cannot go from 0|1,4 to 1|2,4 by line 2: it is line 1 that leads there",
    );
    reject(
        &|t| t.steps[0].thread = 1,
        "step 1: thread 1 cannot go from 0|1,4 to 1|2,4 by line 1: it can go to 0|1,- by line 3",
    );
    reject(
        &|t| t.steps[2].state.shared = Shared(0),
        "step 3: thread 1 cannot go from 2|2,5 to 0|2,4.6 by line 6: that line leads to 3|2,4.6",
    );
    reject(
        &|t| t.steps[2].state.stacks[1] = Stack::from_top([5, 5].map(Symbol)),
        "step 3: thread 1 cannot go from 2|2,5 to 3|2,4.4 by line 6: that line leads to 3|2,4.6",
    );
    reject(
        &|t| t.steps[2].state.stacks[0] = Stack::from_top([2].map(Symbol)),
        "step 3: thread 1 cannot go from 2|2,5 to 3|1,4.6 by line 6: that line leads to 3|2,4.6",
    );
    reject(
        &|t| drop(t.steps.remove(1)),
        "step 2: thread 1 cannot go from 1|2,4 to 3|2,4.6 by line 6: it can go to 2|2,5 by line 5",
    );
    reject(
        &|t| t.steps.swap(3, 4),
        "step 4: thread 1 cannot go from 3|2,4.6 to 0|1,6 by line 3: it cannot move there",
    );
    reject(&|t| t.steps.truncate(5), "step 5: the run ends in 0|1,6, which does not violate the property");
    reject(&|t| t.steps.clear(), "step 0: the run ends in 0|1,4, which does not violate the property");
    reject(
        &|t| t.steps.push(t.steps[5].clone()),
        "step 7: thread 0 cannot go from 1|2,6 to 1|2,6 by line 1: it cannot move there",
    );
    reject(&|t| t.steps[3].thread = 2, "step 4: there is no thread 2 among 2");
    reject(&|t| t.steps[3].thread = usize::MAX, "step 4: there is no thread 18446744073709551615 among 2");
    reject(
        &|t| drop(t.steps[1].state.stacks.pop()),
        "step 2: expected one stack for each of the 2 threads, found 1",
    );
    reject(
        &|t| t.steps[1].state.stacks[1] = Stack::from_top([EMPTY]),
        "step 2: the stack of thread 1 has a hole",
    );
}

/// Each change of each number of a trace is noticed: in a system where every line and state differs there is one way.
#[test]
fn every_single_change_of_a_trace_is_noticed() {
    let system = figure_1();
    let good = long_trace(&system);
    let property = never(&system, &["1|2,6"]);
    let mut corrupted = 0;
    let mut reject = |step: usize, corrupt: Trace| {
        let text = replay(&system, &property, &corrupt).unwrap_err().to_string();
        assert!(text.starts_with(&format!("step {step}:")), "{text}");
        corrupted += 1;
    };
    for index in 0..good.steps.len() {
        for by in 1..=6 {
            let mut corrupt = good.clone();
            corrupt.steps[index].line += by;
            reject(index + 1, corrupt);
        }
        let mut corrupt = good.clone();
        corrupt.steps[index].thread ^= 1;
        reject(index + 1, corrupt);
        for shared in (0..4).map(Shared).filter(|&shared| shared != good.steps[index].state.shared) {
            let mut corrupt = good.clone();
            corrupt.steps[index].state.shared = shared;
            reject(index + 1, corrupt);
        }
        for thread in 0..2 {
            for symbols in [&[][..], &[1], &[2, 2], &[7, 7], &[5, 7, 7]] {
                let mut corrupt = good.clone();
                corrupt.steps[index].state.stacks[thread] =
                    Stack::from_top(symbols.iter().copied().map(Symbol));
                reject(index + 1, corrupt);
            }
        }
    }
    assert_eq!(corrupted, 6 * (6 + 1 + 3 + 10));
}

#[test]
fn messages_about_deep_stacks_are_short() {
    let system = figure_1();
    let mut deep = long_trace(&system);
    deep.steps[0].state.stacks[1] = Stack::from_top(vec![Symbol(5); 100_000]);
    assert!(replayed(&system, &["1|2,6"], &deep).len() < 1000);
}

fn examples() -> [Explicit; 3] {
    [figure_1(), recursion(), ring()]
}

/// Least invariants have nothing to spare: every state and every pair of `below` is needed.
#[test]
fn nothing_can_be_left_out_of_a_least_invariant() {
    let mut dropped = 0;
    for system in examples() {
        for window in 1..=3 {
            let good = least(&system, window);
            assert_eq!(check(&system, &Property::default(), &good), Ok(()));
            let width = 1 + good.windows.len();
            for row in 0..good.states().len() {
                let mut corrupt = good.clone();
                corrupt.rows.drain(row * width..(row + 1) * width);
                let text = check(&system, &Property::default(), &corrupt).unwrap_err().to_string();
                assert!(text.contains(" is missing"), "{text}");
                assert!(text.starts_with("state ") || text.starts_with("initial state 0|1,"), "{text}");
                dropped += 1;
            }
            for thread in 0..good.below.len() {
                for (&above, unders) in &good.below[thread] {
                    for under in unders {
                        let mut corrupt = good.clone();
                        corrupt.below[thread].get_mut(&above).unwrap().remove(under);
                        let text = check(&system, &Property::default(), &corrupt).unwrap_err().to_string();
                        assert!(text.contains(" lacks ") || text.contains(" is missing"), "{text}");
                        dropped += 1;
                    }
                }
            }
        }
    }
    println!("{dropped} left out");
    assert!(dropped > 250);
}

fn judged(system: &Explicit, bad: &[&str], invariant: &Invariant) -> String {
    let judged = check(system, &never(system, bad), invariant);
    judged.map_or_else(|rejection| rejection.to_string(), |()| "ok".to_string())
}

#[test]
fn corrupted_invariants_are_rejected() {
    let system = figure_1();
    let good = least(&system, 1);
    let bad = ["3|1,*", "2|*,-"];
    assert_eq!(judged(&system, &bad, &good), "ok");
    let reject = |change: &dyn Fn(&mut Invariant), expected: &str| {
        let mut corrupt = good.clone();
        change(&mut corrupt);
        assert_eq!(judged(&system, &bad, &corrupt), expected);
    };
    let window =
        |symbols: &[u32], more| Window { symbols: symbols.iter().copied().map(Symbol).collect(), more };

    // What it says about states.
    reject(&|i| i.rows.clear(), "initial state 0|1,4: its abstract state 0|1,4 is missing");
    reject(&|i| i.rows[0] = 1, "initial state 0|1,4: its abstract state 0|1,4 is missing");
    reject(
        &|i| i.rows.truncate(3),
        "state 1, 0|1,4: thread 0 can move by line 1: the state 1|2,4 is missing",
    );
    reject(
        &|i| add_state(i, 3, &[window(&[2], false), window(&[5], false)]),
        "state 14: 3|1,4 violates the property",
    );
    reject(
        &|i| add_state(i, 2, &[window(&[3], false), window(&[7], false)]),
        "ok", // more than is reachable, but closed: nobody moves from 2|2,6
    );
    reject(
        &|i| add_state(i, 3, &[window(&[3], false), window(&[6], false)]),
        "state 14, 3|2,5: thread 0 can move by line 2: the state 0|1,5 is missing",
    );

    // What it says about what lies below.
    reject(
        &|i| i.below[1].clear(),
        "initial state 0|1,4: the stack can end under 4, but `below 1 4:` lacks -",
    );
    reject(
        &|i| assert!(i.below[1].get_mut(&Symbol(5)).unwrap().remove(&Symbol(7))),
        "state 4, 2|2,5: thread 1 can move by line 6: 6 can lie under 4, but `below 1 4:` lacks 6",
    );
    reject(
        &|i| assert!(i.below[0].get_mut(&Symbol(2)).unwrap().remove(&EMPTY)),
        "initial state 0|1,4: the stack can end under 1, but `below 0 1:` lacks -",
    );

    // What makes no sense.
    reject(&|i| i.window = 0, "a window of 0 symbols: expected at least 1");
    reject(
        &|i| i.window = 2,
        "window 3 of thread 1: more can lie below a full window of 2 symbols only, this one has 1",
    );
    reject(&|i| drop(i.windows.pop()), "windows for 1 kinds of threads and `below` for 2: expected 2 each");
    reject(&|i| drop(i.below.pop()), "windows for 2 kinds of threads and `below` for 1: expected 2 each");
    reject(&|i| i.kinds = Kinds::distinct(3), "kinds for 3 threads: expected 2");
    reject(&|i| i.rows.push(0), "the last row is cut short: 40 numbers, 3 per row");
    reject(&|i| i.rows[4] = 9, "state 2: thread 0 has no window 9");
    reject(
        &|i| i.windows[0][1] = window(&[3, 3], false),
        "window 1 of thread 0: expected at most 1 symbols, found 2",
    );
    reject(&|i| i.windows[0][1] = window(&[EMPTY.0], false), "window 1 of thread 0: it has a hole");
    reject(&|i| i.windows[0][1] = i.windows[0][0].clone(), "window 1 of thread 0: it is listed before");
    reject(
        &|i| drop(i.below[0].insert(EMPTY, [1].map(Symbol).into())),
        "thread 0: `below` speaks of what lies under the end of the stack",
    );
}

/// Stacks that are cut off cannot pass for whole ones, nor long windows for short ones.
#[test]
fn a_lie_about_the_window_is_noticed() {
    for system in [figure_1(), recursion()] {
        for window in 1..=2 {
            let mut corrupt = least(&system, window);
            corrupt.window += 1;
            assert!(matches!(check(&system, &Property::default(), &corrupt), Err(Rejection::Malformed(_))));
            let mut corrupt = least(&system, window + 1);
            corrupt.window -= 1;
            assert!(matches!(check(&system, &Property::default(), &corrupt), Err(Rejection::Malformed(_))));
        }
    }
}

#[test]
fn swapped_threads_and_changed_symbols_are_rejected() {
    let mut changed = 0;
    for system in examples() {
        for window in 1..=2 {
            let good = least(&system, window);
            let mut corrupt = good.clone();
            corrupt.windows.swap(0, 1);
            corrupt.below.swap(0, 1);
            corrupt.rows.chunks_exact_mut(1 + good.windows.len()).for_each(|row| row.swap(1, 2));
            assert!(check(&system, &Property::default(), &corrupt).is_err());
            for thread in 0..good.windows.len() {
                for index in 0..good.windows[thread].len() {
                    for at in 0..good.windows[thread][index].symbols.len() {
                        let mut corrupt = good.clone();
                        corrupt.windows[thread][index].symbols[at] = Symbol(9);
                        let rejection = check(&system, &Property::default(), &corrupt).unwrap_err();
                        assert!(matches!(rejection, Rejection::Missing { .. }), "{rejection}");
                        changed += 1;
                    }
                    let mut corrupt = good.clone();
                    corrupt.windows[thread][index].more ^= true;
                    assert!(check(&system, &Property::default(), &corrupt).is_err());
                    changed += 1;
                }
            }
        }
    }
    assert!(changed > 80, "{changed}");
}

/// The empty invariant, systems that do nothing, repeated rows, and chains that never reach the bottom.
#[test]
fn corner_cases() {
    let idle = system(1, "0|-", &[&[]]);
    assert!(check(&idle, &Property::default(), &nothing(&idle, 1)).is_err());
    assert_eq!(judged(&idle, &[], &least(&idle, 1)), "ok");
    assert_eq!(judged(&idle, &["*|-"], &least(&idle, 1)), "state 1: 0|- violates the property");

    let mut repeated = least(&figure_1(), 1);
    repeated.rows.extend(repeated.rows.clone());
    assert_eq!(judged(&figure_1(), &[], &repeated), "ok");

    // The bottom is never under 7, so no stack has 1 over 7, and the step that 1 allows is never made.
    let hanging = system(1, "0|-", &[&[(0, 1, 0, &[2])]]);
    let mut invariant = least(&hanging, 1);
    invariant.below[0].insert(Symbol(2), [8].map(Symbol).into());
    invariant.below[0].insert(Symbol(8), [8].map(Symbol).into());
    add_state(&mut invariant, 0, &[Window { symbols: vec![Symbol(2)], more: true }]);
    assert_eq!(judged(&hanging, &[], &invariant), "ok");
    invariant.below[0].insert(Symbol(8), [Symbol(8), EMPTY].into());
    let expected = "state 2, 0|1+: thread 0 can move by line 1: 7 can lie under 2, but `below 0 2:` lacks 7";
    assert_eq!(judged(&hanging, &[], &invariant), expected);
    // A huge window is a number like any other.
    let mut huge = nothing(&hanging, usize::MAX);
    add_state(&mut huge, 0, &[Window { symbols: vec![], more: false }]);
    assert_eq!(judged(&hanging, &[], &huge), "ok");
}

/// So many flags, which each thread sets and clears.
fn flags(threads: usize) -> (Explicit, Invariant) {
    let flag: &[common::Written] = &[(0, 1, 0, &[2]), (0, 2, 0, &[1])];
    let system = system(1, &format!("0|{}", vec!["1"; threads].join(",")), &vec![flag; threads]);
    let mut invariant = nothing(&system, 1);
    for thread in 0..threads {
        let window = |symbol| Window { symbols: vec![Symbol(symbol)], more: false };
        invariant.windows[thread] = vec![window(2), window(3)];
        invariant.below[thread] = [2, 3].map(|symbol| (Symbol(symbol), [EMPTY].into())).into();
    }
    for state in 0..1_u32 << threads {
        invariant.rows.push(0);
        invariant.rows.extend((0..threads).map(|thread| state >> thread & 1));
    }
    (system, invariant)
}

/// Checked while somebody watches the clock.
#[test]
fn many_states_and_a_stop() {
    let (system, invariant) = flags(18);
    let started = std::time::Instant::now();
    assert_eq!(check(&system, &Property::default(), &invariant), Ok(()));
    println!("2^18 states, {} steps: {:?}", 18 << 18, started.elapsed());

    let asked = AtomicUsize::new(0);
    let stop = || (asked.fetch_add(1, Ordering::Relaxed) >= 100).then_some(StopReason::Time);
    let stopped = induct(&system, &Property::default(), &invariant, &stop).unwrap_err();
    assert_eq!(stopped, Rejection::Stopped(StopReason::Time));
    assert_eq!(stopped.to_string(), "not checked to the end: the time limit was reached");
}

/// However many cores look at the rows.
#[test]
fn the_first_row_that_lacks_a_successor_is_named() {
    let threads = 16;
    let (system, whole) = flags(threads);
    let width = 1 + threads;
    for dropped in [[1, 40_000], [65_535, 30_000], [70, 65_534], [12_288, 12_289]] {
        let mut invariant = whole.clone();
        let kept = |number: &usize| !dropped.contains(number);
        let numbers: Vec<usize> = (0..1 << threads).filter(kept).collect();
        invariant.rows =
            numbers.iter().flat_map(|&number| &whole.rows[number * width..][..width]).copied().collect();
        // A state that is one flag away from a dropped one has it as a successor.
        let lacks = |number: &usize| dropped.iter().any(|other| (number ^ other).is_power_of_two());
        let first = numbers.iter().position(lacks).expect("some state is next to a dropped one");
        for _ in 0..10 {
            match check(&system, &Property::default(), &invariant) {
                Err(Rejection::Missing { origin: Origin::Step { row, .. }, .. }) => assert_eq!(row, first),
                other => panic!("{other:?}"),
            }
        }
    }
}
