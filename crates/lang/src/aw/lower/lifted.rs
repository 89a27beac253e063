//! Local variables of threads of which properties speak: `never exists p in worker: p.x > 3;`.
//!
//! Such a variable is kept where properties can see it: in an array of shared variables, one for each thread, of which each
//! thread uses its own. To everybody else it is what it was.

use super::super::ast::{self, Expr as Spoken, ExprKind, Name, Quantifier, Selector};
use super::super::names::Meaning;
use super::super::suggest::{did_you_mean, quote};
use super::declarations::sort_of;
use super::expressions::Typed;
use super::parts::{Base, Index, Shape};
use super::{Found, Lowering, Mode};
use crate::cursor::range;
use crate::diagnostic::Severity;
use allways_model::program::{Binary, Count, Expr, Place, Span, Target, Value, Variable};
use std::collections::HashSet;

/// A local variable of threads that is kept in shared variables.
pub(super) struct Lifted {
    /// The first of the shared variables.
    first: usize,
    /// What each thread has.
    shape: Shape,
    /// Where it is declared, and where once more.
    span: Span,
    twice: Option<Span>,
}

/// Adds the local variables of threads that a property speaks of. `bound` are the names around and the threads that they mean.
pub(super) fn spoken_of<'a>(
    expr: &Spoken<'a>,
    bound: &mut Vec<(&'a str, Option<&'a str>)>,
    found: &mut HashSet<(&'a str, &'a str)>,
) {
    match &expr.kind {
        ExprKind::Part(name, selectors) => {
            if let [Selector::Member(local), ..] = &selectors[..]
                && let Some((_, Some(threads))) = bound.iter().rev().find(|(bound, _)| *bound == name.text)
            {
                found.insert((threads, local.text));
            }
            selectors.iter().filter_map(Selector::index).for_each(|index| spoken_of(index, bound, found));
        }
        ExprKind::OfThreads(_, name, threads, body) => {
            bound.push((name.text, Some(threads.text)));
            spoken_of(body, bound, found);
            bound.pop();
        }
        ExprKind::Quantified(_, binder, body) => {
            bound.push((binder.name.text, None));
            spoken_of(body, bound, found);
            bound.pop();
        }
        ExprKind::Unary(_, part) => spoken_of(part, bound, found),
        ExprKind::Binary(_, left, right) => {
            spoken_of(left, bound, found);
            spoken_of(right, bound, found);
        }
        ExprKind::If(condition, then, other) => {
            [condition, then, other].into_iter().for_each(|part| spoken_of(part, bound, found));
        }
        _ => {}
    }
}

impl<'a> Lowering<'a, '_> {
    /// `forall p in worker: e`, and the like.
    pub(super) fn of_threads(
        &mut self,
        quantifier: Quantifier,
        name: Name<'a>,
        threads: Name<'a>,
        body: &'a ast::Expr<'a>,
        span: Span,
    ) -> Option<Typed> {
        let meaning = self.global(threads, "the name of threads")?;
        let Meaning::Thread(procedure) = meaning else {
            let help = "values are given as a range, both ends included: `i in 0..3`";
            self.misfit(threads, "the name of threads", meaning, Some(help));
            return None;
        };
        if self.mode != Mode::Never {
            let help = "what threads are like can be said in `never`".to_string();
            return self.none(threads.span, "expected a range, found the name of threads", Some(help));
        }
        let template = self.heads[procedure].template.map(|template| &self.program.templates[template]);
        let count = match template.map(|template| (template.count, template.spawned)) {
            Some((Count::Fixed(count), false)) => count,
            other => {
                let found = if let Some((Count::Any, _)) = other {
                    "any number"
                } else {
                    "threads that are started later"
                };
                let message =
                    format!("expected a fixed number of threads {}, found {found}", quote(threads.text));
                let help =
                    "what their local variables must not be is said inside the body, by `assert`".to_string();
                return self.none(threads.span, message, Some(help));
            }
        };
        self.each(quantifier, name, (0, count as Value - 1), Some(procedure), body, span)
    }

    /// `p.x`, where `p` is a thread of this number.
    pub(super) fn local_of(
        &mut self,
        procedure: usize,
        thread: Value,
        local: Name<'a>,
        selectors: &'a [Selector<'a>],
        span: Span,
    ) -> Option<Typed> {
        let owner = self.program.procedures[procedure].name.clone();
        let Some(lifted) = self.lifted.get(&(procedure, local.text)) else {
            let Lowering { diagnostics, locals, .. } = self;
            diagnostics.add(Severity::Error, range(local.span), || {
                let own =
                    locals.iter().filter(|(_, owners)| owners.threads.iter().any(|of| of.0 == procedure));
                let help = did_you_mean(local.text, own.map(|(name, _)| *name));
                let message =
                    format!("expected a local variable of {}, found {}", quote(&owner), quote(local.text));
                (message, help)
            });
            return None;
        };
        if let Some(twice) = lifted.twice {
            let message = format!(
                "expected the name of one local variable, found {}, which is several: in line {} and in line {}",
                quote(local.text),
                lifted.span.line,
                twice.line
            );
            return self.none(local.span, message, Some("give one of them another name".to_string()));
        }
        let (first, shape) = (lifted.first, lifted.shape.clone());
        let count = self.threads_of(procedure);
        let index = |_| Index { value: Ok(thread as usize), length: count, span };
        let indices: Vec<Index> = (count > 1).then_some(()).into_iter().map(index).collect();
        let base = Base { path: String::new(), found: Found::Shared(first), offset: 0, indices, shape };
        let base = self.select(local, base, selectors)?;
        let part = self.part(local, base, "a number or a Boolean")?;
        let sort = sort_of(part.ty);
        Some((part.value(span), sort))
    }

    /// How many threads run a body; at least one.
    fn threads_of(&self, procedure: usize) -> usize {
        let template = self.heads[procedure].template.map(|template| self.program.templates[template].count);
        if let Some(Count::Fixed(count)) = template { count.max(1) } else { 1 }
    }

    /// Whether a property speaks of this local variable of the body at hand.
    pub(super) fn is_spoken_of(&self, name: Name<'a>) -> bool {
        let threads =
            self.body.threads.filter(|&(_, threads)| self.spoken_of.contains(&(threads, name.text)));
        threads.is_some_and(|(procedure, _)| {
            let template = self.heads[procedure].template.map(|template| &self.program.templates[template]);
            template.is_some_and(|template| matches!(template.count, Count::Fixed(_)) && !self.asynchronous)
        })
    }

    /// Declares a local variable of which a property speaks. Gives the places of its slots.
    pub(super) fn declare_lifted(
        &mut self,
        name: Name<'a>,
        shape: Shape,
        initial: &[Vec<Option<Value>>],
        span: Span,
    ) -> Option<Vec<Place>> {
        let (procedure, threads) = self.body.threads?;
        self.not_in_this_block(name)?;
        let count = self.threads_of(procedure);
        let first = self.program.shared.len();
        let mut places = Vec::new();
        for (leaf, initial) in self.all_leaves(&shape).into_iter().zip(initial) {
            let slot = self.program.shared_slots();
            let inner = initial.len();
            let array = count > 1 || leaf.length.is_some();
            let length = array.then_some(inner * count);
            let variable = self.new_variable(name, leaf.ty, length, initial.repeat(count), slot)?;
            let number = if count > 1 { format!("[{count}]") } else { String::new() };
            let name = format!("{threads}{number}.{}{}", name.text, leaf.suffix);
            self.program.shared.push(Variable { name, names: leaf.names, ..variable });
            for offset in 0..inner {
                let target = match count {
                    1 => Target::Shared(slot + offset),
                    _ => Target::SharedElement(slot, inner * count, own(inner, offset, span)),
                };
                places.push(Place { target, ty: leaf.ty, span });
            }
        }
        if count > 1 {
            self.body.summary.asks.get_or_insert(span);
        }
        let index = |_| Index { value: Err(Expr::This), length: count, span };
        let indices = (count > 1).then_some(()).into_iter().map(index).collect();
        let found = Found::Shared(first);
        let base = Base { path: String::new(), found, offset: 0, indices, shape: shape.clone() };
        self.body.add_alias(name, base);
        let key = (procedure, name.text);
        match self.lifted.get_mut(&key) {
            Some(before) => before.twice = Some(name.span),
            None => {
                self.lifted.insert(key, Lifted { first, shape, span: name.span, twice: None });
            }
        }
        Some(places)
    }
}

/// The number of an element of a thread's own among those of all.
fn own(inner: usize, offset: usize, span: Span) -> Expr {
    let binary = |operator, left, right: usize| {
        Expr::Binary(operator, Box::new(left), Box::new(Expr::Constant(right as Value)), span)
    };
    let first = if inner == 1 { Expr::This } else { binary(Binary::Times, Expr::This, inner) };
    if offset == 0 { first } else { binary(Binary::Plus, first, offset) }
}
