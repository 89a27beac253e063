//! The checker of invariants: tests that what an invariant covers is closed under every step of every thread.
//!
//! What *covers* means is defined in [`invariant`](crate::invariant). With a window of `z` symbols, an abstract stack
//! stands for the following concrete ones:
//!
//! * a window shorter than `z`: the stack of exactly these symbols;
//! * a full window `x1…xz` without more: exactly these symbols, provided that `EMPTY` is in *below*(`xz`);
//! * a full window `x1…xz` with more: the stacks `x1…xz.u1…uk` with `k ≥ 1`, `u1` in *below*(`xz`), each `u(i+1)` in
//!   *below*(`ui`), and `EMPTY` in *below*(`uk`).
//!
//! Call a symbol *grounded* if a chain of *below* leads from it to `EMPTY`. Only grounded symbols occur as some `ui`, and
//! each grounded symbol of *below*(`xz`) does occur as `u1`. So let `hidden(x)` be the grounded symbols of *below*(`x`)
//! without `EMPTY`. A full window stands for nothing if it has more and `hidden(xz)` is empty, or has no more and `EMPTY`
//! is not in *below*(`xz`). An abstract state with such a window covers nothing, and nothing is required of its
//! successors.
//!
//! # A step
//!
//! First suppose that no two threads are of one kind. Thread `i` replaces its top by a word. Its new stack starts with the *prefix* `p` = word ++ `x2…`, of which every
//! symbol is known. Beneath `p` lies what lay beneath the old window: let `B` = {`EMPTY`} without more, and
//! `B` = `hidden(xz)` with more; `B` is exactly the set of what can come next after `p`. Further down nothing is new: all
//! pairs there were pairs at or under position `z` before the step and are in *below* already. The other threads keep
//! their stacks. So every successor is covered if and only if
//!
//! * where `|p| ≥ z`: each pair `(pj, p(j+1))` with `j ≥ z` is in *below*; each pair (last of `p`, `b`) with `b` in `B` is
//!   in *below*; and the state with window `p1…pz` is there, with more if `|p| > z` or there was more before.
//!   (If there was more and the last of `p` is still `xz`, then the pairs with `B` are in *below* by the choice of `B`.)
//! * where `|p| < z` without more: the stack is `p` and the state with window `p` is there.
//! * where `|p| < z` with more: the window was full, so the step was a pop and `|p| = z - 1`. For each `u` in
//!   `hidden(xz)`, the new window is `p.u`. It has more if some symbol of `hidden(u)` comes next, and no more if `EMPTY`
//!   is in *below*(`u`); both can be the case, and the states for all that can be the case are there. The pair of `u` and
//!   what comes next was at a position after `z` before, and is in *below*.
//!
//! Each "there" and "in" is also necessary, since every combination named occurs in some covered state.
//!
//! # Renamings
//!
//! Now let threads be of one kind. What is covered is closed under renaming, and so is what an abstract state stands for
//! if all its renamings count. Let thread `i` move from a covered state `s` to `t` by a rule `ρ`. Some renaming of `s` is
//! an abstract state `r` that is listed; in it some thread `j` of the kind of `i` has the window of `i`. So it is enough
//!
//! * that `i` has no other rules at this shared state and top than the first thread of the kind, the *leader*: this is
//!   tested whenever the rules of the leader are asked for, and the kinds are rejected if it fails; and
//! * that with the rules of the leader the above holds for `j` in `r`, up to renaming of the abstract state that must be
//!   there: `t` is a renaming of what `j` makes by `ρ` of the renamed `s`, and *below* is that of the kind in both.
//!
//! If `j` and `j'` of one kind have the same window in `r`, their successors are renamings of each other, so one of them is
//! looked at. Where the rules are alike all this is also necessary: some renaming of a state that `r` stands for gives the
//! leader the window of `j`. A state is covered together with its renamings, so none may be bad (`bad`).
//!
//! Hence the checker accepts exactly the invariants that are inductive, contain no bad state, and have kinds of threads
//! with equal rules at each shared state and top that occur in a covered state; whether or not an engine would find them.
//! Rules are asked for only at the shared state and a top of some abstract state, so systems may make them on the fly. If
//! such a system says at the end that it could not make them all, there may be steps that nobody has looked at, and the
//! invariant is not accepted.
//!
//! # Within products
//!
//! Let the invariant be within products that [`close`] accepts, so that they contain every reachable state. It is then enough
//! that each reachable successor of a covered state is covered. Where a pop brings a window to light that no product admits
//! for any thread of the kind, at the shared state after the step, no reachable state has it, and it need not be there.
//!
//! Cost: rows are looked at shared state by shared state. What a kind of threads can do from a (shared state, window) is worked out
//! once (`mover`); a row then costs one look-up per successor. All cores do this, each with what it has worked out itself. If
//! something is wrong, rows are looked at once more in their order, to tell the first that is.

mod bad;
mod mover;
mod renumbered;
mod rows;

use crate::products::Admitted;
use crate::products::close::close;
use crate::rejection::{Missing, Origin, Rejection, shorten};
use crate::text::show_abstract;
use crate::{Invariant, Stop, StopReason, Window, shape};
use allways_model::notation::{show_state, show_symbols};
use allways_model::property::Property;
use allways_model::pushdown::{EMPTY, Pushdown, Rule, Shared, State, Symbol};
use bad::Bad;
use mover::{Fault, Gap, Mover, effects};
use rows::{Batch, Rows, replace};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// How many rows a core takes at a time, and how many successors are looked up together.
const SHARE: usize = 1 << 12;
const TOGETHER: usize = 1 << 8;

/// How many rows are read before any of them is needed.
const AHEAD: usize = 32;

/// On more cores than this, what each works out again for itself outweighs what it saves.
const MOST_CORES: usize = 4;

/// Accepts an invariant that covers the initial states, covers every successor of each state that it covers, and
/// contains no state that violates the property.
///
/// Asks `stop` now and then whether to go on. Shared states and symbols must be ones that the system has names for, the
/// symbols on all threads of the kind, as is the case for all that [`read_evidence`](crate::read_evidence) gives.
pub fn induct(
    system: &dyn Pushdown,
    property: &Property,
    invariant: &Invariant,
    stop: Stop<'_>,
) -> Result<(), Rejection> {
    let mut watch = Watch { stop, work: 0 };
    watch.ask()?;
    shape::check_invariant(system.threads(), invariant).map_err(Rejection::Malformed)?;
    if let Some(thread) = (0..system.threads()).find(|&thread| system.many(thread)) {
        let what =
            format!("thread {thread} stands for any number of threads, of which an invariant lists one");
        return Err(Rejection::Malformed(what));
    }
    if invariant.renumbered {
        return renumbered::induct(system, property, invariant, stop);
    }
    let within = invariant.within.as_deref();
    if let Some(products) = within {
        close(system, &Property::default(), products, stop)?;
    }
    let admitted = within.map(Admitted::new);
    let rows = Rows::new(invariant, &mut watch)?;
    let checker = || {
        let mover = |kind| Mover::new(system, kind, invariant, admitted.as_ref());
        let movers = (0..invariant.kinds.count()).map(mover).collect();
        let bad = Bad::new(system, property, invariant);
        Checker { system, invariant, rows: &rows, movers, bad, watch: Watch { stop, work: 0 } }
    };
    let mut first = checker();
    for state in system.initial() {
        first.check_initial(&state)?;
    }
    let order = rows.by_shared();
    let count = order.len();
    let next = AtomicUsize::new(0);
    let cores = thread::available_parallelism().map_or(1, usize::from).min(MOST_CORES);
    // A core without a share for itself only waits for others.
    let others = cores.min(count / SHARE).saturating_sub(1);
    let wrong = thread::scope(|scope| {
        let others: Vec<_> =
            (0..others).map(|_| scope.spawn(|| checker().check_shares(&order, &next))).collect();
        let mut results = vec![first.check_shares(&order, &next)];
        for other in others {
            results.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results.into_iter().find_map(Result::err)
    });
    match wrong {
        None => {}
        Some(Rejection::Stopped(reason)) => return Err(Rejection::Stopped(reason)),
        Some(wrong) => return Err(checker().first_wrong(count).unwrap_or(wrong)),
    }
    match system.incomplete() {
        Some(why) => Err(Rejection::Stopped(StopReason::GaveUp(why))),
        None => Ok(()),
    }
}

/// What one core uses.
struct Checker<'a> {
    system: &'a dyn Pushdown,
    invariant: &'a Invariant,
    rows: &'a Rows<'a>,
    /// One for each kind.
    movers: Vec<Mover<'a>>,
    bad: Bad<'a>,
    watch: Watch<'a>,
}

impl<'a> Checker<'a> {
    /// By the definition of *covers*, but that both sides are sorted instead of one renamed in all ways.
    fn check_initial(&self, state: &State) -> Result<(), Rejection> {
        let z = self.invariant.window;
        let mut windows = Vec::new();
        let mut numbers = Vec::new();
        for (thread, stack) in state.stacks.iter().enumerate() {
            let mover = &self.movers[self.invariant.kinds.kind(thread)];
            let mut symbols: Vec<_> = stack.symbols().collect();
            let more = symbols.len() > z;
            let window = Window { symbols: symbols.iter().copied().take(z).collect(), more };
            numbers.push(mover.find(&window.symbols, more));
            windows.push(window);
            symbols.push(EMPTY);
            for pair in symbols.get(z - 1..).unwrap_or_default().windows(2) {
                if !mover.is_below(pair[0], pair[1]) {
                    let (missing, lacks) = self.missing_below(thread, pair[0], pair[1]);
                    let what = format!("initial state {}: {lacks}", self.show(state));
                    return Err(Rejection::Missing { origin: Origin::Initial, missing, what });
                }
            }
        }
        // A window that is not even listed is in no row.
        let numbers: Option<Vec<u32>> = numbers.into_iter().collect();
        let canonical = numbers.map(|mut numbers| {
            self.invariant.kinds.sort(&mut numbers);
            numbers.insert(0, state.shared.0);
            numbers
        });
        if canonical.is_some_and(|row| self.rows.contains(&row)) {
            return Ok(());
        }
        let what = format!(
            "initial state {}: its abstract state {} is missing",
            self.show(state),
            shorten(&show_abstract(self.system, state.shared, &windows))
        );
        let missing = Missing::State { shared: state.shared, windows };
        Err(Rejection::Missing { origin: Origin::Initial, missing, what })
    }

    /// Takes one share of the rows after the other, until none is left or something is wrong.
    fn check_shares(&mut self, order: &[u32], next: &AtomicUsize) -> Result<(), Rejection> {
        loop {
            let start = next.fetch_add(1, Ordering::Relaxed).saturating_mul(SHARE);
            if start >= order.len() {
                return Ok(());
            }
            let share = &order[start..order.len().min(start + SHARE)];
            self.check_rows(share).inspect_err(|_| {
                // What is wrong elsewhere does not matter any more.
                next.store(usize::MAX / 2, Ordering::Relaxed);
            })?;
        }
    }

    fn check_rows(&mut self, share: &[u32]) -> Result<(), Rejection> {
        let rows = self.rows;
        let mut batch = rows.batch();
        let mut successor = vec![0; 1 + self.invariant.kinds.threads()];
        // The first whose successors wait in the batch.
        let mut waiting = 0;
        for (place, &row) in share.iter().enumerate() {
            if place % AHEAD == 0 {
                // Rows of one shared state lie apart from each other: they are read together.
                let ahead = &share[place..share.len().min(place + AHEAD)];
                black_box(ahead.iter().fold(0, |touched, &row| touched ^ rows.get(row as usize)[0]));
            }
            let row = row as usize;
            if let Some(renaming) = self.bad.renaming(self.listed(row)) {
                return Err(self.reject_bad(row, &renaming));
            }
            let asked = self.ask_alone(row, &mut batch)?;
            if asked.is_none() {
                self.check_successors(row, &mut successor, |to| rows.ask(&mut batch, to))?;
            }
            let wrong = asked == Some(false);
            if wrong || batch.len() >= TOGETHER || place + 1 == share.len() {
                if wrong || !rows.contain_all(&mut batch) {
                    let mut check = |&row: &u32| {
                        self.check_successors(row as usize, &mut successor, |to| rows.contains(to)).err()
                    };
                    let missing = share[waiting..=place].iter().find_map(&mut check);
                    return Err(missing.expect("one of the successors is missing"));
                }
                waiting = place + 1;
            }
        }
        Ok(())
    }

    /// What is wrong with the first row of which something is.
    fn first_wrong(&mut self, count: usize) -> Option<Rejection> {
        let rows = self.rows;
        let mut successor = vec![0; 1 + self.invariant.kinds.threads()];
        (0..count).find_map(|row| match self.bad.renaming(self.listed(row)) {
            Some(renaming) => Some(self.reject_bad(row, &renaming)),
            None => self.check_successors(row, &mut successor, |to| rows.contains(to)).err(),
        })
    }

    /// Puts the successors of a row to those that are to be looked up, if no two threads are of one kind and rows are words;
    /// otherwise does nothing. `false` if it is clear at once that something is wrong.
    fn ask_alone(&mut self, row: usize, batch: &mut Batch) -> Result<Option<bool>, Rejection> {
        let kinds = &self.invariant.kinds;
        let from = self.rows.get(row);
        let Some(mut like) = self.rows.like(batch, from).filter(|_| kinds.trivial()) else { return Ok(None) };
        let mut asked = 1;
        let column = |kind: usize| 1 + kinds.members(kind)[0];
        if (0..self.movers.len()).all(|kind| self.movers[kind].stands_for_something(from[column(kind)])) {
            for (kind, mover) in self.movers.iter_mut().enumerate() {
                let Ok(moves) = mover.moves(Shared(from[0]), from[column(kind)]) else {
                    return Ok(Some(false));
                };
                for step in mover.moves_in(moves) {
                    let targets = mover.targets_of(step);
                    asked += targets.len();
                    if !like.ask(step.rule.shared, column(kind), targets) {
                        return Ok(Some(false));
                    }
                }
            }
        }
        self.watch.spend(asked)?;
        Ok(Some(true))
    }

    /// `to` is room for a row; `there` says of a successor whether it is there, or will be looked up later.
    fn check_successors(
        &mut self,
        row: usize,
        to: &mut [u32],
        mut there: impl FnMut(&[u32]) -> bool,
    ) -> Result<(), Rejection> {
        self.watch.spend(1)?;
        let kinds = &self.invariant.kinds;
        let from = self.rows.get(row);
        let stands =
            |(thread, &window): (usize, &u32)| self.movers[kinds.kind(thread)].stands_for_something(window);
        if !from[1..].iter().enumerate().all(stands) {
            return Ok(());
        }
        to.copy_from_slice(from);
        for (kind, mover) in self.movers.iter_mut().enumerate() {
            let members = kinds.members(kind);
            for first in 0..members.len() {
                let window = from[1 + members[first]];
                if first > 0 && from[1 + members[first - 1]] == window {
                    continue;
                }
                let moves = match mover.moves(Shared(from[0]), window) {
                    Ok(moves) => moves,
                    Err(fault) => return Err(self.reject_fault(row, kind, window, fault)),
                };
                let mut place = first;
                for step in mover.moves_in(moves) {
                    let targets = mover.targets_of(step);
                    self.watch.spend(targets.len())?;
                    to[0] = step.rule.shared.0;
                    for &target in targets {
                        place = replace(to, members, place, target);
                        if !there(to) {
                            let gap = Gap::Window(self.invariant.windows[kind][target as usize].clone());
                            let fault = Fault::Missing(step.rule, gap);
                            return Err(self.reject_fault(row, kind, window, fault));
                        }
                    }
                }
                replace(to, members, place, window);
            }
        }
        Ok(())
    }

    /// In words of the row as it is listed, and of the first thread in it that has this kind and window.
    fn reject_fault(&self, row: usize, kind: usize, window: u32, fault: Fault) -> Rejection {
        let listed = self.listed(row);
        let members = self.invariant.kinds.members(kind);
        let moves = |&&thread: &&usize| listed[1 + thread] == window;
        let thread = members.iter().find(moves).copied().unwrap_or(members[0]);
        let top = self.invariant.windows[kind][window as usize].top();
        let (rule, gap) = match fault {
            Fault::NotAlike(other) => return self.reject_kinds((members[0], other), Shared(listed[0]), top),
            Fault::Missing(rule, gap) => (rule, gap),
        };
        let same = |other: &Rule| (other.shared, other.word) == (rule.shared, rule.word);
        let line = self
            .rules(thread, Shared(listed[0]), top)
            .into_iter()
            .find(same)
            .map_or(rule.line, |rule| rule.line);
        let (missing, lacks) = match gap {
            Gap::Below { above, under } => self.missing_below(thread, above, under),
            Gap::Window(window) => {
                let mut windows = self.windows(listed);
                windows[thread] = window;
                let state = shorten(&show_abstract(self.system, rule.shared, &windows));
                (Missing::State { shared: rule.shared, windows }, format!("the state {state} is missing"))
            }
        };
        let state = self.show_row(listed);
        let what = format!("state {}, {state}: thread {thread} can move by line {line}: {lacks}", row + 1);
        Rejection::Missing { origin: Origin::Step { row, thread, line }, missing, what }
    }

    fn missing_below(&self, thread: usize, above: Symbol, under: Symbol) -> (Missing, String) {
        let kinds = &self.invariant.kinds;
        let leader = kinds.members(kinds.kind(thread))[0];
        let name = |symbol| shorten(&show_symbols(self.system, leader, [symbol]));
        let (upper, lower) = (name(above), name(under));
        let fact = if under == EMPTY {
            format!("the stack can end under {upper}")
        } else {
            format!("{lower} can lie under {upper}")
        };
        let lacks = format!("{fact}, but `below {leader} {upper}:` lacks {lower}");
        (Missing::Below { thread: leader, above, under }, lacks)
    }

    fn reject_kinds(&self, threads: (usize, usize), shared: Shared, top: Symbol) -> Rejection {
        let mut what = format!("threads {} and {} are not of one kind", threads.0, threads.1);
        for (can, cannot) in [threads, (threads.1, threads.0)] {
            let others = effects(&self.rules(cannot, shared, top));
            let lacks = |rule: &Rule| !others.contains(&(rule.shared, rule.word));
            if let Some(rule) = self.rules(can, shared, top).into_iter().find(lacks) {
                let place = |shared, symbols: &[Symbol]| {
                    let stack = show_symbols(self.system, can, symbols.iter().copied());
                    shorten(&format!("{}|{stack}", self.system.shared_name(shared)))
                };
                let (from, to) = (place(shared, &[top]), place(rule.shared, rule.word.symbols()));
                let line = rule.line;
                what += &format!(
                    ": by line {line} thread {can} can go from {from} to {to}, thread {cannot} cannot"
                );
                break;
            }
        }
        Rejection::NotAlike { threads, shared, top, what }
    }

    fn reject_bad(&self, row: usize, renaming: &[u32]) -> Rejection {
        let listed = self.listed(row);
        let mut state = self.show_row(renaming);
        if renaming != listed {
            state = format!("{state}, which is {} with threads renamed,", self.show_row(listed));
        }
        Rejection::BadState { row, state }
    }

    fn rules(&self, thread: usize, shared: Shared, top: Symbol) -> Vec<Rule> {
        let mut rules = Vec::new();
        self.system.rules(thread, shared, top, &mut rules);
        rules
    }

    /// A row as it is in the invariant.
    fn listed(&self, row: usize) -> &'a [u32] {
        let width = 1 + self.invariant.kinds.threads();
        &self.invariant.rows[row * width..][..width]
    }

    fn windows(&self, row: &[u32]) -> Vec<Window> {
        let numbers = row[1..].iter().enumerate();
        numbers.map(|(thread, &number)| self.invariant.window_of(thread, number).clone()).collect()
    }

    fn show_row(&self, row: &[u32]) -> String {
        shorten(&show_abstract(self.system, Shared(row[0]), &self.windows(row)))
    }

    fn show(&self, state: &State) -> String {
        shorten(&show_state(self.system, state))
    }
}

/// Asks whether to stop, every few thousand look-ups.
struct Watch<'a> {
    stop: Stop<'a>,
    work: usize,
}

impl Watch<'_> {
    const EVERY: usize = 1 << 14;

    fn spend(&mut self, work: usize) -> Result<(), Rejection> {
        self.work += work;
        if self.work < Watch::EVERY {
            return Ok(());
        }
        self.work = 0;
        self.ask()
    }

    fn ask(&self) -> Result<(), Rejection> {
        (self.stop)().map_or(Ok(()), |reason| Err(Rejection::Stopped(reason)))
    }
}
