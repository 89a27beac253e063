//! Steps of programs as formulas: for each location, what a thread there can do.
//!
//! The same meaning as [`steps`](allways_model::program::semantics::steps), for all states at once; a test compares the two on
//! random programs and states. A [`Transition`] has a guard and the values afterwards, over variables named for people:
//! shared ones as in the program, local ones with an `@` and the thread's position in a view, as in `l@0`. An atomic section is
//! one transition for each way through it.
//!
//! A lock is 0 or the number of its holder, and each thread has a number of its own ([`ID`]). Threads that are started on the way
//! are there from the start, any number of them, with any arguments, and wait for a flag that the first start of one of them
//! sets: each run of the program is one of these, in which as many threads as it starts leave their first location when it starts
//! them. A step that is not followed goes wrong, so that a proof shows that nobody comes there. What this form cannot say
//! (procedures, events) is [`Unsupported`]; nothing is guessed.

use super::expressions::{MOST_ELEMENTS, Notes, Scope, Values, truth};
use super::walk::{Hidden, ways};
use allways_model::program::expression::OPEN;
use allways_model::program::{Count, Expr, LocationId, Program, Span, TemplateId, Type, Variable, slot_name};
use allways_smt::Term;
use std::collections::HashSet;
use std::fmt;

/// The hidden local variable with a thread's own number, from 1 on.
pub const ID: &str = "#id";

/// The hidden local variable for `self`.
pub const SELF: &str = "#self";

/// The most variables, times locations: each step starts from all variables.
const MOST: usize = 1 << 20;

/// What formulas cannot say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// What it is.
    pub what: String,
    /// Where it is.
    pub span: Span,
}

impl Unsupported {
    pub(super) fn new(what: &str, span: Span) -> Unsupported {
        Unsupported { what: what.to_string(), span }
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: engine `views` does not support {}", self.span.line, self.what)
    }
}

/// A variable: its name, the bounds of its type, and its initial values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Known {
    /// The name; of a local variable, without the position.
    pub name: String,
    /// The type.
    pub ty: Type,
    /// The initial value; any of its type if there is none.
    pub initial: Option<i64>,
    /// Whether it never changes and starts with any value: the hidden ones.
    pub hidden: bool,
    /// Whether nothing is known of its value but its type: it is part of a long array.
    pub forgotten: bool,
}

impl Known {
    /// What is always true of its value: it is of its type.
    pub fn typed(&self, value: &Term) -> Term {
        let least = |low: i64| Term::number(low).at_most(value);
        match self.ty {
            Type::Int => Term::truth(true),
            Type::Lock => least(0),
            Type::Bool => Term::and([least(0), value.at_most(&Term::number(1))]),
            Type::Range(low, high) => Term::and([least(low), value.at_most(&Term::number(high))]),
        }
    }
}

/// One way to take a step from a location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    /// Where it leads; nowhere if it goes wrong.
    pub to: Option<LocationId>,
    /// When it can be taken.
    pub guard: Term,
    /// Variables that the guard and the values choose freely, within bounds that the guard says.
    pub choices: Vec<String>,
    /// The shared variables that change, and their new values.
    pub shared: Vec<(usize, Term)>,
    /// The local variables that change, and their new values.
    pub locals: Vec<(usize, Term)>,
    /// The statement.
    pub span: Span,
}

/// A program as formulas.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Steps {
    /// The shared variables, slot by slot.
    pub shared: Vec<Known>,
    /// The local variables of each template, slot by slot, then the hidden ones.
    pub locals: Vec<Vec<Known>>,
    /// The template that runs a location; none for locations of other procedures.
    pub templates: Vec<Option<TemplateId>>,
    /// Where each template starts.
    pub entries: Vec<LocationId>,
    /// For each template all of whose threads are started on the way, the shared slot that says whether one has been.
    pub started: Vec<Option<usize>>,
    /// What a thread at each location can do.
    pub from: Vec<Vec<Transition>>,
    /// The predicates of the program that could be translated, over the local variables of positions 0 and 1.
    pub hints: Vec<Hint>,
}

/// A predicate that the user gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hint {
    /// Whose local variables it speaks of, if it does.
    pub template: Option<TemplateId>,
    /// Whether it speaks of another thread, at position 1.
    pub other: bool,
    /// What it says.
    pub formula: Term,
}

/// The name of a local variable at a position.
pub fn local(name: &str, position: usize) -> String {
    format!("{name}@{position}")
}

impl Steps {
    /// Translates a program.
    pub fn new(program: &Program) -> Result<Steps, Unsupported> {
        let bodies = program.templates.iter().map(|template| &program.procedures[template.body]);
        let slots =
            bodies.clone().map(|body| body.slots()).fold(program.shared_slots(), usize::saturating_add);
        if slots.saturating_mul(program.locations.len()) > MOST {
            let span = bodies.map(|body| body.span).next().unwrap_or_default();
            return Err(Unsupported::new("a program with so many variables and locations", span));
        }
        let mut shared = known(&program.shared);
        let mut started = Vec::new();
        let locks = program.shared.iter().any(|variable| variable.ty == Type::Lock);
        let mut templates = vec![None; program.locations.len()];
        let mut locals = Vec::new();
        let mut entries = Vec::new();
        for (index, template) in TemplateId::each(&program.templates) {
            if template.spawned && template.uses_self {
                return Err(Unsupported::new("`self` of dynamically created threads", template.span));
            }
            let later = template.spawned && template.count == Count::Fixed(0);
            started.push(later.then_some(shared.len()));
            if later {
                let name = format!("#started{}", index.index());
                let (ty, initial) = (Type::Bool, Some(0));
                shared.push(Known { name, ty, initial, hidden: false, forgotten: false });
            }
            let body = &program.procedures[template.body];
            let hidden = |name: &str| {
                let (name, ty) = (name.to_string(), Type::Int);
                Known { name, ty, initial: None, hidden: true, forgotten: false }
            };
            let mut known = known(&body.locals);
            if template.spawned {
                let parameters = body.locals[..body.parameters].iter().map(Variable::slots).sum();
                known[..parameters].iter_mut().for_each(|parameter| parameter.initial = None);
            }
            known.extend(locks.then(|| hidden(ID)));
            known.extend(template.uses_self.then(|| hidden(SELF)));
            locals.push(known);
            entries.push(body.entry);
            let of_body = |location: &LocationId| program.locations[*location].procedure == template.body;
            LocationId::all(&program.locations)
                .filter(of_body)
                .for_each(|location| templates[location.index()] = Some(index));
        }
        let (from, hints) = (Vec::new(), Vec::new());
        let mut steps = Steps { shared, locals, templates, entries, started, from, hints };
        for location in LocationId::all(&program.locations) {
            let template = steps.templates[location.index()];
            let from = template.map(|template| steps.transitions(program, template, location)).transpose()?;
            steps.from.push(from.unwrap_or_default());
        }
        steps.hints = program.hints.iter().filter_map(|hint| steps.hint(program, hint)).collect();
        Ok(steps)
    }

    /// The values of the variables before a step of the thread at a position.
    fn before(&self, template: TemplateId, position: usize) -> Values {
        let variable = |known: &Known| Term::variable(&known.name);
        let at = |known: &Known| Term::variable(&local(&known.name, position));
        Values {
            shared: self.shared.iter().map(variable).collect(),
            locals: self.locals[template.index()].iter().map(at).collect(),
        }
    }

    fn hidden(&self, template: TemplateId, name: &str) -> Option<usize> {
        self.locals[template.index()].iter().position(|known| known.hidden && known.name == name)
    }

    fn hint(&self, program: &Program, expr: &Expr) -> Option<Hint> {
        let (mut own, mut other) = (false, false);
        expr.visit(&mut |part| match part {
            Expr::Local(_) | Expr::LocalElement(..) | Expr::This => own = true,
            Expr::OtherLocal(_) => other = true,
            _ => {}
        });
        // A hint names no template; it is about the only one with such variables.
        let uses = |template: &TemplateId| {
            let slots = program.procedures[program.templates[*template].body].slots();
            let mut fits = true;
            expr.visit(&mut |part| match part {
                Expr::Local(slot) | Expr::OtherLocal(slot) => fits &= *slot < slots,
                Expr::LocalElement(slot, length, ..) => fits &= slot + length <= slots,
                _ => {}
            });
            fits
        };
        let mut fitting = TemplateId::all(&program.templates).filter(uses);
        let template = fitting.next()?;
        if (own || other) && fitting.next().is_some() {
            return None;
        }
        let (values, others) = (self.before(template, 0), self.before(template, 1));
        let this = self.hidden(template, SELF).map(|slot| &values.locals[slot]);
        let known = (&self.shared[..], &self.locals[template.index()][..]);
        let scope = Scope { values: &values, known, next: None, this, other: Some(&others.locals) };
        let mut notes = Notes::default();
        let formula = truth(expr, &scope, &mut notes).ok()?;
        let template = (own || other).then_some(template);
        (notes.wrong.is_empty() && notes.choices.is_empty()).then_some(Hint { template, other, formula })
    }

    fn transitions(
        &self,
        program: &Program,
        template: TemplateId,
        location: LocationId,
    ) -> Result<Vec<Transition>, Unsupported> {
        let hidden = Hidden { id: self.hidden(template, ID), this: self.hidden(template, SELF) };
        let flag = self.started[template.index()].filter(|_| self.entries[template.index()] == location);
        let waits = flag.map(|slot| Term::variable(&self.shared[slot].name).equal(&Term::number(1)));
        let known = (&self.shared[..], &self.locals[template.index()][..]);
        ways(program, location, self.before(template, 0), hidden, known, (&self.started, waits))
    }
}

/// The slots of variables.
fn known(variables: &[Variable]) -> Vec<Known> {
    let mut all: Vec<Known> = Vec::new();
    let mut names = HashSet::new();
    for variable in variables {
        for (slot, &initial) in (variable.slot..).zip(&variable.initial) {
            // Positions, choices and quotes are written with these.
            let mut name = slot_name(variables, slot).replace(['@', '?', '|', '\\'], "_");
            while !names.insert(name.clone()) {
                name.push('\'');
            }
            // What has no value yet may have any.
            let initial = initial.filter(|&value| value != OPEN);
            let forgotten = variable.slots() > MOST_ELEMENTS;
            all.push(Known { name, ty: variable.ty, initial, hidden: false, forgotten });
        }
    }
    all
}
