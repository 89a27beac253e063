//! Traces and invariants as text.

use super::misshapen;
use super::products::write_products;
use crate::counted::{Counted, counters_of};
use crate::counters::text::write_basis;
use crate::{Invariant, Trace, Window, shape};
use allways_model::notation::{show_state, show_symbols};
use allways_model::property::Property;
use allways_model::pushdown::{EMPTY, Pushdown, Shared, Symbol};
use allways_model::symmetry::Kinds;
use hashbrown::HashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

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

/// Writes what follows the first line of a certificate by counting.
pub(super) fn write_counted(system: &dyn Pushdown, counted: &Counted, out: &mut dyn Write) -> io::Result<()> {
    let counting = counters_of(system, &Property::default(), &counted.products, &|| None)
        .map_err(|what| misshapen(what.to_string()))?;
    write_products(system, &counted.products, out)?;
    write_basis(&counting.counters, &counted.basis, out)
}

/// Writes what follows the first line of a trace.
pub(super) fn write_trace(system: &dyn Pushdown, trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
    shape::check_trace(system.threads(), trace).map_err(misshapen)?;
    writeln!(out, "state {}", show_state(system, &trace.initial))?;
    for step in &trace.steps {
        writeln!(out, "step {} {} {}", step.thread, step.line, show_state(system, &step.state))?;
    }
    writeln!(out, "end {}", trace.steps.len())
}

/// Writes what follows the first line of an invariant.
pub(super) fn write_invariant(
    system: &dyn Pushdown,
    invariant: &Invariant,
    out: &mut dyn Write,
) -> io::Result<()> {
    shape::check_invariant(system.threads(), invariant).map_err(misshapen)?;
    if let Some(products) = &invariant.within {
        writeln!(out, "within")?;
        write_products(system, products, out)?;
    }
    writeln!(out, "window {}", invariant.window)?;
    if invariant.renumbered {
        writeln!(out, "renumbered")?;
    }
    let kinds = &invariant.kinds;
    write_kinds(kinds, out)?;
    for (kind, below) in invariant.below.iter().enumerate() {
        let thread = kinds.members(kind)[0];
        let name = |symbol: &Symbol| show_symbols(system, thread, [*symbol]);
        let lines: BTreeMap<String, &BTreeSet<Symbol>> =
            below.iter().map(|(above, unders)| (name(above), unders)).collect();
        for (above, unders) in lines {
            write!(out, "below {thread} {above}:")?;
            // A reader expects the end of the stack last.
            let mut unders: Vec<(bool, String)> =
                unders.iter().map(|under| (*under == EMPTY, name(under))).collect();
            unders.sort_unstable();
            unders.iter().try_for_each(|(_, under)| write!(out, " {under}"))?;
            writeln!(out)?;
        }
    }
    write_states(system, invariant, out)
}

pub(super) fn write_kinds(kinds: &Kinds, out: &mut dyn Write) -> io::Result<()> {
    if !kinds.trivial() {
        write!(out, "kinds")?;
        (0..kinds.threads()).try_for_each(|thread| write!(out, " {}", kinds.kind(thread)))?;
        writeln!(out)?;
    }
    Ok(())
}

/// Texts in order, and the place of each.
fn ranked(texts: Vec<String>) -> (Vec<String>, Vec<u32>) {
    let mut order: Vec<u32> = (0..texts.len() as u32).collect();
    order.sort_unstable_by(|&one, &other| texts[one as usize].cmp(&texts[other as usize]));
    let mut places = vec![0; texts.len()];
    order.iter().zip(0..).for_each(|(&index, place)| places[index as usize] = place);
    let mut texts: Vec<Option<String>> = texts.into_iter().map(Some).collect();
    (order.iter().filter_map(|&index| texts[index as usize].take()).collect(), places)
}

/// The states, sorted: there may be many, but few windows, so that places in the order of texts are compared and not texts.
fn write_states(system: &dyn Pushdown, invariant: &Invariant, out: &mut dyn Write) -> io::Result<()> {
    let kinds = &invariant.kinds;
    let windows = invariant.windows.iter().enumerate().map(|(kind, windows)| {
        let leader = kinds.members(kind)[0];
        ranked(windows.iter().map(|window| show_window(system, leader, window)).collect())
    });
    let windows: Vec<(Vec<String>, Vec<u32>)> = windows.collect();
    let mut numbers: Vec<Shared> = invariant.states().map(|(shared, _)| shared).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let (shared_texts, shared_places) =
        ranked(numbers.iter().map(|&shared| system.shared_name(shared)).collect());
    let place: HashMap<Shared, u32> = numbers.into_iter().zip(shared_places).collect();
    let width = 1 + kinds.threads();
    let mut rows: Vec<u32> = Vec::with_capacity(invariant.rows.len());
    for (shared, row) in invariant.states() {
        rows.push(place[&shared]);
        let start = rows.len();
        let places = row.iter().enumerate();
        rows.extend(places.map(|(thread, &window)| windows[kinds.kind(thread)].1[window as usize]));
        // Of all renamings, the least: any may be the one that is listed.
        kinds.sort(&mut rows[start..]);
    }
    let mut sorted: Vec<&[u32]> = rows.chunks_exact(width).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut line = String::new();
    for row in &sorted {
        line.clear();
        line.push_str("state ");
        line.push_str(&shared_texts[row[0] as usize]);
        for (thread, &window) in row[1..].iter().enumerate() {
            line.push(if thread == 0 { '|' } else { ',' });
            line.push_str(&windows[kinds.kind(thread)].0[window as usize]);
        }
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    writeln!(out, "end {}", sorted.len())
}
