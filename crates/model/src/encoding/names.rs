//! What shared states and symbols are called, in evidence and in lists of states.
//!
//! A shared state is called by its values, `turn=1;want[0]=0`, and by its mode if that is not the normal one, after `!`.
//! Variables that do not matter are left out. A symbol is called by its procedure and line, `p:12`, with the column if
//! several places of the procedure are on that line, followed by the local variables that matter, `p:12;l=1`. Names are
//! read back: they are what evidence is written in.

use super::table::{Cell, Key, Mode, Point};
use super::{Encoded, OPEN};
use crate::program::{EventId, LocationId, Program, TemplateId, Value, slot_name};
use std::collections::HashMap;
use std::fmt::Write;

/// The names of locations and calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Names {
    locations: Vec<String>,
    found: HashMap<String, LocationId>,
}

impl Names {
    /// Names for all locations: unique, and readable.
    pub fn new(program: &Program) -> Names {
        let plain = |location: &crate::program::Location| {
            format!("{}:{}", clean(&program.procedures[location.procedure].name), location.span.line)
        };
        let mut on_line: HashMap<String, usize> = HashMap::new();
        for location in &program.locations {
            *on_line.entry(plain(location)).or_default() += 1;
        }
        let mut names = Names { locations: Vec::new(), found: HashMap::new() };
        for (number, location) in LocationId::each(&program.locations) {
            let mut name = plain(location);
            if on_line[&name] > 1 {
                let _ = write!(name, ":{}", location.span.column);
            }
            // What is left are places that the front end made up beside the one in the text.
            let mut unique = name.clone();
            let mut copy = 1;
            while names.found.contains_key(&unique) {
                copy += 1;
                unique = format!("{name}'{copy}");
            }
            names.found.insert(unique.clone(), number);
            names.locations.push(unique);
        }
        names
    }

    /// The name of a location.
    pub fn location(&self, location: LocationId) -> &str {
        &self.locations[location.index()]
    }
}

/// A name without what separates names.
fn clean(name: &str) -> String {
    name.chars().map(|c| if "|,.+*;=!:'/ ".contains(c) { '_' } else { c }).collect()
}

impl Encoded {
    /// The names of the values of a shared state, in order; `None` for one that is always 0.
    pub(super) fn value_names(&self) -> Vec<Option<String>> {
        let program = self.program();
        let shared = (0..program.shared_slots())
            .map(|slot| self.reduced.shared[slot].then(|| clean(&slot_name(&program.shared, slot))));
        let mut names: Vec<_> = shared.collect();
        names.extend((0..self.watched.len()).map(|counter| Some(format!("at#{counter}"))));
        names.extend(program.events.iter().map(|event| Some(format!("waiting#{}", clean(event)))));
        for (template, declared) in program.templates.iter().enumerate() {
            let counted = self.pool[template] > 0;
            names.push(counted.then(|| format!("started#{}", clean(&declared.name))));
        }
        for role in self.roles.iter().enumerate().filter(|_| self.mixed) {
            let body = &program.procedures[program.templates[role.1.template].body];
            names.extend((0..self.most_locals()).map(|slot| {
                let mixed = body
                    .locals
                    .iter()
                    .find(|local| local.mixed && (local.slot..local.slot + local.slots()).contains(&slot));
                mixed.map(|_| format!("{}#{}", clean(&slot_name(&body.locals, slot)), role.0))
            }));
            names.push(Some(format!("started#{}", role.0)));
        }
        names
    }

    pub(super) fn name_key(&self, key: &Key) -> String {
        let mut text = String::new();
        for (slot, (name, value)) in self.value_names().iter().zip(&key.values).enumerate() {
            if let Some(name) = name {
                let _ = write!(text, "{}{name}=", if text.is_empty() { "" } else { ";" });
                let _ = match self.is_open(slot, *value) {
                    true => write!(text, "any"),
                    false => write!(text, "{value}"),
                };
            }
        }
        let mode = match &key.mode {
            Mode::Normal => String::new(),
            Mode::Results(results) => format!("!results:{}", joined(results)),
            Mode::Starting(template, cell, mixed) => {
                let name = clean(&self.program.templates[*template].name);
                format!("!starting:{name}/{}/{}", self.name_cell(cell), joined(mixed))
            }
            Mode::Waking(event, left, aside) => format!("!waking:{event}:{left}:{aside}"),
            Mode::Settling(aside) => format!("!settling:{aside}"),
            Mode::Within => "!within".to_string(),
            Mode::Giving(location, edge, values) => {
                format!("!giving:{}/{edge}/{}", self.names.location(*location), joined(values))
            }
            Mode::Violated => "!violated".to_string(),
            Mode::Exhausted => "!exhausted".to_string(),
        };
        text += &mode;
        if text.is_empty() { "()".to_string() } else { text }
    }

    pub(super) fn read_key(&self, name: &str) -> Option<Key> {
        let (values, mode) = name.split_once('!').map_or((name, ""), |(values, mode)| (values, mode));
        match mode {
            "violated" => return values.is_empty().then(Key::violated),
            "exhausted" => return values.is_empty().then(Key::exhausted),
            _ => {}
        }
        let mut parts = values.split(';').filter(|part| !part.is_empty() && *part != "()");
        let mut read = Vec::new();
        for (slot, name) in self.value_names().into_iter().enumerate() {
            read.push(match name {
                None => 0,
                Some(name) => {
                    let part = parts.next()?;
                    match part.strip_prefix(&*name).is_some_and(|rest| rest == "=any") {
                        true => Some(OPEN).filter(|&open| self.is_open(slot, open))?,
                        false => value_after(part, &name).filter(|&value| !self.is_open(slot, value))?,
                    }
                }
            });
        }
        if parts.next().is_some() {
            return None;
        }
        let mode = match mode.split_once(':') {
            None if mode.is_empty() => Mode::Normal,
            None if mode == "within" => Mode::Within,
            Some(("results", results)) => Mode::Results(split(results)?),
            Some(("waking", rest)) => {
                let (event, left) = rest.split_once(':')?;
                let event =
                    event.parse().ok().filter(|event: &EventId| event.index() < self.program.events.len())?;
                let (left, aside) = left.split_once(':')?;
                Mode::Waking(event, left.parse().ok()?, aside.parse().ok()?)
            }
            Some(("settling", aside)) => Mode::Settling(aside.parse().ok()?),
            Some(("giving", rest)) => {
                let mut parts = rest.split('/');
                let location = *self.names.found.get(parts.next()?)?;
                let (edge, values) = (parts.next()?.parse().ok()?, split(parts.next()?)?);
                Some(Mode::Giving(location, edge, values.clone()))
                    .filter(|_| parts.next().is_none() && self.is_giving(location, edge, &values))?
            }
            Some(("starting", rest)) => {
                let mut parts = rest.split('/');
                let template = parts.next()?;
                let template = self.program.templates.iter().position(|t| clean(&t.name) == template)?;
                let cell = self.read_cell(parts.next()?)?;
                Mode::Starting(TemplateId(template), cell, split(parts.next()?)?)
            }
            _ => return None,
        };
        Some(Key { mode, values: read.into() })
    }

    pub(super) fn name_cell(&self, cell: &Cell) -> String {
        let (mut text, location) = match cell.point {
            Point::Idle => return "idle".to_string(),
            Point::Bottom => return "bottom".to_string(),
            Point::At(location) => (self.names.location(location).to_string(), location),
            Point::Returning(location, edge) => {
                (format!("{}/{edge}", self.names.location(location)), location)
            }
            Point::Inside(location) => (format!("{}/inside", self.names.location(location)), location),
            Point::Given(location) => (format!("{}/given", self.names.location(location)), location),
        };
        let procedure = self.program.procedure_of(location);
        let live = self.live_at(cell.point);
        for (slot, value) in cell.locals.iter().enumerate().filter(|(slot, _)| live[*slot]) {
            let _ = write!(text, ";{}={value}", clean(&slot_name(&procedure.locals, slot)));
        }
        text
    }

    pub(super) fn read_cell(&self, name: &str) -> Option<Cell> {
        match name {
            "idle" => return Some(Cell::idle()),
            "bottom" => return Some(Cell::bottom()),
            _ => {}
        }
        let mut parts = name.split(';');
        let place = parts.next()?;
        let point = match place.split_once('/') {
            None => Point::At(*self.names.found.get(place)?),
            Some((place, "inside")) => Point::Inside(*self.names.found.get(place)?),
            Some((place, "given")) => Point::Given(*self.names.found.get(place)?),
            Some((place, edge)) => {
                let (location, edge) = (*self.names.found.get(place)?, edge.parse().ok()?);
                self.program.locations[location].edges.get(edge)?;
                Point::Returning(location, edge)
            }
        };
        let (Point::At(location)
        | Point::Given(location)
        | Point::Inside(location)
        | Point::Returning(location, _)) = point
        else {
            return None;
        };
        let procedure = self.program.procedure_of(location);
        let live = self.live_at(point);
        let mut locals = vec![0; procedure.slots()];
        for slot in (0..procedure.slots()).filter(|&slot| live[slot]) {
            locals[slot] = value_after(parts.next()?, &clean(&slot_name(&procedure.locals, slot)))?;
        }
        parts.next().is_none().then(|| Cell { point, locals: locals.into() })
    }
}

/// The value in `name=value`.
fn value_after(text: &str, name: &str) -> Option<Value> {
    text.strip_prefix(name)?.strip_prefix('=')?.parse().ok()
}

fn joined(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(":")
}

fn split(text: &str) -> Option<Box<[Value]>> {
    let values = text.split(':').filter(|part| !part.is_empty());
    values.map(|value| value.parse().ok()).collect()
}
