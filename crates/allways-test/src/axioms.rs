//! Which executions C11 allows with sequentially consistent accesses and fences: the axiom of RC11 (Lahav, Vafeiadis, Kang, Hur,
//! Dreyer, *Repairing Sequential Consistency in C/C++11*, PLDI 2017), that `psc` has no cycle.
//!
//! The other axioms hold by construction (`memory.rs`): coherence, because views bound what a load may read and where a store may
//! stand; atomicity, because nothing is put between an update and what it has read; and no thin air, because a load reads a store
//! that was executed before. Release sequences are those of C++20, a store and the updates that follow it, as Rust has them.
//!
//! Invariant: events stand in the order of execution; each prefix was allowed. An event that reads the newest store, or that stores
//! at the end of the modification order, closes no cycle, since nothing leads on from it.

/// An access or a fence that was executed.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// None for the initial value, which happened before everything.
    pub task: Option<usize>,
    pub time: u32,
    /// None for a fence.
    pub location: Option<usize>,
    /// The event that wrote what was read.
    pub reads: Option<usize>,
    /// The stamp of what was written.
    pub writes: Option<u64>,
    pub sequential: bool,
    /// What happened before.
    pub clock: Vec<u32>,
}

/// The events of an execution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    pub events: Vec<Event>,
    /// How many of them are sequentially consistent.
    sequential: usize,
}

/// A relation between events.
struct Relation {
    words: usize,
    rows: Vec<u64>,
}

impl Relation {
    fn new(size: usize, holds: impl Fn(usize, usize) -> bool) -> Relation {
        let words = size.div_ceil(64);
        let mut rows = vec![0; words * size];
        for a in 0..size {
            for b in (0..size).filter(|&b| a != b && holds(a, b)) {
                rows[a * words + b / 64] |= 1 << (b % 64);
            }
        }
        Relation { words, rows }
    }

    fn row(&self, a: usize) -> &[u64] {
        &self.rows[a * self.words..(a + 1) * self.words]
    }

    fn holds(&self, a: usize, b: usize) -> bool {
        self.row(a)[b / 64] >> (b % 64) & 1 == 1
    }

    fn add(&mut self, a: usize, row: &[u64]) {
        for (mine, theirs) in self.rows[a * self.words..].iter_mut().zip(row) {
            *mine |= theirs;
        }
    }

    /// First this, then the other.
    fn then(&self, other: &Relation) -> Relation {
        let size = self.rows.len() / self.words.max(1);
        let mut both = Relation { words: self.words, rows: vec![0; self.rows.len()] };
        for a in 0..size {
            for b in (0..size).filter(|&b| self.holds(a, b)) {
                both.add(a, other.row(b));
            }
        }
        both
    }

    fn or(mut self, other: &Relation) -> Relation {
        self.rows.iter_mut().zip(&other.rows).for_each(|(mine, theirs)| *mine |= theirs);
        self
    }
}

impl Order {
    /// Adds an event that is known to be allowed.
    pub fn push(&mut self, event: Event) -> usize {
        self.sequential += usize::from(event.sequential);
        self.events.push(event);
        self.events.len() - 1
    }

    /// Whether another event would be allowed.
    pub fn allows(&mut self, event: Event) -> bool {
        if self.sequential == 0 {
            return true;
        }
        self.events.push(event);
        let allowed = self.consistent();
        self.events.pop();
        allowed
    }

    fn consistent(&self) -> bool {
        let events = &self.events;
        let size = events.len();
        let before = |a: usize, b: usize| match (events[a].task, events[b].task) {
            (None, task) => task.is_some(),
            (Some(_), None) => false,
            (Some(task), Some(_)) => events[b].clock.get(task).is_some_and(|&time| time >= events[a].time),
        };
        let program = |a: usize, b: usize| {
            events[a].task.is_some() && events[a].task == events[b].task && events[a].time < events[b].time
        };
        let same =
            |a: usize, b: usize| events[a].location.is_some() && events[a].location == events[b].location;
        let modification = |a: usize, b: usize| {
            same(a, b) && matches!((events[a].writes, events[b].writes), (Some(x), Some(y)) if x < y)
        };
        let from_read =
            |a: usize, b: usize| events[a].reads.is_some_and(|store| store != b && modification(store, b));
        let hb = Relation::new(size, before);
        let elsewhere = Relation::new(size, |a, b| program(a, b) && !same(a, b));
        let communication =
            Relation::new(size, |a, b| events[b].reads == Some(a) || modification(a, b) || from_read(a, b));
        let reads = Relation::new(size, |a, b| events[b].reads == Some(a));
        let scb = Relation::new(size, |a, b| {
            program(a, b) || (same(a, b) && before(a, b)) || modification(a, b) || from_read(a, b)
        })
        .or(&elsewhere.then(&hb).then(&elsewhere));
        let eco =
            Relation::new(size, |a, b| modification(a, b) || from_read(a, b)).then(&reads).or(&communication);
        let fences = hb.then(&eco).then(&hb).or(&hb);

        let nodes: Vec<usize> = (0..size).filter(|&event| events[event].sequential).collect();
        let is_fence = |event: usize| events[event].location.is_none();
        // What leads out of a node: the event itself, and after a fence all that happened later.
        let edge = |a: usize, b: usize| {
            if is_fence(a) && is_fence(b) && fences.holds(a, b) {
                return true;
            }
            (0..size).filter(|&x| x == a || (is_fence(a) && hb.holds(a, x))).any(|x| {
                scb.holds(x, b) || (is_fence(b) && (0..size).any(|y| hb.holds(y, b) && scb.holds(x, y)))
            })
        };
        // No cycle: nodes without an edge from those that are left can be taken away, one after the other.
        let mut left = nodes;
        loop {
            let Some(free) = left.iter().position(|&b| !left.iter().any(|&a| edge(a, b))) else {
                return left.is_empty();
            };
            left.swap_remove(free);
        }
    }
}
