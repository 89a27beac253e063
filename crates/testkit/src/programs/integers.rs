//! Small random programs with integers, for any number of threads, as text.
//!
//! Variables are counted up and down, copied, compared with each other and with small numbers. What is asserted is true about as
//! often as not.

use fastrand::Rng;
use std::fmt::Write;

/// The program of this number. The number of its threads is open, unless it speaks of `self`. Every fourth one has products,
/// quotients and remainders of variables.
pub fn integers(seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let (lock, flag, own) = (rng.bool(), rng.u8(0..3) == 0, rng.u8(0..5) == 0);
    let mut text = String::from("shared int x, y;\n");
    if lock {
        text += "lock m;\n";
    }
    if flag {
        text += "shared bool b;\n";
    }
    if own {
        text += "shared int a[2];\n";
    }
    let count = if own { "2" } else { "*" };
    let _ = writeln!(text, "thread p[{count}] {{\n  int l;");
    let mut writer = Writer { rng, flag, own, nonlinear: seed % 4 == 3, text };
    let looping = writer.rng.bool();
    if looping {
        writer.text += "  loop {\n";
    }
    if lock {
        writer.text += "  acquire(m);\n";
    }
    let statements = writer.rng.usize(2..6);
    (0..statements).for_each(|_| writer.statement(true));
    if lock && writer.rng.u8(0..8) != 0 {
        writer.text += "  release(m);\n";
    }
    let condition = match writer.rng.u8(0..4) {
        0 => writer.condition(),
        _ => {
            writer.pick(&["x >= 0 || y < 0", "l <= x", "x >= 0", "x <= y || y <= x + 1", "l == l", "y >= l"])
        }
    };
    let _ = writeln!(writer.text, "  assert {condition};");
    writer.text += "  end: skip;\n";
    writer.text += if looping { "  }\n}\n" } else { "}\n" };
    match writer.rng.u8(0..4) {
        0 => writer.text += "never at(end) >= 2;\n",
        1 => writer.text += "never at(end) >= 1 && x == 2;\n",
        2 => writer.text += "never x == y + 3;\n",
        _ => writer.text += "never x < 0 && y < 0;\n",
    }
    writer.text
}

struct Writer {
    rng: Rng,
    flag: bool,
    own: bool,
    nonlinear: bool,
    text: String,
}

impl Writer {
    fn pick(&mut self, from: &[&str]) -> String {
        from[self.rng.usize(0..from.len())].to_string()
    }

    fn variable(&mut self) -> String {
        if self.own && self.rng.u8(0..4) == 0 {
            return self.pick(&["a[self]", "a[1 - self]"]);
        }
        self.pick(&["x", "y", "l"])
    }

    fn number(&mut self) -> String {
        let variable = self.variable();
        if self.nonlinear && self.rng.u8(0..3) == 0 {
            return format!("{variable} {} {}", self.pick(&["*", "*", "/", "%"]), self.variable());
        }
        match self.rng.u8(0..9) {
            0..=2 => format!("{variable} + 1"),
            3 if self.rng.bool() => format!("{variable} - 1"),
            4 => self.pick(&["0", "1", "2"]),
            5 => format!("{variable} % 2"),
            6 => format!("(-{variable}) / 2"),
            7 => format!("({} ? {variable} : 1)", self.condition()),
            _ => variable,
        }
    }

    fn condition(&mut self) -> String {
        let (variable, other) = (self.variable(), self.variable());
        let compared = self.pick(&["==", "!=", "<", "<=", ">", ">="]);
        if self.nonlinear && self.rng.bool() {
            return format!("{variable} {compared} {}", self.number());
        }
        match self.rng.u8(0..6) {
            0 if self.flag => self.pick(&["b", "!b"]),
            1 => "*".to_string(),
            2 | 3 => format!("{variable} {compared} {}", self.rng.u8(0..3)),
            _ => format!("{variable} {compared} {other}"),
        }
    }

    fn statement(&mut self, nested: bool) {
        let (variable, number) = (self.variable(), self.number());
        match self.rng.u8(0..10) {
            0..=3 => {
                let _ = writeln!(self.text, "  {variable} = {number};");
            }
            4 => {
                let other = self.pick(&["x", "y"]);
                let _ = writeln!(self.text, "  l, {other} = {other}, {other} + 1;");
            }
            5 => {
                let condition = self.condition();
                let _ = writeln!(self.text, "  await {condition};");
            }
            6 if self.flag => {
                let value = self.pick(&["true", "!b", "*"]);
                let _ = writeln!(self.text, "  b = {value};");
            }
            7 if nested => {
                let condition = self.condition();
                let _ = writeln!(self.text, "  atomic {{ await {condition}; {variable} = {number};");
                self.statement(false);
                self.text += "  }\n";
            }
            8 if nested => {
                let condition = self.condition();
                let _ = writeln!(self.text, "  if ({condition}) {{");
                self.statement(false);
                self.text += "  }\n";
            }
            _ => {
                let condition = self.condition();
                let _ =
                    writeln!(self.text, "  if ({condition}) {{ {variable} = {number}; }} else {{ skip; }}");
            }
        }
    }
}
