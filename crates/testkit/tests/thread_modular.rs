//! Thread-modular methods: the paper's examples set by set, and random systems against the paper's definitions, against brute
//! force, and through the checker.
//!
//! `ALLWAYS_RANDOM=N` sets the number of random systems.

use allways_engines::{Engine, Question};
use allways_evidence::{Certificate, Products, Verdict};
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{Explicit, Pushdown, Rule, Shared, Stack, State, Symbol};
use allways_testkit::conformance::engines;
use allways_testkit::conformance::{accepted, ask, read, written};
use allways_testkit::families::modular::{example_13, example_15, example_16, example_23, section_3};
use allways_testkit::modular::{self, Tuple, tuples};
use allways_testkit::{random, reference};
use std::collections::BTreeSet;

const METHODS: [&str; 5] =
    ["modular", "modular-quadratic", "modular-relaxed", "modular-both", "modular-frontier"];

fn engine(name: &str) -> &'static dyn Engine {
    *engines().iter().find(|engine| engine.info().name == name).expect("an engine")
}

/// The products that a method computes, accepted by the checker. Nothing is to be avoided, so all of it is there.
fn products(name: &str, system: &dyn Pushdown, no_symmetry: bool) -> Option<Products> {
    let question = Question { no_symmetry, max_states: Some(100_000), ..Question::default() };
    match ask(engine(name), system, &question).verdict {
        Verdict::Safe(Certificate::Products(products)) => Some(products),
        Verdict::Unknown(_) => None,
        other => panic!("{name}: {other:?}"),
    }
}

fn sets(name: &str, system: &dyn Pushdown) -> Vec<Tuple> {
    let products = products(name, system, false).expect("it ends");
    tuples(&products).into_iter().map(|(_, tuple)| tuple).collect()
}

/// For each thread, thread states such as `0A`: a shared state and a label.
fn tuple(texts: &[&str]) -> Tuple {
    let state = |text: &str| {
        let (shared, label) = text.split_at(text.len() - 1);
        let label = match label.as_bytes()[0] {
            digit @ b'0'..=b'9' => digit - b'0' + 1,
            letter => letter - b'A' + 1,
        };
        (shared.parse().expect("a number"), Stack::from_top([Symbol(u32::from(label))]))
    };
    texts.iter().map(|text| text.split_whitespace().map(state).collect()).collect()
}

/// Whether a method proves that no state looks like this.
fn proves(name: &str, system: &dyn Pushdown, shared: Option<Shared>, tops: &[Option<u32>]) -> bool {
    let bad = vec![Pattern { shared, tops: tops.iter().map(|top| top.map(Symbol)).collect() }];
    let question = Question { property: Property { bad, deadlock: false }, ..Question::default() };
    matches!(ask(engine(name), system, &question).verdict, Verdict::Safe(_))
}

fn union(tuples: &[Tuple]) -> Tuple {
    tuples.iter().skip(1).fold(tuples[0].clone(), |one, other| modular::join(&one, other))
}

#[test]
fn section_3_has_the_sets_of_the_paper() {
    // Thread 2's labels C and D are its first and second.
    let expected = tuple(&["0A 0B 1A 1B", "0A 0B 1B"]);
    assert_eq!(sets("modular", &section_3()), std::slice::from_ref(&expected));
    let joint = modular::gamma(&expected);
    assert_eq!(joint.len(), 6);
    assert_eq!(modular::local_cartesian(&section_3()), Some(joint));
}

#[test]
fn example_13_has_the_sets_of_the_paper_with_all_methods() {
    let system = example_13(3);
    let expected = tuple(&["10 11 20 30 00", "10 11 20 21 30 00", "10 11 20 21 30 31 00"]);
    assert_eq!(sets("modular", &system), std::slice::from_ref(&expected));
    let (reachable, _) = reference::reachable(&system, 1, 1000).expect("few states");
    assert_eq!(modular::gamma(&expected), reachable, "the sets are exact");
    for method in METHODS {
        let tuples = sets(method, &system);
        assert_eq!(union(&tuples), expected, "{method}");
        let joint: BTreeSet<State> = tuples.iter().flat_map(modular::gamma).collect();
        assert_eq!(joint, reachable, "{method}");
    }
    // The run of the paper, column by column.
    let columns = [
        "1000", "1100", "2000", "1010", "1110", "2010", "3000", "1001", "1101", "2001", "1011", "1111",
        "2011", "3001", "0000",
    ];
    let column = |text: &str| {
        let labels: Vec<String> =
            (1..4).map(|place| format!("{}{}", &text[..1], &text[place..=place])).collect();
        tuple(&labels.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let run: Vec<Tuple> = columns.iter().map(|text| column(text)).collect();
    assert_eq!(sets("modular-frontier", &system), run);
}

#[test]
fn example_15_needs_to_forget_the_past() {
    let system = example_15();
    let expected = tuple(&["0A 0B 0C 0D 1A 1B 1C 1D", "0A 0C 1B"]);
    assert_eq!(sets("modular", &system), [expected]);
    let table = [
        tuple(&["0A", "0A"]),
        tuple(&["1A", "1B"]),
        tuple(&["1B 0A", "1B 0C"]),
        tuple(&["0B", "0C"]),
        tuple(&["0C", "0C"]),
    ];
    assert_eq!(sets("modular-relaxed", &system), table);
    assert_eq!(sets("modular-frontier", &system), table);
    let at_d = [Some(4), None];
    for (method, expected) in METHODS.into_iter().zip([false, false, true, true, true]) {
        assert_eq!(proves(method, &system, None, &at_d), expected, "{method}");
    }
}

#[test]
fn example_16_needs_to_know_who_moved() {
    let system = example_16();
    let expected = tuple(&["0A 1A 1B", "0A 1A 1B"]);
    assert_eq!(sets("modular", &system), [expected]);
    let both_at_b = [Some(2), Some(2)];
    for (method, expected) in METHODS.into_iter().zip([false, true, false, true, false]) {
        assert_eq!(proves(method, &system, None, &both_at_b), expected, "{method}");
    }
}

#[test]
fn example_23_is_proved_for_every_number_of_threads() {
    for n in [2, 3, 10, 100] {
        let system = example_23(n);
        for no_symmetry in [false, true] {
            let products = products("modular-quadratic", &system, no_symmetry).expect("it ends");
            let tuples = tuples(&products);
            assert_eq!(tuples.len(), n);
            let (own, other) = (tuple(&["0A 1B 0C"]).remove(0), tuple(&["0A 1A 0C 1C"]).remove(0));
            for (mover, sets) in tuples {
                for (thread, set) in sets.into_iter().enumerate() {
                    assert_eq!(set, if Some(thread) == mover { own.clone() } else { other.clone() });
                }
            }
        }
        let mut tops = vec![None; n];
        (tops[n - 1], tops[0]) = (Some(2), Some(2));
        assert!(proves("modular-quadratic", &system, None, &tops), "{n} threads");
        assert!(proves("modular-both", &system, None, &tops), "{n} threads");
        assert!(!proves("modular", &system, None, &tops), "{n} threads");
    }
}

/// A system in which some threads stand for any number of threads.
struct Crowd {
    system: Explicit,
    many: Vec<bool>,
}

impl Pushdown for Crowd {
    fn threads(&self) -> usize {
        self.system.threads()
    }

    fn initial(&self) -> Vec<State> {
        self.system.initial()
    }

    fn rules(&self, thread: usize, shared: Shared, top: Symbol, out: &mut Vec<Rule>) {
        self.system.rules(thread, shared, top, out);
    }

    fn many(&self, thread: usize) -> bool {
        self.many[thread]
    }

    fn shared_name(&self, shared: Shared) -> String {
        self.system.shared_name(shared)
    }

    fn shared_named(&self, name: &str) -> Option<Shared> {
        self.system.shared_named(name)
    }

    fn symbol_name(&self, thread: usize, symbol: Symbol) -> String {
        self.system.symbol_name(thread, symbol)
    }

    fn symbol_named(&self, thread: usize, name: &str) -> Option<Symbol> {
        self.system.symbol_named(thread, name)
    }
}

impl Crowd {
    /// The system with so many threads in place of each that stands for any number; and which thread each of them is like.
    fn with(&self, count: usize) -> Option<(Explicit, Vec<usize>)> {
        let like = (0..self.system.threads())
            .flat_map(|thread| std::iter::repeat_n(thread, if self.many[thread] { count } else { 1 }));
        let like: Vec<usize> = like.collect();
        let threads = like.iter().map(|&thread| self.system.threads[thread].clone()).collect();
        let stacks = like.iter().map(|&thread| self.system.initial.stacks[thread].clone()).collect();
        let initial = State { shared: self.system.initial.shared, stacks };
        let system = Explicit { shared_states: self.system.shared_states, threads, initial };
        (!like.is_empty()).then_some((system, like))
    }
}

#[test]
fn example_23_is_proved_for_any_number_of_threads() {
    let crowd = Crowd { system: example_23(1), many: vec![true] };
    let products = products("modular-quadratic", &crowd, false).expect("it ends");
    assert!(products.any_number());
    let [(Some(0), mover)] = &tuples(&products)[..] else { panic!("one product, with a mover") };
    assert_eq!(*mover, tuple(&["0A 1B 0C"]));
    let rest: BTreeSet<_> =
        products.products[0].rest[0].iter().map(|fact| (fact.shared, Stack::from_top([fact.top]))).collect();
    assert_eq!(rest, tuple(&["0A 1A 0C 1C"])[0]);
}

/// What is known of a system by brute force: its reachable states, if stacks stay within bounds.
fn reachable(system: &Explicit) -> Option<BTreeSet<State>> {
    reference::reachable(system, modular::DEEPEST, 2000).filter(|(_, cut)| !cut).map(|(states, _)| states)
}

/// How many states a tuple represents, about.
fn represented(tuple: &Tuple) -> usize {
    tuple.iter().map(BTreeSet::len).product()
}

#[test]
fn random_systems_have_the_sets_of_the_definitions() {
    let (mut compared, mut recursive) = (0, 0);
    for seed in random::seeds(400) {
        let system = random::system(seed, random::SMALL);
        let found = METHODS.map(|method| products(method, &system, seed % 2 == 0));
        let tuples = found.map(|products| products.map(|products| tuples(&products)));
        let joint = |method: usize| -> Option<BTreeSet<State>> {
            let tuples = tuples[method].as_ref()?;
            let few = tuples.iter().map(|(_, tuple)| represented(tuple)).sum::<usize>() < 3000;
            few.then(|| tuples.iter().flat_map(|(_, tuple)| modular::gamma(tuple)).collect())
        };
        let plain = |method: usize| -> Option<Vec<Tuple>> {
            Some(tuples[method].as_ref()?.iter().map(|(_, tuple)| tuple.clone()).collect())
        };
        if let Some(expected) = modular::modular(&system) {
            let sets = plain(0).expect("it ends");
            assert_eq!(sets, std::slice::from_ref(&expected), "seed {seed}");
            if represented(&expected) < 2000 {
                assert_eq!(modular::local_cartesian(&system), Some(modular::gamma(&expected)), "seed {seed}");
            }
        } else {
            recursive += 1;
        }
        if let Some(expected) = modular::quadratic(&system) {
            let mut sets = tuples[1].clone().expect("it ends");
            sets.sort_by_key(|(mover, _)| *mover);
            let sets: Vec<Tuple> = sets.into_iter().map(|(_, tuple)| tuple).collect();
            assert_eq!(sets, expected, "seed {seed}");
        }
        if let Some(expected) = modular::relaxed(&system) {
            assert_eq!(plain(2), Some(expected), "seed {seed}");
        }
        if let Some(expected) = modular::frontier(&system, 40) {
            assert_eq!(plain(4), Some(expected), "seed {seed}");
        }
        // With stacks of any depth, those of a few symbols are compared.
        if let Some((states, _)) = reference::reachable(&system, 4, 2000) {
            for (method, tuples) in METHODS.iter().zip(&tuples) {
                let Some(tuples) = tuples else { continue };
                let inside = |state: &&State| {
                    let has = |tuple: &Tuple| {
                        let mut stacks = tuple.iter().zip(&state.stacks);
                        stacks.all(|(set, stack)| set.contains(&(state.shared, stack.clone())))
                    };
                    tuples.iter().any(|(_, tuple)| has(tuple))
                };
                assert_eq!(states.iter().find(|state| !inside(state)), None, "seed {seed}: {method}");
            }
        }
        let unions = [0, 1].map(|method| union(&plain(method).expect("it ends")));
        assert!(modular::within(&unions[1], &unions[0]), "seed {seed}: Proposition 22");
        // Precision: what is represented, from the finest to the coarsest.
        let states = reachable(&system);
        let [coarsest, quadratic, relaxed, both, frontier] = [0, 1, 2, 3, 4].map(joint);
        let ordered = |finer: &Option<BTreeSet<State>>, coarser: &Option<BTreeSet<State>>, what: &str| {
            if let (Some(finer), Some(coarser)) = (finer, coarser) {
                assert!(finer.is_subset(coarser), "seed {seed}: {what}");
            }
        };
        for (name, method) in METHODS.iter().zip([&coarsest, &quadratic, &relaxed, &both, &frontier]) {
            ordered(&states, method, &format!("{name} misses a reachable state"));
        }
        ordered(&quadratic, &coarsest, "quadratic is coarser than modular");
        ordered(&relaxed, &coarsest, "relaxed is coarser than modular");
        ordered(&both, &relaxed, "both is coarser than relaxed");
        ordered(&both, &quadratic, "both is coarser than quadratic");
        compared += u64::from(states.is_some());
    }
    println!(
        "{compared} systems compared with brute force; {recursive} with stacks too deep for the definitions"
    );
}

#[test]
fn random_proofs_are_right() {
    let mut proved = [0_u64; METHODS.len()];
    let mut safe = 0;
    let mut chance = fastrand::Rng::with_seed(5);
    for seed in random::seeds(1500) {
        let system = random::system(1_000_000 + seed, random::SMALL);
        let Some((states, cut)) = reference::reachable(&system, 4, 5000) else { continue };
        // Parts of reachable states, put together at random.
        let seen: Vec<State> = states.iter().cloned().collect();
        let mut some = || &seen[chance.usize(0..seen.len())];
        let shared = Some(some().shared);
        let tops = (0..system.threads()).map(|thread| Some(some().stacks[thread].top())).collect();
        let property = Property { bad: vec![Pattern { shared, tops }], deadlock: seed % 4 == 0 };
        let reached = states.iter().any(|state| property.violated_by(&system, &state.visible()));
        safe += u64::from(!reached && !cut);
        let no_symmetry = seed % 2 == 0;
        let question = Question { property, no_symmetry, max_states: Some(20_000), ..Question::default() };
        for (method, proved) in METHODS.iter().zip(&mut proved) {
            if let Verdict::Safe(_) = ask(engine(method), &system, &question).verdict {
                assert!(!reached, "seed {seed}: {method} claims a proof");
                *proved += 1;
            }
        }
    }
    println!("{safe} safe by brute force; proved: {:?}", METHODS.iter().zip(proved).collect::<Vec<_>>());
}

#[test]
fn random_proofs_for_any_number_of_threads_are_right() {
    let (mut proved, mut compared) = ([0_u64; METHODS.len()], 0);
    let mut chance = fastrand::Rng::with_seed(6);
    let size = random::Size { threads: 2, ..random::SMALL };
    for seed in random::seeds(1500) {
        let system = random::system(2_000_000 + seed, size);
        let mut many: Vec<bool> = (0..system.threads()).map(|_| chance.bool()).collect();
        many[0] = true;
        let crowd = Crowd { system, many };
        let several: Vec<_> = (0..=4).filter_map(|count| crowd.with(count)).collect();
        // What is computed for any number is what is computed for two and more, or for three and more.
        for (method, least) in [("modular", 2), ("modular-quadratic", 3)] {
            let any = products(method, &crowd, false).expect("it ends");
            for (system, like) in several.iter().filter(|(_, like)| like.len() >= least) {
                let enough = |thread| like.iter().filter(|other| **other == thread).count() >= least;
                if !(0..crowd.threads()).all(|thread| !crowd.many[thread] || enough(thread)) {
                    continue;
                }
                let fixed = products(method, system, false).expect("it ends");
                assert_eq!(facts(&crowd, &any), facts(system, &fixed), "seed {seed}: {method}");
                compared += 1;
            }
        }
        let top = Symbol(chance.u32(0..4));
        let shared = chance.u32(0..crowd.system.shared_states);
        let tops = |like: &[usize]| like.iter().map(|&thread| (thread == 0).then_some(top)).collect();
        let property = |system: &dyn Pushdown, like: &[usize]| {
            let first = like.iter().position(|&thread| thread == 0);
            let mut tops: Vec<Option<Symbol>> = vec![None; system.threads()];
            first.into_iter().for_each(|first| tops[first] = Some(top));
            Property { bad: vec![Pattern { shared: Some(Shared(shared)), tops }], deadlock: seed % 3 == 0 }
        };
        let own: Vec<Option<Symbol>> = tops(&(0..crowd.threads()).collect::<Vec<_>>());
        let bad = vec![Pattern { shared: Some(Shared(shared)), tops: own }];
        let question = Question {
            property: Property { bad, deadlock: seed % 3 == 0 },
            max_states: Some(20_000),
            ..Question::default()
        };
        for (method, proved) in METHODS.iter().zip(&mut proved) {
            if !matches!(ask(engine(method), &crowd, &question).verdict, Verdict::Safe(_)) {
                continue;
            }
            *proved += 1;
            for (system, like) in &several {
                let property = property(system, like);
                let Some((states, _)) = reference::reachable(system, 3, 3000) else { continue };
                let violated = states.iter().find(|state| {
                    (like.contains(&0) || property.deadlock)
                        && property.violated_by(system, &state.visible())
                        && (like.contains(&0) || property.bad.is_empty())
                });
                assert_eq!(violated, None, "seed {seed}: {method} with {} threads", like.len());
            }
        }
    }
    println!("{compared} times the same sets; proved: {:?}", METHODS.iter().zip(proved).collect::<Vec<_>>());
}

/// The facts of products, whatever the numbers of kinds, contexts and products: rows of names, sorted.
fn facts(system: &dyn Pushdown, products: &Products) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for product in &products.products {
        let leader = |kind: usize| products.kinds.members(kind)[0];
        let mover = product.mover.iter().map(|(kind, facts)| (true, *kind, facts));
        let rest = product.rest.iter().enumerate().map(|(kind, facts)| (false, kind, facts));
        let view = product.mover.as_ref().map(|(kind, _)| leader_rules(system, leader(*kind)));
        for (moved, kind, facts) in mover.chain(rest) {
            for fact in facts {
                let who = leader_rules(system, leader(kind));
                all.insert(format!("{view:?} {moved} {who} {}|{}", fact.shared, fact.top));
            }
        }
    }
    all
}

/// A name for a kind of threads that does not depend on how many others there are: how they start, and what they do.
fn leader_rules(system: &dyn Pushdown, thread: usize) -> String {
    let stack: Vec<Symbol> = system.initial()[0].stacks[thread].symbols().collect();
    let mut rules = Vec::new();
    for shared in 0..3 {
        for top in 0..5 {
            let mut here = Vec::new();
            system.rules(thread, Shared(shared), Symbol(top), &mut here);
            rules.extend(here.iter().map(|rule| (shared, top, rule.shared, rule.word)));
        }
    }
    format!("{stack:?} {rules:?}")
}

#[test]
fn evidence_reads_back_and_corrupted_evidence_is_rejected() {
    let (mut dropped, mut whole) = (0, 0);
    for seed in 0..200 {
        let system = random::system(3_000_000 + seed, random::SMALL);
        for method in METHODS {
            let Some(products) = products(method, &system, false) else { continue };
            let text = written(&system, &Certificate::from(products.clone()));
            let again = read(&system, &text).unwrap_or_else(|bad| panic!("seed {seed}: {method}: {bad}"));
            assert_eq!(accepted(&system, &Property::default(), &again), Ok(()), "seed {seed}: {method}");
            assert_eq!(written(&system, &again), text, "seed {seed}: {method}");
            whole += 1;
            // Without a fact, the least sets are not closed any more. Sequences may have facts to spare, and what a push
            // leads to may be there with another context.
            if !["modular", "modular-quadratic"].contains(&method) {
                continue;
            }
            let check = |products: &Products| {
                allways_evidence::close(&system, &Property::default(), products, &|| None)
            };
            for index in 0..products.products.len() {
                for kind in 0..products.kinds.count() {
                    let count = products.products[index].rest[kind].len();
                    for fact in 0..count {
                        let mut less = products.clone();
                        less.products[index].rest[kind].remove(fact);
                        let flat = products.contexts.iter().all(|contexts| contexts.len() == 1);
                        let needed = flat
                            && (method == "modular" || !initial_only(&system, &products, index, kind, fact));
                        if needed {
                            assert!(check(&less).is_err(), "seed {seed}: {method} without a fact");
                            dropped += 1;
                        }
                    }
                }
            }
        }
    }
    println!("{whole} pieces of evidence, {dropped} facts dropped");
}

/// Whether a fact of the quadratic method is an initial one, which one of the tuples must have, but not each.
fn initial_only(
    system: &dyn Pushdown,
    products: &Products,
    product: usize,
    kind: usize,
    fact: usize,
) -> bool {
    let fact = products.products[product].rest[kind][fact];
    system.initial().iter().any(|state| state.shared == fact.shared)
}

#[test]
fn products_make_the_bound_by_tops_sharper_and_stay_sound() {
    use allways_engines::Budget;
    use allways_engines::above::thread_modular::bound;
    use allways_engines::above::tops::Tops;
    let (question, budget) = (Question::default(), Budget::unlimited());
    let (mut sharper, mut rejected) = (0, 0);
    for seed in random::seeds(1500) {
        let system = random::system(4_000_000 + seed, random::SMALL);
        let Some((states, _)) = reference::reachable(&system, 4, 2000) else { continue };
        let kinds = question.kinds(&system);
        let products = bound(&system, &question, &budget).expect("few thread states");
        let window = 1 + seed as usize % 2;
        let plain = Tops::compute(&system, kinds.clone(), window, &question, &budget).expect("no limits");
        let within = Tops::compute_within(Some(&products), &system, kinds, window, &question, &budget);
        let within = within.expect("no limits");
        let mut invariant = within.invariant(&budget).expect("no limits");
        let check = |invariant: &allways_evidence::Invariant| {
            allways_evidence::induct(&system, &Property::default(), invariant, &|| None)
        };
        assert_eq!(check(&invariant), Ok(()), "seed {seed}");
        let seen: BTreeSet<_> = invariant.visible().into_iter().collect();
        for state in &states {
            let mut visible = state.visible();
            invariant.kinds.sort(&mut visible.tops);
            assert!(seen.contains(&visible), "seed {seed}: {visible:?} is reachable");
        }
        assert!(within.len() <= plain.len(), "seed {seed}");
        if within.len() < plain.len() {
            sharper += 1;
            // Without the products it proves nothing, and with products that are not closed neither.
            let products = invariant.within.take();
            assert!(check(&invariant).is_err(), "seed {seed}");
            let mut less = products.expect("it is within products");
            if let Some(facts) = less.products[0].rest.iter_mut().find(|facts| !facts.is_empty()) {
                facts.clear();
            }
            invariant.within = Some(less);
            assert!(check(&invariant).is_err(), "seed {seed}");
            rejected += 1;
        }
    }
    println!("sharper {sharper} times; {rejected} times rejected without products");
    assert!(sharper > 0);
}
