//! Counters of threads where a thread stands for any number of them.
//!
//! A property may ask how many threads are at some locations, and the encoding counts them in the shared state. Where there
//! may be any number of threads, a counter is kept at a *cap* once it gets there: the cap then means "so many or more".
//!
//! Invariant: the cap lies above every number that a property compares counters with, so no property tells the cap from what
//! is above it. A thread that leaves while the counter is at the cap leaves the cap behind, or one less; both are tried
//! ([`resolved`](Encoded::resolved)).
//!
//! In a reachable state a thread is among those counted at its location, and no counter exceeds the number of threads. A
//! bound from above may ask about other states; nobody moves there, nor to there, so that counters stay within bounds.

use super::table::{Key, Mode, Point};
use super::{Encoded, MOST_INITIAL, NoEncoding, giving};
use crate::program::expression::{Binary, Expr};
use crate::program::{LocationId, Op, Program, Value};
use crate::pushdown::State;
use std::collections::{HashMap, HashSet};

/// The most stacks in all initial states together, where counters make many of few.
const MOST_STACKS: usize = 1 << 20;

/// The cap, or why counters alone do not tell what happens with any number of threads.
pub(super) fn cap(program: &Program, holders: bool, mixed: bool) -> Result<Value, NoEncoding> {
    let span = program.templates.first().map(|template| template.span).unwrap_or_default();
    let refuse = |what: &str, span| Err(NoEncoding { what: what.to_string(), span });
    if holders {
        return refuse("any number of threads with a lock that another thread may release", span);
    }
    if let Some(refused) = giving::refused(program).filter(|_| mixed) {
        return Err(refused);
    }
    // A step resolves all counters of the location that it leaves.
    let mut counted: HashMap<LocationId, HashSet<&[LocationId]>> = HashMap::new();
    for never in &program.never {
        never.expr.visit(&mut |expr| {
            if let Expr::At(locations) = expr {
                for &location in locations {
                    counted.entry(location).or_default().insert(locations);
                }
            }
        });
    }
    for edge in program.locations.iter().flat_map(|location| &location.edges) {
        if let Op::Signal(_) = edge.op {
            return refuse("any number of threads and a signal", edge.span);
        }
        // Who stands aside meanwhile is counted too late.
        if let Op::Wait(event) | Op::Broadcast(event) = edge.op
            && program.waits_for(edge.to) == Some(event)
            && counted.contains_key(&edge.to)
        {
            return refuse("a wait of which at(…) speaks, right after another or a broadcast", edge.span);
        }
    }
    if counted.values().any(|sets| sets.len() > 8) {
        return refuse("any number of threads with a place that many at(…) speak of", span);
    }
    let mut cap = 1;
    for never in &program.never {
        match largest(&never.expr) {
            // One above would do. With two, a counter at the number itself is left exactly, and the cap may never be met.
            Some(number) => cap = cap.max(number.saturating_add(2)),
            None => {
                return refuse(
                    "a property that compares at(…) with something else than a number",
                    never.span,
                );
            }
        }
    }
    // Larger caps would cost more than such a proof is worth.
    if cap > 1 << 10 { refuse("a property that compares at(…) with a large number", span) } else { Ok(cap) }
}

/// The largest number with which a sum of counters is compared, if counters occur in such comparisons only.
fn largest(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::Binary(
            Binary::Equal
            | Binary::Unequal
            | Binary::Less
            | Binary::LessEqual
            | Binary::Greater
            | Binary::GreaterEqual,
            left,
            right,
            _,
        ) => match (&**left, &**right) {
            (Expr::Constant(number), sum) | (sum, Expr::Constant(number)) if is_sum(sum) => Some(*number),
            _ => largest(left)?.max(largest(right)?).into(),
        },
        Expr::At(_) => None,
        Expr::Unary(_, part) | Expr::SharedElement(_, _, part, _) | Expr::LocalElement(_, _, part, _) => {
            largest(part)
        }
        Expr::Binary(_, left, right, _) => Some(largest(left)?.max(largest(right)?)),
        Expr::If(condition, then, other) => {
            Some(largest(condition)?.max(largest(then)?).max(largest(other)?))
        }
        _ => Some(0),
    }
}

/// Whether an expression is a counter or a sum of counters: such a sum is at least each of them.
fn is_sum(expr: &Expr) -> bool {
    match expr {
        Expr::At(_) => true,
        Expr::Binary(Binary::Plus, left, right, _) => is_sum(left) && is_sum(right),
        _ => false,
    }
}

impl Encoded {
    /// A key in which no counter is above the cap.
    pub(super) fn capped(&self, mut key: Key) -> Key {
        if let (Some(cap), false) = (self.cap, key.values.is_empty()) {
            key.values[self.counters()].iter_mut().for_each(|count| *count = (*count).min(cap));
        }
        key
    }

    /// The keys that a key stands for, up to what a step from this point can tell: a counter at the cap may be one more, which
    /// matters if the thread leaves a location that it counts.
    pub(super) fn resolved(&self, cap: Value, key: &Key, point: Point) -> Vec<Key> {
        let mut keys = vec![key.clone()];
        if key.values.is_empty() {
            return keys;
        }
        let Point::At(location) = point else { return keys };
        let first = self.program.shared_slots();
        let left = self.watched.iter().enumerate().filter(|(_, locations)| locations.contains(&location));
        let left = left.map(|(counter, _)| first + counter);
        for counter in left.filter(|&counter| key.values[counter] == cap) {
            for index in 0..keys.len() {
                let mut more = keys[index].clone();
                more.values[counter] += 1;
                keys.push(more);
            }
        }
        keys
    }

    /// Whether a thread at this point is among those that are counted there.
    pub(super) fn consistent(&self, key: &Key, point: Point) -> bool {
        let Point::At(location) = point else { return true };
        if key.values.is_empty() {
            return true;
        }
        let first = self.program.shared_slots();
        let counted = |(counter, locations): (usize, &Vec<_>)| {
            !locations.contains(&location) || key.values[first + counter] > 0
        };
        let waits = self.program.waits_for(location).filter(|_| self.cap.is_none());
        self.watched.iter().enumerate().all(counted)
            && waits.is_none_or(|event| key.values[self.waiting(event)] > 0)
    }

    /// Whether all counters are numbers of threads.
    pub(super) fn countable(&self, key: &Key) -> bool {
        let most = if self.cap.is_some() { Value::MAX } else { self.roles.len() as Value };
        matches!(key.mode, Mode::Violated | Mode::Exhausted)
            || key.values[self.counters()].iter().all(|count| (0..=most).contains(count))
    }

    /// Adds the initial states with other numbers of those threads that stand for any number; `false` if there are too many.
    #[must_use]
    pub(super) fn crowd(&self, initial: &mut Vec<State>) -> bool {
        let Some(cap) = self.cap else { return true };
        for role in self.roles.iter().filter(|role| role.many && !role.pooled) {
            let entry = self.program.procedures[self.program.templates[role.template].body].entry;
            if !self.watched.iter().any(|locations| locations.contains(&entry)) {
                continue;
            }
            for index in 0..initial.len() {
                let key = self.table.key(initial[index].shared);
                // A violation stays one for the search, and need not be had twice.
                for by in (-1..=cap).filter(|_| key.mode == Mode::Normal) {
                    let mut values = key.values.to_vec();
                    self.arrive(&mut values, entry, by);
                    let shared = self.table.shared(self.settled(values));
                    initial.push(State { shared, ..initial[index].clone() });
                }
                if initial.len() > 2 * MOST_INITIAL || initial.len() * self.roles.len() > MOST_STACKS {
                    return false;
                }
            }
            initial.sort_unstable();
            initial.dedup();
        }
        true
    }
}
