//! Random programs: the encoding and its reduction against the reference semantics, every engine against both, every
//! trace walked by the program's own semantics, and every program written and read again.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs of each kind.

use allways_engines::Budget;
use allways_engines::below::shortest::cost;
use allways_engines::{Effort, Engine, Question, shortest};
use allways_evidence::{Rejection, Trace, Verdict, interpret};
use allways_lang::{aw, bp, write};
use allways_model::encoding::{Encoded, Threads};
use allways_model::program::Program;
use allways_model::pushdown::Pushdown;
use allways_testkit::conformance::{self, engines};
use allways_testkit::conformance::{accepted, read, written as text_of};
use allways_testkit::programs::{
    Explored, Limits, Mode, boolean, cheapest, encodings_agree, explore, spelled, text,
};
use allways_testkit::random;
use std::time::Duration;

/// How far the reference goes.
const LIMITS: Limits = Limits { states: 3000, threads: 10, depth: 4 };

/// How far it goes in a program that was written by the tool, which takes more steps and starts more threads.
const LIMITS_WRITTEN: Limits = Limits { states: 30_000, threads: 14, depth: 4 };

/// How many threads, and how many tasks, of each template can be started later.
const POOL: (usize, usize) = (2, 3);

/// What became of random programs.
#[derive(Default, Debug)]
struct Tally {
    programs: usize,
    /// The front end does not accept it.
    refused: usize,
    /// More states than the reference explores.
    large: usize,
    /// More threads are started than there is room for.
    crowded: usize,
    /// Stacks are deeper than the reference goes.
    cut: usize,
    violation: usize,
    deadlock: usize,
    /// Answers of engines, of which how many decide.
    asked: usize,
    decided: usize,
    /// Programs written in a notation; of these, how many have too many states, and how many encodings were compared.
    written: usize,
    large_written: usize,
    compared: usize,
    /// Programs that were spelt without what can be written otherwise.
    spelled: usize,
}

fn run(mode: Mode, default: u64) {
    let seeds = random::seeds(default);
    let mut tally = Tally::default();
    for seed in seeds.clone() {
        let text = text(seed, mode);
        let name = format!("{mode:?} {seed}\n{text}");
        let program = parsed(&name, &text);
        if seed % 4 == 0 {
            laid_out(&name, &text, &program);
        }
        tested(&name, &program, Some(mode), seed, &mut tally);
        tally.spelled += usize::from(mode == Mode::Short && spelled_agrees(&name, &text, &program));
    }
    println!("{mode:?}: {tally:?}");
    let skipped = tally.large + tally.crowded;
    assert!(seeds.count() < 100 || 5 * skipped < tally.programs, "too many are skipped");
}

/// Whether a program can be spelt without what can be written otherwise. Then its states are the same, and so is what goes wrong.
fn spelled_agrees(name: &str, text: &str, program: &Program) -> bool {
    let long = spelled(text);
    if long == *text {
        return false;
    }
    let name = format!("{name}\nspelt\n{long}");
    let other = parsed(&name, &long);
    let counts = threads(program).running;
    let (one, other) = (explore(program, &counts, LIMITS), explore(&other, &counts, LIMITS));
    assert!(one == other, "{name}\nthey differ");
    one.is_some()
}

/// Puts a program through everything; what takes long, through each in turn.
fn tested(name: &str, program: &Program, mode: Option<Mode>, seed: u64, tally: &mut Tally) {
    let Some(explored) = check(name, program, tally) else { return };
    tally.cut += usize::from(explored.cut);
    tally.violation += usize::from(explored.violation);
    tally.deadlock += usize::from(explored.deadlock);
    match seed % 4 {
        1 => ask_engines(name, program, &explored, tally),
        2 if explored.states.len() <= 1000 => written(name, program, &explored, mode, tally),
        _ => {}
    }
}

#[test]
fn random_threads() {
    run(Mode::Threads, 400);
}

#[test]
fn random_threads_with_what_stands_for_something_else() {
    run(Mode::Short, 300);
}

#[test]
fn random_boolean_programs() {
    run(Mode::Boolean, 200);
}

#[test]
fn random_asynchronous_programs() {
    run(Mode::Tasks, 200);
}

#[test]
fn random_boolean_texts() {
    let mut tally = Tally::default();
    for seed in random::seeds(200) {
        let text = boolean(seed);
        let name = format!("boolean {seed}\n{text}");
        let parsed = bp::parse(text.as_bytes());
        let Some(program) = parsed.program else {
            // A jump may lead from an atomic section to what has no place in one.
            assert!(
                format!("{:?}", parsed.diagnostics).contains("the end of the atomic section"),
                "{name}\n{:?}",
                parsed.diagnostics
            );
            tally.refused += 1;
            continue;
        };
        tested(&name, &program, None, seed, &mut tally);
    }
    println!("boolean: {tally:?}");
}

/// Programs on which two sides once disagreed: whether they can go wrong, and whether they can come to a deadlock.
#[test]
fn disagreements_of_the_past() {
    for (text, violation, deadlock) in [
        // Who broadcasts and then waits for the same event is not woken by itself.
        ("event e; thread a { broadcast e; wait e; error; } thread b { wait e; }", false, true),
        // Who waits twice is woken once by each broadcast.
        ("event e; thread a { broadcast e; } thread b { wait e; wait e; error; }", false, true),
        ("event e; thread a { broadcast e; broadcast e; } thread b[2] { loop { wait e; } }", false, true),
        ("event e; thread a { broadcast e; broadcast e; } thread b { wait e; wait e; error; }", true, false),
        // A lock is not released by a task that sits where its holder sat before it ended.
        (
            "lock m; main { post t(true); yield; post t(false); }
             task t(bool first) { if (first) { acquire(m); } else { release(m); } }",
            true,
            false,
        ),
        // A trace in which no thread is started is not one in which a thread is started and forgotten.
        (
            "shared bool g; thread a { choose { spawn s; } or { skip; } } thread b { await g; }
             thread s[0] { g = true; }",
            false,
            true,
        ),
    ] {
        pinned(text, &parsed(text, text), (violation, deadlock));
    }
    // Nobody takes the results of a thread that was started inside a procedure, and nobody waits for that.
    let text = "bool f() begin start_thread goto l; return 1; l: skip; return 0; end
                void main() begin decl x; x := f(); end";
    pinned(text, &bp::parse(text.as_bytes()).program.expect("a program"), (false, false));
}

fn pinned(name: &str, program: &Program, expected: (bool, bool)) {
    let mut tally = Tally::default();
    let found = check(name, program, &mut tally).expect("it is small");
    assert_eq!((found.violation, found.deadlock), expected, "{name}");
    ask_engines(name, program, &found, &mut tally);
}

/// The threads of a program. That there might be more of some is not what is tested here.
fn threads(program: &Program) -> Threads {
    let tasks = program.templates.iter().any(|template| template.vanishes);
    Threads { cut: None, ..Threads::of(program, if tasks { POOL.1 } else { POOL.0 }) }
}

fn parsed(name: &str, text: &str) -> Program {
    let parsed = aw::parse(text.as_bytes());
    parsed.program.unwrap_or_else(|| panic!("{name}\n{:?}", parsed.diagnostics))
}

/// Compares the encodings of a program with the reference. Gives what can be reached, unless that is too much.
fn check(name: &str, program: &Program, tally: &mut Tally) -> Option<Explored> {
    let threads = threads(program);
    tally.programs += 1;
    let Some(explored) = explore(program, &threads.running, LIMITS) else {
        tally.large += 1;
        return None;
    };
    if !encodings_agree(name, program, &threads, &explored) {
        tally.crowded += 1;
        return None;
    }
    Some(explored)
}

/// Every engine says the same, and its evidence is accepted; traces also by the program's own semantics.
fn ask_engines(name: &str, program: &Program, explored: &Explored, tally: &mut Tally) {
    let threads = threads(program);
    let encoded = || Encoded::new(program, &threads, true).expect("it had an encoding before");
    for deadlock in [false, true] {
        let bad = explored.violation || deadlock && explored.deadlock;
        for engine in engines() {
            let name = format!("{name}\n{}, deadlock {deadlock}", engine.info().name);
            let system = encoded();
            let verdict = answer(&name, *engine, &system, &encoded(), deadlock);
            tally.asked += 1;
            tally.decided += usize::from(!matches!(verdict, Verdict::Unknown(_)));
            match &verdict {
                Verdict::Safe(_) => assert!(!bad, "{name}: safe"),
                Verdict::Unsafe(counterexample) => {
                    let trace = counterexample.trace().expect("a trace");
                    assert!(bad || explored.cut, "{name}: unsafe");
                    interpret(&system, trace).unwrap_or_else(|rejection| panic!("{name}: {rejection}"));
                    if engine.info().name == "auto" && !explored.cut && explored.states.len() <= 500 {
                        shown(&name, &system, trace, &threads.running, deadlock);
                    }
                }
                Verdict::Unknown(why) => {
                    let decides =
                        engine.info().name == "auto" && !explored.cut && system.incomplete().is_none();
                    assert!(!decides, "{name}: {why}");
                }
            }
        }
    }
}

/// What is shown to users is the cheapest run of the program.
fn shown(name: &str, system: &Encoded, trace: &Trace, counts: &[usize], deadlock: bool) {
    let found = shortest(system, &system.property(deadlock), trace, Effort::default(), &Budget::unlimited());
    let run = interpret(system, &found.trace).unwrap_or_else(|rejection| panic!("{name}: {rejection}"));
    let movers: Vec<usize> = run.steps.iter().map(|step| step.thread).collect();
    let contexts = movers.chunk_by(|one, next| one == next).count();
    let cheapest = cheapest(system.program(), counts, deadlock);
    assert_eq!(Some((contexts, movers.len())), cheapest, "{name}: {run:?}");
    assert!(found.minimal || system.incomplete().is_some(), "{name}");
    // Part by part, since to search all runs takes too many states.
    let few = Effort { arrivals: 10, ..Effort::default() };
    let parts = shortest(system, &system.property(deadlock), trace, few, &Budget::unlimited());
    assert_eq!(allways_evidence::replay(system, &system.property(deadlock), &parts.trace), Ok(()), "{name}");
    interpret(system, &parts.trace).unwrap_or_else(|rejection| panic!("{name}: {rejection}"));
    let (known, least) = (cost(system, trace), cost(system, &found.trace));
    assert!((least..=known).contains(&cost(system, &parts.trace)), "{name}: {parts:?}");
    assert!(!parts.minimal || cost(system, &parts.trace) == least, "{name}: {parts:?}");
}

/// What an engine says, as far as its evidence is accepted: when it is found, and when it was written and is read by
/// somebody who has seen nothing else of the program.
fn answer(name: &str, engine: &dyn Engine, system: &Encoded, reader: &Encoded, deadlock: bool) -> Verdict {
    let question = Question {
        property: system.property(deadlock),
        max_states: Some(20_000),
        max_depth: Some(12),
        rounds: Some(8),
        delays: Some(4),
        contexts: Some(6),
        ..Question::default()
    };
    // Some methods do not end on some programs; what users get by default ends on all finite ones.
    let limit = Duration::from_millis(if engine.info().name == "auto" { 20_000 } else { 100 });
    let budget = Budget::of_time(limit);
    let verdict = conformance::run(engine, system, &question, &budget).verdict;
    let Some(evidence) = verdict.evidence() else { return verdict };
    match accepted(system, &question.property, evidence) {
        Ok(()) => {}
        // A bound from above may start more threads than there are.
        Err(Rejection::Stopped(why)) => return Verdict::Unknown(why),
        Err(rejection) => panic!("{name}: {rejection}"),
    }
    let text = text_of(system, evidence);
    let read = read(reader, &text).unwrap_or_else(|bad| panic!("{name}: {bad:?}"));
    accepted(reader, &reader.property(deadlock), &read)
        .unwrap_or_else(|rejection| panic!("{name}: read: {rejection}"));
    verdict
}

/// A text that is laid out anew is the same program, and laying it out again changes nothing.
fn laid_out(name: &str, text: &str, program: &Program) {
    let format = |text: &str| aw::format(text.as_bytes()).unwrap_or_else(|why| panic!("{name}\n{why:?}"));
    let anew = format(text);
    assert_eq!(format(&anew), anew, "{name}");
    assert_eq!(without_places(&parsed(&anew, &anew)), without_places(program), "{name}\n{anew}");
}

/// A program as text, without the places in the source.
fn without_places(program: &Program) -> String {
    let text = format!("{program:?}");
    let mut pieces = text.split("Span {");
    let first = pieces.next().unwrap_or_default().to_string();
    let rest = pieces.map(|piece| piece.split_once('}').map_or("", |(_, rest)| rest));
    let text = first + &rest.collect::<String>();
    // The name of a variable that hides another ends with its place.
    let digits = |c: char| c.is_ascii_digit() || c == ':';
    let mut pieces = text.split('@');
    let first = pieces.next().unwrap_or_default().to_string();
    first + &pieces.map(|piece| piece.trim_start_matches(digits)).collect::<String>()
}

/// A program that is written in a notation and read has the same verdicts, and its encodings agree with the reference.
/// Of programs in `.bp`, some cannot be written; of programs in `.aw`, `mode` tells which.
fn written(name: &str, program: &Program, explored: &Explored, mode: Option<Mode>, tally: &mut Tally) {
    for (notation, text) in [("aw", write::aw(program)), ("bp", write::bp(program))] {
        let text = match (mode, notation, text) {
            (_, _, Ok(text)) => text,
            (None | Some(Mode::Tasks), _, Err(_)) | (Some(Mode::Threads | Mode::Short), "bp", Err(_)) => {
                continue;
            }
            // `cas` is an assignment with a constraint: of an element, or in a procedure that `atomic` calls, it cannot be written.
            (Some(Mode::Short), _, Err(_)) => continue,
            // In a Boolean program every jump is a step, during which a broadcast would be missed.
            (_, "bp", Err(refusal)) if refusal.reason.contains("waits again and again") => continue,
            (_, _, Err(refusal)) => panic!("{name}\n{refusal:?}"),
        };
        let name = format!("{name}\nwritten as {notation}:\n{text}");
        let (program, diagnostics) = match notation {
            "aw" => (aw::parse(text.as_bytes()).program, aw::parse(text.as_bytes()).diagnostics),
            _ => (bp::parse(text.as_bytes()).program, bp::parse(text.as_bytes()).diagnostics),
        };
        let program = program.unwrap_or_else(|| panic!("{name}\n{diagnostics:?}"));
        let counts = threads(&program).running;
        tally.written += 1;
        let Some(again) = explore(&program, &counts, LIMITS_WRITTEN) else {
            tally.large_written += 1;
            continue;
        };
        assert_eq!(again.violation, explored.violation, "{name}\nviolation");
        // What comes after a violation is not explored, and a `never` that became a thread may look away.
        let stuck = |explored: &Explored| explored.violation || explored.deadlock;
        assert_eq!(stuck(&again), stuck(explored), "{name}\ndeadlock");
        // The order in which threads are taken from the pool multiplies the states of the encoding.
        let most = again.states.iter().map(|state| state.threads.len()).max().unwrap_or(0);
        let started = most.saturating_sub(counts.iter().sum());
        if started <= 3 {
            let threads = Threads { pool: Threads::of(&program, started).pool, ..threads(&program) };
            tally.compared += usize::from(encodings_agree(&name, &program, &threads, &again));
        }
    }
}
