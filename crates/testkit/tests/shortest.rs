//! Traces are made as short as brute force says they can be.

use allways_engines::Budget;
use allways_engines::below::shortest::windows;
use allways_engines::{Effort, Question, shortest};
use allways_evidence::{Counterexample, Step, Trace, Verdict, replay};
use allways_lang::aw;
use allways_model::encoding::{Encoded, Threads};
use allways_model::property::Property;
use allways_model::pushdown::{Explicit, Pushdown, Shared, Symbol, Visible};
use allways_testkit::conformance::engines;
use allways_testkit::conformance::{ask, avoid};
use allways_testkit::{corpus, random, reference};
use fastrand::Rng;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

fn cost(trace: &Trace) -> (usize, usize) {
    (trace.switches(), trace.steps.len())
}

/// So few arrivals that a search of all runs seldom comes to an end.
fn few(arrivals: usize) -> Effort {
    Effort { arrivals, patience: Duration::from_secs(600) }
}

fn depth(trace: &Trace) -> usize {
    let states = trace.steps.iter().map(|step| &step.state).chain([&trace.initial]);
    states.flat_map(|state| state.stacks.iter().map(|stack| stack.depth())).max().unwrap_or(0)
}

/// A trace by one engine or another, none of which cares for context switches.
fn known(system: &dyn Pushdown, property: &Property, engine: &str) -> Option<Trace> {
    let engine = engines().iter().find(|other| other.info().name == engine).expect("an engine");
    let question = Question {
        property: property.clone(),
        max_states: Some(2000),
        rounds: Some(8),
        delays: Some(4),
        ..Question::default()
    };
    match ask(*engine, system, &question).verdict {
        Verdict::Unsafe(Counterexample::Trace(trace)) => Some(trace),
        _ => None,
    }
}

/// A trace by chance, which may go astray for long.
fn wander(system: &Explicit, property: &Property, seed: u64) -> Option<Trace> {
    let mut rng = Rng::with_seed(seed);
    let mut trace = Trace { initial: system.initial.clone(), steps: Vec::new() };
    for _ in 0..60 {
        let state = trace.last().clone();
        if property.violated_by(system, &state.visible()) {
            return Some(trace);
        }
        let moves = (0..system.threads())
            .flat_map(|thread| state.enabled(system, thread).into_iter().map(move |rule| (thread, rule)));
        let (thread, rule) = rng.choice(moves.collect::<Vec<_>>())?;
        trace.steps.push(Step { thread, line: rule.line, state: state.step(thread, &rule) });
    }
    None
}

/// The trace of these threads, each moving by the first rule it has.
fn along(system: &Explicit, threads: &[usize]) -> Trace {
    let mut trace = Trace { initial: system.initial.clone(), steps: Vec::new() };
    for &thread in threads {
        let rule = trace.last().enabled(system, thread)[0];
        let state = trace.last().step(thread, &rule);
        trace.steps.push(Step { thread, line: rule.line, state });
    }
    trace
}

#[test]
fn random_systems() {
    let (mut exact, mut improved, mut infinite, mut unknown) = (0, 0, 0, 0);
    for seed in random::seeds(1500) {
        let system = random::system(seed, random::SMALL);
        let Some((states, cut)) = reference::reachable(&system, 4, 2000) else { continue };
        let visible = reference::visible(&states);
        let deadlock = Property { deadlock: true, ..Property::default() };
        let every = visible.len().div_ceil(4).max(1);
        for property in visible.iter().step_by(every).map(avoid).chain([deadlock]) {
            let by_engines = ["free", "rounds-delays"].map(|engine| known(&system, &property, engine));
            let known = by_engines.into_iter().chain([wander(&system, &property, seed)]).flatten();
            for known in known {
                let found = shortest(&system, &property, &known, Effort::default(), &Budget::unlimited());
                assert_eq!(replay(&system, &property, &found.trace), Ok(()), "{seed}");
                assert!(cost(&found.trace) <= cost(&known), "{seed}: {known:?}");
                let expected = reference::cheapest(&system, &property, 6, 20_000);
                if !found.minimal {
                    unknown += 1;
                    continue;
                }
                improved += usize::from(cost(&found.trace) < cost(&known));
                // With deeper stacks there may be better ones than brute force sees, but then they are deep.
                if let Some((expected, _)) = expected {
                    assert!(cost(&found.trace) <= expected, "{seed}: {expected:?} and {found:?}");
                    if depth(&found.trace) <= 6 {
                        assert_eq!(cost(&found.trace), expected, "{seed}: {found:?}");
                        exact += 1;
                    }
                }
                infinite += usize::from(cut);
            }
        }
    }
    println!(
        "{exact} as brute force says, {improved} improved, {infinite} in infinite systems, {unknown} not known"
    );
    assert!(exact > 1000 && improved > 100 && infinite > 300, "{exact} {improved} {infinite}");
    assert_eq!(unknown, 0);
}

/// With too few states for a search of all runs, traces become better part by part, and are called shortest only if they are.
#[test]
fn parts_of_random_traces_become_shorter() {
    let (mut improved, mut minimal, mut shortest_unclaimed) = (0, 0, 0);
    for seed in random::seeds(1500) {
        let system = random::system(seed, random::SMALL);
        let Some((states, _)) = reference::reachable(&system, 4, 2000) else { continue };
        let visible = reference::visible(&states);
        let every = visible.len().div_ceil(4).max(1);
        for property in visible.iter().step_by(every).map(avoid) {
            for known in (0..4).filter_map(|walk| wander(&system, &property, 4 * seed + walk)) {
                let found = shortest(&system, &property, &known, few(5), &Budget::unlimited());
                assert_eq!(replay(&system, &property, &found.trace), Ok(()), "{seed}");
                assert!(cost(&found.trace) <= cost(&known), "{seed}: {known:?}");
                assert_eq!(found.minimal, found.stopped.is_none(), "{seed}");
                improved += usize::from(cost(&found.trace) < cost(&known) && !found.minimal);
                minimal += usize::from(found.minimal);
                let Some((expected, _)) = reference::cheapest(&system, &property, 6, 20_000) else {
                    continue;
                };
                if depth(&found.trace) <= 6 {
                    assert!(cost(&found.trace) >= expected, "{seed}: {expected:?} and {found:?}");
                    shortest_unclaimed += usize::from(!found.minimal && cost(&found.trace) == expected);
                }
                assert!(
                    !found.minimal || cost(&found.trace) <= expected,
                    "{seed}: {expected:?} and {found:?}"
                );
            }
        }
    }
    println!("{improved} improved, {minimal} shortest, {shortest_unclaimed} shortest without knowing it");
    assert!(improved > 100 && minimal > 100 && shortest_unclaimed > 100);
}

/// A trace with a switch at nearly every step, in a system with too many runs to search them all.
#[test]
fn a_trace_of_many_contexts_gets_few() {
    let path = corpus::folder().join("../aw/peterson-filter-4-wrong.aw");
    let program = aw::parse(&std::fs::read(path).expect("a program")).program.expect("a program");
    let system = Encoded::new(&program, &Threads::of(&program, 1), true).expect("an encoding");
    let property = system.property(false);
    let question = Question { property: property.clone(), ..Question::default() };
    let ai = engines().iter().find(|engine| engine.info().name == "ai").expect("an engine");
    let Verdict::Unsafe(Counterexample::Trace(mut trace)) = ask(*ai, &system, &question).verdict else {
        panic!("it goes wrong")
    };
    let switches = trace.switches();
    windows::improve(&system, &property, &mut trace, &Budget::unlimited());
    assert_eq!(replay(&system, &property, &trace), Ok(()));
    assert!(switches > 50 && trace.switches() <= 10, "{switches} became {}", trace.switches());
}

/// A run that was met by chance, where there are too many runs to search them all: what is shown is no worse than what a
/// systematic search finds, and it is said that the search ended early.
#[test]
fn a_run_by_chance_ends_up_no_worse_than_others() {
    let path = corpus::folder().join("../aw/peterson-filter-wrong.aw");
    let program = aw::parse(&std::fs::read(path).expect("a program")).program.expect("a program");
    let system = Encoded::new(&program, &Threads::of(&program, 1), true).expect("an encoding");
    let property = system.property(false);
    let question = Question { property: property.clone(), ..Question::default() };
    let by = |name: &str| {
        let engine = engines().iter().find(|engine| engine.info().name == name).expect("an engine");
        match ask(*engine, &system, &question).verdict {
            Verdict::Unsafe(Counterexample::Trace(trace)) => trace,
            _ => panic!("{name}: it goes wrong"),
        }
    };
    let (walk, free) = (by("walks"), by("free"));
    let shown = shortest(&system, &property, &walk, few(200), &Budget::unlimited());
    assert_eq!(replay(&system, &property, &shown.trace), Ok(()));
    assert!(shown.stopped.is_some() && !shown.minimal);
    let costs = [&shown.trace, &free, &walk].map(cost);
    assert!(costs[0] <= costs[1] && costs[0] < costs[2], "{costs:?}");
}

/// One thread can go on for ever within a context; the other needs it only to let go.
#[test]
fn infinite_contexts() {
    let entry = corpus::entry(&corpus::folder().join("lock-recursive.pds"));
    for (property, _) in entry.properties.iter().filter(|(_, holds)| !holds) {
        let known = known(&entry.system, property, "free").expect("it is reachable");
        let found = shortest(&entry.system, property, &known, Effort::default(), &Budget::unlimited());
        assert!(found.minimal);
        assert_eq!(cost(&found.trace), (0, 2));
    }
}

/// Fewer switches, but many more steps: the first thread counts down by itself, or the second helps it out.
#[test]
fn fewer_switches_are_worth_many_steps() {
    let long = 40;
    let mut text = format!("2\nPDA 0 {long}\n");
    (0..long).for_each(|at| text += &format!("0 {at} -> 0 {}\n", at + 1));
    text += &format!("1 0 -> 1 {long}\nPDA 0 1\n0 0 -> 1 1\n");
    let system = corpus::system(text.as_bytes(), b"0|0,0");
    // At the end, by itself or helped out.
    let end = |shared| {
        avoid(&Visible { shared: Shared(shared), tops: [long + 1, 1 + shared].map(Symbol).to_vec() }).bad
    };
    let property = Property { bad: [end(0), end(1)].concat(), ..Property::default() };
    let known = known(&system, &property, "free").expect("it is reachable");
    assert_eq!(cost(&known), (1, 2));
    let found = shortest(&system, &property, &known, Effort::default(), &Budget::unlimited());
    assert_eq!((cost(&found.trace), found.minimal), ((0, long as usize), true));
}

/// A state that one thread reaches alone, and sooner with a helper, who goes on from there: as many switches, fewer steps.
#[test]
fn a_later_context_may_come_sooner() {
    let text = "4
        PDA 0 5
        0 0 -> 0 1
        0 1 -> 0 2
        0 2 -> 0 3
        0 3 -> 1 5
        0 0 -> 2 5
        PDA 0 1
        2 0 -> 1 0
        1 0 -> 3 1";
    let system = corpus::system(text.as_bytes(), b"0|0,0");
    let property = avoid(&Visible { shared: Shared(3), tops: vec![Symbol(6), Symbol(2)] });
    let known = along(&system, &[0, 0, 0, 0, 1]);
    assert_eq!((cost(&known), replay(&system, &property, &known)), ((1, 5), Ok(())));
    let found = shortest(&system, &property, &known, Effort::default(), &Budget::unlimited());
    assert_eq!((cost(&found.trace), found.minimal), ((1, 3), true));
}

/// A limit that is reached at once leaves what is known.
#[test]
fn limits_leave_the_known_trace() {
    let entry = corpus::entry(&corpus::folder().join("lock-racy.pds"));
    let (property, _) = &entry.properties[0];
    let known = known(&entry.system, property, "free").expect("it is reachable");
    let past = Instant::now().checked_sub(Duration::from_secs(1));
    let late = Budget::unlimited().until(past);
    let full = Budget::unlimited().with_memory(Some(0), &|| 1);
    let interrupted = AtomicBool::new(true);
    let interrupted = Budget::unlimited().interrupted_by(&interrupted);
    for budget in [late, full, interrupted] {
        let found = shortest(&entry.system, property, &known, Effort::default(), &budget);
        assert_eq!((found.trace, found.minimal), (known.clone(), false));
    }
    assert!(shortest(&entry.system, property, &known, Effort::default(), &Budget::unlimited()).minimal);
}
