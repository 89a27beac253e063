//! Every schedule, breadth first, of programs whose threads can be renumbered.
//!
//! Threads that use `self` are different, but where their numbers only say who is meant, they can change places together with
//! their elements of arrays ([`Renumbering`]; whether they can is what the checker of such proofs says, and it is asked first).
//! Then one state is looked at of all that come about so, mostly one in `n!` for `n` threads. The initial state need not be
//! symmetric: what is covered is then more than what is reachable, and no more goes wrong, since of what goes wrong all
//! renumberings do.
//!
//! Invariant: each row is a renumbering of a reachable state, and the rows are in the form that `arrangement` gives. A run is
//! rebuilt with the renumbering between each state and its row at hand: if `σ` turns the row into the state, a step of thread
//! `t` from the row to `u` is a step of `σ(t)` from the state to `σ(u)`; and if `π` arranges `u`, the next state comes from the
//! next row by `σ` after the inverse of `π`.

use crate::budget::{Budget, Progress};
use crate::engine::{Engine, Figures, Info, Outcome, Question, Takes};
use crate::forms::Forms;
use crate::store::{StateId, States, trace};
use allways_evidence::{Invariant, StopReason, Trace, Verdict, Window, check_numbers};
use allways_model::encoding::{Encoded, Renumbering};
use allways_model::pushdown::{Pushdown, Rule, Shared, Stack, State, Symbol};
use allways_model::symmetry::Kinds;
use rustc_hash::FxHashMap;

/// The engine; see the module.
pub struct Orbits;

const INFO: Info = Info {
    takes: Takes::Programs,
    ..Info::new(
        "orbits",
        "explores every schedule of programs whose threads use `self` only to say who is meant, up to renumbering",
    )
};

/// How many states are expanded between two looks at the limits.
const POLL: usize = 512;

impl Engine for Orbits {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn supports(&self, forms: &Forms) -> Result<(), String> {
        let refused = |why: &str| format!("engine `orbits` does not support {why}");
        if forms.program().is_none() && forms.task().is_some() {
            return Err(refused("systems that are no programs"));
        }
        if !forms.has_property() {
            return Err(refused("questions without a property"));
        }
        Ok(())
    }

    fn run(&self, forms: &Forms, budget: &Budget) -> Outcome {
        if let Err(why) = self.supports(forms) {
            return Outcome::unknown(StopReason::GaveUp(why));
        }
        let form = match forms.pushdown() {
            Ok(form) => form,
            Err(reason) => return Outcome::unknown(reason),
        };
        let renumbering = match renumbering(&*form.system, &form.question) {
            Ok(renumbering) => renumbering,
            Err(why) => return Outcome::unknown(StopReason::GaveUp(why)),
        };
        Search::new(&*form.system, renumbering, &form.question, budget).run()
    }
}

/// Whether the threads of an instance can be renumbered.
pub fn supports(forms: &Forms) -> bool {
    Orbits.supports(forms).is_ok()
        && forms.pushdown().is_ok_and(|form| renumbering(&*form.system, &form.question).is_ok())
}

/// How the threads of a system can be renumbered, or why they cannot.
fn renumbering<'a>(system: &'a dyn Pushdown, question: &Question) -> Result<Renumbering<'a>, String> {
    let none = || "no threads differ only in who is meant by their numbers".to_string();
    if question.no_symmetry || question.bounded() {
        return Err(none());
    }
    let encoded: &Encoded = system.encoded().ok_or_else(none)?;
    let names_nobody = |shared: Shared| encoded.key(shared).values.is_empty();
    let symmetric =
        question.property.bad.iter().all(|pattern| {
            pattern.shared.is_none_or(names_nobody) && pattern.tops.iter().all(Option::is_none)
        });
    let renumbering = Renumbering::of(encoded).filter(|_| symmetric).ok_or_else(none)?;
    check_numbers(encoded, renumbering.numbers()).map_err(|why| why.to_string())?;
    Ok(renumbering)
}

/// Where a thread can go: the shared state and its symbol.
type To = (u32, u32);

struct Search<'a> {
    system: &'a dyn Pushdown,
    question: &'a Question,
    budget: &'a Budget<'a>,
    renumbering: Renumbering<'a>,
    states: States,
    /// For each state the one it was found from; itself for an initial one.
    parents: Vec<StateId>,
    /// For each thread, for a shared state and a symbol, the range of its moves.
    known: Vec<FxHashMap<(u32, u32), (u32, u32)>>,
    moves: Vec<To>,
    rules: Vec<Rule>,
    tops: Vec<Symbol>,
    bad: Option<StateId>,
    images: u64,
}

impl<'a> Search<'a> {
    fn new(
        system: &'a dyn Pushdown,
        renumbering: Renumbering<'a>,
        question: &'a Question,
        budget: &'a Budget<'a>,
    ) -> Search<'a> {
        Search {
            system,
            question,
            budget,
            renumbering,
            states: States::new(1 + system.threads()),
            parents: Vec::new(),
            known: vec![FxHashMap::default(); system.threads()],
            moves: Vec::new(),
            rules: Vec::new(),
            tops: Vec::new(),
            bad: None,
            images: 0,
        }
    }

    fn run(mut self) -> Outcome {
        let verdict = match self.explore() {
            Err(reason) => Verdict::Unknown(reason),
            Ok(()) => match self.bad {
                Some(state) => Verdict::from(self.trace(state)),
                None => self.invariant().into(),
            },
        };
        let figures = Figures {
            concrete_states: Some(self.states.len()),
            images: self.images,
            store_bytes: self.states.bytes(),
            ..Figures::default()
        };
        Outcome::new(verdict, figures)
    }

    fn explore(&mut self) -> Result<(), StopReason> {
        for state in self.system.initial() {
            let row = row_of(&state);
            self.admit(&row, None);
        }
        let threads = self.system.threads();
        let mut row = Vec::new();
        let mut next = 0;
        while next < self.states.len() && self.bad.is_none() {
            if next % POLL == 0 {
                let progress =
                    Progress { states: self.states.len(), images: self.images, ..Progress::default() };
                self.budget.tick(&progress)?;
                if let Some(bytes) = self.states.growth(POLL * threads * 8) {
                    self.budget.room_for(bytes)?;
                }
            }
            let id = next as StateId;
            row.clear();
            row.extend(self.states.row(id));
            for thread in 0..threads {
                let (start, end) = self.moves(thread, row[0], row[1 + thread]);
                for index in start..end {
                    let (shared, symbol) = self.moves[index as usize];
                    let (old_shared, old_symbol) = (row[0], row[1 + thread]);
                    (row[0], row[1 + thread]) = (shared, symbol);
                    self.admit(&row, Some(id));
                    (row[0], row[1 + thread]) = (old_shared, old_symbol);
                }
            }
            self.images += threads as u64;
            next += 1;
        }
        Ok(())
    }

    /// The moves of a thread, as a range.
    fn moves(&mut self, thread: usize, shared: u32, symbol: u32) -> (u32, u32) {
        if let Some(&range) = self.known[thread].get(&(shared, symbol)) {
            return range;
        }
        self.rules.clear();
        self.system.rules(thread, Shared(shared), Symbol(symbol), &mut self.rules);
        let start = self.moves.len();
        for rule in &self.rules {
            // The checker has seen that no step is a call.
            let to = (rule.shared.0, rule.word.symbols().first().map_or(0, |symbol| symbol.0));
            if !self.moves[start..].contains(&to) {
                self.moves.push(to);
            }
        }
        let range = (start as u32, self.moves.len() as u32);
        self.known[thread].insert((shared, symbol), range);
        range
    }

    /// Adds the arrangement of a row.
    fn admit(&mut self, row: &[u32], from: Option<StateId>) {
        let names = self.renumbering.arrangement(row);
        let arranged = names.map(|names| self.renumbering.row(row, &names));
        let row = arranged.as_deref().unwrap_or(row);
        let (id, new) = self.states.insert(row);
        if new {
            self.parents.push(from.unwrap_or(id));
            self.tops.clear();
            self.tops.extend(row[1..].iter().map(|&symbol| Symbol(symbol)));
            if self.bad.is_none()
                && self.question.property.violated_at(self.system, Shared(row[0]), &self.tops)
            {
                self.bad = Some(id);
            }
        }
    }

    /// All states, as an invariant up to renumbering.
    fn invariant(&self) -> Invariant {
        let threads = self.system.threads();
        let mut invariant = Invariant { renumbered: true, ..Invariant::new(Kinds::distinct(threads), 2) };
        let mut numbers: Vec<FxHashMap<u32, u32>> = vec![FxHashMap::default(); threads];
        for id in 0..self.states.len() as StateId {
            for (column, value) in self.states.row(id).enumerate() {
                invariant.rows.push(match column.checked_sub(1) {
                    None => value,
                    Some(thread) => *numbers[thread].entry(value).or_insert_with(|| {
                        let windows = &mut invariant.windows[thread];
                        windows.push(Window { symbols: vec![Symbol(value)], more: false });
                        windows.len() as u32 - 1
                    }),
                });
            }
        }
        invariant
    }

    /// A run that ends in a renumbering of this state.
    fn trace(&mut self, id: StateId) -> Trace {
        let mut path = vec![id];
        while self.parents[path[path.len() - 1] as usize] != path[path.len() - 1] {
            path.push(self.parents[path[path.len() - 1] as usize]);
        }
        let rows: Vec<Vec<u32>> = path.iter().rev().map(|&id| self.states.row(id).collect()).collect();
        let threads = self.system.threads();
        let arranged = |renumbering: &mut Renumbering<'_>, row: &[u32]| match renumbering.arrangement(row) {
            Some(names) => (renumbering.row(row, &names), names),
            None => (row.to_vec(), (0..threads).collect()),
        };
        let starts = self.system.initial().into_iter().map(|state| (row_of(&state), state));
        let (start, names) = starts
            .map(|(row, state)| (state, arranged(&mut self.renumbering, &row)))
            .find_map(|(state, (row, names))| (row == rows[0]).then_some((state, names)))
            .expect("the first row is that of an initial state");
        // What each thread of a row is in the state.
        let mut known_as = inverse(&names);
        let mut run = vec![start];
        let mut movers = Vec::new();
        for pair in rows.windows(2) {
            let (thread, symbol, shared, names) = (0..threads)
                .find_map(|thread| {
                    let (start, end) = self.moves(thread, pair[0][0], pair[0][1 + thread]);
                    (start..end).find_map(|index| {
                        let (shared, symbol) = self.moves[index as usize];
                        let mut row = pair[0].clone();
                        (row[0], row[1 + thread]) = (shared, symbol);
                        let (row, names) = arranged(&mut self.renumbering, &row);
                        (row == pair[1]).then_some((thread, symbol, shared, names))
                    })
                })
                .expect("each row is arranged from a successor of the one before");
            let mover = known_as[thread];
            let mut to: State = run[run.len() - 1].clone();
            to.shared = self.renumbering.shared(Shared(shared), &known_as);
            to.stacks[mover] = Stack::from_top([self.renumbering.symbol(Symbol(symbol), &known_as)]);
            run.push(to);
            movers.push(mover);
            let back = inverse(&names);
            known_as = (0..threads).map(|thread| known_as[back[thread]]).collect();
        }
        trace::of(self.system, &run, &movers)
    }
}

/// Who becomes each thread.
fn inverse(names: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; names.len()];
    names.iter().enumerate().for_each(|(thread, &name)| inverse[name] = thread);
    inverse
}

/// The shared state, and the symbol of each thread.
fn row_of(state: &State) -> Vec<u32> {
    let tops = state.stacks.iter().map(|stack| stack.top().0);
    std::iter::once(state.shared.0).chain(tops).collect()
}
