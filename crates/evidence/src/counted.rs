//! Programs as counter systems: threads that are alike are counted, not told apart.
//!
//! [`Products`] of one view bound the thread states of a system. If none of them has more than one symbol on its stack, a
//! thread is in one of finitely many local states: its kind and its top. Then the system is a counter system
//! ([`counters_of`]): the shared states are those of the products, the places are kinds and tops, and each rule of a thread
//! takes one token and gives one. A thread that stands for any number is any number of tokens. A broadcast ends by a rule that
//! moves all tokens at once; the rules by which single threads go on meanwhile are kept for those only that must use them.
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

use crate::counters::{self, check_proof};
use crate::products::close::close;
use crate::{Products, Rejection, StopReason};
use allways_model::counters::{Bag, Counters, Initial, Local, Rule, Target};
use allways_model::notation::show_symbols;
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{EMPTY, Pushdown, Shared, State, Symbol};
use std::collections::{BTreeMap, BTreeSet};

/// A proof that a system never goes wrong, made for the counter system that it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counted {
    /// What bounds its thread states.
    pub products: Products,
    /// The proof for the counter system within these.
    pub proof: counters::Proof,
}

impl Counted {
    /// Has it checked. Asks `stop` now and then whether to go on.
    pub fn check(
        &self,
        system: &dyn Pushdown,
        property: &Property,
        stop: &dyn Fn() -> Option<StopReason>,
    ) -> Result<(), Rejection> {
        close(system, &Property::default(), &self.products, stop)?;
        let counting = counters_of(system, property, &self.products).map_err(Rejection::Malformed)?;
        check_proof(&counting.counters, &self.proof, stop).map_err(|rejection| match rejection {
            counters::Rejection::Stopped(reason) => Rejection::Stopped(reason),
            counters::Rejection::Because(why) => Rejection::NotInProducts(why),
        })
    }
}

/// A system as a counter system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counting {
    /// The counter system.
    pub counters: Counters,
    /// The kind of threads and the top that each place stands for.
    pub places: Vec<(usize, Symbol)>,
}

/// The counter system of a system within products, or why there is none. The shape of the products has been checked.
pub fn counters_of(
    system: &dyn Pushdown,
    property: &Property,
    products: &Products,
) -> Result<Counting, String> {
    let [product] = &products.products[..] else {
        return Err("expected a single product, in which threads can be counted".to_string());
    };
    if product.mover.is_some() {
        return Err("expected a product without a mover".to_string());
    }
    if property.deadlock {
        return Err("deadlocks cannot be told by counting threads".to_string());
    }
    let mut places: BTreeSet<(usize, Symbol)> = BTreeSet::new();
    let mut shared: BTreeSet<Shared> = BTreeSet::new();
    let mut steps: Vec<Step> = Vec::new();
    let mut sweeps: BTreeMap<(Shared, Shared), Sweep> = BTreeMap::new();
    let mut rules = Vec::new();
    for (kind, facts) in product.rest.iter().enumerate() {
        let leader = products.kinds.members(kind)[0];
        for fact in facts {
            if fact.context != crate::products::END {
                return Err("stacks of more than one symbol cannot be counted".to_string());
            }
            shared.insert(fact.shared);
            places.insert((kind, fact.top));
            if let Some(after) = system.sweep(fact.shared) {
                let swept = system.swept(leader, fact.shared, fact.top);
                shared.insert(after);
                places.extend(swept.map(|top| (kind, top)));
                let sweep = sweeps.entry((fact.shared, after)).or_default();
                sweep.push((kind, fact.top, swept));
                if swept.is_some() {
                    continue;
                }
            }
            rules.clear();
            system.rules(leader, fact.shared, fact.top, &mut rules);
            for rule in &rules {
                let top = match *rule.word.symbols() {
                    [] => EMPTY,
                    [top] => top,
                    _ => return Err("stacks of more than one symbol cannot be counted".to_string()),
                };
                shared.insert(rule.shared);
                places.insert((kind, top));
                let (from, to) = ((fact.shared, fact.top), (rule.shared, top));
                steps.push(Step { kind, from, to, line: rule.line });
            }
        }
    }
    let initial = system.initial();
    for state in &initial {
        shared.insert(state.shared);
        let tops = state.stacks.iter().enumerate();
        places.extend(tops.map(|(thread, stack)| (products.kinds.kind(thread), stack.top())));
    }
    let numbers = Numbers {
        shared: shared.iter().copied().zip(0..).collect(),
        places: places.iter().copied().zip(0..).collect(),
    };
    let leader = |kind: usize| products.kinds.members(kind)[0];
    let local_name = |&(kind, top): &(usize, Symbol)| {
        let thread = leader(kind);
        format!("{thread}:{}", show_symbols(system, thread, [top]))
    };
    let steps = steps.iter();
    let sweeps = sweeps.iter().map(|(&shared, sweep)| numbers.sweep(shared, sweep));
    let counters = Counters {
        shared: names(shared.iter().map(|&shared| system.shared_name(shared))),
        locals: names(places.iter().map(local_name)),
        rules: steps.map(|step| numbers.rule(step)).chain(sweeps).collect(),
        initial: numbers.initial(products, &initial),
        targets: property.bad.iter().filter_map(|bad| numbers.target(products, bad)).collect(),
    };
    counters.validate()?;
    Ok(Counting { counters, places: places.into_iter().collect() })
}

/// A rule of the threads of one kind: shared states and tops before and after.
struct Step {
    kind: usize,
    from: (Shared, Symbol),
    to: (Shared, Symbol),
    line: u32,
}

/// Where the threads of each kind with each top are at the end of a broadcast.
type Sweep = Vec<(usize, Symbol, Option<Symbol>)>;

/// Shared states and places of the system, by their numbers in the counter system.
struct Numbers {
    shared: BTreeMap<Shared, u32>,
    places: BTreeMap<(usize, Symbol), Local>,
}

impl Numbers {
    fn rule(&self, step: &Step) -> Rule {
        let one = |top| Bag::from_iter([(self.places[&(step.kind, top)], 1)]);
        let (from, to) = (self.shared[&step.from.0], self.shared[&step.to.0]);
        Rule::plain(from, to, one(step.from.1), one(step.to.1), step.line)
    }

    /// The end of a broadcast. Whoever has to move before must not be there any more.
    fn sweep(&self, (from, to): (Shared, Shared), sweep: &Sweep) -> Rule {
        let place = |kind: usize, top: Symbol| self.places[&(kind, top)];
        let moves = sweep.iter().filter_map(|&(kind, top, swept)| {
            swept.filter(|&swept| swept != top).map(|swept| (place(kind, top), Some(place(kind, swept))))
        });
        let stay = sweep.iter().filter(|(_, _, swept)| swept.is_none());
        let (mut moves, mut exactly) =
            (moves.collect::<Vec<_>>(), stay.map(|&(kind, top, _)| place(kind, top)).collect::<Vec<_>>());
        moves.sort_unstable();
        exactly.sort_unstable();
        let (from, to) = (self.shared[&from], self.shared[&to]);
        Rule { moves, exactly, ..Rule::plain(from, to, Bag::new(), Bag::new(), 0) }
    }

    fn initial(&self, products: &Products, states: &[State]) -> Vec<Initial> {
        // By the shared state and the threads that are not many: where those may start that are.
        let mut all: BTreeMap<(u32, Vec<Local>), BTreeSet<Local>> = BTreeMap::new();
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

/// Names that a counter system may have: without some characters, and all different.
fn names(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let name = |text: String| {
        let mut name: String =
            text.chars().map(|c| if "|,^*#".contains(c) || c.is_whitespace() { '~' } else { c }).collect();
        while !seen.insert(name.clone()) {
            name.push('~');
        }
        name
    };
    texts.map(name).collect()
}
