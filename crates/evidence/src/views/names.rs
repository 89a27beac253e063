//! The variables that rows of views speak of: as in the program, the local ones of the thread at position p of a view with `@p`.

use allways_model::program::expression::OPEN;
use allways_model::program::{Count, Program, TemplateId, Type, Variable, slot_name};
use allways_smt::Term;
use std::collections::HashSet;

/// The hidden local variable with a thread's own number, from 1 on, which a lock remembers.
pub const ID: &str = "#id";

/// The hidden local variable for `self`.
pub const SELF: &str = "#self";

/// What the hidden shared variable is called that says whether a thread of a template was started; its number follows.
pub const STARTED: &str = "#started";

/// The name of a local variable of the thread at a position of a view.
pub fn local(name: &str, position: usize) -> String {
    format!("{name}@{position}")
}

/// A variable: name, type and initial value, if it is not any of the type.
pub type Named = (String, Type, Option<i64>);

/// The variables of a program and where its threads can be: all that rows of views speak of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Names {
    /// The shared variables, slot by slot.
    pub shared: Vec<Named>,
    /// The local variables of each template, slot by slot.
    pub locals: Vec<Vec<Named>>,
    /// The hidden local variables of each template, which never change.
    pub hidden: Vec<Vec<&'static str>>,
    /// The template that runs a location; none for locations of other procedures.
    pub templates: Vec<Option<TemplateId>>,
    /// The shared slots, and the local ones of each template, of arrays that are too long to have formulas: only their types are
    /// known.
    pub long: (Vec<bool>, Vec<Vec<bool>>),
    /// Of a template whose threads are all started later, where among the shared variables it stands whether one was.
    pub started: Vec<Option<usize>>,
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
        let mut shared = named(&program.shared);
        let mut started = vec![None; program.templates.len()];
        for (number, template) in program.templates.iter().enumerate() {
            if template.spawned && template.count == Count::Fixed(0) {
                started[number] = Some(shared.len());
                shared.push((format!("{STARTED}{number}"), Type::Bool, Some(0)));
            }
        }
        // Arguments are any values that fit.
        let mut locals: Vec<Vec<_>> = bodies.clone().map(|body| named(&body.locals)).collect();
        for ((template, body), locals) in program.templates.iter().zip(bodies).zip(&mut locals) {
            let passed = body.locals[..body.parameters].iter().map(|parameter| parameter.initial.len());
            if template.spawned {
                locals.iter_mut().take(passed.sum()).for_each(|parameter| parameter.2 = None);
            }
        }
        let bodies = program.templates.iter().map(|template| &program.procedures[template.body]);
        Names {
            long: (long(&program.shared), bodies.map(|body| long(&body.locals)).collect()),
            shared,
            started,
            locals,
            hidden: hidden.collect(),
            templates: program.locations.iter().map(|location| runs(location.procedure)).collect(),
        }
    }
}

/// The longest array whose elements are told apart.
const LONGEST: usize = 64;

/// For each slot, whether it is part of a longer array.
fn long(variables: &[Variable]) -> Vec<bool> {
    let parts = variables.iter().map(|variable| variable.initial.len());
    parts.flat_map(|length| std::iter::repeat_n(length > LONGEST, length)).collect()
}

/// The slots of variables. Names that come up twice get a stroke.
fn named(variables: &[Variable]) -> Vec<Named> {
    let mut seen = HashSet::new();
    let slots = variables
        .iter()
        .flat_map(|variable| (variable.slot..).zip(&variable.initial).map(move |slot| (variable.ty, slot)));
    let name = |(ty, (slot, initial)): (Type, (usize, &Option<i64>))| {
        let mut name: String = slot_name(variables, slot)
            .chars()
            .map(|letter| if matches!(letter, '@' | '?' | '|' | '\\') { '_' } else { letter })
            .collect();
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
