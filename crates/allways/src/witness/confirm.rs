//! Violation witnesses of other tools, confirmed or not.
//!
//! The witness says what goes wrong, and where: the program is changed so that nothing else goes wrong than what the witness
//! names, and checked. A violation is then one at the target, found and certified as any other; if there is none, the witness is
//! rejected. How the witness gets there is a hint that need not be followed: a run that goes wrong at the target confirms what it
//! claims.

use super::statements::{Statements, line_column};
use super::{Content, NoWitness, Waypoint, Witness, sha256};
use crate::check::{CheckError, Request, check};
use allways_c::property::Property;
use allways_engines::Budget;
use allways_evidence::Verdict;
use allways_model::program::{Op, Program, Span};
use allways_model::task::{Model, Task};
use std::sync::Arc;

/// What came of a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Judged {
    /// The program goes wrong there: how, in words.
    Confirmed(String),
    /// It does not.
    Rejected(String),
    /// That is not known, and why.
    Unknown(String),
}

/// The targets of a violation witness.
pub fn targets(witness: &Witness) -> Result<&[Waypoint], NoWitness> {
    match &witness.content {
        Content::Violation(_, targets) => Ok(targets),
        Content::Correctness(..) => Err(NoWitness(
            "only violation witnesses are confirmed; `allways check` looks for a proof itself".to_string(),
        )),
    }
}

/// The property that a witness is about.
pub fn property(witness: &Witness) -> Result<Property, NoWitness> {
    let stated: String =
        witness.about.specification.chars().filter(|character| !character.is_whitespace()).collect();
    let formula = stated.strip_prefix("CHECK(init(main()),LTL(").and_then(|rest| rest.strip_suffix("))"));
    let formula = formula.unwrap_or(&stated);
    let name = match formula {
        "G!call(reach_error())" | "G!call(__VERIFIER_error())" => "unreach-call",
        "G!data-race" => "no-data-race",
        "Gvalid-deref" | "Gvalid-free" => "valid-memsafety",
        _ => return Err(NoWitness(format!("`{}` is not checked", witness.about.specification))),
    };
    Property::named(name).ok_or_else(|| NoWitness(format!("there is no property {name}")))
}

/// Whether a program goes wrong as a witness says. The task asks for its [`property`].
pub fn confirm(
    task: &Task,
    witness: &Witness,
    request: &Request,
    budget: &Budget,
) -> Result<Judged, CheckError> {
    let source = &task.source.text;
    if sha256::hexadecimal(source) != witness.about.hash.to_ascii_lowercase() {
        return Ok(Judged::Rejected("it is about another file: the SHA-256 is another one".to_string()));
    }
    let targets = match targets(witness) {
        Ok(targets) => targets,
        Err(why) => return Ok(Judged::Unknown(why.to_string())),
    };
    let place = Target { source, statements: Statements::of(source), targets };
    let task = place.only_there(task);
    let checked = check(&task, request, budget)?;
    let lines: Vec<String> = targets.iter().map(|target| target.place.line.to_string()).collect();
    let lines = lines.join(" and ");
    Ok(match checked.verdict() {
        Verdict::Safe(_) => Judged::Rejected(format!("nothing goes wrong at line {lines}")),
        Verdict::Unknown(reason) => Judged::Unknown(reason.to_string()),
        Verdict::Unsafe(_) => {
            let end = checked.report.counterexample.as_ref().and_then(|rows| rows.end()).unwrap_or_default();
            let there = targets.iter().any(|target| end.starts_with(&format!("line {}:", target.place.line)));
            // An access to memory that is not there is no step of its own, and so may go wrong elsewhere, too.
            if there || !witness.about.specification.contains("valid-") {
                Judged::Confirmed(end.to_string())
            } else {
                Judged::Unknown(format!("it goes wrong elsewhere: {end}"))
            }
        }
    })
}

struct Target<'a> {
    source: &'a [u8],
    statements: Statements,
    targets: &'a [Waypoint],
}

impl Target<'_> {
    fn has(&self, span: Span) -> bool {
        let start = self.statements.start(span.start as usize);
        let line = line_column(self.source, start).0;
        self.targets.iter().any(|target| [span.line, line].contains(&target.place.line))
    }

    /// A task that goes wrong at the targets alone, as far as going wrong is a step of its own.
    fn only_there(&self, task: &Task) -> Task {
        let model = match &task.model {
            Model::Program(program) => Model::Program(Arc::new(self.program(program))),
            other => other.clone(),
        };
        let exact = task.exact.as_ref().map(|exact| Box::new(self.only_there(exact)));
        Task { model, exact, abstractions: Vec::new(), ..task.clone() }
    }

    fn program(&self, program: &Program) -> Program {
        let mut program = program.clone();
        for edge in program.locations.iter_mut().flat_map(|location| &mut location.edges) {
            if self.has(edge.span) {
                continue;
            }
            match &edge.op {
                Op::Assert(holds) => edge.op = Op::Guard(holds.clone(), true),
                // A failed assertion ends the process, and others have done what they do before.
                Op::Error => edge.op = Op::Guard(allways_model::program::Expr::Constant(0), true),
                _ => {}
            }
        }
        program
    }
}
