//! An upward-closed set by its basis, and whether a configuration is in it.

use allways_model::counters::{Configuration, Local, Shared};
use hashbrown::{HashMap, HashSet};

/// Each member of the basis is listed under one of its places: whatever covers it has a token there.
pub(super) struct Upward<'a> {
    members: HashMap<(Shared, Local), Vec<&'a Configuration>>,
    /// Shared states of members without tokens.
    bare: HashSet<Shared>,
}

impl<'a> Upward<'a> {
    pub fn new(basis: &'a [Configuration]) -> Upward<'a> {
        let mut upward = Upward { members: HashMap::new(), bare: HashSet::new() };
        for member in basis {
            let length = |local: Local| upward.members.get(&(member.shared, local)).map_or(0, Vec::len);
            match member.tokens.iter().map(|(local, _)| local).min_by_key(|&local| length(local)) {
                Some(local) => upward.members.entry((member.shared, local)).or_default().push(member),
                None => drop(upward.bare.insert(member.shared)),
            }
        }
        upward
    }

    /// Whether a configuration covers a member, and how many were looked at.
    pub fn contains(&self, configuration: &Configuration) -> (bool, usize) {
        let shared = configuration.shared;
        if self.bare.contains(&shared) {
            return (true, 1);
        }
        let mut looked_at = 0;
        for (local, _) in configuration.tokens.iter() {
            for member in self.members.get(&(shared, local)).into_iter().flatten() {
                looked_at += 1;
                if configuration.covers(member) {
                    return (true, looked_at);
                }
            }
        }
        (false, looked_at)
    }
}
