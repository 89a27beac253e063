//! The checker's own translation of programs to formulas, line by line after
//! [`semantics`](allways_model::program::semantics) and [`Expr::value`].
//!
//! It is apart from that of whoever finds views, and made to be read beside the semantics: an expression becomes its value and
//! the condition under which it has none because something goes wrong; an edge becomes what it does to terms in place of
//! values. A choice is a new variable within bounds; so is what is computed in ways that formulas do not know. Numbers have no
//! end here. What has no formula is [`Unsupported`].

use super::names::{ID, Named, Names, SELF, local, typed};
use super::obligations::entry;
use allways_model::program::{
    Binary, Edge, Expr, LocationId, LockPlace, Op, Place, Program, Span, Target, TemplateId, Type, Unary,
};
use allways_smt::term::Node;
use allways_smt::{Function, Term};
use std::fmt;

/// A larger term than this is not worked with: parts are shared here, but written out for a solver.
const LARGEST: u64 = 1 << 14;

/// The most parts of ways through an atomic section.
const WAYS: usize = 1024;

/// What formulas cannot say: in words, with the line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported(String);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "views do not support {}", self.0)
    }
}

pub(super) fn unsupported<T>(what: &str, span: Span) -> Result<T, Unsupported> {
    Err(Unsupported(format!("{what} (line {})", span.line)))
}

/// What a step of the thread at position 0 can do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Where it leads; nowhere if it goes wrong.
    pub to: Option<LocationId>,
    /// When it can be taken; new variables in it, which start with `?`, are choices.
    pub condition: Term,
    /// The values of the shared variables afterwards, slot by slot.
    pub shared: Vec<Term>,
    /// The values of the local variables afterwards, slot by slot.
    pub locals: Vec<Term>,
    /// The line of the statement.
    pub line: u32,
}

/// All steps of a thread of a template that is at a location.
pub fn steps(program: &Program, names: &Names, location: LocationId) -> Result<Vec<Step>, Unsupported> {
    let Some(template) = names.templates[location.index()] else { return Ok(Vec::new()) };
    let start = Path {
        template: Some(template),
        location,
        shared: names.shared.iter().map(|variable| Term::variable(&variable.0)).collect(),
        locals: names.locals[template.index()]
            .iter()
            .map(|variable| Term::variable(&local(&variable.0, 0)))
            .collect(),
        // A thread that is started later waits at its entry.
        condition: match names.started[template.index()] {
            Some(slot) if entry(program, template) == location => started(names, slot),
            _ => Term::truth(true),
        },
        choices: 0,
    };
    let mut steps = Vec::new();
    for edge in &program.locations[location].edges {
        match edge.op {
            Op::AtomicBegin => atomic((program, names), &start, edge, &mut steps)?,
            _ => {
                let after = start.take((program, names), edge, &mut steps)?;
                steps.extend(after.map(|path| path.arrives(edge.span)));
            }
        }
    }
    Ok(steps)
}

/// All ways through an atomic section, as in `semantics::atomic`.
fn atomic(
    (program, names): (&Program, &Names),
    start: &Path,
    begin: &Edge,
    steps: &mut Vec<Step>,
) -> Result<(), Unsupported> {
    let mut todo = vec![Path { location: begin.to, ..start.clone() }];
    let mut ways = 0;
    while let Some(path) = todo.pop() {
        ways += 1;
        if ways > WAYS {
            return unsupported("an atomic section with too many ways through it", begin.span);
        }
        let edges = &program.locations[path.location].edges;
        if edges.is_empty() {
            steps.push(path.arrives(begin.span));
            continue;
        }
        for edge in edges {
            let after = path.take((program, names), edge, steps)?;
            match edge.op {
                Op::AtomicEnd => steps.extend(after.map(|path| path.arrives(begin.span))),
                _ => todo.extend(after.filter(|path| path.condition.as_truth() != Some(false))),
            }
        }
    }
    Ok(())
}

/// A step, or a part of one.
#[derive(Clone)]
struct Path {
    /// Whose step it is.
    template: Option<TemplateId>,
    location: LocationId,
    shared: Vec<Term>,
    locals: Vec<Term>,
    condition: Term,
    /// How many choices have been made.
    choices: usize,
}

/// The value of an expression, and when it has none.
struct Valued {
    value: Term,
    wrong: Term,
}

/// That a number is true.
fn nonzero(value: &Term) -> Term {
    match value.node() {
        Node::Choice(condition, then, other) => Term::or([
            Term::and([condition.clone(), nonzero(then)]),
            Term::and([condition.negation(), nonzero(other)]),
        ]),
        _ => value.equal(&Term::number(0)).negation(),
    }
}

/// A truth value as a number.
fn truth(condition: &Term) -> Term {
    Term::choice(condition, &Term::number(1), &Term::number(0))
}

impl Path {
    fn arrives(self, span: Span) -> Step {
        let Path { location, shared, locals, condition, .. } = self;
        Step { to: Some(location), condition, shared, locals, line: span.line }
    }

    /// Goes along an edge that is not the beginning of a section, as in `semantics::take`. Adds to `steps` how that goes wrong.
    fn take(
        &self,
        (program, names): (&Program, &Names),
        edge: &Edge,
        steps: &mut Vec<Step>,
    ) -> Result<Option<Path>, Unsupported> {
        let mut next = Path { location: edge.to, ..self.clone() };
        let long = (&names.long.0[..], self.template.map_or(&[][..], |of| &names.long.1[of.index()]));
        let types = (&names.shared[..], self.template.map_or(&[][..], |of| &names.locals[of.index()]));
        let mut evaluation =
            Evaluation { before: self, after: None, long, types, made: self.choices, bounds: Vec::new() };
        // Under these conditions the edge goes wrong, and otherwise can be taken.
        let (mut wrong, mut allowed) = (Term::truth(false), Term::truth(true));
        match &edge.op {
            Op::Skip | Op::AtomicBegin | Op::AtomicEnd => {}
            Op::Guard(expr, expected) => {
                let valued = evaluation.value(expr, edge.span)?;
                let holds = nonzero(&valued.value);
                (wrong, allowed) = (valued.wrong, if *expected { holds } else { holds.negation() });
            }
            Op::Assert(expr) => {
                let valued = evaluation.value(expr, edge.span)?;
                wrong = Term::or([valued.wrong, nonzero(&valued.value).negation()]);
            }
            // What is not followed must not be reached either.
            Op::Error | Op::NoResult | Op::Beyond => wrong = Term::truth(true),
            Op::Assign(places, exprs, constraint) => {
                let mut values = Vec::new();
                for expr in exprs {
                    let valued = evaluation.value(expr, edge.span)?;
                    wrong = Term::or([wrong, valued.wrong]);
                    values.push(valued.value);
                }
                for (place, value) in places.iter().zip(&values) {
                    let stored = evaluation.store(&mut next, place, value)?;
                    wrong = Term::or([wrong, stored]);
                }
                if let Some(constraint) = constraint {
                    let after = next.clone();
                    let mut later = Evaluation { after: Some(&after), ..evaluation };
                    let valued = later.value(constraint, edge.span)?;
                    wrong = Term::or([wrong, valued.wrong]);
                    allowed = nonzero(&valued.value);
                    let Evaluation { made, bounds, .. } = later;
                    evaluation = Evaluation { before: self, after: None, long, types, made, bounds };
                }
            }
            Op::Acquire(lock) => {
                let (index, outside) = evaluation.lock(lock)?;
                let holder = select(&self.shared, &index, lock.span)?;
                (wrong, allowed) = (outside, holder.equal(&Term::number(0)));
                put(&mut next.shared, &index, &own_number(), &|_| true, lock.span)?;
            }
            Op::Release(lock) => {
                let (index, outside) = evaluation.lock(lock)?;
                let holder = select(&self.shared, &index, lock.span)?;
                wrong = Term::or([outside, holder.equal(&own_number()).negation()]);
                put(&mut next.shared, &index, &Term::number(0), &|_| true, lock.span)?;
            }
            Op::Call(..) | Op::Return(_) => return unsupported("a procedure", edge.span),
            Op::Spawn(template, arguments) => {
                let body = &program.procedures[program.templates[*template].body];
                for (at, argument) in arguments.iter().enumerate() {
                    let valued = evaluation.value(argument, edge.span)?;
                    let fits = body.locals.get(at).map(|parameter| typed(parameter.ty, &valued.value));
                    let misfit = fits.map_or(Term::truth(false), |fits| fits.negation());
                    wrong = Term::or([wrong, valued.wrong, misfit]);
                }
                if let Some(slot) = names.started[template.index()] {
                    next.shared[slot] = Term::number(1);
                }
            }
            Op::Fork(_) => return unsupported("a thread that is a copy", edge.span),
            Op::Wait(_) | Op::Broadcast(_) | Op::Signal(_) => return unsupported("an event", edge.span),
        }
        let reached = Term::and([self.condition.clone()].into_iter().chain(evaluation.bounds));
        next.choices = evaluation.made;
        next.condition = Term::and([reached.clone(), wrong.negation(), allowed]);
        let goes_wrong = Term::and([reached, wrong]);
        let terms = next.shared.iter().chain(&next.locals).chain([&next.condition, &goes_wrong]);
        if terms.map(Term::size).any(|size| size > LARGEST) {
            return unsupported("an expression that becomes too large", edge.span);
        }
        if goes_wrong.as_truth() != Some(false) {
            let Path { shared, locals, .. } = self.clone();
            steps.push(Step { to: None, condition: goes_wrong, shared, locals, line: edge.span.line });
        }
        Ok(Some(next).filter(|next| next.condition.as_truth() != Some(false)))
    }
}

/// That a thread was started.
fn started(names: &Names, slot: usize) -> Term {
    Term::variable(&names.shared[slot].0).equal(&Term::number(1))
}

fn own_number() -> Term {
    Term::variable(&local(ID, 0))
}

/// An element of an array: its first slot, its length, and the index, which is inside.
struct Index {
    slot: usize,
    length: usize,
    index: Term,
}

fn elements(all: usize, index: &Index, span: Span) -> Result<std::ops::Range<usize>, Unsupported> {
    let end = index.slot.checked_add(index.length).filter(|&end| end <= all);
    match end {
        Some(end) => Ok(index.slot..end),
        None => unsupported("a variable that is not there", span),
    }
}

fn select(values: &[Term], index: &Index, span: Span) -> Result<Term, Unsupported> {
    let elements = elements(values.len(), index, span)?.enumerate();
    let choose = |otherwise: Term, (at, slot): (usize, usize)| {
        Term::choice(&index.index.equal(&Term::number(at as i128)), &values[slot], &otherwise)
    };
    Ok(elements.fold(Term::number(0), choose))
}

fn put(
    values: &mut [Term],
    index: &Index,
    value: &Term,
    kept: &dyn Fn(usize) -> bool,
    span: Span,
) -> Result<(), Unsupported> {
    for (at, slot) in elements(values.len(), index, span)?.enumerate().filter(|(_, slot)| kept(*slot)) {
        values[slot] = Term::choice(&index.index.equal(&Term::number(at as i128)), value, &values[slot]);
    }
    Ok(())
}

/// Evaluates expressions of one edge, one after another.
struct Evaluation<'a> {
    before: &'a Path,
    /// The values after the assignment, in its constraint.
    after: Option<&'a Path>,
    /// Which slots, shared and local, are parts of long arrays, and what they all are.
    long: (&'a [bool], &'a [bool]),
    types: (&'a [Named], &'a [Named]),
    /// How many choices have been made.
    made: usize,
    /// What is true of those that were made here.
    bounds: Vec<Term>,
}

impl Evaluation<'_> {
    /// As `Expr::value`.
    fn value(&mut self, expr: &Expr, span: Span) -> Result<Valued, Unsupported> {
        let fine = |value: Term| Valued { value, wrong: Term::truth(false) };
        let slot = |values: &[Term], slot: usize| match values.get(slot) {
            Some(value) => Ok(fine(value.clone())),
            None => unsupported("a variable that is not there", span),
        };
        let after = self.after.unwrap_or(self.before);
        let valued = match expr {
            Expr::Constant(value) => fine(Term::number(*value)),
            Expr::Shared(at) | Expr::NextShared(at) if self.is_long(true, *at, 1) => {
                fine(self.held(true, *at, 1, span)?)
            }
            Expr::Local(at) | Expr::NextLocal(at) if self.is_long(false, *at, 1) => {
                fine(self.held(false, *at, 1, span)?)
            }
            Expr::Shared(at) => slot(&self.before.shared, *at)?,
            Expr::Local(at) => slot(&self.before.locals, *at)?,
            Expr::NextShared(at) => slot(&after.shared, *at)?,
            Expr::NextLocal(at) => slot(&after.locals, *at)?,
            Expr::SharedElement(slot, length, index, span) => {
                let (index, wrong) = self.element((*slot, *length), index, *span)?;
                let value = match self.is_long(true, *slot, *length) {
                    true => self.held(true, *slot, *length, *span)?,
                    false => select(&self.before.shared, &index, *span)?,
                };
                Valued { value, wrong }
            }
            Expr::LocalElement(slot, length, index, span) => {
                let (index, wrong) = self.element((*slot, *length), index, *span)?;
                let value = match self.is_long(false, *slot, *length) {
                    true => self.held(false, *slot, *length, *span)?,
                    false => select(&self.before.locals, &index, *span)?,
                };
                Valued { value, wrong }
            }
            Expr::This => fine(Term::variable(&local(SELF, 0))),
            Expr::Choose(low, high) => {
                fine(self.between(i128::from(*low), i128::from(*low).max((*high).into())))
            }
            Expr::OtherLocal(_) | Expr::NextOtherLocal(_) | Expr::At(_) => {
                return unsupported("`at` in arithmetic", span);
            }
            Expr::Unary(operator, operand) => {
                let Valued { value, wrong } = self.value(operand, span)?;
                let value = match operator {
                    Unary::Not => truth(&nonzero(&value).negation()),
                    Unary::Minus => value.times(-1),
                    Unary::Wrap(machine) => {
                        let (low, high) = machine.bounds();
                        let from_low = value.minus(&Term::number(low));
                        from_low.remainder(high - low + 1).plus(&Term::number(low))
                    }
                };
                Valued { value, wrong }
            }
            Expr::Binary(operator @ (Binary::And | Binary::Or), left, right, span) => {
                // The right one is evaluated only if the left one does not decide.
                let (left, right) = (self.value(left, *span)?, self.value(right, *span)?);
                let holds = nonzero(&left.value);
                let (value, goes_on) = match operator {
                    Binary::And => (Term::choice(&holds, &right.value, &Term::number(0)), holds),
                    _ => (Term::choice(&holds, &Term::number(1), &right.value), holds.negation()),
                };
                Valued { value, wrong: Term::or([left.wrong, Term::and([goes_on, right.wrong])]) }
            }
            Expr::Binary(Binary::Plus, left, right, _)
                if **left == Expr::Constant(i64::MAX) && **right == Expr::Constant(1) =>
            {
                // The least number beyond 64 bits, by which programs say that they are not followed.
                Valued { value: Term::number(1_i128 << 63), wrong: Term::truth(true) }
            }
            Expr::Binary(operator, left, right, span) => {
                let (left, right) = (self.value(left, *span)?, self.value(right, *span)?);
                let (value, wrong) = apply(*operator, &left.value, &right.value, *span)?;
                Valued { value, wrong: Term::or([left.wrong, right.wrong, wrong]) }
            }
            Expr::If(condition, then, other) => {
                let condition = self.value(condition, span)?;
                let (then, other) = (self.value(then, span)?, self.value(other, span)?);
                let holds = nonzero(&condition.value);
                let wrong = [
                    condition.wrong,
                    Term::and([holds.clone(), then.wrong]),
                    Term::and([holds.negation(), other.wrong]),
                ];
                Valued { value: Term::choice(&holds, &then.value, &other.value), wrong: Term::or(wrong) }
            }
        };
        if valued.value.size().max(valued.wrong.size()) > LARGEST {
            return unsupported("an expression that becomes too large", span);
        }
        Ok(valued)
    }

    /// A new choice between two numbers.
    fn between(&mut self, low: i128, high: i128) -> Term {
        let choice = Term::variable(&format!("?{}", self.made));
        self.made += 1;
        self.bounds
            .push(Term::and([Term::number(low).at_most(&choice), choice.at_most(&Term::number(high))]));
        choice
    }

    /// A value that one of some variables, shared or local, may have.
    fn held(&mut self, shared: bool, first: usize, length: usize, span: Span) -> Result<Term, Unsupported> {
        let types = if shared { self.types.0 } else { self.types.1 };
        let Some(types) = first.checked_add(length).and_then(|end| types.get(first..end)) else {
            return unsupported("a variable that is not there", span);
        };
        let mut hull: Option<(i128, i128)> = None;
        for (_, ty, _) in types {
            let (low, high) = match ty {
                Type::Lock => return unsupported("a lock beside a long array", span),
                // As far as programs are followed.
                Type::Int => (-(1_i128 << 126), 1 << 126),
                Type::Bool => (0, 1),
                Type::Range(low, high) => (i128::from(*low), i128::from(*high)),
            };
            hull = Some(hull.map_or((low, high), |(least, most)| (least.min(low), most.max(high))));
        }
        let (low, high) = hull.unwrap_or((0, 0));
        Ok(self.between(low, high))
    }

    /// Whether one of some slots is part of a long array.
    fn is_long(&self, shared: bool, first: usize, length: usize) -> bool {
        let long = if shared { self.long.0 } else { self.long.1 };
        long.iter().skip(first).take(length).any(|&long| long)
    }

    /// As `element`: an index, and when it is not one of its array.
    fn element(
        &mut self,
        (slot, length): (usize, usize),
        index: &Expr,
        span: Span,
    ) -> Result<(Index, Term), Unsupported> {
        let Valued { value, wrong } = self.value(index, span)?;
        let inside = Term::and([Term::number(0).at_most(&value), value.less(&Term::number(length as i128))]);
        Ok((Index { slot, length, index: value }, Term::or([wrong, inside.negation()])))
    }

    fn lock(&mut self, lock: &LockPlace) -> Result<(Index, Term), Unsupported> {
        if self.is_long(true, lock.slot, lock.element.as_ref().map_or(1, |(length, _)| *length)) {
            return unsupported("a lock in a long array", lock.span);
        }
        match &lock.element {
            Some((length, index)) => self.element((lock.slot, *length), index, lock.span),
            None => Ok((Index { slot: lock.slot, length: 1, index: Term::number(0) }, Term::truth(false))),
        }
    }

    /// As `store`, for one place. When that goes wrong.
    fn store(&mut self, next: &mut Path, place: &Place, value: &Term) -> Result<Term, Unsupported> {
        let plain =
            |slot: &usize| (Index { slot: *slot, length: 1, index: Term::number(0) }, Term::truth(false));
        let (shared, (index, outside)) = match &place.target {
            Target::Shared(slot) => (true, plain(slot)),
            Target::Local(slot) => (false, plain(slot)),
            Target::SharedElement(slot, length, index) => {
                (true, self.element((*slot, *length), index, place.span)?)
            }
            Target::LocalElement(slot, length, index) => {
                (false, self.element((*slot, *length), index, place.span)?)
            }
            Target::Others(_) => return unsupported("a write to other threads", place.span),
        };
        // What long arrays hold is not known, before and after.
        let (long, values) =
            if shared { (self.long.0, &mut next.shared) } else { (self.long.1, &mut next.locals) };
        let kept = |slot: usize| !long.get(slot).copied().unwrap_or(false);
        put(values, &index, value, &kept, place.span)?;
        Ok(Term::or([outside, typed(place.ty, value).negation()]))
    }
}

/// As `expression::apply`: the value, and when there is none because something goes wrong or is not followed.
fn apply(operator: Binary, left: &Term, right: &Term, span: Span) -> Result<(Term, Term), Unsupported> {
    let fine = Term::truth(false);
    let value = match operator {
        Binary::Equal => truth(&left.equal(right)),
        Binary::Unequal => truth(&left.equal(right).negation()),
        Binary::Less => truth(&left.less(right)),
        Binary::LessEqual => truth(&left.at_most(right)),
        Binary::Greater => truth(&right.less(left)),
        Binary::GreaterEqual => truth(&right.at_most(left)),
        Binary::Plus => left.plus(right),
        Binary::Minus => left.minus(right),
        Binary::Times => Term::of(Function::Product, left, right),
        Binary::Divide | Binary::Remainder => {
            let Some(divisor) = right.as_number() else {
                let function = match operator {
                    Binary::Divide => Function::Quotient,
                    _ => Function::Remainder,
                };
                return Ok((Term::of(function, left, right), right.equal(&Term::number(0))));
            };
            if divisor == 0 {
                return Ok((Term::number(0), Term::truth(true)));
            }
            // Programs round towards zero, terms round down: so divide what is not negative.
            let (size, negative) = (divisor.saturating_abs(), left.less(&Term::number(0)));
            let magnitude = Term::choice(&negative, &left.times(-1), left);
            let (part, turned) = match operator {
                Binary::Divide => (magnitude.quotient(size), (divisor < 0)),
                _ => (magnitude.remainder(size), false),
            };
            let (same, opposite) =
                if turned { (part.times(-1), part) } else { (part.clone(), part.times(-1)) };
            Term::choice(&negative, &opposite, &same)
        }
        Binary::ShiftLeft | Binary::ShiftRight => {
            // Terms round down, as a shift does.
            let shifted = |distance: i128| match operator {
                Binary::ShiftLeft => left.times(1 << distance),
                _ => left.quotient(1 << distance),
            };
            let function = match operator {
                Binary::ShiftLeft => Function::ShiftLeft,
                _ => Function::ShiftRight,
            };
            let distance = right.as_number().filter(|distance| (0..=63).contains(distance));
            let value = distance.map_or_else(|| Term::of(function, left, right), shifted);
            let outside = Term::or([right.less(&Term::number(0)), Term::number(64).at_most(right)]);
            return Ok((value, outside));
        }
        Binary::BitAnd => {
            // The lowest bits, also of a negative number, are what is left of it by a power of two.
            let lowest = |term: &Term, mask: &Term| {
                let power = mask.as_number()?.checked_add(1)?;
                (power > 0 && power.count_ones() == 1).then(|| term.remainder(power))
            };
            let lowest = lowest(left, right).or_else(|| lowest(right, left));
            lowest.unwrap_or_else(|| Term::of(Function::And, left, right))
        }
        Binary::BitOr => Term::of(Function::Or, left, right),
        Binary::BitXor => Term::of(Function::Xor, left, right),
        Binary::And | Binary::Or => return unsupported("`&&` or `||` of both sides", span),
    };
    Ok((value, fine))
}

/// The value of a property that counts no threads, and when it has none, over shared variables and choices from this number on.
pub fn property(
    names: &Names,
    expr: &Expr,
    span: Span,
    made: &mut usize,
) -> Result<(Term, Term, Term), Unsupported> {
    let mut own = false;
    expr.visit(&mut |part| own |= matches!(part, Expr::This));
    if own {
        return unsupported("`self` here", span);
    }
    let shared = names.shared.iter().map(|variable| Term::variable(&variable.0)).collect();
    let state = Path {
        template: None,
        location: LocationId(0),
        shared,
        locals: Vec::new(),
        condition: Term::truth(true),
        choices: *made,
    };
    let (long, types) = ((&names.long.0[..], &[][..]), (&names.shared[..], &[][..]));
    let mut evaluation =
        Evaluation { before: &state, after: None, long, types, made: *made, bounds: Vec::new() };
    let Valued { value, wrong } = evaluation.value(expr, span)?;
    *made = evaluation.made;
    Ok((nonzero(&value), wrong, Term::and(evaluation.bounds)))
}
