//! Programs with a bug that need channels, futures or parking as shuttle has them.

pub mod async_cancellation;
pub mod async_missed_wake;
pub mod barrier_reuse;
pub mod channel_shutdown;
pub mod park_flag;

/// Each with its name.
pub const PROGRAMS: [(&str, fn()); 5] = [
    ("channel, shutdown race", channel_shutdown::test),
    ("barrier used again", barrier_reuse::test),
    ("future, cancelled half-way", async_cancellation::test),
    ("future, waker registered too late", async_missed_wake::test),
    ("park, a token spent elsewhere", park_flag::test),
];
