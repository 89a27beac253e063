//! Variables, constants, locks, events, and the heads of routines.

use super::super::ast::{
    self, Declarator, ExprKind, Item, Name, Routine, RoutineKind, Threads, TypeKind, TypeName,
};
use super::super::names::{Meaning, Sort};
use super::super::suggest::quote;
use super::super::{MAX_LENGTH, MAX_SLOTS, MAX_THREADS};
use super::{Constant, Head, Lowering, Mode};
use allways_model::program::{
    Count, Expr, ProcedureId, RUNNING, Slot, Span, Template, TemplateId, Type, Value, Variable,
};

impl<'a> Lowering<'a, '_> {
    pub(super) fn declare(&mut self, item: &'a Item<'a>) {
        match item {
            Item::Shared(ty, declarators) => {
                let ty = self.type_of(ty);
                for declarator in declarators {
                    let length = self.length_of(declarator);
                    let initial = self.initial_of(declarator, ty);
                    if let (Some(ty), Some(length), Some(initial)) = (ty, length, initial) {
                        self.share(declarator.name, ty, length, initial);
                    }
                }
            }
            Item::Constant(name, value) => {
                if let Some((value, sort)) = self.constant(value) {
                    self.globals.settle(*name, Meaning::Constant(value, sort));
                }
            }
            Item::Lock(declarator) => {
                if let Some(length) = self.length_of(declarator) {
                    self.share(declarator.name, Type::Lock, length, Some(0));
                }
            }
            Item::Event(name) => {
                self.globals.settle(*name, Meaning::Event(self.program.events.len()));
                self.program.events.push(name.text.to_string());
            }
            Item::Routine(routine) => self.head(routine),
            Item::Never(..) | Item::Predicate(_) => {}
        }
    }

    fn share(&mut self, name: Name<'a>, ty: Type, length: Option<usize>, initial: Option<Value>) {
        let number = self.program.shared.len();
        let slot = self.program.shared_slots();
        if let Some(variable) = self.new_variable(name, ty, length, initial, slot) {
            self.program.shared.push(variable);
            let meaning = if ty == Type::Lock { Meaning::Lock(number) } else { Meaning::Shared(number) };
            self.globals.settle(name, meaning);
        }
    }

    /// A variable at a slot, if there is room for it.
    pub(super) fn new_variable(
        &mut self,
        name: Name<'a>,
        ty: Type,
        length: Option<usize>,
        initial: Option<Value>,
        slot: Slot,
    ) -> Option<Variable> {
        let slots = length.unwrap_or(1);
        if self.slots + slots > MAX_SLOTS {
            let message =
                format!("expected at most {MAX_SLOTS} variables and elements of arrays, found more");
            return self.none(name.span, message, None);
        }
        self.slots += slots;
        let (name, span) = (name.text.to_string(), name.span);
        Some(Variable { name, ty, slot, length, initial: vec![initial; slots], mixed: false, span })
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
            span: Span::default(),
        });
    }

    fn head(&mut self, routine: &'a Routine<'a>) {
        let parameters = routine.parameters.iter().map(|parameter| self.type_of(&parameter.ty)).collect();
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
        self.heads.push(Head { parameters, result, has_result: routine.result.is_some(), template });
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
        match &ty.kind {
            TypeKind::Bool => Some(Type::Bool),
            TypeKind::Int => Some(Type::Int),
            TypeKind::Range(low, high) => {
                let low = self.constant_number(low, "the lower bound of the range");
                let high = self.constant_number(high, "the upper bound of the range");
                let (low, high) = (low?, high?);
                if low > high {
                    let message = format!("expected a range with a value in it, found {low}..{high}");
                    return self.none(
                        ty.span,
                        message,
                        Some("a range goes from its least value to its greatest".to_string()),
                    );
                }
                Some(Type::Range(low, high))
            }
        }
    }

    /// The length of an array, if this is one. The outer `None` is an error.
    pub(super) fn length_of(&mut self, declarator: &'a Declarator<'a>) -> Option<Option<usize>> {
        let Some(length) = &declarator.length else { return Some(None) };
        let value = self.constant_number(length, "the length of an array")?;
        match usize::try_from(value).ok().filter(|length| (1..=MAX_LENGTH).contains(length)) {
            Some(length) => Some(Some(length)),
            None => {
                let message = format!("expected a length from 1 to {MAX_LENGTH}, found {value}");
                self.none(length.span, message, None)
            }
        }
    }

    /// The initial value of a shared variable; `Some(None)` is any value. The outer `None` is an error.
    fn initial_of(&mut self, declarator: &'a Declarator<'a>, ty: Option<Type>) -> Option<Option<Value>> {
        let Some(initial) = &declarator.initial else { return Some(Some(ty?.default_value())) };
        if !matches!(initial.kind, ExprKind::Any) {
            let mode = std::mem::replace(&mut self.mode, Mode::Constant);
            let value = ty.and_then(|ty| self.initial(initial, ty));
            self.mode = mode;
            return if let Expr::Constant(value) = value? { Some(Some(value)) } else { None };
        }
        self.any_of(ty?, initial.span)?;
        Some(None)
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

    fn constant_number(&mut self, expr: &'a ast::Expr<'a>, what: &str) -> Option<Value> {
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
