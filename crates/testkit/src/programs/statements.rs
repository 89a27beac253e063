//! Random programs: statements.

use super::generate::{Generator, Mode, REFERENCE, Routine, Type, Variable};
use std::fmt::Write;

/// Where a statement stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    /// The routine.
    pub name: String,
    pub has_self: bool,
    /// The type of the result of the procedure.
    pub result: Option<Type>,
    pub procedure: bool,
    /// See [`Routine::plain`].
    pub plain: bool,
    /// How many tasks may still be posted.
    pub posts: u32,
    /// How many more statements there may be.
    pub left: usize,
    /// The variables in scope; of those with the same name, the last is meant.
    pub locals: Vec<Variable>,
    /// How many of them are not of the innermost block.
    pub outer: usize,
    /// How many variables have been declared.
    pub declared: usize,
    /// Labels that stand somewhere in the body, or will.
    pub targets: Vec<String>,
    /// Those that do not stand anywhere yet.
    pub pending: Vec<String>,
    pub loops: usize,
    pub atomic: bool,
    pub depth: usize,
}

impl Body {
    pub fn new(name: &str) -> Body {
        Body { name: name.to_string(), ..Body::default() }
    }

    /// No body at all: the place of a property, which speaks of shared variables only and makes no choices.
    pub fn property() -> Body {
        Body::default()
    }

    pub fn is_property(&self) -> bool {
        self.name.is_empty()
    }
}

/// How the names of variables start that a `for` or a quantifier gives their values.
pub(super) const COUNTED: char = 'i';

/// The kinds of statements, and how often they occur.
const KINDS: [(&str, u32); 33] = [
    ("assign", 24),
    ("parallel", 5),
    ("any", 4),
    ("assume", 3),
    ("await", 4),
    ("assert", 6),
    ("error", 1),
    ("if", 8),
    ("while", 4),
    ("loop", 3),
    ("choose", 4),
    ("block", 1),
    ("goto", 3),
    ("break", 3),
    ("continue", 2),
    ("skip", 3),
    ("atomic", 5),
    ("acquire", 8),
    ("release", 4),
    ("critical", 8),
    ("again", 3),
    ("spawn", 6),
    ("wait", 6),
    ("broadcast", 6),
    ("signal", 6),
    ("call", 26),
    ("return", 2),
    ("declare", 8),
    ("post", 12),
    ("yield", 8),
    ("for", 8),
    ("update", 16),
    ("channel", 20),
];

impl Generator {
    /// Writes the statements of a body and its closing brace.
    pub(super) fn body(&mut self, mut body: Body) {
        if self.once_in(3) {
            let count = self.rng.usize(1..=2);
            body.targets = (0..count).map(|_| self.new_label(&body)).collect();
            body.pending.clone_from(&body.targets);
        }
        while body.left > 0 {
            self.statement(&mut body);
        }
        for label in std::mem::take(&mut body.pending) {
            self.line(&body, &format!("{label}: skip;"));
        }
        // Most procedures with a result have one at their end; those without go wrong.
        if let Some(ty) = body.result
            && !(self.risky && self.once_in(6))
        {
            let value = self.fitting(&body, ty);
            self.line(&body, &format!("return {value};"));
        }
        self.text += "}\n";
    }

    /// A label of its own, which properties may speak of.
    fn new_label(&mut self, body: &Body) -> String {
        let own = |label: &str| self.labels.contains(&(body.name.clone(), label.to_string()));
        let others: Vec<String> =
            self.labels.iter().map(|(_, label)| label.clone()).filter(|label| !own(label)).collect();
        let label = match self.pick(&others).filter(|_| self.once_in(4)) {
            Some(label) => label,
            None => format!("l{}", self.labels.len()),
        };
        self.labels.push((body.name.clone(), label.clone()));
        label
    }

    fn line(&mut self, body: &Body, text: &str) {
        let _ = writeln!(self.text, "{:width$}{text}", "", width = 2 * (body.depth + 1));
    }

    /// A label before the next statement, sometimes.
    fn label(&mut self, body: &mut Body) -> String {
        if !body.atomic && !body.pending.is_empty() && self.once_in(3) {
            return format!("{}: ", body.pending.remove(0));
        }
        if self.mode != Mode::Boolean && self.once_in(if body.atomic { 30 } else { 10 }) {
            return format!("{}: ", self.new_label(body));
        }
        String::new()
    }

    fn statement(&mut self, body: &mut Body) {
        body.left = body.left.saturating_sub(1);
        let kinds: Vec<(&str, u32)> =
            KINDS.iter().copied().filter(|(kind, _)| self.possible(body, kind)).collect();
        let mut number = self.rng.u32(0..kinds.iter().map(|kind| kind.1).sum());
        let kind = kinds.iter().find(|kind| {
            let found = number < kind.1;
            number = number.saturating_sub(kind.1);
            found
        });
        let kind = kind.map_or("skip", |kind| kind.0);
        let label = self.label(body);
        match kind {
            "if" | "while" | "loop" | "for" | "choose" | "block" | "atomic" => {
                self.nested(body, kind, &label)
            }
            "critical" => {
                let lock = self.lock_place(body);
                self.line(body, &format!("{label}acquire({lock});"));
                self.line(body, "{");
                self.block(body, |_| (), false);
                self.line(body, "}");
                self.line(body, &format!("release({lock});"));
            }
            "again" => {
                let again = self.new_label(body);
                self.line(body, &format!("{label}{again}: skip;"));
                self.statement(body);
                let condition = self.condition(body, 1);
                self.line(body, &format!("if ({condition}) {{ goto {again}; }}"));
            }
            _ => {
                let text = self.simple(body, kind);
                self.line(body, &format!("{label}{text}"));
            }
        }
    }

    /// Whether a kind of statement makes sense here.
    fn possible(&self, body: &Body, kind: &str) -> bool {
        let tasks = self.mode == Mode::Tasks;
        // What is no single step of one thread has no place inside another step.
        let apart = body.atomic || body.plain;
        match kind {
            "any" => !self.writable(body, |ty| ty != Type::Int).is_empty(),
            "for" => self.mode == Mode::Short && body.depth < 3,
            "update" => self.mode == Mode::Short,
            "channel" => self.channel.is_some(),
            "assert" => self.asserts,
            "error" => self.asserts && body.depth > 0,
            "if" | "while" | "loop" | "choose" => body.depth < 3,
            "block" => body.depth < 2,
            "goto" => !body.targets.is_empty() && (!body.atomic || self.mode == Mode::Short),
            "break" | "continue" => body.loops > 0,
            "atomic" => !body.plain,
            "acquire" | "release" => self.lock.is_some() && self.risky,
            "critical" => self.lock.is_some() && body.depth < 3,
            "again" => body.depth < 3,
            // In a Boolean program, threads run `main`, so that no other function can start them.
            "spawn" if body.procedure && self.mode == Mode::Boolean => false,
            "spawn" => self.spawned.as_ref().is_some_and(|name| *name != body.name) && !apart,
            "wait" | "broadcast" => self.event.is_some() && !apart,
            "signal" => self.event.is_some() && !apart && self.mode == Mode::Short,
            "call" => self.callable(body).next().is_some(),
            "return" => body.depth > 0 && (!body.atomic || self.mode == Mode::Short),
            "post" => body.posts > 0 && !apart,
            "yield" => tasks && !apart,
            "await" => !tasks || !apart,
            _ => true,
        }
    }

    fn callable<'a>(&'a self, body: &Body) -> impl Iterator<Item = &'a Routine> {
        let (atomic, none) = (body.atomic, body.plain);
        let referable =
            |routine: &&Routine| routine.reference.is_none_or(|ty| !self.referable(body, ty).is_empty());
        let callable: Vec<&Routine> = self.procedures.iter().filter(referable).collect();
        callable.into_iter().filter(move |procedure| !none && (procedure.plain || !atomic))
    }

    /// What a reference to a type can stand for: a shared variable, or what the procedure was given itself.
    fn referable(&self, body: &Body, ty: Type) -> Vec<Variable> {
        let shared = |variable: &&Variable| {
            body.locals.iter().all(|local| local.name != variable.name) && variable.columns.is_none()
        };
        let mut all: Vec<Variable> = self.shared.iter().filter(shared).cloned().collect();
        all.extend(body.locals.iter().filter(|local| local.name == REFERENCE).cloned());
        all.retain(|variable| variable.ty == ty);
        all
    }

    fn simple(&mut self, body: &mut Body, kind: &str) -> String {
        match kind {
            "assign" => {
                let (place, ty) = self.place(body, |_| true);
                format!("{place} = {};", self.fitting(body, ty))
            }
            "parallel" => {
                let (first, first_ty) = self.place(body, |_| true);
                let (second, second_ty) = self.place(body, |_| true);
                // The same variable twice is an error; elements of an array may turn out to be the same.
                let base = |place: &str| place.split('[').next().map(str::to_string);
                let fixed = |place: &str| !place.contains("[g") && !place.contains("[self");
                // What a reference stands for may be anything.
                let open = first == REFERENCE || second == REFERENCE;
                if open || base(&first) == base(&second) && fixed(&first) && fixed(&second) {
                    return "skip;".to_string();
                }
                let (left, right) = (self.fitting(body, first_ty), self.fitting(body, second_ty));
                format!("{first}, {second} = {left}, {right};")
            }
            "any" => format!("{} = *;", self.place(body, |ty| ty != Type::Int).0),
            "assume" | "await" => format!("{kind} {};", self.tested(body, 2)),
            "assert" => format!("assert {};", self.condition(body, 2)),
            "update" => self.update(body),
            "channel" => self.channel(body),
            "goto" => {
                let targets = body.targets.clone();
                let count = self.rng.usize(1..=targets.len());
                format!("goto {};", targets[..count].join(", "))
            }
            "acquire" | "release" => format!("{kind}({});", self.lock_place(body)),
            "spawn" => format!("spawn {};", self.spawned.clone().unwrap_or_default()),
            "wait" | "broadcast" | "signal" => format!("{kind} {};", self.event.clone().unwrap_or_default()),
            // Most recursion has an end.
            "call" if body.procedure && !self.once_in(3) => {
                format!("if ({}) {{ {} }}", self.condition(body, 1), self.call(body))
            }
            "call" => self.call(body),
            "return" => match body.result {
                Some(ty) => format!("return {};", self.fitting(body, ty)),
                None => "return;".to_string(),
            },
            "declare" => self.declaration(body),
            "post" => {
                body.posts -= 1;
                let tasks = self.tasks.clone();
                let task = self.pick(&tasks).expect("tasks are there wherever they are posted");
                format!("post {};", self.application(body, &task))
            }
            plain => format!("{plain};"),
        }
    }

    /// Writes a statement that posts a task.
    pub(super) fn post(&mut self, body: &mut Body) {
        let text = self.simple(body, "post");
        self.line(body, &text);
    }

    /// A variable or an element of an array, to be written.
    fn place(&mut self, body: &Body, suits: impl Fn(Type) -> bool) -> (String, Type) {
        let all = self.writable(body, suits);
        let variable = self.pick(&all).expect("there is a variable of a finite type");
        (self.part(body, &variable), variable.ty)
    }

    /// The variables of some type that can be written.
    fn writable(&self, body: &Body, suits: impl Fn(Type) -> bool) -> Vec<Variable> {
        self.visible(body, |variable| suits(variable.ty) && !variable.name.starts_with(COUNTED))
    }

    /// The condition of a step, sometimes one that stores something.
    fn tested(&mut self, body: &Body, depth: usize) -> String {
        if self.mode == Mode::Short && self.once_in(4) {
            let not = if self.rng.bool() { "!" } else { "" };
            let tried = match self.channel.is_some() && self.rng.bool() {
                true => self.tried(body),
                false => self.compare_and_swap(body),
            };
            return format!("{not}{}", tried.0);
        }
        self.condition(body, depth)
    }

    fn compare_and_swap(&mut self, body: &Body) -> (String, String) {
        let (mut place, mut ty) = self.place(body, |_| true);
        // What is compared makes no choices, nor does its index.
        while place.contains('*') {
            (place, ty) = self.place(body, |_| true);
        }
        let old = Some(self.fitting(body, ty)).filter(|old| !old.contains('*'));
        let old = old.unwrap_or_else(|| self.constant_of(ty));
        (format!("cas({place}, {old}, {})", self.fitting(body, ty)), place)
    }

    /// A statement that reads and writes a variable.
    fn update(&mut self, body: &Body) -> String {
        let ((call, place), result) = match self.rng.u8(0..3) {
            0 => (self.compare_and_swap(body), Type::Bool),
            1 => {
                let (place, ty) = self.place(body, |_| true);
                ((format!("exchange({place}, {})", self.fitting(body, ty)), place), ty)
            }
            _ => {
                if self.writable(body, |ty| ty != Type::Bool).is_empty() {
                    return "skip;".to_string();
                }
                let (place, ty) = self.place(body, |ty| ty != Type::Bool);
                let added = if self.risky { self.number(body, 1) } else { "0".to_string() };
                ((format!("fetch_add({place}, {added})"), place), ty)
            }
        };
        if self.once_in(3) || self.writable(body, |ty| ty == result).is_empty() {
            return format!("{call};");
        }
        let base = |place: &str| place.split('[').next().map(str::to_string);
        match self.place(body, |ty| ty == result).0 {
            target if base(&target) == base(&place) => format!("{call};"),
            target if target == REFERENCE || place == REFERENCE => format!("{call};"),
            target => format!("{target} = {call};"),
        }
    }

    /// An attempt to send or receive, and the variable that is written.
    fn tried(&mut self, body: &Body) -> (String, String) {
        let ty = self.channel.unwrap_or(Type::Bool);
        let suits = |other: Type| other == ty;
        if self.rng.bool() || self.writable(body, suits).is_empty() {
            return (format!("try_send(c, {})", self.fitting(body, ty)), String::new());
        }
        let place = self.place(body, suits).0;
        (format!("try_recv(c, {place})"), place)
    }

    /// A statement that sends or receives.
    fn channel(&mut self, body: &Body) -> String {
        let (call, place) = self.tried(body);
        if self.rng.u8(0..3) > 0 {
            return format!("{};", call.trim_start_matches("try_"));
        }
        let base = |place: &str| place.split('[').next().map(str::to_string);
        let results = self.writable(body, |ty| ty == Type::Bool);
        let open = |target: &Variable| target.name == REFERENCE || place == REFERENCE;
        match self.pick(&results).filter(|target| target.length.is_none() && !open(target)) {
            Some(target) if base(&place).as_ref() != Some(&target.name) => {
                format!("{} = {call};", target.name)
            }
            _ => format!("{call};"),
        }
    }

    fn lock_place(&mut self, body: &Body) -> String {
        let (name, length) = self.lock.clone().expect("there is a lock");
        match length {
            Some(length) => format!("{name}[{}]", self.index(body, length)),
            None => name,
        }
    }

    fn application(&mut self, body: &Body, routine: &Routine) -> String {
        let mut arguments: Vec<String> =
            routine.parameters.iter().map(|ty| self.fitting(body, *ty)).collect();
        if let Some(ty) = routine.reference {
            let all = self.referable(body, ty);
            match self.pick(&all) {
                Some(variable) => arguments.push(self.part(body, &variable)),
                None => unreachable!("such procedures are not called"),
            }
        }
        format!("{}({})", routine.name, arguments.join(", "))
    }

    fn call(&mut self, body: &Body) -> String {
        let callable: Vec<Routine> = self.callable(body).cloned().collect();
        let routine = self.pick(&callable).expect("there is one");
        let call = self.application(body, &routine);
        match routine.result {
            Some(ty) if !self.once_in(6) => {
                // Also where the result may not fit.
                let numbers = self.risky && ty != Type::Bool;
                let suits = |other: Type| other == ty || numbers && other != Type::Bool;
                match self.writable(body, suits).is_empty() {
                    true => format!("{call};"),
                    false => format!("{} = {call};", self.place(body, suits).0),
                }
            }
            _ => format!("{call};"),
        }
    }

    fn declaration(&mut self, body: &mut Body) -> String {
        let ty = match self.once_in(12) && self.mode != Mode::Boolean {
            true => Type::Int,
            false => self.type_of_value(),
        };
        let mut declarators = Vec::new();
        // A constant that does not fit is an error where it is an initial value.
        let risky = std::mem::replace(&mut self.risky, false);
        for _ in 0..if self.once_in(4) { 2 } else { 1 } {
            let length = (self.mode != Mode::Boolean && self.once_in(5)).then_some(2);
            if self.mode == Mode::Short && self.once_in(8) {
                body.declared += 1;
                let name = format!("d{}", body.declared);
                declarators.push(format!("{name}[2][2] = {}", self.constant_of(ty)));
                let rows = Variable::plain(name, ty, Some(2));
                body.locals.push(Variable { columns: Some(2), ..rows });
                continue;
            }
            let name = self.new_name(body);
            let values = length.and_then(|_| self.values_of_array(ty));
            let initial = match self.rng.u8(0..6) {
                _ if values.is_some() => values.unwrap_or_default(),
                0 if ty != Type::Int => " = *".to_string(),
                1 | 2 if length.is_some() => format!(" = {}", self.constant_of(ty)),
                1 | 2 => format!(" = {}", self.fitting(body, ty)),
                3 if length.is_none() => match self.procedure_for(body, ty) {
                    Some(call) => format!(" = {call}"),
                    None => String::new(),
                },
                _ => String::new(),
            };
            let brackets = length.map_or(String::new(), |length| format!("[{length}]"));
            declarators.push(format!("{name}{brackets}{initial}"));
            if body.has_self && !body.procedure {
                // Of those that a body declares twice, properties cannot tell which is meant.
                let same = |(of, variable): &(String, Variable)| *of == body.name && variable.name == name;
                match self.spoken.iter().find(|spoken| same(spoken)).cloned() {
                    Some(twice) => self.twice.push(twice),
                    None => self.spoken.push((body.name.clone(), Variable::plain(name.clone(), ty, length))),
                }
            }
            body.locals.push(Variable::plain(name, ty, length));
        }
        self.risky = risky;
        format!("{} {};", ty.name(), declarators.join(", "))
    }

    /// A name for a local variable, sometimes that of another one further out.
    fn new_name(&mut self, body: &mut Body) -> String {
        let (outer, inner) = body.locals.split_at(body.outer);
        // What has parts is not hidden, so that its name means the same everywhere.
        let whole = |variable: &&Variable| {
            variable.columns.is_none() && variable.member.is_empty() && !variable.name.contains('.')
        };
        let hidden = self.shared.iter().chain(outer).filter(whole).map(|variable| variable.name.clone());
        let hidden: Vec<String> =
            hidden.filter(|name| inner.iter().all(|variable| variable.name != *name)).collect();
        if let Some(name) = self.pick(&hidden).filter(|_| self.once_in(8)) {
            return name;
        }
        body.declared += 1;
        format!("x{}", body.declared - 1)
    }

    /// A call that gives a value of a type.
    fn procedure_for(&mut self, body: &Body, ty: Type) -> Option<String> {
        let callable: Vec<Routine> =
            self.callable(body).filter(|routine| routine.result == Some(ty)).cloned().collect();
        let routine = self.pick(&callable)?;
        Some(self.application(body, &routine))
    }

    /// A statement with blocks.
    fn nested(&mut self, body: &mut Body, kind: &str, label: &str) {
        let mut counted = None;
        let head = match kind {
            "if" | "while" => format!("{kind} ({}) {{", self.tested(body, 2)),
            "for" => {
                body.declared += 1;
                let (low, high) = (self.rng.i64(-1..=1), self.rng.i64(1..=2));
                let name = format!("{COUNTED}{}", body.declared);
                counted = Some(Variable::plain(name, Type::Range(low, high), None));
                format!("for {COUNTED}{} in {low}..{high} {{", body.declared)
            }
            "block" => "{".to_string(),
            _ => format!("{kind} {{"),
        };
        self.line(body, &format!("{label}{head}"));
        let leaves = self.mode == Mode::Short;
        let inside = |body: &mut Body| {
            body.loops += usize::from(matches!(kind, "while" | "loop" | "for"));
            body.locals.extend(counted.clone());
            if kind == "atomic" {
                body.atomic = true;
                if !leaves {
                    body.loops = 0;
                }
            }
        };
        let way_out = kind == "loop" && self.rng.u8(0..3) > 0;
        self.block(body, inside, way_out);
        let branches = match kind {
            "choose" => self.rng.usize(1..=2),
            "if" => self.rng.usize(0..=2),
            _ => 0,
        };
        for branch in 0..branches {
            let head = match kind {
                "choose" => "} or {".to_string(),
                _ if branch + 1 < branches => format!("}} else if ({}) {{", self.condition(body, 1)),
                _ => "} else {".to_string(),
            };
            self.line(body, &head);
            self.block(body, inside, false);
        }
        self.line(body, "}");
    }

    /// The statements of a block. Some loops are sure to have a way out.
    fn block(&mut self, body: &mut Body, inside: impl Fn(&mut Body), way_out: bool) {
        let (scope, outer, loops, atomic) = (body.locals.len(), body.outer, body.loops, body.atomic);
        body.outer = scope;
        inside(body);
        body.depth += 1;
        for _ in 0..self.rng.usize(0..=6).div_ceil(3) {
            if body.left > 0 {
                self.statement(body);
            }
        }
        if way_out {
            let condition = self.condition(body, 1);
            self.line(body, &format!("if ({condition}) {{ break; }}"));
        }
        body.depth -= 1;
        body.locals.truncate(scope);
        (body.outer, body.loops, body.atomic) = (outer, loops, atomic);
    }
}
