//! A run of the program along a path that is feasible, with the values that a solver gives for inputs.
//!
//! The path says which thread goes where, the solver which values there are. The run is then walked by the semantics of the
//! program, in which choices have the values of the example alone, and becomes a trace for the ordinary replay. Where formulas
//! know less than the program (products, long arrays, how many threads were started), there may be no such run; then there is
//! no counterexample, and nothing is claimed.

use super::boolean::Source;
use super::path::Path;
use super::variables;
use crate::above::views::steps::local;
use crate::below::schedules::trace::{Run, trace};
use crate::forms::Forms;
use allways_evidence::Trace;
use allways_model::program::inputs::{Inputs, each_choice};
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{Count, LocationId, Program, TemplateId, Type, Value};
use allways_smt::{Answer, Failure, Solver, Term};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An example: the values of variables and choices, before each step and in the end.
struct Example {
    /// By name, of the state before each step.
    states: Vec<BTreeMap<String, i128>>,
    /// Whatever was chosen.
    chosen: BTreeSet<Value>,
}

/// A run of the program along a path, if there is one: its inputs, and the trace.
pub fn witness(
    forms: &Forms<'_>,
    source: &Source<'_>,
    path: &Path<'_>,
    solver: &mut dyn Solver,
) -> Result<Option<(Inputs, Trace)>, Failure> {
    let Some(example) = example(source, path, solver)? else { return Ok(None) };
    let Some(program) = forms.program() else { return Ok(None) };
    let inputs = inputs(program, source, &example);
    let given = inputs.given(program);
    let Some(run) = walk(&given, source, path, &example) else { return Ok(None) };
    let forms = forms.with_inputs(Arc::new(inputs.clone()));
    let encoded = forms.encoding().and_then(Result::ok);
    Ok(encoded.and_then(|encoded| trace(&encoded, &run)).map(|trace| (inputs, trace)))
}

fn example(
    source: &Source<'_>,
    path: &Path<'_>,
    solver: &mut dyn Solver,
) -> Result<Option<Example>, Failure> {
    let followed = path.follow();
    let facts = source.facts();
    let formulas: Vec<&Term> = [&facts, &path.initial].into_iter().chain(&followed.conditions).collect();
    let mut names = BTreeSet::new();
    formulas.iter().for_each(|formula| formula.variables(&mut names));
    // The variables of the program, in the same order for every state.
    let known = source.setting.steps;
    let shared = known.shared.iter().filter(|known| !known.forgotten).map(|known| known.name.clone());
    let own = source.threads.iter().enumerate().flat_map(|(thread, template)| {
        let locals = known.locals[template.index()].iter().filter(|known| !known.forgotten);
        locals.map(move |known| local(&known.name, thread))
    });
    let told: Vec<String> = shared.chain(own).collect();
    names.extend(told.iter().map(|name| name.as_str().into()));
    let states = (0..followed.values.len())
        .map(|step| told.iter().map(|name| followed.at(step, &Term::variable(name))).collect::<Vec<Term>>());
    let states: Vec<Vec<Term>> = states.collect();
    states.iter().flatten().for_each(|term| names.extend(variables(term)));
    names.iter().try_for_each(|name| solver.declare(name))?;
    solver.push()?;
    formulas.iter().try_for_each(|formula| solver.assert(formula))?;
    if solver.check()? != Answer::Sat {
        solver.pop()?;
        return Ok(None);
    }
    let mut example = Example { states: Vec::new(), chosen: BTreeSet::new() };
    for terms in &states {
        example.states.push(told.iter().cloned().zip(solver.numbers(terms)?).collect());
    }
    let choices: Vec<Term> =
        names.iter().filter(|name| name.starts_with('?')).map(|name| Term::variable(name)).collect();
    if !choices.is_empty() {
        let values = solver.numbers(&choices)?;
        example.chosen = values.into_iter().filter_map(|value| Value::try_from(value).ok()).collect();
    }
    solver.pop()?;
    Ok(Some(example))
}

/// The values of the example for all choices, and where variables without an initial value start.
fn inputs(program: &Program, source: &Source<'_>, example: &Example) -> Inputs {
    let mut inputs = Inputs::default();
    let mut number = 0;
    each_choice(&mut program.clone(), &mut |_| {
        inputs.choices.insert(number, example.chosen.iter().copied().collect());
        number += 1;
    });
    let value = |name: &str| example.states[0].get(name).and_then(|&value| Value::try_from(value).ok());
    let known = source.setting.steps;
    for (slot, known) in known.shared.iter().enumerate().take(program.shared_slots()) {
        inputs.shared.extend(value(&known.name).map(|value| (slot, value)));
    }
    for (thread, template) in source.threads.iter().enumerate() {
        let body = program.templates[*template].body;
        for (slot, known) in known.locals[template.index()].iter().enumerate() {
            let start = value(&local(&known.name, thread));
            inputs.locals.extend(start.map(|value| ((body.index(), slot), value)));
        }
    }
    inputs
}

/// The run of the program with its inputs.
fn walk(program: &Program, source: &Source<'_>, path: &Path<'_>, example: &Example) -> Option<Run> {
    let from_start = |template: &TemplateId| match program.templates[*template].count {
        Count::Fixed(0) => !program.templates[*template].spawned,
        _ => true,
    };
    let number = |template: TemplateId| source.threads.iter().filter(|&&other| other == template).count();
    let counts: Vec<usize> = TemplateId::all(&program.templates)
        .map(|template| if from_start(&template) { number(template) } else { 0 })
        .collect();
    // Which thread of the program each is, once it runs.
    let mut running = 0;
    let mut is: Vec<Option<usize>> = Vec::new();
    for template in source.threads {
        is.push(from_start(template).then_some(running));
        running += usize::from(from_start(template));
    }
    let fits = |state: &State, step: usize, moved: Option<usize>| -> usize {
        fitting(program, source, state, (&is, moved), &example.states[step])
    };
    let initial = State::initial(program, &counts)?;
    let initial = initial.into_iter().max_by_key(|state| fits(state, 0, None))?;
    let mut run = Run { initial: initial.clone(), steps: Vec::new() };
    let mut state = initial;
    for (step, place) in path.steps.iter().enumerate() {
        let thread = match is[place.thread] {
            Some(thread) => thread,
            None => {
                let template = source.threads[place.thread];
                let free = |thread: &usize| {
                    state.threads[*thread].template == template && !is.contains(&Some(*thread))
                };
                (0..state.threads.len()).find(free)?
            }
        };
        is[place.thread] = Some(thread);
        let outcomes = steps(program, &state, thread).into_iter().map(|step| step.outcome);
        let Some(to) = place.transition.to else {
            let wrong = outcomes.into_iter().any(|outcome| matches!(outcome, Outcome::Wrong(_)));
            run.steps.push((thread, None));
            return wrong.then_some(run);
        };
        let at = |state: &State| -> Option<LocationId> { Some(state.threads[thread].top()?.location) };
        let next = outcomes.filter_map(|outcome| match outcome {
            Outcome::To(next) if at(&next) == Some(to) => Some(next),
            _ => None,
        });
        let score = |state: &State| {
            fitting(program, source, state, (&is, Some(place.thread)), &example.states[step + 1])
        };
        state = next.max_by_key(score)?;
        run.steps.push((thread, Some(state.clone())));
    }
    matches!(state.violated(program), Some(Outcome::Wrong(_))).then_some(run)
}

/// How many values of a state are those of the example: of shared variables, and of the thread that has moved.
fn fitting(
    program: &Program,
    source: &Source<'_>,
    state: &State,
    (is, moved): (&[Option<usize>], Option<usize>),
    example: &BTreeMap<String, i128>,
) -> usize {
    let known = source.setting.steps;
    let same = |name: &str, value: Value| usize::from(example.get(name) == Some(&value.into()));
    // Threads may have other numbers here, so locks may have other holders.
    let shared = known.shared.iter().zip(&state.shared).take(program.shared_slots());
    let shared: usize = shared
        .filter(|(known, _)| known.ty != Type::Lock)
        .map(|(known, &value)| same(&known.name, value))
        .sum();
    let threads = (0..source.threads.len()).filter(|thread| moved.is_none_or(|moved| moved == *thread));
    let own = threads.filter_map(|thread| {
        let top = state.threads.get(is[thread]?)?.top()?;
        let locals = known.locals[source.threads[thread].index()].iter().zip(&top.locals);
        Some(locals.map(|(known, &value)| same(&local(&known.name, thread), value)).sum::<usize>())
    });
    shared + own.sum::<usize>()
}
