//! What the schedulers are said to be, on random sequences of operations; and that the bag allows all of them.

use super::*;
use fastrand::Rng;

/// A scheduler that is asked by random operations, beside the multiset of tasks that it should hold.
fn exercise<S: Scheduler<u32>>(scheduler: &S, seed: u64, mut look: impl FnMut(&S::Object, &[u32], u32)) {
    let mut rng = Rng::with_seed(seed);
    let mut object = scheduler.empty();
    let mut held: Vec<u32> = Vec::new();
    for _ in 0..30 {
        // Tasks with an odd number wait while the global state is odd.
        let global = rng.u32(0..2);
        let blocked = |task: &u32| task % 2 == 1 && global == 1;
        look(&object, &held, global);
        match rng.u8(0..5) {
            0 | 1 => {
                let task = rng.u32(0..6);
                scheduler.give(&mut object, task, Given::Posted);
                held.push(task);
            }
            choice => {
                let taken = scheduler.take(&object, &blocked);
                let Some((left, task)) = taken.get(rng.usize(0..taken.len().max(1))).cloned() else {
                    continue;
                };
                let at = held.iter().position(|other| *other == task);
                object = left;
                match choice {
                    2 => scheduler.delay(&mut object, task),
                    3 => scheduler.give(&mut object, task, Given::Yielded),
                    _ => drop(held.remove(at.expect("the bag holds whatever is taken"))),
                }
            }
        }
        let mut now: Vec<u32> = scheduler.held(&object).into_iter().copied().collect();
        now.sort_unstable();
        held.sort_unstable();
        if scheduler.limit_sound() {
            assert_eq!(now, held, "nothing is lost");
        }
        held = now;
    }
}

fn deterministic<S: Scheduler<u32>>(scheduler: &S, seed: u64) {
    exercise(scheduler, seed, |object, held, global| {
        let blocked = |task: &u32| task % 2 == 1 && global == 1;
        let taken = scheduler.take(object, &blocked);
        assert!(taken.len() <= 1);
        assert!(taken.len() == 1 || held.iter().all(blocked));
    });
}

/// Every task that is held and not blocked can be scheduled after some delays, and at most as many as there are tasks.
fn delay_accessible<S: Scheduler<u32>>(scheduler: &S, seed: u64) {
    exercise(scheduler, seed, |object, held, global| {
        let blocked = |task: &u32| task % 2 == 1 && global == 1;
        for task in held.iter().filter(|task| !blocked(task)) {
            let mut object = object.clone();
            let found = (0..=held.len()).any(|_| {
                let taken = scheduler.take(&object, &blocked);
                let found = taken.iter().any(|(_, next)| next == task);
                if let Some((left, next)) = taken.into_iter().next() {
                    object = left;
                    scheduler.delay(&mut object, next);
                }
                found
            });
            assert!(found, "{task} in {object:?}");
        }
    });
}

fn non_blocking<S: Scheduler<u32>>(scheduler: &S, seed: u64) {
    exercise(scheduler, seed, |object, _, global| {
        let blocked = |task: &u32| task % 2 == 1 && global == 1;
        assert!(scheduler.take(object, &blocked).iter().all(|(_, task)| !blocked(task)));
    });
}

#[test]
fn properties() {
    for seed in 0..2000 {
        exercise(&Bag, seed, |object, held, _| {
            let taken = Bag.take(object, &|_| false);
            assert!(held.iter().all(|task| taken.iter().any(|(_, next)| next == task)));
        });
        exercise(&BoundedBag { bound: 2 }, seed, |_, held, _| {
            assert!(held.iter().all(|task| held.iter().filter(|other| *other == task).count() <= 2));
        });
        deterministic(&RoundRobin, seed);
        delay_accessible(&RoundRobin, seed);
        non_blocking(&RoundRobin, seed);
        deterministic(&DepthFirst, seed);
        delay_accessible(&DepthFirst, seed);
        deterministic(&ReverseDepthFirst, seed);
        delay_accessible(&ReverseDepthFirst, seed);
    }
}

/// The order in which tasks of a tree are scheduled: each, when it runs, posts its children. Those in `delayed` are delayed
/// the first time that they are taken.
fn order<S: Scheduler<u32>>(scheduler: &S, children: &[(u32, &[u32])], delayed: &[u32]) -> Vec<u32> {
    let mut object = scheduler.empty();
    let mut delayed = delayed.to_vec();
    let mut order = Vec::new();
    let post = |object: &mut S::Object, parent: u32| {
        let posted = children.iter().find(|(task, _)| *task == parent).map_or(&[][..], |(_, posted)| posted);
        posted.iter().for_each(|&child| scheduler.give(object, child, Given::Posted));
    };
    post(&mut object, 0);
    while let Some((left, task)) = scheduler.take(&object, &|_| false).pop() {
        object = left;
        if let Some(at) = delayed.iter().position(|&other| other == task) {
            delayed.remove(at);
            scheduler.delay(&mut object, task);
            continue;
        }
        order.push(task);
        post(&mut object, task);
    }
    order
}

/// DBS, Figure 3: the first task posts two others, which run in that order.
#[test]
fn figure_3() {
    assert_eq!(order(&DepthFirst, &[(0, &[1]), (1, &[2, 3])], &[]), [1, 2, 3]);
    assert_eq!(order(&ReverseDepthFirst, &[(0, &[1]), (1, &[2, 3])], &[]), [1, 3, 2]);
}

/// DBS, Figure 4: the order of the tasks is u1, …, u10, in one round, and in two with delays. (The trees are not in the text
/// of the figure; these have its shape: a depth-first traversal, round by round.)
#[test]
fn figure_4() {
    let in_order: Vec<u32> = (1..=10).collect();
    let one_round: &[(u32, &[u32])] =
        &[(0, &[1, 7]), (1, &[2, 5]), (2, &[3, 4]), (5, &[6]), (7, &[8, 9]), (9, &[10])];
    assert_eq!(order(&DepthFirst, one_round, &[]), in_order);
    // u6 is posted by u2, and u8 by u4; both are delayed to the second round.
    let two_rounds: &[(u32, &[u32])] =
        &[(0, &[1, 5]), (1, &[2, 4]), (2, &[6, 3]), (4, &[8]), (6, &[7]), (8, &[9, 10])];
    assert_eq!(order(&DepthFirst, two_rounds, &[6, 8]), in_order);
}

/// DBS, Example 3: in round robin a context switch to any of n tasks takes at most n delays.
#[test]
fn switches_by_delays() {
    let mut object = RoundRobin.empty();
    (0..5).for_each(|task: u32| RoundRobin.give(&mut object, task, Given::Posted));
    for expected in [0, 1, 2, 3, 4, 0, 1] {
        let (mut left, task) = RoundRobin.take(&object, &|_| false).remove(0);
        assert_eq!(task, expected);
        RoundRobin.delay(&mut left, task);
        object = left;
    }
}
