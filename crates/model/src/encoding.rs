//! Programs as concurrent pushdown systems, on the fly.
//!
//! The shared state of the pushdown system is a [`Key`]: the values of the shared variables, a few counters, and a
//! [`Mode`]. A stack symbol is a [`Cell`]: a point of control and the values of the local variables there. Both are
//! interned when they first come up, and the rules for a (thread, shared state, symbol) are made when first asked for;
//! nothing is enumerated beforehand, so a program costs what it reaches.
//!
//! A pushdown rule changes the shared state and one stack. Where the [reference semantics](crate::program::semantics)
//! does more in one step, the encoding takes several, and the mode lets nobody else move in between:
//!
//! * *return*, if the procedure has results, or some call of it leads to where threads are counted or wait: the frame is
//!   popped and the mode carries the results, until the frame that then lies on top takes them and comes to where the call
//!   leads; no other thread can have such a frame on top. If a thread was started inside the procedure, what lies at the
//!   [bottom](Point::Bottom) of its stack takes them;
//! * *spawn*: the mode carries the first frame of the new thread, until a thread that has not started takes it. Each
//!   template has a pool of such threads; when it is empty, the system stops there and says that it is
//!   [incomplete](Pushdown::incomplete), so that nothing is proved, while whatever is found is real;
//! * *broadcast*: the mode counts the threads that are still to be woken; how many wait is a counter
//!   (`broadcast.rs`).
//!
//! If there are too many initial states, shared variables that may start with any value have none at first, and get one
//! when it is first asked for (`open.rs`).
//!
//! What a property asks of the locations of threads (`at`) is kept in counters too, so that whether a state violates the
//! program's properties depends on the shared state alone. A violation is a shared state of its own, with no way out.
//!
//! On request, threads stop only where others can tell (`stops.rs` of the reduction): a rule then goes on through the locations
//! that are passed.
//!
//! Invariant: in mode [`Mode::Normal`] the states of the pushdown system are those of the program, [projected](Reduction)
//! to what can still matter. `encode` is that projection; the tests compare both sides.

mod broadcast;
mod canonical;
mod crowd;
mod giving;
mod names;
mod open;
mod renumber;
mod rules;
mod table;

use crate::program::expression::OPEN;
use crate::program::reduction::{Company, Reduction, reduce, stops};
use crate::program::semantics::{self, Frame, Outcome, Thread};
use crate::program::{
    Count, EventId, Expr, Location, LocationId, Op, Program, Slot, Span, TemplateId, Value, Variable,
};
use crate::property::{Pattern, Property};
use crate::pushdown::{Pushdown, Rule, Shared, Stack, State, Symbol};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use table::Table;

pub use names::Names;
pub use renumber::Renumbering;
pub use table::{Cell, Key, Mode, Point};

/// How many threads there are of each template.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Threads {
    /// Those that run from the start.
    pub running: Vec<usize>,
    /// Those that can be started later.
    pub pool: Vec<usize>,
    /// Why these are not all that the program allows, if they are not. Then nothing is proved.
    pub cut: Option<String>,
    /// For each template, whether one thread stands for [any number](Pushdown::many): of those that run from the start, if
    /// the program gives no number, and of those that can be started later.
    pub many: Vec<bool>,
}

impl Threads {
    /// As the program says; where it allows any number, and for those that are started later, this many.
    pub fn of(program: &Program, any: usize) -> Threads {
        let mut cut = None;
        let running = program.templates.iter().map(|template| match template.count {
            Count::Fixed(count) => count,
            Count::Any => {
                let name = &template.name;
                cut.get_or_insert_with(|| format!("more than {any} threads of {name} were not tried"));
                any
            }
        });
        let running = running.collect();
        let pool = program.templates.iter().map(|template| if template.spawned { any } else { 0 });
        let many = vec![false; program.templates.len()];
        Threads { running, pool: pool.collect(), cut, many }
    }

    /// As the program says, in all generality: one thread stands for any number where the program allows any.
    pub fn many(program: &Program) -> Threads {
        let many = program.templates.iter().map(|template| template.spawned || template.count == Count::Any);
        Threads { cut: None, many: many.collect(), ..Threads::of(program, 1) }
    }
}

/// Why a program has no encoding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoEncoding {
    /// What there is too much of, or what does not go together.
    pub what: String,
    /// Where it comes from.
    pub span: Span,
}

/// How many programs were encoded.
static ENCODINGS: AtomicUsize = AtomicUsize::new(0);

/// The most initial states.
pub const MOST_INITIAL: usize = 1 << 16;

/// The most threads.
const MOST_THREADS: usize = 1 << 16;

/// What a thread of the pushdown system is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Role {
    /// What it is an instance of.
    pub template: TemplateId,
    /// Which thread of its template it is.
    pub this: Value,
    /// Whether it waits in the pool at the start.
    pub pooled: bool,
    /// Whether it stands for any number of threads.
    pub many: bool,
}

/// A program as a pushdown system.
#[derive(Debug)]
pub struct Encoded {
    program: Arc<Program>,
    reduced: Arc<Reduction>,
    /// For each location, whether a thread stops there so that others can move.
    stops: Vec<bool>,
    roles: Vec<Role>,
    /// For each thread, the first that has the same rules.
    kinds: Vec<usize>,
    /// The size of the pool of each template.
    pool: Vec<usize>,
    /// For each template, whether its pool is endless.
    endless: Vec<bool>,
    /// What of the properties depends on where threads are, and the counter for each.
    watched: Vec<Vec<LocationId>>,
    /// For each procedure, whether its callers have something to do when it returns.
    awaited: Vec<bool>,
    /// Where threads stand for any number: a counter with this value or more is kept at it.
    cap: Option<Value>,
    /// What must never be true, over shared values and counters.
    never: Vec<(Expr, Span)>,
    /// Whether locks remember who holds them.
    holders: bool,
    /// Whether threads have values among the shared ones.
    mixed: bool,
    /// With any number of threads: the locations inside of atomic sections that give values to other threads.
    sections: HashSet<LocationId>,
    /// For each shared slot, whether its initial value is left open until somebody asks for it.
    open: Vec<bool>,
    /// For each value of a shared state, whether it can differ from 0.
    kept: Vec<bool>,
    names: Names,
    table: Table,
    initial: Vec<State>,
    /// Why some rule was left out.
    beyond: Mutex<Option<String>>,
    /// The same when the initial states had been made, and nothing else.
    beyond_at_first: Option<String>,
    /// Why these are not all threads, if they are not.
    cut: Option<String>,
}

impl Encoded {
    /// Encodes a program. Without `reduced`, nothing is left out that does not matter.
    pub fn new(program: &Program, threads: &Threads, reduced: bool) -> Result<Encoded, NoEncoding> {
        Encoded::with_initial(program, threads, reduced, MOST_INITIAL)
    }

    /// Encodes a program. If it has more initial states than so many, shared variables that may start with any value have
    /// none until it is asked for, unless a property reads them.
    pub fn with_initial(
        program: &Program,
        threads: &Threads,
        reduced: bool,
        most: usize,
    ) -> Result<Encoded, NoEncoding> {
        let reduction = if reduced { reduce(program) } else { Reduction::none(program) };
        Encoded::made_of(Arc::new(program.clone()), Arc::new(reduction), threads, most)
    }

    /// Encodes a program that has been reduced.
    pub fn of(
        program: Arc<Program>,
        reduction: Arc<Reduction>,
        threads: &Threads,
    ) -> Result<Encoded, NoEncoding> {
        Encoded::made_of(program, reduction, threads, MOST_INITIAL)
    }

    /// The same, where threads stop only at locations where others can tell. Then the states are fewer; either something goes
    /// wrong in both systems, or nothing does, and then there is a deadlock in both or in none.
    pub fn joined(
        program: Arc<Program>,
        reduction: Arc<Reduction>,
        threads: &Threads,
    ) -> Result<Encoded, NoEncoding> {
        let encoded = Encoded::of(program, reduction, threads)?;
        // Who writes variables of other threads finds them where they have stopped, with any number of threads or a known one.
        if is_mixed(&encoded.program) {
            return Ok(encoded);
        }
        let stops = stops(&encoded.reduced, &encoded.company());
        Ok(encoded.stopping(stops))
    }

    /// The same system, where threads stop only at these locations. Nothing has been asked of it yet.
    #[must_use]
    pub fn stopping(self, stops: Vec<bool>) -> Encoded {
        Encoded { stops, ..self }
    }

    /// Of each template, how many threads there are.
    fn company(&self) -> Vec<Company> {
        let company = |template: TemplateId| {
            let declared = &self.program.templates[template];
            // Whatever their number is here, so that threads stop at the same places with any number of them.
            if declared.spawned || declared.count == Count::Any {
                return Company::Many;
            }
            match self.roles.iter().filter(|role| role.template == template).count() {
                0 | 1 => Company::Alone,
                _ => Company::Numbered,
            }
        };
        TemplateId::all(&self.program.templates).map(company).collect()
    }

    /// Whether a thread that comes to a location goes on at once, in the same step.
    pub fn passes(&self, location: LocationId) -> bool {
        !self.stops[location.index()]
    }

    /// What matters of the program.
    pub fn reduction(&self) -> &Reduction {
        &self.reduced
    }

    fn made_of(
        program: Arc<Program>,
        reduction: Arc<Reduction>,
        threads: &Threads,
        most: usize,
    ) -> Result<Encoded, NoEncoding> {
        ENCODINGS.fetch_add(1, Ordering::Relaxed);
        let roles = roles(&program, threads)?;
        let mut watched: Vec<Vec<LocationId>> = Vec::new();
        for never in &program.never {
            never.expr.visit(&mut |expr| {
                if let Expr::At(locations) = expr
                    && !watched.contains(locations)
                {
                    watched.push(locations.clone());
                }
            });
        }
        let first_counter = program.shared_slots();
        let never =
            program.never.iter().map(|never| (counted(&never.expr, &watched, first_counter), never.span));
        let never = never.collect();
        let mixed = is_mixed(&program);
        let holders = !reduction.locks_are_safe;
        let calls = |location: &Location| location.edges.iter().any(|edge| matches!(edge.op, Op::Call(..)));
        if mixed && let Some(location) = program.locations.iter().find(|location| calls(location)) {
            let what = "calls beside variables that other threads write (x$)".to_string();
            return Err(NoEncoding { what, span: location.span });
        }
        let cap =
            if threads.many.contains(&true) { Some(crowd::cap(&program, holders, mixed)?) } else { None };
        // With any number of threads, they are kept with the threads.
        let sections = if mixed && cap.is_some() { giving::sections(&program) } else { HashSet::new() };
        let mixed = mixed && cap.is_none();
        let mut encoded = Encoded {
            kinds: kinds(&program, &roles, !holders && !mixed),
            cap,
            never,
            awaited: awaited(&program, &watched),
            watched,
            holders,
            mixed,
            sections,
            open: vec![false; program.shared_slots()],
            kept: Vec::new(),
            names: Names::new(&program),
            table: Table::default(),
            initial: Vec::new(),
            beyond: Mutex::default(),
            cut: threads.cut.clone(),
            pool: threads.pool.clone(),
            endless: threads.many.clone(),
            roles,
            program,
            stops: vec![true; reduction.program.locations.len()],
            reduced: reduction,
            beyond_at_first: None,
        };
        encoded.kept = encoded.value_names().iter().map(Option::is_some).collect();
        encoded.initial = match encoded.initial_states(most) {
            Ok(initial) => initial,
            Err(_) => {
                encoded.leave_open();
                encoded.initial_states(MOST_INITIAL)?
            }
        };
        encoded.beyond_at_first = encoded.missing_steps();
        Ok(encoded)
    }

    /// How many encodings have been made in this process: one for each form of a program that was asked for.
    pub fn made() -> usize {
        ENCODINGS.load(Ordering::Relaxed)
    }

    /// Forgets which limits were hit since the program was encoded. A bound from above may ask for rules in states that no run
    /// reaches; who asks next finds out anew what is missing.
    pub fn reset_limits(&self) {
        self.table.forget_rules();
        *self.beyond.lock().unwrap_or_else(PoisonError::into_inner) = self.beyond_at_first.clone();
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What each thread of the pushdown system is.
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// What must never be seen: a violation, and on request a deadlock.
    pub fn property(&self, deadlock: bool) -> Property {
        let shared = self.table.shared(Key::violated());
        let mut bad = vec![Pattern { shared: Some(shared), tops: vec![None; self.roles.len()] }];
        if deadlock && self.cap.is_some() && giving::may_be_kept(&self.program) {
            // Who may not give what it would give can move here all the same. So that nothing is proved, every state is bad.
            bad.push(Pattern { shared: None, tops: vec![None; self.roles.len()] });
        }
        Property { bad, deadlock }
    }

    /// What a shared state stands for.
    pub fn key(&self, shared: Shared) -> Key {
        (*self.table.key(shared)).clone()
    }

    /// What a symbol stands for.
    pub fn cell(&self, symbol: Symbol) -> Cell {
        (*self.table.cell(symbol)).clone()
    }

    /// The same for a thread, with the variables of it that are kept among the shared values.
    pub fn whole_cell(&self, shared: Shared, thread: usize, symbol: Symbol) -> Cell {
        let (key, cell) = (self.table.key(shared), self.cell(symbol));
        match self.mixed && !key.values.is_empty() {
            true => Cell { locals: self.with_mixed(&key.values, thread, &cell.locals).into(), ..cell },
            false => cell,
        }
    }

    /// How many shared states and symbols have come up, and how many bytes they take.
    pub fn size(&self) -> (usize, usize, usize) {
        self.table.size()
    }

    fn initial_states(&self, most: usize) -> Result<Vec<State>, NoEncoding> {
        let program = &self.reduced.program;
        let too_many = || {
            let open = program.shared.iter().chain(program.procedures.iter().flat_map(|p| &p.locals));
            let open = open.filter(|variable| variable.initial.contains(&None));
            let span = open.map(|variable| variable.span).next_back().unwrap_or_default();
            NoEncoding { what: format!("more than {MOST_INITIAL} initial states"), span }
        };
        let states = self.starts().filter(|states| states.len() <= most).ok_or_else(too_many)?;
        let slots = self.initial_slots();
        let mut initial: Vec<State> = states.iter().map(|state| self.encode(state, &slots)).collect();
        if !self.crowd(&mut initial) {
            return Err(too_many());
        }
        initial.sort_unstable();
        initial.dedup();
        if initial.len() > MOST_INITIAL { Err(too_many()) } else { Ok(initial) }
    }

    /// For each thread of the system, the thread of the program that it is at the start.
    pub fn initial_slots(&self) -> Vec<Option<usize>> {
        let mut next = 0..;
        self.roles.iter().map(|role| if role.pooled { None } else { next.next() }).collect()
    }

    /// An initial state of the program for one of the system. What does not matter has its least value, and so has what is
    /// left open, unless `chosen` says otherwise.
    pub fn lift(&self, state: &State, chosen: impl Fn(Slot) -> Option<Value>) -> Option<semantics::State> {
        let key = self.table.key(state.shared);
        let (values, stacks) = match key.mode {
            // Which values violate the property is not kept; few programs start with a violation.
            Mode::Violated => {
                let wrong = |state: &semantics::State| state.violated(&self.reduced.program).is_some();
                self.parts(&self.starts()?.into_iter().find(wrong)?, &self.initial_slots())
            }
            _ => (key.values.to_vec(), state.stacks.clone()),
        };
        let kept = |slot: Slot| Some(values[slot]).filter(|_| self.reduced.shared[slot]);
        let value = |slot| kept(slot).filter(|&value| !self.is_open(slot, value)).or_else(|| chosen(slot));
        let shared = lifted(&self.program.shared, value);
        let mut lift = semantics::State { shared, threads: Vec::new() };
        for (slot, (role, stack)) in self.roles.iter().zip(&stacks).enumerate() {
            if role.pooled {
                continue;
            }
            let cell = self.table.cell(stack.top());
            let body = &self.program.procedures[self.program.templates[role.template].body];
            let live = self.live_at(cell.point);
            let locals = lifted(&body.locals, |local| live[local].then(|| cell.locals[local]));
            let locals = self.with_mixed(&values, slot, &locals);
            let frame = Frame { location: body.entry, calling: None, locals };
            let id = lift.threads.len();
            lift.threads.push(Thread { template: role.template, id, this: role.this, stack: vec![frame] });
        }
        Some(lift)
    }

    fn initial_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.program.templates.len()];
        let running = self.roles.iter().filter(|role| !role.pooled);
        running.for_each(|role| counts[role.template.index()] += 1);
        counts
    }

    /// The state of the pushdown system for one of the program, in which the threads sit in these slots: for each thread
    /// of the system the thread of the program, if it has started.
    pub fn encode(&self, state: &semantics::State, slots: &[Option<usize>]) -> State {
        let (values, stacks) = self.parts(state, slots);
        State { shared: self.table.shared(self.settled(values)), stacks }
    }

    /// The shared values and the stacks for a state of the program.
    fn parts(&self, state: &semantics::State, slots: &[Option<usize>]) -> (Vec<Value>, Vec<Stack>) {
        let mut values = self.values(&state.shared);
        for (slot, value) in values.iter_mut().enumerate().take(state.shared.len()) {
            if self.holders && self.reduced.locks[slot] && *value != 0 {
                // The program numbers its threads in another order than the system.
                let holder = slots.iter().position(|thread| *thread == Some(*value as usize - 1));
                *value = holder.map_or(self.gone(), |holder| holder as Value + 1);
            }
        }
        let mut stacks = Vec::with_capacity(slots.len());
        for (slot, (thread, role)) in slots.iter().zip(&self.roles).enumerate() {
            let Some(thread) = thread.map(|thread| &state.threads[thread]) else {
                stacks.push(Stack::from_top([self.table.symbol(Cell::idle())]));
                continue;
            };
            if let Some(top) = thread.top() {
                self.arrive(&mut values, top.location, 1);
            }
            if role.pooled && !role.many {
                values[self.started(role.template)] += 1;
            }
            let mut symbols = Vec::new();
            for (depth, frame) in thread.stack.iter().enumerate().rev() {
                symbols.push(self.table.symbol(self.cell_of(frame)));
                if depth == 0 {
                    self.store_mixed(&mut values, slot, role.template, &frame.locals);
                }
            }
            if thread.stack.first().is_some_and(|first| self.returns_to_nobody(role.template, first.location))
            {
                symbols.push(self.table.symbol(Cell::bottom()));
            }
            stacks.push(Stack::from_top(symbols));
        }
        (values, stacks)
    }

    /// Whether a thread whose first frame is at a location may return from it as if to a caller.
    fn returns_to_nobody(&self, template: TemplateId, location: LocationId) -> bool {
        let procedure = self.program.locations[location].procedure;
        procedure != self.program.templates[template].body && self.awaited[procedure.index()]
    }

    /// The cell of a frame.
    fn cell_of(&self, frame: &Frame) -> Cell {
        let point = match frame.calling {
            None => Point::At(frame.location),
            Some(edge) => self.return_point(frame.location, edge),
        };
        Cell { point, locals: self.project(point, &frame.locals) }
    }

    /// Shared values, all counters zero.
    fn values(&self, shared: &[Value]) -> Vec<Value> {
        let length = self.mixed_slot(self.roles.len(), 0);
        let mut values = Vec::with_capacity(length);
        values.extend_from_slice(shared);
        for (slot, value) in values.iter_mut().enumerate() {
            if !self.reduced.shared[slot] {
                *value = 0;
            } else if !self.holders && self.reduced.locks[slot] {
                *value = Value::from(*value != 0);
            }
        }
        values.resize(length, 0);
        values
    }

    /// The holder of a lock whose holder was a task that has ended.
    fn gone(&self) -> Value {
        self.roles.len() as Value + 1
    }

    /// The counter for an event's waiting threads.
    fn waiting(&self, event: EventId) -> usize {
        self.program.shared_slots() + self.watched.len() + event.index()
    }

    /// The counter for a template's threads that were started later.
    fn started(&self, template: TemplateId) -> usize {
        self.waiting(EventId(self.program.events.len())) + template.index()
    }

    /// Where a thread keeps its value of a mixed local variable, and after the last of them whether it has started.
    fn mixed_slot(&self, thread: usize, slot: usize) -> usize {
        let each = if self.mixed { self.most_locals() + 1 } else { 0 };
        self.started(TemplateId(self.program.templates.len())) + thread * each + slot
    }

    fn most_locals(&self) -> usize {
        self.program.procedures.iter().map(|procedure| procedure.slots()).max().unwrap_or(0)
    }

    /// The counters of threads that are at certain locations, or wait for events.
    fn counters(&self) -> std::ops::Range<usize> {
        self.program.shared_slots()..self.started(TemplateId(0))
    }

    /// Counts a thread that comes to a location, or leaves it.
    fn arrive(&self, values: &mut [Value], location: LocationId, by: Value) {
        let first = self.program.shared_slots();
        for (counter, locations) in self.watched.iter().enumerate() {
            if locations.contains(&location) {
                // Evidence from outside may say anything about counters.
                values[first + counter] = values[first + counter].wrapping_add(by);
            }
        }
        if let (Some(event), None) = (self.program.waits_for(location), self.cap) {
            let waiting = &mut values[self.waiting(event)];
            *waiting = waiting.wrapping_add(by);
        }
    }

    /// The shared state with these values, unless a property is violated there.
    fn settled(&self, values: Vec<Value>) -> Key {
        let scope = crate::program::expression::Scope {
            shared: &values,
            locals: &[],
            this: 0,
            next: None,
            control: &[],
        };
        for (expr, span) in &self.never {
            match semantics::violation(expr, *span, &scope) {
                Some(Outcome::Wrong(_)) => return Key::violated(),
                Some(Outcome::Beyond(span)) => self.give_up(span),
                Some(Outcome::To(_)) | None => {}
            }
        }
        self.capped(Key { mode: Mode::Normal, values: values.into() })
    }

    fn give_up(&self, span: Span) {
        let mut beyond = self.beyond.lock().unwrap_or_else(PoisonError::into_inner);
        beyond.get_or_insert_with(|| {
            format!(
                "line {}: a value beyond what is followed, or a single step that does too much",
                span.line
            )
        });
    }

    fn pool_is_empty(&self, template: TemplateId) {
        let mut beyond = self.beyond.lock().unwrap_or_else(PoisonError::into_inner);
        beyond.get_or_insert_with(|| {
            let (name, pool) = (&self.program.templates[template].name, self.pool[template.index()]);
            let threads = if pool == 1 { "thread" } else { "threads" };
            format!("more than {pool} {threads} of {name} can be started")
        });
    }
}

/// Whether threads write variables of each other.
fn is_mixed(program: &Program) -> bool {
    program.procedures.iter().any(|procedure| procedure.locals.iter().any(|local| local.mixed))
}

/// The values of variables: the given ones, or else some that they may have at the start.
fn lifted(variables: &[Variable], given: impl Fn(usize) -> Option<Value>) -> Vec<Value> {
    let mut values = Vec::new();
    for variable in variables {
        for initial in &variable.initial {
            let some = initial.unwrap_or(variable.ty.default_value());
            values.push(given(values.len()).unwrap_or(some));
        }
    }
    values
}

/// The expression with a counter in place of each `at`.
fn counted(expr: &Expr, watched: &[Vec<LocationId>], first: usize) -> Expr {
    let again = |part: &Expr| Box::new(counted(part, watched, first));
    match expr {
        Expr::At(locations) => {
            let counter = watched.iter().position(|other| other == locations).unwrap_or_default();
            Expr::Shared(first + counter)
        }
        Expr::SharedElement(slot, length, index, span) => {
            Expr::SharedElement(*slot, *length, again(index), *span)
        }
        Expr::LocalElement(slot, length, index, span) => {
            Expr::LocalElement(*slot, *length, again(index), *span)
        }
        Expr::Unary(operator, part) => Expr::Unary(*operator, again(part)),
        Expr::Binary(operator, left, right, span) => {
            Expr::Binary(*operator, again(left), again(right), *span)
        }
        Expr::If(condition, then, other) => Expr::If(again(condition), again(then), again(other)),
        leaf => leaf.clone(),
    }
}

/// For each procedure, whether it has results, or one of its calls leads to where threads are counted or wait.
fn awaited(program: &Program, watched: &[Vec<LocationId>]) -> Vec<bool> {
    let mut awaited: Vec<bool> =
        program.procedures.iter().map(|procedure| !procedure.results.is_empty()).collect();
    let noticed: HashSet<LocationId> = watched.iter().flatten().copied().collect();
    for edge in program.locations.iter().flat_map(|location| &location.edges) {
        if let Op::Call(callee, ..) = edge.op {
            awaited[callee.index()] |= noticed.contains(&edge.to) || program.waits_for(edge.to).is_some();
        }
    }
    awaited
}

fn roles(program: &Program, threads: &Threads) -> Result<Vec<Role>, NoEncoding> {
    let mut roles = Vec::new();
    for (template, declared) in TemplateId::each(&program.templates) {
        let (running, pool) = (threads.running[template.index()], threads.pool[template.index()]);
        if roles.len() + running + pool > MOST_THREADS {
            return Err(NoEncoding {
                what: format!("more than {MOST_THREADS} threads"),
                span: declared.span,
            });
        }
        let (many, any) = (threads.many[template.index()], declared.count == Count::Any);
        let role = |this, pooled| Role { template, this, pooled, many: many && (pooled || any) };
        roles.extend((0..running).map(|this| role(this as Value, false)));
        roles.extend((0..pool).map(|_| role(0, true)));
    }
    if roles.is_empty() {
        let span = program.templates.first().map(|template| template.span).unwrap_or_default();
        return Err(NoEncoding { what: "no thread at all".to_string(), span });
    }
    Ok(roles)
}

/// For each thread, the first with the same rules, provided that threads leave no names behind in the shared state.
fn kinds(program: &Program, roles: &[Role], anonymous: bool) -> Vec<usize> {
    let mut firsts = vec![None; program.templates.len()];
    let kind = |(thread, role): (usize, &Role)| {
        let alike = anonymous && !program.templates[role.template].uses_self;
        if alike { *firsts[role.template.index()].get_or_insert(thread) } else { thread }
    };
    roles.iter().enumerate().map(kind).collect()
}

impl Pushdown for Encoded {
    fn threads(&self) -> usize {
        self.roles.len()
    }

    fn initial(&self) -> Vec<State> {
        self.initial.clone()
    }

    fn rules(&self, thread: usize, shared: Shared, top: Symbol, out: &mut Vec<Rule>) {
        let kind = self.kind(thread);
        if !self.table.remembered(kind, shared, top, out) {
            let rules = self.make_rules(thread, shared, top);
            self.table.remember(kind, shared, top, &rules);
            out.extend(rules);
        }
    }

    fn kind(&self, thread: usize) -> usize {
        self.kinds[thread]
    }

    fn ended(&self, _: usize, top: Symbol) -> bool {
        top == crate::pushdown::EMPTY
            || match self.table.cell(top).point {
                Point::Idle | Point::Bottom => true,
                Point::At(location) => self.program.locations[location].edges.is_empty(),
                Point::Returning(..) | Point::Given(_) | Point::Inside(_) => false,
            }
    }

    fn many(&self, thread: usize) -> bool {
        self.roles[thread].many
    }

    fn broadcast_target(&self, shared: Shared) -> Option<Shared> {
        self.broadcast_from(shared)
    }

    fn after_broadcast(&self, thread: usize, shared: Shared, top: Symbol) -> Option<Symbol> {
        self.top_after_broadcast(thread, shared, top)
    }

    fn chooses_in_broadcast(&self, thread: usize, shared: Shared, top: Symbol) -> bool {
        self.can_choose(thread, shared, top)
    }

    fn encoded(&self) -> Option<&Encoded> {
        Some(self)
    }

    fn is_transient(&self, shared: Shared) -> bool {
        !matches!(self.table.key(shared).mode, Mode::Normal | Mode::Violated | Mode::Exhausted)
    }

    fn incomplete(&self) -> Option<String> {
        self.missing_steps().or_else(|| self.cut.clone())
    }

    fn missing_steps(&self) -> Option<String> {
        self.beyond.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn shared_name(&self, shared: Shared) -> String {
        self.name_key(&self.table.key(shared))
    }

    fn shared_named(&self, name: &str) -> Option<Shared> {
        self.read_key(name).map(|key| self.table.shared(key))
    }

    fn symbol_name(&self, _: usize, symbol: Symbol) -> String {
        self.name_cell(&self.table.cell(symbol))
    }

    fn symbol_named(&self, _: usize, name: &str) -> Option<Symbol> {
        self.read_cell(name).map(|cell| self.table.symbol(cell))
    }

    fn write_shared(&self, shared: Shared, out: &mut Vec<u8>) {
        self.write_key(&self.table.key(shared), out);
    }

    fn read_shared(&self, bytes: &mut &[u8]) -> Option<Shared> {
        self.take_key(bytes).map(|key| self.table.shared(key))
    }

    fn write_symbol(&self, _: usize, symbol: Symbol, out: &mut Vec<u8>) {
        self.write_cell(&self.table.cell(symbol), out);
    }

    fn read_symbol(&self, _: usize, bytes: &mut &[u8]) -> Option<Symbol> {
        self.take_cell(bytes).map(|cell| self.table.symbol(cell))
    }
}
