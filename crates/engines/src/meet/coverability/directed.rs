//! Forward search with a distance: what seems nearest to a target goes first (Blondin, Haase and Offtermatt, *Directed
//! reachability for infinite-state systems*, TACAS 2021: the tool FastForward).
//!
//! Best first by the [steps](rank) so far and the [distance](Distance) that linear programs give. In small systems a program is
//! solved for each configuration when it is next: until then, a step leads at most one firing nearer. In large ones those
//! solved so far bound the distance of all, and another is solved when the search has gone on for a while
//! since the last one, for the configuration that is next. If that is further away than was known, it goes back to the queue,
//! and so does each that comes out of it and is further away by what was learned since it went in.
//!
//! Places that may have any number of tokens at the start have [any number](ANY), until a rule moves them away; how many it
//! takes is seen when the run is walked (`Search::concrete`): more tokens never hurt in a monotone system, and others are not
//! supported. Finds bugs and proves nothing.

use super::DIRECTED;
use super::board::{Board, Reader};
use super::distance::{Distance, STEP, rank};
use super::firing::{ANY, Firing, open_row, within};
use super::net::{Entry, configuration, row, too_many};
use super::oracle::Oracle;
use super::shorten::shorten;
use crate::budget::{Budget, Progress};
use crate::engine::Outcome;
use allways_evidence::counters::{Run, walk};
use allways_evidence::{StopReason, Verdict};
use allways_model::counters::{Configuration, Counters, Shared};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::BuildHasher;

/// Looks for a run that goes wrong.
pub fn decide(system: &Counters, budget: &Budget) -> Outcome {
    decide_within(system, usize::MAX, None, budget)
}

/// The same, which gives up when so many configurations are stored, and with what is told on a board.
pub fn decide_within(system: &Counters, most: usize, board: Option<&Board>, budget: &Budget) -> Outcome {
    let made = Search::new(system, most, board, budget);
    let mut search = match made {
        Ok(search) => search,
        Err(reason) => return DIRECTED.outcome(Verdict::Unknown(reason), 0, 0),
    };
    let verdict = search.run(budget).unwrap_or_else(Verdict::Unknown);
    DIRECTED.outcome(verdict, search.found.len(), search.images)
}

struct Found {
    start: usize,
    shared: Shared,
    steps: u32,
    /// How far it is from the target, at least, in thousandths; and whether that was measured for this configuration.
    distance: i64,
    measured: bool,
    /// The rule and the configuration before; for those to start from, the number of the initial set.
    origin: Origin,
}

#[derive(Clone, Copy)]
enum Origin {
    Initial(usize),
    Rule(u32, u32),
}

/// The rank, which it is, and how many programs had been solved when the rank was computed.
type Waiting = Reverse<(i64, u32, u32)>;

struct Search<'a> {
    system: &'a Counters,
    firing: Firing,
    distance: Distance,
    told: Option<Reader<'a>>,
    most: usize,
    /// The targets as rows.
    targets: Vec<(Option<Shared>, Vec<Entry>)>,
    arena: Vec<Entry>,
    found: Vec<Found>,
    seen: HashTable<u32>,
    waiting: BinaryHeap<Waiting>,
    /// How many programs said something new.
    learned: u32,
    images: u64,
}

impl<'a> Search<'a> {
    fn new(
        system: &'a Counters,
        most: usize,
        board: Option<&'a Board>,
        budget: &Budget,
    ) -> Result<Search<'a>, StopReason> {
        if !system.is_monotone() {
            let why = "tests for an exact number are not supported by a search with a distance";
            return Err(StopReason::GaveUp(why.to_string()));
        }
        let oracle = Oracle::new(system, budget)?;
        let targets = system.targets.iter().map(|target| Ok((target.shared, row(&target.tokens)?)));
        Ok(Search {
            system,
            firing: Firing::new(system, &oracle)?,
            distance: Distance::new(system, &oracle),
            told: board.map(|board| Reader::new(board, system)),
            most,
            targets: targets.collect::<Result<_, _>>()?,
            arena: Vec::new(),
            found: Vec::new(),
            seen: HashTable::new(),
            waiting: BinaryHeap::new(),
            learned: 0,
            images: 0,
        })
    }

    fn run(&mut self, budget: &Budget) -> Result<Verdict, StopReason> {
        const EVERY: u64 = 1 << 8;
        for (number, initial) in self.system.initial.iter().enumerate() {
            let row = open_row(initial)?;
            if let Some(verdict) = self.add(initial.shared, &row, Origin::Initial(number), budget)? {
                return Ok(verdict);
            }
        }
        let mut pause = self.distance.size() as u64;
        let (mut next_program, mut next_look) = (0, 0);
        let (mut rules, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(Reverse((rank, number, learned))) = self.waiting.pop() {
            let shared = self.found[number as usize].shared;
            before.clear();
            before.extend_from_slice(self.row(number));
            if learned < self.learned {
                let now = self.rank(number);
                if now > rank {
                    self.waiting.push(Reverse((now, number, self.learned)));
                    continue;
                }
            }
            if self.distance.is_quick() {
                if !self.found[number as usize].measured {
                    let Some(distance) = self.distance.measure(shared, &before) else { continue };
                    let found = &mut self.found[number as usize];
                    let farther = distance > found.distance + STEP / 2;
                    (found.distance, found.measured) = (distance, true);
                    if farther {
                        self.waiting.push(Reverse((self.rank(number), number, self.learned)));
                        continue;
                    }
                }
            } else if self.images >= next_program {
                next_program = self.images + pause;
                if self.distance.learn(shared, &before, budget)? {
                    self.learned += 1;
                    self.waiting.push(Reverse((self.rank(number), number, self.learned)));
                    continue;
                }
                pause = pause.saturating_mul(2);
            }
            if let Some(rest) = self.told.as_mut().and_then(|told| told.lead(&configuration(shared, &before)))
            {
                let rest = rest.to_vec();
                return self.concrete(number, rest, budget);
            }
            self.firing.candidates(shared, &before, &mut rules);
            for &rule in &rules {
                self.images += 1;
                if self.images >= next_look {
                    next_look = self.images + EVERY;
                    let progress =
                        Progress { states: self.found.len(), images: self.images, ..Progress::default() };
                    budget.tick(&progress)?;
                }
                if !self.firing.fire(rule, &before, &mut after)? {
                    continue;
                }
                let origin = Origin::Rule(rule, number);
                if let Some(verdict) = self.add(self.firing.to(rule), &after, origin, budget)? {
                    return Ok(verdict);
                }
            }
            if self.found.len() > self.most {
                return Err(StopReason::Bound(format!("{} configurations", self.most)));
            }
        }
        Err(StopReason::Bound("all that can be reached, but a search forward gives no proof".to_string()))
    }

    /// What comes first is least.
    fn rank(&self, number: u32) -> i64 {
        let found = &self.found[number as usize];
        let remaining = match self.distance.is_quick() {
            true => found.distance,
            false => self.distance.at_least(found.shared, self.row(number)),
        };
        rank(remaining, found.steps)
    }

    fn row(&self, number: u32) -> &[Entry] {
        let end = self.found.get(number as usize + 1).map_or(self.arena.len(), |next| next.start);
        &self.arena[self.found[number as usize].start..end]
    }

    /// Adds a configuration, unless it is known. If it is bad, gives the run.
    fn add(
        &mut self,
        shared: Shared,
        row: &[Entry],
        origin: Origin,
        budget: &Budget,
    ) -> Result<Option<Verdict>, StopReason> {
        let hash = FxBuildHasher.hash_one((shared, row));
        let same = |&other: &u32| self.found[other as usize].shared == shared && self.row(other) == row;
        if self.seen.find(hash, same).is_some() {
            return Ok(None);
        }
        let number = u32::try_from(self.found.len()).map_err(|_| too_many())?;
        let (steps, distance) = match origin {
            Origin::Initial(_) => (0, 0),
            Origin::Rule(_, before) => {
                let before = &self.found[before as usize];
                (before.steps + 1, (before.distance - STEP).max(0))
            }
        };
        self.found.push(Found { start: self.arena.len(), shared, steps, distance, measured: false, origin });
        self.arena.extend_from_slice(row);
        let bad = self
            .targets
            .iter()
            .any(|(only, tokens)| only.is_none_or(|only| only == shared) && within(tokens, row));
        if bad {
            return self.concrete(number, Vec::new(), budget).map(Some);
        }
        self.waiting.push(Reverse((self.rank(number), number, self.learned)));
        let (found, arena) = (&self.found, &self.arena);
        let rehash = |&other: &u32| {
            let end = found.get(other as usize + 1).map_or(arena.len(), |next| next.start);
            let found = &found[other as usize];
            FxBuildHasher.hash_one((found.shared, &arena[found.start..end]))
        };
        self.seen.insert_unique(hash, number, rehash);
        Ok(None)
    }

    /// The run to a configuration, and some rules more, with as many tokens at the start as it takes.
    fn concrete(&self, number: u32, rest: Vec<u32>, budget: &Budget) -> Result<Verdict, StopReason> {
        let mut rules = rest;
        rules.reverse();
        let mut at = number;
        let initial = loop {
            match self.found[at as usize].origin {
                Origin::Rule(rule, before) => {
                    rules.push(rule);
                    at = before;
                }
                Origin::Initial(initial) => break &self.system.initial[initial],
            }
        };
        rules.reverse();
        let with = |more: u64| {
            let mut tokens = initial.tokens.clone();
            initial.any.iter().for_each(|&local| tokens.add(local, more));
            Run { initial: Configuration { shared: initial.shared, tokens }, rules: rules.clone() }
        };
        let enough = |more: u64| walk(self.system, &with(more)).is_ok();
        // More than `below` in each open place, and not more than `more`.
        let (mut below, mut more) = (0, 0);
        while !enough(more) {
            budget.check()?;
            if more >= u64::from(ANY) || initial.any.is_empty() {
                return Err(StopReason::GaveUp("a run that was found cannot be walked".to_string()));
            }
            (below, more) = (more, (2 * more).max(1));
        }
        while more > below + 1 && budget.check().is_ok() {
            let middle = below.midpoint(more);
            if enough(middle) { more = middle } else { below = middle }
        }
        Ok(Verdict::from(shorten(self.system, with(more), budget)))
    }
}
