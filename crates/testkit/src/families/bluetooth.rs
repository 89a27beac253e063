//! The Windows NT Bluetooth driver, for any number of adders and stoppers.
//!
//! Qadeer and Wu (KISS, PLDI 2004) took the driver for a benchmark, Chaki, Clarke, Kidd, Reps and Touili (TACAS 2006) and
//! Suwimonteerabuth, Esparza and Schwoon (SPIN 2008) repaired it further; CUBA and DrUBA measure themselves by it. The
//! model is written anew after their descriptions. *Adders* do I/O, *stoppers* unload the driver; an adder must not find
//! the driver stopped while it is doing I/O. `pendingIo` counts the adders at work, and one for the driver itself:
//!
//! ```text
//! pendingIo = 1; stoppingFlag = stoppingEvent = stopped = false;
//!
//! PnpAdd:  status = IoIncrement();           PnpStop:  stoppingFlag = true;
//!          if (status) assert !stopped;                IoDecrement();
//!          IoDecrement();                              wait for stoppingEvent;
//!                                                      stopped = true;
//! IoIncrement:                               IoDecrement:
//!          if (stoppingFlag) return false;             if (--pendingIo == 0) stoppingEvent = true;
//!          pendingIo++; return true;
//! ```
//!
//! 1. The original, above. Between the test of the flag and the increment the driver may be stopped: wrong with one adder
//!    and one stopper.
//! 2. `IoIncrement` increments first, then tests the flag, and if it is set decrements again and returns false. Right with
//!    one adder and one stopper, wrong with more: an adder that fails has decremented and `PnpAdd` decrements once more,
//!    in place of another adder that is at work; and two stoppers both give up the one count that the driver has.
//! 3. `PnpAdd` decrements only if the increment succeeded, and only the stopper that finds the flag unset decrements: right
//!    for any number of threads.
//!
//! As in CUBA (section 6) and Chaki et al., the counter is a recursive procedure of a thread of its own: the depth of its
//! stack is the count. Threads ask it over a shared *wire*, on which it answers; results of procedures travel there, too,
//! so that no caller has to guess them. In versions 1 and 2 the count may fall below zero.
//!
//! A flag is set only after those before it in the order `stoppingFlag`, `stoppingEvent`, `stopped`: the count reaches zero
//! only if a stopper decrements, or an adder that has seen the flag. So the flags are a number, the `Phase`.

use super::Family;
use std::fmt::Write;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Running,
    StoppingFlag,
    StoppingEvent,
    Stopped,
}

/// What is on the wire between the threads and the counter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wire {
    Idle,
    Increment,
    Decrement,
    Yes,
    No,
}

use Phase::{Running, Stopped, StoppingEvent, StoppingFlag};
use Wire::{Decrement, Idle, Increment, No, Yes};

const PHASES: [Phase; 4] = [Running, StoppingFlag, StoppingEvent, Stopped];
const WIRES: [Wire; 5] = [Idle, Increment, Decrement, Yes, No];

/// The shared state in which an assertion has failed; nothing moves there.
const FAILED: usize = PHASES.len() * WIRES.len();

fn shared(phase: Phase, wire: Wire) -> usize {
    phase as usize * WIRES.len() + wire as usize
}

/// A symbol of a stack, that is, a place in the program.
type Place = &'static str;

enum Statement {
    /// Calls the first place, to return to the second.
    Call(Place, Place),
    Return,
    /// Goes to the first place if the driver has come so far, else to the second.
    If(Phase, Place, Place),
    /// Goes on when the driver has come so far.
    Wait(Phase, Place),
    /// Goes to the first place and brings the driver so far; to the second if it has come so far already.
    Set(Phase, Place, Place),
    /// Fails if the driver is stopped.
    AssertNotStopped(Place),
    /// Waits until the wire is idle and puts a request on it.
    Ask(Wire, Place),
    /// Takes the answer off the wire: to the first place if it is yes, to the second if it is no.
    Take(Place, Place),
    /// Waits until the wire is idle, puts a result on it and returns.
    ReturnWith(Wire),
    /// The counter: finds a request, answers, and replaces the top of its stack by these symbols.
    Count(Wire, Wire, &'static [Place]),
}

use Statement::{Ask, AssertNotStopped, Call, Count, If, Return, ReturnWith, Set, Take, Wait};

/// The shared state after a statement, and the symbols that replace its place.
fn step(statement: &Statement, phase: Phase, wire: Wire) -> Option<(usize, Vec<Place>)> {
    let same = shared(phase, wire);
    Some(match *statement {
        Call(place, back) => (same, vec![place, back]),
        Return => (same, vec![]),
        If(so_far, then, otherwise) => (same, vec![if phase >= so_far { then } else { otherwise }]),
        Wait(so_far, next) if phase >= so_far => (same, vec![next]),
        Set(so_far, _, already) if phase >= so_far => (same, vec![already]),
        Set(so_far, next, _) => (shared(so_far, wire), vec![next]),
        AssertNotStopped(next) if phase == Stopped => (FAILED, vec![next]),
        AssertNotStopped(next) => (same, vec![next]),
        Ask(request, next) if wire == Idle => (shared(phase, request), vec![next]),
        Take(yes, _) if wire == Yes => (shared(phase, Idle), vec![yes]),
        Take(_, no) if wire == No => (shared(phase, Idle), vec![no]),
        ReturnWith(result) if wire == Idle => (shared(phase, result), vec![]),
        Count(request, answer, symbols) if wire == request => (shared(phase, answer), symbols.to_vec()),
        Wait(..) | Ask(..) | Take(..) | ReturnWith(..) | Count(..) => return None,
    })
}

/// A thread as it is in a `.pds` file: the rules of each statement in every shared state.
fn thread(symbols: &str, program: &[(Place, Statement, &str)]) -> String {
    let mut text = format!("PDA {symbols}\n");
    for (place, statement, source) in program {
        let mut remark = format!(" # {source}");
        for (phase, wire) in PHASES.iter().flat_map(|phase| WIRES.map(|wire| (*phase, wire))) {
            if let Some((next, symbols)) = step(statement, phase, wire) {
                let word = if symbols.is_empty() { "-".to_string() } else { symbols.join(" ") };
                let _ = writeln!(text, "{} {place} -> {next} {word}{remark}", shared(phase, wire));
                remark.clear();
            }
        }
    }
    text
}

fn decrement() -> [(Place, Statement, &'static str); 4] {
    [
        ("11", Ask(Decrement, "12"), "IoDecrement: --pendingIo"),
        ("12", Take("13", "14"), "if it is 0"),
        ("13", Set(StoppingEvent, "14", "14"), "stoppingEvent = true"),
        ("14", Return, "return"),
    ]
}

fn adder(version: u32) -> String {
    let failed = if version < 3 { "3" } else { "4" };
    let mut program = vec![
        ("0", Call("5", "1"), "PnpAdd: status = IoIncrement()"),
        ("1", Take("2", failed), "if status"),
        ("2", AssertNotStopped("3"), "assert !stopped"),
        ("3", Call("11", "4"), "IoDecrement()"),
        ("4", Return, "return"),
    ];
    if version == 1 {
        program.extend([
            ("5", If(StoppingFlag, "9", "6"), "IoIncrement: if stoppingFlag, fail"),
            ("6", Ask(Increment, "7"), "pendingIo++"),
            ("7", Take("10", "10"), "and it is done"),
        ]);
    } else {
        program.extend([
            ("5", Ask(Increment, "6"), "IoIncrement: pendingIo++"),
            ("6", Take("7", "7"), "and it is done"),
            ("7", If(StoppingFlag, "8", "10"), "if stoppingFlag, fail"),
            ("8", Call("11", "9"), "IoDecrement()"),
        ]);
    }
    program.extend([("9", ReturnWith(No), "return false"), ("10", ReturnWith(Yes), "return true")]);
    program.extend(decrement());
    thread("0 14", &program)
}

fn stopper(version: u32) -> String {
    let already = if version < 3 { "16" } else { "17" };
    let mut program = vec![
        ("15", Set(StoppingFlag, "16", already), "PnpStop: stoppingFlag = true"),
        ("16", Call("11", "17"), "IoDecrement()"),
        ("17", Wait(StoppingEvent, "18"), "wait for stoppingEvent"),
        ("18", Set(Stopped, "19", "19"), "stopped = true"),
        ("19", Return, "return"),
    ];
    program.extend(decrement());
    thread("11 19", &program)
}

/// The count is the number of symbols on the stack: a 0 and any number of 1 above it, or, if it is negative, of 2.
fn counter() -> String {
    thread(
        "0 2",
        &[
            ("-", Count(Increment, Yes, &["0"]), "from 0 to 1"),
            ("0", Count(Increment, Yes, &["1", "0"]), "from 1 to 2"),
            ("1", Count(Increment, Yes, &["1", "1"]), "up, from 2 or more"),
            ("2", Count(Increment, Yes, &[]), "up, from below 0"),
            ("1", Count(Decrement, No, &[]), "down, from 2 or more"),
            ("0", Count(Decrement, Yes, &[]), "from 1 to 0: yes, it is 0"),
            ("-", Count(Decrement, No, &["2"]), "from 0 to -1"),
            ("2", Count(Decrement, No, &["2", "2"]), "down, from below 0"),
        ],
    )
}

/// The driver in version 1, 2 or 3; see the [module](self). The threads are the adders, the stoppers and the counter.
/// The specification is that no assertion fails.
pub fn bluetooth(version: u32, adders: usize, stoppers: usize) -> Family {
    assert!((1..=3).contains(&version), "there is no version {version}");
    let (adder, stopper) = (adder(version).repeat(adders), stopper(version).repeat(stoppers));
    let stacks = [vec!["0"; adders], vec!["15"; stoppers], vec!["0"]].concat();
    Family {
        pds: format!("{}\n{adder}{stopper}{}", FAILED + 1, counter()),
        init: format!("{}|{}\n", shared(Running, Idle), stacks.join(",")),
        spec: Some(format!("{FAILED}|{}\n", vec!["*"; stacks.len()].join(","))),
    }
}
