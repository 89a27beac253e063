//! A condition variable, the same as `std::sync::Condvar`.
//!
//! To wait is two steps: the mutex is given back and the task queues up; then, when it was notified and the mutex is free, it
//! takes the mutex. Each waiting task has an object of its own, closed until it is notified. Which one is notified is a choice:
//! the one that has waited longest, or with delays another one. There are no spurious wake-ups.

use super::mutex::MutexGuard;
use crate::facade::{self, number};
use crate::operation::{Access, Operation, Otherwise, Touches};
use crate::world::Handle;
use std::sync::{LockResult, Mutex, PoisonError};
use std::time::Duration;

/// A condition variable, the same as [`std::sync::Condvar`].
#[derive(Debug)]
pub struct Condvar {
    handle: Handle,
    /// The objects of the tasks that wait and were not notified.
    queue: Mutex<(u32, Vec<u32>)>,
}

/// Whether a wait has ended because of its timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether it has.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Default for Condvar {
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl Condvar {
    /// A condition variable for which nobody waits.
    pub const fn new() -> Condvar {
        Condvar { handle: Handle::new(), queue: Mutex::new((0, Vec::new())) }
    }

    /// Those who wait in this execution.
    fn queue<R>(&self, execution: u32, act: impl FnOnce(&mut Vec<u32>) -> R) -> R {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.0 != execution {
            *queue = (execution, Vec::new());
        }
        act(&mut queue.1)
    }

    /// Waits until notified.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.wait_until(guard, Otherwise::Waits).0
    }

    /// Waits until notified and the condition does not hold.
    pub fn wait_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Waits until notified, or until the time is up, which may be at any time.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _time: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        match self.wait_until(guard, Otherwise::TimesOut) {
            (Ok(guard), result) => Ok((guard, result)),
            (Err(error), result) => Err(PoisonError::new((error.into_inner(), result))),
        }
    }

    /// Waits until notified and the condition does not hold, or until the time is up.
    pub fn wait_timeout_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        while condition(&mut *guard) {
            let (again, result) = self.wait_timeout(guard, time)?;
            guard = again;
            if result.timed_out() {
                let holds = condition(&mut *guard);
                return Ok((guard, WaitTimeoutResult(holds)));
            }
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    fn wait_until<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        otherwise: Otherwise,
    ) -> (LockResult<MutexGuard<'a, T>>, WaitTimeoutResult) {
        let mut mutex = 0;
        facade::point(|world| {
            mutex = guard.lock_object(world);
            Operation::on(Touches::Two((number(&self.handle, world), Access::Write), (mutex, Access::Write)))
        });
        let lock = guard.give_back();
        let Some((ticket, execution)) = facade::world(|world| {
            let ticket = world.new_object();
            world.object(ticket).closed = true;
            self.queue(world.execution, |queue| queue.push(ticket));
            (ticket, world.execution)
        }) else {
            facade::cannot_wait();
        };
        facade::point(|world| Operation {
            touches: Touches::Two((number(&self.handle, world), Access::Write), (mutex, Access::Write)),
            hard: mutex,
            soft: ticket,
            otherwise,
            yields: false,
        });
        // Who was notified has left the queue.
        let timed_out = self.queue(execution, |queue| {
            let place = queue.iter().position(|&waiting| waiting == ticket);
            place.map(|place| queue.remove(place)).is_some()
        });
        (lock.taken(), WaitTimeoutResult(timed_out))
    }

    /// Notifies one of those who wait.
    pub fn notify_one(&self) {
        facade::point(|world| Operation::write(number(&self.handle, world)));
        facade::execution(|execution| {
            let number = execution.world.execution;
            let waiting = self.queue(number, |queue| queue.len());
            if waiting > 0 {
                let chosen = execution.decide(waiting);
                let ticket = self.queue(number, |queue| queue.remove(chosen));
                execution.world.object(ticket).closed = false;
            }
        });
    }

    /// Notifies all who wait.
    pub fn notify_all(&self) {
        facade::point(|world| Operation::write(number(&self.handle, world)));
        facade::world(|world| {
            for ticket in self.queue(world.execution, std::mem::take) {
                world.object(ticket).closed = false;
            }
        });
    }
}
