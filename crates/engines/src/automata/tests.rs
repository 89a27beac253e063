//! Saturation, canonical languages and finite context reachability against naive closures on random threads.
//!
//! The oracle is [`Naive`]: it first computes which tops can be popped (a fixpoint over triples), then closes a set of
//! configurations under the rules and under "push, run, and pop again" as one step. A configuration of depth d is then
//! reached without ever leaving depth max(d, starting depth), so that the closure at bounded depth is exact. The plain
//! closure, which knows no such shortcut, is exact where it ends and otherwise a part.

use super::automaton::Automaton;
use super::fcr::{self, Fcr, Pump};
use super::languages::{LanguageId, Languages};
use super::saturation::{PostStar, pre_star};
use allways_evidence::StopReason;
use allways_model::pushdown::{EMPTY, Explicit, Rule, Shared, Stack, State, Symbol, ThreadRules, Word};
use fastrand::Rng;
use std::collections::BTreeSet;

type Configuration = (u32, Vec<u32>);

fn go_on() -> Result<(), StopReason> {
    Ok(())
}

fn stack(symbols: &[u32]) -> Stack {
    Stack::from_top(symbols.iter().copied().map(Symbol))
}

/// A rule as written in the papers: head, shared state afterwards, word.
type Written = (u32, u32, u32, &'static [u32]);

fn explicit(shared_states: u32, threads: &[&[Written]]) -> Explicit {
    let word = |symbols: &[u32]| match *symbols {
        [] => Word::POP,
        [top] => Word::one(Symbol(top)),
        _ => Word::two(Symbol(symbols[0]), Symbol(symbols[1])),
    };
    let rule = |&(shared, top, to, symbols): &Written| {
        (Shared(shared), Symbol(top), Rule { shared: Shared(to), word: word(symbols), line: 1 })
    };
    let stacks = vec![Stack::default(); threads.len()];
    let threads = threads.iter().map(|rules| ThreadRules::new(rules.iter().map(rule))).collect();
    Explicit { shared_states, threads, initial: State { shared: Shared(0), stacks } }
}

/// A random system of one thread: up to 3 shared states and 3 symbols, every kind of rule.
fn random(rng: &mut Rng) -> Explicit {
    let (shared_states, symbols) = (rng.u32(1..=3), rng.u32(1..=3));
    let rules: Vec<_> = (0..rng.u32(1..=9))
        .map(|_| {
            let top = Symbol(rng.u32(0..=symbols));
            let [one, other] = [0; 2].map(|_| Symbol(rng.u32(1..=symbols)));
            let word = match (top, rng.u32(0..3)) {
                (_, 0) => Word::POP,
                (EMPTY, _) | (_, 1) => Word::one(one),
                _ => Word::two(one, other),
            };
            let [from, to] = [0; 2].map(|_| Shared(rng.u32(0..shared_states)));
            (from, top, Rule { shared: to, word, line: 1 })
        })
        .collect();
    let initial = State { shared: Shared(0), stacks: vec![Stack::default()] };
    Explicit { shared_states, threads: vec![ThreadRules::new(rules)], initial }
}

fn random_stack(rng: &mut Rng, depth: usize) -> Vec<u32> {
    (0..rng.usize(0..=depth)).map(|_| rng.u32(1..=3)).collect()
}

/// All stacks of up to this depth over the symbols 1 to 3.
fn all_stacks(depth: usize) -> Vec<Vec<u32>> {
    let mut all = vec![vec![]];
    let mut next = 0;
    while next < all.len() && all[next].len() < depth {
        for symbol in 1..=3 {
            all.push([&[symbol], &all[next][..]].concat());
        }
        next += 1;
    }
    all
}

fn all_configurations(depth: usize) -> Vec<Configuration> {
    (0..3).flat_map(|shared| all_stacks(depth).into_iter().map(move |stack| (shared, stack))).collect()
}

/// The same, made on the way.
type Step = (u32, u32, u32, Vec<u32>);

struct Naive {
    rules: BTreeSet<Step>,
    /// The rules, and the shortcuts: what pushing a symbol and popping it again amounts to.
    shortcuts: BTreeSet<Step>,
}

impl Naive {
    fn new(system: &Explicit) -> Naive {
        let step = |&(shared, top, rule): &(Shared, Symbol, Rule)| {
            (shared.0, top.0, rule.shared.0, rule.word.symbols().iter().map(|symbol| symbol.0).collect())
        };
        let rules: BTreeSet<Step> = system.threads[0].iter().map(step).collect();
        let mut shortcuts = rules.clone();
        loop {
            let mut found = shortcuts.clone();
            for (shared, top, to, word) in &shortcuts {
                // (shared, top) -> (to, word), and then word's top is replaced by something shorter.
                for (next, replaced, after, by) in &shortcuts {
                    if *top != EMPTY.0 && word.first() == Some(replaced) && next == to && by.len() < 2 {
                        let whole = [by, &word[1..]].concat();
                        if whole.len() < 2 {
                            found.insert((*shared, *top, *after, whole));
                        }
                    }
                }
            }
            if found.len() == shortcuts.len() {
                return Naive { rules, shortcuts };
            }
            shortcuts = found;
        }
    }

    /// Everything reachable through stacks of up to this depth, by shortcuts or by the rules alone; none if it is more
    /// than `most`.
    fn closure(
        &self,
        starts: &[Configuration],
        depth: usize,
        shortcuts: bool,
        most: usize,
    ) -> Option<BTreeSet<Configuration>> {
        let steps = if shortcuts { &self.shortcuts } else { &self.rules };
        let mut reached: BTreeSet<Configuration> = starts.iter().cloned().collect();
        let mut open = starts.to_vec();
        while let Some((shared, stack)) = open.pop() {
            let top = stack.first().copied().unwrap_or(EMPTY.0);
            for (_, _, to, word) in steps.iter().filter(|step| step.0 == shared && step.1 == top) {
                let after = (*to, [word, &stack[stack.len().min(1)..]].concat());
                if after.1.len() <= depth && reached.insert(after.clone()) {
                    open.push(after);
                }
            }
            if reached.len() > most {
                return None;
            }
        }
        Some(reached)
    }

    fn reaches(&self, start: &Configuration, depth: usize) -> BTreeSet<Configuration> {
        self.closure(std::slice::from_ref(start), depth, true, usize::MAX).unwrap()
    }
}

fn post_star(system: &Explicit, starts: &[Configuration]) -> Automaton {
    let mut automaton = Automaton::default();
    for (shared, symbols) in starts {
        automaton.add(Shared(*shared), &stack(symbols));
    }
    PostStar::new(system, 0).run(&mut automaton, &mut go_on).unwrap();
    automaton
}

#[test]
fn post_star_is_exact() {
    let mut rng = Rng::with_seed(1);
    let (mut settled, mut open) = (0, 0);
    let configurations = all_configurations(4);
    for round in 0..3000 {
        let system = random(&mut rng);
        let naive = Naive::new(&system);
        let starts: Vec<Configuration> =
            (0..rng.usize(1..=2)).map(|_| (rng.u32(0..3), random_stack(&mut rng, 3))).collect();
        let automaton = post_star(&system, &starts);
        let reached = naive.closure(&starts, 4, true, usize::MAX).unwrap();
        for (shared, symbols) in &configurations {
            let expected = reached.contains(&(*shared, symbols.clone()));
            let found = automaton.contains(Shared(*shared), &stack(symbols));
            assert_eq!(
                found, expected,
                "round {round}, {shared}|{symbols:?} from {starts:?} by {:?}",
                naive.rules
            );
        }
        // The oracle itself against the plain closure, whose depth is raised until the two agree or it is too large.
        let shallow = |set: BTreeSet<Configuration>| -> BTreeSet<Configuration> {
            set.into_iter().filter(|(_, stack)| stack.len() <= 3).collect()
        };
        let expected = shallow(reached);
        let mut depths = (5..).map_while(|depth| naive.closure(&starts, depth, false, 20_000).map(shallow));
        let agrees = depths.by_ref().take(30).any(|plain| {
            assert!(plain.is_subset(&expected), "round {round}");
            plain == expected
        });
        *if agrees { &mut settled } else { &mut open } += 1;
    }
    assert!(open * 200 < settled, "the plain closure was too large on {open} of {} systems", open + settled);
}

#[test]
fn canonical_languages_hold_what_the_automaton_holds() {
    let mut rng = Rng::with_seed(2);
    for _ in 0..2000 {
        let system = random(&mut rng);
        let naive = Naive::new(&system);
        let (shared, start) = (rng.u32(0..system.shared_states), random_stack(&mut rng, 3));
        let mut languages = Languages::new(&system, 0);
        let first = languages.intern_stack(&stack(&start));
        let reached = languages.post(Shared(shared), first, &mut go_on).unwrap().to_vec();
        let exact = naive.reaches(&(shared, start), 4);
        let stacks_at = |shared| -> BTreeSet<&[u32]> {
            exact.iter().filter(|of| of.0 == shared).map(|of| &of.1[..]).collect()
        };
        assert!(reached.is_sorted());
        for shared in 0..system.shared_states {
            let Some(&(_, language)) = reached.iter().find(|of| of.0.0 == shared) else {
                assert!(stacks_at(shared).is_empty());
                continue;
            };
            let expected = stacks_at(shared);
            for symbols in all_stacks(4) {
                assert_eq!(languages.contains(language, &stack(&symbols)), expected.contains(&symbols[..]));
            }
            check_views(&languages, language);
            // Running on from there reaches nothing new, and the same from the same.
            for (next, after) in languages.post(Shared(shared), language, &mut go_on).unwrap().to_vec() {
                let before = reached.iter().find(|of| of.0 == next).unwrap().1;
                assert!(languages.is_subset(after, before));
                assert!(next.0 != shared || after == before);
            }
        }
    }
}

/// Tops, marked tops and shortest stacks against membership.
fn check_views(languages: &Languages, language: LanguageId) {
    let tops = languages.tops(language);
    let marked = languages.marked_tops(language);
    assert!(tops.is_sorted() && marked.is_sorted() && !tops.is_empty());
    let both = |symbol| [false, true].map(|below| marked.contains(&(symbol, below)));
    for symbols in all_stacks(4).iter().filter(|symbols| languages.contains(language, &stack(symbols))) {
        let top = stack(symbols).top();
        assert!(tops.contains(&top) && both(top)[usize::from(symbols.len() > 1)]);
        assert!(languages.shortest(language, top).unwrap().depth() <= symbols.len());
    }
    for top in (0..=3).map(Symbol) {
        let shortest = languages.shortest(language, top);
        assert_eq!(shortest.is_some(), tops.contains(&top));
        assert_eq!(shortest.is_some(), both(top) != [false, false]);
        if let Some(shortest) = shortest {
            assert!(languages.contains(language, &shortest) && shortest.top() == top);
            assert_eq!(both(top)[0], shortest.depth() < 2);
        }
    }
}

#[test]
fn pre_star_mirrors_post_star() {
    let mut rng = Rng::with_seed(3);
    for _ in 0..2000 {
        let system = random(&mut rng);
        let naive = Naive::new(&system);
        let targets: Vec<Configuration> =
            (0..rng.usize(1..=2)).map(|_| (rng.u32(0..3), random_stack(&mut rng, 3))).collect();
        let mut before = Automaton::default();
        for (shared, symbols) in &targets {
            before.add(Shared(*shared), &stack(symbols));
        }
        pre_star(&mut before, system.threads[0].iter().copied(), &mut go_on).unwrap();
        let mut languages = Languages::new(&system, 0);
        let canonical = languages.canonical(&before, &mut go_on).unwrap();
        for start in all_configurations(3) {
            let expected = before.contains(Shared(start.0), &stack(&start.1));
            let after = post_star(&system, std::slice::from_ref(&start));
            let reaches =
                targets.iter().any(|(shared, symbols)| after.contains(Shared(*shared), &stack(symbols)));
            assert_eq!(expected, reaches, "{start:?} to {targets:?} by {:?}", naive.rules);
            let language = canonical.iter().find(|of| of.0.0 == start.0);
            assert_eq!(expected, language.is_some_and(|of| languages.contains(of.1, &stack(&start.1))));
        }
    }
}

/// A random automaton with one control node, dead ends and unreachable nodes included.
fn random_language(rng: &mut Rng, languages: &mut Languages) -> (Automaton, LanguageId) {
    let mut automaton = Automaton::default();
    let nodes =
        [automaton.control(Shared(0))].into_iter().chain((0..rng.u32(1..=4)).map(|_| automaton.node()));
    let nodes: Vec<u32> = nodes.collect();
    for _ in 0..rng.u32(0..10) {
        automaton.read(
            nodes[rng.usize(..nodes.len())],
            Symbol(rng.u32(1..=2)),
            nodes[rng.usize(1..nodes.len())],
        );
    }
    for _ in 0..rng.u32(0..3) {
        automaton.end(nodes[rng.usize(..nodes.len())]);
    }
    let result = languages.canonical(&automaton, &mut go_on).unwrap();
    (automaton, result.first().map_or(Languages::NONE, |of| of.1))
}

#[test]
fn equal_languages_have_equal_numbers() {
    let system = explicit(1, &[&[]]);
    let mut rng = Rng::with_seed(4);
    let mut languages = Languages::new(&system, 0);
    let words: Vec<Stack> =
        all_stacks(8).iter().filter(|symbols| !symbols.contains(&3)).map(|symbols| stack(symbols)).collect();
    let mut equal = 0;
    let mut known: Vec<(LanguageId, Vec<bool>)> = Vec::new();
    for _ in 0..1500 {
        let (automaton, language) = random_language(&mut rng, &mut languages);
        let members: Vec<bool> = words.iter().map(|word| automaton.contains(Shared(0), word)).collect();
        assert_eq!(members, words.iter().map(|word| languages.contains(language, word)).collect::<Vec<_>>());
        // Infinitely many if and only if there is a word at least as long as there are states.
        if languages.states(language) <= 8 {
            let long = words
                .iter()
                .zip(&members)
                .any(|(word, of)| *of && word.depth() >= languages.states(language));
            assert_eq!(languages.is_finite(language), !long);
        }
        for (other, theirs) in known.iter().rev().take(60) {
            let pairs = || members.iter().zip(theirs);
            // Shorter words than all states together tell two languages apart.
            if languages.states(language) + languages.states(*other) <= 8 {
                assert_eq!(language == *other, members == *theirs);
                assert_eq!(
                    languages.is_subset(language, *other),
                    pairs().all(|(ours, theirs)| ours <= theirs)
                );
            }
            equal += usize::from(language == *other);
            let union = languages.union(language, *other, &mut go_on).unwrap();
            assert!(languages.is_subset(language, union) && languages.is_subset(*other, union));
            let either = pairs().map(|(ours, theirs)| *ours || *theirs);
            assert!(either.eq(words.iter().map(|word| languages.contains(union, word))));
        }
        known.push((language, members));
    }
    assert!(equal > 1000);
    let one = languages.intern_stack(&stack(&[1, 2]));
    let mut automaton = Automaton::default();
    automaton.add(Shared(5), &stack(&[1, 2]));
    automaton.add(Shared(5), &stack(&[1, 2]));
    assert_eq!(languages.canonical(&automaton, &mut go_on).unwrap(), [(Shared(5), one)]);
    assert_eq!((languages.states(one), languages.states(Languages::NONE)), (3, 1));
    assert!(languages.tops(Languages::NONE).is_empty());
    assert!(languages.post(Shared(0), Languages::NONE, &mut go_on).unwrap().is_empty());
}

#[test]
fn finite_means_that_the_plain_closure_ends() {
    let mut rng = Rng::with_seed(5);
    let mut counts = [0, 0];
    for _ in 0..3000 {
        let system = random(&mut rng);
        let naive = Naive::new(&system);
        let start = (rng.u32(0..system.shared_states), random_stack(&mut rng, 2));
        let mut languages = Languages::new(&system, 0);
        let first = languages.intern_stack(&stack(&start.1));
        let reached = languages.post(Shared(start.0), first, &mut go_on).unwrap().to_vec();
        let finite = reached.iter().all(|of| languages.is_finite(of.1));
        let plain = naive.closure(std::slice::from_ref(&start), usize::MAX, false, 300);
        assert_eq!(finite, plain.is_some(), "{start:?} by {:?}", naive.rules);
        for (shared, symbols) in plain.iter().flatten() {
            let language = reached.iter().find(|of| of.0.0 == *shared).unwrap().1;
            assert!(languages.contains(language, &stack(symbols)));
        }
        counts[usize::from(finite)] += 1;

        let small: Vec<Configuration> = all_configurations(1);
        let plain = naive.closure(&small, usize::MAX, false, 300);
        match fcr::fcr(&system, 0, fcr::heads(&system.threads[0]), &mut go_on).unwrap() {
            Fcr::Finite => assert!(finite && plain.is_some()),
            Fcr::Infinite(pump) => {
                assert!(plain.is_none() && !pump.cycle.is_empty());
                let depth = pump.stack(3).depth();
                let reached = naive.closure(&small, depth, true, usize::MAX).unwrap();
                for times in 0..=3 {
                    let symbols: Vec<u32> = pump.stack(times).symbols().map(|symbol| symbol.0).collect();
                    assert!(reached.contains(&(pump.shared.0, symbols)), "{pump:?} by {:?}", naive.rules);
                }
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 400), "{counts:?}");
}

/// CUBA, Figure 1.
fn figure_1() -> Explicit {
    let first: &[Written] = &[(0, 1, 1, &[2]), (3, 2, 0, &[1])];
    explicit(4, &[first, &[(0, 4, 0, &[]), (0, 6, 0, &[]), (1, 4, 2, &[5]), (2, 5, 3, &[4, 6])]])
}

/// CUBA, Figure 2, with the shared state ⊥ as 2.
fn figure_2() -> Explicit {
    let mut foo: Vec<Written> = vec![(1, 4, 1, &[4]), (0, 4, 0, &[5])];
    let mut bar: Vec<Written> = vec![(0, 8, 0, &[8]), (1, 8, 1, &[9])];
    for x in 0..2 {
        foo.extend([
            (2, 2, x, &[2][..]),
            (x, 2, x, &[3]),
            (x, 2, x, &[4]),
            (x, 3, x, &[2, 4]),
            (x, 5, 1, &[]),
        ]);
        bar.extend([
            (2, 6, x, &[6][..]),
            (x, 6, x, &[7]),
            (x, 6, x, &[8]),
            (x, 7, x, &[6, 8]),
            (x, 9, 0, &[]),
        ]);
    }
    explicit(3, &[&foo, &bar])
}

#[test]
fn fcr_as_in_figure_4() {
    let ask = |system: &Explicit, thread: usize| {
        fcr::fcr(system, thread, fcr::heads(&system.threads[thread]), &mut go_on).unwrap()
    };
    assert_eq!([0, 1].map(|thread| ask(&figure_1(), thread)), [Fcr::Finite, Fcr::Finite]);
    let loops = |shared, pushed, below| {
        let (shared, pushed, below) = (Shared(shared), Symbol(pushed), Symbol(below));
        Fcr::Infinite(Pump { shared, prefix: vec![pushed], cycle: vec![below], suffix: vec![below] })
    };
    let found = [0, 1].map(|thread| ask(&figure_2(), thread));
    assert!((0..2).any(|x| found[0] == loops(x, 2, 4)), "{found:?}");
    assert!((0..2).any(|x| found[1] == loops(x, 6, 8)), "{found:?}");
}

#[test]
fn figure_2_reaches_all_depths_in_one_context() {
    let system = figure_2();
    let mut languages = Languages::new(&system, 0);
    let start = languages.intern_stack(&stack(&[2]));
    let reached = languages.post(Shared(2), start, &mut go_on).unwrap().to_vec();
    assert_eq!(reached.iter().map(|of| of.0.0).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(reached[2], (Shared(2), start));
    // At x = 1 nothing returns before another thread changes x: (2 + 3 + 4) 4*; at x = 0 it may, and then x = 1.
    assert_eq!(languages.tops(reached[0].1), [2, 3, 4, 5].map(Symbol));
    assert_eq!(languages.tops(reached[1].1), [0, 2, 3, 4].map(Symbol));
    assert!(languages.contains(reached[1].1, &stack(&[2, 4, 4, 4, 4])));
    assert!(!languages.contains(reached[1].1, &stack(&[2, 4, 2])));
    assert_eq!(
        languages.marked_tops(reached[1].1)[..3],
        [(EMPTY, false), (Symbol(2), false), (Symbol(2), true)]
    );
    assert_eq!([0, 1, 2].map(|at| languages.is_finite(reached[at].1)), [false, false, true]);
}

#[test]
fn blow_ups_can_be_stopped() {
    // The words over {1, 2} whose 41st symbol from the end is 1: a deterministic automaton has 2^41 states.
    let mut automaton = Automaton::default();
    let control = automaton.control(Shared(0));
    let around = automaton.node();
    for symbol in [1, 2].map(Symbol) {
        automaton.read(control, symbol, around);
        automaton.read(around, symbol, around);
    }
    let mut at = automaton.node();
    automaton.read(around, Symbol(1), at);
    for _ in 0..40 {
        let next = automaton.node();
        automaton.read(at, Symbol(1), next);
        automaton.read(at, Symbol(2), next);
        at = next;
    }
    automaton.end(at);
    let system = explicit(1, &[&[]]);
    let mut languages = Languages::new(&system, 0);
    let mut polls = 0;
    let mut stop = || {
        polls += 1;
        if polls == 20 { Err(StopReason::Time) } else { Ok(()) }
    };
    assert_eq!(languages.canonical(&automaton, &mut stop), Err(StopReason::Time));
    let one = languages.intern_stack(&stack(&[1]));
    assert_eq!(languages.post(Shared(0), one, &mut go_on).unwrap(), [(Shared(0), one)]);
}
