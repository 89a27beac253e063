//! `allways check --explain`: where a thread-modular proof is lost, in words.

use crate::words;
use allways_engines::Budget;
use allways_engines::above::thread_modular::explain::{Explanation, Invention, explain};
use allways_evidence::{Certificate, Verdict};
use allways_model::notation::show_symbols;
use allways_model::property::Property;
use allways_model::pushdown::Pushdown;

/// What there is to say about thread-modular proofs of a property, given the verdict on it.
pub fn sentence(system: &dyn Pushdown, property: &Property, verdict: &Verdict, budget: &Budget) -> String {
    match verdict {
        Verdict::Safe(Certificate::Products(_)) => {
            return "thread-modular sets prove it: no spurious state matters".to_string();
        }
        Verdict::Unsafe(_) => return "it goes wrong, so there is no proof to be lost".to_string(),
        Verdict::Safe(Certificate::Counted(_)) => {
            return "thread-modular sets alone do not prove it; counting threads within them does"
                .to_string();
        }
        Verdict::Safe(_) | Verdict::Unknown(_) => {}
    }
    match explain(system, property, budget) {
        Err(reason) => format!("no explanation, because {}", words::because(&reason)),
        Ok(Explanation::Proved) => "thread-modular sets prove it, too (modular)".to_string(),
        Ok(Explanation::Invented(invention)) => invented(system, &invention),
    }
}

fn invented(system: &dyn Pushdown, invention: &Invention) -> String {
    let Invention { shared, tops, round, searched, complete } = invention;
    let at =
        |&(thread, top): &(usize, _)| format!("thread {thread} at {}", show_symbols(system, thread, [top]));
    let tops = tops.iter().map(at).collect::<Vec<_>>().join(" and ");
    let shared = system.shared_name(*shared);
    let among = if *complete {
        format!("of the {searched} reachable states none shows them together")
    } else {
        format!("of the first {searched} states none shows them together")
    };
    match round {
        Some(round) => {
            let steps = words::count(*round as u128, "step");
            format!(
                "thread-modular sets (modular) cannot prove it: after {steps} they contain a spurious state, \
                 {shared} with {tops}; {among}"
            )
        }
        None => format!(
            "thread-modular sets (modular) cannot prove it: they contain {shared} with {tops}; {among}"
        ),
    }
}
