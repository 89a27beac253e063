//! A set of variables of a program that grows.

use allways_model::program::{Expr, Place, ProcedureId, Program, Slot, Target};

/// Marked slots: shared ones first, then the local ones of each procedure.
pub struct Marks {
    slots: Vec<bool>,
    /// Where the local variables of each procedure start.
    locals: Vec<usize>,
    grew: bool,
}

impl Marks {
    /// None, and [`Marks::grew`] is true at first.
    pub fn new(program: &Program) -> Marks {
        let mut next = program.shared_slots();
        let mut locals = Vec::new();
        for procedure in &program.procedures {
            locals.push(next);
            next += procedure.slots();
        }
        Marks { slots: vec![false; next], locals, grew: true }
    }

    /// Whether there are more than when this was asked before.
    pub fn grew(&mut self) -> bool {
        std::mem::take(&mut self.grew)
    }

    fn mark(&mut self, (first, length): (usize, usize)) {
        for slot in first..first + length {
            self.grew |= !std::mem::replace(&mut self.slots[slot], true);
        }
    }

    /// The slots that a part of an expression reads by itself.
    fn read(&self, here: ProcedureId, part: &Expr) -> Option<(usize, usize)> {
        let locals = self.locals[here.index()];
        match part {
            Expr::Shared(slot) | Expr::NextShared(slot) => Some((*slot, 1)),
            Expr::Local(slot)
            | Expr::NextLocal(slot)
            | Expr::OtherLocal(slot)
            | Expr::NextOtherLocal(slot) => Some((locals + slot, 1)),
            Expr::SharedElement(slot, length, ..) => Some((*slot, *length)),
            Expr::LocalElement(slot, length, ..) => Some((locals + slot, *length)),
            _ => None,
        }
    }

    /// Marks all variables that an expression reads.
    pub fn used(&mut self, here: ProcedureId, expr: &Expr) {
        expr.visit(&mut |part| {
            if let Some(slots) = self.read(here, part) {
                self.mark(slots);
            }
        });
    }

    /// Whether all variables that an expression reads are marked.
    pub fn has_all(&self, here: ProcedureId, expr: &Expr) -> bool {
        let mut all = true;
        expr.visit(&mut |part| {
            if let Some((first, length)) = self.read(here, part) {
                all &= self.slots[first..first + length].iter().all(|&marked| marked);
            }
        });
        all
    }

    fn written(&self, here: ProcedureId, place: &Place) -> (usize, usize) {
        let locals = self.locals[here.index()];
        match place.target {
            Target::Shared(slot) => (slot, 1),
            Target::Local(slot) | Target::Others(slot) => (locals + slot, 1),
            Target::SharedElement(slot, length, _) => (slot, length),
            Target::LocalElement(slot, length, _) => (locals + slot, length),
        }
    }

    /// Marks what is stored in a place.
    pub fn stored(&mut self, here: ProcedureId, place: &Place) {
        self.mark(self.written(here, place));
    }

    /// Whether what is stored in a place is marked, or a part of it.
    pub fn place(&self, here: ProcedureId, place: &Place) -> bool {
        let (first, length) = self.written(here, place);
        self.slots[first..first + length].contains(&true)
    }

    /// Whether a shared slot is marked.
    pub fn shared(&self, slot: Slot) -> bool {
        self.slots[slot]
    }

    /// Whether a local slot is marked.
    pub fn local(&self, here: ProcedureId, slot: Slot) -> bool {
        self.slots[self.locals[here.index()] + slot]
    }
}
