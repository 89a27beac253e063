//! Who has a mutex: threads that wait for each other in a circle, and threads that end with one.
//!
//! Where this is asked, a plain mutex that is held is `HELD` plus the number of its owner.
//!
//! **Circles.** There is a partial deadlock if each of some threads is about to take a mutex that the next of them has: none of them
//! ever moves again, whatever the others do. As with data races, threads are stopped one after the other. The first one
//! that stops in front of a mutex which is held leaves its number in a shared variable; it, and each that stops later, leaves in another
//! one who has what it waits for, and marks the mutex as [`WANTED`]. Only the thread that is named there may stop next.
//!
//! Invariant: `#waits_for` is 0, or the number of a thread that has a mutex for which the last of the threads that have stopped waits, and
//! each of the others waits for a mutex of the one that has stopped after it: who gives back a mutex that is wanted goes no
//! further, so that what was guessed stays true. So when the thread that is named comes to a mutex of the first one, the circle is
//! closed, in a state in which each of them stands where it would stand without this; and each circle is found by letting its
//! threads stop in their order. Whether the process has ended does not matter: who ends it might as well not have done so yet.
//!
//! **Ends.** Each thread counts the mutexes that it has, and has none when it ends. `main` is not asked: with it, the process ends.

use super::places::{Target, binary};
use super::{Lowering, Model, Result, refuse};
use allways_model::program::{Binary as Operator, Op, Slot, Span, Value};

/// What a mutex is that somebody has, besides the number of who that is.
const HELD: Value = 2;

/// What is added to a mutex for which a thread has stopped.
pub const WANTED: Value = 1 << 24;

/// The name of the variable that says who has what the last thread waits for that has stopped.
pub const WAITS_FOR: &str = "#waits_for";

/// The name of the variable in which a thread counts the mutexes that it has.
pub const HAS: &str = "#has";

fn equals(left: &Model, right: Model) -> Model {
    binary(Operator::Equal, left.clone(), right)
}

fn both(left: Model, right: Model) -> Model {
    binary(Operator::And, left, right)
}

impl Lowering<'_> {
    /// The variables of a circle: the first thread, and who has what the last one waits for.
    fn circle(&mut self) -> (Slot, Slot) {
        if let Some(known) = self.circle {
            return known;
        }
        let mut hidden = |name: &str| {
            let object = self.hidden(name);
            self.part(object, super::expressions::int(), 0)
        };
        let slots = (hidden("#first"), hidden(WAITS_FOR));
        self.circle = Some(slots);
        slots
    }

    /// The number of this thread as an owner.
    fn owner_here(&self, span: Span) -> Result<Value> {
        match self.owner() {
            _ if self.kinds => refuse(span, "who has a mutex that is not a plain one is not followed"),
            _ if self.body.atomic > 0 => refuse(span, "a mutex is taken or given back in an atomic section"),
            Some(owner) => Ok(owner),
            None => refuse(span, "one of any number of threads, or a recursive function, has a mutex"),
        }
    }

    /// What the mutex is to become, and the count of those that this thread has.
    fn stores(&self, place: &Target, value: Model, count: Model) -> Vec<(Target, Model)> {
        let mut stores = vec![(place.clone(), value)];
        stores.extend(self.body.has.map(|slot| (Target::Local(slot), count)));
        stores
    }

    /// How many mutexes this thread has, and so many more.
    fn has(&self, more: Model) -> Model {
        binary(Operator::Plus, Model::Local(self.body.has.unwrap_or_default()), more)
    }

    /// Takes a mutex, waiting until that is possible.
    pub(super) fn take_as_owner(&mut self, place: &Target, span: Span) -> Result<()> {
        let owner = self.owner_here(span)?;
        let found = self.load(place, span);
        let here = self.here;
        if self.property.cycles {
            let (first, waits_for) = self.circle();
            let place = self.model_place(place, span);
            let [first_place, last_place] =
                [first, waits_for].map(|slot| self.model_place(&Target::Shared(slot), span));
            let own = Model::Constant(HELD + owner);
            let wanted = binary(Operator::Plus, found.clone(), Model::Constant(WANTED));
            let holder = binary(Operator::Minus, found.clone(), Model::Constant(HELD));
            let is_held = both(
                binary(Operator::Greater, found.clone(), Model::Constant(HELD)),
                binary(Operator::Less, found.clone(), Model::Constant(WANTED)),
            );
            let of_other = both(is_held, binary(Operator::Unequal, found.clone(), own.clone()));
            let (stopped, closed) = (self.location(span), self.location(span));
            if self.property.deadlocks {
                // One that has stopped is none that waits.
                self.edge(stopped, Op::Skip, stopped, span);
            }
            // A mutex of its own, which may be wanted, too.
            let wanted_own = equals(&found, Model::Constant(HELD + owner + WANTED));
            let is_own = binary(Operator::Or, equals(&found, own), wanted_own);
            self.edge(here, Op::Guard(is_own, true), closed, span);
            let is_named = equals(&Model::Shared(waits_for), Model::Constant(owner));
            let firsts = equals(&found, binary(Operator::Plus, Model::Shared(first), Model::Constant(HELD)));
            self.edge(here, Op::Guard(both(is_named.clone(), firsts.clone()), true), closed, span);
            self.edge(closed, Op::Error, closed, span);
            let nobody = equals(&Model::Shared(first), Model::Constant(0));
            let op = Op::Assign(
                vec![first_place, last_place.clone(), place.clone()],
                vec![Model::Constant(owner), holder.clone(), wanted.clone()],
                Some(both(nobody, of_other.clone())),
            );
            self.edge(here, op, stopped, span);
            let goes_on = both(both(is_named, of_other), super::expressions::not(firsts));
            let op = Op::Assign(vec![last_place, place], vec![holder, wanted], Some(goes_on));
            self.edge(here, op, stopped, span);
        }
        let free = equals(&found, Model::Constant(0));
        let stores = self.stores(place, Model::Constant(HELD + owner), self.has(Model::Constant(1)));
        self.store_at_once(stores, Some(free), span)
    }

    /// Takes a mutex if nobody has it: whether that was so.
    pub(super) fn try_as_owner(&mut self, place: &Target, busy: Value, span: Span) -> Result<Model> {
        let owner = self.owner_here(span)?;
        let found = self.load(place, span);
        let free = equals(&found, Model::Constant(0));
        let choose = |yes: Model, no: Model| Model::If(Box::new(free.clone()), Box::new(yes), Box::new(no));
        let result = self.temporary(span);
        let more = self.has(choose(Model::Constant(1), Model::Constant(0)));
        let mut stores = self.stores(place, choose(Model::Constant(HELD + owner), found.clone()), more);
        stores.push((Target::Local(result), choose(Model::Constant(0), Model::Constant(busy))));
        self.store_at_once(stores, None, span)?;
        Ok(Model::Local(result))
    }

    /// Gives a mutex back.
    pub(super) fn give_back_as_owner(&mut self, place: &Target, span: Span) -> Result<()> {
        let owner = self.owner_here(span)?;
        let found = self.load(place, span);
        let own = equals(&found, Model::Constant(HELD + owner));
        let fewer = Model::If(Box::new(own), Box::new(Model::Constant(-1)), Box::new(Model::Constant(0)));
        let stores = self.stores(place, Model::Constant(0), self.has(fewer));
        self.store_at_once(stores, self.is_unwanted(place, span), span)
    }

    /// Whether a mutex may be given back, if that depends on who waits for it.
    pub(super) fn is_unwanted(&self, place: &Target, span: Span) -> Option<Model> {
        let found = self.load(place, span);
        self.property.cycles.then(|| binary(Operator::Less, found, Model::Constant(WANTED)))
    }

    /// After a wait for a signal, for which the mutex was given back without being counted.
    pub(super) fn count_wait(&mut self, span: Span) -> Result<()> {
        match self.body.has {
            Some(slot) => {
                let fewer = self.has(Model::Constant(-1));
                self.store(&Target::Local(slot), fewer, span)
            }
            None => Ok(()),
        }
    }

    /// A thread ends, and should have no mutex.
    pub(super) fn end_without_mutexes(&mut self, span: Span) -> Result<()> {
        match self.body.has {
            Some(slot) => self.emit(Op::Assert(equals(&Model::Local(slot), Model::Constant(0))), span),
            None => Ok(()),
        }
    }
}
