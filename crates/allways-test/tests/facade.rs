//! The types of this crate: what they find that plain shuttle types do not.
#![allow(unsafe_code)]

use allways_test::cell::UnsafeCell;
use allways_test::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};
use allways_test::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, mpsc};
use allways_test::{Check, Failure, FailureKind, Report, explore, thread};
use std::time::Duration;

allways_test::checked_allocator!();

fn failure(report: &Report) -> &Failure {
    let failure = report.failure().unwrap_or_else(|| panic!("{report}"));
    assert!(failure.reproduced, "{report}");
    failure
}

#[test]
fn two_owners_that_unwrap() {
    // With two owners, both may find that they are not alone, and nobody gets the value.
    let report = explore(|| {
        let value = Arc::new(5);
        let there = Arc::clone(&value);
        let other = thread::spawn(move || Arc::try_unwrap(there).is_ok());
        let here = Arc::try_unwrap(value).is_ok();
        assert!(other.join().unwrap() || here, "nobody got it");
    });
    assert!(failure(&report).message.contains("nobody got it"), "{report}");

    // The last of two that drop a reference is exactly one.
    let report = Check::new().every_schedule().run(|| {
        let value = Arc::new(5);
        let there = Arc::clone(&value);
        let other = thread::spawn(move || Arc::into_inner(there).is_some());
        let here = Arc::into_inner(value).is_some();
        assert!(other.join().unwrap() ^ here);
    });
    assert!(report.every_schedule());
}

#[test]
fn a_cell_that_two_threads_use() {
    let racy = |order: Ordering| {
        move || {
            let cell = Arc::new((UnsafeCell::new(0), AtomicBool::new(false)));
            let there = Arc::clone(&cell);
            let other = thread::spawn(move || {
                there.0.with_mut(|value| unsafe { *value = 1 });
                there.1.store(true, order);
            });
            if cell.1.load(Ordering::Acquire) {
                assert_eq!(cell.0.with(|value| unsafe { *value }), 1);
            }
            other.join().unwrap();
        }
    };
    let report = explore(racy(Ordering::Relaxed));
    assert!(failure(&report).message.contains("data race: a cell is read"), "{report}");
    assert!(Check::new().every_schedule().run(racy(Ordering::Release)).every_schedule());
}

/// A slot that is freed by who comes last, or so it was meant.
fn freed_twice() {
    let slot = Box::into_raw(Box::new(7usize));
    let shared = Arc::new((AtomicPtr::new(slot), AtomicUsize::new(0)));
    let free = |shared: Arc<(AtomicPtr<usize>, AtomicUsize)>| {
        let pointer = shared.0.load(Ordering::SeqCst);
        if !pointer.is_null() {
            shared.0.store(std::ptr::null_mut(), Ordering::SeqCst);
            drop(unsafe { Box::from_raw(pointer) });
        }
    };
    let there = Arc::clone(&shared);
    let other = thread::spawn(move || free(there));
    free(shared);
    other.join().unwrap();
}

#[test]
fn memory_that_is_freed_twice() {
    let report = explore(freed_twice);
    let failure = failure(&report);
    assert!(failure.message.contains("double free of 8 bytes") && failure.delays == 1, "{report}");
    assert!(!failure.picture.is_empty());
}

#[test]
fn memory_that_is_used_after_it_was_freed() {
    struct Node {
        used: AtomicUsize,
    }
    // The reader looks at the node after the owner may have dropped it.
    let report = explore(|| {
        let node = Box::into_raw(Box::new(Node { used: AtomicUsize::new(0) }));
        let shared = Arc::new(AtomicPtr::new(node));
        let there = Arc::clone(&shared);
        let other = thread::spawn(move || {
            let node = there.load(Ordering::SeqCst);
            if !node.is_null() {
                unsafe { &*node }.used.fetch_add(1, Ordering::SeqCst);
            }
        });
        let node = shared.swap(std::ptr::null_mut(), Ordering::SeqCst);
        drop(unsafe { Box::from_raw(node) });
        other.join().unwrap();
    });
    let found = failure(&report);
    assert!(found.message.contains("use after free") && !found.picture.is_empty(), "{report}");

    // A plain write, which is noticed when the schedule has ended.
    let report = explore(|| {
        let value = Box::into_raw(Box::new(0u64));
        let gone = Arc::new(AtomicBool::new(false));
        let (there, address) = (Arc::clone(&gone), value.expose_provenance());
        let other = thread::spawn(move || {
            if !there.load(Ordering::SeqCst) {
                there.load(Ordering::SeqCst);
                unsafe { *std::ptr::with_exposed_provenance_mut::<u64>(address) = 1 };
            }
        });
        gone.store(true, Ordering::SeqCst);
        drop(unsafe { Box::from_raw(value) });
        other.join().unwrap();
    });
    assert!(failure(&report).message.contains("was written after"), "{report}");
}

/// The owner is told one step too early that its node is not used any more.
struct Node {
    done: AtomicBool,
    uses: AtomicUsize,
    cell: UnsafeCell<usize>,
}

fn told_too_early(last: fn(&Node)) {
    let node = Node { done: AtomicBool::new(false), uses: AtomicUsize::new(0), cell: UnsafeCell::new(0) };
    let node = Box::into_raw(Box::new(node));
    let address = node.expose_provenance();
    let other = thread::spawn(move || {
        let node = unsafe { &*std::ptr::with_exposed_provenance::<Node>(address) };
        node.done.store(true, Ordering::SeqCst);
        last(node);
    });
    let done = unsafe { &*node }.done.load(Ordering::SeqCst);
    let node = unsafe { Box::from_raw(node) };
    if done {
        drop(node);
        other.join().unwrap();
    } else {
        other.join().unwrap();
    }
}

#[test]
fn memory_is_freed_by_a_step_that_touches_something_else() {
    let report = explore(|| told_too_early(|node| node.uses.store(1, Ordering::SeqCst)));
    assert!(failure(&report).message.contains("use after free"), "{report}");
}

#[test]
fn memory_is_freed_before_a_cell_in_it_is_used() {
    let test = || told_too_early(|node| node.cell.with_mut(|value| unsafe { *value = 1 }));
    // Tasks do not switch between the two operations.
    assert!(Check::new().every_schedule().explore(test).every_schedule());
    let report = Check::new().switch_at_cells().explore(test);
    let found = failure(&report);
    assert!(found.message.contains("use after free") && found.replay.ends_with(":r:c"), "{report}");
    assert!(std::panic::catch_unwind(|| allways_test::replay(&found.replay, test)).is_err());
}

#[test]
fn deadlocks_name_who_waits() {
    let report = explore(|| {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let there = Arc::clone(&locks);
        let other = thread::spawn(move || {
            let _first = there.0.lock().unwrap();
            let _second = there.1.lock().unwrap();
        });
        let _first = locks.1.lock().unwrap();
        let _second = locks.0.lock().unwrap();
        drop((_first, _second));
        other.join().unwrap();
    });
    let found = failure(&report);
    assert_eq!(found.kind, FailureKind::Deadlock);
    assert!(found.message.contains("main waits at tests/facade.rs:"), "{report}");
    assert!(found.message.contains("task-1 waits at tests/facade.rs:"), "{report}");
}

#[test]
fn timeouts_are_choices() {
    // Nobody sends: the time is up, and that is no deadlock.
    let report = Check::new().explore(|| {
        let (sender, receiver) = mpsc::channel::<u32>();
        let other = thread::spawn(move || receiver.recv_timeout(Duration::from_secs(1)).is_err());
        assert!(other.join().unwrap());
        drop(sender);
    });
    assert!(report.failure().is_none(), "{report}");
    // Somebody sends, but the time may be up before: that costs a delay.
    let report = explore(|| {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || receiver.recv_timeout(Duration::from_secs(1)));
        sender.send(1).unwrap();
        assert!(other.join().unwrap().is_ok(), "it came too late");
    });
    assert!(failure(&report).delays >= 1, "{report}");
    // A timeout of a condition variable, and of `park`.
    let report = explore(|| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let there = Arc::clone(&pair);
        let other = thread::spawn(move || {
            *there.0.lock().unwrap() = true;
            there.1.notify_one();
        });
        let guard = pair.0.lock().unwrap();
        let (guard, result) =
            pair.1.wait_timeout_while(guard, Duration::from_secs(1), |ready| !*ready).unwrap();
        assert!(!result.timed_out() && *guard, "too late");
        drop(guard);
        other.join().unwrap();
    });
    assert!(failure(&report).delays >= 1, "{report}");
    thread_parks();
}

fn thread_parks() {
    let report = explore(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let there = Arc::clone(&flag);
        let sleeper = thread::spawn(move || {
            thread::park_timeout(Duration::from_secs(1));
            there.load(Ordering::SeqCst)
        });
        flag.store(true, Ordering::SeqCst);
        sleeper.thread().unpark();
        assert!(sleeper.join().unwrap(), "woken too early");
    });
    assert!(failure(&report).delays >= 1, "{report}");
}

#[test]
fn which_waiter_is_notified_is_a_choice() {
    let winners = std::sync::Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    let there = winners.clone();
    let report = Check::new().every_schedule().run(move || {
        let shared = Arc::new((Mutex::new((0, Vec::new())), Condvar::new()));
        let waiters: Vec<_> = (0..2)
            .map(|me| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let mut guard = shared.0.lock().unwrap();
                    guard.0 += 1;
                    guard = shared.1.wait(guard).unwrap();
                    guard.1.push(me);
                })
            })
            .collect();
        // Both wait, in this order.
        while shared.0.lock().unwrap().0 < 2 {
            thread::yield_now();
        }
        shared.1.notify_one();
        while shared.0.lock().unwrap().1.is_empty() {
            thread::yield_now();
        }
        shared.1.notify_one();
        waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
        there.lock().unwrap().insert(shared.0.lock().unwrap().1.clone());
    });
    assert!(report.every_schedule());
    assert_eq!(winners.lock().unwrap().len(), 2);
}

#[test]
fn everything_else_is_like_in_std() {
    let report = Check::new().every_schedule().run(|| {
        let barrier = Arc::new((Barrier::new(2), Once::new(), OnceLock::new(), RwLock::new(0)));
        let there = Arc::clone(&barrier);
        let other = thread::spawn(move || {
            there.1.call_once(|| *there.3.write().unwrap() += 1);
            there.0.wait().is_leader()
        });
        barrier.1.call_once(|| *barrier.3.write().unwrap() += 1);
        let leads = barrier.0.wait().is_leader();
        assert!(other.join().unwrap() ^ leads);
        assert_eq!(*barrier.2.get_or_init(|| *barrier.3.read().unwrap()), 1);
    });
    assert!(report.every_schedule());
    let report = Check::new().every_schedule().run(|| {
        let mut value = 1;
        let lock = Mutex::new(&mut value);
        thread::scope(|scope| {
            scope.spawn(|| **lock.lock().unwrap() += 1);
            scope.spawn(|| **lock.lock().unwrap() *= 3);
        });
        assert!([4, 6].contains(&value));
    });
    assert!(report.every_schedule());
    let report = Check::new().every_schedule().run(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        let other = thread::spawn(move || sender.send(1).is_ok() && sender.send(2).is_ok());
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [1, 2]);
        assert!(other.join().unwrap());
    });
    assert!(report.every_schedule());
}

#[test]
fn a_lost_wake_up_that_needs_a_fence() {
    // Both sides write their own flag and read the other's: without a fence neither may see the other.
    let sleeps = |fenced: bool| {
        move || {
            let flags = Arc::new((AtomicBool::new(false), AtomicBool::new(false)));
            let there = Arc::clone(&flags);
            let waker = thread::spawn(move || {
                there.0.store(true, Ordering::Release);
                if fenced {
                    fence(Ordering::SeqCst);
                }
                there.1.load(Ordering::Acquire)
            });
            flags.1.store(true, Ordering::Release);
            if fenced {
                fence(Ordering::SeqCst);
            }
            let ready = flags.0.load(Ordering::Acquire);
            assert!(waker.join().unwrap() || ready, "nobody wakes the sleeper");
        }
    };
    let weak = || Check::new().weak_memory().every_schedule();
    assert!(failure(&weak().explore(sleeps(false))).message.contains("nobody wakes"));
    assert!(weak().run(sleeps(true)).every_schedule());
    // Memory that is sequentially consistent hides it.
    assert!(Check::new().every_schedule().run(sleeps(false)).every_schedule());
}

#[test]
fn values_stand_in_the_picture() {
    let report = explore(|| {
        let counter = Arc::new(AtomicUsize::new(3));
        let there = Arc::clone(&counter);
        let other = thread::spawn(move || {
            let seen = there.load(Ordering::SeqCst);
            there.store(seen + 1, Ordering::SeqCst);
        });
        counter.fetch_add(1, Ordering::SeqCst);
        other.join().unwrap();
        assert_eq!(counter.load(Ordering::SeqCst), 5);
    });
    let picture = &failure(&report).picture;
    assert!(picture.contains("reads 3") && picture.contains("writes 4"), "{picture}");
}

#[test]
fn spinning_ends_with_weak_memory_too() {
    let report = Check::new().weak_memory().every_schedule().run(|| {
        let shared = Arc::new((AtomicUsize::new(0), AtomicBool::new(false)));
        let there = Arc::clone(&shared);
        let other = thread::spawn(move || {
            there.0.store(1, Ordering::Relaxed);
            there.1.store(true, Ordering::Release);
        });
        while !shared.1.load(Ordering::Acquire) {
            thread::yield_now();
        }
        assert_eq!(shared.0.load(Ordering::Relaxed), 1);
        other.join().unwrap();
    });
    assert!(report.every_schedule());
}
