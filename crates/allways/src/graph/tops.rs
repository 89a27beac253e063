//! The abstract states of programs and rules: the shared state, and what is on top of each stack.
//!
//! What lies under a top is forgotten, save for a relation: what was ever seen right under a frame of this procedure, or under this
//! symbol, of this thread. A return, or a pop, goes on with each of these. So the graph has every reachable state, seen from above, and
//! perhaps others; and of a recursive program it is finite where its variables are. It is the bound of CUBA, section 4.1.3, with windows of one symbol.
//!
//! Invariant: the relation only grows. It grows while states are explored, so they are explored anew until it has not.

use super::{Explored, Graph, Reached, Wanted, Words, described, explore, from, rule_steps};
use allways_model::program::Program;
use allways_model::program::semantics::{Frame, State};
use allways_model::property::Property;
use allways_model::pushdown::{self, Pushdown, Stack, Symbol};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};

/// For each thread, and each procedure or symbol on its top, what was seen right under it; nothing if it was the last of its stack.
type Seen<F> = BTreeMap<(usize, usize), Vec<Option<F>>>;

/// What was seen under which top.
struct Under<F> {
    seen: RefCell<Seen<F>>,
    known: RefCell<HashSet<(usize, usize, Option<F>)>>,
    grew: Cell<bool>,
}

impl<F: Clone + Eq + std::hash::Hash> Under<F> {
    fn new() -> Under<F> {
        Under { seen: RefCell::default(), known: RefCell::default(), grew: Cell::new(false) }
    }

    /// Notes what a stack, from the bottom up, shows from a place in it on.
    fn note(&self, thread: usize, stack: &[F], start: usize, key: impl Fn(&F) -> usize) {
        for (index, top) in stack.iter().enumerate().skip(start) {
            let (top, under) = (key(top), index.checked_sub(1).map(|under| stack[under].clone()));
            if self.known.borrow_mut().insert((thread, top, under.clone())) {
                self.seen.borrow_mut().entry((thread, top)).or_default().push(under);
                self.grew.set(true);
            }
        }
    }

    fn of(&self, thread: usize, top: usize) -> Vec<Option<F>> {
        self.seen.borrow().get(&(thread, top)).cloned().unwrap_or_default()
    }

    /// Explores until the relation does not grow any more.
    fn settled(&self, wanted: Wanted<'_>, explore: impl Fn() -> Explored) -> Explored {
        loop {
            self.grew.set(false);
            let explored = explore();
            if !self.grew.get() || (wanted.stop)() {
                return Explored { cut: explored.cut || self.grew.get(), ..explored };
            }
        }
    }
}

/// What the title says besides.
fn titled(mut graph: Graph) -> Graph {
    graph.title = graph.title.replacen(" state", " abstract state", 1);
    graph.title += "; of stacks, the top: some may not be reachable";
    graph
}

/// The abstract states of a program with so many threads of each template.
pub fn program_tops(
    name: &str,
    program: &Program,
    source: &[u8],
    counts: &[usize],
    deadlock: bool,
    wanted: Wanted<'_>,
) -> Graph {
    let words = Words { program, source, deadlock };
    let under = Under::<Frame>::new();
    let procedure = |frame: &Frame| program.locations[frame.location].procedure.index();
    // Keeps the top of the stack of a thread, and notes what lay under it.
    let topped = |mut state: State, thread: usize, start: usize| {
        let stack = &mut state.threads[thread].stack;
        under.note(thread, stack, start, procedure);
        stack.drain(..stack.len().saturating_sub(1));
        state
    };
    let initial = State::initial(program, counts).unwrap_or_default().into_iter().map(|state| {
        let threads = state.threads.len();
        Reached::State((0..threads).fold(state, |state, thread| topped(state, thread, 0)))
    });
    let initial: Vec<Reached> = initial.collect();
    let next = |reached: &Reached| {
        let Reached::State(state) = reached else { return Vec::new() };
        let mut all = Vec::new();
        for thread in 0..state.threads.len() {
            let Some(top) = state.threads[thread].top() else { continue };
            for below in under.of(thread, procedure(top)) {
                let mut whole = state.clone();
                let start = usize::from(below.is_some());
                whole.threads[thread].stack.splice(..0, below);
                for (label, to) in words.steps(&whole, thread..thread + 1) {
                    let to = match to {
                        Reached::State(next) => {
                            // What it starts has a stack of its own.
                            let before = state.threads.len();
                            let next = (before..next.threads.len())
                                .fold(next, |next, started| topped(next, started, 0));
                            Reached::State(topped(next, thread, start))
                        }
                        other => other,
                    };
                    // The same step from above something else may look the same.
                    if !all.contains(&(label.clone(), to.clone())) {
                        all.push((label, to));
                    }
                }
            }
        }
        all
    };
    let describe = |reached: &Reached| words.describe(reached);
    titled(under.settled(wanted, || explore(initial.clone(), wanted, describe, next)).graph(name, wanted))
}

/// The abstract states of rules.
pub fn rule_tops(name: &str, system: &dyn Pushdown, property: &Property, wanted: Wanted<'_>) -> Graph {
    let under = Under::<Symbol>::new();
    let topped = |mut state: pushdown::State, thread: usize, start: usize| {
        let stack: Vec<Symbol> = state.stacks[thread].symbols().rev().collect();
        under.note(thread, &stack, start, |symbol| symbol.index());
        state.stacks[thread] = Stack::from_top(stack.last().copied());
        state
    };
    let initial = system.initial().into_iter();
    let initial: Vec<pushdown::State> = initial
        .map(|state| (0..system.threads()).fold(state, |state, thread| topped(state, thread, 0)))
        .collect();
    let next = |state: &pushdown::State| {
        let mut all: Vec<(String, pushdown::State)> = Vec::new();
        for thread in 0..system.threads() {
            // From an empty stack there may be rules, too; under it there is nothing.
            let top = state.stacks[thread].symbols().next();
            let unders = top.map_or(vec![None], |top| under.of(thread, top.index()));
            for below in unders {
                let mut whole = state.clone();
                let start = usize::from(below.is_some());
                whole.stacks[thread] = Stack::from_top(top.into_iter().chain(below).collect::<Vec<_>>());
                for (label, to) in rule_steps(system, &whole, thread..thread + 1) {
                    let to = topped(to, thread, start);
                    if !all.iter().any(|(other, state)| *other == label && *state == to) {
                        all.push((label, to));
                    }
                }
            }
        }
        all
    };
    let describe = |state: &pushdown::State| described(system, property, state);
    let explored = under.settled(wanted, || explore(initial.clone(), wanted, describe, next));
    let mut graph = explored.graph(name, wanted);
    graph.title += &from(system);
    titled(graph)
}
