//! Numbers of shared slots in what is known of values: each slot its own, or one for all slots of a large variable, which is *smashed*
//! then: what is known of it holds for each of them.

use super::{Held, initial};
use allways_model::program::{Program, Slot, Variable};
use std::ops::Range;

/// Numbers of shared slots.
pub struct Numbers {
    /// Of each slot.
    pub of: Vec<usize>,
    /// Of each number, a slot, and whether it stands for others as well.
    pub slots: Vec<(Slot, bool)>,
}

impl Numbers {
    /// One number for all slots of a variable that has more than so many.
    pub fn of(program: &Program, most: usize) -> Numbers {
        let mut numbers = Numbers { of: Vec::with_capacity(program.shared_slots()), slots: Vec::new() };
        for variable in &program.shared {
            let smashed = variable.slots() > most;
            for slot in variable.slot..variable.slot + variable.slots() {
                if !smashed || slot == variable.slot {
                    numbers.slots.push((slot, smashed));
                }
                numbers.of.push(numbers.slots.len() - 1);
            }
        }
        numbers
    }

    /// The numbers of slots next to each other.
    pub fn all(&self, slots: Range<Slot>) -> Range<usize> {
        if slots.is_empty() { 0..0 } else { self.of[slots.start]..self.of[slots.end - 1] + 1 }
    }

    /// What variables hold at first.
    pub fn initial(&self, variables: &[Variable]) -> Vec<Held> {
        let mut held: Vec<Option<Held>> = vec![None; self.slots.len()];
        for (one, &number) in initial(variables).into_iter().zip(&self.of) {
            held[number] = Some(held[number].map_or(one, |known| either(known, one)));
        }
        held.into_iter().flatten().collect()
    }
}

/// What one of the two holds.
fn either(one: Held, other: Held) -> Held {
    let values = match (one.values, other.values) {
        (Some(one), Some(other)) => Some(one.join(other)),
        (one, other) => one.or(other),
    };
    Held { values, open: one.open || other.open }
}
