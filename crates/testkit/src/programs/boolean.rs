//! Random Boolean programs in the notation `.bp`, with what the `.aw` language lacks: constraints, several results,
//! threads that start with a copy of the local variables, variables that other threads write, threads that meet, and atomic
//! sections that are no blocks.

use fastrand::Rng;
use std::fmt::Write;

/// The Boolean program of this number.
pub fn boolean(seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let mut generator = Boolean {
        shared: (0..rng.usize(1..=3)).map(|number| format!("g{number}")).collect(),
        mixed: rng.u8(0..4) == 0,
        event: rng.u8(0..4) == 0,
        asserts: rng.u8(0..2) == 0,
        rng,
        functions: Vec::new(),
        text: String::new(),
    };
    generator.program();
    generator.text
}

struct Boolean {
    rng: Rng,
    text: String,
    shared: Vec<String>,
    /// The functions other than `main`: how many parameters and results they have.
    functions: Vec<(usize, usize)>,
    /// Whether threads write variables of each other, beside which nothing can be called.
    mixed: bool,
    /// Whether threads wait and wake each other.
    event: bool,
    asserts: bool,
}

/// Where a statement stands.
#[derive(Clone, Default)]
struct Place {
    main: bool,
    results: usize,
    locals: Vec<String>,
    labels: usize,
    atomic: bool,
    depth: usize,
}

impl Boolean {
    fn once_in(&mut self, times: u32) -> bool {
        self.rng.u32(0..times) == 0
    }

    fn program(&mut self) {
        for name in self.shared.clone() {
            let initial = self.initial();
            let _ = writeln!(self.text, "decl {name}{initial};");
        }
        if !self.mixed {
            self.functions =
                (0..self.rng.usize(0..=2)).map(|_| (self.rng.usize(0..=2), self.rng.usize(0..=2))).collect();
        }
        for (number, (parameters, results)) in self.functions.clone().into_iter().enumerate() {
            let head = match results {
                0 => "void".to_string(),
                1 => "bool".to_string(),
                _ => format!("bool<{results}>"),
            };
            let names: Vec<String> = (0..parameters).map(|number| format!("p{number}")).collect();
            let _ = writeln!(self.text, "{head} f{number}({}) begin", names.join(", "));
            self.body(Place { results, locals: names, ..Place::default() });
        }
        self.text += "void main() begin\n";
        self.body(Place { main: true, ..Place::default() });
    }

    fn initial(&mut self) -> &'static str {
        ["", " := *", " := 0", " := 1"][self.rng.usize(0..4)]
    }

    fn body(&mut self, mut place: Place) {
        for number in 0..self.rng.usize(0..=2) {
            let initial = self.initial();
            let _ = writeln!(self.text, "  decl x{number}{initial};");
            place.locals.push(format!("x{number}"));
        }
        place.labels = self.rng.usize(1..=2);
        // The labels cut the body into parts; each may be where a thread starts.
        for part in 0..=place.labels {
            if part > 0 {
                let _ = write!(self.text, "l{part}: ");
                if self.once_in(2) {
                    self.text += "skip;\n";
                }
            }
            for _ in 0..self.rng.usize(1..=3) {
                self.statement(&place);
            }
            if place.main && self.once_in(2) {
                self.text += "  end_thread;\n";
            }
        }
        if self.once_in(2) && place.results > 0 {
            let values = self.values(&place, place.results);
            let _ = writeln!(self.text, "  return {values};");
        }
        self.text += "end\n";
    }

    fn statement(&mut self, place: &Place) {
        let kind = self.rng.u32(0..32);
        let text = match kind {
            0..=7 => self.assignment(place),
            8 => format!("assume({})", self.expression(place, 2)),
            9 | 10 if self.asserts => format!("assert({})", self.expression(place, 2)),
            11 | 12 => format!("goto {}", self.targets(place)),
            13..=15 if place.depth < 2 => return self.nested(place),
            16 | 17 if place.main && !place.atomic => format!("start_thread goto {}", self.target(place)),
            18 if !place.atomic && self.once_in(3) => format!("start_thread goto {}", self.target(place)),
            19 if !place.atomic => match self.functions.iter().position(|function| function.0 == 0) {
                Some(function) => format!("create_thread(&f{function})"),
                None => "skip".to_string(),
            },
            20..=24 if !self.functions.is_empty() => self.call(place),
            25 if place.results == 0 => "return".to_string(),
            25 => format!("return {}", self.values(place, place.results)),
            26 if !place.locals.is_empty() => format!("dead {}", self.pick(&place.locals.clone())),
            27 | 28 if !place.atomic && place.depth == 0 => {
                self.text += "  atomic_begin;\n";
                for _ in 0..self.rng.usize(0..=3) {
                    self.statement(&Place { atomic: true, ..place.clone() });
                }
                "atomic_end".to_string()
            }
            29 if self.event && !place.atomic => "wait".to_string(),
            30 if self.event && !place.atomic => "broadcast".to_string(),
            31 if self.event && !place.atomic => format!("sync e{}", self.rng.u8(0..2)),
            _ => "skip".to_string(),
        };
        let _ = writeln!(self.text, "  {text};");
    }

    fn nested(&mut self, place: &Place) {
        let inner = Place { depth: place.depth + 1, ..place.clone() };
        let condition = self.expression(place, 2);
        let repeats = self.once_in(3);
        let _ = writeln!(
            self.text,
            "  {}",
            if repeats { format!("while {condition} do") } else { format!("if {condition} then") }
        );
        for _ in 0..self.rng.usize(1..=2) {
            self.statement(&inner);
        }
        if repeats {
            self.text += "  od;\n";
            return;
        }
        if self.once_in(2) {
            self.text += "  else\n";
            self.statement(&inner);
        }
        self.text += "  fi;\n";
    }

    fn pick(&mut self, names: &[String]) -> String {
        names[self.rng.usize(0..names.len())].clone()
    }

    fn variables(&self, place: &Place) -> Vec<String> {
        self.shared.iter().chain(&place.locals).cloned().collect()
    }

    /// Different variables, so many if there are.
    fn places(&mut self, place: &Place, count: usize) -> Vec<String> {
        let mut all = self.variables(place);
        self.rng.shuffle(&mut all);
        all.truncate(count);
        all
    }

    fn assignment(&mut self, place: &Place) -> String {
        let count = self.rng.usize(1..=2);
        let mut places = self.places(place, count);
        let mut values = self.values(place, places.len());
        if self.mixed && place.main && self.once_in(2) && !place.locals.is_empty() {
            let local = self.pick(&place.locals.clone());
            places[0] = format!("{local}$");
            if self.once_in(2) {
                let (read, other) = (self.pick(&place.locals.clone()), self.pick(&self.variables(place)));
                let operator = ["|", "&", "!="][self.rng.usize(0..3)];
                let more =
                    if places.len() > 1 { format!(", {}", self.values(place, 1)) } else { String::new() };
                values = format!("({read}$ {operator} {other}){more}");
            }
        }
        let constraint = match self.once_in(3) {
            true => {
                let mut names = self.variables(place);
                names.extend(self.variables(place).iter().map(|name| format!("'{name}")));
                if self.mixed && place.main {
                    names.extend(
                        place.locals.iter().flat_map(|name| [format!("{name}$"), format!("'{name}$")]),
                    );
                }
                let (left, right) = (self.pick(&names), self.pick(&names));
                format!(" constrain ({left} {} {right})", ["|", "=", "!="][self.rng.usize(0..3)])
            }
            false => String::new(),
        };
        format!("{} := {values}{constraint}", places.join(", "))
    }

    fn call(&mut self, place: &Place) -> String {
        let function = self.rng.usize(0..self.functions.len());
        let (parameters, results) = self.functions[function];
        let arguments = self.values(place, parameters);
        let places = self.places(place, results);
        match results > 0 && places.len() == results && !self.once_in(4) {
            true => format!("{} := f{function}({arguments})", places.join(", ")),
            false => format!("f{function}({arguments})"),
        }
    }

    fn values(&mut self, place: &Place, count: usize) -> String {
        let values: Vec<String> = (0..count).map(|_| self.expression(place, 1)).collect();
        values.join(", ")
    }

    fn target(&mut self, place: &Place) -> String {
        format!("l{}", self.rng.usize(1..=place.labels))
    }

    fn targets(&mut self, place: &Place) -> String {
        let count = self.rng.usize(1..=place.labels);
        (1..=count).map(|label| format!("l{label}")).collect::<Vec<_>>().join(", ")
    }

    fn expression(&mut self, place: &Place, depth: usize) -> String {
        if depth > 0 && self.once_in(2) {
            let (left, right) = (self.expression(place, depth - 1), self.expression(place, depth - 1));
            return match self.rng.u8(0..7) {
                0 => format!("({left} & {right})"),
                1 => format!("({left} | {right})"),
                2 => format!("({left} = {right})"),
                3 => format!("({left} ^ {right})"),
                4 => format!("!({left})"),
                5 => format!("({left} ? {right} : {})", self.expression(place, 0)),
                _ => format!("schoose[{left}, {right}]"),
            };
        }
        match self.rng.u8(0..12) {
            0 => "*".to_string(),
            1 => "1".to_string(),
            2 => "0".to_string(),
            _ => self.pick(&self.variables(place)),
        }
    }
}
