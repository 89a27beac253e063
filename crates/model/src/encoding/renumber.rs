//! States in which threads have other numbers.
//!
//! A *renumbering* gives each thread the number of a thread of its template, each number once. What a state becomes is said by
//! [`Numbers`]: the frame of a thread goes to the thread it becomes, and so do its elements of arrays; and a variable that says
//! which thread is meant says what that one has become. Values that are left out since they do not matter stay 0.
//!
//! [`Renumbering::shared`] and [`Renumbering::symbol`] are this definition. Which renumbering is a good one is left to
//! [`Renumbering::arrangement`], which sorts threads by what the state says of them: first by their own frames and elements and
//! by who means them, then, where that leaves a choice, by the same of those they mean and by whom they are meant. What is
//! compared is the same for every renumbering of a state, so nearly all of them are arranged alike; where they are not, there
//! is a state more to be looked at, and nothing wrong. Both are made for one symbol on each stack.

use super::table::{Cell, Key, Point};
use super::{Encoded, Role, Table};
use crate::hash::{RowMap, Rows};
use crate::program::numbers::{Held, Numbers, Of};
use crate::program::{Program, TemplateId, Value, Variable};
use crate::pushdown::{EMPTY, Shared, Symbol};
use std::hash::{Hash, Hasher};

/// The most threads that are renumbered: a renumbering fits into a word.
const MOST: usize = 16;

/// The threads of a system, by number, with what is known about them; see the module.
pub struct Renumbering<'a> {
    encoded: &'a Encoded,
    numbers: Numbers,
    /// For each template, its first thread and how many it has.
    groups: Vec<(usize, usize)>,
    /// By shared state.
    shared_looks: Vec<Option<Look>>,
    /// By symbol and thread.
    symbol_looks: Vec<Option<Look>>,
    shared_after: RowMap<(u32, u64), Shared>,
    symbols_after: RowMap<(u32, u64), Symbol>,
}

/// What is seen of threads, whatever their numbers are.
#[derive(Clone)]
struct Look {
    /// For each thread, its mark.
    marks: Box<[u64]>,
    /// Who means whom, and how.
    links: Vec<(usize, u64, usize)>,
}

impl Look {
    fn mark(&mut self, thread: usize, mark: u64) {
        self.marks[thread] = self.marks[thread].wrapping_add(mark);
    }
}

impl<'a> Renumbering<'a> {
    /// For a system whose threads run from the start, if it is likely that they can be renumbered.
    pub fn of(encoded: &'a Encoded) -> Option<Renumbering<'a>> {
        let roles = encoded.roles();
        let groups = TemplateId::all(&encoded.program.templates).map(|template| {
            let of = |role: &&Role| role.template == template;
            let first = roles.iter().position(|role| role.template == template).unwrap_or(0);
            (first, roles.iter().filter(of).count())
        });
        let groups: Vec<(usize, usize)> = groups.collect();
        let fixed = roles.len() <= MOST && roles.iter().all(|role| !role.pooled && !role.many);
        let numbers = Numbers::guess(&encoded.reduced.program).filter(|_| fixed)?;
        groups.iter().any(|&(_, count)| count > 1).then(|| Renumbering {
            encoded,
            numbers,
            groups,
            shared_looks: Vec::new(),
            symbol_looks: Vec::new(),
            shared_after: RowMap::default(),
            symbols_after: RowMap::default(),
        })
    }

    /// What variables have to do with numbers of threads.
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// The thread that a value stands for.
    fn thread(&self, of: Of, value: Value) -> Option<usize> {
        let (first, count) = self.groups[of.template.index()];
        let number = usize::try_from(value.checked_sub(of.first)?).ok()?;
        (number < count).then_some(first + number)
    }

    /// What becomes of a value.
    fn value(&self, of: Option<Of>, value: Value, names: &[usize]) -> Value {
        let Some((of, thread)) = of.and_then(|of| Some((of, self.thread(of, value)?))) else { return value };
        let (first, _) = self.groups[of.template.index()];
        (names[thread] - first) as Value + of.first
    }

    /// What becomes of the values of some variables, as far as these matter.
    fn values(
        &self,
        (variables, held): (&[Variable], &[Held]),
        old: &[Value],
        matters: &[bool],
        names: &[usize],
    ) -> Vec<Value> {
        let mut new = old.to_vec();
        for (variable, held) in variables.iter().zip(held) {
            for element in 0..variable.slots() {
                let slot = variable.slot + element;
                if matters[slot] {
                    let to = self.value(held.index, element as Value, names) as usize;
                    new[variable.slot + to] = self.value(held.value, old[slot], names);
                }
            }
        }
        new
    }

    fn program(&self) -> &'a Program {
        &self.encoded.reduced.program
    }

    fn table(&self) -> &'a Table {
        &self.encoded.table
    }

    /// What a shared state becomes if each thread gets a new number: `names[thread]` is what it becomes.
    pub fn shared(&self, shared: Shared, names: &[usize]) -> Shared {
        let key = self.table().key(shared);
        if key.values.is_empty() {
            return shared;
        }
        let variables = (&self.program().shared[..], &self.numbers.shared[..]);
        let values = self.values(variables, &key.values, &self.encoded.reduced.shared, names);
        self.table().shared(Key { mode: key.mode.clone(), values: values.into() })
    }

    /// What a symbol becomes.
    pub fn symbol(&self, symbol: Symbol, names: &[usize]) -> Symbol {
        if symbol == EMPTY {
            return symbol;
        }
        let cell = self.table().cell(symbol);
        let Point::At(location) = cell.point else { return symbol };
        let procedure = self.program().locations[location].procedure;
        let variables =
            (&self.program().procedures[procedure].locals[..], &self.numbers.locals[procedure.index()][..]);
        let locals = self.values(variables, &cell.locals, &self.encoded.live_at(cell.point), names);
        self.table().symbol(Cell { point: cell.point, locals: locals.into() })
    }

    /// What a row, the shared state and the symbol of each thread, becomes.
    pub fn row(&mut self, row: &[u32], names: &[usize]) -> Vec<u32> {
        let code = names.iter().fold(0, |code, &name| code << 4 | name as u64);
        let mut new = vec![0; row.len()];
        new[0] = match self.shared_after.get(&(row[0], code)) {
            Some(shared) => shared.0,
            None => {
                let shared = self.shared(Shared(row[0]), names);
                self.shared_after.insert((row[0], code), shared);
                shared.0
            }
        };
        for (&symbol, &name) in row[1..].iter().zip(names) {
            new[1 + name] = match self.symbols_after.get(&(symbol, code)) {
                Some(symbol) => symbol.0,
                None => {
                    let after = self.symbol(Symbol(symbol), names);
                    self.symbols_after.insert((symbol, code), after);
                    after.0
                }
            };
        }
        new
    }

    /// A renumbering by which a row is to be told from others; nothing if each thread keeps its number.
    pub fn arrangement(&mut self, row: &[u32]) -> Option<Vec<usize>> {
        let threads = row.len() - 1;
        self.look_at(row);
        let looks = || {
            let symbols = row[1..].iter().enumerate();
            let symbols =
                symbols.map(|(thread, &symbol)| &self.symbol_looks[symbol as usize * threads + thread]);
            std::iter::once(&self.shared_looks[row[0] as usize]).chain(symbols).flatten()
        };
        let mut colours = [0_u64; MOST];
        for look in looks() {
            for (colour, &mark) in colours.iter_mut().zip(&look.marks) {
                *colour = colour.wrapping_add(mark);
            }
        }
        let mut kinds = self.distinct(&colours);
        // Who cannot be told apart is looked at by way of others, as long as that tells more.
        while kinds < threads {
            let mut next = colours.map(|colour| mixed((colour, 0_u64)));
            for &(from, how, to) in looks().flat_map(|look| &look.links) {
                next[from] = next[from].wrapping_add(mixed((how, 1_u64, colours[to])));
                next[to] = next[to].wrapping_add(mixed((how, 2_u64, colours[from])));
            }
            let more = self.distinct(&next);
            if more <= kinds {
                break;
            }
            (colours, kinds) = (next, more);
        }
        let sorted = |&(first, count): &(usize, usize)| colours[first..first + count].is_sorted();
        if self.groups.iter().all(sorted) {
            return None;
        }
        let mut names = vec![0; threads];
        for &(first, count) in &self.groups {
            let mut order: Vec<usize> = (first..first + count).collect();
            order.sort_by_key(|&thread| colours[thread]);
            order.iter().enumerate().for_each(|(place, &thread)| names[thread] = first + place);
        }
        Some(names)
    }

    /// Looks at the parts of a row that were not looked at before.
    fn look_at(&mut self, row: &[u32]) {
        let threads = row.len() - 1;
        let shared = row[0] as usize;
        if self.shared_looks.get(shared).is_none_or(Option::is_none) {
            let look = self.look_at_shared(Shared(row[0]));
            self.shared_looks.resize(self.shared_looks.len().max(shared + 1), None);
            self.shared_looks[shared] = Some(look);
        }
        for (thread, &symbol) in row[1..].iter().enumerate() {
            let place = symbol as usize * threads + thread;
            if self.symbol_looks.get(place).is_none_or(Option::is_none) {
                let look = self.look_at_symbol(thread, Symbol(symbol));
                self.symbol_looks.resize(self.symbol_looks.len().max(place + 1), None);
                self.symbol_looks[place] = Some(look);
            }
        }
    }

    /// How many threads can be told apart.
    fn distinct(&self, colours: &[u64]) -> usize {
        let mut count = 0;
        for &(first, many) in &self.groups {
            let group = &colours[first..first + many];
            count += (0..many).filter(|&place| !group[..place].contains(&group[place])).count();
        }
        count
    }

    fn blank(&self) -> Look {
        Look { marks: vec![0; self.encoded.roles.len()].into(), links: Vec::new() }
    }

    fn look_at_shared(&self, shared: Shared) -> Look {
        let key = self.table().key(shared);
        let mut look = self.blank();
        if !key.values.is_empty() {
            let variables = (&self.program().shared[..], &self.numbers.shared[..]);
            self.look(None, variables, &key.values, &self.encoded.reduced.shared, &mut look);
        }
        look
    }

    fn look_at_symbol(&self, thread: usize, symbol: Symbol) -> Look {
        let mut look = self.blank();
        if symbol == EMPTY {
            return look;
        }
        let cell = self.table().cell(symbol);
        let Point::At(location) = cell.point else { return look };
        look.mark(thread, mixed((location.index(), 7_u64)));
        let procedure = self.program().locations[location].procedure;
        let variables =
            (&self.program().procedures[procedure].locals[..], &self.numbers.locals[procedure.index()][..]);
        self.look(Some(thread), variables, &cell.locals, &self.encoded.live_at(cell.point), &mut look);
        look
    }

    /// What values say about threads: those of one of them, or shared ones.
    fn look(
        &self,
        whose: Option<usize>,
        (variables, held): (&[Variable], &[Held]),
        values: &[Value],
        matters: &[bool],
        look: &mut Look,
    ) {
        for (number, (variable, held)) in variables.iter().zip(held).enumerate() {
            for element in 0..variable.slots() {
                let slot = variable.slot + element;
                if !matters[slot] {
                    continue;
                }
                let owner = held.index.and_then(|of| self.thread(of, element as Value));
                let meant = held.value.and_then(|of| self.thread(of, values[slot]));
                // Elements of threads are told apart by whose they are, all others by where they are.
                let place = if owner.is_some() { usize::MAX } else { element };
                let what = mixed((number, place, whose.is_some()));
                let value = if meant.is_some() { Value::MIN } else { values[slot] };
                let said = mixed((what, value, meant.is_some()));
                let mut concerned: Vec<usize> = whose.into_iter().chain(owner).chain(meant).collect();
                for (place, &thread) in concerned.iter().enumerate() {
                    // In which roles it is the same one.
                    let roles = concerned.iter().map(|&other| u64::from(other == thread));
                    let roles = roles.fold(place as u64, |roles, same| roles << 1 | same);
                    look.mark(thread, mixed((said, roles)));
                }
                concerned.dedup();
                for pair in concerned.windows(2) {
                    look.links.push((pair[0], said, pair[1]));
                }
            }
        }
    }
}

fn mixed(what: impl Hash) -> u64 {
    let mut hasher = Rows::default();
    what.hash(&mut hasher);
    hasher.finish()
}

impl Encoded {
    /// Whether a shared state may say more of threads than the program computes: who holds a lock, or values of their own; or
    /// whether it leaves values open.
    pub fn names_threads(&self) -> bool {
        self.holders || self.mixed || self.open.contains(&true)
    }
}
