//! May the threads of a system be renumbered?
//!
//! A proof that lists one state of all that come about by renumbering threads is a proof if renumbering turns steps into steps.
//! Here this is tested of a program and of what is said to be numbers of threads in it, by the program alone, with nothing of
//! what guessed it:
//!
//! 1. Numbers of threads are stored only where such numbers are held, of the same template and shifted alike; and nothing else
//!    is stored there but constants that are no numbers of threads.
//! 2. They are compared with each other for equality, and with constants only such that all of them compare alike; they are
//!    shifted by constants, and tell whose element of an array is meant. Nothing else is computed from them, and nothing asks for
//!    the element of a certain thread.
//! 3. Arrays with elements of threads have one for each, and all or none of these matter.
//! 4. Shared states say nothing else about threads, and there is one frame on each stack.
//!
//! Then whatever an expression is in a state, it is the same in the state with threads renumbered, or is renumbered with them: by
//! induction over the expression, since a number that is renumbered stays one of the numbers of threads, equal numbers stay
//! equal, others stay different, and all other values stay what they are. So a thread can do a step in one state if and only if
//! the thread that it becomes can do the renumbered step in the other, and one goes wrong if the other does.

use crate::Rejection;
use allways_model::encoding::Encoded;
use allways_model::program::numbers::{Held, Numbers, Of};
use allways_model::program::{
    Binary, Expr, LocationId, LockPlace, Op, Place, Program, Slot, Target, TemplateId, Type, Unary, Value,
    Variable,
};

/// Accepts what is said about numbers of threads in a system, or says where a thread does more with them.
pub fn check_numbers(encoded: &Encoded, numbers: &Numbers) -> Result<(), Rejection> {
    let program = &encoded.reduction().program;
    let rejected = |line: u32, why: &str| {
        Rejection::Malformed(format!("line {line}: threads cannot be renumbered, {why}"))
    };
    let counts = counts(encoded).map_err(|why| rejected(0, why))?;
    let check = Check { program, numbers, counts, at: None };
    check.variables(encoded).map_err(|(variable, why)| rejected(variable.span.line, why))?;
    for location in &program.locations {
        let body = |&template: &TemplateId| program.templates[template].body == location.procedure;
        let this = TemplateId::all(&program.templates).find(body);
        let check =
            Check { at: Some((location.procedure.index(), this)), counts: check.counts.clone(), ..check };
        for edge in &location.edges {
            check.step(&edge.op).map_err(|why| rejected(edge.span.line, why))?;
        }
    }
    for never in &encoded.program().never {
        check.condition(&never.expr).map_err(|why| rejected(never.span.line, why))?;
    }
    Ok(())
}

/// How many threads each template has, if all of them run from the start and are numbered from 0, template by template.
fn counts(encoded: &Encoded) -> Result<Vec<usize>, &'static str> {
    if encoded.names_threads() {
        return Err("since shared states name them in another way");
    }
    let templates = &encoded.program().templates;
    let mut counts = vec![0; templates.len()];
    let mut last = 0;
    for role in encoded.roles() {
        let count = &mut counts[role.template.index()];
        if role.pooled || role.many || role.this != *count as Value || role.template.index() < last {
            return Err("since they do not all run from the start");
        }
        *count += 1;
        last = role.template.index();
    }
    Ok(counts)
}

/// What an expression is.
#[derive(Clone, PartialEq, Eq)]
enum What {
    /// One of these constants.
    Among(Vec<Value>),
    /// Something that has nothing to do with threads.
    Plain,
    /// The number of a thread, or a constant that is none.
    Number(Of),
}

type Checked<T> = Result<T, &'static str>;

struct Check<'a> {
    program: &'a Program,
    numbers: &'a Numbers,
    counts: Vec<usize>,
    /// The procedure of the expression at hand, and whose threads run it.
    at: Option<(usize, Option<TemplateId>)>,
}

impl<'a> Check<'a> {
    /// The numbers of the threads of a template.
    fn range(&self, of: Of) -> Checked<std::ops::Range<Value>> {
        let count = *self.counts.get(of.template.index()).ok_or("since there is no such template")?;
        let end = of.first.checked_add(count as Value).ok_or("since their numbers are too large")?;
        Ok(of.first..end)
    }

    fn variables(&self, encoded: &Encoded) -> Result<(), (&'a Variable, &'static str)> {
        let program = self.program;
        let shared = &encoded.reduction().shared;
        if self.numbers.shared.len() != program.shared.len()
            || self.numbers.locals.len() != program.procedures.len()
        {
            return program.shared.first().map_or(Ok(()), |first| Err((first, "since it is not said how")));
        }
        for (variable, held) in program.shared.iter().zip(&self.numbers.shared) {
            let matter = [&shared[..]];
            self.variable(variable, held, &matter).map_err(|why| (variable, why))?;
        }
        for (number, (procedure, held)) in program.procedures.iter().zip(&self.numbers.locals).enumerate() {
            let here = LocationId::each(&program.locations)
                .filter(|(_, location)| location.procedure.index() == number)
                .map(|(location, _)| &encoded.reduction().live[location.index()][..]);
            let live: Vec<&[bool]> = here.collect();
            for (index, local) in procedure.locals.iter().enumerate() {
                let held = held.get(index).ok_or((local, "since it is not said how"))?;
                self.variable(local, held, &live).map_err(|why| (local, why))?;
            }
        }
        Ok(())
    }

    fn variable(&self, variable: &Variable, held: &Held, matters: &[&[bool]]) -> Checked<()> {
        if let Some(of) = held.value {
            self.range(of)?;
            if variable.ty == Type::Lock {
                return Err("since a lock holds no number");
            }
        }
        let Some(of) = held.index else { return Ok(()) };
        let range = self.range(of)?;
        let length = variable.length.ok_or("since this is no array")? as Value;
        if range.start < 0 || range.end > length {
            return Err("since not each of them has an element of this array");
        }
        let slots = variable.slot + range.start as usize..variable.slot + range.end as usize;
        let alike = |matters: &&[bool]| {
            let mut own = matters[slots.clone()].iter();
            own.next().is_none_or(|first| own.all(|other| other == first))
        };
        match matters.iter().all(alike) {
            true => Ok(()),
            false => Err("since the elements of some of them matter, and those of others do not"),
        }
    }

    fn step(&self, op: &Op) -> Checked<()> {
        match op {
            Op::Skip | Op::Error | Op::NoResult | Op::Beyond | Op::AtomicBegin | Op::AtomicEnd => Ok(()),
            Op::Assign(places, values, constraint) => {
                for (place, value) in places.iter().zip(values) {
                    self.store(place, value)?;
                }
                constraint.as_ref().map_or(Ok(()), |constraint| self.condition(constraint))
            }
            Op::Guard(condition, _) | Op::Assert(condition) => self.condition(condition),
            Op::Acquire(lock) | Op::Release(lock) => self.lock(lock),
            Op::Call(..)
            | Op::Return(_)
            | Op::Spawn(..)
            | Op::Fork(_)
            | Op::Wait(_)
            | Op::Broadcast(_)
            | Op::Signal(_) => Err("since this concerns more than one frame"),
        }
    }

    fn lock(&self, lock: &LockPlace) -> Checked<()> {
        match &lock.element {
            None => self.single(true, lock.slot).map(drop),
            Some((length, index)) => self.element(true, lock.slot, *length, index).map(drop),
        }
    }

    fn store(&self, place: &Place, value: &Expr) -> Checked<()> {
        let held = match &place.target {
            Target::Shared(slot) => self.single(true, *slot)?,
            Target::Local(slot) => self.single(false, *slot)?,
            Target::SharedElement(slot, length, index) => self.element(true, *slot, *length, index)?,
            Target::LocalElement(slot, length, index) => self.element(false, *slot, *length, index)?,
            Target::Others(_) => return Err("since this is a variable of others"),
        };
        if let Some(of) = held.value {
            let mut fit = self.range(of)?.map(|number| place.ty.contains(number));
            let first = fit.next();
            if !fit.all(|fits| Some(fits) == first) {
                return Err("since the numbers of some of them fit here, and those of others do not");
            }
        }
        self.fits(&self.what(value)?, held.value)
    }

    /// Whether a value may be where numbers are held, or are not.
    fn fits(&self, what: &What, held: Option<Of>) -> Checked<()> {
        match (what, held) {
            (What::Among(_) | What::Plain, None) => Ok(()),
            (What::Among(values), Some(of)) => {
                let range = self.range(of)?;
                match values.iter().any(|value| range.contains(value)) {
                    true => Err("since a certain one is meant here"),
                    false => Ok(()),
                }
            }
            (What::Number(of), Some(held)) if *of == held => Ok(()),
            _ => Err("since here a number is one of a thread, and there it is not"),
        }
    }

    /// The variables with the local ones of the procedure at hand, or the shared ones, and what they hold.
    fn group(&self, shared: bool) -> Checked<(&'a [Variable], &'a [Held])> {
        if shared {
            return Ok((&self.program.shared, &self.numbers.shared));
        }
        let (procedure, _) = self.at.ok_or("since this is no variable of a thread")?;
        Ok((&self.program.procedures[procedure].locals, &self.numbers.locals[procedure]))
    }

    /// What a variable holds that is no element, or the element of nobody.
    fn single(&self, shared: bool, slot: Slot) -> Checked<Held> {
        let (variables, held) = self.group(shared)?;
        for (variable, held) in variables.iter().zip(held) {
            if (variable.slot..variable.slot + variable.slots()).contains(&slot) {
                if let Some(of) = held.index
                    && self.range(of)?.contains(&((slot - variable.slot) as Value))
                {
                    return Err("since the element of a certain one is meant here");
                }
                return Ok(*held);
            }
        }
        Err("since there is no such variable")
    }

    fn element(&self, shared: bool, first: Slot, length: usize, index: &Expr) -> Checked<Held> {
        let (variables, held) = self.group(shared)?;
        let what = self.what(index)?;
        for (variable, held) in variables.iter().zip(held) {
            if variable.slot == first && variable.length == Some(length) {
                self.fits(&what, held.index)?;
                return Ok(*held);
            }
        }
        Err("since this is a part of an array")
    }

    /// An expression of which only matters whether it is 0.
    fn condition(&self, expr: &Expr) -> Checked<()> {
        match self.what(expr)? {
            What::Number(of) => self.fits(&What::Among(vec![0]), Some(of)),
            What::Among(_) | What::Plain => Ok(()),
        }
    }

    fn what(&self, expr: &Expr) -> Checked<What> {
        let held = |held: Held| held.value.map_or(What::Plain, What::Number);
        Ok(match expr {
            Expr::Constant(value) => What::Among(vec![*value]),
            Expr::Choose(..) | Expr::At(_) => What::Plain,
            Expr::This => {
                let template = self.at.and_then(|(_, this)| this).ok_or("since it is not said whose")?;
                What::Number(Of { template, first: 0 })
            }
            Expr::Shared(slot) | Expr::NextShared(slot) => {
                let is_lock = |variable: &&Variable| {
                    variable.ty == Type::Lock
                        && (variable.slot..variable.slot + variable.slots()).contains(slot)
                };
                if self.program.shared.iter().any(|variable| is_lock(&variable)) {
                    return Err("since a lock is read");
                }
                held(self.single(true, *slot)?)
            }
            Expr::Local(slot) | Expr::NextLocal(slot) => held(self.single(false, *slot)?),
            Expr::SharedElement(slot, length, index, _) => {
                let variables = self.program.shared.iter();
                if variables.clone().any(|variable| variable.slot == *slot && variable.ty == Type::Lock) {
                    return Err("since a lock is read");
                }
                held(self.element(true, *slot, *length, index)?)
            }
            Expr::LocalElement(slot, length, index, _) => held(self.element(false, *slot, *length, index)?),
            Expr::OtherLocal(_) | Expr::NextOtherLocal(_) => {
                return Err("since variables of others are read");
            }
            Expr::Unary(Unary::Not, part) => {
                self.condition(part)?;
                What::Plain
            }
            Expr::Unary(Unary::Minus, part) => self.plain(part)?,
            Expr::Unary(Unary::Wrap(machine), part) => match self.what(part)? {
                What::Number(of) => {
                    let (low, high) = machine.bounds();
                    match self.bounds(part) {
                        Some((least, most)) if low <= least.into() && i128::from(most) <= high => {
                            What::Number(of)
                        }
                        _ => return Err("since numbers may be cut off"),
                    }
                }
                What::Among(_) | What::Plain => What::Plain,
            },
            Expr::Binary(operator, left, right, _) => self.binary(*operator, left, right)?,
            Expr::If(condition, then, other) => {
                self.condition(condition)?;
                self.either(self.what(then)?, self.what(other)?)?
            }
        })
    }

    /// One of two values.
    fn either(&self, one: What, other: What) -> Checked<What> {
        Ok(match (one, other) {
            (What::Among(mut values), What::Among(more)) => {
                values.extend(more);
                What::Among(values)
            }
            (What::Number(of), other) | (other, What::Number(of)) => {
                self.fits(&other, Some(of))?;
                What::Number(of)
            }
            (What::Plain, What::Among(_) | What::Plain) | (What::Among(_), What::Plain) => What::Plain,
        })
    }

    fn plain(&self, expr: &Expr) -> Checked<What> {
        self.fits(&self.what(expr)?, None)?;
        Ok(What::Plain)
    }

    fn binary(&self, operator: Binary, left: &Expr, right: &Expr) -> Checked<What> {
        use Binary::{And, Equal, Greater, GreaterEqual, Less, LessEqual, Minus, Or, Plus, Unequal};
        let (one, other) = (self.what(left)?, self.what(right)?);
        match (operator, &one, &other) {
            (And | Or, ..) => {
                self.condition(left)?;
                self.condition(right)?;
                Ok(What::Plain)
            }
            (Equal | Unequal, ..) => self.either(one, other).map(|_| What::Plain),
            (Less | LessEqual | Greater | GreaterEqual, What::Number(of), What::Among(values))
            | (Less | LessEqual | Greater | GreaterEqual, What::Among(values), What::Number(of)) => {
                // Numbers follow each other: if none equals the constant or comes next to it, all are on one side.
                let range = self.range(*of)?;
                let apart = |value: &Value| *value < range.start || *value >= range.end;
                match values.iter().all(apart) {
                    true => Ok(What::Plain),
                    false => Err("since some of them compare otherwise than others"),
                }
            }
            (Plus, What::Number(of), What::Among(by)) | (Plus, What::Among(by), What::Number(of)) => {
                self.shifted(*of, by, 1)
            }
            (Minus, What::Number(of), What::Among(by)) => self.shifted(*of, by, -1),
            _ => {
                self.fits(&one, None)?;
                self.fits(&other, None)?;
                Ok(What::Plain)
            }
        }
    }

    fn shifted(&self, of: Of, by: &[Value], sign: Value) -> Checked<What> {
        let [by] = by else { return Err("since numbers are shifted in several ways") };
        let by = by.checked_mul(sign).ok_or("since numbers are shifted too far")?;
        let first = of.first.checked_add(by).ok_or("since numbers are shifted too far")?;
        let of = Of { first, ..of };
        self.range(of)?;
        Ok(What::Number(of))
    }

    /// The least and the greatest value of an expression that only shifts the number of the thread.
    fn bounds(&self, expr: &Expr) -> Option<(Value, Value)> {
        match expr {
            Expr::Constant(value) => Some((*value, *value)),
            Expr::This => {
                let (_, this) = self.at?;
                Some((0, self.counts[this?.index()] as Value - 1))
            }
            Expr::Binary(Binary::Plus, left, right, _) => {
                let ((low, high), (least, most)) = (self.bounds(left)?, self.bounds(right)?);
                Some((low.checked_add(least)?, high.checked_add(most)?))
            }
            Expr::Binary(Binary::Minus, left, right, _) => {
                let ((low, high), (least, most)) = (self.bounds(left)?, self.bounds(right)?);
                Some((low.checked_sub(most)?, high.checked_sub(least)?))
            }
            _ => None,
        }
    }
}
