//! Warnings: what is never used, and what is never reached.

use super::super::names::Meaning;
use super::super::suggest::quote;
use super::Lowering;
use super::body::Body;
use super::flow::Point;
use allways_model::program::Count;

impl Lowering<'_, '_> {
    /// Notes the first of each run of statements that are never reached.
    pub(super) fn note_unreachable(&mut self, body: &Body<'_>, entry: Point) {
        let reachable = body.flow.reachable(entry);
        let mut before = true;
        for &(point, span) in &body.starts {
            if before && !reachable[point] {
                self.warnings.push((span, "this statement is never reached".to_string()));
            }
            before = reachable[point];
        }
    }

    /// Notes local variables that nobody reads.
    pub(super) fn note_unread(&mut self, body: &Body<'_>) {
        for (name, _) in body.names.iter().zip(&body.read).filter(|&(_, read)| !read) {
            if !deliberate(name.text) {
                self.warnings.push((name.span, format!("{} is never read", quote(name.text))));
            }
        }
    }

    /// Notes names outside bodies, and labels, that nobody uses.
    fn note_unused(&mut self) {
        for global in self.globals.iter().filter(|global| !global.used && !deliberate(global.name.text)) {
            let name = quote(global.name.text);
            let message = match global.meaning {
                Meaning::Shared(_) => format!("{name} is never read"),
                Meaning::Lock(_)
                | Meaning::Constant(..)
                | Meaning::Enumeration(_)
                | Meaning::Structure(_)
                | Meaning::Event(_)
                | Meaning::Channel(_) => format!("{name} is never used"),
                Meaning::Procedure(_) => format!("{name} is never called"),
                Meaning::Thread(procedure) if self.is_absent(procedure) => {
                    format!("there are no threads {name}, and none is spawned")
                }
                Meaning::Task(procedure) if self.is_task(procedure) => format!("{name} is never posted"),
                Meaning::Thread(_) | Meaning::Task(_) | Meaning::Unclear => continue,
            };
            self.warnings.push((global.name.span, message));
        }
        for label in self.labels.iter().filter(|label| !label.used && !deliberate(label.name.text)) {
            self.warnings
                .push((label.name.span, format!("the label {} is never used", quote(label.name.text))));
        }
    }

    /// Whether no thread ever runs this body.
    fn is_absent(&self, procedure: usize) -> bool {
        let template = self.heads[procedure].template.map(|template| &self.program.templates[template]);
        template.is_some_and(|template| template.count == Count::Fixed(0) && !template.spawned)
    }

    /// Gives the warnings about what is of no use. Where there are errors they would mislead.
    pub(super) fn warn_unused(&mut self) {
        self.note_unused();
        let mut warnings = std::mem::take(&mut self.warnings);
        warnings.sort_by_key(|(span, _)| span.start);
        warnings.dedup();
        for (span, message) in warnings {
            let named = message.ends_with("is never read");
            let help = named.then(|| "a name that starts with `_` is not warned about".to_string());
            self.warn(span, message, help);
        }
    }
}

/// Whether a name says that it need not be used.
fn deliberate(name: &str) -> bool {
    name.starts_with('_')
}
