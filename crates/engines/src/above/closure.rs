//! Whether the abstract states reached so far are closed under the abstract actions (DrUBA, Definition 6).
//!
//! An abstract state is the shared state and the marked top of each stack: its top symbol, and whether anything lies below
//! it. By Definition 4 overwriting and pushing respect this abstraction, and so does popping the last symbol; popping a
//! symbol under which something lies disrespects it: what comes to light is hidden.
//!
//! What can come to light is bounded by the relation *below*, the least one such that
//!
//! * it holds in the initial stacks;
//! * a rule that overwrites `x` by `y` makes everything below `x` lie below `y`;
//! * a rule that replaces `x` by `a.b` puts `b` below `a`, and makes everything below `x` lie below `b`.
//!
//! Only rules that apply in some abstract state count. The published candidate set E, any symbol ever pushed under
//! another, is coarser. Whatever is found closed here is tested anew by the checker, with code of its own.

use crate::budget::Progress;
use crate::store::{Halt, Space};
use allways_evidence::invariant::Below;
use allways_evidence::{Invariant, Window};
use allways_model::notation::show_visible;
use allways_model::pushdown::{EMPTY, Rule, Shared, State, Symbol};
use allways_model::symmetry::Kinds;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// Which actions the set must be closed under.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Actions {
    /// All of them.
    All,
    /// Those that disrespect the abstraction, which suffices at a plateau (DrUBA, Theorem 7).
    Disrespectful,
}

/// Numbers copied between two looks at the limits.
const PACE: usize = 1 << 20;

/// A step of the abstraction that leads out of the set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotClosed {
    from: String,
    thread: usize,
    line: u32,
    to: String,
}

impl std::fmt::Display for NotClosed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let NotClosed { from, thread, line, to } = self;
        write!(
            f,
            "{from} is reached, and by line {line} thread {thread} may lead from there to {to}, which is not"
        )
    }
}

/// A marked top: the top symbol, and whether anything lies below it.
type Top = (Symbol, bool);

/// The abstract actions of one thread at a shared state and a marked top: a rule, and the marked tops it may lead to.
type Local = Vec<(Rule, Vec<Top>)>;

/// The abstract actions at the abstract states reached so far.
pub struct Abstraction<'a, 's> {
    space: &'a Space<'s>,
    below: Vec<Below>,
    /// For each thread, by shared state and number of the marked top.
    locals: Vec<HashMap<(Shared, u32), Local, FxBuildHasher>>,
}

/// Definition 4, for a rule applied where this is seen.
fn respects(rule: &Rule, top: Top) -> bool {
    !(rule.word.symbols().is_empty() && top.1)
}

impl<'a, 's> Abstraction<'a, 's> {
    /// The abstract actions at what was observed of `space`.
    pub fn new(space: &'a Space<'s>) -> Abstraction<'a, 's> {
        let threads = space.threads.count();
        let observed = space.observed();
        let initial = space.threads.system().initial();
        let mut abstraction = Abstraction { space, below: Vec::new(), locals: Vec::new() };
        for thread in 0..threads {
            let tops = space.threads.stacks(thread).tops();
            let mut locals: HashMap<(Shared, u32), Local, FxBuildHasher> = HashMap::default();
            for id in 0..observed.rows().len() as u32 {
                let shared = Shared(observed.rows().column(id, 0));
                let top = observed.rows().column(id, 1 + thread);
                locals.entry((shared, top)).or_insert_with(|| {
                    let mut rules = Vec::new();
                    space.threads.system().rules(thread, shared, tops[top as usize].0, &mut rules);
                    rules.into_iter().map(|rule| (rule, Vec::new())).collect()
                });
            }
            let below = below(space, thread, &initial, &locals);
            for (&(_, top), actions) in &mut locals {
                for (rule, to) in actions {
                    *to = lead(&below, tops[top as usize], rule);
                }
            }
            abstraction.below.push(below);
            abstraction.locals.push(locals);
        }
        abstraction
    }

    fn top(&self, thread: usize, top: u32) -> Top {
        self.space.threads.stacks(thread).tops()[top as usize]
    }

    /// How many actions (thread, shared state, marked top, rule) respect the abstraction, and how many do not.
    pub fn respect(&self) -> (usize, usize) {
        let mut count = (0, 0);
        for (thread, locals) in self.locals.iter().enumerate() {
            for (&(_, top), actions) in locals {
                let respectful =
                    actions.iter().filter(|(rule, _)| respects(rule, self.top(thread, top))).count();
                count = (count.0 + respectful, count.1 + actions.len() - respectful);
            }
        }
        count
    }

    /// Tests whether the abstract states are closed.
    pub fn closed(&self, which: Actions) -> Result<Result<(), NotClosed>, Halt> {
        let observed = self.space.observed().rows();
        let mut row = Vec::new();
        let mut work = 0;
        for id in 0..observed.len() as u32 {
            for (thread, locals) in self.locals.iter().enumerate() {
                work += row.len() + 1;
                if work > PACE {
                    work = 0;
                    self.space.poll(Progress::default())?;
                }
                row.clear();
                row.extend(observed.row(id));
                let seen = self.top(thread, row[1 + thread]);
                for (rule, tops) in &locals[&(Shared(row[0]), row[1 + thread])] {
                    if which == Actions::Disrespectful && respects(rule, seen) {
                        continue;
                    }
                    let mut next = row.clone();
                    next[0] = rule.shared.0;
                    for &to in tops {
                        let known = self.space.threads.stacks(thread).top_named(to);
                        if !known.is_some_and(|top| {
                            next[1 + thread] = top.0;
                            observed.find(&next).is_some()
                        }) {
                            return Ok(Err(self.escape(id, thread, rule, to)));
                        }
                    }
                }
            }
        }
        Ok(Ok(()))
    }

    fn escape(&self, id: u32, thread: usize, rule: &Rule, to: Top) -> NotClosed {
        let system = self.space.threads.system();
        let mut visible = self.space.observed().visible_at(&self.space.threads, id);
        let from = show_visible(system, &visible);
        visible.shared = rule.shared;
        visible.tops[thread] = to.0;
        let ground = if to.1 { "" } else { " with nothing below" };
        let to = show_visible(system, &visible) + if to.0 == EMPTY { "" } else { ground };
        NotClosed { from, thread, line: rule.line, to }
    }

    /// The abstract states as an invariant; one if they are closed under all actions.
    pub fn into_invariant(self) -> Invariant {
        let windows = (0..self.locals.len()).map(|thread| {
            let window = |&(symbol, more): &Top| Window {
                symbols: if symbol == EMPTY { Vec::new() } else { vec![symbol] },
                more,
            };
            self.space.threads.stacks(thread).tops().iter().map(window).collect()
        });
        let observed = self.space.observed().rows();
        let rows = (0..observed.len() as u32).flat_map(|id| observed.row(id)).collect();
        let kinds = Kinds::distinct(self.locals.len());
        Invariant {
            window: 1,
            kinds,
            windows: windows.collect(),
            below: self.below,
            rows,
            within: None,
            renumbered: false,
        }
    }
}

/// The marked tops to which a rule may lead from a marked top.
fn lead(below: &Below, (symbol, more): Top, rule: &Rule) -> Vec<Top> {
    match rule.word.symbols() {
        [] if !more => vec![(EMPTY, false)],
        [] => {
            let emerging = below.get(&symbol).into_iter().flatten().filter(|&&under| under != EMPTY);
            let marks = |&under: &Symbol| {
                let beneath = below.get(&under);
                let more = beneath.is_some_and(|beneath| beneath.iter().any(|&symbol| symbol != EMPTY));
                let bottom = beneath.is_some_and(|beneath| beneath.contains(&EMPTY));
                [more.then_some((under, true)), bottom.then_some((under, false))]
            };
            emerging.flat_map(marks).flatten().collect()
        }
        [one] => vec![(*one, more)],
        [top, ..] => vec![(*top, true)],
    }
}

/// The relation *below* of a thread.
fn below(
    space: &Space,
    thread: usize,
    initial: &[State],
    locals: &HashMap<(Shared, u32), Local, FxBuildHasher>,
) -> Below {
    let tops = space.threads.stacks(thread).tops();
    let mut below = Below::new();
    for state in initial {
        let symbols: Vec<Symbol> = state.stacks[thread].symbols().chain([EMPTY]).collect();
        for pair in symbols.windows(2) {
            below.entry(pair[0]).or_default().insert(pair[1]);
        }
    }
    // `flows` holds (x, y) where everything below x lies below y too.
    let mut flows = Vec::new();
    for (&(_, top), actions) in locals {
        let (symbol, more) = tops[top as usize];
        for (rule, _) in actions {
            if let [top, under] = rule.word.symbols() {
                below.entry(*top).or_default().insert(*under);
            }
            if let Some(&lowest) = rule.word.symbols().last() {
                if more {
                    flows.push((symbol, lowest));
                } else {
                    below.entry(lowest).or_default().insert(EMPTY);
                }
            }
        }
    }
    flows.sort_unstable();
    flows.dedup();
    loop {
        let mut changed = false;
        for (from, to) in &flows {
            let carried: Vec<Symbol> =
                below.get(from).into_iter().flatten().copied().filter(|&symbol| symbol != EMPTY).collect();
            let target = below.entry(*to).or_default();
            for symbol in carried {
                changed |= target.insert(symbol);
            }
        }
        if !changed {
            return below;
        }
    }
}
