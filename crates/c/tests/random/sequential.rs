//! Random programs of one thread: types, global variables, functions and `main`.

use super::dice::{Dice, INT, KINDS, Kind};
use super::expressions::{Expressions, Place, Pure};
use super::shapes;
use super::statements::Statements;
use std::fmt::Write as _;

/// A member of a struct: its name with `#n` for indices, its type, its width.
pub type Member = (String, Kind, Option<u8>);

/// A function with effects.
#[derive(Clone, Debug)]
pub struct Effective {
    /// Its name.
    pub name: String,
    /// What it returns.
    pub result: Kind,
    /// What each parameter is.
    pub parameters: Vec<Parameter>,
}

/// What a parameter is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Parameter {
    /// A number.
    Number(Kind),
    /// A pointer to an `int`.
    Pointer,
    /// A `struct s1`.
    Struct,
    /// A pointer to a `struct s1`.
    StructPointer,
}

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut text = String::from(
        "unsigned result@;\nvoid *malloc(unsigned long); void *calloc(unsigned long, unsigned long); void free(void *);\n\
         enum e0@ { A0@, B0@ = 5, C0@ };\nenum e1@ { A1@ = -3, B1@, C1@ = 70 };\n\
         typedef unsigned char byte@; typedef short brief@;\n\
         struct node@ { int value; struct node@ *next; };\n",
    );
    let inner = members(&mut dice, &mut text, 0, &[]);
    let outer = members(&mut dice, &mut text, 1, &inner);
    let wide = dice.once_in(16);
    let expressions = Expressions { dice, places: Vec::new(), functions: Vec::new(), victim: None, wide };
    let mut statements = Statements::new(expressions, outer);
    globals(&mut statements, &mut text);
    ways(&mut statements, &mut text);
    shapes::globals(&mut statements, &mut text);
    for number in 0..2 + statements.expressions.dice.roll(3) {
        match statements.expressions.dice.roll(4) {
            0 | 1 => pure(&mut statements, &mut text, number),
            _ => effective(&mut statements, &mut text, number),
        }
    }
    main(&mut statements, &mut text);
    text
}

/// The text of a program as it is read here: names without a mark.
pub fn alone(program: &str) -> String {
    program.replace('@', "")
}

/// Declares a struct; returns its members, those of the struct inside included.
fn members(dice: &mut Dice, text: &mut String, number: usize, inside: &[Member]) -> Vec<Member> {
    let mut found: Vec<Member> = Vec::new();
    writeln!(text, "struct s{number}@ {{").unwrap();
    let nested = 1 + dice.roll(3);
    for member in 0..3 + dice.roll(3) {
        if member == nested && !inside.is_empty() {
            writeln!(text, "  struct s0@ in;").unwrap();
            found.extend(inside.iter().map(|(name, kind, width)| (format!("in.{name}"), *kind, *width)));
            continue;
        }
        let kind = if member == 0 { INT } else { *dice.pick(&KINDS) };
        let name = format!("m{member}");
        match dice.roll(6) {
            0 if member > 0 => {
                let length = 2 + dice.roll(3);
                writeln!(text, "  {} {name}[{length}];", kind.name).unwrap();
                found.push((format!("{name}[#{length}]"), kind, None));
            }
            1 | 2 if member > 0 && kind.bits <= 32 && !kind.name.starts_with("enum") => {
                let width = 1 + dice.roll(usize::from(kind.bits)) as u8;
                writeln!(text, "  {} {name} : {width};", kind.name).unwrap();
                found.push((name, kind, Some(width)));
            }
            _ => {
                writeln!(text, "  {} {name};", kind.name).unwrap();
                found.push((name, kind, None));
            }
        }
    }
    writeln!(text, "}};").unwrap();
    found
}

fn globals(statements: &mut Statements, text: &mut String) {
    for number in 0..3 + statements.expressions.dice.roll(4) {
        let kind = *statements.expressions.dice.pick(&KINDS);
        let value = statements.expressions.constant(kind);
        let word = *statements.expressions.dice.pick(&["", "static "]);
        writeln!(text, "{word}{} g{number}@ = {value};", kind.name).unwrap();
        statements.add(&format!("g{number}@"), kind, None, false);
    }
    for number in 0..2 {
        let value = statements.expressions.constant(INT);
        writeln!(text, "int x{number}@ = {value};").unwrap();
        statements.add(&format!("x{number}@"), INT, None, false);
        statements.targets.push(format!("&x{number}@"));
    }
    for number in 0..1 + statements.expressions.dice.roll(2) {
        let kind = *statements.expressions.dice.pick(&[INT, INT, KINDS[3], KINDS[4], KINDS[10]]);
        let length = 2 + statements.expressions.dice.roll(4);
        let (one, two) = (statements.expressions.constant(kind), statements.expressions.constant(kind));
        writeln!(text, "{} a{number}@[{length}] = {{ {one}, {two} }};", kind.name).unwrap();
        statements.add(&format!("a{number}@[#{length}]"), kind, None, false);
        if kind == INT {
            statements.targets.push(format!("&a{number}@[#{length}]"));
        }
    }
    writeln!(text, "int t@[2][3] = {{ {{ 1, 2, 3 }}, {{ 4, 5 }} }};").unwrap();
    statements.add("t@[#2][#3]", INT, None, false);
    for number in 0..2 {
        writeln!(text, "struct s1@ u{number}@ = {{ {} }};", statements.expressions.dice.roll(100)).unwrap();
        statements.add_struct(&format!("u{number}@"), ".");
        if statements.expressions.dice.once_in(6) {
            statements.targets.push(format!("&u{number}@.m0"));
        }
    }
    if statements.expressions.dice.once_in(2) {
        writeln!(text, "int *p@ = &x0@;").unwrap();
        statements.add("(*p@)", INT, None, false);
        statements.pointers.push("p@".to_string());
    }
    if statements.expressions.dice.once_in(3) {
        writeln!(text, "struct s1@ *q@ = &u1@;").unwrap();
        statements.add_struct("q@", "->");
        statements.struct_pointers.push("q@".to_string());
    }
}

/// Pointers in arrays, behind pointers, without a type; pointers to functions, and into the middle of arrays.
fn ways(statements: &mut Statements, text: &mut String) {
    let once_in = |statements: &mut Statements, cases| statements.expressions.dice.once_in(cases);
    writeln!(text, "int w@[4] = {{ 4, 3, 2, 1 }};").unwrap();
    statements.add("w@[#4]", INT, None, false);
    if once_in(statements, 3) {
        statements.targets.push("&w@[#4]".to_string());
    }
    if once_in(statements, 4) {
        writeln!(text, "int *n@[2] = {{ &x0@, &x1@ }};").unwrap();
        statements.add("(*n@[#2])", INT, None, false);
        statements.pointers.extend(["n@[0]", "n@[1]"].map(str::to_string));
    }
    if once_in(statements, 4) {
        writeln!(text, "int *o@ = &x1@, **oo@ = &o@;").unwrap();
        statements.add("(**oo@)", INT, None, false);
        statements.pointers.extend(["o@", "(*oo@)"].map(str::to_string));
    }
    if once_in(statements, 4) {
        writeln!(text, "void *v@ = &x0@;").unwrap();
        statements.add("(*(int *)v@)", INT, None, false);
        statements.pointers.push("v@".to_string());
    }
    let mut only_read = Vec::new();
    if once_in(statements, 3) {
        let lines = "int near@(int *p) { return p[-1] * 3 ^ p[1]; }\n\
                     int next@(int *p) { int *q = p + 1; return near@(q) - *q; }\n\
                     int row@(int p[3]) { return p[0] + *(p + 2); }\n\
                     int rows@(int (*p)[3]) { return p[1][2] - (*p)[1]; }\n";
        text.push_str(lines);
        only_read.extend(["near@(&w@[1 + (#2)])", "next@(w@ + (#2))", "row@(t@[#2])", "rows@(t@)"]);
    }
    if once_in(statements, 3) {
        let lines = "int plus@(int a, int b) { return a + b; }\nint minus@(int a, int b) { return a - b; }\n\
                     int (*both@[2])(int, int) = { plus@, minus@ };\n\
                     int with@(int (*f)(int, int), int a) { return f(a, 2) * 3; }\n";
        text.push_str(lines);
        only_read.extend(["both@[#2](x0@, 5)", "with@(both@[#2], x1@)", "with@(plus@, 4)"]);
    }
    if once_in(statements, 3) {
        only_read.extend(["({ int q_ = w@[#4]; q_ * 2; })", "(x0@ ?: 7)"]);
    }
    for place in only_read {
        statements.add(place, INT, None, false);
        statements.expressions.places.last_mut().expect("it was added").writable = false;
    }
}

/// A function that writes nothing but its own variables; perhaps it calls itself.
fn pure(statements: &mut Statements, text: &mut String, number: usize) {
    let mark = statements.mark();
    let result = *statements.expressions.dice.pick(&KINDS);
    let recursive = statements.expressions.dice.once_in(3);
    let mut parameters: Vec<Kind> = (0..1 + statements.expressions.dice.roll(3))
        .map(|_| *statements.expressions.dice.pick(&KINDS))
        .collect();
    if recursive {
        parameters[0] = INT;
    }
    let before = statements.expressions.places.clone();
    for place in &mut statements.expressions.places {
        place.writable = false;
    }
    let (pointers, targets) =
        (std::mem::take(&mut statements.pointers), std::mem::take(&mut statements.targets));
    let (structs, others) =
        (std::mem::take(&mut statements.struct_pointers), std::mem::take(&mut statements.functions));
    let words: Vec<String> =
        parameters.iter().enumerate().map(|(place, kind)| format!("{} v{place}", kind.name)).collect();
    let name = format!("f{number}@");
    writeln!(text, "{} {name}({}) {{", result.name, words.join(", ")).unwrap();
    for (place, &kind) in parameters.iter().enumerate() {
        let depth = recursive && place == 0;
        let place = Place { text: format!("v{place}"), kind, width: None, writable: !depth, own: !depth };
        statements.expressions.places.push(place);
    }
    if recursive {
        let value = statements.whole(1, result);
        writeln!(text, "  if (v0 <= 0) return {value};").unwrap();
    }
    statements.pure = true;
    statements.body(text, 2, 1);
    if recursive {
        // Its parts are not in any order, so they have no effects.
        let value = statements.expressions.value(2).fit(result).text;
        let arguments: Vec<String> =
            parameters.iter().skip(1).map(|&kind| statements.expressions.value(1).fit(kind).text).collect();
        let all = [vec!["v0 - 1".to_string()], arguments].concat().join(", ");
        let again = if result.is_wide() { format!("({name}({all}) >> 1)") } else { format!("{name}({all})") };
        let value = if result.is_wide() { format!("({value} >> 1)") } else { value };
        writeln!(text, "  return {again} + (({}){value});", result.name).unwrap();
    } else {
        let value = statements.whole(2, result);
        writeln!(text, "  return {value};").unwrap();
    }
    writeln!(text, "}}").unwrap();
    statements.pure = false;
    statements.back_to(mark);
    (statements.pointers, statements.targets) = (pointers, targets);
    (statements.struct_pointers, statements.functions) = (structs, others);
    statements.expressions.places = before;
    statements.expressions.functions.push(Pure { name, result, parameters, recursive });
}

/// A function with effects, and with pointers and structs among its parameters.
fn effective(statements: &mut Statements, text: &mut String, number: usize) {
    let mark = statements.mark();
    let result = *statements.expressions.dice.pick(&KINDS);
    let mut parameters = Vec::new();
    let mut words = Vec::new();
    for place in 0..1 + statements.expressions.dice.roll(3) {
        let name = format!("v{place}");
        let (parameter, word) = match statements.expressions.dice.roll(6) {
            0 | 1 => (Parameter::Pointer, format!("int *{name}")),
            2 => (Parameter::Struct, format!("struct s1@ {name}")),
            3 => (Parameter::StructPointer, format!("struct s1@ *{name}")),
            _ => {
                let kind = *statements.expressions.dice.pick(&KINDS);
                (Parameter::Number(kind), format!("{} {name}", kind.name))
            }
        };
        match parameter {
            Parameter::Number(kind) => statements.add(&name, kind, None, true),
            Parameter::Pointer => {
                statements.add(&format!("(*{name})"), INT, None, false);
                if statements.expressions.dice.once_in(3) {
                    statements.pointers.push(name);
                }
            }
            Parameter::Struct => statements.add_struct(&name, "."),
            Parameter::StructPointer => {
                statements.add_struct(&name, "->");
                if statements.expressions.dice.once_in(3) {
                    statements.struct_pointers.push(name);
                }
            }
        }
        parameters.push(parameter);
        words.push(word);
    }
    let name = format!("f{number}@");
    writeln!(text, "{} {name}({}) {{", result.name, words.join(", ")).unwrap();
    if statements.expressions.dice.once_in(2) {
        let kind = *statements.expressions.dice.pick(&KINDS);
        let value = statements.expressions.constant(kind);
        writeln!(text, "  static {} kept = {value};", kind.name).unwrap();
        statements.add("kept", kind, None, false);
    }
    statements.body(text, 3, 1);
    let value = statements.whole(2, result);
    writeln!(text, "  return {value};\n}}").unwrap();
    statements.back_to(mark);
    statements.functions.push(Effective { name, result, parameters });
}

fn main(statements: &mut Statements, text: &mut String) {
    writeln!(text, "int main@(void) {{").unwrap();
    let mark = statements.mark();
    writeln!(text, "  int y0 = 3, y1 = -4; struct s1@ z = u0@; struct s1@ *r = &z;").unwrap();
    for name in ["y0", "y1"] {
        statements.add(name, INT, None, false);
        if statements.expressions.dice.once_in(2) {
            statements.targets.push(format!("&{name}"));
        }
    }
    statements.add_struct("z", ".");
    statements.add_struct("r", "->");
    if statements.expressions.dice.once_in(2) {
        statements.struct_pointers.push("r".to_string());
    }
    writeln!(text, "  int *l = &x1@;").unwrap();
    statements.add("(*l)", INT, None, false);
    statements.pointers.push("l".to_string());
    let count = 4 + statements.expressions.dice.roll(8);
    statements.body(text, count, 3);
    // All that there is goes into the checksum, elements one by one.
    for place in statements.expressions.places.clone() {
        for name in elements(&place.text) {
            writeln!(text, "  {}", Expressions::hashed(&name)).unwrap();
        }
    }
    writeln!(text, "  return 0;\n}}").unwrap();
    statements.back_to(mark);
}

/// All elements that a place with indices stands for.
fn elements(text: &str) -> Vec<String> {
    let Some((before, after)) = text.split_once('#') else { return vec![text.to_string()] };
    let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let length: usize = after[..digits].parse().expect("a length");
    (0..length).flat_map(|index| elements(&format!("{before}{index}{}", &after[digits..]))).collect()
}
