//! Functions and statements: each statement becomes a location, in the order of the text.

use super::super::syntax::{self, Action, Branch, Declaration, Function, Name, Statement, jump};
use super::expressions::{Meaning, Reading};
use super::{Lowering, Signature, variable};
use allways_model::program::{
    Binary, Edge, Expr, LocationId, Op, Place, Procedure, ProcedureId, Slot, Span, Target, TemplateId, Type,
    Unary, Variable,
};
use std::collections::{HashMap, HashSet};

/// What statements of a function refer to.
pub(super) struct Scope<'a> {
    procedure: ProcedureId,
    signature: Signature,
    pub locals: HashMap<&'a str, Slot>,
    labels: HashMap<&'a str, Labelled>,
    /// The first of the slots for results that nobody wants.
    nobody: Slot,
    /// After the last statement.
    end: LocationId,
    /// Where a thread ends.
    thread_end: LocationId,
}

/// Where a label stands.
#[derive(Clone, Copy, PartialEq)]
enum Labelled {
    Once(LocationId),
    /// At several locations.
    Often,
}

impl<'a> Lowering<'a> {
    /// Adds a function, whose number is that of its procedure.
    pub(super) fn function(&mut self, procedure: ProcedureId, mut function: Function<'a>) {
        let signature = self.functions[function.name.text];
        let mut scope = Scope {
            procedure,
            signature,
            locals: HashMap::new(),
            labels: HashMap::new(),
            nobody: 0,
            end: LocationId(0),
            thread_end: LocationId(0),
        };
        let mut locals = Vec::new();
        self.declare(&function.parameters, &mut locals, &mut scope);
        let own = std::mem::take(&mut self.own);
        self.declare(&own, &mut locals, &mut scope);
        self.own = own;
        self.declare(&function.locals, &mut locals, &mut scope);
        scope.nobody = self.nobodys(&function, &mut locals);
        let entry = LocationId(self.program.locations.len());
        self.locate(&mut function.body, &mut scope);
        self.ends(&function, &mut scope);
        // Nobody passes arguments to the body of a thread; what is not passed is any value.
        let parameters = if signature.is_body() { 0 } else { function.parameters.len() };
        self.program.procedures.push(Procedure {
            name: function.name.text.to_string(),
            locals,
            parameters,
            results: vec![Type::Bool; function.results],
            entry,
            span: function.name.span,
        });
        self.sequence(&function.body, scope.end, &scope);
        self.watch(&scope);
        self.enforce(entry, &function, &scope);
    }

    /// Restricts the steps of a function by its `enforce` statements: a step is taken only where they are true, and only if
    /// they are after its assignment. (What other threads assign, and what a call does, they restrict at the next step.)
    fn enforce(&mut self, entry: LocationId, function: &Function<'a>, scope: &Scope<'a>) {
        let mut enforced = Vec::new();
        fn collect<'f, 'a>(statements: &'f [Statement<'a>], enforced: &mut Vec<&'f syntax::Expr<'a>>) {
            for statement in statements {
                match &statement.action {
                    Action::Enforce(expr) => enforced.push(expr),
                    Action::If(branches, otherwise) => {
                        branches.iter().for_each(|branch| collect(&branch.body, enforced));
                        collect(otherwise, enforced);
                    }
                    Action::While(_, body) => collect(body, enforced),
                    Action::Start(started) => collect(std::slice::from_ref(&**started), enforced),
                    _ => {}
                }
            }
        }
        collect(&function.body, &mut enforced);
        let both = |one: Expr, other: Expr| {
            Expr::Binary(Binary::And, Box::new(one), Box::new(other), Span::default())
        };
        let not = |expr: Expr| Expr::Unary(Unary::Not, Box::new(expr));
        for expr in enforced {
            let now = self.expression(expr, scope, Reading::Now);
            if self.diagnostics.has_errors() {
                // It would be reported once more.
                return;
            }
            let after = self.expression(expr, scope, Reading::After);
            for location in &mut self.program.locations[entry.index()..] {
                for edge in &mut location.edges {
                    edge.op = match std::mem::replace(&mut edge.op, Op::Skip) {
                        Op::Skip => Op::Guard(now.clone(), true),
                        Op::Guard(condition, true) => Op::Guard(both(now.clone(), condition), true),
                        Op::Guard(condition, false) => Op::Guard(both(now.clone(), not(condition)), true),
                        Op::Assert(condition) => Op::Assert(not(both(now.clone(), not(condition)))),
                        Op::Error => Op::Assert(not(now.clone())),
                        Op::Assign(places, values, constraint) => {
                            let all = both(now.clone(), after.clone());
                            let all = constraint.into_iter().fold(all, both);
                            Op::Assign(places, values, Some(all))
                        }
                        other => other,
                    };
                }
            }
        }
    }

    /// At a label that is watched, there is nothing but an error.
    fn watch(&mut self, scope: &Scope<'a>) {
        for label in self.program.labels.iter().filter(|label| self.watched.contains(&*label.name)) {
            let location = &mut self.program.locations[label.location];
            if location.procedure == scope.procedure {
                location.edges = vec![Edge { op: Op::Error, to: label.location, span: location.span }];
            }
        }
    }

    /// Declares as many variables as there are results, in one call, that nobody wants; gives the first.
    fn nobodys(&mut self, function: &Function<'a>, locals: &mut Vec<Variable>) -> Slot {
        let first = locals.len();
        let mut most = 0;
        let mut see = |statement: &Statement<'a>| {
            if let Action::Call { results, .. } = &statement.action {
                most = most.max(results.iter().filter(|name| name.text == "_").count());
            }
        };
        function.body.iter().for_each(|statement| statement.visit(&mut see));
        for number in 0..most {
            let nobody = Variable {
                name: format!("_ {number}"),
                ..variable(function.name, first + number, Some(false))
            };
            locals.push(nobody);
        }
        first
    }

    fn declare(&mut self, declared: &[Declaration<'a>], locals: &mut Vec<Variable>, scope: &mut Scope<'a>) {
        for &Declaration { name, initial, .. } in declared {
            let slot = locals.len();
            if scope.locals.insert(name.text, slot).is_some() {
                self.error(name, "is declared before", None);
            }
            locals.push(variable(name, slot, initial));
        }
    }

    /// Gives each statement its location.
    fn locate(&mut self, statements: &mut [Statement<'a>], scope: &mut Scope<'a>) {
        for statement in statements {
            statement.location = self.location(scope.procedure, statement.span);
            for &label in &statement.labels {
                self.label(label, statement.location);
                let here = Labelled::Once(statement.location);
                let labelled = scope.labels.entry(label.text).or_insert(here);
                if *labelled != here {
                    *labelled = Labelled::Often;
                }
            }
            match &mut statement.action {
                Action::If(branches, otherwise) => {
                    for (index, branch) in branches.iter_mut().enumerate() {
                        branch.location = match index {
                            0 => statement.location,
                            _ => self.location(scope.procedure, branch.span),
                        };
                        self.locate_body(&mut branch.body, scope);
                    }
                    self.locate_body(otherwise, scope);
                }
                Action::While(_, body) => self.locate_body(body, scope),
                Action::Start(started) => self.locate_body(std::slice::from_mut(&mut **started), scope),
                _ => {}
            }
        }
    }

    fn locate_body(&mut self, body: &mut [Statement<'a>], scope: &mut Scope<'a>) {
        if jump(body).is_none() {
            self.locate(body, scope);
        }
    }

    /// The locations where a function, and a thread in it, end.
    fn ends(&mut self, function: &Function<'a>, scope: &mut Scope<'a>) {
        scope.end = self.location(scope.procedure, function.end);
        scope.thread_end = scope.end;
        if scope.signature.is_body() {
            return;
        }
        let results = vec![Expr::Choose(0, 1); function.results];
        self.edge(scope.end, Op::Return(results), scope.end, function.end);
        let mut ends = false;
        let mut see = |statement: &Statement<'a>| {
            ends |= matches!(statement.action, Action::EndThread | Action::Start(_));
        };
        function.body.iter().for_each(|statement| statement.visit(&mut see));
        if ends {
            scope.thread_end = self.location(scope.procedure, function.end);
        }
    }

    fn edge(&mut self, from: LocationId, op: Op, to: LocationId, span: Span) {
        self.program.locations[from].edges.push(Edge { op, to, span });
    }

    /// Statements one after another, and where they lead.
    fn sequence(&mut self, statements: &[Statement<'a>], after: LocationId, scope: &Scope<'a>) {
        for (index, statement) in statements.iter().enumerate() {
            let next = statements.get(index + 1).map_or(after, |next| next.location);
            self.statement(statement, next, scope);
        }
    }

    fn statement(&mut self, statement: &Statement<'a>, next: LocationId, scope: &Scope<'a>) {
        let Statement { ref action, span, location, .. } = *statement;
        let op = match action {
            Action::Skip => Op::Skip,
            Action::Goto(targets) => {
                for &target in targets {
                    let target = self.target(target, scope);
                    self.edge(location, Op::Skip, target, span);
                }
                return;
            }
            Action::If(branches, otherwise) => return self.conditional(branches, otherwise, next, scope),
            Action::While(condition, body) => {
                let condition = self.expression(condition, scope, Reading::Now);
                let inside = self.body(body, location, scope);
                return self.guards(location, condition, inside, next, span);
            }
            Action::Assign { places, values, constraint } => {
                if places.len() != values.len() {
                    let message = format!(
                        "expected a value for each of {} variables, found {}",
                        places.len(),
                        values.len()
                    );
                    self.report(span, message, None);
                }
                let mut values: Vec<Expr> = values
                    .iter()
                    .enumerate()
                    .map(|(index, value)| {
                        let given = places.get(index).is_some_and(|&name| self.is_given(name, scope));
                        let reading = if given { Reading::Given } else { Reading::Now };
                        self.expression(value, scope, reading)
                    })
                    .collect();
                let mut names = places.iter();
                values.retain(|_| names.next().is_none_or(|&name| !self.is_nobody(name, scope)));
                let names: Vec<Name<'a>> =
                    places.iter().copied().filter(|&name| !self.is_nobody(name, scope)).collect();
                let places = self.places(&names, true, scope);
                let constraint = constraint
                    .as_ref()
                    .map(|constraint| self.expression(constraint, scope, Reading::Constraint));
                Op::Assign(places, values, constraint)
            }
            Action::Dead(names) => {
                let names: Vec<Name<'a>> =
                    names.iter().copied().filter(|&name| !self.is_nobody(name, scope)).collect();
                let places = self.places(&names, false, scope);
                let values = vec![Expr::Choose(0, 1); places.len()];
                Op::Assign(places, values, None)
            }
            Action::Call { function, arguments, results } => {
                let arguments = self.expressions(arguments, scope);
                if function.text == "print" && !self.functions.contains_key("print") && results.is_empty() {
                    return self.edge(location, Op::Skip, next, span);
                }
                let results = self.places(results, false, scope);
                match self.callee(*function, arguments.len(), results.len(), span) {
                    Some(procedure) => Op::Call(procedure, arguments, results),
                    None => Op::Skip,
                }
            }
            Action::Return(results) => return self.result(statement, results, scope),
            Action::Assume(expr, truth) => Op::Guard(self.expression(expr, scope, Reading::Now), *truth),
            Action::Enforce(_) => Op::Skip,
            Action::Assert(expr) => Op::Assert(self.expression(expr, scope, Reading::Now)),
            Action::Start(started) => return self.start(statement, started, next, scope),
            Action::Create(function) => match self.created(*function) {
                Some(template) => Op::Spawn(template, Vec::new()),
                None => Op::Skip,
            },
            Action::EndThread => return self.edge(location, Op::Skip, scope.thread_end, span),
            Action::AtomicBegin => Op::AtomicBegin,
            Action::AtomicEnd => Op::AtomicEnd,
            Action::Wait => Op::Wait(self.event()),
            Action::Broadcast => Op::Broadcast(self.event()),
            Action::Sync(event) => return self.meet(*event, (location, next), span),
        };
        self.edge(location, op, next, span);
    }

    /// Two threads go on together. The first says that it waits; the second says that it has come, and goes on; the first
    /// takes both back, and goes on. Nobody can tell that from a single step: a thread that waits does nothing, and neither
    /// does one that has not yet gone on.
    fn meet(&mut self, event: Name<'a>, (here, next): (LocationId, LocationId), span: Span) {
        let (waits, came) = self.meeting(event);
        let procedure = self.program.locations[here].procedure;
        let waiting = self.location(procedure, span);
        self.meeting_places.insert(here);
        let place = |slot| Place { target: Target::Shared(slot), ty: Type::Bool, span };
        let not = |slot| Expr::Unary(Unary::Not, Box::new(Expr::Shared(slot)));
        let both = |one, other| Expr::Binary(Binary::And, Box::new(one), Box::new(other), span);
        let assign = |slots: &[Slot], value, condition| {
            let places = slots.iter().map(|&slot| place(slot)).collect();
            Op::Assign(places, vec![Expr::Constant(value); slots.len()], Some(condition))
        };
        self.edge(here, assign(&[waits], 1, both(not(waits), not(came))), waiting, span);
        self.edge(here, assign(&[came], 1, both(Expr::Shared(waits), not(came))), next, span);
        self.edge(waiting, assign(&[waits, came], 0, Expr::Shared(came)), next, span);
    }

    fn conditional(
        &mut self,
        branches: &[Branch<'a>],
        otherwise: &[Statement<'a>],
        next: LocationId,
        scope: &Scope<'a>,
    ) {
        let mut no = self.body(otherwise, next, scope);
        for branch in branches.iter().rev() {
            let condition = self.expression(&branch.condition, scope, Reading::Now);
            let yes = self.body(&branch.body, next, scope);
            self.guards(branch.location, condition, yes, no, branch.span);
            no = branch.location;
        }
    }

    fn guards(&mut self, from: LocationId, condition: Expr, yes: LocationId, no: LocationId, span: Span) {
        self.edge(from, Op::Guard(condition.clone(), true), yes, span);
        self.edge(from, Op::Guard(condition, false), no, span);
    }

    /// Where a condition leads that controls these statements.
    fn body(&mut self, body: &[Statement<'a>], after: LocationId, scope: &Scope<'a>) -> LocationId {
        if let Some(target) = jump(body) {
            return self.target(target, scope);
        }
        self.sequence(body, after, scope);
        body.first().map_or(after, |first| first.location)
    }

    /// Where a jump leads.
    fn target(&mut self, target: Name<'a>, scope: &Scope<'a>) -> LocationId {
        match scope.labels.get(target.text) {
            Some(&Labelled::Once(location)) => return location,
            Some(Labelled::Often) => self.error(target, "stands at several statements", None),
            None => self.error(target, "is no label of this function", None),
        }
        scope.end
    }

    fn places(&mut self, names: &[Name<'a>], others: bool, scope: &Scope<'a>) -> Vec<Place> {
        let mut seen = HashSet::new();
        let mut places = Vec::new();
        let mut nobody = scope.nobody..;
        for &name in names {
            if self.is_nobody(name, scope) {
                let target = Target::Local(nobody.next().unwrap_or_default());
                places.push(Place { target, ty: Type::Bool, span: name.span });
                continue;
            }
            let Some(meaning) = self.meaning(name, scope) else { continue };
            if !seen.insert(meaning) {
                self.error(name, "is assigned twice", None);
            }
            let target = match meaning {
                Meaning::Shared(slot) => Target::Shared(slot),
                Meaning::Local(slot) => Target::Local(slot),
                Meaning::Others(slot) => {
                    if others {
                        self.mix(name, slot, scope);
                    } else {
                        self.error(name, "can only be assigned an expression", None);
                    }
                    Target::Others(slot)
                }
            };
            places.push(Place { target, ty: Type::Bool, span: name.span });
        }
        places
    }

    /// Other threads write or read a variable.
    pub(super) fn mix(&mut self, name: Name<'a>, slot: Slot, scope: &Scope<'a>) {
        if !scope.signature.is_body() {
            let help = "threads have the variables of a function in common only if they start with it";
            return self.error(name, "is of a function that threads call", Some(help));
        }
        self.program.procedures[scope.procedure].locals[slot].mixed = true;
        self.mixed = true;
    }

    /// Whether a name is that of a variable of the other threads, `x$`.
    fn is_given(&self, name: Name<'a>, scope: &Scope<'a>) -> bool {
        let known = |text: &str| scope.locals.contains_key(text);
        !known(name.text)
            && !self.shared.contains_key(name.text)
            && name.text.strip_suffix('$').is_some_and(known)
    }

    /// Whether a name is `_`, and no variable is called that.
    fn is_nobody(&self, name: Name<'a>, scope: &Scope<'a>) -> bool {
        name.text == "_" && !scope.locals.contains_key("_") && !self.shared.contains_key("_")
    }

    /// The procedure of a call, if it is called as it should be.
    fn callee(
        &mut self,
        function: Name<'a>,
        arguments: usize,
        results: usize,
        span: Span,
    ) -> Option<ProcedureId> {
        let Some(&signature) = self.functions.get(function.text) else {
            self.error(function, "is no function", None);
            return None;
        };
        if arguments != signature.parameters {
            let message = format!("expected {}, found {arguments}", count(signature.parameters, "argument"));
            self.report(span, message, None);
        }
        // Results may be ignored, all together.
        if results != 0 && results != signature.results {
            let message = format!(
                "expected {} for {}, found {results}",
                count(signature.results, "variable"),
                count(signature.results, "result"),
            );
            self.report(span, message, None);
        }
        Some(signature.procedure)
    }

    fn created(&mut self, function: Name<'a>) -> Option<TemplateId> {
        let Some(&signature) = self.functions.get(function.text) else {
            self.error(function, "is no function", None);
            return None;
        };
        if signature.parameters > 0 {
            self.error(function, "has parameters, so that no thread can start with it", None);
        }
        signature.template
    }

    fn result(&mut self, statement: &Statement<'a>, results: &[syntax::Expr<'a>], scope: &Scope<'a>) {
        let Statement { span, location, .. } = *statement;
        let values = self.expressions(results, scope);
        if values.len() != scope.signature.results {
            let expected = count(scope.signature.results, "result");
            self.report(span, format!("expected {expected}, found {}", values.len()), None);
        }
        // Nobody waits for the results of a thread.
        if scope.signature.is_body() {
            self.edge(location, Op::Skip, scope.end, span);
        } else {
            self.edge(location, Op::Return(values), location, span);
        }
    }

    fn start(
        &mut self,
        statement: &Statement<'a>,
        started: &Statement<'a>,
        next: LocationId,
        scope: &Scope<'a>,
    ) {
        let Statement { span, location, .. } = *statement;
        if scope.signature.is_body() {
            if let Some(template) = scope.signature.template {
                self.program.templates[template].spawned = true;
            }
        } else {
            self.foreign_forks.push(span);
            // It may be a thread of any template that executes this.
            self.program.templates.iter_mut().for_each(|template| template.spawned = true);
        }
        let to = self.body(std::slice::from_ref(started), scope.thread_end, scope);
        self.edge(location, Op::Fork(to), next, span);
    }
}

/// Such as `2 results` or `1 argument`.
fn count(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
