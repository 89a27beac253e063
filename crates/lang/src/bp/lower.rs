//! From syntax to a program: what names mean, which functions are kept, and which of them threads run.

mod expressions;
mod statements;

use super::Parsed;
use super::precedence::Dialect;
use super::syntax::{Action, Declaration, File, Function, Name, Statement};
use crate::cursor::range;
use crate::diagnostic::{Diagnostics, Severity, excerpt};
use allways_model::program::{
    Count, Edge, EventId, Expr, Label, Location, LocationId, Op, Procedure, ProcedureId, Program, Slot, Span,
    Template, TemplateId, Type, Variable,
};
use std::collections::{HashMap, HashSet};

/// Makes a program of what was read, unless something is wrong with it.
pub(super) fn lower<'a>(
    mut file: File<'a>,
    end_of_text: usize,
    watched: &'a [String],
    diagnostics: Diagnostics,
) -> Parsed {
    let dialect = if file.integer_labels == Some(true) { Dialect::Ijit } else { Dialect::Satabs };
    let unread = diagnostics.has_errors();
    let mut lowering = Lowering {
        program: Program::default(),
        diagnostics,
        dialect,
        watched: watched.iter().map(String::as_str).collect(),
        first: None,
        numbered: 0,
        shared: HashMap::new(),
        functions: HashMap::new(),
        own: Vec::new(),
        mixed: false,
        meetings: HashMap::new(),
        meeting_places: HashSet::new(),
        foreign_forks: Vec::new(),
    };
    let own = lowering.globals(&file.globals);
    let functions = lowering.keep(&mut file.functions);
    let starts = lowering.threads(&functions);
    lowering.thread_locals(own, &functions);
    if !starts && !unread {
        let words = || ("expected a function `main`, found the end of the file".to_string(), None);
        lowering.diagnostics.add(Severity::Error, end_of_text..end_of_text, words);
    }
    for (procedure, function) in functions.into_iter().enumerate() {
        lowering.function(ProcedureId(procedure), function);
    }
    lowering.finish()
}

/// A program that is being made.
pub(super) struct Lowering<'a> {
    program: Program,
    diagnostics: Diagnostics,
    dialect: Dialect,
    /// The labels at which it is wrong to be.
    watched: HashSet<&'a str>,
    /// What runs before the threads of a program without `main`, and how many parameters it has…
    first: Option<(ProcedureId, usize)>,
    /// …and how many templates then start, the first ones.
    numbered: usize,
    /// The shared variables.
    shared: HashMap<&'a str, Slot>,
    /// The functions that are kept. Their procedures come first and have the same numbers.
    functions: HashMap<&'a str, Signature>,
    /// The variables that belong to each thread although they are declared outside.
    own: Vec<Declaration<'a>>,
    /// Whether some variable is written by other threads.
    mixed: bool,
    /// For each event of a `sync`, whether a thread waits for another there, and whether that has come.
    meetings: HashMap<&'a str, (Slot, Slot)>,
    /// Where threads meet.
    meeting_places: HashSet<LocationId>,
    /// Where functions that are no bodies of threads start threads at a location of their own.
    foreign_forks: Vec<Span>,
}

/// What a caller must know about a function.
#[derive(Clone, Copy)]
pub(super) struct Signature {
    procedure: ProcedureId,
    parameters: usize,
    results: usize,
    /// Whether it is called.
    called: bool,
    /// The threads that run it.
    template: Option<TemplateId>,
}

impl Signature {
    /// Whether it is the body of threads itself.
    fn is_body(&self) -> bool {
        self.template.is_some() && !self.called
    }
}

impl<'a> Lowering<'a> {
    /// Declares the shared variables, and gives back those that each thread has its own of.
    fn globals(&mut self, declared: &[Declaration<'a>]) -> Vec<Declaration<'a>> {
        let mut own = Vec::new();
        for &Declaration { name, initial, thread_local } in declared {
            if thread_local {
                own.push(Declaration { name, initial, thread_local });
            } else if self.shared.contains_key(name.text) {
                self.error(name, "is declared before", None);
            } else {
                let slot = self.program.shared.len();
                self.shared.insert(name.text, slot);
                self.program.shared.push(variable(name, slot, initial));
            }
        }
        own
    }

    /// The functions that matter, in the order of the text.
    fn keep(&mut self, functions: &mut Vec<Function<'a>>) -> Vec<Function<'a>> {
        let (mut called, mut created) = (Vec::new(), Vec::new());
        let names = || functions.iter().map(|function| function.name.text);
        if names().all(|name| name != "main") {
            called.extend(names().filter(|&name| name == "init"));
            created.extend(names().filter(|name| is_numbered_thread(name)));
        }
        for function in functions.iter() {
            let mut see = |statement: &Statement<'a>| match &statement.action {
                Action::Call { function, .. } => called.push(function.text),
                Action::Create(function) => created.push(function.text),
                _ => {}
            };
            function.body.iter().for_each(|statement| statement.visit(&mut see));
        }
        called.sort_unstable();
        created.sort_unstable();
        let mut kept: Vec<Function<'a>> = Vec::new();
        for function in std::mem::take(functions) {
            let name = function.name.text;
            let is_called = called.binary_search(&name).is_ok();
            let used = is_called || name == "main" || created.binary_search(&name).is_ok();
            if self.functions.contains_key(name) {
                self.error(function.name, "is defined before", None);
                continue;
            }
            if function.body.is_empty() && !used {
                continue;
            }
            let signature = Signature {
                procedure: ProcedureId(kept.len()),
                parameters: function.parameters.len(),
                results: function.results,
                called: is_called,
                template: None,
            };
            self.functions.insert(name, signature);
            kept.push(function);
        }
        kept
    }

    /// The templates: what runs from the start, and the functions that threads are created with. Gives whether there is a start.
    fn threads(&mut self, functions: &[Function<'a>]) -> bool {
        let named = |wanted: fn(&str) -> bool| {
            functions.iter().map(|function| function.name).filter(move |name| wanted(name.text))
        };
        let mut names: Vec<Name<'a>> = named(|name| name == "main").collect();
        if names.is_empty() {
            names.extend(named(is_numbered_thread));
            let first = self.functions.get("init").filter(|_| !names.is_empty());
            self.first = first.map(|first| (first.procedure, first.parameters));
        }
        let there = names.len();
        for function in functions {
            let mut see = |statement: &Statement<'a>| {
                if let Action::Create(name) = &statement.action {
                    names.push(*name);
                }
            };
            function.body.iter().for_each(|statement| statement.visit(&mut see));
        }
        for (index, name) in names.into_iter().enumerate() {
            let runs = index < there && self.first.is_none();
            let template = TemplateId(self.program.templates.len());
            // What is not there is an error where it is asked for.
            let Some(signature) = self.functions.get_mut(name.text) else { continue };
            if signature.template.is_some() {
                // Threads that run from the start may be created too.
                self.program.templates[signature.template.unwrap_or_default()].spawned = true;
                continue;
            }
            signature.template = Some(template);
            self.program.templates.push(Template {
                name: name.text.to_string(),
                body: signature.procedure,
                count: Count::Fixed(usize::from(runs)),
                spawned: !runs,
                vanishes: false,
                uses_self: false,
                span: functions[signature.procedure.index()].name.span,
            });
        }
        self.numbered = if self.first.is_some() { there } else { 0 };
        there > 0
    }

    /// A variable of each thread is one of `main`, if no other function needs it.
    fn thread_locals(&mut self, own: Vec<Declaration<'a>>, functions: &[Function<'a>]) {
        let alone = functions.len() == 1 && self.functions.get("main").is_some_and(Signature::is_body);
        for declaration in &own {
            if !alone {
                let help = "pass it as a parameter, or declare it in each function that needs it";
                let what = "belongs to each thread, which only a program without calls can express";
                self.error(declaration.name, what, Some(help));
            }
        }
        self.own = own;
    }

    /// Adds what is neither in the text nor missing from it: bodies of threads that call a function.
    fn finish(mut self) -> Parsed {
        if self.mixed {
            for span in std::mem::take(&mut self.foreign_forks) {
                let message = "a thread is started outside of the function that it should run";
                let help = "its variables could not be written by other threads with `$`";
                self.report(span, message.to_string(), Some(help));
            }
        }
        if self.diagnostics.has_errors() {
            return Parsed { program: None, diagnostics: self.diagnostics };
        }
        let called = self.functions.values().filter(|signature| signature.called);
        let mut wrapped: Vec<(TemplateId, ProcedureId, usize)> = called
            .filter_map(|called| {
                called.template.map(|template| (template, called.procedure, called.parameters))
            })
            .collect();
        wrapped.sort_unstable();
        for (template, procedure, parameters) in wrapped {
            self.wrap(template, procedure, parameters);
        }
        if let Some(first) = self.first {
            self.start_after(first);
        }
        super::atomic::check(&self.program, &self.meeting_places, &mut self.diagnostics);
        let program = (!self.diagnostics.has_errors()).then_some(self.program);
        debug_assert_eq!(program.as_ref().map_or(Ok(()), |program| program.validate()), Ok(()));
        Parsed { program, diagnostics: self.diagnostics }
    }

    /// A body that calls a function and ends: nobody calls the body itself.
    fn wrap(&mut self, template: TemplateId, called: ProcedureId, parameters: usize) {
        let Procedure { name, span, .. } = &self.program.procedures[called];
        let (name, span) = (format!("thread {name}"), *span);
        let procedure = ProcedureId(self.program.procedures.len());
        let first = self.program.locations.len();
        let (entry, end) = (LocationId(first), LocationId(first + 1));
        let arguments = vec![Expr::Choose(0, 1); parameters];
        let call = Edge { op: Op::Call(called, arguments, Vec::new()), to: end, span };
        self.program.locations.push(Location { procedure, edges: vec![call], span });
        self.program.locations.push(Location { procedure, edges: Vec::new(), span });
        self.program.templates[template].body = procedure;
        let procedure =
            Procedure { name, locals: Vec::new(), parameters: 0, results: Vec::new(), entry, span };
        self.program.procedures.push(procedure);
    }

    /// A thread that calls what comes first, and then starts the numbered threads.
    fn start_after(&mut self, (first, parameters): (ProcedureId, usize)) {
        let span = self.program.procedures[first].span;
        let call = Op::Call(first, vec![Expr::Choose(0, 1); parameters], Vec::new());
        let spawns = (0..self.numbered).map(|template| Op::Spawn(TemplateId(template), Vec::new()));
        let procedure = ProcedureId(self.program.procedures.len());
        let entry = LocationId(self.program.locations.len());
        for op in [call].into_iter().chain(spawns) {
            let to = LocationId(self.program.locations.len() + 1);
            self.program.locations.push(Location { procedure, edges: vec![Edge { op, to, span }], span });
        }
        self.program.locations.push(Location { procedure, edges: Vec::new(), span });
        let name = "main".to_string();
        let locals = Vec::new();
        self.program.procedures.push(Procedure {
            name: name.clone(),
            locals,
            parameters: 0,
            results: Vec::new(),
            entry,
            span,
        });
        self.program.templates.push(Template {
            name,
            body: procedure,
            count: Count::Fixed(1),
            spawned: false,
            vanishes: false,
            uses_self: false,
            span,
        });
    }

    /// The event that all waits and broadcasts are about.
    fn event(&mut self) -> EventId {
        if self.program.events.is_empty() {
            self.program.events.push("wait".to_string());
        }
        EventId(0)
    }

    /// What threads that meet tell each other: that one is there, and that the other has come.
    fn meeting(&mut self, event: Name<'a>) -> (Slot, Slot) {
        if let Some(&slots) = self.meetings.get(event.text) {
            return slots;
        }
        let first = self.program.shared.len();
        for (slot, what) in (first..).zip(["waits", "came"]) {
            let name = format!("{} {what}", event.text);
            self.program.shared.push(Variable { name, ..variable(event, slot, Some(false)) });
        }
        self.meetings.insert(event.text, (first, first + 1));
        (first, first + 1)
    }

    fn location(&mut self, procedure: ProcedureId, span: Span) -> LocationId {
        self.program.locations.push(Location { procedure, edges: Vec::new(), span });
        LocationId(self.program.locations.len() - 1)
    }

    fn label(&mut self, name: Name<'a>, location: LocationId) {
        self.program.labels.push(Label { name: name.text.to_string(), location });
    }

    /// Reports that something is wrong with a name.
    fn error(&mut self, name: Name<'a>, what: &str, help: Option<&str>) {
        self.report(name.span, format!("`{}` {what}", excerpt(name.text.as_bytes())), help);
    }

    fn report(&mut self, span: Span, message: String, help: Option<&str>) {
        self.diagnostics.add(Severity::Error, range(span), || (message, help.map(str::to_string)));
    }
}

/// Whether a function is a thread in a program without `main`: `thread1`, `thread2`, …
fn is_numbered_thread(name: &str) -> bool {
    let number = name.strip_prefix("thread").unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// A Boolean variable.
fn variable(name: Name<'_>, slot: Slot, initial: Option<bool>) -> Variable {
    Variable {
        name: name.text.to_string(),
        ty: Type::Bool,
        slot,
        length: None,
        initial: vec![initial.map(i64::from)],
        mixed: false,
        names: None,
        span: name.span,
    }
}
