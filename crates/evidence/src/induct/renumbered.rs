//! Invariants up to renumbering: a state that is listed stands for all that it becomes when threads get other numbers.
//!
//! What a renumbering makes of a state is defined by [`Renumbering::row`]. That it turns steps into steps, and what is bad into
//! what is bad, is tested of the program ([`check_numbers`]), and of the property. So it is enough that some renumbering of each
//! initial state is listed, and some renumbering of each successor of a state that is listed: if a step leads from a covered
//! state `s` to `t`, then some renumbering of `s` is listed, the same renumbering of `t` is a successor of it, and some
//! renumbering of that is listed.
//!
//! Both sides are brought into a form that nearly all renumberings of a state have in common. Where two do not, a successor is
//! not found, and the invariant is rejected although it is one.

use super::Watch;
use crate::numbered::check_numbers;
use crate::rejection::shorten;
use crate::text::show_abstract;
use crate::{Invariant, Rejection, Stop, StopReason, Window};
use allways_model::encoding::Renumbering;
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, Shared, State, Symbol};
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Accepts an invariant of which each state stands for all its renumberings; see [`induct`](super::induct).
pub(super) fn induct(
    system: &dyn Pushdown,
    property: &Property,
    invariant: &Invariant,
    stop: Stop<'_>,
) -> Result<(), Rejection> {
    let malformed = |what: &str| Rejection::Malformed(what.to_string());
    let encoded = system.encoded().ok_or_else(|| malformed("only threads of programs are renumbered"))?;
    let mut renumbering = Renumbering::of(encoded)
        .ok_or_else(|| malformed("no variable and no array has to do with numbers of threads"))?;
    check_numbers(encoded, renumbering.numbers())?;
    let names_nobody = |shared: Shared| encoded.key(shared).values.is_empty();
    let symmetric = property
        .bad
        .iter()
        .all(|pattern| pattern.shared.is_none_or(names_nobody) && pattern.tops.iter().all(Option::is_none));
    if !symmetric {
        return Err(malformed("what must not be seen speaks of certain threads"));
    }
    let exact = |window: &Window| {
        window.symbols.len() == 1 && !window.more && window.symbols.len() < invariant.window
    };
    if !invariant.kinds.trivial()
        || invariant.within.is_some()
        || !invariant.windows.iter().flatten().all(exact)
    {
        return Err(malformed("up to renumbering, each thread is listed with the one symbol of its stack"));
    }
    let mut watch = Watch { stop, work: 0 };
    let mut rows = Rows::new(invariant, &mut renumbering, &mut watch)?;
    for state in system.initial() {
        let row = row_of(&state).filter(|row| rows.contains(row, &mut renumbering));
        if row.is_none() {
            let text = allways_model::notation::show_state(system, &state);
            let what = format!("initial state {} is missing, renumbered or not", shorten(&text));
            return Err(Rejection::NotClosed(what));
        }
    }
    let mut rules = Vec::new();
    for (number, (shared, windows)) in invariant.states().enumerate() {
        let tops: Vec<Symbol> = windows
            .iter()
            .enumerate()
            .map(|(thread, &window)| invariant.window_of(thread, window).top())
            .collect();
        let show = |shared: Shared, tops: &[Symbol]| {
            let windows = tops.iter().map(|&top| Window { symbols: vec![top], more: false });
            shorten(&show_abstract(system, shared, &windows.collect::<Vec<_>>()))
        };
        if property.violated_at(system, shared, &tops) {
            return Err(Rejection::BadState { row: number, state: show(shared, &tops) });
        }
        for (thread, &top) in tops.iter().enumerate() {
            rules.clear();
            system.rules(thread, shared, top, &mut rules);
            watch.spend(1 + rules.len())?;
            for rule in &rules {
                let &[top] = rule.word.symbols() else {
                    return Err(malformed("up to renumbering, each stack has one symbol"));
                };
                let mut to = tops.clone();
                to[thread] = top;
                let row: Vec<u32> =
                    std::iter::once(rule.shared.0).chain(to.iter().map(|symbol| symbol.0)).collect();
                if !rows.contains(&row, &mut renumbering) {
                    let what = format!(
                        "state {}: by line {} thread {thread} goes from {} to {}, which is missing, renumbered or not",
                        number + 1,
                        rule.line,
                        show(shared, &tops),
                        show(rule.shared, &to)
                    );
                    return Err(Rejection::NotClosed(what));
                }
            }
        }
    }
    system.incomplete().map_or(Ok(()), |why| Err(Rejection::Stopped(StopReason::GaveUp(why))))
}

/// The shared state, and the symbol of each thread.
fn row_of(state: &State) -> Option<Vec<u32>> {
    let mut row = vec![state.shared.0];
    for stack in &state.stacks {
        if stack.depth() != 1 {
            return None;
        }
        row.push(stack.top().0);
    }
    Some(row)
}

/// The states in the form that nearly all their renumberings have in common.
struct Rows {
    width: usize,
    rows: Vec<u32>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Rows {
    fn new(
        invariant: &Invariant,
        renumbering: &mut Renumbering<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Rows, Rejection> {
        let width = 1 + invariant.kinds.threads();
        let (table, hasher) = (HashTable::new(), DefaultHashBuilder::default());
        let mut set = Rows { width, rows: Vec::with_capacity(invariant.rows.len()), table, hasher };
        for (shared, windows) in invariant.states() {
            watch.spend(1)?;
            let tops = windows.iter().enumerate();
            let tops = tops.map(|(thread, &window)| invariant.window_of(thread, window).top().0);
            let row: Vec<u32> = std::iter::once(shared.0).chain(tops).collect();
            set.rows.extend(arranged(&row, renumbering));
            let Rows { rows, table, hasher, .. } = &mut set;
            let at = |number: u32| &rows[number as usize * width..][..width];
            let number = (rows.len() / width - 1) as u32;
            let hash = |&other: &u32| hasher.hash_one(at(other));
            let same = |&other: &u32| at(other) == at(number);
            if let Entry::Vacant(vacant) = table.entry(hasher.hash_one(at(number)), same, hash) {
                vacant.insert(number);
            }
        }
        Ok(set)
    }

    fn contains(&mut self, row: &[u32], renumbering: &mut Renumbering<'_>) -> bool {
        let row = arranged(row, renumbering);
        let same = |&other: &u32| self.rows[other as usize * self.width..][..self.width] == row[..];
        self.table.find(self.hasher.hash_one(&row[..]), same).is_some()
    }
}

fn arranged(row: &[u32], renumbering: &mut Renumbering<'_>) -> Vec<u32> {
    match renumbering.arrangement(row) {
        Some(names) => renumbering.row(row, &names),
        None => row.to_vec(),
    }
}
