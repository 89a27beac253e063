//! The finder and the checker translate steps each in their own way: both against the reference, and against each other.

use super::*;

/// Where a step leads: the shared values, the location and the local values; nothing if it goes wrong.
type Led = Option<(Vec<i128>, LocationId, Vec<i128>)>;

/// The values of the hidden variables that say whether a thread of a template was started: whether there is one.
pub(super) fn started(translated: &Steps, state: &State) -> Vec<i128> {
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

/// Both translations against the reference, in states that can be reached.
fn compare(name: &str, program: &Program, counts: &[usize], compared: &mut usize) -> bool {
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
