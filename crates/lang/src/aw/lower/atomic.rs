//! What may be called from inside `atomic`, and what may be spawned.

use super::super::components::components;
use super::super::suggest::quote;
use super::Lowering;

impl Lowering<'_, '_> {
    /// An `atomic` block is one step, so it calls nothing that is recursive, and nothing that lets others run.
    pub(super) fn check_atomic(&mut self) {
        let calls = |summary: &super::Summary| summary.calls.iter().map(|call| call.callee).collect();
        let graph: Vec<Vec<usize>> = self.summaries.iter().map(calls).collect();
        let component = components(&graph);
        let mut sizes = vec![0; graph.len()];
        component.iter().for_each(|&number| sizes[number] += 1);
        let recursive =
            |procedure: usize| sizes[component[procedure]] > 1 || graph[procedure].contains(&procedure);
        // Those that are called come first.
        let mut order: Vec<usize> = (0..graph.len()).collect();
        order.sort_by_key(|&procedure| component[procedure]);
        let mut reasons: Vec<Option<String>> = vec![None; graph.len()];
        for &procedure in &order {
            let own = self.summaries[procedure].unfit.map(|word| format!("it contains `{word}`"));
            let called = || graph[procedure].iter().find(|&&callee| reasons[callee].is_some());
            reasons[procedure] = match (own, recursive(procedure)) {
                (Some(own), _) => Some(own),
                (None, true) => Some("it is recursive".to_string()),
                (None, false) => called().map(|&callee| self.inherited(callee, reasons[callee].as_deref())),
            };
        }
        for summary in std::mem::take(&mut self.summaries) {
            for call in summary.calls.iter().filter(|call| call.atomic) {
                if let Some(reason) = &reasons[call.callee] {
                    let name = quote(&self.program.procedures[call.callee].name);
                    let help = Some("an `atomic` block is one step of one thread".to_string());
                    self.error(call.name, format!("{name} cannot be called inside `atomic`: {reason}"), help);
                }
            }
        }
    }

    /// The reason of a procedure that calls another. The chain of calls may be long; its end says why.
    fn inherited(&self, callee: usize, reason: Option<&str>) -> String {
        match reason {
            Some(reason) if reason.starts_with("it calls") => reason.to_string(),
            Some(reason) => {
                let reason = reason.strip_prefix("it ").unwrap_or(reason);
                format!("it calls {}, which {reason}", quote(&self.program.procedures[callee].name))
            }
            None => String::new(),
        }
    }

    /// A thread that asks for its number must be one of those that are there from the start.
    pub(super) fn check_spawns(&mut self) {
        for (template, name) in std::mem::take(&mut self.spawns) {
            if self.program.templates[template].uses_self {
                let message =
                    format!("expected a thread without `self`, found {}, which uses it", quote(name.text));
                let help = "threads that are spawned have no numbers".to_string();
                self.error(name.span, message, Some(help));
            }
        }
    }
}
