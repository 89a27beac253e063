//! Saturation: from an automaton for a set of configurations to one for everything reachable from it (post*), or for
//! everything from which it is reachable (pre*).
//!
//! Literature: Bouajjani, Esparza, Maler (CONCUR 1997); Finkel, Willems, Wolper (INFINITY 1997); the versions with a work
//! list are Algorithms 1 and 2 of Schwoon, *Model-Checking Pushdown Systems* (2002), sections 3.1.3 and 3.1.4. Three
//! deviations. Rules of post* are asked for when a transition first makes their head (shared state, top) reachable, and
//! remembered. Rules for the empty stack are rules for the bottom marker: `(q, ε) -> (q', w)` is `(q, ⊥) -> (q', w ⊥)`,
//! which never pops the marker. And since every transition is kept in the order of its arrival and arrives once, the list
//! of transitions is its own work list.
//!
//! Invariant of post*, for a finished prefix of the work list: if a control node p reads γ on the way to n, and there is
//! a rule `(p, γ) -> (p', w)`, then p' reads w on the way to n; for |w| = 2, through the node below (p', w0). For w = ε
//! this is an ε-transition from p' to n, and every transition that leaves n is copied to p': so a finished automaton can
//! be read without ε-transitions, which exist only here. (The marker is never popped, so n is never the final node.)
//!
//! Invariant of pre*: if there is a rule `(p, γ) -> (p', w)` and p' reads w on the way to n, then p reads γ on the way
//! to n.

use super::automaton::{Automaton, Node, NodeId, Transition};
use super::{Pace, Poll};
use allways_evidence::StopReason;
use allways_model::pushdown::{EMPTY, Pushdown, Rule, Shared, Symbol};
use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

/// The end of a linked list.
const NONE: u32 = u32::MAX;

/// What a rule does to a stack that ends with a marker.
#[derive(Clone, Copy)]
enum Action {
    Pop,
    Overwrite(Symbol),
    Push(Symbol, Symbol),
}

/// What a rule for this top does, the marker made explicit.
fn action(top: Symbol, rule: &Rule) -> Action {
    match (top, rule.word.symbols()) {
        (EMPTY, &[]) => Action::Overwrite(EMPTY),
        (EMPTY, &[pushed]) => Action::Push(pushed, EMPTY),
        (EMPTY, _) => panic!("a rule for the empty stack pushes at most one symbol"),
        (_, &[]) => Action::Pop,
        (_, &[symbol]) => Action::Overwrite(symbol),
        (_, symbols) => Action::Push(symbols[0], symbols[1]),
    }
}

fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// post* for one thread of a system. Keeps the rules it asked for, and its working memory, from one run to the next.
pub struct PostStar<'a> {
    system: &'a dyn Pushdown,
    thread: usize,
    /// For each head (shared state, top) asked for, the range of its actions.
    ranges: HashMap<u64, (u32, u32), FxBuildHasher>,
    actions: Vec<(Shared, Action)>,
    rules: Vec<Rule>,
    /// The nodes [`Node::Below`], by shared state and symbol.
    below: HashMap<u64, NodeId, FxBuildHasher>,
    pops: Pops,
    pace: Pace,
}

/// The ε-transitions from control nodes, and for each node those that enter it, as a linked list.
#[derive(Default)]
struct Pops {
    list: Vec<Popped>,
    last: Vec<u32>,
    known: HashSet<u64, FxBuildHasher>,
}

#[derive(Clone, Copy)]
struct Popped {
    control: NodeId,
    to: NodeId,
    before: u32,
}

impl Pops {
    fn clear(&mut self) {
        self.list.clear();
        self.last.clear();
        if self.known.capacity() > 1024 && self.known.capacity() > 16 * self.known.len() {
            self.known = HashSet::default();
        }
        self.known.clear();
    }

    fn insert(&mut self, control: NodeId, to: NodeId) {
        if self.known.insert(pair(control, to)) {
            if self.last.len() <= to as usize {
                self.last.resize(to as usize + 1, NONE);
            }
            let before = std::mem::replace(&mut self.last[to as usize], self.list.len() as u32);
            self.list.push(Popped { control, to, before });
        }
    }
}

impl<'a> PostStar<'a> {
    /// post* for this thread.
    pub fn new(system: &'a dyn Pushdown, thread: usize) -> PostStar<'a> {
        PostStar {
            system,
            thread,
            ranges: HashMap::default(),
            actions: Vec::new(),
            rules: Vec::new(),
            below: HashMap::default(),
            pops: Pops::default(),
            pace: Pace::default(),
        }
    }

    /// Adds to a set, not yet saturated, everything that the thread alone can reach from it in any number of steps.
    pub fn run(&mut self, automaton: &mut Automaton, poll: Poll) -> Result<(), StopReason> {
        assert!(!automaton.saturated, "a set is saturated once");
        automaton.saturated = true;
        self.below.clear();
        self.pops.clear();
        let (mut read, mut popped) = (0, 0);
        loop {
            if let Some(&Popped { control, to, .. }) = self.pops.list.get(popped) {
                popped += 1;
                let mut walk = automaton.walk(to);
                while let Some(Transition { symbol, to, .. }) = walk.next(automaton) {
                    automaton.insert(Transition { from: control, symbol, to });
                    self.pace.tick(1, poll)?;
                }
            } else if let Some(&transition) = automaton.transitions().get(read) {
                read += 1;
                if let Node::Control(shared) = automaton.nodes()[transition.from as usize] {
                    self.fire(automaton, shared, transition, poll)?;
                }
            } else {
                return Ok(());
            }
        }
    }

    /// Applies the rules for this shared state and the symbol that the transition reads.
    fn fire(
        &mut self,
        automaton: &mut Automaton,
        shared: Shared,
        Transition { symbol, to, .. }: Transition,
        poll: Poll,
    ) -> Result<(), StopReason> {
        let (start, end) = self.range(shared, symbol);
        for at in start..end {
            let (shared, action) = self.actions[at as usize];
            let control = automaton.control(shared);
            self.pace.tick(1, poll)?;
            match action {
                Action::Pop => self.pops.insert(control, to),
                Action::Overwrite(symbol) => {
                    automaton.insert(Transition { from: control, symbol, to });
                }
                Action::Push(pushed, under) => {
                    let fresh = || automaton.add_node(Node::Below(shared, pushed));
                    let below = *self.below.entry(pair(shared.0, pushed.0)).or_insert_with(fresh);
                    automaton.insert(Transition { from: control, symbol: pushed, to: below });
                    if !automaton.insert(Transition { from: below, symbol: under, to }) {
                        continue;
                    }
                    let mut popped = self.pops.last.get(below as usize).copied().unwrap_or(NONE);
                    while let Some(&Popped { control, before, .. }) = self.pops.list.get(popped as usize) {
                        automaton.insert(Transition { from: control, symbol: under, to });
                        popped = before;
                        self.pace.tick(1, poll)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Where the actions for this shared state and top are.
    #[inline]
    fn range(&mut self, shared: Shared, top: Symbol) -> (u32, u32) {
        if let Some(&range) = self.ranges.get(&pair(shared.0, top.0)) {
            return range;
        }
        self.rules.clear();
        self.system.rules(self.thread, shared, top, &mut self.rules);
        let start = self.actions.len() as u32;
        self.actions.extend(self.rules.iter().map(|rule| (rule.shared, action(top, rule))));
        let range = (start, self.actions.len() as u32);
        self.ranges.insert(pair(shared.0, top.0), range);
        range
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let rules = self.ranges.capacity() * 17 + self.actions.capacity() * size_of::<(Shared, Action)>();
        let pops = self.pops.list.capacity() * size_of::<Popped>() + self.pops.known.capacity() * 9;
        rules + pops + self.pops.last.capacity() * 4 + self.below.capacity() * 13
    }
}

/// A rule of pre*, filed under what it makes: the node and the symbol that must be read there.
#[derive(Clone, Copy)]
struct Maker {
    control: NodeId,
    top: Symbol,
    /// The second symbol that must be read, of a rule that pushes.
    under: Option<Symbol>,
    before: u32,
}

/// The makers, and for each (node, symbol) those filed under it, as a linked list.
#[derive(Default)]
struct Makers {
    list: Vec<Maker>,
    last: HashMap<u64, u32, FxBuildHasher>,
    /// The rules of which half was read: many pairs of a rule and a transition may leave the same.
    halves: HashSet<(u64, u64), FxBuildHasher>,
}

impl Makers {
    fn file(&mut self, made: (NodeId, Symbol), control: NodeId, top: Symbol, under: Option<Symbol>) {
        let last = self.last.entry(pair(made.0, made.1.0)).or_insert(NONE);
        let before = std::mem::replace(last, self.list.len() as u32);
        self.list.push(Maker { control, top, under, before });
    }
}

/// Adds to a set, not yet saturated, every configuration from which a thread with these rules `(shared, top, rule)`,
/// alone, can reach it in any number of steps.
pub fn pre_star(
    automaton: &mut Automaton,
    rules: impl IntoIterator<Item = (Shared, Symbol, Rule)>,
    poll: Poll,
) -> Result<(), StopReason> {
    assert!(!automaton.saturated, "a set is saturated once");
    automaton.saturated = true;
    let mut pace = Pace::default();
    let mut makers = Makers::default();
    for (shared, top, rule) in rules {
        let (control, made) = (automaton.control(shared), automaton.control(rule.shared));
        match action(top, &rule) {
            Action::Pop => {
                automaton.insert(Transition { from: control, symbol: top, to: made });
            }
            Action::Overwrite(symbol) => makers.file((made, symbol), control, top, None),
            Action::Push(pushed, under) => makers.file((made, pushed), control, top, Some(under)),
        }
    }
    let mut read = 0;
    while let Some(&Transition { from, symbol, to }) = automaton.transitions().get(read) {
        read += 1;
        let mut filed = makers.last.get(&pair(from, symbol.0)).copied().unwrap_or(NONE);
        while let Some(&Maker { control, top, under, before }) = makers.list.get(filed as usize) {
            filed = before;
            pace.tick(1, poll)?;
            let Some(under) = under else {
                automaton.insert(Transition { from: control, symbol: top, to });
                continue;
            };
            // Half of the word is read: what is left is a rule that makes (to, under).
            if !makers.halves.insert((pair(to, under.0), pair(control, top.0))) {
                continue;
            }
            makers.file((to, under), control, top, None);
            let mut walk = automaton.walk(to);
            while let Some(second) = walk.next(automaton) {
                pace.tick(1, poll)?;
                if second.symbol == under {
                    automaton.insert(Transition { from: control, symbol: top, to: second.to });
                }
            }
        }
    }
    Ok(())
}
