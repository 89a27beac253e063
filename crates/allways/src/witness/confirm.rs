//! Violation witnesses of other tools, confirmed or not.
//!
//! The witness says what goes wrong, and where: the program is changed so that nothing else goes wrong than what the witness
//! names, and checked. A violation is then one at the target, found and certified as any other; if there is none, the witness is
//! rejected. How the witness gets there is a hint: a run that goes wrong at the target confirms what it claims. The values that calls
//! return are followed first, for a while: a run with these inputs is one of the program. The order of threads is not followed.

use super::statements::{Statements, line_column};
use super::{Content, NoWitness, Step, Waypoint, Witness, sha256};
use crate::check::{CheckError, Checked, Request, check};
use allways_c::property::Property;
use allways_engines::Budget;
use allways_evidence::Verdict;
use allways_model::program::inputs::Inputs;
use allways_model::program::{Expr, Op, Program, Span, Value};
use allways_model::task::{Model, Task};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How long a run with the inputs of the witness is looked for.
const GUIDED_BUDGET: Duration = Duration::from_secs(10);

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
    let Content::Violation(steps, targets) = &witness.content else {
        return Ok(Judged::Unknown("it is no violation witness".to_string()));
    };
    let place = Target { source, statements: Statements::of(source), targets };
    let task = changed(task, &|program| place.program(program));
    let inputs = inputs(steps);
    if !inputs.is_empty() {
        let guided = changed(&task, &|program| with_inputs(program, &inputs));
        let checked = check(&guided, request, &budget.within(GUIDED_BUDGET))?;
        if let confirmed @ Judged::Confirmed(_) = judged(&checked, witness, targets) {
            return Ok(confirmed);
        }
    }
    Ok(judged(&check(&task, request, budget)?, witness, targets))
}

/// What an answer about the targets alone says about the witness.
fn judged(checked: &Checked, witness: &Witness, targets: &[Waypoint]) -> Judged {
    let lines: Vec<String> = targets.iter().map(|target| target.place.line.to_string()).collect();
    let lines = lines.join(" and ");
    match checked.verdict() {
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
    }
}

/// The task with another program.
fn changed(task: &Task, change: &dyn Fn(&Program) -> Program) -> Task {
    let model = match &task.model {
        Model::Program(program) => Model::Program(Arc::new(change(program))),
        other => other.clone(),
    };
    let exact = task.exact.as_ref().map(|exact| Box::new(changed(exact, change)));
    Task { model, exact, abstractions: Vec::new(), ..task.clone() }
}

/// The values that calls return, by their lines.
fn inputs(steps: &[Waypoint]) -> BTreeMap<u32, Vec<Value>> {
    let mut inputs: BTreeMap<u32, Vec<Value>> = BTreeMap::new();
    for waypoint in steps {
        if let Step::Returns { value, .. } = waypoint.step {
            let values = inputs.entry(waypoint.place.line).or_default();
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    inputs
}

/// The program in which the choices of these lines have these values alone. Its runs are runs of the program.
fn with_inputs(program: &Program, inputs: &BTreeMap<u32, Vec<Value>>) -> Program {
    let (mut given, mut number) = (Inputs::default(), 0);
    for edge in program.locations.iter().flat_map(|location| &location.edges) {
        edge.op.clone().rewrite(&mut |part| {
            if let Expr::Choose(..) = part {
                if let Some(values) = inputs.get(&edge.span.line) {
                    given.choices.insert(number, values.clone());
                }
                number += 1;
            }
        });
    }
    given.given(program)
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

    /// A program that goes wrong at the targets alone, as far as going wrong is a step of its own.
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
