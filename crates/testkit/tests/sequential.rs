//! The sequential form of random asynchronous programs (DBS, Lemmas 2, 3 and 4): it ends with the same globals, and goes wrong
//! exactly if the program does, as the depth-first scheduler with the same number of delays.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs.

use allways_engines::Budget;
use allways_engines::below::schedules::{Asynchronous, Delays, DepthFirst, explore};
use allways_lang::{aw, write};
use allways_model::program::semantics::State;
use allways_model::program::sequential::{Sequential, sequential};
use allways_model::program::{Program, Value};
use allways_testkit::programs::{self, Limits, Mode, posting, summarize, terse, text};
use allways_testkit::random;
use std::collections::BTreeSet;
use std::time::Duration;

/// How many states of a sequential program are looked at.
const STATES: usize = 50_000;

/// How many ways there may be to guess.
const GUESSES: usize = 100;

fn parsed(text: &str) -> Program {
    aw::parse(text.as_bytes()).program.unwrap_or_else(|| panic!("a program\n{text}"))
}

/// What became of programs.
#[derive(Default, Debug)]
struct Tally {
    refused: usize,
    large: usize,
    /// For each number of delays, and programs that were compared for all of them.
    compared: [usize; 4],
    fully: usize,
    wrong: usize,
    /// With yields, with delays that add something.
    yields: usize,
    richer: usize,
}

/// In how many ways the globals of a program can be guessed.
fn guesses(program: &Program) -> usize {
    let ways =
        program.shared.iter().filter(|variable| Some(variable.slot) != program.token()).map(|variable| {
            let (low, high) = variable.ty.bounds().unwrap_or((0, 1 << 20));
            ((high - low + 1) as usize).saturating_pow(variable.slots() as u32)
        });
    ways.fold(1, usize::saturating_mul)
}

/// The globals with which executions end, and whether one goes wrong; if that can be found out.
fn depth_first(program: &Program, delays: usize, globals: &[usize]) -> Option<(BTreeSet<Vec<Value>>, bool)> {
    let budget = Budget::of_time(Duration::from_millis(200));
    let asynchronous = Asynchronous::new(program).expect("it has tasks");
    let explored = explore(&asynchronous, &Delays(DepthFirst), Some(delays), &budget);
    let ended = explored.finals.iter().map(|shared| globals.iter().map(|&slot| shared[slot]).collect());
    explored.stopped.is_none().then(|| (ended.collect(), explored.wrong.is_some()))
}

fn run_to_the_end(sequential: &Sequential) -> Option<(BTreeSet<Vec<Value>>, bool)> {
    let Sequential { program, done, globals } = sequential;
    let found = summarize(program, STATES)?;
    let ended =
        found.ended.iter().filter(|state| state.threads[0].top().map(|top| top.location) == Some(*done));
    Some((
        ended.map(|state| globals.iter().map(|&slot| state.shared[slot]).collect()).collect(),
        found.violation,
    ))
}

fn compare(name: &str, program: &Program, delays: usize, tally: &mut Tally) -> Option<BTreeSet<Vec<Value>>> {
    if guesses(program).saturating_pow(delays as u32 + 2) > GUESSES {
        tally.large += 1;
        return None;
    }
    let Ok(sequential) = sequential(program, delays) else {
        tally.refused += 1;
        return None;
    };
    let expected = depth_first(program, delays, &sequential.globals);
    let (Some((ended, wrong)), Some((guessed, violation))) = (expected, run_to_the_end(&sequential)) else {
        tally.large += 1;
        return None;
    };
    assert_eq!(violation, wrong, "{delays} delays, {name}");
    if !wrong {
        assert_eq!(guessed, ended, "{delays} delays, {name}");
    }
    tally.compared[delays] += 1;
    tally.wrong += usize::from(wrong);
    Some(ended)
}

#[test]
fn sequential_programs_do_the_same() {
    let mut tally = Tally::default();
    for seed in random::seeds(60) {
        // One in sixteen is of the larger kind, most of which have too many guesses.
        let text = match seed % 16 {
            0 => text(seed, Mode::Tasks),
            1..6 => posting(seed),
            _ => terse(seed),
        };
        let name = format!("{seed}\n{text}");
        let program = parsed(&text);
        tally.yields += usize::from(text.contains("yield"));
        let ended = [0, 1, 2, 3].map(|delays| compare(&name, &program, delays, &mut tally));
        tally.fully += usize::from(ended.iter().all(Option::is_some));
        let richer = |pair: &[Option<BTreeSet<Vec<Value>>>]| {
            pair[0].is_some() && pair[1].is_some() && pair[0] != pair[1]
        };
        tally.richer += ended.windows(2).filter(|pair| richer(pair)).count();
    }
    println!("{tally:?}");
    assert!(tally.compared.iter().all(|&compared| compared > 0));
}

/// What is written reads as a program that does the same.
#[test]
fn sequential_programs_are_written() {
    let (mut written, mut compared) = (0, 0);
    for seed in random::seeds(40) {
        let text = posting(seed);
        let program = parsed(&text);
        for delays in 0..=1 {
            if guesses(&program).saturating_pow(delays as u32 + 2) > GUESSES {
                continue;
            }
            let Ok(sequential) = sequential(&program, delays) else { continue };
            let Ok(again) = write::aw(&sequential.program) else { continue };
            written += 1;
            let again = parsed(&again);
            let (Some((_, wrong)), Some(found)) = (run_to_the_end(&sequential), summarize(&again, STATES))
            else {
                continue;
            };
            compared += 1;
            assert_eq!(found.violation, wrong, "{seed}, {delays} delays\n{text}");
        }
    }
    println!("{written} written, {compared} compared");
    assert!(compared > 0);
}

/// Summaries of calls are what brute force finds.
#[test]
fn summaries_are_exact() {
    const LIMITS: Limits = Limits { states: 40_000, threads: 1, depth: 12 };
    let mut compared = 0;
    for seed in random::seeds(60) {
        let program = parsed(&posting(seed));
        for delays in 0..=1 {
            let Ok(Sequential { program, .. }) = sequential(&program, delays) else { continue };
            let Some(explored) = programs::explore(&program, &State::counts(&program), LIMITS) else {
                continue;
            };
            if explored.cut {
                continue;
            }
            let found = summarize(&program, STATES).expect("it has fewer states");
            let ended = explored.states.into_iter().filter(|state| state.threads[0].ended(&program));
            assert_eq!(
                (found.ended, found.violation),
                (ended.collect(), explored.violation),
                "{seed}, {delays} delays"
            );
            compared += 1;
        }
    }
    println!("{compared} compared");
    assert!(compared > 0);
}
