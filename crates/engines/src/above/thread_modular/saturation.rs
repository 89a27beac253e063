//! The least sets that are closed under the steps of each thread alone and of its environment (TM, section 2.2).
//!
//! The rules INIT, STEP and ENV of Flanagan and Qadeer, or QINIT and QSTEP of the quadratic method: the difference is in the
//! [views](super::views) alone. The guarantees G are kept once for each shared state, as pairs of it and the one after, with
//! the set whose threads change it so; a pair concerns every thread but the one that moves, so the set that brought it up is
//! exempt, if it has room for no other thread, until a second set brings it up, too.
//!
//! Invariant: each fact is taken from the agenda once. For each pair of facts and guarantees that meet at a shared state, and
//! each pair of a pop and a tail that meet at a context, whichever comes second looks for the first.

use super::facts::{Cell, Facts};
use super::locals::{Below, Local, Locals, Move};
use super::views::Views;
use crate::budget::{Budget, Progress};
use allways_evidence::StopReason;
use allways_evidence::products::Context;
use allways_model::pushdown::{Pushdown, Shared};
use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

/// A change of the shared state from a given view and shared state.
#[derive(Clone, Copy)]
struct Guarantee {
    /// The view afterwards.
    view: usize,
    /// The shared state afterwards.
    shared: Shared,
    /// The only set whose threads do it.
    sole: Option<Cell>,
}

/// The sets; see the module.
pub struct Saturation<'a> {
    /// Which sets there are.
    pub views: Views,
    /// For each kind.
    pub locals: Vec<Locals<'a>>,
    /// The sets.
    pub facts: Facts,
    guarantees: HashMap<(usize, Shared), Vec<Guarantee>, FxBuildHasher>,
    /// Where each guarantee is in the list for its view and shared state.
    numbers: HashMap<(u32, Shared, u32, Shared), u32, FxBuildHasher>,
    /// For each kind and context, which set and shared state a pop to it leads to.
    pops: HashMap<(usize, Context), Vec<(Cell, Shared)>, FxBuildHasher>,
    popped: HashSet<(Cell, Shared, Context), FxBuildHasher>,
    agenda: Vec<(Cell, Shared, Local)>,
    /// How often a fact was derived, new or not.
    pub derived: u64,
    /// More facts than this are too many.
    most: usize,
    budget: &'a Budget<'a>,
}

/// So many facts are derived, new or not, between two looks at the budget: one step may have thousands of outcomes, and each
/// outcome concern all facts there are.
const DERIVED_BETWEEN_POLLS: u64 = 1 << 12;

impl<'a> Saturation<'a> {
    /// Computes the sets of a system. Stops when there are more facts than `most`.
    pub fn compute(
        system: &'a dyn Pushdown,
        views: Views,
        most: usize,
        budget: &'a Budget<'a>,
    ) -> Result<Saturation<'a>, StopReason> {
        let mut locals = locals(system, &views, Below::Summaries);
        let facts = initial(system, &views, &mut locals);
        let mut sets = Saturation {
            agenda: facts.each().collect(),
            views,
            locals,
            facts,
            guarantees: HashMap::default(),
            numbers: HashMap::default(),
            pops: HashMap::default(),
            popped: HashSet::default(),
            derived: 0,
            most,
            budget,
        };
        let mut turn = 0_u32;
        while let Some((cell, shared, local)) = sets.agenda.pop() {
            turn = turn.wrapping_add(1);
            // To make the moves of a fact may take long, also where nothing comes of it.
            if turn.is_multiple_of(1024) {
                sets.poll()?;
            }
            sets.disturb(cell, shared, local)?;
            sets.step(cell, shared, local)?;
        }
        sets.poll()?;
        Ok(sets)
    }

    fn poll(&self) -> Result<(), StopReason> {
        self.budget.tick(&self.progress())?;
        match self.facts.len() > self.most {
            true => Err(StopReason::Bound(format!("the first {} thread states", self.most))),
            false => Ok(()),
        }
    }

    fn progress(&self) -> Progress {
        Progress { states: self.facts.len(), images: self.derived, ..Progress::default() }
    }

    /// About how many bytes all of it takes.
    pub fn bytes(&self) -> usize {
        let locals: usize = self.locals.iter().map(Locals::size).sum();
        self.facts.bytes() + self.numbers.len() * 64 + locals * 64
    }

    fn insert(&mut self, cell: Cell, shared: Shared, local: Local) -> Result<(), StopReason> {
        self.derived += 1;
        if self.derived.is_multiple_of(DERIVED_BETWEEN_POLLS) {
            self.poll()?;
        }
        if self.views.room(cell) > 0 && self.facts.insert(cell, shared, local) {
            self.agenda.push((cell, shared, local));
        }
        Ok(())
    }

    /// ENV, for a new fact and the guarantees there are.
    fn disturb(&mut self, cell: Cell, shared: Shared, local: Local) -> Result<(), StopReason> {
        let view = self.views.view(cell);
        let kind = self.views.kind(cell);
        let length = self.guarantees.get(&(view, shared)).map_or(0, Vec::len);
        for index in 0..length {
            let Guarantee { view, shared, sole } = self.guarantees[&(view, shared)][index];
            if sole.is_none_or(|sole| self.views.beside(cell, sole)) {
                self.insert(self.views.rest(view, kind), shared, local)?;
            }
        }
        Ok(())
    }

    /// STEP, for a new fact.
    fn step(&mut self, cell: Cell, shared: Shared, local: Local) -> Result<(), StopReason> {
        let kind = self.views.kind(cell);
        let moved = self.views.moved(kind);
        let moves = self.locals[kind].moves(shared, local);
        for &step in moves.iter() {
            match step {
                Move::To(shared, local) => self.insert(moved, shared, local)?,
                Move::Pop(shared, context) => {
                    if self.popped.insert((moved, shared, context)) {
                        self.pops.entry((kind, context)).or_default().push((moved, shared));
                        for local in self.locals[kind].uncovered(context) {
                            self.insert(moved, shared, local)?;
                        }
                    }
                }
            }
            self.guarantee(cell, shared, step.shared())?;
        }
        for (context, local) in self.locals[kind].grown() {
            let pops = self.pops.get(&(kind, context)).map_or(0, Vec::len);
            for index in 0..pops {
                let (cell, shared) = self.pops[&(kind, context)][index];
                self.insert(cell, shared, local)?;
            }
        }
        Ok(())
    }

    /// ENV, for the facts there are and a guarantee that may be new.
    fn guarantee(&mut self, by: Cell, from: Shared, shared: Shared) -> Result<(), StopReason> {
        let (before, view) = (self.views.view(by), self.views.after(self.views.kind(by)));
        let list = self.guarantees.entry((before, from)).or_default();
        let number = self.numbers.entry((before as u32, from, view as u32, shared));
        let fresh = list.len() as u32;
        let number = *number.or_insert(fresh);
        if number == fresh {
            list.push(Guarantee { view, shared, sole: Some(by) });
            let cells: Vec<Cell> =
                self.views.cells(before).filter(|&cell| self.views.beside(cell, by)).collect();
            cells.into_iter().try_for_each(|cell| self.spread(cell, from, view, shared))?;
        } else if let Some(sole) = list[number as usize].sole.filter(|&sole| sole != by) {
            list[number as usize].sole = None;
            if !self.views.beside(sole, sole) {
                self.spread(sole, from, view, shared)?;
            }
        }
        Ok(())
    }

    /// Moves the facts of a set at a shared state to another view and shared state.
    fn spread(&mut self, cell: Cell, from: Shared, view: usize, shared: Shared) -> Result<(), StopReason> {
        let to = self.views.rest(view, self.views.kind(cell));
        let length = self.facts.at(cell, from).len();
        for index in 0..length {
            let local = self.facts.at(cell, from)[index];
            self.insert(to, shared, local)?;
        }
        Ok(())
    }
}

/// The locals of each kind.
pub fn locals<'a>(system: &'a dyn Pushdown, views: &Views, below: Below) -> Vec<Locals<'a>> {
    let kinds = &views.population.kinds;
    (0..kinds.count()).map(|kind| Locals::new(system, kinds.members(kind)[0], below)).collect()
}

/// INIT: where the threads start, in every view.
pub fn initial(system: &dyn Pushdown, views: &Views, locals: &mut [Locals]) -> Facts {
    let mut facts = Facts::default();
    for state in system.initial() {
        for (thread, stack) in state.stacks.iter().enumerate() {
            let kind = views.population.kinds.kind(thread);
            let local = locals[kind].of(stack);
            let cells = (0..views.views()).map(|view| views.rest(view, kind)).chain([views.moved(kind)]);
            for cell in cells.filter(|&cell| views.room(cell) > 0) {
                facts.insert(cell, state.shared, local);
            }
        }
    }
    facts
}
