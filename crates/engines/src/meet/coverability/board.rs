//! What backward search tells forward search: configurations from which a target can be covered, and how.
//!
//! Invariant: from each configuration on the board, and by monotony from each that covers it, its rules lead to one that covers
//! a target. So forward search is at its goal when it meets one. Only systems without tests for exact numbers are monotone;
//! others have no board.

use allways_model::counters::{Bag, Configuration, Counters, Shared};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

/// So many configurations are told of. Each of them costs forward search time with every step; the first ones, of few tokens
/// and few steps, are worth it most.
const MOST: usize = 1 << 10;

/// A configuration's tokens, and the rules from there to a target.
type Lead = (Bag, Vec<u32>);

/// The configurations told of so far.
#[derive(Debug, Default)]
pub struct Board {
    leads: RwLock<Vec<(Shared, Lead)>>,
    count: AtomicUsize,
}

impl Board {
    /// A board, if there is a use for one.
    pub fn new(system: &Counters) -> Option<Board> {
        system.is_monotone().then(Board::default)
    }

    /// Whether there is room.
    pub fn has_room(&self) -> bool {
        self.count.load(Ordering::Relaxed) < MOST
    }

    /// Tells of a configuration.
    pub fn tell(&self, configuration: Configuration, rules: Vec<u32>) {
        let mut leads = self.leads.write().unwrap_or_else(PoisonError::into_inner);
        leads.push((configuration.shared, (configuration.tokens, rules)));
        self.count.store(leads.len(), Ordering::Relaxed);
    }
}

/// What one reader has taken from a board.
#[derive(Debug)]
pub struct Reader<'a> {
    board: &'a Board,
    read: usize,
    /// By shared state.
    leads: Vec<Vec<Lead>>,
}

impl<'a> Reader<'a> {
    /// Has read nothing.
    pub fn new(board: &'a Board, system: &Counters) -> Reader<'a> {
        Reader { board, read: 0, leads: vec![Vec::new(); system.shared.len()] }
    }

    /// The rules from a configuration to a target, if the board tells of any.
    pub fn lead(&mut self, from: &Configuration) -> Option<&[u32]> {
        if self.board.count.load(Ordering::Relaxed) > self.read {
            let leads = self.board.leads.read().unwrap_or_else(PoisonError::into_inner);
            for (shared, lead) in &leads[self.read..] {
                self.leads[shared.index()].push(lead.clone());
            }
            self.read = leads.len();
        }
        let mut leads = self.leads[from.shared.index()].iter();
        leads.find(|(tokens, _)| from.tokens.covers(tokens)).map(|(_, rules)| &rules[..])
    }
}
