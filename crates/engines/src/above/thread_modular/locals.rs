//! The threads of one kind, seen alone: what a thread has on its stack, and how it moves.
//!
//! A *local* is the top of a stack and a *context*, which stands for what lies below (see
//! [`products`](allways_evidence::products)). There are two ways to choose contexts:
//!
//! * *summaries*: one context for each shared state and symbol with which a procedure is entered. What can happen until it
//!   is left does not depend on what lies below, so all stacks that are entered alike share a context, and a pop goes to
//!   every tail that the context has or will have. Finitely many, whatever the recursion: the set of stacks is a regular
//!   one, kept as an automaton (the pushdown store automaton of post*).
//! * *whole stacks*: one context for each stack. For methods that take one step at a time from sets that do not grow.
//!
//! Moves are worked out once for each shared state and local.

use allways_evidence::products::{Context, END, Tails};
use allways_model::pushdown::{EMPTY, Pushdown, Rule, Shared, Stack, Symbol};
use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use std::rc::Rc;

/// The number of a local.
pub type Local = u32;

/// How a thread moves from a shared state and a local.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Move {
    /// To another shared state and local.
    To(Shared, Local),
    /// To another shared state and any tail of a context.
    Pop(Shared, Context),
}

impl Move {
    /// The shared state afterwards.
    pub fn shared(self) -> Shared {
        match self {
            Move::To(shared, _) | Move::Pop(shared, _) => shared,
        }
    }
}

/// How contexts are chosen; see the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Below {
    /// One for each way to enter a procedure.
    Summaries,
    /// One for each stack.
    WholeStacks,
}

/// The locals of one kind of threads.
pub struct Locals<'a> {
    system: &'a dyn Pushdown,
    /// The first thread of the kind.
    leader: usize,
    below: Below,
    locals: Vec<(Symbol, Context)>,
    numbers: HashMap<(Symbol, Context), Local, FxBuildHasher>,
    contexts: Vec<Tails>,
    tails: HashSet<(Context, Symbol, Context), FxBuildHasher>,
    /// By the shared state and symbol with which it was entered, or by its only tail.
    entered: HashMap<(Symbol, u32), Context, FxBuildHasher>,
    moves: HashMap<(Shared, Local), Rc<[Move]>, FxBuildHasher>,
    rules: Vec<Rule>,
    /// Tails that are new, each as a local that a pop can bring to light.
    grown: Vec<(Context, Local)>,
}

impl<'a> Locals<'a> {
    /// The locals of threads like this one.
    pub fn new(system: &'a dyn Pushdown, leader: usize, below: Below) -> Locals<'a> {
        Locals {
            system,
            leader,
            below,
            locals: Vec::new(),
            numbers: HashMap::default(),
            contexts: vec![Tails::new()],
            tails: HashSet::default(),
            entered: HashMap::default(),
            moves: HashMap::default(),
            rules: Vec::new(),
            grown: Vec::new(),
        }
    }

    /// The top and the context of a local.
    pub fn get(&self, local: Local) -> (Symbol, Context) {
        self.locals[local as usize]
    }

    /// The tails of each context.
    pub fn contexts(&self) -> &[Tails] {
        &self.contexts
    }

    /// How many locals and contexts there are.
    pub fn size(&self) -> usize {
        self.locals.len() + self.contexts.len()
    }

    fn number(&mut self, top: Symbol, context: Context) -> Local {
        *self.numbers.entry((top, context)).or_insert_with(|| {
            self.locals.push((top, context));
            self.locals.len() as Local - 1
        })
    }

    /// The local of a whole stack.
    pub fn of(&mut self, stack: &Stack) -> Local {
        // Of the stacks that the threads start with, each symbol has a context of its own, under either choice.
        let mut context = END;
        let mut symbols: Vec<Symbol> = stack.symbols().collect();
        let top = if symbols.is_empty() { EMPTY } else { symbols.remove(0) };
        for symbol in symbols.into_iter().rev() {
            context = self.single(symbol, context);
        }
        self.number(top, context)
    }

    /// The context whose only tail is this one.
    fn single(&mut self, symbol: Symbol, under: Context) -> Context {
        // No shared state has this number with this symbol at once: entries of procedures are kept apart by the flag.
        let key = (symbol, under | WHOLE);
        if let Some(&context) = self.entered.get(&key) {
            return context;
        }
        let context = self.contexts.len() as Context;
        self.contexts.push(vec![(symbol, under)]);
        self.tails.insert((context, symbol, under));
        self.entered.insert(key, context);
        context
    }

    /// The context under `top` after it was pushed onto `symbol`, with `under` below that.
    fn pushed(&mut self, shared: Shared, top: Symbol, symbol: Symbol, under: Context) -> Context {
        if self.below == Below::WholeStacks {
            return self.single(symbol, under);
        }
        let fresh = self.contexts.len() as Context;
        let context = *self.entered.entry((top, shared.0)).or_insert(fresh);
        if context == fresh {
            self.contexts.push(Tails::new());
        }
        if self.tails.insert((context, symbol, under)) {
            self.contexts[context as usize].push((symbol, under));
            let local = self.number(symbol, under);
            self.grown.push((context, local));
        }
        context
    }

    /// The moves from a shared state and a local.
    pub fn moves(&mut self, shared: Shared, local: Local) -> Rc<[Move]> {
        if let Some(moves) = self.moves.get(&(shared, local)) {
            return moves.clone();
        }
        let (top, context) = self.get(local);
        let mut rules = std::mem::take(&mut self.rules);
        rules.clear();
        self.system.rules(self.leader, shared, top, &mut rules);
        let mut moves = Vec::with_capacity(rules.len());
        for rule in &rules {
            moves.push(match *rule.word.symbols() {
                [] if context == END => Move::To(rule.shared, self.number(EMPTY, END)),
                [] => match self.below {
                    Below::Summaries => Move::Pop(rule.shared, context),
                    Below::WholeStacks => {
                        let (symbol, under) = self.contexts[context as usize][0];
                        Move::To(rule.shared, self.number(symbol, under))
                    }
                },
                [top] => Move::To(rule.shared, self.number(top, context)),
                [top, under, ..] => {
                    let pushed = self.pushed(rule.shared, top, under, context);
                    Move::To(rule.shared, self.number(top, pushed))
                }
            });
        }
        self.rules = rules;
        moves.sort_unstable();
        moves.dedup();
        let moves: Rc<[Move]> = moves.into();
        self.moves.insert((shared, local), moves.clone());
        moves
    }

    /// The locals that a pop to this context brings to light, as far as is known.
    pub fn uncovered(&mut self, context: Context) -> Vec<Local> {
        let tails = self.contexts[context as usize].clone();
        tails.into_iter().map(|(symbol, under)| self.number(symbol, under)).collect()
    }

    /// The tails that have come up since this was asked last.
    pub fn grown(&mut self) -> Vec<(Context, Local)> {
        std::mem::take(&mut self.grown)
    }
}

/// Marks contexts of whole stacks among the keys of `entered`; there are fewer shared states and contexts than this.
const WHOLE: u32 = 1 << 31;
