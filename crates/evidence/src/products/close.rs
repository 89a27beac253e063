//! The checker of products: tests that every step leads from what a product contains to what the next one contains.
//!
//! What a product *contains* is defined in [`products`](super). Let thread `t` of kind `k` move from a state that product `p`
//! contains, and let `q` be `p`'s next for `k`. The shared state changes from `g` to `g'` for all threads, and the stack of
//! `t` alone changes. So it is enough that
//!
//! 1. for each set of `p` that `t` may be in, each of its facts `(g, a, c)` and each rule of `t` for `(g, a)`: `q`'s set for
//!    the one that moved (that of its mover, if it has one) contains what the rule makes of the fact:
//!    * a pop: `(g', b, d)` for each tail `(b, d)` of `c`, or `(g', EMPTY, END)` if `c` is [`END`];
//!    * an overwriting: `(g', b, c)`;
//!    * a push of `b` onto `b'`: some `(g', b, d)` where `d` has the tail `(b', c)`;
//! 2. for each set of `p` that another thread may be in at the same time, and each fact `(g, b, d)` in it: `q`'s set for the
//!    rest contains `(g', b, d)`. Another thread is in another set, or in the same one if that has room for two.
//!
//! If each initial state is in some product, then by induction on the length of a run so is each reachable state.
//!
//! # Any number of threads
//!
//! Neither 1 nor 2 depends on how many threads there are, apart from whether a set has room for one or two; where threads are
//! many it has room for both. So 1 and 2 hold for any number of threads at once. A step with fewer threads is one of those
//! looked at. Initially each of the many starts, for itself, as some initial state says: if one product contains all initial
//! states, it contains with these all their combinations, since it is a product. If it has a mover, there must be a thread of
//! the mover's kind: so either its threads are not many, or each kind has such a product of its own, and whatever threads
//! there are, one of them is a mover. (Without any thread there is no step, and a shared state that is bad without threads is
//! bad with them.)

use super::{END, Fact, Product, Products};
use crate::StopReason;
use crate::rejection::{Rejection, shorten};
use allways_model::notation::{show_state, show_symbols};
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{EMPTY, Pushdown, Rule, Shared, Stack, State, Symbol};
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeSet;

/// Accepts products that contain the initial states, are closed under every step, and contain no bad state.
///
/// Asks `stop` now and then whether to go on. Shared states and symbols must be ones that the system has names for.
pub fn close(
    system: &dyn Pushdown,
    property: &Property,
    products: &Products,
    stop: &dyn Fn() -> Option<StopReason>,
) -> Result<(), Rejection> {
    shape(system, products).map_err(Rejection::Malformed)?;
    let mut checker = Checker { system, products, stop, work: 0, rules: HashMap::new() };
    checker.spend(0)?;
    let cells: Vec<Cells> = products.products.iter().map(|product| Cells::new(products, product)).collect();
    checker.check_initial(&cells)?;
    for (number, product) in products.products.iter().enumerate() {
        checker.check_bad(property, number, &cells[number])?;
        checker.check_steps((number, product), &cells)?;
    }
    match system.incomplete() {
        Some(why) => Err(Rejection::Stopped(StopReason::GaveUp(why))),
        None => Ok(()),
    }
}

/// Accepts products of which the facts name threads that are of one kind: those have the same rules wherever a fact says that
/// they may be.
pub(crate) fn check_kinds(
    system: &dyn Pushdown,
    products: &Products,
    stop: &dyn Fn() -> Option<StopReason>,
) -> Result<(), Rejection> {
    let mut checker = Checker { system, products, stop, work: 0, rules: HashMap::new() };
    for (kind, facts) in products.products.iter().flat_map(|product| product.rest.iter().enumerate()) {
        for fact in facts {
            checker.rules(kind, fact.shared, fact.top)?;
        }
    }
    Ok(())
}

/// What must hold before the meaning can be asked for.
pub(crate) fn shape(system: &dyn Pushdown, products: &Products) -> Result<(), String> {
    let kinds = &products.kinds;
    if kinds.threads() != system.threads() {
        return Err(format!("kinds for {} threads: expected {}", kinds.threads(), system.threads()));
    }
    let count = kinds.count();
    if products.many.len() != count || products.contexts.len() != count {
        return Err(format!("expected contexts for {count} kinds of threads"));
    }
    for kind in 0..count {
        let leader = kinds.members(kind)[0];
        for &thread in kinds.members(kind) {
            if system.many(thread) != products.many[kind] {
                let is = if system.many(thread) { "stands" } else { "does not stand" };
                return Err(format!("thread {thread} {is} for any number of threads"));
            }
        }
        let contexts = &products.contexts[kind];
        if contexts.first().is_none_or(|end| !end.is_empty()) {
            return Err(format!("thread {leader}: context {END}, the end of the stack, has tails"));
        }
        let fits =
            |&(symbol, context): &(Symbol, u32)| symbol != EMPTY && (context as usize) < contexts.len();
        if let Some(context) = contexts.iter().position(|tails| !tails.iter().all(fits)) {
            return Err(format!("thread {leader}: context {context} has a tail that makes no sense"));
        }
    }
    for (number, product) in products.products.iter().enumerate() {
        let known = |kind: usize, fact: &Fact| {
            (fact.context as usize) < products.contexts[kind].len()
                && (!fact.is_empty() || fact.context == END)
        };
        let mover = product.mover.iter().map(|(kind, facts)| (*kind, facts));
        if product.rest.len() != count || product.next.len() != count {
            return Err(format!("product {}: expected a set and a next for {count} kinds", number + 1));
        }
        if product.mover.as_ref().is_some_and(|(kind, _)| *kind >= count) {
            return Err(format!("product {}: there is no such kind", number + 1));
        }
        for (kind, facts) in mover.chain(product.rest.iter().enumerate()) {
            if !facts.iter().all(|fact| known(kind, fact)) {
                return Err(format!("product {}: a context that is not there", number + 1));
            }
        }
        for (kind, &next) in product.next.iter().enumerate() {
            let Some(next) = products.products.get(next) else {
                return Err(format!("product {}: there is no product {}", number + 1, next + 1));
            };
            if next.mover.as_ref().is_some_and(|(moved, _)| *moved != kind) {
                let what = "the one that moved is not of the kind of the next one's mover";
                return Err(format!("product {}: {what}", number + 1));
            }
        }
    }
    Ok(())
}

/// The sets of a product, for look-up.
struct Cells {
    sets: Vec<Cell>,
    /// Which of them is the mover's.
    mover: Option<usize>,
}

struct Cell {
    kind: usize,
    /// How many threads can be in it at a time: 0, 1, or 2 and more.
    room: usize,
    /// Whether there need not be a thread in it.
    optional: bool,
    facts: HashSet<Fact>,
    at: HashMap<Shared, Vec<Fact>>,
}

impl Cells {
    fn new(products: &Products, product: &Product) -> Cells {
        let mover = product.mover.as_ref().map(|(kind, _)| *kind);
        let mut sets: Vec<Cell> = Vec::new();
        for (kind, facts) in product.rest.iter().enumerate() {
            let members = products.kinds.members(kind).len() - usize::from(mover == Some(kind));
            let many = products.many[kind];
            sets.push(Cell::new(kind, if many { 2 } else { members }, many, facts));
        }
        if let Some((kind, facts)) = &product.mover {
            sets.push(Cell::new(*kind, 1, false, facts));
        }
        let mover = mover.map(|_| sets.len() - 1);
        Cells { sets, mover }
    }

    /// The set of a thread that has just moved.
    fn moved(&self, kind: usize) -> &Cell {
        &self.sets[self.mover.unwrap_or(kind)]
    }
}

impl Cell {
    fn new(kind: usize, room: usize, optional: bool, facts: &[Fact]) -> Cell {
        let mut at: HashMap<Shared, Vec<Fact>> = HashMap::new();
        for fact in facts {
            at.entry(fact.shared).or_default().push(*fact);
        }
        Cell { kind, room, optional, facts: facts.iter().copied().collect(), at }
    }

    fn at(&self, shared: Shared) -> &[Fact] {
        self.at.get(&shared).map_or(&[], Vec::as_slice)
    }

    fn shows(&self, shared: Shared, top: Symbol) -> bool {
        self.at(shared).iter().any(|fact| fact.top == top)
    }
}

struct Checker<'a> {
    system: &'a dyn Pushdown,
    products: &'a Products,
    stop: &'a dyn Fn() -> Option<StopReason>,
    work: usize,
    /// For a kind, a shared state and a top, which are also known to be alike for all threads of the kind.
    rules: HashMap<(usize, Shared, Symbol), Vec<Rule>>,
}

impl Checker<'_> {
    fn spend(&mut self, work: usize) -> Result<(), Rejection> {
        const OFTEN: usize = 1 << 14;
        self.work += work;
        if self.work < OFTEN && work > 0 {
            return Ok(());
        }
        self.work = 0;
        (self.stop)().map_or(Ok(()), |reason| Err(Rejection::Stopped(reason)))
    }

    fn check_initial(&mut self, cells: &[Cells]) -> Result<(), Rejection> {
        let initial = self.system.initial();
        if self.products.any_number() {
            let holds = |cells: &&Cells| initial.iter().all(|state| self.contains(cells, state));
            let all: Vec<&Cells> = cells.iter().filter(holds).collect();
            let mover = |cells: &Cells| cells.mover.map(|mover| cells.sets[mover].kind);
            let certain = |cells: &&Cells| mover(cells).is_none_or(|kind| !self.products.many[kind]);
            let has = |kind| all.iter().any(|cells| mover(cells) == Some(kind));
            if !all.iter().any(certain) && !(0..self.products.kinds.count()).all(has) {
                let what = "no product contains all initial states with any number of threads".to_string();
                return Err(Rejection::NotClosed(what));
            }
        }
        for state in &initial {
            if !cells.iter().any(|cells| self.contains(cells, state)) {
                let state = shorten(&show_state(self.system, state));
                return Err(Rejection::NotClosed(format!("no product contains the initial state {state}")));
            }
        }
        self.spend(initial.len())
    }

    /// Whether a product contains a state, and where threads are many, that with any number of threads like these.
    fn contains(&self, cells: &Cells, state: &State) -> bool {
        let kinds = &self.products.kinds;
        let fits = |cell: &Cell, thread: usize| {
            let stack = &state.stacks[thread];
            let mut facts = cell.at(state.shared).iter().filter(|fact| fact.top == stack.top());
            facts.any(|fact| stack.depth() == 0 || self.reads(cell.kind, fact.context, stack))
        };
        let rest = |thread: usize| fits(&cells.sets[kinds.kind(thread)], thread);
        let Some(mover) = cells.mover.map(|mover| &cells.sets[mover]) else {
            return (0..kinds.threads()).all(rest);
        };
        let outside: Vec<usize> = (0..kinds.threads()).filter(|&thread| !rest(thread)).collect();
        let members = kinds.members(mover.kind);
        if self.products.many[mover.kind] {
            outside.is_empty() && members.iter().all(|&thread| fits(mover, thread))
        } else {
            let alone = |thread: usize| outside.iter().all(|&other| other == thread);
            members.iter().any(|&thread| alone(thread) && fits(mover, thread))
        }
    }

    /// Whether what lies below the top of a stack is in the language of a context.
    fn reads(&self, kind: usize, context: u32, stack: &Stack) -> bool {
        let mut at = BTreeSet::from([context]);
        for symbol in stack.symbols().skip(1) {
            let tails = |context: &u32| self.products.contexts[kind][*context as usize].iter();
            let next = at.iter().flat_map(tails).filter(|tail| tail.0 == symbol).map(|tail| tail.1);
            at = next.collect();
        }
        at.contains(&END)
    }

    fn check_steps(
        &mut self,
        (number, product): (usize, &Product),
        cells: &[Cells],
    ) -> Result<(), Rejection> {
        let here = &cells[number];
        for (index, cell) in here.sets.iter().enumerate().filter(|(_, cell)| cell.room > 0) {
            let next = &cells[product.next[cell.kind]];
            // How this set changes the shared state: to be done once, whatever the fact and the rule.
            let mut changes: HashSet<(Shared, Shared)> = HashSet::new();
            for fact in &cell.facts {
                for rule in self.rules(cell.kind, fact.shared, fact.top)? {
                    self.check_mover((number, cell), *fact, &rule, next)?;
                    if changes.insert((fact.shared, rule.shared)) {
                        let others = here.sets.iter().enumerate();
                        let others = others.filter(|(other, cell)| cell.room > usize::from(*other == index));
                        for (_, other) in others {
                            self.check_bystanders((number, other), (fact, &rule), next, cell.kind)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn check_mover(
        &mut self,
        (number, cell): (usize, &Cell),
        fact: Fact,
        rule: &Rule,
        next: &Cells,
    ) -> Result<(), Rejection> {
        let (shared, moved) = (rule.shared, next.moved(cell.kind));
        let contexts = &self.products.contexts[cell.kind];
        let tails = &contexts[fact.context as usize];
        self.spend(1 + tails.len())?;
        let lacks = |fact: &Fact| !moved.facts.contains(fact);
        let missing = match *rule.word.symbols() {
            [] if fact.context == END => Some(Fact { shared, top: EMPTY, context: END }).filter(lacks),
            [] => {
                let uncovered = tails.iter().map(|&(top, context)| Fact { shared, top, context });
                uncovered.into_iter().find(lacks)
            }
            [top] => Some(Fact { shared, top, context: fact.context }).filter(lacks),
            [top, under, ..] => {
                let pushed = (under, fact.context);
                let there =
                    |fact: &Fact| fact.top == top && contexts[fact.context as usize].contains(&pushed);
                let there = moved.at(shared).iter().any(there);
                (!there).then_some(Fact { shared, top, context: fact.context })
            }
        };
        let Some(missing) = missing else { return Ok(()) };
        let thread = self.products.kinds.members(cell.kind)[0];
        let (from, to) = (self.show(cell.kind, fact), self.show(cell.kind, missing));
        Err(Rejection::NotClosed(format!(
            "product {}: thread {thread} can move from {from} by line {} to {to}, which the next product lacks",
            number + 1,
            rule.line
        )))
    }

    fn check_bystanders(
        &mut self,
        (number, cell): (usize, &Cell),
        (fact, rule): (&Fact, &Rule),
        next: &Cells,
        mover: usize,
    ) -> Result<(), Rejection> {
        let rest = &next.sets[cell.kind];
        let facts = cell.at(fact.shared);
        self.spend(1 + facts.len())?;
        let after = facts.iter().map(|fact| Fact { shared: rule.shared, ..*fact });
        let Some(missing) = after.into_iter().find(|fact| !rest.facts.contains(fact)) else { return Ok(()) };
        let kinds = &self.products.kinds;
        let (thread, other) = (kinds.members(mover)[0], kinds.members(cell.kind)[0]);
        Err(Rejection::NotClosed(format!(
            "product {}: when thread {thread} moves from {} by line {}, a thread like {other} comes to {}, \
             which the next product lacks",
            number + 1,
            self.show(mover, *fact),
            rule.line,
            self.show(cell.kind, missing)
        )))
    }

    fn check_bad(&mut self, property: &Property, number: usize, cells: &Cells) -> Result<(), Rejection> {
        let bad = |shared: Shared| {
            let shared = shorten(&self.system.shared_name(shared));
            Rejection::NotClosed(format!(
                "product {}: a state with shared state {shared} violates the property",
                number + 1
            ))
        };
        let mut seen: Vec<Shared> = cells.sets.iter().flat_map(|cell| cell.at.keys().copied()).collect();
        seen.sort_unstable();
        seen.dedup();
        for pattern in &property.bad {
            let shared = pattern.shared.map_or(&seen[..], |shared| match seen.binary_search(&shared) {
                Ok(found) => &seen[found..=found],
                Err(_) => &[],
            });
            if let Some(&shared) = shared.iter().find(|&&shared| self.may_match(pattern, cells, shared)) {
                return Err(bad(shared));
            }
        }
        if property.deadlock {
            for &shared in &seen {
                if self.may_be_stuck(cells, shared)? {
                    return Err(bad(shared));
                }
            }
        }
        self.spend(1 + seen.len())
    }

    /// Whether a product contains a state with this shared state that the pattern matches.
    fn may_match(&self, pattern: &Pattern, cells: &Cells, shared: Shared) -> bool {
        let kinds = &self.products.kinds;
        let suits = |cell: &Cell, thread: usize| match pattern.tops[thread] {
            Some(top) => cell.shows(shared, top),
            None => cell.optional || !cell.at(shared).is_empty(),
        };
        let rest = |thread: usize| suits(&cells.sets[kinds.kind(thread)], thread);
        let Some(mover) = cells.mover.map(|mover| &cells.sets[mover]) else {
            return (0..kinds.threads()).all(rest);
        };
        let outside: Vec<usize> = (0..kinds.threads()).filter(|&thread| !rest(thread)).collect();
        let members = kinds.members(mover.kind);
        let alone = |thread: usize| outside.iter().all(|&other| other == thread);
        // Some thread of many is the mover, perhaps one that the pattern does not speak of.
        let unnamed = self.products.many[mover.kind] && outside.is_empty() && !mover.at(shared).is_empty();
        unnamed || members.iter().any(|&thread| alone(thread) && suits(mover, thread))
    }

    /// Whether a product contains a state with this shared state in which nobody can move and not everyone has ended.
    fn may_be_stuck(&mut self, cells: &Cells, shared: Shared) -> Result<bool, Rejection> {
        let (mut stuck, mut waits) = (true, false);
        for cell in cells.sets.iter().filter(|cell| cell.room > 0) {
            let mut here = false;
            for fact in cell.at(shared) {
                if self.rules(cell.kind, shared, fact.top)?.is_empty() {
                    here = true;
                    let members = self.products.kinds.members(cell.kind);
                    waits |= members.iter().any(|&thread| !self.system.ended(thread, fact.top));
                }
            }
            stuck &= here || cell.optional;
        }
        Ok(stuck && waits)
    }

    fn rules(&mut self, kind: usize, shared: Shared, top: Symbol) -> Result<Vec<Rule>, Rejection> {
        if let Some(rules) = self.rules.get(&(kind, shared, top)) {
            return Ok(rules.clone());
        }
        let of = |thread: usize| {
            let mut rules = Vec::new();
            self.system.rules(thread, shared, top, &mut rules);
            rules
        };
        let effects =
            |rules: &[Rule]| -> BTreeSet<_> { rules.iter().map(|rule| (rule.shared, rule.word)).collect() };
        let members = self.products.kinds.members(kind);
        let rules = of(members[0]);
        let expected = effects(&rules);
        if let Some(&other) = members[1..].iter().find(|&&other| effects(&of(other)) != expected) {
            let threads = (members[0], other);
            let what = format!("threads {} and {other} are not of one kind", members[0]);
            return Err(Rejection::NotAlike { threads, shared, top, what });
        }
        let work = members.len();
        self.rules.insert((kind, shared, top), rules.clone());
        self.spend(work)?;
        Ok(rules)
    }

    fn show(&self, kind: usize, fact: Fact) -> String {
        let leader = self.products.kinds.members(kind)[0];
        let top = if fact.is_empty() { None } else { Some(fact.top) };
        let text =
            format!("{}|{}", self.system.shared_name(fact.shared), show_symbols(self.system, leader, top));
        shorten(&text)
    }
}
