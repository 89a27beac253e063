//! The engine `diagrams` against brute force on random programs, and on programs of so many Booleans that nothing else lists
//! their states. What it finds is replayed by the checker; that it has followed everything and found nothing is compared with
//! all states.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs of each kind.

use allways_engines::below::diagrams::Diagrams;
use allways_engines::confirm::confirm;
use allways_engines::{Budget, Engine, Forms, Question};
use allways_evidence::{StopReason, Verdict};
use allways_lang::bp;
use allways_model::program::Program;
use allways_model::task::{Instance, Model, Task};
use allways_testkit::programs::{Limits, boolean, explore};
use allways_testkit::random;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// What the engine says.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Said {
    Wrong,
    /// All was followed.
    Nothing,
    /// It was stopped, or not all could be followed.
    Unknown(String),
}

const THREADS: usize = 4;

/// Asks the engine, and has what it finds checked.
fn asked(name: &str, program: &Program, threads: usize) -> Said {
    let task = Task::new(Model::Program(Arc::new(program.clone())));
    let forms = Forms::new(&task, &Question::default()).at(Instance::Few(threads));
    if let Err(why) = Diagrams.supports(&forms) {
        return Said::Unknown(why);
    }
    let mut outcome = Diagrams.run(&forms, &Budget::of_time(Duration::from_secs(60)));
    confirm(&forms, &mut outcome, &Budget::unlimited());
    assert!(outcome.rejected.is_none(), "{name}\n{:?}", outcome.rejected);
    match outcome.verdict {
        Verdict::Unsafe(_) => {
            assert!(outcome.certified, "{name}");
            Said::Wrong
        }
        Verdict::Unknown(StopReason::GaveUp(why)) if why.starts_with("no run") => Said::Nothing,
        Verdict::Unknown(reason) => Said::Unknown(reason.to_string()),
        Verdict::Safe(_) => panic!("{name}: it proves nothing"),
    }
}

#[test]
fn runs_of_random_boolean_programs() {
    let (mut wrong, mut right, mut unknown) = (0, 0, 0);
    for seed in random::seeds(1500) {
        let text = boolean(seed);
        let name = format!("{seed}\n{text}");
        let Some(program) = bp::parse(text.as_bytes()).program else { continue };
        let task = Task::new(Model::Program(Arc::new(program.clone())));
        let Ok(Some(threads)) = task.threads_of(&program, &Instance::Few(THREADS)) else { continue };
        let limits = Limits { states: 5000, threads: THREADS, depth: 4 };
        let Some(explored) = explore(&program, &threads.running, limits) else { continue };
        let said = asked(&name, &program, THREADS);
        match (&said, explored.violation) {
            (Said::Wrong, true) => wrong += 1,
            (Said::Nothing, false) => right += 1,
            (Said::Unknown(why), _) => {
                assert!(!why.contains("replayed"), "{name}\n{why}");
                unknown += 1;
            }
            // What is deeper than brute force looks may go wrong.
            (Said::Wrong, false) => assert!(explored.cut, "{name}\n{said:?}"),
            (Said::Nothing, true) => panic!("{name}\n{said:?}"),
        }
    }
    println!("{wrong} wrong, {right} right, {unknown} unknown");
    assert!(wrong > 10 && right > 10, "{wrong} wrong, {right} right, {unknown} unknown");
}

/// Two threads over bits that have any values; `wrong` of all of them is asserted not to be.
fn many(bits: usize, wrong: &str) -> String {
    let names: Vec<String> = (0..bits).map(|bit| format!("b{bit}")).collect();
    let mut text = format!("decl {}, go := 0;\nvoid main() begin\n  decl odd := 0;\n", names.join(", "));
    let _ = writeln!(text, "  {} := {};", names.join(", "), vec!["*"; bits].join(", "));
    let _ = writeln!(text, "  start_thread goto OTHER;");
    let _ = writeln!(text, "AGAIN: assume(go);");
    let _ = writeln!(text, "  odd := {};", names[..bits / 2].join(" ^ "));
    let _ = writeln!(text, "  if !odd then goto AGAIN; fi;");
    let _ = writeln!(text, "  assert(!({wrong}));\n  end_thread;");
    let _ = writeln!(text, "OTHER: go := 1;");
    for bit in 0..bits - 1 {
        let _ = writeln!(text, "  b{bit} := b{bit} ^ b{};", bit + 1);
    }
    let _ = writeln!(text, "  goto OTHER;\nend");
    text
}

#[test]
fn many_booleans_are_no_obstacle() {
    for bits in [10, 26, 40, 60] {
        let all = (0..bits).map(|bit| format!("b{bit}")).collect::<Vec<_>>().join(" & ");
        let text = many(bits, &all);
        let program = bp::parse(text.as_bytes()).program.unwrap_or_else(|| panic!("{text}"));
        assert_eq!(asked(&text, &program, 1), Said::Wrong, "{bits}");
    }
    let text = many(6, "b0 & !b0");
    let program = bp::parse(text.as_bytes()).program.expect("a program");
    assert_eq!(asked(&text, &program, 1), Said::Nothing);
}

/// What is granted was asked for, unless it is withdrawn in between: pairs that are far from each other where they are declared.
fn granted(pairs: usize, lock: bool) -> String {
    let list = |name: &str| (0..pairs).map(|pair| format!("{name}{pair}")).collect::<Vec<_>>().join(", ");
    let mut text = format!("decl {}, {};\nvoid grant() begin\n", list("asked"), list("given"));
    let (begin, end) = if lock { ("atomic_begin; ", " atomic_end;") } else { ("", "") };
    for pair in 0..pairs {
        let _ = writeln!(text, "  {begin}if asked{pair} then given{pair} := 1; fi;{end}");
    }
    let _ = writeln!(text, "end\nvoid main() begin\n  {} := {};", list("given"), vec!["0"; pairs].join(", "));
    let _ = writeln!(text, "  start_thread goto OTHER;\nAGAIN: grant();");
    let all: Vec<String> = (0..pairs).map(|pair| format!("(!given{pair} | asked{pair})")).collect();
    let _ = writeln!(text, "  assert({});\n  goto AGAIN;\nOTHER: atomic_begin;", all.join(" & "));
    for pair in 0..pairs {
        let _ = writeln!(text, "  if !given{pair} then asked{pair} := *; fi;");
    }
    let _ = writeln!(text, "  atomic_end;\n  goto OTHER;\nend");
    text
}

#[test]
fn related_variables_are_next_to_each_other() {
    for (pairs, lock, said) in [(13, false, Said::Wrong), (30, false, Said::Wrong), (4, true, Said::Nothing)]
    {
        let text = granted(pairs, lock);
        let program = bp::parse(text.as_bytes()).program.unwrap_or_else(|| panic!("{text}"));
        assert_eq!(asked(&text, &program, 1), said, "{pairs}");
    }
}
