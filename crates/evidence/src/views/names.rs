//! The variables that rows of views speak of: as in the program, the local ones of the thread at position p of a view with `@p`.

use allways_model::program::expression::OPEN;
use allways_model::program::{Program, TemplateId, Type, Variable, slot_name};
use allways_smt::Term;
use std::collections::HashSet;

/// The hidden local variable with a thread's own number, from 1 on, which a lock remembers.
pub const ID: &str = "#id";

/// The hidden local variable for `self`.
pub const SELF: &str = "#self";

/// The name of a local variable of the thread at a position of a view.
pub fn local(name: &str, position: usize) -> String {
    format!("{name}@{position}")
}

/// The variables of a program and where its threads can be: all that rows of views speak of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Names {
    /// The shared variables, slot by slot: name, type and initial value, if it is not any of the type.
    pub shared: Vec<(String, Type, Option<i64>)>,
    /// The local variables of each template, slot by slot.
    pub locals: Vec<Vec<(String, Type, Option<i64>)>>,
    /// The hidden local variables of each template, which never change.
    pub hidden: Vec<Vec<&'static str>>,
    /// The template that runs a location; none for locations of other procedures.
    pub templates: Vec<Option<TemplateId>>,
}

impl Names {
    /// The names of a program.
    pub fn new(program: &Program) -> Names {
        let locks = program.shared.iter().any(|variable| variable.ty == Type::Lock);
        let bodies = program.templates.iter().map(|template| &program.procedures[template.body]);
        let hidden = program.templates.iter().map(|template| {
            [locks.then_some(ID), template.uses_self.then_some(SELF)].into_iter().flatten().collect()
        });
        let runs = |procedure| {
            program.templates.iter().position(|template| template.body == procedure).map(TemplateId)
        };
        Names {
            shared: named(&program.shared),
            locals: bodies.map(|body| named(&body.locals)).collect(),
            hidden: hidden.collect(),
            templates: program.locations.iter().map(|location| runs(location.procedure)).collect(),
        }
    }
}

/// The slots of variables. Names that come up twice get a stroke.
fn named(variables: &[Variable]) -> Vec<(String, Type, Option<i64>)> {
    let mut seen = HashSet::new();
    let slots = variables
        .iter()
        .flat_map(|variable| (variable.slot..).zip(&variable.initial).map(move |slot| (variable.ty, slot)));
    let name = |(ty, (slot, initial)): (Type, (usize, &Option<i64>))| {
        let mut name = slot_name(variables, slot);
        while !seen.insert(name.clone()) {
            name.push('\'');
        }
        // What has no value yet may have any.
        (name, ty, initial.filter(|&value| value != OPEN))
    };
    slots.map(name).collect()
}

/// That a value is of a type.
pub fn typed(ty: Type, value: &Term) -> Term {
    match ty {
        Type::Int => Term::truth(true),
        Type::Lock => Term::number(0).at_most(value),
        Type::Bool | Type::Range(..) => {
            let (low, high) = ty.bounds().unwrap_or_default();
            Term::and([Term::number(low).at_most(value), value.at_most(&Term::number(high))])
        }
    }
}
