//! What states are made of, by names that mean the same to all workers.
//!
//! A row of a worker holds its own numbers for stacks, in the order in which it came across them, and its process's numbers for
//! shared states. To others, a worker sends rows as they are, and before them, once, what its numbers mean: a shared state as
//! [bytes](allways_model::pushdown::Pushdown::write_shared); a stack as its top symbol, as bytes, and the number of the rest.
//! There are far fewer of these pieces than states. What a worker has to tell is one growing log; each receiver is told from
//! where it was told up to the last time, and so knows each number before it sees it.
//!
//! Each piece has a hash that depends on its bytes alone, and the hash of a state is made of the sum of those of its pieces: the
//! same in all workers, the same for all renamings of threads within kinds, and cheap to keep up to date when a thread moves.

use allways_engines::store::{StackId, Stacks, Threads};
use allways_evidence::shards::fingerprint;
use allways_model::bytes::{read_number, write_number};
use allways_model::pushdown::{Shared, Symbol};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

const SHARED: u8 = 0;
const STACK: u8 = 1;

/// The pieces of one worker.
pub struct Pieces {
    /// The hash of each shared state.
    shared: HashMap<u32, u64, FxBuildHasher>,
    /// Of each kind of threads, the hash of each stack.
    stacks: Vec<Vec<u64>>,
    /// What others have to be told.
    log: Vec<u8>,
    /// Up to where each of them was told.
    told: Vec<usize>,
    scratch: Vec<u8>,
}

/// Mixes two numbers; the order matters.
fn mix(one: u64, other: u64) -> u64 {
    let product = u128::from(one ^ 0x9e37_79b9_7f4a_7c15) * u128::from(other ^ 0xd6e8_feb8_6659_fd93);
    ((product >> 64) as u64 ^ product as u64).wrapping_add(one.rotate_left(23))
}

impl Pieces {
    /// None yet, for so many kinds of threads and so many workers to be told.
    pub fn new(kinds: usize, peers: usize) -> Pieces {
        Pieces {
            shared: HashMap::default(),
            stacks: vec![Vec::new(); kinds],
            log: Vec::new(),
            told: vec![0; peers],
            scratch: Vec::new(),
        }
    }

    /// The hash of a shared state.
    pub fn shared_hash(&mut self, threads: &Threads, shared: Shared) -> u64 {
        if let Some(&hash) = self.shared.get(&shared.0) {
            return hash;
        }
        self.scratch.clear();
        threads.system().write_shared(shared, &mut self.scratch);
        let hash = mix(fingerprint(&self.scratch), u64::from(SHARED));
        self.shared.insert(shared.0, hash);
        self.log.push(SHARED);
        write_number(u64::from(shared.0), &mut self.log);
        self.log.extend_from_slice(&self.scratch);
        hash
    }

    /// The hash of a stack of a kind of threads.
    pub fn stack_hash(&mut self, threads: &Threads, kind: usize, stack: u32) -> u64 {
        if let Some(&hash) = self.stacks[kind].get(stack as usize) {
            return hash;
        }
        let thread = threads.kinds().members(kind)[0];
        self.learn(threads, kind, threads.stacks(thread));
        self.stacks[kind][stack as usize]
    }

    /// Takes in all stacks of a kind that are new.
    fn learn(&mut self, threads: &Threads, kind: usize, stacks: &Stacks) {
        let thread = threads.kinds().members(kind)[0];
        for number in self.stacks[kind].len()..stacks.count() {
            let stack = StackId(number as u32);
            if stack == Stacks::EMPTY {
                self.stacks[kind].push(mix(kind as u64, u64::from(STACK)));
                continue;
            }
            let rest = stacks.rest(stack);
            self.scratch.clear();
            threads.system().write_symbol(thread, stacks.symbol(stack), &mut self.scratch);
            let hash = mix(fingerprint(&self.scratch), self.stacks[kind][rest.index()]);
            self.stacks[kind].push(hash);
            self.log.push(STACK);
            write_number(kind as u64, &mut self.log);
            write_number(number as u64, &mut self.log);
            write_number(u64::from(rest.0), &mut self.log);
            self.log.extend_from_slice(&self.scratch);
        }
    }

    /// The hash of a row: the sum of those of its pieces.
    pub fn row_hash(&mut self, threads: &Threads, row: &[u32]) -> u64 {
        let mut sum = self.shared_hash(threads, Shared(row[0]));
        for (thread, &stack) in row[1..].iter().enumerate() {
            sum = sum.wrapping_add(self.stack_hash(threads, threads.kinds().kind(thread), stack));
        }
        sum
    }

    /// What a worker has to be told before it is sent more rows.
    pub fn tell(&mut self, peer: usize) -> Vec<u8> {
        let from = std::mem::replace(&mut self.told[peer], self.log.len());
        self.log[from..].to_vec()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.shared.capacity() * 17
            + self.stacks.iter().map(|hashes| hashes.capacity() * 8).sum::<usize>()
            + self.log.capacity()
    }
}

/// Which of so many workers a state belongs to, by its hash.
pub fn owner(hash: u64, peers: usize) -> usize {
    // The sum of hashes is mixed once more, and its high bits scaled.
    ((u128::from(mix(hash, 0)) * peers as u128) >> 64) as usize
}

/// What the numbers of another worker mean here.
pub struct Translation {
    shared: HashMap<u32, u32, FxBuildHasher>,
    /// Of each kind of threads.
    stacks: Vec<Vec<u32>>,
}

impl Translation {
    /// Nothing is known yet, of so many kinds of threads.
    pub fn new(kinds: usize) -> Translation {
        Translation { shared: HashMap::default(), stacks: vec![vec![Stacks::EMPTY.0]; kinds] }
    }

    /// Learns what another worker tells. Fails if that makes no sense.
    pub fn learn(&mut self, threads: &mut Threads, mut told: &[u8]) -> Option<()> {
        while let Some((&tag, rest)) = told.split_first() {
            told = rest;
            if tag == SHARED {
                let number = u32::try_from(read_number(&mut told)?).ok()?;
                let shared = threads.system().read_shared(&mut told)?;
                self.shared.insert(number, shared.0);
                continue;
            }
            let kind =
                usize::try_from(read_number(&mut told)?).ok().filter(|&kind| kind < self.stacks.len())?;
            let number = usize::try_from(read_number(&mut told)?).ok()?;
            let rest = usize::try_from(read_number(&mut told)?).ok()?;
            let thread = threads.kinds().members(kind)[0];
            let symbol: Symbol = threads.system().read_symbol(thread, &mut told)?;
            let known = &mut self.stacks[kind];
            if tag != STACK || number != known.len() || rest >= number {
                return None;
            }
            let stack = threads.stacks_mut(thread).push(symbol, StackId(known[rest]));
            known.push(stack.0);
        }
        Some(())
    }

    /// The shared state of a number.
    pub fn shared(&self, number: u32) -> Option<u32> {
        self.shared.get(&number).copied()
    }

    /// The stack of a number.
    pub fn stack(&self, kind: usize, number: u32) -> Option<u32> {
        self.stacks[kind].get(number as usize).copied()
    }
}
