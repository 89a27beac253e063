//! A pushdown system whose rules are all written down.
//!
//! Names are the numbers of the source. Symbol `s` of the source is the symbol `s + 1` here, since 0 is [`EMPTY`].

use super::{EMPTY, Pushdown, Rule, Shared, State, Symbol};
use crate::bytes::{read_number, write_number};

/// The rules of one thread, in the order in which they were given.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ThreadRules {
    rules: Vec<(Shared, Symbol, Rule)>,
    /// Indices into `rules`, sorted by shared state and top; ties in the order given.
    sorted: Vec<u32>,
}

impl ThreadRules {
    /// Rules `(shared, top, rule)`. A rule that is given twice counts once, where it is given first.
    pub fn new(rules: impl IntoIterator<Item = (Shared, Symbol, Rule)>) -> ThreadRules {
        let mut rules: Vec<_> = rules.into_iter().collect();
        let what = |(shared, top, rule): &(Shared, Symbol, Rule)| (*shared, *top, rule.shared, rule.word);
        // Repetitions are found by sorting, in place: a set of the rules would take more memory than they do.
        let mut sorted: Vec<u32> = (0..rules.len() as u32).collect();
        sorted.sort_unstable_by_key(|&index| (what(&rules[index as usize]), index));
        sorted.dedup_by_key(|&mut index| what(&rules[index as usize]));
        if sorted.len() < rules.len() {
            sorted.sort_unstable();
            for (place, index) in sorted.iter_mut().enumerate() {
                rules[place] = rules[*index as usize];
                *index = place as u32;
            }
            rules.truncate(sorted.len());
            rules.shrink_to_fit();
            sorted.shrink_to_fit();
        }
        sorted.sort_unstable_by_key(|&index| (rules[index as usize].0, rules[index as usize].1, index));
        ThreadRules { rules, sorted }
    }

    /// All rules `(shared, top, rule)`, in the order given.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &(Shared, Symbol, Rule)> {
        self.rules.iter()
    }

    /// Whether the rules are the same in the same order, wherever they come from.
    fn same_rules(&self, other: &ThreadRules) -> bool {
        let what = |(shared, top, rule): &(Shared, Symbol, Rule)| (*shared, *top, rule.shared, rule.word);
        self.rules.len() == other.rules.len() && self.rules.iter().map(what).eq(other.rules.iter().map(what))
    }

    fn find(&self, shared: Shared, top: Symbol) -> impl Iterator<Item = &Rule> {
        let at = |&index: &u32| &self.rules[index as usize];
        let start = self.sorted.partition_point(|index| (at(index).0, at(index).1) < (shared, top));
        self.sorted[start..]
            .iter()
            .map(at)
            .take_while(move |rule| (rule.0, rule.1) == (shared, top))
            .map(|(_, _, rule)| rule)
    }
}

/// A system given by its rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explicit {
    /// Shared states are 0 up to this number, exclusive.
    pub shared_states: u32,
    /// The rules of each thread.
    pub threads: Vec<ThreadRules>,
    /// The initial state.
    pub initial: State,
}

impl Explicit {
    /// Whether a symbol occurs in a thread's rules or on its initial stack. If not, it is never seen.
    pub fn occurs(&self, thread: usize, symbol: Symbol) -> bool {
        let mut rules = self.threads[thread].iter();
        rules.any(|(_, top, rule)| *top == symbol || rule.word.symbols().contains(&symbol))
            || self.initial.stacks[thread].symbols().any(|other| other == symbol)
    }
}

impl Pushdown for Explicit {
    fn threads(&self) -> usize {
        self.threads.len()
    }

    fn initial(&self) -> Vec<State> {
        vec![self.initial.clone()]
    }

    fn rules(&self, thread: usize, shared: Shared, top: Symbol, out: &mut Vec<Rule>) {
        out.extend(self.threads[thread].find(shared, top));
    }

    fn kind(&self, thread: usize) -> usize {
        let same = |other: &ThreadRules| other.same_rules(&self.threads[thread]);
        self.threads.iter().position(same).unwrap_or(thread)
    }

    fn shared_name(&self, shared: Shared) -> String {
        shared.to_string()
    }

    fn shared_named(&self, name: &str) -> Option<Shared> {
        number(name).filter(|&shared| shared < self.shared_states).map(Shared)
    }

    fn symbol_name(&self, _thread: usize, symbol: Symbol) -> String {
        debug_assert!(symbol != EMPTY);
        (symbol.0 - 1).to_string()
    }

    fn symbol_named(&self, _thread: usize, name: &str) -> Option<Symbol> {
        number(name)?.checked_add(1).map(Symbol)
    }

    fn write_shared(&self, shared: Shared, out: &mut Vec<u8>) {
        write_number(u64::from(shared.0), out);
    }

    fn read_shared(&self, bytes: &mut &[u8]) -> Option<Shared> {
        let shared = u32::try_from(read_number(bytes)?).ok();
        shared.filter(|&shared| shared < self.shared_states).map(Shared)
    }

    fn write_symbol(&self, _thread: usize, symbol: Symbol, out: &mut Vec<u8>) {
        write_number(u64::from(symbol.0), out);
    }

    fn read_symbol(&self, _thread: usize, bytes: &mut &[u8]) -> Option<Symbol> {
        u32::try_from(read_number(bytes)?).ok().map(Symbol).filter(|&symbol| symbol != EMPTY)
    }
}

/// A plain decimal number: no sign, which [`str::parse`] would accept.
fn number(name: &str) -> Option<u32> {
    name.bytes().all(|byte| byte.is_ascii_digit()).then(|| name.parse().ok())?
}
