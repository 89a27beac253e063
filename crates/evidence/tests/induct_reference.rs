//! `induct` against the definition of *covers*, taken word for word: on random small systems, the checker accepts an
//! invariant if and only if no concrete state that the invariant covers, up to some depth, shows it to be wrong.

mod common;

use allways_evidence::{Invariant, Rejection, Window};
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{EMPTY, Explicit, Pushdown, Shared, Stack, State, Symbol};
use common::{Chance, add_state, check, close, figure_1, least};
use std::collections::{BTreeMap, BTreeSet};

/// An invariant as a set, for the reference.
struct Naive<'a> {
    invariant: &'a Invariant,
    states: BTreeSet<(Shared, Vec<Window>)>,
}

impl<'a> Naive<'a> {
    fn new(invariant: &'a Invariant) -> Naive<'a> {
        let windows = |row: &[u32]| {
            row.iter().zip(&invariant.windows).map(|(&index, all)| all[index as usize].clone()).collect()
        };
        let states = invariant.states().map(|(shared, row)| (shared, windows(row))).collect();
        Naive { invariant, states }
    }

    fn window(&self, stack: &Stack) -> Window {
        let z = self.invariant.window;
        Window { symbols: stack.symbols().take(z).collect(), more: stack.depth() > z }
    }

    /// Condition 2 of the definition: for each j ≥ z, x(j+1) is in below(xj), where x(m+1) stands for EMPTY.
    fn links(&self, thread: usize, stack: &Stack) -> bool {
        let x: Vec<Symbol> = stack.symbols().chain([EMPTY]).collect();
        let m = stack.depth();
        let below = |symbol: Symbol| self.invariant.below[thread].get(&symbol);
        (self.invariant.window..=m).all(|j| below(x[j - 1]).is_some_and(|under| under.contains(&x[j])))
    }

    fn covers(&self, state: &State) -> bool {
        let windows = state.stacks.iter().map(|stack| self.window(stack)).collect();
        let links = state.stacks.iter().enumerate().all(|(thread, stack)| self.links(thread, stack));
        links && self.states.contains(&(state.shared, windows))
    }

    /// For each thread, the stacks up to a depth that satisfy condition 2, by window, shallow ones first.
    fn stacks(&self, symbols: u32, depth: usize) -> Vec<BTreeMap<Window, Vec<Stack>>> {
        let all = all_stacks(symbols, depth);
        (0..self.invariant.windows.len())
            .map(|thread| {
                let mut found: BTreeMap<Window, Vec<Stack>> = BTreeMap::new();
                for stack in all.iter().filter(|stack| self.links(thread, stack)) {
                    found.entry(self.window(stack)).or_default().push(stack.clone());
                }
                found
            })
            .collect()
    }

    /// A covered state, none of whose stacks is deeper than `depth`, with a successor that is not covered; or an initial
    /// state that is not covered.
    fn violation(&self, system: &Explicit, symbols: u32, depth: usize) -> Option<(State, Option<State>)> {
        let not_covered = system.initial().into_iter().find(|state| !self.covers(state));
        not_covered.map(|state| (state, None)).or_else(|| self.open_step(system, symbols, depth))
    }

    fn open_step(&self, system: &Explicit, symbols: u32, depth: usize) -> Option<(State, Option<State>)> {
        let stacks = self.stacks(symbols, depth);
        for (shared, windows) in &self.states {
            let choices: Option<Vec<&Vec<Stack>>> =
                windows.iter().zip(&stacks).map(|(window, by_window)| by_window.get(window)).collect();
            let Some(choices) = choices else { continue };
            for mover in 0..windows.len() {
                // Every stack of the thread that moves, with up to two of each other thread.
                let few = |thread: usize| if thread == mover { usize::MAX } else { 2 };
                let mut states = vec![State { shared: *shared, stacks: Vec::new() }];
                for (thread, choice) in choices.iter().enumerate() {
                    let extended = states.iter().flat_map(|state| {
                        choice.iter().take(few(thread)).map(|stack| {
                            let mut state = state.clone();
                            state.stacks.push(stack.clone());
                            state
                        })
                    });
                    states = extended.collect();
                }
                for state in states {
                    assert!(self.covers(&state), "the enumeration is of covered states");
                    for rule in state.enabled(system, mover) {
                        let next = state.step(mover, &rule);
                        if !self.covers(&next) {
                            return Some((state, Some(next)));
                        }
                    }
                }
            }
        }
        None
    }

    fn has_bad(&self, property: &Property) -> bool {
        self.states.iter().any(|(shared, windows)| {
            property.violated_at(*shared, &windows.iter().map(Window::top).collect::<Vec<_>>())
        })
    }
}

/// All stacks up to a depth, shallow ones first.
fn all_stacks(symbols: u32, depth: usize) -> Vec<Stack> {
    let mut all = vec![Vec::new()];
    let mut start = 0;
    for _ in 0..depth {
        let end = all.len();
        for index in start..end {
            for symbol in 1..=symbols {
                let mut longer: Vec<Symbol> = all[index].clone();
                longer.push(symbol);
                all.push(longer);
            }
        }
        start = end;
    }
    all.into_iter().map(Stack::from_top).collect()
}

/// A shortest chain from any symbol to the bottom visits each symbol once, so a missing thing shows at this depth: the
/// window, the symbol that a pop brings to light, and a chain from what lies under it.
fn depth_for(window: usize, symbols: u32) -> usize {
    window + 1 + symbols as usize
}

fn random_window(chance: &mut Chance, size: usize, symbols: u32) -> Window {
    let length = if chance.one_in(3) { chance.below(size + 1) } else { size };
    let symbols = (0..length).map(|_| 1 + chance.below(symbols as usize) as Symbol).collect();
    Window { symbols, more: length == size && chance.one_in(2) }
}

fn random_state(chance: &mut Chance, invariant: &mut Invariant, system: &Explicit, symbols: u32) {
    let shared = chance.below(system.shared_states as usize) as Shared;
    let windows: Vec<Window> =
        (0..system.threads()).map(|_| random_window(chance, invariant.window, symbols)).collect();
    add_state(invariant, shared, &windows);
}

fn random_pair(chance: &mut Chance, symbols: u32) -> (Symbol, Symbol) {
    (1 + chance.below(symbols as usize) as Symbol, chance.below(symbols as usize + 1) as Symbol)
}

/// Makes the invariant cover a state.
fn add_initial(invariant: &mut Invariant, state: &State) {
    let windows: Vec<Window> = state.stacks.iter().map(|stack| Naive::new(invariant).window(stack)).collect();
    add_state(invariant, state.shared, &windows);
    for (below, stack) in invariant.below.iter_mut().zip(&state.stacks) {
        let under = stack.symbols().skip(1).chain([EMPTY]);
        for (above, under) in stack.symbols().zip(under) {
            below.entry(above).or_default().insert(under);
        }
    }
}

fn random_invariant(chance: &mut Chance, system: &Explicit, symbols: u32, window: usize) -> Invariant {
    let mut invariant = Invariant::new(system.threads(), window);
    for thread in 0..system.threads() {
        for _ in 0..chance.below(6) {
            let (above, under) = random_pair(chance, symbols);
            invariant.below[thread].entry(above).or_default().insert(under);
        }
    }
    for _ in 0..chance.below(8) {
        random_state(chance, &mut invariant, system, symbols);
    }
    if !chance.one_in(4) {
        add_initial(&mut invariant, &system.initial);
    }
    invariant
}

/// One small change.
fn mutate(chance: &mut Chance, invariant: &mut Invariant, system: &Explicit, symbols: u32) {
    let width = 1 + system.threads();
    let thread = chance.below(system.threads());
    let row = (!invariant.rows.is_empty()).then(|| chance.below(invariant.rows.len() / width) * width);
    match (chance.below(5), row) {
        (0, Some(row)) => {
            invariant.rows.drain(row..row + width);
        }
        (1, Some(row)) => {
            invariant.rows[row + 1 + thread] = chance.below(invariant.windows[thread].len()) as u32;
        }
        (2, Some(row)) => invariant.rows[row] = chance.below(system.shared_states as usize) as Shared,
        (3, _) => {
            let (above, under) = random_pair(chance, symbols);
            invariant.below[thread].entry(above).or_default().insert(under);
        }
        _ => {
            let (above, under) = random_pair(chance, symbols);
            invariant.below[thread].entry(above).or_default().remove(&under);
        }
    }
}

#[derive(Default, Debug)]
struct Counts {
    accepted: usize,
    accepted_with_more: usize,
    rejected: usize,
    bad: usize,
}

impl Counts {
    /// Both must agree.
    fn compare(&mut self, system: &Explicit, property: &Property, invariant: &Invariant, symbols: u32) {
        let naive = Naive::new(invariant);
        let violation = naive.violation(system, symbols, depth_for(invariant.window, symbols));
        match check(system, property, invariant) {
            Ok(()) => {
                assert_eq!(violation, None, "accepted\n{invariant:?}\n{system:?}");
                assert!(!naive.has_bad(property), "accepted\n{invariant:?}\n{property:?}");
                self.accepted += 1;
                let more = invariant.windows.iter().flatten().any(|window| window.more);
                self.accepted_with_more += usize::from(more && invariant.states().len() > 2);
            }
            Err(Rejection::Missing { what, .. }) => {
                assert!(violation.is_some(), "rejected: {what}\n{invariant:?}\n{system:?}");
                self.rejected += 1;
            }
            Err(Rejection::BadState { row, state }) => {
                assert!(naive.has_bad(property), "rejected: state {row}, {state}");
                self.bad += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
}

fn random_property(chance: &mut Chance, system: &Explicit, symbols: u32) -> Property {
    let mut any = |limit: usize| (!chance.one_in(3)).then(|| chance.below(limit) as u32);
    let shared = any(system.shared_states as usize);
    Property {
        bad: vec![Pattern {
            shared,
            tops: (0..system.threads()).map(|_| any(symbols as usize + 1)).collect(),
        }],
    }
}

#[test]
fn random_invariants_are_judged_as_by_definition() {
    let mut counts = Counts::default();
    for seed in 0..4000 {
        let mut chance = Chance::new(seed);
        let (system, symbols) = chance.system();
        let invariant = random_invariant(&mut chance, &system, symbols, 1 + seed as usize % 3);
        let property = random_property(&mut chance, &system, symbols);
        counts.compare(&system, &property, &invariant, symbols);
    }
    println!("random: {counts:?}");
    assert!(counts.accepted > 100 && counts.rejected > 1000, "{counts:?}");
}

/// The least inductive invariant of each system, larger inductive ones, and small changes of both.
#[test]
fn good_and_almost_good_invariants_are_judged_as_by_definition() {
    let (mut good, mut changed, mut bad) = (Counts::default(), Counts::default(), Counts::default());
    for seed in 0..1500 {
        let mut chance = Chance::new(1_000_000 + seed);
        let (system, symbols) = chance.system();
        let window = 1 + seed as usize % 3;
        let start = if chance.one_in(2) {
            Invariant::new(system.threads(), window)
        } else {
            random_invariant(&mut chance, &system, symbols, window)
        };
        let Some(invariant) = close(&system, start, 150) else { continue };
        let safe = Property::default();
        good.compare(&system, &safe, &invariant, symbols);
        bad.compare(&system, &random_property(&mut chance, &system, symbols), &invariant, symbols);
        for _ in 0..6 {
            let mut other = invariant.clone();
            for _ in 0..1 + chance.below(2) {
                mutate(&mut chance, &mut other, &system, symbols);
            }
            changed.compare(&system, &safe, &other, symbols);
        }
    }
    println!("good: {good:?}\nchanged: {changed:?}\nproperty: {bad:?}");
    assert!(good.rejected == 0 && good.accepted_with_more > 500, "{good:?}");
    assert!(
        changed.accepted > 300 && changed.accepted_with_more > 100 && changed.rejected > 2000,
        "{changed:?}"
    );
    assert!(bad.bad > 300 && bad.accepted > 300, "{bad:?}");
}

/// States that are reached by brute force, within a depth and a number.
fn reachable(system: &Explicit, depth: usize, most: usize) -> BTreeSet<State> {
    let mut seen = BTreeSet::from([system.initial.clone()]);
    let mut agenda = vec![system.initial.clone()];
    while let Some(state) = agenda.pop() {
        for thread in 0..system.threads() {
            for rule in state.enabled(system, thread) {
                let next = state.step(thread, &rule);
                let shallow = next.stacks.iter().all(|stack| stack.depth() <= depth);
                if shallow && seen.len() < most && seen.insert(next.clone()) {
                    agenda.push(next);
                }
            }
        }
    }
    seen
}

/// What is accepted covers what is reachable: the point of it all.
#[test]
fn accepted_invariants_cover_every_reachable_state() {
    let mut states = 0;
    for seed in 0..1500 {
        let mut chance = Chance::new(2_000_000 + seed);
        let (system, _) = chance.system();
        let Some(invariant) = close(&system, Invariant::new(system.threads(), 1 + seed as usize % 3), 150)
        else {
            continue;
        };
        let naive = Naive::new(&invariant);
        for state in reachable(&system, 5, 500) {
            assert!(naive.covers(&state), "{state:?} is reachable and not covered by\n{invariant:?}");
            states += 1;
        }
    }
    println!("{states} reachable states covered");
    assert!(states > 10_000);
}

#[test]
fn the_least_invariant_of_figure_1_is_exact() {
    let system = figure_1();
    for window in 1..=3 {
        let invariant = least(&system, window);
        assert_eq!(invariant.visible().len(), 8);
        let reached: BTreeSet<_> = reachable(&system, 6, 10_000).iter().map(State::visible).collect();
        assert_eq!(invariant.visible(), reached.into_iter().collect::<Vec<_>>());
    }
}
