//! All configurations within a bound, bound by bound (DBS, section 4, with the configurations remembered).
//!
//! Invariant: while the bound is k, every configuration that was found with fewer than k has been expanded, and the bound with
//! which a configuration was first found is the least with which it can be reached. So each is expanded once, whatever the
//! bound, and a violation is found with the least bound with which there is one. When a bound adds no configuration, no
//! larger one does.

use super::asynchronous::{Asynchronous, Configuration, Move, Reached};
use super::bounding::Bounding;
use crate::budget::{Budget, Progress};
use allways_evidence::StopReason;
use allways_model::program::semantics::State;
use allways_model::program::{Value, Violation};
use hashbrown::{HashSet, HashTable};
use rustc_hash::FxBuildHasher;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash};

/// How often the limits are looked at, in expansions.
const LOOK: usize = 64;

/// What was found.
#[derive(Clone, Debug)]
pub struct Explored<O> {
    /// How many configurations there are within 0, 1, … . If something goes wrong, or the search was stopped, the last number is of those
    /// that were found until then.
    pub levels: Vec<usize>,
    /// A run that goes wrong, with the least bound.
    pub wrong: Option<WrongRun<O>>,
    /// Whether larger bounds add nothing.
    pub exhausted: bool,
    /// Why the search ended before the bound, or why something was not followed.
    pub stopped: Option<StopReason>,
    /// The values of the shared variables in final configurations: nothing runs, and nothing is pending.
    pub finals: HashSet<Vec<Value>>,
    /// The values of the shared variables in all configurations.
    pub shared: HashSet<Vec<Value>>,
    /// For each template, the most tasks of it that were under way at a time.
    pub peak: Vec<usize>,
}

/// A run that goes wrong.
#[derive(Clone, Debug)]
pub struct WrongRun<O> {
    /// What it costs.
    pub cost: usize,
    /// Where it starts.
    pub initial: Configuration<O>,
    /// What happens; the last step may go wrong and lead nowhere.
    pub moves: Vec<(Move, Option<Configuration<O>>)>,
    /// What goes wrong.
    pub violation: Violation,
}

/// Explores a program within a bound, or until larger bounds add nothing.
pub fn explore<B: Bounding>(
    program: &Asynchronous<'_>,
    bounding: &B,
    bound: Option<usize>,
    budget: &Budget,
) -> Explored<B::Object> {
    let mut search = Search::new(program, bounding, budget);
    search.stopped = search.run(bound).err();
    if search.wrong.is_some() || search.stopped.is_some() {
        search.levels.push(search.nodes.len());
    }
    let wrong = search.wrong.take().map(|(node, last, violation)| search.wrong_run(node, last, violation));
    let Search { levels, exhausted, stopped, finals, shared, peak, .. } = search;
    Explored { levels, wrong, exhausted, stopped, finals, shared, peak }
}

/// A configuration that was found, and from where.
type FoundFrom<O> = (Option<(usize, Move)>, Configuration<O>);

struct Node<O> {
    configuration: Configuration<O>,
    from: Option<(usize, Move)>,
    cost: usize,
}

struct Search<'a, B: Bounding> {
    program: &'a Asynchronous<'a>,
    bounding: &'a B,
    budget: &'a Budget<'a>,
    nodes: Vec<Node<B::Object>>,
    index: HashTable<usize>,
    todo: VecDeque<usize>,
    levels: Vec<usize>,
    /// The node in which, or from which by this step, something goes wrong.
    wrong: Option<(usize, Option<Move>, Violation)>,
    exhausted: bool,
    stopped: Option<StopReason>,
    /// Why something was not followed.
    beyond: Option<String>,
    finals: HashSet<Vec<Value>>,
    shared: HashSet<Vec<Value>>,
    peak: Vec<usize>,
}

impl<'a, B: Bounding> Search<'a, B> {
    fn new(program: &'a Asynchronous<'a>, bounding: &'a B, budget: &'a Budget<'a>) -> Search<'a, B> {
        Search {
            program,
            bounding,
            budget,
            nodes: Vec::new(),
            index: HashTable::new(),
            todo: VecDeque::new(),
            levels: Vec::new(),
            wrong: None,
            exhausted: false,
            stopped: None,
            beyond: None,
            finals: HashSet::new(),
            shared: HashSet::new(),
            peak: State::counts(program.program),
        }
    }

    fn run(&mut self, bound: Option<usize>) -> Result<(), StopReason> {
        let initial = self.program.initial(self.bounding);
        let too_many = || StopReason::GaveUp("there are too many initial states".to_string());
        let mut next: Vec<_> = initial.ok_or_else(too_many)?.into_iter().map(|one| (None, one)).collect();
        let mut expanded = 0;
        for cost in 0.. {
            for (from, configuration) in std::mem::take(&mut next) {
                self.add(from, configuration, cost);
            }
            while let Some(node) = self.todo.pop_front() {
                if self.wrong.is_some() {
                    return Ok(());
                }
                expanded += 1;
                if expanded % LOOK == 0 {
                    let progress = Progress {
                        states: self.nodes.len(),
                        images: expanded as u64,
                        delays: u32::try_from(cost).ok(),
                        ..Progress::default()
                    };
                    self.budget.tick(&progress)?;
                }
                self.expand(node, cost, &mut next);
            }
            if self.wrong.is_some() {
                return Ok(());
            }
            self.levels.push(self.nodes.len());
            next.retain(|(_, configuration)| self.find(configuration).is_none());
            self.exhausted = next.is_empty() && self.beyond.is_none();
            if next.is_empty() || bound == Some(cost) {
                break;
            }
        }
        self.beyond.take().map_or(Ok(()), |why| Err(StopReason::GaveUp(why)))
    }

    fn expand(&mut self, node: usize, cost: usize, next: &mut Vec<FoundFrom<B::Object>>) {
        for successor in self.program.successors(self.bounding, &self.nodes[node].configuration) {
            match successor.reached {
                Reached::To(to) if successor.cost == 0 => self.add(Some((node, successor.how)), to, cost),
                Reached::To(to) => {
                    if self.find(&to).is_none() {
                        next.push((Some((node, successor.how)), to));
                    }
                }
                Reached::Wrong(violation) => {
                    self.wrong.get_or_insert((node, Some(successor.how), violation));
                }
                Reached::Beyond(why) => {
                    self.beyond.get_or_insert(why);
                }
            }
        }
    }

    fn find(&self, configuration: &Configuration<B::Object>) -> Option<usize> {
        let nodes = &self.nodes;
        self.index.find(hash(configuration), |&node| nodes[node].configuration == *configuration).copied()
    }

    fn add(&mut self, from: Option<(usize, Move)>, configuration: Configuration<B::Object>, cost: usize) {
        if self.find(&configuration).is_some() {
            return;
        }
        let node = self.nodes.len();
        let violated = self.program.violated(self.bounding, &configuration);
        let pending = self.bounding.held(&configuration.object);
        if configuration.running.is_none() && pending.is_empty() {
            self.finals.insert(configuration.shared.clone());
        }
        if !self.shared.contains(&configuration.shared) {
            self.shared.insert(configuration.shared.clone());
        }
        let mut under_way = vec![0; self.peak.len()];
        pending
            .into_iter()
            .chain(&configuration.running)
            .for_each(|task| under_way[task.template.index()] += 1);
        self.peak.iter_mut().zip(under_way).for_each(|(peak, count)| *peak = (*peak).max(count));
        self.nodes.push(Node { configuration, from, cost });
        let nodes = &self.nodes;
        let hashed = |node: &usize| hash(&nodes[*node].configuration);
        self.index.insert_unique(hashed(&node), node, hashed);
        match violated {
            None => self.todo.push_back(node),
            Some(Reached::Wrong(violation)) => {
                self.wrong.get_or_insert((node, None, violation));
            }
            Some(Reached::Beyond(why)) => {
                self.beyond.get_or_insert(why);
            }
            Some(Reached::To(_)) => {}
        }
    }

    fn wrong_run(&self, node: usize, last: Option<Move>, violation: Violation) -> WrongRun<B::Object> {
        let mut moves: Vec<_> = last.map(|last| (last, None)).into_iter().collect();
        let cost = self.nodes[node].cost;
        let mut at = &self.nodes[node];
        while let Some((from, how)) = at.from {
            moves.push((how, Some(at.configuration.clone())));
            at = &self.nodes[from];
        }
        moves.reverse();
        WrongRun { cost, initial: at.configuration.clone(), moves, violation }
    }
}

fn hash(value: &impl Hash) -> u64 {
    FxBuildHasher.hash_one(value)
}
