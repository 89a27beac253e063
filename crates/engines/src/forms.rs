//! A task and the forms that engines work on, each made once and shared by all engines.
//!
//! A program is reduced once, and encoded once for each number of threads that somebody asks about; the bound on thread states
//! that coverability starts from is computed once. [`Forms`] looks at one [instance](Instance) of the task; [`Forms::at`]
//! looks at another, and shares all that was made.
//!
//! Invariant: the same form is the same value: states and symbols of an instance have the same numbers for every engine and
//! checker of a check.

use crate::above::thread_modular;
use crate::budget::Budget;
use crate::engine::{Outcome, Question};
use crate::journal::Journal;
use allways_evidence::counted::{Counting, counters_of};
use allways_evidence::counters::Run;
use allways_evidence::{Products, StopReason, Subject};
use allways_model::counters::Counters;
use allways_model::encoding::{Encoded, NoEncoding, Threads};
use allways_model::program::inputs::Inputs;
use allways_model::program::reduction::{Reduction, reduce};
use allways_model::program::{Count, Program};
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{Explicit, Pushdown};
use allways_model::task::{Abstraction, Instance, Model, Task};
use allways_model::threads::NoSuchThreads;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A task, seen as one of its instances.
#[derive(Clone)]
pub struct Forms<'a> {
    source: Source<'a>,
    question: Arc<Question>,
    /// Whether the question is what can be reached, whatever must not be.
    reach: bool,
    instance: Instance,
    /// Values for some choices of the program; then nothing is proved of it.
    inputs: Option<Arc<Inputs>>,
    made: Arc<Made>,
}

#[derive(Clone, Copy)]
enum Source<'a> {
    Task(&'a Task),
    /// A system without a notation, as in tests.
    System(&'a dyn Pushdown),
}

/// How many threads, and what is given to the program.
type EncodingKey = (Threads, Option<Arc<Inputs>>);

#[derive(Default)]
struct Made {
    journal: Arc<Journal>,
    reduction: OnceLock<Arc<Reduction>>,
    encodings: Mutex<HashMap<EncodingKey, Result<Arc<Encoded>, NoEncoding>>>,
    counted: Mutex<Option<Arc<CountedForm>>>,
    counted_run: Mutex<Option<Arc<CountedRun>>>,
    abstractions: [OnceLock<Arc<Made>>; Abstraction::ALL.len()],
}

/// A pushdown system.
pub enum System<'a> {
    /// One that somebody else has.
    Borrowed(&'a dyn Pushdown),
    /// Its rules.
    Rules(Arc<Explicit>),
    /// A program, whose rules are made when they are needed.
    Program(Arc<Encoded>),
}

impl<'a> Deref for System<'a> {
    type Target = dyn Pushdown + 'a;

    fn deref(&self) -> &(dyn Pushdown + 'a) {
        match self {
            System::Borrowed(system) => *system,
            System::Rules(rules) => &**rules,
            System::Program(encoded) => &**encoded,
        }
    }
}

/// A pushdown system, and what is asked of it.
pub struct PushdownForm<'a> {
    /// The system.
    pub system: System<'a>,
    /// The question, with the property in terms of the system.
    pub question: Question,
    /// The inputs that were given.
    pub inputs: Option<Arc<Inputs>>,
}

impl PushdownForm<'_> {
    /// What evidence about it is about.
    pub fn subject(&self) -> Subject<'_> {
        let inputs = self.inputs.as_deref();
        Subject::Pushdown { system: &*self.system, property: &self.question.property, inputs }
    }
}

/// A run of a program as counters have it.
#[derive(Clone, Debug)]
pub struct CountedRun {
    /// For each thread of the instance with any number, how many it stands for.
    pub counts: Vec<u64>,
    /// The run of the counter system.
    pub run: Run,
}

/// A program with any number of threads, as a counter system.
pub struct CountedForm {
    /// The thread states that can occur.
    pub products: Products,
    /// The counter system.
    pub counting: Counting,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Forms<'a> {
    /// The forms of a task; its property is that of the question. Where the task leaves the number of threads open, one.
    pub fn new(task: &'a Task, question: &Question) -> Forms<'a> {
        let question = Question { property: task.property.clone(), ..question.clone() };
        Forms {
            source: Source::Task(task),
            question: Arc::new(question),
            reach: false,
            instance: Instance::Few(1),
            inputs: None,
            made: Arc::default(),
        }
    }

    /// The forms of a task of which only the reachable states are asked for.
    pub fn reaching(task: &'a Task, question: &Question) -> Forms<'a> {
        let forms = Forms::new(task, question);
        let question = Question { property: Property::default(), ..question.clone() };
        Forms { question: Arc::new(question), reach: true, ..forms }
    }

    /// A system, and what is asked of it.
    pub fn of_system(system: &'a dyn Pushdown, question: &Question) -> Forms<'a> {
        let (question, made) = (Arc::new(question.clone()), Arc::default());
        let (instance, inputs) = (Instance::Few(1), None);
        Forms { source: Source::System(system), question, reach: false, instance, inputs, made }
    }

    /// The same with one more state of a pushdown system to be avoided.
    #[must_use]
    pub fn avoiding(&self, pattern: Pattern) -> Forms<'a> {
        let mut question = Question::clone(&self.question);
        question.property.bad.push(pattern);
        Forms { question: Arc::new(question), ..self.clone() }
    }

    /// Another instance of the same task.
    #[must_use]
    pub fn at(&self, instance: Instance) -> Forms<'a> {
        Forms { instance, ..self.clone() }
    }

    /// The same with values for some choices of the program.
    #[must_use]
    pub fn with_inputs(&self, inputs: Arc<Inputs>) -> Forms<'a> {
        Forms { inputs: Some(inputs), ..self.clone() }
    }

    /// Whether values are given to choices of the program.
    pub fn has_inputs(&self) -> bool {
        self.inputs.is_some()
    }

    /// The task of this kind beside it, whose proofs count, if there is one.
    pub fn abstraction(&self, kind: Abstraction) -> Option<Forms<'a>> {
        let task = self.task()?.abstraction(kind)?;
        let make = || Arc::new(Made { journal: self.made.journal.clone(), ..Made::default() });
        let made = self.made.abstractions[kind as usize].get_or_init(make).clone();
        Some(Forms { source: Source::Task(task), made, inputs: None, ..self.clone() })
    }

    /// What an outcome is about.
    #[must_use]
    pub fn of(&self, outcome: &Outcome) -> Forms<'a> {
        let other = outcome.abstraction.and_then(|kind| self.abstraction(kind));
        let mut forms = other.unwrap_or_else(|| self.clone());
        if let Some(inputs) = &outcome.inputs {
            forms = forms.with_inputs(inputs.clone());
        }
        outcome.instance.clone().map_or_else(|| forms.clone(), |instance| forms.at(instance))
    }

    /// The instance.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// What is asked, with the property as the task has it.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// The task, unless it is a system without one.
    pub fn task(&self) -> Option<&'a Task> {
        match self.source {
            Source::Task(task) => Some(task),
            Source::System(_) => None,
        }
    }

    /// The program, if it is one.
    pub fn program(&self) -> Option<&'a Arc<Program>> {
        self.task()?.program()
    }

    /// The counter system, if it is one.
    pub fn counters(&self) -> Option<&'a Counters> {
        match &self.task()?.model {
            Model::Counters(counters) => Some(counters),
            Model::Program(_) | Model::Rules(_) => None,
        }
    }

    /// Whether something is to be avoided.
    pub fn has_property(&self) -> bool {
        !self.reach && (self.program().is_some() || !self.question.property.is_empty())
    }

    /// Which engines have run.
    pub fn journal(&self) -> &Journal {
        &self.made.journal
    }

    /// Whether the number of threads is left open.
    pub fn is_open(&self) -> bool {
        self.task().is_some_and(Task::is_open)
    }

    /// The instance as a pushdown system, or why it is none.
    pub fn pushdown(&self) -> Result<PushdownForm<'a>, StopReason> {
        let question = Question::clone(&self.question);
        let system = match self.source {
            Source::System(system) => System::Borrowed(system),
            Source::Task(task) => match &task.model {
                Model::Rules(rules) => System::Rules(rules.clone()),
                Model::Program(program) => {
                    let encoded = self.encoded(task, program)?;
                    let property = match self.reach {
                        true => Property::default(),
                        false => encoded.property(question.property.deadlock),
                    };
                    let question = Question { property, ..question };
                    let inputs = self.inputs.clone();
                    return Ok(PushdownForm { system: System::Program(encoded), question, inputs });
                }
                Model::Counters(_) => {
                    let why = "counter systems have no pushdown form".to_string();
                    return Err(StopReason::GaveUp(why));
                }
            },
        };
        Ok(PushdownForm { system, question, inputs: None })
    }

    /// The instance of a program as a pushdown system, or why and where it is none.
    pub fn encoding(&self) -> Option<Result<Arc<Encoded>, NoEncoding>> {
        let (task, program) = (self.task()?, self.program()?);
        let threads = task.threads_of(program, &self.instance).ok().flatten()?;
        Some(self.encode(program, &threads))
    }

    fn encoded(&self, task: &Task, program: &Arc<Program>) -> Result<Arc<Encoded>, StopReason> {
        let gave_up = |why: String| StopReason::GaveUp(why);
        let threads = task.threads_of(program, &self.instance).map_err(|error| gave_up(error.to_string()))?;
        let closed = || gave_up("the program leaves no number of threads open".to_string());
        let encoded = self.encode(program, &threads.ok_or_else(closed)?);
        encoded.map_err(|error| gave_up(format!("line {}: {}", error.span.line, error.what)))
    }

    fn encode(&self, program: &Arc<Program>, threads: &Threads) -> Result<Arc<Encoded>, NoEncoding> {
        let mut encodings = lock(&self.made.encodings);
        let key = (threads.clone(), self.inputs.clone());
        if let Some(known) = encodings.get(&key) {
            return known.clone();
        }
        let encoded = match &self.inputs {
            None => {
                // What can be reached is asked of all states; what goes wrong, of those in which threads stop.
                let make = if self.reach || self.question.unreduced { Encoded::of } else { Encoded::joined };
                make(program.clone(), self.reduction(program), threads)
            }
            // An execution with inputs is known step by step.
            Some(inputs) => {
                let given = inputs.given(program);
                let reduced = Arc::new(self.reduced(&given));
                Encoded::of(Arc::new(given), reduced, threads)
            }
        };
        let encoded = encoded.map(Arc::new);
        encodings.insert(key, encoded.clone());
        encoded
    }

    /// What matters of the program.
    pub fn reduction(&self, program: &Program) -> Arc<Reduction> {
        self.made.reduction.get_or_init(|| Arc::new(self.reduced(program))).clone()
    }

    fn reduced(&self, program: &Program) -> Reduction {
        if self.question.unreduced { Reduction::none(program) } else { reduce(program) }
    }

    /// The program with any number of threads, as a counter system; or why it is none. What was not finished in time is not
    /// remembered.
    pub fn counted(&self, budget: &Budget) -> Result<Arc<CountedForm>, StopReason> {
        if let Some(known) = &*lock(&self.made.counted) {
            return Ok(known.clone());
        }
        let form = self.at(Instance::Any).pushdown()?;
        let made = Arc::new(count_threads(&form, budget)?);
        *lock(&self.made.counted) = Some(made.clone());
        Ok(made)
    }

    /// A run that goes wrong, as counters have it, if one was found.
    pub fn counted_run(&self) -> Option<Arc<CountedRun>> {
        lock(&self.made.counted_run).clone()
    }

    /// Remembers a run that goes wrong.
    pub fn remember_counted_run(&self, run: CountedRun) {
        *lock(&self.made.counted_run) = Some(Arc::new(run));
    }

    /// What evidence of this [kind](allways_evidence::Evidence::kind) about this instance is about.
    pub fn with_subject<T>(&self, kind: &str, then: impl FnOnce(&Subject<'_>) -> T) -> Result<T, StopReason> {
        if let Some(counters) = self.counters() {
            return Ok(then(&Subject::Counters(counters)));
        }
        if let (Some(task), Some(program), "views" | "lasso" | "ranking") =
            (self.task(), self.program(), kind)
        {
            let gave_up = |error: NoSuchThreads| StopReason::GaveUp(error.to_string());
            let counts = task.counts(program).map_err(gave_up)?;
            let (deadlock, stuck) = (self.question.property.deadlock, task.stuck && !self.reach);
            return Ok(then(&Subject::Program { program, counts: &counts, deadlock, stuck }));
        }
        let form = self.pushdown()?;
        Ok(then(&form.subject()))
    }

    /// Whether, in this instance of a program, rules are missing because a limit was hit.
    pub fn limits_hit(&self) -> bool {
        matches!(self.encoding(), Some(Ok(encoded)) if encoded.missing_steps().is_some())
    }

    /// Forgets that a limit was hit; whether something may be different then.
    pub fn reset_limits(&self) -> bool {
        let Some(Ok(encoded)) = self.encoding() else { return false };
        encoded.reset_limits();
        encoded.missing_steps().is_none()
    }

    /// The instance with so many threads where one of the crowd stood for any number: for each thread of the instance with
    /// any number, how many it stands for.
    pub fn exactly(&self, counts: &[u64]) -> Option<Forms<'a>> {
        let (task, program) = (self.task()?, self.program()?);
        let Some(Ok(crowd)) = self.at(Instance::Any).encoding() else { return None };
        let mut numbers: Vec<(String, usize)> = Vec::new();
        for (role, &count) in crowd.roles().iter().zip(counts).filter(|(role, _)| role.many) {
            let template = &program.templates[role.template];
            let from_the_start = match template.count {
                Count::Fixed(count) => count,
                Count::Any => 0,
            };
            let count = usize::try_from(count).unwrap_or(usize::MAX).saturating_add(from_the_start);
            match numbers.iter_mut().find(|(name, _)| *name == template.name) {
                Some((_, known)) => *known = known.saturating_add(count),
                None => numbers.push((template.name.clone(), count)),
            }
        }
        Some(self.at(Instance::Exactly(task.threads.and(numbers))))
    }
}

/// A system, with any number of threads where its threads are many, as a counter system.
pub fn count_threads(form: &PushdownForm<'_>, budget: &Budget) -> Result<CountedForm, StopReason> {
    let (system, property) = (&*form.system, &form.question.property);
    let products = thread_modular::bound(system, &form.question, budget).ok_or_else(|| {
        let why = "there are too many thread states to count threads by".to_string();
        budget.check().err().unwrap_or(StopReason::GaveUp(why))
    })?;
    let counting = counters_of(system, property, &products, &|| budget.check().err())?;
    Ok(CountedForm { products, counting })
}
