//! Predicate abstraction with refinement: proves programs with integers, and finds out which predicates that takes.
//!
//! Paper: UCOB, section VI, and SATABS behind it. From the predicates of the property on, the program becomes a
//! [Boolean program](crate::above::predicates), which goes to the search for finite systems. A run of it that goes wrong is a
//! run of the program, or spurious, and then [predicates that exclude it](crate::above::predicates::refine) are added. When no run
//! of the Boolean program goes wrong, with 1, 2 and 3 threads if any number is asked about, the least set of
//! [views](crate::above::views) that the predicates tell apart is computed. If it is closed and shows nothing bad, it is the proof,
//! and the checker of views takes it: its formulas are what the Boolean invariant says, in terms of the program.
//!
//! Invariant: predicates are only added, and each round excludes the run of the round before, or the loop ends.

use crate::above::predicates::atoms::Literal;
use crate::above::predicates::boolean::{Known, NoProgram, Source};
use crate::above::predicates::narrow::{Lemma, Lemmas, narrowed};
use crate::above::predicates::path::Path;
use crate::above::predicates::refine::{Refined, refine};
use crate::above::predicates::witness::witness;
use crate::above::predicates::{Predicate, atoms, cases, instances};
use crate::above::views::forms::{Forms as Distinctions, Level, forms as distinctions};
use crate::above::views::setting::Setting as Obligations;
use crate::above::views::steps::{SELF, Steps, Transition, local};
use crate::above::views::values::Values;
use crate::above::views::weights::{Explained, weights};
use crate::above::views::{Growing, NoViews};
use crate::below::free::Free;
use crate::budget::Budget;
use crate::confirm::solver;
use crate::engine::{Engine, Figures, Info, Outcome, Question, Setting, Takes, Threads};
use crate::forms::Forms;
use crate::strategy::run_engine;
use allways_evidence::interpret::{End, interpret};
use allways_evidence::views::MOST;
use allways_evidence::{Certificate, StopReason, Trace, Verdict, Views as ViewSet};
use allways_model::program::inputs::Inputs;
use allways_model::program::{LocationId, Program, TemplateId};
use allways_model::task::{Instance, Model, Task};
use allways_smt::{Failure, Process, Settings, Term};
use std::sync::Arc;

/// The engine `predicates`; see the module.
pub struct Predicates;

const INFO: Info = Info {
    takes: Takes::Programs,
    threads: Threads::AsStated,
    ..Info::new(
        "predicates",
        "programs with integers: predicates, Boolean programs and refinement, with a solver",
    )
    .knowing(&[Setting::Solver])
};

/// The most threads of a Boolean program.
const MOST_THREADS: usize = 6;

/// The most threads of each template of which any number may run.
const MOST_OPEN: usize = 3;

/// More predicates than this are of no use.
const MOST_PREDICATES: usize = 60;

impl Engine for Predicates {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn supports(&self, run: &Forms) -> Result<(), String> {
        match run.program() {
            None => Err("engine `predicates` supports programs only".to_string()),
            Some(_) if run.question().property.deadlock => {
                Err("engine `predicates` does not support deadlocks".to_string())
            }
            Some(_) => Ok(()),
        }
    }

    fn run(&self, run: &Forms, budget: &Budget) -> Outcome {
        let mut remarks = Vec::new();
        let answer = decide(run, budget, &mut remarks);
        let figures = Figures { remarks, ..Figures::default() };
        match answer {
            Ok(Answer::Safe(views)) => {
                Outcome::new(Verdict::Safe(Certificate::Views(Box::new(views))), figures)
            }
            Ok(Answer::Unsafe(instance, inputs, trace)) => {
                let outcome = Outcome::new(Verdict::from(trace), figures);
                Outcome { inputs: Some(Arc::new(inputs)), instance: Some(instance), ..outcome }
            }
            Err(reason) => Outcome::new(Verdict::Unknown(reason), figures),
        }
    }
}

fn gave_up(why: impl ToString) -> StopReason {
    StopReason::GaveUp(why.to_string())
}

/// What was found.
enum Answer {
    Safe(ViewSet),
    /// A run with so many threads, and these inputs.
    Unsafe(Instance, Inputs, Trace),
}

/// A step: the thread, from where, and by which of the steps there.
type Step = (usize, LocationId, usize);

/// What a round comes to.
enum Round {
    /// No run of the Boolean program goes wrong.
    Proved,
    /// These predicates exclude one.
    Refined(Vec<Predicate>),
    /// These steps of one have no step of the program behind them.
    Narrowed(Vec<(Step, Lemma)>),
    /// One is a run of the program.
    Wrong(Inputs, Trace),
}

fn decide(run: &Forms, budget: &Budget, remarks: &mut Vec<String>) -> Result<Answer, StopReason> {
    let (Some(task), Some(program)) = (run.task(), run.program()) else {
        return Err(gave_up("engine `predicates` supports programs only"));
    };
    let mut counts = task.counts(program).map_err(gave_up)?;
    // Of threads that are started on the way, there may be any number.
    let spawned = program.templates.iter().map(|template| template.spawned);
    counts.iter_mut().zip(spawned).filter(|(_, spawned)| *spawned).for_each(|(count, _)| *count = None);
    let steps = Steps::new(program).map_err(gave_up)?;
    let reduction = run.reduction(program);
    let values = Values::new(program, &reduction, &steps);
    let stop = || budget.check().err();
    let settings = solver(run.question(), budget);
    let mut search = Search {
        forms: run,
        program,
        steps: &steps,
        values: &values,
        counts: &counts,
        settings: &settings,
        budget,
        stop: &stop,
        predicates: Vec::new(),
    };
    search.run(remarks)
}

struct Search<'a> {
    forms: &'a Forms<'a>,
    program: &'a Arc<Program>,
    steps: &'a Steps,
    values: &'a Values<'a>,
    counts: &'a [Option<usize>],
    settings: &'a Settings,
    budget: &'a Budget<'a>,
    stop: &'a dyn Fn() -> Option<StopReason>,
    predicates: Vec<Predicate>,
}

impl Search<'_> {
    fn run(&mut self, remarks: &mut Vec<String>) -> Result<Answer, StopReason> {
        let wanted = || (self.stop)().is_some();
        let stop = self.stop;
        let failed = |failure: Failure| match failure {
            Failure::Stopped => stop().unwrap_or(StopReason::Interrupted),
            failure => gave_up(failure),
        };
        let mut solver = Process::start(self.settings, &wanted).map_err(failed)?;
        let open = self.counts.iter().any(Option::is_none);
        let mut known = Known::default();
        let mut why = "there are too many threads".to_string();
        let whole = self.views(1);
        let setting = Obligations::new(self.program, self.steps, &whole).map_err(gave_up)?;
        let cases = cases::split(&setting, &mut solver).map_err(failed)?;
        let split = Steps { from: cases, ..self.steps.clone() };
        let setting = Obligations::new(self.program, &split, &whole).map_err(gave_up)?;
        self.predicates = stated(&setting);
        let (mut rounds, mut steps) = (0, 0);
        for number in 1..=if open { MOST_OPEN } else { 1 } {
            let threads = self.threads(number);
            if threads.is_empty() || threads.len() > MOST_THREADS {
                break;
            }
            // Exactly these threads.
            let exactly = |count: &Option<usize>| Some(count.unwrap_or(number));
            let counts = self.counts.iter().map(exactly).collect();
            let views = ViewSet { counts, size: threads.len(), ..ViewSet::default() };
            let setting = Obligations::new(self.program, &split, &views).map_err(gave_up)?;
            let instance = Instance::Few(number);
            let mut lemmas = Lemmas::new();
            loop {
                let new =
                    match self.round(&instance, &setting, &threads, &mut solver, (&mut known, &lemmas))? {
                        Round::Proved => break,
                        Round::Wrong(inputs, trace) => return Ok(Answer::Unsafe(instance, inputs, trace)),
                        Round::Refined(new) => new,
                        Round::Narrowed(found) => {
                            steps += found.len();
                            found
                                .into_iter()
                                .for_each(|(step, lemma)| lemmas.entry(step).or_default().push(lemma));
                            continue;
                        }
                    };
                rounds += 1;
                let text = new.iter().map(|predicate| predicate.formula.to_string()).collect::<Vec<_>>();
                remarks.push(format!("refinement {rounds}, {} threads: {}", threads.len(), text.join(", ")));
                self.predicates.extend(new);
                if self.predicates.len() > MOST_PREDICATES {
                    return Err(gave_up("too many predicates were added without a proof"));
                }
            }
            for ((size, anchored), more) in self.proofs(number, threads.len()) {
                let predicates = self.predicates.len();
                let with = if more { " and differences" } else { "" };
                let tried = format!(
                    "{rounds} refinements, {steps} steps narrowed, {predicates} predicates{with}, views of {size}"
                );
                match self.closed(&split, Level { size, anchored, differences: more, ..Level::default() }) {
                    Ok(views) => {
                        remarks.push(format!("{tried}: closed"));
                        return Ok(Answer::Safe(views));
                    }
                    Err(NoViews::Stopped(reason)) => return Err(stop().unwrap_or(reason)),
                    Err(NoViews::Solver(failure)) => why = failure.to_string(),
                    Err(NoViews::Coarse(what)) => why = what,
                    Err(NoViews::Fine) => why = "too many abstract states".to_string(),
                }
                remarks.push(format!("{tried}: {why}"));
            }
        }
        Err(gave_up(format!("no proof by predicates was found: {why}")))
    }

    /// A description of views without any.
    fn views(&self, size: usize) -> ViewSet {
        ViewSet { counts: self.counts.to_vec(), size, ..ViewSet::default() }
    }

    /// So many threads of each template of which any number may run, and all others.
    fn threads(&self, number: usize) -> Vec<TemplateId> {
        let counts = self.counts.iter().map(|count| count.unwrap_or(number).min(MOST_THREADS + 1));
        counts
            .enumerate()
            .flat_map(|(template, count)| std::iter::repeat_n(TemplateId(template), count))
            .collect()
    }

    /// Proofs that are worth a try with so many threads of each open template: sizes of views, whether threads of a known number
    /// are in all of them, and whether differences are bounded, which takes longer.
    fn proofs(&self, number: usize, threads: usize) -> Vec<((usize, bool), bool)> {
        let open = self.counts.iter().any(Option::is_none);
        let alone = self.sizes(number, threads);
        let bounded = match (open, number) {
            (true, 1) => alone[..1].to_vec(),
            (true, 2) => [self.sizes(1, threads), alone.clone()].concat(),
            _ => alone.clone(),
        };
        let alone = alone.into_iter().map(|size| (size, false));
        alone.chain(bounded.into_iter().map(|size| (size, true))).collect()
    }

    /// Sizes of views that are worth a try, and whether threads of a known number are in all of them.
    fn sizes(&self, number: usize, threads: usize) -> Vec<(usize, bool)> {
        let known: usize = self.counts.iter().flatten().sum();
        if self.counts.iter().all(Option::is_some) {
            let mut sizes = vec![(threads.min(2), false)];
            if (3..=MOST).contains(&threads) {
                sizes.push((threads, false));
            }
            return sizes;
        }
        let mut sizes = vec![(number, false)];
        if (1..MOST).contains(&known) && known + number <= MOST {
            sizes.push((known + number, true));
        }
        sizes
    }

    /// One round: predicates that exclude a run of the Boolean program, or nothing if none of its runs goes wrong.
    fn round(
        &self,
        instance: &Instance,
        setting: &Obligations<'_>,
        threads: &[TemplateId],
        solver: &mut Process<'_>,
        (known, lemmas): (&mut Known, &Lemmas),
    ) -> Result<Round, StopReason> {
        let failed = |failure: Failure| match failure {
            Failure::Stopped => (self.stop)().unwrap_or(StopReason::Interrupted),
            failure => gave_up(failure),
        };
        let instances = instances(&self.predicates, threads);
        let source = Source { setting, steps: &setting.steps.from, threads, instances: &instances, lemmas };
        let made = source.program(solver, known, self.stop).map_err(|none| match none {
            NoProgram::Solver(failure) => failed(failure),
            NoProgram::Stopped(reason) => reason,
        })?;
        let task = Task::new(Model::Program(Arc::new(made.program)));
        let forms = Forms::new(&task, &Question::default());
        let trace = match run_engine(&Free, &forms, self.budget).verdict {
            Verdict::Safe(_) => return Ok(Round::Proved),
            Verdict::Unknown(reason) => return Err(reason),
            Verdict::Unsafe(counterexample) => counterexample,
        };
        let none = || gave_up("a run of the Boolean program cannot be followed");
        let encoded = forms.encoding().and_then(Result::ok).ok_or_else(none)?;
        let run = interpret(&encoded, trace.trace().ok_or_else(none)?).map_err(|_| none())?;
        let taken = run.steps.iter().map(|step| {
            let (thread, from) = made.places[step.location.index()];
            (thread, from, made.origins[step.location.index()][step.edge])
        });
        let taken: Vec<Step> = taken.collect();
        let steps: Vec<_> =
            taken.iter().map(|&(thread, from, step)| source.place(thread, from, step)).collect();
        let violated =
            matches!(run.end, End::Wrong(_)) && steps.last().is_none_or(|step| step.transition.to.is_some());
        let facts = source.facts();
        let initial = setting.initial(&source.entries());
        let ends = match violated {
            false => vec![Term::truth(true)],
            true => {
                let mut at = source.entries();
                steps.iter().for_each(|step| at[step.thread] = step.transition.to.unwrap_or(step.from));
                setting.bad.iter().filter(|bad| bad.met(&at)).map(|bad| bad.condition.clone()).collect()
            }
        };
        // What the predicates say before each step, and in the end.
        let states = [&run.initial].into_iter().chain(run.steps.iter().map(|step| &step.state));
        let said = states.map(|state| {
            let values = instances.iter().zip(&state.shared);
            values.map(|(term, &value)| Literal { predicate: term.clone(), holds: value != 0 }).collect()
        });
        let said: Vec<Vec<Literal>> = said.collect();
        let mut spurious = Vec::new();
        for (index, place) in steps.iter().enumerate() {
            let lemma = narrowed(place, &facts, &said[index], &said[index + 1], solver).map_err(failed)?;
            spurious.extend(lemma.map(|lemma| (taken[index], lemma)));
        }
        if !spurious.is_empty() {
            return Ok(Round::Narrowed(spurious));
        }
        let mut new: Vec<Predicate> = Vec::new();
        for end in ends {
            let mut feasible = true;
            // From as late a point as shows that the run is spurious.
            for start in (0..=steps.len()).rev() {
                let initial = if start == 0 {
                    initial.clone()
                } else {
                    Term::and(said[start].iter().map(Literal::formula))
                };
                let path = Path { steps: steps[start..].to_vec(), end: end.clone(), initial };
                let known = (&self.predicates[..], &instances[..]);
                match refine(&path, threads, &facts, known, solver, self.stop).map_err(failed)? {
                    Refined::Feasible => continue,
                    Refined::Stopped(reason) => return Err(reason),
                    Refined::Spurious(found) => {
                        feasible = false;
                        if !found.is_empty() {
                            new.extend(
                                found
                                    .into_iter()
                                    .filter(|predicate| !new.contains(predicate))
                                    .collect::<Vec<_>>(),
                            );
                            break;
                        }
                    }
                }
            }
            if feasible {
                let path = Path { steps: steps.clone(), end, initial: initial.clone() };
                let forms = self.forms.at(instance.clone());
                let found = witness(&forms, &source, &path, solver).map_err(failed)?;
                return match found {
                    Some((inputs, trace)) => Ok(Round::Wrong(inputs, trace)),
                    None => Err(gave_up("a run goes wrong, as far as formulas tell")),
                };
            }
        }
        if new.is_empty() {
            return Err(gave_up("no predicate was found that excludes a run"));
        }
        Ok(Round::Refined(new))
    }

    /// The least set of views that the predicates tell apart, and bounds on differences if the level has them, if it shows
    /// nothing bad.
    fn closed(&self, steps: &Steps, level: Level) -> Result<ViewSet, NoViews> {
        let explained = match level.differences {
            true => weights(steps, &|slot| self.values.matters(slot)),
            false => Explained::default(),
        };
        let weights = explained.weights.clone();
        let views = ViewSet { anchored: level.anchored, weights, ..self.views(level.size) };
        let Ok(setting) = Obligations::new(self.program, steps, &views) else {
            return Err(NoViews::Coarse("a property has no formula".to_string()));
        };
        let wanted = || (self.stop)().is_some();
        let mut solver = Process::start(self.settings, &wanted)?;
        let forms = |locations: &[LocationId]| {
            let templates: Vec<TemplateId> =
                locations.iter().map(|&location| setting.template(location).unwrap_or_default()).collect();
            let mut forms = match level.differences {
                true => distinctions((&setting, &explained, self.values), level, locations),
                false => Distinctions::default(),
            };
            let mut split = instances(&self.predicates, &templates);
            split.retain(|instance| self.live(&setting, instance, locations));
            // The Boolean program knows which thread is which.
            for (position, template) in templates.iter().enumerate() {
                let own = setting.steps.locals[template.index()].iter();
                let numbers = own.filter(|known| known.hidden && known.name == SELF);
                split.extend(numbers.map(|known| Term::variable(&local(&known.name, position))));
            }
            split.retain(|term| !forms.split.contains(term));
            forms.split.extend(split);
            forms
        };
        let mut growing = Growing::new(&setting, &mut solver, &forms);
        growing.close(self.stop)?;
        growing.views()
    }

    /// Whether all local variables of a formula matter where their threads are.
    fn live(&self, setting: &Obligations<'_>, formula: &Term, locations: &[LocationId]) -> bool {
        let mut names = Default::default();
        formula.variables(&mut names);
        locations.iter().enumerate().all(|(position, &location)| {
            let template = setting.template(location).unwrap_or_default().index();
            setting.steps.locals[template].iter().enumerate().all(|(slot, known)| {
                known.hidden
                    || !names.contains(&*local(&known.name, position))
                    || self.values.live(location, template, slot)
            })
        })
    }
}

/// The predicates of the properties and assertions.
fn stated(setting: &Obligations<'_>) -> Vec<Predicate> {
    let mut found: Vec<Predicate> = Vec::new();
    let mut see = |formula: &Term, threads: &[TemplateId]| {
        atoms::comparisons(formula, &mut |comparison| {
            if let Some(predicate) = Predicate::of(comparison, threads)
                && !found.contains(&predicate)
            {
                found.push(predicate);
            }
        });
    };
    setting.bad.iter().for_each(|bad| see(&bad.condition, &[]));
    for (location, transitions) in setting.steps.from.iter().enumerate() {
        let Some(template) = setting.template(LocationId(location)) else { continue };
        let wrong = |step: &&Transition| step.to.is_none();
        transitions.iter().filter(wrong).for_each(|step| see(&step.guard, &[template]));
    }
    found.truncate(MOST_STATED);
    found
}

/// The most predicates to start with.
const MOST_STATED: usize = 8;
