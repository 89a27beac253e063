//! The reference for `induct`: the definition of *covers*, taken word for word, and random invariants to judge by it.

use super::{Chance, add_state, check};
use allways_evidence::{Invariant, Rejection, Window};
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{EMPTY, Explicit, Pushdown, Shared, Stack, State, Symbol};
use allways_model::symmetry::Kinds;
use std::collections::{BTreeMap, BTreeSet};

/// An invariant as a set, for the reference.
pub struct Naive<'a> {
    invariant: &'a Invariant,
    states: BTreeSet<(Shared, Vec<Window>)>,
}

impl<'a> Naive<'a> {
    pub fn new(invariant: &'a Invariant) -> Naive<'a> {
        let renamings = renamings(&invariant.kinds);
        let mut states = BTreeSet::new();
        for (shared, row) in invariant.states() {
            for renaming in &renamings {
                let window = |&thread: &usize| invariant.window_of(thread, row[thread]).clone();
                states.insert((shared, renaming.iter().map(window).collect()));
            }
        }
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
        let below = |symbol: Symbol| self.invariant.below[self.invariant.kinds.kind(thread)].get(&symbol);
        (self.invariant.window..=m).all(|j| below(x[j - 1]).is_some_and(|under| under.contains(&x[j])))
    }

    pub fn covers(&self, state: &State) -> bool {
        let windows = state.stacks.iter().map(|stack| self.window(stack)).collect();
        let links = state.stacks.iter().enumerate().all(|(thread, stack)| self.links(thread, stack));
        links && self.states.contains(&(state.shared, windows))
    }

    /// For each thread, the stacks up to a depth that satisfy condition 2, by window, shallow ones first.
    fn stacks(&self, symbols: u32, depth: usize) -> Vec<BTreeMap<Window, Vec<Stack>>> {
        let all = all_stacks(symbols, depth);
        (0..self.invariant.kinds.threads())
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

    fn has_bad(&self, system: &Explicit, property: &Property) -> bool {
        self.states.iter().any(|(shared, windows)| {
            property.violated_at(system, *shared, &windows.iter().map(Window::top).collect::<Vec<_>>())
        })
    }
}

/// All permutations of the threads that keep each within its kind.
fn renamings(kinds: &Kinds) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for thread in 0..kinds.threads() {
        let longer = all.iter().flat_map(|some| {
            let free = (0..kinds.threads()).filter(|other| !some.contains(other));
            let alike = free.filter(|&other| kinds.kind(other) == kinds.kind(thread));
            alike.map(|other| some.iter().copied().chain([other]).collect())
        });
        all = longer.collect();
    }
    all
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
                longer.push(Symbol(symbol));
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
    let symbols = (0..length).map(|_| Symbol(1 + chance.below(symbols as usize) as u32)).collect();
    Window { symbols, more: length == size && chance.one_in(2) }
}

fn random_state(chance: &mut Chance, invariant: &mut Invariant, system: &Explicit, symbols: u32) {
    let shared = chance.below(system.shared_states as usize) as u32;
    let windows: Vec<Window> =
        (0..system.threads()).map(|_| random_window(chance, invariant.window, symbols)).collect();
    add_state(invariant, shared, &windows);
}

fn random_pair(chance: &mut Chance, symbols: u32) -> (Symbol, Symbol) {
    let above = 1 + chance.below(symbols as usize) as u32;
    (Symbol(above), Symbol(chance.below(symbols as usize + 1) as u32))
}

/// Makes the invariant cover a state.
fn add_initial(invariant: &mut Invariant, state: &State) {
    let windows: Vec<Window> = state.stacks.iter().map(|stack| Naive::new(invariant).window(stack)).collect();
    add_state(invariant, state.shared.0, &windows);
    for (thread, stack) in state.stacks.iter().enumerate() {
        let below = &mut invariant.below[invariant.kinds.kind(thread)];
        let under = stack.symbols().skip(1).chain([EMPTY]);
        for (above, under) in stack.symbols().zip(under) {
            below.entry(above).or_default().insert(under);
        }
    }
}

pub fn random_invariant(
    chance: &mut Chance,
    system: &Explicit,
    kinds: Kinds,
    symbols: u32,
    window: usize,
) -> Invariant {
    let mut invariant = Invariant::new(kinds, window);
    for kind in 0..invariant.kinds.count() {
        for _ in 0..chance.below(6) {
            let (above, under) = random_pair(chance, symbols);
            invariant.below[kind].entry(above).or_default().insert(under);
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
pub fn mutate(chance: &mut Chance, invariant: &mut Invariant, system: &Explicit, symbols: u32) {
    let width = 1 + system.threads();
    let thread = chance.below(system.threads());
    let kind = invariant.kinds.kind(thread);
    let row = (!invariant.rows.is_empty()).then(|| chance.below(invariant.rows.len() / width) * width);
    match (chance.below(5), row) {
        (0, Some(row)) => {
            invariant.rows.drain(row..row + width);
        }
        (1, Some(row)) => {
            invariant.rows[row + 1 + thread] = chance.below(invariant.windows[kind].len()) as u32;
        }
        (2, Some(row)) => invariant.rows[row] = chance.below(system.shared_states as usize) as u32,
        (3, _) => {
            let (above, under) = random_pair(chance, symbols);
            invariant.below[kind].entry(above).or_default().insert(under);
        }
        _ => {
            let (above, under) = random_pair(chance, symbols);
            invariant.below[kind].entry(above).or_default().remove(&under);
        }
    }
}

/// Renames the threads of some rows, each by swaps of two threads of one kind.
pub fn shuffle(chance: &mut Chance, invariant: &mut Invariant) {
    let (threads, kinds) = (invariant.kinds.threads(), invariant.kinds.clone());
    for row in invariant.rows.chunks_exact_mut(1 + threads) {
        let (one, other) = (chance.below(threads), chance.below(threads));
        if kinds.kind(one) == kinds.kind(other) {
            row.swap(1 + one, 1 + other);
        }
    }
}

#[derive(Default, Debug)]
pub struct Counts {
    pub accepted: usize,
    pub accepted_with_more: usize,
    pub rejected: usize,
    pub bad: usize,
    /// Rejected for its kinds.
    pub not_alike: usize,
}

impl Counts {
    /// Both must agree.
    pub fn compare(&mut self, system: &Explicit, property: &Property, invariant: &Invariant, symbols: u32) {
        let naive = Naive::new(invariant);
        let violation = naive.violation(system, symbols, depth_for(invariant.window, symbols));
        match check(system, property, invariant) {
            Ok(()) => {
                assert_eq!(violation, None, "accepted\n{invariant:?}\n{system:?}");
                assert!(!naive.has_bad(system, property), "accepted\n{invariant:?}\n{property:?}");
                self.accepted += 1;
                let more = invariant.windows.iter().flatten().any(|window| window.more);
                self.accepted_with_more += usize::from(more && invariant.states().len() > 2);
            }
            Err(Rejection::Missing { what, .. }) => {
                assert!(violation.is_some(), "rejected: {what}\n{invariant:?}\n{system:?}");
                self.rejected += 1;
            }
            Err(Rejection::BadState { row, state }) => {
                assert!(naive.has_bad(system, property), "rejected: state {row}, {state}");
                self.bad += 1;
            }
            Err(Rejection::NotAlike { threads: (one, other), shared, top, what }) => {
                assert_eq!(invariant.kinds.kind(one), invariant.kinds.kind(other), "{what}");
                let rules = |thread: usize| {
                    let rules =
                        system.threads[thread].iter().filter(|rule| (rule.0, rule.1) == (shared, top));
                    rules.map(|(_, _, rule)| (rule.shared, rule.word)).collect::<BTreeSet<_>>()
                };
                assert_ne!(rules(one), rules(other), "{what}");
                self.not_alike += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
}

pub fn random_property(chance: &mut Chance, system: &Explicit, symbols: u32) -> Property {
    let mut any = |limit: usize| (!chance.one_in(3)).then(|| chance.below(limit) as u32);
    let shared = any(system.shared_states as usize).map(Shared);
    let tops = (0..system.threads()).map(|_| any(symbols as usize + 1).map(Symbol)).collect();
    Property { bad: vec![Pattern { shared, tops }], deadlock: chance.one_in(4) }
}

/// States that are reached by brute force, within a depth and a number.
pub fn reachable(system: &Explicit, depth: usize, most: usize) -> BTreeSet<State> {
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
