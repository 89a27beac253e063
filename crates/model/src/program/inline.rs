//! A program without procedures and events: what engines work on that look at one frame of each thread.
//!
//! A call becomes the step that gives the parameters and local variables of a copy of the procedure their values, and a return the one
//! that stores the results. Each call has a copy of its own, so that every location is one of the body of a thread; a count of
//! threads at a location counts those at all of its copies. Where a thread is within an atomic section, what begins or ends one in a
//! procedure that it calls does nothing; a return that leaves the section in which it stands ends it first.
//!
//! An event becomes a number that each broadcast, and each signal, raises by one. Who comes to wait for it notes the number, and goes on
//! when it has changed. So those who are woken leave in a step of their own, and a signal may wake more than one.
//!
//! Invariant: what goes wrong in the program goes wrong in the result, with the same numbers of threads. Without events, the
//! converse holds, too. For let each thread be where it is in the program, or still wait although its number has changed: then
//! no step of the program is without one of the result, and those who still wait can leave before the next one. Deadlocks are others.

use super::{
    Binary, Edge, EventId, Expr, Label, Location, LocationId, Op, Place, Procedure, ProcedureId, Program,
    Slot, Span, Target, Template, TemplateId, Type, Unary, Value, Variable,
};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// No program becomes larger than this, and no call deeper.
const MOST_LOCATIONS: usize = 1 << 14;
const MOST_SLOTS: usize = 1 << 12;
const DEEPEST: usize = 64;

/// The same program without procedures and events. Nothing if it has none, or if procedures call themselves, threads split or
/// write variables of each other, or it would become too large.
pub fn inline(program: &Program) -> Option<Program> {
    let mut edges = program.locations.iter().flat_map(|location| &location.edges);
    let replaced = |op: &Op| matches!(op, Op::Call(..) | Op::Wait(_) | Op::Broadcast(_) | Op::Signal(_));
    let forks = |op: &Op| matches!(op, Op::Fork(_));
    let mixed = program.procedures.iter().flat_map(|procedure| &procedure.locals).any(|local| local.mixed);
    if mixed
        || !program.progress.is_empty()
        || !edges.clone().any(|edge| replaced(&edge.op))
        || edges.any(|edge| forks(&edge.op))
    {
        return None;
    }
    let mut members = vec![Vec::new(); program.procedures.len()];
    for (here, location) in LocationId::each(&program.locations) {
        members[location.procedure.index()].push(here);
    }
    let numbers = program.shared_slots();
    let mut inlining = Inlining {
        program,
        members,
        within: within_sections(program),
        numbers,
        locations: Vec::new(),
        copies: vec![Vec::new(); program.locations.len()],
        waits: HashMap::new(),
        locals: Vec::new(),
        active: Vec::new(),
        calls: 0,
    };
    let mut procedures = Vec::new();
    let mut templates: Vec<Template> = program.templates.clone();
    for (number, template) in TemplateId::each(&program.templates) {
        let body = ProcedureId(procedures.len());
        let procedure = inlining.body(template.body, body)?;
        procedures.push(procedure);
        templates[number.index()].body = body;
    }
    let Inlining { locations, copies, .. } = inlining;
    let event = |(number, name): (usize, &String)| {
        integer(format!("#event {name}"), numbers + number, Span::default())
    };
    let mut result = Program {
        shared: program.shared.iter().cloned().chain(program.events.iter().enumerate().map(event)).collect(),
        events: Vec::new(),
        procedures,
        locations,
        templates,
        labels: Vec::new(),
        ..program.clone()
    };
    for label in &program.labels {
        let of_copy = |&location: &LocationId| Label { name: label.name.clone(), location };
        result.labels.extend(copies[label.location.index()].iter().map(of_copy));
    }
    for never in &mut result.never {
        never.expr.rewrite(&mut |part| {
            if let Expr::At(places) = part {
                *places = places.iter().flat_map(|place| copies[place.index()].iter().copied()).collect();
            }
        });
    }
    Some(result)
}

fn integer(name: String, slot: Slot, span: Span) -> Variable {
    Variable {
        name,
        ty: Type::Int,
        slot,
        length: None,
        initial: vec![Some(0)],
        mixed: false,
        names: None,
        span,
    }
}

/// Whether a thread is in an atomic section of the procedure's own at a location: both ways, if there are such ways.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Within {
    inside: bool,
    outside: bool,
}

fn within_sections(program: &Program) -> Vec<Within> {
    let mut within = vec![Within::default(); program.locations.len()];
    let mut todo: Vec<(LocationId, bool)> =
        program.procedures.iter().map(|procedure| (procedure.entry, false)).collect();
    while let Some((here, inside)) = todo.pop() {
        let known = match inside {
            true => &mut within[here.index()].inside,
            false => &mut within[here.index()].outside,
        };
        if std::mem::replace(known, true) {
            continue;
        }
        for edge in &program.locations[here].edges {
            let after = match edge.op {
                Op::AtomicBegin => true,
                Op::AtomicEnd => false,
                _ => inside,
            };
            todo.push((edge.to, after));
        }
    }
    within
}

/// A copy of a procedure.
#[derive(Clone, Copy)]
struct Copy<'a> {
    /// The body of which it is a part.
    body: ProcedureId,
    /// The first slot of its local variables.
    first: Slot,
    /// Whether it is called in an atomic section.
    held: bool,
    /// Where it returns to, and where the results go, of which the indices are those of the caller; nothing in the body itself.
    back: Option<(LocationId, &'a [Place])>,
}

struct Inlining<'p> {
    program: &'p Program,
    /// The locations of each procedure.
    members: Vec<Vec<LocationId>>,
    within: Vec<Within>,
    /// The slot of the number of the first event.
    numbers: Slot,
    locations: Vec<Location>,
    /// The copies of each location of the program.
    copies: Vec<Vec<LocationId>>,
    /// Where the threads of a body wait, and for which event.
    waits: HashMap<LocationId, EventId>,
    /// The local variables of a body.
    locals: Vec<Variable>,
    /// What is being copied.
    active: Vec<ProcedureId>,
    calls: usize,
}

impl Inlining<'_> {
    /// The body of a thread.
    fn body(&mut self, procedure: ProcedureId, number: ProcedureId) -> Option<Procedure> {
        let original = &self.program.procedures[procedure];
        self.locals.clone_from(&original.locals);
        let first = self.locations.len();
        let entry = self.copy(procedure, Copy { body: number, first: 0, held: false, back: None })?;
        self.note_numbers(first)?;
        Some(Procedure { entry, locals: std::mem::take(&mut self.locals), ..original.clone() })
    }

    /// A slot for one more local variable.
    fn local(&mut self, variable: Variable) -> Option<Slot> {
        let slot = self.locals.last().map_or(0, |last| last.slot + last.slots());
        let slots = variable.slots();
        self.locals.push(Variable { slot, ..variable });
        (slot + slots <= MOST_SLOTS).then_some(slot)
    }

    fn location(&mut self, location: Location) -> Option<LocationId> {
        self.locations.push(location);
        (self.locations.len() <= MOST_LOCATIONS).then(|| LocationId(self.locations.len() - 1))
    }

    /// Copies a procedure, and what it calls. The copy of its entry.
    fn copy(&mut self, procedure: ProcedureId, copy: Copy<'_>) -> Option<LocationId> {
        if self.active.contains(&procedure) || self.active.len() >= DEEPEST {
            return None;
        }
        self.active.push(procedure);
        let members = self.members[procedure.index()].clone();
        let mut of: Vec<(LocationId, LocationId)> = Vec::with_capacity(members.len());
        for here in members {
            let span = self.program.locations[here].span;
            let made = self.location(Location { procedure: copy.body, edges: Vec::new(), span })?;
            self.copies[here.index()].push(made);
            of.push((here, made));
        }
        let copy_of = |here: LocationId| of[of.partition_point(|&(other, _)| other < here)].1;
        for &(here, made) in &of {
            let edges: Option<Vec<Edge>> = self.program.locations[here]
                .edges
                .iter()
                .map(|edge| self.edge(edge, (here, made), copy_of(edge.to), copy))
                .collect();
            self.locations[made.index()].edges = edges?;
        }
        self.active.pop();
        Some(copy_of(self.program.procedures[procedure].entry))
    }

    /// An edge, from a location and its copy to another copy.
    fn edge(
        &mut self,
        edge: &Edge,
        (here, made): (LocationId, LocationId),
        to: LocationId,
        copy: Copy<'_>,
    ) -> Option<Edge> {
        let span = edge.span;
        let Within { inside, outside } = self.within[here.index()];
        let number = |event: EventId| Expr::Shared(self.numbers + event.index());
        let op = match &edge.op {
            Op::AtomicBegin | Op::AtomicEnd if copy.held => Op::Skip,
            Op::Wait(event) => {
                self.waits.insert(made, *event);
                edge.op.clone()
            }
            Op::Broadcast(event) | Op::Signal(event) => {
                let slot = self.numbers + event.index();
                let place = Place { target: Target::Shared(slot), ty: Type::Int, span };
                let one_more =
                    Expr::Binary(Binary::Plus, Box::new(number(*event)), Box::new(Expr::Constant(1)), span);
                Op::Assign(vec![place], vec![one_more], None)
            }
            Op::Call(..) => {
                if inside && outside {
                    return None;
                }
                let Op::Call(callee, arguments, places) = shifted(&edge.op, copy.first) else { return None };
                let (first, enter) = self.enter(callee, arguments, span)?;
                let held = copy.held || inside;
                let called = Copy { body: copy.body, first, held, back: Some((to, &places)) };
                let to = self.copy(callee, called)?;
                return Some(Edge { op: enter, to, span });
            }
            Op::Return(_) => match copy.back {
                None => shifted(&edge.op, copy.first),
                Some((back, places)) => {
                    let Op::Return(results) = shifted(&edge.op, copy.first) else { return None };
                    let leave = Edge { op: self.leave(here, results, places, span)?, to: back, span };
                    if copy.held || !inside {
                        return Some(leave);
                    }
                    if outside {
                        return None;
                    }
                    let after = Location { procedure: copy.body, edges: vec![leave], span };
                    let to = self.location(after)?;
                    return Some(Edge { op: Op::AtomicEnd, to, span });
                }
            },
            op => shifted(op, copy.first),
        };
        Some(Edge { op, to, span })
    }

    /// The step into a copy of a procedure, and the first slot of its local variables.
    fn enter(&mut self, callee: ProcedureId, arguments: Vec<Expr>, span: Span) -> Option<(Slot, Op)> {
        let procedure = &self.program.procedures[callee];
        self.calls += 1;
        let first = self.locals.last().map_or(0, |last| last.slot + last.slots());
        let (mut places, mut values) = (Vec::new(), Vec::new());
        let mut arguments = arguments.into_iter();
        for (index, local) in procedure.locals.iter().enumerate() {
            let name = format!("{}#{}.{}", procedure.name, self.calls, local.name);
            let unused = vec![Some(local.ty.default_value()); local.slots()];
            let slot = self.local(Variable { name, initial: unused, ..local.clone() })?;
            for (offset, initial) in local.initial.iter().enumerate() {
                places.push(Place { target: Target::Local(slot + offset), ty: local.ty, span });
                values.push(match arguments.next().filter(|_| index < procedure.parameters) {
                    Some(argument) => argument,
                    None => first_value(*initial, local.ty),
                });
            }
        }
        Some((first, assign(places, values)))
    }

    /// The step out of a copy. Results are of their types even if nobody keeps them.
    fn leave(&mut self, here: LocationId, results: Vec<Expr>, places: &[Place], span: Span) -> Option<Op> {
        let procedure = self.program.procedure_of(here);
        let mut stored = places.to_vec();
        let mut values = if places.is_empty() { Vec::new() } else { results.clone() };
        for (index, (&ty, result)) in procedure.results.iter().zip(results).enumerate() {
            if places.get(index).is_some_and(|place| ty == Type::Int || place.ty == ty) {
                continue;
            }
            let name = format!("{}#{}.#result {index}", procedure.name, self.locals.len());
            let initial = vec![Some(ty.default_value())];
            let slot = self.local(Variable { ty, initial, ..integer(name, 0, span) })?;
            stored.push(Place { target: Target::Local(slot), ty, span });
            values.push(result);
        }
        Some(assign(stored, values))
    }

    /// Has whoever comes to wait for an event note its number, in the locations from one on.
    fn note_numbers(&mut self, first: usize) -> Option<()> {
        let waits = std::mem::take(&mut self.waits);
        let mut noted: HashMap<EventId, Slot> = HashMap::new();
        for (&wait, &event) in &waits {
            let span = self.locations[wait.index()].span;
            if let Entry::Vacant(vacant) = noted.entry(event) {
                let name = format!("#event {}", self.program.events[event.index()]);
                let slot = self.local(integer(name, 0, span))?;
                vacant.insert(slot);
            }
            let changed = Expr::Binary(
                Binary::Unequal,
                Box::new(Expr::Local(noted[&event])),
                Box::new(Expr::Shared(self.numbers + event.index())),
                span,
            );
            for edge in &mut self.locations[wait.index()].edges {
                edge.op = Op::Guard(changed.clone(), true);
            }
        }
        for here in first..self.locations.len() {
            for index in 0..self.locations[here].edges.len() {
                let Some(&event) = waits.get(&self.locations[here].edges[index].to) else { continue };
                self.note_number(here, index, self.numbers + event.index(), noted[&event])?;
            }
        }
        Some(())
    }

    /// Has a step store the number of an event, or the number that it gives it, in a local variable.
    fn note_number(&mut self, here: usize, index: usize, number: Slot, noted: Slot) -> Option<()> {
        let after = LocationId(self.locations.len());
        let Location { procedure, edges, .. } = &mut self.locations[here];
        let (procedure, edge) = (*procedure, &mut edges[index]);
        let span = edge.span;
        let place = Place { target: Target::Local(noted), ty: Type::Int, span };
        let op = match std::mem::replace(&mut edge.op, Op::Skip) {
            Op::Skip => Op::Assign(vec![place], vec![Expr::Shared(number)], None),
            Op::Guard(condition, holds) => {
                let negated = |condition| Expr::Unary(Unary::Not, Box::new(condition));
                let condition = if holds { condition } else { negated(condition) };
                Op::Assign(vec![place], vec![Expr::Shared(number)], Some(condition))
            }
            Op::Assign(mut places, mut values, constraint) => {
                let raised = places.iter().position(|place| place.target == Target::Shared(number));
                let noted = raised.map_or(Expr::Shared(number), |raised| values[raised].clone());
                places.push(place);
                values.push(noted);
                Op::Assign(places, values, constraint)
            }
            // Whoever notes it too early may go on too early, and no more is said of the result.
            op => {
                let edges = vec![Edge { op, to: edge.to, span }];
                edge.to = after;
                edge.op = Op::Assign(vec![place], vec![Expr::Shared(number)], None);
                self.location(Location { procedure, edges, span })?;
                return Some(());
            }
        };
        edge.op = op;
        Some(())
    }
}

/// The first value of a local variable: any of its type where none is given.
fn first_value(initial: Option<Value>, ty: Type) -> Expr {
    match (initial, ty.bounds()) {
        (Some(value), _) => Expr::Constant(value),
        (None, Some((low, high))) => Expr::Choose(low, high),
        (None, None) => Expr::Constant(0),
    }
}

fn assign(places: Vec<Place>, values: Vec<Expr>) -> Op {
    if places.is_empty() { Op::Skip } else { Op::Assign(places, values, None) }
}

/// A step whose local variables lie so many slots further.
fn shifted(op: &Op, by: Slot) -> Op {
    let mut op = op.clone();
    op.rewrite(&mut |part| match part {
        Expr::Local(slot) | Expr::NextLocal(slot) | Expr::LocalElement(slot, ..) => *slot += by,
        _ => {}
    });
    if let Op::Assign(places, ..) | Op::Call(_, _, places) = &mut op {
        for place in places {
            if let Target::Local(slot) | Target::LocalElement(slot, ..) = &mut place.target {
                *slot += by;
            }
        }
    }
    op
}
