//! Backward search (UCOB, Algorithm 1): from the bad configurations to all from which one can be covered.
//!
//! Invariant: each member of the basis can, by relaxed rules, lead to a configuration that covers the one it was found from;
//! and each predecessor of a member that was expanded is in the upward closure of the basis, or outside of the bound of the
//! oracle and the invariants.
//! So when all live members are expanded, the basis is a proof; and as soon as an initial configuration covers a member, the
//! rules on the way from it are a run. Members with few tokens are expanded first: they make others superfluous.

use super::basis::Basis;
use super::board::Board;
use super::invariants::Invariants;
use super::net::{Entry, Net, Rows, configuration, count, row};
use super::oracle::Oracle;
use super::{Method, Report, exactly};
use crate::engine::{Progress, Watch};
use allways_evidence::counters::{self, Run};
use allways_evidence::{StopReason, Verdict};
use allways_model::counters::{Counters, Shared};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Decides, or gives up.
pub fn decide(system: &Counters, watch: &Watch) -> Report {
    decide_telling(system, None, watch)
}

/// The same, and tells on a board what it finds.
pub fn decide_telling(system: &Counters, board: Option<&Board>, watch: &Watch) -> Report {
    let made = Net::new(system).and_then(|net| Ok((net, Oracle::new(system, watch)?)));
    let (net, oracle) = match made {
        Ok(made) => made,
        Err(reason) => return Report::unknown(Method::Backward, reason),
    };
    let mut search = Search {
        system,
        net,
        oracle,
        invariants: Invariants::new(system),
        basis: Basis::new(system.locals.len()),
        origins: Vec::new(),
        waiting: BinaryHeap::new(),
        board,
        images: 0,
    };
    let verdict = search.run(watch).unwrap_or_else(Verdict::Unknown);
    Report { verdict, method: Method::Backward, stored: search.basis.stored(), images: search.images }
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
    board: Option<&'a Board>,
    images: u64,
}

impl Search<'_> {
    fn run(&mut self, watch: &Watch) -> Result<Verdict, StopReason> {
        const EVERY: u64 = 1 << 12;
        for bad in self.system.bad() {
            let tokens = row(&bad.tokens)?;
            if let Some(run) = self.add(bad.shared, &tokens, None) {
                return Ok(exactly(self.system, run));
            }
        }
        let mut rules = Vec::new();
        let mut found = Rows::default();
        let mut look = 0;
        while let Some(Reverse((_, member))) = self.waiting.pop() {
            if !self.basis.is_alive(member) {
                continue;
            }
            let shared = self.basis.shared(member);
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
                        return Ok(exactly(self.system, run));
                    }
                }
                if self.images >= look {
                    look = self.images + EVERY;
                    watch.check(&Progress {
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
        let members = self.basis.members().collect();
        Ok(Verdict::from(counters::Basis {
            bound: Some(self.oracle.limits(watch)?),
            weights: self.invariants.weights(),
            members,
        }))
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
