//! Karp and Miller's tree of a program whose rules are asked for where the tree comes, with any number of threads.
//!
//! [`karp_miller`](super::karp_miller) wants a counter system that is written down, and what bounds its thread states are
//! thread-modular sets. These may have no end where the program has few states: if one thread counts up and another down, a
//! set that forgets which of them is where counts for ever. Here a node asks for the rules of the threads that it has, so
//! that only thread states come up which some run reaches.
//!
//! Places are kinds of threads with the top of their stack. The tree is the same as there, and why it is right and ends is
//! said there; it ends if finitely many shared states and tops can be reached. The proof is [`Counted`]: the thread
//! states of the nodes, and the nodes as limits, which are closed under every rule that can fire within them. Where a target
//! can be covered it gives up: others find the run. So it does for stacks and for broadcasts.

use crate::budget::{Budget, Progress};
use crate::engine::{Engine, Figures, Info, Outcome, Takes, Threads};
use crate::forms::Forms;
use allways_evidence::counted::counters_of;
use allways_evidence::counters::{Basis, Limit};
use allways_evidence::products::{END, Fact, Product};
use allways_evidence::{Certificate, Counted, Products, StopReason, Verdict};
use allways_model::counters::Local;
use allways_model::property::Property;
use allways_model::pushdown::{EMPTY, Pushdown, Shared, State, Symbol};
use allways_model::symmetry::Kinds;
use allways_model::task::Instance;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

type Map<K, V> = HashMap<K, V, FxBuildHasher>;

/// Any number of tokens.
const ANY: u64 = u64::MAX;

/// Numbers of tokens by place, sorted, without zeros.
type Label = Vec<(Local, u64)>;

/// Why it gives up where a target can be covered.
pub const COVERABLE: &str = "a target can be covered by counters";

/// The engine.
pub struct Unfold;

const INFO: Info = Info {
    takes: Takes::Programs,
    threads: Threads::AsStated,
    ..Info::new(
        "unfold",
        "any number of threads: Karp and Miller's tree while the program is explored; proves",
    )
};

impl Engine for Unfold {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn supports(&self, forms: &Forms) -> Result<(), String> {
        if !forms.is_open() {
            return Err("engine `unfold` supports programs that leave the number of threads open".to_string());
        }
        if forms.question().property.deadlock {
            return Err("engine `unfold` does not support deadlocks".to_string());
        }
        Ok(())
    }

    fn run(&self, forms: &Forms, budget: &Budget) -> Outcome {
        let outcome = forms
            .at(Instance::Any)
            .pushdown()
            .map(|form| unfold(&*form.system, &form.question.property, budget));
        Outcome { instance: Some(Instance::Any), ..outcome.unwrap_or_else(Outcome::unknown) }
    }
}

/// Proves that a system is safe, with any number of threads where its threads are many, or gives up.
pub fn unfold(system: &dyn Pushdown, property: &Property, budget: &Budget) -> Outcome {
    let mut tree = Tree::new(system, property, budget);
    let proof = tree.grow().and_then(|()| tree.proof());
    let verdict =
        proof.map_or_else(Verdict::Unknown, |proof| Verdict::Safe(Certificate::Counted(Box::new(proof))));
    let figures =
        Figures { concrete_states: Some(tree.nodes.len()), images: tree.images, ..Figures::default() };
    Outcome::new(verdict, figures)
}

/// A set of configurations: at most so many threads in each place.
struct Node {
    shared: Shared,
    label: Label,
    /// The node from which it was found.
    parent: Option<usize>,
}

struct Tree<'a> {
    system: &'a dyn Pushdown,
    property: &'a Property,
    kinds: Kinds,
    /// The kind and the top of each place, and the other way round.
    places: Vec<(usize, Symbol)>,
    numbers: Map<(usize, Symbol), Local>,
    /// What a thread in a place can do: the shared state and the place afterwards.
    steps: Map<(Shared, Local), Vec<(Shared, Local)>>,
    nodes: Vec<Node>,
    by_shared: Map<Shared, Vec<usize>>,
    waiting: Vec<usize>,
    images: u64,
    budget: &'a Budget<'a>,
    /// What was done since somebody looked at the budget: nodes that were compared.
    work: Cell<usize>,
}

impl<'a> Tree<'a> {
    fn new(system: &'a dyn Pushdown, property: &'a Property, budget: &'a Budget<'a>) -> Tree<'a> {
        Tree {
            system,
            property,
            kinds: Kinds::of(system),
            places: Vec::new(),
            numbers: Map::default(),
            steps: Map::default(),
            nodes: Vec::new(),
            by_shared: Map::default(),
            waiting: Vec::new(),
            images: 0,
            budget,
            work: Cell::new(0),
        }
    }

    /// Says that so much was done, and looks at the budget now and then.
    fn spend(&self, work: usize) -> Result<(), StopReason> {
        const BETWEEN_POLLS: usize = 1 << 13;
        let work = self.work.get() + work;
        self.work.set(work % BETWEEN_POLLS);
        if work >= BETWEEN_POLLS {
            let states = self.nodes.len();
            self.budget.tick(&Progress { states, images: self.images, ..Progress::default() })?;
        }
        Ok(())
    }

    fn grow(&mut self) -> Result<(), StopReason> {
        for (shared, label) in self.initial()? {
            self.add(shared, label, None)?;
        }
        while let Some(node) = self.waiting.pop() {
            let shared = self.nodes[node].shared;
            for index in 0..self.nodes[node].label.len() {
                let place = self.nodes[node].label[index].0;
                for step in 0..self.steps_at(shared, place)? {
                    let (after, to) = self.steps[&(shared, place)][step];
                    self.images += 1;
                    let label = moved(&self.nodes[node].label, place, to);
                    self.add(after, label, Some(node))?;
                }
            }
        }
        // What is missing would make the proof one of another program.
        self.system.incomplete().map_or(Ok(()), |why| Err(StopReason::GaveUp(why)))
    }

    /// The initial configurations: threads that are many start, each for itself, as some initial state with the same shared
    /// state and the same other threads says.
    fn initial(&mut self) -> Result<Vec<(Shared, Label)>, StopReason> {
        let mut all: BTreeMap<(Shared, Vec<Local>), BTreeSet<Local>> = BTreeMap::new();
        for State { shared, stacks } in self.system.initial() {
            let (mut fixed, mut any) = (Vec::new(), BTreeSet::new());
            for (thread, stack) in stacks.iter().enumerate() {
                if stack.depth() > 1 {
                    return Err(stacks_are_not_counted());
                }
                let place = self.place(self.kinds.kind(thread), stack.top());
                if self.system.many(thread) {
                    any.insert(place);
                } else {
                    fixed.push(place);
                }
            }
            fixed.sort_unstable();
            all.entry((shared, fixed)).or_default().extend(any);
        }
        let initial = all.into_iter().map(|((shared, fixed), any)| {
            let mut label = Label::new();
            fixed.into_iter().for_each(|place| give(&mut label, place, 1));
            any.into_iter().for_each(|place| give(&mut label, place, ANY));
            (shared, label)
        });
        Ok(initial.collect())
    }

    fn place(&mut self, kind: usize, top: Symbol) -> Local {
        let next = self.places.len() as Local;
        let number = *self.numbers.entry((kind, top)).or_insert(next);
        if number == next {
            self.places.push((kind, top));
        }
        number
    }

    /// How many steps a thread in this place can take. They are known from then on.
    fn steps_at(&mut self, shared: Shared, place: Local) -> Result<usize, StopReason> {
        if let Some(steps) = self.steps.get(&(shared, place)) {
            return Ok(steps.len());
        }
        if self.system.broadcast_target(shared).is_some() {
            return Err(StopReason::GaveUp("engine `unfold` does not support broadcasts".to_string()));
        }
        let (kind, top) = self.places[place as usize];
        let mut rules = Vec::new();
        self.system.rules(self.kinds.members(kind)[0], shared, top, &mut rules);
        self.spend(1 + rules.len())?;
        let mut steps = Vec::with_capacity(rules.len());
        for rule in rules {
            let top = match *rule.word.symbols() {
                [] => EMPTY,
                [top] => top,
                _ => return Err(stacks_are_not_counted()),
            };
            steps.push((rule.shared, self.place(kind, top)));
        }
        steps.sort_unstable();
        steps.dedup();
        Ok(self.steps.entry((shared, place)).or_insert(steps).len())
    }

    /// Adds a node unless it is within one that is there.
    fn add(&mut self, shared: Shared, mut label: Label, parent: Option<usize>) -> Result<(), StopReason> {
        let others = self.by_shared.entry(shared).or_default();
        // The latest are the most alike.
        let larger = others.iter().rev().position(|&other| within(&label, &self.nodes[other].label));
        let looked_at = 1 + larger.unwrap_or(others.len());
        self.spend(looked_at)?;
        if larger.is_some() {
            return Ok(());
        }
        self.enlarge(shared, &mut label, parent)?;
        if self.is_bad(shared, &label) {
            return Err(StopReason::GaveUp(COVERABLE.to_string()));
        }
        let node = self.nodes.len();
        self.by_shared.entry(shared).or_default().push(node);
        self.nodes.push(Node { shared, label, parent });
        self.waiting.push(node);
        Ok(())
    }

    /// Gives ω where the label is larger than that of an ancestor which is nowhere larger, as often as that helps.
    fn enlarge(&self, shared: Shared, label: &mut Label, parent: Option<usize>) -> Result<(), StopReason> {
        loop {
            let mut grown = false;
            let mut at = parent;
            while let Some(ancestor) = at {
                self.spend(1)?;
                let node = &self.nodes[ancestor];
                at = node.parent;
                if node.shared == shared && within(&node.label, label) {
                    for (place, count) in label.iter_mut().filter(|(_, count)| *count != ANY) {
                        if *count > of(&node.label, *place) {
                            *count = ANY;
                            grown = true;
                        }
                    }
                }
            }
            if !grown {
                return Ok(());
            }
        }
    }

    fn is_bad(&self, shared: Shared, label: &Label) -> bool {
        self.property.bad.iter().any(|bad| {
            let mut demanded = Label::new();
            let demands = bad.tops.iter().enumerate().filter_map(|(thread, top)| Some((thread, (*top)?)));
            let known = demands.into_iter().all(|(thread, top)| {
                let place = self.numbers.get(&(self.kinds.kind(thread), top));
                place.map(|&place| give(&mut demanded, place, 1)).is_some()
            });
            known && bad.shared.is_none_or(|only| only == shared) && within(&demanded, label)
        })
    }

    /// The thread states of the nodes, and the nodes as limits.
    fn proof(&self) -> Result<Counted, StopReason> {
        let mut rest = vec![BTreeSet::new(); self.kinds.count()];
        for node in &self.nodes {
            for &(place, _) in &node.label {
                let (kind, top) = self.places[place as usize];
                rest[kind].insert(Fact { shared: node.shared, top, context: END });
            }
        }
        let products = Products {
            kinds: self.kinds.clone(),
            many: (0..self.kinds.count()).map(|kind| self.system.many(self.kinds.members(kind)[0])).collect(),
            contexts: vec![vec![Vec::new()]; self.kinds.count()],
            products: vec![Product {
                mover: None,
                next: vec![0; self.kinds.count()],
                rest: rest.into_iter().map(|facts| facts.into_iter().collect()).collect(),
            }],
        };
        let counting = counters_of(self.system, self.property, &products, &|| self.budget.check().err())?;
        let shared: Map<Shared, _> =
            counting.shared.iter().copied().zip((0..).map(allways_model::counters::Shared)).collect();
        let places: Map<(usize, Symbol), Local> = counting.places.iter().copied().zip(0..).collect();
        let mut limits = Vec::new();
        for nodes in self.by_shared.values() {
            // Nothing that came later is within something earlier.
            for (index, &node) in nodes.iter().enumerate() {
                let label = &self.nodes[node].label;
                let later = &nodes[index + 1..];
                self.spend(1 + later.len())?;
                if later.iter().any(|&later| within(label, &self.nodes[later].label)) {
                    continue;
                }
                let tokens = label.iter().map(|&(place, count)| {
                    (places[&self.places[place as usize]], (count != ANY).then_some(count))
                });
                let mut tokens: Vec<(Local, Option<u64>)> = tokens.collect();
                tokens.sort_unstable();
                limits.push(Limit { shared: shared[&self.nodes[node].shared], tokens });
            }
        }
        limits.sort_unstable_by(|one, other| (one.shared, &one.tokens).cmp(&(other.shared, &other.tokens)));
        Ok(Counted { products, basis: Basis { bound: Some(limits), ..Basis::default() } })
    }
}

fn stacks_are_not_counted() -> StopReason {
    StopReason::GaveUp("stacks of more than one symbol cannot be counted".to_string())
}

fn give(label: &mut Label, place: Local, more: u64) {
    match label.binary_search_by_key(&place, |&(at, _)| at) {
        Ok(index) => label[index].1 = label[index].1.saturating_add(more),
        Err(index) => label.insert(index, (place, more)),
    }
}

/// A label after a thread has gone from a place to another.
fn moved(label: &Label, from: Local, to: Local) -> Label {
    let mut after = label.clone();
    if let Ok(index) = after.binary_search_by_key(&from, |&(at, _)| at) {
        match after[index].1 {
            ANY => {}
            1 => drop(after.remove(index)),
            count => after[index].1 = count - 1,
        }
    }
    give(&mut after, to, 1);
    after
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
