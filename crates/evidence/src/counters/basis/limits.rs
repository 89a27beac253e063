//! A bound: limits, to be asked whether one of them includes something.
//!
//! A limit that includes another has a token wherever that has one, at least two where that has two, and any number where that
//! has any number. These are bits, by place, several places to a bit; they are compared first.

use super::Limit;
use allways_model::counters::{Configuration, Local, Shared};
use hashbrown::HashMap;

/// Places with at least one token, two, four, and any number.
type Signature = [u64; 4];

fn signature(tokens: impl Iterator<Item = (Local, Option<u64>)>) -> Signature {
    let mut signature = [0; 4];
    for (local, most) in tokens {
        for (bits, least) in signature.iter_mut().zip([1, 2, 4, u64::MAX]) {
            if most.is_none_or(|most| most >= least) {
                *bits |= 1 << (local % 64);
            }
        }
    }
    signature
}

fn is_within(small: &Signature, large: &Signature) -> bool {
    small.iter().zip(large).all(|(small, large)| small & !large == 0)
}

/// The limits by shared state, in their order.
pub(super) struct Limits<'a>(HashMap<Shared, Vec<(Signature, &'a Limit)>>);

impl<'a> Limits<'a> {
    pub fn new(limits: &'a [Limit]) -> Limits<'a> {
        let mut by_shared: HashMap<Shared, Vec<_>> = HashMap::new();
        for limit in limits {
            let signature = signature(limit.tokens.iter().copied());
            by_shared.entry(limit.shared).or_default().push((signature, limit));
        }
        Limits(by_shared)
    }

    /// The first limit of a shared state.
    pub fn first(&self, shared: Shared) -> Option<&'a Limit> {
        self.0.get(&shared)?.first().map(|&(_, limit)| limit)
    }

    /// Whether one of them includes a limit; also how many were looked at.
    pub fn include(&self, limit: &Limit) -> (bool, usize) {
        let wanted = signature(limit.tokens.iter().copied());
        self.find(limit.shared, &wanted, |other| other.includes(limit))
    }

    /// Whether a configuration is within one of them; also how many were looked at.
    pub fn contain(&self, configuration: &Configuration) -> (bool, usize) {
        let wanted = signature(configuration.tokens.iter().map(|(local, count)| (local, Some(count))));
        self.find(configuration.shared, &wanted, |limit| limit.contains(configuration))
    }

    fn find(&self, shared: Shared, wanted: &Signature, fits: impl Fn(&Limit) -> bool) -> (bool, usize) {
        let limits = self.0.get(&shared).map_or(&[][..], |limits| limits);
        let place = limits.iter().position(|(bits, limit)| is_within(wanted, bits) && fits(limit));
        (place.is_some(), 1 + place.unwrap_or(limits.len()))
    }
}
