//! How each thread moves, as far as windows tell: a graph over (shared state, window number), and the relation *below*.
//!
//! A step replaces the top symbol by a word. What is known of the stack afterwards is the word and the rest of the window,
//! the *prefix*; if the old window had its mark, the symbol that follows is one of those below its last symbol. From this
//! the new windows are read off, and the pairs that *below* must hold so that it stays true of what is hidden:
//!
//! * a prefix longer than the window hides its last symbol: that symbol is below the last one of the window;
//! * a prefix as long as the window, with nothing under it: the end is below its last symbol;
//! * with a window of one symbol the last symbol may change: what was below the old one is below the new one;
//! * a prefix shorter than the window, with the mark: a *pop*; each symbol below the last one may come to light.
//!
//! Pops are remembered, so that they gain moves when *below* grows. They are where precision is lost: what comes to light may
//! have lain below another occurrence of the symbol. Where products of thread states are known, which keep whole stacks, a
//! window that they do not admit is left out.

use crate::store::{Graph, Move};
use allways_evidence::invariant::Below;
use allways_evidence::products::Admitted;
use allways_evidence::{Products, Window};
use allways_model::pushdown::{EMPTY, Pushdown, Rule, Shared, Stack, Symbol, Word};
use allways_model::symmetry::Kinds;
use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use std::sync::Arc;

type Map<K, V> = HashMap<K, V, FxBuildHasher>;

/// Moves that were found after the window had been expanded, by kind, shared state and window.
pub type Late = HashMap<(usize, Shared, u32), Vec<Move>>;

/// A pop at a view that may bring any hidden symbol to light.
#[derive(Clone, Copy)]
struct Pop {
    shared: Shared,
    window: u32,
    to: Shared,
}

/// What can be on the stacks of a kind of threads at all.
struct Within {
    admitted: Arc<Admitted>,
    /// The first thread of the kind.
    leader: usize,
}

/// The windows of one kind of thread.
#[derive(Default)]
struct Local {
    within: Option<Within>,
    windows: Vec<Window>,
    index: HashMap<Window, u32>,
    /// For a shared state and a window, the range of its moves.
    views: Map<(Shared, u32), (u32, u32)>,
    moves: Vec<Move>,
    below: Map<Symbol, HashSet<Symbol, FxBuildHasher>>,
    /// For a symbol x, the symbols y such that everything hidden below x is below y.
    flows: Map<Symbol, HashSet<Symbol, FxBuildHasher>>,
    /// For a symbol, the pops of windows that end with it…
    pops: Map<Symbol, Vec<Pop>>,
    /// …and the pops that bring it to light.
    emerging: Map<Symbol, Vec<Pop>>,
    late: Vec<(Shared, u32, Move)>,
    /// New pairs of *below* whose consequences have not been drawn.
    fresh: Vec<(Symbol, Symbol)>,
}

/// The windows of all threads; see the module.
pub struct Windows<'a> {
    system: &'a dyn Pushdown,
    kinds: Kinds,
    size: usize,
    locals: Vec<Local>,
    rules: Vec<Rule>,
}

impl<'a> Windows<'a> {
    /// Where `within` is given, windows that it does not admit are left out; its kinds are these.
    pub fn new(
        system: &'a dyn Pushdown,
        kinds: Kinds,
        size: usize,
        within: Option<&Products>,
    ) -> Windows<'a> {
        let admitted = within.map(|products| Arc::new(Admitted::new(products)));
        let local = |kind: usize| {
            let leader = kinds.members(kind)[0];
            let within = admitted.clone().map(|admitted| Within { admitted, leader });
            Local { within, ..Local::default() }
        };
        let locals = (0..kinds.count()).map(local).collect();
        Windows { system, kinds, size: size.max(1), locals, rules: Vec::new() }
    }

    /// How many symbols a window has at most.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The window of a stack.
    pub fn observe(&mut self, thread: usize, stack: &Stack) -> u32 {
        let local = &mut self.locals[self.kinds.kind(thread)];
        let symbols: Vec<Symbol> = stack.symbols().collect();
        let whole: Vec<Symbol> = symbols.iter().copied().chain([EMPTY]).collect();
        for pair in whole.get(self.size - 1..).unwrap_or_default().windows(2) {
            local.put_below(pair[0], pair[1]);
        }
        local.settle(self.size);
        local.intern(&symbols[..symbols.len().min(self.size)], symbols.len() > self.size)
    }

    /// The top symbol of a window, [`EMPTY`] if there is none.
    pub fn symbol(&self, thread: usize, window: u32) -> Symbol {
        self.locals[self.kinds.kind(thread)].windows[window as usize].top()
    }

    /// The moves found late since the last time.
    pub fn take_late(&mut self) -> Late {
        let mut late = Late::new();
        for (kind, local) in self.locals.iter_mut().enumerate() {
            for (shared, window, to) in local.late.drain(..) {
                late.entry((kind, shared, window)).or_default().push(to);
            }
        }
        late
    }

    /// The relation *below* and the windows of each kind.
    pub fn describe(&self) -> (Vec<Below>, Vec<Vec<Window>>) {
        let below = |local: &Local| {
            local.below.iter().map(|(&symbol, unders)| (symbol, unders.iter().copied().collect())).collect()
        };
        let windows = self.locals.iter().map(|local| local.windows.clone());
        (self.locals.iter().map(below).collect(), windows.collect())
    }

    #[cold]
    fn compute(&mut self, thread: usize, shared: Shared, window: u32) -> (u32, u32) {
        let local = &mut self.locals[self.kinds.kind(thread)];
        self.rules.clear();
        self.system.rules(thread, shared, local.windows[window as usize].top(), &mut self.rules);
        local.views.insert((shared, window), (0, 0));
        for rule in &self.rules {
            local.step(self.size, shared, window, rule.shared, rule.word);
        }
        local.settle(self.size);
        // These moves were found in time.
        local.late.retain(|&(at, from, _)| (at, from) != (shared, window));
        local.views[&(shared, window)]
    }
}

impl Graph for Windows<'_> {
    fn moves(&mut self, thread: usize, shared: Shared, window: u32) -> &[Move] {
        let kind = self.kinds.kind(thread);
        let (start, end) = match self.locals[kind].views.get(&(shared, window)) {
            Some(&range) => range,
            None => self.compute(thread, shared, window),
        };
        &self.locals[kind].moves[start as usize..end as usize]
    }
}

impl Local {
    fn intern(&mut self, symbols: &[Symbol], more: bool) -> u32 {
        let window = Window { symbols: symbols.to_vec(), more };
        let fresh = self.windows.len() as u32;
        let id = *self.index.entry(window.clone()).or_insert(fresh);
        if id == fresh {
            self.windows.push(window);
        }
        id
    }

    fn add_move(&mut self, shared: Shared, window: u32, to: Move) {
        let Some(range) = self.views.get_mut(&(shared, window)) else { return };
        let known = range.0 as usize..range.1 as usize;
        if !self.moves[known.clone()].contains(&to) {
            // A range can grow only at the end of the array: elsewhere it is moved there.
            if known.end != self.moves.len() {
                range.0 = self.moves.len() as u32;
                self.moves.extend_from_within(known);
            }
            self.moves.push(to);
            range.1 = self.moves.len() as u32;
            self.late.push((shared, window, to));
        }
    }

    /// What a rule does at a view; see the module.
    fn step(&mut self, size: usize, shared: Shared, window: u32, to: Shared, word: Word) {
        let Window { symbols, more } = self.windows[window as usize].clone();
        let rest = symbols.get(1..).unwrap_or_default();
        let prefix: Vec<Symbol> = word.symbols().iter().chain(rest).copied().collect();
        if prefix.len() < size && more {
            let last = symbols[size - 1];
            let pop = Pop { shared, window, to };
            self.pops.entry(last).or_default().push(pop);
            for under in self.hidden(last) {
                self.emerge(size, pop, under);
            }
            return;
        }
        if let Some(&lowest) = prefix.last().filter(|_| prefix.len() >= size) {
            if prefix.len() > size {
                self.put_below(prefix[size - 1], prefix[size]);
            }
            if !more {
                self.put_below(lowest, EMPTY);
            } else if lowest != symbols[size - 1] || size == 1 {
                self.flow(symbols[size - 1], lowest);
            }
        }
        let local = self.intern(&prefix[..prefix.len().min(size)], more || prefix.len() > size);
        self.add_move(shared, window, Move { shared: to, local });
    }

    fn hidden(&self, symbol: Symbol) -> Vec<Symbol> {
        let unders = self.below.get(&symbol).into_iter().flatten();
        unders.copied().filter(|&under| under != EMPTY).collect()
    }

    fn put_below(&mut self, symbol: Symbol, under: Symbol) {
        if self.below.entry(symbol).or_default().insert(under) {
            self.fresh.push((symbol, under));
        }
    }

    fn flow(&mut self, from: Symbol, to: Symbol) {
        if from != to && self.flows.entry(from).or_default().insert(to) {
            for under in self.hidden(from) {
                self.put_below(to, under);
            }
        }
    }

    /// A pop brings a symbol to light: with the mark if something can lie below it, without if nothing can.
    fn emerge(&mut self, size: usize, pop: Pop, under: Symbol) {
        self.emerging.entry(under).or_default().push(pop);
        if let Some(below) = self.below.get(&under) {
            let (more, end) = (below.iter().any(|&symbol| symbol != EMPTY), below.contains(&EMPTY));
            for mark in [more.then_some(true), end.then_some(false)].into_iter().flatten() {
                self.light(size, pop, under, mark);
            }
        }
    }

    fn light(&mut self, size: usize, pop: Pop, under: Symbol, more: bool) {
        let mut symbols = self.windows[pop.window as usize].symbols[1..size].to_vec();
        symbols.push(under);
        if let Some(Within { admitted, leader }) = &self.within
            && !admitted.admits(*leader, pop.to, &symbols, more)
        {
            return;
        }
        let local = self.intern(&symbols, more);
        self.add_move(pop.shared, pop.window, Move { shared: pop.to, local });
    }

    /// Draws the consequences of new pairs until there are none.
    fn settle(&mut self, size: usize) {
        while let Some((symbol, under)) = self.fresh.pop() {
            for pop in self.emerging.get(&symbol).cloned().unwrap_or_default() {
                self.light(size, pop, symbol, under != EMPTY);
            }
            if under == EMPTY {
                continue;
            }
            for to in self.flows.get(&symbol).cloned().unwrap_or_default() {
                self.put_below(to, under);
            }
            for pop in self.pops.get(&symbol).cloned().unwrap_or_default() {
                self.emerge(size, pop, under);
            }
        }
    }
}
