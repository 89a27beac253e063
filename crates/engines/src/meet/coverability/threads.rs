//! Coverability for systems of threads: those that are alike are counted.
//!
//! Thread-modular sets ([`thread_modular`]) say which thread states can occur at all; this is the forward oracle of UCOB,
//! section V. What is left is a finite counter system ([`counted`](allways_evidence::counted)), which costs what is reached and
//! not what could be written down, and which the [methods](super) decide for any number of threads.

use super::{Method, decide};
use crate::above::thread_modular;
use crate::engine::{Question, Watch};
use allways_evidence::counted::{Counted, counters_of};
use allways_evidence::{Certificate, Counterexample, StopReason, Verdict};
use allways_model::pushdown::Pushdown;

/// What counting threads says about a property.
#[derive(Clone, Debug)]
pub enum Covered {
    /// It holds, whatever the number of threads.
    Safe(Box<Counted>),
    /// It does not, if each thread of the system that is [many](Pushdown::many) stands for so many; 1 for the others.
    Unsafe(Vec<u64>),
    /// Not known, and why.
    Unknown(StopReason),
}

/// Whether a system, with any number of threads where its threads are many, can violate the property of a question.
pub fn cover(system: &dyn Pushdown, question: &Question, watch: &Watch) -> Covered {
    let gave_up = |why: String| Covered::Unknown(StopReason::GaveUp(why));
    let Some(products) = thread_modular::bound(system, question, watch) else {
        return gave_up("there are too many thread states to count threads by".to_string());
    };
    let counting = match counters_of(system, &question.property, &products) {
        Ok(counting) => counting,
        Err(why) => return gave_up(why),
    };
    match decide(&counting.counters, Method::Coverability, watch).verdict {
        Verdict::Safe(Certificate::Basis(basis)) => {
            Covered::Safe(Box::new(Counted { products, basis: *basis }))
        }
        Verdict::Unknown(reason) => Covered::Unknown(reason),
        Verdict::Unsafe(Counterexample::Run(run)) => {
            let kinds = &products.kinds;
            let mut counts = vec![1; system.threads()];
            for (thread, count) in counts.iter_mut().enumerate().filter(|(thread, _)| system.many(*thread)) {
                let tokens = run.initial.tokens.iter();
                let own =
                    tokens.filter(|(place, _)| counting.places[*place as usize].0 == kinds.kind(thread));
                *count = own.map(|(_, count)| count).sum();
            }
            Covered::Unsafe(counts)
        }
        Verdict::Safe(_) | Verdict::Unsafe(_) => {
            gave_up("coverability answers by a basis or a run, and by nothing else".to_string())
        }
    }
}
