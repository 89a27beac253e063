//! Atomic types, the same as those of `std::sync::atomic`.
//!
//! The value at the end of the modification order is kept in an atomic of `std`, for `get_mut` and for use outside a check.
//! Everything else is in the state of the execution (`memory.rs`).

use crate::facade;
use crate::memory::Decide;
use crate::operation::Operation;
use crate::world::{Handle, World};
pub use std::sync::atomic::{Ordering, compiler_fence};

/// A fence, the same as `std::sync::atomic::fence`.
///
/// # Panics
/// If the ordering is relaxed.
#[track_caller]
pub fn fence(order: Ordering) {
    assert!(order != Ordering::Relaxed, "there is no such thing as a relaxed fence");
    // It touches nothing of others: what it allows and forbids shows in what is read and written.
    facade::world(|world| world.fence(order));
}

fn check_load(order: Ordering) {
    assert!(
        !matches!(order, Ordering::Release | Ordering::AcqRel),
        "there is no such thing as a release load"
    );
}

fn check_store(order: Ordering) {
    assert!(
        !matches!(order, Ordering::Acquire | Ordering::AcqRel),
        "there is no such thing as an acquire store"
    );
}

/// The object and the location of a variable.
fn location(handle: &Handle, world: &mut World, newest: u64) -> (u32, usize) {
    let (object, new) = handle.register(world, 1);
    if new {
        world.object(object).location = Some(world.locations.len());
        world.new_location(newest);
    }
    let location = world.objects[object as usize].location;
    (object, location.unwrap_or_default())
}

/// Waits for the turn, and then works on the location. Nothing if no execution is going on.
fn perform<R>(
    handle: &Handle,
    newest: impl Fn() -> u64,
    operation: fn(u32) -> Operation,
    act: impl FnOnce(&mut World, usize, Decide) -> R,
) -> Option<(R, u64)> {
    crate::alloc::used(std::ptr::from_ref(handle).addr());
    facade::point(|world| operation(location(handle, world, newest()).0));
    crate::alloc::used(std::ptr::from_ref(handle).addr());
    facade::execution(|execution| {
        let (_, location) = location(handle, &mut execution.world, newest());
        let (world, mut decide) = execution.memory();
        let result = act(world, location, &mut decide);
        (result, world.newest(location))
    })
}

macro_rules! atomic {
    ($(#[$doc:meta])* $name:ident $(<$parameter:ident>)?, $inner:ty, $value:ty, $to:expr, $from:expr) => {
        $(#[$doc])*
        pub struct $name $(<$parameter>)? {
            newest: $inner,
            handle: Handle,
        }

        impl $(<$parameter>)? $name $(<$parameter>)? {
            /// A variable with its initial value.
            pub const fn new(value: $value) -> Self {
                Self { newest: <$inner>::new(value), handle: Handle::new() }
            }

            fn now(&self) -> u64 {
                let to: fn($value) -> u64 = $to;
                to(self.newest.load(Ordering::Relaxed))
            }

            fn set(&self, bits: u64) {
                let from: fn(u64) -> $value = $from;
                self.newest.store(from(bits), Ordering::Relaxed);
            }

            /// Reads the value.
            pub fn load(&self, order: Ordering) -> $value {
                check_load(order);
                let from: fn(u64) -> $value = $from;
                let done = perform(&self.handle, || self.now(), Operation::read, |world, location, decide| {
                    world.load(location, order, decide)
                });
                match done {
                    Some((bits, _)) => {
                        facade::note(|| format!("reads {:?}", from(bits)));
                        from(bits)
                    }
                    None => self.newest.load(Ordering::Relaxed),
                }
            }

            /// Writes a value.
            pub fn store(&self, value: $value, order: Ordering) {
                check_store(order);
                let to: fn($value) -> u64 = $to;
                let done = perform(&self.handle, || self.now(), Operation::write, |world, location, decide| {
                    world.store(location, to(value), order, decide)
                });
                match done {
                    Some(((), newest)) => {
                        self.set(newest);
                        facade::note(|| format!("writes {value:?}"));
                    }
                    None => self.newest.store(value, Ordering::Relaxed),
                }
            }

            fn change(
                &self,
                success: Ordering,
                failure: Ordering,
                change: impl Fn($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let (to, from): (fn($value) -> u64, fn(u64) -> $value) = ($to, $from);
                let bits = |old: u64| change(from(old)).map(to);
                let done = perform(&self.handle, || self.now(), Operation::write, |world, location, decide| {
                    world.update(location, success, failure, &bits, decide)
                });
                match done {
                    Some((result, newest)) => {
                        self.set(newest);
                        let result = result.map(from).map_err(from);
                        facade::note(|| match result {
                            Ok(old) => format!("reads {old:?}, writes {:?}", change(old).unwrap_or(old)),
                            Err(old) => format!("reads {old:?}"),
                        });
                        result
                    }
                    None => {
                        let old = self.newest.load(Ordering::Relaxed);
                        let new = change(old).ok_or(old)?;
                        self.newest.store(new, Ordering::Relaxed);
                        Ok(old)
                    }
                }
            }

            fn always(&self, order: Ordering, change: impl Fn($value) -> $value) -> $value {
                self.change(order, Ordering::Relaxed, |old| Some(change(old))).unwrap_or_else(|old| old)
            }

            /// Writes a value and gives the one before.
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.always(order, |_| value)
            }

            /// Writes `new` if the value is `current`. Gives the value that was there.
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                check_load(failure);
                self.change(success, failure, |old| (old == current).then_some(new))
            }

            /// Like `compare_exchange`; it does not fail without a reason.
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            /// Like `compare_exchange`, gives the value only.
            pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
                let failure = match order {
                    Ordering::AcqRel => Ordering::Acquire,
                    Ordering::Release => Ordering::Relaxed,
                    other => other,
                };
                self.compare_exchange(current, new, order, failure).unwrap_or_else(|old| old)
            }

            /// Changes the value until nobody came between.
            pub fn fetch_update<F>(&self, set: Ordering, fetch: Ordering, mut f: F) -> Result<$value, $value>
            where
                F: FnMut($value) -> Option<$value>,
            {
                let mut old = self.load(fetch);
                while let Some(new) = f(old) {
                    match self.compare_exchange_weak(old, new, set, fetch) {
                        Ok(old) => return Ok(old),
                        Err(other) => old = other,
                    }
                }
                Err(old)
            }

            /// The value, which nobody else can reach.
            pub fn get_mut(&mut self) -> &mut $value {
                // What was known of it is forgotten: the next use begins with this value.
                self.handle.forget();
                self.newest.get_mut()
            }

            /// Gives the value to a function, as loom does.
            pub fn with_mut<R>(&mut self, change: impl FnOnce(&mut $value) -> R) -> R {
                change(self.get_mut())
            }

            /// The value.
            pub fn into_inner(self) -> $value {
                self.newest.into_inner()
            }

            /// The value without synchronisation, as loom has it.
            ///
            /// # Safety
            /// Nobody may write the value at the same time. Here it is the newest value in any case.
            #[allow(unsafe_code)]
            pub unsafe fn unsync_load(&self) -> $value {
                self.newest.load(Ordering::Relaxed)
            }
        }

        impl $(<$parameter>)? From<$value> for $name $(<$parameter>)? {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }

        impl $(<$parameter>)? std::fmt::Debug for $name $(<$parameter>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                std::fmt::Debug::fmt(&self.newest, f)
            }
        }
    };
}

macro_rules! integer {
    ($($name:ident $value:ident),*) => { $(
        atomic!(
            /// An integer.
            $name, std::sync::atomic::$name, $value, |value| value as u64, |bits| bits as $value
        );

        impl $name {
            /// Adds, around the end; gives the value before.
            pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.always(order, |old| old.wrapping_add(value))
            }

            /// Subtracts, around the end; gives the value before.
            pub fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.always(order, |old| old.wrapping_sub(value))
            }

            /// Bitwise and; gives the value before.
            pub fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.always(order, |old| old & value)
            }

            /// Bitwise and, negated; gives the value before.
            pub fn fetch_nand(&self, value: $value, order: Ordering) -> $value {
                self.always(order, |old| !(old & value))
            }

            /// Bitwise or; gives the value before.
            pub fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.always(order, |old| old | value)
            }

            /// Bitwise exclusive or; gives the value before.
            pub fn fetch_xor(&self, value: $value, order: Ordering) -> $value {
                self.always(order, |old| old ^ value)
            }

            /// The larger one; gives the value before.
            pub fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                self.always(order, |old| old.max(value))
            }

            /// The smaller one; gives the value before.
            pub fn fetch_min(&self, value: $value, order: Ordering) -> $value {
                self.always(order, |old| old.min(value))
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new(0)
            }
        }
    )* };
}

integer!(AtomicU8 u8, AtomicU16 u16, AtomicU32 u32, AtomicU64 u64, AtomicUsize usize);
integer!(AtomicI8 i8, AtomicI16 i16, AtomicI32 i32, AtomicI64 i64, AtomicIsize isize);

atomic!(
    /// A flag.
    AtomicBool, std::sync::atomic::AtomicBool, bool, u64::from, |bits| bits != 0
);

impl AtomicBool {
    /// Logical and; gives the value before.
    pub fn fetch_and(&self, value: bool, order: Ordering) -> bool {
        self.always(order, |old| old & value)
    }

    /// Logical and, negated; gives the value before.
    pub fn fetch_nand(&self, value: bool, order: Ordering) -> bool {
        self.always(order, |old| !(old & value))
    }

    /// Logical or; gives the value before.
    pub fn fetch_or(&self, value: bool, order: Ordering) -> bool {
        self.always(order, |old| old | value)
    }

    /// Logical exclusive or; gives the value before.
    pub fn fetch_xor(&self, value: bool, order: Ordering) -> bool {
        self.always(order, |old| old ^ value)
    }

    /// Negation; gives the value before.
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.always(order, |old| !old)
    }
}

impl Default for AtomicBool {
    fn default() -> Self {
        Self::new(false)
    }
}

atomic!(
    /// A pointer.
    AtomicPtr<T>, std::sync::atomic::AtomicPtr<T>, *mut T,
    |pointer: *mut T| pointer.expose_provenance() as u64,
    |bits| std::ptr::with_exposed_provenance_mut(bits as usize)
);

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}
