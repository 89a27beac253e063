//! One step, forward and back, as defined.
//!
//! Forward is exact. Back is relaxed: [`pre`] gives the least configurations from which the relaxed rule leads to one that
//! covers a given one. Of a token that is wanted afterwards and was not given by the rule, it says where it came from: its
//! own place, if tokens stay there, or one of those that are moved to it. If it came from nowhere, there is no way back: a
//! thread that waits was not there when a broadcast woke all that wait (DESIGN point 7).

use super::{Bag, Configuration, Counters, Local, Rule};

/// What a rule makes of a configuration; `None` if it cannot fire there.
pub fn step(rule: &Rule, configuration: &Configuration) -> Option<Configuration> {
    let Configuration { shared, tokens } = configuration;
    let exact = |&local: &Local| tokens.count(local) == rule.takes.count(local);
    if *shared != rule.from || !tokens.covers(&rule.takes) || !rule.exactly.iter().all(exact) {
        return None;
    }
    let rest = tokens.minus(&rule.takes);
    let moved: Bag = rest.iter().filter_map(|(local, count)| Some((rule.goes(local)?, count))).collect();
    Some(Configuration { shared: rule.to, tokens: moved.plus(&rule.gives) })
}

/// The most predecessors by one rule that [`pre`] lists. Their number grows with the number of tokens to the power of the
/// number of places that they may come from, and a text can ask for any.
pub const MOST_PREDECESSORS: u64 = 1 << 20;

/// The least configurations from which a rule, relaxed, leads to one that covers this one. No two are the same, and none
/// covers another: they have equally many tokens. `None` if there are more than [`MOST_PREDECESSORS`].
pub fn pre(system: &Counters, rule: &Rule, after: &Configuration) -> Option<Vec<Configuration>> {
    if after.shared != rule.to {
        return Some(Vec::new());
    }
    let mut before = vec![rule.takes.clone()];
    for (local, count) in after.tokens.minus(&rule.gives).iter() {
        let sources = sources(system, rule, local);
        if ways(sources.len() as u64, count).saturating_mul(before.len() as u64) > MOST_PREDECESSORS {
            return None;
        }
        let parts = spread(&sources, count);
        before = before.iter().flat_map(|tokens| parts.iter().map(|part| tokens.plus(part))).collect();
    }
    Some(before.into_iter().map(|tokens| Configuration { shared: rule.from, tokens }).collect())
}

/// The places whose tokens are in this one after the rule, unless they are taken.
fn sources(system: &Counters, rule: &Rule, local: Local) -> Vec<Local> {
    if rule.is_plain() {
        return vec![local];
    }
    let places = 0..system.locals.len() as Local;
    places.filter(|&from| rule.goes(from) == Some(local)).collect()
}

/// In how many ways so many tokens can come from so many places: `count + places - 1` over `places - 1`, or a bound on it
/// that is too large as well.
fn ways(places: u64, count: u64) -> u64 {
    let mut ways: u64 = if places == 0 { 0 } else { 1 };
    for place in 1..places {
        match ways.checked_mul(count + place) {
            Some(product) => ways = product / place,
            None => return u64::MAX,
        }
    }
    ways
}

/// All ways to take so many tokens from these places.
fn spread(places: &[Local], count: u64) -> Vec<Bag> {
    match places {
        [] if count == 0 => vec![Bag::new()],
        [] => Vec::new(),
        [last] => vec![[(*last, count)].into_iter().collect()],
        [first, rest @ ..] => (0..=count)
            .flat_map(|here| {
                let mut parts = spread(rest, count - here);
                parts.iter_mut().for_each(|part| part.add(*first, here));
                parts
            })
            .collect(),
    }
}
