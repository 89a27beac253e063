//! A run of a program, printed.

use super::Failure;
use allways::{Loaded, Refuted, StopReason, Story};
use allways_evidence::{Rejection, Trace, interpret};
use allways_model::notation::show_state;
use std::io::{self, Write};

/// A run of a program, told.
pub struct Telling {
    /// Who did what.
    pub story: Story,
    /// The state after each step, as everywhere.
    pub states: Vec<String>,
}

impl Telling {
    /// The run behind a trace, if it is one of a program; or why it was not followed. That the program has no such run is a
    /// bug of ours.
    pub fn of(
        loaded: &Loaded,
        trace: &Trace,
        engine: &'static str,
    ) -> Result<Result<Option<Telling>, StopReason>, Failure> {
        let Some(encoded) = loaded.system.program() else { return Ok(Ok(None)) };
        let run = match interpret(encoded, trace) {
            Ok(run) => run,
            Err(Rejection::Stopped(reason)) => return Ok(Err(reason)),
            Err(why) => return Err(Refuted { engine, claim: "unsafe", why: why.to_string() }.into()),
        };
        let story = Story::new(encoded, &run, &loaded.remarks.text.bytes);
        let state =
            |step: &allways_evidence::RunStep| show_state(encoded, &encoded.encode(&step.state, &step.slots));
        Ok(Ok(Some(Telling { states: run.steps.iter().map(state).collect(), story })))
    }
}

/// Writes a run in columns.
pub fn write(out: &mut dyn Write, story: &Story) -> io::Result<()> {
    let table = story.table();
    table.header().iter().try_for_each(|row| writeln!(out, "{row}"))?;
    for step in 0..story.steps.len() {
        table.rows(step).iter().try_for_each(|row| writeln!(out, "{row}"))?;
    }
    writeln!(out, "  {}", story.end)?;
    story.notes.iter().try_for_each(|note| writeln!(out, "  {note}"))
}
