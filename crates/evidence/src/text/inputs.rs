//! Inputs that were given to a program, before the first state of a trace.

use super::lines::{BadEvidence, Line, Lines};
use allways_model::program::inputs::Inputs;
use std::io::{self, Write};

const EXPECTED: &str = "`state STATE`, where the trace starts";

pub(super) fn write_inputs(inputs: &Inputs, out: &mut dyn Write) -> io::Result<()> {
    for (choice, values) in &inputs.choices {
        write!(out, "choice {choice}")?;
        values.iter().try_for_each(|value| write!(out, " {value}"))?;
        writeln!(out)?;
    }
    for (slot, value) in &inputs.shared {
        writeln!(out, "shared {slot} {value}")?;
    }
    for ((procedure, slot), value) in &inputs.locals {
        writeln!(out, "local {procedure} {slot} {value}")?;
    }
    Ok(())
}

/// The line of the first state, after its first word.
pub(super) fn skip_inputs<'t>(lines: &mut Lines<'t>) -> Result<Line<'t>, BadEvidence> {
    read(lines).map(|(_, line)| line)
}

fn read<'t>(lines: &mut Lines<'t>) -> Result<(Inputs, Line<'t>), BadEvidence> {
    let mut inputs = Inputs::default();
    loop {
        let mut line = lines.next(EXPECTED)?;
        match line.word("`state STATE`")? {
            "state" => return Ok((inputs, line)),
            "choice" => {
                let choice = line.number("the number of a choice")?;
                let values = inputs.choices.entry(choice).or_default();
                values.push(line.value()?);
                while !line.rest().is_empty() {
                    values.push(line.value()?);
                }
            }
            "shared" => {
                let slot = line.number("a slot")?;
                inputs.shared.insert(slot, line.value()?);
            }
            "local" => {
                let place = (line.number("a procedure")?, line.number("a slot")?);
                inputs.locals.insert(place, line.value()?);
            }
            _ => return Err(line.expected(EXPECTED)),
        }
        line.end()?;
    }
}

/// The inputs that a text gives to a program before it says anything else; none if it is no trace.
pub fn read_inputs(text: &[u8]) -> Inputs {
    let read = || {
        let mut lines = Lines::new(std::str::from_utf8(text).ok()?);
        let mut header = lines.next("").ok()?;
        let is_trace = header.word("").ok()? == "allways" && header.word("").ok()? == "trace";
        is_trace.then(|| read(&mut lines).ok())?
    };
    read().map(|(inputs, _)| inputs).unwrap_or_default()
}
