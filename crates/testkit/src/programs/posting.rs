//! Tiny asynchronous programs: few values, so that all of them can be guessed; much posting and yielding.

use fastrand::Rng;
use std::fmt::Write;

/// The program of this number.
pub fn posting(seed: u64) -> String {
    let mut writer =
        Posting { rng: Rng::with_seed(seed), text: String::new(), globals: Vec::new(), posts: 0 };
    writer.program();
    writer.text
}

struct Posting {
    rng: Rng,
    text: String,
    globals: Vec<&'static str>,
    /// How many more tasks may be posted by the body at hand.
    posts: usize,
}

impl Posting {
    fn program(&mut self) {
        self.globals = if self.rng.u8(0..3) == 0 { vec!["x", "y"] } else { vec!["x"] };
        for global in self.globals.clone() {
            let _ = writeln!(self.text, "shared bool {global};");
        }
        // A number that can leave its range.
        if self.globals.len() == 1 && self.rng.u8(0..4) == 0 {
            self.text += "shared 0..1 n;\n";
            self.globals.push("n");
        }
        self.text += "main {\n";
        self.posts = self.rng.usize(1..=3);
        self.body("", true);
        for task in ["a", "b"] {
            let _ = writeln!(self.text, "task {task}(bool p) {{");
            self.posts = usize::from(task == "a" && self.rng.u8(0..3) > 0);
            self.body("p", false);
        }
        self.text += "proc f(bool p) {\n";
        self.posts = 0;
        self.statement("p", true);
        self.text += "}\n";
        if self.rng.u8(0..4) == 0 {
            let condition = self.condition("");
            let _ = writeln!(self.text, "never {condition} && {};", self.rng.bool());
        }
    }

    fn body(&mut self, parameter: &str, main: bool) {
        if main {
            let argument = self.rng.bool();
            let _ = writeln!(self.text, "post a({argument});");
        }
        for _ in 0..self.rng.usize(1..=3) {
            self.statement(parameter, false);
        }
        self.text += "}\n";
    }

    fn statement(&mut self, parameter: &str, in_procedure: bool) {
        let condition = self.condition(parameter);
        let global = self.globals[self.rng.usize(0..self.globals.len())];
        let value = self.value(global, parameter);
        let text = match self.rng.u8(0..16) {
            0..4 => format!("{global} = {value};"),
            4..7 if self.posts > 0 => {
                self.posts -= 1;
                // What posts is posted by `main` alone, so that there is an end.
                let task = if parameter.is_empty() && self.rng.bool() { "a" } else { "b" };
                format!("post {task}({condition});")
            }
            4..10 => "yield;".to_string(),
            10 => format!("assume {condition};"),
            11 => format!("if ({condition}) {{ {global} = {value}; }} else {{ yield; }}"),
            12 => format!("atomic {{ {global} = {value}; assume {condition}; }}"),
            13 if self.rng.u8(0..3) == 0 => format!("assert {condition};"),
            14 if !in_procedure => format!("f({condition});"),
            _ => format!("choose {{ {global} = {value}; }} or {{ skip; }}"),
        };
        self.text += &text;
        self.text += "\n";
    }

    fn value(&mut self, global: &str, parameter: &str) -> String {
        match (global, self.rng.u8(0..8)) {
            ("n", 0) => "n + 1".to_string(),
            ("n", 1..3) => "*".to_string(),
            ("n", _) => "1 - n".to_string(),
            (_, 0) => "*".to_string(),
            _ => self.condition(parameter),
        }
    }

    fn condition(&mut self, parameter: &str) -> String {
        let globals: Vec<&str> = self.globals.iter().copied().filter(|global| *global != "n").collect();
        let global = globals[self.rng.usize(0..globals.len())];
        match self.rng.u8(0..6) {
            0 => "true".to_string(),
            1 if self.globals.contains(&"n") => "n == 1".to_string(),
            1 | 2 => global.to_string(),
            3 => format!("!{global}"),
            4 if !parameter.is_empty() => parameter.to_string(),
            _ if !parameter.is_empty() => format!("{global} == {parameter}"),
            _ => format!("!{global}"),
        }
    }
}
