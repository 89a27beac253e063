//! Several searches at once: the first that settles the question stops the others.
//!
//! The one race of this crate: [strategies](crate::strategy) race engines, CUBA's procedure two of its methods, coverability
//! forward against backward. The first lane runs on the calling thread, so that a question it settles at once costs no more
//! than a thread that never wakes up.

use crate::budget::Budget;
use std::sync::{Condvar, Mutex, PoisonError, mpsc};
use std::time::Duration;

/// One of those that run.
pub struct Lane<'a, T> {
    /// How long the others are alone.
    pub after: Duration,
    /// What it does.
    pub run: &'a (dyn Fn(&Budget) -> T + Sync),
}

impl<'a, T> Lane<'a, T> {
    /// One that starts at once.
    pub fn new(run: &'a (dyn Fn(&Budget) -> T + Sync)) -> Lane<'a, T> {
        Lane { after: Duration::ZERO, run }
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

/// What those that have not started wait for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    HeadStart,
    /// The first lane has ended and settled nothing: there is no reason to wait any longer.
    Open,
    Over,
}

struct Course {
    stage: Mutex<Stage>,
    changed: Condvar,
}

impl Course {
    fn enter(&self, stage: Stage) {
        let mut now = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if *now != Stage::Over {
            *now = stage;
        }
        self.changed.notify_all();
    }

    /// Waits for a head start of the others; says whether there is something left to do then.
    fn wait(&self, time: Duration) -> bool {
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(stage, time, |stage| *stage == Stage::HeadStart);
        *waited.unwrap_or_else(PoisonError::into_inner).0 != Stage::Over
    }
}

/// Runs the lanes side by side until one [settles](Raced::winner) the question. When the first lane has ended without that, the
/// others go on for so long at most, if `patience` is given.
pub fn race<T: Send>(
    lanes: &[Lane<'_, T>],
    settles: impl Fn(&T) -> bool + Sync,
    patience: Option<Duration>,
    budget: &Budget,
) -> Raced<T> {
    let (Some((first, others)), shared) = (lanes.split_first(), budget.child()) else {
        return Raced { winner: None, results: Vec::new() };
    };
    let course = Course { stage: Mutex::new(Stage::HeadStart), changed: Condvar::new() };
    let winner = Mutex::new(None);
    let ended = |index: usize, result: &T| {
        if settles(result) {
            winner.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(index);
            shared.cancel();
            course.enter(Stage::Over);
        }
    };
    let mut results = Vec::with_capacity(lanes.len());
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel::<()>();
        let runners: Vec<_> = others
            .iter()
            .enumerate()
            .map(|(index, lane)| {
                let (shared, course, ended, sender) = (&shared, &course, &ended, sender.clone());
                scope.spawn(move || {
                    // Dropped at the end, also by a panic: then nobody waits for this lane any more.
                    let _running = sender;
                    if !course.wait(lane.after) || shared.check().is_err() {
                        return None;
                    }
                    let result = (lane.run)(shared);
                    ended(index + 1, &result);
                    Some(result)
                })
            })
            .collect();
        drop(sender);
        let result = (first.run)(&shared);
        ended(0, &result);
        results.push(Some(result));
        course.enter(Stage::Open);
        // Nothing is ever sent: the receiver wakes up when all lanes have ended.
        if let Some(patience) = patience
            && receiver.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout)
        {
            shared.cancel();
            course.enter(Stage::Over);
        }
        for runner in runners {
            results.push(runner.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
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
        let late = Lane { after: Duration::from_secs(3600), run: &|_| 7 };
        for lanes in [[Lane::new(&|_| 1), Lane::new(&spin), late], {
            let late = Lane { after: Duration::from_secs(3600), run: &|_| 7 };
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
    #[should_panic(expected = "on purpose")]
    fn a_panic_in_a_lane_is_a_panic_of_the_race() {
        let lanes = [Lane::new(&|_| 0), Lane::new(&|_| panic!("on purpose"))];
        race(&lanes, |&result: &u32| result > 0, Some(Duration::from_secs(60)), &Budget::unlimited());
    }
}
