//! A reference-counted value, the same as `std::sync::Arc`: to clone, to drop and to look at the count are steps.
//!
//! The count is that of `std`. The object that the scheduler knows is found by the address of the value, so that raw pointers can
//! be turned back. Clones are independent of each other and of drops; drops are independent while there are further references.

use crate::facade;
use crate::operation::{Access, Operation, Touches};
use crate::world::World;
use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::pin::Pin;

/// A reference-counted value, the same as [`std::sync::Arc`].
pub struct Arc<T: ?Sized>(Option<std::sync::Arc<T>>);

/// A reference that does not keep the value, the same as [`std::sync::Weak`].
pub struct Weak<T: ?Sized>(std::sync::Weak<T>);

fn address<T: ?Sized>(pointer: *const T) -> usize {
    pointer.cast::<()>().addr()
}

/// The object of a value that has so many references.
fn object(world: &mut World, address: usize, count: usize) -> u32 {
    if let Some(&object) = world.shared.get(&address) {
        return object;
    }
    let object = world.new_object();
    world.object(object).count = count;
    world.shared.insert(address, object);
    object
}

impl<T> Arc<T> {
    /// A value with one reference.
    pub fn new(value: T) -> Arc<T> {
        Arc(Some(std::sync::Arc::new(value)))
    }

    /// A value that knows how to refer to itself.
    pub fn new_cyclic(make: impl FnOnce(&Weak<T>) -> T) -> Arc<T> {
        Arc(Some(std::sync::Arc::new_cyclic(|weak| make(&Weak(weak.clone())))))
    }

    /// A value that does not move.
    pub fn pin(value: T) -> Pin<Arc<T>>
    where
        T: Unpin,
    {
        Pin::new(Arc::new(value))
    }

    /// The value, if this is its only reference.
    pub fn try_unwrap(this: Arc<T>) -> Result<T, Arc<T>> {
        this.step(Access::Write);
        this.note_count();
        let mut this = this;
        let at = address(Arc::as_ptr(&this));
        match std::sync::Arc::try_unwrap(this.0.take().expect("a reference")) {
            Ok(value) => {
                facade::world(|world| {
                    if let Some(object) = world.shared.remove(&at) {
                        world.acquire(object);
                    }
                });
                Ok(value)
            }
            Err(inner) => Err(Arc(Some(inner))),
        }
    }

    /// The value, if this is its last reference.
    pub fn into_inner(this: Arc<T>) -> Option<T> {
        match std::sync::Arc::strong_count(this.inner()) {
            1 => Arc::try_unwrap(this).ok(),
            _ => {
                this.step(Access::Drop);
                let last = std::sync::Arc::strong_count(this.inner()) == 1;
                if last { Arc::unwrap_now(this) } else { this.released() }
            }
        }
    }

    fn unwrap_now(mut this: Arc<T>) -> Option<T> {
        let at = address(Arc::as_ptr(&this));
        facade::world(|world| {
            if let Some(object) = world.shared.remove(&at) {
                world.acquire(object);
            }
        });
        this.0.take().and_then(std::sync::Arc::into_inner)
    }

    fn released(mut self) -> Option<T> {
        self.give_up();
        None
    }

    /// A pointer that `from_raw` accepts.
    pub fn into_raw(mut this: Arc<T>) -> *const T {
        std::sync::Arc::into_raw(this.0.take().expect("a reference"))
    }

    /// What `into_raw` has given.
    ///
    /// # Safety
    /// As for [`std::sync::Arc::from_raw`].
    #[allow(unsafe_code)]
    pub unsafe fn from_raw(pointer: *const T) -> Arc<T> {
        // SAFETY: the caller sees to it.
        Arc(Some(unsafe { std::sync::Arc::from_raw(pointer) }))
    }

    /// One more reference to what `into_raw` has given.
    ///
    /// # Safety
    /// As for [`std::sync::Arc::increment_strong_count`].
    #[allow(unsafe_code)]
    pub unsafe fn increment_strong_count(pointer: *const T) {
        // SAFETY: the caller sees to it; the value is not dropped here.
        let this = std::mem::ManuallyDrop::new(unsafe { Arc::from_raw(pointer) });
        std::mem::forget(Arc::clone(&this));
    }

    /// One reference less to what `into_raw` has given.
    ///
    /// # Safety
    /// As for [`std::sync::Arc::decrement_strong_count`].
    #[allow(unsafe_code)]
    pub unsafe fn decrement_strong_count(pointer: *const T) {
        // SAFETY: the caller sees to it.
        drop(unsafe { Arc::from_raw(pointer) });
    }
}

impl<T: ?Sized> Arc<T> {
    /// A reference of `std`; loom has this for values without a known size.
    pub fn from_std(inner: std::sync::Arc<T>) -> Arc<T> {
        Arc(Some(inner))
    }

    fn inner(&self) -> &std::sync::Arc<T> {
        self.0.as_ref().expect("a reference")
    }

    fn step(&self, access: Access) {
        let at = address(Arc::as_ptr(self));
        let count = std::sync::Arc::strong_count(self.inner());
        facade::point(|world| Operation::on(Touches::One(object(world, at, count), access)));
    }

    fn note_count(&self) {
        facade::note(|| format!("{} references", std::sync::Arc::strong_count(self.inner())));
    }

    /// The reference is dropped, in the step that is going on.
    fn give_up(&mut self) {
        let Some(inner) = self.0.take() else { return };
        let at = address(std::sync::Arc::as_ptr(&inner));
        let count = std::sync::Arc::strong_count(&inner);
        facade::world(|world| {
            let object = object(world, at, count);
            world.release(object);
            world.object(object).count = count - 1;
            if count == 1 {
                world.acquire(object);
                world.shared.remove(&at);
            }
        });
        drop(inner);
    }

    /// Where the value is.
    pub fn as_ptr(this: &Arc<T>) -> *const T {
        std::sync::Arc::as_ptr(this.inner())
    }

    /// Whether two references are to one value.
    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        std::sync::Arc::ptr_eq(this.inner(), other.inner())
    }

    /// How many references there are.
    pub fn strong_count(this: &Arc<T>) -> usize {
        this.step(Access::Read);
        this.note_count();
        std::sync::Arc::strong_count(this.inner())
    }

    /// How many weak references there are.
    pub fn weak_count(this: &Arc<T>) -> usize {
        this.step(Access::Read);
        std::sync::Arc::weak_count(this.inner())
    }

    /// The value, if this is its only reference.
    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        this.step(Access::Read);
        this.note_count();
        let at = address(Arc::as_ptr(this));
        let value = std::sync::Arc::get_mut(this.0.as_mut().expect("a reference"))?;
        facade::world(|world| {
            if let Some(&object) = world.shared.get(&at) {
                world.acquire(object);
            }
        });
        Some(value)
    }

    /// A reference that does not keep the value.
    pub fn downgrade(this: &Arc<T>) -> Weak<T> {
        this.step(Access::Write);
        Weak(std::sync::Arc::downgrade(this.inner()))
    }
}

impl<T: Clone> Arc<T> {
    /// The value, which is cloned if there are other references.
    pub fn make_mut(this: &mut Arc<T>) -> &mut T {
        if Arc::get_mut(this).is_none() {
            *this = Arc::new(T::clone(this));
        }
        std::sync::Arc::make_mut(this.0.as_mut().expect("a reference"))
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    fn clone(&self) -> Arc<T> {
        self.step(Access::Clone);
        let inner = self.inner().clone();
        let (at, count) = (address(Arc::as_ptr(self)), std::sync::Arc::strong_count(&inner));
        facade::world(|world| {
            let object = object(world, at, count);
            world.object(object).count = count;
        });
        Arc(Some(inner))
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    fn drop(&mut self) {
        if let Some(inner) = &self.0 {
            // Nobody else has a reference, so nobody can notice.
            if std::sync::Arc::strong_count(inner) > 1 || std::sync::Arc::weak_count(inner) > 0 {
                self.step(Access::Drop);
            }
            self.give_up();
        }
    }
}

impl<T> Weak<T> {
    /// A reference to nothing.
    pub const fn new() -> Weak<T> {
        Weak(std::sync::Weak::new())
    }
}

impl<T: ?Sized> Weak<T> {
    /// A reference that keeps the value, if it is still there.
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let at = address(self.0.as_ptr());
        let count = self.0.strong_count();
        facade::point(|world| Operation::write(object(world, at, count)));
        let inner = self.0.upgrade()?;
        let count = std::sync::Arc::strong_count(&inner);
        facade::world(|world| {
            let object = object(world, at, count);
            world.object(object).count = count;
        });
        Some(Arc(Some(inner)))
    }

    /// How many references keep the value.
    pub fn strong_count(&self) -> usize {
        let (at, count) = (address(self.0.as_ptr()), self.0.strong_count());
        facade::point(|world| Operation::read(object(world, at, count)));
        self.0.strong_count()
    }

    /// Whether two references are to one value.
    pub fn ptr_eq(&self, other: &Weak<T>) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    fn clone(&self) -> Weak<T> {
        Weak(self.0.clone())
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Weak<T> {
        Weak::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "(Weak)")
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner()
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: Default> Default for Arc<T> {
    fn default() -> Arc<T> {
        Arc::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    fn from(value: T) -> Arc<T> {
        Arc::new(value)
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Arc<T>) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: ?Sized + std::hash::Hash> std::hash::Hash for Arc<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> fmt::Pointer for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Pointer::fmt(&Arc::as_ptr(self), f)
    }
}
