//! A syntax tree to a program: names, types and constants are checked on the way.
//!
//! First all names outside bodies are collected; then variables, constants and the heads of routines are declared in the
//! order of the text; then the bodies become control-flow graphs; then the properties, which speak of labels. Something
//! with an error in it is reported once and becomes `None` from there on.

mod atomic;
mod body;
mod builtins;
mod callers;
mod channels;
mod declarations;
mod expressions;
mod flow;
mod identities;
mod lifted;
mod locals;
mod parts;
mod properties;
mod quantifiers;
mod references;
mod simple;
mod statements;
mod unused;
mod variables;

use super::Definitions;
use super::ast::{Expr, ExprKind, Item, Module, Name, Routine, RoutineKind, Selector};
use super::names::{Globals, Meaning};
use super::suggest::{did_you_mean, quote};
use crate::cursor::range;
use crate::diagnostic::{Diagnostics, Severity};
use allways_model::program::{LocationId, Program, Slot, Span, TemplateId, Type, Value, Variable};
use body::Body;
use channels::Channel;
use identities::Identity;
use lifted::Lifted;
use parts::{Base, Of, Shape, Structure};
use references::Key;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Lowers a text without syntax errors.
pub(super) fn lower<'a>(
    module: &'a Module<'a>,
    definitions: &'a Definitions,
    diagnostics: &mut Diagnostics,
) -> Option<Program> {
    let (globals, twice) = Globals::collect(module);
    let mut lowering = Lowering {
        diagnostics,
        definitions,
        redefined: HashSet::new(),
        enumerations: Vec::new(),
        structures: Vec::new(),
        shapes: HashMap::new(),
        local_shapes: HashMap::new(),
        channels: Vec::new(),
        identities: Vec::new(),
        globals,
        program: Program::default(),
        heads: Vec::new(),
        kinds: Vec::new(),
        slots: 0,
        asynchronous: false,
        running: 0,
        counted: HashSet::new(),
        mode: Mode::Constant,
        bound: Vec::new(),
        spoken_of: HashSet::new(),
        lifted: HashMap::new(),
        specialised: Vec::new(),
        numbers: HashMap::new(),
        instances: 0,
        body: Body::default(),
        summaries: Vec::new(),
        locals: HashMap::new(),
        spawns: Vec::new(),
        labels: Vec::new(),
        marks: HashMap::new(),
        hint: None,
        listed: 0,
        warnings: Vec::new(),
    };
    for (name, first) in twice {
        let message = format!("{} is declared twice, first in line {}", quote(name.text), first.line);
        lowering.error(name.span, message, None);
    }
    lowering.module(module);
    let program = (!lowering.diagnostics.has_errors()).then_some(lowering.program);
    debug_assert_eq!(program.as_ref().map_or(Ok(()), Program::validate), Ok(()));
    program
}

/// Where an expression stands, which decides what it may say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// Where a constant is needed.
    Constant,
    /// In a body.
    Body,
    /// In `never`.
    Never,
    /// In `predicate`.
    Hint,
}

/// What others need to know about a routine.
#[derive(Clone)]
struct Head {
    /// The types of parameters that are values.
    parameters: Vec<Option<Type>>,
    /// Of each parameter that stands for a variable, what that is.
    references: Vec<Option<Of>>,
    result: Option<Type>,
    /// A result type is given, be it understood or not.
    has_result: bool,
    template: Option<TemplateId>,
}

/// What a body does that matters to those who call it.
#[derive(Default)]
struct Summary {
    calls: Vec<Call>,
    /// A statement for which there is no place inside `atomic`.
    unfit: Option<&'static str>,
    /// Where it asks for the number of its thread.
    asks: Option<Span>,
}

struct Call {
    callee: usize,
    name: Span,
    atomic: bool,
}

/// A label, once its body is done.
struct Mark<'a> {
    name: Name<'a>,
    procedure: usize,
    /// Where it is, if control gets there.
    location: Option<LocationId>,
    used: bool,
    atomic: bool,
}

/// Who has local variables of a name.
struct Owners {
    /// The first of them.
    first: usize,
    /// The bodies of threads and tasks among them, in order, with the place in the list of local variables.
    threads: Vec<(usize, usize)>,
}

struct Lowering<'a, 'd> {
    diagnostics: &'d mut Diagnostics,
    /// Values for constants that were given from outside.
    definitions: &'a Definitions,
    /// The constants that got one.
    redefined: HashSet<&'a str>,
    /// The names of the values of each enumeration.
    enumerations: Vec<Arc<[String]>>,
    structures: Vec<Structure<'a>>,
    /// What shared variables are that are laid out as several, or in several dimensions; by the first one.
    shapes: HashMap<usize, Shape>,
    /// The same of local variables, by their procedure and the first one, once their bodies are done.
    local_shapes: HashMap<(usize, usize), Shape>,
    channels: Vec<Channel>,
    identities: Vec<Identity<'a>>,
    globals: Globals<'a>,
    program: Program,
    /// By the number of the procedure.
    heads: Vec<Head>,
    /// Of each parameter of a routine, by its number: whether it is a reference.
    kinds: Vec<Vec<bool>>,
    /// How many slots there are so far, shared and local.
    slots: usize,
    asynchronous: bool,
    /// Of an asynchronous program, the slot that says whether a task runs.
    running: Slot,
    /// The labels that some property mentions.
    counted: HashSet<&'a str>,
    mode: Mode,
    /// The names that quantifiers around give values, the innermost last; and of which threads these are the numbers.
    bound: Vec<(&'a str, Value, Option<usize>)>,
    /// The local variables of threads of which properties speak: the thread and the name.
    spoken_of: HashSet<(&'a str, &'a str)>,
    /// Where these are, by the procedure and the name.
    lifted: HashMap<(usize, &'a str), Lifted>,
    /// The procedures with references, each with those that it was made for; by the number of the first procedure that is one.
    specialised: Vec<(usize, Vec<Base>)>,
    /// The numbers of these.
    numbers: HashMap<(usize, Vec<Key>), usize>,
    /// How many expressions quantifiers were made of so far.
    instances: usize,
    /// The body at hand.
    body: Body<'a>,
    /// By the number of the procedure.
    summaries: Vec<Summary>,
    /// The local variables of all bodies.
    locals: HashMap<&'a str, Owners>,
    spawns: Vec<(TemplateId, Name<'a>)>,
    labels: Vec<Mark<'a>>,
    /// The labels of each name.
    marks: HashMap<&'a str, Vec<usize>>,
    /// The procedure of which the predicate at hand has mentioned local variables.
    hint: Option<usize>,
    /// How many labels the `at`s so far stand for.
    listed: usize,
    /// Warnings that are given if there are no errors.
    warnings: Vec<(Span, String)>,
}

impl<'a> Lowering<'a, '_> {
    fn module(&mut self, module: &'a Module<'a>) {
        let routines: Vec<&'a Routine<'a>> = module
            .items
            .iter()
            .filter_map(|item| if let Item::Routine(routine) = item { Some(routine) } else { None })
            .collect();
        self.kind_of_program(&routines, module.end);
        for item in &module.items {
            self.declare(item);
        }
        self.check_definitions(module.end);
        if self.asynchronous {
            self.declare_running();
        }
        for item in &module.items {
            match item {
                Item::Never(_, expr, _) => {
                    count_labels(expr, &mut self.counted);
                    lifted::spoken_of(expr, &mut Vec::new(), &mut self.spoken_of);
                }
                Item::Eventually(eventually) => {
                    self.counted.insert(eventually.label.text);
                }
                _ => {}
            }
        }
        self.mode = Mode::Body;
        for (number, routine) in routines.iter().enumerate() {
            self.lower_body(number, routine);
        }
        self.lower_specialised(&routines);
        self.check_callers();
        self.check_identities();
        self.check_atomic();
        self.check_spawns();
        self.properties(module);
        if !self.diagnostics.has_errors() {
            self.warn_unused();
        }
    }

    /// Complains about values for constants that are not there.
    fn check_definitions(&mut self, end: Span) {
        for name in self.definitions.keys() {
            if !self.redefined.contains(name.as_str()) {
                let constants =
                    self.globals.iter().filter(|global| matches!(global.meaning, Meaning::Constant(..)));
                let help = did_you_mean(name, constants.map(|global| global.name.text));
                let message =
                    format!("expected a constant {}, whose value is given by `-D`, found none", quote(name));
                self.error(end, message, help);
            }
        }
    }

    /// Threads, or tasks, or nothing to run.
    fn kind_of_program(&mut self, routines: &[&'a Routine<'a>], end: Span) {
        let mains = || routines.iter().filter(|routine| matches!(routine.kind, RoutineKind::Main));
        let task =
            routines.iter().find(|routine| matches!(routine.kind, RoutineKind::Task | RoutineKind::Main));
        let thread = routines.iter().find(|routine| matches!(routine.kind, RoutineKind::Thread(_)));
        self.asynchronous = task.is_some();
        match (task, thread) {
            (Some(task), Some(thread)) => {
                let help = "an asynchronous program consists of `main` and tasks; other programs of threads";
                let message = format!(
                    "expected no thread in an asynchronous program (see line {}), found {}",
                    task.name.span.line,
                    quote(thread.name.text)
                );
                self.error(thread.name.span, message, Some(help.to_string()));
            }
            (Some(task), None) if mains().next().is_none() => {
                let help = "write `main { post …; }`".to_string();
                self.error(
                    task.name.span,
                    "expected `main` beside the tasks, found none".to_string(),
                    Some(help),
                );
            }
            (None, None) => {
                let help = "a program runs what stands in `thread name { … }`".to_string();
                self.error(end, "expected a thread, found the end of the file".to_string(), Some(help));
            }
            _ => {}
        }
    }

    fn error(&mut self, span: Span, message: String, help: Option<String>) {
        self.diagnostics.add(Severity::Error, range(span), || (message, help));
    }

    fn warn(&mut self, span: Span, message: String, help: Option<String>) {
        self.diagnostics.add(Severity::Warning, range(span), || (message, help));
    }

    /// What a name outside bodies means. An error if it means nothing, or is declared only later.
    fn global(&mut self, name: Name<'a>, expected: &str) -> Option<Meaning> {
        match self.globals.get(name.text) {
            Some(global) if global.ready <= name.span.start => Some(global.meaning),
            Some(global) => {
                let line = global.name.span.line;
                let message = format!("{} is used before it is declared, in line {line}", quote(name.text));
                self.none(name.span, message, Some("move the declaration up".to_string()))
            }
            None => {
                let (diagnostics, globals) = (&mut *self.diagnostics, &self.globals);
                diagnostics.add(Severity::Error, range(name.span), || {
                    let names = globals.iter().map(|global| global.name.text);
                    let help = did_you_mean(name.text, names);
                    (format!("expected {expected}, found the unknown name {}", quote(name.text)), help)
                });
                None
            }
        }
    }

    /// Says that a name means something else than what is needed here.
    fn misfit(&mut self, name: Name<'a>, expected: &str, found: Meaning, help: Option<&str>) {
        // What has an error in its own declaration has been reported there.
        if !matches!(found, Meaning::Unclear) {
            let message = format!("expected {expected}, found {}, {}", quote(name.text), found.words());
            self.error(name.span, message, help.map(str::to_string));
        }
    }

    /// Whether a routine is a task, and not `main`.
    fn is_task(&self, procedure: usize) -> bool {
        let template = self.heads.get(procedure).and_then(|head| head.template);
        template.is_some_and(|template| self.program.templates[template].vanishes)
    }

    /// A shared or local variable.
    fn variable(&self, found: Found) -> &Variable {
        match found {
            Found::Local(number) => &self.body.locals[number],
            Found::LocalOf(procedure, number) => &self.program.procedures[procedure].locals[number],
            Found::Shared(number) => &self.program.shared[number],
            Found::Alias(number) => self.variable(self.body.aliases[number].base.found),
        }
    }
}

/// A variable.
#[derive(Clone, Copy, Debug)]
enum Found {
    Shared(usize),
    /// Of the body at hand.
    Local(usize),
    /// Of a body that is done.
    LocalOf(usize, usize),
    /// What stands for something else in the body at hand.
    Alias(usize),
}

impl Found {
    /// The variable so many after this one.
    fn plus(self, offset: usize) -> Found {
        match self {
            Found::Shared(number) => Found::Shared(number + offset),
            Found::Local(number) => Found::Local(number + offset),
            Found::LocalOf(procedure, number) => Found::LocalOf(procedure, number + offset),
            Found::Alias(number) => Found::Alias(number),
        }
    }
}

/// A value of a constant.
type Constant = (Value, super::names::Sort);

/// Adds the labels that an expression counts threads at.
fn count_labels<'a>(expr: &Expr<'a>, labels: &mut HashSet<&'a str>) {
    match &expr.kind {
        ExprKind::At(_, label) => {
            labels.insert(label.text);
        }
        ExprKind::Part(_, selectors) => {
            selectors.iter().filter_map(Selector::index).for_each(|index| count_labels(index, labels));
        }
        ExprKind::Unary(_, part) | ExprKind::Quantified(_, _, part) | ExprKind::OfThreads(_, _, _, part) => {
            count_labels(part, labels);
        }
        ExprKind::Binary(_, left, right) => {
            count_labels(left, labels);
            count_labels(right, labels);
        }
        ExprKind::If(condition, then, other) => {
            count_labels(condition, labels);
            count_labels(then, labels);
            count_labels(other, labels);
        }
        _ => {}
    }
}
