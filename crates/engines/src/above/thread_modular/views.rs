//! Which sets of facts there are, and which set a thread is in after a step.
//!
//! Threads of one kind start alike and move alike, so the sets of two such threads are equal, and one is kept for both. A set
//! has *room* for so many threads: what matters is only whether there is one, and whether there are two, so that a thread
//! can be disturbed by another one in the same set. Hence sets stop changing when more threads are added to a kind of two
//! (to a kind of three with movers), and what is computed with room for two holds for any number.
//!
//! * *One* view: a set for each kind.
//! * *Movers*: a view for each kind, of the states after a step of a thread of that kind: a set for the thread that moved, and
//!   one for the other threads of each kind. (TM: the tuple `j` of the quadratic method; and threads `j` of one kind have
//!   equal tuples up to the order of threads.) Put differently, the shared state remembers the kind of the last mover, and the
//!   last mover remembers that it was the one.

use super::facts::Cell;
use allways_model::pushdown::Pushdown;
use allways_model::symmetry::Kinds;

/// How many threads there are of each kind.
#[derive(Clone, Debug)]
pub struct Population {
    /// The kind of each thread.
    pub kinds: Kinds,
    /// For each kind, whether there may be any number.
    pub many: Vec<bool>,
}

impl Population {
    /// The threads of a system. Without symmetry, each is of its own kind.
    pub fn of(system: &dyn Pushdown, no_symmetry: bool) -> Population {
        let threads = 0..system.threads();
        let kinds = if no_symmetry { Kinds::distinct(threads.len()) } else { Kinds::of(system) };
        let many = (0..kinds.count()).map(|kind| system.many(kinds.members(kind)[0])).collect();
        Population { kinds, many }
    }

    /// How many threads there are of a kind.
    fn count(&self, kind: usize) -> usize {
        if self.many[kind] { usize::MAX } else { self.kinds.members(kind).len() }
    }
}

/// A way to choose sets; see the module.
#[derive(Clone, Debug)]
pub struct Views {
    /// The threads.
    pub population: Population,
    /// Whether there is a view for each kind of movers.
    pub movers: bool,
}

impl Views {
    /// One view.
    pub fn one(population: Population) -> Views {
        Views { population, movers: false }
    }

    /// A view for each kind of movers.
    pub fn for_movers(population: Population) -> Views {
        Views { population, movers: true }
    }

    /// How many kinds there are.
    pub fn kinds(&self) -> usize {
        self.population.kinds.count()
    }

    /// How many views there are.
    pub fn views(&self) -> usize {
        if self.movers { self.kinds() } else { 1 }
    }

    /// How many sets a view has.
    fn width(&self) -> usize {
        self.kinds() + usize::from(self.movers)
    }

    /// The view that a set belongs to.
    pub fn view(&self, cell: Cell) -> usize {
        cell.index() / self.width()
    }

    /// The sets of a view that have room for a thread.
    pub fn cells(&self, view: usize) -> impl Iterator<Item = Cell> {
        let first = view * self.width();
        (first..first + self.width()).map(|cell| Cell(cell as u32)).filter(|&cell| self.room(cell) > 0)
    }

    /// Whether a set is that of the mover.
    pub fn is_mover(&self, cell: Cell) -> bool {
        self.movers && cell.index() % self.width() == self.kinds()
    }

    /// The kind of the threads in a set.
    pub fn kind(&self, cell: Cell) -> usize {
        if self.is_mover(cell) { self.view(cell) } else { cell.index() % self.width() }
    }

    /// How many threads a set has room for.
    pub fn room(&self, cell: Cell) -> usize {
        let kind = self.kind(cell);
        if self.is_mover(cell) {
            1
        } else if self.movers && self.view(cell) == kind && !self.population.many[kind] {
            self.population.count(kind) - 1
        } else {
            self.population.count(kind)
        }
    }

    /// Whether there need not be a thread in a set that has room for one.
    pub fn optional(&self, cell: Cell) -> bool {
        self.population.many[self.kind(cell)] && !self.is_mover(cell)
    }

    /// The view after a step of a thread of this kind.
    pub fn after(&self, kind: usize) -> usize {
        if self.movers { kind } else { 0 }
    }

    /// The set of a thread of this kind that has just moved.
    pub fn moved(&self, kind: usize) -> Cell {
        let place = if self.movers { self.kinds() } else { kind };
        Cell((self.after(kind) * self.width() + place) as u32)
    }

    /// The set in a view of a thread of this kind that has not just moved.
    pub fn rest(&self, view: usize, kind: usize) -> Cell {
        Cell((view * self.width() + kind) as u32)
    }

    /// Whether there is a thread in `cell` beside one in `mover`.
    pub fn beside(&self, cell: Cell, mover: Cell) -> bool {
        self.room(cell) > usize::from(cell == mover)
    }
}
