//! `self` in procedures: the number of the thread that has called them, which must have one.

use super::super::components::components;
use super::super::suggest::quote;
use super::Lowering;
use allways_model::program::{Count, TemplateId};

/// Why threads of which there are any number have no numbers.
pub(super) const ANY_NUMBER: &str = "there is no number of a thread among any number of them";
/// Why tasks have no numbers.
pub(super) const TASKS: &str = "tasks have no numbers";

impl Lowering<'_, '_> {
    /// Finds the threads that ask for their numbers, in their own bodies or in procedures that they call. A procedure that
    /// asks is called by threads that have one.
    pub(super) fn check_callers(&mut self) {
        let calls = |summary: &super::Summary| summary.calls.iter().map(|call| call.callee).collect();
        let graph: Vec<Vec<usize>> = self.summaries.iter().map(calls).collect();
        // A component comes after all those that it leads to; in one of them, if one asks, all do.
        let component = components(&graph);
        let mut order: Vec<usize> = (0..graph.len()).collect();
        order.sort_by_key(|&procedure| component[procedure]);
        let mut asks: Vec<Option<usize>> = vec![None; component.iter().max().map_or(0, |last| last + 1)];
        for &procedure in &order {
            let own = self.summaries[procedure].asks.map(|_| procedure);
            let called = || graph[procedure].iter().find_map(|&callee| asks[component[callee]]);
            let found = asks[component[procedure]].or(own).or_else(called);
            asks[component[procedure]] = found;
        }
        for number in (0..self.program.templates.len()).map(TemplateId) {
            let template = &self.program.templates[number];
            let Some(asking) = asks[component[template.body.index()]] else { continue };
            let reason = match template.count {
                _ if self.asynchronous => Some(TASKS),
                Count::Any => Some(ANY_NUMBER),
                Count::Fixed(_) => None,
            };
            let (body, name) = (template.body.index(), template.name.clone());
            self.program.templates[number].uses_self = true;
            if let (Some(reason), Some(span)) = (reason, self.summaries[asking].asks)
                && asking != body
            {
                let message = format!(
                    "expected an expression, found `self`, which has no value when {} calls this",
                    quote(&name)
                );
                self.error(span, message, Some(reason.to_string()));
            }
        }
    }
}
