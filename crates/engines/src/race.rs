//! Several searches at once: the first that settles the question stops the others.
//!
//! The one race of this crate: [strategies](crate::strategy) race engines, CUBA's procedure two of its methods, coverability
//! forward against backward. The first lane runs on the calling thread. Lanes that give it a head start get a thread when that
//! is over: whenever the first lane looks at its budget, it starts those that are due. So a question that is settled at once
//! costs no thread at all. There may be more lanes than cores: some [step back](Lane::steps_back) for the others after a while.

use crate::budget::Budget;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// One of those that run.
pub struct Lane<'a, T> {
    /// How long the others are alone.
    pub after: Duration,
    /// How long it runs at full speed. After that it sleeps most of the time while a lane runs that never steps back.
    pub steps_back: Option<Duration>,
    /// What it does.
    pub run: &'a (dyn Fn(&Budget) -> T + Sync),
}

/// Who has stepped back works this long in each period.
const TURN: Duration = Duration::from_millis(10);
const PERIOD: Duration = Duration::from_millis(50);

impl<'a, T> Lane<'a, T> {
    /// One that starts at once.
    pub fn new(run: &'a (dyn Fn(&Budget) -> T + Sync)) -> Lane<'a, T> {
        Lane { after: Duration::ZERO, steps_back: None, run }
    }
}

/// How a race ended.
pub struct Raced<T> {
    /// The lane that settled the question first, if one did.
    pub winner: Option<usize>,
    /// What each lane says; nothing if it never started.
    pub results: Vec<Option<T>>,
}

impl<T> Raced<T> {
    /// What the winner says, or else the first lane.
    pub fn best(mut self) -> T {
        let index = self.winner.unwrap_or(0);
        self.results[index].take().expect("the first lane and the winner have run")
    }
}

/// Runs the lanes side by side until one [settles](Raced::winner) the question. When the first lane has ended without that, all
/// others start at the latest, and go on for so long at most, if `patience` is given.
pub fn race<T: Send>(
    lanes: &[Lane<'_, T>],
    settles: impl Fn(&T) -> bool + Sync,
    patience: Option<Duration>,
    budget: &Budget,
) -> Raced<T> {
    let [_, others @ ..] = lanes else {
        return Raced { winner: None, results: Vec::new() };
    };
    let shared = budget.child();
    let began = Instant::now();
    let winner = Mutex::new(None);
    // How many lanes run that never step back.
    let ahead = AtomicUsize::new(0);
    let make_room = |lane: &Lane<'_, T>| {
        let elapsed = began.elapsed();
        let over = lane.steps_back.is_some_and(|after| elapsed >= after);
        if over && ahead.load(Ordering::Relaxed) > 0 && shared.check().is_ok() {
            let within = Duration::from_nanos((elapsed.as_nanos() % PERIOD.as_nanos()) as u64);
            if within >= TURN {
                thread::sleep(PERIOD - within);
            }
        }
    };
    let run = |index: usize, budget: &Budget| {
        let lane = &lanes[index];
        let leads = usize::from(lane.steps_back.is_none());
        ahead.fetch_add(leads, Ordering::Relaxed);
        let result = (lane.run)(budget);
        ahead.fetch_sub(leads, Ordering::Relaxed);
        if settles(&result) {
            winner.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(index);
            shared.cancel();
        }
        result
    };
    let mut results: Vec<Option<T>> = lanes.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel::<()>();
        let runners: Mutex<Vec<Option<ScopedJoinHandle<'_, T>>>> =
            Mutex::new(others.iter().map(|_| None).collect());
        let start = |index: usize| {
            let (run, make_room, shared, running) = (&run, &make_room, &shared, sender.clone());
            scope.spawn(move || {
                // Dropped at the end, also by a panic: then nobody waits for this lane any more.
                let _running = running;
                run(index, &shared.child().polling(&|| make_room(&lanes[index])))
            })
        };
        let start_due = |all: bool| {
            let mut runners = runners.lock().unwrap_or_else(PoisonError::into_inner);
            let waiting = runners.iter_mut().enumerate().filter(|(_, runner)| runner.is_none());
            for (index, runner) in waiting {
                if (all || began.elapsed() >= others[index].after) && shared.check().is_ok() {
                    *runner = Some(start(index + 1));
                }
            }
        };
        let poll = || {
            start_due(false);
            make_room(&lanes[0]);
        };
        start_due(false);
        results[0] = Some(run(0, &shared.child().polling(&poll)));
        start_due(true);
        let runners = std::mem::take(&mut *runners.lock().unwrap_or_else(PoisonError::into_inner));
        drop(sender);
        // Nothing is ever sent: the receiver wakes up when all lanes have ended.
        if let Some(patience) = patience
            && receiver.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout)
        {
            shared.cancel();
        }
        for (result, runner) in results[1..].iter_mut().zip(runners) {
            *result =
                runner.map(|runner| runner.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
    });
    Raced { winner: winner.into_inner().unwrap_or_else(PoisonError::into_inner), results }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spin(budget: &Budget) -> u32 {
        while budget.check().is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
        0
    }

    #[test]
    fn whoever_settles_it_stops_the_others_and_those_that_wait_never_start() {
        let late = Lane { after: Duration::from_secs(3600), ..Lane::new(&|_| 7) };
        for lanes in [[Lane::new(&|_| 1), Lane::new(&spin), late], {
            let late = Lane { after: Duration::from_secs(3600), ..Lane::new(&|_| 7) };
            [Lane::new(&spin), Lane::new(&|_| 1), late]
        }] {
            let raced = race(&lanes, |&result| result > 0, None, &Budget::unlimited());
            assert_eq!(raced.results[2], None);
            assert_eq!(raced.best(), 1);
        }
    }

    #[test]
    fn undecided_lanes_are_waited_for_as_long_as_there_is_patience() {
        let lanes = [Lane::new(&|_| 0), Lane::new(&spin)];
        let raced = race(&lanes, |&result| result > 0, Some(Duration::from_millis(20)), &Budget::unlimited());
        assert_eq!((raced.winner, raced.results), (None, vec![Some(0), Some(0)]));
    }

    #[test]
    fn lanes_start_when_their_head_start_is_over_although_the_first_goes_on() {
        let soon = Lane { after: Duration::from_millis(5), ..Lane::new(&|_| 3) };
        let raced = race(&[Lane::new(&spin), soon], |&result| result > 0, None, &Budget::unlimited());
        assert_eq!((raced.winner, raced.results), (Some(1), vec![Some(0), Some(3)]));
        // In a race within the first lane, too.
        let inner =
            |budget: &Budget| race(&[Lane::new(&spin), Lane::new(&spin)], |_| false, None, budget).best();
        let soon = Lane { after: Duration::from_millis(5), ..Lane::new(&|_| 3) };
        let raced = race(&[Lane::new(&inner), soon], |&result| result > 0, None, &Budget::unlimited());
        assert_eq!(raced.winner, Some(1));
    }

    #[test]
    fn who_has_stepped_back_goes_on_alone_and_slowly_beside_others() {
        // So many times it looks at its budget while another lane runs, and after it.
        let looks = |steps_back: Option<Duration>| {
            let (beside, after) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let other_runs = AtomicUsize::new(1);
            let counts = |budget: &Budget| {
                let until = Instant::now() + Duration::from_millis(400);
                while Instant::now() < until && budget.check().is_ok() {
                    let count = if other_runs.load(Ordering::Relaxed) > 0 { &beside } else { &after };
                    count.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(1));
                }
                0
            };
            let other = |_: &Budget| {
                std::thread::sleep(Duration::from_millis(200));
                other_runs.store(0, Ordering::Relaxed);
                0
            };
            let lanes = [Lane { steps_back, ..Lane::new(&counts) }, Lane::new(&other)];
            race(&lanes, |_| false, None, &Budget::unlimited());
            (beside.into_inner(), after.into_inner())
        };
        let (beside, after) = looks(Some(Duration::ZERO));
        assert!(beside * 2 < after, "{beside} beside the other lane, {after} after it");
    }

    #[test]
    #[should_panic(expected = "on purpose")]
    fn a_panic_in_a_lane_is_a_panic_of_the_race() {
        let lanes = [Lane::new(&|_| 0), Lane::new(&|_| panic!("on purpose"))];
        race(&lanes, |&result: &u32| result > 0, Some(Duration::from_secs(60)), &Budget::unlimited());
    }
}
