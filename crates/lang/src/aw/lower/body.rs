//! One body at a time: its scopes, its labels, and what becomes of it.

use super::super::ast::{Block, Name, Routine, RoutineKind, Statement, StatementKind};
use super::super::suggest::quote;
use super::callers::TASKS;
use super::flow::{Flow, Labelled, Point};
use super::parts::{Base, Shape};
use super::{Lowering, Mark, Owners, Summary};
use allways_model::program::{
    Binary, Edge, Expr, Label, LocationId, Op, Place, Procedure, ProcedureId, Span, Target, Type, Variable,
};
use std::collections::{HashMap, HashSet};

/// The body at hand.
#[derive(Default)]
pub(super) struct Body<'a> {
    pub flow: Flow,
    pub locals: Vec<Variable>,
    /// Of each local variable, its name and whether it is read.
    pub names: Vec<Name<'a>>,
    pub read: Vec<bool>,
    /// Of each local variable, whether it is that of a `for`.
    pub fixed: Vec<bool>,
    /// Of each local variable, how deep the block is in which it is declared.
    depths: Vec<usize>,
    /// What local variables are that are laid out as several, or in several dimensions; by the first one.
    pub shapes: HashMap<usize, Shape>,
    /// Names that stand for something else.
    pub aliases: Vec<Alias<'a>>,
    scope: HashMap<&'a str, Named>,
    /// What the names of the open blocks meant before.
    hidden: Vec<(&'a str, Option<Named>)>,
    depth: usize,
    taken: HashSet<&'a str>,
    pub labels: HashMap<&'a str, BodyLabel>,
    /// The labels in the order of the text.
    order: Vec<Name<'a>>,
    pub loops: Vec<Loop>,
    /// The outermost `atomic` around, by its place.
    pub atomic: Option<u32>,
    /// Whether only declarations that take no step came before.
    pub leading: bool,
    pub end: Point,
    pub result: Option<Type>,
    pub has_result: bool,
    /// The local variable for a result that is returned out of `atomic`.
    pub kept: Option<usize>,
    /// Whether this is the body of a procedure.
    pub procedure: bool,
    /// Whether it is looked at without being one of a procedure: its references stand for nothing.
    pub generic: bool,
    /// Of the body of threads, its number and their name.
    pub threads: Option<(usize, &'a str)>,
    /// Why `self` has no value.
    pub no_self: Option<String>,
    pub summary: Summary,
    /// Where each statement starts, in the order of the text.
    pub starts: Vec<(Point, Span)>,
}

/// What a name in a body means.
#[derive(Clone, Copy)]
enum Named {
    Local(usize),
    Alias(usize),
}

/// A name that stands for something else.
pub(super) struct Alias<'a> {
    pub name: Name<'a>,
    pub base: Base,
    /// Whether it is read.
    pub read: bool,
    /// How deep the block is in which it is declared.
    depth: usize,
}

/// A label of the body at hand.
pub(super) struct BodyLabel {
    pub point: Point,
    /// The outermost `atomic` around it, by its place.
    pub atomic: Option<u32>,
    pub used: bool,
    span: Span,
}

/// A loop that is open.
pub(super) struct Loop {
    pub again: Point,
    pub after: Point,
    pub atomic: Option<u32>,
}

impl<'a> Body<'a> {
    /// The local variable that a name means.
    pub fn local(&self, name: &str) -> Option<usize> {
        if let Some(Named::Local(number)) = self.scope.get(name) { Some(*number) } else { None }
    }

    /// What a name stands for.
    pub fn alias(&self, name: &str) -> Option<usize> {
        if let Some(Named::Alias(number)) = self.scope.get(name) { Some(*number) } else { None }
    }

    /// The names in scope.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.scope.keys().copied()
    }

    /// Where what has this name in the innermost block is declared.
    fn in_this_block(&self, name: &str) -> Option<Span> {
        match *self.scope.get(name)? {
            Named::Local(number) => (self.depths[number] == self.depth).then(|| self.locals[number].span),
            Named::Alias(number) => {
                let alias = &self.aliases[number];
                (alias.depth == self.depth).then_some(alias.name.span)
            }
        }
    }

    /// Adds a name that stands for something else.
    pub fn add_alias(&mut self, name: Name<'a>, base: Base) {
        let named = Named::Alias(self.aliases.len());
        self.aliases.push(Alias { name, base, read: false, depth: self.depth });
        self.hidden.push((name.text, self.scope.insert(name.text, named)));
    }

    /// How many slots the local variables take so far.
    pub fn slots(&self) -> usize {
        self.locals.last().map_or(0, |last| last.slot + last.slots())
    }

    /// Adds a local variable. One of the same name as another has its place added, so that people can tell them apart.
    pub fn add(&mut self, name: Name<'a>, mut variable: Variable) -> usize {
        if !self.taken.insert(name.text) {
            variable.name = format!("{}@{}:{}", name.text, name.span.line, name.span.column);
        }
        let number = self.locals.len();
        self.locals.push(variable);
        self.names.push(name);
        self.read.push(false);
        self.fixed.push(false);
        self.depths.push(self.depth);
        self.hidden.push((name.text, self.scope.insert(name.text, Named::Local(number))));
        number
    }

    /// Adds a local variable for a part of the one before, which has no name of its own.
    pub fn add_part(&mut self, span: Span, variable: Variable) -> usize {
        self.locals.push(variable);
        self.names.push(Name { text: "#part", span });
        self.read.push(true);
        self.fixed.push(false);
        self.depths.push(self.depth);
        self.locals.len() - 1
    }

    /// Opens a block. The result closes it.
    pub fn open(&mut self) -> usize {
        self.depth += 1;
        self.hidden.len()
    }

    pub fn close(&mut self, opened: usize) {
        self.depth -= 1;
        while self.hidden.len() > opened {
            if let Some((name, before)) = self.hidden.pop() {
                match before {
                    Some(number) => self.scope.insert(name, number),
                    None => self.scope.remove(name),
                };
            }
        }
    }
}

impl<'a> Lowering<'a, '_> {
    /// Makes a procedure of a routine.
    pub(super) fn lower_body(&mut self, number: usize, routine: &'a Routine<'a>) {
        match routine.parameters.iter().any(|parameter| parameter.reference) {
            true => self.check_body_with_references(number, routine),
            false => self.lower_body_for(number, number, routine, &[]),
        }
    }

    /// Makes a procedure of a routine whose references stand for these. `origin` is the number of the routine.
    pub(super) fn lower_body_for(
        &mut self,
        number: usize,
        origin: usize,
        routine: &'a Routine<'a>,
        references: &[Base],
    ) {
        let head = &self.heads[number];
        self.body = Body {
            leading: true,
            generic: number == origin && !references.is_empty(),
            result: head.result,
            has_result: head.has_result,
            procedure: matches!(routine.kind, RoutineKind::Procedure),
            threads: matches!(routine.kind, RoutineKind::Thread(_)).then_some((number, routine.name.text)),
            no_self: match routine.kind {
                RoutineKind::Thread(_) | RoutineKind::Procedure => Self::without_numbers(routine),
                RoutineKind::Task | RoutineKind::Main => Some(TASKS.to_string()),
            },
            ..Body::default()
        };
        let values = routine.parameters.iter().filter(|parameter| !parameter.reference);
        for (index, parameter) in values.enumerate() {
            let ty = self.heads[number].parameters[index];
            self.declare_local(
                parameter.name,
                ty.unwrap_or(Type::Int),
                None,
                vec![Some(ty.map_or(0, Type::default_value))],
            );
            let names = self.names_of(&parameter.ty);
            self.body.locals.last_mut().into_iter().for_each(|variable| variable.names = names.clone());
        }
        self.declare_references(routine, references);
        let parameters = self.body.locals.len();
        self.declare_bits(number);
        self.collect_labels(&routine.body, None);
        let entry = self.body.flow.point();
        self.body.end = self.body.flow.point();
        let mut start = entry;
        let close = routine.body.close;
        if matches!(routine.kind, RoutineKind::Task) {
            start = self.body.flow.step(entry, self.resume(routine.name.span), routine.name.span);
        }
        let last = self.statements(&routine.body.statements, start);
        let end = self.body.end;
        self.body.flow.pass(last, vec![end], close);
        self.end(end, close);
        self.finish_body((number, origin), routine, entry, parameters);
        self.name_specialised(number, origin, references);
    }

    /// What happens at the end of a body.
    fn end(&mut self, end: Point, close: Span) {
        let flow = &mut self.body.flow;
        match (self.body.procedure, self.body.has_result) {
            (true, false) => flow.steps(
                end,
                vec![Edge { op: Op::Return(Vec::new()), to: LocationId(end), span: close }],
                close,
            ),
            (true, true) => {
                flow.steps(end, vec![Edge { op: Op::NoResult, to: LocationId(end), span: close }], close)
            }
            (false, _) => {
                let op = if self.asynchronous { Some(self.pause(close)) } else { None };
                let flow = &mut self.body.flow;
                let last = op.map_or(end, |op| flow.step(end, op, close));
                flow.steps(last, Vec::new(), close);
            }
        }
    }

    fn finish_body(
        &mut self,
        (number, origin): (usize, usize),
        routine: &'a Routine<'a>,
        entry: Point,
        parameters: usize,
    ) {
        let body = std::mem::take(&mut self.body);
        self.note_unreachable(&body, entry);
        self.note_unread(&body);
        let labels: Vec<Labelled<'a>> = body
            .order
            .iter()
            .map(|name| {
                let counted = self.counted.contains(name.text);
                Labelled { name: name.text, point: body.labels[name.text].point, counted }
            })
            .collect();
        let first = self.program.labels.len();
        let entry = body.flow.finish(&mut self.program, ProcedureId(number), entry, &labels);
        let mut placed: HashMap<&str, LocationId> = HashMap::new();
        for Label { name, location } in &self.program.labels[first..] {
            placed.insert(name, *location);
        }
        for &name in &body.order {
            let label = &body.labels[name.text];
            let location = placed.get(name.text).copied();
            self.marks.entry(name.text).or_default().push(self.labels.len());
            let atomic = label.atomic.is_some();
            self.labels.push(Mark { name, procedure: origin, location, used: label.used, atomic });
        }
        for (first, shape) in body.shapes {
            self.local_shapes.insert((number, first), shape);
        }
        let template = self.heads[number].template;
        for (index, name) in body.names.iter().enumerate() {
            let owners = self.locals.entry(name.text);
            let owners = owners.or_insert_with(|| Owners { first: number, threads: Vec::new() });
            if template.is_some() {
                owners.threads.push((number, index));
            }
        }
        self.summaries.push(body.summary);
        self.program.procedures.push(Procedure {
            name: routine.name.text.to_string(),
            locals: body.locals,
            parameters,
            results: body.result.into_iter().collect(),
            entry,
            span: routine.name.span,
        });
    }

    /// Complains about a name that is declared in the innermost block.
    pub(super) fn not_in_this_block(&mut self, name: Name<'a>) -> Option<()> {
        let Some(first) = self.body.in_this_block(name.text) else { return Some(()) };
        let message = format!("{} is declared twice, first in line {}", quote(name.text), first.line);
        self.none(name.span, message, None)
    }

    /// Adds a local variable to the innermost block.
    pub(super) fn declare_local(
        &mut self,
        name: Name<'a>,
        ty: Type,
        length: Option<usize>,
        initial: Vec<Option<allways_model::program::Value>>,
    ) -> Option<usize> {
        self.not_in_this_block(name)?;
        let slot = self.body.slots();
        let variable = self.new_variable(name, ty, length, initial, slot)?;
        Some(self.body.add(name, variable))
    }

    /// Gives each label of a block a point, before any `goto` is met.
    fn collect_labels(&mut self, block: &'a Block<'a>, atomic: Option<u32>) {
        for Statement { labels, kind, span } in &block.statements {
            for &name in labels {
                if let Some(first) = self.body.labels.get(name.text) {
                    let message = format!(
                        "the label {} stands twice, first in line {}",
                        quote(name.text),
                        first.span.line
                    );
                    self.error(name.span, message, Some("a label is unique in its body".to_string()));
                    continue;
                }
                let point = self.body.flow.point();
                self.body.labels.insert(name.text, BodyLabel { point, atomic, used: false, span: name.span });
                self.body.order.push(name);
            }
            let inner =
                if let StatementKind::Atomic(_) = kind { atomic.or(Some(span.start)) } else { atomic };
            for block in blocks(kind) {
                self.collect_labels(block, inner);
            }
        }
    }

    /// A task (or `main`) stops, and lets others run.
    pub(super) fn pause(&self, span: Span) -> Op {
        let place = Place { target: Target::Shared(self.running), ty: Type::Bool, span };
        Op::Assign(vec![place], vec![Expr::Constant(0)], None)
    }

    /// A task goes on, when no other runs.
    pub(super) fn resume(&self, span: Span) -> Op {
        let place = Place { target: Target::Shared(self.running), ty: Type::Bool, span };
        let (running, no) = (Box::new(Expr::Shared(self.running)), Box::new(Expr::Constant(0)));
        let free = Expr::Binary(Binary::Equal, running, no, span);
        Op::Assign(vec![place], vec![Expr::Constant(1)], Some(free))
    }
}

/// The blocks directly inside a statement.
pub(super) fn blocks<'a>(kind: &'a StatementKind<'a>) -> impl Iterator<Item = &'a Block<'a>> {
    let (branches, many, one): (&[_], &[_], Option<&Block<'_>>) = match kind {
        StatementKind::If(branches, otherwise) => (branches, &[], otherwise.as_ref()),
        StatementKind::Choose(blocks) => (&[], blocks, None),
        StatementKind::While(_, block)
        | StatementKind::Loop(block)
        | StatementKind::For(_, block)
        | StatementKind::Block(block)
        | StatementKind::Atomic(block) => (&[], &[], Some(block)),
        _ => (&[], &[], None),
    };
    let branches: &'a [super::super::ast::Branch<'a>] = branches;
    branches.iter().map(|branch| &branch.body).chain(many).chain(one)
}
