//! Canonical languages: each regular set of stacks of one thread has one number.
//!
//! This is the currency of symbolic context-bounded exploration (Qadeer and Rehof, TACAS 2005; CUBA's S_k, section 6): a
//! symbolic state is a shared state and one language per thread, one context of a thread replaces its language by those
//! of [`Languages::post`], and two sets of stacks are equal if and only if their numbers are. CUBA compares automata by
//! complement and intersection; here each set is made deterministic and minimal once, when it is first seen.
//!
//! Invariant: a language is stored in the canonical form of the module that minimises, and no form is stored twice. Every
//! state in a form leads to an accepting one, so a walk along edges can always be completed to a stack.

use super::automaton::{Automaton, NodeId};
use super::determine::Determiniser;
use super::minimise::Minimiser;
use super::saturation::PostStar;
use super::{Pace, Poll};
use allways_evidence::StopReason;
use allways_model::pushdown::{EMPTY, Pushdown, Shared, Stack, Symbol};
use hashbrown::{HashMap, HashSet, HashTable};
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// The number of a set of stacks of one thread. Numbers are equal if and only if the sets are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LanguageId(pub u32);

/// A canonical form; see the module that minimises.
#[derive(Clone, Copy)]
struct Form<'a>(&'a [u32]);

impl<'a> Form<'a> {
    const ROOT: u32 = 0;

    fn accepting(self, state: u32) -> bool {
        self.0[state as usize] % 2 == 1
    }

    /// The edges of a state, as symbol and state, sorted by symbol.
    fn edges(self, state: u32) -> &'a [[u32; 2]] {
        let (start, numbers) = (state as usize + 1, self.0[state as usize] as usize / 2 * 2);
        self.0[start..start + numbers].as_chunks().0
    }

    fn step(self, state: u32, symbol: Symbol) -> Option<u32> {
        let edges = self.edges(state);
        edges.binary_search_by_key(&symbol.0, |&[symbol, _]| symbol).ok().map(|at| edges[at][1])
    }

    fn states(self) -> impl Iterator<Item = u32> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let state = (at < self.0.len()).then_some(at as u32)?;
            at += 1 + 2 * self.edges(state).len();
            Some(state)
        })
    }

    /// Whether there is no cycle: every state can be removed once nothing enters it any more.
    fn is_finite(self) -> bool {
        let mut entering = vec![0u32; self.0.len()];
        let edges = |state| self.edges(state).iter().map(|&[_, to]| to as usize);
        let mut left = 0;
        for state in self.states() {
            edges(state).for_each(|to| entering[to] += 1);
            left += 1;
        }
        let mut free = if entering[0] == 0 { vec![Form::ROOT] } else { Vec::new() };
        while let Some(state) = free.pop() {
            left -= 1;
            for to in edges(state) {
                entering[to] -= 1;
                if entering[to] == 0 {
                    free.push(to as u32);
                }
            }
        }
        left == 0
    }
}

/// Where things about a language are.
struct Entry {
    form: (usize, usize),
    tops: (u32, u32),
    marked: (u32, u32),
    states: u32,
    finite: bool,
}

/// The sets of stacks of one thread seen so far, and what the thread reaches from them.
pub struct Languages<'a> {
    entries: Vec<Entry>,
    forms: Vec<u32>,
    index: HashTable<u32>,
    tops: Vec<Symbol>,
    marked: Vec<(Symbol, bool)>,
    /// For a (shared state, language), the range of what is reached from there.
    ranges: HashMap<u64, (u32, u32), FxBuildHasher>,
    reached: Vec<(Shared, LanguageId)>,
    post_star: PostStar<'a>,
    automaton: Automaton,
    determiniser: Determiniser,
    minimiser: Minimiser,
    form: Vec<u32>,
    pace: Pace,
}

impl<'a> Languages<'a> {
    /// The set without any stack.
    pub const NONE: LanguageId = LanguageId(0);

    /// Languages of stacks of this thread.
    pub fn new(system: &'a dyn Pushdown, thread: usize) -> Languages<'a> {
        let mut languages = Languages {
            entries: Vec::new(),
            forms: Vec::new(),
            index: HashTable::new(),
            tops: Vec::new(),
            marked: Vec::new(),
            ranges: HashMap::default(),
            reached: Vec::new(),
            post_star: PostStar::new(system, thread),
            automaton: Automaton::default(),
            determiniser: Determiniser::default(),
            minimiser: Minimiser::default(),
            form: vec![0],
            pace: Pace::default(),
        };
        languages.intern();
        languages
    }

    /// The set of this stack alone.
    pub fn intern_stack(&mut self, stack: &Stack) -> LanguageId {
        self.form.clear();
        for symbol in stack.symbols() {
            let next = self.form.len() as u32 + 3;
            self.form.extend([2, symbol.0, next]);
        }
        self.form.push(1);
        self.intern()
    }

    /// Everything reached when the thread runs alone, for any number of steps, none included, from `shared` and any stack
    /// of the language: for each shared state, in ascending order, the stacks, of which there is at least one. Computed
    /// once and then looked up.
    #[inline]
    pub fn post(
        &mut self,
        shared: Shared,
        language: LanguageId,
        poll: Poll,
    ) -> Result<&[(Shared, LanguageId)], StopReason> {
        let key = u64::from(shared.0) << 32 | u64::from(language.0);
        let (start, end) = match self.ranges.get(&key) {
            Some(&range) => range,
            None => self.compute(shared, language, key, poll)?,
        };
        Ok(&self.reached[start as usize..end as usize])
    }

    #[cold]
    fn compute(
        &mut self,
        shared: Shared,
        language: LanguageId,
        key: u64,
        poll: Poll,
    ) -> Result<(u32, u32), StopReason> {
        let mut automaton = std::mem::take(&mut self.automaton);
        automaton.clear();
        self.load(language, shared, &mut automaton);
        self.post_star.run(&mut automaton, poll)?;
        let mut reached = self.canonical(&automaton, poll)?;
        self.automaton = automaton;
        let start = self.reached.len() as u32;
        self.reached.append(&mut reached);
        let range = (start, self.reached.len() as u32);
        self.ranges.insert(key, range);
        Ok(range)
    }

    /// The stacks at each shared state in a set of configurations, in ascending order, leaving out where there is none.
    pub fn canonical(
        &mut self,
        automaton: &Automaton,
        poll: Poll,
    ) -> Result<Vec<(Shared, LanguageId)>, StopReason> {
        let used = |&(_, node): &(Shared, NodeId)| automaton.leaving(node).next().is_some();
        let mut controls: Vec<(Shared, NodeId)> = automaton.controls().filter(used).collect();
        controls.sort_unstable();
        let mut determiniser = std::mem::take(&mut self.determiniser);
        let dfa =
            determiniser.run(automaton, controls.iter().map(|control| control.1), &mut self.pace, poll)?;
        self.minimiser.run(dfa, &mut self.pace, poll)?;
        let mut known: HashMap<u32, LanguageId, FxBuildHasher> = HashMap::default();
        let mut result = Vec::with_capacity(controls.len());
        for (root, &(shared, _)) in (0..).zip(&controls).filter(|&(root, _)| !dfa.dead(root)) {
            let block = self.minimiser.block(root);
            let language = match known.get(&block) {
                Some(&language) => language,
                None => {
                    self.minimiser.write(dfa, root, &mut self.form);
                    self.pace.tick(self.form.len(), poll)?;
                    self.intern()
                }
            };
            known.insert(block, language);
            result.push((shared, language));
        }
        self.determiniser = determiniser;
        Ok(result)
    }

    /// Adds to a set of configurations those with this shared state and a stack of the language.
    pub fn load(&self, language: LanguageId, shared: Shared, automaton: &mut Automaton) {
        let form = self.form(language);
        let mut nodes = vec![0; form.0.len()];
        for state in form.states() {
            nodes[state as usize] = automaton.node();
        }
        let control = automaton.control(shared);
        // The root is there twice: transitions may enter it, but none may enter a control node.
        let copies = form.states().map(|state| (state, nodes[state as usize])).chain([(Form::ROOT, control)]);
        for (state, node) in copies {
            for &[symbol, to] in form.edges(state) {
                automaton.read(node, Symbol(symbol), nodes[to as usize]);
            }
            if form.accepting(state) {
                automaton.end(node);
            }
        }
    }

    /// The stacks that are in one of two languages or in both.
    pub fn union(
        &mut self,
        one: LanguageId,
        other: LanguageId,
        poll: Poll,
    ) -> Result<LanguageId, StopReason> {
        if one == other {
            return Ok(one);
        }
        let mut automaton = std::mem::take(&mut self.automaton);
        automaton.clear();
        self.load(one, Shared(0), &mut automaton);
        self.load(other, Shared(0), &mut automaton);
        let stacks = self.canonical(&automaton, poll)?;
        self.automaton = automaton;
        Ok(stacks.first().map_or(Languages::NONE, |&(_, language)| language))
    }

    /// Whether every stack of one language is in the other.
    pub fn is_subset(&self, one: LanguageId, other: LanguageId) -> bool {
        if one == other || one == Languages::NONE {
            return true;
        }
        let (small, large) = (self.form(one), self.form(other));
        let mut seen: HashSet<(u32, u32), FxBuildHasher> = HashSet::default();
        let mut open = vec![(Form::ROOT, Form::ROOT)];
        while let Some((left, right)) = open.pop() {
            if small.accepting(left) && !large.accepting(right) {
                return false;
            }
            for &[symbol, to] in small.edges(left) {
                let Some(beside) = large.step(right, Symbol(symbol)) else { return false };
                if seen.insert((to, beside)) {
                    open.push((to, beside));
                }
            }
        }
        true
    }

    /// Whether a stack is in the language.
    pub fn contains(&self, language: LanguageId, stack: &Stack) -> bool {
        let form = self.form(language);
        let end = stack.symbols().try_fold(Form::ROOT, |state, symbol| form.step(state, symbol));
        end.is_some_and(|state| form.accepting(state))
    }

    /// The tops of the stacks, sorted; [`EMPTY`] if the empty stack is among them.
    pub fn tops(&self, language: LanguageId) -> &[Symbol] {
        let (start, end) = self.entries[language.0 as usize].tops;
        &self.tops[start as usize..end as usize]
    }

    /// The marked tops of the stacks, sorted: a symbol, and whether anything lies below it. Both may hold.
    pub fn marked_tops(&self, language: LanguageId) -> &[(Symbol, bool)] {
        let (start, end) = self.entries[language.0 as usize].marked;
        &self.marked[start as usize..end as usize]
    }

    /// A shortest stack with this top, if there is one; [`EMPTY`] asks for the empty stack.
    pub fn shortest(&self, language: LanguageId, top: Symbol) -> Option<Stack> {
        let form = self.form(language);
        if top == EMPTY {
            return form.accepting(Form::ROOT).then(Stack::default);
        }
        // Found states, each with the symbol read last and where in this list it was read from.
        let mut found = vec![(form.step(Form::ROOT, top)?, top, usize::MAX)];
        let mut seen: HashSet<u32, FxBuildHasher> = HashSet::default();
        let mut at = 0;
        while !form.accepting(found[at].0) {
            for &[symbol, to] in form.edges(found[at].0) {
                if seen.insert(to) {
                    found.push((to, Symbol(symbol), at));
                }
            }
            at += 1;
        }
        let mut symbols = Vec::new();
        while let Some(&(_, symbol, from)) = found.get(at) {
            symbols.push(symbol);
            at = from;
        }
        symbols.reverse();
        Some(Stack::from_top(symbols))
    }

    /// Whether there are finitely many stacks in the language.
    pub fn is_finite(&self, language: LanguageId) -> bool {
        self.entries[language.0 as usize].finite
    }

    /// The number of states of the minimal deterministic automaton.
    pub fn states(&self, language: LanguageId) -> usize {
        self.entries[language.0 as usize].states as usize
    }

    /// How many languages there are; their numbers are 0 up to this, exclusive.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let languages = self.entries.capacity() * size_of::<Entry>() + self.forms.capacity() * 4;
        let seen = self.tops.capacity() * 4 + self.marked.capacity() * 8 + self.index.capacity() * 5;
        let memory = self.ranges.capacity() * 17 + self.reached.capacity() * 8;
        let workers = self.post_star.bytes() + self.automaton.bytes();
        languages + seen + memory + workers + self.determiniser.bytes() + self.minimiser.bytes()
    }

    fn form(&self, language: LanguageId) -> Form<'_> {
        let (start, end) = self.entries[language.0 as usize].form;
        Form(&self.forms[start..end])
    }

    /// The number of the language whose canonical form was written to `form`.
    fn intern(&mut self) -> LanguageId {
        let Languages { entries, forms, index, form, .. } = self;
        let stored = |id: u32| &forms[entries[id as usize].form.0..entries[id as usize].form.1];
        let hash = |form: &[u32]| FxBuildHasher.hash_one(form);
        match index.entry(hash(form), |&id| stored(id) == &form[..], |&id| hash(stored(id))) {
            hashbrown::hash_table::Entry::Occupied(known) => LanguageId(*known.get()),
            hashbrown::hash_table::Entry::Vacant(vacant) => {
                let fresh = LanguageId(entries.len() as u32);
                vacant.insert(fresh.0);
                self.add();
                fresh
            }
        }
    }

    /// Stores the language whose canonical form was written to `form`.
    fn add(&mut self) {
        let form = Form(&self.form);
        let (tops, marked) = (self.tops.len() as u32, self.marked.len() as u32);
        if form.accepting(Form::ROOT) {
            self.tops.push(EMPTY);
            self.marked.push((EMPTY, false));
        }
        for &[symbol, to] in form.edges(Form::ROOT) {
            let symbol = Symbol(symbol);
            self.tops.push(symbol);
            self.marked.extend(form.accepting(to).then_some((symbol, false)));
            self.marked.extend((!form.edges(to).is_empty()).then_some((symbol, true)));
        }
        self.entries.push(Entry {
            form: (self.forms.len(), self.forms.len() + form.0.len()),
            tops: (tops, self.tops.len() as u32),
            marked: (marked, self.marked.len() as u32),
            states: form.states().count() as u32,
            finite: form.is_finite(),
        });
        self.forms.extend_from_slice(&self.form);
    }
}
