//! Condition variables, and the end of the process, where it is looked for deadlocks.
//!
//! POSIX allows a thread to wake up spuriously and does not promise it. So every wait is one of two, and it is open which: one
//! that may end at any time, or one that ends when a signal wakes the thread and not before. A thread that waits so that nobody
//! will wake it can then be found stuck; and whatever can happen by spurious wake-ups can happen here as well. (A wait that
//! ends spuriously is of the first kind; one that a signal ends, or nothing ends, is of the second.)
//!
//! A condition variable holds the set of the threads that wait for a signal, as bits: 0 for `main`, the others by their
//! numbers. A signal takes one thread out, if there is one; a broadcast takes all out.
//!
//! When the process ends, nobody waits any more: every step that may have to wait has another beside it, which ends the
//! thread if the process is over.

use super::places::{Target, binary};
use super::{Lowering, Model, Result, refuse};
use crate::fuse::may_wait;
use crate::slots::Kind;
use crate::typed::Expr;
use allways_model::program::{Binary as Operator, LocationId, Op, Span, Value};

/// More threads than this, and the set of those that wait has no place.
const MOST_THREADS: usize = 30;

/// A signal: it leads from one location to another.
pub(super) struct Signal {
    from: LocationId,
    to: LocationId,
    place: Target,
    span: Span,
}

/// Whether a function is one of condition variables that matters for deadlocks.
pub(super) fn is_one(name: &str) -> bool {
    matches!(
        name,
        "pthread_cond_init"
            | "pthread_cond_wait"
            | "pthread_cond_timedwait"
            | "pthread_cond_signal"
            | "pthread_cond_broadcast"
            | "cnd_init"
            | "cnd_wait"
            | "cnd_timedwait"
            | "cnd_signal"
            | "cnd_broadcast"
    )
}

fn has(set: &Model, bit: Value) -> Model {
    let common = binary(Operator::BitAnd, set.clone(), Model::Constant(bit));
    binary(Operator::Unequal, common, Model::Constant(0))
}

impl Lowering<'_> {
    /// A call of a function of condition variables.
    pub(super) fn condition_variable(
        &mut self,
        name: &str,
        arguments: &[Expr],
        span: Span,
    ) -> Result<Vec<Model>> {
        let Some(object) = arguments.first() else {
            return refuse(span, format!("`{name}` is called with too few arguments"));
        };
        let place = self.target_of(object)?;
        let zero = Ok(vec![Model::Constant(0)]);
        if name.ends_with("init") || name.ends_with("broadcast") {
            self.specially(&place, Kind::Library);
            self.store(&place, Model::Constant(0), span)?;
            return zero;
        }
        if name.ends_with("signal") {
            let (from, to) = (self.here, self.location(span));
            self.locations[from].span = span;
            self.reached[to.index()] = true;
            self.signals.push(Signal { from, to, place, span });
            self.here = to;
            return zero;
        }
        let Some(mutex) = arguments.get(1) else { return refuse(span, format!("`{name}` without a mutex")) };
        let thread = match self.body.thread {
            _ if self.body.many => return refuse(span, "one of any number of threads waits for a signal"),
            _ if self.body.is_procedure => return refuse(span, "a recursive function waits for a signal"),
            Some(thread) if thread + 1 > MOST_THREADS => {
                return refuse(span, "more than 30 threads, of which one waits for a signal");
            }
            Some(thread) => thread + 1,
            None if self.body.number == 0 => 0,
            None => return refuse(span, "a thread without a number waits for a signal"),
        };
        let bit = 1 << thread;
        let lock = self.target_of(mutex)?;
        let (here, waits, wakes) = (self.here, self.location(span), self.location(span));
        self.locations[here].span = span;
        let free = self.model_place(&lock, span);
        let set = self.load(&place, span);
        let in_set = self.model_place(&place, span);
        let more = binary(Operator::BitOr, set.clone(), Model::Constant(bit));
        let fewer = binary(Operator::Minus, set.clone(), Model::Constant(bit));
        let released = self.released_to_wait(&lock, span);
        let may = self.is_unwanted(&lock, span);
        self.edge(here, Op::Assign(vec![free.clone()], vec![released.clone()], may.clone()), wakes, span);
        self.edge(here, Op::Assign(vec![free, in_set.clone()], vec![released, more], may), waits, span);
        self.edge(waits, Op::Guard(has(&set, bit), false), wakes, span);
        let timed = name.contains("timed");
        if timed {
            self.edge(waits, Op::Assign(vec![in_set], vec![fewer], Some(has(&set, bit))), wakes, span);
        }
        self.here = wakes;
        self.take_mutex(mutex, span)?;
        self.count_wait(span)?;
        if !timed {
            return zero;
        }
        let late = Box::new(Model::Constant(super::synchronisation::busy_code(name)));
        let result = Model::If(Box::new(Model::Choose(0, 1)), late, Box::new(Model::Constant(0)));
        Ok(vec![self.kept(result, span)?])
    }

    /// Makes the steps of signals, now that all threads are known.
    pub(super) fn wake_one(&mut self) {
        let threads = self.objects[self.ended.0].parts.len().min(MOST_THREADS);
        for Signal { from, to, place, span } in std::mem::take(&mut self.signals) {
            let set = self.load(&place, span);
            let nobody = binary(Operator::Equal, set.clone(), Model::Constant(0));
            self.edge(from, Op::Guard(nobody, true), to, span);
            for thread in 0..=threads {
                let bit = 1 << thread;
                let fewer = binary(Operator::Minus, set.clone(), Model::Constant(bit));
                let op = Op::Assign(vec![self.model_place(&place, span)], vec![fewer], Some(has(&set, bit)));
                self.edge(from, op, to, span);
            }
        }
    }

    /// Lets threads that wait end when the process is over.
    pub(super) fn let_go(&mut self) {
        let Some(over) = self.over else { return };
        let is_over = binary(Operator::Equal, Model::Shared(over), Model::Constant(1));
        for location in 0..self.locations.len() {
            let location = LocationId(location);
            if may_wait(&self.locations[location].edges) {
                let span = self.locations[location].span;
                self.body.procedure = self.locations[location].procedure;
                let end = self.location(span);
                self.edge(location, Op::Guard(is_over.clone(), true), end, span);
            }
        }
    }
}
