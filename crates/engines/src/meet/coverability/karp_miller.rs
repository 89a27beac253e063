//! Karp and Miller's tree (*Parallel program schemata*, 1969), for systems whose rules only take and give, as far as they can
//! fire at all. It gives up where another rule can.
//!
//! A node is a shared state and for each place a number of tokens or *any number* (ω). If a node is strictly larger than one
//! of its ancestors, what lies between can be repeated, so where it has more it gets ω. A new node that is within a node
//! which is there already is left out. Nothing else is, and no node is ever removed (the published ways to remove more are
//! famously wrong).
//!
//! *Why it is right.* Every node that is kept is expanded, and each of its successors is within a node that is kept: so what
//! is within the nodes is closed under the rules and contains what is initial, and is a proof if no target is. On the other
//! hand each node is only enlarged along its own ancestors, which are runs: so for every target within a node there is a
//! run that covers it (`Tree::run`). *Why it ends.* On an infinite branch some node would be larger than or equal to an
//! ancestor; if equal, it is left out, if strictly larger, it gets an ω more than the ancestor had, and no ω is ever lost.
//!
//! *The run.* Walk back from the target with the tokens that are needed. At a rule, what it gives is not needed before it, and
//! what it takes is. At a node that was enlarged, if more is needed where it got ω than it had, walk back around the loop
//! once more: there is less to be needed each time. At the root, any number is any number.

use super::KARP_MILLER;
use super::shorten::shorten;
use crate::budget::{Budget, Progress};
use crate::engine::Outcome;
use allways_evidence::counters::{Basis, Limit, Run};
use allways_evidence::{StopReason, Verdict};
use allways_model::counters::{Bag, Configuration, Counters, Local, Shared};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// Decides, or gives up.
pub fn decide(system: &Counters, budget: &Budget) -> Outcome {
    let mut tree =
        Tree { system, nodes: Vec::new(), by_shared: HashMap::default(), waiting: Vec::new(), images: 0 };
    let verdict = tree.grow(budget).unwrap_or_else(Verdict::Unknown);
    KARP_MILLER.outcome(verdict, tree.nodes.len(), tree.images)
}

/// Any number of tokens.
const ANY: u64 = u64::MAX;

/// A bit for each place with a token, and for each with any number; several places share a bit.
type Support = [u64; 2];

fn support(label: &[(Local, u64)]) -> Support {
    label.iter().fold([0; 2], |[some, any], &(local, count)| {
        let bit = 1 << (local % 64);
        [some | bit, if count == ANY { any | bit } else { any }]
    })
}

/// Numbers of tokens by place, sorted, without zeros.
type Label = Vec<(Local, u64)>;

struct Node {
    shared: Shared,
    label: Label,
    /// The rule and the node from which it was found; for a root, the number of the initial set.
    origin: Origin,
    /// How it was enlarged, one after another: the ancestor, and the places that got ω with what they had.
    enlarged: Vec<(usize, Label)>,
}

#[derive(Clone, Copy)]
enum Origin {
    Initial(usize),
    Rule(u32, usize),
}

struct Tree<'a> {
    system: &'a Counters,
    nodes: Vec<Node>,
    /// With the places where they have tokens, and those where they have any number, as bits.
    by_shared: HashMap<Shared, Vec<(Support, usize)>, FxBuildHasher>,
    waiting: Vec<usize>,
    images: u64,
}

impl Tree<'_> {
    fn grow(&mut self, budget: &Budget) -> Result<Verdict, StopReason> {
        const EVERY: u64 = 1 << 4;
        for (number, initial) in self.system.initial.iter().enumerate() {
            let fixed = initial.tokens.iter().filter(|(local, _)| initial.any.binary_search(local).is_err());
            let mut label: Label = fixed.chain(initial.any.iter().map(|&local| (local, ANY))).collect();
            label.sort_unstable();
            if let Some(target) = self.add(initial.shared, label, Origin::Initial(number)) {
                return self.run(target, budget);
            }
        }
        let mut from: HashMap<Shared, Vec<u32>> = HashMap::new();
        for (number, rule) in self.system.rules.iter().enumerate() {
            from.entry(rule.from).or_default().push(number as u32);
        }
        while let Some(node) = self.waiting.pop() {
            for &number in from.get(&self.nodes[node].shared).into_iter().flatten() {
                self.images += 1;
                if self.images.is_multiple_of(EVERY) {
                    let progress =
                        Progress { states: self.nodes.len(), images: self.images, ..Progress::default() };
                    budget.tick(&progress)?;
                }
                let rule = &self.system.rules[number as usize];
                let Some(label) = fire(&self.nodes[node].label, &rule.takes, &rule.gives) else { continue };
                if !rule.is_plain() {
                    let why = format!("the rule of line {} does more than take and give tokens", rule.line);
                    return Err(StopReason::GaveUp(why));
                }
                if let Some(target) = self.add(rule.to, label, Origin::Rule(number, node)) {
                    return self.run(target, budget);
                }
            }
        }
        Ok(Verdict::from(Basis { bound: Some(self.limits(budget)), ..Basis::default() }))
    }

    /// Adds a node unless it is within one that is there. If a target is within it, gives the node and the target.
    fn add(&mut self, shared: Shared, mut label: Label, origin: Origin) -> Option<(usize, Bag)> {
        let others = self.by_shared.get(&shared).map_or(&[][..], |others| others);
        let [some, any] = support(&label);
        // The latest are the most alike.
        let known = others.iter().rev().any(|&([other_some, other_any], other)| {
            some & !other_some == 0 && any & !other_any == 0 && within(&label, &self.nodes[other].label)
        });
        if known {
            return None;
        }
        let enlarged = self.enlarge(shared, &mut label, origin);
        let bad = self.system.targets.iter().find(|target| {
            target.shared.is_none_or(|only| only == shared)
                && target.tokens.iter().all(|(local, count)| count <= of(&label, local))
        });
        let node = self.nodes.len();
        self.by_shared.entry(shared).or_default().push((support(&label), node));
        self.nodes.push(Node { shared, label, origin, enlarged });
        self.waiting.push(node);
        bad.map(|target| (node, target.tokens.clone()))
    }

    /// Gives ω where the label is larger than that of an ancestor which is nowhere larger, as often as that helps.
    fn enlarge(&self, shared: Shared, label: &mut Label, origin: Origin) -> Vec<(usize, Label)> {
        let mut enlarged = Vec::new();
        loop {
            let before = enlarged.len();
            let mut at = origin;
            while let Origin::Rule(_, ancestor) = at {
                let node = &self.nodes[ancestor];
                at = node.origin;
                if node.shared != shared || !within(&node.label, label) {
                    continue;
                }
                let grown: Label = label
                    .iter()
                    .copied()
                    .filter(|&(local, count)| count != ANY && count > of(&node.label, local))
                    .collect();
                if !grown.is_empty() {
                    for entry in label.iter_mut().filter(|entry| of(&grown, entry.0) > 0) {
                        entry.1 = ANY;
                    }
                    enlarged.push((ancestor, grown));
                }
            }
            if enlarged.len() == before {
                return enlarged;
            }
        }
    }

    /// The run that covers a target within a node.
    fn run(&self, (node, target): (usize, Bag), budget: &Budget) -> Result<Verdict, StopReason> {
        let mut back = Back { tree: self, needed: target, rules: Vec::new() };
        let root = back.walk(node, None)?;
        // Only roots have no parent, and what is needed at a root is within it; were it not so, there would be no run to show.
        let below = Configuration { shared: self.nodes[root].shared, tokens: back.needed };
        let initial = match self.nodes[root].origin {
            Origin::Initial(number) => self.system.initial[number].covering(&below),
            _ => None,
        };
        let Some(initial) = initial else {
            return Err(StopReason::GaveUp(
                "a target can be covered, but no run was put together".to_string(),
            ));
        };
        let mut rules = back.rules;
        rules.reverse();
        Ok(Verdict::from(shorten(self.system, Run { initial, rules }, budget)))
    }

    /// The largest nodes; when time is short, also others, which make a proof longer and no less a proof.
    fn limits(&self, budget: &Budget) -> Vec<Limit> {
        const EVERY: usize = 1 << 6;
        let mut limits: Vec<Limit> = Vec::new();
        let mut all = false;
        for nodes in self.by_shared.values() {
            // Nothing that came later is within something earlier, so it can only be the other way round.
            for (index, &([some, any], node)) in nodes.iter().enumerate() {
                all = all || (index.is_multiple_of(EVERY) && budget.check().is_err());
                let label = &self.nodes[node].label;
                let includes = |&([later_some, later_any], later): &(Support, usize)| {
                    some & !later_some == 0
                        && any & !later_any == 0
                        && within(label, &self.nodes[later].label)
                };
                if !all && nodes[index + 1..].iter().any(includes) {
                    continue;
                }
                let tokens = label.iter().map(|&(local, count)| (local, (count != ANY).then_some(count)));
                limits.push(Limit { shared: self.nodes[node].shared, tokens: tokens.collect() });
            }
        }
        limits.sort_unstable_by(|one, other| (one.shared, &one.tokens).cmp(&(other.shared, &other.tokens)));
        limits
    }
}

/// The walk back from a target.
struct Back<'a> {
    tree: &'a Tree<'a>,
    /// The tokens that are needed where the walk is.
    needed: Bag,
    /// The rules, last first.
    rules: Vec<u32>,
}

impl Back<'_> {
    /// A longer run helps nobody.
    const LONGEST: usize = 10_000_000;

    /// Walks from a node to an ancestor, or to the root; gives where it ends. With an ancestor, the node's own loops are left
    /// out: it is what they lead to.
    fn walk(&mut self, node: usize, ancestor: Option<usize>) -> Result<usize, StopReason> {
        let mut at = node;
        let mut first = ancestor.is_some();
        loop {
            if !std::mem::take(&mut first) {
                if ancestor == Some(at) {
                    return Ok(at);
                }
                for (start, grown) in self.tree.nodes[at].enlarged.iter().rev() {
                    while grown.iter().any(|&(local, count)| self.needed.count(local) > count) {
                        self.walk(at, Some(*start))?;
                    }
                }
            }
            let Origin::Rule(number, before) = self.tree.nodes[at].origin else { return Ok(at) };
            let rule = &self.tree.system.rules[number as usize];
            self.needed = self.needed.minus(&rule.gives).plus(&rule.takes);
            self.rules.push(number);
            if self.rules.len() > Back::LONGEST {
                return Err(StopReason::GaveUp(format!("the run has more than {} steps", Back::LONGEST)));
            }
            at = before;
        }
    }
}

/// The count of a place.
fn of(label: &[(Local, u64)], local: Local) -> u64 {
    label.binary_search_by_key(&local, |&(at, _)| at).map_or(0, |index| label[index].1)
}

/// Whether the first is nowhere larger.
fn within(small: &[(Local, u64)], large: &[(Local, u64)]) -> bool {
    if small.len() > large.len() {
        return false;
    }
    let mut large = large.iter();
    small.iter().all(|&(local, count)| {
        large.by_ref().find(|&&(at, _)| at >= local).is_some_and(|&(at, most)| at == local && count <= most)
    })
}

/// What a rule makes of a label; ω stays ω.
fn fire(label: &[(Local, u64)], takes: &Bag, gives: &Bag) -> Option<Label> {
    if !takes.iter().all(|(local, count)| count <= of(label, local)) {
        return None;
    }
    let left = label.iter().map(|&(local, count)| match count {
        ANY => (local, ANY),
        _ => (local, count - takes.count(local)),
    });
    let mut after: Label = left.filter(|&(_, count)| count > 0).collect();
    for (local, count) in gives.iter() {
        match after.binary_search_by_key(&local, |&(at, _)| at) {
            Ok(index) => after[index].1 = after[index].1.saturating_add(count),
            Err(index) => after.insert(index, (local, count)),
        }
    }
    Some(after)
}
