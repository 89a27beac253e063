//! Names in expressions and on the left of assignments: the variables, elements and constants that they mean.

use super::super::ast::{self, Name, Selector};
use super::super::foreign;
use super::super::names::{Meaning, Sort};
use super::super::suggest::{did_you_mean, quote};
use super::parts::Part;
use super::{Constant, Found, Lowering, Mode};
use crate::cursor::range;
use crate::diagnostic::Severity;
use allways_model::program::{Expr, Place, Span, Type};

impl<'a> Lowering<'a, '_> {
    /// A variable that is read, or a constant.
    pub(super) fn find(&mut self, name: Name<'a>) -> Option<Result<Found, Constant>> {
        if let Some(&(_, value, _)) = self.bound.iter().rev().find(|(bound, ..)| *bound == name.text) {
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
        if let Some(alias) = self.body.alias(name.text) {
            if self.mode == Mode::Constant {
                let message = format!("expected a constant, found the variable {}", quote(name.text));
                return self.none(name.span, message, None);
            }
            self.read_alias(alias, name.span);
            return Some(Ok(Found::Alias(alias)));
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
            Meaning::Shared(number) if self.holds_thread(number) => {
                self.misplaced_identity(name, "a number or a Boolean")
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
            Mode::Hint if self.spoken_of.iter().any(|(_, local)| *local == name.text) => {
                let message = format!(
                    "expected a variable, found {}, a local one of which a property speaks",
                    quote(name.text)
                );
                return self.none(name.span, message, None);
            }
            Mode::Never => {
                if let Some(owners) = self.locals.get(name.text) {
                    let owner = quote(&self.program.procedures[owners.first].name);
                    let message =
                        format!("expected a shared variable, found {}, local to {owner}", quote(name.text));
                    let help = "`never` speaks of local variables by `exists p in worker: p.x`; inside a body, use `assert`";
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
    pub(super) fn note_read(&mut self, name: Name<'a>) {
        match (self.body.local(name.text), self.body.alias(name.text)) {
            (Some(local), _) => self.body.read[local] = true,
            (None, Some(alias)) => self.read_alias(alias, name.span),
            (None, None) => self.globals.touch(name.text),
        }
    }

    /// Notes that what stands for something else is read.
    fn read_alias(&mut self, alias: usize, span: Span) {
        self.body.aliases[alias].read = true;
        self.asks_by(alias, span);
    }

    /// Notes that a thread asks for its number where it uses what stands for something else.
    fn asks_by(&mut self, alias: usize, span: Span) {
        if self.body.aliases[alias].base.indices.iter().any(|index| index.value == Err(Expr::This)) {
            self.body.summary.asks.get_or_insert(span);
        }
    }

    /// Something that is written to.
    pub(super) fn place(&mut self, reference: &'a ast::Reference<'a>) -> Option<Place> {
        self.place_of(reference.name, &reference.selectors, reference.span)
    }

    /// A variable, or a part of one, that is written to.
    pub(super) fn place_of(
        &mut self,
        name: Name<'a>,
        selectors: &'a [Selector<'a>],
        span: Span,
    ) -> Option<Place> {
        let found = self.written(name)?;
        let base = self.base(found);
        let base = self.select(name, base, selectors)?;
        let part = self.part(name, base, "a variable")?;
        Some(self.no_lock(name, part, "a variable", span)?.place(span))
    }

    /// The variable that is written, or a part of which is.
    fn written(&mut self, name: Name<'a>) -> Option<Found> {
        match (self.body.local(name.text), self.body.alias(name.text)) {
            (Some(local), _) if self.body.fixed[local] => {
                let message =
                    format!("{} cannot be assigned to: its `for` gives it its values", quote(name.text));
                return self.none(name.span, message, None);
            }
            (Some(local), _) => return Some(Found::Local(local)),
            (None, Some(alias)) => {
                self.asks_by(alias, name.span);
                return Some(Found::Alias(alias));
            }
            (None, None) => {}
        }
        if self.globals.get(name.text).is_none() {
            return self.find_elsewhere(name, "a variable");
        }
        let meaning = self.global(name, "a variable")?;
        if let Meaning::Shared(number) = meaning {
            if self.holds_thread(number) {
                return self.misplaced_identity(name, "a variable with a number or a Boolean");
            }
            return Some(Found::Shared(number));
        }
        let help = match meaning {
            Meaning::Lock(_) => Some(TAKE_AND_GIVE),
            _ => None,
        };
        self.misfit(name, "a variable", meaning, help);
        None
    }

    /// A part that is a value, not a lock.
    pub(super) fn no_lock(&mut self, name: Name<'a>, part: Part, expected: &str, span: Span) -> Option<Part> {
        if part.ty != Type::Lock {
            return Some(part);
        }
        let message = format!("expected {expected}, found a lock of {}", quote(name.text));
        self.none(span, message, Some(TAKE_AND_GIVE.to_string()))
    }
}

const TAKE_AND_GIVE: &str = "a lock is taken by `acquire(m);` and given back by `release(m);`";
