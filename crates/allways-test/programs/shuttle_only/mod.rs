//! Programs with a bug that use what loom does not have: futures as tasks, which can be cancelled.

pub mod async_cancellation;

/// Each with its name.
pub const PROGRAMS: [(&str, fn()); 1] = [("future, cancelled half-way", async_cancellation::test)];
