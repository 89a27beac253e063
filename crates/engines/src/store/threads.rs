//! How each thread moves, seen alone: a graph over (shared state, stack number).
//!
//! The moves of a thread depend on the shared state and its own stack, of which there are few compared with states of the
//! whole system. So they are computed once for each (shared state, stack) and then looked up.

use super::stacks::{StackId, Stacks};
use allways_model::pushdown::{Pushdown, Rule, Shared};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// Where a thread can go: the shared state and its stack afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// The shared state.
    pub shared: Shared,
    /// The thread's stack.
    pub stack: StackId,
}

#[derive(Default)]
struct Local {
    stacks: Stacks,
    /// For a (shared state, stack), the range of its moves.
    ranges: HashMap<u64, (u32, u32), FxBuildHasher>,
    moves: Vec<Move>,
}

/// The stacks and moves of every thread.
pub struct Threads<'a> {
    system: &'a dyn Pushdown,
    locals: Vec<Local>,
    max_depth: u32,
    cut: bool,
    rules: Vec<Rule>,
}

impl<'a> Threads<'a> {
    /// The threads of a system. Moves to a stack deeper than `max_depth` are left out.
    pub fn new(system: &'a dyn Pushdown, max_depth: Option<usize>) -> Threads<'a> {
        Threads {
            system,
            locals: (0..system.threads()).map(|_| Local::default()).collect(),
            max_depth: max_depth.map_or(u32::MAX, |depth| depth.min(u32::MAX as usize) as u32),
            cut: false,
            rules: Vec::new(),
        }
    }

    /// The system whose threads these are.
    pub fn system(&self) -> &'a dyn Pushdown {
        self.system
    }

    /// How many threads there are.
    pub fn count(&self) -> usize {
        self.locals.len()
    }

    /// The stacks of a thread.
    pub fn stacks(&self, thread: usize) -> &Stacks {
        &self.locals[thread].stacks
    }

    /// The stacks of a thread, to add some.
    pub fn stacks_mut(&mut self, thread: usize) -> &mut Stacks {
        &mut self.locals[thread].stacks
    }

    /// Whether a move was left out for the sake of the depth bound.
    pub fn cut(&self) -> bool {
        self.cut
    }

    /// The moves of a thread from a shared state and its stack.
    #[inline]
    pub fn moves(&mut self, thread: usize, shared: Shared, stack: StackId) -> &[Move] {
        let key = u64::from(shared) << 32 | u64::from(stack);
        let (start, end) = match self.locals[thread].ranges.get(&key) {
            Some(&range) => range,
            None => self.compute(thread, shared, stack, key),
        };
        &self.locals[thread].moves[start as usize..end as usize]
    }

    #[cold]
    fn compute(&mut self, thread: usize, shared: Shared, stack: StackId, key: u64) -> (u32, u32) {
        let Local { stacks, ranges, moves } = &mut self.locals[thread];
        self.rules.clear();
        self.system.rules(thread, shared, stacks.symbol(stack), &mut self.rules);
        let start = moves.len() as u32;
        for rule in &self.rules {
            let to = Move { shared: rule.shared, stack: stacks.replace_top(stack, rule.word) };
            if stacks.depth(to.stack) > self.max_depth {
                self.cut = true;
            } else if !moves[start as usize..].contains(&to) {
                moves.push(to);
            }
        }
        let range = (start, moves.len() as u32);
        ranges.insert(key, range);
        range
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let local = |local: &Local| {
            local.stacks.bytes() + local.ranges.capacity() * 17 + local.moves.capacity() * size_of::<Move>()
        };
        self.locals.iter().map(local).sum()
    }
}
