//! `main`: how threads come to be, and the bodies of all of them.

use super::super::{Written, refuse};
use super::Writer;
use super::body::Layout;
use allways_model::program::{Count, Op, ProcedureId, Program, Template, TemplateId};
use std::collections::HashSet;

impl Writer<'_> {
    /// The statements of `main`.
    pub fn main(&mut self, inside: &[bool]) -> Written<String> {
        self.places_to_start()?;
        let Program { templates, procedures, .. } = self.program;
        // The only thread at the start, if nothing else needs to be started.
        let alone =
            templates.iter().position(|template| template.count == Count::Fixed(1)).map(TemplateId).filter(
                |&first| {
                    let other = |(other, template): (TemplateId, &Template)| {
                        other == first || template.count == Count::Fixed(0)
                    };
                    TemplateId::each(templates).all(other) && self.program.never.is_empty()
                },
            );
        let laid_out = self.laid_out();
        let mut layout = Layout::new(self, inside, true);
        match alone {
            Some(first) => layout.procedure(templates[first].body)?,
            None => layout.start_all()?,
        }
        for (number, template) in laid_out {
            if Some(number) != alone {
                layout.start_of(number);
                layout.procedure(template.body)?;
            } else if layout.start_of(number) {
                let entry = layout.target(procedures[template.body].entry);
                layout.line(format!("goto {entry};"));
            }
        }
        Ok(layout.text())
    }

    /// Finds out where threads that are started later start: where they get their initial values, if these matter.
    fn places_to_start(&mut self) -> Written<()> {
        let templates = &self.program.templates;
        let edges = self.program.locations.iter().flat_map(|location| &location.edges);
        let spawned: HashSet<TemplateId> = edges
            .filter_map(|edge| if let Op::Spawn(template, _) = edge.op { Some(template) } else { None })
            .collect();
        for (number, template) in TemplateId::each(templates) {
            if spawned.contains(&number) && !self.live[number.index()].is_empty() {
                if self.waits_at_once(number) {
                    let reason = "a thread is started that waits at once, but must first be given its values";
                    return refuse(template.span, reason);
                }
                let start = self.label_names.claim(&format!("start_{}", template.name), "l");
                self.starts[number.index()] = Some(start);
            }
            let alone =
                templates.len() == 1 && template.count == Count::Fixed(1) && self.program.never.is_empty();
            let mixed = self.program.procedures[template.body].locals.iter().find(|local| local.mixed);
            if let Some(mixed) = mixed.filter(|_| !alone) {
                let reason = format!(
                    "`{}` is written by other threads, which in a Boolean program happens only among threads that were \
                     started by each other",
                    mixed.name.trim_start_matches('#')
                );
                return refuse(mixed.span, reason);
            }
        }
        Ok(())
    }

    fn waits_at_once(&self, template: TemplateId) -> bool {
        let body = &self.program.procedures[self.program.templates[template].body];
        self.program.waits_for(body.entry).is_some()
    }
}

impl Layout<'_, '_> {
    /// Starts the threads that are there from the start, and ends.
    fn start_all(&mut self) -> Written<()> {
        let program = self.writer.program;
        let monitor = (!program.never.is_empty()).then(|| self.writer.label_names.claim("never", "l"));
        if let Some(monitor) = &monitor {
            self.line(format!("start_thread goto {monitor};"));
        }
        // Those that wait come first, lest they miss a broadcast.
        for waiting in [true, false] {
            for (template, Template { count, .. }) in TemplateId::each(&program.templates) {
                if self.writer.waits_at_once(template) != waiting {
                    continue;
                }
                match *count {
                    Count::Fixed(count) => (0..count).for_each(|_| self.start(template)),
                    Count::Any => {
                        let name = &program.templates[template].name;
                        let mut claim =
                            |what: &str| self.writer.label_names.claim(&format!("{what}_{name}"), "l");
                        let (any, more, enough) = (claim("any"), claim("more"), claim("enough"));
                        self.label(any.clone());
                        self.line(format!("goto {more}, {enough};"));
                        self.label(more);
                        self.start(template);
                        self.line(format!("goto {any};"));
                        self.label(enough);
                    }
                }
            }
        }
        self.line("end_thread;");
        if let Some(monitor) = monitor {
            // It may also not look: then whether others are stuck does not depend on it.
            let mut claim = |what: &str| self.writer.label_names.claim(what, "l");
            let (look, away) = (claim("look"), claim("look_away"));
            self.label(monitor);
            self.line(format!("goto {look}, {away};"));
            self.label(look);
            for never in &program.never {
                // It speaks of shared variables, so any procedure will do.
                let never = self.writer.expression(&never.expr, ProcedureId(0), never.span)?;
                self.line(format!("assert(!{never});"));
            }
            self.label(away);
            self.line("end_thread;");
        }
        Ok(())
    }

    /// Starts a thread. The variables of its body have their initial values here; those that may have any get a new one.
    fn start(&mut self, template: TemplateId) {
        let program = self.writer.program;
        let body = program.templates[template].body;
        let initial: Vec<_> = program.procedures[body].initial().collect();
        let any: Vec<_> = self.writer.live[template.index()]
            .iter()
            .copied()
            .filter(|&slot| initial[slot].is_none())
            .collect();
        if !any.is_empty() {
            let names: Vec<&str> =
                any.iter().map(|&slot| self.writer.locals[body.index()][slot].as_str()).collect();
            let line = format!("{} := {};", names.join(", "), vec!["*"; any.len()].join(", "));
            self.line(line);
        }
        let entry = self.target(program.procedures[body].entry);
        self.line(format!("start_thread goto {entry};"));
    }

    /// Where threads of a template are started, if that is not the entry of the body: they get their initial values, and
    /// the body should follow.
    fn start_of(&mut self, template: TemplateId) -> bool {
        let Some(start) = self.writer.starts[template.index()].clone() else { return false };
        let program = self.writer.program;
        let body = program.templates[template].body;
        let initial: Vec<_> = program.procedures[body].initial().collect();
        let live = &self.writer.live[template.index()];
        let value = |slot: usize| match self.writer.arguments[template.index()].get(slot) {
            Some(argument) => argument.clone(),
            None => initial[slot].map_or("*".to_string(), |value| i64::from(value != 0).to_string()),
        };
        let names: Vec<&str> =
            live.iter().map(|&slot| self.writer.locals[body.index()][slot].as_str()).collect();
        let values: Vec<String> = live.iter().map(|&slot| value(slot)).collect();
        let line = format!("{} := {};", names.join(", "), values.join(", "));
        self.label(start);
        self.line(line);
        true
    }
}
