//! A walk through the grid of bounds (rounds, delays), with what was seen at each cell (DrUBA, Table 1 and Figure 1).

use crate::above::closure::{Abstraction, Actions, NotClosed};
use crate::above::exact;
use crate::below::rounds_delays::Explorer;
use crate::budget::Budget;
use crate::engine::{Cell, Outcome, Question};
use crate::store::Halt;
use allways_evidence::{Invariant, Verdict};
use allways_model::pushdown::Pushdown;

/// An exploration of R(r,d) and its history.
pub struct Walk<'a> {
    system: &'a dyn Pushdown,
    question: &'a Question,
    budget: &'a Budget<'a>,
    explorer: Explorer<'a>,
    cells: Vec<Cell>,
    /// Images of explorers that were thrown away, if each set is computed from scratch.
    spent: u64,
    actions: Option<(usize, usize)>,
}

impl<'a> Walk<'a> {
    /// A walk that stands at (0,0).
    pub fn new(system: &'a dyn Pushdown, question: &'a Question, budget: &'a Budget<'a>) -> Walk<'a> {
        let explorer = Explorer::new(system, question, 0, budget);
        Walk { system, question, budget, explorer, cells: Vec::new(), spent: 0, actions: None }
    }

    /// Notes the first cell.
    pub fn start(&mut self) -> Result<(), Halt> {
        self.explorer.space().alarm()?;
        self.note();
        Ok(())
    }

    /// One more round; whether it showed a new abstract state.
    pub fn add_round(&mut self) -> Result<bool, Halt> {
        if self.question.no_frontier {
            self.restart(self.explorer.rounds() + 1, self.explorer.delays())?;
        } else {
            self.explorer.add_round()?;
        }
        Ok(self.note())
    }

    /// One more delay; whether it showed a new abstract state.
    pub fn add_delay(&mut self) -> Result<bool, Halt> {
        if self.question.no_frontier {
            self.restart(self.explorer.rounds(), self.explorer.delays() + 1)?;
        } else {
            self.explorer.add_delay()?;
        }
        Ok(self.note())
    }

    fn restart(&mut self, rounds: u32, delays: u32) -> Result<(), Halt> {
        self.spent += self.explorer.space().images();
        self.explorer = Explorer::new(self.system, self.question, delays, self.budget);
        self.explorer.add_rounds(rounds)
    }

    /// Notes the cell the walk has come to; whether there are new abstract states.
    fn note(&mut self) -> bool {
        let space = self.explorer.space();
        let cell = Cell {
            rounds: self.explorer.rounds(),
            delays: self.explorer.delays(),
            visible: space.observed().visible_len(),
            abstract_states: space.observed().rows().len(),
            concrete: space.len(),
            images: self.spent + space.images(),
            closed: None,
        };
        let grown = self.cells.last().is_none_or(|last| last.abstract_states < cell.abstract_states);
        self.cells.push(cell);
        grown
    }

    /// Tests whether the abstract states reached are closed under these actions. If not, but there are no further states
    /// to be found, the states themselves are an invariant.
    pub fn test(&mut self, actions: Actions) -> Result<Result<Invariant, NotClosed>, Halt> {
        let space = self.explorer.space();
        let abstraction = Abstraction::new(space);
        self.actions = Some(abstraction.respect());
        let outcome = abstraction.closed(actions)?;
        if let Some(cell) = self.cells.last_mut() {
            cell.closed = Some(outcome.is_ok());
        }
        Ok(match outcome {
            Ok(()) => Ok(abstraction.into_invariant()),
            Err(_) if self.exhausted() => Ok(exact::invariant(space)?),
            Err(escape) => Err(escape),
        })
    }

    /// Whether there are no further states to be found.
    pub fn exhausted(&self) -> bool {
        self.explorer.exhausted()
    }

    /// The report on a walk that ended so.
    pub fn report(self, outcome: Result<Invariant, Halt>) -> Outcome {
        let verdict = outcome.map_or_else(|halt| self.explorer.halted(halt), Verdict::from);
        let figures = self.explorer.figures();
        let exact = matches!(verdict, Verdict::Safe(_));
        let visible = self.explorer.space().observed().visible();
        let mut report = Outcome::seen(verdict, visible, exact, figures);
        report.figures.images += self.spent;
        report.figures.plateau_images = self.cells.last().map(|last| {
            let start = self.cells.iter().find(|cell| cell.abstract_states == last.abstract_states);
            last.images - start.map_or(0, |cell| cell.images)
        });
        report.figures.actions = self.actions;
        report.figures.walk = self.cells;
        report
    }
}
