//! Boogie, version 2.
//!
//! A number is an `int`, which has no bound; an array is a map. Division rounds towards zero as in the program, which Boogie's
//! own does not. A procedure that is not recursive is marked to be inlined, which loses nothing; of a recursive one a verifier
//! that works procedure by procedure knows no more than which variables it may change, until somebody writes a contract.

use super::Refusal;
use super::names::Names;
use super::single::{self, DIVIDE, Declared, Dialect, Exit, REMAINDER, Routine, Speaker, Statement};
use super::variables::{Sort, sort_of};
use allways_model::program::{Program, Type};

/// Words of Boogie, and names that the text uses.
const TAKEN: &[&str] = &[
    "assert",
    "assume",
    "async",
    "atomic",
    "axiom",
    "bool",
    "break",
    "call",
    "complete",
    "const",
    "div",
    "else",
    "ensures",
    "exists",
    "extends",
    "false",
    "finite",
    "forall",
    "free",
    "function",
    "goto",
    "havoc",
    "if",
    "implementation",
    "int",
    "invariant",
    "is",
    "lambda",
    "mod",
    "modifies",
    "old",
    "par",
    "procedure",
    "pure",
    "real",
    "requires",
    "return",
    "returns",
    "then",
    "true",
    "type",
    "unique",
    "uses",
    "var",
    "where",
    "while",
    "yield",
    "yields",
    DIVIDE,
    REMAINDER,
];

/// Writes a program with one thread in Boogie.
pub fn boogie(program: &Program) -> Result<String, Refusal> {
    let code = single::lower(program, Names::new(|word| TAKEN.contains(&word)))?;
    let writer = Writer { speaker: Speaker::new(Dialect::Boogie, &code.shared) };
    let globals: Vec<&str> = code.declared.iter().map(|variable| variable.name.as_str()).collect();
    let bodies: String = code.routines.iter().map(|routine| writer.procedure(routine, &globals)).collect();
    let mut text = "// A program with one thread: no assertion may fail.\n".to_string();
    for variable in &code.declared {
        text += &format!("var {};\n", declaration(variable));
    }
    if writer.speaker.divides.get() {
        text += &division();
    }
    Ok(text + &bodies)
}

/// Division that rounds towards zero, by one of numbers that are not negative.
fn division() -> String {
    let sizes = "(if a < 0 then -a else a) OP (if b < 0 then -b else b)";
    let (quotient, rest) = (sizes.replace("OP", "div"), sizes.replace("OP", "mod"));
    format!(
        "\nfunction {{:inline}} {DIVIDE}(a: int, b: int): int {{ if (a < 0) == (b < 0) then {quotient} else -({quotient}) }}\n\
         function {{:inline}} {REMAINDER}(a: int, b: int): int {{ if a < 0 then -({rest}) else {rest} }}\n"
    )
}

struct Writer<'a> {
    speaker: Speaker<'a>,
}

impl Writer<'_> {
    fn procedure(&self, routine: &Routine, globals: &[&str]) -> String {
        let (written, _) = routine.used();
        let attribute = match (routine.main, routine.recursive) {
            (true, _) => " {:entrypoint}",
            (false, true) => "",
            (false, false) => " {:inline 1}",
        };
        // What comes in cannot be assigned.
        let (mut parameters, mut copies) = (Vec::new(), Vec::new());
        for (slot, parameter) in routine.declared[..routine.parameters].iter().enumerate() {
            if written[slot] {
                let name = &routine.incoming[slot];
                parameters.push(format!("{name}: {}", type_name(parameter)));
                copies.push((parameter, name));
            } else {
                parameters.push(declaration(parameter));
            }
        }
        let results: Vec<String> =
            routine.results.iter().map(|(name, ty)| format!("{name}: {}", sort_name(*ty))).collect();
        let returns = match &results[..] {
            [] => String::new(),
            _ if routine.main => String::new(),
            results => format!(" returns ({})", results.join(", ")),
        };
        let mut text =
            format!("\nprocedure{attribute} {}({}){returns}\n", routine.name, parameters.join(", "));
        if !globals.is_empty() {
            text += &format!("  modifies {};\n", globals.join(", "));
        }
        text += "{\n";
        let copied = copies.iter().map(|(parameter, _)| *parameter);
        for local in copied.chain(&routine.declared[routine.parameters..]) {
            text += &format!("  var {};\n", declaration(local));
        }
        for (number, block) in routine.blocks.iter().enumerate() {
            text += &format!("  {}:\n", block.label);
            if number == 0 {
                copies
                    .iter()
                    .for_each(|(parameter, from)| text += &format!("    {} := {from};\n", parameter.name));
            }
            for statement in &block.statements {
                self.statement(statement, routine).iter().for_each(|line| text += &format!("    {line}\n"));
            }
            self.exit(&block.exit, routine).iter().for_each(|line| text += &format!("    {line}\n"));
        }
        text + "}\n"
    }

    fn statement(&self, statement: &Statement, routine: &Routine) -> Vec<String> {
        let locals = &routine.locals;
        let truth = |expr| self.speaker.expression(expr, Sort::Bool, locals);
        let line = match statement {
            Statement::Choose(slot, low, high) => {
                let name = &locals.slots[*slot];
                let number = |value| self.speaker.constant(value, Sort::Number);
                return match (sort_of(locals.types[*slot]), low, high) {
                    (Sort::Bool, 0, 1) => vec![format!("havoc {name};")],
                    (Sort::Bool, low, _) => {
                        vec![format!("{name} := {};", self.speaker.constant(*low, Sort::Bool))]
                    }
                    (Sort::Number, &low, &high) => vec![
                        format!("havoc {name};"),
                        format!("assume {} <= {name} && {name} <= {};", number(low), number(high)),
                    ],
                };
            }
            Statement::Set(place, value) => {
                let value = self.speaker.expression(value, sort_of(place.ty), locals);
                format!("{} := {value};", self.speaker.place(place, locals))
            }
            Statement::Assume(expr) => format!("assume {};", truth(expr)),
            Statement::Assert(expr, what) => format!("assert {{:msg \"{what}\"}} {};", truth(expr)),
            Statement::Call(name, arguments, results) => {
                let results: Vec<&str> = results.iter().map(|&slot| locals.slots[slot].as_str()).collect();
                let assigned =
                    if results.is_empty() { String::new() } else { format!("{} := ", results.join(", ")) };
                format!("call {assigned}{name}({});", self.speaker.arguments(arguments, locals))
            }
        };
        vec![line]
    }

    fn exit(&self, exit: &Exit, routine: &Routine) -> Vec<String> {
        let label = |to: &usize| routine.blocks[*to].label.as_str();
        match exit {
            Exit::Goto(to) => vec![format!("goto {};", to.iter().map(label).collect::<Vec<_>>().join(", "))],
            Exit::If(condition, yes, no) => {
                let condition = self.speaker.expression(condition, Sort::Bool, &routine.locals);
                vec![format!("if ({condition}) {{ goto {}; }} else {{ goto {}; }}", label(yes), label(no))]
            }
            Exit::Return(results) => {
                let set = results.iter().zip(&routine.results).map(|(result, (name, ty))| {
                    format!("{name} := {};", self.speaker.expression(result, sort_of(*ty), &routine.locals))
                });
                set.chain(["return;".to_string()]).collect()
            }
        }
    }
}

fn declaration(variable: &Declared) -> String {
    format!("{}: {}", variable.name, type_name(variable))
}

fn type_name(variable: &Declared) -> String {
    let of = sort_name(variable.ty);
    variable.length.map_or(of.to_string(), |_| format!("[int]{of}"))
}

fn sort_name(ty: Type) -> &'static str {
    if sort_of(ty) == Sort::Bool { "bool" } else { "int" }
}
