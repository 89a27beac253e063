//! Random programs whose threads mostly run for ever, and wait for each other on the way, with promises of progress.
//!
//! They have few states, so that brute force can look at all cycles: two or three threads, a few small variables, a lock or an event.
//! Every body has labels, and the properties speak of some of them. Nothing goes wrong in most of them.

use fastrand::Rng;
use std::fmt::Write;

/// The program of this number.
pub fn looping(seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let mut text = "shared bool a, b;\nshared 0..2 n;\n".to_string();
    let mut writer = Writer { lock: rng.u8(0..3) == 0, event: rng.u8(0..4) == 0, labels: 0, rng };
    if writer.lock {
        text += "lock m;\n";
    }
    if writer.event {
        text += "event e;\n";
    }
    let kinds = writer.rng.usize(1..=2);
    let mut labels = Vec::new();
    for kind in 0..kinds {
        let count = if kinds == 1 { writer.rng.usize(2..=3) } else { writer.rng.usize(1..=2) };
        let brackets = if count == 1 { String::new() } else { format!("[{count}]") };
        let first = writer.labels;
        let body = writer.body(count > 1);
        let _ = write!(text, "\nthread p{kind}{brackets} {{\n{body}}}\n");
        labels.extend((first..writer.labels).map(|label| (kind, label)));
    }
    text.push('\n');
    for _ in 0..writer.rng.usize(1..=2) {
        let (kind, label) = labels[writer.rng.usize(0..labels.len())];
        let always = if writer.rng.bool() { "always " } else { "" };
        let thread = if writer.rng.bool() { format!("p{kind}.") } else { String::new() };
        let _ = writeln!(text, "{always}eventually {thread}l{label};");
    }
    text
}

struct Writer {
    rng: Rng,
    lock: bool,
    event: bool,
    /// How many labels there are so far.
    labels: usize,
}

impl Writer {
    fn body(&mut self, numbered: bool) -> String {
        let mut statements = String::new();
        for _ in 0..self.rng.usize(2..=4) {
            statements += &self.statement(numbered);
        }
        let at = self.rng.usize(0..2);
        let last = self.label();
        let skip = format!("    {last}: skip;\n");
        statements = if at == 0 { skip + &statements } else { statements + &skip };
        match self.rng.u8(0..5) {
            0 => statements,
            1 => format!("    {}  loop {{\n{statements}  }}\n", self.statement(numbered)),
            _ => format!("  loop {{\n{statements}  }}\n"),
        }
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("l{}", self.labels - 1)
    }

    fn condition(&mut self, numbered: bool) -> String {
        let value = self.rng.u8(0..3);
        match self.rng.u8(0..9) {
            0 | 1 => "a".to_string(),
            2 => "!a".to_string(),
            3 => "b".to_string(),
            4 => "!b".to_string(),
            5 if numbered => "n == self".to_string(),
            6 => "a || b".to_string(),
            7 => "*".to_string(),
            _ => format!("n == {value}"),
        }
    }

    fn assignment(&mut self, numbered: bool) -> String {
        let value = self.rng.u8(0..3);
        match self.rng.u8(0..9) {
            0 => "a = true;".to_string(),
            1 => "a = false;".to_string(),
            2 => "b = !b;".to_string(),
            3 => "b = a;".to_string(),
            4 => "n = (n + 1) % 3;".to_string(),
            5 if numbered => "n = self;".to_string(),
            6 => "a, b = b, a;".to_string(),
            7 => "a = *;".to_string(),
            _ => format!("n = {value};"),
        }
    }

    fn statement(&mut self, numbered: bool) -> String {
        let (condition, assignment) = (self.condition(numbered), self.assignment(numbered));
        let label = if self.rng.u8(0..3) == 0 { format!("{}: ", self.label()) } else { String::new() };
        let statement = match self.rng.u8(0..12) {
            0 | 1 => assignment,
            2 | 3 => format!("await {condition};"),
            4 => format!("atomic {{ await {condition}; {assignment} }}"),
            5 => format!("if ({condition}) {{ {assignment} }}"),
            6 => format!("while ({condition}) {{ {assignment} }}"),
            7 => format!("choose {{ await {condition}; }} or {{ {assignment} }}"),
            8 if self.lock => format!("acquire(m); {assignment} release(m);"),
            9 if self.event => "wait e;".to_string(),
            10 if self.event => "broadcast e;".to_string(),
            11 => "while (!cas(a, false, true)) {}".to_string(),
            _ => "skip;".to_string(),
        };
        format!("    {label}{statement}\n")
    }
}
