//! A walk through growing rounds and delays, watched through predicates (DrUBA, section 5.1 and Figure 1).
//!
//! The abstraction is an observation of concrete states: the location of thread 0, and which predicates are true for it. No
//! abstract program is built, and the sets R(r,d) are exact and finite, however large the numbers in them. The walk ends where
//! Algorithm 1 would test for closure, at a plateau of one round and n-1 delays; here it is a picture, and no verdict rests on it:
//! proofs are the business of [`views`](super::views).
//!
//! Invariant: a cell of the walk counts what is observed in R(r,d), all of it.

use crate::below::rounds_delays::Explorer;
use crate::budget::Budget;
use crate::engine::{Cell, Question};
use crate::store::{Halt, StateId};
use allways_evidence::StopReason;
use allways_model::encoding::{Encoded, Point};
use allways_model::program::expression::{Choices, Scope};
use allways_model::program::{Expr, LocationId, Program};
use allways_model::pushdown::{Pushdown, Shared, Symbol};
use std::collections::BTreeSet;

/// The cells of the walk, of a program that keeps all its variables. Predicates about other threads, and about threads of
/// another kind, are left out.
pub fn walk(system: &Encoded, budget: &Budget) -> Result<Vec<Cell>, StopReason> {
    let question = Question::default();
    let stopped = |halt| match halt {
        Halt::Stop(reason) => reason,
        Halt::Bad(_) => StopReason::GaveUp("there is nothing bad".to_string()),
    };
    let explorer = Explorer::new(system, &question, 0, budget);
    let mut observation = Observation { system, explorer, seen: BTreeSet::new(), next: 0, cells: Vec::new() };
    observation.plateau().map_err(stopped)?;
    Ok(observation.cells)
}

struct Observation<'a> {
    system: &'a Encoded,
    explorer: Explorer<'a>,
    seen: BTreeSet<(LocationId, Vec<bool>)>,
    /// Visible states from this number on have not been looked at.
    next: StateId,
    cells: Vec<Cell>,
}

impl Observation<'_> {
    fn plateau(&mut self) -> Result<(), Halt> {
        self.note();
        'rounds: loop {
            loop {
                self.explorer.add_round()?;
                if !self.note() {
                    break;
                }
            }
            for _ in 1..self.system.threads() {
                self.explorer.add_delay()?;
                if self.note() {
                    continue 'rounds;
                }
            }
            return Ok(());
        }
    }

    /// Notes the cell that the walk has come to; whether something new is seen.
    fn note(&mut self) -> bool {
        let before = self.seen.len();
        let states = self.explorer.space().observed().visible_states();
        for id in self.next..states.len() as StateId {
            let row: Vec<u32> = states.row(id).collect();
            self.seen.extend(observe(self.system, Shared(row[0]), Symbol(row[1])));
        }
        self.next = states.len() as StateId;
        let space = self.explorer.space();
        self.cells.push(Cell {
            rounds: self.explorer.rounds(),
            delays: self.explorer.delays(),
            visible: self.seen.len(),
            abstract_states: self.seen.len(),
            concrete: space.len(),
            images: space.images(),
            closed: None,
        });
        self.seen.len() > before
    }
}

/// What thread 0 with this top sees in this shared state, unless that is between two states of the program.
fn observe(system: &Encoded, shared: Shared, top: Symbol) -> Option<(LocationId, Vec<bool>)> {
    let (key, cell) = (system.key(shared), system.cell(top));
    let Point::At(location) = cell.point else { return None };
    let program = system.program();
    let shared = key.values.get(..program.shared_slots())?;
    let scope = Scope { shared, locals: &cell.locals, this: 0, next: None, control: &[] };
    let own = |expr: &&Expr| about(program, expr, location);
    let truth = |expr: &Expr| expr.value(&scope, &mut Choices::default()).is_ok_and(|value| value != 0);
    Some((location, program.hints.iter().filter(own).map(truth).collect()))
}

/// Whether a predicate is about a thread that is at this location: it speaks of shared variables alone, or of local ones that
/// can only be those of its body. (A predicate does not name the threads that it is about.)
fn about(program: &Program, expr: &Expr, location: LocationId) -> bool {
    let (mut other, mut local, mut slots) = (false, false, 0);
    expr.visit(&mut |part| match part {
        Expr::OtherLocal(_) => other = true,
        Expr::Local(slot) => (local, slots) = (true, slots.max(slot + 1)),
        Expr::LocalElement(slot, length, ..) => (local, slots) = (true, slots.max(slot + length)),
        Expr::This => local = true,
        _ => {}
    });
    let bodies = program.templates.iter().map(|template| template.body);
    let mut fitting = bodies.filter(|&body| slots <= program.procedures[body].slots());
    let only = fitting.next().filter(|_| fitting.next().is_none());
    !other && (!local || only == Some(program.locations[location].procedure))
}
