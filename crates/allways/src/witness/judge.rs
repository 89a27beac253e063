//! Correctness witnesses of other tools, judged.
//!
//! The invariants and ghost variables of the witness are put into the program (`instrument.rs` of `crates/c`), which then goes wrong where an
//! invariant does not hold, as well as where it violates the property. If that is proved safe, the witness is accepted; a run
//! that goes wrong rejects it. What was not put into the program is named, and then the answer is unknown at best.
//!
//! The invariants need not be proved in the way that the witness has in mind, and need not be inductive: they are hints, as all assertions
//! are whose conditions an engine takes up.

use super::confirm::Judged;
use super::{Content, Ghosts, Invariant, NoWitness, Place, Unread, Witness, sha256};
use crate::check::{CheckError, Checked, Request, check};
use allways_c::instrument::{self, Instrumentation, Item, Unplaced, marked};
use allways_c::property::Property;
use allways_engines::Budget;
use allways_evidence::{End, Verdict, interpret};
use allways_model::program::path::through;
use allways_model::program::semantics::Outcome;
use allways_model::task::Task;

/// How many reasons are named.
const NAMED: usize = 5;

/// What a correctness witness states beside the program.
#[derive(Clone, Copy, Debug)]
pub struct Stated<'a> {
    witness: &'a Witness,
    invariants: &'a [Invariant],
    ghosts: &'a Ghosts,
    unread: &'a [Unread],
}

/// The tasks that a correctness witness is judged by.
#[derive(Debug)]
pub struct Tasks {
    /// The program, if it is asked by itself whether it has the property.
    pub plain: Option<Task>,
    /// The program with what is stated.
    pub stated: Task,
    /// What was not put into it.
    pub unplaced: Vec<Unplaced>,
}

impl<'a> Stated<'a> {
    /// What a witness states, if it is a correctness witness.
    pub fn of(witness: &'a Witness) -> Option<Stated<'a>> {
        match &witness.content {
            Content::Correctness(invariants, ghosts, unread) => {
                Some(Stated { witness, invariants, ghosts, unread })
            }
            Content::Violation(..) => None,
        }
    }

    /// In the form in which it is put into the program.
    pub fn instrumentation(&self) -> Instrumentation {
        let place = |place: &Place| instrument::Place { line: place.line, column: place.column };
        let ghosts = self.ghosts.variables.iter().map(|ghost| instrument::Ghost {
            name: ghost.name.clone(),
            ty: ghost.ty.clone(),
            initial: ghost.initial.clone(),
        });
        let updates = self
            .ghosts
            .updates
            .iter()
            .map(|update| instrument::Update { place: place(&update.place), values: update.values.clone() });
        let invariants = self.invariants.iter().map(|invariant| instrument::Invariant {
            place: place(&invariant.place),
            is_loop: invariant.is_loop,
            holds: invariant.holds.clone(),
        });
        Instrumentation {
            ghosts: ghosts.collect(),
            updates: updates.collect(),
            invariants: invariants.collect(),
        }
    }

    /// The property that the witness is about.
    pub fn property(&self) -> Result<Property, NoWitness> {
        let stated = &self.witness.about.specification;
        let formula = format!("CHECK(init(main()),LTL({stated}))");
        let is_formula = !stated.trim_start().starts_with("CHECK");
        Property::of_file(if is_formula { &formula } else { stated })
            .map_err(|why| NoWitness(format!("the specification of the witness: {why}")))
    }

    /// Whether the witness is about another file than this text.
    pub fn is_about_another(&self, source: &[u8]) -> bool {
        sha256::hexadecimal(source) != self.witness.about.hash.to_ascii_lowercase()
    }

    /// What becomes of the witness.
    pub fn judge(&self, tasks: &Tasks, request: &Request, budget: &Budget) -> Result<Judged, CheckError> {
        if self.is_about_another(&tasks.stated.source.text) {
            return Ok(Judged::Rejected("it is about another file: the SHA-256 is another one".to_string()));
        }
        let missing = self.missing(&tasks.unplaced);
        if let Some(plain) = &tasks.plain {
            let checked = check(plain, request, budget)?;
            match checked.verdict() {
                Verdict::Safe(_) => {}
                Verdict::Unknown(reason) => {
                    return Ok(Judged::Unknown(because(&missing, &reason.to_string())));
                }
                Verdict::Unsafe(_) => return Ok(Judged::Rejected(violated(&checked))),
            }
        }
        let checked = check(&tasks.stated, request, budget)?;
        Ok(match checked.verdict() {
            Verdict::Safe(_) if missing.is_empty() => Judged::Confirmed(self.all_hold()),
            Verdict::Safe(_) => Judged::Unknown(because(&missing, "")),
            Verdict::Unknown(reason) => Judged::Unknown(because(&missing, &reason.to_string())),
            Verdict::Unsafe(_) => match failing(&checked).filter(|&number| number < self.invariants.len()) {
                None => Judged::Rejected(violated(&checked)),
                Some(number) => {
                    let invariant = &self.invariants[number];
                    let why = self.fails(invariant, &checked);
                    match self.doubt(number, &tasks.unplaced) {
                        Some(doubt) => Judged::Unknown(because(&missing, &format!("{why} ({doubt})"))),
                        None => Judged::Rejected(why),
                    }
                }
            },
        })
    }

    /// Why an invariant that does not hold in the program may hold all the same.
    fn doubt<'b>(&self, number: usize, unplaced: &'b [Unplaced]) -> Option<&'b str> {
        let is_own = |one: &&Unplaced| one.is_stronger && one.item == Item::Invariant(number);
        let stronger = unplaced.iter().find(is_own).map(|one| one.why.as_str());
        let of_ghosts = |one: &Unplaced| !matches!(one.item, Item::Invariant(_));
        let is_loose = unplaced.iter().any(of_ghosts) || self.unread.iter().any(|one| one.of_ghosts);
        stronger.or(is_loose.then_some("ghost variables do not change there as they should"))
    }

    /// How much holds, in words.
    fn all_hold(&self) -> String {
        let count =
            |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
        let ghosts = match self.ghosts.variables.len() {
            0 => String::new(),
            number => format!(", with {}", count(number, "ghost variable")),
        };
        let verb = if self.invariants.len() == 1 { "holds" } else { "hold" };
        format!("{} {verb}{ghosts}", count(self.invariants.len(), "invariant"))
    }

    fn fails(&self, invariant: &Invariant, checked: &Checked) -> String {
        let (holds, line) = (&invariant.holds, invariant.place.line);
        let steps = checked.report.counterexample.as_ref().map_or(0, |rows| rows.steps);
        let after = if steps == 1 { "1 step".to_string() } else { format!("{steps} steps") };
        format!("line {line}: the invariant `{holds}` does not hold, after {after}")
    }

    /// What is not read, or is not in the program, in words.
    fn missing(&self, unplaced: &[Unplaced]) -> Vec<String> {
        let unread = self.unread.iter().map(|one| one.what.clone());
        let unplaced = unplaced.iter().filter(|one| !one.is_stronger).map(|one| {
            let what = match one.item {
                Item::Ghost(number) => format!("the ghost variable `{}`", self.ghosts.variables[number].name),
                Item::Update(number) => {
                    let line = self.ghosts.updates[number].place.line;
                    format!("line {line}: the ghost update")
                }
                Item::Invariant(number) => {
                    let invariant = &self.invariants[number];
                    format!("line {}: the invariant `{}`", invariant.place.line, shortened(&invariant.holds))
                }
            };
            format!("{what} is not followed ({})", one.why)
        });
        unread.chain(unplaced).collect()
    }
}

/// The beginning of a text, on one line.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    let start: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match start.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &start[..at]),
        None => start,
    }
}

/// The reasons for which nothing is known.
fn because(missing: &[String], reason: &str) -> String {
    let mut parts: Vec<String> = missing.iter().take(NAMED).cloned().collect();
    if missing.len() > NAMED {
        parts.push(format!("{} more", missing.len() - NAMED));
    }
    parts.extend((!reason.is_empty()).then(|| reason.to_string()));
    parts.join("; ")
}

/// That the program violates the property.
fn violated(checked: &Checked) -> String {
    let end = checked.report.counterexample.as_ref().and_then(|rows| rows.end()).unwrap_or_default();
    format!("the program violates the property: {end}")
}

/// The number of the invariant with which a run goes wrong.
fn failing(checked: &Checked) -> Option<usize> {
    let Verdict::Unsafe(counterexample) = checked.verdict() else { return None };
    let (trace, Some(Ok(encoded))) = (counterexample.trace()?, checked.forms().encoding()) else {
        return None;
    };
    let run = interpret(&encoded, trace).ok()?;
    let (last, before) = run.steps.split_last()?;
    let (state, slots) = before.last().map_or((&run.initial, &run.slots), |step| (&step.state, &step.slots));
    let End::Wrong(violation) = run.end else { return None };
    let program = encoded.program();
    let moves = through(program, state, slots[last.thread]?, last.edge, &Outcome::Wrong(violation));
    let inner = moves.and_then(|moves| moves.last().map(|one| (one.location, one.edge)));
    let (location, edge) = inner.unwrap_or((last.location, last.edge));
    marked(program.locations[location].edges[edge].span)
}
