//! From a run of a C program to the statements that it passes.
//!
//! Threads are numbered as witnesses do: 0 is `main`, the others in the order of their creation. What the model adds (that a
//! thread waits until it is created, that its end is noted, that it stops to be watched) is no statement.

use super::statements::Statements;
use allways_c::lower::HEAP;
use allways_evidence::{End, Run, RunStep};
use allways_model::encoding::Encoded;
use allways_model::program::path::through;
use allways_model::program::semantics::{Outcome, State};
use allways_model::program::{LocationId, Op, Program, Slot, Span, Value, WATCHED};
use std::collections::{HashMap, VecDeque};

/// What a thread does at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It comes to a statement.
    Passes,
    /// It creates the thread of this number.
    Creates(usize),
    /// A call returns this value, which nothing determines.
    Returns(Value),
}

/// A place that a run passes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stop {
    /// Which thread.
    pub thread: usize,
    /// What it does.
    pub kind: Kind,
    /// Where, in bytes: the start of the statement.
    pub statement: usize,
    /// Where within the statement.
    pub at: usize,
    /// The shared variables that it accesses until the next stop: from which slot on, how many, and whether it writes.
    pub accesses: Vec<(Slot, usize, bool)>,
}

/// A run, as witnesses tell it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Walk {
    /// What happens, in order.
    pub stops: Vec<Stop>,
    /// The thread that goes wrong and its statement; of a data race, both.
    pub targets: Vec<(usize, usize)>,
    /// Other threads, and the statement that each has not begun when that happens.
    pub stands: Vec<(usize, usize)>,
    /// Whether `main` has ended then, or is about to.
    pub ended: bool,
}

/// Walks a run of a C program; none if a thread moves that nobody has created.
pub fn walk(encoded: &Encoded, run: &Run, statements: &Statements) -> Option<Walk> {
    let program = encoded.program();
    let main = program.templates.iter().position(|template| template.name == "main" && !template.spawned);
    let main = encoded.roles().iter().position(|role| Some(role.template.index()) == main)?;
    let mut numbers = vec![None; encoded.roles().len()];
    numbers[main] = Some(0);
    let watched = program.shared.iter().find(|variable| variable.name == WATCHED);
    let watched = watched.map(|variable| variable.slot);
    let mut walker = Walker {
        program,
        statements,
        watched,
        numbers,
        created: HashMap::new(),
        next: 1,
        held: None,
        seen: HashMap::new(),
        last: HashMap::new(),
        walk: Walk::default(),
    };
    let mut before = (&run.initial, &run.slots);
    for (index, step) in run.steps.iter().enumerate() {
        let end = match run.end {
            End::Wrong(violation) if index + 1 == run.steps.len() => Outcome::Wrong(violation),
            _ => Outcome::To(step.state.clone()),
        };
        walker.step(before.0, before.1, step, &end)?;
        before = (&step.state, &step.slots);
    }
    walker.stand(before.0, before.1);
    Some(walker.walk)
}

impl Walk {
    /// The same walk without the end of the process: what `main` does last decides nothing, but it ends the others. So `main` stands
    /// before it when another thread goes wrong.
    pub fn without_end(mut self, source: &[u8], statements: &Statements) -> Walk {
        let ends = |&statement: &usize| {
            let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
            let word = source[statement..].split(|byte| !is_word(byte)).next().unwrap_or_default();
            word == b"exit" || word == b"return" && statements.function(statement) == Some("main")
        };
        let last = self.stops.iter().rposition(|stop| stop.thread == 0);
        let going = self.targets.iter().chain(&self.stands).any(|&(thread, _)| thread == 0);
        let Some(at) = last.filter(|_| !going) else { return self };
        let last = self.stops[at].statement;
        if ends(&last) && self.stops[at].kind == Kind::Passes {
            self.stops.remove(at);
            self.stands.push((0, last));
        } else if self.ended && statements.function(last) == Some("main") {
            // The end is a part of the step before.
            let after = std::iter::successors(statements.next(last + 1), |&at| statements.next(at + 1));
            let mut after = after.take_while(|&at| statements.function(at) == Some("main"));
            self.stands.extend(after.find(ends).map(|statement| (0, statement)));
        }
        self
    }
}

struct Walker<'a> {
    program: &'a Program,
    statements: &'a Statements,
    watched: Option<Slot>,
    /// The numbers of the threads of the pushdown system, once they run.
    numbers: Vec<Option<usize>>,
    /// Threads that were created by raising a shared slot and have not started.
    created: HashMap<Slot, VecDeque<usize>>,
    next: usize,
    /// The thread that has stopped before an access, and its statement.
    held: Option<(usize, usize)>,
    /// The locations that a thread has passed in its statement, to tell one round of a loop from the next.
    seen: HashMap<usize, (usize, Vec<LocationId>)>,
    /// The last stop of each thread.
    last: HashMap<usize, usize>,
    walk: Walk,
}

impl Walker<'_> {
    fn step(&mut self, state: &State, slots: &[Option<usize>], step: &RunStep, end: &Outcome) -> Option<()> {
        let program = self.program;
        let moves = through(program, state, slots[step.thread]?, step.edge, end);
        // Where it is not found out what happens inside of the step, its start is all that is told.
        let moves = moves.map_or_else(
            || vec![(step.location, step.edge, Vec::new())],
            |moves| moves.into_iter().map(|one| (one.location, one.edge, one.chosen)).collect(),
        );
        let mut last = None;
        for (location, edge, chosen) in moves {
            let edge = &program.locations[location].edges[edge];
            if let Op::Spawn(..) = edge.op {
                self.creates(step, edge.span)?;
                if let Some(started) = step.started {
                    self.numbers[started] = Some(self.next - 1);
                }
                continue;
            }
            if self.hidden(step, &edge.op, edge.span)? {
                continue;
            }
            last = Some(edge.span);
            self.passes(step, location, edge.span)?;
            self.accesses(step, &edge.op);
            for value in chosen {
                self.add(step, Kind::Returns(value), edge.span)?;
            }
        }
        if let Outcome::Wrong(_) = end {
            let span = last.unwrap_or(program.locations[step.location].edges[step.edge].span);
            let target = (self.numbers[step.thread]?, self.statements.start(span.start as usize));
            self.walk.targets.extend(self.held);
            self.walk.targets.push(target);
        }
        Some(())
    }

    /// Does what an edge does that the program does not have; whether it is one.
    fn hidden(&mut self, step: &RunStep, op: &Op, span: Span) -> Option<bool> {
        let mut found = Vec::new();
        op.shared_accesses(&mut |slot, _, written| found.push((slot, written)));
        if found.iter().any(|&(slot, written)| Some(slot) == self.watched && written) {
            self.held = Some((self.numbers[step.thread]?, self.statements.start(span.start as usize)));
            return Some(true);
        }
        let named = |start: &str| {
            let slot = found.iter().map(|&(slot, _)| slot).find(|&slot| self.name(slot).starts_with(start));
            slot.map(|slot| (slot, found.contains(&(slot, true))))
        };
        if let Some((slot, _)) = named("#created") {
            if let Op::Assign(_, _, Some(_)) = op {
                self.numbers[step.thread] = self.created.get_mut(&slot).and_then(VecDeque::pop_front);
                let first = self.statements.next(span.start as usize)?;
                let (thread, kind) = (self.numbers[step.thread]?, Kind::Passes);
                self.seen.insert(thread, (first, Vec::new()));
                self.push(thread, kind, first, first);
            } else {
                self.creates(step, span)?;
                self.created.entry(slot).or_default().push_back(self.next - 1);
            }
            return Some(true);
        }
        // That a thread has ended is noted where its function is named.
        Some(
            matches!(named("#ended"), Some((_, true)))
                || self.statements.function(span.start as usize).is_none(),
        )
    }

    /// Notes where the threads stand that do not go wrong. One that is inside of a statement is left out.
    fn stand(&mut self, state: &State, slots: &[Option<usize>]) {
        let going: Vec<usize> = self.walk.targets.iter().map(|&(thread, _)| thread).collect();
        for (thread, slot) in slots.iter().enumerate() {
            let frame = slot.and_then(|slot| state.threads.get(slot)).and_then(|thread| thread.stack.last());
            let location = frame.map(|frame| &self.program.locations[frame.location]);
            if self.numbers[thread] == Some(0) {
                let edge = location.and_then(|location| location.edges.first());
                let inside = edge.and_then(|edge| self.statements.function(edge.span.start as usize));
                self.walk.ended = inside.is_none();
            }
            let Some(edge) = location.and_then(|location| location.edges.first()) else { continue };
            let starts = match &edge.op {
                Op::Assign(_, _, Some(_)) => self.awaited(&edge.op),
                _ => None,
            };
            let (number, statement) = match (self.numbers[thread], starts) {
                // One that is about to end is in no statement.
                (Some(_), _) if self.statements.function(edge.span.start as usize).is_none() => continue,
                (Some(number), _) => (number, Some(self.statements.start(edge.span.start as usize))),
                (None, Some(number)) => (number, self.statements.next(edge.span.start as usize)),
                (None, None) => continue,
            };
            let inside = self.seen.get(&number).is_some_and(|(own, _)| Some(*own) == statement);
            if let (Some(statement), false, false) = (statement, inside, going.contains(&number)) {
                self.walk.stands.push((number, statement));
            }
        }
    }

    /// The thread that was created and has not started, if this is what one of its kind does first.
    fn awaited(&mut self, op: &Op) -> Option<usize> {
        let mut found = None;
        op.shared_accesses(&mut |slot, _, _| {
            found = found.or(self.created.contains_key(&slot).then_some(slot))
        });
        self.created.get_mut(&found?).and_then(VecDeque::pop_front)
    }

    fn creates(&mut self, step: &RunStep, span: Span) -> Option<()> {
        self.add(step, Kind::Creates(self.next), span)?;
        self.next += 1;
        Some(())
    }

    /// A thread comes to a statement, unless it was there before.
    fn passes(&mut self, step: &RunStep, location: LocationId, span: Span) -> Option<()> {
        let thread = self.numbers[step.thread]?;
        let statement = self.statements.start(span.start as usize);
        let (own, seen) = self.seen.entry(thread).or_default();
        if *own != statement || seen.contains(&location) {
            (*own, *seen) = (statement, vec![location]);
            self.add(step, Kind::Passes, span)
        } else {
            seen.push(location);
            Some(())
        }
    }

    fn add(&mut self, step: &RunStep, kind: Kind, span: Span) -> Option<()> {
        let at = span.start as usize;
        let (thread, statement) = (self.numbers[step.thread]?, self.statements.start(at));
        self.push(thread, kind, statement, at);
        Some(())
    }

    fn push(&mut self, thread: usize, kind: Kind, statement: usize, at: usize) {
        self.last.insert(thread, self.walk.stops.len());
        self.walk.stops.push(Stop { thread, kind, statement, at, accesses: Vec::new() });
    }

    /// Notes what the last stop of a thread accesses. What the model adds is left out: threads wait for it by themselves.
    fn accesses(&mut self, step: &RunStep, op: &Op) {
        let mut found = Vec::new();
        op.shared_accesses(&mut |slot, length, written| found.push((slot, length, written)));
        found.retain(|&(slot, ..)| !self.name(slot).starts_with('#') || self.name(slot).starts_with(HEAP));
        let last = self.numbers[step.thread].and_then(|thread| self.last.get(&thread));
        if let Some(stop) = last.and_then(|&last| self.walk.stops.get_mut(last)) {
            stop.accesses.extend(found);
        }
    }

    fn name(&self, slot: Slot) -> &str {
        let mut shared = self.program.shared.iter();
        let found = shared.find(|variable| (variable.slot..variable.slot + variable.slots()).contains(&slot));
        found.map_or("", |variable| variable.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "void *f(void *u) {\n  x = 1;\n}\nint main(void) {\n  c();\n  d();\n  return 0;\n}\n";

    /// Where threads stand when another one goes wrong, after these stops, and how many stops are left.
    fn standing(stops: &[(usize, &str)], target: usize, ended: bool) -> (usize, Vec<(usize, usize)>) {
        let at = |part: &str| TEXT.find(part).expect("a statement");
        let stops = stops.iter().map(|&(thread, part)| Stop {
            thread,
            kind: Kind::Passes,
            statement: at(part),
            at: at(part),
            accesses: Vec::new(),
        });
        let walk =
            Walk { stops: stops.collect(), targets: vec![(target, at("x = 1"))], ended, ..Walk::default() };
        let walk = walk.without_end(TEXT.as_bytes(), &Statements::of(TEXT.as_bytes()));
        (walk.stops.len(), walk.stands)
    }

    #[test]
    fn main_does_not_end_the_process() {
        let end = vec![(0, TEXT.find("return").expect("it is there"))];
        // It returned before the other thread went wrong, in a step of its own or in the one before.
        assert_eq!(standing(&[(0, "c()"), (0, "return"), (1, "x = 1")], 1, true), (2, end.clone()));
        assert_eq!(standing(&[(0, "c()"), (1, "x = 1")], 1, true), (2, end));
        // It waits in a statement.
        assert_eq!(standing(&[(0, "c()"), (1, "x = 1")], 1, false), (2, vec![]));
        // It goes wrong itself.
        assert_eq!(standing(&[(1, "x = 1"), (0, "return")], 0, true), (2, vec![]));
    }
}
