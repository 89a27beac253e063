//! `never`, which counts threads at labels, `eventually`, which says where they come to, and `predicate`, which speaks of local
//! variables.

use super::super::MAX_SLOTS;
use super::super::ast::{self, Item, Module, Name};
use super::super::names::{Meaning, Sort};
use super::super::suggest::{did_you_mean, quote};
use super::declarations::sort_of;
use super::expressions::Typed;
use super::{Found, Lowering, Mode};
use crate::cursor::range;
use crate::diagnostic::Severity;
use allways_model::program::{Eventually, Expr, LocationId, Never, Span};
use std::collections::HashMap;

impl<'a> Lowering<'a, '_> {
    pub(super) fn properties(&mut self, module: &'a Module<'a>) {
        let mut names: HashMap<&str, Span> = HashMap::new();
        for item in &module.items {
            match item {
                Item::Never(name, expr, span) => {
                    self.mode = Mode::Never;
                    if let Some(name) = name
                        && let Some(first) = names.insert(name.text, name.span)
                    {
                        let message = format!(
                            "a property {} is stated twice, first in line {}",
                            quote(name.text),
                            first.line
                        );
                        self.error(name.span, message, None);
                    }
                    if let Some(expr) = self.of_sort(expr, Sort::Bool, "after `never`") {
                        let name = name.map(|name| name.text.to_string());
                        self.program.never.push(Never { name, expr, span: *span });
                    }
                }
                Item::Eventually(eventually) => self.eventually(eventually),
                Item::Predicate(expr) => {
                    self.mode = Mode::Hint;
                    self.hint = None;
                    if let Some(expr) = self.of_sort(expr, Sort::Bool, "after `predicate`") {
                        self.program.hints.push(expr);
                    }
                }
                _ => {}
            }
        }
    }

    /// `eventually label`: one property for each thread that has the label.
    fn eventually(&mut self, stated: &ast::Eventually<'a>) {
        let ast::Eventually { again, thread, label, span } = *stated;
        let procedure = match thread {
            Some(thread) => match self.routine(thread) {
                Some(procedure) => Some(procedure),
                None => return,
            },
            None => None,
        };
        let here = |of: usize| procedure.is_none_or(|procedure| procedure == of);
        let marks = self.marks.get(label.text).cloned().unwrap_or_default();
        let marks: Vec<usize> =
            marks.into_iter().filter(|&number| here(self.labels[number].procedure)).collect();
        if marks.is_empty() {
            return self.unknown_label(label, procedure);
        }
        let mut promised = false;
        for number in marks {
            let mark = &mut self.labels[number];
            let (of, atomic) = (mark.procedure, mark.atomic);
            let Some(template) = self.heads[of].template.filter(|_| !self.asynchronous) else { continue };
            mark.used = true;
            promised = true;
            let locations = mark.location.into_iter().collect();
            if atomic {
                let message =
                    format!("no thread is ever seen at {}, which is inside `atomic`", quote(label.text));
                self.warn(label.span, message, None);
            }
            let label = label.text.to_string();
            self.program.progress.push(Eventually { again, template, label, locations, span });
        }
        if !promised {
            let message = format!("expected a label in the body of a thread, found {}", quote(label.text));
            let help = match self.asynchronous {
                true => "progress is not checked of tasks",
                false => "it is in a procedure, which many threads may call: put a label into the thread",
            };
            self.error(label.span, message, Some(help.to_string()));
        }
    }

    /// `at(label)` or `at(routine.label)`
    pub(super) fn at(&mut self, routine: Option<Name<'a>>, label: Name<'a>, span: Span) -> Option<Typed> {
        if self.mode != Mode::Never {
            let help = "how many threads are at a label can be said in `never` only".to_string();
            return self.none(span, "expected an expression, found `at`", Some(help));
        }
        let procedure = match routine {
            Some(routine) => Some(self.routine(routine)?),
            None => None,
        };
        let marks = self.marks.get(label.text).map_or(&[][..], Vec::as_slice);
        self.listed += marks.len();
        if self.listed > MAX_SLOTS {
            let message = format!("expected labels at up to {MAX_SLOTS} places in all, found more");
            return self.none(span, message, None);
        }
        let (mut known, mut hidden) = (false, true);
        let mut locations: Vec<LocationId> = Vec::new();
        for &number in marks {
            let mark = &mut self.labels[number];
            if procedure.is_none_or(|procedure| procedure == mark.procedure) {
                mark.used = true;
                known = true;
                hidden &= mark.atomic;
                locations.extend(mark.location);
            }
        }
        if !known {
            self.unknown_label(label, procedure);
            return None;
        }
        if hidden {
            let message =
                format!("no thread is ever seen at {}, which is inside `atomic`", quote(label.text));
            self.warn(label.span, message, None);
        }
        Some((Expr::At(locations), Sort::Number))
    }

    fn routine(&mut self, name: Name<'a>) -> Option<usize> {
        match self.global(name, "a thread or procedure")? {
            Meaning::Procedure(number) | Meaning::Thread(number) | Meaning::Task(number) => Some(number),
            meaning => {
                self.misfit(name, "a thread or procedure", meaning, None);
                None
            }
        }
    }

    fn unknown_label(&mut self, label: Name<'a>, procedure: Option<usize>) {
        let Lowering { diagnostics, labels, program, .. } = self;
        diagnostics.add(Severity::Error, range(label.span), || {
            let here = |of: usize| procedure.is_none_or(|procedure| procedure == of);
            let names = labels.iter().filter(|mark| here(mark.procedure)).map(|mark| mark.name.text);
            let place = procedure
                .map_or(String::new(), |number| format!(" in {}", quote(&program.procedures[number].name)));
            (format!("unknown label {}{place}", quote(label.text)), did_you_mean(label.text, names))
        });
    }

    /// The local variable of a thread that a predicate speaks of. All those of one predicate belong to one kind of thread.
    pub(super) fn find_hint(&mut self, name: Name<'a>) -> Option<Found> {
        let all = self.locals.get(name.text).map_or(&[][..], |owners| &owners.threads);
        // In the body that was spoken of before, if there is one of this name.
        let own = self.hint.map_or(&[][..], |hint| {
            let start = all.partition_point(|&(procedure, _)| procedure < hint);
            let end = all.partition_point(|&(procedure, _)| procedure <= hint);
            &all[start..end]
        });
        let fitting = if own.is_empty() { all } else { own };
        match *fitting {
            [(procedure, number)] if self.hint.is_none_or(|hint| hint == procedure) => {
                self.hint = Some(procedure);
                Some(Found::LocalOf(procedure, number))
            }
            [(procedure, _)] => {
                let message = format!(
                    "expected a local variable of {}, as before, found {}, local to {}",
                    quote(&self.program.procedures[self.hint.unwrap_or(procedure)].name),
                    quote(name.text),
                    quote(&self.program.procedures[procedure].name)
                );
                self.none(name.span, message, None)
            }
            [] => {
                let message = format!(
                    "expected a local variable of a thread, found {}, local to a procedure",
                    quote(name.text)
                );
                self.none(name.span, message, None)
            }
            [(first, one), (second, other), ..] => {
                let line = |procedure: usize, number: usize| {
                    self.program.procedures[procedure].locals[number].span.line
                };
                let message = format!(
                    "expected the name of one local variable, found {}, which is several: in line {} and in line {}",
                    quote(name.text),
                    line(first, one),
                    line(second, other)
                );
                self.none(name.span, message, Some("give one of them another name".to_string()))
            }
        }
    }

    /// `other.x` or `other.x[e]`
    pub(super) fn other(
        &mut self,
        name: Name<'a>,
        selectors: &'a [ast::Selector<'a>],
        span: Span,
    ) -> Option<Typed> {
        if self.mode != Mode::Hint {
            let help = "local variables of other threads can be mentioned in `predicate` only".to_string();
            return self.none(span, "expected an expression, found `other`", Some(help));
        }
        if !self.locals.contains_key(name.text) {
            let Lowering { diagnostics, locals, .. } = self;
            diagnostics.add(Severity::Error, range(name.span), || {
                let help = did_you_mean(name.text, locals.keys().copied());
                (format!("expected a local variable of a thread, found {}", quote(name.text)), help)
            });
            return None;
        }
        let found = self.find_hint(name)?;
        let base = self.base(found);
        let base = self.select(name, base, selectors)?;
        let part = self.part(name, base, "a number or a Boolean")?;
        let ty = part.ty;
        let Some(slot) = part.slot() else {
            return self.none(span, "expected a constant index after `other`", None);
        };
        Some((Expr::OtherLocal(slot), sort_of(ty)))
    }
}
