//! What the threads of one kind can do from a shared state and a window, as far as it concerns the one that moves alone.
//!
//! The pairs of *below* that a step needs, and the windows that it leads to, do not depend on the other threads. They are
//! worked out here, once per (shared state, window), following the opening comment of [`induct`](super) to the letter.
//! The rules are those of the first thread of the kind, its leader; that the others have the same is tested wherever they
//! are asked for.
//!
//! States are looked at shared state by shared state, so moves are remembered for one shared state at a time: what a window can do
//! is then in a list, and nothing is looked up.
//!
//! Invariant of the caches: whatever is in them has passed; the first thing that is missing ends the check. Their size is
//! linear in the invariant, but for where threads are known to be alike, which is bounded by a constant.

use crate::invariant::Below;
use crate::products::Admitted;
use crate::{Invariant, Window};
use allways_model::pushdown::{EMPTY, Pushdown, Rule, Shared, Symbol, Word};
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeSet;
use std::ops::Range;

/// How many places where threads are alike are remembered before all are forgotten.
const REMEMBERED: usize = 1 << 22;

pub(super) struct Mover<'a> {
    system: &'a dyn Pushdown,
    /// The threads of the kind, the leader first.
    members: &'a [usize],
    z: usize,
    windows: &'a [Window],
    index: HashMap<(&'a [Symbol], bool), u32>,
    below: &'a Below,
    hidden: HashMap<Symbol, Vec<Symbol>>,
    /// For each window, whether it stands for any stack at all.
    inhabited: Vec<bool>,
    /// The shared state that is asked about, and how many there were before it.
    shared: Shared,
    round: u32,
    /// For each window, the last round in which it was asked for, and its moves there, as a range of `moves`.
    known: Vec<(u32, u32, u32)>,
    moves: Vec<Move>,
    /// Lists of window numbers. It starts with all numbers in order, so that each single one is a list, too.
    targets: Vec<u32>,
    /// For what is left of a window by a pop, the list of what it can become. Different remainders have no target in
    /// common if `z ≥ 2`, and as many as *below* has pairs if `z = 1`, so all lists together are short.
    pops: HashMap<&'a [Symbol], Range<usize>>,
    /// Pairs (x, y) such that all of `hidden(x)` is in *below*(y).
    inherits: HashSet<(Symbol, Symbol)>,
    rules: Vec<Rule>,
    /// Where all threads of the kind are known to have the same rules.
    alike: HashSet<(Shared, Symbol)>,
    /// What can be on a stack at all, if something is known of it.
    admitted: Option<&'a Admitted>,
}

/// A rule of the leader, and which windows it can lead to.
pub(super) struct Move {
    pub(super) rule: Rule,
    targets: Range<usize>,
}

/// What is wrong with the moves from some place.
pub(super) enum Fault {
    /// This thread has not the same rules as the leader.
    NotAlike(usize),
    /// Something is missing for this rule of the leader.
    Missing(Rule, Gap),
}

/// What is missing for one thread.
pub(super) enum Gap {
    /// No state has this window, here or anywhere.
    Window(Window),
    /// A pair of *below*.
    Below { above: Symbol, under: Symbol },
}

impl<'a> Mover<'a> {
    /// The shape of the invariant has been checked.
    pub(super) fn new(
        system: &'a dyn Pushdown,
        kind: usize,
        invariant: &'a Invariant,
        admitted: Option<&'a Admitted>,
    ) -> Mover<'a> {
        let (windows, below) = (&invariant.windows[kind][..], &invariant.below[kind]);
        let numbers = 0..windows.len() as u32;
        let key = |window: &'a Window| (&window.symbols[..], window.more);
        let mut mover = Mover {
            system,
            members: invariant.kinds.members(kind),
            z: invariant.window,
            windows,
            index: windows.iter().map(key).zip(numbers.clone()).collect(),
            below,
            hidden: hidden(below),
            inhabited: Vec::new(),
            shared: Shared(0),
            round: 1,
            known: vec![(0, 0, 0); windows.len()],
            moves: Vec::new(),
            targets: numbers.collect(),
            pops: HashMap::new(),
            inherits: HashSet::new(),
            rules: Vec::new(),
            alike: HashSet::new(),
            admitted,
        };
        mover.inhabited = windows.iter().map(|window| mover.inhabits(window)).collect();
        mover
    }

    /// The number of a window, if it is listed.
    pub(super) fn find(&self, symbols: &[Symbol], more: bool) -> Option<u32> {
        self.index.get(&(symbols, more)).copied()
    }

    pub(super) fn is_below(&self, above: Symbol, under: Symbol) -> bool {
        self.below.get(&above).is_some_and(|unders| unders.contains(&under))
    }

    /// Whether any stack at all has this window.
    pub(super) fn stands_for_something(&self, window: u32) -> bool {
        self.inhabited[window as usize]
    }

    /// The moves from here, in all states that cover something; as a range for [`Mover::moves_in`].
    pub(super) fn moves(&mut self, shared: Shared, window: u32) -> Result<(u32, u32), Fault> {
        if shared != self.shared {
            self.begin(shared);
        }
        let (round, start, end) = self.known[window as usize];
        if round == self.round {
            return Ok((start, end));
        }
        let start = self.moves.len() as u32;
        let window_there = &self.windows[window as usize];
        let mut rules = std::mem::take(&mut self.rules);
        self.system.rules(self.members[0], shared, window_there.top(), &mut rules);
        self.need_alike(shared, window_there.top(), &rules)?;
        for rule in rules.drain(..) {
            let targets = self.targets(window_there, &rule).map_err(|gap| Fault::Missing(rule, gap))?;
            self.moves.push(Move { rule, targets });
        }
        self.rules = rules;
        let end = self.moves.len() as u32;
        self.known[window as usize] = (self.round, start, end);
        Ok((start, end))
    }

    /// Forgets the moves of the shared state before.
    fn begin(&mut self, shared: Shared) {
        self.shared = shared;
        self.moves.clear();
        if self.admitted.is_some() {
            // What a pop leads to depends on the shared state, too.
            self.targets.truncate(self.windows.len());
        }
        if self.round == u32::MAX {
            self.known.fill((0, 0, 0));
            self.round = 0;
        }
        self.round += 1;
    }

    pub(super) fn moves_in(&self, (start, end): (u32, u32)) -> &[Move] {
        &self.moves[start as usize..end as usize]
    }

    /// The numbers of the windows to which a move can lead.
    pub(super) fn targets_of(&self, step: &Move) -> &[u32] {
        &self.targets[step.targets.clone()]
    }

    /// Requires that all threads of the kind have these rules here, wherever they come from.
    fn need_alike(&mut self, shared: Shared, top: Symbol, rules: &[Rule]) -> Result<(), Fault> {
        let others = &self.members[1..];
        if others.is_empty() || self.alike.contains(&(shared, top)) {
            return Ok(());
        }
        let expected = effects(rules);
        for &thread in others {
            let mut rules = Vec::new();
            self.system.rules(thread, shared, top, &mut rules);
            if effects(&rules) != expected {
                return Err(Fault::NotAlike(thread));
            }
        }
        if self.alike.len() > REMEMBERED {
            self.alike.clear();
        }
        self.alike.insert((shared, top));
        Ok(())
    }

    fn inhabits(&self, window: &Window) -> bool {
        window.symbols.len() < self.z
            || self.beneath(window).iter().any(|&under| self.is_below_last(window, under))
    }

    fn is_below_last(&self, window: &Window, under: Symbol) -> bool {
        window.symbols.last().is_some_and(|&last| self.is_below(last, under))
    }

    /// The set B: what can come next after the symbols of the window.
    fn beneath(&self, window: &Window) -> &[Symbol] {
        match window.symbols.last() {
            Some(last) if window.more => self.hidden(*last),
            _ => &[EMPTY],
        }
    }

    fn hidden(&self, symbol: Symbol) -> &[Symbol] {
        self.hidden.get(&symbol).map_or(&[], |symbols| &symbols[..])
    }

    /// The windows that can follow `from`, which stands for something, when its top is replaced by `word`.
    fn targets(&mut self, from: &'a Window, rule: &Rule) -> Result<Range<usize>, Gap> {
        let mut prefix = rule.word.symbols().to_vec();
        prefix.extend(from.symbols.get(1..).unwrap_or_default());
        if prefix.len() < self.z {
            return match self.admitted {
                _ if !from.more => self.single(&prefix, false),
                None => self.pop(from, prefix),
                Some(admitted) => self.pop_within(admitted, from, rule.shared, prefix),
            };
        }
        for pair in prefix[self.z - 1..].windows(2) {
            self.need_below(pair[0], pair[1])?;
        }
        self.inherit(from, prefix[prefix.len() - 1])?;
        self.single(&prefix[..self.z], from.more || prefix.len() > self.z)
    }

    /// Requires that all that was beneath the window may be under `last`, the new last known symbol.
    fn inherit(&mut self, from: &Window, last: Symbol) -> Result<(), Gap> {
        let old = from.symbols.last().copied().filter(|_| from.more);
        if old == Some(last) || old.is_some_and(|old| self.inherits.contains(&(old, last))) {
            return Ok(());
        }
        for &under in self.beneath(from) {
            self.need_below(last, under)?;
        }
        self.inherits.extend(old.map(|old| (old, last)));
        Ok(())
    }

    /// A pop from a full window with more below it: each hidden symbol can come to light.
    fn pop(&mut self, from: &'a Window, mut prefix: Vec<Symbol>) -> Result<Range<usize>, Gap> {
        // The prefix determines the outcome, but for z = 1, where it is empty and the popped symbol does.
        let remainder = &from.symbols[from.symbols.len() - prefix.len().max(1)..];
        if let Some(known) = self.pops.get(remainder) {
            return Ok(known.clone());
        }
        let mut found = Vec::new();
        for &symbol in self.beneath(from) {
            prefix.push(symbol);
            if self.is_below(symbol, EMPTY) {
                found.push(self.need_window(&prefix, false)?);
            }
            if !self.hidden(symbol).is_empty() {
                found.push(self.need_window(&prefix, true)?);
            }
            prefix.pop();
        }
        let range = self.targets.len()..self.targets.len() + found.len();
        self.targets.extend(found);
        self.pops.insert(remainder, range.clone());
        Ok(range)
    }

    /// The same, where products are known. What they admit depends on the shared state.
    fn pop_within(
        &mut self,
        admitted: &Admitted,
        from: &Window,
        shared: Shared,
        mut prefix: Vec<Symbol>,
    ) -> Result<Range<usize>, Gap> {
        let mut found = Vec::new();
        for &symbol in self.beneath(from) {
            prefix.push(symbol);
            let marks = [(false, self.is_below(symbol, EMPTY)), (true, !self.hidden(symbol).is_empty())];
            for (more, _) in marks.into_iter().filter(|(_, can_be)| *can_be) {
                if self.members.iter().any(|&thread| admitted.admits(thread, shared, &prefix, more)) {
                    found.push(self.need_window(&prefix, more)?);
                }
            }
            prefix.pop();
        }
        let range = self.targets.len()..self.targets.len() + found.len();
        self.targets.extend(found);
        Ok(range)
    }

    fn single(&self, symbols: &[Symbol], more: bool) -> Result<Range<usize>, Gap> {
        let number = self.need_window(symbols, more)? as usize;
        Ok(number..number + 1)
    }

    fn need_window(&self, symbols: &[Symbol], more: bool) -> Result<u32, Gap> {
        self.find(symbols, more).ok_or_else(|| Gap::Window(Window { symbols: symbols.to_vec(), more }))
    }

    fn need_below(&self, above: Symbol, under: Symbol) -> Result<(), Gap> {
        if self.is_below(above, under) { Ok(()) } else { Err(Gap::Below { above, under }) }
    }
}

/// What rules do, as a set.
pub(super) fn effects(rules: &[Rule]) -> BTreeSet<(Shared, Word)> {
    rules.iter().map(|rule| (rule.shared, rule.word)).collect()
}

/// For each symbol, the grounded ones that can lie under it, without [`EMPTY`].
fn hidden(below: &Below) -> HashMap<Symbol, Vec<Symbol>> {
    let mut above: HashMap<Symbol, Vec<Symbol>> = HashMap::new();
    for (&upper, unders) in below {
        for &under in unders {
            above.entry(under).or_default().push(upper);
        }
    }
    let mut grounded: HashSet<Symbol> = HashSet::from([EMPTY]);
    let mut agenda = vec![EMPTY];
    while let Some(under) = agenda.pop() {
        let uppers = above.get(&under).map_or(&[][..], |uppers| uppers);
        agenda.extend(uppers.iter().copied().filter(|&upper| grounded.insert(upper)));
    }
    let visible = |&under: &Symbol| under != EMPTY && grounded.contains(&under);
    below.iter().map(|(&upper, unders)| (upper, unders.iter().copied().filter(visible).collect())).collect()
}
