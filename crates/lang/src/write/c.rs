//! C for sequential verifiers, with `__CPROVER_assume`, `__CPROVER_assert` and `nondet_…` functions as CBMC has them.
//!
//! A Boolean is a `bool`; a number is a `long long`. Where more than 64 bits may be needed, an assertion fails; where types tell
//! that this cannot be, there is none. Everything has internal linkage, so names of the program do not clash with a library's.

use super::names::Names;
use super::single::{self, Code, Declared, Dialect, Exit, NUMBER, Routine, Speaker, Statement};
use super::variables::{Sort, sort_of};
use super::{Refusal, Written, refuse};
use allways_model::program::{Program, Type, Value};
use std::collections::HashSet;

/// The function that chooses a number.
const CHOOSE: &str = "choose";

/// Words of C, and names that the text uses.
const TAKEN: &[&str] = &[
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "_Bool",
    "_Complex",
    "_Imaginary",
    "_Alignas",
    "_Alignof",
    "_Atomic",
    "_Generic",
    "_Noreturn",
    "_Static_assert",
    "_Thread_local",
    "asm",
    "typeof",
    "bool",
    "true",
    "false",
    "main",
    "linux",
    "unix",
    "i386",
    "LLONG_MIN",
    "LLONG_MAX",
    "__int128",
    "__CPROVER_assume",
    "__CPROVER_assert",
    "nondet_bool",
    "nondet_long_long",
    CHOOSE,
    NUMBER,
];

/// Writes a program with one thread in C.
pub fn c(program: &Program) -> Result<String, Refusal> {
    let code = single::lower(program, Names::new(|word| TAKEN.contains(&word)))?;
    let mut writer = Writer { speaker: Speaker::new(Dialect::C, &code.shared), chooses: false };
    let mut bodies = String::new();
    for routine in &code.routines {
        bodies += &format!("\n{} {}", writer.head(routine)?, writer.body(routine));
    }
    Ok(writer.prelude(&code)? + &bodies)
}

struct Writer<'a> {
    speaker: Speaker<'a>,
    /// Whether a number is chosen.
    chooses: bool,
}

impl Writer<'_> {
    fn prelude(&self, code: &Code) -> Written<String> {
        let mut text =
            "// A program with one thread: __CPROVER_assert must hold whatever nondet_… gives.\n".to_string();
        if self.speaker.wide.get() {
            text += "// Integers have 64 bits here; where one would need more, an assertion fails.\n";
        }
        text += "#include <limits.h>\n#include <stdbool.h>\n\n";
        text += "void __CPROVER_assume(bool condition);\n";
        text += "void __CPROVER_assert(bool condition, const char *what);\n";
        text += "bool nondet_bool(void);\nlong long nondet_long_long(void);\n\n";
        text += "// Names such as `log` are the program's own, and so are comparisons such as `x == x`.\n";
        text += "#pragma GCC diagnostic ignored \"-Wbuiltin-declaration-mismatch\"\n";
        text += "#pragma GCC diagnostic ignored \"-Wtautological-compare\"\n\n";
        for variable in &code.declared {
            text += &format!("static {};\n", declaration(variable));
        }
        for routine in code.routines.iter().filter(|routine| !routine.main) {
            text += &format!("{};\n", self.head(routine)?);
        }
        if self.chooses {
            text += &format!("\nstatic long long {CHOOSE}(long long low, long long high) {{\n");
            text += "  long long value = nondet_long_long();\n";
            text += "  __CPROVER_assume(low <= value && value <= high);\n  return value;\n}\n";
        }
        if self.speaker.wide.get() {
            text += &format!("\nstatic long long {NUMBER}(__int128 value) {{\n");
            text += "  __CPROVER_assert(LLONG_MIN <= value && value <= LLONG_MAX, \"a number beyond 64 bits\");\n";
            text += "  return (long long) value;\n}\n";
        }
        Ok(text)
    }

    fn head(&self, routine: &Routine) -> Written<String> {
        if routine.main {
            return Ok("int main(void)".to_string());
        }
        let result = match routine.results[..] {
            [] => "void",
            [(_, ty)] => type_name(ty),
            _ => return refuse(routine.span, format!("`{}` has several results", routine.name)),
        };
        let parameters: Vec<String> =
            routine.declared[..routine.parameters].iter().map(declaration).collect();
        let parameters = if parameters.is_empty() { "void".to_string() } else { parameters.join(", ") };
        Ok(format!("static {result} {}({parameters})", routine.name))
    }

    fn body(&mut self, routine: &Routine) -> String {
        let mut text = "{\n".to_string();
        for local in &routine.declared[routine.parameters..] {
            text += &format!("  {};\n", declaration(local));
        }
        let (_, read) = routine.used();
        let mut slot = 0;
        for local in &routine.declared {
            if !read[slot..slot + local.length.unwrap_or(1)].contains(&true) {
                text += &format!("  (void) {};\n", local.name);
            }
            slot += local.length.unwrap_or(1);
        }
        let mut jumped = HashSet::new();
        let mut blocks = Vec::new();
        for (number, block) in routine.blocks.iter().enumerate() {
            let mut lines: Vec<String> =
                block.statements.iter().map(|statement| self.statement(statement, routine)).collect();
            lines.extend(self.exit(&block.exit, number + 1, routine, &mut jumped));
            blocks.push(lines);
        }
        for (number, lines) in blocks.into_iter().enumerate() {
            if jumped.contains(&number) {
                text += &format!("{}: ;\n", routine.blocks[number].label);
            }
            lines.iter().for_each(|line| text += &format!("  {line}\n"));
        }
        let returns = routine.blocks.iter().any(|block| matches!(block.exit, Exit::Return(_)));
        if !returns && !routine.results.is_empty() {
            // Nobody comes here, but compilers ask for it.
            text += "  return 0;\n";
        }
        text + "}\n"
    }

    fn statement(&mut self, statement: &Statement, routine: &Routine) -> String {
        let locals = &routine.locals;
        let truth = |expr| self.speaker.expression(expr, Sort::Bool, locals);
        match statement {
            Statement::Choose(slot, low, high) => {
                let name = &locals.slots[*slot];
                format!("{name} = {};", self.choice(*low, *high, sort_of(locals.types[*slot])))
            }
            Statement::Set(place, value) => {
                let value = self.speaker.expression(value, sort_of(place.ty), locals);
                format!("{} = {value};", self.speaker.place(place, locals))
            }
            Statement::Assume(expr) => format!("__CPROVER_assume({});", truth(expr)),
            Statement::Assert(expr, what) => format!("__CPROVER_assert({}, \"{what}\");", truth(expr)),
            Statement::Call(name, arguments, results) => {
                let result =
                    results.first().map_or(String::new(), |&slot| format!("{} = ", locals.slots[slot]));
                format!("{result}{name}({});", self.speaker.arguments(arguments, locals))
            }
        }
    }

    fn choice(&mut self, low: Value, high: Value, sort: Sort) -> String {
        if (low, high, sort) == (0, 1, Sort::Bool) {
            return "nondet_bool()".to_string();
        }
        self.chooses = true;
        let number = |value| self.speaker.constant(value, Sort::Number);
        format!("{CHOOSE}({}, {})", number(low), number(high))
    }

    fn exit(
        &mut self,
        exit: &Exit,
        next: usize,
        routine: &Routine,
        jumped: &mut HashSet<usize>,
    ) -> Vec<String> {
        let mut jump = |to: usize| {
            jumped.insert(to);
            format!("goto {};", routine.blocks[to].label)
        };
        match exit {
            Exit::Goto(to) => match to[..] {
                [to] if to == next => Vec::new(),
                [to] => vec![jump(to)],
                [first, second] => {
                    vec![format!("if (nondet_bool()) {} else {}", jump(first), jump(second))]
                }
                _ => {
                    let last = to.len() - 1;
                    let choice = self.choice(0, last as Value, Sort::Number);
                    let mut lines = vec![format!("switch ({choice}) {{")];
                    for (index, &to) in to[..last].iter().enumerate() {
                        lines.push(format!("  case {index}: {}", jump(to)));
                    }
                    lines.push(format!("  default: {}", jump(to[last])));
                    lines.push("}".to_string());
                    lines
                }
            },
            Exit::If(condition, yes, no) => {
                let condition = self.speaker.expression(condition, Sort::Bool, &routine.locals);
                match (*yes == next, *no == next) {
                    (_, true) => vec![format!("if ({condition}) {}", jump(*yes))],
                    (true, _) => vec![format!("if (!({condition})) {}", jump(*no))],
                    _ => vec![format!("if ({condition}) {} else {}", jump(*yes), jump(*no))],
                }
            }
            Exit::Return(_) if routine.main => vec!["return 0;".to_string()],
            Exit::Return(results) => match results.first().zip(routine.results.first()) {
                Some((result, (_, ty))) => {
                    let value = self.speaker.expression(result, sort_of(*ty), &routine.locals);
                    vec![format!("return {value};")]
                }
                None => vec!["return;".to_string()],
            },
        }
    }
}

fn declaration(variable: &Declared) -> String {
    let length = variable.length.map_or(String::new(), |length| format!("[{length}]"));
    format!("{} {}{length}", type_name(variable.ty), variable.name)
}

fn type_name(ty: Type) -> &'static str {
    if sort_of(ty) == Sort::Bool { "bool" } else { "long long" }
}
