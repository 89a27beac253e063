//! A mutex, the same as `std::sync::Mutex`.
//!
//! To lock is one step, possible while the mutex is free, and to unlock is another one. The value is in a mutex of `std`, which is
//! free whenever this one is.

use crate::facade::{self, number};
use crate::operation::Operation;
use crate::world::{Handle, World};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// A mutex, the same as [`std::sync::Mutex`].
pub struct Mutex<T: ?Sized> {
    handle: Handle,
    inner: std::sync::Mutex<T>,
}

/// A guard, the same as [`std::sync::MutexGuard`].
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    inner: Option<std::sync::MutexGuard<'a, T>>,
}

impl<T> Mutex<T> {
    /// A mutex that is free.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex { handle: Handle::new(), inner: std::sync::Mutex::new(value) }
    }

    /// The value.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until the mutex is free, and takes it.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        crate::alloc::used(std::ptr::from_ref(&self.handle).addr());
        facade::point(|world| {
            let object = self.object(world);
            Operation::write(object).when(object)
        });
        self.taken()
    }

    /// Takes the mutex if it is free.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        crate::alloc::used(std::ptr::from_ref(&self.handle).addr());
        facade::point(|world| Operation::write(self.object(world)));
        if self.is_closed() {
            return Err(TryLockError::WouldBlock);
        }
        self.taken().map_err(TryLockError::Poisoned)
    }

    /// Whether a thread has panicked while it held the mutex.
    pub fn is_poisoned(&self) -> bool {
        self.inner.is_poisoned()
    }

    /// Forgets that.
    pub fn clear_poison(&self) {
        self.inner.clear_poison();
    }

    /// The value, which nobody else can reach.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }

    pub(super) fn object(&self, world: &mut World) -> u32 {
        number(&self.handle, world)
    }

    fn is_closed(&self) -> bool {
        facade::world(|world| {
            let object = self.object(world);
            world.object(object).closed
        })
        .unwrap_or(false)
    }

    /// It is free, and taken now.
    pub(super) fn taken(&self) -> LockResult<MutexGuard<'_, T>> {
        facade::world(|world| {
            let object = self.object(world);
            world.object(object).closed = true;
            world.acquire(object);
        });
        match self.inner.try_lock() {
            Ok(inner) => Ok(MutexGuard { mutex: self, inner: Some(inner) }),
            Err(TryLockError::Poisoned(error)) => {
                Err(PoisonError::new(MutexGuard { mutex: self, inner: Some(error.into_inner()) }))
            }
            Err(TryLockError::WouldBlock) => facade::cannot_wait(),
        }
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Gives the mutex back, in the step that is going on.
    pub(super) fn give_back(mut self) -> &'a Mutex<T> {
        let mutex = self.mutex;
        self.open();
        mutex
    }

    pub(super) fn lock_object(&self, world: &mut World) -> u32 {
        self.mutex.object(world)
    }

    fn open(&mut self) {
        if self.inner.take().is_some() {
            facade::world(|world| {
                let object = self.mutex.object(world);
                world.object(object).closed = false;
                world.release(object);
            });
        }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if self.inner.is_some() {
            facade::point(|world| Operation::write(self.mutex.object(world)));
            self.open();
        }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("a guard holds its mutex")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("a guard holds its mutex")
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        (**self).fmt(f)
    }
}
