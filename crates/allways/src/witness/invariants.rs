//! Invariants of a safe C program, for correctness witnesses: which values its global numbers have before its statements.
//!
//! The program is taken as it was lowered, before anything is joined, narrowed or left out, and run under every schedule. If it has few
//! states, all are seen, and before a statement a variable has no other values than were found there: whichever thread comes to it,
//! whatever the others do. A proof may know more, and a larger program has no invariants here.
//!
//! Only statements without calls are taken: the steps of these are all their own, so that what is found at any of them was
//! found before the first.

use super::statements::Statements;
use super::{Invariant, place};
use allways_c::lower::Lowered;
use allways_c::slots::Kind;
use allways_engines::Budget;
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{Count, LocationId, Program, Slot, Value};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// How many states are looked at.
const MOST: usize = 30_000;

/// So many values are listed; more are given by the least and the greatest.
const LISTED: usize = 3;

/// How many invariants are written.
const WRITTEN: usize = 40;

/// A global number.
struct Number {
    name: String,
    slot: Slot,
}

/// The invariants of a program, one for each statement about which something is known.
pub fn invariants(
    lowered: &Lowered,
    source: &[u8],
    statements: &Statements,
    budget: &Budget,
) -> Vec<Invariant> {
    let program = &lowered.program;
    let numbers = numbers(lowered, source);
    let open = program.templates.iter().any(|template| template.count == Count::Any);
    if numbers.is_empty() || open || !lowered.widened.is_empty() {
        return Vec::new();
    }
    let sites = sites(program, source, statements);
    let mut found: BTreeMap<usize, Vec<BTreeSet<Value>>> = BTreeMap::new();
    let all = each_state(program, budget, &mut |state| {
        for top in state.threads.iter().filter_map(|thread| thread.top()) {
            for &site in &sites[top.location] {
                let values = found.entry(site).or_insert_with(|| vec![BTreeSet::new(); numbers.len()]);
                for (values, number) in values.iter_mut().zip(&numbers) {
                    values.insert(state.shared[number.slot]);
                }
            }
        }
    });
    if all.is_none() {
        return Vec::new();
    }
    let told = found.into_iter().filter_map(|(site, values)| {
        let parts: Vec<String> =
            numbers.iter().zip(&values).map(|(number, values)| holds(&number.name, values)).collect();
        let is_loop = [&b"while"[..], b"for"].iter().any(|word| source[site..].starts_with(word));
        let place = place(source, statements, site, None);
        (!parts.is_empty()).then(|| Invariant { place, is_loop, holds: parts.join(" && ") })
    });
    told.take(WRITTEN).collect()
}

/// That a variable has one of these values.
fn holds(name: &str, values: &BTreeSet<Value>) -> String {
    let (least, greatest) = (values.first().copied().unwrap_or(0), values.last().copied().unwrap_or(0));
    match values.len() {
        1 => format!("{name} == {least}"),
        count if count <= LISTED => {
            let each: Vec<String> = values.iter().map(|value| format!("{name} == {value}")).collect();
            format!("({})", each.join(" || "))
        }
        _ => format!("{least} <= {name} && {name} <= {greatest}"),
    }
}

/// The global variables that are plain numbers, and are written.
fn numbers(lowered: &Lowered, source: &[u8]) -> Vec<Number> {
    let program = &lowered.program;
    let mut written = HashSet::new();
    for edge in program.locations.iter().flat_map(|location| &location.edges) {
        edge.op.shared_accesses(&mut |slot, length, writes| {
            if writes {
                written.extend(slot..slot + length);
            }
        });
    }
    let is_plain = |name: &str| name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let shared = program.shared.iter().filter(|variable| {
        variable.length.is_none()
            && is_plain(&variable.name)
            && written.contains(&variable.slot)
            && lowered.cells.get(variable.slot).is_some_and(|(kind, _)| *kind != Kind::Library)
            && is_number(source, variable.span.start as usize)
    });
    shared.map(|variable| Number { name: variable.name.clone(), slot: variable.slot }).collect()
}

/// Whether what is declared here is a number of a type that the language itself has: others may hold what the model made up.
fn is_number(source: &[u8], at: usize) -> bool {
    const WORDS: [&str; 12] = [
        "int", "char", "short", "long", "unsigned", "signed", "_Bool", "static", "volatile", "_Atomic",
        "const", "extern",
    ];
    let start = source[..at.min(source.len())]
        .iter()
        .rposition(|byte| b";}#\n".contains(byte))
        .map_or(0, |end| end + 1);
    let end = source[at.min(source.len())..]
        .iter()
        .position(|&byte| byte == b';')
        .map_or(source.len(), |end| at + end);
    let declaration = String::from_utf8_lossy(&source[start..end]).into_owned();
    let mut words = declaration.split_whitespace().take_while(|word| WORDS.contains(word));
    words.next().is_some() && !declaration.contains(['*', '[', '(', '{'])
}

/// For each location, the statements that the steps from there belong to, if these are told about.
fn sites(program: &Program, source: &[u8], statements: &Statements) -> Sites {
    let mut sites = Vec::with_capacity(program.locations.len());
    for location in &program.locations {
        let starts =
            location.edges.iter().filter(|edge| edge.span.line > 0).map(|edge| edge.span.start as usize);
        let starts = starts.filter(|&at| statements.function(at).is_some()).map(|at| statements.start(at));
        sites.push(starts.filter(|&start| is_simple(source, start)).collect());
    }
    Sites(sites)
}

struct Sites(Vec<BTreeSet<usize>>);

impl std::ops::Index<LocationId> for Sites {
    type Output = BTreeSet<usize>;

    fn index(&self, location: LocationId) -> &BTreeSet<usize> {
        &self.0[location.index()]
    }
}

/// Whether a statement has no calls, and declares nothing.
fn is_simple(source: &[u8], start: usize) -> bool {
    let end =
        source[start..].iter().position(|byte| b";{".contains(byte)).map_or(source.len(), |end| start + end);
    let text = String::from_utf8_lossy(&source[start..end]).into_owned();
    let text = ["if", "while"]
        .iter()
        .find_map(|word| {
            let condition = text.strip_prefix(word)?.trim_start().strip_prefix('(')?;
            // What follows the condition is a statement of its own.
            condition.split_once(')').map(|(condition, _)| condition.to_string())
        })
        .unwrap_or(text);
    let words: Vec<&str> = text
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let declares = text.split_whitespace().count() >= 2
        && text.chars().next().is_some_and(char::is_alphabetic)
        && !text.starts_with("return")
        && text
            .split_whitespace()
            .nth(1)
            .is_some_and(|word| word.starts_with(|letter: char| letter.is_alphabetic() || letter == '*'));
    !text.contains(['(', '?'])
        && !text.contains("&&")
        && !text.contains("||")
        && !declares
        && !words.is_empty()
}

/// Shows every reachable state; none if there are too many, or the program does something that is not followed.
fn each_state(program: &Program, budget: &Budget, see: &mut dyn FnMut(&State)) -> Option<()> {
    let mut todo = State::initial(program, &State::counts(program))?;
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    while let Some(state) = todo.pop() {
        budget.check().ok()?;
        see(&state);
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                match step.outcome {
                    Outcome::To(next) => {
                        if seen.insert(next.clone()) {
                            todo.push(next);
                        }
                    }
                    Outcome::Wrong(_) | Outcome::Beyond(_) => return None,
                }
            }
        }
        if seen.len() > MOST {
            return None;
        }
    }
    Some(())
}
