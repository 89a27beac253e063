//! The statements of a function, location by location.

use super::super::graph::{branch, ends};
use super::super::{Written, refuse};
use super::Writer;
use super::expressions::bracketed;
use allways_model::program::{Edge, LocationId, Op, ProcedureId, Span, TemplateId};
use std::collections::HashSet;

/// A function that is being laid out.
pub(super) struct Layout<'w, 'a> {
    pub writer: &'w mut Writer<'a>,
    /// The locations inside atomic sections.
    inside: &'w [bool],
    /// Whether this is `main`, where all bodies stand.
    main: bool,
    lines: Vec<Line>,
    /// Labels for the next line.
    pending: Vec<String>,
    /// The locations that something jumps to.
    targets: HashSet<LocationId>,
}

struct Line {
    /// The location that starts here.
    location: Option<LocationId>,
    labels: Vec<String>,
    statement: String,
}

impl<'w, 'a> Layout<'w, 'a> {
    pub fn new(writer: &'w mut Writer<'a>, inside: &'w [bool], main: bool) -> Layout<'w, 'a> {
        Layout { writer, inside, main, lines: Vec::new(), pending: Vec::new(), targets: HashSet::new() }
    }

    /// What has been laid out, with the labels that are needed.
    pub fn text(self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            for label in &line.labels {
                text += &format!("{label}:\n");
            }
            let location = line
                .location
                .filter(|location| self.targets.contains(location) || self.writer.labelled[location.index()]);
            if let Some(location) = location {
                text += &format!("{}:\n", self.writer.labels[location.index()]);
            }
            text += &format!("  {}\n", line.statement);
        }
        for label in &self.pending {
            text += &format!("{label}:\n");
        }
        text
    }

    /// Adds a statement.
    pub fn line(&mut self, statement: impl Into<String>) {
        let labels = std::mem::take(&mut self.pending);
        self.lines.push(Line { location: None, labels, statement: statement.into() });
    }

    /// Puts a label before the next statement.
    pub fn label(&mut self, label: String) {
        self.pending.push(label);
    }

    /// The label of a location that something jumps to.
    pub fn target(&mut self, location: LocationId) -> String {
        self.targets.insert(location);
        self.writer.labels[location.index()].clone()
    }

    /// Adds the statements of a procedure, its entry first.
    pub fn procedure(&mut self, procedure: ProcedureId) -> Written<()> {
        let program = self.writer.program;
        let entry = program.procedures[procedure].entry;
        let mut order: Vec<LocationId> = self.reachable(entry);
        order.retain(|&location| location != entry);
        order.insert(0, entry);
        // Where something ends is repeated where it is needed, unless there is a jump to it.
        let (last, order): (Vec<_>, Vec<_>) =
            order.into_iter().partition(|&location| location != entry && ends(program, location));
        for (index, &location) in order.iter().enumerate() {
            self.location(location, order.get(index + 1).copied())?;
        }
        for location in last {
            if self.targets.contains(&location) || self.writer.labelled[location.index()] {
                self.location(location, None)?;
            }
        }
        Ok(())
    }

    /// The locations that can be reached from one, in order; also those where threads are started.
    fn reachable(&self, from: LocationId) -> Vec<LocationId> {
        let mut seen = std::collections::BTreeSet::from([from]);
        let mut todo = vec![from];
        while let Some(location) = todo.pop() {
            for edge in &self.writer.program.locations[location].edges {
                let started = if let Op::Fork(start) = edge.op { Some(start) } else { None };
                for to in [edge.to].into_iter().chain(started) {
                    if seen.insert(to) {
                        todo.push(to);
                    }
                }
            }
        }
        seen.into_iter().collect()
    }

    /// Adds a location. `next` comes after it.
    fn location(&mut self, location: LocationId, next: Option<LocationId>) -> Written<()> {
        let program = self.writer.program;
        let first = self.lines.len();
        let here = &program.locations[location];
        match &here.edges[..] {
            [] => self.line("end_thread;"),
            edges if edges.iter().all(|edge| edge.op == Op::Skip) => {
                if let [Edge { to, .. }] = edges
                    && program.locations[*to].edges.is_empty()
                {
                    self.line("end_thread;");
                } else if next.is_some_and(|next| edges.len() == 1 && edges[0].to == next) {
                    self.line("skip;");
                } else {
                    let targets: Vec<String> = edges.iter().map(|edge| self.target(edge.to)).collect();
                    self.line(format!("goto {};", targets.join(", ")));
                }
            }
            [edge] => {
                self.operation(&edge.op, here.procedure, edge.span)?;
                self.jump(edge, next)?;
            }
            edges => match branch(edges) {
                Some((condition, yes, no)) => {
                    let condition = self.writer.expression(condition, here.procedure, here.span)?;
                    let yes = self.target(yes);
                    let no = match next == Some(no) {
                        true => String::new(),
                        false => format!(" else goto {};", self.target(no)),
                    };
                    self.line(format!("if {condition} then goto {yes};{no} fi;"));
                }
                None => self.choice(location, next)?,
            },
        }
        self.lines[first].location = Some(location);
        Ok(())
    }

    /// A location where several things can be done.
    fn choice(&mut self, location: LocationId, next: Option<LocationId>) -> Written<()> {
        let here = &self.writer.program.locations[location];
        let may_block = here.edges.iter().any(|edge| may_block(&edge.op));
        let atomic = may_block && !self.inside[location.index()];
        if atomic {
            self.line("atomic_begin;");
        }
        let claim = |index| {
            self.writer.label_names.claim(&format!("{}_{index}", self.writer.labels[location.index()]), "l")
        };
        let labels: Vec<String> = (1..=here.edges.len()).map(claim).collect();
        self.line(format!("goto {};", labels.join(", ")));
        for (index, (edge, label)) in here.edges.iter().zip(labels).enumerate() {
            self.label(label);
            let next = next.filter(|_| index + 1 == here.edges.len());
            match edge.op {
                Op::AtomicBegin if atomic => {
                    // The section goes on, up to its own end.
                    let target = self.target(edge.to);
                    self.line(format!("goto {target};"));
                    continue;
                }
                Op::Skip if atomic => self.line("atomic_end;"),
                Op::Guard(..) | Op::Assign(..) | Op::Assert(_) | Op::Error | Op::NoResult | Op::AtomicEnd => {
                    self.operation(&edge.op, here.procedure, edge.span)?;
                    if atomic && edge.op != Op::AtomicEnd {
                        self.line("atomic_end;");
                    }
                }
                _ => {
                    if atomic {
                        self.line("atomic_end;");
                    }
                    self.operation(&edge.op, here.procedure, edge.span)?;
                }
            }
            self.jump(edge, next)?;
        }
        Ok(())
    }

    /// Goes to where an edge leads, from after its operation.
    fn jump(&mut self, edge: &Edge, next: Option<LocationId>) -> Written<()> {
        let program = self.writer.program;
        if matches!(edge.op, Op::Return(_) | Op::Error | Op::NoResult) {
            return Ok(());
        }
        let mut to = edge.to;
        let mut repeated = HashSet::new();
        while Some(to) != next {
            let here = &program.locations[to];
            match &here.edges[..] {
                [] => {
                    self.line("end_thread;");
                    return Ok(());
                }
                [Edge { op: op @ Op::Return(_), span, .. }] => {
                    return self.operation(op, here.procedure, *span);
                }
                [Edge { op: Op::Wait(_), to: after, span }] => {
                    if !repeated.insert(to) {
                        return refuse(*span, "a thread waits again and again without a step in between");
                    }
                    self.line("wait;");
                    to = *after;
                }
                _ => {
                    let target = self.target(to);
                    self.line(format!("goto {target};"));
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Adds what an edge does.
    fn operation(&mut self, op: &Op, procedure: ProcedureId, span: Span) -> Written<()> {
        let writer = &mut *self.writer;
        let statement = match op {
            Op::Skip => "skip;".to_string(),
            Op::Assign(places, values, constraint) => {
                let (places, values) =
                    (writer.places(places, procedure)?, writer.expressions(values, procedure, span)?);
                let constraint = match constraint {
                    Some(constraint) => {
                        format!(" constrain {}", bracketed(writer.expression(constraint, procedure, span)?))
                    }
                    None => String::new(),
                };
                format!("{places} := {values}{constraint};")
            }
            Op::Guard(condition, truth) => {
                let condition = writer.expression(condition, procedure, span)?;
                match truth {
                    true => format!("assume{};", bracketed(condition)),
                    false => format!("assume(!{condition});"),
                }
            }
            Op::Assert(condition) => {
                format!("assert{};", bracketed(writer.expression(condition, procedure, span)?))
            }
            Op::Beyond => return refuse(span, crate::write::BEYOND),
            Op::Error | Op::NoResult => "assert(0);".to_string(),
            Op::Call(callee, arguments, places) => {
                let arguments = writer.expressions(arguments, procedure, span)?;
                let call = format!("{}({arguments});", writer.functions[callee.index()]);
                match places.is_empty() {
                    true => call,
                    false => format!("{} := {call}", writer.places(places, procedure)?),
                }
            }
            Op::Return(_) if self.main => "end_thread;".to_string(),
            Op::Return(results) if results.is_empty() => "return;".to_string(),
            Op::Return(results) => format!("return {};", writer.expressions(results, procedure, span)?),
            Op::AtomicBegin => "atomic_begin;".to_string(),
            Op::AtomicEnd => "atomic_end;".to_string(),
            Op::Wait(_) => "wait;".to_string(),
            Op::Broadcast(_) => "broadcast;".to_string(),
            Op::Signal(_) => {
                return refuse(span, "a Boolean program wakes all that wait, never one of them");
            }
            Op::Fork(location) => format!("start_thread goto {};", self.target(*location)),
            Op::Spawn(template, arguments) => return self.spawn(*template, arguments, procedure, span),
            Op::Acquire(_) | Op::Release(_) => return refuse(span, "a Boolean program has no locks"),
        };
        self.line(statement);
        Ok(())
    }

    /// Starts a thread of a template.
    fn spawn(
        &mut self,
        template: TemplateId,
        arguments: &[allways_model::program::Expr],
        procedure: ProcedureId,
        span: Span,
    ) -> Written<()> {
        if !self.main {
            let reason =
                "a procedure starts a thread, which in a Boolean program would have to run that procedure";
            return refuse(span, reason);
        }
        if !arguments.is_empty() {
            let values = self.writer.expressions(arguments, procedure, span)?;
            self.line(format!("{} := {values};", self.writer.arguments[template.index()].join(", ")));
        }
        let start = match &self.writer.starts[template.index()] {
            Some(start) => start.clone(),
            None => {
                let program = self.writer.program;
                self.target(program.procedures[program.templates[template].body].entry)
            }
        };
        self.line(format!("start_thread goto {start};"));
        Ok(())
    }
}

/// Whether a thread may have to wait before it can do this.
fn may_block(op: &Op) -> bool {
    matches!(op, Op::Guard(..) | Op::Assign(_, _, Some(_)) | Op::AtomicBegin | Op::Wait(_) | Op::Acquire(_))
}
