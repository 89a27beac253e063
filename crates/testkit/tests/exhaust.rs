//! Programs whose states are all looked at, by the semantics alone: against brute force, and against what engines say.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs.

use allways_engines::Budget;
use allways_engines::Question;
use allways_evidence::{Exhausted, Rejection, StopReason, Verdict, exhaust};
use allways_lang::aw;
use allways_model::encoding::{Encoded, Threads};
use allways_model::program::Program;
use allways_testkit::conformance;
use allways_testkit::conformance::accepted;
use allways_testkit::programs::{Limits, Mode, explore, integers, text};
use allways_testkit::random::seeds;
use std::time::Duration;

const MOST: usize = 4096;

fn parsed(text: &str) -> Program {
    aw::parse(text.as_bytes()).program.unwrap_or_else(|| panic!("{text}"))
}

fn exhausted(program: &Program, threads: &Threads, deadlock: bool) -> Result<Exhausted, Rejection> {
    exhaust(program, threads, deadlock, MOST, &|| None)
}

/// The verdict of `auto` on the reduced and encoded program, once the checker has accepted it.
fn asked(program: &Program, threads: &Threads, deadlock: bool) -> Option<Verdict> {
    let system = Encoded::new(program, threads, true).ok()?;
    let question =
        Question { property: system.property(deadlock), max_states: Some(5000), ..Question::default() };
    let auto = conformance::named("auto");
    let budget = Budget::of_time(Duration::from_millis(40));
    let verdict = conformance::run(auto, &system, &question, &budget).verdict;
    let judged = accepted(&system, &question.property, verdict.evidence()?);
    judged.is_ok().then_some(verdict)
}

#[test]
fn brute_force_and_engines_agree_with_it() {
    let (mut all, mut wrong, mut beyond, mut decided) = (0, 0, 0, 0);
    let modes = [Mode::Threads, Mode::Tasks];
    let texts = seeds(60).flat_map(|seed| modes.map(|mode| text(seed, mode)));
    for text in texts.chain(seeds(60).map(integers)) {
        let program = parsed(&text);
        let threads = Threads { cut: None, ..Threads::of(&program, 2) };
        let limits = Limits { states: 1000, threads: 8, depth: 12 };
        let reference = explore(&program, &threads.running, limits).filter(|explored| !explored.cut);
        for deadlock in [false, true] {
            let found = exhausted(&program, &threads, deadlock);
            if let Some(explored) = &reference {
                let bad = explored.violation || deadlock && explored.deadlock;
                match &found {
                    Ok(Exhausted::All { states }) => {
                        assert!(!bad && *states == explored.states.len(), "{text}\n{states}")
                    }
                    Err(Rejection::Violated(_)) => assert!(bad, "{text}\n{found:?}"),
                    other => panic!("{text}\n{other:?}"),
                }
            }
            match &found {
                Ok(Exhausted::All { .. }) => all += 1,
                Ok(Exhausted::Beyond(_)) => beyond += 1,
                Err(_) => wrong += 1,
            }
            match (asked(&program, &threads, deadlock), &found) {
                (Some(Verdict::Safe(_)), Err(rejection)) => panic!("{text}\nsafe, but {rejection}"),
                (Some(Verdict::Unsafe(_)), Ok(Exhausted::All { .. })) => panic!("{text}\nunsafe"),
                (Some(_), _) => decided += 1,
                (None, _) => {}
            }
        }
    }
    println!("{all} exhausted, {wrong} wrong, {beyond} beyond; engines decided {decided}");
    assert!(all > 40 && wrong > 40 && beyond > 5 && decided > 80, "{all} {wrong} {beyond} {decided}");
}

#[test]
fn what_has_no_end_is_given_up_at_the_bound() {
    let program = parsed("shared int x; thread a[2] { loop { x = x + 1; } }");
    let threads = Threads::of(&program, 1);
    for most in [1, 100, MOST] {
        let found = exhaust(&program, &threads, false, most, &|| None);
        assert_eq!(found, Ok(Exhausted::Beyond(format!("there are more than {most} states"))));
    }
    let stopped = exhaust(&program, &threads, false, MOST, &|| Some(StopReason::Time));
    assert_eq!(stopped, Err(Rejection::Stopped(StopReason::Time)));
    let any = Threads::many(&parsed("thread a[*] { skip; }"));
    assert!(matches!(exhausted(&parsed("thread a[*] { skip; }"), &any, false), Ok(Exhausted::Beyond(_))));
    // Initial states are counted before they are made.
    let many = parsed("shared 0..1000 a = *; shared 0..1000 b = *; thread t { skip; }");
    assert!(matches!(exhausted(&many, &Threads::of(&many, 1), false), Ok(Exhausted::Beyond(_))));
}

#[test]
fn deadlocks_are_looked_for_only_if_asked() {
    let program = parsed("shared bool b; thread a { await b; } thread c { skip; }");
    let threads = Threads::of(&program, 1);
    assert_eq!(exhausted(&program, &threads, false), Ok(Exhausted::All { states: 2 }));
    assert!(matches!(exhausted(&program, &threads, true), Err(Rejection::Violated(_))));
}
