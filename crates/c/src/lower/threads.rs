//! Threads: how they start, end, and wait for each other.
//!
//! A thread that is created once has a number from 1 on, which is its `pthread_t`. It waits at its start until the step of
//! its creation has stored its argument and set its flag. Threads that nobody joins, that run the same function with the same
//! constant argument, and that keep no addresses of their variables are alike: they are one template, whose threads take
//! their creations from a counter. Threads of which there may be any number are spawned; their
//! `pthread_t` is 0, and who joins one of them does not wait for it, which allows more than can happen.
//!
//! The end of the process (`exit`, `abort`, the return of `main`) is the end of the thread that causes it. The others go
//! on, which changes no verdict: nothing that they do after it depends on it, so they might as well have done it before.

use super::body::{Address, Body, Inlined};
use super::crews::Counters;
use super::expressions::int;
use super::places::{Target, binary};
use super::{FUNCTIONS, Lowering, Model, Result, calls, refuse};
use crate::typed::{Expr, ExprKind, FunctionId, Int, StmtKind, Storage, Type, VariableId};
use crate::walk;
use allways_model::program::{
    Binary as Operator, Count, LocationId, Op, Procedure, ProcedureId, Slot, Span, Template, TemplateId,
    Type as Values, Value,
};
use std::collections::HashMap;

/// The `pthread_t` of `main`.
pub(super) const MAIN: Value = 1 << 30;

/// A thread starts with one of so many functions at most.
const MOST_STARTS: usize = 8;

/// A thread whose body is still to be lowered.
pub(super) struct Start {
    function: FunctionId,
    template: usize,
    /// Whether there may be any number of it.
    many: bool,
    /// Its number, if it is one that is joined.
    thread: Option<usize>,
    /// The counter of creations that it takes one from.
    created: Option<Slot>,
    /// The counter of threads of its crew that have ended.
    ended: Option<Slot>,
    argument: Argument,
}

/// Threads that cannot be told apart.
pub(super) struct Alike {
    function: FunctionId,
    crew: Option<Counters>,
    argument: Model,
    template: usize,
    created: Slot,
}

/// What a thread gets.
enum Argument {
    /// Nothing that it uses.
    Nothing,
    /// Always this number.
    Constant(Model),
    /// What its creation left in this shared slot.
    Stored(Slot),
    /// What it was spawned with.
    Passed,
}

/// A pointer-sized number.
fn word() -> Type {
    Type::Int(Int { bits: 64, signed: false })
}

/// What `pthread_join` returns to who joins itself.
const EDEADLK: Value = 35;

impl Lowering<'_> {
    /// Lowers `main`.
    pub(super) fn main(&mut self, function: FunctionId) -> Result<()> {
        let span = self.unit.functions[function.0].span;
        self.template("main".to_string(), Count::Fixed(1), false, span);
        // Of its parameters, the number of arguments is any that is not negative; what they are is not known.
        let first = self.unit.functions[function.0].parameters.first();
        let counts = |&variable: &VariableId| {
            *self.unit.variables[variable.0].ty.plain() == Type::Int(crate::slots::INT)
        };
        let argument = match first.is_some_and(counts) {
            true => Argument::Constant(Model::Choose(0, Value::from(i32::MAX))),
            false => Argument::Nothing,
        };
        let start =
            Start { function, template: 0, many: false, thread: None, created: None, ended: None, argument };
        self.thread(start)
    }

    fn template(&mut self, name: String, count: Count, spawned: bool, span: Span) -> usize {
        let body = ProcedureId(self.procedures.len());
        let same =
            |template: &&Template| template.name == name || template.name.starts_with(&format!("{name}#"));
        let taken = self.templates.iter().filter(same).count();
        let name = if taken == 0 { name } else { format!("{name}#{}", taken + 1) };
        self.procedures.push(Procedure {
            name: format!("thread {name}"),
            locals: Vec::new(),
            parameters: 0,
            results: Vec::new(),
            entry: LocationId(0),
            span,
        });
        self.templates.push(Template { name, body, count, spawned, vanishes: false, uses_self: false, span });
        self.templates.len() - 1
    }

    /// Lowers the body of a thread.
    pub(super) fn thread(&mut self, start: Start) -> Result<()> {
        let unit = self.unit;
        let function = &unit.functions[start.function.0];
        let span = function.span;
        let procedure = self.templates[start.template].body;
        self.body = Body {
            procedure,
            number: start.template,
            many: start.many,
            thread: start.thread,
            ended: start.ended,
            ..Body::default()
        };
        let entry = self.location(span);
        self.here = entry;
        let argument = self.local("#argument".to_string(), Values::Range(0, Value::MAX), Some(0), span);
        if self.property.held && start.template > 0 {
            let values = Values::Range(Value::MIN + 1, Value::MAX);
            self.body.has = Some(self.local(super::owners::HAS.to_string(), values, Some(0), span));
        }
        let first = match start.argument {
            Argument::Nothing => None,
            Argument::Constant(value) => Some(value),
            Argument::Stored(slot) => Some(Model::Shared(slot)),
            Argument::Passed => Some(Model::Local(argument)),
        };
        if let Some(created) = start.created {
            let some = binary(Operator::Greater, Model::Shared(created), Model::Constant(0));
            let fewer = binary(Operator::Minus, Model::Shared(created), Model::Constant(1));
            self.store_at_once(vec![(Target::Shared(created), fewer)], Some(some), span)?;
        }
        let result: Vec<Slot> = match function.ty.result.plain() {
            Type::Pointer(_) | Type::Int(_) if start.thread.is_some() => vec![self.block(1, span)],
            _ => Vec::new(),
        };
        let back = self.location(span);
        let body = function.body.as_deref().unwrap_or_default();
        let mut leaves = false;
        for stmt in body.iter().rev().skip(1) {
            walk::each_statement(std::slice::from_ref(stmt), &mut |stmt| {
                leaves |= matches!(stmt.kind, StmtKind::Return(_) | StmtKind::Goto(_));
            });
        }
        self.lowered.may_not_create |= leaves;
        self.body.calls.push(Inlined {
            function: start.function,
            back,
            result: result.clone(),
            labels: HashMap::new(),
            atomic: None,
            allocates: None,
            in_loop: false,
            loops: calls::jumps_back(body),
        });
        self.lifetimes(start.function, true, span)?;
        if start.template == 0 {
            self.arguments_of_main(start.function, span)?;
        }
        for &parameter in function.parameters.iter().take(1) {
            let Some(first) = first.clone() else { continue };
            if self.pointers.transparent.contains(&parameter) {
                let value = match first {
                    Model::Constant(_) | Model::NextShared(_) => first,
                    first => {
                        self.store(&Target::Local(argument), first, span)?;
                        Model::Local(argument)
                    }
                };
                self.body.bound.insert(parameter, Address::Value(value));
            } else {
                let place = self.variable(parameter, span)?;
                self.store(&place, first, span)?;
            }
        }
        for &parameter in &function.parameters {
            if self.pointers.transparent.contains(&parameter) {
                // What the arguments of `main` are is not followed.
                let none = if start.template == 0 { super::layout::beyond() } else { Model::Constant(0) };
                self.body.bound.entry(parameter).or_insert(Address::Value(none));
            }
        }
        self.block_of(body)?;
        self.close_labels();
        self.jump(back, span);
        self.here = back;
        if start.template == 0 {
            self.look_for_memory(super::freed::How::Returns, span);
        }
        if start.template == 0 && self.over.is_some() {
            self.end_process(span)?;
        } else if start.template > 0 {
            self.run_destructors(span)?;
        }
        self.end(result.first().map(|&slot| Model::Local(slot)), span)?;
        let body = std::mem::take(&mut self.body);
        let procedure = &mut self.procedures[procedure];
        procedure.locals = body.locals;
        procedure.parameters = 1;
        procedure.entry = entry;
        Ok(())
    }

    /// The end of a thread.
    pub(super) fn end(&mut self, result: Option<Model>, span: Span) -> Result<()> {
        if self.body.number > 0 {
            self.end_without_mutexes(span)?;
            self.end_lifetimes(span)?;
        }
        if let Some(number) = self.body.thread {
            let (ended, results) = (self.ended.slot(number), self.results.slot(number));
            let result = result.unwrap_or(Model::Constant(0));
            let result = self.settled(result, span)?;
            let stores = vec![(Target::Shared(ended), Model::Constant(1)), (Target::Shared(results), result)];
            self.store_at_once(stores, None, span)?;
        }
        if let Some(ended) = self.body.ended {
            let more = binary(Operator::Plus, Model::Shared(ended), Model::Constant(1));
            self.store_at_once(vec![(Target::Shared(ended), more)], None, span)?;
        }
        // A location without edges is the end.
        self.nowhere(span);
        Ok(())
    }

    /// `pthread_exit`.
    pub(super) fn exit_thread(&mut self, value: Option<&Expr>, span: Span) -> Result<()> {
        let value = match value {
            Some(value) if self.body.thread.is_some() => Some(self.value(value)?),
            Some(value) => {
                self.effect(value)?;
                None
            }
            None => None,
        };
        if self.body.is_procedure {
            return refuse(span, "`pthread_exit` in a recursive function is not followed");
        }
        if self.body.atomic > 0 {
            return refuse(span, "a thread ends inside an atomic section");
        }
        self.lowered.main_may_exit |= self.body.number == 0;
        self.unwind(value.unwrap_or(Model::Constant(0)), span)
    }

    /// `pthread_create(to, …, start, argument)`.
    pub(super) fn create(
        &mut self,
        to: Option<&Expr>,
        start: &Expr,
        argument: &Expr,
        span: Span,
    ) -> Result<()> {
        if self.body.atomic > 0 {
            return refuse(span, "a thread is created inside an atomic section");
        }
        let started = walk::through_casts(start);
        if self.property.races {
            self.touch(start)?;
        }
        let functions = match &started.kind {
            ExprKind::AddressOf(place) | ExprKind::Load(place)
                if matches!(place.kind, ExprKind::Function(_)) =>
            {
                match place.kind {
                    ExprKind::Function(function) => vec![function],
                    _ => Vec::new(),
                }
            }
            ExprKind::Function(function) => vec![*function],
            _ => match self.constant_function(started) {
                Some(function) => vec![function],
                None => self.pointers.started(started),
            },
        };
        match functions[..] {
            [function] => {
                self.effect(start)?;
                self.start_thread(to, function, argument, span)
            }
            _ => self.start_one_of(to, started, &functions, argument, span),
        }
    }

    /// Creates a thread that runs one of several functions, as a pointer says.
    fn start_one_of(
        &mut self,
        to: Option<&Expr>,
        start: &Expr,
        functions: &[FunctionId],
        argument: &Expr,
        span: Span,
    ) -> Result<()> {
        if functions.is_empty() || functions.len() > MOST_STARTS {
            return refuse(
                span,
                "a thread starts with a function that is not known, or with one of too many",
            );
        }
        let pointer = self.value(start)?;
        let pointer = self.kept(pointer, span)?;
        let (here, after) = (self.here, self.location(span));
        let mut none = Model::Constant(1);
        self.body.branches += 1;
        for &function in functions {
            let number = Model::Constant(FUNCTIONS + function.0 as Value);
            let is = binary(Operator::Equal, pointer.clone(), number);
            self.here = self.location(span);
            let this = self.here;
            self.edge(here, Op::Guard(is.clone(), true), this, span);
            none = binary(Operator::And, none, super::expressions::not(is));
            self.start_thread(to, function, argument, span)?;
            self.jump(after, span);
        }
        self.body.branches -= 1;
        let wrong = self.location(span);
        self.edge(here, Op::Guard(none, true), wrong, span);
        let astray = if self.property.memory { Op::Error } else { Op::Beyond };
        self.edge(wrong, astray, wrong, span);
        self.here = after;
        Ok(())
    }

    /// Creates a thread that runs a function.
    fn start_thread(
        &mut self,
        to: Option<&Expr>,
        function: FunctionId,
        argument: &Expr,
        span: Span,
    ) -> Result<()> {
        if self.unit.functions[function.0].body.is_none() {
            let name = &self.unit.functions[function.0].name;
            return refuse(span, format!("a thread starts with `{name}`, which has no body here"));
        }
        self.creates(to);
        let address = self.address(argument)?;
        let argument = self.number(address, span)?;
        let uses = !self.unit.functions[function.0].parameters.is_empty();
        // Surely reached are the statements of `main` itself, if nothing leaves it before its end.
        self.lowered.may_not_create |=
            self.body.calls.len() > 1 || self.body.number > 0 || self.body.branches > 0;
        let many = self.body.many || self.in_loop(span) || self.body.is_procedure;
        let name = self.unit.functions[function.0].name.clone();
        if many {
            let argument = self.settled(argument, span)?;
            let template = self.spawned(function, &name, uses, span);
            let argument = if uses { argument } else { Model::Constant(0) };
            self.emit(Op::Spawn(TemplateId(template), vec![argument]), span)?;
            let place = self.place_of_number(to, span)?;
            return place.map_or(Ok(()), |place| self.store(&place, Model::Constant(0), span));
        }
        let constant = matches!(argument, Model::Constant(_) | Model::NextShared(_));
        let told_apart = self.kinds || self.property.owners();
        if constant && !told_apart && self.alike(function) {
            let crew = self.crew_of(to);
            if crew.is_some() || !self.joins && self.over.is_none() {
                return self.create_one_more(to, function, crew, argument, span);
            }
        }
        let flags = self.hidden(&format!("#created {name}"));
        let flag = self.part(flags, int(), 0);
        let thread = self.objects[self.ended.0].parts.len();
        self.part(self.ended, int(), 0);
        self.part(self.results, word(), 0);
        let mut stores = vec![(Target::Shared(flag), Model::Constant(1))];
        let passed = if !uses {
            Argument::Nothing
        } else if constant {
            Argument::Constant(argument)
        } else {
            let argument = self.settled(argument, span)?;
            let stored = self.hidden(&format!("#argument {name}"));
            let slot = self.part(stored, word(), 0);
            stores.push((Target::Shared(slot), argument));
            Argument::Stored(slot)
        };
        let template = self.template(name, Count::Fixed(1), false, span);
        self.starts.push(Start {
            function,
            template,
            many: false,
            thread: Some(thread),
            created: Some(flag),
            ended: None,
            argument: passed,
        });
        self.start_and_tell(to, thread as Value + 1, stores, span)
    }

    /// The caller learns the number of a thread before it can run; POSIX lets it be stored when the thread runs already.
    fn start_and_tell(
        &mut self,
        to: Option<&Expr>,
        number: Value,
        stores: Vec<(Target, Model)>,
        span: Span,
    ) -> Result<()> {
        let place = self.place_of_number(to, span)?;
        let tell = |lowering: &mut Self| match &place {
            Some(place) => lowering.store(place, Model::Constant(number), span),
            None => Ok(()),
        };
        tell(self)?;
        self.store_at_once(stores, None, span)?;
        if self.property.races { tell(self) } else { Ok(()) }
    }

    /// Where the creator of a thread wants its number.
    fn place_of_number(&mut self, to: Option<&Expr>, span: Span) -> Result<Option<Target>> {
        let Some(to) = to else { return Ok(None) };
        let address = self.address(to)?;
        let address = if self.property.races { self.fixed(address, span)? } else { address };
        self.pointee(address, to).map(Some)
    }

    /// Another thread of a template whose threads are all alike.
    fn create_one_more(
        &mut self,
        to: Option<&Expr>,
        function: FunctionId,
        crew: Option<Counters>,
        argument: Model,
        span: Span,
    ) -> Result<()> {
        let is_same =
            |alike: &&Alike| alike.function == function && alike.crew == crew && alike.argument == argument;
        let known = self.alike.iter().find(is_same);
        let created = match known {
            Some(alike) => {
                let (template, created) = (alike.template, alike.created);
                if let Count::Fixed(count) = &mut self.templates[template].count {
                    *count += 1;
                }
                created
            }
            None => {
                let name = self.unit.functions[function.0].name.clone();
                let counter = self.hidden(&format!("#created {name}"));
                let created = self.part(counter, int(), 0);
                let template = self.template(name, Count::Fixed(1), false, span);
                self.alike.push(Alike { function, crew, argument: argument.clone(), template, created });
                let uses = !self.unit.functions[function.0].parameters.is_empty();
                let argument = if uses { Argument::Constant(argument) } else { Argument::Nothing };
                self.starts.push(Start {
                    function,
                    template,
                    many: true,
                    thread: None,
                    created: Some(created),
                    ended: crew.map(|crew| crew.ended),
                    argument,
                });
                created
            }
        };
        let counters = [Some(created), crew.map(|crew| crew.created)].into_iter().flatten();
        let more = counters.map(|counter| {
            (Target::Shared(counter), binary(Operator::Plus, Model::Shared(counter), Model::Constant(1)))
        });
        self.start_and_tell(to, 0, more.collect(), span)
    }

    /// Whether threads that run a function cannot be told apart: neither they nor what they call keep addresses of
    /// variables, allocate memory, or ask which thread they are.
    fn alike(&mut self, function: FunctionId) -> bool {
        let unit = self.unit;
        let mut seen = std::collections::HashSet::new();
        let mut todo = vec![function];
        while let Some(function) = todo.pop() {
            if !seen.insert(function) {
                continue;
            }
            let called = &unit.functions[function.0];
            let Some(body) = &called.body else {
                let waits = self.over.is_some() && super::conditions::is_one(&called.name);
                if waits || crate::library::tells_apart(&called.name) {
                    return false;
                }
                continue;
            };
            let own = |variable: &VariableId| {
                unit.variables[variable.0].storage == Storage::Automatic(function)
                    || unit.variables[variable.0].storage == Storage::Thread
            };
            if self.pointers.escapes.iter().any(own) {
                return false;
            }
            walk::statements(body, &mut |expr| {
                if let ExprKind::Call(callee, _) = &expr.kind {
                    todo.extend(self.pointers.callees(callee));
                }
            });
        }
        true
    }

    /// The template of threads of which there may be any number.
    fn spawned(&mut self, function: FunctionId, name: &str, uses: bool, span: Span) -> usize {
        if let Some(&template) = self.many.get(&function) {
            return template;
        }
        let template = self.template(name.to_string(), Count::Fixed(0), true, span);
        self.many.insert(function, template);
        let argument = if uses { Argument::Passed } else { Argument::Nothing };
        self.starts.push(Start {
            function,
            template,
            many: true,
            thread: None,
            created: None,
            ended: None,
            argument,
        });
        template
    }

    /// `pthread_join(thread, result)` by a thread that looks at what it returns: who joins itself is told so, as by glibc.
    pub(super) fn join_perhaps_itself(
        &mut self,
        thread: &Expr,
        result: Option<&Expr>,
        span: Span,
    ) -> Result<Vec<Model>> {
        let number = self.value(thread)?;
        let number = self.kept(number, span)?;
        let own = self.body.thread.map_or(MAIN, |thread| thread as Value + 1);
        let own = binary(Operator::Equal, number.clone(), Model::Constant(own));
        let slot = self.block(1, span);
        let (here, itself, other, after) =
            (self.here, self.location(span), self.location(span), self.location(span));
        self.edge(here, Op::Guard(own.clone(), true), itself, span);
        self.edge(here, Op::Guard(own, false), other, span);
        self.here = itself;
        self.store(&Target::Local(slot), Model::Constant(EDEADLK), span)?;
        self.jump(after, span);
        self.here = other;
        self.join_number(number, result, span)?;
        self.store(&Target::Local(slot), Model::Constant(0), span)?;
        self.jump(after, span);
        self.here = after;
        Ok(vec![Model::Local(slot)])
    }

    /// `pthread_join(thread, result)`.
    pub(super) fn join(&mut self, thread: &Expr, result: Option<&Expr>, span: Span) -> Result<()> {
        let number = self.value(thread)?;
        let number = self.kept(number, span)?;
        self.join_number(number, result, span)
    }

    fn join_number(&mut self, number: Model, result: Option<&Expr>, span: Span) -> Result<()> {
        let own = self.body.thread.map_or(MAIN, |thread| thread as Value + 1);
        let own = binary(Operator::Equal, number.clone(), Model::Constant(own));
        let none = binary(Operator::Equal, number.clone(), Model::Constant(0));
        let index = binary(Operator::Minus, number.clone(), Model::Constant(1));
        let ended = Model::SharedElement(self.ended.slot(0), usize::MAX, Box::new(index.clone()), span);
        let over = binary(Operator::Or, none.clone(), binary(Operator::Equal, ended, Model::Constant(1)));
        // Who joins itself gets an error, or waits for ever.
        if !self.body.many {
            self.beyond_unless(super::expressions::not(own), span);
        }
        self.joined.push((self.here, span));
        self.emit(Op::Guard(over, true), span)?;
        if let Some(result) = result
            && !matches!(walk::through_casts(result).kind, ExprKind::Int(0))
        {
            // What one of any number of threads returned is not known.
            self.beyond_unless(super::expressions::not(none), span);
            let address = self.address(result)?;
            let place = self.pointee(address, result)?;
            let returned = Model::SharedElement(self.results.slot(0), usize::MAX, Box::new(index), span);
            self.store(&place, returned, span)?;
        }
        Ok(())
    }
}
