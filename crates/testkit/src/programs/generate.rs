//! Random programs: what they declare.
//!
//! First it is decided what there is (variables, locks, routines with their parameters); then the bodies are written, which
//! may speak of all of it. Every program is well-typed. Most values fit where they are stored, and most programs have few
//! assertions: a program that goes wrong at its first step tests nothing behind it.

use super::statements::Body;
use fastrand::Rng;
use std::fmt::Write;

/// Which part of the language is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Threads, with all that they can use but for what stands for something else.
    Threads,
    /// Threads that also use what can be written otherwise: `for`, quantifiers, `cas` and its kin, values of arrays, channels,
    /// structures, arrays of two dimensions, references, signals, local variables in properties, ways out of `atomic`, and `self` in
    /// procedures.
    Short,
    /// Threads with Boolean variables and what Boolean programs have: no arrays, locks, `self` or `at`.
    Boolean,
    /// An asynchronous program.
    Tasks,
}

/// The program of this number.
pub fn text(seed: u64, mode: Mode) -> String {
    let mut generator = Generator::new(Rng::with_seed(seed), mode);
    generator.program();
    generator.text
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Type {
    Bool,
    Int,
    Range(i64, i64),
}

impl Type {
    pub fn name(self) -> String {
        match self {
            Type::Bool => "bool".to_string(),
            Type::Int => "int".to_string(),
            Type::Range(low, high) => format!("{low}..{high}"),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub name: String,
    pub ty: Type,
    pub length: Option<i64>,
    /// Of an array of two dimensions, how many columns it has.
    pub columns: Option<i64>,
    /// What comes after the index: of an array of structures, the member.
    pub member: &'static str,
}

impl Variable {
    /// A variable, or an array of one dimension.
    pub fn plain(name: String, ty: Type, length: Option<i64>) -> Variable {
        Variable { name, ty, length, columns: None, member: "" }
    }
}

/// A procedure or a task.
#[derive(Clone, Debug)]
pub(super) struct Routine {
    pub name: String,
    pub parameters: Vec<Type>,
    /// The type of a parameter that stands for a variable.
    pub reference: Option<Type>,
    pub result: Option<Type>,
    /// Whether it can be called in an atomic section: it calls nothing, contains no such section and lets nobody else run.
    pub plain: bool,
}

/// The name of a parameter that stands for a variable.
pub(super) const REFERENCE: &str = "z0";

pub(super) struct Generator {
    pub rng: Rng,
    pub mode: Mode,
    pub text: String,
    pub shared: Vec<Variable>,
    /// A lock, and of an array of locks the length.
    pub lock: Option<(String, Option<i64>)>,
    pub event: Option<String>,
    /// The type of the values of the channel `c`.
    pub channel: Option<Type>,
    /// Whether all threads have numbers, so that procedures can ask for them.
    pub numbered: bool,
    pub constant: Option<(String, i64)>,
    /// Whether there is the type `E`, which is another name for `0..2`.
    pub enumeration: bool,
    pub procedures: Vec<Routine>,
    pub tasks: Vec<Routine>,
    /// The threads that are started later.
    pub spawned: Option<String>,
    /// Whether there are assertions.
    pub asserts: bool,
    /// Whether values may not fit, locks be released by others, and so on.
    pub risky: bool,
    /// Local variables of threads of which properties may speak, and the threads.
    pub spoken: Vec<(String, Variable)>,
    /// Those of which they may not, since there are several of the name.
    pub twice: Vec<(String, Variable)>,
    /// Labels, and the routines in which they stand.
    pub labels: Vec<(String, String)>,
}

impl Generator {
    fn new(mut rng: Rng, mode: Mode) -> Generator {
        let (asserts, risky) = (rng.u8(0..3) == 0, rng.u8(0..4) == 0);
        Generator {
            rng,
            mode,
            text: String::new(),
            shared: Vec::new(),
            lock: None,
            event: None,
            channel: None,
            numbered: false,
            constant: None,
            enumeration: false,
            procedures: Vec::new(),
            tasks: Vec::new(),
            spawned: None,
            asserts,
            risky,
            spoken: Vec::new(),
            twice: Vec::new(),
            labels: Vec::new(),
        }
    }

    /// Whether there are threads that can use all of the language.
    fn has_threads(&self) -> bool {
        matches!(self.mode, Mode::Threads | Mode::Short)
    }

    /// Two values for the elements of an array, sometimes.
    pub fn values_of_array(&mut self, ty: Type) -> Option<String> {
        if self.mode != Mode::Short || !self.once_in(2) {
            return None;
        }
        let (first, second) = (self.constant_of(ty), self.constant_of(ty));
        match first == second {
            true => Some(format!(" = {{{first} for all}}")),
            false => Some(format!(" = {{{first}, {second}}}")),
        }
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: u32) -> bool {
        self.rng.u32(0..times) == 0
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        (!from.is_empty()).then(|| from[self.rng.usize(0..from.len())].clone())
    }

    pub fn type_of_value(&mut self) -> Type {
        match self.rng.u8(0..10) {
            _ if self.mode == Mode::Boolean => Type::Bool,
            0..=4 => Type::Bool,
            5..=6 => Type::Range(0, 1),
            7..=8 => Type::Range(0, 2),
            _ => Type::Range(-1, 1),
        }
    }

    fn program(&mut self) {
        if self.mode != Mode::Boolean && self.once_in(4) {
            self.constant = Some(("N".to_string(), self.rng.i64(1..=2)));
            self.text = format!("const N = {};\n", self.constant.as_ref().map_or(0, |constant| constant.1));
        }
        if self.mode != Mode::Boolean && self.once_in(4) {
            self.enumeration = true;
            self.text += "enum E { e0, e1, e2 }\n";
        }
        for number in 0..self.rng.usize(1..=3) {
            self.shared_variable(number);
        }
        if self.mode == Mode::Short {
            self.shared_parts();
        }
        self.synchronisation();
        for number in 0..self.rng.usize(0..=2) {
            let routine = self.signature(format!("f{number}"), true);
            self.procedures.push(routine);
        }
        match self.mode {
            Mode::Tasks => self.asynchronous(),
            Mode::Threads | Mode::Short | Mode::Boolean => self.threads(),
        }
        if self.mode != Mode::Boolean || self.once_in(2) {
            self.never();
        }
    }

    fn shared_variable(&mut self, number: usize) {
        let ty = self.type_of_value();
        let length = (self.mode != Mode::Boolean && self.once_in(5)).then_some(2);
        let name = format!("{}{number}", if length.is_some() { "a" } else { "g" });
        let ty_name = match (ty, &self.constant) {
            (Type::Range(0, high), Some((name, value))) if high == *value => format!("0..{name}"),
            (Type::Range(0, 2), _) if self.enumeration => "E".to_string(),
            _ => ty.name(),
        };
        let initial = match length.and_then(|_| self.values_of_array(ty)) {
            Some(values) => values,
            None => match self.rng.u8(0..6) {
                0 => " = *".to_string(),
                1 | 2 => format!(" = {}", self.constant_of(ty)),
                _ => String::new(),
            },
        };
        let brackets = length.map_or(String::new(), |length| format!("[{length}]"));
        let _ = writeln!(self.text, "shared {ty_name} {name}{brackets}{initial};");
        self.shared.push(Variable::plain(name, ty, length));
    }

    /// Structures and arrays of two dimensions, sometimes.
    fn shared_parts(&mut self) {
        if self.once_in(3) {
            let (x, y) = (self.type_of_value(), self.type_of_value());
            let _ = writeln!(self.text, "struct S {{ {} x; {} y; }}", x.name(), y.name());
            let (one, many) = (self.rng.bool(), self.rng.bool());
            if one || !many {
                let values = match self.once_in(2) {
                    true => format!(" = {{{}, {}}}", self.constant_of(x), self.constant_of(y)),
                    false => String::new(),
                };
                let _ = writeln!(self.text, "shared S r0{values};");
                self.shared.push(Variable::plain("r0.x".to_string(), x, None));
                self.shared.push(Variable::plain("r0.y".to_string(), y, None));
            }
            if many {
                let values = match self.mode == Mode::Short && self.once_in(2) {
                    true => format!(" = {{{{{}, {}}} for all}}", self.constant_of(x), self.constant_of(y)),
                    false => String::new(),
                };
                let _ = writeln!(self.text, "shared S q0[2]{values};");
                let part = |ty, member| Variable { member, ..Variable::plain("q0".to_string(), ty, Some(2)) };
                self.shared.extend([part(x, ".x"), part(y, ".y")]);
            }
        }
        if self.once_in(4) {
            let ty = self.type_of_value();
            let initial = match self.rng.u8(0..3) {
                0 => format!(
                    " = {{{}, {{{}, {}}}}}",
                    self.constant_of(ty),
                    self.constant_of(ty),
                    self.constant_of(ty)
                ),
                1 if self.rng.bool() => format!(" = {{{} for all}}", self.constant_of(ty)),
                1 => format!(" = {}", self.constant_of(ty)),
                _ => String::new(),
            };
            let _ = writeln!(self.text, "shared {} d0[2][2]{initial};", ty.name());
            let rows = Variable::plain("d0".to_string(), ty, Some(2));
            self.shared.push(Variable { columns: Some(2), ..rows });
        }
    }

    fn synchronisation(&mut self) {
        if self.mode != Mode::Boolean && self.once_in(3) {
            let length = self.once_in(4).then_some(2);
            let brackets = length.map_or("", |_| "[2]");
            let _ = writeln!(self.text, "lock m{brackets};");
            self.lock = Some(("m".to_string(), length));
        }
        if self.mode != Mode::Tasks && self.once_in(4) {
            self.text += "event e;\n";
            self.event = Some("e".to_string());
        }
        if self.mode == Mode::Short && self.once_in(3) {
            let ty = self.type_of_value();
            let _ = writeln!(self.text, "chan c[{}] of {};", self.rng.u8(1..=2), ty.name());
            self.channel = Some(ty);
        }
        self.numbered = self.mode == Mode::Short && self.once_in(3);
    }

    fn signature(&mut self, name: String, results: bool) -> Routine {
        let parameters = (0..self.rng.usize(0..=2)).map(|_| self.type_of_value()).collect();
        let result = (results && self.once_in(2)).then(|| self.type_of_value());
        let mut reference = None;
        if self.mode == Mode::Short && results && self.once_in(3) {
            let shared = self.shared.clone();
            reference = self.pick(&shared).filter(|variable| variable.columns.is_none()).map(|of| of.ty);
        }
        Routine { name, parameters, reference, result, plain: self.once_in(3) }
    }

    fn threads(&mut self) {
        let templates = self.rng.usize(1..=2);
        if !self.numbered && self.once_in(4) {
            let name = if self.once_in(4) { format!("t{}", templates - 1) } else { "s".to_string() };
            self.spawned = Some(name);
        }
        self.procedure_bodies();
        let mut running = 0;
        for number in 0..templates {
            let name = format!("t{number}");
            let most = if running == 0 && templates == 1 { 3 } else { 2 };
            let count = self.rng.usize(1..=most).min(3 - running);
            running += count;
            let brackets = match self.rng.u8(0..8) {
                0 if self.has_threads() && !self.numbered => "[*]".to_string(),
                0..4 if count == 1 => String::new(),
                _ => format!("[{count}]"),
            };
            // What is started later, or any number of times, has no number.
            let numbered = brackets != "[*]" && self.spawned.as_ref() != Some(&name);
            let has_self = self.has_threads() && numbered;
            let _ = writeln!(self.text, "thread {name}{brackets} {{");
            let left = if count == 1 { self.rng.usize(3..=8) } else { self.rng.usize(2..=6) };
            self.body(Body { has_self, left, ..Body::new(&name) });
        }
        if let Some(name) = self.spawned.clone().filter(|name| name == "s") {
            let _ = writeln!(self.text, "thread {name}[0] {{");
            let left = self.rng.usize(1..=3);
            self.body(Body { left, ..Body::new(&name) });
        }
    }

    fn asynchronous(&mut self) {
        for number in 0..self.rng.usize(1..=2) {
            let task = self.signature(format!("k{number}"), false);
            self.tasks.push(task);
        }
        self.procedure_bodies();
        self.text += "main {\n";
        let left = self.rng.usize(3..=6);
        let mut body = Body { posts: 4, left, ..Body::new("main") };
        for _ in 0..self.rng.usize(1..=2) {
            self.post(&mut body);
        }
        self.body(body);
        for task in self.tasks.clone() {
            let posts = u32::from(self.once_in(3));
            let left = self.rng.usize(2..=5);
            let body = Body { posts, left, ..Body::new(&task.name) };
            self.routine("task", &task, body);
        }
    }

    fn procedure_bodies(&mut self) {
        for procedure in self.procedures.clone() {
            let left = self.rng.usize(1..=4);
            let (result, plain) = (procedure.result, procedure.plain);
            let has_self = self.numbered;
            let body = Body { procedure: true, has_self, result, plain, left, ..Body::new(&procedure.name) };
            self.routine("proc", &procedure, body);
        }
    }

    fn routine(&mut self, keyword: &str, routine: &Routine, mut body: Body) {
        let mut parameters = Vec::new();
        for (number, ty) in routine.parameters.iter().enumerate() {
            let name = format!("p{number}");
            parameters.push(format!("{} {name}", ty.name()));
            body.locals.push(Variable::plain(name, *ty, None));
        }
        if let Some(ty) = routine.reference {
            parameters.push(format!("ref {} {REFERENCE}", ty.name()));
            body.locals.push(Variable::plain(REFERENCE.to_string(), ty, None));
        }
        let result = routine.result.map_or(String::new(), |ty| format!(" : {}", ty.name()));
        let _ = writeln!(self.text, "{keyword} {}({}){result} {{", routine.name, parameters.join(", "));
        self.body(body);
    }

    fn never(&mut self) {
        for number in 0..self.rng.usize(0..=4) / 2 {
            let name = if self.once_in(3) { format!("n{number}: ") } else { String::new() };
            let mut parts = Vec::new();
            let labels = self.labels.clone();
            if self.mode != Mode::Boolean
                && let Some((routine, label)) = self.pick(&labels)
            {
                let least = self.rng.u8(1..=2);
                let place = if self.once_in(2) { format!("{routine}.{label}") } else { label };
                let other = match self.pick(&labels).filter(|_| self.once_in(4)) {
                    Some((_, label)) => format!(" + at({label})"),
                    None => String::new(),
                };
                parts.push(format!("at({place}){other} >= {least}"));
            }
            let once = |spoken: &&(String, Variable)| {
                self.twice.iter().all(|twice| (&twice.0, &twice.1.name) != (&spoken.0, &spoken.1.name))
            };
            let spoken: Vec<(String, Variable)> = match self.mode {
                Mode::Short => self.spoken.iter().filter(once).cloned().collect(),
                _ => Vec::new(),
            };
            if let Some((threads, variable)) = self.pick(&spoken).filter(|_| self.once_in(2)) {
                parts.push(self.said_of(&threads, &variable));
            }
            while parts.len() < 2 {
                parts.push(self.operand(&Body::property(), 1));
            }
            let _ = writeln!(self.text, "never {name}{};", parts.join(" && "));
        }
        if self.once_in(8) {
            let hint = self.condition(&Body::property(), 1);
            let _ = writeln!(self.text, "predicate {hint};");
        }
    }
}
