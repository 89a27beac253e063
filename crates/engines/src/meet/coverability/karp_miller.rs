//! Karp and Miller's tree (*Parallel program schemata*, 1969), for systems whose rules only take and give, as far as they can
//! fire at all. It gives up where another rule can.
//!
//! A node is a shared state and for each place a number of tokens or [any number](ANY) (ω). If a node is strictly larger than
//! one of its ancestors, what lies between can be repeated, so where it has more it gets ω. What lies between is remembered as a
//! [loop](super::loops) for all nodes (as in Finkel, Haddad and Khmelnitsky, *Minimal coverability tree construction made
//! complete and efficient*, FoSSaCS 2020). A new node that is within a node which is there already is left out, and a node that
//! is within a new one is not expanded any more. Nothing else is pruned: what was found from such a node stays (the published
//! ways to remove more are famously wrong).
//!
//! *Why it is right.* Let the largest nodes be those that are within no other. At the end they are all expanded, and each of
//! their successors is within a node that was kept at some time and so, since being within is an order, within a largest one:
//! what is within them is closed under the rules and contains what is initial, and is a proof if no target is. On the other
//! hand each ω of a node comes from a loop that can be repeated there: so for every target within a node there is a
//! run that covers it (`Tree::run`). *Why it ends.* On an infinite branch some node would be larger than or equal to an
//! ancestor; if equal, it is left out, if strictly larger, it gets an ω more than the ancestor had, and no ω is ever lost.
//!
//! *The order.* In turns the node with the most ω, and of these the latest, which is likely to contain others; and the node that
//! is nearest to a target by a [distance](Distance), for which ω counts as many as are wanted. With ω the distance sees what
//! can be pumped, so that targets which take thousands of tokens are near.
//!
//! *The run.* Walk back from the target with the tokens that are needed. At a rule, what it gives is not needed before it, and
//! what it takes is. At a node that was enlarged, if more is needed where it got ω than it had, walk back around the loop
//! once more: there is less to be needed each time. At the root, any number is any number.

use super::KARP_MILLER;
use super::antichain::Antichain;
use super::distance::{Distance, STEP, rank};
use super::firing::{ANY, Firing, open_row, within};
use super::loops::Loops;
use super::net::{Entry, count, entry, place};
use super::oracle::Oracle;
use super::shorten::shorten;
use crate::budget::{Budget, Progress};
use crate::engine::Outcome;
use allways_evidence::counters::{Basis, Limit, Run};
use allways_evidence::{StopReason, Verdict};
use allways_model::counters::{Bag, Configuration, Counters, Shared};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Decides, or gives up.
pub fn decide(system: &Counters, budget: &Budget) -> Outcome {
    let made = Oracle::new(system, budget)
        .and_then(|oracle| Ok((Firing::new(system, &oracle)?, Distance::new(system, &oracle))));
    let (firing, distance) = match made {
        Ok(made) => made,
        Err(reason) => return KARP_MILLER.outcome(Verdict::Unknown(reason), 0, 0),
    };
    let mut tree = Tree {
        system,
        firing,
        nodes: Vec::new(),
        largest: Antichain::default(),
        loops: Loops::new(system),
        waiting: BinaryHeap::new(),
        near: BinaryHeap::new(),
        distance,
        turn: false,
        stored: 0,
        images: 0,
    };
    let verdict = tree.grow(budget).unwrap_or_else(Verdict::Unknown);
    KARP_MILLER.outcome(verdict, tree.stored, tree.images)
}

/// All but the row, which the set of the largest has.
struct Node {
    shared: Shared,
    /// The rule and the node from which it was found; for a root, the number of the initial set.
    origin: Origin,
    /// How far it is from a target, at least, in thousandths of firings; and whether that was measured.
    distance: i64,
    measured: bool,
    steps: u32,
    expanded: bool,
    /// How it was enlarged, one after another: by what, and the places that got ω with what they had.
    enlarged: Vec<(Repeated, Vec<Entry>)>,
}

#[derive(Clone, Copy)]
enum Origin {
    Initial(usize),
    Rule(u32, usize),
}

/// What can be repeated.
#[derive(Clone, Copy)]
enum Repeated {
    /// What leads to the node from an ancestor.
    Since(usize),
    /// A loop that was remembered.
    Loop(usize),
}

struct Tree<'a> {
    system: &'a Counters,
    firing: Firing,
    nodes: Vec<Node>,
    largest: Antichain,
    loops: Loops,
    /// How many ω, and which node.
    waiting: BinaryHeap<(usize, usize)>,
    /// The same nodes, if distances can be measured, what seems nearest to a target first.
    near: BinaryHeap<Reverse<(i64, usize)>>,
    distance: Distance,
    turn: bool,
    stored: usize,
    images: u64,
}

impl Tree<'_> {
    fn grow(&mut self, budget: &Budget) -> Result<Verdict, StopReason> {
        const EVERY: u64 = 1 << 4;
        for (number, initial) in self.system.initial.iter().enumerate() {
            let row = open_row(initial)?;
            if let Some(target) = self.add(initial.shared, row, Origin::Initial(number)) {
                return self.run(target, budget);
            }
        }
        let (mut rules, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(node) = self.next() {
            if !self.largest.is_alive(node as u32) || std::mem::replace(&mut self.nodes[node].expanded, true)
            {
                continue;
            }
            let shared = self.nodes[node].shared;
            before.clear();
            before.extend_from_slice(self.largest.row(node as u32));
            self.firing.candidates(shared, &before, &mut rules);
            for &number in &rules {
                self.images += 1;
                if self.images.is_multiple_of(EVERY) {
                    let progress =
                        Progress { states: self.nodes.len(), images: self.images, ..Progress::default() };
                    budget.tick(&progress)?;
                }
                if !self.firing.fire(number, &before, &mut after)? {
                    continue;
                }
                let rule = &self.system.rules[number as usize];
                if !rule.is_plain() {
                    let why = format!("the rule of line {} does more than take and give tokens", rule.line);
                    return Err(StopReason::GaveUp(why));
                }
                if let Some(target) = self.add(rule.to, after.clone(), Origin::Rule(number, node)) {
                    return self.run(target, budget);
                }
                if !self.largest.is_alive(node as u32) {
                    // What is left to be found from it is found from the larger one.
                    break;
                }
            }
        }
        Ok(Verdict::from(Basis { bound: Some(self.limits()), ..Basis::default() }))
    }

    /// The node that is next: in turns the one with the most ω and the nearest.
    fn next(&mut self) -> Option<usize> {
        self.turn = !self.turn;
        while self.turn
            && let Some(Reverse((_, node))) = self.near.pop()
        {
            if !self.largest.is_alive(node as u32) || self.nodes[node].expanded {
                continue;
            }
            let Node { shared, measured, distance, .. } = &self.nodes[node];
            if !measured {
                // From where no target can be reached, nothing is near; it comes up among the others.
                let Some(now) = self.distance.measure(*shared, self.largest.row(node as u32)) else {
                    continue;
                };
                let farther = now > distance + STEP / 2;
                let node_now = &mut self.nodes[node];
                (node_now.distance, node_now.measured) = (now, true);
                if farther {
                    self.near.push(Reverse((rank(now, node_now.steps), node)));
                    continue;
                }
            }
            return Some(node);
        }
        self.waiting.pop().map(|(_, node)| node)
    }

    /// Adds a node unless it is within one that is there. If a target is within it, gives the node and the target.
    fn add(&mut self, shared: Shared, mut row: Vec<Entry>, origin: Origin) -> Option<(usize, Bag)> {
        if self.largest.has_larger(shared, &row) {
            return None;
        }
        let enlarged = self.enlarge(shared, &mut row, origin);
        if !enlarged.is_empty() && self.largest.has_larger(shared, &row) {
            return None;
        }
        let bad = self.system.targets.iter().find(|target| {
            let enough = |(local, tokens): (u32, u64)| tokens <= tokens_of(&row, local);
            target.shared.is_none_or(|only| only == shared) && target.tokens.iter().all(enough)
        });
        let node = self.nodes.len();
        self.largest.insert_above(shared, &row);
        self.waiting.push((row.iter().filter(|&&entry| count(entry) == ANY).count(), node));
        let (distance, steps) = match origin {
            Origin::Initial(_) => (0, 0),
            Origin::Rule(_, before) => (self.nodes[before].distance - STEP, self.nodes[before].steps + 1),
        };
        let distance = if enlarged.is_empty() { distance.max(0) } else { 0 };
        let added = Node { shared, origin, distance, measured: false, steps, expanded: false, enlarged };
        if self.distance.is_quick() {
            self.near.push(Reverse((rank(added.distance, added.steps), node)));
        }
        self.nodes.push(added);
        self.stored += 1;
        bad.map(|target| (node, target.tokens.clone()))
    }

    /// Gives ω where the row is larger than that of an ancestor which is nowhere larger, and where a loop that is known gives
    /// more, as often as that helps.
    fn enlarge(
        &mut self,
        shared: Shared,
        row: &mut Vec<Entry>,
        origin: Origin,
    ) -> Vec<(Repeated, Vec<Entry>)> {
        let mut enlarged = Vec::new();
        loop {
            let before = enlarged.len();
            while let Some((number, grown)) = self.loops.enlarge(shared, row) {
                enlarged.push((Repeated::Loop(number), grown));
            }
            let mut at = origin;
            // The rules since the ancestor, last first, as long as nothing was enlarged on the way.
            let mut rules = Some(Vec::new());
            while let Origin::Rule(rule, ancestor) = at {
                let node = &self.nodes[ancestor];
                at = node.origin;
                if let Some(rules) = &mut rules {
                    rules.push(rule);
                }
                let row_then = self.largest.row(ancestor as u32);
                let grown = match node.shared == shared && within(row_then, row) {
                    true => grown(row_then, row),
                    false => Vec::new(),
                };
                if !grown.is_empty() {
                    enlarge_to_any(row, &grown);
                    enlarged.push((Repeated::Since(ancestor), grown));
                    if let Some(rules) = &rules {
                        self.loops.learn(self.system, rules);
                    }
                }
                if !self.nodes[ancestor].enlarged.is_empty() {
                    rules = None;
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

    /// The largest nodes. What else the tree has is dropped before they are written down.
    fn limits(&mut self) -> Vec<Limit> {
        self.nodes = Vec::new();
        let largest = std::mem::take(&mut self.largest);
        let limit = |node: u32| {
            let tokens = largest.row(node).iter().map(|&entry| {
                let tokens = (count(entry) != ANY).then_some(u64::from(count(entry)));
                (place(entry), tokens)
            });
            Limit { shared: largest.shared(node), tokens: tokens.collect() }
        };
        let mut limits: Vec<Limit> = largest.iter().map(limit).collect();
        limits.sort_unstable_by(|one, other| (one.shared, &one.tokens).cmp(&(other.shared, &other.tokens)));
        limits
    }
}

/// Where the second row, which is nowhere smaller, has more, with what it has.
fn grown(small: &[Entry], large: &[Entry]) -> Vec<Entry> {
    let more =
        |&&entry: &&Entry| count(entry) != ANY && u64::from(count(entry)) > tokens_of(small, place(entry));
    large.iter().filter(more).copied().collect()
}

/// Gives ω to places.
pub fn enlarge_to_any(row: &mut Vec<Entry>, grown: &[Entry]) {
    for local in grown.iter().map(|&entry| place(entry)) {
        match row.binary_search_by_key(&local, |&entry| place(entry)) {
            Ok(index) => row[index] = entry(local, ANY),
            Err(index) => row.insert(index, entry(local, ANY)),
        }
    }
}

/// The count of a place; ω is more than any number.
fn tokens_of(row: &[Entry], local: u32) -> u64 {
    let found = row.binary_search_by_key(&local, |&entry| place(entry));
    found.map_or(0, |index| match count(row[index]) {
        ANY => u64::MAX,
        tokens => u64::from(tokens),
    })
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
                let tree = self.tree;
                for (repeated, grown) in tree.nodes[at].enlarged.iter().rev() {
                    let needs = |needed: &Bag| {
                        grown.iter().any(|&entry| needed.count(place(entry)) > u64::from(count(entry)))
                    };
                    while needs(&self.needed) {
                        match *repeated {
                            Repeated::Since(start) => _ = self.walk(at, Some(start))?,
                            Repeated::Loop(number) => {
                                let rules = tree.loops.rules(number);
                                rules.iter().try_for_each(|&rule| self.step(rule))?;
                            }
                        }
                    }
                }
            }
            let Origin::Rule(number, before) = self.tree.nodes[at].origin else { return Ok(at) };
            self.step(number)?;
            at = before;
        }
    }

    fn step(&mut self, number: u32) -> Result<(), StopReason> {
        let rule = &self.tree.system.rules[number as usize];
        self.needed = self.needed.minus(&rule.gives).plus(&rule.takes);
        self.rules.push(number);
        match self.rules.len() > Back::LONGEST {
            true => Err(StopReason::GaveUp(format!("the run has more than {} steps", Back::LONGEST))),
            false => Ok(()),
        }
    }
}
