//! An upward-closed set by its basis, and whether a configuration is in it.

use allways_model::counters::{Bag, Configuration, Local, Shared};
use hashbrown::{HashMap, HashSet};

/// Where it has tokens, how many there are, and the tokens.
type Member<'a> = (u64, u64, &'a Bag);

/// Each member of the basis is listed under one of its places: whatever covers it has a token there. It has at least as many
/// tokens as well, and a token wherever the member has one; the latter is compared in 64 bits first.
pub(super) struct Upward<'a> {
    members: HashMap<(Shared, Local), Vec<Member<'a>>>,
    /// Shared states of members without tokens.
    bare: HashSet<Shared>,
}

impl<'a> Upward<'a> {
    pub fn new(basis: &'a [Configuration]) -> Upward<'a> {
        let mut upward = Upward { members: HashMap::new(), bare: HashSet::new() };
        for Configuration { shared, tokens } in basis {
            let length = |local: Local| upward.members.get(&(*shared, local)).map_or(0, Vec::len);
            match tokens.iter().map(|(local, _)| local).min_by_key(|&local| length(local)) {
                Some(local) => {
                    let hint = (support(tokens), tokens.total(), tokens);
                    upward.members.entry((*shared, local)).or_default().push(hint);
                }
                None => drop(upward.bare.insert(*shared)),
            }
        }
        upward
    }

    /// Whether a configuration covers a member, and how many were looked at.
    pub fn contains(&self, configuration: &Configuration) -> (bool, usize) {
        let Configuration { shared, tokens } = configuration;
        if self.bare.contains(shared) {
            return (true, 1);
        }
        let (without, most) = (!support(tokens), tokens.total());
        let mut looked_at = 0;
        for (local, _) in tokens.iter() {
            for (support, total, member) in self.members.get(&(*shared, local)).into_iter().flatten() {
                looked_at += 1;
                if support & without == 0 && *total <= most && tokens.covers(member) {
                    return (true, looked_at);
                }
            }
        }
        (false, looked_at)
    }
}

/// A bit for each place with a token; several places share a bit.
fn support(tokens: &Bag) -> u64 {
    tokens.iter().fold(0, |bits, (local, _)| bits | 1 << (local % 64))
}
