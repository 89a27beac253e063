//! Z: the least set of abstract states that is closed under all abstract actions.
//!
//! A stack is abstracted to its *window*, its topmost `z` symbols, and a mark whether more lies below; what a pop uncovers
//! is bounded by the relation *below* (DESIGN, "The abstract pop"; CUBA, section 4.1.3, has window one, no mark, and the
//! coarser candidate set E in place of *below*). Z contains everything that is seen of reachable states. If no member is
//! bad the system is safe, and if every visible member has a witness it is exactly what is reachable.
//!
//! The set and *below* are computed together, on the fly: rules are asked for only where Z needs them. When *below* grows,
//! windows that were expanded before gain moves; these *late* moves are applied to all states once no others are left.

mod windows;

use super::thread_modular;
use crate::budget::{Budget, Progress};
use crate::engine::{Figures, Info, Outcome, PushdownEngine, Question, Setting, VisibleStates};
use crate::store::{Disabled, Expander, Graph, Move, StateId, States};
use allways_evidence::{Invariant, Products, StopReason, Verdict};
use allways_model::notation::show_visible;
use allways_model::pushdown::{Pushdown, Shared, Symbol, Visible};
use allways_model::symmetry::Kinds;
use hashbrown::HashMap;
use windows::{Late, Windows};

/// The set Z; see the module.
pub struct Tops<'a> {
    system: &'a dyn Pushdown,
    windows: Windows<'a>,
    states: States,
    expander: Expander,
    images: u64,
    within: Option<&'a Products>,
}

impl<'a> Tops<'a> {
    /// Computes Z for windows of `size` symbols.
    pub fn compute(
        system: &'a dyn Pushdown,
        kinds: Kinds,
        size: usize,
        question: &Question,
        budget: &Budget,
    ) -> Result<Tops<'a>, StopReason> {
        Tops::compute_within(None, system, kinds, size, question, budget)
    }

    /// Computes what of Z is within products of these kinds of threads, if some are known.
    pub fn compute_within(
        within: Option<&'a Products>,
        system: &'a dyn Pushdown,
        kinds: Kinds,
        size: usize,
        question: &Question,
        budget: &Budget,
    ) -> Result<Tops<'a>, StopReason> {
        let mut tops = Tops {
            system,
            windows: Windows::new(system, kinds.clone(), size, within),
            states: States::new(1 + system.threads()),
            expander: Expander::new(kinds.clone()),
            images: 0,
            within,
        };
        for state in system.initial() {
            let mut row = vec![state.shared.0];
            for (thread, stack) in state.stacks.iter().enumerate() {
                row.push(tops.windows.observe(thread, stack));
            }
            kinds.sort(&mut row[1..]);
            tops.states.insert(&row);
        }
        let mut expanded = 0;
        let max_states = question.max_states.unwrap_or(usize::MAX);
        loop {
            while expanded < tops.states.len() {
                if tops.states.len() > max_states {
                    return Err(StopReason::Bound(format!("the first {max_states} abstract states")));
                }
                let end = tops.states.len().min(expanded + CHUNK);
                let chunk: Vec<StateId> = (expanded as StateId..end as StateId).collect();
                let Tops { windows, states, expander, images, .. } = &mut tops;
                expand(windows, states, expander, &chunk);
                *images += (chunk.len() * system.threads()) as u64;
                expanded = end;
                tops.poll(budget)?;
            }
            let late = tops.windows.take_late();
            if late.is_empty() {
                return Ok(tops);
            }
            tops.catch_up(late, budget)?;
        }
    }

    /// Applies late moves to the states there are.
    fn catch_up(&mut self, late: Late, budget: &Budget) -> Result<(), StopReason> {
        let mut late = LateMoves { kinds: self.expander.kinds().clone(), late };
        let all: Vec<StateId> = (0..self.states.len() as StateId).collect();
        for chunk in all.chunks(CHUNK) {
            expand(&mut late, &mut self.states, &mut self.expander, chunk);
            self.poll(budget)?;
        }
        Ok(())
    }

    fn poll(&self, budget: &Budget) -> Result<(), StopReason> {
        budget.tick(&Progress { states: self.states.len(), images: self.images, ..Progress::default() })?;
        let room = self.states.growth(CHUNK * 32 * self.system.threads());
        room.map_or(Ok(()), |bytes| budget.room_for(bytes))
    }

    /// How many abstract states there are, orbits counted once.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there are none; never, since the initial state is there.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Abstract states times threads expanded.
    pub fn images(&self) -> u64 {
        self.images
    }

    /// Whether some stack is deeper than its window.
    pub fn hides_something(&self) -> bool {
        self.windows.describe().1.iter().flatten().any(|window| window.more)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.states.bytes()
    }

    /// The visible states of Z as rows of the shared state and symbols, sorted within kinds.
    pub fn visible(&self, budget: &Budget) -> Result<States, StopReason> {
        let mut visible = States::new(1 + self.system.threads());
        let mut row = Vec::new();
        for id in 0..self.states.len() as StateId {
            row.clear();
            row.extend(self.states.row(id));
            for (thread, local) in row[1..].iter_mut().enumerate() {
                *local = self.windows.symbol(thread, *local).0;
            }
            self.expander.kinds().sort(&mut row[1..]);
            visible.insert(&row);
            if id.is_multiple_of(4096) {
                budget.room_for(visible.growth(4096).unwrap_or(0))?;
            }
        }
        Ok(visible)
    }

    /// Z as an invariant, if there is room for it and for the checker's copy.
    pub fn invariant(&self, budget: &Budget) -> Result<Invariant, StopReason> {
        budget.room_for(3 * self.states.len() * (1 + self.system.threads()) * size_of::<u32>())?;
        let (below, windows) = self.windows.describe();
        let rows = (0..self.states.len() as StateId).flat_map(|id| self.states.row(id)).collect();
        let kinds = self.expander.kinds().clone();
        let within = self.within.map(|products| Box::new(products.clone()));
        Ok(Invariant { below, windows, rows, within, ..Invariant::new(kinds, self.windows.size()) })
    }
}

/// How many states are expanded at a time.
const CHUNK: usize = 1024;

fn expand(graph: &mut impl Graph, states: &mut States, expander: &mut Expander, from: &[StateId]) {
    let mut targets = Vec::new();
    for batch in from.chunks(Expander::BATCH) {
        for thread in 0..expander.kinds().threads() {
            targets.clear();
            expander.expand(graph, states, thread, batch, Disabled::Blocks, &mut targets);
        }
    }
}

/// Late moves as a graph.
struct LateMoves {
    kinds: Kinds,
    late: HashMap<(usize, Shared, u32), Vec<Move>>,
}

impl Graph for LateMoves {
    fn moves(&mut self, thread: usize, shared: Shared, local: u32) -> &[Move] {
        self.late.get(&(self.kinds.kind(thread), shared, local)).map_or(&[], Vec::as_slice)
    }
}

/// The engine: proves what Z proves, and nothing else.
pub struct TopsEngine;

impl PushdownEngine for TopsEngine {
    const INFO: Info = Info::new("tops", "bounds the reachable states from above by the tops of stacks, --window symbols of each; proves, never refutes").knowing(&[Setting::NoSymmetry, Setting::Window]);

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        let mut hidden = false;
        let report = bound_within(None, &mut hidden, system, question, budget);
        match report.verdict {
            // Thread-modular sets keep whole stacks, and may show that what looks bad is not there.
            Verdict::Unknown(StopReason::GaveUp(_)) if hidden => {
                let Some(products) = thread_modular::bound(system, question, budget) else { return report };
                bound_within(Some(&products), &mut hidden, system, question, budget)
            }
            _ => report,
        }
    }
}

/// What Z says, within products if some are known; and whether it hides something.
fn bound_within(
    within: Option<&Products>,
    hidden: &mut bool,
    system: &dyn Pushdown,
    question: &Question,
    budget: &Budget,
) -> Outcome {
    let kinds = question.kinds(system);
    let mut visible = VisibleStates::new(kinds.clone());
    let window = question.window.unwrap_or(1);
    let computed = Tops::compute_within(within, system, kinds.clone(), window, question, budget)
        .and_then(|tops| tops.visible(budget).map(|seen| (tops, seen)));
    let (verdict, figures) = match computed {
        Err(reason) => (Verdict::Unknown(reason), Figures::default()),
        Ok((tops, seen)) => {
            *hidden = tops.hides_something();
            let mut bad = None;
            for id in 0..seen.len() as StateId {
                visible.push(seen.row(id));
                let mut row = seen.row(id);
                let state = Visible {
                    shared: Shared(row.next().unwrap_or_default()),
                    tops: row.map(Symbol).collect(),
                };
                let property = &question.property;
                if bad.is_none() && property.violated_in_orbit(system, &kinds, state.shared, &state.tops) {
                    bad = Some(state);
                }
            }
            let figures = Figures { images: tops.images(), store_bytes: tops.bytes(), ..Figures::default() };
            let verdict = match bad {
                None => tops.invariant(budget).map_or_else(Verdict::Unknown, Verdict::from),
                Some(state) => Verdict::Unknown(StopReason::GaveUp(format!(
                    "the bound from above contains {}, which may be reachable or not",
                    show_visible(system, &state)
                ))),
            };
            (verdict, figures)
        }
    };
    if !matches!(verdict, Verdict::Safe(_)) {
        // A bound that nobody will check says nothing.
        visible = VisibleStates::new(kinds);
    }
    Outcome::seen(verdict, visible, false, figures)
}
