//! The `.aw` language.
//!
//! Each location is a statement, and `goto` takes no step, so locations stay what they are. What has no counterpart is
//! spelt out:
//!
//! * The locations of an atomic section stand inside `atomic { … }`, once for each place where it begins, since nothing
//!   can jump into one. If it can end at several places, a variable says which.
//! * An assignment with a constraint is an atomic section: old values are saved, then comes the assignment, then `assume`.
//! * A thread that is started at a location becomes a thread of its own kind. The local variables that it still needs
//!   are handed over in shared variables, one handing-over at a time.
//! * A local variable that may start with any value is assigned one first.
//!
//! Hints are kept where it is clear whose local variables they speak of. Tasks are not written.

mod body;
mod expressions;
mod sections;
mod threads;

use super::graph::Liveness;
use super::names::Names;
use super::variables::{Sort, Variables};
use super::{Refusal, Written, refuse, without_memory};
use crate::aw::KEYWORDS;
use allways_model::program::{
    Count, Expr, LocationId, Op, Procedure, ProcedureId, Program, Span, Type, Value, Variable,
};
use body::{Body, Kind};
use std::collections::{BTreeMap, HashMap, HashSet};
use threads::Started;

/// Writes a program in the `.aw` language.
pub fn aw(program: &Program) -> Result<String, Refusal> {
    let mut writer = Writer::new(program)?;
    let mut bodies = String::new();
    for (procedure, body) in ProcedureId::each(&program.procedures) {
        if !writer.threads.contains_key(&procedure) {
            bodies += &writer.procedure(procedure, body)?;
        }
    }
    for template in &program.templates {
        let count = match template.count {
            Count::Fixed(1) => String::new(),
            Count::Fixed(count) => format!("[{count}]"),
            Count::Any => "[*]".to_string(),
        };
        let head = format!("thread {}{count}", writer.threads[&template.body]);
        let entry = program.procedures[template.body].entry;
        let block = Body::new(&mut writer, template.body, Kind::Thread).block(entry)?;
        bodies += &format!("\n{head} {block}");
    }
    let started: Vec<(LocationId, Started)> =
        writer.started.iter().map(|(&location, started)| (location, started.clone())).collect();
    for (location, started) in started {
        let procedure = program.locations[location].procedure;
        let block = Body::new(&mut writer, procedure, Kind::Started(location)).block(location)?;
        bodies += &format!("\nthread {}[0] {block}", started.name);
    }
    let text = writer.declarations()? + &bodies + &writer.properties()?;
    Ok(text.trim_start().to_string())
}

/// A program on its way to text.
struct Writer<'a> {
    program: &'a Program,
    names: Names,
    shared: Variables,
    events: Vec<String>,
    procedures: Vec<String>,
    /// The names of threads, by their bodies.
    threads: HashMap<ProcedureId, String>,
    /// The threads that are started at a location.
    started: BTreeMap<LocationId, Started>,
    /// The shared variable that says that values are being handed over, if that is ever done.
    passing: Option<String>,
    labels: Vec<String>,
    label_names: Names,
    /// The locations that properties count threads at.
    counted: HashSet<LocationId>,
    /// The locations that have been written where threads can be seen.
    visible: HashSet<LocationId>,
    /// The procedures that have atomic sections, or call others that have.
    atomic: Vec<bool>,
    /// How many more locations may be found in sections.
    budget: usize,
}

impl<'a> Writer<'a> {
    fn new(program: &'a Program) -> Written<Writer<'a>> {
        without_memory(program)?;
        if let Some(task) = program.templates.iter().find(|template| template.vanishes) {
            return refuse(task.span, format!("`{}` is a task, and tasks are not written", task.name));
        }
        let mut names = Names::new(|word| KEYWORDS.contains(&word));
        let shared = Variables::new(&program.shared, |name| names.claim(name, "v"));
        let events = program.events.iter().map(|name| names.claim(name, "e")).collect();
        let mut threads = HashMap::new();
        for template in &program.templates {
            threads.insert(template.body, names.claim(&template.name, "t"));
        }
        let claim = |(number, procedure): (ProcedureId, &Procedure)| match threads.contains_key(&number) {
            true => String::new(),
            false => names.claim(&procedure.name, "f"),
        };
        let procedures = ProcedureId::each(&program.procedures).map(claim).collect();
        let mut label_names = Names::new(|word| KEYWORDS.contains(&word));
        let mut labels = vec![None; program.locations.len()];
        for label in &program.labels {
            labels[label.location.index()].get_or_insert_with(|| label_names.claim(&label.name, "l"));
        }
        let number = |(location, label): (LocationId, Option<String>)| {
            label.unwrap_or_else(|| label_names.claim(&format!("l{location}"), "l"))
        };
        let labels = LocationId::all(&program.locations).zip(labels).map(number).collect();
        let mut counted = HashSet::new();
        for never in &program.never {
            never.expr.visit(&mut |expr| {
                if let Expr::At(locations) = expr {
                    counted.extend(locations);
                }
            });
        }
        counted.extend(program.progress.iter().flat_map(|eventually| &eventually.locations));
        let mut writer = Writer {
            program,
            names,
            shared,
            events,
            procedures,
            threads,
            started: BTreeMap::new(),
            passing: None,
            labels,
            label_names,
            counted,
            visible: HashSet::new(),
            atomic: sections::with_sections(program),
            budget: 1000 + 20 * program.locations.len(),
        };
        writer.find_started()?;
        Ok(writer)
    }

    fn declarations(&self) -> Written<String> {
        let mut text = String::new();
        for variable in &self.program.shared {
            let name = self.shared.arrays.get(&variable.slot).unwrap_or(&self.shared.slots[variable.slot]);
            let length = variable.length.map_or(String::new(), |length| format!("[{length}]"));
            text += &match variable.ty {
                Type::Lock => format!("lock {name}{length};\n"),
                ty => {
                    let initial =
                        initial(variable, |value| value.map_or("*".to_string(), |value| constant(value, ty)));
                    format!("shared {} {name}{length} = {initial};\n", type_name(ty))
                }
            };
        }
        for event in &self.events {
            text += &format!("event {event};\n");
        }
        if let Some(passing) = &self.passing {
            text += &format!("shared bool {passing} = false;\n");
            for started in self.started.values() {
                for (name, ty) in started.passed.iter().map(|(_, name, ty)| (name, *ty)) {
                    text += &format!("shared {} {name};\n", type_name(ty));
                }
            }
        }
        Ok(text)
    }

    fn procedure(&mut self, number: ProcedureId, procedure: &Procedure) -> Written<String> {
        let result = match procedure.results[..] {
            [] => String::new(),
            [ty] => format!(" : {}", type_name(ty)),
            _ => return refuse(procedure.span, format!("`{}` has several results", procedure.name)),
        };
        let body = Body::new(self, number, Kind::Procedure);
        let parameters = body.parameters();
        let block = body.block(procedure.entry)?;
        Ok(format!("\nproc {}({parameters}){result} {block}", self.procedures[number.index()]))
    }

    fn properties(&self) -> Written<String> {
        let mut text = String::new();
        for never in &self.program.never {
            let name = never.name.as_ref().map_or(String::new(), |name| format!("{name}: "));
            let expr = self.expression(&never.expr, &Variables::default(), Sort::Bool, never.span)?;
            text += &format!("\nnever {name}{expr};\n");
        }
        for eventually in &self.program.progress {
            let always = if eventually.again { "always " } else { "" };
            let thread = &self.threads[&self.program.templates[eventually.template].body];
            let seen = |location: &&LocationId| self.visible.contains(location);
            let Some(location) = eventually.locations.iter().find(seen) else {
                return refuse(eventually.span, format!("no thread comes to `{}`", eventually.label));
            };
            text += &format!("\n{always}eventually {thread}.{};\n", self.labels[location.index()]);
        }
        let locals = match &self.program.templates[..] {
            [only] if self.started.is_empty() => Some(only.body),
            _ => None,
        };
        for hint in &self.program.hints {
            let mut of_threads = false;
            hint.visit(&mut |expr| {
                of_threads |= matches!(expr, Expr::Local(_) | Expr::LocalElement(..) | Expr::OtherLocal(_));
            });
            let variables = match locals {
                Some(body) if of_threads => self.local_names(body),
                None if of_threads => continue,
                _ => Variables::default(),
            };
            text += &format!(
                "\npredicate {};\n",
                self.expression(hint, &variables, Sort::Bool, Span::default())?
            );
        }
        Ok(text)
    }

    /// The names of the local variables of a procedure, which are the same whenever they are asked for.
    fn local_names(&self, procedure: ProcedureId) -> Variables {
        let mut names = self.names.part();
        Variables::new(&self.program.procedures[procedure].locals, |name| names.claim(name, "v"))
    }

    fn liveness(&self, procedure: ProcedureId) -> Liveness {
        Liveness::of(self.program, &self.program.procedures[procedure])
    }

    fn waits(&self, location: LocationId) -> bool {
        self.program.waits_for(location).is_some()
    }

    fn edges(&self) -> impl Iterator<Item = &'a Op> + use<'a> {
        self.program.locations.iter().flat_map(|location| &location.edges).map(|edge| &edge.op)
    }
}

/// How a type is written.
fn type_name(ty: Type) -> String {
    match ty {
        Type::Bool => "bool".to_string(),
        Type::Int => "int".to_string(),
        Type::Range(low, high) => format!("{}..{}", constant(low, ty), constant(high, ty)),
        Type::Lock => "lock".to_string(),
    }
}

/// How a value of a type is written.
fn constant(value: Value, ty: Type) -> String {
    match (ty, value) {
        (Type::Bool, value) => (value != 0).to_string(),
        // Its opposite is no number.
        (_, Value::MIN) => format!("({} - 1)", Value::MIN + 1),
        (_, value) => value.to_string(),
    }
}

/// The initial value of a variable, or those of the elements of an array, each written by `write`.
fn initial(variable: &Variable, write: impl Fn(Option<Value>) -> String) -> String {
    let first = variable.initial.first().copied().flatten();
    match variable.initial.iter().all(|&value| value == first) {
        true => write(first),
        false => {
            let values: Vec<String> = variable.initial.iter().map(|&value| write(value)).collect();
            format!("{{{}}}", values.join(", "))
        }
    }
}
