//! A counterexample in terms of the source: who did what, line by line, and what changed.
//!
//! A [`SourceTrace`] is the run as plain values; [`columns`](crate::columns) sets it for people. What is
//! said of each step comes from the source (its text and line) and from comparing the states before and after.

mod inside;
mod matters;
mod values;

use crate::held::{Ended, Waiting, cycle};
use allways_c::lower::owners::{WAITS_FOR, WANTED};
use allways_c::lower::{ADDRESSES, HEAP, INDETERMINATE};
use allways_evidence::{End, Halt, Run, RunStep};
use allways_model::encoding::Encoded;
use allways_model::program::expression::OPEN;
use allways_model::program::semantics::{State, Thread};
use allways_model::program::{
    Claims, Edge, Expr, LocationId, Op, Program, Slot, Span, TemplateId, Type, Value, Variable, Violation,
    WATCHED, Wrong, slot_name,
};
use inside::{Goal, Inner};
use values::{About, Misfit};

/// The longest piece of source that is shown in full.
const LONG: usize = 44;

/// A run of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceTrace {
    /// The names of the threads.
    pub threads: Vec<String>,
    /// The values at the start, of the shared variables and those local ones that have no value from their declaration.
    pub start: Vec<String>,
    /// Those of them that matter: of variables that some step reads or changes, or that the violated property mentions.
    pub matters: Vec<String>,
    /// The steps.
    pub steps: Vec<SourceStep>,
    /// Where the steps begin that are repeated for ever, if some are.
    pub cycle: Option<usize>,
    /// How it ends: what went wrong.
    pub end: String,
    /// The line of what went wrong, if it has one.
    pub line: Option<u32>,
    /// What else there is to say: of a deadlock, where each thread is stuck.
    pub notes: Vec<String>,
    /// One word for what went wrong: that of [`Wrong::word`], or `deadlock`, `stuck`, `eventually`.
    pub kind: &'static str,
}

/// A step of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceStep {
    /// Which thread moves.
    pub thread: usize,
    /// Whether another thread moved before.
    pub switch: bool,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
    /// The statement or condition, cut where it is long.
    pub text: String,
    /// What changed, such as `turn = 1` or `p[0].l = 2`.
    pub changed: Vec<String>,
    /// Of an atomic section, the steps inside.
    pub inside: Vec<SourceStep>,
}

impl SourceStep {
    /// The steps inside that have effects, if there are several.
    pub fn effects(&self) -> Vec<&SourceStep> {
        let last = self.inside.len().checked_sub(1).filter(|_| self.changed.is_empty());
        let steps = self.inside.iter().enumerate();
        let effects = steps.filter(|(index, step)| !step.changed.is_empty() || Some(*index) == last);
        let effects: Vec<&SourceStep> = effects.map(|(_, step)| step).collect();
        if effects.len() > 1 { effects } else { Vec::new() }
    }
}

impl SourceTrace {
    /// The run of a program. `source` is the text of the program.
    pub fn new(encoded: &Encoded, run: &Run, source: &[u8]) -> SourceTrace {
        let program = encoded.program();
        let writer = TraceWriter { program, source, threads: thread_names(encoded) };
        let mut steps = Vec::new();
        let mut before = (&run.initial, &run.slots);
        let mut last = None;
        for (index, step) in run.steps.iter().enumerate() {
            let wrong = match run.end {
                End::Wrong(violation) if index + 1 == run.steps.len() => Some(violation),
                _ => None,
            };
            steps.push(writer.step(before, step, last.is_some_and(|last| last != step.thread), wrong));
            before = (&step.state, &step.slots);
            last = Some(step.thread);
        }
        let (end, line, kind) = writer.end(run);
        let notes = match run.end {
            End::Deadlock | End::Halted(Halt::Stuck { .. }) => writer.stuck(run, before.0, before.1),
            End::Halted(Halt::Starved { cycle, .. }) if cycle == steps.len() => {
                let mut notes = vec!["no thread can move any more".to_string()];
                notes.extend(writer.stuck(run, before.0, before.1));
                notes
            }
            End::Wrong(_) | End::Halted(Halt::Starved { .. }) => Vec::new(),
        };
        let start = writer.start(&run.initial, &run.slots, |_| true);
        let slots = writer.matters(run);
        let matters = writer.start(&run.initial, &run.slots, |slot| slots.contains(&slot));
        let cycle = match run.end {
            End::Halted(Halt::Starved { cycle, .. }) if cycle < steps.len() => Some(cycle),
            _ => None,
        };
        SourceTrace { start, matters, threads: writer.threads, steps, cycle, end, line, notes, kind }
    }

    /// How often another thread takes over.
    pub fn switches(&self) -> usize {
        self.steps.iter().filter(|step| step.switch).count()
    }
}

/// The names of threads: `p` if there is one of the kind, else `p[0]`, `p[1]`; those started later `p#1`, `p#2`.
pub fn thread_names(encoded: &Encoded) -> Vec<String> {
    let templates = &encoded.program().templates;
    let roles = encoded.roles();
    let mut started = vec![0; templates.len()];
    let name = |role: &allways_model::encoding::Role| {
        let name = &templates[role.template].name;
        let running = roles.iter().filter(|other| other.template == role.template && !other.pooled).count();
        if role.pooled {
            started[role.template.index()] += 1;
            format!("{name}#{}", started[role.template.index()])
        } else if running == 1 {
            name.clone()
        } else {
            format!("{name}[{}]", role.this)
        }
    };
    roles.iter().map(name).collect()
}

/// Puts what a run does into words.
pub(crate) struct TraceWriter<'a> {
    pub(crate) program: &'a Program,
    pub(crate) source: &'a [u8],
    pub(crate) threads: Vec<String>,
}

impl TraceWriter<'_> {
    fn step(
        &self,
        (before, slots): (&State, &Vec<Option<usize>>),
        step: &RunStep,
        switch: bool,
        wrong: Option<Violation>,
    ) -> SourceStep {
        let edge = &self.program.locations[step.location].edges[step.edge];
        let mut text = self.text(edge.span);
        if let Op::Guard(_, expected) = edge.op
            && self.conditional(step)
        {
            text += if expected { " (true)" } else { " (false)" };
        }
        let mut changed = Vec::new();
        self.shared_changes(before, step, &mut changed);
        for (slot, thread) in step.slots.iter().enumerate() {
            let Some(after) = thread.map(|thread| &step.state.threads[thread]) else { continue };
            let before = slots[slot].map(|thread| &before.threads[thread]);
            self.local_changes(slot, before, after, &mut changed);
            if slot != step.thread && before.is_some_and(|before| before.stack.len() == after.stack.len()) {
                let moved = |thread: &Thread| thread.top().map(|top| top.location);
                if before.and_then(moved) != moved(after) {
                    changed.push(format!("wakes {}", self.threads[slot]));
                }
            }
        }
        changed.extend(step.started.map(|slot| format!("starts {}", self.threads[slot])));
        let inside = self.inside((before, slots), step, wrong).into_iter();
        let inside = inside.map(|inner| {
            let edge = inner.edge;
            let within = RunStep {
                location: inner.location,
                edge,
                state: inner.after,
                started: None,
                slots: step.slots.clone(),
                thread: step.thread,
            };
            self.step((&inner.before, slots), &within, false, None)
        });
        SourceStep {
            thread: step.thread,
            switch,
            line: edge.span.line,
            column: edge.span.column,
            text,
            changed,
            inside: inside.collect(),
        }
    }

    /// The steps inside of an atomic section, which may go wrong.
    fn inside(
        &self,
        (before, slots): (&State, &[Option<usize>]),
        step: &RunStep,
        wrong: Option<Violation>,
    ) -> Vec<Inner> {
        let edge = &self.program.locations[step.location].edges[step.edge];
        let Some(thread) = slots[step.thread].filter(|_| edge.op == Op::AtomicBegin) else {
            return Vec::new();
        };
        let goal = wrong.filter(|_| step.state == *before).map_or(Goal::State(&step.state), Goal::Wrong);
        inside::inside(self.program, before, thread, edge, goal).unwrap_or_default()
    }

    /// Whether a condition can go both ways here: then it is said which.
    fn conditional(&self, step: &RunStep) -> bool {
        let edges = &self.program.locations[step.location].edges;
        let span = edges[step.edge].span;
        edges.iter().filter(|other| other.span == span).count() > 1
    }

    fn shared_changes(&self, before: &State, step: &RunStep, changed: &mut Vec<String>) {
        for variable in self.program.shared.iter().filter(|variable| is_shown(variable)) {
            if let Some(after) = self.holder(variable, &step.state, &step.slots) {
                if self.holder(variable, before, &step.slots).as_ref() != Some(&after) {
                    changed.push(format!("{} = {after}", variable.name));
                }
                continue;
            }
            for index in 0..variable.slots() {
                let slot = variable.slot + index;
                let after = step.state.shared[slot];
                // That a thread has stopped before a mutex is no change of it.
                let before = before.shared[slot];
                if after != before && after != before.wrapping_add(WANTED) {
                    changed.push(format!(
                        "{} = {}",
                        named(variable, index),
                        self.value(variable, after, &step.slots)
                    ));
                }
            }
        }
    }

    fn local_changes(&self, slot: usize, before: Option<&Thread>, after: &Thread, changed: &mut Vec<String>) {
        let depth = before.map_or(0, |before| before.stack.len());
        let Some(top) = after.top() else { return };
        let procedure = self.program.procedure_of(top.location);
        // A procedure was entered: its parameters are new.
        let entered = after.stack.len() > depth;
        let old = before.and_then(|before| before.stack.get(after.stack.len() - 1));
        let shown = procedure.locals.iter().enumerate().filter(|(_, variable)| is_shown(variable));
        for (number, variable) in shown {
            for index in 0..variable.slots() {
                let value = top.locals[variable.slot + index];
                let differs = match old {
                    Some(old) if !entered => old.locals.get(variable.slot + index) != Some(&value),
                    _ => number < procedure.parameters,
                };
                if differs {
                    let name = named(variable, index);
                    changed.push(format!("{}.{name} = {}", self.threads[slot], self.plain(variable, value)));
                }
            }
        }
    }

    /// A value; one of a pointer in C as the address that it is.
    pub(crate) fn plain(&self, variable: &Variable, value: Value) -> String {
        if let Some(name) = variable.names.as_ref().and_then(|names| names.get(usize::try_from(value).ok()?))
        {
            return name.clone();
        }
        // Not chosen yet, or never set.
        if value == OPEN && !matches!(variable.ty, Type::Lock) {
            return "any".to_string();
        }
        let ty = variable.ty;
        let slot = value.checked_sub(ADDRESSES).and_then(|slot| usize::try_from(slot).ok());
        match ty {
            Type::Bool => (value != 0).to_string(),
            Type::Range(0, Value::MAX) if value == INDETERMINATE => "any".to_string(),
            Type::Range(0, Value::MAX) => match slot.filter(|&slot| slot < self.program.shared_slots()) {
                Some(slot) => format!("&{}", slot_name(&self.program.shared, slot).trim_start_matches('#')),
                None => value.to_string(),
            },
            _ => value.to_string(),
        }
    }

    /// A value of a shared variable; of a lock, who holds it.
    pub(crate) fn value(&self, variable: &Variable, value: Value, slots: &[Option<usize>]) -> String {
        match (variable.ty, value) {
            (Type::Lock, 0) => "free".to_string(),
            (Type::Lock, holder) => {
                let slot = slots.iter().position(|thread| *thread == Some(holder as usize - 1));
                slot.map_or("held".to_string(), |slot| format!("held by {}", self.threads[slot]))
            }
            _ => self.plain(variable, value),
        }
    }

    /// Which thread a variable holds, if it is one that holds threads.
    fn holder(&self, variable: &Variable, state: &State, slots: &[Option<usize>]) -> Option<String> {
        let bit = Variable::bit_of(&variable.name);
        let bits = self.program.templates.iter().enumerate().find_map(|(number, template)| {
            let locals = &self.program.procedures[template.body].locals;
            let bit = locals.iter().find(|local| local.mixed && local.name == bit)?;
            Some((TemplateId(number), bit.slot))
        });
        let (template, bit) = bits?;
        if state.shared[variable.slot] == 0 {
            return Some("none".to_string());
        }
        let holds = |slot: &Option<usize>| {
            let thread =
                slot.map(|thread| &state.threads[thread]).filter(|thread| thread.template == template);
            thread.is_some_and(|thread| thread.stack.first().is_some_and(|frame| frame.locals[bit] != 0))
        };
        slots.iter().position(holds).map(|slot| self.threads[slot].clone())
    }

    /// The values at the start of what is said of such shared slots.
    fn start(&self, initial: &State, slots: &[Option<usize>], wanted: impl Fn(Slot) -> bool) -> Vec<String> {
        let mut start = Vec::new();
        for variable in &self.program.shared {
            let shown = variable.ty != Type::Lock && is_shown(variable) && !variable.name.starts_with(HEAP);
            for index in (0..variable.slots()).filter(|index| shown && wanted(variable.slot + index)) {
                let value = initial.shared[variable.slot + index];
                let holder = self.holder(variable, initial, slots);
                let value = holder.unwrap_or_else(|| self.plain(variable, value));
                start.push(format!("{} = {value}", named(variable, index)));
            }
        }
        for (slot, thread) in slots.iter().enumerate() {
            let Some(top) = thread.and_then(|thread| initial.threads[thread].top()) else { continue };
            for variable in &self.program.procedure_of(top.location).locals {
                for index in (0..variable.slots()).filter(|&index| variable.initial[index].is_none()) {
                    let value = self.plain(variable, top.locals[variable.slot + index]);
                    start.push(format!("{}.{} = {value}", self.threads[slot], named(variable, index)));
                }
            }
        }
        start
    }

    /// Where the threads are that have not ended and cannot move, which locks they wait for, and the circle in which they do so.
    fn stuck(&self, run: &Run, state: &State, slots: &[Option<usize>]) -> Vec<String> {
        let waiting = Ended { program: self.program, source: self.source, run }.waiting();
        let lock = |slot| slot_name(&self.program.shared, slot).trim_matches('#').to_string();
        let mut stuck = Vec::new();
        for (slot, thread) in slots.iter().enumerate() {
            let Some(thread) = thread.map(|thread| &state.threads[thread]) else { continue };
            if let Some(top) = thread.top().filter(|_| !thread.ended(self.program)) {
                let span = self.program.locations[top.location].span;
                let text = self.text(span);
                let held = waiting.iter().find(|one| one.thread == slot).map(|one| {
                    let (holder, line) = (&self.threads[one.holder], one.taken.line);
                    format!("; {holder} has `{}` since line {line}", lock(one.lock))
                });
                // Where one is stuck and others are not, that is said already; who has what it waits for is not.
                match run.end {
                    End::Halted(Halt::Stuck { thread }) if thread != slot || held.is_none() => continue,
                    _ => {}
                }
                let held = held.unwrap_or_default();
                stuck.push(format!("{} is stuck at line {}: {text}{held}", self.threads[slot], span.line));
            }
        }
        if let Some(cycle) = cycle(&waiting) {
            let first = &self.threads[cycle[0].thread];
            let waits =
                |one: &Waiting| format!("waits for `{}` of {}", lock(one.lock), self.threads[one.holder]);
            let waits: Vec<String> = cycle.iter().map(waits).collect();
            stuck.push(format!("cycle of locks: {first} {}", waits.join(", which ")));
        }
        stuck
    }

    fn end(&self, run: &Run) -> (String, Option<u32>, &'static str) {
        let violation = match run.end {
            End::Deadlock => {
                return (
                    "deadlock: no thread can move, and not all have ended".to_string(),
                    None,
                    "deadlock",
                );
            }
            End::Halted(halt) => return self.halted(run, halt),
            End::Wrong(violation) => violation,
        };
        let line = violation.line;
        let text = self.at(line, violation.column);
        // What goes wrong in a property is nobody's doing.
        let property = self.program.never.iter().any(|never| never.span.line == line);
        let last = run.steps.last().filter(|_| !property);
        let who = last.map_or("the property", |step| self.threads[step.thread].as_str());
        if let Some(race) = self.race(run, who) {
            return (format!("line {line}: {race}"), Some(line), "race");
        }
        if let Some((what, kind)) = self.asked(run, violation, who) {
            return (format!("line {line}: {what}"), Some(line), kind);
        }
        let label = last.and_then(|step| self.label(step.location));
        let what = match violation.kind {
            Wrong::Assertion | Wrong::Error if label.is_some() => {
                format!("{who} reaches {}: {text}", label.unwrap_or_default())
            }
            Wrong::Assertion => format!("{who} breaks {text}"),
            Wrong::Error => format!("{who} reaches {text}"),
            Wrong::Range => match self.misfit(run, violation) {
                Some(Misfit::Stored(value, (low, high))) => {
                    format!("{who} stores {value}, out of range {low}..{high}: {text}")
                }
                _ => format!("{who} stores a value out of range: {text}"),
            },
            Wrong::Index if self.has_memory() => {
                format!("{who} accesses memory that is not there: {text}")
            }
            Wrong::Index => match self.misfit(run, violation) {
                Some(Misfit::Index(value, length)) => {
                    format!("{who} uses index {value}, out of bounds 0..{}: {text}", length - 1)
                }
                _ => format!("{who} uses an index out of bounds: {text}"),
            },
            Wrong::Division => format!("{who} divides by zero: {text}"),
            Wrong::Release => format!("{who} releases a lock that it does not hold: {text}"),
            Wrong::NoResult => format!("{who} reaches the end of a procedure without a result"),
            Wrong::Never => format!("violated: {text}"),
        };
        (format!("line {line}: {what}"), Some(line), violation.kind.word())
    }

    /// The value that the last step would have stored, or used as an index.
    fn misfit(&self, run: &Run, violation: Violation) -> Option<Misfit> {
        let last = run.steps.last()?;
        let thread = last.slots[last.thread]?;
        let slots = &last.slots[..];
        let inner = self.inside((&last.state, slots), last, Some(violation)).pop();
        let (location, edge) =
            inner.as_ref().map_or((last.location, last.edge), |inner| (inner.location, inner.edge));
        let state = inner.as_ref().map_or(&last.state, |inner| &inner.before);
        let edge = &self.program.locations[location].edges[edge];
        About { program: self.program, state, thread, edge }.misfit(violation)
    }

    /// How a run without progress ends.
    fn halted(&self, run: &Run, halt: Halt) -> (String, Option<u32>, &'static str) {
        match halt {
            Halt::Stuck { thread } => {
                let state = run.steps.last().map_or(&run.initial, |step| &step.state);
                let span = state.threads[thread].top().map(|top| self.program.locations[top.location].span);
                let span = span.unwrap_or_default();
                let (who, text, line) = (&self.threads[thread], self.text(span), span.line);
                (format!("line {line}: {who} is stuck for ever: {text}"), Some(line), "stuck")
            }
            Halt::Starved { property, thread, .. } => {
                let eventually = &self.program.progress[property];
                let (who, line) = (&self.threads[thread], eventually.span.line);
                let again = if eventually.again { " again" } else { "" };
                let what = format!("{who} may never be at {}{again}", eventually.label);
                (format!("line {line}: {what}: {}", self.text(eventually.span)), Some(line), "eventually")
            }
        }
    }

    /// Whether the program is one with pointers: then what is out of bounds may be null, freed, or gone.
    fn has_memory(&self) -> bool {
        self.program.shared.iter().any(|variable| variable.name == "#gap")
    }

    /// The label of a location where nothing but the label is wrong.
    fn label(&self, location: LocationId) -> Option<&str> {
        let text = self.text(self.program.locations[location].span);
        let label = self.program.labels.iter().find(|label| label.location == location);
        let wrong = text.starts_with("error") || text.starts_with("assert");
        label.filter(|_| !wrong).map(|label| label.name.as_str())
    }

    /// Of a run that ends in a data race, which one it is.
    fn race(&self, run: &Run, who: &str) -> Option<String> {
        let watched = self.program.shared.iter().find(|variable| variable.name == WATCHED)?.slot;
        let stopped = run.steps.iter().find(|step| step.state.shared[watched] != 0)?;
        let code = stopped.state.shared[watched];
        let name = slot_name(&self.program.shared, usize::try_from(code / 2).ok()?);
        let name = name.trim_matches('#');
        let what = if code % 2 == 1 { "write" } else { "read" };
        let span = self.program.locations[stopped.location].edges[stopped.edge].span;
        let (other, text) = (&self.threads[stopped.thread], self.text(span));
        Some(format!(
            "data race: {who} accesses `{name}`, while {other} is about to {what} it (line {}: {text})",
            span.line
        ))
    }

    /// Of a run that ends in something that C programs are only asked about on request: what it is.
    fn asked(&self, run: &Run, violation: Violation, who: &str) -> Option<(String, &'static str)> {
        let assertion = violation.kind == Wrong::Assertion;
        let text = self.at(violation.line, violation.column);
        match self.program.claims {
            Claims::NoHeldMutex if assertion => Some((format!("{who} ends, and has a mutex"), "held-mutex")),
            Claims::AllFreed if assertion => {
                Some(("memory is not freed when the process ends".to_string(), "leak"))
            }
            Claims::NoOverflow if assertion => Some((format!("{who} overflows: {text}"), "overflow")),
            _ => self.circle(run, who),
        }
    }

    /// Of a run that ends where threads wait for each other in a circle: who waits for whom.
    fn circle(&self, run: &Run, who: &str) -> Option<(String, &'static str)> {
        let waits_for = self.program.shared.iter().find(|variable| variable.name == WAITS_FOR)?.slot;
        let ended = Ended { program: self.program, source: self.source, run };
        let last = run.steps.last()?;
        let span = self.program.locations[last.location].edges[last.edge].span;
        if !ended.takes(span) {
            return None;
        }
        let mut waits: Vec<(&str, Span)> = Vec::new();
        let mut before = &run.initial;
        for step in &run.steps {
            if step.state.shared[waits_for] != before.shared[waits_for] {
                let span = self.program.locations[step.location].edges[step.edge].span;
                waits.push((&self.threads[step.thread], span));
            }
            before = &step.state;
        }
        let own = waits.is_empty() || waits.iter().all(|(name, _)| *name == who);
        waits.push((who, span));
        let first = waits[0].0;
        let told: Vec<String> = waits
            .iter()
            .enumerate()
            .map(|(index, (name, span))| {
                let next = waits.get(index + 1).map_or(first, |(next, _)| next);
                format!("{name} waits at line {} for what {next} has ({})", span.line, self.text(*span))
            })
            .collect();
        let told = if own {
            format!("{who} waits for what it has itself: {}", self.text(span))
        } else {
            told.join("; ")
        };
        Some((format!("partial deadlock: {told}"), "partial-deadlock"))
    }

    /// The text of the place that starts there.
    fn at(&self, line: u32, column: u32) -> String {
        let edges = self.program.locations.iter().flat_map(|location| &location.edges);
        let properties = self.program.never.iter().flat_map(|never| {
            let mut spans = vec![never.span];
            inside(&never.expr, &mut spans);
            spans
        });
        let spans = edges.flat_map(spans_of).chain(properties);
        let here = spans.filter(|span| (span.line, span.column) == (line, column));
        here.max_by_key(|span| span.end).map_or_else(String::new, |span| self.text(span))
    }

    /// A piece of the source on one line.
    fn text(&self, span: Span) -> String {
        let bytes = self.source.get(span.start as usize..span.end as usize).unwrap_or_default();
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(8 * LONG)]);
        let words: Vec<String> = start
            .split_whitespace()
            .map(|word| word.chars().filter(|character| !character.is_control()).collect())
            .collect();
        let text = words.join(" ");
        match text.char_indices().nth(LONG) {
            Some((at, _)) => format!("{}…", &text[..at]),
            None => text,
        }
    }
}

/// The places of an edge that a violation may name.
fn spans_of(edge: &Edge) -> Vec<Span> {
    let mut spans = vec![edge.span];
    match &edge.op {
        Op::Guard(expr, _) | Op::Assert(expr) => inside(expr, &mut spans),
        Op::Assign(_, exprs, constraint) => {
            exprs.iter().chain(constraint).for_each(|expr| inside(expr, &mut spans));
        }
        Op::Call(_, exprs, _) | Op::Return(exprs) | Op::Spawn(_, exprs) => {
            exprs.iter().for_each(|expr| inside(expr, &mut spans));
        }
        _ => {}
    }
    match &edge.op {
        Op::Assign(places, ..) | Op::Call(_, _, places) => {
            spans.extend(places.iter().map(|place| place.span))
        }
        Op::Acquire(lock) | Op::Release(lock) => spans.push(lock.span),
        _ => {}
    }
    spans
}

/// The places inside an expression that a violation may name.
fn inside(expr: &Expr, spans: &mut Vec<Span>) {
    expr.visit(&mut |part| match part {
        Expr::SharedElement(.., span) | Expr::LocalElement(.., span) | Expr::Binary(.., span) => {
            spans.push(*span);
        }
        _ => {}
    });
}

pub(crate) fn named(variable: &Variable, index: usize) -> String {
    variable.element_name(index).trim_start_matches('#').to_string()
}

/// Whether a variable is the program's own: of those with a `#`, what is in memory from the heap.
pub(crate) fn is_shown(variable: &Variable) -> bool {
    !variable.name.starts_with('#') || variable.name.starts_with(HEAP) && !variable.name[1..].contains('#')
}
