//! Programs as formulas against the reference semantics, and proofs by views against brute force.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs. Without z3, what needs a solver says so and is left out.

use allways_engines::above::views::bad::alternatives;
use allways_engines::above::views::steps::{ID, Known, SELF, Steps, Transition, local};
use allways_engines::meet::views::find;
use allways_evidence::views::names::Names;
use allways_evidence::views::property::Shown;
use allways_evidence::views::translate::{self, Step};
use allways_evidence::views::weighed;
use allways_evidence::{
    BadEvidence, Certificate, Evidence, Judge, Rejection, StopReason, Subject, Views, certify, read_evidence,
    write_evidence,
};
use allways_lang::aw;
use allways_model::program::reduction::reduce;
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{Binary, Expr, LocationId, Program, Span, Type, Unary};
use allways_smt::{Process, Settings, Term};
use allways_testkit::programs::{Mode, integers, text};
use allways_testkit::random::seeds;
use allways_testkit::terms::value;
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::time::{Duration, Instant};

fn parsed(text: &str) -> Option<Program> {
    aw::parse(text.as_bytes()).program
}

/// Some states of a program with so many threads, breadth first, and whether something goes wrong in them.
fn explore(program: &Program, counts: &[usize], most: usize) -> (Vec<State>, bool) {
    let mut todo: VecDeque<State> = State::initial(program, counts).unwrap_or_default().into();
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    let (mut states, mut wrong) = (Vec::new(), false);
    while let Some(state) = todo.pop_front() {
        wrong |= matches!(state.violated(program), Some(Outcome::Wrong(_)));
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                match step.outcome {
                    Outcome::To(next) if seen.len() < most && seen.insert(next.clone()) => {
                        todo.push_back(next)
                    }
                    Outcome::Wrong(_) => wrong = true,
                    _ => {}
                }
            }
        }
        states.push(state);
    }
    (states, wrong)
}

/// Where a step leads: the shared values, the location and the local values; nothing if it goes wrong.
type Led = Option<(Vec<i128>, LocationId, Vec<i128>)>;

/// The values of the hidden variables that say whether a thread of a template was started: whether there is one.
fn started(translated: &Steps, state: &State) -> Vec<i128> {
    let templates = translated.started.iter().enumerate().filter(|(_, flag)| flag.is_some());
    let there = |template: usize| state.threads.iter().any(|thread| thread.template.index() == template);
    templates.map(|(template, _)| there(template).into()).collect()
}

/// The values of all variables that the steps of a thread speak of.
fn valuation(translated: &Steps, state: &State, thread: usize) -> BTreeMap<String, i128> {
    let moving = &state.threads[thread];
    let top = moving.top().expect("it has not ended");
    let mut of: BTreeMap<String, i128> = BTreeMap::new();
    let values = state.shared.iter().map(|&value| value.into()).chain(started(translated, state));
    for (known, value) in translated.shared.iter().zip(values) {
        of.insert(known.name.clone(), value);
    }
    for (slot, known) in translated.locals[moving.template.index()].iter().enumerate() {
        let value = match known.name.as_str() {
            ID if known.hidden => moving.id as i64 + 1,
            SELF if known.hidden => moving.this,
            _ => top.locals[slot],
        };
        of.insert(local(&known.name, 0), value.into());
    }
    of
}

/// Where the formulas of the finder say that a thread at a location can go.
fn by_finder(translated: &Steps, location: LocationId, of: &BTreeMap<String, i128>) -> BTreeSet<Led> {
    let locals =
        &translated.locals[translated.templates[location.index()].expect("a thread can be there").index()];
    let (mut of, mut led) = (of.clone(), BTreeSet::new());
    for transition in &translated.from[location.index()] {
        choose(&transition.choices, &mut of, &mut |of| {
            if value(&transition.guard, of) == 0 {
                return;
            }
            let new = |slot: usize, name: &str, changed: &[(usize, Term)]| {
                let change = changed.iter().find(|(changed, _)| *changed == slot);
                change.map_or_else(|| of[name], |(_, term)| value(term, of))
            };
            led.insert(transition.to.map(|to| {
                let shared = translated.shared.iter().enumerate();
                let own = locals.iter().enumerate().filter(|(_, known)| !known.hidden);
                (
                    shared.map(|(slot, known)| new(slot, &known.name, &transition.shared)).collect(),
                    to,
                    own.map(|(slot, known)| new(slot, &local(&known.name, 0), &transition.locals)).collect(),
                )
            }));
        });
    }
    led
}

/// Where the formulas of the checker say that it can go.
fn by_checker(steps: &[Step], of: &BTreeMap<String, i128>) -> BTreeSet<Led> {
    let (mut of, mut led) = (of.clone(), BTreeSet::new());
    for step in steps {
        let mut names = BTreeSet::new();
        let terms = step.shared.iter().chain(&step.locals).chain([&step.condition]);
        terms.for_each(|term| term.variables(&mut names));
        let choices = names.iter().filter(|name| name.starts_with('?')).map(ToString::to_string);
        choose(&choices.collect::<Vec<_>>(), &mut of, &mut |of| {
            let all = |terms: &[Term]| terms.iter().map(|term| value(term, of)).collect();
            if value(&step.condition, of) != 0 {
                led.insert(step.to.map(|to| (all(&step.shared), to, all(&step.locals))));
            }
        });
    }
    led
}

/// All ways to choose; what is out of bounds is for the guard to refuse.
fn choose(
    choices: &[String],
    of: &mut BTreeMap<String, i128>,
    each: &mut dyn FnMut(&BTreeMap<String, i128>),
) {
    match choices.split_first() {
        None => each(of),
        Some((name, rest)) => {
            for value in -2..5 {
                of.insert(name.clone(), value);
                choose(rest, of, each);
            }
        }
    }
}

fn by_reference(
    (program, translated): (&Program, &Steps),
    state: &State,
    thread: usize,
) -> Option<BTreeSet<Led>> {
    let led = steps(program, state, thread).into_iter().map(|step| match step.outcome {
        Outcome::To(next) => {
            let flags = started(translated, &next);
            let shared = next.shared.iter().map(|&value| value.into()).chain(flags).collect();
            let top = next.threads[thread].top().expect("it stays").clone();
            Some(Some((shared, top.location, top.locals.iter().map(|&value| value.into()).collect())))
        }
        Outcome::Wrong(_) => Some(None),
        Outcome::Beyond(_) => None,
    });
    led.collect()
}

/// The steps of all locations, as the checker translates them.
fn checkers(program: &Program) -> Result<Vec<Vec<Step>>, String> {
    let names = Names::new(program);
    let steps =
        LocationId::all(&program.locations).map(|location| translate::steps(program, &names, location));
    steps.map(|steps| steps.map_err(|unsupported| unsupported.to_string())).collect()
}

/// Whether products or quotients of variables are computed, which may have any value in formulas.
fn inexact(program: &Program) -> bool {
    let mut inexact = false;
    let edges = program.locations.iter().flat_map(|location| &location.edges);
    let exprs = edges.flat_map(|edge| edge.op.expressions());
    exprs.for_each(|expr| {
        expr.visit(&mut |part| {
            if let Expr::Binary(operator, left, right, _) = part {
                let number = |side: &Expr| matches!(side, Expr::Constant(_));
                inexact |= match operator {
                    Binary::Times => !number(left) && !number(right),
                    Binary::Divide | Binary::Remainder => !number(right),
                    _ => false,
                };
            }
        });
    });
    inexact
}

/// Both translations against the reference, in states that can be reached.
fn compare(name: &str, program: &Program, counts: &[usize], compared: &mut usize) -> bool {
    if inexact(program) {
        return false;
    }
    let Ok(translated) = Steps::new(program) else { return false };
    let checked = checkers(program).unwrap_or_else(|why| panic!("{name}: only the checker refuses {why}"));
    let (states, _) = explore(program, counts, 150);
    for state in states {
        for thread in 0..state.threads.len() {
            let Some(expected) = by_reference((program, &translated), &state, thread) else { continue };
            let location = state.threads[thread].top().expect("it has not ended").location;
            let of = valuation(&translated, &state, thread);
            let place = || format!("{name}: thread {thread} of {state:?}");
            assert_eq!(by_finder(&translated, location, &of), expected, "the finder, {}", place());
            assert_eq!(by_checker(&checked[location.index()], &of), expected, "the checker, {}", place());
            *compared += 1;
        }
    }
    true
}

/// Values of their types for all variables of a thread at a location, whether they can be reached or not.
fn by_chance(rng: &mut Rng, translated: &Steps, location: LocationId) -> BTreeMap<String, i128> {
    let locals =
        &translated.locals[translated.templates[location.index()].expect("a thread can be there").index()];
    let mut any = |known: &Known| -> i128 {
        match known.ty {
            _ if known.hidden && known.name == SELF => rng.i128(0..2),
            _ if known.hidden => rng.i128(1..3),
            Type::Lock => rng.i128(0..3),
            Type::Int => rng.i128(-3..5),
            Type::Bool => rng.i128(0..2),
            Type::Range(low, high) => rng.i64(low..=high).into(),
        }
    };
    let shared = translated.shared.iter().map(|known| (known.name.clone(), any(known)));
    let mut of: BTreeMap<String, i128> = shared.collect();
    of.extend(locals.iter().map(|known| (local(&known.name, 0), any(known))));
    of
}

/// Wrong translations: each changes one step of one location.
fn mutants(transitions: &[Transition]) -> Vec<Vec<Transition>> {
    let mut all = Vec::new();
    for index in 0..transitions.len() {
        let mut change = |change: &dyn Fn(&mut Transition)| {
            let mut mutant = transitions.to_vec();
            change(&mut mutant[index]);
            all.push(mutant);
        };
        change(&|step| step.guard = Term::truth(false));
        change(&|step| step.guard = step.guard.negation());
        change(&|step| step.to = if step.to.is_none() { Some(LocationId(0)) } else { None });
        for place in 0..transitions[index].shared.len() {
            change(&|step| step.shared[place].1 = step.shared[place].1.plus(&Term::number(1)));
            change(&|step| drop(step.shared.remove(place)));
        }
    }
    all
}

/// The finder and the checker translate programs each in their own way. On values by chance they say the same of every
/// location, and one that is mistaken about a step is noticed.
#[test]
fn the_checker_and_the_finder_translate_alike() {
    let (mut compared, mut caught, mut missed) = (0, 0, 0);
    for seed in seeds(150) {
        let text = integers(seed);
        let program = parsed(&text).unwrap_or_else(|| panic!("{text}"));
        let Ok(mut translated) = Steps::new(&program) else { continue };
        let checked =
            checkers(&program).unwrap_or_else(|why| panic!("{text}\nonly the checker refuses {why}"));
        let mut rng = Rng::with_seed(seed);
        let at_threads = |at: &LocationId| translated.templates[at.index()].is_some();
        let locations: Vec<_> = LocationId::all(&program.locations).filter(at_threads).collect();
        for location in locations {
            let values: Vec<_> = (0..60).map(|_| by_chance(&mut rng, &translated, location)).collect();
            let expected: Vec<_> =
                values.iter().map(|of| by_checker(&checked[location.index()], of)).collect();
            for (of, expected) in values.iter().zip(&expected) {
                assert_eq!(&by_finder(&translated, location, of), expected, "{text}\n{location} {of:?}");
                compared += 1;
            }
            let right = translated.from[location.index()].clone();
            for mutant in mutants(&right) {
                translated.from[location.index()] = mutant;
                let mut pairs = values.iter().zip(&expected);
                let noticed = pairs.any(|(of, expected)| by_finder(&translated, location, of) != *expected);
                *(if noticed { &mut caught } else { &mut missed }) += 1;
            }
            translated.from[location.index()] = right;
        }
    }
    println!("{compared} compared; {caught} mutants noticed, {missed} not");
    // Some steps can never be taken, or lead where another one leads.
    assert!(compared > 20_000 && caught > 1000 && missed * 10 < caught, "{compared} {caught} {missed}");
}

/// Two kinds of threads, of which the second may be anchored.
const COUNTING: &str = "shared int x, y; shared 0..2 i; shared 0..1 v[2];
thread p[*] { loop { a: skip; b: skip; c: x = x + 1; } }
thread q[2] { loop { d: skip; e: y = y + 1; } }
never";

/// A property of that program by chance. A `plain` one compares counts only in ways that threads make true.
fn property(rng: &mut Rng, depth: usize, plain: bool) -> String {
    let label = |rng: &mut Rng| *rng.choice(["a", "b", "c", "d", "e"].iter()).expect("one");
    let compare = |rng: &mut Rng| *rng.choice(["==", "!=", "<", "<=", ">", ">="].iter()).expect("one");
    let least = |rng: &mut Rng| if plain { ">=" } else { compare(rng) };
    let part = |rng: &mut Rng| property(rng, depth - 1, plain);
    match rng.usize(if plain { 3 } else { 0 }..if depth == 0 { 8 } else { 13 }) {
        0 => format!("at({}) {} y", label(rng), compare(rng)),
        1 => format!("at({}) / x {} {}", label(rng), compare(rng), rng.i64(0..2)),
        2 => format!("v[i] {} y", compare(rng)),
        3 => format!("x {} {}", compare(rng), rng.i64(0..3)),
        4 => format!("{} {} at({})", rng.i64(0..4), if plain { "<" } else { compare(rng) }, label(rng)),
        5 => format!("at({}) + at({}) {} {}", label(rng), label(rng), least(rng), rng.i64(1..4)),
        6 | 7 => format!("at({}) {} {}", label(rng), least(rng), rng.i64(if plain { 1 } else { -1 }..4)),
        8 if !plain => format!("!({})", part(rng)),
        8..10 => format!("({} || {})", part(rng), part(rng)),
        _ => format!("({} && {})", part(rng), part(rng)),
    }
}

/// A program with a property by chance, and views of it without rows.
fn counting(rng: &mut Rng, depth: usize, plain: bool) -> (Program, Views) {
    let text = format!("{COUNTING} {};", property(rng, depth, plain));
    let program = parsed(&text).unwrap_or_else(|| panic!("{text}"));
    let counts = vec![if rng.bool() { None } else { Some(rng.usize(1..3)) }, Some(2)];
    let mut views = Views { counts, size: rng.usize(1..4), ..Views::default() };
    if views.any_number() && rng.bool() {
        views = Views { anchored: true, size: rng.usize(3..5), ..views };
    }
    if plain {
        views = Views { counts: vec![None, Some(2)], size: 4, anchored: false, ..views };
    }
    (program, views)
}

/// States with values by chance and threads at places by chance, as many as views can be of.
fn anywhere(rng: &mut Rng, program: &Program, views: &Views) -> State {
    let names = Names::new(program);
    let threads = [views.counts[0].unwrap_or_else(|| rng.usize(1..5)), 2];
    let mut state = State::initial(program, &threads).expect("few threads").swap_remove(0);
    for (value, (_, ty, _)) in state.shared.iter_mut().zip(&names.shared) {
        let (low, high) = ty.bounds().unwrap_or((-1, 3));
        *value = rng.i64(low..=high);
    }
    for thread in &mut state.threads {
        let here = |location: &LocationId| names.templates[location.index()] == Some(thread.template);
        let places: Vec<LocationId> = LocationId::all(&program.locations).filter(here).collect();
        thread.stack[0].location = *rng.choice(&places).expect("a place");
    }
    state
}

/// The locations of all views of a state.
fn crowds(views: &Views, state: &State) -> Vec<Vec<LocationId>> {
    let anchors = |threads: &[usize]| {
        let anchored = |thread: &usize| views.anchors(state.threads[*thread].template);
        threads.iter().filter(|thread| anchored(thread)).count() == views.anchors_in_all()
    };
    let all = tuples(state.threads.len(), views.size).into_iter().filter(|threads| anchors(threads));
    let location = |thread: usize| state.threads[thread].top().expect("it stays").location;
    let crowds = all.map(|threads| threads.into_iter().map(location).collect());
    crowds.filter(|crowd: &Vec<LocationId>| crowd.is_sorted()).collect()
}

fn shared_values(program: &Program, state: &State) -> BTreeMap<String, i128> {
    let names = Names::new(program).shared.into_iter().map(|variable| variable.0);
    names.zip(state.shared.iter().map(|&value| value.into())).collect()
}

/// Whether a view shows a violation of the program's only property: what the checker says.
fn shown(program: &Program, views: &Views, crowd: &[LocationId], of: &BTreeMap<String, i128>) -> bool {
    let names = Names::new(program);
    let property = Shown::new(&names, views, &program.never[0]);
    value(&property.violated(crowd).expect("it has a formula"), of) != 0
}

/// A state that violates a property has a view that shows it to the checker.
#[test]
fn every_violation_is_seen_in_a_view() {
    let (mut violations, mut fine, mut suspected) = (0, 0, 0);
    for seed in seeds(3000) {
        let mut rng = Rng::with_seed(seed);
        let (program, views) = counting(&mut rng, 3, false);
        for _ in 0..10 {
            let state = anywhere(&mut rng, &program, &views);
            if state.threads.len() < views.size {
                continue;
            }
            let of = shared_values(&program, &state);
            let seen = crowds(&views, &state).iter().any(|crowd| shown(&program, &views, crowd, &of));
            match state.violated(&program) {
                Some(Outcome::Wrong(_)) => {
                    violations += 1;
                    assert!(seen, "{seed}: {views:?}\n{state:?}\n{:?}", program.never);
                }
                Some(_) => {}
                None => *(if seen { &mut suspected } else { &mut fine }) += 1,
            }
        }
    }
    println!("{violations} violations; of other states, {fine} are fine and {suspected} suspected");
    assert!(violations > 5000 && fine > 5000, "{violations} {fine} {suspected}");
}

/// Wrong properties: each changes one part.
fn misread(expr: &Expr) -> Vec<Expr> {
    let mut all = Vec::new();
    let boxed = |expr: &Expr| Box::new(expr.clone());
    match expr {
        Expr::Constant(number) => all.extend([Expr::Constant(number - 1), Expr::Constant(number + 1)]),
        Expr::Unary(operator, operand) => {
            all.push((**operand).clone());
            all.extend(misread(operand).into_iter().map(|part| Expr::Unary(*operator, Box::new(part))));
        }
        Expr::Binary(operator, left, right, span) => {
            let other = match operator {
                Binary::And => Some(Binary::Or),
                Binary::Or => Some(Binary::And),
                Binary::Less => Some(Binary::LessEqual),
                Binary::LessEqual => Some(Binary::Less),
                Binary::Greater => Some(Binary::GreaterEqual),
                Binary::GreaterEqual => Some(Binary::Greater),
                Binary::Equal => Some(Binary::Unequal),
                Binary::Unequal => Some(Binary::Equal),
                _ => None,
            };
            all.extend(other.map(|other| Expr::Binary(other, left.clone(), right.clone(), *span)));
            let to_left = misread(left).into_iter();
            all.extend(to_left.map(|part| Expr::Binary(*operator, Box::new(part), boxed(right), *span)));
            let to_right = misread(right).into_iter();
            all.extend(to_right.map(|part| Expr::Binary(*operator, boxed(left), Box::new(part), *span)));
        }
        _ => {}
    }
    all
}

/// The finder takes properties apart into alternatives, the checker evaluates them as they are. What the checker finds bad the
/// finder does as well, or its proofs would be rejected; and if one of them misreads a part of the property, that is noticed.
#[test]
fn the_checker_and_the_finder_read_properties_alike() {
    let (mut compared, mut stricter, mut caught, mut missed) = (0, 0, 0, 0);
    for seed in seeds(2000) {
        let mut rng = Rng::with_seed(seed);
        let (mut program, views) = counting(&mut rng, 2, seed % 2 == 0);
        let translated = Steps::new(&program).expect("it has formulas");
        let alternatives = alternatives(&program, &translated, &views).expect("few");
        let mut looks = Vec::new();
        for _ in 0..20 {
            let state = anywhere(&mut rng, &program, &views);
            let of = shared_values(&program, &state);
            looks.extend(crowds(&views, &state).into_iter().map(|crowd| (crowd, of.clone())));
        }
        looks.truncate(300);
        let bad = |crowd: &[LocationId], of: &BTreeMap<String, i128>| {
            alternatives.iter().any(|bad| bad.met(crowd) && value(&bad.condition, of) != 0)
        };
        looks.retain(|(crowd, of)| {
            let (found, checked) = (bad(crowd, of), shown(&program, &views, crowd, of));
            assert!(found || !checked, "{seed}: {views:?} {crowd:?} {of:?}\n{:?}", program.never);
            // Only the checker knows that less than no thread is nowhere.
            stricter += usize::from(found != checked);
            found == checked
        });
        compared += looks.len();
        let expected: Vec<bool> = looks.iter().map(|(crowd, of)| bad(crowd, of)).collect();
        let agrees = |program: &Program, index: usize| {
            shown(program, &views, &looks[index].0, &looks[index].1) == expected[index]
        };
        // The others have much that cannot matter, such as whether `at(a) < 2` or `at(a) < 3` needs no thread to be true.
        let mutants = if seed % 2 == 0 { misread(&program.never[0].expr) } else { Vec::new() };
        for mutant in mutants {
            program.never[0].expr = mutant;
            let noticed = !(0..looks.len()).all(|index| agrees(&program, index));
            *(if noticed { &mut caught } else { &mut missed }) += 1;
        }
    }
    println!("{compared} alike, {stricter} bad for the finder alone; {caught} mutants noticed, {missed} not");
    // Not all of a property has a say: `p` in `true || p`, or more threads than a view has.
    assert!(
        compared > 20 * stricter && caught > 1000 && missed < caught,
        "{compared} {stricter} {caught} {missed}"
    );
}

/// What goes wrong while a count is compared violates a property, whatever the rest of it says. Once, neither the finder nor the
/// checker asked.
#[test]
fn a_count_may_be_divided_by_zero() {
    let program = parsed(
        "shared int x = 1, y; thread p[*] { loop { a: skip; x = 1 - x; } }\nnever at(a) / x >= 0 - 5 && y == 1;",
    )
    .expect("a program");
    assert!(explore(&program, &[1], 100).1);
    if solver() {
        assert!(find(&program, &reduce(&program), &[None], &Settings::default(), &|| None).views.is_err());
        let rows = LocationId::all(&program.locations).map(|location| (vec![location], Term::truth(true)));
        let views = Views { counts: vec![None], size: 1, rows: rows.collect(), ..Views::default() };
        let verdict = judged(&program, &views);
        assert!(
            matches!(&verdict, Err(Rejection::NotClosed(why)) if why.contains("property")),
            "{verdict:?}"
        );
    }
}

#[test]
fn formulas_mean_what_programs_mean() {
    let (mut compared, mut programs) = (0, 0);
    for seed in seeds(600) {
        let text = text(seed, Mode::Threads);
        let Some(program) = parsed(&text) else { continue };
        let counts: Vec<usize> = State::counts(&program).iter().map(|&count| count.max(1)).collect();
        programs += usize::from(compare(&format!("{seed}\n{text}"), &program, &counts, &mut compared));
    }
    for seed in seeds(600) {
        let text = integers(seed);
        let program = parsed(&text).unwrap_or_else(|| panic!("{text}"));
        assert!(compare(&format!("integers {seed}\n{text}"), &program, &[2], &mut compared), "{text}");
        programs += 1;
    }
    println!("{programs} programs, {compared} pairs of sets of steps");
    assert!(compared > 10_000 && programs > 650, "too few: {programs}, {compared}");
}

fn solver() -> bool {
    let there = Process::start(&Settings::default(), &|| false).is_ok();
    if !there {
        println!("skipped: there is no z3");
    }
    there
}

fn judged(program: &Program, views: &Views) -> Result<(), Rejection> {
    let subject = Subject::Program { program, counts: &views.counts };
    certify(&subject, &Certificate::from(views.clone()), &mut Judge::new(&|| None))
}

fn written(program: &Program, views: &Views) -> Vec<u8> {
    let mut text = Vec::new();
    let subject = Subject::Program { program, counts: &views.counts };
    write_evidence(&subject, &Certificate::from(views.clone()), &mut text).expect("memory");
    text
}

fn read_views(program: &Program, text: &[u8]) -> Result<Views, BadEvidence> {
    match read_evidence(&Subject::Program { program, counts: &[] }, text)? {
        Evidence::Certificate(Certificate::Views(views)) => Ok(*views),
        other => panic!("{} is not about programs", other.kind()),
    }
}

/// Whether all views of a state are in a set of views, by evaluating its formulas.
fn contains(translated: &Steps, views: &Views, state: &State) -> bool {
    let top = |thread: usize| state.threads[thread].top().expect("it has not ended");
    let mut of: BTreeMap<String, i128> = BTreeMap::new();
    let values = state.shared.iter().map(|&value| value.into()).chain(started(translated, state));
    for (known, value) in translated.shared.iter().zip(values) {
        of.insert(known.name.clone(), value);
    }
    for (index, weights) in views.weights.iter().enumerate() {
        let weight = |thread: usize| weights.get(&top(thread).location).copied().unwrap_or(0);
        of.insert(weighed(index), (0..state.threads.len()).map(weight).sum::<i64>().into());
    }
    tuples(state.threads.len(), views.size).into_iter().all(|threads| {
        let locations: Vec<LocationId> = threads.iter().map(|&thread| top(thread).location).collect();
        if !locations.windows(2).all(|pair| pair[0] <= pair[1]) {
            return true;
        }
        let mut of = of.clone();
        for (position, &thread) in threads.iter().enumerate() {
            let moving = &state.threads[thread];
            for (slot, known) in translated.locals[moving.template.index()].iter().enumerate() {
                let value = match known.name.as_str() {
                    ID if known.hidden => moving.id as i64 + 1,
                    SELF if known.hidden => moving.this,
                    _ => top(thread).locals[slot],
                };
                of.insert(local(&known.name, position), value.into());
            }
        }
        views.rows.get(&locations).is_some_and(|formula| value(formula, &of) != 0)
    })
}

/// All ways to take so many different numbers below a bound, in every order.
fn tuples(below: usize, many: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..many {
        let longer = all.iter().flat_map(|one| {
            let free = (0..below).filter(|number| !one.contains(number));
            free.map(|number| one.iter().copied().chain([number]).collect::<Vec<_>>()).collect::<Vec<_>>()
        });
        all = longer.collect();
    }
    all
}

/// What is proved does not go wrong with up to three threads, as far as brute force looks, and contains what is seen there; and
/// evidence survives being written.
#[test]
fn what_views_prove_brute_force_cannot_refute() {
    if !solver() {
        return;
    }
    let (mut proved, mut refuted, mut narrowed, mut still) = (0, 0, 0, 0);
    for seed in seeds(40) {
        let mut rng = Rng::with_seed(seed);
        let text = integers(seed);
        let program = parsed(&text).unwrap_or_else(|| panic!("{text}"));
        let open = State::counts(&program)[0] == 0;
        let deadline = Instant::now() + Duration::from_secs(2);
        let stop = || (Instant::now() > deadline).then_some(StopReason::Time);
        let counts = [if open { None } else { Some(2) }];
        let found = find(&program, &reduce(&program), &counts, &Settings::default(), &stop);
        let numbers = if open { 1..=3 } else { 2..=2 };
        let wrong = numbers.clone().any(|count| explore(&program, &[count], 3000).1);
        refuted += usize::from(wrong);
        let Ok(views) = found.views else { continue };
        assert!(!wrong, "{seed}\n{text}");
        proved += 1;
        let translated = Steps::new(&program).expect("it was proved");
        for count in numbers.filter(|&count| count >= views.size) {
            for state in explore(&program, &[count], 300).0 {
                assert!(contains(&translated, &views, &state), "{seed}\n{text}\n{state:?}");
            }
        }
        let read = read_views(&program, &written(&program, &views)).unwrap_or_else(|bad| panic!("{bad}"));
        judged(&program, &read).unwrap_or_else(|rejection| panic!("{seed}\n{text}\n{rejection}"));
        // Views that allow less are no proof, unless they still contain all that is seen.
        for locations in views.rows.keys() {
            let mut less = views.clone();
            let row = less.rows.remove(locations).expect("a row");
            if rng.bool() {
                let bound = Term::variable("x").at_most(&Term::number(rng.i64(0..3)));
                less.rows.insert(locations.clone(), Term::and([row, bound]));
            }
            let accepted = judged(&program, &less).is_ok();
            *(if accepted { &mut still } else { &mut narrowed }) += 1;
            let count = if open { views.size.max(2) } else { 2 };
            if accepted {
                for state in explore(&program, &[count], 300).0 {
                    assert!(contains(&translated, &less, &state), "{seed}\n{text}\n{state:?}");
                }
            }
        }
    }
    println!("{proved} proved, {refuted} refuted; of narrowed proofs {narrowed} rejected, {still} not");
    assert!(proved > 5 && refuted > 5, "too few: {proved}, {refuted}");
}

const TICKET: &str = "shared int s, t;
thread client[*] { int l; loop { l, t = t, t + 1; await s == l; crit: skip; s = s + 1; } }
never at(crit) >= 2;";

fn ticket() -> (Program, Views) {
    let program = parsed(TICKET).expect("a program");
    let views =
        find(&program, &reduce(&program), &[None], &Settings::default(), &|| None).views.expect("a proof");
    (program, views)
}

/// Views that lack a row, or a part of one, are not closed; views that say nothing contain what is bad.
#[test]
fn corrupted_views_are_rejected() {
    if !solver() {
        return;
    }
    let (program, views) = ticket();
    judged(&program, &views).expect("it is right");
    for locations in views.rows.keys() {
        let mut missing = views.clone();
        missing.rows.remove(locations);
        assert!(matches!(judged(&program, &missing), Err(Rejection::NotClosed(_))), "without {locations:?}");
        let mut narrow = views.clone();
        let shared = Term::variable("s").at_most(&Term::number(3));
        let formula = Term::and([views.rows[locations].clone(), shared]);
        narrow.rows.insert(locations.clone(), formula);
        assert!(matches!(judged(&program, &narrow), Err(Rejection::NotClosed(_))), "narrow at {locations:?}");
    }
    let mut wide = views.clone();
    wide.rows.values_mut().for_each(|formula| *formula = Term::truth(true));
    assert!(matches!(judged(&program, &wide), Err(Rejection::NotClosed(_))));
    let mut small = views.clone();
    small.size = 1;
    assert!(matches!(judged(&program, &small), Err(Rejection::Malformed(_))));
    let mut foreign = views.clone();
    foreign
        .rows
        .values_mut()
        .for_each(|formula| *formula = Term::variable("nobody").at_most(&Term::number(0)));
    assert!(matches!(judged(&program, &foreign), Err(Rejection::Malformed(_))));
    // Weights where threads start are sums that nobody knows.
    let mut heavy = views;
    heavy.weights.push(BTreeMap::from([(LocationId(0), 1)]));
    assert!(matches!(judged(&program, &heavy), Err(Rejection::Malformed(_))));
}

/// Texts that are cut, or in which something is replaced, are refused with a place, or mean something; nothing panics.
#[test]
fn hostile_texts_of_views() {
    if !solver() {
        return;
    }
    let (program, views) = ticket();
    let text = written(&program, &views);
    for end in 0..text.len() - 1 {
        let whole = text[..end].ends_with(b"\nend 10") || read_views(&program, &text[..end]).is_err();
        assert!(whole, "cut after {end} bytes");
    }
    let text = String::from_utf8(text).expect("text");
    for (from, to) in [
        ("client=*", "client=-1"),
        ("client=*", "client=99999999999999999999"),
        ("client=*", "other=*"),
        ("size 2", "size 0"),
        ("size 2", "size 9"),
        ("row 1 1:", "row 1 99:"),
        ("row 1 1:", "row 2 1:"),
        ("row 1 1:", "row 1:"),
        ("|s|", "|unknown|"),
        ("|s|", "s)"),
        ("(<=", "(*"),
        ("end ", "end 9"),
        ("allways views 1", "allways views 2"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        assert!(read_views(&program, changed.as_bytes()).is_err(), "{to}");
    }
    let deep = format!("{}true{}", "(not ".repeat(100_000), ")".repeat(100_000));
    let first = text.find("row ").expect("a row");
    let deep = format!("{}row 0 0: {deep}\nend 1\n", &text[..first]);
    assert!(read_views(&program, deep.as_bytes()).is_err());
    assert!(read_views(&program, b"allways views 1\n\xff").is_err());
}

fn corpus(name: &str) -> Program {
    let path = format!("{}/../../corpus/aw/{name}.aw", env!("CARGO_MANIFEST_DIR"));
    parsed(&std::fs::read_to_string(path).expect("a file of the corpus")).expect("a program")
}

/// A location of thread 0, and what it sees there.
type Seen = (LocationId, Vec<i64>);

/// What thread 0 sees, by a function, in the states that are found with so many threads.
fn seen(program: &Program, threads: usize, most: usize, see: &dyn Fn(&State) -> Vec<i64>) -> BTreeSet<Seen> {
    let (states, _) = explore(program, &[threads], most);
    let first = |state: &State| state.threads[0].top().expect("it stays").location;
    states.iter().map(|state| (first(state), see(state))).collect()
}

/// DrUBA, section 5: the abstract states of program P. The numbers are the paper's.
#[test]
fn abstract_states_of_program_p() {
    let program = corpus("int-druba-figure-1");
    let own = |state: &State| state.threads[0].top().expect("it stays").locals[0];
    // The shared variables are m and s.
    let second =
        |state: &State| vec![i64::from(state.shared[1] == own(state)), i64::from(state.shared[0] == 1)];
    let third = |state: &State| [second(state), vec![i64::from(state.shared[0] == 0)]].concat();
    assert_eq!(seen(&program, 2, 2000, &second).len(), 12);
    assert_eq!(seen(&program, 3, 8000, &second).len(), 13);
    assert_eq!(seen(&program, 3, 8000, &third).len(), 14);
    assert_eq!(seen(&program, 4, 30_000, &third).len(), 14);
}

/// The argument of DrUBA, section 5.2, taken literally: what thread 0 sees (its location and s) stays the same from two threads
/// to three, and each of its statements is a function of that, so nothing is left to test. With four threads it goes wrong.
#[test]
fn a_plateau_of_one_thread_is_no_proof() {
    let program = corpus("int-plateau-wrong");
    let see = |state: &State| state.shared.clone();
    let views: Vec<_> = (2..=4).map(|threads| seen(&program, threads, 10_000, &see)).collect();
    assert_eq!(views[0], views[1], "a plateau");
    assert!(!explore(&program, &[3], 10_000).1, "nothing goes wrong up to there");
    let mut led: BTreeMap<Seen, BTreeSet<Seen>> = BTreeMap::new();
    for state in explore(&program, &[3], 10_000).0 {
        let from = (state.threads[0].top().expect("it stays").location, state.shared.clone());
        for step in steps(&program, &state, 0) {
            let Outcome::To(next) = step.outcome else { panic!("nothing goes wrong up to there") };
            let to = (next.threads[0].top().expect("it stays").location, next.shared);
            assert!(views[0].contains(&to), "closed under what thread 0 does");
            led.entry(from.clone()).or_default().insert(to);
        }
    }
    assert!(led.values().all(|to| to.len() == 1), "each statement respects the abstraction");
    assert_ne!(views[1], views[2], "and yet");
    assert!(explore(&program, &[4], 10_000).1);
    if solver() {
        let found = find(&program, &reduce(&program), &[None], &Settings::default(), &|| None);
        assert!(found.views.is_err(), "no views prove what is wrong");
    }
}

/// Choices of a property are made one by one: what can be true once and false once is violated.
#[test]
fn choices_of_a_property_are_different_ones() {
    let mut program =
        parsed("shared int x; thread p[*] { loop { x = x + 1; } }\nnever x == 3;").expect("a program");
    let and = |left, right| Expr::Binary(Binary::And, Box::new(left), Box::new(right), Span::default());
    let star = Expr::Choose(0, 1);
    let both = and(star.clone(), Expr::Unary(Unary::Not, Box::new(star)));
    program.never[0].expr = and(program.never[0].expr.clone(), both);
    assert!(explore(&program, &[1], 100).1);
    if solver() {
        assert!(find(&program, &reduce(&program), &[None], &Settings::default(), &|| None).views.is_err());
    }
}
