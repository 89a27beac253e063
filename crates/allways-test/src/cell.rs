//! Cells whose accesses are watched: a data race is a failure.
//!
//! Two accesses, at least one of them a write, must be ordered by what has happened before (locks, atomics with their orderings,
//! threads started and joined). That does not depend on when exactly they take place, so an access is no scheduling point; unless
//! one asks for it, because the memory of a cell may be freed between an operation and an access.
//!
//! Why the unsafe code is sound: `Sync` is what makes a cell of use between threads, as loom's has it. Pointers that it hands out
//! are used by the caller, in code of the caller that is unsafe; and a race between two tasks is noticed before the second gets
//! its pointer.
#![allow(unsafe_code)]

use crate::facade::{self, number};
use crate::operation::Operation;
use crate::world::Handle;

pub use std::cell::{Cell, RefCell};

/// A cell like [`std::cell::UnsafeCell`], with the interface of loom's.
#[derive(Debug)]
pub struct UnsafeCell<T: ?Sized> {
    handle: Handle,
    value: std::cell::UnsafeCell<T>,
}

// SAFETY: see the comment of the file.
unsafe impl<T: ?Sized + Send> Sync for UnsafeCell<T> {}

impl<T> UnsafeCell<T> {
    /// A cell with a value.
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell { handle: Handle::new(), value: std::cell::UnsafeCell::new(value) }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads.
    #[track_caller]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        self.access(false);
        read(self.value.get())
    }

    /// Writes.
    #[track_caller]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        self.access(true);
        write(self.value.get())
    }

    /// A pointer for reading.
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        self.access(false);
        ConstPtr(self.value.get())
    }

    /// A pointer for writing.
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        self.access(true);
        MutPtr(self.value.get())
    }

    #[track_caller]
    fn access(&self, write: bool) {
        let address = std::ptr::from_ref(&self.handle).addr();
        crate::alloc::used(address);
        if facade::world(|world| world.cells) == Some(true) {
            facade::point(|world| {
                let cell = number(&self.handle, world);
                if write { Operation::write(cell) } else { Operation::read(cell) }
            });
            crate::alloc::used(address);
        }
        let race = facade::world(|world| {
            let cell = number(&self.handle, world);
            let other = world.access(cell, write);
            // What synchronises by other types than those of this crate is not known.
            other.filter(|_| !world.foreign)
        });
        if let Some(Some(other)) = race {
            let (what, other) = (if write { "written" } else { "read" }, facade::name(other));
            panic!("data race: a cell is {what} while nothing orders that after an access of {other}");
        }
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    fn default() -> UnsafeCell<T> {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}

/// A pointer for reading, as loom has it.
#[derive(Debug)]
pub struct ConstPtr<T: ?Sized>(*const T);

/// A pointer for writing, as loom has it.
#[derive(Debug)]
pub struct MutPtr<T: ?Sized>(*mut T);

impl<T: ?Sized> ConstPtr<T> {
    /// The value.
    ///
    /// # Safety
    /// As for a pointer.
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: the caller sees to it.
        unsafe { &*self.0 }
    }

    /// Gives the pointer to a function.
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0)
    }
}

impl<T: ?Sized> MutPtr<T> {
    /// The value.
    ///
    /// # Safety
    /// As for a pointer.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: the caller sees to it.
        unsafe { &mut *self.0 }
    }

    /// Gives the pointer to a function.
    pub fn with<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0)
    }
}
