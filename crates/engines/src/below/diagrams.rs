//! Programs of many Booleans: few contexts first, sets of values as decision diagrams.
//!
//! Bounded contexts (Qadeer and Rehof, TACAS 2005) as MOPED and getafix do them for Boolean programs, but for stacks: where
//! control is, is listed, frames included, up to a height; the values of all variables at a place are one diagram. What is
//! reached is listed as *events*: a place, the thread whose context it is, the values that are new there, and the events it
//! comes from. Values that come to the same place by different ways before it is looked at are one event, so that choices and
//! branches do not multiply. Events of few contexts and steps come first.
//!
//! A run is read off from its end: a valuation that goes wrong, one of an event before that leads there, and so on. It becomes
//! a trace of the program with the values of its choices as [`Inputs`], which goes through the ordinary replay. Nothing is
//! proved: what is reached when no event is left has no certificate.
//!
//! Invariant: each valuation of an event is reached by a step from one of an event it comes from.

mod steps;
mod values;

use crate::below::schedules::trace::{Run, trace};
use crate::budget::Budget;
use crate::engine::{Engine, Figures, Info, Outcome, Takes};
use crate::forms::Forms;
use allways_evidence::{StopReason, Trace, Verdict};
use allways_model::program::inputs::Inputs;
use allways_model::program::semantics;
use allways_model::program::{Edge, Expr, Location, Program, Target, Type, Value};
use biodivine_lib_bdd::Bdd;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use steps::{Control, Steps, choices_of};
use values::{Action, both, either, without};

/// The engine.
pub struct Diagrams;

const INFO: Info = Info {
    takes: Takes::Programs,
    ..Info::new(
        "diagrams",
        "programs with many Booleans: few contexts first, sets of values as decision diagrams; finds bugs",
    )
};

/// With fewer Booleans, states are better listed.
const MANY: usize = 12;

/// What another context costs, in steps: bugs are found in few contexts, or by few steps, and neither is searched to its end
/// before the other.
const SWITCH: usize = 8;

impl Engine for Diagrams {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn supports(&self, forms: &Forms) -> Result<(), String> {
        let refused = |why: &str| Err(format!("engine `diagrams` does not support {why}"));
        let Some(program) = forms.program() else { return refused("systems that are no programs") };
        let locals = program.procedures.iter().flat_map(|procedure| &procedure.locals);
        if locals.clone().any(|local| local.mixed) {
            return refused("variables that other threads write (x$)");
        }
        if program.signals() {
            return refused("`signal`");
        }
        if program.shared.iter().chain(locals).any(|variable| variable.ty != Type::Bool) {
            return refused("variables that are not Boolean");
        }
        let mut edges = program.locations.iter().flat_map(|location| &location.edges);
        let mut arrays = false;
        edges.clone().flat_map(|edge| edge.op.expressions()).for_each(|expr| {
            expr.visit(&mut |part| {
                arrays |= matches!(part, Expr::SharedElement(..) | Expr::LocalElement(..))
            });
        });
        let is_element =
            |target: &Target| matches!(target, Target::SharedElement(..) | Target::LocalElement(..));
        if arrays || edges.any(|edge| edge.op.places().iter().any(|place| is_element(&place.target))) {
            return refused("arrays with an index that is not constant");
        }
        Ok(())
    }

    fn run(&self, forms: &Forms, budget: &Budget) -> Outcome {
        let supported = self.supports(forms).map_err(StopReason::GaveUp);
        supported.and_then(|()| hunt(forms, budget)).unwrap_or_else(Outcome::unknown)
    }
}

/// Whether a program has more Booleans than states are listed well with.
pub fn has_many_booleans(program: &Program) -> bool {
    let locals = program.procedures.iter().map(|procedure| procedure.slots()).max();
    program.shared_slots() + locals.unwrap_or(0) >= MANY
}

/// Values that are reached at a place.
struct Event {
    control: Control,
    /// Whose context it is.
    thread: usize,
    values: Bdd,
    cost: usize,
    contexts: u32,
    /// Where these come from, and by which edge; none where the thread before stops.
    from: Vec<(usize, Option<usize>)>,
}

/// What is reached.
struct Search<'s, 'p> {
    steps: &'s Steps<'p>,
    events: Vec<Event>,
    /// What is reached at a place in contexts of a thread, and the event of it that was not looked at yet.
    known: FxHashMap<(Control, usize), (Bdd, Option<usize>)>,
    /// By their cost, those that were not looked at yet.
    todo: BinaryHeap<Reverse<(usize, usize)>>,
    initial: Bdd,
}

/// How a run ends: at an event, by a step, or in a state that must not be.
struct Wrong {
    event: usize,
    by: Option<usize>,
    action: Action,
}

impl Search<'_, '_> {
    /// Adds values that are reached at a place.
    fn add(&mut self, reached: Event) -> Result<(), StopReason> {
        let Event { control, thread, values, cost, contexts, from } = reached;
        let none = self.steps.values.constant(false);
        let (known, waiting) = self.known.entry((control.clone(), thread)).or_insert((none, None));
        let new = without(&values, known)?;
        if new.is_false() {
            return Ok(());
        }
        *known = either(known, &new)?;
        match *waiting {
            Some(number) => {
                let event = &mut self.events[number];
                event.values = either(&event.values, &new)?;
                event.from.extend(from);
                event.contexts = event.contexts.max(contexts);
                if cost < event.cost {
                    event.cost = cost;
                    self.todo.push(Reverse((cost, number)));
                }
            }
            None => {
                let number = self.events.len();
                *waiting = Some(number);
                self.todo.push(Reverse((cost, number)));
                self.events.push(Event { control, thread, values: new, cost, contexts, from });
            }
        }
        Ok(())
    }

    /// Looks for something that goes wrong; none if everything was seen.
    fn run(&mut self, budget: &Budget) -> Result<Option<Wrong>, StopReason> {
        while let Some(Reverse((cost, event))) = self.todo.pop() {
            budget.check()?;
            let Event { control, thread, .. } = &self.events[event];
            let waiting = self.known.get_mut(&(control.clone(), *thread)).map(|(_, waiting)| waiting);
            // Those that became cheaper are there twice.
            if let Some(waiting) = waiting.filter(|waiting| **waiting == Some(event)) {
                *waiting = None;
                if let Some(wrong) = self.look_at(event, cost)? {
                    return Ok(Some(wrong));
                }
            }
        }
        Ok(None)
    }

    fn look_at(&mut self, event: usize, cost: usize) -> Result<Option<Wrong>, StopReason> {
        let Event { control, thread, values, contexts, .. } = &self.events[event];
        let (control, thread, values, contexts) = (control.clone(), *thread, values.clone(), *contexts);
        if control.section.is_none() {
            for action in self.steps.violations(&control)? {
                if !both(&values, &action.when.truth)?.is_false() {
                    return Ok(Some(Wrong { event, by: None, action }));
                }
            }
            for other in (0..control.threads.len()).filter(|other| *other != thread) {
                if !self.steps.edges(&control, other).is_empty() {
                    self.add(Event {
                        control: control.clone(),
                        thread: other,
                        values: values.clone(),
                        cost: cost + SWITCH,
                        contexts: contexts + 1,
                        from: vec![(event, None)],
                    })?;
                }
            }
        }
        for step in self.steps.of(&control, thread)? {
            match step.to {
                None if !both(&values, &step.action.when.truth)?.is_false() => {
                    return Ok(Some(Wrong { event, by: Some(step.edge), action: step.action }));
                }
                None => {}
                Some(control) => {
                    let values = self.steps.values.image(&values, &step.action)?;
                    let from = vec![(event, Some(step.edge))];
                    self.add(Event { control, thread, values, cost: cost + 1, contexts, from })?;
                }
            }
        }
        Ok(None)
    }

    /// The run that ends so, and the values of its choices, by their numbers.
    fn read_off(&self, wrong: &Wrong, numbers: &Numbers) -> Result<Option<(Run, Inputs)>, StopReason> {
        let values = &self.steps.values;
        let mut inputs = Inputs::default();
        let end = both(&self.events[wrong.event].values, &wrong.action.when.truth)?;
        let Some(last) = values.example(&end, wrong.action.choices) else { return Ok(None) };
        let mut bits = last.bits;
        let mut steps = Vec::new();
        let mut event = wrong.event;
        if let Some(edge) = wrong.by {
            numbers.note(self, event, edge, &last.choices, &mut inputs);
            steps.push((self.events[event].thread, None));
        }
        'back: loop {
            let here = &self.events[event];
            for &(before, edge) in &here.from {
                let earlier = &self.events[before];
                match edge {
                    None if before == event && values.contains(&self.initial, &bits) => {
                        let initial = self.steps.state(&here.control, &bits);
                        note_initial(self.steps.program, &initial, &mut inputs);
                        steps.reverse();
                        return Ok(Some((Run { initial, steps }, inputs)));
                    }
                    None if values.contains(&earlier.values, &bits) => {
                        event = before;
                        continue 'back;
                    }
                    None => {}
                    Some(edge) => {
                        let mut ways = Vec::new();
                        self.steps.along(&earlier.control, earlier.thread, edge, &mut ways)?;
                        for step in ways.iter().filter(|step| step.to.as_ref() == Some(&here.control)) {
                            let Some(old) = values.before(&earlier.values, &step.action, &bits)? else {
                                continue;
                            };
                            numbers.note(self, before, edge, &old.choices, &mut inputs);
                            // Within a section there is no state.
                            if here.control.section.is_none() {
                                steps.push((here.thread, Some(self.steps.state(&here.control, &bits))));
                            }
                            (event, bits) = (before, old.bits);
                            continue 'back;
                        }
                    }
                }
            }
            return Ok(None);
        }
    }
}

/// The number of the first choice of each edge.
struct Numbers(Vec<Vec<usize>>);

impl Numbers {
    fn of(program: &Program) -> Numbers {
        let mut next = 0;
        let edges = |location: &Location| {
            let number = |edge: &Edge| {
                let first = next;
                next += choices_of(&edge.op);
                first
            };
            location.edges.iter().map(number).collect()
        };
        Numbers(program.locations.iter().map(edges).collect())
    }

    /// Notes what was chosen in a step.
    fn note(&self, search: &Search<'_, '_>, event: usize, edge: usize, chosen: &[bool], inputs: &mut Inputs) {
        let Event { control, thread, .. } = &search.events[event];
        let Some(location) = control.location(*thread) else { return };
        for (number, value) in (self.0[location.index()][edge]..).zip(chosen) {
            let values = inputs.choices.entry(number).or_default();
            if let Err(at) = values.binary_search(&Value::from(*value)) {
                values.insert(at, Value::from(*value));
            }
        }
    }
}

/// Notes the values that variables without an initial one start with; of local ones, if they are the same in all threads.
fn note_initial(program: &Program, initial: &semantics::State, inputs: &mut Inputs) {
    let open = program.shared.iter().flat_map(|variable| &variable.initial).zip(&initial.shared).enumerate();
    inputs.shared =
        open.filter(|(_, (open, _))| open.is_none()).map(|(slot, (_, value))| (slot, *value)).collect();
    let mut differ = Vec::new();
    for thread in &initial.threads {
        let body = program.templates[thread.template].body;
        let values = thread.stack.first().map_or(&[][..], |frame| &frame.locals);
        let locals = program.procedures[body].initial().zip(values).enumerate();
        for (slot, (_, &value)) in locals.filter(|(_, (open, _))| open.is_none()) {
            let key = (body.index(), slot);
            if inputs.locals.insert(key, value).is_some_and(|other| other != value) {
                differ.push(key);
            }
        }
    }
    inputs.locals.retain(|key, _| !differ.contains(key));
}

fn hunt(forms: &Forms, budget: &Budget) -> Result<Outcome, StopReason> {
    let gave_up = |why: &dyn std::fmt::Display| StopReason::GaveUp(why.to_string());
    let (Some(task), Some(program)) = (forms.task(), forms.program()) else {
        return Err(gave_up(&"there is no program"));
    };
    let threads = task.threads_of(program, forms.instance()).map_err(|error| gave_up(&error))?;
    let threads = threads.ok_or_else(|| gave_up(&"the program leaves no number of threads open"))?;
    let steps = Steps::new(program, &threads, budget)?;
    let (control, initial) = steps.initial(&threads.running)?;
    let mut search = Search {
        steps: &steps,
        events: Vec::new(),
        known: FxHashMap::default(),
        todo: BinaryHeap::new(),
        initial: initial.clone(),
    };
    for thread in 0..control.threads.len() {
        // It comes from itself.
        let (control, values, from) = (control.clone(), initial.clone(), vec![(thread, None)]);
        search.add(Event { control, thread, values, cost: 0, contexts: 1, from })?;
    }
    let Some(wrong) = search.run(budget)? else {
        return Err(gave_up(&"no run goes wrong that is followed with decision diagrams"));
    };
    let found = search.read_off(&wrong, &Numbers::of(program))?;
    let confirmed = found.and_then(|(run, inputs)| confirmed(forms, &run, inputs));
    let (inputs, trace) =
        confirmed.ok_or_else(|| gave_up(&"a run that goes wrong has too many choices to be replayed"))?;
    let contexts = search.events[wrong.event].contexts;
    let figures = Figures { contexts: Some(contexts), ..Figures::default() };
    let outcome = Outcome::new(Verdict::from(trace), figures);
    Ok(Outcome { inputs: Some(Arc::new(inputs)), ..outcome })
}

/// The run as a trace of the program with its inputs.
fn confirmed(forms: &Forms, run: &Run, inputs: Inputs) -> Option<(Inputs, Trace)> {
    let given = forms.with_inputs(Arc::new(inputs.clone()));
    let encoded = given.encoding()?.ok()?;
    Some((inputs, trace(&encoded, run)?))
}
