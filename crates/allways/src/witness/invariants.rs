//! Invariants of a safe C program, for correctness witnesses: which values its global numbers have before its statements.
//!
//! The program is taken as it was lowered, before anything is joined, narrowed or left out, and run under every schedule. If it has few
//! states, all are seen, and before a statement a variable has no other values than were found there: whichever thread comes to it,
//! whatever the others do. A proof may know more, and a larger program has no invariants here.
//!
//! Of mutexes there are ghost variables (`ghosts.rs`): what the program keeps under one holds while nobody has it, and that is
//! said as `m_locked == 1 || x == y`.
//!
//! Only statements without calls are taken: the steps of these are all their own, so that what is found at any of them was
//! found before the first.

use super::ghosts::{Mutex, mutexes};
use super::statements::Statements;
use super::{Ghost, Ghosts, Invariant, Update, place};
use allways_c::lower::Lowered;
use allways_c::slots::Kind;
use allways_engines::Budget;
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{Count, LocationId, Program, Slot, Value, Variable};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// How many states are looked at.
const MOST: usize = 30_000;

/// So many values are listed; more are given by the least and the greatest.
const LISTED: usize = 3;

/// So many numbers are compared with each other.
const RELATED: usize = 8;

/// How many invariants are written.
const WRITTEN: usize = 40;

/// A global number.
struct Number {
    name: String,
    slot: Slot,
    /// Where it is declared.
    declared: usize,
}

/// Of two numbers, their difference and their sum, if that was always the same.
type Related = BTreeMap<(usize, usize), [Option<Value>; 2]>;

/// What is found at a statement, or at it while nobody has a mutex.
#[derive(Clone)]
struct Found {
    values: Vec<BTreeSet<Value>>,
    /// Nothing before something was found.
    pairs: Option<Related>,
}

impl Found {
    fn of(count: usize) -> Found {
        Found { values: vec![BTreeSet::new(); count], pairs: None }
    }

    fn add(&mut self, now: &[Value]) {
        for (values, &value) in self.values.iter_mut().zip(now) {
            values.insert(value);
        }
        let of =
            |one: usize, other: usize| [now[one].checked_sub(now[other]), now[one].checked_add(now[other])];
        let pairs = self.pairs.get_or_insert_with(|| {
            let count = now.len().min(RELATED);
            let all = (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other)));
            all.map(|(one, other)| ((one, other), of(one, other))).collect()
        });
        for (&(one, other), known) in pairs.iter_mut() {
            for (known, now) in known.iter_mut().zip(of(one, other)) {
                *known = known.filter(|_| *known == now);
            }
        }
    }

    /// What is always so of two numbers that are not always the same, and do not overflow when they are added.
    fn relations(&self, numbers: &[Number], site: usize) -> Vec<String> {
        let known = |number: usize| numbers[number].declared < site;
        let small = |number: usize| self.values[number].iter().all(|value| value.unsigned_abs() < 1 << 30);
        let changes = |number: usize| self.values[number].len() > 1;
        let pairs = self
            .pairs
            .iter()
            .flatten()
            .filter(|&(&(one, other), _)| known(one) && known(other))
            .filter(|&(&(one, other), _)| small(one) && small(other) && changes(one) && changes(other));
        let told = pairs.filter_map(|(&(one, other), &known)| {
            let (one, other) = (&numbers[one].name, &numbers[other].name);
            match known {
                [Some(0), _] => Some(format!("{one} == {other}")),
                [Some(difference), _] => Some(format!("{one} - {other} == {difference}")),
                [_, Some(sum)] => Some(format!("{one} + {other} == {sum}")),
                _ => None,
            }
        });
        told.collect()
    }
}

/// What is found at a statement.
struct Site {
    all: Found,
    /// Of each mutex, whether it is taken, and what is found while it is not.
    mutexes: Vec<(BTreeSet<bool>, Found)>,
}

impl Site {
    fn of(numbers: usize, mutexes: usize) -> Site {
        let found = Found::of(numbers);
        Site { all: found.clone(), mutexes: vec![(BTreeSet::new(), found); mutexes] }
    }

    fn add(&mut self, now: &[Value], taken: &[bool]) {
        self.all.add(now);
        for ((states, free), &taken) in self.mutexes.iter_mut().zip(taken) {
            states.insert(taken);
            if !taken {
                free.add(now);
            }
        }
    }

    /// What holds at a place, as far as the numbers say that are declared before, and the ghosts of mutexes that are known to follow them.
    fn holds(&self, site: usize, numbers: &[Number], mutexes: &[(Mutex, bool)]) -> Vec<String> {
        let declared = |number: &Number| number.declared < site;
        let each = numbers.iter().zip(&self.all.values).filter(|(number, _)| declared(number));
        let mut parts: Vec<String> =
            each.clone().map(|(number, values)| holds(&number.name, values)).collect();
        for ((mutex, _), (states, free)) in mutexes.iter().zip(&self.mutexes).filter(|((_, known), _)| *known)
        {
            let ghost = &mutex.ghost;
            if let (1, Some(&taken)) = (states.len(), states.first()) {
                parts.push(format!("{ghost} == {}", i32::from(taken)));
                continue;
            }
            let among = numbers.iter().zip(&self.all.values).zip(&free.values);
            for ((number, values), free) in among.filter(|((number, _), _)| declared(number)) {
                if said(free) < said(values) {
                    parts.push(format!("({ghost} == 1 || {})", holds(&number.name, free)));
                }
            }
            let anyway = self.all.relations(numbers, site);
            let own = free.relations(numbers, site).into_iter().filter(|relation| !anyway.contains(relation));
            parts.extend(own.map(|relation| format!("({ghost} == 1 || {relation})")));
        }
        parts
    }
}

/// How many values are allowed by what [`holds`] says.
fn said(values: &BTreeSet<Value>) -> i128 {
    match (values.len() > LISTED, values.first(), values.last()) {
        (true, Some(&least), Some(&greatest)) => i128::from(greatest) - i128::from(least) + 1,
        _ => values.len() as i128,
    }
}

/// The invariants of a program, one for each statement about which something is known, and the ghost variables of which they speak.
pub fn invariants(
    lowered: &Lowered,
    source: &[u8],
    statements: &Statements,
    budget: &Budget,
) -> (Vec<Invariant>, Ghosts) {
    let program = &lowered.program;
    let numbers = numbers(lowered, source);
    let open = program.templates.iter().any(|template| template.count == Count::Any);
    if numbers.is_empty() || open || !lowered.widened.is_empty() {
        return Default::default();
    }
    let sites = sites(program, source, statements);
    // Each with whether its ghost follows it, as far as is known.
    let mut mutexes: Vec<(Mutex, bool)> =
        mutexes(lowered, source, statements).into_iter().map(|mutex| (mutex, true)).collect();
    let mut found: BTreeMap<usize, Site> = BTreeMap::new();
    let statement = |location: LocationId| {
        let mut spans = program.locations[location].edges.iter().map(|edge| edge.span);
        spans.find(|span| span.line > 0).map(|span| statements.start(span.start as usize))
    };
    let all = each_state(program, budget, &mut |seen| match seen {
        Seen::State(state) => {
            let now: Vec<Value> = numbers.iter().map(|number| state.shared[number.slot]).collect();
            let taken: Vec<bool> = mutexes.iter().map(|(mutex, _)| mutex.is_taken(state)).collect();
            for top in state.threads.iter().filter_map(|thread| thread.top()) {
                for &site in &sites[top.location] {
                    let site = found.entry(site).or_insert_with(|| Site::of(now.len(), taken.len()));
                    site.add(&now, &taken);
                }
            }
        }
        Seen::Step(thread, state, next) => {
            let at = |state: &State| state.threads[thread].top().and_then(|top| statement(top.location));
            let (from, to) = (at(state), at(next));
            for (mutex, follows) in &mut mutexes {
                *follows &= mutex.follows(from, from != to, state, next);
            }
        }
    });
    if all.is_none() {
        return Default::default();
    }
    let told = found.into_iter().filter_map(|(site, values)| {
        let parts = values.holds(site, &numbers, &mutexes);
        let is_loop = [&b"while"[..], b"for"].iter().any(|word| source[site..].starts_with(word));
        let place = place(source, statements, site, None);
        (!parts.is_empty()).then(|| Invariant { place, is_loop, holds: parts.join(" && ") })
    });
    let invariants: Vec<Invariant> = told.take(WRITTEN).collect();
    let mut ghosts = Ghosts::default();
    let spoken_of = |ghost: &str| invariants.iter().any(|invariant| invariant.holds.contains(ghost));
    for (mutex, _) in mutexes.into_iter().filter(|(mutex, _)| spoken_of(&mutex.ghost)) {
        for (&at, &taken) in &mutex.updates {
            let values = vec![(mutex.ghost.clone(), i32::from(taken).to_string())];
            ghosts.updates.push(Update { place: place(source, statements, at, None), values });
        }
        let (ty, scope, initial) = ("int".to_string(), "global".to_string(), "0".to_string());
        ghosts.variables.push(Ghost { name: mutex.ghost, ty, scope, initial });
    }
    (invariants, ghosts)
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
    let numbers = shared.filter(|variable| !is_hidden(program, &variable.name)).map(|variable| Number {
        name: variable.name.clone(),
        slot: variable.slot,
        declared: variable.span.start as usize,
    });
    numbers.collect()
}

/// Whether there is another variable of this name, which may hide it somewhere.
fn is_hidden(program: &Program, name: &str) -> bool {
    let locals = program.procedures.iter().flat_map(|procedure| &procedure.locals);
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let named =
        |variable: &&Variable| variable.name.split(|letter| !is_word(letter)).any(|word| word == name);
    locals.chain(&program.shared).filter(named).count() > 1
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

/// What is seen.
enum Seen<'a> {
    /// A reachable state.
    State(&'a State),
    /// A step of a thread, the state before and after it.
    Step(usize, &'a State, &'a State),
}

/// Shows every reachable state, and every step. None if there are too many, or the program does
/// something that is not followed.
fn each_state(program: &Program, budget: &Budget, see: &mut dyn FnMut(Seen<'_>)) -> Option<()> {
    let mut todo = State::initial(program, &State::counts(program))?;
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    while let Some(state) = todo.pop() {
        budget.check().ok()?;
        see(Seen::State(&state));
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                match step.outcome {
                    Outcome::To(next) => {
                        see(Seen::Step(thread, &state, &next));
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
