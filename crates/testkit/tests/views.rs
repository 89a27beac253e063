//! Programs as formulas against the reference semantics, and proofs by views against brute force.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs. Without z3, what needs a solver says so and is left out.

use allways_engines::meet::views::find;
use allways_evidence::views::steps::{ID, SELF, Steps, Transition, local};
use allways_evidence::views::{Judge, check, read_views, write_views};
use allways_evidence::{Rejection, StopReason, Views};
use allways_lang::aw;
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{LocationId, Program};
use allways_smt::term::Node;
use allways_smt::{Process, Settings, Term};
use allways_testkit::programs::{Mode, integers, text};
use allways_testkit::random::seeds;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::time::{Duration, Instant};

fn parsed(text: &str) -> Option<Program> {
    aw::parse(text.as_bytes()).program
}

/// The value of a term; truth values are 0 and 1.
fn value(term: &Term, of: &BTreeMap<String, i128>) -> i128 {
    let go = |term: &Term| value(term, of);
    match term.node() {
        Node::Number(number) => *number,
        Node::Variable(name) => of[&**name],
        Node::Sum(parts) => parts.iter().map(go).sum(),
        Node::Times(factor, part) => factor * go(part),
        Node::Quotient(part, divisor) => go(part).div_euclid(*divisor),
        Node::Remainder(part, divisor) => go(part).rem_euclid(*divisor),
        Node::Choice(condition, then, other) => go(if go(condition) != 0 { then } else { other }),
        Node::Truth(truth) => i128::from(*truth),
        Node::Not(part) => 1 - go(part),
        Node::And(parts) => i128::from(parts.iter().all(|part| go(part) != 0)),
        Node::Or(parts) => i128::from(parts.iter().any(|part| go(part) != 0)),
        Node::Equal(left, right) => i128::from(go(left) == go(right)),
        Node::AtMost(left, right) => i128::from(go(left) <= go(right)),
    }
}

/// Some states of a program with so many threads, breadth first, and whether something goes wrong in them.
fn explore(program: &Program, counts: &[usize], most: usize) -> (Vec<State>, bool) {
    let mut todo: VecDeque<State> = State::initial(program, counts).unwrap_or_default().into();
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    let (mut states, mut wrong) = (Vec::new(), false);
    while let Some(state) = todo.pop_front() {
        wrong |= matches!(state.violated(program), Some(Outcome::Wrong(_)));
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                match step.outcome {
                    Outcome::To(next) if seen.len() < most && seen.insert(next.clone()) => todo.push_back(next),
                    Outcome::Wrong(_) => wrong = true,
                    _ => {}
                }
            }
        }
        states.push(state);
    }
    (states, wrong)
}

/// Where a step leads: the shared values, the location and the local values; nothing if it goes wrong.
type Led = Option<(Vec<i128>, LocationId, Vec<i128>)>;

/// Where the formulas say that a thread can go.
fn by_formulas(translated: &Steps, state: &State, thread: usize) -> BTreeSet<Led> {
    let moving = &state.threads[thread];
    let top = moving.top().expect("it has not ended");
    let mut of: BTreeMap<String, i128> = BTreeMap::new();
    for (known, &value) in translated.shared.iter().zip(&state.shared) {
        of.insert(known.name.clone(), value.into());
    }
    let locals = &translated.locals[moving.template];
    for (slot, known) in locals.iter().enumerate() {
        let value = match known.name.as_str() {
            ID if known.hidden => moving.id as i64 + 1,
            SELF if known.hidden => moving.this,
            _ => top.locals[slot],
        };
        of.insert(local(&known.name, 0), value.into());
    }
    let mut led = BTreeSet::new();
    for transition in &translated.from[top.location] {
        choose(transition, &transition.choices, &mut of, &mut |of| {
            if value(&transition.guard, of) == 0 {
                return;
            }
            let new = |slot: usize, name: &str, changed: &[(usize, Term)]| {
                let change = changed.iter().find(|(changed, _)| *changed == slot);
                change.map_or_else(|| of[name], |(_, term)| value(term, of))
            };
            led.insert(transition.to.map(|to| {
                let shared = translated.shared.iter().enumerate();
                let own = locals.iter().enumerate().filter(|(_, known)| !known.hidden);
                (
                    shared.map(|(slot, known)| new(slot, &known.name, &transition.shared)).collect(),
                    to,
                    own.map(|(slot, known)| new(slot, &local(&known.name, 0), &transition.locals)).collect(),
                )
            }));
        });
    }
    led
}

/// All ways to choose; what is out of bounds is for the guard to refuse.
fn choose(
    transition: &Transition,
    choices: &[String],
    of: &mut BTreeMap<String, i128>,
    each: &mut dyn FnMut(&BTreeMap<String, i128>),
) {
    match choices.split_first() {
        None => each(of),
        Some((name, rest)) => {
            for value in -2..5 {
                of.insert(name.clone(), value);
                choose(transition, rest, of, each);
            }
        }
    }
}

fn by_reference(program: &Program, state: &State, thread: usize) -> Option<BTreeSet<Led>> {
    let led = steps(program, state, thread).into_iter().map(|step| match step.outcome {
        Outcome::To(next) => {
            let shared = next.shared.iter().map(|&value| value.into()).collect();
            let top = next.threads[thread].top().expect("it stays").clone();
            Some(Some((shared, top.location, top.locals.iter().map(|&value| value.into()).collect())))
        }
        Outcome::Wrong(_) => Some(None),
        Outcome::Beyond(_) => None,
    });
    led.collect()
}

fn compare(name: &str, program: &Program, counts: &[usize], compared: &mut usize) -> bool {
    let Ok(translated) = Steps::new(program) else { return false };
    let (states, _) = explore(program, counts, 150);
    for state in states {
        for thread in 0..state.threads.len() {
            let Some(expected) = by_reference(program, &state, thread) else { continue };
            assert_eq!(by_formulas(&translated, &state, thread), expected, "{name}: thread {thread} of {state:?}");
            *compared += 1;
        }
    }
    true
}

#[test]
fn formulas_mean_what_programs_mean() {
    let (mut compared, mut programs) = (0, 0);
    for seed in seeds(600) {
        let text = text(seed, Mode::Threads);
        let Some(program) = parsed(&text) else { continue };
        let counts: Vec<usize> = State::counts(&program).iter().map(|&count| count.max(1)).collect();
        programs += usize::from(compare(&format!("{seed}\n{text}"), &program, &counts, &mut compared));
    }
    for seed in seeds(600) {
        let text = integers(seed);
        let program = parsed(&text).unwrap_or_else(|| panic!("{text}"));
        assert!(compare(&format!("integers {seed}\n{text}"), &program, &[2], &mut compared), "{text}");
        programs += 1;
    }
    println!("{programs} programs, {compared} pairs of sets of steps");
    assert!(compared > 10_000 && programs > 650, "too few: {programs}, {compared}");
}

fn solver() -> bool {
    let there = Process::start(&Settings::default(), &|| false).is_ok();
    if !there {
        println!("skipped: there is no z3");
    }
    there
}

fn judged(program: &Program, views: &Views) -> Result<usize, Rejection> {
    let mut solver = Process::start(&Settings::default(), &|| false).expect("it was there before");
    check(program, views, &mut Judge { solver: &mut solver, witness: &mut |_| () })
}

/// What is proved does not go wrong with up to three threads, as far as brute force looks; and evidence survives being written.
#[test]
fn what_views_prove_brute_force_cannot_refute() {
    if !solver() {
        return;
    }
    let (mut proved, mut refuted) = (0, 0);
    for seed in seeds(40) {
        let text = integers(seed);
        let program = parsed(&text).unwrap_or_else(|| panic!("{text}"));
        let open = State::counts(&program)[0] == 0;
        let deadline = Instant::now() + Duration::from_secs(2);
        let stop = || (Instant::now() > deadline).then_some(StopReason::Time);
        let counts = [if open { None } else { Some(2) }];
        let found = find(&program, &counts, &Settings::default(), &stop);
        let numbers = if open { 1..=3 } else { 2..=2 };
        let wrong = numbers.clone().any(|count| explore(&program, &[count], 3000).1);
        refuted += usize::from(wrong);
        let Ok(views) = found.views else { continue };
        assert!(!wrong, "{seed}\n{text}");
        proved += 1;
        let mut written = Vec::new();
        write_views(&program, &views, &mut written).expect("memory");
        let read = read_views(&program, &written).unwrap_or_else(|bad| panic!("{bad}"));
        judged(&program, &read).unwrap_or_else(|rejection| panic!("{seed}\n{text}\n{rejection}"));
    }
    println!("{proved} proved, {refuted} refuted");
    assert!(proved > 5 && refuted > 5, "too few: {proved}, {refuted}");
}
