//! Downward-closed sets of configurations, by their largest members, which may have any number of tokens in places.
//!
//! Invariant: no live member is within another. Each live member is listed under all places in which it has tokens; what is
//! within it has tokens only there. So whoever asks whether a row is within a member looks at the shortest of the lists of
//! the row's places, where bits are compared first: those of what is within are among those of what contains it. The other way round, what is within a new member is looked for in the lists of all, by shared state.

use super::firing::{ANY, within};
use super::net::{Entry, count, place};
use allways_model::counters::{Local, Shared};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// Places with at least one token, two, four, and any number, as bits; several places share a bit.
#[derive(Clone, Copy)]
struct Support([u64; 4]);

impl Support {
    fn new(row: &[Entry]) -> Support {
        let mut support = [0; 4];
        for &entry in row {
            for (bits, least) in support.iter_mut().zip([1, 2, 4, ANY]) {
                *bits |= u64::from(count(entry) >= least) << (place(entry) % 64);
            }
        }
        Support(support)
    }

    fn within(self, other: Support) -> bool {
        self.0.iter().zip(other.0).all(|(small, large)| small & !large == 0)
    }
}

/// A member in a list.
type Listed = (Support, u32);

struct Member {
    row: Box<[Entry]>,
    alive: bool,
}

/// A downward-closed set. Members have the numbers of the nodes that they are.
#[derive(Default)]
pub struct Largest {
    members: Vec<Member>,
    by_place: HashMap<(Shared, Local), Vec<Listed>, FxBuildHasher>,
    by_shared: HashMap<Shared, Vec<Listed>, FxBuildHasher>,
}

impl Largest {
    /// Whether a member is still one of the largest.
    pub fn contains(&self, member: usize) -> bool {
        self.members[member].alive
    }

    /// The members.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.members.len()).filter(|&member| self.contains(member))
    }

    /// Whether a configuration is within a member.
    pub fn covers(&self, shared: Shared, row: &[Entry]) -> bool {
        let support = Support::new(row);
        let lists = row.iter().map(|&entry| self.by_place.get(&(shared, place(entry))));
        let shortest = match lists.min_by_key(|list| list.map_or(0, Vec::len)) {
            Some(shortest) => shortest,
            None => self.by_shared.get(&shared),
        };
        // The latest are the most alike.
        shortest.into_iter().flatten().rev().any(|&(larger, member)| {
            let member = &self.members[member as usize];
            support.within(larger) && member.alive && within(row, &member.row)
        })
    }

    /// Adds a member that is within no other, with the number that is next.
    pub fn insert(&mut self, member: usize, shared: Shared, row: &[Entry]) {
        let support = Support::new(row);
        let list = self.by_shared.entry(shared).or_default();
        let mut dead = false;
        list.retain(|&(smaller, other)| {
            let other = &mut self.members[other as usize];
            if smaller.within(support) && within(&other.row, row) {
                other.alive = false;
                dead = true;
            }
            other.alive
        });
        list.push((support, member as u32));
        self.members.push(Member { row: row.into(), alive: true });
        debug_assert_eq!(self.members.len(), member + 1, "members are numbered one after another");
        for &entry in row {
            let list = self.by_place.entry((shared, place(entry))).or_default();
            if dead {
                list.retain(|&(_, other)| self.members[other as usize].alive);
            }
            list.push((support, member as u32));
        }
    }
}
