//! Asynchronous programs of a few statements about one global, nearly all of them deterministic: what is left of the global
//! at the end depends on the order of the tasks, and so on delays.

use fastrand::Rng;

/// The program of this number.
pub fn terse(seed: u64) -> String {
    let mut writer = Terse { rng: Rng::with_seed(seed ^ 0x7e25e), three: false, posts: 0 };
    writer.three = writer.rng.u8(0..4) == 0;
    writer.program()
}

struct Terse {
    rng: Rng,
    /// Whether the global has three values, or two.
    three: bool,
    /// How many more tasks may be posted by the body at hand.
    posts: usize,
}

impl Terse {
    fn program(&mut self) -> String {
        let ty = if self.three { "0..2" } else { "bool" };
        let mut text = format!("shared {ty} x;\nmain {{\npost a();\n");
        self.posts = 1;
        let count = self.rng.usize(0..=2);
        text += &self.statements(count);
        text += "post b();\n}\ntask a() {\n";
        self.posts = usize::from(self.rng.u8(0..4) == 0);
        let count = self.rng.usize(1..=3);
        text += &self.statements(count);
        text += "}\ntask b() {\n";
        self.posts = 0;
        let count = self.rng.usize(1..=2);
        text += &self.statements(count);
        text += "}\nproc f() {\n";
        text += &self.update();
        text + "\n}\n"
    }

    fn statements(&mut self, count: usize) -> String {
        let lines: Vec<String> = (0..count).map(|_| self.statement() + "\n").collect();
        lines.concat()
    }

    fn statement(&mut self) -> String {
        let (update, condition) = (self.update(), self.condition());
        match self.rng.u8(0..24) {
            0..5 => "yield;".to_string(),
            5..10 => format!("if ({condition}) {{ {update} }}"),
            10..13 => format!("if ({condition}) {{ yield; {update} }}"),
            13..15 if self.posts > 0 => {
                self.posts -= 1;
                "post b();".to_string()
            }
            15 => "f();".to_string(),
            16 => format!("assume {condition};"),
            17 => format!("assert {condition};"),
            18 => format!("choose {{ {update} }} or {{ yield; }}"),
            _ => update,
        }
    }

    fn update(&mut self) -> String {
        let updates: &[&str] = match self.three {
            true => &["x = (x + 1) % 3;", "x = 2 - x;", "x = 0;", "x = 1;", "x = x * x % 3;"],
            false => &["x = !x;", "x = true;", "x = false;"],
        };
        updates[self.rng.usize(0..updates.len())].to_string()
    }

    fn condition(&mut self) -> &'static str {
        let conditions: &[&str] = if self.three { &["x == 0", "x != 1", "x == 2"] } else { &["x", "!x"] };
        conditions[self.rng.usize(0..conditions.len())]
    }
}
