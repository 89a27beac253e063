//! Programs with one thread, as statements and jumps: what is common to C and Boogie.
//!
//! Both languages are written from the same [`Code`], so that what is tested of one text holds for the other but for spelling.
//! In a [`Code`] an expression always has a value and makes no choice:
//!
//! * A choice is made beforehand, in a variable of its own; whether an expression has a value, and whether it fits where it is
//!   stored, is asserted before it is evaluated.
//! * Assignments are made one after another. If one would read what another has written, all values go through variables.
//! * Properties (`never`) are asserted at the start and after each step that writes a shared variable. In an atomic section
//!   nobody looks, so a variable says whether control is in one.
//!
//! What blocks in one thread blocks for ever: `assume`. Deadlocks are not told from ends. A lock is a Boolean.
//!
//! Refused are programs with more than one thread, and what only makes sense with several.

mod bounds;
mod expressions;
mod flow;
mod lower;
mod statements;

use super::variables::Variables;
use super::{Written, refuse, without_memory};
use allways_model::program::{
    Count, Expr, Place, ProcedureId, Program, Slot, Span, Target, Type, Value, Variable,
};
pub(super) use bounds::bounds;
pub(super) use expressions::{DIVIDE, Dialect, NUMBER, REMAINDER, Speaker};
pub(super) use lower::lower;

/// How many variables, elements of arrays counted, may be given initial values one by one.
const MOST: usize = 4096;

/// A program with one thread.
pub(super) struct Code {
    pub shared: Variables,
    pub declared: Vec<Declared>,
    /// The procedures that can be called; the body of the thread is the last.
    pub routines: Vec<Routine>,
}

/// A variable, or an array of them.
#[derive(Clone)]
pub(super) struct Declared {
    pub name: String,
    pub ty: Type,
    pub length: Option<usize>,
}

/// A procedure.
pub(super) struct Routine {
    pub name: String,
    /// Whether it is the body of the thread.
    pub main: bool,
    /// Whether it can be called while it runs.
    pub recursive: bool,
    pub locals: Variables,
    /// The parameters, then the other variables.
    pub declared: Vec<Declared>,
    pub parameters: usize,
    /// Names for parameters where these cannot be assigned.
    pub incoming: Vec<String>,
    /// The results, with names where they need some.
    pub results: Vec<(String, Type)>,
    /// It starts with the first.
    pub blocks: Vec<Block>,
    /// Where it is in the source.
    pub span: Span,
}

/// Statements that are executed one after another.
pub(super) struct Block {
    pub label: String,
    pub statements: Vec<Statement>,
    pub exit: Exit,
}

pub(super) enum Statement {
    /// Any value from the first to the second, for a local variable that is no element.
    Choose(Slot, Value, Value),
    Set(Place, Expr),
    Assume(Expr),
    /// What must hold, and what it means if it does not.
    Assert(Expr, String),
    /// Calls a procedure of this name, with arguments of these types; the results go to local variables.
    Call(String, Vec<(Expr, Type)>, Vec<Slot>),
}

/// Where a block leads, by the numbers of blocks.
pub(super) enum Exit {
    /// To one of these.
    Goto(Vec<usize>),
    /// To the first if the expression is true, else to the second.
    If(Expr, usize, usize),
    /// Back to the caller, with results.
    Return(Vec<Expr>),
}

/// The procedure that the only thread runs.
fn only_thread(program: &Program) -> Written<ProcedureId> {
    without_memory(program)?;
    if let Some(task) = program.templates.iter().find(|template| template.vanishes) {
        let reason = "a program with tasks is not sequential: give --sequentialize K";
        return refuse(task.span, reason);
    }
    let mut bodies = Vec::new();
    for template in &program.templates {
        match template.count {
            Count::Fixed(0) => {}
            Count::Fixed(1) => bodies.push((template.body, template.span)),
            _ => return refuse(template.span, format!("there is more than one thread `{}`", template.name)),
        }
    }
    match bodies[..] {
        [] => refuse(Span::default(), "there is no thread"),
        [(body, _)] => Ok(body),
        [_, (_, second), ..] => refuse(second, "this is a second thread, and only one can be written"),
    }
}

/// How variables are declared, and how their slots are written.
fn declare(
    variables: &[Variable],
    mut claim: impl FnMut(&str) -> String,
) -> Written<(Variables, Vec<Declared>)> {
    let mut declared = Vec::new();
    let mut slots = 0;
    for variable in variables {
        slots += variable.slots();
        if slots > MOST {
            let reason = format!("more than {MOST} variables cannot be given initial values one by one");
            return refuse(variable.span, reason);
        }
    }
    let mut all = Variables::new(variables, |name| {
        let name = claim(name);
        let Variable { ty, length, .. } = variables[declared.len()];
        declared.push(Declared { name: name.clone(), ty: kept(ty), length });
        name
    });
    all.types.iter_mut().for_each(|ty| *ty = kept(*ty));
    Ok((all, declared))
}

/// A lock is a Boolean.
fn kept(ty: Type) -> Type {
    if ty == Type::Lock { Type::Bool } else { ty }
}

impl Routine {
    /// The local variables that are written, and those that are read, by slot.
    pub fn used(&self) -> (Vec<bool>, Vec<bool>) {
        let (mut written, mut read) =
            (vec![false; self.locals.slots.len()], vec![false; self.locals.slots.len()]);
        let mut see = |expr: &Expr| {
            expr.visit(&mut |part| match part {
                Expr::Local(slot) => read[*slot] = true,
                Expr::LocalElement(slot, length, ..) => read[*slot..slot + length].fill(true),
                _ => {}
            });
        };
        for block in &self.blocks {
            for statement in &block.statements {
                match statement {
                    Statement::Choose(slot, ..) => written[*slot] = true,
                    Statement::Assume(expr) | Statement::Assert(expr, _) => see(expr),
                    Statement::Call(_, arguments, results) => {
                        arguments.iter().for_each(|(argument, _)| see(argument));
                        results.iter().for_each(|&slot| written[slot] = true);
                    }
                    Statement::Set(place, value) => {
                        see(value);
                        match &place.target {
                            Target::Local(slot) | Target::Others(slot) => written[*slot] = true,
                            Target::LocalElement(slot, length, index) => {
                                see(index);
                                written[*slot..slot + length].fill(true);
                            }
                            Target::SharedElement(_, _, index) => see(index),
                            Target::Shared(_) => {}
                        }
                    }
                }
            }
            match &block.exit {
                Exit::If(expr, ..) => see(expr),
                Exit::Return(results) => results.iter().for_each(&mut see),
                Exit::Goto(_) => {}
            }
        }
        (written, read)
    }
}
