//! Witnesses: answers about C programs in the formats that other verifiers and validators exchange.
//!
//! A *violation witness* guides another tool to the error: which statements which threads come to, one after the other, and what
//! calls return. A *correctness witness* lists invariants at places of the program. Both are written in YAML, in the format
//! of SV-COMP: version 2.0, with ghost variables 2.1, and for violations of programs with threads version 2.2, whose waypoints have a `thread_id`: 0 is `main`, and
//! k the thread that the k-th `function_enter` waypoint at a call which creates a thread has created. Violation witnesses can also be
//! written in GraphML, version 1.0, which older validators read. Neither takes part in the verdict: the evidence of
//! an answer is Allways' own, and the checker has accepted it before a witness is written.

pub mod confirm;
mod ghosts;
pub mod graphml;
mod handover;
mod invariants;
pub mod judge;
pub mod read;
pub mod schema;
pub mod sha256;
pub mod statements;
pub mod walk;
pub mod yaml;

use crate::check::Checked;
use crate::load::{Options, unreduced_c};
use crate::source_trace::SourceTrace;
use allways_c::property::Property;
use allways_c::typed::DataModel;
use allways_engines::Budget;
use allways_evidence::{Verdict, interpret};
use statements::{Statements, closing, line_column};
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use walk::{Kind, Walk, walk};

/// How long invariants are looked for.
const INVARIANTS_BUDGET: Duration = Duration::from_secs(5);

/// What was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// The file.
    pub path: PathBuf,
    /// How it was read.
    pub options: Options,
}

/// Why there is no witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoWitness(pub String);

impl fmt::Display for NoWitness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for NoWitness {}

/// A witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    /// What it is about.
    pub about: About,
    /// What it says.
    pub content: Content,
}

/// What a witness is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct About {
    /// The file, as it was named.
    pub file: String,
    /// Its SHA-256.
    pub hash: String,
    /// The property, as a formula of linear temporal logic, such as `G ! data-race`.
    pub specification: String,
    /// The sizes of types.
    pub data_model: DataModel,
    /// When it was made: seconds since 1970.
    pub seconds: u64,
}

/// What a witness says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// How to get to the error: steps, and then what goes wrong; of a data race, two accesses.
    Violation(Vec<Waypoint>, Vec<Waypoint>),
    /// Invariants, the ghost variables of which they speak, and what is not read.
    Correctness(Vec<Invariant>, Ghosts, Vec<Unread>),
}

/// Something that a thread does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waypoint {
    /// Which thread: 0 is `main`, others in the order of their creation; none if that is not said.
    pub thread: Option<usize>,
    /// Where.
    pub place: Place,
    /// What.
    pub step: Step,
    /// Whether the thread takes over here from another one, so that it has to be named.
    pub takes_over: bool,
}

/// What a thread does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// It comes to a statement.
    Passes,
    /// It comes to a statement, where this holds.
    Holds(String),
    /// It takes the branch of this name: `true`, `false` or a case.
    Branches(String),
    /// It calls a function, and creates the thread of this number.
    Creates(usize),
    /// A function returns a value, which is stored in a variable, if it has a name.
    Returns {
        /// The value.
        value: i64,
        /// The function.
        function: String,
        /// The variable.
        variable: Option<String>,
    },
    /// It stands before a statement when another thread goes wrong.
    Stands,
    /// It goes wrong.
    Fails,
}

/// A place in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The line of the statement, counted from 1.
    pub line: u32,
    /// Its column, counted from 1, if it is known.
    pub column: Option<u32>,
    /// Of a call: the line and the column of its closing parenthesis.
    pub call: Option<(u32, u32)>,
    /// The function around it.
    pub function: Option<String>,
}

/// Ghost variables: those of which invariants speak, and the program does not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ghosts {
    /// All of them.
    pub variables: Vec<Ghost>,
    /// How they change.
    pub updates: Vec<Update>,
}

/// A ghost variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ghost {
    /// Its name.
    pub name: String,
    /// Its type, in C.
    pub ty: String,
    /// Where it is known, such as `global`.
    pub scope: String,
    /// Its value when the program starts, as an expression in C.
    pub initial: String,
}

/// What happens to ghost variables when a thread leaves a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Update {
    /// The statement.
    pub place: Place,
    /// Names of variables, and what they get, as expressions in C.
    pub values: Vec<(String, String)>,
}

/// A part of a correctness witness that is not read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unread {
    /// What it is, and why, in words.
    pub what: String,
    /// Whether it is about ghost variables.
    pub of_ghosts: bool,
}

/// An invariant at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invariant {
    /// Before which statement it holds.
    pub place: Place,
    /// Whether it is one of a loop, which holds whenever its condition is evaluated.
    pub is_loop: bool,
    /// What holds, as an expression in C.
    pub holds: String,
}

impl Witness {
    /// The witness of an answer about a C program.
    pub fn of(checked: &Checked, asked: &Asked, budget: &Budget) -> Result<Witness, NoWitness> {
        let no = |why: &str| NoWitness(why.to_string());
        let forms = checked.forms();
        let task = forms.task().ok_or_else(|| no("there is no program"))?;
        let source: &[u8] = &task.source.text;
        let statements = Statements::of(source);
        let (specification, content) = match checked.verdict() {
            Verdict::Unknown(_) => return Err(no("nothing is known")),
            Verdict::Safe(_) => {
                let first = statements.body("main").and_then(|body| statements.next(body + 1));
                let first = first.ok_or_else(|| no("there is no function `main` in the file"))?;
                let lowered = unreduced_c(&asked.path, source, &asked.options);
                let budget = budget.within(INVARIANTS_BUDGET);
                let (mut invariants, ghosts) = lowered
                    .map(|lowered| invariants::invariants(&lowered, source, &statements, &budget))
                    .unwrap_or_default();
                if invariants.is_empty() {
                    let place = place(source, &statements, first, None);
                    invariants.push(Invariant { place, is_loop: false, holds: "1".to_string() });
                }
                (proved(asked.options.property)?, Content::Correctness(invariants, ghosts, Vec::new()))
            }
            Verdict::Unsafe(counterexample) => {
                let (Some(trace), Some(Ok(encoded))) = (counterexample.trace(), forms.encoding()) else {
                    return Err(no("the counterexample is no run of the program"));
                };
                let run = interpret(&encoded, trace).map_err(|why| NoWitness(why.to_string()))?;
                let walk = walk(&encoded, &run, &statements)
                    .ok_or_else(|| no("it is not found out which statements the run passes"))?
                    .without_end(source, &statements);
                let kind = SourceTrace::new(&encoded, &run, source).kind;
                let asked = asked.options.property.unwrap_or_default();
                let specification = violated(kind, asked, source, &walk)?;
                let (steps, targets) = waypoints(source, &statements, &walk);
                (specification, Content::Violation(steps, targets))
            }
        };
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let about = About {
            file: task.source.name.clone(),
            hash: sha256::hexadecimal(source),
            specification: specification.to_string(),
            data_model: asked.options.data_model,
            seconds,
        };
        Ok(Witness { about, content })
    }
}

impl About {
    /// The time in the format of ISO 8601.
    pub fn time(&self) -> String {
        let (days, rest) = (self.seconds / 86_400, self.seconds % 86_400);
        // The calendar of 400 years, counted from a first of March (after Howard Hinnant's `civil_from_days`).
        let shifted = days + 719_468;
        let (era, day) = (shifted / 146_097, shifted % 146_097);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let date = day - (153 * month + 2) / 5 + 1;
        let (month, years) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        let year = year + 400 * era + years;
        let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
        format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    /// The version of Allways.
    pub fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}

/// The name of a data model.
pub(crate) fn model_name(model: DataModel) -> &'static str {
    match model {
        DataModel::Ilp32 => "ILP32",
        DataModel::Lp64 => "LP64",
    }
}

/// The formula of a property that was proved.
fn proved(property: Option<Property>) -> Result<&'static str, NoWitness> {
    let asked = property.unwrap_or_default();
    match asked {
        Property { deadlocks: true, .. } => Err(NoWitness("witnesses do not speak of deadlocks".to_string())),
        Property { cycles: true, .. } | Property { held: true, .. } => {
            Err(NoWitness("witnesses do not speak of mutexes that are held".to_string()))
        }
        Property { races: true, .. } => Ok("G ! data-race"),
        Property { overflows: true, .. } => Ok("G ! overflow"),
        Property { cleanup: true, .. } => Ok("G valid-memcleanup"),
        Property { assertions: true, .. } => Ok("G ! call(reach_error())"),
        _ => Ok("G valid-deref"),
    }
}

/// The formula of what was violated.
fn violated(kind: &str, asked: Property, source: &[u8], walk: &Walk) -> Result<&'static str, NoWitness> {
    let frees = walk.targets.last().is_some_and(|&(_, at)| source[at..].starts_with(b"free"));
    match kind {
        "race" => Ok("G ! data-race"),
        "index" => Ok("G valid-deref"),
        "overflow" => Ok("G ! overflow"),
        "leak" if asked.cleanup => Ok("G valid-memcleanup"),
        "leak" => Ok("G valid-memtrack"),
        "assert" if frees => Ok("G valid-free"),
        "assert" if asked.overflows && !asked.assertions => Ok("G ! overflow"),
        "assert" | "error" => Ok("G ! call(reach_error())"),
        other => Err(NoWitness(format!("witnesses do not speak of what is called `{other}` here"))),
    }
}

fn waypoints(source: &[u8], statements: &Statements, walk: &Walk) -> (Vec<Waypoint>, Vec<Waypoint>) {
    let (stops, stands) = handover::named(source, statements, walk);
    let mut steps = Vec::new();
    for (index, stop) in walk.stops.iter().enumerate() {
        let (call, step) = match stop.kind {
            Kind::Passes => (None, Step::Passes),
            Kind::Creates(thread) => (closing(source, stop.at), Step::Creates(thread)),
            Kind::Returns(value) => match returned(source, stop.statement, stop.at) {
                Some((call, function, variable)) => {
                    (closing(source, call), Step::Returns { value, function, variable })
                }
                None => continue,
            },
        };
        let place = place(source, statements, stop.statement, call);
        let takes_over = matches!(step, Step::Passes | Step::Creates(_)) && stops[index];
        steps.push(Waypoint { thread: Some(stop.thread), place, step, takes_over });
    }
    for (&(thread, at), &takes_over) in walk.stands.iter().zip(&stands) {
        let place = place(source, statements, at, None);
        steps.push(Waypoint { thread: Some(thread), place, step: Step::Stands, takes_over });
    }
    let target = |&(thread, at): &(usize, usize)| {
        let place = place(source, statements, at, None);
        Waypoint { thread: Some(thread), place, step: Step::Fails, takes_over: false }
    };
    (steps, walk.targets.iter().map(target).collect())
}

fn place(source: &[u8], statements: &Statements, at: usize, call: Option<usize>) -> Place {
    let (line, column) = line_column(source, at);
    let function = statements.function(at).map(str::to_string);
    Place { line, column: Some(column), call: call.map(|call| line_column(source, call)), function }
}

/// The call in a statement that returns what nothing determines: where it is, its function, and the variable that gets it.
fn returned(source: &[u8], statement: usize, at: usize) -> Option<(usize, String, Option<String>)> {
    const CALL: &[u8] = b"__VERIFIER_nondet_";
    let end =
        source[statement..].iter().position(|&byte| byte == b';').map_or(source.len(), |end| statement + end);
    let find = |from: usize| {
        let found = source.get(from..end)?.windows(CALL.len()).position(|part| part == CALL);
        found.map(|at| from + at)
    };
    let call = find(at).or_else(|| find(statement))?;
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'$';
    let word = |from: usize| -> String {
        source[from..].iter().take_while(|byte| is_word(byte)).map(|&byte| byte as char).collect()
    };
    // `x = call()`, perhaps with a type before.
    let before = source[statement..call].trim_ascii_end();
    let variable = before.strip_suffix(b"=").map(|before| before.trim_ascii_end()).and_then(|before| {
        let start = before.iter().rposition(|byte| !is_word(byte)).map_or(0, |at| at + 1);
        let plain = before[..start].iter().all(|byte| is_word(byte) || byte.is_ascii_whitespace());
        (plain && start < before.len()).then(|| word(statement + start))
    });
    Some((call, word(call), variable))
}
