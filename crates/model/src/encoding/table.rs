//! The shared states and symbols that have come up, and the rules made so far.
//!
//! Both are numbered in the order in which they come up. Engines ask from several threads, seldom at the same time: a lock
//! around each table is enough.

use crate::hash::RowMap;
use crate::program::{EventId, LocationId, TemplateId, Value};
use crate::pushdown::{Rule, Shared, Symbol};
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

/// What a shared state of the pushdown system stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    /// Who may move.
    pub mode: Mode,
    /// The shared variables, then the counters: threads at the locations that properties speak of, threads that wait for
    /// each event, threads of each template started later; then what each thread keeps here of its own.
    pub values: Box<[Value]>,
}

impl Key {
    /// Something went wrong. What it was, the trace tells; for a search, all of it is one.
    pub fn violated() -> Key {
        Key { mode: Mode::Violated, values: Box::default() }
    }

    /// The run is not followed any further.
    pub fn exhausted() -> Key {
        Key { mode: Mode::Exhausted, values: Box::default() }
    }
}

/// Who may move.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    /// Everybody.
    Normal,
    /// The thread that a procedure returned to, which takes these results.
    Results(Box<[Value]>),
    /// A thread of this template that has not started: it takes this cell, and these values of mixed variables.
    Starting(TemplateId, Cell, Box<[Value]>),
    /// So many threads that wait for an event. So many others have moved on to a wait for the same event and stand aside,
    /// lest they be woken too.
    Waking(EventId, Value, Value),
    /// So many threads that stand aside.
    Settling(Value),
    /// The thread inside of an atomic section that gives values to other threads, where threads are any number.
    Within,
    /// Threads that are given values by this edge of this location, where threads are any number; and what that depends on.
    Giving(LocationId, usize, Box<[Value]>),
    /// Nobody: something went wrong. There are no values.
    Violated,
    /// Nobody, since the pool is empty and the run is not followed: every thread moves in place. There are no values.
    Exhausted,
}

/// What a stack symbol stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Cell {
    /// Where control is.
    pub point: Point,
    /// The local variables; 0 where the value does not matter.
    pub locals: Box<[Value]>,
}

impl Cell {
    /// A thread that has not started.
    pub fn idle() -> Cell {
        Cell { point: Point::Idle, locals: Box::default() }
    }

    /// What lies under a procedure that nobody has called and whose callers would await its return.
    pub fn bottom() -> Cell {
        Cell { point: Point::Bottom, locals: Box::default() }
    }
}

/// A point of control.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Point {
    /// Before it started.
    Idle,
    /// At a location.
    At(LocationId),
    /// Under the first frame of a thread that was started inside a procedure whose callers await its return: there is none.
    Bottom,
    /// At a location inside of an atomic section that is not one rule.
    Inside(LocationId),
    /// At a location, after it has given values to other threads, or has been given some, in the same step.
    Given(LocationId),
    /// At the end of this edge of this location, when others have done their part: where a procedure returns to that has
    /// results or leads to where threads are counted, or where a thread stands aside during a broadcast.
    Returning(LocationId, usize),
}

#[derive(Debug)]
struct Interned<T> {
    numbers: RowMap<Arc<T>, u32>,
    values: Vec<Arc<T>>,
    bytes: usize,
}

impl<T> Default for Interned<T> {
    fn default() -> Interned<T> {
        Interned { numbers: RowMap::default(), values: Vec::new(), bytes: 0 }
    }
}

impl<T: Eq + Hash> Interned<T> {
    fn number(table: &RwLock<Interned<T>>, value: T, bytes: usize) -> u32 {
        if let Some(&number) = read(table).numbers.get(&value) {
            return number;
        }
        let mut table = table.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&number) = table.numbers.get(&value) {
            return number;
        }
        let number = table.values.len() as u32;
        let value = Arc::new(value);
        table.values.push(value.clone());
        table.numbers.insert(value, number);
        table.bytes += bytes;
        number
    }
}

fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// Rules that were made.
#[derive(Debug, Default)]
struct Remembered {
    /// For each kind of threads, by shared state and symbol, a range of `rules`.
    ranges: Vec<RowMap<u64, (u32, u32)>>,
    rules: Vec<Rule>,
}

impl Remembered {
    fn at(shared: Shared, top: Symbol) -> u64 {
        u64::from(shared.0) << 32 | u64::from(top.0)
    }
}

/// All that has come up.
#[derive(Debug, Default)]
pub struct Table {
    keys: RwLock<Interned<Key>>,
    cells: RwLock<Interned<Cell>>,
    rules: RwLock<Remembered>,
}

impl Table {
    /// The number of a shared state.
    pub fn shared(&self, key: Key) -> Shared {
        let bytes = 80 + size_of_val(&*key.values);
        Shared(Interned::number(&self.keys, key, bytes))
    }

    /// The number of a symbol; [`EMPTY`](crate::pushdown::EMPTY) is none of them.
    pub fn symbol(&self, cell: Cell) -> Symbol {
        let bytes = 64 + size_of_val(&*cell.locals);
        Symbol(1 + Interned::number(&self.cells, cell, bytes))
    }

    /// What a shared state stands for.
    pub fn key(&self, shared: Shared) -> Arc<Key> {
        read(&self.keys).values[shared.index()].clone()
    }

    /// What a symbol stands for.
    pub fn cell(&self, symbol: Symbol) -> Arc<Cell> {
        read(&self.cells).values[symbol.index() - 1].clone()
    }

    /// Appends the rules made for a kind of threads, a shared state and a symbol; whether there are any made.
    pub fn remembered(&self, kind: usize, shared: Shared, top: Symbol, out: &mut Vec<Rule>) -> bool {
        let remembered = read(&self.rules);
        let range = remembered.ranges.get(kind).and_then(|ranges| ranges.get(&Remembered::at(shared, top)));
        let Some(&(start, end)) = range else { return false };
        out.extend_from_slice(&remembered.rules[start as usize..end as usize]);
        true
    }

    /// Remembers rules, as far as they can be numbered.
    pub fn remember(&self, kind: usize, shared: Shared, top: Symbol, rules: &[Rule]) {
        let mut remembered = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        let remembered = &mut *remembered;
        let start = remembered.rules.len();
        if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(start + rules.len())) {
            remembered.rules.extend_from_slice(rules);
            if remembered.ranges.len() <= kind {
                remembered.ranges.resize_with(kind + 1, RowMap::default);
            }
            remembered.ranges[kind].insert(Remembered::at(shared, top), (start, end));
        }
    }

    /// Forgets all rules; numbers stay.
    pub fn forget_rules(&self) {
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Remembered::default();
    }

    /// How many shared states and symbols have come up, and about how many bytes all of it takes.
    pub fn size(&self) -> (usize, usize, usize) {
        let (keys, cells) = (read(&self.keys), read(&self.cells));
        let rules = read(&self.rules);
        let ranges: usize = rules.ranges.iter().map(RowMap::capacity).sum();
        let rules = ranges * 17 + rules.rules.capacity() * size_of::<Rule>();
        (keys.values.len(), cells.values.len(), keys.bytes + cells.bytes + rules)
    }
}
