//! Steps of programs as formulas: for each location, what a thread there can do.
//!
//! The same meaning as [`steps`](allways_model::program::semantics::steps), for all states at once; a test compares the two on
//! random programs and states. A [`Transition`] has a guard and the values afterwards, over variables named for people:
//! shared ones as in the program, local ones with an `@` and the thread's position in a view, as in `l@0`. An atomic section is
//! one transition for each way through it.
//!
//! A lock is 0 or the number of its holder, and each thread has a number of its own ([`ID`]). What this form cannot say
//! (procedures, events, threads started on the way, products of variables) is [`Unsupported`]; nothing is guessed.

use super::expressions::{MOST_ELEMENTS, Notes, Scope, Values, element, number, select, truth};
use allways_model::program::{
    Edge, Expr, LocationId, LockPlace, Op, Place, Program, Span, Target, TemplateId, Type, Variable,
    slot_name,
};
use allways_smt::Term;
use std::collections::HashSet;

/// The hidden local variable with a thread's own number, from 1 on.
pub const ID: &str = "#id";

/// The hidden local variable for `self`.
pub const SELF: &str = "#self";

/// The most ways through an atomic section, and steps on each.
const WAYS: usize = 256;
const LONGEST: usize = 256;

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
        let shared = known(&program.shared);
        let locks = program.shared.iter().any(|variable| variable.ty == Type::Lock);
        let mut templates = vec![None; program.locations.len()];
        let mut locals = Vec::new();
        let mut entries = Vec::new();
        for (index, template) in program.templates.iter().enumerate() {
            if template.spawned {
                return Err(Unsupported::new("threads that are started on the way", template.span));
            }
            let body = &program.procedures[template.body];
            let hidden =
                |name: &str| Known { name: name.to_string(), ty: Type::Int, initial: None, hidden: true };
            let mut known = known(&body.locals);
            known.extend(locks.then(|| hidden(ID)));
            known.extend(template.uses_self.then(|| hidden(SELF)));
            locals.push(known);
            entries.push(body.entry);
            let of_body = |location: &LocationId| program.locations[*location].procedure == template.body;
            (0..program.locations.len())
                .filter(of_body)
                .for_each(|location| templates[location] = Some(index));
        }
        let mut steps = Steps { shared, locals, templates, entries, from: Vec::new(), hints: Vec::new() };
        for location in 0..program.locations.len() {
            let template = steps.templates[location];
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
            locals: self.locals[template].iter().map(at).collect(),
        }
    }

    fn hidden(&self, template: TemplateId, name: &str) -> Option<usize> {
        self.locals[template].iter().position(|known| known.hidden && known.name == name)
    }

    fn hint(&self, program: &Program, expr: &Expr) -> Option<Hint> {
        let (mut own, mut other) = (false, false);
        expr.visit(&mut |part| match part {
            Expr::Local(_) | Expr::LocalElement(..) | Expr::This => own = true,
            Expr::OtherLocal(_) => other = true,
            _ => {}
        });
        // A hint names no template; it is about the only one with such variables.
        let uses = |template: &usize| {
            let slots = program.procedures[program.templates[*template].body].slots();
            let mut fits = true;
            expr.visit(&mut |part| match part {
                Expr::Local(slot) | Expr::OtherLocal(slot) => fits &= *slot < slots,
                Expr::LocalElement(slot, length, ..) => fits &= slot + length <= slots,
                _ => {}
            });
            fits
        };
        let mut fitting = (0..program.templates.len()).filter(uses);
        let template = fitting.next()?;
        if (own || other) && fitting.next().is_some() {
            return None;
        }
        let (values, others) = (self.before(template, 0), self.before(template, 1));
        let this = self.hidden(template, SELF).map(|slot| &values.locals[slot]);
        let scope = Scope { values: &values, next: None, this, other: Some(&others.locals) };
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
        let mut walk = Walk {
            program,
            before: self.before(template, 0),
            id: self.hidden(template, ID),
            this: self.hidden(template, SELF),
            found: Vec::new(),
        };
        let start =
            Path { location, values: walk.before.clone(), guard: Vec::new(), notes: Notes::default() };
        for edge in &program.locations[location].edges {
            match edge.op {
                Op::AtomicBegin => walk.section(&start, edge)?,
                _ => {
                    if let Some(after) = walk.take(&start, edge)? {
                        walk.arrive(after, edge.span);
                    }
                }
            }
        }
        Ok(walk.found)
    }
}

/// The slots of variables.
fn known(variables: &[Variable]) -> Vec<Known> {
    let mut all: Vec<Known> = Vec::new();
    let mut names = HashSet::new();
    for variable in variables {
        for (slot, &initial) in (variable.slot..).zip(&variable.initial) {
            let mut name = slot_name(variables, slot);
            while !names.insert(name.clone()) {
                name.push('\'');
            }
            all.push(Known { name, ty: variable.ty, initial, hidden: false });
        }
    }
    all
}

/// A step, or part of one.
#[derive(Clone)]
struct Path {
    location: LocationId,
    values: Values,
    guard: Vec<Term>,
    notes: Notes,
}

struct Walk<'a> {
    program: &'a Program,
    before: Values,
    id: Option<usize>,
    this: Option<usize>,
    found: Vec<Transition>,
}

impl Walk<'_> {
    /// All ways through an atomic section.
    fn section(&mut self, start: &Path, begin: &Edge) -> Result<(), Unsupported> {
        let mut todo = vec![(Path { location: begin.to, ..start.clone() }, 0)];
        let mut ways = 0;
        while let Some((path, steps)) = todo.pop() {
            ways += 1;
            if ways > WAYS * 4 || steps > LONGEST || todo.len() > WAYS {
                return Err(Unsupported::new("an atomic section with too many ways through it", begin.span));
            }
            let edges = &self.program.locations[path.location].edges;
            if edges.is_empty() {
                self.arrive(path, begin.span);
                continue;
            }
            for edge in edges {
                match edge.op {
                    Op::AtomicEnd => self.arrive(Path { location: edge.to, ..path.clone() }, begin.span),
                    _ => {
                        let after = self.take(&path, edge)?;
                        let possible =
                            |path: &Path| !path.guard.iter().any(|part| part.as_truth() == Some(false));
                        todo.extend(after.filter(possible).map(|path| (path, steps + 1)));
                    }
                }
            }
        }
        Ok(())
    }

    /// Notes that a step can end here.
    fn arrive(&mut self, path: Path, span: Span) {
        let to = path.location;
        self.note(path, Some(to), Vec::new(), span);
    }

    fn note(&mut self, path: Path, to: Option<LocationId>, more: Vec<Term>, span: Span) {
        let bounds = path.notes.choices.iter().map(|(name, low, high)| {
            let choice = Term::variable(name);
            Term::and([Term::number(*low).at_most(&choice), choice.at_most(&Term::number(*high))])
        });
        let guard = Term::and(path.guard.into_iter().chain(more).chain(bounds));
        if guard.as_truth() == Some(false) {
            return;
        }
        let changed = |before: &[Term], after: &[Term]| -> Vec<(usize, Term)> {
            let pairs = before.iter().zip(after).enumerate();
            pairs
                .filter(|(_, (before, after))| before != after)
                .map(|(slot, (_, after))| (slot, after.clone()))
                .collect()
        };
        self.found.push(Transition {
            to,
            guard,
            choices: path.notes.choices.into_iter().map(|choice| choice.0).collect(),
            shared: changed(&self.before.shared, &path.values.shared),
            locals: changed(&self.before.locals, &path.values.locals),
            span,
        });
    }

    /// Goes along an edge that does not begin a section. What goes wrong on it is noted.
    fn take(&mut self, path: &Path, edge: &Edge) -> Result<Option<Path>, Unsupported> {
        let mut next = path.clone();
        let mut notes = path.notes.clone();
        let taken = self.act(path, edge, &mut next, &mut notes)?;
        let wrong = std::mem::take(&mut notes.wrong);
        if !wrong.is_empty() {
            let path = Path { notes: notes.clone(), ..path.clone() };
            self.note(path, None, vec![Term::or(wrong.iter().cloned())], edge.span);
        }
        next.guard.extend(wrong.iter().map(Term::negation));
        next.notes = notes;
        next.location = edge.to;
        Ok(taken.then_some(next))
    }

    fn act(&self, path: &Path, edge: &Edge, next: &mut Path, notes: &mut Notes) -> Result<bool, Unsupported> {
        let unsupported = |what| Err(Unsupported::new(what, edge.span));
        let this = self.this.map(|slot| &self.before.locals[slot]);
        let scope = Scope { values: &path.values, next: None, this, other: None };
        match &edge.op {
            Op::Skip | Op::AtomicBegin | Op::AtomicEnd => {}
            Op::Guard(expr, expected) => {
                let condition = truth(expr, &scope, notes)?;
                next.guard.push(if *expected { condition } else { condition.negation() });
            }
            Op::Assert(expr) => {
                let condition = truth(expr, &scope, notes)?;
                notes.goes_wrong(condition.negation());
            }
            Op::Error | Op::NoResult => {
                notes.goes_wrong(Term::truth(true));
                return Ok(false);
            }
            Op::Assign(places, exprs, constraint) => {
                let values: Vec<Term> =
                    exprs.iter().map(|expr| number(expr, &scope, notes)).collect::<Result<_, _>>()?;
                for (place, value) in places.iter().zip(&values) {
                    Walk::store(place, value, &scope, &mut next.values, notes)?;
                }
                if let Some(constraint) = constraint {
                    let after = next.values.clone();
                    let scope = Scope { next: Some(&after), ..scope };
                    next.guard.push(truth(constraint, &scope, notes)?);
                }
            }
            Op::Acquire(lock) => {
                let (slots, index) = Walk::lock(lock, &scope, notes)?;
                let holder = select(&path.values.shared, slots.0, slots.1, &index)?;
                next.guard.push(holder.equal(&Term::number(0)));
                let id = self.own_number(edge.span)?;
                put(&mut next.values.shared, slots, &index, &id)?;
            }
            Op::Release(lock) => {
                let (slots, index) = Walk::lock(lock, &scope, notes)?;
                let holder = select(&path.values.shared, slots.0, slots.1, &index)?;
                notes.goes_wrong(holder.equal(&self.own_number(edge.span)?).negation());
                put(&mut next.values.shared, slots, &index, &Term::number(0))?;
            }
            Op::Call(..) | Op::Return(_) => return unsupported("a procedure"),
            Op::Spawn(..) | Op::Fork(_) => return unsupported("threads that are started on the way"),
            Op::Wait(_) | Op::Broadcast(_) => return unsupported("an event"),
        }
        Ok(true)
    }

    fn own_number(&self, span: Span) -> Result<Term, Unsupported> {
        let id = self.id.map(|slot| self.before.locals[slot].clone());
        id.ok_or_else(|| Unsupported::new("a lock", span))
    }

    fn lock(
        lock: &LockPlace,
        scope: &Scope<'_>,
        notes: &mut Notes,
    ) -> Result<((usize, usize), Term), Unsupported> {
        Ok(match &lock.element {
            Some((length, index)) => ((lock.slot, *length), element(index, *length, scope, notes)?),
            None => ((lock.slot, 1), Term::number(0)),
        })
    }

    fn store(
        place: &Place,
        value: &Term,
        scope: &Scope<'_>,
        next: &mut Values,
        notes: &mut Notes,
    ) -> Result<(), Unsupported> {
        let (values, slots, index) = match &place.target {
            Target::Shared(slot) => (&mut next.shared, (*slot, 1), Term::number(0)),
            Target::Local(slot) => (&mut next.locals, (*slot, 1), Term::number(0)),
            Target::SharedElement(slot, length, index) => {
                (&mut next.shared, (*slot, *length), element(index, *length, scope, notes)?)
            }
            Target::LocalElement(slot, length, index) => {
                (&mut next.locals, (*slot, *length), element(index, *length, scope, notes)?)
            }
            Target::Others(_) => return Err(Unsupported::new("a write to other threads", place.span)),
        };
        let known = Known { name: String::new(), ty: place.ty, initial: None, hidden: false };
        let fits = known.typed(value);
        if fits.as_truth() != Some(true) {
            notes.goes_wrong(fits.negation());
        }
        put(values, slots, &index, value)
    }
}

/// Writes an element of an array, at an index that is inside.
fn put(
    values: &mut [Term],
    (slot, length): (usize, usize),
    index: &Term,
    value: &Term,
) -> Result<(), Unsupported> {
    let missing = || Unsupported::new("an array that is not there", Span::default());
    if length > MOST_ELEMENTS {
        return Err(Unsupported::new("an array of more than 64 elements", Span::default()));
    }
    let elements = values.get_mut(slot..slot + length).ok_or_else(missing)?;
    for (at, element) in elements.iter_mut().enumerate() {
        *element = Term::choice(&index.equal(&Term::number(at as i128)), value, element);
    }
    Ok(())
}
