//! The statements of a procedure or thread, location by location.

use super::super::graph::{branch, ends, successor};
use super::super::names::Names;
use super::super::variables::{Sort, Variables};
use super::super::{Written, refuse};
use super::sections::append;
use super::{Writer, constant, initial, type_name};
use allways_model::program::{Edge, Expr, LocationId, Op, Place, ProcedureId, Slot, Span, Type, Value};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What is being written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Procedure,
    /// A thread that starts with a procedure.
    Thread,
    /// A thread that is started at a location.
    Started(LocationId),
}

/// What comes next in the text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Location(LocationId),
    /// The end of the section.
    End,
    /// The end of the body.
    Out,
}

/// The atomic section around.
pub(super) struct Within {
    pub number: usize,
    /// Where it leads.
    pub exits: Vec<LocationId>,
    /// The variable that says where, if there are several.
    pub exit: Option<Slot>,
    /// The label of its end.
    pub end: String,
}

/// A body that is being written.
pub(super) struct Body<'w, 'a> {
    pub writer: &'w mut Writer<'a>,
    procedure: ProcedureId,
    kind: Kind,
    pub locals: Variables,
    /// The variables that are not in the program: those for old values, and others.
    saved: HashMap<(bool, Slot), Slot>,
    added: Vec<Slot>,
    taken: Names,
    /// How many sections there are so far.
    pub sections: usize,
    /// The sections whose end is jumped to.
    pub ends_used: HashSet<usize>,
    /// The labels that something jumps to, inside sections and outside.
    targets: HashSet<(Option<usize>, LocationId)>,
    inner_labels: HashMap<(usize, LocationId), String>,
    /// The label of the end of a procedure that should not be reached without a result.
    no_result: Option<String>,
}

impl<'w, 'a> Body<'w, 'a> {
    pub fn new(writer: &'w mut Writer<'a>, procedure: ProcedureId, kind: Kind) -> Body<'w, 'a> {
        let mut taken = writer.names.part();
        let locals =
            Variables::new(&writer.program.procedures[procedure].locals, |name| taken.claim(name, "v"));
        Body {
            writer,
            procedure,
            kind,
            locals,
            saved: HashMap::new(),
            added: Vec::new(),
            taken,
            sections: 0,
            ends_used: HashSet::new(),
            targets: HashSet::new(),
            inner_labels: HashMap::new(),
            no_result: None,
        }
    }

    /// The parameters, with their types.
    pub fn parameters(&self) -> String {
        let count = self.writer.program.procedures[self.procedure].parameters;
        let parameter =
            |slot: Slot| format!("{} {}", type_name(self.locals.types[slot]), self.locals.slots[slot]);
        (0..count).map(parameter).collect::<Vec<_>>().join(", ")
    }

    /// The whole body, from a location on, in braces.
    pub fn block(mut self, entry: LocationId) -> Written<String> {
        let mut order: Vec<LocationId> = self.reachable(entry)?;
        order.retain(|&location| location != entry);
        order.insert(0, entry);
        let statements = self.statements(&order, None)?;
        let mut lines = self.declarations(entry)?;
        lines.extend(statements);
        lines.extend(self.no_result.map(|label| format!("{label}: skip;")));
        Ok(joined("{", lines, "}").join("\n") + "\n")
    }

    /// The local variables, and the step that gives values to those that have none at first.
    fn declarations(&mut self, entry: LocationId) -> Written<Vec<String>> {
        let procedure = &self.writer.program.procedures[self.procedure];
        let parameters = if self.kind == Kind::Procedure { procedure.parameters } else { 0 };
        let mut lines = Vec::new();
        for local in &procedure.locals[parameters..] {
            let name = self.locals.arrays.get(&local.slot).unwrap_or(&self.locals.slots[local.slot]);
            let length = local.length.map_or(String::new(), |length| format!("[{length}]"));
            // What starts with any value gets it below.
            let write = |value: Option<Value>| constant(value.unwrap_or(local.ty.default_value()), local.ty);
            let value = match local.initial.iter().all(Option::is_none) {
                true => String::new(),
                false => format!(" = {}", initial(local, write)),
            };
            lines.push(format!("{} {name}{length}{value};", type_name(local.ty)));
        }
        for &slot in &self.added {
            lines.push(format!("{} {};", type_name(self.locals.types[slot]), self.locals.slots[slot]));
        }
        if let Kind::Started(start) = self.kind {
            lines.extend(self.receive(start));
            return Ok(lines);
        }
        let initial: Vec<_> = procedure.initial().collect();
        let first = procedure.locals[..parameters].last().map_or(0, |last| last.slot + last.slots());
        let live = self.writer.liveness(self.procedure).at(entry);
        let any: Vec<Slot> =
            live.into_iter().filter(|&slot| slot >= first && initial[slot].is_none()).collect();
        if !any.is_empty() {
            if self.writer.waits(entry) {
                let reason = "a thread waits at once, but must first be given any values";
                return refuse(self.writer.program.locations[entry].span, reason);
            }
            let names: Vec<&str> = any.iter().map(|&slot| self.locals.slots[slot].as_str()).collect();
            lines.push(format!("{} = {};", names.join(", "), vec!["*"; any.len()].join(", ")));
        }
        Ok(lines)
    }

    /// Takes over the values that are handed over to a thread at its start.
    fn receive(&self, start: LocationId) -> Option<String> {
        let passed = &self.writer.started[&start].passed;
        let passing = self.writer.passing.as_ref().filter(|_| !passed.is_empty())?;
        let names: Vec<&str> = passed.iter().map(|(slot, ..)| self.locals.slots[*slot].as_str()).collect();
        let from: Vec<&str> = passed.iter().map(|(_, name, _)| name.as_str()).collect();
        let default =
            |(_, name, ty): &(Slot, String, Type)| format!("{name} = {};", constant(ty.default_value(), *ty));
        let reset: Vec<String> = passed.iter().map(default).collect();
        let (names, from, reset) = (names.join(", "), from.join(", "), reset.join(" "));
        Some(format!("atomic {{ {names} = {from}; {reset} {passing} = false; }}"))
    }

    /// The locations at which a thread can be seen, from one on, in order, but for those where it simply ends and nobody counts it.
    fn reachable(&mut self, entry: LocationId) -> Written<Vec<LocationId>> {
        let program = self.writer.program;
        let mut seen = BTreeSet::from([entry]);
        let mut todo = vec![entry];
        while let Some(location) = todo.pop() {
            for edge in &program.locations[location].edges {
                let to = match edge.op {
                    Op::AtomicBegin => self.writer.section(edge.to)?.exits,
                    _ => successor(edge).into_iter().collect(),
                };
                let stays = |to: &LocationId| !ends(program, *to) || self.writer.counted.contains(to);
                todo.extend(to.into_iter().filter(stays).filter(|&to| seen.insert(to)));
            }
        }
        Ok(seen.into_iter().collect())
    }

    /// The statements of locations, with the labels that are needed.
    pub fn statements(&mut self, order: &[LocationId], within: Option<&Within>) -> Written<Vec<String>> {
        let mut blocks = Vec::new();
        for (index, &location) in order.iter().enumerate() {
            let next = match (order.get(index + 1), within) {
                (Some(&next), _) => Next::Location(next),
                (None, Some(_)) => Next::End,
                (None, None) => Next::Out,
            };
            blocks.push((location, self.location(location, next, within)?));
        }
        let mut lines = Vec::new();
        for (location, block) in blocks {
            let counted = within.is_none() && self.writer.counted.contains(&location);
            let labelled = counted || self.targets.contains(&(within.map(|within| within.number), location));
            if within.is_none() {
                self.writer.visible.insert(location);
            }
            let mut block = block.into_iter();
            if labelled {
                // A label needs a statement, if only one that does nothing.
                let first = block.next().unwrap_or_else(|| "skip;".to_string());
                lines.push(format!("{}: {first}", self.label(location, within)));
            }
            lines.extend(block);
        }
        Ok(lines)
    }

    /// The label of a location, which inside a section is another than outside.
    fn label(&mut self, location: LocationId, within: Option<&Within>) -> String {
        let label = &self.writer.labels[location.index()];
        match within {
            None => label.clone(),
            Some(within) => {
                let names = &mut self.writer.label_names;
                let inner = self.inner_labels.entry((within.number, location));
                inner.or_insert_with(|| names.claim(&format!("{label}_inside"), "l")).clone()
            }
        }
    }

    fn location(
        &mut self,
        location: LocationId,
        next: Next,
        within: Option<&Within>,
    ) -> Written<Vec<String>> {
        let here = &self.writer.program.locations[location];
        match &here.edges[..] {
            [] if self.kind == Kind::Procedure => refuse(here.span, "a thread ends inside a procedure"),
            [] if self.writer.counted.contains(&location) => {
                refuse(here.span, "a property counts threads that have ended")
            }
            [] => Ok(vec!["return;".to_string()]),
            [edge] => self.edge(edge, next, within),
            edges => match branch(edges) {
                Some((condition, yes, no)) => {
                    let condition = self.writer.expression(condition, &self.locals, Sort::Bool, here.span)?;
                    let (yes, no) = (self.jump(yes, next, within)?, self.jump(no, next, within)?);
                    Ok(vec![match (yes.as_str(), no.as_str()) {
                        (yes, "") => format!("if ({condition}) {{ {yes} }}"),
                        ("", no) => format!("if ({condition}) {{ }} else {{ {no} }}"),
                        (yes, no) => format!("if ({condition}) {{ {yes} }} else {{ {no} }}"),
                    }])
                }
                None => {
                    let mut lines = Vec::new();
                    for (index, edge) in edges.iter().enumerate() {
                        let word = if index == 0 { "choose {" } else { "or {" };
                        lines.extend(joined(word, self.edge(edge, next, within)?, "}"));
                    }
                    Ok(lines)
                }
            },
        }
    }

    /// What an edge does, and where it leads.
    fn edge(&mut self, edge: &Edge, next: Next, within: Option<&Within>) -> Written<Vec<String>> {
        let Edge { op, to, span } = edge;
        let mut lines = match op {
            Op::AtomicBegin if within.is_none() => return self.section(edge, next),
            Op::AtomicEnd => {
                if let Some(within) = within {
                    return Ok(self.exit(*to, next, within));
                }
                vec!["skip;".to_string()]
            }
            Op::Assign(places, values, Some(constraint)) => {
                let lines = self.constrained(places, values, constraint, *span)?;
                if within.is_some() { lines } else { joined("atomic {", lines, "}") }
            }
            op => self.operation(op, *span)?,
        };
        if successor(edge).is_some() {
            let jump = self.jump(*to, next, within)?;
            append(&mut lines, &jump);
        }
        Ok(lines)
    }

    /// Goes to a location.
    pub fn jump(&mut self, to: LocationId, next: Next, within: Option<&Within>) -> Written<String> {
        let program = self.writer.program;
        if let Some(within) = within
            && ends(program, to)
        {
            return Ok(self.exit(to, next, within).concat());
        }
        if next == Next::Location(to) {
            return Ok(String::new());
        }
        match &program.locations[to].edges[..] {
            _ if within.is_some() => {}
            [] if self.writer.counted.contains(&to) => {
                return refuse(program.locations[to].span, "a property counts threads that have ended");
            }
            [] if self.kind == Kind::Procedure => {
                return refuse(program.locations[to].span, "a thread ends inside a procedure");
            }
            [] if next == Next::Out => return Ok(String::new()),
            [] => return Ok("return;".to_string()),
            [Edge { op: op @ Op::Return(results), span, .. }] if !self.writer.counted.contains(&to) => {
                let falls = next == Next::Out && (results.is_empty() || self.kind != Kind::Procedure);
                return if falls { Ok(String::new()) } else { Ok(self.operation(op, *span)?.concat()) };
            }
            _ => {}
        }
        self.targets.insert((within.map(|within| within.number), to));
        Ok(format!("goto {};", self.label(to, within)))
    }

    /// Leaves a section for a location.
    pub fn exit(&mut self, to: LocationId, next: Next, within: &Within) -> Vec<String> {
        let mut line = String::new();
        if let Some(exit) = within.exit {
            let index = within.exits.iter().position(|&exit| exit == to).unwrap_or_default();
            line = format!("{} = {index};", self.locals.slots[exit]);
        }
        if next != Next::End {
            self.ends_used.insert(within.number);
            line += &format!("{}goto {};", if line.is_empty() { "" } else { " " }, within.end);
        }
        if line.is_empty() { Vec::new() } else { vec![line] }
    }

    /// What an edge does that is a single statement, or a few.
    fn operation(&mut self, op: &Op, span: Span) -> Written<Vec<String>> {
        let condition = |condition| self.writer.expression(condition, &self.locals, Sort::Bool, span);
        let statement = match op {
            Op::Skip | Op::AtomicBegin | Op::AtomicEnd => "skip;".to_string(),
            Op::Assign(places, values, _) => self.assignment(places, values, span)?,
            Op::Guard(expr, true) => format!("assume {};", condition(expr)?),
            Op::Guard(expr, false) => format!("assume !({});", condition(expr)?),
            Op::Assert(expr) => format!("assert {};", condition(expr)?),
            Op::Error => "error;".to_string(),
            Op::Beyond => return refuse(span, crate::write::BEYOND),
            Op::NoResult => {
                let names = &mut self.writer.label_names;
                format!("goto {};", self.no_result.get_or_insert_with(|| names.claim("no_result", "l")))
            }
            Op::Call(callee, arguments, places) => {
                let parameters = &self.writer.program.procedures[*callee].locals;
                let arguments = parameters.iter().zip(arguments);
                let arguments: Vec<String> = arguments
                    .map(|(parameter, argument)| {
                        self.writer.stored(argument, &self.locals, parameter.ty, span)
                    })
                    .collect::<Written<_>>()?;
                let call = format!("{}({});", self.writer.procedures[callee.index()], arguments.join(", "));
                match &places[..] {
                    [] => call,
                    places => format!("{} = {call}", self.places(places)?),
                }
            }
            Op::Return(_) if self.kind != Kind::Procedure => "return;".to_string(),
            Op::Return(results) => {
                let types = &self.writer.program.procedures[self.procedure].results;
                match (&results[..], &types[..]) {
                    ([result], [ty]) => {
                        format!("return {};", self.writer.stored(result, &self.locals, *ty, span)?)
                    }
                    _ => "return;".to_string(),
                }
            }
            Op::Acquire(lock) => format!("acquire({});", self.writer.lock(lock, &self.locals)?),
            Op::Release(lock) => format!("release({});", self.writer.lock(lock, &self.locals)?),
            Op::Spawn(template, _) => {
                format!("spawn {};", self.writer.threads[&self.writer.program.templates[*template].body])
            }
            Op::Fork(location) => return Ok(self.fork(*location)),
            Op::Wait(event) => format!("wait {};", self.writer.events[event.index()]),
            Op::Broadcast(event) => format!("broadcast {};", self.writer.events[event.index()]),
            Op::Signal(event) => format!("signal {};", self.writer.events[event.index()]),
        };
        Ok(vec![statement])
    }

    /// Starts a thread at a location, and hands over what it needs.
    fn fork(&self, location: LocationId) -> Vec<String> {
        let started = &self.writer.started[&location];
        let mut lines = Vec::new();
        if let Some(passing) = self.writer.passing.as_ref().filter(|_| !started.passed.is_empty()) {
            let names: Vec<&str> = started.passed.iter().map(|(_, name, _)| name.as_str()).collect();
            let values: Vec<&str> =
                started.passed.iter().map(|(slot, ..)| self.locals.slots[*slot].as_str()).collect();
            let (names, values) = (names.join(", "), values.join(", "));
            lines.push(format!("atomic {{ assume !{passing}; {passing} = true; {names} = {values}; }}"));
        }
        lines.push(format!("spawn {};", started.name));
        lines
    }

    /// An assignment without a constraint.
    pub fn assignment(&self, places: &[Place], values: &[Expr], span: Span) -> Written<String> {
        let values: Vec<String> = places
            .iter()
            .zip(values)
            .map(|(place, value)| self.writer.stored(value, &self.locals, place.ty, span))
            .collect::<Written<_>>()?;
        if places.is_empty() {
            return Ok("skip;".to_string());
        }
        Ok(format!("{} = {};", self.places(places)?, values.join(", ")))
    }

    fn places(&self, places: &[Place]) -> Written<String> {
        let places = places.iter().map(|place| self.writer.place(place, &self.locals));
        Ok(places.collect::<Written<Vec<String>>>()?.join(", "))
    }

    /// A new variable.
    pub fn fresh(&mut self, name: &str, ty: Type) -> Slot {
        let name = self.taken.claim(name, "v");
        let slot = self.locals.add(name, ty);
        self.added.push(slot);
        slot
    }

    /// The variable for the old value of another.
    pub fn saved(&mut self, key: (bool, Slot), name: &str, ty: Type) -> Slot {
        if let Some(&slot) = self.saved.get(&key) {
            return slot;
        }
        let slot = self.fresh(&format!("old_{name}"), ty);
        self.saved.insert(key, slot);
        slot
    }
}

/// Statements between braces: on one line if there is only one.
pub(super) fn joined(open: &str, lines: Vec<String>, close: &str) -> Vec<String> {
    match &lines[..] {
        [only] if only.len() < 80 && open != "{" => vec![format!("{open} {only} {close}")],
        _ => {
            let inner = lines.into_iter().flat_map(|line| indented(&line));
            [open.to_string()].into_iter().chain(inner).chain([close.to_string()]).collect()
        }
    }
}

fn indented(text: &str) -> Vec<String> {
    text.lines().map(|line| format!("  {line}")).collect()
}
