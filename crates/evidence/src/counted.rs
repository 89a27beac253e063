//! Programs as counter systems: threads that are alike are counted, not told apart.
//!
//! [`Products`] of one view bound the thread states of a system. If none of them has more than one symbol on its stack, a
//! thread is in one of finitely many local states: its kind and its top. Then the system is a counter system
//! ([`counters_of`]): the shared states are those of the products, the places are kinds and tops, and each rule of a thread
//! takes one token and gives one. A thread that stands for any number is any number of tokens. A broadcast moves all tokens at
//! once, and is over with the step that begins it; the midst of it, and rules by which single threads go on, are kept only where
//! some [must](Pushdown::after_broadcast) or [may](Pushdown::chooses_in_broadcast) use them.
//!
//! # Why a proof about it is a proof about the system
//!
//! The products are accepted first ([`close`]), so each thread of each reachable state is in them, and every rule that can be
//! used is one of those asked for here: at the shared state and top of some fact, of the first thread of a kind; `close` has
//! tested that the others have the same. So counting threads by place turns a run of the system into a run of the counter
//! system, from an initial configuration: each of the many starts, for itself, as some initial state with the same shared
//! state and the same other threads says, and any number of tokens in all those places is what [`Initial`] allows. A bad
//! pattern demands tops of threads, so a state that matches has at least the tokens of its target; one that demands what the
//! products do not contain is matched by no reachable state, and needs no target. So the numbers of shared states and places
//! do not depend on the property. Deadlocks have no target: they are refused.
//!
//! # Limits that stand by themselves
//!
//! The products need not be closed if the certificate for the counter system has [limits](crate::counters::Limit) and no limit
//! has a token where the products have no fact. Then every rule that can fire within a limit is one of those asked for, the
//! limits are tested to be closed under these, and by induction on the length of a run, each reachable state is within a limit
//! when its threads are counted: so each thread of it is in the products. What is passed in the midst of a broadcast is not
//! within a limit, so where there are broadcasts, the products have to be closed.

use crate::counters::{Basis, Limit, check_basis};
use crate::products::close::{check_kinds, close, shape};
use crate::{Products, Rejection, StopReason};
use allways_model::counters::{self, Bag, Counters, Initial, Local, Rule, Target};
use allways_model::notation::show_symbols;
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{EMPTY, Pushdown, Shared, State, Symbol};
use hashbrown::HashSet;
use std::collections::{BTreeMap, BTreeSet};

/// A proof that a system never goes wrong, made for the counter system that it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counted {
    /// What bounds its thread states.
    pub products: Products,
    /// The certificate for the counter system within these.
    pub basis: Basis,
}

/// Has it checked. Asks `stop` now and then whether to go on.
pub(crate) fn check(
    system: &dyn Pushdown,
    property: &Property,
    counted: &Counted,
    stop: &dyn Fn() -> Option<StopReason>,
) -> Result<(), Rejection> {
    shape(system, &counted.products).map_err(Rejection::Malformed)?;
    let counting = counters_of(system, property, &counted.products, stop).map_err(|reason| match reason {
        StopReason::GaveUp(why) => Rejection::Malformed(why),
        limit => Rejection::Stopped(limit),
    })?;
    if limits_stand_alone(system, counted, &counting) {
        check_kinds(system, &counted.products, stop)?;
        check_basis(&counting.counters, &counted.basis, stop)?;
        let missing = system.incomplete().map(|why| Rejection::Stopped(StopReason::GaveUp(why)));
        return missing.map_or(Ok(()), Err);
    }
    close(system, &Property::default(), &counted.products, stop)?;
    check_basis(&counting.counters, &counted.basis, stop)
}

/// Whether there are limits, all within the facts of the products, and no broadcasts.
fn limits_stand_alone(system: &dyn Pushdown, counted: &Counted, counting: &Counting) -> bool {
    let (Some(limits), [product]) = (&counted.basis.bound, &counted.products.products[..]) else {
        return false;
    };
    let facts: HashSet<(Shared, usize, Symbol)> = product
        .rest
        .iter()
        .enumerate()
        .flat_map(|(kind, facts)| facts.iter().map(move |fact| (fact.shared, kind, fact.top)))
        .collect();
    let is_known = |limit: &Limit| {
        let Some(&shared) = counting.shared.get(limit.shared.index()) else { return false };
        limit.tokens.iter().all(|&(place, _)| {
            let place = counting.places.get(place as usize);
            place.is_some_and(|&(kind, top)| facts.contains(&(shared, kind, top)))
        })
    };
    limits.iter().all(is_known)
        && !facts.iter().any(|(shared, ..)| system.broadcast_target(*shared).is_some())
}

/// A system as a counter system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counting {
    /// The counter system.
    pub counters: Counters,
    /// The shared state of the system that each shared state stands for.
    pub shared: Vec<Shared>,
    /// The kind of threads and the top that each place stands for.
    pub places: Vec<(usize, Symbol)>,
}

/// The counter system of a system within products, or why there is none. The shape of the products has been checked. Asks
/// `stop` now and then whether to go on.
pub fn counters_of(
    system: &dyn Pushdown,
    property: &Property,
    products: &Products,
    stop: &dyn Fn() -> Option<StopReason>,
) -> Result<Counting, StopReason> {
    const RULES_BETWEEN_POLLS: usize = 1 << 12;
    let uncountable = |why: &str| Err(StopReason::GaveUp(why.to_string()));
    let [product] = &products.products[..] else {
        return uncountable("expected a single product, in which threads can be counted");
    };
    if product.mover.is_some() {
        return uncountable("expected a product without a mover");
    }
    if property.deadlock {
        return uncountable("deadlocks cannot be told by counting threads");
    }
    let leader = |kind: usize| products.kinds.members(kind)[0];
    let facts = || {
        let facts = product.rest.iter().enumerate();
        facts.flat_map(|(kind, facts)| facts.iter().map(move |fact| (kind, fact)))
    };
    let mut broadcasts: BTreeMap<Shared, Broadcast> = BTreeMap::new();
    for (kind, fact) in facts() {
        if fact.context != crate::products::END {
            return uncountable("stacks of more than one symbol cannot be counted");
        }
        if let Some(to) = system.broadcast_target(fact.shared) {
            let after = system.after_broadcast(leader(kind), fact.shared, fact.top);
            let broadcast =
                broadcasts.entry(fact.shared).or_insert(Broadcast { to, tops: Vec::new(), choices: false });
            broadcast.tops.push((kind, fact.top, after));
            broadcast.choices |= system.chooses_in_broadcast(leader(kind), fact.shared, fact.top);
        }
    }
    if property
        .bad
        .iter()
        .any(|bad| bad.shared.map_or(!broadcasts.is_empty(), |bad| broadcasts.contains_key(&bad)))
    {
        return uncountable("a property of what is passed in the midst of a broadcast");
    }
    let mut steps: Vec<Step> = Vec::new();
    let mut rules = Vec::new();
    let mut next_poll = 0;
    for (kind, fact) in facts() {
        if steps.len() >= next_poll {
            next_poll = steps.len() + RULES_BETWEEN_POLLS;
            stop().map_or(Ok(()), Err)?;
        }
        let after = broadcasts.contains_key(&fact.shared);
        if after
            && system.after_broadcast(leader(kind), fact.shared, fact.top).is_some()
            && !system.chooses_in_broadcast(leader(kind), fact.shared, fact.top)
        {
            continue;
        }
        rules.clear();
        system.rules(leader(kind), fact.shared, fact.top, &mut rules);
        for rule in &rules {
            let top = match *rule.word.symbols() {
                [] => EMPTY,
                [top] => top,
                _ => return uncountable("stacks of more than one symbol cannot be counted"),
            };
            let mut step = Step {
                kind,
                from: (fact.shared, fact.top),
                to: (rule.shared, top),
                broadcast: None,
                line: rule.line,
            };
            if let Some(broadcast) = broadcasts.get(&rule.shared).filter(|broadcast| broadcast.is_whole())
                && let Some(top) = system.after_broadcast(leader(kind), rule.shared, top)
            {
                step = Step { to: (broadcast.to, top), broadcast: Some(rule.shared), ..step };
            }
            steps.push(step);
        }
    }
    let passed = |shared: Shared| broadcasts.get(&shared).is_some_and(Broadcast::is_whole);
    let mut places: BTreeSet<(usize, Symbol)> = facts().map(|(kind, fact)| (kind, fact.top)).collect();
    let mut shared: BTreeSet<Shared> = facts().map(|(_, fact)| fact.shared).collect();
    shared.retain(|&shared| !passed(shared));
    for step in &steps {
        shared.insert(step.to.0);
        places.insert((step.kind, step.to.1));
    }
    for broadcast in broadcasts.values() {
        shared.insert(broadcast.to);
        places.extend(broadcast.tops.iter().filter_map(|&(kind, _, after)| Some((kind, after?))));
    }
    let initial = system.initial();
    for state in &initial {
        shared.insert(state.shared);
        let tops = state.stacks.iter().enumerate();
        places.extend(tops.map(|(thread, stack)| (products.kinds.kind(thread), stack.top())));
    }
    let numbers = Numbers {
        shared: shared.iter().copied().zip((0..).map(counters::Shared)).collect(),
        places: places.iter().copied().zip(0..).collect(),
    };
    let local_name = |&(kind, top): &(usize, Symbol)| {
        let thread = leader(kind);
        format!("{thread}:{}", show_symbols(system, thread, [top]))
    };
    let ends = broadcasts.iter().filter(|(_, broadcast)| !broadcast.is_whole());
    let ends = ends.map(|(&from, broadcast)| {
        let to = numbers.shared[&broadcast.to];
        numbers.broadcast_target(broadcast, Rule::plain(numbers.shared[&from], to, Bag::new(), Bag::new(), 0))
    });
    let rules = steps.iter().map(|step| match step.broadcast {
        Some(shared) => numbers.broadcast_target(&broadcasts[&shared], numbers.rule(step)),
        None => numbers.rule(step),
    });
    let counters = Counters {
        shared: names(shared.iter().map(|&shared| system.shared_name(shared))),
        locals: names(places.iter().map(local_name)),
        rules: rules.chain(ends).collect(),
        initial: numbers.initial(products, &initial),
        targets: property.bad.iter().filter_map(|bad| numbers.target(products, bad)).collect(),
    };
    counters.validate().map_err(StopReason::GaveUp)?;
    Ok(Counting { counters, shared: shared.into_iter().collect(), places: places.into_iter().collect() })
}

/// A rule of the threads of one kind: shared states and tops before and after.
struct Step {
    kind: usize,
    from: (Shared, Symbol),
    to: (Shared, Symbol),
    /// The broadcast that it passes through.
    broadcast: Option<Shared>,
    line: u32,
}

/// How a broadcast ends.
struct Broadcast {
    /// The shared state afterwards.
    to: Shared,
    /// Where the threads of each kind with each top are then.
    tops: Vec<(usize, Symbol, Option<Symbol>)>,
    /// Whether some may move before by a rule of their own.
    choices: bool,
}

impl Broadcast {
    /// Whether nobody moves before by a rule of its own. Then it is over as soon as it begins.
    fn is_whole(&self) -> bool {
        !self.choices && self.tops.iter().all(|(_, _, after)| after.is_some())
    }
}

/// Shared states and places of the system, by their numbers in the counter system.
struct Numbers {
    shared: BTreeMap<Shared, counters::Shared>,
    places: BTreeMap<(usize, Symbol), Local>,
}

impl Numbers {
    fn rule(&self, step: &Step) -> Rule {
        let one = |top| Bag::from_iter([(self.places[&(step.kind, top)], 1)]);
        let (from, to) = (self.shared[&step.from.0], self.shared[&step.to.0]);
        Rule::plain(from, to, one(step.from.1), one(step.to.1), step.line)
    }

    /// A rule at the end of which a broadcast ends. Whoever has to move before must not be there any more.
    fn broadcast_target(&self, broadcast: &Broadcast, rule: Rule) -> Rule {
        let (mut moves, mut exactly) = (Vec::new(), Vec::new());
        for &(kind, top, after) in &broadcast.tops {
            let place = self.places[&(kind, top)];
            match after {
                None => exactly.push(place),
                Some(after) if after != top => moves.push((place, Some(self.places[&(kind, after)]))),
                Some(_) => {}
            }
        }
        moves.sort_unstable();
        exactly.sort_unstable();
        Rule { moves, exactly, ..rule }
    }

    fn initial(&self, products: &Products, states: &[State]) -> Vec<Initial> {
        // By the shared state and the threads that are not many: where those may start that are.
        let mut all: BTreeMap<(counters::Shared, Vec<Local>), BTreeSet<Local>> = BTreeMap::new();
        for state in states {
            let place = |thread: usize| {
                let kind = products.kinds.kind(thread);
                (products.many[kind], self.places[&(kind, state.stacks[thread].top())])
            };
            let threads: Vec<(bool, Local)> = (0..state.stacks.len()).map(place).collect();
            let of =
                |many: bool| threads.iter().filter(move |thread| thread.0 == many).map(|thread| thread.1);
            let mut fixed: Vec<Local> = of(false).collect();
            fixed.sort_unstable();
            all.entry((self.shared[&state.shared], fixed)).or_default().extend(of(true));
        }
        let initial = all.into_iter().map(|((shared, fixed), any)| Initial {
            shared,
            tokens: Bag::from_iter(fixed.into_iter().map(|place| (place, 1))),
            any: any.into_iter().collect(),
        });
        initial.collect()
    }

    /// The target of a pattern, if something can match it.
    fn target(&self, products: &Products, bad: &Pattern) -> Option<Target> {
        let shared = match bad.shared {
            Some(shared) => Some(*self.shared.get(&shared)?),
            None => None,
        };
        let demands = bad.tops.iter().enumerate().filter_map(|(thread, top)| Some((thread, (*top)?)));
        let places = demands.map(|(thread, top)| {
            let place = self.places.get(&(products.kinds.kind(thread), top))?;
            Some((*place, 1))
        });
        Some(Target { shared, tokens: Bag::from_iter(places.collect::<Option<Vec<_>>>()?) })
    }
}

/// Names that a counter system may have: without some characters, and all different, whatever the order of the texts.
fn names(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<(String, usize)> = texts.zip(0..).collect();
    texts.sort_unstable();
    let mut seen = BTreeSet::new();
    let mut names = vec![String::new(); texts.len()];
    for (text, index) in texts {
        let plain = |c: char| if "|,^*#".contains(c) || c.is_whitespace() { '~' } else { c };
        let mut name: String = text.chars().map(plain).collect();
        while !seen.insert(name.clone()) {
            name.push('~');
        }
        names[index] = name;
    }
    names
}
