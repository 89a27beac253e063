//! How each thread moves, seen alone: a graph over (shared state, stack number).
//!
//! The moves of a thread depend on the shared state and its own stack, of which there are few compared with states of the
//! whole system. So they are computed once for each (shared state, stack) and then looked up.

use super::expand::{Graph, Move};
use super::stacks::{StackId, Stacks};
use allways_model::pushdown::{Pushdown, Rule, Shared};
use allways_model::symmetry::Kinds;
use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

/// So many rules are compared one by one.
const FEW: usize = 64;

#[derive(Default)]
struct Local {
    stacks: Stacks,
    /// For a (shared state, stack), the range of its moves.
    ranges: HashMap<u64, (u32, u32), FxBuildHasher>,
    moves: Vec<Move>,
}

/// The stacks and moves of every thread. Threads of one kind share them.
pub struct Threads<'a> {
    system: &'a dyn Pushdown,
    kinds: Kinds,
    /// One for each kind.
    locals: Vec<Local>,
    max_depth: u32,
    cut: bool,
    rules: Vec<Rule>,
}

impl<'a> Threads<'a> {
    /// The threads of a system.
    pub fn new(system: &'a dyn Pushdown, kinds: Kinds) -> Threads<'a> {
        Threads {
            system,
            locals: (0..kinds.count()).map(|_| Local::default()).collect(),
            kinds,
            max_depth: u32::MAX,
            cut: false,
            rules: Vec::new(),
        }
    }

    /// The system whose threads these are.
    pub fn system(&self) -> &'a dyn Pushdown {
        self.system
    }

    /// Which threads can be interchanged.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// How many threads there are.
    pub fn count(&self) -> usize {
        self.kinds.threads()
    }

    /// The stacks of a thread.
    pub fn stacks(&self, thread: usize) -> &Stacks {
        &self.locals[self.kinds.kind(thread)].stacks
    }

    /// The stacks of a thread, to add some.
    pub fn stacks_mut(&mut self, thread: usize) -> &mut Stacks {
        &mut self.locals[self.kinds.kind(thread)].stacks
    }

    /// From now on leaves out moves to stacks deeper than this.
    pub fn limit_depth(&mut self, max_depth: usize) {
        self.max_depth = u32::try_from(max_depth).unwrap_or(u32::MAX);
    }

    /// Whether a move was left out for the sake of the depth bound.
    pub fn cut(&self) -> bool {
        self.cut
    }

    #[cold]
    fn compute(&mut self, thread: usize, shared: Shared, stack: StackId, key: u64) -> (u32, u32) {
        let Local { stacks, ranges, moves } = &mut self.locals[self.kinds.kind(thread)];
        self.rules.clear();
        self.system.rules(thread, shared, stacks.symbol(stack), &mut self.rules);
        let start = moves.len() as u32;
        for rule in &self.rules {
            let local = stacks.replace_top(stack, rule.word);
            let to = Move { shared: rule.shared, local: local.0 };
            if stacks.depth(local) > self.max_depth {
                self.cut = true;
            } else if self.rules.len() > FEW || !moves[start as usize..].contains(&to) {
                moves.push(to);
            }
        }
        if self.rules.len() > FEW {
            let mut seen = HashSet::with_capacity_and_hasher(self.rules.len(), FxBuildHasher);
            let mut kept = start as usize;
            for index in start as usize..moves.len() {
                if seen.insert((moves[index].shared, moves[index].local)) {
                    moves[kept] = moves[index];
                    kept += 1;
                }
            }
            moves.truncate(kept);
        }
        let range = (start, moves.len() as u32);
        ranges.insert(key, range);
        range
    }

    /// How many bytes the maps will need at once, if adding so many stacks to each may make them grow.
    pub fn growth(&self, stacks: usize) -> usize {
        let map = |room: usize, capacity: usize| if room < stacks { capacity * 2 * 20 } else { 0 };
        let local = |local: &Local| {
            let (len, capacity) = local.stacks.index_size();
            map(capacity - len, capacity)
                + map(local.ranges.capacity() - local.ranges.len(), local.ranges.capacity())
        };
        self.locals.iter().map(local).sum()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let local = |local: &Local| {
            local.stacks.bytes() + local.ranges.capacity() * 17 + local.moves.capacity() * size_of::<Move>()
        };
        self.locals.iter().map(local).sum()
    }
}

impl Graph for Threads<'_> {
    fn moves(&mut self, thread: usize, shared: Shared, stack: u32) -> &[Move] {
        let key = u64::from(shared.0) << 32 | u64::from(stack);
        let kind = self.kinds.kind(thread);
        let (start, end) = match self.locals[kind].ranges.get(&key) {
            Some(&range) => range,
            None => self.compute(thread, shared, StackId(stack), key),
        };
        &self.locals[kind].moves[start as usize..end as usize]
    }
}
