//! Programs as formulas against the reference semantics, and proofs by views against brute force.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs. Without z3, what needs a solver says so and is left out.

mod properties;
mod translation;

use allways_engines::above::views::bad::alternatives;
use allways_engines::above::views::steps::{ID, Known, SELF, Steps, Transition, local};
use allways_engines::meet::views::find;
use allways_evidence::views::names::Names;
use allways_evidence::views::property::Shown;
use allways_evidence::views::translate::{self, Step};
use allways_evidence::views::weighed;
use allways_evidence::{
    BadEvidence, Certificate, Evidence, Judge, Rejection, StopReason, Subject, Views, certify, read_evidence,
    write_evidence,
};
use allways_lang::aw;
use allways_model::program::reduction::reduce;
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{Binary, Expr, LocationId, Program, Span, Type, Unary};
use allways_smt::{Process, Settings, Term};
use allways_testkit::programs::{Mode, integers, text};
use allways_testkit::random::seeds;
use allways_testkit::terms::value;
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::time::{Duration, Instant};
use translation::started;

fn parsed(text: &str) -> Option<Program> {
    aw::parse(text.as_bytes()).program
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
                    Outcome::To(next) if seen.len() < most && seen.insert(next.clone()) => {
                        todo.push_back(next)
                    }
                    Outcome::Wrong(_) => wrong = true,
                    _ => {}
                }
            }
        }
        states.push(state);
    }
    (states, wrong)
}

fn solver() -> bool {
    let there = Process::start(&Settings::default(), &|| false).is_ok();
    if !there {
        println!("skipped: there is no z3");
    }
    there
}

fn judged(program: &Program, views: &Views) -> Result<(), Rejection> {
    let subject = Subject::program(program, &views.counts);
    certify(&subject, &Certificate::from(views.clone()), &mut Judge::new(&|| None))
}

fn written(program: &Program, views: &Views) -> Vec<u8> {
    let mut text = Vec::new();
    let subject = Subject::program(program, &views.counts);
    write_evidence(&subject, &Certificate::from(views.clone()), &mut text).expect("memory");
    text
}

fn read_views(program: &Program, text: &[u8]) -> Result<Views, BadEvidence> {
    match read_evidence(&Subject::program(program, &[]), text)? {
        Evidence::Certificate(Certificate::Views(views)) => Ok(*views),
        other => panic!("{} is not about programs", other.kind()),
    }
}

/// Whether all views of a state are in a set of views, by evaluating its formulas.
fn contains(translated: &Steps, views: &Views, state: &State) -> bool {
    let top = |thread: usize| state.threads[thread].top().expect("it has not ended");
    let mut of: BTreeMap<String, i128> = BTreeMap::new();
    let values = state.shared.iter().map(|&value| value.into()).chain(started(translated, state));
    for (known, value) in translated.shared.iter().zip(values) {
        of.insert(known.name.clone(), value);
    }
    for (index, weights) in views.weights.iter().enumerate() {
        let weight = |thread: usize| weights.get(&top(thread).location).copied().unwrap_or(0);
        of.insert(weighed(index), (0..state.threads.len()).map(weight).sum::<i64>().into());
    }
    tuples(state.threads.len(), views.size).into_iter().all(|threads| {
        let locations: Vec<LocationId> = threads.iter().map(|&thread| top(thread).location).collect();
        if !locations.windows(2).all(|pair| pair[0] <= pair[1]) {
            return true;
        }
        let mut of = of.clone();
        for (position, &thread) in threads.iter().enumerate() {
            let moving = &state.threads[thread];
            for (slot, known) in translated.locals[moving.template.index()].iter().enumerate() {
                let value = match known.name.as_str() {
                    ID if known.hidden => moving.id as i64 + 1,
                    SELF if known.hidden => moving.this,
                    _ => top(thread).locals[slot],
                };
                of.insert(local(&known.name, position), value.into());
            }
        }
        views.rows.get(&locations).is_some_and(|formula| value(formula, &of) != 0)
    })
}

/// All ways to take so many different numbers below a bound, in every order.
fn tuples(below: usize, many: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..many {
        let longer = all.iter().flat_map(|one| {
            let free = (0..below).filter(|number| !one.contains(number));
            free.map(|number| one.iter().copied().chain([number]).collect::<Vec<_>>()).collect::<Vec<_>>()
        });
        all = longer.collect();
    }
    all
}

/// What is proved does not go wrong with up to three threads, as far as brute force looks, and contains what is seen there; and
/// evidence survives being written.
#[test]
fn what_views_prove_brute_force_cannot_refute() {
    if !solver() {
        return;
    }
    let (mut proved, mut refuted, mut narrowed, mut still) = (0, 0, 0, 0);
    for seed in seeds(40) {
        let mut rng = Rng::with_seed(seed);
        let text = integers(seed);
        let program = parsed(&text).unwrap_or_else(|| panic!("{text}"));
        let open = State::counts(&program)[0] == 0;
        let deadline = Instant::now() + Duration::from_secs(2);
        let stop = || (Instant::now() > deadline).then_some(StopReason::Time);
        let counts = [if open { None } else { Some(2) }];
        let found = find(&program, &reduce(&program), &counts, &Settings::default(), &stop);
        let numbers = if open { 1..=3 } else { 2..=2 };
        let wrong = numbers.clone().any(|count| explore(&program, &[count], 3000).1);
        refuted += usize::from(wrong);
        let Ok(views) = found.views else { continue };
        assert!(!wrong, "{seed}\n{text}");
        proved += 1;
        let translated = Steps::new(&program).expect("it was proved");
        for count in numbers.filter(|&count| count >= views.size) {
            for state in explore(&program, &[count], 300).0 {
                assert!(contains(&translated, &views, &state), "{seed}\n{text}\n{state:?}");
            }
        }
        let read = read_views(&program, &written(&program, &views)).unwrap_or_else(|bad| panic!("{bad}"));
        judged(&program, &read).unwrap_or_else(|rejection| panic!("{seed}\n{text}\n{rejection}"));
        // Views that allow less are no proof, unless they still contain all that is seen.
        for locations in views.rows.keys() {
            let mut less = views.clone();
            let row = less.rows.remove(locations).expect("a row");
            if rng.bool() {
                let bound = Term::variable("x").at_most(&Term::number(rng.i64(0..3)));
                less.rows.insert(locations.clone(), Term::and([row, bound]));
            }
            let accepted = judged(&program, &less).is_ok();
            *(if accepted { &mut still } else { &mut narrowed }) += 1;
            let count = if open { views.size.max(2) } else { 2 };
            if accepted {
                for state in explore(&program, &[count], 300).0 {
                    assert!(contains(&translated, &less, &state), "{seed}\n{text}\n{state:?}");
                }
            }
        }
    }
    println!("{proved} proved, {refuted} refuted; of narrowed proofs {narrowed} rejected, {still} not");
    assert!(proved > 5 && refuted > 5, "too few: {proved}, {refuted}");
}

const TICKET: &str = "shared int s, t;
thread client[*] { int l; loop { l, t = t, t + 1; await s == l; crit: skip; s = s + 1; } }
never at(crit) >= 2;";

fn ticket() -> (Program, Views) {
    let program = parsed(TICKET).expect("a program");
    let views =
        find(&program, &reduce(&program), &[None], &Settings::default(), &|| None).views.expect("a proof");
    (program, views)
}

/// Views that lack a row, or a part of one, are not closed; views that say nothing contain what is bad.
#[test]
fn corrupted_views_are_rejected() {
    if !solver() {
        return;
    }
    let (program, views) = ticket();
    judged(&program, &views).expect("it is right");
    for locations in views.rows.keys() {
        let mut missing = views.clone();
        missing.rows.remove(locations);
        assert!(matches!(judged(&program, &missing), Err(Rejection::NotClosed(_))), "without {locations:?}");
        let mut narrow = views.clone();
        let shared = Term::variable("s").at_most(&Term::number(3));
        let formula = Term::and([views.rows[locations].clone(), shared]);
        narrow.rows.insert(locations.clone(), formula);
        assert!(matches!(judged(&program, &narrow), Err(Rejection::NotClosed(_))), "narrow at {locations:?}");
    }
    let mut wide = views.clone();
    wide.rows.values_mut().for_each(|formula| *formula = Term::truth(true));
    assert!(matches!(judged(&program, &wide), Err(Rejection::NotClosed(_))));
    let mut small = views.clone();
    small.size = 1;
    assert!(matches!(judged(&program, &small), Err(Rejection::Malformed(_))));
    let mut foreign = views.clone();
    foreign
        .rows
        .values_mut()
        .for_each(|formula| *formula = Term::variable("nobody").at_most(&Term::number(0)));
    assert!(matches!(judged(&program, &foreign), Err(Rejection::Malformed(_))));
    // Weights where threads start are sums that nobody knows.
    let mut heavy = views;
    heavy.weights.push(BTreeMap::from([(LocationId(0), 1)]));
    assert!(matches!(judged(&program, &heavy), Err(Rejection::Malformed(_))));
}

/// Texts that are cut, or in which something is replaced, are refused with a place, or mean something; nothing panics.
#[test]
fn hostile_texts_of_views() {
    if !solver() {
        return;
    }
    let (program, views) = ticket();
    let text = written(&program, &views);
    for end in 0..text.len() - 1 {
        let whole = text[..end].ends_with(b"\nend 10") || read_views(&program, &text[..end]).is_err();
        assert!(whole, "cut after {end} bytes");
    }
    let text = String::from_utf8(text).expect("text");
    for (from, to) in [
        ("client=*", "client=-1"),
        ("client=*", "client=99999999999999999999"),
        ("client=*", "other=*"),
        ("size 2", "size 0"),
        ("size 2", "size 9"),
        ("row 1 1:", "row 1 99:"),
        ("row 1 1:", "row 2 1:"),
        ("row 1 1:", "row 1:"),
        ("|s|", "|unknown|"),
        ("|s|", "s)"),
        ("(<=", "(*"),
        ("end ", "end 9"),
        ("allways views 1", "allways views 2"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        assert!(read_views(&program, changed.as_bytes()).is_err(), "{to}");
    }
    let deep = format!("{}true{}", "(not ".repeat(100_000), ")".repeat(100_000));
    let first = text.find("row ").expect("a row");
    let deep = format!("{}row 0 0: {deep}\nend 1\n", &text[..first]);
    assert!(read_views(&program, deep.as_bytes()).is_err());
    assert!(read_views(&program, b"allways views 1\n\xff").is_err());
}

fn corpus(name: &str) -> Program {
    let path = format!("{}/../../corpus/aw/{name}.aw", env!("CARGO_MANIFEST_DIR"));
    parsed(&std::fs::read_to_string(path).expect("a file of the corpus")).expect("a program")
}

/// A location of thread 0, and what it sees there.
type Seen = (LocationId, Vec<i64>);

/// What thread 0 sees, by a function, in the states that are found with so many threads.
fn seen(program: &Program, threads: usize, most: usize, see: &dyn Fn(&State) -> Vec<i64>) -> BTreeSet<Seen> {
    let (states, _) = explore(program, &[threads], most);
    let first = |state: &State| state.threads[0].top().expect("it stays").location;
    states.iter().map(|state| (first(state), see(state))).collect()
}

/// DrUBA, section 5: the abstract states of program P. The numbers are the paper's.
#[test]
fn abstract_states_of_program_p() {
    let program = corpus("int-druba-figure-1");
    let own = |state: &State| state.threads[0].top().expect("it stays").locals[0];
    // The shared variables are m and s.
    let second =
        |state: &State| vec![i64::from(state.shared[1] == own(state)), i64::from(state.shared[0] == 1)];
    let third = |state: &State| [second(state), vec![i64::from(state.shared[0] == 0)]].concat();
    assert_eq!(seen(&program, 2, 2000, &second).len(), 12);
    assert_eq!(seen(&program, 3, 8000, &second).len(), 13);
    assert_eq!(seen(&program, 3, 8000, &third).len(), 14);
    assert_eq!(seen(&program, 4, 30_000, &third).len(), 14);
}

/// The argument of DrUBA, section 5.2, taken literally: what thread 0 sees (its location and s) stays the same from two threads
/// to three, and each of its statements is a function of that, so nothing is left to test. With four threads it goes wrong.
#[test]
fn a_plateau_of_one_thread_is_no_proof() {
    let program = corpus("int-plateau-wrong");
    let see = |state: &State| state.shared.clone();
    let views: Vec<_> = (2..=4).map(|threads| seen(&program, threads, 10_000, &see)).collect();
    assert_eq!(views[0], views[1], "a plateau");
    assert!(!explore(&program, &[3], 10_000).1, "nothing goes wrong up to there");
    let mut led: BTreeMap<Seen, BTreeSet<Seen>> = BTreeMap::new();
    for state in explore(&program, &[3], 10_000).0 {
        let from = (state.threads[0].top().expect("it stays").location, state.shared.clone());
        for step in steps(&program, &state, 0) {
            let Outcome::To(next) = step.outcome else { panic!("nothing goes wrong up to there") };
            let to = (next.threads[0].top().expect("it stays").location, next.shared);
            assert!(views[0].contains(&to), "closed under what thread 0 does");
            led.entry(from.clone()).or_default().insert(to);
        }
    }
    assert!(led.values().all(|to| to.len() == 1), "each statement respects the abstraction");
    assert_ne!(views[1], views[2], "and yet");
    assert!(explore(&program, &[4], 10_000).1);
    if solver() {
        let found = find(&program, &reduce(&program), &[None], &Settings::default(), &|| None);
        assert!(found.views.is_err(), "no views prove what is wrong");
    }
}
