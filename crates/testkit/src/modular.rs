//! Thread-modular methods, by the definitions of the paper (TM), read literally; and evidence read as the paper's sets.
//!
//! Thread states have whole stacks here, so the methods end only where stacks stay within bounds: all of them give up
//! (`None`) at a stack deeper than [`DEEPEST`].

use allways_evidence::Products;
use allways_evidence::products::{Context, Fact};
use allways_model::pushdown::{Pushdown, Shared, Stack, State, Symbol};
use std::collections::BTreeSet;

/// A deeper stack is not looked at.
pub const DEEPEST: usize = 6;

/// A shared state and the stack of one thread.
pub type ThreadState = (Shared, Stack);

/// An element of D#: for each thread a set of its states.
pub type Tuple = Vec<BTreeSet<ThreadState>>;

/// α_cart of the initial states.
pub fn initial(system: &dyn Pushdown) -> Tuple {
    alpha(system.threads(), &system.initial())
}

/// α_cart (section 4).
pub fn alpha<'a>(threads: usize, states: impl IntoIterator<Item = &'a State>) -> Tuple {
    let mut tuple = vec![BTreeSet::new(); threads];
    for state in states {
        for (thread, stack) in state.stacks.iter().enumerate() {
            tuple[thread].insert((state.shared, stack.clone()));
        }
    }
    tuple
}

/// γ_cart (section 4).
pub fn gamma(tuple: &Tuple) -> BTreeSet<State> {
    let mut states = BTreeSet::new();
    let shared: BTreeSet<Shared> = tuple.iter().flatten().map(|state| state.0).collect();
    for shared in shared {
        let mut partial: Vec<Vec<Stack>> = vec![Vec::new()];
        for set in tuple {
            let here: Vec<&Stack> =
                set.iter().filter(|state| state.0 == shared).map(|state| &state.1).collect();
            let longer = partial.iter().flat_map(|stacks| {
                here.iter().map(move |&stack| stacks.iter().chain([stack]).cloned().collect())
            });
            partial = longer.collect();
        }
        states.extend(partial.into_iter().map(|stacks| State { shared, stacks }));
    }
    states
}

/// post: all successors of states.
pub fn post(system: &dyn Pushdown, states: &BTreeSet<State>) -> Option<BTreeSet<State>> {
    let mut after = BTreeSet::new();
    for state in states {
        for thread in 0..system.threads() {
            let rules = state.enabled(system, thread);
            after.extend(rules.iter().map(|rule| state.step(thread, rule)));
        }
    }
    let deep = |state: &State| state.stacks.iter().any(|stack| stack.depth() > DEEPEST);
    (!after.iter().any(deep)).then_some(after)
}

/// post# by the rule POST#_ij (section 8.1). A thread that is alone has only its own steps.
pub fn post_sharp(system: &dyn Pushdown, tuple: &Tuple) -> Option<Tuple> {
    let threads = system.threads();
    let mut after = vec![BTreeSet::new(); threads];
    for j in 0..threads {
        for state in &tuple[j] {
            for (shared, stack) in steps(system, j, state)? {
                if threads == 1 {
                    after[j].insert((shared, stack.clone()));
                }
                for i in (0..threads).filter(|&i| i != j) {
                    for other in tuple[i].iter().filter(|other| other.0 == state.0) {
                        after[i].insert((shared, other.1.clone()));
                        after[j].insert((shared, stack.clone()));
                    }
                }
            }
        }
    }
    Some(after)
}

fn steps(system: &dyn Pushdown, thread: usize, state: &ThreadState) -> Option<Vec<ThreadState>> {
    let mut rules = Vec::new();
    system.rules(thread, state.0, state.1.top(), &mut rules);
    let step = |rule: &allways_model::pushdown::Rule| {
        let mut stack = state.1.clone();
        stack.replace_top(rule.word);
        (stack.depth() <= DEEPEST).then_some((rule.shared, stack))
    };
    rules.iter().map(step).collect()
}

/// Componentwise union.
pub fn join(one: &Tuple, other: &Tuple) -> Tuple {
    one.iter().zip(other).map(|(one, other)| one | other).collect()
}

/// Componentwise inclusion.
pub fn within(one: &Tuple, other: &Tuple) -> bool {
    one.iter().zip(other).all(|(one, other)| one.is_subset(other))
}

/// The sets of Flanagan and Qadeer: the least fixed point of λT. α init ⊔ post# T (Theorem 3).
pub fn modular(system: &dyn Pushdown) -> Option<Tuple> {
    let mut tuple = initial(system);
    loop {
        let next = join(&tuple, &post_sharp(system, &tuple)?);
        if next == tuple {
            return Some(tuple);
        }
        tuple = next;
    }
}

/// The least fixed point of λS. C(init ∪ post S) (Theorem 6).
pub fn local_cartesian(system: &dyn Pushdown) -> Option<BTreeSet<State>> {
    let threads = system.threads();
    let close = |states: &BTreeSet<State>| gamma(&alpha(threads, states));
    let mut states = close(&system.initial().into_iter().collect());
    loop {
        let next = close(&(&states | &post(system, &states)?));
        if next == states {
            return Some(states);
        }
        states = next;
    }
}

/// T^0, …, T^k of relaxed frontier search (Definition 17).
pub fn relaxed(system: &dyn Pushdown) -> Option<Vec<Tuple>> {
    let mut sequence = vec![initial(system)];
    let mut all = initial(system);
    loop {
        let last = &sequence[sequence.len() - 1];
        let mut next = post_sharp(system, last)?;
        if within(&next, &all) {
            next = join(&next, last);
        }
        if within(&next, last) {
            return Some(sequence);
        }
        all = join(&all, &next);
        sequence.push(next);
    }
}

/// T^0, …, T^k of frontier search (section 8.1), up to the first element that is within an earlier one.
pub fn frontier(system: &dyn Pushdown, longest: usize) -> Option<Vec<Tuple>> {
    let mut sequence = vec![initial(system)];
    while sequence.len() <= longest {
        let next = post_sharp(system, &sequence[sequence.len() - 1])?;
        if sequence.iter().any(|earlier| within(&next, earlier)) {
            return Some(sequence);
        }
        sequence.push(next);
    }
    None
}

/// The tuples of the quadratic method: for each last mover j the sets R_i^j (section 8.2, QINIT and QSTEP).
pub fn quadratic(system: &dyn Pushdown) -> Option<Vec<Tuple>> {
    let threads = system.threads();
    let mut tuples = vec![initial(system); threads];
    loop {
        let before = tuples.clone();
        for tuple in &before {
            for i in 0..threads {
                for state in &tuple[i] {
                    for (shared, stack) in steps(system, i, state)? {
                        if threads == 1 {
                            tuples[i][i].insert((shared, stack.clone()));
                        }
                        for k in (0..threads).filter(|&k| k != i) {
                            for other in tuple[k].iter().filter(|other| other.0 == state.0) {
                                tuples[i][i].insert((shared, stack.clone()));
                                tuples[i][k].insert((shared, other.1.clone()));
                            }
                        }
                    }
                }
            }
        }
        if tuples == before {
            return Some(tuples);
        }
    }
}

/// The products of evidence as tuples, one for each thread that may be the mover; with that thread.
///
/// Stacks up to [`DEEPEST`] symbols are listed.
pub fn tuples(products: &Products) -> Vec<(Option<usize>, Tuple)> {
    let kinds = &products.kinds;
    let mut tuples = Vec::new();
    for product in &products.products {
        let rest = |thread: usize| read(products, kinds.kind(thread), &product.rest[kinds.kind(thread)]);
        match &product.mover {
            None => tuples.push((None, (0..kinds.threads()).map(rest).collect())),
            Some((kind, facts)) => {
                for &mover in kinds.members(*kind) {
                    let mut tuple: Tuple = (0..kinds.threads()).map(rest).collect();
                    tuple[mover] = read(products, *kind, facts);
                    tuples.push((Some(mover), tuple));
                }
            }
        }
    }
    tuples
}

/// The thread states of facts, up to a depth.
fn read(products: &Products, kind: usize, facts: &[Fact]) -> BTreeSet<ThreadState> {
    let mut states = BTreeSet::new();
    for fact in facts {
        if fact.is_empty() {
            states.insert((fact.shared, Stack::default()));
            continue;
        }
        for word in words(products, kind, fact.context, DEEPEST - 1) {
            states.insert((fact.shared, Stack::from_top([vec![fact.top], word].concat())));
        }
    }
    states
}

fn words(products: &Products, kind: usize, context: Context, longest: usize) -> Vec<Vec<Symbol>> {
    if context == allways_evidence::products::END {
        return vec![Vec::new()];
    }
    if longest == 0 {
        return Vec::new();
    }
    let tails = products.contexts[kind][context as usize].iter();
    let longer = tails.flat_map(|&(symbol, under)| {
        let rest = words(products, kind, under, longest - 1);
        rest.into_iter().map(move |word| [vec![symbol], word].concat())
    });
    longer.collect()
}
