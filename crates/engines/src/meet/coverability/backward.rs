//! Backward search (UCOB, Algorithm 1): from the bad configurations to all from which one can be covered.
//!
//! Invariant: each member of the basis can, by relaxed rules, lead to a configuration that covers the one it was found from;
//! and each predecessor of a member that was expanded is in the upward closure of the basis, or outside of the bound of the
//! oracle and the invariants.
//! So when all live members are expanded, the basis is a proof; and as soon as an initial configuration covers a member, the
//! rules on the way from it are a run. Members with few tokens are expanded first: they make others superfluous.
//!
//! A search that takes long asks whether the member that is next can be excluded by [linear programming](Linear): in small systems
//! of each member, in large ones now and then. If so, it learns the weights, and this member and all others that are too heavy
//! are outside of the bound from then on. That they are still in the basis does no harm: what covers them is outside as well.
//! If not, the same program says how many firings it takes from the start at least, and every other member that is expanded is
//! one for which these are few.

use super::basis::Basis;
use super::board::Board;
use super::distance::{STEP, rank};
use super::invariants::Invariants;
use super::linear::{Linear, Way};
use super::net::{Entry, Net, Rows, configuration, count, row};
use super::oracle::Oracle;
use super::{BACKWARD, confirm_exactly};
use crate::budget::{Budget, Progress};
use crate::engine::Outcome;
use allways_evidence::counters::{self, Run};
use allways_evidence::{StopReason, Verdict};
use allways_model::counters::{Configuration, Counters, Shared};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Decides, or gives up.
pub fn decide(system: &Counters, budget: &Budget) -> Outcome {
    decide_telling(system, None, before_cuts(system), budget)
}

/// So many images are computed before weights are looked for: most systems take fewer, and a linear program takes about as
/// long.
pub fn before_cuts(system: &Counters) -> u64 {
    (64 * system.rules.len() as u64).max(1 << 10)
}

/// The same; tells on a board what it finds, and looks for weights after so many images.
pub fn decide_telling(
    system: &Counters,
    board: Option<&Board>,
    before_cuts: u64,
    budget: &Budget,
) -> Outcome {
    let made = Oracle::new(system, budget).and_then(|oracle| Ok((Net::new(system, &oracle)?, oracle)));
    let (net, oracle) = match made {
        Ok(made) => made,
        Err(reason) => return BACKWARD.outcome(Verdict::Unknown(reason), 0, 0),
    };
    let mut search = Search {
        system,
        net,
        oracle,
        invariants: Invariants::new(system),
        basis: Basis::new(system.locals.len()),
        origins: Vec::new(),
        waiting: BinaryHeap::new(),
        near: BinaryHeap::new(),
        ways: Vec::new(),
        turn: false,
        board,
        images: 0,
        before_cuts,
        cuts: None,
    };
    let verdict = search.run(budget).unwrap_or_else(Verdict::Unknown);
    BACKWARD.outcome(verdict, search.basis.stored(), search.images)
}

struct Search<'a> {
    system: &'a Counters,
    net: Net,
    oracle: Oracle,
    invariants: Invariants,
    basis: Basis,
    /// For each member, the rule and the member that it leads to; `None` for targets.
    origins: Vec<Option<(u32, u32)>>,
    /// Members to be expanded, those with few tokens first, then the older.
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
    /// The same, those first that seem nearest to the start, once that is measured.
    near: BinaryHeap<Reverse<(i64, u32)>>,
    ways: Vec<Known>,
    turn: bool,
    board: Option<&'a Board>,
    images: u64,
    before_cuts: u64,
    cuts: Option<Cuts>,
}

/// What is known of a member.
#[derive(Clone, Copy)]
struct Known {
    /// How many firings it takes from the start at least, in thousandths; and whether that was measured.
    distance: i64,
    measured: bool,
    /// How many firings it takes to the target.
    steps: u32,
    expanded: bool,
}

/// More weights than this are not learned: all of them are asked about each configuration.
const MOST_WEIGHTS: usize = 1 << 12;

/// When to look for weights that exclude a member.
struct Cuts {
    linear: Linear,
    /// Not before so many images, and after a vain attempt not for so many more: twice as many each time.
    next: u64,
    pause: u64,
}

impl Search<'_> {
    fn run(&mut self, budget: &Budget) -> Result<Verdict, StopReason> {
        const EVERY: u64 = 1 << 12;
        for bad in self.system.bad() {
            let tokens = row(&bad.tokens)?;
            if let Some(run) = self.add(bad.shared, &tokens, None) {
                return Ok(confirm_exactly(self.system, run));
            }
        }
        let mut rules = Vec::new();
        let mut found = Rows::default();
        let mut look = 0;
        while let Some(member) = self.next() {
            if !self.basis.is_alive(member) || self.ways[member as usize].expanded {
                continue;
            }
            let shared = self.basis.shared(member);
            if !self.invariants.allow(shared, self.basis.row(member)) || self.cut(member, budget)? {
                continue;
            }
            self.ways[member as usize].expanded = true;
            if let Some(board) = self.board.filter(|board| board.has_room()) {
                board.tell(configuration(shared, self.basis.row(member)), self.rules_from(member));
            }
            self.net.leading_to(shared, self.basis.row(member), &mut rules);
            for &number in &rules {
                let rule = self.net.rule(number);
                let from = rule.from;
                rule.pre(self.basis.row(member), &mut found)?;
                for tokens in found.iter() {
                    self.images += 1;
                    if let Some(run) = self.add(from, tokens, Some((number, member))) {
                        return Ok(confirm_exactly(self.system, run));
                    }
                }
                if self.images >= look {
                    look = self.images + EVERY;
                    budget.tick(&Progress {
                        states: self.basis.len(),
                        images: self.images,
                        ..Progress::default()
                    })?;
                }
                if !self.basis.is_alive(member) {
                    // What is left to be found from it is found from the smaller one.
                    break;
                }
            }
        }
        // Those that were excluded later are outside of the bound.
        let weights = self.invariants.weights();
        let light = |member: &Configuration| weights.iter().all(|weights| weights.allow(member));
        let members = self.basis.members().filter(light).collect();
        Ok(Verdict::from(counters::Basis { bound: Some(self.oracle.limits(budget)?), weights, members }))
    }

    /// The member that is next: in turns the one with the fewest tokens and the nearest.
    fn next(&mut self) -> Option<u32> {
        self.turn = !self.turn;
        let nearest =
            |near: &mut BinaryHeap<Reverse<(i64, u32)>>| near.pop().map(|Reverse((_, member))| member);
        let smallest = |waiting: &mut BinaryHeap<_>| waiting.pop().map(|Reverse((_, member))| member);
        // What was put back is among the near ones alone.
        match self.turn {
            true => nearest(&mut self.near).or_else(|| smallest(&mut self.waiting)),
            false => smallest(&mut self.waiting).or_else(|| nearest(&mut self.near)),
        }
    }

    /// Whether a member is not to be expanded now. Weights that exclude it are learned.
    fn cut(&mut self, member: u32, budget: &Budget) -> Result<bool, StopReason> {
        if self.images < self.before_cuts {
            return Ok(false);
        }
        let cuts = self.cuts.get_or_insert_with(|| {
            let linear = Linear::new(self.system, &self.oracle);
            Cuts { pause: linear.size() as u64, next: 0, linear }
        });
        if self.images < cuts.next {
            return Ok(cuts.linear.is_quick() && self.measure(member));
        }
        if let Some(weights) =
            cuts.linear.exclude(self.basis.shared(member), self.basis.row(member), budget)?
        {
            self.invariants.learn(self.system, weights);
            return Ok(true);
        }
        cuts.next = self.images + cuts.pause;
        cuts.pause = cuts.pause.saturating_mul(2);
        Ok(cuts.linear.is_quick() && self.measure(member))
    }

    /// Measures how far a member is from the start. Says whether it is not to be expanded now: it cannot be reached, or is
    /// further away than it seemed.
    fn measure(&mut self, member: u32) -> bool {
        if self.ways[member as usize].measured {
            return false;
        }
        let Some(cuts) = &mut self.cuts else { return false };
        match cuts.linear.way(self.basis.shared(member), self.basis.row(member)) {
            Way::None(weights) if self.invariants.len() < MOST_WEIGHTS => {
                self.invariants.learn(self.system, weights);
                true
            }
            Way::None(_) => false,
            Way::AtLeast(firings) => {
                let known = &mut self.ways[member as usize];
                let distance = (firings * STEP as f64) as i64;
                let farther = self.turn && distance > known.distance + STEP / 2;
                *known = Known { distance, measured: true, ..*known };
                if farther {
                    self.near.push(Reverse((rank(known.distance, known.steps), member)));
                }
                farther
            }
        }
    }

    /// Adds a configuration, unless it is known or cannot occur. If an initial one covers it, gives the run from there.
    fn add(&mut self, shared: Shared, tokens: &[Entry], origin: Option<(u32, u32)>) -> Option<Run> {
        let possible = self.oracle.allows(shared, tokens) && self.invariants.allow(shared, tokens);
        if !possible || self.basis.contains(shared, tokens) {
            return None;
        }
        let member = self.basis.insert(shared, tokens);
        self.origins.push(origin);
        let total = tokens.iter().map(|&entry| u64::from(count(entry))).sum();
        self.waiting.push(Reverse((total, member)));
        let mut known = Known { distance: 0, measured: false, steps: 0, expanded: false };
        if let Some((_, before)) = origin {
            let before = self.ways[before as usize];
            known.distance = (before.distance - STEP).max(0);
            known.steps = before.steps + 1;
        }
        self.ways.push(known);
        if self.cuts.as_ref().is_some_and(|cuts| cuts.linear.is_quick()) {
            self.near.push(Reverse((rank(known.distance, known.steps), member)));
        }
        let configuration = configuration(shared, tokens);
        let initial = self.system.initial.iter().find_map(|initial| initial.covering(&configuration))?;
        Some(Run { initial, rules: self.rules_from(member) })
    }

    /// The rules by which a member leads to a target.
    fn rules_from(&self, member: u32) -> Vec<u32> {
        let mut rules = Vec::new();
        let mut at = member;
        while let Some((rule, next)) = self.origins[at as usize] {
            rules.push(rule);
            at = next;
        }
        rules
    }
}
