//! Random programs without their procedures and events: they go wrong where the program does, and without events nowhere else.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs of each kind.

use allways_lang::aw;
use allways_model::encoding::Threads;
use allways_model::program::inline::inline;
use allways_model::program::{Op, Program};
use allways_testkit::programs::{Limits, Mode, explore, text};
use allways_testkit::random;

/// How far programs are explored. What is inlined has more states, since events are numbers.
const LIMITS: Limits = Limits { states: 3000, threads: 10, depth: 12 };
const LIMITS_INLINED: Limits = Limits { states: 60_000, ..LIMITS };

#[derive(Default, Debug)]
struct Tally {
    /// There is nothing to inline, or it cannot be.
    left: usize,
    large: usize,
    compared: usize,
    wrong: usize,
    with_events: usize,
    /// With events, and wrong only as inlined.
    coarser: usize,
}

fn has(program: &Program, kind: impl Fn(&Op) -> bool) -> bool {
    program.locations.iter().flat_map(|location| &location.edges).any(|edge| kind(&edge.op))
}

fn parsed(text: &str) -> Program {
    aw::parse(text.as_bytes()).program.unwrap_or_else(|| panic!("a program\n{text}"))
}

fn compare(name: &str, program: &Program, tally: &mut Tally) {
    let Some(inlined) = inline(program) else {
        tally.left += 1;
        return;
    };
    inlined.validate().unwrap_or_else(|wrong| panic!("{name}\n{wrong:?}"));
    assert!(
        !has(&inlined, |op| matches!(op, Op::Call(..) | Op::Wait(_) | Op::Broadcast(_) | Op::Signal(_))),
        "{name}\nsomething is left"
    );
    let counts = Threads { cut: None, ..Threads::of(program, 2) }.running;
    let explored = explore(program, &counts, LIMITS).filter(|explored| !explored.cut);
    let Some(explored) = explored else {
        tally.large += 1;
        return;
    };
    let Some(as_inlined) = explore(&inlined, &counts, LIMITS_INLINED) else {
        tally.large += 1;
        return;
    };
    let with_events = has(program, |op| matches!(op, Op::Wait(_)));
    tally.compared += 1;
    tally.wrong += usize::from(explored.violation);
    tally.with_events += usize::from(with_events);
    assert!(as_inlined.violation || !explored.violation, "{name}\nan error is lost");
    match as_inlined.violation == explored.violation {
        true => {}
        false if with_events => tally.coarser += 1,
        false => panic!("{name}\nan error is made up"),
    }
}

#[test]
fn random_programs() {
    for mode in [Mode::Threads, Mode::Short, Mode::Boolean] {
        let seeds = random::seeds(500);
        let mut tally = Tally::default();
        for seed in seeds.clone() {
            let text = text(seed, mode);
            compare(&format!("{mode:?} {seed}\n{text}"), &parsed(&text), &mut tally);
        }
        println!("{mode:?}: {tally:?}");
        assert!(seeds.count() < 500 || tally.compared > 50 && tally.wrong > 10, "too few are compared");
    }
}

/// What procedures and events can do to a program that is inlined: whether it goes wrong.
#[test]
fn small_programs() {
    for (text, wrong) in [
        // Local variables of a procedure start anew with each call.
        ("shared int x; proc f() { int l; l = l + 1; x = l; } thread a { f(); f(); assert x == 1; }", false),
        ("shared int x; proc f() { int l; l = l + 1; x = l; } thread a { f(); f(); assert x == 2; }", true),
        // Arguments are evaluated before parameters change, results before they are stored.
        (
            "proc f(int a, int b) : int { return a - b; } thread t { int x = 1; int y = 2; x = f(y, x); assert x == 1; }",
            false,
        ),
        // A section in a procedure ends with it.
        (
            "shared int x; proc f() { atomic { x = x + 1; } } thread a { f(); x = x - 1; } thread b { assert x == 0; }",
            true,
        ),
        // A result that does not fit is an error, whether it is kept or not.
        ("proc f() : 0..3 { return 4; } thread a { f(); }", true),
        // Who waits when a broadcast comes is woken, and nobody else.
        ("event e; thread a { broadcast e; } thread b { wait e; error; }", true),
        ("event e; thread a { wait e; error; } thread b { wait e; broadcast e; }", false),
        ("event e; thread a { broadcast e; wait e; error; } thread b { wait e; }", false),
    ] {
        let program = parsed(text);
        let inlined = inline(&program).unwrap_or_else(|| panic!("{text}\nit cannot be inlined"));
        let counts = Threads { cut: None, ..Threads::of(&program, 2) }.running;
        for program in [&program, &inlined] {
            let explored = explore(program, &counts, LIMITS).unwrap_or_else(|| panic!("{text}\nit is small"));
            assert_eq!(explored.violation, wrong, "{text}");
        }
    }
}
