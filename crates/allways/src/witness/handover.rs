//! At which statements a violation witness in GraphML names the thread that takes over.
//!
//! Validators that run the program make a thread wait before the statement with which it takes over, until the one that took over before
//! has passed its own. They do so wherever and whenever the statement is executed, and know it by its line. So a thread is named
//! at a statement only if the statement can be waited at: nobody has passed its line before, which would have made them wait for
//! ever; and the thread is known to go on from it, as with [`Statements::enters`].
//!
//! Of the statements that a thread passes until another one takes over, one at most is named. What comes before it may happen early,
//! and what comes after it happens at once, while others still wake up. The order of a statement matters if another thread accesses
//! what it accesses, before or after, one of them writing. So the best statement is not after the first one that must come after
//! those of others; of a thread that waits for nobody, it is not before the last one that must come before those of others.
//! Where no order matters, nobody has to wait.
//!
//! The first thread may be named, too: to come before others that it has created, or because the run depends on an input before any
//! thread takes over, where ConcurrentWitness2Test (of 2025) loses count of those that do.
//!
//! When a thread goes wrong, others stand somewhere. They are named there, before the statement that goes wrong, so that they do not go on
//! meanwhile.

use super::statements::{Statements, line_column};
use super::walk::{Kind, Stop, Walk};
use std::collections::{HashMap, HashSet};

/// Nobody is named in a longer walk: each stop is compared with all others.
const MOST_STOPS: usize = 10_000;

/// Which stops of a walk name their threads, and which of the threads that stand somewhere.
pub fn named(source: &[u8], statements: &Statements, walk: &Walk) -> (Vec<bool>, Vec<bool>) {
    let mut stops = vec![false; walk.stops.len()];
    let mut stands = vec![false; walk.stands.len()];
    if walk.stops.len() > MOST_STOPS {
        return (stops, stands);
    }
    let mut created = HashMap::new();
    for (at, stop) in walk.stops.iter().enumerate() {
        if let Kind::Creates(thread) = stop.kind {
            created.entry(thread).or_insert(at);
        }
    }
    let plan = Plan { source, statements, stops: &walk.stops, created };
    let mut last = None;
    let lines: Vec<u32> = walk.stops.iter().map(|stop| line_column(source, stop.statement).0).collect();
    // The first stop on each line: all others are too late to be waited at.
    let mut passed = HashSet::new();
    let fresh: Vec<bool> = lines.iter().map(|&line| passed.insert(line)).collect();
    let mut start = 0;
    while start < walk.stops.len() {
        let thread = walk.stops[start].thread;
        let end = (start..walk.stops.len()).find(|&at| walk.stops[at].thread != thread);
        let end = end.unwrap_or(walk.stops.len());
        let waits = |at: &usize| fresh[*at] && plan.can_be_waited_at(*at);
        let best = match (plan.first_after_others(start, end, &stops), plan.last_before_others(start, end)) {
            _ if last == Some(thread) => None,
            (Some(after), _) => {
                let before = (start..=after).rev().find(waits);
                before.or_else(|| (after + 1..end).find(waits))
            }
            (None, Some(before)) => {
                let after = (before..end).find(waits);
                after.or_else(|| (start..before).rev().find(waits))
            }
            (None, None) => None,
        };
        if let Some(at) = best {
            (stops[at], last) = (true, Some(thread));
        }
        start = end;
    }
    let switch = stops.iter().position(|&named| named).unwrap_or(stops.len());
    let is_input = |stop: &Stop| matches!(stop.kind, Kind::Returns(value) if value != 0);
    if let Some(input) = walk.stops[..switch].iter().position(is_input)
        && let Some(at) = (0..input).find(|&at| fresh[at] && plan.can_be_waited_at(at))
    {
        stops[at] = true;
    }
    for (index, &(thread, at)) in walk.stands.iter().enumerate() {
        let is_new = passed.insert(line_column(source, at).0);
        if last != Some(thread) && is_new && statements.named(source, at) {
            (stands[index], last) = (true, Some(thread));
        }
    }
    (stops, stands)
}

struct Plan<'a> {
    source: &'a [u8],
    statements: &'a Statements,
    stops: &'a [Stop],
    /// Where each thread is created.
    created: HashMap<usize, usize>,
}

impl Plan<'_> {
    /// The first of some stops of one thread that must come after those of others.
    fn first_after_others(&self, start: usize, end: usize, named: &[bool]) -> Option<usize> {
        let thread = self.stops[start].thread;
        // All that was done before the thread was created, or before it was named last, is known to be over.
        let is_known = |at: &usize| {
            let stop = &self.stops[*at];
            stop.kind == Kind::Creates(thread) || stop.thread == thread && named[*at]
        };
        let known = (0..start).rev().find(is_known).unwrap_or(0);
        let others = || self.stops[known..start].iter().filter(|other| other.thread != thread);
        (start..end).find(|&at| others().any(|other| conflict(&self.stops[at], other)))
    }

    /// The last of some stops of one thread that must come before those of others.
    fn last_before_others(&self, start: usize, end: usize) -> Option<usize> {
        let thread = self.stops[start].thread;
        let others = || self.stops[end..].iter().filter(|other| other.thread != thread);
        // Who is created later comes later.
        let is_there =
            |at: usize, other: &Stop| self.created.get(&other.thread).is_none_or(|&created| created < at);
        (start..end)
            .rev()
            .find(|&at| others().any(|other| conflict(&self.stops[at], other) && is_there(at, other)))
    }

    /// Whether a thread can wait at a stop, and lets others go on soon after it.
    fn can_be_waited_at(&self, at: usize) -> bool {
        let stop = &self.stops[at];
        if matches!(stop.kind, Kind::Returns(_)) || !self.statements.named(self.source, stop.statement) {
            return false;
        }
        let function = self.statements.function(stop.statement);
        let own = |next: &&Stop| next.thread == stop.thread && next.statement != stop.statement;
        let after = self.stops[at + 1..].iter().find(own);
        let back = (at + 1..self.stops.len()).find(|&next| {
            own(&&self.stops[next]) && self.statements.function(self.stops[next].statement) == function
        });
        let alone =
            self.stops[at..back.unwrap_or(self.stops.len())].iter().all(|next| next.thread == stop.thread);
        // A call that nobody interrupts is like any other statement; one that does not come back lets nobody go on, nor has to.
        let after = match (alone, back) {
            (true, Some(back)) => Some(&self.stops[back]),
            (true, None) => None,
            (false, _) => after,
        };
        self.statements.enters(self.source, stop.statement, after.map(|next| next.statement))
    }
}

/// Whether two stops access one slot, one of them writing it.
fn conflict(one: &Stop, other: &Stop) -> bool {
    one.accesses.iter().any(|(first, length, written)| {
        other.accesses.iter().any(|(start, count, writes)| {
            (*written || *writes) && *first < start + count && *start < first + length
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "void f(void) {\n  a();\n  x = 1;\n  b();\n}\nvoid g(void) {\n  c();\n  y = x;\n  d();\n}\n";

    /// Stops at these statements, each by a thread, with an access to `x`, if there is one: whether it writes.
    fn named_in(stops: &[(usize, &str, Option<bool>)], stands: &[(usize, &str)]) -> (Vec<bool>, Vec<bool>) {
        let at = |part: &str| TEXT.find(part).expect("a statement");
        let stops = stops.iter().map(|&(thread, part, access)| Stop {
            thread,
            kind: Kind::Passes,
            statement: at(part),
            at: at(part),
            accesses: access.map(|writes| (0, 1, writes)).into_iter().collect(),
        });
        let stands = stands.iter().map(|&(thread, part)| (thread, at(part))).collect();
        let walk = Walk { stops: stops.collect(), targets: Vec::new(), stands, ended: false };
        named(TEXT.as_bytes(), &Statements::of(TEXT.as_bytes()), &walk)
    }

    #[test]
    fn threads_wait_where_their_order_matters() {
        let first = [(1, "a()", None), (1, "x = 1", Some(true))];
        let second = [(2, "c()", None), (2, "y = x", Some(false))];
        let (stops, _) = named_in(&[first, second].concat(), &[]);
        assert_eq!(stops, [false, true, false, true]);
        // Two that read do not matter to each other.
        let (stops, _) = named_in(&[[(1, "a()", None), (1, "x = 1", Some(false))], second].concat(), &[]);
        assert_eq!(stops, [false; 4]);
    }

    #[test]
    fn nobody_waits_where_somebody_was_before() {
        let again = [
            (1, "x = 1", Some(true)),
            (2, "y = x", Some(false)),
            (1, "x = 1", Some(true)),
            (2, "y = x", Some(false)),
        ];
        assert_eq!(named_in(&again, &[]).0, [true, true, false, false]);
    }

    #[test]
    fn threads_that_stand_are_kept_there() {
        let stops = [(1, "x = 1", Some(true)), (2, "y = x", Some(false))];
        assert_eq!(named_in(&stops, &[(1, "b()")]).1, [true]);
        // There, somebody was before.
        assert_eq!(named_in(&stops, &[(1, "x = 1")]).1, [false]);
    }
}
