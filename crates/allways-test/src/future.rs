//! Futures: waits for one on a thread, with a waker that is scheduled.

use crate::facade;
use crate::operation::Operation;
use crate::thread;
use crate::world::Handle;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

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
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        let running = facade::point(|world| {
            let object = bell.object(world);
            Operation::write(object).when(object)
        });
        if !running {
            facade::cannot_wait();
        }
        facade::world(|world| {
            let object = bell.object(world);
            world.acquire(object);
            world.object(object).closed = true;
        });
    }
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
