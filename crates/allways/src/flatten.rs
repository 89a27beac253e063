//! The rules of a system whose rules are made on the fly, written down.
//!
//! Which rules are needed? Those for the pairs (shared state, top of a thread) that can come up. An invariant from above
//! contains them all, and the checker has accepted it; so a run of the system is a run by the rules written down here.
//! Shared states and symbols are numbered in the order in which they come up.

use crate::verify::{Refuted, check};
use allways_engines::engine::{Question, Watch, engines};
use allways_evidence::{Certificate, Invariant, Verdict};
use allways_model::property::Property;
use allways_model::pushdown::{
    EMPTY, Explicit, Pushdown, Rule, Shared, Stack, State, Symbol, ThreadRules, Word,
};
use std::collections::{BTreeSet, HashMap};

/// Rules that were written down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flat {
    /// The system; its initial state is that of the original, or one from which all of them can be reached.
    pub system: Explicit,
    /// The numbers of the shared states of the original that were asked for.
    pub shared: Vec<Shared>,
}

/// Why rules cannot be written down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotFlat {
    /// It was not found out which are needed.
    Unknown(String),
    /// A checker rejects what was found out.
    Refuted(Refuted),
}

/// Writes down the rules of a system. `asked` are shared states of which the caller wants to know the numbers.
pub fn flatten(system: &dyn Pushdown, asked: &[Shared], watch: &Watch) -> Result<Flat, NotFlat> {
    let tops = engines().iter().find(|engine| engine.name() == "tops").copied();
    let engine = tops.ok_or_else(|| NotFlat::Unknown("there is no engine for it".to_string()))?;
    let question = Question { property: Property::default(), ..Question::default() };
    let checked = check(system, &question, engine, watch).map_err(NotFlat::Refuted)?;
    let invariant = match checked.report.verdict {
        Verdict::Safe(Certificate::Invariant(invariant)) => invariant,
        Verdict::Safe(_) => {
            return Err(NotFlat::Unknown("the engine gave no list of states".to_string()));
        }
        Verdict::Unknown(reason) => return Err(NotFlat::Unknown(reason.to_string())),
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
    next: Shared,
    symbols: HashMap<(usize, Symbol), Symbol>,
    counts: HashMap<usize, Symbol>,
}

impl Numbers {
    fn fresh(&mut self) -> Shared {
        self.next += 1;
        self.next - 1
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
            *count
        })
    }

    fn stack(&mut self, thread: usize, stack: &Stack) -> Stack {
        let symbols: Vec<Symbol> = stack.symbols().map(|symbol| self.symbol(thread, symbol)).collect();
        Stack::from_top(symbols)
    }
}
