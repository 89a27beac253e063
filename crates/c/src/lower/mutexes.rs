//! Mutexes: plain ones, those that one thread may take several times, and those that check for errors.
//!
//! A mutex is one number. A plain one is 0 or, if somebody holds it, 1; 2 is one that was destroyed. A recursive one is
//! [`RECURSIVE`], and while it is held the number of its owner and how often that has taken it are added; so with one that checks for
//! errors and [`CHECKING`]. Which of these a mutex is, is known when the program runs: attributes are objects. A program that has
//! plain mutexes only is not asked.
//!
//! Who is one of any number of threads, or in a function that calls itself, cannot tell whether it is the owner: what it does
//! to a mutex that is not plain is not followed.

use super::expressions::not;
use super::layout::beyond;
use super::places::{Target, binary};
use super::synchronisation::busy_code;
use super::{Lowering, Model, Result, refuse};
use crate::slots::{self, Kind};
use crate::typed::{Expr, ExprKind, Initial, StmtKind, Type, Unit};
use crate::walk;
use allways_model::program::{Binary as Operator, Op, Span, Value};

/// What a mutex holds that was destroyed.
const DESTROYED: Value = 2;

/// A recursive mutex that nobody holds.
pub const RECURSIVE: Value = 1 << 28;

/// One that checks for errors.
pub const CHECKING: Value = 1 << 29;

/// The owner is counted in these; how often it has taken the mutex is less.
const OWNER: Value = 1 << 8;

/// The errors that a mutex reports which is not plain: the caller does not hold it, or holds it already.
const EPERM: Value = 1;
const EDEADLK: Value = 35;

fn equals(left: &Model, right: Value) -> Model {
    binary(Operator::Equal, left.clone(), Model::Constant(right))
}

fn either(left: Model, right: Model) -> Model {
    binary(Operator::Or, left, right)
}

fn choose(condition: Model, yes: Model, no: Model) -> Model {
    Model::If(Box::new(condition), Box::new(yes), Box::new(no))
}

/// What the thread that asks can tell of a mutex.
struct Seen {
    found: Model,
    /// The number that it adds as the owner; 0, which nobody is, if that is not known.
    owner: Value,
}

impl Seen {
    fn is_free(&self) -> Model {
        let special = either(equals(&self.found, RECURSIVE), equals(&self.found, CHECKING));
        either(equals(&self.found, 0), special)
    }

    /// Whether it is recursive and the caller's.
    fn is_own(&self) -> Model {
        let least = RECURSIVE + self.owner * OWNER;
        let from = binary(Operator::Greater, self.found.clone(), Model::Constant(least));
        let to = binary(Operator::Less, self.found.clone(), Model::Constant(least + OWNER));
        binary(Operator::And, from, to)
    }

    /// Whether it checks for errors and is the caller's.
    fn is_checked(&self) -> Model {
        equals(&self.found, CHECKING + self.owner * OWNER + 1)
    }

    /// Whether it is recursive and was taken as often as can be counted.
    fn is_full(&self) -> Model {
        equals(&self.found, RECURSIVE + self.owner * OWNER + OWNER - 1)
    }

    /// A value, if this thread can tell what happens to the mutex; otherwise nothing is followed.
    fn if_clear(&self, value: Model) -> Model {
        let clear = match self.owner {
            0 => self.is_plain(),
            _ => not(self.is_full()),
        };
        choose(clear, value, beyond())
    }

    /// What a mutex that is free, or is recursive and the caller's, becomes when it is taken.
    fn taken(&self) -> Model {
        let first = Model::Constant(self.owner * OWNER + 1);
        let more = binary(Operator::Plus, self.found.clone(), Model::Constant(1));
        let first = choose(
            equals(&self.found, 0),
            Model::Constant(1),
            binary(Operator::Plus, self.found.clone(), first),
        );
        choose(self.is_own(), more, first)
    }

    /// What a mutex becomes when it is given back.
    fn given_back(&self) -> Model {
        let once = RECURSIVE + self.owner * OWNER + 1;
        let less = binary(Operator::Minus, self.found.clone(), Model::Constant(1));
        let own = choose(equals(&self.found, once), Model::Constant(RECURSIVE), less);
        let other = choose(self.is_plain(), Model::Constant(0), self.found.clone());
        choose(self.is_own(), own, choose(self.is_checked(), Model::Constant(CHECKING), other))
    }

    fn is_plain(&self) -> Model {
        binary(Operator::Less, self.found.clone(), Model::Constant(RECURSIVE))
    }
}

/// Whether a program has mutexes that are not plain.
pub(super) fn has_kinds(unit: &Unit) -> bool {
    let mut found = unit.variables.iter().any(|variable| initialised(unit, &variable.ty, &variable.initial));
    for function in &unit.functions {
        let body = function.body.as_deref().unwrap_or_default();
        let mut see = |expr: &Expr| {
            if let ExprKind::Call(callee, arguments) = &expr.kind
                && let ExprKind::Function(called) = callee.kind
            {
                let plain: &[i128] = match &*unit.functions[called.0].name {
                    "pthread_mutexattr_settype" => &[0, 3],
                    "mtx_init" => &[0, 2],
                    _ => return,
                };
                found |= !arguments.get(1).is_some_and(|ty| match walk::through_casts(ty).kind {
                    ExprKind::Int(value) => plain.contains(&value),
                    _ => false,
                });
            }
        };
        walk::statements(body, &mut see);
        walk::each_statement(body, &mut |stmt| {
            if let StmtKind::Declare(variable, Some(initial)) = &stmt.kind {
                found |= initialised(unit, &unit.variables[variable.0].ty, initial);
            }
        });
    }
    found
}

/// Whether an initialiser makes a mutex that is not plain.
fn initialised(unit: &Unit, ty: &Type, initial: &[Initial]) -> bool {
    initial
        .iter()
        .any(|one| matches!(one.value.kind, ExprKind::Int(1 | 2)) && kind_part(unit, ty, &one.path).is_some())
}

/// The slot of the mutex of whose kind a part of a type speaks.
pub(super) fn kind_part(unit: &Unit, ty: &Type, path: &[u64]) -> Option<usize> {
    let (&first, rest) = path.split_first()?;
    let first = usize::try_from(first).ok()?;
    match ty.plain() {
        Type::Array(element, _) => {
            let before = first.checked_mul(slots::count(unit, element)?)?;
            Some(before + kind_part(unit, element, rest)?)
        }
        Type::Record(record) if slots::opaque(unit, *record).is_some() => {
            let is_mutex = unit.records[record.0].name.contains("mutex");
            (is_mutex && ends_in_kind(unit, ty, path)).then_some(0)
        }
        Type::Record(record) => {
            let field = unit.records[record.0].fields.get(first)?;
            Some(slots::field(unit, *record, first)? + kind_part(unit, &field.ty, rest)?)
        }
        _ => None,
    }
}

/// Whether a part is the member that says of which kind a mutex is.
fn ends_in_kind(unit: &Unit, ty: &Type, path: &[u64]) -> bool {
    let (Some((&first, rest)), Type::Record(record)) = (path.split_first(), ty.plain()) else { return false };
    let fields = &unit.records[record.0].fields;
    let Some(field) = usize::try_from(first).ok().and_then(|first| fields.get(first)) else { return false };
    if rest.is_empty() { field.name.ends_with("kind") } else { ends_in_kind(unit, &field.ty, rest) }
}

/// What a mutex is that starts with a number that says of which kind it is.
pub(super) fn of_kind(kind: i128) -> Option<Value> {
    Some(match kind {
        0 | 3 => 0,
        1 => RECURSIVE,
        2 => CHECKING,
        _ => return None,
    })
}

/// The same, for a number that is known when the program runs.
fn of_any_kind(kind: &Model) -> Model {
    let other = choose(either(equals(kind, 0), equals(kind, 3)), Model::Constant(0), beyond());
    let checking = choose(equals(kind, 2), Model::Constant(CHECKING), other);
    choose(equals(kind, 1), Model::Constant(RECURSIVE), checking)
}

/// Whether a function is one of mutexes or spin locks.
fn is_function(name: &str) -> bool {
    ["pthread_mutex_", "pthread_spin_", "mtx_"].iter().any(|start| name.starts_with(start))
}

impl Lowering<'_> {
    /// The number by which the thread whose body this is owns a mutex.
    pub(super) fn owner(&self) -> Option<Value> {
        match self.body.thread {
            _ if self.body.many || self.body.is_procedure => None,
            Some(thread) => Some(thread as Value + 2),
            None if self.body.number == 0 => Some(1),
            None => None,
        }
        .filter(|&owner| owner < (CHECKING - RECURSIVE) / OWNER)
    }

    /// What this thread can tell of a mutex.
    fn see(&self, place: &Target, span: Span) -> Seen {
        Seen { found: self.load(place, span), owner: self.owner().unwrap_or_default() }
    }

    /// What happens to a mutex that was destroyed is not followed.
    fn expect_there(&mut self, place: &Target, span: Span) {
        if self.destroys {
            let (here, gone) = (self.here, self.location(span));
            self.edge(here, Op::Guard(equals(&self.load(place, span), DESTROYED), true), gone, span);
            self.edge(gone, Op::Beyond, gone, span);
        }
    }

    /// A function of mutexes or spin locks, or one of their attributes: its result. `None` if it is another function.
    pub(super) fn mutex(&mut self, name: &str, arguments: &[Expr], span: Span) -> Result<Option<Vec<Model>>> {
        let Some(object) = arguments.first() else { return Ok(None) };
        let done = Ok(Some(vec![Model::Constant(0)]));
        if !matches!(name, "pthread_mutex_destroy" | "mtx_destroy") && is_function(name) {
            self.uses_mutex(span)?;
        }
        match name {
            "pthread_mutexattr_init" | "pthread_mutexattr_settype" => {
                if self.kinds {
                    let kind = match (name, arguments.get(1)) {
                        ("pthread_mutexattr_init", _) => Model::Constant(0),
                        (_, Some(kind)) => {
                            let kind = self.value(kind)?;
                            of_any_kind(&self.kept(kind, span)?)
                        }
                        _ => return refuse(span, format!("`{name}` without a kind")),
                    };
                    let place = self.target_of(object)?;
                    self.specially(&place, Kind::Library);
                    self.store(&place, kind, span)?;
                }
                done
            }
            "pthread_mutex_init" | "mtx_init" | "pthread_spin_init" => {
                let kind = match (name, arguments.get(1)) {
                    ("pthread_mutex_init", Some(attributes)) if self.kinds => {
                        match self.constant_value(attributes) {
                            Some(0) => Model::Constant(0),
                            _ => {
                                let attributes = self.target_of(attributes)?;
                                self.specially(&attributes, Kind::Library);
                                self.kept(self.load(&attributes, span), span)?
                            }
                        }
                    }
                    ("mtx_init", kind) => match kind.and_then(|kind| self.constant_value(kind)) {
                        Some(0 | 2) => Model::Constant(0),
                        Some(1 | 3) => Model::Constant(RECURSIVE),
                        _ => return refuse(span, "what kind of mutex is to be made is not known"),
                    },
                    _ => Model::Constant(0),
                };
                let place = self.target_of(object)?;
                self.specially(&place, Kind::Library);
                self.store(&place, kind, span)?;
                done
            }
            "pthread_mutex_destroy" | "mtx_destroy" => {
                let place = self.target_of(object)?;
                self.specially(&place, Kind::Library);
                let found = self.load(&place, span);
                let free = match self.kinds {
                    true => Seen { found: found.clone(), owner: 0 }.is_free(),
                    false => equals(&found, 0),
                };
                let result = self.temporary(span);
                let busy = choose(free.clone(), Model::Constant(0), Model::Constant(busy_code(name)));
                let after = match self.forgets_to_destroy() {
                    true => found,
                    false => choose(free, Model::Constant(DESTROYED), found),
                };
                self.store_at_once(vec![(Target::Local(result), busy), (place, after)], None, span)?;
                Ok(Some(vec![Model::Local(result)]))
            }
            "pthread_mutex_lock" | "mtx_lock" | "pthread_spin_lock" => {
                Ok(Some(vec![self.take_mutex(object, span)?]))
            }
            "pthread_mutex_unlock" | "mtx_unlock" | "pthread_spin_unlock" => {
                let place = self.target_of(object)?;
                self.specially(&place, Kind::Library);
                self.expect_there(&place, span);
                if self.property.owners() {
                    self.give_back_as_owner(&place, span)?;
                    return done;
                }
                if !self.kinds {
                    self.store(&place, Model::Constant(0), span)?;
                    return done;
                }
                let seen = self.see(&place, span);
                let fine = either(seen.is_plain(), either(seen.is_own(), seen.is_checked()));
                let result = self.temporary(span);
                let error = choose(fine, Model::Constant(0), Model::Constant(EPERM));
                let after = match seen.owner {
                    0 => seen.if_clear(seen.given_back()),
                    _ => seen.given_back(),
                };
                self.store_at_once(vec![(Target::Local(result), error), (place, after)], None, span)?;
                Ok(Some(vec![Model::Local(result)]))
            }
            "pthread_mutex_trylock"
            | "pthread_spin_trylock"
            | "mtx_trylock"
            | "pthread_mutex_timedlock"
            | "mtx_timedlock" => {
                let place = self.target_of(object)?;
                self.specially(&place, Kind::Library);
                if self.property.owners() {
                    return Ok(Some(vec![self.try_as_owner(&place, busy_code(name), span)?]));
                }
                let result = self.temporary(span);
                let seen = self.see(&place, span);
                let (mut free, mut taken) = (equals(&seen.found, 0), Model::Constant(1));
                if self.kinds {
                    (free, taken) = (either(seen.is_free(), seen.is_own()), seen.taken());
                }
                let busy = choose(free.clone(), Model::Constant(0), Model::Constant(busy_code(name)));
                let mut after = choose(free, taken, seen.found.clone());
                if self.kinds {
                    after = seen.if_clear(after);
                }
                if self.kinds && name.contains("timed") {
                    // Who waits for what it holds itself is told so.
                    after = choose(seen.is_checked(), beyond(), after);
                }
                self.store_at_once(vec![(Target::Local(result), busy), (place, after)], None, span)?;
                Ok(Some(vec![Model::Local(result)]))
            }
            _ => Ok(None),
        }
    }

    /// Takes a mutex, waiting until that is possible: the result of the function that does so.
    pub(super) fn take_mutex(&mut self, object: &Expr, span: Span) -> Result<Model> {
        self.uses_mutex(span)?;
        let place = self.target_of(object)?;
        self.specially(&place, Kind::Library);
        self.expect_there(&place, span);
        if self.property.owners() {
            self.take_as_owner(&place, span)?;
            return Ok(Model::Constant(0));
        }
        if !self.kinds {
            let free = equals(&self.load(&place, span), 0);
            self.store_at_once(vec![(place, Model::Constant(1))], Some(free), span)?;
            return Ok(Model::Constant(0));
        }
        let seen = self.see(&place, span);
        let mut goes_on = either(seen.is_free(), either(seen.is_own(), seen.is_checked()));
        if seen.owner == 0 {
            goes_on = either(goes_on, not(seen.is_plain()));
        }
        let result = self.temporary(span);
        let error = choose(seen.is_checked(), Model::Constant(EDEADLK), Model::Constant(0));
        let after = seen.if_clear(choose(seen.is_checked(), seen.found.clone(), seen.taken()));
        self.store_at_once(vec![(Target::Local(result), error), (place, after)], Some(goes_on), span)?;
        Ok(Model::Local(result))
    }

    /// What a mutex is while the caller, which has taken it once, waits for a signal. In other cases nothing is followed.
    pub(super) fn released_to_wait(&self, place: &Target, span: Span) -> Model {
        if !self.kinds {
            return Model::Constant(0);
        }
        let seen = self.see(place, span);
        let once = equals(&seen.found, RECURSIVE + seen.owner * OWNER + 1);
        let fine = either(seen.is_plain(), either(once, seen.is_checked()));
        choose(fine, seen.given_back(), beyond())
    }
}
