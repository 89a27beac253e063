//! Predicate abstraction against the semantics: of random programs with integers, and with machine integers of few bits, every
//! proof is accepted by the checker and confirmed by brute force, and every bug is replayed.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs of each kind. Without z3, nothing is compared.

use allways_engines::confirm::confirm;
use allways_engines::meet::predicates::Predicates;
use allways_engines::{Budget, Engine, Forms, Question};
use allways_evidence::Verdict;
use allways_lang::aw;
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{Binary, Count, Expr, Machine, Op, Program, Type, Unary, Variable};
use allways_model::task::{Model, Task};
use allways_smt::{Process, Settings};
use allways_testkit::programs::integers;
use allways_testkit::random::seeds;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// The same program with integers of a machine.
fn of_machine(mut program: Program, machine: Machine) -> Program {
    let (low, high) = machine.bounds();
    let range = Type::Range(low as i64, high as i64);
    let narrow = |variable: &mut Variable| {
        if variable.ty == Type::Int {
            variable.ty = range;
        }
    };
    program.shared.iter_mut().for_each(narrow);
    program.procedures.iter_mut().flat_map(|procedure| &mut procedure.locals).for_each(narrow);
    for edge in program.locations.iter_mut().flat_map(|location| &mut location.edges) {
        let Op::Assign(places, values, _) = &mut edge.op else { continue };
        for (place, value) in places.iter_mut().zip(values).filter(|(place, _)| place.ty == Type::Int) {
            place.ty = range;
            *value = Expr::Unary(Unary::Wrap(machine), Box::new(value.clone()));
        }
    }
    program
}

/// The same program with operations on bits in the place of products, quotients and remainders of variables.
fn of_bits(mut program: Program) -> Program {
    for edge in program.locations.iter_mut().flat_map(|location| &mut location.edges) {
        edge.op.rewrite(&mut |part| {
            let Expr::Binary(operator, left, right, _) = part else { return };
            if matches!((&**left, &**right), (Expr::Constant(_), _) | (_, Expr::Constant(_))) {
                return;
            }
            *operator = match *operator {
                Binary::Times => Binary::BitAnd,
                Binary::Divide => Binary::BitOr,
                Binary::Remainder => Binary::BitXor,
                other => other,
            };
        });
    }
    program
}

/// Whether something goes wrong with so many threads of each template of which any number may run; whether all states were seen.
fn explore(program: &Program, number: usize, most: usize) -> (bool, bool) {
    let count = |count| if let Count::Fixed(count) = count { count } else { number };
    let counts: Vec<usize> = program.templates.iter().map(|template| count(template.count)).collect();
    let mut todo: VecDeque<State> = State::initial(program, &counts).unwrap_or_default().into();
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    let mut all = true;
    while let Some(state) = todo.pop_front() {
        if matches!(state.violated(program), Some(Outcome::Wrong(_))) {
            return (true, all);
        }
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                match step.outcome {
                    Outcome::To(next) if seen.contains(&next) => {}
                    Outcome::To(next) if seen.len() < most => {
                        seen.insert(next.clone());
                        todo.push_back(next);
                    }
                    Outcome::To(_) | Outcome::Beyond(_) => all = false,
                    Outcome::Wrong(_) => return (true, all),
                }
            }
        }
    }
    (false, all)
}

#[derive(Default)]
struct Seen {
    proofs: usize,
    bugs: usize,
    unknown: usize,
}

fn compare(program: Program, text: &str, seen: &mut Seen) {
    let task = Task::new(Model::Program(Arc::new(program.clone())));
    let forms = Forms::new(&task, &Question::default());
    let mut outcome = Predicates.run(&forms, &Budget::of_time(Duration::from_millis(400)));
    confirm(&forms, &mut outcome, &Budget::unlimited());
    assert!(outcome.rejected.is_none(), "{:?}\n{text}", outcome.rejected);
    match &outcome.verdict {
        Verdict::Safe(_) => {
            assert!(outcome.certified, "{text}");
            for number in 1..=3 {
                assert!(!explore(&program, number, 4000).0, "it goes wrong with {number}\n{text}");
            }
            seen.proofs += 1;
        }
        Verdict::Unsafe(_) => {
            assert!(outcome.certified, "{text}");
            let wrong = |number: usize| explore(&program, number, 20_000) != (false, true);
            assert!((1..=3).any(wrong), "it does not go wrong\n{text}");
            seen.bugs += 1;
        }
        Verdict::Unknown(_) => seen.unknown += 1,
    }
}

/// Programs of each kind, by number.
#[test]
fn proofs_and_bugs_are_those_of_brute_force() {
    if Process::start(&Settings::default(), &|| false).is_err() {
        println!("skipped: there is no z3");
        return;
    }
    let kinds = [
        None,
        Some(Machine { bits: 3, signed: true }),
        Some(Machine { bits: 2, signed: false }),
        Some(Machine { bits: 4, signed: false }),
    ];
    let mut all = [(); 4].map(|()| Seen::default());
    for seed in seeds(20) {
        let text = integers(seed);
        let Some(program) = aw::parse(text.as_bytes()).program else { panic!("{text}") };
        for (kind, seen) in kinds.iter().zip(&mut all) {
            let program = match kind {
                Some(machine) if seed % 8 == 7 => of_machine(of_bits(program.clone()), *machine),
                Some(machine) => of_machine(program.clone(), *machine),
                None => program.clone(),
            };
            compare(program, &format!("{seed}, {kind:?}\n{text}"), seen);
        }
    }
    for (kind, seen) in kinds.iter().zip(&all) {
        println!("{kind:?}: {} proofs, {} bugs, {} unknown", seen.proofs, seen.bugs, seen.unknown);
    }
    let sum = |of: fn(&Seen) -> usize| all.iter().map(of).sum::<usize>();
    assert!(sum(|seen| seen.proofs) > 0 && sum(|seen| seen.bugs) > 0);
}
