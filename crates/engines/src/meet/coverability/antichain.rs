//! The largest members of a downward-closed set, which may have any number of tokens in places, and who is within whom.
//!
//! [Karp and Miller's tree](super::karp_miller) asks of every configuration that it comes across whether a member is larger, and of
//! many which members are smaller; with a list of all, that would be quadratic.
//!
//! Members with one shared state are the leaves of a binary tree. A node asks whether a place has at least so many tokens; what
//! has fewer is on one side, the rest on the other. What is smaller than a row that has fewer is on the first side alone, what
//! is larger than a row that has as many on the second. A leaf that gets too large is divided by the question that comes
//! nearest to halves. In a leaf, totals and a few bits are compared before the rows.
//!
//! Invariant: leaves have the live members, each once. Rows are kept, also of those that have died: a run may go through them.

use super::firing::within;
use super::net::{Entry, count, place};
use allways_model::counters::{Local, Shared};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// A leaf with more members is divided.
const MOST_IN_LEAF: usize = 48;

/// Places with at least so many tokens set a bit; several places share one.
const LEVELS: [u32; 4] = [1, 2, 4, 16];

/// What is compared first: all of it is nowhere less in what covers.
#[derive(Clone, Copy)]
struct Hint {
    total: u64,
    bits: [u64; 4],
}

impl Hint {
    fn new(row: &[Entry]) -> Hint {
        let mut hint = Hint { total: 0, bits: [0; 4] };
        for &entry in row {
            hint.total += u64::from(count(entry));
            for (bits, least) in hint.bits.iter_mut().zip(LEVELS) {
                *bits |= u64::from(count(entry) >= least) << (place(entry) % 64);
            }
        }
        hint
    }

    fn within(&self, other: &Hint) -> bool {
        self.total <= other.total
            && self.bits.iter().zip(other.bits).all(|(small, large)| small & !large == 0)
    }
}

enum Node {
    Leaf { members: Vec<(Hint, u32)>, most: usize },
    Question { local: Local, least: u32, fewer: u32, enough: u32 },
}

struct Member {
    start: usize,
    shared: Shared,
    alive: bool,
}

/// Which side is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Smaller,
    Larger,
}

/// The set. Members are numbered one after another.
#[derive(Default)]
pub struct Antichain {
    arena: Vec<Entry>,
    members: Vec<Member>,
    /// The root of the tree of each shared state is the first of its nodes.
    trees: HashMap<Shared, Vec<Node>, FxBuildHasher>,
}

impl Antichain {
    /// Whether a member is still one.
    pub fn is_alive(&self, member: u32) -> bool {
        self.members[member as usize].alive
    }

    /// The shared state of a member.
    pub fn shared(&self, member: u32) -> Shared {
        self.members[member as usize].shared
    }

    /// The tokens of a member.
    pub fn row(&self, member: u32) -> &[Entry] {
        let end = self.members.get(member as usize + 1).map_or(self.arena.len(), |next| next.start);
        &self.arena[self.members[member as usize].start..end]
    }

    /// The live members.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.members.len() as u32).filter(|&member| self.is_alive(member))
    }

    /// Whether a row is within a member.
    pub fn has_larger(&self, shared: Shared, row: &[Entry]) -> bool {
        let Some(tree) = self.trees.get(&shared) else { return false };
        let hint = Hint::new(row);
        let mut waiting = vec![0];
        while let Some(node) = waiting.pop() {
            match &tree[node as usize] {
                Node::Leaf { members, .. } => {
                    let found =
                        |(other, member): &(Hint, u32)| hint.within(other) && within(row, self.row(*member));
                    // The latest are the most alike.
                    if members.iter().rev().any(found) {
                        return true;
                    }
                }
                question => question.follow(Side::Larger, row, &mut waiting),
            }
        }
        false
    }

    /// Adds a member; those that are smaller die.
    pub fn insert_above(&mut self, shared: Shared, row: &[Entry]) -> u32 {
        let hint = Hint::new(row);
        let mut tree = self.trees.remove(&shared).unwrap_or_else(|| vec![Node::leaf(Vec::new())]);
        let (mut waiting, mut dead) = (vec![0], Vec::new());
        while let Some(node) = waiting.pop() {
            match &mut tree[node as usize] {
                Node::Leaf { members, .. } => members.retain(|(other, member)| {
                    let dies = other.within(&hint) && within(self.row(*member), row);
                    dead.extend(dies.then_some(*member));
                    !dies
                }),
                question => question.follow(Side::Smaller, row, &mut waiting),
            }
        }
        dead.iter().for_each(|&member| self.members[member as usize].alive = false);
        let member = self.members.len() as u32;
        self.members.push(Member { start: self.arena.len(), shared, alive: true });
        self.arena.extend_from_slice(row);
        let mut at = 0;
        while let Node::Question { local, least, fewer, enough } = tree[at] {
            at = if tokens(row, local) >= least { enough } else { fewer } as usize;
        }
        if let Node::Leaf { members, most } = &mut tree[at] {
            members.push((hint, member));
            if members.len() > *most {
                self.divide(&mut tree, at);
            }
        }
        self.trees.insert(shared, tree);
        member
    }

    fn divide(&self, tree: &mut Vec<Node>, at: usize) {
        let (fewer, enough) = (tree.len() as u32, tree.len() as u32 + 1);
        let Node::Leaf { members, most } = &mut tree[at] else { return };
        let Some((local, least)) = self.question(members) else {
            *most *= 2;
            return;
        };
        let (large, small): (Vec<_>, Vec<_>) =
            members.drain(..).partition(|(_, member)| tokens(self.row(*member), local) >= least);
        tree[at] = Node::Question { local, least, fewer, enough };
        tree.extend([Node::leaf(small), Node::leaf(large)]);
    }

    /// The question that divides members into parts that are most alike in size, if one does.
    fn question(&self, members: &[(Hint, u32)]) -> Option<(Local, u32)> {
        let mut counts: Vec<(Local, u32)> = members
            .iter()
            .flat_map(|(_, member)| self.row(*member).iter().map(|&entry| (place(entry), count(entry))))
            .collect();
        counts.sort_unstable();
        let mut best: Option<(usize, Local, u32)> = None;
        for same in counts.chunk_by(|one, next| one.0 == next.0) {
            // So many members have at least as many tokens there as the one at this index.
            let mut index = 0;
            while index < same.len() {
                let enough = same.len() - index;
                let least = enough.min(members.len() - enough);
                if least > 0 && best.is_none_or(|(most, ..)| least > most) {
                    best = Some((least, same[index].0, same[index].1));
                }
                index += same[index..].partition_point(|other| other.1 == same[index].1);
            }
        }
        best.map(|(_, local, least)| (local, least))
    }
}

impl Node {
    fn leaf(members: Vec<(Hint, u32)>) -> Node {
        Node::Leaf { most: MOST_IN_LEAF.max(2 * members.len()).min(2 * MOST_IN_LEAF), members }
    }

    /// The nodes in which something on this side of a row can be.
    fn follow(&self, side: Side, row: &[Entry], waiting: &mut Vec<u32>) {
        let Node::Question { local, least, fewer, enough } = *self else { return };
        let has_enough = tokens(row, local) >= least;
        match side {
            Side::Smaller => {
                waiting.push(fewer);
                waiting.extend(has_enough.then_some(enough));
            }
            Side::Larger => {
                waiting.push(enough);
                waiting.extend((!has_enough).then_some(fewer));
            }
        }
    }
}

fn tokens(row: &[Entry], local: Local) -> u32 {
    row.binary_search_by_key(&local, |&entry| place(entry)).map_or(0, |index| count(row[index]))
}
