//! Names in expressions and on the left of assignments: the variables, elements and constants that they mean.

use super::super::ast::{self, Name};
use super::super::foreign;
use super::super::names::{Meaning, Sort};
use super::super::suggest::{did_you_mean, quote};
use super::{Constant, Found, Lowering, Mode};
use crate::cursor::range;
use crate::diagnostic::Severity;
use allways_model::program::{Expr, Place, Span, Target};

impl<'a> Lowering<'a, '_> {
    /// What has a name must be an array: its first slot and its length.
    pub(super) fn array(
        &mut self,
        name: Name<'a>,
        found: Result<Found, Constant>,
    ) -> Option<(Found, usize, usize)> {
        if let Ok(found) = found {
            let variable = self.variable(found);
            if let Some(length) = variable.length {
                return Some((found, variable.slot, length));
            }
        }
        self.no_array(name)
    }

    pub(super) fn no_array<T>(&mut self, name: Name<'a>) -> Option<T> {
        self.none(name.span, format!("expected an array, found {}, which is none", quote(name.text)), None)
    }

    /// The index of an element: which one, if that is known and it exists.
    pub(super) fn index(&mut self, index: &'a ast::Expr<'a>, length: usize) -> Option<Result<usize, Expr>> {
        let lowered = self.of_sort(index, Sort::Number, "as an index")?;
        let Expr::Constant(value) = lowered else { return Some(Err(lowered)) };
        if let Some(offset) = usize::try_from(value).ok().filter(|&offset| offset < length) {
            return Some(Ok(offset));
        }
        let message = format!("expected an index from 0 to {}, found {value}", length - 1);
        self.warn(index.span, message, Some("a violation, if this is ever executed".to_string()));
        Some(Err(lowered))
    }

    /// A variable that is read, or a constant.
    pub(super) fn find(&mut self, name: Name<'a>) -> Option<Result<Found, Constant>> {
        if let Some(&(_, value)) = self.bound.iter().rev().find(|(bound, _)| *bound == name.text) {
            return Some(Err((value, Sort::Number)));
        }
        if let Some(local) = self.body.local(name.text) {
            if self.mode == Mode::Constant {
                let message = format!("expected a constant, found the variable {}", quote(name.text));
                return self.none(name.span, message, None);
            }
            self.body.read[local] = true;
            return Some(Ok(Found::Local(local)));
        }
        if self.globals.get(name.text).is_none() {
            return self.find_elsewhere(name, "a variable or constant").map(Ok);
        }
        let meaning = self.global(name, "a variable or constant")?;
        self.globals.touch(name.text);
        match meaning {
            Meaning::Constant(value, sort) => Some(Err((value, sort))),
            Meaning::Shared(_) if self.mode == Mode::Constant => {
                self.misfit(name, "a constant", meaning, None);
                None
            }
            Meaning::Shared(number) => Some(Ok(Found::Shared(number))),
            Meaning::Lock(_) => {
                let help =
                    "a lock has no value; it is taken by `acquire(m);` and given back by `release(m);`";
                self.misfit(name, "a variable or constant", meaning, Some(help));
                None
            }
            _ => {
                self.misfit(name, "a variable or constant", meaning, None);
                None
            }
        }
    }

    /// A name that is neither that of a local variable in scope nor known outside bodies. Predicates may speak of the
    /// local variables of threads; properties are told why they must not.
    fn find_elsewhere(&mut self, name: Name<'a>, expected: &str) -> Option<Found> {
        match self.mode {
            Mode::Hint if self.locals.contains_key(name.text) => return self.find_hint(name),
            Mode::Never => {
                if let Some(owners) = self.locals.get(name.text) {
                    let owner = quote(&self.program.procedures[owners.first].name);
                    let message =
                        format!("expected a shared variable, found {}, local to {owner}", quote(name.text));
                    let help =
                        "`never` speaks of shared variables and of `at(label)`; inside a body, use `assert`";
                    return self.none(name.span, message, Some(help.to_string()));
                }
            }
            _ => {}
        }
        let Lowering { diagnostics, globals, body, .. } = self;
        diagnostics.add(Severity::Error, range(name.span), || {
            let fits = |meaning| matches!(meaning, Meaning::Shared(_) | Meaning::Constant(..));
            let names = globals.iter().filter(|global| fits(global.meaning)).map(|global| global.name.text);
            let help = foreign::name(name.text).map(str::to_string);
            let help = help.or_else(|| did_you_mean(name.text, names.chain(body.names())));
            (format!("expected {expected}, found the unknown name {}", quote(name.text)), help)
        });
        None
    }

    /// Notes that a variable is read where it is written.
    pub(super) fn note_read(&mut self, name: &str) {
        match self.body.local(name) {
            Some(local) => self.body.read[local] = true,
            None => self.globals.touch(name),
        }
    }

    /// Something that is written to.
    pub(super) fn place(&mut self, reference: &'a ast::Reference<'a>) -> Option<Place> {
        self.place_of(reference.name, reference.index.as_ref(), reference.span)
    }

    /// A variable or an element that is written to.
    pub(super) fn place_of(
        &mut self,
        name: Name<'a>,
        index: Option<&'a ast::Expr<'a>>,
        span: Span,
    ) -> Option<Place> {
        let found = match self.body.local(name.text) {
            Some(local) if self.body.fixed[local] => {
                let message =
                    format!("{} cannot be assigned to: its `for` gives it its values", quote(name.text));
                return self.none(name.span, message, None);
            }
            Some(local) => Found::Local(local),
            None => match self.globals.get(name.text).is_some() {
                false => self.find_elsewhere(name, "a variable")?,
                true => match self.global(name, "a variable")? {
                    Meaning::Shared(number) => Found::Shared(number),
                    meaning => {
                        let help = match meaning {
                            Meaning::Lock(_) => {
                                Some("a lock is taken by `acquire(m);` and given back by `release(m);`")
                            }
                            _ => None,
                        };
                        self.misfit(name, "a variable", meaning, help);
                        return None;
                    }
                },
            },
        };
        let shared = matches!(found, Found::Shared(_));
        let (slot, ty) = (self.variable(found).slot, self.variable(found).ty);
        let target = match (index, self.variable(found).length) {
            (None, None) if shared => Target::Shared(slot),
            (None, None) => Target::Local(slot),
            (None, Some(_)) => {
                let message = format!("expected a variable, found the array {}", quote(name.text));
                return self.none(name.span, message, Some("an element is written `a[i]`".to_string()));
            }
            (Some(index), _) => {
                let (_, slot, length) = self.array(name, Ok(found))?;
                match self.index(index, length)? {
                    Ok(offset) if shared => Target::Shared(slot + offset),
                    Ok(offset) => Target::Local(slot + offset),
                    Err(index) if shared => Target::SharedElement(slot, length, index),
                    Err(index) => Target::LocalElement(slot, length, index),
                }
            }
        };
        Some(Place { target, ty, span })
    }
}
