//! Properties, as the finder and the checker read them.

use super::*;

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
