//! The Boolean program of a few threads of a program, for some predicates.
//!
//! Each instance of a predicate is a shared Boolean. A step of a thread becomes edges: the predicates over its own variables that
//! it changes get values that go together, under a condition on the values before; those that also speak of another thread,
//! which is passive, are chosen anew within a constraint. Both are found with the solver: it is asked for values before and after
//! that some state and step have, until there are no others.
//!
//! Invariant: for each step of the program between two states, the Boolean program has a step between their abstractions, from and
//! to the same locations; each edge knows the step that it comes from.

use super::atoms::Literal;
use super::expressions::{all, any, disjunction, formula, valued, written};
use super::narrow::Lemmas;
use super::path::Place;
use super::{cases::possible, owner, renamed, variables};
use crate::above::views::setting::Setting;
use crate::above::views::steps::{SELF, Transition, local};
use allways_evidence::StopReason;
use allways_model::program::{
    Binary, Count, Edge, Expr, Label, Location, LocationId, Never, Op, Procedure, ProcedureId, Program, Span,
    Template, TemplateId, Type, Unary, Variable,
};
use allways_smt::term::Node;
use allways_smt::{Answer, Failure, Solver, Term};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

/// The most predicates on which the effect of a step is taken to depend.
const MOST_RELEVANT: usize = 10;

/// The most ways in which predicates change together; with more, each changes on its own, and alone in any way.
const MOST_WAYS: usize = 300;

/// Why there is no Boolean program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoProgram {
    /// The solver has no answer.
    Solver(Failure),
    /// There was no time for it, or no use.
    Stopped(StopReason),
}

impl From<Failure> for NoProgram {
    fn from(failure: Failure) -> NoProgram {
        NoProgram::Solver(failure)
    }
}

/// Values of some predicates before a step, and of some after it.
type Way = (Vec<bool>, Vec<bool>);

/// What was asked for, and the answer: the ways, if they are not too many.
#[derive(Default)]
pub struct Known(HashMap<Asked, Option<Ways>>);

/// Formulas that hold, predicates before and after, and whose variables these are. Threads that are alike have the same question:
/// the one that moves is the first, and predicates are in the order that this gives.
#[derive(PartialEq, Eq, Hash)]
struct Asked {
    threads: Vec<TemplateId>,
    guard: Term,
    before: Vec<Term>,
    after: Vec<Term>,
}

type Ways = Arc<Vec<Way>>;

/// The predicates on which an outcome depends, and the ways.
type Effect = (Vec<usize>, Ways);

/// A Boolean program, and where its parts come from.
pub struct Abstract {
    /// The program.
    pub program: Program,
    /// For each location, whose it is, and which location of the program.
    pub places: Vec<(usize, LocationId)>,
    /// For each edge of each location, which of the steps from there.
    pub origins: Vec<Vec<usize>>,
    /// How often the solver was asked.
    pub queries: u64,
}

/// The threads, the steps and the predicates.
pub struct Source<'a> {
    /// The program.
    pub setting: &'a Setting<'a>,
    /// Its steps, case by case.
    pub steps: &'a [Vec<Transition>],
    /// The threads.
    pub threads: &'a [TemplateId],
    /// Instances of predicates for these threads.
    pub instances: &'a [Term],
    /// What is known of steps besides.
    pub lemmas: &'a Lemmas,
}

impl Source<'_> {
    /// The locations where the threads start.
    pub fn entries(&self) -> Vec<LocationId> {
        self.threads.iter().map(|template| self.setting.steps.entries[template.index()]).collect()
    }

    /// What is always true of these threads, which have the numbers of their order.
    pub fn facts(&self) -> Term {
        let mut facts = vec![self.setting.facts(&self.entries())];
        for (thread, template) in self.threads.iter().enumerate() {
            let before = self.threads[..thread].iter().filter(|other| *other == template).count();
            for known in self.setting.steps.locals[template.index()].iter().filter(|known| known.hidden) {
                let number = if known.name == SELF { before } else { thread + 1 };
                facts.push(Term::variable(&local(&known.name, thread)).equal(&Term::number(number as i128)));
            }
        }
        Term::and(facts)
    }

    /// A step of a thread, said of its own variables.
    pub fn place(&self, thread: usize, from: LocationId, step: usize) -> Place<'_> {
        Place { setting: self.setting, thread, from, transition: &self.steps[from.index()][step] }
    }

    /// The Boolean program.
    pub fn program(
        &self,
        solver: &mut dyn Solver,
        known: &mut Known,
        stop: &dyn Fn() -> Option<StopReason>,
    ) -> Result<Abstract, NoProgram> {
        let facts = self.facts();
        let mut making = Making { source: self, facts, solver, known, stop, queries: 0 };
        let shared = making.shared()?;
        let (mut places, mut origins, mut locations) = (Vec::new(), Vec::new(), Vec::<Location>::new());
        let mut procedures = Vec::new();
        for thread in 0..self.threads.len() {
            let entry = self.setting.steps.entries[self.threads[thread].index()];
            let reached = self.reached(entry);
            let first = places.len();
            let at = |location: LocationId| {
                reached.iter().position(|&other| other == location).map(|index| LocationId(first + index))
            };
            for &location in &reached {
                let (mut edges, mut from) = (Vec::new(), Vec::new());
                for (step, transition) in self.steps[location.index()].iter().enumerate() {
                    let to = transition.to.and_then(at);
                    for op in making.step(thread, location, step)? {
                        let here = LocationId(places.len());
                        edges.push(Edge { op, to: to.unwrap_or(here), span: transition.span });
                        from.push(step);
                    }
                }
                let procedure = ProcedureId(thread);
                let span = self.setting.program.locations[location].span;
                locations.push(Location { procedure, edges, span });
                places.push((thread, location));
                origins.push(from);
            }
            procedures.push(Procedure {
                name: format!("thread {thread}"),
                locals: Vec::new(),
                parameters: 0,
                results: Vec::new(),
                entry: LocationId(first),
                span: Span::default(),
            });
        }
        let templates = (0..self.threads.len()).map(|thread| Template {
            name: format!("thread {thread}"),
            body: ProcedureId(thread),
            count: Count::Fixed(1),
            spawned: false,
            vanishes: false,
            uses_self: false,
            span: Span::default(),
        });
        let program = Program {
            shared,
            procedures,
            locations,
            labels: Vec::<Label>::new(),
            templates: templates.collect(),
            never: self.never(&places),
            ..Program::default()
        };
        let queries = making.queries;
        Ok(Abstract { program, places, origins, queries })
    }

    /// The locations that a thread can come to.
    fn reached(&self, entry: LocationId) -> Vec<LocationId> {
        let mut found = vec![entry];
        let mut todo = VecDeque::from([entry]);
        while let Some(location) = todo.pop_front() {
            for to in self.steps[location.index()].iter().filter_map(|transition| transition.to) {
                if !found.contains(&to) {
                    found.push(to);
                    todo.push_back(to);
                }
            }
        }
        found
    }

    /// The properties, as far as predicates say them.
    fn never(&self, places: &[(usize, LocationId)]) -> Vec<Never> {
        let never = self.setting.bad.iter().map(|bad| {
            let demands = bad.demands.iter().map(|(locations, least)| {
                let here = (0..places.len()).filter(|&place| locations.contains(&places[place].1));
                let count = Expr::At(here.map(LocationId).collect());
                let least = Expr::Constant(i64::try_from(*least).unwrap_or(i64::MAX));
                Expr::Binary(Binary::GreaterEqual, Box::new(count), Box::new(least), Span::default())
            });
            let condition = self.possible(&bad.condition, true);
            Never { name: None, expr: all(demands.chain([condition])), span: Span::default() }
        });
        never.collect()
    }

    /// Whether a formula may be true, or false, by what predicates say of it.
    fn possible(&self, formula: &Term, expected: bool) -> Expr {
        match formula.node() {
            Node::Truth(value) => Expr::Constant((*value == expected).into()),
            Node::Not(part) => self.possible(part, !expected),
            Node::And(parts) | Node::Or(parts) => {
                let parts = parts.iter().map(|part| self.possible(part, expected));
                let and = matches!(formula.node(), Node::And(_)) == expected;
                if and { all(parts) } else { any(parts) }
            }
            _ => {
                let known = super::atoms::literal(formula).and_then(|literal| {
                    if let Some(value) = literal.predicate.as_truth() {
                        return Some(Expr::Constant(((value == literal.holds) == expected).into()));
                    }
                    let slot = self.instances.iter().position(|other| *other == literal.predicate)?;
                    Some(valued(slot, literal.holds == expected))
                });
                known.unwrap_or(Expr::Constant(1))
            }
        }
    }
}

/// A Boolean program while it is made.
struct Making<'a> {
    source: &'a Source<'a>,
    facts: Term,
    solver: &'a mut dyn Solver,
    known: &'a mut Known,
    stop: &'a dyn Fn() -> Option<StopReason>,
    queries: u64,
}

impl Making<'_> {
    /// A Boolean for each predicate.
    fn shared(&mut self) -> Result<Vec<Variable>, NoProgram> {
        let initial = self.source.setting.initial(&self.source.entries());
        let mut shared = Vec::new();
        for (slot, instance) in self.source.instances.iter().enumerate() {
            let known = [&self.facts, &initial];
            let may_hold = possible(&[known[0], known[1], instance], self.solver)?;
            let may_fail = possible(&[known[0], known[1], &instance.negation()], self.solver)?;
            self.queries += 2;
            let initial = match (may_hold, may_fail) {
                (true, true) => None,
                (holds, _) => Some(holds.into()),
            };
            shared.push(Variable {
                name: format!("p{slot}"),
                ty: Type::Bool,
                slot,
                length: None,
                initial: vec![initial],
                mixed: false,
                names: None,
                span: Span::default(),
            });
        }
        Ok(shared)
    }

    /// The edges of a step of a thread.
    fn step(&mut self, thread: usize, from: LocationId, step: usize) -> Result<Vec<Op>, NoProgram> {
        if let Some(reason) = (self.stop)() {
            return Err(NoProgram::Stopped(reason));
        }
        let source = self.source;
        let place = source.place(thread, from, step);
        let guard = place.guard();
        if place.transition.to.is_none() {
            let wrong = match self.ways(thread, &guard, &[])? {
                Some((_, ways)) if ways.is_empty() => return Ok(Vec::new()),
                Some((before, ways)) => disjunction(&before, ways.iter().map(|way| way.0.clone()).collect()),
                None => Expr::Constant(1),
            };
            let wrong = all([wrong].into_iter().chain(self.lemmas((thread, from, step), false)));
            return Ok(vec![Op::Assert(Expr::Unary(Unary::Not, Box::new(wrong)))]);
        }
        // Predicates that change, by the passive threads of which they speak.
        let mut groups: BTreeMap<BTreeSet<usize>, Vec<(usize, Term)>> = BTreeMap::from([Default::default()]);
        for (slot, instance) in source.instances.iter().enumerate() {
            let after = place.after(instance);
            if after != *instance {
                let names = variables(instance);
                let others = names.iter().filter_map(|name| owner(name)).filter(|&other| other != thread);
                groups.entry(others.collect()).or_default().push((slot, after));
            }
        }
        let mut own = groups.remove(&BTreeSet::new()).unwrap_or_default();
        let mut passive: Vec<Vec<(usize, Term)>> = groups.into_values().collect();
        let (before, ways) = match self.ways(thread, &guard, &own)? {
            Some(ways) => ways,
            None => {
                passive.extend(own.drain(..).map(|one| vec![one]));
                let any = || (Vec::new(), Arc::new(vec![Way::default()]));
                self.ways(thread, &guard, &[])?.unwrap_or_else(any)
            }
        };
        // Any values within what is possible.
        let mut chosen: Vec<usize> = Vec::new();
        let mut constraints = Vec::new();
        for group in &passive {
            chosen.extend(group.iter().map(|(slot, _)| *slot));
            if let Some((before, ways)) = self.ways(thread, &guard, group)? {
                let after = group.iter().map(|(slot, _)| Expr::NextShared(*slot));
                let names: Vec<Expr> = before.iter().map(|&slot| Expr::Shared(slot)).chain(after).collect();
                let rows = ways.iter().map(|(before, after)| [&before[..], &after[..]].concat()).collect();
                constraints.push(formula(&names, rows));
            }
        }
        let changes = !own.is_empty() || !chosen.is_empty();
        constraints.extend(self.lemmas((thread, from, step), changes));
        let mut by_outcome: BTreeMap<Vec<bool>, Vec<Vec<bool>>> = BTreeMap::new();
        for (values, after) in ways.iter() {
            by_outcome.entry(after.clone()).or_default().push(values.clone());
        }
        let edges = by_outcome.into_iter().map(|(after, rows)| {
            let constraint = all([disjunction(&before, rows)].into_iter().chain(constraints.iter().cloned()));
            if !changes {
                return Op::Guard(constraint, true);
            }
            let places = own.iter().map(|(slot, _)| *slot).chain(chosen.iter().copied()).map(written);
            let values = after.iter().map(|&value| Expr::Constant(value.into()));
            let values = values.chain(chosen.iter().map(|_| Expr::Choose(0, 1)));
            Op::Assign(places.collect(), values.collect(), Some(constraint))
        });
        Ok(edges.collect())
    }

    /// What lemmas say of a step; of one that changes nothing, the values afterwards are those before.
    fn lemmas(&self, step: (usize, LocationId, usize), changes: bool) -> Vec<Expr> {
        let instances = self.source.instances;
        let said = |literal: &Literal, next: bool| {
            let slot = instances.iter().position(|other| *other == literal.predicate)?;
            let value = if next { Expr::NextShared(slot) } else { Expr::Shared(slot) };
            Some(if literal.holds { value } else { Expr::Unary(Unary::Not, Box::new(value)) })
        };
        let lemmas = self.source.lemmas.get(&step).into_iter().flatten();
        let excluded = lemmas.filter_map(|lemma| {
            let before = lemma.before.iter().map(|literal| said(literal, false));
            let after = lemma.after.iter().map(|literal| said(literal, changes));
            let literals: Option<Vec<Expr>> = before.chain(after).collect();
            Some(Expr::Unary(Unary::Not, Box::new(all(literals?.into_iter()))))
        });
        excluded.collect()
    }

    /// The predicates on which the outcome of a step depends, and the ways in which they and those that change have values,
    /// unless these are too many.
    fn ways(
        &mut self,
        thread: usize,
        guard: &Term,
        changing: &[(usize, Term)],
    ) -> Result<Option<Effect>, NoProgram> {
        let instances = self.source.instances;
        let mut names = variables(guard);
        changing.iter().for_each(|(_, after)| after.variables(&mut names));
        // Those that have variables in common with these, and then with one another.
        let mut before: Vec<usize> = Vec::new();
        loop {
            let near = |slot: &usize| !variables(&instances[*slot]).is_disjoint(&names);
            let more: Vec<usize> =
                (0..instances.len()).filter(|slot| !before.contains(slot)).filter(near).collect();
            if more.is_empty() || before.len() >= MOST_RELEVANT {
                break;
            }
            before.extend(more.into_iter().take(MOST_RELEVANT - before.len()));
            before.iter().for_each(|&slot| instances[slot].variables(&mut names));
        }
        before.sort_unstable();
        let mut told: Vec<(Term, usize)> = Vec::new();
        told.extend(before.iter().enumerate().map(|(place, &slot)| (instances[slot].clone(), place)));
        let mut after: Vec<(Term, usize)> = Vec::new();
        after.extend(changing.iter().enumerate().map(|(place, (_, after))| (after.clone(), place)));
        let order = self.order(thread, guard, [&told, &after]);
        let place = |thread: usize| order.iter().position(|&other| other == thread).unwrap_or(thread);
        let alike = |term: &Term| renamed(term, &place);
        for terms in [&mut told, &mut after] {
            terms.sort_by_cached_key(|(term, _)| alike(term));
        }
        let asked = Asked {
            threads: order.iter().map(|&thread| self.source.threads[thread]).collect(),
            guard: alike(guard),
            before: told.iter().map(|(term, _)| alike(term)).collect(),
            after: after.iter().map(|(term, _)| alike(term)).collect(),
        };
        let ways = match self.known.0.get(&asked) {
            Some(known) => known.clone(),
            None => {
                let terms =
                    |terms: &[(Term, usize)]| terms.iter().map(|(term, _)| term.clone()).collect::<Vec<_>>();
                let ways = self.enumerate(guard, &terms(&told), &terms(&after))?.map(Arc::new);
                self.known.0.insert(asked, ways.clone());
                ways
            }
        };
        // Back from the order of the question.
        let back = |values: &[bool], terms: &[(Term, usize)]| {
            let mut placed = vec![false; values.len()];
            values.iter().zip(terms).for_each(|(&value, (_, place))| placed[*place] = value);
            placed
        };
        let ways = ways.map(|ways| {
            let ways = ways.iter().map(|(now, then)| (back(now, &told), back(then, &after)));
            Arc::new(ways.collect::<Vec<Way>>())
        });
        Ok(ways.map(|ways| (before, ways)))
    }

    /// The threads of whose variables formulas speak, the one that moves first; in their own order if their numbers matter.
    fn order(&self, thread: usize, guard: &Term, terms: [&[(Term, usize)]; 2]) -> Vec<usize> {
        let mut names = variables(guard);
        terms.into_iter().flatten().for_each(|(term, _)| term.variables(&mut names));
        let locals = &self.source.setting.steps.locals;
        let is_number = |name: &str| {
            let thread = owner(name).and_then(|thread| Some((thread, self.source.threads.get(thread)?)));
            thread.is_some_and(|(thread, template)| {
                locals[template.index()]
                    .iter()
                    .any(|known| known.hidden && *local(&known.name, thread) == *name)
            })
        };
        if names.iter().any(|name| is_number(name)) {
            return (0..self.source.threads.len()).collect();
        }
        let others: BTreeSet<usize> = names.iter().filter_map(|name| owner(name)).collect();
        let others = others.into_iter().filter(|&other| other != thread && other < self.source.threads.len());
        [thread].into_iter().chain(others).collect()
    }

    fn enumerate(
        &mut self,
        guard: &Term,
        before: &[Term],
        after: &[Term],
    ) -> Result<Option<Vec<Way>>, NoProgram> {
        let told: Vec<Term> = before.iter().chain(after).cloned().collect();
        let mut names = variables(&self.facts);
        told.iter().chain([guard]).for_each(|term| term.variables(&mut names));
        names.iter().try_for_each(|name| self.solver.declare(name))?;
        self.solver.push()?;
        self.solver.assert(&self.facts)?;
        self.solver.assert(guard)?;
        let mut ways = Vec::new();
        loop {
            if let Some(reason) = (self.stop)() {
                return Err(NoProgram::Stopped(reason));
            }
            self.queries += 1;
            match self.solver.check()? {
                Answer::Unsat => break,
                Answer::Unknown => {
                    let why = "it does not know the answer to a query".to_string();
                    return Err(NoProgram::Solver(Failure::Broken(why)));
                }
                Answer::Sat => {}
            }
            let values = if told.is_empty() { Vec::new() } else { self.solver.truths(&told)? };
            let literals = told.iter().zip(&values);
            let same = literals.map(|(term, &holds)| if holds { term.clone() } else { term.negation() });
            self.solver.assert(&Term::and(same).negation())?;
            let (now, then) = values.split_at(before.len());
            ways.push((now.to_vec(), then.to_vec()));
            if ways.len() > MOST_WAYS {
                self.solver.pop()?;
                return Ok(None);
            }
        }
        self.solver.pop()?;
        Ok(Some(ways))
    }
}
