//! The engine `symbolic` against brute force: formulas of expressions on all inputs of a few bits, executions of random
//! programs. What it finds is replayed by the checker; that it has followed everything and found nothing is compared with all
//! states.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs of each kind.

use allways_engines::below::inputs::SymbolicInputs;
use allways_engines::confirm::confirm;
use allways_engines::{Budget, Engine, Forms, Question};
use allways_evidence::{StopReason, Verdict};
use allways_lang::aw;
use allways_model::program::{Binary, Expr, Machine, Op, Program, Span, Target, Unary, Value};
use allways_model::task::{Instance, Model, Task};
use allways_smt::{Process, Settings};
use allways_testkit::programs::{Limits, Mode, explore, text};
use allways_testkit::random;
use fastrand::Rng;
use std::sync::Arc;
use std::time::Duration;

fn no_solver() -> bool {
    let missing = Process::start(&Settings::default(), &|| false).is_err();
    if missing {
        println!("skipped: there is no z3");
    }
    missing
}

/// What the engine says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Said {
    Wrong,
    /// All was followed.
    Nothing,
    /// It was stopped, or not all could be followed.
    Unknown,
}

/// Asks the engine, and has what it finds checked.
fn asked(name: &str, program: &Program, threads: usize, time: Duration) -> Said {
    let task = Task::new(Model::Program(Arc::new(program.clone())));
    let forms = Forms::new(&task, &Question::default()).at(Instance::Few(threads));
    if SymbolicInputs.supports(&forms).is_err() {
        return Said::Unknown;
    }
    let mut outcome = SymbolicInputs.run(&forms, &Budget::of_time(time));
    confirm(&forms, &mut outcome, &Budget::unlimited());
    assert!(outcome.rejected.is_none(), "{name}\n{:?}", outcome.rejected);
    match outcome.verdict {
        Verdict::Unsafe(_) => {
            assert!(outcome.certified, "{name}");
            Said::Wrong
        }
        Verdict::Unknown(StopReason::GaveUp(why)) if why.starts_with("no execution") => Said::Nothing,
        Verdict::Unknown(_) => Said::Unknown,
        Verdict::Safe(_) => panic!("{name}: it proves nothing"),
    }
}

const OPERATORS: [Binary; 18] = [
    Binary::And,
    Binary::Or,
    Binary::Equal,
    Binary::Unequal,
    Binary::Less,
    Binary::LessEqual,
    Binary::Greater,
    Binary::GreaterEqual,
    Binary::Plus,
    Binary::Minus,
    Binary::Times,
    Binary::Divide,
    Binary::Remainder,
    Binary::BitAnd,
    Binary::BitOr,
    Binary::BitXor,
    Binary::ShiftLeft,
    Binary::ShiftRight,
];

/// An expression over `x`, `y` and the array `a`, some of it as machines compute.
fn expression(rng: &mut Rng, depth: u32) -> Expr {
    let constants = [0, 1, 2, 3, 5, 7, 8, -1, -3, 100, 1 << 40];
    if depth == 0 || rng.u32(..6) == 0 {
        return match rng.u32(..5) {
            0 => Expr::Constant(constants[rng.usize(..constants.len())]),
            1 => {
                Expr::SharedElement(2, 3, Box::new(expression(rng, depth.saturating_sub(1))), Span::default())
            }
            slot => Expr::Shared(slot as usize % 2),
        };
    }
    let part = |rng: &mut Rng| Box::new(expression(rng, depth - 1));
    match rng.u32(..10) {
        0 => Expr::Unary(Unary::Not, part(rng)),
        1 => Expr::Unary(Unary::Minus, part(rng)),
        2 => Expr::If(part(rng), part(rng), part(rng)),
        number => {
            let operator = OPERATORS[rng.usize(..OPERATORS.len())];
            let binary = Expr::Binary(operator, part(rng), part(rng), Span::default());
            let bits = [1, 2, 3, 5, 8, 16, 32, 63, 64];
            let machine = Machine { bits: bits[rng.usize(..bits.len())], signed: rng.bool() };
            if number < 7 { Expr::Unary(Unary::Wrap(machine), Box::new(binary)) } else { binary }
        }
    }
}

/// A program of one thread that computes an expression of two inputs of three and four bits, and asserts something of it.
fn computing(seed: u64) -> Program {
    let mut rng = Rng::with_seed(seed);
    let text = "shared -4..3 x = *; shared 0..15 y = *; shared int a[3]; shared int z;
                thread p { a[0] = y; a[2] = x; a[y] = 7; z = x + y; assert z != 1; z = z + 1; }";
    let mut program = aw::parse(text.as_bytes()).program.expect("a program");
    let goal = [0, 1, 2, -1, 6, 24, 255][rng.usize(..7)];
    let (value, other) = (expression(&mut rng, 3), expression(&mut rng, 2));
    let mut index = Some(expression(&mut rng, 1));
    for edge in program.locations.iter_mut().flat_map(|location| &mut location.edges) {
        match &mut edge.op {
            Op::Assign(places, values, _) => match &mut places[0].target {
                Target::SharedElement(_, _, at) if *at == Expr::Shared(1) => {
                    // In range, most often.
                    let wrapped = Expr::Unary(
                        Unary::Wrap(Machine { bits: 1, signed: false }),
                        Box::new(index.take().expect("once")),
                    );
                    *at = wrapped;
                }
                Target::Shared(5) if matches!(values[0], Expr::Binary(_, _, ref right, _) if **right == Expr::Shared(1)) =>
                {
                    values[0] = value.clone();
                }
                Target::Shared(5) => values[0] = other.clone(),
                _ => {}
            },
            Op::Assert(expr) => {
                *expr = Expr::Binary(
                    Binary::Unequal,
                    Box::new(Expr::Shared(5)),
                    Box::new(Expr::Constant(goal)),
                    Span::default(),
                );
            }
            _ => {}
        }
    }
    program
}

#[test]
fn formulas_of_expressions_are_exact() {
    if no_solver() {
        return;
    }
    let (mut wrong, mut right, mut beyond) = (0, 0, 0);
    for seed in random::seeds(300) {
        let program = computing(seed);
        let name = format!("{seed}\n{program:#?}");
        let said = asked(&name, &program, 1, Duration::from_secs(60));
        // Of programs with numbers that are too large, the semantics does not know everything.
        match explore(&program, &[1], Limits { states: 10_000, threads: 2, depth: 2 }) {
            Some(explored) => {
                let expected = if explored.violation { Said::Wrong } else { Said::Nothing };
                assert!(said == expected || said == Said::Unknown, "{name}\n{said:?} {expected:?}");
                assert!(said != Said::Unknown, "{seed}: undecided");
                *(if explored.violation { &mut wrong } else { &mut right }) += 1;
            }
            None => beyond += 1,
        }
    }
    println!("{wrong} wrong, {right} right, {beyond} not followed");
    assert!(wrong > 50 && right > 10, "{wrong} {right}");
}

#[test]
fn executions_of_random_programs() {
    if no_solver() {
        return;
    }
    let (mut wrong, mut right, mut found, mut nothing) = (0, 0, 0, 0);
    for seed in random::seeds(120) {
        let text = text(seed, Mode::Threads);
        let program = aw::parse(text.as_bytes()).program.unwrap_or_else(|| panic!("{text}"));
        let name = format!("{seed}\n{text}");
        let task = Task::new(Model::Program(Arc::new(program.clone())));
        let Ok(Some(threads)) = task.threads_of(&program, &Instance::Few(2)) else { continue };
        let limits = Limits { states: 3000, threads: 10, depth: 4 };
        let Some(explored) = explore(&program, &threads.running, limits) else { continue };
        let said = asked(&name, &program, 2, Duration::from_secs(2));
        match explored.violation {
            true => wrong += 1,
            false => right += 1,
        }
        found += usize::from(said == Said::Wrong);
        nothing += usize::from(said == Said::Nothing);
        assert!(said != Said::Wrong || explored.violation, "{name}: it does not go wrong");
        // With stacks or threads that were left out there may be more.
        assert!(said != Said::Nothing || !explored.violation || explored.cut, "{name}: it goes wrong");
    }
    println!("{found} found of {wrong}; {nothing} followed to the end of {right}");
    assert!(found > 10, "{found} of {wrong}");
}

/// A choice of 2^40 values, of which one in 2^20 goes wrong, and not before another thread has moved twice.
#[test]
fn one_input_of_many_is_found() {
    if no_solver() {
        return;
    }
    let text = "shared 0..1099511627775 x; shared 0..3 turn;
                thread p { x = *; turn = 1; await turn == 2; assert x % 1048576 != 917471; }
                thread q { await turn == 1; turn = 2; }";
    let program = aw::parse(text.as_bytes()).program.expect("a program");
    assert_eq!(asked(text, &program, 1, Duration::from_secs(60)), Said::Wrong);
    let text = text.replace("% 1048576 != 917471", "% 1048576 != 1048577");
    let program = aw::parse(text.as_bytes()).program.expect("a program");
    assert_eq!(asked(&text, &program, 1, Duration::from_secs(60)), Said::Nothing);
}

/// Values that are not those of a choice are not given to it.
#[test]
fn given_inputs_stay_within_their_bounds() {
    let program =
        aw::parse(b"shared 0..99 x; thread p { x = *; assert x != 7; }").program.expect("a program");
    for (values, wrong) in [(vec![7], true), (vec![8, 9], false), (vec![100], true), (vec![-1, 8], false)] {
        let values: Vec<Value> = values;
        let inputs = allways_model::program::inputs::Inputs {
            choices: [(0, values.clone())].into(),
            ..Default::default()
        };
        let limits = Limits { states: 1000, threads: 2, depth: 2 };
        let explored = explore(&inputs.given(&program), &[1], limits).expect("it is small");
        assert_eq!(explored.violation, wrong, "{values:?}");
    }
}
