//! The interface of loom 0.7, with the search of `allways-test` behind it: the same tests, not a line changed.
//!
//! `model` explores every fair schedule with weak memory, and fails unless nothing is left but what loom leaves out as well: wake-ups
//! without a reason. Memory that is leaked is not noticed, a spin loop needs no hint, and there is no limit to the number of threads.

pub mod model;
pub mod thread;

pub use model::{explore, model, skip_branch, stop_exploring};

/// As many threads as loom allows; there is no such limit here.
pub const MAX_THREADS: usize = 5;

pub mod sync {
    //! The types of `std::sync`.
    pub use allways_test::sync::{
        Arc, Barrier, Condvar, LockResult, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
        TryLockResult, WaitTimeoutResult, Weak, atomic, mpsc,
    };

    /// A wake-up for one thread.
    #[derive(Debug, Default)]
    pub struct Notify {
        notified: Mutex<bool>,
        condition: Condvar,
    }

    impl Notify {
        /// Nobody was notified.
        pub fn new() -> Notify {
            Notify::default()
        }

        /// Notifies.
        pub fn notify(&self) {
            *self.notified.lock().expect("no panic while it is held") = true;
            self.condition.notify_one();
        }

        /// Waits until notified.
        pub fn wait(&self) {
            let guard = self.notified.lock().expect("no panic while it is held");
            let mut guard =
                self.condition.wait_while(guard, |notified| !*notified).expect("no panic while it is held");
            *guard = false;
        }
    }
}

pub mod cell {
    //! Cells.
    pub use allways_test::cell::{ConstPtr, MutPtr, UnsafeCell};

    /// A cell whose accesses are watched.
    #[derive(Default)]
    pub struct Cell<T>(UnsafeCell<std::cell::Cell<T>>);

    impl<T> std::fmt::Debug for Cell<T> {
        fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            f.debug_struct("Cell").finish_non_exhaustive()
        }
    }

    #[allow(unsafe_code)]
    impl<T> Cell<T> {
        /// A cell with a value.
        pub fn new(value: T) -> Cell<T> {
            Cell(UnsafeCell::new(std::cell::Cell::new(value)))
        }

        /// Sets the value.
        #[track_caller]
        pub fn set(&self, value: T) {
            drop(self.replace(value));
        }

        /// Sets the value, and gives the one before.
        #[track_caller]
        pub fn replace(&self, value: T) -> T {
            // SAFETY: a race was noticed before; the value is not referred to beyond this call.
            self.0.with_mut(|cell| unsafe { &*cell }.replace(value))
        }

        /// The value.
        #[track_caller]
        pub fn get(&self) -> T
        where
            T: Copy,
        {
            // SAFETY: a race was noticed before.
            self.0.with(|cell| unsafe { &*cell }.get())
        }

        /// Takes the value.
        #[track_caller]
        pub fn take(&self) -> T
        where
            T: Default,
        {
            self.replace(T::default())
        }

        /// The value.
        pub fn into_inner(self) -> T {
            self.0.into_inner().into_inner()
        }
    }
}

pub mod hint {
    //! Hints.
    pub use allways_test::hint::{spin_loop, unreachable_unchecked};
}

pub mod alloc {
    //! Memory. Leaks are not noticed.
    pub use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};

    /// A value.
    #[derive(Debug)]
    pub struct Track<T>(T);

    impl<T> Track<T> {
        /// A value.
        pub fn new(value: T) -> Track<T> {
            Track(value)
        }

        /// The value.
        pub fn get_ref(&self) -> &T {
            &self.0
        }

        /// The value.
        pub fn get_mut(&mut self) -> &mut T {
            &mut self.0
        }

        /// The value.
        pub fn into_inner(self) -> T {
            self.0
        }
    }
}

pub mod future {
    //! Futures.
    use crate::sync::Mutex;
    pub use allways_test::future::block_on;
    use std::task::Waker;

    /// A place for a waker.
    #[derive(Debug, Default)]
    pub struct AtomicWaker(Mutex<Option<Waker>>);

    impl AtomicWaker {
        /// No waker.
        pub fn new() -> AtomicWaker {
            AtomicWaker::default()
        }

        /// Keeps a waker.
        pub fn register(&self, waker: Waker) {
            drop(self.0.lock().expect("no panic while it is held").replace(waker));
        }

        /// Keeps a waker.
        pub fn register_by_ref(&self, waker: &Waker) {
            self.register(waker.clone());
        }

        /// Wakes.
        pub fn wake(&self) {
            if let Some(waker) = self.take_waker() {
                waker.wake();
            }
        }

        /// Takes the waker.
        pub fn take_waker(&self) -> Option<Waker> {
            self.0.lock().expect("no panic while it is held").take()
        }
    }
}

/// Values of each thread.
#[macro_export]
macro_rules! thread_local {
    ($($tokens:tt)*) => { $crate::shuttle::thread_local! { $($tokens)* } };
}

/// Values that are made when they are first used in an execution.
#[macro_export]
macro_rules! lazy_static {
    ($($tokens:tt)*) => { $crate::shuttle::lazy_static! { $($tokens)* } };
}

#[doc(hidden)]
pub use allways_test::shuttle;
