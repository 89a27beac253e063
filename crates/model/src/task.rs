//! What is asked: a model, what must never happen, and for how many threads.
//!
//! A [`Task`] is the question of a whole check, whatever the notation it came from and whichever engine answers. Where a
//! program leaves the number of threads open, engines are asked about *instances* of it ([`Instance`]): a few threads, any
//! number of them, or a number that somebody found out.

use crate::counters::Counters;
use crate::encoding::Threads;
use crate::program::{Count, Program, Template, Type};
use crate::property::Property;
use crate::pushdown::Explicit;
use crate::threads::{Counts, NoSuchThreads};
use std::sync::Arc;

/// The most threads of a template that are tried if neither the program nor the user says how many.
pub const MOST_TRIED: usize = 4;

/// A question.
#[derive(Clone, Debug)]
pub struct Task {
    /// What it is about.
    pub model: Model,
    /// What must never happen. Of a program, its assertions and `never` are always part of it; of a counter system, its
    /// targets.
    pub property: Property,
    /// Of a program, whether threads that are stuck for ever are looked for, too. Other promises of progress are the program's own.
    pub stuck: bool,
    /// Of a program, how many threads, where the user says so.
    pub threads: Counts,
    /// The text that it was read from; empty if there is none.
    pub source: Source,
    /// Why the model may do more than what it was read from, so that a counterexample may be none.
    pub widened: Option<String>,
    /// The same question about a model that stops where this one may do more, so that its counterexamples are real.
    pub exact: Option<Box<Task>>,
    /// The same question about models that may do more, so that their proofs are real; one of each kind. Not for deadlocks.
    pub abstractions: Vec<(Abstraction, Task)>,
    /// Why what it was read from may do more than the model, so that a proof says less than it seems to.
    pub narrowed: Option<String>,
}

/// A text, and what to call it in messages: a path, or the option that it was given with.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Source {
    /// A path, or an option such as `--init`.
    pub name: String,
    /// The text; perhaps not even text.
    pub text: Arc<Vec<u8>>,
}

/// A system that was read.
#[derive(Clone, Debug)]
pub enum Model {
    /// A program, with its own assertions and properties.
    Program(Arc<Program>),
    /// The rules of a concurrent pushdown system.
    Rules(Arc<Explicit>),
    /// A counter system, with its targets.
    Counters(Arc<Counters>),
}

impl Model {
    /// What it is, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Model::Program(_) => "program",
            Model::Rules(_) => "pushdown system",
            Model::Counters(_) => "counter system",
        }
    }
}

/// A range of more values than this is like an integer without bounds.
const FEW_VALUES: u64 = 1 << 16;

/// A task beside a task, of which only proofs count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Abstraction {
    /// It has less data.
    Coarse,
    /// What formulas can say: threads without procedures and events, and data that is bounded more closely. It goes wrong where a
    /// bound does not hold.
    Formulas,
    /// The part of the model that decides the question, with any number of threads where there are many.
    Part,
    /// Locks and what they protect, if the question is one about data races.
    Locks,
}

impl Abstraction {
    /// All of them.
    pub const ALL: [Abstraction; 4] =
        [Abstraction::Coarse, Abstraction::Formulas, Abstraction::Part, Abstraction::Locks];
}

/// Which numbers of threads an engine is asked about.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Instance {
    /// This many where the task leaves the number open; else what the task says.
    Few(usize),
    /// Any number wherever the task leaves the number open.
    Any,
    /// These.
    Exactly(Counts),
}

impl Task {
    /// The question whether a model can go wrong.
    pub fn new(model: Model) -> Task {
        let (property, threads, source) = (Property::default(), Counts::default(), Source::default());
        Task {
            model,
            property,
            stuck: false,
            threads,
            source,
            widened: None,
            exact: None,
            abstractions: Vec::new(),
            narrowed: None,
        }
    }

    /// The program, if it is one.
    pub fn program(&self) -> Option<&Arc<Program>> {
        match &self.model {
            Model::Program(program) => Some(program),
            Model::Rules(_) | Model::Counters(_) => None,
        }
    }

    /// Whether something is asked that no set of states can answer: whether threads come to where they should, or are stuck.
    pub fn asks_progress(&self) -> bool {
        self.program().is_some_and(|program| self.stuck || !program.progress.is_empty())
    }

    /// The task of this kind beside it, if there is one.
    pub fn abstraction(&self, kind: Abstraction) -> Option<&Task> {
        self.abstractions.iter().find(|(of, _)| *of == kind).map(|(_, task)| task)
    }

    /// Adds a task of this kind, about a program.
    pub fn abstract_by(&mut self, kind: Abstraction, program: Program) {
        let model = Model::Program(Arc::new(program));
        let task = Task { model, exact: None, abstractions: Vec::new(), ..self.clone() };
        self.abstractions.push((kind, task));
    }

    /// Whether there may be any number of threads: of a program, because it says so, or creates them.
    pub fn has_crowds(&self) -> bool {
        let is_crowd = |template: &Template| template.spawned || template.count == Count::Any;
        self.program().is_none_or(|program| program.templates.iter().any(is_crowd))
    }

    /// Whether the number of threads is left open.
    pub fn is_open(&self) -> bool {
        self.program().is_some_and(|program| self.threads.threads(program, 1).is_ok_and(|(_, open)| open))
    }

    /// Whether variables without bounds occur.
    pub fn has_integers(&self) -> bool {
        self.has_variable(|ty| ty == Type::Int)
    }

    /// Whether variables occur that have no bounds, or so wide ones that their values are not few.
    pub fn has_wide_values(&self) -> bool {
        self.has_variable(|ty| match ty {
            Type::Int => true,
            Type::Range(low, high) => low.abs_diff(high) > FEW_VALUES,
            Type::Bool | Type::Lock => false,
        })
    }

    fn has_variable(&self, of: impl Fn(Type) -> bool) -> bool {
        let Some(program) = self.program() else { return false };
        let locals = program.procedures.iter().flat_map(|procedure| &procedure.locals);
        program.shared.iter().chain(locals).any(|variable| of(variable.ty))
    }

    /// How many threads of each template there are; none where any number may be.
    pub fn counts(&self, program: &Program) -> Result<Vec<Option<usize>>, NoSuchThreads> {
        self.threads.by_template(program)
    }

    /// The threads of an instance; `None` if any number is asked for and the task leaves no number open.
    pub fn threads_of(
        &self,
        program: &Program,
        instance: &Instance,
    ) -> Result<Option<Threads>, NoSuchThreads> {
        match instance {
            Instance::Few(number) => Ok(Some(self.threads.threads(program, *number)?.0)),
            Instance::Any => self.threads.any_number(program),
            Instance::Exactly(counts) => Ok(Some(counts.threads(program, 1)?.0)),
        }
    }

    /// The option that asks for the numbers of threads of an instance, if the task leaves them open.
    pub fn numbers_taken(&self, instance: &Instance) -> Option<String> {
        let program = self.program()?;
        match instance {
            Instance::Any => None,
            Instance::Exactly(counts) => {
                let found = counts.without(&self.threads);
                (!found.is_empty()).then(|| format!("--threads {found}"))
            }
            Instance::Few(number) => {
                if !self.is_open() {
                    return None;
                }
                let open = |template: &&Template| template.spawned || template.count == Count::Any;
                let taken = program.templates.iter().filter(open).map(|template| match template.count {
                    Count::Any => format!("{}={number}", template.name),
                    Count::Fixed(count) => format!("{}={}", template.name, count + number),
                });
                Some(format!("--threads {}", taken.collect::<Vec<_>>().join(",")))
            }
        }
    }
}
