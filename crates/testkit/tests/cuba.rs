//! R_k against CUBA's section 2.3 by brute force, the paper's own examples with the paper's own numbers, and the
//! benchmarks of the CUBA tool where they are there.
//!
//! `ALLWAYS_RANDOM=N` sets the number of random systems.

use allways_engines::Budget;
use allways_engines::above::emerging::Emerging;
use allways_engines::automata::fcr::{Fcr, fcr, heads};
use allways_engines::below::contexts::Contexts;
use allways_engines::below::symbolic::Symbolic;
use allways_engines::meet::cuba::Scheme1;
use allways_engines::{Engine, Question};
use allways_evidence::Verdict;
use allways_model::notation::{read_pattern, show_state, show_visible};
use allways_model::property::Property;
use allways_model::pushdown::{EMPTY, Explicit, Pushdown, Shared, State, Symbol, Visible};
use allways_model::symmetry::Kinds;
use allways_testkit::conformance::engines;
use allways_testkit::conformance::{ask, avoid};
use allways_testkit::corpus::{self, Entry};
use allways_testkit::{random, reference};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

/// More paths than any finite example here has.
const MANY: usize = 1_000_000;

fn engine(name: &str) -> &'static dyn Engine {
    *engines().iter().find(|engine| engine.info().name == name).expect("an engine of this name")
}

fn example(name: &str) -> Explicit {
    corpus::entry(&corpus::folder().join(name)).system
}

/// R_k as the engines compute it, for k from 0 to `last`.
fn explicit(system: &Explicit, last: u32) -> Vec<BTreeSet<State>> {
    let (question, budget) = (Question::default(), Budget::unlimited());
    let mut explorer = Contexts::new(system, &question, &budget);
    let states = |explorer: &Contexts| -> BTreeSet<State> {
        (0..explorer.space().len() as u32).map(|id| explorer.space().state(id)).collect()
    };
    let mut sets = vec![states(&explorer)];
    for _ in 0..last {
        explorer.add_context().expect("no limits");
        sets.push(states(&explorer));
    }
    sets
}

/// T(S_k) as the engines compute it, for k from 0 to `last`.
fn symbolic(system: &Explicit, kinds: Kinds, last: u32) -> Vec<BTreeSet<Visible>> {
    let (question, budget) = (Question::default(), Budget::unlimited());
    let mut explorer = Symbolic::new(system, kinds, &question, &budget);
    let mut sets = vec![explorer.report().iter().collect()];
    for _ in 0..last {
        explorer.add_context().expect("no limits");
        sets.push(explorer.report().iter().collect());
    }
    sets
}

/// R_k by brute force, which must be finite.
fn naive(system: &Explicit, contexts: u32) -> BTreeSet<State> {
    let (states, cut) = reference::contexts(system, contexts as usize, 1000, MANY).expect("few states");
    assert!(!cut, "R_{contexts} is infinite");
    states
}

/// The reachability table of Figure 1: what is new in R_k, and what is new in T(R_k).
#[test]
fn figure_1() {
    let system = example("cuba-figure-1.pds");
    let table: [(&[&str], &[&str]); 7] = [
        (&["0|1,4"], &["0|1,4"]),
        (&["0|1,-", "1|2,4"], &["0|1,-", "1|2,4"]),
        (&["1|2,-", "2|2,5", "3|2,4.6"], &["1|2,-", "2|2,5", "3|2,4"]),
        (&["0|1,4.6", "1|2,4.6"], &[]),
        (&["0|1,6", "2|2,5.6", "3|2,4.6.6"], &["0|1,6"]),
        (&["0|1,4.6.6", "1|2,4.6.6", "1|2,6"], &["1|2,6"]),
        (&["0|1,6.6", "2|2,5.6.6", "3|2,4.6.6.6"], &[]),
    ];
    let sets = explicit(&system, 6);
    let symbolic = symbolic(&system, Kinds::distinct(2), 6);
    let (mut before, mut visible_before) = (BTreeSet::new(), BTreeSet::new());
    for (k, (new, new_visible)) in table.iter().enumerate() {
        let reached = &sets[k];
        assert_eq!(*reached, naive(&system, k as u32), "R_{k}");
        let visible = reference::visible(reached);
        assert_eq!(visible, symbolic[k], "T(S_{k})");
        let mut found: Vec<String> =
            reached.difference(&before).map(|state| show_state(&system, state)).collect();
        found.sort();
        assert_eq!(found, *new, "R_{k} without R_{}", k as i32 - 1);
        let mut found: Vec<String> =
            visible.difference(&visible_before).map(|visible| show_visible(&system, visible)).collect();
        found.sort();
        assert_eq!(found, *new_visible, "T(R_{k}) without T(R_{})", k as i32 - 1);
        (before, visible_before) = (reached.clone(), visible);
    }
    assert_eq!(visible_before.len(), 8);
}

/// Example 14: the generators, all of them and those in the published Z; Algorithm 3 is not misled by the plateau at
/// k = 2 and stops at k = 5.
#[test]
fn example_14() {
    let system = example("cuba-figure-1.pds");
    let bound = Emerging::compute(&system, &Budget::unlimited()).expect("no limits");
    let show =
        |shared: Shared, tops: &[Symbol]| show_visible(&system, &Visible { shared, tops: tops.to_vec() });
    let symbol = |thread: usize, name: &str| system.symbol_named(thread, name).expect("a symbol");
    let mut generators = BTreeSet::new();
    for shared in (0..4).map(Shared) {
        for first in ["1", "2"].map(|name| symbol(0, name)) {
            for second in ["4", "5", "6"].map(|name| symbol(1, name)).into_iter().chain([EMPTY]) {
                if bound.generates(shared, [first, second].into_iter()) {
                    generators.insert(show(shared, &[first, second]));
                }
            }
        }
    }
    assert_eq!(generators, ["0|1,-", "0|1,6", "0|2,-", "0|2,6"].map(String::from).into());
    let rows = (0..bound.states.len() as u32).map(|id| {
        let row: Vec<u32> = bound.states.row(id).collect();
        (Shared(row[0]), row[1..].iter().copied().map(Symbol).collect::<Vec<Symbol>>())
    });
    let reachable: BTreeSet<String> = rows
        .filter(|(shared, tops)| bound.generates(*shared, tops.iter().copied()))
        .map(|(shared, tops)| show(shared, &tops))
        .collect();
    assert_eq!(reachable, ["0|1,-", "0|1,6"].map(String::from).into());

    for name in ["cuba", "cuba-symbolic", "cuba-race"] {
        for published_bound in [false, true] {
            let question = Question { published_bound, ..Question::default() };
            let report = ask(engine(name), &system, &question);
            assert!(report.exact && matches!(report.verdict, Verdict::Safe(_)), "{name}");
            assert_eq!((report.visible.count(), report.figures.contexts), (8, Some(5)), "{name}");
        }
    }
}

/// The visible states of S_k among those of this pattern.
fn matching(system: &Explicit, set: &BTreeSet<Visible>, pattern: &str) -> usize {
    let pattern = read_pattern(system, pattern).expect("a pattern");
    set.iter().filter(|visible| pattern.matches(visible.shared, visible.tops.iter().copied())).count()
}

/// Example 8: ⟨1|4,9⟩ takes two contexts, and a third one shows nothing new. R_1 is infinite already, so the sets are
/// compared by what is visible of them, and by the states with short stacks.
#[test]
fn example_8() {
    let system = example("cuba-figure-2.pds");
    let sets = symbolic(&system, Kinds::distinct(2), 5);
    let seen: Vec<usize> = sets.iter().map(|set| matching(&system, set, "1|4,9")).collect();
    assert_eq!(seen, [0, 0, 1, 1, 1, 1]);
    assert!(sets[1].len() < sets[2].len() && sets[2] == sets[3] && sets[3] == sets[5]);
    assert_eq!(sets[5].len(), 37);
    let report = ask(engine("cuba-symbolic"), &system, &Question::default());
    assert_eq!((report.exact, report.visible.count(), report.figures.contexts), (true, 37, Some(2)));

    let short = |contexts, depth| {
        let (states, cut) = reference::contexts(&system, contexts, depth, MANY).expect("few states");
        assert!(cut, "R_{contexts} is infinite");
        states
    };
    for (contexts, visible) in sets.iter().enumerate().skip(1) {
        assert_eq!(
            reference::visible(&short(contexts, 4)),
            *visible,
            "T(R_{contexts}) shows in short stacks"
        );
    }
    // What takes three contexts through stacks of up to four symbols takes two through slightly deeper ones.
    assert!(short(3, 4).is_subset(&short(2, 6)));
    assert!(!short(2, 4).is_subset(&short(1, 6)));
}

/// Figure 4: within a context, both threads of Figure 1 reach finitely many states, and both of Figure 2 infinitely many;
/// the loop that is given for it pumps stacks that are reachable.
#[test]
fn finite_context_reachability() {
    let finite = |system: &Explicit| -> Vec<Fcr> {
        let whether = |(thread, rules)| fcr(system, thread, heads(rules), &mut || Ok(())).expect("no limits");
        system.threads.iter().enumerate().map(whether).collect()
    };
    let one = example("cuba-figure-1.pds");
    assert_eq!(finite(&one), [Fcr::Finite, Fcr::Finite]);
    let two = example("cuba-figure-2.pds");
    let reached = reference::contexts(&two, 2, 8, MANY).expect("few states").0;
    for (thread, fcr) in finite(&two).into_iter().enumerate() {
        let Fcr::Infinite(pump) = fcr else { panic!("thread {thread} recurses without bound") };
        for times in 0..=3 {
            let stack = pump.stack(times);
            let found = |state: &State| state.shared == pump.shared && state.stacks[thread] == stack;
            assert!(reached.iter().any(found), "thread {thread}: {stack:?} at {}", pump.shared);
        }
    }
    // The overall procedure says so, and chooses accordingly.
    for (system, finite) in [(&one, true), (&two, false)] {
        let report = ask(engine("cuba-race"), system, &Question::default());
        let remarks = report.figures.remarks;
        assert_eq!(remarks.len(), 2);
        assert!(remarks.iter().all(|remark| remark.contains("infinitely") != finite), "{remarks:?}");
        let engine = report.engine.map(|info| info.name);
        assert_eq!(engine == Some("cuba-symbolic"), !finite, "{engine:?}");
    }
}

/// R_k and T(S_k) on random systems, k from 0 to 5.
#[test]
fn equals_section_2_3_on_random_systems() {
    const LAST: u32 = 5;
    let (mut finite, mut infinite) = (0, 0);
    for seed in random::seeds(1500) {
        let system = random::system(seed, random::SMALL);
        let symbolic_sets = symbolic(&system, Kinds::distinct(system.threads()), LAST);
        let orbits = symbolic(&system, Kinds::of(&system), LAST);
        assert_eq!(symbolic_sets, orbits, "system {seed}: S_k up to renaming");
        let Some((_, cut)) = reference::contexts(&system, LAST as usize, 12, 20_000) else { continue };
        if cut {
            infinite += 1;
            for (k, visible) in symbolic_sets.iter().enumerate() {
                let (states, _) = reference::contexts(&system, k, 4, MANY).expect("no more than above");
                assert!(reference::visible(&states).is_subset(visible), "system {seed}: T(S_{k})");
            }
        } else {
            finite += 1;
            for (k, (states, visible)) in explicit(&system, LAST).iter().zip(&symbolic_sets).enumerate() {
                assert_eq!(*states, naive(&system, k as u32), "system {seed}: R_{k}");
                assert_eq!(reference::visible(states), *visible, "system {seed}: T(S_{k})");
            }
        }
    }
    println!("{finite} systems with finite R_{LAST}, {infinite} cut off");
}

/// Systems whose threads are alike but for perhaps one.
fn alike(seed: u64) -> Explicit {
    let size = random::Size { threads: 1, ..random::SMALL };
    let mut system = random::system(seed, size);
    let copies = 1 + (seed % 3) as usize;
    for _ in 0..copies {
        system.threads.push(system.threads[0].clone());
        system.initial.stacks.push(system.initial.stacks[0].clone());
    }
    if seed.is_multiple_of(4) {
        let other = random::system(!seed, random::Size { shared: system.shared_states, ..size });
        system.threads.insert(1, other.threads[0].clone());
        system.initial.stacks.insert(1, other.initial.stacks[0].clone());
    }
    system
}

/// One representative per orbit gives the same sets, counts and verdicts as all states do.
#[test]
fn symmetry_changes_nothing() {
    let mut answers = BTreeMap::new();
    for seed in random::seeds(1500) {
        let system = alike(seed);
        let Some((states, _)) = reference::reachable(&system, 4, 5000) else { continue };
        let known = reference::visible(&states);
        let unseen = Visible { shared: Shared(0), tops: vec![Symbol(u32::MAX); system.threads()] };
        let targets = known.iter().next_back().into_iter().chain([&unseen]).map(avoid);
        let deadlock = Property { deadlock: true, ..Property::default() };
        for property in [Property::default(), deadlock].into_iter().chain(targets) {
            for name in ["free", "tops", "sandwich"] {
                // The sandwich need not end otherwise; the others do.
                let max_states = (name == "sandwich").then_some(20_000);
                let bounds = Question {
                    max_depth: Some(4),
                    max_states,
                    property: property.clone(),
                    ..Question::default()
                };
                let orbits = ask(engine(name), &system, &bounds);
                let all = ask(engine(name), &system, &Question { no_symmetry: true, ..bounds });
                let label = format!("{name} on {seed}: {property:?}");
                let pair = (verdict(&orbits.verdict), verdict(&all.verdict));
                *answers.entry((name, pair)).or_insert(0) += 1;
                if max_states.is_none() || (pair.0 != "unknown" && pair.1 != "unknown") {
                    assert_eq!(pair.0, pair.1, "{label}");
                    assert_eq!(orbits.exact, all.exact, "{label}");
                }
                // A run that ends at a bad state has seen what it has seen, and a bound that proves need not be least.
                if property.is_empty() && (max_states.is_none() || (orbits.exact && all.exact)) {
                    assert_eq!(orbits.visible.count(), all.visible.count(), "{label}");
                    assert_eq!(orbits.visible.sorted(), all.visible.sorted(), "{label}");
                }
            }
        }
    }
    for ((name, (orbits, all)), count) in answers {
        println!("{name}: {count} {orbits} with symmetry, {all} without");
    }
}

fn verdict(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Safe(_) => "safe",
        Verdict::Unsafe(_) => "unsafe",
        Verdict::Unknown(_) => "unknown",
    }
}

/// What the table in `shared/bench/README.md` says of a file.
struct Row {
    visible: u128,
    infinite: bool,
    collapse: Option<u32>,
}

/// The table for `.pds` files, by name; its columns are the file, visible states, states, and the point of collapse.
fn table(path: &Path) -> BTreeMap<String, Row> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let rows = text.lines().skip_while(|line| !line.starts_with("| file | visible |")).skip(2);
    rows.take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let visible = cells[1].split(' ').next().and_then(|number| number.parse().ok());
            let row = Row {
                visible: visible.unwrap_or_else(|| panic!("no number: {line}")),
                infinite: cells[2] == "infinite",
                collapse: cells[3].parse().ok(),
            };
            (cells[0].to_string(), row)
        })
        .collect()
}

fn benchmarks() -> Option<(Vec<Entry>, BTreeMap<String, Row>)> {
    let shared: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench");
    if !shared.join("pds").is_dir() {
        // Past the test harness, which would keep it from being seen.
        let _ = writeln!(std::io::stderr(), "skipped: no ../shared/bench/pds");
        return None;
    }
    Some((corpus::entries(&shared.join("pds")), table(&shared.join("README.md"))))
}

/// The benchmarks of the CUBA tool: every method finds the visible states that the tool does.
#[test]
fn published_counts() {
    let Some((entries, table)) = benchmarks() else { return };
    let mut compared = 0;
    for entry in entries {
        // DrUBA and AI run out of memory on it.
        let large = entry.name == "stefan-8";
        let methods =
            if large { &["sandwich", "cuba-race"][..] } else { &["sandwich", "druba", "ai", "cuba-race"] };
        let mut counts = BTreeSet::new();
        for name in methods {
            let question = Question { max_states: Some(2_000_000), ..Question::default() };
            let report = ask(engine(name), &entry.system, &question);
            let proved = report.exact && matches!(report.verdict, Verdict::Safe(_));
            assert!(proved || !table.contains_key(&entry.name), "{name} on {}", entry.name);
            if proved {
                counts.insert(report.visible.count());
            }
        }
        assert!(counts.len() <= 1, "{}: {counts:?}", entry.name);
        if let Some(row) = table.get(&entry.name) {
            assert_eq!(counts, [row.visible].into(), "{}", entry.name);
            compared += 1;
        }
    }
    assert_eq!(compared, table.len(), "each row of the table has its file");
}

/// The point of collapse is the smallest k with T(R_k) = T(R). The table has the k that the published tool prints; where
/// the tool stops because no state is left to explore, as on the Bluetooth files, it prints one less.
#[test]
fn published_points_of_collapse() {
    let Some((entries, table)) = benchmarks() else { return };
    for entry in &entries {
        let Some((row, collapse)) = table.get(&entry.name).and_then(|row| Some((row, row.collapse?))) else {
            continue;
        };
        let method = if row.infinite && entry.name != "stutter-11" { "cuba-symbolic" } else { "cuba" };
        let report = ask(engine(method), &entry.system, &Question::default());
        let one_less = entry.name.starts_with("Bluetooth");
        assert_eq!(report.figures.contexts, Some(collapse + u32::from(one_less)), "{}", entry.name);
    }
    let smallest = entries.iter().find(|entry| entry.name == "Bluetooth1-11").expect("a file");
    let counts: Vec<usize> = (5..=8).map(|k| reference::visible(&naive(&smallest.system, k)).len()).collect();
    assert_eq!(counts[1..], [749, 751, 751], "the table says that T(R_6) has all 751");
    assert!(counts[0] < 749);
}

/// Example 8: Scheme 1 stops at three contexts on Figure 2, whose R_k are infinite.
#[test]
fn scheme_1_stops_on_figure_2() {
    let entry = corpus::entry(&corpus::folder().join("cuba-figure-2.pds"));
    let report = ask(&Scheme1, &entry.system, &Question::default());
    assert!(matches!(report.verdict, Verdict::Safe(_)), "{:?}", report.verdict);
    assert_eq!(report.figures.contexts, Some(3));
    assert_eq!(report.visible.count(), 37);
}
