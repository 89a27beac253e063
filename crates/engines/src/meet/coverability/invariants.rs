//! Place invariants: weights of states by which no rule changes the weight of a configuration.
//!
//! Found by Farkas' algorithm (as in Colom and Silva, *Convex geometry and semiflows in P/T nets*, 1990): start with each state
//! as a candidate by itself, and for one rule after another keep the candidates that it leaves alone and the sums of two that
//! it changes in opposite directions. A shared state is a place with one token. Places that may have any number of tokens at
//! the start weigh nothing. What a rule moves must weigh the same before and after.
//!
//! What is found is no more than a help, and is checked like the rest of a proof: where there would be too many candidates, the
//! search gives up and there are none.

use super::net::{Entry, count, place};
use allways_evidence::counters::Weights;
use allways_model::counters::{Bag, Counters, Local, Shared};

/// More states or rules than this are not looked at, nor more candidates at a time.
const MOST_STATES: usize = 128;
const MOST_RULES: usize = 512;
const MOST_CANDIDATES: usize = 400;

/// The invariants of a system, some of them.
pub struct Invariants {
    weights: Vec<Weights>,
    /// The same by number of the state, for a quick look.
    quick: Vec<Quick>,
}

struct Quick {
    locals: Vec<u64>,
    shared: Vec<u64>,
    most: u64,
}

/// Weights of shared states, then of local states; and what each condition makes of them.
struct Candidate {
    weights: Vec<u64>,
    changes: Vec<i64>,
}

impl Invariants {
    /// Looks for invariants.
    pub fn new(system: &Counters) -> Invariants {
        let (shared, locals) = (system.shared.len(), system.locals.len());
        let mut invariants = Invariants { weights: Vec::new(), quick: Vec::new() };
        if shared + locals > MOST_STATES || system.rules.len() > MOST_RULES {
            return invariants;
        }
        for weights in solve(system) {
            let (of_shared, of_locals) = weights.split_at(shared);
            if of_locals.iter().all(|&weight| weight == 0) {
                // That there is one shared state is known.
                continue;
            }
            let most = system.initial.iter().map(|initial| {
                let tokens = initial
                    .tokens
                    .iter()
                    .map(|(local, count)| count.saturating_mul(weights[shared + local as usize]));
                tokens.fold(weights[initial.shared.index()], u64::saturating_add)
            });
            let most = most.max().unwrap_or(0);
            let bag = |weights: &[u64]| -> Bag {
                weights.iter().enumerate().map(|(at, &weight)| (at as u32, weight)).collect()
            };
            invariants.learn(system, Weights { locals: bag(of_locals), shared: bag(of_shared), most });
        }
        invariants
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Adds weights that were found elsewhere.
    pub fn learn(&mut self, system: &Counters, weights: Weights) {
        let all = |bag: &Bag, states: usize| -> Vec<u64> {
            let mut weights = vec![0; states];
            bag.iter().for_each(|(at, weight)| weights[at as usize] = weight);
            weights
        };
        let (locals, shared) =
            (all(&weights.locals, system.locals.len()), all(&weights.shared, system.shared.len()));
        self.quick.push(Quick { locals, shared, most: weights.most });
        self.weights.push(weights);
    }

    /// Whether no invariant says that a configuration cannot occur.
    pub fn allow(&self, shared: Shared, row: &[Entry]) -> bool {
        self.quick.iter().all(|quick| {
            let tokens = row
                .iter()
                .map(|&entry| u64::from(count(entry)).saturating_mul(quick.locals[place(entry) as usize]));
            tokens.fold(quick.shared[shared.index()], u64::saturating_add) <= quick.most
        })
    }

    /// As evidence.
    pub fn weights(&self) -> Vec<Weights> {
        self.weights.clone()
    }
}

/// The conditions: for each, by how much a token of each state changes it. All must come out as zero.
fn conditions(system: &Counters) -> Vec<Vec<i64>> {
    let shared = system.shared.len();
    let states = shared + system.locals.len();
    let mut conditions = Vec::new();
    for rule in &system.rules {
        let mut effect = vec![0_i64; states];
        effect[rule.from.index()] -= 1;
        effect[rule.to.index()] += 1;
        for (bag, sign) in [(&rule.takes, -1), (&rule.gives, 1)] {
            for (local, count) in bag.iter() {
                // No number of a rule is larger than 32 bits.
                effect[shared + local as usize] += sign * count as i64;
            }
        }
        conditions.push(effect);
        for &(from, _) in &rule.moves {
            if let Some(to) = rule.goes(from) {
                let mut same = vec![0_i64; states];
                same[shared + from as usize] += 1;
                same[shared + to as usize] -= 1;
                conditions.push(same);
            }
        }
    }
    conditions.retain(|condition| condition.iter().any(|&change| change != 0));
    conditions.sort_unstable();
    conditions.dedup();
    conditions
}

fn solve(system: &Counters) -> Vec<Vec<u64>> {
    let conditions = conditions(system);
    let shared = system.shared.len();
    let states = shared + system.locals.len();
    let unbounded = |state: usize| {
        let local = state.checked_sub(shared).map(|local| local as Local);
        local.is_some_and(|local| {
            system.initial.iter().any(|initial| initial.any.binary_search(&local).is_ok())
        })
    };
    let mut candidates: Vec<Candidate> = (0..states)
        .filter(|&state| !unbounded(state))
        .map(|state| Candidate {
            weights: (0..states).map(|other| u64::from(other == state)).collect(),
            changes: conditions.iter().map(|condition| condition[state]).collect(),
        })
        .collect();
    let mut open: Vec<usize> = (0..conditions.len()).collect();
    while !open.is_empty() {
        // The condition that leads to the fewest candidates comes next.
        let signs = |&condition: &usize| {
            let up = candidates.iter().filter(|one| one.changes[condition] > 0).count();
            let down = candidates.iter().filter(|one| one.changes[condition] < 0).count();
            up * down
        };
        let Some(next) = (0..open.len()).min_by_key(|&index| signs(&open[index])) else { break };
        let condition = open.swap_remove(next);
        let Some(kept) = eliminate(candidates, condition) else { return Vec::new() };
        candidates = kept;
    }
    candidates.into_iter().map(|candidate| candidate.weights).collect()
}

/// The candidates that a condition leaves alone, and the sums of two that cancel out. `None` if they are too many or too large.
fn eliminate(candidates: Vec<Candidate>, condition: usize) -> Option<Vec<Candidate>> {
    let (mut kept, changed): (Vec<_>, Vec<_>) =
        candidates.into_iter().partition(|one| one.changes[condition] == 0);
    for up in changed.iter().filter(|one| one.changes[condition] > 0) {
        for down in changed.iter().filter(|one| one.changes[condition] < 0) {
            let sum = up.combine(down, condition)?;
            // Only those with the fewest states are of interest: the others are sums of them.
            if !kept.iter().any(|other| other.is_part_of(&sum)) {
                kept.retain(|other| !sum.is_part_of(other));
                kept.push(sum);
            }
            if kept.len() > MOST_CANDIDATES {
                return None;
            }
        }
    }
    Some(kept)
}

impl Candidate {
    /// The sum of multiples of two by which a condition is met; `None` if the numbers get too large.
    fn combine(&self, other: &Candidate, condition: usize) -> Option<Candidate> {
        let (mine, theirs) =
            (other.changes[condition].unsigned_abs(), self.changes[condition].unsigned_abs());
        let add = |(one, two): (&u64, &u64)| one.checked_mul(mine)?.checked_add(two.checked_mul(theirs)?);
        let weights: Option<Vec<u64>> = self.weights.iter().zip(&other.weights).map(add).collect();
        let (mine, theirs) = (i64::try_from(mine).ok()?, i64::try_from(theirs).ok()?);
        let add = |(one, two): (&i64, &i64)| one.checked_mul(mine)?.checked_add(two.checked_mul(theirs)?);
        let changes: Option<Vec<i64>> = self.changes.iter().zip(&other.changes).map(add).collect();
        let (mut weights, mut changes) = (weights?, changes?);
        let divisor = weights.iter().fold(0, |divisor, &weight| gcd(divisor, weight)).max(1);
        weights.iter_mut().for_each(|weight| *weight /= divisor);
        changes.iter_mut().for_each(|change| *change /= divisor as i64);
        let small = weights.iter().all(|&weight| weight < 1 << 20);
        small.then_some(Candidate { weights, changes })
    }

    /// Whether all states that weigh something here do so there.
    fn is_part_of(&self, other: &Candidate) -> bool {
        self.weights.iter().zip(&other.weights).all(|(&here, &there)| here == 0 || there > 0)
    }
}

fn gcd(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}
