//! Values that are made once, the same as `std::sync::{Once, OnceLock, LazyLock}`, of a flag and a mutex.
//!
//! In a static they keep their value from one schedule to the next, which is not the same program each time; make them inside the
//! test.

use super::atomic::{AtomicBool, Ordering};
use super::mutex::Mutex;
use std::fmt;
use std::ops::Deref;
use std::sync::PoisonError;

/// Something that is done once, the same as [`std::sync::Once`].
#[derive(Debug, Default)]
pub struct Once {
    done: AtomicBool,
    lock: Mutex<()>,
}

impl Once {
    /// Not done yet.
    pub const fn new() -> Once {
        Once { done: AtomicBool::new(false), lock: Mutex::new(()) }
    }

    /// Calls the function unless that was done before; waits while another thread does.
    ///
    /// # Panics
    /// If the function has panicked before.
    pub fn call_once(&self, f: impl FnOnce()) {
        if self.is_completed() {
            return;
        }
        let guard = self.lock.lock().expect("Once instance has previously been poisoned");
        if !self.is_completed() {
            f();
            self.done.store(true, Ordering::Release);
        }
        drop(guard);
    }

    /// Whether it is done.
    pub fn is_completed(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }
}

/// A value that is set once, the same as [`std::sync::OnceLock`].
pub struct OnceLock<T> {
    once: Once,
    value: std::sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    /// No value yet.
    pub const fn new() -> OnceLock<T> {
        OnceLock { once: Once::new(), value: std::sync::OnceLock::new() }
    }

    /// The value, if there is one.
    pub fn get(&self) -> Option<&T> {
        if self.once.is_completed() { self.value.get() } else { None }
    }

    /// Sets the value, if there is none.
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("not called before"));
        value.map_or(Ok(()), Err)
    }

    /// The value, which is made if there is none.
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        self.once.call_once(|| {
            let value = make();
            assert!(self.value.set(value).is_ok(), "a value is made once");
        });
        self.value.get().expect("it was made")
    }

    /// The value, which nobody else can reach.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    /// The value.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// A value that is made when it is first needed, the same as [`std::sync::LazyLock`].
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceLock<T>,
    make: std::sync::Mutex<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that is not made yet.
    pub const fn new(make: F) -> LazyLock<T, F> {
        LazyLock { value: OnceLock::new(), make: std::sync::Mutex::new(Some(make)) }
    }

    /// The value, which is made if it was not.
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.value.get_or_init(|| {
            let make = this.make.lock().unwrap_or_else(PoisonError::into_inner).take();
            make.expect("a value is made once")()
        })
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.value.fmt(f)
    }
}
