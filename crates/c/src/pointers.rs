//! Where pointers point: a unification-based analysis over the whole program.
//!
//! After Bjarne Steensgaard, *Points-to analysis in almost linear time* (POPL 1996): objects are put into classes such that
//! whatever a pointer may hold lies in one class. Invariant: if in some run a value that is stored in an object of class `c`
//! is the address of an object `o`, then `o` is in the class `points(c)`. Fields of one object are not told apart, but what it
//! holds as pointers and what it holds as integers are; pointers that went through integers are followed.
//!
//! Beside it, two answers of syntax that keep most objects out of memory altogether. A parameter is *transparent* if all
//! that its function does with it is to access what it points to, or to pass it on to a transparent parameter: when the
//! call is inlined, an argument `&x` takes its place, and `x` need not be in memory. A variable *escapes* if its address is
//! taken in any other way.

use crate::library;
use crate::typed::{
    Expr, ExprKind, Function, FunctionId, FunctionType, Stmt, StmtKind, Storage, Type, Unit, VariableId,
};
use crate::walk;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A class of objects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Class(pub usize);

/// An expression that allocates memory: the address of its node in the tree.
pub type Site = *const Expr;

/// What is known of pointers.
pub struct Pointers {
    parent: Vec<usize>,
    /// For what is held as a pointer, and for what is held as an integer.
    points: Vec<[Option<usize>; 2]>,
    /// What threads return.
    returned: usize,
    /// What is kept for threads by keys.
    kept: usize,
    functions: Vec<BTreeSet<FunctionId>>,
    cell: Vec<usize>,
    result: Vec<usize>,
    function: Vec<usize>,
    site: HashMap<Site, usize>,
    /// Whether each function returns new memory, which is that of the call.
    allocates: Vec<bool>,
    /// The types of functions.
    types: Vec<FunctionType>,
    /// Parameters that arguments replace.
    pub transparent: HashSet<VariableId>,
    /// Variables whose address is kept.
    pub escapes: HashSet<VariableId>,
    /// Functions that may call themselves.
    pub recursive: HashSet<FunctionId>,
    changed: bool,
}

impl Pointers {
    /// Analyses a program.
    pub fn of(unit: &Unit) -> Pointers {
        let mut pointers = Pointers {
            parent: Vec::new(),
            points: Vec::new(),
            returned: 0,
            kept: 0,
            functions: Vec::new(),
            cell: Vec::new(),
            result: Vec::new(),
            function: Vec::new(),
            site: HashMap::new(),
            allocates: Vec::new(),
            types: unit.functions.iter().map(|function| function.ty.clone()).collect(),
            transparent: HashSet::new(),
            escapes: HashSet::new(),
            recursive: HashSet::new(),
            changed: true,
        };
        let allocates = |function: &Function| {
            function.body.is_none()
                && (library::flow(&function.name) == library::Flow::Allocates || gives(function))
        };
        pointers.allocates = unit.functions.iter().map(allocates).collect();
        pointers.returned = pointers.fresh();
        pointers.kept = pointers.fresh();
        pointers.cell = unit.variables.iter().map(|_| pointers.fresh()).collect();
        pointers.result = unit.functions.iter().map(|_| pointers.fresh()).collect();
        pointers.function = unit.functions.iter().map(|_| pointers.fresh()).collect();
        for (number, &class) in pointers.function.clone().iter().enumerate() {
            pointers.functions[class].insert(FunctionId(number));
        }
        // Calls through pointers add equations as classes gain functions.
        while std::mem::take(&mut pointers.changed) {
            pointers.equations(unit);
        }
        pointers.recursive = recursive(unit, &mut pointers);
        pointers.find_transparent(unit);
        pointers.find_escapes(unit);
        pointers
    }

    fn fresh(&mut self) -> usize {
        self.parent.push(self.parent.len());
        self.points.push([None; 2]);
        self.functions.push(BTreeSet::new());
        self.parent.len() - 1
    }

    fn find(&mut self, mut class: usize) -> usize {
        while self.parent[class] != class {
            self.parent[class] = self.parent[self.parent[class]];
            class = self.parent[class];
        }
        class
    }

    fn unify(&mut self, left: usize, right: usize) {
        let mut todo = vec![(left, right)];
        while let Some((left, right)) = todo.pop() {
            let (left, right) = (self.find(left), self.find(right));
            if left == right {
                continue;
            }
            self.changed = true;
            self.parent[right] = left;
            let functions = std::mem::take(&mut self.functions[right]);
            self.functions[left].extend(functions);
            for kind in 0..2 {
                match (self.points[left][kind], self.points[right][kind]) {
                    (Some(left), Some(right)) => todo.push((left, right)),
                    (None, points) => self.points[left][kind] = points,
                    (Some(_), None) => {}
                }
            }
        }
    }

    fn points(&mut self, class: usize, ty: &Type) -> usize {
        let class = self.find(class);
        let kind = usize::from(!matches!(ty.plain(), Type::Pointer(_)));
        match self.points[class][kind] {
            Some(points) => self.find(points),
            None => {
                let points = self.fresh();
                self.points[class][kind] = Some(points);
                points
            }
        }
    }

    /// The class of a variable.
    pub fn class_of(&mut self, variable: VariableId) -> Class {
        Class(self.find(self.cell[variable.0]))
    }

    /// The class that a class is part of by now.
    pub fn find_class(&mut self, class: Class) -> Class {
        Class(self.find(class.0))
    }

    /// The class that a class is part of by now.
    pub fn representative(&self, Class(mut class): Class) -> Class {
        while self.parent[class] != class {
            class = self.parent[class];
        }
        Class(class)
    }

    /// The class of what a call allocates.
    pub fn class_of_site(&mut self, site: &Expr) -> Class {
        let class = self.site_class(site);
        Class(self.find(class))
    }

    /// The functions in a class.
    pub fn functions_of(&mut self, class: Class) -> Vec<FunctionId> {
        let class = self.find(class.0);
        self.functions[class].iter().copied().collect()
    }

    /// The class of what the value of an expression points to.
    pub fn target(&mut self, expr: &Expr) -> Class {
        match self.value(expr) {
            Some(class) => Class(self.find(class)),
            None => Class(self.fresh()),
        }
    }

    /// The class of what keys keep for threads.
    pub fn target_of_keys(&mut self) -> Class {
        Class(self.points(self.kept, &Type::Pointer(Box::new(Type::Void))))
    }

    /// Whether objects of a class may hold addresses of objects of another.
    pub fn holds(&mut self, holder: Class, class: Class) -> bool {
        let (holder, class) = (self.find(holder.0), self.find(class.0));
        (0..2).any(|kind| self.points[holder][kind].is_some_and(|points| self.find(points) == class))
    }

    /// The classes of objects whose addresses objects of a class may hold.
    pub fn held_by(&mut self, holder: Class) -> Vec<Class> {
        let holder = self.find(holder.0);
        self.points[holder].into_iter().flatten().map(|class| self.find_class(Class(class))).collect()
    }

    /// The class of objects that pointers in a variable may point to.
    pub fn pointed_by(&mut self, variable: VariableId) -> Class {
        Class(self.points(self.cell[variable.0], &Type::Pointer(Box::new(Type::Void))))
    }

    /// Whether one of these functions may return an address of an object of a class.
    pub fn is_returned(&mut self, class: Class, by: impl Fn(FunctionId) -> bool) -> bool {
        (0..self.result.len())
            .any(|function| by(FunctionId(function)) && self.holds(Class(self.result[function]), class))
    }

    /// Whether the heap may hold an address of an object of a class, what threads return, or what is kept for them.
    pub fn is_held_elsewhere(&mut self, class: Class) -> bool {
        let sites: Vec<usize> = self.site.values().copied().collect();
        let mut others = sites.into_iter().chain([self.returned, self.kept]);
        others.any(|holder| self.holds(Class(holder), class))
    }

    fn site_class(&mut self, site: &Expr) -> usize {
        let key: Site = site;
        match self.site.get(&key) {
            Some(&class) => class,
            None => {
                let class = self.fresh();
                self.site.insert(key, class);
                class
            }
        }
    }

    fn equations(&mut self, unit: &Unit) {
        for (number, variable) in unit.variables.iter().enumerate() {
            for value in walk::values(&variable.initial) {
                self.flow(value, self.cell[number]);
            }
        }
        for (number, function) in unit.functions.iter().enumerate() {
            let Some(body) = &function.body else { continue };
            walk::each_statement(body, &mut |stmt| self.stored(stmt, number));
            walk::statements(body, &mut |expr| {
                if let ExprKind::Statements(body) = &expr.kind {
                    walk::each_statement(body, &mut |stmt| self.stored(stmt, number));
                }
                self.effect(unit, expr);
            });
        }
    }

    /// What declarations and returns store.
    fn stored(&mut self, stmt: &Stmt, function: usize) {
        match &stmt.kind {
            StmtKind::Declare(variable, Some(initial)) => {
                walk::values(initial).for_each(|value| self.flow(value, self.cell[variable.0]));
            }
            StmtKind::Return(Some(value)) => self.flow(value, self.result[function]),
            _ => {}
        }
    }

    /// The value of an expression is stored in objects of a class.
    fn flow(&mut self, value: &Expr, to: usize) {
        if matches!(value.ty.plain(), Type::Record(_) | Type::Array(..)) {
            let from = self.place(value);
            self.copy(to, from);
        } else if let Some(class) = self.value(value) {
            let points = self.points(to, &value.ty);
            self.unify(points, class);
        }
    }

    /// What objects of one class hold is stored in those of another.
    fn copy(&mut self, to: usize, from: usize) {
        for ty in [Type::Pointer(Box::new(Type::Void)), Type::Void] {
            let (to, from) = (self.points(to, &ty), self.points(from, &ty));
            self.unify(to, from);
        }
    }

    fn effect(&mut self, unit: &Unit, expr: &Expr) {
        match &expr.kind {
            ExprKind::Assign(to, value) | ExprKind::AssignOp(_, to, value, _) => {
                let to = self.place(to);
                self.flow(value, to);
            }
            ExprKind::Call(callee, arguments) => self.call(unit, expr, callee, arguments),
            _ => {}
        }
    }

    fn call(&mut self, unit: &Unit, call: &Expr, callee: &Expr, arguments: &[Expr]) {
        for target in self.callees(callee) {
            let function = &unit.functions[target.0];
            if function.body.is_none() {
                self.library_call(unit, &function.name, call, arguments);
                self.library_result(&function.name, target, arguments);
                continue;
            }
            for (parameter, argument) in function.parameters.iter().zip(arguments) {
                self.flow(argument, self.cell[parameter.0]);
            }
        }
    }

    /// The functions that a call may call.
    pub fn callees(&mut self, callee: &Expr) -> Vec<FunctionId> {
        if let ExprKind::Function(function) = callee.kind {
            return vec![function];
        }
        let class = self.target(callee);
        let mut found = self.functions_of(class);
        if let Type::Pointer(ty) = callee.ty.plain()
            && let Type::Function(called) = ty.plain()
        {
            found.retain(|function| may_be_called_as(&self.types[function.0], called));
        }
        found
    }

    /// The functions that a thread may start with, or that the library may call: whatever they are called with.
    pub fn started(&mut self, start: &Expr) -> Vec<FunctionId> {
        if let ExprKind::Function(function) = start.kind {
            return vec![function];
        }
        let class = self.target(start);
        self.functions_of(class)
    }

    /// What a library function returns: what is where its first argument points to, or that argument itself.
    fn library_result(&mut self, name: &str, function: FunctionId, arguments: &[Expr]) {
        let Some(first) = arguments.first() else { return };
        if name.starts_with("__atomic_") || name.starts_with("__sync_") {
            if let Some(place) = self.value(first) {
                self.copy(self.result[function.0], place);
            }
        } else if library::returns_first(name) {
            self.flow(first, self.result[function.0]);
        } else if library::flow(name) == library::Flow::TakenByThread {
            self.copy(self.result[function.0], self.kept);
        }
    }

    fn library_call(&mut self, unit: &Unit, name: &str, call: &Expr, arguments: &[Expr]) {
        match library::flow(name) {
            library::Flow::Allocates => {
                self.site_class(call);
            }
            library::Flow::StartsThread { start, argument } => {
                let (Some(start), Some(argument)) = (arguments.get(start), arguments.get(argument)) else {
                    return;
                };
                for target in self.started(walk::through_casts(start)) {
                    if let Some(parameter) = unit.functions[target.0].parameters.first() {
                        self.flow(argument, self.cell[parameter.0]);
                    }
                    self.copy(self.returned, self.result[target.0]);
                }
            }
            library::Flow::Returns => arguments.iter().for_each(|value| self.flow(value, self.returned)),
            library::Flow::Joins => {
                if let Some(to) = arguments.get(1).and_then(|to| self.value(to)) {
                    self.copy(to, self.returned);
                }
            }
            library::Flow::Stores { to, value } => {
                let (Some(to), Some(value)) = (arguments.get(to), arguments.get(value)) else { return };
                if let Some(to) = self.value(to) {
                    self.flow(value, to);
                    // What was expected is replaced by what was found.
                    if let Some(expected) = arguments
                        .get(1)
                        .filter(|_| name.contains("compare_exchange"))
                        .and_then(|old| self.value(old))
                    {
                        self.copy(expected, to);
                    }
                }
            }
            library::Flow::Exchanges => {
                let places: Vec<usize> = arguments.iter().take(3).filter_map(|to| self.value(to)).collect();
                places.windows(2).for_each(|pair| self.copy(pair[0], pair[1]));
            }
            library::Flow::Copies => {
                let (Some(to), Some(from)) = (arguments.first(), arguments.get(1)) else { return };
                if let (Some(to), Some(from)) = (self.value(to), self.value(from)) {
                    self.copy(to, from);
                }
            }
            library::Flow::KeptForThread => {
                arguments.iter().skip(1).for_each(|value| self.flow(value, self.kept));
            }
            library::Flow::CalledByThread => {
                let Some(called) = arguments.get(1) else { return };
                for target in self.started(walk::through_casts(called)) {
                    if let Some(parameter) = unit.functions[target.0].parameters.first() {
                        self.copy(self.cell[parameter.0], self.kept);
                    }
                }
            }
            library::Flow::TakenByThread | library::Flow::None => {}
        }
    }

    /// The class of the object that an lvalue denotes.
    fn place(&mut self, expr: &Expr) -> usize {
        match &expr.kind {
            ExprKind::Variable(variable) => self.cell[variable.0],
            ExprKind::Deref(pointer) => match self.value(pointer) {
                Some(class) => class,
                None => self.fresh(),
            },
            ExprKind::Member(object, _) => self.place(object),
            ExprKind::Function(function) => self.function[function.0],
            ExprKind::Load(place) | ExprKind::Cast(place) | ExprKind::Comma(_, place) => self.place(place),
            ExprKind::Assign(to, _) => self.place(to),
            ExprKind::Call(callee, _) if matches!(expr.ty.plain(), Type::Record(_)) => {
                let results: Vec<usize> =
                    self.callees(callee).into_iter().map(|function| self.result[function.0]).collect();
                results.windows(2).for_each(|pair| self.unify(pair[0], pair[1]));
                results.first().copied().unwrap_or_else(|| self.fresh())
            }
            ExprKind::Conditional(condition, then, other) if matches!(expr.ty.plain(), Type::Record(_)) => {
                let (then, other) = (self.place(then.as_ref().unwrap_or(condition)), self.place(other));
                self.unify(then, other);
                then
            }
            ExprKind::Statements(body) if matches!(expr.ty.plain(), Type::Record(_)) => {
                match body.last().map(|last| &last.kind) {
                    Some(StmtKind::Expr(value)) => self.place(value),
                    _ => self.fresh(),
                }
            }
            _ => match self.value(expr) {
                Some(class) => class,
                None => self.fresh(),
            },
        }
    }

    /// The class of what a value points to, if it can be a pointer.
    fn value(&mut self, expr: &Expr) -> Option<usize> {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Unsupported(_) => None,
            ExprKind::Load(place) => {
                let place = self.place(place);
                Some(self.points(place, &expr.ty))
            }
            ExprKind::AddressOf(place) => Some(self.place(place)),
            ExprKind::Function(function) => Some(self.function[function.0]),
            ExprKind::Variable(_) | ExprKind::Deref(_) | ExprKind::Member(..) => {
                let place = self.place(expr);
                Some(self.points(place, &expr.ty))
            }
            ExprKind::PointerAdd(pointer, _) => self.value(pointer),
            ExprKind::Cast(part) => self.value(part),
            ExprKind::Assign(to, _)
            | ExprKind::AssignOp(_, to, _, _)
            | ExprKind::AssignPointerAdd(to, _)
            | ExprKind::Step(to, _, _) => {
                let place = self.place(to);
                Some(self.points(place, &expr.ty))
            }
            ExprKind::Comma(_, value) => self.value(value),
            ExprKind::Conditional(condition, then, other) => {
                let then = then.as_ref().unwrap_or(condition);
                match (self.value(then), self.value(other)) {
                    (Some(left), Some(right)) => {
                        self.unify(left, right);
                        Some(left)
                    }
                    (left, right) => left.or(right),
                }
            }
            ExprKind::Binary(operator, ..) if operator.compares() => None,
            ExprKind::Binary(_, left, right) => match (self.value(left), self.value(right)) {
                (Some(left), Some(right)) => {
                    self.unify(left, right);
                    Some(left)
                }
                (left, right) => left.or(right),
            },
            ExprKind::Unary(..) | ExprKind::PointerDifference(..) | ExprKind::And(..) | ExprKind::Or(..) => {
                None
            }
            ExprKind::Call(callee, _) => {
                let mut class = None;
                let callees = self.callees(callee);
                for function in callees {
                    let result = self.result_class(function, expr);
                    match (class, result) {
                        (Some(class), Some(result)) => self.unify(class, result),
                        (None, _) => class = result,
                        _ => {}
                    }
                }
                class
            }
            ExprKind::Statements(body) => match body.last().map(|last| &last.kind) {
                Some(StmtKind::Expr(value)) => self.value(value),
                _ => None,
            },
        }
    }

    fn result_class(&mut self, function: FunctionId, call: &Expr) -> Option<usize> {
        if self.allocates[function.0] {
            return Some(self.site_class(call));
        }
        let result = self.result[function.0];
        Some(self.points(result, &call.ty))
    }

    fn find_transparent(&mut self, unit: &Unit) {
        for (number, function) in unit.functions.iter().enumerate() {
            if function.body.is_some() && !self.recursive.contains(&FunctionId(number)) {
                let pointers = function
                    .parameters
                    .iter()
                    .copied()
                    .filter(|parameter| matches!(unit.variables[parameter.0].ty, Type::Pointer(_)));
                self.transparent.extend(pointers);
            }
        }
        // What is used in another way is taken out until nothing changes.
        loop {
            let mut spoiled = HashSet::new();
            for function in &unit.functions {
                let Some(body) = &function.body else { continue };
                walk::statements(body, &mut |expr| self.spoils(unit, expr, &mut spoiled));
                walk::each_statement(body, &mut |stmt| spoils_statement(stmt, &mut spoiled));
                walk::statements(body, &mut |expr| {
                    if let ExprKind::Statements(body) = &expr.kind {
                        walk::each_statement(body, &mut |stmt| spoils_statement(stmt, &mut spoiled));
                    }
                });
            }
            let before = self.transparent.len();
            self.transparent.retain(|parameter| !spoiled.contains(parameter));
            if self.transparent.len() == before {
                return;
            }
        }
    }

    /// Notes the parameters that an expression uses as more than a way to what they point to.
    fn spoils(&mut self, unit: &Unit, expr: &Expr, spoiled: &mut HashSet<VariableId>) {
        let mut spoil = |expr: &Expr| {
            if let Some(parameter) = plain_load(expr) {
                spoiled.insert(parameter);
            }
        };
        match &expr.kind {
            // The way to what it points to.
            ExprKind::Deref(_) | ExprKind::Load(_) | ExprKind::Cast(_) | ExprKind::Member(..) => {}
            ExprKind::PointerAdd(_, index) => spoil(index),
            ExprKind::Assign(to, value) => {
                spoil(value);
                if let ExprKind::Variable(variable) = to.kind {
                    spoiled.insert(variable);
                }
            }
            ExprKind::AddressOf(of) | ExprKind::Step(of, _, _) => {
                if let ExprKind::Variable(variable) = of.kind {
                    spoiled.insert(variable);
                }
                // The address of a part is kept by somebody.
            }
            ExprKind::AssignOp(_, to, value, _) | ExprKind::AssignPointerAdd(to, value) => {
                spoil(value);
                if let ExprKind::Variable(variable) = to.kind {
                    spoiled.insert(variable);
                }
            }
            ExprKind::Call(callee, arguments) => {
                spoil(callee);
                let callees = self.callees(callee);
                let direct = matches!(callee.kind, ExprKind::Function(_));
                for (position, argument) in arguments.iter().enumerate() {
                    let kept =
                        !direct || callees.iter().any(|&function| self.keeps(unit, function, position));
                    if kept {
                        spoil(argument);
                    }
                }
            }
            ExprKind::Binary(_, left, right) => {
                // A comparison with the null pointer is decided where the argument is an address.
                if !is_null(left) && !is_null(right) {
                    spoil(left);
                    spoil(right);
                }
            }
            ExprKind::PointerDifference(left, right) => {
                spoil(left);
                spoil(right);
            }
            ExprKind::Conditional(_, then, other) => {
                then.iter().for_each(|then| spoil(then));
                spoil(other);
            }
            ExprKind::Comma(_, value) => spoil(value),
            ExprKind::Unary(..) | ExprKind::And(..) | ExprKind::Or(..) => {}
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Variable(_)
            | ExprKind::Function(_)
            | ExprKind::Statements(_)
            | ExprKind::Unsupported(_) => {}
        }
    }

    /// Whether a function may keep an address that is passed to it.
    fn keeps(&self, unit: &Unit, function: FunctionId, position: usize) -> bool {
        let function = &unit.functions[function.0];
        match &function.body {
            Some(_) => function
                .parameters
                .get(position)
                .is_none_or(|parameter| !self.transparent.contains(parameter)),
            None => library::keeps(&function.name, position),
        }
    }

    fn find_escapes(&mut self, unit: &Unit) {
        let mut escapes = HashSet::new();
        for variable in &unit.variables {
            for value in walk::values(&variable.initial) {
                walk::expression(value, &mut |expr| {
                    if let ExprKind::AddressOf(place) = &expr.kind {
                        escapes.extend(root(place));
                    }
                });
            }
        }
        for function in &unit.functions {
            let Some(body) = &function.body else { continue };
            let mut harmless: HashSet<Site> = HashSet::new();
            walk::statements(body, &mut |expr| {
                match &expr.kind {
                    ExprKind::Deref(pointer) => mark_way(pointer, &mut harmless),
                    ExprKind::Call(callee, arguments) if matches!(callee.kind, ExprKind::Function(_)) => {
                        for function in self.callees(callee) {
                            for (position, argument) in arguments.iter().enumerate() {
                                if !self.keeps(unit, function, position) {
                                    mark_way(argument, &mut harmless);
                                }
                            }
                        }
                    }
                    _ => {}
                }
                if let ExprKind::AddressOf(place) = &expr.kind
                    && !harmless.contains(&std::ptr::from_ref(expr))
                {
                    escapes.extend(root(place));
                }
            });
        }
        self.escapes = escapes;
    }
}

/// An address that is only a way to an object: the expression, below casts and sums.
fn mark_way(pointer: &Expr, harmless: &mut HashSet<Site>) {
    match &pointer.kind {
        ExprKind::AddressOf(place) => {
            harmless.insert(pointer);
            // `&(*p).m` and `&a[i]` go on.
            let mut place = place;
            while let ExprKind::Member(object, _) = &place.kind {
                place = object;
            }
            if let ExprKind::Deref(inner) = &place.kind {
                mark_way(inner, harmless);
            }
        }
        ExprKind::Cast(part) => mark_way(part, harmless),
        ExprKind::PointerAdd(part, _) => mark_way(part, harmless),
        _ => {}
    }
}

fn spoils_statement(stmt: &Stmt, spoiled: &mut HashSet<VariableId>) {
    let mut spoil = |expr: &Expr| spoiled.extend(plain_load(expr));
    match &stmt.kind {
        StmtKind::Return(Some(value)) => spoil(value),
        StmtKind::Declare(_, Some(initial)) => walk::values(initial).for_each(spoil),
        StmtKind::Switch(value, _) => spoil(value),
        _ => {}
    }
}

/// The variable whose value an expression is, or is the address of a part of what it points to.
fn plain_load(expr: &Expr) -> Option<VariableId> {
    match &expr.kind {
        ExprKind::Load(place) => match place.kind {
            ExprKind::Variable(variable) => Some(variable),
            _ => None,
        },
        ExprKind::Cast(part) | ExprKind::PointerAdd(part, _) => plain_load(part),
        ExprKind::AddressOf(place) => {
            let mut place = place;
            while let ExprKind::Member(object, _) = &place.kind {
                place = object;
            }
            match &place.kind {
                ExprKind::Deref(pointer) => plain_load(pointer),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The variable that an lvalue is part of.
pub fn root(place: &Expr) -> Option<VariableId> {
    match &place.kind {
        ExprKind::Variable(variable) => Some(*variable),
        ExprKind::Member(object, _) => root(object),
        ExprKind::Deref(pointer) => root(array_of(pointer)?),
        _ => None,
    }
}

/// What a pointer is the address of, or of which it is the address of an element.
pub fn array_of(pointer: &Expr) -> Option<&Expr> {
    let pointer = if let ExprKind::PointerAdd(pointer, _) = &pointer.kind { pointer } else { pointer };
    if let ExprKind::AddressOf(place) = &pointer.kind { Some(place) } else { None }
}

/// Whether a function without a body gives a pointer, to something that is not the program's.
pub fn gives(function: &Function) -> bool {
    function.body.is_none()
        && matches!(function.ty.result.plain(), Type::Pointer(_))
        && library::gives(&function.name)
}

/// Whether a function may be called through a pointer to another type of function: with so many arguments of these kinds, and
/// pointers to the same structs. Any other call is undefined in C.
fn may_be_called_as(function: &FunctionType, called: &FunctionType) -> bool {
    let alike = |own: &Type, given: &Type| match (own.plain(), given.plain()) {
        (Type::Pointer(own), Type::Pointer(given)) => match (own.plain(), given.plain()) {
            (Type::Record(own), Type::Record(given)) => own == given,
            _ => true,
        },
        (Type::Int(_), Type::Int(_)) | (Type::Float(_), Type::Float(_)) => true,
        (own, given) => own == given,
    };
    let (own, given) = (&function.parameters, &called.parameters);
    let alike = own.iter().zip(given).all(|(own, given)| alike(own, given))
        && (function.result == Type::Void
            || called.result == Type::Void
            || alike(&function.result, &called.result));
    let unprototyped = |ty: &FunctionType| ty.variadic && ty.parameters.is_empty();
    unprototyped(function)
        || unprototyped(called)
        || alike && (own.len() == given.len() || function.variadic && own.len() < given.len())
}

fn is_null(expr: &Expr) -> bool {
    matches!(walk::through_casts(expr).kind, ExprKind::Int(0))
}

/// The functions that may, through others, call themselves.
fn recursive(unit: &Unit, pointers: &mut Pointers) -> HashSet<FunctionId> {
    let calls: Vec<Vec<FunctionId>> = unit
        .functions
        .iter()
        .map(|function| {
            let mut calls = Vec::new();
            walk::statements(function.body.as_deref().unwrap_or_default(), &mut |expr| {
                if let ExprKind::Call(callee, _) = &expr.kind {
                    calls.extend(pointers.callees(callee));
                }
            });
            calls.sort_unstable();
            calls.dedup();
            calls
        })
        .collect();
    let reaches_itself = |start: usize| {
        let mut seen = HashSet::new();
        let mut todo = calls[start].clone();
        while let Some(function) = todo.pop() {
            if function.0 == start {
                return true;
            }
            if seen.insert(function) {
                todo.extend(&calls[function.0]);
            }
        }
        false
    };
    (0..unit.functions.len()).filter(|&start| reaches_itself(start)).map(FunctionId).collect()
}

/// Whether a variable ends with its function.
pub fn is_automatic(unit: &Unit, variable: VariableId) -> bool {
    matches!(unit.variables[variable.0].storage, Storage::Automatic(_))
}
