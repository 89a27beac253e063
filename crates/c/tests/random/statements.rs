//! Random statements: every loop is bounded, and every variable has a value before it is read.

use super::dice::{INT, KINDS, Kind};
use super::expressions::{Expressions, Place};
use super::sequential::{Effective, Member, Parameter};
use std::fmt::Write as _;

/// Where statements come from.
pub struct Statements {
    /// Their expressions.
    pub expressions: Expressions,
    /// The members of `struct s1`.
    members: Vec<Member>,
    /// Addresses of `int`.
    pub targets: Vec<String>,
    /// Pointers to `int` that may be changed.
    pub pointers: Vec<String>,
    /// Structs, as lvalues.
    structs: Vec<String>,
    /// Pointers to structs that may be changed.
    pub struct_pointers: Vec<String>,
    /// Functions with effects.
    pub functions: Vec<Effective>,
    /// Whether only variables of the function may be written.
    pub pure: bool,
    /// Whether there is a struct with a pointer to a function.
    pub calls: bool,
    /// What `break` and `continue` are about.
    in_loop: Within,
    fresh: usize,
    indent: usize,
}

/// What a statement is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// No loop.
    Nothing,
    /// A loop.
    Loop,
    /// A `switch` inside of a loop: `continue` is about the loop.
    Switch,
}

impl Within {
    fn after_switch(self) -> Within {
        if self == Within::Nothing { Within::Nothing } else { Within::Switch }
    }
}

/// What was declared when a block began.
#[derive(Clone, Copy)]
pub struct Mark {
    places: usize,
    targets: usize,
    pointers: usize,
    structs: usize,
    struct_pointers: usize,
}

impl Statements {
    /// Nothing is declared yet.
    pub fn new(expressions: Expressions, members: Vec<Member>) -> Statements {
        Statements {
            expressions,
            members,
            targets: Vec::new(),
            pointers: Vec::new(),
            structs: Vec::new(),
            struct_pointers: Vec::new(),
            functions: Vec::new(),
            pure: false,
            calls: false,
            in_loop: Within::Nothing,
            fresh: 0,
            indent: 1,
        }
    }

    /// A place that may be read and written.
    pub fn add(&mut self, name: &str, kind: Kind, width: Option<u8>, own: bool) {
        let place = Place { text: name.to_string(), kind, width, writable: true, own };
        self.expressions.places.push(place);
    }

    /// The members of a struct, or of what a pointer to one points to.
    pub fn add_struct(&mut self, name: &str, access: &str) {
        for (member, kind, width) in self.members.clone() {
            self.add(&format!("{name}{access}{member}"), kind, width, false);
        }
        let whole = if access == "." { name.to_string() } else { format!("(*{name})") };
        self.structs.push(whole);
    }

    /// Where a block begins.
    pub fn mark(&self) -> Mark {
        Mark {
            places: self.expressions.places.len(),
            targets: self.targets.len(),
            pointers: self.pointers.len(),
            structs: self.structs.len(),
            struct_pointers: self.struct_pointers.len(),
        }
    }

    /// Where it ends.
    pub fn back_to(&mut self, mark: Mark) {
        self.expressions.places.truncate(mark.places);
        self.targets.truncate(mark.targets);
        self.pointers.truncate(mark.pointers);
        self.structs.truncate(mark.structs);
        self.struct_pointers.truncate(mark.struct_pointers);
    }

    pub(super) fn name(&mut self, letter: char) -> String {
        self.fresh += 1;
        format!("{letter}{}_", self.fresh)
    }

    /// An expression that is converted to a type, perhaps with an effect.
    pub fn whole(&mut self, depth: usize, to: Kind) -> String {
        self.whole_for(depth, to, "")
    }

    /// An expression that is stored in a place, which is not changed by it.
    fn whole_for(&mut self, depth: usize, to: Kind, place: &str) -> String {
        let places = self.expressions.places.clone();
        let may = |victim: &&Place| victim.own && victim.writable && victim.text != place;
        let victims: Vec<Place> = places.iter().filter(may).cloned().collect();
        if !victims.is_empty() && self.expressions.dice.once_in(3) {
            self.expressions.victim = Some(self.expressions.dice.pick(&victims).clone());
        }
        let value = self.expressions.value(depth).fit(to);
        self.expressions.victim = None;
        self.expressions.places = places;
        value.text
    }

    pub(super) fn line(&self, text: &mut String, line: &str) {
        writeln!(text, "{}{line}", "  ".repeat(self.indent)).unwrap();
    }

    /// So many statements, nested so deeply.
    pub fn body(&mut self, text: &mut String, count: usize, depth: usize) {
        for _ in 0..count {
            self.statement(text, depth);
        }
    }

    fn block(&mut self, text: &mut String, depth: usize) {
        let mark = self.mark();
        self.indent += 1;
        let count = 1 + self.expressions.dice.roll(3);
        self.body(text, count, depth);
        self.indent -= 1;
        self.back_to(mark);
    }

    fn writable(&mut self) -> Option<Place> {
        let found: Vec<usize> = (0..self.expressions.places.len())
            .filter(|&place| self.expressions.places[place].writable)
            .collect();
        if found.is_empty() {
            return None;
        }
        let place = *self.expressions.dice.pick(&found);
        Some(self.expressions.places[place].clone())
    }

    fn statement(&mut self, text: &mut String, depth: usize) {
        match self.expressions.dice.roll(if depth == 0 { 12 } else { 20 }) {
            0..=3 => self.assignment(text),
            4 => self.compound(text),
            5 => self.step(text),
            6 => self.declaration(text),
            7 => self.pointer(text),
            8 => self.structs(text),
            9 => self.call(text),
            10 if self.in_loop != Within::Nothing => {
                let condition = self.whole(2, INT);
                let continues = self.in_loop == Within::Switch || self.expressions.dice.once_in(2);
                let word = if continues { "continue" } else { "break" };
                self.line(text, &format!("if ({condition}) {word};"));
            }
            10 => self.assignment(text),
            11 => self.shape(text),
            12..=14 => self.choice(text, depth - 1),
            15 => self.switch(text, depth - 1),
            16 => self.jump(text, depth - 1),
            17 if depth > 1 && !self.pure => self.list(text),
            _ => self.repetition(text, depth - 1),
        }
    }

    pub(super) fn assignment(&mut self, text: &mut String) {
        let Some(place) = self.writable() else { return };
        let depth = 1 + self.expressions.dice.roll(3);
        if place.text.contains('#') {
            // The index and the value are not in any order.
            let value = self.expressions.value(depth).fit(place.kind);
            let to = self.expressions.spelt(&place.text);
            return self.line(text, &format!("{to} = {};", value.text));
        }
        if self.expressions.dice.once_in(8)
            && let Some(second) = self.writable()
            && !second.text.contains('#')
            && second.text != place.text
        {
            let value = self.expressions.value(depth).fit(second.kind).text;
            // What is stored is converted to the second place's type, then to the first one's.
            let chained = !(place.kind.is_wide() && second.value_kind().signed);
            let line = match chained {
                true => format!("{} = {} = {value};", place.text, second.text),
                false => format!("{} = {value}, {}++;", second.text, place.text),
            };
            return self.line(text, &line);
        }
        let value = self.whole_for(depth, place.kind, &place.text);
        self.line(text, &format!("{} = {value};", place.text));
    }

    fn compound(&mut self, text: &mut String) {
        let Some(place) = self.writable() else { return };
        let to = self.expressions.spelt(&place.text);
        let value = self.expressions.compound(place.value_kind(), 2);
        self.line(text, &format!("{to} {value};"));
    }

    fn step(&mut self, text: &mut String) {
        let Some(place) = self.writable() else { return };
        let to = self.expressions.spelt(&place.text);
        let down = !place.kind.is_wide() && self.expressions.dice.once_in(2);
        let word = if down { "--" } else { "++" };
        let line =
            if self.expressions.dice.once_in(2) { format!("{word}{to};") } else { format!("{to}{word};") };
        self.line(text, &line);
    }

    fn declaration(&mut self, text: &mut String) {
        let kind = *self.expressions.dice.pick(&KINDS);
        if self.expressions.dice.once_in(5) {
            let length = 2 + self.expressions.dice.roll(3);
            let (one, two) = (self.expressions.value(1).fit(kind), self.expressions.value(1).fit(kind));
            let name = self.name('b');
            self.line(text, &format!("{} {name}[{length}] = {{ {}, {} }};", kind.name, one.text, two.text));
            self.add(&format!("{name}[#{length}]"), kind, None, false);
            if kind == INT && !self.pure && self.expressions.dice.once_in(3) && self.indent == 1 {
                self.targets.push(format!("&{name}[#{length}]"));
            }
            return;
        }
        let value = self.whole(2, kind);
        let name = self.name('w');
        self.line(text, &format!("{} {name} = {value};", kind.name));
        self.add(&name, kind, None, true);
    }

    fn pointer(&mut self, text: &mut String) {
        if self.pointers.is_empty() || self.targets.is_empty() {
            return self.assignment(text);
        }
        let pointer = self.expressions.dice.pick(&self.pointers).clone();
        // A pointer that outlives the block or function must not point into it: only what is declared outside counts.
        let targets: Vec<String> =
            self.targets.iter().filter(|target| pointer == "l" || target.contains('@')).cloned().collect();
        let target = match self.expressions.dice.roll(4) {
            0 => {
                let one = self.expressions.dice.pick(&targets).clone();
                let condition = self.expressions.value(1).text;
                let other = self.expressions.dice.pick(&targets).clone();
                let (one, other) = (self.expressions.spelt(&one), self.expressions.spelt(&other));
                format!("{condition} ? {one} : {other}")
            }
            _ => {
                let one = self.expressions.dice.pick(&targets).clone();
                self.expressions.spelt(&one)
            }
        };
        self.line(text, &format!("{pointer} = {target};"));
        if self.expressions.dice.once_in(3) {
            let target = self.expressions.dice.pick(&targets).clone();
            let target = self.expressions.spelt(&target);
            self.line(text, &Expressions::hashed(&format!("({pointer} == {target})")));
        }
    }

    /// A struct, its indices chosen.
    pub(super) fn a_struct(&mut self) -> String {
        let one = self.expressions.dice.pick(&self.structs).clone();
        self.expressions.spelt(&one)
    }

    fn structs(&mut self, text: &mut String) {
        if self.pure || self.structs.len() < 2 {
            return self.compound(text);
        }
        let to = self.a_struct();
        if self.expressions.dice.once_in(3) && !self.struct_pointers.is_empty() {
            let pointer = self.expressions.dice.pick(&self.struct_pointers).clone();
            let target = *self.expressions.dice.pick(&["u0@", "u1@"]);
            return self.line(text, &format!("{pointer} = &{target};"));
        }
        let from = match self.expressions.dice.roll(4) {
            0 => {
                let value = self.expressions.value(1).text;
                format!("(struct s1@){{ (int){value} }}")
            }
            1 => {
                let condition = self.expressions.value(1).text;
                let (one, other) = (self.a_struct(), self.a_struct());
                format!("{condition} ? {one} : {other}")
            }
            _ => self.a_struct(),
        };
        self.line(text, &format!("{to} = {from};"));
    }

    fn call(&mut self, text: &mut String) {
        if self.pure || self.functions.is_empty() || self.targets.is_empty() {
            return self.assignment(text);
        }
        let function = self.expressions.dice.pick(&self.functions).clone();
        let mut arguments = Vec::new();
        for parameter in &function.parameters {
            arguments.push(match parameter {
                Parameter::Number(kind) => self.expressions.value(2).fit(*kind).text,
                Parameter::Pointer => {
                    let target = self.expressions.dice.pick(&self.targets).clone();
                    let mut list = vec![self.expressions.spelt(&target)];
                    list.extend(self.pointers.first().cloned());
                    self.expressions.dice.pick(&list).clone()
                }
                Parameter::Struct => self.a_struct(),
                Parameter::StructPointer => {
                    let target = self.a_struct();
                    format!("&{target}")
                }
            });
        }
        let call = format!("{}({})", function.name, arguments.join(", "));
        let line = match (self.expressions.dice.roll(4), self.writable()) {
            // The call may change pointers, and whether they are read before it is the compiler's choice.
            (0, Some(place))
                if !(place.text.contains(['#', '*', '>'])
                    || place.kind.is_wide() && function.result.signed) =>
            {
                format!("{} = {call};", place.text)
            }
            (1, _) => {
                let other = self.expressions.value(2).text;
                format!("if ({call} && {other}) {}", Expressions::hashed("1"))
            }
            (2, _) => Expressions::hashed(&call),
            _ => format!("{call};"),
        };
        self.line(text, &line);
    }

    fn choice(&mut self, text: &mut String, depth: usize) {
        let condition = self.whole(2, INT);
        self.line(text, &format!("if ({condition}) {{"));
        self.block(text, depth);
        if self.expressions.dice.once_in(2) {
            self.line(text, "} else {");
            self.block(text, depth);
        }
        self.line(text, "}");
    }

    fn switch(&mut self, text: &mut String, depth: usize) {
        let value = self.whole(2, INT);
        let masked = self.expressions.dice.roll(3) > 0;
        let value = if masked { format!("{value} & 3") } else { value };
        self.line(text, &format!("switch ({value}) {{"));
        let in_loop = self.in_loop;
        self.in_loop = in_loop.after_switch();
        let default = self.expressions.dice.roll(4);
        for case in 0..4 {
            let label = match self.expressions.dice.roll(6) {
                _ if case == default => "default".to_string(),
                0 => format!("case {} ... {}", 10 * case + 4, 10 * case + 9),
                1 => format!("case -{}", case + 1),
                _ => format!("case {case}"),
            };
            self.line(text, &format!("{label}: {{"));
            self.block(text, depth);
            let end = if self.expressions.dice.once_in(3) { "}" } else { "} break;" };
            self.line(text, end);
        }
        self.in_loop = in_loop;
        self.line(text, "}");
    }

    fn jump(&mut self, text: &mut String, depth: usize) {
        let label = self.name('L');
        if self.expressions.dice.once_in(2) {
            let condition = self.whole(2, INT);
            self.line(text, &format!("if ({condition}) goto {label};"));
            self.line(text, "{");
            self.block(text, depth);
            self.line(text, "}");
            self.line(text, &format!("{label}: ;"));
            return;
        }
        let count = self.name('n');
        let rounds = 1 + self.expressions.dice.roll(3);
        self.line(text, &format!("int {count} = 0;"));
        self.line(text, &format!("{label}: ;"));
        self.line(text, "{");
        let in_loop = std::mem::replace(&mut self.in_loop, Within::Nothing);
        self.block(text, depth);
        self.in_loop = in_loop;
        self.line(text, "}");
        self.line(text, &format!("if ({count}++ < {rounds}) goto {label};"));
    }

    fn repetition(&mut self, text: &mut String, depth: usize) {
        let name = self.name('i');
        let rounds = 1 + self.expressions.dice.roll(4);
        let mark = self.mark();
        let counter = Place { text: name.clone(), kind: INT, width: None, writable: false, own: false };
        let in_loop = std::mem::replace(&mut self.in_loop, Within::Loop);
        match self.expressions.dice.roll(4) {
            0 => {
                self.line(text, &format!("int {name} = {rounds};"));
                self.line(text, &format!("while ({name}-- > 0) {{"));
                self.expressions.places.push(counter);
                self.block(text, depth);
                self.line(text, "}");
            }
            1 => {
                self.line(text, &format!("int {name} = {rounds};"));
                self.line(text, "do {");
                self.expressions.places.push(counter);
                self.block(text, depth);
                self.line(text, &format!("}} while (--{name} > 0);"));
            }
            way => {
                let limit =
                    if way == 2 { format!("{name} < {rounds}") } else { format!("{name} != {rounds}") };
                self.line(text, &format!("for (int {name} = 0; {limit}; {name}++) {{"));
                self.expressions.places.push(counter);
                self.block(text, depth);
                self.line(text, "}");
            }
        }
        self.in_loop = in_loop;
        self.back_to(mark);
    }

    /// Builds a list and walks along it.
    fn list(&mut self, text: &mut String) {
        let (head, node, count) = (self.name('h'), self.name('k'), self.name('i'));
        let value = self.expressions.value(2).text;
        let rounds = 1 + self.expressions.dice.roll(3);
        self.line(text, &format!("struct node@ *{head} = 0;"));
        self.line(text, &format!("for (int {count} = 0; {count} < {rounds}; {count}++) {{"));
        self.line(text, &format!("  struct node@ *{node} = malloc(sizeof(struct node@));"));
        self.line(
            text,
            &format!("  {node}->value = {value} + {count}; {node}->next = {head}; {head} = {node};"),
        );
        self.line(text, "}");
        self.line(text, &format!("for (struct node@ *{node} = {head}; {node}; {node} = {node}->next)"));
        self.line(text, &format!("  {}", Expressions::hashed(&format!("{node}->value"))));
    }
}
