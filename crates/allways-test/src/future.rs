//! Futures: waits for one on a thread, with a waker that is scheduled; timeouts, and which of two futures comes first, as choices.
//!
//! Time has no length here. A timer that is polled in `block_on` may run out whenever its thread waits, at the price of a delay, and does
//! if nobody else can go on. If there are several timers, which of them runs out is a choice as well.
//!
//! Invariant: `timers` of a task counts the timers that its future has polled since it was polled itself; `runs_out` is the number of
//! the one that runs out in this poll, in the order in which they are polled.

use crate::choose;
use crate::facade;
use crate::operation::{Operation, Otherwise};
use crate::thread;
use crate::world::Handle;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// Closed until the future is to be polled.
struct Bell(Handle);

impl Bell {
    fn object(&self, world: &mut crate::world::World) -> u32 {
        let (object, new) = self.0.register(world, 1);
        if new {
            world.object(object).closed = true;
        }
        object
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        facade::point(|world| Operation::write(self.object(world)));
        facade::world(|world| {
            let object = self.object(world);
            world.release(object);
            world.object(object).closed = false;
        });
    }
}

/// Waits for a future.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let bell = Arc::new(Bell(Handle::new()));
    let waker = Waker::from(Arc::clone(&bell));
    let mut context = Context::from_waker(&waker);
    loop {
        facade::world(|world| world.me().timers = 0);
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        let running = facade::point(|world| {
            let object = bell.object(world);
            match world.me().timers {
                0 => Operation::write(object).when(object),
                _ => Operation { soft: object, otherwise: Otherwise::TimesOut, ..Operation::write(object) },
            }
        });
        if !running {
            facade::cannot_wait();
        }
        facade::execution(|execution| {
            let object = bell.object(&mut execution.world);
            let timers = execution.world.me().timers as usize;
            let rung = !execution.world.object(object).closed;
            let runs_out = if rung { None } else { Some(execution.decide(timers) as u32) };
            let world = &mut execution.world;
            world.me().runs_out = runs_out;
            if rung {
                world.acquire(object);
                world.object(object).closed = true;
            }
        });
    }
}

/// The time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed(());

impl std::fmt::Display for Elapsed {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("the time was up")
    }
}

impl std::error::Error for Elapsed {}

/// Waits until the time is up, which may be at any time.
pub async fn sleep(_time: Duration) {
    std::future::poll_fn(|_| {
        let up = facade::world(|world| {
            let me = world.me();
            me.timers += 1;
            me.runs_out == Some(me.timers - 1)
        });
        if up == Some(true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await
}

/// Waits for a future, or until the time is up, which may be at any time.
///
/// ```
/// use allways_test::{Check, future, sync::mpsc, thread};
/// use std::time::Duration;
///
/// let report = Check::new().explore(|| {
///     let never = std::future::pending::<()>();
///     assert!(future::block_on(future::timeout(Duration::from_secs(1), never)).is_err());
/// });
/// assert!(report.failure().is_none());
/// ```
pub async fn timeout<F: Future>(time: Duration, future: F) -> Result<F::Output, Elapsed> {
    // What is there is there, however late it is.
    match both(future, sleep(time), false).await {
        Either::Left(value) => Ok(value),
        Either::Right(()) => Err(Elapsed(())),
    }
}

/// What one of two futures has given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Either<A, B> {
    /// The first one.
    Left(A),
    /// The second one.
    Right(B),
}

/// Waits for the first of two futures; the other one is dropped. Which one is polled first is a choice, the second at the price of a
/// delay: what `select!` leaves to chance.
pub async fn select<A: Future, B: Future>(a: A, b: B) -> Either<A::Output, B::Output> {
    both(a, b, true).await
}

async fn both<A: Future, B: Future>(a: A, b: B, any_order: bool) -> Either<A::Output, B::Output> {
    let (mut a, mut b) = (pin!(a), pin!(b));
    std::future::poll_fn(move |context| {
        let second_first = any_order && choose(2) == 1;
        for second in [second_first, !second_first] {
            if second {
                if let Poll::Ready(value) = b.as_mut().poll(context) {
                    return Poll::Ready(Either::Right(value));
                }
            } else if let Poll::Ready(value) = a.as_mut().poll(context) {
                return Poll::Ready(Either::Left(value));
            }
        }
        Poll::Pending
    })
    .await
}

/// Lets others go on once.
pub async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        thread::yield_now();
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}
