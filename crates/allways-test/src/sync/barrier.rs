//! A barrier, the same as `std::sync::Barrier`. The last to come opens an object for all of its generation.

use crate::facade::{self, number};
use crate::operation::{Operation, Touches};
use crate::world::Handle;
use std::sync::{Mutex, PoisonError};

/// A barrier, the same as [`std::sync::Barrier`].
#[derive(Debug)]
pub struct Barrier {
    handle: Handle,
    size: usize,
    /// The execution, how many have come, and the object of their generation.
    come: Mutex<(u32, usize, u32)>,
}

/// Whether a thread was the last to come.
#[derive(Clone, Copy, Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether it was.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// A barrier for so many threads.
    pub const fn new(size: usize) -> Barrier {
        Barrier { handle: Handle::new(), size, come: Mutex::new((0, 0, 0)) }
    }

    /// Waits until all have come.
    pub fn wait(&self) -> BarrierWaitResult {
        facade::point(|world| Operation::write(number(&self.handle, world)));
        let Some((last, gate)) = facade::world(|world| {
            let mut come = self.come.lock().unwrap_or_else(PoisonError::into_inner);
            if come.0 != world.execution || come.1 == 0 {
                let gate = world.new_object();
                world.object(gate).closed = true;
                *come = (world.execution, 0, gate);
            }
            come.1 += 1;
            let (_, count, gate) = *come;
            world.release(gate);
            let last = count >= self.size;
            if last {
                world.object(gate).closed = false;
                come.1 = 0;
            }
            (last, gate)
        }) else {
            facade::cannot_wait();
        };
        if !last {
            facade::point(|_| Operation::on(Touches::Nothing).when(gate));
        }
        facade::world(|world| world.acquire(gate));
        BarrierWaitResult(last)
    }
}
