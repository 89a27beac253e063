//! Texts, the programs they become, and what is said about them.

mod constructs;
mod examples;
mod format;
mod hostile;
mod identities;
mod lifted;
mod lowering;
mod meaning;
mod parts;
mod references;
mod runs;
mod syntax;

use super::*;
use crate::diagnostic::{Severity, line_column};
use allways_model::program::{Expr, Location, LocationId, Op, Place, Target, slot_name};
use std::fmt::Write;

/// The remarks about a text, one after another.
fn remarks(text: &[u8], diagnostics: &Diagnostics) -> String {
    let mut shown = String::new();
    for diagnostic in diagnostics.iter() {
        assert!(diagnostic.span.start <= diagnostic.span.end && diagnostic.span.end <= text.len());
        let (line, column) = line_column(text, diagnostic.span.start);
        let severity = if diagnostic.severity == Severity::Error { "" } else { "warning: " };
        let _ = writeln!(shown, "{line}:{column}: {severity}{}", diagnostic.message);
        if let Some(help) = &diagnostic.help {
            let _ = writeln!(shown, "  {help}");
        }
    }
    shown
}

/// Reads a text about which there is nothing to say.
#[track_caller]
fn good(text: &str) -> Program {
    let Parsed { program, diagnostics } = parse(text.as_bytes());
    assert_eq!(remarks(text.as_bytes(), &diagnostics), "", "in {text}");
    program.expect("no error, no program")
}

/// What is said about a text.
fn said(text: &str) -> String {
    let Parsed { program, diagnostics } = parse(text.as_bytes());
    assert_eq!(program.is_none(), diagnostics.has_errors());
    remarks(text.as_bytes(), &diagnostics)
}

/// The locations of a program, line by line: what can be done there, and where that leads.
fn graph(program: &Program) -> String {
    let mut shown = String::new();
    for (number, location) in LocationId::each(&program.locations) {
        for procedure in program.procedures.iter().filter(|procedure| procedure.entry == number) {
            let _ = writeln!(shown, "{}:", procedure.name);
        }
        let labels = program.labels.iter().filter(|label| label.location == number);
        let labels: String = labels.map(|label| format!("{}: ", label.name)).collect();
        let edges: Vec<String> =
            location.edges.iter().map(|edge| show_edge(program, location, edge)).collect();
        let _ = writeln!(shown, "{}", format!("  {number} {labels}{}", edges.join(" | ")).trim_end());
    }
    shown
}

fn show_edge(program: &Program, location: &Location, edge: &allways_model::program::Edge) -> String {
    let show = |expr: &Expr| show_expr(program, location, expr);
    let list = |exprs: &[Expr]| exprs.iter().map(show).collect::<Vec<_>>().join(", ");
    let places = |places: &[Place]| {
        places.iter().map(|place| show_place(program, location, place)).collect::<Vec<_>>().join(", ")
    };
    let lock = |lock: &allways_model::program::LockPlace| {
        let name = slot_name(&program.shared, lock.slot);
        lock.element.as_ref().map_or(name.clone(), |(_, index)| format!("{name}+{}", show(index)))
    };
    let op = match &edge.op {
        Op::Skip => "skip".to_string(),
        Op::Assign(targets, values, constraint) => {
            let constraint = constraint.as_ref().map_or(String::new(), |expr| format!(" if {}", show(expr)));
            format!("{} = {}{constraint}", places(targets), list(values))
        }
        Op::Guard(expr, true) => format!("[{}]", show(expr)),
        Op::Guard(expr, false) => format!("[not {}]", show(expr)),
        Op::Assert(expr) => format!("assert {}", show(expr)),
        Op::Error => "error".to_string(),
        Op::NoResult => "no result".to_string(),
        Op::Beyond => "beyond".to_string(),
        Op::Call(callee, arguments, results) => {
            let results = if results.is_empty() { String::new() } else { places(results) + " = " };
            format!("{results}{}({})", program.procedures[*callee].name, list(arguments))
        }
        Op::Return(values) => format!("return {}", list(values)),
        Op::AtomicBegin => "{".to_string(),
        Op::AtomicEnd => "}".to_string(),
        Op::Acquire(place) => format!("acquire {}", lock(place)),
        Op::Release(place) => format!("release {}", lock(place)),
        Op::Spawn(template, arguments) => {
            format!("spawn {}({})", program.templates[*template].name, list(arguments))
        }
        Op::Fork(_) => "fork".to_string(),
        Op::Wait(event) => format!("wait {}", program.events[event.index()]),
        Op::Broadcast(event) => format!("broadcast {}", program.events[event.index()]),
        Op::Signal(event) => format!("signal {}", program.events[event.index()]),
    };
    format!("{op} -> {}", edge.to)
}

fn show_place(program: &Program, location: &Location, place: &Place) -> String {
    let locals = &program.procedures[location.procedure].locals;
    match &place.target {
        Target::Shared(slot) => slot_name(&program.shared, *slot),
        Target::Local(slot) | Target::Others(slot) => slot_name(locals, *slot),
        Target::SharedElement(slot, _, index) => {
            format!("{}+{}", slot_name(&program.shared, *slot), show_expr(program, location, index))
        }
        Target::LocalElement(slot, _, index) => {
            format!("{}+{}", slot_name(locals, *slot), show_expr(program, location, index))
        }
    }
}

fn show_expr(program: &Program, location: &Location, expr: &Expr) -> String {
    let show = |expr: &Expr| show_expr(program, location, expr);
    let locals = &program.procedures[location.procedure].locals;
    match expr {
        Expr::Constant(value) => value.to_string(),
        Expr::Shared(slot) => slot_name(&program.shared, *slot),
        Expr::Local(slot) => slot_name(locals, *slot),
        Expr::SharedElement(slot, _, index, _) => {
            format!("{}+{}", slot_name(&program.shared, *slot), show(index))
        }
        Expr::LocalElement(slot, _, index, _) => format!("{}+{}", slot_name(locals, *slot), show(index)),
        Expr::This => "self".to_string(),
        Expr::Choose(low, high) => format!("{low}..{high}"),
        Expr::Unary(operator, part) => format!("{operator:?} {}", show(part)),
        Expr::Binary(operator, left, right, _) => format!("({} {operator:?} {})", show(left), show(right)),
        Expr::If(condition, then, other) => {
            format!("({} ? {} : {})", show(condition), show(then), show(other))
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn the_editors_know_all_keywords() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../editors/aw.tmLanguage.json");
    let grammar = std::fs::read_to_string(path).expect("the grammar is in the repository");
    assert!(lexer::KEYWORDS.is_sorted());
    for keyword in lexer::KEYWORDS {
        let mut words = grammar.split(|letter: char| !letter.is_ascii_alphabetic());
        // `\\b`, the border of a word, comes right before the first of a list.
        assert!(words.any(|word| word == keyword || word.strip_prefix('b') == Some(keyword)), "{keyword}");
    }
}
