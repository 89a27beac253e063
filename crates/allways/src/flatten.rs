//! The rules of a system whose rules are made on the fly, written down.
//!
//! Which rules are needed? Those for the pairs (shared state, top of a thread) that can come up. An invariant from above
//! contains them all, and the checker has accepted it; so a run of the system is a run by the rules written down here.
//! Shared states and symbols are numbered in the order in which they come up.

use crate::load::{LoadError, forms};
use allways_engines::above::tops::TopsEngine;
use allways_engines::confirm::confirm;
use allways_engines::forms::count_threads;
use allways_engines::{Budget, EvidenceRejected, Question, Strategy};
use allways_evidence::{Certificate, Invariant, StopReason, Verdict};
use allways_model::counters::{self, Bag, Counters, Target};
use allways_model::pushdown::{EMPTY, Explicit, Rule, Shared, Stack, State, Symbol, ThreadRules, Word};
use allways_model::task::{Instance, Task};
use std::collections::{BTreeSet, HashMap};

/// Rules that were written down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flat {
    /// The system; its initial state is that of the original, or one from which all of them can be reached.
    pub system: Explicit,
    /// The numbers of the shared states of the original that were asked for.
    pub shared: Vec<Shared>,
}

/// Why a system cannot be written down.
#[derive(Debug)]
pub enum NotFlat {
    /// The task cannot be used as it is.
    Input(LoadError),
    /// It was not found out which rules are needed.
    Unknown(String),
    /// A checker rejects what was found out.
    Rejected(EvidenceRejected),
}

impl From<StopReason> for NotFlat {
    fn from(reason: StopReason) -> NotFlat {
        NotFlat::Unknown(reason.to_string())
    }
}

/// A program as a counter system, with any number of threads where it leaves the number open; or why it is none.
///
/// The property of the program is the target. Where it counts threads at places (`at`), a counter that has reached all that
/// the property asks for is kept there: then the counter system can do more than the program, and what it proves holds.
pub fn counted(task: &Task, budget: &Budget) -> Result<Counters, NotFlat> {
    let forms = forms(task, &Question::default(), false).map_err(NotFlat::Input)?;
    let forms = if forms.is_open() { forms.at(Instance::Any) } else { forms };
    let form = forms.pushdown()?;
    let mut counters = count_threads(&form, budget)?.counting.counters;
    if let Some(why) = form.system.missing_steps() {
        return Err(NotFlat::Unknown(why));
    }
    if counters.targets.is_empty() {
        // No thread state is bad. A file has to name something all the same.
        counters.shared.push("violated".to_string());
        let shared = Some(counters::Shared(counters.shared.len() as u32 - 1));
        counters.targets.push(Target { shared, tokens: Bag::new() });
    }
    Ok(counters)
}

/// Writes down the rules of a program with the threads that it states. Also gives the numbers of its bad shared states.
pub fn flatten(task: &Task, budget: &Budget) -> Result<Flat, NotFlat> {
    let forms = forms(task, &Question::default(), true).map_err(NotFlat::Input)?;
    let property = match forms.encoding() {
        Some(Ok(encoded)) => encoded.property(false),
        Some(Err(_)) | None => return Err(NotFlat::Unknown("it is no program".to_string())),
    };
    let asked: Vec<Shared> = property.bad.iter().filter_map(|pattern| pattern.shared).collect();
    let form = forms.pushdown()?;
    let system = &*form.system;
    let outcome = Strategy::Run(&TopsEngine).run(&forms, budget);
    let mut outcome = outcome.ok_or_else(|| NotFlat::Unknown("there is no engine for it".to_string()))?;
    confirm(&forms, &mut outcome, budget);
    if let Some(rejected) = outcome.rejected {
        return Err(NotFlat::Rejected(rejected));
    }
    let invariant = match outcome.verdict {
        Verdict::Safe(Certificate::Invariant(invariant)) => invariant,
        Verdict::Safe(_) => return Err(NotFlat::Unknown("the engine gave no list of states".to_string())),
        Verdict::Unknown(reason) => return Err(reason.into()),
        Verdict::Unsafe(_) => return Err(NotFlat::Unknown("nothing was to be avoided".to_string())),
    };
    let mut numbers = Numbers::default();
    let initial = system.initial();
    let first = initial.first().ok_or_else(|| NotFlat::Unknown("there is no initial state".to_string()))?;
    let stacks: Vec<Stack> =
        first.stacks.iter().enumerate().map(|(thread, stack)| numbers.stack(thread, stack)).collect();
    if initial.iter().any(|state| state.stacks != first.stacks) {
        let why = "threads that start in several ways have no place in this notation".to_string();
        return Err(NotFlat::Unknown(why));
    }
    let mut threads: Vec<Vec<(Shared, Symbol, Rule)>> = vec![Vec::new(); system.threads()];
    // Several initial states become one, from which the first thread chooses.
    let start = match &initial[..] {
        [only] => numbers.shared(only.shared),
        several => {
            let start = numbers.fresh();
            let top = stacks[0].top();
            if top == EMPTY {
                return Err(NotFlat::Unknown("the first thread has nothing to choose with".to_string()));
            }
            for state in several {
                let shared = numbers.shared(state.shared);
                threads[0].push((start, top, Rule { shared, word: Word::one(top), line: 0 }));
            }
            start
        }
    };
    let mut rules = Vec::new();
    for (thread, shared, top) in pairs(&invariant) {
        rules.clear();
        system.rules(thread, shared, top, &mut rules);
        let from = (numbers.shared(shared), numbers.symbol(thread, top));
        for rule in &rules {
            let word: Vec<Symbol> =
                rule.word.symbols().iter().map(|&symbol| numbers.symbol(thread, symbol)).collect();
            let word = match word[..] {
                [top, under] => Word::two(top, under),
                [top] => Word::one(top),
                _ => Word::POP,
            };
            let rule = Rule { shared: numbers.shared(rule.shared), word, line: rule.line };
            threads[thread].push((from.0, from.1, rule));
        }
    }
    if let Some(why) = system.incomplete() {
        return Err(NotFlat::Unknown(why));
    }
    let shared = asked.iter().map(|&shared| numbers.shared(shared)).collect();
    let system = Explicit {
        shared_states: numbers.next,
        threads: threads.into_iter().map(ThreadRules::new).collect(),
        initial: State { shared: start, stacks },
    };
    Ok(Flat { system, shared })
}

/// What each thread can see, by the invariant, each once and in a fixed order.
fn pairs(invariant: &Invariant) -> BTreeSet<(usize, Shared, Symbol)> {
    let kinds = &invariant.kinds;
    let mut seen = BTreeSet::new();
    for (shared, windows) in invariant.states() {
        for (thread, &window) in windows.iter().enumerate() {
            let top = invariant.window_of(thread, window).top();
            // A state stands for all in which threads of one kind change places.
            seen.extend(kinds.members(kinds.kind(thread)).iter().map(|&other| (other, shared, top)));
        }
    }
    seen
}

/// New numbers for shared states and symbols.
#[derive(Default)]
struct Numbers {
    shared: HashMap<Shared, Shared>,
    next: u32,
    symbols: HashMap<(usize, Symbol), Symbol>,
    counts: HashMap<usize, u32>,
}

impl Numbers {
    fn fresh(&mut self) -> Shared {
        self.next += 1;
        Shared(self.next - 1)
    }

    fn shared(&mut self, shared: Shared) -> Shared {
        if let Some(&number) = self.shared.get(&shared) {
            return number;
        }
        let number = self.fresh();
        self.shared.insert(shared, number);
        number
    }

    fn symbol(&mut self, thread: usize, symbol: Symbol) -> Symbol {
        if symbol == EMPTY {
            return EMPTY;
        }
        let count = self.counts.entry(thread).or_default();
        *self.symbols.entry((thread, symbol)).or_insert_with(|| {
            *count += 1;
            Symbol(*count)
        })
    }

    fn stack(&mut self, thread: usize, stack: &Stack) -> Stack {
        let symbols: Vec<Symbol> = stack.symbols().map(|symbol| self.symbol(thread, symbol)).collect();
        Stack::from_top(symbols)
    }
}
