//! Atomic sections, along the ways that control can take.
//!
//! What is lowered within an atomic section takes fewer steps: nobody sees it half done. Whether it is in one is known from the text:
//! the sections that are open where the statement before ends. Control may come another way, over a condition or a jump. So all ways
//! are followed once more when everything is lowered: a step that was taken for one of a section, and that some way reaches outside of
//! one, is not followed.

use super::Lowering;
use allways_model::program::{Expr, Location, LocationId, Op, Procedure, ProcedureId};

/// Whether control can be somewhere outside of a section, and within one.
type Ways = [bool; 2];

impl Lowering<'_> {
    /// Opens a label or a case that only jumps lead to with the sections that are open where they are.
    pub(super) fn open_as_at(&mut self, location: LocationId) {
        if let (false, Some(&open)) = (self.is_reached(), self.open.get(&location)) {
            self.body.atomic = open;
        }
    }

    /// The locations whose steps were taken for steps of a section, although a way leads there outside of one.
    pub(super) fn outside_of_sections(&self) -> Vec<LocationId> {
        let ways =
            ways(&self.locations, &self.procedures, self.templates.iter().map(|template| template.body));
        let inside = (0..ways.len()).map(LocationId).filter(|location| self.inside[location.index()]);
        inside.filter(|location| ways[location.index()][0]).collect()
    }
}

/// How control can come to each location, if threads start outside of sections.
fn ways(
    locations: &[Location],
    procedures: &[Procedure],
    starts: impl Iterator<Item = ProcedureId>,
) -> Vec<Ways> {
    let mut changes = vec![false; procedures.len()];
    for location in locations {
        let is_border = |op: &Op| matches!(op, Op::AtomicBegin | Op::AtomicEnd);
        changes[location.procedure.index()] |= location.edges.iter().any(|edge| is_border(&edge.op));
    }
    let mut found = vec![[false; 2]; locations.len()];
    let mut todo: Vec<(LocationId, bool)> =
        starts.map(|body| (procedures[body.index()].entry, false)).collect();
    while let Some((location, inside)) = todo.pop() {
        if std::mem::replace(&mut found[location.index()][usize::from(inside)], true) {
            continue;
        }
        for edge in &locations[location.index()].edges {
            let never = matches!(&edge.op, Op::Guard(holds, ..) if *holds == Expr::Constant(0));
            if never || matches!(edge.op, Op::Beyond | Op::Error) {
                continue;
            }
            match &edge.op {
                Op::AtomicBegin => todo.push((edge.to, true)),
                Op::AtomicEnd => todo.push((edge.to, false)),
                Op::Call(called, ..) => {
                    todo.push((procedures[called.index()].entry, inside));
                    todo.push((edge.to, inside));
                    if changes[called.index()] {
                        todo.push((edge.to, !inside));
                    }
                }
                _ => todo.push((edge.to, inside)),
            }
        }
    }
    found
}
