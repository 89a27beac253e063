//! Sets of facts as products: whether they contain a bad state, and as evidence.

use super::facts::{Cell, Facts};
use super::locals::Locals;
use super::views::Views;
use allways_evidence::products::{Fact, Product, Products};
use allways_model::notation::show_symbols;
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{Pushdown, Shared, Symbol};
use std::collections::BTreeSet;

/// What sets of facts are about.
pub struct Judge<'a, 'l> {
    /// The system.
    pub system: &'a dyn Pushdown,
    /// Which sets there are.
    pub views: &'l Views,
    /// The locals of each kind.
    pub locals: &'l [Locals<'a>],
}

/// A state that the products contain, as far as it is known: the shared state, and for each thread a top.
pub struct Suspect {
    /// The shared state.
    pub shared: Shared,
    /// For each thread, what its set has on top there; `None` if that does not matter.
    pub tops: Vec<Option<Symbol>>,
}

impl Judge<'_, '_> {
    /// A bad state that the products contain.
    pub fn suspect(&self, property: &Property, facts: &Facts) -> Option<Suspect> {
        let seen: BTreeSet<(usize, Shared)> =
            facts.iter().map(|(cell, shared, _)| (self.views.view(cell), shared)).collect();
        let mut all = seen.into_iter();
        all.find_map(|(view, shared)| {
            let mut bad = property.bad.iter().filter(|bad| bad.shared.is_none_or(|bad| bad == shared));
            let matched = bad.find_map(|bad| self.matched(bad, facts, view, shared));
            matched.or_else(|| property.deadlock.then(|| self.stuck(facts, view, shared))?)
        })
    }

    fn top(&self, cell: Cell, local: u32) -> Symbol {
        self.locals[self.views.kind(cell)].get(local).0
    }

    /// The top of a thread in a set, if it can be as demanded.
    fn suits(
        &self,
        facts: &Facts,
        cell: Cell,
        shared: Shared,
        demand: Option<Symbol>,
    ) -> Option<Option<Symbol>> {
        let mut tops = facts.at(cell, shared).iter().map(|&local| self.top(cell, local));
        match demand {
            Some(top) => tops.any(|other| other == top).then_some(Some(top)),
            None if self.views.optional(cell) => Some(None),
            None => tops.next().map(Some),
        }
    }

    fn matched(&self, pattern: &Pattern, facts: &Facts, view: usize, shared: Shared) -> Option<Suspect> {
        let kinds = &self.views.population.kinds;
        let rest = |thread: usize| {
            let cell = self.views.rest(view, kinds.kind(thread));
            self.suits(facts, cell, shared, pattern.tops[thread])
        };
        let mut tops = Vec::new();
        let mut outside = None;
        for thread in 0..kinds.threads() {
            match rest(thread) {
                Some(top) => tops.push(top),
                None if outside.is_none() => {
                    outside = Some(thread);
                    tops.push(None);
                }
                None => return None,
            }
        }
        if !self.views.movers {
            return outside.is_none().then_some(Suspect { shared, tops });
        }
        // Some thread of the view's kind is the mover: the one that does not fit the rest, if there is one.
        let mover = self.views.moved(view);
        let mut members: &[usize] = kinds.members(view);
        if let Some(outside) = outside {
            let place = members.iter().position(|&thread| thread == outside)?;
            members = &members[place..=place];
        } else if self.views.population.many[view] && !facts.at(mover, shared).is_empty() {
            return Some(Suspect { shared, tops });
        }
        members.iter().find_map(|&thread| {
            tops[thread] = self.suits(facts, mover, shared, pattern.tops[thread])?;
            Some(Suspect { shared, tops: tops.clone() })
        })
    }

    /// A state in which no thread can move, and one has not ended.
    fn stuck(&self, facts: &Facts, view: usize, shared: Shared) -> Option<Suspect> {
        let kinds = &self.views.population.kinds;
        let mut waits = false;
        let mut tops = vec![None; kinds.threads()];
        let mut rules = Vec::new();
        for cell in self.views.cells(view) {
            let leader = kinds.members(self.views.kind(cell))[0];
            let mut found = None;
            for top in facts.at(cell, shared).iter().map(|&local| self.top(cell, local)) {
                rules.clear();
                self.system.rules(leader, shared, top, &mut rules);
                if rules.is_empty() {
                    waits |= !self.system.ended(leader, top);
                    found = Some(top);
                }
            }
            if found.is_none() && !self.views.optional(cell) {
                return None;
            }
            kinds.members(self.views.kind(cell)).iter().for_each(|&thread| tops[thread] = found);
        }
        waits.then_some(Suspect { shared, tops })
    }

    /// The sets as products. `next` says for a kind which product follows.
    pub fn products(&self, facts: &Facts, next: &[usize]) -> Vec<Product> {
        let kinds = self.views.kinds();
        let mut products: Vec<Product> = (0..self.views.views())
            .map(|_| Product { mover: None, rest: vec![Vec::new(); kinds], next: next.to_vec() })
            .collect();
        for (view, product) in products.iter_mut().enumerate() {
            if self.views.movers {
                product.mover = Some((view, Vec::new()));
            }
        }
        for (cell, shared, local) in facts.each() {
            let (view, kind) = (self.views.view(cell), self.views.kind(cell));
            let (top, context) = self.locals[kind].get(local);
            let fact = Fact { shared, top, context };
            match &mut products[view].mover {
                Some((_, mover)) if self.views.is_mover(cell) => mover.push(fact),
                _ => products[view].rest[kind].push(fact),
            }
        }
        for product in &mut products {
            product.rest.iter_mut().for_each(|facts| facts.sort_unstable());
            product.mover.iter_mut().for_each(|(_, facts)| facts.sort_unstable());
        }
        products
    }

    /// Products as evidence.
    pub fn evidence(&self, products: Vec<Product>) -> Products {
        Products {
            kinds: self.views.population.kinds.clone(),
            many: self.views.population.many.clone(),
            contexts: self.locals.iter().map(|locals| locals.contexts().to_vec()).collect(),
            products,
        }
    }

    /// A suspect in words.
    pub fn show(&self, suspect: &Suspect) -> String {
        const SHOWN: usize = 8;
        let mut text = self.system.shared_name(suspect.shared);
        for (thread, top) in suspect.tops.iter().enumerate().take(SHOWN) {
            text.push(if thread == 0 { '|' } else { ',' });
            text += &top.map_or("*".to_string(), |top| show_symbols(self.system, thread, [top]));
        }
        if suspect.tops.len() > SHOWN { text + ",…" } else { text }
    }
}
