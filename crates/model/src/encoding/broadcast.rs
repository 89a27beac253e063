//! Broadcasts: all threads that wait for the event go on, in the same step.
//!
//! With a known number of threads this is exact. The mode counts those still to be woken, each goes on by a rule of its own,
//! and who comes to a wait for the same event stands aside until all are woken. A signal is a broadcast by which at most one is to
//! be woken, whichever goes on first.
//!
//! With any number of threads nobody knows how many wait. Then, in the midst of a broadcast, threads that wait go on one by
//! one, and whoever does not wait may end it, be it too early; who stands aside settles some time later. These rules allow
//! more than the program, and all that it can do. Who counts threads does better: at the end of a broadcast, all move
//! [at once](crate::pushdown::Pushdown::after_broadcast).

use super::Encoded;
use super::rules::Mover;
use super::table::{Cell, Key, Mode, Point};
use crate::program::semantics::Frame;
use crate::program::{EventId, LocationId, Op, Value};
use crate::pushdown::{EMPTY, Rule, Shared, Symbol, Word};

impl Encoded {
    /// Moves a thread that broadcasts an event, or waited for it. So many are then left to be woken, and stand aside.
    pub(super) fn woken(
        &self,
        mover: &Mover<'_>,
        (index, event): (usize, EventId),
        (left, aside): (Value, Value),
        rules: &mut Vec<Rule>,
    ) {
        let edge = &self.program.locations[mover.location].edges[index];
        let mut values = mover.values.to_vec();
        let rule = if self.program.waits_for(edge.to) == Some(event) {
            self.arrive(&mut values, mover.location, -1);
            let point = Point::Returning(mover.location, index);
            let cell = Cell { point, locals: self.project(point, &mover.locals) };
            let word = Word::one(self.table.symbol(cell));
            (self.waking(values, event, (left, aside.wrapping_add(1))), word)
        } else {
            let word = self.go(mover, &mut values, edge.to);
            (self.waking(values, event, (left, aside)), word)
        };
        self.add(rules, rule, edge.span.line);
    }

    /// The shared state in the midst of a broadcast, or after it.
    pub(super) fn waking(&self, values: Vec<Value>, event: EventId, (left, aside): (Value, Value)) -> Key {
        match (left, aside) {
            _ if self.cap.is_some() => Key { mode: Mode::Waking(event, 0, 0), values: values.into() },
            (0, 0) => self.settled(values),
            (0, _) => Key { mode: Mode::Settling(aside), values: values.into() },
            _ => Key { mode: Mode::Waking(event, left, aside), values: values.into() },
        }
    }

    /// The event during whose broadcast a thread stands aside at this edge.
    pub(super) fn aside(&self, location: LocationId, edge: usize) -> Option<EventId> {
        match self.program.locations[location].edges[edge].op {
            Op::Wait(event) | Op::Broadcast(event) | Op::Signal(event) => Some(event),
            _ => None,
        }
    }

    /// Moves a thread that stood aside to the end of its edge.
    pub(super) fn settle(
        &self,
        values: &mut [Value],
        thread: usize,
        (location, edge): (LocationId, usize),
        locals: &[Value],
    ) -> Word {
        let location = self.program.locations[location].edges[edge].to;
        let locals = self.with_mixed(values, thread, locals);
        self.come(values, thread, &Frame { location, calling: None, locals })
    }

    /// With any number of threads: whether a broadcast can be over. Nobody waits then, so nobody is counted that does. (A
    /// counter at its cap stands for that and more: where everybody goes on, one way to count comes down to zero.)
    pub(super) fn over(&self, event: EventId, values: &[Value]) -> bool {
        let waits = |location: &LocationId| self.program.waits_for(*location) == Some(event);
        let first = self.program.shared_slots();
        let mut counters = self.watched.iter().enumerate();
        counters.all(|(counter, locations)| values[first + counter] == 0 || !locations.iter().all(waits))
    }

    /// With any number of threads: the shared state at the end of the broadcast in the midst of which this one is.
    pub(super) fn broadcast_from(&self, shared: Shared) -> Option<Shared> {
        let key = self.table.key(shared);
        let over = match key.mode {
            Mode::Waking(event, ..) => self.over(event, &key.values),
            Mode::Giving(..) => true,
            _ => false,
        };
        (self.cap.is_some() && over).then(|| self.table.shared(self.given_to_all(&key)))
    }

    /// Where a thread is at the end of a broadcast. One that is counted in the shared state before or after it is woken goes
    /// on by its own rule, which counts it; if it has not by then, it is left out.
    pub(super) fn top_after_broadcast(&self, thread: usize, shared: Shared, top: Symbol) -> Option<Symbol> {
        if top == EMPTY {
            return Some(top);
        }
        let (key, cell) = (self.table.key(shared), self.table.cell(top));
        let Mode::Waking(event, ..) = key.mode else { return self.top_after_giving(thread, shared, top) };
        let edge = match cell.point {
            Point::At(location) if self.program.waits_for(location) == Some(event) => (location, 0),
            Point::Returning(location, edge) if self.aside(location, edge) == Some(event) => (location, edge),
            _ => return Some(top),
        };
        let mut values = key.values.to_vec();
        if let Point::At(location) = cell.point {
            self.arrive(&mut values, location, -1);
        }
        let word = self.settle(&mut values, thread, edge, &cell.locals);
        (*values == *key.values).then(|| word.symbols()[0])
    }
}
