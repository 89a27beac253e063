//! Why a thread-modular proof fails: the first joint state that the sets of Flanagan and Qadeer invent.
//!
//! The rule ENV takes two thread states with the same shared state for a joint one: thread i keeps its stack while thread j
//! moves. Where no run shows the two together, that joint state is invented, and what follows from it may be, too. So the
//! sets are computed round by round, each round one step further, and each use of ENV that adds something is looked up among
//! the pairs that a search from below has seen. The first that is not there is the answer.
//!
//! The search is cut off at some number of states. What it has not seen may then be reachable after all; the answer says so.

use super::facts::Cell;
use super::judge::Judge;
use super::locals::{Below, Move};
use super::saturation::{Saturation, initial, locals};
use super::views::{Population, Views};
use crate::budget::{Budget, Progress};
use allways_evidence::StopReason;
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, Shared, State, Symbol};
use hashbrown::HashSet;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The most states that are searched for pairs.
const SEARCHED: usize = 50_000;

/// The most thread states that are looked at.
const LOOKED_AT: usize = 1 << 16;

/// What there is to say about a proof by thread-modular sets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Explanation {
    /// They prove the property.
    Proved,
    /// They invent this joint state.
    Invented(Invention),
}

/// A joint state that no run has shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invention {
    /// The shared state.
    pub shared: Shared,
    /// Some threads and the tops of their stacks.
    pub tops: Vec<(usize, Symbol)>,
    /// After so many steps of the sets; `None` if no pair of threads was found that is invented, but the property forbids all of
    /// this together.
    pub round: Option<usize>,
    /// How many states were searched.
    pub searched: usize,
    /// Whether these are all states there are.
    pub complete: bool,
}

/// Two thread states with the same shared state: kinds and tops, the smaller first.
type Pair = (Shared, (usize, Symbol), (usize, Symbol));

fn pair(shared: Shared, one: (usize, Symbol), other: (usize, Symbol)) -> Pair {
    (shared, one.min(other), one.max(other))
}

/// Explains why the sets of Flanagan and Qadeer do not prove a property, or says that they do.
pub fn explain(
    system: &dyn Pushdown,
    property: &Property,
    budget: &Budget,
) -> Result<Explanation, StopReason> {
    let views = Views::one(Population::of(system, false));
    let sets = Saturation::compute(system, views.clone(), LOOKED_AT, budget)?;
    let judge = Judge { system, views: &sets.views, locals: &sets.locals };
    let Some(suspect) = judge.suspect(property, &sets.facts) else { return Ok(Explanation::Proved) };
    let seen = Seen::search(system, &views, budget)?;
    let invention = |shared, tops, round| {
        let (searched, complete) = (seen.states, seen.complete);
        Explanation::Invented(Invention { shared, tops, round, searched, complete })
    };
    if let Some((round, (shared, one, other))) = first_invented(system, &views, &seen, budget)? {
        let kinds = &views.population.kinds;
        let first = kinds.members(one.0)[0];
        let second = kinds.members(other.0)[usize::from(one.0 == other.0)];
        return Ok(invention(shared, vec![(first, one.1), (second, other.1)], Some(round)));
    }
    let tops = suspect.tops.iter().enumerate().filter_map(|(thread, top)| Some((thread, (*top)?)));
    Ok(invention(suspect.shared, tops.collect(), None))
}

/// The first pair of thread states that ENV uses and no run has shown, and how many rounds it takes to get there.
fn first_invented(
    system: &dyn Pushdown,
    views: &Views,
    seen: &Seen,
    budget: &Budget,
) -> Result<Option<(usize, Pair)>, StopReason> {
    let mut locals = locals(system, views, Below::WholeStacks);
    // Ordered, so that the answer is the same every time.
    let mut facts: BTreeMap<Shared, BTreeSet<(usize, u32)>> = BTreeMap::new();
    for (cell, shared, local) in initial(system, views, &mut locals).each() {
        facts.entry(shared).or_default().insert((views.kind(cell), local));
    }
    for round in 0.. {
        let mut added: Vec<(Shared, (usize, u32))> = Vec::new();
        let has =
            |shared: Shared, fact: (usize, u32)| facts.get(&shared).is_some_and(|set| set.contains(&fact));
        for (&shared, here) in &facts {
            budget.tick(&Progress::default())?;
            for &(mover, local) in here {
                let from = locals[mover].get(local).0;
                for step in locals[mover].moves(shared, local).iter() {
                    let &Move::To(after, moved) = step else { continue };
                    added.push((after, (mover, moved)));
                    for &(kind, other) in
                        here.iter().filter(|fact| views.beside(Cell(fact.0 as u32), Cell(mover as u32)))
                    {
                        if has(after, (kind, other)) {
                            continue;
                        }
                        let joint = pair(shared, (kind, locals[kind].get(other).0), (mover, from));
                        if !seen.pairs.contains(&joint) {
                            return Ok(Some((round, joint)));
                        }
                        added.push((after, (kind, other)));
                    }
                }
            }
        }
        let mut new = false;
        for (shared, fact) in added {
            new |= facts.entry(shared).or_default().insert(fact);
        }
        let stacks = locals.iter().map(super::locals::Locals::size).sum::<usize>();
        if !new || stacks > LOOKED_AT {
            return Ok(None);
        }
    }
    Ok(None)
}

/// What a search from below has seen.
struct Seen {
    pairs: HashSet<Pair>,
    states: usize,
    complete: bool,
}

impl Seen {
    fn search(system: &dyn Pushdown, views: &Views, budget: &Budget) -> Result<Seen, StopReason> {
        let kinds = &views.population.kinds;
        let mut queue: VecDeque<State> = system.initial().into();
        let mut known: HashSet<State> = queue.iter().cloned().collect();
        let mut seen = Seen { pairs: HashSet::new(), states: 0, complete: true };
        while let Some(state) = queue.pop_front() {
            budget.tick(&Progress { states: known.len(), ..Progress::default() })?;
            seen.states += 1;
            let tops: Vec<(usize, Symbol)> = state
                .stacks
                .iter()
                .enumerate()
                .map(|(thread, stack)| (kinds.kind(thread), stack.top()))
                .collect();
            for (index, &one) in tops.iter().enumerate() {
                seen.pairs.extend(tops[index + 1..].iter().map(|&other| pair(state.shared, one, other)));
            }
            for thread in 0..tops.len() {
                for rule in state.enabled(system, thread) {
                    let next = state.step(thread, &rule);
                    if known.len() >= SEARCHED {
                        seen.complete &= known.contains(&next);
                    } else if known.insert(next.clone()) {
                        queue.push_back(next);
                    }
                }
            }
        }
        Ok(seen)
    }
}
