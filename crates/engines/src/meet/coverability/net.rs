//! The rules of a counter system, in a form that is fast to use backward, and configurations as packed rows.
//!
//! A row is sorted by place; each entry is a place in the upper and a count in the lower 32 bits. A predecessor by a rule is
//! what the rule takes, and for each token that is wanted and not given a place where it was before ([`Packed::pre`]).
//! Rules that cannot lead to a configuration from one that does not cover it are not even looked at: those that keep the
//! shared state, move nothing, and give nothing that is in it. (This is the sharpening of UCOB, section V, by which the added
//! thread must change the shared state; unlike there it does not drop threads that start others or broadcast.)

use super::oracle::Oracle;
use allways_evidence::StopReason;
use allways_model::counters::{Bag, Configuration, Counters, Local, Rule, Shared};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use std::collections::HashSet;

/// A place and a count.
pub type Entry = u64;

/// Packs a place and a count.
pub fn entry(local: Local, count: u32) -> Entry {
    u64::from(local) << 32 | u64::from(count)
}

/// The place of an entry.
pub fn place(entry: Entry) -> Local {
    (entry >> 32) as u32
}

/// The count of an entry.
pub fn count(entry: Entry) -> u32 {
    entry as u32
}

/// A configuration as values of the model.
pub fn configuration(shared: Shared, row: &[Entry]) -> Configuration {
    let tokens = row.iter().map(|&entry| (place(entry), u64::from(count(entry)))).collect();
    Configuration { shared, tokens }
}

/// A multiset as a row.
pub fn row(bag: &Bag) -> Result<Vec<Entry>, StopReason> {
    bag.iter().map(|(local, count)| Ok(entry(local, narrow(count)?))).collect()
}

fn narrow(count: u64) -> Result<u32, StopReason> {
    u32::try_from(count).map_err(|_| too_many())
}

/// Why a search ends where a count does not fit.
pub fn too_many() -> StopReason {
    StopReason::GaveUp("more than 4294967295 threads in one local state".to_string())
}

/// A rule, packed.
pub struct Packed {
    /// The shared state before.
    pub from: Shared,
    takes: Vec<Entry>,
    gives: Vec<Entry>,
    /// Whether it only takes and gives.
    plain: bool,
    /// Where the tokens of a place come from, for the places where that is not the place itself.
    sources: HashMap<Local, Vec<Local>, FxBuildHasher>,
}

/// The rules.
pub struct Net {
    rules: Vec<Packed>,
    /// By the shared state after them, those that change it or move.
    always: Vec<Vec<u32>>,
    /// By the shared state and what they give, the others.
    giving: HashMap<(Shared, Local), Vec<u32>, FxBuildHasher>,
}

/// The most predecessors by one rule.
const MOST: usize = 1 << 20;

impl Net {
    /// Packs the rules of a system. Equal ones are kept once, and those that cannot fire are never looked at.
    pub fn new(system: &Counters, oracle: &Oracle) -> Result<Net, StopReason> {
        let mut net = Net {
            rules: Vec::with_capacity(system.rules.len()),
            always: vec![Vec::new(); system.shared.len()],
            giving: HashMap::default(),
        };
        let mut seen = HashSet::new();
        for (number, rule) in system.rules.iter().enumerate() {
            net.rules.push(Packed::new(rule)?);
            if !oracle.can_fire(rule) || !seen.insert(Rule { line: 0, ..rule.clone() }) {
                continue;
            }
            if rule.from != rule.to || !rule.is_plain() {
                net.always[rule.to.index()].push(number as u32);
                continue;
            }
            for (local, _) in rule.gives.iter() {
                net.giving.entry((rule.to, local)).or_default().push(number as u32);
            }
        }
        Ok(net)
    }

    /// The rules that can lead to a configuration from one that does not cover it.
    pub fn leading_to(&self, shared: Shared, row: &[Entry], rules: &mut Vec<u32>) {
        rules.clear();
        rules.extend(&self.always[shared.index()]);
        for &entry in row {
            rules.extend(self.giving.get(&(shared, place(entry))).into_iter().flatten());
        }
        rules.sort_unstable();
        rules.dedup();
    }

    /// A rule.
    pub fn rule(&self, number: u32) -> &Packed {
        &self.rules[number as usize]
    }
}

impl Packed {
    fn new(rule: &Rule) -> Result<Packed, StopReason> {
        let mut sources: HashMap<Local, Vec<Local>, FxBuildHasher> = HashMap::default();
        let moved = rule.moves.iter().map(|&(from, _)| from).chain(rule.exactly.iter().copied());
        let mut moved: Vec<Local> = moved.collect();
        moved.sort_unstable();
        moved.dedup();
        // A place whose tokens move is no source of itself; one to which tokens move stays one, unless its own move too.
        moved.iter().for_each(|&from| drop(sources.insert(from, Vec::new())));
        for &from in &moved {
            let Some(to) = rule.goes(from) else { continue };
            let stays = if moved.binary_search(&to).is_ok() { Vec::new() } else { vec![to] };
            sources.entry(to).or_insert(stays).push(from);
        }
        let (takes, gives) = (row(&rule.takes)?, row(&rule.gives)?);
        Ok(Packed { from: rule.from, takes, gives, plain: rule.is_plain(), sources })
    }

    /// The least configurations from which the rule leads to one that covers this one; they have the shared state before the
    /// rule. Each row is given to `found`.
    pub fn pre(&self, after: &[Entry], found: &mut Rows) -> Result<(), StopReason> {
        found.clear();
        if self.plain {
            return found.push(|out| pre_plain(&self.takes, &self.gives, after, out));
        }
        let mut wanted = Vec::new();
        minus(after, &self.gives, &mut wanted);
        let mut parts: Vec<Vec<Entry>> = vec![self.takes.clone()];
        for &needed in &wanted {
            let itself = [place(needed)];
            let sources = self.sources.get(&place(needed)).map_or(&itself[..], |sources| sources);
            let mut next = Vec::new();
            for part in &parts {
                spread(part, sources, count(needed), &mut next)?;
            }
            parts = next;
        }
        parts.iter().try_for_each(|part| {
            found.push(|out| {
                out.extend_from_slice(part);
                Ok(())
            })
        })
    }
}

/// All ways to add so many tokens to these places.
fn spread(
    part: &[Entry],
    places: &[Local],
    tokens: u32,
    out: &mut Vec<Vec<Entry>>,
) -> Result<(), StopReason> {
    let [first, rest @ ..] = places else {
        return Ok(());
    };
    if out.len() > MOST {
        return Err(StopReason::GaveUp(format!("more than {MOST} predecessors by one rule")));
    }
    if rest.is_empty() {
        let mut part = part.to_vec();
        add(&mut part, *first, tokens)?;
        out.push(part);
        return Ok(());
    }
    for here in 0..=tokens {
        let mut part = part.to_vec();
        add(&mut part, *first, here)?;
        spread(&part, rest, tokens - here, out)?;
    }
    Ok(())
}

fn add(row: &mut Vec<Entry>, local: Local, tokens: u32) -> Result<(), StopReason> {
    if tokens == 0 {
        return Ok(());
    }
    match row.binary_search_by_key(&local, |&entry| place(entry)) {
        Ok(index) => {
            let sum = count(row[index]).checked_add(tokens).ok_or_else(too_many)?;
            row[index] = entry(local, sum);
        }
        Err(index) => row.insert(index, entry(local, tokens)),
    }
    Ok(())
}

/// What is left of a row without another, as far as that goes.
fn minus(row: &[Entry], without: &[Entry], out: &mut Vec<Entry>) {
    let mut without = without.iter().copied().peekable();
    for &here in row {
        while without.next_if(|&other| place(other) < place(here)).is_some() {}
        let gone = without.next_if(|&other| place(other) == place(here)).map_or(0, count);
        let left = count(here).saturating_sub(gone);
        if left > 0 {
            out.push(entry(place(here), left));
        }
    }
}

/// `takes + (after - gives)`, in one pass.
fn pre_plain(
    takes: &[Entry],
    gives: &[Entry],
    after: &[Entry],
    out: &mut Vec<Entry>,
) -> Result<(), StopReason> {
    let (mut taken, mut given) = (0, 0);
    for &here in after {
        let local = place(here);
        while taken < takes.len() && place(takes[taken]) < local {
            out.push(takes[taken]);
            taken += 1;
        }
        while given < gives.len() && place(gives[given]) < local {
            given += 1;
        }
        let mut left = count(here);
        if given < gives.len() && place(gives[given]) == local {
            left = left.saturating_sub(count(gives[given]));
        }
        if taken < takes.len() && place(takes[taken]) == local {
            left = left.checked_add(count(takes[taken])).ok_or_else(too_many)?;
            taken += 1;
        }
        if left > 0 {
            out.push(entry(local, left));
        }
    }
    out.extend_from_slice(&takes[taken..]);
    Ok(())
}

/// Rows one after another in one array, to be used again and again.
#[derive(Default)]
pub struct Rows {
    entries: Vec<Entry>,
    ends: Vec<usize>,
}

impl Rows {
    fn clear(&mut self) {
        self.entries.clear();
        self.ends.clear();
    }

    fn push(
        &mut self,
        write: impl FnOnce(&mut Vec<Entry>) -> Result<(), StopReason>,
    ) -> Result<(), StopReason> {
        write(&mut self.entries)?;
        self.ends.push(self.entries.len());
        Ok(())
    }

    /// The rows.
    pub fn iter(&self) -> impl Iterator<Item = &[Entry]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.entries[start..end])
    }
}
