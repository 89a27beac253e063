//! Boolean programs.
//!
//! All threads run `main`, so the bodies of all templates are laid out in it one after another, with all their local
//! variables side by side. If the program starts with a single thread, `main` starts with its body. Else `main` starts
//! the threads one by one, and ends. A thread that has not been started is like one that has not moved, with one
//! exception: a thread that waits from the start could miss a broadcast. Those are started before all others, which
//! cannot move until then.
//!
//! * `never` becomes a thread that may look at any time, once.
//! * A location where several things can be done becomes a jump to one of them. Lest a thread decide for something that
//!   it then cannot do, jump and deed are an atomic section.
//! * A jump to a `wait` would be a step during which a broadcast is missed; there the `wait` is repeated.

mod body;
mod expressions;
mod main;

use super::graph::Liveness;
use super::names::Names;
use super::{Refusal, Written, refuse, without_progress};
use crate::bp::is_keyword;
use allways_model::program::{
    Count, EventId, Expr, LocationId, Op, Procedure, ProcedureId, Program, Slot, Template, TemplateId, Type,
    Variable,
};
use body::Layout;

/// Writes a program as a Boolean program.
pub fn bp(program: &Program) -> Result<String, Refusal> {
    without_progress(program)?;
    check(program)?;
    let mut writer = Writer::new(program);
    let inside = inside_sections(program)?;
    let main = writer.main(&inside)?;
    let mut text = String::new();
    for variable in &program.shared {
        declare(variable, &writer.shared, &mut text, "");
    }
    text += "\nvoid main() begin\n";
    for (_, template) in writer.laid_out() {
        for local in &program.procedures[template.body].locals {
            declare(local, &writer.locals[template.body.index()], &mut text, "  ");
        }
    }
    for argument in writer.arguments.iter().flatten() {
        text += &format!("  decl {argument};\n");
    }
    text += &main;
    text += "end\n";
    for (procedure, body) in ProcedureId::each(&program.procedures) {
        if !writer.bodies[procedure.index()] {
            text += &writer.function(procedure, body, &inside)?;
        }
    }
    Ok(text)
}

/// What a Boolean program cannot have, whatever is done with it.
fn check(program: &Program) -> Written<()> {
    let locals = program.procedures.iter().flat_map(|procedure| &procedure.locals);
    for Variable { name, ty, span, .. } in program.shared.iter().chain(locals) {
        let what = match ty {
            Type::Bool => continue,
            Type::Int | Type::Range(..) => "a number",
            Type::Lock => "a lock",
        };
        return refuse(*span, format!("`{name}` is {what}, and a Boolean program has Booleans only"));
    }
    for procedure in &program.procedures {
        if procedure.results.iter().any(|result| *result != Type::Bool) {
            return refuse(procedure.span, format!("the result of `{}` is a number", procedure.name));
        }
    }
    for never in &program.never {
        let mut counts = false;
        never.expr.visit(&mut |expr| counts |= matches!(expr, Expr::At(_)));
        if counts {
            return refuse(never.span, "a Boolean program cannot say how many threads are at a label");
        }
    }
    if let [_, second, ..] = &program.events[..] {
        let span = program.locations.iter().flat_map(|location| &location.edges).find_map(|edge| {
            matches!(edge.op, Op::Wait(event) | Op::Broadcast(event) | Op::Signal(event) if event > EventId(0))
                .then_some(edge.span)
        });
        let reason = format!("`{second}` is a second event, and a Boolean program has one");
        return refuse(span.unwrap_or_default(), reason);
    }
    Ok(())
}

/// The locations at which a thread may be inside an atomic section that its procedure has begun.
fn inside_sections(program: &Program) -> Written<Vec<bool>> {
    let mut inside = vec![false; program.locations.len()];
    let edges = program.locations.iter().flat_map(|location| &location.edges);
    let mut todo: Vec<LocationId> =
        edges.filter(|edge| edge.op == Op::AtomicBegin).map(|edge| edge.to).collect();
    while let Some(location) = todo.pop() {
        if std::mem::replace(&mut inside[location.index()], true) {
            continue;
        }
        for edge in &program.locations[location].edges {
            match edge.op {
                Op::Wait(_) | Op::Broadcast(_) | Op::Signal(_) | Op::Fork(_) | Op::Spawn(..) => {
                    return refuse(edge.span, "an atomic section waits, wakes others, or starts a thread");
                }
                Op::AtomicEnd => {}
                _ => todo.push(edge.to),
            }
        }
    }
    Ok(inside)
}

/// A program on its way to text.
struct Writer<'a> {
    program: &'a Program,
    /// The name of each shared slot.
    shared: Vec<String>,
    /// The name of each procedure that is a function.
    functions: Vec<String>,
    /// The name of each local slot of each procedure.
    locals: Vec<Vec<String>>,
    /// Of each template, variables that carry the arguments of a thread to be started.
    arguments: Vec<Vec<String>>,
    /// Of each template, the local variables whose initial values matter.
    live: Vec<Vec<Slot>>,
    /// Whether a procedure is the body of threads.
    bodies: Vec<bool>,
    /// Of each template, the place where started threads start, if that is not the entry of the body.
    starts: Vec<Option<String>>,
    /// The label of each location.
    labels: Vec<String>,
    /// Whether a location has a label in the source.
    labelled: Vec<bool>,
    label_names: Names,
}

impl<'a> Writer<'a> {
    fn new(program: &'a Program) -> Writer<'a> {
        let mut names = Names::new(is_keyword);
        names.claim("main", "f");
        let slots = |variables: &[Variable], claim: &mut dyn FnMut(&str) -> String| -> Vec<String> {
            let each = |variable: &Variable| match variable.length {
                None => vec![variable.name.clone()],
                Some(length) => (0..length).map(|index| format!("{}_{index}", variable.name)).collect(),
            };
            variables.iter().flat_map(each).map(|name| claim(&name)).collect()
        };
        let shared = slots(&program.shared, &mut |name| names.claim(name, "v"));
        let mut bodies = vec![false; program.procedures.len()];
        program.templates.iter().for_each(|template| bodies[template.body.index()] = true);
        let function = |(procedure, &body): (&Procedure, &bool)| {
            if body { String::new() } else { names.claim(&procedure.name, "f") }
        };
        let functions = program.procedures.iter().zip(&bodies).map(function).collect();
        let argument = |template: &Template| {
            let body = &program.procedures[template.body];
            let parameters = &body.locals[..body.parameters];
            parameters.iter().map(|local| names.claim(&format!("arg_{}", local.name), "v")).collect()
        };
        let arguments = program.templates.iter().map(argument).collect();
        let mut locals = vec![Vec::new(); bodies.len()];
        // The variables of all bodies stand in `main`; those of functions stand apart.
        for body in [true, false] {
            for procedure in (0..bodies.len()).filter(|&procedure| bodies[procedure] == body) {
                let mut part = names.part();
                let names = if body { &mut names } else { &mut part };
                locals[procedure] =
                    slots(&program.procedures[procedure].locals, &mut |name| names.claim(name, "v"));
            }
        }
        let mut label_names = Names::new(is_keyword);
        let mut labels = vec![None; program.locations.len()];
        for label in &program.labels {
            // A label that starts with this would start a thread.
            let prefix = if label.name.starts_with("ASYNC_") { "l_" } else { "" };
            let wanted = format!("{prefix}{}", label.name);
            labels[label.location.index()].get_or_insert_with(|| label_names.claim(&wanted, "l"));
        }
        let labelled = labels.iter().map(Option::is_some).collect();
        let number = |(location, label): (LocationId, Option<String>)| {
            label.unwrap_or_else(|| label_names.claim(&format!("l{location}"), "l"))
        };
        let labels = LocationId::all(&program.locations).zip(labels).map(number).collect();
        let starts = vec![None; program.templates.len()];
        let live = program.templates.iter().map(|template| {
            let body = &program.procedures[template.body];
            Liveness::of(program, body).at(body.entry)
        });
        let live = live.collect();
        Writer {
            program,
            shared,
            functions,
            locals,
            arguments,
            live,
            bodies,
            starts,
            labels,
            labelled,
            label_names,
        }
    }

    /// The templates that have threads at some time.
    fn laid_out(&self) -> impl Iterator<Item = (TemplateId, &'a Template)> + use<'a> {
        let runs = |template: &Template| template.spawned || template.count != Count::Fixed(0);
        TemplateId::each(&self.program.templates).filter(move |(_, template)| runs(template))
    }

    fn function(&mut self, procedure: ProcedureId, body: &Procedure, inside: &[bool]) -> Written<String> {
        let ty = match body.results.len() {
            0 => "void".to_string(),
            1 => "bool".to_string(),
            count => format!("bool<{count}>"),
        };
        let parameters = self.locals[procedure.index()][..body.parameters].join(", ");
        let mut text = format!("\n{ty} {}({parameters}) begin\n", self.functions[procedure.index()]);
        for local in &body.locals[body.parameters..] {
            declare(local, &self.locals[procedure.index()], &mut text, "  ");
        }
        let mut layout = Layout::new(self, inside, false);
        layout.procedure(procedure)?;
        text += &layout.text();
        Ok(text + "end\n")
    }
}

/// Declares the slots of a variable.
fn declare(variable: &Variable, names: &[String], text: &mut String, indent: &str) {
    for (index, initial) in variable.initial.iter().enumerate() {
        let initial = initial.map_or(String::new(), |value| format!(" := {}", i64::from(value != 0)));
        *text += &format!("{indent}decl {}{initial};\n", names[variable.slot + index]);
    }
}
