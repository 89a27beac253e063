//! The rules of a thread for a shared state and a symbol.
//!
//! What concerns one frame is left to the reference semantics, run on a state with this thread and this frame alone. What
//! concerns more (the caller's frame, other threads) is done in several steps, with a mode in between.

use super::Encoded;
use super::giving::gives;
use super::open::Reads;
use super::table::{Cell, Key, Mode, Point};
use crate::program::expression::{Choices, NoValue, Scope};
use crate::program::semantics::{self, Frame, Outcome, Step, Thread};
use crate::program::{Edge, EventId, Expr, LocationId, Op, Place, Procedure, TemplateId, Value};
use crate::pushdown::{EMPTY, Rule, Shared, Symbol, Word};
use std::borrow::Cow;

/// After so many steps within one, a thread stops although it could pass.
const MOST_PASSED: usize = 1 << 12;

/// The thread that moves, and from where.
pub(super) struct Mover<'a> {
    pub thread: usize,
    pub top: Symbol,
    pub location: LocationId,
    pub values: &'a [Value],
    pub locals: Vec<Value>,
    /// The slot that a rule reads although its value is left open, if one does.
    pub open: &'a Reads,
}

impl Encoded {
    /// Makes the rules.
    pub(super) fn make_rules(&self, thread: usize, shared: Shared, top: Symbol) -> Vec<Rule> {
        let mut rules = Vec::new();
        if top == EMPTY {
            return rules;
        }
        let (key, cell) = (self.table.key(shared), self.table.cell(top));
        let open = Reads::default();
        let resolved = self.cap.map(|cap| self.resolved(cap, &key, cell.point));
        for key in resolved.as_deref().unwrap_or(std::slice::from_ref(&*key)) {
            if self.consistent(key, cell.point) {
                self.make_rules_at(thread, (shared, key), (top, &cell), &open, &mut rules);
            }
        }
        if let Some(slot) = open.first() {
            return self.close(&key, top, slot);
        }
        rules.sort_unstable();
        rules.dedup();
        rules
    }

    fn make_rules_at(
        &self,
        thread: usize,
        (shared, key): (Shared, &Key),
        (top, cell): (Symbol, &Cell),
        open: &Reads,
        rules: &mut Vec<Rule>,
    ) {
        let values = &*key.values;
        match (&key.mode, cell.point) {
            (Mode::Normal, Point::At(location)) => {
                let locals = self.with_mixed(values, thread, &cell.locals);
                let mover = Mover { thread, top, location, values, locals, open };
                self.normal(&mover, rules);
            }
            (Mode::Results(results), Point::Returning(location, edge)) => {
                let locals = self.with_mixed(values, thread, &cell.locals);
                let mover = Mover { thread, top, location, values, locals, open };
                self.results(&mover, edge, results, rules);
            }
            (Mode::Starting(template, first, mixed), Point::Idle)
                if *template == self.roles[thread].template =>
            {
                let mut values = values.to_vec();
                self.store_mixed(&mut values, thread, *template, mixed);
                let mut word = Word::one(self.table.symbol(first.clone()));
                if let Point::At(location) = first.point {
                    self.arrive(&mut values, location, 1);
                    if self.returns_to_nobody(*template, location) {
                        word = Word::two(word.symbols()[0], self.table.symbol(Cell::bottom()));
                    }
                }
                self.add(rules, (self.settled(values), word), 0);
            }
            (Mode::Results(_), Point::Bottom) => {
                self.add(rules, (self.settled(values.to_vec()), Word::POP), 0);
            }
            (Mode::Waking(event, left, aside), Point::At(location))
                if self.program.waits_for(location) == Some(*event) =>
            {
                let locals = self.with_mixed(values, thread, &cell.locals);
                let mover = Mover { thread, top, location, values, locals, open };
                self.woken(&mover, (0, *event), (left.wrapping_sub(1), *aside), rules);
            }
            (Mode::Settling(aside), Point::Returning(location, edge)) => {
                let mut values = values.to_vec();
                let word = self.settle(&mut values, thread, (location, edge), &cell.locals);
                self.add(rules, (self.waking(values, EventId(0), (0, aside.wrapping_sub(1))), word), 0);
            }
            (Mode::Waking(event, ..), _) if self.cap.is_some() && self.over(*event, values) => {
                self.add(rules, (self.settled(values.to_vec()), Word::one(top)), 0);
            }
            (Mode::Normal, Point::Returning(location, edge)) if self.aside(location, edge).is_some() => {
                let mut values = values.to_vec();
                let word = self.settle(&mut values, thread, (location, edge), &cell.locals);
                self.add(rules, (self.settled(values), word), 0);
            }
            (Mode::Exhausted, _) => rules.push(Rule { shared, word: Word::one(top), line: 0 }),
            (Mode::Within, Point::Inside(location)) => {
                let locals = cell.locals.to_vec();
                self.inside(&Mover { thread, top, location, values, locals, open }, rules);
            }
            (Mode::Giving(..), _) | (_, Point::Given(_)) => self.give_rules(thread, key, (top, cell), rules),
            _ => {}
        }
    }

    pub(super) fn add(&self, rules: &mut Vec<Rule>, (key, word): (Key, Word), line: u32) {
        if self.countable(&key) {
            rules.push(Rule { shared: self.table.shared(self.capped(key)), word, line });
        }
    }

    fn normal(&self, mover: &Mover<'_>, rules: &mut Vec<Rule>) {
        let program = &self.reduced.program;
        let mut alone = None;
        for (index, edge) in program.locations[mover.location].edges.iter().enumerate() {
            match &edge.op {
                Op::Return(results) => self.pop(mover, edge, results, rules),
                Op::Spawn(template, arguments) => self.spawn(mover, edge, *template, arguments, rules),
                Op::Fork(location) => self.fork(mover, edge, *location, rules),
                Op::Broadcast(event) => {
                    let waiting = mover.values[self.waiting(*event)];
                    self.woken(mover, (index, *event), (waiting, 0), rules);
                }
                Op::Signal(event) => {
                    let waiting = mover.values[self.waiting(*event)];
                    self.woken(mover, (index, *event), (waiting.min(1), 0), rules);
                }
                Op::Wait(_) => {}
                Op::AtomicBegin if self.sections.contains(&edge.to) => self.enter(mover, edge, rules),
                _ => {
                    let steps = alone.get_or_insert_with(|| {
                        let steps = semantics::steps_unless_open(program, &self.alone(mover), 0);
                        steps.unwrap_or_else(|slot| mover.open.note(slot))
                    });
                    for step in steps.extract_if(.., |step| step.edge == index) {
                        match self.cap.is_some() && gives(&edge.op) {
                            true => self.give(mover, (index, edge), &step.outcome, rules),
                            false => self.pass(mover, edge, step.outcome, rules),
                        }
                    }
                }
            }
        }
    }

    /// A state with nothing but the frame of the mover, and where it matters the variables of other threads that it writes.
    pub(super) fn alone(&self, mover: &Mover<'_>) -> semantics::State {
        let frame = Frame { location: mover.location, calling: None, locals: mover.locals.clone() };
        let role = self.roles[mover.thread];
        let mut shared = mover.values[..self.program.shared_slots()].to_vec();
        if !self.holders {
            // Every release is by the holder, so whoever asks may be taken for it.
            let held = |(slot, value): (usize, &mut Value)| {
                if self.reduced.locks[slot] && *value != 0 {
                    *value = mover.thread as Value + 1;
                }
            };
            shared.iter_mut().enumerate().for_each(held);
        }
        let thread =
            Thread { template: role.template, id: mover.thread, this: role.this, stack: vec![frame] };
        let mut threads = vec![thread];
        let body = &self.program.procedures[self.program.templates[role.template].body];
        for other in self.others(mover) {
            let locals = self.with_mixed(mover.values, other, &vec![0; body.slots()]);
            let frame = Frame { location: body.entry, calling: None, locals };
            threads.push(Thread { template: role.template, id: other, this: 0, stack: vec![frame] });
        }
        semantics::State { shared, threads }
    }

    /// The other threads of the template that are there, if a step may write their variables.
    fn others(&self, mover: &Mover<'_>) -> Vec<usize> {
        let template = self.roles[mover.thread].template;
        let is_there = |&other: &usize| {
            other != mover.thread
                && self.roles[other].template == template
                && mover.values[self.mixed_slot(other, self.most_locals())] != 0
        };
        if self.mixed { (0..self.roles.len()).filter(is_there).collect() } else { Vec::new() }
    }

    /// A step of the frame alone, and those after it from locations that are passed.
    fn pass(&self, mover: &Mover<'_>, edge: &Edge, outcome: Outcome, rules: &mut Vec<Rule>) {
        let mut todo = vec![outcome];
        let mut taken = 0;
        while let Some(outcome) = todo.pop() {
            let on = match &outcome {
                Outcome::To(next) => match &next.threads[0].stack[..] {
                    [frame] if self.passes(frame.location) && taken < MOST_PASSED => Some(next),
                    _ => None,
                },
                Outcome::Wrong(_) | Outcome::Beyond(_) => None,
            };
            let Some(next) = on else {
                self.follow(mover, edge, &outcome, rules);
                continue;
            };
            let steps = semantics::steps_unless_open(&self.reduced.program, next, 0);
            let steps: Vec<Step> = steps.unwrap_or_else(|slot| mover.open.note(slot));
            taken += steps.len();
            todo.extend(steps.into_iter().map(|step| step.outcome));
        }
    }

    /// What a step of the frame alone means for the system.
    pub(super) fn follow(&self, mover: &Mover<'_>, edge: &Edge, outcome: &Outcome, rules: &mut Vec<Rule>) {
        let line = edge.span.line;
        let next = match outcome {
            Outcome::To(next) => next,
            Outcome::Wrong(_) => {
                self.add(rules, (Key::violated(), Word::one(mover.top)), line);
                return;
            }
            Outcome::Beyond(span) => {
                self.give_up(if span.line == 0 { edge.span } else { *span });
                return;
            }
        };
        let mut values = self.values(&next.shared);
        let counters = self.program.shared_slots();
        values[counters..].copy_from_slice(&mover.values[counters..]);
        let stack = &next.threads[0].stack;
        self.store_mixed(&mut values, mover.thread, self.roles[mover.thread].template, &stack[0].locals);
        for (other, after) in self.others(mover).into_iter().zip(&next.threads[1..]) {
            self.store_mixed(&mut values, other, after.template, &after.stack[0].locals);
        }
        self.arrive(&mut values, mover.location, -1);
        let word = match &stack[..] {
            [frame] => self.come(&mut values, mover.thread, frame),
            [caller, callee, ..] => {
                self.arrive(&mut values, callee.location, 1);
                let under = self.table.symbol(self.cell_of(caller));
                Word::two(self.table.symbol(self.cell_of(callee)), under)
            }
            [] => Word::POP,
        };
        self.add(rules, (self.settled(values), word), line);
    }

    fn scope<'a>(&self, mover: &'a Mover<'_>) -> Scope<'a> {
        let this = self.roles[mover.thread].this;
        Scope { shared: mover.values, locals: &mover.locals, this, next: None, control: &[] }
    }

    /// Moves control to another location of the same frame.
    pub(super) fn go(&self, mover: &Mover<'_>, values: &mut [Value], to: LocationId) -> Word {
        self.arrive(values, mover.location, -1);
        self.come(values, mover.thread, &Frame { location: to, calling: None, locals: mover.locals.clone() })
    }

    /// Comes to the location of a frame. A task that ends goes back to the pool.
    pub(super) fn come(&self, values: &mut [Value], thread: usize, frame: &Frame) -> Word {
        let role = self.roles[thread];
        let vanishes = role.pooled && self.program.templates[role.template].vanishes;
        if vanishes && self.program.locations[frame.location].edges.is_empty() {
            if !role.many {
                let started = &mut values[self.started(role.template)];
                *started = started.wrapping_sub(1);
            }
            let mixed = self.mixed_slot(thread, 0)..self.mixed_slot(thread + 1, 0);
            values[mixed].fill(0);
            for slot in
                (0..self.program.shared_slots()).filter(|&slot| self.holders && self.reduced.locks[slot])
            {
                // The next task in its place is not the one that holds the lock.
                if values[slot] == thread as Value + 1 {
                    values[slot] = self.gone();
                }
            }
            return Word::one(self.table.symbol(Cell::idle()));
        }
        self.arrive(values, frame.location, 1);
        Word::one(self.table.symbol(self.cell_of(frame)))
    }

    /// Calls a function for all values of some expressions.
    fn for_each_value(
        &self,
        mover: &Mover<'_>,
        edge: &Edge,
        rules: &mut Vec<Rule>,
        run: impl Fn(&Scope<'_>, &mut Choices) -> Result<(Key, Word), NoValue>,
    ) {
        let mut tried = 0;
        let left_out = Choices::each_of_few(|choices| {
            match run(&self.scope(mover), choices) {
                Ok(rule) => self.add(rules, rule, edge.span.line),
                Err(NoValue::Wrong(_)) => {
                    self.add(rules, (Key::violated(), Word::one(mover.top)), edge.span.line);
                }
                Err(NoValue::TooLarge(span)) => self.give_up(span),
                Err(NoValue::Open(slot)) => mover.open.note(slot),
            }
            tried += 1;
            tried <= semantics::MOST
        });
        if left_out || tried > semantics::MOST {
            self.give_up(edge.span);
        }
    }

    fn pop(&self, mover: &Mover<'_>, edge: &Edge, results: &[Expr], rules: &mut Vec<Rule>) {
        self.for_each_value(mover, edge, rules, |scope, choices| {
            let program = &self.reduced.program;
            let results = semantics::returned(program, mover.location, results, edge.span, scope, choices)?;
            let mut values = mover.values.to_vec();
            self.arrive(&mut values, mover.location, -1);
            let key = match self.awaited[program.locations[mover.location].procedure.index()] {
                true => Key { mode: Mode::Results(results.into()), values: values.into() },
                false => self.settled(values),
            };
            Ok((key, Word::POP))
        });
    }

    /// Takes the results of a call, as if they were assigned by a statement at the place of the call.
    fn results(&self, mover: &Mover<'_>, call: usize, results: &[Value], rules: &mut Vec<Rule>) {
        let edge = &self.reduced.program.locations[mover.location].edges[call];
        let Op::Call(_, _, places) = &edge.op else { return };
        let outcomes = self.assigned(mover, edge, places, results);
        for outcome in outcomes {
            let mut from = mover.values.to_vec();
            // Nobody is at the place of the call; leaving it must not count.
            self.arrive(&mut from, mover.location, 1);
            let mover = Mover { values: &from, locals: mover.locals.clone(), ..*mover };
            self.pass(&mover, edge, outcome, rules);
        }
    }

    fn assigned(&self, mover: &Mover<'_>, edge: &Edge, places: &[Place], results: &[Value]) -> Vec<Outcome> {
        let state = self.alone(mover);
        let outcomes = semantics::store_results(&state, places, results, edge.to);
        outcomes.unwrap_or_else(|slot| mover.open.note(slot))
    }

    fn spawn(
        &self,
        mover: &Mover<'_>,
        edge: &Edge,
        template: TemplateId,
        arguments: &[Expr],
        rules: &mut Vec<Rule>,
    ) {
        let body: &Procedure = &self.reduced.program.procedures[self.program.templates[template].body];
        self.for_each_value(mover, edge, rules, |scope, choices| {
            let arguments = semantics::passed(body, arguments, edge.span, scope, choices)?;
            Ok(self.start(mover, edge, template, &Frame::enter(body, &arguments, choices)))
        });
    }

    fn fork(&self, mover: &Mover<'_>, edge: &Edge, location: LocationId, rules: &mut Vec<Rule>) {
        let frame = Frame { location, calling: None, locals: mover.locals.clone() };
        let rule = self.start(mover, edge, self.roles[mover.thread].template, &frame);
        self.add(rules, rule, edge.span.line);
    }

    /// Starts a thread with this frame.
    fn start(&self, mover: &Mover<'_>, edge: &Edge, template: TemplateId, frame: &Frame) -> (Key, Word) {
        let started = self.started(template);
        let mut values = mover.values.to_vec();
        if !self.endless[template.index()] {
            if values[started] as usize >= self.pool[template.index()] {
                self.pool_is_empty(template);
                return (Key::exhausted(), Word::one(mover.top));
            }
            values[started] += 1;
        }
        let word = self.go(mover, &mut values, edge.to);
        let mixed = if self.mixed { frame.locals.clone().into() } else { Box::default() };
        (Key { mode: Mode::Starting(template, self.cell_of(frame), mixed), values: values.into() }, word)
    }

    /// Where the procedure called by an edge returns to.
    pub(super) fn return_point(&self, location: LocationId, edge: usize) -> Point {
        let edges = &self.program.locations[location].edges;
        match edges.get(edge).map(|edge| (&edge.op, edge.to)) {
            Some((Op::Call(callee, ..), to)) if !self.awaited[callee.index()] => Point::At(to),
            _ => Point::Returning(location, edge),
        }
    }

    /// Which local variables matter at a point, apart from those kept among the shared values.
    pub(super) fn live_at(&self, point: Point) -> Cow<'_, [bool]> {
        let (mut live, location) = match point {
            Point::Idle | Point::Bottom => return Cow::default(),
            Point::At(location) | Point::Given(location) | Point::Inside(location) => {
                (Cow::from(&self.reduced.live[location.index()]), location)
            }
            Point::Returning(location, edge) => {
                let to = self.program.locations[location].edges[edge].to;
                let live = self.reduced.live_on_return.get(&(location, edge));
                (Cow::from(live.unwrap_or(&self.reduced.live[to.index()])), location)
            }
        };
        if self.mixed {
            for local in self.program.procedure_of(location).locals.iter().filter(|local| local.mixed) {
                live.to_mut()[local.slot..local.slot + local.slots()].fill(false);
            }
        }
        live
    }

    /// The local variables as far as they matter at a point.
    pub(super) fn project(&self, point: Point, locals: &[Value]) -> Box<[Value]> {
        let live = self.live_at(point);
        locals.iter().zip(&*live).map(|(&value, &live)| if live { value } else { 0 }).collect()
    }

    /// Puts a thread's mixed variables where other threads can write them.
    pub(super) fn store_mixed(
        &self,
        values: &mut [Value],
        thread: usize,
        template: TemplateId,
        locals: &[Value],
    ) {
        let body = &self.program.procedures[self.program.templates[template].body];
        if !self.mixed || locals.len() != body.slots() {
            return;
        }
        for local in body.locals.iter().filter(|local| local.mixed) {
            for slot in local.slot..local.slot + local.slots() {
                values[self.mixed_slot(thread, slot)] = locals[slot];
            }
        }
        values[self.mixed_slot(thread, self.most_locals())] = 1;
    }

    /// The local variables with the mixed ones put back.
    pub(super) fn with_mixed(&self, values: &[Value], thread: usize, locals: &[Value]) -> Vec<Value> {
        let mut locals = locals.to_vec();
        let body = &self.program.procedures[self.program.templates[self.roles[thread].template].body];
        if self.mixed && locals.len() == body.slots() {
            for local in body.locals.iter().filter(|local| local.mixed) {
                for slot in local.slot..local.slot + local.slots() {
                    locals[slot] = values[self.mixed_slot(thread, slot)];
                }
            }
        }
        locals
    }
}
