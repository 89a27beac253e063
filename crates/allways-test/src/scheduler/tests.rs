//! The search against brute force: on random small programs, the schedules with exactly K delays are those that a plain
//! depth-first enumeration finds and a literal reading of Scheduler 3 prices at K, each once.

use super::*;
use crate::settings::Settings;
use shuttle::scheduler::DfsScheduler;
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use shuttle::sync::{Mutex, mpsc};
use shuttle::{Config, MaxSteps, Runner, future, thread};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The tasks chosen, step by step, and the delays spent.
type Log = Rc<RefCell<Vec<(Vec<usize>, usize)>>>;

/// Writes down what the delay scheduler chooses.
struct Spy {
    inner: DelayScheduler,
    log: Log,
}

impl Scheduler for Spy {
    fn new_execution(&mut self) -> Option<Schedule> {
        let schedule = self.inner.new_execution()?;
        let delays = self.inner.session.borrow().execution.walk.path().len();
        self.log.borrow_mut().push((Vec::new(), delays));
        Some(schedule)
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, yielding: bool) -> Option<TaskId> {
        let chosen = self.inner.next_task(tasks, current, yielding)?;
        self.log.borrow_mut().last_mut().unwrap().0.push(chosen.into());
        Some(chosen)
    }

    fn next_u64(&mut self) -> u64 {
        self.inner.next_u64()
    }
}

/// Shuttle's exhaustive scheduler, with the price of each of its choices.
struct Priced {
    inner: DfsScheduler,
    log: Log,
    quantum: usize,
    in_a_row: usize,
    /// The steps so far: who, and whether it went on from a yield.
    steps: Vec<(usize, bool)>,
}

/// The price of an unfair schedule.
const UNFAIR: usize = usize::MAX / 2;

impl Priced {
    /// Whether the chosen task has yielded twice since the last step of anybody else, although somebody else could step.
    fn unfair(&mut self, tasks: &[&Task], current: Option<usize>, yielding: bool, chosen: usize) -> bool {
        if let (Some((task, yields)), Some(current)) = (self.steps.last_mut(), current)
            && *task == current
        {
            *yields = yielding;
        }
        let alone = self.steps.iter().rev().take_while(|step| step.0 == chosen);
        let yields = alone.filter(|step| step.1).count();
        self.steps.push((chosen, false));
        let others = tasks.iter().any(|task| task.runnable() && usize::from(task.id()) != chosen);
        yields >= 2 && others
    }

    /// How many tasks stand before the chosen one, going round from the current task.
    fn price(&mut self, tasks: &[&Task], current: Option<usize>, yielding: bool, chosen: usize) -> usize {
        let to_the_end = yielding || self.in_a_row >= self.quantum;
        let all =
            tasks.iter().map(|task| usize::from(task.id())).max().unwrap().max(current.unwrap_or(0)) + 1;
        let first = current.map_or(0, |current| if to_the_end { current + 1 } else { current });
        // Who has to wait does not stand in the line.
        let waits = |task: usize| {
            let mut steps = self.steps.clone();
            if let (Some((last, yields)), Some(current)) = (steps.last_mut(), current)
                && *last == current
            {
                *yields = yielding;
            }
            let yields = steps.iter().rev().take_while(|step| step.0 == task).filter(|step| step.1).count();
            yields >= 2 && tasks.iter().any(|one| one.runnable() && usize::from(one.id()) != task)
        };
        let mut line = Vec::new();
        for runnable in [true, false] {
            for task in (0..all).map(|offset| (first + offset) % all) {
                if tasks.iter().any(|one| usize::from(one.id()) == task && one.runnable() == runnable)
                    && (!waits(task) || task == chosen)
                {
                    line.push(task);
                }
            }
        }
        // Steps in a row, as long as somebody else could have run.
        let stays = Some(chosen) == current && !to_the_end;
        self.in_a_row = if line.len() == 1 {
            0
        } else if stays {
            self.in_a_row + 1
        } else {
            1
        };
        line.iter().position(|&task| task == chosen).unwrap()
    }
}

impl Scheduler for Priced {
    fn new_execution(&mut self) -> Option<Schedule> {
        let schedule = self.inner.new_execution()?;
        self.log.borrow_mut().push((Vec::new(), 0));
        self.in_a_row = 0;
        self.steps.clear();
        Some(schedule)
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, yielding: bool) -> Option<TaskId> {
        let chosen = self.inner.next_task(tasks, current, yielding)?;
        let mut price = self.price(tasks, current.map(usize::from), yielding, chosen.into());
        if self.unfair(tasks, current.map(usize::from), yielding, chosen.into()) {
            price = UNFAIR;
        }
        let mut log = self.log.borrow_mut();
        let (steps, delays) = log.last_mut().unwrap();
        steps.push(chosen.into());
        *delays = delays.saturating_add(price);
        Some(chosen)
    }

    fn next_u64(&mut self) -> u64 {
        self.inner.next_u64()
    }
}

/// A random program without deadlocks: operations of each task.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Add,
    Lock(usize),
    TryLock(usize),
    Send,
    Yield,
    Park,
}

fn random_program(number: u64) -> Vec<Vec<Operation>> {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % n
    };
    let tasks = 1 + below(2);
    (0..tasks)
        .map(|_| {
            let operations = 1 + below(if tasks == 1 { 3 } else { 2 });
            let mut parks = 0;
            (0..operations)
                .map(|_| match below(6) {
                    0 => Operation::Lock(below(2) as usize),
                    1 => Operation::TryLock(below(2) as usize),
                    2 => Operation::Send,
                    3 => Operation::Yield,
                    4 if parks == 0 => {
                        parks += 1;
                        Operation::Park
                    }
                    _ => Operation::Add,
                })
                .collect()
        })
        .collect()
}

/// What the operations work on.
struct Shared {
    counter: AtomicUsize,
    locks: [Mutex<()>; 2],
    sender: mpsc::Sender<()>,
}

impl Shared {
    fn run(&self, operation: Operation) {
        match operation {
            Operation::Add => drop(self.counter.fetch_add(1, SeqCst)),
            Operation::Lock(lock) => drop(self.locks[lock].lock().unwrap()),
            Operation::TryLock(lock) => drop(self.locks[lock].try_lock()),
            Operation::Send => drop(self.sender.send(())),
            Operation::Yield => thread::yield_now(),
            Operation::Park => thread::park(),
        }
    }
}

/// With threads that are joined, with threads of which the first is left alone, or with futures.
fn run_program(number: u64, program: &[Vec<Operation>]) {
    let (sender, _receiver) = mpsc::channel();
    let shared = Arc::new(Shared { counter: AtomicUsize::new(0), locks: Default::default(), sender });
    let mut threads = Vec::new();
    let mut futures = Vec::new();
    for operations in program.iter().cloned() {
        let shared = Arc::clone(&shared);
        if number % 3 == 2 {
            futures.push(future::spawn(async move {
                for operation in operations {
                    match operation {
                        Operation::Park | Operation::Yield => future::yield_now().await,
                        other => shared.run(other),
                    }
                }
            }));
        } else {
            threads.push(thread::spawn(move || {
                operations.into_iter().for_each(|operation| shared.run(operation))
            }));
        }
    }
    for (index, thread) in threads.into_iter().enumerate() {
        // One token is enough: each task parks at most once.
        thread.thread().unpark();
        if index > 0 || number.is_multiple_of(3) {
            thread.join().unwrap();
        }
    }
    for future in futures {
        future::block_on(future).unwrap();
    }
}

fn settings(quantum: usize) -> Settings {
    Settings {
        delays: None,
        schedules: None,
        time: None,
        steps: 1000,
        quantum,
        spurious: true,
        must_end: true,
        stack: 0xf000,
        reduce: false,
        weak: false,
        cells: false,
        random: 0,
        cores: 1,
        resume: None,
        page: None,
    }
}

fn config() -> Config {
    let mut config = Config::new();
    config.max_steps = MaxSteps::None;
    config
}

#[test]
fn the_schedules_with_k_delays_are_those_of_brute_force() {
    const MOST: usize = 4000;
    let programs = std::env::var("ALLWAYS_RANDOM").map_or(200, |number| number.parse().unwrap());
    let mut compared = 0;
    let mut deepest = 0;
    let mut unfair = 0;
    for number in 0..programs {
        let program = Arc::new(random_program(number));
        let quantum = [2, 5, 128][number as usize / 3 % 3];
        let brute = Log::default();
        let scheduler = Priced {
            inner: DfsScheduler::new(Some(MOST), false),
            log: brute.clone(),
            quantum,
            in_a_row: 0,
            steps: Vec::new(),
        };
        let here = Arc::clone(&program);
        Runner::new(scheduler, config()).run(move || run_program(number, &here));
        if brute.borrow().len() == MOST {
            continue;
        }
        let session = Rc::new(RefCell::new(Session::search(settings(quantum))));
        let searched = Log::default();
        let inner = DelayScheduler { session: Rc::clone(&session), guide: None };
        let scheduler = Spy { inner, log: searched.clone() };
        let here = Arc::clone(&program);
        Runner::new(scheduler, config()).run(move || run_program(number, &here));

        assert_eq!(session.borrow().end, Some(End::Exhausted), "program {number}: {program:?}");
        // The last execution is the first again, to see that it is the same.
        let again = searched.borrow_mut().pop();
        let (brute, searched) = (brute.borrow(), searched.borrow());
        assert_eq!(again.as_ref(), searched.first());
        let expected: BTreeSet<_> = brute.iter().filter(|schedule| schedule.1 < UNFAIR).collect();
        unfair += brute.len() - expected.len();
        let found: BTreeSet<_> = searched.iter().collect();
        assert_eq!(found.len(), searched.len(), "program {number}: a schedule twice: {program:?}");
        assert_eq!(found, expected, "program {number}: {program:?}");
        assert!(searched.is_sorted_by_key(|schedule| schedule.1), "program {number}: fewer delays first");
        compared += 1;
        deepest = deepest.max(searched.last().unwrap().1);
    }
    println!("{compared} programs compared, up to {deepest} delays, {unfair} unfair schedules left out");
    assert!(unfair > 0);
    assert!(2 * compared > programs && deepest >= 8, "{compared} programs compared, up to {deepest} delays");
}

/// Tasks that each read a variable and write it in the next step, several times. The final value tells schedules apart.
fn racy(factors: &[Vec<usize>]) -> usize {
    let value = Arc::new(AtomicUsize::new(1));
    let threads: Vec<_> = factors
        .iter()
        .cloned()
        .map(|factors| {
            let value = Arc::clone(&value);
            thread::spawn(move || {
                for factor in factors {
                    let seen = value.load(SeqCst);
                    value.store(seen * factor + 1, SeqCst);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    value.load(SeqCst)
}

#[test]
fn a_failure_has_as_few_delays_as_brute_force_can_find() {
    let programs: [&[&[usize]]; 5] =
        [&[&[2], &[3]], &[&[2, 5], &[3]], &[&[2], &[3, 7]], &[&[2, 3], &[5, 7]], &[&[2], &[3], &[5]]];
    let mut failures = 0;
    for program in programs {
        let program: Arc<Vec<Vec<usize>>> =
            Arc::new(program.iter().map(|factors| factors.to_vec()).collect());
        let brute = Log::default();
        let scheduler = Priced {
            inner: DfsScheduler::new(None, false),
            log: brute.clone(),
            quantum: 128,
            in_a_row: 0,
            steps: Vec::new(),
        };
        let values = Arc::new(std::sync::Mutex::new(Vec::new()));
        let (here, there) = (Arc::clone(&program), Arc::clone(&values));
        Runner::new(scheduler, config()).run(move || {
            let value = racy(&here);
            there.lock().unwrap().push(value);
        });
        let mut cheapest = std::collections::BTreeMap::new();
        for (value, (_, price)) in values.lock().unwrap().iter().zip(brute.borrow().iter()) {
            let least = cheapest.entry(*value).or_insert(*price);
            *least = (*least).min(*price);
        }
        for (value, price) in cheapest {
            let here = Arc::clone(&program);
            let report = crate::Check::new().every_schedule().explore(move || assert_ne!(racy(&here), value));
            let failure = report.failure().unwrap();
            assert!(failure.minimal && failure.delays == price, "{program:?}, {value}: {price}, {report}");
            failures += 1;
        }
    }
    assert!(failures > 40, "{failures}");
}
