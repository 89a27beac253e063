//! The ways along which a thread can take a step from a location, with what holds on them.
//!
//! The same meaning as `take` and `atomic` in [`semantics`](allways_model::program::semantics), with terms in place of values. A
//! way has a guard; where something can go wrong on it, that is a way of its own, and the guard of what follows excludes it.

use super::expressions::{Notes, Scope, Values, bounded, element, forgotten, number, select, truth};
use super::steps::{Known, Transition, Unsupported};
use allways_model::program::{Edge, LocationId, LockPlace, Op, Place, Program, Span, Target, Type};
use allways_smt::Term;

/// The most ways through an atomic section, and steps on each.
const WAYS: usize = 256;
const LONGEST: usize = 256;

/// A step, or part of one.
#[derive(Clone)]
struct Path {
    location: LocationId,
    values: Values,
    guard: Vec<Term>,
    notes: Notes,
}

/// The slots of hidden variables, where there are any.
pub(super) struct Hidden {
    /// Of a thread's own number.
    pub(super) id: Option<usize>,
    /// Of `self`.
    pub(super) this: Option<usize>,
}

/// The steps that a thread at a location can take, from these values of its variables, if a condition holds; which shared slots say
/// that threads have been started.
pub(super) fn ways(
    program: &Program,
    location: LocationId,
    before: Values,
    hidden: Hidden,
    known: (&[Known], &[Known]),
    (started, waits): (&[Option<usize>], Option<Term>),
) -> Result<Vec<Transition>, Unsupported> {
    let guard = waits.into_iter().collect();
    let start = Path { location, values: before.clone(), guard, notes: Notes::default() };
    let mut walk = Walk { program, before, hidden, known, started, found: Vec::new() };
    for edge in &program.locations[location].edges {
        let placed = |unsupported: Unsupported| match unsupported.span.line {
            0 => Unsupported { span: edge.span, ..unsupported },
            _ => unsupported,
        };
        match edge.op {
            Op::AtomicBegin => walk.section(&start, edge).map_err(placed)?,
            _ => {
                if let Some(after) = walk.take(&start, edge).map_err(placed)? {
                    walk.arrive(after, edge.span);
                }
            }
        }
    }
    Ok(walk.found)
}

struct Walk<'a> {
    program: &'a Program,
    before: Values,
    hidden: Hidden,
    known: (&'a [Known], &'a [Known]),
    started: &'a [Option<usize>],
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
        let terms =
            next.values.shared.iter().chain(&next.values.locals).chain(&next.guard).chain(&notes.wrong);
        terms.cloned().try_for_each(|term| bounded(term).map(drop))?;
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
        let this = self.hidden.this.map(|slot| &self.before.locals[slot]);
        let scope = Scope { values: &path.values, known: self.known, next: None, this, other: None };
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
            Op::Error | Op::NoResult | Op::Beyond => {
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
                    if constraint.is_about_others() {
                        let what = "a constraint on other threads";
                        return Err(Unsupported::new(what, edge.span));
                    }
                    let after = next.values.clone();
                    let scope = Scope { next: Some(&after), ..scope };
                    next.guard.push(truth(constraint, &scope, notes)?);
                }
            }
            Op::Acquire(lock) => {
                let (slots, index) = self.lock(lock, &scope, notes)?;
                let holder = select(&path.values.shared, slots.0, slots.1, &index)?;
                next.guard.push(holder.equal(&Term::number(0)));
                let id = self.own_number(edge.span)?;
                put(self.known.0, &mut next.values.shared, slots, &index, &id)?;
            }
            Op::Release(lock) => {
                let (slots, index) = self.lock(lock, &scope, notes)?;
                let holder = select(&path.values.shared, slots.0, slots.1, &index)?;
                notes.goes_wrong(holder.equal(&self.own_number(edge.span)?).negation());
                put(self.known.0, &mut next.values.shared, slots, &index, &Term::number(0))?;
            }
            Op::Call(..) | Op::Return(_) => return unsupported("a procedure"),
            Op::Spawn(template, arguments) => {
                let body = &self.program.procedures[self.program.templates[*template].body];
                for (parameter, argument) in body.locals.iter().zip(arguments) {
                    let value = number(argument, &scope, notes)?;
                    must_fit(parameter.ty, &value, notes);
                }
                if let Some(slot) = self.started[template.index()] {
                    next.values.shared[slot] = Term::number(1);
                }
            }
            Op::Fork(_) => return unsupported("a thread that is a copy"),
            Op::Wait(_) | Op::Broadcast(_) | Op::Signal(_) => return unsupported("an event"),
        }
        Ok(true)
    }

    fn own_number(&self, span: Span) -> Result<Term, Unsupported> {
        let id = self.hidden.id.map(|slot| self.before.locals[slot].clone());
        id.ok_or_else(|| Unsupported::new("a lock", span))
    }

    fn lock(
        &self,
        lock: &LockPlace,
        scope: &Scope<'_>,
        notes: &mut Notes,
    ) -> Result<((usize, usize), Term), Unsupported> {
        let length = lock.element.as_ref().map_or(1, |(length, _)| *length);
        if (lock.slot..lock.slot + length).any(|slot| forgotten(self.known.0, slot)) {
            return Err(Unsupported::new("a lock in a long array", lock.span));
        }
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
        let (shared, locals) = scope.known;
        let (known, values, slots, index) = match &place.target {
            Target::Shared(slot) => (shared, &mut next.shared, (*slot, 1), Term::number(0)),
            Target::Local(slot) => (locals, &mut next.locals, (*slot, 1), Term::number(0)),
            Target::SharedElement(slot, length, index) => {
                (shared, &mut next.shared, (*slot, *length), element(index, *length, scope, notes)?)
            }
            Target::LocalElement(slot, length, index) => {
                (locals, &mut next.locals, (*slot, *length), element(index, *length, scope, notes)?)
            }
            Target::Others(_) => return Err(Unsupported::new("a write to other threads", place.span)),
        };
        must_fit(place.ty, value, notes);
        put(known, values, slots, &index, value)
    }
}

/// It goes wrong to store a value where it does not fit.
fn must_fit(ty: Type, value: &Term, notes: &mut Notes) {
    let known = Known { name: String::new(), ty, initial: None, hidden: false, forgotten: false };
    let fits = known.typed(value);
    if fits.as_truth() != Some(true) {
        notes.goes_wrong(fits.negation());
    }
}

/// Writes an element of an array, at an index that is inside.
fn put(
    known: &[Known],
    values: &mut [Term],
    (slot, length): (usize, usize),
    index: &Term,
    value: &Term,
) -> Result<(), Unsupported> {
    let missing = || Unsupported::new("an array that is not there", Span::default());
    let elements = values.get_mut(slot..slot + length).ok_or_else(missing)?;
    let elements = elements.iter_mut().enumerate().filter(|(at, _)| !forgotten(known, slot + at));
    for (at, element) in elements {
        *element = Term::choice(&index.equal(&Term::number(at as i128)), value, element);
    }
    Ok(())
}
