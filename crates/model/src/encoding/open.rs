//! Initial values that are chosen when they are first asked for.
//!
//! If a program has too many initial states, a shared variable that may start with any value has none at first: its slot is
//! [`OPEN`]. The first thread of which a step reads the slot gives it a value, any of its type, by a rule that changes nothing
//! else; then come the rules of the step. Writing gives it a value, too. What properties read is never left open. Of a type
//! with too many values, a few are tried, and the system is one of which only some steps are known.
//!
//! Invariant: a state with open slots stands for all states in which these have some value of their types. Nobody has asked
//! for it so far, so all of them are reached by the same steps, each from an initial state of its own.

use super::{Encoded, Key, MOST_INITIAL, OPEN};
use crate::program::semantics;
use crate::program::{Expr, Program, Slot, Value};
use crate::pushdown::{Rule, State, Symbol, Word};
use std::cell::Cell;

/// The values that are tried where there are too many.
const SAMPLE: (Value, Value) = (-1, 2);

/// Which open slot is read by the rules that are being made.
#[derive(Default)]
pub(super) struct Reads(Cell<Option<Slot>>);

impl Reads {
    /// Takes note of a slot. There are no steps before it has a value.
    pub fn note<T: Default>(&self, slot: Slot) -> T {
        self.0.set(self.0.get().or(Some(slot)));
        T::default()
    }

    /// The first that was noted.
    pub fn first(&self) -> Option<Slot> {
        self.0.get()
    }
}

impl Encoded {
    /// Leaves the initial values of shared variables open where that is possible.
    pub(super) fn leave_open(&mut self) {
        let read = read_by_properties(&self.reduced.program);
        for variable in &self.reduced.program.shared {
            for (slot, initial) in (variable.slot..).zip(&variable.initial) {
                self.open[slot] = initial.is_none() && !read[slot] && !variable.ty.contains(OPEN);
            }
        }
    }

    /// The initial states of the reduced program; `None` if there are too many.
    pub(super) fn starts(&self) -> Option<Vec<semantics::State>> {
        let counts = self.initial_counts();
        if !self.open.contains(&true) {
            return semantics::State::initial(&self.reduced.program, &counts);
        }
        let mut program = self.reduced.program.clone();
        for variable in &mut program.shared {
            for (slot, initial) in (variable.slot..).zip(&mut variable.initial) {
                if self.open[slot] {
                    *initial = Some(OPEN);
                }
            }
        }
        semantics::State::initial(&program, &counts)
    }

    /// Whether the value of a slot is still to be chosen.
    pub(super) fn is_open(&self, slot: Slot, value: Value) -> bool {
        value == OPEN && self.open.get(slot) == Some(&true)
    }

    /// The rules that choose the value of a slot.
    pub(super) fn close(&self, key: &Key, top: Symbol, slot: Slot) -> Vec<Rule> {
        let after = self.program.shared.partition_point(|variable| variable.slot <= slot);
        let variable = &self.program.shared[after - 1];
        let Some((mut low, mut high)) = variable.ty.bounds().filter(|_| self.open[slot]) else {
            self.give_up(variable.span);
            return Vec::new();
        };
        if high.abs_diff(low) >= MOST_INITIAL as u64 {
            // What is safe cannot come out any more; something that goes wrong with a small number can.
            self.give_up(variable.span);
            (low, high) = (SAMPLE.0.clamp(low, high), SAMPLE.1.clamp(low, high));
        }
        let rule = |value| {
            let mut key = key.clone();
            key.values[slot] = value;
            Rule { shared: self.table.shared(key), word: Word::one(top), line: 0 }
        };
        let mut rules: Vec<Rule> = (low..=high).map(rule).collect();
        rules.sort_unstable();
        rules
    }

    /// The slot, and its value, if all that happens between two states is that the value is chosen.
    pub fn chosen(&self, before: &State, after: &State) -> Option<(Slot, Value)> {
        let (from, to) = (self.table.key(before.shared), self.table.key(after.shared));
        if from.mode != to.mode || from.values.len() != to.values.len() || before.stacks != after.stacks {
            return None;
        }
        let mut changes = (0..from.values.len()).filter(|&slot| from.values[slot] != to.values[slot]);
        let slot = changes.next().filter(|&slot| self.is_open(slot, from.values[slot]))?;
        changes.next().is_none().then(|| (slot, to.values[slot]))
    }

    /// Whether a state of the system stands for one of the program, whose threads sit in these slots.
    pub fn stands_for(&self, state: &State, of: &semantics::State, slots: &[Option<usize>]) -> bool {
        let (mut values, stacks) = self.parts(of, slots);
        let key = self.table.key(state.shared);
        for (slot, (value, kept)) in values.iter_mut().zip(&key.values).enumerate() {
            if self.is_open(slot, *kept) {
                *value = OPEN;
            }
        }
        stacks == state.stacks && self.settled(values) == *key
    }
}

/// For each shared slot, whether a property may read it.
fn read_by_properties(program: &Program) -> Vec<bool> {
    let mut read = vec![false; program.shared_slots()];
    for never in &program.never {
        never.expr.visit(&mut |expr| match expr {
            Expr::Shared(slot) => read[*slot] = true,
            Expr::SharedElement(slot, length, ..) => read[*slot..*slot + *length].fill(true),
            _ => {}
        });
    }
    read
}
