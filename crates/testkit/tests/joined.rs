//! Systems in which threads stop only where others can tell: the same verdicts as by brute force, traces that the program
//! walks, and a checker that lets nobody pass who changes a verdict.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs of each kind.

use allways_engines::{Budget, Question};
use allways_evidence::{Certificate, Rejection, Verdict, check_passed, interpret};
use allways_lang::aw;
use allways_model::encoding::{Encoded, Mode as KeyMode, Threads};
use allways_model::program::reduction::reduce;
use allways_model::program::{LocationId, Op, Program};
use allways_model::property::deadlocked;
use allways_model::pushdown::Pushdown;
use allways_testkit::conformance::{self, accepted};
use allways_testkit::programs::{Explored, Limits, Mode, explore, text};
use allways_testkit::{random, reference};
use std::sync::Arc;
use std::time::Duration;

const LIMITS: Limits = Limits { states: 3000, threads: 10, depth: 4 };

fn parsed(text: &str) -> Program {
    aw::parse(text.as_bytes()).program.unwrap_or_else(|| panic!("{text}"))
}

fn threads(program: &Program) -> Threads {
    let tasks = program.templates.iter().any(|template| template.vanishes);
    Threads { cut: None, ..Threads::of(program, if tasks { 3 } else { 2 }) }
}

fn joined(program: &Program) -> Encoded {
    let encoded = Encoded::joined(Arc::new(program.clone()), Arc::new(reduce(program)), &threads(program));
    encoded.expect("an encoding")
}

/// What can be reached of a program by its own semantics, unless that is much, or stacks are cut.
fn explored(program: &Program) -> Option<Explored> {
    explore(program, &threads(program).running, LIMITS).filter(|explored| !explored.cut)
}

/// Whether a system can violate a property, whether it can come to a deadlock, and how many states it has in which everybody
/// may move; nothing if not all threads have room.
fn searched(system: &Encoded) -> Option<(bool, bool, usize)> {
    let (states, _) = reference::reachable(system, 64, 300_000)?;
    let (mut violation, mut deadlock, mut count) = (false, false, 0);
    for state in states {
        match system.key(state.shared).mode {
            KeyMode::Normal => {
                deadlock |= deadlocked(system, state.shared, &state.visible().tops);
                count += 1;
            }
            mode => violation |= mode == KeyMode::Violated,
        }
    }
    system.incomplete().is_none().then_some((violation, deadlock, count))
}

/// The number of locations at which threads of a program do not stop.
fn passed(program: &Program) -> usize {
    let system = joined(program);
    LocationId::all(&program.locations).filter(|&location| system.passes(location)).count()
}

#[test]
fn what_others_cannot_tell_is_passed() {
    for (text, expected) in [
        // All but the end, where there is nothing to do.
        ("thread a[2] { bool x; skip; x = true; assert x; }", 3),
        // A shared variable that only one thread has, and one that two have.
        ("shared bool g; thread a { skip; g = true; assert g; } thread b { skip; }", 4),
        ("shared bool g; thread a { skip; g = true; assert g; } thread b { g = false; }", 1),
        ("shared bool g; thread a[2] { skip; g = true; assert g; g = false; }", 1),
        // What everybody reads and nobody writes.
        ("shared bool g = *; thread a[2] { skip; assert g || !g; skip; }", 3),
        // The element of the thread's own number, and one of all of them.
        ("shared bool g[2]; thread a[2] { skip; g[self] = true; assert g[self]; }", 3),
        ("shared bool g[2]; thread a[2] { skip; g[self] = true; assert g[1 - self] || g[self]; }", 1),
        // A variable under a lock, and the release of the lock; and one that is also accessed without it.
        ("lock m; shared bool g; thread a[2] { acquire(m); g = !g; assert g || !g; release(m); }", 3),
        ("lock m; shared bool g; thread a[2] { acquire(m); g = !g; release(m); await g; }", 1),
    ] {
        assert_eq!(passed(&parsed(text)), expected, "{text}");
    }
}

/// Each of these would be answered otherwise if a thread passed where it must stop.
#[test]
fn what_others_can_tell_is_not_passed() {
    for (text, violation, deadlock) in [
        // Who is not yet waiting misses the broadcast.
        (
            "event e; shared bool g; thread a { bool x; g = true; x = true; wait e; } thread b { await g; broadcast e; }",
            false,
            true,
        ),
        // A property that is true only before a thread has come to a label.
        (
            "shared bool g; thread a { bool x; g = true; x = true; inside: skip; } never g && at(inside) == 0;",
            true,
            false,
        ),
        (
            "shared bool g; thread a { bool x; inside: g = true; x = true; } never at(inside) == 0 && !g;",
            false,
            false,
        ),
        // One that is true only before a thread has left a label.
        (
            "shared bool g; thread a { g = true; inside: skip; g = false; } thread b { skip; } never g && at(inside) >= 1;",
            true,
            false,
        ),
        // A variable that only one thread has, and a property.
        ("shared bool g; thread a { skip; g = true; g = false; } thread b { skip; } never g;", true, false),
        // Another lock does not help.
        (
            "lock m; lock n; shared bool g; thread a { acquire(m); g = true; g = false; release(m); }
          thread b { acquire(n); assert !g; release(n); }",
            true,
            false,
        ),
        // A loop without an end does not keep others from moving.
        ("shared bool g; thread a { g = true; loop { skip; } } thread b { assert !g; }", true, false),
    ] {
        let program = parsed(text);
        let found = explored(&program).expect("it is small");
        assert_eq!((found.violation, found.deadlock), (violation, deadlock), "{text}");
        let (joined_violation, joined_deadlock, _) = searched(&joined(&program)).expect("it is small");
        assert_eq!((joined_violation, joined_deadlock), (violation, deadlock), "{text}");
    }
}

#[test]
fn random_programs_have_the_same_verdicts() {
    let (mut programs, mut fewer, mut decided, mut damaged) = (0, 0, 0, 0);
    for seed in random::seeds(250) {
        for mode in [Mode::Threads, Mode::Boolean, Mode::Tasks] {
            let text = text(seed, mode);
            let program = parsed(&text);
            let Some(explored) = explored(&program) else { continue };
            let system = joined(&program);
            check_passed(&system).unwrap_or_else(|why| panic!("{text}\n{why}"));
            let Some((violation, deadlock, states)) = searched(&system) else { continue };
            assert_eq!(violation, explored.violation, "{mode:?} {seed}\n{text}");
            // What goes wrong may do so before it comes to a deadlock.
            assert!(violation || deadlock == explored.deadlock, "{mode:?} {seed}\n{text}");
            programs += 1;
            fewer += usize::from(states < explored.states.len());
            if let Some(verdict) = asked(&text, &system, &explored) {
                decided += 1;
                damaged += usize::from(damage_is_noticed(&system, &verdict, seed));
            }
        }
    }
    println!("{programs} programs, {fewer} with fewer states, {decided} decided by an engine");
    println!("{damaged} proofs without one of their states rejected");
    assert!(3 * fewer > programs && damaged > 0);
}

/// Whether a proof that lists states is rejected without one of them. What sees more than it has to may do without.
fn damage_is_noticed(system: &Encoded, verdict: &Verdict, seed: u64) -> bool {
    let Verdict::Safe(Certificate::Invariant(invariant)) = verdict else { return false };
    let mut less = invariant.clone();
    let (width, count) = (1 + system.threads(), invariant.states().len());
    let row = seed as usize % count;
    less.rows.drain(row * width..(row + 1) * width);
    let judged = accepted(system, &system.property(true), &Certificate::Invariant(less));
    matches!(judged, Err(Rejection::Missing { .. } | Rejection::NotClosed(_)))
}

/// Asks an engine about a joined system; what it decides. Its evidence is accepted, and traces are walked by the program.
fn asked(text: &str, system: &Encoded, explored: &Explored) -> Option<Verdict> {
    let property = system.property(true);
    let question = Question { property: property.clone(), max_states: Some(5000), ..Question::default() };
    let budget = Budget::of_time(Duration::from_millis(500));
    let verdict = conformance::run(conformance::named("auto"), system, &question, &budget).verdict;
    let bad = explored.violation || explored.deadlock;
    let evidence = verdict.evidence()?;
    match accepted(system, &property, evidence) {
        // The bound from above starts more threads than there is room for.
        Err(Rejection::Stopped(_)) => return None,
        judged => judged.unwrap_or_else(|why| panic!("{text}\n{why}")),
    }
    match &verdict {
        Verdict::Unsafe(counterexample) => {
            assert!(bad, "{text}");
            let run = interpret(system, counterexample.trace().expect("a trace"));
            run.unwrap_or_else(|why| panic!("{text}\n{why}"));
        }
        _ => assert!(!bad, "{text}"),
    }
    Some(verdict)
}

fn concerns_the_frame(op: &Op) -> bool {
    use Op::{Acquire, Assert, Assign, AtomicEnd, Error, Guard, NoResult, Release, Skip};
    matches!(
        op,
        Skip | Assign(..) | Guard(..) | Assert(_) | Acquire(_) | Release(_) | AtomicEnd | Error | NoResult
    )
}

/// Whatever is passed, if the checker accepts it, the verdicts are those of the program.
#[test]
fn the_checker_accepts_no_change_of_a_verdict() {
    let (mut rejected, mut accepted, mut saved) = (0, 0, 0);
    for seed in random::seeds(60) {
        for mode in [Mode::Threads, Mode::Boolean, Mode::Tasks] {
            let text = text(seed, mode);
            let program = parsed(&text);
            let Some(explored) = explored(&program) else { continue };
            let count = program.locations.len();
            for round in 0..3 {
                let usual = joined(&program);
                let turned = (seed as usize * 31 + round * 17) % count;
                let stops = LocationId::all(&program.locations)
                    .map(|location| !usual.passes(location) && location.index() != turned)
                    .collect();
                let system = joined(&program).stopping(stops);
                let judged = check_passed(&system);
                // What concerns more than the topmost frame cannot even be tried.
                let edges = &program.locations[LocationId(turned)].edges;
                if !edges.iter().all(|edge| concerns_the_frame(&edge.op)) {
                    assert!(judged.is_err(), "{mode:?} {seed}, location {turned}\n{text}");
                    continue;
                }
                let Some((violation, deadlock, _)) = searched(&system) else { continue };
                let same = violation == explored.violation && (violation || deadlock == explored.deadlock);
                assert!(judged.is_err() || same, "{mode:?} {seed}, location {turned}\n{text}");
                match (judged.is_err(), same) {
                    (true, false) => saved += 1,
                    (true, true) => rejected += 1,
                    (false, _) => accepted += 1,
                }
            }
        }
    }
    println!("{accepted} accepted, {rejected} rejected, and {saved} that would be wrong");
    assert!(saved > 0 && accepted > 0);
}
