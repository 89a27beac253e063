//! From a run of a program to what a real run of it must do, and when.
//!
//! Of each step, one thing matters to the others: the access to shared memory that it starts with, the section that it is, the
//! thread that it creates, joins or ends. That is its event. The threads of the program get the numbers of the threads of the
//! process: 0 for `main`, then in the order in which the run creates them. What the run chooses is kept for
//! each thread in its order.

use allways_c::fuse::visible_slots;
use allways_c::lower::{CHECKING, RECURSIVE};
use allways_evidence::{End, Run, RunStep};
use allways_model::encoding::Encoded;
use allways_model::program::expression::{Choices, Scope};
use allways_model::program::path::{Move, through};
use allways_model::program::semantics::{Outcome, State};
use allways_model::program::{Expr, Op, Program, Slot, Span, Target, Value, Variable, WATCHED, Wrong};
use std::collections::{HashMap, VecDeque};
use std::fmt;

/// What happens in an event. The numbers are those of the runtime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Nothing yet: the thread runs up to what it does next.
    Turn = 0,
    /// Memory is read.
    Read = 1,
    /// Memory is written.
    Write = 2,
    /// Memory is read and written at once; a lock or the like is taken or freed.
    Update = 3,
    /// An atomic section.
    Section = 4,
    /// A thread is created.
    Create = 5,
    /// A thread is joined.
    Join = 6,
    /// The thread ends.
    End = 7,
    /// Memory is accessed in some way.
    Access = 8,
}

/// Something that a thread does and others can see.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Which thread: 0 is `main`, others in the order of their creation.
    pub thread: usize,
    /// What it does.
    pub kind: Kind,
    /// The lines on which it may stand, from the first to the last.
    pub lines: (u32, u32),
    /// The variable that is accessed, if it has a name; the function with which a thread that is created starts.
    pub variable: Option<String>,
    /// The shared slot of the model that is accessed.
    pub slot: Option<Slot>,
}

impl Event {
    /// Whether a run always comes to it: memory is given and taken back without an access.
    fn is_seen(&self) -> bool {
        let accesses = matches!(self.kind, Kind::Read | Kind::Write | Kind::Update);
        !accesses || self.slot.is_some() || self.variable.is_some()
    }
}

/// A value that the program does not determine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chosen {
    /// Which thread gets it.
    pub thread: usize,
    /// The lines on which it may stand.
    pub lines: (u32, u32),
    /// How many events of the schedule there are up to the last one before it that a run of the thread comes to.
    pub after: usize,
    /// The value.
    pub value: Value,
}

/// The value of a local variable that may have none of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undefined {
    /// Whose variable it is.
    pub thread: usize,
    /// Its name in C.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// The value.
    pub value: Value,
}

/// A mutex that is not plain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MutexKind {
    /// The variable.
    pub name: String,
    /// Which of its elements.
    pub index: usize,
    /// How many it has.
    pub count: usize,
    /// Whether it is recursive; or else it checks for errors.
    pub recursive: bool,
}

/// What goes wrong at the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failing {
    /// An assertion fails, or a call says that there is an error.
    Error,
    /// Memory is accessed that is none.
    Memory,
    /// A division by zero.
    Division,
    /// No thread can move.
    Deadlock,
    /// Two threads are about to access the same memory, one of them to write it.
    Race,
}

/// What a real run must do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// What threads do, one after the other.
    pub events: Vec<Event>,
    /// What they get, for each thread in its order.
    pub chosen: Vec<Chosen>,
    /// The values of variables that may have none, for each thread in its order.
    pub undefined: Vec<Undefined>,
    /// Mutexes that are not plain from the start.
    pub kinds: Vec<MutexKind>,
    /// The thread that goes wrong.
    pub last: usize,
    /// What goes wrong.
    pub failing: Failing,
    /// On which line, if it is on one.
    pub line: Option<u32>,
}

/// Why a run gives no schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoSchedule(pub String);

impl fmt::Display for NoSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for NoSchedule {}

impl Schedule {
    /// The schedule of a run of a C program. `source` is the text of the program.
    pub fn new(encoded: &Encoded, run: &Run, source: &[u8]) -> Result<Schedule, NoSchedule> {
        let program = encoded.program();
        let roles = encoded.roles();
        let main = program.templates.iter().position(|template| template.name == "main" && !template.spawned);
        let main = roles.iter().position(|role| Some(role.template.index()) == main);
        let mut numbers = vec![None; roles.len()];
        if let Some(main) = main {
            numbers[main] = Some(0);
        }
        let watched = program.shared.iter().find(|variable| variable.name == WATCHED);
        let watched = watched.map(|variable| variable.slot);
        let race = watched.filter(|&slot| run.steps.last().is_some_and(|step| step.state.shared[slot] != 0));
        let (failing, line) = match run.end {
            End::Wrong(violation) if race.is_some() => (Failing::Race, Some(violation.line)),
            End::Deadlock => (Failing::Deadlock, None),
            End::Halted(_) => return Err(NoSchedule("a run without progress has no end".to_string())),
            End::Wrong(violation) => {
                let failing = match violation.kind {
                    Wrong::Index => Failing::Memory,
                    Wrong::Division => Failing::Division,
                    Wrong::Assertion if frees(program, run, source) => Failing::Memory,
                    _ => Failing::Error,
                };
                (failing, Some(violation.line))
            }
        };
        let (events, chosen, undefined) = (Vec::new(), Vec::new(), Vec::new());
        let kinds = kinds(program);
        let schedule = Schedule { events, chosen, undefined, kinds, last: 0, failing, line };
        let mut writer = Writer {
            program,
            source,
            visible: visible_slots(program),
            numbers,
            created: HashMap::new(),
            next: 1,
            watched,
            held: None,
            schedule,
        };
        let mut before = (&run.initial, &run.slots);
        for (index, step) in run.steps.iter().enumerate() {
            let end = match run.end {
                End::Wrong(violation) if index + 1 == run.steps.len() => Outcome::Wrong(violation),
                _ => Outcome::To(step.state.clone()),
            };
            writer.step((before.0, before.1), step, &end)?;
            before = (&step.state, &step.slots);
        }
        // The access of the thread that has stopped would come after the one that finds it.
        writer.schedule.events.extend(writer.held);
        Ok(writer.schedule)
    }

    /// How often another thread takes over.
    pub fn switches(&self) -> usize {
        let threads: Vec<usize> = self.events.iter().map(|event| event.thread).chain([self.last]).collect();
        threads.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }
}

/// A shared slot that is accessed.
struct Access {
    slot: Slot,
    written: bool,
}

struct Writer<'a> {
    program: &'a Program,
    source: &'a [u8],
    /// The shared slots that more than one thread accesses, one of them writing.
    visible: Vec<bool>,
    /// The numbers of the threads of the pushdown system, once they run.
    numbers: Vec<Option<usize>>,
    /// Threads that were created by raising a shared slot and have not started.
    created: HashMap<Slot, VecDeque<usize>>,
    next: usize,
    /// The variable that says before which access a thread has stopped, if data races are looked for.
    watched: Option<Slot>,
    /// That access.
    held: Option<Event>,
    schedule: Schedule,
}

impl Writer<'_> {
    fn step(
        &mut self,
        (state, slots): (&State, &[Option<usize>]),
        step: &RunStep,
        end: &Outcome,
    ) -> Result<(), NoSchedule> {
        let program = self.program;
        let Some(thread) = slots[step.thread] else {
            return Err(NoSchedule("a thread moves that does not run".to_string()));
        };
        let moves = through(program, state, thread, step.edge, end);
        let Some(moves) = moves else {
            let line = program.locations[step.location].edges[step.edge].span.line;
            return Err(NoSchedule(format!("line {line}: it is not found out what happens inside the step")));
        };
        let first = &program.locations[step.location].edges[step.edge];
        let section = first.op == Op::AtomicBegin && self.is_section(first.span);
        if section {
            self.event(step, Kind::Section, first.span, None)?;
        }
        let mut seen = section;
        for (number, passed) in moves.iter().enumerate() {
            let edge = &program.locations[passed.location].edges[passed.edge];
            if let Op::Spawn(template, _) = edge.op {
                self.creation(step, edge.span, &program.templates[template].name)?;
                if let Some(started) = step.started {
                    self.numbers[started] = Some(self.next);
                }
                self.next += 1;
            }
            let mut accesses = accesses(&edge.op, passed, thread);
            accesses.retain(|access| self.visible[access.slot]);
            if let Some(watch) = accesses.iter().find(|access| Some(access.slot) == self.watched) {
                self.watch(step, watch, edge.span)?;
                seen = true;
                continue;
            }
            let hidden = accesses.iter().find_map(|access| {
                let name = self.name(access.slot);
                let word = ["#created", "#ended"].into_iter().find(|word| name.starts_with(word))?;
                Some((
                    word,
                    access.slot,
                    accesses.iter().any(|other| other.slot == access.slot && other.written),
                ))
            });
            match hidden {
                Some(("#created", slot, _)) => {
                    if let Op::Assign(_, _, Some(_)) = edge.op {
                        let waiting = self.created.get_mut(&slot).and_then(VecDeque::pop_front);
                        self.numbers[step.thread] = waiting;
                    } else {
                        let name = self.name(slot);
                        self.creation(step, edge.span, name.trim_start_matches("#created").trim_start())?;
                        self.created.entry(slot).or_default().push_back(self.next);
                        self.next += 1;
                    }
                    seen = true;
                }
                Some((_, _, true)) => self.event(step, Kind::End, edge.span, None)?,
                Some(_) => {
                    // All threads of a crew are joined in one step.
                    let crew = accesses.iter().find(|access| self.name(access.slot).starts_with("#crew"));
                    let joined = crew.map_or(1, |crew| passed.before.shared[crew.slot]);
                    for _ in 0..joined {
                        self.event(step, Kind::Join, edge.span, None)?;
                    }
                    seen = true;
                }
                None => {
                    // What follows the first access of a step is seen by nobody else.
                    if let Some(access) = accesses.first().filter(|_| !seen) {
                        let access = accesses.iter().find(|access| access.written).unwrap_or(access);
                        let read = accesses.iter().any(|other| other.slot == access.slot && !other.written);
                        let kind = match (read, access.written) {
                            (true, true) => Kind::Update,
                            (_, true) => Kind::Write,
                            _ => Kind::Read,
                        };
                        self.event(step, kind, edge.span, Some(access.slot))?;
                        seen = true;
                    }
                }
            }
            let after = moves.get(number + 1).map_or(&step.state, |next| &next.before);
            let given = given(&edge.op, after, thread);
            let values = match given {
                // Nobody asks for the value of a variable that has none.
                Some(_) if self.finds_no_value(step, &edge.op) => Vec::new(),
                // How a value was chosen among few is nothing that the program asks for.
                Some((_, value)) if passed.chosen.len() > 1 => vec![value],
                _ => passed.chosen.clone(),
            };
            for value in values {
                let (thread, lines) = (self.number(step)?, self.lines(edge.span));
                let seen = |event: &Event| event.thread == thread && event.is_seen();
                let last = self.schedule.events.iter().rposition(seen);
                let after = last.map_or(0, |last| last + 1);
                self.schedule.chosen.push(Chosen { thread, lines, after, value });
            }
            if let Some((slot, value)) = given {
                self.undefined(step, slot, value)?;
            }
        }
        self.schedule.last = self.number(step)?;
        Ok(())
    }

    /// Whether a step gives a local variable its value because it has none where it is read.
    fn finds_no_value(&self, step: &RunStep, op: &Op) -> bool {
        let locals = &self.program.procedures[self.program.locations[step.location].procedure].locals;
        op.places().iter().any(|place| {
            let Target::Local(slot) = place.target else { return false };
            locals.iter().any(|variable| variable.slot == slot && variable.name.ends_with(" has a value"))
        })
    }

    /// A local variable gets a value that nothing determines: by a call that says so, or because it has none.
    fn undefined(&mut self, step: &RunStep, slot: Slot, value: Value) -> Result<(), NoSchedule> {
        let procedure = self.program.locations[step.location].procedure;
        let locals = &self.program.procedures[procedure].locals;
        // Results of calls have a variable, too, which is not declared.
        let named = |variable: &&Variable| variable.slot == slot && !variable.name.contains(['#', '(']);
        if let Some(variable) = locals.iter().find(named) {
            let name = variable.name.split('\'').next().unwrap_or_default();
            let name = name.rsplit('.').next().unwrap_or_default().to_string();
            let (thread, span) = (self.number(step)?, variable.span);
            self.schedule.undefined.push(Undefined { thread, name, span, value });
        }
        Ok(())
    }

    /// A thread stops before an access, or finds at its own one that another thread has.
    fn watch(&mut self, step: &RunStep, watch: &Access, span: Span) -> Result<(), NoSchedule> {
        let code = step.state.shared[watch.slot];
        let slot = usize::try_from(code / 2).ok();
        if !watch.written {
            return self.event(step, Kind::Access, span, slot);
        }
        self.event(step, if code % 2 == 1 { Kind::Write } else { Kind::Read }, span, slot)?;
        self.held = self.schedule.events.pop();
        self.event(step, Kind::Turn, span, None)
    }

    fn number(&self, step: &RunStep) -> Result<usize, NoSchedule> {
        let number = self.numbers[step.thread];
        number.ok_or_else(|| NoSchedule("a thread moves that nobody has created".to_string()))
    }

    fn event(
        &mut self,
        step: &RunStep,
        kind: Kind,
        span: Span,
        slot: Option<Slot>,
    ) -> Result<(), NoSchedule> {
        let (thread, lines) = (self.number(step)?, self.lines(span));
        let variable = slot.map(|slot| base(&self.name(slot))).filter(|name| !name.is_empty());
        // Whether an object is there is nowhere in memory.
        let slot = slot.filter(|&slot| !self.says_what_is_there(slot));
        self.schedule.events.push(Event { thread, kind, lines, variable, slot });
        Ok(())
    }

    /// A thread is created that starts with a function.
    fn creation(&mut self, step: &RunStep, span: Span, function: &str) -> Result<(), NoSchedule> {
        self.event(step, Kind::Create, span, None)?;
        self.schedule.events.last_mut().into_iter().for_each(|event| event.variable = Some(base(function)));
        Ok(())
    }

    /// Whether an atomic section is one of the program, not one that was made of steps that nobody else sees.
    fn is_section(&self, span: Span) -> bool {
        let text = self.source.get(span.start as usize..).unwrap_or_default();
        ["__VERIFIER_atomic", "__ESBMC_atomic", "__CPROVER_atomic"]
            .iter()
            .any(|word| text.starts_with(word.as_bytes()))
    }

    /// Whether a slot says whether an object is there.
    fn says_what_is_there(&self, slot: Slot) -> bool {
        let name = self.name(slot);
        name.starts_with("#there ") || name.ends_with('#')
    }

    fn lines(&self, span: Span) -> (u32, u32) {
        let text = self.source.get(span.start as usize..span.end as usize).unwrap_or_default();
        let breaks = text.iter().filter(|&&byte| byte == b'\n').count() as u32;
        (span.line, span.line + breaks)
    }

    /// The name of the variable to which a shared slot belongs.
    fn name(&self, slot: Slot) -> String {
        let of = |variable: &&Variable| (variable.slot..variable.slot + variable.slots()).contains(&slot);
        self.program.shared.iter().find(of).map_or_else(String::new, |variable| variable.name.clone())
    }
}

/// The local variable to which a step gives a value that is chosen, and the value.
fn given(op: &Op, after: &State, thread: usize) -> Option<(Slot, Value)> {
    let Op::Assign(places, values, _) = op else { return None };
    let mut chooses = false;
    values.first()?.visit(&mut |part| chooses |= matches!(part, Expr::Choose(..)));
    let Target::Local(slot) = places.first()?.target else { return None };
    let value = *after.threads.get(thread)?.top()?.locals.get(slot)?;
    chooses.then_some((slot, value))
}

/// The mutexes of a program whose initialiser says of which kind they are.
fn kinds(program: &Program) -> Vec<MutexKind> {
    let mut found = Vec::new();
    for variable in &program.shared {
        let count = variable.initial.len();
        for (index, initial) in variable.initial.iter().enumerate() {
            if let Some(RECURSIVE | CHECKING) = initial {
                let (name, recursive) = (variable.name.clone(), *initial == Some(RECURSIVE));
                found.push(MutexKind { name, index, count, recursive });
            }
        }
    }
    found
}

/// Whether a run ends where memory is freed: what is not there to be freed fails an assertion of the model.
fn frees(program: &Program, run: &Run, source: &[u8]) -> bool {
    let last = run.steps.last().map(|step| program.locations[step.location].edges[step.edge].span);
    last.is_some_and(|span| source.get(span.start as usize..).is_some_and(|text| text.starts_with(b"free")))
}

/// The name of the object in C to which a variable belongs; nothing if it has none.
fn base(name: &str) -> String {
    name.split(['[', '.', '\'', '#']).next().unwrap_or_default().to_string()
}

/// The shared slots that an edge accesses in a state.
fn accesses(op: &Op, passed: &Move, thread: usize) -> Vec<Access> {
    let moving = &passed.before.threads[thread];
    let locals = moving.top().map_or(&[][..], |top| &top.locals);
    let scope = Scope { shared: &passed.before.shared, locals, this: moving.this, next: None, control: &[] };
    let element = |slot: Slot, length: usize, index: &Expr| {
        let value = index.value(&scope, &mut Choices::default()).ok()?;
        usize::try_from(value).ok().filter(|&value| value < length).map(|value| slot + value)
    };
    let mut found = Vec::new();
    for place in op.places() {
        let slot = match &place.target {
            Target::Shared(slot) => Some(*slot),
            Target::SharedElement(slot, length, index) => element(*slot, *length, index),
            Target::Local(_) | Target::LocalElement(..) | Target::Others(_) => None,
        };
        found.extend(slot.map(|slot| Access { slot, written: true }));
    }
    for expr in op.expressions() {
        expr.visit(&mut |part| {
            let slot = match part {
                Expr::Shared(slot) => Some(*slot),
                Expr::SharedElement(slot, length, index, _) => element(*slot, *length, index),
                _ => None,
            };
            found.extend(slot.map(|slot| Access { slot, written: false }));
        });
    }
    found
}
