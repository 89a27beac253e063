//! The checker of views: writes down what closed means, and has a solver refute every exception.

use super::names::{Named, Names, STARTED};
use super::obligations::{Closing, entry};
use super::text::well_formed;
use super::translate::Unsupported;
use super::{MOST, Views, weighed};
use crate::{Judge, Rejection, StopReason};
use allways_model::program::{LocationId, Program, Template, TemplateId};
use allways_smt::{Answer, Failure, Process, Query, Solver};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Checks that views are closed for a program with these numbers of threads, and contain nothing bad.
pub(crate) fn check(
    program: &Program,
    counts: &[Option<usize>],
    views: &Views,
    judge: &mut Judge<'_>,
) -> Result<(), Rejection> {
    let malformed = |what: &str| Err(Rejection::Malformed(what.to_string()));
    let names = Names::new(program);
    if views.counts.len() != program.templates.len() {
        return malformed("expected a number of threads for each template");
    }
    if views.size == 0 || views.size > MOST || views.total().is_some_and(|total| views.size > total) {
        return malformed("expected views of at least one thread, and of no more than there are");
    }
    if views.anchored && views.any_number() && views.anchors_in_all() >= views.size {
        return malformed("expected views with room beside the threads that are in all of them");
    }
    if views.anchored && !views.any_number() && views.total() != Some(views.size) {
        return malformed("expected views of all threads, if all are anchored");
    }
    let enough = |(proved, asked): (&Option<usize>, &Option<usize>)| proved.is_none() || proved == asked;
    if counts.len() != views.counts.len() || !views.counts.iter().zip(counts).all(enough) {
        return malformed("it is about other numbers of threads; give them by --threads");
    }
    let limited = |(template, count): (&Template, &Option<usize>)| template.spawned && count.is_some();
    if program.templates.iter().zip(&views.counts).any(limited) {
        return malformed("expected any number of threads of a template whose threads are started later");
    }
    let unsure = program
        .templates
        .iter()
        .zip(&views.counts)
        .any(|(template, count)| template.uses_self && count.is_none());
    if unsure {
        return malformed("`self` is one of a known number of threads");
    }
    let entries: Vec<LocationId> =
        TemplateId::all(&program.templates).map(|template| entry(program, template)).collect();
    let starts = |location| entries.contains(&location);
    if views.weights.iter().any(|weights| weights.keys().any(|&location| starts(location))) {
        return malformed("expected no weight where threads start");
    }
    let typed = |(_, ty, initial): &Named| initial.is_none_or(|initial| ty.contains(initial));
    if !names.shared.iter().chain(names.locals.iter().flatten()).all(typed) {
        return malformed("a variable starts with a value that it cannot have");
    }
    // No text of a program has such names; they would be taken for positions, choices, sums and flags. Those of local variables
    // always have a position.
    let marked = |(name, ..): &Named| name.contains(['@', '?', '|', '\\']);
    let taken = |(name, ..): &Named| {
        name.starts_with(STARTED) || (0..views.weights.len()).any(|index| weighed(index) == *name)
    };
    if names.shared.iter().chain(names.locals.iter().flatten()).any(marked)
        || names.shared.iter().take(program.shared_slots()).any(taken)
    {
        return malformed("a variable has a name that formulas use for something else");
    }
    let closing = Closing::new(program, &names, views)?;
    if !well_formed(&names, views) {
        return malformed("a row speaks of what is not there");
    }
    let stop = judge.stop;
    let stopped = || stop().is_some();
    let failed = |failure: Failure| {
        Rejection::Stopped(stop().unwrap_or_else(|| StopReason::GaveUp(failure.to_string())))
    };
    let mut solver = Process::start(&judge.solver, &stopped).map_err(failed)?;
    closing.queries(&mut |query| {
        if let Some(witness) = &mut judge.witness {
            witness(&query);
        }
        match ask(&query, &mut solver).map_err(failed)? {
            None => Ok(()),
            Some(example) => Err(Rejection::NotClosed(format!("{}, such as with {example}", query.title))),
        }
    })
}

impl From<Unsupported> for Rejection {
    fn from(unsupported: Unsupported) -> Rejection {
        Rejection::Malformed(unsupported.to_string())
    }
}

/// Nothing if the query is refuted, else an example.
fn ask(query: &Query, solver: &mut dyn Solver) -> Result<Option<String>, Failure> {
    let mut variables: BTreeSet<Arc<str>> = BTreeSet::new();
    query.formulas.iter().for_each(|formula| formula.variables(&mut variables));
    variables.iter().try_for_each(|name| solver.declare(name))?;
    solver.push()?;
    query.formulas.iter().try_for_each(|formula| solver.assert(formula))?;
    let example = match solver.check()? {
        Answer::Unsat => None,
        Answer::Unknown => return Err(Failure::Broken("it does not know the answer to a query".to_string())),
        Answer::Sat => {
            let names: Vec<&Arc<str>> = variables.iter().collect();
            let terms: Vec<_> = names.iter().map(|name| allways_smt::Term::variable(name)).collect();
            let values = solver.numbers(&terms)?;
            let pairs = names.iter().zip(values).map(|(name, value)| format!("{name} = {value}"));
            Some(pairs.collect::<Vec<_>>().join(", "))
        }
    };
    solver.pop()?;
    Ok(example)
}
