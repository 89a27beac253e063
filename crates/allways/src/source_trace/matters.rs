//! Which shared variables a reader of a run has to know the values of.

use super::TraceWriter;
use super::values::About;
use allways_evidence::{End, Halt, Run};
use allways_model::program::semantics::State;
use allways_model::program::{Op, Slot};
use std::collections::HashSet;

impl TraceWriter<'_> {
    /// The shared slots that some step reads or changes, that the violated property mentions, or on which those wait that
    /// cannot move at the end.
    pub(super) fn matters(&self, run: &Run) -> HashSet<Slot> {
        let mut slots = HashSet::new();
        let program = self.program;
        let mut before = (&run.initial, &run.slots);
        for (index, step) in run.steps.iter().enumerate() {
            let changed = before.0.shared.iter().zip(&step.state.shared).enumerate();
            slots.extend(changed.filter(|(_, (before, after))| before != after).map(|(slot, _)| slot));
            let edge = &program.locations[step.location].edges[step.edge];
            if let Some(thread) = before.1[step.thread] {
                let about = About { program, state: before.0, thread, edge };
                about.reads(&mut |slot| {
                    slots.insert(slot);
                });
            }
            let wrong = match run.end {
                End::Wrong(violation) if index + 1 == run.steps.len() => Some(violation),
                _ => None,
            };
            for inner in self.inside((before.0, &before.1[..]), step, wrong) {
                let edge = &program.locations[inner.location].edges[inner.edge];
                if let Some(thread) = before.1[step.thread] {
                    let about = About { program, state: &inner.before, thread, edge };
                    about.reads(&mut |slot| {
                        slots.insert(slot);
                    });
                }
                let changed = inner.before.shared.iter().zip(&inner.after.shared).enumerate();
                slots.extend(changed.filter(|(_, (before, after))| before != after).map(|(slot, _)| slot));
            }
            before = (&step.state, &step.slots);
        }
        match run.end {
            End::Wrong(violation) => {
                for never in program.never.iter().filter(|never| never.span.line == violation.line) {
                    let asked = Op::Guard(never.expr.clone(), true);
                    asked.shared_accesses(&mut |slot, length, _| slots.extend(slot..slot + length));
                }
            }
            End::Deadlock | End::Halted(Halt::Stuck { .. } | Halt::Starved { .. }) => {
                self.waited_for(before.0, &mut slots)
            }
        }
        slots
    }

    /// The slots that threads read which cannot move.
    fn waited_for(&self, state: &State, slots: &mut HashSet<Slot>) {
        for (thread, of) in state.threads.iter().enumerate() {
            let Some(top) = of.top() else { continue };
            for edge in &self.program.locations[top.location].edges {
                About { program: self.program, state, thread, edge }.reads(&mut |slot| {
                    slots.insert(slot);
                });
            }
        }
    }
}
