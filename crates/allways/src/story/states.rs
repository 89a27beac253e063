//! Every state of a run: the values of the shared variables, and the call stack of each thread with its local variables.
//!
//! The start is told whole, each step by what differs from the state before. A value is written as `replay` writes it.

use super::{RunStory, StepStory};
use crate::source_trace::{SourceTrace, TraceWriter, is_shown, named, thread_names};
use crate::words;
use allways_c::lower::HEAP;
use allways_evidence::{Run, Trace, counters, interpret};
use allways_model::counters::Counters;
use allways_model::encoding::Encoded;
use allways_model::notation::show_symbols;
use allways_model::program::Variable;
use allways_model::program::semantics::{State, Thread};
use allways_model::pushdown::{self, Pushdown};
use serde::Serialize;
use std::collections::BTreeMap;

/// An array with more elements than this is shown by those that change.
const LONG_ARRAY: usize = 64;

/// The deepest stack that is shown whole; of a deeper one, the frames at both ends.
const DEEP: usize = 24;

/// A state.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct StateRow {
    /// Names and values of the shared variables.
    pub shared: Vec<(String, String)>,
    /// The threads; none where one has not been started.
    pub threads: Vec<Option<ThreadRow>>,
}

/// A thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ThreadRow {
    /// Its call stack, the innermost frame first.
    pub frames: Vec<FrameRow>,
    /// How many frames in the middle are left out.
    pub left_out: usize,
    /// Whether it has ended.
    pub ended: bool,
}

/// A frame of a call stack.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FrameRow {
    /// The procedure, or the symbol.
    pub name: String,
    /// The line of the next step, or of the one to return to; 0 if there is none.
    pub line: u32,
    /// Names and values of the local variables.
    pub locals: Vec<(String, String)>,
}

impl StateRow {
    /// What differs in a later state of the same run.
    fn changes(&self, after: &StateRow) -> (BTreeMap<usize, String>, BTreeMap<usize, Option<ThreadRow>>) {
        let shared = self.shared.iter().zip(&after.shared).enumerate();
        let shared = shared
            .filter(|(_, (before, after))| before != after)
            .map(|(index, (_, after))| (index, after.1.clone()));
        let threads = self.threads.iter().zip(&after.threads).enumerate();
        let threads = threads
            .filter(|(_, (before, after))| before != after)
            .map(|(index, (_, after))| (index, after.clone()));
        (shared.collect(), threads.collect())
    }
}

/// The frames of a stack, without the middle of a deep one.
fn stack(mut frames: Vec<FrameRow>, ended: bool) -> ThreadRow {
    let left_out = frames.len().saturating_sub(DEEP);
    if left_out > 0 {
        frames.drain(DEEP / 2..DEEP / 2 + left_out);
    }
    ThreadRow { frames, left_out, ended }
}

/// The run of a program behind a trace.
pub fn of_program(encoded: &Encoded, trace: &Trace, source: &[u8]) -> Option<RunStory> {
    of_run(encoded, &interpret(encoded, trace).ok()?, source)
}

/// The run of a program.
pub fn of_run(encoded: &Encoded, run: &Run, source: &[u8]) -> Option<RunStory> {
    let told = SourceTrace::new(encoded, run, source);
    let writer = TraceWriter { program: encoded.program(), source, threads: thread_names(encoded) };
    let shown = Shown::new(&writer, run);
    let start = shown.state(&run.initial, &run.slots);
    let mut before = start.clone();
    let mut steps = Vec::new();
    for (step, told) in run.steps.iter().zip(told.steps) {
        let after = shown.state(&step.state, &step.slots);
        let (shared, threads) = before.changes(&after);
        steps.push(StepStory {
            thread: Some(told.thread),
            switch: told.switch,
            line: told.line,
            column: told.column,
            text: told.text,
            changed: told.changed,
            shared,
            threads,
        });
        before = after;
    }
    let (end, line, mut notes) = (told.end, told.line, told.notes);
    if let Some(cycle) = told.cycle {
        notes.push(format!("steps {} to {} are repeated for ever", cycle + 1, steps.len()));
    }
    Some(RunStory { threads: told.threads, start, steps, end, line, notes })
}

/// What is shown of the states of a run.
struct Shown<'a> {
    writer: &'a TraceWriter<'a>,
    /// Variables, and which of their elements.
    shared: Vec<(&'a Variable, usize)>,
}

impl<'a> Shown<'a> {
    fn new(writer: &'a TraceWriter<'a>, run: &Run) -> Shown<'a> {
        let variables = writer.program.shared.iter().filter(|variable| is_shown(variable));
        let elements =
            variables.flat_map(|variable| (0..variable.slots()).map(move |index| (variable, index)));
        let changes =
            |slot: usize| run.steps.iter().any(|step| step.state.shared[slot] != run.initial.shared[slot]);
        let wanted = elements.filter(|(variable, index)| {
            let many = variable.slots() > LONG_ARRAY || variable.name.starts_with(HEAP);
            !many || changes(variable.slot + index)
        });
        Shown { shared: wanted.collect(), writer }
    }

    fn state(&self, state: &State, slots: &[Option<usize>]) -> StateRow {
        let value = |&(variable, index): &(&Variable, usize)| {
            let value = state.shared[variable.slot + index];
            (named(variable, index), self.writer.value(variable, value, slots))
        };
        let threads = slots.iter().map(|thread| Some(self.thread(&state.threads[(*thread)?])));
        StateRow { shared: self.shared.iter().map(value).collect(), threads: threads.collect() }
    }

    fn thread(&self, thread: &Thread) -> ThreadRow {
        let program = self.writer.program;
        let frames = thread.stack.iter().rev().map(|frame| {
            let procedure = program.procedure_of(frame.location);
            let locals =
                procedure.locals.iter().filter(|local| is_shown(local) && local.slots() <= LONG_ARRAY);
            let locals = locals.flat_map(|local| (0..local.slots()).map(move |index| (local, index)));
            let locals = locals.map(|(local, index)| {
                let value = self.writer.plain(local, frame.locals[local.slot + index]);
                (named(local, index), value)
            });
            let line = program.locations[frame.location].span.line;
            FrameRow { name: procedure.name.clone(), line, locals: locals.collect() }
        });
        stack(frames.collect(), thread.ended(program))
    }
}

/// A line of a text, without what surrounds it.
fn line_of(lines: &[&[u8]], line: u32) -> String {
    let text = (line as usize).checked_sub(1).and_then(|index| lines.get(index)).copied().unwrap_or_default();
    words::cut(String::from_utf8_lossy(text.trim_ascii()).trim())
}

fn lines(source: &[u8]) -> Vec<&[u8]> {
    source.split(|&byte| byte == b'\n').collect()
}

/// A run of rules.
pub fn of_rules(system: &dyn Pushdown, trace: &Trace, source: &[u8]) -> RunStory {
    let lines = lines(source);
    let row = |state: &pushdown::State| {
        let threads = state.stacks.iter().enumerate().map(|(thread, symbols)| {
            let frames = symbols.symbols().map(|symbol| FrameRow {
                name: show_symbols(system, thread, [symbol]),
                line: 0,
                locals: Vec::new(),
            });
            Some(stack(frames.collect(), symbols.depth() == 0))
        });
        let shared = vec![("shared state".to_string(), system.shared_name(state.shared))];
        StateRow { shared, threads: threads.collect() }
    };
    let start = row(&trace.initial);
    let (mut before, mut last, mut steps) = (start.clone(), None, Vec::new());
    for step in &trace.steps {
        let after = row(&step.state);
        let (shared, threads) = before.changes(&after);
        steps.push(StepStory {
            thread: Some(step.thread),
            switch: last.is_some_and(|last| last != step.thread),
            line: step.line,
            column: 0,
            text: line_of(&lines, step.line),
            changed: vec![allways_model::notation::show_state(system, &step.state)],
            shared,
            threads,
        });
        (before, last) = (after, Some(step.thread));
    }
    let end = allways_model::notation::show_visible(system, &trace.last().visible());
    let threads = (0..system.threads()).map(|thread| format!("thread {thread}")).collect();
    RunStory {
        threads,
        start,
        steps,
        end: format!("reaches {}", words::cut(&end)),
        line: None,
        notes: Vec::new(),
    }
}

/// A run of a counter system, in which threads have no names.
pub fn of_counters(system: &Counters, run: &counters::Run, source: &[u8]) -> RunStory {
    let lines = lines(source);
    let row =
        |shown: String| StateRow { shared: vec![("configuration".to_string(), shown)], threads: Vec::new() };
    let start = row(system.show(&run.initial));
    let (mut before, mut steps) = (start.clone(), Vec::new());
    for (&rule, after) in run.rules.iter().zip(run.configurations(system)) {
        let line = system.rules[rule as usize].line;
        let shown = system.show(&after);
        let after = row(shown.clone());
        let (shared, threads) = before.changes(&after);
        let text = line_of(&lines, line);
        steps.push(StepStory {
            thread: None,
            switch: false,
            line,
            column: 0,
            text,
            changed: vec![shown],
            shared,
            threads,
        });
        before = after;
    }
    let end = before.shared.first().map(|(_, shown)| words::cut(shown)).unwrap_or_default();
    let end = format!("covers a target, in {end}");
    RunStory { threads: Vec::new(), start, steps, end, line: None, notes: Vec::new() }
}
