//! What published crates need of loom's interface, made of shuttle's types. With `--cfg loom` their own source is compiled
//! against it, unchanged.

pub mod sync {
    pub use shuttle::sync::{Arc, Condvar, Mutex};

    pub mod atomic {
        pub use shuttle::sync::atomic::{
            AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16,
            AtomicU32, AtomicU64, Ordering, fence,
        };

        /// An atomic type of shuttle with what loom adds.
        macro_rules! atomic {
            ($name:ident $(<$parameter:ident>)?, $value:ty) => {
                #[derive(Debug)]
                pub struct $name $(<$parameter>)? (shuttle::sync::atomic::$name $(<$parameter>)?);

                impl $(<$parameter>)? $name $(<$parameter>)? {
                    pub fn new(value: $value) -> Self {
                        Self(shuttle::sync::atomic::$name::new(value))
                    }

                    pub fn with_mut<R>(&mut self, change: impl FnOnce(&mut $value) -> R) -> R {
                        change(self.0.get_mut())
                    }
                }

                impl $(<$parameter>)? std::ops::Deref for $name $(<$parameter>)? {
                    type Target = shuttle::sync::atomic::$name $(<$parameter>)?;

                    fn deref(&self) -> &Self::Target {
                        &self.0
                    }
                }
            };
        }

        atomic!(AtomicUsize, usize);
        atomic!(AtomicPtr<T>, *mut T);
    }
}

pub mod thread {
    pub use shuttle::thread::yield_now;
}

pub mod hint {
    pub use shuttle::hint::spin_loop;
}

pub mod cell {
    use shuttle::sync::atomic::{AtomicIsize, Ordering::SeqCst};

    /// A cell that panics when one thread uses it while another writes it. That is found only where a task can switch: at the
    /// beginning of each access, and at what the access does with other types of shuttle.
    #[derive(Debug)]
    pub struct UnsafeCell<T> {
        value: std::cell::UnsafeCell<T>,
        /// How many threads read it; -1 if one writes it.
        users: AtomicIsize,
    }

    impl<T> UnsafeCell<T> {
        pub fn new(value: T) -> UnsafeCell<T> {
            UnsafeCell { value: std::cell::UnsafeCell::new(value), users: AtomicIsize::new(0) }
        }

        pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
            assert!(self.users.fetch_add(1, SeqCst) >= 0, "a cell is read while it is written");
            let result = read(self.value.get());
            self.users.fetch_sub(1, SeqCst);
            result
        }

        pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            assert_eq!(self.users.swap(-1, SeqCst), 0, "a cell is written while it is used");
            let result = write(self.value.get());
            self.users.store(0, SeqCst);
            result
        }
    }
}
