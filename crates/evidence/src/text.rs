//! Evidence as text: a format that people can read and other programs can write.
//!
//! The first line names the kind and the version of the format. Words are separated by spaces; blank lines and lines that
//! start with `#` are skipped. States are written as everywhere (`0|1.4.4,2`), threads count from 0. The last line says
//! how many steps or states there were, so that a file that was cut short is noticed.
//!
//! A trace: where it starts, then for each step the thread, the line of the rule, and the state afterwards.
//!
//! ```text
//! allways trace 1
//! state 0|1,4
//! step 0 3 1|2,4
//! end 1
//! ```
//!
//! An invariant: the size `z` of the window; for each thread and symbol what can lie directly under it, `-` for the end of
//! the stack; and the abstract states, in which `+` after a window says that more lies below it. Here `z` is 2:
//!
//! ```text
//! allways invariant 1
//! window 2
//! below 1 4: 6 -
//! below 1 6: 4
//! state 0|1,4
//! state 0|1,4.6+
//! end 2
//! ```
//!
//! `window` comes before the states; `below` may come anywhere between, and lines for the same symbol add up. States may
//! be repeated. Threads that are interchangeable are declared by a line `kinds`, before all `below` and states, with a
//! number for each thread; threads with equal numbers are of one kind. Then one state stands for all renamings, and `below`
//! names the first thread of a kind, for all of them. Here threads 0 and 1 are of one kind:
//!
//! ```text
//! kinds 0 0 1
//! below 0 4: -
//! state 0|1,4,7
//! ```
//!
//! Products of sets of thread states ([`products`](crate::products)): the threads that stand for any number of them, if
//! any; kinds as above; for each kind, named by its first thread, contexts with their tails; then product by product the
//! set of its mover, if it has one, those of the rest, and the product after a step. Here two threads of one kind take
//! turns, and whoever moved last is the mover:
//!
//! ```text
//! allways products 1
//! kinds 0 0
//! product 1
//! mover 0: 0|1 1|2
//! rest 0: 0|1 1|1
//! next 1
//! end 1
//! ```
//!
//! A proof for a counter system ([`counted`](crate::counted)) starts with `allways counted 1`. Then come the lines of the
//! products that bound its thread states, and those of a proof as in [`counters::text`](crate::counters::text), whose shared
//! states and places are named as above, with the first thread of a kind and a colon before each place.
//!
//! An invariant that is within products has the word `within` and the lines of the products, their `end` included, between
//! its first line and all others.
//!
//! A stack of more than one symbol has a context in place of what lies below its top: `0|3.1` is the symbol 3 above all that
//! context 1 stands for, and `context 0 1: 4 5.1` says that this is 4 alone, or 5 above the same again.
//!
//! Threads of one kind must have the same names for symbols. Reading gives well-formed evidence or a message with its place; whether it proves anything is for the
//! checkers to say. Reading takes memory linear in the text, whatever the text says.

pub(crate) mod lines;
mod products;
mod read;

pub use lines::BadEvidence;
pub use read::read_evidence;

use crate::counted::counters_of;
use crate::counters::text::write_proof;
use crate::{Invariant, Proof, Trace, Window, shape};
use allways_model::notation::{show_state, show_symbols};
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, Shared};
use allways_model::symmetry::Kinds;
use hashbrown::HashMap;
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};

/// The version of the format, after the kind on the first line.
pub const VERSION: u32 = 1;

/// What makes a verdict believable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// A run that goes wrong; [`replay`](crate::replay()) checks it.
    Trace(Trace),
    /// A set that contains every reachable state and no bad one; [`Proof::check`] checks it.
    Proof(Proof),
}

/// Writes a window: its symbols with dots between them, `-` for none, and `+` if more lies below.
pub fn show_window(system: &dyn Pushdown, thread: usize, window: &Window) -> String {
    let mut text = show_symbols(system, thread, window.symbols.iter().copied());
    if window.more {
        text.push('+');
    }
    text
}

/// Writes an abstract state: a shared state, and a window for each thread.
pub fn show_abstract(system: &dyn Pushdown, shared: Shared, windows: &[Window]) -> String {
    let windows = windows.iter().enumerate().map(|(thread, window)| show_window(system, thread, window));
    format!("{}|{}", system.shared_name(shared), windows.collect::<Vec<_>>().join(","))
}

/// Writes evidence, one line after another; [`read_evidence`] reads it back. Evidence that does not fit the system is an
/// error of the kind [`io::ErrorKind::InvalidInput`]. Threads of one kind must have the same names for symbols.
pub fn write_evidence(system: &dyn Pushdown, evidence: &Evidence, out: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    match evidence {
        Evidence::Trace(trace) => write_trace(system, trace, &mut out)?,
        Evidence::Proof(Proof::Invariant(invariant)) => write_invariant(system, invariant, &mut out)?,
        Evidence::Proof(Proof::Products(products)) => {
            products::write_products(system, products, &mut out)?;
        }
        Evidence::Proof(Proof::Counted(counted)) => {
            writeln!(out, "allways counted {VERSION}")?;
            products::write_body(system, &counted.products, &mut out)?;
            let counting = counters_of(system, &Property::default(), &counted.products).map_err(misshapen)?;
            write_proof(&counting.counters, &counted.proof, &mut out)?;
        }
    }
    out.flush()
}

fn misshapen(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

fn write_trace(system: &dyn Pushdown, trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
    shape::check_trace(system.threads(), trace).map_err(misshapen)?;
    writeln!(out, "allways trace {VERSION}")?;
    writeln!(out, "state {}", show_state(system, &trace.initial))?;
    for step in &trace.steps {
        writeln!(out, "step {} {} {}", step.thread, step.line, show_state(system, &step.state))?;
    }
    writeln!(out, "end {}", trace.steps.len())
}

fn write_invariant(system: &dyn Pushdown, invariant: &Invariant, out: &mut dyn Write) -> io::Result<()> {
    shape::check_invariant(system.threads(), invariant).map_err(misshapen)?;
    writeln!(out, "allways invariant {VERSION}")?;
    if let Some(products) = &invariant.within {
        writeln!(out, "within")?;
        products::write_body(system, products, out)?;
    }
    writeln!(out, "window {}", invariant.window)?;
    let kinds = &invariant.kinds;
    write_kinds(kinds, out)?;
    for (kind, below) in invariant.below.iter().enumerate() {
        let thread = kinds.members(kind)[0];
        for (&above, unders) in below {
            write!(out, "below {thread} {}:", system.symbol_name(thread, above))?;
            // `EMPTY` is the least symbol; a reader expects the end of the stack last.
            for &under in unders.iter().rev() {
                write!(out, " {}", show_symbols(system, thread, [under]))?;
            }
            writeln!(out)?;
        }
    }
    write_states(system, invariant, out)?;
    writeln!(out, "end {}", invariant.states().len())
}

fn write_kinds(kinds: &Kinds, out: &mut dyn Write) -> io::Result<()> {
    if !kinds.trivial() {
        write!(out, "kinds")?;
        (0..kinds.threads()).try_for_each(|thread| write!(out, " {}", kinds.kind(thread)))?;
        writeln!(out)?;
    }
    Ok(())
}

/// There may be many states, but few windows: each window's text is made once.
fn write_states(system: &dyn Pushdown, invariant: &Invariant, out: &mut dyn Write) -> io::Result<()> {
    const REMEMBERED: usize = 1 << 16;
    let kinds = &invariant.kinds;
    let texts = invariant.windows.iter().enumerate().map(|(kind, windows)| {
        let leader = kinds.members(kind)[0];
        windows.iter().map(|window| show_window(system, leader, window)).collect()
    });
    let texts: Vec<Vec<String>> = texts.collect();
    let mut names: HashMap<Shared, String> = HashMap::new();
    let mut line = String::new();
    for (shared, windows) in invariant.states() {
        if names.len() > REMEMBERED {
            names.clear();
        }
        let name = names.entry(shared).or_insert_with(|| system.shared_name(shared));
        line.clear();
        let _ = write!(line, "state {name}|");
        for (thread, &window) in windows.iter().enumerate() {
            line.push_str(if thread == 0 { "" } else { "," });
            line.push_str(&texts[kinds.kind(thread)][window as usize]);
        }
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}
