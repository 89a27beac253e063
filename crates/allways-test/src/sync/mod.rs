//! The types of `std::sync`, scheduled: they tell the scheduler which object an operation touches, and whether it reads or
//! writes, so that schedules which differ in the order of independent operations only are left out.

pub mod atomic;
pub mod mpsc;

mod arc;
mod barrier;
mod condvar;
mod mutex;
mod once;
mod rwlock;

pub use arc::{Arc, Weak};
pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use once::{LazyLock, Once, OnceLock};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
