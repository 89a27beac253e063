//! Random programs with variables that hold threads, and the same programs with numbers in their place.
//!
//! Threads `p` store themselves in the variables `v` and `w`, and ask whether they are the ones; a thread `q`, where there is one,
//! asks only whether anybody is, or lets go. With a known number of threads `p`, a number that is 0 or one more than that of the
//! thread says the same: both programs have the same steps, at the same places.

use fastrand::Rng;
use std::fmt::Write;

/// The program of this number: with any number of threads, and with so many and numbers.
pub fn held(seed: u64, count: usize) -> (String, String) {
    let mut writer = Writer { rng: Rng::with_seed(seed), labels: 0 };
    let mut text = "shared KIND v;\nshared KIND w;\nshared bool a;\nshared 0..2 n;\n".to_string();
    let events = writer.rng.u8(0..4) == 0;
    if events {
        text += "event e;\n";
    }
    let body = writer.body(true, events);
    let _ = write!(text, "\nthread p[COUNT] {{\n  bool l;\n{body}}}\n");
    if writer.rng.u8(0..3) == 0 {
        let body = writer.body(false, events);
        let _ = write!(text, "\nthread q {{\n  bool l;\n{body}}}\n");
    }
    for _ in 0..writer.rng.usize(0..=2) {
        let never = writer.never();
        let _ = writeln!(text, "never {never};");
    }
    let with = |kind: &str, count: &str, this: &str, none: &str| {
        text.replace("KIND", kind).replace("COUNT", count).replace("SELF", this).replace("NONE", none)
    };
    (with("p", "*", "self", "none"), with(&format!("0..{count}"), &count.to_string(), "self + 1", "0"))
}

struct Writer {
    rng: Rng,
    /// How many labels there are so far.
    labels: usize,
}

impl Writer {
    fn body(&mut self, own: bool, events: bool) -> String {
        let mut statements = String::new();
        for _ in 0..self.rng.usize(2..=5) {
            let statement = self.statement(own, events, 2);
            let label = if self.rng.u8(0..3) == 0 { self.label() } else { String::new() };
            let _ = writeln!(statements, "    {label}{statement}");
        }
        if self.rng.bool() { statements } else { format!("  loop {{\n{statements}  }}\n") }
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("l{}: ", self.labels - 1)
    }

    fn variable(&mut self) -> &'static str {
        if self.rng.u8(0..3) == 0 { "w" } else { "v" }
    }

    /// A thread, or none.
    fn value(&mut self, own: bool) -> String {
        match self.rng.u8(0..6) {
            0..=2 if own => "SELF".to_string(),
            3 if own => self.variable().to_string(),
            _ => "NONE".to_string(),
        }
    }

    /// What a variable that holds a thread is asked.
    fn asked(&mut self, own: bool) -> String {
        let value = if own && self.rng.u8(0..3) > 0 { "SELF" } else { "NONE" };
        let (variable, sign) = (self.variable(), if self.rng.bool() { "==" } else { "!=" });
        if self.rng.u8(0..5) == 0 {
            format!("{value} {sign} {variable}")
        } else {
            format!("{variable} {sign} {value}")
        }
    }

    fn condition(&mut self, own: bool) -> String {
        match self.rng.u8(0..8) {
            0..=4 => self.asked(own),
            5 => "a".to_string(),
            6 => format!("{} || {}", self.asked(own), self.asked(own)),
            _ => format!("n == {} && {}", self.rng.u8(0..3), self.asked(own)),
        }
    }

    fn assignment(&mut self, own: bool) -> String {
        match self.rng.u8(0..10) {
            0..=4 => format!("{} = {};", self.variable(), self.value(own)),
            5 => format!("v, w = {}, {};", self.value(own), self.value(own)),
            6 => format!("v, a = {}, !a;", self.value(own)),
            7 => "a = !a;".to_string(),
            8 => format!("l = {};", self.asked(own)),
            _ => "n = (n + 1) % 3;".to_string(),
        }
    }

    fn swap(&mut self, own: bool) -> String {
        let first = if own && self.rng.bool() { "SELF" } else { "NONE" };
        format!("cas({}, {first}, {})", self.variable(), self.value(own))
    }

    fn statement(&mut self, own: bool, events: bool, depth: usize) -> String {
        let assignment = self.assignment(own);
        match self.rng.u8(0..18) {
            0..=5 => assignment,
            6 => format!("await {};", self.condition(own)),
            7 => format!("atomic {{ await {}; {assignment} }}", self.condition(own)),
            8 => format!(
                "atomic {{ {assignment} if ({}) {{ {} }} }}",
                self.condition(own),
                self.assignment(own)
            ),
            9 | 10 if depth > 0 => {
                let inner = self.statement(own, events, depth - 1);
                format!("if ({}) {{ {inner} }} else {{ {assignment} }}", self.condition(own))
            }
            11 => format!("while ({}) {{ {assignment} }}", self.condition(own)),
            12 => format!("{};", self.swap(own)),
            13 => format!("l = {};", self.swap(own)),
            14 => format!("await {};", self.swap(own)),
            15 => format!("assert {};", self.asked(own)),
            16 if events => "wait e;".to_string(),
            17 if events => "broadcast e;".to_string(),
            _ => format!("await NONE == {0}; {0} = {1};", self.variable(), self.value(own)),
        }
    }

    fn never(&mut self) -> String {
        let asked = self.asked(false);
        if self.labels == 0 {
            return format!("{asked} && n == 2");
        }
        let label = self.rng.usize(0..self.labels);
        match self.rng.u8(0..4) {
            0 => format!("at(l{label}) >= 1 && {asked}"),
            1 => format!("at(l{label}) >= 1 && a"),
            _ => format!("at(l{label}) >= 2"),
        }
    }
}
