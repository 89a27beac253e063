//! What views know of programs of machines: operations whose value has no formula, long arrays, and threads that are started
//! later; against the semantics, and against brute force.

use allways_engines::above::views::steps::Steps;
use allways_engines::meet::views::find;
use allways_evidence::views::names::Names;
use allways_evidence::views::translate;
use allways_evidence::{Certificate, Judge, StopReason, Subject, certify};
use allways_lang::aw;
use allways_model::program::expression::{NoValue, apply};
use allways_model::program::reduction::reduce;
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{Binary, Expr, LocationId, Op, Program, Span, Value};
use allways_smt::{Process, Settings, Term};
use allways_testkit::terms::value;
use fastrand::Rng;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

fn parsed(text: &str) -> Program {
    aw::parse(text.as_bytes()).program.unwrap_or_else(|| panic!("{text}"))
}

const OPERATORS: [Binary; 8] = [
    Binary::Times,
    Binary::Divide,
    Binary::Remainder,
    Binary::BitAnd,
    Binary::BitOr,
    Binary::BitXor,
    Binary::ShiftLeft,
    Binary::ShiftRight,
];

/// `z = x OP y`, where operands may be numbers instead.
fn computing(operator: Binary, left: Option<Value>, right: Option<Value>) -> (Program, LocationId) {
    let mut program = parsed("shared int x, y, z; thread p { z = x + y; }");
    let operand = |number: Option<Value>, slot| Box::new(number.map_or(Expr::Shared(slot), Expr::Constant));
    let (left, right) = (operand(left, 0), operand(right, 1));
    for (location, here) in program.locations.iter_mut().enumerate() {
        if let Some(Op::Assign(_, values, _)) = here.edges.first_mut().map(|edge| &mut edge.op) {
            *values = vec![Expr::Binary(operator, left, right, Span::default())];
            return (program, LocationId(location));
        }
    }
    panic!("it assigns");
}

/// Whether steps with these guards, choices and values of `z` allow the value, whatever is chosen.
fn allowed(guard: &Term, after: Option<&Term>, of: &BTreeMap<String, i128>, expected: Option<i128>) -> bool {
    let mut of = of.clone();
    let mut names = Default::default();
    guard.variables(&mut names);
    for name in names.iter().filter(|name| name.starts_with('?')) {
        of.insert(name.to_string(), expected.unwrap_or(0));
    }
    value(guard, &of) != 0 && after.map(|after| value(after, &of)) == expected
}

/// Both translations allow what the semantics gives, and no other value.
#[test]
fn formulas_of_operators_have_the_value_that_the_semantics_gives() {
    let mut rng = Rng::with_seed(1);
    let numbers = [0, 1, 2, 3, 7, 8, 15, 63, 255, -1, -2, -7, 1000];
    let mut compared = 0;
    for round in 0..6000 {
        let operator = OPERATORS[round % OPERATORS.len()];
        let number = |rng: &mut Rng| numbers[rng.usize(..numbers.len())];
        let some = |rng: &mut Rng| if rng.bool() { Some(number(rng)) } else { None };
        let (left, right) = (some(&mut rng), some(&mut rng));
        let (x, y) = (number(&mut rng), number(&mut rng));
        let (program, location) = computing(operator, left, right);
        let expected = match apply(operator, left.unwrap_or(x), right.unwrap_or(y), Span::default()) {
            Ok(value) => Some(i128::from(value)),
            Err(NoValue::Wrong(_)) => None,
            // Such a shift is not followed, and must not be reached. Other numbers have no end in formulas.
            Err(NoValue::TooLarge(_)) if !(0..64).contains(&right.unwrap_or(y)) => None,
            Err(NoValue::TooLarge(_)) => continue,
            Err(NoValue::Open(_)) => panic!("nothing is open"),
        };
        let of: BTreeMap<String, i128> =
            [("x", x), ("y", y), ("z", 0)].map(|(name, value)| (name.to_string(), value.into())).into();
        let place = format!("{operator:?} {left:?} {right:?} of {x} and {y}");
        let found = Steps::new(&program).expect("it has formulas");
        let found: Vec<(Term, Option<Term>)> = found.from[location.index()]
            .iter()
            .map(|step| (step.guard.clone(), step.to.map(|_| step.shared[0].1.clone())))
            .collect();
        let checked = translate::steps(&program, &Names::new(&program), location).expect("it has formulas");
        let checked: Vec<(Term, Option<Term>)> = checked
            .into_iter()
            .map(|step| (step.condition, step.to.map(|_| step.shared[2].clone())))
            .collect();
        for steps in [found, checked] {
            let allows =
                |expected| steps.iter().any(|(guard, after)| allowed(guard, after.as_ref(), &of, expected));
            assert!(allows(expected), "{place}: not {expected:?}");
            let others = (-3..3).filter(|&other| Some(other) != expected).any(|other| allows(Some(other)));
            assert!(!others, "{place}: other values");
            compared += 1;
            // Whether it goes wrong is never open.
            assert!(expected.is_none() || !allows(None), "{place}: it does not go wrong");
        }
    }
    assert!(compared > 10_000, "{compared}");
}

/// Elements of a long array have any value of their type, and writing one changes nothing that is known.
#[test]
fn long_arrays_are_forgotten() {
    let program = parsed(
        "shared 0..9 a[70]; shared 0..69 i; shared 0..9 x, y; thread p { y = a[i]; a[i] = x; a[3] = y; }",
    );
    let found = Steps::new(&program).expect("it has formulas");
    let names = Names::new(&program);
    let (mut reads, mut writes) = (0, 0);
    for location in LocationId::all(&program.locations) {
        let checked = translate::steps(&program, &names, location).expect("it has formulas");
        for step in found.from[location.index()].iter().filter(|step| step.to.is_some()) {
            reads += step.choices.len();
            writes += step.shared.iter().filter(|(slot, _)| *slot < 70).count();
        }
        for step in checked.iter().filter(|step| step.to.is_some()) {
            let same = |slot: usize| step.shared[slot] == Term::variable(&names.shared[slot].0);
            assert!((0..70).all(same));
        }
    }
    assert_eq!((reads, writes), (1, 0));
}

/// Whether something goes wrong with at most so many threads started, as far as it is looked for.
fn goes_wrong(program: &Program, started: usize, most: usize) -> bool {
    let mut todo: VecDeque<State> =
        State::initial(program, &State::counts(program)).unwrap_or_default().into();
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    while let Some(state) = todo.pop_front() {
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                match step.outcome {
                    Outcome::To(next)
                        if next.threads.len() <= started + 1
                            && seen.len() < most
                            && seen.insert(next.clone()) =>
                    {
                        todo.push_back(next)
                    }
                    Outcome::Wrong(_) => return true,
                    _ => {}
                }
            }
        }
    }
    false
}

/// A program that starts workers in a loop, after it has done something.
fn starting(rng: &mut Rng) -> String {
    let first = ["x = 1;", "x = 2; y = 1;", "skip;", "acquire(m); x = x + 1; release(m);"];
    let between = ["skip;", "x = x + 1;", "y = 0;"];
    let work = [
        "acquire(m); l = x; x = l + 1; release(m); assert x > l;",
        "l = x; x = l + 1; assert x > l;",
        "assert x > 0;",
        "assert y == 0 || x == 2;",
        "acquire(m); x = x + 1; assert x != 0; release(m);",
        "l = y; y = l + 1; assert y >= l;",
        "if (x == 0) { x = 5; } else { assert x >= 0; }",
    ];
    let mut pick = |from: &[&'static str]| from[rng.usize(..from.len())];
    format!(
        "shared int x, y; lock m;\nthread boss {{ {} loop {{ spawn worker; {} }} }}\n\
         thread worker[0] {{ int l; {} {} }}",
        pick(&first),
        pick(&between),
        pick(&work),
        pick(&work),
    )
}

/// What is proved of programs that start threads is not refuted by brute force, and the checker accepts it.
#[test]
fn threads_that_are_started_later() {
    if Process::start(&Settings::default(), &|| false).is_err() {
        println!("skipped: there is no z3");
        return;
    }
    let (mut proved, mut refuted) = (0, 0);
    for seed in 0..60 {
        let text = starting(&mut Rng::with_seed(seed));
        let Some(program) = aw::parse(text.as_bytes()).program else { panic!("{text}") };
        let wrong = goes_wrong(&program, 2, 4000);
        refuted += usize::from(wrong);
        let deadline = Instant::now() + Duration::from_millis(500);
        let stop = || (Instant::now() > deadline).then_some(StopReason::Time);
        let counts = [Some(1), None];
        let Ok(views) = find(&program, &reduce(&program), &counts, &Settings::default(), &stop).views else {
            continue;
        };
        assert!(!wrong, "{seed}\n{text}");
        proved += 1;
        let subject = Subject::program(&program, &counts);
        let certificate = Certificate::from(views);
        certify(&subject, &certificate, &mut Judge::new(&|| None))
            .unwrap_or_else(|rejection| panic!("{seed}\n{text}\n{rejection}"));
    }
    println!("{proved} proved, {refuted} refuted");
    assert!(proved > 5 && refuted > 10, "{proved} {refuted}");
}
