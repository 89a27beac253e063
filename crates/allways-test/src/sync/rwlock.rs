//! A reader-writer lock, the same as `std::sync::RwLock`.
//!
//! Two objects: the first is closed while anybody holds the lock, the second while a writer does. The first counts the readers.

use crate::facade;
use crate::operation::Operation;
use crate::world::{Handle, World};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// A reader-writer lock, the same as [`std::sync::RwLock`].
pub struct RwLock<T: ?Sized> {
    handle: Handle,
    inner: std::sync::RwLock<T>,
}

/// A guard, the same as [`std::sync::RwLockReadGuard`].
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    inner: Option<std::sync::RwLockReadGuard<'a, T>>,
}

/// A guard, the same as [`std::sync::RwLockWriteGuard`].
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    inner: Option<std::sync::RwLockWriteGuard<'a, T>>,
}

impl<T> RwLock<T> {
    /// A lock that is free.
    pub const fn new(value: T) -> RwLock<T> {
        RwLock { handle: Handle::new(), inner: std::sync::RwLock::new(value) }
    }

    /// The value.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until no writer holds the lock, and takes it for reading.
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        facade::point(|world| {
            let lock = self.object(world);
            Operation::write(lock).when(lock + 1)
        });
        self.reads()
    }

    /// Waits until nobody holds the lock, and takes it for writing.
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        facade::point(|world| {
            let lock = self.object(world);
            Operation::write(lock).when(lock)
        });
        self.writes()
    }

    /// Takes the lock for reading if no writer holds it.
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        facade::point(|world| Operation::write(self.object(world)));
        if self.is_closed(1) {
            return Err(TryLockError::WouldBlock);
        }
        self.reads().map_err(TryLockError::Poisoned)
    }

    /// Takes the lock for writing if nobody holds it.
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        facade::point(|world| Operation::write(self.object(world)));
        if self.is_closed(0) {
            return Err(TryLockError::WouldBlock);
        }
        self.writes().map_err(TryLockError::Poisoned)
    }

    /// Whether a thread has panicked while it held the lock for writing.
    pub fn is_poisoned(&self) -> bool {
        self.inner.is_poisoned()
    }

    /// The value, which nobody else can reach.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }

    fn object(&self, world: &mut World) -> u32 {
        self.handle.register(world, 2).0
    }

    fn is_closed(&self, which: u32) -> bool {
        facade::world(|world| {
            let lock = self.object(world);
            world.object(lock + which).closed
        })
        .unwrap_or(false)
    }

    fn reads(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        facade::world(|world| {
            let lock = self.object(world);
            world.object(lock).closed = true;
            world.object(lock).count += 1;
            world.acquire(lock);
        });
        match self.inner.try_read() {
            Ok(inner) => Ok(RwLockReadGuard { lock: self, inner: Some(inner) }),
            Err(TryLockError::Poisoned(error)) => {
                Err(PoisonError::new(RwLockReadGuard { lock: self, inner: Some(error.into_inner()) }))
            }
            Err(TryLockError::WouldBlock) => facade::cannot_wait(),
        }
    }

    fn writes(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        facade::world(|world| {
            let lock = self.object(world);
            world.object(lock).closed = true;
            world.object(lock + 1).closed = true;
            world.acquire(lock);
            // What readers did happened before as well.
            world.acquire(lock + 1);
        });
        match self.inner.try_write() {
            Ok(inner) => Ok(RwLockWriteGuard { lock: self, inner: Some(inner) }),
            Err(TryLockError::Poisoned(error)) => {
                Err(PoisonError::new(RwLockWriteGuard { lock: self, inner: Some(error.into_inner()) }))
            }
            Err(TryLockError::WouldBlock) => facade::cannot_wait(),
        }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        facade::point(|world| Operation::write(self.lock.object(world)));
        self.inner = None;
        facade::world(|world| {
            let lock = self.lock.object(world);
            world.release(lock + 1);
            let object = world.object(lock);
            object.count -= 1;
            object.closed = object.count > 0;
        });
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        facade::point(|world| Operation::write(self.lock.object(world)));
        self.inner = None;
        facade::world(|world| {
            let lock = self.lock.object(world);
            world.release(lock);
            world.object(lock).closed = false;
            world.object(lock + 1).closed = false;
        });
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("a guard holds its lock")
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("a guard holds its lock")
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("a guard holds its lock")
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        (**self).fmt(f)
    }
}
