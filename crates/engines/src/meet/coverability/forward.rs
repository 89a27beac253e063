//! Forward search, breadth first, exactly: one more thread, then two, three, … in each place that may have any number.
//!
//! Finds bugs, with runs that are short, and proves nothing unless there is nothing to be added: threads that start others can
//! go on for ever. So each round explores all numbers of threads so far, up to a budget of configurations that grows from
//! round to round. In a monotone system a configuration that is covered by one that was seen is left out: whatever it can
//! cover, the other can.

use super::FORWARD;
use super::board::{Board, Reader};
use crate::budget::{Budget, Progress};
use crate::engine::Outcome;
use allways_evidence::counters::Run;
use allways_evidence::{StopReason, Verdict};
use allways_model::counters::step::step;
use allways_model::counters::{Configuration, Counters, Initial, Rule, Shared};
use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

/// Looks for a run that goes wrong.
pub fn decide(system: &Counters, budget: &Budget) -> Outcome {
    decide_within(system, Effort { images: u64::MAX, stored: usize::MAX }, None, budget)
}

/// When to give up.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// When so many successors were computed.
    pub images: u64,
    /// From one start, when so many configurations are stored.
    pub stored: usize,
}

/// The same with a limited effort, and with what is told on a board.
pub fn decide_within(system: &Counters, effort: Effort, board: Option<&Board>, budget: &Budget) -> Outcome {
    let mut search = Search::new(system, effort, board);
    let verdict = search.run(budget).unwrap_or_else(Verdict::Unknown);
    FORWARD.outcome(verdict, search.stored, search.images)
}

struct Search<'a> {
    system: &'a Counters,
    /// By the shared state before them.
    rules: Vec<Vec<(u32, &'a Rule)>>,
    effort: Effort,
    told: Option<Reader<'a>>,
    stored: usize,
    images: u64,
}

/// How one exploration ended.
enum Explored {
    Found(Run),
    /// All there is.
    All,
    /// The budget was used up.
    Part,
}

impl<'a> Search<'a> {
    fn new(system: &'a Counters, effort: Effort, board: Option<&'a Board>) -> Search<'a> {
        let mut rules: Vec<Vec<(u32, &Rule)>> = vec![Vec::new(); system.shared.len()];
        let mut seen = HashSet::new();
        for (number, rule) in system.rules.iter().enumerate() {
            if seen.insert(Rule { line: 0, ..rule.clone() }) {
                rules[rule.from.index()].push((number as u32, rule));
            }
        }
        let told = board.map(|board| Reader::new(board, system));
        Search { system, rules, effort, told, stored: 0, images: 0 }
    }

    /// The rules from a configuration to one that is bad, if it is, or if they are known.
    fn goal(&mut self, configuration: &Configuration) -> Option<Vec<u32>> {
        if self.system.is_bad(configuration) {
            return Some(Vec::new());
        }
        Some(self.told.as_mut()?.lead(configuration)?.to_vec())
    }

    fn run(&mut self, budget: &Budget) -> Result<Verdict, StopReason> {
        let mut room = self.effort.stored.min(1 << 10);
        // The sets of initial configurations, and how many tokens more there are, that were not explored to the end.
        let mut open: Vec<(&Initial, u64)> = Vec::new();
        for more in 0.. {
            // Where nothing can happen, rounds cost nothing but are many.
            self.images += 1;
            budget.tick(&Progress { images: self.images, ..Progress::default() })?;
            self.spent()?;
            let new = self.system.initial.iter().filter(|initial| more == 0 || !initial.any.is_empty());
            open.extend(new.map(|initial| (initial, more)));
            if open.is_empty() {
                break;
            }
            let mut unfinished = Vec::new();
            for (initial, more) in open {
                let starts = starts(initial, more, self.system.is_monotone());
                match self.explore(starts, room, budget)? {
                    Explored::Found(run) => return Ok(Verdict::from(run)),
                    Explored::All => {}
                    Explored::Part if room >= self.effort.stored => {}
                    Explored::Part => unfinished.push((initial, more)),
                }
            }
            open = unfinished;
            room = room.saturating_mul(2).min(self.effort.stored);
        }
        Err(StopReason::Bound("all that can be reached, but a search forward gives no proof".to_string()))
    }

    fn spent(&self) -> Result<(), StopReason> {
        match self.images > self.effort.images {
            true => Err(StopReason::Bound(format!("{} steps", self.effort.images))),
            false => Ok(()),
        }
    }

    fn explore(
        &mut self,
        starts: Vec<Configuration>,
        room: usize,
        budget: &Budget,
    ) -> Result<Explored, StopReason> {
        const EVERY: u64 = 1 << 6;
        let mut seen = Seen { monotone: self.system.is_monotone(), ..Seen::default() };
        // Where each configuration comes from; `None` for those to start from.
        let mut found: Vec<(Configuration, Option<(u32, u32)>)> = Vec::new();
        for start in starts {
            if let Some(rules) = self.goal(&start) {
                return Ok(Explored::Found(Run { initial: start, rules }));
            }
            if seen.insert(&start) {
                found.push((start, None));
            }
        }
        let mut next = 0;
        while next < found.len() {
            if found.len() > room {
                return Ok(Explored::Part);
            }
            let shared = found[next].0.shared;
            for index in 0..self.rules[shared.index()].len() {
                let (number, rule) = self.rules[shared.index()][index];
                self.images += 1;
                if self.images.is_multiple_of(EVERY) {
                    let progress =
                        Progress { states: found.len(), images: self.images, ..Progress::default() };
                    budget.tick(&progress)?;
                }
                let Some(after) = step(rule, &found[next].0) else { continue };
                if let Some(rest) = self.goal(&after) {
                    let mut run = run(&found, next, number);
                    run.rules.extend(rest);
                    return Ok(Explored::Found(run));
                }
                if seen.insert(&after) {
                    self.stored += 1;
                    found.push((after, Some((number, next as u32))));
                }
            }
            next += 1;
            self.spent()?;
        }
        Ok(Explored::All)
    }
}

/// The run to a configuration, and one rule more.
fn run(found: &[(Configuration, Option<(u32, u32)>)], mut at: usize, last: u32) -> Run {
    let mut rules = vec![last];
    while let Some((rule, before)) = found[at].1 {
        rules.push(rule);
        at = before as usize;
    }
    rules.reverse();
    Run { initial: found[at].0.clone(), rules }
}

/// Initial configurations with so many tokens more. In a monotone system those with fewer in some places do nothing else;
/// otherwise they may, and are tried as long as they are few.
fn starts(initial: &Initial, more: u64, monotone: bool) -> Vec<Configuration> {
    const FEW: u64 = 256;
    let with = |added: &[u64]| {
        let mut tokens = initial.tokens.clone();
        initial.any.iter().zip(added).for_each(|(&local, &count)| tokens.add(local, count));
        Configuration { shared: initial.shared, tokens }
    };
    let places = initial.any.len();
    let many = (more + 1).checked_pow(places as u32).is_none_or(|ways| ways > FEW);
    if monotone || many {
        return vec![with(&vec![more; places])];
    }
    let mut ways = vec![Vec::new()];
    for _ in 0..places {
        ways =
            ways.iter().flat_map(|way| (0..=more).map(move |count| [&way[..], &[count]].concat())).collect();
    }
    ways.retain(|way| way.iter().max().is_none_or(|&most| most == more));
    ways.iter().map(|way| with(way)).collect()
}

/// What was seen.
#[derive(Default)]
struct Seen {
    monotone: bool,
    exact: HashSet<Configuration, FxBuildHasher>,
    /// By shared state, for a few of them, whether they cover.
    recent: HashMap<Shared, Vec<Configuration>, FxBuildHasher>,
}

impl Seen {
    /// How many of a shared state are compared.
    const COMPARED: usize = 64;

    fn insert(&mut self, configuration: &Configuration) -> bool {
        if !self.exact.insert(configuration.clone()) {
            return false;
        }
        if !self.monotone {
            return true;
        }
        let recent = self.recent.entry(configuration.shared).or_default();
        if recent.iter().any(|other| other.covers(configuration)) {
            return false;
        }
        recent.retain(|other| !configuration.covers(other));
        if recent.len() < Seen::COMPARED {
            recent.push(configuration.clone());
        }
        true
    }
}
