//! Hints, the same as those of `std::hint`.

pub use std::hint::{black_box, unreachable_unchecked};

/// The task waits for others: the same as [`yield_now`](crate::thread::yield_now).
pub fn spin_loop() {
    crate::thread::yield_now();
}
