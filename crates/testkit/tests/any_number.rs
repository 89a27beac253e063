//! Proofs for any number of threads, on random programs: the reference semantics, run with few threads, must not contradict
//! them.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs of each kind.

use allways_engines::Budget;
use allways_engines::Question;
use allways_engines::above::thread_modular::bound;
use allways_engines::forms::{PushdownForm, System, count_threads};
use allways_engines::meet::coverability::Covered;
use allways_engines::meet::coverability::lift::lift;
use allways_engines::meet::coverability::unfold::{COVERABLE, unfold};
use allways_evidence::counted::counters_of;
use allways_evidence::counters::{Basis, Limit};
use allways_evidence::replay::replay;
use allways_evidence::{Certificate, Counted, Rejection, StopReason, Verdict};
use allways_lang::{aw, bp, spec, tts};
use allways_model::counters::Counters;
use allways_model::encoding::{Encoded, Threads};
use allways_model::program::reduction::reduce;
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{Count, Expr, Op, Program, Target};
use allways_model::property::Property;
use allways_testkit::conformance::{self, engines};
use allways_testkit::conformance::{accepted, read, written as text_of};
use allways_testkit::counters::{Method, cover, cover_counted, decide};
use allways_testkit::families::variables;
use allways_testkit::programs::{Limits, Mode, boolean, crowd, explore, held, text};
use allways_testkit::random;
use std::collections::HashSet;
use std::time::Duration;

/// The most threads that the reference follows, and the most states.
const FEW: usize = 5;
const STATES: usize = 1500;

/// Whether something goes wrong, and whether there is a deadlock, in the states that are looked at.
fn found(program: &Program, counts: &[usize]) -> (bool, bool) {
    let mut todo = State::initial(program, counts).unwrap_or_default();
    todo.truncate(STATES);
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    let (mut wrong, mut deadlock) = (false, false);
    while let Some(state) = todo.pop() {
        if state.violated(program).is_some() {
            wrong = true;
            continue;
        }
        deadlock |= state.deadlocked(program);
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                match step.outcome {
                    Outcome::Wrong(_) => wrong = true,
                    Outcome::To(next) => {
                        let shallow = next.threads.iter().all(|thread| thread.stack.len() <= 4);
                        let few = next.threads.len() <= FEW && seen.len() < STATES;
                        if few && shallow && seen.insert(next.clone()) {
                            todo.push(next);
                        }
                    }
                    Outcome::Beyond(_) => {}
                }
            }
        }
    }
    (wrong, deadlock)
}

#[derive(Default, Debug)]
struct Tally {
    programs: usize,
    /// Counters alone do not tell what happens.
    refused: usize,
    proved: usize,
    proved_free_of_deadlocks: usize,
    /// The reference finds a violation, so nothing may be proved.
    wrong: usize,
    /// What counting threads says.
    counted_safe: usize,
    counted_unsafe: usize,
    lifted: usize,
    /// Of those that counting decides, how many have such statements.
    creating: usize,
    atomic: usize,
    giving: usize,
    constraining: usize,
    /// In how many some thread may be woken, and how often the methods decide.
    waking: usize,
    backward: usize,
    karp_miller: usize,
    /// How often the tree that asks for rules on the way proves it.
    unfolded: usize,
}

impl Tally {
    /// Notes what is in a program that counting decides.
    fn decided(&mut self, program: &Program) {
        let has = |what: fn(&Op) -> bool| {
            let edges = program.locations.iter().flat_map(|location| &location.edges);
            usize::from(edges.map(|edge| &edge.op).any(what))
        };
        self.creating += has(|op| matches!(op, Op::Spawn(..) | Op::Fork(_)));
        self.atomic += has(|op| matches!(op, Op::AtomicBegin));
        self.giving += has(|op| {
            matches!(op, Op::Assign(places, ..)
                if places.iter().any(|place| matches!(place.target, Target::Others(_))))
        });
        self.constraining +=
            has(|op| matches!(op, Op::Assign(_, _, Some(constraint)) if constraint.is_about_others()));
    }
}

/// Lets every template have any number of threads, where it can.
fn opened(mut program: Program, seed: u64) -> Program {
    for (index, template) in program.templates.iter_mut().enumerate() {
        if !template.uses_self
            && !template.vanishes
            && (seed >> index) & 1 == 0
            && template.count != Count::Fixed(0)
        {
            template.count = Count::Any;
        }
    }
    program
}

fn tested(name: &str, program: &Program, tally: &mut Tally) {
    let open = |count: usize| -> Vec<usize> {
        let count = |declared: &Count| match declared {
            Count::Any => count,
            Count::Fixed(fixed) => *fixed,
        };
        program.templates.iter().map(|template| count(&template.count)).collect()
    };
    tally.programs += 1;
    let system = match Encoded::new(program, &Threads::many(program), tally.programs.is_multiple_of(2)) {
        Ok(system) => system,
        Err(_) => {
            tally.refused += 1;
            return;
        }
    };
    let (mut wrong, mut stuck) = (false, false);
    for count in 0..=FEW {
        let (one, other) = found(program, &open(count));
        (wrong, stuck) = (wrong | one, stuck | other);
    }
    tally.wrong += usize::from(wrong);
    counted(name, program, &system, wrong, tally);
    for deadlock in [false, true] {
        let property = system.property(deadlock);
        let question = Question { property, max_states: Some(20_000), ..Question::default() };
        for engine in engines().iter().filter(|engine| engine.info().name.starts_with("modular")) {
            let budget = Budget::of_time(Duration::from_millis(200));
            let verdict = conformance::run(*engine, &system, &question, &budget).verdict;
            let Verdict::Safe(proof) = verdict else { continue };
            match accepted(&system, &question.property, &proof) {
                Ok(()) => {}
                Err(Rejection::Stopped(_)) => continue,
                Err(rejection) => panic!("{name}\n{}: {rejection}", engine.info().name),
            }
            assert!(!wrong, "{name}\n{} claims a proof, but it goes wrong", engine.info().name);
            assert!(!(deadlock && stuck), "{name}\n{} claims a proof, but it is stuck", engine.info().name);
            let Certificate::Products(products) = &proof else { panic!("products") };
            assert_eq!(products.any_number(), Threads::many(program).many.contains(&true), "{name}");
            if engine.info().name == "modular-quadratic" {
                *(if deadlock { &mut tally.proved_free_of_deadlocks } else { &mut tally.proved }) += 1;
                reads_back(name, &system, &question.property, &proof);
            }
        }
    }
}

/// What is written is accepted when it is read, and is written again as it was.
fn reads_back(name: &str, system: &Encoded, property: &Property, certificate: &Certificate) {
    let text = text_of(system, certificate);
    let again = read(system, &text).unwrap_or_else(|bad| panic!("{name}: {bad}"));
    assert_eq!(accepted(system, property, &again), Ok(()), "{name}");
    assert_eq!(text_of(system, &again), text, "{name}");
}

/// Threads that are alike are counted: what that proves is right, and what it refutes goes wrong with the threads it names.
fn counted(name: &str, program: &Program, system: &Encoded, wrong: bool, tally: &mut Tally) {
    let question = Question { property: system.property(false), ..Question::default() };
    let budget = Budget::of_time(Duration::from_millis(500));
    let form = PushdownForm { system: System::Borrowed(system), question: question.clone(), inputs: None };
    let form = count_threads(&form, &budget);
    let covered = match &form {
        Ok(form) => cover_counted(system, form, &budget),
        Err(reason) => Covered::Unknown(reason.clone()),
    };
    methods_agree(name, system, &question, &covered, tally);
    unfolded(name, system, &question.property, (&covered, wrong), tally);
    if !matches!(covered, Covered::Unknown(_)) {
        tally.decided(program);
    }
    match covered {
        Covered::Safe(counted) => {
            let proof = Certificate::Counted(counted);
            match accepted(system, &question.property, &proof) {
                Ok(()) => {}
                Err(Rejection::Stopped(_)) => return,
                Err(rejection) => panic!("{name}\ncounted: {rejection}"),
            }
            assert!(!wrong, "{name}\ncounting claims a proof, but it goes wrong");
            tally.counted_safe += 1;
            reads_back(name, system, &question.property, &proof);
        }
        Covered::Unsafe(counted) => {
            let counts = &counted.counts;
            tally.counted_unsafe += 1;
            if counts.iter().sum::<u64>() > 8
                || program.never.iter().any(|never| speaks_of_places(&never.expr))
            {
                // A counter at its cap is not exact, and the run may be one that does not exist.
                return;
            }
            let mut threads = Threads::of(program, 0);
            for (role, &count) in system.roles().iter().zip(counts).filter(|(role, _)| role.many) {
                let numbers = if role.pooled { &mut threads.pool } else { &mut threads.running };
                numbers[role.template.index()] = count as usize;
            }
            // It may go wrong without any thread, which has no encoding.
            let reduced = tally.programs.is_multiple_of(2);
            let Ok(exact) = Encoded::new(program, &threads, reduced) else { return };
            let free = engines().iter().find(|engine| engine.info().name == "free").expect("an engine");
            let question = Question { property: exact.property(false), ..Question::default() };
            let verdict = conformance::run(*free, &exact, &question, &budget).verdict;
            let missed = matches!(verdict, Verdict::Safe(_));
            assert!(!missed, "{name}\ncounting claims a violation with {counts:?} threads");
            let Ok(form) = form else { return };
            match lift(&counted.run, &form, (system, &exact), &budget) {
                Ok(Some(trace)) => {
                    let replayed = replay(&exact, &question.property, &trace);
                    assert_eq!(replayed, Ok(()), "{name}\nthe run that was counted is no trace");
                    tally.lifted += 1;
                }
                Ok(None) => panic!("{name}\nthe run that was counted cannot be lifted"),
                Err(_) => {}
            }
        }
        Covered::Unknown(_) => {}
    }
}

/// The tree that asks for rules on the way: what it proves is right, it agrees with counting threads within products, and its
/// limits are the least ones: nothing less is accepted.
fn unfolded(
    name: &str,
    system: &Encoded,
    property: &Property,
    (covered, wrong): (&Covered, bool),
    tally: &mut Tally,
) {
    let counted = match unfold(system, property, &Budget::of_time(Duration::from_millis(500))).verdict {
        Verdict::Safe(Certificate::Counted(counted)) => counted,
        Verdict::Unknown(StopReason::GaveUp(why)) if why == COVERABLE => {
            assert!(!matches!(covered, Covered::Safe(_)), "{name}\nunfolding covers what cannot be covered");
            return;
        }
        verdict => return assert!(matches!(verdict, Verdict::Unknown(_)), "{name}\n{verdict:?}"),
    };
    assert!(!wrong, "{name}\nunfolding claims a proof, but it goes wrong");
    assert!(!matches!(covered, Covered::Unsafe(_)), "{name}\nunfolding covers less than counting");
    let check =
        |counted: &Counted| accepted(system, property, &Certificate::Counted(Box::new(counted.clone())));
    assert_eq!(check(&counted), Ok(()), "{name}");
    reads_back(name, system, property, &Certificate::Counted(counted.clone()));
    tally.unfolded += 1;
    let limits = counted.basis.bound.as_ref().expect("limits");
    let with = |limits: Vec<Limit>| Counted {
        basis: Basis { bound: Some(limits), ..counted.basis.clone() },
        ..(*counted).clone()
    };
    for index in 0..limits.len().min(8) {
        let mut fewer = limits.clone();
        fewer.remove(index);
        assert!(check(&with(fewer)).is_err(), "{name}\na limit is missing, and nobody notices");
        let any = limits[index].tokens.iter().position(|(_, most)| most.is_none());
        if let Some(place) = any {
            let mut smaller = limits.clone();
            smaller[index].tokens[place].1 = Some(3);
            assert!(check(&with(smaller)).is_err(), "{name}\na limit is too small, and nobody notices");
        }
    }
    let mut fewer = (*counted).clone();
    if let Some(facts) = fewer.products.products[0].rest.iter_mut().find(|facts| !facts.is_empty()) {
        facts.pop();
        assert!(check(&fewer).is_err(), "{name}\na thread state is missing, and nobody notices");
    }
}

/// A counter system that is written and read again has the same verdict.
fn written(name: &str, counters: &Counters) {
    let verdict = |system: &Counters| {
        let budget = Budget::of_time(Duration::from_millis(500));
        match decide(system, Method::Backward, &budget).verdict {
            Verdict::Safe(_) => Some(true),
            Verdict::Unsafe(_) => Some(false),
            Verdict::Unknown(_) => None,
        }
    };
    let Some(expected) = verdict(counters) else { return };
    if let Ok(text) = spec::write(counters) {
        let system = spec::parse(text.as_bytes()).system.unwrap_or_else(|| panic!("{name}\n{text}"));
        assert!(verdict(&system).is_none_or(|safe| safe == expected), "{name}\n{text}");
    }
    if let Ok(written) = tts::write(counters) {
        let parsed = tts::parse(written.tts.as_bytes()).system;
        let mut system = parsed.unwrap_or_else(|| panic!("{name}\n{}", written.tts));
        system.read_init(written.init.as_bytes()).expect("as written");
        system.read_targets(written.prop.as_bytes()).expect("as written");
        assert!(verdict(&system.system).is_none_or(|safe| safe == expected), "{name}\n{}", written.tts);
    }
}

/// The methods for counter systems, each alone, on what threads are counted by.
fn methods_agree(name: &str, system: &Encoded, question: &Question, covered: &Covered, tally: &mut Tally) {
    let budget = Budget::of_time(Duration::from_millis(500));
    let Some(products) = bound(system, question, &budget) else { return };
    let Ok(counting) = counters_of(system, &question.property, &products, &|| None) else { return };
    tally.waking += usize::from(!counting.counters.is_plain());
    if tally.programs.is_multiple_of(8) && !counting.counters.targets.is_empty() {
        written(name, &counting.counters);
    }
    for method in [Method::Backward, Method::KarpMiller] {
        let safe = match decide(&counting.counters, method, &budget).verdict {
            Verdict::Safe(_) => true,
            Verdict::Unsafe(_) => false,
            Verdict::Unknown(_) => continue,
        };
        match method {
            Method::Backward => tally.backward += 1,
            _ => tally.karp_miller += 1,
        }
        let contradicts = match covered {
            Covered::Safe(_) => !safe,
            Covered::Unsafe(..) => safe,
            Covered::Unknown(_) => false,
        };
        assert!(!contradicts, "{name}\n{method:?} contradicts {covered:?}");
    }
}

fn speaks_of_places(expr: &Expr) -> bool {
    let mut speaks = false;
    expr.visit(&mut |part| speaks |= matches!(part, Expr::At(_)));
    speaks
}

fn run(mode: Mode, default: u64) {
    let mut tally = Tally::default();
    for seed in random::seeds(default) {
        let text = text(5_000_000 + seed, mode);
        let program = aw::parse(text.as_bytes()).program.expect("a program");
        tested(&format!("{mode:?} {seed}\n{text}"), &opened(program, seed), &mut tally);
    }
    println!("{mode:?}: {tally:?}");
}

#[test]
fn threads() {
    run(Mode::Threads, 100);
}

#[test]
fn boolean_programs() {
    run(Mode::Boolean, 100);
}

#[test]
fn tasks() {
    run(Mode::Tasks, 60);
}

#[test]
fn boolean_texts() {
    let mut tally = Tally::default();
    for seed in random::seeds(100) {
        let text = boolean(5_000_000 + seed);
        let Some(program) = bp::parse(text.as_bytes()).program else { continue };
        tested(&format!("boolean {seed}\n{text}"), &program, &mut tally);
    }
    println!("boolean: {tally:?}");
}

/// Programs in which threads write variables of each other.
#[test]
fn broadcast_assignments() {
    let mut tally = Tally::default();
    for seed in random::seeds(1000) {
        let text = boolean(7_000_000 + seed);
        let Some(program) = bp::parse(text.as_bytes()).program.filter(|_| text.contains('$')) else {
            continue;
        };
        tested(&format!("assignments {seed}\n{text}"), &program, &mut tally);
    }
    println!("broadcast assignments: {tally:?}");
    let least = random::seeds(1000).count() / 50;
    assert!(tally.giving > least && tally.constraining > least / 2, "{tally:?}");
    assert!(tally.counted_safe > least && tally.counted_unsafe > least / 2, "{tally:?}");
}

/// Programs with variables that hold threads. Where the number of threads is known, these say the same as numbers: the
/// states are the same, one by one.
#[test]
fn variables_that_hold_threads() {
    let mut tally = Tally::default();
    let (mut compared, mut broken) = (0, 0);
    for seed in random::seeds(1000) {
        let (text, _) = held(seed, 1);
        let program = parsed(&text);
        let anew = aw::format(text.as_bytes()).expect("a program without errors");
        assert_eq!(aw::format(anew.as_bytes()).expect("the same"), anew);
        for count in 1..=3 {
            let (_, numbered) = held(seed, count);
            let limits = Limits { states: 10_000, threads: 4, depth: 1 };
            let explored = |program: &Program, counts: &[usize]| explore(program, counts, limits);
            let mut counts = vec![count];
            counts.resize(program.templates.len(), 1);
            let (held, numbers) = (explored(&program, &counts), explored(&parsed(&numbered), &counts));
            let (Some(held), Some(numbers)) = (held, numbers) else { continue };
            let name = format!("seed {seed}, {count} threads\n{text}");
            assert_eq!((held.violation, held.deadlock), (numbers.violation, numbers.deadlock), "{name}");
            let states: HashSet<State> =
                held.states.iter().map(|state| with_numbers(&program, state)).collect();
            assert_eq!(states, numbers.states, "{name}");
            if seed % 4 == 0 {
                let again = explored(&parsed(&anew), &counts).expect("as many states");
                assert_eq!(again.states, held.states, "{name}\nlaid out anew\n{anew}");
            }
            compared += 1;
            broken += usize::from(held.violation);
        }
        tested(&format!("held {seed}\n{text}"), &program, &mut tally);
    }
    println!("variables that hold threads: {compared} compared, {broken} go wrong, {tally:?}");
    let least = random::seeds(1000).count() / 50;
    assert!(compared > 10 * least && broken > least && tally.giving > least, "{tally:?}");
    assert!(
        tally.counted_safe > least && tally.counted_unsafe > least / 2 && tally.refused < least,
        "{tally:?}"
    );
}

fn parsed(text: &str) -> Program {
    let parsed = aw::parse(text.as_bytes());
    parsed.program.unwrap_or_else(|| panic!("{text}\n{:?}", parsed.diagnostics))
}

/// A state in which the variables `v` and `w`, the first two, hold numbers: 0, or one more than that of the thread.
fn with_numbers(program: &Program, state: &State) -> State {
    let mut state = state.clone();
    for bit in (0..2).rev() {
        let holds = state.shared[bit] != 0;
        let mut holder = 0;
        for thread in &mut state.threads {
            if program.templates[thread.template].name == "p" {
                let frame = &mut thread.stack[0];
                holder += if frame.locals.remove(bit) != 0 { thread.this + 1 } else { 0 };
            }
        }
        state.shared[bit] = if holds { holder } else { 0 };
    }
    state
}

#[test]
fn broadcast_programs() {
    let mut tally = Tally::default();
    for seed in random::seeds(300) {
        let text = crowd(seed);
        let parsed = bp::parse(text.as_bytes());
        let program = parsed.program.unwrap_or_else(|| panic!("{text}"));
        let program = if seed % 3 == 0 { opened(program, 0) } else { program };
        tested(&format!("crowd {seed}\n{text}"), &program, &mut tally);
    }
    println!("broadcast: {tally:?}");
}

/// The family of the benchmark is what it claims to be: no variable is left out, and what is reached stays the same.
#[test]
fn variables_cost_what_is_reached() {
    let proved = |count: usize, wrong: bool| {
        let program = aw::parse(variables(count, wrong).as_bytes()).program.expect("a program");
        assert_eq!(reduce(&program).shared, vec![true; count + 1]);
        let system = Encoded::new(&program, &Threads::many(&program), true).expect("an encoding");
        let question = Question { property: system.property(false), ..Question::default() };
        cover(&system, &question, &Budget::unlimited())
    };
    let states = |count: usize| match proved(count, false) {
        Covered::Safe(counted) => counted.products.facts(),
        other => panic!("{count}: {other:?}"),
    };
    let few = states(2);
    [5, 20, 40].into_iter().for_each(|count| assert_eq!(states(count), few, "{count}"));
    assert!(matches!(proved(20, true), Covered::Unsafe(counted) if counted.counts == [2]));
}

/// Counters multiply initial states, and each of these has all threads: that is refused before it takes all memory.
#[test]
fn counters_beside_very_many_threads_are_refused() {
    let text = |threads: usize| {
        format!(
            "shared bool x; thread p[*] {{ a: skip; }} thread g[{threads}] {{ skip; }} never at(a) >= 1000 && x;"
        )
    };
    let encoded = |threads| {
        let program = aw::parse(text(threads).as_bytes()).program.expect("a program");
        Encoded::new(&program, &Threads::many(&program), true).map(drop)
    };
    assert_eq!(encoded(10), Ok(()));
    assert!(encoded(60_000).is_err());
}
