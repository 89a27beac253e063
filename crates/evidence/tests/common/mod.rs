//! What the tests of this crate share: small systems by hand and by chance, and a source of chance.
#![allow(dead_code)]

pub mod naive;

use allways_evidence::induct::induct;
use allways_evidence::rejection::Missing;
use allways_evidence::{
    BadEvidence, Evidence, Invariant, Rejection, Step, Subject, Trace, Window, read_evidence, write_evidence,
};
use allways_model::notation::{read_pattern, read_state};
use allways_model::property::Property;
use allways_model::pushdown::{
    EMPTY, Explicit, Pushdown, Rule, Shared, Stack, State, Symbol, ThreadRules, Word,
};
use allways_model::symmetry::Kinds;

/// A rule as written in the papers, with names: shared, top, shared afterwards, word. -1 is the empty stack.
pub type Written = (u32, i64, u32, &'static [u32]);

/// A system from the rules of its threads; rules have lines 1, 2, … throughout.
pub fn system(shared_states: u32, initial: &str, threads: &[&[Written]]) -> Explicit {
    let mut line = 0;
    let mut read = |&(shared, top, after, word): &Written| {
        line += 1;
        let word = match *word {
            [] => Word::POP,
            [top] => Word::one(Symbol(top + 1)),
            [top, under] => Word::two(Symbol(top + 1), Symbol(under + 1)),
            _ => panic!("a word of at most two symbols"),
        };
        (Shared(shared), Symbol((top + 1) as u32), Rule { shared: Shared(after), word, line })
    };
    let threads: Vec<ThreadRules> = threads
        .iter()
        .map(|rules| ThreadRules::new(rules.iter().map(&mut read).collect::<Vec<_>>()))
        .collect();
    let nowhere = State { shared: Shared(0), stacks: Vec::new() };
    let mut system = Explicit { shared_states, threads, initial: nowhere };
    system.initial = read_state(&system, initial).unwrap();
    system
}

/// CUBA, Figure 1. Lines 1 to 6. Eight visible states are reachable.
pub fn figure_1() -> Explicit {
    let thread_0: &[Written] = &[(0, 1, 1, &[2]), (3, 2, 0, &[1])];
    let thread_1: &[Written] = &[(0, 4, 0, &[]), (0, 6, 0, &[]), (1, 4, 2, &[5]), (2, 5, 3, &[4, 6])];
    system(4, "0|1,4", &[thread_0, thread_1])
}

/// One thread that calls itself and returns (f pushes f over its return address), one that watches: with every window
/// the stacks of thread 0 are unbounded.
pub fn recursion() -> Explicit {
    let caller: &[Written] = &[(0, 1, 0, &[1, 2]), (0, 1, 1, &[]), (1, 2, 1, &[3]), (1, 3, 0, &[])];
    let watcher: &[Written] = &[(1, 4, 0, &[5]), (0, 5, 1, &[4]), (1, 5, 1, &[]), (0, -1, 0, &[5])];
    system(2, "0|1,4", &[caller, watcher])
}

/// Three threads that pass a token on, no recursion.
pub fn ring() -> Explicit {
    let pass = |from: u32, to: u32| -> Vec<Written> {
        vec![(from, 1, from, &[2, 3]), (from, 2, to, &[]), (to, 3, to, &[1])]
    };
    let (a, b, c) = (pass(0, 1), pass(1, 2), pass(2, 0));
    system(3, "0|1,1,1", &[&a, &b, &c])
}

/// A property from patterns such as `2|1,*`.
pub fn never(system: &Explicit, bad: &[&str]) -> Property {
    Property {
        bad: bad.iter().map(|text| read_pattern(system, text).unwrap()).collect(),
        ..Property::default()
    }
}

/// A trace from its initial state and its steps (thread, line, state).
pub fn trace(system: &Explicit, initial: &str, steps: &[(usize, u32, &str)]) -> Trace {
    let read = |text: &str| read_state(system, text).unwrap();
    let steps = steps.iter().map(|&(thread, line, state)| Step { thread, line, state: read(state) });
    Trace { initial: read(initial), steps: steps.collect() }
}

static NOTHING: Property = Property { bad: Vec::new(), deadlock: false };

/// Evidence about a system as text.
pub fn written(system: &dyn Pushdown, evidence: &Evidence) -> String {
    let mut out = Vec::new();
    write_evidence(&Subject::Pushdown { system, property: &NOTHING, inputs: None }, evidence, &mut out)
        .unwrap();
    String::from_utf8(out).unwrap()
}

/// Evidence about a system from text.
pub fn parse(system: &dyn Pushdown, text: &[u8]) -> Result<Evidence, BadEvidence> {
    read_evidence(&Subject::Pushdown { system, property: &NOTHING, inputs: None }, text)
}

/// The checker, never stopped.
pub fn check(system: &dyn Pushdown, property: &Property, invariant: &Invariant) -> Result<(), Rejection> {
    induct(system, property, invariant, &|| None)
}

/// Adds a state; whether it was new is not asked.
pub fn add_state(invariant: &mut Invariant, shared: u32, windows: &[Window]) {
    invariant.rows.push(shared);
    for (thread, window) in windows.iter().enumerate() {
        let all = &mut invariant.windows[invariant.kinds.kind(thread)];
        let index = all.iter().position(|other| other == window).unwrap_or_else(|| {
            all.push(window.clone());
            all.len() - 1
        });
        invariant.rows.push(index as u32);
    }
}

/// Adds what the checker misses until it is content, or there are too many states: the least inductive invariant above
/// the given one, found by the checker's own words.
pub fn close(system: &dyn Pushdown, mut invariant: Invariant, most: usize) -> Option<Invariant> {
    loop {
        match check(system, &Property::default(), &invariant) {
            Ok(()) => return Some(invariant),
            Err(Rejection::Missing { missing: Missing::State { shared, windows }, .. }) => {
                add_state(&mut invariant, shared.0, &windows);
                let mut rows: Vec<_> =
                    invariant.states().map(|(shared, row)| (shared, row.to_vec())).collect();
                rows.iter_mut().for_each(|(_, row)| invariant.kinds.sort(row));
                let added = rows.pop().unwrap();
                assert!(!rows.contains(&added), "it was not missing");
            }
            Err(Rejection::Missing { missing: Missing::Below { thread, above, under }, .. }) => {
                assert!(
                    invariant.below[invariant.kinds.kind(thread)].entry(above).or_default().insert(under),
                    "it was not missing"
                );
            }
            Err(other) => panic!("{other}"),
        }
        if invariant.states().len() > most {
            return None;
        }
    }
}

/// An invariant without states and without symmetry.
pub fn nothing(system: &dyn Pushdown, window: usize) -> Invariant {
    Invariant::new(Kinds::distinct(system.threads()), window)
}

/// The least inductive invariant with this window.
pub fn least(system: &Explicit, window: usize) -> Invariant {
    close(system, nothing(system, window), usize::MAX).unwrap()
}

/// The least inductive invariant with this window, up to renaming of threads with equal labels.
pub fn least_up_to(system: &Explicit, labels: &[usize], window: usize) -> Invariant {
    close(system, Invariant::new(Kinds::new(labels), window), usize::MAX).unwrap()
}

/// A small generator of chance (xorshift64*), the same in every run.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize) % limit
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A system of 1 to 3 threads, 1 to 3 shared states, 2 or 3 symbols.
    pub fn system(&mut self) -> (Explicit, u32) {
        let (threads, shared_states, symbols) = (1 + self.below(3), 1 + self.below(3), 2 + self.below(2));
        let symbol = |chance: &mut Chance| Symbol(1 + chance.below(symbols) as u32);
        let mut all = Vec::new();
        let mut line = 0;
        for _ in 0..threads {
            let rules: Vec<_> = (0..1 + self.below(6))
                .map(|_| {
                    line += 1;
                    let top = Symbol(self.below(symbols + 1) as u32);
                    let word = match self.below(if top == EMPTY { 2 } else { 4 }) {
                        0 => Word::POP,
                        1 => Word::one(symbol(self)),
                        _ => Word::two(symbol(self), symbol(self)),
                    };
                    let rule = Rule { shared: Shared(self.below(shared_states) as u32), word, line };
                    (Shared(self.below(shared_states) as u32), top, rule)
                })
                .collect();
            all.push(ThreadRules::new(rules));
        }
        let stacks = (0..threads).map(|_| {
            let depth = [0, 1, 1, 1, 2, 3][self.below(6)];
            Stack::from_top((0..depth).map(|_| symbol(self)).collect::<Vec<_>>())
        });
        let initial = State { shared: Shared(0), stacks: stacks.collect() };
        (Explicit { shared_states: shared_states as u32, threads: all, initial }, symbols as u32)
    }

    /// A system of 2 or 3 threads, and kinds: all threads of a kind have the same rules, each in an order and on lines
    /// of its own. Their initial stacks are often the same, too, but not always.
    pub fn symmetric_system(&mut self) -> (Explicit, Kinds, u32) {
        let (mut system, symbols) = loop {
            let (system, symbols) = self.system();
            if system.threads() > 1 {
                break (system, symbols);
            }
        };
        let labels: &[usize] = match (system.threads(), self.below(5)) {
            (2, _) => &[0, 0],
            (_, 0) => &[0, 1, 0],
            (_, 1) => &[0, 0, 1],
            (_, 2) => &[0, 1, 1],
            _ => &[0, 0, 0],
        };
        let kinds = Kinds::new(labels);
        let same_stacks = !self.one_in(4);
        for kind in 0..kinds.count() {
            let (leader, others) = kinds.members(kind).split_first().unwrap();
            for &thread in others {
                let mut rules: Vec<_> = system.threads[*leader].iter().copied().collect();
                let by = self.below(rules.len());
                rules.rotate_left(by);
                rules.iter_mut().for_each(|(_, _, rule)| rule.line += 100 * thread as u32);
                system.threads[thread] = ThreadRules::new(rules);
                if same_stacks {
                    system.initial.stacks[thread] = system.initial.stacks[*leader].clone();
                }
            }
        }
        (system, kinds, symbols)
    }
}
