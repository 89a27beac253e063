//! Threads that are started at a location, with a copy of the local variables.

use super::super::{Written, refuse};
use super::Writer;
use allways_model::program::{LocationId, Op, Slot, Type};
use std::collections::HashMap;

/// A kind of thread that is started at a location.
#[derive(Clone)]
pub(super) struct Started {
    pub name: String,
    /// The local variables that are still needed, and for each the shared one that carries its value, with its type.
    pub passed: Vec<(Slot, String, Type)>,
}

impl Writer<'_> {
    /// Finds the locations at which threads are started, and what is handed over to them.
    pub fn find_started(&mut self) -> Written<()> {
        let program = self.program;
        let mut liveness = HashMap::new();
        let starts: Vec<LocationId> = self
            .edges()
            .filter_map(|op| if let Op::Fork(start) = op { Some(*start) } else { None })
            .collect();
        for start in starts {
            if self.started.contains_key(&start) {
                continue;
            }
            let procedure = program.locations[start].procedure;
            let live = liveness.entry(procedure).or_insert_with(|| self.liveness(procedure)).at(start);
            let name = self.names.claim(&format!("started_{}", self.labels[start.index()]), "t");
            if !live.is_empty() && self.waits(start) {
                let reason = "a thread is started that waits at once, but must first be given its values";
                return refuse(program.locations[start].span, reason);
            }
            let locals = self.local_names(procedure);
            let mut passed = Vec::new();
            for slot in live {
                let wanted: String = locals.slots[slot]
                    .chars()
                    .filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
                    .collect();
                passed.push((slot, self.names.claim(&format!("passed_{wanted}"), "v"), locals.types[slot]));
            }
            if !passed.is_empty() && self.passing.is_none() {
                self.passing = Some(self.names.claim("passing", "v"));
            }
            self.started.insert(start, Started { name, passed });
        }
        Ok(())
    }
}
