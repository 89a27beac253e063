//! Algorithms of published crates, written again over shuttle's types. Where the original has an unsafe cell there is a
//! lock that must be free at every access, so that a data race is a panic. Each has a `Flaw` that can be put in, to see
//! that the tests would notice.

pub mod array_queue;
pub mod atomic_waker;
pub mod once_cell;
pub mod parker;
