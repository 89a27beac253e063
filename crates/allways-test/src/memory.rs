//! Atomic memory: what a load may read, and where a store stands in the order of its location.
//!
//! Sequentially consistent memory, which is the default, has one store for each location, the last one. Weak memory keeps all of them,
//! in modification order: a load may read any that its task's view does not rule out, a store may stand anywhere after
//! what the task knows of. The choice among these costs as many delays as there are newer ones (see `axioms.rs` for what is
//! allowed). In both, what is known to have happened before follows the orderings as they are written, so that a data race is one
//! even if the memory behaved.
//!
//! A loop that waits could read an outdated store for ever. As with schedules, two looks are enough: a task that has read an
//! outdated store twice, and has yielded after each time, does not read that store a third time.

use crate::axioms::Event;
pub(crate) use crate::axioms::Order;
use crate::view::View;
use crate::world::World;
use std::sync::atomic::Ordering;

/// Stamps of stores are so far apart that others find room between them.
const APART: u64 = 1 << 24;
/// So many looks at an outdated store.
const LOOKS: u32 = 2;

#[derive(Clone, Debug)]
struct Store {
    stamp: u64,
    value: u64,
    /// What who acquires it comes to know.
    view: View,
    event: usize,
    /// It has read the store before it, and nothing may come between.
    update: bool,
}

/// The stores of an atomic variable, in modification order.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    stores: Vec<Store>,
}

fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

/// Chooses one of so many alternatives.
pub(crate) type Decide<'a> = &'a mut dyn FnMut(usize) -> usize;

impl World {
    /// A variable with its initial value.
    pub fn new_location(&mut self, value: u64) -> usize {
        let event = Event {
            task: None,
            time: 0,
            location: Some(self.locations.len()),
            reads: None,
            writes: Some(APART),
            sequential: false,
            clock: Vec::new(),
        };
        let event = if self.weak { self.order.push(event) } else { 0 };
        let first = Store { stamp: APART, value, view: View::default(), event, update: false };
        self.locations.push(Location { stores: vec![first] });
        self.locations.len() - 1
    }

    /// The value at the end of the modification order.
    pub fn newest(&self, location: usize) -> u64 {
        self.locations[location].stores.last().map_or(0, |store| store.value)
    }

    pub fn load(&mut self, location: usize, order: Ordering, decide: Decide) -> u64 {
        let time = self.tick();
        if !self.weak {
            return self.read(location, 0, order, 0);
        }
        let mut candidates = self.candidates(location, |_, _| true);
        if candidates.len() > 1 {
            let newest = candidates[0];
            candidates.retain(|&index| {
                index == newest || {
                    let event = self.reading(location, index, order, time);
                    self.order.allows(event)
                }
            });
        }
        let index = candidates[decide(candidates.len())];
        let event = self.reading(location, index, order, time);
        self.order.push(event);
        self.read(location, index, order, candidates[0])
    }

    pub fn store(&mut self, location: usize, value: u64, order: Ordering, decide: Decide) {
        let time = self.tick();
        if !self.weak {
            self.locations[location].stores[0].view.clear();
            self.overwrite(location, value, order);
            return;
        }
        let end = self.locations[location].stores.len();
        let mut places = vec![end];
        let floor = self.me().view.floor(location);
        for place in (1..end).rev() {
            let stores = &self.locations[location].stores;
            if stores[place - 1].stamp < floor {
                break;
            }
            if !stores[place].update {
                let event = self.writing(location, place, order, time, None);
                if self.order.allows(event) {
                    places.push(place);
                }
            }
        }
        let place = places[decide(places.len())];
        let mut view = self.me().released.clone();
        if releases(order) {
            view = self.me().view.clone();
        }
        self.write(location, place, value, order, view, (time, None));
    }

    /// A read and a write in one, if `change` gives a value; else a read only.
    pub fn update(
        &mut self,
        location: usize,
        success: Ordering,
        failure: Ordering,
        change: &dyn Fn(u64) -> Option<u64>,
        decide: Decide,
    ) -> Result<u64, u64> {
        let time = self.tick();
        if !self.weak {
            let seen = self.newest(location);
            return match change(seen) {
                None => Err(self.read(location, 0, failure, 0)),
                Some(value) => {
                    self.read(location, 0, success, 0);
                    self.overwrite(location, value, success);
                    Ok(seen)
                }
            };
        }
        let mut candidates =
            self.candidates(location, |store, followed| !followed || change(store.value).is_none());
        let newest = self.locations[location].stores.len() - 1;
        if candidates.len() > 1 {
            candidates.retain(|&index| {
                index == newest || {
                    let event = match change(self.locations[location].stores[index].value) {
                        Some(_) => self.writing(location, index + 1, success, time, Some(index)),
                        None => self.reading(location, index, failure, time),
                    };
                    self.order.allows(event)
                }
            });
        }
        let index = candidates[decide(candidates.len())];
        let seen = self.locations[location].stores[index].value;
        let Some(value) = change(seen) else {
            let event = self.reading(location, index, failure, time);
            self.order.push(event);
            return Err(self.read(location, index, failure, candidates[0]));
        };
        let before = self.locations[location].stores[index].view.clone();
        self.read(location, index, success, candidates[0]);
        let mut view = if releases(success) { self.me().view.clone() } else { self.me().released.clone() };
        view.join(&before);
        self.write(location, index + 1, value, success, view, (time, Some(index)));
        Ok(seen)
    }

    pub fn fence(&mut self, order: Ordering) {
        let time = self.tick();
        let weak = self.weak;
        let me = self.me();
        if acquires(order) {
            let read = std::mem::take(&mut me.read);
            me.view.join(&read);
        }
        if releases(order) {
            me.released = me.view.clone();
        }
        if weak && order == Ordering::SeqCst {
            let clock = self.me().view.clock.clone();
            let task = Some(self.current);
            self.order.push(Event {
                task,
                time,
                location: None,
                reads: None,
                writes: None,
                sequential: true,
                clock,
            });
        }
    }

    fn tick(&mut self) -> u32 {
        let current = self.current;
        self.me().view.tick(current)
    }

    /// What may be read, the newest first. The test is given a store, and whether an update follows it.
    fn candidates(&mut self, location: usize, test: impl Fn(&Store, bool) -> bool) -> Vec<usize> {
        let me = self.me();
        let floor = me.view.floor(location);
        let seen_enough = me
            .outdated
            .get(&location)
            .filter(|&&(_, looks, round)| looks >= LOOKS && me.yields > round)
            .map(|&(stamp, ..)| stamp);
        let stores = &self.locations[location].stores;
        let mut candidates = Vec::new();
        for index in (0..stores.len()).rev() {
            let followed = stores.get(index + 1).is_some_and(|next| next.update);
            let outdated = !candidates.is_empty() && seen_enough == Some(stores[index].stamp);
            if test(&stores[index], followed) && !outdated {
                candidates.push(index);
            }
            // What is older was overwritten before, as far as the task knows.
            if stores[index].stamp <= floor {
                break;
            }
        }
        candidates
    }

    fn reading(&mut self, location: usize, index: usize, order: Ordering, time: u32) -> Event {
        let store = &self.locations[location].stores[index];
        let (event, mut clock) = (store.event, View { clock: Vec::new(), floors: Vec::new() });
        if acquires(order) {
            clock.join(&View { clock: store.view.clock.clone(), floors: Vec::new() });
        }
        clock.join(&View { clock: self.me().view.clock.clone(), floors: Vec::new() });
        Event {
            task: Some(self.current),
            time,
            location: Some(location),
            reads: Some(event),
            writes: None,
            sequential: order == Ordering::SeqCst,
            clock: clock.clock,
        }
    }

    /// The event of a store at a place, which may have read the store before it.
    fn writing(
        &mut self,
        location: usize,
        place: usize,
        order: Ordering,
        time: u32,
        read: Option<usize>,
    ) -> Event {
        let mut event = match read {
            Some(index) => self.reading(location, index, order, time),
            None => Event {
                task: Some(self.current),
                time,
                location: Some(location),
                reads: None,
                writes: None,
                sequential: order == Ordering::SeqCst,
                clock: self.me().view.clock.clone(),
            },
        };
        event.writes = Some(self.stamp(location, place));
        event
    }

    /// A stamp between those of the neighbours.
    fn stamp(&self, location: usize, place: usize) -> u64 {
        let stores = &self.locations[location].stores;
        let before = stores[place - 1].stamp;
        let Some(after) = stores.get(place) else {
            return before + APART;
        };
        let stamp = before + (after.stamp - before) / 2;
        assert!(stamp > before, "more than 24 stores are nested in the modification order");
        stamp
    }

    /// Sequentially consistent memory: a value takes the place of the one before. What who acquires that came to know is part of
    /// what who acquires this one does, unless it was cleared.
    fn overwrite(&mut self, location: usize, value: u64, order: Ordering) {
        self.me();
        let store = &mut self.locations[location].stores[0];
        let me = &self.tasks[self.current];
        store.view.join(if releases(order) { &me.view } else { &me.released });
        store.value = value;
    }

    /// The view of the task after a read. Gives the value.
    fn read(&mut self, location: usize, index: usize, order: Ordering, newest: usize) -> u64 {
        self.me();
        let store = &self.locations[location].stores[index];
        let me = &mut self.tasks[self.current];
        let into = if acquires(order) { &mut me.view } else { &mut me.read };
        into.join(&store.view);
        let &Store { stamp, value, .. } = store;
        if !self.weak {
            return value;
        }
        me.view.raise(location, stamp);
        if index == newest {
            me.outdated.remove(&location);
        } else {
            let yields = me.yields;
            let entry = me.outdated.entry(location).or_insert((stamp, 0, yields));
            if entry.0 != stamp {
                *entry = (stamp, 0, yields);
            }
            if entry.1 == 0 || yields > entry.2 {
                *entry = (stamp, entry.1 + 1, yields);
            }
        }
        value
    }

    fn write(
        &mut self,
        location: usize,
        place: usize,
        value: u64,
        order: Ordering,
        mut view: View,
        (time, read): (u32, Option<usize>),
    ) {
        let stamp = self.stamp(location, place);
        let entry = self.writing(location, place, order, time, read);
        let event = self.order.push(entry);
        view.raise(location, stamp);
        self.me().view.raise(location, stamp);
        let store = Store { stamp, value, view, event, update: read.is_some() };
        self.locations[location].stores.insert(place, store);
    }
}
