//! Leaving out orders of independent operations: what comes out stays the same.

use allways_test::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use allways_test::sync::{Arc, Condvar, Mutex, RwLock, mpsc};
use allways_test::{Check, Outcome, Report, StopReason, thread};
use std::collections::BTreeSet;
use std::time::Duration;

/// Small numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % n) as usize
    }
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Load(usize),
    Store(usize),
    Add(usize),
    Compare(usize),
    Lock(usize),
    /// Both, in an order that may deadlock.
    Nested(usize),
    TryLock(usize),
    Read,
    Write,
    TryWrite,
    Send,
    TryReceive,
    Receive,
    Notify,
    NotifyAll,
    Wait,
    Yield,
    Spin,
    Unpark,
    Park,
    ParkTimeout,
    Count,
    Clone,
    Start,
}

fn random_program(number: u64) -> Vec<Vec<Operation>> {
    use Operation::*;
    let mut random = Random(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    // A program keeps to a few kinds, so that they meet.
    let kinds: Vec<usize> = (0..3).map(|_| random.below(24)).collect();
    let tasks = 2 + random.below(2);
    (0..tasks)
        .map(|_| {
            let operations = 1 + random.below(if tasks == 2 { 3 } else { 1 });
            (0..operations)
                .map(|_| {
                    let kind = if random.below(3) == 0 { random.below(3) } else { kinds[random.below(3)] };
                    let which = random.below(2);
                    [
                        Load(which),
                        Store(which),
                        Add(which),
                        Compare(which),
                        Lock(which),
                        Nested(which),
                        TryLock(which),
                        Read,
                        Write,
                        TryWrite,
                        Send,
                        TryReceive,
                        Receive,
                        Notify,
                        NotifyAll,
                        Wait,
                        Yield,
                        Spin,
                        Unpark,
                        Park,
                        ParkTimeout,
                        Count,
                        Clone,
                        Start,
                    ][kind]
                })
                .collect()
        })
        .collect()
}

struct Shared {
    variables: [AtomicUsize; 2],
    flag: AtomicBool,
    locks: [Mutex<usize>; 2],
    table: RwLock<usize>,
    sender: Mutex<Option<mpsc::Sender<usize>>>,
    receiver: Mutex<Option<mpsc::Receiver<usize>>>,
    condition: Condvar,
}

/// Runs the operations of a task, and writes down what each of them saw.
fn run(
    me: usize,
    operations: &[Operation],
    shared: &std::sync::Arc<Shared>,
    own: Option<Arc<()>>,
    first: Option<thread::Thread>,
) -> Vec<usize> {
    use Operation::*;
    let mut seen = Vec::new();
    let mut kept = Vec::new();
    for (index, operation) in operations.iter().enumerate() {
        let value = 10 * (me + 1) + index;
        seen.push(match *operation {
            Load(i) => shared.variables[i].load(SeqCst),
            Store(i) => {
                shared.variables[i].store(value, SeqCst);
                0
            }
            Add(i) => shared.variables[i].fetch_add(value, SeqCst),
            Compare(i) => match shared.variables[i].compare_exchange(0, value, SeqCst, SeqCst) {
                Ok(_) => 1,
                Err(old) => old,
            },
            Lock(i) => {
                let mut guard = shared.locks[i].lock().unwrap();
                std::mem::replace(&mut *guard, value)
            }
            Nested(i) => {
                let first = shared.locks[i].lock().unwrap();
                let second = shared.locks[1 - i].lock().unwrap();
                *first + *second
            }
            TryLock(i) => {
                shared.locks[i].try_lock().map_or(0, |mut guard| std::mem::replace(&mut *guard, value) + 1)
            }
            Read => *shared.table.read().unwrap(),
            Write => std::mem::replace(&mut *shared.table.write().unwrap(), value),
            TryWrite => {
                shared.table.try_write().map_or(0, |mut table| std::mem::replace(&mut *table, value) + 1)
            }
            Send => {
                let sender = shared.sender.lock().unwrap();
                usize::from(sender.as_ref().unwrap().send(value).is_ok())
            }
            TryReceive => {
                let receiver = shared.receiver.lock().unwrap();
                receiver.as_ref().unwrap().try_recv().unwrap_or(1)
            }
            Receive => {
                let receiver = shared.receiver.lock().unwrap();
                receiver.as_ref().unwrap().recv_timeout(Duration::from_secs(1)).unwrap_or(1)
            }
            Notify => {
                shared.condition.notify_one();
                0
            }
            NotifyAll => {
                shared.condition.notify_all();
                0
            }
            Wait => {
                let guard = shared.locks[0].lock().unwrap();
                let (guard, result) = shared.condition.wait_timeout(guard, Duration::from_secs(1)).unwrap();
                *guard * 2 + usize::from(result.timed_out())
            }
            Yield => {
                thread::yield_now();
                0
            }
            Spin => {
                shared.flag.store(true, SeqCst);
                let mut looks = 0;
                while shared.variables[0].load(SeqCst) == 0 && looks < 3 {
                    thread::yield_now();
                    looks += 1;
                }
                // How often it looked depends on what is fair.
                usize::from(shared.variables[0].load(SeqCst) == 0)
            }
            Unpark => first.as_ref().map_or(0, |thread| {
                thread.unpark();
                1
            }),
            Park => {
                thread::park();
                0
            }
            ParkTimeout => {
                thread::park_timeout(Duration::from_secs(1));
                shared.variables[1].load(SeqCst)
            }
            Count => own.as_ref().map_or(0, Arc::strong_count),
            Clone => {
                kept.push(own.clone());
                kept.len()
            }
            Start => {
                let there = shared.clone();
                let other = thread::spawn(move || there.variables[1].fetch_add(value, SeqCst));
                other.join().unwrap()
            }
        });
    }
    seen
}

type Outcomes = BTreeSet<Vec<Vec<usize>>>;

/// All that a program can do, and the report. A deadlock is an outcome as well.
fn outcomes(program: &std::sync::Arc<Vec<Vec<Operation>>>, check: Check) -> (Outcomes, Report) {
    let outcomes = std::sync::Arc::new(std::sync::Mutex::new(Outcomes::new()));
    let (program, there) = (program.clone(), outcomes.clone());
    let report = check.explore(move || {
        let (sender, receiver) = mpsc::channel();
        // Counting references is part of the program only if somebody looks at the count.
        let counts = program.iter().flatten().any(|one| matches!(one, Operation::Count));
        let counted = counts.then(|| Arc::new(()));
        let shared = std::sync::Arc::new(Shared {
            variables: Default::default(),
            flag: AtomicBool::new(false),
            locks: Default::default(),
            table: RwLock::new(0),
            sender: Mutex::new(Some(sender)),
            receiver: Mutex::new(Some(receiver)),
            condition: Condvar::new(),
        });
        let mut tasks: Vec<thread::JoinHandle<_>> = Vec::new();
        for me in 0..program.len() {
            let (shared, program, counted) = (shared.clone(), program.clone(), counted.clone());
            let first = tasks.first().map(|task| task.thread().clone());
            tasks.push(thread::spawn(move || run(me, &program[me], &shared, counted, first)));
        }
        let mut seen: Vec<_> = tasks.into_iter().map(|task| task.join().unwrap()).collect();
        seen.push(shared.variables.iter().map(|variable| variable.load(SeqCst)).collect());
        seen.push(shared.locks.iter().map(|lock| *lock.lock().unwrap()).collect());
        there.lock().unwrap().insert(seen);
    });
    let outcomes = outcomes.lock().unwrap().clone();
    (outcomes, report)
}

/// Programs number so many and on, from `ALLWAYS_RANDOM`, as `N` or `N..M`.
fn programs(default: u64) -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("ALLWAYS_RANDOM") else { return 0..default };
    match text.split_once("..") {
        Some((first, end)) => first.parse().unwrap()..end.parse().unwrap(),
        None => 0..text.parse().unwrap(),
    }
}

/// Whether nothing is left to run. Of some programs the tasks have nothing in common.
fn complete(report: &Report) -> bool {
    matches!(report.outcome, Outcome::EverySchedule | Outcome::Stopped(StopReason::NeverMet(_)))
}

fn compare(weak: bool, default: u64) {
    let most = if std::env::var("ALLWAYS_RANDOM").is_ok() { 20_000 } else { 2_000 };
    let (mut compared, mut skipped, mut deadlocks, mut with, mut without) = (0u64, 0u64, 0u64, 0u64, 0u64);
    let check = || if weak { Check::new().weak_memory() } else { Check::new() };
    for number in programs(default) {
        let program = std::sync::Arc::new(random_program(number));
        let (expected, full) = outcomes(&program, check().no_reduction().schedules(most));
        if full.failure().is_none() && !complete(&full) {
            skipped += 1;
            continue;
        }
        let (found, reduced) = outcomes(&program, check().schedules(10 * most));
        assert_eq!(
            full.failure().map(|failure| failure.kind),
            reduced.failure().map(|failure| failure.kind),
            "program {number}: {program:?}\n{full}\n{reduced}"
        );
        if full.failure().is_some() {
            deadlocks += 1;
            continue;
        }
        assert!(complete(&reduced), "program {number}: {program:?}\n{reduced}");
        assert_eq!(expected, found, "program {number}: {program:?}\n{full}\n{reduced}");
        assert!(reduced.schedules <= full.schedules, "program {number}: {program:?}\n{full}\n{reduced}");
        compared += 1;
        with += reduced.schedules;
        without += full.schedules;
    }
    println!(
        "weak memory {weak}: {compared} programs with the same outcomes, {deadlocks} that both find to deadlock, {skipped} too large; \
         {with} schedules with reduction, {without} without"
    );
    assert!(
        3 * compared > skipped && deadlocks > 0,
        "{compared} compared, {skipped} skipped, {deadlocks} deadlocks"
    );
}

#[test]
fn outcomes_of_random_programs_are_the_same() {
    for (weak, programs) in [(false, 150), (true, 60)] {
        compare(weak, programs);
    }
}

#[test]
fn independent_operations_are_not_interleaved() {
    let report = Check::new().explore(|| {
        let threads: Vec<_> = (0..3)
            .map(|_| {
                thread::spawn(|| {
                    let own = AtomicUsize::new(0);
                    for _ in 0..4 {
                        own.fetch_add(1, SeqCst);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    println!("3 x 4 independent: {report}");
    assert!(report.every_schedule() && report.schedules <= 30, "{report}");
}
