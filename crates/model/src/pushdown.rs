//! Concurrent pushdown systems (CUBA, section 2).
//!
//! A state is a shared state `q` and one stack per thread. Thread `i` moves by a rule `(q, top) -> (q', w)`: the shared
//! state becomes `q'` and the top symbol is replaced by the word `w`. With `|w|` = 0, 1, 2 this pops, overwrites, pushes.
//! A thread whose stack is empty moves by rules `(q, ε) -> (q', w)` with `|w| ≤ 1`, and by no others.
//!
//! [`State::step`] is the reference semantics: short, slow, and what the checkers of evidence rely on. Engines are free
//! to represent states differently and are tested against it.

mod explicit;

use crate::bytes::{read_number, read_text, write_number, write_text};
use crate::encoding::Encoded;

pub use explicit::{Explicit, ThreadRules};

crate::index_type! {
    /// A shared state.
    pub struct Shared(u32);
}

crate::index_type! {
    /// A stack symbol; [`EMPTY`] stands for "no symbol".
    pub struct Symbol(u32);
}

/// What one sees on top of an empty stack. Never a symbol of a stack.
pub const EMPTY: Symbol = Symbol(0);

/// The word that replaces the top symbol, top first: nothing, one symbol, or two.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Word([Symbol; 2]);

impl Word {
    /// The empty word: the rule pops.
    pub const POP: Word = Word([EMPTY, EMPTY]);

    /// One symbol: the rule overwrites the top (or, on an empty stack, pushes).
    pub fn one(top: Symbol) -> Word {
        debug_assert!(top != EMPTY);
        Word([top, EMPTY])
    }

    /// Two symbols: the rule overwrites the top by `under` and pushes `top`.
    pub fn two(top: Symbol, under: Symbol) -> Word {
        debug_assert!(top != EMPTY && under != EMPTY);
        Word([top, under])
    }

    /// The symbols, top first.
    pub fn symbols(&self) -> &[Symbol] {
        let length = self.0.iter().take_while(|&&symbol| symbol != EMPTY).count();
        &self.0[..length]
    }
}

/// What a thread does when it moves from a given shared state and top symbol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Rule {
    /// The shared state afterwards.
    pub shared: Shared,
    /// What replaces the top symbol.
    pub word: Word,
    /// The line of the source that the rule comes from, counted from 1.
    pub line: u32,
}

/// A system of threads with stacks, given explicitly ([`Explicit`]) or generated on the fly.
///
/// Rules are asked for by `(thread, shared, top)`; engines ask once for each and remember the answer, so generating them
/// may be slow. Names are what people and files call shared states and symbols: they contain none of `|`, `,`, `.`, `+`,
/// `*`, white space, and are never `-`.
pub trait Pushdown: Sync {
    /// How many threads there are.
    fn threads(&self) -> usize;

    /// The initial states; at least one.
    fn initial(&self) -> Vec<State>;

    /// Appends to `out` the rules of `thread` for this shared state and top symbol ([`EMPTY`] for an empty stack).
    fn rules(&self, thread: usize, shared: Shared, top: Symbol, out: &mut Vec<Rule>);

    /// Whether a thread with this on top of its stack has nothing left to do. One that cannot move and has not ended waits.
    fn ended(&self, thread: usize, top: Symbol) -> bool {
        let _ = thread;
        top == EMPTY
    }

    /// A label that two threads share only if they have the same rules, apart from the lines these come from, and end
    /// alike.
    fn kind(&self, thread: usize) -> usize {
        thread
    }

    /// Whether this thread stands for any number of threads, none included, that have the same rules and, each for itself,
    /// start as it does. The initial states list such a thread once. What is said of a run, or of a set of states with one
    /// place for each thread, then holds for this one thread only: it proves nothing about the others.
    fn many(&self, thread: usize) -> bool {
        let _ = thread;
        false
    }

    /// Whether this shared state is in the midst of a *broadcast* that may end in the one given: in a single step, of nobody in
    /// particular, in which all threads are [`after_broadcast`](Pushdown::after_broadcast) at once. The rules have to allow that too, thread by
    /// thread, and may allow more: they need not know when all have been. Only systems in which threads stand for
    /// [any number](Pushdown::many) have broadcasts.
    fn broadcast_target(&self, shared: Shared) -> Option<Shared> {
        let _ = shared;
        None
    }

    /// What is on top of this thread's stack at the end of the broadcast in the midst of which this shared state is; `None`
    /// for a thread that has to move by a rule of its own before. If it has not, the broadcast does not end like this.
    fn after_broadcast(&self, thread: usize, shared: Shared, top: Symbol) -> Option<Symbol> {
        let _ = (thread, shared);
        Some(top)
    }

    /// Whether a thread that would be so at the end of a broadcast may also move by a rule of its own before, to be somewhere
    /// else at the end.
    fn chooses_in_broadcast(&self, thread: usize, shared: Shared, top: Symbol) -> bool {
        let _ = (thread, shared, top);
        false
    }

    /// The program of which these are the rules, if they are.
    fn encoded(&self) -> Option<&Encoded> {
        None
    }

    /// Whether the system only passes through this shared state: what happens there belongs to the step before, whoever
    /// moves, and is no context switch.
    fn is_transient(&self, _shared: Shared) -> bool {
        false
    }

    /// Why what holds of this system may not hold of what it was made from: the rules given so far may not be all there are,
    /// since a limit was hit (numbers too large, too many threads), or there may be more threads. Then nothing is proved.
    fn incomplete(&self) -> Option<String> {
        None
    }

    /// Of these reasons, only those for which a step of these very threads may be missing: then a thread that cannot move may
    /// be able to after all. That there may be more threads is no such reason.
    fn missing_steps(&self) -> Option<String> {
        self.incomplete()
    }

    /// The name of a shared state.
    fn shared_name(&self, shared: Shared) -> String;

    /// The shared state of this name, if there is one.
    fn shared_named(&self, name: &str) -> Option<Shared>;

    /// The name of a symbol of a thread's stack.
    fn symbol_name(&self, thread: usize, symbol: Symbol) -> String;

    /// The symbol of this name on a thread's stack, if there is one.
    fn symbol_named(&self, thread: usize, name: &str) -> Option<Symbol>;

    /// Appends bytes that stand for a shared state. Numbers of shared states and symbols may depend on the order in which
    /// they came up; the bytes depend on the system and the state alone, and different states have different bytes.
    fn write_shared(&self, shared: Shared, out: &mut Vec<u8>) {
        write_text(&self.shared_name(shared), out);
    }

    /// Takes a shared state from the front of bytes, which may come from anywhere.
    fn read_shared(&self, bytes: &mut &[u8]) -> Option<Shared> {
        let name = read_text(bytes)?;
        self.shared_named(name).filter(|&shared| self.shared_name(shared) == name)
    }

    /// Appends bytes that stand for a symbol of a thread's stack.
    fn write_symbol(&self, thread: usize, symbol: Symbol, out: &mut Vec<u8>) {
        write_text(&self.symbol_name(thread, symbol), out);
    }

    /// Takes a symbol of a thread's stack from the front of bytes, which may come from anywhere.
    fn read_symbol(&self, thread: usize, bytes: &mut &[u8]) -> Option<Symbol> {
        let name = read_text(bytes)?;
        self.symbol_named(thread, name).filter(|&symbol| self.symbol_name(thread, symbol) == name)
    }

    /// A state as bytes, which are the same in every process: the shared state, then each stack, its depth first.
    fn state_bytes(&self, state: &State) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write_shared(state.shared, &mut bytes);
        for (thread, stack) in state.stacks.iter().enumerate() {
            write_number(stack.depth() as u64, &mut bytes);
            stack.symbols().for_each(|symbol| self.write_symbol(thread, symbol, &mut bytes));
        }
        bytes
    }

    /// The state that bytes stand for; `None` if these are not the bytes of a state.
    fn state_from_bytes(&self, mut bytes: &[u8]) -> Option<State> {
        let shared = self.read_shared(&mut bytes)?;
        let mut stacks = Vec::new();
        for thread in 0..self.threads() {
            let depth = read_number(&mut bytes)?;
            // Each symbol takes a byte at least, so a depth that lies comes to the end soon.
            let symbols: Option<Vec<Symbol>> =
                (0..depth).map(|_| self.read_symbol(thread, &mut bytes)).collect();
            stacks.push(Stack::from_top(symbols?));
        }
        bytes.is_empty().then_some(State { shared, stacks })
    }
}

/// A stack; bottom first in memory, top first wherever it is written.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Stack(Vec<Symbol>);

impl Stack {
    /// The stack with these symbols, top first.
    pub fn from_top(symbols: impl IntoIterator<Item = Symbol, IntoIter: DoubleEndedIterator>) -> Stack {
        Stack(symbols.into_iter().rev().collect())
    }

    /// The top symbol, [`EMPTY`] if there is none.
    pub fn top(&self) -> Symbol {
        self.0.last().copied().unwrap_or(EMPTY)
    }

    /// The number of symbols.
    pub fn depth(&self) -> usize {
        self.0.len()
    }

    /// The symbols, top first.
    pub fn symbols(&self) -> impl DoubleEndedIterator<Item = Symbol> + ExactSizeIterator {
        self.0.iter().rev().copied()
    }

    /// Replaces the top symbol, if any, by `word`.
    pub fn replace_top(&mut self, word: Word) {
        self.0.pop();
        self.0.extend(word.symbols().iter().rev());
    }
}

/// A state of the whole system.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct State {
    /// The shared state.
    pub shared: Shared,
    /// One stack per thread.
    pub stacks: Vec<Stack>,
}

impl State {
    /// The state after `thread` moves by `rule`, which must be one of its rules for this shared state and its top.
    #[must_use]
    pub fn step(&self, thread: usize, rule: &Rule) -> State {
        let mut next = self.clone();
        next.shared = rule.shared;
        next.stacks[thread].replace_top(rule.word);
        next
    }

    /// The rules by which `thread` can move from here.
    pub fn enabled(&self, system: &dyn Pushdown, thread: usize) -> Vec<Rule> {
        let mut rules = Vec::new();
        system.rules(thread, self.shared, self.stacks[thread].top(), &mut rules);
        rules
    }

    /// What is visible of the state: the shared state and the top of each stack.
    pub fn visible(&self) -> Visible {
        Visible { shared: self.shared, tops: self.stacks.iter().map(Stack::top).collect() }
    }
}

/// A visible state (CUBA, section 2.2): the shared state and the top symbol of each stack.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Visible {
    /// The shared state.
    pub shared: Shared,
    /// One symbol per thread, [`EMPTY`] for an empty stack.
    pub tops: Vec<Symbol>,
}
