//! Invariants and ghost variables that are stated beside a program, as steps.
//!
//! An invariant is evaluated in one step, wherever that is. A ghost variable changes in the step in which a thread leaves a statement: the
//! last one that others can see, with which everything up to the end of the statement and the change are one atomic section. What
//! follows that step in the statement cannot block and is seen by nobody, so that the program does what it did before.

use super::{Lowering, Result, refuse};
use crate::instrument::{Item, Unplaced};
use crate::property::Property;
use crate::typed::Expr;
use allways_model::program::{Edge, LocationId, Op, Span};

/// A statement with more steps is not looked through.
const MOST_STEPS: usize = 1 << 10;

impl Lowering<'_> {
    /// An invariant.
    pub(super) fn invariant(&mut self, number: usize, holds: &Expr, span: Span) {
        let (here, atomic) = (self.here, self.body.atomic);
        let edges = self.locations[here].edges.len();
        let done = self.strictly(|lowering| {
            lowering.enter_atomic(span)?;
            let holds = lowering.condition(holds)?;
            lowering.emit(Op::Assert(holds), span)?;
            lowering.leave_atomic(span)
        });
        if let Err(error) = done {
            self.locations[here].edges.truncate(edges);
            (self.here, self.body.atomic) = (here, atomic);
            self.unplaced(Item::Invariant(number), error.message);
        }
    }

    /// A statement with ghost updates begins.
    pub(super) fn before_update(&mut self, span: Span) -> Result<()> {
        self.updated.push(self.here);
        // A step that nobody sees, before which nothing else leads.
        self.emit(Op::Skip, span)
    }

    /// It ends.
    pub(super) fn ghost_update(&mut self, number: usize, updates: &[Expr], span: Span) {
        let Some(start) = self.updated.pop() else { return };
        if let Err(error) = self.strictly(|lowering| lowering.update_from(start, updates, span)) {
            self.unplaced(Item::Update(number), error.message);
        }
    }

    fn update_from(&mut self, start: LocationId, updates: &[Expr], span: Span) -> Result<()> {
        let assign = |lowering: &mut Self| updates.iter().try_for_each(|update| lowering.effect(update));
        if self.body.atomic > 0 {
            return assign(self);
        }
        let steps = self.steps_from(start, span)?;
        let is_seen = |op: &Op| {
            let mut seen = !matches!(op, Op::Skip | Op::Guard(..) | Op::Assert(_) | Op::Assign(..));
            op.shared_accesses(&mut |_, _, _| seen = true);
            seen
        };
        let op = |&(at, edge): &(LocationId, usize)| &self.locations[at].edges[edge].op;
        let Some(last) = steps.iter().rposition(|at| is_seen(op(at))) else {
            self.enter_atomic(span)?;
            assign(self)?;
            return self.leave_atomic(span);
        };
        let is_plain = |at: &(LocationId, usize)| matches!(op(at), Op::Skip | Op::Assign(_, _, None));
        if !steps[last + 1..].iter().all(is_plain) {
            return refuse(span, "the statement may go on or not after its last step");
        }
        match op(&steps[last]) {
            Op::AtomicEnd => {
                let (at, edge) = steps[last];
                let ends = self.locations[at].edges.remove(edge);
                let after = std::mem::replace(&mut self.here, at);
                self.body.atomic = 1;
                let done = assign(self);
                self.body.atomic = 0;
                let here = std::mem::replace(&mut self.here, after);
                self.edge(here, ends.op, ends.to, ends.span);
                done
            }
            Op::Assign(..) | Op::Guard(..) | Op::Assert(_) if last > 0 => {
                let begins = self.location(span);
                self.edge(begins, Op::AtomicBegin, steps[last].0, span);
                let (at, edge) = steps[last - 1];
                self.locations[at].edges[edge].to = begins;
                self.reached[begins.index()] = true;
                self.body.atomic = 1;
                let done = assign(self);
                self.leave_atomic(span)?;
                done
            }
            _ => refuse(span, "the statement does more than one step can"),
        }
    }

    /// The steps from a location to here, each with the number of its edge, if there is one way that does not end before.
    fn steps_from(&self, start: LocationId, span: Span) -> Result<Vec<(LocationId, usize)>> {
        let ends = |edge: &Edge| {
            let after = &self.locations[edge.to].edges;
            matches!(&after[..], [only] if matches!(only.op, Op::Beyond | Op::Error))
        };
        let mut steps = Vec::new();
        let mut at = start;
        while at != self.here {
            let mut edges = self.locations[at].edges.iter().enumerate().filter(|(_, edge)| !ends(edge));
            let (Some((number, edge)), None, true) = (edges.next(), edges.next(), steps.len() < MOST_STEPS)
            else {
                return refuse(
                    span,
                    "control may take several ways through the statement, or does not leave it",
                );
            };
            steps.push((at, number));
            at = edge.to;
        }
        Ok(steps)
    }

    /// Does something, with overflow as a violation: what is stated has a value.
    fn strictly(&mut self, lower: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let property = self.property;
        self.property = Property { overflows: true, ..property };
        let done = lower(self);
        self.property = property;
        done
    }

    fn unplaced(&mut self, item: Item, why: String) {
        let unplaced = Unplaced { item, why, is_stronger: false };
        if !self.lowered.unplaced.contains(&unplaced) {
            self.lowered.unplaced.push(unplaced);
        }
    }
}
