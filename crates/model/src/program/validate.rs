//! Whether a program is well formed: what everybody who takes one relies on.
//!
//! Every index is one of what it counts, every edge stays in its procedure, every expression has a type that fits where it is
//! used and speaks only of what has a value there, and every initial value is one of its type. The front ends promise it, and
//! say so by a debug assertion; nobody else needs to ask again.

mod expressions;

use super::expression::OPEN;
use super::{
    Edge, Location, LocationId, LockPlace, Op, Place, ProcedureId, Program, Span, Target, Type, Variable,
};
use expressions::{Sort, Where};
use std::collections::HashSet;

/// Why a program is not well formed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// What is wrong.
    pub what: String,
    /// Where, as far as there is a place.
    pub span: Span,
}

type Checked = Result<(), Malformed>;

/// Complains unless something holds.
fn ensure(holds: bool, span: Span, what: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Malformed { what: what(), span }) }
}

impl Program {
    /// Whether the program is well formed.
    pub fn validate(&self) -> Checked {
        variables(&self.shared, true)?;
        for (number, procedure) in ProcedureId::each(&self.procedures) {
            let span = procedure.span;
            variables(&procedure.locals, false)?;
            ensure(procedure.parameters <= procedure.locals.len(), span, || "too few parameters".into())?;
            let parameters = procedure.locals.iter().take(procedure.parameters);
            ensure(parameters.clone().all(|p| p.length.is_none()), span, || {
                "a parameter is an array".into()
            })?;
            procedure.results.iter().try_for_each(|&result| value_type(result, span))?;
            let entry = self.locations.get(procedure.entry.index());
            ensure(entry.is_some_and(|entry| entry.procedure == number), span, || {
                format!("{} does not start in itself", procedure.name)
            })?;
        }
        for (number, location) in LocationId::each(&self.locations) {
            ensure(location.procedure.index() < self.procedures.len(), location.span, || {
                "no such procedure".into()
            })?;
            location_spans(location)?;
            for edge in &location.edges {
                self.edge(number, location, edge)?;
            }
        }
        for label in &self.labels {
            ensure(label.location.index() < self.locations.len(), Span::default(), || {
                format!("the label {} is nowhere", label.name)
            })?;
        }
        self.templates_are_sound()?;
        for never in &self.never {
            self.expects(&never.expr, Sort::Bool, Where::Property, never.span)?;
        }
        for eventually in &self.progress {
            let template = self.templates.get(eventually.template.index());
            let there = |location: &LocationId| {
                let location = self.locations.get(location.index());
                location.map(|location| location.procedure) == template.map(|template| template.body)
            };
            let sound = template.is_some() && eventually.locations.iter().all(there);
            ensure(sound, eventually.span, || format!("{} is no label of a thread", eventually.label))?;
        }
        self.hints.iter().try_for_each(|hint| self.expects(hint, Sort::Bool, Where::Hint, Span::default()))
    }

    fn templates_are_sound(&self) -> Checked {
        let mut bodies = HashSet::new();
        for template in &self.templates {
            let body = template.body;
            ensure(body.index() < self.procedures.len(), template.span, || "a thread has no body".into())?;
            ensure(bodies.insert(body), template.span, || "two kinds of threads have one body".into())?;
        }
        for location in &self.locations {
            for edge in &location.edges {
                let Op::Call(callee, ..) = edge.op else { continue };
                ensure(!bodies.contains(&callee), edge.span, || "the body of a thread is called".into())?;
            }
        }
        self.numbers_are_known()
    }

    /// Only threads of templates that say so ask which thread they are, in their bodies and in procedures that they call.
    fn numbers_are_known(&self) -> Checked {
        let mut calls = vec![Vec::new(); self.procedures.len()];
        let mut asks = vec![None; self.procedures.len()];
        for location in &self.locations {
            let here = location.procedure.index();
            for edge in &location.edges {
                if let Op::Call(callee, ..) = edge.op {
                    calls[here].push(callee.index());
                }
                if expressions::asks_who(&edge.op) {
                    asks[here] = Some(location.span);
                }
            }
        }
        let without = self.templates.iter().filter(|template| !template.uses_self);
        let mut todo: Vec<usize> = without.map(|template| template.body.index()).collect();
        let mut seen: HashSet<usize> = todo.iter().copied().collect();
        while let Some(procedure) = todo.pop() {
            let name = || format!("{} asks which thread it is", self.procedures[ProcedureId(procedure)].name);
            ensure(asks[procedure].is_none(), asks[procedure].unwrap_or_default(), name)?;
            todo.extend(calls[procedure].iter().filter(|&&callee| seen.insert(callee)));
        }
        Ok(())
    }

    fn edge(&self, from: LocationId, location: &Location, edge: &Edge) -> Checked {
        let (span, here) = (edge.span, location.procedure);
        let inside = |to: LocationId| self.locations.get(to.index()).is_some_and(|to| to.procedure == here);
        ensure(inside(edge.to), span, || format!("an edge leads to {}, out of its procedure", edge.to))?;
        let at = Where::Step(here);
        match &edge.op {
            Op::Skip | Op::Error | Op::Beyond | Op::AtomicBegin | Op::AtomicEnd => Ok(()),
            Op::NoResult => ensure(edge.to == from, span, || "an end leads elsewhere".into()),
            Op::Guard(expr, _) | Op::Assert(expr) => self.expects(expr, Sort::Bool, at, span),
            Op::Assign(places, values, constraint) => {
                ensure(places.len() == values.len(), span, || "as many places as values".into())?;
                for (place, value) in places.iter().zip(values) {
                    self.place(place, here)?;
                    let at = if matches!(place.target, Target::Others(_)) { Where::Given(here) } else { at };
                    self.expects(value, Sort::of(place.ty), at, span)?;
                }
                let after = Where::Constraint(here);
                constraint.as_ref().map_or(Ok(()), |expr| self.expects(expr, Sort::Bool, after, span))
            }
            Op::Call(callee, arguments, places) => {
                self.passes(*callee, arguments, here, span)?;
                let results = &self.procedures[*callee].results;
                let fits = places.is_empty() || places.len() == results.len();
                ensure(fits, span, || "as many places as results".into())?;
                for (place, &result) in places.iter().zip(results) {
                    self.place(place, here)?;
                    ensure(Sort::of(place.ty) == Sort::of(result), span, || {
                        "a result of another sort than its place".into()
                    })?;
                }
                Ok(())
            }
            Op::Return(values) => {
                ensure(edge.to == from, span, || "a return leads elsewhere".into())?;
                let results = &self.procedures[here].results;
                ensure(values.len() == results.len(), span, || "as many values as results".into())?;
                let mut both = values.iter().zip(results);
                both.try_for_each(|(value, &result)| self.expects(value, Sort::of(result), at, span))
            }
            Op::Acquire(lock) | Op::Release(lock) => self.lock(lock, here),
            Op::Spawn(template, arguments) => {
                let template = self.templates.get(template.index());
                ensure(template.is_some_and(|template| template.spawned), span, || {
                    "a thread is started that is none to be started".into()
                })?;
                template.map_or(Ok(()), |template| self.passes(template.body, arguments, here, span))
            }
            Op::Fork(start) => {
                ensure(inside(*start), span, || "a thread starts in another procedure".into())?;
                let templates = self.templates.iter().filter(|template| template.body == here);
                ensure(templates.clone().all(|template| template.spawned), span, || {
                    "a thread is started that is none to be started".into()
                })
            }
            Op::Wait(event) => {
                ensure(location.edges.len() == 1, span, || "a wait stands beside something else".into())?;
                ensure(event.index() < self.events.len(), span, || "no such event".into())
            }
            Op::Broadcast(event) | Op::Signal(event) => {
                ensure(event.index() < self.events.len(), span, || "no such event".into())
            }
        }
    }

    /// Arguments of a procedure that is called, or that a thread starts with.
    fn passes(
        &self,
        callee: ProcedureId,
        arguments: &[super::Expr],
        here: ProcedureId,
        span: Span,
    ) -> Checked {
        let Some(procedure) = self.procedures.get(callee.index()) else {
            return ensure(false, span, || "no such procedure".into());
        };
        ensure(arguments.len() == procedure.parameters, span, || "as many arguments as parameters".into())?;
        let mut both = arguments.iter().zip(&procedure.locals);
        both.try_for_each(|(value, local)| self.expects(value, Sort::of(local.ty), Where::Step(here), span))
    }

    fn place(&self, place: &Place, here: ProcedureId) -> Checked {
        let locals = &self.procedures[here].locals;
        let (variables, slot, length) = match place.target {
            Target::Shared(slot) => (&self.shared, slot, None),
            Target::SharedElement(slot, length, _) => (&self.shared, slot, Some(length)),
            Target::Local(slot) | Target::Others(slot) => (locals, slot, None),
            Target::LocalElement(slot, length, _) => (locals, slot, Some(length)),
        };
        let variable = expressions::found(variables, slot, length);
        // Several variables may have several types; what is stored through a pointer fits one of them.
        let is_one =
            |variable: &Variable| length.is_none() || variable.slot == slot && variable.length == length;
        let fits = |variable: &Variable| {
            variable.ty == place.ty || !is_one(variable) && matches!(place.ty, Type::Int | Type::Range(..))
        };
        ensure(variable.is_some_and(fits), place.span, || "a place is no variable of its type".into())?;
        ensure(place.ty != Type::Lock, place.span, || "a lock is assigned".into())?;
        match &place.target {
            Target::Others(_) => ensure(variable.is_some_and(|variable| variable.mixed), place.span, || {
                "others write a variable that is not mixed".into()
            }),
            Target::SharedElement(_, _, index) | Target::LocalElement(_, _, index) => {
                self.expects(index, Sort::Number, Where::Step(here), place.span)
            }
            Target::Shared(_) | Target::Local(_) => Ok(()),
        }
    }

    fn lock(&self, lock: &LockPlace, here: ProcedureId) -> Checked {
        let length = lock.element.as_ref().map(|(length, _)| *length);
        let variable = expressions::found(&self.shared, lock.slot, length);
        ensure(variable.is_some_and(|variable| variable.ty == Type::Lock), lock.span, || "no lock".into())?;
        lock.element
            .as_ref()
            .map_or(Ok(()), |(_, index)| self.expects(index, Sort::Number, Where::Step(here), lock.span))
    }
}

/// Variables lie one after the other, and start with values of theirs.
fn variables(variables: &[Variable], shared: bool) -> Checked {
    let mut next = 0;
    for variable in variables {
        let (span, name) = (variable.span, &variable.name);
        ensure(variable.slot == next, span, || format!("{name} does not lie after the one before"))?;
        next += variable.slots();
        ensure(variable.initial.len() == variable.slots(), span, || format!("{name} lacks initial values"))?;
        if !shared || variable.ty != Type::Lock {
            value_type(variable.ty, span)?;
        }
        ensure(!shared || !variable.mixed, span, || format!("{name} is shared and mixed"))?;
        for initial in &variable.initial {
            let fits = match initial {
                // A local variable may have no value yet.
                Some(OPEN) => !shared,
                Some(value) => variable.ty.contains(*value) && (variable.ty != Type::Lock || *value == 0),
                None => variable.ty.bounds().is_some(),
            };
            ensure(fits, span, || format!("{name} does not start with a value of its type"))?;
        }
    }
    Ok(())
}

/// A type that has values, and that are not locks.
fn value_type(ty: Type, span: Span) -> Checked {
    ensure(ty != Type::Lock, span, || "a lock that is not shared".into())?;
    ensure(ty.bounds().is_none_or(|(low, high)| low <= high), span, || "a type without values".into())
}

fn location_spans(location: &Location) -> Checked {
    let mut spans = location.edges.iter().map(|edge| edge.span).chain([location.span]);
    let bad = spans.find(|span| span.start > span.end);
    bad.map_or(Ok(()), |span| ensure(false, span, || "a place ends before it starts".into()))
}
