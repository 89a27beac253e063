//! Weak memory against brute force: on random litmus tests, the outcomes are those of the execution graphs that satisfy the axioms
//! of RC11, enumerated one by one.
//!
//! The axioms are written down once more here, literally, over all graphs: every choice of what each load reads and every
//! modification order. Nothing is shared with the search.

use allways_test::sync::atomic::{AtomicUsize, Ordering, fence};
use allways_test::{Check, Outcome, StopReason, thread};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    Store(usize, usize, Ordering),
    Load(usize, Ordering),
    Add(usize, usize, Ordering),
    Fence(Ordering),
}

type Program = Vec<Vec<Action>>;
type Outcomes = BTreeSet<Vec<Vec<usize>>>;

fn random_program(number: u64) -> Program {
    use Ordering::*;
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 11) % n) as usize
    };
    let threads = 2 + below(2);
    let mut value = 0;
    (0..threads)
        .map(|_| {
            (0..2 + below(if threads == 2 { 3 } else { 1 }))
                .map(|_| {
                    value += 1;
                    let (x, strength) = (below(2), below(3));
                    match below(8) {
                        0..3 => Action::Store(x, value, [Relaxed, Release, SeqCst][strength]),
                        3..6 => Action::Load(x, [Relaxed, Acquire, SeqCst][strength]),
                        6 => Action::Add(x, 10 * value, [Relaxed, AcqRel, SeqCst][strength]),
                        _ => Action::Fence([AcqRel, SeqCst, [Acquire, Release][x]][strength]),
                    }
                })
                .collect()
        })
        .collect()
}

/// What the search finds.
fn explored(program: &Program) -> Outcomes {
    let found = Arc::new(Mutex::new(Outcomes::new()));
    let (there, threads) = (Arc::clone(&found), program.clone());
    let report = Check::new().weak_memory().every_schedule().explore(move || {
        let variables: Arc<[AtomicUsize; 2]> = Arc::default();
        let running: Vec<_> = threads
            .iter()
            .cloned()
            .map(|actions| {
                let variables = Arc::clone(&variables);
                thread::spawn(move || {
                    let mut seen = Vec::new();
                    for action in actions {
                        match action {
                            Action::Store(x, value, order) => variables[x].store(value, order),
                            Action::Load(x, order) => seen.push(variables[x].load(order)),
                            Action::Add(x, value, order) => seen.push(variables[x].fetch_add(value, order)),
                            Action::Fence(order) => fence(order),
                        }
                    }
                    seen
                })
            })
            .collect();
        let seen = running.into_iter().map(|thread| thread.join().unwrap()).collect();
        there.lock().unwrap().insert(seen);
    });
    assert!(
        matches!(report.outcome, Outcome::EverySchedule | Outcome::Stopped(StopReason::NeverMet(_))),
        "{program:?}: {report}"
    );
    Arc::into_inner(found).unwrap().into_inner().unwrap()
}

/// A relation between events.
#[derive(Clone)]
struct Relation(Vec<Vec<bool>>);

impl Relation {
    fn new(n: usize, holds: impl Fn(usize, usize) -> bool) -> Relation {
        Relation((0..n).map(|a| (0..n).map(|b| holds(a, b)).collect()).collect())
    }
    fn then(&self, other: &Relation) -> Relation {
        let n = self.0.len();
        Relation::new(n, |a, c| (0..n).any(|b| self.0[a][b] && other.0[b][c]))
    }
    fn or(&self, other: &Relation) -> Relation {
        Relation::new(self.0.len(), |a, b| self.0[a][b] || other.0[a][b])
    }
    fn closed(&self) -> Relation {
        let mut all = self.clone();
        for k in 0..self.0.len() {
            all = Relation::new(self.0.len(), |a, b| all.0[a][b] || (all.0[a][k] && all.0[k][b]));
        }
        all
    }
    fn or_same(&self) -> Relation {
        Relation::new(self.0.len(), |a, b| a == b || self.0[a][b])
    }
    fn irreflexive(&self) -> bool {
        (0..self.0.len()).all(|a| !self.0[a][a])
    }
}

/// An event: thread (none for the initial values), its number there, and what it does.
#[derive(Clone, Copy, Debug)]
struct Event {
    thread: Option<usize>,
    action: Action,
}

impl Event {
    fn location(&self) -> Option<usize> {
        match self.action {
            Action::Store(x, ..) | Action::Load(x, _) | Action::Add(x, ..) => Some(x),
            Action::Fence(_) => None,
        }
    }
    fn order(&self) -> Ordering {
        match self.action {
            Action::Store(.., order)
            | Action::Load(_, order)
            | Action::Add(.., order)
            | Action::Fence(order) => order,
        }
    }
    fn writes(&self) -> bool {
        matches!(self.action, Action::Store(..) | Action::Add(..))
    }
    fn reads(&self) -> bool {
        matches!(self.action, Action::Load(..) | Action::Add(..))
    }
    fn is_fence(&self) -> bool {
        matches!(self.action, Action::Fence(_))
    }
    fn acquires(&self) -> bool {
        matches!(self.order(), Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
            && (self.reads() || self.is_fence())
    }
    fn releases(&self) -> bool {
        matches!(self.order(), Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
            && (self.writes() || self.is_fence())
    }
    fn sequential(&self) -> bool {
        self.order() == Ordering::SeqCst
    }
}

/// All orders of a list.
fn permutations(list: &[usize]) -> Vec<Vec<usize>> {
    if list.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (i, &first) in list.iter().enumerate() {
        let rest: Vec<usize> = list.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, &x)| x).collect();
        for mut order in permutations(&rest) {
            order.insert(0, first);
            all.push(order);
        }
    }
    all
}

/// Whether a graph satisfies the axioms: what each event reads from, and the place of each write in the order of its location.
fn consistent(events: &[Event], from: &[Option<usize>], place: &[usize]) -> bool {
    let n = events.len();
    let relation = |holds: &dyn Fn(usize, usize) -> bool| Relation::new(n, holds);
    // The initial values come first; the threads' events stand one after the other.
    let sb = relation(&|a, b| events[a].thread.is_some() && events[a].thread == events[b].thread && a < b);
    let init = relation(&|a, b| events[a].thread.is_none() && events[b].thread.is_some());
    let rf = relation(&|a, b| from[b] == Some(a));
    if !sb.or(&rf).closed().irreflexive() {
        return false;
    }
    let same =
        |a: usize, b: usize| events[a].location().is_some() && events[a].location() == events[b].location();
    let mo = relation(&|a, b| same(a, b) && events[a].writes() && events[b].writes() && place[a] < place[b]);
    let rb = relation(&|a, b| a != b && from[a].is_some_and(|w| mo.0[w][b]));
    // An update comes right after what it has read.
    for a in (0..n).filter(|&a| events[a].reads() && events[a].writes()) {
        if from[a].is_none_or(|w| place[w] + 1 != place[a]) {
            return false;
        }
    }
    let updates = relation(&|a, b| from[b] == Some(a) && events[b].writes());
    let sequence = updates.closed().or_same();
    // Release (or a fence before the write), the release sequence, the read, acquire (or a fence after the read).
    let head = relation(&|a, w| {
        events[w].writes() && events[a].releases() && (a == w || (events[a].is_fence() && sb.0[a][w]))
    });
    let tail = relation(&|r, b| {
        events[r].reads() && events[b].acquires() && (r == b || (events[b].is_fence() && sb.0[r][b]))
    });
    let sw = head.then(&sequence).then(&rf).then(&tail);
    let hb = sb.or(&init).or(&sw).closed();
    let eco = rf.or(&mo).or(&rb).or(&mo.then(&rf)).or(&rb.then(&rf));
    if !hb.irreflexive() || !hb.then(&eco).irreflexive() {
        return false;
    }
    let elsewhere = relation(&|a, b| sb.0[a][b] && !same(a, b));
    let here = relation(&|a, b| hb.0[a][b] && same(a, b));
    let scb = sb.or(&elsewhere.then(&hb).then(&elsewhere)).or(&here).or(&mo).or(&rb);
    let left = relation(&|a, b| events[a].sequential() && (a == b || (events[a].is_fence() && hb.0[a][b])));
    let right = relation(&|a, b| events[b].sequential() && (a == b || (events[b].is_fence() && hb.0[a][b])));
    let fences = hb.or(&hb.then(&eco).then(&hb));
    let between = relation(&|a, b| {
        fences.0[a][b] && [a, b].iter().all(|&e| events[e].is_fence() && events[e].sequential())
    });
    left.then(&scb).then(&right).or(&between).closed().irreflexive()
}

/// What the axioms allow.
fn allowed(program: &Program) -> Outcomes {
    let mut events: Vec<Event> =
        (0..2).map(|x| Event { thread: None, action: Action::Store(x, 0, Ordering::Relaxed) }).collect();
    for (thread, actions) in program.iter().enumerate() {
        events.extend(actions.iter().map(|&action| Event { thread: Some(thread), action }));
    }
    let n = events.len();
    let writes = |x: usize| -> Vec<usize> {
        (2..n).filter(|&e| events[e].writes() && events[e].location() == Some(x)).collect()
    };
    let mut outcomes = Outcomes::new();
    let reads: Vec<usize> = (0..n).filter(|&e| events[e].reads()).collect();
    let choices: Vec<Vec<usize>> = reads
        .iter()
        .map(|&r| {
            let x = events[r].location().unwrap();
            std::iter::once(x).chain(writes(x)).filter(|&w| w != r).collect()
        })
        .collect();
    let total: usize = choices.iter().map(Vec::len).product();
    for first in permutations(&writes(0)) {
        for second in permutations(&writes(1)) {
            let mut place = vec![0; n];
            for order in [&first, &second] {
                order.iter().enumerate().for_each(|(i, &e)| place[e] = i + 1);
            }
            for mut number in 0..total {
                let mut from = vec![None; n];
                for (&r, choice) in reads.iter().zip(&choices) {
                    from[r] = Some(choice[number % choice.len()]);
                    number /= choice.len();
                }
                if consistent(&events, &from, &place) {
                    outcomes.insert(outcome(program, &events, &from));
                }
            }
        }
    }
    outcomes
}

/// The values that were read.
fn outcome(program: &Program, events: &[Event], from: &[Option<usize>]) -> Vec<Vec<usize>> {
    fn value(events: &[Event], from: &[Option<usize>], write: usize) -> usize {
        match events[write].action {
            Action::Store(_, value, _) => value,
            Action::Add(_, value, _) => value + value_read(events, from, write),
            _ => unreachable!("it writes"),
        }
    }
    fn value_read(events: &[Event], from: &[Option<usize>], read: usize) -> usize {
        value(events, from, from[read].unwrap())
    }
    (0..program.len())
        .map(|thread| {
            (0..events.len())
                .filter(|&e| events[e].thread == Some(thread) && events[e].reads())
                .map(|e| value_read(events, from, e))
                .collect()
        })
        .collect()
}

#[test]
fn the_outcomes_are_those_of_the_axioms() {
    let programs: u64 = std::env::var("ALLWAYS_RANDOM").map_or(300, |number| number.parse().unwrap());
    let (mut weak, mut outcomes) = (0, 0);
    for number in 0..programs {
        let program = random_program(number);
        let (expected, found) = (allowed(&program), explored(&program));
        assert_eq!(expected, found, "program {number}: {program:?}");
        outcomes += found.len();
        weak += usize::from(program.iter().flatten().any(|action| {
            matches!(action, Action::Store(.., Ordering::Relaxed) | Action::Load(_, Ordering::Relaxed))
        }));
    }
    println!("{programs} programs with {outcomes} outcomes, {weak} of them with relaxed accesses");
    assert!(outcomes as u64 > 3 * programs);
}
