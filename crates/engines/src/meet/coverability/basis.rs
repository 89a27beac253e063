//! Upward-closed sets of configurations, by their least members.
//!
//! Invariant: no live member covers another. A member that turns out to cover a new one dies; it stays in the arena, since a
//! run may go through it, and for a while in the lists: what covers it covers the new one as well.
//!
//! *Is this covered?* Each live member is listed under one of its places, the one in which the fewest members had tokens when
//! it came. What covers it has a token there, so only the lists of its own places matter. In a list, a member is first
//! compared by its total and by a signature of 64 bits, whose bits stand for "at least so many in this place": the bits of
//! what is covered are among the bits of what covers it.
//!
//! *Which members cover this?* Each member is listed under all of its places as well; the shortest of the lists of the new
//! one's places is searched.

use super::net::{Entry, configuration, count, place};
use allways_model::counters::{Configuration, Local, Shared};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// What is compared first.
#[derive(Clone, Copy)]
struct Hint {
    signature: u64,
    total: u32,
    member: u32,
}

struct Member {
    start: usize,
    shared: Shared,
    length: u32,
    alive: bool,
}

type Lists<T> = HashMap<(Shared, Local), Vec<T>, FxBuildHasher>;

/// An upward-closed set.
pub struct Basis {
    /// How many bits a place has in a signature.
    steps: usize,
    places: usize,
    arena: Vec<Entry>,
    members: Vec<Member>,
    /// Each member in one list.
    keys: Lists<Hint>,
    /// Each member in the lists of all its places.
    all: Lists<Hint>,
    /// By shared state, the member without tokens.
    bare: HashMap<Shared, u32, FxBuildHasher>,
    live: usize,
    /// How many are dead and still listed.
    unburied: usize,
}

/// At least so many tokens set a bit.
const STEPS: [u32; 8] = [1, 2, 3, 4, 6, 8, 12, 16];

impl Basis {
    /// The empty set of configurations with so many places.
    pub fn new(places: usize) -> Basis {
        let steps = (64 / places.max(1)).clamp(1, STEPS.len());
        Basis {
            steps,
            places,
            arena: Vec::new(),
            members: Vec::new(),
            keys: HashMap::default(),
            all: HashMap::default(),
            bare: HashMap::default(),
            live: 0,
            unburied: 0,
        }
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Whether it is the empty set.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// How many members there were at any time.
    pub fn stored(&self) -> usize {
        self.members.len()
    }

    /// The least members.
    pub fn members(&self) -> impl Iterator<Item = Configuration> + '_ {
        let live = (0..self.members.len() as u32).filter(|&member| self.is_alive(member));
        live.map(|member| configuration(self.shared(member), self.row(member)))
    }

    /// Whether nothing smaller came later.
    pub fn is_alive(&self, member: u32) -> bool {
        self.members[member as usize].alive
    }

    /// The shared state of a member.
    pub fn shared(&self, member: u32) -> Shared {
        self.members[member as usize].shared
    }

    /// The tokens of a member.
    pub fn row(&self, member: u32) -> &[Entry] {
        let member = &self.members[member as usize];
        &self.arena[member.start..member.start + member.length as usize]
    }

    fn signature(&self, row: &[Entry]) -> u64 {
        let mut signature = 0;
        for &entry in row {
            let local = place(entry) as usize;
            for (step, &least) in STEPS[..self.steps].iter().enumerate() {
                if count(entry) < least {
                    break;
                }
                // Several places share a bit where there are too many of them.
                let bit = if self.places <= 64 {
                    local * self.steps + step
                } else {
                    local.wrapping_mul(0x9E37_79B1) >> 7
                };
                signature |= 1 << (bit % 64);
            }
        }
        signature
    }

    fn hint(&self, row: &[Entry], member: u32) -> Hint {
        let total = row.iter().fold(0, |sum: u32, &entry| sum.saturating_add(count(entry)));
        Hint { signature: self.signature(row), total, member }
    }

    /// Whether a configuration is in the set.
    pub fn contains(&self, shared: Shared, row: &[Entry]) -> bool {
        if self.bare.contains_key(&shared) {
            return true;
        }
        let above = self.hint(row, 0);
        row.iter().any(|&entry| {
            let list = self.keys.get(&(shared, place(entry))).map_or(&[][..], |list| list);
            list.iter().any(|below| {
                below.total <= above.total
                    && below.signature & !above.signature == 0
                    && covers(row, self.row(below.member))
            })
        })
    }

    /// Adds a configuration that is not in the set; gives its number.
    pub fn insert(&mut self, shared: Shared, row: &[Entry]) -> u32 {
        let member = self.members.len() as u32;
        let hint = self.hint(row, member);
        self.bury(shared, row, hint);
        self.members.push(Member { start: self.arena.len(), shared, length: row.len() as u32, alive: true });
        self.arena.extend_from_slice(row);
        self.live += 1;
        let shortest = row
            .iter()
            .map(|&entry| place(entry))
            .min_by_key(|&local| self.all.get(&(shared, local)).map_or(0, Vec::len));
        match shortest {
            None => drop(self.bare.insert(shared, member)),
            Some(local) => self.keys.entry((shared, local)).or_default().push(hint),
        }
        for &entry in row {
            self.all.entry((shared, place(entry))).or_default().push(hint);
        }
        member
    }

    /// Lets those die that cover a new member.
    fn bury(&mut self, shared: Shared, row: &[Entry], new: Hint) {
        let shortest = row
            .iter()
            .map(|&entry| place(entry))
            .min_by_key(|&local| self.all.get(&(shared, local)).map_or(0, Vec::len));
        let mut dead: Vec<u32> = Vec::new();
        match shortest {
            // Whatever has this shared state.
            None => {
                let members = self.members.iter().enumerate();
                dead.extend(
                    members
                        .filter(|(_, member)| member.shared == shared && member.alive)
                        .map(|(index, _)| index as u32),
                );
            }
            Some(local) => {
                let list = self.all.get(&(shared, local)).map_or(&[][..], |list| list);
                let larger = list.iter().filter(|hint| {
                    hint.total > new.total
                        && self.is_alive(hint.member)
                        && new.signature & !hint.signature == 0
                        && covers(self.row(hint.member), row)
                });
                dead.extend(larger.map(|hint| hint.member));
            }
        }
        for member in dead {
            self.members[member as usize].alive = false;
            self.live -= 1;
            self.unburied += 1;
        }
        if self.unburied > 64 + self.live / 4 {
            self.unburied = 0;
            for list in self.keys.values_mut().chain(self.all.values_mut()) {
                list.retain(|hint| self.members[hint.member as usize].alive);
            }
        }
    }
}

/// Whether the tokens of the first row include those of the second.
fn covers(above: &[Entry], below: &[Entry]) -> bool {
    if above.len() < below.len() {
        return false;
    }
    let mut above = above.iter();
    below.iter().all(|&wanted| {
        above
            .by_ref()
            .find(|&&here| place(here) >= place(wanted))
            .is_some_and(|&here| place(here) == place(wanted) && count(here) >= count(wanted))
    })
}
