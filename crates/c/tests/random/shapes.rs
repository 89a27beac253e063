//! Further shapes of data and statements in random programs of one thread: unions, arrays of structs, strings, pointers into
//! arrays, structs with pointers to functions, blocks of memory, arrays of computed length.

use super::dice::{INT, KINDS};
use super::expressions::Expressions;
use super::statements::Statements;
use std::fmt::Write as _;

/// Global variables of further shapes, and functions that work on them.
pub fn globals(statements: &mut Statements, text: &mut String) {
    let once_in = |statements: &mut Statements, cases| statements.expressions.dice.once_in(cases);
    let mut only_read: Vec<String> = Vec::new();
    if once_in(statements, 3) {
        // Each object is accessed by one member.
        let kind = *statements.expressions.dice.pick(&KINDS);
        writeln!(text, "union n@ {{ {} one; long other; char bytes[3]; }} n0@, n1@[2];", kind.name).unwrap();
        statements.add("n0@.one", kind, None, false);
        statements.add("n1@[#2].one", kind, None, false);
        text.push_str(
            "struct tagged@ { int tag; union { short small; int large; }; } tagged@ = { 3, { 4 } };\n",
        );
        statements.add("tagged@.tag", INT, None, false);
        statements.add("tagged@.small", KINDS[4], None, false);
    }
    if once_in(statements, 3) {
        text.push_str("struct s1@ k@[2] = { [1] = { .m0 = 9 } };\n");
        statements.add_struct("k@[#2]", ".");
    }
    if once_in(statements, 3) {
        let kind = *statements.expressions.dice.pick(&[KINDS[1], KINDS[3], KINDS[5], KINDS[10]]);
        writeln!(text, "{} m@[3][2] = {{ [1] = {{ 7, 8 }}, [0][1] = 6 }};", kind.name).unwrap();
        statements.add("m@[#3][#2]", kind, None, false);
    }
    if once_in(statements, 3) {
        text.push_str("char word@[6] = \"hello\"; const char *const words@[2] = { \"ab\", \"cd\" };\n");
        statements.add("word@[#6]", KINDS[1], None, false);
        only_read.extend(["words@[#2][#3]", "\"xyz\"[#4]"].map(str::to_string));
    }
    if once_in(statements, 3) {
        text.push_str(
            "struct calls@ { int k; int (*f)(int); };\nint twice@(int v) { return v * 2; }\nint half@(int v) { return v / 2; }\n\
             struct calls@ calls@ = { 1, half@ };\nstruct s1@ made@(int v) { struct s1@ s = { v }; s.m0 ^= 5; return s; }\n",
        );
        only_read.extend(["calls@.f(x0@)", "(&calls@)->f(calls@.k)", "made@(x1@).m0"].map(str::to_string));
        statements.calls = true;
    }
    if once_in(statements, 3) {
        // Differences and comparisons of pointers into one array.
        only_read.extend(
            [
                "((int)(&w@[#4] - &w@[#4]))",
                "(&w@[#4] < &w@[#4])",
                "((int)sizeof(struct s1@))",
                "((int)sizeof t@[0])",
            ]
            .map(str::to_string),
        );
    }
    for place in only_read {
        let kind = if place.starts_with(['"']) || place.starts_with("words") { KINDS[1] } else { INT };
        statements.add(&place, kind, None, false);
        statements.expressions.places.last_mut().expect("it was added").writable = false;
    }
}

impl Statements {
    /// A statement on memory: as a whole, along pointers, of computed length, from the heap.
    pub fn shape(&mut self, text: &mut String) {
        if self.pure {
            return self.assignment(text);
        }
        let (pointer, index) = (self.name('c'), self.name('i'));
        match self.expressions.dice.roll(8) {
            0 => {
                let (to, from) = (self.a_struct(), self.a_struct());
                let line = format!("__builtin_memmove(&{to}, &{from}, sizeof {to});");
                self.line(text, &line);
            }
            1 => {
                let to = self.a_struct();
                self.line(text, &format!("__builtin_memset(&{to}, 0, sizeof({to}));"));
            }
            2 => {
                self.line(text, &format!("for (int *{pointer} = w@; {pointer} < w@ + 4; {pointer}++)"));
                self.line(text, &format!("  {}", Expressions::hashed(&format!("*{pointer}"))));
            }
            3 => {
                let value = self.expressions.value(1).text;
                self.line(text, &format!("int *{pointer} = w@; *{pointer}++ = {value}; *++{pointer} -= 3;"));
                self.line(
                    text,
                    &format!("{pointer}[-1]++; {}", Expressions::hashed(&format!("({pointer} - w@)"))),
                );
            }
            4 => {
                let length = self.expressions.value(1).text;
                self.line(text, &format!("int {index} = 1 + ({length} & 1), {pointer}[{index} + 1];"));
                self.line(text, &format!("for (int i = 0; i <= {index}; i++) {pointer}[i] = i * 5 - x0@;"));
                self.line(text, &Expressions::hashed(&format!("{pointer}[{index}]")));
            }
            5 => {
                let kind = *self.expressions.dice.pick(&[INT, KINDS[4], KINDS[10]]);
                let value = self.expressions.value(1).text;
                let name = kind.name;
                let call = match self.expressions.dice.roll(2) {
                    0 => format!("calloc(3, sizeof({name}))"),
                    _ => {
                        format!("malloc(3 * sizeof({name})); {pointer}[0] = {pointer}[1] = {pointer}[2] = 4")
                    }
                };
                self.line(text, &format!("{name} *{pointer} = {call};"));
                self.line(text, &format!("{pointer}[2] += {value}; *({pointer} + 1) -= x1@;"));
                for element in 0..3 {
                    self.line(text, &Expressions::hashed(&format!("{pointer}[{element}]")));
                }
                self.line(text, &format!("free({pointer});"));
            }
            6 if self.calls => {
                let condition = self.expressions.value(1).text;
                self.line(text, &format!("calls@.f = {condition} ? twice@ : half@; calls@.k++;"));
            }
            _ => {
                // A jump out of two loops.
                let (label, value) = (self.name('L'), self.expressions.value(2).text);
                self.line(text, &format!("for (int {index} = 0; {index} < 3; {index}++)"));
                self.line(text, &format!("  for (int {pointer} = 0; {pointer} < 2; {pointer}++) {{"));
                self.line(text, &format!("    if ({index} + {pointer} == 3 || {value}) goto {label};"));
                self.line(text, &format!("    w@[{index}] += {pointer};\n  }}\n  {label}: ;"));
            }
        }
    }
}
