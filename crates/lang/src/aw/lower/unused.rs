//! Warnings: what is never used, and what is never reached.

use super::super::names::Meaning;
use super::super::suggest::quote;
use super::Lowering;
use super::body::Body;
use super::flow::Point;
use allways_model::program::Count;

impl Lowering<'_, '_> {
    /// Warns of the first of each run of statements that are never reached.
    pub(super) fn warn_unreachable(&mut self, body: &Body<'_>, entry: Point) {
        let reachable = body.flow.reachable(entry);
        let mut before = true;
        for &(point, span) in &body.starts {
            if before && !reachable[point] {
                self.warn(span, "this statement is never reached".to_string(), None);
            }
            before = reachable[point];
        }
    }

    /// Warns of local variables that nobody reads.
    pub(super) fn warn_unread(&mut self, body: &Body<'_>) {
        for (name, _) in body.names.iter().zip(&body.read).filter(|&(_, read)| !read) {
            if !deliberate(name.text) {
                let help = Some("a name that starts with `_` is not warned about".to_string());
                self.warn(name.span, format!("{} is never read", quote(name.text)), help);
            }
        }
    }

    /// Warns of names outside bodies, and of labels, that nobody uses.
    pub(super) fn warn_unused(&mut self) {
        let mut warnings = Vec::new();
        for global in self.globals.iter().filter(|global| !global.used && !deliberate(global.name.text)) {
            let name = quote(global.name.text);
            let message = match global.meaning {
                Meaning::Shared(_) => format!("{name} is never read"),
                Meaning::Lock(_) | Meaning::Constant(..) | Meaning::Event(_) => {
                    format!("{name} is never used")
                }
                Meaning::Procedure(_) => format!("{name} is never called"),
                Meaning::Task(procedure)
                    if self.heads[procedure]
                        .template
                        .is_some_and(|template| self.program.templates[template].vanishes) =>
                {
                    format!("{name} is never posted")
                }
                Meaning::Thread(procedure) => {
                    let template = self.heads[procedure].template;
                    let template = template.map(|template| &self.program.templates[template]);
                    match template
                        .is_some_and(|template| template.count == Count::Fixed(0) && !template.spawned)
                    {
                        true => format!("there are no threads {name}, and none is spawned"),
                        false => continue,
                    }
                }
                Meaning::Task(_) | Meaning::Unclear => continue,
            };
            warnings.push((global.name.span, message));
        }
        for label in self.labels.iter().filter(|label| !label.used && !deliberate(label.name.text)) {
            warnings.push((label.name.span, format!("the label {} is never used", quote(label.name.text))));
        }
        for (span, message) in warnings {
            self.warn(span, message, None);
        }
    }
}

/// Whether a name says that it need not be used.
fn deliberate(name: &str) -> bool {
    name.starts_with('_')
}
