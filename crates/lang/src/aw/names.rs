//! The names of a program outside its bodies: one for each thing, whatever it is.

use super::ast::{Item, Module, Name, RoutineKind};
use allways_model::program::{Span, Value};
use std::collections::HashMap;

/// Booleans and numbers do not mix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    Bool,
    Number,
}

impl Sort {
    /// With its article.
    pub fn words(self) -> &'static str {
        match self {
            Sort::Bool => "a Boolean",
            Sort::Number => "a number",
        }
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// Something whose declaration has not been understood, yet or at all.
    Unclear,
    /// A shared variable, by its place in the list of these.
    Shared(usize),
    /// A lock, by its place in the list of shared variables.
    Lock(usize),
    Constant(Value, Sort),
    /// A type, by its place in the list of enumerations.
    Enumeration(usize),
    /// A type, by its place in the list of structures.
    Structure(usize),
    Event(usize),
    /// A channel, by its place in the list of these.
    Channel(usize),
    /// A procedure, by its number.
    Procedure(usize),
    /// A thread, by the number of its procedure.
    Thread(usize),
    /// A task, by the number of its procedure.
    Task(usize),
}

impl Meaning {
    /// What it is, with an article.
    pub fn words(self) -> &'static str {
        match self {
            Meaning::Unclear => "something",
            Meaning::Shared(_) => "a variable",
            Meaning::Lock(_) => "a lock",
            Meaning::Constant(..) => "a constant",
            Meaning::Enumeration(_) | Meaning::Structure(_) => "a type",
            Meaning::Event(_) => "an event",
            Meaning::Channel(_) => "a channel",
            Meaning::Procedure(_) => "a procedure",
            Meaning::Thread(_) => "a thread",
            Meaning::Task(_) => "a task",
        }
    }
}

/// A name and its meaning.
pub(super) struct Global<'a> {
    pub name: Name<'a>,
    pub meaning: Meaning,
    /// From which byte on it may be used.
    pub ready: u32,
    /// Whether somebody reads it, calls it, or waits for it.
    pub used: bool,
}

/// All of them.
#[derive(Default)]
pub(super) struct Globals<'a> {
    numbers: HashMap<&'a str, usize>,
    all: Vec<Global<'a>>,
}

impl<'a> Globals<'a> {
    /// Collects the names of a text. Gives also those that were there before, with the place of the first.
    pub fn collect(module: &Module<'a>) -> (Globals<'a>, Vec<(Name<'a>, Span)>) {
        let mut globals = Globals::default();
        let mut twice = Vec::new();
        let mut routines = 0;
        for item in &module.items {
            let mut add = |name: Name<'a>, meaning, ready| {
                if let Err(first) = globals.add(Global { name, meaning, ready, used: false }) {
                    twice.push((name, first));
                }
            };
            match item {
                Item::Shared(_, declarators) => declarators
                    .iter()
                    .for_each(|declarator| add(declarator.name, Meaning::Unclear, declarator.span.end)),
                Item::Constant(name, value) => add(*name, Meaning::Unclear, value.span.end),
                Item::Enumeration(name, values) => {
                    add(*name, Meaning::Unclear, name.span.end);
                    values.iter().for_each(|value| add(*value, Meaning::Unclear, value.span.end));
                }
                Item::Structure(structure) => add(structure.name, Meaning::Unclear, structure.span.end),
                Item::Lock(declarator) => add(declarator.name, Meaning::Unclear, declarator.span.end),
                Item::Event(name) => add(*name, Meaning::Unclear, name.span.end),
                Item::Channel(channel) => add(channel.name, Meaning::Unclear, channel.span.end),
                Item::Routine(routine) => {
                    let meaning = match routine.kind {
                        RoutineKind::Procedure => Meaning::Procedure(routines),
                        RoutineKind::Thread(_) => Meaning::Thread(routines),
                        RoutineKind::Task | RoutineKind::Main => Meaning::Task(routines),
                    };
                    add(routine.name, meaning, 0);
                    routines += 1;
                }
                Item::Never(..) | Item::Eventually(_) | Item::Predicate(_) => {}
            }
        }
        (globals, twice)
    }

    /// Adds a name, or says where it was declared before.
    fn add(&mut self, global: Global<'a>) -> Result<(), Span> {
        if let Some(&first) = self.numbers.get(global.name.text) {
            return Err(self.all[first].name.span);
        }
        self.numbers.insert(global.name.text, self.all.len());
        self.all.push(global);
        Ok(())
    }

    pub fn get(&self, name: &str) -> Option<&Global<'a>> {
        self.numbers.get(name).map(|&number| &self.all[number])
    }

    /// Marks a name as used.
    pub fn touch(&mut self, name: &str) {
        if let Some(&number) = self.numbers.get(name) {
            self.all[number].used = true;
        }
    }

    /// Settles what a name means; not if this is its second declaration.
    pub fn settle(&mut self, name: Name<'a>, meaning: Meaning) {
        if let Some(&number) =
            self.numbers.get(name.text).filter(|&&number| self.all[number].name.span == name.span)
        {
            self.all[number].meaning = meaning;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Global<'a>> {
        self.all.iter()
    }
}
