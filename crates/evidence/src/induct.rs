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
//! Thread `i` replaces its top by a word. Its new stack starts with the *prefix* `p` = word ++ `x2…`, of which every
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
//! Each "there" and "in" is also necessary, since every combination named occurs in some covered state. Hence the checker
//! accepts exactly the invariants that are inductive and contain no bad state, whether or not an engine would find them.
//!
//! Rules are asked for only at the shared state and a top of some abstract state, so systems may make them on the fly.
//!
//! Cost: what a thread can do from a (shared state, window) is worked out once (`mover`); a row then costs one look-up per
//! thread and one per successor.

mod mover;
mod rows;

use crate::rejection::{Missing, Origin, Rejection, shorten};
use crate::text::show_abstract;
use crate::{Invariant, StopReason, Window, shape};
use allways_model::notation::{show_state, show_symbols};
use allways_model::property::Property;
use allways_model::pushdown::{EMPTY, Pushdown, Shared, State};
use mover::{Gap, Mover};
use rows::Rows;

/// Accepts an invariant that covers the initial states, covers every successor of each state that it covers, and
/// contains no state that violates the property.
///
/// Asks `stop` now and then whether to go on. Shared states and symbols must be ones that the system has names for, as is
/// the case for all that [`read_evidence`](crate::read_evidence) gives.
pub fn induct(
    system: &dyn Pushdown,
    property: &Property,
    invariant: &Invariant,
    stop: &dyn Fn() -> Option<StopReason>,
) -> Result<(), Rejection> {
    let mut watch = Watch { stop, work: 0 };
    watch.ask()?;
    shape::check_invariant(system.threads(), invariant).map_err(Rejection::Malformed)?;
    let rows = Rows::new(invariant, &mut watch)?;
    let movers = (0..system.threads()).map(|thread| Mover::new(system, thread, invariant)).collect();
    let mut checker = Checker { system, invariant, rows, movers };
    for state in system.initial() {
        checker.check_initial(&state)?;
    }
    let mut tops = vec![EMPTY; system.threads()];
    for (row, (shared, windows)) in invariant.states().enumerate() {
        for (thread, &window) in windows.iter().enumerate() {
            tops[thread] = invariant.windows[thread][window as usize].top();
        }
        if property.violated_at(shared, &tops) {
            return Err(Rejection::BadState { row, state: checker.show_row(row) });
        }
        checker.check_successors(row, &mut watch)?;
    }
    Ok(())
}

struct Checker<'a> {
    system: &'a dyn Pushdown,
    invariant: &'a Invariant,
    rows: Rows<'a>,
    movers: Vec<Mover<'a>>,
}

impl Checker<'_> {
    /// By the definition of *covers*, word for word.
    fn check_initial(&self, state: &State) -> Result<(), Rejection> {
        let z = self.invariant.window;
        let mut windows = Vec::new();
        let mut numbers = vec![Some(state.shared)];
        for (thread, stack) in state.stacks.iter().enumerate() {
            let mut symbols: Vec<_> = stack.symbols().collect();
            let more = symbols.len() > z;
            let window = Window { symbols: symbols.iter().copied().take(z).collect(), more };
            numbers.push(self.movers[thread].find(&window.symbols, more));
            windows.push(window);
            symbols.push(EMPTY);
            for pair in symbols.get(z - 1..).unwrap_or_default().windows(2) {
                if !self.movers[thread].is_below(pair[0], pair[1]) {
                    return Err(self.reject_initial(
                        state,
                        thread,
                        Gap::Below { above: pair[0], under: pair[1] },
                    ));
                }
            }
        }
        // A window that is not even listed is in no row.
        let row: Option<Vec<u32>> = numbers.into_iter().collect();
        if row.is_some_and(|row| self.rows.contains(&row)) {
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

    fn check_successors(&mut self, row: usize, watch: &mut Watch<'_>) -> Result<(), Rejection> {
        watch.spend(1)?;
        let from = self.rows.get(row);
        if from[1..].iter().zip(&self.movers).any(|(&window, mover)| !mover.stands_for_something(window)) {
            return Ok(());
        }
        let mut to = from.to_vec();
        for (thread, &window) in from[1..].iter().enumerate() {
            let moves = match self.movers[thread].moves(from[0], window) {
                Ok(moves) => moves,
                Err(fault) => return Err(self.reject_step(row, thread, fault.shared, fault.line, fault.gap)),
            };
            for step in self.movers[thread].moves_in(moves) {
                let targets = self.movers[thread].targets_of(step);
                watch.spend(targets.len())?;
                to[0] = step.shared;
                for &target in targets {
                    to[1 + thread] = target;
                    if !self.rows.contains(&to) {
                        let window = self.invariant.windows[thread][target as usize].clone();
                        return Err(self.reject_step(
                            row,
                            thread,
                            step.shared,
                            step.line,
                            Gap::Window(window),
                        ));
                    }
                }
            }
            to[1 + thread] = window;
        }
        Ok(())
    }

    fn reject_initial(&self, state: &State, thread: usize, gap: Gap) -> Rejection {
        let (missing, lacks) = self.missing(thread, gap, state.shared, &[]);
        let what = format!("initial state {}: {lacks}", self.show(state));
        Rejection::Missing { origin: Origin::Initial, missing, what }
    }

    fn reject_step(&self, row: usize, thread: usize, shared: Shared, line: u32, gap: Gap) -> Rejection {
        let (missing, lacks) = self.missing(thread, gap, shared, &self.rows.get(row)[1..]);
        let state = self.show_row(row);
        let what = format!("state {}, {state}: thread {thread} can move by line {line}: {lacks}", row + 1);
        Rejection::Missing { origin: Origin::Step { row, thread, line }, missing, what }
    }

    /// What is missing, as a value and in words. `others` are the windows of the row that the step starts from.
    fn missing(&self, thread: usize, gap: Gap, shared: Shared, others: &[u32]) -> (Missing, String) {
        match gap {
            Gap::Window(window) => {
                let mut windows = self.windows(others);
                windows[thread] = window;
                let state = shorten(&show_abstract(self.system, shared, &windows));
                (Missing::State { shared, windows }, format!("the state {state} is missing"))
            }
            Gap::Below { above, under } => {
                let name = |symbol| shorten(&show_symbols(self.system, thread, [symbol]));
                let (upper, lower) = (name(above), name(under));
                let fact = if under == EMPTY {
                    format!("the stack can end under {upper}")
                } else {
                    format!("{lower} can lie under {upper}")
                };
                (
                    Missing::Below { thread, above, under },
                    format!("{fact}, but `below {thread} {upper}:` lacks {lower}"),
                )
            }
        }
    }

    fn windows(&self, indices: &[u32]) -> Vec<Window> {
        indices.iter().zip(&self.invariant.windows).map(|(&index, all)| all[index as usize].clone()).collect()
    }

    fn show_row(&self, row: usize) -> String {
        let row = self.rows.get(row);
        shorten(&show_abstract(self.system, row[0], &self.windows(&row[1..])))
    }

    fn show(&self, state: &State) -> String {
        shorten(&show_state(self.system, state))
    }
}

/// Asks whether to stop, every few thousand look-ups.
struct Watch<'a> {
    stop: &'a dyn Fn() -> Option<StopReason>,
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
