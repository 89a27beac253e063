//! Variables, constants, locks, events, and the heads of routines.

use super::super::ast::{
    self, Declarator, ExprKind, Initial, Item, Name, Routine, RoutineKind, Threads, TypeName,
};
use super::super::names::{Meaning, Sort};
use super::super::suggest::quote;
use super::super::{Definition, MAX_SLOTS, MAX_THREADS};
use super::parts::{Of, Shape};
use super::{Constant, Head, Lowering, Mode};
use crate::cursor::join;
use allways_model::program::{
    Count, Expr, ProcedureId, RUNNING, Slot, Span, Template, TemplateId, Type, Value, Variable,
};
use std::sync::Arc;

impl<'a> Lowering<'a, '_> {
    pub(super) fn declare(&mut self, item: &'a Item<'a>) {
        match item {
            Item::Shared(ty, declarators) if let Some(procedure) = self.threads_named(ty) => {
                declarators.iter().for_each(|declarator| self.declare_identity(procedure, declarator));
            }
            Item::Shared(ty, declarators) => {
                let of = self.of_type(ty);
                for declarator in declarators {
                    self.declare_shared(declarator, of.clone());
                }
            }
            Item::Structure(structure) => self.declare_structure(structure),
            Item::Enumeration(name, values) => {
                for (number, value) in values.iter().enumerate() {
                    self.globals.settle(*value, Meaning::Constant(number as Value, Sort::Number));
                    // Values of a type are not there to be used one by one.
                    self.globals.touch(value.text);
                }
                self.globals.settle(*name, Meaning::Enumeration(self.enumerations.len()));
                self.enumerations.push(values.iter().map(|value| value.text.to_string()).collect());
            }
            Item::Constant(name, value) => {
                let given = self.definitions.get(name.text).copied();
                if let Some((value, sort)) = self.constant(value) {
                    let value = given.map_or(Some(value), |given| self.redefined(*name, sort, given));
                    if let Some(value) = value {
                        self.globals.settle(*name, Meaning::Constant(value, sort));
                    }
                }
            }
            Item::Lock(declarator) => self.declare_shared(declarator, Some(Of::Value(Type::Lock, None))),
            Item::Event(name) => {
                self.globals.settle(*name, Meaning::Event(self.program.events.len()));
                self.program.events.push(name.text.to_string());
            }
            Item::Channel(channel) => self.declare_channel(channel),
            Item::Routine(routine) => self.head(routine),
            Item::Never(..) | Item::Eventually(_) | Item::Predicate(_) => {}
        }
    }

    fn declare_shared(&mut self, declarator: &'a Declarator<'a>, of: Option<Of>) {
        let lengths = self.lengths_of(declarator);
        let name = declarator.name;
        let shape = match (of, lengths) {
            (Some(of), Some(lengths)) => Shape { lengths, of },
            (of, _) => {
                // The values may be wrong as well.
                if let (Some(Of::Value(ty, _)), Some(Initial::One(value))) = (of, &declarator.initial) {
                    self.initial_value(value, Some(ty));
                }
                return;
            }
        };
        let one = &mut |lowering: &mut Self, value: Option<&'a ast::Expr<'a>>, ty: Type, _| match value {
            Some(value) => lowering.initial_value(value, Some(ty)),
            None => Some(Some(ty.default_value())),
        };
        let room = self.has_room(name, &shape);
        let initial = room.and_then(|()| self.initial_parts(declarator.initial.as_ref(), &shape, one));
        if let Some(initial) = initial {
            self.share(name, shape, initial);
        }
    }

    /// Adds the shared variables that something is laid out as.
    pub(super) fn share(&mut self, name: Name<'a>, shape: Shape, initial: Vec<Vec<Option<Value>>>) {
        let first = self.program.shared.len();
        for (leaf, initial) in self.leaves(&shape).into_iter().zip(initial) {
            let slot = self.program.shared_slots();
            let Some(variable) = self.new_variable(name, leaf.ty, leaf.length, initial, slot) else { return };
            let (name, names) = (variable.name.clone() + &leaf.suffix, leaf.names);
            self.program.shared.push(Variable { name, names, ..variable });
        }
        let is_lock = matches!(shape.of, Of::Value(Type::Lock, _));
        let meaning = if is_lock { Meaning::Lock(first) } else { Meaning::Shared(first) };
        self.shapes.insert(first, shape);
        self.globals.settle(name, meaning);
    }

    /// A variable at a slot, if there is room for it.
    pub(super) fn new_variable(
        &mut self,
        name: Name<'a>,
        ty: Type,
        length: Option<usize>,
        initial: Vec<Option<Value>>,
        slot: Slot,
    ) -> Option<Variable> {
        let slots = initial.len();
        if self.slots + slots > MAX_SLOTS {
            let message =
                format!("expected at most {MAX_SLOTS} variables and elements of arrays, found more");
            return self.none(name.span, message, None);
        }
        self.slots += slots;
        let (name, span) = (name.text.to_string(), name.span);
        Some(Variable { name, ty, slot, length, initial, mixed: false, names: None, span })
    }

    /// Adds the variable that says whether a task runs. `main` does at the start.
    pub(super) fn declare_running(&mut self) {
        self.running = self.program.shared_slots();
        self.program.shared.push(Variable {
            name: RUNNING.to_string(),
            ty: Type::Bool,
            slot: self.running,
            length: None,
            initial: vec![Some(1)],
            mixed: false,
            names: None,
            span: Span::default(),
        });
    }

    fn head(&mut self, routine: &'a Routine<'a>) {
        let values = routine.parameters.iter().filter(|parameter| !parameter.reference);
        let parameters = values.map(|parameter| self.type_of(&parameter.ty)).collect();
        let references = self.references_of(routine);
        let result = routine.result.as_ref().and_then(|ty| self.type_of(ty));
        let count = match &routine.kind {
            RoutineKind::Procedure => None,
            RoutineKind::Thread(threads) => Some(self.count(threads)),
            RoutineKind::Task => Some(Count::Fixed(0)),
            RoutineKind::Main => Some(Count::Fixed(1)),
        };
        let task = matches!(routine.kind, RoutineKind::Task);
        let template = count.map(|count| {
            self.program.templates.push(Template {
                name: routine.name.text.to_string(),
                body: ProcedureId(self.heads.len()),
                count,
                spawned: task,
                vanishes: task,
                uses_self: false,
                span: routine.name.span,
            });
            TemplateId(self.program.templates.len() - 1)
        });
        let has_result = routine.result.is_some();
        self.kinds.push(routine.parameters.iter().map(|parameter| parameter.reference).collect());
        self.heads.push(Head { parameters, references, result, has_result, template });
    }

    fn count(&mut self, threads: &'a Threads<'a>) -> Count {
        let expr = match threads {
            Threads::One => return Count::Fixed(1),
            Threads::Any => return Count::Any,
            Threads::Some(expr) => expr,
        };
        let count = self.constant_number(expr, "the number of threads");
        let fits = |&count: &Value| (0..=MAX_THREADS as Value).contains(&count);
        match count {
            Some(count) if !fits(&count) => {
                let message = format!("expected a number of threads from 0 to {MAX_THREADS}, found {count}");
                self.error(expr.span, message, Some("for any number of threads, write `[*]`".to_string()));
                Count::Fixed(0)
            }
            count => Count::Fixed(count.unwrap_or(0) as usize),
        }
    }

    pub(super) fn type_of(&mut self, ty: &'a TypeName<'a>) -> Option<Type> {
        match ty {
            TypeName::Bool => Some(Type::Bool),
            TypeName::Int => Some(Type::Int),
            TypeName::Range(low, high) => {
                let (low, high) = self.range_of(low, high)?;
                Some(Type::Range(low, high))
            }
            TypeName::Named(name) => match self.global(*name, "a type")? {
                Meaning::Enumeration(number) => {
                    self.globals.touch(name.text);
                    Some(Type::Range(0, self.enumerations[number].len() as Value - 1))
                }
                Meaning::Structure(_) => {
                    self.globals.touch(name.text);
                    let help =
                        "structures are neither passed nor sent; a shared one can be used by everybody";
                    let message =
                        format!("expected a type of values, found the structure {}", quote(name.text));
                    self.none(name.span, message, Some(help.to_string()))
                }
                meaning => {
                    let help = matches!(meaning, Meaning::Thread(_)).then_some(
                        "a variable that holds a thread is shared, and declared outside of bodies by itself",
                    );
                    self.misfit(*name, "a type", meaning, help);
                    None
                }
            },
            TypeName::Lock => Some(Type::Lock),
        }
    }

    /// What the values of a type are called, if they have names.
    pub(super) fn names_of(&self, ty: &TypeName<'a>) -> Option<Arc<[String]>> {
        let TypeName::Named(name) = ty else { return None };
        match self.globals.get(name.text)?.meaning {
            Meaning::Enumeration(number) => Some(Arc::clone(&self.enumerations[number])),
            _ => None,
        }
    }

    /// One initial value; `Some(None)` is any value.
    fn initial_value(&mut self, initial: &'a ast::Expr<'a>, ty: Option<Type>) -> Option<Option<Value>> {
        if !matches!(initial.kind, ExprKind::Any) {
            let mode = std::mem::replace(&mut self.mode, Mode::Constant);
            let value = ty.and_then(|ty| self.initial(initial, ty));
            self.mode = mode;
            return if let Expr::Constant(value) = value? { Some(Some(value)) } else { None };
        }
        self.any_of(ty?, initial.span)?;
        Some(None)
    }

    /// Whether there are as many values in braces as elements.
    pub(super) fn as_many(&mut self, found: usize, length: Option<usize>, span: Span) -> Option<()> {
        match length {
            Some(length) if length == found => Some(()),
            Some(length) => {
                let values = if length == 1 { "value" } else { "values" };
                let message = format!("expected {length} {values}, one for each element, found {found}");
                self.none(
                    span,
                    message,
                    Some("a single value without braces is that of all elements".to_string()),
                )
            }
            None => {
                let help = "values in braces are those of an array: `int a[2] = {1, 2};`".to_string();
                self.none(span, "expected one value, found values in braces", Some(help))
            }
        }
    }

    /// The value that was given from outside for a constant.
    fn redefined(&mut self, name: Name<'a>, sort: Sort, given: Definition) -> Option<Value> {
        self.redefined.insert(name.text);
        match (sort, given) {
            (Sort::Bool, Definition::Bool(value)) => Some(Value::from(value)),
            (Sort::Number, Definition::Number(value)) => Some(value),
            (_, given) => {
                let message = format!("expected {} for {}, found {given}", sort.words(), quote(name.text));
                self.none(name.span, message, Some("the value was given from outside, by `-D`".to_string()))
            }
        }
    }

    /// The range of values that something takes, both ends included; with the place of both for complaints.
    pub(super) fn range_of(
        &mut self,
        low: &'a ast::Expr<'a>,
        high: &'a ast::Expr<'a>,
    ) -> Option<(Value, Value)> {
        let first = self.constant_number(low, "the lower bound of the range");
        let last = self.constant_number(high, "the upper bound of the range");
        let (first, last) = (first?, last?);
        if first > last {
            let message = format!("expected a range with a value in it, found {first}..{last}");
            let help = "a range goes from its least value to its greatest".to_string();
            return self.none(join(low.span, high.span), message, Some(help));
        }
        Some((first, last))
    }

    /// Any value of a type, which must be finite.
    pub(super) fn any_of(&mut self, ty: Type, span: Span) -> Option<Expr> {
        if let Some((low, high)) = ty.bounds() {
            return Some(Expr::Choose(low, high));
        }
        let message = "expected a value of type `int`, found `*`".to_string();
        let help = "any value can be chosen of a finite type only: use a range such as `0..3`".to_string();
        self.none(span, message, Some(help))
    }

    /// Whether a value is of the sort that a type needs.
    pub(super) fn fits(&mut self, expr: &ast::Expr<'a>, found: Sort, ty: Type) -> Option<()> {
        let sort = sort_of(ty);
        if found == sort {
            return Some(());
        }
        let message = format!(
            "expected {}, since the type is {}, found {}",
            sort.words(),
            type_words(ty),
            found.words()
        );
        self.none(expr.span, message, Some(super::expressions::conversion(sort).to_string()))
    }

    pub(super) fn constant_number(&mut self, expr: &'a ast::Expr<'a>, what: &str) -> Option<Value> {
        let (value, sort) = self.constant(expr)?;
        if sort != Sort::Number {
            return self.none(expr.span, format!("expected a number for {what}, found a Boolean"), None);
        }
        Some(value)
    }

    /// The value of an expression that must be constant.
    fn constant(&mut self, expr: &'a ast::Expr<'a>) -> Option<Constant> {
        let mode = std::mem::replace(&mut self.mode, Mode::Constant);
        let typed = self.expression(expr);
        self.mode = mode;
        let (expr, sort) = typed?;
        match expr {
            Expr::Constant(value) => Some((value, sort)),
            _ => None,
        }
    }
}

/// Booleans, or numbers.
pub(super) fn sort_of(ty: Type) -> Sort {
    if ty == Type::Bool { Sort::Bool } else { Sort::Number }
}

/// How a type is written.
pub(super) fn type_words(ty: Type) -> String {
    match ty {
        Type::Bool => "`bool`".to_string(),
        Type::Int => "`int`".to_string(),
        Type::Range(low, high) => format!("`{low}..{high}`"),
        Type::Lock => quote("lock"),
    }
}
