//! Delay-bounded scheduling of random asynchronous programs: the union over all delays is what the program can do (DBS,
//! Lemma 1), the least number of delays is the least, and every run that goes wrong is one of the program.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs.

use allways_engines::Budget;
use allways_engines::below::schedules::{
    Asynchronous, Bag, BoundedBag, Bounding, Contexts, Delays, Depth, DepthFirst, Explored, Preemptions,
    ReverseDepthFirst, RoundRobin, executions, explore, trace,
};
use allways_evidence::{End, interpret, replay};
use allways_lang::aw;
use allways_model::encoding::Encoded;
use allways_model::program::semantics::State;
use allways_model::program::{Program, Type, Value};
use allways_testkit::programs::{self, Circuit, Limits, Mode, text};
use allways_testkit::random;
use std::collections::BTreeSet;
use std::time::Duration;

const LIMITS: Limits = Limits { states: 3000, threads: 10, depth: 4 };

fn parsed(text: &str) -> Program {
    aw::parse(text.as_bytes()).program.unwrap_or_else(|| panic!("a program\n{text}"))
}

/// What is compared of shared values: not who holds a lock, since tasks are numbered differently, nor whether a task runs,
/// since a task that can only wait need not.
fn essence(program: &Program, shared: &[Value]) -> Vec<Value> {
    let mut essence = shared.to_vec();
    for variable in program.shared.iter().filter(|variable| variable.ty == Type::Lock) {
        let slots = variable.slot..variable.slot + variable.slots();
        slots.for_each(|slot| essence[slot] = Value::from(essence[slot] != 0));
    }
    essence[program.token().expect("tasks pass a token")] = 0;
    essence
}

fn essences<'a>(program: &Program, all: impl IntoIterator<Item = &'a [Value]>) -> BTreeSet<Vec<Value>> {
    all.into_iter().map(|shared| essence(program, shared)).collect()
}

fn all<B: Bounding>(program: &Program, bounding: &B) -> Option<Explored<B::Object>> {
    let budget = Budget::of_time(Duration::from_millis(300));
    let asynchronous = Asynchronous::new(program).expect("it has tasks");
    let explored = explore(&asynchronous, bounding, None, &budget);
    if explored.stopped.is_some() {
        return None;
    }
    assert!(explored.wrong.is_some() || explored.exhausted);
    Some(explored)
}

/// A violation becomes a run of the program that the checker accepts.
fn certified<B: Bounding>(name: &str, program: &Program, explored: &Explored<B::Object>) {
    let Some(wrong) = &explored.wrong else { return };
    let asynchronous = Asynchronous::new(program).expect("it has tasks");
    let run = trace::run(&asynchronous, wrong).unwrap_or_else(|| panic!("a run\n{name}"));
    let threads = trace::threads(program, &trace::needed(program, &run));
    for reduced in [true, false] {
        let encoded = Encoded::new(program, &threads, reduced).expect("an encoding");
        let trace = trace::trace(&encoded, &run).unwrap_or_else(|| panic!("a trace\n{name}"));
        replay(&encoded, &encoded.property(false), &trace).unwrap_or_else(|why| panic!("{why}\n{name}"));
        let told = interpret(&encoded, &trace).unwrap_or_else(|why| panic!("{why}\n{name}"));
        assert!(matches!(told.end, End::Wrong(_)), "{name}");
    }
}

/// Everything that a program can do, by a search with any bounding.
fn complete<B: Bounding>(name: &str, program: &Program, bounding: &B, expected: &programs::Explored) -> bool {
    let Some(explored) = all(program, bounding) else { return false };
    assert_eq!(explored.wrong.is_some(), expected.violation, "{name}");
    certified::<B>(name, program, &explored);
    if !expected.violation {
        let found = essences(program, explored.shared.iter().map(Vec::as_slice));
        let shared = expected.states.iter().map(|state| &*state.shared);
        assert_eq!(found, essences(program, shared), "{name}");
        let over = |state: &&State| state.threads.iter().all(|thread| thread.ended(program));
        let finals = expected.states.iter().filter(over).map(|state| &*state.shared);
        let found = essences(program, explored.finals.iter().map(Vec::as_slice));
        assert_eq!(found, essences(program, finals), "{name}");
    }
    true
}

/// Limit soundness (Lemma 1), for every scheduler that is lossless and delay-accessible; and the other boundings.
#[test]
fn the_union_is_everything() {
    let (mut compared, mut violations, mut asked, mut finished) = (0, 0, 0, 0);
    for seed in random::seeds(100) {
        let text = text(seed, Mode::Tasks);
        let name = format!("{seed}\n{text}");
        let program = parsed(&text);
        let expected = programs::explore(&program, &State::counts(&program), LIMITS);
        let Some(expected) = expected.filter(|explored| !explored.cut) else { continue };
        compared += 1;
        violations += usize::from(expected.violation);
        let done = [
            complete(&name, &program, &Delays(Bag), &expected),
            complete(&name, &program, &Delays(RoundRobin), &expected),
            complete(&name, &program, &Delays(DepthFirst), &expected),
            complete(&name, &program, &Delays(ReverseDepthFirst), &expected),
            complete(&name, &program, &Preemptions, &expected),
            complete(&name, &program, &Contexts, &expected),
            complete(&name, &program, &Depth, &expected),
        ];
        asked += done.len();
        finished += done.iter().filter(|done| **done).count();
    }
    println!("{compared} programs compared, {violations} go wrong, {finished} of {asked} searches finished");
    assert!(finished > 0 && 10 * finished > 9 * asked);
}

/// What the bounded bag finds is there, and with room enough it is everything.
#[test]
fn the_bounded_bag_is_a_bag() {
    for seed in random::seeds(100) {
        let text = text(seed, Mode::Tasks);
        let name = format!("{seed}\n{text}");
        let program = parsed(&text);
        let (Some(bag), Some(bounded)) =
            (all(&program, &Delays(Bag)), all(&program, &Delays(BoundedBag { bound: 1 })))
        else {
            continue;
        };
        certified::<Delays<BoundedBag>>(&name, &program, &bounded);
        assert!(bag.wrong.is_some() || bounded.wrong.is_none(), "{name}");
        if bag.wrong.is_none() {
            assert!(bounded.shared.is_subset(&bag.shared), "{name}");
            let large = all(&program, &Delays(BoundedBag { bound: 100 })).expect("as quick as the bag");
            assert_eq!(large.shared, bag.shared, "{name}");
        }
    }
}

/// Executions run one by one need as many delays as configurations remembered, for each bounding.
#[test]
fn the_least_bound_is_the_least() {
    fn least<B: Bounding>(name: &str, program: &Program, bounding: &B) -> usize {
        let asynchronous = Asynchronous::new(program).expect("it has tasks");
        let Some(explored) = all(program, bounding) else { return 0 };
        let slowly = executions(&asynchronous, bounding, 60, 150);
        match &explored.wrong {
            Some(wrong) if slowly.wrong => assert_eq!(wrong.cost, slowly.bound, "{name}"),
            Some(wrong) => assert!(slowly.bound <= wrong.cost, "{name}"),
            None => assert!(!slowly.wrong, "{name}"),
        }
        usize::from(slowly.wrong)
    }
    let mut compared = 0;
    for seed in random::seeds(30) {
        let text = text(seed, Mode::Tasks);
        let name = format!("{seed}\n{text}");
        let program = parsed(&text);
        compared += least(&name, &program, &Delays(RoundRobin));
        compared += least(&name, &program, &Delays(DepthFirst));
        compared += least(&name, &program, &Delays(ReverseDepthFirst));
        compared += least(&name, &program, &Preemptions);
        compared += least(&name, &program, &Contexts);
    }
    println!("{compared} least bounds compared");
}

/// Theorem 1: satisfiable circuits are found, with delays of the depth-first scheduler, and the others refuted.
#[test]
fn circuits() {
    let (mut found, mut refuted) = (0, 0);
    for seed in random::seeds(100).take(1000) {
        let circuit = Circuit::random(seed, 2, 1 + (seed % 8 == 0) as usize);
        let program = parsed(&circuit.text());
        let asynchronous = Asynchronous::new(&program).expect("it has tasks");
        let bag = explore(&asynchronous, &Delays(Bag), None, &Budget::unlimited());
        assert_eq!(bag.wrong.is_some(), circuit.satisfiable(), "{circuit:?}");
        if circuit.satisfiable() {
            let depth_first = explore(&asynchronous, &Delays(DepthFirst), None, &Budget::unlimited());
            assert!(depth_first.wrong.is_some(), "{circuit:?}");
            found += 1;
        } else {
            assert!(bag.exhausted, "{circuit:?}");
            refuted += 1;
        }
    }
    println!("{found} circuits satisfied, {refuted} refuted");
    assert!(refuted > 0);
}
